#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON Schemas against an independent validator: each is a schema, every example passes, broken variants do not,
and nothing is refused that `xdspub check` has nothing to say about."""
import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

import yaml

try:
    warnings.simplefilter("ignore")
    import jsonschema
    from jsonschema import Draft202012Validator, RefResolver
except ImportError:
    print("1..0 # SKIP python3-jsonschema is missing")
    sys.exit(0)

PROGRAM = os.environ.get("XDSPUB", "./xdspub")
EXAMPLES = os.path.join(os.environ.get("top_srcdir", "."), "examples")
SHARED = "envoy.json"
NOT_FOLDERS = {"groups.json", "xdspub.json", "bootstrap.json", "resources.json", SHARED}
MUTATIONS = 300
results = []
schemas = {}
validators = {}


def test(function):
    results.append(function)
    return function


def need(condition, *context):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in context))


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# ---- YAML as an editor's language server reads it: version 1.2, tags of ours as what they stand on ----

class Loader(yaml.SafeLoader):
    def flatten_mapping(self, node):
        # `<<: !include x` has no mapping to merge: an editor sees an ordinary key.
        for key, value in node.value:
            if key.tag == "tag:yaml.org,2002:merge" and isinstance(value, yaml.ScalarNode):
                key.tag = "tag:yaml.org,2002:str"
        super().flatten_mapping(node)

    def construct_tagged(self, _suffix, node):
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if isinstance(node, yaml.MappingNode):
            return self.construct_mapping(node, deep=True)
        return self.construct_sequence(node, deep=True)


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [("bool", r"^(true|True|TRUE|false|False|FALSE)$", "tTfF"), ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
                            ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", "-+.0123456789"),
                            ("null", r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]), ("merge", r"^<<$", "<")]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(pattern), list(first))
Loader.add_multi_constructor("!", Loader.construct_tagged)


def documents(text):
    return list(yaml.load_all(text, Loader))


# ---- the validator ----

class Resolver(RefResolver):
    """All references are into one document: a walk, remembered."""

    def __init__(self, document):
        super().__init__("", document)
        self.document = document
        self.known = {}

    def resolve(self, ref):
        if ref not in self.known:
            at = self.document
            for part in ref[2:].split("/"):
                at = at[part]
            self.known[ref] = at
        return "", self.known[ref]


def validator(name):
    if name not in validators:
        document = json.loads(json.dumps(schemas[name]).replace(SHARED + "#", "#"))
        document["$defs"] = {**schemas[SHARED]["$defs"], **document.get("$defs", {})}
        validators[name] = Draft202012Validator(document, resolver=Resolver(document))
    return validators[name]


def errors(name, value):
    return list(validator(name).iter_errors(value))


def describe(error):
    best = jsonschema.exceptions.best_match([error])
    return f"{'/'.join(map(str, best.absolute_path))}: {best.message[:200]}"


def schema_for(path):
    """Which file of schemas an editor takes for a path, by the globs of the README."""
    parts, base = path.split(os.sep), os.path.basename(path)
    if base == "groups.yaml":
        return "groups.json"
    if base == "xdspub.yaml":
        return "xdspub.json"
    for part in reversed(parts[:-1]):
        for name in (part, part.replace("_", "-"), part.replace("-", "_")):
            if name + ".json" in schemas and name + ".json" not in NOT_FOLDERS:
                return name + ".json"
    return "bootstrap.json" if base.startswith("envoy") or "bootstrap" in base else "resources.json"


def examples():
    for root, _, names in os.walk(EXAMPLES):
        for name in sorted(names):
            path = os.path.join(root, name)
            inner = os.path.relpath(path, EXAMPLES)
            if re.search(r"\.(ya?ml|json)$", name) and not re.search(r"(^|/)[_.]", inner):
                with open(path, encoding="utf-8") as file:
                    yield inner, file.read()


# ---- tests ----

@test
def each_is_a_schema(_):
    need(SHARED in schemas and len(schemas) > 12, sorted(schemas))
    for name, document in schemas.items():
        need(document["$schema"] == "https://json-schema.org/draft/2020-12/schema", name)
        Draft202012Validator.check_schema(document)


@test
def references_lead_somewhere(_):
    names = schemas[SHARED]["$defs"]
    for name, document in schemas.items():
        for ref in set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(document))):
            file, _, pointer = ref.partition("#/$defs/")
            at = schemas[file or name]["$defs"]
            for part in pointer.split("/"):
                need(part in at, name, ref)
                at = at[part]
    need("envoy.config.cluster.v3.Cluster" in names)


@test
def examples_pass(_):
    count = 0
    for path, text in examples():
        name = schema_for(path)
        for document in documents(text):
            found = errors(name, document)
            need(not found, path, name, *[describe(error) for error in found[:3]])
            count += 1
    need(count > 100, count)


GOOD = [
    ("clusters", "name: a"),
    ("clusters", "{name: a, lbPolicy: MAGLEV, connectTimeout: 0.25s}"),
    ("clusters", "{name: a, lb_policy: 5}"),
    ("clusters", "- {name: a}\n- name: b\n"),
    ("clusters", "version_info: x\nresources:\n- '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: a\n"),
    ("clusters", "name: a\n---\nname: b\n"),
    ("clusters", "- !delete {name: gone}"),
    ("clusters", "'@type': type.googleapis.com/envoy.service.discovery.v3.Resource\nname: a\nttl: 5s\nresource:\n"
                 "  '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: a\n"),
    ("clusters", "name: a\nper_connection_buffer_limit_bytes: '32768'\n"),
    ("clusters", "name: a\nload_assignment: !include _parts/a.yaml\nhealth_checks: !include _parts/b.yml\n"),
    ("clusters", "name: a\nmetadata: {filter_metadata: {x: {any: [thing, 1, null]}}}\n"),
    ("clusters", "name: 1.10\nlb_policy: !include _parts/policy.yaml\n"),
    ("clusters", "<<: !include _parts/base.yaml\nname: a\n"),
    ("endpoints", "cluster_name: a\nendpoints: [{priority: 1, load_balancing_weight: 3}]\n"),
    ("endpoints", "- !delete {name: a}\n- !delete {cluster_name: b}\n"),
    ("secrets", "name: a\ntls_certificate: {certificate_chain: {inline_string: !file a.pem}, privateKey: {filename: /k}}\n"),
    ("runtime", "name: a\nlayer: {x: {y: 1}}\n"),
    ("listeners", "name: a\naddress: {socketAddress: {address: 0.0.0.0, portValue: 80}}\nfilter_chains:\n- filters:\n"
                  "  - name: x\n    typed_config:\n"
                  "      '@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy\n"
                  "      stat_prefix: x\n      cluster: y\n"),
    ("listeners", "name: a\naddress: {socket_address: {address: '::', port_value: 80}}\nlistener_filters:\n- name: x\n"
                  "  typedConfig: {'@type': type.googleapis.com/google.protobuf.Empty}\n"),
    ("extension_configs", "name: a\ntyped_config: {'@type': type.googleapis.com/google.protobuf.StringValue, value: x}\n"),
    ("routes", "name: a\nvirtual_hosts: [{name: b, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: c}}]}]\n"),
    ("virtual-hosts", "name: b\ndomains: [a.b]\n"),
    ("scoped-routes", "name: a\nroute_configuration_name: b\nkey: {fragments: [{string_key: x}]}\n"),
    ("groups", "groups: [{name: a, layers: [.]}]"),
    ("groups", "isolate: tree\ngroups:\n- name: edge-{1}\n  each: env/*\n  layers: ['env/{1}']\n  at_least: {clusters: 3, virtual_hosts: 1}\n"
               "  match:\n  - cluster: [a, {prefix: b, ignore_case: true}]\n  - {locality: {subZone: x}, metadata: {a: {b: [1, true]}}}\n"),
    ("xdspub", "source: {path: /a}\nrest: {listen: '127.0.0.1:1'}\ngrpc: {listen: ['unix:/x', '[::1]:2'], threads: 2}\n"
               "settle: {quiet: 1m30s, limit: 0}\nlimits: {source_file: 4MiB, rest_body: 4096}\npublish: {mode: '0640'}\n"),
    ("xdspub", "source:\n- {path: /a}\n- {path: /b, at: live/eds, only: [{type: EDS, name: {prefix: a}}], settle: {quiet: 2s}}\n"),
    ("groups", "groups: [{name: a, layers: [.], external: {clusters: [a, 'b*', {prefix: c}], scoped_routes: []}}]\nignore: [string.len]\n"),
    ("resources", "resources: [{'@type': type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a}]"),
]

# Each with what has to be in the path or the text of an error.
BAD = [
    ("clusters", "{name: a, lb_polcy: MAGLEV}", "lb_polcy"),
    ("clusters", "{name: a, lb_policy: MAGLEVE}", "lb_policy"),
    ("clusters", "{name: a, lb_policy: 77}", "lb_policy"),
    ("clusters", "{name: a, connect_timeout: 250ms}", "connect_timeout"),
    ("clusters", "{name: a, connect_timeout: 0s}", "connect_timeout"),
    ("clusters", "{name: a, connectTimeout: -1s}", "connectTimeout"),
    ("clusters", "{name: a, type: EDS, cluster_type: {name: x}}", "cluster_type"),
    ("clusters", "{name: a, type: EDS, clusterType: {name: x}}", "clusterType"),
    ("clusters", "{name: a, per_connection_buffer_limit_bytes: -1}", "per_connection_buffer_limit_bytes"),
    ("clusters", "{name: a, per_connection_buffer_limit_bytes: 4294967296}", "per_connection_buffer_limit_bytes"),
    ("clusters", "{name: a, per_connection_buffer_limit_bytes: many}", "per_connection_buffer_limit_bytes"),
    ("clusters", "{name: a, health_checks: {timeout: 1s}}", "health_checks"),
    ("clusters", "{name: a, health_checks: [{timeout: 1s}]}", "health_checks"),
    ("clusters", "{connect_timeout: 1s}", "name"),
    ("clusters", "{name: ''}", "name"),
    ("clusters", "just a text", "just a text"),
    ("clusters", "- {name: a}\n- {name: b, tpye: EDS}\n", "tpye"),
    ("clusters", "resources:\n- {name: b, tpye: EDS}\n", "tpye"),
    ("clusters", "resources:\n- {'@type': type.googleapis.com/envoy.config.listener.v3.Listener, name: b}\n", "@type"),
    ("clusters", "'@type': type.googleapis.com/envoy.service.discovery.v3.Resource\nttl: 5\nresource: {}\n", "ttl"),
    ("clusters", "{name: a, load_assignment: {cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {address: {}}}]}]}}", "address"),
    ("clusters", "{name: a, dns_refresh_rate: 0.0001s, lb_subset_config: {fallback_policy: 9}}", "fallback_policy"),
    ("listeners", "name: a\nfilter_chains:\n- filters:\n  - name: x\n    typed_config:\n"
                  "      '@type': type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy\n"
                  "      stat_prefix: x\n      clustre: y\n", "clustre"),
    ("listeners", "name: a\nfilter_chains: [{filters: [{name: x, typed_config: {stat_prefix: x}}]}]\n", "@type"),
    ("listeners", "name: a\nfilter_chains: [{filters: [{typed_config: !include x.yaml}]}]\n", "name"),
    ("extension_configs", "name: a\ntyped_config: {'@type': type.googleapis.com/google.protobuf.UInt32Value, value: x}\n", "value"),
    ("routes", "name: a\nvirtual_hosts: [{name: b, domains: []}]\n", "domains"),
    ("routes", "name: a\nvirtual_hosts: [{name: b}]\n", "domains"),
    ("routes", "name: a\nvirtual_hosts: [{name: b, domains: [x], routes: [{match: {}, route: {cluster: c}}]}]\n", "match"),
    ("virtual-hosts", "{name: b, domains: [a.b], require_tls: SOME}", "require_tls"),
    ("groups", "groups: [{name: a}]", "layers"),
    ("groups", "groups: [{name: A B, layers: [.]}]", "name"),
    ("groups", "groups: []", "groups"),
    ("groups", "groups: [{name: a, layers: [.], mach: {cluster: x}}]", "mach"),
    ("groups", "groups: [{name: a, layers: [.], match: {clustr: x}}]", "clustr"),
    ("groups", "groups: [{name: a, layers: [.], match: {cluster: {prefx: x}}}]", "prefx"),
    ("groups", "groups: [{name: a, layers: [.], at_least: {cluster: 1}}]", "cluster"),
    ("groups", "groups: [{name: a, layers: [.]}]\nisolate: all", "isolate"),
    ("groups", "groups: [{name: a, layers: [.], external: {cluster: [a]}}]", "cluster"),
    ("xdspub", "source: [{path: /a}, {path: /b, at: x, only: [{type: XDS}]}]", "type"),
    ("xdspub", "source: [{pth: /a}]", "pth"),
    ("xdspub", "settle: {quiet: fast}", "quiet"),
    ("xdspub", "setle: {quiet: 1s}", "setle"),
    ("xdspub", "grpc: {threads: 65}", "threads"),
    ("xdspub", "log: {level: loud}", "level"),
    ("xdspub", "rest: {listen: [nowhere]}", "listen"),
    ("resources", "{name: a}", "@type"),
    ("resources", "{'@type': type.googleapis.com/envoy.config.core.v3.Node, id: a}", "@type"),
]


def tell(name, text):
    found = [error for document in documents(text) for error in errors(name + ".json", document)]

    def flat(error):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for inner in error.context or []:
            yield from flat(inner)
    return [line for error in found for line in flat(error)]


@test
def good_variants_pass(_):
    for name, text in GOOD:
        need(not tell(name, text), name, text, tell(name, text)[:3])


@test
def broken_variants_fail(_):
    for name, text, part in BAD:
        lines = tell(name, text)
        need(lines, name, text, "passes")
        need(any(part in line for line in lines), name, text, part, lines[:5])


def check_tree(folder, files):
    """What `xdspub check` says of files, each in a layer of its own: the set of those with a finding."""
    groups = []
    for number, (name, document) in enumerate(files):
        os.makedirs(os.path.join(folder, f"m{number}", name))
        with open(os.path.join(folder, f"m{number}", name, "x.json"), "w", encoding="utf-8") as file:
            json.dump(document, file)
        groups.append({"name": f"m{number}", "match": {"cluster": f"m{number}"}, "layers": [f"m{number}"], "allow_empty": True})
    with open(os.path.join(folder, "groups.yaml"), "w", encoding="utf-8") as file:
        json.dump({"groups": groups}, file)
    status, out, problem = run("check", folder, "--json", "--all")
    need(status in (0, 1) and problem == "", status, problem)
    return {int(match.group(1)) for diag in json.loads(out)["diagnostics"]
            for match in [re.search(r"/m([0-9]+)/", diag["path"])] if match}


def places(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, path + (key,))


def mutate(value, source):
    value = copy.deepcopy(value)
    path = source.choice([path for path in places(value) if path])
    at = value
    for key in path[:-1]:
        at = at[key]
    kind = source.randrange(5)
    if kind == 0:
        del at[path[-1]]
    elif kind == 1 and isinstance(at, dict):
        at[path[-1] + source.choice("xs_")] = at.pop(path[-1])
    elif kind == 2 and isinstance(at, dict):
        name = re.sub("_([a-z])", lambda match: match.group(1).upper(), path[-1])
        at[name] = at.pop(path[-1])
    else:
        at[path[-1]] = source.choice([0, -1, 1, 2 ** 33, "5", "x", "1s", "0s", "", True, None, {}, [], [{}], {"a": 1}, 1.5])
    return value


@test
def no_false_alarm(folder):
    source = random.Random(int(os.environ.get("SEED", "7")))
    sources = [(schema_for(path), document) for path, text in examples() if "!" not in text and "<<" not in text
               for document in documents(text)[:1] if isinstance(document, dict) and schema_for(path) not in NOT_FOLDERS]
    files = []
    while len(files) < MUTATIONS:
        name, document = source.choice(sources)
        files.append((name[:-5], mutate(document, source)))
    found = check_tree(folder, files)
    refused = {number for number, (name, document) in enumerate(files) if errors(name + ".json", document)}
    for number in sorted(refused - found):
        raise AssertionError(f"{files[number]}: {describe(errors(files[number][0] + '.json', files[number][1])[0])}")
    need(len(refused) > MUTATIONS / 4, len(refused), "of", MUTATIONS, "refused,", len(found), "by xdspub")
    print(f"# of {MUTATIONS} mutated files xdspub refuses or warns of {len(found)}, the schemas refuse {len(refused)} of them")


@test
def one_document(folder):
    for name, text, good in [("cluster", "{name: a}", True), ("cluster", "{nam: a}", False), ("Bootstrap", "{node: {id: x}}", True),
                             ("groups.yaml", "groups: [{name: a, layers: [.]}]", True), ("xdspub.yaml", "{a: b}", False),
                             ("cluster.lb_subset_config", "{fallbackPolicy: ANY_ENDPOINT}", True)]:
        status, out, problem = run("schema", "--json-schema", name)
        need(status == 0 and problem == "", name, problem)
        document = json.loads(out)
        found = list(Draft202012Validator(document, resolver=Resolver(document)).iter_errors(documents(text)[0]))
        need(bool(found) != good, name, text, found[:1])
    for arguments in [["--json-schema"], ["--json-schema", "--all"], ["--all", "-o", folder], ["cluster"],
                      ["--json-schema", "cluster", "--all", "-o", folder]]:
        need(run("schema", *arguments)[0] == 2, arguments)
    status, _, problem = run("schema", "--json-schema", "clustr.name")
    need(status == 1 and "unknown type" in problem, problem)
    need(run("schema", "--json-schema", "cluster.name")[0] == 1)
    need(run("schema", "--json-schema", "--all", "-o", os.path.join(folder, "f", "x"))[0] == 0)
    with open(os.path.join(folder, "file"), "w", encoding="utf-8"):
        pass
    need(run("schema", "--json-schema", "--all", "-o", os.path.join(folder, "file"))[0] == 1)


@test
def what_the_schema_is(_):
    status, out, _ = run("schema")
    need(status == 0 and "envoy.pb" in out and "envoy.config.cluster.v3.Cluster" in out, out)
    got = json.loads(run("schema", "--json")[1])
    need(got["files"] > 300 and got["comments"] > 3000 and got["message_count"] > 1000, {key: got[key] for key in ("files", "comments")})
    lines = run("schema", "--list")[1].splitlines()
    need("envoy.extensions.filters.http.router.v3.Router  envoy.filters.http.router" in lines, len(lines))
    need(len(lines) == got["message_count"], len(lines))


def main():
    print(f"1..{len(results)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        status, _, problem = run("schema", "--json-schema", "--all", "-o", folder)
        if status or problem:
            print(f"Bail out! {status} {problem}")
            return 1
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                schemas[name] = json.load(file)
    for number, function in enumerate(results, 1):
        name = function.__name__.replace("_", " ")
        try:
            with tempfile.TemporaryDirectory() as folder:
                function(folder)
            print(f"ok {number} - {name}")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in f"{type(error).__name__}: {error}"[:3000].splitlines()))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
