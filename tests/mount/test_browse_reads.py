# SPDX-License-Identifier: Apache-2.0
"""The page of `tfilefs browse` draws the reads of files while others read them."""

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

COUNTS = (5000, 2000, 2000)
# Errors of the page, and what it asks for, from its first line on.
WATCH = """window.failures = []; window.asked = [];
for (const kind of ['error', 'unhandledrejection']) addEventListener(kind, (event) => failures.push(String(event.message ?? event.reason)));
for (const kind of ['error', 'warn']) console[kind] = (...what) => failures.push(what.join(' '));
const ask = window.fetch; window.fetch = (url, options) => { asked.push(url); return ask(url, options); };"""
FIGURES = "return Object.fromEntries([...document.querySelectorAll('main dt')].map((each) => [each.textContent, each.nextSibling.textContent]))"
ROWS = "return [...document.querySelectorAll('main tbody tr')].map((row) => [...row.children].map((each) => each.textContent))"
LABEL = "return document.querySelector('canvas.reads').getAttribute('aria-label')"
# Pixels of the picture that have the colour of reads of some kind; the lowest row and column of them, and the highest.
DRAWN = """const canvas = document.querySelector('canvas.reads'), { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const colours = [...document.querySelectorAll('.legend i')].map((each) => getComputedStyle(each).backgroundColor.match(/\\d+/g).slice(0, 3).join());
const found = [];
for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255 && colours.includes(data.slice(at, at + 3).join())) found.push([(at / 4) % width, Math.floor(at / 4 / width)]);
const of = (which, most) => found.reduce((best, each) => most(best, each[which]), found[0][which]);
return found.length ? { count: found.length, left: of(0, Math.min), right: of(0, Math.max), top: of(1, Math.min), bottom: of(1, Math.max) } : null"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        one.show()
        one.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        yield one


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("read") / "a.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("T", {"x": "f8", "y": "f4"})
        for count in COUNTS:
            file["T"].extend({"x": np.arange(count) * 0.1, "y": np.arange(count)})
    return path


@pytest.fixture
def browsed(program, source):
    with Browsed(program, "-n", str(source)) as server:
        yield server


def read(browsed, path):
    """By another connection than the browser's."""
    with urllib.request.urlopen(f"{browsed.url.split('/.tfilefs')[0]}{path}?{browsed.url.split('?')[1]}") as answer:
        return len(answer.read())


def wait_until(is_so):
    deadline = time.monotonic() + 30
    while not (found := is_so()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_a_read_appears_while_one_looks(browsed, browser, source):
    browser.go(browsed.at("/"), "main td")
    browser.run("document.getElementById('reads').click()")
    browser.wait_for("main dl")
    before = len(browser.run(ROWS))
    assert read(browsed, "/T/x.f8") == 8 * sum(COUNTS)
    rows = wait_until(lambda: len(found := browser.run(ROWS)) > before and found)
    with uproot.open(source) as file:
        branch = file["T"]["x"]
        seeks, sizes = branch.member("fBasketSeek")[:3], branch.member("fBasketBytes")[:3]
    first = [row for row in rows if int(row[1].replace(",", "")) <= seeks[0] and row[5].startswith("0 to ")]
    assert first, (rows, seeks)
    figures = browser.run(FIGURES)
    assert int(figures["Reads"]) == len(rows) and figures["Cache"].endswith(" misses") and re.fullmatch(r"\d.* of processors, to \d+ kB", figures["Decompression"])
    assert figures["Bytes read"].endswith(f"of the {source.stat().st_size / 1000:.0f} kB of the file")
    assert browser.run(LABEL).startswith(f"Reads over time and place in the file: {len(rows)} reads of ")
    assert sum(sizes) < source.stat().st_size and browser.run("return failures") == []


def test_reads_are_drawn_where_they_are(browsed, browser, source):
    read(browsed, "/T/x.f8")
    with uproot.open(source) as file:
        branch = file["T"]["x"]
        seeks, sizes = branch.member("fBasketSeek")[:3], branch.member("fBasketBytes")[:3]
    browser.go(browsed.at("/.tfilefs/reads.json?x=entries"), "main dl")
    drawn = browser.run(DRAWN)
    whole, tall, base = source.stat().st_size, 320 - 14 - 40, 320 - 40
    assert drawn["left"] == pytest.approx(64, abs=1.5) and drawn["right"] == pytest.approx(760 - 12, abs=1.5)
    assert drawn["bottom"] == pytest.approx(base - tall * seeks[0] / whole, abs=2)
    assert drawn["top"] == pytest.approx(base - tall * (seeks[2] + sizes[2]) / whole, abs=2)
    told = "const canvas = document.querySelector('canvas.reads'), box = canvas.getBoundingClientRect();" \
           "canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + arguments[0], clientY: box.top + arguments[1]}));" \
           "return document.querySelector('figure + p').textContent"
    assert ", of entries 0 to " in browser.run(told, 66, base - tall * (seeks[0] + sizes[0] / 2) / whole)
    assert " shown" in browser.run(told, 740, base - 3)
    browser.run("const axis = document.querySelector('main select:not([hidden])'), all = [...document.querySelectorAll('main select')].at(-1);"
                "all.value = 'time'; all.dispatchEvent(new Event('change'));")
    assert browser.run(LABEL).startswith("Reads over time") and browser.run("return location.hash") == "#/.tfilefs/reads.json"
    assert browser.run("return failures") == []


def test_it_may_be_stopped_and_begun_anew(browsed, browser):
    browser.go(browsed.at("/.tfilefs/reads.json"), "main dl")
    press = "[...document.querySelectorAll('main button')].find((each) => each.textContent === arguments[0]).click()"
    browser.run(press, "Pause")
    time.sleep(1.2)
    count = browser.run("return asked.length")
    read(browsed, "/T/y.f4")
    time.sleep(2.2)
    assert browser.run("return asked.filter((each) => each.includes('reads.json')).length") <= count
    assert not any(row[5] for row in browser.run(ROWS))
    browser.run(press, "Go on")
    wait_until(lambda: any(row[5] for row in browser.run(ROWS)))
    browser.run(press, "Start again")
    assert browser.run(ROWS) == [] and browser.run(FIGURES)["Reads"] == "0"
    read(browsed, "/T/x.f8")
    rows = wait_until(lambda: browser.run(ROWS))
    assert int(browser.run(FIGURES)["Reads"]) == len(rows) and all(row[5] for row in rows)
    assert browser.run("return failures") == []


# What reads.json says is of another server, if `other` is set, which has read twice as often in its 0.1 s; none answers if `isDown`.
OTHER = """const real = window.fetch;
window.fetch = async (url, options) => {
  if (!String(url).endsWith('reads.json')) return real(url, options);
  if (window.isDown) throw new TypeError('no server');
  const answer = await real(url, options);
  if (!window.other) return answer;
  const told = JSON.parse(await (await real(url)).text());
  return new Response(JSON.stringify({ ...told, uptime_seconds: 0.1, reads: 2 * told.reads, last: told.last.map((each) => ({ ...each, number: each.number + told.reads })) }));
};"""


def test_a_server_that_is_started_again_is_another(browsed, browser):
    """Whatever was left out of the one before."""
    browser.go(browsed.at("/.tfilefs/reads.json"), "main dl")
    browser.run(OTHER)
    browser.run("[...document.querySelectorAll('main button')].find((each) => each.textContent === 'Start again').click()")
    assert browser.run(ROWS) == []
    browser.run("window.other = true")
    rows = wait_until(lambda: browser.run(ROWS))
    assert int(browser.run(FIGURES)["Reads"]) == len(rows)


def test_a_server_that_does_not_answer_is_told_until_it_does(browsed, browser):
    browser.go(browsed.at("/.tfilefs/reads.json"), "main dl")
    browser.run(OTHER)
    browser.run("window.isDown = true")
    alert = "return document.querySelector('main [role=alert]')?.textContent"
    wait_until(lambda: "does not answer" in (browser.run(alert) or ""))
    browser.run("const axis = [...document.querySelectorAll('main select')].at(-1); axis.dispatchEvent(new Event('change'));"
                "document.querySelector('canvas.reads').dispatchEvent(new PointerEvent('pointerleave'))")
    assert "does not answer" in browser.run(alert), "what is drawn does not hide it"
    browser.run("window.isDown = false")
    read(browsed, "/T/y.f4")
    wait_until(lambda: browser.run(alert) is None and any(row[5] for row in browser.run(ROWS)))


def test_nothing_is_asked_for_by_what_is_not_seen(browsed, browser):
    browser.go(browsed.at("/.tfilefs/reads.json"), "main dl")
    hide = "Object.defineProperty(document, 'hidden', {value: arguments[0], configurable: true})"
    asked = "return asked.filter((each) => each.includes('reads.json')).length"
    browser.run(hide, True)
    time.sleep(0.3)  # what was asked for before
    count = browser.run(asked)
    time.sleep(2.2)
    assert browser.run(asked) == count
    browser.run(hide, False)
    wait_until(lambda: browser.run(asked) > count)
    browser.run("location.hash = '#/T'")
    browser.wait_for("main td")
    time.sleep(0.3)
    count = browser.run(asked)
    time.sleep(2.2)
    assert browser.run(asked) == count


def test_one_of_several_files_is_chosen(program, browser, source, tmp_path):
    for name in ("a.root", "b.root"):
        shutil.copy(source, tmp_path / name)
    with Browsed(program, "-n", str(tmp_path)) as browsed:
        for name in ("b.root", "a.root"):
            read(browsed, f"/{name}/T/x.f8")
        browser.go(browsed.at("/.tfilefs/reads.json"), "main dl")
        shown = "return document.querySelector('main h2 + p').textContent"
        assert browser.run(shown).endswith("/a.root"), "the one that was read last"
        browser.run("const files = document.querySelector('main select'); files.value = [...files.options].find((each) => each.value.endsWith('b.root')).value;"
                    "files.dispatchEvent(new Event('change'))")
        assert browser.run(shown).endswith("/b.root") and "file=" in browser.run("return location.hash")
        rows = browser.run(ROWS)
        browser.run("location.reload()")
        wait_until(lambda: browser.run("return document.querySelector('main dl') && failures.length === 0") and browser.run(ROWS) == rows)
        assert browser.run(shown).endswith("/b.root")


def test_more_reads_than_come_at_once(program, browser, tmp_path):
    """The first bytes have no room for what was read since the page looked last."""
    path = tmp_path / "many.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("T", {f"x{i}": "f8" for i in range(300)})
        file["T"].extend({f"x{i}": np.arange(4000.0) for i in range(300)})
    with Browsed(program, "-n", str(path), "-o", "prefetch=off") as browsed:
        browser.go(browsed.at("/.tfilefs/reads.json"), "main dl")
        for i in range(0, 300):
            read(browsed, f"/T/x{(i * 7) % 300}.f8")
        wait_until(lambda: int(browser.run(FIGURES)["Reads"].replace(",", "")) > 300)
        reads = int(browser.run(FIGURES)["Reads"].replace(",", ""))
        assert browser.run(LABEL).startswith(f"Reads over time and place in the file: {reads} reads of ")
        assert browser.run("return failures") == []
