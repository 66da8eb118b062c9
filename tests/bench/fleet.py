#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet of sidecars: each has a listener of its own, all share the clusters.

Memory of a daemon above an empty one, against the distinct encoded resources and 2 KiB for each
group and type in use, with every transport; how long an edit of a shared cluster takes until the
files of all groups, a REST client and a gRPC client have it, against one of a single listener.

usage: fleet.py [SIDECARS [CLUSTERS]]      (default: 2000 200)
Environment: XDSPUB, XDSPUB_SCHEMA. Prints one JSON line per figure.
"""
import ctypes
import http.client
import json
import os
import queue
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import grpc
except ImportError:
    grpc = None

PROGRAM = os.environ["XDSPUB"]
LIBC = ctypes.CDLL(None, use_errno=True)
IN_MOVED_TO = 0x80
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
    """On all transports."""

    def __init__(self, folder, tree):
        self.rest, self.grpc, self.out = f"{folder}/rest", f"{folder}/grpc", f"{folder}/out"
        listen = ["--grpc", f"unix:{self.grpc}"] if has_grpc() else []
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(f"{folder}/notify")
            notify.settimeout(300)
            self.process = subprocess.Popen(
                [PROGRAM, "serve", "--source", tree, "--state", f"{folder}/state", "--rest",
                 f"unix:{self.rest}", "--publish", self.out, "--settle", "0", "--rescan", "1h",
                 "--log-level", "error", "--grace", "0", *listen],
                env=dict(os.environ, NOTIFY_SOCKET=f"{folder}/notify"), cwd=folder)
            while b"READY=1" not in notify.recv(4096):
                pass

    def until_published(self, groups):
        """Ready comes when the first snapshots are served; the files follow."""
        while not all(os.path.exists(f"{self.out}/{group}/lds/lds.yaml") for group in groups):
            assert self.process.poll() is None, "the daemon stopped"
            time.sleep(0.05)

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


class Files:
    """Waits until a file was renamed into each of the folders, as Envoy does."""

    def __init__(self, folders):
        self.fd = LIBC.inotify_init()
        self.watches = {LIBC.inotify_add_watch(self.fd, folder.encode(), IN_MOVED_TO)
                        for folder in folders}
        assert -1 not in self.watches

    def wait(self):
        missing = set(self.watches)
        while missing:
            data = os.read(self.fd, 1 << 16)
            while data:
                missing.discard(int.from_bytes(data[:4], "little"))
                data = data[16 + int.from_bytes(data[12:16], "little"):]


def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def fields(data):
    """{number: bytes} of the fields with a length that come last."""
    found = {}

    def take():
        nonlocal data
        value, shift = 0, 0
        while True:
            byte, data = data[0], data[1:]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while data:
        tag = take()
        size = take()
        if tag & 7 == 2:
            found[tag >> 3], data = data[:size], data[size:]
    return found


class Stream:
    """One sidecar's aggregated stream, for one type."""

    def __init__(self, daemon, name, message):
        self.url = f"type.googleapis.com/envoy.config.{message}".encode()
        self.channel = grpc.insecure_channel(
            f"unix:{daemon.grpc}", options=[("grpc.max_receive_message_length", -1)])
        self.out = queue.SimpleQueue()
        self.answers = self.channel.stream_stream(
            "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources")(
                iter(self.out.get, None))
        self.out.put(field(2, field(1, name.encode()) + field(2, name.encode()))
                     + field(4, self.url))
        self.take()

    def take(self):
        body = next(self.answers)
        answer = fields(body)
        self.out.put(field(1, answer[1]) + field(4, self.url) + field(5, answer[5]))
        return body

    def close(self):
        self.out.put(None)
        self.channel.close()


def has_grpc():
    return grpc and os.path.exists(
        os.path.join(os.environ.get("top_builddir", "."), "tests", "bench", "bench_grpc_load"))


def edit(watchers, path, text, want):
    """From the write to the last one that has it, in milliseconds for each."""
    client, stream, files = watchers
    client.ask()
    time.sleep(0.02)  # not part of what is measured: the poll is parked by then
    start = time.perf_counter()
    write(path, text)
    client.answer()
    assert want in client.text, (want, client.text[:200])
    at = {"rest": time.perf_counter()}
    if stream:
        stream.take()
        at["grpc"] = time.perf_counter()
    files.wait()
    at["files"] = time.perf_counter()
    return {way: (when - start) * 1000 for way, when in at.items()}


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
                daemon.until_published([f"sidecar-s{i:05}" for i in range(count)])
                resident[name] = daemon.resident()
                if name == "fleet":
                    edits(daemon, tree, sidecars)
                    resident["edited"] = daemon.resident()
            finally:
                daemon.stop()
        memory(resident, encoded_bytes(f"{folder}/fleet/tree", sidecars, clusters), sidecars)
    finally:
        shutil.rmtree(folder)


def watchers_of(daemon, name, kind, message, folders):
    client = Client(daemon, name, kind)
    client.ask()
    client.answer()
    stream = Stream(daemon, name, message) if has_grpc() else None
    return client, stream, Files([f"{daemon.out}/{folder}" for folder in folders])


def median(edits, way):
    return round(statistics.median(one[way] for one in edits), 2)


def edits(daemon, tree, sidecars):
    one = watchers_of(daemon, "s00007", "listeners", "listener.v3.Listener",
                      ["sidecar-s00007/lds"])
    last = watchers_of(daemon, f"s{sidecars - 1:05}", "clusters", "cluster.v3.Cluster",
                       [f"sidecar-s{i:05}/cds" for i in range(sidecars)])
    own, shared, cpu = [], [], []
    for n in range(EDITS):
        own.append(edit(one, f"{tree}/sidecars/s00007/listeners/inbound.yaml",
                        listener(7, f"edit{n}"), f"edit{n}-7"))
        before = daemon.cpu_ms()
        shared.append(edit(last, f"{tree}/common/clusters/c00000.yaml", cluster(0, n + 2),
                           f"{n + 2}s"))
        cpu.append(daemon.cpu_ms() - before)
    for _, stream, _ in (one, last):
        if stream:
            stream.close()
    for way in own[0]:
        print(json.dumps({
            "figure": f"an edit that {sidecars} groups share, until "
                      f"{'all have it in files' if way == 'files' else 'the last has it over ' + way}"
                      ", times one of a single group",
            "ratio": round(median(shared, way) / median(own, way), 2), "target": 50,
            "shared_ms": median(shared, way), "own_ms": median(own, way),
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
