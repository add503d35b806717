#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory for a wide table's metadata in the daemon: bytes per branch and bytes per basket.

Opens trees of many branches with one basket each, and with many, by a listing. Prints the size in stats.json and the
growth of the daemon's resident memory. The difference between the two trees is due to the baskets. Then every column is
opened, which adds the extents."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import rounds

MAKE = """
import sys
import ROOT
ROOT.gInterpreter.Declare('''
void fill(const char* path, int branches, Long64_t baskets) {
  TFile file(path, "RECREATE", "", 0);
  TTree tree("t", "t");
  std::vector<float> values(branches);
  for (int i = 0; i < branches; ++i) tree.Branch(Form("branch%05d", i), &values[i], Form("branch%05d/F", i), 512);
  tree.SetAutoFlush(4);
  for (Long64_t entry = 0; entry < 4 * baskets; ++entry) {
    for (int i = 0; i < branches; ++i) values[i] = i + entry;
    tree.Fill();
  }
  tree.Write();
}''')
ROOT.fill(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
"""


def source(branches, baskets):
    path = os.path.join(rounds.cache_directory(), f"metadata-{branches}-{baskets}.root")
    if not os.path.exists(path):
        subprocess.run([sys.executable, "-W", "ignore", "-c", MAKE, path + ".new", str(branches), str(baskets)], check=True)
        os.rename(path + ".new", path)
    return path


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:"))


def stats_of(mount):
    with open(os.path.join(mount, ".tfilefs", "stats.json")) as file:
        return json.load(file)


def measure(branches, baskets):
    """(listed, resident, seconds) after the listing; (listed, resident) after opening every column."""
    with tempfile.TemporaryDirectory(prefix="bench-") as mount:
        subprocess.run([rounds.program(), source(branches, baskets), mount], check=True)
        try:
            stats = stats_of(mount)
            before = resident(stats["pid"])
            begin = time.perf_counter()
            names = os.listdir(os.path.join(mount, "t"))
            seconds = time.perf_counter() - begin
            assert len(names) == branches
            listed, grown = stats_of(mount)["metadata"]["total"], resident(stats["pid"]) - before
            for name in names:
                with open(os.path.join(mount, "t", name), "rb", buffering=0) as file:
                    file.read(4)
            metadata = stats_of(mount)
            used = metadata["cache"]["budget_used"]
            return listed, grown, seconds, metadata["metadata"], resident(stats["pid"]) - before - used
        finally:
            subprocess.run([rounds.program(), "umount", mount], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--branches", type=int, default=10_000)
    parser.add_argument("--baskets", type=int, default=100, help="of each branch")
    arguments = parser.parse_args()
    branches, baskets = arguments.branches, arguments.baskets
    few, many = measure(branches, 1), measure(branches, baskets)
    print(f"{branches} branches, {branches * baskets} baskets")
    for i, what in enumerate(("listed", "resident")):
        a_basket = (many[i] - few[i]) / (branches * (baskets - 1))
        print(f"{what:<10}{few[i] / branches:9.0f} bytes a branch, {a_basket:6.1f} bytes a basket")
    print(f"the first listing took {many[2] * 1000:.0f} ms")
    print(f"with every column open: {many[3]}, resident {many[4] / 1e6:.0f} MB beside the cache")


if __name__ == "__main__":
    main()
