# SPDX-License-Identifier: Apache-2.0
"""The same 400 MB as events of 40 bytes to 4 MB (one branch of float arrays, LZ4), read completely: through a fresh
mount and by ROOT's GetEntry, all sizes in each round. After "Optimizing ROOT IO for analysis", CHEP 2016 proceedings
(2017).

event_size.py [--rounds N] [--megabytes N]

TFILEFS_BIN names the program, TFILEFS_BENCH_BUILD the build directory of the benchmarks (build/ with
-DTFILEFS_BENCH=ON)."""

import argparse
import os

import rounds
from mount import Mount, build_directory, output
from root_program import compiled, made

FLOATS = [10, 100, 1000, 10_000, 100_000, 1_000_000]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=400)
    options = parser.parse_args()
    sums = {}

    def cold(path, floats):
        with Mount(path) as mount:
            column = f"{mount.path}/t/x.f4x{floats}:f4"
            wall, _, sums["tfilefs", floats] = output(os.path.join(build_directory(), "bench", "column_sum"), column)
            return wall

    def get_entry(path, floats):
        wall, sums["ROOT", floats] = output(compiled("event_peers"), "getentry", path)
        return wall

    ours, peers = {}, {}
    for floats in FLOATS:
        path = os.path.join(rounds.cache_directory(), f"events-{floats}-{options.megabytes}.root")
        made(path, compiled("event_peers"), "make", "PATH", "404", str(options.megabytes), str(floats))
        rounds.warm(path)
        ours[f"events of {4 * floats} bytes"] = lambda path=path, floats=floats: cold(path, floats)
        peers[f"events of {4 * floats} bytes, ROOT GetEntry"] = lambda path=path, floats=floats: get_entry(path, floats)
    results = rounds.run(options.rounds, {**ours, **peers})
    for floats in FLOATS:
        assert abs(sums["tfilefs", floats] - sums["ROOT", floats]) <= 1e-9 * abs(sums["ROOT", floats])
    rounds.report(f"{options.megabytes} MB in events of different sizes, LZ4", results)


main()
