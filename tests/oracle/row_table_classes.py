# SPDX-License-Identifier: Apache-2.0
"""row_table_classes.py FILE: a file without objects, which describes St_mcpoint, a class derived from TTable. ROOT has
no library of TTable any more, but only the names of the bases matter."""

import sys

import ROOT

ROOT.gInterpreter.Declare("""
class TDataSet : public TNamed { public: int fUnused = 0; };
class TTable : public TDataSet { public: int fN = 0; long fMaxIndex = 0, fSize = 0; };
class St_mcpoint : public TTable { public: int fOwn = 0; };
""")
with ROOT.TFile.Open(sys.argv[1], "RECREATE") as file:
    for name in ("TDataSet", "TTable", "St_mcpoint"):
        ROOT.TClass.GetClass(name).GetStreamerInfo().ForceWriteInfo(file, True)
