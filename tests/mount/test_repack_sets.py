# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack --split`: all files get their names or none does, also over a former set. `--skip-damaged`: what is lost
is what is named, however entries are chosen and divided."""

import os
import re
import shutil
import subprocess

import awkward
import numpy as np
import pytest
import uproot

import mounted
from staged_values import run
from test_made_files import MEANWHILE, Stopped

ENTRIES, BASKETS = 40_000, 8


def write(path, base=0, entries=ENTRIES, lists=False):
    """Numbers from `base` on, in eight clusters of one basket each."""
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        tree = file.mktree("T", {"i": "i4", "j": "f8"} | ({"v": "var * float32"} if lists else {}))
        step = entries // BASKETS
        for at in range(0, entries, step):
            ids = np.arange(at, at + step)
            values = {"i": (base + ids).astype("i4"), "j": np.random.default_rng(at).random(step)}
            if lists:
                values["v"] = awkward.unflatten(np.repeat(ids, ids % 3).astype("f4"), ids % 3)
            tree.extend(values)
    return path


def damage(path, branch, number):
    """Damages a basket. Returns its entries."""
    with uproot.open(path) as file:
        found = file["T"][branch]
        seek, entries = int(found.member("fBasketSeek")[number]), found.basket_entry_start_stop(number)
    with open(path, "r+b") as file:
        file.seek(seek + 90)
        file.write(bytes(8))
    return [int(entry) for entry in entries]


def numbers(paths):
    return np.concatenate([uproot.open(path)["T"]["i"].array(library="np") for path in paths])


def set_of(directory):
    return sorted(directory.glob("o-*.root"))


def names(directory):
    return sorted(os.listdir(directory))


def named(said):
    """The entries that were said to be damaged."""
    lost = set()
    for begin, end in re.findall(r"entries (\d+) to (\d+) are damaged", said):
        lost.update(range(int(begin), int(end) + 1))
    return lost


@pytest.mark.parametrize("size", ["60k", "80k", "150k"])
def test_with_damage_the_files_of_a_size_have_all_other_entries(tmp_path, size):
    path = write(tmp_path / "in.root")
    begin, end = damage(path, "j", 2)
    done = run("repack", "--skip-damaged", "--compression", "lz4", "--split", size, path, tmp_path / "o.root")
    assert done.returncode == 1 and named(done.stderr) == set(range(begin, end))
    assert len(set_of(tmp_path)) > 1
    found = [uproot.open(each)["T"].num_entries for each in set_of(tmp_path)]
    assert min(found) > 0
    assert numbers(set_of(tmp_path)).tolist() == [i for i in range(ENTRIES) if not begin <= i < end]


@pytest.mark.parametrize("options", [["--compression", "lz4"], ["--compression", "lz4", "--split", "60k"],
                                     ["--compression", "lz4", "--cluster", "20k"], ["--compression", "lz4", "--entries", "2000:38000"],
                                     ["mask", "--compression", "lz4"], ["mask", "--cluster", "10k"]])
def test_damage_takes_only_its_own_clusters_along(tmp_path, options):
    path = write(tmp_path / "in.root", lists=True)
    bad = [damage(path, "v", 3), damage(path, "i", 5), damage(path, "j", 0)]
    wanted = np.ones(ENTRIES, bool)
    if "mask" in options:
        wanted = np.random.default_rng(1).random(ENTRIES) < 0.3
        wanted.tofile(tmp_path / "mask.b1")
        options = ["--select", tmp_path / "mask.b1", *options[1:]]
    if "--entries" in options:
        wanted[:2000] = wanted[38_000:] = False
    done = run("repack", "--skip-damaged", *options, path, tmp_path / "o.root")
    assert done.returncode == 1
    good = wanted.copy()
    for begin, end in bad:
        good[begin:end] = False
    paths = set_of(tmp_path) or [tmp_path / "o.root"]
    assert numbers(paths).tolist() == np.flatnonzero(good).tolist()
    lost = named(done.stderr)
    assert set(np.flatnonzero(wanted & ~good).tolist()) <= lost <= {i for begin, end in bad for i in range(begin, end)}


def lists_of(path):
    with uproot.open(path) as file:
        return file["T"].arrays(["i", "v"])


@pytest.mark.parametrize("forms, damaged", [
    (["ttree"], ["v", 3, 4]), (["ttree"], ["v", 0, 6, 7]), (["ttree"], ["i", 3, 4]), (["ttree", "ttree"], ["v", 3, 7]),
    (["ttree", "rntuple"], ["v", 7]), (["rntuple", "ttree"], ["v", 3])])
def test_by_columns_damage_takes_its_clusters_and_one_entry_behind_along(tmp_path, forms, damaged):
    """All columns lose the same entries: those of the clusters, and the one whose lists begin where a damaged one ends."""
    branch, *baskets = damaged
    paths, parts, lost, allowed = [], [], set(), set()
    for number, form in enumerate(forms):
        path = write(tmp_path / f"{number}.root", number * ENTRIES, lists=True)
        parts.append(lists_of(path))
        if form == "ttree" and not lost:
            for basket in baskets:
                begin, end = (number * ENTRIES + entry for entry in damage(path, branch, basket))
                lost.update(range(begin, end))
                allowed.add(end)
        elif form == "rntuple":
            assert run("repack", "--format", "rntuple", path, tmp_path / "other.root").returncode == 0
            os.replace(tmp_path / "other.root", path)
        paths.append(path)
    done = run("repack", "--skip-damaged", "--format", "rntuple", *paths, tmp_path / "o.root")
    assert done.returncode == 1, done.stderr
    gone = named(done.stderr)
    assert lost <= gone <= (lost | allowed if branch == "v" else lost)
    kept = np.ones(len(forms) * ENTRIES, bool)
    kept[sorted(gone)] = False
    wanted, found = awkward.concatenate(parts)[kept], lists_of(tmp_path / "o.root")
    assert awkward.array_equal(wanted["i"], found["i"]) and awkward.array_equal(wanted["v"], found["v"])


@pytest.fixture
def over(tmp_path):
    """A former set of files, what they have, and a file to be written over it."""
    former, new = write(tmp_path / "former.root"), write(tmp_path / "new.root", 1_000_000)
    out = tmp_path / "out"
    out.mkdir()
    assert run("repack", "--split", "100k", former, out / "o.root").returncode == 0
    there = {path.name: path.read_bytes() for path in set_of(out)}
    assert len(there) > 3
    return new, out, there


@pytest.mark.skipif(not shutil.which("strace"), reason="strace lets system calls fail")
@pytest.mark.parametrize("number", [1, 3, 4])
@pytest.mark.parametrize("force", [True, False])
def test_a_name_that_cannot_be_changed_undoes_the_others(over, number, force):
    new, out, there = over
    if not force:
        for name in there:
            os.unlink(out / name)
        there = {}
    inject = f"inject=renameat2:error=EIO:when={number}"
    done = subprocess.run(["strace", "-f", "-o", "/dev/null", "-e", inject, mounted.program(), "repack", "--split", "100k",
                           *(["--force"] if force else []), str(new), str(out / "o.root")], capture_output=True, text=True)
    if "ptrace" in done.stderr.lower():
        pytest.skip("processes cannot be traced here")
    assert done.returncode == 1 and "Input/output error" in done.stderr
    assert {name: (out / name).read_bytes() for name in names(out)} == there


def test_a_later_name_that_another_program_takes_stays(over):
    new, out, there = over
    last = sorted(there)[-1]
    first = Stopped(new, out / "o.root", "--split", "100k", "--force")
    shutil.copy(new, out.parent / "third.root")
    os.rename(out.parent / "third.root", out / last)
    status, said = first.end()
    assert status == 1 and MEANWHILE in said
    now = {name: (out / name).read_bytes() for name in names(out)}
    assert now == there | {last: new.read_bytes()}


def test_a_smaller_set_takes_the_place_of_a_larger_one(over, tmp_path):
    new, out, there = over
    small = write(tmp_path / "small.root", 2_000_000, 16_000)
    refused = run("repack", "--split", "100k", small, out / "o.root")
    assert refused.returncode == 1 and "already exists" in refused.stderr
    assert {name: (out / name).read_bytes() for name in names(out)} == there
    assert run("repack", "--split", "100k", "--force", small, out / "o.root").returncode == 0
    assert 1 < len(set_of(out)) < len(there) and names(out) == [path.name for path in set_of(out)]
    assert numbers(set_of(out)).tolist() == list(range(2_000_000, 2_016_000))


def test_what_is_no_former_set_is_not_replaced(over):
    new, out, there = over
    (out / "o-2024.root").write_text("something else")
    for force in ([], ["--force"]):
        done = run("repack", "--split", "100k", *force, new, out / "o.root")
        assert done.returncode == 1 and (not force or "not an earlier set" in done.stderr)
    assert names(out) == sorted([*there, "o-2024.root"])
    os.unlink(out / "o-2024.root")
    (out / "o-mine.root").write_text("something else")
    assert run("repack", "--split", "100k", "--force", new, out / "o.root").returncode == 0
    assert (out / "o-mine.root").read_text() == "something else"


def test_a_set_that_is_read_is_not_replaced(over):
    _, out, there = over
    done = run("repack", "--split", "300k", "--force", out / "o-0001.root", out / "o.root")
    assert done.returncode == 1 and "is also an input" in done.stderr
    assert {name: (out / name).read_bytes() for name in names(out)} == there


def test_more_files_than_can_be_open_are_refused(tmp_path):
    path = write(tmp_path / "in.root")
    few = ["prlimit", "--nofile=24:24", mounted.program(), "repack", "--compression", "none", "--split", "10k"]
    done = subprocess.run([*few, path, tmp_path / "o.root"], capture_output=True, text=True)
    assert done.returncode == 1 and "ulimit -n" in done.stderr and names(tmp_path) == ["in.root"]


def test_a_size_without_its_unit_is_refused(tmp_path):
    """Thousands of files are not what was wanted."""
    path = write(tmp_path / "in.root")
    done = run("repack", "--split", "1", path, tmp_path / "o.root")
    assert done.returncode == 2 and "--split 1: expected at least 10000 bytes" in done.stderr and names(tmp_path) == ["in.root"]


def test_more_files_than_anybody_wants_are_refused(tmp_path):
    with uproot.recreate(tmp_path / "in.root", compression=None) as file:
        tree = file.mktree("T", {"x": "f8"})
        for _ in range(15):
            tree.extend({"x": np.zeros(1_000_000)})
    done = run("repack", "--split", "10000", tmp_path / "in.root", tmp_path / "o.root")
    assert done.returncode == 1 and "10000 are written at most" in done.stderr and names(tmp_path) == ["in.root"]
