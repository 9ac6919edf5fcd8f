#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# rdma-keys.sh HEADER: print the keys of the verb class, one initializer on each line. The keys are
# the types of uverbs objects in HEADER, and the other resources that the IB core counts
# (drivers/infiniband/core/cgroup.c). With this list, rdma.default has these keys even if the IB
# core is a module or is not built.
set -e

sed -n '/^enum uverbs_default_objects {/,/^}/s/^\tUVERBS_OBJECT_\([A-Z0-9_]*\),.*/\1/p' "$1" |
	grep -vx DEVICE | tr '[:upper:]' '[:lower:]' | sed 's/.*/{ RDMACG_CLASS_VERB, "&" },/'
for key in driver_object mr_mem dm_mem mcast cm_id; do
	echo "{ RDMACG_CLASS_VERB, \"$key\" },"
done
