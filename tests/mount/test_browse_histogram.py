# SPDX-License-Identifier: Apache-2.0
"""Histograms of columns on the page of `tfilefs browse`: axes, bins and zooming; and links of directories."""

import contextlib
import re
import shutil
import time
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
    assert inside + below == 1000 and above == 0 and browser.run("return decodeURIComponent(location.hash)").endswith(":1080")
    browser.go(browsed.at("/T/x.f8?zoom=0:500"), "svg.plot")
    assert "in the range 500, mean 249.5" in browser.run(TOLD), "other ranges are half open"


# Keeps answers of `what` back until release() is called; with `config`, says that the files are those of a server.
HELD = """const real = window.fetch.bind(window);
window.fetch = async (url, options) => {
  const answer = await real(url, options);
  if (String(url).endsWith('%s')) await new Promise((done) => { window.release = done; });
  return %s && String(url).endsWith('config.json') ? new Response(JSON.stringify({sources: ['https://a.org/a.root']})) : answer;
};"""


@contextlib.contextmanager
def held(browser, what, is_remote=False):
    made = browser.command("Page.addScriptToEvaluateOnNewDocument", source=HELD % (what, "true" if is_remote else "false"))
    try:
        yield
    finally:
        browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=made["identifier"])


@pytest.fixture(scope="module")
def long(program, tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.root"
    odd = np.arange(10.0)
    odd[[1, 2, 3, 8]] = np.nan, np.inf, -np.inf, np.nan
    with uproot.recreate(path, compression=None) as file:
        file["T"] = {"x": np.arange(5_100_000.0, dtype="f4"), "y": 1e9 + 1e-3 * (np.arange(5_100_000) % 10)}
        file["odd"] = {"x": odd}
        file["huge"] = {"x": np.array([-1e308, 0, 1, 1e308])}
    with Browsed(program, "-n", str(path)) as server:
        yield server


def told_of(browser, text):
    deadline = time.monotonic() + 30
    while text not in (told := browser.run("return document.getElementById('main').innerText")):
        assert time.monotonic() < deadline, (text, told)
        time.sleep(0.02)
    return told


BUSY = "return document.querySelector('figure').getAttribute('aria-busy')"


def test_the_first_values_are_shown_until_all_are_read(long, browser):
    browser.show()
    with held(browser, "stats.json"):
        browser.go(long.at("/T/x.f4"), "svg.plot")
        told = told_of(browser, "Only the first 65536 of 5100000 values so far, the others are being read; in the range 65536, mean 32767.5,")
        assert browser.run(BUSY) == "true" and "values read" not in told
        browser.run("return new Promise((done) => { const look = () => (window.release ? done(window.release()) : setTimeout(look, 10)); look(); })")
        told_of(browser, "5100000 of 5100000 values read; in the range 5100000, mean 2550000,")
        assert browser.run(BUSY) == "false"


def test_zooming_and_bins_are_of_all_values(long, browser):
    browser.go(long.at("/T/x.f4?zoom=5000000:6000000&columns=10"), "figure[aria-busy='false'] svg.plot")
    assert "5100000 of 5100000 values read; in the range 100000, mean 5050000," in browser.run(TOLD) and "below 5000000, above 0" in browser.run(TOLD)
    assert browser.run("return document.querySelector('svg.plot .edge').getAttribute('d').match(/L/g).length") == 2 * 10 + 1
    browser.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Whole range').click()")
    told_of(browser, "in the range 5100000")


def test_a_deviation_far_from_zero_is_not_rounding(long, browser):
    browser.go(long.at("/T/y.f8?zoom=1000000000:1000000000.01&columns=100"), "figure[aria-busy='false'] svg.plot")
    found = re.search(r"mean (\S+), standard deviation (\S+);", browser.run(TOLD))
    assert float(found[1]) == 1e9 and float(found[2]) == pytest.approx(2.872e-3, rel=0.01)


def test_equal_values_deviate_by_nothing(long, browser):
    browser.go(long.at("/T/x.f4?zoom=1000:1001"), "figure[aria-busy='false'] svg.plot")
    assert "in the range 1, mean 1000, standard deviation 0;" in browser.run(TOLD)


def test_a_range_that_the_server_does_not_draw_is_alone(long, browser):
    """The next one is drawn of all values again."""
    browser.go(long.at("/T/x.f4?zoom=1:1.0000000000000002"), "figure[aria-busy='false'] svg.plot")
    assert re.match(r"5000000 of 5100000 values read; not all, for: \S.*; in the range 1, mean 1, standard deviation 0; below 1, above 4999998$", browser.run(TOLD))
    browser.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Whole range').click()")
    told_of(browser, "5100000 of 5100000 values read; in the range 5100000, mean 2550000,")
    browser.go(long.at("/odd/x.f8?zoom=1:1.0000000000000002"), "figure[aria-busy='false'] svg.plot")
    assert browser.run(TOLD) == "10 of 10 values read; in the range 0; below 1, above 5, not finite 4"


def test_what_is_not_finite_is_beyond_no_end(long, browser):
    for zoom, told in (("", "in the range 6, mean 5.166667, standard deviation 2.793842; below 0, above 0, not finite 4; from 0 to 9, median 5.5"),
                       ("?zoom=4:7", "in the range 3, mean 5, standard deviation 0.8164966; below 1, above 2, not finite 4")):
        browser.go(long.at("/odd/x.f8" + zoom), "figure[aria-busy='false'] svg.plot")
        assert browser.run(TOLD) == "10 of 10 values read; " + told


def test_an_axis_that_the_server_does_not_find_is_found_here(long, browser):
    browser.go(long.at("/huge/x.f8"), "figure[aria-busy='false'] svg.plot")
    assert "4 of 4 values read; in the range 4" in browser.run(TOLD)


def test_all_of_a_large_column_behind_a_url_is_read_when_asked(long, browser):
    with held(browser, "nothing", is_remote=True):
        browser.go(long.at("/T/x.f4"), "figure[aria-busy='false'] svg.plot")
        assert browser.run(TOLD).startswith("5000000 of 5100000 values read; in the range 5000000")
        browser.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Read all 5100000 values').click()")
        told_of(browser, "5100000 of 5100000 values read; in the range 5100000")


def test_what_the_server_tells_is_of_one_state_of_the_file(program, source, browser, tmp_path):
    path = tmp_path / "a.root"
    shutil.copy(source, path)
    with Browsed(program, "-n", str(path)) as browsed, held(browser, "stats.json"):
        browser.go(browsed.at("/T/x.f8"), "main h2")
        told_of(browser, "Reading")
        with uproot.recreate(tmp_path / "b.root") as file:
            file["T"] = {"x": np.full(7, 3.0)}
        (tmp_path / "b.root").rename(path)
        deadline = time.monotonic() + 30
        while not (browser.run(TOLD) or "").startswith("7 of 7 values read; in the range 7, mean 3,"):
            assert "of 1000 values" not in (browser.run(TOLD) or "") and time.monotonic() < deadline
            browser.run("window.release?.()")
            time.sleep(0.05)


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
