# SPDX-License-Identifier: Apache-2.0
"""docs/python.md: its blocks are run, and of each line of its table what both packages give is compared."""

import importlib.util
import os
import re
from collections.abc import Mapping

import awkward as ak
import numpy as np
import pytest
import uproot

from conftest import ROOT

with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
    PAGE = file.read()
CALLS = re.findall(r"^\| (`.*`) \| (`.*`) \|$", PAGE.split("## What differs")[0], re.MULTILINE)


@pytest.fixture
def place(sample, tmp_path, monkeypatch):
    """A directory with run.root."""
    monkeypatch.chdir(tmp_path)
    os.symlink(sample, "run.root")


def plain(value):
    if isinstance(value, ak.Array):
        return value.to_list()
    if isinstance(value, np.ndarray):
        return [plain(each) for each in value] if value.dtype == object else value.tolist()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__name__ in ("odict_keys", "dict_keys"):
        found = [plain(each) for each in value]
        return sorted(found) if found and all(isinstance(each, str) for each in found) else found
    if hasattr(value, "to_dict"):
        return value.to_dict("list")
    return plain(value.values()) if hasattr(value, "axes") else value


def test_calls_give_the_same(tfilefs, place):
    assert len(CALLS) > 25
    with uproot.open("run.root") as theirs, tfilefs.mount("run.root") as ours:
        names = [{"uproot": uproot, "tfilefs": tfilefs, "f": f, "t": f["Events"], "h": f["tracker/layer0/hits"]} for f in (theirs, ours)]
        for left, right in CALLS:
            if ".dask(" in left and not importlib.util.find_spec("dask_awkward"):
                continue
            [expected] = [plain(eval(call, names[0])) for call in re.findall("`(.*?)`", left)]
            for call in re.findall("`(.*?)`", right):
                assert plain(eval(call, names[1])) == expected, call


def test_blocks_run(tfilefs, place):
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        if "coffea" not in block:  # which wants a file of another form
            exec(compile(block, "docs/python.md", "exec"), {})
    with uproot.open("run.root") as source, uproot.open("out.root") as out:
        energy = source["Events/energy"].array(library="np")
        chosen = np.concatenate([energy[energy > 20], energy[energy < 1]])
        assert np.array_equal(out["Events/energy"].array(library="np"), chosen)
        assert np.array_equal(out["plots/energy"].values(), np.histogram(energy, bins=50)[0])
        assert np.array_equal(out["hits"].values(), source["tracker/layer0/hits"].values())


def test_coffea_reads_a_tree_in_the_form_of_nanoaod(tfilefs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts = np.array([2, 0, 3, 1])
    muon = {name: ak.unflatten(np.arange(6, dtype="f4") + 1, counts) for name in ("pt", "eta", "phi", "mass", "charge")}
    with uproot.recreate("run.root") as file:
        file.mktree("Events", {"run": np.ones(4, "u4"), "luminosityBlock": np.ones(4, "u4"), "event": np.arange(4, dtype="u8"),
                               "Muon": ak.zip(muon)})
    [block] = [block for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if "coffea" in block]
    read = "    pt, event = events.Muon.pt.to_list(), events.event.to_list()\n"
    exec(compile(block + read, "docs/python.md", "exec"), found := {})
    assert found["pt"] == muon["pt"].to_list() and found["event"] == [0, 1, 2, 3]


def test_functions_of_cuts_are_named(tfilefs):
    from tfilefs import _cut
    named = set(re.findall(r"\w+", " ".join(re.findall(r"^- of .*?`(.*?)`", PAGE, re.MULTILINE | re.DOTALL))))
    assert named == _cut._ELEMENTWISE | _cut._OF_LISTS
