# SPDX-License-Identifier: Apache-2.0
"""Entries appended to trees of packed numbers (Double32_t, Float16_t): ROOT reads them as it reads those it has packed."""

import contextlib
import json
import os

import numpy as np
import pytest

import mounted
from root_process import run_script

FIRST, MORE = 50, 70


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """first.root and all.root are packed; more.root has, as whole numbers, what first.root does not have of all.root."""
    directory = tmp_path_factory.mktemp("packed")
    for name, form, first, last in (("first", "packed", 0, FIRST), ("more", "plain", FIRST, FIRST + MORE), ("all", "packed", 0, FIRST + MORE)):
        run_script(os.path.join("oracle", "packed_leaves.py"), ["make", str(directory / f"{name}.root"), form, str(first), str(last)])
    return directory


def columns_of(table):
    """{path: values}"""
    schema = json.load(open(os.path.join(table, ".schema.json")))
    return {column["path"]: np.fromfile(os.path.join(table, column["path"]), column["dtype"].replace("b1", "u1")) for column in schema["columns"]}


def append(table, columns):
    """Behind what the table has; offsets go on from the last."""
    there = columns_of(table)
    assert there.keys() == columns.keys()
    for path, values in columns.items():
        if path.endswith("offsets.i8"):
            values = values[1:] + there[path][-1]
        with open(os.path.join(table, path), "ab") as file:
            file.write(values.tobytes())


def test_root_reads_what_it_would_have_packed(trees, tmp_path):
    out = tmp_path / "out.root"
    out.write_bytes((trees / "first.root").read_bytes())
    with mounted.Mounted(trees) as source, mounted.Mounted(tmp_path, ("rw",)) as m:
        for table in ("leaves", "members"):
            append(os.path.join(m.path, "out.root", table), columns_of(os.path.join(source.path, "more.root", table)))
    told = run_script(os.path.join("oracle", "packed_leaves.py"), ["compare", str(out), str(trees / "all.root")])
    assert [int(line.split()[1]) for line in told.splitlines() if line.endswith("are the same")] == [17, 21]
    with mounted.Mounted(trees) as source, mounted.Mounted(tmp_path) as m:
        for table in ("leaves", "members"):
            mine, wanted = (columns_of(os.path.join(*place, table)) for place in ((m.path, "out.root"), (source.path, "all.root")))
            assert mine.keys() == wanted.keys()
            for path in wanted:
                assert mine[path].tobytes() == wanted[path].tobytes(), (table, path)


@pytest.mark.parametrize("table, column, value", [("leaves", "ranged.f8", 1000.5), ("leaves", "ranged.f8", -1), ("leaves", "f_ranged.f4", np.nan),
                                                  ("leaves", "list/values.f8", 1001), ("members", "items/values/ranged.f8", -0.1),
                                                  ("members", "thing/f_ranged.f4", np.inf)])
def test_what_is_beyond_a_range_is_refused(trees, tmp_path, table, column, value):
    """ROOT would store the end of the range."""
    out = tmp_path / "out.root"
    out.write_bytes((trees / "first.root").read_bytes())
    with mounted.Mounted(trees) as source, mounted.Mounted(tmp_path, ("rw",)) as m:
        path = os.path.join(m.path, "out.root", table)
        columns = columns_of(os.path.join(source.path, "more.root", table))
        columns[column] = columns[column].copy()
        columns[column][-1] = value
        append(path, columns)
        with pytest.raises(OSError):
            mounted.fsync(path)
        assert f"entry {FIRST + MORE - 1}: number is outside of its range" in m.errors()
        # Mended. The first close after it may still tell of the commit before.
        with contextlib.suppress(OSError), open(os.path.join(path, column), "r+b", buffering=0) as file:
            file.seek(-columns[column].itemsize, os.SEEK_END)
            assert file.write(columns[column][-2:-1].tobytes()) == columns[column].itemsize
        mounted.fsync(path)
