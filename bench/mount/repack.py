# SPDX-License-Identifier: Apache-2.0
"""`tfilefs repack` of a table as wide as NanoAOD: as it is, with another codec, to RNTuple; beside `hadd` and ROOT's
RNTupleImporter, in interleaved rounds. Each has one line: seconds, the largest resident memory, the size of the file.

repack.py [--rounds N] [--entries N] [--slow]

--slow: also hadd with another codec, which takes ten times as long. TFILEFS_BIN names the program."""

import argparse
import os
import subprocess
import sys
import time

import rounds
from root_program import compiled, made, root_directory

SLOW = "hadd -f505"

IMPORTER = """
import sys, ROOT
source, out = sys.argv[1:]
importer = ROOT.Experimental.RNTupleImporter.Create(source, "t", out)
importer.SetIsQuiet(True)
importer.Import()
"""


def commands(source, out):
    """{name: the command}, each of which makes `out` of the same file."""
    repack = lambda *options: [rounds.program(), "repack", *options, source, out]
    hadd = lambda *options: [os.path.join(root_directory(), "bin", "hadd"), "-v", "0", *options, out, source]
    return {
        "hadd -f": hadd("-f"),
        "repack": repack(),
        "repack --compression zstd:5": repack("--compression", "zstd:5"),
        "repack --format rntuple": repack("--format", "rntuple"),
        "repack, 10 columns": repack("--columns", "C00_f0[0-9]"),
        "RNTupleImporter": [sys.executable, "-c", IMPORTER, source, out],
        SLOW: hadd("-f505"),
    }


def measured(command, out):
    """Seconds, and what else it took."""
    if os.path.exists(out):
        os.unlink(out)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=dict(os.environ, PYTHONWARNINGS="ignore"))
    _, process.returncode, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    assert process.returncode == 0, command
    return seconds, f"{used.ru_maxrss / 1024:.0f} MiB of memory, {os.path.getsize(out) / 1e6:.1f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--slow", action="store_true")
    options = parser.parse_args()
    source = os.path.join(rounds.cache_directory(), f"nano-zlib-{options.entries}.root")
    made(source, compiled("wide_peers"), "make", "PATH", "101", str(options.entries))
    rounds.warm(source)
    out, notes = os.path.join(rounds.cache_directory(), "repacked.root"), {}

    def seconds(name, command):
        taken, notes[name] = measured(command, out)
        return taken

    results = rounds.run(options.rounds, {name: lambda name=name, command=command: seconds(name, command)
                                          for name, command in commands(source, out).items() if options.slow or name != SLOW})
    rounds.report(f"{options.entries} entries of 1,520 branches, {os.path.getsize(source) / 1e6:.0f} MB", results, notes)
    os.unlink(out)


if __name__ == "__main__":
    main()
