#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Resources with a time to live: S.82, S.83, S.105."""
import time

from daemon_lib import run
from grpc_lib import Delta, Sotw, node
from grpc_tree import change, put, see, serving, values, watch

TTL = 2.0


def ticking(content=(), ttl="2s"):
    """A daemon whose cluster a lives for a while; marker and b do not."""
    serve = serving({"CDS": ["b"], **dict(content)})

    class Ticking:
        def __enter__(self):
            daemon = serve.__enter__()
            put("CDS", "a", ttl=ttl)
            daemon.until("a cluster with a TTL", lambda s: daemon.rest_names() == ["a", "b"])
            daemon.until_idle()
            return daemon

        def __exit__(self, *error):
            return serve.__exit__(*error)
    return Ticking()


def whole_refreshes():
    """S.82: an SotW client gets the resource wrapped, and whole again in time, same version"""
    with ticking() as daemon, daemon.channel() as channel, Sotw(channel, "CDS") as cds:
        cds.ask()
        first = cds.take(names=["a", "b"])
        assert first.ttl("a") == TTL and "b" not in first.wrapped
        last = time.monotonic()
        for _ in range(3):
            again = cds.take(names=["a", "b"])
            now = time.monotonic()
            assert now - last < TTL, f"{now - last} s"
            last = now
            assert again.version == first.version and again.ttl("a") == TTL
            assert values(again) == {"a": 1, "b": 1}, "a heartbeat without a body"


def no_refresh_after_a_refusal():
    """S.82, S.85: what was refused is not said again for its TTL's sake"""
    with ticking() as daemon, daemon.channel() as channel:
        with Sotw(channel, "CDS") as refusing, Sotw(channel, "CDS") as witness:
            refusing.ask()
            refusing.expect(names=["a", "b"])
            refusing.nack()
            witness.ask()
            for _ in range(4):
                witness.take(names=["a", "b"])


def bare_for_others():
    """S.83: a client that does not say that it unwraps gets bare resources and no refreshes"""
    clients = {
        "bare": node(agent="gRPC Go"),
        "by feature": node(agent="gRPC Go", features=["xds.config.resource-in-sotw"]),
        "by the old feature": node(agent="x", features=["envoy.config.resource-in-sotw"]),
        "Envoy": node(agent="envoy")}
    with ticking() as daemon, daemon.channel() as channel:
        streams = {name: Sotw(channel, "CDS", node=client) for name, client in clients.items()}
        for name, stream in streams.items():
            stream.ask()
            response = stream.take(names=["a", "b"])
            assert set(response.wrapped) == (set() if name == "bare" else {"a"}), name
        bare = streams.pop("bare")
        for _ in range(2):
            for stream in streams.values():
                stream.take(names=["a", "b"])
        bare.finish()
        for stream in streams.values():
            stream.cancel()


def heartbeats():
    """S.105: a delta client gets name, version and TTL in time, until the TTL is taken away"""
    with ticking() as daemon, daemon.channel() as channel:
        with Delta(channel, "CDS") as cds, Sotw(channel) as witness:
            put("RTDS", "tick", ttl="1s")
            watch(witness)
            cds.ask()
            first = cds.take(names=["a", "b"])
            assert first.ttl("a") == TTL and first.ttl("b") is None
            last = time.monotonic()
            for _ in range(2):
                beat = cds.take(names=["a"])
                now = time.monotonic()
                assert now - last < TTL
                last = now
                assert beat.heartbeats == ["a"] and beat.ttl("a") == TTL
                assert beat.versions["a"] == first.versions["a"]
            with change() as number:
                put("CDS", "a", 2, ttl="2s")
            changed = cds.take(names=["a"])
            assert values(changed) == {"a": 2} and changed.versions["a"] != first.versions["a"]
            see(witness, number)
            assert cds.take(names=["a"]).heartbeats == ["a"]
            with change() as number:
                put("CDS", "a", 2)
            stopped = cds.take(names=["a"])
            assert stopped.ttl("a") is None and values(stopped) == {"a": 2}
            see(witness, number)
            witness.ask("RTDS", ["tick"])
            for _ in range(6):  # some three seconds of somebody else's refreshes
                witness.take("RTDS", ["tick"])


def on_demand():
    """S.105: virtual hosts get no heartbeats but come whole"""
    with serving({}) as daemon, daemon.channel() as channel:
        with Delta(channel, "VHDS") as vhds, Sotw(channel) as witness:
            watch(witness)
            with change() as number:
                put("VHDS", "r/v", ttl="1s")
            see(witness, number)
            vhds.ask(subscribe=["r/v"])
            for _ in range(3):
                response = vhds.take(names=["r/v"])
                assert values(response) == {"r/v": 1} and response.ttl("r/v") == 1.0


def refreshes_do_not_wait():
    """S.105, S.110: refreshes go on while a push of another type is unanswered"""
    with ticking({"LDS": ["l"]}) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        ads.ask("CDS")
        ads.take("CDS", ["a", "b"])
        ads.ask("LDS")
        ads.expect("LDS", ["l"])  # and no answer
        for _ in range(2):
            assert ads.take("CDS", ["a"]).heartbeats == ["a"]


run([whole_refreshes, no_refresh_after_a_refusal, bare_for_others, heartbeats, on_demand,
     refreshes_do_not_wait])
