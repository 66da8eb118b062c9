#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every resource type that Envoy asks for, over aggregated streams of both forms, with a real Envoy.

Certificates (SDS), runtime (RTDS), filters (ECDS), scoped routes (SRDS), virtual hosts on demand
(VHDS) are changed while it runs, and what Envoy does with them is looked at from outside. Then it is
given something that only Envoy can refuse.
"""
import json
import os
import socket
import ssl
import subprocess

from daemon_lib import fresh, run, wait_for, write
from envoy_lib import ADS_MODES, Envoy, UnixConnection, bootstrap, skip_without_envoy
from grpc_lib import GrpcDaemon

TYPE = "type.googleapis.com/envoy.extensions."
ADS = {"ads": {}, "resource_api_version": "V3"}
ROUTER = {"name": "router", "typed_config": {"@type": TYPE + "filters.http.router.v3.Router"}}


def put(path, content):
    write(f"tree/{path}.yaml", content if isinstance(content, str) else json.dumps(content))


def hcm(name, filters=(), **routes):
    config = {"@type": TYPE + "filters.network.http_connection_manager.v3.HttpConnectionManager",
              "stat_prefix": name, "http_filters": [*filters, ROUTER], **routes}
    return {"name": "hcm", "typed_config": config}


def listener(name, network_filter, **chain):
    put(f"listeners/{name}", {
        "name": name, "address": {"pipe": {"path": f"{name}.sock"}},
        "filter_chains": [{"filters": [network_filter], **chain}]})


def virtual_host(name, *domains):
    return {"name": name, "domains": domains, "routes": [
        {"match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": name}}}]}


def certificate(number):
    """A self-signed one as a secret, and its DER form."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", f"/CN=number-{number}", "-keyout", "key.pem", "-out", "cert.pem"],
                   check=True, capture_output=True)
    with open("cert.pem") as cert, open("key.pem") as key:
        chain, secret = cert.read(), key.read()
    put("secrets/server", {"name": "server", "tls_certificate": {
        "certificate_chain": {"inline_string": chain}, "private_key": {"inline_string": secret}}})
    return ssl.PEM_cert_to_DER_cert(chain)


def extension(number):
    """A filter that adds a header with the number to each response."""
    put("extension_configs/stamp", {"name": "stamp", "typed_config": {
        "@type": TYPE + "filters.http.header_mutation.v3.HeaderMutation",
        "mutations": {"response_mutations": [
            {"append": {"header": {"key": "x-stamp", "value": str(number)}}}]}}})


def scope(name, route):
    put(f"scoped-routes/{name}", {"name": name, "route_configuration_name": route,
                                  "key": {"fragments": [{"string_key": name}]}})


def runtime(number):
    put("runtime/layer", {"name": "layer", "layer": {"some.number": number}})


def lua(code):
    listener("scripted", hcm("scripted", [{"name": "lua", "typed_config": {
        "@type": TYPE + "filters.http.lua.v3.Lua",
        "default_source_code": {"inline_string": code}}}],
        route_config={"name": "own", "virtual_hosts": [virtual_host("scripted", "*")]}))


def virtual_hosts_on_demand():
    """Envoy refuses them on a stream of the state of the world."""
    put("routes/demand", {"name": "demand", "vhds": {"config_source": ADS}})
    put("virtual-hosts/demand/one", virtual_host("one", "one.test"))
    on_demand = {"name": "on_demand", "typed_config": {
        "@type": TYPE + "filters.http.on_demand.v3.OnDemand"}}
    listener("demand", hcm("demand", [on_demand],
                           rds={"route_config_name": "demand", "config_source": ADS}))


def make_tree(mode):
    """What all tests begin with."""
    fresh("tree", "state", "out")
    put("groups", {"groups": [{"name": "edge", "layers": ["."]}]})
    put("clusters/unused", {"name": "unused", "connect_timeout": "1s", "type": "STATIC"})
    der = certificate(1)
    extension(1)
    runtime(1)
    scope("blue", "blue")
    for name in ("blue", "green"):
        put(f"routes/{name}", {"name": name, "virtual_hosts": [virtual_host(name, "*")]})
    if mode == "delta-ads":
        virtual_hosts_on_demand()
    stamp = {"name": "stamp", "config_discovery": {
        "config_source": ADS, "type_urls": [TYPE + "filters.http.header_mutation.v3.HeaderMutation"]}}
    listener("secure", hcm("secure", [stamp], scoped_routes={
        "name": "scopes", "rds_config_source": ADS, "scoped_rds": {"scoped_rds_config_source": ADS},
        "scope_key_builder": {"fragments": [
            {"header_value_extractor": {"name": "x-scope", "index": 0, "element_separator": ","}}]}}),
        transport_socket={"name": "tls", "typed_config": {
            "@type": TYPE + "transport_sockets.tls.v3.DownstreamTlsContext",
            "common_tls_context": {"tls_certificate_sds_secret_configs": [
                {"name": "server", "sds_config": ADS}]}}})
    lua("function envoy_on_request(handle) end")
    return der


def settings(mode, daemon):
    config = bootstrap(mode, daemon, "edge")
    config["layered_runtime"] = {"layers": [
        {"name": "rtds", "rtds_layer": {"name": "layer", "rtds_config": ADS}}]}
    return config


def ask_secure(envoy, scope_key="blue"):
    """(certificate, x-stamp, body or status) of a request over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    plain = socket.socket(socket.AF_UNIX)
    plain.settimeout(10)
    plain.connect(envoy.path("secure.sock"))
    with context.wrap_socket(plain) as connection:
        request = f"GET / HTTP/1.1\r\nhost: x\r\nx-scope: {scope_key}\r\nconnection: close\r\n\r\n"
        connection.sendall(request.encode())
        data = b""
        while True:
            more = connection.recv(65536)
            if not more:
                break
            data += more
        head, _, body = data.decode().partition("\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        status = int(head.split()[1])
        return connection.getpeercert(True), headers.get("x-stamp"), body if status == 200 else status


def ask_host(envoy, host):
    connection = UnixConnection(envoy.path("demand.sock"))
    try:
        connection.request("GET", "/", headers={"host": host})
        answer = connection.getresponse()
        return answer.read().decode() if answer.status == 200 else answer.status
    finally:
        connection.close()


def until(what, check, wanted):
    """Waits for the value; connections may break while a listener is replaced."""
    seen = []

    def attempt():
        try:
            seen.append(check())
        except (OSError, IndexError):
            return False
        return seen[-1] == wanted
    try:
        wait_for(what, attempt)
    except AssertionError:
        raise AssertionError(f"{what}: {seen[-1:]}, not {wanted}") from None


def rejections(envoy):
    return {name: count for name, count in envoy.stats("update_rejected$").items() if count}


def every_type(mode):
    """S.61 to S.103 with an Envoy: secrets, runtime, filters and scopes change while it runs"""
    first = make_tree(mode)
    with GrpcDaemon(grace="1s") as daemon:
        daemon.until_ready()
        with Envoy(mode, settings(mode, daemon)) as envoy:
            envoy.until_live()
            until("the first of everything", lambda: ask_secure(envoy), (first, "1", "blue"))
            second = certificate(2)
            until("another certificate", lambda: ask_secure(envoy)[0], second)
            extension(2)
            until("another filter", lambda: ask_secure(envoy)[1], "2")
            assert ask_secure(envoy, "green")[2] == 404
            scope("green", "green")
            until("another scope", lambda: ask_secure(envoy, "green")[2], "green")
            os.unlink("tree/scoped-routes/blue.yaml")
            until("a scope that is gone", lambda: ask_secure(envoy, "blue")[2], 404)
            runtime(2)
            until("runtime", lambda: json.loads(envoy.ask("/runtime"))["entries"]["some.number"]
                  ["final_value"], "2")
            if mode == "delta-ads":
                until("a virtual host on demand", lambda: ask_host(envoy, "one.test"), "one")
                put("virtual-hosts/demand/two", virtual_host("two", "two.test"))
                until("another one", lambda: ask_host(envoy, "two.test"), "two")
                put("virtual-hosts/demand/one", virtual_host("one", "one.test", "uno.test"))
                until("a domain more", lambda: ask_host(envoy, "uno.test"), "one")
            assert not rejections(envoy), rejections(envoy)
            daemon.until_idle()
            for row in daemon.status()["clients"]:
                for kind, state in row["types"].items():
                    if "sent" in state and kind != "VHDS":  # SDS: no version is shown
                        assert state["acknowledged"] == state["sent"], (kind, state)


def refused(mode):
    """What only Envoy can refuse costs one response, is blamed on its file, and is repaired"""
    make_tree(mode)
    with GrpcDaemon(grace="1s") as daemon:
        daemon.until_ready()
        with Envoy(mode, settings(mode, daemon)) as envoy:
            envoy.until_live()
            envoy.until("a listener", lambda _: os.path.exists(envoy.path("scripted.sock")))
            lua("this is no Lua")

            def nack(status):
                for client in status["clients"]:
                    if client["types"].get("LDS", {}).get("last_nack"):
                        return client["types"]["LDS"]
                return None
            state = daemon.until("a rejection", nack)
            assert state["is_rejected"], state
            assert "script load error" in state["last_nack"]["text"], state
            assert [blamed["source"].split(":")[0] for blamed in state["last_nack"]["resources"]] == \
                ["listeners/scripted.yaml"], state
            # Other types go on, and the refused set is not sent again.
            runtime(7)
            until("runtime", lambda: json.loads(envoy.ask("/runtime"))["entries"]["some.number"]
                  ["final_value"], "7")
            assert rejections(envoy) == {"listener_manager.lds.update_rejected": 1}, rejections(envoy)
            lua("function envoy_on_response(handle) end")
            daemon.until("accepted", lambda s: not any(
                client["types"]["LDS"].get("is_rejected") for client in s["clients"]))
            assert rejections(envoy) == {"listener_manager.lds.update_rejected": 1}, rejections(envoy)


def make_tests():
    for test in (every_type, refused):
        for mode in ADS_MODES:
            def one(test=test, mode=mode):
                test(mode)
            one.__doc__ = f"{mode}: {test.__doc__}"
            one.__name__ = f"{test.__name__}_{mode}"
            yield one


skip_without_envoy()
run(list(make_tests()))
