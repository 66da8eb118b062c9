#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""SIGHUP: what it changes, what it refuses, and that no client is dropped."""
import os
import signal
import socket

from daemon_lib import (Client, Daemon, NotifySocket, cluster, fresh, run, simple_tree, wait_for,
                        write)

CONFIG = """\
source: {{path: {tree}}}
state: state
publish: {{path: {out}, formats: [json]}}
rest: {{listen: [{rest}]}}
admin: {{listen: ["{admin}"]}}
settle: {{quiet: 10ms}}
grace: {grace}
log: {{level: {level}}}
"""


def config(**changes):
    base = os.getcwd()
    values = dict(tree="tree", out="out", rest=f'"unix:{base}/r1"', admin=f"unix:{base}/a1",
                  grace="200ms", level="info", extra="")
    values.update(changes)
    write("xdspub.yaml", CONFIG.format(**values) + values["extra"])
    return values


def start(notify=None):
    fresh("tree", "out", "state")
    simple_tree("tree")
    values = config()
    daemon = Daemon(config="xdspub.yaml", notify=notify)
    daemon.admin, daemon.rest = values["admin"], f"unix:{os.getcwd()}/r1"
    daemon.until_ready()
    daemon.until_idle()
    return daemon


def reload(daemon, notify):
    """Sends SIGHUP and returns the message that ends the reload."""
    notify.drain()
    daemon.signal(signal.SIGHUP)
    message = notify.until("reloading", lambda m: m.get("RELOADING") == "1")
    assert int(message["MONOTONIC_USEC"]) > 0, "in the same datagram"
    return notify.until("ready again", lambda m: m.get("READY") == "1")


def nothing_changed():
    """a reload without changes looks at everything and drops nobody"""
    notify = NotifySocket(os.path.abspath("n1"))
    with start(notify) as daemon:
        with Client(daemon.rest, {"id": "n", "cluster": "edge"}) as client:
            version = client.poll("cds").version
            client.ask("cds", version=version, timeout=20000)
            serial = daemon.status()["build"]["serial"]
            message = reload(daemon, notify)
            assert message["STATUS"].startswith("1 group"), message
            assert daemon.status()["build"]["serial"] > serial
            assert client.is_silent()
            write("tree/clusters/a.yaml", cluster("a", "3s"))
            assert client.answer().version != version


def bad_configuration():
    """a bad configuration keeps the old one and says what is wrong"""
    notify = NotifySocket(os.path.abspath("n2"))
    with start(notify) as daemon:
        before = daemon.rest_version()
        for text, problem in (("grace: soon\n", "grace: "), ("sorce: {path: x}\n", "did you mean"),
                              ("{", "xdspub.yaml:"), (None, "xdspub.yaml")):
            if text is None:
                os.remove("xdspub.yaml")
            else:
                write("xdspub.yaml", text)
            count = len(daemon.events("reload-refused"))
            message = reload(daemon, notify)
            assert "refused" in message["STATUS"], message
            refused = daemon.events("reload-refused")
            assert len(refused) > count and problem in refused[-1], refused
            assert daemon.rest_version() == before
        write("tree/clusters/a.yaml", cluster("a", "3s"))
        daemon.until("still at work", lambda s: daemon.rest_version() != before)


def restart_needed():
    """changed publish and state folders are refused, and nothing else of that file is applied"""
    notify = NotifySocket(os.path.abspath("n3"))
    with start(notify) as daemon:
        for changes in ({"out": "elsewhere"}, {"extra": "limits: {hold: 1m}\n"},
                        {"extra": "schema: {base: other.pb}\n"}):
            config(level="debug", rest=f'"unix:{os.getcwd()}/r2"', **changes)
            message = reload(daemon, notify)
            assert "refused" in message["STATUS"], message
            assert "restart needed" in daemon.events("reload-refused")[-1]
            assert not os.path.exists("elsewhere") and not os.path.exists("r2")
            assert "level=debug" not in daemon.log()
        config(level="debug")
        assert "refused" not in reload(daemon, notify)["STATUS"]
        daemon.until_logged("key=log.level value=debug")
        # A build that reads nothing logs at that level; files just written are read once more.
        wait_for("a line of that level", lambda: reload(daemon, notify) and "level=debug" in daemon.log())


def listeners():
    """a changed address: the new listener opens first, clients of the old one get their answer"""
    notify = NotifySocket(os.path.abspath("n4"))
    base = os.getcwd()
    with start(notify) as daemon:
        with Client(daemon.rest, {"id": "n", "cluster": "edge"}) as client, \
                Client(daemon.rest, {"id": "n", "cluster": "edge"}) as staying:
            version = client.poll("cds").version
            client.ask("cds", version=version, timeout=20000)
            staying.ask("lds", version=staying.poll("lds").version, timeout=20000)

            config(rest=f'"unix:{base}/r1", "unix:{base}/r2"')  # one more
            reload(daemon, notify)
            with Client(f"unix:{base}/r2", {"id": "n"}) as other:
                assert other.poll("cds").version == version
            assert client.is_silent() and staying.is_silent()

            config(rest=f'"unix:{base}/r2"')  # the first one goes
            reload(daemon, notify)
            daemon.rest = f"unix:{base}/r2"
            write("tree/clusters/a.yaml", cluster("a", "3s"))
            answer = client.answer()
            assert answer.status in (200, 304), answer.status
            wait_for("old socket gone", lambda: not os.path.exists("r1"))
            daemon.until("new version", lambda s: daemon.rest_version() != version)

            taken = socket.create_server(("127.0.0.1", 0))  # an address in use changes nothing
            port = taken.getsockname()[1]
            config(rest=f'"unix:{base}/r2", "127.0.0.1:{port}"', grace="7s")
            assert "refused" in reload(daemon, notify)["STATUS"]
            assert daemon.events("listen-failed")
            assert daemon.rest_names() == ["a", "b"]
            taken.close()
            assert "refused" not in reload(daemon, notify)["STATUS"]
            with Client(f"127.0.0.1:{port}", {"id": "n"}) as other:
                assert other.poll("cds").status == 200

            config(admin=f"unix:{base}/a2", rest=f'"unix:{base}/r2"')
            reload(daemon, notify)
            daemon.admin = f"unix:{base}/a2"
            assert daemon.status()["listeners"]["admin"] == [f"unix:{base}/a2"]


def another_source():
    """another source and other times are taken over; a missing one changes nothing"""
    notify = NotifySocket(os.path.abspath("n5"))
    with start(notify) as daemon:
        fresh("other")
        simple_tree("other", ("a", "z"))
        config(tree="other")
        reload(daemon, notify)
        daemon.until("other tree", lambda s: daemon.rest_names() == ["a", "z"])
        daemon.until_idle()
        daemon.check_equal()
        write("other/clusters/y.yaml", cluster("y"))
        daemon.until("watched", lambda s: "y" in daemon.rest_names())
        version = daemon.rest_version()
        config(tree="nowhere")
        reload(daemon, notify)
        daemon.until("source error", lambda s: s["source"]["error"])
        assert daemon.rest_version() == version
        config(tree="out/inside")
        assert "refused" in reload(daemon, notify)["STATUS"]


def held_tree():
    """a reload ends although the tree is held"""
    notify = NotifySocket(os.path.abspath("n6"))
    with start(notify) as daemon:
        write("tree/.xdspub-hold", "")
        reload(daemon, notify)


def only_some_groups():
    """`groups` limits what is served; the others go"""
    notify = NotifySocket(os.path.abspath("n7"))
    with start(notify) as daemon:
        write("tree/groups.yaml", "groups:\n- {name: edge, match: {cluster: edge}, layers: [.]}\n"
                                  "- {name: other, layers: [.]}\n")
        daemon.until("two groups", lambda s: len(s["groups"]) == 2 and s["ready"])
        daemon.until_idle()
        config(extra="groups: [edge]\n")
        reload(daemon, notify)
        daemon.until("one group", lambda s: [g["name"] for g in s["groups"]] == ["edge"])
        assert daemon.rest_answer("other", "cds").status == 503
        config()
        reload(daemon, notify)
        daemon.until("two groups", lambda s: len(s["groups"]) == 2 and s["ready"])
        daemon.until_idle()
        daemon.check_equal(("edge", "other"))


def many_signals():
    """a storm of SIGHUP under edits: no client is dropped, the last edit arrives"""
    notify = NotifySocket(os.path.abspath("n8"))
    with start(notify) as daemon:
        with Client(daemon.rest, {"id": "n", "cluster": "edge"}) as client:
            version = client.poll("cds").version
            for i in range(60):
                client.ask("cds", version=version, timeout=20000)
                config(grace=f"{100 + i}ms", tree="tree" if i % 2 else "./tree")
                write("tree/clusters/a.yaml", cluster("a", f"{2 + i}s"))
                notify.drain()
                daemon.signal(signal.SIGHUP)
                answer = client.answer()
                assert answer.status == 200 and answer.version != version
                version = answer.version
                assert f'"{2 + i}s"' in answer.body.decode()
        daemon.until_idle()
        daemon.check_equal()


if __name__ == "__main__":
    run([nothing_changed, bad_configuration, restart_needed, listeners, another_source, held_tree,
         only_some_groups, many_signals])
