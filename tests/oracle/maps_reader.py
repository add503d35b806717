# SPDX-License-Identifier: Apache-2.0
"""Reads maps of strings with RDataFrame, TTreeReader and a loop: FILE TREE BRANCH,... ANSWER.json."""

import json
import sys

import ROOT

path, name, branches, answer = sys.argv[1:]
file = ROOT.TFile.Open(path)
tree = file.Get(name)
frame = ROOT.RDataFrame(name, path)


def read(branch):
    kind = tree.GetBranch(branch).GetClassName()
    has_texts = "string>" in kind

    def plain(found):
        return {str(item.first): str(item.second) if has_texts else item.second for item in found}

    reader = ROOT.TTreeReader(name, file)
    value = ROOT.TTreeReaderValue[kind](reader, branch)
    read = {"class": kind, "reader": []}
    while reader.Next():
        read["reader"].append(plain(value.__deref__()))
    read["frame"] = [plain(each) for each in frame.Take[kind](branch).GetValue()]
    read["loop"] = [plain(getattr(entry, branch)) for entry in tree]
    # ROOT has each map in the order of its keys.
    second = branch + ".second"
    read["second"] = None if has_texts else [list(each) for each in frame.Take[str(frame.GetColumnType(second))](second).GetValue()]
    return read


found = {branch: read(branch) for branch in branches.split(",")}
with open(answer, "w") as out:
    json.dump(found, out)
