#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is served, and what: nodes, groups and types of first messages: S.62, S.63, S.84, S.78."""
from grpc import StatusCode

from daemon_lib import fresh, run, simple_tree, write
from grpc_lib import (Channel, Delta, DiscoveryRequest, GrpcDaemon, Sotw,
                      node, url)
from grpc_tree import fill, put, serving

GROUPS = """\
groups:
- {name: edge, match: {cluster: {prefix: edge}}, layers: [common, edge], allow_empty: true}
- {name: mesh, match: {metadata: {team: mesh}}, layers: [common, mesh], allow_empty: true}
"""


def grouped(groups=GROUPS):
    """A daemon with the groups edge and mesh; everyone else is nobody."""
    fresh("tree", "out", "state")
    write("tree/groups.yaml", groups)
    put("CDS", "everywhere", ttl="3600s", layer="tree/common")
    fill({"LDS": ["l"]}, "tree/common")
    fill({"CDS": ["for-edge"]}, "tree/edge")
    fill({"CDS": ["for-mesh"]}, "tree/mesh")
    return GrpcDaemon("tree", publish=None, state=None, settle="1ms")


def without_a_node():
    """S.62: without a node INVALID_ARGUMENT, unless one group serves everyone; later none is needed"""
    with grouped() as daemon, daemon.channel() as channel:
        for form in (Sotw, Delta):
            with form(channel, node=None) as stream:
                stream.ask("CDS")
                stream.expect_end(StatusCode.INVALID_ARGUMENT, "node")
            with form(channel) as stream:
                stream.ask("CDS")
                stream.take("CDS", ["everywhere", "for-edge"])
                stream.ask("LDS")  # no node in it
                stream.take("LDS", ["l"])
    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel:
        for form in (Sotw, Delta):
            with form(channel, node=None) as stream:
                stream.ask("CDS")
                stream.take("CDS", ["a"])


def another_node_later():
    """S.62, S.84: a later node is not looked at, neither its group nor its features"""
    later = node("other", "nowhere", metadata={"team": "mesh"},
                 features=["xds.config.resource-in-sotw"])
    with grouped() as daemon, daemon.channel() as channel:
        with Sotw(channel, node=node("n", "edge-1", agent="x")) as ads:
            ads.ask("CDS", node=later)  # replaces the first: this is what the stream begins with
            response = ads.take("CDS", ["everywhere", "for-mesh"])
            assert set(response.wrapped) == {"everywhere"}
        with Sotw(channel, node=node("n", "edge-1", agent="x")) as ads:
            ads.ask("CDS")
            assert not ads.take("CDS", ["everywhere", "for-edge"]).wrapped
            ads.ask("CDS", ["*", "x"], node=later)
            assert not ads.take("CDS", ["everywhere", "for-edge"]).wrapped


def nobodys_node():
    """a node that no group matches: PERMISSION_DENIED that names it, and never another's resources"""
    stranger = node("strange-1", "nowhere")
    with grouped() as daemon, daemon.channel() as channel:
        for form in (Sotw, Delta):
            for kind in (None, "CDS"):
                with form(channel, kind, node=stranger) as stream:
                    stream.ask("CDS")
                    text = stream.expect_end(StatusCode.PERMISSION_DENIED, "strange-1")
                    assert "nowhere" in text
        code, text = channel.fetch("CDS", node=stranger)
        assert code == StatusCode.PERMISSION_DENIED and "strange-1" in text
        status = daemon.until("unmatched", lambda s: [
            entry for entry in s["unmatched"] if entry["node"] == "strange-1"])
        assert status


def own_group():
    """each node gets its own group, over streams, Fetch, TCP and UNIX sockets alike"""
    nodes = {"for-edge": node("n", "edge-1"),
             "for-mesh": node("m", "x", metadata={"team": "mesh"})}
    with grouped() as daemon:
        for unix in (False, True):
            with daemon.channel(unix) as channel:
                for name, who in nodes.items():
                    for form in (Sotw, Delta):
                        with form(channel, "CDS", node=who) as stream:
                            stream.ask()
                            stream.take(names=["everywhere", name])
                    assert sorted(channel.fetch("CDS", node=who).names) == ["everywhere", name]


def selector_changes():
    """a change of groups.yaml moves streams to their new group, and ends those that have none"""
    for form in (Sotw, Delta):
        with grouped() as daemon, daemon.channel() as channel:
            moved = form(channel, node=node("n", "edge-1"))
            stays = form(channel, node=node("m", "x", metadata={"team": "mesh"}))
            lost = form(channel, node=node("o", "edge-lost"))
            for stream in (moved, stays, lost):
                stream.ask("CDS")
                stream.take("CDS")
            write("tree/groups.yaml", GROUPS.replace("prefix: edge", "exact: nobody").replace(
                "- {name: mesh, match: {metadata: {team: mesh}}",
                "- {name: mesh, match: [{metadata: {team: mesh}}, {cluster: edge-1}]"))
            text = lost.expect_end(StatusCode.PERMISSION_DENIED, "edge-lost")
            assert text
            response = moved.take("CDS")
            assert "for-mesh" in response.names
            if form is Sotw:
                assert sorted(response.names) == ["everywhere", "for-mesh"]
            else:
                removed = response.removed or moved.take("CDS", []).removed
                assert removed == ["for-edge"]
            for stream in (moved, stays):
                stream.expect_silence()
                stream.finish()


def types_of_first_messages():
    """S.63, S.78: ADS needs a type_url; a service of one type does not, and takes no other"""
    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel:
        for form in (Sotw, Delta):
            with form(channel) as ads:
                ads.ask("CDS", type_url="")
                ads.expect_end(StatusCode.INVALID_ARGUMENT, "type_url")
            with form(channel, "CDS") as cds:
                cds.ask(type_url="")
                cds.take(names=["a"])
            with form(channel, "CDS") as cds:
                cds.ask(type_url=url("EDS"))
                cds.expect_end(StatusCode.INVALID_ARGUMENT, "ClusterLoadAssignment")
        assert channel.fetch("CDS", type_url="").names == ["a"]
        code, _ = channel.fetch("CDS", type_url=url("EDS"))
        assert code == StatusCode.INVALID_ARGUMENT


def requests_that_are_none():
    """a message that is no request ends its stream with INVALID_ARGUMENT and a reason"""
    good = DiscoveryRequest(type_url=url("CDS"), node=node())
    bad = [b"\xff", b"\x0a\x7f", good.SerializeToString()[:-1],
           good.SerializeToString() + b"\x2a\x02\xff\xfe",
           b"\x2a\x03a\x00b" + good.SerializeToString()]
    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel:
        for body in bad:
            for form in (Sotw, Delta):
                with form(channel) as ads:
                    ads.send(body)
                    ads.expect_end(StatusCode.INVALID_ARGUMENT)
                    assert ads.text, body
        for names, limit in (([f"n{i}" for i in range(100001)], "100000"), (["n" * 1025], "1024")):
            with Delta(channel) as ads:
                ads.ask("EDS", names)
                ads.expect_end(StatusCode.RESOURCE_EXHAUSTED, limit)
            with Sotw(channel) as ads:
                ads.ask("EDS", names)
                ads.expect_end(StatusCode.RESOURCE_EXHAUSTED, limit)
        with Sotw(channel) as ads:
            ads.ask("CDS")
            ads.take("CDS", ["a"])


def before_the_first_snapshot():
    """nothing compiled yet: UNAVAILABLE with a reason, never a guess; then it is served"""
    fresh("tree", "out", "state")
    with GrpcDaemon("tree", publish=None, state=None, settle="1ms") as daemon:
        daemon.until("no tree", lambda s: s["source"]["error"])
        with Channel(daemon.grpc_unix) as channel:
            for form in (Sotw, Delta):
                with form(channel) as ads:
                    ads.ask("CDS")
                    ads.expect_end(StatusCode.UNAVAILABLE)
                    assert ads.text
            simple_tree("tree")
            daemon.until_ready()
            with Sotw(channel) as ads:
                ads.ask("CDS")
                ads.take("CDS", ["a", "b"])


run([without_a_node, another_node_later, nobodys_node, own_group, selector_changes,
     types_of_first_messages, requests_that_are_none, before_the_first_snapshot])
