# SPDX-License-Identifier: Apache-2.0
"""What hands that know uproot ask of the Python package, against what uproot gives."""

import io
import os
import pathlib

import awkward as ak
import numpy as np
import pytest
import ROOT
import uproot

from conftest import once


def write_types(path):
    """A column of each kind: of collections, texts, a map, an object, leaves, arrays, numbers."""
    file = ROOT.TFile(path, "RECREATE")
    tree = ROOT.TTree("t", "of all kinds")
    std = ROOT.std
    kinds = {"v": std.vector("float")(), "s": std.string(), "vs": std.vector("string")(), "vv": std.vector("vector<int>")(),
             "lv": ROOT.TLorentzVector(1, 2, 3, 4)}
    for name, value in kinds.items():
        tree.Branch(name, value)
    numbers = {"flag/O": np.zeros(1, "b1"), "i1/B": np.zeros(1, "i1"), "u2/s": np.zeros(1, "u2"), "u8/l": np.zeros(1, "u8"),
               "n/I": np.zeros(1, "i4"), "counted[n]/F": np.zeros(9, "f4"), "mat[2][3]/D": np.zeros(6)}
    for leaf, value in numbers.items():
        tree.Branch(leaf.split("/")[0].split("[")[0], value, leaf)
    leaves = np.zeros(2, "f4")
    tree.Branch("leaves", leaves, "a/F:b/F")
    for i in range(100):
        kinds["v"].assign(i % 4, i)
        kinds["s"].assign(f"text {i}")
        kinds["vs"].assign(i % 3, f"é {i}")
        kinds["vv"].assign(i % 3, std.vector("int")(i % 5, i))
        kinds["lv"].SetE(i)
        for value in numbers.values():
            value[:] = i % 7 + np.arange(len(value))
        leaves[:] = i, -i
        tree.Fill()
    tree.Write()
    file.Close()


@pytest.fixture(scope="module")
def types(tmp_path_factory):
    return str(once(tmp_path_factory, "python-types", lambda directory: write_types(str(directory / "types.root"))) / "types.root")


@pytest.fixture(params=("mount", "open"))
def ours(request, tfilefs, sample):
    """What both give is the same."""
    with getattr(tfilefs, request.param)(sample) as f:
        yield f


@pytest.fixture
def theirs(sample):
    with uproot.open(sample) as f:
        yield f


def equal(ours, theirs):
    return ak.array_equal(ours, theirs, check_parameters=False, dtype_exact=False)


def test_keys_and_classes(ours, theirs):
    assert ours.keys(recursive=True) == set(theirs.keys(cycle=False)) and list(ours.keys()) == list(ours)
    assert set(ours.keys(filter_name="t*")) == set(theirs.keys(filter_name="t*", recursive=False, cycle=False))
    assert set(ours.keys(True, ["*hits", "Events"])) == set(theirs.keys(filter_name=["*hits", "Events"], cycle=False))
    assert ours.classnames(recursive=True) == theirs.classnames(cycle=False)
    assert ours.classnames() == theirs.classnames(recursive=False, cycle=False)
    assert ours["tracker/layer1"].classnames() == {"hits": "TH1D"} and ours["tracker/layer1/hits"].classname == "TH1D"


def test_items_and_values(ours, theirs):
    for given in ({}, {"filter_name": "t*"}, {"filter_name": "*hits", "recursive": True}, {"filter_classname": "/TH1./", "recursive": True},
                  {"filter_name": lambda name: name.startswith("t")}, {"filter_classname": lambda name: name == "TTree"}):
        expected = theirs.classnames(**{"recursive": False, **given}, cycle=False)
        assert dict(ours.items(**given)).keys() == ours.keys(**given) == expected.keys() and ours.classnames(**given) == expected
        assert len(ours.values(**given)) == len(expected)
        for (name, item), value in zip(ours.items(**given), ours.values(**given)):
            assert type(item) is type(value) and getattr(item, "name", name) == value.name == name
    assert [h.values().sum() for h in ours.values(True, filter_classname="TH1D")] == [
        theirs[name].values().sum() for name in ours.keys(True, filter_classname="TH1D")]
    events, tree = ours["Events"], theirs["Events"]
    for given in ({}, {"filter_name": "*Muon*"}, {"filter_typename": "float[]"}, {"filter_typename": ["/u?int.*/", "none"]},
                  {"filter_typename": lambda name: "[" in name}):
        assert [name for name, _ in events.items(**given)] == events.keys(**given) == tree.keys(**given), given
        assert events.typenames(**given) == tree.typenames(**given)
        for (name, column), value in zip(events.items(**given), events.values(**given)):
            assert column.name == value.name == name and equal(column.array(), tree[name].array())


def test_what_is_shown(ours, capsys):
    ours["Events"].show(filter_name=["energy", "Muon_pt"])
    assert capsys.readouterr().out.splitlines() == [
        "name    | type    | files",
        "--------+---------+--------------------------------------",
        "energy  | float   | energy.f4",
        "Muon_pt | float[] | Muon_pt/offsets.i8, Muon_pt/values.f4"]
    text = io.StringIO()
    ours.show(recursive=True, filter_classname="TH1D", stream=text)
    assert text.getvalue().splitlines()[0].split(" | ")[0].strip() == "name" and len(text.getvalue().splitlines()) == 2 + len(
        ours.keys(True, filter_classname="TH1D"))
    assert any(line.split(" | ")[1].strip(" |") == "TH1D" for line in text.getvalue().splitlines()[2:])


def test_names_that_are_shown_command_no_terminal(tfilefs, tmp_path, capsys):
    with uproot.recreate(tmp_path / "names.root") as file:
        file["a\x1b[2Jb"] = np.histogram([1, 2], bins=2)
    with tfilefs.mount(tmp_path / "names.root") as f:
        f.show()
    assert "a\\x1b[2Jb" in (said := capsys.readouterr().out) and "\x1b" not in said


@pytest.mark.parametrize("way", ("mount", "open"))
def test_columns_and_their_types(tfilefs, types, way):
    with getattr(tfilefs, way)(types) as f, uproot.open(types) as file:
        ours, theirs = f["t"], file["t"]
        assert ours.keys() == theirs.keys(recursive=False) == list(ours) and ours.num_entries == theirs.num_entries == 100
        assert ours.typenames() == theirs.typenames(recursive=False)
        assert ours.typenames(filter_name=["v*", "none"]) == theirs.typenames(filter_name="v*", recursive=False)
        assert ours.title == theirs.title and ours["mat"].title == theirs["mat"].title and "mat" in ours and "none" not in ours
        for name in set(ours.keys()) - {"lv"}:
            assert equal(ours[name].array(), theirs[name].array()), name
            assert equal(ours[name].array(7, -20, copy=True), theirs[name].array(entry_start=7, entry_stop=-20)), name
        assert ours["lv"].keys() == ["TObject", "fP", "fE"] and f["t/lv/fE"].array().to_list() == list(range(100))
        assert equal(ours["lv"]["fP"]["fX"].array(copy=True), theirs["lv"].array()["fP"]["fX"])
        assert (f["t/leaves/b"].numpy() == theirs["leaves"].array(library="np")["b"]).all()


@pytest.mark.parametrize("way", ("mount", "open"))
@pytest.mark.parametrize("copy", (None, True, False))
@pytest.mark.parametrize("part", ({}, {"entry_start": 5, "entry_stop": 90}, {"entry_start": -3}, {"entry_start": 200}))
def test_arrays_of_each_library(tfilefs, types, way, copy, part):
    with getattr(tfilefs, way)(types) as f, uproot.open(types) as file:
        ours, theirs = f["t"], file["t"]
        names = [name for name in theirs.keys(recursive=False) if name != "lv"]
        expected = theirs.arrays(names, **part)
        assert equal(ours.arrays(names, copy=copy, **part), expected)
        assert ours.arrays(names, library="arrow", copy=copy, **part).select(["v", "s", "n"]).to_pylist() == expected[["v", "s", "n"]].to_list()
        assert ours.arrays(["vv", "mat"], library="pl", copy=copy, **part)["vv"].to_list() == expected["vv"].to_list()
        flat = ours.arrays(["n", "flag", "u8"], library="pd", copy=copy, **part)
        assert flat.equals(theirs.arrays(["n", "flag", "u8"], library="pd", **part)), flat
        arrays, objects = (each.arrays(names, library="np", **part) for each in (ours, theirs))
        for name in names:
            assert arrays[name].shape == objects[name].shape and arrays[name].dtype.kind == objects[name].dtype.kind or name == "leaves"
            assert ak.from_iter(arrays[name]).to_list() == ak.from_iter(objects[name]).to_list() or name == "leaves"


def test_regular_expressions_and_functions_of_names(ours, theirs):
    for each in ("/.*pt$/", "/MUON_.*/i", "/uon/", "/e/", ["run", "/n.*/"], "/nothing/", str.isalpha, lambda name: False):
        names = ours["Events"].keys(filter_name=each)
        assert set(names) == set(theirs["Events"].keys(filter_name=each)), each
        assert ours["Events"].arrays(filter_name=each, entry_stop=3).fields == names


def test_names_and_patterns(ours, theirs):
    events, tree = ours["Events"], theirs["Events"]
    assert events.arrays(["run", "*Muon*"]).fields == ["run", "nMuon_pt", "Muon_pt"]
    assert events.arrays("energy").fields == ["energy"]
    assert events.arrays(filter_name="[er]*").fields == tree.arrays(filter_name="[er]*").fields
    assert equal(events.arrays(["Muon_pt", "run"]), tree.arrays(["Muon_pt", "run"]))
    for wrong in ("energi", ["run", "x*"]):
        with pytest.raises(KeyError, match="energy"):
            events.arrays(wrong)


@pytest.mark.parametrize("way, copy", (("mount", True), ("mount", None), ("open", None)))
@pytest.mark.parametrize("library", ("ak", "np", "pd"))
def test_steps_are_the_parts_of_a_whole(tfilefs, sample, way, copy, library):
    """Whether they are larger or smaller than what is read at once, and with columns for the cut alone."""
    names, cut = ["run", "position", "Muon_pt"], "energy > 20"
    with getattr(tfilefs, way)(sample) as f:
        events = f["Events"]
        expected = events.arrays(names, cut, entry_start=11, entry_stop=-7, copy=True)
        for size in (9000, "600 kB", "1 GB"):
            steps = list(events.iterate(names, cut, step_size=size, entry_start=11, entry_stop=-7, library=library, copy=copy))
            assert len(steps) > 3 or size == "1 GB"
            for name in names:
                values = [each for step in steps for each in (ak.to_list(step[name]) if library == "ak" else step[name])]
                assert ak.array_equal(ak.from_iter(values), ak.from_regular(expected[name], axis=None), dtype_exact=False)


def test_steps_before_a_damaged_one_are_read(tfilefs, tmp_path):
    """Though one read is for several of them."""
    path = tmp_path / "damaged.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        tree = file.mktree("t", {"x": "f8"})
        for i in range(8):
            tree.extend({"x": np.random.default_rng(i).random(1024)})  # whole pages of the kernel
    with uproot.open(path) as file:
        seek = int(file["t/x"].member("fBasketSeek")[5])
    with open(path, "r+b") as file:
        file.seek(seek + 90)
        file.write(bytes(8))
    for way in ("mount", "open"):
        with getattr(tfilefs, way)(path) as f:
            steps, read = f["t"].iterate(["x"], step_size=1024, copy=True), 0
            with pytest.raises(OSError):
                for step in steps:
                    assert step.x[0] == np.random.default_rng(read).random()
                    read += 1
            assert read == 5, way


def test_what_is_mapped(tfilefs, sample, tmp_path):
    ours = tfilefs.mount(sample)
    events = ours["Events"]
    mapped = events.arrays(["run", "position"], library="np")
    assert isinstance(mapped["run"], np.memmap) and mapped["position"].shape == (100000, 3)
    assert not isinstance(events.arrays("run", library="np", copy=True)["run"], np.memmap)
    assert not isinstance(events.numpy("run"), np.memmap)
    with tfilefs.mount(tmp_path / "new.root", "rw") as f:
        os.mkdir(f.path + "/t")
        np.arange(3, dtype="i4").tofile(f.path + "/t/x.i4")
        f.commit()
        assert not isinstance(f["t"].arrays(library="np")["x"], np.memmap)
    ours.close()
    assert mapped["run"].sum() == uproot.open(sample)["Events/run"].array(library="np").sum()


CUTS = {
    "energy > 100": "energy > 100",
    "(energy > 20) & (nMuon_pt >= 2)": "(energy > 20) & (nMuon_pt >= 2)",
    "energy > 20 and not nMuon_pt == 2": "(energy > 20) & (nMuon_pt != 2)",
    "20 < energy < 21": "(20 < energy) & (energy < 21)",
    "np.sqrt(abs(position[:, 2])) * 2 > run / 1013": "sqrt(abs(position[:, 2])) * 2 > run / 1013",
    "any(Muon_pt > 60)": None, "ak.num(Muon_pt, axis=1) == 3": None, "sum(Muon_pt) > 100": None, "trigger == 'double'": None,
}


@pytest.mark.parametrize("more", ({}, {"cut": "energy > 50"}, {"cut": "energy > 1e9"}, {"entry_start": 5, "entry_stop": -5}, {"entry_start": 7, "entry_stop": 7}))
def test_frames_of_numbers_alone(ours, more):
    """They do not come by Arrow, and are the same; they can be changed."""
    events, names = ours["Events"], ["run", "energy", "nMuon_pt"]
    frame = events.arrays(names, library="pd", **more)
    by_arrow = events.arrays(names, library="arrow", **more).to_pandas()
    assert (frame.dtypes == by_arrow.dtypes).all() and np.array_equal(frame.to_numpy(), by_arrow.to_numpy())
    assert frame.index.equals(events.arrays([*names, "Muon_pt"], library="pd", **more).index)
    frame.loc[:, "run"] = 0
    assert events.arrays(names, library="arrow", **more).to_pandas().equals(by_arrow)


@pytest.mark.parametrize("cut", CUTS)
def test_cuts(ours, theirs, cut):
    events, tree = ours["Events"], theirs["Events"]
    if CUTS[cut]:
        expected = tree.arrays(["run", "energy", "Muon_pt"], cut=CUTS[cut])
    else:
        whole = tree.arrays()
        expected = whole[{"any": ak.any(whole.Muon_pt > 60, axis=1), "ak.": ak.num(whole.Muon_pt) == 3,
                          "sum": ak.sum(whole.Muon_pt, axis=1) > 100, "tri": whole.trigger == "double"}[cut[:3]]]
    assert 0 < len(expected) < 60000
    assert equal(events.arrays(["run", "energy", "Muon_pt"], cut), expected[["run", "energy", "Muon_pt"]])
    assert (events.arrays("energy", cut, library="np")["energy"] == expected.energy.to_numpy()).all()
    assert events.arrays("run", cut, library="arrow")["run"].to_pylist() == expected.run.to_list()
    frame = events.to_pandas("energy", cut)
    assert (events.to_pandas("energy").loc[frame.index] == frame).all().all() and len(frame) == len(expected)
    assert len(events.to_polars("run", cut)) == len(expected)


def test_cuts_of_empty_lists_and_of_plain_numbers(ours):
    events = ours["Events"]
    pt, run = events.arrays(["Muon_pt", "run"])["Muon_pt"], events.numpy("run")
    leading = ak.max(pt, axis=1)
    assert 0 < len(events.arrays("run", "num(Muon_pt) == 0"))
    for cut, expected in (
            ("max(Muon_pt) > 20", ak.fill_none(leading > 20, False)), ("not max(Muon_pt) > 20", ~ak.fill_none(leading > 20, False)),
            ("(num(Muon_pt) == 0) | (min(Muon_pt) != 20)", ak.num(pt) >= 0), ("0 < max(Muon_pt) < 20", ak.fill_none((leading > 0) & (leading < 20), False)),
            ("run * 10**-3 > -(2**62) // 2 + 3 % 2", run > 0), ("run < 2**62 * 2.0", run > 0)):
        assert events.arrays("run", cut).run.to_list() == run[np.asarray(expected)].tolist(), cut


@pytest.mark.parametrize("cut", ("__import__('os')", "energy.__class__", "().__class__", "[x for x in energy]", "lambda: 1", "energy if run else 1",
                                 "energy >", "energy + 1", "energy @ run > 1", "Muon_pt > 20", "open('x')", "energy.tofile('x')", "9**9**9**9",
                                 "energy > " + "9" * 40, "energy > 1j", "run in energy", "f'{run}'", "(" * 300 + "1" + ")" * 300, "True",
                                 "any(*run)", "any(run, keepdims=True)", "'a' * 9999999999 == trigger", "1 << 10**10", "energy[energy", "",
                                 "run < 10**40", "run < 2**63 - 1", "run < 1 << 64", "run < 9223372036854775807 * 3"))
def test_what_is_no_cut_is_refused(ours, cut, tmp_path):
    os.chdir(tmp_path)
    with pytest.raises((ValueError, KeyError)):
        ours["Events"].arrays("run", cut)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("library", ("ak", "np", "pd", "pl", "arrow"))
@pytest.mark.parametrize("copy", (None, True))
def test_steps(ours, theirs, library, copy):
    events, tree = ours["Events"], theirs["Events"]
    steps = list(events.iterate(["run", "energy"], "energy > 30", step_size=30000, library=library, copy=copy))
    expected = list(tree.iterate(["run", "energy"], cut="energy > 30", step_size=30000, library="np"))
    assert len(steps) == len(expected) == 4
    for step, each in zip(steps, expected):
        assert np.array_equal(np.asarray(step["energy"]), each["energy"])
    assert [len(np.asarray(step["run"])) for step in events.iterate("run", step_size="100 kB", entry_start=10, library=library, copy=copy)] == [
        25600, 25600, 25600, 23190]


def test_sizes_of_steps(ours):
    events = ours["Events"]
    assert [len(step) for step in events.iterate(["run", "energy"], step_size="0.4 MB")] == [52428, 47572]
    for wrong in (0, -1, "many", "10 apples"):
        with pytest.raises(ValueError, match="step_size"):
            events.iterate(step_size=wrong)
    with pytest.raises(ValueError, match="library"):
        events.arrays(library="cupy")


def test_duckdb(ours):
    duckdb = pytest.importorskip("duckdb")
    found = ours["Events"].to_duckdb().filter("energy > 100").aggregate("count(*)").fetchall()
    energy = ours["Events"].numpy("energy")
    assert found == [((energy > 100).sum(),)]
    with duckdb.connect() as connection:
        assert ours["Events"].to_duckdb(connection).aggregate("max(run)").fetchall() == [(2028,)]


@pytest.mark.parametrize("name", ("tracker/layer1/hits", "tracker/occupancy"))
def test_histograms(ours, theirs, name):
    h, expected = ours[name], theirs[name]
    for flow in (False, True):
        for one, other in zip(h.to_numpy(flow), expected.to_numpy(flow), strict=True):
            assert np.array_equal(one, other)
    for taken, theirs_taken in ((h.to_hist(), expected.to_hist()), (h.to_boost(), expected.to_boost())):
        assert type(taken) is type(theirs_taken) and np.array_equal(taken.values(flow=True), theirs_taken.values(flow=True))
        assert np.array_equal(taken.variances(), theirs_taken.variances())


def test_plots(ours):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("svg")
    from matplotlib import pyplot
    ours["tracker/layer1/hits"].plot(label="hits")
    assert len(pyplot.gca().patches) + len(pyplot.gca().collections) > 0 and pyplot.gca().get_legend_handles_labels()[1] == ["hits"]
    pyplot.figure()
    ours["tracker/occupancy"].plot()
    pyplot.close("all")


def test_paths_and_homes(tfilefs, sample, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", os.path.dirname(sample))
    for source in (pathlib.Path(sample), "~/sample.root", pathlib.Path("~/sample.root")):
        with tfilefs.mount(source) as f:
            assert "Events" in f


def test_errors_are_those_of_python(tfilefs, ours, tmp_path):
    with pytest.raises(FileNotFoundError, match="none.root") as error:
        tfilefs.mount(tmp_path / "none.root")
    assert isinstance(error.value, tfilefs.MountError) and error.value.errno == 2
    for name, near in (("Event", "Events"), ("tracker/layer0/hit", "tracker/layer0/hits"), ("Events/enrgy", "energy"), ("xyz", "calorimeter, tracker")):
        with pytest.raises(KeyError, match=near):
            ours[name]
    with pytest.raises(KeyError, match="energy"):
        ours["Events"]["enrgy"]
    with pytest.raises(KeyError, match="there are no members"):
        ours["Events"]["energy/x"]


def test_errors_say_what_to_type(tfilefs, ours, sample):
    """Of wrong capitals the nearest name; of a column before it is read, how; of uproot's spelling of a table, this one's."""
    events = ours["Events"]
    for wrong, near in (("EVENTS", "Events"), ("Events/Energy", "Events/energy"), ("Events/energy/x", "no members")):
        with pytest.raises(KeyError, match=near):
            ours[wrong]
    with pytest.raises(KeyError, match="nearest is Muon_pt"):
        events.arrays("muon_PT")
    for wrong in (0, None, ["energy"], slice(3)):
        with pytest.raises(KeyError):
            events[wrong]
        with pytest.raises(TypeError, match="array"):
            events["energy"][wrong]
    for wrong in (iter, lambda column: 3 in column):
        with pytest.raises(TypeError):
            wrong(events["energy"])
    with pytest.raises(TypeError, match="a cut is a text"):
        events.arrays("energy", 3)
    assert "Events/energy" in ours and "Events/enrgy" not in ours and ours.get("Events/enrgy") is None
    for opens in (tfilefs.mount, tfilefs.open):
        with pytest.raises(FileNotFoundError, match=r"take \['Events'\]") as error:
            opens(f"{sample}:Events")
        assert isinstance(error.value, tfilefs.MountError)
        for wrong, told in (([], ValueError), (b"x.root", TypeError), ({sample: "Events"}, TypeError)):
            with pytest.raises(told):
                opens(wrong)
        with opens(sample, memory=None) as f:
            column = f["Events"]["energy"]
            assert "float" in repr(column)
        assert repr(column) == "<tfilefs.Column 'energy'>"


def test_arrays_of_columns_by_numpy(ours):
    """np.array gives a copy that can be changed, and copy=False none."""
    column = ours["Events"]["energy"]
    copied = np.array(column)
    copied[0] = -1
    assert np.asarray(column)[0] != -1 and np.asarray(column, "f4").dtype == "f4" and np.asarray(column, "f8").dtype == "f8"
    with pytest.raises(ValueError, match="copied"):
        np.asarray(column, "f8", copy=False)


def test_texts_of_wide_tables_are_short(tfilefs, tmp_path):
    with uproot.recreate(tmp_path / "wide.root") as file:
        file["t"] = {f"column{i}": np.arange(2) for i in range(2000)}
    with tfilefs.mount(tmp_path / "wide.root") as f:
        assert len(repr(f["t"])) < 2000 and "and 1900 more" in repr(f["t"])
        with pytest.raises(KeyError, match="and 1900 more") as error:
            f["t"]["zzz"]
        assert len(str(error.value)) < 2000


def test_what_may_not_be_read(tfilefs, tmp_path):
    """By a process that is not root any more."""
    (tmp_path / "x.root").touch(mode=0)
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            tfilefs.mount(tmp_path / "x.root")
        except PermissionError:
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_refusal_is_a_permission_error(tfilefs):
    from tfilefs import _error
    assert isinstance(_error.mount_error("tfilefs: cannot open x.root: Permission denied"), PermissionError)
    assert type(_error.mount_error("tfilefs: x.root is no ROOT file")) is tfilefs.MountError


def test_notebooks(ours):
    assert "tracker/layer0/hits" in ours._ipython_key_completions_() and "energy" in ours["Events"]._ipython_key_completions_()
    for shown in (ours, ours["tracker"], ours["tracker/layer0"]):
        assert "<td>TH" in shown._repr_html_() or "<td>TTree</td>" in shown._repr_html_()
    assert "Events of a made-up run" in ours._repr_html_()


def test_completion_in_ipython(ours):
    completer = pytest.importorskip("IPython.core.completer")
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell()
    shell.user_ns["f"] = ours
    with completer.provisionalcompleter():
        assert "Events" in {each.text for each in shell.Completer.completions("f['Ev", 5)}


def test_what_is_imported_late(tfilefs):
    import subprocess
    import sys
    code = ("import sys; sys.path.insert(0, sys.argv[1]); import tfilefs; tfilefs.__version__\n"
            "print(*({'numpy', 'awkward', 'pandas', 'polars', 'pyarrow', 'hist', 'duckdb', 'matplotlib', 'dask'} & set(sys.modules)))")
    source = os.path.dirname(os.path.dirname(tfilefs.__file__))
    assert subprocess.run([sys.executable, "-c", code, source], capture_output=True, text=True, check=True).stdout == "\n"
    with pytest.raises(AttributeError):
        tfilefs.nothing


def write_runs(directory):
    """Three files, the last with another table next to Events, in a directory each."""
    for i in range(3):
        with uproot.recreate(directory / f"run{i}.root") as file:
            muons = np.arange(100 + i) % 3
            file["Events"] = {"x": np.arange(100 + i, dtype="f4") + 1000 * i, "Muon": ak.zip({"pt": ak.unflatten(np.arange(muons.sum(), dtype="f8"), muons)})}
    with uproot.recreate(directory / "other.root") as file:
        file["A"], file["B"] = {"x": np.arange(3)}, {"x": np.arange(4)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return once(tmp_path_factory, "python-runs", write_runs)


FILES = {
    "pattern": lambda runs: f"{runs}/run*.root", "with its table": lambda runs: f"{runs}/run*.root:Events",
    "list": lambda runs: [runs / f"run{i}.root" for i in range(3)], "dictionary": lambda runs: {f"{runs}/run*.root": "Events"},
}


@pytest.mark.parametrize("files", FILES)
def test_many_files(tfilefs, runs, files):
    theirs = [f"{runs}/run{i}.root:Events" for i in range(3)]  # a pattern of uproot's has no order
    given = FILES[files](runs)
    for cut in (None, "x > 50"):
        expected = uproot.concatenate(theirs)
        if cut:  # which uproot leaves out where it reads RNTuples, as it writes them
            expected = expected[expected.x > 50]
        found = tfilefs.concatenate(given, cut=cut)
        assert set(found.fields) == set(expected.fields) and equal(found[expected.fields], expected)
        steps = list(tfilefs.iterate(given, ["x", "Mu*"], cut, step_size=77))
        assert len(steps) == 4 and equal(ak.concatenate(steps), expected[steps[0].fields])
    assert tfilefs.concatenate(given, "x", library="np", entry_start=-5)["x"].tolist() == expected.x[-5:].to_list()
    assert len(tfilefs.concatenate(given, "x", library="pd")) == len(tfilefs.concatenate(given, "x", library="arrow")) == 303


def test_many_files_that_are_not_one_table(tfilefs, runs):
    with pytest.raises(FileNotFoundError):
        tfilefs.concatenate(f"{runs}/none*.root")
    with pytest.raises(FileNotFoundError):
        next(tfilefs.iterate([runs / "run0.root", runs / "none.root"]))
    with pytest.raises(tfilefs.MountError, match="A, B; name one"):
        tfilefs.concatenate(runs / "other.root")
    assert len(tfilefs.concatenate(f"{runs}/other.root:B")) == len(tfilefs.concatenate(runs / "other.root", table="B")) == 4
    assert len(tfilefs.concatenate([runs / "run0.root", runs / "none.root"], missing="skip")) == 100


def test_steps_outlive_their_mount(tfilefs, runs):
    steps = tfilefs.iterate(f"{runs}/run*.root", library="np", step_size=200)
    first = next(steps)
    steps.close()
    assert first["x"].sum() == np.arange(100).sum() + np.arange(1000, 1100).sum()


def test_names_that_a_mount_changes(tfilefs, tmp_path):
    names = ["%41x", ".hidden", "long" * 80, "a.b", "x%"]
    file = ROOT.TFile(str(tmp_path / "names.root"), "RECREATE")
    tree = ROOT.TTree("t", "")
    values = [np.zeros(1, "i4") for _ in names]
    for name, value in zip(names, values):
        tree.Branch(name, value, "v/I")
    text = ROOT.std.string("abc")
    tree.Branch("text" * 80, text)
    for i in range(3):
        for k, value in enumerate(values):
            value[0] = 10 * k + i
        tree.Fill()
    tree.Write()
    file.Close()
    with tfilefs.mount(tmp_path / "names.root") as f, uproot.open(tmp_path / "names.root") as theirs:
        t = f["t"]
        assert t.keys() == theirs["t"].keys() == [*names, "text" * 80] and t.typenames() == theirs["t"].typenames()
        for k, name in enumerate(names):
            assert t[name].numpy().tolist() == t.numpy(name).tolist() == t[name].array().to_list() == [10 * k, 10 * k + 1, 10 * k + 2]
        assert t.arrays(library="np")["text" * 80].tolist() == ["abc"] * 3 and len(t.arrays(library="arrow")) == 3


def test_what_is_named_by_its_path(tfilefs, samples):
    """Bytes that are not decoded, among the items of a list."""
    with tfilefs.mount(os.path.join(samples("codes"), "codes-99-101.root")) as f:
        t = f["t"]
        [name] = [each for each in t.keys() if each.startswith("lost/map_list")]
        assert set(t.typenames()) == set(t.keys()) and len(t[name].array()) == t.num_entries
