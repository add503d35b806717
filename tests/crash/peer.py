# SPDX-License-Identifier: Apache-2.0
"""peer.py WRITER FILE: another writer of ROOT files saves a growing tree, and notes each save in the log.

The test starts at the first save, which is made durable: a file that is still being created is of no interest.

WRITER: autosave (ROOT's TTree::AutoSave()), saveself (AutoSave("SaveSelf")) or extend (uproot's
WritableTree.extend)."""

import array
import os
import sys

import numpy

import recording

SAVES, ENTRIES = 6, 500


def saved(save, path):
    recording.mark(f"promise {save}")
    if save == 1:
        for name in path, os.path.dirname(path):
            file = os.open(name, os.O_RDONLY)
            os.fsync(file)
            os.close(file)
        recording.mark("start")


def px(first, last):
    return numpy.arange(first, last, dtype="<f4") * numpy.float32(0.5)


def n(first, last):
    return (numpy.arange(first, last) * 7).astype("<i4")


def with_root(path, option):
    import ROOT

    file = ROOT.TFile(path, "RECREATE")
    tree = ROOT.TTree("Events", "")
    tree.SetAutoFlush(100)
    values = array.array("f", [0]), array.array("i", [0])
    tree.Branch("px", values[0], "px/F")
    tree.Branch("n", values[1], "n/I")
    for save in range(SAVES):
        for entry in range(ENTRIES * save, ENTRIES * (save + 1)):
            values[0][0], values[1][0] = 0.5 * entry, entry * 7
            tree.Fill()
        recording.mark(f"begin {save + 1}")
        tree.AutoSave(option)
        saved(save + 1, path)
    file.Close()


def with_uproot(path):
    import uproot

    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {"px": "<f4", "n": "<i4"})
        for save in range(SAVES):
            first, last = ENTRIES * save, ENTRIES * (save + 1)
            recording.mark(f"begin {save + 1}")
            tree.extend({"px": px(first, last), "n": n(first, last)})
            saved(save + 1, path)


def main(writer, path):
    if writer == "extend":
        with_uproot(path)
    else:
        with_root(path, {"autosave": "", "saveself": "SaveSelf"}[writer])


if __name__ == "__main__":
    main(*sys.argv[1:])
