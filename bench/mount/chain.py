#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chains of many files, through fresh mounts, and by TChain, RDataFrame and uproot.

chain.py [PART ...] [--files N] [--branches N] [--entries N] [--rounds N] [--remote N] [--sides tfilefs,index,ROOT,uproot] [--realtime]

  local   N files of --branches branches of numbers, and three lists: count and list (mount, ls of the table, the size of
          a column; TChain::GetEntries; uproot.num_entries), and one column of all files, on top of that (cat;
          RDataFrame's sum; uproot.concatenate). `index`: a mount with an index that an earlier one has left
  remote     the same of --remote of these files over a line of 20 ms, by HTTP and XRootD, in two network namespaces, which
          needs root, nginx and xrootd
  wide    the same of --files files of 1,496 branches (hard links of one), and the memory that the mount takes
  random  random reads of 4 KiB of a column of these, against those of a column of one file of as many entries: in the
          kernel's pages; and in the memory of the mount, whose pages in the kernel were dropped
  duckdb  DuckDB's avg of a column of 200 of the files as one Parquet file, against 200 native Parquet files

TFILEFS_BIN names the program; files are kept in ~/.cache/tfilefs-bench. With --realtime mounts and readers run under
`chrt -r 5`, so that other work on the machine affects no side."""

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
from mount import Mount

sys.path.insert(0, os.path.join(rounds.HERE, "..", "..", "tests"))

from delayed_network import DelayedNetwork
from http_server import Nginx
from xrootd_server import XrootdServer

RTT_MS, MBIT, PORT = 20, 1000, 8080
WIDE_BRANCHES, DUCKDB_FILES = 1496, 200
READS, READ_SIZE = 4000, 4096

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


def made(branches, entries):
    """A directory for files of this kind, and the first of them."""
    directory = os.path.join(rounds.cache_directory(), f"chain-{branches}-{entries}")
    os.makedirs(directory, exist_ok=True)
    first = os.path.join(directory, "f0000.root")
    if not os.path.exists(first):
        subprocess.run([sys.executable, "-W", "ignore", "-c", MAKE, first + ".new", str(branches), str(entries)], check=True)
        os.rename(first + ".new", first)
    return directory, first


def files_of(branches, entries, count, copy=shutil.copy):
    """The directory of so many files. Their bytes are their own if they are copies."""
    directory, first = made(branches, entries)
    names = [f"f{number:04d}.root" for number in range(count)]
    for name in set(os.listdir(directory)) - set(names):
        os.remove(os.path.join(directory, name))
    for name in names:
        if not os.path.exists(os.path.join(directory, name)):
            copy(first, os.path.join(directory, name))
    return directory, [os.path.join(directory, name) for name in names]


def chained(sources, index=None, near=()):
    """A fresh mount of a chain."""
    return Mount(*sources, options=["-o", "chain" + (f",index={index}" if index else "")], prefix=near)


def mounted(sources, index=None, near=()):
    """Seconds of counting and listing, and of one column on top of that."""
    begin = time.perf_counter()
    with chained(sources, index, near) as mount:
        table = os.path.join(mount.path, "t")
        os.listdir(table)
        os.stat(os.path.join(table, "b1.f4"))
        counted = time.perf_counter()
        with open(os.path.join(table, "b1.f4"), "rb", buffering=0) as column:
            while column.read(1 << 20):
                pass
        return counted - begin, time.perf_counter() - counted, mount.peak_memory() / 1024


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


def local(options):
    directory, paths = files_of(options.branches, options.entries, options.files)
    measure(f"{len(paths)} files, {options.branches} branches, local", [os.path.join(directory, "f*.root")], paths, options, options.prefix)


def remote(options):
    directory, paths = files_of(options.branches, options.entries, options.files)
    paths = paths[: options.remote]
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(DelayedNetwork(rtt_ms=RTT_MS, mbit=MBIT))
        server = stack.enter_context(Nginx(directory, address=network.remote_address, port=PORT, prefix=network.command("remote")))
        xrootd = stack.enter_context(XrootdServer(address=network.remote_address, prefix=network.command("remote")))
        near = [*network.command("near"), *options.prefix]
        for protocol, urls in (("http", [server.url(os.path.basename(path)) for path in paths]), ("root", [xrootd.put(path) for path in paths])):
            # Not every build of ROOT has http, and uproot needs aiohttp for it, and fsspec-xrootd.
            able = {"tfilefs", "index"}
            if importlib.util.find_spec("aiohttp" if protocol == "http" else "fsspec_xrootd"):
                able.add("uproot")
            if protocol == "root":
                able.add("ROOT")
            sides = [side for side in options.sides.split(",") if side in able]
            measure(f"{len(urls)} files at {RTT_MS} ms, {protocol}", urls, urls, argparse.Namespace(rounds=options.rounds, sides=",".join(sides)), near)


def wide(options):
    directory, paths = files_of(WIDE_BRANCHES, options.entries, options.files, os.link)
    sides = argparse.Namespace(rounds=options.rounds, sides="tfilefs,index")
    measure(f"{len(paths)} files, {WIDE_BRANCHES} branches", [os.path.join(directory, "f*.root")], paths, sides, options.prefix)


class RandomReads:
    """Reads of a column at random places. They are made by a process of their own, which makes nothing else."""

    READ = """
import os, random, sys, time
path, reads, size, drops = sys.argv[1], *map(int, sys.argv[2:])
file = os.open(path, os.O_RDONLY)
places = random.Random(1)
whole = os.fstat(file).st_size
if drops:
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
begin = time.perf_counter()
for _ in range(reads):
    os.pread(file, size, places.randrange(whole - size))
print(time.perf_counter() - begin)
"""

    def __init__(self, column, prefix):
        self._command = [*prefix, sys.executable, "-c", self.READ, column, str(READS), str(READ_SIZE)]
        rounds.warm(column)
        self.seconds(True)

    def seconds(self, drops):
        return float(subprocess.run([*self._command, str(int(drops))], check=True, capture_output=True, text=True).stdout)


def random_reads(options):
    directory, _ = files_of(WIDE_BRANCHES, options.entries, options.files, os.link)
    _, one = made(8, options.entries * options.files)
    with chained([os.path.join(directory, "f*.root")], near=options.prefix) as chain, chained([one], near=options.prefix) as single:
        reads = {name: RandomReads(os.path.join(mount.path, "t", "b1.f4"), options.prefix)
                 for name, mount in (("one file", single), ("chain", chain))}
        for title, drops in (("in the kernel's pages", False), ("in the memory of the mount", True)):
            sides = {name: lambda of=of: of.seconds(drops) for name, of in reads.items()}
            rounds.report(f"{READS} random reads of {READ_SIZE} bytes, {title}", rounds.run(options.rounds, sides))
        print(f"  {chain.peak_memory() / 1024:.0f} MB resident at most")


def average(path):
    import duckdb

    return duckdb.sql(f"select avg(b1) from '{path}'").fetchall()[0][0]


def ask_duckdb(options):
    import pyarrow.feather
    import pyarrow.parquet

    _, paths = files_of(options.branches, options.entries, options.files)
    paths = paths[:DUCKDB_FILES]
    with tempfile.TemporaryDirectory(dir=rounds.cache_directory()) as native, chained(paths) as mount:
        for name in os.listdir(os.path.join(mount.path, ".files")):
            table = pyarrow.feather.read_table(os.path.join(mount.path, ".files", name, "t.arrow"))
            pyarrow.parquet.write_table(table, os.path.join(native, name + ".parquet"), compression="none", use_dictionary=False)
        sides = {"native Parquet": os.path.join(native, "*.parquet"), "chain": os.path.join(mount.path, "t.parquet")}
        assert len({round(average(path), 6) for path in sides.values()}) == 1
        timed = {name: lambda path=path: rounds.seconds_in(lambda: average(path)) for name, path in sides.items()}
        rounds.report(f"DuckDB: avg of a column of {len(paths)} files, again", rounds.run(2 * options.rounds, timed))

        def fresh():
            with chained(paths) as new:
                os.listdir(os.path.join(new.path, "t"))
                return rounds.seconds_in(lambda: average(os.path.join(new.path, "t.parquet")))

        rounds.report(f"DuckDB: avg of a column of {len(paths)} files, through a fresh mount",
                      rounds.run(options.rounds, {"native Parquet": timed["native Parquet"], "chain": fresh}))


PARTS = {"local": local, "remote": remote, "wide": wide, "random": random_reads, "duckdb": ask_duckdb}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--branches", type=int, default=61)
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--remote", type=int, default=100)
    parser.add_argument("--sides", default="tfilefs,index,ROOT,uproot")
    parser.add_argument("--realtime", action="store_true")
    options = parser.parse_args()
    options.prefix = ["chrt", "-r", "5"] if options.realtime else []
    for part in options.parts:
        PARTS[part](options)


if __name__ == "__main__":
    main()
