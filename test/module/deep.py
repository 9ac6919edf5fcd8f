# SPDX-License-Identifier: GPL-2.0
"""deep.py VERBS_HOLD: create 5,000 cgroups, each in the one before. The last one has the limits of the one at level 64."""
import errno
import os
import subprocess
import sys

ROOT = "/sys/fs/cgroup"


def write(name, text, folder=None):
    fd = os.open(name, os.O_WRONLY, dir_fd=folder)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


os.chdir(ROOT)
for level in range(1, 5001):
    write("cgroup.subtree_control", "+rdma")
    os.mkdir("d")
    os.chdir("d")
    if level == 64:
        top = os.open(".", os.O_RDONLY)
write("rdma.verb.max", "rxe0 qp=2", top)
with open("rdma.verb.max", encoding="ascii") as file:
    assert " qp=2 " in file.read()
try:
    write("rdma.verb.max", "rxe0 qp=1")
    sys.exit("the last cgroup takes a limit")
except OSError as error:
    assert error.errno == errno.EOPNOTSUPP, error
write("cgroup.procs", "0")
said = subprocess.run([sys.argv[1], "rxe0", "3"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False).stdout
assert b"QP 3 refused" in said, said
write(ROOT + "/cgroup.procs", "0")
for level in range(5000):
    os.chdir("..")
    os.rmdir("d")
