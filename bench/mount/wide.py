# SPDX-License-Identifier: Apache-2.0
"""A table as wide as NanoAOD (1,520 branches, most of them jagged): 10 columns, 50, and all, summed: through a fresh
mount, by TTreeReader, and by uproot on two threads. The clock runs from open(2), after the mount answers and the client
has started.

wide.py [--mounted tree|rntuple] [--rounds N] [--entries N] [--codecs zlib,zstd]

--mounted rntuple: the table as an RNTuple, imported from the tree. Its peers are RNTupleReader's typed views, with all
columns of an entry and then the next, and RDataFrame on two threads.

TFILEFS_BIN names the program, TFILEFS_BENCH_BUILD the build directory of the benchmarks (build/ with
-DTFILEFS_BENCH=ON)."""

import argparse
import os
import sys
import tempfile

import rounds
from mount import Mount, build_directory, output
from root_program import compiled, made

CODECS = {"zlib": 101, "lz4": 404, "zstd": 505}
COLLECTIONS, FLOATS, INTS, FLAGS = 20, 30, 10, 700
WAYS = {
    "tree": {"TTreeReader": "reader"},
    "rntuple": {"RNTupleReader, views": "views", "RDataFrame, 2 threads": "rdf2"},
}

UPROOT = """
import sys, time, concurrent.futures, numpy, uproot, awkward
path, names = sys.argv[1], [line.split()[0] for line in open(sys.argv[2])]
pool = concurrent.futures.ThreadPoolExecutor(2)
begin = time.perf_counter()
with uproot.open(path) as file:
    arrays = file["t"].arrays(names, library="ak", how=dict, decompression_executor=pool, interpretation_executor=pool)
total = sum(float(numpy.sum(awkward.to_numpy(awkward.flatten(array, axis=None)), dtype="f8")) for array in arrays.values())
print(time.perf_counter() - begin, total)
"""


def columns(count, counter="i4"):
    """(name, type) of that many columns, spread over the table as in an analysis."""
    if count is None:
        for c in range(COLLECTIONS):
            yield f"nC{c:02d}", counter
            yield from ((f"C{c:02d}_f{i:02d}", "f4[]") for i in range(FLOATS))
            yield from ((f"C{c:02d}_i{i:02d}", "i4[]") for i in range(INTS))
        yield from ((f"HLT_{i:03d}", "b1") for i in range(FLAGS))
    elif count == 10:
        yield from ((f"C{c:02d}_f{i:02d}", "f4[]") for c in (0, 8) for i in range(4))
        yield from ((f"HLT_{i:03d}", "b1") for i in (100, 300))
    else:
        yield from ((f"C{c:02d}_f{i:02d}", "f4[]") for c in (0, 3, 8, 12, 17) for i in range(8))
        yield from ((f"HLT_{i:03d}", "b1") for i in range(50, 450, 40))


class Selection:
    def __init__(self, path, count, directory, counter):
        self.path = path
        self.list = os.path.join(directory, f"columns-{count}")
        self.wanted = list(columns(count, counter))
        with open(self.list, "w") as file:
            file.writelines(f"{name} {kind}\n" for name, kind in self.wanted)
        self.sums = {}

    def files(self, mount):
        """The files that the client reads, in its order: offsets (not summed) and values."""
        for name, kind in self.wanted:
            if kind.endswith("[]"):
                yield f"{mount}/t/{name}/offsets.i8:-"
                yield f"{mount}/t/{name}/values.{kind[:2]}:{kind[:2]}"
            else:
                yield f"{mount}/t/{name}.{kind}:{kind.replace('u4', 'i4')}"

    def cold(self):
        with Mount(self.path) as mount:
            with open(self.list + ".files", "w") as file:
                file.writelines(line + "\n" for line in self.files(mount.path))
            os.listdir(os.path.join(mount.path, "t"))
            wall, _, self.sums["tfilefs"] = output(os.path.join(build_directory(), "bench", "column_sum"), "--list", file.name)
            return wall

    def root(self, name, way):
        seconds, self.sums[name] = output(compiled("wide_peers"), way, self.path, self.list)
        return seconds

    def uproot(self):
        seconds, self.sums["uproot"] = output(sys.executable, "-W", "ignore", "-c", UPROOT, self.path, self.list)
        return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--codecs", default="zlib,zstd")
    parser.add_argument("--mounted", choices=WAYS, default="tree")
    options = parser.parse_args()
    what, counter = ("wide RNTuple", "u4") if options.mounted == "rntuple" else ("wide table", "i4")
    for codec in options.codecs.split(","):
        path = os.path.join(rounds.cache_directory(), f"nano-{codec}-{options.entries}.root")
        made(path, compiled("wide_peers"), "make", "PATH", str(CODECS[codec]), str(options.entries))
        if options.mounted == "rntuple":
            path = made(path[:-4] + "ntuple.root", compiled("peers"), "import", path, "t", "PATH", str(CODECS[codec]))
        with tempfile.TemporaryDirectory(prefix="bench-") as directory:
            for count in (10, 50, None):
                selection = Selection(path, count, directory, counter)
                rounds.warm(path)
                measurements = {"tfilefs, fresh mount": selection.cold}
                for name, way in WAYS[options.mounted].items():
                    measurements[name] = lambda name=name, way=way: selection.root(name, way)
                if options.mounted == "tree":
                    measurements["uproot, 2 threads"] = selection.uproot
                results = rounds.run(options.rounds, measurements)
                reference = selection.sums["tfilefs"]
                for name, value in selection.sums.items():
                    assert abs(value - reference) <= 1e-9 * abs(reference), f"{name} sums to {value}, tfilefs to {reference}"
                rounds.report(f"{codec}: {count or 'all'} columns of a {what}, {options.entries} entries", results)


if __name__ == "__main__":
    main()
