# SPDX-License-Identifier: Apache-2.0
"""Proves each branch in corpus_exceptions.py: the mount shows the values that ROOT reads, or those that this test
decodes from the baskets' bytes, as ROOT decompresses them. TFILEFS_CORPUS names the corpus; without it, these tests are
skipped with a message."""

import json
import os
import pickle
import struct
import tempfile

import numpy as np
import pytest
import xxhash

import mounted_table
import root_process
from oracle.corpus_exceptions import LISTED, Alternatives, Arrays, Bits, Bitset, Counter, Draw, Leaf, Objects, Records, References, Retyped, Strings

CORPUS = os.environ.get("TFILEFS_CORPUS")
pytestmark = [pytest.mark.corpus, pytest.mark.skipif(not CORPUS, reason="TFILEFS_CORPUS names no corpus of real files")]

# An object of a class unknown to ROOT in the tree's user information; no branch needs it.
EXPECTED_COMPLAINTS = ("trying to read an emulated class (AliESDEvent)",)


def hash_of(array):
    return xxhash.xxh64(np.ascontiguousarray(array).tobytes()).hexdigest()


def file_of(listed):
    return os.path.join(CORPUS, "files", listed.file + ".root")


def reference_leaves(listed):
    with open(os.path.join(CORPUS, "reference", listed.file + ".json")) as opened:
        return json.load(opened)["tables"][listed.table]["branches"][listed.branch]["leaves"]


class Column:
    """A column of the mount: values, and the offsets of the lists around it."""

    def __init__(self, table, described):
        self.field = ".".join(described["field"])
        self.path, self.role, self.shape = described["path"], described["role"], tuple(described["shape"])
        self.values = mounted_table.read_array(os.path.join(table, self.path))
        self.lists = [mounted_table.read_array(os.path.join(table, path)) for path in described["lists"]]


@pytest.fixture(scope="module")
def columns(shared_mount):
    """columns(listed) returns the branch's columns of values or characters, by field."""

    def get(listed):
        table = os.path.join(shared_mount(file_of(listed)).path, listed.table)
        described = [c for c in mounted_table.schema_of(table)["columns"] if c["branch"] == listed.branch]
        found = [Column(table, c) for c in described if c["role"] in ("values", "chars")]
        assert found, f"{listed.branch} is not decoded: {described}"
        return {column.field: column for column in found}

    return get


def questions_of(listed):
    if isinstance(listed.proof, Leaf):
        return [(listed.table, "leaf", listed.proof.name)]
    if isinstance(listed.proof, Draw):
        fields = [".".join(leaf.get("field", [])) for leaf in reference_leaves(listed)]
        return [(listed.table, "draw", ".".join(filter(None, (listed.proof.expression, field)))) for field in fields]
    if isinstance(listed.proof, Objects):
        return [(listed.table, "draw", listed.proof.expression)]
    if isinstance(listed.proof, Counter):
        return [(listed.table, "type", (listed.branch, listed.proof.field))]
    bytes_of_entries = (listed.table, "bytes", listed.branch)
    if isinstance(listed.proof, Bits):
        return [bytes_of_entries, (listed.table, "draw", listed.proof.expression)]
    if isinstance(listed.proof, Strings):
        return [bytes_of_entries, (listed.table, "draw", listed.proof.expression + ".Length()")]
    return [bytes_of_entries]


@pytest.fixture(scope="module")
def root_answers():
    """root_answers(listed) returns ROOT's answer to each question; one process per file answers all of them."""
    known = {}

    def ask(file):
        questions = [q for listed in LISTED if listed.file == file for q in questions_of(listed)]
        with tempfile.TemporaryDirectory() as directory:
            asked, answered = os.path.join(directory, "asked"), os.path.join(directory, "answered")
            with open(asked, "wb") as out:
                pickle.dump(questions, out)
            arguments = [os.path.join(CORPUS, "files", file + ".root"), asked, answered]
            root_process.run_script(os.path.join("oracle", "corpus_root.py"), arguments, EXPECTED_COMPLAINTS)
            with open(answered, "rb") as opened:
                return pickle.load(opened)

    def get(listed):
        if listed.file not in known:
            known[listed.file] = ask(listed.file)
        return [known[listed.file][question] for question in questions_of(listed)]

    return get


def column_of(columns, field):
    """The column of a field; the reference omits the names of base classes."""
    return columns.get(field) or next(column for name, column in columns.items() if name.endswith("." + field))


def prove_by_root(listed, columns, answers):
    for leaf, (values, lengths) in zip(reference_leaves(listed), answers):
        column = column_of(columns, ".".join(leaf.get("field", [])))
        mine = column.values.ravel()
        np.testing.assert_array_equal(mine.astype("f8"), values, f"{listed.branch} {column.field}")
        per_item = int(np.prod(column.shape, dtype=np.int64))
        my_lengths = np.diff(column.lists[0]) * per_item if column.lists else np.full(len(mine) // per_item, per_item)
        np.testing.assert_array_equal(my_lengths, lengths)


def prove_counter(listed, columns, type_name):
    assert type_name in ("Int_t", "int")
    [leaf] = [leaf for leaf in reference_leaves(listed) if leaf.get("field", [""])[-1] == listed.proof.field]
    column = column_of(columns, ".".join(leaf.get("field", [])))
    assert leaf["dtype"] == "<u4" and column.values.dtype == np.dtype("<i4")
    assert hash_of(column.values) == leaf["xxh64"]
    assert [hash_of(offsets) for offsets in column.lists] == leaf.get("lists", [])


def prove_bits(columns, entries, drawn):
    kIsReferenced = 0x10
    values, lengths = [], []
    for entry in entries:
        at, before = 0, len(values)
        while at < len(entry):
            (bits,) = struct.unpack_from(">I", entry, at)
            at += 6 if bits & kIsReferenced else 4
            values.append(bits)
        assert at == len(entry)
        lengths.append(len(values) - before)
    column = columns[""]
    assert any(bits & kIsReferenced for bits in values)
    assert column.values.tolist() == values
    assert np.diff(column.lists[0]).tolist() == lengths
    assert drawn[1].tolist() == lengths


def prove_strings(columns, entries, drawn):
    texts, lengths = [], []
    for entry in entries:
        at, before = 0, len(texts)
        while at < len(entry):
            size = entry[at]
            assert size < 255
            texts.append(entry[at + 1 : at + 1 + size])
            at += 1 + size
        assert at == len(entry)
        lengths.append(len(texts) - before)
    column = columns[""]
    assert max(lengths) > 1
    assert np.diff(column.lists[0]).tolist() == lengths
    assert mounted_table.split(column.values.tobytes(), column.lists[1], column.path) == texts
    assert drawn[0].tolist() == [len(text) for text in texts]
    assert drawn[1].tolist() == lengths


def prove_level(listed, columns, entries):
    """All leaves of the reference exist, byte for byte, with one more list of constant length 1."""
    count = listed.proof.count
    ones = hash_of(np.arange(entries + 1, dtype="<i8"))
    free = list(columns.values())
    for leaf in reference_leaves(listed):
        def matches(column):
            outer = np.arange(entries + 1, dtype="<i8") * count
            if hash_of(column.values) != leaf["xxh64"] or not np.array_equal(column.lists[0], outer):
                return False
            lists = [hash_of(offsets) for offsets in column.lists]
            if len(leaf["lists"]) > 1:
                return leaf["lists"] == [ones, *lists] and column.shape == tuple(leaf.get("shape", ()))
            return leaf["lists"] == [ones] and (count, *column.shape) == tuple(leaf["shape"]) and len(lists) == 1

        found = next((column for column in free if matches(column)), None)
        assert found, f"{listed.branch}: nothing is {leaf}"
        free.remove(found)


def prove_counted_arrays(listed, entries):
    for entry in entries:
        at = 0
        for _ in range(listed.proof.count):
            (n,) = struct.unpack_from(">i", entry, at)
            at += 4 + n * listed.proof.size
        assert at == len(entry)


def prove_bitset(listed, columns, entries):
    length = listed.proof.length
    lists, bits = [0], []
    for entry in entries:
        byte_count, _ = struct.unpack_from(">IH", entry)
        assert byte_count & 0x3FFFFFFF == len(entry) - 4
        at, n = 6, 1
        if columns[""].lists:  # a vector of bitsets
            (n,), at = struct.unpack_from(">I", entry, at), at + 4
        for _ in range(n):
            (stored_length,) = struct.unpack_from(">I", entry, at)
            assert stored_length == length
            bits += entry[at + 4 : at + 4 + length]
            at += 4 + length
        assert at == len(entry)
        lists.append(lists[-1] + n)
    column = columns[""]
    assert column.shape == (length,)
    assert column.values.astype("u1").ravel().tolist() == bits
    if column.lists:
        assert column.lists[0].tolist() == lists
    (leaf,) = reference_leaves(listed)
    constant = np.arange(lists[-1] + 1, dtype="<i8") * length
    assert leaf["xxh64"] == hash_of(column.values)
    assert leaf["lists"] == [*(hash_of(offsets) for offsets in column.lists), hash_of(constant)]


def prove_references(columns, entries):
    numbers, lengths, items = [], [], [0]
    for entry in entries:
        at = 0
        while at < len(entry):
            byte_count, version = struct.unpack_from(">IH", entry, at)
            end = at + 4 + (byte_count & 0x3FFFFFFF)
            at += 6 + 10  # TObject, to which nothing refers
            at += 1 + entry[at]
            size, _, _ = struct.unpack_from(">iiH", entry, at)
            numbers += struct.unpack_from(f">{size}I", entry, at + 10)
            lengths.append(size)
            assert at + 10 + 4 * size == end and version == 1
            at = end
        assert at == len(entry)
        items.append(len(lengths))
    mine = columns["fUIDs"]
    assert mine.values.dtype == np.dtype("<u4") and mine.values.tolist() == numbers
    assert np.diff(mine.lists[1]).tolist() == lengths and mine.lists[0].tolist() == items
    assert columns["fSize"].values.tolist() == lengths


def prove_records(listed, columns, entries):
    item = np.dtype(list(listed.proof.fields))
    records, items = [], [0]
    for entry in entries:
        byte_count, _, n = struct.unpack_from(">IHI", entry)
        assert byte_count & 0x3FFFFFFF == len(entry) - 4 and 10 + n * item.itemsize == len(entry)
        records.append(np.frombuffer(entry, item, n, 10))
        items.append(items[-1] + n)
    records = np.concatenate(records)
    for name in item.names:
        if name == "_":
            assert set(records[name].tolist()) == {bytes.fromhex("4000000a0001")}  # byte count and version
            continue
        mine = column_of(columns, name)
        np.testing.assert_array_equal(mine.values.ravel(), records[name].ravel(), name)
        assert mine.lists[0].tolist() == items
    assert items[-1] > 0


def test_numbers_of_another_type_are_the_same_numbers(shared_mount):
    """Each column with another type in the reference has the type of the field, and the same numbers."""
    retyped = [listed for listed in LISTED if isinstance(listed.proof, Retyped)]
    assert retyped
    for listed in retyped:
        table = os.path.join(shared_mount(file_of(listed)).path, listed.table)
        below = [c for c in mounted_table.schema_of(table)["columns"] if (c["branch"] + ".").startswith(listed.branch + ".")]
        values = [(c, mounted_table.read_array(os.path.join(table, c["path"]))) for c in below if c["role"] != "offsets"]
        types = set()
        for leaf in reference_leaves(listed):
            found = [c for c, array in values if hash_of(array.astype(leaf["dtype"])) == leaf["xxh64"]
                     and [hash_of(mounted_table.read_array(os.path.join(table, path))) for path in c["lists"]] == leaf.get("lists", [])]
            assert found, f"{listed.branch}: {leaf}"
            if all(c["dtype"][-2:] != leaf["dtype"][-2:] for c in found):
                types.update(c["class"] for c in found)
        assert listed.proof.type in types, listed.branch


def test_variants_in_lists_are_as_in_the_reference(shared_mount):
    for listed in LISTED:
        if not isinstance(listed.proof, Alternatives):
            continue
        table = os.path.join(shared_mount(file_of(listed)).path, listed.table)
        below = [c for c in mounted_table.schema_of(table)["columns"] if c["branch"].startswith(listed.branch + ".")]
        hashes = {c["role"]: set() for c in below}
        for c in below:
            hashes[c["role"]].add(hash_of(mounted_table.read_array(os.path.join(table, c["path"]))))
        for leaf in reference_leaves(listed):
            role = "tags" if leaf.get("tags") else "chars" if leaf.get("string") else "values"
            assert leaf["xxh64"] in hashes[role], leaf


LOOKED_UP_IN_ROOT = [listed for listed in LISTED if not isinstance(listed.proof, (Retyped, Alternatives))]


@pytest.mark.parametrize("listed", LOOKED_UP_IN_ROOT, ids=lambda listed: f"{listed.file}:{listed.table}:{listed.branch.rpartition('/')[2]}")
def test_the_mount_is_right(listed, columns, root_answers):
    mine, proof, answers = columns(listed), listed.proof, root_answers(listed)
    if isinstance(proof, (Draw, Leaf)):
        prove_by_root(listed, mine, answers)
    elif isinstance(proof, Counter):
        prove_counter(listed, mine, *answers)
    elif isinstance(proof, Bits):
        prove_bits(mine, *answers)
    elif isinstance(proof, Strings):
        prove_strings(mine, *answers)
    elif isinstance(proof, Objects):
        ((_, lengths),) = answers
        assert set(lengths) == {proof.count}
        prove_level(listed, mine, len(lengths))
    elif isinstance(proof, Arrays):
        prove_counted_arrays(listed, *answers)
        prove_level(listed, mine, len(answers[0]))
    elif isinstance(proof, References):
        prove_references(mine, *answers)
    elif isinstance(proof, Records):
        prove_records(listed, mine, *answers)
    else:
        assert isinstance(proof, Bitset)
        prove_bitset(listed, mine, *answers)


def test_each_is_listed_once():
    keys = [(listed.file, listed.table, listed.branch) for listed in LISTED]
    assert len(set(keys)) == len(keys)
