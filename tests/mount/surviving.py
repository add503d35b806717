# SPDX-License-Identifier: Apache-2.0
"""Files that claim far more than they contain: every view of them answers, with little memory."""

import os
import subprocess
import sys

import numpy as np

import mounted

BUDGET = 8 << 20
BEYOND = 200 << 20  # memory that a daemon may take besides its budget
HANGS = 120  # seconds without an answer; each normally takes well below one

VIEWS = (".npy", ".txt", ".csv", ".jsonl", ".arrow", ".parquet")
HIDDEN = (".schema.json", ".awkward.json", ".header.json", ".map.txt", ".streamerinfo.json", ".option.npy", "index.html",
          "plot.svg", "plot.logy.svg", "plot.logxyz.svg", "table.csv", "text.txt")

# Reads the beginning, the middle and the end of each path that it is given, one after the other.
READER = r"""
import os, sys
for line in sys.stdin.buffer:
    path = line.rstrip(b"\n")
    print(path, flush=True)
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    try:
        done, size = 0, os.fstat(file).st_size
        while done < 2 << 20 and (piece := os.read(file, 1 << 20)):
            done += len(piece)
        for offset in (size // 2, size - 4096):
            if offset > done:
                os.pread(file, 4096, offset)
    except OSError:
        pass
    finally:
        os.close(file)
"""


def everything(top):
    """All names that can be found: everything that is listed, and the views of it."""
    for at, folders, files in os.walk(top):
        for name in files:
            yield os.path.join(at, name)
            if "." in name:
                yield from (os.path.join(at, name.rsplit(".", 1)[0] + view) for view in (".npy", ".txt"))
        for name in folders:
            yield from (os.path.join(at, name + view) for view in VIEWS)
        yield from (os.path.join(at, name) for name in HIDDEN)
    classes = os.path.join(top, ".classes")
    yield from (os.path.join(classes, name) for name in os.listdir(classes)[:20])


def is_survived(path, beside=True, budget=BUDGET):
    """For a file that may be refused: reads all of it, with little memory."""
    try:
        m = mounted.Mounted(path, [f"memory={budget}"])
    except mounted.MountFailed as refused:
        assert refused.status == 1 and not beside
        return
    with m:
        paths = "\n".join(list(everything(m.path))[:3000])
        said = subprocess.run([sys.executable, "-c", READER], input=paths, capture_output=True, text=True, timeout=HANGS)
        assert said.returncode == 0, said.stderr
        assert m.alive()
        assert m.peak_bytes() < budget + BEYOND, f"{m.peak_bytes() >> 20} MiB"
        if beside:
            assert np.fromfile(os.path.join(m.path, "beside", "values.f8")).tolist() == [0, 0, 7, 0]
