# SPDX-License-Identifier: Apache-2.0
"""index.html of files, directories and tables, opened in a browser as a file of the mount."""

import os

import numpy as np
import pytest
import uproot

import mounted
from pages_of_browser import Browser, can_be_driven

pytestmark = pytest.mark.skipif(not can_be_driven(), reason="needs chromium and chromedriver")

LONG = "a_name_of_a_histogram_without_any_place_to_break_it_that_is_wider_than_a_phone"


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "run 7.root"
    numbers = np.random.default_rng(1)
    with uproot.recreate(path) as file:
        file.mktree("Events", {"energy": "f4", "run": "i4"}, title="of one run")
        file["Events"].extend({"energy": numbers.normal(size=100).astype("f4"), "run": np.arange(100, dtype="i4")})
        for name in ("top", "tracker/hits", "tracker/inner/hits", "calorimeter/" + LONG):
            file[name] = np.histogram(numbers.normal(size=1000), bins=50)
    with mounted.Mounted(str(path)) as m:
        yield m.path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        yield one


def shown(browser):
    """The captions in sight, by group."""
    return browser.run("""return [...document.querySelectorAll('figure')].filter((each) => each.checkVisibility()).map((each) =>
        [each.closest('details')?.querySelector('h2').textContent ?? '', each.querySelector('figcaption').textContent.split(' ')[0]])""")


def search(browser, text):
    browser.run("const search = document.querySelector('input'); search.value = arguments[0]; search.dispatchEvent(new Event('input'))", text)


def at(top, *names):
    return "file://" + os.path.join(top, *names, "index.html")


def test_groups_fold_and_are_searched(top, browser):
    browser.show()
    browser.go(at(top), "h1")
    assert browser.run("return document.querySelector('h1').textContent + document.title") == 2 * "run 7.root"
    everything = shown(browser)
    assert sorted(everything) == [["", "Events"], ["", "top"], ["calorimeter", LONG], ["tracker", "hits"], ["tracker/inner", "hits"]]
    browser.run("document.querySelector('summary').click()")
    assert len(shown(browser)) == 4
    search(browser, "HITS tracker")
    assert shown(browser) == [each for each in everything if each[1] == "hits"]
    assert browser.run("return [...document.querySelectorAll('h2')].filter((each) => each.checkVisibility()).length") == 2
    search(browser, "calorimeter")
    assert shown(browser) == [["calorimeter", LONG]], "a group that was folded is opened"
    search(browser, "nothing like it")
    assert shown(browser) == []
    search(browser, "")
    assert shown(browser) == everything


def test_tables_lead_to_their_pages(top, browser):
    browser.go(at(top), "figcaption a")
    browser.go(browser.run("return document.querySelector('figcaption a').href"), "img")
    assert browser.run("return document.querySelector('h1').textContent") == "Events"
    assert shown(browser) == [["", "energy.f4"], ["", "run.i4"]]
    search(browser, "energy")
    assert shown(browser) == [["", "energy.f4"]]
    browser.go(at(top, "tracker"), "h1")
    assert browser.run("return document.querySelector('h1').textContent") == "run 7.root/tracker"


@pytest.mark.parametrize("scheme", ("light", "dark"))
def test_a_phone_in_the_dark(top, browser, scheme):
    browser.show(width=390, height=844, scheme=scheme)
    for url in (at(top), at(top, "Events")):
        browser.go(url, "h1")
        assert browser.run("return document.documentElement.scrollWidth") <= 390
        color = browser.run("return getComputedStyle(document.querySelector('h1')).color")
        assert (color == "rgb(255, 255, 255)") == (scheme == "dark"), color
