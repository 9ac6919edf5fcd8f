# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Functions for the tests: a tree of files that looks like cgroups, the command, and claims.
# Each claim gets a new tree, and no files of earlier claims in $work. "claim NAME COMMAND..." prints
# "ok NAME", or "not ok NAME" and the output if a condition in the command fails.

. "$(dirname "${BASH_SOURCE[0]}")/claims.sh"
export LC_ALL=C.UTF-8
unset NO_COLOR RDMACG_ROOT RDMACG_PROC
# An error of a sanitizer exits with this status. The command never does, so no claim takes such an
# error for an expected failure.
export ASAN_OPTIONS=verify_asan_link_order=0:exitcode=99 UBSAN_OPTIONS=exitcode=99

# Use memory if possible, because claims create thousands of files. Programs must run there.
for memory in "${TMPDIR:-/dev/shm}" /tmp /var/tmp; do
	[ ! -w "$memory" ] || findmnt -n -o OPTIONS -T "$memory" | grep -qw noexec || break
done
# Copy the command and the preloaded library to a folder that an ordinary user can read.
work=$(mktemp -d "$memory/rdmacg-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/bin"
cp "$RDMACG" "$work/bin/rdmacg"
ln -s rdmacg "$work/bin/oci-hook"
ln -s rdmacg "$work/bin/slurm-step"
cp "$FAKE" "$work/bin/fake.so"
root=$work/cgroup
proc=$work/proc
new=$work/new

# put FILE LINE...: make a file of the tree and the folders above it.
put() {
	local file=$root/$1
	[ -d "${file%/*}" ] || mkdir -p "${file%/*}"
	shift
	printf '%s\n' "$@" >"$file"
}

# cgroup NAME: create a cgroup with all files of our controller, and without usage.
cgroup() {
	local file
	put "$1/cgroup.subtree_control" rdma
	put "$1/cgroup.procs"
	put "$1/rdma.default"
	put "$1/rdma.max" 'rxe0 hca_handle=max hca_object=max'
	put "$1/rdma.verb.max" 'rxe0 qp=max mr_mem=max'
	for file in current peak; do
		put "$1/rdma.$file" 'rxe0 hca_handle=0 hca_object=0'
		put "$1/rdma.verb.$file" 'rxe0 qp=0 mr_mem=0'
	done
	for file in events events.local; do
		put "$1/rdma.$file" \
			'rxe0 hca_handle.max=0 hca_handle.alloc_fail=0 hca_object.max=0 hca_object.alloc_fail=0'
		put "$1/rdma.verb.$file" 'rxe0 qp.max=0 qp.alloc_fail=0 mr_mem.max=0 mr_mem.alloc_fail=0'
	done
	put "$1/rdma.hw.max" 'rxe0 mcast_grp=max'
	put "$1/rdma.hw.current" 'rxe0 mcast_grp=0'
}

# disable CGROUP...: take the controller from the children of each cgroup.
disable() {
	local cgroup
	for cgroup; do
		rm -f "$root/$cgroup"/*/rdma.*
		: >"$root/$cgroup/cgroup.subtree_control"
	done
}

# count FILE LINE...: write lines to the file in tenants/a and in its parent.
count() {
	put "tenants/$1" "${@:2}"
	put "tenants/a/$1" "${@:2}"
}

# refuse_qp CGROUP MAX FAIL LOCAL-MAX LOCAL-FAIL: set the refusals of qp. Overwrite each file in place and
# with the same length, so that "rdmacg watch" never reads a part.
refuse_qp() {
	printf 'rxe0 qp.max=%s qp.alloc_fail=%s mr_mem.max=0 mr_mem.alloc_fail=0\n' "$4" "$5" \
		1<>"$root/$1/rdma.verb.events.local"
	printf 'rxe0 qp.max=%s qp.alloc_fail=%s mr_mem.max=0 mr_mem.alloc_fail=0\n' "$2" "$3" \
		1<>"$root/$1/rdma.verb.events"
}

# process PID CGROUP [MEMLOCK [PINNED_KB [USER_NAMESPACE]]]: create an entry of /proc.
process() {
	mkdir -p "$proc/$1/ns"
	echo "0::$2" >"$proc/$1/cgroup"
	printf 'Limit  Soft  Hard  Units\nMax locked memory         %s  %s  bytes\n' \
		"${3:-unlimited}" "${3:-unlimited}" >"$proc/$1/limits"
	ln -sfn "user:[${5:-4026531837}]" "$proc/$1/ns/user"
	printf 'Name:\tjob\nVmLck:\t       0 kB\nVmPin:\t%8d kB\nCapEff:\t0000000000000000\n' \
		"${4:-0}" >"$proc/$1/status"
}

# Create a template with two tenants below one parent, which all have the controller.
mkdir -p "$root" "$proc/self" "$new" "$work/template"
put cgroup.controllers rdma
put cgroup.subtree_control rdma
put rdma.capacity 'rxe0 hca_handle=max hca_object=max qp=1000 mr_mem=max mcast_grp=64'
echo '0::/' >"$proc/self/cgroup"
cgroup tenants
cgroup tenants/a
cgroup tenants/b
cp "$root"/tenants/a/* "$new/"
: >"$new/cgroup.subtree_control"
mv "$root" "$proc" "$new" "$work/template/"

# Copy the template for each claim.
tree() {
	rm -rf "$root" "$proc" "$new"
	cp -r "$work"/template/* "$work/"
}

# try COMMAND...: set out to the output and status to the exit status. Include standard error,
# because a user sees standard output and standard error together.
try() {
	status=0
	out=$("$@" 2>&1) || status=$?
}

run() { try rdmacg "$@"; }

# fails STATUS TEXT ARGS...: run the command, which must exit with STATUS and print TEXT.
fails() {
	run "${@:3}"
	exits "$1" && says "$2" && return
	printf 'of: rdmacg %s\n' "${*:3}"
	return 1
}

succeeds() { fails 0 '' "$@"; }

# prints TEXT ARGS...: run the command, which must succeed and print TEXT.
prints() { fails 0 "$@"; }

# lacks TEXT ARGS...: run the command, which must succeed and not print TEXT.
lacks() {
	succeeds "${@:2}"
	says_not "$1"
}

# begin_watch OPTION...: start watch in the background, and wait until it has read the counters.
begin_watch() {
	env RDMACG_ROOT="$root" RDMACG_PROC="$proc" "$work/bin/rdmacg" watch "$@" >"$work/lines" 2>&1 &
	watcher=$!
	while kill -0 "$watcher" && ! grep -q '^inotify' /proc/"$watcher"/fdinfo/* 2>/dev/null; do
		sleep 0.05
	done
	sleep 0.3
}

# end_watch: wait at most twenty seconds for the end of watch.
end_watch() {
	# Discard the output of tail. Otherwise the claim would wait for the end of tail.
	timeout 20 tail --pid="$watcher" -f /dev/null >/dev/null || kill "$watcher"
	status=0
	wait "$watcher" || status=$?
	out=$(cat "$work/lines")
}

# sleeps HUNDREDTHS: check that the background process uses at most this processor time in a second.
sleeps() {
	local before
	before=$(used)
	sleep 1
	[ $(($(used) - before)) -le "$1" ]
}

# Print the processor time of the background process, in hundredths of a second.
used() { awk '{ print $14 + $15 }' "/proc/$watcher/stat"; }

# exactly TEXT: check the whole output.
exactly() {
	[ "$out" = "$1" ] || { printf 'wanted: %s\n%s\n' "$1" "$out"; return 1; }
}

# of_json EXPRESSION ARGS...: set out to the value of a Python expression for d, the command's JSON.
of_json() {
	out=$(rdmacg "${@:2}" 2>&1 | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1")
}

# start [PROGRAM] ARGS...: run rdmacg, or the program of libexec with this name.
start() {
	case ${1-} in
	oci-hook | slurm-step) "$work/bin/$1" "${@:2}" ;;
	*) "$work/bin/rdmacg" "$@" ;;
	esac
}

rdmacg() {
	RDMACG_ROOT=$root RDMACG_PROC=$proc RDMACG_RUN=$work/run FAKE_NEW=$new LD_PRELOAD=$work/bin/fake.so \
		start "$@"
}

# many NUMBER: create cgroups with limits and usage below tenants.
many() {
	python3 -c '
import os, sys
for i in range(int(sys.argv[2])):
    os.mkdir(f"{sys.argv[1]}/tenants/{i}")
for cgroup in ["", *range(int(sys.argv[2]))]:
    for file, value in ("max", 7), ("current", 3), ("peak", 5):
        with open(f"{sys.argv[1]}/tenants/{cgroup}/rdma.{file}", "w") as to:
            to.writelines(f"rxe{d} hca_handle={value} hca_object={value}\n" for d in range(8))' "$root" "$1"
}

# within KIB ARGS...: run the command with this bound of its memory, and keep its output in a file. A
# sanitizer needs much more, so PLAIN is the command without one.
within() {
	local command=${PLAIN:-$work/bin/rdmacg}
	(
		ldd "$command" | grep -q libasan || ulimit -d "$1"
		RDMACG_ROOT=$root RDMACG_PROC=$proc "$command" "${@:2}" >"$work/out"
	)
}

# with_netlink ARGS...: run the command with two devices in rdma netlink, on a hierarchy that is mounted.
with_netlink() {
	echo "2 1 0:2 / $root rw - cgroup2 cgroup2 rw,nsdelegate" >"$proc/self/mountinfo"
	FAKE_NETLINK='rxe 0:0:40:3;rxe1:7:5:0' RDMACG_PROC=$proc LD_PRELOAD=$work/bin/fake.so \
		"$work/bin/rdmacg" "$@"
}

# Let the command look for the hierarchy in $proc/self/mountinfo.
without_root() { RDMACG_PROC=$proc start "$@"; }

# Check the whole content of a file of the tree.
holds() {
	[ "$(cat "$root/$1")" = "$2" ] || {
		echo "$1 holds \"$(cat "$root/$1")\", wanted \"$2\""
		return 1
	}
}

# limits FILE LINE: check that a file of limits has a line of the device with all words of LINE. For
# "NAME max" and "NAME default", each key must be max.
limits() {
	local line word
	while read -r line; do
		[ "${line%% *}" = "${2%% *}" ] || continue
		for word in ${2#* }; do
			case $word in
			max | default) case $line in *=[0-9]*) continue 2 ;; esac ;;
			*) case " $line " in *" $word "*) ;; *) continue 2 ;; esac ;;
			esac
		done
		return
	done <"$root/$1"
	echo "$1 holds \"$(cat "$root/$1")\", wanted \"$2\""
	return 1
}

# row BEGINNING ROW: check the first row of the output that contains BEGINNING.
row() {
	local line
	line=$(printf '%s\n' "$out" | sed 's/  */ /g; s/^ //' | grep -F -- "$1" | head -n 1)
	[ "$line" = "$2" ] || {
		echo "row \"$line\", wanted \"$2\""
		return 1
	}
}

# claim NAME COMMAND...: judge a claim. If $MATCH is set, skip claims whose names do not contain
# $MATCH.
claim() {
	case $1 in *"${MATCH-}"*) ;; *) return ;; esac
	find "$work" -mindepth 1 -maxdepth 1 ! -name bin ! -name template -exec rm -rf {} +
	tree
	judge "$@"
}
