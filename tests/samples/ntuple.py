# SPDX-License-Identifier: Apache-2.0
"""ntuple.py DIR: RNTuples with known values, written by the program of ntuple.cpp (compiled.py builds it).

Each SAMPLE-COMPRESSION.root has SAMPLE.json, its content, and SAMPLE-COMPRESSION.read, the values that ROOT's views
read: one line per field, as described in ntuple.cpp. Beside `imported` and `snapshot` is the tree of the same
content."""

import os
import sys

import compiled

CODECS = {"none": 0, "zlib": 101, "lzma": 207, "lz4": 404, "zstd": 505}
OF_ALL_CODECS = ("encodings", "bits", "types")
OTHERS = (
    "late", "representations", "projections", "attributes", "soa", "parallel", "merged", "filtered", "directories",
    "no_checksums", "empty", "imported", "snapshot",
)
LIBRARIES = ("ROOTNTuple", "ROOTNTupleUtil", "ROOTVecOps", "ROOTDataFrame", "TreePlayer")
# TStreamerInfo cannot describe a member that only RNTuple supports.
KNOWN = "Event, unknown type: float* perhaps"
PARTS = ("table", "encodings", "types", "changes", "files", "conversions")


def make(directory):
    work = os.path.join(directory, "program")
    os.makedirs(work, exist_ok=True)
    compiled.build("ntuple", work, "-O0", (*compiled.LIBRARIES, *LIBRARIES), parts=PARTS, standard="c++20")
    samples = [(name, codec) for name in OF_ALL_CODECS for codec in CODECS]
    samples += [(name, "zstd") for name in OTHERS]
    samples += [("small_keys", "none")]
    for name, codec in samples:
        file = os.path.join(directory, f"{name}-{codec}")
        compiled.run("./ntuple", "write", name, file + ".root", str(CODECS[codec]), directory=work, without=KNOWN)
        compiled.run("./ntuple", "check", name, file + ".root", file + ".read", directory=work, without=KNOWN)
    for name in (*OF_ALL_CODECS, *OTHERS, "small_keys"):
        compiled.run("./ntuple", "values", name, os.path.join(directory, name + ".json"), directory=work, without=KNOWN)


if __name__ == "__main__":
    make(sys.argv[1])
