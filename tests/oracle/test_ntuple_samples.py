# SPDX-License-Identifier: Apache-2.0
"""RNTuples written by ROOT, with every type of field, encoding and codec: a mount, and ROOT's own reader, have the
values that the writing program set."""

import errno
import glob
import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import mounted
import mounted_table
from oracle.known_tables import first_difference, known_fields

SAMPLE = "ntuple"


class Node:
    """The node at a path of a table: members by name, or a column."""

    def __init__(self):
        self.members, self.column = {}, None


def nodes_of(table):
    """The fields of a mounted table, in order."""
    root = Node()
    for column in mounted_table.schema_of(table)["columns"]:
        *names, last = column["path"].split("/")
        node = root
        for name in (*names, last.rsplit(".", 1)[0]):
            node = node.members.setdefault(name, Node())
        node.column = column
    return root


def numbers(table, column):
    array = np.frombuffer(mounted_table.read_exactly(os.path.join(table, column["path"])), column["dtype"])
    return array.reshape(-1, *column["shape"]) if column["shape"] else array


def values_of(table, node):
    """One value per item, in the form described in samples/ntuple_values.h."""
    if node.column:
        return numbers(table, node.column).tolist()
    members = node.members
    if "tags" in members:
        return variants_of(table, members)
    if "offsets" not in members:
        parts = {name: values_of(table, member) for name, member in members.items()}
        return [dict(zip(parts, values)) for values in zip(*parts.values(), strict=True)]
    offsets = numbers(table, members["offsets"].column).tolist()
    assert offsets[0] == 0
    lists = list(zip(offsets, offsets[1:]))
    if "chars" in members:
        chars = numbers(table, members["chars"].column).tobytes()
        assert offsets[-1] == len(chars)
        return [chars[begin:end].decode("utf-8") for begin, end in lists]
    # Items of a class without members have no columns.
    items = values_of(table, members["values"]) if "values" in members else [{}] * offsets[-1]
    assert offsets[-1] == len(items)
    if members["offsets"].column.get("optional"):
        return [items[begin] if begin < end else None for begin, end in lists]
    return [items[begin:end] for begin, end in lists]


def variants_of(table, members):
    tags, index = (numbers(table, members[name].column).tolist() for name in ("tags", "index"))
    nodes = {name: member for name, member in members.items() if name not in ("tags", "index")}
    held = [values_of_alternative(table, nodes, name) for name in members["tags"].column["class"].split("|")]
    return [{"alternative": tag, "value": held[tag - 1](place)} if tag > 0 else None for tag, place in zip(tags, index)]


def values_of_alternative(table, nodes, name):
    """Values by number of the item. Removes the node from `nodes`: of several alternatives of the same type, the first
    has the bare name."""
    node = next((node for node in nodes if node == name or node.startswith(name + "~")), None)
    if node is None:
        return lambda item: {}  # a class without members
    return values_of(table, nodes.pop(node)).__getitem__


def in_words_of_the_file(shown, known):
    """`shown` with the names of fields in the file, where a mount has others (docs/semantics/layout.md, "RNTuples")."""
    if isinstance(known, dict):
        if "alternative" in known or not isinstance(shown, dict):
            return shown if not isinstance(shown, dict) else {**shown, "value": in_words_of_the_file(shown["value"], known["value"])}
        names = [name for name, value in known.items() if value != {}]
        if len(names) != len(shown):
            return shown
        return {**{name: {} for name in known}, **{
            name: in_words_of_the_file(value, known[name]) for name, value in zip(names, shown.values())
            if other_name(name) or name in shown}}
    if isinstance(known, list) and isinstance(shown, list) and len(shown) == len(known):
        return [in_words_of_the_file(a, b) for a, b in zip(shown, known)]
    return shown


def other_name(name):
    """Names of bases, pairs, and items of maps."""
    return name.startswith((":_", "_"))


def is_hollow(value):
    """Whether the value is of a class without members, or of such classes."""
    return isinstance(value, dict) and all(map(is_hollow, value.values()))


def node_at(nodes, field):
    node = nodes
    for name in field.split("."):
        node = node.members.get(name)
        if node is None:
            return None
    return node


def samples_in(directory):
    return sorted(os.path.basename(path)[: -len(".read")] for path in glob.glob(os.path.join(directory, "*.read")))


def differences(directory, mounted_top, sample):
    """The differences from the written values: {field: problem or None}, for all fields of a sample's tables."""
    name = sample.rsplit("-", 1)[0]
    tables, found = {}, {}
    for known in known_fields(directory, name + ".json"):
        table = os.path.join(mounted_top, known.table)
        if known.attributes:
            table = os.path.join(table, ".attributes", known.attributes)
        if table not in tables:
            tables[table] = nodes_of(table)
        node = node_at(tables[table], known.field)
        where = known.table, known.attributes, known.field
        if node is None:
            found[where] = None if all(map(is_hollow, known.values)) else "is not there"
            continue
        shown = [in_words_of_the_file(a, b) for a, b in zip(values_of(table, node), known.values, strict=False)]
        found[where] = first_difference(shown, known.values, known.tolerance)
    return found


CODECS = ("none", "zlib", "lzma", "lz4", "zstd")


def print_matrix(found, samples):
    """Each type and encoding with each codec: = if all values are equal."""
    print(f"{'type and encoding':24}", *(f"{codec:>5}" for codec in CODECS))
    cells = 0
    for sample in samples:
        for where in found[f"{sample}-none"]:
            row = [found[f"{sample}-{codec}"][where] for codec in CODECS]
            print(f"{where[-1]:24}", *(f"{'=' if problem is None else '!':>5}" for problem in row))
            cells += row.count(None)
    print(f"{cells} equal")


def test_a_mount_has_what_was_written(samples, shared_mount):
    directory = samples(SAMPLE)
    found = {sample: differences(directory, shared_mount(os.path.join(directory, sample + ".root")).path, sample)
             for sample in samples_in(directory)}
    print_matrix(found, ("encodings", "bits"))
    fields = sum(map(len, found.values()))
    print(f"{fields} fields in {len(found)} files")
    problems = [f"{sample}: {' '.join(map(str, where))}: {problem}" for sample, of in found.items() for where, problem in of.items()
                if problem]
    assert not problems, f"{len(problems)} of {fields} fields:\n" + "\n".join(problems)
    assert fields > 1000


# ROOT 6.40's messages about fields that it writes but cannot read.
NOT_READ_BY_ROOT = {("soa", "points"): "not yet implemented"}


def ordered(known):
    """Collections that are hashed have another order after each reading."""
    if not known.field.startswith("unordered"):
        return known.values
    return [sorted(items, key=json.dumps) for items in known.values]


def test_root_reads_the_same(samples):
    directory = samples(SAMPLE)
    problems, fields = [], 0
    for sample in samples_in(directory):
        name = sample.rsplit("-", 1)[0]
        expected = {(known.table, known.attributes, known.field): known for known in known_fields(directory, name + ".json")}
        for read in known_fields(directory, sample + ".read"):
            known = expected[read.table, read.attributes, read.field]
            fields += 1
            if read.values is None:
                reason = NOT_READ_BY_ROOT.get((name, read.field))
                problem = None if reason and reason in read.error else f"cannot be read: {read.error}"
            else:
                problem = first_difference(ordered(read), ordered(known), known.tolerance)
            if problem:
                problems.append(f"{sample}: {read.table} {read.field}: {problem}")
    assert not problems, f"{len(problems)} of {fields} fields:\n" + "\n".join(problems)


def test_columns_are_found_by_their_qualified_names(samples, shared_mount):
    """As for columns of a tree by the names of their branches: a number gives its file, several columns give their
    directory."""
    table = os.path.join(shared_mount(os.path.join(samples(SAMPLE), "types-none.root")).path, "nt")
    columns = mounted_table.schema_of(table)["columns"]
    for column in columns:
        path = os.path.join(table, column["path"])
        found = os.stat(os.path.join(table, column["branch"]))
        if not column["field"]:
            shown = os.stat(path if column["role"] == "values" else os.path.dirname(path))
            assert (found.st_mode, found.st_size) == (shown.st_mode, shown.st_size), column
        assert os.getxattr(path, "user.tfilefs.branch").decode() == column["branch"]
    assert any(column["branch"] == "vector._0" for column in columns)


def refused(change, *arguments):
    with pytest.raises(OSError) as error:
        change(*arguments)
    return error.value.errno


def test_attribute_sets_are_not_changed(samples, tmp_path):
    copy = tmp_path / "copy.root"
    shutil.copy(os.path.join(samples(SAMPLE), "attributes-zstd.root"), copy)
    before = copy.read_bytes()
    m = mounted.Mounted(copy, ("rw",))
    sets = os.path.join(m.path, "nt", ".attributes")
    runs = os.path.join(sets, "Runs")
    start = os.path.join(runs, "_rangeStart.u8")
    for directory in (sets, runs, os.path.join(runs, "_userData")):
        assert refused(open, os.path.join(directory, "new.f4"), "wb") == errno.EPERM
        assert refused(os.mkdir, os.path.join(directory, "new")) == errno.EPERM
        assert refused(os.symlink, "target", os.path.join(directory, "new")) == errno.EPERM
        name = sorted(os.listdir(directory))[0]
        assert refused(os.rename, os.path.join(directory, name), os.path.join(directory, "other")) == errno.EPERM
    assert refused(open, start, "r+b") == errno.EPERM
    assert refused(os.truncate, start, 0) == errno.EPERM
    assert refused(os.unlink, start) == errno.EPERM
    assert refused(os.rmdir, runs) == errno.EPERM
    assert "/nt/.attributes: an RNTuple cannot be changed" in m.errors()
    assert "/nt/.attributes/Runs: an RNTuple cannot be changed" in m.errors()
    # As for committed data of a tree.
    for path in (sets, runs, start):
        os.chmod(path, 0o600)
        os.utime(path, (1, 2))
        os.setxattr(path, "user.note", b"x")
    assert m.close() == 0
    assert copy.read_bytes() == before


def test_blobs_are_named_by_what_they_hold(samples, shared_mount):
    directory = samples(SAMPLE)
    for sample in ("attributes-zstd", "small_keys-none"):
        with open(os.path.join(shared_mount(os.path.join(directory, sample + ".root")).path, ".map.txt")) as lines:
            blobs = [line.split("  name: ")[1].split("  title:")[0].strip() for line in lines if " RBlob " in line]
        assert blobs and all(name.startswith("nt: ") for name in blobs), blobs
        assert {"nt: header", "nt: footer"} <= set(blobs)
        if sample == "attributes-zstd":
            assert {"nt: page list of clusters 0 to 1", "nt: Runs: header", "nt: Notes: footer"} <= set(blobs)


def test_attribute_sets_are_checked(samples, tmp_path):
    whole = os.path.join(samples(SAMPLE), "attributes-zstd.root")
    checked = subprocess.run([mounted.program(), "check", whole], capture_output=True, text=True)
    assert checked.returncode == 0 and "3 tables" in checked.stdout
    with open(whole, "rb") as file:
        image = bytearray(file.read())
    at = image.index(b"_rangeStart")  # in the header of the first set, which the codec left uncompressed
    image[at] ^= 1
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(image)
    checked = subprocess.run([mounted.program(), "check", damaged], capture_output=True, text=True)
    assert checked.returncode != 0 and "/.attributes/" in checked.stdout
