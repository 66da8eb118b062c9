# SPDX-License-Identifier: GPL-2.0-or-later
"""REST as Envoy uses it: statements S.32 to S.52, one test each or more."""
import os
import tempfile
import time

from rest_lib import PATHS, Client, Server, run


def filled(server, group="default"):
    for kind in ("cds", "lds", "srds", "eds", "rds", "sds", "rtds", "ecds"):
        for name in ("a", "b"):
            server.tell("put", group, kind, name, f"{kind}-{name}-1")
    server.tell("publish", group)


def simple(*limits):
    server = Server(*limits)
    server.tell("groups", "default")
    filled(server)
    return server


def every_path():
    """S.32 S.37 S.43 S.44 S.52: eight v3 paths, type from the path, exactly what was asked"""
    with simple() as server, Client(server.address) as client:
        for kind in PATHS:
            wildcard = kind in ("cds", "lds", "srds")
            answer = client.poll(kind, [] if wildcard else ["b"])
            assert answer.status == 200, (kind, answer.status, answer.body)
            assert answer.names == (["a", "b"] if wildcard else ["b"]), answer.names
            assert answer.headers["content-type"] == "application/json"
            assert "content-encoding" not in answer.headers
            assert answer.json["type_url"] == answer.json["resources"][0]["@type"]
            assert answer.version
            typed = client.poll(kind, [] if wildcard else ["b"],
                                version="other", type_url=answer.json["type_url"])
            assert typed.version == answer.version
        for names in (["a"], ["b", "a"]):
            assert client.poll("cds", names).names == sorted(names)


def other_paths():
    """S.32 S.33: 404 for unknown paths, v2 with a hint; GET on a discovery path is 405"""
    with simple() as server, Client(server.address) as client:
        for path in ("/", "/v3", "/v3/discovery:cluster", "/v3/discovery:health_check", "/x" * 300):
            client.post(path, "{}")
            answer = client.answer()
            assert answer.status == 404 and answer.error, (path, answer.status)
        client.post("/v2/discovery:clusters", "{}")
        assert "transport_api_version: V3" in client.answer().error
        for method in ("GET", "PUT", "DELETE", "OPTIONS"):
            answer = client.get("/v3/discovery:clusters", method)
            assert answer.status == 405 and answer.headers["allow"] == "POST"
        assert client.poll("cds").status == 200


def spellings():
    """S.34: both spellings, unknown fields ignored"""
    with simple() as server, Client(server.address) as client:
        client.post(PATHS["eds"], '{"node":{"id":"x","userAgentName":"envoy","new":{"a":[1]}},'
                    '"resourceNames":["a"],"typeUrl":"type.googleapis.com/'
                    'envoy.config.endpoint.v3.ClusterLoadAssignment","zzz":[{}],'
                    '"resource_locators":[]}')
        answer = client.answer()
        assert answer.status == 200 and answer.names == ["a"], answer.body
        client.post(PATHS["eds"], '{"resource_names":["a"],"versionInfo":"%s",'
                    '"node":{"id":"x"}}' % answer.version, timeout=300)
        assert client.answer().status == 304


def large_nodes():
    """S.35: a node with 3 MB of extensions"""
    node = {"id": "big", "cluster": "edge", "extensions": [
        {"name": f"envoy.filters.http.x{i}", "category": "envoy.filters.http",
         "type_urls": ["type.googleapis.com/envoy.extensions.filters.http.X" + "x" * 60]}
        for i in range(18000)]}
    with simple() as server, Client(server.address, node) as client:
        for i in range(3):
            assert client.poll("cds", version=f"other-{i}").status == 200


def no_demands():
    """S.36: no accept, no user-agent, any Host, also with an underscore"""
    with simple() as server, Client(server.address) as client:
        for i, host in enumerate(("xds_cluster", "a_b.c", "127.0.0.1", "[::1]:1", "x" * 60)):
            body = '{"version_info":"%d"}' % i
            client.send(f"POST {PATHS['cds']} HTTP/1.1\r\nHost: {host}\r\n"
                        f"content-length: {len(body)}\r\n\r\n{body}")
            assert client.answer().status == 200


def contradicting_type():
    """S.37: a type_url of another path is 400"""
    with simple() as server, Client(server.address) as client:
        for url in ("type.googleapis.com/envoy.config.listener.v3.Listener",
                    "type.googleapis.com/envoy.api.v2.Cluster", "x"):
            answer = client.poll("cds", type_url=url)
            assert answer.status == 400 and "type_url" in answer.error


def first_poll():
    """S.38: without a version the answer comes at once, never 304"""
    with simple() as server, Client(server.address) as client:
        start = time.monotonic()
        assert client.poll("cds", timeout=60000).status == 200
        assert time.monotonic() - start < 5


def not_modified():
    """S.39 S.40: the same version is held, then 304 without a body before the client's timeout"""
    with simple() as server, Client(server.address) as client:
        version = client.poll("cds").version
        for timeout, least, most in ((None, 0.7, 1.0), (1000, 0.7, 1.0), (2500, 2.1, 2.5),
                                     (300, 0.1, 0.3)):
            start = time.monotonic()
            answer = client.poll("cds", version=version, timeout=timeout)
            took = time.monotonic() - start
            assert answer.status == 304 and answer.body == b"", answer.status
            assert "content-encoding" not in answer.headers
            # Early enough is the promise; on a busy machine late says nothing about us.
            assert took >= least, (timeout, took)
            assert took < most + 1, (timeout, took)


def longest_hold():
    """S.40: the server's own limit"""
    with simple("hold=300") as server, Client(server.address) as client:
        version = client.poll("cds").version
        start = time.monotonic()
        assert client.poll("cds", version=version, timeout=60000).status == 304
        assert 0.2 < time.monotonic() - start < 10


def cheap_holds():
    """S.39: the end of a hold costs next to nothing"""
    with simple() as server, Client(server.address) as client:
        version = client.poll("cds").version
        before = int(server.tell("cpu"))
        for timeout in range(60, 100):  # ends all over the server's batches of deadlines
            assert client.poll("cds", version=version, timeout=timeout).status == 304
        used = (int(server.tell("cpu")) - before) / 40
        assert used < 1500, f"{used} us each"


def change_during_hold():
    """S.41: a change answers everyone who waits for it, and nobody else"""
    with simple() as server:
        clients = {}
        for kind, names in (("cds", ()), ("eds", ("a",)), ("eds", ("b",)), ("eds", ("a", "b")),
                            ("lds", ())):
            client = clients[kind, names] = Client(server.address)
            client.ask(kind, names, client.poll(kind, names).version, 60000)
        server.until_parked(5)
        server.tell("put", "default", "eds", "a", "eds-a-2")
        server.tell("publish", "default")
        assert clients["eds", ("a",)].answer().texts == ["eds-a-2"]
        assert clients["eds", ("a", "b")].answer().texts == ["eds-a-2", "eds-b-1"]
        server.until_parked(3)
        for key in (("cds", ()), ("eds", ("b",)), ("lds", ())):
            assert clients[key].is_silent()
        server.tell("put", "default", "cds", "c", "new")
        server.tell("remove", "default", "lds", "a")
        server.tell("publish", "default")
        assert clients["cds", ()].answer().names == ["a", "b", "c"]
        assert clients["lds", ()].answer().names == ["b"]
        server.until_parked(1)
        for client in clients.values():
            client.close()


def one_body_for_all():
    """S.41: one change costs one encoding however many wait"""
    with simple() as server:
        clients = [Client(server.address, {"id": f"n{i}"}) for i in range(50)]
        version = clients[0].poll("cds").version
        for client in clients:
            client.ask("cds", (), version, 60000)
        before = server.until_parked(50)["encoded"]
        server.tell("put", "default", "cds", "a", "2")
        server.tell("publish", "default")
        versions = {client.answer().version for client in clients}
        assert len(versions) == 1 and version not in versions
        assert server.status()["encoded"] == before + 1
        for client in clients:
            client.close()


def same_content():
    """S.49: a snapshot with the same content wakes nobody; old content brings its version back"""
    with simple() as server, Client(server.address) as client:
        version = client.poll("cds").version
        client.ask("cds", (), version, 60000)
        server.until_parked(1)
        server.tell("put", "default", "cds", "a", "cds-a-1")
        server.tell("put", "default", "rtds", "a", "other")
        server.tell("publish", "default")
        assert server.status()["parked"] == 1 and client.is_silent(0.05)
        server.tell("put", "default", "cds", "a", "2")
        server.tell("publish", "default")
        changed = client.answer().version
        assert changed != version
        client.ask("cds", (), changed, 60000)
        server.until_parked(1)
        server.tell("put", "default", "cds", "a", "cds-a-1")
        server.tell("publish", "default")
        assert client.answer().version == version


def who_leaves():
    """S.42: a parked client that disconnects is gone at once"""
    with simple() as server:
        clients = [Client(server.address) for _ in range(100)]
        version = clients[0].poll("cds").version
        for client in clients:
            client.ask("cds", (), version, 60000)
        server.until_parked(100)
        for client in clients[:99]:
            client.close()
        status = server.until_parked(1)
        server.until("descriptors closed", lambda s: s["connections"] == 1)
        assert status["clients"][0]["state"] == "parked"
        server.tell("put", "default", "cds", "a", "2")
        server.tell("publish", "default")
        assert clients[99].answer().status == 200
        clients[99].close()


def leaves_at_once():
    """S.42: request and end of stream in one breath"""
    with simple() as server:
        with Client(server.address) as first:
            version = first.poll("cds").version
        for _ in range(50):
            client = Client(server.address)
            client.ask("cds", (), version, 60000)
            client.close()
        server.until("all gone", lambda s: s["requests"] == 51 and s["connections"] == 0 and
                     s["parked"] == 0)


def unknown_names():
    """S.45: EDS and RDS get nothing after at most a second, the others 404; never another's"""
    with simple() as server:
        clients = {}
        start = time.monotonic()
        for kind in ("eds", "rds", "sds", "rtds", "ecds"):
            clients[kind] = Client(server.address)
            clients[kind].ask(kind, ["nobody"], timeout=60000)
        server.until_parked(5)
        for kind, client in clients.items():
            answer = client.answer()
            if kind in ("eds", "rds"):
                assert answer.status == 200 and answer.names == [], answer.body
            else:
                assert answer.status == 404 and '"nobody"' in answer.error, answer.body
        assert 0.8 < time.monotonic() - start < 10
        # It appears while somebody waits for it.
        clients["sds"].ask("sds", ["nobody"], timeout=60000)
        server.until_parked(1)
        server.tell("put", "default", "sds", "nobody", "now")
        server.tell("publish", "default")
        assert clients["sds"].answer().names == ["nobody"]
        for client in clients.values():
            client.close()


def removed_names():
    """S.45: a secret that is gone is no failure for who has it: held, then 304"""
    with simple() as server, Client(server.address) as client, Client(server.address) as other:
        version = client.poll("sds", ["a"]).version
        client.ask("sds", ["a"], version, 2500)
        server.until_parked(1)
        gone = other.poll("eds", ["a"]).version
        other.ask("eds", ["a"], gone, 60000)
        server.until_parked(2)
        server.tell("remove", "default", "sds", "a")
        server.tell("remove", "default", "eds", "a")
        server.tell("publish", "default")
        answer = other.answer()
        assert answer.status == 200 and answer.names == []
        assert client.answer().status == 304
        assert other.poll("eds", ["a"], answer.version, 300).status == 304


def never_empty_by_accident():
    """S.46: unknown cluster names are no empty set"""
    with simple() as server, Client(server.address) as client:
        assert client.poll("cds", ["nobody"]).status == 404
        assert client.poll("lds", ["nobody", "a"]).names == ["a"]


def needs_names():
    """S.44: a type without a wildcard needs names"""
    with simple() as server, Client(server.address) as client:
        for kind in ("eds", "rds", "sds", "rtds", "ecds"):
            answer = client.poll(kind)
            assert answer.status == 400 and "resource_names" in answer.error
        assert client.poll("cds", ["*"]).names == ["a", "b"]


def rejected():
    """S.48: a version that was refused is not sent again; a newer one is"""
    with simple() as server, Client(server.address) as client:
        good = client.poll("cds").version
        client.ask("cds", (), good, 60000)
        server.until_parked(1)
        server.tell("put", "default", "cds", "a", "bad")
        server.tell("publish", "default")
        bad = client.answer().version
        # It repeats its old version: held until the deadline, as often as it likes.
        for _ in range(3):
            start = time.monotonic()
            assert client.poll("cds", version=good, timeout=500).status == 304
            assert time.monotonic() - start > 0.25
        client.ask("cds", (), good, 60000)
        status = server.until_parked(1)
        assert status["rejections"] == 1, status["rejections"]
        entry = status["clients"][0]["types"]["CDS"]
        assert entry["is_rejected"] and entry["rejected"] == bad, entry
        assert entry["acknowledged"] == good, entry
        server.tell("put", "default", "cds", "a", "better")
        server.tell("publish", "default")
        better = client.answer()
        assert better.status == 200 and better.texts[0] == "better"
        # Accepted: the next poll is an ordinary one.
        client.ask("cds", (), better.version, 60000)
        assert not server.until_parked(1)["clients"][0]["types"]["CDS"].get("is_rejected")
        # Back to the content that was refused: it is offered once.
        server.tell("put", "default", "cds", "a", "bad")
        server.tell("publish", "default")
        assert client.answer().version == bad


def rejected_at_first():
    """S.48: refused with no version to fall back to: a second between answers, never 304"""
    with simple() as server, Client(server.address) as client:
        for round_ in range(3):
            start = time.monotonic()
            assert client.poll("cds", timeout=60000).status == 200
            took = time.monotonic() - start
            assert took > 0.9 if round_ else took < 5, (round_, took)
        assert server.status()["rejections"] == 1  # logged once


def rejected_by_a_fleet():
    """S.48: a version that many clients refuse is one line in the log"""
    with simple() as server:
        server.tell("put", "default", "cds", "fleet", "1")
        server.tell("publish", "default")
        clients = [Client(server.address, {"id": f"n{i}"}) for i in range(100)]
        good = {client.poll("cds").version for client in clients}.pop()
        server.tell("put", "default", "cds", "fleet", "bad")
        server.tell("publish", "default")
        bad = {client.poll("cds", version=good).version for client in clients}.pop()
        for client in clients:
            client.ask("cds", (), good, 60000)
        assert server.until_parked(100)["rejections"] == 100
        lines = server.logged(bad)
        assert len(lines) == 1 and "event=rejected" in lines[0], lines
        for client in clients:
            client.close()


def too_large_for_envoy():
    """S.47: an answer that Envoy would drop for its size is reported"""
    with simple() as server, Client(server.address) as client:
        server.tell("put", "default", "cds", "a", "x" * (33 << 20))
        server.tell("publish", "default")
        answer = client.poll("cds")
        assert answer.status == 200 and len(answer.body) > 32 << 20
        assert server.logged("event=answer-too-large-for-envoy")


def rejection_is_local():
    """S.48: the inference is per connection, node, type and names"""
    with simple() as server, Client(server.address) as first:
        good = first.poll("cds").version
        single = first.poll("eds", ["a"]).version
        server.tell("put", "default", "cds", "a", "2")
        server.tell("put", "default", "eds", "a", "2")
        server.tell("publish", "default")
        assert first.poll("cds", version=good, timeout=60000).status == 200
        # Other names or types, another node behind the same proxy, another connection.
        assert first.poll("eds", ["a"], single, 60000).status == 200
        assert first.poll("cds", ["a"], good, 60000).status == 200
        other = Client.__new__(Client)
        other.__dict__.update(first.__dict__, node={"id": "node-2", "cluster": "edge"})
        assert other.poll("cds", version=good, timeout=60000).status == 200
        with Client(server.address) as second:
            assert second.poll("cds", version=good, timeout=60000).status == 200
        # A restart: no version any more.
        assert first.poll("cds", timeout=60000).status == 200
        assert server.status()["rejections"] == 0


def keep_alive():
    """S.50: HTTP/1.1 keep-alive over every kind of answer"""
    with simple() as server, Client(server.address) as client:
        version = client.poll("cds").version
        for i in range(20):
            assert client.poll("cds", version=f"other-{i}").status == 200
            assert client.poll("cds", version=version, timeout=10).status == 304
            client.post("/nowhere", "{}")
            assert client.answer().status == 404
            client.post(PATHS["cds"], "nonsense")
            assert client.answer().status == 400
        assert server.status()["accepted"] == 1


def http_1_0():
    """S.50: a client of HTTP/1.0 gets its answer and the end of the stream"""
    with simple() as server, Client(server.address) as client:
        client.send(f"POST {PATHS['cds']} HTTP/1.0\r\nContent-Length: 2\r\n\r\n{{}}")
        assert client.answer().status == 200 and client.is_closed()


def nothing_yet():
    """S.51: 503 before the first snapshot, and for a group that serves nothing"""
    with Server() as server, Client(server.address) as client:
        answer = client.poll("cds")
        assert answer.status == 503 and "nothing" in answer.error
        server.tell("groups", "default")
        assert client.poll("cds").status == 503
        assert client.poll("cds", version="a" + "0" * 32).status == 503
        assert client.get("/v3/groups/default/cds").status == 503
        filled(server)
        assert client.poll("cds").status == 200
        client.ask("cds", (), client.poll("cds").version, 60000)
        server.until_parked(1)
        server.tell("drop", "default")
        assert client.answer().status == 503


def groups():
    """groups: by node, 403 without one, never another group's"""
    with Server() as server, Client(server.address, {"id": "1", "cluster": "edge"}) as edge, \
            Client(server.address, {"id": "2", "cluster": "core"}) as core, \
            Client(server.address, {"id": "3", "cluster": "moon"}) as moon, \
            Client(server.address, {}) as nobody:
        server.tell("groups", "g-edge:edge", "g-core:core")
        for group in ("g-edge", "g-core"):
            server.tell("put", group, "cds", group, "1")
            server.tell("publish", group)
        assert edge.poll("cds").names == ["g-edge"]
        assert core.poll("cds").names == ["g-core"]
        for _ in range(3):
            answer = moon.poll("cds")
            assert answer.status == 403 and '"moon"' in answer.error
        answer = nobody.poll("cds")
        assert answer.status == 403 and "node" in answer.error
        for i in range(30):
            other = Client(server.address, {"id": f"lost-{i}", "cluster": "moon"})
            assert other.poll("cds").status == 403
            other.close()
        assert len(server.logged("event=no-group")) == 10
        assert len(server.status()["unmatched"]) == 31
        assert moon.poll("cds").status == 403
        unmatched = server.status()["unmatched"]
        assert unmatched[0]["node"] == "3" and unmatched[0]["requests"] == 4
        # A change of one group wakes nobody of the other.
        edge.ask("cds", (), edge.poll("cds").version, 60000)
        core.ask("cds", (), core.poll("cds").version, 60000)
        server.until_parked(2)
        server.tell("put", "g-core", "cds", "g-core", "2")
        server.tell("publish", "g-core")
        assert core.answer().status == 200
        assert server.status()["parked"] == 1 and edge.is_silent()


def groups_change():
    """groups: when they change parked clients come back with their node; equal ones change nothing"""
    with Server() as server, Client(server.address) as client, Client(server.address) as fresh:
        server.tell("groups", "old:edge")
        for group in ("old", "new"):
            server.tell("put", group, "cds", group, "1")
            server.tell("publish", group)
        version = client.poll("cds").version
        client.ask("cds", (), version, 60000)
        fresh.ask("eds", ["later"], timeout=60000)
        server.until_parked(2)
        server.tell("groups", "old:edge")
        assert server.status()["parked"] == 2
        server.tell("groups", "new:edge", "old")
        assert client.answer().status == 304
        assert fresh.answer().status == 503
        assert client.poll("cds", version=version, timeout=60000).names == ["new"]


def no_node():
    """groups: a request without a node is served where one group serves everyone"""
    with simple() as server, Client(server.address, {}) as client:
        assert client.poll("cds").status == 200


def for_people():
    """GET: groups, types and sets with an ETag; never secrets"""
    with simple() as server, Client(server.address) as client:
        listing = client.get("/v3/groups").json
        assert listing["groups"][0]["name"] == "default"
        group = client.get("/v3/groups/default")
        assert b"sds-a-1" not in group.body
        types = {entry["type"]: entry for entry in group.json["types"]}
        assert "version" not in types["sds"] and types["cds"]["resources"] == 2
        answer = client.get("/v3/groups/default/clusters")
        assert answer.names == ["a", "b"]
        assert answer.version == types["cds"]["version"] == client.poll("cds").version
        tag = answer.headers["etag"]
        assert tag == f'"{answer.version}"'
        for header in (tag, f"W/{tag}", f'"x", {tag}', "*"):
            again = client.get("/v3/groups/default/cds", headers=f"If-None-Match: {header}\r\n")
            assert again.status == 304 and again.headers["etag"] == tag
        other = client.get("/v3/groups/default/cds", headers='If-None-Match: "x"\r\n')
        assert other.status == 200
        head = client.get("/v3/groups/default/cds", "HEAD")
        assert head.status == 200 and head.headers["etag"] == tag
        secret = client.get("/v3/groups/default/sds")
        assert secret.status == 403 and b"sds-a-1" not in secret.body
        assert client.get("/v3/groups/nobody").status == 404
        assert client.get("/v3/groups/nobody/cds").status == 404
        assert client.get("/v3/groups/default/cds/a").status == 404
        client.post("/v3/groups", "{}")
        assert client.answer().headers["allow"] == "GET, HEAD"


def status_keeps_secrets():
    """status: who has what, since when; no version of secrets"""
    with simple() as server, Client(server.address) as client:
        version = client.poll("sds", ["a"]).version
        client.ask("sds", ["a"], version, 60000)
        status = server.until_parked(1)
        assert version not in str(status), "a digest that covers a secret was shown"
        entry = status["clients"][0]
        assert (entry["transport"], entry["node"], entry["cluster"], entry["group"]) == \
            ("rest", "node-1", "edge", "default"), entry
        assert entry["types"] == {"SDS": {"subscribed": 1, "names": ["a"]}}, entry
        assert entry["since"].endswith("Z") and entry["address"].startswith("127.0.0.1:")
        assert len(server.status(0)["clients"]) == 0


def encoding_fails():
    """an answer that cannot be encoded is 500 with a JSON error, and the server goes on"""
    with simple() as server, Client(server.address) as client:
        server.tell("encode-fails")
        answer = client.poll("cds")
        assert answer.status == 500 and answer.error
        assert client.get("/v3/groups/default/cds").status == 500
        assert client.get("/v3/groups").status == 200


def listeners():
    """listeners: changed without dropping anybody who waits; a UNIX socket; errors change nothing"""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "rest.sock")
    with simple() as server, Client(server.address) as parked, Client(server.address) as idle:
        version = parked.poll("cds").version
        idle.poll("cds")
        parked.ask("cds", (), version, 60000)
        server.until_parked(1)
        assert server.ask("listen", "127.0.0.1:0", server.address).startswith("error")
        assert server.ask("listen", "nonsense").startswith("error")
        assert server.status()["listeners"][0]["bound"] == server.address
        old = server.address
        new = server.tell("listen", f"unix:{path}", "127.0.0.1:00").split()
        assert new[0] == f"unix:{path}" and server.status()["parked"] == 1
        with Client(new[0]) as local, Client(new[1]) as other:
            assert local.poll("cds").version == other.poll("cds").version == version
            local.ask("cds", (), version, 60000)
            server.until_parked(2)
            assert {c["address"] for c in server.status()["clients"]} >= {"unix"}
            try:
                Client(old)
                raise AssertionError("the old listener is still there")
            except ConnectionRefusedError:
                pass
            server.tell("put", "default", "cds", "a", "2")
            server.tell("publish", "default")
            assert local.answer().status == 200
        # Clients of the old one get their answer and are then told to come to the new one.
        answer = parked.answer()
        assert answer.status == 200 and answer.headers["connection"] == "close"
        assert parked.is_closed()
        answer = idle.poll("cds")
        assert answer.status == 200 and answer.headers["connection"] == "close"
        # The same address again keeps socket and clients.
        with Client(new[0]) as local:
            local.ask("cds", (), local.poll("cds").version, 60000)
            server.until_parked(1)
            server.tell("listen", f"unix:{path}")
            assert server.status()["parked"] == 1
            server.tell("put", "default", "cds", "a", "3")
            server.tell("publish", "default")
            assert "connection" not in local.answer().headers
    assert os.listdir(folder) == []
    os.rmdir(folder)


def wider_address():
    """listeners: 127.0.0.1 becomes 0.0.0.0 on the same port, and back; a second server is refused"""
    with simple() as server, Client(server.address) as client:
        version = client.poll("cds").version
        port = server.address.rsplit(":", 1)[1]
        for host in ("0.0.0.0", "127.0.0.1", "0.0.0.0"):
            client.ask("cds", (), version, 60000)
            server.until_parked(1)
            assert server.tell("listen", f"{host}:{port}") == f"{host}:{port}"
            with Client(server.address) as other:
                assert other.poll("cds").version == version
            server.tell("put", "default", "cds", "a", host)
            server.tell("publish", "default")
            answer = client.answer()
            assert answer.status == 200
            version = answer.version
            client.close()
            client.__init__(server.address)
            with Server() as second:
                for address in (f"0.0.0.0:{port}", f"127.0.0.1:{port}"):
                    assert second.ask("listen", address).startswith("error")


def backlog_at_swap():
    """listeners: who was in the backlog of a closed listener is still served"""
    with simple() as server:
        clients = [Client(server.address) for _ in range(20)]
        server.tell("listen", "127.0.0.1:00")
        for client in clients:
            assert client.poll("cds").status == 200
            client.close()


def stop_with_parked():
    """stop: parked clients get 304 (503 without a version) and the end of the stream"""
    server = simple()
    clients = [Client(server.address) for _ in range(50)]
    version = clients[0].poll("cds").version
    for client in clients:
        client.ask("cds", (), version, 60000)
    waiting = Client(server.address)
    waiting.ask("eds", ["later"], timeout=60000)
    idle = Client(server.address)
    idle.poll("cds")
    server.until_parked(51)
    server.stop()
    for client in clients:
        answer = client.answer()
        assert answer.status == 304 and answer.headers["connection"] == "close"
        assert client.is_closed()
        client.close()
    assert waiting.answer().status == 503
    assert idle.is_closed()
    waiting.close()
    idle.close()


def stop_with_silent_reader():
    """stop: a client that does not read its answer cannot hold it up for ever"""
    server = simple()
    server.tell("put", "default", "cds", "big", "x" * 8000000)
    server.tell("publish", "default")
    client = Client(server.address)
    client.ask("cds")
    server.until("request", lambda s: s["requests"] == 1)
    start = time.monotonic()
    server.stop()
    assert time.monotonic() - start < 15
    client.close()


run([every_path, other_paths, spellings, large_nodes, no_demands, contradicting_type, first_poll,
     not_modified, longest_hold, cheap_holds, change_during_hold, one_body_for_all, same_content, who_leaves,
     leaves_at_once, unknown_names, removed_names, never_empty_by_accident, needs_names, rejected,
     rejected_at_first, rejected_by_a_fleet, too_large_for_envoy,
     rejection_is_local, keep_alive, http_1_0, nothing_yet, groups,
     groups_change, no_node, for_people, status_keeps_secrets, encoding_fails, listeners,
     wider_address, backlog_at_swap, stop_with_parked, stop_with_silent_reader])
