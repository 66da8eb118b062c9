#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check: what it says of trees, published files, loose files and bootstraps, in every format.

The inputs are in tests/data/check, what is expected in tests/data/check/want; UPDATE=1 writes it
anew: read the difference before committing it.
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import xml.dom.minidom

import yaml

from daemon_lib import XDSPUB, fresh, run, simple_tree, write, xdspub

SOURCE = os.path.join(os.environ["top_srcdir"], "tests", "data", "check")
INPUTS = ("tree", "published", "cds.yaml", "envoy.yaml", "unknown.yaml")
FORMATS = ("text", "json", "sarif", "github", "junit")


def copy_inputs():
    fresh("work")
    shutil.copytree(SOURCE, "work", dirs_exist_ok=True)
    for root, folders, _ in os.walk("work"):  # of a read-only source
        for name in folders:
            os.chmod(os.path.join(root, name), 0o755)


def check(*arguments):
    return subprocess.run([XDSPUB, "check", *arguments], cwd="work", capture_output=True, text=True,
                          check=False)


def plain(text):
    """Without what differs between hosts and versions."""
    text = text.replace(os.path.abspath("work"), "/WORK")
    text = re.sub(r"\(Envoy API [^)]*\)", "(SCHEMA)", text)
    return re.sub(r'("(semanticVersion|version)": )"0\.[^"]*"', r'\1"VERSION"', text)


def compare(name, found):
    path = os.path.join(SOURCE, "want", name)
    if os.environ.get("UPDATE"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(found)
    with open(path) as file:
        wanted = file.read()
    if wanted != found:
        sys.stdout.writelines("# " + line for line in difflib.unified_diff(
            wanted.splitlines(True), found.splitlines(True), name, "found"))
        raise AssertionError(name)


def golden():
    """each kind of input in each format is told as expected"""
    copy_inputs()
    for name in INPUTS:
        for form in FORMATS:
            result = check(name, "--format", form)
            assert result.returncode == 1 and not result.stderr, result
            compare(f"{name}.{form}", plain(result.stdout))
        assert check(name, "--json").stdout == check(name, "--format=json").stdout


def several():
    """several paths at once, each by itself and all in one document"""
    copy_inputs()
    both = json.loads(check("tree", "published", "cds.yaml", "-f", "json").stdout)
    apart = [json.loads(check(name, "-f", "json").stdout) for name in ("tree", "published", "cds.yaml")]
    assert both["errors"] == sum(document["errors"] for document in apart)

    def places(document):
        return sorted((d["path"], d["line"], d["rule"]) for d in document["diagnostics"])
    assert places(both) == sorted(sum(map(places, apart), []))


def good():
    """nothing is said when all is well, in no format but an empty document"""
    fresh("work")
    simple_tree("work/tree")
    write("work/cds.yaml", "resources: []\n")
    for name in ("tree", "cds.yaml"):
        for form in ("text", "github"):
            result = check(name, "--format", form, "--strict")
            assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), result
        assert json.loads(check(name, "-fjson").stdout)["diagnostics"] == []
        assert json.loads(check(name, "-fsarif").stdout)["runs"][0]["results"] == []
        suite = xml.dom.minidom.parseString(check(name, "-fjunit").stdout)
        assert len(suite.getElementsByTagName("testcase")) == 1
        assert not suite.getElementsByTagName("failure")


def choices():
    """--select, --ignore and --strict choose what is told and what fails"""
    fresh("work")
    simple_tree("work/tree")
    write("work/tree/clusters/w.yaml", "name: w\ndns_lookup_family: v4_only\ntrack_timeout_budgets: true\n")
    assert check("tree").returncode == 0
    assert "[forgiven]" in check("tree").stdout and "[deprecated-field]" in check("tree").stdout
    assert check("tree", "--strict").returncode == 1
    result = check("tree", "--strict", "--ignore", "deprecated-*")
    assert result.returncode == 1 and "deprecated" not in result.stdout
    result = check("tree", "--strict", "--ignore=deprecated-*", "--ignore", "forgiven")
    assert (result.returncode, result.stdout) == (0, ""), result
    result = check("tree", "--select", "deprecated-field", "--strict")
    assert result.returncode == 1 and "forgiven" not in result.stdout
    write("work/tree/clusters/e.yaml", "name: e\nconnect_timeout: 0s\n")
    write("work/tree/clusters/y.yaml", "name: [e\n")
    result = check("tree", "--select", "forgiven")
    assert result.returncode == 1 and "yaml-syntax" in result.stdout, result
    assert "duration.gt" not in result.stdout
    result = check("tree", "--select", "duration.*")
    assert "duration.gt" in result.stdout and "forgiven" not in result.stdout
    # An error stays one, whatever the stars say.
    assert "duration.gt" in check("tree", "--ignore", "*").stdout


def forced():
    """--as says what a file is"""
    fresh("work")
    write("work/x.yaml", "node: {id: a}\n")
    assert check("x.yaml").stdout == ""
    assert "[missing-type]" in check("x.yaml", "--as", "resources").stdout
    write("work/y.yaml", "nodes: {id: a}\n")
    assert "[missing-type]" in check("y.yaml").stdout
    assert '"node"' in check("y.yaml", "--as", "bootstrap").stdout
    write("work/cds/cds.yaml", "resources: []\n")
    assert check(".", "--as", "published").returncode == 1  # x.yaml and y.yaml are no resources
    assert check("cds").stdout == ""
    assert "[empty-set]" in check("cds", "--as", "tree").stdout or \
        check("cds", "--as", "tree").returncode == 1
    write("work/clusters/a.yaml", "name: a\n")
    assert check("clusters/a.yaml").stdout == ""


def published():
    """what build publishes is fine in all formats; broken and strange files are told"""
    fresh("tree", "work")
    simple_tree("tree")
    arguments = sum((["--format", name] for name in ("yaml", "json", "pb", "pb_text")), [])
    assert xdspub("build", "tree", "-o", "work/out", *arguments).returncode == 0
    result = check("out", "--strict")
    assert (result.returncode, result.stdout) == (0, ""), result
    with open("work/out/edge/cds/cds.pb", "r+b") as file:
        file.truncate(20)
    write("work/out/edge/cds/cds.pb_text", "resources { [x.y/no.such.Type] { } }\n")
    result = check("out")
    assert result.returncode == 1, result
    assert "out/edge/cds/cds.pb: error: " in result.stdout and "[not-binary]" in result.stdout
    assert "out/edge/cds/cds.pb_text:1:13: error: " in result.stdout, result.stdout
    fresh("work/empty")
    os.makedirs("work/empty/cds")
    assert "no published file" in check("empty").stdout
    os.mkfifo("work/pipe.yaml")
    os.remove("work/pipe.yaml")
    assert check("nowhere").returncode == 1


def sarif_schema():
    """what is written as SARIF is valid by its schema, and the schema can tell"""
    path = os.path.join(os.environ["top_builddir"], "gen/clients/sarif/schema.json")
    try:
        import jsonschema
        with open(path) as file:
            validator = jsonschema.Draft4Validator(json.load(file))
    except (ImportError, FileNotFoundError) as error:
        assert not os.environ.get("XDSPUB_REQUIRE_CLIENTS"), error
        print(f"# not compared: {error}")
        return
    copy_inputs()
    for name in (*INPUTS, os.path.abspath("work/tree"), "../work/cds.yaml", "nowhere", "."):
        for flags in ((), ("--verbose",)):
            document = json.loads(check(name, "-f", "sarif", *flags).stdout)
            problems = [f"{e.message} at {list(e.path)}" for e in validator.iter_errors(document)]
            assert not problems, (name, problems)
            for result in document["runs"][0]["results"]:
                rule = document["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]
                assert rule["id"] == result["ruleId"] and rule["shortDescription"]["text"]
    document["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(document)
    # A line that moves keeps its fingerprint; equal lines have different ones.
    write("work/f/clusters/a.yaml", "nme: a\n---\nnme: a\n")

    def prints():
        results = json.loads(check("f", "-f", "sarif").stdout)["runs"][0]["results"]
        return sorted(r["partialFingerprints"]["primaryLocationLineHash"]
                      for r in results if r["ruleId"] == "unknown-field")
    before = prints()
    write("work/f/clusters/a.yaml", "# moved\n\nnme: a\n---\nnme: a\n")
    assert len(set(before)) == 2 and prints() == before, before


def hooks():
    """the hooks for pre-commit and the snippets for CI run, pass and fail as they should"""
    top = os.environ["top_srcdir"]
    fresh("work", "bin")
    os.makedirs("bin")
    os.symlink(XDSPUB, "bin/xdspub")
    environment = dict(os.environ, PATH=os.path.abspath("bin") + ":" + os.environ["PATH"])

    def load(path):
        with open(os.path.join(top, path)) as file:
            return yaml.safe_load(file)

    def shell(command):
        return subprocess.run(["sh", "-ec", command], cwd="work", env=environment, check=False,
                              capture_output=True, text=True).returncode
    found = load(".pre-commit-hooks.yaml")
    found += load("packaging/ci/pre-commit-config.yaml")["repos"][0]["hooks"]
    assert len(found) == 3
    commands = []
    for hook in found:
        assert {"id", "name", "entry", "language", "files"} <= set(hook), hook
        assert re.search(hook["files"], "envoy.yaml") and not re.search(hook["files"], "README.md")
        names = " _nodes/envoy.yaml" if hook.get("pass_filenames", True) else ""
        commands.append(" ".join([hook["entry"], *hook["args"]]) + names)
    steps = load("packaging/ci/github.yaml")["jobs"]["check"]["steps"]
    commands += ["\n".join(step["run"] for step in steps if "run" in step)]
    commands += ["\n".join(load("packaging/ci/gitlab.yaml")["envoy-configuration"]["script"])]
    simple_tree("work")
    for command in commands:
        write("work/_nodes/envoy.yaml", "resources: []\n")
        assert shell(command) == 0, command
        write("work/clusters/a.yaml", "nme: a\n")
        write("work/_nodes/envoy.yaml", "admin: {x: y}\n")
        assert shell(command) != 0, command
        simple_tree("work")


if __name__ == "__main__":
    run([golden, several, good, choices, forced, published, sarif_schema, hooks])
