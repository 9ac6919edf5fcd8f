# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# What the guests of the runtimes share. kind names the runtime in what is reported.
root=/sys/fs/cgroup
export PATH=/usr/local/sbin:$PATH
. "$(dirname "${BASH_SOURCE[0]}")/../../tools/cgroup/rdmacg/tests/claims.sh"

# layer FOLDER [PLACE]: the folder, to be written to, over what this machine has.
layer() {
	local name=${1//\//_}
	mkdir -p "/run/layers/$name/upper" "/run/layers/$name/work" "${2:-$1}"
	mount -t overlay -o "lowerdir=$1,upperdir=/run/layers/$name/upper,workdir=/run/layers/$name/work" \
		layer "${2:-$1}"
}

# install_programs: of $programs, where the pages have them; the project's folder is where
# the pages' blocks run.
install_programs() {
	mount -t tmpfs none /usr/local/sbin
	cp "$programs"/* /usr/local/sbin/
	mkdir -p /dev/shm /dev/pts /dev/mqueue
	mount -t tmpfs none /dev/shm
	mount -t devpts none /dev/pts
	cd "$here/../.." || exit
}

# make_rootfs: what containers have as their root.
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

# No cgroup that is gone is kept by anything, be it charges of ours, memory or a socket; else
# whose it is.
none_dying() {
	within 60 grep -qx 'nr_dying_descendants 0' "$root/cgroup.stat" || {
		awk '/^nr_dying/ && $2' "$root/cgroup.stat"
		return 1
	}
}

# claim NAME FUNCTION: "ok" where the function and all in it succeeds.
claim() {
	local name=$1
	shift
	judge "$kind/$name" "$@"
}
