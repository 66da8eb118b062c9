# SPDX-License-Identifier: GPL-2.0-or-later
"""REST with bad input and bad manners: each gets its answer, others are never disturbed."""
import json
import random
import socket
import time

from rest_lib import PATHS, WAIT, Client, Server, run

CDS = PATHS["cds"]
LIMIT = 100000  # bytes of a body, to make too much of it quickly


def simple(*limits):
    server = Server(f"body={LIMIT}", *limits)
    server.tell("groups", "default")
    server.tell("put", "default", "cds", "a", "1")
    server.tell("publish", "default")
    return server


def works(server):
    with Client(server.address) as client:
        assert client.poll("cds").names == ["a"]


def bodies():
    """bodies: empty, truncated, nested, not JSON, not UTF-8, of the wrong type: 400 and a reason"""
    good = json.dumps({"node": {"id": "x"}, "resource_names": ["a"]})
    bad = ["", " ", "not JSON", "{", "null", "[]", '"x"', "{}}", "17", good[:-1], good[:20],
           "[" * 90000, '{"a":' * 15000, "{" + '"a":[' * 120 + "]" * 120 + "}",
           b'{"node":{"id":"\xff\xfe"}}', b'{"node":{"id":"\xc0\xaf"}}', b"\x00" * 10,
           b'{"node":{"id":"a\x00b"}}', '{"node":{"id":"a\\u0000b"}}', b"\x0a\x03abc",
           '{"node":[]}', '{"node":"x"}', '{"resource_names":{}}', '{"resource_names":[1]}',
           '{"version_info":7}', '{"type_url":[]}', '{"node":{"id":"x"},"node":{"id":"y"}}',
           "node: {id: x}", '{"resource_names":["%s"]}' % ("n" * 1025)]
    with simple("names=100") as server, Client(server.address) as client:
        bad.append(json.dumps({"resource_names": ["a"] * 101}))
        for body in bad:
            client.post(CDS, body)
            answer = client.answer()
            assert answer.status == 400, (body[:40], answer.status)
            assert answer.error and answer.headers["content-type"] == "application/json"
        assert server.status()["accepted"] == 1
        works(server)


def too_large_with_length():
    """too large: 413 at once when Content-Length says so, before a byte of body"""
    with simple() as server:
        for length in (LIMIT + 1, 10 * LIMIT, 2**63, 2**64 - 1):
            with Client(server.address) as client:
                client.send(f"POST {CDS} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n")
                answer = client.answer()
                assert answer.status == 413 and str(LIMIT) in answer.error
                assert client.is_closed()
        works(server)


def too_large_and_sent():
    """too large: a client that sends its whole body first still reads the 413"""
    with simple() as server:
        for _ in range(5):
            with Client(server.address) as client:
                # More than socket buffers hold: still on its way when the answer is sent.
                client.post(CDS, b"x" * 300 * LIMIT)
                assert client.answer().status == 413
                assert client.is_closed()
        works(server)


def exactly_the_limit():
    """too large: a body of exactly the limit is fine"""
    with simple() as server, Client(server.address) as client:
        body = '{"node":{"id":"x"},"a":"'
        body += "x" * (LIMIT - len(body) - 2) + '"}'
        client.post(CDS, body)
        assert client.answer().status == 200
        client.post(CDS, body + " ")
        assert client.answer().status == 413


def chunks(data, size):
    for at in range(0, len(data), size):
        piece = data[at:at + size]
        yield b"%x\r\n%s\r\n" % (len(piece), piece)


def chunked():
    """chunked: fine up to the limit; a bit more is drained and then 413; far more is cut off"""
    head = f"POST {CDS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    with simple() as server:
        with Client(server.address) as client:
            for size in (1, 7, 4096):
                body = b'{"version_info":"%d","node":{"id":"x"}}' % size
                client.send(head + b"".join(chunks(body, size)) + b"0\r\n\r\n")
                assert client.answer().status == 200
            client.send(head + b"".join(chunks(b"x" * int(1.5 * LIMIT), 5000)) + b"0\r\n\r\n")
            assert client.answer().status == 413
            assert client.poll("cds", version="y").status == 200
        with Client(server.address) as client:
            try:
                for piece in [head, *chunks(b"x" * 50 * LIMIT, 5000)]:
                    client.send(piece)
                assert client.answer().status == 413
            except (ConnectionError, EOFError):
                pass
        works(server)


def byte_by_byte():
    """slow: headers and body byte by byte are fine"""
    with simple() as server, Client(server.address) as client:
        client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = b'{"node":{"id":"x"}}'
        request = (f"POST {CDS} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
                   .encode() + body)
        for byte in request:
            client.send(bytes([byte]))
            time.sleep(0.0005)  # so that they travel alone; nothing waits for it
        assert client.answer().status == 200


def pipelined():
    """pipelining: answers come in order, also behind a parked request"""
    with simple() as server, Client(server.address) as client:
        version = client.poll("cds").version
        for i in range(5):
            client.ask("cds", version=f"v{i}")
        assert [client.answer().status for _ in range(5)] == [200] * 5
        client.ask("cds", version=version, timeout=60000)
        client.ask("cds", version="other")
        client.post("/nowhere", "{}")
        server.until_parked(1)
        server.tell("put", "default", "cds", "a", "2")
        server.tell("publish", "default")
        assert [client.answer().status for _ in range(3)] == [200, 200, 404]


def hang_ups():
    """hang-ups: in headers, in the body, while answered, with and without a reset"""
    body = b'{"node":{"id":"x"}}'
    request = (f"POST {CDS} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
               .encode() + body)
    with simple() as server:
        server.tell("put", "default", "cds", "a", "x" * 100000)
        server.tell("publish", "default")
        for cut in range(0, len(request) + 1, 3):
            for reset in (False, True):
                client = Client(server.address)
                client.send(request[:cut])
                if reset:
                    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                             b"\1\0\0\0\0\0\0\0")
                client.close()
        server.until("all closed", lambda s: s["connections"] == 0)
        works(server)


def not_http():
    """not HTTP: whatever it is, the connection ends and the server goes on"""
    rng = random.Random(7)
    with simple() as server:
        for data in (b"\x16\x03\x01\x02\x00\x01\x00", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                     b"GET\r\n\r\n", b"\r\n" * 100, b"POST / HTTP/9.9\r\n\r\n",
                     b"A" * 100000, b"POST /v3/x HTTP/1.1\r\n" + b"a: b\r\n" * 5000 + b"\r\n",
                     b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello",
                     b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                     b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"ffffffffffffffffffff\r\n",
                     *(rng.randbytes(300) for _ in range(100))):
            with Client(server.address) as client:
                try:
                    client.send(data)
                    client.socket.shutdown(socket.SHUT_WR)
                    while client.fill():
                        pass
                except OSError:
                    pass  # reset, or gone before we were done
        server.until("all closed", lambda s: s["connections"] == 0)
        works(server)


def expect_continue():
    """Expect: 100-continue is answered, and a too large body refused instead"""
    with simple() as server, Client(server.address) as client:
        client.send(f"POST {CDS} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
                    "Expect: 100-continue\r\n\r\n")
        while b"\r\n\r\n" not in client.buffer:
            client.fill()
        assert client.buffer.startswith(b"HTTP/1.1 100"), client.buffer
        client.buffer = client.buffer.split(b"\r\n\r\n", 1)[1]
        client.send("{}")
        assert client.answer().status == 200
        client.send(f"POST {CDS} HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n"
                    "Expect: 100-continue\r\n\r\n")
        assert client.answer().status == 413


def connection_limit():
    """limits: beyond the connections allowed others wait in the backlog until one leaves"""
    with simple("connections=10") as server:
        clients = [Client(server.address) for _ in range(10)]
        version = clients[0].poll("cds").version
        for client in clients:
            client.ask("cds", (), version, 60000)
        server.until_parked(10)
        late = Client(server.address)
        late.ask("cds")
        assert late.is_silent(0.1)
        assert server.status()["connections"] == 10
        clients.pop().close()
        assert late.answer().status == 200
        late.close()
        for client in clients:
            client.close()
        server.until("all closed", lambda s: s["connections"] == 0)
        works(server)


def out_of_descriptors():
    """limits: without descriptors the server waits and goes on when there are some again"""
    with Server("connections=1000", descriptors=64) as server:
        server.tell("groups", "default")
        server.tell("put", "default", "cds", "a", "1")
        server.tell("publish", "default")
        clients = [Client(server.address) for _ in range(100)]
        for client in clients:
            client.ask("cds")
        for client in clients:
            assert client.answer().status == 200
            client.close()
        assert server.logged("event=accept-failed")
        server.until("all closed", lambda s: s["connections"] == 0)
        works(server)


def many_bodies_at_once():
    """limits: half-sent bodies of many clients are bounded in total; a 503 says so"""
    with simple() as server:
        clients = [Client(server.address) for _ in range(80)]
        half = b"x" * (LIMIT // 2)
        for client in clients:
            client.send(f"POST {CDS} HTTP/1.1\r\nHost: x\r\nContent-Length: {LIMIT}\r\n\r\n"
                        .encode() + half)
        server.until("requests", lambda s: s["requests"] == 80)
        for client in clients:
            client.send(half)
        statuses = [client.answer().status for client in clients]
        assert set(statuses) == {400, 503}, set(statuses)
        for client in clients:
            client.close()
        works(server)


def silent_readers():
    """slow: clients that never read do not hold up the others"""
    with simple() as server:
        server.tell("put", "default", "cds", "a", "x" * 1000000)
        server.tell("publish", "default")
        silent = []
        for i in range(50):
            client = Client(server.address)
            if i != 7:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.ask("cds")
            silent.append(client)
        server.until("requests", lambda s: s["requests"] == 50)
        start = time.monotonic()
        works(server)
        assert time.monotonic() - start < WAIT / 2
        # They have lost nothing either.
        assert silent[7].answer().names == ["a"]
        for client in silent:
            client.close()


def many_topics_per_connection():
    """limits: one connection that asks for thousands of names in turn costs no more than a few"""
    with simple() as server, Client(server.address) as client:
        server.tell("many", "default", "eds", "c", 2000, "x")
        server.tell("publish", "default")
        for i in range(2000):
            assert client.poll("eds", [f"c{i}"]).names == [f"c{i}"]
        assert len(server.status(10000)["clients"]) <= 9
        works(server)


def names_in_memory():
    """limits: names that parked clients ask for are bounded in total; a 503 says so"""
    with Server() as server:
        server.tell("groups", "default")
        server.tell("put", "default", "eds", "a", "1")
        server.tell("publish", "default")
        clients, statuses = [], []
        for i in range(36):
            client = Client(server.address)
            names = [f"{i:03}-{j:04}-" + "n" * 991 for j in range(4000)]
            client.ask("eds", names, "x" if i == 0 else "", timeout=60000)
            clients.append(client)
        for client in clients:
            statuses.append(client.answer().status)
        assert set(statuses) == {200, 503}, set(statuses)
        for client in clients:
            client.close()
        server.until("all closed", lambda s: s["connections"] == 0)
        with Client(server.address) as client:
            assert client.poll("eds", ["a"]).status == 200


def two_thousand():
    """2,000 parked clients: all answered by one change, half leave, the rest is answered again"""
    with simple() as server:
        clients = [Client(server.address, {"id": f"node-{i}", "cluster": "edge"})
                   for i in range(2000)]
        version = clients[0].poll("cds").version
        for client in clients:
            client.ask("cds", (), version, 300000)
        server.until_parked(2000)
        assert len(server.status(10)["clients"]) == 10
        for number in ("2", "3"):
            server.tell("put", "default", "cds", "a", number)
            server.tell("publish", "default")
            for client in clients:
                answer = client.answer()
                assert answer.texts == [number]
                client.ask("cds", (), answer.version, 300000)
            server.until_parked(len(clients))
            for client in clients[1000:]:
                client.close()
            del clients[1000:]
            server.until_parked(1000)
        server.until("descriptors closed", lambda s: s["connections"] == 1000)
        server.stop()
        assert {client.answer().status for client in clients} == {304}
        for client in clients:
            client.close()


def storm():
    """a storm: random clients, changes, rejections, hang-ups and listener swaps; nothing is lost"""
    rng = random.Random(11)
    with simple() as server:
        addresses = [server.address]
        clients, content = [], 0
        for _ in range(1500):
            action = rng.random()
            if action < 0.3 and len(clients) < 200:
                client = Client(addresses[-1], {"id": f"n{rng.randrange(50)}"})
                client.ask(*rng.choice((("cds", ()), ("eds", ["a"]), ("cds", ["a"]),
                                        ("sds", ["nobody"]))),
                           rng.choice(("", "old", "a" * 33)), rng.choice((50, 1000, 60000)))
                clients.append(client)
            elif action < 0.5 and clients:
                clients.pop(rng.randrange(len(clients))).close()
            elif action < 0.6:
                content += 1
                server.tell("put", "default", rng.choice(("cds", "eds")), "a", content)
                server.tell("publish", "default")
            elif action < 0.62:
                server.tell("groups", *rng.choice((("default",), ("other:x", "default"))))
            elif action < 0.63:
                addresses.append(server.tell("listen", "127.0.0.1:" + "0" * (1 + content % 9))
                                 .split()[0])
            elif clients:
                client = rng.choice(clients)
                if not client.is_silent():
                    try:
                        answer = client.answer()
                        client.ask("cds", (), answer.version if answer.status == 200 else "x",
                                   rng.choice((100, 60000)))
                    except (EOFError, ConnectionError):
                        clients.remove(client)
                        client.close()
        server.tell("groups", "default")
        server.tell("put", "default", "cds", "a", "last")
        server.tell("publish", "default")
        with Client(addresses[-1]) as client:
            assert client.poll("cds").texts == ["last"]
        for client in clients:
            client.close()
        server.until("all closed", lambda s: s["connections"] == 0 and s["parked"] == 0)


run([bodies, too_large_with_length, too_large_and_sent, exactly_the_limit, chunked, byte_by_byte,
     pipelined, hang_ups, not_http, expect_continue, connection_limit, out_of_descriptors, many_bodies_at_once,
     silent_readers, many_topics_per_connection, names_in_memory,
     two_thousand, storm])
