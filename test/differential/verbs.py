# SPDX-License-Identifier: GPL-2.0
"""The processes of the test, which call uverbs and rdma_cm directly. libibverbs would create objects
of its own and map queues, which keep a context open after its close. libibverbs also does not let a
process destroy objects of another process.

The numbers, and the layouts of the structs, are those of include/uapi/.
"""
import os
import signal
import socket
import struct
import sys

PATIENCE = 60    # s

# struct call of worker.c, the address of its data, and the memory that the worker can register. The
# first page is never mapped.
CALL, DATA, MEMORY, NOT_MAPPED = struct.Struct("8q512s"), 0x10000040, 0x20000000, 0
# The parts of the data of an ioctl(): the attributes, and these structs.
REQUEST, RESPONSE, RXE_RESPONSE = 128, 256, 320

SYS_WRITE, SYS_CLOSE, SYS_IOCTL, SYS_CLONE, SYS_OPENAT = 1, 3, 16, 56, 257
SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 434, 438
AT_FDCWD, CLONE_PARENT = -100, 0x8000
RDMA_VERBS_IOCTL, MANDATORY, RXE = 0xc0181b01, 1, 14
OBJECT_DEVICE, INVOKE_WRITE, GET_CONTEXT = 0, 0, 3
OBJECT_ASYNC_EVENT, ASYNC_EVENT_ALLOC = 16, 0
CORE_IN, CORE_OUT, WRITE_CMD, UHW_OUT = 0, 1, 2, 0x1001
LOCAL_WRITE, REREG_TRANS, QPT_UD = 1, 1, 4
CM_CREATE_ID, CM_BIND, RDMA_PS_TCP = 0, 20, 0x106

# vm/init and test/differential/guest set these addresses of the devices.
ADDRESSES = "192.0.2.1", "198.51.100.1"
GROUPS = [socket.inet_pton(socket.AF_INET6, f"ff0e::{group}") for group in (1, 2, 3)]
# A link-local address, because creating an AH then needs no neighbour discovery.
NEIGHBOUR = socket.inet_pton(socket.AF_INET6, "fe80::200:ff:fe00:1")


class Process:
    """A process, which does one operation at a time. An operation that creates an object returns
    its file descriptor and its handle.
    """

    def __init__(self, worker):
        self.worker = worker
        # This process writes to the first end, and the worker reads from the second.
        self.channel, self.worker_channel = socket.socketpair(type=socket.SOCK_SEQPACKET)
        self.channel.settimeout(PATIENCE)
        self.worker_channel.set_inheritable(True)

    def spawn(self):
        channel = str(self.worker_channel.fileno())
        self.pid = os.posix_spawn(self.worker, [self.worker, channel], os.environ)
        self.fds = {}    # of objects; stale if the object is destroyed

    def fork(self, child):
        """The parent of the child is this process, which waits for workers."""
        child.pid, _ = self.call(SYS_CLONE, CLONE_PARENT | signal.SIGCHLD,
                                 child=child.worker_channel.fileno())
        child.fds = dict(self.fds)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def call(self, number, *arguments, data=b"", child=0):
        """Let the worker do a system call. Returns the result and the data."""
        padding = (0,) * (6 - len(arguments))
        self.channel.send(CALL.pack(number, *arguments, *padding, child, data))
        try:
            result, *_, data = CALL.unpack(self.channel.recv(CALL.size))
        except TimeoutError:
            sys.exit(f"process {self.pid} does not answer to system call {number}")
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result, data

    def open(self, path):
        return self.call(SYS_OPENAT, AT_FDCWD, DATA, os.O_RDWR, data=path.encode())[0]

    def close(self, fd):
        self.call(SYS_CLOSE, fd)

    # ---- uverbs ----

    def call_method(self, context, object, method, *attributes, request=b""):
        """Call a method of the ioctl() interface. An attribute is a number, a length and a value.
        Returns the data.
        """
        data = struct.pack("4HQII", 24 + 16 * len(attributes), object, method, len(attributes), 0,
                           RXE, 0)
        for number, length, value in attributes:
            data += struct.pack("4HQ", number, length, MANDATORY, 0, value)
        return self.call(SYS_IOCTL, context, RDMA_VERBS_IOCTL, DATA,
                         data=data.ljust(REQUEST, b"\0") + request)[1]

    def command(self, context, number, layout="", *fields):
        """Do a command of the write() interface. All later fields are 0. Returns the first
        field of the response, which is a handle or a file descriptor.
        """
        data = self.call_method(
            context, OBJECT_DEVICE, INVOKE_WRITE, (WRITE_CMD, 8, number),
            (CORE_IN, RESPONSE - REQUEST, DATA + REQUEST),
            (CORE_OUT, RXE_RESPONSE - RESPONSE, DATA + RESPONSE),
            # The response of rxe has the offsets for mapping queues.
            (UHW_OUT, 128, DATA + RXE_RESPONSE), request=struct.pack(layout, *fields))
        return struct.unpack_from("I", data, RESPONSE)[0]

    def open_context(self, path):
        context = self.open(path)
        try:
            self.call_method(context, OBJECT_DEVICE, GET_CONTEXT)
        except OSError:
            self.close(context)
            raise
        return context, None

    def take_context(self, other, fd):
        """Returns a copy of another process's descriptor of a context."""
        pidfd, _ = self.call(SYS_PIDFD_OPEN, other.pid)
        taken, _ = self.call(SYS_PIDFD_GETFD, pidfd, fd)
        self.close(pidfd)
        return taken

    def create_async_event(self, context):
        data = self.call_method(context, OBJECT_ASYNC_EVENT, ASYNC_EVENT_ALLOC, (0, 0, 0))
        # The value of the attribute is the file descriptor.
        return struct.unpack_from("q", data, 24 + 8)[0], None

    def create_object(self, context, type, pd, cq, length, flaw):
        start = NOT_MAPPED if flaw == "no memory there" else MEMORY
        cqes = 1 << 30 if flaw == "too many cqes" else 1
        commands = {
            "pd": (3,),
            "ah": (5, "16xI4x16s13x2B", pd, NEIGHBOUR, True, 1),
            "mr": (9, "8x3Q2I", start, length, start, pd, LOCAL_WRITE),
            "mw": (14, "8xIB", pd, 1),
            "comp_channel": (17,),
            "cq": (18, "16xI4xi", cqes, -1),
            "qp": (24, "16x3I4x4I5xB", pd, cq, cq, 1, 1, 1, 1, QPT_UD),
            "srq": (32, "16x3I", pd, 1, 1),
        }
        return (self.command(context, *commands[type]),) * 2

    def destroy_object(self, context, type, handle):
        commands = {"pd": (4, "I"), "ah": (8, "I"), "mr": (13, "I"), "mw": (16, "I"),
                    "cq": (20, "8xI"), "qp": (27, "8xI"), "srq": (35, "8xI")}
        self.command(context, *commands[type], handle)

    def rereg_mr(self, context, handle, length):
        self.command(context, 11, "8x2I3Q", handle, REREG_TRANS, MEMORY, length, MEMORY)

    def attach(self, context, handle, group):
        self.command(context, 30, "16sI", GROUPS[group], handle)

    def detach(self, context, handle, group):
        self.command(context, 31, "16sI", GROUPS[group], handle)

    # ---- rdma_cm ----

    def cm_command(self, fd, number, request, response_length=0):
        """Do a command of rdma_cm. Returns the data."""
        data = struct.pack("I2H", number, len(request), response_length) + request
        return self.call(SYS_WRITE, fd, DATA, len(data), data=data)[1]

    def create_cm_id(self):
        """Each identifier has a file descriptor of its own, whose close destroys the identifier."""
        fd = self.open("/dev/infiniband/rdma_cm")
        data = self.cm_command(fd, CM_CREATE_ID,
                               struct.pack("8xQH6x", DATA + RESPONSE, RDMA_PS_TCP), 4)
        return fd, struct.unpack_from("I", data, RESPONSE)[0]

    def bind_cm_id(self, fd, handle, device):
        address = struct.pack("H2x4s", socket.AF_INET, socket.inet_aton(ADDRESSES[device]))
        self.cm_command(fd, CM_BIND, struct.pack("IH2x128s", handle, 16, address))
