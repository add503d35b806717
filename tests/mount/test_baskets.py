# SPDX-License-Identifier: Apache-2.0
"""COLUMN.baskets.json: where the baskets of a column lie, or its pages."""

import errno
import json
import os

import awkward as ak
import numpy as np
import pytest
import uproot

import mounted_table
import root_process

COUNTS = (500, 20, 3000)
MANY = """
import sys, ROOT
ROOT.gInterpreter.Declare('''void write(const char* name) {
  TFile file(name, "recreate", "", 0);
  TTree tree("t", "t");
  double x = 0;
  tree.SetAutoFlush(0);
  tree.Branch("x", &x)->SetBasketSize(80);
  for (int i = 0; i < 400'400; ++i) tree.Fill();
  tree.Write();
}''')
ROOT.write(sys.argv[1])
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("baskets") / "a.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as out:
        out.mktree("t", {"x": "f8", "n": "i4", "lists": "var * float32"})
        for count in COUNTS:
            out["t"].extend({"x": np.arange(count) * 0.1, "n": np.arange(count, dtype="i4"), "lists": ak.Array([[1.5] * (i % 3) for i in range(count)])})
        out.mktree("empty", {"x": "f8"})
    return path


def baskets(path):
    return json.loads(mounted_table.read_exactly(path + ".baskets.json"))


@pytest.mark.parametrize("name, branch", (("x", "x"), ("x.f8", "x"), ("n", "n"), ("lists/values", "lists"), ("lists/offsets.i8", "lists")))
def test_of_a_tree_they_are_those_of_its_branch(shared_mount, file, name, branch):
    found = baskets(os.path.join(shared_mount(file).path, "t", name))
    with uproot.open(file) as opened:
        members = {each: opened["t"][branch].member(each)[:len(COUNTS)].tolist() for each in ("fBasketSeek", "fBasketBytes", "fBasketEntry")}
    assert (found["offsets"], found["sizes"], found["first_entries"]) == tuple(members.values())
    assert found["file_size"] == os.path.getsize(file)
    assert (found["baskets"], found["lost"], found["stored"]) == (len(COUNTS), 0, sum(found["sizes"]))
    assert (found["smallest"], found["largest"]) == (min(found["sizes"]), max(found["sizes"]))


CODECS = {"zlib": uproot.ZLIB(1), "lz4": uproot.LZ4(4), "zstd": uproot.ZSTD(5), "lzma": uproot.LZMA(1), "none": None}


@pytest.mark.parametrize("codec", CODECS)
def test_codecs_are_those_in_the_file(mount, tmp_path, codec):
    path = tmp_path / "codec.root"
    with uproot.recreate(path, compression=CODECS[codec]) as out:
        out.mktree("t", {"x": "f8"})
        out.mkrntuple("n", {"x": "float64"})
        for _ in range(7):
            out["t"].extend({"x": np.zeros(1000)})
            out["n"].extend({"x": np.zeros(1000)})
    top = mount(path).path
    assert baskets(os.path.join(top, "t", "x"))["codecs"] == baskets(os.path.join(top, "n", "x"))["codecs"] == [codec]
    setting = json.load(open(os.path.join(top, "t", ".schema.json")))["columns"][0]["compression"]
    assert setting == "none", "as uproot writes it"


def test_of_an_rntuple_they_are_pages(mount, tmp_path):
    path = tmp_path / "pages.root"
    with uproot.recreate(path) as out:
        out.mkrntuple("t", {"x": "float64"})
        for count in COUNTS:
            out["t"].extend({"x": np.arange(count) * 0.1})
    found = baskets(os.path.join(mount(path).path, "t", "x"))
    with uproot.open(path) as opened:
        pages = [page for cluster in opened["t"].page_link_list for page in cluster[0].pages]
    assert found["offsets"] == [page.locator.offset for page in pages]
    assert found["first_entries"] == [0, COUNTS[0], COUNTS[0] + COUNTS[1]]
    assert found["sizes"] == [page.locator.num_bytes for page in pages], "uproot writes no checksums"


def test_a_column_without_entries_has_none(shared_mount, file):
    found = baskets(os.path.join(shared_mount(file).path, "empty", "x"))
    assert (found["baskets"], found["offsets"], found["file_size"]) == (0, [], None)


def test_a_lost_basket_is_counted(mount, file, tmp_path):
    with uproot.open(file) as opened:
        seek, size = (int(opened["t"]["x"].member(each)[1]) for each in ("fBasketSeek", "fBasketBytes"))
    place = seek.to_bytes(8, "big")
    assert place in file.read_bytes(), "uproot does not compress the record of a tree"
    (tmp_path / "lost.root").write_bytes(file.read_bytes().replace(place, bytes(8)))
    found = baskets(os.path.join(mount(tmp_path / "lost.root").path, "t", "x"))
    assert (found["baskets"], found["lost"], found["offsets"][1]) == (3, 1, None)
    assert size not in found["sizes"]


def test_only_columns_of_one_file_have_any(mount, file):
    chained = mount(file, "chain").path
    for path in (os.path.join(chained, "t", "x"), os.path.join(mount(file).path, "t", ".where=n>5", "x")):
        assert os.path.exists(path)
        with pytest.raises(OSError) as error:
            baskets(path)
        assert error.value.errno == errno.ENOENT
    assert not os.path.exists(os.path.join(mount(file).path, "t", "lists.baskets.json")), "a directory is no column"


def test_they_are_not_listed(mount, file):
    assert not [name for name in os.listdir(os.path.join(mount(file, "views=listed").path, "t")) if "baskets" in name]


def test_of_very_many_the_first_are_listed(mount, tmp_path):
    done = root_process.run_code(MANY, str(tmp_path / "many.root"))
    assert done.returncode == 0, done.stderr
    found = baskets(os.path.join(mount(tmp_path / "many.root").path, "t", "x"))
    assert len(found["offsets"]) == len(found["sizes"]) == len(found["first_entries"]) == 100_000 < found["baskets"]
    assert found["stored"] > sum(found["sizes"])
