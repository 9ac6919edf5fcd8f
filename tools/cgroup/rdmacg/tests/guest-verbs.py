#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""For tests/guest-refusals.

handles     create address handles of rxe0 until none is left, and hold them
domains     create protection domains of siw0 until none is left, and hold them
refusals N  try N times to create a queue pair of rxe0; fail if one succeeds
"""
import ctypes
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



def create_domains():
    """Do not use pyverbs, which needs kilobytes of memory for each domain."""
    verbs = ctypes.CDLL("libibverbs.so.1")
    verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    verbs.ibv_get_device_name.restype = ctypes.c_char_p
    verbs.ibv_open_device.restype = verbs.ibv_alloc_pd.restype = ctypes.c_void_p
    devices = map(ctypes.c_void_p, verbs.ibv_get_device_list(None))
    device = next(d for d in devices if verbs.ibv_get_device_name(d) == b"siw0")
    context = ctypes.c_void_p(verbs.ibv_open_device(device))
    count = 0
    while verbs.ibv_alloc_pd(context):
        count += 1
    print("made", count, flush=True)
    signal.pause()


if sys.argv[1] == "domains":
    create_domains()
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
