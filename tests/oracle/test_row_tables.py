# SPDX-License-Identifier: Apache-2.0
"""TTable, rows of a C structure: each member is an array, as uproot reads it. ROOT no longer has the library of these
objects, so their bytes are made here, as TTable::Streamer wrote them."""

import itertools
import os
import struct
import subprocess

import numpy as np
import pytest
import uproot

import mounted
import root_process

# TTable::EColumnType
TYPES = {"f4": 1, "i4": 2, "i8": 3, "i2": 4, "f8": 5, "u4": 6, "u8": 7, "u2": 8, "u1": 9, "i1": 10, "pointer": 11}
TYPES["?"] = 12
ROWS = 500
NUMBERS = ("f4", "i4", "i8", "i2", "f8", "u4", "u8", "u1", "i1", "?")
SHAPES = ((), (3,), (2, 3), (2, 1, 4))
MEMBERS = [(f"m{TYPES[kind]}_{len(shape)}", kind, shape) for kind, shape in itertools.product(NUMBERS, SHAPES)]
READ_BY_UPROOT = [member for member in MEMBERS if member[1] != "u1"]  # it has no dtype for kUChar


def string(text):
    return bytes([len(text)]) + text.encode()


def counted(version, body):
    return struct.pack(">IH", len(body) + 2 | 0x40000000, version) + body


def dataset(name, title):
    """A TDataSet without others in it."""
    named = counted(1, struct.pack(">HII", 1, 0, 0x03000000) + string(name) + string(title))
    return counted(1, named + bytes(8))


def described(member, offset, is_counted=False, **claims):
    """A row of TTableDescriptor. `claims` replace what is true."""
    name, kind, shape = member
    type_size = 8 if kind == "pointer" else np.dtype(kind).itemsize
    told = dict(extents=(*shape, 0, 0, 0)[:3], offset=offset, size=type_size * int(np.prod(shape)), type_size=type_size,
                dimensions=len(shape), kind=TYPES[kind]) | claims
    extents, *others = told.values()
    counts = [struct.pack(">i", count) if is_counted else b"" for count in (32, 3)]
    return counts[0] + struct.pack(">32s", name.encode()) + counts[1] + struct.pack(">8I", *extents, *others)


def descriptor(rows, version):
    return (struct.pack(">H", version) + dataset("structure", "tableDescriptor")
            + struct.pack(">iqq", len(rows), len(rows), 64) + b"".join(rows))


def table(descriptions, rows, version=4, count=None, allocated=None):
    count = len(rows) if count is None else count
    description = descriptor(descriptions, version)
    if version == 4:
        content = struct.pack(">I", 0xFFFFFFFF) + b"TTableDescriptor\0" + description
        description = struct.pack(">I", len(content) | 0x40000000) + content
    allocated = count if allocated is None else allocated
    return (struct.pack(">H", version) + description + dataset("hits", "structure")
            + struct.pack(">iqq", allocated, count, rows.dtype.itemsize) + rows.tobytes())


def random_rows(members, count=ROWS):
    random = np.random.default_rng(4)
    made = np.zeros(count, [(name, np.dtype(kind).newbyteorder(">"), shape) for name, kind, shape in members])
    for name, kind, shape in members:
        made[name] = random.integers(0, 2 if kind == "?" else 100, (count, *shape)) - (50 if kind[0] in "if" else 0)
    return made


def descriptions_of(members, rows):
    return [described(member, rows.dtype.fields[member[0]][1]) for member in members]


@pytest.fixture(scope="module")
def rows():
    return random_rows(MEMBERS)


@pytest.fixture(scope="module")
def whole(rows):
    return table(descriptions_of(MEMBERS, rows), rows)


def write(directory, objects, name="table.root"):
    """A file with objects {name: (class, bytes)}."""
    with mounted.Mounted(directory, ("rw",)) as m:
        os.makedirs(os.path.join(m.path, name), exist_ok=True)
        for key, (class_name, content) in objects.items():
            at = os.path.join(m.path, name, key)
            os.mkdir(at)
            os.setxattr(at, "user.tfilefs.class", class_name.encode())
            with open(os.path.join(at, "object.bin"), "wb") as file:
                file.write(content)
    return directory / name


def arrays(top):
    """The names, without types, of the arrays of an object."""
    return sorted(name.split(".")[0] for name in os.listdir(top) if not name.startswith("object."))


def assert_shows(top, rows, members):
    assert arrays(top) == sorted(name for name, _, _ in members)
    for name, kind, shape in members:
        found = np.load(os.path.join(top, name + ".npy"))
        assert found.dtype == np.dtype(kind) and found.shape == (len(rows), *shape)
        assert np.array_equal(found, rows[name]), name


def test_each_member_is_an_array(tmp_path, mount, rows, whole):
    old = table(descriptions_of(MEMBERS, rows), rows, 3)
    made = {"a": ("TTable", whole), "b": ("TTable", old), "c": ("St_g2t_hits", whole), "d": ("St_g2t_hits", old),
            "e": ("TGenericTable", whole)}
    m = mount(write(tmp_path, made))
    for key in made:
        assert_shows(os.path.join(m.path, key), rows, MEMBERS)
    assert {"m1_1.f4x3", "m5_2.f8x2x3", "m12_0.b1", "object.bin"} <= set(os.listdir(os.path.join(m.path, "a")))
    assert m.errors() == ""


def test_as_uproot_reads_them(tmp_path, mount):
    rows = random_rows(READ_BY_UPROOT)
    file = write(tmp_path, {"hits": ("TTable", table(descriptions_of(READ_BY_UPROOT, rows), rows))})
    top = os.path.join(mount(file).path, "hits")
    with uproot.open(file) as opened:
        data = opened["hits"].data
    assert list(data.dtype.names) == [name for name, _, _ in READ_BY_UPROOT]
    for name, kind, _ in READ_BY_UPROOT:
        found = np.load(os.path.join(top, name + ".npy")).reshape(ROWS, -1)  # uproot: one dimension
        expected = np.ascontiguousarray(data[name].reshape(ROWS, -1))
        assert np.array_equal(found, expected.view("i1") if kind == "i1" else expected), name  # uproot: u1


def test_types_that_are_not_stored(tmp_path, mount):
    """TTable::Streamer has no case for kUShort and kNAN."""
    members = [("first", "i4", ()), ("last", "f8", (2,))]
    rows = random_rows(members)
    descriptions = [described(members[0], 0), described(("short", "u2", (4,)), 4),
                    described(("none", "i4", ()), 12, kind=0), described(members[1], 16)]
    file = write(tmp_path, {"hits": ("TTable", table(descriptions, rows))})
    assert_shows(os.path.join(mount(file).path, "hits"), rows, members)


def test_long_of_four_bytes_in_memory(tmp_path, mount):
    members = [("long", "i8", (3,)), ("unsigned", "u8", ())]
    rows = random_rows(members)
    descriptions = [described(members[0], 0, size=12, type_size=4), described(members[1], 12, size=4, type_size=4)]
    file = write(tmp_path, {"hits": ("TTable", table(descriptions, rows))})
    assert_shows(os.path.join(mount(file).path, "hits"), rows, members)


def test_arrays_after_their_length(tmp_path, mount):
    """Old libraries wrote arrays with TBuffer::WriteArray, those of the description as well."""
    members = [("x", "f4", (3,)), ("id", "i4", ()), ("cov", "f8", (2, 3))]
    rows = random_rows(members)
    x, id_, cov = rows.dtype.descr
    stored = np.zeros(ROWS, [("nx", ">i4"), x, id_, ("ncov", ">i4"), cov])
    stored["nx"], stored["ncov"] = 3, 6
    for name in rows.dtype.names:
        stored[name] = rows[name]
    descriptions = [described(member, 0, True) for member in members]
    file = write(tmp_path, {"hits": ("St_hits", table(descriptions, stored, 3))})
    assert_shows(os.path.join(mount(file).path, "hits"), rows, members)


def test_no_rows(tmp_path, mount, rows):
    file = write(tmp_path, {"hits": ("TTable", table(descriptions_of(MEMBERS, rows), rows[:0]))})
    assert_shows(os.path.join(mount(file).path, "hits"), rows[:0], MEMBERS)


def test_large_tables(tmp_path, mount):
    """More than 16 MB, whose arrays are decoded one by one."""
    members = [("x", "f8", (4,)), ("id", "i4", ())]
    rows = random_rows(members, 600_000)
    file = write(tmp_path, {"hits": ("TTable", table(descriptions_of(members, rows), rows))})
    assert_shows(os.path.join(mount(file).path, "hits"), rows, members)


def test_what_contradicts_itself_is_an_error(tmp_path, mount):
    member = ("x", "f4", (3,))
    rows = random_rows([member])
    good, whole = described(member, 0), table([described(member, 0)], rows)
    claims = [dict(size=0xFFFFFFFF), dict(size=0), dict(size=16), dict(type_size=0), dict(type_size=0xFFFFFFFF),
              dict(dimensions=4), dict(dimensions=0xFFFFFFFF), dict(dimensions=0), dict(kind=13), dict(kind=0xFFFFFFFF),
              dict(kind=5), dict(extents=(0, 0, 0)), dict(extents=(0xFFFFFFFF,) * 3, dimensions=3),
              dict(extents=(1 << 30, 1, 1), size=0, dimensions=3),
              dict(extents=(65536, 65536, 65536), size=0, dimensions=3)]
    damaged = [table([described(member, 0, **claim)], rows) for claim in claims]
    damaged += [table([described(("", "f4", (3,)), 0)], rows), table([], rows), table([good, good], rows),
                table([described(("pointer", "pointer", ()), 0), good], rows)]
    damaged += [table([good], rows, count=count, allocated=2**31 - 1)
                for count in (ROWS - 1, ROWS + 1, -1, 2**31 - 1, 2**62, -(2**63))]
    damaged += [table([good], rows, allocated=allocated) for allocated in (-1, 0, ROWS - 1, -(2**31))]
    damaged += [whole + b"\0", *(whole[:size] for size in (2, 6, 30, 60, 100, 140, 200, 250, 300, len(whole) - 1))]
    damaged += [struct.pack(">H", version) + whole[2:] for version in (0, 1, 2, 3, 5, 0x3FFF)]
    m = mount(write(tmp_path, {f"d{i}": ("TTable", content) for i, content in enumerate(damaged)}))
    for i in range(len(damaged)):
        assert arrays(os.path.join(m.path, f"d{i}")) == [], i
        assert f"/d{i}:" in m.errors(), i


def test_any_damage_is_survived(tmp_path, mount, rows, whole):
    random = np.random.default_rng(5)
    begin = whole.index(rows.tobytes())
    made = {}
    for i in range(400):
        damaged = bytearray(whole)
        for _ in range(random.integers(1, 4)):
            damaged[random.integers(0, begin)] = random.choice((0, 1, 0x40, 0x7F, 0x80, 0xFF, random.integers(0, 256)))
        if i % 5 == 0:
            del damaged[random.integers(2, len(whole)) :]
        made[f"d{i}"] = (("TTable", "St_g2t_hits")[i % 2], bytes(damaged))
    m = mount(write(tmp_path, made))
    for key in made:
        top = os.path.join(m.path, key)
        for name in os.listdir(top):
            with open(os.path.join(top, name), "rb") as file:
                file.read()
    assert m.process.poll() is None


def test_a_described_heir(tmp_path, mount, rows, whole):
    """The description of the class is not that of the bytes, which are those of TTable::Streamer."""
    root_process.run_script(os.path.join("oracle", "row_table_classes.py"), [str(tmp_path / "table.root")])
    # A class with bytes unlike its description is not written; so it gets its name afterwards.
    file = write(tmp_path, {"hits": ("XX_mcpoint", whole), "cut": ("XX_mcpoint", whole[:-1])})
    file.write_bytes(file.read_bytes().replace(b"XX_mcpoint", b"St_mcpoint"))
    m = mount(file)
    assert_shows(os.path.join(m.path, "hits"), rows, MEMBERS)
    assert arrays(os.path.join(m.path, "cut")) == [] and "/cut:" in m.errors() and "/hits:" not in m.errors()


@pytest.mark.parametrize("class_name", ("TTable", "St_g2t_hits"))
def test_it_is_copied_as_it_is(tmp_path, mount, program, rows, whole, class_name):
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    file = write(tmp_path / "from", {"hits": (class_name, whole)})
    subprocess.run([program, "repack", file, tmp_path / "to" / "repacked.root"], check=True, capture_output=True)
    with mounted.Mounted(tmp_path / "to", ("rw",)) as m:
        os.mkdir(os.path.join(m.path, "copied.root"))
        source = os.path.join(mount(file).path, "hits")
        subprocess.run(["cp", "-r", source, os.path.join(m.path, "copied.root")], check=True)
    for name in ("repacked.root", "copied.root"):
        top = os.path.join(mount(tmp_path / "to" / name).path, "hits")
        assert_shows(top, rows, MEMBERS)
        with open(os.path.join(top, "object.bin"), "rb") as copy:
            assert copy.read() == whole
        assert os.getxattr(top, "user.tfilefs.class").decode() == class_name
