# SPDX-License-Identifier: Apache-2.0
"""handmade.py DIR: handmade.root, a tree of classes whose Streamers are written by hand, streamed.root, ROOT's RNTuple of
the same content, and the program that wrote them, which also prints what ROOT reads from such files (handmade.cpp)."""

import os
import sys

import compiled


def make(directory):
    compiled.build("handmade", directory, "-O0", (*compiled.LIBRARIES, "ROOTNTuple"), standard="c++20")
    compiled.run("./handmade", "write", "handmade.root", "101", "2000", directory=directory)
    compiled.run("./handmade", "streamed", "streamed.root", "2000", directory=directory)


if __name__ == "__main__":
    make(sys.argv[1])
