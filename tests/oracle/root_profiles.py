# SPDX-License-Identifier: Apache-2.0
"""root_profiles.py FILE ANSWER NAME...: contents, errors and effective entries of profiles, all cells, x slowest, as JSON."""

import json
import sys

import ROOT


def cells(h):
    spans = [range(axis.GetNbins() + 2) for axis in (h.GetXaxis(), h.GetYaxis(), h.GetZaxis())[: h.GetDimension()]]
    if len(spans) == 1:
        return [(x,) for x in spans[0]]
    if len(spans) == 2:
        return [(x, y) for x in spans[0] for y in spans[1]]
    return [(x, y, z) for x in spans[0] for y in spans[1] for z in spans[2]]


def main(file_name, answer, names):
    file = ROOT.TFile.Open(file_name)
    told = {}
    for name in names:
        h = file.Get(name)
        bins = [h.GetBin(*cell) for cell in cells(h)]
        told[name] = {
            "values": [h.GetBinContent(b) for b in bins],
            "errors": [h.GetBinError(b) for b in bins],
            "effective_entries": [h.GetBinEffectiveEntries(b) for b in bins],
        }
    with open(answer, "w") as out:
        json.dump(told, out)


main(sys.argv[1], sys.argv[2], sys.argv[3:])
