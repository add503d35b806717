# SPDX-License-Identifier: Apache-2.0
"""objects.py DIR: histograms, profiles, graphs, efficiencies, functions and texts of ROOT in DIR/objects.root,
uncompressed, so that their bytes can be found in the file."""

import os
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

import ROOT  # noqa: E402

ROOT.gROOT.SetBatch(True)
ROOT.gRandom.SetSeed(1)
ROOT.TH1.AddDirectory(False)

ROOT.gInterpreter.Declare(r"""
#include <TH1.h>
#include <TH3.h>
#include <THn.h>
#include <THnSparse.h>
#include <TProfile.h>
#include <TProfile2D.h>
#include <TProfile3D.h>
#include <TRandom.h>
#include <type_traits>
#include <vector>

void fill(TH1* h) {
  for (int i = 0; i < 500; i++) {
    double x = gRandom->Gaus(0, 2), y = gRandom->Gaus(1, 2), z = gRandom->Uniform(-3, 3), w = gRandom->Uniform(0.5, 2);
    if (auto p = dynamic_cast<TProfile3D*>(h)) p->Fill(x, y, z, w, i % 3 ? 1 : 0.5);
    else if (auto p = dynamic_cast<TProfile2D*>(h)) p->Fill(x, y, z, i % 3 ? 1 : 0.5);
    else if (auto p = dynamic_cast<TProfile*>(h)) p->Fill(x, y, i % 3 ? 1 : 0.5);
    else if (auto p = dynamic_cast<TH3*>(h)) p->Fill(x, y, z, h->GetSumw2N() ? w : 1);
    else if (auto p = dynamic_cast<TH2*>(h)) p->Fill(x, y, h->GetSumw2N() ? w : 1);
    else h->Fill(x, h->GetSumw2N() ? w : 1);
  }
}
// Fills that wait in the buffer while the histogram is written, or go to the bins at once.
template <class H>
H* with_buffer(H* h, int size) {
  if (size > 0) h->SetBuffer(size);
  for (int i = 0; i < 40; i++) {
    const double x = (i * 7 % 40) / 5. - 4, y = i % 6 - 1, w = h->GetSumw2N() || h->GetDimension() > 1 ? 0.5 + i % 3 : 1;
    if constexpr (std::is_base_of_v<TH3, H>) h->Fill(x, y, i % 4, w);
    else if constexpr (std::is_base_of_v<TH2, H>) h->Fill(x, y, w);
    else h->Fill(x, w);
  }
  return h;
}
template <class P>
P* profile_with_buffer(P* p, int size) {
  if (size > 0) p->SetBuffer(size);
  const bool weighted = p->GetNbinsX() != 6;
  for (int i = 0; i < 40; i++) {
    const double x = (i * 7 % 40) / 5. - 4, y = i % 6 - 1, z = i % 4, value = (i * 11 % 40) / 3., w = weighted ? 0.5 + i % 3 : 1;
    if constexpr (std::is_base_of_v<TProfile3D, P>) p->Fill(x, y, z, value, w);
    else if constexpr (std::is_base_of_v<TProfile2D, P>) p->Fill(x, y, value, w);
    else p->Fill(x, value, w);
  }
  return p;
}
std::vector<TH1*> buffered_profiles(int size, const char* mark) {
  return {profile_with_buffer(new TProfile(Form("buffer_p%s", mark), "", 6, -3, 3), size),
          profile_with_buffer(new TProfile(Form("buffer_pw%s", mark), "", 5, -3, 3, 2, 9), size),
          profile_with_buffer(new TProfile2D(Form("buffer_p2%s", mark), "", 4, -3, 3, 3, 0, 3), size),
          profile_with_buffer(new TProfile3D(Form("buffer_p3%s", mark), "", 2, -3, 3, 3, 0, 3, 2, 0, 2), size)};
}
std::vector<TH1*> buffered(int size, const char* mark) {
  const double edges[] = {-3, -1, 0, 0.5, 3};
  auto* weighted = new TH1D(Form("buffer_w%s", mark), "", 4, edges);
  weighted->Sumw2();
  return {with_buffer(new TH1F(Form("buffer_1%s", mark), "", 6, -3, 3), size), with_buffer(weighted, size),
          with_buffer(new TH2I(Form("buffer_2%s", mark), "", 4, -3, 3, 3, 0, 3), size),
          with_buffer(new TH3D(Form("buffer_3%s", mark), "", 2, -3, 3, 3, 0, 3, 2, 0, 2), size)};
}
void fill_n(THnBase* h) {
  for (int i = 0; i < 300; i++) {
    double x[3] = {gRandom->Gaus(0, 2), gRandom->Gaus(1, 2), gRandom->Uniform(-4, 4)};
    h->Fill(x, 1 + i % 2);
  }
}
""")


keep = []  # objects in containers must outlive the Python code that made them


def kept(made):
    keep.append(made)
    return made


def histograms():
    from array import array

    edges = array("d", [-3, -1, -0.5, 0, 0.25, 4])
    for size, mark in ((100, ""), (0, "_filled")):
        yield from ROOT.buffered(size, mark)
        yield from ROOT.buffered_profiles(size, mark)
    for kind in "CSILFD":
        if not hasattr(ROOT, "TH1" + kind):
            continue
        for dimensions, axes in ((1, (8, -4, 4)), (2, (6, -3, 3, 4, -2, 5)), (3, (3, -3, 3, 4, -2, 5, 2, -3, 3))):
            made = getattr(ROOT, f"TH{dimensions}{kind}")(f"h{dimensions}{kind}", f"histogram {kind};x;y;z", *axes)
            if kind == "D":
                made.Sumw2()
            ROOT.fill(made)
            yield made
    variable = ROOT.TH1F("variable", "edges of their own;p_{T} [GeV/c^{2}];#mu^{+}#mu^{-} < & >", len(edges) - 1, edges)
    ROOT.fill(variable)
    yield variable
    labels = ROOT.TH1F("labels", "named bins", 3, 0, 3)
    for name in ("one", "two", "one", "three"):
        labels.Fill(name, 1)
    yield labels
    empty = ROOT.TH2F("empty", "", 2, 0, 1, 2, 0, 1)
    yield empty
    buffered = ROOT.TH1F("negative", "weights below zero", 4, 0, 4)
    buffered.Fill(1, -3)
    yield buffered
    for option in ("", "s", "i", "g"):
        profile = ROOT.TProfile("profile" + (option or "m"), "profile;x;y", 5, -4, 4, option)
        ROOT.fill(profile)
        profile.Fill(100, 1)
        yield profile
    weighted = ROOT.TProfile("weighted", "profile with weights", 5, -4, 4)
    weighted.Sumw2()
    ROOT.fill(weighted)
    yield weighted
    flat = ROOT.TProfile2D("profile2", "", 3, -4, 4, 2, -2, 3)
    ROOT.fill(flat)
    yield flat
    deep = ROOT.TProfile3D("profile3", "", 3, -4, 4, 2, -2, 3, 2, -3, 3)
    ROOT.fill(deep)
    yield deep
    axes = (3, array("i", [3, 4, 2]), array("d", [-3, -2, -4]), array("d", [3, 5, 4]))
    for class_name in ("THnF", "THnD", "THnI", "THnSparseF", "THnSparseD", "THnSparseI"):
        made = getattr(ROOT, class_name)(class_name, "", *axes)
        if class_name.endswith("D"):
            made.Sumw2()
        ROOT.fill_n(made)
        if class_name == "THnI":
            made.GetAxis(1).SetBinLabel(1, "first, of four")
        yield made


def others():
    from array import array

    x, y, e, f = (array("d", values) for values in ([1, 2, 4], [3, -1, 2], [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]))
    yield "graph", ROOT.TGraph(3, x, y)
    yield "errors", ROOT.TGraphErrors(3, x, y, e, f)
    yield "asymmetric", ROOT.TGraphAsymmErrors(3, x, y, e, f, f, e)
    yield "bent", ROOT.TGraphBentErrors(3, x, y, e, f, f, e, e, e, e, e)
    yield "graph2", ROOT.TGraph2D(3, x, y, e)
    yield "points0", ROOT.TGraph()
    total, passed = ROOT.TH1F("t", "", 4, 0, 4), ROOT.TH1F("p", "", 4, 0, 4)
    for i in range(40):
        total.Fill(i % 3)
        if i % 2:
            passed.Fill(i % 3)
    yield "efficiency", ROOT.TEfficiency(passed, total)
    gaus = ROOT.TF1("gaus_of_mine", "[0]*exp(-0.5*((x-[1])/[2])^2)+[3]*(x>1)", -3, 3)
    gaus.SetParameters(2, 0.5, 1.25, 0.125)
    yield "function", gaus
    titled = ROOT.TF1("titled", "x*x", 0, 2)
    titled.SetTitle("parabola #; of mine;t [s];s [m]")
    yield "titled", titled
    surface = ROOT.TF2("surface_of_mine", "[0]*exp(-0.5*((x-[1])^2+y*y))", -3, 3, -2, 2)
    surface.SetParameters(2, 0.5)
    surface.SetTitle("hill;east;north;height")
    yield "surface", surface
    polygons = ROOT.TH2Poly()
    polygons.SetTitle("honeycomb;x [mm];y [mm]")
    polygons.Honeycomb(0, 0, 1, 4, 3)
    for i in range(30):
        polygons.Fill(1 + i % 5, 1 + i % 3)
    yield "polygons", polygons
    yield "note", ROOT.TNamed("note", "a note\nof two lines, with <tags> & \"quotes\"")
    yield "string", ROOT.TObjString("plain")
    yield "number", ROOT.TParameter["double"]("number", 0.1)
    yield "count", ROOT.TParameter["Long64_t"]("count", 2**60 + 1)
    macro = ROOT.TMacro("macro", "")
    macro.AddLine("void macro() {")
    macro.AddLine("}")
    yield "macro", macro
    lines = ROOT.TList()
    first = kept(ROOT.TObjString("first"))
    lines.Add(first)
    lines.Add(kept(ROOT.TNamed("second", "its title")), "option")
    lines.Add(first)
    yield "lines", lines
    table = ROOT.TMap()
    table.Add(kept(ROOT.TObjString("key")), kept(ROOT.TNamed("value", "")))
    yield "map", table
    array_of = ROOT.TObjArray(3)
    array_of.AddAt(kept(ROOT.TObjString("x")), 2)
    yield "array", array_of
    clones = ROOT.TClonesArray("TNamed", 2)
    ROOT.gInterpreter.ProcessLine("void two(TClonesArray& a) { new (a[0]) TNamed(\"a\", \"b\"); new (a[1]) TNamed(\"c\", \"d\"); }")
    ROOT.two(clones)
    yield "clones", clones
    matrix = ROOT.TMatrixD(2, 2)
    matrix[0][1] = 5
    yield "matrix", matrix
    symmetric = ROOT.TMatrixDSym(2)
    symmetric[0][1] = symmetric[1][0] = 5
    yield "symmetric", symmetric
    yield "vector3", ROOT.TVector3(1, 2, 3)
    yield "lorentz", ROOT.TLorentzVector(1, 2, 3, 4)
    yield "ints", ROOT.TArrayI(3)
    for class_name in ("TH1D", "TH2F", "TGraphErrors"):  # stored member by member, with other counts in each item
        for i in range(3):
            if i == 0:
                clones = ROOT.TClonesArray(class_name, 3)
            made = clones.ConstructedAt(i)
            made.SetName(f"{class_name}_{i}")
            if class_name == "TGraphErrors":
                for point in range(3 - i):
                    made.SetPoint(point, point, i)
                    made.SetPointError(point, 0.5, i)
            else:
                made.SetBins(*((2 + i, 0, 1) if class_name == "TH1D" else (3 - i, 0, 1, 2, 0, 1)))
                made.Fill(0.5, *([0.5] if class_name == "TH2F" else []), i + 2)
        yield "clones_" + class_name, clones


def main(directory):
    file = ROOT.TFile(os.path.join(directory, "objects.root"), "RECREATE", "", 0)
    for made in histograms():
        keep.append(made)
        file.WriteObject(made, made.GetName())
    for name, made in others():
        keep.append(made)
        if isinstance(made, ROOT.TCollection):
            made.Write(name, ROOT.TObject.kSingleKey)
        else:
            file.WriteObject(made, name)
    file.WriteObject(ROOT.std.string("text of a std::string"), "std")
    file.WriteObject(ROOT.std.vector["std::string"](["a", "b c"]), "strings")
    file.WriteObject(ROOT.std.vector["double"]([1, 2.5]), "doubles")
    canvas = ROOT.TCanvas("canvas", "a canvas", 400, 300)
    keep[0].Draw()
    canvas.Write()
    file.Close()


main(sys.argv[1])
