#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""State of the world over gRPC as clients see it: S.64 to S.85, S.113 to S.115, S.123 to S.126."""
from daemon_lib import run
from grpc_lib import TYPES, Sotw, node, url
from grpc_tree import change, drop, put, see, serving, values, watch


def first_requests():
    """S.64: a first request is answered whatever version and nonce it brings from elsewhere"""
    with serving({"CDS": ["a", "b"], "EDS": ["a", "b"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            ads.ask("CDS", version_info="17", response_nonce="of a dead stream")
            current = ads.take("CDS", ["a", "b"]).version
            ads.ask("EDS", ["a"], response_nonce="9")
            ads.take("EDS", ["a"])
        for kind, names in (("CDS", ["a", "b"]), ("CDS", ["b"])):
            with Sotw(channel, "CDS") as cds:
                cds.ask(names=names if names == ["b"] else [], version_info=current,
                        response_nonce="1")
                cds.take(names=names)


def nonces_and_acks():
    """S.65, S.67: a nonce is new each time, and a plain ACK is never answered"""
    with serving({"CDS": ["a"], "EDS": ["a"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads, Sotw(channel) as other:
            ads.ask("CDS")
            first = ads.take("CDS", ["a"])
            for _ in range(20):
                ads.ack("CDS")
            ads.expect_silence()
            watch(ads)
            with change() as number:
                put("CDS", "a", 2)
            second = ads.take("CDS", ["a"])
            assert second.nonce != first.nonce and second.version != first.version
            see(ads, number)
            other.ask("CDS")
            assert other.take("CDS").version == second.version


def stale_nonces():
    """S.66: a request for an older response changes nothing and is not answered"""
    with serving({"EDS": ["a", "b"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            ads.ask("EDS", ["a"])
            former = ads.take("EDS", ["a"])
            ads.ask("EDS", ["a", "b"])
            ads.take("EDS", ["a", "b"])
            # The ACK of the first again, then another subscription with its nonce.
            ads.ask("EDS", ["a"], version_info=former.version, response_nonce=former.nonce)
            ads.ask("EDS", ["b", "x"], response_nonce=former.nonce)
            ads.ask("EDS", ["b"], response_nonce="never issued")
            ads.expect_silence()
            watch(ads)
            with change() as number:
                put("EDS", "a", 2)
            assert values(ads.expect("EDS", ["a", "b"])) == {"a": 2, "b": 1}
            ads.ack("EDS", ["a", "b"])
            see(ads, number)


def refusals():
    """S.68, S.85: a NACK, with or without details, costs nothing and ends nothing; news follow"""
    with serving({"CDS": ["a"]}, "--grpc-pace", "20ms") as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            ads.ask("CDS")
            ads.take("CDS", ["a"])
            watch(ads)
            for value, refuse in ((2, ads.nack), (3, ads.ask)):
                with change() as number:
                    put("CDS", "a", value)
                assert values(ads.expect("CDS")) == {"a": value}
                refuse("CDS")
                refuse("CDS")  # a second time says nothing new
                see(ads, number)
            with change() as number:
                put("CDS", "a", 4)
            assert values(ads.take("CDS")) == {"a": 4}
            see(ads, number)


def changed_names():
    """S.69, S.72, S.73: more names are answered at once, fewer not; what is missing comes later"""
    with serving({"EDS": ["a", "b"], "RDS": ["r"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            watch(ads)
            ads.ask("EDS", ["a"])
            ads.take("EDS", ["a"])
            ads.ask("EDS", ["a", "b"])
            ads.take("EDS", ["a", "b"])
            ads.ask("EDS", ["b"])
            ads.expect_silence()
            ads.ask("EDS", ["b", "later"])
            ads.take("EDS", ["b"])
            with change() as number:
                put("EDS", "a", 7)  # nobody's business any more
            see(ads, number)
            with change() as number:
                put("EDS", "later", 3)
            assert values(ads.take("EDS", ["b", "later"])) == {"b": 1, "later": 3}
            see(ads, number)
            with change() as number:
                put("EDS", "b", 2)
            ads.take("EDS", ["b", "later"])  # all that is subscribed, each time
            see(ads, number)


def rewarming():
    """S.70: the same request again after a push of clusters asks for the endpoints once more"""
    with serving({"CDS": ["a"], "EDS": ["a", "b"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            watch(ads)
            ads.ask("CDS")
            ads.take("CDS", ["a"])
            ads.ask("EDS", ["a", "b"])
            before = ads.take("EDS", ["a", "b"])
            ads.ask("EDS")  # no reason for it: nothing was replaced
            ads.expect_silence()
            with change() as number:
                put("CDS", "a", 2)
            ads.expect("CDS", ["a"])
            ads.ask("EDS")  # Envoy asks before it accepts the clusters
            again = ads.take("EDS", ["a", "b"])
            assert again.version == before.version and again.nonce != before.nonce
            ads.ack("CDS")
            see(ads, number)
            ads.ask("EDS")
            ads.expect_silence()


def whole_sets():
    """S.71, S.75, S.77: LDS and CDS are whole in one response; empty ones are said at once"""
    names = [f"c{i:03}" for i in range(300)]
    with serving({"CDS": names}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            watch(ads)
            ads.ask("CDS")
            ads.take("CDS", names)
            for kind in ("LDS", "SRDS"):
                ads.ask(kind)
                ads.take(kind, [])
            with change() as number:
                put("CDS", "c000", 2)
            ads.take("CDS", names)
            see(ads, number)
            with change() as number:
                drop("CDS", *names)
            # The bridge is what there was, so that nothing is said; the final one is empty.
            assert values(ads.take("RTDS")) == {"marker": number}
            ads.take("CDS", [])
            ads.expect_silence()


def wildcards():
    """S.74, S.75, S.76: empty names, "*", and leaving the wildcard again"""
    content = {"CDS": ["a", "b"], "EDS": ["a"], "RDS": ["r"], "SDS": ["s"], "ECDS": ["e"],
               "LDS": ["l"], "SRDS": ["x"]}
    with serving(content) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            for kind in ("EDS", "RDS", "SDS", "ECDS"):  # S.76: never the world
                ads.ask(kind)
            ads.expect_silence()
            for kind in ("CDS", "LDS", "SRDS"):
                ads.ask(kind, ["*"])
                ads.take(kind, content[kind])
            ads.ask("CDS", ["*", "b", "none"])
            ads.take("CDS", ["a", "b"])
            ads.ask("CDS", ["b"])
            ads.expect_silence()
            watch(ads)
            with change() as number:
                put("CDS", "a", 2)
            see(ads, number)
            ads.ask("CDS", [])  # S.74: names were sent: nothing is wanted
            ads.expect_silence()
            with change() as number:
                put("CDS", "b", 2)
            see(ads, number)
            ads.ask("CDS", ["*"])
            ads.take("CDS", ["a", "b"])
            ads.ask("EDS", ["a"])
            ads.take("EDS", ["a"])
            ads.ask("EDS", [])
            ads.expect_silence()
            with change() as number:
                put("EDS", "a", 2)
            see(ads, number)


def interest_lost():
    """S.68, S.79: a response for a type without interest is refused without details or ignored"""
    with serving({"EDS": ["a"], "RDS": ["r"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads:
            ads.ask("EDS", ["a"])
            ads.take("EDS", ["a"])
            ads.ask("RDS", ["r"])
            ads.take("RDS", ["r"])
            with change():
                put("EDS", "a", 2)
            ads.expect("EDS", ["a"])
            ads.ask("EDS", [])  # the version of before, no names, no details
            ads.expect_silence()
            with change():
                put("RDS", "r", 2)
            assert values(ads.take("RDS")) == {"r": 2}  # held up by nothing


def types_in_responses():
    """S.78: a response has the type that was asked for, and resources of no other"""
    content = {kind: ["x"] for kind in TYPES if kind != "VHDS"}
    with serving(content) as daemon, daemon.channel() as channel, Sotw(channel) as ads:
        for kind in content:
            ads.ask(kind, ["x"])
            response = ads.take(kind, ["x"])
            assert response.raw.type_url == url(kind)
            assert [item.type_url for item in response.raw.resources] == [url(kind)]


def unknown_types():
    """S.63, S.127: a type that nobody knows is left alone; the stream goes on"""
    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel, Sotw(channel) as ads:
        for name in ("type.googleapis.com/envoy.api.v2.Cluster", "nonsense",
                     "type.googleapis.com/envoy.config.route.v3.VirtualHost"):
            ads.ask("CDS", type_url=name)
        ads.expect_silence()
        ads.lanes.clear()
        ads.ask("CDS")
        ads.take("CDS", ["a"])


def one_outstanding():
    """S.80, S.115: without an ACK one response is out; the next is the newest, not each between"""
    with serving({"CDS": ["a"]}, "--grpc-pace", "1h") as daemon, daemon.channel() as channel:
        with Sotw(channel) as witness, Sotw(channel) as slow:
            slow.ask("CDS")
            slow.expect("CDS", ["a"])
            witness.ask("CDS")
            witness.take("CDS")
            for value in range(2, 7):
                with change():
                    put("CDS", "a", value)
                assert values(witness.take("CDS")) == {"a": value}
            slow.ack("CDS")
            assert values(slow.expect("CDS")) == {"a": 6}
            slow.ack("CDS")


def versions():
    """S.81, S.49: equal content has one version, on every stream, transport and replica"""
    content = {"CDS": ["a", "b"], "EDS": ["a", "b"]}
    seen = []
    for _ in range(2):  # a replica; the files are written in another order
        with serving(dict(reversed(content.items()))) as daemon, daemon.channel() as channel:
            with Sotw(channel) as ads, Sotw(channel, "EDS") as eds:
                ads.ask("CDS")
                ads.ask("EDS", ["b", "a"])
                eds.ask(names=["a"])
                found = [ads.take("CDS").version, ads.take("EDS").version, eds.take().version]
                assert daemon.rest_version() == found[0]
                assert daemon.group()["types"]["CDS"]["grpc"] == found[0]
                with change():
                    put("CDS", "a", 5)
                other = ads.take("CDS").version
                with change():
                    put("CDS", "a")
                assert ads.take("CDS").version == found[0] != other
                seen.append(found)
    assert seen[0] == seen[1], seen


def bytes_stay():
    """S.113: a cluster that did not change has the same bytes, in whatever order it is written"""
    metadata = {f"k{i}": {f"f{j}": j for j in range(9)} for i in range(9)}
    turned = {key: dict(reversed(fields.items()))
              for key, fields in reversed(metadata.items())}

    def put_it(maps):
        put("CDS", "a", fields={"metadata": {"filter_metadata": maps}})
    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel, Sotw(channel) as ads:
        watch(ads)
        ads.ask("CDS")
        ads.take("CDS", ["a"])
        with change() as number:
            put_it(metadata)
        before = ads.take("CDS", ["a"]).raw.resources[0].value
        see(ads, number)
        with change() as number:
            put_it(turned)
        see(ads, number)
        with change() as number:
            put("CDS", "b")
        response = ads.take("CDS", ["a", "b"])
        assert before in [item.value for item in response.raw.resources]
        see(ads, number)


def unchanged_types():
    """S.114: what did not change is not sent, on aggregated streams and on those of one type"""
    content = {kind: ["x", "y"] for kind in TYPES if kind != "VHDS"}
    with serving(content) as daemon, daemon.channel() as channel:
        streams = {kind: Sotw(channel, kind) for kind in content}
        with Sotw(channel) as ads:
            for kind, stream in streams.items():
                stream.ask(names=["x"])
                stream.take(names=["x"])
                ads.ask(kind, ["x"])
                ads.take(kind, ["x"])
            ads.ask("RTDS", ["x", "marker"])
            ads.take("RTDS", ["x", "marker"])
            with change():
                put("EDS", "y", 2)  # subscribed by nobody
                put("RDS", "x", 2)
            ads.take("RTDS", ["x", "marker"])
            assert values(ads.take("RDS")) == {"x": 2}
            ads.expect_silence()
            assert values(streams.pop("RDS").take()) == {"x": 2}
            for stream in streams.values():
                stream.finish()


def by_name():
    """S.123: LDS and CDS by name are answered with those names; a missing one by leaving it out"""
    client = node(agent="gRPC Go", features=["envoy.lb.does_not_support_overprovisioning"])
    content = {"CDS": ["a", "b"], "LDS": ["l", "m"]}
    with serving(content) as daemon, daemon.channel() as channel:
        with Sotw(channel, node=client) as ads:
            watch(ads)
            ads.ask("LDS", ["l"])
            ads.take("LDS", ["l"])
            ads.ask("CDS", ["a"])
            ads.take("CDS", ["a"])
            with change() as number:
                put("CDS", "b", 2)
                put("LDS", "m", 2)
            see(ads, number)
            ads.ask("CDS", ["a", "z"])
            ads.take("CDS", ["a"])
            with change() as number:
                drop("CDS", "a")
            assert values(ads.take("RTDS")) == {"marker": number}  # a is in the bridge
            ads.take("CDS", [])
            ads.expect_silence()


def partly_accepted():
    """S.124: a NACK with code 3 of a client that took the rest of it is a NACK like any other"""
    client = node(agent="gRPC C-core")
    with serving({"CDS": ["a", "b"]}, "--grpc-pace", "20ms") as daemon:
        with daemon.channel() as channel, Sotw(channel, node=client) as ads:
            watch(ads)
            ads.ask("CDS", ["a", "b"])
            ads.expect("CDS", ["a", "b"])
            ads.nack("CDS", "xDS resource b is invalid", code=3)
            ads.expect_silence()
            with change() as number:
                put("CDS", "b", 2)
            assert values(ads.take("CDS")) == {"a": 1, "b": 2}
            see(ads, number)


def resource_errors():
    """S.126: no resource_errors, though a client says it understands them"""
    client = node(features=["xds.config.resource-errors"])
    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel:
        with Sotw(channel, node=client) as ads:
            ads.ask("CDS", ["a", "missing"])
            response = ads.take("CDS", ["a"])
            assert not response.raw.UnknownFields(), "a field that this API version has not"


run([first_requests, nonces_and_acks, stale_nonces, refusals, changed_names, rewarming,
     whole_sets, wildcards, interest_lost, types_in_responses, unknown_types, one_outstanding,
     versions, bytes_stay, unchanged_types, by_name, partly_accepted, resource_errors])
