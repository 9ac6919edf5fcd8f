# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# How the tests report: a line "ok NAME" or "not ok NAME" for each, and what else there is
# to say behind "# ". Sourced after lib.sh. A script ends with "exit $failed".

failed=0

ok() {
	echo "ok $*"
}

not_ok() {
	echo "not ok $*"
	failed=1
}

# comment: what comes in, as comments. A guest's terminal ends lines with CR LF.
comment() {
	tr -d '\r' | sed 's/^/# /'
}

# report STATUS NAME [LOG]: the test of that name ended with STATUS; its log is shown if
# it failed.
report() {
	if [ "$1" = 0 ]; then
		ok "$2"
	else
		not_ok "$2"
		[ -z "${3:-}" ] || comment <"$3"
	fi
}
