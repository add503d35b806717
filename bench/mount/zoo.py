# SPDX-License-Identifier: Apache-2.0
"""Collections of hits, and of pointers to hits, of every kind and split level: all of their columns through a mount,
compared with ROOT's compiled reading into objects and with uproot. Each reads twice:

  first   through a fresh mount; in a fresh process
  again   the same once more, through the same mount, in the same process

The clock starts when libraries are loaded, the file is in the page cache and the tree is open (its directory was
listed), so that only the reading of columns counts. uproot reads without its cache of arrays, which would return those
of the first time. Rounds are interleaved; the table gives medians in ms.

zoo.py [--rounds N] [--entries N] [--kinds vector,vector*,...] [--compressions 0,1]

TFILEFS_BIN names the program. Files are made by ROOT and kept in ~/.cache/tfilefs-bench. n/a: the peer cannot write or
read it."""

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import rounds
from mount import Mount
from root_program import root_directory

COLLECTIONS = ["vector", "list", "deque", "set", "multiset", "map", "multimap"]
KINDS = ["TClonesArray", *COLLECTIONS, *(name + "*" for name in COLLECTIONS)]
FORMS = [(0, "object-wise"), (0, "member-wise"), (99, ""), (25599, "")]  # split level, how an unsplit one is streamed
READERS = ["mount", "ROOT", "uproot"]
SECONDS_MAX = 5  # a peer that takes longer is not asked again
LIBRARIES = "Core RIO Tree Net Hist MathCore Thread Imt".split()

UPROOT = """
import sys, time, uproot
if sys.argv[2] == "ak":
    import awkward
with uproot.open(sys.argv[1], array_cache=None) as file:
    branches = [branch for _, branch in file["t"].iteritems(recursive=True) if not branch.branches]
    for _ in range(2):
        begin = time.perf_counter()
        for branch in branches:
            branch.array(library=sys.argv[2])
        print(time.perf_counter() - begin)
"""


def peer():
    """The program of zoo.cpp with its dictionary; compiled if it is older than its source."""
    directory = os.path.join(rounds.cache_directory(), "zoo-program")
    target = os.path.join(directory, "zoo")
    source = os.path.join(rounds.HERE, "zoo.cpp")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        os.makedirs(directory, exist_ok=True)
        root = root_directory()
        includes = [f"-I{rounds.HERE}", f"-I{root}/include"]
        subprocess.run([f"{root}/bin/rootcling", "-f", "dictionary.cxx", *includes, "zoo.h", f"{rounds.HERE}/zoo_linkdef.h"],
                       check=True, cwd=directory)
        subprocess.run(["g++", "-std=c++20", "-O2", "-w", *includes, source, "dictionary.cxx", "-o", "zoo", f"-L{root}/lib",
                        f"-Wl,-rpath,{root}/lib", "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                        *(f"-l{name}" for name in LIBRARIES)], check=True, cwd=directory)
    return target


def through_root(path, kind):
    """Seconds of the first and second read, and the sum of the channels; None if ROOT cannot read what it wrote."""
    result = subprocess.run([peer(), "read", path, kind], capture_output=True, text=True, cwd=os.path.dirname(peer()))
    return [float(word) for word in result.stdout.split()] if result.returncode == 0 else None


def made(kind, split, member_wise, compression, entries):
    """The file, or None if ROOT cannot write it."""
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


def read_columns(table):
    """Seconds to read every column of a table, and the path of the channels."""
    buffer = bytearray(1 << 20)
    channels = None
    begin = time.perf_counter()
    for directory, _, names in os.walk(table):
        for name in names:
            assert name not in ("raw.u1",), directory
            with open(os.path.join(directory, name), "rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass
            if name == "channel.i4":
                channels = os.path.join(directory, name)
    return time.perf_counter() - begin, channels


def through_mount(path):
    """Seconds of the first and second read, and the sum of the channels."""
    with Mount(path) as mount:
        table = os.path.join(mount.path, "t")
        os.listdir(table)
        first, channels = read_columns(table)
        again, _ = read_columns(table)
        with open(channels, "rb") as file:
            return first, again, float(np.frombuffer(file.read(), "<i4").sum(dtype="f8"))


def through_uproot(path):
    """Seconds of the first and second read, or None: as awkward arrays, else as Python objects."""
    for library in ("ak", "np"):
        result = subprocess.run([sys.executable, "-W", "ignore", "-c", UPROOT, path, library], capture_output=True, text=True)
        if result.returncode == 0:
            return [float(line) for line in result.stdout.split()]
    return None


def row(path, kind, count):
    """{reader: milliseconds of the first and second read}, without the readers that cannot read it."""
    rounds.warm(path)
    times = {name: [] for name in READERS}
    sums = set()
    for _ in range(count):
        *seconds, total = through_mount(path)
        times["mount"].append(seconds)
        sums.add(total)
        if answer := through_root(path, kind):
            times["ROOT"].append(answer[:2])
            sums.add(answer[2])
        if not times["uproot"] or sum(times["uproot"][0]) < SECONDS_MAX:
            if seconds := through_uproot(path):
                times["uproot"].append(seconds)
    assert len(sums) == 1, f"{path}: {sums}"
    return {name: [statistics.median(some) * 1000 for some in zip(*pairs)] for name, pairs in times.items() if pairs}


def told(times, which):
    numbers = " ".join(f"{times[name][which]:8.1f}" if name in times else f"{'n/a':>8}" for name in READERS)
    return f"{numbers} {'yes' if min(times, key=lambda name: times[name][which]) == 'mount' else 'NO':>4}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--compressions", default="0,1")
    options = parser.parse_args()
    names = " ".join(f"{name:>8}" for name in READERS)
    print(f"{'':<38} {'first':>8} {'':>22} {'again':>8}")
    print(f"{'collection':<14} {'split':>6} {'streamed':<11} {'zlib':>4} {names}      {names}   (and: ahead of both)")
    for kind in options.kinds.split(","):
        for split, how in FORMS:
            for compression in map(int, options.compressions.split(",")):
                path = made(kind, split, int(how == "member-wise"), compression, options.entries)
                line = f"{kind:<14} {split:>6} {how:<11} {compression:>4}"
                if path is None:
                    print(f"{line} {'n/a: ROOT cannot write it':>29}", flush=True)
                    continue
                times = row(path, kind, options.rounds)
                print(f"{line} {told(times, 0)} {told(times, 1)}", flush=True)


main()
