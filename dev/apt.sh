# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Read the Debian archive of this machine's apt, without changing apt's own state. Sourced after
# dev/lib.sh. dev/base determines which suites exist, and downloads their lists.
APT=$CACHE/apt

private_apt() {
	tool=$1 limit=900 retries=2
	shift
	# A mirror that stalls would stall for each list.
	case "$*" in *update) limit=180 retries=0 ;; esac
	timeout --foreground "$limit" "$tool" -q -o "Dir::Etc::SourceList=$APT/sources.list" -o Dir::Etc::SourceParts=- \
		-o "Dir::State::Lists=$APT/lists" -o "Dir::Cache=$APT/cache" \
		-o APT::Update::Error-Mode=any -o APT::Sandbox::User=root \
		-o "Acquire::Retries=$retries" -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15 -o Acquire::Languages=none "$@"
}
