#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The example fleets, every group of them, on files, REST and gRPC: the same resources under the
same versions; and that one fact is typed once: what each edit of their READMEs changes."""
import os
import shutil

from google.protobuf import json_format

from daemon_lib import fresh, run, wait_for, write
from grpc_lib import POOL, TYPES, GrpcDaemon, message, node
from rest_lib import Client

EXAMPLES = os.path.join(os.path.abspath(os.environ["top_srcdir"]), "examples")
EACH = ("EDS", "RDS", "SDS")  # a file for each resource


def start(example):
    """The example at work, in a copy that can be edited."""
    fresh("copy", "out", "state")
    shutil.copytree(f"{EXAMPLES}/{example}", "copy")
    return GrpcDaemon("copy", grace="1ms", settle="1ms")


def groups_of(example):
    """Group -> a node that belongs to it, as its owner says in the README."""
    if example == "edge-proxy":
        return {"default": {"id": "any", "cluster": "whatever"}}
    if example == "sidecars":
        return {name: {"id": f"{name}-1", "cluster": name}
                for name in os.listdir(f"{EXAMPLES}/sidecars/apps")}
    return {f"{env}-{region}": {"id": "edge-7", "cluster": "edge", "metadata": {"env": env},
                                "locality": {"region": region}}
            for env in ("prod", "staging") for region in ("eu", "us", "ap")}


def closed(value):
    """Open config sources, which each transport fills in, made the same again."""
    if isinstance(value, list):
        return [closed(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() & {"ads", "self", "pathConfigSource"}:
        return "config source"
    return {key: closed(item) for key, item in value.items()}


def content(body):
    return closed(json_format.MessageToDict(body, descriptor_pool=POOL))


def parsed(kind, resource):
    resource = dict(resource)
    resource.pop("@type")
    return json_format.ParseDict(resource, message(TYPES[kind].message)(), descriptor_pool=POOL)


def from_files(daemon, group):
    """{kind: {name: (message, version)}}; whole sets are under the name ""."""
    result = {}
    for kind in ("CDS", "LDS"):
        answer = daemon.file(group, kind.lower(), f"{kind.lower()}.json")
        result[kind] = {one["name"]: (parsed(kind, one), None) for one in answer["resources"]}
        result[kind][""] = (None, answer["version_info"])
    for kind in EACH:
        result[kind] = {}
        folder = f"out/{group}/{kind.lower()}"
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            answer = daemon.file(group, kind.lower(), name, f"{kind.lower()}.json")
            body = parsed(kind, answer["resources"][0])
            result[kind][body.cluster_name if kind == "EDS" else body.name] = (
                body, answer["version_info"])
    return result


def check_grpc(daemon, who, files):
    """Versions for single names on one of them; REST and gRPC answer from one set."""
    for kind, found in files.items():
        names = sorted(name for name in found if name)
        whole = kind in ("CDS", "LDS")
        answer = daemon.fetch(kind, () if whole else names, node=who) if names else None
        if not names:
            continue
        assert answer.resources.keys() == set(names), (who, kind)
        for name in names:
            assert content(answer.resources[name]) == content(found[name][0]), (who, kind, name)
        if whole:
            assert answer.version == found[""][1], (who, kind)
        else:
            one = daemon.fetch(kind, names[:1], node=who)
            assert one.version == found[names[0]][1], (who, kind)


def check_rest(client, who, files):
    client.node = who
    for kind, found in files.items():
        names = sorted(name for name in found if name)
        whole = kind in ("CDS", "LDS")
        if not names or kind == "SDS":
            continue  # no REST form
        answer = client.poll(kind.lower(), () if whole else names[:1])
        assert answer.version == found["" if whole else names[0]][1], (who, kind)
        if whole:
            assert {one["name"] for one in answer.json["resources"]} == set(names), (who, kind)


def versions(daemon):
    """{(group, type): version} of all that is served."""
    return {(group["name"], kind): row.get("rest")
            for group in daemon.until_idle()["groups"] for kind, row in group["types"].items()}


def changed(before, after):
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def edit(daemon, before, want):
    """Once the daemon has built: exactly these (group, type) have another version."""
    wait_for(f"changes {want}", lambda: changed(before, versions(daemon)) == want)


def replace(path, old, new):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.count(old) == 1, (path, old, text.count(old))
    write(path, text.replace(old, new))


def compare(example, counts):
    groups = groups_of(example)
    with start(example) as daemon, daemon.channel() as channel, Client(daemon.rest) as client:
        status = daemon.until_idle()
        assert {group["name"] for group in status["groups"]} == set(groups)
        assert not status["diagnostics"]["errors"]
        # The owners serve files and ADS; for REST they would name their bootstrap's cluster.
        assert all("[open-config-source]" in line for line in status["diagnostics"]["shown"])
        for group, who in groups.items():
            files = from_files(daemon, group)
            have = {kind: len([name for name in found if name]) for kind, found in files.items()}
            assert have == counts, (group, have)
            fields = dict(who)
            check_grpc(channel, node(fields.pop("id"), fields.pop("cluster"), **fields), files)
            check_rest(client, who, files)


def edge_proxy():
    """one edge proxy with five services"""
    compare("edge-proxy", {"CDS": 5, "LDS": 1, "EDS": 5, "RDS": 1, "SDS": 1})


def regions():
    """forty services in three regions and two environments"""
    compare("regions", {"CDS": 40, "LDS": 1, "EDS": 40, "RDS": 1, "SDS": 0})


def sidecars():
    """two hundred sidecars"""
    compare("sidecars", {"CDS": 21, "LDS": 3, "EDS": 20, "RDS": 1, "SDS": 0})


def edits_of_regions():
    """regions: an edit changes what its README says, and nothing else"""
    groups = groups_of("regions")
    with start("regions") as daemon:
        daemon.until_ready()
        before = versions(daemon)
        replace("copy/_parts/port.yaml", "8080", "9090")
        edit(daemon, before, {(group, "EDS") for group in groups})
        for group in groups:
            for name in daemon.eds_files(group):
                [one] = daemon.file(group, "eds", name, "eds.json")["resources"]
                assert {at["endpoint"]["address"]["socket_address"]["port_value"]
                        for at in one["endpoints"][0]["lb_endpoints"]} == {9090}
        before = versions(daemon)
        replace("copy/env/prod/eu/endpoints/pay.yaml", "10.1.11.11", "10.9.9.9")
        edit(daemon, before, {("prod-eu", "EDS")})
        before = versions(daemon)
        replace("copy/_parts/payment.yaml", "payment.*", "pay.*")  # staging has its own host
        edit(daemon, before, {(group, "RDS") for group in groups})
        before = versions(daemon)
        replace("copy/common/routes/edge.yaml", "x-internal-user", "x-other")
        edit(daemon, before, {(group, "RDS") for group in groups})
        shutil.copytree("copy/env/prod/eu", "sa")
        os.rename("sa", "copy/env/prod/sa")
        daemon.until("the new region", lambda s: daemon.group("prod-sa", s)
                     and daemon.group("prod-sa", s)["serving"])
        daemon.until_idle()
        assert daemon.file_version("prod-sa") == daemon.file_version("prod-eu")


def edits_of_sidecars():
    """sidecars: a folder is one group; a port that two files need is typed once"""
    groups = groups_of("sidecars")
    with start("sidecars") as daemon:
        daemon.until_ready()
        before = versions(daemon)
        replace("copy/apps/stock-export/listeners/inbound.yaml", "8083", "9083")
        edit(daemon, before, {("stock-export", "LDS")})
        before = versions(daemon)
        replace("copy/apps/cart-api/_port.yaml", "8080", "9080")
        edit(daemon, before, {("cart-api", "LDS")} | {(group, "EDS") for group in groups})
        before = versions(daemon)
        replace("copy/_parts/service.yaml", "0.5s", "0.7s")
        edit(daemon, before, {(group, "CDS") for group in groups})
        before = versions(daemon)
        write("copy/apps/stock-api/clusters/cart.yaml",
              "{<<: !include ../../../_parts/service.yaml, name: cart-api, connect_timeout: 3s}\n")
        edit(daemon, before, {("stock-api", "CDS")})


def edits_of_edge_proxy():
    """edge-proxy: a sixth service is a line, an entry and a file"""
    with start("edge-proxy") as daemon:
        daemon.until_ready()
        before = versions(daemon)
        with open("copy/clusters/services.yaml", "a", encoding="ascii") as file:
            file.write("- {<<: !include ../_parts/service.yaml, name: news}\n")
        edit(daemon, before, {("default", "CDS")})
        before = versions(daemon)
        write("copy/virtual-hosts/edge/news.yaml", "name: news\ndomains: [news.example.com]\n"
              "routes: [{match: {prefix: /}, route: {cluster: news}}]\n")
        edit(daemon, before, {("default", "RDS")})


if __name__ == "__main__":
    run([edge_proxy, regions, sidecars, edits_of_regions, edits_of_sidecars, edits_of_edge_proxy])
