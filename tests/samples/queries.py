# SPDX-License-Identifier: Apache-2.0
"""queries.py DIR: a tree with many kinds of branches, and what TTree::Draw gives for expressions of it: queries.json has
for each its values and weights, and the histogram where there is one. extended.root has so many values that the axes are
found before all of them are known. Of uneven.root, branch x has ten entries, none has none, and the others have six."""

import array
import json
import os
import sys

import ROOT

ROOT.gInterpreter.Declare(r"""
#include <TClonesArray.h>
#include <TFile.h>
#include <TRandom3.h>
#include <TTree.h>
#include <TVector2.h>
#include <string>
#include <vector>

void queries(const char* name) {
  TFile file(name, "RECREATE", "", 101);
  TTree tree("t", "queries");
  Int_t n, m;
  Float_t x, pt[20], eta[20];
  Double_t y, other[20], matrix[20][3];
  Short_t s, fixed[4];
  UChar_t u;
  ULong64_t large;
  Long64_t big;
  Bool_t flag, flags[20];
  Char_t c;
  Double_t two[2][3];
  struct { Int_t run; Float_t lumi; } head;
  char word[20];
  std::string text;
  std::vector<float> list;
  std::vector<std::vector<double>> deep;
  std::vector<int> numbers;
  TClonesArray points("TVector2");
  tree.Branch("n", &n, "n/I");
  tree.Branch("m", &m, "m/I");
  tree.Branch("x", &x, "x/F");
  tree.Branch("y", &y, "y/D");
  tree.Branch("s", &s, "s/S");
  tree.Branch("u", &u, "u/b");
  tree.Branch("c", &c, "c/B");
  tree.Branch("big", &big, "big/L");
  tree.Branch("large", &large, "large/l");
  tree.Branch("flag", &flag, "flag/O");
  tree.Branch("flags", flags, "flags[n]/O");
  tree.Branch("pt", pt, "pt[n]/F");
  tree.Branch("eta", eta, "eta[n]/F");
  tree.Branch("other", other, "other[m]/D");
  tree.Branch("matrix", matrix, "matrix[n][3]/D");
  tree.Branch("fixed", fixed, "fixed[4]/S");
  tree.Branch("two", two, "two[2][3]/D");
  tree.Branch("head", &head, "run/I:lumi/F");
  tree.Branch("word", word, "word/C");
  tree.Branch("text", &text);
  tree.Branch("list", &list);
  tree.Branch("deep", &deep);
  tree.Branch("numbers", &numbers);
  tree.Branch("points", &points, 8000, 99);
  TRandom3 random(7);
  const char* words[] = {"single", "double", "", "electron"};
  for (int i = 0; i < 500; ++i) {
    n = i % 11 == 3 ? 0 : 2 + random.Integer(6);
    m = 2 + random.Integer(8);
    x = random.Gaus(3, 2); y = random.Exp(5) - 1; s = i % 17 - 8; u = i % 256; c = i % 5 - 2;
    big = 1000000007LL * i; large = 3ULL * i; flag = i % 3 == 0;
    for (int k = 0; k < n; ++k) {
      pt[k] = random.Exp(20); eta[k] = random.Gaus(); flags[k] = (i + k) % 2;
      for (int d = 0; d < 3; ++d) matrix[k][d] = i + k + 0.25 * d;
    }
    for (int k = 0; k < m; ++k) other[k] = random.Uniform(-1, 1);
    for (int k = 0; k < 4; ++k) fixed[k] = 10 * k + i % 7;
    for (int k = 0; k < 6; ++k) two[k / 3][k % 3] = k + i;
    head.run = 100 + i / 50; head.lumi = random.Rndm();
    strcpy(word, words[i % 4]); text = words[(i + 1) % 4];
    list.assign(i % 4, x); for (auto& each : list) each += random.Rndm();
    numbers.clear(); for (int k = 0; k < int(list.size()); ++k) numbers.push_back(list.size() - 1 - k);
    deep.clear(); for (int k = 0; k < 2 + i % 3; ++k) deep.emplace_back(2 + (i + k) % 3, i + 0.5 * k);
    points.Clear(); for (int k = 0; k < 2 + i % 4; ++k) new (points[k]) TVector2(i + k, random.Rndm());
    tree.Fill();
  }
  tree.SetAlias("r", "sqrt(x*x+y*y)");
  tree.SetAlias("twice", "2*pt");
  tree.SetAlias("broken", "2*nothing");
  tree.Write();
}

void extended(const char* name) {
  TFile file(name, "RECREATE", "", 101);
  TTree tree("t", "more than a million values");
  Float_t x;
  Int_t n;
  tree.Branch("x", &x);
  tree.Branch("n", &n);
  TRandom3 random(3);
  for (int i = 0; i < 1200000; ++i) {
    const double scale = i < 1000000 ? 1 : i < 1100000 ? 3 : 50;
    x = i == 1150000 ? NAN : scale * random.Gaus();
    n = int(3 * scale * random.Gaus());
    tree.Fill();
  }
  tree.Write();
}
void uneven(const char* name) {
  TFile file(name, "RECREATE");
  TTree tree("t", "branches of different lengths");
  Int_t x, n, none;
  Float_t s, a[3];
  Double_t v[10];
  std::vector<std::vector<float>> w;
  TBranch* all = tree.Branch("x", &x, "x/I");
  tree.Branch("none", &none, "none/I");
  std::vector<TBranch*> some{tree.Branch("s", &s, "s/F"), tree.Branch("n", &n, "n/I"), tree.Branch("v", v, "v[n]/D"),
                             tree.Branch("a", a, "a[3]/F"), tree.Branch("w", &w)};
  for (x = 0; x < 10; ++x) {
    s = x + 0.5; n = x % 3; w.clear();
    for (int k = 0; k < n; ++k) v[k] = 10 * x + k;
    for (int k = 0; k < 3; ++k) a[k] = x + 0.1 * k;
    for (int k = 0; k < x % 4; ++k) w.emplace_back(k, 100 * x + k);
    all->Fill();
    for (TBranch* each : some) if (x < 6) each->Fill();
  }
  tree.SetEntries(10);
  tree.Write();
}
""")

# Expressions, and cuts.
QUERIES = [
    *[(each, "") for each in ("n", "x", "y", "s", "u", "c", "big", "large", "flag", "head.run", "head.lumi", "lumi", "run")],
    *[(each, "") for each in ("x+y", "x-y*2", "x/y", "x/0", "1/2", "n/2", "-x", "-x^2", "2^-1*x", "x**2", "n%3", "big%7", "n<<2",
                              "u&6", "n|8", "(-1|0)|1", "-1&7", "!n", "!flag", "x>3", "x>3&&y<2", "x>3||y<2", "x>3 ? x : y", "x>3 ? 1 : y>0 ? 2 : 3",
                              "x<y", "x<=y", "x>=y", "n==2", "n!=2", "(x>0)*x", "x*(y>0)+1", "0x10+x", "1e3*x", ".5*x", "017+0*x")],
    *[(each, "") for each in ("sqrt(x)", "sqrt(-x)", "log(x)", "log10(x)", "exp(x)", "sin(x)", "cos(x)", "tan(x)", "asin(x/5)", "acos(x/5)",
                              "atan(x)", "atan2(x,y)", "sinh(x)", "cosh(x)", "tanh(x)", "asinh(x)", "acosh(x)", "atanh(x/5)", "abs(x)",
                              "int(x)", "sign(x)", "sq(x)", "pow(x,2)", "fmod(x,2)", "min(x,y)", "max(x,y)", "pi*x", "TMath::Pi()*x",
                              "TMath::Sqrt(x*x)", "TMath::Abs(x)", "TMath::Power(x,3)", "TMath::Hypot(x,y)", "TMath::Erf(x)", "floor(x)",
                              "ceil(x)", "TMath::Max(x,y)", "TMath::Gaus(x,3,2)", "fabs(x)", "TMath::Nint(x)", "cbrt(x)")],
    *[(each, "") for each in ("pt", "pt*eta", "pt*x", "pt[0]", "pt[1]", "pt[5]", "pt[0]-pt[1]", "pt-pt[0]", "flags", "pt*flags",
                              "pt[n/2]", "pt[Iteration$]", "fixed", "fixed[2]", "fixed*pt", "fixed*x", "two", "two[1]", "two[][2]",
                              "two[1][2]", "two[0][1]+pt", "matrix", "matrix[0]", "matrix[][1]", "matrix[1][2]", "matrix*pt",
                              "matrix[][0]*pt", "list", "list*x", "list[numbers]", "list[numbers]-list", "numbers", "deep", "deep[0]",
                              "deep[1]", "deep[][1]", "deep[0][1]", "deep[1][0]*x", "deep*x", "points.fX", "points.fX*points.fY",
                              "points.fX[1]", "fX", "points[0].fX", "points[1].fX-x")],
    *[(each, "") for each in ("Length$(pt)", "Length$(fixed)", "Length$(deep)", "Length$(x)", "Length$", "Length$+0*pt", "Sum$(pt)",
                              "Sum$(pt*(abs(eta)<1))", "Sum$(matrix)", "Sum$(fixed)", "Min$(pt)", "Max$(pt)", "Max$(pt)-Min$(pt)",
                              "MinIf$(pt,eta>0)", "MaxIf$(pt,eta>0)", "pt/Sum$(pt)", "Sum$(x)", "Entry$", "LocalEntry$", "Entries$",
                              "Iteration$", "Iteration$+0*pt", "Entry$+x", "Alt$(pt[3],-1)", "Alt$(pt[0],0)+x", "pt+Alt$(other,100)",
                              "@points.size()", "@list.size()", "@deep.size()", "Sum$(pt>10)", "Sum$(pt>10)>1 ? Max$(pt) : -1",
                              "pt*(Iteration$==1)", "Length$(list)", "Sum$(list)", "Max$(numbers)")],
    *[(each, "") for each in ('word=="single"', 'word!="single"', 'text=="double"', 'strstr(text,"ou")', 'word==text', 'x*(word=="double")',
                              "r", "twice", "twice+r", "Sum$(twice)")],
    # An index that is computed and beyond the list.
    *[(each, "") for each in ("pt[n]", "pt[n]+1", "5+(pt[n]==pt[n])", "pt[n/2]>0", "list[n]", "fixed[n]", "two[n][0]", "Sum$(pt[n])",
                              "Alt$(pt[n],7)", "pt[0]+pt[n]", "pt*fixed[n]", "n>0 ? pt[n-1] : -1", "n==0||pt[n-1]>20", "n>3&&pt[n]>0",
                              "n<3||fixed[n]>0", "(n||fixed[n])/(fixed%m)", "pt>20||pt[n]>0")],
    *[("x", each) for each in ("n>0 && pt[n-1]>20", "n==0 || pt[n-1]>20", "y>0", "u>>1", "(u>>2)%2", "n>3 && x>2", "x", "pt>10", "pt[0]>20", "n>=2 && pt[0]>20", "Sum$(pt)>80", 'word=="single"', "flag",
                               "(y>0)*2.5", "n==0 || pt[0]>20", "Max$(eta)>1", "Length$(pt)==4", "0", "x>1e9")],
    *[("pt", each) for each in ("eta>0", "eta>0 && pt>10", "x>3", "other>0", "eta>0 && x>3", "flags", "Iteration$<2", "eta*(eta>0)", "pt[1]>10")],
    # An expression without a list or array outside of Alt$ is one number for the entry.
    *[("pt", each) for each in ("Alt$(eta,-5)>0", "Alt$(list,-5)>0", "Length$>=0 && Alt$(eta,-5)>0", "pt[0]>0 && Alt$(eta,-5)>0",
                                "Iteration$>=0 && Alt$(eta,-5)>0", "pt[n-1]>0 && Alt$(eta,-5)>0")],
    *[(each, "eta<100") for each in ("Alt$(eta,flag)", "Alt$(eta,-1)+Sum$(pt)", "Alt$(eta,-1)*head.run", "Alt$(eta,-1)*fixed[1]",
                                     "Alt$(list,n)", "Alt$(pt[0],-1)", "Alt$(Alt$(eta,-1),3)", "Alt$(list,9)+Iteration$", "Alt$(pt,1)*flags",
                                     'Alt$(eta,-1)+0*(text=="double")', "Alt$(eta,-1)*r", "pt*0+Alt$(pt[0],-5)", "Iteration$*2")],
    *[(each, "other>0") for each in ("Alt$(pt[0],-1)", "Alt$(points.fX,-1)", "Alt$(matrix[0],-1)")],
    ("(Length$(u)|(m?numbers:list))", "Alt$(n,big)/u"),
    ("Alt$(pt,flag)*Min$(m)", "Length$(m)>=(s?points.fX:eta)"),
    *[(each, "y>0") for each in ("y:x", "x:y:n", "pt:eta", "pt:x", "n:u", "Entry$:x", "flag:n")],
]
# Which axis ROOT finds, with other options.
HISTOGRAMS = [("y:x", "", "colz"), ("y:n", "", "colz"), ("pt:eta", "eta>0", "colz"), ("y:x", "", "prof"), ("pt:n", "", "prof"),
              ("x:y", "flag", "prof"), ("x:y:n", "", "box"), ("pt:eta:x", "", "box"),
              # Integers, constants, negative and huge numbers.
              ("s:u", "", "colz"), ("big:large", "", "colz"), ("c:flag", "", "colz"), ("7:x", "", "colz"), ("x:7", "", "colz"),
              ("x*1e30:y*1e-30", "", "colz"), ("-1000*n:-x*x-5", "", "colz"), ("n:n", "n==3", "colz"), ("big*1e9:n", "big<1", "colz"),
              ("head.run:s", "s<-3", "colz"), ("n:s", "", "prof"), ("x:7", "", "prof")]

# With bins and limits that are given: values beyond them, weights, and what is no number.
LIMITED = [("x", "", "7", "0:4"), ("n", "", "3", "1:5"), ("x", "y*(n>1)", "10", "-1:3"), ("pt[n]", "", "10", "0:50"), ("pt", "eta>0", "10", "5:30"),
           ("y:x", "x", "5,6", "0:3,-1:2"), ("pt:eta", "", "4,4", "-1:1,10:40"), ("n:y:x", "x*x", "3,4,5", "0:3,-1:2,1:4")]


def binning_of(bins, ranges):
    """As TTree::Draw takes it behind the name of a histogram."""
    return "(" + ",".join(f"{count},{limits.replace(':', ',')}" for count, limits in zip(bins.split(","), ranges.split(","))) + ")"


# Of the tree in extended.root.
EXTENDED = [("x", "", ""), ("n", "", ""), ("x", "Entry$!=1150000", ""), ("x:n", "", "prof"), ("x:n", "", "colz"),
            ("n:x", "Entry$!=1150000", "colz"), ("n*1e30:-1000-x*x", "Entry$!=1150000", "colz"), ("x:Entry$", "", "colz")]
# Of the tree in uneven.root.
UNEVEN = [*[(each, "") for each in ("x", "s", "x+s", "s+v", "n", "v", "a", "a[1]", "v[0]", "w", "w[1]", "Sum$(v)", "Length$(v)",
                                    "Sum$(w)", "@w.size()", "Alt$(s,-1)", "Alt$(v[0],-1)", "Sum$(a)")],
          ("x", "s>2"), ("x", "n>0"), ("x", "v>0"), ("x", "Sum$(v)>0"), ("s", "x>3")]
# Where operators of TTreeFormula bind otherwise than those of C++ and TFormula.
BINDING = ("2^3^2", "2**3**2", "7%4*2", "10%4%3", "1<<2+1", "64>>1+1", "1<2<3", "3>2>1", "1<2==1")
# Where ROOT gives something that is not there: of the tree in queries.root, and of that in uneven.root.
OUTSIDE = ((("x", "pt[n/2]>20"), ("two[0][n]", ""), ("fixed*0+Alt$(n,s)", ""), ("(fixed||pt[n-1])*0+c", "")),
           (("w[1][1]", ""),))
# Cuts by which entries are chosen, as TTree::CopyTree chooses them.
CUTS = ("n>3", "pt>40", "pt[0]>20 && n>=2", "0", "1", "log(x)/0", "eta>1 && flags", 'word=="single"', "Sum$(pt)>80", "deep[][1]>100",
        "n==0 || pt[0]>20", "big%3==0")


def entries_of(tree, cut):
    tree.Draw(">>chosen", cut, "entrylist")
    chosen = ROOT.gDirectory.Get("chosen")
    return [chosen.GetEntry(i) for i in range(chosen.GetN())]


def numbers(array, count):
    return [array[i] for i in range(count)] if count > 0 else []


def answer_of(tree, expression, cut):
    dimensions = expression.count(":") - expression.count("::") * 2 - expression.count("?") + 1
    count = tree.Draw(expression, cut, "goff")
    return {"expression": expression, "cut": cut, "count": count,
            "values": [numbers(tree.GetVal(i), count) for i in range(dimensions)], "weights": numbers(tree.GetW(), count)}


def moments_of(made):
    """As TH1::GetStats has them."""
    moments = array.array("d", [0] * 13)
    made.GetStats(moments)
    return list(moments)[:{1: 4, 2: 7, 3: 11}[made.GetDimension()]]


def histogram_of(tree, expression, cut, option, binning=""):
    tree.Draw(expression + (">>htemp" + binning if binning else ""), cut, option)
    made = ROOT.gDirectory.Get("htemp")
    if not made:
        return None
    axes = [made.GetXaxis(), made.GetYaxis(), made.GetZaxis()][:made.GetDimension()]
    shape = [axis.GetNbins() + 2 for axis in axes]
    cells = made.GetNcells()
    return {"axes": [[axis.GetNbins(), axis.GetXmin(), axis.GetXmax()] for axis in axes], "shape": shape,
            "contents": [made.GetBinContent(i) for i in range(cells)], "errors": [made.GetBinError(i) for i in range(cells)],
            "entries": made.GetEntries(), "mean": made.GetMean(), "deviation": made.GetStdDev(), "moments": moments_of(made)}


def main(directory):
    ROOT.gROOT.SetBatch(True)
    # ROOT 6.40 doubles each axis of two or three when the buffer of a histogram is full, at 1,000 values by default, although
    # all of them lie within: half of it is then empty.
    ROOT.TH1.SetDefaultBufferSize(1_000_000)
    path = os.path.join(directory, "queries.root")
    ROOT.queries(path)
    file = ROOT.TFile(path)
    tree = file.Get("t")
    answers = []
    for expression, cut in QUERIES:
        answers.append(answer_of(tree, expression, cut))
        if len(answers[-1]["values"]) == 1 and answers[-1]["count"] > 0:
            answers[-1]["histogram"] = histogram_of(tree, expression, cut, "goff")
    histograms = [{"expression": expression, "cut": cut, "option": option,
                   "histogram": histogram_of(tree, expression, cut, option + " goff")} for expression, cut, option in HISTOGRAMS]
    path = os.path.join(directory, "extended.root")
    ROOT.extended(path)
    # An axis is extended for each value, not for those of a buffer.
    ROOT.TH1.SetDefaultBufferSize(0)
    file_of_many = ROOT.TFile(path)
    many = file_of_many.Get("t")
    extended = [{"expression": expression, "cut": cut, "option": option,
                 "histogram": histogram_of(many, expression, cut, option + " goff")} for expression, cut, option in EXTENDED]
    first_values = histogram_of(many, "n:n:Entry$", "", "box goff")
    nothing = histogram_of(tree, "n:x", "x>1e9", "colz goff")
    # Last: ROOT takes bins that are given for the default of the histograms that follow.
    limited = [{"expression": expression, "cut": cut, "bins": bins, "ranges": ranges,
                "histogram": histogram_of(tree, expression, cut, "goff", binning_of(bins, ranges))} for expression, cut, bins, ranges in LIMITED]
    path = os.path.join(directory, "uneven.root")
    ROOT.uneven(path)
    file_of_uneven = ROOT.TFile(path)
    of_uneven = file_of_uneven.Get("t")
    uneven = [{**answer_of(of_uneven, expression, cut),
               "before": answer_of(of_uneven, expression, f"({cut or 1})*(Entry$<6)")["values"][0]} for expression, cut in UNEVEN]
    ROOT.gErrorIgnoreLevel = ROOT.kFatal  # of an index that is out of bounds, and of Cling
    outside = [[answer_of(of, *each) for each in some] for of, some in zip((tree, of_uneven), OUTSIDE)]
    binding = [{"expression": each, "tree": ROOT.TTreeFormula("binding", each, tree).EvalInstance(0),
                "function": ROOT.TFormula("binding", each).Eval(0)} for each in BINDING]
    with open(os.path.join(directory, "queries.json"), "w") as out:
        json.dump({"queries": answers, "histograms": histograms, "limited": limited, "extended": extended, "uneven": uneven,
                   "first_values": first_values, "nothing": nothing,
                   "outside": outside, "binding": binding,
                   "chosen": {cut: entries_of(tree, cut) for cut in CUTS}}, out)


if __name__ == "__main__":
    main(sys.argv[1])
