# SPDX-License-Identifier: GPL-2.0
"""The operations on the kernel, with cgroup v2 at /sys/fs/cgroup, or v1 below it, and the devices
of test/differential/guest. Each process of the test is a worker (worker.c), which does the
operations of this process one at a time.
"""
import errno
import glob
import os
import signal
import socket
import sys

from generate import PROCS
from model import FD_TYPES, USED_DEVICES, refuse_if

WORKER = f"{sys.argv[1]}/worker"
PATIENCE = 60    # s


def uverbs_device(device):
    """Returns the file of the device with the name "rxe@device"."""
    for path in glob.glob("/sys/class/infiniband_verbs/uverbs*/ibdev"):
        with open(path) as file:
            if file.read().strip() == f"rxe{device}":
                return f"/dev/infiniband/{path.split('/')[-2]}"
    sys.exit(f"there is no rxe{device}")


class Kernel:
    def __init__(self, hierarchy):
        # Use one processor, because messages between processes are then faster. Also, an ended
        # process leaves its cgroup when its processor switches to another process, and therefore
        # before this process continues.
        os.sched_setaffinity(0, {0})
        self.root = "/sys/fs/cgroup" + ("/rdma" if hierarchy == "v1" else "")
        self.uverbs = [uverbs_device(device) for device in range(USED_DEVICES)]
        self.fail_nth = None
        self.pids = {}
        self.fds = {}        # of objects, in each process; stale if the object is destroyed
        self.handles = {}    # of objects
        # This process writes requests to [0] of a channel, and the worker reads them from [1].
        self.channels = [socket.socketpair(type=socket.SOCK_SEQPACKET) for _ in PROCS]
        for ours, channel in self.channels:
            ours.settimeout(PATIENCE)
            channel.set_inheritable(True)

    def do(self, op):
        """Do an operation. Returns the text for a read. A failed system call raises OSError."""
        return getattr(self, op.what)(op) or ""

    # ---- cgroups ----

    def path(self, directory, file=""):
        return f"{self.root}{directory}/{file}"

    def mkdir(self, op):
        os.mkdir(self.path(op.dir))

    def rmdir(self, op):
        os.rmdir(self.path(op.dir))

    def read(self, op):
        with open(self.path(op.dir, op.file), "rb", buffering=0) as file:
            return file.read().decode("latin-1")

    def let_fail(self, nth):
        """Let the @nth allocation of this process fail. If @nth is 0, no allocation fails."""
        if self.fail_nth is None:
            self.fail_nth = os.open("/proc/thread-self/fail-nth", os.O_WRONLY)
        os.pwrite(self.fail_nth, b"%d" % nth, 0)

    def write_file(self, path, text, nth=None):
        data, fd = text.encode("latin-1"), os.open(path, os.O_WRONLY)
        try:
            if nth:
                self.let_fail(nth)
            refuse_if(os.write(fd, data) != len(data), errno.EIO)
        finally:
            if nth:
                self.let_fail(0)
            os.close(fd)

    def write(self, op):
        self.write_file(self.path(op.dir, op.file), op.text, op.nth)

    def delegate(self, op):
        self.write_file(self.path(op.dir, "cgroup.subtree_control"), "+rdma" if op.on else "-rdma")

    # ---- processes ----

    def enter(self, op):
        self.write_file(self.path(op.dir, "cgroup.procs"), str(self.pids[op.proc]))

    def spawn(self, op):
        channel = str(self.channels[op.proc][1].fileno())
        self.pids[op.proc] = os.posix_spawn(WORKER, [WORKER, channel], os.environ)
        self.fds[op.proc] = {}

    def kill(self, op):
        os.kill(self.pids[op.proc], signal.SIGKILL)
        os.waitpid(self.pids[op.proc], 0)

    def fork(self, op):
        self.pids[op.other], _ = self.request(op.proc, "fork",
                                              fd=self.channels[op.other][1].fileno())
        self.fds[op.other] = dict(self.fds[op.proc])

    # ---- objects ----

    def request(self, proc, what, fd=0, handle=0, pd=0, cq=0, number=0, length=0, path=""):
        """Let a worker do something. Returns the file descriptor and the handle of its result."""
        channel = self.channels[proc][0]
        channel.send(f"{fd} {handle} {pd} {cq} {number} {length} {what}:{path}".encode())
        try:
            error, fd, handle = map(int, channel.recv(128).split())
        except TimeoutError:
            sys.exit(f"the worker of process {proc} does not answer to: {what}")
        refuse_if(error, error)
        return fd, handle

    def request_for(self, op, what, **arguments):
        """Let a worker do something with an object in a context."""
        return self.request(op.proc, what, self.fds[op.proc][op.ctx],
                            self.handles.get(op.object, 0), **arguments)

    def create(self, op):
        if op.type == "hca_handle":
            result = self.request(op.proc, "open context", path=self.uverbs[op.device])
        elif op.type == "cm_id":
            result = self.request(op.proc, "create cm_id")
        else:
            result = self.request_for(op, f"create {op.type}", pd=self.handles.get(op.pd, 0),
                                      cq=self.handles.get(op.cq, 0), length=op.length or 0,
                                      number=int(op.flaw is not None))
        self.fds[op.proc][op.object], self.handles[op.object] = result

    def destroy(self, op):
        if op.type in FD_TYPES:
            self.request(op.proc, "close", fd=self.fds[op.proc][op.object])
        else:
            self.request_for(op, f"destroy {op.type}")

    def share(self, op):
        self.fds[op.other][op.object], _ = self.request(
            op.other, "share", fd=self.fds[op.proc][op.object], number=self.pids[op.proc])

    def rereg(self, op):
        self.request_for(op, "rereg", length=op.length)

    def attach(self, op):
        self.request_for(op, "attach", number=op.group)

    def detach(self, op):
        self.request_for(op, "detach", number=op.group)

    def bind(self, op):
        self.request(op.proc, "bind", self.fds[op.proc][op.object], self.handles[op.object],
                     number=op.device)
