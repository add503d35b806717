# SPDX-License-Identifier: Apache-2.0
"""Functions that were fitted to what the page of `tfilefs browse` shows: their parameters stand below the plot."""

import pytest
import uproot

import root_process
from pages_of_browser import Browser, axe, can_be_driven
from test_browse import Browsed
from test_browse_accessibility import SIZES, violations

pytestmark = pytest.mark.skipif(not can_be_driven(), reason="needs chromium and chromedriver")

WRITE = r"""
import sys, ROOT
from array import array
file = ROOT.TFile(sys.argv[1], "recreate")
h = ROOT.TH1D("h", "h", 20, -3, 3)
h.FillRandom("gaus", 1000)
h.Fit("gaus", "Q")
h.Fit("pol1", "Q+")
h.GetListOfFunctions().Add(ROOT.TF1("drawn", "[slope]*x", 0, 1))
file.WriteObject(h, "h")
graph = ROOT.TGraph(5, array("d", range(5)), array("d", [1, 3, 5, 7, 10]))
graph.SetName("points")
graph.Fit("pol1", "Q")
file.WriteObject(graph, "points")
odd = ROOT.TH1D("odd", "odd", 5, 0, 1)
function = ROOT.TF1("<b>&", "[0]*x", 0, 1)
function.SetParName(0, "<img src=x>")
function.SetParameter(0, float("nan"))
function.SetParError(0, float("inf"))
function.SetChisquare(3)
function.SetNDF(2)
function.SetNumberFitPoints(3)
odd.GetListOfFunctions().Add(function)
file.WriteObject(odd, "odd")
exact = ROOT.TGraph(2, array("d", [0, 1]), array("d", [1, 3]))
exact.Fit("pol1", "Q")
file.WriteObject(exact, "exact")
canvas = ROOT.TCanvas("canvas")
canvas.Divide(2)
canvas.cd(1)
h.Draw()
canvas.cd(2)
graph.Draw("alp")
file.WriteObject(canvas, "canvas")
file.WriteObject(ROOT.TH1D("plain", "", 5, 0, 1), "plain")
file.Close()
"""
FITS = """return [...document.querySelectorAll('h4')].map((each) => [each.textContent, each.nextSibling.nextSibling.textContent,
  [...each.nextSibling.nextSibling.nextSibling.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))])"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("fits") / "fits.root"
    done = root_process.run_code(WRITE, str(path))
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def browsed(program, source):
    with Browsed(program, "-n", str(source)) as server:
        yield server


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as one:
        one.show()
        one.command("Page.setBypassCSP", enabled=True)  # for axe-core
        yield one


def shown(browser, browsed, path):
    browser.go(browsed.at(path), "h4")
    return browser.run(FITS)


def test_parameters_of_each_function(browsed, browser, source):
    gaus, line, drawn = shown(browser, browsed, "/h")
    with uproot.open(source) as file:
        functions = list(file["h"].member("fFunctions"))
    stored = [each for each in functions if each.classname == "TF1"]
    assert [gaus[0], line[0]] == ["gaus", "pol1"] and drawn == ["drawn", "not fitted", [["slope", "0", "0"]]]
    for (_, quality, rows), function, names in zip((gaus, line), stored, (["Constant", "Mean", "Sigma"], ["p0", "p1"])):
        chi2, ndf = function.member("fChisquare"), function.member("fNDF")
        assert quality.startswith("χ²/ndf ") and f" / {ndf} = " in quality
        assert float(quality.rpartition(" = ")[2]) == pytest.approx(chi2 / ndf, rel=1e-6)
        assert [row[0] for row in rows] == names
        assert [float(row[2]) for row in rows] == pytest.approx(list(function.member("fParErrors")), rel=1e-6)
        assert [float(row[1]) for row in rows] == pytest.approx(list(function.member("fFormula").member("fClingParameters")), rel=1e-6)


def test_of_a_graph(browsed, browser):
    [(name, _, rows)] = shown(browser, browsed, "/points")
    assert name == "pol1" and [float(row[1]) for row in rows] == pytest.approx([0.8, 2.2])


def test_without_degrees_of_freedom_there_is_no_quotient(browsed, browser):
    [(_, quality, rows)] = shown(browser, browsed, "/exact")
    assert quality.endswith(" / 0") and [float(row[1]) for row in rows] == pytest.approx([1, 2])


def test_of_the_parts_of_a_canvas(browsed, browser):
    assert [name for name, _, _ in shown(browser, browsed, "/canvas")] == ["gaus of h", "pol1 of h", "drawn of h", "pol1 of points"]


def test_names_are_text_and_numbers_may_be_none(browsed, browser):
    [(name, quality, rows)] = shown(browser, browsed, "/odd")
    assert name == "<b>&" and quality == "χ²/ndf 3 / 2 = 1.5"
    assert rows[0][0] == "<img src=x>" and not browser.run("return [...document.images].some((each) => each.getAttribute('src') === 'x')")
    assert rows[0][1:] == ["NaN", "Infinity"]


def test_without_fits_there_is_no_table(browsed, browser):
    browser.go(browsed.at("/plain"), "figure img.object")
    browser.wait_for("section dl")
    assert browser.run("return document.querySelector('h4, .error')") is None


@pytest.mark.skipif(not axe(), reason="needs axe-core")
@pytest.mark.parametrize("size", SIZES)
def test_all_can_read_them(browsed, browser, size):
    browser.show(**SIZES[size])
    for path in ("/h", "/canvas"):
        browser.go(browsed.at(path), "h4")
        assert violations(browser) == []
        assert browser.run("return document.documentElement.scrollWidth - innerWidth") == 0
