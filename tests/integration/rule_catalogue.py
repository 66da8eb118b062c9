#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every rule id that src/ gives to a diagnostic stands in the catalogue, and the reverse.

A call's argument for a parameter named `rule` is an id: functions and macros with such a
parameter are found by their declarations, so new ones need no line here.
"""
import os
import re
import sys

ROOT = os.environ.get("abs_top_srcdir") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = os.path.join("src", "catalogue") + os.sep
# Where an id comes from that is looked for elsewhere: a parameter, a row of a table, rule_id().
PASSED = re.compile(r"rule|id|\w+->rule|rules\[[^]]*\]|rule_id\(.*\)", re.S)
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')


def sources():
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            if name.endswith((".c", ".h")) and not path.startswith(SKIPPED):
                with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                    yield path, without_comments(file.read())


def without_comments(text):
    def blank(match):
        return match.group(0) if match.group(0)[0] in "\"'" else re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.S)
    return text.replace("\\\n", "  ")


def arguments(text, start):
    """The arguments of a call whose parenthesis is at `start`, and where it ends."""
    depth, last, found, i = 0, start + 1, [], start
    while i < len(text):
        char = text[i]
        if char in "\"'":
            literal = LITERAL.match(text, i)
            i = literal.end() if literal else i + 1
            continue
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                found.append(text[last:i].strip())
                return found, i
        elif char == "," and depth == 1:
            found.append(text[last:i].strip())
            last = i + 1
        i += 1
    return found, i


def declared(path, text):
    """{name: the index of its rule parameter}"""
    found = {}
    names = "rule|id" if path.startswith(os.path.join("src", "validate")) else "rule"
    for match in re.finditer(r"([A-Za-z_]\w*)\s*\(", text):
        parameters, _ = arguments(text, match.end() - 1)
        is_macro = re.search(r"#\s*define\s+$", text[:match.start()]) is not None
        for i, parameter in enumerate(parameters):
            if re.fullmatch((r"(%s)" if is_macro else r"const\s+char\s*\*\s*(%s)") % names, parameter):
                found[match.group(1)] = i
    return found


def ids_of(path, text, functions):
    """[(id, where)], [expressions that are no ids]"""
    ids, problems = [], []

    def where(at):
        return "%s:%d" % (path, text.count("\n", 0, at) + 1)

    for match in re.finditer(r"\b(%s)\s*\(" % "|".join(sorted(functions)), text):
        given, _ = arguments(text, match.end() - 1)
        index = functions[match.group(1)]
        if index >= len(given) or given[index] in ("rule", "(rule)") or "const char" in given[index]:
            continue
        names = LITERAL.findall(given[index])
        ids += [(name[1:-1], where(match.start())) for name in names]
        if not names and not PASSED.fullmatch(given[index]):
            problems.append("%s: \"%s\" is no literal id" % (where(match.start()), given[index]))
    # Tables of ids, and rows with one.
    for match in re.finditer(r"\b(rules|rule_ids)\[[^]]*\]\s*=\s*\{|\.rule\s*=\s*(?=\")", text):
        end = text.index("}", match.end()) if match.group(1) else LITERAL.match(text, match.end()).end()
        ids += [(name[1:-1], where(match.start())) for name in LITERAL.findall(text[match.end():end])]
    return ids, problems


def used():
    files = list(sources())
    everywhere = {}
    ids, problems = [], []
    for path, text in files:
        if path.endswith(".h"):
            everywhere.update(declared(path, text))
    for path, text in files:
        found, bad = ids_of(path, text, dict(everywhere, **declared(path, text)))
        ids += found
        problems += bad
    return ids, problems


def listed():
    """[id] of the tables; those of validate.rules are compared with validate.proto by a unit test."""
    ids = []
    folder = os.path.join(ROOT, "src", "catalogue")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".def") and name != "rules_values.def":
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                ids += re.findall(r'^(?:ERROR|CHOICE|WARNING|NOTE)\("([^"]*)"', file.read(), re.M)
    return ids


def main():
    ids, problems = used()
    known, seen = listed(), {name for name, _ in ids}
    if len(seen) < 100:
        problems.append("only %d ids found: has a declaration changed?" % len(seen))
    for name, where in ids:
        if name not in known:
            problems.append("%s: \"%s\" has no row in src/catalogue/" % (where, name))
    for name in known:
        if name not in seen:
            problems.append("\"%s\" has a row in src/catalogue/, and nothing in src/ uses it" % name)
        if known.count(name) > 1:
            problems.append("\"%s\" has %d rows" % (name, known.count(name)))
    print("1..1")
    for problem in problems:
        print("# " + problem)
    print("not ok" if problems else "ok", "1 - %d ids, all of them in the catalogue" % len(seen))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
