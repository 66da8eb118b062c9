# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads published files with libprotobuf, by their suffix."""
import json
import os
import re

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, text_format
from google.protobuf.message_factory import MessageFactory

try:
    import yaml
except ImportError:
    yaml = None

FORMATS = ["yaml", "json", "pb", "pb_text"]


def load_pool():
    files = descriptor_pb2.FileDescriptorSet()
    with open(os.environ["XDSPUB_SCHEMA"], "rb") as f:
        files.ParseFromString(f.read())
    pool = descriptor_pool.DescriptorPool()
    rest = {f.name: f for f in files.file}

    def add(name):
        f = rest.pop(name, None)
        if f:
            for other in f.dependency:
                add(other)
            pool.Add(f)

    for name in list(rest):
        add(name)
    return pool


POOL = load_pool()


def message_class(name):
    return MessageFactory(POOL).GetPrototype(POOL.FindMessageTypeByName(name))


RESPONSE = message_class("envoy.service.discovery.v3.DiscoveryResponse")


def parse(path):
    """As Envoy does: the suffix names the parser (S.9, S.10)."""
    message = RESPONSE()
    with open(path, "rb") as f:
        data = f.read()
    if path.endswith(".pb"):
        message.ParseFromString(data)
    elif path.endswith(".pb_text"):
        text_format.Parse(data.decode(), message, descriptor_pool=POOL)
    elif path.endswith(".json"):
        json_format.Parse(data.decode(), message, descriptor_pool=POOL)
    else:
        json_format.ParseDict(read_yaml(data.decode()), message, descriptor_pool=POOL)
    return message


def read_yaml(text):
    """Enough YAML for what is published: block mappings and lists, plain and quoted scalars. Where
    PyYAML is installed it must read the same."""
    value = read_blocks(text)
    if yaml:
        assert yaml.load(text, Loader=yaml.CSafeLoader) == value
    return value


def read_blocks(text):
    lines = [l for l in text.split("\n") if l.strip()]

    def quoted(word):
        return json.loads(re.sub(r"(?<!\\)((?:\\\\)*)\\x(..)", r"\1\\u00\2", word))

    def scalar(word):
        if word in ("[]", "{}"):
            return json.loads(word)
        if word.startswith('"'):
            return quoted(word)
        if re.fullmatch(r"true|false|null|-?\d+(\.\d+)?([eE][-+]?\d+)?", word):
            return json.loads(word)
        assert re.fullmatch(r"[A-Za-z_/][\w./-]*", word), "a scalar that needs quotes: " + word
        return word

    def block(at, indent):
        out = None
        while at < len(lines):
            line = lines[at]
            depth = len(line) - len(line.lstrip(" "))
            if depth < indent:
                break
            body = line.strip()
            if body.startswith("- "):
                out = [] if out is None else out
                if not isinstance(out, list):
                    break
                if not re.match(r'("(?:[^"\\]|\\.)*"|[^\s:"]+):( |$)', body[2:]):
                    out.append(scalar(body[2:]))
                    at += 1
                    continue
                lines[at] = " " * (depth + 2) + body[2:]
                item, at = block(at, depth + 2)
                out.append(item)
                continue
            if isinstance(out, list):
                break
            out = {} if out is None else out
            key, rest = re.fullmatch(r'("(?:[^"\\]|\\.)*"|[^\s:"]+):(?: (.*))?', body).groups()
            key = quoted(key) if key.startswith('"') else key
            at += 1
            if rest:
                out[key] = scalar(rest.strip())
            else:
                is_list = at < len(lines) and lines[at].lstrip(" ").startswith("- ")
                out[key], at = block(at, depth if is_list else depth + 1)
        return out, at

    return block(0, 0)[0]


def content(message):
    """Comparable content, whatever the order of map entries in the bytes of an Any."""
    return json_format.MessageToDict(message, descriptor_pool=POOL, preserving_proto_field_name=True)
