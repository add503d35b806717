# SPDX-License-Identifier: Apache-2.0
"""root_json.py FILE ANSWER [SKIPPED...]: TBufferJSON's text of every key of a file that is neither directory nor table.

ANSWER gets one line per key: a JSON list of path, cycle, class and text (null if ROOT cannot read the object). Before
an object is read, a list of its path and cycle is written, which shows the object after a crash. Keys in SKIPPED, as
PATH;CYCLE, are left out."""

import json
import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <TBufferJSON.h>
#include <TClass.h>
#include <TKey.h>

std::string json_of_key(TKey* key) {
  TClass* type = TClass::GetClass(key->GetClassName());
  if (!type) return "";
  void* object = key->ReadObjectAny(nullptr);
  if (!object) return "";
  return TBufferJSON::ConvertToJSON(object, type).Data();
}
""")

TABLES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple", "ROOT::Experimental::RNTuple")


def keys_below(directory, path, depth=0):
    for key in directory.GetListOfKeys():
        name = path + key.GetName()
        class_name = key.GetClassName()
        if class_name.startswith("TDirectory"):
            below = directory.GetDirectory(key.GetName())
            if below and depth < 20:
                yield from keys_below(below, name + "/", depth + 1)
        elif class_name not in TABLES:
            yield name, key


def main(file_name, answer, skipped):
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    file = ROOT.TFile.Open(file_name)
    with open(answer, "a") as out:
        for path, key in keys_below(file, ""):
            if f"{path};{key.GetCycle()}" in skipped:
                continue
            out.write(json.dumps([path, key.GetCycle()]) + "\n")
            out.flush()
            text = str(ROOT.json_of_key(key))
            out.write(json.dumps([path, key.GetCycle(), str(key.GetClassName()), text or None]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], set(sys.argv[3:]))
