# SPDX-License-Identifier: Apache-2.0
"""What the Python package writes, as uproot reads it."""

import contextlib
import os
import time

import awkward as ak
import numpy as np
import pytest
import uproot

LISTS = [[1.5, 2.5], [], [3.5]]
COLUMNS = {
    "x": np.arange(3, dtype="f4"), "flag": np.array([True, False, True]), "big": np.arange(3, dtype=">i8"),
    "position": np.arange(9.0).reshape(3, 3), "plain": [1, 2, 3], "lists": LISTS, "pt": ak.Array(LISTS),
    "nested": ak.Array([[[1], []], [], [[2, 3]]]), "text": ["a", "é", ""], "texts": ak.Array([["a", "b"], [], ["c"]]),
    "point": ak.Array([{"x": 1, "y": 2.5}, {"x": 2, "y": 3.5}, {"x": 3, "y": 4.5}]),
    "hits": ak.Array([[{"x": 1.5, "id": 1}], [], [{"x": 2.5, "id": 2}, {"x": 3.5, "id": 3}]]),
    "kept": ak.Array([1, None, 3])[[0, 2, 0]],
}


def as_lists(columns):
    return {name: [each.tolist() if isinstance(each, np.ndarray) else each for each in getattr(value, "tolist", lambda: value)()]
            for name, value in columns.items()}


@pytest.mark.parametrize("form", ("tree", "rntuple"))
def test_a_table_of_arrays(tfilefs, tmp_path, form):
    path = tmp_path / "out.root"
    with tfilefs.create(path, format=form) as f:
        f["Events"] = COLUMNS
        f["below/this/Events"] = {"x": np.arange(5)}
    expected = as_lists(COLUMNS)
    with uproot.open(path) as file:
        tree = file["Events"]
        assert file["below/this/Events"].arrays().x.to_list() == [0, 1, 2, 3, 4] and tree.num_entries == 3
        for name in set(expected) - {"hits", "point"}:
            assert tree[name].array().to_list() == expected[name], name
    with tfilefs.mount(path) as f:
        assert ak.Array(f["Events"].arrays()).to_list() == [dict(zip(expected, row)) for row in zip(*expected.values())]


def tables():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    flat = {"x": [1.5, 2.5], "n": [1, 2], "text": ["a", "b"], "lists": [[1, 2], [3]]}
    return {
        "pandas": pandas.DataFrame(flat), "polars": polars.DataFrame(flat), "arrow": pyarrow.table(flat),
        "awkward": ak.Array({**flat, "text": flat["text"]}), "structured": np.array([(1.5, 1), (2.5, 2)], [("x", "f8"), ("n", "i8")]),
        "series": {"x": pandas.Series(flat["x"]), "n": polars.Series(flat["n"]), "text": pandas.Series(flat["text"])},
    }, ak.Array(flat)


@pytest.mark.parametrize("kind", ("pandas", "polars", "arrow", "awkward", "structured", "series"))
def test_tables_of_others(tfilefs, tmp_path, kind):
    made, expected = tables()
    with tfilefs.create(tmp_path / "out.root") as f:
        f["t"] = made[kind]
        f["t"].extend(made[kind])
    found = uproot.open(tmp_path / "out.root")["t"].arrays()
    assert len(found.fields) >= 2 and found.to_list() == ak.concatenate([expected, expected])[found.fields].to_list()


def test_more_entries(tfilefs, tmp_path):
    """Before the commit, after it, and in another mount."""
    path = tmp_path / "out.root"
    columns = {name: value for name, value in COLUMNS.items() if name not in ("point",)}
    with tfilefs.create(path) as f:
        f["t"] = columns
        assert isinstance(f["t"], tfilefs.StagedTable) and "'t'" in repr(f["t"])
        f["t"].extend(columns)
        f.commit()
        assert isinstance(f["t"], tfilefs.Table) and f["t"].num_entries == 6
        f["t"].extend(columns)
    with tfilefs.mount(path, "rw") as f:
        f["t"].extend(columns)
        for wrong in ({"x": np.arange(3)}, {**columns, "x": np.arange(3.0)}, {**columns, "other": np.arange(3)}):
            with pytest.raises(ValueError, match="x|other"):
                f["t"].extend(wrong)
    with uproot.open(path) as file:
        for name, values in as_lists(columns).items():
            if name != "hits":
                assert file["t"][name].array().to_list() == values * 4, name
        assert file["t"].arrays()["hits.x" if "hits.x" in file["t"].arrays().fields else "hits"] is not None


@pytest.mark.parametrize("name", ("tracker/layer1/hits", "tracker/occupancy"))
def test_histograms(tfilefs, sample, tmp_path, name):
    boost_histogram, hist = pytest.importorskip("boost_histogram"), pytest.importorskip("hist")
    with uproot.open(sample) as file:
        theirs = file[name]
        expected = theirs.to_numpy(flow=True)
        made = {"numpy": theirs.to_numpy(), "uproot": theirs, "hist": theirs.to_hist(), "boost": theirs.to_boost()}
        assert isinstance(made["hist"], hist.Hist) and isinstance(made["boost"], boost_histogram.Histogram)
        with tfilefs.mount(sample) as source, tfilefs.create(tmp_path / "out.root") as f:
            for kind, value in made.items():
                f[f"made/{kind}"] = value
            f["copied"] = source[name]
            f.mkdir("empty/below")
    with uproot.open(tmp_path / "out.root") as file:
        assert "empty/below" in file and file["copied"].title == theirs.title
        for kind in ("made/numpy", "made/uproot", "made/hist", "made/boost", "copied"):
            found = file[kind].to_numpy(flow=True)
            inner = tuple(slice(1, -1) for _ in found[1:])
            assert np.array_equal(found[0][inner], expected[0][inner]) and np.allclose(found[1], expected[1])
            assert kind == "made/numpy" or np.array_equal(found[0], expected[0])
            assert kind == "made/numpy" or np.allclose(file[kind].variances(), theirs.variances())


def test_what_is_refused(tfilefs, tmp_path):
    hist = pytest.importorskip("hist")
    named, mean = hist.Hist(hist.axis.StrCategory(["a", "b"])), hist.Hist(hist.axis.Regular(2, 0, 1), storage=hist.storage.Mean())
    path = tmp_path / "out.root"
    with tfilefs.create(path) as f:
        f["t"] = {"x": np.arange(3)}
        for wrong, error, word in (
                ({"x": [1], "y": [1, 2]}, ValueError, "x has 1, y has 2"), ({}, ValueError, "has columns"), (3, TypeError, "int is no table"),
                ("text", TypeError, "str is no table"), ({"x": ak.Array([1, None])}, TypeError, "nulls"),
                ({"x": ak.Array([1, "a"])}, TypeError, "union"), ({"x": np.zeros(2, "c16")}, TypeError, "complex128"),
                ({"x": np.zeros(2, "M8[s]")}, TypeError, "datetime64"), (named, TypeError, "names of bins"), (mean, TypeError, "means")):
            with pytest.raises(error, match=word):
                f["wrong"] = wrong
        with pytest.raises(FileExistsError):
            f["t"] = {"x": np.arange(3)}
        for outside in ("../x", "a/../../x"):
            with pytest.raises(KeyError):
                f[outside] = {"x": np.arange(3)}
    assert uproot.open(path).keys(cycle=False) == ["t"]
    with pytest.raises(FileExistsError, match="rw"):
        tfilefs.create(path)
    with tfilefs.mount(path) as f, pytest.raises(OSError):
        f["more"] = {"x": np.arange(3)}


def test_the_mount_says_why_it_refuses(tfilefs, tmp_path):
    with tfilefs.create(tmp_path / "out.root") as f:
        with pytest.raises(tfilefs.MountError, match="[Rr]ecord|variant|list"):
            f["t"] = {"x": ak.Array([[{"a": [{"b": 1.5}]}]])}
        import shutil
        shutil.rmtree(f.path + "/t")


def test_what_cannot_be_committed_is_an_error_of_the_block(tfilefs, tmp_path):
    with pytest.raises(tfilefs.MountError, match="y"):
        with tfilefs.create(tmp_path / "out.root") as f:
            f["t"] = {"x": np.arange(3, dtype="i4")}
            np.arange(2, dtype="i4").tofile(os.path.join(f.path, "t", "y.i4"))


def test_a_block_that_fails_has_written_nothing(tfilefs, tmp_path):
    """Its own error comes out, also where something is incomplete. Of a file that it has made there is none."""
    path = tmp_path / "out.root"
    with pytest.raises(ZeroDivisionError):
        with tfilefs.create(path) as f:
            f["t"] = {"x": np.arange(3)}
            np.arange(2, dtype="i4").tofile(os.path.join(f.path, "t", "y.i4"))
            1 / 0
    assert os.listdir(tmp_path) == []
    with tfilefs.create(path) as f:
        f["t"] = {"x": np.arange(3)}
    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        with tfilefs.mount(path, "rw") as f:
            f["t"].extend({"x": np.arange(3)})
            f["more"] = {"x": np.arange(3)}
            time.sleep(7)  # longer than a mount waits before it commits
            raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["out.root"] and path.read_bytes() == before and not os.path.ismount(f.path)


def test_what_a_block_has_committed_stays(tfilefs, tmp_path):
    for end in ("fails", "discards"):
        with contextlib.suppress(ZeroDivisionError), tfilefs.create(tmp_path / f"{end}.root") as f:
            f["t"] = {"x": np.arange(3)}
            f.commit()
            kept = f["t"].numpy("x")
            f["t"].extend({"x": np.arange(3)})
            f["more"] = {"x": np.arange(3)}
            if end == "discards":
                f.discard()
            else:
                1 / 0
        with uproot.open(tmp_path / f"{end}.root") as file:
            assert file.keys(cycle=False) == ["t"] and file["t"].num_entries == len(kept) == 3


def test_a_block_that_fails_while_another_program_reads(tfilefs, tmp_path):
    """The mount point goes, and what was written too."""
    with pytest.raises(ZeroDivisionError):
        with tfilefs.create(tmp_path / "out.root") as f:
            f["t"] = {"x": np.arange(3)}
            held = open(os.path.join(f.path, "t", "x.i8"), "rb")
            1 / 0
    assert os.listdir(tmp_path) == [] and not os.path.exists(f.path)
    held.close()


def test_blocks_that_only_read_may_fail(tfilefs, sample):
    with pytest.raises(ZeroDivisionError), tfilefs.mount(sample) as f:
        assert f["Events"].num_entries / 0
    assert not os.path.exists(f.path)


@pytest.mark.parametrize("name", ("a?.root", "a*.root", "[a]{b,c}.root", "back\\slash.root", "back\\?.root", "a,b.root", "plain.root"))
def test_a_new_file_has_the_name_that_is_given(tfilefs, tmp_path, name):
    """It is no pattern, though the program takes those."""
    with tfilefs.create(tmp_path / name) as f:
        f["t"] = {"x": np.arange(3)}
        assert f.source == str(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    with tfilefs.mount(tmp_path / name) as f:
        assert f["t"].num_entries == 3
    with pytest.raises(FileExistsError):
        tfilefs.create(tmp_path / name)


def test_values_that_would_get_lost_are_refused(tfilefs, tmp_path):
    """Masked ones, imaginary parts, one of two columns of a name; nothing is left of the table."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    path, edges = tmp_path / "out.root", np.arange(3)
    with tfilefs.create(path) as f:
        for wrong, error, word in (
                ({"x": np.ma.masked_array([1.5, 2.5], [False, True])}, TypeError, "x: .*masked"), ({"x": "text"}, TypeError, "a text is no column"),
                ({"x": 3}, TypeError, "x: int"), ({1: [1]}, TypeError, "name of a column is a text"), ({"x": [2**70]}, TypeError, "x: list"),
                ({"x": pandas.Series([1, None], dtype="Int64")}, TypeError, "x: .*nulls"), ({"x": [[], []]}, TypeError, "x: .*enforce_type"),
                ({"x": pandas.Series([True, None], dtype="boolean")}, TypeError, "x: .*nulls"), ({"x": ak.Array([[], []])}, TypeError, "enforce_type"),
                ({"x": polars.Series(["1.5"]).cast(polars.Decimal(10, 2))}, TypeError, "x: Series"), ({"x": ak.Array([{}])}, ValueError, "x .*members"),
                (pandas.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "two columns have the name a"),
                ((np.array([1j, 2]), edges), TypeError, "values"), ((np.ma.masked_array([1, 2], [True, False]), edges), TypeError, "values")):
            with pytest.raises(error, match=word):
                f["wrong"] = wrong
        f["t"] = {"x": np.ma.masked_array([1.5, 2.5]), "y": pandas.Series([1, 2], dtype="Int64")}
        f["lazy"] = polars.LazyFrame({"x": [1, 2]})
    with uproot.open(path) as file:
        assert set(file.keys(cycle=False)) == {"t", "lazy"} and file["t"].arrays().to_list() == [{"x": 1.5, "y": 1}, {"x": 2.5, "y": 2}]


def test_arrays_in_arrays_of_objects_are_lists(tfilefs, sample, tmp_path):
    """What library="np" gives is written."""
    with tfilefs.mount(sample) as f, tfilefs.create(tmp_path / "out.root") as out:
        out["t"] = f["Events"].arrays(["energy", "Muon_pt"], entry_stop=100, library="np")
        out["more"] = {"x": [np.arange(2), np.arange(0), np.arange(1)], "y": [[np.arange(2.0)], [], [np.arange(0.0)]]}
        expected = f["Events"].arrays(["energy", "Muon_pt"], entry_stop=100, copy=True)
    with tfilefs.mount(tmp_path / "out.root") as f:
        assert f["t"].arrays().to_list() == expected.to_list()
        assert f["more"].arrays().to_list() == [{"x": [0, 1], "y": [[0, 1]]}, {"x": [], "y": []}, {"x": [0], "y": [[]]}]


def test_lists_of_one_length_are_added_to_lists(tfilefs, tmp_path):
    first = {"x": [[1.5], []], "y": [[[1], []], [[2, 3]]], "z": np.arange(4.0).reshape(2, 2)}
    with tfilefs.create(tmp_path / "out.root") as f:
        f["t"] = first
        for more in ({"x": [[2.5, 3.5]], "y": [[[4], [5]]], "z": [[1.5, 2.5]]}, {"x": [[]], "y": [[]], "z": [[1.5, 2.5]]}):
            if more["y"] == [[]]:
                with pytest.raises(ValueError, match="y"):
                    f["t"].extend({**more, "y": [1]})
            f["t"].extend(more)
            f.commit()
        with pytest.raises(ValueError, match="z"):
            f["t"].extend({"x": [[1.5]], "y": [[[1]]], "z": [[1.5]]})
    found = uproot.open(tmp_path / "out.root")["t"].arrays()
    assert found.x.to_list() == [[1.5], [], [2.5, 3.5], []] and found.y.to_list() == [[[1], []], [[2, 3]], [[4], [5]], []]


@pytest.mark.parametrize("form", ("tree", "rntuple"))
def test_a_table_of_records_alone(tfilefs, tmp_path, form):
    """It is a table, whatever its columns are named; types have the names of members."""
    records, path = ak.Array([{"x": 1, "y": [1.5], "s": "a", "values": [[2]]}] * 2), tmp_path / "out.root"
    with tfilefs.create(path, format=form) as f:
        f["t"] = {"r": records, "one": ak.Array([{"only": 1.5}] * 2)}
        f["t"].extend({"r": records, "one": ak.Array([{"only": 1.5}] * 2)})
        named = {"object.bin" if form == "tree" else "object_bin": [1, 2], "offsets": [1, 2]}
        f["named"] = named
    with tfilefs.mount(path) as f:
        assert f["t"].typenames()["r"].endswith("int64_t x; double[] y; char* s; int64_t[][] values;}")
        assert f["t"].typenames()["one"] == "struct {double only;}" and f["t"]["r"].array().to_list() == 2 * records.to_list()
        assert f["named"].arrays().to_list() == ak.Array(named).to_list()
