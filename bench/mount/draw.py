# SPDX-License-Identifier: Apache-2.0
"""A histogram of an expression with a cut, of 20 million entries and of a table as wide as NanoAOD: by `tfilefs draw`, TTree::Draw,
RDataFrame on one and on two threads, and uproot's arrays with NumPy or Awkward Array on two threads.

draw.py [--rounds N] [--entries N] [--codecs NAME,...]     TFILEFS_BIN names the program; files are those of compare.py and wide.py

Interleaved rounds of whole processes, with the file in the page cache. A peer's clock runs inside its process, from the opening of
the file to the numbers, after its libraries are loaded; that of `tfilefs draw` from the start of its process to its end. All sides
have the same 100 bins between fixed limits, and as many values in them. The times of columns alone are of `column_sum` in a fresh
mount, from open(2) to the sum of the columns that the expression has."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import rounds
from compare import CODECS, make_files
from mount import Mount, build_directory, output
from root_program import compiled, made

BY_ROOT = """
import sys, time
import ROOT
way, path, expression, cut, low, high, *defined = sys.argv[1:]
ROOT.gROOT.SetBatch(True)
if way == "rdf2": ROOT.EnableImplicitMT(2)
begin = time.perf_counter()
if way == "draw":
    with ROOT.TFile(path) as file:
        count = file["t"].Draw(f"{expression}>>h(100,{low},{high})", cut, "goff")
else:
    frame = ROOT.RDataFrame("t", path).Filter(defined[1]).Define("value", defined[0])
    count = int(frame.Histo1D(("h", "h", 100, float(low), float(high)), "value").GetEntries())
print(time.perf_counter() - begin, count)
"""
BY_UPROOT = """
import concurrent.futures, sys, time
import awkward as ak, numpy as np, uproot
path, low, high, names, text = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4].split(","), sys.argv[5]
pool = concurrent.futures.ThreadPoolExecutor(2)
begin = time.perf_counter()
with uproot.open(path) as file:
    a = file["t"].arrays(names, library=sys.argv[6], decompression_executor=pool, interpretation_executor=pool)
values = np.asarray(eval(text))
np.histogram(values, 100, (low, high))
print(time.perf_counter() - begin, len(values))
"""

# Of each: the table, expression and cut as TTree::Draw has them, limits, the two as RDataFrame has them, the columns, and the values as
# Python has them.
QUESTIONS = {
    "transverse momentum": ("dimuon", "sqrt(px*px+py*py)", "mass>85", "0", "100", "std::sqrt(px*px+py*py)", "mass>85",
                            ["px:f4", "py:f4", "mass:f8"], 'np.sqrt(a["px"]**2 + a["py"]**2)[a["mass"] > 85]', "np"),
    "sum over lists": ("nano", "Sum$(C00_f00*(abs(C00_f01)<2.4))", "", "0", "1000", "ROOT::VecOps::Sum(C00_f00[abs(C00_f01)<2.4])", "true",
                       ["C00_f00", "C00_f01"], "ak.sum(a.C00_f00[abs(a.C00_f01) < 2.4], axis=1)", "ak"),
    "first of a list": ("nano", "C00_f00[0]", "nC00>=2", "0", "200", "C00_f00[0]", "nC00>=2",
                        ["C00_f00", "nC00"], "a.C00_f00[a.nC00 >= 2][:, 0]", "ak"),
}


def ours(path, question, directory):
    _, expression, cut, low, high = question[:5]
    out = os.path.join(directory, "drawn.json")
    begin = time.perf_counter()
    subprocess.run([rounds.program(), "draw", path + ":t", expression, *([cut] if cut else []), "--bins", "100", "--range", f"{low}:{high}", "-o", out],
                   check=True)
    seconds = time.perf_counter() - begin
    with open(out) as file:
        count = json.load(file)["fEntries"]
    os.remove(out)
    return seconds, count


def columns_alone(path, columns):
    with Mount(path) as mount:
        return output(os.path.join(build_directory(), "bench", "column_sum"),
                      *(f"{mount.path}/t/{column.replace(':', '.')}:{column[-2:]}" for column in columns))[0]


def compare(name, codec, path, options):
    question = QUESTIONS[name]
    _, expression, cut, low, high, defined, filtered, columns, text, library = question
    rounds.warm(path)
    counts = {}

    def counted(side, measure):
        def run():
            seconds, counts[side] = measure()
            return seconds
        return run

    def by_root(way):
        return output(sys.executable, "-W", "ignore", "-c", BY_ROOT, way, path, expression, cut, low, high, defined, filtered)

    names = ",".join(column.split(":")[0] for column in columns)
    with tempfile.TemporaryDirectory() as directory:
        sides = {"tfilefs draw": lambda: ours(path, question, directory), "TTree::Draw": lambda: by_root("draw"),
                 "RDataFrame": lambda: by_root("rdf"), "RDataFrame, 2 threads": lambda: by_root("rdf2"),
                 "uproot, 2 threads": lambda: output(sys.executable, "-W", "ignore", "-c", BY_UPROOT, path, low, high, names, text, library)}
        measured = {side: counted(side, measure) for side, measure in sides.items()}
        if library == "np":
            measured["its columns alone, fresh mount"] = lambda: columns_alone(path, columns)
        results = rounds.run(options.rounds, measured)
    assert len(set(counts.values())) == 1, counts
    rounds.report(f"{codec}: {name}, {int(next(iter(counts.values())))} values", results)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--codecs", default="zlib,lz4,zstd,none")
    options = parser.parse_args()
    for codec in options.codecs.split(","):
        compare("transverse momentum", codec, make_files("dimuon", CODECS[codec], options.entries)[0], options)
    nano = os.path.join(rounds.cache_directory(), "nano-zlib-20000.root")
    made(nano, compiled("wide_peers"), "make", "PATH", "101", "20000")
    for name in ("sum over lists", "first of a list"):
        compare(name, "zlib", nano, options)


if __name__ == "__main__":
    main()
