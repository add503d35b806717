# SPDX-License-Identifier: Apache-2.0
"""What the reading of URLs costs beyond the bytes: all bytes of a file over loopback, by the source alone (source_read),
by curl and by xrdcp from the same server, in interleaved rounds.

engine.py [--rounds N] [--megabytes N] [--protocols http,root] [--streams N]

source_read tells the time of the reading, and curl that of its transfer. xrdcp is timed with its start, and so is
source_read beside it. TFILEFS_BENCH_BIN names the directory of source_read (build/bench)."""

import argparse
import os
import random
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "mount"), os.path.join(HERE, "..", "..", "tests")]

import rounds
from http_server import Nginx
from xrootd_server import XrootdServer

PROGRAM = os.path.join(os.environ.get("TFILEFS_BENCH_BIN", os.path.join(HERE, "..", "..", "build", "bench")), "source_read")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_file(megabytes):
    """Of bytes that nobody can compress."""
    path = os.path.join(rounds.cache_directory(), f"random-{megabytes}.bin")
    if not os.path.exists(path):
        chosen = random.Random(1)
        with open(path + ".tmp", "wb") as file:
            for _ in range(megabytes):
                file.write(chosen.randbytes(1 << 20))
        os.rename(path + ".tmp", path)
    rounds.warm(path)
    return path


def seconds_of_source(url, streams):
    return float(output(PROGRAM, url, *streams).split()[0])


def seconds_of_curl(url):
    return float(output("curl", "-s", "-o", "/dev/null", "-w", "%{time_total}", url))


def compare_http(options, path, streams):
    with Nginx(os.path.dirname(path)) as server:
        url = server.url(os.path.basename(path))
        rounds.report(f"http, {options.megabytes} MiB", rounds.run(options.rounds, {
            "curl": lambda: seconds_of_curl(url),
            "source_read": lambda: seconds_of_source(url, streams),
        }))


def compare_root(options, path, streams):
    with XrootdServer() as server:
        url = server.put(path)
        sides = {"source_read": lambda: rounds.seconds_of([PROGRAM, url, *streams])}
        if shutil.which("xrdcp"):
            sides = {"xrdcp": lambda: rounds.seconds_of(["xrdcp", "-f", "-s", url, "/dev/null"]), **sides}
        rounds.report(f"root, {options.megabytes} MiB", rounds.run(options.rounds, sides))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--protocols", default="http,root")
    parser.add_argument("--streams", type=int, help="requests at once; else as many as the source is best asked for")
    options = parser.parse_args()
    path = make_file(options.megabytes)
    streams = [str(options.streams)] if options.streams else []
    compare = {"http": compare_http, "root": compare_root}
    for protocol in options.protocols.split(","):
        compare[protocol](options, path, streams)


if __name__ == "__main__":
    main()
