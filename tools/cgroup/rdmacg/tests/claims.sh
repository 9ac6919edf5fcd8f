# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Conditions and claims for the tests of the command on a tree of files and in guests, and for
# test/runtimes. A condition checks $out or $status of the last run, and prints it if the condition
# fails.
failed=0

# says TEXT...: each text is in the output.
says() {
	local text
	for text; do
		case $out in
		*"$text"*) continue ;;
		esac
		printf 'wanted: %s\n%s\n' "$text" "$out"
		return 1
	done
}

says_not() {
	local text
	for text; do
		case $out in
		*"$text"*)
			printf 'not wanted: %s\n%s\n' "$text" "$out"
			return 1
			;;
		esac
	done
}

exits() {
	[ "$status" = "$1" ] || {
		echo "exit status $status, wanted $1"
		echo "$out"
		return 1
	}
}

# judge NAME FUNCTION [ARG...]: print "ok NAME" if each command of the function succeeds.
judge() {
	local name=$1 said result
	shift
	out=''
	# Do not use ||, because with || bash does not stop at the first condition that fails.
	said=$(
		set -e
		"$@"
	)
	result=$?
	if [ $result = 0 ]; then
		echo "ok $name"
	else
		echo "not ok $name"
		printf '%s\n' "$said" | sed 's/^/# /'
		failed=1
	fi
}
