#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`xdspub why`, `status --layers` and `check --verbose`: where each resource comes from, what each
layer does, from a tree and from a running daemon."""
import json
import os

from daemon_lib import Daemon, fresh, listener, run, write, xdspub

GROUPS = """groups:
- name: canary
  match: {metadata: {canary: true}, locality: {region: {prefix: eu}}}
  layers: [common, canary]
- each: env/*
  name: "{1}"
  match: {metadata: {env: "{1}"}, cluster: [edge, {suffix: -proxy, ignore_case: true}]}
  layers: [common, "env/{1}"]
"""
FILES = {
    "groups.yaml": GROUPS,
    "_parts/cluster.yaml": "<<: !include tls/timeout.yaml\nlb_policy: RANDOM\n",
    "_parts/tls/timeout.yaml": "# how long\nconnect_timeout: 3s\n",
    "_parts/threshold.yaml": "{max_connections: 7}\n",
    "common/listeners/l.yaml": listener("l"),
    "common/clusters/all.yaml": """- name: api
  connect_timeout: 1s
- {name: old, connect_timeout: 1s}
- <<: !include ../../_parts/cluster.yaml
  name: parts
  circuit_breakers:
    thresholds:
    - !include ../../_parts/threshold.yaml
""",
    "common/routes/edge.yaml": "name: edge\nrequest_headers_to_remove: [x]\n",
    "common/virtual-hosts/edge/shop.yaml": "name: shop\ndomains: [shop.example]\n",
    "common/virtual-hosts/edge/pay.yaml": "name: pay\ndomains: [pay.example]\n",
    "common/secrets/s.yaml": "name: key\ngeneric_secret: {secret: {inline_string: "
                             "!file s.txt}}\n",
    "common/secrets/s.txt": "secret",
    "canary/clusters/api.yaml": "name: api\nconnect_timeout: 2s\n",
    "canary/clusters/only.yaml": "name: only-canary\nconnect_timeout: 2s\n",
    "env/prod/clusters/api.yaml": "- {name: api, connect_timeout: 9s}\n"
                                  "- !delete {name: old}\n",
    "env/prod/routes/edge.yaml": "name: edge\nvhds: {config_source: {ads: {}}}\n",
    "env/test/clusters/more.yaml": "name: more\nconnect_timeout: 1s\n"}
NODE = "{id: e1, cluster: Side-Proxy, metadata: {env: prod, canary: false}}"


def make_tree():
    fresh("tree", "out", "state")
    for path, text in FILES.items():
        write(f"tree/{path}", text)


def why(*words, code=0):
    done = xdspub("why", *words, "--json")
    assert done.returncode == code, (done, words)
    return json.loads(done.stdout)


def people(*words, code=0):
    done = xdspub("why", *words)
    assert done.returncode == code, done
    return done.stdout


def outcome_of(answer, group):
    return next(one for one in answer["outcomes"] if group in one["groups"])


def layers():
    """what layers add, replace and delete, and groups that come to the same are told together"""
    make_tree()
    answer = why("tree", "CDS/api")
    assert [one["groups"] for one in answer["outcomes"]] == [["canary"], ["prod"], ["test"]]
    prod = outcome_of(answer, "prod")
    assert prod["source"] == "env/prod/clusters/api.yaml:1:3" and prod["layer"] == "env/prod"
    assert prod["layers"] == [
        {"layer": "common", "says": "adds", "source": "common/clusters/all.yaml:1:3"},
        {"layer": "env/prod", "says": "replaces", "source": "env/prod/clusters/api.yaml:1:3"}]
    old = why("tree", "clusters/old")
    assert outcome_of(old, "prod")["result"] == "deleted"
    assert outcome_of(old, "prod")["layers"][1]["says"] == "deletes"
    assert outcome_of(old, "canary") == outcome_of(old, "test") and old["exists"]
    assert why("tree", "Cluster/old", "-g", "prod", code=1)["outcomes"][0]["layers"][1] == {
        "layer": "env/prod", "says": "deletes", "source": "env/prod/clusters/api.yaml:2:3"}
    text = people("tree", "CDS/api", "-g", "prod")
    assert "comes from env/prod/clusters/api.yaml:1:3, layer env/prod" in text, text
    write("tree/common/clusters/twice.yaml", "{name: api, connect_timeout: 1s}\n")
    twice = outcome_of(why("tree", "CDS/api"), "test")
    assert twice["result"] == "served" or twice["result"] == "refused"
    assert twice["held"][0]["group"] == "test", twice


def nodes():
    """which group a node is in and why, the nearest ones when it is in none"""
    make_tree()
    answer = why("tree", "CDS/api", "--node", NODE)
    node = answer["node"]
    assert node["group"] == "prod" and node["source"] == "groups.yaml:6:9", node
    assert [one["fits"] for one in node["conditions"]] == [True, True]
    assert node["conditions"][1]["text"] == (
        'cluster is "edge" or cluster ends with "-proxy" (in any case)')
    assert node["others"][0]["group"] == "canary" and node["others_count"] == 1
    assert node["others"][0]["conditions"] == [
        {"text": "metadata.canary is true", "fits": False, "has": False},
        {"text": 'locality.region starts with "eu"', "fits": False}]
    assert [one["groups"] for one in answer["outcomes"]] == [["prod"]]
    none = why("tree", "CDS/api", "--node", "{cluster: edge, metadata: {env: prd}}", code=1)
    assert none["error"] == "this node belongs to no group" and "group" not in none["node"]
    text = people("tree", "CDS/api", "--node", "{cluster: edge, metadata: {env: prd}}", code=1)
    assert 'no:  metadata.env is "prod", this node has "prd"' in text, text
    bad = xdspub("why", "tree", "CDS/api", "--node", "{clutser: edge}")
    assert bad.returncode == 2 and 'did you mean "cluster"?' in bad.stderr, bad


def parts():
    """which files have a part in a resource, through which others, and in which fields"""
    make_tree()
    assert why("tree", "CDS/parts", "-g", "test")["outcomes"][0]["parts"] == [
        {"path": "_parts/threshold.yaml",
         "fields": [{"field": "circuit_breakers.thresholds[0]", "line": 1}]},
        {"path": "_parts/cluster.yaml", "fields": [{"field": "lb_policy", "line": 2}]},
        {"path": "_parts/tls/timeout.yaml", "through": "_parts/cluster.yaml",
         "fields": [{"field": "connect_timeout", "line": 2}]}]
    secret = why("tree", "SDS/key", "-g", "test")["outcomes"][0]
    assert secret["parts"] == [{"path": "common/secrets/s.txt",
                                "field": "generic_secret.secret.inline_string"}], secret
    assert "version" not in secret  # a digest of a short secret tells it
    assert why("tree", "CDS/api", "-g", "test")["outcomes"][0]["parts"] == []


def hosts():
    """virtual hosts: part of their route configuration, or served by VHDS"""
    make_tree()
    test = why("tree", "RDS/edge", "-g", "test")["outcomes"][0]
    assert [one["name"] for one in test["virtual_hosts"]] == ["edge/pay", "edge/shop"], test
    assert test["route_configuration"]["has"] == "virtual_hosts"
    host = why("tree", "VHDS/edge/shop")
    assert outcome_of(host, "test")["route_configuration"] == {
        "name": "edge", "source": "common/routes/edge.yaml:1:1", "has": "virtual_hosts"}
    assert outcome_of(host, "prod")["route_configuration"]["has"] == "vhds"
    assert "has vhds" in people("tree", "VHDS/edge/shop", "-g", "prod")
    assert why("tree", "VHDS/shop", code=1)["hint"] == 'did you mean "edge/shop"?'


def unknown():
    """unknown names, groups and types get a suggestion; other layers and types are named"""
    make_tree()
    assert why("tree", "CDS/aip", code=1)["hint"] == 'did you mean "api"?'
    assert why("tree", "EDS/api", code=1)["hint"] == "there is CDS/api"
    assert why("tree", "CDS/only-canary", "-g", "prod", code=1)["elsewhere"] == [
        {"layer": "canary", "source": "canary/clusters/only.yaml:1:1"}]
    assert why("tree", "CDS/api", "-g", "prd", code=1)["error"] == (
        'there is no group "prd", did you mean "prod"?')
    for word, said in (("CSD/api", 'did you mean "CDS"?'), ("CDS", "has no name"),
                       ("CDS/", "has no name")):
        done = xdspub("why", "tree", word)
        assert done.returncode == 2 and said in done.stderr, done
    write("tree/env/test/clusters/new.yaml", "name: new\nconect_timeout: 1s\n")
    broken = why("tree", "CDS/new", "-g", "test", code=1)
    assert broken["problems"][0].startswith("env/test/clusters/new.yaml:2:1: error:"), broken
    for name in ("type.googleapis.com/envoy.config.cluster.v3.Cluster/api",
                 "envoy.config.cluster.v3.Cluster/api", "cluster/api", "cds/api"):
        assert why("tree", name)["type"] == "CDS"
    write("tree/groups.yaml", "groups: 1\n")
    assert "groups.yaml has errors" in why("tree", "CDS/api", code=1)["error"]


def running():
    """a daemon is asked: what clients have when it differs, connected nodes, layers, while held"""
    make_tree()
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        ask = ("--admin", daemon.admin)
        assert why("CDS/api", *ask) == why("tree", "CDS/api")
        before = outcome_of(why("CDS/api", *ask), "prod")
        with open("tree/env/prod/clusters/bad.yaml", "w", encoding="ascii") as file:
            file.write("name: bad\nno_such: 1\n")
        write("tree/env/prod/clusters/api.yaml", "\n- {name: api, connect_timeout: 8s}\n")
        daemon.until("held", lambda s: daemon.group("prod", s)["held"] and any(
            "bad.yaml" in line for line in s["diagnostics"]["shown"]))
        held = outcome_of(why("CDS/api", *ask), "prod")
        while held["source"] != "env/prod/clusters/api.yaml:2:3":  # both edits are built
            held = outcome_of(why("CDS/api", *ask), "prod")
        assert held["held"][0]["group"] == "prod" and "bad.yaml" in held["held"][0]["reason"]
        assert held["serving"] == [{"group": "prod", "exists": True, "is_bridge": False,
                                    "source": "env/prod/clusters/api.yaml:1:3",
                                    "version": before["version"]}], held
        assert "clients keep what was good before" in people("CDS/api", "-g", "prod", *ask)
        assert why("CDS/api", "--node", NODE, *ask)["node"]["group"] == "prod"
        nobody = people("CDS/api", "--node", "e1", *ask, code=1)
        assert "belongs to no group" in nobody, nobody
        done = xdspub("status", "--layers", *ask)
        assert "    env/prod: adds 1 RDS; replaces 1 CDS" not in done.stdout
        assert "    env/prod: replaces 1 CDS, 1 RDS\n" in done.stdout, done.stdout
        status = json.loads(xdspub("status", "--layers", "--json", *ask).stdout)
        assert [one["group"] for one in status["layers"]] == ["canary", "prod", "test"]
        for path in ("/why", "/why?resource=CDS/api&node=1", "/why?resource=x/y"):
            assert daemon.get(daemon.admin, path).status == 400, path
    gone = xdspub("why", "CDS/api", *ask)
    assert gone.returncode == 3 and "no daemon answers" in gone.stderr, gone
    both = xdspub("why", "tree", "CDS/api", *ask)
    assert both.returncode == 2, both


def verbose():
    """check --verbose has a line for each layer, and one for each replacement and deletion"""
    make_tree()
    done = xdspub("check", "--verbose", "tree")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done
    for want in (
            'tree/groups.yaml:4:12: note: group "canary" and 2 more: layer "common" adds 3 CDS, '
            "1 SDS, 1 LDS, 1 RDS, 2 VHDS [layer]",
            'tree/groups.yaml:8:20: note: group "prod": layer "env/prod" replaces 1 CDS, 1 RDS; '
            "deletes 1 CDS [layer]",
            'tree/groups.yaml:8:20: note: group "test": layer "env/test" adds 1 CDS [layer]',
            'tree/env/prod/clusters/api.yaml:2:3: note: group "prod": this deletes cluster "old" '
            'of layer "common" (common/clusters/all.yaml:3:3) [deleted]'):
        assert want in lines, (want, lines)


if __name__ == "__main__":
    os.environ["NO_COLOR"] = "1"
    run([layers, nodes, parts, hosts, unknown, running, verbose])
