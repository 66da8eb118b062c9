#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""xdspub convert: formats, types by name, exit statuses, and bad input at the command line."""
import json
import os
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ.get("XDSPUB", "./xdspub")
RESPONSE = """\
version_info: "7"
resources:
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: example
  connect_timeout: "5s"
"""
SUFFIXES = {"yaml": "yaml", "json": "json", "pb": "pb", "pb_text": "pb_text"}
results = []


def run(*arguments, data=b""):
    done = subprocess.run([PROGRAM, "convert", *arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def test(function):
    results.append(function)
    return function


def need(condition, *context):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in context))


def same(*arguments, data=b"", status=0, out=None, problem=None):
    got = run(*arguments, data=data)
    need(got[0] == status, arguments, got)
    if out is not None:
        need(got[1] == (out.encode() if isinstance(out, str) else out), arguments, got)
    if problem is not None:
        need(problem in got[2], arguments, got)
    elif status == 0:
        need(got[2] == "", arguments, got)
    return got[1]


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    return path


@test
def every_format_to_every_format(folder):
    texts = {"yaml": RESPONSE.encode()}
    for form in ("json", "pb", "pb_text"):
        texts[form] = same("-t", "DiscoveryResponse", "--to", form, data=texts["yaml"])
    need(json.loads(texts["json"])["resources"][0]["connect_timeout"] == "5s", texts["json"])
    for source, data in texts.items():
        path = write(folder, "in." + SUFFIXES[source], data)
        for target, want in texts.items():
            same("-t", "DiscoveryResponse", "--to", target, path, out=want)
            same("-t", "DiscoveryResponse", "--from", source, "--to", target, "-", data=data, out=want)


@test
def yaml_is_the_default(folder):
    path = write(folder, "CDS.PB", same("-t", "DiscoveryResponse", "-o", "binary", data=RESPONSE.encode()))
    same("-t", "DiscoveryResponse", path, out=RESPONSE)


@test
def types_by_full_name_url_and_short_name(folder):
    for name in ("envoy.config.cluster.v3.Cluster", "type.googleapis.com/envoy.config.cluster.v3.Cluster", "Cluster"):
        same("-t", name, data=b"name: a\n", out="name: a\n")
    same("-t", "Filter", data=b"name: a\n", status=2, problem="envoy.config.listener.v3.Filter")
    same("-t", "Clustr", data=b"name: a\n", status=2, problem='did you mean "Cluster"?')
    same("-t", "", data=b"name: a\n", status=2, problem="unknown type")


@test
def type_from_the_document(folder):
    cluster = '"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: a\n'
    same(data=cluster.encode(), out="name: a\n")
    same(data=(cluster + "---\n" + cluster).encode(), out="name: a\n---\nname: a\n")
    same(data=b"name: a\n", status=1, problem="standard input:1:1: error: no \"@type\" here: give --type [missing-type]")
    same("--from", "pb", data=b"", status=2, problem="give --type")


@test
def several_documents(folder):
    data = b"name: a\n---\nname: b\n"
    same("-t", "Cluster", data=data, out="name: a\n---\nname: b\n")
    need(same("-t", "Cluster", "--to", "json", data=data).count(b'"name"') == 2)
    same("-t", "Cluster", "--to", "pb", data=data, status=1, out=b"", problem="[several-documents]")
    same("-t", "Cluster", data=b"# nothing\n", status=1, problem="no document")


@test
def names_as_declared_or_in_camel_case(folder):
    data = b"connectTimeout: 5s\n"
    same("-t", "Cluster", data=data, out='connect_timeout: "5s"\n')
    same("-t", "Cluster", "-c", data=data, out='connectTimeout: "5s"\n')
    need(json.loads(same("-t", "Cluster", "-c", "--to", "json", data=data)) == {"connectTimeout": "5s"})


@test
def strict_and_lenient(folder):
    data = b"name: a\nlb_subset_config: {subset_selectors: {keys: v}}\nnmae: b\nignore_health_on_host_removal: yes\n"
    status, out, problems = run("-t", "Cluster", data=data)
    need(status == 1 and out == b"", status, out)
    for part in (":3:1: error: unknown field \"nmae\"", "did you mean \"name\"?", "[wrong-type]", "[forgiven]"):
        need(part in problems, part, problems)
    status, out, problems = run("-t", "Cluster", "--lenient", data=data)
    need(status == 0 and b"ignore_health_on_host_removal: true" in out, status, out)
    need("warning: unknown field \"nmae\"" in problems and "[forgiven]" not in problems, problems)


@test
def unknown_fields_survive_binary(folder):
    data = same("-t", "Cluster", "--to", "pb", data=b"name: a\n") + b"\xba\xc8\x3e\x03abc"
    same("-t", "Cluster", "--from", "pb", "--to", "pb", data=data, out=data)
    same("-t", "Cluster", "--from", "pb", data=data, out="name: a\n", problem="are left out [unknown-field]")
    need(b"abc" in same("-t", "Cluster", "--from", "pb", "--to", "pb_text", data=data))


@test
def bad_input_of_each_format(folder):
    same("-t", "Cluster", data=b"a:\n\tb: 1\n", status=1, out=b"",
         problem="standard input:2:1: error: a tab in the indentation")
    same("-t", "Cluster", "--from", "json", data=b'{"name": }', status=1, out=b"", problem="[json-syntax]")
    same("-t", "Cluster", "--from", "pb", data=b"\x0a\x05ab", status=1, out=b"", problem="[not-binary]")
    same("-t", "Cluster", "--from", "pb_text", data=b"name: 5", status=1, out=b"", problem="standard input:1:")


@test
def hostile_input_is_refused_quickly(folder):
    start = time.monotonic()
    for opening in (b"[", b"{a: ", b"- "):
        same("-t", "Cluster", data=opening * 100000, status=1, out=b"", problem="[too-deep]")
    bomb = b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + b"".join(
        b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12))
    same("-t", "Cluster", data=bomb, status=1, out=b"", problem="[too-many-nodes]")
    same("-t", "Cluster", data=bytes(range(256)) * 100, status=1, out=b"", problem="[not-text]")
    large = write(folder, "large.yaml", b"")
    os.truncate(large, 100 << 20)
    same("-t", "Cluster", large, status=1, out=b"", problem="larger than the limit")
    need(time.monotonic() - start < 60, "took", time.monotonic() - start)


@test
def wrong_usage(folder):
    path = write(folder, "in.foo", "name: a\n")
    same("-t", "Cluster", path, status=2, problem="give --from")
    same("-t", "Cluster", "--from", "xml", path, status=2, problem="no such format")
    same("-t", "Cluster", "--to", "xml", status=2, problem="no such format")
    same("-t", "Cluster", "a.yaml", "b.yaml", status=2, problem="one too many")
    same("-t", "Cluster", os.path.join(folder, "absent.yaml"), status=1, problem="No such file")
    same("-t", "Cluster", "--schema", os.path.join(folder, "absent.pb"), data=b"name: a\n", status=1, problem="absent.pb")
    need(b"usage: xdspub convert" in same("--help"))


def main():
    print("1..%d" % len(results))
    failed = False
    for number, function in enumerate(results, 1):
        problem = None
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(folder)
            except (AssertionError, OSError, ValueError, subprocess.SubprocessError) as error:
                problem = "%s: %s" % (type(error).__name__, error)
        print("%sok %d - %s" % ("not " if problem else "", number, function.__name__))
        if problem:
            failed = True
            print("\n".join("# " + line for line in problem[:3000].splitlines()))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
