#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What JSON means: hand-written texts and random mutations, read by us and by libprotobuf. Both must accept with
the same bytes, or both refuse, but for what DIFFERENCES lists. Then the same texts read as YAML: what we accept as
JSON means the same there.

ORACLE_ROUNDS says how many mutations of each type (default 300), ORACLE_SEED which ones."""
import json
import os
import random
import re
import sys

try:
    from random_messages import Generator, load_pool
    from messages import Transcoder
except ImportError as error:
    print("1..0 # SKIP %s" % error)
    sys.exit(0)

ROUNDS = int(os.environ.get("ORACLE_ROUNDS", "300"))
SEED = int(os.environ.get("ORACLE_SEED", "2"))
PACKAGE = "xdspub.test.v3."
URL = "type.googleapis.com/"

# outcome: "we refuse", "we accept" or "other value"; then why, a pattern for the JSON text, and one for what the one
# who refuses says. tests/oracle/README has the same in words.
DIFFERENCES = [
    ("we refuse", "duplicate keys", r".", r"\[duplicate-key\]"),
    ("we refuse", "strict JSON", r".", r"\[json-syntax\]"),
    ("we refuse", "NUL in text", r"u0000", r"NUL character"),
    ("we refuse", "signs, leading zeros and hexadecimal in quoted numbers", r'"(\+1|0+\d*|0x\d+)"',
     r'found "|leading zero'),
    ("we refuse", "map keys have one spelling", r'\{"(0\d|\+1|-0|t|T\w+|yes|[01])":', r"is no key for"),
    ("we refuse", "quoted booleans are true and false", r'"(True|TRUE|t|1|yes)"', r"expected true or false"),
    ("we refuse", "numbers are exact, not doubles", r"-9223372036854775809|1e-400", r"out-of-range|whole number"),
    ("we refuse", "durations: nine digits, no sign, no space, within the range", r'"(1\.0000000000|315576000000\.9|1\.|\+1| 1)s"',
     r"duration"),
    ("we refuse", "fields of Duration and Timestamp must fit", r'"(seconds|nanos)"', r"seconds and nanos are out of range"),
    ("we refuse", "times: two digits, nine of a fraction, within the range", r'"\d{4}-\d{1,2}-\d{1,2}T', r"is no time"),
    ("we refuse", "field masks without empty paths and spaces, and such that can be written", r'[, ]|_[^a-z]|[A-Z]_', r"empty path|no field path"),
    ("we refuse", "a ListValue is a list", r"\{\}", r"expected a list"),
    ("we refuse", "messages, not only JSON, are at most 100 levels deep", r".{200}", r"\[too-deep\]"),
    ("we accept", "a byte order mark", r"^\ufeff", r"Expected a value"),
    ("we accept", "fractions and exponents in quoted whole numbers", r'"(1\.0|1e3)"', r"invalid value \"1"),
    ("we accept", "whole numbers are exact, not doubles", r"9223372036854775807\.0", r"invalid value 9\.2"),
    ("we accept", "enum names in another case, as Envoy does", r'"(color|COLOR|ALIAS)[-_]\w+"', r"invalid value"),
    ("we accept", "other hosts in type URLs (with a warning)", r'"(example\.com)?/', r"Invalid type URL"),
    ("we accept", "contents of unknown types", r"unknown\.T.*value", r"unknown type"),
    ("we accept", "a ListValue in an Any", r"google\.protobuf\.ListValue", r"Cannot find field"),
    ("other value", "-0 is negative zero", r"-0\b", None),
    ("other value", "whole numbers are exact, not doubles", r"9223372036854775807\.0", None),
    ("other value", "null for a list of values is no list", r'"r(_v|V)alue": *null', None),
    ("other value", "upper case at the start of a path and behind underscores", r'[Mm]ask.*[A-Z]', None),
    ("other value", "contents of an Any are encoded without defaults", r"google\.protobuf\.(Duration|Timestamp)", None),
]

NUMBERS = """0 -0 1 -1 1.0 1.5 1e3 1E+3 1e-1 -1e0 10e-1 2147483647 2147483648 -2147483648 -2147483649 4294967295
    4294967296 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615
    18446744073709551616 9007199254740993 9223372036854775807.0 1e18 1e19 1e400 -1e400 3.4028235e38 3.4028236e38 1e39
    1e-400 "0" "1" "-1" "1.0" "1.5" "1e3" "01" "+1" "" "abc" "0x10" "NaN" "nan" "Infinity" "-Infinity" "inf"
    "9223372036854775807" "18446744073709551615" "4294967296" true "true" null [] {} [1] {"a":1} "2147483648" 0.1 "0.1"
    123456789012345678901234567890""".split() + ['" 1"', '"1 "']
BOOLEANS = 'true false "true" "false" "True" "TRUE" "t" "1" "yes" 1 0 null "" [] [true] {} 1.0'.split()
TEXTS = r'"x" "" 1 true null [] ["a"] {} "\u0041\ud83d\ude00" "\ud800" "\u0000" "a\u0000b" "\x" "\/" 1.10'.split()
BYTES = '"" "YQ==" "YQ" "YWI=" "YWI" "-_8=" "+/8=" "-/8=" "Y" "YQ=" "YQ===" "%" "YR==" 1 null []'.split() + ['"Y Q=="']
ENUMS = '''"COLOR_RED" "color_red" "COLOR-RED" "colorRed" "RED" 1 1.0 "1" 99 -1 2147483648 "99" true null "" [] 1.5 {}
    "-1"'''.split() + ['"COLOR_RED "']
INNERS = '''{} null [] 1 "x" true {"number":1} {"number":null} {"nothing":1} [{}] {"number":1,"number":2} {"NUMBER":1}
    {"child":{"child":{}}} {"@type":"x"}'''.split()
LISTS = '1 [1,2] [[1],[2,[3]]] [null] [1,null,2] null {} "1" ["1",2.0] [[]] [true] [{}] {"a":1}'.split()
KEYS = """0 1 -1 01 +1 1.0 1e3 x true false True 2147483648 -0 00 18446744073709551615 18446744073709551616
    -2147483649 NaN 0x1 t yes""".split() + ["", " 1"]
MAP_VALUES = {
    "v_int32": '1 null "1" "x" [] {} true 1.5', "v_message": '{} null [] 1 {"number":1}',
    "v_enum": '"COLOR_RED" null 99 "x" 1', "v_value": "null 1 [] {}", "v_null": 'null "NULL_VALUE" 0', "v_any": "{} null",
    "v_duration": '"1s" null {}', "v_int64_value": "1 null {}", "v_string": "null 1", "v_struct": "null {} []",
    "v_list_value": "null [] {} 1", "v_empty": "null {}", "v_bytes": 'null "YQ"', "v_bool": 'null "true"'}
DURATIONS = '''"1s" "1.5s" "-1.5s" "0s" "-0.5s" "1" 1 "1m" "1.0000000000s" "1.000000001s" "315576000000s" "315576000001s"
    "-315576000000s" "315576000000.9s" ".5s" "1.s" "s" "+1s" "1e3s" null {} {"seconds":5} {"seconds":1,"nanos":-1}
    {"seconds":315576000001} {"nanos":1000000000} {"x":1} [] "" true "1S" "007s" "-0s" "1.10s"'''.split() + ['" 1s"', '"1s "']
TIMES = '''"2026-01-02T03:04:05Z" "2026-01-02T03:04:05.123456789Z" "2026-01-02T03:04:05+01:30" "2026-01-02T03:04:05-08:00"
    "0001-01-01T00:00:00Z" "0000-01-01T00:00:00Z" "9999-12-31T23:59:59.999999999Z" "10000-01-01T00:00:00Z"
    "2026-02-29T00:00:00Z" "2024-02-29T00:00:00Z" "2026-01-02T03:04:60Z" "2026-01-02T24:00:00Z" "2026-01-02t03:04:05z"
    "2026-01-02T03:04:05" "2026-01-02" "2026-01-02T03:04:05.Z" "2026-01-02T03:04:05.1234567891Z" "2026-1-2T03:04:05Z"
    "2026-01-02T03:04:05+0130" "2026-01-02T03:04:05+01" "2026-01-02T03:04:05+24:00" "2026-01-02T03:04:05+23:59"
    "0001-01-01T00:00:00+01:00" "9999-12-31T23:59:59-01:00" null {} {"seconds":5} {"seconds":253402300800} {"nanos":-1} 1
    "" "2026-13-01T00:00:00Z" "2026-00-01T00:00:00Z"'''.split()
MASKS = '''"" "a" "a,b" "fooBar" "foo_bar" "fooBar.bazQux,x" "a," ",a" "a,,b" "A" "a.B" "foo1Bar" {} {"paths":["a_b"]} [] null 1
    "a..b" "_a"'''.split() + ['" a"', '"a b"']
WRAPPED = '''1 "1" true "true" null {} {"value":1} {"value":"1"} {"value":true} [] [1] -1 1.5 "x" "" {"x":1} 1e400
    "NaN"'''.split()
FREE = '''null 1 "x" true [] {} [null,[1],{"a":[]}] {"a":null,"b":{"c":1e300}} 1e400 "NaN" 9007199254740993 {"a":1,"a":2} -0 0.1
    {"null_value":null}'''.split()
# Without {"@type": Duration, "value": "1s", "x": 1}: libprotobuf 3.21 aborts.
ANYS = ['{}', 'null', '[]', '1', '{"@type":"@Empty"}', '{"@type":"xdspub.test.v3.Empty"}', '{"@type":"/xdspub.test.v3.Empty"}',
        '{"@type":"example.com/a/xdspub.test.v3.Empty"}', '{"@type":"%sunknown.T"}' % URL,
        '{"@type":"%sunknown.T","value":"AA=="}' % URL, '{"@type":""}', '{"@type":1}', '{"@type":null}', '{"number":1}',
        '{"number":1,"@type":"@Everything.Inner"}', '{"@type":"@Everything.Inner","number":1,"x":2}',
        '{"@type":"!Duration","value":"1s"}', '{"value":"1s","@type":"!Duration"}', '{"@type":"!Duration"}',
        '{"@type":"!Duration","seconds":1}', '{"@type":"!Duration","value":{"seconds":1}}', '{"@type":"!Duration","value":null}',
        '{"@type":"!Struct","value":{"a":1}}', '{"@type":"!Value","value":null}', '{"@type":"!Int64Value","value":"5"}',
        '{"@type":"!Empty"}', '{"@type":"!Empty","value":{}}', '{"@type":"!Any","value":{"@type":"@Empty"}}',
        '{"@type":"!Any","value":{}}', '{"@type":"!FieldMask","value":"a"}',
        '{"@type":"!Timestamp","value":"2026-01-02T03:04:05Z"}', '{"@type":"!ListValue","value":[1]}',
        '{"@type":"@Everything.Inner","value":{"number":1}}', '{"type_url":"x","value":"AA=="}',
        '{"@type":"@Empty","@type":"@Empty"}']
WHOLE = [
    '{"c_int32":1,"c_string":"x"}', '{"c_int32":1,"cInt32":2}', '{"c_int32":null,"c_string":"x"}', '{"c_value":null}',
    '{"c_null":null}', '{"c_null":"NULL_VALUE"}', '{"c_null":0}', '{"c_wrapper":null}', '{"c_message":null}',
    '{"f_int32":1,"fInt32":2}', '{"f_int32":1,"f_int32":2}', '{"unknown":1}', '{}', '[]', 'null', '1', '"x"', 'true', '',
    '  ', '{', '{}x', '{"f_int32":1,}', '{f_int32:1}', "{'f_int32':1}", '{"f_int32":01}', '{"f_int32":+1}', '{"f_int32":.5}',
    '{"f_int32":1.}', '{"f_int32":0x1}', '{"f_double":NaN}', '{"f_double":Infinity}', '{"f_bool":True}',
    '{"f_string":"a\nb"}', '{"f_string":"a\tb"}', '{/*c*/}', '{}//c', '{"f_string":"\x7f"}', '\ufeff{}',
    '{"f_int32" : 1 , "f_bool":true}', '{"c_empty":{}}', '{"c_empty":{"a":1}}', '{"c_empty":null}', '{"c_empty":[]}',
    '{"F_INT32":1}', '{"fint32":1}', '{"f-int32":1}', '{"[x.y]":1}', '{"":1}', '{"f_string":"x" "f_bool":true}',
    '{"r_int32":[1,]}', '{"r_int32":[,1]}', '{"f_int32":1}}', '{"f_int32":1]']
NAMES = ['renamed', 'otherName', 'camelCaseName', 'camel_case_name', 'PascalCaseName', 'pascalCaseName', 'UPPERCASE',
         'UPPER_CASE', 'Leading', '_leading', 'leading', 'trailing', 'trailing_', 'doubleUnderscore', 'double__underscore',
         'digit12x', 'digit_1_2x', '@kind', 'at_type', 'with space and \u00e9', 'atType', 'odd', 'true', 'null']


def fields(names, values, form='{"%s": %s}'):
    return [form % (name, value) for name in names.split() for value in values]


def texts():
    """(heading, type, JSON texts)"""
    everything, maps, known = "Everything", "Maps", "WellKnown"
    yield "numbers", everything, fields("f_double f_float f_int32 f_int64 f_uint32 f_uint64 f_sint32 f_fixed64 o_int32 "
                                        "o_double", NUMBERS)
    yield "booleans", everything, fields("f_bool", BOOLEANS) + fields("r_bool", BOOLEANS, '{"%s": [%s]}')
    yield "strings", everything, fields("f_string o_string", TEXTS)
    yield "bytes", everything, fields("f_bytes o_bytes", BYTES)
    yield "enums", everything, (fields("f_enum", ENUMS) + fields("r_enum", ENUMS, '{"%s": [%s]}') +
                                fields("f_alias", ['"ALIAS_SAME_AS_FIRST"', '"alias_lower"', '"ALIAS_LOWER"']))
    yield "messages", everything, fields("f_message r_message", INNERS) + fields("r_message", INNERS, '{"%s": [%s]}')
    yield "lists", everything, fields("r_int32 r_string r_enum", LISTS)
    yield "documents", everything, WHOLE + ['{"self":' * n + '{}' + '}' * n for n in (30, 49, 50, 98)]
    yield "map keys", maps, fields("k_int32 k_int64 k_uint32 k_uint64 k_sint32 k_fixed64 k_bool k_string", KEYS,
                                   '{"%s":{"%s":"v"}}')
    yield "map values", maps, ([text for name, values in MAP_VALUES.items() for text in fields(name, values.split(),
                                                                                              '{"%s":{"a":%s}}')] +
                               fields("k_string", ['[]', 'null', '1', '[{"key":"a","value":"b"}]', '{"a":"1","a":"2"}', '{}']))
    yield "durations", known, fields("w_duration", DURATIONS) + fields("r_duration", DURATIONS, '{"%s": [%s]}')
    yield "times", known, fields("w_timestamp", TIMES)
    yield "field masks", known, fields("w_field_mask", MASKS)
    yield "wrappers", known, fields("w_int64_value w_uint32_value w_bool_value w_string_value w_bytes_value w_double_value "
                                    "w_float_value", WRAPPED)
    yield "free values", known, (fields("w_value w_struct w_list_value r_value w_null o_null", FREE) +
                                 fields("r_value r_struct r_list_value r_null", FREE, '{"%s": [%s]}') +
                                 ['{"w_value":' + '[' * n + ']' * n + '}' for n in (10, 32, 33, 48, 60)] +
                                 ['{"w_value":' + '{"a":' * n + '1' + '}' * n + '}' for n in (10, 31, 32, 50)])
    any_texts = [text.replace("@Em", URL + PACKAGE + "Em").replace("@Ev", URL + PACKAGE + "Ev")
                 .replace("!", URL + "google.protobuf.") for text in ANYS]
    yield "any", known, (fields("w_any", any_texts) +
                         ['{"w_any":' + '{"@type":"%sgoogle.protobuf.Any","value":' % URL * n + '{}' + '}' * n + '}'
                          for n in (10, 30, 60)])
    yield "names", "Names", ['{"%s": %s}' % (name, value) for name in NAMES for value in ('"x"', '1', 'true')]


class Reading:
    def __init__(self):
        schema = os.environ["XDSPUB_TEST_SCHEMA"]
        self.ours, self.theirs = Transcoder("transcode", schema), Transcoder("oracle", schema)
        self.pool, self.find = load_pool(schema)
        self.used = set()

    def compare(self, name, text):
        """None, or what is wrong."""
        data = text.encode()
        we, they = self.ours(name, "json", "binary", data), self.theirs(name, "json", "binary", data)
        problem = self.outcome(text, we, they)
        if problem or not we[0]:
            return problem
        yaml = self.ours(name, "yaml", "binary", data)
        if yaml != we and not is_no_yaml(data, yaml[1]):
            return "%s\nother as YAML: %s" % (text[:500], yaml[1].decode("utf-8", "replace"))
        return None

    def outcome(self, text, we, they):
        if we[0] == they[0] and (not we[0] or we[1] == they[1]):
            return None
        outcome = "other value" if we[0] and they[0] else "we accept" if we[0] else "we refuse"
        says = (they if we[0] else we)[1].decode("utf-8", "replace")
        for number, (expected, _, pattern, said) in enumerate(DIFFERENCES):
            if expected == outcome and re.search(pattern, text, re.S) and (said is None or re.search(said, says)):
                self.used.add(number)
                return None
        return "%s\n%s: %s" % (text[:500], outcome, says[:500] if outcome != "other value" else (we[1].hex(), they[1].hex()))

    def close(self):
        return [self.ours.close(), self.theirs.close()] == [0, 0]


def is_no_yaml(data, problem):
    """JSON that libyaml does not take: no space behind a colon outside of quotes, keys beyond 1,024 characters; and
    plain scalars that only YAML reads otherwise."""
    return b"[yaml-syntax]" in problem or b"\x7f" in data


def spaced(text):
    """With a space behind each colon, so that YAML 1.1 reads it as well."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|:', lambda token: ": " if token[0] == ":" else token[0], text)


def mutate(pick, tree):
    """One value somewhere in a JSON tree replaced."""
    spots = []

    def walk(node):
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in list(items):
            if key != "@type":
                spots.append((node, key))
                walk(value)
    walk(tree)
    if not spots:
        return tree
    node, key = pick.choice(spots)
    node[key] = pick.choice([None, 1, -1, 1.5, "x", "", True, [], {}, [1], ["x"], {"a": 1}, "2147483648", 4294967296, "1s",
                             [None], [[1]], "NaN", node[key], [node[key]], "COLOR_RED", "AA=="])
    return tree


def mutations(reading, name):
    generator = Generator(reading.pool, reading.find, "%d %s" % (SEED, name), [])
    pick = random.Random("%d %s" % (SEED, name))
    for _ in range(ROUNDS):
        data = generator.fill(reading.find(name)()).SerializeToString(deterministic=True)
        good, text = reading.ours(name, "binary", "json", data)
        if good:
            yield json.dumps(mutate(pick, json.loads(text)), ensure_ascii=False)


def report(number, heading, problems):
    print("%sok %d - %s" % ("not " if problems else "", number, heading))
    for problem in problems[:10]:
        print("\n".join("# " + line for line in problem.splitlines()))
    sys.stdout.flush()
    return bool(problems)


def main():
    plan = [(heading, PACKAGE + name, found) for heading, name, found in texts()]
    random_types = [PACKAGE + name for name in ("Everything", "Maps", "WellKnown")]
    reading, failed, number = Reading(), False, 0
    print("1..%d" % (len(plan) + len(random_types) + 2))
    for number, (heading, name, found) in enumerate(plan, 1):
        problems = [reading.compare(name, text) for text in found] + [reading.compare(name, spaced(text)) for text in found]
        failed |= report(number, heading, list(filter(None, problems)))
    for name in random_types:
        number += 1
        problems = [reading.compare(name, text) for text in mutations(reading, name)]
        failed |= report(number, "mutations of " + name, list(filter(None, problems)))
    unused = [reason for index, (_, reason, _, _) in enumerate(DIFFERENCES) if index not in reading.used]
    failed |= report(number + 1, "every listed difference was seen", unused)
    failed |= report(number + 2, "both programs end well", [] if reading.close() else ["they do not"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
