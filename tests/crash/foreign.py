# SPDX-License-Identifier: Apache-2.0
"""foreign.py FILE TABLE [END]: ROOT writes a table of 1000 entries: "Events" with the columns of writing.py, or "t"
with column x, whose entry i is i. With END, the file is extended to that size by a gap, most of which is a hole on
disk."""

import array
import os
import struct
import sys

import ROOT

import writing

ENTRIES = 1000


def fill_t():
    tree = ROOT.TTree("t", "")
    x = array.array("i", [0])
    tree.Branch("x", x, "x/I")
    for x[0] in range(ENTRIES):
        tree.Fill()
    tree.Write()


def fill_events():
    tree = ROOT.TTree("Events", "")
    px, count, position = array.array("f", [0]), array.array("i", [0]), array.array("d", [0] * 3)
    hits, name = ROOT.std.vector["float"](), ROOT.std.string()
    tree.Branch("px", px, "px/F")
    tree.Branch("count", count, "count/I")
    tree.Branch("position", position, "position[3]/D")
    tree.Branch("hits", hits)
    tree.Branch("name", name)
    columns = {key: column(ENTRIES) for key, column in writing.COLUMNS.items()}
    next_hit = next_char = 0
    for entry in range(ENTRIES):
        px[0], count[0] = columns["px"][entry], int(columns["count"][entry])
        position[:] = array.array("d", columns["position"][3 * entry : 3 * entry + 3])
        items, counts = columns["hits"]
        hits.clear()
        for item in items[next_hit : next_hit + counts[entry]]:
            hits.push_back(float(item))
        next_hit += counts[entry]
        chars, sizes = columns["name"]
        name.assign(chars[next_char : next_char + sizes[entry]].tobytes().decode())
        next_char += sizes[entry]
        tree.Fill()
    tree.Write()


def lengthen(path, end):
    """Extends the file to `end` in header and free list; the added part is a gap."""
    with open(path, "r+b") as file:
        old_end, seek_free = struct.unpack(">ii", os.pread(file.fileno(), 8, 12))
        size, _, _, _, key_size = struct.unpack(">ihiih", os.pread(file.fileno(), 16, seek_free))
        last = seek_free + size - 10  # the last segment: version, first, last
        version, first, _ = struct.unpack(">hii", os.pread(file.fileno(), 10, last))
        assert version < 1000 and first == old_end and key_size < size
        os.pwrite(file.fileno(), struct.pack(">i", end), 12)
        os.pwrite(file.fileno(), struct.pack(">i", end), last + 2)
        os.pwrite(file.fileno(), struct.pack(">i", old_end - end), old_end)
        file.truncate(end)


path, table, *end = sys.argv[1:]
file = ROOT.TFile(path, "RECREATE")
{"Events": fill_events, "t": fill_t}[table]()
file.Close()
if end:
    lengthen(path, int(end[0]))
