#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check --with-envoy: what a real Envoy refuses is told at the resource it is about; what is no Envoy, or
does not end, is told too. The stand-ins are programs that do what an Envoy would not."""
import glob
import json
import os
import stat

from daemon_lib import fresh, run, write, xdspub
from envoy_lib import find_envoy

EXAMPLES = os.path.join(os.environ["top_srcdir"], "examples")
MANAGER = ("type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3."
           "HttpConnectionManager")


def tree():
    fresh("tree")
    write("tree/clusters/good.yaml", "name: good\n")
    write("tree/clusters/eds.yaml", "# dynamic\nname: dynamic\ntype: EDS\n"
          "eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}\n")
    write("tree/endpoints/dynamic.yaml", "cluster_name: dynamic\nendpoints: [{lb_endpoints: [{endpoint: "
          "{address: {socket_address: {address: 127.0.0.1, port_value: 80}}}}]}]\n")
    write("tree/routes/r.yaml", "name: r\nvirtual_hosts: [{name: v, domains: ['*'], routes: [{match: "
          "{prefix: /}, route: {cluster: good}}, {match: {prefix: /x}, route: {cluster: of-the-bootstrap}}]}]\n")
    write("tree/listeners/l.yaml", f"""name: l
address: {{pipe: {{path: l.sock}}}}
filter_chains:
- filters:
  - name: hcm
    typed_config:
      "@type": {MANAGER}
      stat_prefix: l
      rds: {{route_config_name: r, config_source: {{path_config_source: {{path: /nowhere/rds.yaml}}, resource_api_version: V3}}}}
      http_filters:
      - name: router
        typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
""")
    write("tree/groups.yaml", "external: {clusters: [of-the-bootstrap]}\n"
          "groups: [{name: edge, layers: [.]}]\n")


def stand_in(text):
    write("envoy", "#!/bin/sh\n" + text)
    os.chmod("envoy", stat.S_IRWXU)
    return os.path.abspath("envoy")


def check(envoy, *arguments):
    result = xdspub("check", "tree", "--with-envoy", envoy, "-fjson", "--select", "envoy-*", *arguments)
    found = [d for d in json.loads(result.stdout)["diagnostics"] if d["rule"].startswith("envoy-")]
    return result, [(d.get("path", ""), d["line"], d["rule"]) for d in found], found


def accepted():
    """a good group and every example, whatever is dynamic in them"""
    tree()
    result, places, found = check(find_envoy(), "--strict")
    assert result.returncode == 0 and not places, found
    for folder in sorted(glob.glob(os.path.join(EXAMPLES, "*/"))):
        groups = ("--group", "web-001") if "sidecars" in folder else ()
        result = xdspub("check", folder, "--with-envoy", find_envoy(), "--select", "envoy-*", *groups)
        assert "[envoy-refused]" not in result.stdout and result.returncode == 0, result.stdout
    for path in sorted(glob.glob(os.path.join(EXAMPLES, "envoy-*.yaml"))):
        result = xdspub("check", path, "--with-envoy", find_envoy(), "--strict")
        assert (result.returncode, result.stdout) == (0, ""), result


def refused():
    """each resource that Envoy refuses, in one run, at its place"""
    tree()
    write("tree/clusters/bad.yaml", "name: fine\n---\n# comment\nname: bad\nload_assignment: {cluster_name: bad, "
          "endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: no.ip, port_value: 80}}}}]}]}\n")
    write("tree/endpoints/dynamic.yaml", "cluster_name: dynamic\nendpoints: [{lb_endpoints: [{endpoint: "
          "{address: {socket_address: {address: neither.ip, port_value: 80}}}}]}]\n")
    write("tree/routes/r.yaml", "name: r\nvirtual_hosts: [{name: v, domains: ['*'], routes: [{match: "
          "{safe_regex: {regex: '(?P<a'}}, route: {cluster: good}}]}]\n")
    result, places, found = check(find_envoy())
    assert result.returncode == 1, result
    assert places == [("tree/clusters/bad.yaml", 4, "envoy-refused"), ("tree/clusters/eds.yaml", 2, "envoy-refused"),
                      ("tree/listeners/l.yaml", 1, "envoy-refused")], found
    assert all('(group "edge")' in d["text"] for d in found), found
    write("tree/clusters/bad.yaml", "name: good\n")
    write("b.yaml", "static_resources: {clusters: [{name: bad, load_assignment: {cluster_name: bad, endpoints: "
          "[{lb_endpoints: [{endpoint: {address: {socket_address: {address: no.ip, port_value: 80}}}}]}]}}]}\n")
    result = xdspub("check", "b.yaml", "--with-envoy", find_envoy())
    assert result.returncode == 1 and "b.yaml: error: Envoy: " in result.stdout, result


def host_files():
    """files of the Envoy host are no errors"""
    tree()
    write("tree/clusters/tls.yaml", """name: tls
transport_socket:
  name: tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    common_tls_context: {validation_context: {trusted_ca: {filename: /nowhere/ca.pem}}}
""")
    result, places, found = check(find_envoy())
    assert result.returncode == 0 and places == [("tree/clusters/tls.yaml", 1, "envoy-unsure")], found


def others():
    """programs that are no Envoy, hang, flood, or cannot be run"""
    tree()
    for script, text in ((None, "cannot be run"), ("exit 3\n", "status 3"), ("kill -9 $$\n", "status 137"),
                         ("yes | head -c 5000000\nexit 1\n", "no reason"),
                         ("printf '\\000\\377\\033[2J'\nexit 1\n", "no reason")):
        result, _, found = check(stand_in(script) if script else "./nothing-here")
        assert result.returncode == 1 and len(found) == 1, (script, result)
        assert found[0]["rule"] == "envoy-failed" and text in found[0]["text"], found
    # A child that does not end is ended, and those that it started.
    result, _, found = check(stand_in("sleep 1000 &\nsleep 1000\n"), "--envoy-timeout", "300ms")
    assert result.returncode == 1 and "said nothing" in found[0]["text"], found
    # It is asked for a bounded number of times, whatever it says.
    envoy = stand_in("echo x >>calls\necho \"[critical] error initializing configuration '$4': "
                     "unknown cluster 'c$$'\"\nexit 1\n")
    check(envoy)
    with open("calls") as file:
        assert 1 < len(file.readlines()) <= 20
    os.remove("calls")
    check(stand_in("echo x >>calls\necho '[critical] no'\nexit 1\n"))
    with open("calls") as file:
        assert len(file.readlines()) < 50
    assert xdspub("check", "tree", "--with-envoy", envoy, "--envoy-timeout", "soon").returncode == 2


def private():
    """the bootstrap is for the user alone, has the group's secrets, and is gone afterwards"""
    tree()
    write("tree/secrets/s.yaml", "name: s\ngeneric_secret: {secret: {inline_string: hunter2}}\n")
    envoy = stand_in("stat -c %a \"$4\" \"$(dirname \"$4\")\" >modes\ncp \"$4\" seen.json\necho \"$4\" >where\n")
    result, _, found = check(envoy)
    assert result.returncode == 0 and not found, found
    with open("modes") as file:
        assert file.read().split() == ["600", "700"]
    with open("where") as file:
        path = file.read().strip()
    assert not os.path.exists(path) and not os.path.exists(os.path.dirname(path))
    with open("seen.json") as file:
        static = json.load(file)["static_resources"]
    assert static["secrets"][0]["name"] == "s" and "hunter2" not in result.stdout
    manager = static["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]
    assert manager["route_config"]["name"] == "r" and "rds" not in manager
    assert "load_assignment" in [c for c in static["clusters"] if c["name"] == "dynamic"][0]


if __name__ == "__main__":
    tests = [others, private]
    if find_envoy() or os.environ.get("XDSPUB_REQUIRE_CLIENTS"):
        tests = [accepted, refused, host_files] + tests
    else:
        print("# no real Envoy was fetched: only stand-ins")
    run(tests)
