# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of published files share: TAP, the tool that drives a publisher, inotify."""
import ctypes
import os
import shutil
import struct
import subprocess
import sys
import tempfile

BUILD = os.environ.get("top_builddir", ".")


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, name, note=""):
        self.count += 1
        if not good:
            self.failed += 1
        print("%s %d - %s" % ("ok" if good else "not ok", self.count, name))
        if not good and note:
            for line in str(note).splitlines():
                print("# " + line)
        sys.stdout.flush()
        return good

    def done(self):
        print("1..%d" % self.count)
        return 1 if self.failed else 0


class Folder:
    """A temporary folder that goes away."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="xdspub-publish-")
        os.chmod(self.path, 0o755)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


class Tool:
    """A publisher in a process of its own; `tell` sends a line and reads the answer."""

    def __init__(self, out, formats="yaml", name="publish_tool", fault=None, args=(), is_later=False):
        env = dict(os.environ)
        env.pop("FAULT", None)
        if fault:
            env["FAULT"] = fault
        if is_later:
            env["FAULT_LATER"] = "yes"
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "tests/tools", name), "-o", out, "-f", formats, *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=env, text=True)
        self.greeting = self.process.stdout.readline().strip()
        self.calls = None

    def tell(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        return self.process.stdout.readline().strip()

    def close(self):
        try:
            rest, _ = self.process.communicate(timeout=60)
        except BrokenPipeError:
            rest = ""
            self.process.wait()
        for line in rest.splitlines():
            if line.startswith("calls "):
                self.calls = int(line.split()[1])
        self.log.seek(0)
        self.stderr = self.log.read().decode()
        self.log.close()
        assert "Sanitizer" not in self.stderr, self.stderr
        return self.process.returncode


def read_tree(out):
    """Relative path: bytes, of everything that Envoy may see."""
    tree = {}
    for folder, names, files in os.walk(out):
        if ".xdspub" in names:
            names.remove(".xdspub")
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                tree[os.path.relpath(path, out)] = f.read()
    return tree


IN_MODIFY, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x2, 0x80, 0x100, 0x200


class Watch:
    """What a file subscription of Envoy sees: IN_MODIFY and IN_MOVED_TO of the parent folder."""

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders = {}

    def add(self, folder, mask=IN_MODIFY | IN_MOVED_TO):
        number = self.libc.inotify_add_watch(self.fd, os.fsencode(folder), mask)
        assert number >= 0, folder
        self.folders[number] = folder

    def events(self):
        """(path, mask) of everything so far, in order. Publishing is over when it is called."""
        out = []
        while True:
            try:
                data = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return out
            at = 0
            while at < len(data):
                number, mask, _, length = struct.unpack_from("iIII", data, at)
                name = data[at + 16:at + 16 + length].split(b"\0")[0].decode()
                out.append((os.path.join(self.folders[number], name), mask))
                at += 16 + length

    def close(self):
        os.close(self.fd)
