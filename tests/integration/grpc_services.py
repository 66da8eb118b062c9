# SPDX-License-Identifier: GPL-2.0-or-later
"""gRPC beside discovery: health, server reflection, client status (CSDS)."""
import os
import queue
import subprocess

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from daemon_lib import WAIT, cluster, endpoints, fresh, run, simple_tree, wait_for, write
from grpc_lib import ADS, TYPES, Delta, GrpcDaemon, Sotw, message, node, path

HEALTH = "/grpc.health.v1.Health/"
CSDS = "/envoy.service.status.v3.ClientStatusDiscoveryService/"
SERVING, NOT_SERVING, SERVICE_UNKNOWN = 1, 2, 3
ClientStatusRequest = message("envoy.service.status.v3.ClientStatusRequest")
ClientStatusResponse = message("envoy.service.status.v3.ClientStatusResponse")
SECRET = "name: s\ngeneric_secret: {secret: {inline_string: hunter2}}\n"


def own_messages():
    """The messages of health and reflection, from our declarations and by protoc."""
    proto = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "proto")
    files = ["grpc/health/v1/health.proto", "grpc/reflection/v1/reflection.proto"]
    subprocess.run(["protoc", "-I", proto, "--descriptor_set_out=own.pb", *files], check=True)
    with open("own.pb", "rb") as file:
        descriptors = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in descriptors.file:
        pool.AddSerializedFile(file.SerializeToString())
    factory = message_factory.MessageFactory(pool)
    return lambda name: factory.GetPrototype(pool.FindMessageTypeByName(name))


class Exchange:
    """A bidirectional call: one request, one answer, as often as wanted."""

    def __init__(self, channel, method, response):
        self.response = response
        self.outgoing = queue.SimpleQueue()
        self.call = channel.channel.stream_stream(method)(
            iter(self.outgoing.get, None), timeout=WAIT)

    def send(self, request):
        self.outgoing.put(request if isinstance(request, bytes) else request.SerializeToString())

    def ask(self, request):
        self.send(request)
        return self.response.FromString(next(self.call))

    def finish(self):
        """Half-closes; the server has nothing more to say and is fine."""
        self.outgoing.put(None)
        assert list(self.call) == []
        assert self.call.code() == grpc.StatusCode.OK, self.call.details()

    def fail(self):
        """How the server ends it: code and text."""
        try:
            for _ in self.call:
                pass
        except grpc.RpcError as error:
            self.outgoing.put(None)
            return error.code(), error.details()
        raise AssertionError("it ended with OK")


# ---- health ----

def health_check():
    """health: Check of the whole and of each service; unknown ones are NOT_FOUND"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    get = own_messages()
    Request = get("grpc.health.v1.HealthCheckRequest")
    Response = get("grpc.health.v1.HealthCheckResponse")
    services = [ADS, *(row.service for row in TYPES.values()), "grpc.health.v1.Health",
                "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
                "envoy.service.status.v3.ClientStatusDiscoveryService"]
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        # The loops hear of it a moment later than the status.
        wait_for("serving", lambda: Response.FromString(
            channel.unary(HEALTH + "Check", Request())[2]).status == SERVING)
        for service in ["", *services]:
            code, text, body = channel.unary(HEALTH + "Check", Request(service=service))
            assert code == grpc.StatusCode.OK, (service, text)
            assert Response.FromString(body).status == SERVING, service
        code, text, _ = channel.unary(HEALTH + "Check", Request(service="a.b.C"))
        assert code == grpc.StatusCode.NOT_FOUND, (code, text)
        code, text, _ = channel.unary(HEALTH + "Check", b"\x0a\xff")
        assert code == grpc.StatusCode.INVALID_ARGUMENT, (code, text)


def health_watch():
    """health: Watch tells when the first snapshot is there, and that the server stops"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    write("tree/clusters/a.yaml", "name: a\nno_such_field: 1\n")
    get = own_messages()
    Request = get("grpc.health.v1.HealthCheckRequest")
    Response = get("grpc.health.v1.HealthCheckResponse")
    with GrpcDaemon(state=None) as daemon:
        daemon.until_built(1)
        channel = grpc.insecure_channel(daemon.grpc_unix)

        def watch(service):
            call = channel.unary_stream(HEALTH + "Watch")(
                Request(service=service).SerializeToString(), timeout=WAIT)
            return call, lambda: Response.FromString(next(call)).status

        whole, next_whole = watch("")
        cds, next_cds = watch(TYPES["CDS"].service)
        unknown, next_unknown = watch("a.b.C")
        assert next_whole() == NOT_SERVING
        assert next_cds() == NOT_SERVING
        assert next_unknown() == SERVICE_UNKNOWN
        assert not daemon.status()["ready"]
        write("tree/clusters/a.yaml", cluster("a"))
        assert next_whole() == SERVING
        assert next_cds() == SERVING
        assert daemon.until_ready()
        daemon.stop()
        assert next_whole() == NOT_SERVING
        assert next_cds() == NOT_SERVING
        for call in (whole, cds, unknown):
            try:
                next(call)
                raise AssertionError("something more was said")
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.UNAVAILABLE, error
                assert "stopping" in error.details(), error
        channel.close()


# ---- reflection ----

def traverse(daemon, service):
    """What grpcurl does: the services, their files, and what these need, until all link."""
    get = own_messages()
    Request = get("grpc.reflection.v1.ServerReflectionRequest")
    Response = get("grpc.reflection.v1.ServerReflectionResponse")
    files = {}
    with daemon.channel() as channel:
        exchange = Exchange(channel, f"/{service}/ServerReflectionInfo", Response)
        answer = exchange.ask(Request(host="h", list_services="*"))
        assert answer.valid_host == "h" and answer.original_request.list_services == "*"
        names = [item.name for item in answer.list_services_response.service]

        def take(answer):
            assert answer.HasField("file_descriptor_response"), answer
            for raw in answer.file_descriptor_response.file_descriptor_proto:
                file = descriptor_pb2.FileDescriptorProto.FromString(raw)
                files[file.name] = file

        for name in names:
            take(exchange.ask(Request(file_containing_symbol=name)))
        while True:
            missing = {needed for file in files.values() for needed in file.dependency} - set(files)
            if not missing:
                break
            for name in missing:
                take(exchange.ask(Request(file_by_filename=name)))
        exchange.finish()
    pool = descriptor_pool.DescriptorPool()

    def add(name):
        if name in files:
            file = files.pop(name)
            for needed in file.dependency:
                add(needed)
            pool.AddSerializedFile(file.SerializeToString())

    for name in list(files):
        add(name)
    return names, pool


def reflection():
    """reflection: v1 and v1alpha list every service and give files that link to descriptors"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with GrpcDaemon() as daemon:
        for version in ("v1", "v1alpha"):
            names, pool = traverse(daemon, f"grpc.reflection.{version}.ServerReflection")
            assert len(names) == len(set(names)) == 14, names
            for row in TYPES.values():
                service = pool.FindServiceByName(row.service)
                assert f"Delta{row.stem}" in service.methods_by_name, row
            ads = pool.FindServiceByName(ADS)
            assert set(ads.methods_by_name) == {"StreamAggregatedResources",
                                                "DeltaAggregatedResources"}
            assert pool.FindServiceByName("grpc.health.v1.Health").methods_by_name["Watch"]
            # A call with nothing but what was learned.
            request = message_factory.MessageFactory(pool).GetPrototype(
                pool.FindMessageTypeByName("envoy.service.discovery.v3.DiscoveryRequest"))()
            request.node.id, request.node.cluster = "n", "c"
            with daemon.channel() as channel:
                assert channel.unary(path("CDS", "Fetch"), request)[0] == grpc.StatusCode.OK


def reflection_lookups():
    """reflection: files, nested symbols, methods, fields, extensions; errors say what is missing"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    get = own_messages()
    Request = get("grpc.reflection.v1.ServerReflectionRequest")
    Response = get("grpc.reflection.v1.ServerReflectionResponse")
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        exchange = Exchange(channel, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                            Response)

        def first(**asked):
            answer = exchange.ask(Request(**asked))
            assert answer.HasField("file_descriptor_response"), answer
            return descriptor_pb2.FileDescriptorProto.FromString(
                answer.file_descriptor_response.file_descriptor_proto[0]).name

        cds = "envoy/service/cluster/v3/cds.proto"
        assert first(file_by_filename=cds) == cds
        assert first(file_by_filename=cds) == cds  # again: it alone
        answer = exchange.ask(Request(file_by_filename=cds))
        assert len(answer.file_descriptor_response.file_descriptor_proto) == 1
        for symbol in (TYPES["CDS"].service, "." + TYPES["CDS"].service,
                       TYPES["CDS"].service + ".StreamClusters"):
            assert first(file_containing_symbol=symbol) == cds, symbol
        listener = "envoy/config/listener/v3/listener.proto"
        for symbol in ("envoy.config.listener.v3.Listener",
                       "envoy.config.listener.v3.Listener.DrainType",
                       "envoy.config.listener.v3.Listener.ConnectionBalanceConfig.ExactBalance"):
            assert first(file_containing_symbol=symbol) == listener, symbol
        options = "google.protobuf.FieldOptions"
        answer = exchange.ask(Request(all_extension_numbers_of_type=options))
        numbers = answer.all_extension_numbers_response.extension_number
        assert answer.all_extension_numbers_response.base_type_name == options
        assert 1071 in numbers, numbers  # validate.rules
        assert first(file_containing_extension={"containing_type": options,
                                                "extension_number": 1071}) == \
            "validate/validate.proto"

        for asked in ({"file_by_filename": "a/b.proto"}, {"file_containing_symbol": "a.b.C"},
                      {"file_containing_symbol": ""},
                      {"all_extension_numbers_of_type": "a.b.C"},
                      {"file_containing_extension": {"containing_type": options,
                                                     "extension_number": 99999}},
                      {"file_containing_extension": {"containing_type": options,
                                                     "extension_number": -1}}):
            answer = exchange.ask(Request(**asked))
            assert answer.error_response.error_code == 5, (asked, answer)
            assert "schema" in answer.error_response.error_message, answer
        assert exchange.ask(Request()).error_response.error_code == 3
        exchange.finish()


def reflection_bounds():
    """reflection: damaged requests end the stream; who asks without reading is bounded"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    get = own_messages()
    Response = get("grpc.reflection.v1.ServerReflectionResponse")
    method = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        broken = Exchange(channel, method, Response)
        broken.send(b"\x1a\xff")
        assert broken.fail()[0] == grpc.StatusCode.INVALID_ARGUMENT
        # Many at once are all answered as long as they are read.
        many = Exchange(channel, method, Response)
        for _ in range(50):
            many.send(b"\x3a\x01*")
        for _ in range(50):
            assert Response.FromString(next(many.call)).HasField("list_services_response")
        many.finish()
        # More such calls than one loop wants to have at a time are refused, and that passes.
        calls = [Exchange(channel, method, Response) for _ in range(40)]
        for call in calls:
            call.send(b"\x3a\x01*")
        codes = []
        for call in calls:
            try:
                next(call.call)
                codes.append(None)
            except grpc.RpcError as error:
                codes.append(error.code())
        assert grpc.StatusCode.RESOURCE_EXHAUSTED in codes, codes
        for call in calls:
            call.outgoing.put(None)
            call.call.cancel()
        daemon.until("calls gone", lambda s: s["grpc"]["calls"] == 0)
        again = Exchange(channel, method, Response)
        assert again.ask(b"\x3a\x01*").HasField("list_services_response")
        again.finish()


# ---- client status ----

def status_of(channel, *matchers, **fields):
    """By (node id, scope): {(type, name): config}."""
    request = ClientStatusRequest(**fields)
    for matcher in matchers:
        request.node_matchers.add().node_id.CopyFrom(matcher)
    code, text, body = channel.unary(CSDS + "FetchClientStatus", request)
    assert code == grpc.StatusCode.OK, text
    result = {}
    for config in ClientStatusResponse.FromString(body).config:
        kinds = {(url_name(item.type_url), item.name): item for item in config.generic_xds_configs}
        result[config.node.id, config.client_scope] = kinds
    return result


def url_name(type_url):
    return next(row.name for row in TYPES.values() if type_url.endswith("/" + row.message))


def states(item):
    Config = ClientStatusResponse.DESCRIPTOR.file.pool.FindEnumTypeByName
    status = Config("envoy.service.status.v3.ConfigStatus").values_by_number[item.config_status]
    client = Config("envoy.admin.v3.ClientResourceStatus").values_by_number[item.client_status]
    return status.name, client.name


StringMatcher = message("envoy.type.matcher.v3.StringMatcher")


def client_status():
    """CSDS: what each client was sent, acknowledged, refused or still waits for"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    write("tree/secrets/s.yaml", SECRET)
    with GrpcDaemon("tree", "--grpc-threads", "3") as daemon, daemon.channel() as channel, \
            daemon.channel() as other, daemon.channel(unix=False) as third:
        with Sotw(channel, node=node("one")) as one, Delta(other, node=node("two")) as two:
            one.ask("CDS")
            clusters = one.take("CDS")
            one.ask("EDS", ["a", "gone"])
            one.take("EDS")
            one.ask("LDS")
            one.expect("LDS")
            one.nack("LDS", "no such thing")
            one.ask("SDS", ["s"])
            one.take("SDS")
            one.barrier()
            two.ask("CDS")
            sent = two.expect("CDS")  # no answer
            all_of = status_of(third)
            assert set(all_of) == {("one", "grpc sotw ads"), ("two", "grpc delta ads")}, all_of
            got = all_of["one", "grpc sotw ads"]
            assert states(got["CDS", "a"]) == ("SYNCED", "ACKED")
            assert got["CDS", "a"].version_info == clusters.version
            assert got["CDS", "a"].last_updated.seconds > 0
            value = message(TYPES["CDS"].message).FromString(got["CDS", "a"].xds_config.value)
            assert value.name == "a" and value.connect_timeout.seconds == 1
            assert states(got["EDS", "a"]) == ("SYNCED", "ACKED")
            assert states(got["EDS", "gone"]) == ("NOT_SENT", "DOES_NOT_EXIST")
            assert states(got["LDS", "l"]) == ("ERROR", "NACKED")
            assert got["LDS", "l"].error_state.details == "no such thing"
            assert got["LDS", "l"].error_state.version_info == got["LDS", "l"].version_info
            secret = got["SDS", "s"]
            assert states(secret) == ("SYNCED", "ACKED")
            assert not secret.version_info and not secret.HasField("xds_config"), secret
            assert "hunter2" not in str(all_of)
            got = all_of["two", "grpc delta ads"]
            assert states(got["CDS", "a"]) == ("STALE", "REQUESTED")
            assert got["CDS", "a"].version_info == sent.versions["a"]
            # The rest of the request.
            less = status_of(third, exclude_resource_contents=True)
            assert set(less) == set(all_of)
            assert not less["one", "grpc sotw ads"]["CDS", "a"].HasField("xds_config")
            for matcher, want in ((StringMatcher(exact="one"), {"one"}),
                                  (StringMatcher(exact="ONE"), set()),
                                  (StringMatcher(exact="ONE", ignore_case=True), {"one"}),
                                  (StringMatcher(prefix="t"), {"two"}),
                                  (StringMatcher(suffix="o"), {"two"}),
                                  (StringMatcher(contains="n"), {"one"})):
                assert {name for name, _ in status_of(third, matcher)} == want, matcher
            both = status_of(third, StringMatcher(exact="one"), StringMatcher(exact="two"))
            assert len(both) == 2
            two.ack("CDS")
            two.barrier()
            got = status_of(third)["two", "grpc delta ads"]
            assert states(got["CDS", "a"]) == ("SYNCED", "ACKED")


def client_status_refusals():
    """CSDS: matchers that are not supported, damaged requests, answers beyond 4 MiB"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        method = CSDS + "FetchClientStatus"
        regex = ClientStatusRequest()
        regex.node_matchers.add().node_id.safe_regex.regex = ".*"
        metadata = ClientStatusRequest()
        metadata.node_matchers.add().node_metadatas.add()
        for request in (regex, metadata):
            code, text, _ = channel.unary(method, request)
            assert code == grpc.StatusCode.UNIMPLEMENTED and "node_id" in text, (code, text)
        empty = ClientStatusRequest()
        empty.node_matchers.add()
        for request in (empty, b"\x0a\xff"):
            code, text, _ = channel.unary(method, request)
            assert code == grpc.StatusCode.INVALID_ARGUMENT and text, (code, text)
        # 35,000 names of 100 bytes.
        names = [f"{i:0100}" for i in range(35000)]
        with Sotw(channel, "EDS") as stream:
            stream.ask(names=names)
            stream.take("EDS", [])
            daemon.until("ack", lambda s: s["grpc"]["acks"] == 1)
            code, text, _ = channel.unary(method, ClientStatusRequest())
            assert code == grpc.StatusCode.RESOURCE_EXHAUSTED, (code, text)
            assert "4 MiB" in text and "node_matchers" in text, text
            matched = status_of(channel, StringMatcher(exact="somebody else"))
            assert matched == {}


def client_status_stream():
    """CSDS: one answer for each request of a stream, also of many at once"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    with GrpcDaemon("tree", "--grpc-threads", "2") as daemon, daemon.channel() as channel:
        exchange = Exchange(channel, CSDS + "StreamClientStatus", ClientStatusResponse)
        assert len(exchange.ask(ClientStatusRequest()).config) == 0
        with Sotw(channel, "CDS") as stream:
            stream.ask()
            stream.take()
            assert len(exchange.ask(ClientStatusRequest()).config) == 1
        for _ in range(20):
            exchange.send(ClientStatusRequest())
        for _ in range(20):
            next(exchange.call)
        exchange.finish()
        # Left in the middle, and a stop in the middle: nothing is lost or used after it is gone.
        for _ in range(10):
            left = Exchange(channel, CSDS + "StreamClientStatus", ClientStatusResponse)
            left.send(ClientStatusRequest())
            left.call.cancel()
            left.outgoing.put(None)
        last = Exchange(channel, CSDS + "StreamClientStatus", ClientStatusResponse)
        for _ in range(20):
            last.send(ClientStatusRequest())
        daemon.stop()
        assert last.fail()[0] == grpc.StatusCode.UNAVAILABLE


def unknown_methods():
    """S.53: unknown methods are UNIMPLEMENTED, with the nearest one that there is"""
    fresh("tree", "out", "state")
    simple_tree("tree")
    write("tree/endpoints/x.yaml", endpoints("x"))
    with GrpcDaemon() as daemon, daemon.channel() as channel:
        for method, hint in (
                ("/envoy.service.route.v3.ScopedRouteDiscoveryService/StreamScopedRoutes",
                 "ScopedRoutesDiscoveryService/StreamScopedRoutes"),
                ("/envoy.service.cluster.v3.ClusterDiscoveryService/StreamCluster",
                 "ClusterDiscoveryService/StreamClusters"),
                ("/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources",
                 "transport_api_version: V3"),
                ("/grpc.health.v1.Health/List", "grpc.health.v1.Health/"),
                ("/a.b.C/D", "/a.b.C/D")):
            code, text, _ = channel.unary(method, b"")
            assert code == grpc.StatusCode.UNIMPLEMENTED and hint in text, (code, text)


run([health_check, health_watch, reflection, reflection_lookups, reflection_bounds, client_status,
     client_status_refusals, client_status_stream, unknown_methods])
