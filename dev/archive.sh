# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Functions that read the Debian archive of this machine's apt. A script sources dev/lib.sh first.

# The lists and downloads of private_apt().
APT=$CACHE/apt
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

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

# sources ARCHIVE SUITE: print the lines of sources.list, for backports with the suite below.
sources() {
	for from in "$2" "${2%-backports}"; do
		echo "deb [signed-by=$KEYRING] $1 $from main"
	done | sort -u
}
