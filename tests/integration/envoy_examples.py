#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Envoy takes every example, over ADS, with the bootstrap that `xdspub bootstrap` prints.

What `check` calls right, Envoy must not refuse. Certificates and the like that an example expects
on the host are put below the test's folder, and each Envoy has a network of its own.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from daemon_lib import write, xdspub
from envoy_lib import Envoy, Tap, own_network, skip_without_envoy
from grpc_lib import GrpcDaemon

EXAMPLES = os.path.join(os.environ["top_srcdir"], "examples")
BOOTSTRAP = "envoy.config.bootstrap.v3.Bootstrap"
LEFT_OUT = {
    "grpc-clients": "for gRPC libraries, which Envoy is not",
    "wasm": "its module is not among the files of the example",
}
HOST_FILE = re.compile(r"/etc/(?:envoy|ssl)/[A-Za-z0-9_./-]+")
GROUPS_MOST = 4  # of one example; the others are made of the same layers


def make_certificate(crt, key):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=example.com", "-keyout", key, "-out", crt],
                   check=True, capture_output=True)


class Example:
    """A copy of the tree with the paths of this test."""

    def __init__(self, name):
        self.tree = os.path.abspath(f"{name}/tree")
        self.host = os.path.abspath(f"{name}/host")
        shutil.copytree(os.path.join(EXAMPLES, name), self.tree)
        os.makedirs(self.host)
        for folder, _, files in os.walk(self.tree):
            for file in files:
                if file.endswith((".yaml", ".yml", ".json")):
                    self.move_paths(os.path.join(folder, file))

    def move_paths(self, path):
        with open(path) as file:
            text = file.read()
        write(path, HOST_FILE.sub(lambda match: self.host_file(match.group()), text))

    def host_file(self, path):
        """Its stand-in: a certificate, its key, or a few letters."""
        place = self.host + path
        os.makedirs(os.path.dirname(place), exist_ok=True)
        stem, suffix = os.path.splitext(place)
        if os.path.exists(place):
            return place
        if path.endswith("ca-certificates.crt"):
            shutil.copy(path, place)
        elif suffix in (".crt", ".key"):
            make_certificate(stem + ".crt", stem + ".key")
        else:
            write(place, "secret")
        return place

    def bootstrap(self, group, address):
        """What the command prints, with an administration that this test can reach."""
        printed = xdspub("bootstrap", "--mode", "ads", "--group", group, "--tree", self.tree,
                         "--address", address)
        assert printed.returncode == 0, printed.stderr
        as_json = xdspub("convert", "--type", BOOTSTRAP, "--from", "yaml", "--to", "json", "-",
                         input=printed.stdout)
        assert as_json.returncode == 0, as_json.stderr
        config = json.loads(as_json.stdout)
        config["admin"] = {"address": {"pipe": {"path": "admin.sock"}}}
        return config


def taken(envoy):
    """Envoy has looked at clusters and listeners, and waits for nothing."""
    stats = envoy.stats("^(cluster_manager.cds|listener_manager.lds).update_(success|rejected)$")
    return all(stats[f"{manager}.update_success"] + stats[f"{manager}.update_rejected"] > 0
               for manager in ("cluster_manager.cds", "listener_manager.lds"))


def refused(envoy):
    return {name: count for name, count in envoy.stats("update_rejected$").items() if count}


def check_group(example, name, group, daemon):
    config = example.bootstrap(group, daemon.grpc_unix)
    with Envoy(f"{name}/{group}", config, wrapper=own_network()) as envoy:
        envoy.until("clusters and listeners", taken)
        assert not refused(envoy), (refused(envoy), envoy.log()[-3000:])
        assert envoy.dump()["ListenersConfigDump"]["dynamic_listeners"], "no listener"
        sources = [client for client in daemon.status()["clients"] if client["group"] == group]
        assert sources, daemon.status()["clients"]


def some(groups):
    """The first ones and the last."""
    return groups if len(groups) <= GROUPS_MOST else groups[:GROUPS_MOST - 1] + groups[-1:]


def check_example(tap, name):
    example = Example(name)
    with GrpcDaemon(example.tree, publish=None, state=None, rest=False) as daemon:
        daemon.until_ready()
        for group in some([group["name"] for group in daemon.status()["groups"]]):
            tap.line(f"{name}, group {group}",
                     lambda group=group: check_group(example, name, group, daemon))


def main():
    skip_without_envoy()
    tap = Tap()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    for name in sorted(os.listdir(EXAMPLES)):
        if os.path.isdir(os.path.join(EXAMPLES, name)) and name not in LEFT_OUT:
            check_example(tap, name)
    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


main()
