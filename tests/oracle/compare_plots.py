# SPDX-License-Identifier: Apache-2.0
"""compare_plots.py TFILEFS DIR: draws some two dozen objects with ROOT and as plot.svg of a mount, side by side, into
DIR/index.html (and, with rsvg-convert, DIR/NAME.png), for people to look at: no test can judge a picture."""

import html
import os
import shutil
import subprocess
import sys
from array import array

KEPT = []  # objects to which ROOT's containers refer


def kept(made):
    KEPT.append(made)
    return made


def histograms(ROOT):
    signal = ROOT.TH1D("mass", "Invariant mass;m_{#mu#mu} [GeV/c^{2}];Events / (0.5 GeV)", 60, 70, 110)
    signal.FillRandom(kept(ROOT.TF1("z", "TMath::BreitWigner(x,91.2,4)+0.01", 70, 110)), 20000)
    yield "mass", signal, "", ""
    yield "mass_log", signal, "", "y"
    weighted = signal.Clone("weighted")
    weighted.Sumw2()
    yield "weighted", weighted, "", ""
    fitted = ROOT.TH1D("fitted", "A fit;x;entries", 50, -4, 4)
    fitted.FillRandom("gaus", 5000)
    fitted.Fit("gaus", "Q0")
    fitted.GetFunction("gaus").ResetBit(ROOT.TF1.kNotDraw)
    yield "fitted", fitted, "", ""
    flow = ROOT.TH1F("cutflow", "Cut flow;;events passing HLT_Mu50", 6, 0, 6)
    for i, (name, count) in enumerate((("all", 1e6), ("trigger HLT_Mu50", 4e5), ("jet_pt > 30 GeV", 2e5), ("|#eta| < 2.4", 1e5),
                                       ("m_{ll} #in [60, 120] GeV", 3e4), ("#slash{E}_{T} > 100 GeV", 200))):
        flow.SetBinContent(i + 1, count)
        flow.GetXaxis().SetBinLabel(i + 1, name)
    yield "cutflow", flow, "", "y"
    wide = ROOT.TH1F("steep", "Steeply falling;p_{T} [GeV];#frac{d#sigma}{dp_{T}} [#frac{pb}{GeV}]", 100, 1, 1000)
    for i in range(1, 101):
        wide.SetBinContent(i, 1e9 * wide.GetBinCenter(i) ** -4)
    yield "steep", wide, "hist", "xy"
    filled = ROOT.TH1F("filled", "Filled #color[2]{red} #it{italic} #bf{bold};#sqrt{s} = 13 TeV;#bar{p}p #rightarrow #hat{s}, #vec{p}", 20, 0, 20)
    filled.FillRandom("pol0", 1000)
    filled.SetFillColor(ROOT.kOrange)
    filled.SetLineColor(ROOT.kRed)
    yield "filled", filled, "", ""
    profile = ROOT.TProfile("profile", "Profile;x;<y>", 20, -3, 3)
    for i in range(3000):
        profile.Fill(ROOT.gRandom.Gaus(), ROOT.gRandom.Gaus(2, 1))
    yield "profile", profile, "", ""


def maps(ROOT):
    flat = ROOT.TH2F("map", "Two dimensions;x [mm];y [mm];hits", 40, -4, 4, 30, -3, 3)
    for _ in range(20000):
        flat.Fill(ROOT.gRandom.Gaus(), ROOT.gRandom.Gaus())
    yield "map", flat, "colz", ""
    yield "map_log", flat, "colz", "z"
    signed = ROOT.TH2F("signed", "Correlation, empty cells among signed ones", 8, 0, 8, 8, 0, 8)
    for i in range(8):
        for j in range(8):
            if (i + j) % 3:
                signed.SetBinContent(i + 1, j + 1, (i - j) / 8)
    yield "signed", signed, "colz", ""
    labels = ROOT.TH2F("matrix", "Labels on both axes", 4, 0, 4, 3, 0, 3)
    for i in range(4):
        labels.GetXaxis().SetBinLabel(i + 1, f"category_{i} with a long name")
        for j in range(3):
            labels.GetYaxis().SetBinLabel(j + 1, f"systematic_uncertainty_{j}")
            labels.SetBinContent(i + 1, j + 1, i * j + 1)
    yield "matrix", labels, "colz", ""


def graphs(ROOT):
    x, y, e, f = (array("d", values) for values in ([1, 2, 3, 4, 6], [3, 1, 2, 4, 9], [0.2] * 5, [0.5, 0.3, 0.4, 0.6, 1]))
    errors = ROOT.TGraphErrors(5, x, y, e, f)
    errors.SetTitle("Graph with errors;x;y")
    errors.Fit("pol2", "Q0")
    errors.GetFunction("pol2").ResetBit(ROOT.TF1.kNotDraw)
    yield "errors", errors, "ap", ""
    multiple = ROOT.TGraphMultiErrors("multiple", "Statistical and systematic;x;y", 5, x, y, e, e, f, f)
    multiple.AddYError(5, array("d", [1] * 5), array("d", [1.5] * 5))
    yield "multiple", multiple, "aps ; ; 5 s=0.5", ""
    many = ROOT.TMultiGraph("many", "Several graphs;x;y")
    for i in range(3):
        one = kept(ROOT.TGraph(5, x, array("d", [v * (i + 1) for v in y])))
        one.SetTitle(f"series_{i}")
        one.SetLineColor(2 + i)
        one.SetMarkerColor(2 + i)
        one.SetMarkerStyle(20)
        many.Add(one, "lp")
    yield "many", many, "a", ""
    space = ROOT.TGraph2D("space", "Three dimensions;x;y;z", 5, x, y, f)
    yield "space", space, "pcol", ""
    total, passed = kept(ROOT.TH1F("t", "Efficiency;p_{T} [GeV];#varepsilon", 10, 0, 100)), kept(ROOT.TH1F("p", "", 10, 0, 100))
    for _ in range(2000):
        value = ROOT.gRandom.Uniform(0, 100)
        total.Fill(value)
        if ROOT.gRandom.Uniform() < value / (value + 20):
            passed.Fill(value)
    yield "efficiency", ROOT.TEfficiency(passed, total), "ap", ""


def functions(ROOT):
    for name, formula, parameters in (("landau", "landau", (1, 2, 0.5)), ("crystalball", "crystalball", (1, 0, 0.7, 1.5, 3)),
                                      ("breitwigner", "breitwigner", (1, 1, 1)), ("cheb2", "cheb2", (1, 0.5, -0.3)),
                                      ("voigt", "TMath::Voigt(x,0.5,1)+0.1*TMath::Gaus(x,2,0.3)", ())):
        made = ROOT.TF1(name, formula, -5, 5) if name != "cheb2" else ROOT.TF1(name, formula, -1, 1)
        for i, value in enumerate(parameters):
            made.SetParameter(i, value)
        made.SetTitle(f"{formula};x;f(x)")
        yield name, made, "", ""
    for name, formula, parameters in (("normsum", "NSUM([s]*gaus,[b]*expo)", (300, 50, 1.5, 0.4, -0.7)),
                                      ("convolution", "CONV(expo,gaus)", (1, -0.3, 0.2, 0.8))):
        made = kept(ROOT.TF1(name, formula, 0, 5))
        for i, value in enumerate(parameters):
            made.SetParameter(i, value)
        yield name, made, "", ""


def frames(ROOT):
    x = kept(ROOT.RooRealVar("x", "x mass", -5, 5))
    numbers = [kept(ROOT.RooRealVar(name, name, value, -5, 5)) for name, value in (("m", 0), ("s", 1))]
    shape = kept(ROOT.RooGaussian("shape", "shape", x, *numbers))
    data = kept(shape.generate(ROOT.RooArgSet(x), 1000))
    frame = kept(x.frame(ROOT.RooFit.Title("A frame of RooFit")))
    data.plotOn(frame)
    shape.plotOn(frame)
    shape.plotOn(frame, ROOT.RooFit.LineStyle(2), ROOT.RooFit.LineColor(ROOT.kRed))
    frame.SetName("frame")
    yield "frame", frame, "", ""


def canvases(ROOT):
    stack = ROOT.THStack("stack", "Backgrounds;m_{T} [GeV];events")
    legend = kept(ROOT.TLegend(0.65, 0.65, 0.88, 0.88))
    for i, name in enumerate(("t#bar{t}", "W+jets", "Z#rightarrow#mu#mu")):
        part = kept(ROOT.TH1F(f"part{i}", name, 25, 0, 250))
        part.FillRandom(kept(ROOT.TF1(f"shape{i}", f"x*exp(-x/{30 + 10 * i})", 0, 250)), 2000 * (i + 1))
        part.SetFillColor((ROOT.kRed, ROOT.kAzure + 1, ROOT.kGreen + 2)[i])
        legend.AddEntry(part, name, "f")
        stack.Add(part)
    yield "stack", stack, "hist", ""
    plain = ROOT.TCanvas("plain", "", 800, 600)
    plain.SetLogy()
    stack.Draw("hist")
    data = kept(stack.GetStack().Last().Clone("data"))
    data.SetMarkerStyle(20)
    data.SetLineColor(1)
    data.Sumw2(False)
    data.Draw("same pe")
    legend.AddEntry(data, "data", "pe")
    legend.Draw()
    text = kept(ROOT.TLatex(0.15, 0.92, "#bf{CMS} #it{Preliminary}   #sqrt{s} = 13 TeV, 138 fb^{-1}"))
    text.SetNDC()
    text.SetTextSize(0.04)
    text.Draw()
    line = kept(ROOT.TLine(100, 1, 100, 1000))
    line.SetLineStyle(2)
    line.Draw()
    plain.Update()
    yield "plain", plain, "", ""
    divided = ROOT.TCanvas("divided", "", 900, 700)
    divided.Divide(2, 2)
    for i in range(4):
        divided.cd(i + 1)
        one = kept(ROOT.TH1F(f"pad{i}", f"pad {i};x;y", 30, -3, 3))
        one.FillRandom("gaus", 500 * (i + 1))
        one.Draw("e" if i % 2 else "hist")
    divided.Update()
    yield "divided", divided, "", ""
    ratio = ROOT.TCanvas("ratio", "", 800, 800)
    upper, lower = kept(ROOT.TPad("upper", "", 0, 0.3, 1, 1)), kept(ROOT.TPad("lower", "", 0, 0, 1, 0.3))
    upper.SetBottomMargin(0.02)
    lower.SetBottomMargin(0.3)
    upper.Draw()
    lower.Draw()
    upper.cd()
    first, second = (kept(ROOT.TH1F(f"ratio{i}", "Ratio;;events", 30, -3, 3)) for i in range(2))
    first.FillRandom("gaus", 3000)
    second.FillRandom("gaus", 3000)
    second.SetLineColor(2)
    first.Draw()
    second.Draw("same")
    lower.cd()
    quotient = kept(first.Clone("quotient"))
    quotient.Sumw2()
    quotient.Divide(second)
    quotient.SetTitle(";x;ratio")
    quotient.Draw("ep")
    ratio.Update()
    yield "ratio", ratio, "", ""


def draw_with_root(directory):
    """Writes the objects into objects.root, and ROOT's pictures of them into root-NAME.svg; returns names and
    logarithmic axes."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kWarning
    ROOT.gRandom.SetSeed(1)
    ROOT.TH1.AddDirectory(False)
    file = ROOT.TFile(os.path.join(directory, "objects.root"), "RECREATE")
    told = []
    for source in (histograms, maps, graphs, functions, frames, canvases):
        for name, made, option, logarithmic in source(ROOT):
            kept(made)
            canvas = made
            if not made.InheritsFrom("TCanvas"):
                canvas = kept(ROOT.TCanvas("c_" + name, "", 960, 640))
                for axis in logarithmic:
                    getattr(canvas, "SetLog" + axis)()
                made.Draw(option)
                canvas.Update()
            canvas.SaveAs(os.path.join(directory, f"root-{name}.svg"))
            file.WriteObject(made, name)
            told.append((name, logarithmic))
    file.Close()
    return told


def beside(directory, name):
    """Both pictures in one PNG."""
    if not shutil.which("rsvg-convert"):
        return
    both = []
    for side in ("root", "mount"):
        path = os.path.join(directory, f"{side}-{name}")
        subprocess.run(["rsvg-convert", "-h", "640", path + ".svg", "-o", path + ".png"], check=False)
        both.append(f"{side}-{name}.png")
    wrapper = os.path.join(directory, f"{name}.svg")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" width="1920" height="640">'
                   f'<image href="{both[0]}" width="955" height="640"/><image x="965" href="{both[1]}" width="955" height="640"/></svg>')
    subprocess.run(["rsvg-convert", wrapper, "-o", os.path.join(directory, f"{name}.png")], check=False)
    os.remove(wrapper)


def main(program, directory):
    os.makedirs(directory, exist_ok=True)
    objects = draw_with_root(directory)
    mount = os.path.join(directory, "mnt")
    os.makedirs(mount, exist_ok=True)
    subprocess.run([program, os.path.join(directory, "objects.root"), mount], check=True)
    try:
        for name, logarithmic in objects:
            plot = f"plot.log{logarithmic}.svg" if logarithmic else "plot.svg"
            shutil.copyfile(os.path.join(mount, name, plot), os.path.join(directory, f"mount-{name}.svg"))
            beside(directory, name)
    finally:
        subprocess.run([program, "umount", mount], check=True)
    with open(os.path.join(directory, "index.html"), "w", encoding="utf-8") as page:
        page.write("<!DOCTYPE html><meta charset=utf-8><title>ROOT and tfilefs</title>\n")
        for name, _ in objects:
            shown = html.escape(name)
            page.write(f'<h2>{shown}</h2><img width="48%" src="root-{shown}.svg"> <img width="48%" src="mount-{shown}.svg">\n')
    print(f"{len(objects)} objects: {os.path.join(directory, 'index.html')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
