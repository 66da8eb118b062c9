#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What one edit costs: time from close(2) of a source file to the rename of its published file,
against a bare write, fsync, rename, fsync of the same bytes; instructions at two tree sizes.

usage: edit.py [CLUSTERS...]    (default: 1000 10000; each cluster has its endpoint resource)
Environment: XDSPUB, XDSPUB_SCHEMA. Prints one JSON line per figure.
"""
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ["XDSPUB"]
EDITS = 41
LIBC = ctypes.CDLL(None, use_errno=True)
IN_MOVED_TO = 0x80


def cluster(i, timeout=1):
    return (f"name: service-{i:05}.prod.example.internal\ntype: EDS\nconnect_timeout: {timeout}s\n"
            "lb_policy: LEAST_REQUEST\neds_cluster_config:\n  eds_config:\n"
            "    resource_api_version: V3\n    path_config_source:\n"
            f"      path: /var/lib/envoy/eds/service-{i:05}/eds.yaml\n"
            "circuit_breakers:\n  thresholds:\n  - max_connections: 1000\n")


def endpoints(i, port=8080):
    text = (f"cluster_name: service-{i:05}.prod.example.internal\nendpoints:\n"
            "- locality: {region: eu-west-1, zone: a}\n  lb_endpoints:\n")
    for n in range(3):
        text += ("  - endpoint:\n      address:\n        socket_address:\n"
                 f"          address: 10.{n}.{i // 250}.{i % 250}\n"
                 f"          port_value: {port}\n")
    return text


def write_new(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def make_tree(tree, count):
    for folder in ("clusters", "endpoints"):
        os.makedirs(f"{tree}/{folder}")
    write_new(f"{tree}/groups.yaml", "groups: [{name: all, layers: [.], allow_empty: true}]\n")
    for i in range(count):
        write_new(f"{tree}/clusters/c{i:05}.yaml", cluster(i))
        write_new(f"{tree}/endpoints/e{i:05}.yaml", endpoints(i))


class Watch:
    """Waits for a rename into one folder, as Envoy does."""

    def __init__(self, folder):
        self.fd = LIBC.inotify_init()
        assert LIBC.inotify_add_watch(self.fd, folder.encode(), IN_MOVED_TO) >= 0

    def wait(self):
        os.read(self.fd, 4096)
        return time.perf_counter()

    def close(self):
        os.close(self.fd)


class Daemon:
    def __init__(self, folder, tree, wrapper=()):
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(f"{folder}/notify")
        notify.settimeout(600)
        self.out = f"{folder}/out"
        self.process = subprocess.Popen(
            [*wrapper, PROGRAM, "serve", "--source", tree, "--publish", self.out, "--state",
             f"{folder}/state", "--rest", f"unix:{folder}/rest", "--settle", "0", "--rescan", "1h",
             "--log-level", "error"],
            env=dict(os.environ, NOTIFY_SOCKET=f"{folder}/notify"), cwd=folder)
        while b"READY=1" not in notify.recv(4096):
            pass
        notify.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def bare(folder, content):
    """Milliseconds for the least that makes a file durable and visible."""
    start = time.perf_counter()
    fd = os.open(f"{folder}/x.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view):]
    os.fsync(fd)
    os.close(fd)
    os.rename(f"{folder}/x.new", f"{folder}/x")
    fd = os.open(folder, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    return (time.perf_counter() - start) * 1000


def edit(path, text, watch):
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(fd, text.encode())
    start = time.perf_counter()
    os.close(fd)
    return (watch.wait() - start) * 1000


def measure(folder, daemon, tree, kind, count, target):
    """Edits and bare sequences in turn, so that both see the same disk."""
    name = "service-%05d.prod.example.internal" % 7
    published = (f"{daemon.out}/all/eds/{name}" if kind == "endpoints" else f"{daemon.out}/all/cds")
    watch = Watch(published)
    path = f"{tree}/{kind}/{kind[0]}00007.yaml"
    edits, bares = [], []
    os.makedirs(f"{folder}/bare", exist_ok=True)
    for n in range(EDITS):
        text = endpoints(7, 9000 + n) if kind == "endpoints" else cluster(7, 2 + n)
        edits.append(edit(path, text, watch))
        with open(f"{published}/{os.listdir(published)[0]}", "rb") as file:
            content = file.read()
        assert (b"%d" % (9000 + n) if kind == "endpoints" else b"%ds" % (2 + n)) in content
        time.sleep(0.02)  # let what follows the rename end: it must not disturb the bare sequence
        bares.append(bare(f"{folder}/bare", content))
    watch.close()
    edit_ms, bare_ms = statistics.median(edits), statistics.median(bares)
    print(json.dumps({
        "figure": f"one {kind[:-1]} file edited, {2 * count} resources, close to rename, "
                  "times a bare write+fsync+rename+fsync",
        "ratio": round(edit_ms / bare_ms, 2), "target": target, "ms": round(edit_ms, 3),
        "bare_ms": round(bare_ms, 3), "bytes": len(content)}), flush=True)


def instructions(tree, count):
    """Per endpoint edit, on all threads, publishing and syncing included."""
    folder = tempfile.mkdtemp(prefix="xdspub-bench-")
    daemon = Daemon(folder, tree, ("valgrind", "--tool=callgrind", "--callgrind-out-file="
                                   f"{folder}/callgrind", "--log-file=/dev/null"))
    try:
        pid = str(daemon.process.pid)
        watch = Watch(f"{daemon.out}/all/eds/service-00007.prod.example.internal")
        for n in range(3):
            edit(f"{tree}/endpoints/e00007.yaml", endpoints(7, 7000 + n), watch)
        subprocess.run(["callgrind_control", "-z", pid], check=True, capture_output=True)
        for n in range(10):
            edit(f"{tree}/endpoints/e00007.yaml", endpoints(7, 8000 + n), watch)
            time.sleep(0.2)  # what follows the rename counts, too
        subprocess.run(["callgrind_control", "-d", pid], check=True, capture_output=True)
        for name in sorted(os.listdir(folder)):
            if name.startswith("callgrind."):
                with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as file:
                    totals = re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M)
                if totals and int(totals.group(1)):
                    return int(totals.group(1)) // 10
        raise RuntimeError("callgrind wrote nothing")
    finally:
        daemon.stop()
        shutil.rmtree(folder)


def main():
    counts = [int(word) for word in sys.argv[1:]] or [1000, 10000]
    counted = {}
    for count in counts:
        folder = tempfile.mkdtemp(prefix="xdspub-bench-")
        try:
            tree = f"{folder}/tree"
            make_tree(tree, count)
            daemon = Daemon(folder, tree)
            try:
                measure(folder, daemon, tree, "endpoints", count, 3)
                measure(folder, daemon, tree, "clusters", count, 2)
            finally:
                daemon.stop()
            if shutil.which("callgrind_control"):
                counted[count] = instructions(tree, count)
        finally:
            shutil.rmtree(folder)
    if len(counted) > 1:
        least, most = min(counted), max(counted)
        print(json.dumps({
            "figure": f"instructions of an endpoint edit, {2 * most} against {2 * least} resources",
            "ratio": round(counted[most] / counted[least], 2), "target": 2,
            "instructions": counted[most], "least": counted[least]}))


if __name__ == "__main__":
    main()
