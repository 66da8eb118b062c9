#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet of sidecars: each has a listener of its own, all share the clusters.

Memory of a daemon above an empty one, against the distinct encoded resources and 2 KiB for each
group and type in use; what an edit of a shared cluster costs against one of a single listener.

usage: fleet.py [SIDECARS [CLUSTERS]]      (default: 2000 200)
Environment: XDSPUB, XDSPUB_SCHEMA. Prints one JSON line per figure.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ["XDSPUB"]
EDITS = 15
TYPES = 2  # listeners and clusters

GROUPS = """groups:
- each: sidecars/*
  name: "sidecar-{1}"
  match: {cluster: "{1}"}
  layers: [common, "sidecars/{1}"]
  at_least: {listeners: 1, clusters: %d}
"""


def cluster(i, timeout=1):
    return (f"name: service-{i:05}.prod.example.internal\ntype: STRICT_DNS\n"
            f"connect_timeout: {timeout}s\nlb_policy: LEAST_REQUEST\nload_assignment:\n"
            f"  cluster_name: service-{i:05}\n  endpoints:\n  - lb_endpoints:\n"
            "    - endpoint:\n        address:\n          socket_address:\n"
            f"            address: service-{i:05}.internal\n            port_value: 8080\n"
            "circuit_breakers:\n  thresholds:\n  - max_connections: 1000\n")


def listener(i, prefix="inbound"):
    return ("<<: !include ../../../_parts/inbound.yaml\nname: inbound\n"
            f"stat_prefix: {prefix}-{i}\n")


PART = """address:
  socket_address: {address: 0.0.0.0, port_value: 15006}
filter_chains:
- filters:
  - name: envoy.filters.network.tcp_proxy
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
      stat_prefix: inbound
      cluster: service-00000.prod.example.internal
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def make_tree(tree, sidecars, clusters):
    write(f"{tree}/groups.yaml", GROUPS % clusters)
    write(f"{tree}/_parts/inbound.yaml", PART)
    for i in range(clusters):
        write(f"{tree}/common/clusters/c{i:05}.yaml", cluster(i))
    for i in range(sidecars):
        write(f"{tree}/sidecars/s{i:05}/listeners/inbound.yaml", listener(i))


class Daemon:
    """Over REST only: what publishing costs is another figure."""

    def __init__(self, folder, tree):
        self.rest = f"{folder}/rest"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(f"{folder}/notify")
            notify.settimeout(300)
            self.process = subprocess.Popen(
                [PROGRAM, "serve", "--source", tree, "--state", f"{folder}/state", "--rest",
                 f"unix:{self.rest}", "--settle", "0", "--rescan", "1h", "--log-level", "error",
                 "--grace", "0"],
                env=dict(os.environ, NOTIFY_SOCKET=f"{folder}/notify"), cwd=folder)
            while b"READY=1" not in notify.recv(4096):
                pass

    def resident(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status
                        if line.startswith("VmRSS:"))

    def cpu_ms(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Client(http.client.HTTPConnection):
    """One sidecar's long poll for a type."""

    def __init__(self, daemon, name, kind):
        super().__init__("localhost", timeout=120)
        self.path, self.kind = daemon.rest, kind
        self.node = {"id": name, "cluster": name}
        self.version = ""
        self.text = ""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self):
        body = json.dumps({"node": self.node, "version_info": self.version})
        self.request("POST", f"/v3/discovery:{self.kind}", body,
                     {"content-type": "application/json",
                      "x-envoy-expected-rq-timeout-ms": "100000"})

    def answer(self):
        response = self.getresponse()
        self.text = response.read().decode()
        assert response.status == 200, (response.status, self.text)
        self.version = json.loads(self.text)["version_info"]


def edit(client, path, text, want):
    """From the write to the answer of a parked client, in milliseconds."""
    client.ask()
    time.sleep(0.02)  # not part of what is measured: the poll is parked by then
    start = time.perf_counter()
    write(path, text)
    client.answer()
    assert want in client.text, (want, client.text[:200])
    return (time.perf_counter() - start) * 1000


def encoded_bytes(tree, sidecars, clusters):
    """Of all distinct resources; those of one kind are about equally long."""
    kinds = (("Cluster", f"{tree}/common/clusters/c00000.yaml", clusters, 0),
             ("Listener", f"{tree}/_parts/inbound.yaml", sidecars, len("..inbound..inbound-00000")))
    return sum((len(subprocess.run([PROGRAM, "convert", "--type", kind, "--to", "pb", path],
                                   check=True, capture_output=True).stdout) + more) * count
               for kind, path, count, more in kinds)


def main():
    sidecars = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    clusters = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    folder = tempfile.mkdtemp(prefix="xdspub-bench-")
    resident = {}
    try:
        for name, count in (("few", 1), ("fleet", sidecars)):
            tree = f"{folder}/{name}/tree"
            make_tree(tree, count, clusters if name == "fleet" else 1)
            daemon = Daemon(f"{folder}/{name}", tree)
            try:
                resident[name] = daemon.resident()
                if name == "fleet":
                    edits(daemon, tree, sidecars)
                    resident["edited"] = daemon.resident()
            finally:
                daemon.stop()
        memory(resident, encoded_bytes(f"{folder}/fleet/tree", sidecars, clusters), sidecars)
    finally:
        shutil.rmtree(folder)


def edits(daemon, tree, sidecars):
    client = Client(daemon, "s00007", "listeners")
    last = Client(daemon, f"s{sidecars - 1:05}", "clusters")
    for one in (client, last):
        one.ask()
        one.answer()
    own, shared, cpu = [], [], []
    for n in range(EDITS):
        own.append(edit(client, f"{tree}/sidecars/s00007/listeners/inbound.yaml",
                        listener(7, f"edit{n}"), f"edit{n}-7"))
        before = daemon.cpu_ms()
        shared.append(edit(last, f"{tree}/common/clusters/c00000.yaml", cluster(0, n + 2),
                           f"{n + 2}s"))
        cpu.append(daemon.cpu_ms() - before)
    print(json.dumps({
        "figure": f"an edit that {sidecars} groups share, times one of a single group",
        "ratio": round(statistics.median(shared) / statistics.median(own), 2), "target": 50,
        "shared_ms": round(statistics.median(shared), 2), "own_ms": round(statistics.median(own), 2),
        "shared_cpu_ms": round(statistics.median(cpu), 1)}), flush=True)


def memory(resident, distinct, sidecars):
    for name, text in (("fleet", "at the start"), ("edited", f"after {EDITS} shared edits")):
        used = resident[name] - resident["few"]
        print(json.dumps({
            "figure": f"memory of {sidecars} groups above one, {text}, times "
                      "1.5 x the distinct resources and 2 KiB a group and type",
            "ratio": round(used / (1.5 * distinct + 2048 * sidecars * TYPES), 2), "target": 1,
            "resident_bytes": resident[name], "few_bytes": resident["few"],
            "distinct_bytes": distinct, "bytes_a_group": round(used / sidecars)}), flush=True)


if __name__ == "__main__":
    main()
