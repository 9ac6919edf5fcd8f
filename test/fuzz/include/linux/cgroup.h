/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FUZZ_LINUX_CGROUP_H
#define FUZZ_LINUX_CGROUP_H

struct cgroup_subsys_state { struct cgroup_subsys_state *parent; };
struct cgroup_file { int unused; };

#endif
