# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Functions for the tests in a guest: the command on the controller's real files, and
# claims. A test is a function of one claim, and begins with the empty cgroups tenants and
# tenants/a. $1 is the path of the command.
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

# Print the value of a key in a file of a cgroup.
value() { tr ' ' '\n' <"$root/$1" | sed -n "s/^$2=//p"; }

claim() {
	mkdir "$root/tenants"
	{ [ ! -e "$root/cgroup.subtree_control" ] || echo -rdma >"$root/cgroup.subtree_control"; } 2>/dev/null || :
	mkdir "$root/tenants/a"
	judge "$@"
	rmdir "$root"/tenants/a "$root"/tenants
}

# List the files of this kernel's controller. An older kernel has only rdma.max and rdma.current.
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

# inside CGROUP COMMAND...: run a command in the cgroup, as a child of this shell.
inside() {
	# shellcheck disable=SC2016 # for that shell
	sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$root/$1" "${@:2}"
}

# End all processes in tenants/a.
end_inside() {
	xargs kill <"$root/tenants/a/cgroup.procs"
	while [ -n "$(cat "$root/tenants/a/cgroup.procs")" ]; do sleep 0.1; done
}
