# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack` of a table as wide as NanoAOD: as it is, with another codec, to RNTuple; beside `hadd` and ROOT's
RNTupleImporter, in interleaved rounds. Each has one line: seconds, the largest resident memory, the size of the file.

repack.py [--rounds N] [--entries N] [--slow]

--slow: also hadd with another codec, which takes ten times as long. TFILEFS_BIN names the program."""

import argparse
import importlib.util
import os
import subprocess
import sys
import time

import rounds
from root_program import compiled, made

IMPORTER = """
import sys, ROOT
source, out = sys.argv[1:]
importer = ROOT.Experimental.RNTupleImporter.Create(source, "t", out)
importer.SetIsQuiet(True)
importer.Import()
"""


def hadd():
    return os.path.join(os.path.dirname(importlib.util.find_spec("ROOT").origin), "bin", "hadd")


class Ways:
    """Each makes `out` of the same file; notes tell what it took."""

    def __init__(self, source):
        self.source, self.out, self.notes = source, os.path.join(rounds.cache_directory(), "repacked.root"), {}

    def run(self, name, *command):
        if os.path.exists(self.out):
            os.unlink(self.out)
        begin = time.perf_counter()
        work = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=dict(os.environ, PYTHONWARNINGS="ignore"))
        _, status, used = os.wait4(work.pid, 0)
        seconds = time.perf_counter() - begin
        work.returncode = status
        assert status == 0, command
        self.notes[name] = f"{used.ru_maxrss / 1024:.0f} MiB of memory, {os.path.getsize(self.out) / 1e6:.1f} MB"
        return seconds

    def repack(self, name, *options):
        return lambda: self.run(name, rounds.program(), "repack", *options, self.source, self.out)

    def hadd(self, name, *options):
        return lambda: self.run(name, hadd(), "-v", "0", *options, self.out, self.source)

    def importer(self, name):
        return lambda: self.run(name, sys.executable, "-c", IMPORTER, self.source, self.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--slow", action="store_true")
    options = parser.parse_args()
    source = os.path.join(rounds.cache_directory(), f"nano-zlib-{options.entries}.root")
    made(source, compiled("wide_peers"), "make", "PATH", "101", str(options.entries))
    rounds.warm(source)
    ways = Ways(source)
    measurements = {"hadd -f": ways.hadd("hadd -f", "-f"), "repack": ways.repack("repack"),
                    "repack --compression zstd:5": ways.repack("repack --compression zstd:5", "--compression", "zstd:5"),
                    "repack --format rntuple": ways.repack("repack --format rntuple", "--format", "rntuple"),
                    "repack, 10 columns": ways.repack("repack, 10 columns", "--columns", "C00_f0[0-9]"),
                    "RNTupleImporter": ways.importer("RNTupleImporter")}
    if options.slow:
        measurements["hadd -f505"] = ways.hadd("hadd -f505", "-f505")
    results = rounds.run(options.rounds, measurements)
    rounds.report(f"{options.entries} entries of 1,520 branches, {os.path.getsize(source) / 1e6:.0f} MB", results, ways.notes)
    os.unlink(ways.out)


main()
