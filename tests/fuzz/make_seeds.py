# SPDX-License-Identifier: Apache-2.0
"""make_seeds.py DIR: small files that ROOT writes now into DIR/open, each of their baskets' records into DIR/basket,
StreamerInfo with entries of unsplit branches into DIR/program, objects (class, StreamerInfo record, payload, as
object_body.h reads them) into DIR/object."""

import os
import shutil
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import root_process  # noqa: E402

SAMPLES = ("storage", "strings", "event", "numbers", "pointers", "objects")
KINDS = ("open", "basket", "program", "object")
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


def counted(text):
    return bytes([len(text)]) + text


def payload_at(image, seek):
    """Class, fKeylen and payload of the record at a place; None where it is compressed."""
    stored, version, size, _, keylen = struct.unpack_from(">ihiIh", image, seek)
    at = seek + (34 if version > 1000 else 26)
    class_name = image[at + 1 : at + 1 + image[at]]
    return (class_name, bytes([keylen]), image[seek + keylen : seek + stored]) if size == stored - keylen else None


def objects(image):
    """One seed for each key of the root directory of a file that is not compressed."""
    info = payload_at(image, struct.unpack_from(">i", image, 37)[0])
    begin, name_size = struct.unpack_from(">i", image, 8)[0], struct.unpack_from(">i", image, 28)[0]
    list_at = struct.unpack_from(">i", image, begin + name_size + 2 + 4 + 4 + 4 + 4 + 4 + 4)[0]
    _, _, keys = payload_at(image, list_at)
    at = 4
    for _ in range(struct.unpack_from(">i", keys, 0)[0]):
        _, version, _, _, keylen, _, seek = struct.unpack_from(">ihiIhhi", keys, at)
        at += keylen
        found = payload_at(image, seek) if version < 1000 else None
        if found and info and len(info[2]) < 1 << 16:
            yield counted(found[0]) + info[1] + struct.pack(">H", len(info[2])) + info[2] + found[1] + found[2]


def main(target):
    shutil.rmtree(target, ignore_errors=True)
    for kind in KINDS:
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
                if sample == "objects":
                    for i, seed_bytes in enumerate(objects(image)):
                        with open(os.path.join(target, "object", f"{name}-{i}"), "wb") as seed:
                            seed.write(seed_bytes)
                if len(image) <= FILE_SIZE_MAX:
                    shutil.copy(path, os.path.join(target, "open", name))
                if "-0-" in name:
                    root_process.run_script(os.path.join("fuzz", "program_seeds.py"), [path, os.path.join(target, "program")])
                records = list(basket_records(image))
                for i, record in enumerate(records[:: max(1, len(records) // BASKETS_MAX)]):
                    with open(os.path.join(target, "basket", f"{name}-{i}"), "wb") as seed:
                        seed.write(record)
    print({kind: len(os.listdir(os.path.join(target, kind))) for kind in KINDS})


main(sys.argv[1])
