# SPDX-License-Identifier: Apache-2.0
"""differing_files.py DIRECTORY ANSWER: writes pairs of files whose trees differ, with ROOT, and reads each pair as one
chain with RDataFrame, TChain::Draw and uproot. Pickles {case: {reader: outcome}} into ANSWER.

An outcome is ("values", values) with one object an entry (of Draw: the items of all entries), ("error", text), or
("crash", number of the signal): each reading is a process of its own."""

import array
import os
import pickle
import sys

ENTRIES = 3
NUMBERS = {"I": "i", "F": "f", "D": "d"}

# {case: (branches of the first file, branches of the second)}; a branch is (how it is stored, value of each entry). None:
# the file has no such tree. Each tree with branches has SAME.
SAME = {"same": ("I", [1, 2, 3])}
CASES = {
    "missing in the second": ({"x": ("D", [1.5, 2.5, 3.5])}, SAME),
    "missing in the first": (SAME, {"x": ("D", [1.5, 2.5, 3.5])}),
    "int, double": ({"x": ("I", [1, 2, 3])}, {"x": ("D", [200.5, 201.5, 202.5])}),
    "double, int": ({"x": ("D", [200.5, 201.5, 202.5])}, {"x": ("I", [1, 2, 3])}),
    "float, double": ({"x": ("F", [0.5, 1.5, 2.5])}, {"x": ("D", [0.1, 0.2, 0.3])}),
    "vector<float>, vector<double>": ({"x": ("vector<float>", [[1.5], [], [2.5]])}, {"x": ("vector<double>", [[2.5], [0.1], []])}),
    "number, array": ({"x": ("F", [1.5, 2.5, 3.5])}, {"x": ("F[2]", [[4.5, 5.5], [6.5, 7.5], [8.5, 9.5]])}),
    "vector<float>, vector<vector<float>>": ({"x": ("vector<float>", [[1.5], [], [2.5]])},
                                             {"x": ("vector<vector<float>>", [[[2.5]], [], [[3.5, 4.5]]])}),
    "counted array, vector": ({"x": ("F[n]", [[1.5], [], [2.5, 3.5]])}, {"x": ("vector<float>", [[4.5], [5.5, 6.5], []])}),
    "array of 2, array of 3": ({"x": ("F[2]", [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5]])},
                               {"x": ("F[3]", [[1.5, 2.5, 3.5], [4.5, 5.5, 6.5], [7.5, 8.5, 9.5]])}),
    "no tree in the second": ({"x": ("D", [1.5, 2.5, 3.5])}, None),
    "no branches in the second": ({"x": ("D", [1.5, 2.5, 3.5])}, {}),
}


def paths(directory, case):
    return [os.path.join(directory, f"{list(CASES).index(case):02d}-{number}.root") for number in range(2)]


def write(ROOT, path, branches):
    file = ROOT.TFile(path, "RECREATE")
    if branches is not None:
        tree = ROOT.TTree("t", "")
        fill(ROOT, tree, branches and {**branches, **SAME})
        tree.Write()
    file.Close()


def fill(ROOT, tree, branches):
    places = {}
    for name, (kind, values) in branches.items():
        if kind.startswith("vector"):
            places[name] = ROOT.std.vector[kind[7:-1].replace("vector", "std::vector")]()
            tree.Branch(name, places[name])
            continue
        places[name] = array.array(NUMBERS[kind[0]], [0] * 8)
        if kind.endswith("[n]"):
            places["n"] = array.array("i", [0])
            tree.Branch("n", places["n"], "n/I")
        tree.Branch(name, places[name], f"{name}{kind[1:]}/{kind[0]}")
    for entry in range(ENTRIES if branches else 0):
        for name, (kind, values) in branches.items():
            put(places, name, kind, values[entry])
        tree.Fill()


def put(places, name, kind, value):
    if kind.startswith("vector"):
        places[name].clear()
        for item in value:
            places[name].push_back(item)
        return
    items = value if isinstance(value, list) else [value]
    places[name][: len(items)] = array.array(places[name].typecode, items)
    if kind.endswith("[n]"):
        places["n"][0] = len(items)


def plain(value):
    return [plain(item) for item in value] if hasattr(value, "__iter__") else float(value)


def by_dataframe(files):
    import ROOT

    return plain(ROOT.RDataFrame("t", files).AsNumpy(["x"])["x"])


def by_draw(files):
    import ROOT

    chain = ROOT.TChain("t")
    for file in files:
        chain.Add(file)
    count = chain.Draw("x", "", "goff")
    if count < 0:
        raise RuntimeError("Draw gives -1")
    return [float(chain.GetV1()[i]) for i in range(count)]


def by_uproot(files):
    import uproot

    return uproot.concatenate([file + ":t" for file in files], ["x"])["x"].tolist()


READERS = {"RDataFrame": by_dataframe, "TChain::Draw": by_draw, "uproot.concatenate": by_uproot}


def in_process(read, files):
    """The outcome of a reading in a process of its own, which may crash."""
    get, give = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            outcome = ("values", read(files))
        except BaseException as error:  # of any kind: it is what is asked for
            outcome = ("error", f"{type(error).__name__}: {error}")
        os.write(give, pickle.dumps(outcome))
        os._exit(0)
    os.close(give)
    with os.fdopen(get, "rb") as pipe:
        told = pipe.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(told) if told else ("crash", os.WTERMSIG(status) or os.WEXITSTATUS(status))


def main(directory, answer):
    import ROOT
    import uproot  # so that each process has it

    ROOT.gErrorIgnoreLevel = ROOT.kBreak  # what it says is not looked at
    ROOT.gEnv.SetValue("Root.Stacktrace", "no")
    outcomes = {}
    for case, files in CASES.items():
        for path, branches in zip(paths(directory, case), files):
            write(ROOT, path, branches)
    ROOT.RDataFrame(3).Define("x", "1.").AsNumpy(["x"])  # its compiler is warm in each process
    for case in CASES:
        outcomes[case] = {name: in_process(read, paths(directory, case)) for name, read in READERS.items()}
    with open(answer, "wb") as file:
        pickle.dump(outcomes, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
