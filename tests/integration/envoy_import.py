#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A static Envoy moves to xdspub: what is imported is what a real Envoy has, before and after."""
import glob
import json
import os

from daemon_lib import fresh, run, xdspub
from envoy_lib import Backends, Envoy, Traffic, skip_without_envoy
from grpc_lib import GrpcDaemon

HCM = ("type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3."
       "HttpConnectionManager")
ROUTER = {"name": "router", "typed_config": {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}


def endpoint(path, **more):
    return {"endpoint": {"address": {"pipe": {"path": os.path.abspath(path)}}}, **more}


def static():
    """A bootstrap as people write it, with a listener and two clusters."""
    routes = {"name": "local", "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
        {"match": {"prefix": "/b"}, "route": {"cluster": "b", "timeout": "5s"}},
        {"match": {"prefix": "/"}, "route": {"cluster": "a"}}]}]}
    manager = {"@type": HCM, "stat_prefix": "in", "route_config": routes, "http_filters": [ROUTER]}
    return {
        "node": {"id": "n1", "cluster": "moved", "locality": {"zone": "z"}},
        "admin": {"address": {"pipe": {"path": "admin.sock"}}},
        "static_resources": {
            "listeners": [{"name": "in", "address": {"pipe": {"path": "in.sock"}},
                           "filter_chains": [{"filters": [
                               {"name": "http", "typed_config": manager}]}]}],
            "clusters": [
                {"name": "a", "type": "STATIC", "connect_timeout": "1s", "load_assignment": {
                    "cluster_name": "a", "endpoints": [
                        {"locality": {"zone": "z"}, "lb_endpoints": [endpoint("a.sock")]}]}},
                {"name": "b", "connect_timeout": "2s", "load_assignment": {
                    "cluster_name": "b", "endpoints": [{"lb_endpoints": [
                        endpoint("b.sock", load_balancing_weight=3), endpoint("c.sock")]}]}}]}}


def import_(*arguments):
    result = xdspub("import", *arguments)
    assert result.returncode == 0 and "warning" not in result.stderr, result
    return result


def published(tree):
    """What everybody gets of a tree: {path: content}."""
    fresh("out-one")
    result = xdspub("build", tree, "-o", "out-one", "--format", "json")
    assert result.returncode == 0, result
    found = {}
    for path in glob.glob("out-one/default/**/*.json", recursive=True):
        with open(path) as file:
            found[path] = file.read()
    assert found
    return found


def moves():
    """static, imported, served: the same requests, and the same resources in every config dump"""
    with Backends("a", "b"):
        with Envoy("static", static()) as envoy:
            envoy.until_live()
            traffic = Traffic(envoy.path("in.sock"))
            traffic.until({"a"})
            traffic.stop()
            import_("static/bootstrap.json", "-o", "whole")
            import_("--config-dump", f"unix:{envoy.path('admin.sock')}", "-o", "dumped")
            assert published("whole") == published("dumped")
        import_("static/bootstrap.json", "-o", "tree", "--split", "routes,endpoints")
        for mode in ("ads", "delta-ads"):
            follow(mode)


def follow(mode):
    """An Envoy with the bootstrap that the import left gets it all back."""
    fresh("again", "other")
    with GrpcDaemon("tree") as daemon:
        result = xdspub("import", "static/bootstrap.json", "-o", "other", "--mode", mode,
                        "--split", "routes,endpoints", "--address", daemon.grpc_unix)
        assert result.returncode == 0, result
        result = xdspub("convert", "--type", "envoy.config.bootstrap.v3.Bootstrap", "--to", "json",
                        "other/_bootstrap.yaml")
        with Envoy(mode, json.loads(result.stdout)) as envoy:
            envoy.until_live()
            traffic = Traffic(envoy.path("in.sock"))
            traffic.until({"a"})
            traffic.stop()
            result = import_("--config-dump", f"unix:{envoy.path('admin.sock')}", "-o", "again")
            assert "cluster \"xdspub\" stays in the bootstrap" in result.stderr, result
            made, wanted = published("again"), published("tree")
            for path in {*made, *wanted}:
                assert made.get(path) == wanted.get(path), (made.get(path), wanted.get(path))
            with open("again/_bootstrap.yaml") as file:
                assert file.read().count("- name: xdspub") == 1
            assert not any(envoy.stats("update_rejected").values())


if __name__ == "__main__":
    skip_without_envoy()
    run([moves])
