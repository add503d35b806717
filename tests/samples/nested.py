# SPDX-License-Identifier: Apache-2.0
"""nested.py DIR: TClonesArrays inside objects of their own class, at several split levels (compiled.py)."""

import sys

import compiled

compiled.make("nested", sys.argv[1], (0, 1, 99), ((101, 32000, 40), (505, 1600, 600)))
