# SPDX-License-Identifier: Apache-2.0
"""Collections of hits, and of pointers to hits, of every sort and split level: all of their columns through a fresh mount,
against ROOT's compiled reading into objects and uproot. Rounds are interleaved; the table gives medians in ms. Of each
process of a peer the better of two reads counts: what it loads and compiles at the first is not what is measured.

zoo.py [--rounds N] [--entries N] [--kinds vector,vector*,...] [--compressions 0,1]

TFILEFS_BIN names the program. Files are made by ROOT and kept in ~/.cache/tfilefs-bench. n/a: the peer cannot write or read
it."""

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import rounds

COLLECTIONS = ["vector", "list", "deque", "set", "multiset", "map", "multimap"]
KINDS = ["TClonesArray", *COLLECTIONS, *(name + "*" for name in COLLECTIONS)]
FORMS = [(0, "object-wise"), (0, "member-wise"), (99, ""), (25599, "")]  # split level, how an unsplit one is streamed
SECONDS_MAX = 5  # a peer that takes longer is not asked again
LIBRARIES = "Core RIO Tree Net Hist MathCore Thread Imt".split()

UPROOT = """
import sys, time, uproot
best = 1e9
for _ in range(2):
    begin = time.perf_counter()
    with uproot.open(sys.argv[1]) as file:
        tree = file["t"]
        for name, branch in tree.iteritems(recursive=True):
            if not branch.branches:
                branch.array(library=sys.argv[2])
    best = min(best, time.perf_counter() - begin)
    if best > float(sys.argv[3]):
        break
print(best)
"""


def peer():
    """The program of zoo.cpp with its dictionary, compiled when it is older than its source."""
    directory = os.path.join(rounds.cache_directory(), "zoo-program")
    target = os.path.join(directory, "zoo")
    source = os.path.join(rounds.HERE, "zoo.cpp")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        os.makedirs(directory, exist_ok=True)
        root = os.path.dirname(importlib.util.find_spec("ROOT").origin)
        includes = [f"-I{rounds.HERE}", f"-I{root}/include"]
        subprocess.run([f"{root}/bin/rootcling", "-f", "dictionary.cxx", *includes, "zoo.h", f"{rounds.HERE}/zoo_linkdef.h"],
                       check=True, cwd=directory)
        subprocess.run(["g++", "-std=c++20", "-O2", "-w", *includes, source, "dictionary.cxx", "-o", "zoo", f"-L{root}/lib",
                        f"-Wl,-rpath,{root}/lib", "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                        *(f"-l{name}" for name in LIBRARIES)], check=True, cwd=directory)
    return target


def output(*command):
    result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=os.path.dirname(peer()))
    return [float(word) for word in result.stdout.split()]


def made(kind, split, member_wise, compression, entries):
    """The file, or None where ROOT cannot write it."""
    name = f"zoo-{kind.replace('*', '-pointers')}-{split}-{member_wise}-{compression}-{entries}.root"
    path = os.path.join(rounds.cache_directory(), name)
    if not os.path.exists(path):
        command = [peer(), "write", path + ".tmp", kind, str(split), str(member_wise), str(compression), str(entries)]
        if subprocess.run(command, cwd=os.path.dirname(peer()), capture_output=True).returncode:
            if os.path.exists(path + ".tmp"):
                os.unlink(path + ".tmp")
            return None
        os.rename(path + ".tmp", path)
    return path


def through_mount(path):
    """Seconds to read every column of a fresh mount, and the sum of the channels."""
    with tempfile.TemporaryDirectory(prefix="zoo-") as mount:
        subprocess.run([rounds.program(), path, mount], check=True)
        try:
            buffer = bytearray(1 << 20)
            total = None
            begin = time.perf_counter()
            for directory, _, names in os.walk(os.path.join(mount, "t")):
                for name in names:
                    assert name not in ("raw.u1",), directory
                    with open(os.path.join(directory, name), "rb", buffering=0) as file:
                        while file.readinto(buffer):
                            pass
                    if name == "channel.i4":
                        total = os.path.join(directory, name)
            seconds = time.perf_counter() - begin
            return seconds, float(np.fromfile(total, "<i4").sum(dtype="f8"))
        finally:
            subprocess.run([rounds.program(), "umount", mount], check=True)


def uproot(path):
    """Seconds, or None: as awkward arrays, else as Python objects."""
    for library in ("ak", "np"):
        result = subprocess.run([sys.executable, "-W", "ignore", "-c", UPROOT, path, library, str(SECONDS_MAX)],
                                capture_output=True, text=True)
        if result.returncode == 0:
            return float(result.stdout)
    return None


def row(path, kind, count):
    times = {"tfilefs": [], "ROOT": [], "uproot": []}
    rounds.warm(path)
    sums = set()
    for i in range(count):
        seconds, total = through_mount(path)
        times["tfilefs"].append(seconds)
        sums.add(total)
        try:
            seconds, total = output(peer(), "read", path, kind)
            times["ROOT"].append(seconds)
            sums.add(total)
        except subprocess.CalledProcessError:
            pass
        if i == 0 or (times["uproot"] and times["uproot"][0] < SECONDS_MAX):
            seconds = uproot(path)
            if seconds is not None:
                times["uproot"].append(seconds)
    assert len(sums) == 1, f"{path}: {sums}"
    return {name: statistics.median(values) * 1000 if values else None for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--compressions", default="0,1")
    options = parser.parse_args()
    print(f"{'collection':<14} {'split':>6} {'streamed':<11} {'zlib':>4} {'tfilefs':>9} {'ROOT':>9} {'uproot':>9}   ahead of both")
    for kind in options.kinds.split(","):
        for split, how in FORMS:
            for compression in map(int, options.compressions.split(",")):
                path = made(kind, split, int(how == "member-wise"), compression, options.entries)
                line = f"{kind:<14} {split:>6} {how:<11} {compression:>4}"
                if path is None:
                    print(f"{line} {'n/a: ROOT cannot write it':>29}", flush=True)
                    continue
                times = row(path, kind, options.rounds)
                ahead = all(times["tfilefs"] < times[name] for name in ("ROOT", "uproot") if times[name] is not None)
                told = " ".join(f"{times[name]:9.1f}" if times[name] is not None else f"{'n/a':>9}" for name in times)
                print(f"{line} {told}   {'yes' if ahead else 'NO'}", flush=True)


main()
