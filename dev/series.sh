# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Functions for kernel trees, and for the patches that change them. A script sources dev/lib.sh first.

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

# check_patches TREE ARG...: run checkpatch without two of its checks. MAINTAINERS names the folders
# of new files, and no repository here has the commits in "Fixes:".
check_patches() {
	checkpatch=$1/scripts/checkpatch.pl
	shift
	perl "$checkpatch" --strict -q --terse --no-tree --no-summary \
		--ignore FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID "$@"
}

# patches_for VERSION: print the patches of the nearest base in their order, below $ROOT: first those
# that repair the base. NAME.patch is for all bases, and BASE/NAME.patch only for one. If both exist, the
# second continues the first. A major version counts as 20 releases, because Linux 5 and 6 had 20 releases
# each.
patches_for() {
	nearest=$(for series in "$ROOT"/patches/*/; do basename "$series"; done | awk -v wanted="$1" '
		function nth(version, part) { split(version, part, "."); return part[1] * 20 + part[2] }
		{ far = nth(wanted) - nth($0); far = far < 0 ? -far : far }
		NR == 1 || far < least { least = far; found = $0 }
		END { print found }')
	(cd "$ROOT" && find base-bugs -path '*/patch' -o -path "*/$nearest.patch" | sort
		find patches/*.patch "patches/$nearest" -name '*.patch' -printf '%f %d %p\n' | sort | cut -d' ' -f3)
}

# patched_files PATCH...: print the files of the base that the patches change.
patched_files() {
	sed -n 's,^--- a/,,p' "$@" | sort -u
}

# replaced BASE: of the paths in the input, print those of the base that a file of ours replaces.
replaced() {
	while read -r path; do
		[ ! -e "$1/$path" ] || [ ! -e "$ROOT/$path" ] || echo "$path"
	done
}

# is_temporary BASE PATCH: a patch that changes only such files prepares a later patch of the series,
# which brings ours. An assembled tree never has such changes.
is_temporary() {
	[ -n "$(patched_files "$2")" ] && [ "$(patched_files "$2" | replaced "$1")" = "$(patched_files "$2")" ]
}

# apply_patch DIR PATCH: apply a patch. Do nothing if DIR already has the whole patch. Lines may
# have moved, but not changed.
apply_patch() {
	exact="patch -d $1 -p1 -F0 -s -f --no-backup-if-mismatch"
	grep -q '^--- [a/]' "$2" || return 0
	$exact --dry-run <"$2" >/dev/null || ! $exact -R --dry-run <"$2" >/dev/null || return 0
	$exact <"$2"
}

# changed_files BASE TREE: print the files of an assembled tree that differ from BASE or are not in
# BASE. dev/tree has listed the files that it copied to the tree.
changed_files() {
	while read -r path; do
		cmp -s "$1/$path" "$2/$path" || echo "$path"
	done <"$2/.rdmacg-files"
}
