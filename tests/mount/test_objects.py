# SPDX-License-Identifier: Apache-2.0
"""Objects as directories: listings, views by name, sizes, damage, memory."""

import json
import os
import re
import xml.dom.minidom

import numpy as np
import pytest

import mounted_table
import root_process

SAMPLE = "objects"


def text_of(path):
    return mounted_table.read_exactly(path).decode("utf-8")


def test_listing(top, file, mount):
    assert sorted(os.listdir(os.path.join(top, "h2F"))) == [
        "flow", "object.bin", "object.json", "values.f4x4", "variances.f8x4", "xedges.f8", "yedges.f8"]
    assert sorted(os.listdir(os.path.join(top, "note"))) == ["object.bin", "object.json"]
    listed = os.listdir(os.path.join(mount(file, "views=listed").path, "h1F"))
    assert {"plot.svg", "table.csv", ".schema.json", "values.f4.npy", "values.f4.txt"} <= set(listed)
    assert len(set(listed)) == len(listed)


def test_arrays_are_columns_like_any_other(top):
    values = os.path.join(top, "h2F", "values")
    plain = np.fromfile(values, "<f4").reshape(6, 4)
    np.testing.assert_array_equal(np.load(values + ".npy"), plain)
    np.testing.assert_array_equal(np.memmap(values + ".f4x4", "<f4", mode="r", shape=(6, 4)), plain)
    np.testing.assert_array_equal(np.loadtxt(values + ".txt"), plain)
    assert os.stat(values).st_size == plain.nbytes
    assert os.getxattr(values, "user.tfilefs.shape") == b"[4]"
    assert os.getxattr(values, "user.tfilefs.length") == b"6"
    with open(os.path.join(top, "h2F", ".schema.json"), encoding="utf-8") as schema:
        told = json.load(schema)
    assert told["kind"] == "object" and {"values.f4x4", "flow/values.f4x6"} <= {c["path"] for c in told["columns"]}


@pytest.mark.parametrize("name", ["h1F", "h1D", "h2F", "profilem", "profile2", "graph", "errors", "asymmetric", "efficiency",
                                  "function", "surface", "polygons", "buffer_1", "labels", "variable", "empty", "points0"])
def test_plots_are_well_formed(top, name):
    svg = text_of(os.path.join(top, name, "plot.svg"))
    drawn = xml.dom.minidom.parseString(svg).documentElement
    assert drawn.tagName == "svg" and drawn.getElementsByTagName("rect")
    assert "<script" not in svg and "nan" not in svg and "inf" not in svg


def test_polygons_are_drawn_and_listed(top):
    svg = text_of(os.path.join(top, "polygons", "plot.svg"))
    lines = text_of(os.path.join(top, "polygons", "table.csv")).splitlines()
    assert lines[0] == "x_low,x_high,y_low,y_high,area,value"
    assert svg.count('class="outline"') == len(lines) - 1 > 10
    assert sum(float(line.split(",")[-1]) for line in lines[1:]) == 30


def test_titles_are_escaped_and_set(top):
    svg = text_of(os.path.join(top, "variable", "plot.svg"))
    assert "&lt; &amp; &gt;" in svg and "\u03bc" in svg and ">T</tspan>" in svg


@pytest.mark.parametrize("name, titles", [("titled", ["parabola ; of mine", "t [s]", "s [m]"]),
                                          ("surface", ["hill", "east", "north", "height"])])
def test_titles_of_axes_in_the_title_of_a_function(top, name, titles):
    drawn = xml.dom.minidom.parseString(text_of(os.path.join(top, name, "plot.svg")))
    texts = [text.firstChild.data for text in drawn.getElementsByTagName("text") if text.getAttribute("class") in ("title", "axis")]
    assert sorted(texts) == sorted(titles)


def test_what_is_not_drawn_has_no_plot(top):
    for name in ("h3F", "THnF", "THnSparseF", "note"):
        assert not os.path.exists(os.path.join(top, name, "plot.svg"))
    assert os.path.exists(os.path.join(top, "h3F", "table.csv"))


def test_tables(top):
    lines = text_of(os.path.join(top, "h2F", "table.csv")).splitlines()
    assert lines[0] == "x_low,x_high,y_low,y_high,value,error"
    values = np.array([float(line.split(",")[4]) for line in lines[1:]])
    np.testing.assert_array_equal(values, np.fromfile(os.path.join(top, "h2F", "values"), "<f4"))
    assert text_of(os.path.join(top, "asymmetric", "table.csv")).splitlines()[:2] == [
        "x,y,x_error_low,x_error_high,y_error_low,y_error_high", "1,3,0.1,0.4,0.4,0.1"]


def test_functions_by_their_formula(top):
    rows = np.loadtxt(os.path.join(top, "function", "table.csv"), delimiter=",", skiprows=1)
    x, y = rows.T
    assert len(x) == 101 and (x[0], x[-1]) == (-3, 3)
    np.testing.assert_allclose(y, 2 * np.exp(-0.5 * ((x - 0.5) / 1.25) ** 2) + 0.125 * (x > 1), rtol=1e-12)


def test_texts(top):
    expected = {
        "note": 'a note\nof two lines, with <tags> & "quotes"\n', "string": "plain\n", "number": "0.1\n",
        "count": f"{2**60 + 1}\n", "macro": "void macro() {\n}\n", "lines": "first\nsecond\tits title\nfirst\n",
        "std": "text of a std::string\n", "strings": "a\nb c\n",
    }
    assert {name: text_of(os.path.join(top, name, "text.txt")) for name in expected} == expected
    assert not os.path.exists(os.path.join(top, "h1F", "text.txt"))


def test_references_in_json(top):
    told = json.loads(text_of(os.path.join(top, "lines", "object.json")))
    assert told["arr"][2] == {"$ref": 1} and told["opt"] == [None, "option", None]


def test_a_damaged_payload_is_an_error_of_that_object(file, tmp_path, mount):
    """A histogram with more contents than its axes allow has no arrays; the reason is reported, and its neighbours are
    readable."""
    with open(file, "rb") as opened:
        image = bytearray(opened.read())
    at = image.find(b"\x02h1\x00") if image.find(b"\x02h1\x00") > 0 else image.find(b"\x03h1F\x0bhistogram F")
    payload = image.find(b"\x05xaxis", at)
    assert at > 0 and payload > 0
    # The number of bins comes after TAttAxis, 62 bytes in, and before the edges -4 and 4.
    borders = image.find(np.array([-4, 4], ">f8").tobytes(), payload)
    image[borders - 4 : borders] = (1 << 20).to_bytes(4, "big")
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(image)
    m = mount(damaged)
    assert sorted(os.listdir(os.path.join(m.path, "h1F"))) == ["object.bin", "object.json"]
    assert "/h1F: histogram: " in m.errors()
    assert os.path.exists(os.path.join(m.path, "h1I", "values"))


def test_an_object_that_nothing_describes_has_its_bytes_alone(file, tmp_path, mount):
    """Without StreamerInfo, only ROOT's own classes are known; everything that is listed can be read."""
    with open(file, "rb") as opened:
        image = bytearray(opened.read())
    image[37:45] = bytes(8)  # fSeekInfo, fNbytesInfo
    bare = tmp_path / "bare.root"
    bare.write_bytes(image)
    m = mount(bare)
    undescribed = []
    for directory, _, files in os.walk(m.path):
        if "object.json" in files:
            json.loads(text_of(os.path.join(directory, "object.json")))
        elif "object.bin" in files:
            assert not os.path.exists(os.path.join(directory, "object.json"))
            undescribed.append(os.path.basename(directory))
    assert "note" not in undescribed and undescribed
    assert all(f"/{name}: " in m.errors() for name in undescribed)


def test_a_large_histogram_within_a_small_budget(tmp_path, mount):
    """Its payload, arrays and JSON go through the cache. Data larger than the budget are loaded alone, and released."""
    import uproot

    path = tmp_path / "large.root"
    counts = np.arange(1500 * 1500, dtype="f8").reshape(1500, 1500)
    edges = np.linspace(0, 1, 1501)
    with uproot.recreate(path) as file:
        file["large"] = (counts, edges, edges)
    m = mount(path, "memory=64M")
    before = m.resident_bytes()
    large = os.path.join(m.path, "large")
    np.testing.assert_array_equal(np.fromfile(os.path.join(large, "values"), "<f8").reshape(1500, 1500), counts)
    assert os.stat(os.path.join(large, "object.json")).st_size > 8 * 1500 * 1500
    assert len(text_of(os.path.join(large, "plot.svg"))) < 8_000_000
    assert m.resident_bytes() - before < 600 << 20


WRITE_CANVAS = """
import sys, ROOT
ROOT.gROOT.SetBatch(True)
file = ROOT.TFile(sys.argv[1], "RECREATE", "", 0)
canvas = ROOT.TCanvas("c", "a title", 400, 300)
canvas.Divide(2, 1)
canvas.Write()
file.Close()
"""
READ_CANVAS = """
import sys, ROOT
ROOT.gROOT.SetBatch(True)
print(ROOT.TBufferJSON.ConvertToJSON(ROOT.TFile(sys.argv[1]).Get("c")))
"""


def test_a_base_class_without_bytes_is_read(tmp_path, mount):
    """Up to ROOT 6.06 TVirtualPad has version 2. Its base TQObject is in the description, and writes nothing."""
    path = tmp_path / "canvas.root"
    root_process.run_code(WRITE_CANVAS, path, check=True)
    image = path.read_bytes()
    described = re.compile(rb"(\x0bTVirtualPad\x00....\0\0\0)\x03", re.DOTALL)
    frame = re.compile(rb"(\x40\0\0\x60\0)\x03(\0\x01)")
    assert len(described.findall(image)) == 1 and len(frame.findall(image)) == 3  # of the canvas and two pads
    image = described.sub(lambda found: found[1] + b"\2", image)
    path.write_bytes(frame.sub(lambda found: found[1] + b"\2" + found[2], image))
    text = open(os.path.join(mount(path).path, "c", "object.json")).read()
    root = json.loads(root_process.run_code(READ_CANVAS, path, check=True).stdout)
    assert "$unread" not in text
    ours = json.loads(text)
    assert list(ours) == list(root) and ours["fPrimitives"]["arr"][1]["fXlowNDC"] == root["fPrimitives"]["arr"][1]["fXlowNDC"] > 0
