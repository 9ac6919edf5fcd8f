# SPDX-License-Identifier: GPL-2.0
"""The operations on the kernel, with cgroup v2 at /sys/fs/cgroup, or v1 below it, and the devices
of test/differential/guest. The processes of the test are in verbs.py.
"""
import errno
import os
import pathlib
import sys

from generate import PROCS
from model import CONTEXT, FD_TYPES, refuse_if
from verbs import Process


class Kernel:
    """A method does the operation of its name. A failed system call raises OSError."""

    def __init__(self, hierarchy):
        # Use one processor, because messages between processes are then faster. An ended process
        # leaves its cgroup when the processor switches to another process. On one processor, it has
        # left its cgroup before this process continues.
        os.sched_setaffinity(0, {0})
        self.root = "/sys/fs/cgroup" + ("/rdma" if hierarchy == "v1" else "")
        names = pathlib.Path("/sys/class/infiniband_verbs").glob("uverbs*/ibdev")
        self.uverbs = {name.read_text().strip(): name.parent.name for name in names}
        self.fail_nth = None
        self.procs = [Process(f"{sys.argv[1]}/worker") for _ in PROCS]
        self.handles = {}    # of objects

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
        self.write_file(self.path(op.dir, "cgroup.procs"), str(self.procs[op.proc].pid))

    def spawn(self, op):
        self.procs[op.proc].spawn()

    def kill(self, op):
        self.procs[op.proc].kill()

    def fork(self, op):
        self.procs[op.proc].fork(self.procs[op.other])

    # ---- objects ----

    def at(self, op):
        """Returns the process, its descriptor of the context, and the handle of the object."""
        proc = self.procs[op.proc]
        return proc, proc.fds.get(op.ctx), self.handles.get(op.object)

    def create(self, op):
        proc, context, _ = self.at(op)
        if op.type == CONTEXT:
            file = self.uverbs[f"rxe{op.device}"]
            created = proc.open_context(f"/dev/infiniband/{file}")
        elif op.type == "cm_id":
            created = proc.create_cm_id()
        elif op.type == "async_event":
            created = proc.create_async_event(context)
        else:
            created = proc.create_object(context, op.type, self.handles.get(op.pd),
                                         self.handles.get(op.cq), op.length, op.flaw)
        proc.fds[op.object], self.handles[op.object] = created

    def destroy(self, op):
        proc, context, handle = self.at(op)
        if op.type in FD_TYPES:
            proc.close(proc.fds[op.object])
        else:
            proc.destroy_object(context, op.type, handle)

    def share(self, op):
        proc, other = self.procs[op.proc], self.procs[op.other]
        other.fds[op.object] = other.take_context(proc, proc.fds[op.object])

    def rereg(self, op):
        proc, context, handle = self.at(op)
        proc.rereg_mr(context, handle, op.length)

    def attach(self, op):
        proc, context, handle = self.at(op)
        proc.attach(context, handle, op.group)

    def detach(self, op):
        proc, context, handle = self.at(op)
        proc.detach(context, handle, op.group)

    def bind(self, op):
        proc, _, handle = self.at(op)
        proc.bind_cm_id(proc.fds[op.object], handle, op.device)
