#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""xdspub import: nothing is lost, comments stay where they belong, all or nothing."""
import glob
import http.server
import json
import os
import re
import shutil
import threading

from daemon_lib import fresh, run, write, xdspub

SOURCE = os.environ.get("abs_top_srcdir") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = f"{SOURCE}/tests/data/import"
BOOTSTRAP = "envoy.config.bootstrap.v3.Bootstrap"
HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
TYPES = {"listeners": "envoy.config.listener.v3.Listener",
         "clusters": "envoy.config.cluster.v3.Cluster",
         "routes": "envoy.config.route.v3.RouteConfiguration",
         "endpoints": "envoy.config.endpoint.v3.ClusterLoadAssignment",
         "secrets": "envoy.extensions.transport_sockets.tls.v3.Secret"}
ADS = {"ads": {}, "resource_api_version": "V3"}


def import_(*arguments, status=0):
    result = xdspub("import", *arguments)
    assert result.returncode == status, (arguments, result)
    return result


def message(path, kind):
    """Any file as JSON, read by another command than the one that is tested."""
    result = xdspub("convert", "--lenient", "--type", kind, "--to", "json", path)
    assert result.returncode == 0, result
    return json.loads(result.stdout)


def resources(tree, folder):
    found = {}
    for path in glob.glob(f"{tree}/{folder}/[!_]*.yaml"):
        one = message(path, TYPES[folder])
        found[one.get("cluster_name", one.get("name"))] = one
    return found


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def objects(value):
    """Every object in a JSON value, the outer ones first."""
    if isinstance(value, list):
        for one in value:
            yield from objects(one)
    elif isinstance(value, dict):
        yield value
        for one in value.values():
            yield from objects(one)


def join(tree):
    """The tree's listeners and clusters as they were before anything was split off."""
    parts = {folder: resources(tree, folder) for folder in TYPES}
    for listener in parts["listeners"].values():
        for one in objects(listener):
            if one.get("rds", {}).get("config_source") == ADS:
                one["route_config"] = parts["routes"][one.pop("rds")["route_config_name"]]
    for cluster in parts["clusters"].values():
        eds = cluster.get("eds_cluster_config", {})
        if eds.get("eds_config") == ADS:
            cluster["load_assignment"] = parts["endpoints"][eds["service_name"]]
            del cluster["eds_cluster_config"]
            cluster["type"] = "STATIC"
    for one in objects([parts["listeners"], parts["clusters"]]):
        for key, field in (("tls_certificate_sds_secret_configs", "tls_certificate"),
                           ("validation_context_sds_secret_config", "validation_context")):
            used = one.get(key, [])
            used = used if isinstance(used, list) else [used]
            if not used or used[0].get("sds_config") != ADS:
                continue
            secrets = [parts["secrets"][each["name"]] for each in used]
            if all(each["name"].startswith("https-") for each in secrets):
                del one[key]
                values = [each[field] for each in secrets]
                one["tls_certificates" if field == "tls_certificate" else field] = \
                    values if field == "tls_certificate" else values[0]
            else:
                for each in used:
                    del each["sds_config"]
    return parts


def plain(value, renamed=False):
    """Without what an import may add: types that were implied, names of what was moved."""
    for one in objects(value):
        if "load_assignment" in one:
            one.setdefault("type", "STATIC")
            if renamed:
                one["load_assignment"]["cluster_name"] = one["name"]
        if renamed and "route_config" in one:
            one["route_config"].pop("name", None)
    return value


def check_static(tree, source, split):
    static = message(source, BOOTSTRAP)["static_resources"]
    left = message(f"{tree}/_bootstrap.yaml", BOOTSTRAP).get("static_resources", {})
    parts = join(tree)
    for kind in ("listeners", "clusters", "secrets"):
        kept = {one["name"]: one for one in left.get(kind, [])}
        for one in static.get(kind, []):
            name = one.setdefault("name", "listener_15000")
            assert (name in kept) != (name in parts[kind]), (kind, name)
            made = kept[name] if name in kept else parts[kind][name]
            assert plain(made, split) == plain(one, split), (kind, name, made, one)


def bootstraps():
    """every realistic bootstrap, whole and split: the same messages, compared with another reader"""
    for source in sorted(glob.glob(f"{DATA}/*.yaml")):
        for split in ((), ("--split", "routes,endpoints,certificates"),
                      ("--routes-to-rds",), ("--endpoints-to-eds", "--certificates-to-sds")):
            fresh("tree")
            import_(source, "-o", "tree", *split)
            check_static("tree", source, bool(split))
            result = xdspub("check", "tree")
            assert result.returncode == 0, result


def comments():
    """comments stay with what they are about, also when it is moved; anchors don't get lost"""
    fresh("tree")
    result = import_(f"{DATA}/front-proxy.yaml", "-o", "tree")
    assert "[import-comments]" not in result.stderr, result
    listener = text("tree/listeners/http.yaml")
    assert listener.startswith("# The public one.\n# It speaks HTTP only.\nname: http # public\n")
    for comment in ("# The only filter.", "# Where it all goes.", "# one table", "# the shop",
                    "# Catalog first.", "# the rest", "# - match: {prefix: /old}"):
        assert comment in listener, listener
    other = text("tree/listeners/listener_15000.yaml")
    assert "\n# An internal one without a name.\nname: listener_15000\naddress:\n" \
        "  socket_address:\n    # inside\n    address: 127.0.0.1\n" in other, other
    assert text("tree/clusters/cart.yaml") == """\
connect_timeout: 0.25s
type: STATIC
lb_policy: LEAST_REQUEST
name: cart   # the cart
load_assignment:
  cluster_name: cart
  endpoints:
  - lb_endpoints:
    - endpoint: {address: {socket_address: {address: 10.0.1.1, port_value: 8080}}}
# end of the cart
"""
    rest = text("tree/_bootstrap.yaml")
    assert rest.startswith("# Our front proxy. Owner: edge team.\n") and "only from here" in rest
    fresh("tree")
    import_(f"{DATA}/front-proxy.yaml", "-o", "tree", "--split", "routes,endpoints")
    assert "# Catalog first." in text("tree/routes/local_route.yaml")
    assert "# first rack" in text("tree/endpoints/catalog.yaml")
    listener = text("tree/listeners/http.yaml")
    assert """
      # Where it all goes.
      rds:
        config_source: {ads: {}, resource_api_version: V3}
        route_config_name: local_route
      http_filters:
""" in listener and "# Catalog" not in listener, listener
    assert "type: EDS # by address\n" in text("tree/clusters/catalog.yaml")
    fresh("tree")
    result = import_(f"{DATA}/tls.yaml", "-o", "tree", "--split", "certificates")
    secret = text("tree/secrets/https-certificate.yaml")
    assert secret.startswith("name: https-certificate\ntls_certificate:\n  # RSA\n"), secret
    assert "# never to be shown" in secret
    assert os.stat("tree/secrets/https-certificate.yaml").st_mode & 0o777 == 0o600
    fresh("tree")
    result = import_(f"{DATA}/services.yaml", "-o", "tree", "--config-source", "self",
                     "--split", "routes")
    assert "local_route" in text("tree/routes/gateway-2-local_route.yaml")
    assert "self: {}" in text("tree/listeners/gateway-2.yaml")
    assert len(os.listdir("tree/routes")) == 3 and "größer" in text("tree/listeners/gateway-2.yaml")
    for name in ("metrics", "routes_xds"):
        assert f'cluster "{name}" stays in the bootstrap' in result.stderr, result
        assert not os.path.exists(f"tree/clusters/{name}.yaml")
    assert "[import-replaced]" in result.stderr


def examples():
    """every example, from its published files: the same bytes are published again"""
    for tree in sorted(glob.glob(f"{SOURCE}/examples/*/")):
        fresh("out")
        result = xdspub("build", tree, "-o", "out")
        assert result.returncode == 0, result
        for group in sorted(name for name in os.listdir("out") if not name.startswith("."))[:1]:
            files = glob.glob(f"out/{group}/**/*.yaml", recursive=True)
            fresh("tree", "again")
            import_(*files, "-o", "tree")
            result = xdspub("build", "tree", "-o", "again")
            assert result.returncode == 0, result
            for path in files:
                compare(path, path.replace(f"out/{group}", "again/default"), tree)


def compare(path, other, tree):
    """Published files of a tree and of its import. Where the tree leaves config sources open, its
    files have paths in their place, which are other sources to whoever reads them: then only the
    versions differ."""
    texts = [text(path), text(other)]
    if any("self: {}" in text(one) for one in glob.glob(f"{tree}/**/*.yaml", recursive=True)):
        texts = [re.sub(r'"?version_info"?: \S+', "", one) for one in texts]
    assert texts[0] == texts[1], path


def config_dump(tree, group):
    """What an Envoy would say that got everything of a published group."""
    def any_(path):
        return json.loads(text(path))["resources"]

    def every(stem):
        return [one for path in sorted(glob.glob(f"{tree}/{group}/{stem}/**/*.json", recursive=True))
                for one in any_(path)]
    admin = "type.googleapis.com/envoy.admin.v3."
    return {"configs": [
        {"@type": admin + "BootstrapConfigDump", "bootstrap": {
            "node": {"id": "n1", "cluster": "c", "user_agent_name": "envoy",
                     "extensions": [{"name": "x"}]},
            "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}}}},
        {"@type": admin + "ClustersConfigDump", "dynamic_active_clusters": [
            {"version_info": "1", "cluster": one} for one in every("cds")]},
        {"@type": admin + "ListenersConfigDump", "dynamic_listeners": [
            {"name": one["name"], "active_state": {"version_info": "1", "listener": one}}
            for one in every("lds")]},
        {"@type": admin + "RoutesConfigDump", "dynamic_route_configs": [
            {"route_config": one} for one in every("rds")]},
        {"@type": admin + "ScopedRoutesConfigDump", "dynamic_scoped_route_configs": [
            {"name": "s", "scoped_route_configs": every("srds")}]},
        {"@type": admin + "EndpointsConfigDump", "dynamic_endpoint_configs": [
            {"endpoint_config": one} for one in every("eds")]},
        {"@type": admin + "SecretsConfigDump", "dynamic_active_secrets": [
            {"name": one["name"], "secret": one} for one in every("sds")]},
        {"@type": admin + "EcdsConfigDump", "ecds_filters": [
            {"ecds_filter": one} for one in every("ecds")]}]}


def dumps():
    """a config dump with everything of an example: the same versions, but for runtime layers"""
    for name in ("edge-proxy", "front-proxy", "mutual-tls", "scoped-routes", "credential-injection",
                 "regions", "weighted-clusters"):
        fresh("out", "tree", "again")
        assert xdspub("build", f"{SOURCE}/examples/{name}", "-o", "out", "--format",
                      "json").returncode == 0
        group = sorted(one for one in os.listdir("out") if not one.startswith("."))[0]
        write("dump.json", json.dumps(config_dump("out", group)))
        result = import_("--config-dump", "dump.json", "-o", "tree")
        assert "warning" not in result.stderr, result
        assert xdspub("build", "tree", "-o", "again", "--format", "json").returncode == 0
        for path in glob.glob(f"out/{group}/**/*.json", recursive=True):
            compare(path, path.replace(f"out/{group}", "again/default"),
                    f"{SOURCE}/examples/{name}")
        rest = message("tree/_bootstrap.yaml", BOOTSTRAP)
        assert rest["node"] == {"id": "n1", "cluster": "c"}, rest


def dump_states():
    """what is warming, draining, refused or redacted is said; what Envoy adds is taken out"""
    cluster = {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a",
               "type": "EDS", "eds_cluster_config": {"eds_config": ADS}}
    listener = {"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "l",
                "address": {"socket_address": {"address": "::", "port_value": 1}}}
    secret = {"@type": "type.googleapis.com/" + TYPES["secrets"], "name": "s",
              "tls_certificate": {"certificate_chain": {"filename": "/c"},
                                  "private_key": {"inline_bytes": "W3JlZGFjdGVkXQ=="}}}
    load = {"@type": "type.googleapis.com/" + TYPES["endpoints"], "cluster_name": "a",
            "endpoints": [{"locality": {}, "load_balancing_weight": 0, "lb_endpoints": [
                {"endpoint": {"address": {"pipe": {"path": "/x"}}, "health_check_config": {}},
                 "health_status": "HEALTHY", "load_balancing_weight": 1}]}],
            "policy": {"overprovisioning_factor": 140}}
    admin = "type.googleapis.com/envoy.admin.v3."
    dump = {"configs": [
        {"@type": admin + "ClustersConfigDump",
         "dynamic_active_clusters": [{"cluster": cluster}],
         "dynamic_warming_clusters": [{"cluster": dict(cluster, name="w")}]},
        {"@type": admin + "ListenersConfigDump", "dynamic_listeners": [
            {"name": "l", "active_state": {"listener": listener},
             "draining_state": {"listener": dict(listener, stat_prefix="old")},
             "error_state": {"details": "no such thing"}}]},
        {"@type": admin + "EndpointsConfigDump", "static_endpoint_configs": [
            {"endpoint_config": load}, {"endpoint_config": dict(load, cluster_name="static")}]},
        {"@type": admin + "SecretsConfigDump", "dynamic_active_secrets": [{"secret": secret}]}]}
    write("dump.json", json.dumps(dump))
    fresh("tree")
    result = import_("--config-dump", "dump.json", "-o", "tree")
    for part in ("a cluster \"w\" is still warming", "[import-not-active]", "no such thing",
                 "[import-refused]", "[import-redacted]"):
        assert part in result.stderr, (part, result)
    assert os.listdir("tree/clusters") == ["a.yaml"] and os.listdir("tree/endpoints") == ["a.yaml"]
    assert message("tree/endpoints/a.yaml", TYPES["endpoints"]) == {
        "cluster_name": "a",
        "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"pipe": {"path": "/x"}}}}]}]}
    assert os.listdir("tree/secrets") == ["_s.yaml"]
    assert "[redacted]" in text("tree/secrets/_s.yaml")
    del dump["configs"][2]
    write("dump.json", json.dumps(dump))
    assert "[import-no-endpoints]" in import_("--config-dump", "dump.json", "-o", "tree2").stderr


class Admin(http.server.BaseHTTPRequestHandler):
    """An admin interface like Envoy's: HTTP/1.1 only, in chunks."""
    protocol_version = "HTTP/1.1"
    body, ending, paths = b"", b"0\r\n\r\n", []

    def do_GET(self):
        Admin.paths.append(self.path)
        if self.request_version != "HTTP/1.1":
            self.send_error(426)
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for start in range(0, len(Admin.body), 1000):
            part = Admin.body[start:start + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(Admin.ending)
        self.close_connection = True

    def log_message(self, *_):
        pass


def over_http():
    """--config-dump URL asks the admin interface; half an answer is no answer"""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Admin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    fresh("out", "tree", "t2", "t3")
    assert xdspub("build", f"{SOURCE}/examples/front-proxy", "-o", "out", "--format",
                  "json").returncode == 0
    Admin.body = json.dumps(config_dump("out", "default")).encode()
    address = "127.0.0.1:%d" % server.server_address[1]
    import_("--config-dump", f"http://{address}", "-o", "tree")
    assert len(os.listdir("tree/listeners")) == 2
    import_("--config-dump", address, "-o", "t2")
    assert set(Admin.paths) == {"/config_dump?include_eds"}
    Admin.ending = b""
    result = import_("--config-dump", address, "-o", "t3", status=3)
    assert "no good answer" in result.stderr and not os.path.exists("t3"), result
    server.shutdown()
    server.server_close()
    result = import_("--config-dump", address, "-o", "t3", status=3)
    assert not os.path.exists("t3"), result


def all_or_nothing():
    """a target with something in it is refused or put aside; errors leave nothing behind"""
    fresh("tree", "tree.old-1", "tree.old-2")
    os.mkdir("tree")
    source = f"{DATA}/front-proxy.yaml"
    import_(source, "-o", "tree/")
    result = import_(source, "-o", "tree", status=1)
    assert "--force" in result.stderr, result
    write("tree/mine", "kept")
    result = import_(source, "-o", "tree", "--force")
    assert text("tree.old-1/mine") == "kept" and "tree.old-1" in result.stdout
    import_(source, "-o", "tree", "--force")
    assert os.path.isdir("tree.old-2")
    before = sorted(os.listdir("."))
    bad = text(source).replace("lb_policy", "lb_polcy")
    write("bad.yaml", bad)
    result = import_("bad.yaml", "-o", "new", status=1)
    assert 'did you mean "lb_policy"?' in result.stderr and "nothing was written" in result.stderr
    write("bad.yaml", text(source).replace("prefix: \"/catalog\"", "prefix: 1, path: x"))
    import_("bad.yaml", "-o", "new", status=1)
    write("bad.yaml", text(source).replace("port_value: 10000", "port_value: 100000"))
    result = import_("bad.yaml", "-o", "new", status=1)
    assert "bad.yaml:" in result.stderr, result
    import_(source, source, "-o", "new", status=1)
    assert sorted(set(os.listdir(".")) - {"bad.yaml"}) == sorted(set(before) - {"bad.yaml"})
    for arguments in ((), (source,), ("-o", "new"), (source, "-o", "new", "--split", "x"),
                      (source, "-o", "new", "--mode", "x"),
                      (source, "-o", "new", "--address", "nowhere")):
        import_(*arguments, status=2)


def hostile():
    """giant, deep, cyclic, empty and odd input: a diagnostic, never a crash"""
    head = "static_resources:\n  clusters:\n"
    laughs = "x: &a0 [y]\n" + "".join(
        f"x{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]\n" for i in range(1, 12))
    many = head + "".join(f"  - name: c{i}\n  # about the next\n" for i in range(3000))
    for name, content in (("empty", ""), ("scalar", "x"), ("list", "- 1\n"), ("null", "null\n"),
                          ("deep", head + "  - " + "{a: " * 300 + "}" * 300),
                          ("cycle", head + "  - &x\n    name: a\n    metadata: *x\n"),
                          ("laughs", laughs), ("odd", "static_resources: [1, 2]\n"),
                          ("items", head + "  - 1\n  - [a]\n  - {}\n"),
                          ("bytes", "static_resources: \"\\0\"\n"),
                          ("names", head + "  - name: ''\n")):
        write(f"{name}.yaml", content)
        result = import_(f"{name}.yaml", "-o", "never", status=1)
        assert "error:" in result.stderr and not os.path.exists("never"), (name, result)
        write(f"{name}.json", content)
        assert xdspub("import", "--config-dump", f"{name}.json", "-o", "never").returncode == 1
    write("many.yaml", many)
    fresh("many")
    import_("many.yaml", "-o", "many")
    assert len(os.listdir("many/clusters")) == 3000
    assert text("many/clusters/c7.yaml") == "# about the next\nname: c7\n"
    shutil.rmtree("many")
    names = ["a/b", "A", "a", "..", ".x", "_y", "x" * 300, "ü", "a b", "groups", "x~"]
    write("names.yaml", head + "".join(f"  - name: {json.dumps(one)}\n" for one in names))
    fresh("named")
    import_("names.yaml", "-o", "named")
    assert set(resources("named", "clusters")) == set(names)


if __name__ == "__main__":
    run([bootstraps, comments, examples, dumps, dump_states, over_http, all_or_nothing, hostile])
