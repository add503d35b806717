# SPDX-License-Identifier: Apache-2.0
"""Programs that use ROOT, compiled with the ROOT of the Python package."""

import importlib.util
import os
import subprocess

import rounds

LIBRARIES = "Core RIO Tree TreePlayer ROOTNTuple ROOTNTupleUtil ROOTDataFrame ROOTVecOps MathCore Imt Thread".split()


def root_directory():
    """Where the Python package has ROOT: bin, lib, include."""
    return os.path.dirname(importlib.util.find_spec("ROOT").origin)


def compiled(name):
    """The program of NAME.cpp beside this file; compiled if it is older than its source."""
    source = os.path.join(rounds.HERE, name + ".cpp")
    target = os.path.join(rounds.cache_directory(), name)
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        root = root_directory()
        libraries = os.path.join(root, "lib")
        # The package's libraries need others of the package, which only the loader finds.
        subprocess.run(["g++", "-std=c++20", "-O2", f"-I{root}/include", source, "-o", target, f"-L{libraries}",
                        f"-Wl,-rpath,{libraries}", "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                        *(f"-l{library}" for library in LIBRARIES)], check=True)
    return target


def made(path, *command):
    """`path`; if it does not exist, it is made by a command that writes to its argument PATH."""
    if not os.path.exists(path):
        subprocess.run([argument.replace("PATH", path + ".tmp") for argument in command], check=True)
        os.rename(path + ".tmp", path)
    return path
