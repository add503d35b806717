# SPDX-License-Identifier: Apache-2.0
"""Dataset files in the forms in which tutorials of ROOT and tests of coffea write them."""

import gzip
import json
import os

import numpy as np
import pytest

import mounted
import mounted_table
from test_chains import put, values

STEPS = [[0, 2], [2, 3]]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """DY.root, mu0.root and mu1.root with entries 0 1 2, 3 4 5, 6 7 8 of Events, and Runs."""
    directory = tmp_path_factory.mktemp("data")
    for number, name in enumerate(("dy", "mu0", "mu1")):
        put(directory / f"{name}.root", Events={"x": np.arange(3, dtype="i4") + 3 * number}, Runs={"run": np.array([number], "i4")})
    return directory


# What a mount of it shows, by dataset.
TWO = {"ZJets": [0, 1, 2], "Data": [3, 4, 5, 6, 7, 8]}
FORMS = {
    "names with tables": {"ZJets": ["dy.root:Events"], "Data": ["mu0.root:Events", "mu1.root:Events"]},
    "names": {"ZJets": ["dy.root"], "Data": ["mu0.root", "mu1.root"]},
    "files alone": {"ZJets": {"dy.root": "Events"}, "Data": {"mu0.root": "Events", "mu1.root": {"object_path": "Events"}}},
    "before it is prepared": {"ZJets": {"files": {"dy.root": {"object_path": "Events", "steps": STEPS}}},
                              "Data": {"files": {"mu0.root": "Events", "mu1.root": "Events"}}},
    "prepared": {"ZJets": {"files": {"dy.root": {"object_path": "Events", "steps": STEPS, "num_entries": 3, "uuid": None, "saved_form": None}},
                           "metadata": None, "form": "eJyL=", "compressed_form": None, "format": "root"},
                 "Data": {"files": {f"mu{k}.root": {"object_path": "Events", "steps": None, "num_entries": None, "uuid": None} for k in range(2)},
                          "metadata": {}, "form": None}},
    "for a runner": {"ZJets": {"treename": "Events", "files": ["dy.root"], "metadata": {"xsec": 6077.22}},
                     "Data": {"treename": "Events", "files": ["mu0.root", "mu1.root"]}},
    "patterns": {"ZJets": {"files": {"d*.root": "Events"}}, "Data": {"files": {"mu[01].root": "Events"}}},
}


@pytest.mark.parametrize("form", FORMS)
def test_filesets_of_coffea(form, data, tmp_path):
    text = json.dumps(FORMS[form])
    path = data / "fileset.json.gz"
    path.write_bytes(gzip.compress(text.encode()))
    with mounted.Mounted(f"@{path}", ["chain"]) as m:
        assert set(os.listdir(m.path)) == set(TWO)
        for name, wanted in TWO.items():
            assert values(os.path.join(m.path, name, "Events", "x.i4")) == wanted
        assert not m.errors()


def test_a_fileset_with_a_file_that_is_not_there(data):
    """As coffea's preprocess(skip_bad_files=True)."""
    path = data / "gap.json"
    path.write_text(json.dumps({"Data": {"mu0.root": "Events", "not_there.root": "Events"}}))
    with pytest.raises(mounted.MountFailed) as refused:
        mounted.Mounted(f"@{path}", ["chain"])
    assert "not_there.root" in refused.value.message
    with mounted.Mounted(f"@{path}", ["chain,missing=skip"]) as m:
        assert values(os.path.join(m.path, "Data", "Events", "x.i4")) == [3, 4, 5]
        assert "not_there.root: left out" in m.errors()


def test_names_of_datasets_are_paths(data):
    """CMS names datasets "/PRIMARY/PROCESSED/TIER"."""
    path = data / "cms.json"
    path.write_text(json.dumps({"/DY/Run2018A-UL-v1/NANOAOD": {"files": {"dy.root": "Events"}}, "..": ["mu0.root"], "": ["mu1.root"]}))
    with mounted.Mounted(f"@{path}", ["chain"]) as m:
        names = os.listdir(m.path)
        assert len(names) == 3 and "%2FDY%2FRun2018A-UL-v1%2FNANOAOD" in names
        assert sorted(values(os.path.join(m.path, name, "Events", "x.i4"))[0] for name in names) == [0, 3, 6]


def test_a_specification_of_root(data):
    """As df106_HiggsToFourLeptons.py and df107_SingleTopAnalysis.py have: samples with metadata of several types."""
    path = data / "spec.json"
    sample = lambda files, kind, **more: {"trees": ["Events"], "files": [str(data / name) for name in files],
                                          "metadata": {"lumi": 10064.0, "xsecs": 0.0081239, "events": 27881776, "sample_category": kind, **more}}
    path.write_text(json.dumps({"samples": {"ggH125": sample(["dy.root"], "higgs"), "data_A": sample(["mu0.root", "mu1.root"], "data")},
                                "friends": {"of_runs": {"trees": ["Events"], "files": [str(data / name) for name in ("dy.root", "mu0.root", "mu1.root")]}}}))
    with mounted.Mounted(f"@{path}", ["chain"]) as m:
        columns = {name: values(os.path.join(m.path, name, "Events", "x.i4")) for name in os.listdir(m.path)}
        assert columns == {"ggH125": [0, 1, 2], "data_A": [3, 4, 5, 6, 7, 8]}
        for name, kind in (("ggH125", b"higgs"), ("data_A", b"data")):
            read = lambda key: os.getxattr(os.path.join(m.path, name), f"user.tfilefs.meta.{key}")
            assert (read("lumi"), read("xsecs"), read("events"), read("sample_category")) == (b"10064.0", b"0.0081239", b"27881776", kind)
            assert json.loads(mounted_table.read_exactly(os.path.join(m.path, name, ".dataset.json")))["sample_category"] == kind.decode()
            assert np.fromfile(os.path.join(m.path, name, "Events", "of_runs.x.i4"), "<i4").tolist() == columns[name]
