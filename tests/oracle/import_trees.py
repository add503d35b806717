# SPDX-License-Identifier: Apache-2.0
"""import_trees.py FOLDER DIRECTORY SECONDS: converts the trees of a folder of files to RNTuples, with ROOT's importer.

Goes through the files by size for SECONDS, and appends a JSON line to DIRECTORY/imported for each tree that is small
enough: its file and name, and the RNTuple's file or the reason of the refusal. Trees that are already listed are
skipped: after a crash, the script is started again."""

import json
import os
import sys
import time

import ROOT

STORED_MAX = 1 << 20  # bytes of a tree
FILE_MAX = 20 << 20


def trees_of(directory, path=""):
    """Paths of the newest cycles."""
    seen = set()
    for key in directory.GetListOfKeys():
        name, kind = key.GetName(), ROOT.TClass.GetClass(key.GetClassName())
        if name in seen or not kind:
            continue
        seen.add(name)
        if kind.InheritsFrom("TDirectory"):
            yield from trees_of(key.ReadObj(), f"{path}{name}/")
        elif kind.InheritsFrom("TTree"):
            tree = key.ReadObj()
            if tree and 0 < tree.GetEntries() and tree.GetZipBytes() <= STORED_MAX:
                yield path + name


def import_tree(file, tree, to):
    try:
        importer = ROOT.Experimental.RNTupleImporter.Create(file, tree, to)
        importer.SetIsQuiet(True)
        importer.SetConvertDotsInBranchNames(True)
        importer.Import()
        return {"to": to}
    except Exception as refused:  # ROOT raises all kinds of exceptions
        return {"error": f"{type(refused).__name__}: {refused}"[:300]}


def main(folder, directory, seconds):
    ends = time.monotonic() + float(seconds)
    log = os.path.join(directory, "imported")
    known = [json.loads(line) for line in open(log)] if os.path.exists(log) else []
    begun = {(line["file"], line["tree"]) for line in known}
    paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".root")]
    with open(log, "a", buffering=1) as lines:
        for file in sorted(paths, key=os.path.getsize):
            if time.monotonic() > ends or os.path.getsize(file) > FILE_MAX:
                break
            if (file, "") in begun:
                continue
            # Written before the attempt, so that a file that crashes is not tried again.
            lines.write(json.dumps({"file": file, "tree": ""}) + "\n")
            try:
                trees = list(trees_of(ROOT.TFile.Open(file)))
            except OSError:
                continue
            for tree in trees:
                to = os.path.join(directory, f"{len(begun)}.root")
                begun.add((file, tree))
                lines.write(json.dumps({"file": file, "tree": tree, **import_tree(file, tree, to)}) + "\n")
    os._exit(0)  # destructors of classes that only the file describes may crash


ROOT.gErrorIgnoreLevel = ROOT.kFatal
main(*sys.argv[1:])
