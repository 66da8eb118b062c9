# SPDX-License-Identifier: GPL-2.0-or-later
"""Trees with resources of every type, each with a number in it that tests change and read back."""
import contextlib
import itertools
import json
import os
import urllib.parse

from daemon_lib import fresh, write
from grpc_lib import TYPE_PREFIX, TYPES, GrpcDaemon, one_change

ADS_SOURCE = {"ads": {}, "resource_api_version": "V3"}
EXTENSIONS = TYPE_PREFIX + "envoy.extensions."


def _routes(cluster, value):
    return [{"match": {"prefix": "/"}, "route": {"cluster": cluster, "timeout": f"{value}s"}}]


def _listener(name, value, secret=None, route=None, cluster="a"):
    filters = [{"name": "tcp", "typed_config": {
        "@type": EXTENSIONS + "filters.network.tcp_proxy.v3.TcpProxy",
        "stat_prefix": "tcp", "cluster": cluster}}]
    if route:
        filters = [{"name": "http", "typed_config": {
            "@type": EXTENSIONS + "filters.network.http_connection_manager.v3."
                                  "HttpConnectionManager",
            "stat_prefix": "http",
            "rds": {"config_source": ADS_SOURCE, "route_config_name": route},
            "http_filters": [{"name": "router", "typed_config": {
                "@type": EXTENSIONS + "filters.http.router.v3.Router"}}]}}]
    chain = {"filters": filters}
    if secret:
        chain["transport_socket"] = {"name": "tls", "typed_config": {
            "@type": EXTENSIONS + "transport_sockets.tls.v3.DownstreamTlsContext",
            "common_tls_context": {"tls_certificate_sds_secret_configs": [
                {"name": secret, "sds_config": ADS_SOURCE}]}}}
    return {"name": name, "filter_chains": [chain], "address": {
        "socket_address": {"address": "0.0.0.0", "port_value": value}}}


def _cluster(name, value, secret=None, service=None, is_eds=True):
    body = {"name": name, "connect_timeout": f"{value}s"}
    if is_eds:
        body.update(type="EDS", eds_cluster_config={"eds_config": ADS_SOURCE})
        if service:
            body["eds_cluster_config"]["service_name"] = service
    if secret:
        body["transport_socket"] = {"name": "tls", "typed_config": {
            "@type": EXTENSIONS + "transport_sockets.tls.v3.UpstreamTlsContext",
            "common_tls_context": {"tls_certificate_sds_secret_configs": [
                {"name": secret, "sds_config": ADS_SOURCE}]}}}
    return body


MAKE = {
    "CDS": _cluster,
    "EDS": lambda name, value: {"cluster_name": name, "endpoints": [{"lb_endpoints": [
        {"endpoint": {"address": {"socket_address": {
            "address": "10.0.0.1", "port_value": value}}}}]}]},
    "SDS": lambda name, value: {"name": name, "generic_secret": {
        "secret": {"inline_string": f"secret {value}"}}},
    "RTDS": lambda name, value: {"name": name, "layer": {"value": value}},
    "ECDS": lambda name, value: {"name": name, "typed_config": {
        "@type": EXTENSIONS + "filters.http.buffer.v3.Buffer", "max_request_bytes": value}},
    "LDS": _listener,
    "RDS": lambda name, value, cluster="a": {"name": name, "virtual_hosts": [
        {"name": "all", "domains": ["*"], "routes": _routes(cluster, value)}]},
    "SRDS": lambda name, value, route="r": {
        "name": name, "route_configuration_name": route,
        "key": {"fragments": [{"string_key": str(value)}]}},
    "VHDS": lambda name, value, cluster="a": {
        "name": name, "domains": [name.split("/")[-1]], "routes": _routes(cluster, value)},
}
READ = {
    "CDS": lambda body: body.connect_timeout.seconds,
    "EDS": lambda body: (body.endpoints[0].lb_endpoints[0].endpoint.address.socket_address
                         .port_value),
    "SDS": lambda body: int(body.generic_secret.secret.inline_string.split()[1]),
    "RTDS": lambda body: int(body.layer.fields["value"].number_value),
    "LDS": lambda body: body.address.socket_address.port_value,
    "RDS": lambda body: body.virtual_hosts[0].routes[0].route.timeout.seconds,
    "SRDS": lambda body: int(body.key.fragments[0].string_key),
    "VHDS": lambda body: body.routes[0].route.timeout.seconds,
}


def file_of(kind, name, layer="tree"):
    return f"{layer}/{TYPES[kind].folder}/{urllib.parse.quote(name, safe='')}.json"


def put(kind, name, value=1, ttl=None, aliases=(), layer="tree", fields=None, **more):
    """Writes a resource; more: what MAKE[kind] takes; fields: further fields of the message."""
    body = {**MAKE[kind](name, value, **more), **(fields or {})}
    if ttl or aliases:
        body = {"@type": TYPE_PREFIX + "envoy.service.discovery.v3.Resource", "name": name,
                "resource": {"@type": TYPE_PREFIX + TYPES[kind].message, **body}}
        if ttl:
            body["ttl"] = ttl
        if aliases:
            body["aliases"] = list(aliases)
    write(file_of(kind, name, layer), json.dumps(body))


def drop(kind, *names, layer="tree"):
    for name in names:
        os.remove(file_of(kind, name, layer))


def values(response):
    """{name: number} of a response's resources."""
    return {name: READ[response.kind](body) for name, body in response.resources.items()
            if body is not None}


def fill(content, layer="tree"):
    """{"CDS": ["a", "b"], ...} or {"CDS": {"a": 2}}."""
    for kind, names in content.items():
        for name in names:
            put(kind, name, names[name] if isinstance(names, dict) else 1, layer=layer)


@contextlib.contextmanager
def serving(content, *options, groups="groups: [{name: edge, layers: [.], allow_empty: true}]\n",
            **more):
    """A daemon, ready, on a fresh tree with this content and one group for everyone."""
    fresh("tree", "out", "state")
    write("tree/groups.yaml", groups)
    put("RTDS", "marker", 0)
    fill(content)
    more = {"publish": None, "state": None, "settle": "1ms", **more}
    with GrpcDaemon("tree", *options, **more) as daemon:
        daemon.until_ready()
        change.daemon, change.former = daemon, 0
        yield daemon


class change(one_change):
    """One build, with a new number in the runtime layer `marker`. A stream that watches it knows
    by it that it has seen what the change brings (before what is pushed later than RTDS)."""

    numbers = itertools.count(1)
    daemon = None  # of serving()
    former = 0     # number in the marker

    def __enter__(self):
        super().__enter__()
        # A build that began before the hold must not see half of the change.
        put("RTDS", "marker", change.former)
        change.daemon.until("the hold", lambda s: (
            s["source"]["pending"] == "the file .xdspub-hold"))
        change.former = next(change.numbers)
        put("RTDS", "marker", change.former)
        return change.former


def watch(stream):
    """The stream subscribes to the marker; it is in the tree or will be."""
    stream.ask("RTDS", ["marker"])
    stream.take("RTDS")


def see(stream, number):
    """The next response is the marker of that change; afterwards nothing comes."""
    response = stream.take("RTDS", ["marker"])
    assert values(response) == {"marker": number}, (values(response), number)
    stream.expect_silence()
