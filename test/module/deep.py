# SPDX-License-Identifier: GPL-2.0
"""deep.py VERBS_HOLD: create 5,000 cgroups, each in the one before. The last one has the limits of the one at level 64."""
import errno
import os
import subprocess
import sys
from pathlib import Path

ROOT = "/sys/fs/cgroup"
os.chdir(ROOT)
for level in range(1, 5001):
    Path("cgroup.subtree_control").write_text("+rdma")
    os.mkdir("d")
    os.chdir("d")
    if level == 64:
        Path("rdma.verb.max").write_text("rxe0 qp=2")
assert " qp=2 " in Path("rdma.verb.max").read_text()
try:
    Path("rdma.verb.max").write_text("rxe0 qp=1")
    sys.exit("the last cgroup takes a limit")
except OSError as error:
    assert error.errno == errno.EOPNOTSUPP, error
Path("cgroup.procs").write_text("0")
said = subprocess.run([sys.argv[1], "rxe0", "3"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False).stdout
assert b"QP 3 refused" in said, said
Path(ROOT, "cgroup.procs").write_text("0")
for level in range(5000):
    os.chdir("..")
    os.rmdir("d")
