# SPDX-License-Identifier: GPL-2.0-or-later
"""gRPC as the operator sees it: status, log lines, groups that change, listeners that change."""
import json
import os
import signal
import socket

import grpc

from daemon_lib import XDSPUB, cluster, fresh, run, simple_tree, wait_for, write, xdspub
from grpc_lib import Channel, Delta, DiscoveryRequest, GrpcDaemon, Sotw, node, path

# Sanitizers keep what was freed for a while.
BOUND = (20 << 20) * (20 if b"__asan_init" in open(XDSPUB, "rb").read() else 1)
TWO_GROUPS = ("groups:\n"
              "- {name: edge, match: {cluster: edge}, layers: [.], allow_empty: true}\n"
              "- {name: mesh, match: {cluster: mesh}, layers: [., only-mesh], allow_empty: true}\n")


def two_groups():
    fresh("tree", "out", "state")
    simple_tree("tree")
    write("tree/groups.yaml", TWO_GROUPS)
    write("tree/only-mesh/clusters/m.yaml", cluster("m"))


def client(status, transport, identifier=None):
    found = [c for c in status["clients"]
             if c["transport"] == transport and identifier in (None, c["node"])]
    assert len(found) == 1, (transport, status["clients"])
    return found[0]


def clients():
    """status: what each client asked for, was sent, acknowledged and refused, since when"""
    two_groups()
    write("tree/secrets/s.yaml", "name: s\ngeneric_secret: {secret: {inline_string: hunter2}}\n")
    with GrpcDaemon() as daemon, daemon.channel() as channel, \
            daemon.channel(unix=False) as other:
        with Sotw(channel, node=node("n1", "edge")) as ads, \
                Delta(other, "EDS", node=node("n2", "mesh")) as eds:
            ads.ask("CDS")
            first = ads.take("CDS", ["a", "b"])
            ads.ask("EDS", ["a", "b"])
            ads.take("EDS", ["a", "b"])
            ads.ask("SDS", ["s"])
            secret = ads.take("SDS", ["s"])
            ads.barrier()
            eds.ask(subscribe=[f"name-{i}" for i in range(7)] + ["a"])
            endpoints = eds.expect()
            status = daemon.status()
            one, two = client(status, "grpc sotw ads"), client(status, "grpc delta eds")
            assert (one["node"], one["cluster"], one["group"], one["address"]) == \
                ("n1", "edge", "edge", "unix"), one
            assert (two["node"], two["group"]) == ("n2", "mesh"), two
            assert two["address"].startswith("127.0.0.1:") and two["since"].endswith("Z"), two
            cds = one["types"]["CDS"]
            assert (cds["subscribed"], cds["sent"], cds["acknowledged"], cds["is_outstanding"]) == \
                ("*", first.version, first.version, False), cds
            assert cds["sent_at"] <= cds["acknowledged_at"], cds
            assert one["types"]["EDS"]["subscribed"] == 2
            assert sorted(one["types"]["EDS"]["names"]) == ["a", "b"]
            lane = two["types"]["EDS"]
            assert lane["subscribed"] == 8 and len(lane["names"]) == 5, lane
            assert lane["sent"] == endpoints.version and lane["is_outstanding"], lane
            assert "acknowledged" not in lane and "acknowledged_at" not in lane, lane
            people = xdspub("status", "--clients", "--admin", daemon.admin).stdout
            assert "node n1 of cluster edge at unix: group edge, grpc sotw ads, since" in people
            assert f"CDS   all, has {first.version}\n" in people, people
            assert "SDS   1 name\n" in people and secret.version not in people, people
            assert f"EDS   8 names, was sent {endpoints.version} and has not answered" in people
            assert "node n1" not in xdspub("status", "--admin", daemon.admin).stdout
            # Nothing that a secret could be guessed from.
            text = json.dumps(status)
            assert secret.version not in text and "hunter2" not in text
            assert one["types"]["SDS"]["subscribed"] == 1
            counters = status["grpc"]
            assert counters["streams"] == 2 and counters["nodes"] == 2, counters
            assert counters["nacks"] == 0 and counters["connections"] == 2, counters
            # One version on every transport (S.81).
            group = daemon.group("edge", status)["types"]["CDS"]
            assert group["grpc"] == group["rest"] == group["files"] == first.version, group
            assert first.version == daemon.rest_version("edge", "cds")
            eds.ack()
        daemon.until("streams gone", lambda s: s["grpc"]["streams"] == 0 and not s["clients"])
        assert daemon.status()["grpc"]["nodes"] == 0


def rejection():
    """S.85: a NACK is logged once with the file it is about; status shows it until it is over"""
    two_groups()
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        with Sotw(channel, node=node("n1", "edge")) as ads, \
                Sotw(channel, node=node("n2", "edge")) as again:
            for stream in (ads, again):
                stream.ask("CDS")
                good = stream.take("CDS")
                stream.barrier()
            write("tree/clusters/b.yaml", "# a comment\n\n" + cluster("b", "7s"))
            for stream in (ads, again):
                bad = stream.expect("CDS")
                stream.nack("CDS", "Error adding/updating cluster(s) b: \x1b[31mno good")
                stream.barrier()
            lines = daemon.events("rejected")
            assert len(lines) == 1, lines
            for part in ("level=warning", "transport=grpc", "node=n1", "cluster=edge",
                         "group=edge", "type=CDS", f"version={bad.version}",
                         f"acknowledged={good.version}", "name=b", "source=clusters/b.yaml:3",
                         "code=13", "no good"):
                assert part in lines[0], (part, lines)
            assert "\x1b" not in daemon.log()
            entry = client(daemon.status(), "grpc sotw ads", "n2")["types"]["CDS"]
            assert entry["is_rejected"] and entry["rejected"] == bad.version, entry
            assert entry["acknowledged"] == good.version, entry
            nack = entry["last_nack"]
            assert nack["code"] == 13 and "no good" in nack["text"], nack
            assert nack["resources"] == [{"name": "b", "source": "clusters/b.yaml:3"}], nack
            people = xdspub("status", "--admin", daemon.admin).stdout
            assert "node n2 of cluster edge" in people and "grpc sotw ads" in people, people
            assert f"rejected CDS {bad.version}" in people, people
            assert "b is in clusters/b.yaml:3" in people and "\x1b" not in people, people
            # It is over when something is accepted.
            write("tree/clusters/b.yaml", cluster("b", "8s"))
            for stream in (ads, again):
                stream.take("CDS")
                stream.barrier()
            entry = client(daemon.status(), "grpc sotw ads", "n1")["types"]["CDS"]
            assert "is_rejected" not in entry and "rejected" not in entry, entry
            assert entry["last_nack"]["code"] == 13, entry
            assert "rejected CDS" not in xdspub("status", "--admin", daemon.admin).stdout
            assert daemon.status()["grpc"]["nacks"] == 2


def blame_without_name():
    """a NACK whose text names nothing is about the only resource that the client has"""
    two_groups()
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        with Delta(channel, "EDS", node=node("n1", "edge")) as eds:
            eds.ask(subscribe=["a"])
            eds.expect(names=["a"])
            eds.nack(text="malformed endpoint address")
            line = wait_for("the line", lambda: daemon.events("rejected"))[0]
            assert "name=a source=endpoints/a.yaml:1" in line, line


def coming_and_going():
    """log: a few lines for clients that come and go, then sums; a node is one client"""
    two_groups()
    with GrpcDaemon("tree", "--grpc-threads", "1") as daemon, daemon.channel() as channel:
        streams = []
        for i in range(30):
            for _ in range(2):
                stream = Sotw(channel, node=node(f"n{i}", "edge"))
                stream.ask("CDS")
                stream.take("CDS")
                stream.barrier()
                streams.append(stream)
        lines = daemon.events("client-joined")
        assert len(lines) == 5, lines
        assert "level=info" in lines[0] and "node=n0" in lines[0] and "group=edge" in lines[0]
        assert len({line.split("node=")[1].split()[0] for line in lines}) == 5, lines
        for stream in streams:
            stream.finish()
        daemon.until("gone", lambda s: s["grpc"]["streams"] == 0)
        assert len(daemon.events("client-left")) == 5
    # What was left out is summed up when the loop ends.
    assert "event=client-joined transport=grpc more=25" in daemon.log(), daemon.log()
    assert "event=client-left transport=grpc more=25" in daemon.log(), daemon.log()


def unmatched():
    """S.62, design: a node without a group is refused with a reason, logged and remembered"""
    two_groups()
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        for identifier in ("x", "x", "y"):
            stream = Sotw(channel, node=node(identifier, "nowhere"))
            stream.ask("CDS")
            text = stream.expect_end(grpc.StatusCode.PERMISSION_DENIED)
            assert identifier in text and "nowhere" in text and "groups.yaml" in text, text
        status = daemon.status()
        entries = {entry["node"]: entry for entry in status["unmatched"]}
        assert set(entries) == {"x", "y"}, entries
        assert entries["x"]["requests"] == 2 and entries["x"]["transport"] == "grpc", entries
        assert status["grpc"]["unmatched_requests"] == 3
        lines = daemon.events("no-group")
        assert len(lines) == 2 and "node=x cluster=nowhere" in lines[0], lines
        people = xdspub("status", "--admin", daemon.admin).stdout
        assert "node x of cluster nowhere at unix belongs to no group" in people, people
        # Without a node at all.
        code, text, _ = channel.unary(path("CDS", "Fetch"), DiscoveryRequest())
        assert code == grpc.StatusCode.INVALID_ARGUMENT and "node: {id" in text, (code, text)


def unknown_type():
    """S.127: a type that nobody knows is logged once per stream and answered by silence"""
    two_groups()
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            for _ in range(3):
                ads.ask("CDS", type_url="type.googleapis.com/a.b.C\x1b")
            ads.barrier()
            ads.ask("CDS")
            ads.take("CDS")
            lines = daemon.events("unknown-type")
            assert len(lines) == 1 and "a.b.C" in lines[0] and "node=node-1" in lines[0], lines
        assert daemon.status()["grpc"]["unknown_types"] == 3


def moving():
    """groups.yaml changes: a stream goes on with its new group's resources, or ends with the reason"""
    two_groups()
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        sotw = Sotw(channel, node=node("n1", "edge"))
        delta = Delta(channel, node=node("n2", "edge"))
        stays = Sotw(channel, node=node("n3", "mesh"))
        sotw.ask("CDS")
        sotw.take("CDS", ["a", "b"])
        delta.ask("CDS")
        delta.take("CDS", ["a", "b"])
        stays.ask("CDS")
        stays.take("CDS", ["a", "b", "m"])
        write("tree/groups.yaml", TWO_GROUPS.replace("cluster: mesh", "cluster: {contains: e}")
              .replace("cluster: edge", "cluster: nobody"))
        sotw.take("CDS", ["a", "b", "m"])
        delta.take("CDS", ["m"])
        sotw.barrier()
        status = daemon.status()
        assert {c["group"] for c in status["clients"]} == {"mesh"}, status["clients"]
        lines = daemon.events("client-moved")
        assert len(lines) == 2 and "from=edge group=mesh" in lines[0], lines
        stays.expect_silence()
        write("tree/groups.yaml", TWO_GROUPS)  # back
        sotw.take("CDS", ["a", "b"])
        write("tree/groups.yaml", TWO_GROUPS.replace("cluster: edge", "cluster: nobody"))
        for stream, name in ((sotw, "n1"), (delta, "n2")):
            while True:  # what was on its way before
                try:
                    text = stream.expect_end(grpc.StatusCode.PERMISSION_DENIED)
                    break
                except AssertionError as error:
                    assert "unexpected" in str(error), error
            assert "groups.yaml has changed" in text and name in text, text
        stays.expect_silence()
        stays.finish()
        assert daemon.status()["grpc"]["unmatched_requests"] == 2


def first_snapshot():
    """streams of a group without a snapshot stay open and get the first one; Fetch says UNAVAILABLE"""
    two_groups()
    write("tree/only-mesh/clusters/m.yaml", "name: m\nno_such: 1\n")
    with GrpcDaemon(state=None) as daemon:
        daemon.until("edge serves", lambda s: (daemon.group("edge", s) or {}).get("serving"))
        channel = Channel(daemon.grpc_unix)
        ads = Sotw(channel, node=node("n1", "mesh"))
        delta = Delta(channel, node=node("n2", "mesh"))
        for stream in (ads, delta):
            stream.ask("CDS")
        daemon.until("both asked", lambda s: s["grpc"]["requests"] == 2)
        code, text = channel.fetch("CDS", node=node("n3", "mesh"))
        assert code == grpc.StatusCode.UNAVAILABLE and "mesh" in text, (code, text)
        assert channel.fetch("CDS", node=node("n3", "edge")).names == ["a", "b"]
        write("tree/only-mesh/clusters/m.yaml", cluster("m"))
        for stream in (ads, delta):
            stream.take("CDS", ["a", "b", "m"])
            stream.finish()
        channel.close()


def flood():
    """a client that floods requests and refusals costs bounded memory and log, and delays nobody"""
    two_groups()
    for i in range(200):
        write(f"tree/clusters/c{i}.yaml", cluster(f"c{i}"))
    with GrpcDaemon("tree", "--grpc-threads", "1") as daemon, daemon.channel() as channel:
        names = [f"c{i}" for i in range(200)]
        with Sotw(channel, node=node("n1", "edge")) as victim:
            victim.ask("CDS")
            victim.take("CDS")
            greedy = Sotw(Channel(daemon.grpc_unix), node=node("n2", "edge"))
            before = resident(daemon)
            for i in range(4000):
                greedy.ask("EDS", names[i % 100:])
                greedy.ask("EDS", error_detail={"code": 13, "message": "no"}, response_nonce="1")
            victim.ask("EDS", ["a"])
            victim.take("EDS", ["a"])
            daemon.until("all read", lambda s: s["grpc"]["requests"] >= 8000)
            grown = resident(daemon) - before
            assert grown < BOUND, f"{grown} bytes more"
            assert len(daemon.events("rejected")) <= 6
            greedy.cancel()


def resident(daemon):
    with open(f"/proc/{daemon.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def config(addresses, extra=""):
    write("xdspub.yaml", "source: {path: tree}\nsettle: {quiet: 20ms}\n"
          f"admin: {{listen: unix:{os.getcwd()}/admin}}\n"
          f"grpc: {{listen: {json.dumps(addresses)}}}\n{extra}")


def listeners():
    """SIGHUP: a new address opens before an old one drains with GOAWAY; others keep their clients"""
    two_groups()
    base = os.getcwd()
    first, second = f"unix:{base}/g1", f"unix:{base}/g2"
    config([first, second])
    with GrpcDaemon(config="xdspub.yaml", listen=False, rest=False) as daemon:
        daemon.admin = f"unix:{base}/admin"
        daemon.until_ready()

        def reloaded(times):
            wait_for("the reload", lambda: len(daemon.events("reload")) == times)

        leaving = Sotw(Channel(first), node=node("n1", "edge"))
        staying = Sotw(Channel(second), node=node("n2", "edge"))
        for stream in (leaving, staying):
            stream.ask("CDS")
            stream.take("CDS")
        third = f"unix:{base}/g3"
        config([second, third])
        daemon.signal(signal.SIGHUP)
        reloaded(1)
        assert daemon.status()["listeners"]["grpc"] == [second, third]
        assert [x["address"] for x in daemon.status()["grpc"]["listeners"]] == [second, third]
        with Sotw(Channel(third), node=node("n3", "edge")) as fresh_one:
            fresh_one.ask("CDS")
            fresh_one.take("CDS", ["a", "b"])
        leaving.expect_end(grpc.StatusCode.UNAVAILABLE)
        staying.expect_silence()
        assert not os.path.exists("g1")

        # One that cannot be opened changes nothing; neither does one that only a restart applies.
        taken = socket.create_server(("127.0.0.1", 0))
        config([third, f"127.0.0.1:{taken.getsockname()[1]}"])
        daemon.signal(signal.SIGHUP)
        reloaded(2)
        assert "result=refused" in daemon.events("reload")[-1]
        assert daemon.events("listen-failed")
        config([second, third], "limits: {grpc_message: 1MiB}\n")
        daemon.signal(signal.SIGHUP)
        reloaded(3)
        assert "restart needed" in daemon.events("reload-refused")[-1]
        assert [x["address"] for x in daemon.status()["grpc"]["listeners"]] == [second, third]
        staying.expect_silence()
        staying.finish()

        # Off and on again; not off when nothing else is left to do.
        rest = f"rest: {{listen: unix:{base}/r}}\n"
        config([], rest)
        daemon.signal(signal.SIGHUP)
        reloaded(4)
        assert daemon.status()["grpc"]["listeners"] == [], daemon.log()
        wait_for("the sockets are gone", lambda: not os.path.exists("g2"))
        config([second], rest)
        daemon.signal(signal.SIGHUP)
        reloaded(5)
        with Sotw(Channel(second), node=node("n4", "edge")) as again:
            again.ask("CDS")
            again.take("CDS", ["a", "b"])
        config([])
        daemon.signal(signal.SIGHUP)
        reloaded(6)
        assert "nothing to do" in daemon.events("reload-refused")[-1]


def stop():
    """SIGTERM: every stream ends with UNAVAILABLE and a reason, and the daemon with 0"""
    two_groups()
    with GrpcDaemon() as daemon:
        with daemon.channel() as channel:
            ads = Sotw(channel, node=node("n1", "edge"))
            ads.ask("CDS")
            ads.take("CDS")
            daemon.stop()
            assert "stopping" in ads.expect_end(grpc.StatusCode.UNAVAILABLE)


run([clients, rejection, blame_without_name, coming_and_going, unmatched, unknown_type, moving,
     first_snapshot, flood, listeners, stop])
