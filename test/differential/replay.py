#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0
"""replay.py FOLDER common|full|writes v1|v2 SEED COUNT: do COUNT random operations, which depend on
SEED only. Print a line for each operation: its number, its words, the result. The model does each
operation as well. The next operation is chosen from the state of the model, and does not depend on
the kernel.

"common" has only operations that stock also has. In the other modes, the kernel's answers must be
those of the model, and only the last answers are kept. A refused write fails with the error of the
model, and changes nothing. An accepted write changes only the limits that it names. Writing back
the text that was read from a file does not change this text.

At the end, end every process, read every file and remove the cgroups. FOLDER has the programs.
"""
import collections
import errno
import random
import sys

from generate import MODES, PATHS, PROCS, Generator
from kernel import Kernel
from model import DEVICES, FILES, USED_DEVICES, WRITTEN_FILES, Model, Op

KEPT_ANSWERS = 10000
SHOWN_TEXT = 1000
# Each documented error of a write must occur.
WRITE_ERRORS = ("EINVAL", "ENODEV", "ENOTUNIQ", "E2BIG", "ENOMEM")


def shown(text):
    cut = f"... ({len(text)} bytes)" if len(text) > SHOWN_TEXT else ""
    return text[:SHOWN_TEXT].replace("\n", r"\n").replace("\t", r"\t").replace("\0", r"\0") + cut


def words(op):
    """Returns the words of an operation, with the fields that the operation uses."""
    yield op.what
    for name, value in vars(op).items():
        if value is None or name == "what":
            continue
        if name == "dir":
            yield value or "/"
        elif name == "text":
            yield f'"{shown(value)}"'
        else:
            yield value if name == "file" else f"{name}={value}"


def answer(system, op):
    """Returns the answer of the model or of the kernel."""
    try:
        return f"ok {getattr(system, op.what)(op) or ''}".rstrip(" ")
    except OSError as error:
        return errno.errorcode[error.errno]


def fail(text):
    print(text)
    sys.exit(1)


class Replay:
    def __init__(self, mode, hierarchy):
        self.mode = mode
        self.model = Model(hierarchy, USED_DEVICES if mode == "common" else len(DEVICES))
        self.kernel = Kernel(hierarchy)
        self.number = 0
        self.writes = collections.Counter()    # by their result

    def run_one(self, op):
        got = answer(self.kernel, op)
        if self.mode != "common" and self.number % KEPT_ANSWERS == 0:
            sys.stdout.seek(0)
            sys.stdout.truncate()
        # Print at once, because the guest may end at any operation.
        print(f"{self.number} {' '.join(words(op))}: {shown(got)}", flush=True)
        if op.what == "write":
            self.writes[got] += 1
        # Accept ENOMEM, because the model does not know how many allocations a write needs.
        if op.nth and got == "ENOMEM":
            return
        wanted = answer(self.model, op)
        if self.mode != "common" and got != wanted:
            fail(f"the model: {shown(wanted)}")
        if op.back and self.model.read(Op("read", dir=op.dir, file=op.file)) != op.text:
            fail("the text of the file means something else when it is written")

    def run(self, op):
        """Do an operation. After a write, read the files that the write can have changed."""
        self.number += 1
        self.run_one(op)
        if op.what == "write" and self.mode != "common":
            for file in WRITTEN_FILES:
                self.run_one(Op("read", dir=op.dir, file=file))

    def read_all(self):
        files = [file for file in FILES if file.count(".") == 1] if self.mode == "common" else \
            [*FILES, "rdma.default"]
        for path in filter(self.model.has_account, PATHS):
            for file in files:
                self.run(Op("read", dir=path, file=file))

    def clean_up(self):
        self.read_all()
        for proc in filter(self.model.procs.__contains__, PROCS):
            self.run(Op("kill", proc=proc))
        self.read_all()
        for path in sorted(self.model.cgroups, reverse=True)[:-1]:
            self.run(Op("rmdir", dir=path))


def main():
    mode, hierarchy, seed, count = sys.argv[2:]
    assert mode in MODES
    sys.stdout.reconfigure(encoding="latin-1")
    random.seed(int(seed))
    replay = Replay(mode, hierarchy)
    for op in Generator(mode, replay.model).operations():
        replay.run(op)
        if replay.number >= int(count):
            break
    replay.clean_up()
    if mode == "common":
        return
    results = [f"{replay.writes[result]} {result}" for result in ("ok", *WRITE_ERRORS)]
    print(f"{replay.number} operations; writes: {', '.join(results)}")
    if mode == "writes" and not all(replay.writes[error] for error in WRITE_ERRORS):
        fail("an error did not occur; take a larger COUNT")


main()
