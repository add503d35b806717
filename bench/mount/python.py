# SPDX-License-Identifier: Apache-2.0
"""From Python: the sum of a column through tfilefs.mount, and with uproot, in one process and in eight at once; time, and
memory of all processes together.

python.py [--rounds N] [--entries N]     TFILEFS_BIN names the program; files are kept in ~/.cache/tfilefs-bench

Each side is a process of its own that has NumPy, and the package or uproot, imported before the clock runs. The eight are
forked from it. Memory is the largest sum of PSS that samples of all processes met, the daemon among them."""

import argparse
import os
import subprocess
import sys
import threading
import time

import column_read
import rounds

PROCESSES = 8
MARK = "TFILEFS_BENCH_SIDE"

OURS = """
import os, sys, time
sys.path.insert(0, sys.argv[3])
import numpy, tfilefs
def total(path):
    with tfilefs.mount(path) as f:
        return both(lambda: float(f["t"].numpy("x").sum(dtype="f8")))
"""

UPROOT = """
import os, sys, time
import numpy, uproot
def total(path):
    return both(lambda: of(path))
def of(path):
    with uproot.open(path) as file:
        return float(file["t/x"].array(library="np").sum(dtype="f8"))
"""

BOTH = """
def both(one):
    if processes == 1:
        return one()
    for _ in range(processes):
        if os.fork() == 0:
            one()
            os._exit(0)
    for _ in range(processes):
        os.wait()
processes = int(sys.argv[2])
begin = time.perf_counter()
total(sys.argv[1])
print(time.perf_counter() - begin)
"""


def processes_of(mark):
    """Their ids: the mark is in their environment, which the daemon of a mount inherits."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read():
                        yield name
            except OSError:
                pass


def proportional_memory(mark):
    """MB of all processes that have the mark in their environment."""
    total = 0
    for pid in processes_of(mark):
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except (OSError, StopIteration):
            pass
    return total / 1000


def run_side(code, path, processes, memory):
    """Seconds; the largest sum of memory is added to the list."""
    side = f"{os.getpid()}-{time.monotonic_ns()}"
    environment = dict(os.environ, TFILEFS=rounds.program(), PYTHONWARNINGS="ignore", **{MARK: side})
    package = os.path.join(rounds.HERE, "..", "..", "packaging", "python", "src")
    process = subprocess.Popen([sys.executable, "-c", code + BOTH, path, str(processes), package], env=environment,
                               stdout=subprocess.PIPE, text=True)
    most, ended = [0.0], threading.Event()

    def watch():
        while not ended.wait(0.02):
            most[0] = max(most[0], proportional_memory(f"{MARK}={side}".encode()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    output = process.communicate()[0]
    ended.set()
    watcher.join()
    if process.returncode != 0:
        sys.exit("a side failed")
    memory.append(most[0])
    return float(output.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--entries", type=int, default=20_000_000)
    options = parser.parse_args()
    path = column_read.make_files(options.entries)["zlib:1"]
    rounds.warm(path)
    for processes in (1, PROCESSES):
        memory = {"tfilefs.mount": [], "uproot": []}
        sides = {"tfilefs.mount": OURS, "uproot": UPROOT}
        results = rounds.run(options.rounds, {name: lambda name=name: run_side(sides[name], path, processes, memory[name]) for name in sides})
        notes = {name: f"{sorted(each)[len(each) // 2]:.0f} MB" for name, each in memory.items()}
        rounds.report(f"Python: sum of a column, {processes} process{'es' if processes > 1 else ''}", results, notes)


main()
