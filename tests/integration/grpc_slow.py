#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Slow, silent and numerous peers on the gRPC port: they cost little memory and nobody's time."""
import os
import time

from daemon_lib import run, wait_for
from grpc_lib import DiscoveryResponse, Sotw, path
from grpc_tree import change, drop, put, serving, values
from grpc_victim import GOOD, MIB, PROMPT, request, victim
from h2_lib import (DATA, END_STREAM, ENHANCE_YOUR_CALM, H2, INITIAL_WINDOW_SIZE,
                    MAX_CONCURRENT_STREAMS, PREFACE, PROTOCOL_ERROR, SETTINGS, frame, message)

BIG = {"metadata": {"filter_metadata": {"big": {"text": "x" * 100000}}}}


def put_big(value):
    """Ten clusters of 100 KB."""
    for i in range(10):
        put("CDS", f"big{i}", value, fields=BIG)


def versions_seen(peer, stream):
    return [DiscoveryResponse.FromString(body).version_info
            for _, body in peer.answers[stream].messages()]


def slow_readers():
    """S.115: fifty clients that take nothing, by window or by socket, while a megabyte changes"""
    with victim(content={"CDS": ["a"], "EDS": ["a"]}) as attacked:
        daemon = attacked.daemon
        with change():
            put_big(1)
        attacked.ads.take("CDS")
        attacked.before = attacked.memory()
        silent = []
        for i in range(50):
            by_window = i % 2
            peer = attacked.peer(settings={INITIAL_WINDOW_SIZE: 0} if by_window else None,
                                 receive_buffer=None if by_window else 4096)
            peer.gives_back = False
            silent.append((peer, peer.open(path("CDS"), first=GOOD), by_window))
        daemon.until("fifty streams", lambda s: s["grpc"]["streams"] == 51)
        attacked.serves()
        for value in range(2, 22):
            start = time.monotonic()
            with change():
                put_big(value)
            assert set(values(attacked.ads.take("CDS")).values()) == {1, value}
            assert time.monotonic() - start < PROMPT
        newest = daemon.rest_version()
        # The snapshots between are gone: at most what each had begun to take is kept, and half a
        # megabyte beside the socket for who does not read.
        attacked.stays_below(40 * MIB)
        # Those who wake up have lost nothing: the response that was begun, then the newest.
        for peer, stream, by_window in silent[:4]:
            peer.gives_back = True
            if by_window:
                peer.give(stream, 1 << 30)
            peer.until_messages(stream, 1)
            first = DiscoveryResponse.FromString(peer.answers[stream].messages()[0][1])
            if first.version_info != newest:
                peer.data(stream, message(request(version_info=first.version_info,
                                                  response_nonce=first.nonce)))
                peer.until_messages(stream, 2)
            assert versions_seen(peer, stream)[-1] == newest
            assert len(versions_seen(peer, stream)) <= 2
        for peer, _, _ in silent:
            peer.close()
        attacked.is_rid_of_them()


def slow_streams_on_one_connection():
    """S.115: a stream without window does not hold up its neighbours on the same connection"""
    with victim(content={"CDS": [f"c{i:04}" for i in range(3000)], "EDS": ["a"]}) as attacked:
        with attacked.peer(settings={INITIAL_WINDOW_SIZE: 0}) as peer:
            slow = [peer.open(path("CDS"), first=GOOD) for _ in range(100)]
            for _ in range(20):
                stream = peer.open(path("EDS"), first=message(request("EDS", ["a"])))
                peer.give(stream, 100000)
                peer.until_messages(stream, 1)
            assert not any(peer.answers[stream].body for stream in slow)
            attacked.stays_below(32 * MIB)
            for stream in slow[:3]:
                peer.give(stream, 1 << 30)
                peer.until_messages(stream, 1)


def tiny_windows():
    """a client that gives its window byte by byte gets its response, and costs no more memory"""
    with victim(content={"CDS": [f"c{i:03}" for i in range(20)]}) as attacked:
        with attacked.peer(settings={INITIAL_WINDOW_SIZE: 0}) as peer:
            stream = peer.open(path("CDS"), first=GOOD)
            answer = peer.answers[stream]
            while not answer.messages():
                size = len(answer.body)
                peer.give(stream, 1)
                peer.until("a byte", lambda size=size: len(answer.body) > size)
            assert len(answer.body) > 1000


def idle_streams():
    """S.57: five thousand idle streams on one connection, most without a word: little memory"""
    with victim() as attacked, attacked.peer() as peer:
        streams = [peer.open(path("CDS")) for _ in range(5000)]
        peer.barrier()
        attacked.daemon.until("calls", lambda s: s["grpc"]["calls"] >= 5000)
        attacked.serves()
        attacked.stays_below(24 * MIB)
        for stream in streams[::100]:
            peer.data(stream, GOOD)
        for stream in streams[::100]:
            peer.until_messages(stream, 1)
        peer.send(b"".join(frame(DATA, END_STREAM, stream) for stream in streams))
        for stream in streams:
            assert peer.until_ended(stream).status == 0
        assert not peer.goaways


def too_many_streams():
    """streams beyond SETTINGS_MAX_CONCURRENT_STREAMS: all up to it are served, one more is an error"""
    with victim() as attacked, attacked.peer() as peer:
        peer.until("SETTINGS", lambda: MAX_CONCURRENT_STREAMS in peer.settings)
        streams = [peer.open(path("CDS")) for _ in range(peer.settings[MAX_CONCURRENT_STREAMS])]
        for stream in (streams[0], streams[-1]):
            peer.data(stream, GOOD)
            peer.until_messages(stream, 1)
        peer.open(path("CDS"))
        peer.until("GOAWAY", lambda: peer.goaways)
        assert peer.goaways[0][1] in (PROTOCOL_ERROR, ENHANCE_YOUR_CALM), peer.goaways
        peer.until_closed()
        attacked.is_rid_of_them()


def idle_connections():
    """a thousand connections that say nothing, and as many that greet and say no more"""
    with victim() as attacked:
        peers = [attacked.peer(greet=i % 2 == 0) for i in range(1000)]
        attacked.daemon.until("there", lambda s: s["grpc"]["connections"] == 1001)
        attacked.serves()
        attacked.stays_below(40 * MIB)
        for peer in peers:
            peer.close()
        attacked.is_rid_of_them()


def without_preface():
    """who sends no preface in time is closed, whoever sends it byte by byte is not"""
    with victim() as attacked:
        with attacked.peer(greet=False) as silent, attacked.peer(greet=False) as slow:
            for byte in PREFACE + frame(SETTINGS) + slow.opening(1, path("CDS")) + frame(
                    DATA, END_STREAM, 1, GOOD):
                slow.send(bytes([byte]))
            assert slow.until_ended(1).status == 0
            silent.until_closed()
        attacked.is_rid_of_them()


def connection_limit():
    """beyond the connections allowed others wait in the backlog until one leaves"""
    config = ("source: {path: tree}\ngrace: 1ms\nsettle: {quiet: 1ms}\n"
              "limits: {grpc_connections: 10}\n")
    with open("limits.yaml", "w") as file:
        file.write(config)
    with serving({"CDS": ["a"]}, "--config", os.path.abspath("limits.yaml")) as daemon:
        address = daemon.grpc_tcp()
        peers = [H2(address) for _ in range(10)]
        for peer in peers:
            peer.barrier()
        late = H2(address)
        stream = late.open(path("CDS"), first=GOOD)
        peers[0].barrier()
        assert daemon.status()["grpc"]["connections"] == 10
        assert not late.is_readable(0.1)
        peers.pop().close()
        late.until_messages(stream, 1)
        for peer in (*peers, late):
            peer.close()
        daemon.until("all closed", lambda s: s["grpc"]["connections"] == 0)


def half_messages():
    """many large requests that never end: bounded in all, a status for what is too much"""
    with victim() as attacked:
        peers, ended = [], 0
        body = message(b"", length=4 * MIB - 1) + bytes(4 * MIB - 100)
        for _ in range(12):
            peer = attacked.peer()
            peers.append(peer)
            for stream in (peer.open(path("CDS")) for _ in range(4)):
                for at in range(0, len(body), 16384):
                    peer.try_send(frame(DATA, 0, stream, body[at:at + 16384]))
                    if at % (16 * 16384) == 0:
                        peer.barrier()
            ended += sum(answer.status == 8 for answer in peer.answers.values())
        assert ended, "nobody was told that it is too much"
        attacked.serves()
        attacked.stays_below(12 * 10 * MIB)
        for peer in peers:
            peer.reset()
        attacked.is_rid_of_them()


def fan_out():
    """S.115: three hundred streams on as many connections follow a row of changes to the end"""
    with serving({"CDS": ["a", "b"], "EDS": ["a", "b"]}) as daemon, daemon.channel() as channel:
        address = daemon.grpc_tcp()
        peers = []
        for _ in range(300):
            peer = H2(address)
            peers.append((peer, peer.open(path("CDS"), first=GOOD)))
        for peer, stream in peers:
            peer.until_messages(stream, 1)
        with Sotw(channel) as ads:
            ads.ask("CDS")
            ads.take("CDS")
            for value in range(2, 12):
                with change():
                    put("CDS", "a", value)
                assert values(ads.take("CDS"))["a"] == value
            with change():
                drop("CDS", "b")
            ads.take("CDS", ["a"])
        newest = daemon.rest_version()
        for peer, stream in peers:
            answer = peer.answers[stream]
            while True:
                last = DiscoveryResponse.FromString(answer.messages()[-1][1])
                if last.version_info == newest:
                    break
                count = len(answer.messages())
                peer.data(stream, message(request(version_info=last.version_info,
                                                  response_nonce=last.nonce)))
                peer.until_messages(stream, count + 1)
            assert len(answer.messages()) <= 13
            peer.close()
        wait_for("nobody left", lambda: daemon.status()["grpc"]["connections"] <= 1)


run([slow_readers, slow_streams_on_one_connection, tiny_windows, idle_streams, too_many_streams,
     idle_connections, without_preface, connection_limit, half_messages, fan_out])
