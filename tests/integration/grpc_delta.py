#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Incremental xDS over gRPC as clients see it: S.86 to S.109."""
from daemon_lib import run
from grpc_lib import Delta, Sotw
from grpc_tree import change, drop, put, see, serving, values, watch

GRACE = {"grace": "1ms"}  # a removal comes as soon as it may
WILD = ("CDS", "LDS", "SRDS", "VHDS")


def take_two(ads):
    """The next two responses, accepted, whichever comes first."""
    seen = []
    for _ in range(2):
        response = ads.next()
        ads.ack(response.kind)
        seen.append((response.kind, sorted(response.names), response.removed))
    return sorted(seen)


def first_requests():
    """S.86: a first request without names is the wildcard, where there is one; later it is not"""
    content = {"CDS": ["a", "b"], "LDS": ["l"], "SRDS": ["s"], "VHDS": ["r/v"], "EDS": ["a"],
               "RDS": ["r"], "SDS": ["s"], "ECDS": ["e"]}
    with serving(content) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        watch(ads)
        for kind in WILD:
            ads.ask(kind)
            ads.take(kind, content[kind])
        for kind in ("EDS", "RDS", "SDS", "ECDS"):
            ads.ask(kind)
        for kind in WILD:
            ads.ask(kind)  # no change
        ads.expect_silence()
        with change() as number:
            put("CDS", "b", 2)
            put("CDS", "c")
            put("EDS", "a", 2)
        assert values(ads.take("CDS", ["b", "c"])) == {"b": 2, "c": 1}
        see(ads, number)
    with serving(content) as daemon, daemon.channel() as channel:
        with Delta(channel, "CDS") as cds:  # names first: never the wildcard
            cds.ask(subscribe=["a"])
            cds.take(names=["a"])
            cds.ask()


def empty_answers():
    """S.87: the first wildcard request is answered even when there is nothing to say"""
    with serving({"CDS": ["a"]}) as daemon, daemon.channel() as channel:
        with Delta(channel) as ads:
            for kind in ("LDS", "SRDS", "VHDS"):
                ads.ask(kind)
                ads.take(kind, [])
            ads.ask("CDS")
            known = ads.take("CDS", ["a"]).versions
            ads.expect_silence()
        with Delta(channel) as ads:
            ads.ask("CDS", versions=known)
            ads.take("CDS", [])
            ads.expect_silence()


def coming_back():
    """S.88, S.81: a client that comes back with versions gets the difference, nothing twice"""
    content = {"CDS": ["a", "b"], "EDS": ["a", "b"]}
    with serving(content, **GRACE) as daemon, daemon.channel() as channel:
        with Delta(channel, "CDS") as cds, Delta(channel, "EDS") as eds:
            cds.ask()
            clusters = cds.take(names=["a", "b"]).versions
            eds.ask(subscribe=["a", "b"])
            endpoints = eds.take(names=["a", "b"]).versions
        with Sotw(channel) as witness:
            watch(witness)
            with change() as number:
                put("CDS", "a", 2)
                put("CDS", "c")
                put("EDS", "a", 2)
            see(witness, number)
        with Delta(channel, "CDS") as cds, Delta(channel, "EDS") as eds:
            cds.ask(versions={**clusters, "vanished": "17"})
            response = cds.take(names=["a", "c"], removed=["vanished"])
            assert response.versions["a"] != clusters["a"]
            eds.ask(subscribe=["a", "b", "gone"], versions={**endpoints, "gone": "17"})
            response = eds.take(names=["a"], removed=["gone"])
            assert response.versions["a"] != endpoints["a"]
            endpoints["a"] = response.versions["a"]
        with Delta(channel, "EDS") as eds:  # everything is current: not one resource
            eds.ask(subscribe=["a", "b"], versions=endpoints)
            eds.ask(subscribe=["x"])
            response = eds.next()
            if not response.removed:
                assert not response.names
                eds.ack()
                response = eds.next()
            assert (response.names, response.removed) == ([], ["x"]), response
        with Delta(channel, "CDS") as cds:  # versions of somebody else's making equal none
            cds.ask(versions={"a": "1", "b": clusters["b"]})
            cds.take(names=["a", "c"])


def missing_names():
    """S.89: a named resource that does not exist is said to be missing, and sent when it appears"""
    # Users before what they use: what is there already would come again with them (S.101).
    told = ("LDS", "CDS", "EDS", "SDS", "RTDS")
    with serving({}) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        watch(ads)
        for kind in told:
            ads.ask(kind, ["x"])
            ads.take(kind, [], ["x"])
        for kind in ("RDS", "ECDS"):
            ads.ask(kind, ["x"])  # the client's own timer must go on
        ads.expect_silence()
        for kind in (*told, "RDS", "ECDS"):
            with change():
                put(kind, "x")
            if kind == "RTDS":
                ads.take("RTDS", ["marker", "x"])
            else:
                seen = take_two(ads)
                assert seen == sorted([(kind, ["x"], []), ("RTDS", ["marker"], [])]), seen
            ads.expect_silence()


def subscribing_again():
    """S.90: what was let go and is wanted again is sent again; so is what is named once more"""
    with serving({"EDS": ["a", "b"]}) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        watch(ads)
        ads.ask("EDS", ["a", "b"])
        before = ads.take("EDS", ["a", "b"])
        ads.ask("EDS", unsubscribe=["a"])
        with change() as number:
            put("EDS", "a", 2)
        see(ads, number)
        with change() as number:
            put("EDS", "a", 1)
        see(ads, number)
        ads.ask("EDS", ["a"])
        assert ads.take("EDS", ["a"]).versions["a"] == before.versions["a"]
        ads.ask("EDS", ["b"])
        ads.take("EDS", ["b"])


def both_lists():
    """S.91, S.92: a name in both lists is subscribed and sent; letting go of unknown ones is nothing"""
    with serving({"EDS": ["a", "x"]}) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        watch(ads)
        ads.ask("EDS", ["a"])
        ads.take("EDS", ["a"])
        ads.ask("EDS", ["a"], ["a"])
        ads.take("EDS", ["a"])
        ads.ask("EDS", unsubscribe=["x", "never heard of"])
        ads.expect_silence()
        with change() as number:
            put("EDS", "a", 2)
            put("EDS", "x", 2)
        ads.take("EDS", ["a"])
        see(ads, number)


def leaving_the_wildcard():
    """S.93, S.94: without "*" the named ones stay; a name let go under "*" is answered"""
    with serving({"CDS": ["a", "b"]}) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        watch(ads)
        ads.ask("CDS")
        ads.take("CDS", ["a", "b"])
        ads.ask("CDS", ["a", "x"])
        ads.take("CDS", ["a"], ["x"])
        ads.ask("CDS", unsubscribe=["a", "x"])
        ads.take("CDS", ["a"], ["x"])
        ads.ask("CDS", ["a"])
        ads.take("CDS", ["a"])
        ads.ask("CDS", unsubscribe=["*"])
        ads.expect_silence()
        with change() as number:
            put("CDS", "a", 2)
            put("CDS", "b", 2)
        ads.take("CDS", ["a"])
        see(ads, number)
        ads.ask("CDS", ["*"])
        assert values(ads.take("CDS", ["b"])) == {"b": 2}
        ads.ask("CDS", unsubscribe=["*", "a"])
        ads.expect_silence()
        with change() as number:
            put("CDS", "a", 3)
        see(ads, number)


def nonces():
    """S.95, S.96: subscriptions count with any nonce, and together with an ACK or a NACK"""
    names = list("abcdef")
    with serving({"EDS": names}) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        ads.ask("EDS", ["a"], response_nonce="of another stream")
        former = ads.take("EDS", ["a"]).nonce
        ads.ask("EDS", ["b"])
        ads.expect("EDS", ["b"])
        ads.ask("EDS", ["c"], response_nonce=former)
        ads.expect("EDS", ["c"])
        ads.ack("EDS", subscribe=["d"], unsubscribe=["a"])
        ads.expect("EDS", ["d"])
        ads.nack("EDS", subscribe=["e"])
        response = ads.take("EDS")
        assert "e" in response.names and not response.removed, response
        watch(ads)
        with change() as number:
            put("EDS", "a", 2)
            put("EDS", "b", 2)
        assert "b" in ads.take("EDS").names
        see(ads, number)


def each_once():
    """S.97, S.98, S.99: each name once, as it was subscribed, with a version and the right type"""
    odd = ["a/b", "a%2Fb", "ümlaut", "with space", "xdstp://x/y?z=1"]
    with serving({"EDS": odd}) as daemon, daemon.channel() as channel:
        with Delta(channel, "EDS") as eds:
            eds.ask(subscribe=[*odd, *odd, "a/b"])
            response = eds.take(names=odd)
            assert len(set(response.versions.values())) == len(odd)
            for wrapper in response.wrapped.values():
                assert wrapper.resource.type_url == response.raw.type_url


def refusals():
    """S.100, S.85: after a NACK changes go on; what was refused is not taken for held"""
    with serving({"CDS": ["a", "b", "c"]}, "--grpc-pace", "20ms", **GRACE) as daemon:
        with daemon.channel() as channel, Delta(channel) as ads:
            watch(ads)
            ads.ask("CDS")
            ads.take("CDS", ["a", "b", "c"])
            with change() as number:
                put("CDS", "a", 2)
                put("CDS", "b", 2)
            ads.expect("CDS", ["a", "b"])
            ads.nack("CDS")
            ads.nack("CDS")
            see(ads, number)
            with change() as number:
                put("CDS", "c", 2)
            ads.take("CDS", ["c"])
            see(ads, number)
            with change() as number:
                put("CDS", "a", 3)
            assert values(ads.take("CDS", ["a", "b"])) == {"a": 3, "b": 2}
            see(ads, number)
            with change() as number:
                put("CDS", "bad")
            ads.expect("CDS", ["bad"])
            ads.nack("CDS")
            see(ads, number)
            with change():
                drop("CDS", "bad")
            # It may have been kept, whatever the client said: so it is taken away.
            seen = take_two(ads)
            assert seen == [("CDS", [], ["bad"]), ("RTDS", ["marker"], [])], seen
            ads.expect_silence()


def removals():
    """S.106, S.107: removed is what vanished, after the bridge; an extension never"""
    content = {"CDS": ["a"], "EDS": ["a"], "SDS": ["s"], "RDS": ["r"], "ECDS": ["e"], "LDS": ["l"]}
    with serving(content, "--grpc-pace", "20ms", grace="1ms") as daemon:
        with daemon.channel() as channel:
            streams = {kind: Delta(channel, kind) for kind in content}
            for kind, stream in streams.items():
                stream.ask(subscribe=content[kind])
                stream.take(names=content[kind])
            with Delta(channel) as witness:
                watch(witness)
                with change() as number:
                    for kind in content:
                        drop(kind, *content[kind])
                see(witness, number)
                for kind in content:
                    if kind != "ECDS":
                        streams[kind].take(names=[], removed=content[kind])
                with change() as number:
                    put("ECDS", "e", 2)
                see(witness, number)
                streams["ECDS"].take(names=["e"])
            for stream in streams.values():
                stream.finish()


def virtual_hosts():
    """S.103: virtual hosts on demand, by alias, as a set, and those that do not exist"""
    with serving({}) as daemon, daemon.channel() as channel:
        put("VHDS", "r/v1", aliases=["r/a.example", "r/b.example"])
        with Delta(channel, "VHDS") as vhds:
            with Sotw(channel) as witness:
                watch(witness)
                with change() as number:
                    put("VHDS", "r/v2")
                see(witness, number)
            vhds.ask()
            vhds.take(names=["r/v1", "r/v2"])
        with Delta(channel, "VHDS") as vhds:
            vhds.ask(unsubscribe=["*"])
            vhds.ask(subscribe=["r/a.example"])
            response = vhds.take(names=["r/v1"])
            assert list(response.wrapped["r/v1"].aliases) == ["r/a.example"], response.raw
            assert values(response) == {"r/v1": 1}
            vhds.ask(subscribe=["r/none.example"])
            response = vhds.take(names=["r/none.example"])
            wrapper = response.wrapped["r/none.example"]
            assert not wrapper.HasField("resource")
            assert list(wrapper.aliases) == ["r/none.example"], wrapper
            with change():
                put("VHDS", "r/v1", 2, aliases=["r/a.example", "r/b.example"])
            assert values(vhds.take(names=["r/v1"])) == {"r/v1": 2}
            with change():
                put("VHDS", "r/v3", aliases=["r/none.example"])
            response = vhds.take(names=["r/v3"])
            assert list(response.wrapped["r/v3"].aliases) == ["r/none.example"]
            vhds.ask(subscribe=["r/v2"])
            vhds.take(names=["r/v2"])


def sources_of_endpoints():
    """S.125: eds_config ads arrives as it is written, self as ads, and both mean this stream"""
    sources = {name: {"eds_cluster_config": {"eds_config": {
        name: {}, "resource_api_version": "V3"}}} for name in ("ads", "self")}
    with serving({"EDS": ["ads", "self"]}) as daemon, daemon.channel() as channel:
        with Delta(channel) as ads:
            watch(ads)
            for value in (1, 2):
                with change() as number:
                    for name, source in sources.items():
                        put("CDS", name, value, fields=source)
                if value == 1:
                    see(ads, number)
                    ads.ask("CDS")
                for body in ads.take("CDS", ["ads", "self"]).resources.values():
                    config = body.eds_cluster_config.eds_config
                    assert config.WhichOneof("config_source_specifier") == "ads"
                if value == 1:
                    ads.ask("EDS", ["ads", "self"])
                ads.take("EDS", ["ads", "self"])  # at last unasked: both clusters wait for them
            see(ads, number)


def versions_of_endpoints():
    """S.88, S.101: on aggregated streams the version of endpoints says which clusters wait for them"""
    with serving({"CDS": ["a"], "EDS": ["a", "lonely"]}) as daemon, daemon.channel() as channel:
        with Delta(channel) as ads, Delta(channel, "EDS") as eds:
            watch(ads)
            eds.ask(subscribe=["a", "lonely"])
            plain = eds.take(names=["a", "lonely"]).versions
            ads.ask("CDS")
            ads.take("CDS", ["a"])
            ads.ask("EDS", ["a", "lonely"])
            former = ads.take("EDS", ["a", "lonely"]).versions
            with change() as number:
                put("CDS", "a", 2)
            ads.take("CDS", ["a"])
            again = ads.take("EDS", ["a"]).versions
            see(ads, number)
        for name in ("a", "lonely"):
            assert plain[name][0] == "a" and former[name][0] == "b", (plain, former)
            assert plain[name][1:25] == former[name][1:25] and len(former[name]) == 33
        assert former["lonely"][25:] == "0" * 8
        # Sent before the client had accepted the cluster, it says nothing of it.
        assert again["a"] == plain["a"]


def one_response():
    """S.108, S.109: a whole update is one response; system_version_info is that of the set"""
    names = [f"c{i:04}" for i in range(2000)]
    with serving({"CDS": names}) as daemon, daemon.channel() as channel:
        with Delta(channel, "CDS") as cds:
            cds.ask()
            response = cds.take(names=names)
            assert response.version == daemon.rest_version()
            with change():
                for name in names:
                    put("CDS", name, 2)
            assert len(cds.take(names=names).names) == 2000


run([first_requests, empty_answers, coming_back, missing_names, subscribing_again, both_lists,
     leaving_the_wildcard, nonces, each_once, refusals, removals, virtual_hosts,
     sources_of_endpoints, versions_of_endpoints, one_response])
