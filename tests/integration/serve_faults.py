#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Restarts, crashes, full disks, floods of events, two instances, files that others touch."""
import ctypes
import json
import os
import random
import resource
import subprocess
import time

from daemon_lib import (Client, Daemon, NotifySocket, become_nobody, cluster, endpoints, fresh, run,
                        simple_tree, write, xdspub)


def restart_with_a_broken_tree():
    """a restart with a broken or missing tree serves the former versions at once"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        before = {kind: daemon.rest_version(kind=kind) for kind in ("cds", "lds", "eds")}
    write("tree/clusters/a.yaml", "nme: a\n")
    with Daemon() as daemon:
        daemon.until("held", lambda s: s["ready"] and daemon.group(status=s)["held"])
        assert {kind: daemon.rest_version(kind=kind) for kind in before} == before
        daemon.check_equal()
    os.rename("tree", "gone")
    with Daemon() as daemon:
        daemon.until("source error", lambda s: s["ready"] and s["source"]["error"])
        assert {kind: daemon.rest_version(kind=kind) for kind in before} == before
        with Client(daemon.rest, {"id": "n"}) as client:
            assert client.poll("cds").status == 200, "groups are known without a tree"
        os.rename("gone", "tree")
        write("tree/clusters/a.yaml", cluster("a"))
        daemon.until("released", lambda s: not s["source"]["error"] and
                     not daemon.group(status=s)["held"])
        daemon.until_idle()
        assert {kind: daemon.rest_version(kind=kind) for kind in before} == before


def restart_loses_nothing():
    """what changed while it was away goes over a bridge; the same tree changes no file"""
    fresh("tree", "out", "state")
    simple_tree("tree", ("a", "b", "c"))
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
    stamp = os.stat("out/edge/cds/cds.json").st_ino
    with Daemon() as daemon:
        daemon.until("built", lambda s: s["build"]["serial"] > 0)
        daemon.until_idle()
        assert os.stat("out/edge/cds/cds.json").st_ino == stamp
        assert not daemon.events("published")
    os.remove("tree/clusters/c.yaml")
    os.remove("tree/endpoints/c.yaml")
    with Daemon(grace="1500ms") as daemon:
        daemon.until("bridge", lambda s: s["groups"] and daemon.group(status=s)["bridge_until"])
        assert daemon.rest_names() == ["a", "b", "c"]
        daemon.kill()
    with Daemon(grace="300ms") as daemon:  # killed in the middle of the grace period
        daemon.until("built", lambda s: s["build"]["serial"] > 0)
        daemon.until("final", lambda s: daemon.rest_names() == ["a", "b"])
        daemon.until_idle()
        daemon.check_equal()


def kill_at_random():
    """kill -9 at random moments: every file is whole, versions never come from nowhere"""
    fresh("tree", "out", "state")
    simple_tree("tree", [f"c{i}" for i in range(30)])
    chance = random.Random(11)
    for round_ in range(25):
        daemon = Daemon(grace="20ms", settle="1ms")
        daemon.until_ready()
        for _ in range(chance.randrange(1, 6)):
            name = f"c{chance.randrange(30)}"
            write(f"tree/clusters/{name}.yaml", cluster(name, f"{chance.randrange(1, 99)}s"))
            write(f"tree/endpoints/{name}.yaml", endpoints(name, chance.randrange(1, 9999)))
            time.sleep(chance.random() * 0.006)  # not to wait for anything: to die anywhere
        daemon.kill()
        for folder, _, files in os.walk("out/edge"):
            for name in files:
                with open(os.path.join(folder, name)) as file:
                    content = json.load(file)
                assert content["version_info"].startswith("a") and content["resources"]
    with Daemon(grace="20ms") as daemon:
        daemon.until("built", lambda s: s["build"]["serial"] > 0)
        daemon.until_idle()
        daemon.check_equal()
        fresh("once")
        result = xdspub("build", "tree", "-o", "once", "--format", "json")
        assert result.returncode == 0, result.stderr
        for kind in ("cds", "lds"):
            with open(f"once/edge/{kind}/{kind}.json") as file:
                assert json.load(file)["version_info"] == daemon.rest_version(kind=kind)
        left = [p for p in os.listdir("out/.xdspub") if p not in ("manifest", "marker", "lock")]
        assert not [p for p in left if os.path.isdir(f"out/.xdspub/{p}") and
                    os.listdir(f"out/.xdspub/{p}")], left


def flood():
    """more events than the kernel's queue holds: everything is looked at again"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with open("/proc/sys/fs/inotify/max_queued_events") as file:
        limit = int(file.read())
    with Daemon("tree", "--log-level", "debug", "--settle", "200ms") as daemon:
        daemon.until_ready()
        daemon.until_idle()
        # The watch thread must not drain meanwhile, so the whole process stops.
        daemon.signal(19)
        for i in range(limit // 2 + 1000):
            name = f"tree/clusters/.{i}" if i % 2 else f"tree/clusters/x{i}~"
            with open(name, "w"):
                pass
            os.remove(name)
        write("tree/clusters/c.yaml", cluster("c"))
        write("tree/endpoints/c.yaml", endpoints("c"))
        daemon.signal(18)
        daemon.until("seen", lambda s: daemon.rest_names() == ["a", "b", "c"])
        assert "too many events at once" in daemon.log()
        write("tree/clusters/d.yaml", cluster("d"))
        daemon.until("watched again", lambda s: "d" in daemon.rest_names())


def two_instances():
    """a second instance on the same output or state folder is refused"""
    fresh("tree", "out", "state", "out2", "state2")
    simple_tree("tree")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        result = xdspub("serve", "--source", "tree", "--publish", "out")
        assert result.returncode == 1 and "another " in result.stderr, result.stderr
        result = xdspub("serve", "--source", "tree", "--publish", "out2", "--state", "state")
        assert result.returncode == 1 and "another " in result.stderr, result.stderr
        result = xdspub("build", "tree", "-o", "out")
        assert result.returncode == 1 and result.stderr, result.stderr
        daemon.check_equal()
    os.makedirs("foreign")
    write("foreign/x", "mine")
    result = xdspub("serve", "--source", "tree", "--publish", "foreign")
    assert result.returncode == 1 and os.listdir("foreign") == ["x"], result.stderr
    result = xdspub("serve", "--source", "tree", "--publish", "tree/out")
    assert result.returncode == 1 and not os.path.exists("tree/out/.xdspub"), result.stderr


def large_endpoints(name):
    return endpoints(name) + "".join(
        f"  - endpoint: {{address: {{socket_address: {{address: 10.0.{i // 250}.{i % 250}, "
        "port_value: 80}}}\n" for i in range(400))


def full_disk():
    """a full disk: REST goes on, the files follow when there is room"""
    if os.geteuid() != 0:
        print("# needs root for a small file system")
        return
    fresh("tree", "state")
    simple_tree("tree")
    os.makedirs("small", exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", "small"],
                      capture_output=True).returncode:
        print("# no right to mount here")
        return
    try:
        with Daemon(publish="small/out", state="small/state", grace="300ms") as daemon:
            daemon.until_ready()
            daemon.until_idle()
            fill = os.open("small/fill", os.O_WRONLY | os.O_CREAT)
            try:
                while True:
                    os.write(fill, b"x" * 4096)
            except OSError:
                os.close(fill)
            before = daemon.file_version()
            for i in range(5):
                write("tree/clusters/a.yaml", cluster("a", f"{i + 2}s"))
                write(f"tree/clusters/n{i}.yaml", cluster(f"n{i}"))
                write(f"tree/endpoints/n{i}.yaml", large_endpoints(f"n{i}"))
                daemon.until("REST", lambda s, i=i: f"n{i}" in daemon.rest_names())
            os.remove("tree/clusters/b.yaml")
            os.remove("tree/endpoints/b.yaml")
            status = daemon.until("failing", lambda s: s["sinks"]["files"]["error"] and
                                  s["sinks"]["state"]["error"] and s)
            assert daemon.group(status=status)["files_behind"], status
            assert daemon.file_version() == before
            assert daemon.events("publish-failed") and daemon.events("state-failed")
            # The bridge waits for the files.
            group = daemon.until("bridge", lambda s: daemon.group(status=s)["bridge_until"] and s)
            assert "b" in daemon.rest_names(), (group, daemon.rest_names())
            os.remove("small/fill")
            daemon.until("bridge in files", lambda s: "n4" in daemon.file_names())
            daemon.until_idle()
            daemon.check_equal()
            assert "b" not in daemon.rest_names()
            status = daemon.status()
            assert not status["sinks"]["files"]["error"] and not status["sinks"]["state"]["error"]
            assert daemon.events("recovered")
            last = daemon.rest_version()
        os.rename("tree", "broken")
        with Daemon(publish="small/out", state="small/state") as daemon:
            daemon.until_ready()
            assert daemon.rest_version() == last
            os.rename("broken", "tree")
    finally:
        subprocess.run(["umount", "-l", "small"], check=True)


def modified_files():
    """a published file that someone else changed is reported and rewritten at the next publish"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with Daemon("tree", "--rescan", "100ms") as daemon:
        daemon.until_ready()
        daemon.until_idle()
        write("out/edge/cds/cds.json", "{}")
        daemon.until("reported", lambda s: daemon.group(status=s)["modified_files"] == 1)
        assert "cds/cds.json" in daemon.events("modified")[0]
        serial = daemon.status()["build"]["serial"]
        daemon.until_built(serial + 3)
        assert len(daemon.events("modified")) == 1, "reported once"
        assert daemon.group()["modified_files"] == 1
        write("tree/clusters/a.yaml", cluster("a", "2s"))
        daemon.until("rewritten", lambda s: daemon.group(status=s)["modified_files"] == 0)
        daemon.until_idle()
        daemon.check_equal()


def unreadable_files():
    """a file or folder that cannot be read holds its group and removes nothing"""
    fresh("tree", "mine")
    simple_tree("tree")
    demote = None
    if os.geteuid() == 0:
        os.chmod(".", 0o777)
        demote = become_nobody
    with Daemon(publish="mine", state="mine.state", demote=demote) as daemon:
        daemon.until_ready()
        daemon.until_idle()
        before = daemon.rest_version()
        for path, mode in (("tree/clusters/a.yaml", 0o644), ("tree/clusters", 0o755)):
            os.chmod(path, 0)
            daemon.until("held", lambda s: daemon.group(status=s)["held"])
            assert path[5:] in daemon.group()["reason"]
            daemon.check_equal()
            os.chmod(path, mode)
            daemon.until("released", lambda s: not daemon.group(status=s)["held"])
        daemon.until_idle()
        daemon.check_equal()
        assert daemon.rest_version() == before


def take_all_instances(limit):
    """A process of another user that has every inotify instance; ends when the pipe is closed."""
    libc = ctypes.CDLL(None)
    from_child, to_parent = os.pipe()
    from_parent, to_child = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(to_child)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit + 64, limit + 64))
        become_nobody()
        while libc.inotify_init() >= 0:
            pass
        os.write(to_parent, b"x")
        os.read(from_parent, 1)
        os._exit(0)
    assert os.read(from_child, 1) == b"x"

    def give_back():
        os.close(to_child)
        os.waitpid(pid, 0)
    return give_back


def no_instances():
    """no inotify instance to be had: it says so, looks by itself, and recovers"""
    with open("/proc/sys/fs/inotify/max_user_instances") as file:
        limit = int(file.read())
    if os.geteuid() != 0 or limit > 4096:
        print("# needs root, to take the instances of another user")
        return
    fresh("tree", "mine", "mine.state")
    simple_tree("tree")
    os.chmod(".", 0o777)

    give_back = take_all_instances(limit)
    with Daemon("tree", "--rescan", "200ms", publish="mine", state="mine.state",
                demote=become_nobody) as daemon:
        daemon.until_ready()
        source = daemon.until("problem", lambda s: s["source"]["watch_problem"] and s)["source"]
        assert "max_user_instances" in source["watch_problem"], source
        give_back()
        write("tree/clusters/x.yaml", cluster("x"))
        daemon.until("seen", lambda s: "x" in daemon.rest_names())
        daemon.until("watching", lambda s: s["source"]["watching"])


def few_watches():
    """not enough inotify watches: it says so, and what cannot be watched is looked at"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    for i in range(40):
        os.makedirs(f"tree/layer{i}/clusters")
    script = 'echo 20 > /proc/sys/user/max_inotify_watches && exec "$0" "$@"'
    wrapper = ["unshare", "--user", "--map-root-user", "sh", "-c", script]
    if subprocess.run([*wrapper, "true"], capture_output=True).returncode:
        print("# no user namespaces here")
        return
    with Daemon("tree", "--rescan", "100ms", wrapper=wrapper) as daemon:
        source = daemon.until("problem", lambda s: s["ready"] and s["source"]["watch_problem"] and
                              s)["source"]
        assert "max_user_watches" in source["watch_problem"], source
        for i in (0, 20, 39):
            write(f"tree/layer{i}/clusters/x{i}.yaml", cluster(f"x{i}"))
            daemon.until("seen", lambda s, i=i: f"x{i}" in daemon.rest_names())
        daemon.until_idle()
        daemon.check_equal()


def notify_socket():
    """what the service manager hears: status, ready, stopping; on an abstract socket too"""
    for path in (os.path.abspath("notify"), f"@xdspub-test-{os.getpid()}"):
        fresh("tree", "out", "state")
        notify = NotifySocket(path)
        with Daemon(notify=notify, env={"WATCHDOG_USEC": "200000"}) as daemon:
            message = notify.until("waiting", lambda m: "waiting" in m.get("STATUS", ""))
            assert "READY" not in message
            notify.until("watchdog", lambda m: m.get("WATCHDOG") == "1")
            assert not any("READY" in m for m in notify.messages)
            simple_tree("tree")
            message = notify.until("ready", lambda m: m.get("READY") == "1")
            assert message["STATUS"].startswith("1 group, "), message
            write("tree/clusters/a.yaml", "nme: a\n")
            message = notify.until("held", lambda m: "held" in m.get("STATUS", ""))
            assert "clusters/a.yaml:1:1" in message["STATUS"], message
            daemon.stop()
            notify.until("stopping", lambda m: m.get("STOPPING") == "1")
            assert sum("READY" in m for m in notify.messages) == 1


if __name__ == "__main__":
    run([restart_with_a_broken_tree, restart_loses_nothing, kill_at_random, flood, two_instances,
         full_disk, modified_files, unreadable_files, no_instances, few_watches,
         notify_socket])
