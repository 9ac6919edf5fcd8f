#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# uverbs_control.sh LIST HEADER...: print the lines of LIST whose names the HEADERs declare. Each
# line is an initialiser:
#
#	UVERBS_IOCTL(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, CREATE)
#	UVERBS_WRITE(IB_USER_VERBS_CMD_CREATE_QP, CREATE)
set -e

list=$1
shift
words=$(cat "$@" | tr -cs 'A-Z0-9_' '\n' | sort -u)
awk -v words="$words" '
	function has(word) { return word in declared }
	BEGIN { n = split(words, all, "\n"); for (i = 1; i <= n; i++) declared[all[i]] = 1 }
	/^#/ || !NF { next }
	NF != 3 || $3 !~ /^(create|change|destroy|data|query|other)$/ {
		print FILENAME ": line " FNR ": expected three words, the last a class" \
			>"/dev/stderr"
		exit 1
	}
	{ class = toupper($3) }
	$1 ~ /^write/ && has($2) { print "UVERBS_" toupper($1) "(" $2 ", " class ")" }
	$1 ~ /^UVERBS_/ && has($1) && has($2) {
		print "UVERBS_IOCTL(" $1 ", " $2 ", " class ")"
	}' "$list"
