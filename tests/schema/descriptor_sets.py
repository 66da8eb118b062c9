#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The descriptor sets we build: complete, in order, and with the rules and types that the program relies on."""
import os
import sys

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    print("1..0 # SKIP python3-protobuf is missing")
    sys.exit(0)

FIELD = descriptor_pb2.FieldDescriptorProto
RESOURCES = """
    envoy.config.listener.v3.Listener envoy.config.route.v3.RouteConfiguration envoy.config.route.v3.VirtualHost
    envoy.config.route.v3.ScopedRouteConfiguration envoy.config.cluster.v3.Cluster
    envoy.config.endpoint.v3.ClusterLoadAssignment envoy.extensions.transport_sockets.tls.v3.Secret
    envoy.service.runtime.v3.Runtime envoy.config.core.v3.TypedExtensionConfig
    envoy.service.discovery.v3.DiscoveryRequest envoy.service.discovery.v3.DiscoveryResponse
    envoy.service.discovery.v3.DeltaDiscoveryRequest envoy.service.discovery.v3.DeltaDiscoveryResponse
    envoy.service.discovery.v3.Resource envoy.config.bootstrap.v3.Bootstrap
    envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    envoy.extensions.filters.http.router.v3.Router xds.type.v3.TypedStruct xds.core.v3.CollectionEntry
    udpa.type.v1.TypedStruct google.rpc.Status google.protobuf.Any google.protobuf.Duration google.protobuf.Empty
    google.protobuf.FieldMask google.protobuf.Struct google.protobuf.Timestamp google.protobuf.StringValue
    google.protobuf.FileDescriptorSet
""".split()

count = 0


def check(good, name, detail=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good and detail:
        print(f"# {detail}")


def load(variable):
    with open(os.environ[variable], "rb") as file:
        return descriptor_pb2.FileDescriptorSet.FromString(file.read())


def pool_of(files):
    pool = descriptor_pool.DescriptorPool()
    for file in files:
        pool.Add(file)
    return pool


def fields_of(files):
    """All (message, field), and the extensions as (None, field)."""
    def walk(messages):
        for message in messages:
            yield from ((message, field) for field in message.field)
            yield from ((None, field) for field in message.extension)
            yield from walk(message.nested_type)
    for file in files:
        yield from walk(file.message_type)
        yield from ((None, field) for field in file.extension)


def check_order(files, name):
    seen = set()
    late = []
    for file in files:
        late += [f"{file.name} before {d}" for d in file.dependency if d not in seen]
        seen.add(file.name)
    check(not late, f"{name}: every file comes after its imports", "; ".join(late[:5]))
    check(len(seen) == len(files), f"{name}: no file twice")
    check(not any(f.HasField("source_code_info") for f in files), f"{name}: no source information")


def check_envoy():
    files = load("XDSPUB_SCHEMA").file
    check_order(files, "envoy.pb")
    if os.environ.get("XDSPUB_CUSTOM_API"):
        check(len(files) > 300, "envoy.pb: enough files", f"{len(files)} files")
    else:
        check(len(files) == 414, "envoy.pb: 414 files", f"{len(files)} files")
    v2 = [f.name for f in files if f.name.startswith("envoy/") and ("/v2" in f.name or "/v1alpha1" in f.name)]
    check(not v2, "envoy.pb: no v2 files", " ".join(v2[:5]))

    pool = pool_of(files)
    for name in RESOURCES:
        try:
            pool.FindMessageTypeByName(name)
            found = True
        except KeyError:
            found = False
        check(found, f"envoy.pb: {name}")

    # The rules as the program will read them: through our own validate.proto.
    rules = pool.FindExtensionByName("validate.rules")
    check(rules.number == 1071, "validate.rules is extension 1071")
    factory = message_factory.MessageFactory(pool)
    options_class = factory.GetPrototype(pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
    kinds = {}
    unknown = 0
    for _, field in fields_of(files):
        options = options_class.FromString(field.options.SerializeToString())
        if not options.HasExtension(rules):
            continue
        rule = options.Extensions[rules]
        unknown += len(rule.UnknownFields())
        for kind, value in rule.ListFields():
            unknown += len(value.UnknownFields())
            for detail, _ in value.ListFields():
                key = f"{kind.name}.{detail.name}"
                kinds[key] = kinds.get(key, 0) + 1
    check(unknown == 0, "no rule has a field that validate.proto does not know", f"{unknown} unknown")
    check(kinds.get("string.min_len", 0) >= 250, "string.min_len is used", str(kinds))
    check(kinds.get("string.ignore_empty", 0) == 17 or os.environ.get("XDSPUB_CUSTOM_API"),
          "string.ignore_empty is used 17 times", str(kinds))


def check_tests():
    files = load("XDSPUB_TEST_SCHEMA").file
    check_order(files, "test.pb")
    pool = pool_of(files)
    fields = list(fields_of(f for f in files if f.name.startswith("everything")))
    for syntax, name in (("v3", "xdspub.test.v3.Everything"), ("v2", "xdspub.test.v2.Everything")):
        kinds = {f.type for f in pool.FindMessageTypeByName(name).fields}
        missing = [k for k, v in FIELD.Type.items() if v not in kinds and not (syntax == "v3" and k == "TYPE_GROUP")]
        check(not missing, f"{name} has every type of field", " ".join(missing))
    maps = pool.FindMessageTypeByName("xdspub.test.v3.Maps")
    keys = {f.message_type.fields_by_name["key"].type for f in maps.fields}
    check(len(keys) == 12, "Maps has every type of key", str(keys))
    known = {f.message_type.full_name for f in pool.FindMessageTypeByName("xdspub.test.v3.WellKnown").fields
             if f.message_type}
    check(len(known) == 17, "WellKnown has all well-known types", str(known))
    check(any(f.label == FIELD.LABEL_REQUIRED for _, f in fields), "required fields")
    check(any(f.proto3_optional for _, f in fields), "optional fields in proto3")
    check(sum(m is None for m, _ in fields) > 20, "extensions")


check_envoy()
check_tests()
print(f"1..{count}")
