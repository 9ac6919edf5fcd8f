# SPDX-License-Identifier: GPL-2.0
"""The scripts of the guests share this: cgroups, tenants, and lines of figures.

A tenant is a process that repeats an action (bench/tenant.c), as a victim or as an attacker. A
line "NAME KEY=VALUE..." is for bench/report.
"""
import contextlib
import os
import subprocess
import sys
import time

ROOT = "/sys/fs/cgroup"
DEVICE = "rxe0"
PROGRAMS = sys.argv[1]    # the folder of the programs
PATIENCE = 120    # seconds
PERCENTILES = {"p50": 500, "p75": 250, "p99": 10, "p999": 1, "worst": 0}    # how many of 1000 actions take longer


def line(name, **figures):
    print(name, *(f"{key}={value}" for key, value in figures.items()), flush=True)


def run(*commands):
    for command in commands:
        subprocess.run(command.split(), check=True)


def read(path):
    with open(path) as file:
        return file.read()


def write(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def delegate(cgroup, controller="rdma"):
    """Enable the controller for the children, if the kernel has it. Do not write if it is enabled, because each write
    waits until all removed cgroups below have ended."""
    if (controller in read(f"{cgroup}/cgroup.controllers").split() and
            controller not in read(f"{cgroup}/cgroup.subtree_control").split()):
        write(f"{cgroup}/cgroup.subtree_control", f"+{controller}")


delegate(ROOT)
OURS = os.path.exists(f"{ROOT}/rdma.capacity")    # stock has no such file


def make(path):
    """Create the cgroup and its ancestors, if they do not exist. Several threads may create the same ancestors."""
    if not os.path.exists(path):
        parent = os.path.dirname(path)
        make(parent)
        delegate(parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path)
    return path


def nest(path, depth):
    """Create a chain of cgroups, at most as deep as the kernel allows. Returns the last one."""
    make(path)
    try:
        for _ in range(depth - 1):
            path = make(f"{path}/n")
    except BlockingIOError:    # EAGAIN
        # A cgroup that delegates the controller accepts no process.
        write(f"{path}/cgroup.subtree_control", "-rdma")
    return path


def remove(path):
    """Try again, because a cgroup may count as populated for a moment after its last process was reaped."""
    end = time.monotonic() + PATIENCE
    while subprocess.run(["find", path, "-depth", "-type", "d", "-delete"], stderr=subprocess.DEVNULL).returncode:
        if time.monotonic() > end:
            sys.exit(f"{path} cannot be removed")
        time.sleep(0.01)


def elapsed(function, *arguments, **options):
    """Returns the nanoseconds of the call, and its result."""
    start = time.monotonic_ns()
    result = function(*arguments, **options)
    return time.monotonic_ns() - start, result


class Tenant:
    """A process that runs in a cgroup, on one processor, and has opened the device."""

    def __init__(self, cgroup, *action, threads=1, cpu=0, nice=0, program=(f"{PROGRAMS}/tenant",)):
        def place():
            write(f"{cgroup}/cgroup.procs", "0")
            os.sched_setaffinity(0, {cpu})
            os.setpriority(os.PRIO_PROCESS, 0, nice)

        self.action = action
        self.process = subprocess.Popen([*program, DEVICE, str(threads), *action], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=place)
        self.expect("open")

    def expect(self, word):
        said = self.process.stdout.readline().strip()
        if said != word:
            sys.exit(f"{self.action}: wanted '{word}', got '{said}'")

    def end(self):
        """Returns the figures since "ready": completed actions, their number in a second, percentiles of their times in
        ns, and the least ticks of an action. If the machine's clock counts instructions, ticks are instructions."""
        said = self.process.communicate(timeout=PATIENCE)[0]
        if self.process.returncode:
            sys.exit(f"{self.action}: ended with status {self.process.returncode}")
        runs, ns, elapsed, *samples = map(int, said.split())
        samples.sort()
        figures = {"runs": runs, "rate": runs * 1e9 / ns, "ticks": samples[0] if samples else 0}
        for name, above in PERCENTILES.items() if samples else ():
            figures[name] = samples[-1 - len(samples) * above // 1000] * ns / elapsed
        return figures


def start_all(tenants):
    """Start tenants at the same time. Returns when all threads exist, and one of each tenant has completed the action."""
    for tenant in tenants:
        tenant.process.stdin.write("\n")
        tenant.process.stdin.flush()
    for tenant in tenants:
        tenant.expect("ready")


def measure(tenants, ms):
    """Returns the figures of tenants that run at the same time."""
    start_all(tenants)
    time.sleep(ms / 1000)
    return [tenant.end() for tenant in tenants]
