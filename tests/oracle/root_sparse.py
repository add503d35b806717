# SPDX-License-Identifier: Apache-2.0
"""root_sparse.py FILE ANSWER NAME: coordinates, contents and squared errors of the filled cells of a THnSparse, as JSON."""

import json
import sys
from array import array

import ROOT


def main(file_name, answer, name):
    h = ROOT.TFile.Open(file_name).Get(name)
    told = {"coordinates": [], "values": [], "variances": []}
    at = array("i", [0] * h.GetNdimensions())
    for i in range(h.GetNbins()):
        told["values"].append(h.GetBinContent(i, at))
        told["coordinates"].append(list(at))
        told["variances"].append(h.GetBinError2(i))
    with open(answer, "w") as out:
        json.dump(told, out)


main(*sys.argv[1:])
