# SPDX-License-Identifier: Apache-2.0
"""Directories of objects that are copied into a mount become keys, and so do arrays of a histogram."""

import errno
import filecmp
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import root_process

FILE = "out.root"
OBJECTS = "objects"


@pytest.fixture
def writing(tmp_path):
    (tmp_path / "out").mkdir()
    with mounted.Mounted(tmp_path / "out", ("rw", "commit=86400")) as m:
        os.mkdir(os.path.join(m.path, FILE))
        yield m


@pytest.fixture
def written(tmp_path):
    return str(tmp_path / "out" / FILE)


def sample(samples, name=OBJECTS):
    return os.path.join(samples(name), name + ".root")


def object_names(path):
    return [name for name in sorted(os.listdir(path)) if os.path.exists(os.path.join(path, name, "object.bin"))]


def copy(source, into, how=("cp", "-r")):
    return subprocess.run([*how, source, into], capture_output=True, text=True)


def commit(m):
    return subprocess.run([mounted.program(), "commit", os.path.join(m.path, FILE)], capture_output=True, text=True)


def pending(m):
    with open(os.path.join(m.path, FILE, ".pending.json")) as file:
        told = json.load(file)
    return {one["path"]: one["reasons"] for one in told["objects"] + told["tables"] + told["others"] if one["reasons"]}


def assert_same(one, other):
    """All files of two directories are equal, and there are as many."""
    compared = filecmp.dircmp(one, other)
    assert not compared.left_only and not compared.right_only and not compared.funny_files, (one, other)
    _, differing, unread = filecmp.cmpfiles(one, other, compared.common_files, shallow=False)
    assert not differing and not unread, (one, other)
    for name in compared.common_dirs:
        assert_same(os.path.join(one, name), os.path.join(other, name))


COMPARE = r"""
import json, sys
import ROOT
ROOT.gROOT.SetBatch(True)
ROOT.TH1.AddDirectory(False)
was, now, names, titled = json.loads(sys.argv[1])
a, b = ROOT.TFile(was), ROOT.TFile(now)
def json_of(key, of_class):
    if of_class.IsTObject():
        return str(ROOT.TBufferJSON.ToJSON(key.ReadObj()))
    read = key.ReadObjectAny(of_class)
    assert read, key.GetName()
    return str(ROOT.TBufferJSON.ConvertToJSON(read, of_class))
for name in names:
    one, other = a.GetKey(name), b.GetKey(name)
    assert one.GetClassName() == other.GetClassName(), name
    of_class = ROOT.TClass.GetClass(one.GetClassName())
    has_own = any(of_class.InheritsFrom(base) for base in ("TNamed", "TPad", "TObjString", "TCollection"))
    assert not (titled or has_own) or one.GetTitle() == other.GetTitle(), (name, one.GetTitle(), other.GetTitle())
    # The JSON of one before the other is read: a canvas replaces one of its name.
    values = [json_of(key, ROOT.TClass.GetClass(key.GetClassName())) for key in (one, other)]
    assert values[0] == values[1], name
described = {info.GetName(): info.GetCheckSum() for info in b.GetStreamerInfoList() if info.ClassName() == "TStreamerInfo"}
for info in a.GetStreamerInfoList():
    if info.GetName() in described and info.GetClassVersion() == ROOT.TClass.GetClass(info.GetName()).GetClassVersion():
        assert described[info.GetName()] == info.GetCheckSum(), info.GetName()
print("equal")
"""


def compare_in_root(was, now, names, titled=True):
    done = root_process.run_code(COMPARE, json.dumps([was, now, names, titled]))
    assert done.returncode == 0 and done.stdout.endswith("equal\n"), done.stdout + done.stderr
    assert "Error" not in done.stderr and "Warning" not in done.stderr, done.stderr


@pytest.mark.parametrize("how", (("cp", "-r"), ("cp", "-a"), ("rsync", "-a"), ("rsync", "-aX")), ids=" ".join)
def test_every_object_is_copied_byte_for_byte(tmp_path, writing, written, samples, shared_mount, how):
    objects = shared_mount(sample(samples)).path
    names = object_names(objects)
    assert len(names) > 40
    for name in names:
        said = copy(os.path.join(objects, name), os.path.join(writing.path, FILE), how)
        assert said.returncode == 0, said.stderr
    assert commit(writing).returncode == 0 and pending(writing) == {}
    assert writing.errors() == ""
    for name in names:
        assert_same(os.path.join(objects, name), os.path.join(writing.path, FILE, name))
    compare_in_root(sample(samples), written, names, titled=how[1] in ("-a", "-aX") and how != ("rsync", "-a"))
    assert os.listdir(os.path.dirname(written)) == [FILE]


def test_a_whole_directory_is_copied(tmp_path, writing, written, samples, shared_mount):
    """Of canvases and lists too, whose parts have directories of their own."""
    plots = shared_mount(sample(samples, "plots")).path
    for name in os.listdir(plots):
        said = copy(os.path.join(plots, name), os.path.join(writing.path, FILE))
        assert said.returncode == 0, said.stderr
    assert commit(writing).returncode == 0 and pending(writing) == {}
    for name in object_names(plots):
        assert_same(os.path.join(plots, name), os.path.join(writing.path, FILE, name))
    with uproot.open(sample(samples, "plots")) as was, uproot.open(written) as now:
        assert was.classnames(recursive=False, cycle=False) == now.classnames(recursive=False, cycle=False)


@pytest.mark.parametrize("first", ("object.bin", "table.csv", "values.f4", "plot.svg"))
def test_the_files_of_an_object_come_in_any_order(writing, written, samples, shared_mount, first):
    """With the views, where a mount lists them; a name with a dot in front stays one of a view."""
    source = os.path.join(shared_mount(sample(samples), "views=listed").path, "h1F")
    names = [os.path.relpath(os.path.join(above, name), source) for above, _, names in os.walk(source) for name in names]
    copied = os.path.join(writing.path, FILE, "h1F")
    assert {"object.bin", "table.csv", "values.f4", "plot.svg", "flow/values.f4"} <= set(names)
    for name in sorted((name for name in names if not name.startswith(".")), key=lambda name: (name != first, name[::-1])):
        os.makedirs(os.path.dirname(os.path.join(copied, name)), exist_ok=True)
        shutil.copyfile(os.path.join(source, name), os.path.join(copied, name))
    done = commit(writing)
    assert done.returncode == 0 and pending(writing) == {}, done.stderr
    assert uproot.open(written).classnames() == {"h1F;1": "TH1F"}


def test_numbers_of_an_object_as_text_are_no_table(writing):
    os.mkdir(os.path.join(writing.path, FILE, "new"))
    for name in ("x.f4", "table.csv"):
        with open(os.path.join(writing.path, FILE, "new", name), "wb") as file:
            file.write(bytes(8))
    assert commit(writing).returncode == 1 and "table.csv" in pending(writing)["new"][0]
    os.unlink(os.path.join(writing.path, FILE, "new", "table.csv"))
    assert commit(writing).returncode == 0


def test_old_objects_bring_their_descriptions(writing, written, samples, shared_mount):
    directory = samples("old_objects")
    for file in sorted(os.listdir(directory)):
        if not file.endswith(".root"):
            continue
        top = shared_mount(os.path.join(directory, file)).path
        into = os.path.join(writing.path, FILE, file[:-5])
        os.mkdir(into)
        for name in object_names(top):
            said = copy(os.path.join(top, name), into)
            assert said.returncode == 0, said.stderr
        assert commit(writing).returncode == 0 and pending(writing) == {}
        for name in object_names(top):
            assert_same(os.path.join(top, name), os.path.join(into, name))


@pytest.mark.parametrize("renamed", (False, True))
def test_classes_that_nobody_knows_bring_their_descriptions(writing, written, samples, shared_mount, renamed):
    """Under another name, too, so that references count from the beginning of another key."""
    things = sample(samples, "things")
    top = shared_mount(things).path
    names = object_names(top)
    assert set(names) == {"one", "many", "plain", "string"}
    listed = {name for name in names if "object.streamerinfo" in os.listdir(os.path.join(top, name))}
    assert {"one", "many", "plain"} <= listed
    for length, name in enumerate(names):
        into = name + "longer" * 12 * length if renamed else name
        assert copy(os.path.join(top, name), os.path.join(writing.path, FILE, into)).returncode == 0
    assert commit(writing).returncode == 0 and pending(writing) == {}
    with uproot.open(things) as was, uproot.open(written) as now:
        for length, name in enumerate(names):
            into = name + "longer" * 12 * length if renamed else name
            assert was.classname_of(name) == now.classname_of(into)
            for file in "object.json", "object.bin":
                one, other = os.path.join(top, name, file), os.path.join(writing.path, FILE, into, file)
                if file == "object.json" and os.path.exists(one) or not renamed:
                    assert filecmp.cmp(one, other, shallow=False), (name, file)
        known = {(info.name, info.class_version, info.member("fCheckSum")) for versions in now.file.streamers.values()
                 for info in versions.values()}
        for name in "Thing", "Part":
            for info in was.file.streamers[name].values():
                assert (info.name, info.class_version, info.member("fCheckSum")) in known


def test_an_object_that_needs_nothing_lists_nothing(samples, shared_mount):
    objects = shared_mount(sample(samples)).path
    for name in "h1F", "h2D", "h3I", "graph", "errors", "variable", "labels", "profilem":
        assert "object.streamerinfo" not in os.listdir(os.path.join(objects, name)), name
    assert "object.streamerinfo" in os.listdir(os.path.join(objects, "function"))
    assert os.listdir(os.path.join(objects, "h1F"))[0] == "object.bin"


@pytest.mark.parametrize("dtype, letter", (("f8", "D"), ("f4", "F"), ("i4", "I"), ("i2", "S"), ("i1", "C"), ("i8", "D")))
@pytest.mark.parametrize("dimensions", (1, 2, 3))
@pytest.mark.parametrize("form", ("columns", "npy"))
def test_a_histogram_is_made_of_arrays(tmp_path, writing, written, dtype, letter, dimensions, form):
    shape = (4, 3, 2)[:dimensions]
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    variances = (values * 2.5).astype("f8")
    edges = [np.array([0, 1, 2, 3, 4.0]), np.array([-1, 0, 5, 10.0]), np.array([1, 2, 4.0])][:dimensions]
    directory = os.path.join(writing.path, FILE, "made")
    os.mkdir(directory)
    arrays = {"values": values, "variances": variances} | {f"{axis}edges": e for axis, e in zip("xyz", edges)}
    for name, array in arrays.items():
        if form == "npy":
            np.save(os.path.join(directory, name + ".npy"), array)
        else:
            suffix = "x".join(map(str, array.shape[1:]))
            array.tofile(os.path.join(directory, f"{name}.{array.dtype.str[1:]}{'x' + suffix if suffix else ''}"))
    os.setxattr(directory, "user.tfilefs.title", b"of arrays;x;y")
    assert commit(writing).returncode == 0 and pending(writing) == {}
    assert writing.errors() == ""
    np.testing.assert_array_equal(np.load(os.path.join(directory, "values.npy")), values.astype("f8" if dtype == "i8" else dtype))
    with uproot.open(written) as file:
        made = file["made"]
        assert made.classname == f"TH{dimensions}{letter}" and made.title == "of arrays;x;y"
        np.testing.assert_array_equal(made.values(), values)
        np.testing.assert_array_equal(made.variances(), variances)
        for axis, edge in enumerate(edges):
            np.testing.assert_array_equal(made.axis(axis).edges(), edge)
        moments = [made.member("fTsumw"), made.member("fTsumw2"), made.member("fTsumwx")]
        middle = (edges[0][1:] + edges[0][:-1]) / 2
        along = values.astype("f8").reshape(len(middle), -1).sum(axis=1)
        np.testing.assert_allclose(moments, [values.sum(), variances.sum(), (along * middle).sum()])


def test_flow_bins_are_taken(writing, written, samples, shared_mount):
    """The arrays of a histogram alone make one with the same contents."""
    objects = shared_mount(sample(samples)).path
    names = ["h1F", "h1D", "h2D", "h3F", "h2S", "variable"]
    for name in names:
        into = os.path.join(writing.path, FILE, name)
        shutil.copytree(os.path.join(objects, name), into, ignore=shutil.ignore_patterns("object.*"), copy_function=shutil.copyfile)
    assert commit(writing).returncode == 0 and pending(writing) == {}
    with uproot.open(sample(samples)) as was, uproot.open(written) as now:
        for name in names:
            assert was[name].classname == now[name].classname
            np.testing.assert_array_equal(was[name].values(flow=True), now[name].values(flow=True))
            np.testing.assert_allclose(was[name].variances(flow=True), now[name].variances(flow=True))
            for axis in range(len(was[name].axes)):
                np.testing.assert_array_equal(was[name].axis(axis).edges(), now[name].axis(axis).edges())


def test_made_histograms_are_those_of_root(tmp_path, writing, written):
    for name, values, edges in (("h", np.arange(5.0), (np.linspace(0, 1, 6),)),
                                ("h2", np.ones((2, 3), "f4"), (np.array([0, 1, 3.0]), np.linspace(0, 3, 4)))):
        directory = os.path.join(writing.path, FILE, name)
        os.mkdir(directory)
        np.save(os.path.join(directory, "values.npy"), values)
        for axis, edge in zip("xyz", edges):
            np.save(os.path.join(directory, f"{axis}edges.npy"), edge)
    assert commit(writing).returncode == 0, pending(writing)
    copied = shutil.copy(written, str(tmp_path / "copied.root"))
    done = root_process.run_code(f"""
import ROOT
file = ROOT.TFile({copied!r}, "UPDATE")
h, h2 = file.Get("h"), file.Get("h2")
assert [h.GetBinContent(i) for i in range(7)] == [0, 0, 1, 2, 3, 4, 0] and h.GetEntries() == 10
assert abs(h.GetMean() - 0.7) < 1e-12 and not h.GetXaxis().IsVariableBinSize()
assert h2.GetBinContent(2, 3) == 1 and h2.GetXaxis().IsVariableBinSize() and h2.GetEntries() == 6
h.Fill(0.1)
h.Write()
file.Close()
print("good")
""")
    assert done.stdout == "good\n" and not done.stderr, done.stderr


WRONG = {
    "too few edges": ({"values": [1.0, 2], "xedges": [0.0, 1]}, "values: 2, the edges are for 1"),
    "edges that go down": ({"values": [1.0, 2], "xedges": [0.0, 2, 1]}, "xedges: edges are not in ascending order"),
    "variances": ({"values": [1.0, 2], "xedges": [0.0, 1, 2], "variances": [1.0]}, "variances: 1, the edges are for 2"),
    "dimensions": ({"values": [[1.0, 2]], "xedges": [0.0, 1]}, "values of 2 dimensions with edges of 1"),
    "integers above": ({"values": [2**53 + 1, 5], "xedges": [0, 1, 2]}, "values: integers that a double cannot represent"),
    "integers below": ({"values": [-2**53 - 1, 5], "xedges": [0, 1, 2]}, "values: integers that a double cannot represent"),
    "integers without sign": ({"values": np.array([2**53 + 1, 5], "u8"), "xedges": [0, 1, 2]}, "values: integers that a double cannot represent"),
    "variances that are integers": ({"values": [1.0, 2], "variances": [2**53 + 1, 5], "xedges": [0, 1, 2]},
                                    "variances: integers that a double cannot represent"),
    "edges that are integers": ({"values": [1.0, 2], "xedges": [0, 1, 2**53 + 1]}, "xedges: integers that a double cannot represent"),
    "flow that contradicts": ({"values": [1.0, 2], "flow/values": [9.0, 5, 6, 8], "xedges": [0.0, 1, 2]},
                              "values and flow/values contradict each other"),
    "variances that contradict": ({"values": [1.0, 2], "flow/values": [9.0, 1, 2, 8], "variances": [10.0, 20],
                                   "flow/variances": [1.0, 1, 1, 1], "xedges": [0.0, 1, 2]},
                                  "variances and flow/variances contradict each other"),
    "variances of the flow alone": ({"values": [1.0, 2], "flow/variances": [1.0, 1, 1, 1], "xedges": [0.0, 1, 2]},
                                    "flow/variances without flow/values"),
    "an array twice": ({"values": [1.0, 2], "values.f8": [1.0, 2], "xedges": [0.0, 1, 2]},
                       "values.f8: not an array of this histogram, or a second one of that name"),
    "edges of an axis behind one that is missing": ({"values": [1.0, 2], "xedges": [0.0, 1, 2], "zedges": [0.0, 1, 2]},
                                                    "zedges.f8: not an array of this histogram, or a second one of that name"),
    "another array of the flow": ({"values": [1.0, 2], "xedges": [0.0, 1, 2], "flow/edges": [0.0, 1, 2]},
                                  "flow/edges.f8: not an array of this histogram, or a second one of that name"),
    "variances of another shape": ({"values": np.ones((2, 3)), "variances": np.ones((3, 2)), "xedges": [0.0, 1, 2], "yedges": [0.0, 1, 2, 3]},
                                   "variances: 2 at each x, yedges are for 3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_arrays_that_do_not_fit_wait(tmp_path, writing, written, case):
    arrays, reason = WRONG[case]
    directory = os.path.join(writing.path, FILE, "made")
    os.mkdir(directory)
    for name, numbers in arrays.items():
        os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
        np.save(os.path.join(directory, name + ".npy"), np.array(numbers))
    commit(writing)
    assert pending(writing) == {"made": [reason]}
    assert not os.path.exists(written)
    shutil.rmtree(directory)
    assert commit(writing).returncode == 0 and pending(writing) == {}


def test_the_largest_integers_that_fit(writing, written):
    """Where arrays with and without flow say the same, in whatever types, and where numbers are none."""
    directory = os.path.join(writing.path, FILE, "made")
    os.makedirs(directory + "/flow")
    for name, numbers in {"values": np.array([2**53, -2**53], "i8"), "flow/values": np.array([np.nan, 2**53, -2**53, 1.5]),
                          "xedges": np.array([0, 1, 2**53], "u8")}.items():
        np.save(os.path.join(directory, name + ".npy"), numbers)
    assert commit(writing).returncode == 0 and pending(writing) == {}
    with uproot.open(written) as file:
        np.testing.assert_array_equal(file["made"].values(flow=True), [np.nan, 2.0**53, -2.0**53, 1.5])
        assert file["made"].axis().edges().tolist() == [0, 1, 2.0**53]


def put(writing, name, files, attributes=()):
    directory = os.path.join(writing.path, FILE, name)
    os.mkdir(directory)
    for file, content in files.items():
        with open(os.path.join(directory, file), "wb") as opened:
            opened.write(content)
    for attribute, value in attributes:
        os.setxattr(directory, "user.tfilefs." + attribute, value)
    return directory


def test_the_class_comes_with_attributes_or_json(writing, samples, shared_mount):
    objects = shared_mount(sample(samples)).path
    with open(os.path.join(objects, "h1D", "object.bin"), "rb") as file:
        payload = file.read()
    put(writing, "none", {"object.bin": payload})
    put(writing, "attribute", {"object.bin": payload}, [("class", b"TH1D"), ("title", b"another")])
    put(writing, "json", {"object.bin": payload, "object.json": b'{"_typename": "TH1D", "fUniqueID": 0'})
    put(writing, "wrong", {"object.bin": payload[:200], "object.json": b'{"_typename": "TH1D"}'})
    put(writing, "tree", {"object.bin": payload}, [("class", b"TTree")])
    commit(writing)
    left = pending(writing)
    assert set(left) == {"none", "wrong", "tree"}
    assert "without a class" in left["none"][0] and "not a valid TH1D" in left["wrong"][0]
    assert "refers to parts of its own file" in left["tree"][0]
    assert os.getxattr(os.path.join(writing.path, FILE, "attribute"), "user.tfilefs.title") == b"another"
    assert os.getxattr(os.path.join(writing.path, FILE, "json"), "user.tfilefs.class") == b"TH1D"
    for name in left:
        shutil.rmtree(os.path.join(writing.path, FILE, name))
    assert commit(writing).returncode == 0 and pending(writing) == {}


def test_a_class_without_an_object_is_told(tmp_path):
    """A copy of a directory has the class of one."""
    (tmp_path / "out").mkdir()
    with mounted.Mounted(tmp_path / "out", ("rw", "commit=86400", f"logfile={tmp_path}/log")) as m:
        os.mkdir(os.path.join(m.path, FILE))
        put(m, "later", {}, [("class", b"TH1D"), ("title", b"a title")])
        put(m, "copy", {}, [("class", b"TDirectoryFile")])
        put(m, "above", {}, [("class", b"TCanvas")])
        put(m, "above/t", {"x.f4": bytes(8)})
        assert commit(m).returncode == 0
        [line] = m.errors().splitlines()
        assert f"/{FILE}/above: its user.tfilefs.class is lost" in line
    told = [line for line in (tmp_path / "log").read_text().splitlines() if "is lost" in line]
    assert len(told) == 2 and f"/{FILE}/later: " in told[1]
    with uproot.open(tmp_path / "out" / FILE) as file:
        assert file.classnames(cycle=False) == {name: "TDirectory" for name in ("later", "copy", "above")} | {"above/t": "TTree"}


def test_no_object_in_a_table_or_beside_it(writing, samples, shared_mount):
    objects = shared_mount(sample(samples)).path
    table = os.path.join(writing.path, FILE, "Events")
    os.mkdir(table)
    np.arange(3, dtype="f4").tofile(os.path.join(table, "x.f4"))
    said = copy(os.path.join(objects, "note"), table)
    assert said.returncode == 1 and os.strerror(errno.EOPNOTSUPP) in said.stderr
    shutil.rmtree(os.path.join(table, "note"))
    with pytest.raises(OSError) as refused:
        open(os.path.join(writing.path, FILE, "object.bin"), "wb")
    assert refused.value.errno == errno.EOPNOTSUPP
    assert commit(writing).returncode == 0 and pending(writing) == {}


def test_a_committed_object_stays_until_it_is_removed(writing, written, samples, shared_mount):
    objects = shared_mount(sample(samples)).path
    into = os.path.join(writing.path, FILE)
    assert copy(os.path.join(objects, "h1D"), into).returncode == 0
    assert commit(writing).returncode == 0
    said = copy(os.path.join(objects, "h1D"), into)
    assert said.returncode == 1 and os.strerror(errno.EROFS) in said.stderr
    shutil.rmtree(os.path.join(into, "h1D"))
    assert copy(os.path.join(objects, "h1F"), os.path.join(into, "h1D")).returncode == 0
    assert commit(writing).returncode == 0
    with uproot.open(written) as file:
        assert file.classnames() == {"h1D;1": "TH1F"}


def test_what_was_synced_is_there_after_a_kill(tmp_path, samples, shared_mount):
    objects = shared_mount(sample(samples)).path
    (tmp_path / "out").mkdir()
    m = mounted.Mounted(tmp_path / "out", ("rw", "commit=86400"))
    os.mkdir(os.path.join(m.path, FILE))
    for name in "h1D", "graph", "function":
        assert copy(os.path.join(objects, name), os.path.join(m.path, FILE)).returncode == 0
        for folder, _, files in os.walk(os.path.join(m.path, FILE, name)):
            for file in files:
                with open(os.path.join(folder, file), "rb") as opened:
                    os.fsync(opened.fileno())
    m.process.kill()
    m.close()
    with mounted.Mounted(tmp_path / "out", ("rw",)) as m:
        mounted.fsync(os.path.join(m.path, FILE))
        for name in "h1D", "graph", "function":
            assert_same(os.path.join(objects, name), os.path.join(m.path, FILE, name))
    assert os.listdir(tmp_path / "out") == [FILE]


def test_objects_are_added_to_a_file_of_root(tmp_path, samples, shared_mount):
    """With the descriptions that it lacks, beside those that it has."""
    objects = shared_mount(sample(samples)).path
    shutil.copy(os.path.join(samples("numbers"), "numbers-101.root"), tmp_path / FILE)
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for name in "h1D", "function", "canvas", "note":
            if os.path.exists(os.path.join(objects, name)):
                assert copy(os.path.join(objects, name), os.path.join(m.path, FILE)).returncode == 0
        assert commit(m).returncode == 0
        assert m.errors() == ""
    compare_in_root(sample(samples), str(tmp_path / FILE), ["h1D", "function", "note"])
