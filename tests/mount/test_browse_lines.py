# SPDX-License-Identifier: Apache-2.0
"""Names and lines of the page of `tfilefs browse`: what is drawn of a column, and what the lines to copy give, is what is shown."""

import re
import subprocess
import urllib.parse

import numpy as np
import pytest
import uproot

from pages_of_browser import Browser, can_be_driven
from test_browse import Browsed

pytestmark = pytest.mark.skipif(not can_be_driven(), reason="needs chromium and chromedriver")

# Each has its mean: what draws something else is seen.
ODD = {"a": 1.0, "b": 2.0, "a-b": 7.0, "x[1]": 9.0, "1": 11.0, "Entry$": 4.0, "my col": 12.0, "-neg": 13.0, "q'uote": 14.0, "A*": 15.0, "a?b": 16.0,
       "pi": 17.0, "true": 18.0, "back`tick": 19.0, "semi;colon": 20.0, "co:lon": 21.0, "jet.pt": 22.0, "ünï": 23.0, "50%25": 24.0, "br{a,c}e": 25.0}
TOLD = "return [...document.querySelectorAll('p.dim')].map((each) => each.textContent).find((each) => each.includes('values read')) ?? ''"
LINES = "return Object.fromEntries([...document.querySelectorAll('.copy')].map((each) => [each.querySelector('span').textContent, each.querySelector('pre').textContent]))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        one.show()
        yield one


@pytest.fixture(scope="module")
def odd(program, tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd.root"
    with uproot.recreate(path) as file:
        file["T"] = {name: np.full(10, mean) for name, mean in ODD.items()}
    with Browsed(program, "-n", str(path)) as server:
        yield server


def path_of(name):
    return "/T/" + urllib.parse.quote(name.replace("%25", "%2525") + ".f8", safe="")


def draw(browser):
    browser.run("document.querySelector('form button[type=submit]').click()")
    browser.wait_for("figure img.object, figure .error")
    assert browser.run("return document.querySelector('figure .error')?.textContent ?? ''") == ""


def output(program, line):
    """What a line for a shell prints."""
    assert line.startswith("tfilefs ")
    done = subprocess.run([program + line.removeprefix("tfilefs")], shell=True, capture_output=True, timeout=60)
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout


@pytest.mark.parametrize("name", ODD)
def test_a_name_that_is_like_an_expression_draws_its_column(program, odd, browser, name):
    browser.go(odd.at(path_of(name)), "svg.plot")
    assert f"mean {ODD[name]:g}, standard deviation 0" in browser.run(TOLD)
    draw(browser)
    numbers = browser.run("""return fetch([...document.querySelectorAll('section a')].find((each) => each.textContent === 'json').href)
                                      .then((answer) => answer.json())""")
    assert abs(numbers["fTsumwx"] / numbers["fEntries"] - ODD[name]) < 0.1, "of rounded axes"
    line = browser.run("return document.querySelector('section > pre').textContent")
    assert re.search(rf"mean {ODD[name]:g}, deviation 0\n", output(program, line).decode()), line
    assert line == browser.run(LINES)["draw"]
    offered = browser.run("return [...document.querySelectorAll('#expressions option')].map((each) => each.value)")
    assert browser.run("return document.querySelector('input.expression').value") in offered


def test_a_line_with_a_leading_dash_is_no_option(program, odd, browser):
    browser.go(odd.at("/T/a.f8?x=-a&bins=5"), "figure img.object")
    line = browser.run("return document.querySelector('section > pre').textContent")
    assert " --bins 5 -- " in line and "-a: mean -1," in output(program, line).decode()
