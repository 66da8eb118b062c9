#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged and unusual binary, and text format in its corners: we accept what libprotobuf (C++) accepts, refuse what it refuses, and mean the same.

Messages are truncated, mutated, appended to each other (which merges them) and encoded with their fields out of order.
ORACLE_ROUNDS says how many messages of each type (default 60). What may differ is in tests/oracle/README."""
import os
import random
import sys

try:
    from messages import SEED, V2, V3, Mismatch, Transcoder, show
    from random_messages import Generator, load_pool
except ImportError as error:
    print("1..0 # SKIP %s" % error)
    sys.exit(0)

ROUNDS = int(os.environ.get("ORACLE_ROUNDS", "60"))
TYPES = V3 + ["xdspub.test.v3.Names"] + V2


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return value, at


def split(data):
    """The top-level fields of a valid message, each with its tag."""
    parts, at = [], 0
    while at < len(data):
        start = at
        at = skip(data, at)
        parts.append(data[start:at])
    return parts


def skip(data, at):
    tag, at = read_varint(data, at)
    kind = tag & 7
    if kind == 0:
        return read_varint(data, at)[1]
    if kind == 1:
        return at + 8
    if kind == 5:
        return at + 4
    if kind == 2:
        length, at = read_varint(data, at)
        return at + length
    while read_varint(data, at)[0] & 7 != 4:
        at = skip(data, at)
    return read_varint(data, at)[1]


def variants(pick, data, other):
    yield data + other
    parts = split(data)
    pick.shuffle(parts)
    yield b"".join(parts)
    yield data[:pick.randint(0, len(data))]
    for _ in range(12):
        mutant = bytearray(data)
        for _ in range(pick.randint(1, 3)):
            if not mutant:
                break
            at = pick.randrange(len(mutant))
            kind = pick.randrange(4)
            if kind == 0:
                mutant[at] ^= 1 << pick.randrange(8)
            elif kind == 1:
                mutant[at] = pick.choice([0, 1, 0x7f, 0x80, 0xff, pick.getrandbits(8)])
            elif kind == 2:
                mutant.insert(at, pick.getrandbits(8))
            else:
                del mutant[at]
        yield bytes(mutant)


def may_differ(ours, name, data, problem):
    """We refuse more than libprotobuf: NUL in strings, tags beyond 32 bits, contents of Any that cannot be read."""
    if "NUL byte" in problem or "field number that does not exist" in problem:
        return True
    return ours(name, "opaque", "binary", data)[0]


def compare(ours, theirs, name, data):
    good, out = ours(name, "binary", "binary", data)
    their_good, their_out = theirs(name, "binary", "binary", data)
    if not good and their_good:
        if not may_differ(ours, name, data, out.decode()):
            raise Mismatch("we refuse %s: %s" % (data.hex(), show(out)))
        return
    if good and not their_good:
        raise Mismatch("libprotobuf refuses %s: %s" % (data.hex(), show(their_out)))
    if not good:
        return
    # Theirs keeps the contents of Any as they came, ours the unknown fields: each once through the other.
    good, their_out = ours(name, "binary", "binary", their_out)
    again, out = theirs(name, "binary", "binary", out)
    if not good or not again or ours(name, "binary", "binary", out) != (True, their_out):
        raise Mismatch("%s means\nours:   %s\ntheirs: %s" % (data.hex(), out.hex(), their_out.hex()))


# Text format in its corners, and whether we mean to differ: (type, text, None or what we do).
TEXTS = [(V3[0], text, differs) for text, differs in [
    ("f_int32:1,f_int64:2;f_bool:t", None), ("f_int32: 1,, f_int64: 2", None), ("f_int32: 0x1F f_int64: 017", None),
    ("f_int32: - 5", None), ("f_int32: +5", None), ("f_int32: 5.0", None), ("f_int32: 08", None), ("f_int32: 2147483648", None),
    ("f_uint32: -1", None), ("f_uint64: 18446744073709551615", None), ("f_uint64: 18446744073709551616", None),
    ("f_int64: -9223372036854775808", None), ("f_double: 1.5f", None), ("f_double: 1F", None), ("f_double: .5", None),
    ("f_double: 5.", None), ("f_double: 1e3", None), ("f_double: 0x10", None), ("f_double: 017", None), ("f_double: inf", None),
    ("f_double: -Infinity", None), ("f_double: NaN", None), ("f_double: nanf", None), ("f_double: -nan", None),
    ("f_double: 00.5", None), ("f_double: 1e", None), ("f_double: 1.5.5", None),
    ("f_double: 1e400", "refuse"), ("f_float: 1e39", "refuse"), ("f_double: 18446744073709551616", None),
    ("f_bool: true", None), ("f_bool: True", None), ("f_bool: TRUE", None), ("f_bool: 1", None), ("f_bool: 2", None),
    ("f_bool: 0x1", None), ("f_bool: -1", None), ("f_enum: COLOR_RED", None), ("f_enum: color_red", None), ("f_enum: 1", None),
    ("f_enum: -1", None), ("f_enum: 99", None), ("f_enum: 'COLOR_RED'", None), ("f_enum: 4294967295", None),
    ("f_string: 'a' \"b\"\n'c'", None), ("f_string: 'a", None), ("f_string: 'a\nb'", None), ("f_string: '\\x41\\101'", None),
    ("f_string: '\\x'", None), ("f_string: '\\q'", None), ("f_string: '\\400'", "refuse"), ("f_string: '\\377'", "refuse"),
    ("f_bytes: '\\377\\1\\0'", None), ("f_string: '\\u00e9\\U0001f600'", None), ("f_string: '\\ud83d\\ude00'", None),
    ("f_string: '\\ud83d'", "refuse"), ("f_string: '\\u12'", None), ("f_string: 'a\\0b'", "refuse"), ("f_string: a", None),
    ("f_string 'a'", None), ("f_message { }", None), ("f_message: { }", None), ("f_message < >", None), ("f_message < }", None),
    ("f_message { number: 1", None), ("f_message: 5", None), ("f_message [{}]", None), ("r_message [{}, <>]", None),
    ("r_message: [{number: 1},{}]", None), ("r_message [{},]", None), ("r_int32: [1, 2]", None), ("r_int32: [1, 2,]", None),
    ("r_int32: []", None), ("r_int32 [1]", None), ("r_int32: [1] r_int32: 2", None), ("f_int32: [1]", None),
    ("f_int32: 1 f_int32: 2", None), ("c_int32: 1 c_string: 'a'", None), ("f_int23: 1", None), ("fInt32: 1", None), ("3: 1", None),
    ("[no.such]: 1", None), ("f_int32: 1 # comment\n# f_int64: x\n", None), ("#", None), ("f_int32: 1 }", None), ("}", None),
    ("f_int32", None), ("f_int32:", None), (": 1", None), ("f_int32: 1e2", None), ("f_string: 'a' f_string: 'b'", None),
    ("c_any { [type.googleapis.com/xdspub.test.v3.Maps] { k_int32 { key: 1 } } }", None),
    ("c_any { [type.googleprod.com/xdspub.test.v3.Maps]: < > }", None),
    ("c_any { [type.googleapis.com / xdspub.test . v3.Maps]: < > }", None),
    ("c_any { [a.b/xdspub.test.v3.Maps] { k_int32 { key: 1 } } }", "accept"), ("c_any { [a.b/no.Such] { } }", None),
    ("c_any { [a.b/xdspub.test.v3.Maps] < > }", "accept"), ("c_any { type_url: 'x' value: 'y' }", None),
    ("c_any { [xdspub.test.v3.Maps] { } }", None), ("c_any { [a.b/xdspub.test.v3.Maps]: { } }", "accept"),
    ("c_any { [a-b.c/xdspub.test.v3.Maps] { } }", "accept"),
    ("c_any { [type.googleapis.com/xdspub.test.v3.Maps] { } value: 'a' }", "refuse"),
    ("c_any { [a.b/xdspub.test.v3.Maps] { } [a.b/xdspub.test.v3.Maps] { } }", None),
]] + [(V2[0], text, differs) for text, differs in [
    ("OptionalGroup { number: 1 }", None), ("optionalgroup { number: 1 }", None), ("OptionalGroup: { }", None),
    ("RepeatedGroup { }", None), ("RepeatedGroup { number: 1 } RepeatedGroup { number: 2 }", None), ("o_enum: 3", None),
    ("o_enum: 4", None), ("o_enum: -5", None), ("o_string: '\\377'", None), ("m_enum { key: 'a' value: LEVEL_LOW }", None),
    ("m_enum { key: 'a' value: 7 }", None), ("m_enum { key: 'a' } m_enum { key: 'a' value: LEVEL_LOW }", None),
]] + [(V2[2], text, differs) for text, differs in [
    ("[xdspub.test.v2.e_int32]: 5", None), ("[ xdspub . test . v2.e_int32 ]: 5", None), ("[xdspub.test.v2.only]: 5", None),
    ("[xdspub.test.v2.Extendable.in_scope]: 'a' before: 1", None), ("[xdspub.test.v2.extensiongroup] { number: 1 }", None),
    ("[xdspub.test.v2.e_packed]: [1, 2]", None), ("[xdspub.test.v2.e_messages] { }", None), ("e_int32: 1", None),
]]


def compare_texts(ours, theirs):
    problems = []
    for name, text, differs in TEXTS:
        good, out = ours(name, "text", "binary", text.encode())
        their_good, their_out = theirs(name, "text", "binary", text.encode())
        if their_good:
            their_out = ours(name, "opaque", "binary", their_out)[1]  # which makes one of equal map keys
        if differs:
            if (good, their_good) != (differs == "accept", differs == "refuse"):
                problems.append("%r: we meant to differ: we %s, libprotobuf %s" % (text, good, their_good))
        elif good != their_good or (good and out != their_out):
            problems.append("%r\nours:   %s %s\ntheirs: %s %s" % (text, good, show(out), their_good, show(their_out)))
    if problems:
        raise Mismatch("\n".join(problems))


def main():
    schema = os.environ["XDSPUB_TEST_SCHEMA"]
    ours, theirs = Transcoder("transcode", schema), Transcoder("oracle", schema)
    pool, find = load_pool(schema)
    failed = False
    print("1..%d" % (len(TYPES) + 1))
    for number, name in enumerate(TYPES, 1):
        generator = Generator(pool, find, "%d hostile %s" % (SEED, name), V3)
        pick, problem = random.Random("%d %s" % (SEED, name)), None
        try:
            for _ in range(ROUNDS):
                data, other = (generator.fill(find(name)()).SerializeToString(deterministic=True) for _ in range(2))
                for variant in variants(pick, data, other):
                    compare(ours, theirs, name, variant)
        except Mismatch as error:
            problem = str(error)
        print("%sok %d - %s" % ("not " if problem else "", number, name))
        if problem:
            failed = True
            print("\n".join("# " + line for line in problem.splitlines()))
        sys.stdout.flush()
    try:
        compare_texts(ours, theirs)
        print("ok %d - text format" % (len(TYPES) + 1))
    except Mismatch as error:
        failed = True
        print("not ok %d - text format\n# %s" % (len(TYPES) + 1, str(error).replace("\n", "\n# ")))
    return 1 if [ours.close(), theirs.close()] != [0, 0] or failed else 0


if __name__ == "__main__":
    sys.exit(main())
