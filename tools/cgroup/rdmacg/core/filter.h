/* SPDX-License-Identifier: GPL-2.0 */
/* --device and --resource: what is read of the controller's files at all. */
#ifndef RDMACG_FILTER_H
#define RDMACG_FILTER_H

#include <argp.h>
#include <stdbool.h>

/* For the children of a command's argp. */
extern const struct argp filter_argp;

bool filter_has_device(const char *name);
bool filter_has_key(const char *key);

#endif /* RDMACG_FILTER_H */
