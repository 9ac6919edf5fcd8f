# SPDX-License-Identifier: GPL-2.0
# Where the base's controller (7.x) answers differently, on purpose: each rule turns
# one of the base's answers into the one that this project's controller gives to
# the same operation. Whatever else differs is an error. For sed -E.
#
# Not generated where both kernels are compared, since no rule could tell what comes
# of it:
# - objects with an fd (comp_channel, async_event): the base does not count them.
# - multicast groups, and whatever is in rdma.verb.* and rdma.hw.*: the base has none.
# - queries of the device: the base does not tell the limits.
# - reads after one of the writes below, until two writes have set the same limits
#   on both. The numbers 010 and 2147483647 are among them without a rule: both take
#   them, the base as 8 and as no limit.
# - devices of one name, which are as hard to make on one kernel as on the other.
# What the base leaves behind after an open that it refused, a removed cgroup that stays
# for ever, is in none of the files that are read.

# A blank ended each line, so that runc dropped it.
/^[0-9]+ read [^ ]+ rdma\.(max|current|peak): ok/s/ \\n/\\n/g

# Limits of stock end at 2147483646. Ours include OCI's 4294967295.
/ write [^ ]+ rdma\.max "rxe0 hca_object=(2147483648|9223372036854775806)": /s/EINVAL$/ok/
/ write [^ ]+ rdma\.max "rxe1 hca_handle=4294967295\\n": /s/EINVAL$/ok/

# Numbers are decimal.
/ write [^ ]+ rdma\.max "rxe1 hca_handle=0x10": /s/ok$/EINVAL/

# A write without any limit was taken and did nothing.
/ write [^ ]+ rdma\.max "rxe0( index=0\\n)?": /s/ok$/EINVAL/

# "NAME max" takes back all limits.
/ write [^ ]+ rdma\.max "(rxe0 max|rxe1 max\\n)": /s/EINVAL$/ok/

# A tab also separates the name from the limits.
/ write [^ ]+ rdma\.max "rxe0\\thca_object=3": /s/ENODEV$/ok/

# Each line has a device of its own; the end of a line was a blank like others.
/ write [^ ]+ rdma\.max "rxe0 hca_object=3\\nrxe1 hca_object=4\\n": /s/EINVAL$/ok/
/ write [^ ]+ rdma\.max "rxe0 hca_object=3\\nhca_handle=4\\n": /s/ok$/EINVAL/
/ write [^ ]+ rdma\.max "rxe0\\nhca_object=3": /s/ENODEV$/EINVAL/

# The index stands after the name and nowhere else.
/ write [^ ]+ rdma\.max "rxe1 hca_object=3 index=1": /s/ok$/EINVAL/

# A NUL was the end, and what followed it was not looked at.
/ write [^ ]+ rdma\.max "rxe0 hca_object=3\\0x?": /s/ok$/EINVAL/

# An empty line was a device without a name.
/ write [^ ]+ rdma\.max "\\n": /s/ENODEV$/EINVAL/

# The first error in a line counts: an unknown device comes before all that follows it and its
# index.
/ write [^ ]+ rdma\.max "(rxe9?|rxe0[0x]|max|=|default) index=[^01]/! {
	s/^([0-9]+ write [^ ]+ rdma\.max "(rxe9?|rxe0[0x]|max|=|default) .*: )EINVAL$/\1ENODEV/
}
s/^([0-9]+ write [^ ]+ rdma\.max "(rxe0 index=1|rxe1 index=0) .*: )EINVAL$/\1ENODEV/
