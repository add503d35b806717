# SPDX-License-Identifier: Apache-2.0
"""pointers.py DIR: pointers of every sort, and classes with streamers of their own, at several split levels (compiled.py)."""

import sys

import compiled

compiled.make("pointers", sys.argv[1], (0, 1, 99), ((101, 32000, 40), (505, 1600, 150)), libraries=("Matrix",))
