#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest with rxe0, run programs with exactly the limits of "rdmacg plan" or "rdmacg run".
They must complete, and their peaks must equal the limits. Then run them with each limit lower by
one: the controller must refuse, and the program must fail. plan-programs.py PROGRAM FOLDER;
FOLDER has mpi-exchange.c, compiled as exchange.openmpi and exchange.mpich.
"""

import json
import os
import subprocess
import sys
import time

from claims import end, report

RDMACG, FOLDER = sys.argv[1], sys.argv[2]
ADDRESS = "192.0.2.1"


class Side:
    """A program in a cgroup of its own, with limits."""

    def __init__(self, name, limits, command, environment):
        self.path = f"/run/{name}.json"
        words = ",".join(f"{key}={value}" for key, value in limits.items())
        bounds = ["-l", f"rxe0:{words}"] if limits else []
        self.process = subprocess.Popen(
            [RDMACG, "run", "-j", "-o", self.path, "--margin", "0", *bounds,
             "timeout", "20", *command],
            env={**os.environ, **environment}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def end(self):
        """The status, each resource's peak and refusals, and the whole report."""
        status = self.process.wait(90)
        with open(self.path, encoding="ascii") as report_file:
            said = json.load(report_file)
        return status, {resource["resource"]: (resource["peak"], resource["refused"])
                        for device in said["devices"] for resource in device["resources"]}


def alone(command, environment, limits):
    """Run a program that needs no other side."""
    return Side("alone", limits, command, environment).end()


def pair(command, environment, limits, less=None):
    """Run a server and a client. If a key is given, the client's limit of this key is lower by one."""
    server = Side("server", limits, command, environment)
    time.sleep(1.5)
    client = Side("client", {**limits, **({less: limits[less] - 1} if less else {})},
                  [*command, ADDRESS], environment)
    ended = client.end()
    if ended[0]:
        server.process.terminate()
    return server.end(), ended


def plan(words):
    said = subprocess.run([RDMACG, "plan", *words, "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(said.stdout)["parts"][0]["limits"]


def completes(name, limits, status, seen):
    taken = {key: seen[key][0] for key in limits if key in seen}
    report(status == 0, f"{name}: completes with its limits", f"status {status}, {seen}")
    report(taken == limits, f"{name}: uses all of its limits", f"{taken}, not {limits}")


def fails(name, key, status, seen):
    """Check a refusal. A program that waits without end is ended by its time limit."""
    report(status != 0 and seen[key][1] > 0, f"{name}: one {key} less is refused, and the program fails",
           f"status {status}, {seen}")


def test_pair(words, command, environment):
    name, limits = f"plan {' '.join(words)}, {command[0]}", plan(words)
    for side, ended in zip(("server", "client"), pair(command, environment, limits)):
        completes(f"{name}: the {side}", limits, *ended)
    for key in limits:
        fails(name, key, *pair(command, environment, limits, key)[1])


def test_alone(name, limits, command, environment):
    completes(name, limits, *alone(command, environment, limits))
    for key in limits:
        fails(name, key, *alone(command, environment, {**limits, key: limits[key] - 1}))


def test_mpi(mpi, ranks, transport, launch, more=()):
    words = ["ucx", "--processes", str(ranks), "--endpoints", str(ranks - 1),
             "--transport", transport, *more]
    environment = {**UCX, "UCX_TLS": {"rc": "rc_v", "ud": "ud_v"}[transport]}
    test_alone(f"plan {' '.join(words)}, {mpi}", plan(words),
               [f"mpirun.{mpi}", *launch, "-n", str(ranks), f"{FOLDER}/exchange.{mpi}"],
               environment)


def test_named(command, environment):
    """Run the program without limits, and use its peaks as limits. Leave out mr_mem, which depends
    on the addresses."""
    _, seen = alone(command, environment, {})
    limits = {key: peak for key, (peak, _) in seen.items() if peak and key != "mr_mem"}
    test_alone(f"run names limits of {command[0]}", limits, command, environment)


# Prepare the guest: UCX needs POSIX shared memory even for other transports, and mpirun needs a
# host name.
os.makedirs("/dev/shm", exist_ok=True)
for folder in "/dev/shm", "/tmp":
    subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
subprocess.run(["hostname", "guest"], check=True)
UCX = {"UCX_NET_DEVICES": "rxe0:1", "UCX_IB_GID_INDEX": "0", "HOME": "/tmp"}
OPENMPI = ["--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ucx"]
NO_OFI = ["--mca", "btl", "^openib,ofi", "--mca", "mtl", "^ofi"]

test_pair(["ucx", "--endpoints", "1", "--self", "0"],
          ["ucx_perftest", "-t", "tag_lat", "-n", "10", "-w", "1"], {**UCX, "UCX_TLS": "rc_v,ud_v"})
# Set the number of peers, from which ofi_rxm computes the sizes of its CQs. The default number
# gives CQs that are too large for rxe.
test_pair(["libfabric", "--targets", "1"],
          ["fi_pingpong", "-p", "verbs;ofi_rxm", "-e", "rdm", "-I", "5", "-S", "64"],
          {"FI_UNIVERSE_SIZE": "2"})
for number in 2, 3:
    for kind in "rc", "ud":
        test_mpi("openmpi", number, kind, [*OPENMPI, *NO_OFI])
        test_mpi("mpich", number, kind, [])
# Without NO_OFI, Open MPI also opens the device for libfabric.
test_mpi("openmpi", 2, "rc", [*OPENMPI, "--mca", "btl", "^openib"], ["--opens", "2"])
test_named(["sh", "-c", "ibv_rc_pingpong -d rxe0 -g 0 & sleep 1;"
            "ibv_rc_pingpong -d rxe0 -g 0 localhost; status=$?; kill $!; wait; exit $status"], {})
end()
