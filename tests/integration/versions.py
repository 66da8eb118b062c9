#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The version scheme of src/snapshot/version.h, written down a second time and checked against
the test vectors in tests/data/versions.json. --write computes the results anew."""
import hashlib
import json
import os
import struct
import sys

DATA = os.path.join(os.environ.get("XDSPUB_TEST_DATA", "tests/data"), "versions.json")
URLS = {
    "cds": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    "eds": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    "sds": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
    "rtds": "type.googleapis.com/envoy.service.runtime.v3.Runtime",
    "ecds": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
    "lds": "type.googleapis.com/envoy.config.listener.v3.Listener",
    "rds": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    "srds": "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration",
    "vhds": "type.googleapis.com/envoy.config.route.v3.VirtualHost",
}


def part(data):
    return struct.pack(">Q", len(data)) + data


def digest(domain, data):
    return hashlib.sha256(domain.encode() + b"\0" + data).digest()[:16]


def bucket_of(name):
    h = 0xCBF29CE484222325
    for byte in name:
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h % 256


def resource_digest(kind, r):
    aliases = sorted({a.encode() for a in r.get("aliases", [])})
    ttl = r.get("ttl_ms", -1)
    data = part(URLS[kind].encode()) + part(r["name"].encode())
    data += struct.pack(">Q", 0xFFFFFFFFFFFFFFFF if ttl < 0 else ttl)
    data += struct.pack(">Q", len(aliases)) + b"".join(part(a) for a in aliases)
    data += part(bytes.fromhex(r["body"]))
    if "sources" not in r:
        return digest("xdspub resource 1", data)
    # Per open config source: for files, rest, ads, grpc, delta grpc; "" is the published path.
    data += struct.pack(">Q", len(r["sources"]))
    data += b"".join(part(bytes.fromhex(s)) for place in r["sources"] for s in place)
    return digest("xdspub open resource 1", data)


def set_version(kind, resources):
    buckets = {}
    for r in resources:
        buckets.setdefault(bucket_of(r["name"].encode()), []).append(r)
    data = part(URLS[kind].encode())
    for number in sorted(buckets):
        members = sorted(buckets[number], key=lambda r: r["name"].encode())
        inner = b"".join(part(r["name"].encode()) + resource_digest(kind, r) for r in members)
        data += bytes([number]) + digest("xdspub bucket 1", inner)
    return "a" + digest("xdspub set 1", data).hex()


def expand(case):
    """`repeat` stands for that many resources, %d in the name; keeps the file small."""
    out = []
    for r in case["resources"]:
        for i in range(r.get("repeat", 1)):
            out.append(dict(r, name=r["name"].replace("%d", str(i))))
    return out


def main():
    with open(DATA, encoding="utf-8") as f:
        cases = json.load(f)
    if "--write" in sys.argv:
        for case in cases:
            case["digests"] = [resource_digest(case["type"], r).hex() for r in expand(case)[:3]]
            case["version"] = set_version(case["type"], expand(case))
        with open(DATA, "w", encoding="utf-8") as f:
            json.dump(cases, f, indent=1)
            f.write("\n")
        return 0
    print("1..%d" % len(cases))
    bad = 0
    for i, case in enumerate(cases, 1):
        resources = expand(case)
        good = set_version(case["type"], resources) == case["version"] and [
            resource_digest(case["type"], r).hex() for r in resources[:3]
        ] == case["digests"]
        bad += not good
        print("%s %d - %s" % ("ok" if good else "not ok", i, case["what"]))
    return 1 if bad else 0


sys.exit(main())
