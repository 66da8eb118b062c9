#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A tree of several sources: each mount fails in every way while the others go on; restarts; holds;
settling; reloads; a file system that does not answer."""
import ctypes
import json
import os
import shutil
import signal
import threading
import time

from daemon_lib import (Daemon, become_nobody, cluster, endpoints, fresh, listener, run, wait_for,
                        write, xdspub)

SOURCE = os.path.abspath(os.environ.get("top_srcdir", "../.."))
GROUPS = """groups:
- {name: edge, match: {id: edge}, layers: [common, live/eds]}
- {name: secure, match: {id: secure}, layers: [common, live/tls]}
- {name: plain, layers: [common]}
"""


def secret(text):
    return f"name: s\ngeneric_secret: {{secret: {{inline_string: {text}}}}}\n"


def root(path="root"):
    write(f"{path}/groups.yaml", GROUPS)
    write(f"{path}/common/listeners/l.yaml", listener("l"))
    for name in ("a", "b"):
        write(f"{path}/common/clusters/{name}.yaml", cluster(name))


def render_eds(path="eds", names=("a", "b"), port=80):
    for name in names:
        write(f"{path}/endpoints/{name}.yaml", endpoints(name, port))


def render_tls(text="first"):
    write("tls/secrets/s.yaml", secret(text))


def clean():
    fresh("root", "eds", "tls", "out", "state", "away", "releases", "m")
    if os.path.islink("eds"):
        os.unlink("eds")


def config(sources=None, more="", rescan="60s"):
    """The configuration of the next daemon."""
    number = Daemon.count + 1
    base = os.getcwd()
    sources = sources or ["{path: root}", "{path: eds, at: live/eds, only: [{type: EDS}]}",
                          "{path: tls, at: live/tls}"]
    listing = "".join(f"- {source}\n" for source in sources)
    write("xdspub.yaml", f"""source:
{listing}state: state
publish: {{path: out, formats: [json]}}
rest: {{listen: ["unix:{base}/rest{number}.sock"]}}
admin: {{listen: ["unix:{base}/admin{number}.sock"]}}
settle: {{quiet: 20ms, rescan: {rescan}}}
grace: 100ms
{more}""")
    return os.path.abspath("xdspub.yaml")


def start(sources=None, more="", rescan="60s", **options):
    return Daemon(config=config(sources, more, rescan), **options)


def mount(status, at="live/eds"):
    for entry in status["mounts"]:
        if entry["at"] == at:
            return entry
    return {"state": None, "pending": None, "reason": None}


def until_mount(daemon, state, at="live/eds", reason=""):
    return daemon.until(f"{at} {state} {reason}",
                        lambda s: mount(s, at)["state"] == state and
                        reason in (mount(s, at)["reason"] or "") and s["source"]["pending"] is None)


def eds_version(daemon):
    return daemon.rest_version("edge", "eds")


SERIAL = [0]


def others_go_on(daemon):
    """The root's change comes to the group of the broken mount, and the other mount's to its own."""
    SERIAL[0] += 1
    before = eds_version(daemon)
    write("root/common/clusters/b.yaml", cluster("b", f"{SERIAL[0]}s"))
    render_tls(f"text{SERIAL[0]}")

    def has_come():
        resources = daemon.rest_answer("edge", "cds").json["resources"]
        with open("out/secure/sds/s/sds.json") as file:
            text = file.read()
        return (f"text{SERIAL[0]}" in text and
                any(r["name"] == "b" and r["connect_timeout"] == f"{SERIAL[0]}s"
                    for r in resources))
    wait_for("the others' changes", has_come)
    assert eds_version(daemon) == before
    assert daemon.rest_names("edge", "eds") == ["a", "b"]
    assert not daemon.group("edge")["held"]
    assert sorted(daemon.eds_files("edge")) == ["a", "b"]


def vanish():
    os.rename("eds", "away")


def empty():
    shutil.rmtree("eds/endpoints")


def half_write():
    write("eds/endpoints/c.yaml", endpoints("c"))
    with open("eds/endpoints/a.yaml", "w") as file:
        file.write("cluster_name: a\nendpoints:\n- lb_endpoi")


def break_schema():
    write("eds/endpoints/a.yaml", "cluster_nme: a\n")
    os.unlink("eds/endpoints/b.yaml")


def cross_fence():
    write("eds/clusters/x.yaml", cluster("x"))


def truncate():
    with open("eds/endpoints/b.yaml", "w"):
        pass


def lead_out():
    os.unlink("eds/endpoints/a.yaml")
    os.symlink("/etc/passwd", "eds/endpoints/a.yaml")


def no_folder():
    shutil.rmtree("eds")
    with open("eds", "w") as file:
        file.write("no folder\n")


def define_twice():
    write("eds/endpoints/c.yaml", endpoints("a", 81))


FAILURES = {vanish: "No such file", empty: "no YAML or JSON file", half_write: "a.yaml",
            break_schema: "cluster_nme", cross_fence: "may not define cluster",
            truncate: "this file is empty", lead_out: "out of the tree",
            no_folder: "Not a directory", define_twice: "in one layer"}


def repair():
    shutil.rmtree("away", ignore_errors=True)
    if os.path.isdir("eds"):
        shutil.rmtree("eds")
    elif os.path.exists("eds"):
        os.unlink("eds")
    render_eds("new")
    os.rename("new", "eds")


def first_start_waits():
    """on a first start what depends on a mount waits with 503, and the rest is served"""
    clean()
    root()
    render_tls()
    with start() as daemon:
        daemon.until("plain", lambda s: daemon.group("plain", s) and
                     daemon.group("plain", s)["serving"])
        until_mount(daemon, "waiting", reason="No such file")
        assert daemon.rest_answer("edge", "cds").status == 503
        assert daemon.rest_answer("plain", "cds").status == 200
        assert daemon.rest_names("secure", "cds") == ["a", "b"]
        os.makedirs("eds/endpoints")
        until_mount(daemon, "waiting", reason="no YAML or JSON file")
        assert daemon.rest_answer("edge", "cds").status == 503
        write("eds/endpoints/a.yaml", "cluster_name: [a\n")
        until_mount(daemon, "waiting", reason="a.yaml")
        status = daemon.status()
        assert not status["ready"]
        assert "live/eds" in daemon.group("edge", status)["reason"]
        render_eds()
        until_mount(daemon, "good")
        daemon.until_ready()
        wait_for("edge", lambda: daemon.rest_names("edge", "eds") == ["a", "b"])


def each_failure_holds_one_mount():
    """a mount that fails in whatever way holds itself alone, and is told of once"""
    clean()
    root()
    render_eds()
    render_tls()
    with start() as daemon:
        daemon.until_ready()
        before = eds_version(daemon)
        for fail, reason in FAILURES.items():
            fail()
            until_mount(daemon, "held", reason=reason)
            others_go_on(daemon)
            told = [line for line in daemon.events("mount") if "state=held" in line]
            people = xdspub("status", "--admin", daemon.admin).stdout
            assert "mount live/eds: " in people and "held, what it gave last counts" in people
            assert mount(daemon.status(), "live/tls")["state"] == "good"
            repair()
            until_mount(daemon, "good")
            assert eds_version(daemon) == before, fail
            assert len(told) >= 1
        held = [line for line in daemon.events("mount") if "state=held" in line]
        assert len(held) < 3 * len(FAILURES), "once for each way to be broken"


def restarts_in_each_state():
    """killed and started again with a broken mount, groups have what it gave last and go on"""
    clean()
    root()
    render_eds()
    render_tls()
    with start() as daemon:
        daemon.until_ready()
        before = eds_version(daemon)
    for fail, reason in FAILURES.items():
        with start() as daemon:
            until_mount(daemon, "good")
            daemon.until_idle()
            daemon.kill()
        fail()
        for _ in range(2):
            with start() as daemon:
                daemon.until_ready()
                assert eds_version(daemon) == before, fail
                until_mount(daemon, "held", reason=reason)
                others_go_on(daemon)
                daemon.kill()
        with start() as daemon:
            until_mount(daemon, "held", reason=reason)
            repair()
            until_mount(daemon, "good")
            assert eds_version(daemon) == before, fail


def killed_while_it_changes():
    """killed at any moment of changes in a mount, a start with a broken one has one of them"""
    clean()
    root()
    render_eds()
    render_tls()
    for round_ in range(6):
        with start() as daemon:
            daemon.until_ready()
            for step in range(5):
                render_eds("new", port=1000 + 10 * round_ + step)
                os.rename("eds", "old")
                os.rename("new", "eds")
                shutil.rmtree("old")
                time.sleep(0.004 * round_)
            daemon.kill()
        vanish()
        with start() as daemon:
            daemon.until_ready()
            until_mount(daemon, "held")
            text = json.dumps(daemon.rest_answer("edge", "eds").json)
            ports = {port for port in range(1000, 1100) if f": {port}" in text} or {80}
            assert len(ports) == 1, f"one render, whole: {ports}"
        os.rename("away", "eds")


def swapped_by_link():
    """a mount that is a link is swapped: to a bad release, to a good one, to nothing"""
    clean()
    root()
    render_tls()
    render_eds("releases/1", port=1)
    render_eds("releases/2", port=2)
    write("releases/3/endpoints/a.yaml", "cluster_name: a\nbad: 1\n")
    os.symlink("releases/1", "eds")

    def swap(to):
        os.symlink(to, "eds.new")
        os.rename("eds.new", "eds")
    with start() as daemon:
        daemon.until_ready()
        first = eds_version(daemon)
        swap("releases/3")
        until_mount(daemon, "held", reason="a.yaml")
        others_go_on(daemon)
        swap("releases/2")
        until_mount(daemon, "good")
        wait_for("release 2", lambda: eds_version(daemon) != first)
        swap("releases/4")
        until_mount(daemon, "held", reason="No such file")
        others_go_on(daemon)
        swap("releases/1")
        wait_for("release 1", lambda: eds_version(daemon) == first)
        until_mount(daemon, "good")


def unreadable():
    """a mount, a folder or a file in it that may not be read holds the mount"""
    if os.geteuid() != 0:
        return "not root: nobody to become"
    clean()
    root()
    render_eds()
    render_tls()
    with start(more="log: {level: info}\n") as daemon:
        daemon.until_ready()
    for path in ("state", "out"):
        shutil.rmtree(path)
        os.mkdir(path)
        os.chown(path, 65534, 65534)
    os.chmod(".", 0o777)
    with start(demote=become_nobody) as daemon:
        daemon.until_ready()
        for path in ("eds", "eds/endpoints", "eds/endpoints/a.yaml"):
            mode = os.stat(path).st_mode
            os.chmod(path, 0)
            until_mount(daemon, "held", reason="Permission denied")
            others_go_on(daemon)
            os.chmod(path, mode)
            until_mount(daemon, "good")
    return None


def own_settle():
    """a mount that needs two seconds of quiet delays nobody, and comes as one change"""
    clean()
    root()
    render_eds()
    render_tls()
    with start(["{path: root}", "{path: eds, at: live/eds, settle: {quiet: 2s, limit: 1m}}",
                "{path: tls, at: live/tls}"]) as daemon:
        daemon.until_ready()
        daemon.until_idle()
        before = eds_version(daemon)
        stop = threading.Event()

        def keep_rendering():
            port = 100
            while not stop.wait(0.05):
                port += 1
                render_eds(port=port)
        renderer = threading.Thread(target=keep_rendering)
        renderer.start()
        try:
            daemon.until("the mount settles", lambda s: mount(s)["pending"])
            begin = time.monotonic()
            others_go_on(daemon)
            assert time.monotonic() - begin < 1.5, "the root does not wait for the mount"
            assert eds_version(daemon) == before
        finally:
            stop.set()
            renderer.join()
        render_eds(port=99)
        stopped = time.monotonic()
        wait_for("the mount", lambda: eds_version(daemon) != before)
        assert time.monotonic() - stopped > 1.5
        assert daemon.rest_answer("edge", "eds").json["resources"][0]["endpoints"], "whole"
        daemon.until_idle()


def on_hold():
    """.xdspub-hold in a mount holds that mount, over a restart, too"""
    clean()
    root()
    render_eds()
    render_tls()
    with start() as daemon:
        daemon.until_ready()
        # A look that is going on has passed the hold already.
        daemon.until_idle()
        before = eds_version(daemon)
        write("eds/.xdspub-hold", "")
        render_eds(port=81)
        daemon.until("hold", lambda s: mount(s)["pending"] == "the file .xdspub-hold")
        others_go_on(daemon)
        daemon.kill()
    with start() as daemon:
        daemon.until_ready()
        daemon.until("hold", lambda s: mount(s)["pending"] == "the file .xdspub-hold" and
                     mount(s)["state"] == "held")
        others_go_on(daemon)
        assert eds_version(daemon) == before
        os.unlink("eds/.xdspub-hold")
        wait_for("the mount", lambda: eds_version(daemon) != before)
        until_mount(daemon, "good")


def reloads():
    """SIGHUP adds, changes and removes mounts, and keeps what broken ones gave"""
    import signal
    clean()
    root()
    render_eds()
    render_tls()

    def reload(sources, result="applied"):
        count = len(daemon.events("reload"))
        Daemon.count -= 1
        config(sources)
        Daemon.count += 1
        daemon.signal(signal.SIGHUP)
        wait_for("reload", lambda: len(daemon.events("reload")) > count)
        assert f"result={result}" in daemon.events("reload")[-1], daemon.events("reload")[-1]

    both = ["{path: root}", "{path: eds, at: live/eds}", "{path: tls, at: live/tls}"]
    with start(["{path: root}", "{path: tls, at: live/tls}"]) as daemon:
        daemon.until("plain", lambda s: daemon.group("plain", s) and
                     daemon.group("plain", s)["serving"])
        assert daemon.rest_answer("edge", "cds").status == 503, "live/eds is no folder"
        reload(both)
        until_mount(daemon, "good")
        wait_for("edge", lambda: daemon.rest_answer("edge", "cds").status == 200)
        before = eds_version(daemon)
        vanish()
        until_mount(daemon, "held")
        # Other times, another fence: what it gave last stays.
        reload(["{path: root}", "{path: eds, at: live/eds, only: [{type: EDS}]}",
                "{path: tls, at: live/tls, settle: {quiet: 1s}}"])
        until_mount(daemon, "held", reason="No such file")
        assert eds_version(daemon) == before
        assert not daemon.group("edge")["held"]
        # A fence that forbids what it gave last: it has nothing to give.
        reload(["{path: root}", "{path: eds, at: live/eds, only: [{type: SDS}]}",
                "{path: tls, at: live/tls}"])
        until_mount(daemon, "waiting")
        daemon.until("held", lambda s: daemon.group("edge", s)["held"])
        assert eds_version(daemon) == before, "but what was served stays"
        os.rename("away", "eds")
        reload(both)
        until_mount(daemon, "good")
        daemon.until("free", lambda s: not daemon.group("edge", s)["held"])
        reload(["{path: root}", "{path: eds, at: live/eds}", "{path: tls, at: live/eds}"],
               "refused")
        assert "is the place of two mounts" in daemon.log()
        reload(["{path: root}", "{path: tls, at: live/tls}"])
        daemon.until("gone", lambda s: [m["at"] for m in s["mounts"]] == ["live/tls"])
        assert eds_version(daemon) == before, "the group is held, not emptied"
        daemon.until("held", lambda s: daemon.group("edge", s)["held"])


def root_goes_away():
    """without the root the mounts' changes still come"""
    clean()
    root()
    render_eds()
    render_tls()
    with start() as daemon:
        daemon.until_ready()
        before = eds_version(daemon)
        os.rename("root", "away")
        daemon.until("no root", lambda s: s["source"]["error"])
        render_eds(port=81)
        wait_for("the mount", lambda: eds_version(daemon) != before)
        os.rename("away", "root")
        daemon.until("root", lambda s: not s["source"]["error"])


class Hanging:
    """A file system whose server never answers."""

    def __init__(self, path):
        self.path = path.encode()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.file = None

    def start(self):
        try:
            self.file = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            return str(error)
        os.makedirs(self.path, exist_ok=True)
        options = f"fd={self.file},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if self.libc.mount(b"hanging", self.path, b"fuse", 0, options) != 0:
            error = os.strerror(ctypes.get_errno())
            os.close(self.file)
            return error
        return None

    def stop(self):
        """Whoever waits gets an error."""
        self.libc.umount2(self.path, 2)
        os.close(self.file)


def does_not_answer():
    """a mount on a file system that does not answer holds nobody up"""
    clean()
    root()
    render_eds("eds")
    render_tls()
    hanging = Hanging("eds")
    with start() as daemon:
        daemon.until_ready()
        before = eds_version(daemon)
        problem = hanging.start()
        if problem:
            return f"no FUSE here: {problem}"
        try:
            # Nothing tells of a file system that is mounted over a folder; a reload looks at all.
            daemon.signal(signal.SIGHUP)
            until_mount(daemon, "held", reason="timed out")
            others_go_on(daemon)
            others_go_on(daemon)
        finally:
            hanging.stop()
        until_mount(daemon, "good")
        assert eds_version(daemon) == before
    hanging.start()
    try:
        with start() as daemon:
            daemon.until_ready()
            until_mount(daemon, "held", reason="timed out")
            others_go_on(daemon)
            # Those who wait for it are let go before the end: nothing else could end them.
            hanging.stop()
            until_mount(daemon, "good")
    except BaseException:
        hanging.stop()
        raise
    return None


def checked_offline():
    """check and build take mounts, and name real files"""
    clean()
    root()
    render_eds()
    render_tls()
    given = ["--mount", "live/eds=eds", "--mount", "live/tls=tls"]
    assert xdspub("check", "root", *given).returncode == 0
    path = config()
    result = xdspub("check", "--config", path)
    assert result.returncode == 0 and " error: " not in result.stdout, result.stdout
    write("eds/endpoints/a.yaml", "cluster_name: a\nbad: 1\n")
    write("eds/clusters/x.yaml", cluster("x"))
    here = os.getcwd()
    result = xdspub("check", "root", *given)
    assert result.returncode == 1
    assert result.stdout.startswith(f"{here}/eds/endpoints/a.yaml:2:1: error: "), result.stdout
    result = xdspub("check", "--config", path, "--json")
    answer = json.loads(result.stdout)
    assert {d["path"] for d in answer["diagnostics"] if d["level"] == "error"} == {f"{here}/eds/endpoints/a.yaml",
                                                         f"{here}/eds/clusters/x.yaml"}
    assert any(d["rule"] == "mount-fence" and d["line"] == 1 for d in answer["diagnostics"])
    result = xdspub("build", "root", "-o", "built", *given)
    assert result.returncode == 1
    assert os.path.exists("built/secure/cds") and not os.path.exists("built/edge"), result.stderr
    repair()
    assert xdspub("build", "--config", path, "-o", "built").returncode == 0
    assert os.path.exists("built/edge/eds/a")
    for bad, text in (["live/eds"], "AT=PATH"), (["live/eds=eds", "live/eds/=tls"], "two mounts"), \
            (["/live=eds"], "must be a folder"), (["_x=eds"], "never used"):
        arguments = [word for value in bad for word in ("--mount", value)]
        result = xdspub("check", "root", *arguments)
        assert result.returncode == 2 and text in result.stderr, result.stderr
    for sources, text in ((["{path: eds, at: live/eds}"], "one entry without at"),
                          (["{path: root}", "{path: eds}"], "exactly one is the root"),
                          (["{path: root}", "{at: live/eds}"], "needs a path"),
                          (["{path: root}", "{path: eds, at: ../x}"], "must be a folder"),
                          (["{path: root}", "{path: eds, at: x, onyl: []}"], "did you mean"),
                          (["{path: root}", "{path: eds, at: x, only: [{type: EDX}]}"],
                           "no xDS type"),
                          (["{path: root}", "{path: eds, at: x, settle: {quiet: fast}}"],
                           "must be a time")):
        result = xdspub("check", "--config", config(sources))
        assert result.returncode == 2 and text in result.stderr, (text, result.stderr)
        assert "xdspub.yaml:" in result.stderr


def same_versions_from_elsewhere():
    """examples/regions: endpoints that come from a mount have the versions they have in git"""
    clean()
    fresh("tree", "one", "two", "rendered")
    shutil.copytree(os.path.join(SOURCE, "examples", "regions"), "tree")

    def versions(out):
        return {(group, kind): json.load(open(f"{out}/{group}/{kind}/{kind}.json"))["version_info"]
                for group in os.listdir(out) if group != ".xdspub" for kind in ("cds", "lds")} | {
            (group, name): json.load(open(f"{out}/{group}/eds/{name}/eds.json"))["version_info"]
            for group in os.listdir(out) if group != ".xdspub"
            for name in os.listdir(f"{out}/{group}/eds")}
    assert xdspub("build", "tree", "-o", "one", "--format", "json").returncode == 0
    # As another program would: without parts, which are out of its reach.
    os.mkdir("rendered")
    for name in os.listdir("one/prod-eu/eds"):
        shutil.copy(f"one/prod-eu/eds/{name}/eds.json", f"rendered/{name}.json")
    shutil.rmtree("tree/env/prod/eu/endpoints")
    assert xdspub("check", "tree").returncode == 1, "at_least notices"
    result = xdspub("build", "tree", "-o", "two", "--format", "json", "--mount",
                    "env/prod/eu/endpoints=rendered")
    assert result.returncode == 0, result.stderr
    assert len(versions("one")) > 200
    assert versions("one") == versions("two")


run([first_start_waits, each_failure_holds_one_mount, restarts_in_each_state,
     killed_while_it_changes, swapped_by_link, unreadable, own_settle, on_hold, reloads,
     root_goes_away, does_not_answer, checked_offline, same_versions_from_elsewhere])
