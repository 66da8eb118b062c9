#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dies at, and fails, every system call of a publish in turn: only whole old or whole new files,
never newer ones that refer to older ones (S.4, S.8, S.23), and the next run completes it."""
import concurrent.futures
import os
import shutil
import sys

from publish_test import Folder, Tap, Tool, read_tree

RANKS = ["sds", "eds", "rtds", "ecds", "cds", "rds", "srds", "lds"]

OLD = "publish edge @one lds:l cds:a cds:b eds:a eds:b eds:gone sds:pw rds:r rds:gone"
# Bodies are messages: a stat_prefix, an alt_stat_name, an empty policy, an empty generic_secret.
NEW = ("publish edge @two lds:l=e201026869 cds:a cds:b=e201026869 eds:a=2200 eds:b eds:new "
       "sds:pw=2a00 rds:r rds:new srds:s")

# More files than are synced one by one.
MANY_OLD = "publish edge @one lds:l cds:a" + "".join(" eds:e%d" % i for i in range(20))
MANY_NEW = "publish edge @two lds:l=e201026869 cds:a sds:pw" + "".join(
    " eds:e%d=2200" % i for i in range(5, 45))

# Several groups that wait for the disk together.
GROUPS_OLD = " ; ".join(f"{group} @one lds:l cds:a cds:{group} eds:a eds:gone"
                        for group in ("g1", "g2", "g3")).join(("publish ", ""))
GROUPS_NEW = " ; ".join(f"{group} @two lds:l=e201026869 cds:a cds:{group}=e201026869 eds:a=2200 eds:n"
                        for group in ("g1", "g2", "g3", "g4")).join(("publish ", ""))
LINES = {"batch": (MANY_OLD, MANY_NEW), "groups": (GROUPS_OLD, GROUPS_NEW)}


def rank(path):
    return RANKS.index(path.split("/")[1])


def group(path):
    return path.split("/")[0]


def is_before(path, other):
    """In the order of one group; groups know nothing of each other."""
    return group(path) == group(other) and rank(path) < rank(other)


def wrong(found, old, new):
    """None, or what is wrong with a tree on the way from old to new."""
    changed = [p for p in new if new[p] != old.get(p)]
    done = {p for p in changed if found.get(p) == new[p]}
    gone = {p for p in old if p not in new and p not in found}
    for path, data in found.items():
        if data not in (old.get(path), new.get(path)):
            return "%s is neither old nor new: %r" % (path, data[:60])
    for path in old:
        if path in new and path not in found:
            return path + " is missing"
    for path in done:
        for other in changed:
            if is_before(other, path) and other not in done:
                return "%s came before %s" % (path, other)
    for path in gone:
        left = [p for p in changed if group(p) == group(path) and p not in done]
        if left:
            return "%s was removed before %s was written" % (path, left[0])
    for path in gone:
        for other in old:
            if other not in new and is_before(path, other) and other not in gone:
                return "%s was removed before %s" % (path, other)
    return None


def run(out, formats, fault=None, is_later=False):
    """Counts and fails calls; never waits for the disk, and needs no schema."""
    return Tool(out, formats, "publish_tool_faulty", fault, ["-P"], is_later)


class Case:
    """One way from old to new: `first` publish, `restart` of the program, or a `change`."""

    def __init__(self, top, formats, way):
        self.formats = formats
        self.way = way
        self.base = os.path.join(top, "base")
        self.out = os.path.join(top, "out")
        self.from_line, self.to_line = LINES.get(way, (OLD, NEW))
        tool = run(self.base, formats)
        self.old = {}
        if way != "first":
            assert tool.tell(self.from_line).startswith("ok"), tool.greeting
            self.old = read_tree(self.base)
        # Files that do not change keep the source that was named when they were written.
        assert tool.tell(self.to_line).startswith("ok")
        tool.close()
        self.new = read_tree(self.base)

    def start(self, fault):
        """A publisher that will meet the fault, in front of an old folder."""
        shutil.rmtree(self.out, ignore_errors=True)
        if self.way == "restart":
            tool = run(self.out, self.formats)
            tool.tell(self.from_line)
            tool.close()
        tool = run(self.out, self.formats, fault, is_later=self.way in ("change", *LINES))
        if self.way in ("change", *LINES):
            tool.tell(self.from_line)
            tool.tell("arm")
        return tool

    def complete(self):
        """Another run: everything is there and nothing is left over."""
        tool = run(self.out, self.formats)
        answer = tool.tell(self.to_line)
        tool.close()
        if not answer.startswith("ok"):
            return "the next run: " + (answer or tool.greeting)
        if "someone else" in tool.stderr:
            return "took its own file for one of others: " + tool.stderr
        found = read_tree(self.out)
        if found != self.new:
            return "incomplete: " + str(sorted(set(found.items()) ^ set(self.new.items())))[:300]
        left = os.listdir(os.path.join(self.out, ".xdspub", "staging"))
        return "staging holds %s" % left if left else None

    def count(self):
        tool = self.start("none")
        answer = tool.tell(self.to_line)
        tool.close()
        assert answer.startswith("ok") and tool.calls > 40, answer
        return tool.calls

    def kill(self, number):
        tool = self.start("kill:%d" % number)
        tool.tell(self.to_line)
        if tool.close() != -9:
            return "was not killed"
        return wrong(read_tree(self.out), self.old, self.new) or self.complete()

    def fail(self, number, fault):
        tool = self.start(fault)
        if tool.greeting != "open":
            tool.close()
            return wrong(read_tree(self.out), self.old, self.new) or self.complete()
        first = tool.tell(self.to_line)
        problem = wrong(read_tree(self.out), self.old, self.new)
        if first.startswith("ok") and read_tree(self.out) != self.new:
            problem = "said ok"
        second = tool.tell(self.to_line)
        tool.close()
        if not problem and not second.startswith("ok"):
            problem = "a second try in the same process: " + second
        if not problem and read_tree(self.out) != self.new:
            problem = "a second try is incomplete"
        return problem or self.complete()


def sweep(tap, formats, way, what, one, stride=1):
    """Two at a time: each of them mostly waits for processes and the disk."""
    with Folder() as top:
        folders = [os.path.join(top, str(i)) for i in range(2)]
        for folder in folders:
            os.mkdir(folder)
        cases = [Case(folder, formats, way) for folder in folders]
        calls = cases[0].count()

        def half(index):
            return [(n, one(cases[index], n)) for n in range(1 + index * stride, calls + 1, 2 * stride)]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = [r for part in pool.map(half, range(2)) for r in part]
    bad = ["call %d: %s" % (n, problem) for n, problem in sorted(results) if problem]
    tap.ok(not bad, "%s: %s (%d of %d calls)" % (way, what, len(results), calls), "\n".join(bad[:10]))


def main():
    tap = Tap()
    for way, formats in (("change", "yaml"), ("restart", "yaml"), ("first", "pb")):
        sweep(tap, formats, way, "killed at every call", lambda c, n: c.kill(n))
        sweep(tap, formats, way, "every call fails",
              lambda c, n: c.fail(n, "fail:%d:%d" % (n, 28 if n % 2 else 5)))  # ENOSPC, EIO
    sweep(tap, "pb", "batch", "killed at calls", lambda c, n: c.kill(n), 7)
    sweep(tap, "pb", "batch", "calls fail", lambda c, n: c.fail(n, "fail:%d:28" % n), 7)
    sweep(tap, "yaml", "groups", "killed at calls", lambda c, n: c.kill(n), 2)
    sweep(tap, "yaml", "groups", "calls fail",
          lambda c, n: c.fail(n, "fail:%d:%d" % (n, 28 if n % 2 else 5)), 2)
    sweep(tap, "yaml", "change", "every write is cut short", lambda c, n: c.fail(n, "short:%d" % n))
    return tap.done()


sys.exit(main())
