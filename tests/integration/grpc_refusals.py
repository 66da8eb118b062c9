#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A client that refuses costs a response for each change and no loop: S.68, S.85, S.100. Counted by
the daemon, and by what arrives."""
import time

from daemon_lib import run
from grpc_lib import WAIT, Delta, Sotw
from grpc_tree import change, put, serving, values, watch

CONTENT = {"CDS": ["a", "b"], "EDS": ["a", "b"], "LDS": ["l"], "RDS": ["r"]}
PACE = ("--grpc-pace", "20ms")  # many times this passes while something could go wrong


def counters(daemon):
    status = daemon.status()["grpc"]
    return status["responses"], status["nacks"]


def each_change_once():
    """S.68, S.100: a client that refuses everything is sent each change once, and nothing between"""
    for form in (Sotw, Delta):
        for kind in (None, "CDS"):
            with serving(CONTENT, *PACE) as daemon, daemon.channel() as channel:
                with form(channel, kind) as refusing, Sotw(channel, "RTDS") as clock:
                    clock.ask(names=["marker"])
                    clock.take()
                    refusing.ask("CDS")
                    refusing.take("CDS", ["a", "b"])
                    before = counters(daemon)
                    for value in range(2, 12):
                        with change():
                            put("CDS", "a", value)
                        assert values(refusing.expect("CDS"))["a"] == value
                        refusing.nack("CDS")
                        clock.take()
                    until_counted(daemon, before, 10)
                    # Time passes, and other types change: nothing of it is for this client.
                    for value in range(2, 12):
                        with change():
                            put("LDS", "l", value)
                        clock.take()
                    responses, nacks = counters(daemon)
                    # Ten refused, and what the clock got.
                    assert responses - before[0] == 10 + 20, (before, responses)
                    assert nacks - before[1] == 10


def until_counted(daemon, before, refusals):
    daemon.until("the refusals", lambda s: s["grpc"]["nacks"] - before[1] == refusals)


def first_response():
    """S.68, S.100: one that refuses the very first response, over and over, gets no second"""
    for form in (Sotw, Delta):
        with serving(CONTENT, *PACE) as daemon, daemon.channel() as channel:
            with form(channel) as refusing:
                watch(refusing)
                for kind in CONTENT:
                    refusing.ask(kind, CONTENT[kind])
                    refusing.expect(kind, CONTENT[kind])
                before = counters(daemon)
                for _ in range(10):
                    for kind in CONTENT:
                        refusing.nack(kind)
                until_counted(daemon, before, 10 * len(CONTENT))
                assert counters(daemon)[0] == before[0]
                refusing.expect_silence()


def late_refusals():
    """S.68, S.100: refusals that take longer than a push waits come to an end as well"""
    for form in (Sotw, Delta):
        with serving(CONTENT, *PACE) as daemon, daemon.channel() as channel:
            with form(channel, "CDS") as refusing:
                refusing.ask()
                refusing.take(names=["a", "b"])
                nonces = []
                for value, name in enumerate("abcdef", 2):
                    with change():
                        put("CDS", name, value)
                    nonces.append(refusing.expect().nonce)
                before = counters(daemon)[0]
                for nonce in nonces:
                    refusing.nack(response_nonce=nonce) if form is Sotw else refusing.ask(
                        response_nonce=nonce, error_detail={"code": 13, "message": "no"})
                if form is Delta:
                    # What one of them minded may have been replaced: all of it once more.
                    assert sorted(refusing.expect().names) == list("abcdef")
                    refusing.nack()
                sent = before + (form is Delta)
                start = time.monotonic()
                with Sotw(channel, "RTDS") as clock:
                    clock.ask(names=["marker"])
                    clock.take()
                    while time.monotonic() < start + 0.3:  # many times the pace
                        with change():
                            pass
                        clock.take()
                        sent += 1
                assert counters(daemon)[0] == sent + 1, "told again and again"
                assert time.monotonic() < start + WAIT


def a_way_out():
    """S.68, S.100: after any number of refusals the first good content is sent, and accepted"""
    for form in (Sotw, Delta):
        with serving(CONTENT, *PACE) as daemon, daemon.channel() as channel:
            with form(channel) as ads:
                ads.ask("CDS")
                good = ads.take("CDS", ["a", "b"])
                for value in range(2, 5):
                    with change():
                        put("CDS", "a", value)
                        put("CDS", "b", value)
                    ads.expect("CDS")
                    ads.nack("CDS")
                with change():
                    put("CDS", "a", 1)
                    put("CDS", "b", 1)
                back = ads.take("CDS", ["a", "b"])
                assert values(back) == values(good) and back.version == good.version
                ads.expect_silence()
                status = daemon.status()["clients"][0]["types"]["CDS"]
                assert status["acknowledged"] == good.version, status
                assert "is_rejected" not in status and "last_nack" in status, status


run([each_change_once, first_response, late_refusals, a_way_out])
