# SPDX-License-Identifier: Apache-2.0
"""A branch whose first entries the storage fails to deliver is left out of a table's views until they can be read.
Other branches are not affected."""

import json
import os

import pyarrow as pa
import pyarrow.parquet
import pytest
import uproot

import bad_storage
import mounted

ENTRIES = 100
GOOD = [[entry + i / 8 for i in range(entry % 6)] for entry in range(ENTRIES)]
pytestmark = bad_storage.needs_library


class Failing:
    """A mount of a file with a basket that cannot be read after `fail(True)`."""

    def __init__(self, path, branch, told):
        self.told = told
        with uproot.open(path) as file:
            basket = file["t"][branch].member("fBasketSeek")[0], file["t"][branch].member("fBasketBytes")[0]
        self.range = f"{os.path.basename(path)} {basket[0]} {basket[1]}"
        self.mounted = mounted.Mounted(path, environment=bad_storage.environment(FAILING_READS=told))
        self.table = os.path.join(self.mounted.path, "t")
        os.listdir(self.table)  # reads both ends of the file, which is all of a small one
        self.fail(True)

    def fail(self, fails):
        self.told.write_text(self.range if fails else "")

    def schema(self):
        with open(os.path.join(self.table, ".schema.json")) as file:
            return json.load(file)["columns"]

    def reasons(self):
        return [column["path"] for column in self.schema() if "cannot be read" in (column["reason"] or "")]

    def arrow(self):
        with open(self.table + ".arrow", "rb") as file:
            return pa.ipc.open_file(pa.py_buffer(file.read())).read_all().to_pydict()

    def parquet(self):
        return pa.parquet.read_table(self.table + ".parquet").to_pydict()

    def json(self):
        with open(self.table + ".jsonl") as file:
            lines = [json.loads(line) for line in file]
        return {name: [line[name] for line in lines] for name in lines[0]}


@pytest.fixture
def failing(samples, tmp_path):
    opened = []

    def make(name, branch):
        opened.append(Failing(os.path.join(samples("contradictions"), name), branch, tmp_path / "told"))
        return opened[-1]

    yield make
    assert [each.mounted.close() for each in opened] == [0] * len(opened)


VIEWS = (Failing.arrow, Failing.parquet, Failing.json)


@pytest.mark.parametrize("view", VIEWS)
def test_an_unread_branch_is_left_out_until_it_is_read(failing, view):
    table = failing("classes.root", "nested")
    assert view(table) == {"good": GOOD}
    assert table.reasons() == ["nested/offsets.i8", "nested/raw.u1"]
    assert view(table) == {"good": GOOD}
    assert "nested" in table.mounted.errors()
    with pytest.raises(OSError):
        os.listdir(os.path.join(table.table, "nested"))
        open(os.path.join(table.table, "nested.txt")).read()
    table.fail(False)
    assert set(view(table)) == {"nested", "good"}
    assert table.reasons() == []
    assert [[len(inner) for inner in outer] for outer in view(table)["nested"]][5] == [0, 1, 2, 3, 4]
    table.fail(True)
    assert set(view(table)) == {"nested", "good"}, "what is known is kept"


def test_a_handle_from_before_shows_no_mixture(failing):
    table = failing("classes.root", "nested")
    with open(table.table + ".arrow", "rb", buffering=0) as before:
        assert before.read(8) == b"ARROW1\0\0"
        table.fail(False)
        with open(table.table + ".arrow", "rb"):
            with pytest.raises(OSError):
                before.read()
    assert os.stat(table.table + ".arrow").st_size == len(open(table.table + ".arrow", "rb").read())


@pytest.mark.parametrize("view", VIEWS)
def test_a_header_that_cannot_be_read_is_its_columns_alone(failing, view):
    """This header would show whether anything was written of a member."""
    table = failing("unwritten.root", "odd/odd._M_elems[3]")
    assert view(table) == {"good": GOOD}
    [path] = table.reasons()
    assert path.startswith("odd/values/")
    table.fail(False)
    assert view(table) == {"good": GOOD}
    assert table.reasons() == []
