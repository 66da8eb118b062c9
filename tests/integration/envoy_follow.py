#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Real Envoys follow one tree by six ways at the same time, without one failed request.

Files, REST, gRPC (ADS and per type, state of the world and delta). Requests go through every Envoy
all the while. A step changes the tree, or does something to the daemon, and gives a TAP line per
Envoy.
"""
import json
import os
import shutil
import sys
import tempfile

from daemon_lib import Daemon, wait_for, write
from envoy_lib import (MODES, Backends, Envoy, Tap, Traffic, bootstrap, config_source,
                       skip_without_envoy)
from grpc_lib import GrpcDaemon

HCM = ("type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3."
       "HttpConnectionManager")
ROUTER = {"name": "router", "typed_config": {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}


class Tree:
    """A layer for everyone, and one for each way with what names the source of something."""

    def __init__(self, daemon):
        self.daemon = daemon
        write("tree/groups.yaml", json.dumps({"groups": [
            {"name": mode, "match": {"cluster": mode}, "layers": ["common", f"via/{mode}"]}
            for mode in MODES]}))

    def __enter__(self):
        """What is changed until the end is one commit."""
        write("tree/.xdspub-hold", "")
        return self

    def __exit__(self, *_):
        os.unlink("tree/.xdspub-hold")

    def listener(self, *more_filters, stat_prefix="in"):
        for mode in MODES:
            hcm = {"@type": HCM, "stat_prefix": stat_prefix, "http_filters": [*more_filters, ROUTER],
                   "rds": {"route_config_name": "routes", "config_source": config_source(
                       mode, self.daemon, mode, "RDS", "routes")}}
            write(f"tree/via/{mode}/listeners/in.yaml", json.dumps(
                {"name": "in", "address": {"pipe": {"path": "in.sock"}},
                 "filter_chains": [{"filters": [{"name": "hcm", "typed_config": hcm}]}]}))

    def cluster(self, name, timeout="1s"):
        for mode in MODES:
            source = config_source(mode, self.daemon, mode, "EDS", name)
            write(f"tree/via/{mode}/clusters/{name}.yaml", json.dumps(
                {"name": name, "type": "EDS", "connect_timeout": timeout,
                 "eds_cluster_config": {"eds_config": source}}))

    def endpoints(self, name, backends):
        write(f"tree/common/endpoints/{name}.yaml", json.dumps(
            {"cluster_name": name, "endpoints": [{"lb_endpoints": [
                {"endpoint": {"address": {"pipe": {"path": os.path.abspath(f"{backend}.sock")}}}}
                for backend in backends]}]}))

    def drop(self, name):
        os.unlink(f"tree/common/endpoints/{name}.yaml")
        for mode in MODES:
            os.unlink(f"tree/via/{mode}/clusters/{name}.yaml")

    def routes(self, **action):
        write("tree/common/routes/routes.yaml", json.dumps(
            {"name": "routes", "virtual_hosts": [
                {"name": "all", "domains": ["*"],
                 "routes": [{"match": {"prefix": "/"}, "route": action}]}]}))


def dumped_versions(envoy):
    """What Envoy says it has, per type."""
    dump = envoy.dump()
    routes = dump["RoutesConfigDump"].get("dynamic_route_configs", [])
    return {"CDS": dump["ClustersConfigDump"].get("version_info"),
            "LDS": dump["ListenersConfigDump"].get("version_info"),
            "RDS": routes[0]["version_info"] if routes else None}


def clusters_of(envoy):
    """The names of the dynamic clusters that are active."""
    dump = envoy.dump()["ClustersConfigDump"]
    return sorted(one["cluster"]["name"] for one in dump.get("dynamic_active_clusters", []))


class Script:
    def __init__(self, daemon, tree):
        self.daemon, self.tree = daemon, tree
        self.envoys, self.traffic = {}, {}
        self.backends, self.clusters = "a", ["one"]

    # What is looked at after each step.

    def follows(self, mode):
        """Requests reach these backends only, and Envoy has what xdspub publishes."""
        envoy = self.envoys[mode]
        self.traffic[mode].until(self.backends)
        envoy.until(f"clusters {self.clusters}", lambda envoy: clusters_of(envoy) == self.clusters)
        self.has_published_versions(envoy, mode)
        seen = self.traffic[mode].more()
        assert seen == set(self.backends), seen

    def has_published_versions(self, envoy, mode):
        """Envoy's own dump names the versions of the status document (S.81, S.98)."""
        types = self.daemon.group(mode)["types"]
        wanted = {kind: types[kind]["rest"] for kind in ("CDS", "LDS", "RDS")}
        if mode in ("delta", "delta-ads"):
            del wanted["RDS"]  # that of one resource, not of the set
        envoy.until(f"versions {wanted}", lambda envoy: wanted.items() <= dumped_versions(envoy).items())

    def rejections(self, mode):
        counts = self.envoys[mode].stats("update_rejected$")
        return {name: count for name, count in counts.items() if count}

    # The steps.

    def start(self):
        """starts"""
        self.daemon.until_idle()
        for mode in MODES:
            envoy = self.envoys[mode] = Envoy(mode, bootstrap(mode, self.daemon, mode))
            envoy.until_live()
            wait_for("a listener", lambda envoy=envoy: os.path.exists(envoy.path("in.sock")))
            self.traffic[mode] = Traffic(envoy.path("in.sock"))

    def endpoint_added(self):
        """takes another endpoint"""
        self.tree.endpoints("one", "ab")
        self.backends = "ab"

    def endpoint_removed(self):
        """lets go of the first endpoint"""
        self.tree.endpoints("one", "b")
        self.backends = "b"

    def rerouted(self):
        """follows one commit that brings a cluster and moves the route to it"""
        with self.tree as tree:
            tree.cluster("two")
            tree.endpoints("two", "c")
            tree.routes(cluster="two")
        self.backends, self.clusters = "c", ["one", "two"]

    def removed(self):
        """drops the cluster that nothing uses any more"""
        self.tree.drop("one")
        self.clusters = ["two"]

    def changed(self):
        """warms a changed cluster"""
        self.tree.cluster("two", "2s")

    def replaced(self):
        """follows one commit that replaces the cluster, its endpoints and the route"""
        with self.tree as tree:
            tree.cluster("three")
            tree.endpoints("three", "ad")
            tree.routes(cluster="three")
            tree.drop("two")
        self.backends, self.clusters = "ad", ["three"]

    def relistened(self):
        """takes a changed listener"""
        self.tree.listener(stat_prefix="other")

    def broken(self):
        """stays where it is while the tree is broken"""
        write("tree/common/routes/routes.yaml", "name: routes\nvirtual_host: []\n")
        self.daemon.until("held", lambda s: all(self.daemon.group(mode, s)["held"] for mode in MODES))

    def repaired(self):
        """goes on after that"""
        with self.tree as tree:
            tree.cluster("four")
            tree.endpoints("four", "b")
            tree.routes(cluster="four")
        self.backends, self.clusters = "b", ["four", "three"]

    def killed(self):
        """notices nothing while the daemon is killed and started again"""
        listeners = {mode: self.envoys[mode].stats("listener_manager.listener_(added|modified)$")
                     for mode in MODES}
        self.daemon.kill()
        Daemon.count -= 1  # its sockets have the names that the Envoys know
        self.daemon = self.tree.daemon = start_daemon()
        self.daemon.until_ready()
        self.tree.endpoints("four", "c")
        self.backends = "c"
        for mode in MODES:
            self.traffic[mode].until("c")
            now = self.envoys[mode].stats("listener_manager.listener_(added|modified)$")
            assert now == listeners[mode], (mode, listeners[mode], now)

    STEPS = (start, endpoint_added, endpoint_removed, rerouted, removed, changed, replaced, relistened,
             broken, repaired, killed)


def start_daemon():
    return GrpcDaemon("tree", "--grpc-pace", "5s", grace="2s")


def accepted(script, mode):
    assert not script.rejections(mode), script.rejections(mode)
    script.traffic[mode].stop()


def run_steps(tap, script):
    for step in Script.STEPS:
        if not tap.line(f"the step: {step.__doc__}", lambda step=step: step(script)):
            return
        script.daemon.until_idle()
        for mode in MODES:
            if mode in script.traffic and not tap.line(
                    f"Envoy by {mode} {step.__doc__}", lambda mode=mode: script.follows(mode)):
                del script.traffic[mode]
    for mode in list(script.traffic):
        tap.line(f"Envoy by {mode} refused nothing", lambda mode=mode: accepted(script, mode))


def main():
    skip_without_envoy()
    tap = Tap()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    daemon = start_daemon()
    tree = Tree(daemon)
    tree.listener()
    tree.cluster("one")
    tree.endpoints("one", "a")
    tree.routes(cluster="one")
    script = Script(daemon, tree)
    try:
        with Backends("a", "b", "c", "d"):
            run_steps(tap, script)
            tap.line("the daemon ends cleanly", script.daemon.stop)
    finally:
        for envoy in script.envoys.values():
            envoy.kill()
        if script.daemon.process.poll() is None:
            script.daemon.kill()
        if tap.failed:
            print("# " + "\n# ".join(script.daemon.log().splitlines()[-40:]), flush=True)
    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


main()
