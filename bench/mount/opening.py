# SPDX-License-Identifier: Apache-2.0
"""Reads of a mount before the first read of a column: calls, bytes, and how many of the calls had to wait for each
other, to mount and list the file's first directory, to list every directory, and for `ls -lR`. Each step is counted
from a fresh mount on.

opening.py FILE...      needs strace; TFILEFS_BIN names the program

Each call is delayed by 5 ms, so that calls that can run at the same time do so. The number of rounds is the length of
the longest series of calls that each began after the previous one had ended."""

import os
import re
import subprocess
import sys
import tempfile
import time

import rounds

STEPS = {"mount, ls": ["ls"], "ls -R": ["ls", "-R"], "ls -lR": ["ls", "-lR"]}
CALLS = "pread64,preadv,preadv2"


def rows_of(log):
    """[(begin, end, bytes)] of the calls."""
    calls, begun = [], {}
    for line in log:
        thread, rest = line.split(None, 1)
        stamp = float(rest.split(None, 1)[0])
        if "unfinished" in rest:
            begun[thread] = stamp
            continue
        result = re.search(r"= (\d+)(?: \(DELAYED\))? <(\d+\.\d+)>", rest)
        if not result:
            continue
        begin = begun.pop(thread, stamp)
        calls.append((begin, begin + float(result[2]), int(result[1])))
    return calls


def longest_row(calls):
    length, free = 0, 0.0
    for begin, end, _ in sorted(calls, key=lambda call: call[1]):
        if begin >= free:
            length, free = length + 1, end
    return length


def counted(path, command):
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        mount, log = os.path.join(directory, "mnt"), os.path.join(directory, "calls")
        os.mkdir(mount)
        daemon = subprocess.Popen(["strace", "-f", "-q", "-ttt", "-T", "-e", "trace=" + CALLS, "-e", f"inject={CALLS}:delay_exit=5000",
                                   "-P", path, "-o", log, rounds.program(), "-f", path, mount], stderr=subprocess.DEVNULL)
        while not os.path.ismount(mount):
            time.sleep(0.01)
        subprocess.run([*command, mount], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        time.sleep(0.2)
        subprocess.run(["fusermount3", "-u", mount], check=True)
        daemon.wait()
        with open(log) as lines:
            return rows_of(lines)


def report(path, steps):
    for name, command in steps.items():
        calls = counted(path, command)
        print(f"  {name:<12} {len(calls):>6} calls {sum(call[2] for call in calls):>12,} bytes {longest_row(calls):>6} rounds", flush=True)


def main():
    for path in map(os.path.realpath, sys.argv[1:]):
        print(f"{os.path.basename(path)}, {os.path.getsize(path):,} bytes")
        report(path, STEPS)


if __name__ == "__main__":
    main()
