# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# Tests report a line "ok NAME", "ok NAME # SKIP WHY" or "not ok NAME" for each claim. Comment lines
# after a failure explain the failure. Tests source this file. A test on the host first sources
# lib.sh. A script ends with "exit $failed". ONLY picks the part of NAME before a /.

failed=0
# A test on the host has a folder of logs, and its base and VM are also those of the scripts that it calls.
[ -z "${CACHE:-}" ] || {
	export BASE VM
	: "${RESULTS:=$CACHE/results/$(basename "$(dirname "$0")")-${BASE:-}-${VM:-}}"
	need_folder "$RESULTS"
}

ok() {
	echo "ok $*"
}

not_ok() {
	echo "not ok $*"
	failed=1
}

skip() {
	echo "ok $1 # SKIP $2"
}

# comment: print the input as comments. A guest's terminal ends lines with CR LF.
comment() {
	tr -d '\r' | sed 's/^/# /'
}

# within SECONDS COMMAND...: repeat the command until it succeeds, or the time ends.
within() {
	seconds=$1
	shift
	for _ in $(seq $((seconds * 10))); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "not within $seconds s: $*"
	return 1
}

# report STATUS NAME [LOG]: report a test that ended with STATUS; show the end of its log if it failed.
report() {
	if [ "$1" = 0 ]; then
		ok "$2"
	else
		not_ok "$2"
		[ -z "${3:-}" ] || tail -n 100 "$3" | comment
	fi
}

# check NAME COMMAND...: report whether the command succeeds, with $prefix before the name.
prefix=''
check() {
	name=$1 status=0
	shift
	"$@" >"$RESULTS/said" 2>&1 || status=$?
	report $status "$prefix$name" "$RESULTS/said"
	return $status
}

# silent NAME COMMAND...: like check, and the command must print nothing.
silent() {
	name=$1
	shift
	check "$name" prints_nothing "$@"
}
prints_nothing() {
	printed=$("$@" 2>&1) && [ -z "$printed" ] || {
		echo "$printed"
		return 1
	}
}

# answers NAME STATUS MESSAGE COMMAND...: check the status of the command, and that it prints MESSAGE, in two
# minutes. The output is in $said.
answers() {
	name=$1 wanted=$2 message=$3 status=0
	shift 3
	: "${said:=$RESULTS/said}"
	timeout -s KILL 120 "$@" >"$said" 2>&1 || status=$?
	[ "$status" = "$wanted" ] && grep -q -- "$message" "$said" || {
		not_ok "$prefix$name (status $status, wanted $wanted and '$message')"
		comment <"$said"
		return 0
	}
	ok "$prefix$name"
}

# relay NAME COMMAND...: pass on the lines of a script that reports by itself, with $prefix before
# each name. If the script reports nothing, or fails without a line "not ok", report a failure of
# NAME.
relay() {
	name=$1 log=$RESULTS/$(echo "$1" | tr -c 'a-zA-Z0-9.\n' -).log
	shift
	rm -f "$log.status"
	{ "$@" 2>&1 || echo $? >"$log.status"; } | tee "$log" |
		sed -u -n -E "s,\r\$,,; s,^((not )?ok ),\\1$prefix,p; /^# /p"
	if grep -q '^not ok ' "$log"; then
		failed=1
	elif [ -e "$log.status" ] || ! grep -q '^ok ' "$log"; then
		not_ok "$name (exit status $(cat "$log.status" 2>/dev/null || echo 0))"
		tail -n 40 "$log" | comment
	fi
}

# allowed_skips FILE LABEL...: print the tests that may be skipped if one of the labels is before them in FILE.
allowed_skips() {
	file=$1
	shift
	awk -v labels=" $* " 'index(labels, " " $1 " ") { print $2 }' "$file" | paste -sd ' '
}

# ktap PREFIX [SKIPS]: convert KTAP of the kselftest runner or of a kernel log with KUnit to our
# lines, with PREFIX before each name. A group of tests has a line only if the group is empty, or if
# the group failed although no test in it failed. ktap fails if a test failed, if fewer tests ran
# than were planned, or if SKIPS does not name a skipped test ("none": no test may be skipped).
ktap() {
	awk -v prefix="$1" -v skips="${2:-}" '
	function result(verdict, name,    i) {
		if (!sub("/", "/" prefix, name))
			name = prefix name
		print verdict " " name
		fflush()
		if (verdict == "ok")
			return
		failed = 1
		for (i = said > 12 ? said - 12 : 0; i < said; i++)
			print "# " lines[i]
	}

	# A "*" at the end of a name in SKIPS stands for any text.
	function may_skip(name, i, count, allowed) {
		sub(/ # SKIP.*/, "", name)
		count = split(skips, allowed, " ")
		for (i = 1; i <= count; i++)
			if (allowed[i] == name || (sub(/\*$/, "", allowed[i]) && index(name, allowed[i]) == 1))
				return 1
		return 0
	}

	# All tests of a level have run.
	function close_level(level, name) {
		if (level in planned && count[level] != planned[level])
			result("not ok", name ": " planned[level] " planned, " count[level] " ran")
		delete planned[level]
		delete group[level]
		delete explained[level]
		count[level] = 0
	}

	{
		sub(/\r$/, "")
		sub(/^\[ *[0-9.]+\] /, "")
		# The lines of a deeper level begin with "# " for kselftest, and with four blanks
		# for KUnit.
		for (level = 0; sub(/^(# |    )/, ""); level++)
			;
	}

	# These lines name a group before its tests run. KUnit prints its line one level below
	# the group.
	/^Subtest: / { group[level - 1] = $2 "/"; next }
	/^selftests: [a-z]+: / { group[level] = $3 "/"; next }

	/^1\.\.[0-9]+/ {
		planned[level] = substr($1, 4) + 0
		count[level] = 0
		plans++
		next
	}

	/^(not )?ok [0-9]+ / {
		verdict = /^not/ ? "not ok" : "ok"
		name = $0
		sub(/^(not )?ok [0-9]+ (- )?(selftests: [a-z]+: )?/, "", name)
		# An older kselftest.h has the reason before the name.
		if (sub(/^# SKIP /, "", name))
			name = name " # SKIP"
		sub(/ # time=.*/, "", name)
		if (skips && name ~ / # SKIP/ && !may_skip(name))
			verdict = "not ok"
		for (above = level; above > 0; above--)
			name = group[above] name
		is_group = count[level + 1]
		is_explained = explained[level + 1]
		close_level(level + 1, name)
		if (!is_group || (verdict == "not ok" && !is_explained))
			result(verdict, name)
		if (verdict == "not ok")
			explained[level] = 1
		said = 0
		count[level]++
		next
	}

	!/^ *(RUN|OK|FAIL|K?TAP version|# (FAILED|Totals)|timeout set to) / { lines[said++] = $0 }

	END {
		close_level(0, "the whole")
		if (!plans)
			result("not ok", "no test ran")
		exit failed
	}'
}
