# SPDX-License-Identifier: Apache-2.0
"""Names and lines of the page of `tfilefs browse`: what is drawn of a column, and what the lines to copy give, is what is shown."""

import json
import re
import subprocess
import time
import urllib.parse
import urllib.request

import awkward as ak
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


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    top = tmp_path_factory.mktemp("runs")
    for number in (1, 2):
        with uproot.recreate(top / f"run{number}.root") as file:
            file["Events"] = {"x": np.arange(1000.0) * number}
    return top


SERVED = {
    "two files": (["{}/run1.root", "{}/run2.root"], "/Events/x.f8", "x"), "a pattern": (["{}/run*.root"], "/Events/x.f8", "x"),
    "a directory": (["{}"], "/run2.root/Events/x.f8", "x"), "one": (["{}/run2.root"], "/Events/x.f8", "x"),
    "where": (["{}/run1.root", "-o", "where=x>max(1,500)"], "/Events/x.f8", None),
    "define": (["{}/run1.root", "-o", "define=y=max(x,2)*2"], "/Events/y.f8", None),
}


@pytest.mark.parametrize("case", SERVED)
def test_lines_give_what_is_shown(program, runs, browser, tmp_path, case):
    words, path, branch = SERVED[case]
    with Browsed(program, "-n", *(word.format(runs) for word in words)) as browsed:
        browser.go(browsed.at(path), "svg.plot")
        lines, told = browser.run(LINES), browser.run(TOLD)
        values = np.array(browser.run(f"return fetch('{path}').then((answer) => answer.arrayBuffer()).then((read) => [...new Float64Array(read)])"))
    assert f"{len(values)} of {len(values)} values" in told
    written = output(program, lines["tfilefs"].rpartition(" > ")[0])
    assert np.array_equal(np.frombuffer(written), values)
    assert ("draw" in lines) == (case != "where")
    if "draw" in lines:
        assert f"entries {len(values)}\n" in output(program, lines["draw"]).decode()
    assert ("uproot" in lines) == (branch is not None)
    if branch:
        read = eval(lines["uproot"], {"uproot": uproot})
        assert np.array_equal(np.asarray(read if len(words) == 1 and "*" not in words[0] else read[branch]), values)
    assert lines["a mount"].endswith(" mnt") and all(word.format(runs) in lines["a mount"].replace("\\", "") for word in words)


def test_lines_of_a_table_name_all_files(program, runs, browser):
    with Browsed(program, "-n", f"{runs}/run1.root", f"{runs}/run2.root") as browsed:
        browser.go(browsed.at("/Events"), "main td")
        lines = browser.run(LINES)
    assert lines["RDataFrame"] == f'ROOT::RDataFrame df("Events", {{"{runs}/run1.root", "{runs}/run2.root"}});'
    assert len(eval(lines["uproot"], {"uproot": uproot})) == 2000
    assert "tfilefs" not in lines, "cat has no option chain"


def test_names_like_patterns_are_written_as_names(program, odd, browser):
    for name in ("A*", "a?b", "br{a,c}e", "x[1]"):
        browser.go(odd.at(path_of(name)), "svg.plot")
        written = output(program, browser.run(LINES)["tfilefs"].rpartition(" > ")[0])
        assert np.array_equal(np.frombuffer(written), np.full(10, ODD[name])), name


SHOW = "const input = document.querySelector('form input'); input.value = arguments[0]; input.form.requestSubmit();"


def test_entries_where_are_a_table_with_lines_of_its_own(program, browser, tmp_path):
    with uproot.recreate(tmp_path / "where.root") as file:
        file["T"] = {"x": np.arange(1000.0), "word": np.array(["one", "two"] * 500)}
    with Browsed(program, "-n", str(tmp_path / "where.root")) as browsed:
        browser.go(browsed.at("/T"), "main td")
        for expression, first, count in (("x/0.5>=20", 10, 990), ('word=="two"', 1, 500), ("x%2==0 && x>900", 902, 49)):
            browser.run(SHOW, expression)
            browser.wait_for("main td")
            deadline = time.monotonic() + 20
            while browser.run("return document.querySelector('main').innerText").find(f"of {count}, columns") < 0:
                assert time.monotonic() < deadline, browser.run("return document.querySelector('main').innerText")
            assert browser.run("return document.querySelector('form input').value") == expression
            lines = browser.run(LINES)
            assert "uproot" not in lines and "RDataFrame" not in lines
            written = output(program, lines["tfilefs"].removesuffix(" | head")).decode().splitlines()
            assert len(written) == count + 1 and f"{first}" in re.split("[,.]", written[1]), written[:2]
            link = browser.run("return location.hash.slice(1)")
            browser.go(browsed.at("/T"), "main td")
            browser.run("location.hash = arguments[0] + '/x.f8'", link)
            browser.wait_for("svg.plot")
            assert f"{count} of {count} values read" in browser.run(TOLD) and "draw" not in browser.run(LINES)
            browser.go(browsed.at("/T"), "main td")
        browser.run(SHOW, "nothing>1")
        browser.wait_for("main p.error")
        assert "there is no nothing" in browser.run("return document.querySelector('main p.error').textContent")
        assert browser.run("return location.hash") == "#/T", "what is shown stays"


def test_uproot_is_told_fields_that_it_has(program, browser, tmp_path):
    lists = ak.Array([[1.0, 2.0], [], [3.0]])
    with uproot.recreate(tmp_path / "fields.root") as file:
        file.mkrntuple("N", {"list": lists, "deep": ak.Array([[[1.0], []], [], [[2.0, 3.0]]]), "parts": ak.zip({"pt": lists, "eta": lists + 10})})
    with Browsed(program, "-n", str(tmp_path / "fields.root")) as browsed:
        browser.go(browsed.at("/N"), "main th a")
        for place in browser.run("return [...document.querySelectorAll('main th a')].map((each) => each.hash.slice(1))"):
            browser.go(browsed.at(place), ".copy")
            read = eval(browser.run(LINES)["uproot"], {"uproot": uproot})
            first = {"list": 1.0, "deep": [1.0], "eta": 11.0, "pt": 1.0}[next(part for part in ("list", "deep", "eta", "pt") if f"/{part}" in place)]
            assert ak.to_list(read[0][0]) == first, place


def test_uproot_is_told_the_name_of_a_table_in_the_file(program, browser, tmp_path):
    names = {".hidden": True, "p%2Fq": True, "top": True, "index.html": True, "a b": True, "a:b": False}
    with uproot.recreate(tmp_path / "names.root") as file:
        for number, name in enumerate(names):
            file[f"d/{name}"] = {"x": np.full(10, float(number))}
    with Browsed(program, "-n", str(tmp_path / "names.root")) as browsed:
        browser.go(browsed.at("/d"), "main td")
        places = browser.run("return [...document.querySelectorAll('main td a')].map((each) => decodeURIComponent(each.hash.slice(1)))")
        seen = set()
        for place in places:
            browser.go(browsed.at(urllib.parse.quote(place) + "/x.f8"), "svg.plot")
            number = int(browser.run(TOLD).partition("mean ")[2].partition(",")[0])
            line, name = browser.run(LINES).get("uproot"), list(names)[number]
            assert (line is not None) == names[name], "a colon is a part of a path for uproot"
            assert line is None or np.array_equal(eval(line, {"uproot": uproot}), np.full(10, float(number))), line
            seen.add(name)
        assert seen == set(names)


def test_a_column_whose_name_is_cut_is_drawn(program, browser, tmp_path):
    """Names are cut to fit into a directory: 255 bytes, less than `.draw=` and a name of that length."""
    names = ["n" * 300, "n" * 299 + "m", "a b" * 82]
    with uproot.recreate(tmp_path / "cut.root") as file:
        file["T"] = {name: np.arange(10.0) + 100 * number for number, name in enumerate(names)}
    with Browsed(program, "-n", str(tmp_path / "cut.root")) as browsed:
        with urllib.request.urlopen(browsed.url.split("/.tfilefs")[0] + "/T/.schema.json?" + browsed.url.split("?")[1]) as answer:
            paths = {each["branch"]: each["path"] for each in json.load(answer)["columns"]}
        for number, name in enumerate(names):
            low = 100 * number + 2
            browser.go(browsed.at("/T/" + urllib.parse.quote(paths[name], safe="") + f"?zoom={low}:{low + 5}"), "figure[aria-busy='false'] svg.plot")
            assert f"10 of 10 values read; in the range 5, mean {low + 2}" in browser.run(TOLD)
            draw(browser)


def test_what_cannot_be_drawn_is_told_in_words(odd, browser):
    text = "return [document.querySelector('figure [role=alert]').textContent, [...document.querySelectorAll('section form ~ div a')].map((each) => each.textContent)]"
    line = "const line = document.querySelector('section > pre'); return line.hidden ? '' : line.textContent"
    browser.go(odd.at("/T/a.f8?x=a"), "figure img.object")
    browser.run("const input = document.querySelector('input.expression'); input.value = 'nothing'; input.dispatchEvent(new Event('input'));"
                "document.querySelector('form button[type=submit]').click()")
    browser.wait_for("figure [role=alert]")
    assert "nothing" in browser.run(text)[0] and browser.run(text)[1] == [] and browser.run(line) == "", "nothing stays of what was drawn before"
    browser.go(odd.at("/T/a.f8?x=a:b:pi"), "figure [role=alert]")
    assert "three axes has no picture" in browser.run(text)[0] and browser.run(text)[1] == ["object.json"] and browser.run(line).endswith(" a:b:pi")
    browser.go(odd.at("/T/a.f8?x=" + "+".join(["a"] * 200).replace("+", "%2B")), "figure img.object")
    browser.run("const input = document.querySelector('input.expression'); input.value = 'a+'.repeat(2000) + 'a'; input.dispatchEvent(new Event('input'));"
                "document.querySelector('form button[type=submit]').click()")
    browser.wait_for("figure [role=alert]")
    assert "The server takes 3000" in browser.run(text)[0] and "a+a+a" in browser.run(line)
