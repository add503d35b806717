# SPDX-License-Identifier: Apache-2.0
"""How a file stores what the page of `tfilefs browse` shows: names, sizes, and strips of baskets and clusters."""

import numpy as np
import pytest
import uproot

from pages_of_browser import Browser, can_be_driven
from test_browse import Browsed

pytestmark = pytest.mark.skipif(not can_be_driven(), reason="needs chromium and chromedriver")

COUNTS = (5000, 2000, 2000, 5000)
FACTS = """const found = [...document.querySelectorAll('section')].find((each) => each.querySelector('h3').textContent === 'In the file');
return Object.fromEntries([...found.querySelectorAll('dt')].map((each) => [each.textContent, each.nextSibling.textContent]))"""
POINT = """const strip = document.querySelector('.strip'), box = strip.getBoundingClientRect();
strip.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + arguments[0] * box.width}));
return document.querySelector('.strip + p').textContent"""
DRAWN = """const box = document.querySelector('.strip path').getBBox(); return [box.x, box.x + box.width]"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        one.show()
        yield one


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "a.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("T", {"x": "f8", "a/b": "f8"})
        file.mkrntuple("N", {"x": "float64"})
        for count in COUNTS:
            file["T"].extend({"x": np.arange(count) * 0.1, "a/b": np.zeros(count)})
            file["N"].extend({"x": np.arange(count) * 0.1})
        file["h"] = np.histogram(np.arange(100), bins=10)
    return path


@pytest.fixture(scope="module")
def browsed(program, source):
    with Browsed(program, "-n", str(source)) as server:
        yield server


@pytest.fixture(scope="module")
def branch(source):
    with uproot.open(source) as file:
        x = file["T"]["x"]
        return {"seek": x.member("fBasketSeek")[:4], "bytes": x.member("fBasketBytes")[:4], "stored": x.compressed_bytes}


def kilobytes(size):
    return f"{size / 1000:.1f} kB" if size < 9950 else f"{size / 1000:.0f} kB"


def test_baskets_of_a_column(browsed, browser, source, branch):
    browser.go(browsed.at("/T/x.f8"), ".strip")
    facts = browser.run(FACTS)
    sizes = branch["bytes"]
    assert facts["ROOT's name"] == "x" and facts["Size decoded"] == "112 kB" and facts["Size on disk"] == kilobytes(branch["stored"])
    assert float(facts["Ratio"]) == pytest.approx(8 * sum(COUNTS) / branch["stored"], rel=0.01)
    assert facts["Compression"] == "zlib; the setting is none", "as uproot writes it"
    assert facts["Baskets"] == (f"4: the smallest {kilobytes(min(sizes))}, the largest {kilobytes(max(sizes))}, "
                                f"{kilobytes(np.mean(sizes))} in the mean")
    whole = source.stat().st_size
    first, last = branch["seek"][0], branch["seek"][3] + sizes[3]
    assert browser.run(DRAWN) == pytest.approx([400 * first / whole, 400 * last / whole], abs=0.5)
    label = browser.run("return document.querySelector('.strip').getAttribute('aria-label')")
    assert label == f"Baskets in the file of {kilobytes(whole)}: 4, from byte {first:,} to {last:,}"
    told = browser.run(POINT, (branch["seek"][2] + sizes[2] / 2) / whole)
    assert told == f"Basket 2: from entry 7,000, {kilobytes(sizes[2])} at byte {branch['seek'][2]:,}"
    assert browser.run(POINT, 0).startswith("Basket 0: from entry 0, ") and browser.run(POINT, 1).startswith("Basket 3: ")
    browser.run("document.querySelector('.strip').dispatchEvent(new PointerEvent('pointerleave'))")
    assert browser.run("return document.querySelector('.strip + p').textContent") == f"Baskets in the {kilobytes(whole)} of the file"


def test_names_are_those_of_the_file(browsed, browser):
    browser.go(browsed.at("/T/a%252Fb.f8"), ".strip")
    assert browser.run(FACTS)["ROOT's name"] == "a/b"


def test_pages_of_an_rntuple(browsed, browser):
    browser.go(browsed.at("/N/x.f8"), ".strip")
    assert browser.run(FACTS)["Pages"].startswith("4: ") and browser.run(FACTS)["Compression"] == "zlib:1"
    assert browser.run(POINT, 1).startswith("Page 3: from entry 9,000, ")


def test_clusters_of_a_table(browsed, browser):
    browser.go(browsed.at("/T"), ".strip")
    facts = browser.run(FACTS)
    assert (facts["Class"], facts["Cycle"], facts["Size decoded"]) == ("TTree", "1", "224 kB")
    assert float(facts["Ratio"]) > 1 and "kB" in facts["Size on disk"]
    assert facts["Clusters"] == "4: the smallest 2,000 entries, the largest 5,000 entries, 3,500 entries in the mean"
    assert browser.run(POINT, 6000 / 14000) == "Cluster 1: entries 5,000 to 6,999"
    assert browser.run(DRAWN) == pytest.approx([0, 400], abs=0.5)


def test_of_an_object(browsed, browser, source):
    browser.go(browsed.at("/h"), "figure img.object")
    browser.wait_for("section dl")
    facts = browser.run(FACTS)
    with uproot.open(source) as file:
        key = file.key("h")
    assert facts["Class"] == "TH1D" and facts["Size on disk"] == f"{key.fNbytes} B"
    assert facts["Size decoded"] == f"{key.fObjlen} B"


def test_of_several_files_there_are_no_baskets(program, source, browser):
    with Browsed(program, "-n", str(source), str(source)) as browsed:
        browser.go(browsed.at("/T/x.f8"), "section dl")
        facts = browser.run(FACTS)
        assert facts["Size decoded"] == "224 kB" and "Baskets" not in facts
        assert browser.run("return document.querySelector('.strip, .error')") is None
