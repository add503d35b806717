# SPDX-License-Identifier: Apache-2.0
"""A damaged basket in a view of the whole table: EIO for the bytes concerned, a line in .tfilefs/errors, and everything
else can be read."""

import errno
import os
import struct

import awkward
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import uproot

import hostile_file
import mounted_table

ENTRIES, STEP = 600_000, 50_000  # row groups have at least 262,144 entries: here 300,000
LISTS = awkward.unflatten(np.arange(STEP, dtype="f4"), np.tile([0, 2], STEP // 2))
TEXTS = awkward.Array([f"text {i}" for i in range(STEP)])


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The bytes of the file, and the place of each basket by branch."""
    path = tmp_path_factory.mktemp("damage") / "good.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"x": "f8", "list": "var * float32", "text": "string", "y": "f8"})
        for begin in range(0, ENTRIES, STEP):
            numbers = np.arange(begin, begin + STEP, dtype="f8")
            file["t"].extend({"x": numbers, "list": LISTS, "text": TEXTS, "y": numbers})
    with uproot.open(path) as file:
        seeks = {branch.name: [int(seek) for seek in branch.member("fBasketSeek")[: branch.num_baskets]] for branch in file["t"].branches}
    return path.read_bytes(), seeks


@pytest.fixture
def damaged(image, tmp_path, mount):
    """damaged('x', 3, ...) mounts the file with these baskets of the branch damaged (all, if none is given)."""

    def make(branch, *numbers):
        data = bytearray(image[0])
        seeks = image[1][branch]
        for seek in [seeks[number] for number in numbers] or seeks:
            keylen = struct.unpack_from(">h", data, seek + 14)[0]
            data[seek + keylen : seek + keylen + 9] = b"XX\x08" + b"\xff" * 6
        path = tmp_path / f"{branch}.root"
        hostile_file.write(path, data)
        return mount(path)

    return make


def fails(read):
    with pytest.raises(OSError) as error:
        read()
    return error.value.errno == errno.EIO or os.strerror(errno.EIO) in str(error.value)


def unreadable_pages(path):
    """Offsets of the 4 KiB pages of a file that give EIO."""
    pages = []
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        for offset in range(0, os.fstat(descriptor).st_size, 4096):
            try:
                os.pread(descriptor, 4096, offset)
            except OSError as error:
                assert error.errno == errno.EIO
                pages.append(offset)
    finally:
        os.close(descriptor)
    return pages


def assert_whole(file, group, *names):
    """These columns of a row group of 300,000 entries are intact."""
    table = file.read_row_group(group, columns=list(names))
    times = 300_000 // STEP
    expected = {
        "x": np.arange(group * 300_000, (group + 1) * 300_000, dtype="f8").tolist(),
        "list": LISTS.to_list() * times, "text": TEXTS.to_list() * times, "nlist": awkward.num(LISTS).to_list() * times,
    }
    expected["y"] = expected["x"]
    for name in names:
        assert table[name].to_pylist() == expected[name], name


@pytest.mark.parametrize("branch", ("x", "list", "text", "nlist"))
def test_parquet(damaged, branch):
    m = damaged(branch, 2)
    with pyarrow.parquet.ParquetFile(os.path.join(m.path, "t.parquet")) as file:
        assert [file.metadata.row_group(i).num_rows for i in range(2)] == [300_000, 300_000]
        others = [name for name in ("x", "list", "nlist", "text", "y") if name != branch]
        assert_whole(file, 0, *others)
        assert_whole(file, 1, *others)
        if branch == "text":  # the beginning of a string follows only from those before it
            assert fails(lambda: file.read_row_group(1, columns=[branch]))
        else:
            assert_whole(file, 1, branch)
        assert fails(lambda: file.read_row_group(0, columns=[branch]))
    assert any(line.split(" ")[1].startswith("/t.parquet") for line in m.errors().splitlines()), m.errors()


@pytest.mark.parametrize("branch", ("list", "text"))
def test_only_the_pages_of_the_basket_fail(damaged, image, tmp_path, mount, branch):
    good_path = tmp_path / "good.root"
    good_path.write_bytes(image[0])
    good, bad = mount(good_path), damaged(branch, 7)
    unreadable = 4096 * len(unreadable_pages(os.path.join(bad.path, "t.parquet")))
    group = pyarrow.parquet.read_metadata(os.path.join(good.path, "t.parquet")).row_group(1)
    of_branch = sum(group.column(i).total_compressed_size for i in range(group.num_columns) if group.column(i).path_in_schema.startswith(branch))
    assert 0 < unreadable < of_branch / 2, "a basket of six in the row group"


@pytest.mark.parametrize("branch", ("text", "list"))
def test_a_column_of_which_nothing_can_be_read(damaged, branch):
    m = damaged(branch)
    with pyarrow.parquet.ParquetFile(os.path.join(m.path, "t.parquet")) as file:
        assert_whole(file, 1, *(name for name in ("x", "list", "text", "y") if name != branch))
        assert fails(lambda: file.read_row_group(1, columns=[branch]))


@pytest.mark.parametrize("branch", ("x", "list", "text"))
def test_arrow(damaged, branch):
    m = damaged(branch, 2)
    path = os.path.join(m.path, "t.arrow")
    bad = unreadable_pages(path)
    file = pa.memory_map(path)
    start = file.read_buffer(1).address
    table = pa.ipc.open_file(file).read_all()
    [array] = table[branch].chunks
    places = [(buffer.address - start, buffer.address - start + buffer.size) for buffer in array.buffers() if buffer]
    assert bad and all(any(begin - 4096 < page < end for begin, end in places) for page in bad)
    if branch != "text":  # the beginning of a string follows only from those before it
        assert sum(end - begin for begin, end in places) > 6 * 4096 * len(bad), "one basket of twelve"
    for name in {"x", "y"} - {branch}:
        assert np.array_equal(table[name].to_numpy(), np.arange(ENTRIES, dtype="f8"))
    assert any(line.split(" ")[1].startswith("/t.arrow") for line in m.errors().splitlines()), m.errors()


@pytest.mark.parametrize("suffix", (".csv", ".jsonl"))
def test_text(damaged, suffix):
    """The places of a text's lines are unknown before all of it is made: it is an error as a whole, with the reason."""
    m = damaged("text", 2)
    assert fails(lambda: mounted_table.read_exactly(os.path.join(m.path, "t" + suffix)))
    assert "text" in m.errors()
