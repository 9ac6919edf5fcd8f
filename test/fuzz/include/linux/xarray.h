/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PROOF_LINUX_XARRAY_H
#define PROOF_LINUX_XARRAY_H

struct xarray { int unused; };

#endif
