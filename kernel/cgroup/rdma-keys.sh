#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# rdma-keys.sh HEADER: the keys of the verb class, an initializer a line: each type of object that
# uverbs declares in HEADER, and what else the IB core counts (drivers/infiniband/core/cgroup.c).
# So rdma.default knows them in a kernel whose IB core is a module, or not there.
set -e

sed -n '/^enum uverbs_default_objects {/,/^}/s/^\tUVERBS_OBJECT_\([A-Z0-9_]*\),.*/\1/p' "$1" |
	grep -vx DEVICE | tr '[:upper:]' '[:lower:]' | sed 's/.*/{ RDMACG_CLASS_VERB, "&" },/'
for key in driver_object mr_mem dm_mem mcast cm_id; do
	echo "{ RDMACG_CLASS_VERB, \"$key\" },"
done
