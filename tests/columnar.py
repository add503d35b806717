# SPDX-License-Identifier: Apache-2.0
"""Tables as leaves, from a mount's column files and from pyarrow, so that they can be compared.

A leaf is the content below all lists: an array of numbers (or of bytes, for strings and undecoded bytes), and the
offsets of each list level around it, outermost first. Leaves are named by the path of field names."""

import os
from collections import namedtuple

import numpy as np
import pyarrow as pa

import mounted_table

# From tests/samples: every kind of node, several tables in a file, irregular names and lengths.
SAMPLES = ("numbers/numbers-101", "numbers/numbers-empty", "strings/strings", "vectors/vectors-505", "event/event-99-505",
           "event/event-0-101", "shelf/shelf-99-505", "shelf/shelf-2-101", "storage/uneven", "storage/names", "storage/embedded", "storage/cycles",
           "pointers/pointers-0-101", "pointers/pointers-99-505")

# lists: arrays of offsets from 0. missing: items at the end of a level that a shorter column lacks.
Leaf = namedtuple("Leaf", "values lists missing")


def tables_in(directory):
    """Paths of the tables below a mount. Histograms also have columns and a schema, but are objects."""
    for above, directories, _ in os.walk(directory):
        for name in list(directories):
            path = os.path.join(above, name)
            if os.path.exists(os.path.join(path, ".schema.json")):
                directories.remove(name)
                if mounted_table.schema_of(path)["kind"] in ("ttree", "rntuple", "chain"):
                    yield path


def field_name(table, path):
    """ROOT's name of the node at a path: without the type, unescaped."""
    component = os.path.basename(path)
    parsed = mounted_table.parse_name(component)
    stem = parsed[0] if parsed else component
    if "~" not in component and "%" not in component:
        return stem
    name = os.getxattr(os.path.join(table, path), "user.tfilefs.name").decode("utf-8", "replace")
    taken = name and "/" not in name and "~" in stem and os.path.exists(os.path.join(table, os.path.dirname(path), name))
    return stem if taken else name or "%"


def leaf_path(table, column):
    """Field names down to a column of the schema, without the names of list items."""
    parts = column["path"].split("/")
    items = {above.count("/") for above in column["lists"]}  # the depths of "offsets.i8" and "values"
    return tuple(field_name(table, "/".join(parts[: depth + 1])) for depth in range(len(parts)) if depth not in items)


def missing_items(entries, values, lists):
    """The largest number of items that a level lacks."""
    wanted, most = entries, 0
    for offsets in lists:
        most = max(most, wanted - (len(offsets) - 1))
        wanted = offsets[-1]
    is_chars = lists and values.dtype == np.uint8 and len(values) == wanted
    return max(most, 0 if is_chars else wanted - len(values))


def first_entries(entries, values, lists):
    """Values and lists of only these entries."""
    cut = []
    for offsets in lists:
        cut.append(offsets[: entries + 1])
        entries = cut[-1][-1]
    return values[:entries], cut


def below_variants(columns):
    """Columns of the alternatives of variants: their items have no places in the lists around."""
    variants = {os.path.dirname(path) + "/" for path, column in columns.items() if column["role"] == "tags"}
    return {path for path, column in columns.items()
            if any(path.startswith(above) and not (column["role"] in ("tags", "index") and "/" not in path[len(above):])
                   for above in variants)}


def optional_nodes(table):
    """The nodes that may be null (lists of 0 or 1), except those of variants: {(path of field names, number of lists of
    this path around): whether its items are lists}."""
    columns = mounted_table.columns_of(table)
    optional = {path for path, column in columns.items() if column.get("optional")}
    found = {}
    for path in optional:
        below = os.path.dirname(path) + "/values/"
        if below + "tags.i1" not in columns and below + "offsets.i8" not in optional:
            name = leaf_path(table, columns[path])
            level = sum(leaf_path(table, columns[above]) == name for above in columns[path]["lists"][:-1])
            found[name, level] = below + "offsets.i8" in columns and below + "chars.u1" not in columns and below + "raw.u1" not in columns
    return found


def agrees(values, lists):
    """Whether a column has the items for its lists."""
    counts = [len(below) - 1 for below in lists[1:]] + [len(values)]
    return all(above[-1] == count for above, count in zip(lists, counts))


# The bits of a TDatime, from the highest: NumPy's unit of each part, its number of bits, what is stored of it for 0.
DATIME = (("Y", 6, -25), ("M", 4, 1), ("D", 5, 1), ("h", 5, 0), ("m", 6, 0), ("s", 6, 0))  # years from 1970


def datimes(instants):
    """The numbers of these dates, of numpy.datetime64; 0 for those that are none."""
    numbers = np.zeros(len(instants), "u4")
    above = None
    for unit, bits, zero in DATIME:
        part = instants.astype(f"M8[{unit}]")
        number = (part.astype("i8") if above is None else (part - above.astype(f"M8[{unit}]")).astype("i8")) + zero
        numbers = numbers << np.uint32(bits) | number.astype("u4")
        above = part
    return np.where(np.isnat(instants), np.uint32(0), numbers)


def true_datimes(numbers):
    """The same numbers, but 0 for those that are no dates."""
    parts, rest = {}, numbers.astype("i8")
    for unit, bits, zero in reversed(DATIME):
        parts[unit] = ((rest & (1 << bits) - 1) - zero).astype(f"m8[{unit}]")
        rest >>= bits
    months = (parts["Y"].astype("i8") * 12).astype("M8[M]") + parts["M"]
    instants = months.astype("M8[D]") + parts["D"] + parts["h"] + parts["m"] + parts["s"]
    return np.where(datimes(instants) == numbers, numbers, np.uint32(0))


def mount_leaves(table, entries, unions=False, contradicting=True, dates=True):
    """{path: Leaf} of a table's directory. Undecoded bytes of whole entries, inside of lists, are named by their path.
    `unions`: alternatives of a variant have their own length, and lack nothing. `contradicting`: includes columns that
    contradict their lists, which views leave out. `dates`: as a view shows them, which has null for what is no TDatime, here
    0."""
    columns = mounted_table.columns_of(table)
    inside_variants = below_variants(columns)
    alternatives = inside_variants if unions else set()
    list_nodes = {os.path.dirname(path) for path, column in columns.items() if column["role"] == "offsets"}
    leaves = {}
    for path, column in columns.items():
        if column["role"] == "offsets":
            continue
        values = mounted_table.read_array(os.path.join(table, path))
        lists = [mounted_table.read_array(os.path.join(table, above)) for above in column["lists"]]
        if not contradicting and path not in inside_variants and not agrees(values, lists):
            continue
        name = leaf_path(table, column)
        node = os.path.dirname(path)
        if column["role"] == "raw" and len(column["lists"]) == 1 and any(node.startswith(above + "/") for above in list_nodes):
            name = (node,)
        if name in leaves:  # of another type
            name = (*name[:-1], os.path.basename(path))
        values, lists = first_entries(entries, values, lists)
        missing = 0 if path in alternatives else missing_items(entries, values, lists)
        if dates and column["class"] == "TDatime" and values.dtype == np.uint32:
            values = true_datimes(values)
            if not lists:
                values, missing = np.concatenate([values, np.zeros(missing, "u4")]), 0
        leaves[name] = Leaf(values, lists, missing)
    return leaves


def offsets_of(array):
    offsets = np.frombuffer(array.buffers()[1], "<i4" if pa.types.is_list(array.type) or pa.types.is_string(array.type)
                            or pa.types.is_binary(array.type) else "<i8") if len(array) else np.zeros(1, "i8")
    return offsets[array.offset : array.offset + len(array) + 1].astype("i8")


def without_missing(array):
    """The array without the nulls at its end, and their number."""
    missing = array.null_count
    if missing:
        array = array.slice(0, len(array) - missing)
        assert array.null_count == 0, "only what a shorter column does not have is null"
    return array, missing


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind)


def may_be_null(kind, items_are_lists):
    """A list of 0 or 1 stays a list if entries at the end are missing."""
    return not is_list(kind) or items_are_lists and not is_list(kind.value_type)


def add_leaves(leaves, path, array, lists, missing, optional, level=0):
    """`level`: how many of the lists belong to this field."""
    kind = array.type
    if (path, level) in optional and may_be_null(kind, optional[path, level]):
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        lists, level = lists + [np.concatenate([[0], np.cumsum(valid)])], level + 1
        array = array.filter(pa.array(valid))
    if pa.types.is_timestamp(kind) and kind.tz is None:
        leaves[path] = Leaf(datimes(array.to_numpy(zero_copy_only=False).astype("M8[s]")), lists, missing)
        return
    array, more = without_missing(array)
    missing = max(missing, more)
    if pa.types.is_timestamp(kind):
        seconds, nanoseconds = np.divmod(array.cast(pa.int64()).to_numpy(zero_copy_only=False), 10**9)
        for name, numbers in (("fSec", seconds), ("fNanoSec", nanoseconds)):
            leaves[path + (name,)] = Leaf(numbers.astype("i4"), lists, missing)
        return
    if pa.types.is_struct(kind):
        for i, field in enumerate(kind):
            add_leaves(leaves, path + (field.name,), array.field(i).slice(0, len(array)), lists, missing, optional)
    elif pa.types.is_fixed_size_list(kind):
        add_leaves(leaves, path, array.flatten(), lists, missing, optional, level)
    elif is_list(kind):
        offsets = offsets_of(array)
        add_leaves(leaves, path, array.values.slice(offsets[0], offsets[-1] - offsets[0]), lists + [offsets - offsets[0]], missing, optional, level + 1)
    elif any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)):
        offsets = offsets_of(array)
        data = np.frombuffer(array.buffers()[2] or b"", "u1")[offsets[0] : offsets[-1]]
        leaves[path] = Leaf(data, lists + [offsets - offsets[0]], missing)
    else:
        leaves[path] = Leaf(array.to_numpy(zero_copy_only=False), lists, missing)


def arrow_leaves(table, optional={}):
    """{path: Leaf} of a pyarrow Table. `optional`: the result of optional_nodes."""
    leaves = {}
    for name, column in zip(table.column_names, table.columns):
        array = column.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], array.type)
        add_leaves(leaves, (name,), array, [], 0, optional)
    return leaves


def differences(expected, found, shapes_are_lists=False):
    """The differences between two dictionaries of leaves, as text. `shapes_are_lists`: a fixed shape may appear as
    lists of constant length."""
    problems = [f"{'/'.join(path)}: missing" for path in expected.keys() - found.keys()]
    problems += [f"{'/'.join(path)}: unexpected" for path in found.keys() - expected.keys()]
    for path in expected.keys() & found.keys():
        reason = difference(expected[path], found[path], shapes_are_lists)
        if reason:
            problems.append(f"{'/'.join(path)}: {reason}")
    return problems


def difference(expected, found, shapes_are_lists):
    values = expected.values
    if expected.missing != found.missing:
        return f"{found.missing} entries are missing, not {expected.missing}"
    lists = found.lists
    if shapes_are_lists and values.ndim > 1:
        for length, offsets in zip(values.shape[:0:-1], lists[:-values.ndim:-1]):
            if not np.array_equal(offsets, np.arange(len(offsets)) * length):
                return "the levels of the fixed shape have other lengths"
        lists = lists[: len(lists) - values.ndim + 1]
    if len(lists) != len(expected.lists):
        return f"{len(lists)} list levels, not {len(expected.lists)}"
    for level, (one, other) in enumerate(zip(expected.lists, lists)):
        if not np.array_equal(one, other):
            return f"other offsets at level {level}"
    if expected.values.dtype != found.values.dtype:
        return f"type {found.values.dtype}, not {expected.values.dtype}"
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.tobytes() != np.ascontiguousarray(found.values).reshape(-1).tobytes():
        return "other values"
    return None
