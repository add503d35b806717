# SPDX-License-Identifier: Apache-2.0
"""Samples of classes with a dictionary, written by a compiled program (NAME.cpp, NAME.h, NAME_linkdef.h beside this file).

For each NAME-SPLIT-COMPRESSION.root there is a .txt: what ROOT reads back from it, as a Python literal."""

import os
import subprocess
import sys

import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = os.path.dirname(ROOT.__file__)
INCLUDES = [f"-I{HERE}", f"-I{os.path.join(HERE, '..', 'oracle')}", f"-I{BASE}/include"]
LIBRARIES = ("Core", "RIO", "Tree", "Net", "Hist", "MathCore", "Thread", "Imt")


def run(*command, directory):
    result = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    sys.stdout.write(result.stdout + result.stderr)


def build(name, directory, optimization, libraries, defines=()):
    # The dictionary's .pcm must lie beside the program; a rootmap would make later ROOT processes load it.
    run(f"{BASE}/bin/rootcling", "-f", "dictionary.cxx", *defines, *INCLUDES, f"{name}.h", f"{HERE}/{name}_linkdef.h", directory=directory)
    run("g++", "-std=c++17", optimization, "-w", *defines, *INCLUDES, f"{HERE}/{name}.cpp", "dictionary.cxx", "-o", name,
        f"-L{BASE}/lib", f"-Wl,-rpath,{BASE}/lib", *("-l" + library for library in libraries), directory=directory)


def make(name, directory, splits, forms, optimization="-O0", libraries=()):
    """`forms`: (compression, basket size, entries) of the files at each split level."""
    work = os.path.join(directory, "program")
    os.mkdir(work)
    build(name, work, optimization, (*LIBRARIES, *libraries))
    for split in splits:
        for compression, basket_size, entries in forms:
            file = os.path.join(directory, f"{name}-{split}-{compression}")
            run(f"./{name}", "write", file + ".root", str(split), str(compression), str(basket_size), str(entries), directory=work)
            run(f"./{name}", "dump", file + ".root", file + ".txt", directory=work)
