# SPDX-License-Identifier: Apache-2.0
"""Whole columns read cold with the default memory= and with fixed ones: medians, spread (slowest round to fastest), and
the memory of the daemon afterwards; then after a scan of many gigabytes, when the kernel has dropped its pages, and
after a pause. Decoding without a mount is measured, too: its variation between rounds is that of the machine.
TFILEFS_BENCH_OTHER names another program to measure in the same rounds.

memory.py [--rounds N] [--entries N] [--files column,dimuon] [--codecs zlib,lz4,zstd,none] [--scan GIGABYTES]"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import rounds
from mount import build_directory, output
from root_program import compiled, made

CODECS = {"zlib": 101, "lz4": 404, "zstd": 505, "none": 0}
COLUMNS = {"column": ["x:f4"], "dimuon": ["px:f4", "py:f4", "pz:f4", "mass:f8"]}
FIXED = ["64M", "96M", "256M", "1G"]
ALONE = "decoding, no mount"
PAUSE = 75  # seconds: memory that was not used for a minute is returned


class Daemon:
    """`tfilefs -f SOURCE` of a program, and its memory."""

    def __init__(self, program, source, memory=None):
        self._directory = tempfile.TemporaryDirectory(prefix="bench-")
        self.path = self._directory.name
        options = ["-o", "memory=" + memory] if memory else []
        self._process = subprocess.Popen([program, "-f", *options, source, self.path], stderr=subprocess.DEVNULL)
        while not os.path.ismount(self.path):
            time.sleep(0.005)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["fusermount3", "-u", self.path], check=True)
        self._process.wait()
        self._directory.cleanup()

    def resident(self):
        """Megabytes, now and at most."""
        with open(f"/proc/{self._process.pid}/status") as file:
            lines = dict(line.split(":", 1) for line in file)
        return [int(lines[name].split()[0]) >> 10 for name in ("VmRSS", "VmHWM")]


def tree_of(kind, codec, entries):
    stem = os.path.join(rounds.cache_directory(), f"{kind}-{CODECS[codec]}-{entries}")
    return made(stem + ".root", compiled("peers"), f"make-{kind}", "PATH", str(CODECS[codec]), str(entries))


def paths_of(directory, kind):
    return [f"{directory}/t/{column.replace(':', '.')}:{column[-2:]}" for column in COLUMNS[kind]]


def decoded_alone(tree, kind):
    """Seconds of reading and decoding in one process of two threads; their spread is that of the machine."""
    decode = os.path.join(build_directory(), "bench", "table_decode")
    reading, decoding, *_ = output(decode, tree, "t", "2", *[column.split(":")[0] for column in COLUMNS[kind]])
    return reading + decoding


def compare(kind, codec, options):
    tree = tree_of(kind, codec, options.entries)
    rounds.warm(tree)
    held = {}

    def cold(name, program, memory):
        with Daemon(program, tree, memory) as daemon:
            wall, *_ = output(os.path.join(build_directory(), "bench", "column_sum"), *paths_of(daemon.path, kind))
            held[name] = max(held.get(name, 0), daemon.resident()[1])
            return wall

    sides = {"default": (rounds.program(), None)}
    sides |= {"memory=" + memory: (rounds.program(), memory) for memory in FIXED}
    if other := os.environ.get("TFILEFS_BENCH_OTHER"):
        sides |= {"other program, default": (other, None), "other program, memory=96M": (other, "96M")}
    results = {n: lambda n=n, s=s: cold(n, *s) for n, s in sides.items()}
    results[ALONE] = lambda: decoded_alone(tree, kind)
    results = rounds.run(options.rounds, results)
    rounds.report(f"{kind}, {codec}: {options.entries} entries, cold", results)
    for name, times in results.items():
        resident = f"   at most {held[name]} MB resident" if name in held else ""
        print(f"  {name:<42} spread {max(times) / min(times):5.2f}{resident}")
    best = min(statistics.median(results["memory=" + memory]) for memory in FIXED)
    print(f"  default to the best fixed one: {statistics.median(results['default']) / best:.2f}")


def read_whole(path):
    begin, buffer = time.perf_counter(), bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - begin


def scan(options):
    tree, source = tree_of("column", "zstd", options.entries), tempfile.mkdtemp(prefix="bench-", dir=rounds.cache_directory())
    try:
        count = max(1, round(options.scan * 1e9 / (options.entries * 4)))
        for i in range(count):
            shutil.copy(tree, os.path.join(source, f"{i}.root"))
        programs = [rounds.program()] + [p for p in [os.environ.get("TFILEFS_BENCH_OTHER")] if p]
        for program in programs:
            with Daemon(program, source) as daemon:
                seconds = sum(read_whole(f"{daemon.path}/{i}.root/t/x.f4") for i in range(count))
                print(f"\n{program}: {count} files, {options.scan} GB: {seconds:.2f} s, resident (now, at most) {daemon.resident()} MB")
                for _ in range(3):
                    with open("/proc/sys/vm/drop_caches", "w") as file:
                        file.write("1")
                    rounds.warm(os.path.join(source, "0.root"))
                    print(f"  again without the kernel's pages: {read_whole(daemon.path + '/0.root/t/x.f4'):.3f} s, {daemon.resident()} MB")
                time.sleep(PAUSE)
                print(f"  after {PAUSE} s without a request: {daemon.resident()} MB")
    finally:
        shutil.rmtree(source)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--files", default="column,dimuon")
    parser.add_argument("--codecs", default="zlib,lz4,zstd,none")
    parser.add_argument("--scan", type=float, default=4)
    options = parser.parse_args()
    for kind in options.files.split(","):
        for codec in options.codecs.split(","):
            compare(kind, codec, options)
    if options.scan:
        scan(options)


main()
