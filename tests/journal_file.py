# SPDX-License-Identifier: Apache-2.0
"""Hand-made journals (docs/journal.md) that no writer would leave."""

import os
import struct

import xxhash

BEGIN, CREATE, REMOVE, RENAME = 1, 3, 4, 5
DIRECTORY, COLUMN = 1, 2
SALT = 4711


def text(value):
    value = os.fsencode(value)
    return struct.pack("<I", len(value)) + value


def create(number, path, kind=DIRECTORY):
    return CREATE, number, struct.pack("<B", kind) + text(path)


def rename(number, path):
    return RENAME, number, text("") + text(path)


def write(root_file, records):
    """Writes a journal beside a file in its present state; returns its path."""
    out = bytearray(b"tfilefs journal\n" + struct.pack("<IIQ", 1, 0, SALT))

    def add(kind, number, payload):
        rest = struct.pack("<IIQQ", len(payload), kind, number, 0) + payload
        out.extend(struct.pack("<Q", xxhash.xxh64_intdigest(rest, seed=SALT + len(out))) + rest)

    add(BEGIN, 0, struct.pack("<I", 24) + identity(root_file))
    for record in records:
        add(*record)
    path = f"{root_file}.tfilefs-journal"
    with open(path, "wb") as file:
        file.write(out)
    os.chmod(path, 0o600)
    return path


def identity(root_file):
    """UUID and fEND from the header of a file below 2 GB."""
    with open(root_file, "rb") as file:
        head = file.read(64)
    (end,) = struct.unpack_from(">i", head, 12)
    return head[47:63] + struct.pack("<q", end)
