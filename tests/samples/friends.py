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


def write_tree(file, name, entries, keys=None, names=("run", "event"), first=0):
    """`keys`: the values of the branches `names` in each entry. Other values tell the entry's number, from `first` on."""
    file.cd()
    tree = ROOT.TTree(name, "tree " + name)
    run, event, y, three = array.array("i", [0]), array.array("q", [0]), array.array("d", [0]), array.array("f", [0, 0, 0])
    vector, text, nested = ROOT.std.vector("float")(), ROOT.std.string(), ROOT.std.vector("std::vector<int>")()
    if keys is not None:
        tree.Branch(names[0], run, names[0] + "/I")
        tree.Branch(names[1], event, names[1] + "/L")
    tree.Branch("y", y, "y/D")
    tree.Branch("three", three, "three[3]/F")
    tree.Branch("vector", vector)
    tree.Branch("text", text)
    tree.Branch("nested", nested)
    for entry in range(first, first + entries):
        if keys is not None:
            run[0], event[0] = keys[entry - first]
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


def save(path, first=0, **trees):
    file = ROOT.TFile(path, "RECREATE", "", 0)  # not compressed, so that bytes can be changed
    for name, arguments in trees.items():
        write_tree(file, name, *arguments, first=first).Write()
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
save("computed.root", computed=(len(keys), keys))
index("computed.root", "computed", "100*run + event", "event%7")

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
tree.AddFriend("computed", "computed.root")
file.Write()
file.Close()

# A chain, and friends that the tree in each of its files names. Some have fewer entries, some more.
PARTS = (60, 2, 90)
for part, count in enumerate(PARTS):
    beside, first = f"beside{part}.root", 1000 * part
    order = [(7 * n % count) for n in range(count)]
    save(beside, first, same_size=(count,), short=(count - count // 10 - part % 2,), long=(count + 5,),
         keyed=(count // 2 + count // 4, [(part, n) for n in order[: count // 2] + order[: count // 4]]))
    index(beside, "keyed", "run", "event")
    file = ROOT.TFile(f"part{part}.root", "RECREATE")
    inside = write_tree(file, "inside", count, first=first + 500)
    tree = write_tree(file, "t", count, [(part, n) for n in range(count)], first=first)
    for name in ("same_size", "short", "long", "keyed"):
        tree.AddFriend(name, beside)
    tree.AddFriend("inside")
    if part == 1:
        tree.AddFriend("alone = same_size", beside)
    file.Write()
    file.Close()

file = ROOT.TFile("main.root")
tree = file.Get("t")
friend = tree.GetFriend("keyed")
expected = {"match": [int(friend.GetEntryNumberWithIndex(*key(entry))) for entry in range(ENTRIES)]}
friend = tree.GetFriend("computed")
expected["computed"] = [int(friend.GetEntryNumberWithIndex(100 * run + event, event % 7)) for run, event in map(key, range(ENTRIES))]
tree.SetEstimate(100000)
for name in ("keyed.y", "keyed.three", "keyed.vector", "keyed.nested", "same.y", "same.vector", "inside.three", "other.y",
             "computed.y"):
    count = tree.Draw(name, "", "goff")
    values = tree.GetV1()
    expected[name] = [values[i] for i in range(count)]
count = tree.Draw("long.y:Entry$", "", "goff")
expected["long.y"] = [tree.GetV1()[i] for i in range(count)]
frame = ROOT.RDataFrame(tree)
expected["x + same.y"] = [float(v) for v in frame.Define("sum", "x + same.y").Take["double"]("sum")]
chain = ROOT.TChain("t")
for part in range(len(PARTS)):
    chain.Add(f"part{part}.root")
for name in ("same_size.y", "same_size.vector", "long.y", "inside.y", "keyed.y"):
    count = chain.Draw(name, "", "goff")
    expected["chain." + name] = [chain.GetV1()[i] for i in range(count)]
other, plain = ROOT.TChain("same_size"), ROOT.TChain("inside")
for part in range(len(PARTS)):
    plain.Add(f"part{part}.root")
    other.Add(f"beside{(part + 2) % len(PARTS)}.root")  # files that end elsewhere
plain.AddFriend(other, "other")
plain.Draw("other.y", "", "goff")
expected["other borders"] = [plain.GetV1()[i] for i in range(sum(PARTS))]
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
