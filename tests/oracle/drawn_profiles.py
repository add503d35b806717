# SPDX-License-Identifier: Apache-2.0
"""drawn_profiles.py FILE ASKED OUT: of each profile of ASKED, what TTree::Draw makes of the tree `t`, and what is in a file, as JSON."""

import array
import json
import sys

import ROOT


def told(profile):
    """All that a profile says. GetStats() of a file's profile is what is stored in it."""
    cells = range(profile.GetNcells())
    statistics = array.array("d", [0] * 13)
    profile.GetStats(statistics)
    axes = [profile.GetXaxis(), profile.GetYaxis()][:profile.GetDimension()]
    return {"class": profile.ClassName(), "entries": profile.GetEntries(), "statistics": list(statistics),
            "axes": [[axis.GetNbins(), axis.GetXmin(), axis.GetXmax()] for axis in axes],
            "contents": [profile.GetBinContent(i) for i in cells], "errors": [profile.GetBinError(i) for i in cells],
            "bin_entries": [profile.GetBinEntries(i) for i in cells], "effective": [profile.GetBinEffectiveEntries(i) for i in cells],
            "has_weights": profile.GetBinSumw2().GetSize() > 0, "error_option": profile.GetErrorOption(),
            "json": json.loads(str(ROOT.TBufferJSON.ToJSON(profile)))}


def main(path, asked, out):
    ROOT.TH1.SetDefaultBufferSize(0)  # else ROOT doubles axes without need
    file = ROOT.TFile(path)
    tree = file.Get("t")
    answers = []
    with open(asked) as questions:
        for each in json.load(questions):
            binning = ",".join(f"{bins},{limits.replace(':', ',')}" for bins, limits in zip(each["bins"], each["ranges"], strict=True))
            tree.Draw(f"{each['expression']}>>htemp({binning})", each["cut"], "prof goff")
            drawn = told(ROOT.gDirectory.Get("htemp"))
            made = ROOT.TFile(each["file"])
            answers.append({"drawn": drawn, "made": told(made.Get("htemp"))})
            made.Close()
            file.cd()
    with open(out, "w") as answer:
        json.dump(answers, answer)


main(*sys.argv[1:])
