# SPDX-License-Identifier: Apache-2.0
"""Expressions of columns, `tfilefs draw` and `tfilefs repack --where`, compared with TTree::Draw: values entry by entry, bins,
and the entries that a cut chooses."""

import csv
import json
import math
import os
import re
import subprocess

import numpy as np
import pytest
import uproot

import mounted
from root_process import run_script

# With aliases of the tree, which only the tree has.
ALIASED = {"r", "twice", "twice+r", "Sum$(twice)", "Alt$(eta,-1)*r"}


def evaluated(questions):
    """The answers of reading/evaluate_expressions.cpp."""
    program = os.path.join(os.path.dirname(mounted.program()), "..", "tests", "evaluate_expressions")
    done = subprocess.run([program], input="".join(json.dumps(each) + "\n" for each in questions), capture_output=True, text=True,
                          timeout=120, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_near(own, roots):
    own, roots = float(own), float(roots)
    return own == roots or math.isclose(own, roots, rel_tol=1e-12, abs_tol=1e-300) or (math.isnan(own) and math.isnan(roots))


def difference(answer, expected):
    if "error" in answer:
        return answer["error"] if expected["count"] != -1 else None
    if expected["count"] == -1:
        return None  # ROOT refuses it
    for name, own, roots in [("weights", answer["weights"], expected["weights"]),
                             *((f"output {i}", *each) for i, each in enumerate(zip(answer["values"], expected["values"])))]:
        if len(own) != len(roots):
            return f"{name}: {len(own)} instead of {len(roots)}: {own[:8]}, {roots[:8]}"
        wrong = [i for i, each in enumerate(zip(own, roots)) if not is_near(*each)]
        if wrong:
            return f"{name} {wrong[0]}: {own[wrong[0]]} instead of {roots[wrong[0]]} ({len(wrong)} of {len(own)} differ)"
    return None


@pytest.fixture(scope="module")
def expected(samples):
    directory = samples("queries")
    with open(os.path.join(directory, "queries.json")) as file:
        return os.path.join(directory, "queries.root:t"), json.load(file)


def test_values(expected):
    source, answers = expected
    assert wrong_answers(source, answers["queries"]) == {}


def wrong_answers(source, queries, friends=False):
    questions = [{"source": source, "expression": each["expression"], "cut": each["cut"], "friends": friends} for each in queries]
    found = {(each["expression"], each["cut"]): difference(answer, each)
             for answer, each in zip(evaluated(questions), queries, strict=True)}
    return {name: wrong for name, wrong in found.items() if wrong}


OF_CLASSES = """particles.px particles.px*particles.py particles.ids particles.ids[][1] particles.weights particles.pz particles.codes
@particles.size() pods.a pods.b pods.a+pods.b d32 d32[0] m_int event.m_int dotted.m_int event.m_double m_array m_array[1] m_matrix
m_matrix[1] m_matrix[][2] event.m_matrix[1][2] event.m_vint event.m_vint*event.m_float m_hits.energy event.m_hits.energy
event.m_hit.energy m_hit.energy event.base_x base_x event.base_id base_list m_bool m_enum m_d32 m_d32_array m_f16 m_dynamic
m_dynamic*m_int event.m_ulong64 event.m_particles.px m_particles.ids m_pods.a m_pod.b m_set m_list m_deque m_stdarray
event.fBits m_vbool m_vfloat m_string=="x" m_tstring=="x" Length$(m_vint) event.m_count""".split()


@pytest.mark.parametrize("split", [1, 99])
def test_values_of_classes(samples, tmp_path, split):
    path, out = os.path.join(samples("event"), f"event-{split}-101.root"), str(tmp_path / "values.json")
    # ROOT has no dictionary for them.
    run_script("oracle/draw_values.py", [path, out, *OF_CLASSES], tolerate=("TClass::Init", "no dictionary"))
    with open(out) as file:
        answers = json.load(file)
    assert sum(each["count"] > 0 for each in answers) > 40
    assert wrong_answers(path + ":t", answers) == {}


OF_FRIENDS = """y x+y x*(y>100) three[2] x*vector Sum$(nested) Alt$(y,-1) @vector.size() x+@nested.size() text=="keyed1" same.y x+same.y x*(same.y>100) same.vector same.vector[1] x*same.vector same.nested inside.three inside.three[2]
long.y other.y keyed.y x+keyed.y keyed.three keyed.three[1] keyed.vector keyed.nested keyed.nested[][1] x*keyed.vector
same.vector*(keyed.y>0) Sum$(same.vector) Sum$(keyed.vector) Length$(same.vector) Alt$(keyed.y,-1)
Alt$(keyed.vector[1],-1) computed.y computed.y-keyed.y keyed.y==x same.text=="same_size1"
strstr(keyed.text,"2") x*(keyed.text!="keyed1")""".split()


# ROOT looks for the columns of the friends' indices in the tree itself first.
OF_INDICES = ('expression : "block"', 'expression : "place"')


def test_values_of_friends(samples, tmp_path):
    path = os.path.join(samples("friends"), "main.root")
    answers = roots_answers(path, OF_FRIENDS, tmp_path, tolerate=OF_INDICES)
    assert sum(each["count"] > 0 for each in answers) > 25
    assert wrong_answers(path + ":t", answers, friends=True) == {}
    # ROOT reads on behind the shorter list where that is the first, and has NaN.
    [product] = evaluated([{"source": path + ":t", "expression": "keyed.vector*same.vector", "cut": "", "friends": True}])
    assert len(product["values"][0]) == 200 and not any(math.isnan(float(each)) for each in product["values"][0])


def roots_answers(path, expressions, tmp_path, tolerate=()):
    out = str(tmp_path / "values.json")
    run_script("oracle/draw_values.py", [path, out, *expressions], tolerate)
    with open(out) as file:
        return json.load(file)


OF_CHARACTERS = ["x*(name==\"abc\")", "name!=\"abc\"", "strstr(name,\"a\")", "x*(name==other)", "name!=other", "name==\"\"",
                 "two[0]==\"abc\"", "strstr(two[0],\"bc\")", "strstr(name,other)", "Sum$(name==\"abcd\")", "name*2"]


def test_arrays_of_characters(samples, tmp_path):
    path = os.path.join(samples("texts"), "texts.root")
    assert wrong_answers(path + ":t", roots_answers(path, OF_CHARACTERS, tmp_path)) == {}
    # ROOT reads on behind lists and full arrays, takes the first row of `two` for each, and the first character of `name` for all
    # in Sum$; bytes without a sign are no text.
    expressions = "letters==\"abcd\"", "bytes==\"abc\"", "name[0]==97", "two[1]==\"abc\"", "strstr(two[2],\"bc\")", "Sum$(name)"
    letters, refused, number, row, within, summed = evaluated([{"source": path + ":t", "expression": each, "cut": ""} for each in expressions])
    assert sum(map(float, letters["values"][0])) == 10
    assert [i for i, each in enumerate(row["values"][0][:7]) if float(each)] == [6]
    assert [i for i, each in enumerate(within["values"][0][:7]) if float(each)] == [5, 6]
    assert float(summed["values"][0][0]) == sum(b"abc")
    assert "a text is compared with a text alone" in refused["error"]
    assert sum(map(float, number["values"][0])) == 30


FUNCTIONS = """logb(X) ilogb(X) llround(X) lrint(X) llrint(X) isnormal(X) TMath::ErfcInverse(X) fmin(X,y) fmax(X,y) fdim(y,X)
copysign(X,-y) remainder(y,X) nextafter(X,y) ldexp(X,3) scalbn(X,3) TMath::Ldexp(X,2) fma(X,y,2) TMath::BinomialI(X/4,9,4)
atan2(y,x*0) atan2(0*X,-(x*0)) TMath::ATan2(NONE,x*0) min(X,NONE) max(NONE,X) min(NONE,X) max(X,NONE)
TMath::Min(X,NONE) TMath::Max(NONE,X) TMath::NormQuantile(NONE*X) TMath::DiLog(-INF*X) TMath::Student(X,0.5) TMath::LandauI(10*y) TMath::LandauI(X*4-6) ROOT::Math::landau_cdf(y,20,5) ROOT::Math::landau_cdf_c(y/10) TMath::BesselK(X*9,X)
TMath::StruveH0(2*X) TMath::StruveH1(-2*X) TMath::StruveL0(6*X) TMath::StruveL1(y/4) TMath::StudentQuantile(X/9,1)
TMath::StudentQuantile(X/9,2,0) TMath::Hbarcgs() TMath::KUncertainty()
TMath::LaplaceDistI(X,1,2) TMath::AreEqualAbs(X,1,0.5) TMath::AreEqualRel(X,1,0.5) TMath::Ccgs() TMath::Gcgs() TMath::GUncertainty()
TMath::GhbarC() TMath::GhbarCUncertainty() TMath::Hcgs() TMath::HC() TMath::HCcgs() TMath::Kcgs() TMath::MWair() TMath::Rgair()""".split()

# Of a probability P, and of X and y.
DISTRIBUTIONS = """gaussian_cdf(y/20,2,1) gaussian_cdf_c(y/20) beta_cdf_c(P,2.5,X) cauchy_cdf_c(y,3,1) breitwigner_cdf_c(y,3,1)
exponential_cdf_c(X,2) fdistribution_cdf(X,3,4.5) fdistribution_cdf_c(9*X,3,4.5,1) lognormal_cdf_c(X,0.5,1.5)
tdistribution_cdf_c(y/10,2.5,1) uniform_cdf_c(X,0.5,2.5) crystalball_cdf(y/10,1.2,2.5,1.5,1) crystalball_cdf(y/10,-1.2,2.5,1.5)
crystalball_cdf_c(y/10,1.2,2.5,1.5,1) crystalball_cdf_c(y/10,-0.8,3,2) crystalball_integral(y/10,1.2,1,1.5,1) crystalball_integral(y/10,-1.2,2.5,1.5)
normal_quantile(P,2) normal_quantile_c(P,2) gaussian_quantile(P,X) gaussian_quantile_c(P,X) lognormal_quantile(P,0.5,X)
lognormal_quantile_c(P,0.5,X) cauchy_quantile(P,X) cauchy_quantile_c(P,X) breitwigner_quantile(P,X) breitwigner_quantile_c(P,X)
exponential_quantile(P,X) exponential_quantile_c(P,X) uniform_quantile(P,1,3) uniform_quantile_c(P,1,3) gamma_quantile(P,X+0.2,2)
gamma_quantile_c(P,X,2) chisquared_quantile(P,3*X+0.5) chisquared_quantile_c(P,3*X) beta_quantile(P,2.5,X+0.5) beta_quantile_c(P,2.5,X+0.5)
fdistribution_quantile(P,3,4.5) fdistribution_quantile_c(P,3,4.5) tdistribution_quantile(P,2.5+X) tdistribution_quantile_c(P,2.5+X)
poisson_cdf_c(INT,X) binomial_cdf_c(INT,P,8) negative_binomial_cdf(INT,P,2.5) negative_binomial_cdf_c(INT,P,2.5) poisson_cdf(1,20*X)
gamma_cdf_c(20*X,1.5,1) inc_gamma_c(1.5,20*X)""".split()


def test_functions(samples, tmp_path):
    path = os.path.join(samples("friends"), "main.root")
    expressions = [re.sub(r"\by\b", "(x-150)", each.replace("X", "(x/100+0.01)")).replace("NONE", "(TMath::QuietNaN())").replace("INF", "(TMath::Infinity())") + "+0*x"
                   for each in FUNCTIONS]
    answers = roots_answers(path, expressions, tmp_path, tolerate=(*OF_INDICES, "outside (0, 1)"))
    assert all(each["count"] == 300 for each in answers)
    assert wrong_answers(path + ":t", answers) == {}


def test_distributions(samples, tmp_path):
    path = os.path.join(samples("friends"), "main.root")
    parts = {"P": "((x+0.5)/300)", "X": "(x/100+0.01)", "y": "(x-150)", "INT": "int(x%9)"}
    expressions = ["ROOT::Math::" + re.sub(r"\b(P|X|y|INT)\b", lambda found: parts[found[0]], each) + "+0*x" for each in DISTRIBUTIONS]
    answers = roots_answers(path, expressions, tmp_path, tolerate=OF_INDICES)
    assert all(each["count"] == 300 for each in answers)
    assert wrong_answers(path + ":t", answers) == {}


def test_values_of_an_rntuple(expected, tmp_path):
    source, answers = expected
    out = str(tmp_path / "ntuple.root")
    repacked("--format", "rntuple", source.rsplit(":", 1)[0], out)
    has_no_alias = [each for each in answers["queries"] if each["expression"] not in ALIASED]
    assert wrong_answers(out + ":t", has_no_alias) == {}


def test_values_of_a_chain(expected, tmp_path):
    source, answers = expected
    (tmp_path / "list.txt").write_text((source + "\n") * 2)
    twice = [dict(each, values=[2 * values for values in each["values"]], weights=2 * each["weights"])
             for each in answers["queries"] if "Entr" not in each["expression"] and each["expression"] not in ALIASED]
    assert wrong_answers("@" + str(tmp_path / "list.txt"), twice) == {}


def drawn(source, expression, cut, directory, *flags):
    """The lines of the CSV, as numbers."""
    out = os.path.join(directory, "drawn.csv")
    subprocess.run([mounted.program(), "draw", source, expression, *([cut] if cut else []), "-o", out, *flags], check=True, timeout=60)
    with open(out) as file:
        head, *lines = csv.reader(file)
    shown = head.index("error") + 1  # a profile goes on with the effective entries
    return [[float(x) for x in line[:shown]] for line in lines]


def bins_of(histogram):
    """The same of ROOT's histogram: x slowest, without flow."""
    axes, shape = histogram["axes"], histogram["shape"]
    places = [[]]
    for count, _, _ in axes:
        places = [[*each, i] for each in places for i in range(count)]
    for place in places:
        line = []
        for i, (count, low, high) in zip(place, axes):
            line += [low + i * (high - low) / count, low + (i + 1) * (high - low) / count]
        cell = sum((i + 1) * math.prod(shape[:k]) for k, i in enumerate(place))
        yield [*line, histogram["contents"][cell], histogram["errors"][cell]]


def assert_same_bins(own, histogram, what):
    roots = list(bins_of(histogram))
    assert len(own) == len(roots), f"{what}: {len(own)} bins instead of {len(roots)}, axes {histogram['axes']}"
    for mine, theirs in zip(own, roots):
        # TH1F holds numbers of 32 bits.
        assert np.allclose(mine, theirs, rtol=1e-6, atol=1e-9, equal_nan=True), (what, mine, theirs)


def test_axes_and_bins(expected, tmp_path):
    source, answers = expected
    some = [each for each in answers["queries"] if each.get("histogram")]
    assert len(some) > 150
    for each in some[::3]:
        own = drawn(source, each["expression"], each["cut"], tmp_path)
        assert_same_bins(own, each["histogram"], (each["expression"], each["cut"]))


def test_statistics_of_columns_are_what_is_drawn(expected, mount):
    source, answers = expected
    m = mount(source.rsplit(":", 1)[0])
    compared = 0
    for each in answers["queries"]:
        path = os.path.join(m.path, "t", each["expression"].replace(".", "/") + ".stats.json")
        if each["cut"] or not each.get("histogram") or not os.path.exists(path):
            continue
        with open(path) as file:
            found = json.load(file)["histogram"]
        ((bins, low, high),) = each["histogram"]["axes"]
        assert (len(found["counts"]), found["low"], found["high"]) == (bins, low, high), each["expression"]
        assert found["counts"] == each["histogram"]["contents"][1:-1], each["expression"]
        compared += 1
    assert compared >= 8


def test_axes_and_bins_of_more_dimensions(expected, tmp_path):
    source, answers = expected
    for each in answers["histograms"]:
        flags = ["--profile"] if each["option"] == "prof" else []
        own = drawn(source, each["expression"], each["cut"], tmp_path, *flags)
        assert_same_bins(own, each["histogram"], (each["expression"], each["cut"], each["option"]))


MOMENTS = [["fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"], ["fTsumwy", "fTsumwy2", "fTsumwxy"], ["fTsumwz", "fTsumwz2", "fTsumwxz", "fTsumwyz"]]


def assert_same_statistics(source, each, directory, *flags):
    out = os.path.join(directory, "drawn.root")
    if os.path.exists(out):
        os.remove(out)
    subprocess.run([mounted.program(), "draw", "-o", out, *flags, "--", source, each["expression"], *([each["cut"]] if each["cut"] else [])],
                   check=True, timeout=60)
    histogram, made = each["histogram"], uproot.open(out)["htemp"]
    names = sum(MOMENTS[:len(histogram["axes"])], [])
    own = [made.member(name) for name in names]
    assert made.member("fEntries") == histogram["entries"], each["expression"]
    # Sums of both signs: how near they are is measured by those of squares.
    size = max(abs(x) for x in histogram["moments"])
    assert np.allclose(own, histogram["moments"], rtol=1e-12, atol=1e-12 * size), (each["expression"], own, histogram["moments"])


def test_statistics_are_those_of_the_values(expected, tmp_path):
    source, answers = expected
    for each in answers["limited"]:
        assert_same_statistics(source, each, tmp_path, "--bins", each["bins"], "--range", each["ranges"])
    some = [each for each in answers["queries"] if each.get("histogram")]
    for each in some[::20]:
        assert_same_statistics(source, each, tmp_path)
    of_several = [each for each in answers["histograms"] if each["option"] != "prof" and "e30" not in each["expression"]]
    for each in of_several:
        assert_same_statistics(source, each, tmp_path)


def axes_of(lines, dimensions):
    """The number of bins and the limits of each axis."""
    for i in range(dimensions):
        lows = {line[2 * i] for line in lines}
        yield [len(lows), min(lows), max(line[2 * i + 1] for line in lines)]


# Values beyond the axes, weights, also negative ones, and what is no number.
PROFILES = [("y:x", "", "7", "0:4"), ("pt:n", "", "4", "1:5"), ("y:x", "x*x", "7", "0:4"), ("y:x", "(n>2)*-1.5", "5", "-1:6"),
            ("x/log(n):y", "", "5", "0:9"), ("y:x", "x>1e9", "5", "0:1"), ("pt:x:y", "", "4,3", "0:5,-1:3"), ("n:y:x", "x", "3,4", "0:3,-1:2")]


def profiles_of_root(source, directory):
    """What TTree::Draw makes of PROFILES, and what is in the files i.root that `draw` has written."""
    asked = [{"expression": expression, "cut": cut, "bins": bins.split(","), "ranges": ranges.split(","),
              "file": os.path.join(directory, f"{i}.root")} for i, (expression, cut, bins, ranges) in enumerate(PROFILES)]
    questions, answers = os.path.join(directory, "asked.json"), os.path.join(directory, "answers.json")
    with open(questions, "w") as file:
        json.dump(asked, file)
    run_script("oracle/drawn_profiles.py", [source.rsplit(":", 1)[0], questions, answers])
    with open(answers) as file:
        return json.load(file)


def test_profiles_are_those_of_root(expected, tmp_path):
    source, _ = expected
    for i, (expression, cut, bins, ranges) in enumerate(PROFILES):
        for form in ("root", "json"):
            subprocess.run([mounted.program(), "draw", "-o", str(tmp_path / f"{i}.{form}"), "--profile", "--bins", bins, "--range", ranges,
                            "--", source, expression, *([cut] if cut else [])], check=True, timeout=60)
    answers = profiles_of_root(source, tmp_path)
    assert [each["drawn"]["has_weights"] for each in answers] == [False, False, True, True, False, False, False, True]
    for i, each in enumerate(answers):
        made, drawn = each["made"], each["drawn"]
        for exact in ("class", "entries", "axes", "has_weights", "error_option"):
            assert made[exact] == drawn[exact], (PROFILES[i], exact)
        for near in ("statistics", "contents", "errors", "bin_entries", "effective"):
            size = max((abs(x) for x in drawn[near] if math.isfinite(x)), default=0)
            assert np.allclose(made[near], drawn[near], rtol=1e-12, atol=1e-12 * size, equal_nan=True), (PROFILES[i], near, made[near], drawn[near])
        with open(tmp_path / f"{i}.json") as file:
            written = json.load(file)
        # Read from a file, it has a bit of its own: kMustCleanup.
        assert {**written, "fBits": 8} == made["json"], PROFILES[i]
        # What ROOT writes of its own has the same members.
        assert list(made["json"]) == list(drawn["json"]), PROFILES[i]


def test_limits_of_axes(expected, tmp_path):
    """To the last bit, which rounded bins do not show."""
    source, answers = expected
    for each in answers["histograms"]:
        own = drawn(source, each["expression"], each["cut"], tmp_path, *(["--profile"] if each["option"] == "prof" else []))
        axes = each["histogram"]["axes"]
        assert list(axes_of(own, len(axes))) == axes, (each["expression"], each["cut"], each["option"])


def test_axes_without_a_value(expected, tmp_path):
    source, answers = expected
    assert answers["nothing"]["axes"] == [[40, 0, 0], [40, 0, 0]] and answers["nothing"]["entries"] == 0
    own = drawn(source, "n:x", "x>1e9", tmp_path)
    assert list(axes_of(own, 2)) == [[40, -1, 1], [2, -1, 1]]
    assert all(line[4] == 0 for line in own)


def repacked(*arguments):
    return subprocess.run([mounted.program(), "repack", *arguments], capture_output=True, text=True, timeout=60)


def test_axes_are_extended(expected, tmp_path):
    """Found of the first million values, then doubled, until a value is no number."""
    source, answers = expected
    source = source.replace("queries.root", "extended.root")
    for each in answers["extended"]:
        flags = ["--profile"] if each["option"] == "prof" else []
        own = drawn(source, each["expression"], each["cut"], tmp_path, *flags)
        assert_same_bins(own, each["histogram"], (each["expression"], each["cut"], each["option"]))


def test_three_axes_have_all_values(expected, tmp_path):
    source, answers = expected
    (_, low, high), _, _ = answers["first_values"]["axes"]
    # ROOT fills the first million, which is TTree::GetEstimate(), although the axis reaches farther.
    assert answers["first_values"]["entries"] == 1_000_000 and low <= 0 and high > 1_200_000
    own = drawn(source.replace("queries.root", "extended.root"), "n:n:Entry$", "", tmp_path)
    assert sum(line[6] for line in own) == 1_200_000


def test_operators_bind_as_in_cpp(expected):
    """And as in TFormula. TTreeFormula has its own order."""
    source, answers = expected
    binding = answers["binding"]
    for answer, each in zip(evaluated([{"source": source, "expression": each["expression"]} for each in binding]), binding, strict=True):
        assert set(answer["values"][0]) == {each["function"]}, each
        assert each["tree"] != each["function"], each


def test_what_is_not_there_is_not_made_up(expected):
    source, answers = expected
    (cut, matrix, _, _), (lists,) = answers["outside"]
    n = answers["queries"][0]["values"][0]
    ask = [{"source": source, "expression": each["expression"], "cut": each["cut"]} for each in (cut, matrix)]
    own_cut, own_matrix, own_lists = evaluated([*ask, {"source": source.replace("queries.root", "uneven.root"), "expression": lists["expression"]}])
    # An index of a cut that is beyond the list: ROOT takes the entry.
    chosen = [x for x, weight in zip(cut["values"][0], cut["weights"], strict=True) if not math.isnan(weight)]
    assert own_cut["values"][0] == chosen and len(chosen) < cut["count"]
    # One of an inner level, in an array: ROOT takes the last element.
    assert matrix["values"][0] == [entry + min(i, 2) for entry, i in enumerate(n)]
    assert all(is_near(own, entry + i if i < 3 else math.nan) for entry, (own, i) in enumerate(zip(own_matrix["values"][0], n)))
    # A list in a list that has no such element: ROOT reads what the memory holds. w[1] has one element in both entries.
    assert lists["count"] == 2 and own_lists["values"][0] == []


def test_rows_and_columns_beside_lists_of_lists(expected, tmp_path):
    source, _ = expected
    expressions = "two[1]+0*two", "deep[][0]+0*deep", "matrix[][0]+0*matrix", "deep", "matrix[][0]"
    roots = roots_answers(source.rsplit(":", 1)[0], expressions, tmp_path)
    row, repeated, of_array = (each["values"][0] for each in evaluated([{"source": source, "expression": each} for each in expressions[:3]]))
    # two[1] is 3, 4, 5 in the first entry, and `two` has three elements in each of its two rows.
    assert row[:6] == [3, 3, 3, 4, 4, 4] and len(row) == 6 * 500
    assert roots[0]["values"][0][:3] == [3, 4, 5] and np.isnan(roots[0]["values"][0][3:6]).all()
    # All elements of a list of `deep` are the same number.
    assert repeated == roots[3]["values"][0] and roots[1]["count"] < len(repeated)
    assert of_array == roots[2]["values"][0] == np.repeat(roots[4]["values"][0], 3).tolist()


def test_what_was_read_before_is_not_used(expected):
    source, answers = expected
    outside = answers["outside"][0][2:]
    own = evaluated([{"source": source, "expression": each["expression"]} for each in outside])
    # By entry, and element of `fixed`.
    (roots_other, roots_behind), (own_other, own_behind) = ([np.reshape(np.array(each["values"][0], float), (500, 4)) for each in some]
                                                            for some in (outside, own))
    entry = np.arange(500)
    s, c = entry % 17 - 8, entry % 5 - 2
    # What Alt$ gives from the second element on: ROOT has read that branch in the first entry alone.
    assert (roots_other[:, 1:] == s[0]).all() and (own_other[:, 1:] == s[:, None]).all()
    assert (roots_other[:, 0] == own_other[:, 0]).all()
    # What stands behind an index of the first element that is beyond the list: ROOT has what it has read in the entry before.
    lost = entry[np.isnan(roots_behind[:, 0])]
    assert len(lost) > 3 and (roots_behind[lost, 1:] == c[lost - 1][:, None]).all()
    assert np.isnan(own_behind[lost, 0]).all() and (own_behind[lost, 1:] == c[lost][:, None]).all()


# What expressions give in entries 6 to 9 of uneven.root, if they give something there.
BEHIND = {"x": [6, 7, 8, 9], "Alt$(s,-1)": [-1] * 4, "Alt$(v[0],-1)": [-1] * 4,
          **{each: [0] * 4 for each in ("Sum$(v)", "Length$(v)", "Sum$(w)", "@w.size()", "Sum$(a)")}}


def test_a_branch_that_is_shorter_ends(expected):
    source, answers = expected
    source = source.replace("queries.root", "uneven.root")
    roots = {(each["expression"], each["cut"]): each for each in answers["uneven"]}
    # ROOT goes on with what it has read last.
    assert roots["s", ""]["values"][0] == [0.5, 1.5, 2.5, 3.5, 4.5] + 5 * [5.5]
    assert roots["x", "s>2"]["values"][0] == [2, 3, 4, 5, 6, 7, 8, 9]
    questions = [{"source": source, "expression": expression, "cut": cut} for expression, cut in roots]
    for answer, each in zip(evaluated(questions), roots.values(), strict=True):
        behind = [] if each["cut"] else BEHIND.get(each["expression"], [])
        assert np.allclose(answer["values"][0], each["before"] + behind, rtol=1e-12), (each["expression"], each["cut"])
    none = [{"source": source, "expression": expression} for expression in ("none", "none+x", "Alt$(none,7)", "Sum$(none)")]
    assert [len(answer["values"][0]) for answer in evaluated(none)] == [0, 0, 10, 10]


def numbers_in(path):
    """Column `big` tells the entry."""
    return [int(big) // 1000000007 for big in uproot.open(path)["t/big"].array(library="np")]


@pytest.mark.parametrize("form", ["ttree", "rntuple"])
def test_entries_where(expected, tmp_path, form):
    source, answers = expected
    file, out = source.rsplit(":", 1)[0], str(tmp_path / "out.root")
    for cut, chosen in answers["chosen"].items():
        done = repacked("--force", "--format", form, "--columns", "big,n,pt", "--where", cut, file, out)
        assert os.path.exists(out), done.stderr
        if form == "ttree":
            assert numbers_in(out) == chosen, cut
        assert f"t: {len(chosen)} entries" in done.stdout, cut


def test_where_with_other_choices(expected, tmp_path):
    source, answers = expected
    file, out = source.rsplit(":", 1)[0], str(tmp_path / "out.root")
    chosen = answers["chosen"]["n>3"]
    repacked("--columns", "big", "--where", "many", "--define", "many=n>3", "--entries", "100:200", file, out)
    assert numbers_in(out) == [entry for entry in chosen if 100 <= entry < 200]
    repacked("--force", "--columns", "big", "--where", "n>3", file, file, out)
    assert numbers_in(out) == [*chosen, *chosen]
    repacked("--force", "--verify", "--columns", "big", "--where", "Entry$>=600", file, file, out)
    assert numbers_in(out) == list(range(100, 500))


def test_a_wrong_expression_writes_nothing(expected, tmp_path):
    source, _ = expected
    out = str(tmp_path / "out.root")
    done = repacked("--where", "nn>3", source.rsplit(":", 1)[0], out)
    assert done.returncode == 1 and done.stderr == "tfilefs: there is no nn; did you mean n?\n  nn>3\n  ^\n"
    assert not os.path.exists(out)
