# SPDX-License-Identifier: Apache-2.0
"""Listing a tree of 10,000 branches: `mount; ls -l; umount` against rootls and uproot; `ls -l` again against a FUSE
server that answers the same calls from constants.

listing.py [--rounds N] [--branches N]
listing.py --mounted rntuple [--rounds N] [--branches N] [--clusters N] [--uproot]

listing.py --mounted lists|objects [--rounds N] [--other PROGRAM]

With --mounted lists: a tree of 100 counters with 30 lists each and of 500 vectors, in 40 clusters: the lengths of lists
come from headers of baskets. With --mounted objects: a file of 370 histograms, whose object.json has 90 MB; the CPU of
all processes counts. --other names a second tfilefs, such as an older one.

With --mounted rntuple: `mount; ls -l` of an RNTuple with that many fields and clusters against RNTupleReader::Open,
each in its own process; the clock of ROOT's runs inside the program, after its libraries are loaded. Also the maximum
resident memory of the daemon and of that process (VmHWM, with ROOT's libraries), and the read calls of a fresh mount
(needs strace). With --uproot also uproot's keys(): a minute per round.

TFILEFS_BIN names the program; files are kept in ~/.cache/tfilefs-bench"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import opening
import rounds
from mount import Mount, output
from root_program import compiled, made, root_directory

WRITER = r"""
#include <TFile.h>
#include <TTree.h>
void write_wide(const char* name, int branches) {
  TFile file(name, "RECREATE", "", 505);
  TTree tree("t", "wide");
  std::vector<float> values(branches);
  for (int i = 0; i < branches; i++) {
    const std::string branch = TString::Format("detector_channel_%05d", i).Data();
    tree.Branch(branch.c_str(), &values[i], (branch + "/F").c_str());
  }
  tree.SetAutoFlush(100);
  for (int entry = 0; entry < 1000; entry++) {
    for (int i = 0; i < branches; i++) values[i] = i + entry * 0.5f;
    tree.Fill();
  }
  tree.Write();
}
"""

LISTS_WRITER = r"""
#include <TFile.h>
#include <TTree.h>
#include <vector>
void write_lists(const char* name) {
  TFile file(name, "RECREATE", "", 505);
  TTree tree("t", "lists");
  constexpr int kCounters = 100, kLists = 30, kVectors = 500;
  std::vector<int> counts(kCounters);
  std::vector<float> values(8);
  std::vector<std::vector<float>> vectors(kVectors);
  for (int i = 0; i < kCounters; i++) {
    const std::string counter = TString::Format("nCollection%03d", i).Data();
    tree.Branch(counter.c_str(), &counts[i], (counter + "/I").c_str());
    for (int k = 0; k < kLists; k++)
      tree.Branch(TString::Format("Collection%03d_member%02d", i, k), values.data(),
                  TString::Format("Collection%03d_member%02d[%s]/F", i, k, counter.c_str()));
  }
  for (int i = 0; i < kVectors; i++) tree.Branch(TString::Format("vector%03d", i), &vectors[i]);
  tree.SetAutoFlush(50);
  for (int entry = 0; entry < 2000; entry++) {
    for (int i = 0; i < kCounters; i++) counts[i] = (entry + i) % 8;
    for (int i = 0; i < 8; i++) values[i] = entry + i;
    for (int i = 0; i < kVectors; i++) vectors[i].assign((entry + i) % 5, entry);
    tree.Fill();
  }
  tree.Write();
}
void write_objects(const char* name) {
  TFile file(name, "RECREATE");
  for (int i = 0; i < 370; i++) {
    TH2F histogram(TString::Format("h%03d", i), "scan;x;y", 280, 0, 1, 280, 0, 1);
    for (int k = 0; k < 2000; k++) histogram.Fill(((k * 7919) % 1000) / 1000., ((k * 104729) % 997) / 997.);
    histogram.Write();
  }
}
"""

# As a user at a prompt would see it, including the start of the interpreter.
UPROOT = "import sys, uproot; print(len(uproot.open(sys.argv[1])['t'].keys()))"
UPROOT_INSIDE = """
import sys, time, uproot
begin = time.perf_counter()
n = len(uproot.open(sys.argv[1])["t"].keys())
print(time.perf_counter() - begin, n)
"""


def make_file(branches):
    path = os.path.join(rounds.cache_directory(), f"wide-{branches}.root")
    if not os.path.exists(path):
        import ROOT

        if not hasattr(ROOT, "write_wide"):
            ROOT.gInterpreter.Declare(WRITER)
        ROOT.write_wide(path + ".tmp", branches)
        os.rename(path + ".tmp", path)
    return path


def build_constant_server():
    source = os.path.join(rounds.HERE, "constant_server.cpp")
    target = os.path.join(rounds.cache_directory(), "constant_server")
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], check=True, capture_output=True, text=True)
        subprocess.run(["g++", "-std=c++20", "-O2", source, "-o", target, *flags.stdout.split()], check=True)
    return target


def made_by_root(name, function):
    path = os.path.join(rounds.cache_directory(), name)
    if not os.path.exists(path):
        import ROOT

        ROOT.gInterpreter.Declare(LISTS_WRITER)
        getattr(ROOT, function)(path + ".tmp")
        os.rename(path + ".tmp", path)
    return path


def listed(program, path, cpu):
    """Seconds of mount; ls -lR; umount: of a clock, or of the CPU of all of its processes."""
    with tempfile.TemporaryDirectory(prefix="bench-") as mnt:
        begin, before = time.perf_counter(), os.times()
        daemon = subprocess.Popen([program, "-f", path, mnt], stderr=subprocess.DEVNULL)
        while not os.path.isdir(os.path.join(mnt, ".tfilefs")):
            assert daemon.poll() is None
            time.sleep(0.005)
        try:
            subprocess.run(["ls", "-lR", mnt], check=True, stdout=subprocess.DEVNULL)
        finally:
            unmounting(mnt, daemon)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return used if cpu else time.perf_counter() - begin


def cpu_of(command):
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def against_another(options):
    cpu = options.mounted == "objects"
    path = made_by_root(options.mounted + ".root", "write_" + options.mounted)
    rounds.warm(path)
    rootls = [os.path.join(root_directory(), "bin", "rootls"), "-l" if cpu else "-t", path]
    measurements = {"tfilefs: mount, ls -lR, umount": lambda: listed(rounds.program(), path, cpu)}
    if options.other:
        measurements["the other tfilefs"] = lambda: listed(options.other, path, cpu)
    measurements[" ".join(["rootls", rootls[1]])] = lambda: cpu_of(rootls) if cpu else rounds.seconds_of(rootls)
    rounds.report(f"ls -lR of {options.mounted}" + (", CPU" if cpu else ""), rounds.run(options.rounds, measurements))


def wait_for(path, process):
    deadline = time.monotonic() + 20
    while not os.path.isdir(path):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)


def unmounting(mnt, process):
    subprocess.run(["fusermount3", "-u", mnt], check=True)
    process.wait(20)


def mount_list_umount(path):
    with tempfile.TemporaryDirectory(prefix="bench-") as mnt:
        begin = time.perf_counter()
        subprocess.run([rounds.program(), path, mnt], check=True)
        try:
            subprocess.run(["ls", "-l", os.path.join(mnt, "t")], check=True, stdout=subprocess.DEVNULL)
        finally:
            subprocess.run([rounds.program(), "umount", mnt], check=True)
        return time.perf_counter() - begin


def against_readers(path, count):
    rootls = [os.path.join(root_directory(), "bin", "rootls"), "-t", path]

    def uproot_inside():
        result = subprocess.run([sys.executable, "-c", UPROOT_INSIDE, path], check=True, capture_output=True, text=True)
        return float(result.stdout.split()[0])

    rounds.report("mount; ls -l; umount", rounds.run(count, {
        "tfilefs: mount, ls -l, umount": lambda: mount_list_umount(path),
        "rootls -t": lambda: rounds.seconds_of(rootls),
        "uproot.open(...).keys(), with its start": lambda: rounds.seconds_of([sys.executable, "-c", UPROOT, path]),
        "uproot.open(...).keys(), inside Python": uproot_inside,
    }))


def against_constants(path, count, timeout):
    server = build_constant_server()
    with tempfile.TemporaryDirectory(prefix="bench-") as mine, tempfile.TemporaryDirectory(prefix="bench-") as theirs, \
            tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        first = subprocess.Popen([rounds.program(), "-f", path, mine])
        wait_for(os.path.join(mine, "t"), first)
        for entry in os.scandir(os.path.join(mine, "t")):
            names.write(f"{entry.stat().st_size} {entry.name}\n")
        names.flush()
        second = subprocess.Popen([server, names.name, theirs, str(timeout)])
        wait_for(os.path.join(theirs, "t"), second)

        def listing(mnt):
            return lambda: rounds.seconds_of(["ls", "-l", os.path.join(mnt, "t")])

        def after_timeout(mnt):
            def measure():
                time.sleep(timeout + 0.1)  # makes the kernel ask again for every name
                return listing(mnt)()

            return measure

        try:
            for mnt in (mine, theirs):
                listing(mnt)()
            rounds.report("ls -l again", rounds.run(count, {
                "server of constants": listing(theirs), "tfilefs": listing(mine),
            }))
            rounds.report("ls -l after the kernel forgot names and attributes", rounds.run(count, {
                "server of constants": after_timeout(theirs), "tfilefs": after_timeout(mine),
            }))
        finally:
            unmounting(mine, first)
            unmounting(theirs, second)


def ntuple_against_readers(options):
    path = made(os.path.join(rounds.cache_directory(), f"wide-{options.branches}-{options.clusters}.ntuple.root"),
                compiled("wide_peers"), "make-fields", "PATH", str(options.branches), str(options.clusters), "20")
    rounds.warm(path)
    memory = {"tfilefs": [], "ROOT, before": [], "ROOT": []}

    def mount_and_list():
        begin = time.perf_counter()
        with Mount(path) as mount:
            subprocess.run(["ls", "-l", os.path.join(mount.path, "t")], check=True, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - begin
            memory["tfilefs"].append(mount.peak_memory())
        return seconds

    def open_by_root():
        seconds, before, peak = output(compiled("wide_peers"), "open", path)
        memory["ROOT, before"].append(before)
        memory["ROOT"].append(peak)
        return seconds

    measurements = {"tfilefs: mount, ls -l": mount_and_list, "RNTupleReader::Open, inside the program": open_by_root}
    if options.uproot:
        measurements["uproot.open(...).keys(), inside Python"] = lambda: output(sys.executable, "-c", UPROOT_INSIDE, path)[0]
    results = rounds.run(options.rounds, measurements)
    rounds.report(f"RNTuple of {options.branches} fields and {options.clusters} clusters: mount; ls -l", results)
    for name, sizes in memory.items():
        print(f"  {name:<42} at most {statistics.median(sizes) / 1000:.0f} MB resident")
    opening.report(os.path.realpath(path), opening.STEPS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--branches", type=int, default=10_000)
    parser.add_argument("--timeout", type=float, default=0.5, help="seconds for which the kernel keeps names of the "
                        "server of constants; as tfilefs has it")
    parser.add_argument("--mounted", choices=("tree", "rntuple", "lists", "objects"), default="tree")
    parser.add_argument("--other", help="a second tfilefs; with lists and objects")
    parser.add_argument("--clusters", type=int, default=50, help="of an RNTuple")
    parser.add_argument("--uproot", action="store_true", help="with an RNTuple, too")
    options = parser.parse_args()
    if options.mounted == "rntuple":
        return ntuple_against_readers(options)
    if options.mounted in ("lists", "objects"):
        return against_another(options)
    path = make_file(options.branches)
    against_readers(path, options.rounds)
    against_constants(path, options.rounds, options.timeout)


if __name__ == "__main__":
    main()
