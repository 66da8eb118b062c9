#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make before break on aggregated streams: S.79, S.101, S.102, S.110 to S.112."""
import random
import time

from daemon_lib import run
from grpc_lib import WAIT, Delta, Sotw, until_group_serves
from grpc_tree import change, drop, put, see, serving, values, watch

CONTENT = {"CDS": ["a"], "EDS": ["a"], "SDS": ["s"], "LDS": ["l"], "RDS": ["r"], "SRDS": ["x"],
           "VHDS": ["r/v"]}
SOTW_ORDER = ("CDS", "EDS", "SDS", "LDS", "SRDS", "RDS")
DELTA_ORDER = (*SOTW_ORDER, "VHDS")
NEVER = ("--grpc-pace", "1h", "--grpc-drain", "1h")  # nothing but an ACK lets anything go on


def subscribe(stream, kinds):
    for kind in kinds:
        stream.ask(kind, [] if kind in ("CDS", "LDS", "SRDS") else CONTENT[kind])
        stream.take(kind, CONTENT[kind])


def one_change_in_order():
    """S.110: one change comes in order, each type after the ACK of the one before, but for load
    assignments: Envoy accepts clusters only when they have warmed (S.101)"""
    for form, order in ((Sotw, SOTW_ORDER), (Delta, DELTA_ORDER)):
        with serving(CONTENT, *NEVER) as daemon, daemon.channel() as channel:
            for steps in range(1, len(order) + 1):
                # A stream that stops to accept after some steps ends without anything further,
                # though its neighbour was brought through all of them.
                with form(channel) as silent, form(channel) as witness:
                    subscribe(silent, order)
                    subscribe(witness, order)
                    with change():
                        for kind in order:
                            put(kind, CONTENT[kind][0], 1 + steps)
                    for kind in order:
                        assert set(values(witness.take(kind)).values()) == {1 + steps}
                    for kind in order[:steps]:
                        silent.expect(kind, CONTENT[kind])
                        if kind != order[steps - 1]:
                            silent.ack(kind)
                    if steps == 1:
                        silent.expect("EDS", CONTENT["EDS"])


def bounded_waits():
    """S.110: a client that never accepts gets the next type after the time set, not before"""
    with serving(CONTENT, "--grpc-pace", "300ms") as daemon, daemon.channel() as channel:
        for form in (Sotw, Delta):
            with form(channel) as silent:
                subscribe(silent, ("CDS", "EDS", "RDS"))
                with change():
                    put("CDS", "a", 20 if form is Sotw else 30)
                    put("EDS", "a", 20 if form is Sotw else 30)
                    put("RDS", "r", 20 if form is Sotw else 30)
                arrivals = []
                for kind in ("CDS", "EDS", "RDS"):
                    silent.expect(kind)
                    arrivals.append(time.monotonic())
                # Less what the test itself was late to notice the former.
                assert 0.2 < arrivals[2] - arrivals[0] < WAIT, arrivals


def replies_do_not_wait():
    """S.79: a question is answered while a push of another type, or its own, is unanswered"""
    for form in (Sotw, Delta):
        with serving({**CONTENT, "EDS": ["a", "b"]}, *NEVER) as daemon:
            with daemon.channel() as channel, form(channel) as ads:
                subscribe(ads, ("CDS",))
                ads.ask("EDS", ["a"])
                ads.take("EDS", ["a"])
                with change():
                    put("CDS", "a", 2)
                ads.expect("CDS")
                if form is Delta:
                    ads.expect("EDS", ["a"])  # once more, for the changed cluster (S.101)
                ads.ask("EDS", ["a", "b"] if form is Sotw else ["b"])
                assert "b" in ads.expect("EDS").names
                if form is Delta:  # in SotW each request answers the response before it
                    ads.ask("EDS", ["a"])
                    ads.expect("EDS", ["a"])
                ads.ask("LDS")
                ads.take("LDS", ["l"])


def what_a_reply_needs():
    """S.110: a question about routes brings the clusters that they may need before them"""
    with serving(CONTENT, *NEVER) as daemon, daemon.channel() as channel:
        with Sotw(channel) as ads, Sotw(channel) as witness:
            subscribe(ads, ("CDS", "RDS"))
            watch(witness)
            with change() as number:
                put("CDS", "b")
                put("RDS", "new", cluster="b")
            ads.expect("CDS", ["a", "b"])
            see(witness, number)
            with change() as number:
                put("CDS", "c")
            see(witness, number)
            ads.ask("RDS", ["r", "new"])  # the first clusters are still not accepted
            ads.expect("CDS", ["a", "b", "c"])
            ads.expect("RDS", ["r", "new"])


def listeners_later():
    """S.112: clusters and endpoints are served without listeners, which are asked for later"""
    for form in (Sotw, Delta):
        with serving(CONTENT, *NEVER) as daemon, daemon.channel() as channel:
            with form(channel) as ads:
                ads.ask("CDS")
                ads.expect("CDS", ["a"])
                ads.ask("EDS", ["a"])
                ads.expect("EDS", ["a"])
                ads.ack("CDS")
                ads.ack("EDS")
                ads.expect_silence()
                ads.ask("LDS")
                ads.take("LDS", ["l"])


def move_route(value=2):
    """The route goes from cluster a to cluster b, which is new; a goes away."""
    with change():
        put("CDS", "b", value)
        put("EDS", "b", value)
        put("RDS", "r", value, cluster="b")
        drop("CDS", "a")
        drop("EDS", "a")


def final_version(daemon):
    """The version of the clusters once the bridge is over."""
    daemon.until_idle()
    version = daemon.rest_version()
    assert daemon.rest_names() == ["b"]
    until_group_serves(daemon, "CDS", version)
    return version


def removal_waits_for_its_users():
    """S.111: the old cluster leaves when the client has accepted the route that leaves it"""
    for form in (Sotw, Delta):
        for accepts in (False, True):
            # In one response SotW has what is new and lacks what is gone: the bridge must be longer
            # than the client takes.
            with serving(CONTENT, *NEVER, grace="50ms" if form is Delta else "2s") as daemon:
                with daemon.channel() as channel, form(channel) as ads:
                    subscribe(ads, ("CDS", "EDS", "LDS", "RDS"))
                    move_route()
                    both = ["a", "b"] if form is Sotw else ["b"]
                    ads.expect("CDS", both)
                    ads.ask("EDS", both)
                    ads.take("EDS", both)
                    ads.ack("CDS")
                    ads.expect("RDS", ["r"])
                    final = final_version(daemon)
                    with Sotw(channel) as witness:  # the loop has the final snapshot
                        witness.ask("CDS")
                        assert witness.take("CDS", ["b"]).version == final
                    if not accepts:
                        continue  # and so nothing more comes
                    ads.ack("RDS")
                    if form is Sotw:
                        assert ads.take("CDS", ["b"]).version == final
                    else:
                        assert ads.take("CDS", [], ["a"]).version == final
                        ads.take("EDS", [], ["a"])
                    ads.expect_silence()


def removal_waits_not_forever():
    """S.111: a client that never accepts is told of the removal after the time set"""
    for form in (Sotw, Delta):
        with serving(CONTENT, "--grpc-pace", "1h", "--grpc-drain", "500ms",
                     grace="50ms") as daemon:
            with daemon.channel() as channel, form(channel) as ads:
                subscribe(ads, ("CDS", "RDS"))
                move_route()
                ads.take("CDS")
                ads.expect("RDS", ["r"])
                start = time.monotonic()
                if form is Sotw:
                    ads.take("CDS", ["b"])
                else:
                    ads.take("CDS", [], ["a"])
                assert time.monotonic() - start > 0.3


def endpoints_of_changed_clusters():
    """S.101: a delta client gets the endpoints of a replaced cluster again, unasked"""
    content = {"CDS": ["a", "b", "c"], "EDS": ["a", "b", "other"]}
    with serving(content) as daemon, daemon.channel() as channel, Delta(channel) as ads:
        watch(ads)
        with change() as number:
            put("CDS", "c", service="other")
        see(ads, number)
        ads.ask("CDS")
        ads.take("CDS", ["a", "b", "c"])
        ads.ask("EDS", ["a", "b", "other"])
        ads.take("EDS", ["a", "b", "other"])
        with change() as number:
            put("CDS", "a", 2)
        ads.take("CDS", ["a"])
        assert values(ads.take("EDS", ["a"])) == {"a": 1}
        see(ads, number)
        with change() as number:
            put("CDS", "b", 2, is_eds=False)
            put("CDS", "c", 2, service="other")
        ads.take("CDS", ["b", "c"])
        ads.take("EDS", ["other"])
        see(ads, number)
        with change() as number:
            put("EDS", "a", 2)  # endpoints alone: no cluster is replaced
        ads.take("EDS", ["a"])
        see(ads, number)


def secrets_of_changed_users():
    """S.102: a delta client gets the secrets of a replaced cluster or listener again, unasked"""
    with serving({"SDS": ["s1", "s2", "s3"]}) as daemon, daemon.channel() as channel:
        with Delta(channel) as ads:
            watch(ads)
            with change() as number:
                put("CDS", "a", secret="s1")
                put("LDS", "l", secret="s2")
            see(ads, number)
            ads.ask("CDS")
            ads.take("CDS", ["a"])
            ads.ask("LDS")
            ads.take("LDS", ["l"])
            ads.ask("SDS", ["s1", "s2", "s3"])
            ads.take("SDS", ["s1", "s2", "s3"])
            ads.expect_silence()
            with change() as number:
                put("CDS", "a", 2, secret="s1")
            ads.take("CDS", ["a"])
            ads.take("SDS", ["s1"])
            see(ads, number)
            with change() as number:
                put("LDS", "l", 2, secret="s2")
            assert values(ads.take("RTDS")) == {"marker": number}
            ads.take("LDS", ["l"])
            ads.take("SDS", ["s2"])
            ads.expect_silence()


class Follower:
    """An aggregated client that keeps what it is given and asks for what that names."""

    def __init__(self, channel, form, asks_first):
        self.stream = form(channel)
        self.asks_first = asks_first  # for endpoints, before it accepts the clusters: as Envoy
        self.is_delta = form is Delta
        self.held = {kind: {} for kind in ("CDS", "EDS", "RDS")}
        self.wanted = set()
        self.dangling = []
        self.stream.ask("CDS")
        while not self.held["EDS"]:
            self.apply(self.stream.next())
        self.stream.ask("RDS", ["r"])

    def apply(self, response):
        held = self.held[response.kind]
        if self.is_delta:
            for name in response.removed:
                held.pop(name, None)
        elif response.kind == "CDS":
            held.clear()
        held.update(response.resources)
        routes = self.held["RDS"].get("r")
        if routes is not None:
            used = routes.virtual_hosts[0].routes[0].route.cluster
            if used not in self.held["CDS"] or used not in self.held["EDS"]:
                self.dangling.append((response, used))
        if not self.asks_first:
            self.stream.ack(response.kind)
        if response.kind == "CDS":
            self.ask_for_endpoints(set(held))
        if self.asks_first:
            self.stream.ack(response.kind)

    def ask_for_endpoints(self, wanted):
        more, fewer = sorted(wanted - self.wanted), sorted(self.wanted - wanted)
        self.wanted = wanted
        for name in fewer:
            self.held["EDS"].pop(name, None)
        if not self.is_delta:
            self.stream.ask("EDS", sorted(wanted))
        elif more or fewer:
            self.stream.ask("EDS", more, fewer)

    def follow(self, value):
        while True:
            response = self.stream.next()
            self.apply(response)
            if values(response).get("r") == value and response.kind == "RDS":
                return


def references_never_dangle():
    """S.110, S.111: through a row of moves no client ever routes to a cluster it has not"""
    # A state-of-the-world client must not be slower than the bridge is long; a delta client may.
    follow_moves(Sotw, "2s", 0.06)
    follow_moves(Delta, "20ms", 0.3)


def follow_moves(form, grace, pause):
    """pause: how often the end of the bridge is waited for."""
    chance = random.Random(3)
    with serving({"CDS": ["c0"], "EDS": ["c0"]}, "--grpc-drain", "1h", grace=grace) as daemon:
        put("RDS", "r", 1, cluster="c0")
        daemon.until("a route", lambda s: daemon.rest_names(kind="rds") == ["r"])
        with daemon.channel() as channel:
            followers = [Follower(channel, form, asks_first) for asks_first in (True, False)]
            for follower in followers:
                follower.follow(1)
            there = ["c0"]
            for step in range(2, 40):
                target = f"c{step}" if chance.random() < 0.7 else there[-1]
                with change():
                    if target not in there:
                        put("CDS", target)
                        put("EDS", target)
                    put("RDS", "r", step, cluster=target)
                    gone = [name for name in there if name != target]
                    drop("CDS", *gone)
                    drop("EDS", *gone)
                    there = [target]
                for follower in followers:
                    follower.follow(step)
                if chance.random() < pause:
                    daemon.until_idle()
            for follower in followers:
                assert not follower.dangling, follower.dangling[:3]
                while set(follower.held["CDS"]) != set(there):
                    follower.apply(follower.stream.next())
                assert not follower.dangling, follower.dangling[:3]
                follower.stream.cancel()


run([one_change_in_order, bounded_waits, replies_do_not_wait, what_a_reply_needs, listeners_later,
     removal_waits_for_its_users, removal_waits_not_forever, endpoints_of_changed_clusters,
     secrets_of_changed_users, references_never_dangle])
