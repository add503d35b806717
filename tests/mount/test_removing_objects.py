# SPDX-License-Identifier: Apache-2.0
"""Histograms and other objects in a mount with rw: removed and renamed as a whole, otherwise unchanged."""

import errno
import os
import shutil
import signal
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import root_process


@pytest.fixture
def source(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        file["hits"] = np.histogram(np.arange(100.0), bins=10)
        file["sub/map"] = np.histogram2d(np.arange(100.0), np.arange(100.0), bins=5)
        file["tuple"] = {"x": np.arange(10.0)}
        file.mktree("Events", {"px": "f4"})
        file["Events"].extend({"px": np.arange(1000, dtype="f4")})
    return tmp_path


def keys(source):
    with uproot.open(source / "a.root") as file:
        return sorted(file.keys(cycle=False))


def commit(directory):
    subprocess.run([mounted.program(), "commit", directory], check=True)


def refused(action, *arguments):
    with pytest.raises(OSError) as error:
        action(*arguments)
    return error.value.errno


@pytest.mark.parametrize("options", ((), ("views=listed",), ("commit=0",)), ids=("plain", "views=listed", "commit=0"))
def test_objects_go_as_directories_do(source, options):
    with mounted.Mounted(source, ("rw", *options)) as m:
        for name in ("hits", "sub/map", "tuple"):
            path = os.path.join(m.path, "a.root", name)
            before = sorted(os.listdir(path))
            assert before
            assert refused(os.rmdir, path) == errno.ENOTEMPTY
            assert sorted(os.listdir(path)) == before
            subprocess.run(["rm", "-r", path], check=True)
            assert not os.path.exists(path)
        assert m.errors().count("removed") == 0
    assert keys(source) == ["Events", "sub"]
    assert sorted(os.listdir(source)) == ["a.root"]


def test_tables_go_where_views_are_listed(source):
    with mounted.Mounted(source, ("rw", "views=listed")) as m:
        subprocess.run(["rm", "-r", os.path.join(m.path, "a.root", "Events")], check=True)
    assert "Events" not in keys(source)


def test_all_of_a_file_of_objects_goes(tmp_path, samples):
    """Canvases, lists, graphs, and unreadable objects: in whatever form they are shown."""
    shutil.copytree(samples("plots"), tmp_path / "plots")
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        for name in sorted(os.listdir(tmp_path / "plots")):
            inside = os.path.join(m.path, "plots", name)
            assert any(os.path.isdir(os.path.join(inside, key, part)) for key in os.listdir(inside)
                       for part in os.listdir(os.path.join(inside, key)))
            shutil.rmtree(inside)
        assert [line for line in m.errors().splitlines() if "no plot: " not in line] == []
    assert os.listdir(tmp_path / "plots") == []


def test_what_is_removed_of_an_object_alone_comes_back(source):
    with mounted.Mounted(source, ("rw", "commit=600")) as m:
        root = os.path.join(m.path, "a.root")
        before = sorted(os.listdir(os.path.join(root, "hits")))
        os.unlink(os.path.join(root, "hits", "values.f8"))
        os.unlink(os.path.join(root, "hits", "flow", "values.f8"))
        assert sorted(os.listdir(os.path.join(root, "hits"))) == [name for name in before if name != "values.f8"]
        assert not os.path.exists(os.path.join(root, "hits", "values.f8"))
        assert os.path.exists(os.path.join(root, "hits", "object.json"))
        commit(root)
        assert sorted(os.listdir(os.path.join(root, "hits"))) == before
        assert "values.f8" in os.listdir(os.path.join(root, "hits", "flow"))
        assert m.errors().count("a.root/hits: removed files of it are back") == 1
        assert refused(os.unlink, os.path.join(root, "hits", "plot.svg")) == errno.EROFS
    assert "hits" in keys(source)
    assert sorted(os.listdir(source)) == ["a.root"]


def test_an_object_stays_as_it_is(source):
    with mounted.Mounted(source, ("rw",)) as m:
        hits = os.path.join(m.path, "a.root", "hits")
        assert refused(open, os.path.join(hits, "new.f8"), "wb") == errno.EROFS
        assert refused(open, os.path.join(hits, "values.f8"), "r+b") == errno.EROFS
        assert refused(os.mkdir, os.path.join(hits, "new")) == errno.EROFS
        assert refused(os.rename, os.path.join(hits, "flow"), os.path.join(hits, "other")) == errno.EROFS
        os.mkdir(os.path.join(m.path, "a.root", "new"))
        assert refused(os.rename, os.path.join(m.path, "a.root", "new"), os.path.join(hits, "new")) == errno.EROFS
        assert "as a whole" in m.errors()
        for name in ("values.f8", "object.bin"):  # as for all committed data: no error, and no change
            os.chmod(os.path.join(hits, name), 0o600)
            os.utime(os.path.join(hits, name), (1, 2))
            os.setxattr(os.path.join(hits, name), "user.note", b"x")
        assert os.getxattr(hits, "user.tfilefs.class") == b"TH1D"


def check_renamed(source):
    assert keys(source) == ["Events", "moved", "sub", "sub/chart", "tuple"]
    with uproot.open(source / "a.root") as file:
        assert np.array_equal(file["moved"].to_numpy()[0], np.full(10, 10.0))
        assert file["sub/chart"].to_numpy()[0].shape == (5, 5)


def rename(m):
    root = os.path.join(m.path, "a.root")
    os.rename(os.path.join(root, "hits"), os.path.join(root, "moved"))
    os.rename(os.path.join(root, "sub", "map"), os.path.join(root, "sub", "chart"))
    assert "hits" not in os.listdir(root) and os.listdir(os.path.join(root, "sub")) == ["chart"]
    assert np.array_equal(np.load(os.path.join(root, "moved", "values.npy")), np.full(10, 10.0))
    assert refused(os.rename, os.path.join(root, "moved"), os.path.join(root, "Events")) == errno.EPERM


def test_objects_are_renamed(source):
    with mounted.Mounted(source, ("rw",)) as m:
        rename(m)
        commit(os.path.join(m.path, "a.root"))
        assert os.listdir(os.path.join(m.path, "a.root", "sub")) == ["chart"]
    check_renamed(source)


def test_a_rename_survives_a_crash(source):
    m = mounted.Mounted(source, ("rw", "commit=600"))
    rename(m)
    with open(os.path.join(m.path, "a.root", "Events", "id.i4"), "wb") as file:  # its fsync writes the journal to disk
        file.write(b"1234")
        os.fsync(file.fileno())
    m.process.send_signal(signal.SIGKILL)
    m.process.wait()
    m.close()
    with mounted.Mounted(source, ("rw", "commit=600")) as m:
        root = os.path.join(m.path, "a.root")
        assert os.listdir(os.path.join(root, "sub")) == ["chart"]
        assert refused(os.mkdir, os.path.join(root, "moved", "new")) == errno.EROFS
        os.unlink(os.path.join(root, "Events", "id.i4"))
    check_renamed(source)
    assert sorted(os.listdir(source)) == ["a.root"]


WRITE_CYCLES = """
import sys, ROOT
file = ROOT.TFile(sys.argv[1], "RECREATE")

def histogram(name, title):
    made = ROOT.TH1F("made", title, 3, 0, 1)
    made.SetDirectory(ROOT.nullptr)
    file.cd()
    made.Write(name)

inner = file.mkdir("Q").mkdir("inner")
inner.cd()
ROOT.TNamed("deep", "in it").Write()
histogram("Q", "over a directory")
for title in ("one", "two", "three"):
    histogram("K", title)
histogram("S", "alone")
file.mkdir("R").cd()
ROOT.TNamed("inside", "of R").Write()
file.Close()
"""


@pytest.fixture
def cycles(tmp_path):
    """A file with cycles of an object, and with an object over a directory of its name."""
    root_process.run_code(WRITE_CYCLES, tmp_path / "a.root", check=True)
    return tmp_path


def all_cycles(source):
    with uproot.open(source / "a.root") as file:
        return sorted(file.keys(recursive=False))


def test_older_cycles_go_with_their_key_and_are_named(cycles):
    assert all_cycles(cycles) == ["K;1", "K;2", "K;3", "Q;1", "Q;2", "R;1", "S;1"]
    with mounted.Mounted(cycles, ("rw", "commit=600")) as m:
        root = os.path.join(m.path, "a.root")
        for name in ("K", "S"):
            subprocess.run(["rm", "-r", os.path.join(root, name)], check=True)
        assert sorted(os.listdir(root)) == ["Q", "R"]
        assert m.errors().count("\n") == 1
        assert "/a.root/K: removed together with its older cycles: K;2, K;1" in m.errors()
        shutil.copytree(os.path.join(root, "K;1"), os.path.join(root, "saved"))  # until the next commit
        commit(root)
        assert sorted(os.listdir(root)) == ["Q", "R", "saved"]
        os.rename(os.path.join(root, "saved"), os.path.join(root, "K"))
        commit(root)
    assert all_cycles(cycles) == ["K;1", "Q;1", "Q;2", "R;1"]
    with uproot.open(cycles / "a.root") as file:
        assert file["K"].title == "one"


@pytest.mark.parametrize("instead", [None, "directory", "table"])
def test_an_object_over_a_directory_of_its_name_goes_with_it(cycles, instead):
    with mounted.Mounted(cycles, ("rw",)) as m:
        root = os.path.join(m.path, "a.root")
        subprocess.run(["rm", "-r", os.path.join(root, "Q")], check=True)
        if instead:
            os.mkdir(os.path.join(root, "Q"))
        if instead == "table":
            np.arange(5, dtype="<i4").tofile(os.path.join(root, "Q", "x.i4"))
        commit(m.path)
        assert ("Q" in os.listdir(root)) == (instead is not None)
    assert all_cycles(cycles) == ["K;1", "K;2", "K;3", *(["Q;1"] if instead else []), "R;1", "S;1"]
    assert subprocess.run([mounted.program(), "check", cycles / "a.root"]).returncode == 0


@pytest.mark.parametrize("name", ["Q", "R"])
def test_a_renamed_directory_has_its_new_name_everywhere(cycles, name):
    """In its record, too, and also if an object hides it. Its date stays."""
    with uproot.open(cycles / "a.root") as file:
        before = {key.fCycle: key.fDatime for key in file.file.root_directory._keys if key.fName == name}
    with mounted.Mounted(cycles, ("rw",)) as m:
        os.rename(os.path.join(m.path, "a.root", name), os.path.join(m.path, "a.root", "L"))
    with uproot.open(cycles / "a.root") as file:
        assert {key.fCycle: key.fDatime for key in file.file.root_directory._keys if key.fName == "L"} == before
        assert file["L;1/inner/deep" if name == "Q" else "L;1/inside"].member("fTitle") == ("in it" if name == "Q" else "of R")
    assert subprocess.run([mounted.program(), "check", cycles / "a.root"]).returncode == 0
