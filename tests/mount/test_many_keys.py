# SPDX-License-Identifier: Apache-2.0
"""A directory with very many keys: listed completely, and each key is found at once. The file is hand-made according to
docs/format.md, since ROOT takes minutes to write so many keys."""

import json
import os
import struct

import mounted
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


def record(list_size, name_size, seek, parent, list_at):
    """Of a directory."""
    return (struct.pack(">hIIiiiiiH", 5, 0x7D000000, 0x7D000000, list_size, name_size, seek, parent, list_at, 1) + bytes(16)).ljust(60, b"\0")


def deep_file(depth, count):
    """Directories in each other with names of 200 bytes; the innermost has `count` keys of one object."""
    file_name, payload = b"deep.root", b"the same bytes for all"
    names = text(file_name) + text(b"")
    name_size = len(key(b"TFile", file_name, BEGIN, 0)) + len(names)
    at = BEGIN + name_size + 60
    places, heads = [BEGIN], [b""]
    for number in range(depth):
        heads.append(key(b"TDirectory", b"d%0199d" % number, at, 60, places[-1]))
        places.append(at)
        at += len(heads[-1]) + 60
    one = key(b"TObjString", b"key000000", at, len(payload), places[-1])
    head, tail = one.split(b"key000000")
    at += len(one) + len(payload)
    records, lists = [], []
    for level, place in enumerate(places):
        keys = [heads[level + 1]] if level < depth else [head + b"key%06d" % i + tail for i in range(count)]
        body = struct.pack(">i", len(keys)) + b"".join(keys)
        lists.append(key(b"TDirectory", b"list", at, len(body), place) + body)
        records.append(record(len(lists[-1]), len(heads[level]) or name_size, place, places[level - 1] if level else 0, at))
        at += len(lists[-1])
    end = at + len(key(b"TFile", file_name, at, 10)) + 10
    free = key(b"TFile", file_name, at, 10) + struct.pack(">hii", 1, end, 2_000_000_000)
    header = b"root" + struct.pack(">iiiiiiiBiii", 64000, BEGIN, end, at, len(free), 1, name_size, 4, 0, 0, 0)
    root = key(b"TFile", file_name, BEGIN, len(names) + 60) + names + records[0]
    directories = b"".join(each + of for each, of in zip(heads[1:], records[1:]))
    return header.ljust(BEGIN, b"\0") + root + directories + one + payload + b"".join(lists) + free


def test_long_paths_of_many_keys(mount, tmp_path):
    """.keys.json of 60,000 paths of 6 kB each: those are left out, and take no memory."""
    path = tmp_path / "deep.root"
    path.write_bytes(deep_file(30, 60_000))
    m = mount(path)
    before = m.resident_bytes()
    with open(os.path.join(m.path, ".keys.json"), encoding="utf-8") as file:
        told = json.load(file)
    assert told["all"] is False and len(told["keys"]) == 30
    assert told["keys"][-1]["path"].count("/") == 29 and len(told["keys"][-1]["path"]) == 30 * 201 - 1
    assert m.resident_bytes() - before < 100 << 20
    path.write_bytes(deep_file(30, 1_000))
    with mounted.Mounted(path) as fewer, open(os.path.join(fewer.path, ".keys.json"), encoding="utf-8") as file:
        told = json.load(file)
    assert told["all"] is True and len(told["keys"]) == 30 + 1_000
