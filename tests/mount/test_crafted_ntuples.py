# SPDX-License-Identifier: Apache-2.0
"""RNTuples with impossible claims and correct checksums: every view of them answers, with little memory, and other
files can be read."""

import os
import struct
import time

import awkward as ak
import numpy as np
import pytest
import uproot

import hostile_file
import mounted
import mounted_table
from ntuple_envelopes import FOOTER, HEADER, PAGE_LIST, Envelopes, packed

COUNTS = np.array([2, 0, 1, 3, 0, 4] * 10)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Numbers, texts, lists, lists of records and of lists, in two clusters of one group each; and `beside`."""
    path = tmp_path_factory.mktemp("claims") / "small.root"
    total = int(COUNTS.sum())
    lists = lambda values: ak.unflatten(values, COUNTS)
    content = {
        "number": np.arange(COUNTS.size) / 8,
        "text": ak.Array([f"entry {i}" * (i % 3) for i in range(COUNTS.size)]),
        "list": lists(np.arange(total, dtype="f4")),
        "nested": ak.unflatten(lists(np.arange(total, dtype="i2")), 2),
        "track": lists(ak.zip({"pt": np.arange(total, dtype="f8"), "charge": np.arange(total, dtype="i4")})),
    }
    content["nested"] = ak.concatenate([content["nested"], content["nested"]])
    with uproot.recreate(path, compression=None) as file:
        file["beside"] = np.array([0.0, 0.0, 7.0, 0.0]), np.arange(5.0)
        ntuple = file.mkrntuple("data", content)
        ntuple.extend(content)
    return path.read_bytes()


@pytest.fixture(scope="module")
def of_all_types(samples):
    with open(os.path.join(samples("ntuple"), "types-none.root"), "rb") as file:
        return file.read()


def survives(image, path, change, beside=True):
    made = Envelopes(image)
    change(made)
    hostile_file.write(path, made.image())
    hostile_file.is_survived(path, beside=beside)


def test_what_is_not_changed(small, tmp_path, mount):
    """The image that the tests change can be read without changes."""
    path = tmp_path / "same.root"
    hostile_file.write(path, Envelopes(small).image())
    hostile_file.is_survived(path)
    top = os.path.join(mount(path).path, "data")
    assert np.fromfile(os.path.join(top, "number.f8")).tolist() == [*(np.arange(COUNTS.size) / 8)] * 2


EXTREMES = {
    "H": (0, 2**16 - 1), "I": (0, 2**32 - 1), "i": (10**6, 2**31 - 1, -(2**31)), "Q": (10**6, 2**40, 2**64 - 1),
    "q": (7, 2**40, -(2**63)),
}
IN = {
    HEADER: ("size of list of fields", "number of fields", "size of field", "parent", "role", "field flags",
             "length of name", "length of type name", "column type", "bits", "field of column", "column flags",
             "representation", "size of list of columns", "number of columns"),
    FOOTER: ("size of extension", "size of list of groups", "number of groups", "first entry of group",
             "entries of group", "clusters of group", "length of page list", "size of page list", "address of page list"),
    PAGE_LIST: ("size of list of summaries", "number of summaries", "first entry", "entries", "size of list of clusters",
                "size of list of column lists", "size of list of pages", "number of pages", "elements", "size of page",
                "address of page", "first element", "compression"),
}


@pytest.mark.parametrize("kind, name", [(kind, name) for kind, names in IN.items() for name in names])
def test_a_number(small, tmp_path, kind, name):
    """Implausible values: in all such numbers at once, and only in the last."""
    places = Envelopes(small).walked(kind)[name]
    values = EXTREMES[places[0][1]]
    for value, which in [(value, slice(None)) for value in values] + [(values[-1], slice(-1, None))]:
        survives(small, tmp_path / "claims.root", lambda made: made.claim(kind, name, value, which))


@pytest.mark.parametrize("entries", (10**6, 10**9, 10**11, 2**40, 2**56 - 1))
def test_entries_that_are_not_there(small, tmp_path, entries):
    """With as many elements in each column, whose pages are too short."""

    def change(made):
        made.claim(PAGE_LIST, "entries", entries)
        made.claim(FOOTER, "entries of group", entries)
        made.claim(PAGE_LIST, "elements", min(entries, 2**31 - 1))

    survives(small, tmp_path / "claims.root", change)


@pytest.mark.parametrize("value", (10**6, 10**10, 2**63 - 1, 2**64 - 1))
def test_ends_of_lists(small, tmp_path, value):
    """Pages of index columns, without checksums: every end, and only the last."""

    def change(made, which):
        image = bytearray(made.file)
        pages = made.walked(PAGE_LIST)
        payload = made.payloads[PAGE_LIST]
        for (count_at, _), (at, _), (size_at, _) in zip(pages["elements"], pages["address of page"], pages["size of page"]):
            count = struct.unpack_from("<i", payload, count_at)[0]
            begin, size = struct.unpack_from("<Q", payload, at)[0], struct.unpack_from("<i", payload, size_at)[0]
            struct.pack_into("<i", payload, count_at, abs(count))
            if count and size == 8 * abs(count):
                for place in list(range(begin, begin + size, 8))[which]:
                    struct.pack_into("<Q", image, place, value)
        made.file = bytes(image)

    for which in (slice(None), slice(-1, None), slice(0, 1)):
        survives(small, tmp_path / "claims.root", lambda made: change(made, which))


def test_pages_that_are_one(small, tmp_path):
    """All pages of all columns are at the same place, and as large as the file."""

    def change(made):
        made.claim(PAGE_LIST, "address of page", 0)
        made.claim(PAGE_LIST, "size of page", len(made.file))

    survives(small, tmp_path / "claims.root", change)


def with_one_page(path, pages, elements):
    """A column whose pages are all the same bytes: compressed zeros."""
    with uproot.recreate(path, compression=None) as file:
        file.mkrntuple("data", {"number": np.zeros(10)})
    made = Envelopes(path.read_bytes())
    stored = packed(bytes(8 * elements))
    page = struct.pack("<iiQ", elements, len(stored), len(made.file))
    made.file += stored
    payload, places = made.payloads[PAGE_LIST], made.walked(PAGE_LIST)
    first = places["elements"][0][0]
    payload[first : first + 16] = page * pages
    for name in ("size of list of pages", "size of list of column lists", "size of list of clusters"):
        at, code = places[name][0]
        size = struct.unpack_from("<" + code, payload, at)[0] - 16 * (pages - 1)  # negative for a list
        struct.pack_into("<" + code, payload, at, size)
    struct.pack_into("<I", payload, places["number of pages"][0][0], pages)
    made.claim(PAGE_LIST, "entries", pages * elements)
    made.claim(FOOTER, "entries of group", pages * elements)
    hostile_file.write(path, made.image())


def test_many_pages_of_the_same_bytes(tmp_path, mount):
    """8 billion numbers in a few kilobytes: the columns have them; a text is refused before any number is decoded."""
    path = tmp_path / "shared.root"
    pages, elements = 4000, 2_000_000
    with_one_page(path, pages, elements)
    assert path.stat().st_size < 200_000
    top = mount(path).path
    column = os.path.join(top, "data", "number.f8")
    assert os.stat(column).st_size == 8 * pages * elements
    with open(column, "rb") as file:
        file.seek(8 * (pages * elements - 3))
        assert file.read() == bytes(24)
    began = time.monotonic()
    for name in ("data.csv", "data.jsonl", os.path.join("data", "number.txt")):
        with pytest.raises(FileNotFoundError):
            os.stat(os.path.join(top, name))
    assert time.monotonic() - began < 20


def test_pages_may_share_their_bytes(tmp_path, mount):
    path = tmp_path / "shared.root"
    with_one_page(path, 20, 10_000)
    top = mount(path).path
    with open(os.path.join(top, "data.csv"), newline="") as file:
        assert file.read() == '"number"\r\n' + "0\r\n" * 200_000
    hostile_file.is_survived(path, beside=False)


@pytest.mark.parametrize("size", (0, 16, 17, 40, 1000, 2**63 - 1, 2**64 - 1))
def test_max_key_sizes(small, tmp_path, size):
    def change(made):
        made.max_key_size = size

    survives(small, tmp_path / "claims.root", change)


@pytest.mark.parametrize("kind", (HEADER, FOOTER, PAGE_LIST))
def test_envelopes_that_compress(small, tmp_path, kind):
    """A megabyte of zeros, and 128 of them, after the existing content; and an absurd length."""
    path = tmp_path / "claims.root"
    for size in (1 << 20, 1 << 27):
        made = Envelopes(small)
        made.payloads[kind] += bytes(size)
        made.packed = {kind}
        hostile_file.write(path, made.image())
        assert path.stat().st_size < 1 << 20
        hostile_file.is_survived(path)
    for length in (0, 15, 2**31 - 1, 2**31, 2**63):
        made = Envelopes(small)
        made.claimed_length = {kind: length}
        hostile_file.write(path, made.image())
        hostile_file.is_survived(path)


@pytest.mark.parametrize("name", ("fields", "columns"))
@pytest.mark.parametrize("size", (3 << 20, 7 << 20))
def test_many(small, tmp_path, name, size):
    """As many as a few megabytes can list, which compress well."""
    made = Envelopes(small)
    payload = made.payloads[HEADER]
    at = made.walked(HEADER)["size of list of " + name][0][0]
    own, items = struct.unpack_from("<qI", payload, at)
    if name == "fields":
        count = size // 40
        records = b"".join(struct.pack("<QIIIHHIIII", 40, 0, 0, id, 0, 0, 0, 0, 0, 0) for id in range(items, items + count))
    else:
        count = size // 20
        records = struct.pack("<QHHIHH", 20, 0x0C, 32, 0, 0, 0) * count
    payload[at - own : at - own] = records
    struct.pack_into("<qI", payload, at, own - len(records), items + count)
    made.packed = {HEADER}
    path = tmp_path / "claims.root"
    hostile_file.write(path, made.image())
    hostile_file.is_survived(path)


@pytest.mark.parametrize("name", ("array size", "role", "parent", "projected field", "column type", "bits", "deferred"))
def test_every_type(of_all_types, tmp_path, name):
    """In a file that has fields of all kinds."""
    if name not in Envelopes(of_all_types).walked(HEADER):
        pytest.skip("no such number")
    _, code = Envelopes(of_all_types).walked(HEADER)[name][0]
    for value in EXTREMES[code]:
        survives(of_all_types, tmp_path / "claims.root", lambda made: made.claim(HEADER, name, value), beside=False)


def test_an_attribute_set_of_an_unknown_schema_has_a_reason(samples, tmp_path, mount):
    with open(os.path.join(samples("ntuple"), "attributes-zstd.root"), "rb") as file:
        made = Envelopes(file.read(), -1)
    made.claim(FOOTER, "major version of attribute set", 7, slice(0, 1))
    path = tmp_path / "later.root"
    hostile_file.write(path, made.image())
    m = mount(path)
    sets = os.path.join(m.path, "nt", ".attributes")
    first, second = (mounted_table.schema_of(os.path.join(sets, name)) for name in ("Runs", "Notes"))
    assert first["reason"] == "unsupported attribute set schema version 7.0" and first["columns"] == []
    assert second["reason"] is None and second["columns"]
    assert "/nt/.attributes/Runs: unsupported attribute set schema version 7.0" in m.errors()
    assert sorted(os.listdir(os.path.join(sets, "Runs"))) == [".schema.json", "object.bin"]


@pytest.mark.parametrize("entries", (10**6, 2**39, 2**56 - 1))
def test_entries_of_every_type(of_all_types, tmp_path, entries):
    survives(of_all_types, tmp_path / "claims.root", lambda made: made.claim(PAGE_LIST, "entries", entries), beside=False)
