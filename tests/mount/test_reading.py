# SPDX-License-Identifier: Apache-2.0
"""Reading with common tools: od, dd, NumPy, mmap, fio; and many readers at once."""

import concurrent.futures
import json
import mmap
import os
import subprocess

import numpy as np
import pytest
import uproot

import mounted_table

COLUMN = "t/s_D.f8"


@pytest.fixture
def numbers(samples, shared_mount):
    return shared_mount(os.path.join(samples("numbers"), "numbers-big-baskets.root")).path


@pytest.fixture(scope="module")
def expected(samples):
    with uproot.open(os.path.join(samples("numbers"), "numbers-big-baskets.root")) as file:
        return file["t/s_D"].array(library="np")


def test_od(numbers):
    path = os.path.join(numbers, "t/s_I.i4")
    text = subprocess.run(["od", "-An", "-t", "d4", "-v", "-w4", path], check=True, capture_output=True, text=True).stdout
    assert [int(line) for line in text.split()] == mounted_table.read_array(path).tolist()


def test_dd(numbers, expected):
    result = subprocess.run(["dd", f"if={os.path.join(numbers, COLUMN)}", "bs=8", "skip=100", "count=50"],
                            check=True, capture_output=True)
    assert np.array_equal(np.frombuffer(result.stdout, "<f8"), expected[100:150], equal_nan=True)


def test_numpy_fromfile_and_memmap(numbers, expected):
    path = os.path.join(numbers, COLUMN)
    assert np.array_equal(np.fromfile(path, "<f8"), expected, equal_nan=True)
    mapped = np.memmap(path, "<f8", mode="r")
    assert np.array_equal(mapped, expected, equal_nan=True)
    assert np.array_equal(mapped[::-1], expected[::-1], equal_nan=True)
    shaped = np.memmap(os.path.join(numbers, "t/m_D.f8x2x3"), "<f8", mode="r").reshape(-1, 2, 3)
    assert shaped.shape == (2000, 2, 3)


@pytest.mark.parametrize("flags", (mmap.MAP_SHARED, mmap.MAP_PRIVATE))
def test_mmap(numbers, expected, flags):
    with open(os.path.join(numbers, COLUMN), "rb") as file:
        with mmap.mmap(file.fileno(), 0, flags, mmap.PROT_READ) as mapped:
            assert mapped[8000:8800] == expected[1000:1100].tobytes()
            assert mapped[:] == expected.tobytes()


def test_read_beyond_the_end(numbers):
    path = os.path.join(numbers, COLUMN)
    size = os.stat(path).st_size
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert os.pread(descriptor, 100, size) == b""
        assert os.pread(descriptor, 100, size + 1000000) == b""
        assert len(os.pread(descriptor, 100, size - 7)) == 7
        assert os.lseek(descriptor, 0, os.SEEK_END) == size
    finally:
        os.close(descriptor)


def test_direct_reads(numbers, expected):
    """O_DIRECT bypasses the page cache, and must be answered completely all the same."""
    descriptor = os.open(os.path.join(numbers, COLUMN), os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, 8192) as aligned:
            assert os.preadv(descriptor, [aligned], 4096) == 8192
            assert aligned[:] == expected.tobytes()[4096:12288]
    finally:
        os.close(descriptor)


def fio(path, *options):
    size = os.stat(path).st_size
    result = subprocess.run(
        ["fio", "--name=read", f"--filename={path}", "--readonly", "--allow_file_create=0", "--output-format=json",
         f"--size={size // 4096 * 4096}", "--bs=4k", "--time_based=0", "--loops=3", *options],
        capture_output=True, text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout[result.stdout.index("{"):])["jobs"]


@pytest.mark.parametrize("engine", ("psync", "mmap"))
@pytest.mark.parametrize("pattern", ("read", "randread"))
def test_fio(numbers, engine, pattern):
    path = os.path.join(numbers, "t/k_D/values.f8x2x2")
    jobs = fio(path, f"--rw={pattern}", f"--ioengine={engine}", "--numjobs=2")
    assert all(job["error"] == 0 and job["read"]["total_ios"] > 0 for job in jobs)


@pytest.mark.sanitized
def test_many_readers_see_the_same(samples, mount):
    """Readers of different columns, offsets and directions at once, on a cold mount with a small budget."""
    file = os.path.join(samples("numbers"), "numbers-505.root")
    m = mount(file, "memory=8388608")
    with uproot.open(file) as opened:
        tree = opened["t"]
        expected = {f"t/{name}.f8": tree[name].array(library="np").astype("<f8").tobytes() for name in ("s_D", "s_d")}
        counted = tree["k_D"].array()
        expected["t/k_D/values.f8x2x2"] = np.concatenate([np.asarray(entry).ravel() for entry in counted]).tobytes()

    def read(seed):
        random = np.random.default_rng(seed)
        for _ in range(60):
            path = list(expected)[random.integers(len(expected))]
            whole = expected[path]
            offset, size = int(random.integers(len(whole))), int(random.integers(1, 20000))
            with open(os.path.join(m.path, path), "rb", buffering=0) as opened:
                if os.pread(opened.fileno(), size, offset) != whole[offset : offset + size]:
                    return path, offset, size
        return None

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert [result for result in pool.map(read, range(16)) if result] == []


@pytest.mark.sanitized
def test_processes_read_one_cold_column(samples, mount):
    m = mount(os.path.join(samples("numbers"), "numbers-207.root"))
    path = os.path.join(m.path, "t/k_L/values.i8x2x2")
    readers = [subprocess.Popen(["md5sum", path], stdout=subprocess.PIPE) for _ in range(8)]
    assert len({reader.communicate()[0] for reader in readers}) == 1
    assert all(reader.returncode == 0 for reader in readers)


def test_listing_needs_no_sizes(samples, mount):
    """Reading names decodes nothing, even if sizes would need it."""
    m = mount(os.path.join(samples("strings"), "strings.root"))
    assert sorted(os.listdir(os.path.join(m.path, "t"))) == ["after.i4", "c", "only_short", "plain", "s", "v"] or sorted(
        os.listdir(os.path.join(m.path, "t"))
    ) == ["after", "c", "only_short", "plain", "s", "v"]
    schema = mounted_table.columns_of(os.path.join(m.path, "t"))
    assert schema["c/offsets.i8"]["length"] == 401
