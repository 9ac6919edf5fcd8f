#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hooks/kbuild.sh TREE STAGE: the Kconfig, Makefile and .gitignore lines that
# spatch cannot edit. Copies of the base's files are changed in STAGE; a line
# that is not there exactly once stops the build.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

tree=$1
stage=$2
version=$(tree_version "$tree")

# edit FILE PATTERN SED: apply the sed program to a copy of FILE, in which
# exactly one line must match PATTERN.
edit() {
	found=$(grep -cE -- "$2" "$tree/$1" || :)
	[ "$found" = 1 ] ||
		die "$1 of Linux $version has $found lines that match '$2', expected 1"
	[ -e "$stage/$1" ] || install -D -m 644 "$tree/$1" "$stage/$1"
	sed -E -i "$3" "$stage/$1"
}

# The option's prompt, help and dependencies are ours, in a file of our own.
edit init/Kconfig '^config CGROUP_RDMA$' '
	/^config CGROUP_RDMA$/,/^[a-z]/{
		s,^config CGROUP_RDMA$,source "kernel/cgroup/Kconfig.rdma"\n,
		/^[a-z]/!d
	}'
edit kernel/cgroup/Makefile '^obj-\$\(CONFIG_CGROUP_RDMA\) \+= rdma\.o$' '
	s,^obj-\$\(CONFIG_CGROUP_RDMA\) .*,& rdma-device.o rdma-pool.o rdma-parse.o tests/,'

# Our tests are built and listed the way the base does it for test_pids; the one
# that needs libibverbs only where that is installed.
tests=tools/testing/selftests/cgroup
edit $tests/Makefile '^TEST_GEN_PROGS \+= test_pids$' '
	/^TEST_GEN_PROGS \+= test_pids$/a \
TEST_GEN_PROGS += test_rdma\
LOCAL_HDRS += rdma_util.h\
ifneq ($(shell printf "\\\\043include <infiniband/verbs.h>" | $(CC) -E - >/dev/null 2>\&1 \&\& echo y),)\
TEST_GEN_PROGS += test_rdma_verbs\
endif'
edit $tests/Makefile '^\$\(OUTPUT\)/test_pids: ' '
	s,^(\$\(OUTPUT\)/)test_pids(: .*),&\
\1test_rdma\2\
\1test_rdma_verbs\2\
\1test_rdma_verbs: LDLIBS += -libverbs,'
edit $tests/.gitignore '^test_pids$' 's,^test_pids$,&\ntest_rdma\ntest_rdma_verbs,'
