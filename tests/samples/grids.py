# SPDX-License-Identifier: Apache-2.0
"""grids.py DIR: std::array in collections, pairs and classes, unsplit and split (compiled.py)."""

import os
import sys

import compiled

directory = sys.argv[1]
compiled.make("grids", directory, (0,), ((101, 32000, 30), (505, 1600, 100)))
# ROOT 6.40 splits a list of arrays into a branch for the member of std::array, and says for each that it does not find it.
split = os.path.join(directory, "grids-99-101.root")
compiled.run("./grids", "write", split, "99", "101", "32000", "30", directory=os.path.join(directory, "program"),
             without="Could not find the real data member")
