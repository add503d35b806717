# SPDX-License-Identifier: Apache-2.0
"""make_seeds.py DIR: small files that ROOT writes now into DIR/open, each of their baskets' records into DIR/basket, and
StreamerInfo with entries of unsplit branches into DIR/program."""

import os
import shutil
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import root_process  # noqa: E402

SAMPLES = ("storage", "strings", "event", "numbers", "pointers")
FILE_SIZE_MAX = 100_000  # larger inputs slow the fuzzer without showing it anything new
BASKETS_MAX = 40  # of one file


def basket_records(image):
    """The bytes of each TBasket record, found by its class name behind a key of the form with 64-bit addresses."""
    at = 0
    while (at := image.find(b"\x07TBasket", at + 1)) >= 0:
        begin = at - 34
        if begin > 0:
            stored = struct.unpack_from(">i", image, begin)[0]
            if 34 < stored <= len(image) - begin:
                yield image[begin : begin + stored]


def main(target):
    shutil.rmtree(target, ignore_errors=True)
    for kind in ("open", "basket", "program"):
        os.makedirs(os.path.join(target, kind))
    for sample in SAMPLES:
        with tempfile.TemporaryDirectory(prefix="seeds-") as directory:
            root_process.run_script(os.path.join("samples", sample + ".py"), [directory])
            for name in sorted(os.listdir(directory)):
                path = os.path.join(directory, name)
                if not name.endswith(".root") or os.path.getsize(path) > 10 * FILE_SIZE_MAX:
                    continue
                with open(path, "rb") as file:
                    image = file.read()
                if len(image) <= FILE_SIZE_MAX:
                    shutil.copy(path, os.path.join(target, "open", name))
                if "-0-" in name:
                    root_process.run_script(os.path.join("fuzz", "program_seeds.py"), [path, os.path.join(target, "program")])
                records = list(basket_records(image))
                for i, record in enumerate(records[:: max(1, len(records) // BASKETS_MAX)]):
                    with open(os.path.join(target, "basket", f"{name}-{i}"), "wb") as seed:
                        seed.write(record)
    print({kind: len(os.listdir(os.path.join(target, kind))) for kind in ("open", "basket", "program")})


main(sys.argv[1])
