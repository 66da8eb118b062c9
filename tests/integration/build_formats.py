#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every example tree, built in all four formats: each file reads back with libprotobuf, by its
suffix, as the same message (S.8-S.21), and holds what its type allows."""
import os
import re
import subprocess
import sys

from publish_read import FORMATS, content, parse
from publish_test import Folder, Tap, read_tree

EXAMPLES = os.path.join(os.environ["top_srcdir"], "examples")
SETS = {"lds", "cds", "srds"}
NAMES = {"eds": "cluster_name"}


def build(tree, out):
    command = [os.environ["XDSPUB"], "build", tree, "-o", out]
    for name in FORMATS:
        command += ["--format", name]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def inner(resource):
    """The resource itself, out of its wrapper if it has one (S.21)."""
    if resource["@type"].endswith("/envoy.service.discovery.v3.Resource"):
        assert resource["name"] in resource["resource"].values(), resource
        return resource["resource"]
    return resource


def without_suffix(value):
    """In open config sources each file names others of its own format."""
    if isinstance(value, dict):
        return {key: re.sub(r"\.(yaml|json|pb|pb_text)$", "", inside)
                if key == "path" and isinstance(inside, str) else without_suffix(inside)
                for key, inside in value.items()}
    return [without_suffix(inside) for inside in value] if isinstance(value, list) else value


def wrong(out):
    """What is wrong with the published files, or None; and how many there are."""
    by_path = {}
    for path in read_tree(out):
        stem, _, suffix = path.partition(".")
        by_path.setdefault(stem, {})[suffix] = without_suffix(
            content(parse(os.path.join(out, path))))
    for path, formats in by_path.items():
        kind = path.split("/")[1]
        if sorted(formats) != sorted(FORMATS):
            return "%s in %s only" % (path, sorted(formats)), 0
        message = formats["pb"]
        for suffix, other in formats.items():
            if other != message:
                return "%s.%s differs from .pb" % (path, suffix), 0
        resources = [inner(r) for r in message.get("resources", [])]
        names = [r.get(NAMES.get(kind, "name")) for r in resources]
        if any(r["@type"] != message["type_url"] for r in resources):
            return path + " mixes types", 0
        if len(set(names)) != len(names) or None in names:
            return "%s: names %s" % (path, names), 0
        if kind not in SETS and len(names) != 1:
            return "%s holds %d resources" % (path, len(names)), 0
    return None, len(by_path)


def convert_bootstrap(path):
    command = [os.environ["XDSPUB"], "convert", "--type", "envoy.config.bootstrap.v3.Bootstrap", path]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def main():
    tap = Tap()
    with Folder() as top:
        for name in sorted(os.listdir(EXAMPLES)):
            if name.endswith(".yaml"):
                result = convert_bootstrap(os.path.join(EXAMPLES, name))
                tap.ok(not result.returncode, name + ": a bootstrap of Envoy", result.stdout)
                continue
            out = os.path.join(top, name)
            result = build(os.path.join(EXAMPLES, name), out)
            if result.returncode:
                tap.ok(False, name, result.stdout)
                continue
            problem, count = wrong(out)
            tap.ok(not problem and count, "%s: %d files in four formats" % (name, count), problem)
        before = read_tree(os.path.join(top, "file-based"))
        build(os.path.join(EXAMPLES, "file-based"), os.path.join(top, "file-based"))
        tap.ok(before == read_tree(os.path.join(top, "file-based")), "S.7: built again, the same")
    return tap.done()


sys.exit(main())
