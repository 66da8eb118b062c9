#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random messages through our readers and writers and through libprotobuf (C++ and Python), both ways;
YAML through yaml-cpp, too, where that is installed.

ORACLE_ROUNDS says how many messages of each type (default 40), ORACLE_SEED which ones. What may differ is in
tests/oracle/README."""
import difflib
import json
import os
import struct
import subprocess
import sys

try:
    from google.protobuf import json_format
    from random_messages import Generator, load_pool
except ImportError as error:
    print("1..0 # SKIP %s" % error)
    sys.exit(0)
try:
    import yaml
except ImportError:
    yaml = None

BUILD = os.environ.get("top_builddir", ".")
ROUNDS = int(os.environ.get("ORACLE_ROUNDS", "40"))
SEED = int(os.environ.get("ORACLE_SEED", "2"))


# What python3-protobuf cannot read although the mapping allows it: NullValue in lists and maps, the largest float,
# extensions declared in other files.
PYTHON_LIMITS = ("null is not allowed to be used as an element", "must be a string, a bytes-like object or a real number",
                 "Float value too large", "Float value too small", "Protocol message has no \"e_")


class Program:
    """One of the programs of this folder, kept running."""

    def __init__(self, *command):
        self.process = subprocess.Popen([os.path.join(BUILD, "tests/oracle", command[0]), *command[1:]],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, head, data):
        pipe = self.process
        pipe.stdin.write(b"%s%d\n" % (head.encode(), len(data)) + data)
        pipe.stdin.flush()
        status, length = pipe.stdout.readline().split()
        out = pipe.stdout.read(int(length))
        return status == b"ok", out

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


class Transcoder(Program):
    def __call__(self, type_name, source, target, data):
        return self.ask("%s %s %s " % (type_name, source, target), data)


class Mismatch(Exception):
    pass


def difference(a, b, path=""):
    """Where two JSON trees differ, or None. NaN equals NaN, 1 is not True, and floats are equal that are one 32-bit
    float (libprotobuf prints 9 digits where fewer would do)."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        pairs = [(key, a[key], b[key]) for key in a]
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [(index, x, y) for index, (x, y) in enumerate(zip(a, b))]
    elif float in (type(a), type(b)) and {type(a), type(b)} <= {int, float} and digits(a) <= 9:
        return None if single(a) == single(b) else "%s: %r, %r" % (path, a, b)
    else:
        return None if a == b and isinstance(a, bool) == isinstance(b, bool) else "%s: %r, %r" % (path, a, b)
    return next(filter(None, (difference(x, y, "%s/%s" % (path, key)) for key, x, y in pairs)), None)


def single(value):
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return value


def load_json(text):
    """libprotobuf prints -0.0 as -0."""
    return json.loads(text, parse_int=lambda digits: -0.0 if digits == "-0" else int(digits))


def digits(value):
    return len(repr(abs(value)).split("e")[0].replace(".", "").strip("0"))


def without_empty_values(tree):
    """libprotobuf leaves the "value" of an Any out when it is encoded in no bytes; we do not."""
    if isinstance(tree, list):
        return [without_empty_values(item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if "@type" in tree and tree.get("value", 1) in ({}, [], "", 0, "0", False, "0s", "1970-01-01T00:00:00Z"):
        return {"@type": tree["@type"]}
    return {key: without_empty_values(value) for key, value in tree.items()}


class Comparison:
    def __init__(self, schema, with_cpp_json):
        self.ours, self.theirs = Transcoder("transcode", schema), Transcoder("oracle", schema)
        self.with_cpp_json = with_cpp_json
        self.pool, self.find = load_pool(schema)
        self.envoy_yaml = None
        if os.path.exists(os.path.join(BUILD, "tests/oracle/envoy_yaml")):
            self.envoy_yaml = Program("envoy_yaml")

    def need(self, program, type_name, source, target, data):
        good, out = program(type_name, source, target, data)
        if not good:
            raise Mismatch("%s: %s to %s of %s: %s\n%s" % ("we" if program is self.ours else "libprotobuf", source, target,
                                                         type_name, out.decode("utf-8", "replace"), show(data)))
        return out

    def equal(self, name, what, got, wanted, context):
        """Compares binary; shows how the two differ in text format."""
        if got == wanted:
            return
        lines = [self.ours(name, "binary", "text", data)[1].decode("utf-8", "backslashreplace").splitlines()
                 for data in (wanted, got)]
        raise Mismatch("%s differs\n%s\n%s" % (what, "\n".join(list(difflib.unified_diff(*lines, "wanted", "got", n=1))[:40]),
                                               show(context)))

    def python_equal(self, name, what, text, data):
        got = self.python(name, text)
        if got is not None:
            self.equal(name, what, got, data, text)

    def python(self, name, text):
        """JSON as Python reads it. It does not sort the maps inside an Any, so its bytes go through us once."""
        try:
            message = json_format.Parse(text, self.find(name)(), descriptor_pool=self.pool)
        except json_format.ParseError as error:
            if any(limit in str(error) for limit in PYTHON_LIMITS):
                return None
            raise
        return self.need(self.ours, name, "binary", "binary", message.SerializeToString(deterministic=True))

    def binary(self, name, data):
        self.equal(name, "binary", self.need(self.ours, name, "binary", "binary", data), data, b"")

    def json(self, name, data):
        text = self.need(self.ours, name, "binary", "json", data)
        self.python_equal(name, "JSON read by Python", text, data)
        self.equal(name, "JSON read by us", self.need(self.ours, name, "json", "binary", text), data, text)
        if not self.with_cpp_json:
            return
        back = self.need(self.ours, name, "binary", "binary", self.need(self.theirs, name, "json", "binary", text))
        self.equal(name, "JSON read by libprotobuf", back, data, text)
        other = self.need(self.theirs, name, "binary", "json", data)
        wanted, got = load_json(other), load_json(text)
        if difference(got, wanted):
            where = difference(without_empty_values(got), without_empty_values(wanted))
            if where:
                raise Mismatch("JSON differs (ours, theirs) at %s\n%s" % (where, show(text)))
            return
        self.equal(name, "JSON of libprotobuf read by us", self.need(self.ours, name, "json", "binary", other), data, other)

    def yaml(self, name, data):
        text = self.need(self.ours, name, "binary", "yaml", data)
        self.equal(name, "YAML read by us", self.need(self.ours, name, "yaml", "binary", text), data, text)
        if self.envoy_yaml:  # which is yaml-cpp
            good, tree = self.envoy_yaml.ask("", text)
            if not good:
                raise Mismatch("yaml-cpp: %s\n%s" % (show(tree), show(text)))
            self.equal(name, "YAML read by yaml-cpp", self.need(self.ours, name, "json", "binary", tree), data, text)
        if yaml is None:
            return
        got = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.python_equal(name, "YAML read by PyYAML", json.dumps(got), data)

    def text(self, name, data):
        ours = self.need(self.ours, name, "binary", "text", data)
        self.equal(name, "text read by libprotobuf", self.need(self.theirs, name, "text", "binary", ours), data, ours)
        self.equal(name, "text read by us", self.need(self.ours, name, "text", "binary", ours), data, ours)
        theirs = self.need(self.theirs, name, "binary", "text", data)
        self.equal(name, "text of libprotobuf read by us", self.need(self.ours, name, "text", "binary", theirs), data, theirs)

    def close(self):
        programs = [self.ours, self.theirs] + ([self.envoy_yaml] if self.envoy_yaml else [])
        return [program.close() for program in programs] == [0] * len(programs)


def show(data):
    text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else str(data)
    return text if len(text) < 1500 else text[:1500] + "..."


V3 = ["xdspub.test.v3." + name for name in ("Everything", "Maps", "WellKnown")]
V2 = ["xdspub.test.v2." + name for name in ("Everything", "Required", "Extendable", "OnlyExtensions")]
ENVOY = ["envoy.config.cluster.v3.Cluster", "envoy.config.listener.v3.Listener", "envoy.config.route.v3.RouteConfiguration",
         "envoy.config.endpoint.v3.ClusterLoadAssignment", "envoy.extensions.transport_sockets.tls.v3.Secret",
         "envoy.service.runtime.v3.Runtime", "envoy.config.bootstrap.v3.Bootstrap",
         "envoy.service.discovery.v3.DiscoveryResponse",
         "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"]
PLAIN_CONTENTS = ["google.protobuf.Duration", "google.protobuf.Struct", "google.protobuf.StringValue", "google.protobuf.Any",
                  "google.protobuf.Value", "google.protobuf.Empty", "google.protobuf.FieldMask", "google.protobuf.Timestamp"]


def plan():
    """(schema, type, format, may libprotobuf's JSON be asked, types of Any contents)"""
    test, envoy = os.environ["XDSPUB_TEST_SCHEMA"], os.environ["XDSPUB_SCHEMA"]
    for schema, names, cpp_json, contents in ((test, V3, True, V3 + PLAIN_CONTENTS), (test, V2, False, V3 + V2),
                                              (envoy, ENVOY, True, ENVOY[:4] + PLAIN_CONTENTS[:5])):
        for name in names:
            for form in ("binary", "json", "yaml", "text"):
                yield schema, name, form, cpp_json, contents


def main():
    cases = list(plan())
    print("1..%d" % (len(cases) + 1))
    comparisons, failed, number = {}, False, 0
    for number, (schema, name, form, cpp_json, contents) in enumerate(cases, 1):
        key = (schema, cpp_json)
        if key not in comparisons:
            comparisons[key] = Comparison(schema, cpp_json)
        comparison, problem = comparisons[key], None
        generator = Generator(comparison.pool, comparison.find, "%d %s" % (SEED, name), contents)
        for _ in range(ROUNDS):
            message = generator.fill(comparison.find(name)())
            try:
                getattr(comparison, form)(name, message.SerializeToString(deterministic=True))
            except (Mismatch, json_format.ParseError, UnicodeError) as error:
                problem = "%s: %s" % (type(error).__name__, error)
                break
        print("%sok %d - %s %s" % ("not " if problem else "", number, name, form))
        if problem:
            failed = True
            print("\n".join("# " + line for line in problem.splitlines()))
        sys.stdout.flush()
    closed = all([comparison.close() for comparison in comparisons.values()])
    print("%sok %d - both programs end well" % ("" if closed else "not ", number + 1))
    return 1 if failed or not closed else 0


if __name__ == "__main__":
    sys.exit(main())
