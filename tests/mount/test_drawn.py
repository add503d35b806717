# SPDX-License-Identifier: Apache-2.0
"""TABLE/.draw=EXPR;CUT;BINS;RANGES/ and TABLE/index.html."""

import csv
import errno
import html.parser
import json
import os
import subprocess
import urllib.parse

import numpy as np
import pytest

import mounted
import mounted_table

pytestmark = pytest.mark.fast


@pytest.fixture
def source(samples):
    return os.path.join(samples("numbers"), "numbers-101.root")


@pytest.fixture
def table(source, shared_mount):
    return os.path.join(shared_mount(source).path, "t")


@pytest.mark.parametrize("text, flags", [
    ("n", []),
    ("n;s_I>0", ["s_I>0"]),
    ("n;;20", ["--bins", "20"]),
    ("n;s_I>0;10;0:5", ["s_I>0", "--bins", "10", "--range", "0:5"]),
])
def test_is_what_is_drawn(source, table, tmp_path, text, flags):
    out = str(tmp_path / "out.csv")
    subprocess.run([mounted.program(), "draw", source + ":t", "n", *flags, "-o", out], check=True, timeout=60)
    with open(out) as file:
        lines = [[float(x) for x in line] for line in list(csv.reader(file))[1:]]
    drawn = os.path.join(table, ".draw=" + text)
    assert {"object.json", "object.bin", "values.f8", "xedges.f8"} <= set(os.listdir(drawn))
    edges = np.load(os.path.join(drawn, "xedges.npy"))
    assert edges[:-1].tolist() == [line[0] for line in lines]
    assert np.load(os.path.join(drawn, "values.npy")).tolist() == [line[2] for line in lines]
    with open(os.path.join(drawn, "object.json")) as file:
        assert json.load(file)["_typename"] == "TH1D"
    assert mounted_table.read_exactly(os.path.join(drawn, "plot.svg")).startswith(b"<svg")


def test_of_two_dimensions(table):
    values = np.load(os.path.join(table, ".draw=s_D:s_F;;5,6;0:1,0:1", "values.npy"))
    assert values.shape == (5, 6)


def test_a_profile(source, table, tmp_path):
    out = str(tmp_path / "out.csv")
    subprocess.run([mounted.program(), "draw", source + ":t", "s_D:s_F", "--profile", "--bins", "5", "-o", out], check=True, timeout=60)
    with open(out) as file:
        means, errors, effective = zip(*([float(x) for x in line[2:]] for line in list(csv.reader(file))[1:]))
    drawn = os.path.join(table, ".draw=s_D:s_F;;5;;profile")
    assert np.load(os.path.join(drawn, "values.npy")).tolist() == list(means)
    assert np.sqrt(np.load(os.path.join(drawn, "variances.npy"))) == pytest.approx(errors)
    assert np.load(os.path.join(drawn, "effective_entries.npy")).tolist() == list(effective)
    with open(os.path.join(drawn, "object.json")) as file:
        assert json.load(file)["_typename"] == "TProfile"
    with open(os.path.join(drawn, "table.csv")) as stored, open(out) as written:
        assert stored.readline() == written.readline() == "x_low,x_high,value,error,effective_entries\n"


def test_statistics_are_those_of_the_values(table):
    numbers = np.load(os.path.join(table, "n.npy")).astype(float)
    within = numbers[(numbers >= 1) & (numbers < 4)]
    with open(os.path.join(table, ".draw=n;;2;1:4", "object.json")) as file:
        made = json.load(file)
    assert made["fEntries"] == len(numbers) > len(within) > 0
    assert [made[name] for name in ("fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2")] == [
        len(within), len(within), within.sum(), (within * within).sum()]


@pytest.mark.parametrize("text", ["nothing", "n;;0", "n;;2;3:2", "n;;;;;", "n;;;;other", "n;;;;profile", "n:n:n:n", "", "n;;1000000,1000000",
                                  "n;;10,20", "n;;;0:1,0:1", "n:n;;1,2,3;;profile"])
def test_what_is_wrong(table, text):
    with pytest.raises(OSError) as error:
        os.listdir(os.path.join(table, ".draw=" + text))
    assert error.value.errno == errno.EINVAL


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.images, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "img":
            assert found["loading"] == "lazy"
            self.images.append(urllib.parse.unquote(found["src"]))
        if tag == "a":
            self.links.append(urllib.parse.unquote(found["href"]))


def test_a_page_of_all_columns(table):
    page = Page(mounted_table.read_exactly(os.path.join(table, "index.html")).decode())
    columns = mounted_table.columns_of(table)
    assert [path for path, each in columns.items() if each["role"] == "values"] == [
        image.removeprefix("./").removesuffix(".svg") for image in page.images]
    for link in page.links:
        assert os.path.isfile(os.path.join(table, link)), link


def test_the_page_of_a_chosen_table(table):
    page = Page(mounted_table.read_exactly(os.path.join(table, ".where=n>2", "index.html")).decode())
    assert page.images and os.path.isfile(os.path.join(table, ".where=n>2", page.images[0]))


@pytest.mark.parametrize("options", [[], ["chain"]])
def test_many_drawings_take_few_descriptors(source, mount, options):
    """Each is a file in memory, with a descriptor, as long as the kernel knows it."""
    m = mount(source, *options)

    def drawn(least):
        with open(os.path.join(m.path, "t", f".draw=n;n>={least}", "object.json")) as file:
            return json.load(file)

    def descriptors():
        opened = f"/proc/{m.process.pid}/fd"
        return sum("tfilefs-draw" in os.readlink(os.path.join(opened, each)) for each in os.listdir(opened))

    first = [drawn(least) for least in range(3)]
    for least in range(3, 300):
        drawn(least)
    mounted.wait_until(lambda: descriptors() < 150)
    assert [drawn(least) for least in range(3)] == first
