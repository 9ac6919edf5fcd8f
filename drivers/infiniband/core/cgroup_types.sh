#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cgroup_types.sh HEADER SOURCE...: print the name of each type of uverbs objects in HEADER, and the
# device operation that this type needs. The uverbs API in the SOURCEs states these operations. Each
# line is an initialiser:
#
#	[UVERBS_OBJECT_PD] = { "pd", offsetof(struct ib_device_ops, dealloc_pd) },
#	[UVERBS_OBJECT_ASYNC_EVENT] = { "async_event" },
set -e

header=$1
shift

# Each line of $needs is like "PD dealloc_pd". A type with several operations has the first one.
tree='OBJ_TREE_NAMED\( ?UVERBS_OBJECT_[A-Z0-9_]+\)?'
needs=$(cat "$@" | tr -s ' \t\n' ' ' | grep -oE "$tree, UAPI_DEF_OBJ_NEEDS_FN\([a-z0-9_]+" |
	sed -E 's/.*UVERBS_OBJECT_([A-Z0-9_]+).*\(/\1 /')

enum=$(sed -n '/^enum uverbs_default_objects {/,/^}/p' "$header")
types=$(echo "$enum" | sed -n 's/^\tUVERBS_OBJECT_\([A-Z0-9_]*\),.*/\1/p')
lines=$(echo "$enum" | grep -c UVERBS_OBJECT_)
if [ "$(echo "$types" | wc -l)" != "$lines" ]; then
	echo "$0: $header: cannot parse enum uverbs_default_objects with $lines types" >&2
	exit 1
fi

# UVERBS_OBJECT_DEVICE is the context, which is counted as hca_handle.
for type in $types; do
	[ "$type" != DEVICE ] || continue
	op=$(echo "$needs" | sed -n "s/^$type //p")
	name=$(echo "$type" | tr '[:upper:]' '[:lower:]')
	echo "[UVERBS_OBJECT_$type] = { \"$name\"${op:+, offsetof(struct ib_device_ops, $op)} },"
done
