# SPDX-License-Identifier: Apache-2.0
"""dates.py DIR: ROOT's dates in trees at several split levels, with what ROOT says of them, and in an RNTuple
(compiled.py)."""

import os
import sys

import compiled

FORMS = ((0, 101, 32000, 60), (1, 101, 32000, 60), (99, 505, 1600, 3000))


def make(directory):
    work = os.path.join(directory, "program")
    os.mkdir(work)
    compiled.build("dates", work, "-O0", (*compiled.LIBRARIES, "ROOTNTuple"), standard="c++20")
    for split, compression, basket_size, entries in FORMS:
        file = os.path.join(directory, f"dates-{split}")
        compiled.run("./dates", "write", file + ".root", str(split), str(compression), str(basket_size), str(entries), directory=work)
        compiled.run("./dates", "dump", file + ".root", file + ".txt", directory=work)
    compiled.run("./dates", "ntuple", os.path.join(directory, "ntuple.root"), "200", directory=work)


if __name__ == "__main__":
    make(sys.argv[1])
