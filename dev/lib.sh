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
ADAPTERS='drivers/infiniband/hw/bnxt_re/ drivers/infiniband/hw/mlx5/'

# The lists and downloads of private_apt().
APT=$CACHE/apt

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
	'' | *[!0-9]*) die "$1='$value' is not a decimal number" ;;
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

# private_apt TOOL ARG...: read the Debian archive of this machine's apt, without changing apt's own
# state. dev/base determines which suites exist, and downloads their lists.
private_apt() {
	tool=$1 limit=900 retries=2
	shift
	# Do not retry in "apt-get update", because each list would wait for a stalled mirror again.
	case "$*" in *update) limit=180 retries=0 ;; esac
	timeout --foreground "$limit" "$tool" -q -o "Dir::Etc::SourceList=$APT/sources.list" -o Dir::Etc::SourceParts=- \
		-o "Dir::State::Lists=$APT/lists" -o "Dir::Cache=$APT/cache" \
		-o APT::Update::Error-Mode=any -o APT::Sandbox::User=root \
		-o "Acquire::Retries=$retries" -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15 -o Acquire::Languages=none "$@"
}

# configured_sources: print the sources of this machine's apt as lines "URI SUITE".
configured_sources() {
	apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
		sort -u
}

# debian_archive: print the address of the Debian archive that this machine's apt uses, or nothing.
debian_archive() {
	configured_sources | awk -v suite="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '
		$2 == suite || $2 ~ /^(oldstable|stable|testing|unstable|sid)$/ { print $1; exit }'
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

# tracked PATTERN...: print the project's files that have one of these names, are in one of these
# folders, or match a pattern. A * also matches a slash. Fails if no file matches. A release is not
# a repository, so all its files are ours, except files in folders of builds.
tracked() (
	cd "$ROOT" || exit
	if [ -e .git ]; then
		git ls-files --error-unmatch -- "$@"
		exit
	fi
	for pattern; do
		find . -type f \( -path "./$pattern" -o -path "./$pattern/*" \) \
			! -path '*/build/*' ! -path '*/build-san/*' | sed 's,^\./,,' | grep . || exit
	done
)

# made_at: print the time of the commit in seconds. The files of a release have this time.
made_at() {
	if [ -e "$ROOT/.git" ]; then
		git -C "$ROOT" log --no-show-signature -1 --format=%ct
	else
		date -r "$ROOT/CHANGELOG.md" +%s
	fi
}

# uncommitted: print the changed files, and the files that git does not track.
uncommitted() {
	git -C "$ROOT" status --porcelain --untracked-files=normal
}

# release: print the version in CHANGELOG.md. A commit without the tag of this version, such as
# v0.1, gets an earlier version, such as 0.1~git20261231235959.0123456789ab. A tarball has its
# version in a file.
release() {
	! cat "$ROOT/.release" 2>/dev/null || return 0
	version=$(sed -n 's/^## //p' "$ROOT/CHANGELOG.md" | head -n 1)
	[ -e "$ROOT/.git" ] || { echo "$version"; return; }
	git -C "$ROOT" tag --points-at HEAD | grep -qxF "v$version" ||
		version=$version~git$(date -u -d "@$(made_at)" +%Y%m%d%H%M%S).$(git -C "$ROOT" rev-parse --short=12 HEAD)
	[ -z "$(uncommitted)" ] || version=$version+dirty
	echo "$version"
}

# tree_version DIR: print the version in the Makefile of a kernel tree.
tree_version() {
	awk -F' *= *' '
		$1 == "VERSION" { v = $2 }
		$1 == "PATCHLEVEL" { p = $2 }
		$1 == "SUBLEVEL" { print v "." p "." $2; exit }' "$1/Makefile"
}

# overlay BASE STAGE TREE: make TREE equal to BASE with the files of STAGE over it. The files of
# STAGE are listed in TREE/.rdmacg-files. A base of the archive never changes, and rsync replaces a
# file instead of writing to it, so TREE has hard links to the files of such a base. A later call
# compares only the files of the old and new list.
overlay() {
	ours=$3/.rdmacg-files
	(cd "$2" && find . -type f | sed 's,^\./,,' | sort) >"$2.files"
	{
		if [ -n "$KSRC" ]; then
			sed 's,^,/,' "$2.files" >"$2.ours"
			rsync -a --delete --exclude=/.git --exclude=/.rdmacg-files --exclude-from="$2.ours" "$1/" "$3/"
		elif [ ! -e "$ours" ]; then
			rm -rf "$3" && cp -al "$1" "$3" 2>/dev/null || { rm -rf "$3" && cp -a "$1" "$3"; }
		else
			comm -13 "$2.files" "$ours" | while read -r path; do
				rm -f "$3/$path" && { [ ! -e "$1/$path" ] || cp "$1/$path" "$3/$path"; } || exit
			done
		fi && cat "$2.files" >>"$ours" && rsync -rlpc "$2/" "$3/" && cp "$2.files" "$ours"
	} >&2 || die "cannot assemble $3; is the disk full?"
}

# our_git: run git in a repository of ours, without the user's settings, which could change a patch.
our_git() (
	# shellcheck disable=SC2046 # one word per variable
	unset GIT_DEFAULT_HASH GIT_DIFF_OPTS GIT_EXTERNAL_DIFF GIT_TEMPLATE_DIR $(git rev-parse --local-env-vars)
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1
	exec git -c core.attributesFile=/dev/null "$@"
)

# from NAME EMAIL: use this author of patches, regardless of git's configuration.
from() {
	GIT_AUTHOR_NAME=$1 GIT_AUTHOR_EMAIL=$2
	GIT_COMMITTER_NAME=$1 GIT_COMMITTER_EMAIL=$2
	export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
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

# Use an invented author for patches that are not sent.
tester() {
	from Tester tester@example.org
}

# The sender of patches and the maintainer of packages is the user of git, also in repositories
# that we create. An address that git derives from the name of the machine is not accepted.
sender() {
	ident=$(git -c user.useConfigOnly=true var GIT_COMMITTER_IDENT 2>/dev/null) ||
		die 'git does not know who you are; set user.name and user.email with git config'
	email=${ident##*<}
	from "${ident%% <*}" "${email%%>*}"
}

# check_patches TREE ARG...: run checkpatch without two of its checks. MAINTAINERS names the folders
# of new files, and no repository here has the commits in "Fixes:".
check_patches() {
	checkpatch=$1/scripts/checkpatch.pl
	shift
	perl "$checkpatch" --strict -q --terse --no-tree --no-summary \
		--ignore FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID "$@"
}

# patches_for VERSION: print the patches of the nearest base in their order, below $ROOT: first those
# that repair the base. A major version counts as 20 releases, because Linux 5 and 6 had 20 releases each.
patches_for() {
	nearest=$(for series in "$ROOT"/patches/*/; do basename "$series"; done | awk -v wanted="$1" '
		function nth(version, part) { split(version, part, "."); return part[1] * 20 + part[2] }
		{ far = nth(wanted) - nth($0); far = far < 0 ? -far : far }
		NR == 1 || far < least { least = far; found = $0 }
		END { print found }')
	(cd "$ROOT" && for patch in base-bugs/*/patch base-bugs/*/"$nearest.patch" patches/"$nearest"/*.patch; do
		[ ! -e "$patch" ] || echo "$patch"
	done)
}

# patched_files PATCH...: print the files of the base that the patches change.
patched_files() {
	sed -n 's,^--- a/,,p' "$@" | sort -u
}

# apply_patch DIR PATCH: apply a patch. Do nothing if DIR already has the whole patch. Lines may
# have moved, but not changed. In cgroup-v2.rst, the patch only adds a line "include" below
# the heading of a section. Replace this line and the section by the included file.
apply_patch() {
	exact="patch -d $1 -p1 -F0 -s -f --no-backup-if-mismatch"
	[ -n "$(patched_files "$2")" ] || return 0
	$exact --dry-run <"$2" >/dev/null || ! $exact -R --dry-run <"$2" >/dev/null || return 0
	$exact <"$2" || return
	guide=$1/Documentation/admin-guide/cgroup-v2.rst
	[ -e "$guide" ] || return 0
	# The section ends before the next heading, whose underline has only dashes.
	awk -v section="$ROOT/patches/cgroup-v2-rdma.rst" '
		/^\.\. include:: cgroup-v2-rdma/ { while ((getline line <section) > 0) print line; replaced = 1 }
		replaced && /^-+$/ { print "\n" heading; replaced = 0 }
		{ heading = $0 }
		!replaced
		END { exit replaced }' "$guide" >"$guide.new" && mv "$guide.new" "$guide"
}

# changed_files BASE TREE: print the files of an assembled tree that differ from BASE or are not in
# BASE. dev/tree has listed the files that it copied to the tree.
changed_files() {
	while read -r path; do
		cmp -s "$1/$path" "$2/$path" || echo "$path"
	done <"$2/.rdmacg-files"
}
