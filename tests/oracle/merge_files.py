# SPDX-License-Identifier: Apache-2.0
"""Joins files as hadd does: fast|slow OUT IN...; slow reads trees entry by entry."""

import sys

import ROOT

way, out, *files = sys.argv[1:]
merger = ROOT.TFileMerger(False, False)
merger.SetFastMethod(way == "fast")
assert merger.OutputFile(out, "recreate", 404 if way == "slow" else 505)
assert all(merger.AddFile(file) for file in files) and merger.Merge()
