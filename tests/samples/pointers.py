# SPDX-License-Identifier: Apache-2.0
"""pointers.py DIR: pointers of every sort, and classes with streamers of their own, at several split levels, written by a compiled program.

For each NAME.root there is NAME.txt: what ROOT reads back from it, as a Python literal."""

import os
import subprocess
import sys

import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = os.path.dirname(ROOT.__file__)
INCLUDES = [f"-I{HERE}", f"-I{os.path.join(HERE, '..', 'oracle')}", f"-I{BASE}/include"]
LIBRARIES = ["Core", "RIO", "Tree", "Net", "Hist", "MathCore", "Thread", "Imt", "Matrix"]


def run(*command, directory):
    result = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    sys.stdout.write(result.stdout + result.stderr)


def build(directory):
    # The dictionary's .pcm must lie beside the program; a rootmap would make later ROOT processes load it.
    run(f"{BASE}/bin/rootcling", "-f", "dictionary.cxx", *INCLUDES, "pointers.h", f"{HERE}/pointers_linkdef.h",
        directory=directory)
    run("g++", "-std=c++17", "-O0", "-w", *INCLUDES, f"{HERE}/pointers.cpp", "dictionary.cxx", "-o", "pointers",
        f"-L{BASE}/lib", f"-Wl,-rpath,{BASE}/lib", *("-l" + name for name in LIBRARIES), directory=directory)


def main(directory):
    work = os.path.join(directory, "program")
    os.mkdir(work)
    build(work)
    for split in (0, 1, 99):
        for compression, basket_size, entries in ((101, 32000, 40), (505, 1600, 150)):
            name = os.path.join(directory, f"pointers-{split}-{compression}")
            run("./pointers", "write", name + ".root", str(split), str(compression), str(basket_size), str(entries),
                directory=work)
            run("./pointers", "dump", name + ".root", name + ".txt", directory=work)


main(sys.argv[1])
