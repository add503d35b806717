# SPDX-License-Identifier: Apache-2.0
"""two_barriers.py TEMPLATE PLACES FILE: writes the template's three cycles of a tree as three commits.

The protocol on which the crash tests are tested: the first commit makes the file under another name and renames it.
Each later one writes records at the end, a barrier, header and root directory in one write, a barrier."""

import json
import os
import struct
import sys

import recording

BEGIN = 100
HEADER = struct.Struct(">4siiiiiiiBiii")  # root, fVersion, fBEGIN, fEND, fSeekFree, fNbytesFree, nfree, fNbytesName, …


class Template:
    def __init__(self, path, places):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.places = places
        self.header = list(HEADER.unpack_from(self.bytes))
        self.directory = BEGIN + self.header[7]  # the record of the root directory
        self.seek_keys = struct.unpack_from(">i", self.bytes, self.directory + 26)[0]

    def record(self, at, where, payload=None):
        """The record at `at`, changed to be valid at `where`, with another payload if one is given."""
        size, version, length, date, key_size = struct.unpack_from(">ihiih", self.bytes, at)
        payload = self.bytes[at + key_size : at + size] if payload is None else payload
        key = self.bytes[at + 14 : at + key_size]
        rest = key[:4] + struct.pack(">i", where) + key[8:]
        return struct.pack(">ihii", key_size + len(payload), version, len(payload), date) + rest

    def whole(self, at, where, payload=None):
        size, _, _, _, key_size = struct.unpack_from(">ihiih", self.bytes, at)
        payload = self.bytes[at + key_size : at + size] if payload is None else payload
        return self.record(at, where, payload) + payload

    def commit(self, cycle):
        """(first byte, records, head): everything that commit `cycle` (from 1) writes."""
        tree, _ = self.places[f"Events{cycle}"]
        room, room_size = self.places[f"room{cycle}"]
        end = room + room_size
        start = BEGIN if cycle == 1 else sum(self.places[f"room{cycle - 1}"])
        if cycle == 1:
            start = self.directory + 60
        tree_key_size = struct.unpack_from(">h", self.bytes, tree + 14)[0]
        keys = self.whole(self.seek_keys, room, struct.pack(">i", 1) + self.bytes[tree : tree + tree_key_size])
        out = self.bytes[start:room] + keys
        if cycle == 1:
            self.seek_info, old_info = start + len(out), self.header[10]
            out += self.whole(old_info, self.seek_info)
        seek_free = start + len(out)
        free = self.whole(self.header[4], seek_free, struct.pack(">hii", 1, end, 2_000_000_000))
        out += free
        gap = end - start - len(out)
        out += struct.pack(">i", -gap) + bytes(gap - 4)
        header = list(self.header)
        header[3:7] = end, seek_free, len(free), 1
        header[10] = self.seek_info
        head = bytearray(self.bytes[: self.directory + 60])
        HEADER.pack_into(head, 0, *header)
        struct.pack_into(">i", head, self.directory + 10, len(keys))
        struct.pack_into(">i", head, self.directory + 26, room)
        return start, out, bytes(head)


def sync_directory(path):
    directory = os.open(path, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def main(template_path, places, target):
    template = Template(template_path, json.loads(places))
    for cycle in (1, 2, 3):
        start, records, head = template.commit(cycle)
        recording.mark(f"begin {cycle}")
        if cycle == 1:
            new = target + ".new"
            file = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            os.pwrite(file, head, 0)
            os.pwrite(file, records, start)
            os.fdatasync(file)
            os.rename(new, target)
            sync_directory(os.path.dirname(target))
        else:
            half = len(records) // 2
            os.pwrite(file, records[:half], start)
            os.pwrite(file, records[half:], start + half)
            os.fdatasync(file)
            os.pwrite(file, head, 0)
            os.fdatasync(file)
        recording.mark(f"promise {cycle}")


main(*sys.argv[1:])
