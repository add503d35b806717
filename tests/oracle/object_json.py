# SPDX-License-Identifier: Apache-2.0
"""Compares object.json with ROOT's JSON of the same key."""

import base64
import json
import math
import os
import tempfile

import numpy as np

import root_process

HERE = os.path.dirname(os.path.abspath(__file__))


def root_texts(file):
    """{(path, cycle): (class, text or None)} by ROOT in separate processes. If ROOT crashes, it cannot read the
    object."""
    texts, crashed = {}, []
    with open(os.path.join(HERE, "root_json.py"), encoding="utf-8") as script:
        code = script.read()
    while len(crashed) < 20:
        with tempfile.TemporaryDirectory(prefix="root-json-") as directory:
            answer = os.path.join(directory, "answer")
            root_process.run_code(code, os.path.abspath(file), answer, *crashed, cwd=directory)
            begun = None
            if os.path.exists(answer):
                with open(answer) as lines:
                    for line in lines:
                        told = json.loads(line)
                        begun = told if len(told) == 2 else None
                        if len(told) == 4:
                            texts[told[0], told[1]] = (told[2], told[3])
            if begun is None:
                return texts
            texts[begun[0], begun[1]] = ("", None)
            crashed.append(f"{begun[0]};{begun[1]}")
    return texts


def parse(text):
    """Parses a text of ROOT, which writes values that JSON lacks as C does."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        import re

        words = re.sub(r"(?<=[\[,:\s])(-?)(nan|inf)(?=[\],\s}])", lambda m: "null", text)
        return json.loads(words, strict=False)


def places(value, path="", into=None):
    """Paths of all objects in the order in which `$ref` counts them."""
    into = [] if into is None else into
    if isinstance(value, dict):
        if "_typename" in value:
            into.append(path)
        for name, member in value.items():
            places(member, f"{path}.{name}", into)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            places(item, f"{path}[{i}]", into)
    return into


class Comparison:
    """Differences between our value and ROOT's, for the members that ours has. `only_ours` and `only_roots` are members
    that the other lacks (other versions of a class)."""

    def __init__(self, ours, roots):
        self.differences, self.only_ours, self.only_roots = [], set(), set()
        self._our_places, self._root_places = places(ours), places(roots)
        self._compare(ours, roots, "")

    def _compare(self, ours, roots, path):
        if isinstance(roots, dict) and roots.get("$arr") == "Int8" and "b" in roots:
            packed = np.frombuffer(base64.b64decode(roots["b"]), "i1")
            roots = packed.tolist() + [0] * (roots["len"] - len(packed))
        if isinstance(ours, dict) and isinstance(roots, dict):
            return self._compare_members(ours, roots, path)
        if isinstance(ours, list) and isinstance(roots, list):
            if len(ours) != len(roots):
                self.differences.append(f"{path}: {len(ours)} items, ROOT has {len(roots)}")
            for i, (a, b) in enumerate(zip(ours, roots)):
                self._compare(a, b, f"{path}[{i}]")
            return
        is_number = [isinstance(v, (int, float)) and not isinstance(v, bool) for v in (ours, roots)]
        same = ours == roots and (all(is_number) or type(ours) is type(roots))
        if not same and not (all(is_number) and math.isnan(ours) and math.isnan(roots)):
            self.differences.append(f"{path}: {str(ours)[:60]!r}, ROOT has {str(roots)[:60]!r}")

    def _compare_members(self, ours, roots, path):
        if "$unread" in ours:
            self.differences.append(f"{path}: not read: {ours['$unread']}")
        if "$ref" in ours and "$ref" in roots:
            ours, roots = self._our_places[ours["$ref"]], self._root_places[roots["$ref"]]
            if ours != roots:
                self.differences.append(f"{path}: refers to {ours}, for ROOT to {roots}")
            return
        type_name = ours.get("_typename", "")
        self.only_roots |= {(type_name, name) for name in roots if name not in ours}
        for name, value in ours.items():
            if name in ("fBits", "$unread"):
                continue
            if name in roots:
                self._compare(value, roots[name], f"{path}.{name}")
            else:
                self.only_ours.add((type_name, name))


def compare_file(file, mount):
    """[(path, cycle, class, verdict, differences, comparison)] of all objects of a file that ROOT lists. Verdicts are
    `equal`, `different`, `unread` (no object.json), `root cannot`."""
    results = []
    for (path, cycle), (class_name, text) in root_texts(file).items():
        if text is None:
            results.append((path, cycle, class_name, "root cannot", [], None))
            continue
        name = path.replace("%", "%25") if not os.path.exists(os.path.join(mount, path)) else path
        place = os.path.join(mount, f"{name};{cycle}", "object.json")
        try:
            with open(place, encoding="utf-8", errors="surrogateescape") as opened:
                ours = json.load(opened)
        except (OSError, ValueError) as error:
            results.append((path, cycle, class_name, "unread", [str(error)], None))
            continue
        try:
            comparison = Comparison(ours, parse(text))
        except ValueError as error:
            results.append((path, cycle, class_name, "root cannot", [f"text of ROOT: {error}"], None))
            continue
        verdict = "different" if comparison.differences else "equal"
        results.append((path, cycle, class_name, verdict, comparison.differences, comparison))
    return results
