# SPDX-License-Identifier: Apache-2.0
"""Histograms of columns on the page of `tfilefs browse`: axes, bins and zooming; and links of directories."""

import re
import shutil
import urllib.request

import numpy as np
import pytest
import uproot

from pages_of_browser import Browser, can_be_driven
from test_browse import Browsed

pytestmark = pytest.mark.skipif(not can_be_driven(), reason="needs chromium and chromedriver")

TOLD = "return [...document.querySelectorAll('p.dim')].map((each) => each.textContent).find((each) => each.includes('values read'))"
LABELS = "return [...document.querySelectorAll(\"svg.plot text[text-anchor='middle']\")].map((each) => { const box = each.getBoundingClientRect(); return [box.left, box.right]; })"
DRAG = """const svg = document.querySelector('svg.plot'), box = svg.getBoundingClientRect();
const at = (name, share) => svg.dispatchEvent(new PointerEvent(name, {clientX: box.left + share * box.width, clientY: box.top + 50, pointerId: 1}));
svg.setPointerCapture = () => {}; at('pointerdown', arguments[0]); at('pointermove', arguments[1]); at('pointerup', arguments[1]);"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        yield one


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("histograms") / "a.root"
    with uproot.recreate(path) as file:
        file["T"] = {"x": np.arange(1000.0), "far": np.arange(1000.0) + 1e6, "small": np.arange(1000.0) * 1e-7, "one": np.ones(1000)}
    return path


@pytest.fixture(scope="module")
def browsed(program, source):
    with Browsed(program, "-n", str(source)) as server:
        yield server


@pytest.mark.parametrize("width", (390, 1200))
@pytest.mark.parametrize("name", ("x", "far", "small", "one"))
def test_an_axis_has_labels_that_are_apart(browsed, browser, name, width):
    browser.show(width=width, height=844)
    browser.go(browsed.at(f"/T/{name}.f8"), "svg.plot")
    labels = browser.run(LABELS)
    assert len(labels) >= 2 and all(right < left for (_, right), (left, _) in zip(labels, labels[1:]))


def test_zooming_to_the_right_edge_keeps_the_largest_value(browsed, browser):
    browser.show()
    browser.go(browsed.at("/T/x.f8"), "svg.plot")
    browser.run(DRAG, 0.5, 1.2)
    inside, below, above = map(int, re.search(r"range (\d+),.* below (\d+), above (\d+)", browser.run(TOLD)).groups())
    assert inside + below == 1000 and above == 0 and browser.run("return decodeURIComponent(location.hash)").endswith(":999")
    browser.go(browsed.at("/T/x.f8?zoom=0:500"), "svg.plot")
    assert "in the range 500, mean 249.5" in browser.run(TOLD), "other ranges are half open"


def test_an_empty_range_has_no_mean(browsed, browser):
    browser.go(browsed.at("/T/x.f8?zoom=5000:6000"), "svg.plot")
    assert browser.run(TOLD).endswith("in the range 0; below 1000, above 0")


@pytest.mark.parametrize("given, bins", (("-5", "1"), ("1e9", "1000"), ("abc", "100"), ("3.2", "3"), ("7", "7")))
def test_bins_that_cannot_be_are_none_of_the_url(browsed, browser, given, bins):
    browser.go(browsed.at(f"/T/x.f8?columns={given}"), "svg.plot")
    assert browser.run("return document.querySelector('input[type=number]').value") == bins
    assert browser.run("return location.hash") == "#/T/x.f8" + ("" if bins == "100" else f"?columns={bins}")


def test_no_link_of_an_object_leads_nowhere(program, browser, tmp_path):
    with uproot.recreate(tmp_path / "objects.root") as file:
        file["h"] = np.histogram(np.arange(100), bins=10)
        file["text"] = "of no numbers"
    with Browsed(program, "-n", str(tmp_path / "objects.root")) as browsed:
        for path, offered in (("/h", ["svg", "json", "csv"]), ("/text", ["json"])):
            browser.go(browsed.at(path), "main .bar a[download]")
            links = browser.run("return [...document.querySelectorAll('main .bar a')].map((each) => [each.textContent, each.href])")
            assert [name for name, _ in links] == offered
            for _, href in links:
                assert urllib.request.urlopen(href + "?" + browsed.url.split("?")[1]).status == 200


def test_there_is_no_way_on_in_a_table_without_entries(program, browser, tmp_path):
    with uproot.recreate(tmp_path / "empty.root") as file:
        file.mktree("T", {"x": "f8"})
    with Browsed(program, "-n", str(tmp_path / "empty.root")) as browsed:
        browser.go(browsed.at("/T"), "main .bar button")
        assert browser.run("return [...document.querySelectorAll('main section .bar button')].map((each) => each.disabled)") == [True] * 4
        assert "0 entries, 1 columns" in browser.run("return document.getElementById('main').textContent")


def test_no_link_of_a_directory_leads_nowhere(program, source, browser, tmp_path):
    for name in ("a.root", "b.root"):
        shutil.copy(source, tmp_path / name)
    with Browsed(program, "-n", str(tmp_path)) as browsed:
        for path in ("/", "/a.root"):
            browser.go(browsed.at(path), "main td")
            links = browser.run("return [...document.querySelectorAll('main .bar a')].map((each) => [each.textContent, each.href])")
            assert ("all plots" in dict(links)) == (path != "/")
            for _, href in links:
                assert urllib.request.urlopen(href + "?" + browsed.url.split("?")[1]).status == 200
