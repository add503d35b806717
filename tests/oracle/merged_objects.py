# SPDX-License-Identifier: Apache-2.0
"""merged_objects.py make DIR: writes a.root, b.root and c.root with objects of the same names that ROOT merges, and
hadd.root, which its TFileMerger (hadd) makes of them. merged_objects.py compare DIR: out.root against hadd.root, member by
member."""

import array
import json
import math
import os
import sys

import numpy
import ROOT

import root_merge

FILES = ("a", "b", "c")
# Changed by writing and reading, or by a random part of a name.
PASSING = ("fUniqueID", "fBits")
# What hadd takes for a sum is the -1 that says that a THnSparse has none.
WRONG_IN_ROOT = {"sparse first weighted": ".fTsumw2"}


def doubles(*numbers):
    return array.array("d", numbers)


def efficiency(name, random):
    made = ROOT.TEfficiency(name, "passed and all;x", 5, 0, 1)
    for x in random.uniform(-0.1, 1.1, 200):
        made.Fill(bool(random.random() < x), x)
    return made


def polygons(name, random):
    made = ROOT.TH2Poly(name, "cells", 0, 1, 0, 1)
    made.Honeycomb(0, 0, 0.2, 3, 3)
    for _ in range(100):
        made.Fill(random.random(), random.random(), 1 + random.random())
    return made


def dense(name, random, kind="THnD", weighted=False):
    made = getattr(ROOT, kind)(name, "dense", 3, array.array("i", [3, 2, 4]), doubles(0, 0, 0), doubles(1, 2, 3))
    if weighted:
        made.Sumw2()
    for _ in range(100):
        made.Fill(doubles(*random.uniform(-0.2, 3.2, 3)), 2.5 if weighted else 1)
    return made


def graph(kind, random):
    points = int(random.integers(1, 6))
    made = getattr(ROOT, kind)(points)
    made.SetName(kind)
    for i in range(points):
        made.SetPoint(i, *random.uniform(0, 9, 2))
        if kind != "TGraph":
            made.SetPointError(i, *random.uniform(0, 1, {"TGraphErrors": 2, "TGraphAsymmErrors": 4, "TGraphBentErrors": 8}[kind]))
    return made


def histogram(name, random, weighted=False):
    made = ROOT.TH1F(name, "", 10, 0, 1)
    if weighted:
        made.Sumw2()
    for x in random.random(50):
        made.Fill(x)
    return made


def sparse(name, random, kind="THnSparseD", weighted=False, fills=10, bins=(3, 2, 4)):
    """Chunks are of four bins. Of `bins`, the coordinates of one take up to eight bytes, or more."""
    bins = array.array("i", bins)
    axes = len(bins)
    made = getattr(ROOT, kind)(name, "sparse", axes, bins, doubles(*[0] * axes), doubles(*range(1, axes + 1)), 4)
    if weighted:
        made.Sumw2()
    for _ in range(fills):
        made.Fill(doubles(*random.uniform(-0.2, axes + 0.2, axes)), 2.5 if weighted else 1)
    return made


def statistic(name, random, fills):
    made = ROOT.TStatistic(name)
    for value in random.normal(3, 2, fills):
        made.Fill(value, 1 + value**2)
    return made


def event_list(name, title, entries):
    made = ROOT.TEventList(name, title)
    for entry in entries:
        made.Enter(int(entry))
    return made


def profile_of_polygons(name, random):
    made = ROOT.TProfile2Poly(name, "cells", 0, 1, 0, 1)
    made.Honeycomb(0, 0, 0.2, 3, 3)
    for _ in range(100):
        made.Fill(random.uniform(-0.1, 1.1), random.uniform(-0.1, 1.1), random.random(), 1 + random.random())
    return made


def stack(name, random, number):
    made = ROOT.THStack(name, "stack")
    for part in range(3):
        one = histogram(f"{name}_{part}", random, weighted=number == 1)
        ROOT.SetOwnership(one, False)
        made.Add(one)
    return made


def with_function(made):
    """With objects of other classes in it, which refer to each other."""
    function = ROOT.TF1(f"line_{made.GetName()}", "[0]+x*[1]", 0, 1)
    made.GetListOfFunctions().Add(function)
    ROOT.SetOwnership(function, False)
    return made


def texts(*given):
    return [ROOT.TObjString(text) for text in given]


def new_objects(random, number):
    """Those whose bytes get longer, or are appended."""
    made = {f"THnSparse{kind}": sparse(f"sparse{kind}", random, f"THnSparse{kind}") for kind in "CSILFD"}
    made["sparse weighted"] = sparse("weighted", random, "THnSparseF", weighted=True)
    made["sparse later weighted"] = sparse("later", random, weighted=number > 0)
    made["sparse first weighted"] = sparse("first_weighted", random, weighted=number == 0)
    made["sparse empty"] = sparse("empty", random, fills=0)
    made["sparse first empty"] = sparse("first", random, fills=10 * number)
    made["sparse later empty"] = sparse("later_empty", random, fills=10 * (number == 0))
    made["sparse large"] = sparse("large", random, "THnSparseI", fills=40, bins=(1000, 2, 70000, 100, 10**6))
    made["sparse 8 bytes"] = sparse("eight", random, fills=40, bins=(1000, 2, 70000, 10**6))
    made["profile of polygons"] = profile_of_polygons("profile_of_polygons", random)
    made["statistic"] = statistic("statistic", random, 20)
    made["statistic first empty"] = statistic("statistic_empty", random, 5 * number)
    made["scalar"] = ROOT.TSelectorScalar("scalar", 5 + number)
    made["events"] = event_list("events", "x>0", random.integers(0, 30, 9))
    made["events of other titles"] = event_list("titles", ("", "y>1", "z<0")[number], random.integers(0, 30, 9))
    made["events of long titles"] = event_list("long", "x*y>0 && " * 40 + f"z>{number}", random.integers(0, 2**40, 9))
    made["events first empty"] = event_list("first_events", "x>0", random.integers(0, 30, 9 * number))
    made["events later empty"] = event_list("later_events", "x>0", random.integers(0, 30, 9 * (number == 0)))
    polar = ROOT.TGraphPolar(2 + number)
    for point in range(2 + number):
        polar.SetPoint(point, *random.uniform(0, 9, 2))
    made["TGraphPolar"] = polar
    made["graph first empty"] = ROOT.TGraph(3, random.random(3), random.random(3)) if number else ROOT.TGraph()
    made["stack"] = stack("stack", random, number)
    made["stack in a list"] = collection("TList", "stacks", [histogram("in front", random), stack("inner_stack", random, number)])
    graphs = [graph(kind, random) for kind in ("TGraph", "TGraphErrors", "TGraphAsymmErrors")]
    made["graphs in a list"] = collection("TObjArray", "graphs", [*graphs, histogram("behind", random, weighted=number > 0), graph("TGraph", random)])
    made["sparse in a list"] = collection("TList", "sparses", [sparse("one", random), sparse("two", random, weighted=number > 0)])
    made["texts"] = collection("TList", "texts", texts(f"text of {number}", "same"))
    made["texts in an array"] = collection("TObjArray", "texts in an array", texts(f"text of {number}", "same"))
    made["TOrdCollection"] = collection("TOrdCollection", "ordered", [histogram("ordered_h", random), *texts(f"text of {number}")])
    inner = collection("TObjArray", "inner array", [histogram("inner_h", random, weighted=number > 1), *texts(f"inner text of {number}")])
    made["texts and histograms"] = collection("THashList", "mixed", [*texts(f"text of {number}"), histogram("mixed_h", random, weighted=number == 1),
                                                                  inner, ROOT.TNamed("name", f"title {number}"), histogram("last", random)])
    made["with functions"] = collection("TList", "with functions", [with_function(histogram("fitted", random, weighted=number > 0)),
                                                                  *texts("text"), with_function(graph("TGraph", random)),
                                                                  ROOT.TF1("function", f"{number}*x", 0, 1)])
    made["fewer"] = collection("TList", "fewer", [histogram(f"few_{part}", random) for part in range(3 - number)])
    return made


def collection(kind, name, items):
    made = getattr(ROOT, kind)()
    made.SetName(name)
    for item in items:
        ROOT.SetOwnership(item, False)
        made.Add(item)
    return made


def objects(random):
    """{name: object} of one file."""
    made = {"efficiency": efficiency("efficiency", random), "polygons": polygons("polygons", random)}
    for kind in ("THnF", "THnD", "THnI"):
        made[kind] = dense(kind, random, kind)
    made["weighted"] = dense("weighted", random, weighted=True)
    for kind in ("TGraph", "TGraphErrors", "TGraphAsymmErrors", "TGraphBentErrors"):
        made[kind] = graph(kind, random)
    for type_name in ("double", "float", "int", "Long64_t", "bool"):
        for mode in "+*Mmfl":
            name = f"{type_name} {'+*Mmfl'.index(mode)}"
            value = random.integers(0, 2) if type_name == "bool" else random.integers(-50, 50)
            made[name] = ROOT.TParameter[type_name](name, bool(value) if type_name == "bool" else int(value), mode)
    for kind in ("TList", "TObjArray", "THashList"):
        made[kind] = collection(kind, kind, [histogram(f"{kind}_{number}", random) for number in range(3)])
    inner = collection("TObjArray", "inner", [histogram("deep", random)])
    made["lists"] = collection("TList", "lists", [histogram("above", random), inner, efficiency("efficiency_in_list", random)])
    return made


def make(directory):
    ROOT.gROOT.SetBatch(True)
    ROOT.TH1.AddDirectory(False)
    for number, name in enumerate(FILES):
        file = ROOT.TFile(f"{directory}/{name}.root", "RECREATE")
        random = numpy.random.default_rng(number)
        for key, made in (objects(random) | new_objects(random, number)).items():
            ROOT.SetOwnership(made, False)
            file.WriteTObject(made, key, "SingleKey")
        file.Close()
    root_merge.merge(directory, FILES)


def differences(a, b, path=""):
    """Where two JSON values differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(a.keys() | b.keys()):
            if name not in PASSING:
                yield from differences(a.get(name), b.get(name), f"{path}.{name}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}[{i}]")
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if not (math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) or (a != a and b != b)):
            yield f"{path}: {a}, not {b}"
    elif a != b:
        yield f"{path}: {str(a)[:80]}, not {str(b)[:80]}"


def differs(name, file, other):
    """How objects of two files differ, member by member."""
    a, b = (json.loads(str(ROOT.TBufferJSON.ConvertToJSON(each.Get(name)))) for each in (file, other))
    found = list(differences(a, b))
    if "TParameter" in a["_typename"] and file.Get(name).TestBit(1 << 21) != other.Get(name).TestBit(1 << 21):
        found.append("kIsConst")
    return found


def compare(directory):
    ours, theirs = (ROOT.TFile(f"{directory}/{name}.root") for name in ("out", "hadd"))
    names = sorted({key.GetName() for key in theirs.GetListOfKeys()})
    differing = {name: found[:6] for name in names if (found := differs(name, ours, theirs))}
    for name, member in WRONG_IN_ROOT.items():
        assert [found.split(":")[0] for found in differing.pop(name)] == [member], name
    assert not differing, differing
    print(len(names), "objects are the same")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](os.path.abspath(sys.argv[2]))
