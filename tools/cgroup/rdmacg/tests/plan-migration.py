#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest with rxe0, migrate a QEMU over RDMA with exactly the limits of "rdmacg plan qemu",
and with each limit lower by one on one side. plan-migration.py PROGRAM.

The machine's RAM is full of random bytes, so QEMU sends each MiB. The machine runs its
firmware, which finds nothing to boot.
"""

import json
import os
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

from claims import end, report

RDMACG = sys.argv[1]
CGROUP = "/sys/fs/cgroup"
URI = "rdma:192.0.2.1:4444"
MIB = 64


class Machine:
    """A QEMU in a cgroup of its own, with limits."""

    def __init__(self, name, *options):
        self.name = name
        self.cgroup = f"{CGROUP}/{name}"
        self.socket = f"/run/{name}.qmp"
        os.mkdir(self.cgroup)
        self.log = open(f"/run/{name}.log", "w+", encoding="latin-1")
        self.process = subprocess.Popen(
            ["sh", "-c", 'echo $$ >"$0" && exec "$@"', f"{self.cgroup}/cgroup.procs",
             "qemu-system-x86_64", "-M", "pc,memory-backend=ram", "-accel", "tcg,tb-size=32",
             "-nodefaults", "-display", "none", "-m", str(MIB),
             "-object", f"memory-backend-file,id=ram,size={MIB}M,mem-path=/run/{name}.ram,share=on",
             "-qmp", f"unix:{self.socket},server,nowait", *options],
            stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(300):
            if os.path.exists(self.socket):
                return
            time.sleep(0.05)
        raise RuntimeError(f"{name}: no QEMU")

    def connect(self):
        self.qmp = socket.socket(socket.AF_UNIX)
        self.qmp.settimeout(60)
        self.qmp.connect(self.socket)
        self.lines = self.qmp.makefile("r")
        self.lines.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        """Returns the answer, or None after a refusal."""
        self.qmp.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        for line in self.lines:
            reply = json.loads(line)
            if "return" in reply or "error" in reply:
                return reply.get("return")
        return None

    def limit(self, limits):
        for file, is_hca in ("rdma.max", True), ("rdma.verb.max", False):
            words = [f"{key}={value}" for key, value in limits.items()
                     if key.startswith("hca_") == is_hca]
            with open(f"{self.cgroup}/{file}", "w", encoding="ascii") as out:
                out.write(f"rxe0 {' '.join(words)}\n")

    def amounts(self, kind):
        """The values of rdma.KIND and rdma.verb.KIND that are not 0."""
        found = {}
        for file in f"rdma.{kind}", f"rdma.verb.{kind}":
            with open(f"{self.cgroup}/{file}", encoding="ascii") as lines:
                for word in lines.read().split()[1:]:
                    key, value = word.split("=")
                    if value != "0":
                        found[key] = int(value)
        return found

    def said(self):
        """The output of QEMU about a migration, except the devices that it opens."""
        self.log.seek(0)
        lines = [line for line in self.log.read().splitlines() if "RDMA Device opened" not in line]
        return f"{self.name}: {' / '.join(lines)}"

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if os.path.exists(self.socket):
            os.unlink(self.socket)


def migrate(source, destination, capabilities):
    """Migrate, and return the status at the end."""
    for machine in source, destination:
        for capability in capabilities:
            machine.ask("migrate-set-capabilities",
                        capabilities=[{"capability": capability, "state": True}])
    destination.ask("migrate-incoming", uri=URI)
    time.sleep(0.2)
    if source.ask("migrate", uri=URI) is None:
        return "failed"
    for _ in range(1200):
        status = (source.ask("query-migrate") or {}).get("status")
        if status in ("completed", "failed"):
            return status
        time.sleep(0.05)
    return "without an end"


def fill():
    with open("/run/source.ram", "wb") as ram:
        for _ in range(MIB):
            ram.write(os.urandom(1 << 20))
    with open("/run/destination.ram", "wb") as ram:
        ram.truncate(MIB << 20)


def plan(source, options):
    """The plan for the RAM blocks in the monitor's output. rxe0 has its queues in kernel memory."""
    blocks = source.ask("human-monitor-command", **{"command-line": "info ramblock"})
    said = subprocess.run([RDMACG, "plan", "qemu", "--ramblocks", "-", "--zero", "pc.rom",
                           "--device", "rxe0", "--json", *options], input=blocks.encode(),
                          stdout=subprocess.PIPE, check=True).stdout
    return json.loads(said)["parts"][0]["limits"]


def attempt_once(options, capabilities, side, less):
    """Migrate. The limits in less replace the planned limits of this side."""
    fill()
    machines = [Machine("source"), Machine("destination", "-incoming", "defer")]
    for machine in machines:
        machine.connect()
    limits = plan(machines[0], options)
    for machine in machines:
        machine.limit({**limits, **(less if machine.name == side else {})})
    seen = SimpleNamespace(limits=limits, status=migrate(*machines, capabilities))
    seen.said = "; ".join(machine.said() for machine in machines)
    seen.runs = (machines[0].process.poll() is None and
                 machines[0].ask("query-status")["status"] == "running")
    seen.peaks = [{key: machine.amounts("peak").get(key) for key in limits} for machine in machines]
    seen.refused = {machine.name: [word for word in machine.amounts("events.local")
                                   if word.endswith(".max")] for machine in machines}
    for machine in machines:
        machine.end()
    seen.left = [machine.amounts("current") for machine in machines]
    for machine in machines:
        os.rmdir(machine.cgroup)
    return seen


def attempt(options, capabilities, side=None, less=None):
    """Try again if QEMU gives up because the other end does not listen yet, as happens on a busy
    machine. QEMU sends its first message only once, and such a failure is not about limits."""
    for _ in range(5):
        seen = attempt_once(options, capabilities, side, less)
        if "RNR retry" not in seen.said:
            break
    return seen


def counted(limits, peak):
    """Returns the expected peaks, which are the limits. If the kernel does not count mr_mem in whole
    pages, each of the 3 or 6 control buffers counts one page less."""
    less = limits["mr_mem"] - (peak["mr_mem"] or 0)
    return {**limits, "mr_mem": peak["mr_mem"]} if less in (3 * 4096, 6 * 4096) else limits


def test(name, options, capabilities):
    seen = attempt(options, capabilities)
    taken = counted(seen.limits, seen.peaks[0])
    report(seen.status == "completed", f"migration, {name}: completes with its limits", seen)
    for side, peak in zip(("source", "destination"), seen.peaks):
        report(peak == taken, f"migration, {name}: the {side} uses all of its limits",
               f"{peak}, not {taken}")
    report(seen.left == [{}, {}], f"migration, {name}: no usage is left", seen.left)
    for side in "source", "destination":
        for key in seen.limits:
            less = attempt(options, capabilities, side, {key: taken[key] - 1})
            report(less.status == "failed" and less.runs and less.left == [{}, {}] and
                   less.refused[side] == [f"{key}.max"],
                   f"migration, {name}: one {key} less on the {side} is refused, "
                   "the migration fails, the source runs on, and no usage is left", less)


test("dynamic", [], [])
test("pin-all", ["--pin-all"], ["rdma-pin-all"])
# Do not switch to postcopy, because pages need no MR after the switch.
test("postcopy", ["--postcopy"], ["postcopy-ram"])
end()
