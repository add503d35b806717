# SPDX-License-Identifier: Apache-2.0
"""Read calls and bytes, as the kernel counts them, for three uses of a tree of 9,705 branches and 7,000 entries (the
use cases of "ROOT I/O: the fast and furious", CHEP 2009): all branches; 20 branches in a quarter of the entries; one
branch, then one entry in a hundred of all branches. Through a fresh mount, and by ROOT with its cache of 30 MB and
without; the tree that was never flushed, repacked by tfilefs; and the flushed tree imported to an RNTuple, through a
mount and by RNTupleReader.

use_cases.py [--files flushed,never,repacked,rntuple] [--peers]      needs strace; TFILEFS_BIN names the program

Calls count from the first open of a column on (ROOT: from the first entry on): file, tree and listing were read before.
Waste is what was read besides the baskets with wanted entries. For the mount, strace counts. ROOT counts by itself: for
an RNTuple, each range that it requests from the kernel, including gaps between wanted pages."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import rounds
from mount import output
from root_program import compiled, made

BRANCHES, ENTRIES = 9705, 7000

WRITER = r"""
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <vector>
// Groups of a hundred branches of one type, as the members of a class are; numbers that compress to two thirds or so.
void write_wide(const char* name, int branches, int entries, bool flushed) {
  TFile file(name, "RECREATE", "", 101);
  TTree tree("t", "wide");
  if (!flushed) tree.SetAutoFlush(0);
  const int basket = flushed ? 32000 : 2000;
  std::vector<float> floats(branches);
  std::vector<double> doubles(branches);
  std::vector<int> ints(branches);
  for (int i = 0; i < branches; i++) {
    const TString b = TString::Format("b%04d", i);
    const int kind = i / 100 % 3;
    if (kind == 0) tree.Branch(b, &floats[i], b + "/F", basket);
    if (kind == 1) tree.Branch(b, &doubles[i], b + "/D", basket);
    if (kind == 2) tree.Branch(b, &ints[i], b + "/I", basket);
  }
  TRandom3 random(7);
  for (int e = 0; e < entries; e++) {
    for (int i = 0; i < branches; i++) {
      floats[i] = random.Gaus(0, 20);
      doubles[i] = int(random.Exp(40) * 32) / 32.;
      ints[i] = random.Integer(1 << 15);
    }
    tree.Fill();
  }
  tree.Write();
}
"""

# Case 0 is the opening alone, case 4 the branches that are named. Prints calls, bytes, seconds.
ROOT_READER = """
import sys, time, ROOT
path, case, cache = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
begin = time.perf_counter()
file = ROOT.TFile.Open(path)
tree = file.Get("t")
tree.SetCacheSize(cache)
names = [branch.GetName() for branch in tree.GetListOfBranches()]
opened = time.perf_counter() - begin
entries = tree.GetEntries()
wanted = {2: names[100:2100:100], 4: sys.argv[4:]}.get(case, names)
if case in (2, 4):
    tree.SetBranchStatus("*", False)
    for name in wanted:
        tree.SetBranchStatus(name, True)
if cache and case != 3:
    for name in wanted:
        tree.AddBranchToCache(name, True)
    tree.StopCacheLearningPhase()
before = [file.GetReadCalls(), file.GetBytesRead()]
begin = time.perf_counter()
if case == 0:
    before = [0, 0]
elif case == 3:
    branch = tree.GetBranch(names[0])
    for entry in range(entries):
        tree.LoadTree(entry)
        branch.GetEntry(entry)
        if entry % 100 == 0:
            tree.GetEntry(entry)
else:
    for entry in range(entries // 4 if case == 2 else entries):
        tree.GetEntry(entry)
print(file.GetReadCalls() - before[0], file.GetBytesRead() - before[1],
      time.perf_counter() - begin if case else opened)
"""


def make(kind, entries=ENTRIES):
    if kind == "rntuple":
        path = os.path.join(rounds.cache_directory(), "wide.ntuple.root")
        return made(path, compiled("peers"), "import", make("flushed"), "t", "PATH", "101")
    if kind == "repacked":
        never = make("never", entries)
        return made(never.replace("never", kind), rounds.program(), "repack", never, "PATH")
    path = os.path.join(rounds.cache_directory(), f"wide-{kind}.root" if entries == ENTRIES else f"wide-{kind}-{entries}.root")
    if not os.path.exists(path):
        code = f"import ROOT, sys; ROOT.gInterpreter.Declare({WRITER!r}); " \
               f"ROOT.write_wide(sys.argv[1], {BRANCHES}, {entries}, {kind == 'flushed'})"
        subprocess.run([sys.executable, "-c", code, path + ".tmp"], check=True)
        os.rename(path + ".tmp", path)
    return path


class Columns:
    """The columns of the table: name -> (path, bytes per entry), in the order of the listing."""

    def __init__(self, table, count=ENTRIES):
        self.items, self.count = {}, count
        with os.scandir(table) as listing:
            for entry in listing:
                self.items[entry.name.split(".")[0]] = (entry.path, int(entry.name[-1]))

    def whole(self, name):
        with open(self.items[name][0], "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass

    def entries(self, file, name, begin, end):
        size = self.items[name][1]
        os.pread(file, (end - begin) * size, begin * size)


def all_columns(columns):
    for name in columns.items:
        columns.whole(name)


def all_by_entries(columns, step=500):
    """Row-wise, as an analysis processes a tree: a few hundred entries of each column, then the next ones."""
    files = {name: os.open(path, os.O_RDONLY) for name, (path, _) in columns.items.items()}
    for begin in range(0, columns.count, step):
        for name, file in files.items():
            columns.entries(file, name, begin, min(begin + step, columns.count))
    for file in files.values():
        os.close(file)


def some_columns(columns):
    names = list(columns.items)[100:2100:100]
    files = {name: os.open(columns.items[name][0], os.O_RDONLY) for name in names}
    for file in files.values():
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)  # disables the kernel's read-ahead
    for entry in range(0, columns.count // 4, 50):
        for name, file in files.items():
            columns.entries(file, name, entry, entry + 50)
    for file in files.values():
        os.close(file)


def selection(columns):
    names = list(columns.items)
    columns.whole(names[0])
    files = {name: os.open(path, os.O_RDONLY) for name, (path, _) in columns.items.items()}
    for entry in range(0, columns.count, 100):
        for name, file in files.items():
            columns.entries(file, name, entry, entry + 1)
    for file in files.values():
        os.close(file)


CASES = {"1, column after column": (1, all_columns), "1, entries of all columns": (1, all_by_entries),
         "2, 20 columns, a quarter": (2, some_columns), "3, one column, then 1 %": (3, selection)}


def traced(path, use, options):
    """Calls and bytes that the daemon reads from the file while `use` processes the table's columns."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        mount, log = os.path.join(directory, "mnt"), os.path.join(directory, "calls")
        os.mkdir(mount)
        subprocess.run([rounds.program(), *options, path, mount], check=True)
        try:
            columns = Columns(os.path.join(mount, "t"))
            with open(os.path.join(mount, ".tfilefs", "stats.json")) as file:
                pid = json.load(file)["pid"]
            tracer = subprocess.Popen(["strace", "-f", "-q", "-e", "trace=pread64,preadv,preadv2", "-o", log, "-p", str(pid)],
                                      stderr=subprocess.DEVNULL)
            time.sleep(1)
            begin = time.perf_counter()
            use(columns)
            seconds = time.perf_counter() - begin
            time.sleep(1)  # prefetched data count, too
            tracer.terminate()
            tracer.wait()
            with open(log) as file:
                sizes = [int(size) for size in re.findall(r"pread.*\)\s+= (\d+)", file.read())]
            return len(sizes), sum(sizes), seconds
        finally:
            subprocess.run([rounds.program(), "umount", mount], check=True)


def peers(kind, path, case):
    """{name: command that prints calls and bytes} for ROOT's ways of reading the file."""
    if kind == "rntuple":
        return {"RNTupleReader": [compiled("wide_peers"), "use-case", path, str(case)]}
    return {f"ROOT, cache {cache // 1_000_000:2} MB": [sys.executable, "-c", ROOT_READER, path, str(case), str(cache)]
            for cache in (30_000_000, 0)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", default="flushed,never,repacked,rntuple")
    parser.add_argument("--peers", action="store_true", help="ROOT too (minutes)")
    parser.add_argument("-o", "--options", default="", help="mount options")
    options = parser.parse_args()
    more = ["-o", options.options] if options.options else []
    for kind in options.files.split(","):
        path = make(kind)
        print(f"\n{kind}: {os.path.getsize(path) / 1e6:.0f} MB")
        for name, (case, use) in CASES.items():
            calls, size, seconds = traced(path, use, more)
            print(f"  case {name:<28} tfilefs            {calls:7} calls {size / 1e6:8.1f} MB  {seconds:6.2f} s (traced)", flush=True)
            counted = {"tfilefs": calls}
            asked = peers(kind, path, case) if options.peers and name[2:] != " entries of all columns" else {}
            for peer, command in asked.items():
                counted[peer], size, *_ = output(*command)
                print(f"  case {name:<28} {peer:<18} {counted[peer]:7.0f} calls {size / 1e6:8.1f} MB", flush=True)
            rounds.keep(f"{kind}: case {name}", counted, "calls")


if __name__ == "__main__":
    main()
