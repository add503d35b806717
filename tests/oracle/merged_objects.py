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


def histogram(name, random):
    made = ROOT.TH1F(name, "", 10, 0, 1)
    for x in random.random(50):
        made.Fill(x)
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
        for key, made in objects(numpy.random.default_rng(number)).items():
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


def compare(directory):
    ours, theirs = (ROOT.TFile(f"{directory}/{name}.root") for name in ("out", "hadd"))
    names = sorted({key.GetName() for key in theirs.GetListOfKeys()})
    for name in names:
        a, b = (json.loads(str(ROOT.TBufferJSON.ConvertToJSON(file.Get(name)))) for file in (ours, theirs))
        found = list(differences(a, b))
        print(name, "same" if not found else found[:6])
        flags = [file.Get(name).TestBit(1 << 21) for file in (ours, theirs)] if "TParameter" in a["_typename"] else [0, 0]
        assert not found and flags[0] == flags[1], (name, found[:6], flags)
    print(len(names), "objects are the same")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](os.path.abspath(sys.argv[2]))
