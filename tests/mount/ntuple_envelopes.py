# SPDX-License-Identifier: Apache-2.0
"""Changes the envelopes of an RNTuple in a file: Envelopes(image) reads them; image() appends them to the file, with
correct lengths and checksums. The numbers in them are found by their meaning (NUMBERS)."""

import re
import struct

import cramjam
import xxhash

ANCHOR = 78  # bytes; the first six are the frame of the object
HEADER, FOOTER, PAGE_LIST = 1, 2, 3


def unpacked(stored, length):
    if len(stored) == length:
        return stored
    content, at = b"", 0
    while at < len(stored):
        assert stored[at : at + 2] == b"ZS"
        size = int.from_bytes(stored[at + 3 : at + 6], "little")
        content += bytes(cramjam.zstd.decompress(stored[at + 9 : at + 9 + size]))
        at += 9 + size
    return content


def packed(content):
    """Packs content as zstd blocks, whose sizes have three bytes."""
    blocks = b""
    for at in range(0, len(content), (1 << 24) - 1):
        piece = content[at : at + (1 << 24) - 1]
        block = bytes(cramjam.zstd.compress(piece, level=3))
        blocks += b"ZS\1" + len(block).to_bytes(3, "little") + len(piece).to_bytes(3, "little") + block
    return blocks


class Walk:
    """Reads a payload from front to back, and notes the place of each number."""

    def __init__(self, payload):
        self.payload, self.at, self.places = payload, 0, {}

    def number(self, code, name):
        at, self.at = self.at, self.at + struct.calcsize(code)
        self.places.setdefault(name, []).append((at, code))
        return struct.unpack_from("<" + code, self.payload, at)[0]

    def text(self, name):
        length = self.number("I", name)
        self.at += length

    def record(self, name, read):
        begin = self.at
        end = begin + self.number("q", "size of " + name)
        read()
        self.at = end

    def list(self, name, read, behind=lambda: None):
        begin = self.at
        size, items = self.number("q", "size of list of " + name), self.number("I", "number of " + name)
        for _ in range(items):
            read()
        behind()
        self.at = begin - size

    def locator(self, name):
        self.number("i", "size of " + name)
        self.number("Q", "address of " + name)


def walk_schema(walk):
    def field():
        for name in ("field version", "type version", "parent"):
            walk.number("I", name)
        walk.number("H", "role")
        flags = walk.number("H", "field flags")
        for name in ("name", "type name", "type alias", "field description"):
            walk.text("length of " + name)
        for bit, code, name in ((1, "Q", "array size"), (2, "I", "projected field"), (4, "I", "type checksum")):
            if flags & bit:
                walk.number(code, name)

    def column():
        for code, name in (("H", "column type"), ("H", "bits"), ("I", "field of column")):
            walk.number(code, name)
        flags = walk.number("H", "column flags")
        walk.number("H", "representation")
        if flags & 1:
            walk.number("q", "deferred")

    def alias():
        walk.number("I", "column of alias")
        walk.number("I", "field of alias")

    def type_information():
        walk.number("I", "content")
        walk.number("I", "version of content")
        walk.text("length of class name")
        walk.text("length of content")

    for name, read in (("fields", field), ("columns", column), ("aliases", alias), ("types", type_information)):
        walk.list(name, lambda name=name, read=read: walk.record(name[:-1], read))


def walk_header(walk):
    walk.number("Q", "feature flags")
    for name in ("table", "description", "writer"):
        walk.text("length of " + name)
    walk_schema(walk)


def walk_footer(walk):
    def group():
        for code, name in (("Q", "first entry of group"), ("Q", "entries of group"), ("I", "clusters of group"),
                           ("Q", "length of page list")):
            walk.number(code, name)
        walk.locator("page list")

    def attribute_set():
        walk.number("H", "major version of attribute set")
        walk.number("H", "minor version of attribute set")

    walk.number("Q", "feature flags")
    walk.at += 8
    walk.record("extension", lambda: None)
    walk.list("groups", lambda: walk.record("group", group))
    if walk.at < len(walk.payload):  # absent before version 1.0.1.0
        walk.list("attribute sets", lambda: walk.record("attribute set", attribute_set))


def walk_page_list(walk):
    def summary():
        walk.number("Q", "first entry")
        walk.number("Q", "entries")

    def page():
        walk.number("i", "elements")
        walk.locator("page")

    def behind():
        if walk.number("q", "first element") >= 0:
            walk.number("I", "compression")

    walk.at += 8
    walk.list("summaries", lambda: walk.record("summary", summary))
    walk.list("clusters", lambda: walk.list("column lists", lambda: walk.list("pages", page, behind)))


class Envelopes:
    def __init__(self, image, number=0):
        """Reads the RNTuple whose anchor has that number. Anchors of attribute sets come before that of the described
        RNTuple."""
        self.file = bytes(image)
        self.anchor = [*self.anchors()][number]
        numbers = struct.unpack_from(">6Q", self.file, self.anchor + 14)
        self.payloads = {HEADER: self.payload(*numbers[:3]), FOOTER: self.payload(*numbers[3:])}
        begin, size, length = (number for _, _, number in self.link_of_page_list())
        self.payloads[PAGE_LIST] = self.payload(begin, size, length)
        self.link = self.link_of_page_list()
        self.packed, self.claimed_length, self.max_key_size = set(), {}, None

    def anchors(self):
        for match in re.finditer(b"\x0dROOT::RNTuple", self.file):
            # Keys with addresses of four bytes, and of eight.
            for form, size in ((">ihiIhhi", 26), (">ihiIhhq", 34)):
                _, version, length, _, keylen, _, seek = struct.unpack_from(form, self.file, match.start() - size)
                if (version > 1000) == (size == 34) and length == ANCHOR:
                    yield seek + keylen

    def payload(self, begin, size, length):
        return bytearray(unpacked(self.file[begin : begin + size], length)[8:-8])

    def walked(self, kind):
        """{meaning of a number: [(place, code of struct), ...]} for an envelope."""
        walk = Walk(self.payloads[kind])
        {HEADER: walk_header, FOOTER: walk_footer, PAGE_LIST: walk_page_list}[kind](walk)
        assert walk.at <= len(self.payloads[kind])
        return walk.places

    def link_of_page_list(self):
        """(place, code, number) of address, size and length of the first group's page list."""
        footer, places = self.payloads[FOOTER], self.walked(FOOTER)
        first = [places[name][0] for name in ("address of page list", "size of page list", "length of page list")]
        return [(at, code, struct.unpack_from("<" + code, footer, at)[0]) for at, code in first]

    def claim(self, kind, name, value, which=slice(None)):
        """Sets every such number to this value, or as much of it as fits."""
        places = self.walked(kind)[name][which]
        assert places
        for at, code in places:
            size = struct.calcsize(code)
            self.payloads[kind][at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")

    def image(self):
        """The new file. Its page list is that of the first group only."""
        image = bytearray(self.file)

        def add(kind):
            payload = bytes(self.payloads[kind])
            envelope = struct.pack("<Q", kind | (len(payload) + 16) << 16) + payload
            checksum = xxhash.xxh3_64_intdigest(envelope)
            envelope += struct.pack("<Q", checksum)
            stored = packed(envelope) if kind in self.packed else envelope
            begin = len(image)
            image.extend(stored)
            return begin, len(stored), self.claimed_length.get(kind, len(envelope)), checksum

        header = add(HEADER)
        struct.pack_into("<Q", self.payloads[PAGE_LIST], 0, header[3])
        begin, size, length, _ = add(PAGE_LIST)
        footer = self.payloads[FOOTER]
        struct.pack_into("<Q", footer, 8, header[3])
        # A false claim made by the test is kept.
        for (at, code, old), new in zip(self.link, (begin, size, length)):
            if struct.unpack_from("<" + code, footer, at)[0] == old:
                struct.pack_into("<" + code, footer, at, new)
        footer = add(FOOTER)
        members = bytearray(image[self.anchor + 6 : self.anchor + ANCHOR - 8])
        struct.pack_into(">6Q", members, 8, *header[:3], *footer[:3])
        if self.max_key_size is not None:
            struct.pack_into(">Q", members, 56, self.max_key_size)
        image[self.anchor + 6 : self.anchor + ANCHOR] = bytes(members) + struct.pack(">Q", xxhash.xxh3_64_intdigest(bytes(members)))
        return bytes(image)
