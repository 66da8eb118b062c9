#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Real gRPC clients resolve a service through the daemon and follow its tree without one failed call.

All clients run at the same time against one daemon and call all the while. A step edits the tree, or
does something to the daemon, and gives a TAP line per client. A client that is not built is skipped;
with XDSPUB_REQUIRE_CLIENTS in the environment (CI) that is a failure.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

try:
    import grpc  # noqa: F401 (the backends need it)
except ImportError:
    grpc = None

from daemon_lib import WAIT, Daemon, cluster, write

SOURCE = os.path.join(os.environ.get("top_srcdir", "."), "tests/clients")
BUILT = os.environ.get("top_builddir", ".")
SERVICE = "echo"
BACKENDS = ("a", "b", "c", "d", "e")
STEADY = 20  # so many calls in a row tell where a client is
# grpc-go begins to use new routes before its balancer has heard of the clusters in them: a call in between fails,
# whatever the server does. (ClientConn: applyServiceConfigAndBalancer, then updateClientConnState.)
GO_FAULT = "unknown cluster selected for RPC"
CDS = "envoy.config.cluster.v3.Cluster"

LISTENER = f"""\
name: {SERVICE}
api_listener:
  api_listener:
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    stat_prefix: {SERVICE}
    rds: {{route_config_name: routes, config_source: {{ads: {{}}, resource_api_version: V3}}}}
    http_filters:
    - name: router
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
"""


class Tree:
    """The source tree. What is changed inside `with` is one commit: the daemon sees all of it or nothing."""

    def __init__(self, path, ports):
        self.path, self.ports = path, ports
        os.mkdir(path)

    def __enter__(self):
        write(f"{self.path}/.xdspub-hold", "")
        return self

    def __exit__(self, *_):
        os.unlink(f"{self.path}/.xdspub-hold")

    def write(self, file, text):
        write(f"{self.path}/{file}", text)

    def remove(self, file):
        os.unlink(f"{self.path}/{file}")

    def cluster(self, name, backends):
        self.write(f"clusters/{name}.yaml", cluster(name))
        self.endpoints(name, backends)

    def endpoints(self, name, backends):
        text = f"cluster_name: {name}\nendpoints:\n- locality: {{region: here}}\n" \
               "  load_balancing_weight: 1\n  lb_endpoints:\n"
        for backend in backends:
            text += ("  - endpoint: {address: {socket_address: {address: 127.0.0.1, "
                     f"port_value: {self.ports[backend]}}}}}}}\n")
        self.write(f"endpoints/{name}.yaml", text)

    def drop_cluster(self, name):
        self.remove(f"clusters/{name}.yaml")
        self.remove(f"endpoints/{name}.yaml")

    def routes(self, action):
        self.write("routes/routes.yaml", "name: routes\nvirtual_hosts:\n- name: all\n  domains: ['*']\n"
                   f"  routes:\n  - match: {{prefix: ''}}\n    route: {{{action}}}\n")


class Program:
    """A client in a process of its own; its lines are read as they come. A failure with the text `own_fault` is
    the library's and no matter of the daemon."""

    def __init__(self, title, own_fault=None):
        self.title, self.own_fault = title, own_fault
        self.lines, self.failures, self.forgiven = [], [], []
        self.news = threading.Condition()
        self.process = None

    def start(self, command, environment=None):
        self.process = subprocess.Popen(command, env=dict(os.environ, **(environment or {})), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=open(f"{self.title}.log", "ab"))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                self._list_of(line).append(line.strip())
                self.news.notify_all()

    def _list_of(self, line):
        if not line.startswith("failed"):
            return self.lines
        return self.forgiven if self.own_fault and self.own_fault in line else self.failures

    def until(self, what, check):
        """Waits for lines that satisfy check(), which is asked with the lock held; no failure is forgiven."""
        end = time.monotonic() + WAIT
        with self.news:
            while not check():
                assert not self.failures, self.failures[:5]
                assert self.process.poll() is None, f"exit {self.process.returncode}: {self.log()}"
                assert time.monotonic() < end, f"not in time: {what}: {self.lines[-STEADY:]}: {self.log()}"
                self.news.wait(0.1)
            assert not self.failures, self.failures[:5]

    def log(self):
        with open(f"{self.title}.log", errors="replace") as file:
            return file.read()[-2000:]

    def stop(self):
        self.process.stdin.close()
        code = self.process.wait(WAIT)
        assert code == 0, f"exit {code}: {self.log()}"


class Caller(Program):
    """Makes calls to xds:///SERVICE."""

    def __init__(self, title, server, missing, command, own_fault=None, **environment):
        super().__init__(title, own_fault)
        self.node = title
        self.server, self.missing = server, missing
        self.command, self.environment = command, environment

    def begin(self, service=SERVICE):
        bootstrap = {"xds_servers": [{"server_uri": self.server, "channel_creds": [{"type": "insecure"}],
                                      "server_features": ["xds_v3"]}],
                     "node": {"id": self.node, "cluster": "clients", "locality": {}}}
        write(f"{self.title}.json", json.dumps(bootstrap))
        self.start([*self.command, service],
                   dict(self.environment, GRPC_XDS_BOOTSTRAP=os.path.abspath(f"{self.title}.json")))

    def until_at(self, place):
        """The last calls were answered by all of these backends and by no other."""
        wanted = {f"ok {backend}" for backend in place.backends}
        self.until(f"answers of {place.backends} only", lambda: set(self.lines[-STEADY:]) == wanted)

    def stays_at(self, place):
        """Calls that begin from now on are answered as before."""
        with self.news:
            start = len(self.lines) + 1
        self.until("calls going on", lambda: len(self.lines) >= start + STEADY)
        with self.news:
            seen = set(self.lines[start:])
        assert seen == {f"ok {backend}" for backend in place.backends}, seen


class Follower(Program):
    """go-control-plane's SotW client, for the clusters."""

    def __init__(self, title, server, missing, command):
        super().__init__(title)
        self.node = "sotw"
        self.server, self.missing, self.command = server, missing, command

    def begin(self):
        self.start([*self.command, self.server, CDS])

    def until_at(self, place):
        self.until(place.clusters, lambda: self.got()[-1:] == [place.clusters])

    def stays_at(self, place):
        assert self.got()[-1] == place.clusters, self.lines[-3:]

    def got(self):
        return [line[4:].split(",") for line in self.lines if line.startswith("got ")]

    def check_history(self, clusters):
        """What came, in order: each set once, and the last once more on a new stream."""
        for before, after in zip(self.lines, self.lines[1:]):
            assert before != after or not after.startswith("got "), self.lines
        got = self.got()
        changes = [now for before, now in zip([None] + got, got) if now != before]
        assert changes == clusters, (changes, clusters)


class Place:
    """Where the clients have to be."""

    def __init__(self, backends, clusters):
        self.backends, self.clusters = backends, clusters


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def missing_file(path, reason):
    return None if os.path.exists(path) else reason


def all_clients(tcp, unix):
    """Every client; `missing` says why one cannot run here. One of them takes the UNIX socket."""
    modules = os.path.join(BUILT, "gen/clients/node/node_modules")
    go = os.path.join(BUILT, "gen/clients/go")
    cxx = os.path.join(BUILT, "tests/clients/cxx/xds_client")
    no_go = missing_file(go, "no Go toolchain")
    return [
        Caller("C++", tcp, missing_file(cxx, "no libgrpc++"), [cxx]),
        Caller("Python", unix, None, [sys.executable, f"{SOURCE}/python/xds_client.py"]),
        Caller("Node", tcp, missing_file(modules, "no npm"), ["node", f"{SOURCE}/node/xds_client.js"],
               NODE_PATH=modules),
        Caller("Go", tcp, no_go, [f"{go}/xds_client"], GO_FAULT),
        Follower("go-control-plane", tcp, no_go, [f"{go}/sotw_client"]),
    ]


class Script:
    """The steps in their order; each returns where the clients have to be then."""

    def __init__(self, ports):
        self.tree = Tree("tree", ports)
        self.tcp, self.unix = f"127.0.0.1:{free_port()}", f"unix:{os.getcwd()}/grpc.sock"
        self.clients = all_clients(self.tcp, self.unix)
        self.daemon = None
        self.place = None
        self.clusters = []  # every set of clusters that there was

    def start_daemon(self):
        self.daemon = Daemon("tree", "--grpc", self.tcp, "--grpc", self.unix)
        self.daemon.until_ready()

    def stop_daemon(self):
        """Calls that go on do not tell whether a client refused something: the daemon knows."""
        status = self.daemon.status()
        assert status["grpc"]["nacks"] == 0, status["clients"]
        nodes = sorted(client["node"] for client in status["clients"])
        assert nodes == sorted(client.node for client in self.clients), nodes
        self.daemon.stop()

    def move(self, backends, clusters):
        if not self.clusters or self.clusters[-1] != clusters:
            self.clusters.append(clusters)
        self.place = Place(backends, clusters)

    # The steps. One that does not move() leaves the clients where they are.

    def resolves(self):
        """resolves the service: LDS, RDS, CDS, EDS"""
        with self.tree as tree:
            tree.write("groups.yaml", "groups:\n- {name: edge, layers: [.]}\n")
            tree.write("listeners/echo.yaml", LISTENER)
            tree.routes("cluster: one")
            tree.cluster("one", "ab")
        self.start_daemon()
        for client in self.clients:
            client.begin()
        self.move("ab", ["one"])

    def endpoint_added(self):
        """uses an endpoint that is added"""
        self.tree.endpoints("one", "abc")
        self.move("abc", ["one"])

    def endpoint_removed(self):
        """leaves an endpoint that is removed"""
        self.tree.endpoints("one", "bc")
        self.move("bc", ["one"])

    def endpoints_replaced(self):
        """moves when every endpoint is another"""
        self.tree.endpoints("one", "de")
        self.move("de", ["one"])

    def split(self):
        """follows routes to two clusters, one of them new"""
        with self.tree as tree:
            tree.cluster("two", "ab")
            tree.routes("weighted_clusters: {clusters: [{name: one, weight: 50}, {name: two, weight: 50}]}")
        self.move("abde", ["one", "two"])

    def rerouted(self):
        """follows routes to the other cluster"""
        self.tree.routes("cluster: two")
        self.move("ab", ["one", "two"])

    def old_removed(self):
        """does not notice that the old cluster is removed"""
        self.tree.drop_cluster("one")
        self.move("ab", ["two"])

    def all_at_once(self):
        """follows one commit that adds a cluster, moves the routes and removes the old cluster"""
        with self.tree as tree:
            tree.cluster("three", "cd")
            tree.routes("cluster: three")
            tree.drop_cluster("two")
        self.move("cd", ["three", "two"])  # the bridge
        self.move("cd", ["three"])

    def broken(self):
        """is left alone by a commit that is held for an error in it"""
        with self.tree as tree:
            tree.endpoints("three", "e")
            tree.write("clusters/broken.yaml", "name: broken\nlb_polcy: RANDOM\n")
        self.daemon.until("held", lambda s: self.daemon.group(status=s)["held"])

    def repaired(self):
        """gets what was held once the error is gone"""
        self.tree.remove("clusters/broken.yaml")
        self.move("e", ["three"])

    def stopped(self):
        """goes on calling while the daemon is down"""
        self.stop_daemon()

    def restarted(self):
        """comes back to the daemon and gets what changed meanwhile"""
        self.tree.endpoints("three", "ace")
        self.start_daemon()
        self.move("ace", ["three"])

    def follows_again(self):
        """follows endpoints after that"""
        self.tree.endpoints("three", "bd")
        self.move("bd", ["three"])

    def brought_back(self):
        """follows one commit that brings a cluster back and replaces the other by it"""
        with self.tree as tree:
            tree.cluster("two", "ce")
            tree.routes("cluster: two")
            tree.drop_cluster("three")
        self.move("ce", ["three", "two"])  # the bridge
        self.move("ce", ["two"])

    STEPS = (resolves, endpoint_added, endpoint_removed, endpoints_replaced, split, rerouted, old_removed,
             all_at_once, broken, repaired, stopped, restarted, follows_again, brought_back)


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def say(self, word, title):
        self.count += 1
        self.failed += word != "ok"
        print(f"{word} {self.count} - {title}", flush=True)

    def fail(self, title):
        """While an exception is handled: its trace goes along."""
        for text in traceback.format_exc().splitlines():
            print("# " + text)
        self.say("not ok", title)

    def line(self, title, check):
        """One test: check() raises what is wrong."""
        start = time.monotonic()
        try:
            check()
        except Exception:
            self.fail(title)
            return False
        self.say("ok", f"{title} ({time.monotonic() - start:.2f} s)")
        return True

    def skip(self, title, reason):
        if os.environ.get("XDSPUB_REQUIRE_CLIENTS"):
            self.say("not ok", f"{title}: {reason}")
        else:
            self.say("ok", f"{title} # SKIP {reason}")


class Backends:
    """tests/clients/python/backends.py, and the port of each name."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, f"{SOURCE}/python/backends.py", *BACKENDS],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return dict(self.process.stdout.readline().split() for _ in BACKENDS)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def end(tap, clients):
    for client in clients:
        for line in client.forgiven:
            print(f"# {client.title}, forgiven: {line}")
        tap.line(f"{client.title} ends", client.stop)


def kill(clients):
    for client in clients:
        if client.process and client.process.poll() is None:
            client.process.kill()
            client.process.wait()


def check_step(tap, script, step):
    """Takes the step and looks at every client; who failed is not asked again."""
    before = script.place
    step(script)

    def follows(client):
        client.until_at(script.place)
        if script.place is not before:
            script.daemon.until_idle()  # no bridge is open: what was removed is gone
        client.stays_at(script.place)

    for client in list(script.clients):
        if not tap.line(f"{client.title} {step.__doc__}", lambda client=client: follows(client)):
            script.clients.remove(client)


def run_script(tap, ports):
    script = Script(ports)
    for client in [client for client in script.clients if client.missing]:
        tap.skip(client.title, client.missing)
        script.clients.remove(client)
    everyone = list(script.clients)
    try:
        for step in Script.STEPS:
            check_step(tap, script, step)
        for client in script.clients:
            if isinstance(client, Follower):
                tap.line(f"{client.title} got every set once, in order",
                         lambda client=client: client.check_history(script.clusters))
        tap.line("the daemon heard no complaint and ends cleanly", script.stop_daemon)
        end(tap, script.clients)
    finally:
        kill(everyone)
        if script.daemon and script.daemon.process.poll() is None:
            script.daemon.kill()
        if tap.failed:
            print("# " + "\n# ".join(script.daemon.log().splitlines()[-40:]), flush=True)


def run_example(tap, ports):
    """examples/grpc-clients as it stands, but for the ports of its backends."""
    shutil.copytree(os.path.join(SOURCE, "../../examples/grpc-clients"), "example")
    for name, port, backend in (("greeter", 50051, "a"), ("greeter-canary", 50052, "b")):
        path = f"example/endpoints/{name}.yaml"
        with open(path) as file:
            text = file.read()
        assert str(port) in text
        write(path, text.replace(str(port), ports[backend]))
    server = f"127.0.0.1:{free_port()}"
    clients = [client for client in all_clients(server, server)
               if isinstance(client, Caller) and not client.missing]
    try:
        with Daemon("example", "--grpc", server, publish=None, state=None) as daemon:
            daemon.until_ready()
            for client in clients:
                client.begin("greeter")
            for client in clients:
                tap.line(f"{client.title} calls both clusters of examples/grpc-clients", lambda client=client:
                         client.until("calls to both", lambda: {"ok a", "ok b"} <= set(client.lines)))
            end(tap, clients)
    finally:
        kill(clients)


def main():
    tap = Tap()
    if not grpc:
        tap.skip("real clients", "no grpcio for Python, which the backends need")
    else:
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        for part in (run_script, run_example):
            try:
                with Backends() as ports:
                    part(tap, ports)
            except Exception:
                tap.fail(f"{part.__name__} does not come to its end")
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


main()
