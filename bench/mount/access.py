#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The access patterns of fio/*.fio on a mount, and on the same bytes in ordinary files beside the source.

Warm: everything was read before and is in the kernel's page cache, on both sides. Cold (--cold): a fresh mount each
time, with the ordinary files out of the page cache; the ROOT file stays in it. Medians of interleaved rounds, in bytes
per second as fio counts them. If the kernel caches files of a disk in large pieces, and files of FUSE page by page, the
cost of that shows on tmpfs, which it also caches page by page. With --realtime everything runs under `chrt -r 5`, so
that other work on the machine affects neither side."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import rounds

COLUMNS, ENTRIES = 4, 10_000_000
PATTERNS = ("sequential", "mapped", "random", "strided", "columns", "one_percent")
MAKE = """
import array, sys
import ROOT
columns, entries = int(sys.argv[2]), int(sys.argv[3])
ROOT.gInterpreter.Declare('''
void fill(const char* path, int columns, Long64_t entries) {
  TFile file(path, "RECREATE", "", 401);
  TTree tree("t", "t");
  std::vector<double> values(columns);
  TRandom3 random(1);
  for (int i = 0; i < columns; ++i) tree.Branch(Form("c%d", i), &values[i], Form("c%d/D", i), 1 << 18);
  for (Long64_t entry = 0; entry < entries; ++entry) {
    for (auto& value : values) value = float(random.Gaus());
    tree.Fill();
  }
  tree.Write();
}''')
ROOT.fill(sys.argv[1], columns, entries)
"""


def source():
    path = os.path.join(rounds.cache_directory(), f"access-{COLUMNS}-{ENTRIES}.root")
    if not os.path.exists(path):
        subprocess.run([sys.executable, "-W", "ignore", "-c", MAKE, path + ".new", str(COLUMNS), str(ENTRIES)], check=True)
        os.rename(path + ".new", path)
    return path


class Side:
    """The place of the columns: a mount, or ordinary files."""

    def __init__(self, prefix, directory):
        self.prefix, self.directory = prefix, directory

    def files(self):
        return [os.path.join(self.directory, f"c{i}.f8") for i in range(COLUMNS)]

    def warm(self):
        for name in self.files():
            with open(name, "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass

    def cool(self):
        for name in self.files():
            with open(name, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def speed(self, pattern, jobs, loops):
        """Bytes per second."""
        command = [*self.prefix, "fio", "--output-format=json", "--readonly", "--invalidate=0", "--ioengine=psync",
                   "--group_reporting", "--thread", os.path.join(rounds.HERE, "fio", pattern + ".fio")]
        environment = dict(os.environ, WHERE=self.directory, JOBS=str(jobs), LOOPS=str(loops))
        result = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
        [job] = result["jobs"]
        assert job["error"] == 0
        return job["read"]["bw_bytes"]


class MountSide(Side):
    def __init__(self, prefix, path):
        self.holder = tempfile.TemporaryDirectory(prefix="bench-")
        super().__init__(prefix, os.path.join(self.holder.name, "t"))
        self.path = path
        self.mount()

    def mount(self):
        subprocess.run([*self.prefix, rounds.program(), self.path, self.holder.name], check=True)

    def unmount(self):
        subprocess.run([rounds.program(), "umount", self.holder.name], check=True)

    def cool(self):
        self.unmount()
        self.mount()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=PATTERNS)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--loops", type=int, default=20, help="of a job that is warm")
    arguments = parser.parse_args()
    prefix = ["chrt", "-r", "5"] if arguments.realtime else []
    mounted = MountSide(prefix, source())
    try:
        with (tempfile.TemporaryDirectory(dir=rounds.cache_directory()) as beside,
              tempfile.TemporaryDirectory(dir="/dev/shm") as memory):
            plain = Side(prefix, beside)
            sides = {"mount": mounted, "plain": plain}
            if not arguments.cold:
                sides["tmpfs"] = Side(prefix, memory)
            for side in list(sides.values())[1:]:
                for name, copy in zip(mounted.files(), side.files()):
                    subprocess.run(["cp", name, copy], check=True)
            plain.cool()  # data just written is in other pages than data read
            for side in sides.values():
                side.warm()
            print(f"{'pattern':<14}{'jobs':>5}" + "".join(f"{name + ' MB/s':>12}" for name in sides) + "   of plain")
            for pattern in arguments.patterns:
                for jobs in arguments.jobs:
                    compare(sides, pattern, jobs, arguments)
    finally:
        mounted.unmount()
        mounted.holder.cleanup()


def compare(sides, pattern, jobs, arguments):
    speeds = {name: [] for name in sides}
    for _ in range(arguments.rounds):
        for name, side in sides.items():
            if arguments.cold:
                side.cool()
            speeds[name].append(side.speed(pattern, jobs, 1 if arguments.cold else arguments.loops) / 1e6)
    medians = {name: statistics.median(several) for name, several in speeds.items()}
    print(f"{pattern:<14}{jobs:>5}" + "".join(f"{median:>12.0f}" for median in medians.values()) +
          f"{medians['mount'] / medians['plain']:>11.2f}", flush=True)
    names = {"mount": "tfilefs", "plain": "ordinary file", "tmpfs": "tmpfs"}
    state = "cold" if arguments.cold else "warm"
    rounds.keep(f"{pattern}, {jobs} jobs, {state}", {names[name]: value for name, value in medians.items()}, "MB/s")


if __name__ == "__main__":
    main()
