# SPDX-License-Identifier: Apache-2.0
"""draw_values.py FILE OUT EXPRESSION...: what TTree::Draw gives for expressions of the tree `t`, as JSON."""

import json
import os
import sys

import ROOT


def numbers(array, count):
    return [array[i] for i in range(count)] if count > 0 else []


def main(path, out, *expressions):
    os.chdir(os.path.dirname(path))  # friends lie beside it
    file = ROOT.TFile(path)
    tree = file.Get("t")
    answers = []
    for expression in expressions:
        count = tree.Draw(expression, "", "goff")
        answers.append({"expression": expression, "cut": "", "count": count, "values": [numbers(tree.GetVal(0), count)],
                        "weights": numbers(tree.GetW(), count)})
    with open(out, "w") as file:
        json.dump(answers, file)


main(*sys.argv[1:])
