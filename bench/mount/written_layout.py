# SPDX-License-Identifier: Apache-2.0
"""How ROOT reads, with its TTreeCache, a file written by a mount, compared with its own file of the same columns with
default settings: read calls, backward seeks and bytes as the kernel sees them (strace), from the first entry to the
last.

written_layout.py [--events N] [--entries N] [--tables dimuon,nano] [--codecs none,zlib]      needs strace"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import rounds
from root_program import compiled
from write import Columns, Writing

READER = """
import os, sys, ROOT
file = ROOT.TFile.Open(sys.argv[1])
tree = file.Get("t")
tree.SetCacheSize(30_000_000)
tree.AddBranchToCache("*", True)
tree.StopCacheLearningPhase()
os.path.exists("/begin")  # seen in the trace
for entry in range(tree.GetEntries()):
    tree.GetEntry(entry)
os.path.exists("/end")
"""


def reads(path):
    """(calls, backward seeks, bytes) of reading all entries."""
    with tempfile.NamedTemporaryFile("r", prefix="bench-") as log:
        subprocess.run(["strace", "-f", "-y", "-qq", "-e", "trace=read,pread64,preadv,lseek,stat,newfstatat", "-o", log.name,
                        sys.executable, "-c", READER, path], check=True, stdout=subprocess.DEVNULL)
        text = log.read()
    text = text[text.index('"/begin"'):text.rindex('"/end"')]
    calls = backward = size = at = end = 0
    for line in text.splitlines():
        if "<" + path + ">" not in line:
            continue
        result = int(re.search(r"= (-?\d+)", line).group(1))
        if "lseek(" in line:
            at = result
            continue
        at = int(re.search(r", (\d+)\)\s+=", line).group(1)) if "pread" in line else at
        calls, backward, size = calls + 1, backward + (at < end), size + result
        at = end = at + result
    return calls, backward, size


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--tables", default="dimuon,nano")
    parser.add_argument("--codecs", default="none,zlib")
    options = parser.parse_args()
    for kind in options.tables.split(","):
        for codec in options.codecs.split(","):
            writing = Writing(Columns(kind, options.events if kind == "dimuon" else options.entries), codec)
            for name, write in {"tfilefs": writing.write, "TTree::Fill": lambda: writing.write_by_root("tree")}.items():
                write()
                calls, backward, size = reads(os.path.realpath(writing.path))
                print(f"{kind}, {codec}: {name:<12} {calls:6} calls {backward:5} backward {size / 1e6:8.1f} MB", flush=True)
            shutil.rmtree(writing.directory, ignore_errors=True)


main()
