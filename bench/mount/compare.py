# SPDX-License-Identifier: Apache-2.0
"""Whole columns into memory and summed: through a fresh mount, against ROOT's ways of reading, uproot, and what the codec
itself allows on two cores. Rounds are interleaved; the table gives medians and their ratio to ours.

compare.py [--rounds N] [--entries N] [--files column,dimuon] [--codecs zlib,lz4,zstd,none]

TFILEFS_BIN names the program, TFILEFS_BENCH_BUILD the build directory of the benchmarks (default: build/ with
-DTFILEFS_BENCH=ON). Files are made by ROOT and kept in ~/.cache/tfilefs-bench.

The two-core bound: seconds of decoding on two threads, of reading the stored bytes, and of copying the decoded bytes out of
the daemon and into the client, each measured alone in the same run; the last two are CPU seconds that two cores share. The
client is one thread: what it takes when the daemon holds everything decoded is a limit of its own."""

import argparse
import os
import sys

import rounds
from mount import Mount, build_directory, output
from root_program import compiled, made

CODECS = {"zlib": 101, "lz4": 404, "zstd": 505, "none": 0}
COLUMNS = {"column": ["x:f4"], "dimuon": ["px:f4", "py:f4", "pz:f4", "mass:f8"]}
WAYS = {
    "ROOT GetEntry": "getentry",
    "ROOT TTreeReader": "reader",
    "ROOT RDataFrame": "rdf",
    "ROOT RDataFrame, 2 threads": "rdf2",
    "ROOT bulk": "bulk",
    "ROOT bulk, 2 threads": "bulk2",
    "RNTuple ReadBulk": "ntuple",
    "RNTuple ReadBulk, 2 threads": "ntuple2",
}

UPROOT = """
import sys, time, concurrent.futures, uproot
path, threads, names = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None
begin = time.perf_counter()
with uproot.open(path) as file:
    arrays = file["t"].arrays(names, library="np", decompression_executor=pool)
total = sum(float(arrays[name].sum(dtype="f8")) for name in names)
print(time.perf_counter() - begin, total)
"""

def make_files(kind, codec, entries):
    stem = os.path.join(rounds.cache_directory(), f"{kind}-{codec}-{entries}")
    tree = made(stem + ".root", compiled("peers"), f"make-{kind}", "PATH", str(codec), str(entries))
    ntuple = made(stem + ".ntuple.root", compiled("peers"), "import", tree, "t", "PATH", str(codec))
    return tree, ntuple


class Comparison:
    def __init__(self, kind, codec, entries):
        self.tree, self.ntuple = make_files(kind, codec, entries)
        self.columns = COLUMNS[kind]
        self.names = [column.split(":")[0] for column in self.columns]
        self.sums = {}

    def paths(self, mount):
        """NAME:TYPE becomes PATH:TYPE of the column's file."""
        return [f"{mount.path}/t/{column.replace(':', '.')}:{column[-2:]}" for column in self.columns]

    def cold(self):
        with Mount(self.tree) as mount:
            wall, _, self.sums["tfilefs"] = output(os.path.join(build_directory(), "bench", "column_sum"),
                                                   *self.paths(mount))
            return wall

    def bound(self):
        """Seconds that two cores need at least: decoding on both, and half of what one at a time does."""
        decode = os.path.join(build_directory(), "bench", "table_decode")
        reading, decoding, *_ = output(decode, self.tree, "t", "2", *self.names)
        with Mount(self.tree) as mount:
            summing = [os.path.join(build_directory(), "bench", "column_sum"), *self.paths(mount)]
            # What it was asked for twice it holds, decoded.
            for _ in range(2):
                output(summing[0], "--drop", *summing[1:])
            before = mount.daemon_cpu()
            wall, client, _ = output(summing[0], "--drop", *summing[1:])
            copying = client + mount.daemon_cpu() - before
        self.client_alone = wall
        return decoding + (reading + copying) / 2

    def peer(self, name, way):
        path = self.ntuple if way.startswith("ntuple") else self.tree
        seconds, self.sums[name] = output(compiled("peers"), way, path, "t", *self.columns)
        return seconds

    def uproot(self, threads):
        seconds, self.sums[f"uproot {threads}"] = output(sys.executable, "-W", "ignore", "-c", UPROOT, self.tree,
                                                         str(threads), *self.names)
        return seconds

    def run(self, count):
        rounds.warm(self.tree)
        rounds.warm(self.ntuple)
        measurements = {"tfilefs, fresh mount": self.cold, "two-core bound": self.bound,
                        "client alone, all decoded before": lambda: self.client_alone}
        for name, way in WAYS.items():
            measurements[name] = lambda name=name, way=way: self.peer(name, way)
        for threads in (1, 2):
            measurements[f"uproot, {threads} thread{'s' if threads > 1 else ''}"] = lambda t=threads: self.uproot(t)
        results = rounds.run(count, measurements)
        reference = self.sums["tfilefs"]
        for name, value in self.sums.items():
            # Threads add up in another order.
            assert abs(value - reference) <= 1e-9 * abs(reference), f"{name} sums to {value}, tfilefs to {reference}"
        return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--files", default="column,dimuon")
    parser.add_argument("--codecs", default="zlib,lz4,zstd,none")
    options = parser.parse_args()
    for kind in options.files.split(","):
        for codec in options.codecs.split(","):
            results = Comparison(kind, CODECS[codec], options.entries).run(options.rounds)
            rounds.report(f"{kind}, {codec}: {options.entries} entries of {', '.join(COLUMNS[kind])}", results)


main()
