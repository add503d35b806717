# SPDX-License-Identifier: Apache-2.0
"""Files that change while Python reads them: each call gives one state, and the next one the present state."""

import os
import time

import awkward as ak
import numpy as np
import pytest
import uproot

STATES = {0: (2000, 2), 1: (3000, 3)}  # entries, and items of each list; all values are the number of the state


class Changing:
    """A file of one state or the other."""

    def __init__(self, directory):
        self.path, self._directory, self.state = str(directory / "x.root"), directory, 0
        self.change(0)

    def change(self, state=None):
        self.state = 1 - self.state if state is None else state
        entries, items = STATES[self.state]
        with uproot.recreate(self._directory / "new.root") as file:
            file["T"] = {"k": np.full(entries, self.state, "i4"), "v": ak.unflatten(np.full(entries * items, float(self.state)), np.full(entries, items))}
            file["h"] = np.full(10 + self.state, 1.0 + self.state), np.linspace(0, 1, 11 + self.state)
        os.replace(self._directory / "new.root", self.path)


@pytest.fixture
def changing(tmp_path):
    return Changing(tmp_path)


@pytest.fixture(params=("open", "mount"))
def opened(request, tfilefs, changing):
    with getattr(tfilefs, request.param)(changing.path) as f:
        yield f


def state_of(lists, numbers=()):
    """Of what was read: of one state, or none at all."""
    [state] = set(ak.flatten(lists).to_list()) | set(np.asarray(numbers).tolist())
    entries, items = STATES[int(state)]
    assert len(lists) == entries and set(ak.num(lists).to_list()) == {items}
    assert len(numbers) in (0, entries)
    return int(state)


def changed_between(monkeypatch, changing, times):
    """The file changes after the first of several files that a call reads, so many times."""
    from tfilefs._place import MountedPlace
    from tfilefs._served import ServedPlace

    left = [times]
    for place in (MountedPlace, ServedPlace):
        def numbers(self, *arguments, read=place.numbers, **named):
            found = read(self, *arguments, **named)
            if left[0]:
                left[0] -= 1
                changing.change()
            return found

        monkeypatch.setattr(place, "numbers", numbers)


READS = {
    "column": lambda t: state_of(t["v"].array(copy=True)),
    "records": lambda t: state_of(*ak.unzip(t.arrays(["v", "k"], copy=True))),
    "awkward": lambda t: state_of(*ak.unzip(t.awkward("v", "k"))),
    "several": lambda t: {(2000, 4000): 0, (3000, 9000): 1}[tuple(map(len, t.numpy("k", "v/values").values()))],
    "cut": lambda t: state_of(t.arrays("v", "k >= 0", copy=True).v),
    "arrow": lambda t: state_of(ak.from_arrow(t.arrow("v")["v"])),
    "polars": lambda t: int(t.to_polars(["v", "k"])["k"][0]),
    "steps": lambda t: state_of(ak.concatenate([each.v for each in t.iterate(["v"], step_size=10_000, copy=True)])),
}


@pytest.mark.parametrize("read", READS)
def test_a_table_that_is_held_shows_what_is_there_now(opened, changing, read):
    table = opened["T"]
    assert READS[read](table) == 0 and len(table) == 2000
    changing.change()
    assert READS[read](table) == 1 and len(table) == 3000 and table.schema["entries"] == 3000


@pytest.mark.parametrize("read", ("column", "records", "awkward", "several", "cut"))
def test_a_call_is_of_one_state(opened, changing, monkeypatch, read):
    table = opened["T"]
    changed_between(monkeypatch, changing, 1)
    assert READS[read](table) == 1
    assert changing.state == 1


def test_what_changes_all_the_time_is_told(tfilefs, opened, changing, monkeypatch):
    table = opened["T"]
    changed_between(monkeypatch, changing, 1000)
    with pytest.raises(tfilefs.MountError, match="T is changing while it is read"):
        table["v"].array(copy=True)


def test_steps_are_of_one_state(tfilefs, opened, changing):
    steps = opened["T"].iterate(["k"], step_size=500, copy=True)
    assert set(next(steps).k.to_list()) == {0}
    changing.change()
    with pytest.raises(tfilefs.MountError, match="T has changed since"):
        next(steps)


def test_columns_that_come_and_go(opened, changing, tmp_path):
    table = opened["T"]
    column = table["v"]
    assert table.keys() == ["k", "v"]
    with uproot.recreate(tmp_path / "other.root") as file:
        file["T"] = {"w": np.arange(7)}
    os.replace(tmp_path / "other.root", changing.path)
    assert table["w"].numpy().tolist() == list(range(7)) and table.keys() == ["w"] and "v" not in table
    with pytest.raises(KeyError):
        column.array()
    with pytest.raises(KeyError, match="there are w"):
        table["v"]


def test_a_histogram_is_of_one_state(opened, changing):
    histogram = opened["h"]
    values, edges = histogram.to_numpy()
    assert len(values) == 10 and len(edges) == 11
    changing.change()
    values, edges = histogram.to_numpy()
    assert len(values) == 11 and len(edges) == 12 and values[0] == 2 and len(histogram.axes[0]) == 11


def test_readers_of_a_file_that_is_replaced_again_and_again(tfilefs, opened, changing):
    """What is told as an error is no mixture."""
    found, deadline = [], time.monotonic() + 60
    while len(found) < 6 and time.monotonic() < deadline:
        changing.change()
        try:
            found.append(state_of(*ak.unzip(opened["T"].arrays(["v", "k"], copy=True))))
        except tfilefs.MountError as error:
            assert "changing" in str(error)
    assert set(found) == {0, 1}
