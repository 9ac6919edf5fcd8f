# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# What the tests in a guest share: the command on the controller's real files, and claims. A
# test is a function of one claim; each begins with the empty cgroups tenants and tenants/a.
# Sourced with the path of the command as $1.
command=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=/sys/fs/cgroup
[ ! -d "$root/rdma" ] || root=$root/rdma
export LC_ALL=C.UTF-8
. "$(dirname "${BASH_SOURCE[0]}")/claims.sh"

rdmacg() { "$command" "$@"; }

run() {
	status=0
	out=$(rdmacg "$@" 2>&1) || status=$?
}

# The value of a key in a file of a cgroup.
value() { tr ' ' '\n' <"$root/$1" | sed -n "s/^$2=//p"; }

claim() {
	mkdir "$root/tenants"
	{ [ ! -e "$root/cgroup.subtree_control" ] || echo -rdma >"$root/cgroup.subtree_control"; } 2>/dev/null || :
	mkdir "$root/tenants/a"
	judge "$@"
	rmdir "$root"/tenants/a "$root"/tenants
}

# Which files this kernel's controller has: all of them, or on an older one rdma.max and
# rdma.current alone.
files_of_a_cgroup() {
	[ ! -e "$root/cgroup.subtree_control" ] || echo +rdma >"$root/cgroup.subtree_control"
	mkdir "$root/probe"
	(cd "$root/probe" && echo rdma.*)
	rmdir "$root/probe"
}
files=" $(files_of_a_cgroup) "

has() {
	case $files in
	*" $1 "*) return 0 ;;
	*) return 1 ;;
	esac
}

# inside CGROUP COMMAND...: the command, its child, runs there.
inside() {
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$root/$1" "${@:2}"
}

# End what runs in tenants/a.
end_inside() {
	xargs kill <"$root/tenants/a/cgroup.procs"
	while [ -n "$(cat "$root/tenants/a/cgroup.procs")" ]; do sleep 0.1; done
}
