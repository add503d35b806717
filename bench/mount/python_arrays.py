# SPDX-License-Identifier: Apache-2.0
"""From Python: `arrays` and `iterate` of a table as wide as NanoAOD (1,520 branches), 10 and 50 columns, summed: by
tfilefs.mount, with arrays that are mapped and that are copied, by tfilefs.open, and by uproot.

python_arrays.py [--rounds N] [--entries N] [--step SIZE]     TFILEFS_BIN names the program

Each side is a process of its own that has its libraries imported before the clock runs. Opening, mounting and the end of the
mount count. Sums are compared."""

import argparse
import math
import os
import subprocess
import sys

import rounds
from root_program import compiled, made
from wide import columns

OURS = """
import os, sys, time
sys.path.insert(0, os.environ["TFILEFS_BENCH_PACKAGE"])
import awkward, numpy, tfilefs
def opened(path):
    return (tfilefs.open if sys.argv[4] == "opened" else tfilefs.mount)(path)
more = {"copy": True} if sys.argv[4] == "copied" else {}
"""

UPROOT = """
import sys, time, awkward, numpy, uproot
def opened(path):
    return uproot.open(path)
more = {}
"""

BOTH = """
def total(record):
    return sum(float(numpy.sum(awkward.to_numpy(awkward.flatten(record[name], axis=None)), dtype="f8")) for name in names)
path, names, step = sys.argv[1], sys.argv[2].split(), sys.argv[3]
begin = time.perf_counter()
with opened(path) as file:
    if step == "-":
        found = total(file["t"].arrays(names, **more))
    else:
        found = sum(total(record) for record in file["t"].iterate(names, step_size=step, **more))
print(time.perf_counter() - begin, found)
"""

SIDES = {"tfilefs, mapped": (OURS, "mapped"), "tfilefs, copied": (OURS, "copied"), "tfilefs, opened": (OURS, "opened"), "uproot": (UPROOT, "")}


def run_side(side, path, names, step, sums):
    """Seconds."""
    code, how = SIDES[side]
    done = subprocess.run([sys.executable, "-c", code + BOTH, path, " ".join(names), step, how], env=rounds.python_environment(),
                          check=True, stdout=subprocess.PIPE, text=True)
    seconds, total = map(float, done.stdout.split())
    sums.append(total)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--step", default="2 MB")
    options = parser.parse_args()
    path = os.path.join(rounds.cache_directory(), f"nano-zlib-{options.entries}.root")
    made(path, compiled("wide_peers"), "make", "PATH", "101", str(options.entries))
    rounds.warm(path)
    for call, step in (("arrays", "-"), (f"iterate, {options.step}", options.step)):
        for count in (10, 50):
            names, sums = [name for name, _ in columns(count)], []
            results = rounds.run(options.rounds, {side: lambda side=side: run_side(side, path, names, step, sums) for side in SIDES})
            assert all(math.isclose(each, sums[0], rel_tol=1e-6) for each in sums)
            rounds.report(f"Python: {call}, {count} of 1,520 columns, {options.entries} entries", results)


if __name__ == "__main__":
    main()
