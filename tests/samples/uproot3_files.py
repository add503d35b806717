# SPDX-License-Identifier: Apache-2.0
"""uproot3_files.py DIR: what uproot 3 writes: trees of numbers, arrays and lists, histograms and texts, with the values in
values.npz (of a list its counts and its numbers)."""

import os
import sys

sys.path.pop(0)  # the numbers.py beside this file is not Python's

import numpy as np  # noqa: E402

# Before NumPy 2, copy=False allowed a copy where one was needed; uproot 3 and awkward 0 rely on it.
array = np.array
np.array = lambda values, *more, **named: array(values, *more, **{**named, "copy": None} if named.get("copy", True) is False else named)

import awkward0  # noqa: E402
import uproot3  # noqa: E402

TYPES = {"d": "f8", "f": "f4", "l": "i8", "i": "i4", "s": "i2", "b": "i1", "t": "?"}
CODECS = {"none": None, "zlib": uproot3.ZLIB(4), "lzma": uproot3.LZMA(3)}
ENTRIES, BATCHES = 2000, 3


def numbers(kind, count, random):
    values = random.integers(-100, 100, count)
    return (values > 0) if kind == "?" else values.astype(kind)


def make(directory):
    random = np.random.default_rng(3)
    columns = {name: [numbers(kind, ENTRIES, random) for _ in range(BATCHES)] for name, kind in TYPES.items()}
    # Each entry becomes a basket; with more than ten of them the branches lose their shapes.
    shapes = {"m": random.normal(size=(8, 3)), "q": random.integers(0, 99, (8, 3, 2)).astype(">i4")}
    counts = {name: random.integers(0, 5, (BATCHES, ENTRIES)) for name in ("j", "k")}
    lists = {name: [random.integers(-9, 9, of.sum()).astype(kind) for of in counts[name]] for name, kind in (("j", "f8"), ("k", "i4"))}
    for codec, compression in CODECS.items():
        with uproot3.recreate(os.path.join(directory, f"{codec}.root"), compression=compression) as file:
            branches = {name: uproot3.newbranch(np.dtype(kind), title=f"of {kind}") for name, kind in TYPES.items()}
            file["numbers"] = uproot3.newtree(branches, title="some numbers")
            for batch in range(BATCHES):
                file["numbers"].extend({name: column[batch] for name, column in columns.items()})
            file["shapes"] = uproot3.newtree({name: uproot3.newbranch(column.dtype, shape=column.shape) for name, column in shapes.items()})
            file["shapes"].extend(dict(shapes))
            file["lists"] = uproot3.newtree({name: uproot3.newbranch(lists[name][0].dtype, size="n" + name) for name in lists})
            for batch in range(BATCHES):
                made = {name: awkward0.JaggedArray.fromcounts(counts[name][batch], lists[name][batch]) for name in lists}
                file["lists"].extend({**made, **{"n" + name: counts[name][batch].astype("i4") for name in lists}})
            file["empty"] = uproot3.newtree({"x": "float64"})
            file["one"] = np.histogram(columns["d"][0], bins=50, range=(-100, 100))
            file["two"] = np.histogram2d(columns["d"][0], columns["f"][0], bins=[5, 7])
            file["text"] = "a text of uproot 3"
    np.savez(os.path.join(directory, "values.npz"), **{f"numbers/{name}": np.concatenate(column) for name, column in columns.items()},
             **{f"shapes/{name}": column.astype(column.dtype.newbyteorder("=")) for name, column in shapes.items()},
             **{f"counts/{name}": np.concatenate(of) for name, of in counts.items()}, **{f"lists/{name}": np.concatenate(of) for name, of in lists.items()})


if __name__ == "__main__":
    make(sys.argv[1])
