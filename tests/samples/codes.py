# SPDX-License-Identifier: Apache-2.0
"""codes.py DIR: enumerations in collections at several split levels (compiled.py); lone.root has some that
nothing in the file describes."""

import os
import sys

import compiled

compiled.make("codes", sys.argv[1], (0, 1, 99), ((101, 32000, 30), (505, 1600, 100)), without="Discarding Wide pair<Wide,Wide>")
compiled.run("./codes", "lone", os.path.join(sys.argv[1], "lone.root"), directory=os.path.join(sys.argv[1], "program"))
