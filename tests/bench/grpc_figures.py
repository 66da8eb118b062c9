#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gRPC beside go-control-plane's snapshot cache: the same resources, the same clients of ours.

usage: grpc_figures.py [CONNECTIONS...]    (default: 1000 5000)

Each client has an aggregated stream on a connection of its own, subscribes to 1,000 clusters,
their load assignments by name and the listeners; then the endpoint of one cluster changes. From
the edit (a source file is closed; go-control-plane is told the name of a serialized file) until
the last client has it. Go is needed for the ratios to go-control-plane only.
Environment: XDSPUB, XDSPUB_SCHEMA, top_builddir. Prints one JSON line per figure.
"""
import json
import statistics
import sys
import tempfile
import time

from grpc_servers import EXTENSIONS, Bare, GoControlPlane, Load, Tree, Xdspub, marker

CLUSTERS = 1000
EDITS = 3


def figure(text, ratio, target, **details):
    print(json.dumps({"figure": text, "ratio": round(ratio, 3), "target": target, **details}),
          flush=True)


def edit(server, load, kind, number):
    """CPU seconds of the server, milliseconds until the last client has it, bytes to clients."""
    prepared = server.prepare(kind, number)
    load.command(f"change {'eds' if kind == 'endpoints' else 'cds'} {marker(number)}")
    load.event("armed")
    before = server.quiet_cpu()
    start = time.clock_gettime(time.CLOCK_MONOTONIC)
    server.change(prepared)
    changed = load.event("changed")
    after = server.quiet_cpu()
    return after - before, changed["at_us"] / 1000 - start * 1000, changed["bytes"]


def measure(server, form, count, tree):
    """What `count` clients cost the server."""
    before = server.quiet_cpu()
    load = Load(server, *form, "--connections", str(count), "--names", tree.names,
                "--extensions", str(EXTENSIONS))
    settled = load.event("settled")
    connect = server.quiet_cpu() - before
    settled_kib = server.resident()
    edits = [edit(server, load, "endpoints", number) for number in range(EDITS)]
    result = {
        "connect_cpu": round(connect, 3), "connect_ms": settled["ms"],
        "connect_bytes": settled["bytes"], "settled_kib": settled_kib,
        "change_cpu": round(statistics.median(cpu for cpu, _, _ in edits), 4),
        "change_ms": round(statistics.median(ms for _, ms, _ in edits), 1),
        "change_bytes": int(statistics.median(size for _, _, size in edits)),
        "resident_kib": server.resident()}
    load.stop()
    return result


def compare(tree, counts, missing):
    for count in counts:
        for label, form in (("SotW", ()), ("delta", ("--delta",))):
            results = {}
            for kind in (Xdspub,) if missing else (Xdspub, GoControlPlane):
                with tempfile.TemporaryDirectory(prefix="xdspub-bench-") as folder:
                    server = kind(folder, tree)
                    try:
                        results[kind] = measure(server, form, count, tree)
                    finally:
                        server.stop()
                print(f"{count} {label}: {kind.__name__} {results[kind]}", flush=True)
            if missing:
                continue
            ours, theirs = results[Xdspub], results[GoControlPlane]
            for key, what, target in (
                    ("connect_cpu", "CPU until all have all", 0.2),
                    ("change_cpu", "CPU of one endpoint's change", 0.2),
                    ("resident_kib", "resident memory", 0.2),
                    ("change_ms", "time until the last client has a change", 1)):
                figure(f"gRPC {label}, {count} clients: {what}, to go-control-plane",
                       ours[key] / theirs[key], target, xdspub=ours[key], go_control_plane=theirs[key])


def reconnect(tree):
    """Delta clients whose versions are current get no resource again."""
    with tempfile.TemporaryDirectory(prefix="xdspub-bench-") as folder:
        server = Xdspub(folder, tree)
        load = Load(server, "--delta", "--connections", "1000", "--names", tree.names)
        load.event("settled")
        before = server.quiet_cpu()
        load.command("resume")
        settled = load.event("settled")
        cpu = server.quiet_cpu() - before
        load.stop()
        server.stop()
    figure("gRPC delta, 1000 clients come back with current versions: resource bytes sent",
           settled["resource_bytes"], 0, cpu=round(cpu, 3), **settled)


def idle(tree):
    """Memory per connection with one wildcard stream, and per further stream."""
    for label, form in (("SotW", ()), ("delta", ("--delta",))):
        with tempfile.TemporaryDirectory(prefix="xdspub-bench-") as folder:
            kib = {}
            for connections, streams in ((5000, 1), (50, 1), (50, 100)):
                server = Xdspub(folder, tree)
                server.quiet_cpu()
                before = server.resident()
                load = Load(server, *form, "--connections", str(connections), "--streams",
                            str(streams), "--types", "cds")
                load.event("settled")
                server.quiet_cpu()
                kib[connections, streams] = server.resident() - before
                load.stop()
                server.stop()
        figure(f"gRPC {label}: KiB per idle connection with one wildcard stream",
               kib[5000, 1] / 5000, 17)
        figure(f"gRPC {label}: KiB per further idle stream of a connection",
               (kib[50, 100] - kib[50, 1]) / (50 * 99), 1)


def fan_out(folder):
    """A CDS response of 1 MB for 1,000 clients."""
    tree = Tree(f"{folder}/fan-out", 100, 9900)
    results = {}
    size = None
    for kind in (Xdspub, Bare):
        server = Bare(size) if kind is Bare else kind(folder, tree)
        load = Load(server, "--connections", "1000", "--types", "cds")
        settled = load.event("settled")
        size = settled["bytes"] // 1000
        edits = [edit(server, load, "clusters", number) for number in range(EDITS)]
        results[kind] = [min(column) for column in zip(*edits)]
        load.stop()
        server.stop()
    figure("gRPC fan-out of a CDS response to 1000 clients: CPU, to a bare nghttp2 loop",
           results[Xdspub][0] / results[Bare][0], 1.5, bytes_each=size,
           cpu=round(results[Xdspub][0], 3), bare_cpu=round(results[Bare][0], 3),
           ms=round(results[Xdspub][1], 1), bare_ms=round(results[Bare][1], 1))


def main():
    counts = [int(word) for word in sys.argv[1:]] or [1000, 5000]
    missing = GoControlPlane.build()
    if missing:
        print(f"no figures beside go-control-plane: {missing}", flush=True)
    with tempfile.TemporaryDirectory(prefix="xdspub-bench-") as folder:
        tree = Tree(f"{folder}/tree", CLUSTERS)
        idle(tree)
        reconnect(tree)
        fan_out(folder)
        compare(tree, counts, missing)


if __name__ == "__main__":
    main()
