#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chains of many files, through fresh mounts, and by TChain, RDataFrame and uproot.

chain.py [--files N] [--branches N] [--entries N] [--rounds N] [--far N] [--sides tfilefs,index,ROOT,uproot]

Local: N files of --branches branches of numbers, and three lists. Cases: count and list (mount, ls of the table, the size
of a column; TChain::GetEntries; uproot.num_entries), and one column of all files, on top of that (cat; RDataFrame's sum;
uproot.concatenate). Far: --far of these files by http over a line of 20 ms, in two network namespaces, which needs root
and nginx. `index`: a mount with an index that an earlier one has left. TFILEFS_BIN names the program; files are kept in
~/.cache/tfilefs-bench"""

import argparse
import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time

import rounds

sys.path.insert(0, os.path.join(rounds.HERE, "..", "..", "tests"))

from delayed_network import DelayedNetwork
from http_server import Nginx

RTT_MS, MBIT, PORT = 20, 1000, 8080

MAKE = """
import sys
import awkward, numpy as np, uproot
path, branches, entries = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(1)
lengths = random.integers(0, 4, entries)
columns = {f"b{i}": random.normal(size=entries).astype("f4") for i in range(branches - 3)}
lists = {name: awkward.unflatten(random.normal(size=lengths.sum()).astype("f4"), lengths) for name in ("pt", "eta", "phi")}
with uproot.recreate(path) as file:
    tree = file.mktree("t", {**{name: "f4" for name in columns}, **{name: "var * float32" for name in lists}})
    tree.extend({**columns, **lists})
"""

PEERS = {
    ("ROOT", "count"): "import sys, ROOT; c = ROOT.TChain('t'); [c.Add(f) for f in sys.argv[1:]]; c.GetEntries()",
    ("ROOT", "column"): "import sys, ROOT; ROOT.RDataFrame('t', sys.argv[1:]).Sum('b1').GetValue()",
    ("uproot", "count"): "import sys, uproot; sum(n for *_, n in uproot.num_entries([f + ':t' for f in sys.argv[1:]]))",
    ("uproot", "column"): "import sys, uproot; uproot.concatenate([f + ':t' for f in sys.argv[1:]], ['b1'])",
}


def files_of(options):
    """The files, which are copies: their bytes are their own."""
    directory = os.path.join(rounds.cache_directory(), f"chain-{options.branches}-{options.entries}")
    os.makedirs(directory, exist_ok=True)
    first = os.path.join(directory, "f0000.root")
    if not os.path.exists(first):
        subprocess.run([sys.executable, "-W", "ignore", "-c", MAKE, first + ".new", str(options.branches), str(options.entries)], check=True)
        os.rename(first + ".new", first)
    paths = [os.path.join(directory, f"f{number:04d}.root") for number in range(options.files)]
    for path in paths:
        if not os.path.exists(path):
            shutil.copy(first, path)
    return directory, paths


class Mount:
    """A fresh mount of a chain."""

    def __init__(self, sources, index, near):
        self.directory = tempfile.TemporaryDirectory(prefix="bench-")
        self.path = self.directory.name
        option = "chain" + (f",index={index}" if index else "")
        self.begin = time.perf_counter()
        subprocess.run([*near, rounds.program(), "-o", option, *sources, self.path], check=True, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([rounds.program(), "umount", self.path], check=True)
        self.directory.cleanup()

    def resident(self):
        with open(os.path.join(self.path, ".tfilefs", "config.json")) as config:
            pid = [line for line in config if '"pid"' in line][0].split(":")[1].strip(" ,\n")
        with open(f"/proc/{pid}/status") as status:
            return int([line for line in status if line.startswith("VmHWM")][0].split()[1]) / 1024


def mounted(sources, index=None, near=()):
    """Seconds of counting and listing, and of one column on top of that."""
    with Mount(sources, index, near) as mount:
        table = os.path.join(mount.path, "t")
        os.listdir(table)
        os.stat(os.path.join(table, "b1.f4"))
        counted = time.perf_counter()
        with open(os.path.join(table, "b1.f4"), "rb", buffering=0) as column:
            while column.read(1 << 20):
                pass
        return counted - mount.begin, time.perf_counter() - counted, mount.resident()


def peer(side, case, sources, near):
    return rounds.seconds_of([*near, sys.executable, "-W", "ignore", "-c", PEERS[side, case], *sources])


def measure(title, sources, peers_sources, options, near=()):
    sides = options.sides.split(",")
    count, column, resident = {}, {}, 0
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as kept:
            index = os.path.join(kept, "index")
            for side in ("tfilefs", "index"):
                if side in sides or side == "tfilefs":
                    seconds = mounted(sources, index, near)
                    count.setdefault(side, []).append(seconds[0])
                    column.setdefault(side, []).append(seconds[1])
                    resident = max(resident, seconds[2])
        for side in ("ROOT", "uproot"):
            if side in sides:
                count.setdefault(side, []).append(peer(side, "count", peers_sources, near))
                column.setdefault(side, []).append(peer(side, "column", peers_sources, near))
    rounds.report(f"{title}: count and list", count, {"tfilefs": f"{resident:.0f} MB resident at most"})
    rounds.report(f"{title}: one column", column)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--branches", type=int, default=61)
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--far", type=int, default=100)
    parser.add_argument("--sides", default="tfilefs,index,ROOT,uproot")
    options = parser.parse_args()
    directory, paths = files_of(options)
    measure(f"{len(paths)} files, {options.branches} branches, local", [os.path.join(directory, "f*.root")], paths, options)
    if options.far == 0:
        return
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(DelayedNetwork(rtt_ms=RTT_MS, mbit=MBIT))
        server = stack.enter_context(Nginx(directory, address=network.far_address, port=PORT, prefix=network.command("far")))
        urls = [server.url(os.path.basename(path)) for path in paths[: options.far]]
        # Not every build of ROOT has http, and uproot needs aiohttp for it.
        able = {"tfilefs", "index"} | ({"uproot"} if importlib.util.find_spec("aiohttp") else set())
        options.sides = ",".join(side for side in options.sides.split(",") if side in able)
        measure(f"{len(urls)} files at {RTT_MS} ms", urls, urls, options, network.command("near"))


if __name__ == "__main__":
    main()
