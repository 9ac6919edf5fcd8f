# SPDX-License-Identifier: GPL-2.0
"""The controller's contract in a simple form, with dictionaries and loops, and without locks.

test/model reads a written text. An operation that the contract refuses raises OSError,
like a system call.
"""
import collections
import errno
import re
from dataclasses import dataclass, field

import parse
from parse import NO_LIMIT, USE_DEFAULT, refuse_if

# Only the first two devices have objects. The other two devices have the same name. The last one is
# in another network namespace, and needs an index.
DEVICES = ("rxe0", "rxe1", "rxe 2", "rxe 2")
SHOWN_DEVICES = ("rxe0", "rxe1", r"rxe\0402", r"rxe\0402 index=3")
USED_DEVICES = 2
GROUPS = 3
MAX_WRITE = 65535    # bytes
MAX_OPS = 1000000
MAX_HW_DEFAULTS = 64
PAGE = 4096
# A length that is larger than any address space.
ENDLESS = 2**64 - 1

# The resources of each class, in the order in which its files show them. No command reaches the
# limits that texts.py chooses for the last class.
CLASSES = {
    "rdma": ("hca_handle", "hca_object"),
    "rdma.verb": ("pd", "comp_channel", "cq", "qp", "srq", "ah", "mr", "mw", "async_event",
                  "mr_mem", "mcast", "cm_id"),
    "rdma.hw": ("queue_mem",),
    "rdma.control": ("ops", "burst", "inflight"),
}
# The keys that can have a default even without a device, in the order of rdma.default.
DEFAULT_KEYS = (
    "hca_handle", "hca_object",
    "pd", "comp_channel", "cq", "qp", "srq", "ah", "mr", "mw", "flow", "xrcd", "rwq_ind_tbl", "wq",
    "flow_action", "dm", "counters", "async_event", "dmah", "dmabuf", "comp_cntr", "driver_object",
    "mr_mem", "dm_mem", "mcast", "cm_id",
    "ops", "burst", "inflight",
)
# The names that a driver can give to a resource.
HW_KEY = re.compile("hw:(?!(max|index|default)$)[a-z][a-z0-9_]{0,30}")

KINDS = ("max", "current", "peak", "events", "events.local")
# The class and the kind of each file of devices.
FILES = {f"{name}.{kind}": (name, kind) for name in CLASSES for kind in KINDS
         if name != "rdma.control" or kind == "max"}
WRITTEN_FILES = (*(f"{name}.max" for name in CLASSES), "rdma.default")

# The type of an object is its resource. A context is also an object.
CONTEXT = "hca_handle"
# An object of these types has its own fd. Any other object is held by the fd of its context.
FD_TYPES = (CONTEXT, "comp_channel", "async_event", "cm_id")


@dataclass
class Op:
    """One operation, which uses only some of the fields."""
    what: str
    dir: str = None         # the path of the cgroup; the root's is empty
    file: str = None
    on: bool = None         # delegate: turn the controller on for children, or off
    proc: int = None        # the process that acts, starts, is killed or is moved
    other: int = None       # fork: the child; share: the receiver
    type: str = None        # the type of the object
    object: int = None
    device: int = None      # create of a context, bind
    ctx: int = None         # the context of the object; a context is in itself
    pd: int = None          # create: the PD and CQ that the object needs
    cq: int = None
    flaw: str = None        # create: the reason for which the driver refuses, after the charge
    length: int = None      # create of a memory region, rereg
    group: int = None       # attach, detach
    text: str = None        # write
    nth: int = None         # write: the number of the allocation that fails
    back: bool = None       # write: the file has this text, so the write changes nothing


class Account:
    """The account of a cgroup with the controller. Objects keep the account after the end of the cgroup."""

    def __init__(self, parent):
        self.parent = parent    # None: the root, which has no limits and is not charged
        self.defaults = {}      # by key, with "hw:" as in the file
        # The keys are (device, resource), and for events (device, resource, event).
        self.own = {}           # the limits that are not from the defaults
        self.usage = collections.Counter()
        self.peak = collections.Counter()
        self.events = collections.Counter()
        self.local = collections.Counter()

    def default(self, resource):
        prefix = "hw:" if resource in CLASSES["rdma.hw"] else ""
        return self.defaults.get(prefix + resource, NO_LIMIT)

    def limit(self, device, resource):
        own = self.own.get((device, resource))
        return self.default(resource) if own is None else own

    def word(self, kind, device, resource):
        """Returns the word of a file for one resource."""
        if kind == "max":
            limit = self.limit(device, resource)
            return f"{resource}={'max' if limit == NO_LIMIT else limit}"
        if kind in ("current", "peak"):
            values = self.usage if kind == "current" else self.peak
            return f"{resource}={values[device, resource]}"
        events = self.events if kind == "events" else self.local
        return " ".join(f"{resource}.{event}={events[device, resource, event]}"
                        for event in ("max", "alloc_fail"))

    def text(self, file, nr_devices):
        if file == "rdma.default":
            keys = [key for key in DEFAULT_KEYS if key in self.defaults]
            keys += [key for key in self.defaults if key.startswith("hw:")]
            words = " ".join(f"{key}={self.defaults[key]}" for key in keys)
            return f"{words}\n" if words else ""
        name, kind = FILES[file]
        return "".join(
            f"{SHOWN_DEVICES[device]} "
            f"{' '.join(self.word(kind, device, resource) for resource in CLASSES[name])}\n"
            for device in range(nr_devices))

    def write(self, file, nr_devices, text):
        # The kernel does not pass an empty write to the controller.
        if not text:
            return
        refuse_if(len(text) > MAX_WRITE, errno.E2BIG)
        if file == "rdma.default":
            self.defaults = changed_defaults(self.defaults, text)
        else:
            self.write_limits(FILES[file][0], DEVICES[:nr_devices], text)
        # Keep "max" for a device only if it overrides a default.
        for (device, resource), limit in list(self.own.items()):
            if limit == USE_DEFAULT or limit == self.default(resource) == NO_LIMIT:
                del self.own[device, resource]

    def write_limits(self, name, devices, text):
        """Set the limits of all lines, or no limit. Raise the first error in the text."""
        changes = {}
        for device_name, index, limits in parse.lines(parse.text_of(text)):
            found = [device for device in range(len(devices))
                     if devices[device] == device_name and index in (None, device)]
            refuse_if(not found, errno.ENODEV)
            # Only the last device is in another network namespace, so found[0] is in sight.
            for key, limit in limits:
                resources = [key] if key else CLASSES[name]
                for resource in resources:
                    refuse_if(resource not in CLASSES[name], errno.EINVAL)
                    refuse_if(not is_possible(resource, limit), errno.EINVAL)
                    changes[found[0], resource] = limit
        self.own.update(changes)


def is_possible(key, limit):
    """A limit on commands is neither 0 nor too large."""
    if key not in CLASSES["rdma.control"] or limit in (NO_LIMIT, USE_DEFAULT):
        return True
    return 0 < limit <= (MAX_OPS if key == "ops" else NO_LIMIT)


def changed_defaults(defaults, text):
    """Returns the defaults after a write. Keys of hw are in the order in which they were
    written."""
    line = text.removesuffix("\n")
    refuse_if("\0" in line or "\n" in line, errno.EINVAL)
    changed, written = dict(defaults), set()
    for key, limit in parse.limits(parse.text_of(line)):
        refuse_if(limit == USE_DEFAULT, errno.EINVAL)
        if not key:
            changed.clear()
            continue
        refuse_if(not HW_KEY.fullmatch(key) and
                  not (key in DEFAULT_KEYS and is_possible(key, limit)), errno.EINVAL)
        if key not in written:
            changed.pop(key, None)    # A key that an earlier write has set moves to the end.
        written.add(key)
        changed[key] = limit
    changed = {key: limit for key, limit in changed.items() if limit != NO_LIMIT}
    refuse_if(sum(key.startswith("hw:") for key in changed) > MAX_HW_DEFAULTS, errno.EINVAL)
    return changed


# ---- charges; a charge is a resource and an amount ----

def with_ancestors(account):
    while account:
        yield account
        account = account.parent


def count_refusal(account, full, device, resource):
    """Count an attempt of @account that the limit of @full has refused."""
    account.local[device, resource, "alloc_fail"] += 1
    full.local[device, resource, "max"] += 1
    for level in with_ancestors(account):
        level.events[device, resource, "alloc_fail"] += 1
    for level in with_ancestors(full):
        level.events[device, resource, "max"] += 1


def try_charge(account, device, charges):
    """Charge the whole set to the account and all its ancestors, or charge nothing."""
    for level in with_ancestors(account):
        for resource, amount in charges:
            if level.usage[device, resource] + amount > level.limit(device, resource):
                count_refusal(account, level, device, resource)
                refuse_if(True, errno.EAGAIN)
    for level in with_ancestors(account):
        for at, amount in (((device, resource), amount) for resource, amount in charges):
            level.usage[at] += amount
            level.peak[at] = max(level.peak[at], level.usage[at])


def uncharge(account, device, charges):
    for level in with_ancestors(account):
        for resource, amount in charges:
            level.usage[device, resource] -= amount


def object_charges(type):
    """Returns the charges of a new object. An identifier of rdma_cm is charged later, by bind()."""
    if type == "cm_id":
        return []
    return [(type, 1)] if type in FD_TYPES else [("hca_object", 1), (type, 1)]


def memory_charges(type, length):
    """Returns the charges for the memory of an object. The kernel makes these charges one by one,
    after the charge of the object."""
    if type == "mr":
        return [("mr_mem", -(-length // PAGE) * PAGE)]
    # The shortest queue of Soft-RoCE takes a page. A QP has two queues.
    return [("queue_mem", PAGE)] * {"cq": 1, "srq": 1, "qp": 2}.get(type, 0)


@dataclass
class Cgroup:
    account: Account    # None: the controller is off
    delegates: bool


@dataclass
class Object:
    type: str
    device: int         # None: an identifier of rdma_cm that is not bound
    owner: Account
    charges: list
    ctx: int
    pd: int
    cq: int
    creator: int
    held_by: set        # the processes that have its fd, if it has an fd
    groups: dict = field(default_factory=dict)    # the account that is charged for each multicast group


def parent_of(path):
    return path.rpartition("/")[0]


class Model:
    """The state of the model. A cgroup, process or object without an entry does not exist. A method
    does the operation of its name.
    """

    def __init__(self, hierarchy, nr_devices):
        self.on_v1 = hierarchy == "v1"
        self.nr_devices = nr_devices
        self.cgroups = {"": Cgroup(None, True)}
        self.procs = {}     # the cgroup of each process
        self.objects = {}

    # ---- cgroups ----

    def children(self, path):
        return [self.cgroups[child] for child in self.cgroups if child and parent_of(child) == path]

    def payer(self, path):
        """Returns the account of the cgroup, or of the closest ancestor that has an account."""
        while path and not self.cgroups[path].account:
            path = parent_of(path)
        return self.cgroups[path].account

    def has_account(self, path):
        return path in self.cgroups and self.cgroups[path].account is not None

    def mkdir(self, op):
        parent = parent_of(op.dir)
        refuse_if(parent not in self.cgroups, errno.ENOENT)
        refuse_if(op.dir in self.cgroups, errno.EEXIST)
        has_account = self.on_v1 or self.cgroups[parent].delegates
        account = Account(self.payer(parent)) if has_account else None
        self.cgroups[op.dir] = Cgroup(account, delegates=False)

    def rmdir(self, op):
        refuse_if(op.dir not in self.cgroups, errno.ENOENT)
        refuse_if(self.children(op.dir) or op.dir in self.procs.values(), errno.EBUSY)
        del self.cgroups[op.dir]

    def delegate(self, op):
        refuse_if(op.dir not in self.cgroups, errno.ENOENT)
        cgroup, children = self.cgroups[op.dir], self.children(op.dir)
        if op.on == cgroup.delegates:
            return
        if op.on:
            refuse_if(not cgroup.account, errno.ENOENT)
            refuse_if(op.dir in self.procs.values(), errno.EBUSY)
        else:
            refuse_if(any(child.delegates for child in children), errno.EBUSY)
        cgroup.delegates = op.on
        for child in children:
            child.account = Account(cgroup.account) if op.on else None

    def read(self, op):
        refuse_if(not self.has_account(op.dir), errno.ENOENT)
        return self.cgroups[op.dir].account.text(op.file, self.nr_devices)

    def write(self, op):
        refuse_if(not self.has_account(op.dir), errno.ENOENT)
        self.cgroups[op.dir].account.write(op.file, self.nr_devices, op.text)

    # ---- processes ----

    def spawn(self, op):
        self.procs[op.proc] = ""

    def fork(self, op):
        self.procs[op.other] = self.procs[op.proc]
        for thing in self.objects.values():
            if op.proc in thing.held_by:
                thing.held_by.add(op.other)

    def kill(self, op):
        del self.procs[op.proc]
        for number, thing in list(self.objects.items()):
            if thing.creator == op.proc:
                thing.creator = None
            if number in self.objects and op.proc in thing.held_by:
                self.close(op.proc, number)

    def enter(self, op):
        refuse_if(op.dir not in self.cgroups, errno.ENOENT)
        refuse_if(op.dir and self.cgroups[op.dir].delegates, errno.EBUSY)
        self.procs[op.proc] = op.dir

    # ---- objects ----

    def holds(self, proc, number):
        """Returns whether the process can use the object."""
        thing = self.objects[number]
        return proc in (thing if thing.type in FD_TYPES else self.objects[thing.ctx]).held_by

    def create(self, op):
        device = self.objects[op.ctx].device if op.ctx is not None else op.device
        owner = self.payer(self.procs[op.proc])
        charges = object_charges(op.type)
        try_charge(owner, device, charges)
        try:
            # A driver finds these flaws before it charges memory.
            refuse_if(op.flaw in ("too many cqes", "endless"), errno.EINVAL)
            for charge in memory_charges(op.type, op.length):
                try_charge(owner, device, [charge])
                charges.append(charge)
            refuse_if(op.flaw == "no memory there", errno.EFAULT)
        except OSError:
            uncharge(owner, device, charges)
            raise
        self.objects[op.object] = Object(
            op.type, device, owner, charges, op.ctx, op.pd, op.cq, creator=op.proc,
            held_by={op.proc} if op.type in FD_TYPES else set())

    def remove(self, number):
        """Destroy an object. A destroyed context also destroys its objects."""
        thing = self.objects.pop(number)
        for inner in [n for n, other in self.objects.items() if other.ctx == number]:
            self.remove(inner)
        for owner in thing.groups.values():
            uncharge(owner, thing.device, [("mcast", 1)])
        uncharge(thing.owner, thing.device, thing.charges)

    def close(self, proc, number):
        """Destroy an object, or close its fd in a process. The last close destroys the object."""
        held_by = self.objects[number].held_by
        held_by.discard(proc)
        if not held_by:
            self.remove(number)

    def destroy(self, op):
        refuse_if(self.objects[op.object].groups, errno.EBUSY)
        refuse_if(any(op.object in (thing.pd, thing.cq) for thing in self.objects.values()),
                  errno.EBUSY)
        self.close(op.proc, op.object)

    def share(self, op):
        self.objects[op.object].held_by.add(op.other)

    def rereg(self, op):
        """The kernel charges a new object before Soft-RoCE refuses to change the memory."""
        owner, device = self.payer(self.procs[op.proc]), self.objects[op.object].device
        try_charge(owner, device, object_charges("mr"))
        uncharge(owner, device, object_charges("mr"))
        refuse_if(True, errno.EOPNOTSUPP)

    def attach(self, op):
        thing, owner = self.objects[op.object], self.payer(self.procs[op.proc])
        if op.group not in thing.groups:
            try_charge(owner, thing.device, [("mcast", 1)])
            thing.groups[op.group] = owner

    def detach(self, op):
        thing = self.objects[op.object]
        refuse_if(op.group not in thing.groups, errno.EINVAL)
        uncharge(thing.groups.pop(op.group), thing.device, [("mcast", 1)])

    def bind(self, op):
        """Charge the account that was found when the identifier was created, even if its process
        has moved since."""
        thing = self.objects[op.object]
        refuse_if(thing.device is not None, errno.EINVAL)
        try_charge(thing.owner, op.device, [("cm_id", 1)])
        thing.device = op.device
        thing.charges.append(("cm_id", 1))
