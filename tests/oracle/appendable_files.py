# SPDX-License-Identifier: Apache-2.0
"""appendable_files.py DIR: files of ROOT and of uproot with a tree "t" of entries x = 0, 1, ..., for tests that write
to them."""

import os
import sys

import numpy
import ROOT
import uproot

ENTRIES = 700


def fill(directory):
    directory.cd()
    tree = ROOT.TTree("t", "t")
    x = numpy.zeros(1, dtype="i4")
    tree.Branch("x", x, "x/I")
    for x[0] in range(ENTRIES):
        tree.Fill()
    tree.Write()


def by_root(path, directory=None, padding=None):
    file = ROOT.TFile(path, "RECREATE")
    if padding is not None:
        ROOT.TNamed("padding", "p" * padding).Write()
    fill(file.mkdir(directory) if directory else file)
    key = file.GetKey(directory) if directory else None
    record = key.GetSeekKey() + key.GetKeylen() if key else 0
    file.Close()
    return record


def crossing_a_sector(path):
    """The part of the directory's record that a commit changes spans two sectors."""
    for padding in range(600):
        if (by_root(path, "d", padding) + 6) % 512 + 24 > 512:
            return
    raise RuntimeError("no directory record that crosses a sector")


def near_2gb(path, directory=None):
    """Appended data end above 2,000,000,000. (The file is sparse.)"""
    file = ROOT.TFile(path, "RECREATE")
    file.GetListOfFree().First().SetFirst(1_999_990_000)
    file.SetEND(1_999_990_000)
    fill(file.mkdir(directory) if directory else file)
    file.Close()


def by_uproot(path, directory=None):
    with uproot.recreate(path) as file:
        if directory:
            file.mkdir(directory)
        name = f"{directory}/t" if directory else "t"
        file.mktree(name, {"x": "i4"})
        file[name].extend({"x": numpy.arange(ENTRIES, dtype="i4")})


def main(where):
    os.chdir(where)
    by_root("root.root")
    by_root("root-directory.root", "d")
    by_uproot("uproot.root")
    by_uproot("uproot-directory.root", "d")
    # ROOT stores the path with which the file was created, so header and root record are then in different sectors.
    os.mkdir("l" * 200)
    by_root(os.path.join("l" * 200, "f.root"))
    os.rename(os.path.join("l" * 200, "f.root"), "long-name.root")
    crossing_a_sector("crossing-directory.root")
    near_2gb("large.root")
    near_2gb("large-directory.root", "d")


main(sys.argv[1])
