#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Edit, break, repair, delete and check out a tree under a running daemon; files and REST at once."""
import datetime
import os
import random
import shutil
import subprocess
import threading

from daemon_lib import (Client, Daemon, cluster, endpoints, fresh, listener, run, simple_tree,
                        wait_for, write)

GROUPS = ("edge", "mesh", "rest")


def large_tree(path, count=160):
    """Three groups, about 1,000 resources: a common layer and one per group."""
    write(f"{path}/groups.yaml", """\
groups:
- name: edge
  match: {cluster: edge}
  layers: [common, edge]
- name: mesh
  match: {cluster: mesh}
  layers: [common, mesh]
- name: rest
  layers: [common]
""")
    write(f"{path}/common/listeners/l.yaml", listener("l"))
    for layer in ("common", "edge", "mesh"):
        for i in range(count):
            name = f"{layer}-{i}"
            write(f"{path}/{layer}/clusters/{name}.yaml", cluster(name))
            write(f"{path}/{layer}/endpoints/{name}.yaml", endpoints(name))


def edits():
    """an edit reaches files and REST with one version, and only the groups that have it"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        daemon.check_equal()
        before = daemon.rest_version()
        with Client(daemon.rest, {"id": "n", "cluster": "edge"}) as client:
            assert client.poll("cds").version == before
            client.ask("cds", version=before, timeout=20000)
            write("tree/clusters/a.yaml", cluster("a", "7s"))
            answer = client.answer()
            assert answer.status == 200 and answer.version != before
        daemon.until_idle()
        daemon.check_equal()
        assert daemon.rest_version() == answer.version
        write("tree/clusters/a.yaml", cluster("a"))
        daemon.until("old version", lambda s: daemon.file_version() == before)
        daemon.until_idle()
        assert daemon.rest_version() == before


def breaks_and_repairs():
    """an error holds the group, the last good snapshot stays; a repair releases it"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        before = daemon.rest_version()
        write("tree/clusters/c.yaml", "name: c\nlb_polcy: RANDOM\n")
        status = daemon.until("held", lambda s: daemon.group(status=s)["held"] and s)
        group = daemon.group(status=status)
        assert "clusters/c.yaml:2:1" in group["reason"], group
        assert status["ready"] and group["serving"]
        assert status["diagnostics"]["errors"] == 1
        assert "lb_policy" in status["diagnostics"]["shown"][0]
        write("tree/clusters/a.yaml", cluster("a", "9s"))  # good, but held with the rest
        daemon.until("seen", lambda s: s["build"]["serial"] > status["build"]["serial"])
        daemon.check_equal()
        assert daemon.rest_version() == before
        write("tree/clusters/c.yaml", cluster("c"))
        daemon.until("released", lambda s: not daemon.group(status=s)["held"])
        daemon.until_idle()
        daemon.check_equal()
        assert daemon.rest_names() == ["a", "b", "c"]
        assert len(daemon.events("held")) == 1 and len(daemon.events("released")) == 1


def removal_goes_over_a_bridge():
    """what is removed stays in a bridge with a version of its own, then goes everywhere"""
    fresh("tree", "out", "state")
    simple_tree("tree", ("a", "b", "c"))
    with Daemon(grace="1500ms") as daemon:
        daemon.until_ready()
        daemon.until_idle()
        whole = daemon.rest_version()
        os.remove("tree/clusters/b.yaml")
        os.remove("tree/endpoints/b.yaml")
        write("tree/clusters/d.yaml", cluster("d"))
        write("tree/endpoints/d.yaml", endpoints("d"))
        daemon.until("bridge", lambda s: daemon.group(status=s)["bridge_until"])
        wait_for("union in REST", lambda: daemon.rest_names() == ["a", "b", "c", "d"])
        wait_for("union in files", lambda: daemon.file_names() == ["a", "b", "c", "d"])
        # S.24: the file that an Envoy with the former clusters refers to is still there.
        assert "b" in daemon.eds_files()
        daemon.check_equal()
        assert daemon.group()["bridge_until"], "the grace period was too short for this machine"
        union = daemon.rest_version()
        daemon.until_idle()
        daemon.check_equal()
        final = daemon.rest_version()
        assert daemon.rest_names() == ["a", "c", "d"]
        assert len({whole, union, final}) == 3
        assert "b" not in daemon.eds_files() and "d" in daemon.eds_files()


def grace_after_a_slow_build():
    """the grace period begins when the bridge is served, however long it took to build it"""
    fresh("tree", "out", "state")
    many = [f"m{i}" for i in range(2000)]
    simple_tree("tree", ["a", *many])
    with Daemon(grace="40ms", publish=None, state=None) as daemon:
        daemon.until_ready()
        daemon.until_idle()
        write("tree/.xdspub-hold", "")
        for name in many:
            write(f"tree/clusters/{name}.yaml", cluster(name, "2s"))
        os.remove("tree/clusters/a.yaml")
        daemon.until("the hold", lambda s: s["source"]["pending"] == "the file .xdspub-hold")
        os.remove("tree/.xdspub-hold")
        daemon.until_logged("event=bridge-closed")
        opened, closed = (datetime.datetime.fromisoformat(daemon.events(event)[0].split("Z")[0])
                          for event in ("bridge-open", "bridge-closed"))
        took = int(daemon.events("built")[-1].split(" us=")[1].split()[0]) / 1e6
        assert (closed - opened).total_seconds() >= 0.035, (opened, closed, took)


def empties():
    """an emptied tree, a vanished groups.yaml and a moved tree remove nothing"""
    fresh("tree", "out", "state", "away")
    simple_tree("tree")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        before = daemon.rest_version()

        os.rename("tree/groups.yaml", "groups.yaml")
        daemon.until("held", lambda s: daemon.group(status=s)["held"])
        daemon.check_equal()
        os.rename("groups.yaml", "tree/groups.yaml")
        daemon.until("released", lambda s: not daemon.group(status=s)["held"])

        os.rename("tree", "away")
        daemon.until("source error", lambda s: s["source"]["error"])
        daemon.check_equal()
        assert daemon.status()["ready"]
        os.mkdir("tree")
        daemon.until("held", lambda s: not s["source"]["error"] and daemon.group(status=s)["held"])
        daemon.check_equal()
        assert daemon.rest_version() == before
        os.rmdir("tree")
        os.rename("away", "tree")
        daemon.until("released", lambda s: not s["source"]["error"] and
                     not daemon.group(status=s)["held"])
        daemon.until_idle()
        assert daemon.rest_version() == before
        assert not daemon.events("bridge-open")
        write("tree/clusters/a.yaml", cluster("a", "3s"))  # the new folder is watched
        daemon.until("seen", lambda s: daemon.rest_version() != before)


def swapped_link():
    """the root is a link that is swapped to another release"""
    fresh("one", "two", "out", "state")
    simple_tree("one")
    simple_tree("two", ("a", "b", "z"))
    for name in ("current", "new"):
        if os.path.lexists(name):
            os.remove(name)
    os.symlink("one", "current")
    with Daemon("current") as daemon:
        daemon.until_ready()
        daemon.until_idle()
        assert daemon.rest_names() == ["a", "b"]
        os.symlink("two", "new")
        os.rename("new", "current")
        daemon.until("swapped", lambda s: daemon.rest_names() == ["a", "b", "z"])
        daemon.until_idle()
        daemon.check_equal()
        write("two/clusters/y.yaml", cluster("y"))
        daemon.until("edited", lambda s: "y" in daemon.rest_names())
        os.symlink("one", "new")
        os.rename("new", "current")
        daemon.until("swapped back", lambda s: daemon.rest_names() == ["a", "b"])
        daemon.until_idle()
        daemon.check_equal()


def hold_file():
    """.xdspub-hold holds everything until it is gone, also at start"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    write("tree/.xdspub-hold", "")
    with Daemon() as daemon:
        daemon.until("waiting", lambda s: s["source"]["pending"] == "the file .xdspub-hold")
        assert not daemon.status()["ready"]
        assert daemon.get(daemon.admin, "/readyz").status == 503
        os.remove("tree/.xdspub-hold")
        daemon.until_ready()
        daemon.until_idle()
        before = daemon.rest_version()
        write("tree/.xdspub-hold", "")
        write("tree/clusters/a.yaml", cluster("a", "2s"))
        serial = daemon.until("pending", lambda s: s["source"]["pending"] and s)["build"]["serial"]
        write("tree/clusters/b.yaml", cluster("b", "2s"))
        assert daemon.rest_version() == before
        os.remove("tree/.xdspub-hold")
        daemon.until("one build", lambda s: s["build"]["serial"] == serial + 1 and
                     not s["source"]["pending"])
        daemon.until_idle()
        daemon.check_equal()
        assert daemon.rest_version() != before


def git_lock():
    """while git holds its index.lock nothing is built"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    os.mkdir("tree/.git")
    with Daemon("tree", "--settle-limit", "1h") as daemon:
        daemon.until_ready()
        daemon.until_idle()
        before = daemon.rest_version()
        write("tree/.git/index.lock", "")
        write("tree/clusters/a.yaml", cluster("a", "2s"))
        daemon.until("pending", lambda s: s["source"]["pending"] == "git to finish")
        assert daemon.rest_version() == before
        os.remove("tree/.git/index.lock")
        daemon.until("built", lambda s: daemon.rest_version() != before)


def git(*arguments):
    subprocess.run(["git", "-C", "tree", "-c", "user.name=t", "-c", "user.email=t@example.org",
                    *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def checkouts():
    """git checkout of 1,000 resources in three groups: one snapshot each, equal versions always"""
    fresh("tree", "out", "state")
    large_tree("tree")
    git("init", "-q", "-b", "one")
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "two")
    for i in range(0, 160, 2):  # change some, remove some, add some, in each layer
        for layer in ("common", "edge"):
            write(f"tree/{layer}/clusters/{layer}-{i}.yaml", cluster(f"{layer}-{i}", "5s"))
    for i in range(10):
        os.remove(f"tree/mesh/clusters/mesh-{i}.yaml")
        os.remove(f"tree/mesh/endpoints/mesh-{i}.yaml")
        write(f"tree/mesh/clusters/new-{i}.yaml", cluster(f"new-{i}"))
        write(f"tree/mesh/endpoints/new-{i}.yaml", endpoints(f"new-{i}"))
    git("add", "-A")
    git("commit", "-qm", "two")
    with Daemon("tree", settle="400ms", grace="300ms") as daemon:
        daemon.until_ready()
        daemon.until_idle()
        daemon.check_equal(GROUPS)
        seen = {branch: {} for branch in ("one", "two")}
        for branch in ("one", "two", "one", "two"):
            former = {g: daemon.rest_version(g) for g in GROUPS}
            git("checkout", "-q", branch)
            if branch == "one" or seen[branch]:
                daemon.until(branch, lambda s: daemon.rest_version("edge") != former["edge"])
            daemon.until_idle()
            daemon.check_equal(GROUPS)
            versions = {g: daemon.rest_version(g) for g in GROUPS}
            if seen[branch]:
                assert versions == seen[branch], "same content, other version"
            seen[branch] = versions
            mesh = daemon.rest_names("mesh")
            assert ("mesh-3" in mesh) == (branch == "one") and len(mesh) == 320
        # Each checkout is one target: per group at most a bridge and a final snapshot.
        for group in GROUPS:
            lines = [e for e in daemon.events("published")
                     if f"group={group} type=CDS" in e]
            assert len(lines) <= 1 + 4 * 2, lines


def random_edits():
    """random edits under way: whenever REST and files are read at rest, they are equal"""
    fresh("tree", "out", "state")
    large_tree("tree", 20)
    chance = random.Random(7)
    with Daemon("tree", settle="5ms", grace="40ms") as daemon:
        daemon.until_ready()
        stop = threading.Event()

        def edit():
            while not stop.is_set():
                layer = chance.choice(("common", "edge", "mesh"))
                name = f"{layer}-{chance.randrange(20)}"
                path = f"tree/{layer}/clusters/{name}.yaml"
                if chance.random() < 0.3 and os.path.exists(path):
                    os.remove(path)
                else:
                    write(path, cluster(name, f"{chance.randrange(1, 9)}s"))
                stop.wait(0.003)
        thread = threading.Thread(target=edit)
        thread.start()
        try:
            for _ in range(60):
                before = daemon.rest_version("edge")
                in_file = daemon.file_version("edge")
                after = daemon.rest_version("edge")
                groups = daemon.group("edge")["types"]["CDS"]
                assert groups["rest"] and groups["files"]
                if before == after:
                    # A file is at most one step behind while it is being renamed.
                    wait_for("the file to follow", lambda: daemon.file_version("edge") == before or
                             daemon.rest_version("edge") != before)
                assert in_file.startswith("a")
        finally:
            stop.set()
            thread.join()
        daemon.until_idle()
        daemon.check_equal(GROUPS)
        for group in GROUPS:
            names = sorted(os.path.basename(p)[:-5] for layer in
                           ("common", group) if os.path.isdir(f"tree/{layer}/clusters")
                           for p in os.listdir(f"tree/{layer}/clusters"))
            assert daemon.rest_names(group) == names


def groups_come_and_go():
    """a new group, a removed group: REST follows, files of the removed one stay"""
    fresh("tree", "out", "state")
    large_tree("tree", 3)
    with Daemon("tree") as daemon:
        daemon.until_ready()
        daemon.until_idle()
        assert daemon.rest_answer("mesh", "cds").status == 200
        text = open("tree/groups.yaml").read()
        write("tree/groups.yaml", text.replace("mesh", "mosh", 1).replace("cluster: mesh",
                                                                          "cluster: mosh"))
        daemon.until("mosh", lambda s: daemon.group("mosh", s) and not daemon.group("mesh", s))
        daemon.until_idle()
        assert daemon.rest_answer("mesh", "cds").status == 404
        assert daemon.rest_names("mosh") == daemon.file_names("mosh")
        assert daemon.file_names("mesh"), "files of a group that is gone stay"
        assert len(daemon.events("group-gone")) == 1


def first_start():
    """the first start on a missing, empty or broken tree answers 503, then serves"""
    fresh("tree", "out", "state")
    with Daemon() as daemon:
        daemon.until("source error", lambda s: s["source"]["error"])
        for make in (lambda: os.mkdir("tree"),
                     lambda: write("tree/clusters/a.yaml", "name: [")):
            assert daemon.get(daemon.admin, "/readyz").status == 503
            assert daemon.get(daemon.admin, "/healthz").status == 200
            with Client(daemon.rest, {"id": "n", "cluster": "edge"}) as client:
                assert client.poll("cds").status == 503
            serial = daemon.status()["build"]["serial"]
            make()
            daemon.until("looked at", lambda s: s["build"]["serial"] > serial)
        assert not os.path.exists("out/edge")
        simple_tree("tree")
        daemon.until_ready()
        daemon.until_idle()
        daemon.check_equal()
        assert daemon.get(daemon.admin, "/readyz").status == 200


def without_events():
    """without change events the periodic look finds everything"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with Daemon("tree", "--watch", "off", "--rescan", "100ms") as daemon:
        daemon.until_ready()
        assert daemon.status()["source"]["watching"] is False
        write("tree/clusters/x.yaml", cluster("x"))
        write("tree/endpoints/x.yaml", endpoints("x"))
        daemon.until("seen", lambda s: daemon.rest_names() == ["a", "b", "x"])
        os.remove("tree/clusters/x.yaml")
        os.remove("tree/endpoints/x.yaml")
        daemon.until("gone", lambda s: daemon.rest_names() == ["a", "b"])
        daemon.until_idle()
        daemon.check_equal()
        shutil.rmtree("tree")
        daemon.until("source error", lambda s: s["source"]["error"])
        daemon.check_equal()


def links_inside():
    """links inside the tree: an edit of the target is seen, a swapped link too"""
    fresh("tree", "out", "state")
    simple_tree("tree", ("a",))
    write("tree/_parts/shared.yaml", cluster("shared"))
    write("tree/_parts/other.yaml", cluster("shared", "9s"))
    os.symlink("../_parts/shared.yaml", "tree/clusters/shared.yaml")
    os.makedirs("tree/_more/clusters")
    write("tree/_more/clusters/m.yaml", cluster("m"))
    os.symlink("_more", "tree/linked")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        assert daemon.rest_names() == ["a", "m", "shared"], daemon.rest_names()
        before = daemon.rest_version()
        write("tree/_parts/shared.yaml", cluster("shared", "2s"))
        daemon.until("target edited", lambda s: daemon.rest_version() != before)
        daemon.until_idle()
        before = daemon.rest_version()
        os.symlink("../_parts/other.yaml", "tree/clusters/new~")
        os.rename("tree/clusters/new~", "tree/clusters/shared.yaml")
        daemon.until("link swapped", lambda s: daemon.rest_version() != before)
        daemon.until_idle()
        before = daemon.rest_version()
        write("tree/_more/clusters/m.yaml", cluster("m", "3s"))
        daemon.until("edited behind a linked folder", lambda s: daemon.rest_version() != before)
        write("tree/_more/clusters/n.yaml", cluster("n"))
        daemon.until("added behind a linked folder", lambda s: "n" in daemon.rest_names())
        daemon.until_idle()
        daemon.check_equal()


def kubernetes_volume():
    """a volume as Kubernetes makes it: all files swapped at once behind ..data"""
    fresh("tree", "out", "state")
    for number, names in ((1, ("a", "b")), (2, ("a", "c"))):
        folder = f"tree/..2026_{number}"
        write(f"{folder}/groups.yaml", "groups: [{name: edge, layers: [.]}]\n")
        write(f"{folder}/lds.yaml", "resources:\n- '@type': type.googleapis.com/"
              "envoy.config.listener.v3.Listener\n  name: l\n")
        write(f"{folder}/cds.yaml", "resources:\n" + "".join(
            "- '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster\n"
            f"  name: {name}\n" for name in names))
    os.symlink("..2026_1", "tree/..data")
    for name in ("groups", "lds", "cds"):
        os.symlink(f"..data/{name}.yaml", f"tree/{name}.yaml")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        assert daemon.rest_names() == ["a", "b"]
        os.symlink("..2026_2", "tree/..data_tmp")
        os.rename("tree/..data_tmp", "tree/..data")
        daemon.until("swapped", lambda s: daemon.rest_names() == ["a", "c"])
        shutil.rmtree("tree/..2026_1")
        daemon.until_idle()
        daemon.check_equal()


def random_shapes():
    """random renames, moves and removals of files and whole folders: what is there is served"""
    fresh("tree", "out", "state", "outside")
    simple_tree("tree", ("a",), allow_empty=True)
    os.mkdir("outside")
    chance = random.Random(5)
    serial = [0]

    def folders():
        return [folder for folder, _, _ in os.walk("tree/clusters")]

    def files():
        return [os.path.join(folder, name) for folder, _, names in os.walk("tree/clusters")
                for name in names]

    def new_file():
        serial[0] += 1
        write(f"{chance.choice(folders())}/f{serial[0]}.yaml", cluster(f"f{serial[0]}"))

    def new_folder():
        serial[0] += 1
        os.makedirs(f"{chance.choice(folders())}/d{serial[0]}/deep", exist_ok=True)
        new_file()

    def move_file():
        if files():
            source = chance.choice(files())
            os.rename(source, os.path.join(chance.choice(folders()), os.path.basename(source)))

    def remove_file():
        if files():
            os.remove(chance.choice(files()))

    def below():
        return [folder for folder in folders() if folder != "tree/clusters"]

    def rename_folder():
        if below():
            serial[0] += 1
            source = chance.choice(below())
            target = chance.choice([f for f in folders() if not (f + "/").startswith(source + "/")])
            os.rename(source, f"{target}/r{serial[0]}")

    def remove_folder():
        if below():
            shutil.rmtree(chance.choice(below()))

    def out_and_in():
        serial[0] += 1
        if below() and chance.random() < 0.5:
            os.rename(chance.choice(below()), f"outside/o{serial[0]}")
        elif os.listdir("outside"):
            os.rename("outside/" + chance.choice(os.listdir("outside")),
                      f"{chance.choice(folders())}/i{serial[0]}")

    def replace_root():
        os.rename("tree", "tree.old")
        os.rename("tree.old", "tree")

    actions = [new_file] * 6 + [new_folder] * 3 + [move_file] * 3 + [remove_file] * 2 + [
        rename_folder] * 2 + [remove_folder, out_and_in, out_and_in, replace_root]
    with Daemon("tree", "--rescan", "1h", settle="2ms", grace="1ms") as daemon:
        daemon.until_ready()
        for _ in range(60):
            for _ in range(chance.randrange(1, 12)):
                chance.choice(actions)()
            there = sorted(open(path).readline()[6:-1] for path in files())
            daemon.until(f"these: {there}", lambda s, there=there: daemon.rest_names() == there)
        daemon.until_idle()
        daemon.check_equal()


if __name__ == "__main__":
    run([edits, breaks_and_repairs, removal_goes_over_a_bridge,
         grace_after_a_slow_build, empties, swapped_link, hold_file,
         git_lock, checkouts, random_edits, groups_come_and_go, first_start, without_events,
         links_inside, kubernetes_volume, random_shapes])
