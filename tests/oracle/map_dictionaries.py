# SPDX-License-Identifier: Apache-2.0
"""Prints those of the classes that ROOT has a dictionary for: CLASS..."""

import sys

import ROOT

known = [name for name in sys.argv[1:] if ROOT.TClass.GetClass(name) and ROOT.TClass.GetClass(name).HasDictionary()]
print("dictionaries:", *known, sep="\n")
