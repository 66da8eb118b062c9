#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Peers with bad input and bad manners on the gRPC port. Each gets what it deserves; meanwhile and
afterwards good clients are served at once, memory stays bounded, and the log is short and clear."""
import contextlib
import random
import struct

from grpc import StatusCode

from daemon_lib import run
from grpc_lib import Delta, Sotw, node, path
from grpc_victim import GOOD, MIB, drain, flood, push, request, victim
from h2_lib import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM,
                    FLOW_CONTROL_ERROR, HEADERS, INITIAL_WINDOW_SIZE, INTERNAL_ERROR, PADDED,
                    PING, PREFACE, PRIORITY, PROTOCOL_ERROR, RST_STREAM, SETTINGS, WINDOW_UPDATE, call_headers,
                    frame, integer, literals, message)

CANCELLED = struct.pack(">I", 8)


def garbage():
    """garbage, TLS and HTTP/1 instead of a preface, and prefaces cut short: closed, nothing else"""
    rng = random.Random(5)
    greeting = PREFACE + frame(SETTINGS)
    block = literals(call_headers(path("CDS")))
    with victim() as attacked:
        for data in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"PRI * HTTP/1.1\r\n\r\nSM\r\n\r\n", b"\r\n" * 1000, b"\0" * 10000,
                     PREFACE + b"\xff" * 100, PREFACE + frame(PING, 0, 0, bytes(8)),
                     greeting + frame(DATA, 0, 1, b"x"), greeting + frame(HEADERS, 5, 2, block),
                     greeting + frame(HEADERS, 5, 1, b"\xff" * 50),
                     greeting + frame(SETTINGS, 0, 0, b"x"),
                     greeting + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 31)),
                     greeting + frame(SETTINGS, ACK, 0, bytes(6)),
                     greeting + frame(PING, 0, 1, bytes(8)),
                     greeting + frame(PING, 0, 0, bytes(7)), greeting + frame(5, 4, 1, block),
                     greeting + frame(CONTINUATION, 4, 1, b""),
                     greeting + frame(DATA, PADDED, 0, b"\xff"),
                     greeting + frame(HEADERS, 5, 1, block) + frame(RST_STREAM, 0, 3, bytes(4)),
                     greeting + b"\xff\xff\xff\0\0\0\0\0\1",
                     *(rng.randbytes(300) for _ in range(50)),
                     *(greeting + rng.randbytes(300) for _ in range(50)),
                     *(PREFACE[:cut] for cut in range(0, 24, 5))):
            with attacked.peer(greet=False) as peer:
                push(peer, data)
                with contextlib.suppress(OSError):
                    peer.socket.shutdown(1)
                drain(peer)
        attacked.is_rid_of_them()
        attacked.stays_below(8 * MIB)


def changed_bytes():
    """good conversations with some bytes changed: whatever follows, the daemon goes on"""
    rng = random.Random(9)
    with victim() as attacked:
        with attacked.peer(greet=False) as peer:
            good = (PREFACE + frame(SETTINGS, payload=struct.pack(">HI", 1, 0)) +
                    peer.opening(1, path("CDS")) + frame(DATA, 0, 1, GOOD) +
                    peer.opening(3, path()) + frame(DATA, 0, 3, GOOD) +
                    frame(PING, 0, 0, bytes(8)) + frame(DATA, END_STREAM, 1) +
                    frame(RST_STREAM, 0, 3, CANCELLED) + frame(PING, 0, 0, b"the last"))
        for _ in range(1000):
            changed = bytearray(good)
            for _ in range(rng.choice((1, 1, 2, 8))):
                changed[rng.randrange(len(PREFACE), len(changed))] = rng.choice(
                    (0, 1, 127, 128, 255, rng.randrange(256)))
            with attacked.peer(greet=False) as peer:
                push(peer, bytes(changed))
                with contextlib.suppress(OSError):
                    peer.socket.shutdown(1)
                while peer.fill():
                    pass
        attacked.is_rid_of_them()
        attacked.stays_below(8 * MIB)


def every_cut():
    """a whole call cut at every byte: sent in two parts, then left with FIN, then with RST"""
    with victim() as attacked:
        with attacked.peer(greet=False) as peer:
            whole = (PREFACE + frame(SETTINGS, payload=struct.pack(">HI", 1, 0)) +
                     frame(SETTINGS, ACK) + peer.opening(1, path("CDS")) +
                     frame(DATA, END_STREAM, 1, GOOD))
        for cut in range(1, len(whole)):
            with attacked.peer(greet=False) as peer:
                peer.answers_settings = False
                peer.send(whole[:cut])
                peer.send(whole[cut:])
                answer = peer.until_ended(1)
                assert answer.status == 0 and len(answer.messages()) == 1, cut
        for cut in range(1, len(whole), 2):
            for leave in ("reset", "close"):
                peer = attacked.peer(greet=False)
                peer.send(whole[:cut])
                getattr(peer, leave)()
        attacked.is_rid_of_them()
        attacked.stays_below(8 * MIB)


def resets_in_mid_message():
    """RST_STREAM at every byte of a request, and in the middle of a response"""
    content = {"CDS": [f"c{i:05}" for i in range(5000)]}
    with victim(content=content) as attacked:
        with attacked.peer() as peer, attacked.peer(settings={INITIAL_WINDOW_SIZE: 100}) as small:
            for cut in range(len(GOOD) + 1):
                stream = peer.open(path("CDS"), first=GOOD[:cut])
                peer.send(frame(RST_STREAM, 0, stream, CANCELLED))
            for _ in range(200):
                stream = small.open(path("CDS"), first=GOOD)
                small.until("a part", lambda stream=stream: small.answers[stream].body)
                small.send(frame(RST_STREAM, 0, stream, CANCELLED))
            peer.barrier()
            small.barrier()
            attacked.daemon.until("streams gone", lambda s: s["grpc"]["streams"] == 1)
            attacked.stays_below(16 * MIB)


def rapid_reset():
    """tens of thousands of streams opened and reset at once: told to calm down and thrown out"""
    with victim() as attacked:
        for first in (b"", GOOD):
            peer = attacked.peer()
            data = b"".join(
                peer.opening(stream, path("CDS")) +
                (frame(DATA, 0, stream, first) if first else b"") +
                frame(RST_STREAM, 0, stream, CANCELLED) for stream in range(1, 80000, 2))
            flood(attacked, peer, data)
            # Our bucket, or that of nghttp2, whichever is empty first.
            assert all(code in (ENHANCE_YOUR_CALM, INTERNAL_ERROR)
                       for _, code, _ in peer.goaways), peer.goaways
        attacked.is_rid_of_them()
        attacked.daemon.until_logged("event=client-misbehaved")


def floods():
    """PING, SETTINGS, PRIORITY, RST_STREAM, WINDOW_UPDATE, unknown and empty frames without end"""
    more = struct.pack(">I", 1)
    with victim() as attacked:
        for kind, flags, payload, has_stream in (
                (PING, 0, bytes(8), False), (PING, ACK, bytes(8), False),
                (SETTINGS, 0, b"", False), (SETTINGS, 0, struct.pack(">HI", 4, 65535), False),
                (PRIORITY, 0, bytes(5), True), (PRIORITY, 0, bytes(4) + b"\x10", True),
                (WINDOW_UPDATE, 0, more, False), (WINDOW_UPDATE, 0, more, True),
                (DATA, 0, b"", True), (RST_STREAM, 0, bytes(4), True)):
            peer = attacked.peer()
            stream = peer.open(path("CDS")) if has_stream else 0
            peer.barrier()
            flood(attacked, peer, frame(kind, flags, stream, payload) * 100000)
        # Cheap for us, no answer needed: only traffic. Padding is paid for with window.
        for kind, flags, payload in ((DATA, PADDED, b"\x03\0\0\0"), (0xfa, 0, b"x"),
                                     (HEADERS, END_HEADERS, b"")):
            peer = attacked.peer()
            stream = peer.open(path("CDS"))
            flood(attacked, peer, frame(kind, flags, stream, payload) * 10000, is_refused=False)
        attacked.is_rid_of_them()


def floods_without_reading():
    """PING, SETTINGS and calls by a peer that never reads what they cost"""
    with victim() as attacked:
        calls = attacked.peer()
        opened = b"".join(calls.opening(stream, "/none") for stream in range(1, 40000, 2))
        for data in (frame(PING, 0, 0, bytes(8)) * 200000, frame(SETTINGS) * 200000):
            flood(attacked, attacked.peer(), data, reads=False)
        flood(attacked, calls, opened, reads=False)
        attacked.is_rid_of_them()


def continuations():
    """a header block without end, of empty and of full CONTINUATIONs: the connection is closed"""
    full = literals([("x-" + "a" * 50, "b" * 100)]) * 90
    with victim() as attacked:
        for payload, count in ((b"", 100000), (full, 3000), (b"\x20", 100000)):
            peer = attacked.peer()
            flood(attacked, peer, frame(HEADERS, 0, 1, literals(call_headers(path("CDS")))) +
                  frame(CONTINUATION, 0, 1, payload) * count)
        attacked.is_rid_of_them()


def huge_headers():
    """huge and many headers: refused with a reason, or cut off; the others do not notice"""
    with victim() as attacked:
        for more in ([("x", "y" * 20000)], [(f"x{i}", "y") for i in range(400)],
                     [("x", "y" * 60000)], [("x" * 30000, "")]):
            with attacked.peer() as peer:
                block = literals(call_headers(path("CDS"), *more))
                pieces = [block[at:at + 16000] for at in range(0, len(block), 16000)]
                for i, piece in enumerate(pieces):
                    peer.try_send(frame(CONTINUATION if i else HEADERS,
                                        END_HEADERS if i == len(pieces) - 1 else 0, 1, piece))
                answer = peer.answers[1]
                peer.until("an end", lambda a=answer, p=peer: p.is_closed or a.is_ended)
                assert peer.is_closed or answer.reset is not None or answer.status == 8, (
                    answer.blocks)
        for block in (b"\0\x7f" + b"\xff" * 10000, b"\0\x7f\xff\xff\xff\xff\x07",
                      b"\x3f" + integer(1 << 40, 5)[1:], b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"):
            with attacked.peer() as peer:  # numbers and strings of HPACK without end
                peer.try_send(frame(HEADERS, END_HEADERS, 1, block))
                drain(peer)
                assert peer.is_closed
        attacked.is_rid_of_them()
        attacked.stays_below(8 * MIB)


def bad_headers():
    """headers that HTTP/2 forbids: the stream or the connection ends, nothing else"""
    good = call_headers(path("CDS"))
    bad = [good[1:], [*good, (":path", "/")], [*good, ("Upper", "x")],
           [*good, ("connection", "close")], [*good, ("x", "a\r\nb: c")], [*good, ("x\0y", "z")],
           [("te", "trailers"), *good], [h for h in good if h[0] != ":path"],
           [*good[:2], (":path", ""), *good[3:]], [*good, ("", "x")],
           [*good, ("transfer-encoding", "chunked")], [*good, ("content-length", "5")]]
    with victim() as attacked:
        for headers in bad:
            with attacked.peer() as peer:
                peer.open(None, headers=headers)
                peer.try_send(frame(DATA, END_STREAM, 1, GOOD))
                answer = peer.answers[1]
                peer.until("an end", lambda a=answer, p=peer: p.is_closed or a.is_ended)
                assert peer.is_closed or answer.reset or answer.status != 0, (headers,
                                                                              answer.blocks)
        attacked.is_rid_of_them()


def bad_messages():
    """compressed, oversized, half and reserved messages: a status with a reason for each"""
    small = request()
    cases = (
        (message(small, flag=1), (("grpc-encoding", "gzip"),), {12}, "compress"),
        (message(small, flag=1), (), {13}, "compress"),
        (message(small, flag=2), (), {12, 13}, ""), (message(small, flag=255), (), {12, 13}, ""),
        (message(b"", length=(1 << 32) - 1), None, {8}, "limit"),
        (message(b"", length=4 * MIB + 1), None, {8}, "limit"),
        (message(small)[:-1], (), {13}, "middle"), (message(small)[:3], (), {13}, "middle"),
        (message(small) + message(b"x" * 10, length=20), (), {13}, "middle"),
        (message(b"\xff" * 20), (), {3}, ""), (message(b"\x12\x7f"), (), {3}, ""))
    with victim() as attacked, attacked.peer() as peer:
        for body, headers, statuses, text in cases:
            stream = peer.open(path("CDS"), *(headers or ()))
            # What is only announced is refused before it comes.
            peer.data(stream, body, end=headers is not None)
            answer = peer.until_ended(stream)
            assert answer.status in statuses, (body[:9], answer.blocks)
            assert answer.text and text in answer.text, (body[:9], answer.text)
        assert not peer.goaways
        attacked.stays_below(8 * MIB)


def window_overflows():
    """windows beyond 2^31-1, increments of zero and more DATA than there is window: flow errors"""
    most = struct.pack(">I", (1 << 31) - 1)
    with victim() as attacked:
        with attacked.peer() as peer:
            peer.send(frame(WINDOW_UPDATE, 0, 0, most))
            drain(peer)
            assert [code for _, code, _ in peer.goaways] == [FLOW_CONTROL_ERROR], peer.goaways
        with attacked.peer() as peer:
            stream = peer.open(path("CDS"), first=GOOD)
            peer.send(frame(WINDOW_UPDATE, 0, stream, most))
            assert peer.until_ended(stream).reset == FLOW_CONTROL_ERROR
            peer.send(frame(WINDOW_UPDATE, 0, 0, bytes(4)))
            drain(peer)
            assert [code for _, code, _ in peer.goaways] == [PROTOCOL_ERROR], peer.goaways
        with attacked.peer() as peer:  # a window made too large by SETTINGS
            stream = peer.open(path("CDS"), first=GOOD)
            peer.give(stream, (1 << 31) - 1 - 65535)
            peer.send(frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, 1 << 30)))
            assert peer.until_ended(stream).reset == FLOW_CONTROL_ERROR
        with attacked.peer() as peer:  # no one reads what is sent to a call that is over
            stream = peer.open("/none")
            peer.until_ended(stream)
            push(peer, frame(DATA, 0, stream, bytes(16384)) * 1000)
            with contextlib.suppress(OSError, AssertionError):
                peer.barrier()
        attacked.is_rid_of_them()
        attacked.stays_below(8 * MIB)


def deep_nodes():
    """34 KB and more of nested Struct in the node's metadata: refused, whatever the form"""
    def length(size):
        return integer(size, 8) if size < 128 else bytes((size & 127 | 128, *length(size >> 7)))

    def field(number, body):
        return bytes([number << 3 | 2]) + length(len(body)) + body

    def nested(levels, is_struct):
        value = b"\x1a\x01x"
        for _ in range(levels):
            if is_struct:  # Value.struct_value.fields[""].value
                value = field(5, field(1, field(2, value)))
            else:          # Value.list_value.values
                value = field(6, field(1, value))
        return field(3, field(1, b"\x0a\x01k" + field(2, value)))
    with victim() as attacked:
        for levels, is_struct in ((5000, False), (5000, True), (40000, False), (120, False)):
            who = nested(levels, is_struct)
            for form in (Sotw, Delta):
                with form(attacked.channel) as stream:
                    number = 2 if form is Sotw else 1
                    stream.send(field(number, who) + (b"\x22" if form is Sotw else b"\x12") +
                                length(1) + b"x")
                    stream.expect_end((StatusCode.INVALID_ARGUMENT,  # or too large even so
                                       StatusCode.RESOURCE_EXHAUSTED))
                    assert stream.text, levels
        with Sotw(attacked.channel, node=node(metadata={"a": {"b": [[{"c": 1}]]}})) as fine:
            fine.ask("CDS")
            fine.take("CDS", ["a"])
        attacked.stays_below(16 * MIB)


def storm():
    """a storm of random frames on a hundred connections at once"""
    rng = random.Random(11)
    with victim() as attacked:
        peers = []
        for step in range(6000):
            action = rng.random()
            if not peers or (action < 0.05 and len(peers) < 100):
                peers.append(attacked.peer(settings={
                    INITIAL_WINDOW_SIZE: rng.choice((0, 1, 100, 65535))}))
                continue
            peer = rng.choice(peers)
            stream = rng.choice((1, 3, 5, peer.next_stream))
            if action < 0.4:
                peer.next_stream += 2
                data = peer.opening(peer.next_stream - 2, path(rng.choice((None, "CDS", "EDS"))))
                data += frame(DATA, 0, peer.next_stream - 2, GOOD[:rng.randrange(len(GOOD) + 1)])
            elif action < 0.9:
                data = frame(*rng.choice((
                    (DATA, 0, stream, GOOD), (DATA, 1, stream, b""), (PING, 0, 0, bytes(8)),
                    (RST_STREAM, 0, stream, CANCELLED), (SETTINGS,),
                    (WINDOW_UPDATE, 0, rng.choice((0, stream)), struct.pack(">I", 100)),
                    (PRIORITY, 0, stream, bytes(5)), (rng.randrange(12, 256), 7, stream, b"abc"),
                    (HEADERS, 5, stream, b"\x82"), (SETTINGS, ACK))))
            else:
                data = b""
            if not data or not peer.try_send(data):
                peers.remove(peer)
                rng.choice((peer.close, peer.reset))()
            if step % 1500 == 0:
                attacked.serves()
        for peer in peers:
            peer.close()
        attacked.is_rid_of_them()
        attacked.stays_below(32 * MIB)


run([garbage, changed_bytes, every_cut, resets_in_mid_message, rapid_reset, floods,
     floods_without_reading, continuations, huge_headers, bad_headers, bad_messages,
     window_overflows, deep_nodes, storm])
