# SPDX-License-Identifier: Apache-2.0
"""Run by ROOT: large_matrix.py DIRECTORY writes large_matrix.root, with the matrix `m` of 10,000 x 10,001 bins that
physicists make of pairs of gamma rays, `weighted` of 1,100 x 1,000 bins with errors and overflow, the profile `p` of 800
x 801 bins, and `line` of 5 million bins; and containers.root with the matrix `h` of 5,000 x 5,000 bins, by itself, in the
canvas `c`, the list `l` and the folder `folder`, and with the stack `st` of two lines; and behind.root with collections
of each kind in which `behind`, a small histogram, follows one of 3 million bins."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

os.chdir(sys.argv[1])
file = ROOT.TFile("large_matrix.root", "RECREATE")
m = ROOT.TH2S("m", "#gamma#gamma;E_{1} [keV];E_{2} [keV]", 10_000, 0, 10_000, 10_001, 0, 10_001)
for y in (1, 5_000, 10_001):
    for x in range(1, 10_001):
        m.SetBinContent(x, y, (x * 7 + y) % 3_000)
m.SetEntries(30_000)
m.Write()
m.Delete()

weighted = ROOT.TH2D("weighted", "weighted;x;y", 1_100, -1, 1, 1_000, 0, 3)
weighted.Sumw2()
random = ROOT.TRandom3(5)
for _ in range(20_000):
    weighted.Fill(random.Gaus(0, 0.4), random.Gaus(1.5, 0.8), random.Rndm())
weighted.Write()

p = ROOT.TProfile2D("p", "profile", 800, 0, 9, 801, 0, 9)
for _ in range(5_000):
    p.Fill(9 * random.Rndm(), 9 * random.Rndm(), random.Gaus(), random.Rndm())
p.Write()

line = ROOT.TH1F("line", "line", 5_000_000, 0, 50)
for _ in range(3_000):
    line.Fill(random.Gaus(25, 8))
line.Write()
file.Close()

file = ROOT.TFile("containers.root", "RECREATE")
ROOT.gROOT.SetBatch()
h = ROOT.TH2D("h", "h;x;y;z", 5_000, 0, 5_000, 5_000, 0, 5_000)
h.SetDirectory(ROOT.nullptr)
h.SetStats(False)
for y in (1, 2_500, 5_000):
    for x in range(1, 5_001):
        h.SetBinContent(x, y, (x * 7 + y) % 3_000)
h.Write()
canvas = ROOT.TCanvas("c", "c")
h.Draw("colz")
text = ROOT.TLatex(0.2, 0.5, "a text")
text.SetNDC()
text.Draw()
canvas.Write()
graph = ROOT.TGraph(3)
graph.SetName("g")
for i in range(3):
    graph.SetPoint(i, i, i * i)
named = ROOT.TNamed("n", "title")
items = ROOT.TList()
for item in (h, graph, named, h):
    items.Add(item)
items.Write("l", ROOT.TObject.kSingleKey)
folder = ROOT.TFolder("folder", "folder")
folder.Add(h)
folder.Write()
lines = [ROOT.TH1F(f"line{i}", f"line {i}", 3_000_000, 0, 50) for i in range(2)]
stack = ROOT.THStack("st", "st")
for line in lines:
    line.SetDirectory(ROOT.nullptr)
    for _ in range(3_000):
        line.Fill(random.Gaus(25, 8))
    stack.Add(line)
stack.Write()
file.Close()

file = ROOT.TFile("behind.root", "RECREATE")
long = lines[0]
long.SetName("along")
behind = ROOT.TH1F("behind", "behind", 3, 0, 3)
behind.SetDirectory(ROOT.nullptr)
behind.Fill(1.5, 7)
for name in ("TList", "THashList", "TSortedList", "TObjArray", "TOrdCollection", "THashTable", "TMap"):
    made = getattr(ROOT, name)()
    if name == "TMap":
        made.Add(long, behind)
    elif name in ("TList", "THashList"):
        made.Add(long, "hist")
        made.Add(behind, "option")
    else:
        made.Add(long)
        made.Add(behind)
    made.Write(name, ROOT.TObject.kSingleKey)
for bypass in (False, True):
    clones = ROOT.TClonesArray("TH1F", 2)
    clones.BypassStreamer(bypass)
    for i, bins in enumerate((3_000_000, 3)):
        item = clones.ConstructedAt(i)
        item.SetName(("along", "behind")[i])
        item.SetBins(bins, 0, bins)
    item.Fill(1.5, 7)
    clones.Write("by_member" if bypass else "TClonesArray", ROOT.TObject.kSingleKey)
file.Close()
