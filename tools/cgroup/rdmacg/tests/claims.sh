# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Conditions and claims of the command's tests, on a tree of files and in guests, and of
# test/runtimes. A condition looks at $out and $status of what was run, and says what it saw
# where it does not hold.
failed=0

says() {
	case $out in
	*"$1"*) ;;
	*)
		echo "wanted: $1"
		echo "$out"
		return 1
		;;
	esac
}

says_not() {
	case $out in
	*"$1"*)
		echo "not wanted: $1"
		echo "$out"
		return 1
		;;
	esac
}

exits() {
	[ "$status" = "$1" ] || {
		echo "exit status $status, wanted $1"
		echo "$out"
		return 1
	}
}

# judge NAME FUNCTION...: "ok NAME" where the function and all in it succeeds.
judge() {
	local name=$1 said result
	shift
	out=''
	# Not behind ||, for there bash does not stop at the first condition that fails.
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
