# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Functions that the guests of the runtimes share. kind names the runtime in reports.
root=/sys/fs/cgroup
export PATH=/usr/local/sbin:$PATH
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/cgroup/rdmacg/tests/claims.sh"

# layer FOLDER [PLACE]: mount a writable layer over this machine's folder.
layer() {
	local name=${1//\//_}
	mkdir -p "/run/layers/$name/upper" "/run/layers/$name/work" "${2:-$1}"
	mount -t overlay -o "lowerdir=$1,upperdir=/run/layers/$name/upper,workdir=/run/layers/$name/work" \
		layer "${2:-$1}"
}

# install_programs: install $programs, and change to the project's folder, in which the blocks of
# the pages run.
install_programs() {
	mount -t tmpfs none /usr/local/sbin
	cp "$programs"/* /usr/local/sbin/
	mkdir -p /dev/shm /dev/pts /dev/mqueue
	mount -t tmpfs none /dev/shm
	mount -t devpts none /dev/pts
	cd "$here/../.." || exit
}

# make_rootfs: the root of containers.
make_rootfs() {
	layer / "$ROOTFS"
	cp "$programs/verbs-hold" "$ROOTFS/usr/local/bin/"
}

# within SECONDS COMMAND...: until it is true.
within() {
	local i
	for ((i = $1 * 10; i > 0; i--)); do
		! "${@:2}" || return 0
		sleep 0.1
	done
	echo "not within $1 s: ${*:2}"
	return 1
}

# value FILE KEY: of rxe0.
value() { sed -n 's/^rxe0 //p' "$1" | tr ' ' '\n' | sed -n "s/^$2=//p"; }

is() {
	[ "$(value "$1" "$2")" = "$3" ] || {
		echo "$1: $2 is $(value "$1" "$2"), wanted $3"
		return 1
	}
}

# No removed cgroup is kept in memory, by charges, memory or sockets; otherwise print which
# controllers keep one.
none_dying() {
	within 60 grep -qx 'nr_dying_descendants 0' "$root/cgroup.stat" || {
		awk '/^nr_dying/ && $2' "$root/cgroup.stat"
		return 1
	}
}

# claim NAME FUNCTION: "ok" if the function and all its commands succeed.
claim() {
	local name=$1
	shift
	judge "$kind/$name" "$@"
}
