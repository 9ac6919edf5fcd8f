# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# Functions that the scripts share. A script sources this file, and uses some of them.

# dash does not run the trap of EXIT if a signal ends dash, and the trap may have to delete some
# GiB. So exit here.
trap 'exit 130' HUP INT TERM
# Some shells count seconds in the variable SECONDS.
# shellcheck disable=SC3028 # for these shells
[ -z "${BASH_VERSION:-}" ] || [ "${SECONDS:-0}" != 0 ] || unset SECONDS
# The scripts parse the output of tools, so it must not be translated.
export LC_ALL=C
# Do not pass the variables of our make to other makefiles, which may also have an OUT or a BASE.
unset MAKEFLAGS
# With CDPATH, cd may change to another folder, and prints the folder.
unset CDPATH
# A git hook sets these variables, and "git -C" would use them.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY
# depmod, ip and rdma are not in the PATH of every user.
PATH=$PATH:/usr/sbin:/sbin
# The project's folder, some folders above the script.
ROOT=$(cd "$(dirname "$0")" && until [ -f dev/lib.sh ]; do cd ..; done && pwd -P)
CACHE=${XDG_CACHE_HOME:-${HOME:?is not set; set it, or XDG_CACHE_HOME}/.cache}/rdmacg
# Let git read a clone of another owner, because the user already runs the scripts of this clone.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$ROOT"

SUPPORTED='6.12 and later (such as 7.3, or the update 6.12.107), 6.12.x and 7.x (the newest in the archive), or KSRC=/path to a kernel tree'
# The bases of the checks, the updates on which this release was tested, and the VM of a base.
CHECK_BASES='6.12 7.3'
TESTED='6.12.117 7.3.4'
vm_of() {
	case $1 in 6.*) echo qemu ;; *) echo uml ;; esac
}
arch_of() {
	case $1 in qemu) echo x86_64 ;; uml) echo um ;; *) return 1 ;; esac
}

# The drivers of adapters that the patches change, which User-Mode Linux does not have. These
# drivers compile with vm/config/adapters.config.
ADAPTERS='drivers/infiniband/hw/bnxt_re/ drivers/infiniband/hw/mlx5/ drivers/infiniband/hw/ocrdma/
	drivers/infiniband/hw/qedr/'

# The bases for a script that runs on several bases.
BASES=${BASE:-$CHECK_BASES}
BASE=${BASE:-6.12}
VM=${VM:-qemu}
KSRC=${KSRC:-}

# Let ccache use the compiler's list of headers. A cold build is then faster, because the
# preprocessor runs only once.
export CCACHE_DEPEND=1

die() {
	printf '%s: %s\n' "${0#"$ROOT/"}" "$*" >&2
	exit 1
}

# build_failed LOG WHAT: show the first errors in the log of a build, and fail.
build_failed() {
	grep -E -A5 'error|Error|undefined' "$1" | head -n 20 >&2
	die "$2 (log: $1)"
}

# plain_path PATH REMEDY: refuse these characters, which make, the guest's command
# line or apt do not accept.
plain_path() {
	case $1 in
	*[[:space:]]* | *[\"\'\\,:#$%\&]*) die "$1 has a blank, a quote or one of , : # $ % &; $2" ;;
	/*) ;;
	*) die "$1 is not absolute; $2" ;;
	esac
}
plain_path "$ROOT" 'move the clone'
plain_path "$CACHE" 'set XDG_CACHE_HOME to another folder'

# Progress goes to stderr: the last line of stdout is an answer.
say() {
	printf '%s\n' "$*" >&2
}

# The approximate number of files of a guest's kernel.
KERNEL_FILES=1100

# progress SECONDS LOG [FILES [THERE]]: report the progress of a build of about
# FILES files every SECONDS, until the caller ends this process. An interrupted
# build has compiled THERE files. LOG may be a folder of logs.
progress() {
	ticks=0
	while sleep "$1"; do
		ticks=$((ticks + $1))
		compiled=$((${4:-0} + $(grep -rhE '^  (CC|AS) ' "$2" | wc -l)))
		say "  $((ticks / 60)) min $((ticks % 60)) s, $compiled${3:+ of about $3} files compiled"
	done
}

# choose NAME...: print the names that ONLY and SKIP leave.
choose() {
	for word in ${ONLY:-} ${SKIP:-}; do
		case " $* " in
		*" $word "*) ;;
		*) die "ONLY and SKIP pick parts by name, and '$word' is not one; there are: $*" ;;
		esac
	done
	for word; do
		case " ${ONLY:-$*} " in
		*" $word "*) case " ${SKIP:-} " in *" $word "*) ;; *) echo "$word" ;; esac ;;
		esac
	done
}

# number VARIABLE DEFAULT: print the variable's value, which must be a decimal number.
number() {
	value=$(eval "echo \"\${$1:-$2}\"")
	case $value in
	'' | *[!0-9]* | 0?*) die "$1='$value' is not a decimal number" ;;
	esac
	echo "$value"
}

# need_folder FOLDER: create a folder in the cache.
need_folder() {
	mkdir -p "$1" 2>/dev/null && [ -w "$1" ] ||
		die "cannot write to $1; set XDG_CACHE_HOME to a folder that you may write to"
}
need_cache() {
	need_folder "$CACHE"
}

# need_space GIB: fail with one line if the disk has less space, before a compiler fails.
need_space() {
	need_cache
	free=$(df -Pk "$CACHE" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$free" -ge "$1" ] ||
		die "$CACHE has $free GiB free and this step needs $1; free some, or set XDG_CACHE_HOME"
}

# with_lock NAME: hold the lock until the script ends, so that only one script
# uses a tree. Wait as long as another run lives, because a healthy run may take
# hours on a slow machine.
lock_seconds=300
with_lock() {
	need_cache
	exec 9>>"$CACHE/$1.lock"
	waited=0
	until flock -w $((waited ? lock_seconds : 0)) 9; do
		say "Waiting for process $(cat "$CACHE/$1.lock"), which holds $CACHE/$1.lock; $waited s so far"
		waited=$((waited + lock_seconds))
	done
	echo $$ >"$CACHE/$1.lock"
}

# tree_version DIR: print the version in the Makefile of a kernel tree.
tree_version() {
	awk -F' *= *' '
		$1 == "VERSION" { v = $2 }
		$1 == "PATCHLEVEL" { p = $2 }
		$1 == "SUBLEVEL" { print v "." p "." $2; exit }' "$1/Makefile"
}
