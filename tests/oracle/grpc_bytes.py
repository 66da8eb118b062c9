#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests, nodes and responses of gRPC streams against python3-protobuf with Envoy's own declarations."""
import json
import os
import random
import subprocess
import sys

try:
    from google.protobuf import json_format
    from random_messages import Generator, load_pool
except ImportError as error:
    print("1..0 # SKIP %s" % error)
    sys.exit(0)

SET = os.environ["XDSPUB_SCHEMA"]
SEED = int(os.environ.get("ORACLE_SEED", "3"))
ROUNDS = int(os.environ.get("ORACLE_ROUNDS", "200"))
DISCOVERY = "envoy.service.discovery.v3."
PREFIX = "type.googleapis.com/"
TYPES = ["envoy.config.cluster.v3.Cluster", "envoy.config.endpoint.v3.ClusterLoadAssignment",
         "envoy.config.listener.v3.Listener", "envoy.config.route.v3.RouteConfiguration"]
NAMES = ["a", "", "*", "caf\u00e9", "x" * 200, "xdstp://host/type/id?a=b", "\U0001f600"]

pool, find = load_pool(SET)
pick = random.Random(SEED)
generate = Generator(pool, find, SEED, any_types=["envoy.config.core.v3.Address"], finite=True)
tool = subprocess.Popen([os.path.join(os.environ.get("top_builddir", "."), "tests/oracle/grpc_bytes"), SET],
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(command, data):
    tool.stdin.write(b"%s %d\n" % (command.encode(), len(data)) + data)
    tool.stdin.flush()
    status, length = tool.stdout.readline().split()
    out = tool.stdout.read(int(length))
    assert status == b"ok", "%s: %r of %s" % (command, out, data.hex())
    return out


def names():
    return [pick.choice(NAMES) for _ in range(pick.choice([0, 0, 1, 3, 20]))]


def random_node():
    return generate.fill(find("envoy.config.core.v3.Node")(), 2)


def fill_request(request):
    """What both kinds of request have; fields that xdspub does not read, too."""
    if pick.random() < 0.7:
        request.node.CopyFrom(random_node())
    request.type_url = pick.choice(["", PREFIX + TYPES[0]])
    request.response_nonce = pick.choice(["", "1", "old nonce"])
    if pick.random() < 0.5:
        request.error_detail.code = pick.choice([0, 3, 13, -1])
        request.error_detail.message = pick.choice(["", "bad", "caf\u00e9 \U0001f600\n"])
        for _ in range(pick.randint(0, 2)):
            request.error_detail.details.add().Pack(random_node())


def expected(request, **more):
    want = {"type_url": request.type_url, "nonce": request.response_nonce, "version_info": "", "names": [],
            "unsubscribe": [], "versions": [], "has_error": request.HasField("error_detail"),
            "error_code": request.error_detail.code, "error_message": request.error_detail.message,
            "has_node": request.HasField("node"), "node_length": request.node.ByteSize()}
    want.update(more)
    return want


def check_sotw():
    request = find(DISCOVERY + "DiscoveryRequest")()
    fill_request(request)
    request.version_info = pick.choice(["", "a1"])
    request.resource_names.extend(names())
    for name in names():
        request.resource_locators.add().name = name
    got = json.loads(ask("sotw", request.SerializeToString()))
    want = expected(request, version_info=request.version_info, names=list(request.resource_names))
    assert got == want, "%s instead of %s" % (got, want)


def check_delta():
    request = find(DISCOVERY + "DeltaDiscoveryRequest")()
    fill_request(request)
    request.resource_names_subscribe.extend(names())
    request.resource_names_unsubscribe.extend(names())
    for name in names():
        request.initial_resource_versions[name] = pick.choice(["", "v", "caf\u00e9"])
    got = json.loads(ask("delta", request.SerializeToString()))
    got["versions"] = {name: version for name, version in got["versions"]}
    want = expected(request, names=list(request.resource_names_subscribe),
                    unsubscribe=list(request.resource_names_unsubscribe),
                    versions=dict(request.initial_resource_versions))
    assert got == want, "%s instead of %s" % (got, want)


def check_node():
    node = random_node()
    got = json.loads(ask("node", node.SerializeToString()))
    # One rule of the mapping for both: a parser that knows it reads the same message.
    back = json_format.Parse(json.dumps(got), find("envoy.config.core.v3.Node")(), descriptor_pool=pool)
    assert back == node, "%s instead of %s" % (back, node)
    assert set(got) <= {field.name for field in node.DESCRIPTOR.fields}, "names as declared: %s" % got


def fill_resource(resource, type_name, may_be_bare):
    resource.name = pick.choice(NAMES)
    resource.aliases.extend(names()[:5])
    kind = pick.choice(["plain", "ttl", "heartbeat", "missing"] if may_be_bare else ["plain", "ttl"])
    if kind in ("plain", "ttl"):
        resource.resource.Pack(generate.fill(find(type_name)(), 4), deterministic=True)
    if kind in ("ttl", "heartbeat"):
        resource.ttl.FromMilliseconds(pick.choice([0, 1, 999, 1000, 86400000, 2**40]))


def respond(command, response):
    out = ask(command, response.SerializeToString())
    assert out == ask(command, response.SerializeToString()), "not the same bytes again"
    return type(response).FromString(out)


def finish(response, type_name):
    response.type_url = PREFIX + type_name
    response.nonce = str(pick.randint(1, 10**19))
    if pick.random() < 0.5:
        response.control_plane.identifier = pick.choice(["git 1234", "x" * 300])


def check_respond_sotw():
    type_name = pick.choice(TYPES)
    response = find(DISCOVERY + "DiscoveryResponse")()
    response.version_info = "a" + "0" * 32
    for _ in range(pick.choice([0, 1, 5, 40])):
        item = response.resources.add()
        if pick.random() < 0.5:
            item.Pack(generate.fill(find(type_name)(), 4), deterministic=True)
        else:
            wrapper = find(DISCOVERY + "Resource")()
            fill_resource(wrapper, type_name, False)
            item.Pack(wrapper)
    finish(response, type_name)
    # Wrappers are compared as messages: where their fields stand is up to the writer.
    got = respond("respond-sotw", response)
    for any_got, any_want in zip(got.resources, response.resources):
        if any_want.type_url.endswith(".Resource"):
            for any_message in (any_got, any_want):
                inner = find(DISCOVERY + "Resource").FromString(any_message.value)
                any_message.value = inner.SerializeToString(deterministic=True)
    assert got == response, "%s instead of %s" % (got, response)


def check_respond_delta():
    type_name = pick.choice(TYPES)
    response = find(DISCOVERY + "DeltaDiscoveryResponse")()
    response.system_version_info = "a" + "1" * 32
    for _ in range(pick.choice([0, 1, 5, 40])):
        fill_resource(response.resources.add(), type_name, True)
    response.removed_resources.extend(names())
    finish(response, type_name)
    got = respond("respond-delta", response)
    for resource in got.resources:
        assert len(resource.version) == 33, resource.version
        resource.version = ""
    assert got == response, "%s instead of %s" % (got, response)


CHECKS = [check_sotw, check_delta, check_node, check_respond_sotw, check_respond_delta]
print("1..%d" % len(CHECKS))
for number, check in enumerate(CHECKS, 1):
    try:
        for _ in range(ROUNDS):
            check()
        print("ok %d - %s" % (number, check.__name__))
    except AssertionError as error:
        print("not ok %d - %s" % (number, check.__name__))
        print("# seed %d: %s" % (SEED, str(error)[:2000].replace("\n", "\n# ")))
tool.stdin.close()
sys.exit(tool.wait())
