# SPDX-License-Identifier: Apache-2.0
"""Columns copied into a mount, from the start of `cp` to the end of `tfilefs umount`, which syncs, against ROOT's
writers and uproot, which have the columns in memory and sync as well; the time of the encoder on two threads without a
mount or a file; and `cp` of the columns with fsync. Rounds are interleaved; the table gives medians, ratios, and sizes.

write.py [--rounds N] [--events N] [--entries N] [--tables dimuon,nano] [--codecs none,lz4,zlib,zstd] [--only NAME,...]

TFILEFS_BIN names the program, TFILEFS_BENCH_BUILD the build directory of the benchmarks (default: build/ with
-DTFILEFS_BENCH=ON). Columns are made once and kept in ~/.cache/tfilefs-bench, where files are written, too."""

import argparse
import os
import shutil
import subprocess
import sys
import time

import numpy

import rounds
from mount import build_directory, output
from root_program import compiled

CODECS = {"none": (0, "none"), "lz4": (401, "lz4:1"), "zlib": (101, "zlib:1"), "zstd": (505, "zstd:5")}
COLLECTIONS, FLOATS, INTS, FLAGS, ITEMS_MAX = 20, 30, 10, 700, 32

UPROOT = """
import os, sys, time, numpy, uproot, awkward
directory, columns, path, setting = sys.argv[1:]
codec = {"1": uproot.ZLIB, "4": uproot.LZ4, "5": uproot.ZSTD}.get(setting[0])
def read(path, dtype):
    with open(path, "rb") as file:
        return numpy.frombuffer(file.read(), dtype)
scalars, lists = {}, {}
for line in open(columns):
    name, kind = line.split()
    dtype = {"b1": "?"}.get(kind[:2], kind[:2])
    if kind.endswith("[]"):
        values = read(f"{directory}/{name}/values.{kind[:2]}", dtype)
        offsets = read(f"{directory}/{name}/offsets.i8", "i8")
        prefix, member = name.split("_", 1)
        lists.setdefault(prefix, {})[member] = awkward.Array(awkward.contents.ListOffsetArray(
            awkward.index.Index64(offsets), awkward.contents.NumpyArray(values)))
    else:
        scalars[name] = read(f"{directory}/{name}.{kind}", dtype)
tables = {prefix: awkward.zip(members) for prefix, members in lists.items()}
all = {name: values for name, values in scalars.items() if name[1:] not in tables} | tables
count = len(next(iter(scalars.values())))
step = max(1, int(30e6 * count / sum(values.nbytes for values in all.values())))
begin = time.perf_counter()
level = int(setting[-1]) * (2 if codec is uproot.ZSTD else 1)  # ROOT's levels of zstd are every second one
with uproot.recreate(path, compression=codec(level) if codec else None) as file:
    tree = file.mktree("t", {name: values.dtype if isinstance(values, numpy.ndarray) else values.type.content
                             for name, values in all.items()})
    for at in range(0, count, step):
        tree.extend({name: values[at:at + step] for name, values in all.items()})
descriptor = os.open(path, os.O_RDONLY)
os.fsync(descriptor)
print(time.perf_counter() - begin)
"""


def make_dimuon(directory, events):
    random = numpy.random.default_rng(1)
    for name in ("px", "py", "pz"):
        random.normal(0, 20, events).astype("<f4").tofile(os.path.join(directory, name + ".f4"))
    random.normal(91, 3, events).astype("<f8").tofile(os.path.join(directory, "mass.f8"))


def ten_bits(values):
    """Rounds values to ten bits of mantissa, like NanoAOD's floats."""
    mantissa, exponent = numpy.frexp(values)
    return numpy.ldexp(numpy.round(mantissa * 1024) / 1024, exponent).astype("<f4")


def make_nano(directory, entries):
    random = numpy.random.default_rng(3)
    for c in range(COLLECTIONS):
        counts = numpy.minimum(random.poisson(6 if c % 4 == 0 else 2, entries), ITEMS_MAX).astype("<i4")
        counts.tofile(os.path.join(directory, f"nC{c:02d}.i4"))
        offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype("<i8")
        for i in range(FLOATS + INTS):
            kind = "f" if i < FLOATS else "i"
            number = i if i < FLOATS else i - FLOATS
            if kind == "f":
                values = ten_bits(random.exponential(30, offsets[-1]) if i % 3 == 0 else random.normal(0, 2, offsets[-1]))
            else:
                values = random.integers(0, 8 if number % 2 == 0 else 200, offsets[-1]).astype("<i4")
            branch = os.path.join(directory, f"C{c:02d}_{kind}{number:02d}")
            os.mkdir(branch)
            offsets.tofile(os.path.join(branch, "offsets.i8"))
            values.tofile(os.path.join(branch, f"values.{kind}4"))
    for i in range(FLAGS):
        (random.random(entries) < 0.02 * (i % 20)).astype("u1").tofile(os.path.join(directory, f"HLT_{i:03d}.b1"))


def names(kind):
    """A line NAME TYPE for each branch."""
    if kind == "dimuon":
        return ["px f4", "py f4", "pz f4", "mass f8"]
    lines = []
    for c in range(COLLECTIONS):
        lines.append(f"nC{c:02d} i4")
        lines += [f"C{c:02d}_f{i:02d} f4[]" for i in range(FLOATS)] + [f"C{c:02d}_i{i:02d} i4[]" for i in range(INTS)]
    return lines + [f"HLT_{i:03d} b1" for i in range(FLAGS)]


def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class Columns:
    """The source: a directory of columns as in a mount, in the page cache."""

    def __init__(self, kind, entries):
        self.path = os.path.join(rounds.cache_directory(), f"columns-{kind}-{entries}")
        self.list = self.path + ".list"
        if not os.path.exists(self.path):
            os.makedirs(self.path + ".tmp")
            (make_dimuon if kind == "dimuon" else make_nano)(self.path + ".tmp", entries)
            with open(self.list, "w") as file:
                file.writelines(line + "\n" for line in names(kind))
            os.rename(self.path + ".tmp", self.path)
        self.files = [os.path.join(directory, name) for directory, _, files in os.walk(self.path) for name in files]
        self.bytes = sum(os.path.getsize(path) for path in self.files)
        self.raw = sum(os.path.getsize(path) for path in self.files if not path.endswith("/offsets.i8"))
        self.entries = entries


class Writing:
    def __init__(self, columns, codec):
        self.columns = columns
        self.setting, self.option = CODECS[codec]
        self.directory = os.path.join(rounds.cache_directory(), "written")
        self.path = os.path.join(self.directory, "out.root")
        self.sizes = {}

    def fresh(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        # The measurement must not wait for earlier writes of other programs.
        subprocess.run(["sync", "-f", self.directory], check=True)

    def written(self, name):
        """Weighs and removes the file that a measurement wrote."""
        self.sizes[name] = os.path.getsize(self.path)
        os.remove(self.path)

    def write(self, form="tree"):
        self.fresh()
        mount = self.directory + ".mnt"
        os.makedirs(mount, exist_ok=True)
        subprocess.run([rounds.program(), "-o", f"rw,format={form},compression={self.option}", self.directory, mount], check=True)
        table = os.path.join(mount, "out.root", "t")
        os.mkdir(os.path.dirname(table))
        begin = time.perf_counter()
        os.mkdir(table)
        copied = subprocess.run(["cp", "-r", self.columns.path + "/.", table])
        unmounted = subprocess.run([rounds.program(), "umount", mount])
        seconds = time.perf_counter() - begin
        assert copied.returncode == unmounted.returncode == 0
        return seconds

    def write_by_root(self, way):
        self.fresh()
        return output(compiled("write_peers"), way, self.columns.path, self.columns.list, self.path, str(self.setting))[0]

    def ours(self, form="tree"):
        seconds = self.write(form)
        self.written("tfilefs" if form == "tree" else f"tfilefs, {form}")
        return seconds

    def peer(self, way):
        seconds = self.write_by_root(way)
        self.written(way)
        return seconds

    def uproot(self):
        self.fresh()
        seconds, = output(sys.executable, "-W", "ignore", "-c", UPROOT, self.columns.path, self.columns.list, self.path,
                          str(self.setting))
        self.written("uproot")
        return seconds

    def encoder(self, form):
        """In parts of 65536 entries, or of all."""
        encode = os.path.join(build_directory(), "bench", "table_encode")
        seconds, self.sizes[f"encoder, {form}"] = output(encode, self.columns.path, self.columns.list, self.option, "2",
                                                         "65536", form)
        return seconds

    def copy(self):
        self.fresh()
        begin = time.perf_counter()
        subprocess.run(["cp", "-r", self.columns.path, os.path.join(self.directory, "copy")], check=True)
        for path in self.columns.files:
            sync(os.path.join(self.directory, "copy", os.path.relpath(path, self.columns.path)))
        return time.perf_counter() - begin

    def run(self, count, only):
        for path in self.columns.files:
            rounds.warm(path)
        measurements = {"tfilefs": self.ours, "tfilefs, rntuple": lambda: self.ours("rntuple"),
                        "encoder alone, 2 threads": lambda: self.encoder("tree"),
                        "encoder alone, rntuple, 2 threads": lambda: self.encoder("rntuple"), "cp with fsync": self.copy,
                        "TTree::Fill": lambda: self.peer("tree"),
                        "TTree::Fill, implicit MT 2": lambda: self.peer("tree-threads"),
                        "RNTupleParallelWriter, 2 threads": lambda: self.peer("ntuple-threads"),
                        "uproot": self.uproot}
        return rounds.run(count, {name: measure for name, measure in measurements.items() if any(part in name for part in only)})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=20_000_000, help="of dimuon")
    parser.add_argument("--entries", type=int, default=50_000, help="of the NanoAOD-like table")
    parser.add_argument("--tables", default="dimuon,nano")
    parser.add_argument("--codecs", default="none,lz4,zlib,zstd")
    parser.add_argument("--only", default="", metavar="NAME,...", help="measurements with one of these in their names")
    options = parser.parse_args()
    for kind in options.tables.split(","):
        columns = Columns(kind, options.events if kind == "dimuon" else options.entries)
        for codec in options.codecs.split(","):
            writing = Writing(columns, codec)
            results = writing.run(options.rounds, options.only.split(","))
            rounds.report(f"{kind}, {codec}: {columns.entries} entries, {columns.raw / 1e6:.0f} MB of values, "
                          f"{columns.bytes / 1e6:.0f} MB of columns", results)
            print("  MB: " + ", ".join(f"{name} {size / 1e6:.1f}" for name, size in writing.sizes.items()), flush=True)
        shutil.rmtree(os.path.join(rounds.cache_directory(), "written"), ignore_errors=True)


if __name__ == "__main__":
    main()
