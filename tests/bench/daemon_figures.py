#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of a daemon with 20,000 resources above one with none, and the CPU of a small check.

usage: daemon_figures.py TREE EMPTY_TREE ENCODED_BYTES
Environment: XDSPUB, XDSPUB_SCHEMA.
"""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

PROGRAM = os.environ["XDSPUB"]


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("no VmRSS")


def daemon_bytes(tree):
    """Resident memory of a daemon that has published the tree and is ready."""
    folder = tempfile.mkdtemp(prefix="xdspub-bench-")
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(os.path.join(folder, "notify"))
    notify.settimeout(120)
    daemon = subprocess.Popen(
        [PROGRAM, "serve", "--source", tree, "--publish", os.path.join(folder, "out"),
         "--state", os.path.join(folder, "state"), "--rest", "127.0.0.1:0", "--log-level", "error"],
        env=dict(os.environ, NOTIFY_SOCKET=os.path.join(folder, "notify")))
    try:
        while b"READY=1" not in notify.recv(4096):
            pass
        # Ready comes when the first snapshots are served; the files follow and are then synced.
        while not os.path.exists(os.path.join(folder, "out", "all", "lds", "lds.yaml")):
            if daemon.poll() is not None:
                raise RuntimeError("the daemon stopped")
        return resident_bytes(daemon.pid)
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait()
        shutil.rmtree(folder)


def check_cpu_ms(tree):
    least = None
    for _ in range(20):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([PROGRAM, "check", tree], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = cpu if least is None else min(least, cpu)
    return least * 1000


def main():
    tree, empty_tree, encoded = sys.argv[1], sys.argv[2], int(sys.argv[3])
    full, empty = daemon_bytes(tree), daemon_bytes(empty_tree)
    print(json.dumps({
        "figure": "memory above an empty tree, times the binary resources",
        "ratio": round((full - empty) / encoded, 2), "target": 8, "resident_bytes": full,
        "empty_bytes": empty, "encoded_bytes": encoded}))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "clusters"))
        with open(os.path.join(folder, "clusters", "one.yaml"), "w", encoding="ascii") as file:
            file.write("name: one\nconnect_timeout: 1s\n")
        with open(os.path.join(folder, "groups.yaml"), "w", encoding="ascii") as file:
            file.write("groups: [{name: all, layers: [.], allow_empty: true}]\n")
        cpu = check_cpu_ms(folder)
    print(json.dumps({"figure": "check of a one-file tree, ms of CPU", "ratio": round(cpu, 1),
                      "target": 15}))


if __name__ == "__main__":
    main()
