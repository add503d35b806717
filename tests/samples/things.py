# SPDX-License-Identifier: Apache-2.0
"""things.py DIR: things.root with keys of classes that only its own descriptions tell of (compiled.py)."""

import os
import sys

import compiled

work = os.path.join(sys.argv[1], "program")
os.mkdir(work)
compiled.build("things", work, "-O0", compiled.LIBRARIES)
compiled.run("./things", os.path.join(sys.argv[1], "things.root"), directory=work)
