# SPDX-License-Identifier: Apache-2.0
"""A directory with very many keys: listed completely, and each key is found at once. The file is hand-made according to
docs/format.md, since ROOT takes minutes to write so many keys."""

import os
import struct

import mounted_table

KEYS = 300_000
BEGIN = 100


def text(value):
    return bytes([len(value)]) + value


def key(class_name, name, seek, payload_size, directory=BEGIN):
    """A key of the small form with an uncompressed payload."""
    strings = text(class_name) + text(name) + text(b"")
    size = 26 + len(strings)
    return struct.pack(">ihiIhhii", size + payload_size, 4, payload_size, 0x7D000000, size, 1, seek, directory) + strings


def file_of(count):
    file_name = b"many.root"
    names = text(file_name) + text(b"")
    root_key_size = len(key(b"TFile", file_name, BEGIN, 0))
    name_size = root_key_size + len(names)
    payload = b"the same bytes for all"
    object_at = BEGIN + name_size + 60
    one = key(b"TObjString", b"key0000000", object_at, len(payload)) + payload
    list_at = object_at + len(one)
    head, tail = key(b"TObjString", b"key0000000", object_at, len(payload)).split(b"key0000000")
    keys = b"".join(head + b"key%07d" % i + tail for i in range(count))
    list_payload = struct.pack(">i", count) + keys
    list_record = key(b"TFile", file_name, list_at, len(list_payload)) + list_payload
    free_at = list_at + len(list_record)
    end = free_at + len(key(b"TFile", file_name, free_at, 10)) + 10
    free = key(b"TFile", file_name, free_at, 10) + struct.pack(">hii", 1, end, 2_000_000_000)
    header = b"root" + struct.pack(">iiiiiiiBiii", 64000, BEGIN, end, free_at, len(free), 1, name_size, 4, 0, 0, 0)
    record = struct.pack(">hIIiiiiiH", 5, 0x7D000000, 0x7D000000, len(list_record), name_size, BEGIN, 0, list_at, 1)
    record = (record + bytes(16)).ljust(60, b"\0")
    root = key(b"TFile", file_name, BEGIN, len(names) + 60) + names + record
    return header.ljust(BEGIN, b"\0") + root + one + list_record + free, payload


def test_many_keys(mount, tmp_path):
    image, payload = file_of(KEYS)
    path = tmp_path / "many.root"
    path.write_bytes(image)
    m = mount(path)
    for i in (0, 1, KEYS // 2, KEYS - 1):
        assert mounted_table.read_exactly(os.path.join(m.path, f"key{i:07d}", "object.bin")) == payload
    assert not os.path.exists(os.path.join(m.path, f"key{KEYS:07d}"))
    names = os.listdir(m.path)
    assert len(names) == KEYS and set(names) == {f"key{i:07d}" for i in range(KEYS)}
    # The list itself has 60 bytes per key; the daemon must not need much more.
    assert m.resident_bytes() < (100 << 20) + 1000 * KEYS
