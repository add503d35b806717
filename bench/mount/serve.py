# SPDX-License-Identifier: Apache-2.0
"""Without a mount: one column of 80 MB by `tfilefs cat`, by `cat` in a mount, by one range request of `tfilefs serve`, and by one of nginx
that has the same bytes as a file; the same in 64 pieces by 64 clients; and as an array of NumPy, by tfilefs.open, tfilefs.mount,
uproot on two threads and the bulk interface of ROOT, also without an array: each basket is summed, and gone; and in eight processes at
the same time.

serve.py [--rounds N] [--entries N] [--codecs NAME,...]     TFILEFS_BIN names the program; files are those of column_read.py

Interleaved rounds. The column of a server or mount that runs is decoded before the clock runs ("warm"), except where it is begun
anew ("fresh"). All go through this machine alone. Arrays are timed inside their process, until it has their sum, and the better of
two reads counts; eight processes are timed once, from the moment that all have imported until the last one has the sum."""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time

import rounds
from column_read import CODECS, Mount, make_files
from root_program import compiled

sys.path.insert(0, os.path.join(rounds.HERE, "..", "..", "tests"))
import http_server  # noqa: E402

CLIENTS = 64
PROCESSES = 8

OURS = """
import os, sys, time
sys.path.insert(0, os.environ["TFILEFS_BENCH_PACKAGE"])
import numpy, tfilefs
def total(path):
    with tfilefs.{} as file:
        return file["t"]["x"].numpy().sum(dtype="f8")
"""

UPROOT = """
import concurrent.futures, sys, time, numpy, uproot
pool = concurrent.futures.ThreadPoolExecutor({})
def total(path):
    with uproot.open(path) as file:
        return file["t/x"].array(library="np", decompression_executor=pool, interpretation_executor=pool).sum(dtype="f8")
"""

# The better of two times, and the sum: what is imported or compiled when it is first used is not measured.
TIMED = """
best = 1e9
for _ in range(2):
    begin = time.perf_counter()
    found = total(sys.argv[1])
    best = min(best, time.perf_counter() - begin)
print(best, found)
"""

# Waits until it is told to begin; prints the sum.
TOLD = """
print("ready", flush=True)
sys.stdin.readline()
print(total(sys.argv[1]), flush=True)
sys.stdin.readline()
"""

SIDES = {
    "tfilefs.mount": OURS.format("mount(path)"),
    "tfilefs.open": OURS.format("open(path, share=False)"),
    "uproot, 2 threads": UPROOT.format(2),
}
TOGETHER = {
    "tfilefs.open": OURS.format("open(path)"),
    "tfilefs.open, a daemon each": OURS.format("open(path, share=False)"),
    "uproot": UPROOT.format(1),
}


class Served:
    """A server of the program: `url`, `header` with the token."""

    def __init__(self, path):
        self._process = subprocess.Popen([rounds.program(), "serve", path], stdout=subprocess.PIPE, text=True)
        origin, _, token = self._process.stdout.readline().strip().partition("/?token=")
        self.url, self.header = f"{origin}/t/x.f4", f"Authorization: Bearer {token}"

    def close(self):
        self._process.terminate()
        self._process.wait()


def fetch(url, header, size, pieces):
    """Seconds of curl for all bytes, as ranges that are asked for at once."""
    step = (size + pieces - 1) // pieces
    lines = [f'url = "{url}"\noutput = "/dev/null"\nrange = "{first}-{min(size, first + step) - 1}"' for first in range(0, size, step)]
    with tempfile.NamedTemporaryFile("w", prefix="bench-") as config:
        config.write("\nnext\n".join(f'silent\nfail\nheader = "{header}"\n{line}' for line in lines))
        config.flush()
        return rounds.seconds_of(["curl", "--parallel", "--parallel-immediate", "--parallel-max", str(pieces), "--config", config.name],
                                 stderr=subprocess.DEVNULL)


def cat_in_a_fresh_mount(path):
    mount = Mount(path)
    mount.cat()
    return mount.whole


def timed(command, sums, **more):
    """Seconds, of a process that prints them and then the sum; the best of several."""
    *seconds, total = map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout.split())
    sums.append(total)
    return min(seconds)


def alone(code, path, sums):
    return timed([sys.executable, "-W", "ignore", "-c", code + TIMED, path], sums, env=rounds.python_environment())


def bulk(path, way, sums):
    return timed([compiled("peers"), "--again", way, path, "t", "x:f4"], sums)


def together(code, path, sums):
    """Seconds until the last of the processes has summed the column."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(subprocess.Popen([sys.executable, "-W", "ignore", "-c", code + TOLD, path], env=rounds.python_environment(),
                                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)) for _ in range(PROCESSES)]
        for each in started:
            assert each.stdout.readline() == "ready\n"
        begin = time.perf_counter()
        for each in started:
            each.stdin.write("\n")
            each.stdin.flush()
        sums += [float(each.stdout.readline()) for each in started]
        seconds = time.perf_counter() - begin
    time.sleep(3)  # until a daemon that they shared has ended
    return seconds


def report(title, results, size):
    """With the rate of each, by its median."""
    median = {name: sorted(times)[len(times) // 2] for name, times in results.items()}
    rounds.report(title, results, {name: f"{size / seconds / 1e6:.0f} MB/s" for name, seconds in median.items()})


def measure_http(name, path, count):
    size = os.path.getsize(path)
    with tempfile.TemporaryDirectory(prefix="bench-") as root, contextlib.closing(Served(path)) as served:
        with open(os.path.join(root, "x.f4"), "wb") as column:
            subprocess.run([rounds.program(), "cat", f"{path}/t/x.f4"], check=True, stdout=column)
        decoded = os.path.getsize(column.name)
        report(f"{decoded / 1e6:.0f} MB of floats, {name}, {size / 1e6:.1f} MB stored: cat", rounds.run(count, {
            "mount, cat, umount": lambda: cat_in_a_fresh_mount(path),
            "tfilefs cat": lambda: rounds.seconds_of([rounds.program(), "cat", f"{path}/t/x.f4"]),
        }), decoded)
        with http_server.Nginx(root) as nginx:
            fetch(served.url, served.header, decoded, 1)
            for pieces in (1, CLIENTS):
                report(f"{decoded / 1e6:.0f} MB by {pieces} range request{'s at once' if pieces > 1 else ''}, {name}, warm", rounds.run(count, {
                    "nginx, the same bytes as a file": lambda: fetch(nginx.url("x.f4"), "X: y", decoded, pieces),
                    "tfilefs serve": lambda: fetch(served.url, served.header, decoded, pieces),
                }), decoded)
    return decoded


def measure_arrays(name, path, count, decoded):
    sums = []
    report(f"{decoded / 1e6:.0f} MB as an array, {name}, fresh", rounds.run(count, {
        **{side: lambda code=code: alone(code, path, sums) for side, code in SIDES.items()},
        "ROOT bulk": lambda: bulk(path, "array", sums), "ROOT bulk, 2 threads": lambda: bulk(path, "array2", sums),
        "ROOT bulk, no array": lambda: bulk(path, "bulk", sums), "ROOT bulk, 2 threads, no array": lambda: bulk(path, "bulk2", sums)}), decoded)
    report(f"{decoded / 1e6:.0f} MB as an array in each of {PROCESSES} processes, {name}, fresh", rounds.run(count, {
        side: lambda code=code: together(code, path, sums) for side, code in TOGETHER.items()}), decoded * PROCESSES)
    assert max(sums) - min(sums) <= 1e-9 * abs(sums[0]), "each has read the same"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--codecs", default=",".join(CODECS))
    options = parser.parse_args()
    files = make_files(options.entries)
    for name in options.codecs.split(","):
        rounds.warm(files[name])
        measure_arrays(name, files[name], options.rounds, measure_http(name, files[name], options.rounds))


if __name__ == "__main__":
    main()
