# SPDX-License-Identifier: Apache-2.0
"""Another program that writes a ROOT file during a mount: ROOT itself, in a process that serves many requests.

As a program, it answers one line of JSON per request: {"file", "tree", "columns": pickled in hexadecimal, "first",
"last"} appends these entries of column_streams.Columns to a tree, which is made if it does not exist."""

import json
import os
import pickle
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
LEAF_CODES = {"i4": "I", "i8": "L", "f4": "F", "f8": "D"}  # for trees that it makes


class Appender:
    """ROOT in its own process, which is started on first use."""

    def __init__(self):
        self._process = None

    def start(self):
        """Waits until ROOT is loaded, which takes seconds."""
        self._process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, PYTHONWARNINGS="ignore", PYTHONPATH=HERE),
        )
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError("ROOT does not start")

    def append(self, file, tree, columns, first, last):
        if self._process is None:
            self.start()
        request = {"file": file, "tree": tree, "columns": pickle.dumps(columns).hex(), "first": first, "last": last}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if answer != "done\n":
            self.close()
            raise RuntimeError(f"ROOT could not append to {tree}: {answer!r}")

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close(), self._process.stdout.close()
            self._process = None


def fill(ROOT, file, path, columns, first, last):
    directory, name = os.path.split(path)
    place = file.GetDirectory(directory) if directory else file
    place.cd()
    tree = place.Get(name)
    new = not tree
    if new:
        tree = ROOT.TTree(name, "")
    places = [place_of(ROOT, tree, column, new) for column in columns]
    for entry in range(first, last):
        for column, put in zip(columns, places):
            put(column.entry(entry))
        tree.Fill()
    tree.Write("", ROOT.TObject.kOverwrite)


def place_of(ROOT, tree, column, new):
    """A function that puts a value where ROOT reads the entry of a branch."""
    branch = tree.GetBranch(column.branch)
    kind = branch.GetClassName() if branch else ""
    if new or not kind:
        numbers = numpy.zeros(64, column.dtype())
        if new:
            branch = tree.Branch(column.branch, numbers, f"{column.branch}/{LEAF_CODES[column.kind()]}")
        branch.SetAddress(numbers.view("u1"))

        def put(entry):
            numbers[: len(entry)] = entry

        return put
    text = kind == "string"
    whole = ROOT.std.string() if text else getattr(ROOT, kind)()
    tree.SetBranchAddress(column.branch, whole)

    def put_whole(entry):
        if text:
            whole.assign(entry)
        else:
            set_items(ROOT, kind, whole, entry)

    return put_whole


def set_items(ROOT, kind, whole, items):
    """Of a vector, with its vectors."""
    whole.clear()
    inner = kind[len("vector<") : -1].strip()
    for item in items:
        if inner.startswith("vector<"):
            whole.push_back(getattr(ROOT, inner)())
            set_items(ROOT, inner, whole.back(), item)
        else:
            whole.push_back(item)


def main():
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kError
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        columns = pickle.loads(bytes.fromhex(request["columns"]))
        file = ROOT.TFile.Open(request["file"], "UPDATE")
        if not file or file.IsZombie() or file.TestBit(ROOT.TFile.kRecovered):
            print("no good file", flush=True)
            continue
        fill(ROOT, file, request["tree"], columns, request["first"], request["last"])
        file.Close()
        print("done", flush=True)


if __name__ == "__main__":
    main()
