/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PROOF_LINUX_MUTEX_H
#define PROOF_LINUX_MUTEX_H

struct mutex { int unused; };

#endif
