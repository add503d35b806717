# SPDX-License-Identifier: Apache-2.0
"""Decoding a column of 80 MB on one thread and on two, only the library, for each codec: wall and CPU seconds.

parallel.py [--rounds N] [--entries N] [--codecs zlib,lz4,zstd,none]

TFILEFS_BENCH_BUILD names the build directory of the benchmarks (build/ with -DTFILEFS_BENCH=ON)."""

import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mount"))
import rounds
from mount import build_directory, output
from root_program import compiled, made

CODECS = {"zlib": 101, "lz4": 404, "zstd": 505, "none": 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--codecs", default="zlib,lz4,zstd,none")
    options = parser.parse_args()
    decode = os.path.join(build_directory(), "bench", "table_decode")
    for codec in options.codecs.split(","):
        path = os.path.join(rounds.cache_directory(), f"column-{CODECS[codec]}-{options.entries}.root")
        made(path, compiled("peers"), "make-column", "PATH", str(CODECS[codec]), str(options.entries))
        runs = {1: [], 2: []}
        for _ in range(options.rounds):
            for threads, results in runs.items():
                _, wall, _, cpu = output(decode, path, "t", str(threads), "x")
                results.append((wall, cpu))
        wall, cpu = ([statistics.median(run[i] for run in runs[threads]) for threads in (1, 2)] for i in (0, 1))
        print(f"{codec:<5} one thread {wall[0] * 1000:7.1f} ms; two: {wall[1] / wall[0]:.2f} of its time, {cpu[1] / cpu[0]:.2f} of its CPU")
        rounds.keep(f"decoding, {codec}", {"one thread": wall[0] * 1000, "two threads": wall[1] * 1000}, "ms")


main()
