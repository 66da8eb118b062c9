#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fleet against a slow, obvious model of it: layers, deletions, a group for each folder, parts,
virtual hosts as files, floors, and errors that hold groups. After each random commit the daemon,
which follows, and a build from scratch must both publish what the model says, byte for byte the
same; versions must stand for content, and for nothing else.

SEED=n for one tree, STEPS=n for its length.
"""
import json
import os
import random
import shutil
import subprocess

from daemon_lib import XDSPUB, Daemon, fresh, run

NAMES = [f"n{i}" for i in range(8)]
PARTS = ["one", "two", "three"]
ENVIRONMENTS, REGIONS = ["prod", "test"], ["eu", "us", "ap"]
DELETED = object()
LISTENER = "name: l\naddress: {socket_address: {address: 0.0.0.0, port_value: 8080}}\n"


class Model:
    """What the tree means, as plain data: layer -> name -> what is said about it."""

    def __init__(self, chance):
        self.chance = chance
        self.parts = {part: chance.randrange(1, 9) for part in PARTS}
        self.regions = {("prod", "eu")}
        self.clusters, self.hosts, self.endpoints = {}, {}, {}  # layer -> name -> value
        self.places = {}  # (layer, kind, name) -> file
        self.header = "x-0"
        self.is_reversed = False  # the order of two layers
        self.on_demand = set()  # layers that redefine the route configuration with vhds
        self.floor = 1  # of clusters
        self.broken = set()  # layers with an error in them
        self.is_groups_broken = False
        self.serial = 0  # what the group "witness" has
        self.served = {}  # group -> meaning, as it was when the group was good the last time

    def layers_of(self, region):
        upper = [f"env/{region[0]}", f"env/{region[0]}/{region[1]}"]
        return ["common"] + (upper[::-1] if self.is_reversed else upper)

    def layers(self):
        return ["common"] + sorted({layer for region in self.regions
                                    for layer in self.layers_of(region)} - {"common"})

    def groups(self):
        groups = {f"{env}-{region}": self.layers_of((env, region)) for env, region in self.regions}
        groups["witness"] = ["witness"]
        groups["rest"] = ["common"]
        return groups

    def held(self):
        """Groups that keep what they had: an error in a layer, or too few clusters."""
        meanings = self.meaning()
        return {group for group, layers in self.groups().items()
                if self.broken & set(layers)
                or (group not in ("rest", "witness")
                    and len(meanings[group]["clusters"]) < self.floor)}

    def commit(self):
        """What is served from now on, by group; those that never were good are not in it."""
        if not self.is_groups_broken:
            meanings, held = self.meaning(), self.held()
            self.served = {group: self.served.get(group) if group in held else meanings[group]
                           for group in meanings}
        return {group: meaning for group, meaning in self.served.items() if meaning}

    # One edit.

    def edit(self):
        chance = self.chance
        action = chance.randrange(16)
        if action == 0 and len(self.regions) > 1:
            self.forget(chance.choice(sorted(self.regions)))
        elif action <= 1:
            self.regions.add((chance.choice(ENVIRONMENTS), chance.choice(REGIONS)))
        elif action == 2:
            self.parts[chance.choice(PARTS)] = chance.randrange(1, 9)
        elif action == 3:
            self.header = f"x-{chance.randrange(5)}"
        elif action == 4 and chance.randrange(2):
            self.is_reversed = not self.is_reversed
        elif action == 5:
            layer = chance.choice(self.layers())
            self.on_demand ^= {layer} if layer != "common" else set()
        elif action == 6:
            self.floor = chance.randrange(1, 6)
        elif action == 7:
            self.broken ^= {chance.choice(self.layers())}
        elif action == 8:
            self.broken = set()
        else:
            self.edit_item()

    def edit_item(self):
        chance = self.chance
        kind = chance.choice(["clusters", "hosts", "endpoints"])
        layer, name = chance.choice(self.layers()), chance.choice(NAMES)
        said = getattr(self, kind).setdefault(layer, {})
        if name in said and chance.randrange(3) == 0:
            del said[name]
        elif layer != "common" and chance.randrange(4) == 0:
            said[name] = DELETED
        elif kind == "clusters" and chance.randrange(2):
            said[name] = chance.choice(PARTS)
        else:
            said[name] = chance.randrange(1, 9)
        self.places[layer, kind, name] = chance.randrange(3)

    def forget(self, region):
        self.regions.remove(region)
        layers = set(self.layers())
        for kind in (self.clusters, self.hosts, self.endpoints):
            for layer in [layer for layer in kind if layer not in layers]:
                del kind[layer]
        self.on_demand &= layers
        self.broken &= layers

    # What it comes to: later layers win, one name after the other.

    def merged(self, kind, layers):
        result = {}
        for layer in layers:
            for name, value in getattr(self, kind).get(layer, {}).items():
                if value is DELETED:
                    result.pop(name, None)
                else:
                    result[name] = value
        return result

    def meaning(self):
        groups = {group: self.meaning_of(layers) for group, layers in self.groups().items()}
        groups["witness"] = {"clusters": {f"serial-{self.serial}": "1s"}, "endpoints": {},
                             "routes": None}
        return groups

    def meaning_of(self, layers):
        seconds = {name: self.parts.get(value, value)
                   for name, value in self.merged("clusters", layers).items()}
        seconds["always"] = 1
        hosts = self.merged("hosts", layers)
        routes = {"name": "edge", "virtual_hosts": [
            {"name": "inline", "domains": ["inline.example"]}]}
        redefined = [layer for layer in layers if layer in self.on_demand]
        if redefined:
            routes["vhds"] = redefined[-1]
        else:
            routes["request_headers_to_remove"] = [self.header]
            routes["virtual_hosts"] += [{"name": name, "domains": [f"{name}.example"],
                                         "response_headers_to_remove": [f"x-{hosts[name]}"]}
                                        for name in sorted(hosts)]
        return {"clusters": {name: f"{value}s" for name, value in seconds.items()},
                "endpoints": self.merged("endpoints", layers), "routes": routes}

    # The tree that says so.

    def files(self):
        order = ['"env/{1}"', '"env/{1}/{2}"']
        files = {
            "groups.yaml": f"""groups:
- each: env/*/*
  name: "{{1}}-{{2}}"
  match: {{metadata: {{env: "{{1}}"}}, locality: {{region: "{{2}}"}}}}
  layers: [common, {", ".join(order[::-1] if self.is_reversed else order)}]
  at_least: {{listeners: 1, clusters: {self.floor}, routes: 1}}
- name: witness
  match: {{cluster: witness}}
  layers: [witness]
- name: rest
  layers: [common]
{"no such key: 1" if self.is_groups_broken else ""}
""",
            "common/listeners/l.yaml": LISTENER,
            "witness/listeners/l.yaml": LISTENER,
            "witness/clusters/serial.yaml": f"name: serial-{self.serial}\nconnect_timeout: 1s\n",
            "common/clusters/always.yaml": "{name: always, connect_timeout: 1s}\n",
            "common/routes/edge.yaml": "<<: !include ../../_parts/edge.yaml\n"
                                       f"request_headers_to_remove: [{self.header}]\n",
            "_parts/edge.yaml": "name: edge\nvirtual_hosts:\n"
                                "- {name: inline, domains: [inline.example]}\n",
            "_parts/deep/type.yaml": "lb_policy: RANDOM\n"}
        for part, seconds in self.parts.items():
            files[f"_parts/{part}.yaml"] = (
                f"<<: !include deep/type.yaml\nconnect_timeout: {seconds}s\n")
        for env, region in self.regions:
            files[f"env/{env}/secrets/nothing.yaml"] = "# makes the layer\n"
            files[f"env/{env}/{region}/secrets/nothing.yaml"] = "# makes the layer\n"
        for layer in self.broken:
            files[f"{layer}/clusters/broken.yaml"] = "name: broken\nno_such_field: 1\n"
        for layer in self.on_demand:
            up = "../" * (layer.count("/") + 2)
            files[f"{layer}/routes/edge.yaml"] = (
                f"<<: !include {up}_parts/edge.yaml\n"
                f"vhds: {{config_source: {{path_config_source: {{path: /{layer}}}}}}}\n")
        self.put_items(files)
        return files

    def put_items(self, files):
        for kind in ("clusters", "hosts", "endpoints"):
            for layer, said in getattr(self, kind).items():
                up = "../" * (layer.count("/") + 2)
                for name, value in sorted(said.items()):
                    folder = "virtual-hosts/edge" if kind == "hosts" else kind
                    key = "cluster_name" if kind == "endpoints" else "name"
                    path = f"{layer}/{folder}/f{self.places[layer, kind, name]}.yaml"
                    if value is DELETED:
                        text = f"- !delete {{{key}: {name}}}\n"
                    elif kind == "hosts":
                        text = (f"- {{name: {name}, domains: [{name}.example], "
                                f"response_headers_to_remove: [x-{value}]}}\n")
                    elif kind == "endpoints":
                        text = (f"- {{cluster_name: {name}, endpoints: [{{lb_endpoints: "
                                "[{endpoint: {address: {socket_address: {address: 10.0.0.1, "
                                f"port_value: {value}}}}}}}}}]}}]}}\n")
                    elif value in self.parts:
                        text = f"- {{<<: !include {up}_parts/{value}.yaml, name: {name}}}\n"
                    else:
                        text = f"- {{name: {name}, connect_timeout: {value}s}}\n"
                    files[path] = files.get(path, "") + text


def write_tree(tree, files, before):
    """What differs only, behind the hold file, as one commit."""
    os.makedirs(tree, exist_ok=True)
    with open(f"{tree}/.xdspub-hold", "w", encoding="ascii"):
        pass
    for path in before.keys() - files.keys():
        os.remove(f"{tree}/{path}")
        folder = os.path.dirname(f"{tree}/{path}")
        while not os.listdir(folder):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    for path, text in files.items():
        if before.get(path) == text:
            continue
        os.makedirs(os.path.dirname(f"{tree}/{path}"), exist_ok=True)
        with open(f"{tree}/{path}.new~", "w", encoding="ascii") as file:
            file.write(text)
        os.rename(f"{tree}/{path}.new~", f"{tree}/{path}")
    os.remove(f"{tree}/.xdspub-hold")


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def published(out, group, answers):
    """The same form as Model.meaning; each answer's content and version is noted."""
    def read(path):
        answer = read_json(f"{out}/{group}/{path}")
        if answer:
            answers.append((json.dumps(answer["resources"], sort_keys=True),
                            answer["version_info"], f"{out}/{group}/{path}"))
        return answer and answer["resources"]
    clusters, routes = read("cds/cds.json"), read("rds/edge/rds.json")
    if routes:
        routes = routes[0]
        routes.pop("@type")
        if "vhds" in routes:
            routes["vhds"] = routes["vhds"]["config_source"]["path_config_source"]["path"][1:]
    endpoints = {}
    for name in NAMES:
        found = read(f"eds/{name}/eds.json")
        if found:
            place = found[0]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]
            endpoints[name] = place["socket_address"]["port_value"]
    return {"clusters": {one["name"]: one["connect_timeout"] for one in clusters or []},
            "endpoints": endpoints, "routes": routes}


def check_versions(versions, answers):
    """Same content, same version; other content, another one: in all steps, groups and places."""
    for content, version, where in answers:
        assert versions.setdefault(content, version) == version, (where, content, version)
        assert versions.setdefault(version, content) == content, (where, content, version)


def check_rest(daemon, group):
    for kind in ("cds", "lds"):
        answer, file = daemon.rest_answer(group, kind), daemon.file(group, kind, f"{kind}.json")
        assert answer.version == file["version_info"], (group, kind)
        assert answer.json["resources"] == file["resources"], (group, kind)


def read_files(folder):
    """Relative path: bytes. A folder whose last resource went may stay."""
    files = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with open(f"{path}/{name}", "rb") as file:
                files[os.path.relpath(f"{path}/{name}", folder)] = file.read()
    return files


def check_scratch(daemon, groups):
    """A compiler that begins with this tree comes to the very same files."""
    shutil.rmtree("scratch", ignore_errors=True)
    subprocess.run([XDSPUB, "build", "tree", "-o", "scratch", "--format", "json"], check=True,
                   stderr=subprocess.DEVNULL)
    assert set(os.listdir("scratch")) - {".xdspub"} == set(groups)
    for group in groups:
        assert read_files(f"scratch/{group}") == read_files(f"{daemon.out}/{group}"), group


def until_built(daemon, model):
    """The witness comes with every build; with a bad groups.yaml nobody gets anything."""
    want = model.groups().keys()
    if model.is_groups_broken:
        daemon.until("all held", lambda s: all(group["held"] for group in s["groups"]))
        return

    def is_built(status):
        if {group["name"] for group in status["groups"]} != want:
            return False
        witness = daemon.group("witness", status)
        return (not witness["held"]
                and daemon.rest_names("witness") == [f"serial-{model.serial}"])
    daemon.until(f"serial {model.serial}", is_built)


def compare(daemon, model, versions):
    """Nothing is waited for here: what is there must be right."""
    want, answers = model.commit(), []
    status = daemon.until_idle()
    if not model.is_groups_broken:
        held = {group["name"] for group in status["groups"] if group["held"]}
        assert held == model.held(), (held, model.held())
    serving = {group["name"] for group in status["groups"] if group["serving"]}
    assert serving == set(want), (serving, set(want))
    for group, meaning in want.items():
        found = published(daemon.out, group, answers)
        assert found == meaning, (group, "found", found, "want", meaning)
        check_rest(daemon, group)
    check_versions(versions, answers)


def follow(seed, steps):
    """One random tree; every state is compared."""
    fresh("tree", "out", "state")
    model = Model(random.Random(seed))
    versions, files = {}, {}
    scratch = 0
    with Daemon(grace="1ms", settle="1ms") as daemon:
        for step in range(steps):
            for _ in range(model.chance.randrange(1, 5) if step else 0):
                model.edit()
            model.is_groups_broken = step > 0 and model.chance.randrange(12) == 0
            model.serial = step
            before, files = files, model.files()
            write_tree("tree", files, before)
            try:
                until_built(daemon, model)
                compare(daemon, model, versions)
                if not model.is_groups_broken and not model.held() and step % 3 == 0:
                    check_scratch(daemon, model.groups())
                    scratch += 1
            except BaseException:
                print(f"# SEED={seed} STEPS={step + 1}")
                raise
    assert scratch, "no state without errors"


def random_fleets():
    """edit by edit and from scratch, what is published is what the model says"""
    seed = os.environ.get("SEED")
    if seed:
        follow(int(seed), int(os.environ.get("STEPS", "40")))
        return
    for one in (1, 2, 3, 581695):
        print(f"# SEED={one}")
        follow(one, 40)


if __name__ == "__main__":
    run([random_fleets])
