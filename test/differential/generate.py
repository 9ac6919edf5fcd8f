# SPDX-License-Identifier: GPL-2.0
"""Choose random operations. Most operations are possible in the present state of the model, so that
sequences continue. Some operations must fail.
"""
import random
from random import choice, randrange

from model import (CLASSES, CONTEXT, ENDLESS, FD_TYPES, FILES, GROUPS, KINDS, PAGE, USED_DEVICES,
                   WRITTEN_FILES, Op, parent_of)
from texts import ODD_TEXTS, Texts, even_texts, rarely

# All cgroups that can exist. Parents come before their children.
PATHS = ("/a", "/b", "/c", "/a/a", "/a/b", "/b/a", "/b/b", "/a/a/a", "/a/a/b", "/a/b/a", "/b/a/a",
         *("/a/a/a" + "/a" * depth for depth in range(1, 6)), "/a/a/a/b")
PROCS = range(6)
# The numbers of contexts, of identifiers of rdma_cm, and of objects in a context. A number is used
# again after its object is destroyed.
CONTEXTS, IN_CONTEXT, CM_IDS = range(8), range(8, 48), range(48, 54)
LENGTHS = (1, PAGE - 1, PAGE, PAGE + 1, 20000, 65536)
TYPES_IN_CONTEXT = ("pd", "cq", "qp", "qp", "srq", "ah", "mr", "mr", "mr", "mw")

# The frequency of each operation in each mode. In this table, the type pd stands for all types of
# objects in a context.
MODES = ("common", "full", "writes")
CHOICES = (
    ("read", None, 300, 300, 100), ("write", None, 80, 120, 1000),
    ("mkdir", None, 25, 25, 20), ("rmdir", None, 12, 12, 8), ("delegate", None, 25, 25, 20),
    ("spawn", None, 15, 15, 0), ("fork", None, 6, 6, 0), ("kill", None, 8, 8, 0),
    ("enter", None, 60, 60, 0),
    ("create", CONTEXT, 40, 40, 0), ("destroy", CONTEXT, 15, 15, 0),
    ("create", "pd", 250, 250, 0), ("destroy", "pd", 130, 130, 0),
    ("share", CONTEXT, 10, 10, 0),
    ("rereg", "mr", 0, 12, 0), ("attach", "qp", 0, 40, 0), ("detach", "qp", 0, 20, 0),
    ("create", "cm_id", 0, 15, 0), ("bind", "cm_id", 0, 20, 0), ("destroy", "cm_id", 0, 10, 0),
)


class NothingFits(Exception):
    """The operation is not possible in the present state."""


def pick(candidates):
    candidates = list(candidates)
    if not candidates:
        raise NothingFits
    return choice(candidates)


def numbers(type):
    return {CONTEXT: CONTEXTS, "cm_id": CM_IDS}.get(type, IN_CONTEXT)


class Generator:
    def __init__(self, mode, model):
        self.is_common = mode == "common"
        self.model = model
        self.texts = Texts(mode, model)
        self.weights = [weights[MODES.index(mode)] for _, _, *weights in CHOICES]

    def operations(self):
        """Yield operations for ever. The caller does each operation before it takes the next."""
        while True:
            if self.is_common and rarely(100):
                yield from self.odd_writes()
            what, type, *_ = random.choices(CHOICES, self.weights)[0]
            op = Op(what, type=type)
            try:
                getattr(self, f"choose_{what}", self.choose_object)(op)
            except NothingFits:
                continue
            yield op

    def odd_writes(self):
        """Write a text that stock answers differently. Then make the limits equal again."""
        paths = [path for path in PATHS if self.model.has_account(path)]
        for path in paths and [choice(paths)]:
            for text in (choice(ODD_TEXTS), *even_texts()):
                yield Op("write", dir=path, file="rdma.max", text=text)

    # ---- cgroups and files ----

    def some_dir(self, fits):
        """Usually choose a cgroup that fits, and sometimes any cgroup."""
        return choice(PATHS) if rarely(20) else pick(path for path in PATHS if fits(path))

    def exists(self, path):
        return path in self.model.cgroups

    def choose_mkdir(self, op):
        op.dir = self.some_dir(lambda path: not self.exists(path) and self.exists(parent_of(path)))

    def choose_rmdir(self, op):
        op.dir = self.some_dir(lambda path: self.exists(path) and not self.model.children(path))

    def choose_delegate(self, op):
        if self.model.on_v1:    # There is no cgroup.subtree_control.
            raise NothingFits
        op.on = not rarely(4)
        op.dir = self.some_dir(self.exists)

    def choose_read(self, op):
        name = "rdma" if self.is_common else choice(list(CLASSES))
        op.file = f"{name}.{'max' if name == 'rdma.control' else choice(KINDS)}"
        if not self.is_common and rarely(6):
            op.file = "rdma.default"
        op.dir = self.some_dir(self.model.has_account)

    def choose_write(self, op):
        op.file = "rdma.max" if self.is_common else pick(WRITTEN_FILES)
        op.dir = self.some_dir(self.model.has_account)
        self.texts.fill(op)

    # ---- processes ----

    def some_proc(self):
        return pick(self.model.procs)

    def free_proc(self):
        return pick(proc for proc in PROCS if proc not in self.model.procs)

    def choose_spawn(self, op):
        op.proc = self.free_proc()

    def choose_fork(self, op):
        op.proc, op.other = self.some_proc(), self.free_proc()

    def choose_kill(self, op):
        op.proc = self.some_proc()

    def choose_enter(self, op):
        op.proc = self.some_proc()
        op.dir = "" if rarely(10) else self.some_dir(
            lambda path: self.exists(path) and not self.model.cgroups[path].delegates)

    # ---- objects ----

    def fits(self, op, number):
        """Returns whether the process holds the object, and the operation accepts its type."""
        thing = self.model.objects.get(number)
        if not thing or not self.model.holds(op.proc, number):
            return False
        # Only the process that created an identifier can bind it.
        if op.what == "bind":
            return thing.creator == op.proc
        return op.what == "destroy" or thing.type == op.type

    def choose_object(self, op):
        op.proc = self.some_proc()
        op.object = pick(number for number in numbers(op.type) if self.fits(op, number))
        thing = self.model.objects[op.object]
        op.type = thing.type
        op.ctx = op.object if op.type == CONTEXT else thing.ctx
        op.group = randrange(GROUPS)
        op.length = choice(LENGTHS)
        # Always bind an identifier to the same device, because rdma_cm keeps the link to the device
        # after a refused bind.
        op.device = op.object % USED_DEVICES

    def choose_share(self, op):
        op.other = self.some_proc()
        self.choose_object(op)
        if self.model.holds(op.other, op.object):
            raise NothingFits

    def of_type(self, op, type):
        """Returns an object of the type in the context of the operation, or None."""
        found = [number for number, thing in self.model.objects.items()
                 if thing.ctx == op.ctx and thing.type == type]
        return choice(found) if found else None

    def choose_in_context(self, op):
        """Choose a type, and the PD and CQ that it needs. If such a PD or
        CQ does not exist, choose pd or cq as the type."""
        op.ctx = pick(number for number in CONTEXTS if number in self.model.objects and
                      self.model.holds(op.proc, number))
        op.type = choice(TYPES_IN_CONTEXT + (() if self.is_common else ("comp_channel",
                                                                       "async_event")))
        if op.type in FD_TYPES:
            return
        pd, cq = self.of_type(op, "pd"), self.of_type(op, "cq")
        if pd is None:
            op.type = "pd"
        if op.type == "qp" and cq is None:
            op.type = "cq"
        if op.type not in ("pd", "cq"):
            op.pd = pd
        if op.type == "qp":
            op.cq = cq

    def choose_create(self, op):
        op.object = pick(number for number in numbers(op.type) if number not in self.model.objects)
        op.proc = self.some_proc()
        if op.type == CONTEXT:
            op.device = randrange(USED_DEVICES)
        if op.type == "pd":
            self.choose_in_context(op)
        if op.type == "cq" and rarely(12):
            op.flaw = "too many cqes"
        if op.type == "mr":
            op.length = choice(LENGTHS)
            if rarely(12):
                op.flaw = "no memory there"
            if not self.is_common and rarely(20):
                op.flaw, op.length = "endless", ENDLESS
