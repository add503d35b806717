# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: friends.py DIRECTORY writes main.root, with a tree `t` that names friends in it and in other files; and
expected.json: what ROOT makes of them."""

import array
import json
import os
import sys

import ROOT

os.chdir(sys.argv[1])
ROOT.gErrorIgnoreLevel = ROOT.kFatal  # of doubled keys, and of an index by branches that a tree does not have
ENTRIES = 300


def key(entry):
    return entry // 100, 7 * entry % 100


def write_tree(file, name, entries, keys=None, names=("run", "event")):
    """`keys`: the values of the branches `names` in each entry. Other values tell the entry's number."""
    file.cd()
    tree = ROOT.TTree(name, "tree " + name)
    run, event, y, three = array.array("i", [0]), array.array("q", [0]), array.array("d", [0]), array.array("f", [0, 0, 0])
    vector, text, nested = ROOT.std.vector("float")(), ROOT.std.string(), ROOT.std.vector("std::vector<int>")()
    if keys:
        tree.Branch(names[0], run, names[0] + "/I")
        tree.Branch(names[1], event, names[1] + "/L")
    tree.Branch("y", y, "y/D")
    tree.Branch("three", three, "three[3]/F")
    tree.Branch("vector", vector)
    tree.Branch("text", text)
    tree.Branch("nested", nested)
    for entry in range(entries):
        if keys:
            run[0], event[0] = keys[entry]
        y[0] = entry + 0.25
        three[:] = array.array("f", [entry, entry + 1, entry + 2])
        vector.clear()
        nested.clear()
        for i in range(entry % 4):
            vector.push_back(entry + i / 8)
            inner = ROOT.std.vector("int")()
            for k in range((entry + i) % 3):
                inner.push_back(entry * 10 + k)
            nested.push_back(inner)
        text.assign(f"{name} {entry}" * (entry % 3))
        tree.Fill()
    tree.ResetBranchAddresses()
    return tree


def save(path, **trees):
    file = ROOT.TFile(path, "RECREATE", "", 0)  # not compressed, so that bytes can be changed
    for name, arguments in trees.items():
        write_tree(file, name, *arguments).Write()
    file.Close()


def index(path, name, *by):
    file = ROOT.TFile(path, "UPDATE", "", 0)
    tree = file.Get(name)
    assert tree.BuildIndex(*by) == tree.GetEntries()
    tree.Write("", ROOT.TObject.kOverwrite)
    file.Close()


# Shuffled, doubled (the second one is of no account), some missing, some that no entry of `t` has.
numbers = [(k * 71) % 250 for k in range(200)]
keys = [key(n) for n in numbers] + [key(n) for n in numbers[:20]] + [(99, n) for n in range(30)]
save("keyed.root", keyed=(len(keys), keys))
index("keyed.root", "keyed", "run", "event")
save("beside.root", same_size=(ENTRIES,), short=(40,), long=(500,),
     other=(ENTRIES, [(ENTRIES - n, n) for n in range(ENTRIES)], ("block", "place")))
index("beside.root", "other", "block", "place")

file = ROOT.TFile("main.root", "RECREATE")
inside = write_tree(file, "inside", ENTRIES)
tree = ROOT.TTree("t", "a tree with friends")
run, event, x = array.array("i", [0]), array.array("q", [0]), array.array("f", [0])
tree.Branch("run", run, "run/I")
tree.Branch("event", event, "event/L")
tree.Branch("x", x, "x/F")
for entry in range(ENTRIES):
    run[0], event[0] = key(entry)
    x[0] = entry
    tree.Fill()
tree.ResetBranchAddresses()
tree.AddFriend("keyed", "keyed.root")
tree.AddFriend("same = same_size", "beside.root")
tree.AddFriend("short", "beside.root")
tree.AddFriend("long", os.path.abspath("beside.root"))
tree.AddFriend("inside")
tree.AddFriend("other", "beside.root")
file.Write()
file.Close()

file = ROOT.TFile("main.root")
tree = file.Get("t")
friend = tree.GetFriend("keyed")
expected = {"match": [int(friend.GetEntryNumberWithIndex(*key(entry))) for entry in range(ENTRIES)]}
tree.SetEstimate(100000)
for name in ("keyed.y", "keyed.three", "keyed.vector", "keyed.nested", "same.y", "same.vector", "inside.three", "other.y"):
    count = tree.Draw(name, "", "goff")
    values = tree.GetV1()
    expected[name] = [values[i] for i in range(count)]
count = tree.Draw("long.y:Entry$", "", "goff")
expected["long.y"] = [tree.GetV1()[i] for i in range(count)]
frame = ROOT.RDataFrame(tree)
expected["x + same.y"] = [float(v) for v in frame.Define("sum", "x + same.y").Take["double"]("sum")]
with open("expected.json", "w") as out:
    json.dump(expected, out)
for name in ("a", "b"):  # friends of each other
    file = ROOT.TFile(f"{name}.root", "RECREATE")
    tree = write_tree(file, name, 10)
    if name == "b":
        tree.AddFriend("a", "a.root")
    file.Write()
    file.Close()
file = ROOT.TFile("a.root", "UPDATE")
tree = file.Get("a")
tree.AddFriend("b", "b.root")
tree.Write("", ROOT.TObject.kOverwrite)
file.Close()
