# SPDX-License-Identifier: Apache-2.0
"""commit_states.py DIRECTORY: reads every state that tests/writing/write_steps left there, in ROOT and in uproot, and
compares it with what the state may hold (states.txt). Prints a line for each wrong one; anything that ROOT says on
stderr is an error of its own, for the caller to see.

Of every seventh state ROOT then appends to a copy (UPDATE), and what was there is read again."""

import os
import shutil
import sys

import numpy
import ROOT
import uproot

ROOT.gROOT.SetBatch(True)


def text(state):
    return ",".join(f"{path}={entries}" for path, entries in sorted(state.items())) or "-"


def right_values(path, values):
    if not numpy.array_equal(values, numpy.arange(len(values))):
        raise ValueError(f"{path}: entry {numpy.argmax(values != numpy.arange(len(values)))} is wrong")
    return len(values)


def root_tables(directory, prefix=""):
    found = {}
    for key in directory.GetListOfKeys():
        path, name = prefix + key.GetName(), key.GetClassName()
        if name.startswith("TDirectory"):
            found.update(root_tables(key.ReadObj(), path + "/"))
        elif name == "TTree" and path != "appended":
            tree = key.ReadObj()
            frame = ROOT.RDataFrame(tree)
            found[path] = right_values(path, frame.AsNumpy(["x"])["x"]) if tree.GetEntries() else 0
    return found


def read_root(path):
    file = ROOT.TFile(path)
    if file.IsZombie() or file.TestBit(ROOT.TFile.kRecovered):
        raise ValueError("zombie" if file.IsZombie() else "recovered")
    found = root_tables(file)
    file.Close()
    return text(found)


def read_uproot(path):
    with uproot.open(path) as file:
        trees = [name for name, kind in file.classnames(recursive=True, cycle=False).items() if kind == "TTree"]
        return text({name: right_values(name, file[name]["x"].array(library="np")) for name in trees if name != "appended"})


def append_root(path):
    file = ROOT.TFile(path, "UPDATE")
    tree = ROOT.TTree("appended", "")
    value = numpy.zeros(1, dtype="i4")
    tree.Branch("x", value, "x/I")
    for value[0] in range(5000):
        tree.Fill()
    file.Write()
    file.Close()


def may_be(found, before, after, word):
    if word == "each":
        choices = [dict(table.split("=") for table in state.split(",")) for state in (before, after)]
        tables = dict(table.split("=") for table in found.split(","))
        return all(tables.get(path) in (choices[0].get(path), choices[1].get(path)) for path in choices[0] | choices[1] | tables)
    return found in ([after] if word == "sure" else [before, after])


def check(path, before, after, word, append):
    found = read_root(path)
    if not may_be(found, before, after, word):
        raise ValueError(f"ROOT reads {found}, not {before} or {after}")
    with_uproot = read_uproot(path)
    if with_uproot != found:
        raise ValueError(f"uproot reads {with_uproot}, ROOT {found}")
    if append:
        copy = path + ".appended.root"
        shutil.copy(path, copy)
        append_root(copy)
        if read_root(copy) != found or read_uproot(copy) != found:
            raise ValueError("after ROOT appended to it, it is another")
        os.remove(copy)


def main(directory):
    with open(os.path.join(directory, "states.txt")) as states:
        for number, line in enumerate(states):
            name, word, before, after = line.split()
            try:
                check(os.path.join(directory, name), before, after, word, number % 7 == 0)
            except Exception as error:
                print(f"{name} {word} {before} {after}: {type(error).__name__}: {error}")


main(sys.argv[1])
