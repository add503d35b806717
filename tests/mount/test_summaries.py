# SPDX-License-Identifier: Apache-2.0
"""COLUMN.stats.json and COLUMN.svg."""

import errno
import json
import os
import xml.etree.ElementTree

import numpy as np
import pytest

import mounted_table

pytestmark = pytest.mark.fast


@pytest.fixture
def table(samples, shared_mount):
    return os.path.join(shared_mount(os.path.join(samples("numbers"), "numbers-101.root")).path, "t")


def stats(path):
    return json.loads(mounted_table.read_exactly(path + ".stats.json"))


@pytest.mark.parametrize("name", ("s_D", "s_F", "s_I", "s_L", "s_O", "s_b", "m_F", "k_I/values", "c_F/values", "packed/c"))
def test_statistics(table, name):
    values = np.load(os.path.join(table, name + ".npy")).ravel()
    found = stats(os.path.join(table, name))
    assert np.dtype(found["dtype"]) == values.dtype
    assert found["values"] == len(values)
    finite = values[np.isfinite(values)]
    assert found["nan"] == np.isnan(values).sum()
    assert found["infinities"] == (values == np.inf).sum() and found["negative_infinities"] == (values == -np.inf).sum()
    assert found["min"] == finite.min() and found["max"] == finite.max()
    numbers = finite.astype("f8")
    if np.abs(numbers).max() < 1e150:
        assert found["mean"] == pytest.approx(numbers.mean(), rel=1e-9)
        assert found["deviation"] == pytest.approx(numbers.std(), rel=1e-9)
    for part, value in found["quantiles"].items():
        assert value == pytest.approx(np.quantile(numbers, float(part)), rel=1e-9)
    histogram = found["histogram"]
    assert sum(histogram["counts"]) == len(finite)
    if np.abs(numbers).max() < 1e30:
        assert histogram["low"] <= numbers.min() and histogram["high"] > numbers.max()


def test_of_a_list_its_items(table):
    assert stats(os.path.join(table, "c_F")) == stats(os.path.join(table, "c_F/values"))
    assert stats(os.path.join(table, "s_D.f8")) == stats(os.path.join(table, "s_D"))


def test_pictures(table):
    picture = xml.etree.ElementTree.fromstring(mounted_table.read_exactly(os.path.join(table, "c_F.svg")))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("name", ("c_F/offsets", "nothing", "packed"))
def test_only_of_numbers(table, name):
    for suffix in (".stats.json", ".svg"):
        with pytest.raises(FileNotFoundError):
            os.stat(os.path.join(table, name + suffix))


def test_not_listed(samples, mount):
    m = mount(os.path.join(samples("numbers"), "numbers-101.root"), "views=listed")
    assert not [name for name in os.listdir(os.path.join(m.path, "t")) if name.endswith((".stats.json", ".svg"))]


def test_of_strings_there_are_none(samples, shared_mount):
    path = os.path.join(shared_mount(os.path.join(samples("strings"), "strings.root")).path, "t/plain")
    assert os.path.exists(path + ".txt") and not os.path.exists(path + ".stats.json") and not os.path.exists(path + ".svg")


def test_of_no_entries(samples, shared_mount):
    path = os.path.join(shared_mount(os.path.join(samples("numbers"), "numbers-empty.root")).path, "t/s_D")
    found = stats(path)
    assert found["values"] == 0 and found["min"] is None and found["histogram"] is None and found["quantiles"] == {}
    assert mounted_table.read_exactly(path + ".svg").startswith(b"<svg")


def test_of_branches_that_are_tried_first(samples, shared_mount):
    """A list in a branch of a class is found before its directory was entered."""
    table = os.path.join(shared_mount(os.path.join(samples("event"), "event-1-101.root")).path, "t")
    found = stats(os.path.join(table, "event/m_vfloat"))
    assert found["values"] == len(np.load(os.path.join(table, "event/m_vfloat/values.npy")))


def test_of_a_chain(samples, mount):
    path = os.path.join(samples("numbers"), "numbers-101.root")
    m = mount(os.path.dirname(path))
    one = stats(os.path.join(m.path, "numbers-101.root/t/s_F"))
    both = stats(os.path.join(m.path, ".chain=numbers-1*.root/t/s_F"))
    assert both["values"] >= one["values"] and both["min"] <= one["min"]


def test_damage_is_an_error(samples, tmp_path, mount):
    with open(os.path.join(samples("numbers"), "numbers-101.root"), "rb") as file:
        data = bytearray(file.read())
    m = mount(os.path.join(samples("numbers"), "numbers-101.root"))
    with open(os.path.join(m.path, ".map.txt")) as lines:
        begins = [int(line.split("At:")[1].split()[0]) for line in lines if "TBasket" in line]
    for begin in begins:
        data[begin + 90 : begin + 110] = bytes(20)
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(data)
    top = mount(str(damaged)).path
    failed = []
    for name in os.listdir(os.path.join(top, "t")):
        try:
            stats(os.path.join(top, "t", name))
        except FileNotFoundError:
            continue
        except OSError as error:
            assert error.errno == errno.EIO
            failed.append(name)
    assert failed
