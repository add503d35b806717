# SPDX-License-Identifier: Apache-2.0
"""root_sparse.py FILE ANSWER NAME: coordinates, contents and squared errors of the filled cells of a THnSparse, or of all
cells of a THn, as JSON; and the lines of its table: edges, content and error of those that are none of flow."""

import json
import math
import sys
from array import array

import ROOT


def main(file_name, answer, name):
    h = ROOT.TFile.Open(file_name).Get(name)
    told = {"coordinates": [], "values": [], "variances": [], "lines": []}
    at = array("i", [0] * h.GetNdimensions())
    for i in range(h.GetNbins()):
        told["values"].append(h.GetBinContent(i, at))
        told["coordinates"].append(list(at))
        told["variances"].append(h.GetBinError2(i))
        axes = [h.GetAxis(axis) for axis in range(h.GetNdimensions())]
        if all(1 <= bin_ <= axis.GetNbins() for axis, bin_ in zip(axes, at)):
            edges = [edge for axis, bin_ in zip(axes, at) for edge in (axis.GetBinLowEdge(bin_), axis.GetBinUpEdge(bin_))]
            told["lines"].append([*edges, told["values"][-1], math.sqrt(told["variances"][-1])])
    with open(answer, "w") as out:
        json.dump(told, out)


main(*sys.argv[1:])
