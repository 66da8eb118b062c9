# SPDX-License-Identifier: GPL-2.0-or-later
"""A scripted xDS client over python3-grpcio: it says what it is told to and checks what it gets.

    with daemon.channel() as channel, Sotw(channel) as ads:
        ads.ask("CDS")
        ads.expect("CDS", ["a", "b"])
        ads.ack("CDS")
        ads.expect_silence()

Every response is checked for what holds for all of them (check_response). A stream that is left in
good order is half-closed; whatever still arrives and was not expected fails the test then, and so
does any end but OK. Nothing here waits for time to pass: silence is proven by an answer to a later
question. Messages are those of envoy.pb, which the daemon itself reads.
"""
import collections
import os
import queue
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from daemon_lib import WAIT, Daemon, wait_for, write

TYPE_PREFIX = "type.googleapis.com/"
Type = collections.namedtuple("Type", "name message service stem folder")
# As the API has them (S.53); independent of the daemon's own table.
TYPES = {row.name: row for row in (
    Type("CDS", "envoy.config.cluster.v3.Cluster",
         "envoy.service.cluster.v3.ClusterDiscoveryService", "Clusters", "clusters"),
    Type("EDS", "envoy.config.endpoint.v3.ClusterLoadAssignment",
         "envoy.service.endpoint.v3.EndpointDiscoveryService", "Endpoints", "endpoints"),
    Type("SDS", "envoy.extensions.transport_sockets.tls.v3.Secret",
         "envoy.service.secret.v3.SecretDiscoveryService", "Secrets", "secrets"),
    Type("RTDS", "envoy.service.runtime.v3.Runtime",
         "envoy.service.runtime.v3.RuntimeDiscoveryService", "Runtime", "runtime"),
    Type("ECDS", "envoy.config.core.v3.TypedExtensionConfig",
         "envoy.service.extension.v3.ExtensionConfigDiscoveryService", "ExtensionConfigs",
         "extension_configs"),
    Type("LDS", "envoy.config.listener.v3.Listener",
         "envoy.service.listener.v3.ListenerDiscoveryService", "Listeners", "listeners"),
    Type("RDS", "envoy.config.route.v3.RouteConfiguration",
         "envoy.service.route.v3.RouteDiscoveryService", "Routes", "routes"),
    Type("SRDS", "envoy.config.route.v3.ScopedRouteConfiguration",
         "envoy.service.route.v3.ScopedRoutesDiscoveryService", "ScopedRoutes", "scoped-routes"),
    Type("VHDS", "envoy.config.route.v3.VirtualHost",
         "envoy.service.route.v3.VirtualHostDiscoveryService", "VirtualHosts", "virtual-hosts"),
)}
ADS = "envoy.service.discovery.v3.AggregatedDiscoveryService"
NAMES = {TYPE_PREFIX + row.message: row.name for row in TYPES.values()}


def _load_pool():
    with open(os.environ["XDSPUB_SCHEMA"], "rb") as file:
        descriptors = descriptor_pb2.FileDescriptorSet.FromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in descriptors.file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


POOL = _load_pool()
_FACTORY = message_factory.MessageFactory(POOL)


def message(name):
    """The class of a message by its full name."""
    return _FACTORY.GetPrototype(POOL.FindMessageTypeByName(name))


DISCOVERY = "envoy.service.discovery.v3."
DiscoveryRequest = message(DISCOVERY + "DiscoveryRequest")
DiscoveryResponse = message(DISCOVERY + "DiscoveryResponse")
DeltaDiscoveryRequest = message(DISCOVERY + "DeltaDiscoveryRequest")
DeltaDiscoveryResponse = message(DISCOVERY + "DeltaDiscoveryResponse")
Resource = message(DISCOVERY + "Resource")
Node = message("envoy.config.core.v3.Node")


def url(kind):
    """The type URL of a short name; anything else is taken as it is."""
    return TYPE_PREFIX + TYPES[kind].message if kind in TYPES else kind


def path(kind=None, form="Stream"):
    """The method's path: of one type, or aggregated; form: Stream, Delta or Fetch."""
    if kind is None:
        return f"/{ADS}/{form}AggregatedResources"
    return f"/{TYPES[kind].service}/{form}{TYPES[kind].stem}"


def node(identifier="node-1", cluster="edge", features=(), agent="envoy", **more):
    """A Node; more: further fields in the shape of Envoy's JSON."""
    result = json_format.ParseDict(more, Node(), descriptor_pool=POOL)
    result.id, result.cluster, result.user_agent_name = identifier, cluster, agent
    result.client_features.extend(features)
    return result


NODE = node()


class GrpcDaemon(Daemon):
    """The daemon with gRPC on a port of the kernel's choice and on a UNIX socket."""

    def __init__(self, tree="tree", *options, listen=True, **more):
        self.grpc_unix = f"unix:{os.getcwd()}/grpc{Daemon.count + 1}.sock"
        addresses = ("--grpc", "127.0.0.1:0", "--grpc", self.grpc_unix) if listen else ()
        super().__init__(tree, *addresses, *options, **more)

    def grpc_tcp(self):
        for listener in self.status()["grpc"]["listeners"]:
            if not listener["address"].startswith("unix:"):
                return listener["bound"]
        raise AssertionError("no TCP listener for gRPC")

    def channel(self, unix=True):
        """A connection of its own, once the daemon serves."""
        self.until_ready()
        return Channel(self.grpc_unix if unix else self.grpc_tcp())


class Channel:
    """One connection."""

    def __init__(self, address, *options):
        self.address = address
        self.channel = grpc.insecure_channel(address, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0),
            ("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
            # The second is how long one attempt may take.
            ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.min_reconnect_backoff_ms", 10000),
            ("grpc.max_reconnect_backoff_ms", 200), *options])

    def unary(self, method, request, metadata=None):
        """(status code, text, response bytes or None) of a call with one message each way."""
        body = request if isinstance(request, bytes) else request.SerializeToString()
        call = self.channel.unary_unary(method)
        try:
            return grpc.StatusCode.OK, "", call(body, timeout=WAIT, metadata=metadata)
        except grpc.RpcError as error:
            return error.code(), error.details(), None

    def fetch(self, kind, names=(), node=NODE, type_url=None):
        """A unary Fetch; its DiscoveryResponse, checked, or the RpcError's code and text."""
        request = DiscoveryRequest(node=node, resource_names=names)
        if type_url is not None:
            request.type_url = type_url
        code, text, body = self.unary(path(kind, "Fetch"), request)
        if code != grpc.StatusCode.OK:
            return code, text
        return Response(DiscoveryResponse.FromString(body), False)

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Response:
    """A response of either form, taken apart. check_response() has looked at it."""

    def __init__(self, raw, is_delta):
        self.raw, self.is_delta, self.nonce = raw, is_delta, raw.nonce
        self.kind = NAMES.get(raw.type_url, raw.type_url)
        self.version = raw.system_version_info if is_delta else raw.version_info
        self.identifier = raw.control_plane.identifier
        self.removed = sorted(raw.removed_resources) if is_delta else []
        self.names = []
        self.resources = {}    # by name; None: a Resource without a body
        self.wrapped = {}      # by name: the Resource around it
        for item in raw.resources:
            self._add(item)
        check_response(self)

    def _add(self, item):
        wrapper = item if self.is_delta else None
        if not self.is_delta and item.type_url == TYPE_PREFIX + DISCOVERY + "Resource":
            wrapper = Resource.FromString(item.value)
        inner = wrapper.resource if wrapper is not None else item
        body = None
        if wrapper is None or wrapper.HasField("resource"):
            assert inner.type_url == self.raw.type_url, (inner.type_url, self.raw.type_url)
            body = message(TYPES[self.kind].message).FromString(inner.value)
        own = body.cluster_name if self.kind == "EDS" and body else body.name if body else None
        name = wrapper.name if wrapper is not None else own
        assert own is None or own == name, f"{own} in a Resource called {name}"
        self.names.append(name)
        self.resources[name] = body
        if wrapper is not None:
            self.wrapped[name] = wrapper

    @property
    def versions(self):
        """Delta: the version of each resource."""
        return {name: resource.version for name, resource in self.wrapped.items()}

    @property
    def heartbeats(self):
        return sorted(name for name, body in self.resources.items() if body is None)

    def ttl(self, name):
        """Seconds, or None."""
        wrapper = self.wrapped.get(name)
        if wrapper is None or not wrapper.HasField("ttl"):
            return None
        return wrapper.ttl.seconds + wrapper.ttl.nanos / 1e9

    def __repr__(self):
        return (f"<{self.kind} {self.version} nonce={self.nonce} {sorted(self.names)}"
                f"{' removed ' + str(self.removed) if self.removed else ''}>")


def check_response(response):
    """S.65, S.78, S.97, S.98, S.99, S.109: what holds for every response."""
    raw = response.raw
    assert raw.nonce, response
    assert response.kind in TYPES, response
    assert response.version, response
    assert len(set(response.names)) == len(response.names), response
    assert len(set(response.removed)) == len(response.removed), response
    assert not set(response.names) & set(response.removed), response
    # S.126: nobody asked for resource_errors, which this API version does not even know.
    assert len(raw.UnknownFields()) == 0, response
    if response.is_delta:
        for wrapper in response.wrapped.values():
            assert wrapper.name and wrapper.version, wrapper
    elif response.wrapped:
        assert all(wrapper.HasField("ttl") for wrapper in response.wrapped.values()), response


# What a client keeps of a type: the names it wants, the versions it accepted and received last,
# and the nonce it received last.
Lane = collections.namedtuple("Lane", "names accepted received nonce", defaults=((), "", "", ""))


class Stream:
    """One stream of either form; see Sotw and Delta. kind None: aggregated."""

    is_delta = False
    form = "Stream"

    def __init__(self, channel, kind=None, node=NODE, metadata=None):
        self.kind, self.node = kind, node
        self.lanes = {}
        self.nonces = set()
        self.first = True
        self.barriers = 0
        self.code = self.text = None
        self.outgoing, self.incoming = queue.SimpleQueue(), queue.SimpleQueue()
        stub = channel.channel.stream_stream(path(kind, self.form))
        self.call = stub(iter(self.outgoing.get, None), metadata=metadata)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        try:
            for body in self.call:
                self.incoming.put(body)
            self.incoming.put((grpc.StatusCode.OK, self.call.details() or ""))
        except grpc.RpcError as error:
            self.incoming.put((error.code(), error.details() or ""))

    def lane(self, kind):
        return self.lanes.get(kind, Lane())

    def send(self, request):
        """A request message or bytes, as it is. The node goes with the first one."""
        if not isinstance(request, bytes):
            if self.first and self.node is not None and not request.HasField("node"):
                request.node.CopyFrom(self.node)
            request = request.SerializeToString()
        self.first = False
        self.outgoing.put(request)

    def _kind(self, kind):
        """Tests of one type may leave it out."""
        return kind or self.kind

    def next(self, patience=WAIT):
        """The next response whatever it is; the stream must not end."""
        try:
            item = self.incoming.get(timeout=patience)
        except queue.Empty:
            raise AssertionError(f"no response in time; lanes: {self.lanes}") from None
        assert isinstance(item, bytes), f"the stream ended: {item}"
        raw = (DeltaDiscoveryResponse if self.is_delta else DiscoveryResponse).FromString(item)
        response = Response(raw, self.is_delta)
        assert response.nonce not in self.nonces, f"nonce again: {response}"  # S.65
        self.nonces.add(response.nonce)
        self.lanes[response.kind] = self.lane(response.kind)._replace(
            received=response.version, nonce=response.nonce)
        return response

    def expect(self, kind=None, names=None, removed=None, patience=WAIT):
        """The next response, which is of this type and has exactly these names."""
        response = self.next(patience)
        assert response.kind == self._kind(kind), f"not {self._kind(kind)}: {response}"
        if names is not None:
            assert sorted(response.names) == sorted(names), f"not {sorted(names)}: {response}"
        if removed is not None or (names is not None and self.is_delta):
            assert response.removed == sorted(removed or ()), f"not -{removed}: {response}"
        return response

    def expect_silence(self):
        """Nothing was sent but what was expected: two questions are answered next. The first
        brings out what was due before it, the second what that brought up. Only for aggregated
        streams; others prove it when they are finished."""
        assert self.kind is None, "finish() proves it for a stream of one type"
        for _ in range(2):
            self.barrier()

    def unread(self):
        """What has arrived and was not looked at; for messages, not for decisions."""
        return self.incoming.qsize()

    def half_close(self):
        self.outgoing.put(None)

    def expect_end(self, code=grpc.StatusCode.OK, text=None):
        """The stream ends next, with this status or one of these, and a message with this text."""
        try:
            item = self.incoming.get(timeout=WAIT)
        except queue.Empty:
            raise AssertionError("the stream did not end in time") from None
        if isinstance(item, bytes):
            raw = (DeltaDiscoveryResponse if self.is_delta else DiscoveryResponse).FromString(item)
            raise AssertionError(f"unexpected: {Response(raw, self.is_delta)}")
        self.code, self.text = item
        codes = code if isinstance(code, tuple) else (code,)
        assert self.code in codes, f"{self.code}: {self.text}"
        assert text is None or text in self.text, f"no {text!r} in {self.text!r}"
        self.outgoing.put(None)
        self.reader.join(WAIT)
        return self.text

    def finish(self):
        """The client has no more to say, and nothing unexpected is on its way (S.60)."""
        self.half_close()
        self.expect_end()

    def cancel(self):
        self.call.cancel()
        self.outgoing.put(None)
        self.code = grpc.StatusCode.CANCELLED
        self.reader.join(WAIT)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.call.cancel()
            self.outgoing.put(None)
        elif self.code is None:
            self.finish()


class Sotw(Stream):
    """State of the world: every request says all of what the client keeps."""

    def ask(self, kind=None, names=None, type_url=None, **fields):
        """A request with these names (None: the same as before). Fields replace what a client
        would say: version_info, response_nonce, error_detail, node."""
        kind = self._kind(kind)
        lane = self.lane(kind)
        if names is not None:
            lane = lane._replace(names=tuple(names))
        self.lanes[kind] = lane
        said = {"version_info": lane.accepted, "response_nonce": lane.nonce, **fields}
        self.send(DiscoveryRequest(resource_names=lane.names, **said,
                                   type_url=url(kind) if type_url is None else type_url))

    def ack(self, kind=None, names=None):
        """Accepts the last response of the type."""
        kind = self._kind(kind)
        lane = self.lanes[kind]
        self.lanes[kind] = lane._replace(accepted=lane.received)
        self.ask(kind, names)

    def nack(self, kind=None, text="refused by the test", code=13, **fields):
        self.ask(kind, error_detail={"code": code, "message": text}, **fields)

    def take(self, kind=None, names=None):
        """Expects and accepts."""
        response = self.expect(kind, names)
        self.ack(kind)
        return response

    def barrier(self):
        self.barriers += 1
        base = [name for name in self.lane("RTDS").names if not name.startswith("barrier-")]
        self.ask("RTDS", [*base, f"barrier-{self.barriers}"])
        self.take("RTDS")


class Delta(Stream):
    """Incremental."""

    is_delta = True
    form = "Delta"

    def ask(self, kind=None, subscribe=(), unsubscribe=(), versions=None, type_url=None, **fields):
        """fields: response_nonce, error_detail, node."""
        kind = self._kind(kind)
        self.lanes.setdefault(kind, Lane())
        self.send(DeltaDiscoveryRequest(
            resource_names_subscribe=subscribe, resource_names_unsubscribe=unsubscribe,
            initial_resource_versions=versions or {}, **fields,
            type_url=url(kind) if type_url is None else type_url))

    def ack(self, kind=None, **more):
        kind = self._kind(kind)
        self.ask(kind, response_nonce=self.lane(kind).nonce, **more)

    def nack(self, kind=None, text="refused by the test", code=13, **more):
        self.ack(kind, error_detail={"code": code, "message": text}, **more)

    def take(self, kind=None, names=None, removed=None):
        response = self.expect(kind, names, removed)
        self.ack(kind)
        return response

    def barrier(self):
        self.barriers += 1
        name = f"barrier-{self.barriers}"
        self.ask("RTDS", [name])
        self.take("RTDS", [], [name])


class one_change:
    """What is written inside becomes one build, and so one snapshot of each group."""

    def __init__(self, tree="tree"):
        self.hold = f"{tree}/.xdspub-hold"

    def __enter__(self):
        write(self.hold, "")

    def __exit__(self, *_):
        os.remove(self.hold)


def until_group_serves(daemon, kind, version, group="edge"):
    """Waits until gRPC serves this version of the type."""
    return wait_for(f"gRPC with {kind} {version}", lambda: (
        daemon.group(group)["types"].get(kind, {}).get("grpc") == version))
