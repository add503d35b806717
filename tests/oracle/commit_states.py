# SPDX-License-Identifier: Apache-2.0
"""commit_states.py DIRECTORY FILE: brings FILE (a copy of the initial file of tests/writing/write_steps, or nothing
yet) from state to state by the patches in DIRECTORY. Reads each state with ROOT and uproot, and compares it with the
allowed ones (states.txt). Prints a line for each wrong one. Output of ROOT on stderr is an error, too, which the caller
must check.

ROOT then appends (UPDATE) to a copy of every seventh state, and the old content is read again. In every state that was
promised, the records must follow each other up to fEND."""

import os
import struct
import subprocess
import sys

import numpy
import ROOT
import uproot

ROOT.gROOT.SetBatch(True)


def text(state):
    return ",".join(f"{path}={entries}" for path, entries in sorted(state.items())) or "-"


def right_values(path, values):
    if not numpy.array_equal(values, numpy.arange(len(values))):
        raise ValueError(f"{path}: entry {numpy.argmax(values != numpy.arange(len(values)))} is wrong")
    return len(values)


def root_tables(directory, prefix=""):
    found = {}
    for key in directory.GetListOfKeys():
        path, name = prefix + key.GetName(), key.GetClassName()
        if name.startswith("TDirectory"):
            found.update(root_tables(key.ReadObj(), path + "/"))
        elif name == "TTree" and path != "appended":
            tree = key.ReadObj()
            frame = ROOT.RDataFrame(tree)
            found[path] = right_values(path, frame.AsNumpy(["x"])["x"]) if tree.GetEntries() else 0
    return found


def read_root(path):
    file = ROOT.TFile(path)
    if file.IsZombie() or file.TestBit(ROOT.TFile.kRecovered):
        raise ValueError("zombie" if file.IsZombie() else "recovered")
    found = root_tables(file)
    file.Close()
    return text(found)


def read_uproot(path):
    with uproot.open(path) as file:
        trees = [name for name, kind in file.classnames(recursive=True, cycle=False).items() if kind == "TTree"]
        return text({name: right_values(name, file[name]["x"].array(library="np")) for name in trees if name != "appended"})


def append_root(path):
    file = ROOT.TFile(path, "UPDATE")
    tree = ROOT.TTree("appended", "")
    value = numpy.zeros(1, dtype="i4")
    tree.Branch("x", value, "x/I")
    for value[0] in range(5000):
        tree.Fill()
    file.Write()
    file.Close()


def may_be(found, before, after, word):
    if word == "each":
        choices = [dict(table.split("=") for table in state.split(",")) for state in (before, after)]
        tables = dict(table.split("=") for table in found.split(","))
        return all(tables.get(path) in (choices[0].get(path), choices[1].get(path)) for path in choices[0] | choices[1] | tables)
    return found in ([after] if word == "sure" else [before, after])


def check(path, before, after, word, append):
    found = read_root(path)
    if not may_be(found, before, after, word):
        raise ValueError(f"ROOT reads {found}, not {before} or {after}")
    with_uproot = read_uproot(path)
    if with_uproot != found:
        raise ValueError(f"uproot reads {with_uproot}, ROOT {found}")
    if append:
        copy = path + ".appended.root"
        subprocess.run(["cp", "--sparse=auto", path, copy], check=True)
        append_root(copy)
        if read_root(copy) != found or read_uproot(copy) != found:
            raise ValueError("after ROOT appended to it, it is another")
        os.remove(copy)


def apply(patch, path, new):
    with open(patch, "rb") as patches, open(path, "wb" if new else "r+b") as file:
        while head := patches.read(16):
            offset, size = struct.unpack("<QQ", head)
            file.seek(offset)
            file.write(patches.read(size))


def check_records(path):
    """Walks like TFile::Map: each record or gap gives the place of the next one."""
    with open(path, "rb") as file:
        head = file.read(20)
        version, position = struct.unpack(">ii", head[4:12])
        end = struct.unpack(">q" if version > 1000000 else ">i", head[12 : 20 if version > 1000000 else 16])[0]
        while position < end:
            file.seek(position)
            length = struct.unpack(">i", file.read(4))[0]
            if length == 0:
                raise ValueError(f"no record at {position}")
            position += abs(length)
    if position != end:
        raise ValueError(f"a record ends at {position}, behind fEND {end}")


def main(directory, path):
    with open(os.path.join(directory, "states.txt")) as states:
        for number, line in enumerate(states):
            word, patch, before, after = line.split()
            if patch != "-":
                apply(os.path.join(directory, patch), path, word == "new")
            try:
                check(path, before, after, "sure" if word == "new" else word, number % 7 == 0)
                if word in ("sure", "new") and os.path.getsize(path) < 1_900_000_000:  # samples above have holes
                    check_records(path)
            except Exception as error:
                print(f"{number} {line.strip()}: {type(error).__name__}: {error}")


main(*sys.argv[1:])
