# SPDX-License-Identifier: Apache-2.0
"""NAME.arrow copied into a mount becomes the table NAME: ROOT and uproot read what pyarrow and polars wrote."""

import contextlib
import errno
import json
import os
import random
import shutil
import subprocess

import numpy as np
import polars
import pyarrow as pa
import pytest
import uproot

import mounted
import mounted_table
import root_process
from test_writing import kill

ENTRIES = 1500


def lists_of(random_, values, most=4):
    return [list(values(int(n))) for n in random_.integers(0, most, ENTRIES)]


@pytest.fixture(scope="module")
def table():
    """A column of every type that a branch can have."""
    r = np.random.default_rng(13)
    words = ["w" * int(n) for n in r.integers(0, 40, ENTRIES)]
    floats = lists_of(r, lambda n: r.normal(size=n))
    return pa.table(
        {
            "px": pa.array(r.normal(size=ENTRIES), pa.float32()),
            "id": pa.array(np.arange(ENTRIES), pa.int64()),
            "small": pa.array(r.integers(-9, 9, ENTRIES), pa.int8()),
            "unsigned": pa.array(r.integers(0, 2**16, ENTRIES), pa.uint16()),
            "flag": pa.array(r.integers(0, 2, ENTRIES) > 0),
            "when": pa.array(r.integers(0, 10**9, ENTRIES), pa.timestamp("ns")),
            "pos": pa.FixedSizeListArray.from_arrays(pa.array(r.normal(size=3 * ENTRIES)), 3),
            "bits": pa.FixedSizeListArray.from_arrays(pa.array(r.integers(0, 2, 2 * ENTRIES) > 0), 2),
            "hits": pa.array(floats, pa.list_(pa.float64())),
            "large": pa.array(lists_of(r, lambda n: r.integers(0, 99, n)), pa.large_list(pa.int32())),
            "deep": pa.array([[row, row[:1]] for row in floats], pa.list_(pa.list_(pa.float64()))),
            "name": pa.array(words, pa.string()),
            "long_name": pa.array(words[::-1], pa.large_string()),
            "names": pa.array(lists_of(r, lambda n: r.choice(words, n)), pa.list_(pa.string())),
            "kind": pa.array(r.choice(["e", "mu", "a kind with a long name"], ENTRIES)).dictionary_encode(),
            "number_kind": pa.array(r.choice([1.5, 2.5], ENTRIES)).dictionary_encode(),
            "point": pa.array([{"x": float(x), "n": int(n)} for x, n in zip(r.normal(size=ENTRIES), r.integers(0, 9, ENTRIES))],
                              pa.struct([("x", pa.float32()), ("n", pa.int32())])),
        }
    )


def write_arrow(path, table, batch=None, **options):
    with open(path, "wb") as to, pa.ipc.new_file(to, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table, max_chunksize=batch)


def plain(value):
    """The value as lists, numbers and bytes, whichever library read it."""
    if isinstance(value, (str, bytes)):
        return value.encode() if isinstance(value, str) else value
    if hasattr(value, "tolist") and not isinstance(value, (list, tuple)):
        return plain(value.tolist())
    if hasattr(value, "__iter__"):
        return [plain(item) for item in value]
    return value


def expected(table):
    """Each branch's values; for the record, each member's."""
    values = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        if pa.types.is_struct(column.type):
            for field in column.type:
                values[name, field.name] = [row[field.name] for row in column.to_pylist()]
        else:
            values[name, None] = column.to_pylist()
    return values


def check(file, table, name="Events", root=True):
    from_root = root_process.read_with_root(file, name) if root else None
    with uproot.open(file) as opened:
        tree = opened[name]
        assert tree.num_entries == table.num_rows
        for (branch, member), values in expected(table).items():
            got = tree[branch].array(library="np")
            got = got[member] if member else got
            assert plain(got) == plain(values), branch
            if root and not member:
                assert plain(list(from_root[branch])) == plain(values), branch


def directory_of(m):
    os.makedirs(os.path.join(m.path, "out.root"), exist_ok=True)
    return os.path.join(m.path, "out.root")


@pytest.mark.sanitized
@pytest.mark.parametrize("options", ({}, {"batch": 700}, {"batch": 700, "compression": "lz4"}, {"batch": 1000, "compression": "zstd"}),
                         ids=("one-batch", "batches", "lz4", "zstd"))
def test_all_types(tmp_path, mount, table, options):
    write_arrow(tmp_path / "x.arrow", table, **options)
    m = mount(tmp_path, "rw,autoflush=30000")
    to = directory_of(m)
    shutil.copy(tmp_path / "x.arrow", os.path.join(to, "Events.arrow"))
    assert os.listdir(to) == ["Events.arrow"]
    mounted.fsync(to)
    assert m.errors() == ""
    assert os.listdir(to) == ["Events"]
    check(tmp_path / "out.root", table)
    assert not os.path.exists(tmp_path / "out.root.tfilefs-journal")
    read_back = pa.ipc.open_file(os.path.join(to, "Events.arrow")).read_all()
    assert read_back.num_rows == ENTRIES and read_back["hits"].to_pylist() == table["hits"].to_pylist()


def test_slices_and_nothing(tmp_path, mount, table):
    """Batches that begin inside their arrays, an empty batch, and a table without batches."""
    m = mount(tmp_path, "rw")
    to = directory_of(m)
    parts = [table.slice(5, 10), table.slice(0, 0), table.slice(777, 9)]
    parts = [part.combine_chunks() for part in parts]
    schema = table.schema
    with open(os.path.join(to, "parts.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema) as file:
        for part in parts:
            for batch in part.to_batches():
                file.write_batch(batch)
    write_arrow(os.path.join(to, "none.arrow"), table.select(["px", "hits", "name", "id"]).slice(0, 0))
    mounted.fsync(to)
    assert m.errors() == ""
    check(tmp_path / "out.root", pa.concat_tables(parts), "parts")
    with uproot.open(tmp_path / "out.root") as file:
        assert file["none"].num_entries == 0 and file["none"].keys() == ["px", "hits", "name", "id"]


@pytest.mark.parametrize("compression", ("uncompressed", "lz4", "zstd"))
def test_polars(tmp_path, mount, table, compression):
    m = mount(tmp_path, "rw")
    to = directory_of(m)
    names = [name for name in table.column_names if name not in ("point", "number_kind", "kind", "bits")]
    frame = polars.from_arrow(table.select(names)).with_columns(
        polars.Series("category", ["red", "blue, which is longer", "red"] * (ENTRIES // 3), dtype=polars.Categorical))
    frame.write_ipc(os.path.join(to, "Events.arrow"), compression=compression)
    mounted.fsync(to)
    assert m.errors() == ""
    check(tmp_path / "out.root", frame.to_arrow().select(names + ["category"]), root=compression == "zstd")


def test_any_order_and_another_name(tmp_path, table):
    write_arrow(tmp_path / "x.arrow", table, batch=999)
    bytes_ = (tmp_path / "x.arrow").read_bytes()
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    to = directory_of(m)
    pieces = [(at, bytes_[at:at + 7777]) for at in range(0, len(bytes_), 7777)]
    random.Random(4).shuffle(pieces)
    with open(os.path.join(to, ".Events.arrow.Xy1"), "wb") as file:
        for at, piece in pieces:
            file.seek(at)
            file.write(piece)
    mounted.fsync(to)
    assert not os.path.exists(tmp_path / "out.root")
    assert "Events" not in os.listdir(to)
    os.rename(os.path.join(to, ".Events.arrow.Xy1"), os.path.join(to, "Events.arrow"))
    os.makedirs(os.path.join(to, "below"))
    subprocess.run(["rsync", "-a", str(tmp_path / "x.arrow"), os.path.join(to, "below", "More.arrow")], check=True)
    assert m.close() == 0
    check(tmp_path / "out.root", table, root=False)
    check(tmp_path / "out.root", table, "below/More", root=False)


def test_from_one_mount_into_another(tmp_path, mount, table):
    """TABLE.arrow of a mount is one batch of its column files."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    source, to = directory_of(mount(tmp_path / "a", "rw")), directory_of(mount(tmp_path / "b", "rw"))
    write_arrow(os.path.join(source, "Events.arrow"), table, batch=1024)
    mounted.fsync(source)
    shutil.copy(os.path.join(source, "Events.arrow"), os.path.join(to, "T.arrow"))
    mounted.fsync(to)
    check(tmp_path / "b" / "out.root", table, "T", root=False)
    columns = mounted_table.schema_of(os.path.join(source, "Events"))["columns"]
    assert [c["path"] for c in mounted_table.schema_of(os.path.join(to, "T"))["columns"]] == [c["path"] for c in columns]
    subprocess.run(["diff", "-r", os.path.join(source, "Events"), os.path.join(to, "T")], check=True)


def offsets_down_at(wrong, dtype):
    offsets = np.arange(20_001, dtype=dtype)
    offsets[wrong] = offsets[wrong - 1] - 1
    return offsets


def texts_whose_offsets_go_down():
    offsets = offsets_down_at(10, "i4")
    return pa.StringArray.from_buffers(20_000, pa.py_buffer(offsets), pa.py_buffer(b"x" * 20_000))


REFUSED = {
    "nulls": (pa.array([1, None, 3]), "nulls"),
    "nulls-within": (pa.array([[1, None], [3]]), "nulls"),
    "binary": (pa.array([b"1", b"2"]), "type"),
    "decimal": (pa.array([1, 2]).cast(pa.decimal128(20)), "type"),
    "half": (pa.array(np.ones(2, "f2")), "type"),
    "texts-in-records-in-lists": (pa.array([[{"x": "a"}], []]), "records"),
    "records-in-records": (pa.array([{"x": {"y": 1}}]), "x"),
    "lists-that-go-down": (
        pa.ListArray.from_arrays(offsets_down_at(8192, "i4"), np.arange(20_000, dtype="i4")),
        "offsets decrease",
    ),
    "large-lists-that-go-down": (
        pa.LargeListArray.from_arrays(offsets_down_at(19_999, "i8"), np.arange(20_000, dtype="i4")),
        "offsets decrease",
    ),
    "texts-that-go-down": (texts_whose_offsets_go_down(), "offsets decrease"),
    "texts-of-fixed-number": (pa.array([["a", "b"]], pa.list_(pa.string(), 2)), "fixed-size"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_at_close(tmp_path, case):
    values, reason = REFUSED[case]
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        to = directory_of(m)
        write_arrow(tmp_path / "x.arrow", pa.table({"column": values}))
        for name, act in (("direct.arrow", shutil.copyfile), ("renamed.arrow", lambda a, b: rename_later(a, b))):
            with pytest.raises(OSError) as refused:
                act(tmp_path / "x.arrow", os.path.join(to, name))
            assert refused.value.errno == errno.EINVAL
        lines = m.errors()
        assert lines.count("out.root") >= 2 and reason in lines
        mounted.fsync(to)
        pending = json.load(open(os.path.join(to, ".pending.json")))
        assert pending["tables"][0]["path"] == "direct" and reason in pending["tables"][0]["reasons"][0]
        for name in os.listdir(to):
            os.unlink(os.path.join(to, name))
        write_arrow(os.path.join(to, "good.arrow"), pa.table({"column": [1, 2]}))
    with uproot.open(tmp_path / "out.root") as file:
        assert file.keys() == ["good;1"]


def rename_later(source, to):
    temporary = to + ".part"
    shutil.copyfile(source, temporary)
    os.rename(temporary, to)


def test_names_that_are_taken(tmp_path, mount, table):
    m = mount(tmp_path, "rw")
    to = directory_of(m)
    write_arrow(os.path.join(to, "Events.arrow"), table.select(["px"]))
    mounted.fsync(to)
    with pytest.raises(OSError):
        shutil.copyfile(os.path.join(to, "Events.arrow"), os.path.join(to, "Events.arrow"))
    with pytest.raises(OSError):
        write_arrow(tmp_path / "x.arrow", table.select(["px"]))
        shutil.copyfile(tmp_path / "x.arrow", os.path.join(to, "Events.arrow"))
    os.makedirs(os.path.join(to, "Other"))
    np.zeros(4, "f4").tofile(os.path.join(to, "Other", "x.f4"))
    shutil.copyfile(tmp_path / "x.arrow", os.path.join(to, "Other.arrow"))
    mounted.fsync(to)
    assert os.path.exists(os.path.join(to, "Other.arrow"))
    assert "already" in open(os.path.join(to, ".pending.json")).read()
    os.unlink(os.path.join(to, "Other.arrow"))
    # A new column for the table that an Arrow file made.
    np.arange(ENTRIES, dtype="i4").tofile(os.path.join(to, "Events", "more.i4"))
    mounted.fsync(to)
    with uproot.open(tmp_path / "out.root") as file:
        assert file["Events"].keys() == ["px", "more"] and file["Other"].num_entries == 4


def test_after_a_crash(tmp_path, table):
    """The next mount commits everything for which fsync returned."""
    write_arrow(tmp_path / "x.arrow", table, batch=500, compression="zstd")
    m = mounted.Mounted(tmp_path, ("rw", "commit=600"))
    with open(os.path.join(directory_of(m), "Events.arrow"), "wb") as file:
        file.write((tmp_path / "x.arrow").read_bytes())
        file.flush()
        os.fsync(file.fileno())
    kill(m)
    assert os.path.exists(tmp_path / "out.root.tfilefs-journal")
    with mounted.Mounted(tmp_path, ("rw",)) as m:
        mounted.fsync(os.path.join(m.path, "out.root"))
        assert m.errors() == ""
        check(tmp_path / "out.root", table, root=False)
    assert not os.path.exists(tmp_path / "out.root.tfilefs-journal")


def damaged_files(bytes_, count, seed):
    r = random.Random(seed)
    footer = int.from_bytes(bytes_[-10:-6], "little")
    for i in range(count):
        data = bytearray(bytes_)
        where = range(len(data) - 10 - footer, len(data)) if i % 2 else range(len(data))
        for _ in range(r.randint(1, 6)):
            data[r.choice(where)] = r.choice((0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)))
        yield bytes(data)


@pytest.mark.sanitized
@pytest.mark.parametrize("compression", (None, "lz4"))
def test_damaged_files_harm_nobody(tmp_path, table, compression):
    """They are refused, or become a table of other numbers; the mount continues."""
    write_arrow(tmp_path / "x.arrow", table.slice(0, 50), batch=20, compression=compression)
    original = (tmp_path / "x.arrow").read_bytes()
    outcome = {"refused": 0, "taken": 0}
    with mounted.Mounted(tmp_path, ("rw,commit=3600,memory=256M",)) as m:
        to = directory_of(m)
        for i, data in enumerate(damaged_files(original, 150, 21)):
            path = os.path.join(to, f"t{i}.arrow")
            try:
                with open(path, "wb") as file:
                    file.write(data)
                with contextlib.suppress(OSError):
                    mounted.fsync(to)
            except OSError as refused:
                assert refused.errno == errno.EINVAL, refused
            taken = not os.path.exists(path) or os.path.isdir(os.path.join(to, f"t{i}"))
            outcome["taken" if taken else "refused"] += 1
            if not taken:
                os.unlink(path)
        (tmp_path / "x.arrow").unlink()
        write_arrow(os.path.join(to, "good.arrow"), table)
        mounted.fsync(to)
        check(tmp_path / "out.root", table, "good", root=False)
    assert min(outcome.values()) > 10, outcome
