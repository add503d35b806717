# SPDX-License-Identifier: Apache-2.0
"""pointers.py DIR: all kinds of pointers, and classes with hand-written streamers, at several split levels
(compiled.py)."""

import sys

import compiled

compiled.make("pointers", sys.argv[1], (0, 1, 99), ((101, 32000, 40), (505, 1600, 150)), libraries=("Matrix",))
