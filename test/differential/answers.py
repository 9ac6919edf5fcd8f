#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
"""answers.py HOLD: in the guest, write texts to rdma.max, and create objects at limits. Print each
operation and the answer of the kernel. HOLD is the program demo/verbs-hold."""
import errno
import itertools
import os
import subprocess
import sys

ROOT = "/sys/fs/cgroup"
GROUPS = ("/a", "/a/a", "/a/b")
FILES = ("max", "current", "peak", "events", "events.local")
NAMES = ("rxe0", "rxe1", "rxe9", "rxe", "rxe00", "rxe0x", "max", "=", "default")
INDICES = ("", " index=0", " index=1", " index=-1", " index=x1")
LIMITS = (" hca_handle=3", " hca_object=max hca_handle=0", " hca_object=4 hca_handle=max hca_object=5")
BAD_WORDS = ("=5", "=", "foo=1", "foo", "max=5", "index=x", "qp=1")
BAD_VALUES = ("=", "", "=ma", "=maxx", "=-1", "=1e3", "=5k", "=5=5", "=x", "=+1", "=--", "=MAX",
              "=18446744073709551616", "=99999999999999999999999", "= 5")
ENDS = ("", "\n", *(f" {word}" for word in BAD_WORDS), *(f" hca_object{value}" for value in BAD_VALUES))
# Stock answers these texts differently: differences.sed has a rule for each text. The limits after
# such a write may also differ.
ODD_TEXTS = (
    "rxe0 hca_object=2147483647",
    "rxe0 hca_object=2147483648",
    "rxe1 hca_handle=4294967295\n",
    "rxe0 hca_object=9223372036854775806",
    "rxe0 hca_object=010",
    "rxe1 hca_handle=0x10",
    "rxe0",
    "rxe0 index=0\n",
    "rxe0 max",
    "rxe1 max\n",
    "rxe0\thca_object=3",
    "rxe0 hca_object=3\nrxe1 hca_object=4\n",
    "rxe0 hca_object=3\nhca_handle=4\n",
    "rxe0\nhca_object=3",
    "rxe1 hca_object=3 index=1",
    "rxe9 foo=1",
    "rxe0 hca_object=3\0x",
    "rxe0 hca_object=3\0",
    "\n",
)
numbers = itertools.count(1)


def shown(text):
    return text.replace("\n", r"\n").replace("\t", r"\t").replace("\0", r"\0")


def tell(words, act):
    """Print an operation, and the result of a function or its error."""
    try:
        answer = f"ok {shown(act() or '')}".rstrip(" ")
    except OSError as error:
        answer = errno.errorcode[error.errno]
    print(f"{next(numbers)} {words}: {answer}", flush=True)


def write_file(path, text):
    file = os.open(ROOT + path, os.O_WRONLY)
    try:
        os.write(file, text.encode("latin-1"))
    finally:
        os.close(file)


def read_file(path):
    with open(ROOT + path, encoding="latin-1") as file:
        return file.read()


def write(group, text):
    tell(f'write {group} rdma.max "{shown(text)}"', lambda: write_file(f"{group}/rdma.max", text))


def read(group, file="max"):
    tell(f"read {group} rdma.{file}", lambda: read_file(f"{group}/rdma.{file}"))


def read_all():
    for group, file in itertools.product(GROUPS, FILES):
        read(group, file)


def texts():
    for words in itertools.product(NAMES, INDICES, LIMITS, ENDS):
        write("/a", "".join(words))
        read("/a")
    for text in ODD_TEXTS:
        write("/a", text)
        # Both kernels accept these writes, which make their limits equal again.
        write("/a", "rxe0 hca_handle=2 hca_object=9")
        write("/a", "rxe1 hca_handle=3 hca_object=8")
        read("/a")


class Holder:
    """A process that holds objects in a cgroup."""

    def __init__(self, group, device):
        self.group = group
        self.process = subprocess.Popen(
            [sys.argv[1], device, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: write_file(f"{group}/cgroup.procs", str(os.getpid())))
        tell(f"open {group}", self.line)

    def line(self):
        return self.process.stdout.readline().strip()

    def create(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        tell("create", self.line)

    def move(self, group):
        tell(f"move {group}", lambda: write_file(f"{group}/cgroup.procs", str(self.process.pid)))

    def kill(self):
        self.process.kill()
        tell("kill", lambda: str(self.process.wait()))


def objects():
    write("/a", "rxe0 hca_handle=2 hca_object=8")
    write("/a/a", "rxe0 hca_object=5")
    first, second, other = Holder("/a/a", "rxe0"), Holder("/a/b", "rxe0"), Holder("/a/b", "rxe1")
    for holder in (first, first, first, first, second, second, second, other):
        holder.create()
    read_all()
    Holder("/a/b", "rxe0").kill()
    first.move("/a/b")
    first.create()
    read_all()
    # A cgroup whose objects still exist can be removed.
    tell("rmdir /a/a", lambda: os.rmdir(f"{ROOT}/a/a"))
    read("/a", "current")
    for holder in (first, second, other):
        holder.kill()
        read("/a", "current")
        read("/a/b", "current")
    read_all()


subprocess.run("ip link add dummy1 type dummy && ip link set dummy1 up && "
               "rdma link add rxe1 type rxe netdev dummy1", shell=True, check=True)
for path in GROUPS:
    os.mkdir(ROOT + path)
    if path == "/a":
        write_file("/a/cgroup.subtree_control", "+rdma")
sys.stdout.reconfigure(encoding="latin-1")
texts()
write("/a", "rxe1 hca_handle=max hca_object=max")
objects()
