# SPDX-License-Identifier: Apache-2.0
"""Without a mount: one column of 80 MB by `tfilefs cat`, by `cat` in a mount, by one range request of `tfilefs serve`, and by one of nginx
that has the same bytes as a file; the same in 64 pieces by 64 clients; and as an array of NumPy, by tfilefs.open and tfilefs.mount.

serve.py [--rounds N] [--entries N]     TFILEFS_BIN names the program; files are those of column_read.py

Interleaved rounds. The column of a server or mount that runs is decoded before the clock runs ("warm"), except where it is begun
anew ("fresh"). All go through this machine alone."""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile

import rounds
from column_read import CODECS, Mount, make_files

sys.path.insert(0, os.path.join(rounds.HERE, "..", "..", "tests"))
import http_server  # noqa: E402

CLIENTS = 64

ARRAY = """
import os, sys, time
sys.path.insert(0, os.environ["TFILEFS_BENCH_PACKAGE"])
import numpy, tfilefs
begin = time.perf_counter()
with getattr(tfilefs, sys.argv[1])(sys.argv[2]) as file:
    total = file["t"]["x"].numpy().sum(dtype="f8")
print(time.perf_counter() - begin)
"""


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
        return rounds.seconds_of(["curl", "--parallel", "--parallel-immediate", "--parallel-max", str(pieces), "--config", config.name])


def cat_in_a_fresh_mount(path):
    mount = Mount(path)
    mount.cat()
    return mount.whole


def as_an_array(way, path):
    done = subprocess.run([sys.executable, "-c", ARRAY, way, path], env=rounds.python_environment(), check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)


def measure(name, path, count):
    """One codec."""
    size = os.path.getsize(path)
    rounds.warm(path)
    served = Served(path)
    with tempfile.TemporaryDirectory(prefix="bench-") as root, contextlib.closing(served):
        with open(os.path.join(root, "x.f4"), "wb") as column:
            subprocess.run([rounds.program(), "cat", f"{path}/t/x.f4"], check=True, stdout=column)
        bytes_ = os.path.getsize(os.path.join(root, "x.f4"))
        with http_server.Nginx(root) as nginx:
            fetch(served.url, served.header, bytes_, 1)
            rounds.report(f"{bytes_ / 1e6:.0f} MB of floats, {name}, {size / 1e6:.1f} MB stored: cat", rounds.run(count, {
                "mount, cat, umount": lambda: cat_in_a_fresh_mount(path),
                "tfilefs cat": lambda: rounds.seconds_of([rounds.program(), "cat", f"{path}/t/x.f4"]),
            }))
            for pieces in (1, CLIENTS):
                rounds.report(f"{bytes_ / 1e6:.0f} MB by {pieces} range request{'s at once' if pieces > 1 else ''}, {name}, warm", rounds.run(count, {
                    "nginx, the same bytes as a file": lambda: fetch(nginx.url("x.f4"), "X: y", bytes_, pieces),
                    "tfilefs serve": lambda: fetch(served.url, served.header, bytes_, pieces),
                }))
    rounds.report(f"{bytes_ / 1e6:.0f} MB as an array of NumPy, {name}, fresh", rounds.run(count, {
        "tfilefs.mount": lambda: as_an_array("mount", path),
        "tfilefs.open": lambda: as_an_array("open", path),
    }))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--codecs", default=",".join(CODECS))
    options = parser.parse_args()
    files = make_files(options.entries)
    for name in options.codecs.split(","):
        measure(name, files[name], options.rounds)


if __name__ == "__main__":
    main()
