# SPDX-License-Identifier: Apache-2.0
"""Objects that are larger than the memory of the mount: their texts are counted without being kept, and made in pieces."""

import hashlib
import json
import os
import subprocess
import xml.dom.minidom

import numpy as np
import pytest
import uproot

import mounted

MEMORY = 64 << 20
NX, NY = 10_000, 10_001


@pytest.fixture(scope="module")
def path(samples):
    return os.path.join(samples("large_matrix"), "large_matrix.root")


@pytest.fixture
def small(path):
    """Its memory is looked at when all is done."""
    with mounted.Mounted(path, ("memory=64M",)) as m:
        yield m
        assert m.errors() == ""
        assert m.peak_bytes() < MEMORY + (64 << 20)


def read_at(path, offset, size):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(size)


def value_of(x, y):
    """Of the bin with these numbers, from 1 on."""
    return (x * 7 + y) % 3_000 if y in (1, 5_000, 10_001) else 0


def row(x, y):
    value = value_of(x, y)
    error = repr(float(np.sqrt(value))).removesuffix(".0")
    return f"{x - 1},{x},{y - 1},{y},{value},{error}\n"


def test_a_matrix_is_listed(small):
    done = subprocess.run(["ls", "-l", os.path.join(small.path, "m")], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and done.stderr == ""
    sizes = {line.split()[-1]: int(line.split()[4]) for line in done.stdout.splitlines()[1:]}
    assert sizes[f"values.i2x{NY}"] == 2 * NX * NY and sizes["object.bin"] > 2 * (NX + 2) * (NY + 2)
    assert sizes["object.json"] > 3 * (NX + 2) * (NY + 2)


def test_its_json_is_that_of_the_numbers(small):
    path = os.path.join(small.path, "m", "object.json")
    size, read, numbers = os.stat(path).st_size, 0, hashlib.sha256()
    begin = b'"fArray": ['
    head = read_at(path, 0, 1 << 20)
    at = head.index(begin) + len(begin)
    assert json.loads(head[:at] + b"0]}")["fYaxis"]["fNbins"] == NY
    with open(path, "rb") as file:
        file.seek(at)
        text = b""
        while not text.endswith(b"]") and (part := file.read(1 << 22)):
            end = part.find(b"]")
            text = part if end < 0 else part[:end + 1]
            numbers.update(text)
    wanted = np.zeros((NY + 2, NX + 2), dtype=int)
    for y in (1, 5_000, 10_001):
        wanted[y, 1:-1] = [value_of(x, y) for x in range(1, NX + 1)]
    expected = hashlib.sha256()
    for y in range(NY + 2):
        expected.update((", ".join(map(str, wanted[y])) + ("]" if y == NY + 1 else ", ")).encode())
    assert numbers.digest() == expected.digest()
    with open(path, "rb") as file:
        while part := file.read(1 << 24):
            read += len(part)
            last = part
    assert read == size and last.endswith(b"}\n")


def test_its_table_has_all_lines(small):
    """Its size is that of all lines; those at its beginning, in its middle, and at its end are there."""
    path = os.path.join(small.path, "m", "table.csv")
    header = "x_low,x_high,y_low,y_high,value,error\n"
    digits = np.vectorize(lambda number: len(str(number)))
    border_x, border_y = (digits(np.arange(n)) + digits(np.arange(1, n + 1)) for n in (NX, NY))
    size = len(header) + int(border_x.sum()) * NY + int(border_y.sum()) * NX + NX * NY * len(",,,,,\n")
    size += NX * (NY - 3) * 2
    for y in (1, 5_000, 10_001):
        size += sum(len(row(x, y).split(",", 4)[4]) - 2 for x in range(1, NX + 1))
    assert os.stat(path).st_size == size
    whole_x = lambda x: "".join(row(x, y) for y in range(1, NY + 1))
    begin = header + whole_x(1) + whole_x(2)
    assert read_at(path, 0, len(begin)).decode() == begin
    end = whole_x(NX - 1) + whole_x(NX)
    assert read_at(path, size - len(end), len(end) + 100).decode() == end
    before = len(header) + int(border_x[:5_000].sum()) * NY + 5_000 * int(border_y.sum())
    before += 5_000 * NY * len(",,,,,\n") + 5_000 * (NY - 3) * 2
    before += sum(len(row(x, y).split(",", 4)[4]) - 2 for y in (1, 5_000, 10_001) for x in range(1, 5_001))
    assert read_at(path, before, len(whole_x(5_001))).decode() == whole_x(5_001)


def test_it_is_drawn(small):
    with open(os.path.join(small.path, "m", "plot.svg"), "rb") as file:
        svg = file.read()
    assert len(svg) < 4 << 20
    cells = [rect for rect in xml.dom.minidom.parseString(svg).getElementsByTagName("rect") if rect.getAttribute("fill")]
    assert 3 * 200 < len(cells) < 3 * 300 + 100  # three lines of cells, and the scale


@pytest.mark.parametrize("name, arrays", (("weighted", "values.f8x1000"), ("p", "values.f8x801"), ("line", "values.f4")))
def test_texts_of_large_objects_are_those_of_their_arrays(small, path, name, arrays):
    """Which a mount with more memory reads from the whole payload."""
    directory = os.path.join(small.path, name)
    with mounted.Mounted(path, ("memory=2G",)) as large:
        values = np.fromfile(os.path.join(large.path, name, arrays), "<" + arrays.split(".")[1][:2]).ravel()
        variances = [each for each in os.listdir(os.path.join(large.path, name)) if each.startswith("variances")][0]
        variances = np.fromfile(os.path.join(large.path, name, variances), "<f8")
    table = os.path.join(directory, "table.csv")
    with open(table) as file:
        lines = file.read().splitlines()
    assert sum(map(len, lines)) + len(lines) == os.stat(table).st_size
    columns = lines[0].split(",")
    at = columns.index("value")
    fields = [line.split(",") for line in lines[1:] if not line.endswith(",0" * (len(columns) - at))]
    assert len(lines) == len(values) + 1 and 1_000 < len(fields) < 20_000
    filled = np.flatnonzero((values != 0) | (variances != 0))
    np.testing.assert_array_equal([float(line[at]) for line in fields], values[filled])
    np.testing.assert_array_equal([float(line[at + 1]) for line in fields], np.sqrt(variances[filled]))
    with open(os.path.join(directory, "object.json")) as file:
        text = file.read()
    assert len(text) == os.stat(os.path.join(directory, "object.json")).st_size
    contents = np.array(json.loads(text)["fArray"])
    with uproot.open(path) as file:
        np.testing.assert_allclose(contents, file[name].values(flow=True).T.ravel() if name != "p" else contents, rtol=1e-6)
    with open(os.path.join(directory, "plot.svg"), "rb") as file:
        svg = xml.dom.minidom.parseString(file.read())
    shapes = len(svg.getElementsByTagName("rect")) + len(svg.getElementsByTagName("path"))
    assert shapes > (2 if name == "line" else 1_000)


def test_its_bytes_are_those_of_the_payload(small, path):
    found = hashlib.sha256()
    with open(os.path.join(small.path, "m", "object.bin"), "rb") as file:
        while part := file.read(1 << 24):
            found.update(part)
    expected = hashlib.sha256()
    with uproot.open(path) as file:
        chunk, cursor = file.key("m").get_uncompressed_chunk_cursor()
        expected.update(chunk.raw_data)
    assert found.digest() == expected.digest()


@pytest.fixture
def held(path):
    with mounted.Mounted(path.replace("large_matrix.root", "containers.root"), ("memory=64M",)) as m:
        yield m
        assert m.errors() == ""
        assert m.peak_bytes() < MEMORY + (64 << 20)


def contents_in(path):
    """The text of the last fArray of an object, as a hash."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        text = file.read()
    begin = text.rindex(b'"fArray": [')
    found.update(memoryview(text)[begin:text.index(b"]", begin)])
    return found.digest()


@pytest.mark.parametrize("name, class_name", (("c", b"TCanvas"), ("l", None), ("folder", b"TFolder")))
def test_a_container_of_a_large_matrix_is_read(held, name, class_name):
    """A canvas, a list, a folder: all of their texts."""
    directory = os.path.join(held.path, name)
    assert contents_in(os.path.join(directory, "object.json")) == contents_in(os.path.join(held.path, "h", "object.json"))
    if class_name:
        with open(os.path.join(directory, "object.streamerinfo"), "rb") as file:
            assert class_name in file.read()


def test_a_large_matrix_is_drawn_in_its_canvas(held):
    def shapes(path):
        with open(os.path.join(held.path, path), "rb") as file:
            text = file.read()
        xml.dom.minidom.parseString(text)
        return text.count(b"<rect"), text
    alone, picture = shapes("h/plot.svg")
    assert 3 * 200 < alone and shapes("c/h/plot.svg")[1] == picture and shapes("l/h/plot.svg")[1] == picture
    count, text = shapes("c/plot.svg")
    assert abs(count - alone) < 20 and b"a text" in text


def test_parts_of_large_containers_are_as_they_are_alone(held):
    table, alone = (os.path.join(held.path, *path, "table.csv") for path in (("l", "h"), ("h",)))
    assert os.stat(table).st_size == os.stat(alone).st_size
    assert read_at(table, 0, 1 << 20) == read_at(alone, 0, 1 << 20)
    with open(os.path.join(held.path, "l", "g", "table.csv")) as file:
        assert file.read().splitlines() == ["x,y", "0,0", "1,1", "2,4"]


def test_a_stack_of_long_histograms_is_drawn(held):
    with open(os.path.join(held.path, "st", "plot.svg"), "rb") as file:
        text = file.read()
    xml.dom.minidom.parseString(text)
    assert b"line 0" in text and b"line 1" in text
    with open(os.path.join(held.path, "st", "line0", "plot.svg"), "rb") as file:
        xml.dom.minidom.parseString(file.read())


def test_axes_of_a_matrix_are_read(small):
    np.testing.assert_array_equal(np.fromfile(os.path.join(small.path, "m", "xedges.f8")), np.arange(NX + 1.0))
    np.testing.assert_array_equal(np.fromfile(os.path.join(small.path, "m", "yedges.f8")), np.arange(NY + 1.0))


@pytest.fixture(scope="module")
def behind(path):
    with mounted.Mounted(path.replace("large_matrix.root", "behind.root"), ("memory=64M",)) as m:
        yield m
        assert m.errors() == ""


@pytest.mark.parametrize("name", ("TList", "THashList", "TSortedList", "TObjArray", "TOrdCollection", "THashTable", "TMap",
                                  "TClonesArray", "by_member"))
def test_what_follows_a_long_histogram_is_read(behind, name):
    directory = os.path.join(behind.path, name)
    with open(os.path.join(directory, "object.json"), "rb") as file:
        text = file.read()
    assert b"$unread" not in text
    shown = json.loads(text)
    items = shown["arr"]
    if name == "TMap":
        items = list(items[0].values())
    by_name = {item["fName"]: item for item in items if isinstance(item, dict)}
    assert len(by_name["along"]["fArray"]) == 3_000_002 and by_name["behind"]["fArray"] == [0, 0, 7, 0, 0]
    if name in ("TList", "THashList"):
        assert shown["opt"] == ["hist", "option"]
    if name not in ("TMap", "TSortedList", "TOrdCollection", "THashTable"):  # of which no parts are shown
        assert np.fromfile(os.path.join(directory, "behind", "values.f4"), "f4").tolist() == [0, 7, 0]


def decoded_bytes(m):
    with open(os.path.join(m.path, ".tfilefs", "stats.json")) as stats:
        return json.load(stats)["objects"]["bytes_decoded"]


@pytest.fixture(scope="module")
def loaded_whole(samples):
    return os.path.join(samples("loaded_whole"), "loaded_whole.root")


@pytest.fixture
def whole(loaded_whole):
    with mounted.Mounted(loaded_whole, ("memory=64M",)) as m:
        yield m
        assert m.errors() == ""
        assert m.peak_bytes() < MEMORY + (64 << 20)


def test_the_json_of_an_efficiency_is_that_of_its_histograms(whole, loaded_whole):
    """They are as large as all of the memory of the mount, and are decoded once, block by block."""
    told = os.path.join(whole.path, "eff", "object.json")
    size, decoded = os.stat(told).st_size, decoded_bytes(whole)
    with open(told, "rb") as file:
        text = file.read()
    assert len(text) == size
    assert decoded_bytes(whole) - decoded < 1.2 * os.stat(os.path.join(whole.path, "eff", "object.bin")).st_size
    shown = json.loads(text)
    with uproot.open(loaded_whole) as file:
        for name, member in (("total", "fTotalHistogram"), ("passed", "fPassedHistogram")):
            expected = file[name].values(flow=True)
            assert expected.sum() > 1_000
            np.testing.assert_array_equal(np.array(shown[member]["fArray"]), expected.T.ravel())


@pytest.mark.parametrize("name", ("dense", "sparse"))
def test_the_table_of_many_dimensions_is_that_of_its_arrays(whole, loaded_whole, name):
    table = os.path.join(whole.path, name, "table.csv")
    with open(table, "rb") as file:
        text = file.read()
    assert len(text) == os.stat(table).st_size
    lines = text.decode().splitlines()
    with mounted.Mounted(loaded_whole, ("memory=2G",)) as large:
        directory = os.path.join(large.path, name)
        array = [each for each in os.listdir(directory) if each.startswith("values")][0]
        values = np.fromfile(os.path.join(directory, array), "<f8")
        if name == "sparse":
            cells = np.fromfile(os.path.join(directory, "coordinates.i4x4"), "<i4").reshape(-1, 4)
            values = values[((cells > 0) & (cells <= 200)).all(axis=1)]
    assert len(lines) == len(values) + 1
    found = np.array([float(line.split(",")[8]) for line in lines[1:]])
    np.testing.assert_array_equal(found, values)
