# SPDX-License-Identifier: Apache-2.0
"""tfilefs.dask: partitions are clusters, only what a graph uses is read, and workers read it."""

import json
import os
import pickle
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
import uproot

from conftest import once

dak = pytest.importorskip("dask_awkward", reason="dask-awkward is not installed")

# In a process of its own: what it starts for its work imports its main module.
ELSEWHERE = """
import sys, tfilefs
if __name__ == "__main__":
    energy = tfilefs.dask(sys.argv[2], "energy", step_size=30000).energy
    if sys.argv[1] == "processes":
        print(energy.compute(scheduler="processes", num_workers=2).to_numpy().sum(dtype="f8"))
    else:
        from dask.distributed import Client
        with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
            print(energy.compute().to_numpy().sum(dtype="f8"))
"""


@pytest.fixture
def energy(sample):
    with uproot.open(sample) as f:
        return f["Events/energy"].array(library="np")


def write_runs(directory):
    """Three files with a column, and a list of records."""
    for i in range(3):
        with uproot.recreate(directory / f"run{i}.root") as file:
            counts = np.arange(100 + i) % 3
            items = np.arange(counts.sum(), dtype="f8")
            file["Events"] = {"x": np.arange(100 + i, dtype="f4") + 1000 * i, "a.b": np.arange(100 + i),
                              "Muon": ak.unflatten(ak.zip({"pt": items, "eta": -items}), counts)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return once(tmp_path_factory, "dask-runs", write_runs)


def needed(collection):
    [columns] = dak.necessary_columns(collection).values()
    return columns


def test_partitions_are_clusters(tfilefs, sample, energy):
    assert tfilefs.dask(sample).divisions == (0, 100000)
    for step_size, divisions in ((1, (0, 20000, 40000, 60000, 80000, 100000)), (50000, (0, 40000, 80000, 100000)),
                                 ("200 kB", (0, 40000, 80000, 100000))):
        assert tfilefs.dask(sample, "energy", step_size=step_size).divisions == divisions
    part = tfilefs.dask(sample, ["energy", "Mu*"], step_size=1, entry_start=30000, entry_stop=-15000)
    assert part.fields == ["energy", "Muon_pt"] and part.divisions == (0, 10000, 30000, 50000, 55000)
    assert part.energy.compute(scheduler="threads").to_list() == energy[30000:-15000].tolist()


def test_what_is_used_is_read(tfilefs, runs):
    expected = uproot.concatenate([f"{runs}/run{i}.root:Events" for i in range(3)])
    events = tfilefs.dask(f"{runs}/run*.root", step_size=1)
    assert events.npartitions == 3 and events.divisions == (0, 100, 201, 303)
    for asked, columns in ((lambda each: each.x[each.x > 50], {"x"}), (lambda each: each.Muon.pt, {"Muon.pt"}), (lambda each: each["a.b"], {"a.b"}),
                           (lambda each: each.Muon[each.x > 1000].eta, {"x", "Muon.eta"})):
        assert needed(asked(events)) == columns
        assert ak.array_equal(asked(events).compute(scheduler="sync"), asked(expected), check_parameters=False)
    assert ak.array_equal(dak.num(events.Muon).compute(scheduler="sync"), ak.num(expected.Muon)) and len(needed(dak.num(events.Muon))) == 1
    assert ak.array_equal(events.compute(scheduler="sync")[expected.fields], expected, check_parameters=False)


def test_a_function_that_reads_is_pickled(tfilefs, runs, tmp_path, monkeypatch):
    """For workers in other directories, too."""
    from tfilefs._dask import Partitions
    monkeypatch.chdir(runs)
    [layer] = [each for each in tfilefs.dask({"run*.root": "Events"}, "x", step_size=1).dask.layers.values() if hasattr(each, "io_func")]
    reads = pickle.loads(pickle.dumps(layer.io_func))
    monkeypatch.chdir(tmp_path)
    assert isinstance(reads, Partitions) and reads((201, 303)).x.to_list() == [2000 + i for i in range(102)]
    assert len(reads.project_columns(frozenset())((0, 100))) == 100


def test_lists_and_datasets(tfilefs, runs, tmp_path):
    assert tfilefs.dask([runs / "run2.root", runs / "run0.root"]).x.compute(scheduler="sync")[[0, -1]].to_list() == [2000, 99]
    dataset = {"data": {"files": {f"{runs}/run{i}.root": "Events" for i in (0, 1)}}}
    (tmp_path / "samples.json").write_text(json.dumps(dataset))
    assert len(tfilefs.dask(f"@{tmp_path}/samples.json").x.compute(scheduler="sync")) == 201
    with pytest.raises(FileNotFoundError):
        tfilefs.dask(f"{runs}/none*.root")
    with pytest.raises(KeyError, match="nearest"):
        tfilefs.dask(f"{runs}/run0.root", "Muons")
    with pytest.raises(ValueError, match="no entries"):
        tfilefs.dask(f"{runs}/run0.root", entry_start=200)


@pytest.mark.parametrize("scheduler", ("processes", "distributed"))
def test_other_processes_read(tfilefs, sample, energy, tmp_path, scheduler):
    if scheduler == "distributed":
        pytest.importorskip("distributed", reason="distributed is not installed")
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    source = os.path.dirname(os.path.dirname(tfilefs.__file__))
    done = subprocess.run([sys.executable, "elsewhere.py", scheduler, sample], cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, PYTHONPATH=source))
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == energy.sum(dtype="f8")


def test_a_graph_of_a_file_that_has_other_entries_by_now(tfilefs, tmp_path):
    for entries in (10, 20):
        with uproot.recreate(tmp_path / "new.root") as file:
            file["T"] = {"x": np.arange(entries)}
        os.replace(tmp_path / "new.root", tmp_path / "x.root")
        if entries == 10:
            array = tfilefs.dask(tmp_path / "x.root")
            assert len(array.compute(scheduler="sync")) == 10
    with pytest.raises(tfilefs.MountError, match="20 entries, and had 10"):
        array.compute(scheduler="sync")
