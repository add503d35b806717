# SPDX-License-Identifier: Apache-2.0
"""make_seeds.py DIR: writes seeds for the fuzzers: small files that ROOT writes now into DIR/open; the records of their
baskets into DIR/basket; StreamerInfo with entries of unsplit branches into DIR/program; objects (class, StreamerInfo
record, payload, as object_body.h reads them) into DIR/object; envelopes of RNTuples with their files (ntuple_body.h)
into DIR/ntuple; pages of every encoding (page_body.h) into DIR/page; answers of HTTP servers (answer_body.h) into
DIR/answer; expressions of columns into DIR/expression."""

import os
import pathlib
import shutil
import struct
import sys
import tempfile
import zlib

import cramjam

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import root_process  # noqa: E402
import sample_files  # noqa: E402

SAMPLES = ("storage", "strings", "event", "numbers", "pointers", "objects", "ntuple")
KINDS = ("open", "basket", "program", "object", "ntuple", "page", "answer", "expression")
FILE_SIZE_MAX = 100_000  # larger inputs slow the fuzzer and show nothing new
BASKETS_MAX = 40  # per file


def basket_records(image):
    """The bytes of each TBasket record, found by the class name after a key in the form with 64-bit addresses."""
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
    """Class, fKeylen and payload of the record at an address; None if it is compressed."""
    stored, version, size, _, keylen = struct.unpack_from(">ihiIh", image, seek)
    at = seek + (34 if version > 1000 else 26)
    class_name = image[at + 1 : at + 1 + image[at]]
    return (class_name, bytes([keylen]), image[seek + keylen : seek + stored]) if size == stored - keylen else None


def objects(image):
    """One seed for each key in the root directory of an uncompressed file."""
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


def unpacked(stored, length):
    """The decompressed envelope; None if another codec was used."""
    if len(stored) == length:
        return stored
    content, at = b"", 0
    while at < len(stored):
        codec, size = stored[at : at + 2], int.from_bytes(stored[at + 3 : at + 6], "little")
        block = stored[at + 9 : at + 9 + size]
        if codec not in (b"ZS", b"ZL"):
            return None
        content += bytes(cramjam.zstd.decompress(block)) if codec == b"ZS" else zlib.decompress(block)
        at += 9 + size
    return content


def first_page_list(footer):
    """(begin, size, length) of the page list of the first cluster group, from the payload of a footer; None without
    groups."""
    groups = 16 + struct.unpack_from("<q", footer, 16)[0]
    if struct.unpack_from("<I", footer, groups + 8)[0] == 0:
        return None
    at = groups + 12 + 8 + 20
    length, size, begin = struct.unpack_from("<QiQ", footer, at)
    return begin, size, length


def envelopes(image):
    """One seed for each RNTuple whose anchor is in a file."""
    places = set()
    at = 0
    while (at := image.find(b"\x0dROOT::RNTuple", at + 1)) >= 0:
        _, version, length, _, keylen, _, seek = struct.unpack_from(">ihiIhhi", image, at - 26)
        if version < 1000 and length == 78:
            places.add(seek + keylen)
    for place in sorted(places):
        numbers = struct.unpack_from(">6Q", image, place + 14)
        payload_of = lambda begin, size, length: (unpacked(image[begin : begin + size], length) or b"")[8:-8]
        parts = [payload_of(*numbers[:3]), payload_of(*numbers[3:])]
        if all(parts) and (page_list := first_page_list(parts[1])):
            parts.append(payload_of(*page_list))
            yield b"".join(struct.pack("<I", len(part)) + part for part in parts) + image


BITS = [1, 8, 8, 8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 32, 64, 96, 16, 16, 32, 32, 64, 64, 16, 32, 64, 32, 64]
ELEMENTS = 40


def pages():
    encodings = [*enumerate(BITS), *((28, bits) for bits in range(10, 32)), *((29, bits) for bits in range(1, 33))]
    for code, bits in encodings:
        page = bytes(i // 5 for i in range((ELEMENTS * bits + 7) // 8))
        yield struct.pack("<BBBIqdd", code, bits, code % 11, ELEMENTS, 1000, -1, 1) + page


def answers():
    """Bodies of multipart/byteranges, with boundaries and line ends as nginx and XRootD write them."""
    part = b"Content-Range: bytes %d-%d/1000\r\n\r\n"
    for boundary, extra in ((b"00000000000000000001", b"Content-Type: application/octet-stream\r\n"), (b"123456", b"")):
        body = b"".join(b"\r\n--" + boundary + b"\r\n" + extra + part % (at, at + 9) + bytes(range(at, at + 10))
                        for at in (10, 40, 20)) + b"\r\n--" + boundary + b"--\r\n"
        yield bytes([6, 10, 9]) + body
    yield bytes([255, 0, 0]) + b"bytes 0-99/1234"


def expressions():
    yield from (b"sqrt(px*px+py*py):mass", b"Sum$(pt*(abs(eta)<2.4))>20&&n>=2", b'x[0][i].y[]!=0x1f?a=="b c":-@l.size()**.5e-3',
                b"Alt$(x[1],-1)|MaxIf$(a,b)<<2", b"TMath::Pi()%((n))*[p0]", b"`a b`.c>@`x``y`.size()")


def write_all(directory, name, contents):
    for i, content in enumerate(contents):
        with open(os.path.join(directory, f"{name}-{i}"), "wb") as seed:
            seed.write(content)


def seeds_of_file(sample, path, target):
    name = os.path.basename(path)
    with open(path, "rb") as file:
        image = file.read()
    if sample == "ntuple":
        if len(image) <= FILE_SIZE_MAX:
            write_all(os.path.join(target, "ntuple"), name, envelopes(image))
        return
    if sample == "objects":
        write_all(os.path.join(target, "object"), name, objects(image))
    if len(image) <= FILE_SIZE_MAX:
        shutil.copy(path, os.path.join(target, "open", name))
    if "-0-" in name:
        root_process.run_script(os.path.join("fuzz", "program_seeds.py"), [path, os.path.join(target, "program")])
    records = list(basket_records(image))
    write_all(os.path.join(target, "basket"), name, records[:: max(1, len(records) // BASKETS_MAX)])


def main(target):
    shutil.rmtree(target, ignore_errors=True)
    for kind in KINDS:
        os.makedirs(os.path.join(target, kind))
    write_all(os.path.join(target, "answer"), "answer", answers())
    write_all(os.path.join(target, "page"), "page", pages())
    write_all(os.path.join(target, "expression"), "expression", expressions())
    with tempfile.TemporaryDirectory(prefix="seeds-") as directory:
        base = sample_files.kept() or pathlib.Path(directory)
        for sample in SAMPLES:
            made = pathlib.Path(sample_files.made(sample, base))
            for path in sorted(made.glob("*.root")):
                if path.stat().st_size <= 10 * FILE_SIZE_MAX:
                    seeds_of_file(sample, path, target)
    print({kind: len(os.listdir(os.path.join(target, kind))) for kind in KINDS})


main(sys.argv[1])
