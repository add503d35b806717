# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack --friend`: the columns of friends are joined to those of a table."""

import subprocess

import numpy as np
import pytest
import uproot

import mounted

ENTRIES = 1000


def repack(*arguments):
    return subprocess.run([mounted.program(), "repack", *map(str, arguments)], capture_output=True, text=True)


def write(path, **tables):
    with uproot.recreate(path) as file:
        for name, columns in tables.items():
            tree = file.mktree(name, {column: values.dtype for column, values in columns.items()})
            tree.extend(columns)
    return path


def read(path, table="Events"):
    with uproot.open(path) as file:
        return {name: file[table][name].array(library="np").tolist() for name in file[table].keys()}


@pytest.fixture
def events(tmp_path):
    return write(tmp_path / "a.root", Events={"run": np.arange(ENTRIES) // 10, "x": np.arange(ENTRIES) * 0.5})


@pytest.fixture
def weights(tmp_path):
    return write(tmp_path / "w.root", Events={"w": np.arange(ENTRIES) * 2.0, "x": np.arange(ENTRIES) + 7})


@pytest.mark.parametrize("form", ["keep", "rntuple"])
def test_columns_are_joined_by_position(tmp_path, events, weights, form):
    done = repack("--format", form, "--verify", "--friend", f"f={weights}", events, tmp_path / "out.root")
    assert done.returncode == 0 and "by columns" in done.stdout, (done.stdout, done.stderr)
    both, own, other = read(tmp_path / "out.root"), read(events), read(weights)
    assert both == {**own, "f_w": other["w"], "f_x": other["x"]}


def test_entries_and_columns_are_chosen_among_both(tmp_path, events, weights):
    done = repack("--friend", f"f={weights}", "--entries", "10:20", "--columns", "run,f_*", events, tmp_path / "out.root")
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "out.root") == {"run": [1] * 10, "f_w": [2.0 * i for i in range(10, 20)], "f_x": list(range(17, 27))}
    done = repack("--friend", f"f={weights}", "--columns", "f_y", events, tmp_path / "none.root")
    assert done.returncode == 1 and "f_y: no column of that name" in done.stderr
    mask = np.arange(ENTRIES) % 3 == 0
    write(tmp_path / "m.root", Events={"good": mask})
    done = repack("--friend", f"m={tmp_path}/m.root", "--select", "m_good", "--columns", "run", events, tmp_path / "few.root")
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "few.root") == {"run": (np.arange(ENTRIES) // 10)[mask].tolist()}


def test_entries_are_chosen_by_columns_of_friends(tmp_path, events, weights):
    for number, where in enumerate(("f.w>=1900 && f.x<980", "f_w>=1900 && f.x<980")):
        done = repack("--friend", f"f={weights}", "--where", where, events, tmp_path / f"out{number}.root")
        assert done.returncode == 0, done.stderr
        both = read(tmp_path / f"out{number}.root")
        assert both["f_w"] == [2.0 * i for i in range(950, 973)] and both["x"] == [0.5 * i for i in range(950, 973)]
    done = repack("--friend", f"f={weights}", "--where", "f.nothing>1", events, tmp_path / "none.root")
    assert done.returncode == 1 and "there is no f.nothing" in done.stderr


def test_by_key_an_entry_has_one_or_none(tmp_path, events):
    runs = write(tmp_path / "r.root", Runs={"run": np.array([3, 5, 990]), "lumi": np.array([0.3, 0.5, 9.9])})
    done = repack("--verify", "--friend", f"r={runs}:Runs@run", "--columns", "run,r_lumi", events, tmp_path / "out.root")
    assert done.returncode == 0, done.stderr
    lumi = [list(each) for each in read_lists(tmp_path / "out.root", "r_lumi")]
    assert lumi == [[{3: 0.3, 5: 0.5}[i // 10]] if i // 10 in (3, 5) else [] for i in range(ENTRIES)]


def read_lists(path, column):
    with uproot.open(path) as file:
        return file["Events"][column].array().tolist()


def test_several_files_have_a_friend_of_all(tmp_path, events, weights):
    more = write(tmp_path / "b.root", Events={"run": np.array([5, 6]), "x": np.array([1.0, 2.0])})
    other = write(tmp_path / "v.root", Events={"w": np.array([-1.0, -2.0]), "x": np.array([8, 9])})
    done = repack("--verify", "--friend", f"f={tmp_path}/[vw].root", events, more, tmp_path / "short.root")
    assert done.returncode == 0, done.stderr  # v.root comes before w.root, as in a mount
    assert read(tmp_path / "short.root")["f_w"] == [-1.0, -2.0, *read(weights)["w"]]
    assert read(other)["x"] == read(tmp_path / "short.root")["f_x"][:2]


def test_a_friend_belongs_to_the_table_of_its_name(tmp_path, weights):
    many = write(tmp_path / "many.root", Runs={"n": np.arange(3)}, Events={"x": np.arange(ENTRIES)})
    done = repack("--friend", f"f={weights}", many, tmp_path / "out.root")
    assert done.returncode == 0, done.stderr
    assert sorted(read(tmp_path / "out.root")) == ["f_w", "f_x", "x"] and list(read(tmp_path / "out.root", "Runs")) == ["n"]
    other = write(tmp_path / "other.root", Weights={"w": np.arange(ENTRIES)})
    done = repack("--friend", f"f={other}", many, tmp_path / "no.root")
    assert done.returncode == 1 and "friend f: no written table has its name" in done.stderr
    assert not (tmp_path / "no.root").exists()
    done = repack("--friend", f"f={other}", "--tables", "Events", many, tmp_path / "yes.root")
    assert done.returncode == 0 and read(tmp_path / "yes.root")["f_w"] == list(range(ENTRIES))


def test_what_cannot_be_joined_is_told(tmp_path, events, weights):
    short = write(tmp_path / "short.root", Events={"w": np.arange(5)})
    done = repack("--friend", f"f={short}", events, tmp_path / "out.root")
    assert done.returncode == 1 and "friend f: has 5 entries, the table has 1000" in done.stderr
    done = repack("--friend", f"f={tmp_path}/none.root", events, tmp_path / "out.root")
    assert done.returncode == 1 and "friend f: " in done.stderr and "none.root" in done.stderr
    done = repack("--friend", f"f={weights}@none", events, tmp_path / "out.root")
    assert done.returncode == 1 and "no column none" in done.stderr, done.stderr
    for wrong in ("f", "=x", "f=", ".f=x"):
        done = repack("--friend", wrong, events, tmp_path / "out.root")
        assert done.returncode == 2 and "--friend" in done.stderr, wrong
    done = repack("--friend", f"f={weights}", "--friend", f"f={short}", events, tmp_path / "out.root")
    assert done.returncode == 2 and "an alias that is not used yet" in done.stderr
    write(tmp_path / "taken.root", Events={"f_w": np.arange(ENTRIES)})
    done = repack("--friend", f"f={weights}", tmp_path / "taken.root", tmp_path / "out.root")
    assert done.returncode == 1 and "left out: Events: f_w: the table already has a column of that name" in done.stderr, done.stderr
    assert sorted(read(tmp_path / "out.root")) == ["f_w", "f_x"] and read(tmp_path / "out.root")["f_w"] == list(range(ENTRIES))
    (tmp_path / "out.root").unlink()
