# SPDX-License-Identifier: Apache-2.0
"""The memory of the daemon: the budget, the metadata that it reports, and little else.

TFILEFS_MEMORY_FILES is the number of files of a thousand columns that are open at once (40); 200 of them take
minutes."""

import errno
import json
import os
import random
import shutil
import subprocess
import time

import awkward
import numpy as np
import pytest
import uproot

import mounted
import mounted_table
import wide

FILES = int(os.environ.get("TFILEFS_MEMORY_FILES", "40"))
BUDGET_MB = 32 * FILES // 25  # 256 MB for 200 files
READS = 100 * FILES           # together they read more than the budget
BESIDE = 64 << 20  # the program itself, stacks, buffers of the kernel's requests


def stats_of(path):
    with open(os.path.join(path, ".tfilefs", "stats.json")) as file:
        return json.load(file)


def metadata_of(path):
    return stats_of(path)["metadata"]


def answered(*command):
    """The output of a command. A request that is never answered makes a reader that cannot be killed: the mount is then
    given up."""
    result = subprocess.run(command, capture_output=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """Columns of strings, each with small baskets and a last one that exceeds a budget of a few megabytes."""
    path = tmp_path_factory.mktemp("uneven") / "uneven.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {f"s{column}": "string" for column in range(12)})
        for entries in [50] * 10 + [60_000]:
            file["t"].extend({f"s{column}": awkward.Array([f"{column} {entry % 97}" for entry in range(entries)])
                              for column in range(12)})
    return path


@pytest.fixture
def many_files(samples, tmp_path):
    first = shutil.copy(os.path.join(samples("wide"), "wide.root"), tmp_path / "0.root")
    for i in range(1, FILES):
        os.link(first, tmp_path / f"{i}.root")
    return tmp_path


def test_many_wide_files_read_at_random(mount, many_files):
    mounted = mount(many_files, f"memory={BUDGET_MB}M")
    choose = random.Random(7)
    held = []  # every file stays open
    try:
        for i in range(FILES):
            held.append(open(os.path.join(mounted.path, f"{i}.root", "t", wide.path(choose.randrange(wide.ALL))), "rb"))
        for _ in range(READS):
            column = choose.randrange(wide.ALL)
            whole = wide.expected(column)
            offset = choose.randrange(len(whole))
            name = os.path.join(mounted.path, f"{choose.randrange(FILES)}.root", "t", wide.path(column))
            with open(name, "rb", buffering=0) as file:
                assert os.pread(file.fileno(), 4096, offset) == whole[offset:offset + 4096]
        stats = stats_of(mounted.path)
        metadata = stats["metadata"]
        resident = mounted.resident_bytes()
    finally:
        for file in held:
            file.close()
    assert metadata["total"] == sum(size for kind, size in metadata.items() if kind != "total")
    budget = stats["cache"]["budget"]
    print(f"{FILES} files, budget {budget / 1e6:.1f} MB, metadata {metadata['total'] / 1e6:.1f} MB, "
          f"resident {resident / 1e6:.1f} of {(budget + BESIDE + metadata['total']) / 1e6:.1f} MB")
    assert budget == BUDGET_MB << 20 and stats["cache"]["evictions"] > 0, stats["cache"]  # else the test proves nothing
    assert resident <= budget + BESIDE + metadata["total"], metadata
    # and the metadata are small: three names, a node, a column, a stream and the places of five baskets per branch
    assert metadata["total"] <= FILES * (wide.COLUMNS * 1500 + 300_000), metadata


def test_metadata_goes_with_its_files(mount, samples, tmp_path):
    shutil.copy(os.path.join(samples("wide"), "wide.root"), tmp_path / "a.root")
    path = mount(tmp_path).path
    before = metadata_of(path)
    with open(os.path.join(path, "a.root", "t", "c0.f8"), "rb") as file:
        file.read()
        during = metadata_of(path)
    assert all(during[kind] > before[kind] for kind in ("files", "tables", "directories", "extents", "counts", "inodes"))


def test_every_view_is_answered_whatever_the_budget(mount, uneven):
    choose = random.Random(17)
    sizes = set()
    for megabytes in [2, 2, 2] + [choose.randint(1, 16) for _ in range(5)]:
        path = mount(uneven, f"memory={megabytes}M").path
        views = [os.path.join(path, "t." + view) for view in ("arrow", "parquet", "jsonl")]
        choose.shuffle(views)
        asked = [subprocess.Popen(["stat", "-c", "%n %s", view], stdout=subprocess.PIPE, text=True) for view in views]
        told = [process.communicate(timeout=120)[0] for process in asked]
        sizes.update(os.path.basename(line) for line in told)
        for view in views:
            answered("cmp", "-n", "1000000", view, view)
    assert len(sizes) == 3, sizes


def test_staged_bytes_block_no_reader(mount, uneven, tmp_path):
    (tmp_path / "t.root").write_bytes(uneven.read_bytes())
    path = os.path.join(mount(tmp_path, "rw", "memory=1M", "commit=3600").path, "t.root")
    os.mkdir(os.path.join(path, "more"))
    with open(os.path.join(path, "more", "x.f4"), "wb") as file:
        file.write(bytes(76))
    for column in range(12):
        offsets, chars = (os.path.join(path, "t", f"s{column}", name) for name in ("offsets.i8", "chars.u1"))
        assert len(answered("cat", offsets)) == 8 * 60_501 and len(answered("cat", chars)) == os.path.getsize(chars)


def numbers_or_refused(path, dtype="<f8"):
    try:
        with open(path, "rb") as file:
            return np.frombuffer(file.read(), dtype)
    except OSError as error:
        assert error.errno == errno.ENOMEM, error
        return None


def test_large_histograms_keep_to_the_budget(mount, samples):
    mounted = mount(os.path.join(samples("large_histograms"), "large_histograms.root"), "memory=64M")
    directory = os.path.join(mounted.path, "large")
    expected = np.zeros(1_500_000)
    expected[::150_000] = np.arange(10)
    assert np.array_equal(numbers_or_refused(os.path.join(directory, "values.f8")), expected)
    assert np.array_equal(numbers_or_refused(os.path.join(directory, "variances.f8")), expected)
    assert np.array_equal(numbers_or_refused(os.path.join(directory, "flow", "values.f8")), np.pad(expected, 1))
    assert np.array_equal(numbers_or_refused(os.path.join(directory, "xedges.f8")), np.arange(1_500_001))
    # What does not fit in the memory is read and shown in pieces, but for its arrays.
    for name, bins in (("tiny", 10), ("large", 1_500_000), ("huge", 26_000_000)):
        shown = os.path.join(mounted.path, name)
        assert len(mounted_table.read_exactly(os.path.join(shown, "object.bin"))) > 8 * bins
        assert (numbers_or_refused(os.path.join(shown, "values.f8")) is None) == (name == "huge")
        assert len(mounted_table.read_exactly(os.path.join(shown, "object.json"))) > 3 * bins
        for view in ("plot.svg", "table.csv"):
            with open(os.path.join(shown, view), "rb") as file:
                assert len(file.read(1_000_000)) > 100
    # A stack needs memory for everything in it, while its parts are read one by one.
    large, tiny = (os.path.join(mounted.path, name + "_stack") for name in ("large", "tiny"))
    with pytest.raises(OSError) as refused, open(os.path.join(large, "plot.svg"), "rb") as file:
        file.read()
    assert refused.value.errno == errno.ENOMEM
    with open(os.path.join(tiny, "plot.svg"), "rb") as file:
        assert len(file.read()) > 100
    assert np.array_equal(numbers_or_refused(os.path.join(large, "large", "values.f8")), expected)
    assert np.array_equal(numbers_or_refused(os.path.join(large, "large", "flow", "values.f8")), np.pad(expected, 1))
    assert "/large_stack/plot.svg: " in mounted.errors() and "MB needed at once, memory= allows 64 MB" in mounted.errors()
    assert mounted.peak_bytes() <= (64 + 64) << 20


def test_tables_of_many_dimensions_are_made_in_pieces(mount, samples):
    """Of an object, and of one in a list, whose text would be many times the payload."""
    mounted = mount(os.path.join(samples("large_histograms"), "large_histograms.root"), "memory=64M")
    n = np.arange(300_000)
    expected = np.column_stack((n % 100, n // 100 % 100 / 2, n // 10_000 / 100, n + 1, np.sqrt(n + 1)))
    for name in ("sparse", "held/sparse"):
        path = os.path.join(mounted.path, name, "table.csv")
        with open(path) as table:
            assert table.readline() == "axis0_low,axis0_high,axis1_low,axis1_high,axis2_low,axis2_high,value,error\n"
            np.testing.assert_allclose(np.loadtxt(table, delimiter=",", usecols=(0, 2, 4, 6, 7)), expected, rtol=1e-15)
        assert len(mounted_table.read_exactly(path)) == os.stat(path).st_size > 8_000_000
    lines = mounted_table.read_exactly(os.path.join(mounted.path, "dense", "table.csv")).decode().splitlines()
    assert len(lines) == 1 + 30**4 and lines[1].endswith(",0,0") and lines[-1] == "29,30,29,30,29,30,29,30,0,0"
    assert [line for line in lines[1:] if not line.endswith(",0,0")] == ["29,30,0,1,1,2,2,3,4,2"]
    assert mounted.errors() == ""
    assert mounted.peak_bytes() <= (64 + 64) << 20


@pytest.fixture(scope="module")
def hundred_megabytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "scan.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"x": "f8", "y": "f8"})
        for part in range(25):
            numbers = (np.random.default_rng(part).normal(size=(2, 250_000)) * 8).round() / 8
            file["t"].extend({"x": numbers[0], "y": numbers[1]})
    return path


def scan(m):
    """Reads both columns of the table, 100 MB."""
    for name in ("x.f8", "y.f8"):
        with open(os.path.join(m.path, "t", name), "rb") as column:
            size = 0
            while block := column.read(1 << 20):
                size += len(block)
        assert size == 50_000_000


def test_a_scan_takes_no_more_than_the_budget(mount, hundred_megabytes):
    """Once and again: the second scan adds nothing to the memory of the first."""
    m = mount(hundred_megabytes, "memory=32M")
    for _ in range(3):
        scan(m)
        assert m.peak_bytes() < (32 << 20) + BESIDE
        with open(os.path.join(m.path, "t", "x.f8"), "rb") as column:
            os.posix_fadvise(column.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_idle_memory_is_given_back_after_a_minute(mount, hundred_megabytes):
    """With a budget that could hold everything."""
    m = mount(hundred_megabytes, "memory=512M")
    begun = m.resident_bytes()
    for _ in range(2):
        scan(m)
        for name in ("x.f8", "y.f8"):
            with open(os.path.join(m.path, "t", name), "rb") as column:
                os.posix_fadvise(column.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    after = m.resident_bytes()
    assert after > begun + (32 << 20), "something is kept as long as there are requests"
    mounted.wait_until(lambda: m.resident_bytes() <= begun + (16 << 20), 100)
    assert m.resident_bytes() < begun + (16 << 20)
    scan(m)


def test_more_views_than_have_their_content_kept(mount, samples):
    """Each is made anew when it is asked for again, with the same size and bytes."""
    file = mount(os.path.join(samples("wide"), "wide.root"), "views=listed")
    before = sizes_of_files(os.path.join(file.path, "t"))
    assert len(before) > 3_000  # views of a table that have their content kept: 1,000
    for path, size in random.Random(7).sample(sorted(before.items()), 300):
        with open(path, "rb") as view:
            assert len(view.read()) == size, path
    assert sizes_of_files(os.path.join(file.path, "t")) == before


def test_names_beyond_what_memory_allows_are_forgotten(mount, samples):
    """By the kernel, which is asked: all are there when they are asked for again."""
    file = mount(os.path.join(samples("wide"), "wide.root"), "views=listed", "memory=1M")
    top = os.path.join(file.path, "t")
    before = sizes_of_files(top)
    most = 1_024  # as memory=1M allows
    assert len(before) > 2 * most
    kept = sorted(before)[0]
    with open(kept, "rb") as opened:
        deadline = time.monotonic() + 20
        while known(file) > most + most // 4 and time.monotonic() < deadline:
            assert sizes_of_files(top) == before
        assert known(file) <= most + most // 4
        assert os.readlink(f"/proc/self/fd/{opened.fileno()}") == kept
    assert sizes_of_files(top) == before


def test_names_of_files_that_can_be_renamed_are_forgotten(mount, tmp_path):
    for number in range(3_000):
        (tmp_path / f"f{number}").write_text(str(number))
    m = mount(tmp_path, "rw", "memory=1M")
    most = 1_024
    before = sizes_of_files(m.path)
    assert len(before) == 3_000
    os.rename(os.path.join(m.path, "f7"), os.path.join(m.path, "moved"))
    deadline = time.monotonic() + 20
    while known(m) > most + most // 4 and time.monotonic() < deadline:
        assert sorted(sizes_of_files(m.path).values()) == sorted(before.values())
    assert known(m) <= most + most // 4
    with open(os.path.join(m.path, "moved")) as moved:
        assert moved.read() == "7"


def test_tables_whose_names_are_forgotten_are_opened_again(mount, many_files):
    """Also for a program that is in the directory of one, or has a file of one open."""
    m = mount(many_files, "memory=1M")
    tables = [os.path.join(m.path, f"{number}.root", "t") for number in range(FILES)]
    first = sizes_of_files(tables[0])
    inside = os.open(tables[1], os.O_PATH)
    with open(os.path.join(tables[0], wide.path(7)), "rb") as opened:
        for table in tables[1:]:
            assert [os.path.basename(path) for path in sizes_of_files(table)] == [os.path.basename(path) for path in first]
        assert m.peak_bytes() < (1 << 20) + BESIDE
        assert sum(table["loaded"] for table in stats_of(m.path)["tables"]) < FILES // 2
        assert opened.read() == wide.expected(7)
        with open(wide.path(9), "rb", opener=lambda name, flags: os.open(name, flags, dir_fd=inside)) as column:
            assert column.read() == wide.expected(9)
        assert os.readlink(f"/proc/self/fd/{inside}") == tables[1]
    os.close(inside)
    assert sizes_of_files(tables[0]) == first
    assert m.errors() == ""


def known(m):
    """Paths known to the kernel."""
    with open(os.path.join(m.path, ".tfilefs", "stats.json")) as stats:
        return json.load(stats)["mount"]["inodes"]


def sizes_of_files(folder):
    return {os.path.join(above, name): os.stat(os.path.join(above, name)).st_size
            for above, _, names in os.walk(folder) for name in names}
