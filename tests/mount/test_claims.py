# SPDX-License-Identifier: Apache-2.0
"""False claims of a file cost no more than its content: views of absurd tables and of endless formulas, with readers of
other files at the same time."""

import errno
import functools
import json
import os
import re
import struct
import subprocess

import awkward
import numpy as np
import pyarrow.parquet
import pytest
import uproot

import hostile_file
import mounted

ENTRIES = 777
CLAIMED = 10**12
VIEWS = ("csv", "jsonl", "parquet", "arrow")
ENDED = "exceeds the computing limit for a plot"  # what is said of a drawing that nobody stopped
HANGS = 60  # seconds after which a call counts as a hang; each normally takes well below one


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A small file with uncompressed records."""
    path = tmp_path_factory.mktemp("claims") / "stored.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("t", {"x": "f8", "y": "i4", "list": "var * float32", "name": "string"})
        numbers = np.arange(ENTRIES)
        file["t"].extend({
            "x": numbers / 2,
            "y": numbers.astype("i4"),
            "list": awkward.Array([[2.0 * i, 2.0 * i + 1] for i in range(ENTRIES)]),
            "name": awkward.Array([f"name {i}" for i in range(ENTRIES)]),
        })
    return path.read_bytes()


def claims(image):
    """The places in the file with the number of entries; that of the tree comes first."""
    return [match.start() for match in re.finditer(re.escape(struct.pack(">q", ENTRIES)), image)]


def patched(image, places, value):
    damaged = bytearray(image)
    for place in places:
        struct.pack_into(">q", damaged, place, value)
    return bytes(damaged)


def looked_at(path):
    """stat(1) in a separate process, which can be killed: its exit status, and the size."""
    result = subprocess.run(["stat", "-c", "%s", path], capture_output=True, text=True, timeout=HANGS)
    return int(result.stdout) if result.returncode == 0 else None


def test_entries_beyond_all_branches_are_lines_of_nothing(stored, tmp_path):
    """A table may claim entries that none of its branches has: they are null, and cost nothing."""
    path = tmp_path / "claims.root"
    hostile_file.write(path, patched(stored, claims(stored)[:1], CLAIMED))
    with mounted.Mounted(path) as m:
        table = os.path.join(m.path, "t")
        columns = len(uproot.open(path)["t"].keys())
        for view in ("csv", "jsonl"):
            size = looked_at(f"{table}.{view}")
            with open(f"{table}.{view}", "rb") as file:
                head = file.read(1 << 20)
                names = view == "csv"
                there = head.split(b"\n")[names : ENTRIES + names]
                assert len(there) == ENTRIES and b"name 776" in there[-1]
                blank = head.split(b"\n")[ENTRIES + names] + b"\n"
                begin = sum(len(part) + 1 for part in head.split(b"\n")[: ENTRIES + names])
                assert size == begin + (CLAIMED - ENTRIES) * len(blank)
                assert blank.count(b"null") == (columns if view == "jsonl" else 0)
                for offset in (begin, begin + 5, size - 3 * len(blank), size - 4):
                    file.seek(offset)
                    expected = blank * 4
                    at = (offset - begin) % len(blank)
                    assert file.read(2 * len(blank)) == expected[at : at + 2 * len(blank)][: size - offset]
        for view in ("parquet", "arrow"):
            looked_at(f"{table}.{view}")
        assert np.fromfile(os.path.join(table, "y.i4"), "<i4").tolist() == list(range(ENTRIES))


def test_a_table_with_a_few_blank_entries_reads_as_parquet(stored, tmp_path):
    rows = 3_000_000  # several groups, the last ones without content
    path = tmp_path / "claims.root"
    hostile_file.write(path, patched(stored, claims(stored)[:1], rows))
    with mounted.Mounted(path) as m:
        table = pyarrow.parquet.read_table(os.path.join(m.path, "t.parquet"))
        assert table.num_rows == rows
        for name in ("x", "y", "list", "name"):
            column = table.column(name)
            assert column.null_count == rows - ENTRIES and column[ENTRIES - 1].is_valid
        assert table.column("list")[ENTRIES - 1].as_py() == [2 * ENTRIES - 2, 2 * ENTRIES - 1]


@pytest.mark.parametrize("value", (CLAIMED, 2**31, 2**60, 2**63 - 1, -1))
def test_no_claim_keeps_anybody_waiting(stored, tmp_path, value):
    """Whichever number is absurd, or all of them: each view can be read or is an error, and other files can be read."""
    places = claims(stored)
    assert len(places) >= 5
    for which in [[place] for place in places] + [places]:
        path = tmp_path / "claims.root"
        hostile_file.write(path, patched(stored, which, value))
        try:
            m = mounted.Mounted(path, ("memory=64M",))
        except mounted.MountFailed:
            continue
        with m:
            for view in VIEWS:
                looked_at(os.path.join(m.path, f"t.{view}"))
            subprocess.run(["ls", "-lR", m.path], capture_output=True, timeout=HANGS)
            subprocess.run(["head", "-c", "1000", os.path.join(m.path, ".header.json")], check=True, timeout=HANGS)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table with many baskets, whose text takes seconds to write."""
    path = tmp_path_factory.mktemp("large") / "large.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("t", {"x": "f8", "y": "f8"})
        for part in range(LARGE_BASKETS):
            numbers = np.random.default_rng(part).normal(size=(2, 50_000))
            file["t"].extend({"x": numbers[0], "y": numbers[1]})
    return path


LARGE_BASKETS = 60


def decoded(m):
    with open(os.path.join(m.path, ".tfilefs", "stats.json")) as file:
        return sum(table["chunks_decoded"] for table in json.load(file)["tables"])


def begin_to_look_at(m, name):
    """Starts stat(1) of a slow file, and returns when the daemon is working on it."""
    looking = subprocess.Popen(["stat", "-c", "%s", os.path.join(m.path, name)], stdout=subprocess.PIPE)
    while decoded(m) == 0:
        assert looking.poll() is None
    return looking


def test_a_look_up_that_takes_long_keeps_no_other_waiting(large):
    """In the same directory: neither another name nor a listing nor a column."""
    with mounted.Mounted(large) as m:
        looking = begin_to_look_at(m, "t.jsonl")
        assert not os.path.exists(os.path.join(m.path, "nothing"))
        assert os.listdir(m.path) == ["t"]
        with open(os.path.join(m.path, "t", "y.f8"), "rb") as column:
            assert len(column.read(8000)) == 8000
        assert looking.poll() is None
        assert int(looking.communicate(timeout=HANGS)[0]) > 60 * 50_000 * 20


def test_what_nobody_waits_for_is_given_up(large):
    """Of a reader that is killed while it waits for the size, not for the look-up."""
    whole = work_for(large, "t.jsonl")
    with mounted.Mounted(large) as m:
        before = m.idle_ticks()
        looking = begin_to_look_at(m, "t.jsonl")
        while m.ticks() < before + 20:  # until the look-up is answered
            assert looking.poll() is None
        looking.kill()
        looking.communicate(timeout=HANGS)
        assert work_again(m, "t.jsonl") > whole / 10
        assert m.errors() == ""


def test_what_another_still_waits_for_is_not_given_up(large):
    with mounted.Mounted(large) as m:
        first, second = (begin_to_look_at(m, "t.jsonl") for _ in range(2))
        first.kill()
        first.communicate(timeout=HANGS)
        assert int(second.communicate(timeout=HANGS)[0]) > 60 * 50_000 * 20


def begin_work(m, name):
    """Starts stat(1), and returns when the daemon is working for it."""
    os.listdir(os.path.dirname(os.path.join(m.path, name)))
    before = m.idle_ticks()
    looking = subprocess.Popen(["stat", "-c", "%s", os.path.join(m.path, name)], stdout=subprocess.PIPE)
    while m.ticks() < before + 2:
        assert looking.poll() is None
    return looking


@functools.cache
def work_for(source, name):
    """The CPU time to make the file."""
    with mounted.Mounted(source) as m:
        before = m.idle_ticks()
        assert looked_at(os.path.join(m.path, name)) > 0
        return m.idle_ticks() - before


def work_again(m, name):
    """The CPU time for a later request, which gets the result all the same: next to none where the work for an earlier
    one went on to its end."""
    before = m.idle_ticks()
    assert looked_at(os.path.join(m.path, name)) > 0
    return m.idle_ticks() - before


def work_after_kill(source, name):
    """The CPU time for a later request, after the first reader was killed."""
    with mounted.Mounted(source) as m:
        looking = begin_work(m, name)
        looking.kill()
        looking.communicate(timeout=HANGS)
        again = work_again(m, name)
        assert m.errors() == ""
        return again


WORK = (
    ("counted", "t.arrow"), ("counted", "t.parquet"), ("counted", "t.jsonl"), ("counted", "t/v0/values/values.f4"),
    ("large_histograms", "huge/table.csv"),
)


@pytest.mark.parametrize("sample, name", WORK)
def test_work_ends_with_who_waits_for_it(samples, sample, name):
    """Sizes that are counted by decoding, and the table of an object: work ends when the reader is killed, or with the
    session."""
    source = os.path.join(samples(sample), sample + ".root")
    whole = work_for(source, name)
    assert whole > 8
    # On a busy machine, the kill may come late; it must be in time once in a few attempts.
    assert any(work_after_kill(source, name) > whole / 10 for _ in range(4))


def work_after_end(source, name):
    """The CPU time that a mount still uses when it is ended while a view is made."""
    m = mounted.Mounted(source)
    looking = begin_work(m, name)
    m.process.terminate()
    before = m.ticks()
    _, status, usage = os.wait4(m.process.pid, 0)
    m.process.returncode = os.waitstatus_to_exitcode(status)
    assert looking.communicate(timeout=HANGS)[0] == b""
    assert m.close() == 0
    return (usage.ru_utime + usage.ru_stime) * os.sysconf("SC_CLK_TCK") - before


@pytest.mark.parametrize("sample, name", (WORK[0], WORK[2]))
def test_the_end_of_a_mount_waits_for_no_view(samples, sample, name):
    source = os.path.join(samples(sample), sample + ".root")
    whole = work_for(source, name)
    # On a busy machine, the end may come late; it must be in time once in a few attempts.
    assert any(work_after_end(source, name) < whole / 2 for _ in range(4))


def test_a_lost_basket_is_told_before_all_others_are_read(large, tmp_path):
    """For a text, which is made in one piece. The column keeps its size, and its readable part."""
    with uproot.open(large) as file:
        seeks = [int(seek) for seek in file["t"]["y"].member("fBasketSeek")[:LARGE_BASKETS]]
    image = bytearray(large.read_bytes())
    [place] = [m.start() for m in re.finditer(re.escape(struct.pack(">2q", *seeks[-2:])), image)]
    for lost in (0, len(image) + 4096):
        struct.pack_into(">q", image, place + 8, lost)
        path = tmp_path / "lost.root"
        hostile_file.write(path, image)
        with mounted.Mounted(path) as m:
            for view in ("csv", "jsonl"):
                with pytest.raises(OSError) as error:
                    os.stat(os.path.join(m.path, f"t.{view}"))
                assert error.value.errno == errno.EIO
            assert decoded(m) == 0
            size = os.stat(os.path.join(m.path, "t", "y.f8")).st_size
            assert size == LARGE_BASKETS * 50_000 * 8
            with open(os.path.join(m.path, "t", "y.f8"), "rb") as column:
                assert len(column.read(8000)) == 8000


@pytest.fixture
def monstrous(samples):
    return os.path.join(samples("monstrous"), "monstrous.root")


def test_drawings_without_end_keep_no_reader_waiting(monstrous):
    with mounted.Mounted(monstrous, ("threads=2",)) as m:
        drawn = [subprocess.Popen(["cat", os.path.join(m.path, f"surface{i}", "plot.svg")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) for i in range(4)]
        assert np.fromfile(os.path.join(m.path, "h", "values.f8")).sum() == 1
        assert [drawing.wait(HANGS) for drawing in drawn] == [1] * 4
        assert m.errors().count(ENDED) == 4


def begin_drawings(m):
    """Starts cat(1) of many drawings, seconds of work; returns them when the daemon is working for them."""
    assert np.fromfile(os.path.join(m.path, "h", "values.f8")).sum() == 1
    before = m.idle_ticks()
    drawn = [subprocess.Popen(["cat", os.path.join(m.path, f"surface{i}", "plot.svg")], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) for i in range(24)]
    while m.ticks() < before + 25:  # until the look-ups are answered, and the opens wait for the drawings
        assert any(drawing.poll() is None for drawing in drawn)
    return drawn


def test_a_drawing_ends_with_its_reader(monstrous):
    """Long before it would end by itself."""
    with mounted.Mounted(monstrous) as m:
        drawn = begin_drawings(m)
        for drawing in drawn:
            drawing.kill()
        for drawing in drawn:
            drawing.wait(HANGS)
        m.idle_ticks()
        assert m.errors().count(ENDED) < len(drawn) / 2


def test_the_end_of_a_mount_waits_for_no_drawing(monstrous, tmp_path):
    log = tmp_path / "log"
    m = mounted.Mounted(monstrous, (f"logfile={log}",))
    drawn = begin_drawings(m)
    m.process.terminate()
    assert m.process.wait(HANGS) == 0
    assert all(drawing.wait(HANGS) != 0 for drawing in drawn)
    assert m.close() == 0
    assert log.read_text().count(ENDED) < len(drawn) / 2
