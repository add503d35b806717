# SPDX-License-Identifier: Apache-2.0
"""Samples of classes with a dictionary, written by a compiled program (NAME.cpp, NAME.h, NAME_linkdef.h beside this
file).

Each NAME-SPLIT-COMPRESSION.root has a .txt with the values that ROOT reads from it, as a Python literal."""

import concurrent.futures
import os
import shutil
import subprocess
import sys

import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = os.path.dirname(ROOT.__file__)
INCLUDES = [f"-I{HERE}", f"-I{os.path.join(HERE, '..', 'oracle')}", f"-I{BASE}/include"]
# The headers of ROOT take a minute of a compiler for each file.
COMPILER = ("ccache", "g++") if shutil.which("ccache") else ("g++",)
LIBRARIES = ("Core", "RIO", "Tree", "Net", "Hist", "MathCore", "Thread", "Imt")


def run(*command, directory, without=None):
    """`without`: known lines with this text are not printed."""
    result = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    lines = (result.stdout + result.stderr).splitlines(keepends=True)
    sys.stdout.writelines(line for line in lines if without is None or without not in line)


def build(name, directory, optimization, libraries, defines=(), parts=(), standard="c++17"):
    """`parts`: the program also has a NAME_PART.cpp for each of them."""
    # The dictionary's .pcm must be beside the program. A rootmap would make later ROOT processes load it.
    run(f"{BASE}/bin/rootcling", "-f", "dictionary.cxx", *defines, *INCLUDES, f"{name}.h", f"{HERE}/{name}_linkdef.h", directory=directory)
    sources = ["dictionary.cxx", *(f"{HERE}/{part}.cpp" for part in (name, *(f"{name}_{part}" for part in parts)))]
    objects = [f"{number}.o" for number in range(len(sources))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda source, compiled: run(*COMPILER, f"-std={standard}", optimization, "-w", *defines, *INCLUDES, "-c", source,
                                                   "-o", compiled, directory=directory), sources, objects))
    # Some of ROOT's libraries need others that may be missing and are not used.
    run("g++", *objects, "-o", name, f"-L{BASE}/lib", f"-Wl,-rpath,{BASE}/lib", "-Wl,--allow-shlib-undefined",
        *("-l" + library for library in libraries), directory=directory)


def make(name, directory, splits, forms, optimization="-O0", libraries=(), without=None):
    """`forms`: (compression, basket size, entries) of the files at each split level. `without`: as in run()."""
    work = os.path.join(directory, "program")
    os.mkdir(work)
    build(name, work, optimization, (*LIBRARIES, *libraries))
    for split in splits:
        for compression, basket_size, entries in forms:
            file = os.path.join(directory, f"{name}-{split}-{compression}")
            run(f"./{name}", "write", file + ".root", str(split), str(compression), str(basket_size), str(entries), directory=work,
                without=without)
            run(f"./{name}", "dump", file + ".root", file + ".txt", directory=work, without=without)
