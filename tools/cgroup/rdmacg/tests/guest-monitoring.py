#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""For tests/guest-monitoring.

openmetrics FILE PROMETHEUS  parse FILE as OpenMetrics, and compare it with PROMETHEUS
serve FOLDER PORT            serve the files over HTTP; *.openmetrics have a type of their own
same JSON PROMETHEUS CGROUPS compare the samples in JSON with PROMETHEUS and the controller
panels DASHBOARD             print the expressions of the panels, without variables
"""
import functools
import http.server
import json
import re
import subprocess
import sys

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as prometheus


def samples(families):
    """{(name, labels): value}, without the duration, which differs each time"""
    return {(s.name, frozenset(s.labels.items())): s.value
            for f in families for s in f.samples if "duration" not in s.name}


def of_prometheus(path):
    return samples(prometheus.text_string_to_metric_families(open(path).read()))


def check_openmetrics(path, other):
    found = samples(openmetrics.text_string_to_metric_families(open(path).read()))
    assert found and found == of_prometheus(other), set(found.items()) ^ set(of_prometheus(other).items())


def serve(folder, port):
    handler = http.server.SimpleHTTPRequestHandler
    handler.extensions_map[".openmetrics"] = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    handler = functools.partial(handler, directory=folder)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), handler).serve_forever()


def read(cgroups, cgroup, suffix):
    """{key: value} of all classes, without limits that are max."""
    words = {}
    for name in ("rdma", "rdma.verb", "rdma.hw") + ("rdma.control",) * (suffix == "max"):
        for line in open(f"{cgroups}/{cgroup}/{name}.{suffix}"):
            words.update(word.split("=") for word in line.split()[1:])
    return {key: float(value) for key, value in words.items() if value != "max"}


def expected(cgroups, name, labels):
    """The value of a sample according to the controller's files."""
    key, cgroup = labels.get("resource"), labels.get("cgroup")
    waits = {"rdmacg_throttled_commands_total": "throttled", "rdmacg_throttled_seconds_total": "throttled_usec"}
    if name in waits:
        line = open(f"{cgroups}/{cgroup}/rdma.control.stat").read().split()[1:]
        return float(dict(w.split("=") for w in line)[waits[name]]) / (1e6 if "seconds" in name else 1)
    if name == "rdmacg_device_usage":
        found = json.loads(subprocess.run(["rdma", "-j", "resource", "show"], capture_output=True, check=True).stdout)
        return next(d for d in found if d["ifname"] == labels["device"])[key.replace("hca_handle", "ctx")]
    kind = re.sub("_bytes$", "", name)
    if kind == "rdmacg_capacity":
        return dict(w.split("=") for w in open(f"{cgroups}/rdma.capacity").read().split()[1:])[key]
    if kind == "rdmacg_limit":
        above = [cgroup.rsplit("/", n)[0] for n in range(cgroup.count("/") + 1)]
        return min(limits[key] for limits in (read(cgroups, c, "max") for c in above) if key in limits)
    suffix, event = {"rdmacg_usage": ("current", ""), "rdmacg_peak": ("peak", ""),
                     "rdmacg_refused_attempts_total": ("events", ".alloc_fail"),
                     "rdmacg_limit_refusals_total": ("events", ".max")}[kind]
    return read(cgroups, cgroup, suffix)[key + event]


def same(answer, path, cgroups):
    found = {}
    for sample in json.load(open(answer)):
        labels = {k: v for k, v in sample["metric"].items() if k not in ("instance", "job", "__name__")}
        name, value = sample["metric"]["__name__"], float(sample["value"][1])
        if "duration" not in name:
            found[name, frozenset(labels.items())] = value
        if "export" not in name and "build" not in name:
            assert value == float(expected(cgroups, name, labels)), sample
    exported = of_prometheus(path)
    assert len(found) > 20 and found == exported, set(found.items()) ^ set(exported.items())


def panels(path):
    for panel in json.load(open(path))["panels"]:
        for target in panel["targets"]:
            text = target["expr"].replace("$__rate_interval", "30s")
            text = re.sub(r"\$(instance|device|cgroup|resource)\b", ".*", text)
            assert "$" not in text.replace('"$1"', ""), text
            print(text)


{"openmetrics": check_openmetrics, "serve": serve, "same": same, "panels": panels}[sys.argv[1]](*sys.argv[2:])
