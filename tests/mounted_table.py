# SPDX-License-Identifier: Apache-2.0
"""Reads a table from a mount without prior knowledge: by the names of files and directories alone (docs/semantics/layout.md).

A node's values are one Python object per entry: numbers, nested lists for shapes and lists, bytes for strings,
dictionaries for records, and `Raw` for undecoded data."""

import json
import os
import re

import numpy as np

NAME_TYPE = re.compile(r"^(.*)\.([iu][1248]|f[48]|b1)((?:x\d+)*)$", re.DOTALL)


class Raw(bytes):
    """The bytes of one entry that the mount does not decode."""


def dtype_of(type_name):
    return np.dtype("?" if type_name == "b1" else "<" + type_name)


def parse_name(file_name):
    """('pos', dtype, (3,)) for 'pos.f4x3'; None for other names."""
    match = NAME_TYPE.match(file_name)
    if not match:
        return None
    stem, type_name, shape = match.groups()
    return stem, dtype_of(type_name), tuple(int(n) for n in shape.split("x") if n)


def read_exactly(path):
    """All bytes; stat must report the size that reads give."""
    size = os.stat(path).st_size
    with open(path, "rb", buffering=0) as file:
        parts = []
        while part := file.read(1 << 20):
            parts.append(part)
    data = b"".join(parts)
    assert len(data) == size, f"{path}: st_size {size}, read {len(data)}"
    return data


def assert_random_reads(path, random, count, size_max):
    """So many reads at random places give the bytes that lie there."""
    whole = read_exactly(path)
    with open(path, "rb", buffering=0) as file:
        for _ in range(count):
            begin = int(random.integers(0, len(whole)))
            size = int(random.integers(1, size_max))
            assert os.pread(file.fileno(), size, begin) == whole[begin : begin + size], path


def read_array(path):
    _, dtype, shape = parse_name(os.path.basename(path))
    data = read_exactly(path)
    item = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    assert len(data) % item == 0, f"{path}: {len(data)} bytes are no whole items of {item}"
    return np.frombuffer(data, dtype).reshape((-1, *shape))


def read_offsets(directory):
    offsets = read_array(os.path.join(directory, "offsets.i8"))
    assert len(offsets) >= 1 and offsets[0] == 0, directory
    assert (np.diff(offsets) >= 0).all(), directory
    return offsets


def split(values, offsets, path):
    assert len(values) == offsets[-1], f"{path}: {len(values)} items, last offset {offsets[-1]}"
    return [values[a:b] for a, b in zip(offsets[:-1], offsets[1:])]


def values_of(path, nullable=frozenset()):
    """One object per entry of the node at `path` (a file NAME.TYPE or a directory). A list of 0 or 1 in `nullable`
    gives its value or None."""
    if not os.path.isdir(path):
        return read_array(path).tolist()
    names = os.listdir(path)
    if "tags.i1" in names:
        return variant_of(path, names, nullable)
    if "offsets.i8" not in names:
        return record_of(path, names, nullable)
    offsets = read_offsets(path)
    if "chars.u1" in names:
        assert sorted(names) == ["chars.u1", "offsets.i8"], names
        return split(read_exactly(os.path.join(path, "chars.u1")), offsets, path)
    if "raw.u1" in names:
        return [Raw(item) for item in split(read_exactly(os.path.join(path, "raw.u1")), offsets, path)]
    below = [name for name in names if name != "offsets.i8"]
    if not below:  # items without members
        return [[{}] * int(n) for n in np.diff(offsets)]
    assert len(below) == 1 and below[0].split(".")[0] == "values", names
    lists = split(values_of(os.path.join(path, below[0]), nullable), offsets, path)
    return [items[0] if items else None for items in lists] if path in nullable else lists


def nullable_nodes(table):
    """The directories of lists of 0 or 1 that represent values which may be null."""
    columns = columns_of(table)
    optional = {os.path.dirname(path) for path, column in columns.items() if column.get("optional")}
    return {os.path.join(table, path) for path in optional
            if f"{path}/values/tags.i1" not in columns and f"{path}/values" not in optional}


def variant_of(path, names, nullable=frozenset()):
    """None for a null pointer, else (class, value)."""
    tags = read_array(os.path.join(path, "tags.i1"))
    index = read_array(os.path.join(path, "index.i8"))
    classes = os.getxattr(os.path.join(path, "tags.i1"), "user.tfilefs.class").decode().split("|")
    nodes = {name: values_of(os.path.join(path, name), nullable) for name in names if name not in ("tags.i1", "index.i8")}
    assert set(nodes) <= set(classes), (classes, names)
    return [(classes[tag - 1], nodes[classes[tag - 1]][i]) if tag else None for tag, i in zip(tags, index)]


# Members of records whose names the layout uses itself have their first byte escaped.
ESCAPED = {f"%{ord(name[0]):02X}{name[1:]}": name for name in ("values", "offsets", "chars", "raw", "tags", "index")}


def member_name(component):
    return ESCAPED.get(component, component)


def record_of(path, names, nullable=frozenset()):
    members = {}
    for name in sorted(names):
        parsed = parse_name(name) if not os.path.isdir(os.path.join(path, name)) else None
        members[member_name(parsed[0] if parsed else name)] = values_of(os.path.join(path, name), nullable)
    if not members:
        return []
    lengths = {name: len(values) for name, values in members.items()}
    assert len(set(lengths.values())) == 1, f"{path}: {lengths}"
    return [dict(zip(members, row)) for row in zip(*members.values())]


def node_path(table, name):
    """The path of the node that the table lists under `name` (without type)."""
    for entry in os.listdir(table):
        parsed = parse_name(entry)
        if name in (entry, member_name(parsed[0] if parsed else entry)):
            return os.path.join(table, entry)
    raise AssertionError(f"{name} is not among {sorted(os.listdir(table))}")


def read_node(table, *names, nullable=frozenset()):
    path = table
    for name in names:
        path = node_path(path, name)
    return values_of(path, nullable)


def schema_of(table):
    return json.loads(read_exactly(os.path.join(table, ".schema.json")).decode("utf-8", "surrogateescape"))


def columns_of(table):
    return {column["path"]: column for column in schema_of(table)["columns"]}


def raw_branches(table):
    return {column["branch"]: column["reason"] for column in schema_of(table)["columns"] if column["role"] == "raw"}


def assert_schema_matches_files(table):
    """Each column of the schema is a file with the path and size in the schema; and each file is in the schema."""
    columns = columns_of(table)
    found = set()
    for directory, _, files in os.walk(table):
        found |= {os.path.relpath(os.path.join(directory, name), table) for name in files}
    assert found == set(columns), found ^ set(columns)
    for path, column in columns.items():
        _, dtype, shape = parse_name(os.path.basename(path))
        assert column["dtype"] == ("|b1" if dtype == np.dtype("?") else dtype.str), column
        assert tuple(column["shape"]) == shape, column
        size = os.stat(os.path.join(table, path)).st_size
        item = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        if column["size"] is not None:
            assert column["size"] == size and column["length"] * item == size, column
        assert (column["reason"] is not None) == (column["role"] == "raw"), column
        for above in column["lists"]:
            assert columns[above]["role"] == "offsets", column


def same(left, right):
    """Whether the values are equal. NaN equals NaN; 1 equals neither 1.0 nor True."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (left != left and right != right)
    return type(left) is type(right) and left == right


def assert_same(mount, oracle, what):
    if same(mount, oracle):
        return
    assert len(mount) == len(oracle), f"{what}: {len(mount)} entries in the mount, {len(oracle)} in the oracle"
    for entry, (a, b) in enumerate(zip(mount, oracle)):
        assert same(a, b), f"{what}: entry {entry}: mount {a!r:.300}, oracle {b!r:.300}"


def read_column(table, columns, path):
    """A column's values for each entry, in the lists that the schema gives."""
    column = columns[path]
    file = os.path.join(table, path)
    if column["role"] == "chars":
        items = read_exactly(file)
    else:
        items = read_array(file).tolist()
    for above in reversed(column["lists"]):
        items = split(items, read_array(os.path.join(table, above)), path)
    return items
