#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gRPC over HTTP/2 as clients and wires see it: S.53 to S.61."""
import os
import signal
import struct
import time

from grpc import StatusCode

from daemon_lib import WAIT, fresh, run, simple_tree, write
from grpc_lib import (ADS, TYPES, Channel, Delta, DiscoveryRequest, GrpcDaemon, Sotw, node, path,
                      url)
from grpc_tree import change, put, serving, values
from h2_lib import (DATA, END_STREAM, HEADERS, H2, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS,
                    MAX_FRAME_SIZE, PING, call_headers, frame, message)

CONTENT = {kind: ["x"] for kind in TYPES}


def request(kind="CDS", names=(), **fields):
    return DiscoveryRequest(type_url=url(kind), resource_names=names, node=node(),
                            **fields).SerializeToString()


def methods():
    """S.53: every method of the table is there, over TCP and UNIX sockets"""
    with serving(CONTENT) as daemon:
        for unix in (False, True):
            with daemon.channel(unix) as channel:
                for kind in TYPES:
                    if kind != "VHDS":
                        with Sotw(channel, kind) as stream:
                            stream.ask(names=["x"])
                            stream.take(names=["x"])
                        assert channel.fetch(kind, ["x"]).names == ["x"]
                    with Delta(channel, kind) as stream:
                        stream.ask(subscribe=["x"])
                        stream.take(names=["x"])
                for form in (Sotw, Delta):
                    with form(channel) as stream:
                        stream.ask("CDS")
                        stream.take("CDS")


def unknown_methods():
    """S.53: any other path: grpc-status 12, trailers only, HTTP 200, and a word about it"""
    others = [path("VHDS", "Stream"), path("VHDS", "Fetch"), f"/{ADS}/FetchAggregatedResources",
              "/envoy.service.route.v3.ScopedRouteDiscoveryService/StreamScopedRoutes",
              "/envoy.service.endpoint.v3.LocalityEndpointDiscoveryService/DeltaLocalityEndpoints",
              "/envoy.api.v2.ClusterDiscoveryService/StreamClusters", path("CDS") + "/", "/", "/x",
              path("CDS").lower(), path("CDS")[:-1], "/" + "x" * 3000]
    with serving({"CDS": ["a"]}) as daemon, H2(daemon.grpc_tcp()) as peer:
        for name in others:
            stream = peer.open(name)
            answer = peer.until_ended(stream)
            assert answer.status == 12 and answer.headers[":status"] == "200", (name, answer.blocks)
            assert len(answer.blocks) == 1 and not answer.body, "not trailers-only"
            assert answer.headers["content-type"] == "application/grpc"
            assert answer.text, name
        stream = peer.open(path("CDS")[:-1])
        assert "StreamClusters" in peer.until_ended(stream).text, "no suggestion"


def headers_and_trailers():
    """S.54, S.55, S.60: 200, content-type, no compression, trailers end the stream; never DATA"""
    with serving({"CDS": ["a"]}) as daemon, H2(daemon.grpc_tcp()) as peer:
        stream = peer.open(path("CDS"), ("grpc-accept-encoding", "gzip,deflate,identity"),
                           ("grpc-encoding", "identity"))
        peer.data(stream, message(request()))
        answer = peer.until_messages(stream, 1)
        peer.data(stream, b"", end=True)
        peer.until_ended(stream)
        assert answer.headers[":status"] == "200"
        assert answer.headers["content-type"] in ("application/grpc", "application/grpc+proto")
        assert answer.headers.get("grpc-encoding", "identity") == "identity"
        assert [flag for flag, _ in answer.messages()] == [0]
        assert len(answer.blocks) == 2 and answer.status == 0
        kinds = [kind for kind, _, _ in answer.frames]
        assert kinds == [HEADERS, *[DATA] * (len(kinds) - 2), HEADERS], kinds
        ends = [flags & END_STREAM for _, flags, _ in answer.frames]
        assert ends == [0] * (len(ends) - 1) + [1], answer.frames


def content_types():
    """S.54: what is no gRPC call gets an HTTP status that says so, and the connection goes on"""
    with serving({"CDS": ["a"]}) as daemon, H2(daemon.grpc_tcp()) as peer:
        for headers, status in (
                ([(":method", "GET"), *call_headers(path())[1:]], "405"),
                ([h for h in call_headers(path()) if h[0] != "content-type"], "415"),
                ([("content-type", "application/json") if h[0] == "content-type" else h
                  for h in call_headers(path())], "415"),
                ([("content-type", "application/grpc-web") if h[0] == "content-type" else h
                  for h in call_headers(path())], "415")):
            stream = peer.open(None, headers=headers)
            assert peer.until_ended(stream).headers[":status"] == status
        for kind in ("application/grpc+proto", "application/grpc;charset=utf-8",
                     "Application/GRPC"):
            stream = peer.open(None, headers=[("content-type", kind) if h[0] == "content-type"
                                              else h for h in call_headers(path("CDS"))])
            peer.data(stream, message(request()), end=True)
            assert peer.until_ended(stream).status == 0


def never_compressed():
    """S.55: nothing is compressed, however large and whatever the client would take"""
    with serving({"CDS": [f"c{i:04}" for i in range(3000)]}) as daemon:
        with H2(daemon.grpc_tcp()) as peer:
            stream = peer.open(path("CDS"), ("grpc-accept-encoding", "gzip"))
            peer.data(stream, message(request()))
            answer = peer.until_messages(stream, 1)
            (flag, body), = answer.messages()
            assert flag == 0 and len(body) > 100000
            assert "grpc-encoding" not in answer.headers


def split_and_joined():
    """S.56: messages in pieces of every size, many in one frame, and empty frames between"""
    body = message(request())
    with serving({"CDS": ["a"]}) as daemon, H2(daemon.grpc_tcp()) as peer:
        for cut in range(1, len(body)):
            stream = peer.open(path("CDS"))
            peer.data(stream, body[:cut])
            peer.data(stream, b"")
            peer.data(stream, body[cut:], end=True)
            answer = peer.until_ended(stream)
            assert answer.status == 0 and len(answer.messages()) == 1, cut
        stream = peer.open(path("CDS"))
        for byte in body:
            peer.data(stream, bytes([byte]))
        peer.until_messages(stream, 1)
        # Padded frames; and three requests in one.
        stream = peer.open(path())
        three = b"".join(message(DiscoveryRequest(
            type_url=url(kind), node=node() if kind == "CDS" else None).SerializeToString())
            for kind in ("CDS", "LDS", "SRDS"))
        peer.send(frame(DATA, 8, stream, bytes([200]) + three + bytes(200)))
        answer = peer.until_messages(stream, 3)
        peer.data(stream, b"", end=True)
        assert peer.until_ended(stream).status == 0 and len(answer.messages()) == 3


def small_windows():
    """S.56: a large response goes through small windows, frames and buffers, piece by piece"""
    with serving({"CDS": [f"c{i:05}" for i in range(8000)]}) as daemon:
        with H2(daemon.grpc_tcp(), settings={MAX_FRAME_SIZE: 16384}, window=65535) as large:
            stream = large.open(path("CDS"))
            large.data(stream, message(request()))
            whole = large.until_messages(stream, 1).messages()[0][1]
        assert len(whole) > 500000
        with H2(daemon.grpc_tcp(), settings={INITIAL_WINDOW_SIZE: 1}, window=65535,
                receive_buffer=4096) as small:
            stream = small.open(path("CDS"))
            small.data(stream, message(request()))
            small.until("a byte", lambda: small.answers[stream].body)
            assert len(small.answers[stream].body) == 1
            small.give(stream, 999)
            small.until("a thousand", lambda: len(small.answers[stream].body) >= 1000)
            small.give(stream, (1 << 31) - 1 - 100000)
            body = small.until_messages(stream, 1).messages()[0][1]
            # Apart from the nonce at the end.
            assert body[:-64] == whole[:-64] and len(body) == len(whole)


def many_streams():
    """S.57: thousands of streams on one connection, each for one name, all served and updated"""
    names = [f"e{i:04}" for i in range(3000)]
    with serving({"EDS": names}) as daemon, H2(daemon.grpc_tcp()) as peer:
        peer.until("SETTINGS", lambda: peer.settings)
        assert peer.settings.get(MAX_CONCURRENT_STREAMS, 1 << 31) >= 5000
        streams = {}
        for name in names:
            streams[name] = peer.open(path("EDS"), first=message(request("EDS", [name])))
        for stream in streams.values():
            peer.until_messages(stream, 1)
        assert daemon.status()["grpc"]["streams"] == len(names)
        with change():
            for name in names[::10]:
                put("EDS", name, 2)
        for name in names[::10]:
            peer.until_messages(streams[name], 2)
        peer.barrier()
        assert all(len(peer.answers[streams[name]].messages()) == 1
                   for i, name in enumerate(names) if i % 10)


def pings():
    """S.58: any number of PINGs in a reasonable pace is answered, without a word of GOAWAY"""
    with serving({"CDS": ["a"]}) as daemon, H2(daemon.grpc_tcp()) as peer:
        for _ in range(2000):
            peer.barrier()
        assert not peer.goaways
        stream = peer.open(path("CDS"), first=message(request()))
        peer.until_messages(stream, 1)
        # Fifty at once, as a client that measures the round trip of much data may.
        peer.send(b"".join(frame(PING, 0, 0, struct.pack(">Q", i)) for i in range(50)))
        peer.until("the answers", lambda: len(peer.pongs) == 2050)
        assert not peer.goaways


def keepalive():
    """S.58: a silent peer is pinged; one that answers stays, one that does not is closed"""
    with serving({"CDS": ["a"]}, "--grpc-keepalive", "200ms", "--grpc-keepalive-timeout",
                 "500ms") as daemon:
        with H2(daemon.grpc_tcp()) as alive, H2(daemon.grpc_tcp()) as dead:
            dead.answers_pings = False
            for peer in (alive, dead):
                stream = peer.open(path("CDS"), first=message(request()))
                peer.until_messages(stream, 1)
            alive.until("three PINGs", lambda: len(alive.pings) >= 3)
            dead.until_closed()
            assert len(dead.pings) == 1
            alive.barrier()
            daemon.until_logged("event=client-unresponsive")


def graceful_stop():
    """S.59: a stop says GOAWAY in two steps, ends the streams with UNAVAILABLE and exits with 0"""
    with serving({"CDS": ["a"]}) as daemon, H2(daemon.grpc_tcp()) as peer:
        with daemon.channel() as channel:
            stream = peer.open(path("CDS"), first=message(request()))
            peer.until_messages(stream, 1)
            ads = Sotw(channel)
            ads.ask("CDS")
            ads.take("CDS")
            start = time.monotonic()
            daemon.signal(signal.SIGTERM)
            answer = peer.until_ended(stream)
            assert answer.status == 14 and answer.text, answer.blocks
            peer.until_closed()
            assert [last for last, _, _ in peer.goaways] == [(1 << 31) - 1, stream], peer.goaways
            assert all(code == 0 for _, code, _ in peer.goaways)
            ads.expect_end(StatusCode.UNAVAILABLE)
            assert daemon.process.wait(WAIT) == 0
            assert time.monotonic() - start < 8


CONFIG = """\
source: {path: tree}
grpc: {listen: ["%s", "unix:%s/stay"]}
admin: {listen: ["unix:%s/admin"]}
settle: {quiet: 1ms}
"""


def listener_change():
    """S.59: another listener is open before the old one is drained with GOAWAY; others stay"""
    here = os.getcwd()
    fresh("tree")
    simple_tree("tree")
    write("xdspub.yaml", CONFIG % ("127.0.0.1:0", here, here))
    daemon = GrpcDaemon(config="xdspub.yaml", listen=False)
    daemon.admin = f"unix:{here}/admin"
    with daemon:
        daemon.until_ready()
        first = daemon.grpc_tcp()
        with H2(first) as moved, Channel(f"unix:{here}/stay") as channel, Sotw(channel) as stays:
            stream = moved.open(path("CDS"), first=message(request()))
            moved.until_messages(stream, 1)
            stays.ask("CDS")
            stays.take("CDS")
            write("xdspub.yaml", CONFIG % ("127.0.0.1:00", here, here))
            daemon.signal(signal.SIGHUP)
            moved.until("GOAWAY", lambda: moved.goaways)
            assert moved.goaways[0][:2] == ((1 << 31) - 1, 0)
            second = daemon.grpc_tcp()
            assert second != first
            with H2(second) as other:
                there = other.open(path("CDS"), first=message(request()))
                other.until_messages(there, 1)
            assert moved.until_ended(stream).status == 14
            moved.until_closed()
            stays.expect_silence()


def half_close():
    """S.60: a client that says no more gets what is due and status 0, on every kind of stream"""
    with serving(CONTENT) as daemon, daemon.channel() as channel:
        for form in (Sotw, Delta):
            with form(channel):
                pass  # without a message
            with form(channel) as stream:
                stream.ask("CDS")
                stream.half_close()
                stream.expect("CDS", ["x"])
                stream.expect_end()


def large_responses():
    """S.61: a response above 4 MiB is sent, and the log warns once of what gRPC libraries take"""
    def padding(size):
        return {"metadata": {"filter_metadata": {"big": {"text": "x" * size}}}}

    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads, Delta(channel, "CDS") as other:
            ads.ask("CDS")
            ads.take("CDS")
            with change():  # with the rest of the message less than 4 MiB, but not much
                put("CDS", "a", 2, fields=padding((4 << 20) - 1000))
            whole = ads.take("CDS")
            assert values(whole) == {"a": 2}
            more = (4 << 20) - whole.raw.ByteSize() + (4 << 20) - 1000
            for value, size in ((3, more), (4, more + 1), (5, more + 2)):
                with change():
                    put("CDS", "a", value, fields=padding(size))
                whole = ads.take("CDS")
                assert values(whole) == {"a": value}
                bytes_sent = whole.raw.ByteSize()
                assert bytes_sent == (4 << 20) + value - 3
                assert bool(daemon.events("large-response")) == (bytes_sent > 4 << 20)
            other.ask()
            other.take(names=["a"])
            line, = daemon.events("large-response")
            assert f"bytes={(4 << 20) + 1} " in line and "type=CDS" in line, line
            assert "level=warning" in line and "group=edge" in line and "4 MiB" in line, line


def deadlines():
    """grpc-timeout: a call with a deadline ends with DEADLINE_EXCEEDED, not before"""
    with serving({"CDS": ["a"]}) as daemon, H2(daemon.grpc_tcp()) as peer:
        start = time.monotonic()
        stream = peer.open(path("CDS"), ("grpc-timeout", "300m"), first=message(request()))
        answer = peer.until_ended(stream)
        assert answer.status == 4 and len(answer.messages()) == 1
        assert time.monotonic() - start > 0.25


run([methods, unknown_methods, headers_and_trailers, content_types, never_compressed,
     split_and_joined, small_windows, many_streams, pings, keepalive, graceful_stop,
     listener_change, half_close, large_responses, deadlines])
