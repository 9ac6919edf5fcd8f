#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest with rxe0: run programs of UCX and libfabric with exactly the limits that
"rdmacg plan" says, and see that their peaks are these; then with one less of each, and see
that this is refused and they fail. plan-programs.py PROGRAM.
"""

import json
import os
import subprocess
import sys
import time

from claims import end, report

RDMACG = sys.argv[1]
ADDRESS = "192.0.2.1"


class Side:
    """A program in a cgroup of its own, with limits."""

    def __init__(self, name, limits, command, environment):
        self.path = f"/run/{name}.json"
        words = ",".join(f"{key}={value}" for key, value in limits.items())
        self.process = subprocess.Popen(
            [RDMACG, "run", "-j", "-o", self.path, "-l", f"rxe0:{words}", "timeout", "20", *command],
            env={**os.environ, **environment}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def end(self):
        """The status, and for each resource the peak and how many were refused."""
        status = self.process.wait(60)
        with open(self.path, encoding="ascii") as report_file:
            devices = json.load(report_file)["devices"]
        return status, {resource["resource"]: (resource["peak"], resource["refused"])
                        for device in devices for resource in device["resources"]}


def attempt(command, environment, limits, less=None):
    """A server and a client. The client has one less of a key, if that is given."""
    server = Side("server", limits, command, environment)
    time.sleep(1.5)
    client = Side("client", {**limits, **({less: limits[less] - 1} if less else {})},
                  [*command, ADDRESS], environment)
    ended = client.end()
    if ended[0]:
        server.process.terminate()
    return server.end(), ended


def test(words, command, environment):
    name = f"plan {' '.join(words)}, {command[0]}"
    said = subprocess.run([RDMACG, "plan", *words, "--json"], stdout=subprocess.PIPE, check=True)
    limits = json.loads(said.stdout)["parts"][0]["limits"]
    for side, (status, seen) in zip(("server", "client"), attempt(command, environment, limits)):
        report(status == 0, f"{name}: the {side} completes with its limits", f"status {status}")
        taken = {key: seen[key][0] for key in limits if key in seen}
        report(taken == limits, f"{name}: the {side} takes all of them", f"{taken}, not {limits}")
    for key in limits:
        _, (status, seen) = attempt(command, environment, limits, key)
        report(status not in (0, 124) and seen[key][1] > 0,
               f"{name}: one {key} less is refused, and it fails", f"status {status}, {seen}")


# UCX looks for POSIX shared memory even where it does not use it.
os.makedirs("/dev/shm", exist_ok=True)
subprocess.run(["mount", "-t", "tmpfs", "none", "/dev/shm"], check=True)
test(["ucx", "--endpoints", "1"], ["ucx_perftest", "-t", "tag_lat", "-n", "10", "-w", "1"],
     {"UCX_TLS": "rc_v,ud_v", "UCX_NET_DEVICES": "rxe0:1", "UCX_IB_GID_INDEX": "0"})
# ofi_rxm asks for CQs by the number of peers, and rxe has none for as many as the default.
test(["libfabric", "--targets", "1"],
     ["fi_pingpong", "-p", "verbs;ofi_rxm", "-e", "rdm", "-I", "5", "-S", "64"],
     {"FI_UNIVERSE_SIZE": "2"})
end()
