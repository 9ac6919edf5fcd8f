/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_LINUX_XARRAY_H
#define FUZZ_LINUX_XARRAY_H

struct xarray { int unused; };

#endif
