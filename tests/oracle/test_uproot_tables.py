# SPDX-License-Identifier: Apache-2.0
"""Random tables written by uproot (names, types, sizes, batches): the mount must show what was written."""

import os
import tempfile

import awkward
import hypothesis
import hypothesis.strategies as st
import numpy as np
import uproot

import mounted
import mounted_table

DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?")
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,30}", fullmatch=True)


@st.composite
def columns(draw):
    """(kind, dtype, shape) of one column."""
    kind = draw(st.sampled_from(("number", "shape", "list", "string")))
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))) if kind == "shape" else ()
    return kind, dtype, shape


@st.composite
def tables(draw):
    layout = draw(st.dictionaries(NAMES, columns(), min_size=1, max_size=5))
    # uproot makes a counter nNAME for each list. Names that collide with it are not tested here.
    counters = {"n" + name for name, (kind, _, _) in layout.items() if kind == "list"}
    hypothesis.assume(not counters & set(layout))
    batches = draw(st.lists(st.integers(1, 200), min_size=1, max_size=4))
    seed = draw(st.integers(0, 2**32 - 1))
    return layout, batches, seed


def random_array(random, dtype, shape):
    raw = random.integers(0, 256, size=(int(np.prod(shape)), np.dtype(dtype).itemsize), dtype=np.uint8)
    if dtype == "?":
        return (raw % 2).astype("?").reshape(shape)
    return raw.reshape(-1).view("<" + dtype).reshape(shape)


def batch_of(random, kind, dtype, shape, entries):
    if kind == "string":
        return ["x" * int(n) for n in random.integers(0, 400, entries) * (random.random(entries) < 0.7)]
    if kind == "list":
        counts = random.integers(0, 6, entries)
        return awkward.unflatten(random_array(random, dtype, (int(counts.sum()),)), counts)
    return random_array(random, dtype, (entries, *shape))


def as_python(batch, kind):
    if kind == "string":
        return [text.encode() for text in batch]
    return batch.tolist()


def uproot_type(kind, dtype, shape):
    name = {"?": "bool"}.get(dtype, np.dtype(dtype).name)
    if kind == "string":
        return "string"
    if kind == "list":
        return "var * " + name
    return np.dtype((np.dtype(dtype), shape)) if shape else np.dtype(dtype)


def write(path, layout, batches, seed):
    random = np.random.default_rng(seed)
    expected = {name: [] for name in layout}
    with uproot.recreate(path) as file:
        tree = file.mktree("t", {name: uproot_type(*column) for name, column in layout.items()})
        for entries in batches:
            batch = {name: batch_of(random, *column, entries) for name, column in layout.items()}
            tree.extend({name: awkward.Array(values) if isinstance(values, list) else values
                         for name, values in batch.items()})
            for name, values in batch.items():
                expected[name] += as_python(values, layout[name][0])
    return expected


@hypothesis.given(tables())
def test_random_table(table):
    layout, batches, seed = table
    with tempfile.TemporaryDirectory(prefix="uproot-table-") as directory:
        path = os.path.join(directory, "random.root")
        expected = write(path, layout, batches, seed)
        with mounted.Mounted(path) as m:
            inside = os.path.join(m.path, "t")
            for name, values in expected.items():
                mounted_table.assert_same(mounted_table.read_node(inside, name), values, name)
                if layout[name][0] == "list":
                    counts = mounted_table.read_node(inside, "n" + name)
                    assert counts == [len(value) for value in values]
            mounted_table.assert_schema_matches_files(inside)


# Any bytes but NUL, which ROOT's C strings cannot contain. uproot takes text, so these are characters.
KEY_NAMES = st.text(st.characters(exclude_characters="\0/;", exclude_categories=("Cs",)), min_size=1, max_size=80)


@hypothesis.given(st.lists(KEY_NAMES, min_size=1, max_size=8, unique=True))
def test_random_key_names(names):
    """Each key has one name; that name or the xattr gives the original name."""
    with tempfile.TemporaryDirectory(prefix="uproot-names-") as directory:
        path = os.path.join(directory, "names.root")
        with uproot.recreate(path) as file:
            for name in names:
                file[name] = name  # a TObjString
            written = {key.rpartition(";")[0] for key in file.keys()}
        with mounted.Mounted(path) as m:
            entries = os.listdir(os.fsencode(m.path))
            assert len(entries) == len(written)
            originals = set()
            for entry in entries:
                original = os.getxattr(os.path.join(os.fsencode(m.path), entry), "user.tfilefs.name").decode()
                originals.add(original)
                if original.isprintable() and "%" not in original and len(original.encode()) < 240 and original[0] != ".":
                    assert entry.decode() == original
            assert originals == written


@hypothesis.given(st.lists(st.tuples(st.integers(0, 90000), st.integers(0, 20000)), min_size=1, max_size=20))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_random_reads(samples, shared_mount, reads):
    """pread at any offset, of any size, gives that slice of the whole."""
    m = shared_mount(samples("numbers"))
    for column in ("numbers-big-baskets.root/t/k_D/values.f8x2x2", "numbers-505.root/t/c_I/values.i4",
                   "numbers-101.root/t/packed/b.f8", "numbers-0.root/t/m_F.f4x2x3"):
        path = os.path.join(m.path, column)
        whole = mounted_table.read_exactly(path)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            for offset, size in reads:
                assert os.pread(descriptor, size, offset) == whole[offset : offset + size], (column, offset, size)
        finally:
            os.close(descriptor)
