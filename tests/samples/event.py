# SPDX-License-Identifier: Apache-2.0
"""event.py DIR: user classes at split levels 0, 1 and 99 (compiled.py)."""

import sys

import compiled

compiled.make("event", sys.argv[1], (0, 1, 99), ((101, 32000, 60), (505, 1600, 200)), optimization="-O1")
