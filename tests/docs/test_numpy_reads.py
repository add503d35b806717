# SPDX-License-Identifier: Apache-2.0
"""What we tell people to run, and our own package, reads numbers in a way that tells errors. numpy.fromfile of a path
returns memory that nobody has written where a read fails."""

import os
import re
import sys

import numpy as np
import pytest
import uproot

import mounted

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PLACES = ("README.md", "docs", "bench", os.path.join("packaging", "python"), os.path.join("packaging", "make-picture.py"))
ENDINGS = (".md", ".py", ".svg", ".cpp", ".txt", ".ipynb")


def files():
    for place in PLACES:
        path = os.path.join(ROOT, place)
        if os.path.isfile(path):
            yield path
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in names if name.endswith(ENDINGS))


def test_nothing_is_read_by_fromfile():
    found, seen = [], 0
    for path in files():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        seen += 1
        found += [f"{os.path.relpath(path, ROOT)}: {call}" for call in re.findall(r"fromfile\(.*", text)]
    assert seen > 20 and not found, found


def test_the_recipes_say_why():
    with open(os.path.join(ROOT, "docs", "recipes", "arrays.md"), encoding="utf-8") as file:
        text = file.read()
    assert re.search(r"Do not use `np\.fromfile`", text) and "raises nothing" in text


def test_our_package_tells_an_error(tmp_path, monkeypatch):
    with uproot.recreate(tmp_path / "a.root", compression=uproot.ZLIB(1)) as file:
        tree = file.mktree("T", {"x": "f8"})
        for _ in range(20):
            tree.extend({"x": np.ones(200_000)})
    with uproot.open(tmp_path / "a.root") as file:
        at = file["T"]["x"].member("fBasketSeek")[10] + 100
    with open(tmp_path / "a.root", "r+b") as file:
        file.seek(at)
        file.write(bytes(300))
    monkeypatch.syspath_prepend(os.path.join(ROOT, "packaging", "python", "src"))
    monkeypatch.delitem(sys.modules, "tfilefs", raising=False)
    from tfilefs._place import MountedPlace

    with mounted.Mounted(tmp_path / "a.root") as m:
        with pytest.raises(OSError):
            MountedPlace(os.path.join(m.path, "T", "x.f8")).numbers("f8", copy=True)
