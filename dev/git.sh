# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Functions that run git: the project's files, its version, and the authors of patches. A script
# sources dev/lib.sh first.

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
