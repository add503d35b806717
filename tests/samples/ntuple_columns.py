# SPDX-License-Identifier: Apache-2.0
"""ntuple_columns.py DIR: compiles the program ntuple_columns (ntuple_columns.cpp)."""

import os
import sys

import compiled

SOURCE = os.path.join(compiled.HERE, "ntuple_columns.cpp")
LIBRARIES = ("Core", "RIO", "ROOTNTuple", "Tree", "MathCore", "Thread")
compiled.run(*compiled.COMPILER, "-std=c++20", "-O0", "-w", f"-isystem{compiled.BASE}/include", "-c", SOURCE, "-o", "ntuple_columns.o",
             directory=sys.argv[1])
compiled.run("g++", "ntuple_columns.o", "-o", "ntuple_columns",
             f"-L{compiled.BASE}/lib", f"-Wl,-rpath,{compiled.BASE}/lib", "-Wl,--allow-shlib-undefined",
             *("-l" + library for library in LIBRARIES), directory=sys.argv[1])
