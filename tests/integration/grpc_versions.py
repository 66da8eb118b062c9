#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""S.81: files, REST and gRPC, state of the world and delta, show one version of everything: looked
at all the time while the tree is edited, and compared after each edit."""
import os
import threading

from daemon_lib import cluster, endpoints, fresh, listener, run, simple_tree, write
from grpc_lib import Delta, GrpcDaemon, Sotw

KINDS = ("CDS", "EDS", "LDS")
FILES = ("CDS", "LDS")  # load assignments have a file each


class Sampler(threading.Thread):
    """Notes every other version that files and REST show, until it is told to stop."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.server = daemon
        self.seen = {(way, kind): [] for way in ("files", "rest") for kind in FILES}
        self.error = None
        self.is_stopping = threading.Event()

    def run(self):
        try:
            while not self.is_stopping.is_set():
                for kind in FILES:
                    self.note("files", kind, self.server.file_version(kind=kind.lower()))
                    self.note("rest", kind, self.server.rest_version(kind=kind.lower()))
        except Exception as error:  # for the thread that waits for this one
            self.error = error

    def note(self, way, kind, version):
        seen = self.seen[way, kind]
        if not seen or seen[-1] != version:
            seen.append(version)

    def stop(self):
        self.is_stopping.set()
        self.join()
        assert self.error is None, self.error
        return self.seen


class Watcher:
    """A client that has everything and notes the versions it is shown."""

    def __init__(self, stream):
        self.stream = stream
        self.questions = 0
        self.seen = {kind: [] for kind in KINDS}
        for kind in ("CDS", "LDS"):
            stream.ask(kind)
            self.take()
        # More names than there will be: nothing depends on what exists.
        stream.ask("EDS", ["a", "b", "c", "d"])
        self.take()

    def take(self):
        response = self.stream.next()
        self.stream.ack(response.kind)
        seen = self.seen.get(response.kind, [""])
        if seen[-1:] != [response.version]:
            seen.append(response.version)
        return response.kind

    def catch_up(self, versions):
        """Until it was shown these; what may still come (S.101) shows no others."""
        while any(self.seen[kind][-1] != versions[kind] for kind in KINDS):
            self.take()
        self.questions += 1
        self.stream.ask("RTDS", [f"question-{self.questions}"])
        while self.take() != "RTDS":
            pass
        assert {kind: seen[-1] for kind, seen in self.seen.items()} == versions


def published(daemon, kind):
    """The versions in the order in which the daemon says that it made them."""
    versions = []
    for line in daemon.events("published"):
        fields = dict(item.split("=", 1) for item in line.split() if "=" in item)
        if fields["type"] == kind:
            versions.append(fields["version"])
    return versions


def is_part_of(some, whole):
    """some is whole without some of its elements."""
    rest = iter(whole)
    return all(element in rest for element in some)


def edits():
    return (
        ("one is changed", lambda: write("tree/clusters/a.yaml", cluster("a", "2s"))),
        ("one is added", lambda: write("tree/clusters/c.yaml", cluster("c"))),
        ("endpoints follow", lambda: write("tree/endpoints/c.yaml", endpoints("c", 81))),
        ("a file has another name", lambda: os.rename("tree/clusters/c.yaml",
                                                       "tree/clusters/d.yaml")),
        ("one is removed", lambda: os.remove("tree/clusters/b.yaml")),
        ("an error holds the group", lambda: write("tree/clusters/a.yaml", "name: [\n")),
        ("what is good is held, too", lambda: write("tree/listeners/l.yaml",
                                                    listener("l", 8081))),
        ("it is repaired", lambda: write("tree/clusters/a.yaml", cluster("a", "3s"))),
        ("the removed one is back", lambda: write("tree/clusters/b.yaml", cluster("b"))),
        ("the first content again", first_content),
    )


def first_content():
    write("tree/.xdspub-hold", "")
    os.remove("tree/clusters/d.yaml")
    write("tree/endpoints/c.yaml", endpoints("c"))
    simple_tree("tree")
    os.remove("tree/.xdspub-hold")


def compare(daemon, watchers, channel):
    """All at rest: what each transport shows is the same, and what status says."""
    daemon.until_idle()
    versions = {kind: daemon.rest_version(kind=kind.lower()) for kind in KINDS}
    for watcher in watchers:
        watcher.catch_up(versions)
    for kind in KINDS:
        names = ["a", "b", "c", "d"] if kind == "EDS" else []
        assert channel.fetch(kind, names).version == versions[kind], kind
        said = daemon.group()["types"][kind]
        ways = ("grpc", "rest", "files") if kind in FILES else ("grpc", "rest")
        assert {said[way] for way in ways} == {versions[kind]}, (said, versions)
    daemon.check_equal()
    return versions


def one_version():
    """S.81: equal versions everywhere after each of a row of edits, and never one of its own"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    write("tree/endpoints/c.yaml", endpoints("c"))
    with GrpcDaemon(grace="50ms", settle="5ms") as daemon, daemon.channel() as channel:
        daemon.until_ready()
        daemon.until_idle()
        sampler = Sampler(daemon)
        sampler.start()
        with Sotw(channel) as sotw, Delta(channel) as delta:
            watchers = [Watcher(sotw), Watcher(delta)]
            first = compare(daemon, watchers, channel)
            history = [first]
            for what, edit in edits():
                serial = daemon.status()["build"]["serial"]
                edit()
                daemon.until_built(serial + 1)
                history.append(compare(daemon, watchers, channel))
                changed = history[-1] != history[-2]
                assert changed == (what not in (
                    "a file has another name", "an error holds the group",
                    "what is good is held, too")), what
        assert history[-1] == first, "versions are those of the content"
        seen = sampler.stop()
        for watcher in watchers:
            for kind in KINDS:
                assert is_part_of(watcher.seen[kind], published(daemon, kind)), kind
        for (way, kind), versions in seen.items():
            assert is_part_of(versions, published(daemon, kind)), (way, kind, versions)
            assert versions[-1] == first[kind]
        assert len(published(daemon, "CDS")) > len({h["CDS"] for h in history}), "no bridge"


def replica():
    """S.81: another host with the same content, from other files, has the same versions"""
    shown = []
    for turn in range(2):
        fresh("tree", "out", "state")
        simple_tree("tree", ["a", "b"] if turn else ["b", "a"])
        if turn:
            with open("tree/clusters/a.yaml") as one, open("tree/clusters/b.yaml") as other:
                both = f"# together\n{one.read()}---\n{other.read()}"
            for name in ("a", "b"):
                os.remove(f"tree/clusters/{name}.yaml")
            write("tree/clusters/both.yaml", both)
        with GrpcDaemon() as daemon, daemon.channel() as channel:
            daemon.until_idle()
            with Sotw(channel) as sotw, Delta(channel) as delta:
                shown.append(compare(daemon, [Watcher(sotw), Watcher(delta)], channel))
    assert shown[0] == shown[1], shown


def restart():
    """S.81: killed and started again on a tree that has an error now, it shows what it showed"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    for turn in range(2):
        with GrpcDaemon() as daemon, daemon.channel() as channel:
            daemon.until_ready()
            with Sotw(channel) as sotw, Delta(channel) as delta:
                watchers = [Watcher(sotw), Watcher(delta)]
                versions = compare(daemon, watchers, channel)
                if turn == 0:
                    former = versions
                    write("tree/clusters/a.yaml", "name: [\n")
                    daemon.until("held", lambda s: daemon.group(status=s)["held"])
                for stream in (sotw, delta):
                    stream.cancel()
            daemon.kill()
    assert versions == former


run([one_version, replica, restart])
