# SPDX-License-Identifier: GPL-2.0-or-later
"""The real program: runs `xdspub serve` on a tree, asks its status, reads its files and REST."""
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from access import for_everyone
from rest_lib import Client, run  # noqa: F401 (run is for the tests)

XDSPUB = for_everyone(os.environ.get("XDSPUB", "xdspub"))
if "XDSPUB_SCHEMA" in os.environ:
    os.environ["XDSPUB_SCHEMA"] = for_everyone(os.environ["XDSPUB_SCHEMA"])
WAIT = 30.0
STEMS = {"CDS": "cds", "LDS": "lds", "EDS": "eds", "RDS": "rds"}


def wait_for(what, check, patience=WAIT):
    """Polls until check() is true; its value is returned."""
    end = time.monotonic() + patience
    while True:
        value = check()
        if value:
            return value
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.002)


def cluster(name, timeout="1s"):
    return (f"name: {name}\ntype: EDS\nconnect_timeout: {timeout}\n"
            "eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}\n")


def endpoints(name, port=80):
    return (f"cluster_name: {name}\nendpoints:\n- lb_endpoints:\n"
            "  - endpoint: {address: {socket_address: {address: 10.0.0.1, "
            f"port_value: {port}}}}}}}\n")


def listener(name, port=8080):
    return (f"name: {name}\naddress: {{socket_address: {{address: 0.0.0.0, "
            f"port_value: {port}}}}}\n")


def write(path, text):
    """As an editor does: a new file takes the place of the old one."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".tmp~", "w") as file:
        file.write(text)
    os.rename(path + ".tmp~", path)


def simple_tree(path, clusters=("a", "b"), allow_empty=False):
    write(f"{path}/groups.yaml",
          f"groups:\n- {{name: edge, layers: [.], allow_empty: {str(allow_empty).lower()}}}\n")
    write(f"{path}/listeners/l.yaml", listener("l"))
    for name in clusters:
        write(f"{path}/clusters/{name}.yaml", cluster(name))
        write(f"{path}/endpoints/{name}.yaml", endpoints(name))


class NotifySocket:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + path[1:] if path[0] == "@" else path)
        self.path = path
        self.messages = []

    def until(self, what, check):
        """The first message, from now on, that satisfies check."""
        end = time.monotonic() + WAIT
        while True:
            self.socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                message = dict(line.split("=", 1) for line in
                               self.socket.recv(65536).decode().splitlines())
            except socket.timeout:
                raise AssertionError(f"no message: {what}; had {self.messages[-5:]}") from None
            self.messages.append(message)
            if check(message):
                return message

    def drain(self):
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.recv(65536)
        except BlockingIOError:
            pass


class Daemon:
    count = 0

    def __init__(self, tree="tree", *options, publish="out", rest=True, state="state",
                 admin=True, grace="200ms", settle="20ms", env=None, config=None, notify=None,
                 demote=None, wrapper=()):
        Daemon.count += 1
        self.base = os.getcwd()
        self.tree, self.out = tree, publish
        self.admin = f"unix:{self.base}/admin{Daemon.count}.sock" if admin else None
        self.rest = f"unix:{self.base}/rest{Daemon.count}.sock" if rest else None
        arguments = [*wrapper, XDSPUB, "serve"]
        if config:
            arguments += ["--config", config]
        else:
            arguments += ["--source", tree, "--grace", grace, "--settle", settle]
            if publish:
                arguments += ["--publish", publish, "--format", "json"]
            if state:
                arguments += ["--state", state]
        if self.rest and not config:
            arguments += ["--rest", self.rest]
        if self.admin and not config:
            arguments += ["--admin", self.admin]
        self.log_path = f"{self.base}/log{Daemon.count}"
        environment = dict(os.environ, **(env or {}))
        if notify:
            environment["NOTIFY_SOCKET"] = notify.path
        self.process = subprocess.Popen(arguments + list(options), env=environment,
                                        stderr=open(self.log_path, "ab"), preexec_fn=demote)

    # What it says.

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def events(self, name):
        return [line for line in self.log().splitlines() if f" event={name} " in line + " "]

    def until_logged(self, text):
        return wait_for(f"log line {text}; log: {self.log()[-2000:]}", lambda: text in self.log())

    def get(self, address, path):
        with Client(address) as client:
            return client.get(path)

    def status(self):
        end = time.monotonic() + WAIT
        while True:
            try:
                return self.get(self.admin, "/status").json
            except (FileNotFoundError, ConnectionError, EOFError):
                code = self.process.poll()
                assert code is None, f"exit {code}: {self.log()}"
                assert time.monotonic() < end, "no admin listener"
                time.sleep(0.005)

    def until(self, what, check):
        end = time.monotonic() + WAIT
        while True:
            status = self.status()
            value = check(status)
            if value:
                return value if value is not True else status
            assert time.monotonic() < end, (
                f"not in time: {what}: {json.dumps(status)}\n{self.log()[-3000:]}")
            time.sleep(0.002)

    def group(self, name="edge", status=None):
        for group in (status or self.status())["groups"]:
            if group["name"] == name:
                return group
        return None

    def until_ready(self):
        return self.until("ready", lambda s: s["ready"])

    def until_idle(self):
        """Nothing pending, no bridge open, every transport at the built versions."""
        def idle(status):
            if status["source"]["pending"]:
                return False
            for group in status["groups"]:
                if group["bridge_until"] or group["files_behind"] or group["state_behind"]:
                    return False
                for versions in group["types"].values():
                    if len({v for k, v in versions.items() if k != "count"}) > 1:
                        return False
            return True
        return self.until("idle", idle)

    def until_built(self, serial):
        return self.until(f"build {serial}", lambda s: s["build"]["serial"] >= serial)

    # What it serves.

    def rest_answer(self, group, kind):
        folder = {"cds": "clusters", "lds": "listeners", "eds": "endpoints", "rds": "routes"}[kind]
        return self.get(self.rest, f"/v3/groups/{group}/{folder}")

    def rest_names(self, group="edge", kind="cds"):
        answer = self.rest_answer(group, kind)
        key = "cluster_name" if kind == "eds" else "name"
        return sorted(r[key] for r in answer.json.get("resources", []))

    def rest_version(self, group="edge", kind="cds"):
        return self.rest_answer(group, kind).version

    def file(self, group, *parts):
        with open(os.path.join(self.out, group, *parts)) as file:
            return json.load(file)

    def file_version(self, group="edge", kind="cds"):
        return self.file(group, kind, f"{kind}.json")["version_info"]

    def file_names(self, group="edge", kind="cds"):
        return sorted(r["name"] for r in self.file(group, kind, f"{kind}.json")["resources"])

    def eds_files(self, group="edge"):
        folder = os.path.join(self.out, group, "eds")
        if not os.path.isdir(folder):
            return []
        return sorted(name for name in os.listdir(folder)
                      if os.path.exists(os.path.join(folder, name, "eds.json")))

    def check_equal(self, groups=("edge",)):
        """Files and REST show the same versions and names, right now."""
        for group in groups:
            for kind in ("cds", "lds"):
                assert self.file_version(group, kind) == self.rest_version(group, kind)
                assert self.file_names(group, kind) == self.rest_names(group, kind)
            assert self.eds_files(group) == self.rest_names(group, "eds")

    # Its end.

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.signal(signal.SIGTERM)
        code = self.process.wait(WAIT)
        assert code == 0, f"exit {code}: {self.log()}"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self.process.poll() is None:
            self.stop()
        elif self.process.poll() is None:
            self.kill()
        if kind is not None:
            print("# " + "\n# ".join(self.log().splitlines()[-30:]), flush=True)


def become_nobody():
    """For preexec_fn: a user without rights, whose inotify instances nobody else needs."""
    os.setgid(65534)
    os.setuid(65534)


def fresh(*names):
    for name in names:
        shutil.rmtree(name, ignore_errors=True)


def xdspub(*arguments, **options):
    return subprocess.run([XDSPUB, *arguments], capture_output=True, text=True, timeout=60,
                          **options)
