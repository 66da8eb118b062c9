#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Open config sources: one tree over files, REST and gRPC of every kind, each with its own sources
in the same places and all with the same versions; read back with python3-protobuf."""
import json
import os
import signal

import yaml
from google.protobuf import json_format, text_format

from daemon_lib import endpoints, fresh, run, wait_for, write, xdspub
from grpc_lib import (DISCOVERY, POOL, TYPES, Delta, DiscoveryResponse, GrpcDaemon, Sotw, message,
                      one_change, until_group_serves)
from rest_lib import Client

CSDS = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus"
FORMATS = ("yaml", "json", "pb", "pb_text")
OPTIONS = [word for name in FORMATS for word in ("--format", name)]
SOURCES = """
config_sources:
  rest: {api_config_source: {cluster_names: [xds], refresh_delay: 0.5s, request_timeout: 60s}}
  grpc: {api_config_source: {grpc_services: [{envoy_grpc: {cluster_name: xds}}]}}
"""
GROUPS = "groups: [{name: edge, layers: [.]}]\n"
HCM = ("type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3."
       "HttpConnectionManager")
TLS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"

API, V3 = {"transport_api_version": "V3"}, {"resource_api_version": "V3"}
GRPC = {"grpc_services": [{"envoy_grpc": {"cluster_name": "xds"}}], **API}
WANT = {  # what stands in an open source
    "rest": {"api_config_source": {"api_type": "REST", "cluster_names": ["xds"],
                                   "refresh_delay": "0.500s", "request_timeout": "60s", **API},
             **V3},
    "ads": {"ads": {}, **V3},
    "grpc": {"api_config_source": {"api_type": "GRPC", **GRPC}, **V3},
    "delta": {"api_config_source": {"api_type": "DELTA_GRPC", **GRPC}, **V3},
    "self": {"self": {}, **V3},
}


def file_source(seen_as, extension, stem, name, group="edge"):
    path = f"{seen_as}/{group}/{stem}/{name}/{stem}.{extension}"
    return {"path_config_source": {"path": path}, **V3}


def cluster(name, extra=""):
    return f"name: {name}\ntype: EDS\neds_cluster_config: {{eds_config: {{self: {{}}}}{extra}}}\n"


def write_tree(sources=SOURCES):
    fresh("tree", "out", "state")
    write("tree/groups.yaml", sources + GROUPS)
    for name in ("a", "b"):
        write(f"tree/endpoints/{name}.yaml", endpoints(name))
    write("tree/clusters/a.yaml", cluster("a"))
    write("tree/clusters/b.yaml", cluster("x/b", ", service_name: b") + f"""
transport_socket:
  name: tls
  typed_config:
    "@type": {TLS}
    common_tls_context:
      validation_context_sds_secret_config: {{name: ca, sds_config: {{}}}}
lrs_server: {{self: {{}}}}
""")
    write("tree/clusters/literal.yaml",
          "name: literal\ntype: EDS\neds_cluster_config: {eds_config: {ads: {}}}\n")
    write("tree/secrets/ca.yaml",
          "name: ca\nvalidation_context: {trusted_ca: {filename: /etc/ca.pem}}\n")
    write("tree/routes/r.yaml", "name: r\nvirtual_hosts: [{name: v, domains: ['*']}]\n")
    write("tree/listeners/l.yaml", f"""
name: l
address: {{socket_address: {{address: 0.0.0.0, port_value: 80}}}}
filter_chains:
- filters:
  - name: hcm
    typed_config:
      "@type": {HCM}
      stat_prefix: l
      rds: {{route_config_name: r, config_source: {{self: {{}}, initial_fetch_timeout: 7s}}}}
""")


def as_dict(body):
    return json_format.MessageToDict(body, preserving_proto_field_name=True, descriptor_pool=POOL)


def check_clusters(clusters, eds_a, eds_b, sds_ca):
    """Clusters as messages by name; what their sources must be."""
    found = {name: as_dict(body) for name, body in clusters.items()}
    assert sorted(found) == ["a", "literal", "x/b"], sorted(found)
    assert found["a"]["eds_cluster_config"]["eds_config"] == eds_a, found["a"]
    b = found["x/b"]
    assert b["eds_cluster_config"] == {"service_name": "b", "eds_config": eds_b}, b
    context = b["transport_socket"]["typed_config"]["common_tls_context"]
    assert context["validation_context_sds_secret_config"]["sds_config"] == sds_ca, context
    # A source that somebody wrote stays, and this one is no place to get resources from.
    assert found["literal"]["eds_cluster_config"]["eds_config"] == {"ads": {}}
    assert b["lrs_server"] == {"self": {}}


def check_listeners(listeners, rds):
    (body,) = listeners.values()
    (chain,) = as_dict(body)["filter_chains"]
    source = chain["filters"][0]["typed_config"]["rds"]["config_source"]
    assert source == {**rds, "initial_fetch_timeout": "7s"}, source


def by_name(raw):
    """The resources of a DiscoveryResponse."""
    result = {}
    for item in raw.resources:
        body = message(item.type_url.split("/")[1]).FromString(item.value)
        result[body.name] = body
    return result


def parse_file(extension, data):
    """A published file, read as its format says."""
    if extension == "pb":
        return DiscoveryResponse.FromString(data)
    if extension == "pb_text":
        return text_format.Parse(data.decode(), DiscoveryResponse(), descriptor_pool=POOL)
    tree = yaml.safe_load(data) if extension == "yaml" else json.loads(data)
    return json_format.ParseDict(tree, DiscoveryResponse(), descriptor_pool=POOL)


def read_file(folder, extension, stem, group="edge"):
    with open(f"{folder}/{group}/{stem}/{stem}.{extension}", "rb") as file:
        return parse_file(extension, file.read())


def check_files(folder, seen_as, extension, group="edge"):
    """Versions of the sets in these files."""
    cds, lds = (read_file(folder, extension, stem, group) for stem in ("cds", "lds"))
    where = lambda stem, name: file_source(seen_as, extension, stem, name, group)  # noqa: E731
    check_clusters(by_name(cds), where("eds", "a"), where("eds", "b"), where("sds", "ca"))
    check_listeners(by_name(lds), where("rds", "r"))
    return {"CDS": cds.version_info, "LDS": lds.version_info}


def check_same(want):
    def check(raw_cds, raw_lds):
        check_clusters(raw_cds, want, want, want)
        check_listeners(raw_lds, want)
    return check


def check_rest(daemon, want):
    with Client(daemon.rest) as client:
        answers = {kind: client.poll(kind.lower()) for kind in ("CDS", "LDS")}
    raws = [json_format.ParseDict(answer.json, DiscoveryResponse(), descriptor_pool=POOL)
            for answer in answers.values()]
    check_same(want)(*map(by_name, raws))
    people = daemon.rest_answer("edge", "cds").json
    assert people["resources"] == answers["CDS"].json["resources"]
    return {kind: answer.version for kind, answer in answers.items()}


def check_csds(channel, want):
    """What client status shows is what the one stream that is open was sent."""
    code, text, body = channel.unary(CSDS, message("envoy.service.status.v3.ClientStatusRequest")())
    assert body is not None, (code, text)
    response = message("envoy.service.status.v3.ClientStatusResponse").FromString(body)
    bodies = {}
    for config in response.config:
        for item in config.generic_xds_configs:
            if item.HasField("xds_config") and item.type_url.endswith(".Cluster"):
                bodies[item.name] = message(TYPES["CDS"].message).FromString(item.xds_config.value)
    check_clusters(bodies, want, want, want)


def check_stream(daemon, kind_of_stream, want):
    """Versions on one kind of stream: (aggregated?, delta?)."""
    aggregated, delta = kind_of_stream
    versions, found = {}, {}
    for kind in ("CDS", "LDS"):
        with daemon.channel() as channel:
            form = Delta if delta else Sotw
            with form(channel, None if aggregated else kind) as stream:
                stream.ask(kind)
                response = stream.take(kind)
                if kind == "CDS":
                    wait_for("the client status", lambda: csds_is(channel, want))
            versions[kind], found[kind] = response.version, response.resources
    check_same(want)(found["CDS"], found["LDS"])
    return versions


def csds_is(channel, want):
    try:
        check_csds(channel, want)
        return True
    except AssertionError:
        return False


STREAMS = {(True, False): "ads", (True, True): "ads", (False, False): "grpc",
           (False, True): "delta"}


def check_everything(daemon, seen_as=None, want=None):
    """Every transport has its own sources and the versions of all others; returns them."""
    want = want or WANT
    daemon.until_idle()
    seen_as = seen_as or os.path.realpath("out")
    versions = [check_files("out", seen_as, extension) for extension in FORMATS]
    versions.append(check_rest(daemon, want["rest"]))
    for stream, name in STREAMS.items():
        versions.append(check_stream(daemon, stream, want[name]))
    with daemon.channel() as channel:
        fetched = channel.fetch("CDS")
        check_clusters(fetched.resources, want["grpc"], want["grpc"], want["grpc"])
        assert fetched.version == versions[0]["CDS"]
    assert all(other == versions[0] for other in versions), versions
    return versions[0]


def every_transport():
    """each transport fills in its own sources, with equal versions, over edits and restarts"""
    write_tree()
    with GrpcDaemon("tree", *OPTIONS) as daemon:
        first = check_everything(daemon)
        # An edit, while streams of both kinds hold the former.
        with daemon.channel() as channel, Sotw(channel) as ads, Delta(channel, "CDS") as single:
            ads.ask("CDS")
            assert ads.take("CDS").version == first["CDS"]
            single.ask()
            single.take()
            write("tree/clusters/a.yaml", cluster("a") + "connect_timeout: 3s\n")
            pushed, alone = ads.take("CDS"), single.take(names=["a"])
            assert pushed.version == alone.version != first["CDS"]
            ads.expect_silence()
            for response, name in ((pushed, "ads"), (alone, "delta")):
                source = as_dict(response.resources["a"])["eds_cluster_config"]["eds_config"]
                assert source == WANT[name], source
        second = check_everything(daemon)
        assert second["CDS"] == pushed.version and second["LDS"] == first["LDS"]
        daemon.kill()
    # A broken tree: the last good snapshot comes back from the state folder, whole.
    write("tree/clusters/a.yaml", "name: a\nno_such_field: 1\n")
    fresh("out")
    with GrpcDaemon("tree", *OPTIONS) as daemon:
        assert check_everything(daemon) == second
        assert daemon.group()["held"]
        write("tree/clusters/a.yaml", cluster("a"))
        daemon.until("the repaired tree", lambda s: not daemon.group(status=s)["held"])
        assert check_everything(daemon) == first


def groups_yaml():
    """an edit of config_sources changes the versions of what has open sources and nothing else"""
    write_tree("")
    want = dict(WANT, rest=WANT["self"], grpc=WANT["self"], delta=WANT["self"])
    with GrpcDaemon("tree", *OPTIONS) as daemon:
        first = check_everything(daemon, want=want)
        log = daemon.events("tree-warning") + [daemon.log()]
        assert any("open-config-source" in line for line in log), log[-1][-2000:]
        with daemon.channel() as channel, Delta(channel) as stream, Delta(channel, "EDS") as eds:
            stream.ask("CDS")
            before = stream.take("CDS").versions
            eds.ask(subscribe=["a"])
            eds.take(names=["a"])
            write("tree/groups.yaml", SOURCES + GROUPS)
            pushed = stream.take("CDS", ["a", "x/b"])
            assert pushed.versions["a"] != before["a"]
            stream.expect_silence()
            second = check_everything(daemon)
            # Only what has an open source that leads to secrets.
            write("tree/groups.yaml", SOURCES + "  files: {SDS: {ads: {}}}\n" + GROUPS)
            stream.take("CDS", ["x/b"])
            write("tree/groups.yaml", GROUPS)
            last = stream.take("CDS", ["a", "x/b"])
            assert {**before, **last.versions} == before
        assert check_everything(daemon, want=want) == first != second


def seen_as():
    """files are written again when Envoy sees them elsewhere; their versions stay"""
    write_tree()
    with GrpcDaemon("tree", *OPTIONS) as daemon:
        first = check_everything(daemon)
    inodes = {stem: os.stat(f"out/edge/{stem}.json").st_ino
              for stem in ("cds/cds", "lds/lds", "eds/a/eds")}
    with GrpcDaemon("tree", *OPTIONS) as daemon:
        check_everything(daemon)
    assert all(os.stat(f"out/edge/{stem}.json").st_ino == inode for stem, inode in inodes.items())
    with GrpcDaemon("tree", *OPTIONS, "--seen-as", "/etc/envoy/xds/") as daemon:
        assert check_everything(daemon, "/etc/envoy/xds") == first
        # What names no files is left alone.
        assert os.stat("out/edge/eds/a/eds.json").st_ino == inodes["eds/a/eds"]
        assert os.stat("out/edge/cds/cds.json").st_ino != inodes["cds/cds"]
        daemon.signal(signal.SIGHUP)
        daemon.until_ready()
    result = xdspub("build", "tree", "-o", "out2", *OPTIONS, "--seen-as", "relative")
    assert result.returncode != 0 and "must begin with" in result.stderr, result


def build():
    """xdspub build: as the daemon's files; groups with the same layers have paths of their own"""
    write_tree()
    write("tree/groups.yaml", SOURCES + "groups:\n- {name: edge, match: {id: e}, layers: [.]}\n"
          "- {name: other, layers: [.]}\n")
    fresh("out2")
    result = xdspub("build", "tree", "-o", "out2", *OPTIONS)
    assert result.returncode == 0 and "config-source" not in result.stderr, result
    for extension in FORMATS:
        versions = [check_files("out2", os.path.realpath("out2"), extension, group)
                    for group in ("edge", "other")]
        assert versions[0] == versions[1]
    result = xdspub("check", "tree")
    assert result.returncode == 0 and "config-source" not in result.stdout, result


def from_files_to_ads():
    """a fleet moves from files to ADS without an edit, and then the tree goes on changing"""
    write_tree("")
    with GrpcDaemon("tree", *OPTIONS, rest=False) as daemon:
        daemon.until_idle()
        # The client with files follows the paths it is given.
        files = {}
        for name, body in by_name(read_file("out", "json", "cds")).items():
            source = body.eds_cluster_config.eds_config
            if source.HasField("path_config_source"):
                with open(source.path_config_source.path, "rb") as file:
                    files[name] = parse_file("json", file.read())
        assert sorted(files) == ["a", "x/b"]
        with daemon.channel() as channel, Sotw(channel) as ads:
            ads.ask("CDS")
            response = ads.take("CDS")
            assert response.version == read_file("out", "json", "cds").version_info
            names = []
            for body in response.resources.values():
                assert body.eds_cluster_config.eds_config.HasField("ads")
                names.append(body.eds_cluster_config.service_name or body.name)
            ads.ask("EDS", [name for name in names if name != "literal"])
            ads.take("EDS", ["a", "b"])
            for name, raw in files.items():
                (item,) = raw.resources
                inner = "b" if name == "x/b" else name
                assert message(TYPES["EDS"].message).FromString(item.value).cluster_name == inner
            with one_change():
                write("tree/clusters/c.yaml", cluster("c"))
                write("tree/endpoints/c.yaml", endpoints("c"))
            version = ads.take("CDS").version
            until_group_serves(daemon, "CDS", version)
            daemon.until_idle()
            assert read_file("out", "json", "cds").version_info == version
            assert os.path.exists("out/edge/eds/c/eds.json")


if __name__ == "__main__":
    assert DISCOVERY
    run([every_transport, groups_yaml, seen_as, build, from_files_to_ads])
