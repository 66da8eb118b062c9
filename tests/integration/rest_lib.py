# SPDX-License-Identifier: GPL-2.0-or-later
"""A REST server in a process of its own, clients that behave as Envoy does, and TAP."""
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
import traceback

TOOL = os.path.join(os.environ.get("top_builddir", "."), "tests/tools/rest_test_server")
PATHS = {
    "cds": "/v3/discovery:clusters", "eds": "/v3/discovery:endpoints",
    "lds": "/v3/discovery:listeners", "rds": "/v3/discovery:routes",
    "srds": "/v3/discovery:scoped-routes", "sds": "/v3/discovery:secrets",
    "rtds": "/v3/discovery:runtime", "ecds": "/v3/discovery:extension_configs",
}
WAIT = 20.0  # seconds until something that must happen counts as missing


class Server:
    """tests/tools/rest_test_server: commands in, one line out."""

    def __init__(self, *limits, listen=("127.0.0.1:0",), descriptors=None):
        self.process = subprocess.Popen(
            ["prlimit", f"--nofile={descriptors}", TOOL, *limits] if descriptors
            else [TOOL, *limits], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=open("rest-server.log", "ab"), text=True)
        self.stopped = False
        self.addresses = self.tell("listen", *listen).split()
        self.address = self.addresses[0]

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def logged(self, text):
        """Lines of the log with this text, all servers of this program together."""
        with open("rest-server.log", encoding="utf-8", errors="replace") as log:
            return [line for line in log if text in line]

    def tell(self, *words):
        line = self.ask(*words)
        assert line.startswith("ok"), f"{words}: {line}"
        return line[3:]

    def status(self, clients=100):
        return json.loads(self.ask("status", clients))

    def until(self, what, check):
        """Waits until check(status) holds."""
        end = time.monotonic() + WAIT
        while True:
            status = self.status()
            if check(status):
                return status
            assert time.monotonic() < end, f"not in time: {what}: {status}"
            time.sleep(0.005)

    def until_parked(self, count):
        return self.until(f"{count} parked", lambda s: s["parked"] == count)

    def stop(self):
        if not self.stopped:
            self.stopped = True
            self.tell("stop")
        self.process.stdin.close()
        assert self.process.wait(WAIT) == 0, f"exit {self.process.returncode}"
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.stop()
        else:
            self.process.kill()
            self.process.wait()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        error = self.json["error"]
        assert error["code"] == self.status, error
        return error["message"]

    @property
    def version(self):
        return self.json["version_info"]

    @property
    def names(self):
        return [resource["name"] for resource in self.json["resources"]]

    @property
    def texts(self):
        return [resource["text"] for resource in self.json["resources"]]


class Client:
    """One connection. What it sends as a poll is what Envoy sends, header by header."""

    def __init__(self, address, node=None):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address[5:])
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host.strip("[]"), int(port)))
        self.socket.settimeout(WAIT)
        self.node = {"id": "node-1", "cluster": "edge"} if node is None else node
        self.buffer = b""

    def fileno(self):
        return self.socket.fileno()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def body(self, kind, names=(), version="", type_url=None):
        body = {}
        if version:
            body["version_info"] = version
        if self.node:
            body["node"] = self.node
        if names:
            body["resource_names"] = sorted(names)
        if type_url:
            body["type_url"] = type_url
        return json.dumps(body, separators=(",", ":"))

    def ask(self, kind, names=(), version="", timeout=None, type_url=None):
        self.post(PATHS[kind], self.body(kind, names, version, type_url), timeout)

    def post(self, path, body, timeout=None, headers=""):
        if isinstance(body, str):
            body = body.encode()
        head = (f"POST {path} HTTP/1.1\r\nhost: xds_cluster\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\nx-envoy-internal: true\r\n"
                f"x-forwarded-for: 10.0.0.1\r\n{headers}")
        if timeout is not None:
            head += f"x-envoy-expected-rq-timeout-ms: {timeout}\r\n"
        self.send(head.encode() + b"\r\n" + body)

    def get(self, path, method="GET", headers=""):
        self.send(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n")
        return self.answer(head_only=method == "HEAD")

    def fill(self):
        data = self.socket.recv(65536)
        self.buffer += data
        return data

    def answer(self, head_only=False):
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                raise EOFError(f"closed, got {self.buffer!r}")
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        status = int(lines[0].split()[1])
        headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        length = 0 if status == 304 or head_only else int(headers["content-length"])
        body, self.buffer = bytearray(self.buffer[:length]), self.buffer[length:]
        while len(body) < length:
            data = self.socket.recv(min(length - len(body), 1 << 20))
            if not data:
                raise EOFError("closed in mid-body")
            body += data
        return Answer(status, headers, bytes(body))

    def poll(self, *args, **kwargs):
        self.ask(*args, **kwargs)
        return self.answer()

    def is_silent(self, seconds=0.0):
        return not self.buffer and not select.select([self], [], [], seconds)[0]

    def is_closed(self):
        """True at the end of the stream, whichever way it comes."""
        try:
            return not self.fill()
        except ConnectionError:
            return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run(tests):
    """Runs test functions; their first line of documentation is the TAP line."""
    failed = 0
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        title = (test.__doc__ or test.__name__).splitlines()[0].replace("#", "")
        start = time.monotonic()
        try:
            test()
            word = "ok"
        except Exception:  # every failure is one line for TAP and its trace as comment
            word = "not ok"
            failed += 1
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        print(f"{word} {number} - {title} ({time.monotonic() - start:.2f} s)", flush=True)
    if failed and os.path.exists("rest-server.log"):
        for line in open("rest-server.log", errors="replace").readlines()[-200:]:
            print("# " + line.rstrip())
    os.chdir("/")
    folder.cleanup()
    sys.exit(1 if failed else 0)
