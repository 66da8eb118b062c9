# SPDX-License-Identifier: GPL-2.0-or-later
"""A build with --disable-grpc: a gRPC listener is refused with a sentence, all else works."""
import os
import signal

from daemon_lib import Daemon, fresh, run, simple_tree, wait_for, write, xdspub

TEXT = "built without gRPC"


def config(extra=""):
    base = os.getcwd()
    write("xdspub.yaml", "source: {path: tree}\n"
          f"rest: {{listen: unix:{base}/rest}}\nadmin: {{listen: unix:{base}/admin}}\n{extra}")


def start():
    """serve --grpc does not start, and says why"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    result = xdspub("serve", "--source", "tree", "--grpc", "127.0.0.1:0")
    assert result.returncode == 1 and TEXT in result.stderr, result


def reload():
    """a listener that a reload brings is refused; REST goes on as it was"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    config()
    with Daemon(config="xdspub.yaml", rest=False) as daemon:
        daemon.admin, daemon.rest = f"unix:{os.getcwd()}/admin", f"unix:{os.getcwd()}/rest"
        daemon.until_ready()
        config("grpc: {listen: '127.0.0.1:0'}\n")
        daemon.signal(signal.SIGHUP)
        wait_for("the refusal", lambda: daemon.events("reload"))
        assert TEXT in daemon.events("listen-failed")[0], daemon.log()
        assert "result=refused" in daemon.events("reload")[0]
        assert daemon.rest_names() == ["a", "b"]
        assert "grpc" not in daemon.status() and daemon.status()["listeners"]["grpc"] == []


run([start, reload])
