# SPDX-License-Identifier: Apache-2.0
"""Whole columns into memory and summed: through a fresh mount, against ROOT's ways of reading, uproot, and the bound of
the codec itself on two cores. Rounds are interleaved; the table gives medians and their ratio to ours.

compare.py [--mounted tree|rntuple] [--again] [--rounds N] [--entries N] [--files column,dimuon]
           [--codecs zlib,lz4,zstd,none]

TFILEFS_BIN names the program, TFILEFS_BENCH_BUILD the build directory of the benchmarks (default: build/ with
-DTFILEFS_BENCH=ON). Files are made by ROOT and kept in ~/.cache/tfilefs-bench.

The two-core bound: the seconds of decoding on two threads, of reading the stored bytes, and of copying the decoded
bytes out of the daemon and into the client, each measured alone in the same run. The last two are CPU seconds that two
cores share. The client has one thread: its time when the daemon holds everything decoded is a limit of its own.

--mounted rntuple: the mount, the bound and uproot read the same data as an RNTuple, whose peers are ROOT's ways of
reading one.

--again: prints a second table, of the times when every side does the same once more, each from open(2) to the sum:
through the same mount, whose columns the kernel and the daemon may still hold, and in the same process of a peer, which
opens the file again. No peer keeps decoded columns, so it only saves the start of its libraries. Files are always in
the page cache."""

import argparse
import os
import sys

import rounds
from mount import Mount, build_directory, output
from root_program import compiled, made

CODECS = {"zlib": 101, "lz4": 404, "zstd": 505, "none": 0}
COLUMNS = {"column": ["x:f4"], "dimuon": ["px:f4", "py:f4", "pz:f4", "mass:f8"]}
TREE_WAYS = {
    "ROOT GetEntry": "getentry",
    "ROOT TTreeReader": "reader",
    "ROOT RDataFrame": "rdf",
    "ROOT RDataFrame, 2 threads": "rdf2",
    "ROOT bulk": "bulk",
    "ROOT bulk, 2 threads": "bulk2",
}
NTUPLE_WAYS = {
    "RNTuple views": "views",
    "RNTuple ReadBulk": "ntuple",
    "RNTuple ReadBulk, 2 threads": "ntuple2",
    "RNTuple ReadBulk, 2 readers": "ntuple-halves",
}
CLIENT_ALONE = "client alone, all decoded before"  # measured with the bound

UPROOT = """
import sys, time, concurrent.futures, uproot
path, threads, times, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None
for _ in range(times):
    begin = time.perf_counter()
    with uproot.open(path) as file:
        arrays = file["t"].arrays(names, library="np", decompression_executor=pool)
    total = sum(float(arrays[name].sum(dtype="f8")) for name in names)
    print(time.perf_counter() - begin)
    del arrays
print(total)
"""

def make_files(kind, codec, entries):
    stem = os.path.join(rounds.cache_directory(), f"{kind}-{codec}-{entries}")
    tree = made(stem + ".root", compiled("peers"), f"make-{kind}", "PATH", str(codec), str(entries))
    ntuple = made(stem + ".ntuple.root", compiled("peers"), "import", tree, "t", "PATH", str(codec))
    return tree, ntuple


class Comparison:
    def __init__(self, kind, codec, options):
        self.tree, self.ntuple = make_files(kind, codec, options.entries)
        self.mounted = {"tree": self.tree, "rntuple": self.ntuple}[options.mounted]
        self.ways = {"tree": TREE_WAYS | NTUPLE_WAYS, "rntuple": NTUPLE_WAYS}[options.mounted]
        self.times = 2 if options.again else 1
        self.columns = COLUMNS[kind]
        self.names = [column.split(":")[0] for column in self.columns]
        self.sums, self.again, self.client_alone = {}, {}, []

    def paths(self, mount):
        """Converts NAME:TYPE to PATH:TYPE of the column's file."""
        return [f"{mount.path}/t/{column.replace(':', '.')}:{column[-2:]}" for column in self.columns]

    def first(self, name, seconds, total):
        """The seconds of the first time; those of a second time are stored."""
        self.sums[name] = total
        if len(seconds) > 1:
            self.again.setdefault(name, []).append(seconds[1])
        return seconds[0]

    def cold(self):
        with Mount(self.mounted) as mount:
            summing = [os.path.join(build_directory(), "bench", "column_sum"), *self.paths(mount)]
            results = [output(*summing) for _ in range(self.times)]
        return self.first("tfilefs", [wall for wall, *_ in results], results[-1][-1])

    def bound(self):
        """The minimum time for two cores: decoding on both, and half of the work that one core does at a time."""
        decode = os.path.join(build_directory(), "bench", "table_decode")
        reading, decoding, *_ = output(decode, self.mounted, "t", "2", *self.names)
        with Mount(self.mounted) as mount:
            summing = [os.path.join(build_directory(), "bench", "column_sum"), *self.paths(mount)]
            # After the second request, the daemon holds the decoded columns.
            for _ in range(2):
                output(summing[0], "--drop", *summing[1:])
            before = mount.daemon_cpu()
            wall, client, _ = output(summing[0], "--drop", *summing[1:])
            copying = client + mount.daemon_cpu() - before
        self.client_alone.append(wall)
        return decoding + (reading + copying) / 2

    def peer(self, name, way):
        path = self.ntuple if name in NTUPLE_WAYS else self.tree
        again = ["--again"] if self.times > 1 else []
        *seconds, total = output(compiled("peers"), *again, way, path, "t", *self.columns)
        return self.first(name, seconds, total)

    def uproot(self, name, threads):
        *seconds, total = output(sys.executable, "-W", "ignore", "-c", UPROOT, self.mounted, str(threads), str(self.times),
                                 *self.names)
        return self.first(name, seconds, total)

    def run(self, count):
        rounds.warm(self.tree)
        rounds.warm(self.ntuple)
        measurements = {"tfilefs, fresh mount": self.cold, "two-core bound": self.bound, CLIENT_ALONE: lambda: None}
        for name, way in self.ways.items():
            measurements[name] = lambda name=name, way=way: self.peer(name, way)
        for name, threads in {"uproot, 1 thread": 1, "uproot, 2 threads": 2}.items():
            measurements[name] = lambda name=name, threads=threads: self.uproot(name, threads)
        results = rounds.run(count, measurements)
        results[CLIENT_ALONE] = self.client_alone
        reference = self.sums["tfilefs"]
        for name, value in self.sums.items():
            # Threads sum in a different order.
            assert abs(value - reference) <= 1e-9 * abs(reference), f"{name} sums to {value}, tfilefs to {reference}"
        again = {name: self.again[name] for name in ("tfilefs", *measurements) if name in self.again}
        return results, again


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--files", default="column,dimuon")
    parser.add_argument("--codecs", default="zlib,lz4,zstd,none")
    parser.add_argument("--mounted", choices=("tree", "rntuple"), default="tree")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    for kind in options.files.split(","):
        for codec in options.codecs.split(","):
            results, again = Comparison(kind, CODECS[codec], options).run(options.rounds)
            what = f"{kind} as RNTuple" if options.mounted == "rntuple" else kind
            title = f"{what}, {codec}: {options.entries} entries of {', '.join(COLUMNS[kind])}"
            rounds.report(title, results)
            if again:
                rounds.report(title + ", again", again)


if __name__ == "__main__":
    main()
