# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2086
# The beginning of a test in the guest, whose arguments are MODULE TESTS PROGRAMS COUNT.
. "$(dirname "$0")/../../dev/report.sh"
RESULTS=/run/tmp
module=$1 hold=$3/verbs-hold tenant=$3/tenant
root=/sys/fs/cgroup
cgroup=$root/t
state=/sys/module/rdmacg/parameters/state

modprobe() {
	"$(cat /proc/sys/kernel/modprobe)" "$@"
}

files() {
	(cd $cgroup && echo rdma*)
}

# in_cgroup COMMAND...: run the command in the cgroup.
in_cgroup() {
	(echo "$BASHPID" >$cgroup/cgroup.procs && exec "$@")
}

unloads() {
	echo off >$state && rmmod rdmacg
}

# Whether a third QP is refused below a limit of two.
refuses_third() {
	echo 'rxe0 qp=2' >$cgroup/rdma.verb.max || return
	in_cgroup "$hold" rxe0 3 >/run/tmp/held 2>&1
	grep -q 'QP 3 refused.*EAGAIN' /run/tmp/held || { cat /run/tmp/held; return 1; }
}

modprobe ib_uverbs || exit
mount -t tracefs none /sys/kernel/tracing
mkdir $cgroup
stock=$(files)
