# SPDX-License-Identifier: Apache-2.0
"""Files behind a URL, over lines of different length: through a fresh mount over http (nginx) and root (xrootd), by ROOT
over root:// with a cache of 30 MB, and by uproot over both.

remote.py [--lines loopback,0.3,3,72] [--files flushed,never,repacked,nano] [--cases open,list,column,1,2,3]
       [--rounds N] [--entries N] [--events N] [--limit SECONDS] [--sides tfilefs,ROOT,uproot] [--prefetch off,learn]

The lines are loopback, and two network namespaces with a delay between them: a round trip of 0.3 ms at 1 Gb/s, 3 ms at
100 Mb/s, 72 ms at 8 Mb/s. flushed and never are the trees of use_cases.py with fewer entries, nano is the table of
wide.py; repacked is `never` after `tfilefs repack`, and not among the default. Cases: the mount (ROOT: TFile::Open and
the list of branches); mount and `ls -lR`; one column after `ls` of its table; and the use cases 1 to 3 of use_cases.py.
A wave is a round trip of the line: seconds in waves tell how often one side waits for the other. Requests and bytes of
the mount are those of its stats.json for this case. ROOT counts its own calls and bytes; what the server counts for a
peer includes the opening. A case of a peer that takes longer than the limit is stopped and not tried again. --prefetch
measures the mount with each of these settings.

Needs root for the namespaces, nginx and xrootd. TFILEFS_BIN names the program; files are kept in ~/.cache/tfilefs-bench"""

import argparse
import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import rounds
import use_cases
from root_program import compiled, made

sys.path.insert(0, os.path.join(rounds.HERE, "..", "..", "tests"))

from delayed_network import DelayedNetwork
from http_server import Nginx
from xrootd_server import XrootdServer

LINES = {"loopback": None, "0.3": (0.3, 1000), "3": (3, 100), "72": (72, 8)}
CASES = {
    "open": "mount",
    "list": "mount, ls -lR",
    "column": "one column, cold",
    "1": "use case 1: all branches",
    "2": "use case 2: 20 branches, a quarter of the entries",
    "3": "use case 3: one branch, then 1 % of all",
}
IN_WAVES = ("open", "list", "column")
PORT = 8080

# Without aiohttp, uproot reads http by itself.
UPROOT = """
import sys, time, importlib.util, uproot
url, case, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
plain = url.startswith("http") and not importlib.util.find_spec("aiohttp")
begin = time.perf_counter()
tree = uproot.open(url, **({"handler": uproot.source.http.HTTPSource} if plain else {}))["t"]
names = tree.keys()
opened = time.perf_counter() - begin
begin = time.perf_counter()
if case == "column":
    tree[wanted[-1]].array()
if case == "1":
    tree.arrays(names, library="np")
if case == "2":
    tree.arrays(names[100:2100:100], library="np", entry_stop=tree.num_entries // 4)
print(opened if case == "open" else time.perf_counter() - begin)
"""


class File:
    """A file of the benchmark: its column by the names of ROOT and of the mount, and the cases that make sense."""

    def __init__(self, kind, options):
        if kind == "nano":
            self.path = os.path.join(rounds.cache_directory(), f"nano-zlib-{options.events}.root")
            made(self.path, compiled("wide_peers"), "make", "PATH", "101", str(options.events))
            self.branches, self.column = ["nC00", "C00_f00"], "C00_f00/values.f4"
            self.entries, cases = options.events, IN_WAVES
        else:
            self.path = use_cases.make(kind, options.entries)
            self.branches, self.column = ["b0003"], "b0003.f4"
            self.entries, cases = options.entries, tuple(CASES)
        self.kind, self.cases = kind, [case for case in options.cases.split(",") if case in cases]

    def title(self):
        return f"{self.kind}, {os.path.getsize(self.path) / 1e6:.0f} MB"


def in_time(command, limit):
    """The numbers that a command prints; None if it takes longer than the limit."""
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr)
    return [float(word) for word in done.stdout.split()]


def reads_of(server):
    """How many reads the server has answered so far."""
    names = [request if isinstance(request, str) else "read" for request in server.requests()]
    return names.count("read") + names.count("readv")


class RemoteMount:
    """A fresh mount of a URL; its daemon runs on the near side of the line, and whoever reads needs no network."""

    def __init__(self, url, near, settings):
        self.directory = tempfile.TemporaryDirectory(prefix="bench-")
        self.path = self.directory.name
        done = subprocess.run([*near, rounds.program(), *settings, url, self.path], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([rounds.program(), "umount", self.path], check=True)
        self.directory.cleanup()

    def counts(self):
        """Requests, round trips, ranges, bytes and further tries so far."""
        with open(os.path.join(self.path, ".tfilefs", "stats.json")) as file:
            [source] = json.load(file)["sources"]
        return [source[name] for name in ("requests", "round_trips", "ranges", "bytes", "retries")]


class Side:
    """One program that measures; `last` is what it counted of its last case."""

    def __init__(self, server, near, limit):
        self.server, self.near, self.limit = server, near, limit
        self.last, self.stopped = "", False

    def measure(self, file, case):
        """Seconds; the limit if it was stopped in this round or an earlier one."""
        seconds = None if self.stopped else self.seconds(file, case)
        if seconds is None:
            self.last, self.stopped = "stopped", True
        return self.limit if seconds is None else seconds


class Tfilefs(Side):
    def __init__(self, server, near, limit, settings):
        super().__init__(server, near, limit)
        self.settings = settings

    def use(self, file, case, table):
        if case == "column":
            subprocess.run(["cat", os.path.join(table, file.column)], check=True, stdout=subprocess.DEVNULL)
        else:
            whole = {"1": use_cases.all_columns, "2": use_cases.some_columns, "3": use_cases.selection}
            whole[case](use_cases.Columns(table, file.entries))

    def seconds(self, file, case):
        begin, before = time.perf_counter(), [0] * 5
        with RemoteMount(self.server.url(os.path.basename(file.path)), self.near, self.settings) as mount:
            if case == "list":
                subprocess.run(["ls", "-lR", mount.path], check=True, stdout=subprocess.DEVNULL)
            elif case != "open":
                table = os.path.join(mount.path, "t")
                os.listdir(table)
                begin, before = time.perf_counter(), mount.counts()
                self.use(file, case, table)
            seconds = time.perf_counter() - begin
            requests, trips, ranges, size, retries = (now - then for now, then in zip(mount.counts(), before))
        self.last = f"{requests} requests in {trips} round trips, {ranges} ranges, {size / 1e6:.2f} MB"
        self.last += f", {retries} retries" if retries else ""
        return seconds


class Root(Side):
    def seconds(self, file, case):
        before = reads_of(self.server)
        number = {"open": 0, "column": 4}.get(case, case)
        numbers = in_time([*self.near, sys.executable, "-W", "ignore", "-c", use_cases.ROOT_READER,
                           self.server.url(os.path.basename(file.path)), str(number), "30000000", *file.branches], self.limit)
        if numbers is None:
            return None
        self.last = f"{numbers[0]:.0f} calls, {numbers[1] / 1e6:.2f} MB; server: {reads_of(self.server) - before} reads"
        return numbers[2]


class Uproot(Side):
    def seconds(self, file, case):
        before = reads_of(self.server)
        numbers = in_time([*self.near, sys.executable, "-W", "ignore", "-c", UPROOT,
                           self.server.url(os.path.basename(file.path)), case, *file.branches], self.limit)
        self.last = f"server: {reads_of(self.server) - before} reads"
        return numbers and numbers[0]


def has_uproot_over_xrootd():
    return bool(importlib.util.find_spec("XRootD") and importlib.util.find_spec("fsspec_xrootd"))


def sides(options, case, servers, near):
    """{name: side} of those that have something to do in this case."""
    http, root = servers
    wanted, found = options.sides.split(","), {}
    if "tfilefs" in wanted:
        for setting in options.prefetch.split(",") if options.prefetch else [""]:
            settings = ["-o", f"prefetch={setting}"] if setting else []
            title = " ".join(["tfilefs", setting]).strip()
            found[f"{title}, http"] = Tfilefs(http, near, options.limit, settings)
            found[f"{title}, root"] = Tfilefs(root, near, options.limit, settings)
    if "ROOT" in wanted and case != "list":
        found["ROOT, root"] = Root(root, near, options.limit)
    if "uproot" in wanted and case not in ("list", "3"):
        found["uproot, http"] = Uproot(http, near, options.limit)
        if has_uproot_over_xrootd():
            found["uproot, root"] = Uproot(root, near, options.limit)
    return found


def compare(options, line, file, case, servers, near):
    these = sides(options, case, servers, near)
    results = rounds.run(options.rounds, {name: lambda side=side: side.measure(file, case) for name, side in these.items()})
    notes = {name: side.last for name, side in these.items()}
    if LINES[line] and case in IN_WAVES:
        for name, times in results.items():
            notes[name] = f"{statistics.median(times) * 1000 / LINES[line][0]:5.1f} waves   {notes[name]}"
    rounds.report(f"{name_of(line)}; {file.title()}; {CASES[case]}", results, notes)


def name_of(line):
    return "{} ms, {} Mb/s".format(*LINES[line]) if LINES[line] else line


def measure_line(options, line, files):
    with contextlib.ExitStack() as stack:
        near, place = [], {"prefix": []}
        if LINES[line]:
            network = stack.enter_context(DelayedNetwork(*LINES[line]))
            near, place = network.command("near"), {"prefix": network.command("remote"), "address": network.remote_address}
        nginx = stack.enter_context(Nginx(rounds.cache_directory(), port=PORT if LINES[line] else None, **place))
        xrootd = stack.enter_context(XrootdServer(**place))
        for file in files:
            xrootd.put(file.path)
            for case in file.cases:
                compare(options, line, file, case, (nginx, xrootd), near)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", default=",".join(LINES))
    parser.add_argument("--files", default="flushed,never,nano")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--sides", default="tfilefs,ROOT,uproot")
    parser.add_argument("--prefetch", default="", help="settings to measure, such as off,learn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--entries", type=int, default=1500, help="of flushed and never")
    parser.add_argument("--events", type=int, default=10_000, help="of nano")
    parser.add_argument("--limit", type=float, default=60, help="seconds of a peer's case, its start included")
    options = parser.parse_args()
    files = [File(kind, options) for kind in options.files.split(",")]
    if "uproot" in options.sides and not has_uproot_over_xrootd():
        print("uproot over root:// is left out: fsspec-xrootd is not installed")
    for line in options.lines.split(","):
        measure_line(options, line, files)


if __name__ == "__main__":
    main()
