#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion: what the program offers, and bash itself on a terminal with the script that the program prints."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(os.environ.get("XDSPUB", "./xdspub"))
EXAMPLES = os.path.abspath(os.path.join(os.environ.get("top_srcdir", "."), "examples"))
DEADLINE = 60
results = []


def test(function):
    results.append(function)
    return function


def need(condition, *context):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in context))


def offered(line):
    done = subprocess.run([PROGRAM, "__complete", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=True)
    need(done.stderr == b"", line, done.stderr)
    return done.stdout.decode().splitlines()


def same(line, *expected):
    need(offered(line) == list(expected), line, offered(line), expected)


@test
def commands_and_options(_):
    need({"check", "explain", "--help"} <= set(offered("xdspub ")), offered("xdspub "))
    same("xdspub expl", "explain")
    need({"--format", "--schema", "--help"} <= set(offered("xdspub check --")), offered("xdspub check --"))
    same("xdspub check --add-s", "--add-schema")
    same("xdspub nonsense --", )
    same("xdspub status x", )


@test
def values(_):
    same("xdspub check --format ", "text", "json", "sarif", "github", "junit")
    same("xdspub check -f s", "sarif")
    same("xdspub check --format=s", "--format=sarif")
    same("xdspub serve --log-level ", "error", "warning", "info", "debug")
    same("xdspub convert --to ", "yaml", "json", "pb", "pb_text")
    same("xdspub check --select unknown-f", "unknown-field")
    same("xdspub serve --publish ", ":folders")
    same("xdspub serve --config ", ":files")
    same("xdspub check ", ":files")
    same("xdspub completion ", "bash", "zsh", "fish")
    same("xdspub convert -t HttpConnectionM", ":nospace", "HttpConnectionManager")


@test
def groups_of_the_tree(folder):
    with open(os.path.join(folder, "groups.yaml"), "w", encoding="utf-8") as file:
        file.write("groups:\n- {name: edge, layers: [.]}\n- {name: 'x-{1}', each: a/*}\n- {name: east}\n- 5\n")
    same(f"xdspub check {folder} --group e", "edge", "east")
    same(f"xdspub serve --source {folder} --group ed", "edge")
    same(f"xdspub check {folder}/none --group ", )


@test
def paths(_):
    same("xdspub explain cluster.lb_p", ":nospace", "cluster.lb_policy")
    same("xdspub explain a.b cluster.lb_policy.RAN", ":nospace", "cluster.lb_policy.RANDOM")
    same("xdspub explain http_connection_manager.http_filters.typed_config:Rou", ":nospace",
         "http_connection_manager.http_filters.typed_config:Router")
    same("xdspub explain string.min_l", "string.min_len", ":nospace")
    same("xdspub explain groups.ma", *[line for line in offered("xdspub explain groups.ma") if line.startswith("groups.match")], ":nospace")
    need("groups.match" in offered("xdspub explain groups.ma"))
    same("xdspub explain settle.q", "settle.quiet", ":nospace")
    need("listeners" in offered("xdspub explain "), offered("xdspub explain "))
    documented = os.environ["XDSPUB_TEST_DOCUMENTED"]
    same(f"xdspub explain --add-schema {documented} Outer.inn", ":nospace", "Outer.inner", "Outer.inners")
    same("xdspub explain --schema /nowhere.pb cluster.lb_p", ":nospace")


@test
def odd_lines(_):
    for line in ["", " ", "xdspub", "xdspub explain '", 'xdspub explain "a', "xdspub explain \\", "xdspub " + "x " * 5000,
                 "xdspub explain " + "a." * 5000, "xdspub check --format=", "xdspub check -", "xdspub check --"]:
        offered(line)
    same("xdspub explain 'cluster.lb_p", ":nospace", "cluster.lb_policy")


class Bash:
    """An interactive bash on a terminal of its own. `xdspub` there completes as the real one and prints its arguments."""

    def __init__(self, folder):
        script = os.path.join(folder, "xdspub")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n[ "$1" != __complete ] || exec {PROGRAM} "$@"\n'
                       "printf '{'; printf '<%s>' \"$@\"; echo '}'\n")
        os.chmod(script, 0o755)
        with open(os.path.join(folder, "completion"), "wb") as file:
            file.write(subprocess.run([PROGRAM, "completion", "bash"], stdout=subprocess.PIPE, check=True).stdout)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            environment = {**os.environ, "PATH": folder + ":/usr/bin:/bin", "TERM": "dumb", "PS1": "$ ", "HISTFILE": "",
                           "INPUTRC": "/dev/null", "COLUMNS": "500"}
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], environment)
        self.send("bind 'set enable-bracketed-paste off'; stty cols 1000; . ./completion; echo re''ady\n")
        self.wait("ready")

    def send(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern):
        text, deadline = "", time.monotonic() + DEADLINE
        while not re.search(pattern, text):
            left = deadline - time.monotonic()
            need(left > 0, "bash does not say", pattern, "but", text[-500:])
            if select.select([self.fd], [], [], left)[0]:
                text += os.read(self.fd, 65536).decode(errors="replace")
        return re.search(pattern, text)

    def complete(self, line):
        self.send(line + "\t\n")
        return re.findall("<([^>]*)>", self.wait(r"\{((?:<[^>\n]*>)*)\}").group(1))

    def close(self):
        os.write(self.fd, b"\x03\nexit\n")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


@test
def bash_on_a_terminal(folder):
    if not os.path.exists("/bin/bash"):
        print("# no bash here")
        return
    os.mkdir(os.path.join(folder, "some folder"))
    bash = Bash(folder)
    try:
        for line, expected in [("xdspub expl", ["explain"]),
                               ("xdspub check --add-s", ["check", "--add-schema"]),
                               ("xdspub check --format sar", ["check", "--format", "sarif"]),
                               ("xdspub check --format=sar", ["check", "--format=sarif"]),
                               ("xdspub explain cluster.lb_p", ["explain", "cluster.lb_policy"]),
                               ("xdspub explain http_connection_manager.http_filters.typed_config:Rou",
                                ["explain", "http_connection_manager.http_filters.typed_config:Router"]),
                               ("xdspub explain listener.filter_chains.filters.typed_config:HttpConnectionManager.route_c",
                                ["explain", "listener.filter_chains.filters.typed_config:HttpConnectionManager.route_config"]),
                               ("xdspub check compl", ["check", "completion"]),
                               ("xdspub build som", ["build", "some folder/"])]:
            found = bash.complete(line)
            need(found == expected, line, found, expected)
    finally:
        bash.close()


@test
def scripts_of_every_shell(folder):
    for shell in ("bash", "zsh", "fish"):
        script = subprocess.run([PROGRAM, "completion", shell], stdout=subprocess.PIPE, check=True, timeout=60).stdout
        path = os.path.join(folder, shell)
        with open(path, "wb") as file:
            file.write(script)
        need(b"__complete" in script, script)
        if shutil.which(shell):
            subprocess.run([shell, "-n", path], check=True, timeout=60)
    done = subprocess.run([PROGRAM, "completion", "bsh"], stderr=subprocess.PIPE, check=False, timeout=60)
    need(done.returncode == 2 and b'did you mean "bash"?' in done.stderr, done)


def main():
    print(f"1..{len(results)}")
    failed = 0
    for number, function in enumerate(results, 1):
        name = function.__name__.replace("_", " ")
        try:
            with tempfile.TemporaryDirectory() as folder:
                function(folder)
            print(f"ok {number} - {name}")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in f"{type(error).__name__}: {error}"[:3000].splitlines()))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
