# SPDX-License-Identifier: Apache-2.0
"""What hadd makes of files whose objects ROOT adds."""

import ROOT


def merge(directory, names):
    """Makes hadd.root of NAME.root, in this order, all in the directory."""
    merger = ROOT.TFileMerger(False)
    merger.OutputFile(f"{directory}/hadd.root", True)
    for name in names:
        merger.AddFile(f"{directory}/{name}.root")
    assert merger.Merge()
    merger.Reset()
