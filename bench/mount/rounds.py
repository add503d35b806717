# SPDX-License-Identifier: Apache-2.0
"""Interleaved rounds of named measurements, their medians, and ratios to the first: the output of each benchmark here.
TFILEFS_BENCH_RESULTS names a directory for plots and numbers, in addition to the printed output."""

import json
import os
import random
import re
import statistics
import subprocess
import time

import plot

HERE = os.path.dirname(os.path.abspath(__file__))


def cache_directory():
    """The directory in which generated files are kept between runs."""
    default = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "tfilefs-bench")
    path = os.environ.get("TFILEFS_BENCH_FILES", default)
    os.makedirs(path, exist_ok=True)
    return path


def program():
    return os.path.realpath(os.environ.get("TFILEFS_BIN", os.path.join(HERE, "..", "..", "build", "fs", "tfilefs")))


def python_environment():
    """Of a process that imports the Python package of these sources: TFILEFS_BENCH_PACKAGE is where it is."""
    package = os.path.join(HERE, "..", "..", "packaging", "python", "src")
    return dict(os.environ, TFILEFS=program(), TFILEFS_BENCH_PACKAGE=package, PYTHONWARNINGS="ignore")


def warm(path):
    """Reads all of the file into the page cache."""
    with open(path, "rb") as file:
        while file.read(1 << 22):
            pass


def seconds_of(command, **more):
    """Wall time of a command, which must succeed."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **more)
    return time.perf_counter() - begin


def seconds_in(call):
    """Wall time of a call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def run(rounds, measurements):
    """{name: [seconds]}: each measurement once per round, so that a slow minute of the machine affects all of them. The
    order differs each time: a program that runs after another freed much memory waits until the machine has reclaimed
    it."""
    results, order = {name: [] for name in measurements}, random.Random(1)
    for _ in range(rounds):
        for name in order.sample(list(measurements), len(measurements)):
            results[name].append(measurements[name]())
    return results


def report(title, results, notes={}):
    """Prints medians, spread, ratios to the median of the first, and what `notes` has to say of a name."""
    print(f"\n{title}")
    first = statistics.median(next(iter(results.values())))
    for name, times in results.items():
        median = statistics.median(times)
        print(f"  {name:<42} {median * 1000:9.1f} ms   [{min(times) * 1000:.1f} .. {max(times) * 1000:.1f}]   {median / first:6.2f} x   "
              f"{notes.get(name, '')}".rstrip())
    keep(title, {name: statistics.median(times) * 1000 for name, times in results.items()}, "ms")


def keep(title, values, unit):
    """Draws {name: value}, and writes it as JSON, if TFILEFS_BENCH_RESULTS is set."""
    directory = os.environ.get("TFILEFS_BENCH_RESULTS")
    if not directory:
        return
    stem = os.path.join(directory, re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-"))
    with open(stem + ".svg", "w") as file:
        file.write(plot.bars(title, values, unit))
    with open(stem + ".json", "w") as file:
        json.dump({"title": title, "unit": unit, "values": values}, file, indent=1)
