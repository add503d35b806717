# SPDX-License-Identifier: Apache-2.0
"""Generated files: .npy, .txt, .schema.json, .header.json, .map.txt, .original, and .tfilefs/."""

import json
import os
import subprocess

import awkward
import numpy as np
import pytest
import uproot

import mounted
import mounted_table

pytestmark = pytest.mark.fast

VIEWS_OF_A_FILE = (".header.json", ".map.txt", ".original")


@pytest.fixture
def numbers(samples, shared_mount):
    return shared_mount(os.path.join(samples("numbers"), "numbers-101.root")).path


@pytest.fixture
def strings(samples, shared_mount):
    return shared_mount(os.path.join(samples("strings"), "strings.root")).path


@pytest.mark.parametrize(
    "name", ("s_D", "s_O", "m_F", "a_S", "s_l", "c_F/values", "c_F/offsets", "k_I/values", "packed/c", "s_D.f8")
)
def test_npy(numbers, name):
    path = os.path.join(numbers, "t", name + ".npy")
    column = mounted_table.read_array(os.path.realpath(os.path.join(
        numbers, "t", os.path.dirname(name),
        next(entry for entry in os.listdir(os.path.join(numbers, "t", os.path.dirname(name)))
             if entry == os.path.basename(name) or entry.rpartition(".")[0] == os.path.basename(name)))))
    loaded = np.load(path)
    assert loaded.dtype == column.dtype and loaded.shape == column.shape
    assert loaded.tobytes() == column.tobytes()
    mapped = np.load(path, mmap_mode="r")
    assert np.asarray(mapped).tobytes() == column.tobytes()
    assert len(mounted_table.read_exactly(path)) == os.stat(path).st_size


def test_npy_of_no_entries(samples, mount):
    m = mount(os.path.join(samples("numbers"), "numbers-empty.root"))
    assert np.load(os.path.join(m.path, "t/m_D.npy")).shape == (0, 2, 3)
    assert np.load(os.path.join(m.path, "t/c_F/offsets.npy")).tolist() == [0]


def lines_of(path):
    text = mounted_table.read_exactly(path)
    assert text.endswith(b"\n")
    return text[:-1].split(b"\n")


def test_text_of_numbers(numbers):
    table = os.path.join(numbers, "t")
    assert [int(line) for line in lines_of(os.path.join(table, "s_I.txt"))] == mounted_table.read_node(table, "s_I")
    doubles = [float(line) for line in lines_of(os.path.join(table, "s_D.txt"))]
    assert mounted_table.same(doubles, mounted_table.read_node(table, "s_D")), "the text reads back equal"
    floats = np.array([float(line) for line in lines_of(os.path.join(table, "s_F.txt"))], "f4")
    assert np.array_equal(floats, np.array(mounted_table.read_node(table, "s_F"), "f4"), equal_nan=True)


def test_text_of_lists(numbers):
    table = os.path.join(numbers, "t")
    lists = [[int(word) for word in line.split()] for line in lines_of(os.path.join(table, "c_S.txt"))]
    assert lists == mounted_table.read_node(table, "c_S")


def test_text_of_strings(strings):
    lines = lines_of(os.path.join(strings, "t/plain.txt"))
    assert lines == [b"p%d" % entry for entry in range(400)]
    lines = lines_of(os.path.join(strings, "t/c.txt"))
    assert len(lines) == 400, "control characters are escaped: an entry is a line"
    assert all(byte >= 0x20 for line in lines for byte in line)


def test_text_is_seekable(numbers):
    path = os.path.join(numbers, "t/s_D.txt")
    whole = mounted_table.read_exactly(path)
    with open(path, "rb", buffering=0) as file:
        for offset in (0, 1, 777, len(whole) - 3, len(whole)):
            assert os.pread(file.fileno(), 100, offset) == whole[offset : offset + 100]


def test_schema(numbers):
    table = os.path.join(numbers, "t")
    schema = mounted_table.schema_of(table)
    assert schema["tfilefs"] == 1 and schema["kind"] == "ttree" and schema["name"] == "t"
    assert schema["title"] == "all leaf types" and schema["entries"] == 300
    columns = mounted_table.columns_of(table)
    values = columns["k_F/values.f4x2x2"]
    assert values["branch"] == "k_F" and values["field"] == [] and values["lists"] == ["k_F/offsets.i8"]
    assert values["role"] == "values" and values["compression"] == "zlib:1" and values["reason"] is None
    assert columns["packed/b.f8"]["branch"] == "packed" and columns["packed/b.f8"]["field"] == ["b"]


def test_header(numbers, samples):
    header = json.loads(mounted_table.read_exactly(os.path.join(numbers, ".header.json")))
    with open(os.path.join(samples("numbers"), "numbers-101.root"), "rb") as file:
        head = file.read(100)
    numbers_in_header = {value for value in header.values() if isinstance(value, int)}
    for offset in (4, 8, 12, 16, 20, 24, 28, 33, 37, 41):
        assert int.from_bytes(head[offset : offset + 4], "big") in numbers_in_header, offset


def test_map_names_every_record(samples, shared_mount, program):
    source = os.path.join(samples("storage"), "directories.root")
    text = mounted_table.read_exactly(os.path.join(shared_mount(source).path, ".map.txt")).decode()
    with uproot.open(source) as file:
        for path in file.keys(cycle=False):
            assert path.split("/")[-1] in text, path
    assert subprocess.run([program, "map", source], check=True, capture_output=True, text=True).stdout == text


def directories_below(top):
    """Paths of the directories that are no objects and in no table, and of what is in them."""
    for name in sorted(os.listdir(top)):
        path = os.path.join(top, name)
        yield path
        if os.getxattr(path, "user.tfilefs.class").startswith(b"TDirectory"):
            yield from directories_below(path)


@pytest.mark.parametrize("sample", ("storage/directories.root", "storage/plain.root", "numbers/numbers-101.root"))
def test_keys_are_those_of_all_directories(samples, shared_mount, sample):
    directory, name = sample.split("/")
    top = shared_mount(os.path.join(samples(directory), name)).path
    for place in [top, *(each for each in directories_below(top) if os.path.exists(os.path.join(each, ".keys.json")))]:
        found = json.load(open(os.path.join(place, ".keys.json")))
        assert found["all"] is True
        there = [each for each in directories_below(place) if not each.startswith(os.path.join(place, ".tfilefs"))]
        assert sorted(os.path.join(place, each["path"]) for each in found["keys"]) == sorted(there)
        for each in found["keys"]:
            path = os.path.join(place, each["path"])
            assert os.getxattr(path, "user.tfilefs.class").decode() == each["class"]
            kind = "object" if os.path.exists(os.path.join(path, "object.bin")) else "table" if os.path.exists(os.path.join(path, ".schema.json")) else "directory"
            assert each["kind"] == kind


def test_original_is_the_file(samples, shared_mount):
    source = os.path.join(samples("storage"), "plain.root")
    with open(source, "rb") as file:
        assert mounted_table.read_exactly(os.path.join(shared_mount(source).path, ".original")) == file.read()


def test_views_are_hidden_and_found(numbers):
    listed = set(os.listdir(numbers)) | set(os.listdir(os.path.join(numbers, "t")))
    for name in (*VIEWS_OF_A_FILE, ".tfilefs", "t/.schema.json", "t/s_D.npy", "t/s_D.txt"):
        assert os.path.basename(name) not in listed
        assert os.path.exists(os.path.join(numbers, name)), name


def test_views_listed(samples, mount):
    m = mount(os.path.join(samples("storage"), "plain.root"), "views=listed")
    assert {*VIEWS_OF_A_FILE, "t"} <= set(os.listdir(m.path))
    inside = set(os.listdir(os.path.join(m.path, "t")))
    assert {".schema.json", "number.i4", "list", "text"} <= inside
    for directory, _, files in os.walk(m.path):
        for name in files:
            mounted_table.read_exactly(os.path.join(directory, name))


def read_all(top):
    """Everything listed exists, and can be read to the size that is reported."""
    for directory, names, files in os.walk(top, onerror=lambda error: pytest.fail(str(error))):
        for name in names:
            os.stat(os.path.join(directory, name))
        for name in files:
            mounted_table.read_exactly(os.path.join(directory, name))


@pytest.mark.parametrize("sample", ("plots", "objects", "contradictions"))
def test_what_is_listed_is_there(samples, mount, sample):
    for name in sorted(os.listdir(samples(sample))):
        if name.endswith(".root"):
            read_all(mount(os.path.join(samples(sample), name), "views=listed").path)


def test_views_that_a_table_does_not_have_are_not_listed(tmp_path, mount):
    path = tmp_path / "shapes.root"
    with uproot.recreate(path) as file:
        file.mktree("shapes", {"m": ("f8", (2, 2))}).extend({"m": np.zeros((3, 2, 2))})
        file.mktree("both", {"m": ("f8", (2, 2)), "x": "f8"}).extend({"m": np.zeros((3, 2, 2)), "x": np.zeros(3)})
        ntuple = file.mkrntuple("ntuple", {"x": np.zeros(3)})
        ntuple.extend({"x": np.zeros(3)})
    top = mount(path, "views=listed").path
    names = set(os.listdir(top))
    assert {"both.csv", "both.arrow", "shapes.arrow", "shapes.jsonl"} <= names
    assert "shapes.csv" not in names and not os.path.exists(os.path.join(top, "shapes.csv"))
    read_all(top)


def test_control_directory(samples, mount):
    m = mount(os.path.join(samples("storage"), "plain.root"))
    control = os.path.join(m.path, ".tfilefs")
    assert m.errors() == ""
    assert "errors" in os.listdir(control)
    config = os.path.join(control, "config.json")
    if os.path.exists(config):
        assert isinstance(json.loads(mounted_table.read_exactly(config)), dict)


def test_table_under_a_real_name_that_looks_like_a_view(mount, tmp_path):
    """A real entry takes precedence over a view of the same name."""
    path = tmp_path / "clash.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "f4", "x.npy": "i4"})
        file["t"].extend({"x": np.arange(3, dtype="f4"), "x.npy": np.array([7, 8, 9], "i4")})
    m = mount(path)
    assert mounted_table.read_array(os.path.join(m.path, "t/x.npy.i4")).tolist() == [7, 8, 9]
    assert np.load(os.path.join(m.path, "t/x.f4.npy")).tolist() == [0, 1, 2]


RESERVED_IN_A_TABLE = (".schema.json", ".awkward.json", ".pending.json", ".option.npy", ".table", ".tfilefs", "offsets")


def test_no_branch_hides_a_view(tmp_path, mount):
    path = tmp_path / "names.root"
    numbers = {name: np.arange(3.0) + i for i, name in enumerate(RESERVED_IN_A_TABLE)}
    with uproot.recreate(path) as file:
        file.mktree("T", {name: "int64" for name in numbers} | {"px": "f4", "px.npy": "f8", "px.txt": "f8"})
        file["T"].extend({name: values.astype("i8") for name, values in numbers.items()}
                         | {"px": np.ones(3, "f4"), "px.npy": np.zeros(3), "px.txt": np.zeros(3)})
    table = os.path.join(mount(path, "rw").path, "T")
    schema = json.load(open(os.path.join(table, ".schema.json")))
    assert json.load(open(os.path.join(table, ".awkward.json")))["length"] == 3
    assert "tfilefs" in json.load(open(os.path.join(table, ".pending.json")))
    for hidden in (".option.npy", ".table", ".tfilefs", "offsets.i8"):
        assert not os.path.exists(os.path.join(table, hidden)), hidden
    paths = {column["branch"]: column["path"] for column in schema["columns"]}
    for name, values in numbers.items():
        assert not os.path.dirname(paths[name]) and paths[name] in os.listdir(table)
        column = np.fromfile(os.path.join(table, paths[name]), "<i8")
        assert column.tolist() == values.tolist(), name
        assert os.getxattr(os.path.join(table, paths[name]), "user.tfilefs.name") == name.encode()
        bare = "offsets" if name == "offsets" else "%2E" + name[1:]
        assert np.fromfile(os.path.join(table, bare), "<i8").tolist() == values.tolist(), "its name without the type"
    assert np.load(os.path.join(table, "px.npy")).tolist() == [1, 1, 1], "the view of px, not the branch px.npy"
    assert lines_of(os.path.join(table, "px.txt")) == [b"1"] * 3
    assert np.fromfile(os.path.join(table, "px.npy.f8")).tolist() == [0, 0, 0]


def test_no_key_hides_a_view(tmp_path, mount):
    path = tmp_path / "keys.root"
    names = (".tfilefs", ".original", ".map.txt", ".header.json", ".streamerinfo.json", ".keys.json", ".classes")
    with uproot.recreate(path) as file:
        for name in names:
            file[name] = "text of " + name
    top = mount(path, "views=listed").path
    assert set(names) <= set(os.listdir(top))
    for name in names:
        escaped = os.path.join(top, "%2E" + name[1:])
        assert open(os.path.join(escaped, "text.txt")).read().strip() == "text of " + name
    assert open(os.path.join(top, ".original"), "rb").read() == path.read_bytes()
    assert "README" in os.listdir(os.path.join(top, ".tfilefs"))
    for name in (".header.json", ".streamerinfo.json", ".keys.json"):
        json.load(open(os.path.join(top, name)))


def test_views_are_listed_once(tmp_path, mount):
    path = tmp_path / "twice.root"
    one = awkward.Array([[1.0]])
    with uproot.recreate(path) as file:
        file.mktree("T", {"a": "var * float64", "a.txt": "var * float64"})
        file["T"].extend({"a": one, "na": np.ones(1, "i4"), "a.txt": one, "na.txt": np.ones(1, "i4")})
    names = os.listdir(os.path.join(mount(path, "views=listed").path, "T"))
    assert sorted(names) == sorted(set(names)) and "a.txt" in names


def test_a_branch_called_offsets_is_copied_as_a_column(tmp_path, mount):
    path = tmp_path / "offsets.root"
    with uproot.recreate(path) as file:
        file.mktree("dir/T", {"offsets": "int64", "x": "f8"})
        file["dir/T"].extend({"offsets": np.array([7, 5, 3]), "x": np.zeros(3)})
    source, made = mount(path), tmp_path / "made"
    made.mkdir()
    with mounted.Mounted(made, ["rw"]) as target:
        subprocess.run(["cp", "-r", source.path, os.path.join(target.path, "copy.root")], check=True)
    with uproot.open(made / "copy.root") as copy:
        assert copy["dir/T"]["offsets"].array(library="np").tolist() == [7, 5, 3]
