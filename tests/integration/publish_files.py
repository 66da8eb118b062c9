#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Published files as Envoy sees them: inotify with its own mask, parsers by suffix, modes, order,
names, files that others touch, and folders that are refused."""
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys

from publish_read import FORMATS, message_class, parse
from access import for_everyone
from publish_test import (BUILD, IN_DELETE, IN_MODIFY, IN_MOVED_TO, Folder, Tap, Tool, Watch,
                          read_tree)

ORDER = ["sds", "eds", "rtds", "ecds", "cds", "rds", "srds", "lds"]
FIRST = "publish edge @c0ffee lds:l cds:a cds:b eds:a eds:b sds:pw rds:r rtds:t ecds:e srds:s"


def publish(tool, line):
    answer = tool.tell(line)
    assert answer.startswith("ok"), answer
    return {k: int(v) for k, v in (w.split("=") for w in answer.split()[1:])}


def watch_all(out, mask=IN_MODIFY | IN_MOVED_TO):
    watch = Watch()
    for folder, names, _ in os.walk(out):
        if ".xdspub" in names:
            names.remove(".xdspub")
        watch.add(folder, mask)
    return watch


def test_events(tap, top):
    out = os.path.join(top, "events")
    tool = Tool(out, ",".join(FORMATS))
    publish(tool, FIRST)
    watch = watch_all(out)
    result = publish(tool, FIRST.replace("eds:a", "eds:a=2200"))
    events = watch.events()
    want = [(os.path.join(out, "edge/eds/a/eds." + f), IN_MOVED_TO) for f in FORMATS]
    tap.ok(sorted(events) == sorted(want),
           "S.1 S.3 S.6: one changed resource is exactly one MOVED_TO of its name, nothing else",
           events)
    tap.ok(result["written"] == 4 and result["unchanged"] == 32 and result["removed"] == 0,
           "it is counted so", result)
    publish(tool, FIRST.replace("eds:a", "eds:a=2200").replace("c0ffee", "decaf"))
    tap.ok(not watch.events(), "S.7: what did not change is not renamed, whatever the commit")
    inode = os.stat(os.path.join(out, "edge/eds/a/eds.pb")).st_ino
    publish(tool, FIRST)
    status = os.stat(os.path.join(out, "edge/eds/a/eds.pb"))
    tap.ok(status.st_ino != inode and status.st_nlink == 1, "S.5: always a new file, never a link")
    watch.events()
    every = ("publish edge lds:l=e201026869 cds:a=e201026869 cds:b eds:a=2200 eds:b=2200 "
             "sds:pw=2a00 rds:r=12020a00 rtds:t=1200 ecds:e=1200 srds:s=2200")
    result = publish(tool, every)
    kinds = [os.path.relpath(p, out).split("/")[1] for p, m in watch.events() if m == IN_MOVED_TO]
    tap.ok(kinds == sorted(kinds, key=ORDER.index) and set(kinds) == set(ORDER),
           "S.23: SDS, EDS, RTDS, ECDS, CDS, RDS, SRDS, LDS", kinds)
    watch.close()
    watch = watch_all(out, IN_MOVED_TO | IN_DELETE)
    result = publish(tool, "publish edge lds:l2 cds:b eds:b srds:s=2200")
    events = [(p, m & 0xfff) for p, m in watch.events() if "." in os.path.basename(p)]
    last_write = max(i for i, (_, m) in enumerate(events) if m == IN_MOVED_TO)
    deleted = [os.path.relpath(p, out).split("/")[1] for p, m in events if m == IN_DELETE]
    tap.ok(all(m == IN_MOVED_TO for _, m in events[:last_write]) and
           deleted == sorted(deleted, key=ORDER.index, reverse=True) and
           set(deleted) == {"rds", "ecds", "rtds", "eds", "sds"},
           "S.23: removals come last and the other way round", events)
    tap.ok(result["removed"] == 20 and not os.path.exists(os.path.join(out, "edge/rds/r")) and
           os.path.isdir(os.path.join(out, "edge/rds")), "folders of removed resources go too")
    tool.close()
    watch.close()


def name_of(resource):
    """Of every type the name is field 1."""
    body = resource.value
    return body[2:2 + body[1]].decode() if body[:1] == b"\n" else None


def test_content(tap, top):
    out = os.path.join(top, "content")
    tool = Tool(out, ",".join(FORMATS))
    publish(tool, FIRST)
    tool.close()
    bad, mixed, wrong, empty = [], [], [], 0
    for path in read_tree(out):
        stem, _, suffix = os.path.basename(path).partition(".")
        message = parse(os.path.join(out, path))
        other = parse(os.path.join(out, os.path.dirname(path), stem + ".pb"))
        empty += os.path.getsize(os.path.join(out, path)) == 0
        if message != other or not message.resources or message.nonce:
            bad.append(path)
        names = [name_of(r) for r in message.resources]
        folder = os.path.basename(os.path.dirname(path))
        want = {"lds": ["l"], "cds": ["a", "b"], "srds": ["s"]}.get(stem, [folder])
        if names != want:
            wrong.append("%s has %s" % (path, names))
        if any(r.type_url != message.type_url for r in message.resources):
            mixed.append(path)
        if message.control_plane.identifier != "c0ffee":
            bad.append(path + " lacks the commit")
        if not re.fullmatch("a[0-9a-f]{32}", message.version_info):
            bad.append(path + " version " + message.version_info)
    tap.ok(not bad and len(read_tree(out)) == 36,
           "S.9 S.10 S.12: every file reads back by its suffix as the same message", bad)
    tap.ok(not mixed, "S.13: no file has resources of two types", mixed)
    tap.ok(not wrong, "S.14 S.20: LDS, CDS and SRDS are whole, each name once; S.15 S.16 S.17 S.18 "
           "S.19: EDS, RDS, SDS, RTDS and ECDS have the one that their folder names", wrong)
    tap.ok(not empty, "S.8: no file is empty")
    with open(os.path.join(out, "edge/lds/lds.yaml"), encoding="utf-8") as f:
        tap.ok(re.match(r'version_info: "a[0-9a-f]{32}"\n', f.read()),
               "S.11: the version is a quoted string in YAML")


def test_wrapper(tap, top):
    out = os.path.join(top, "wrapper")
    tool = Tool(out, ",".join(FORMATS))
    publish(tool, "publish edge lds:l^1500 cds:a^0&other eds:b&x/y eds:a rtds:t^90061001")
    tool.close()
    wrapper_type = message_class("envoy.service.discovery.v3.Resource")
    want = {"lds": ("l", 1500, []), "cds": ("a", 0, ["other"]), "eds/b": ("b", None, ["x/y"]),
            "rtds/t": ("t", 90061001, [])}
    bad = []
    for key, (name, ttl, aliases) in want.items():
        for suffix in FORMATS:
            path = os.path.join(out, "edge", key, key.split("/")[0] + "." + suffix)
            message = parse(path)
            wrapper = wrapper_type()
            if not message.resources[0].Unpack(wrapper):
                bad.append(path + " is not wrapped")
            if wrapper.name != name or name.encode() not in wrapper.resource.value or \
                    wrapper.version or list(wrapper.aliases) != aliases:
                bad.append("%s: %s" % (path, wrapper))
            if wrapper.resource.type_url != message.type_url:
                bad.append(path + " inner type")
            found = wrapper.ttl.ToMilliseconds() if wrapper.HasField("ttl") else None
            if found != ttl:
                bad.append("%s: TTL %s" % (path, found))
    tap.ok(not bad, "S.21: TTL and aliases travel in a Resource whose name is the inner one", bad)
    tap.ok(parse(os.path.join(out, "edge/eds/a/eds.yaml")).resources[0].type_url.endswith(
        "ClusterLoadAssignment"), "S.21: without them there is no wrapper")


def test_modes(tap, top):
    out = os.path.join(top, "modes")
    owner, group = (1234, 2345) if os.getuid() == 0 else (os.getuid(), os.getgid())
    old = os.umask(0o077)
    tool = Tool(out, "yaml", args=("-u", str(owner), "-g", str(group), "-m", "644", "-x", "640"))
    os.umask(old)
    publish(tool, FIRST)
    bad = []
    for path in read_tree(out):
        status = os.stat(os.path.join(out, path))
        mode = 0o640 if "/sds/" in path else 0o644
        if (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) != (mode, owner, group):
            bad.append("%s %o %d:%d" % (path, status.st_mode, status.st_uid, status.st_gid))
    for folder, mode in (("edge", 0o755), ("edge/sds", 0o750), ("edge/sds/pw", 0o750),
                         ("edge/eds/a", 0o755), (".", 0o755), (".xdspub", 0o700),
                         (".xdspub/staging", 0o700)):
        found = stat.S_IMODE(os.stat(os.path.join(out, folder)).st_mode)
        if found != mode:
            bad.append("%s %o" % (folder, found))
    tap.ok(not bad, "S.22: owner, group and modes are as told, whatever the umask", bad)
    watch = watch_all(out)
    publish(tool, FIRST.replace("sds:pw", "sds:pw=2a00"))
    path, mask = watch.events()[0]
    tap.ok(mask == IN_MOVED_TO and stat.S_IMODE(os.stat(path).st_mode) == 0o640,
           "a secret is never readable by all")
    watch.close()
    tool.close()
    # Other modes in the configuration: files follow at the next start.
    tool = Tool(out, "yaml", args=("-u", str(owner), "-g", str(group), "-m", "640", "-x", "600"))
    publish(tool, FIRST)
    modes = {stat.S_IMODE(os.stat(os.path.join(out, p)).st_mode) for p in read_tree(out)}
    tap.ok(modes == {0o640, 0o600}, "changed modes take effect after a restart", modes)
    tool.close()


def test_names(tap, top):
    out = os.path.join(top, "names")
    long = "é世" * 204 + "abcd"
    names = ["..", ".", ".hidden", "a/b", "a%2Fb", "a.b", "a b", "%", "~", long, long + "x",
             long[:-1] + "y", "x" * 200, "x" * 201, "x" * 202, "A", "a", "/etc/passwd", "a\tb"]

    def hexed(name):
        return "".join("%%%02X" % b for b in name.encode())

    tool = Tool(out, "pb")
    publish(tool, "publish g lds:l cds:c " + " ".join("eds:" + hexed(n) for n in names))
    found = {}
    for path in read_tree(out):
        parts = path.split("/")
        if len(parts) == 4 and parts[:2] == ["g", "eds"]:
            found[parts[2]] = parse(os.path.join(out, path)).resources[0].value[2:]
    tap.ok(len(found) == len(names), "every name has a folder of its own", sorted(found))
    tap.ok(all(re.fullmatch(r"(?!\.)[A-Za-z0-9_.%~-]{1,200}", n) for n in found) and
           {"%2E.", "%2E", "a%2Fb", "a%252Fb", "a.b", "a%20b"} <= set(found),
           "names are safe", sorted(found))
    tap.ok(set(os.listdir(top)) & {"etc", "passwd"} == set() and
           sorted(os.listdir(os.path.join(out, "g"))) == ["cds", "eds", "lds"],
           "nothing is written elsewhere")
    publish(tool, "publish g lds:l cds:c")
    tap.ok(os.listdir(os.path.join(out, "g/eds")) == [], "and all of them can be removed")
    tap.ok(tool.tell("publish ../g lds:l").startswith("error") and
           tool.tell("publish .xdspub lds:l").startswith("error"), "a bad group name is refused")
    tool.close()


def test_others(tap, top):
    out = os.path.join(top, "others")
    tool = Tool(out, "yaml")
    publish(tool, FIRST)
    good = read_tree(out)
    path = os.path.join(out, "edge/eds/a/eds.yaml")
    tap.ok(tool.tell("check") == "0", "nobody touched anything")
    with open(path, "a", encoding="utf-8") as f:
        f.write("# mine\n")
    os.unlink(os.path.join(out, "edge/rds/r/rds.yaml"))
    os.chmod(os.path.join(out, "edge/lds/lds.yaml"), 0o600)
    answer = tool.tell("check")
    tap.ok(answer.endswith(" 3") and path in answer and "rds.yaml" in answer and
           "modified edge" in answer, "changed, deleted and chmod'ed files are found", answer)
    tap.ok(tool.tell("check") == "0", "and told once")
    result = publish(tool, FIRST)
    tap.ok(result["written"] == 3 and read_tree(out) == good,
           "the next publish of the group writes them again", result)
    # Without a check: the publish that replaces the file says so.
    with open(path, "w", encoding="utf-8") as f:
        f.write("mine\n")
    publish(tool, FIRST.replace("eds:a", "eds:a=2200"))
    shutil.rmtree(os.path.join(out, "edge/rds"))
    publish(tool, FIRST.replace("rds:r", "rds:r rds:r2"))
    tap.ok(os.path.exists(os.path.join(out, "edge/rds/r2/rds.yaml")), "a deleted folder comes back")
    with open(os.path.join(out, "edge/eds/b/note"), "w", encoding="utf-8") as f:
        f.write("a file of someone else")
    publish(tool, "publish edge lds:l cds:a eds:a")
    tap.ok(os.listdir(os.path.join(out, "edge/eds/b")) == ["note"],
           "a foreign file in a removed resource's folder stays")
    tool.close()
    tap.ok("file-modified" in tool.stderr and "edge/eds/a/eds.yaml" in tool.stderr,
           "the log names what was replaced", tool.stderr)
    # While we were away
    shutil.rmtree(out)
    tool = Tool(out, "yaml")
    publish(tool, FIRST)
    publish(tool, FIRST.replace("publish edge", "publish core"))
    tool.close()
    good = read_tree(out)
    with open(path, "a", encoding="utf-8") as f:
        f.write("# mine\n")
    with open(os.path.join(out, ".xdspub/staging/0000000000000001"), "w", encoding="utf-8") as f:
        f.write("left over")
    tool = Tool(out, "yaml")
    tap.ok(os.listdir(os.path.join(out, ".xdspub/staging")) == [], "leftovers are cleaned at start")
    watch = watch_all(out)
    publish(tool, FIRST)
    tap.ok(watch.events() == [(path, IN_MOVED_TO)] and read_tree(out) == good,
           "S.7: after a restart only what differs is renamed; a group that is gone stays")
    watch.close()
    tool.close()


def test_shared(tap, top):
    """Groups that are published together share the file of a set that they share."""
    out = os.path.join(top, "shared")
    tool = Tool(out, "yaml")
    line = "publish " + " ; ".join(f"{group} lds:l cds:a cds:{group}" for group in ("g1", "g2", "g3"))
    publish(tool, line)
    good = read_tree(out)
    paths = [os.path.join(out, group, "lds/lds.yaml") for group in ("g1", "g2", "g3")]
    tap.ok(len({os.stat(path).st_ino for path in paths}) == 1 and
           len({os.stat(p.replace("lds", "cds")).st_ino for p in paths}) == 3,
           "one file with three names, where the set is one")
    tap.ok(tool.tell("check") == "0", "nobody touched anything")
    publish(tool, "publish g2 lds:l=e201026869 cds:a cds:g2")
    changed = read_tree(out)
    tap.ok(changed["g1/lds/lds.yaml"] == changed["g3/lds/lds.yaml"] == good["g1/lds/lds.yaml"] and
           changed["g2/lds/lds.yaml"] != good["g2/lds/lds.yaml"] and tool.tell("check") == "0",
           "a change of one group leaves the others as they are")
    publish(tool, line)
    for what, damage in (("written into", lambda: open(paths[0], "a", encoding="utf-8").write("# mine")),
                         ("chmod'ed", lambda: os.chmod(paths[0], 0o600))):
        damage()
        answer = tool.tell("check")
        tap.ok(answer.endswith(" 2") and paths[0] in answer and paths[2] in answer,
               f"a file that is {what} under one name is found under all of its names", answer)
        publish(tool, line)
        tap.ok(read_tree(out) == good and tool.tell("check") == "0", "and written again")
        publish(tool, "publish g2 lds:l=e201026869 cds:a cds:g2")
        publish(tool, "publish g2 lds:l cds:a cds:g2")
    tool.close()
    tool = Tool(out, "yaml")
    result = publish(tool, line)
    tap.ok(result["written"] == 0 and tool.tell("check") == "0", "after a restart all is as it was", result)
    tool.close()


def test_folder_gone(tap, top):
    out = os.path.join(top, "gone")
    tool = Tool(out, "json")
    publish(tool, FIRST)
    good = read_tree(out)
    shutil.rmtree(out)
    tap.ok(tool.tell("check").endswith(" 9"), "a deleted output folder is noticed")
    os.mkdir(out)
    publish(tool, FIRST)
    tap.ok(read_tree(out) == good, "deleted and made again: everything is written again")
    shutil.rmtree(out)
    publish(tool, FIRST)
    tap.ok(read_tree(out) == good, "deleted: made and written again")
    os.rename(out, out + ".away")
    os.mkdir(out)
    publish(tool, FIRST)
    tap.ok(read_tree(out) == good, "moved away: a new one is written")
    shutil.rmtree(os.path.join(out, ".xdspub"))
    publish(tool, FIRST.replace("eds:a", "eds:c"))
    tap.ok(os.path.exists(os.path.join(out, "edge/eds/c/eds.json")) and
           os.path.exists(os.path.join(out, ".xdspub/marker")), "a deleted .xdspub comes back")
    shutil.rmtree(out)
    os.mkdir(out)
    with open(os.path.join(out, "data"), "w", encoding="utf-8") as f:
        f.write("x")
    tap.ok(tool.tell(FIRST).startswith("error") and os.listdir(out) == ["data"],
           "replaced by someone else's folder: refused")
    os.unlink(os.path.join(out, "data"))
    publish(tool, FIRST)
    tap.ok(read_tree(out) == good, "and goes on when it is free")
    tool.close()


def refused(out, *args):
    tool = Tool(out, "yaml", args=args)
    greeting = tool.greeting
    tool.close()
    return greeting if tool.process.returncode else ""


def test_refusals(tap, top):
    full = os.path.join(top, "full")
    os.mkdir(full)
    with open(os.path.join(full, "precious"), "w", encoding="utf-8") as f:
        f.write("x")
    tap.ok("not empty" in refused(full) and os.listdir(full) == ["precious"],
           "a non-empty folder without our marker is refused and left alone")
    tap.ok("file" in refused(os.path.join(full, "precious")), "a file is refused")
    source = os.path.join(top, "source")
    os.makedirs(os.path.join(source, "deep"))
    for out in (source, source + "/out", source + "/deep/er/out", source + "/../source/x"):
        tap.ok("source" in refused(out, "-s", source) and
               sorted(os.listdir(source)) == ["deep"], "an output inside the source: " + out[-12:])
    link = os.path.join(top, "link")
    os.symlink(source, link)
    tap.ok("source" in refused(link + "/out", "-s", source), "also through a link")
    out = os.path.join(top, "outer")
    os.makedirs(out + "/tree")
    tap.ok("source" in refused(out, "-s", out + "/tree"), "a source inside the output")
    for place in ("/dev/shm/xdspub-test", "/proc/xdspub-test", "/sys/xdspub-test"):
        tap.ok("Envoy" in refused(place) and not os.path.exists(place), "S.28: " + place)
    mine = os.path.join(top, "mine")
    tool = Tool(mine, "yaml")
    publish(tool, FIRST)
    tap.ok("another" in refused(mine), "a folder that another instance has locked")
    tool.close()
    tap.ok(refused(mine) == "", "free again when it ends")
    made = os.path.join(top, "made", "of", "three")
    tap.ok(refused(made) == "" and os.path.isdir(made), "missing parents are made")
    own = os.path.join(top, "own")
    os.mkdir(own)
    os.chmod(own, 0o777)
    everyones = for_everyone(os.path.join(BUILD, "tests/tools/publish_tool"))
    run = subprocess.run([everyones, "-P", "-f", "yaml", "-o", own + "/out", "-u", "0"], stdout=subprocess.PIPE, text=True, input="",
                         user=65534 if os.getuid() == 0 else None, check=False)
    tap.ok("owner and group" in run.stdout and run.returncode,
           "an owner that cannot be given is refused at the start", run.stdout)
    with open(os.path.join(top, "lds.yaml"), "w", encoding="utf-8") as f:
        f.write("x")
    script = ("mount --bind %s/lds.yaml %s/edge/lds/lds.yaml && echo ready && exec %s -o %s -f yaml"
              % (top, mine, os.path.join(BUILD, "tests/tools/publish_tool"), mine))
    run = subprocess.run(["unshare", "-rm", "sh", "-c", script], input="", text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if "ready" in run.stdout:
        tap.ok("mount point" in run.stdout, "a single file that is a mount point", run.stdout)
    else:
        tap.ok(True, "a single file that is a mount point # SKIP no mount namespaces here")


def fill_disk(small):
    """Runs with a small file system of its own at `small`; returns what went wrong or None."""
    out = os.path.join(small, "out")
    change = "publish edge lds:l cds:a=e201026869 eds:a=2200 eds:b"
    tool = Tool(out, "json")
    publish(tool, "publish edge lds:l cds:a eds:a")
    old = read_tree(out)
    with open(os.path.join(small, "fill"), "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"x" * 1024)
        except OSError:
            pass
    answer = tool.tell(change)
    if "No space left" not in answer:
        return "no error but " + answer
    if read_tree(out) != old:
        return "files changed"
    if os.listdir(os.path.join(out, ".xdspub/staging")):
        return "staging is not empty"
    os.unlink(os.path.join(small, "fill"))
    result = publish(tool, change)
    tool.close()
    return None if result["written"] == 3 else "not completed: %s" % result


def move_elsewhere(top):
    """Runs with another file system below the published folder; returns what went wrong or None."""
    out = os.path.join(top, "out")
    group = os.path.join(out, "edge")
    tool = Tool(out, "json")
    publish(tool, "publish edge lds:l cds:a eds:a")
    old = read_tree(out)
    copy = os.path.join(top, "edge")
    shutil.copytree(group, copy)
    subprocess.run(["mount", "-t", "tmpfs", "none", group], check=True)
    shutil.copytree(copy, group, dirs_exist_ok=True)
    answer = tool.tell("publish edge lds:l cds:a=e201026869 eds:a=2200")
    tool.close()
    if "cross-device" not in answer:
        return "no error but " + answer
    if read_tree(out) != old:
        return "files changed"
    greeting = refused(out)  # what is so from the start is refused with a reason
    return None if greeting else "not refused at the start"


def test_other_file_system(tap, top):
    script = "mount -t tmpfs none %s && exec %s %s --move %s" % (
        top, sys.executable, os.path.abspath(__file__), top)
    run = subprocess.run(["unshare", "-rm", "sh", "-c", script], text=True, timeout=120,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    name = "S.2: staging on another file system is an error; nothing is copied into place"
    if run.stdout.startswith("moved"):
        tap.ok(run.stdout.strip() == "moved: None", name, run.stdout)
    else:
        tap.ok(True, name + " # SKIP no mount namespaces here")


def test_disk_full(tap, top):
    small = os.path.join(top, "small")
    os.mkdir(small)
    script = "mount -t tmpfs -o size=400k none %s && exec %s %s --fill %s" % (
        small, sys.executable, os.path.abspath(__file__), small)
    run = subprocess.run(["unshare", "-rm", "sh", "-c", script], text=True, timeout=120,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    name = "a full disk keeps the old files, leaves nothing in staging, and a retry completes"
    if run.stdout.startswith("filled"):
        tap.ok(run.stdout.strip() == "filled: None", name, run.stdout)
    else:
        tap.ok(True, name + " # SKIP no mount namespaces here")


def test_large(tap, top):
    """More than are synced one by one."""
    out = os.path.join(top, "large")
    tool = Tool(out, "pb")
    names = ["eds:c%03d" % i for i in range(200)]
    result = publish(tool, "publish big lds:l cds:c " + " ".join(names))
    tap.ok(result["written"] == 202, "a batch", result)
    watch = watch_all(out)
    result = publish(tool, "publish big lds:l cds:c " + " ".join(names[:-100]))
    tap.ok(result["removed"] == 100 and len(os.listdir(os.path.join(out, "big/eds"))) == 100 and
           not [e for e in watch.events() if e[1] == IN_MOVED_TO], "half of it removed", result)
    watch.close()
    result = publish(tool, "publish big lds:l cds:c " + " ".join(n + "=2200" for n in names))
    tap.ok(result["written"] == 200 and result["unchanged"] == 2, "all changed", result)
    tool.close()
    digest = hashlib.sha256(repr(sorted(read_tree(out).items())).encode()).hexdigest()
    tool = Tool(out, "pb")
    result = publish(tool, "publish big lds:l cds:c " + " ".join(n + "=2200" for n in names))
    tap.ok(result["written"] == 0 and result["unchanged"] == 202 and digest == hashlib.sha256(
        repr(sorted(read_tree(out).items())).encode()).hexdigest(), "nothing after a restart")
    tool.close()


def main():
    tap = Tap()
    with Folder() as top:
        for test in (test_events, test_content, test_wrapper, test_modes, test_names, test_others, test_shared,
                     test_folder_gone, test_refusals, test_disk_full, test_large, test_other_file_system):
            test(tap, top)
    return tap.done()


if sys.argv[1:2] == ["--fill"]:
    print("filled:", fill_disk(sys.argv[2]))
    sys.exit(0)
if sys.argv[1:2] == ["--move"]:
    print("moved:", move_elsewhere(sys.argv[2]))
    sys.exit(0)
sys.exit(main())
