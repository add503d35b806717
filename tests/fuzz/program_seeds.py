# SPDX-License-Identifier: Apache-2.0
"""program_seeds.py FILE DIR: for each unsplit branch of the tree t in FILE, a seed of program_fuzz: the file's
StreamerInfo, and the first entries."""

import os
import struct
import sys

import ROOT

ENTRIES = 4

# Python would get a char* as text, which ends at the first zero.
ROOT.gInterpreter.Declare("""
std::vector<int> bytes_of(TBuffer& buffer, int begin, int end) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(buffer.Buffer());
  return {bytes + begin, bytes + end};
}
""")


def main(path, target):
    file = ROOT.TFile.Open(path)
    infos = ROOT.TBufferFile(ROOT.TBuffer.kWrite)
    file.GetStreamerInfoList().Streamer(infos)
    record = bytes(ROOT.bytes_of(infos, 0, infos.Length()))
    tree = file.Get("t")
    for branch in tree.GetListOfBranches():
        basket = branch.GetBasket(0)
        if branch.GetListOfBranches().GetEntries() or not basket or basket.GetNevBuf() < ENTRIES:
            continue
        begin = basket.GetKeylen()
        offsets = basket.GetEntryOffset()
        end = offsets[ENTRIES] if offsets else min(basket.GetLast(), begin + 400)
        data = bytes(ROOT.bytes_of(basket.GetBufferRef(), begin, end))
        with open(os.path.join(target, f"{os.path.basename(path)}-{branch.GetName()}"), "wb") as seed:
            seed.write(struct.pack(">I", len(record)) + record + bytes([ENTRIES - 1]) + data)


main(*sys.argv[1:])
