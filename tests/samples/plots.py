# SPDX-License-Identifier: Apache-2.0
"""plots.py DIR: DIR/plots.root, with objects that are drawn in several ways, or that contain drawn objects: fits,
labels, composed functions and functions with ROOT names (with ROOT's values), graphs with several errors, stacks,
canvases, lists."""

import os
import re
import sys

sys.path.pop(0)  # numpy, which ROOT imports, needs Python's own `numbers`, not the sample of that name

from array import array  # noqa: E402

import numpy as np  # noqa: E402
import ROOT  # noqa: E402

ROOT.gROOT.SetBatch(True)
ROOT.gRandom.SetSeed(1)
ROOT.TH1.AddDirectory(False)
keep = []  # objects in containers must outlive the Python code that made them

FUNCTIONS = {
    "landau": ("landau", (2, 1, 0.5)), "landaun": ("landaun", (2, 1, 0.5)), "crystalball": ("crystalball", (2, 0.5, 0.7, 1.5, 3)),
    "breitwigner": ("breitwigner", (2, 0.5, 1)), "cheb2": ("cheb2", (1, 0.5, -0.3)), "gausn": ("gausn", (2, 0.5, 0.7)),
    "voigt": ("[0]*TMath::Voigt(x-[1],0.5,1)", (2, 0.5)), "poisson": ("TMath::Poisson(x,[0])", (2,)),
    "gamma_dist": ("TMath::GammaDist(x,[0],[1],[2])", (2, -3, 0.7)), "log_normal": ("TMath::LogNormal(x,[0],-4)", (0.8,)),
    "student": ("TMath::Student(x,4)", ()), "normal_pdf": ("ROOT::Math::normal_pdf(x,[0],[1])", (0.7, 0.5)),
    "bessel": ("TMath::BesselJ0(x)+TMath::BesselI0(x)+TMath::BesselI1(x)", ()), "sum": ("gaus(0)+landau(3)", (1, 2, 0.5, 2, -1, 0.4)),
    "laplace": ("TMath::LaplaceDist(x,[0],[1])", (0.5, 0.7)), "named": ("[slope]*x+[offset]", (3, 5)),
    "integers": ("[0]*exp(-1/2*((x-[1])/[2])^2)+4/3*x+abs(x)^(1/2)+(x>0)/2+int(7.5)/2+(sqrt2+ln10)/TMath::E()", (2, 0.5, 0.7)),
}

# Cumulative distributions and similar functions, of numbers from 0 to 1.
FUNCTIONS |= {
    f"cumulative_{i}": (re.sub(r"\bu\b", "(abs(x)/3)", formula), ())
    for i, formula in enumerate((
        "float(u)", "::sqrt(u)", "1'000*u", "TMath::Prob(9*u,3)", "TMath::DiLog(4*x)", "TMath::StudentI(x,3)", "TMath::FDist(u,2,3)",
        "TMath::FDistI(u,2,3)", "TMath::BetaDistI(u,2,3)", "TMath::BetaIncomplete(u,2,3)", "ROOT::Math::binomial_pdf(3,u,10)",
        "ROOT::Math::binomial_cdf(3,u,10)", "ROOT::Math::beta_pdf(u,2,3)", "ROOT::Math::beta_cdf(u,2,3)", "ROOT::Math::beta(u+1,2)",
        "ROOT::Math::inc_gamma(2,u)", "ROOT::Math::inc_gamma_c(2,u)", "TMath::Gamma(2,u)", "ROOT::Math::gamma_cdf(u,2,3)",
        "ROOT::Math::gamma_cdf_c(u,2,3)", "ROOT::Math::chisquared_cdf(u,3)", "ROOT::Math::chisquared_cdf_c(u,3)",
        "TMath::ChisquareQuantile(u/2,3)", "ROOT::Math::normal_cdf_c(x,2,1)", "TMath::NormQuantile(u/3+0.1)", "TMath::ErfInverse(x/4)",
        "ROOT::Math::exponential_cdf(x,2)", "ROOT::Math::uniform_cdf(x,0,2)", "ROOT::Math::lognormal_cdf(x,1,2)",
        "ROOT::Math::cauchy_cdf(x,2)", "ROOT::Math::breitwigner_cdf(x,2)", "ROOT::Math::tdistribution_cdf(x,3)",
        "ROOT::Math::fdistribution_pdf(u,2,3)", "ROOT::Math::negative_binomial_pdf(2,u,3)", "ROOT::Math::poisson_cdf(2,u)",
        "ROOT::Math::expint(u+0.1)", "TMath::KolmogorovProb(x)"))
}


def kept(made):
    keep.append(made)
    return made


def parts():
    for i in range(3):
        part = kept(ROOT.TH1F(f"part{i}", f"part {i}", 5, 0, 5))
        for bin_number in range(1, 6):
            part.SetBinContent(bin_number, (i + 1) * bin_number)
        part.SetFillColor((ROOT.kRed, ROOT.kAzure + 1, ROOT.kGreen + 2)[i])
        yield part


def write(file):
    fitted = ROOT.TH1D("fitted", "fitted", 20, -3, 3)
    fitted.FillRandom("gaus", 1000)
    fitted.Fit("gaus", "Q")
    file.WriteObject(fitted, "fitted")
    points = ROOT.TGraph(20, array("d", range(20)), array("d", [3 * x + 1 for x in range(20)]))
    points.Fit("pol1", "Q")
    file.WriteObject(points, "points")
    hidden = fitted.Clone("hidden")
    hidden.Fit("gaus", "Q0")
    file.WriteObject(hidden, "hidden")
    labels = ROOT.TH2F("labels", "", 2, 0, 2, 2, 0, 2)
    for i, text in enumerate(("HLT_Mu50 or a trigger with a much longer name than the others have", '=1+"2", x')):
        labels.GetXaxis().SetBinLabel(i + 1, text)
    labels.SetBinContent(1, 1, -2)
    file.WriteObject(labels, "labels")
    x, y = array("d", [1, 2, 3]), array("d", [4, 5, 6])
    errors = [array("d", [i / 10] * 3) for i in range(1, 7)]
    several = ROOT.TGraphMultiErrors("several", "", 3, x, y, errors[0], errors[1], errors[2], errors[3])
    several.AddYError(3, errors[4], errors[5])
    several.SetSumErrorsMode(ROOT.TGraphMultiErrors.kSquareSum)
    file.WriteObject(several, "several")
    for name, (formula, parameters) in FUNCTIONS.items():
        function = ROOT.TF1("f_" + name, formula, *((-1, 1) if name == "cheb2" else (-3, 3)))
        for i, value in enumerate(parameters):
            function.SetParameter(i, value)
        write_function(file, function, name)
    write_composed(file)
    ROOT.gInterpreter.Declare("double unknown_to_all(double x) { return x; }")
    ROOT.gInterpreter.Declare("double saved_with_points(double* x, double*) { return x[0] * x[0]; }")
    write_function(file, ROOT.TF1("saved", ROOT.saved_with_points, 0, 4, 0), "saved")
    surface = kept(ROOT.TF2("surface", "[0]*x*y+y/2", -1, 3, 0, 2))
    surface.SetParameter(0, 3)
    for name in ("x", "y"):
        write_function(file, kept(ROOT.TF12("f_slice_" + name, surface, 0.5, name)), "slice_" + name)
    file.WriteObject(ROOT.TF1("f_unknown", "unknown_to_all(x)", 0, 1), "f_unknown")
    space = ROOT.TGraph2D("space", "space;x;y;z", 3, x, y, errors[5])
    file.WriteObject(space, "space")
    file.WriteObject(ROOT.TGraph2DErrors(3, x, y, errors[5], *errors[:3]), "space_errors")
    file.WriteObject(ROOT.TGraph2DAsymmErrors(3, x, y, errors[5], *errors), "space_asymmetric")
    cube = kept(ROOT.TH3D("cube", "", 2, 0, 1, 2, 0, 1, 2, 0, 1))
    canvas = ROOT.TCanvas("cube_alone", "")
    cube.Draw()
    file.WriteObject(canvas, "cube_alone")
    deep = ROOT.TEfficiency("deep", "", 2, 0, 1, 2, 0, 1, 2, 0, 1)
    deep.Fill(True, 0.2, 0.2, 0.2)
    file.WriteObject(deep, "deep")
    weights = ROOT.TProfile("weights", "", 3, 0, 3, "g")
    for x, weight in ((0.5, -1), (0.5, -3), (1.5, 2)):
        weights.Fill(x, 2, weight)
    file.WriteObject(weights, "weights")


def write_function(file, function, name):
    """Also writes ROOT's values of the function."""
    file.WriteObject(function, "f_" + name)
    places = np.linspace(function.GetXmin(), function.GetXmax(), function.GetNpx() + 1)
    file.WriteObject(ROOT.TGraph(len(places), places, np.array([function.Eval(x) for x in places])), "g_" + name)


def write_composed(file):
    for name, (formula, parameters) in {
        "norm_sum": ("NSUM([s]*gaus,[b]*expo)", (300, 50, 1.5, 0.4, -0.7)),
        "convolution": ("CONV(expo,gaus)", (1, -0.3, 0.2, 0.8)),
    }.items():
        function = kept(ROOT.TF1("f_" + name, formula, 0, 5))
        for i, value in enumerate(parameters):
            function.SetParameter(i, value)
        write_function(file, function, name)
    for name, by_transform in (("circle", True), ("integral", False)):
        convolution = kept(ROOT.TF1Convolution("expo", "gaus", -1, 6, by_transform))
        convolution.SetNofPointsFFT(1000)
        function = kept(ROOT.TF1("f_" + name, convolution, -1, 6, convolution.GetNpar()))
        function.SetParameters(1, -0.3, 0, 1)
        write_function(file, function, name)
        function.Eval(0)  # sets the parameters of the composition
        file.WriteObject(convolution, "f_alone_" + name)
        function.SetRange(convolution.GetXmin(), convolution.GetXmax())
        places = np.linspace(convolution.GetXmin(), convolution.GetXmax(), 101)
        file.WriteObject(ROOT.TGraph(101, places, np.array([function.Eval(x) for x in places])), "g_alone_" + name)


def write_frame(file):
    """A frame of RooFit: data, two curves, and an invisible curve."""
    x = kept(ROOT.RooRealVar("x", "x mass", -5, 5))
    numbers = [kept(ROOT.RooRealVar(name, name, value, -5, 5)) for name, value in (("m", 0), ("s", 1))]
    shape = kept(ROOT.RooGaussian("shape", "shape", x, *numbers))
    data = kept(shape.generate(ROOT.RooArgSet(x), 1000))
    frame = kept(x.frame(ROOT.RooFit.Title("A frame"), ROOT.RooFit.Bins(20)))
    data.plotOn(frame)
    shape.plotOn(frame)
    shape.plotOn(frame, ROOT.RooFit.LineStyle(2), ROOT.RooFit.LineColor(ROOT.kRed))
    shape.plotOn(frame, ROOT.RooFit.Name("unseen"), ROOT.RooFit.Invisible())
    frame.SetName("frame")
    file.WriteObject(frame, "frame")


def write_holders(file):
    stack = kept(ROOT.THStack("stack", "stack;x;y"))
    for part in parts():
        stack.Add(part)
    file.WriteObject(stack, "stack")
    maps = kept(ROOT.THStack("maps", "maps;x;y"))
    for i in range(2):
        part = kept(ROOT.TH2F(f"map{i}", "map;x;y", 3, 0, 3, 2, 0, 2))
        part.SetDirectory(ROOT.nullptr)
        part.Fill(0.5, 0.5, 2)
        part.Fill(1.5, 0.5 + i, 1)
        maps.Add(part)
    file.WriteObject(maps, "maps")
    graphs = kept(ROOT.TMultiGraph("graphs", "graphs;x;y"))
    for i in range(2):
        graph = kept(ROOT.TGraph(3, array("d", [i, 1 + i, 2]), array("d", [1, 2, 3 + i])))
        graph.SetName("same")  # both have this name
        graph.SetLineColor(2 + i)
        graphs.Add(graph, "l")
    file.WriteObject(graphs, "graphs")
    canvas = kept(ROOT.TCanvas("canvas", "canvas", 800, 600))
    canvas.Divide(2, 1)
    canvas.cd(1).SetLogy()
    stack.Draw()
    legend = kept(ROOT.TLegend(0.5, 0.6, 0.9, 0.9))
    legend.AddEntry(stack.GetHists().At(0), "the <first>", "f")
    legend.Draw()
    text = kept(ROOT.TLatex(0.2, 0.95, "#sqrt{s} & more"))
    text.SetNDC()
    text.Draw()
    canvas.cd(2)
    kept(ROOT.TH2F("map", "map", 2, 0, 2, 2, 0, 2)).Draw("colz")
    canvas.Update()
    file.WriteObject(canvas, "canvas")
    many = ROOT.TList()
    for part in parts():
        many.Add(part)
    inner = kept(ROOT.TList())
    inner.SetName("inner")
    inner.Add(stack)
    many.Add(inner)
    many.Add(kept(ROOT.TObjString("only text")))
    many.Write("many", ROOT.TObject.kSingleKey)
    odd = ROOT.TList()
    for name in ("plot.svg", "object.bin"):
        odd.Add(kept(ROOT.TH1F(name, name, 1, 0, 1)))
    odd.Write("odd", ROOT.TObject.kSingleKey)
    below = file.mkdir("below").mkdir("deep %41")
    below.WriteObject(keep[0], "h <&>")


def write_bands(file):
    """A graph that says how it is drawn, and canvases that do."""
    file.cd()
    n = 6
    points = ROOT.TGraphAsymmErrors(n, array("d", range(n)), array("d", [1, 3, 2, 5, 4, 6]), array("d", [0] * n), array("d", [0] * n),
                                    array("d", [0.25] * n), array("d", [0.5] * n))
    points.SetFillColor(2)
    histogram = ROOT.TH1F("bins", "bins", n, 0, n)
    for i in range(n):
        histogram.SetBinContent(i + 1, i + 1)
        histogram.SetBinError(i + 1, 0.5)
    gap = histogram.Clone("gap")
    gap.SetBinContent(3, 0)
    for name, drawn, option in (("band_a3", points, "a3"), ("band_al4", points, "al4"), ("band_ap", points, "ap"), ("bins_e3", histogram, "e3"),
                                ("bins_e2", histogram, "e2"), ("bins_e4", histogram, "e4"), ("bins_e5", gap, "e5"), ("bins_e6", gap, "e6")):
        canvas = ROOT.TCanvas(name)
        drawn.Draw(option)
        canvas.Write()
        keep.append(canvas)
    own = points.Clone("band_own")
    own.SetOption("a3")
    own.Write()


def main(directory):
    file = ROOT.TFile(os.path.join(directory, "plots.root"), "RECREATE", "", 0)
    write(file)
    write_holders(file)
    write_bands(file)
    file.Close()
    frames = ROOT.TFile(os.path.join(directory, "frames.root"), "RECREATE")
    write_frame(frames)
    frames.Close()


if __name__ == "__main__":
    main(sys.argv[1])
