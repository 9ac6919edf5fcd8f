#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hooks/kbuild.sh TREE STAGE [STEP...]: the Kconfig, Makefile, .gitignore, preprocessor and
# documentation lines that spatch cannot edit, of these steps or of all. Copies of the base's
# files are changed in STAGE; a line that is not there exactly once is a failure.
set -eu
. "$(dirname "$0")/../dev/lib.sh"

tree=$1
stage=$2
shift 2
[ $# -gt 0 ] || set -- option controller core control cma kunit rxe mlx5 rds rds_unplug smc samples \
	selftests selftests_files guide
version=$(tree_version "$tree")
misfits=0

# does_not_fit WHY: the other steps are tried all the same.
does_not_fit() {
	say "$1"
	misfits=1
}

# edit FILE PATTERN SED: apply the sed program to a copy of FILE, in which
# exactly one line must match PATTERN.
edit() {
	found=$(grep -cE -- "$2" "$tree/$1" || :)
	[ "$found" = 1 ] || {
		does_not_fit "$1 of Linux $version has $found lines that match '$2', expected 1"
		return 0
	}
	[ -e "$stage/$1" ] || install -D -m 644 "$tree/$1" "$stage/$1"
	sed -E -i "$3" "$stage/$1"
}

# The option's prompt, help and dependencies are ours, in a file of our own.
option_step() {
	edit init/Kconfig '^config CGROUP_RDMA$' '
		/^config CGROUP_RDMA$/,/^[a-z]/{
			s,^config CGROUP_RDMA$,source "kernel/cgroup/Kconfig.rdma"\n,
			/^[a-z]/!d
		}'
}

controller_step() {
	edit kernel/cgroup/Makefile '^obj-\$\(CONFIG_CGROUP_RDMA\) \+= rdma\.o$' '
		s,^obj-\$\(CONFIG_CGROUP_RDMA\) .*,& rdma-default.o rdma-device.o rdma-pool.o rdma-parse.o rdma-trace.o,'
}

# Linux before 6.13 sets a timer up by another function.
control_step() {
	old=''
	grep -qw hrtimer_setup_on_stack "$tree/include/linux/hrtimer.h" ||
		old='CFLAGS_rdma-control.o += -DRDMACG_HRTIMER_INIT'
	edit kernel/cgroup/Makefile '^obj-\$\(CONFIG_CGROUP_RDMA\) \+= rdma\.o$' '
		/^obj-\$\(CONFIG_CGROUP_RDMA\) /a \
obj-$(CONFIG_CGROUP_RDMA_CONTROL) += rdma-command.o rdma-control.o'"${old:+\\
$old}"

	# How uverbs' commands are counted, of those that the base has.
	edit drivers/infiniband/core/Makefile '^ib_uverbs-y :=' '
		$a \
\
ib_uverbs-$(CONFIG_CGROUP_RDMA_CONTROL) += uverbs_control.o\
quiet_cmd_uverbs_control = GEN     $@\
      cmd_uverbs_control = $(CONFIG_SHELL) $(real-prereqs) >$@\
$(obj)/uverbs_control_table.h: $(src)/uverbs_control.sh $(src)/uverbs_control.list \\\
			       $(srctree)/include/uapi/rdma/ib_user_ioctl_cmds.h \\\
			       $(srctree)/include/uapi/rdma/ib_user_verbs.h FORCE\
	$(call if_changed,uverbs_control)\
$(obj)/uverbs_control.o: $(obj)/uverbs_control_table.h\
targets += uverbs_control_table.h'
}

kunit_step() {
	edit kernel/cgroup/Makefile '^obj-\$\(CONFIG_CGROUP_RDMA\) \+= rdma\.o$' '
		s,^obj-\$\(CONFIG_CGROUP_RDMA\) .*,& tests/,'
}

# Our declarations in place of the base's. With those gone, a charge of the base
# that no hook rewrote fails to compile instead of running beside ours.
core_step() {
	core=drivers/infiniband/core
	edit $core/core_priv.h '^#ifdef CONFIG_CGROUP_RDMA$' '
		/^#include "restrack.h"$/i #include "cgroup.h"
		/^#ifdef CONFIG_CGROUP_RDMA$/,/^#endif/{
			/^#endif/N
			d
		}'
	! grep -nE 'rdmacg' "$stage/$core/core_priv.h" ||
		does_not_fit "$core/core_priv.h of Linux $version declares more of the base's controller than is removed"

	# What the verb class calls the types comes from where uverbs declares them.
	edit $core/Makefile '^ib_core-\$\(CONFIG_CGROUP_RDMA\) \+= cgroup\.o$' '
		$a \
\
quiet_cmd_cgroup_types = GEN     $@\
      cmd_cgroup_types = $(CONFIG_SHELL) $(real-prereqs) >$@\
$(obj)/cgroup_types.h: $(src)/cgroup_types.sh \\\
		       $(srctree)/include/uapi/rdma/ib_user_ioctl_cmds.h \\\
		       $(wildcard $(src)/uverbs_std_types*.c) FORCE\
	$(call if_changed,cgroup_types)\
$(obj)/cgroup.o: $(obj)/cgroup_types.h\
targets += cgroup_types.h'
}

cma_step() {
	edit drivers/infiniband/core/Makefile '^rdma_cm-y :=' '
		/^rdma_cm-y :=/a rdma_cm-$(CONFIG_CGROUP_RDMA) += cma_cgroup.o'
}

rxe_step() {
	edit drivers/infiniband/sw/rxe/Makefile '\<rxe_mcast\.o\>' 's,\<rxe_mcast\.o\>,& rxe_cgroup.o,'
}

mlx5_step() {
	edit drivers/infiniband/hw/mlx5/Makefile '^\s*cmd\.o \\$' 's,^(\s*)(cmd\.o \\),\1cgroup.o \\\n&,'
}

rds_step() {
	edit net/rds/Makefile '\<ib_frmr\.o$' 's,\<ib_frmr\.o\>,& ib_cgroup.o,'
}

rds_unplug_step() {
	edit net/rds/Makefile '\<ib_frmr\.o$' 's,\<ib_frmr\.o\>.*,& ib_unplug.o,'
}

smc_step() {
	edit net/smc/Makefile '\<smc_inet\.o$' 's,\<smc_inet\.o$,& smc_rdmacg.o,'
}

samples_step() {
	edit samples/Kconfig '^endif # SAMPLES$' 's,^endif # SAMPLES$,source "samples/rdmacg/Kconfig"\n\n&,'
	edit samples/Makefile '^obj-\$\(CONFIG_SAMPLE_KOBJECT\)\s' '
		/^obj-\$\(CONFIG_SAMPLE_KOBJECT\)/i \
obj-$(CONFIG_SAMPLE_RDMACG_LND)	+= rdmacg/'
}

# Our tests are built and listed the way the base does it for test_pids. All but test_rdma
# need libibverbs and librdmacm, and are built where those are installed.
selftests_step() {
	tests=tools/testing/selftests/cgroup
	# names PATTERN: of our files there, without .c, in one line.
	names() {
		# shellcheck disable=SC2086 # a pattern
		(cd "$stage/$tests" && echo $1 | sed 's/\.c\>//g')
	}
	edit $tests/Makefile '^TEST_GEN_PROGS \+= test_pids$' '
		/^TEST_GEN_PROGS \+= test_pids$/a \
LOCAL_HDRS += '"$(names 'rdma_*.h')"'\
ifneq ($(shell printf "\\043include <rdma/rdma_cma.h>" | $(CC) -E - >/dev/null 2>\&1 \&\& echo y),)\
RDMA_VERBS_TESTS := '"$(names 'test_rdma_*.c')"'\
TEST_GEN_PROGS += $(RDMA_VERBS_TESTS)\
endif'
	edit $tests/Makefile '^\$\(OUTPUT\)/test_pids: ' '
		s,^(\$\(OUTPUT\)/)test_pids(: .*),&\
$(addprefix \1\,$(RDMA_VERBS_TESTS))\2\
$(addprefix \1\,$(RDMA_VERBS_TESTS)): LDLIBS += -lrdmacm -libverbs,'
	edit $tests/.gitignore '^test_pids$' "s,^test_pids$,&\n$(names 'test_rdma*.c' | sed 's/ /\\n/g'),"
	edit $tests/config '^CONFIG_CGROUPS=y$' "\$r $ROOT/hooks/selftests.config"
	# In the series, the sample comes after the first tests.
	[ -e "$stage/samples/rdmacg" ] || sed -i '/^CONFIG_SAMPLE/d' "$stage/$tests/config" || misfits=1
}

# The test that wants no verbs, and so no library.
selftests_files_step() {
	tests=tools/testing/selftests/cgroup
	edit $tests/Makefile '^TEST_GEN_PROGS \+= test_pids$' 's,^TEST_GEN_PROGS \+= test_pids$,&\nTEST_GEN_PROGS += test_rdma,'
	edit $tests/Makefile '^\$\(OUTPUT\)/test_pids: ' 's,^(\$\(OUTPUT\)/)test_pids(: .*),&\n\1test_rdma\2,'
}

# The section's body, up to the next heading, is ours, and so is what the contents say of it.
guide_step() {
	guide=Documentation/admin-guide/cgroup-v2.rst
	edit $guide '^ +5-7-1\. RDMA Interface Files$' \
		's,^( +)5-7-1\. RDMA Interface Files$,&\n\15-7-2. RDMA Charges and Ownership,'
	edit $guide '^RDMA Interface Files$' ''
	edit $guide '^RDMA$' "
		/^RDMA\$/{
			n
			n
			n
			r $ROOT/hooks/cgroup-v2-rdma.rst
			:skip
			\$!N
			/\n(-{4,}|={4,})\$/!{
				s/^[^\n]*\n//
				\$!b skip
			}
			s/^/\n/
		}"
}

for step; do
	"${step}_step"
done
[ "$misfits" = 0 ]
