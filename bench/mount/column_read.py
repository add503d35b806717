# SPDX-License-Identifier: Apache-2.0
"""One column of 80 MB out of a ZLIB, LZ4, ZSTD and uncompressed file: `cat` through a fresh mount, uproot, and
RDataFrame's AsNumpy, in interleaved rounds.

column_read.py [--rounds N] [--entries N]     TFILEFS_BIN names the program; files are kept in ~/.cache/tfilefs-bench

The peers are timed inside their process, after all imports, and the better of two reads of each process counts, so that
the start of Python and the compilation of RDataFrame's code are not measured. Ours is timed twice: `cat` alone, and
with mount and unmount."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import rounds

CODECS = {"zlib:1": 101, "lz4:4": 404, "zstd:5": 505, "none": 0}

WRITER = r"""
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
void write_column(const char* name, int compression, long entries) {
  TFile file(name, "RECREATE", "", compression);
  TTree tree("t", "one column");
  float x;
  tree.Branch("x", &x, "x/F");
  TRandom3 random(1);
  // Energies as detectors give them: a falling spectrum in steps of a sixteenth, which compresses about threefold.
  for (long i = 0; i < entries; i++) x = float(int(random.Exp(40) * 16)) / 16, tree.Fill();
  tree.Write();
}
"""

UPROOT = """
import sys, time, uproot
best = 1e9
for _ in range(2):
    begin = time.perf_counter()
    with uproot.open(sys.argv[1]) as file:
        n = file["t/x"].array(library="np").nbytes
    best = min(best, time.perf_counter() - begin)
print(best, n)
"""

RDATAFRAME = """
import sys, time, ROOT
threads = int(sys.argv[2])
if threads:
    ROOT.EnableImplicitMT(threads)
best = 1e9
for _ in range(2):
    begin = time.perf_counter()
    n = ROOT.RDataFrame("t", sys.argv[1]).AsNumpy(["x"])["x"].nbytes
    best = min(best, time.perf_counter() - begin)
print(best, n)
"""


def make_files(entries):
    directory = rounds.cache_directory()
    paths = {name: os.path.join(directory, f"column-{codec}-{entries}.root") for name, codec in CODECS.items()}
    missing = [name for name, path in paths.items() if not os.path.exists(path)]
    if missing:
        import ROOT

        ROOT.gInterpreter.Declare(WRITER)
        for name in missing:
            ROOT.write_column(paths[name] + ".tmp", CODECS[name], entries)
            os.rename(paths[name] + ".tmp", paths[name])
    return paths


def peer(code, *arguments):
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", code, *arguments], check=True, capture_output=True, text=True)
    return float(result.stdout.split()[0])


class Mount:
    """Times of one fresh mount: of `cat` alone, and of mount, cat and unmount."""

    def __init__(self, path):
        self.path, self.whole = path, None

    def cat(self):
        with tempfile.TemporaryDirectory(prefix="bench-") as mnt:
            begin = time.perf_counter()
            subprocess.run([rounds.program(), self.path, mnt], check=True)
            try:
                seconds = rounds.seconds_of(["cat", os.path.join(mnt, "t", "x.f4")])
            finally:
                subprocess.run([rounds.program(), "umount", mnt], check=True)
            self.whole = time.perf_counter() - begin
            return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--entries", type=int, default=20_000_000)
    options = parser.parse_args()
    for name, path in make_files(options.entries).items():
        with open(path, "rb") as file:  # everything is read from the page cache
            while file.read(1 << 22):
                pass
        mount = Mount(path)
        results = rounds.run(options.rounds, {
            "tfilefs: cat through a fresh mount": mount.cat,
            "tfilefs: mount, cat, umount": lambda: mount.whole,
            "uproot": lambda: peer(UPROOT, path),
            "RDataFrame AsNumpy": lambda: peer(RDATAFRAME, path, "0"),
            "RDataFrame AsNumpy, all cores": lambda: peer(RDATAFRAME, path, str(os.cpu_count())),
        })
        size = os.path.getsize(path)
        rounds.report(f"{options.entries * 4 / 1e6:.0f} MB of floats, {name}: {size / 1e6:.1f} MB stored", results)


if __name__ == "__main__":
    main()
