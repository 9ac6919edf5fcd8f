# SPDX-License-Identifier: GPL-2.0
# Intended differences from stock (7.x): each rule turns an answer of stock into the answer of this
# project's controller to the same operation. Other differences are errors. For sed -E.
#
# answers.py reads no file after one of the writes below until both kernels have the same limits again.
# Writes of 010 and 2147483647 need no rule, because both kernels accept these writes. Stock reads 010
# as 8, and 2147483647 as no limit.

# Stock ends each line with a blank, and runc ignores such lines. Our lines end without a blank.
/^[0-9]+ read [^ ]+ rdma\.(max|current|peak): ok/s/ \\n/\\n/g

# The largest limit of stock is 2147483646. Our controller also accepts OCI's 4294967295.
/ write [^ ]+ rdma\.max "rxe0 hca_object=(2147483648|9223372036854775806)": /s/EINVAL$/ok/
/ write [^ ]+ rdma\.max "rxe1 hca_handle=4294967295\\n": /s/EINVAL$/ok/

# Our controller accepts only decimal numbers.
/ write [^ ]+ rdma\.max "rxe1 hca_handle=0x10": /s/ok$/EINVAL/

# Stock accepts a write without a limit, and does nothing.
/ write [^ ]+ rdma\.max "rxe0( index=0\\n)?": /s/ok$/EINVAL/

# "NAME max" removes all limits.
/ write [^ ]+ rdma\.max "(rxe0 max|rxe1 max\\n)": /s/EINVAL$/ok/

# Our controller also accepts a tab between the name and the limits.
/ write [^ ]+ rdma\.max "rxe0\\thca_object=3": /s/ENODEV$/ok/

# In our controller, each line has its own device. In stock, the end of a line is only a blank.
/ write [^ ]+ rdma\.max "rxe0 hca_object=3\\nrxe1 hca_object=4\\n": /s/EINVAL$/ok/
/ write [^ ]+ rdma\.max "rxe0 hca_object=3\\nhca_handle=4\\n": /s/ok$/ENODEV/
/ write [^ ]+ rdma\.max "rxe0\\nhca_object=3": /s/ENODEV$/EINVAL/

# In our controller, the index is directly after the name.
/ write [^ ]+ rdma\.max "rxe1 hca_object=3 index=1": /s/ok$/EINVAL/

# In stock, a NUL ends the text, and the rest is ignored.
/ write [^ ]+ rdma\.max "rxe0 hca_object=3\\0x?": /s/ok$/EINVAL/

# In stock, an empty line is a device without a name.
/ write [^ ]+ rdma\.max "\\n": /s/ENODEV$/EINVAL/

# Our controller reports the first error in a line: an unknown device, not an error after the name.
/ write [^ ]+ rdma\.max "(rxe9?|rxe0[0x]|max|=|default) index=[^01]/! {
	s/^([0-9]+ write [^ ]+ rdma\.max "(rxe9?|rxe0[0x]|max|=|default) .*: )EINVAL$/\1ENODEV/
}
s/^([0-9]+ write [^ ]+ rdma\.max "(rxe0 index=1|rxe1 index=0) .*: )EINVAL$/\1ENODEV/
