# SPDX-License-Identifier: Apache-2.0
"""The page of `tfilefs browse`, listings and galleries by axe-core, in a browser that is wide, dark, and as narrow as a phone's; and
with keys alone."""

import os
import re

import numpy as np
import pytest
import uproot

from pages_of_browser import Browser, axe, can_be_driven
from test_browse import Browsed

pytestmark = pytest.mark.skipif(not (can_be_driven() and axe()), reason="needs chromium, chromedriver and axe-core")

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOK = """return axe.run(document, {runOnly: arguments[0]}).then((found) => found.violations.flatMap((each) =>
  each.nodes.map((node) => each.id + ': ' + node.html + ': ' + node.failureSummary)))"""
# What is looked at, and what is there once it is drawn.
VIEWS = {
    "tree": ("/", "main td"), "table": ("/T", "main td"), "column": ("/T/energy.f4", "svg.plot"), "clusters": ("/T", "svg.strip"),
    "baskets": ("/T/energy.f4", "svg.strip"), "strings": ("/T/word/chars.u1", "main td"),
    "plane": ("/T/x.f4?x=x&y=energy", "figure img.object"), "profile": ("/T/x.f4?x=x&y=energy&profile=1", "figure img.object"),
    "object": ("/h", "figure img.object"), "wrong expression": ("/T/x.f4?x=nothing", "[role=alert]"), "missing": ("/missing", ".error"),
    "reads": ("/.tfilefs/reads.json", "main dl"), "reads over entries": ("/.tfilefs/reads.json?x=entries", "main dl"),
}
SIZES = {"wide": {}, "dark": {"scheme": "dark"}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def browsed(program, tmp_path_factory):
    path, numbers = tmp_path_factory.mktemp("browsed") / "numbers.root", np.random.default_rng(1)
    with uproot.recreate(path) as file:
        file["T"] = {"x": np.arange(1000, dtype="f4"), "energy": numbers.exponential(40, 1000).astype("f4"),
                     "word": np.array(["one", "two"] * 500), "wide": np.ones((1000, 3), "i8")}
        file["h"] = np.histogram(numbers.normal(size=1000), bins=50)
        file["below/plane"] = np.histogram2d(numbers.normal(size=1000), numbers.normal(size=1000), bins=20)
    with Browsed(program, "-n", str(path)) as server:
        yield server


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        one.command("Page.setBypassCSP", enabled=True)  # no script may run in a gallery
        yield one


def violations(browser):
    browser.run(axe() + "; window.axe = axe;")
    return browser.run(LOOK, RULES)


@pytest.mark.parametrize("size", SIZES)
def test_of_the_page(browsed, browser, size):
    browser.show(**SIZES[size])
    found = {}
    for name, (path, drawn) in VIEWS.items():
        browser.go(browsed.at(path), drawn)
        found[name] = violations(browser)
        if size == "phone":
            browser.run("document.getElementById('menu').click()")
            found[name, "tree"] = violations(browser)
    assert not any(found.values()), {name: each for name, each in found.items() if each}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("path", ("/T/", "/T/index.html", "/below/"))
def test_of_listings_and_galleries(browsed, browser, path, size):
    browser.show(**SIZES[size])
    browser.go(re.sub(r"/\.tfilefs/page/[^?]*", path, browsed.url), "h1")
    assert violations(browser) == []


def shown_names(browser):
    return browser.run("return [...document.querySelectorAll('.row')].filter((each) => each.offsetHeight > 0).map((each) => each.querySelector('.name').textContent)")


def test_of_the_tree_is_shown_what_is_open_and_found(browsed, browser):
    browser.show()
    browser.go(browsed.at("/T"), "main td")
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
    assert shown_names(browser) == ["T", "below", "h"]
    browser.run("document.querySelector('.row').focus()")
    browser.run(press, "ArrowRight")
    browser.wait_for("[role=treeitem][aria-level='2']")
    assert shown_names(browser) == ["T", "energy", "wide", "word", "x", "below", "h"]
    for name in ("ArrowDown", "ArrowDown"):
        browser.run(press, name)
    assert browser.run("return [...document.querySelectorAll('#tree [tabindex=\"0\"]')].map((each) => each.textContent)") == ["widei8[3]"]
    for name in ("ArrowLeft", "ArrowLeft"):
        browser.run(press, name)
    assert shown_names(browser) == ["T", "below", "h"]
    browser.run("const search = document.getElementById('search'); search.value = 'ener'; search.dispatchEvent(new Event('input'));")
    browser.wait_for("#tree[aria-busy='false']")
    assert shown_names(browser) == ["T", "energy"]


def test_what_is_shown_is_told(browsed, browser):
    browser.go(browsed.at("/T"), "main td")
    assert browser.run("return document.querySelector('[role=status]').textContent") == "T – numbers.root"


def test_nothing_is_wider_than_a_phone(program, browser, tmp_path):
    """Names as long as a mount has them, also above the file, and the errors that name them."""
    long = "long" * 60
    with uproot.recreate(tmp_path / "long.root") as file:
        file["T"] = {"x": np.arange(5.0), long: np.arange(5.0)}
        file[long] = np.histogram(np.arange(10), bins=3)
    browser.show(390, 844)
    (tmp_path / long).mkdir()
    os.rename(tmp_path / "long.root", tmp_path / long / "long.root")
    with Browsed(program, "-n", str(tmp_path / long / "long.root")) as browsed:
        for path, selector in (("/", "main td"), ("/T", "main td"), ("/T/x.f8", "svg.plot"), (f"/T/{long}.f8", "svg.plot"), (f"/{long}", "img.object"),
                               (f"/T/x.f8?x=no{long[:200]}", "figure .error")):
            browser.go(browsed.at(path), selector)
            wide = "const main = document.getElementById('main'); return main.scrollWidth - main.clientWidth"
            assert browser.run(wide) == 0, path
            assert browser.run("return document.documentElement.scrollWidth") == 390, path


def test_numbers_of_a_histogram_can_be_read_on_a_phone(browsed, browser):
    browser.show(**SIZES["phone"])
    browser.go(browsed.at("/T/energy.f4"), "svg.plot")
    assert browser.run("return document.querySelector('svg.plot text').getBoundingClientRect().height") > 10
