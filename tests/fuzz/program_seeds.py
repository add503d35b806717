# SPDX-License-Identifier: Apache-2.0
"""program_seeds.py FILE DIR: for branches of the tree t in FILE that are not split, a seed of program_fuzz: the file's
StreamerInfo, and the first entries."""

import os
import struct
import sys

import ROOT

ENTRIES = 4


def main(path, target):
    file = ROOT.TFile.Open(path)
    infos = ROOT.TBufferFile(ROOT.TBuffer.kWrite)
    file.GetStreamerInfoList().Streamer(infos)
    record = bytes(infos.Buffer()[i] & 0xFF if isinstance(infos.Buffer()[i], int) else ord(infos.Buffer()[i]) for i in range(infos.Length()))
    tree = file.Get("t")
    for branch in tree.GetListOfBranches():
        basket = branch.GetBasket(0)
        if branch.GetListOfBranches().GetEntries() or not basket or basket.GetNevBuf() < ENTRIES:
            continue
        buffer, begin = basket.GetBufferRef(), basket.GetKeylen()
        offsets = basket.GetEntryOffset()
        end = offsets[ENTRIES] if offsets else min(basket.GetLast(), begin + 400)
        data = bytes(ord(buffer.Buffer()[i]) if isinstance(buffer.Buffer()[i], str) else buffer.Buffer()[i] & 0xFF for i in range(begin, end))
        with open(os.path.join(target, f"{os.path.basename(path)}-{branch.GetName()}"), "wb") as seed:
            seed.write(struct.pack(">I", len(record)) + record + bytes([ENTRIES - 1]) + data)


main(*sys.argv[1:])
