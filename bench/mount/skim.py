# SPDX-License-Identifier: Apache-2.0
"""Ten columns and one entry in a hundred of a chain of 2 GB written to one file, by `tfilefs repack`, RDataFrame's Snapshot
and, if it is installed, hepconvert. In interleaved rounds; each has one line: seconds, the largest resident memory, the
size of the file, and the bytes that it reads of the chain (counted once, under strace): all of them, and those from among
the baskets, as a multiple of what the baskets of these columns take in the clusters with wanted entries.

skim.py [--files N] [--events N] [--rounds N]      needs strace; TFILEFS_BIN names the program

Two selections: `range` is the entries from the middle of the chain on, `mask` entries at random from all of it."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy
import uproot

import rounds
from repack import measured
from root_program import compiled, made

COLUMNS = [f"C00_f{i:02}" for i in range(10)]

SNAPSHOT = """
import sys, numpy, ROOT
out, mask, begin, end, *files = sys.argv[1:]
chain = ROOT.TChain("t")
for file in files:
    chain.Add(file)
frame = ROOT.RDataFrame(chain)
if mask:
    chosen = ROOT.std.vector["bool"](numpy.load(mask).tolist())
    ROOT.gInterpreter.Declare("std::vector<bool> chosen;")
    ROOT.chosen = chosen
    frame = frame.Filter("bool(chosen[rdfentry_])")
else:
    frame = frame.Range(int(begin), int(end))
frame.Snapshot("t", out, ["nC00", %s])
""" % ", ".join(f'"{name}"' for name in COLUMNS)

HEPCONVERT = """
import sys, hepconvert
out, mask, begin, end, *files = sys.argv[1:]
# It selects by a condition on columns; the number of the entry is none, so its file has all entries.
hepconvert.merge_root(out, files, keep_branches=["nC00", %s], progress_bar=False)
""" % ", ".join(f'"{name}"' for name in COLUMNS)


def chain_of(files, events):
    """Copies of the table of wide.py: [path]."""
    source = os.path.join(rounds.cache_directory(), f"nano-zlib-{events}.root")
    made(source, compiled("wide_peers"), "make", "PATH", "101", str(events))
    paths = [os.path.join(rounds.cache_directory(), f"skim-{events}-{i:03}.root") for i in range(files)]
    for path in paths:
        if not os.path.exists(path):
            shutil.copy(source, path)
    return paths


def stored_bytes(path, wanted):
    """Bytes of the baskets of the columns and their counter in the clusters of one file that have a wanted entry."""
    with uproot.open(path) as file:
        branches = [file["t"][name] for name in ["nC00", *COLUMNS]]
        borders = sorted(set.intersection(*(set(branch.entry_offsets) for branch in branches)))
        touched = [(begin, end) for begin, end in zip(borders, borders[1:]) if wanted[begin:end].any()]
        total = 0
        for branch in branches:
            for i, (begin, end) in enumerate(zip(branch.entry_offsets, branch.entry_offsets[1:])):
                if any(begin < last and first < end for first, last in touched):
                    total += int(branch.member("fBasketBytes")[i])
        return total


def span_of_baskets(path):
    """The part of the file that has baskets: (begin, end)."""
    with uproot.open(path) as file:
        first = min(int(branch.member("fBasketSeek")[0]) for branch in file["t"].branches)
        return first, file.key("t").fSeekKey


CALL = re.compile(r"(read|readv|pread64|preadv2?|lseek)\((\d+)<([^>]*/skim-[^>]*)>.*\)\s+= (\d+)$")


def reads(lines):
    """The reads of the files of the chain in a log of strace, in its order: (offset, bytes)."""
    places = {}
    for line in lines:
        if not (call := CALL.search(line)):
            continue
        name, file, size = call[1], (call[2], call[3]), int(call[4])
        if name == "lseek":
            places[file] = size
        elif name.startswith("p"):
            yield int(re.search(r", (\d+)(, 0)?\)\s+= \d+$", line)[1]), size
        else:
            yield places.get(file, 0), size
            places[file] = places.get(file, 0) + size


def read_bytes(command, out, baskets):
    """Bytes that a command reads from the files of the chain: all, and those in the part of a file that has baskets."""
    if os.path.exists(out):
        os.unlink(out)
    calls = "trace=read,readv,pread64,preadv,preadv2,lseek"
    with tempfile.NamedTemporaryFile(prefix="bench-") as log:
        subprocess.run(["strace", "-f", "-q", "-y", "-s", "0", "-e", calls, "-o", log.name, *command], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(log.name, errors="replace") as file:
            found = list(reads(file))
    return sum(size for _, size in found), sum(size for at, size in found if baskets[0] <= at < baskets[1])


def commands(paths, out, mask, begin, end):
    """{name: the command}."""
    chosen = ["--select", mask] if mask else ["--entries", f"{begin}:{end}"]
    python = lambda code: [sys.executable, "-W", "ignore", "-c", code, out, mask, str(begin), str(end), *paths]
    found = {"repack": [rounds.program(), "repack", "--columns", ",".join(COLUMNS), *chosen, *paths, out],
             "Snapshot": python(SNAPSHOT)}
    try:
        import hepconvert  # noqa: F401
        found["hepconvert, all entries"] = python(HEPCONVERT)
    except ImportError:
        print("hepconvert is left out: it is not installed")
    return found


def compare(title, paths, wanted, mask, span, count):
    out = os.path.join(rounds.cache_directory(), "skimmed.root")
    these = commands(paths, out, mask, *span)
    per_file = len(wanted) // len(paths)
    least = sum(stored_bytes(path, wanted[i * per_file:(i + 1) * per_file]) for i, path in enumerate(paths))
    notes = {}

    def seconds(name):
        taken, notes[name] = measured(these[name], out)
        return taken

    results = rounds.run(count, {name: lambda name=name: seconds(name) for name in these})
    for name, command in these.items():
        total, payload = read_bytes(command, out, span_of_baskets(paths[0]))
        notes[name] += f", reads {total / 1e6:.2f} MB, {payload / 1e6:.2f} MB of baskets = {payload / least:.2f} x"
    rounds.report(title, results, notes)
    os.unlink(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=30)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    paths = chain_of(options.files, options.events)
    for path in paths:
        rounds.warm(path)
    entries = options.files * options.events
    begin, end = entries // 2 + 10, entries // 2 + 10 + entries // 100
    wanted = numpy.zeros(entries, bool)
    wanted[begin:end] = True
    size = sum(os.path.getsize(path) for path in paths) / 1e9
    compare(f"{size:.1f} GB, a range of 1 %", paths, wanted, "", (begin, end), options.rounds)
    with tempfile.NamedTemporaryFile(prefix="bench-", suffix=".npy") as mask:
        chosen = numpy.random.default_rng(1).random(entries) < 0.01
        numpy.save(mask.name, chosen)
        compare(f"{size:.1f} GB, 1 % at random", paths, chosen, mask.name, (0, entries), options.rounds)


if __name__ == "__main__":
    main()
