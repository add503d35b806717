# SPDX-License-Identifier: Apache-2.0
"""shelf.py DIR: collections in collections and arrays of objects at several split levels (compiled.py)."""

import sys

import compiled

compiled.make("shelf", sys.argv[1], (0, 1, 2, 99), ((101, 32000, 40), (505, 1600, 150)))
