# SPDX-License-Identifier: Apache-2.0
"""Workspaces, data and results of RooFit: nothing that the file describes is unread, and the numbers are ROOT's."""

import json
import os

import pytest

import mounted
import root_process

WRITE = r"""
import json, sys, ROOT
ROOT.RooMsgService.instance().setGlobalKillBelow(ROOT.RooFit.FATAL)
path, values = sys.argv[1:]
file = ROOT.TFile(path, "RECREATE")
w = ROOT.RooWorkspace("w", "a workspace")
w.factory("Gaussian::g(x[0,-10,10],m[1,-5,5],s[2,0.1,5])")
w.factory("Exponential::e(x,c[-0.5,-2,0])")
w.factory("SUM::model(frac[0.3,0,1]*g,e)")
x = w.var("x")
x.setBinning(ROOT.RooUniformBinning(-1, 1, 7), "narrow")
data = w.pdf("model").generate(x, 200)
data.SetName("points")
getattr(w, "import")(data)
binned = ROOT.RooDataHist("binned", "", ROOT.RooArgSet(x), data)
result = w.pdf("model").fitTo(data, ROOT.RooFit.Save(True), ROOT.RooFit.PrintLevel(-1))
w.saveSnapshot("fitted", w.allVars())
for name, item in (("w", w), ("points", data), ("binned", binned), ("result", result)):
    file.WriteObject(item, name)
file.Close()
floating = result.floatParsFinal()
json.dump({"nll": result.minNll(), "points": [data.get(i).getRealValue("x") for i in range(data.numEntries())],
           "final": {p.GetName(): [p.getVal(), p.getError(), p.getMin(), p.getMax()] for p in floating}}, open(values, "w"))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    directory = tmp_path_factory.mktemp("roofit")
    values = directory / "values.json"
    root_process.run_code(WRITE, directory / "r.root", values, check=True)
    with mounted.Mounted(directory / "r.root") as m:
        objects = {}
        for name in ("w", "points", "binned", "result"):
            with open(os.path.join(m.path, name, "object.json")) as file:
                objects[name] = json.load(file)
    return objects, json.loads(values.read_text())


def all_of(value, kind):
    """The objects of a class, wherever they are."""
    if isinstance(value, dict):
        if value.get("_typename") == kind:
            yield value
        for each in value.values():
            yield from all_of(each, kind)
    elif isinstance(value, list):
        for each in value:
            yield from all_of(each, kind)


@pytest.mark.parametrize("name", ("w", "points", "binned", "result"))
def test_nothing_is_unread(shown, name):
    assert "$unread" not in json.dumps(shown[0][name])


def test_a_fit_has_its_values(shown):
    objects, values = shown
    assert objects["result"]["_minNLL"] == pytest.approx(values["nll"], rel=1e-12)
    final = {p["fName"]: p for p in objects["result"]["_finalPars"]["_list"]}
    for name, (value, error, low, high) in values["final"].items():
        p = final[name]
        assert [p["_value"], p["_error"], p["_binning"]["_xlo"], p["_binning"]["_xhi"]] == pytest.approx([value, error, low, high])


def test_a_workspace_has_what_was_put_into_it(shown):
    w = shown[0]["w"]
    assert w["_classes"] == {"_typename": "RooWorkspace::CodeRepo", "_fmap": [], "_c2fmap": [], "_ehmap": []}
    assert [each["fName"] for each in w["_dataList"]["arr"]] == ["points"] and w["_dataList"]["_typename"] == "RooLinkedList"
    assert {"x", "m", "s", "c", "frac"} <= {each["fName"] for each in all_of(w, "RooRealVar")}
    assert {each["_typename"] for each in w["_allOwnedNodes"]["_list"] if "_typename" in each} >= {"RooRealVar"}
    assert [each["_name"] for each in w["_snapshots"]["arr"]] == ["fitted"]


def test_data_have_their_points(shown):
    objects, values = shown
    [store] = all_of(objects["points"], "RooVectorDataStore")
    assert store["_realStoreList"][0]["_vec"] == pytest.approx(values["points"])


def test_a_result_alone_has_its_binnings(tmp_path):
    """A file with nothing but a result does not describe RooAbsBinning."""
    path, told = tmp_path / "r.root", tmp_path / "r.json"
    write = WRITE[: WRITE.index("for name, item in")] + """
file.WriteObject(result, "result")
file.Close()
assert not [info for info in ROOT.TFile(path).GetStreamerInfoList() if info.GetName() == "RooAbsBinning"]
binnings = [p.getBinning() for p in result.floatParsFinal()]
json.dump([json.loads(str(ROOT.TBufferJSON.ConvertToJSON(each))) for each in binnings], open(values, "w"))
"""
    root_process.run_code(write, path, told, check=True)
    with mounted.Mounted(path) as m, open(os.path.join(m.path, "result", "object.json")) as file:
        final = json.load(file)["_finalPars"]["_list"]
    assert final and [p["_binning"] for p in final] == json.loads(told.read_text())
