# SPDX-License-Identifier: GPL-2.0-or-later
"""The servers that grpc_figures.py compares, the tree they serve, and the load generator.

Environment: XDSPUB, XDSPUB_SCHEMA, top_builddir.
"""
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

PROGRAM = os.environ["XDSPUB"]
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.environ["top_builddir"], "tests", "bench")
WAIT = 300  # seconds, for anything
EXTENSIONS = 300  # that a node lists: about what Envoy has


def name(i):
    return f"service-{i:05}.prod.example.internal"


def cluster(i, filler):
    return (f"name: {name(i)}\ntype: EDS\nconnect_timeout: 1s\nlb_policy: LEAST_REQUEST\n"
            "eds_cluster_config:\n  eds_config: {ads: {}, resource_api_version: V3}\n"
            "circuit_breakers:\n  thresholds:\n  - max_connections: 1000\n"
            + (f"metadata: {{filter_metadata: {{bench: {{text: {filler}}}}}}}\n" if filler else ""))


def endpoints(i, address):
    text = (f"cluster_name: {name(i)}\nendpoints:\n"
            "- locality: {region: eu-west-1, zone: eu-west-1a}\n  lb_endpoints:\n")
    for host in (address, f"10.1.{i // 250}.{i % 250}", f"10.2.{i // 250}.{i % 250}"):
        text += ("  - endpoint: {address: {socket_address: "
                 f"{{address: {host}, port_value: 8080}}}}}}\n")
    return text


LISTENER = f"""name: public
address: {{socket_address: {{address: 0.0.0.0, port_value: 8080}}}}
filter_chains:
- filters:
  - name: tcp
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
      stat_prefix: public
      cluster: {name(0)}
"""


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Tree:
    def __init__(self, folder, count, filler=0):
        self.folder = folder
        self.filler = filler
        for kind in ("clusters", "endpoints", "listeners"):
            os.makedirs(f"{folder}/{kind}")
        write(f"{folder}/groups.yaml", "groups: [{name: all, layers: [.]}]\n")
        write(f"{folder}/listeners/public.yaml", LISTENER)
        for i in range(count):
            write(f"{folder}/clusters/{i:05}.yaml", cluster(i, "x" * filler))
            write(f"{folder}/endpoints/{i:05}.yaml", endpoints(i, f"10.0.{i // 250}.{i % 250}"))
        self.names = f"{folder}.names"
        write(self.names, "".join(f"{name(i)}\n" for i in range(count)))

    def publish(self, out):
        """As files of serialized responses; the folder of the group."""
        subprocess.run([PROGRAM, "build", self.folder, "-o", out, "--format", "pb"], check=True,
                       stdout=subprocess.DEVNULL)
        return f"{out}/all"


def marker(edit):
    """An address that nothing else has."""
    return f"10.77.{edit // 200 + 1}.{edit % 200 + 10}"


class Server:
    """A process with a port; its CPU and memory as the kernel counts them."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, **options)
        self.port = None

    def cpu(self):
        """Seconds, of all threads it has now."""
        total = 0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total / 1e9

    def resident(self):
        """KiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        raise RuntimeError("no VmRSS")

    def quiet_cpu(self):
        """The same as cpu(), once the server has no more to do."""
        before = self.cpu()
        for _ in range(100):
            time.sleep(0.2)
            after = self.cpu()
            if after - before < 0.002:
                return after
            before = after
        raise RuntimeError("the server does not come to rest")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Xdspub(Server):
    def __init__(self, folder, tree):
        """Edits are made in the tree; its clusters are as long as before."""
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(f"{folder}/notify")
        notify.settimeout(0.5)
        admin = f"unix:{folder}/admin"
        self.tree = tree
        super().__init__(
            [PROGRAM, "serve", "--source", tree.folder, "--grpc", "127.0.0.1:0", "--admin", admin,
             "--settle", "0", "--rescan", "1h", "--log-level", "error"],
            env=dict(os.environ, NOTIFY_SOCKET=f"{folder}/notify"))
        self.wait_ready(notify)
        notify.close()
        os.unlink(f"{folder}/notify")
        status = json.loads(subprocess.run([PROGRAM, "status", "--json", "--admin", admin],
                                           check=True, stdout=subprocess.PIPE).stdout)
        self.port = int(status["grpc"]["listeners"][0]["bound"].rsplit(":", 1)[1])

    def wait_ready(self, notify):
        message = b""
        while b"READY=1" not in message:
            try:
                message = notify.recv(4096)
            except TimeoutError:
                if self.process.poll() is not None:
                    sys.exit(f"the daemon ended with {self.process.returncode}")

    def prepare(self, kind, edit):
        """The edit's text; change() makes it."""
        if kind == "endpoints":
            return f"{self.tree.folder}/endpoints/00007.yaml", endpoints(7, marker(edit))
        return f"{self.tree.folder}/clusters/00007.yaml", cluster(
            7, marker(edit).ljust(self.tree.filler, "x"))

    def change(self, prepared):
        path, text = prepared
        write(path, text)


class GoControlPlane(Server):
    def __init__(self, folder, tree):
        self.folder, self.tree = folder, tree
        super().__init__([os.path.join(PROGRAMS, "gocontrolplane"), tree.publish(f"{folder}/go")],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def prepare(self, kind, edit):
        assert kind == "endpoints"
        path = f"{self.folder}/edit-{edit}"
        write(f"{path}.yaml", "version_info: x\nresources:\n- " + "\n  ".join(
            ['"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
             *endpoints(7, marker(edit)).splitlines()]) + "\n")
        with open(f"{path}.pb", "wb") as file:
            subprocess.run([PROGRAM, "convert", "-t", "DiscoveryResponse", "-o", "pb",
                            f"{path}.yaml"], check=True, stdout=file)
        return f"{path}.pb"

    def change(self, prepared):
        self.process.stdin.write(f"{prepared}\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()

    @staticmethod
    def build():
        """None, or why there is none."""
        go = shutil.which("go")
        if not go:
            return "there is no Go here"
        done = subprocess.run(
            [go, "build", "-o", os.path.join(PROGRAMS, "gocontrolplane"), "."],
            cwd=os.path.join(HERE, "go"), stderr=subprocess.PIPE, text=True, check=False,
            env=dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="-mod=readonly -buildvcs=false"))
        return f"go build: {done.stderr.strip()[-300:]}" if done.returncode else None


class Bare(Server):
    def __init__(self, size):
        super().__init__([os.path.join(PROGRAMS, "bench_grpc_bare"), str(size)],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    @staticmethod
    def prepare(_kind, edit):
        return marker(edit)

    def change(self, prepared):
        self.process.stdin.write(f"{prepared}\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


class Load:
    """Clients; see bench_grpc_load.c."""

    def __init__(self, server, *options):
        self.process = subprocess.Popen(
            [os.path.join(PROGRAMS, "bench_grpc_load"), str(server.port), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def event(self, wanted):
        if not select.select([self.process.stdout], [], [], WAIT)[0]:
            raise RuntimeError(f"the clients are not {wanted} in time")
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the load generator ended")
        event = json.loads(line)
        assert event["event"] == wanted, event
        return event

    def command(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
