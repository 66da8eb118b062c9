#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""xdspub explain at the command line: names, formats, widths, exit statuses, comments of sets of one's own."""
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("XDSPUB", "./xdspub")
SCHEMA = os.environ["XDSPUB_SCHEMA"]
DOCUMENTED = os.environ["XDSPUB_TEST_DOCUMENTED"]
results = []


def run(*arguments, **environment):
    done = subprocess.run([PROGRAM, "explain", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                          check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test(function):
    results.append(function)
    return function


def need(condition, *context):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in context))


def document(*arguments, **environment):
    status, out, problem = run(*arguments, "--json", **environment)
    need(status == 0 and problem == "", arguments, status, problem)
    return json.loads(out)


@test
def a_field_with_everything(folder):
    status, out, problem = run("cluster.lb_policy")
    need(status == 0 and problem == "", problem)
    for part in ["FIELD:    Cluster.lb_policy\n", "OR AS:    lbPolicy\n", "DEFAULT:  ROUND_ROBIN\n",
                 "[enum.defined_only]", "The load balancer type to use when picking", "  MAGLEV (5)\n"]:
        need(part in out, part, out)


@test
def through_typed_config(folder):
    status, out, _ = run("listener.filter_chains.filters.typed_config")
    need(status == 0 and "  HttpConnectionManager envoy.filters.network.http_connection_manager\n" in out, out)
    got = document("listener.filter_chains.filters.typed_config:HttpConnectionManager.route_config")
    need(got["message"] == "envoy.config.route.v3.RouteConfiguration" and got["oneof"] == "route_specifier", got)
    need({"name", "virtual_hosts"} <= {field["name"] for field in got["fields"]}, got)


@test
def trees(folder):
    status, out, _ = run("cluster.load_assignment", "--depth", "1")
    need(status == 0 and "  endpoints <[]LocalityLbEndpoints> ...\n" in out, out)
    deeper = run("cluster.load_assignment", "-r")[1]
    need("    lb_endpoints <[]LbEndpoint>\n      endpoint <Endpoint>\n" in deeper, deeper)
    need(" (as above)" in run("route_configuration", "--depth", "20")[1])
    for depth in ["0", "101", "x"]:
        need(run("cluster", "--depth", depth)[0] == 2, depth)


@test
def suggestions(folder):
    for name, expected in [("cluster.lb_polcy", 'did you mean "lb_policy"?'),
                           ("listenr", 'did you mean "listener"?'),
                           ("string.min_length", 'did you mean "string.min_len"?'),
                           ("groups.layer", 'did you mean "groups.layers"?'),
                           ("settle.quit", 'did you mean "settle.quiet"?')]:
        status, out, problem = run(name)
        need(status == 1 and out == "" and expected.lower() in problem.lower(), name, problem)


@test
def several_names(folder):
    status, out, problem = run("cluster.name", "nonsense", "cluster.type")
    need(status == 1 and "nonsense" in problem, problem)
    need("FIELD:    Cluster.name\n" in out and "FIELD:    Cluster.type\n" in out, out)
    need(run()[0] == 2)


@test
def rules_and_keys_need_no_schema(folder):
    nowhere = {"XDSPUB_SCHEMA": os.path.join(folder, "none.pb")}
    for name, part in [("string.min_len", "RULE:     string.min_len\n"), ("groups.layers", "FILE:     groups.yaml\n"),
                       ("settle.quiet", "OPTION:   --settle\n"), ("groups.yaml", "  isolate <one of group, tree>"),
                       ("xdspub.yaml", "  settle <mapping>"), ("xdspub.yaml:grace", "DEFAULT:  30s\n")]:
        status, out, problem = run(name, **nowhere)
        need(status == 0 and problem == "" and part in out, name, out, problem)
    status, out, problem = run("cluster", **nowhere)
    need(status == 1 and "none.pb" in problem and out == "", problem)
    need("service node name" in run("groups.match.id")[1])


@test
def every_rule_has_its_page(folder):
    got = document("unknown-field")
    need(got["kind"] == "rule" and got["level"] == "error" and "description" in got, got)


@test
def comments_of_ones_own(folder):
    got = document("Outer.inner.count", "--add-schema", DOCUMENTED)
    need(got["description"] == "How many.", got)
    need([rule["id"] for rule in got["rules"]] == ["uint32.gte", "uint32.lt"], got)
    # Both at once.
    need("round robin" in run("cluster.lb_policy", "--add-schema", DOCUMENTED)[1])


@test
def without_comments(folder):
    bare = os.path.join(folder, "bare.pb")
    shutil.copy(SCHEMA, bare)
    got = document("cluster.lb_policy", "--schema", bare)
    need("description" not in got and got["default"] == "ROUND_ROBIN", got)
    # Those of another set beside it are taken; a damaged one is told of and does no harm.
    shutil.copy(SCHEMA[:-3] + ".doc.pb", os.path.join(folder, "bare.doc.pb"))
    need("description" in document("cluster.lb_policy", "--schema", bare))
    with open(os.path.join(folder, "bare.doc.pb"), "wb") as file:
        file.write(b"\n\xff\xff")
    status, out, problem = run("cluster.lb_policy", "--schema", bare)
    need(status == 0 and "bare.doc.pb" in problem and "MAGLEV" in out, problem)


@test
def width_and_colours(folder):
    for width in (40, 64, 100):
        _, out, _ = run("cluster.connect_timeout", "cluster.eds_cluster_config", COLUMNS=str(width))
        longest = max(len(line) for line in out.splitlines() if "envoy." not in line)
        need(width - 25 < longest <= width, width, longest)
    need("\033" not in run("cluster")[1])
    master, slave = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.run([PROGRAM, "explain", "string.min_len"], stdout=slave, check=True, timeout=60, env=environment)
    os.close(slave)
    text = os.read(master, 65536)
    os.close(master)
    need(done.returncode == 0 and b"\033[1mRULE:\033[0m" in text, text)


def main():
    print(f"1..{len(results)}")
    failed = 0
    for number, function in enumerate(results, 1):
        name = function.__name__.replace("_", " ")
        try:
            with tempfile.TemporaryDirectory() as folder:
                function(folder)
            print(f"ok {number} - {name}")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in f"{type(error).__name__}: {error}".splitlines()))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
