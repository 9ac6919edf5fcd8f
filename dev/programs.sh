# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Functions that build or list the programs of the tests. A script sources dev/lib.sh first.

# build_command FOLDER: build rdmacg in the cache, and copy it to the folder. Hold
# the lock only for this, because the caller's guest may run for hours.
build_command() (
	with_lock command
	build_here "$CACHE/command"
	make -s -j "$(nproc)" -C "$ROOT/tools/cgroup/rdmacg" OUT="$CACHE/command" "$CACHE/command/rdmacg" >&2 &&
		cp "$CACHE/command/rdmacg" "$1/" || die "tools/cgroup/rdmacg does not build (above)"
)

# build_verbs_hold FOLDER: build the program that holds objects.
build_verbs_hold() {
	mkdir -p "$1"
	gcc -Wall -O2 -o "$1/verbs-hold" "$ROOT/demo/verbs-hold.c" -libverbs ||
		die "demo/verbs-hold.c does not compile; is libibverbs-dev installed?"
}

# Print the names of our kselftests.
rdma_tests() {
	basename -s .c "$ROOT"/tools/testing/selftests/cgroup/test_rdma*.c
}

# build_here FOLDER...: empty the folders that another clone has built in, because make takes its objects
# for new if they are newer than our sources.
build_here() {
	for folder; do
		[ "$(cat "$folder/clone" 2>/dev/null)" = "$ROOT" ] || rm -rf "$folder"
		mkdir -p "$folder"
		echo "$ROOT" >"$folder/clone"
	done
}
