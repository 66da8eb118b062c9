#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands as people and scripts use them: help, exit statuses, output, check, build, status."""
import json
import os
import pty
import re
import subprocess

from daemon_lib import (XDSPUB, Client, Daemon, cluster, endpoints, fresh, run, simple_tree,
                        wait_for, write,
                        xdspub)

COMMANDS = ("check", "build", "serve", "status")


def help_and_version():
    """--help everywhere, --version, and what is said to wrong usage"""
    result = xdspub("--version")
    assert result.returncode == 0 and result.stdout.startswith("xdspub "), result
    result = xdspub("--help")
    assert result.returncode == 0 and not result.stderr
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout, command
        one = xdspub(command, "--help")
        assert one.returncode == 0 and not one.stderr, one
        assert one.stdout.startswith(f"usage: xdspub {command} "), one.stdout
        assert "--help" in one.stdout
        # The paths of the installation are as long as its prefix.
        lines = [re.sub(r"/\S+/", "/", line) for line in one.stdout.splitlines()]
        assert max(map(len, lines)) <= 100, lines
        assert xdspub(command, "-h").stdout == one.stdout
    assert "usage:" in xdspub().stderr and xdspub().returncode == 2
    for arguments, text in ((("chekc",), 'did you mean "check"?'),
                            (("check", "--jsn", "."), 'did you mean "json"?'),
                            (("check",), "usage: xdspub check PATH..."),
                            (("check", ".", "--select", "strng.*"), "no such rule"),
                            (("check", ".", "--ignore", "unknown-fild"), 'mean "unknown-field"?'),
                            (("check", ".", "--ignore", "unknown-field"), "cannot be silenced"),
                            (("check", ".", "--as", "cloud"), "--as cloud"),
                            (("check", ".", "--format", "xml"), "sarif"),
                            (("build", "tree"), "-o OUT"),
                            (("serve",), "xdspub.yaml"),
                            (("serve", "--source", "."), "nothing to do"),
                            (("serve", "--source", ".", "--rest", "x", "--grace", "no"), "--grace"),
                            (("serve", "--config", "nowhere.yaml"), "nowhere.yaml"),
                            (("status", "x"), "one too many")):
        result = xdspub(*arguments)
        expected = 3 if arguments[0] == "status" and len(arguments) == 1 else 2
        assert result.returncode == expected and text in result.stderr, (arguments, result)
        assert not result.stdout


def check_good():
    """check says nothing about a good tree"""
    fresh("tree")
    simple_tree("tree")
    result = xdspub("check", "tree")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), result
    result = xdspub("check", "tree", "--json")
    document = json.loads(result.stdout)
    assert result.returncode == 0 and document["errors"] == 0 and document["diagnostics"] == []


def check_bad():
    """check prints path:line:col, paths that can be opened from here, all errors at once"""
    fresh("tree")
    simple_tree("tree")
    write("tree/clusters/a.yaml", "name: a\nlb_polcy: RANDOM\nconnect_timeout: 1x\n")
    write("tree/endpoints/b.yaml", "cluster_name: [b\n")
    for path in ("tree", "tree/", "./tree", os.path.abspath("tree")):
        result = xdspub("check", path)
        assert result.returncode == 1 and not result.stderr, result
        lines = result.stdout.splitlines()
        assert len(lines) == 7, lines  # the last one is behind the end
        assert lines[1:3] == ["    2 | lb_polcy: RANDOM", "      | ^~~~~~~~"], lines
        assert lines[4:6] == ["    3 | connect_timeout: 1x", "      |                  ^~"], lines
        lines = lines[::3]
        prefix = path.rstrip("/")
        assert lines[0].startswith(f"{prefix}/clusters/a.yaml:2:1: error: "), lines
        assert 'did you mean "lb_policy"?' in lines[0] and lines[0].endswith("]")
        assert lines[1].startswith(f"{prefix}/clusters/a.yaml:3:18: error: "), lines
        for line in lines:
            assert os.path.exists(line.split(":")[0])
    document = json.loads(xdspub("check", "tree", "--json").stdout)
    assert document["errors"] == 3
    first = document["diagnostics"][0]
    assert (first["path"], first["line"], first["column"], first["level"]) == \
        ("tree/clusters/a.yaml", 2, 1, "error"), first
    result = xdspub("check", "nowhere")
    assert result.returncode == 1 and result.stdout.startswith("nowhere: error: "), result


def check_many():
    """check prints what a person can read; --all prints all"""
    fresh("tree")
    simple_tree("tree")
    for i in range(300):
        write(f"tree/clusters/x{i:03}.yaml", f"name: x{i}\nno_such_field: 1\n")
    lines = xdspub("check", "tree").stdout.splitlines()
    assert len(lines) == 151 and lines[-1].startswith("... and 250 more; --all shows them"), lines[-1]
    lines = xdspub("check", "tree", "--all").stdout.splitlines()
    assert len(lines) == 900, len(lines)


def check_schema():
    """a missing schema and a set that clashes are explained"""
    fresh("tree")
    simple_tree("tree")
    result = xdspub("check", "tree", "--schema", "nowhere.pb")
    assert result.returncode == 1 and result.stdout.startswith("nowhere.pb: error: "), result
    schema = os.environ["XDSPUB_SCHEMA"]
    result = xdspub("check", "tree", "--add-schema", schema)  # identical files merge silently
    assert result.returncode == 0 and not result.stdout, result
    environment = dict(os.environ)
    del environment["XDSPUB_SCHEMA"]
    result = xdspub("check", "tree", "--schema", schema, env=environment)
    assert result.returncode == 0, result


def colours():
    """colours on a terminal only, and never with NO_COLOR"""
    fresh("tree")
    simple_tree("tree")
    write("tree/clusters/a.yaml", "nme: a\n")
    assert "\033" not in xdspub("check", "tree").stdout

    def on_terminal(**environment):
        master, slave = pty.openpty()
        process = subprocess.Popen([XDSPUB, "check", "tree"], stdout=slave, stderr=slave,
                                   env={**os.environ, **environment})
        os.close(slave)
        output = b""
        try:
            while data := os.read(master, 4096):
                output += data
        except OSError:
            pass
        os.close(master)
        assert process.wait() == 1
        return output.decode()
    assert "\033[31merror\033[0m" in on_terminal(NO_COLOR="")
    assert "\033" not in on_terminal(NO_COLOR="1")


def progress():
    """work that takes long says so on a terminal, and leaves no trace of it"""
    fresh("tree")
    simple_tree("tree")
    os.mkfifo("schema")  # the program waits for its schema until there is one

    def run_on(stderr):
        return subprocess.Popen([XDSPUB, "check", "tree", "--schema", "schema"], stderr=stderr,
                                env={**os.environ, "TERM": "xterm"},
                                stdout=subprocess.DEVNULL)
    master, slave = pty.openpty()
    process = run_on(slave)
    os.close(slave)
    output = b""
    while b"checking tree" not in output:
        output += os.read(master, 4096)
    with open("schema", "wb"):
        pass
    try:
        while data := os.read(master, 4096):
            output += data
    except OSError:
        pass
    os.close(master)
    assert process.wait() == 1
    assert output.endswith(b"\r\033[K"), output
    process = run_on(subprocess.PIPE)  # no terminal
    with open("schema", "wb"):
        pass
    assert process.communicate()[1] == b"" and process.returncode == 1


def build_once():
    """build publishes once; held groups are left as they are and the status is 1"""
    fresh("tree", "out")
    simple_tree("tree")
    result = xdspub("build", "tree", "-o", "out", "--format", "json", "--format", "pb")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), result
    with open("out/edge/cds/cds.json") as file:
        before = file.read()
    assert os.path.exists("out/edge/eds/a/eds.pb")
    assert not os.path.exists("out/edge/cds/cds.yaml")
    document = json.loads(
        xdspub("build", "tree", "-o", "out", "--format", "json", "--format", "pb", "--json").stdout)
    assert document["groups"] == [{"name": "edge", "written": 0, "removed": 0, "unchanged":
                                   document["groups"][0]["unchanged"]}], document
    write("tree/clusters/a.yaml", "nme: a\n")
    write("tree/clusters/c.yaml", cluster("c"))
    result = xdspub("build", "tree", "-o", "out", "--format", "json", "--format", "pb")
    assert result.returncode == 1 and "tree/clusters/a.yaml:1:1: error: " in result.stderr, result
    with open("out/edge/cds/cds.json") as file:
        assert file.read() == before
    write("tree/clusters/a.yaml", cluster("a"))
    assert xdspub("build", "tree", "-o", "out", "--format", "json", "--format", "pb").returncode == 0
    with open("out/edge/cds/cds.json") as file:
        assert len(json.load(file)["resources"]) == 3


def build_refused():
    """build refuses folders that are not its own, and what lies in the source"""
    fresh("tree", "other")
    simple_tree("tree")
    write("other/file", "x")
    for out in ("other", "tree", "tree/out", "."):
        result = xdspub("build", "tree", "-o", out)
        assert result.returncode == 1 and "error" in result.stderr, (out, result)
    assert os.listdir("other") == ["file"]
    result = xdspub("build", "tree", "-o", "new", "--file-owner", "no-such-user")
    assert result.returncode == 1 and "no-such-user" in result.stderr, result
    assert not os.path.exists("new")
    result = xdspub("build", "tree", "-o", "new", "--format", "jsn")
    assert result.returncode == 2 and 'did you mean "json"?' in result.stderr, result


def build_modes():
    """modes are set whatever the umask is"""
    fresh("tree", "out")
    simple_tree("tree")
    result = xdspub("build", "tree", "-o", "out", "--file-mode", "0604", "--folder-mode", "0705",
                    preexec_fn=lambda: os.umask(0o077))
    assert result.returncode == 0, result
    assert os.stat("out/edge/cds/cds.yaml").st_mode & 0o7777 == 0o604
    assert os.stat("out/edge/cds").st_mode & 0o7777 == 0o705


def status_for_people():
    """status for people and as JSON; 3 when nobody answers"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    result = xdspub("status", "--admin", "unix:nowhere.sock")
    assert result.returncode == 3 and "nowhere.sock" in result.stderr, result
    result = xdspub("status", "--admin", "127.0.0.1:1")
    assert result.returncode == 3, result
    result = xdspub("status", "--admin", "rubbish")
    assert result.returncode == 3 and "no address" in result.stderr, result
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        result = xdspub("status", "--admin", daemon.admin)
        assert result.returncode == 0 and not result.stderr
        assert "ready" in result.stdout and "edge: serving" in result.stdout, result.stdout
        assert daemon.rest_version() in result.stdout and "SDS" not in result.stdout
        document = json.loads(xdspub("status", "--admin", daemon.admin, "--json").stdout)
        assert document["groups"][0]["name"] == "edge"
        write("tree/clusters/a.yaml", "nme: a\n")
        daemon.until("held", lambda s: daemon.group(status=s)["held"])
        text = xdspub("status", "--admin", daemon.admin).stdout
        assert "held" in text and "clusters/a.yaml:1:1" in text, text
        write("tree/clusters/a.yaml", cluster("a"))
        write("tree/groups.yaml",
              "groups: [{name: edge, match: {cluster: edge}, layers: [.]}]\n")

        def is_stray():
            with Client(daemon.rest, {"id": "stray", "cluster": "x"}) as client:
                return client.poll("cds").status == 403
        wait_for("the new groups", is_stray)
        text = xdspub("status", "--admin", daemon.admin).stdout
        assert "node stray of cluster x" in text and "belongs to no group" in text, text
        write("x.yaml", f'admin: {{listen: ["{daemon.admin}"]}}\n')
        assert xdspub("status", "--config", "x.yaml").returncode == 0


def no_secrets_in_status():
    """neither versions nor content of secrets are in the status"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    write("tree/secrets/s.yaml",
          "name: s\ngeneric_secret: {secret: {inline_string: hunter2}}\n")
    with Daemon() as daemon:
        daemon.until_ready()
        daemon.until_idle()
        with open("out/edge/sds/s/sds.json") as file:
            version = json.load(file)["version_info"]
        text = json.dumps(daemon.status())
        assert daemon.group()["types"]["SDS"] == {"count": 1}
        assert version not in text and "hunter2" not in text
        assert version not in daemon.log() and "hunter2" not in daemon.log()
        assert os.stat("out/edge/sds/s/sds.json").st_mode & 0o7777 == 0o640


def full_standard_output():
    """output that cannot be written is not success"""
    fresh("tree")
    simple_tree("tree")
    with open("/dev/full", "w") as full:
        result = subprocess.run([XDSPUB, "check", "tree", "--json"], stdout=full,
                                stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1 and "standard output" in result.stderr, result


def endpoint_names():
    """names that are no file names are published safely"""
    fresh("tree", "out")
    simple_tree("tree")
    names = ["..", ".", "a/b", "../../x", "ü" * 500, "%2e", " "]
    for i, name in enumerate(names):
        write(f"tree/endpoints/n{i}.yaml", endpoints(json.dumps(name)))
    result = xdspub("build", "tree", "-o", "out", "--format", "json")
    assert result.returncode == 0, result.stderr
    found = set()
    for folder in os.listdir("out/edge/eds"):
        with open(f"out/edge/eds/{folder}/eds.json") as file:
            found.add(json.load(file)["resources"][0]["cluster_name"])
    assert found == {"a", "b", *names}
    assert sorted(os.listdir("out")) == [".xdspub", "edge"]


if __name__ == "__main__":
    run([help_and_version, check_good, check_bad, check_many, check_schema, colours, progress, build_once,
         build_refused, build_modes, status_for_people, no_secrets_in_status,
         full_standard_output, endpoint_names])
