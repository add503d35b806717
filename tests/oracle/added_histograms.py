# SPDX-License-Identifier: Apache-2.0
"""added_histograms.py make DIR: writes a.root, b.root and c.root with histograms of the same names, and hadd.root, which
ROOT's TFileMerger (hadd) makes of them. added_histograms.py compare DIR: out.root against hadd.root, and against TH1::Add
where hadd loses something."""

import os
import sys

import numpy
import ROOT

import root_merge

FILES = ("a", "b", "c")
# hadd keeps squares of weights of a profile only if the first one has them.
ADDED = ("weightedprofile",)


def fill(histogram, random, entries, weights=None):
    """Fills along each axis around its middle, also below and above it."""
    axes = [getattr(histogram, f"Get{name}axis")() for name in "XYZ"[:histogram.GetDimension()]]
    values = [random.normal((a.GetXmin() + a.GetXmax()) / 2, (a.GetXmax() - a.GetXmin()) / 3, entries) for a in axes]
    if histogram.InheritsFrom("TProfile") or histogram.InheritsFrom("TProfile2D"):
        values.append(random.normal(5, 2, entries))
    for i in range(entries):
        histogram.Fill(*(v[i] for v in values), *([] if weights is None else [weights[i]]))


def histograms_of(number, random):
    """Those of one file: of every type of content and dimension; some weighted, set, empty, labelled or fitted."""
    made = []
    for letter in "CSIFD":
        made.append(getattr(ROOT, f"TH1{letter}")(f"one_{letter}", "of one axis;x;y", 20, -1, 1))
        made.append(getattr(ROOT, f"TH2{letter}")(f"two_{letter}", "of two axes", 5, 0, 1, 4, -3, 3))
        made.append(getattr(ROOT, f"TH3{letter}")(f"three_{letter}", "of three", 3, 0, 1, 4, -3, 3, 2, 0, 9))
    edges = numpy.array([0, 1, 3, 10], "f8")
    made.append(ROOT.TH1D("uneven", "", 3, edges))
    made.append(ROOT.TProfile("profile", "", 10, 0, 1))
    made.append(ROOT.TProfile("spread", "", 10, 0, 1, "s"))
    made.append(ROOT.TProfile2D("profile2", "", 4, 0, 1, 3, 0, 2))
    for histogram in made:
        fill(histogram, random, 300)
    full = ROOT.TH1C("full", "more than the contents can hold", 2, 0, 2)
    full.SetBinContent(1, 100)
    full.SetBinContent(2, -100)
    made.append(full)
    # Weights come with the second file, so that the first one has no squares of them.
    for name, new in (("weighted", lambda n: ROOT.TH1F(n, "", 20, -1, 1)), ("weighted2", lambda n: ROOT.TH2F(n, "", 4, 0, 1, 3, 0, 1)),
                      ("weightedprofile", lambda n: ROOT.TProfile(n, "", 10, 0, 1))):
        histogram = new(name)
        fill(histogram, random, 200, None if number == 0 else random.exponential(2, 200))
        made.append(histogram)
    later = ROOT.TH1D("later", "empty at first", 10, 0, 1)
    if number > 0:
        fill(later, random, 50, random.exponential(1, 50))
    made.append(later)
    fitted = ROOT.TH1F("fitted", "", 20, -1, 1)
    fill(fitted, random, 500, None if number == 0 else random.exponential(2, 500))
    for function in ("gaus", "pol1", "pol2"):
        fitted.Fit(function, "Q0+")
    made.append(fitted)
    labelled = ROOT.TH1D("labelled", "", 3, 0, 3)
    for i, label in enumerate(("all", "trigger", "selected")):
        labelled.GetXaxis().SetBinLabel(i + 1, label)
    fill(labelled, random, 100)
    made.append(labelled)
    return made


def make(directory):
    ROOT.gROOT.SetBatch(True)
    for number, name in enumerate(FILES):
        random = numpy.random.default_rng(number)
        file = ROOT.TFile(f"{directory}/{name}.root", "RECREATE")
        inner = file.mkdir("detector").mkdir("tracker")
        for histogram in histograms_of(number, random):
            for place in (file, inner):
                place.WriteTObject(histogram)
        file.WriteTObject(ROOT.TObjString(f"text of {name}"), "text")
        file.Close()
    root_merge.merge(directory, FILES)
    files = [ROOT.TFile(f"{directory}/{name}.root") for name in FILES]
    right = ROOT.TFile(f"{directory}/added.root", "RECREATE")
    for name in ADDED:
        first, *others = (file.Get(name) for file in files)
        first.Sumw2()
        for other in others:
            first.Add(other)
        right.WriteTObject(first, name)
    right.Close()


def content_of(histogram):
    """Everything that adding changes, and a little of what it must not."""
    cells = range(histogram.GetNcells())
    numbers = {"contents": [histogram.GetBinContent(i) for i in cells], "errors": [histogram.GetBinError(i) for i in cells],
               "entries": histogram.GetEntries(), "mean": histogram.GetMean(), "width": histogram.GetStdDev(),
               "weights": histogram.GetSumOfWeights(), "squares": histogram.GetSumw2N()}
    for axis in range(2, histogram.GetDimension() + 1):
        numbers[f"mean {axis}"], numbers[f"width {axis}"] = histogram.GetMean(axis), histogram.GetStdDev(axis)
    if histogram.InheritsFrom("TProfile"):
        numbers["bin entries"] = [histogram.GetBinEntries(i) for i in cells]
        numbers["effective"] = [histogram.GetBinEffectiveEntries(i) for i in cells]
    functions = [(f.GetName(), f.ClassName(), f.GetParameter(0)) for f in histogram.GetListOfFunctions()]
    axis = histogram.GetXaxis()
    labels = [axis.GetBinLabel(i) for i in range(1, axis.GetNbins() + 1)]
    return numbers, (histogram.GetTitle(), histogram.ClassName(), labels, functions)


def compare(directory):
    ours, theirs, added = (ROOT.TFile(f"{directory}/{name}.root") for name in ("out", "hadd", "added"))
    same = 0
    for place in ("", "detector/tracker/"):
        for key in theirs.Get("detector/tracker").GetListOfKeys():
            name = key.GetName()
            a, b = ours.Get(place + name), added.Get(name) if name in ADDED else theirs.Get(place + name)
            assert a, name
            if not b.InheritsFrom("TH1"):
                continue
            (numbers, rest), (wanted, wanted_rest) = content_of(a), content_of(b)
            for what, value in wanted.items():
                assert numpy.allclose(numbers[what], value, rtol=1e-6, atol=1e-9), (place, name, what, numbers[what], value)
            assert rest == wanted_rest, (name, rest, wanted_rest)
            same += 1
    print(same, "histograms are the same")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](os.path.abspath(sys.argv[2]))
