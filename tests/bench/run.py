#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every benchmark and prints one table, and one JSON line per figure as it comes.

Each figure is a ratio to something measured in the same run, or an absolute bound.
Environment: XDSPUB, XDSPUB_SCHEMA, top_builddir. Names on the command line select groups.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.environ["top_builddir"], "tests", "bench")
SCHEMA = os.environ["XDSPUB_SCHEMA"]


def program(name, *words):
    return [os.path.join(PROGRAMS, name), *words]


def script(name, *words):
    return [sys.executable, os.path.join(HERE, name), *words]


def run(command, figures):
    """Collects the JSON lines of a benchmark; returns the last one."""
    last = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith("{"):
                last = json.loads(line)
                figures.append(last)
    if process.returncode:
        sys.exit(f"{command[0]} failed with {process.returncode}")
    return last


def compile_figures(folder, figures):
    trees = {files: os.path.join(folder, f"tree-{files}") for files in ("20000", "100")}
    for files, tree in trees.items():
        run(program("bench_compile", SCHEMA, tree, "10000", files), figures)
    run(program("bench_check", SCHEMA, trees["100"], "10000", "100"), figures)
    encoded = next(figure["encoded"] for figure in figures if "encoded" in figure)
    empty = os.path.join(folder, "empty")
    run(program("bench_compile", SCHEMA, empty, "0", "0"), figures)
    run(script("daemon_figures.py", trees["20000"], empty, str(encoded)), figures)


def publish_figures(folder, figures):
    path = os.path.join(folder, "publish")
    os.mkdir(path)
    run(program("bench_publish", SCHEMA, path), figures)


def edit_figures(_folder, figures):
    run(script("edit.py"), figures)


def rest_figures(_folder, figures):
    run(program("bench_rest"), figures)


def fleet_figures(_folder, figures):
    run(script("fleet.py"), figures)


def grpc_figures(_folder, figures):
    if os.path.exists(os.path.join(PROGRAMS, "bench_grpc_load")):
        run(program("bench_grpc_bytes"), figures)
        run(script("grpc_figures.py"), figures)
    else:
        print("no figures of gRPC: this build is without")


GROUPS = {"fleet": fleet_figures, "compile": compile_figures, "publish": publish_figures, "edit": edit_figures,
          "rest": rest_figures, "grpc": grpc_figures}


def print_table(figures):
    rows = [(figure["figure"], figure.get("ratio", figure.get("value")), figure["target"])
            for figure in figures if "target" in figure]
    width = max(len(name) for name, _, _ in rows)
    print(f"\n{'figure':<{width}}  {'measured':>9}  {'at most':>8}")
    for name, measured, target in rows:
        verdict = "" if measured <= target else "  missed"
        print(f"{name:<{width}}  {measured:>9.2f}  {target:>8.2f}{verdict}")


def main():
    figures = []
    with tempfile.TemporaryDirectory(prefix="xdspub-bench-", dir=os.environ["top_builddir"]) as folder:
        for name in sys.argv[1:] or GROUPS:
            GROUPS[name](folder, figures)
    print_table(figures)


if __name__ == "__main__":
    main()
