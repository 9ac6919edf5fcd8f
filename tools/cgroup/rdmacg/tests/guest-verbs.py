#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""For tests/guest-refusals, on rxe0.

handles     create address handles until none is left, and hold them
refusals N  try N times to create a queue pair; fail if one succeeds
"""
import errno
import signal
import sys

from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.enums import IBV_QPT_UD
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPCap, QPInitAttr

context = Context(name="rxe0")
domain = PD(context)
if sys.argv[1] == "handles":
    route = GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0)
    handles = []
    try:
        while True:
            handles.append(AH(domain, attr=AHAttr(port_num=1, is_global=1, gr=route)))
    except PyverbsRDMAError as error:
        print("made", len(handles), error, flush=True)
    signal.pause()
else:
    queue = CQ(context, 1)
    wanted = QPInitAttr(qp_type=IBV_QPT_UD, scq=queue, rcq=queue, cap=QPCap(max_send_wr=1))
    for _ in range(int(sys.argv[2])):
        try:
            QP(domain, wanted)
        except PyverbsRDMAError as error:
            if error.error_code != errno.EAGAIN:
                raise
        else:
            sys.exit("a queue pair was made")
