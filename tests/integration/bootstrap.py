#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""xdspub bootstrap: valid for every mode, with a node that belongs to the group."""
import glob
import json
import os

from daemon_lib import fresh, listener, run, write, xdspub

SOURCE = os.environ.get("abs_top_srcdir") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BOOTSTRAP = "envoy.config.bootstrap.v3.Bootstrap"
MODES = ("file", "rest", "grpc", "ads", "delta-ads")


def bootstrap(*arguments, status=0):
    result = xdspub("bootstrap", *arguments)
    assert result.returncode == status, (arguments, result)
    if status:
        assert not result.stdout, result
        return result.stderr
    assert not result.stderr, result
    return result.stdout


def read(text):
    """As JSON, by another command: strict, so only what the schema has."""
    write("made.yaml", text)
    result = xdspub("convert", "--type", BOOTSTRAP, "--to", "json", "made.yaml")
    assert result.returncode == 0 and not result.stderr, result
    return json.loads(result.stdout)


def group_of(tree, node):
    """Where the node belongs, says another command."""
    result = xdspub("why", tree, "CDS/any", "--node", json.dumps(node), "--json")
    return json.loads(result.stdout)["node"].get("group")


def examples():
    """every mode and group of the examples: valid, and the node is one of the group"""
    for tree in sorted(glob.glob(f"{SOURCE}/examples/*/")):
        fresh("out")
        assert xdspub("build", tree, "-o", "out").returncode == 0
        groups = sorted(name for name in os.listdir("out") if not name.startswith("."))
        for group in {groups[0], groups[-1]}:
            for mode in MODES if group == groups[0] and "regions" in tree else ("ads",):
                made = read(bootstrap("--tree", tree, "--mode", mode, "--group", group))
                assert group_of(tree, made["node"]) == group, (tree, group, made["node"])
                check_mode(mode, made, group)


def check_mode(mode, made, group):
    dynamic = made["dynamic_resources"]
    sources = [dynamic["cds_config"], dynamic["lds_config"]]
    assert all(source["resource_api_version"] == "V3" for source in sources)
    if mode == "file":
        assert sources[0]["path_config_source"]["path"].endswith(f"/{group}/cds/cds.yaml")
        assert "static_resources" not in made
        return
    (cluster,) = made["static_resources"]["clusters"]
    assert cluster["name"] == "xdspub"
    assert all(source["initial_fetch_timeout"] == "0s" for source in sources)
    assert ("typed_extension_protocol_options" in cluster) == (mode != "rest")
    if mode.endswith("ads"):
        assert all("ads" in source for source in sources)
        assert dynamic["ads_config"]["api_type"] == ("GRPC" if mode == "ads" else "DELTA_GRPC")
        assert dynamic["ads_config"]["transport_api_version"] == "V3"
        return
    for source in sources:
        api = source["api_config_source"]
        assert api["api_type"] == mode.upper() and api["transport_api_version"] == "V3"
        if mode == "rest":
            assert api["cluster_names"] == ["xdspub"] and "refresh_delay" in api


def conditions():
    """nodes for all kinds of conditions, also where groups before it take the obvious ones"""
    fresh("tree")
    write("tree/common/listeners/l.yaml", listener("l"))
    write("tree/common/clusters/c.yaml", "name: c\n")
    groups = {
        "text": "{cluster: {prefix: a-, suffix: -z}, id: {contains: mid}}",
        "fold": "{cluster: {exact: EDGE, ignore_case: true}}",
        "list": "[{cluster: {prefix: a-, suffix: -z}, id: {contains: mid}}, {id: second}]",
        "deep": "{metadata: {a: {b: [1, 2.5]}, canary: true}, locality: {sub_zone: s}}",
        "own": "{user_agent_version: {prefix: \"1.\"}, cluster: own}",
        "first": "{id: {prefix: default-}}",
        "default-2": "{cluster: default-2}",
    }
    entries = "".join(f"- {{name: {name}, layers: [common], match: {match}}}\n"
                      for name, match in groups.items())
    write("tree/groups.yaml", f"groups:\n{entries}- {{name: default, layers: [common]}}\n")
    for name in (*groups, "default"):
        text = bootstrap("--tree", "tree", "-m", "ads", "-g", name)
        node = read(text)["node"]
        if name == "own":
            assert "Envoy itself" in text and "user_agent_version" not in node, text
            node["user_agent_version"] = "1.40"
        assert group_of("tree", node) == name, (name, node)
    write("tree/groups.yaml", f"groups:\n- {{name: all, layers: [common], match: {{cluster: x}}}}\n"
          "- {name: rest, layers: [common]}\n"
          "- {name: never, layers: [common], match: {cluster: y}}\n")
    assert "no node was found" in bootstrap("--tree", "tree", "-m", "ads", "-g", "never", status=1)


def settings():
    """addresses and folders are those of xdspub.yaml, or of the flags"""
    fresh("tree")
    write("tree/listeners/l.yaml", listener("l"))
    write("tree/clusters/c.yaml", "name: c\n")
    write("xdspub.yaml", "source: {path: tree}\npublish: {path: /var/out, formats: [json]}\n"
          "grpc: {listen: [\"unix:/run/x.sock\"]}\nrest: {listen: [\"0.0.0.0:18001\"]}\n")

    def address(*arguments):
        cluster = read(bootstrap("-c", "xdspub.yaml", *arguments))["static_resources"]["clusters"][0]
        endpoint = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]
        return endpoint["address"], cluster["type"]
    assert address("-m", "ads") == ({"pipe": {"path": "/run/x.sock"}}, "STATIC")
    host, kind = address("-m", "rest")
    assert host["socket_address"]["address"] == os.uname().nodename and kind == "STRICT_DNS"
    assert address("-m", "rest", "--address", "[::1]:7") == (
        {"socket_address": {"address": "::1", "port_value": 7}}, "STATIC")
    made = read(bootstrap("-c", "xdspub.yaml", "-m", "file"))
    assert made["dynamic_resources"]["cds_config"]["path_config_source"]["path"] == \
        "/var/out/default/cds/cds.json"
    made = read(bootstrap("-c", "xdspub.yaml", "-m", "file", "--seen-as", "/etc/x",
                          "--admin-address", "none"))
    assert made["dynamic_resources"]["lds_config"]["path_config_source"]["path"] == \
        "/etc/x/default/lds/lds.json" and "admin" not in made
    made = read(bootstrap("-c", "xdspub.yaml", "-m", "ads", "--node", "{id: me, cluster: 'no'}"))
    assert made["node"] == {"id": "me", "cluster": "no"}, made


def refusals():
    """wrong usage is explained; nothing is printed then"""
    fresh("tree")
    write("xdspub.yaml", "source: {path: tree}\npublish: {path: out}\n")
    write("tree/listeners/l.yaml", listener("l"))
    write("tree/clusters/c.yaml", "name: c\n")
    tree = ("--tree", "tree", "-m", "ads")
    for arguments, status, part in (
            ((), 2, "--mode"), (("-m", "adds", "--tree", "tree"), 2, "delta-ads"),
            (("-m", "ads", "-c", "none.yaml"), 2, "none.yaml"),
            (("-m", "ads", "-c", "xdspub.yaml"), 2, "grpc.listen is not set"),
            ((*tree, "-g", "defualt"), 2, 'did you mean "default"?'),
            ((*tree, "--address", "x"), 2, "no address"),
            ((*tree, "--admin-address", "x:y:z"), 2, "no address"),
            (("-m", "ads", "--tree", "nowhere"), 1, "nowhere"),
            ((*tree, "--node", "{id: ["), 2, "--node")):
        assert part in bootstrap(*arguments, status=status), (arguments, part)
    write("tree/groups.yaml", "groups:\n- {name: a, layers: [.], match: {id: x}}\n"
          "- {name: b, layers: [.]}\n")
    assert "there are a, b" in bootstrap(*tree, status=2)
    assert "is in group a, not in b" in bootstrap(*tree, "-g", "b", "--node", "x", status=1)
    write("tree/groups.yaml", "groups: x\n")
    assert "groups.yaml:1" in bootstrap(*tree, status=1)


if __name__ == "__main__":
    run([examples, conditions, settings, refusals])
