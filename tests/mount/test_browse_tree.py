# SPDX-License-Identifier: Apache-2.0
"""The tree of the page of `tfilefs browse`: its search, and a table of ten thousand columns."""

import shutil
import time

import numpy as np
import pytest
import uproot

from pages_of_browser import Browser, can_be_driven
from test_browse import Browsed

pytestmark = pytest.mark.skipif(not can_be_driven(), reason="needs chromium and chromedriver")

COLUMNS = 10_000
SHOWN = "return [...document.querySelectorAll('.row')].filter((each) => each.offsetHeight > 0).map((each) => each.querySelector('.name').textContent)"
TYPE = "const search = document.getElementById('search'); search.value = arguments[0]; search.dispatchEvent(new Event('input'));"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        one.show()
        yield one


@pytest.fixture(scope="module")
def many(program, tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "many.root"
    with uproot.recreate(path) as file:
        for number in range(70):
            file[f"t{number:02}"] = {f"c{number}": np.arange(3.0)}
        file["deep/er/T"] = {"needle": np.arange(3.0)}
        file["h"] = np.histogram(np.arange(10), bins=3)
    with Browsed(program, "-n", str(path)) as server:
        yield server


@pytest.fixture(scope="module")
def wide(program, tmp_path_factory):
    path = tmp_path_factory.mktemp("wide") / "wide.root"
    with uproot.recreate(path, compression=None) as file:
        file["T"] = {f"column_{number:05}": np.arange(2.0) for number in range(COLUMNS)}
    with Browsed(program, "-n", str(path)) as server:
        yield server


def found(browser, *texts):
    for text in texts:
        browser.run(TYPE, text)
    browser.wait_for("#tree[aria-busy='false']")
    return browser.run(SHOWN)


def told(browser):
    return browser.run("const none = document.getElementById('none'); return none.hidden ? '' : none.textContent")


def test_a_search_that_is_typed_fast_is_of_the_last_text(many, browser):
    browser.go(many.at("/"), ".row")
    assert found(browser, *("c67"[:end] for end in (1, 2, 3))) == ["t67", "c67"]


def test_a_search_finds_what_is_deep_and_behind_many_tables(many, browser):
    browser.go(many.at("/"), ".row")
    assert found(browser, "needle") == ["deep", "er", "T", "needle"] and told(browser) == ""
    assert found(browser, "c69") == ["t69", "c69"]
    assert found(browser, "nowhere") == [] and told(browser) == "No name has that in it."
    assert "t00" in found(browser, "") and told(browser) == ""


def test_a_search_says_from_its_beginning_that_it_is_under_way(many, browser):
    browser.go(many.at("/"), ".row")
    at_once = browser.run(TYPE + "return [document.getElementById('tree').ariaBusy, document.getElementById('none').textContent]", "needle")
    assert at_once[0] == "true" and at_once[1].startswith("Searching")
    assert found(browser, "") and told(browser) == ""


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Ten thousand objects in a hundred directories."""
    path = tmp_path_factory.mktemp("objects") / "objects.root"
    with uproot.recreate(path, compression=None) as file:
        for directory in range(100):
            below = file.mkdir(f"d{directory:02}/below")
            below.update({f"object_{directory:02}_{number:02}": "text" for number in range(100)})
        file["d07/below/T"] = {"needle": np.arange(3.0)}
    return path


COUNTED = "const real = window.fetch; window.asked = []; window.fetch = (url, options) => { window.asked.push(String(url)); return real(url, options); };"


@pytest.mark.parametrize("inside", (True, False))
def test_names_of_ten_thousand_objects_are_asked_for_once(program, objects, browser, tmp_path, inside):
    source = objects
    if not inside:
        shutil.copy(objects, tmp_path / "a.root")
        source = tmp_path
        (tmp_path / "empty").mkdir()
    with Browsed(program, "-n", str(source)) as browsed:
        browser.go(browsed.at("/"), ".row")
        browser.run(COUNTED)
        above = [] if inside else ["a.root"]
        assert found(browser, "object_42_17") == [*above, "d42", "below", "object_42_17"] and told(browser) == ""
        assert found(browser, "needle") == [*above, "d07", "below", "T", "needle"] and told(browser) == ""
        asked = browser.run("return window.asked")
        assert sum(each.endswith(".keys.json") for each in asked) == (1 if inside else 3)
        assert len(asked) < 10, asked
        browser.run("[...document.querySelectorAll('.row')].find((each) => each.title.endsWith('/below')).querySelector('.sign').click()")
        found(browser, "")


def test_an_object_that_is_opened_while_it_is_searched_has_its_files(many, browser):
    """The answer to the search is held back until the object is opened. Without .keys.json it asks for each, as in a chain."""
    browser.go(many.at("/"), ".row[title='h']")
    shown = browser.run("""const real = window.fetch, held = [];
        window.fetch = (url, options) => String(url).endsWith('.keys.json') ? Promise.resolve(new Response('', {status: 404})) :
          String(url).endsWith('/h/.schema.json') && held.length === 0
          ? new Promise((done) => held.push(() => done(real(url, options)))) : real(url, options);
        const until = async (holds) => { for (let i = 0; i < 1000 && !holds(); ++i) await new Promise((done) => setTimeout(done, 10)); };
        const search = document.getElementById('search');
        search.value = 'h'; search.dispatchEvent(new Event('input'));
        return until(() => held.length === 1).then(async () => {
          document.querySelector(".row[title='h'] .sign").click();
          held[0]();
          search.value = ''; search.dispatchEvent(new Event('input'));
          await until(() => document.querySelector(".row[title='h/flow']"));
          window.fetch = real;
          return [document.querySelector(".row[title='h']").ariaExpanded, document.querySelector(".row[title='h/flow']") !== null];
        })""")
    assert shown == ["true", True]
    found(browser, "")


def test_of_ten_thousand_columns_only_those_in_sight_are_elements(wide, browser):
    browser.go(wide.at("/T"), "main td")
    assert browser.run("return document.querySelectorAll('.row').length") < 100
    assert browser.run("return document.getElementById('tree').scrollHeight") > 20 * COLUMNS
    browser.run("document.getElementById('tree').scrollTop = 1e9")
    browser.wait_for(f".row[title='T/column_{COLUMNS - 1:05}.f8']")
    assert browser.run("return document.querySelector('.row[tabindex=\"0\"]') !== null"), "Tab leads into the tree"
    assert found(browser, "column_0999") == ["T", *(f"column_0999{digit}" for digit in range(10))]
    found(browser, "")


def test_a_directory_of_many_names_shows_a_thousand_at_a_time(program, browser, tmp_path):
    for number in range(2500):
        (tmp_path / f"{number:04}.txt").touch()
    with Browsed(program, "-n", str(tmp_path)) as browsed:
        browser.go(browsed.at("/"), "main td")
        shown = "return [...document.querySelectorAll('main td a')].map((each) => each.textContent)"
        button = "const all = [...document.querySelectorAll('main button')].filter((each) => each.textContent.startsWith('Show') && !each.hidden); "
        for count, label in ((1000, "Show 1000 more of 1500"), (2000, "Show 500 more of 500"), (2500, None)):
            assert browser.run(shown) == [f"{number:04}.txt" for number in range(count)]
            assert browser.run(button + "return all.map((each) => each.textContent)") == ([label] if label else [])
            browser.run(button + "all[0]?.click()")


def test_keys_move_in_ten_thousand_columns(wide, browser):
    browser.go(wide.at("/T"), "main td")
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true})); return document.activeElement.title"
    browser.run("document.querySelector('.row').focus()")
    assert browser.run(press, "End") == f"T/column_{COLUMNS - 1:05}.f8"
    assert browser.run(press, "ArrowUp") == f"T/column_{COLUMNS - 2:05}.f8"
    assert browser.run(press, "Home") == "T"
    each = browser.run("""const began = performance.now();
        for (let i = 0; i < 50; ++i) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}));
        return (performance.now() - began) / 50""")
    assert each < 100, f"{each} ms for a key"
    assert browser.run("return document.activeElement.title") == "T/column_00049.f8"


def test_what_is_chosen_comes_into_sight(wide, browser):
    browser.go(wide.at(f"/T/column_{COLUMNS // 2:05}.f8"), ".row[aria-selected='true']")
    deadline = time.monotonic() + 20
    while not browser.run("const row = document.querySelector('.row[aria-selected=\"true\"]').getBoundingClientRect(); return row.top > 0 && row.bottom <= innerHeight"):
        assert time.monotonic() < deadline
