# SPDX-License-Identifier: GPL-2.0-or-later
"""Real Envoys: one process for each way to get configuration, all of them on UNIX sockets.

    with Backends("a", "b") as backends, Envoy("ads", bootstrap("ads", daemon)) as envoy:
        envoy.until_live()
        traffic = Traffic(envoy.path("in.sock"))

Envoy resolves relative paths against its own folder, so equal listeners of several Envoys don't meet:
a tree says {pipe: {path: in.sock}}, and Envoy "ads" listens on ads/in.sock.
"""
import http.client
import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
import traceback
import http.server

from daemon_lib import WAIT, wait_for

BUILT = os.path.abspath(os.environ.get("top_builddir", "."))


def find_envoy():
    """The binary, or None: $ENVOY, or what `make check` fetched."""
    if os.environ.get("ENVOY"):
        return os.environ["ENVOY"]
    folder = os.path.join(BUILT, "gen/clients/envoy")
    names = sorted(name for name in os.listdir(folder) if name.startswith("envoy-")) \
        if os.path.isdir(folder) else []
    return os.path.join(folder, names[-1]) if names else None


def own_network():
    """Puts a program into a network of its own, where that is allowed."""
    for wrapper in (["unshare", "-n"], ["unshare", "-rn"]):
        try:
            if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode == 0:
                return wrapper
        except FileNotFoundError:
            pass
    return []


def skip_without_envoy():
    """Ends the test as skipped; where clients are required (CI), as failed."""
    if find_envoy():
        return
    reason = "no Envoy was fetched; gen/clients/envoy/log says why"
    if os.environ.get("XDSPUB_REQUIRE_CLIENTS"):
        print(f"1..1\nnot ok 1 - a real Envoy: {reason}")
        sys.exit(1)
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=WAIT)
        self.unix_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(WAIT)
        self.sock.connect(self.unix_path)


def fetch(unix_path, path, method="GET"):
    """(status, body) of a request of its own connection."""
    connection = UnixConnection(unix_path)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Backends:
    """HTTP servers at <name>.sock that answer every request with their name."""

    class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
        address_family = socket.AF_UNIX
        daemon_threads = True
        request_queue_size = 64

        def server_bind(self):
            socketserver.TCPServer.server_bind(self)
            self.server_name, self.server_port = self.server_address, 0

        def handle_error(self, *_):
            """A client that is gone is no trouble."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def address_string(self):
            return "unix"

        def do_GET(self):
            body = os.path.basename(self.server.server_address)[:-len(".sock")].encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Quiet."""

    def __init__(self, *names):
        self.servers = [self.Server(os.path.abspath(f"{name}.sock"), self.Handler)
                        for name in names]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05},
                             daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.shutdown()
            server.server_close()


def grpc_cluster(address):
    """A static cluster "xdspub" over HTTP/2; an address of REST gets HTTP/1.1 from rest_cluster."""
    options = {"@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
               "explicit_http_config": {"http2_protocol_options": {}}}
    cluster = rest_cluster(address)
    cluster["typed_extension_protocol_options"] = {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": options}
    return cluster


def rest_cluster(address):
    path = address[len("unix:"):]
    endpoint = {"endpoint": {"address": {"pipe": {"path": path}}}}
    return {"name": "xdspub", "connect_timeout": "1s",
            "load_assignment": {"cluster_name": "xdspub",
                                "endpoints": [{"lb_endpoints": [endpoint]}]}}


MODES = ("files", "rest", "ads", "delta-ads", "grpc", "delta")
ADS_MODES = ("ads", "delta-ads")
GRPC_SERVICES = [{"envoy_grpc": {"cluster_name": "xdspub"}}]
API_TYPES = {"rest": "REST", "ads": "GRPC", "delta-ads": "DELTA_GRPC", "grpc": "GRPC",
             "delta": "DELTA_GRPC"}


def config_source(mode, daemon, group, kind, name=None):
    """A ConfigSource as a tree or a bootstrap for this way would have it."""
    if mode == "files":
        stem = kind.lower()
        folder = os.path.join(os.path.abspath(daemon.out), group, stem, *([name] if name else []))
        return {"resource_api_version": "V3", "initial_fetch_timeout": "0s",
                "path_config_source": {"path": f"{folder}/{stem}.json"}}
    if mode in ADS_MODES:
        return {"resource_api_version": "V3", "ads": {}, "initial_fetch_timeout": "0s"}
    source = {"api_type": API_TYPES[mode], "transport_api_version": "V3"}
    if mode == "rest":
        # Envoy asks again after this time, plus a jitter; a poll may be held as long as the timeout.
        source.update(cluster_names=["xdspub"], refresh_delay="0.010s", request_timeout="20s")
    else:
        source.update(grpc_services=GRPC_SERVICES, set_node_on_first_message_only=True)
    return {"resource_api_version": "V3", "api_config_source": source,
            "initial_fetch_timeout": "0s"}


def bootstrap(mode, daemon, group, node=None):
    """A bootstrap for Envoy `mode`: listeners and clusters of the daemon, by that way."""
    result = {
        "node": node or {"id": f"envoy-{mode}", "cluster": group},
        "admin": {"address": {"pipe": {"path": "admin.sock"}}},
        "dynamic_resources": {"lds_config": config_source(mode, daemon, group, "LDS"),
                              "cds_config": config_source(mode, daemon, group, "CDS")}}
    if mode == "rest":
        result["static_resources"] = {"clusters": [rest_cluster(daemon.rest)]}
    elif mode != "files":
        result["static_resources"] = {"clusters": [grpc_cluster(daemon.grpc_unix)]}
    if mode in ADS_MODES:
        result["dynamic_resources"]["ads_config"] = {
            "api_type": API_TYPES[mode], "transport_api_version": "V3",
            "set_node_on_first_message_only": True, "grpc_services": GRPC_SERVICES}
    return result


class Envoy:
    """One Envoy in a folder of its own, which carries its name."""

    def __init__(self, name, config, *options, wrapper=()):
        self.name = name
        self.folder = os.path.abspath(name)
        os.makedirs(self.folder, exist_ok=True)
        with open(self.path("bootstrap.json"), "w") as file:
            json.dump(config, file, indent=1)
        self.process = subprocess.Popen(
            [*wrapper, find_envoy(), "-c", "bootstrap.json", "--concurrency", "1", "--disable-hot-restart",
             "-l", "warning", "--drain-time-s", "1",
             "--drain-strategy", "immediate", "--parent-shutdown-time-s", "2", *options],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=open(self.path("log"), "ab"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self):
        with open(self.path("log"), errors="replace") as file:
            return file.read()

    def ask(self, path, method="GET"):
        """The body of an answer of the admin interface."""
        def attempt():
            assert self.process.poll() is None, \
                f"{self.name}: exit {self.process.returncode}: {self.log()[-3000:]}"
            try:
                return fetch(self.path("admin.sock"), path, method)
            except (FileNotFoundError, ConnectionError, http.client.HTTPException):
                return None
        return wait_for(f"an answer of {self.name}", attempt)[1]

    def is_live(self):
        return self.ask("/ready").strip() == b"LIVE"

    def until(self, what, check):
        """Waits for check(self); the log goes with a failure."""
        try:
            return wait_for(what, lambda: check(self))
        except AssertionError as error:
            raise AssertionError(f"{self.name}: {error}; {self.log()[-3000:]}") from None

    def until_live(self):
        self.until("live", lambda _: self.is_live())

    def stats(self, pattern):
        """{name: value} of counters and gauges that match."""
        answer = json.loads(self.ask(f"/stats?format=json&filter={pattern}"))
        return {stat["name"]: stat["value"] for stat in answer["stats"] if "name" in stat}

    def dump(self):
        """The parts of /config_dump by the last part of their type."""
        answer = json.loads(self.ask("/config_dump?include_eds"))
        return {part["@type"].rsplit(".", 1)[1]: part for part in answer["configs"]}

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.kill()
        if kind is not None:
            print("# " + "\n# ".join([self.name, *self.log().splitlines()[-20:]]), flush=True)


class Traffic:
    """Requests to a listener, one after the other, until it is stopped. Failures are kept."""

    def __init__(self, unix_path):
        self.unix_path = unix_path
        self.answers, self.failures = [], []
        self.news = threading.Condition()
        self.stopped = False
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _one(self, connection):
        try:
            connection.request("GET", "/")
            answer = connection.getresponse()
            body = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return None, repr(error)
        if answer.will_close:
            connection.close()
        if answer.status != 200:
            return None, f"{answer.status} {body}"
        return body, None

    def _work(self):
        connection = UnixConnection(self.unix_path)
        while not self.stopped:
            body, problem = self._one(connection)
            with self.news:
                if problem is None:
                    self.answers.append(body)
                else:
                    self.failures.append((len(self.answers), problem))
                self.news.notify_all()
        connection.close()

    def until(self, backends, steady=20):
        """The last answers are of all of these and of no other. No request may fail meanwhile."""
        with self.news:
            done = self.news.wait_for(
                lambda: self.failures or set(self.answers[-steady:]) == set(backends), WAIT)
            assert not self.failures, self.failures[:5]
            assert done, f"not in time: {backends}: {self.answers[-steady:]}"

    def more(self, count=20):
        """So many answers from now on; the set of them."""
        with self.news:
            start = len(self.answers)
            assert self.news.wait_for(
                lambda: self.failures or len(self.answers) >= start + count, WAIT), "no answers"
            assert not self.failures, self.failures[:5]
            return set(self.answers[start:])

    def stop(self):
        self.stopped = True
        self.thread.join(WAIT)
        assert not self.failures, self.failures[:5]


class Tap:
    """For tests that go on after a failure; line() says whether it was one."""

    def __init__(self):
        self.count = self.failed = 0

    def line(self, title, check):
        self.count += 1
        try:
            check()
            print(f"ok {self.count} - {title}", flush=True)
            return True
        except Exception:
            self.failed += 1
            print("# " + "\n# ".join(traceback.format_exc().splitlines()))
            print(f"not ok {self.count} - {title}", flush=True)
            return False
