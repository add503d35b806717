# SPDX-License-Identifier: Apache-2.0
"""Objects of ROOT's classes: arrays compared with uproot and ROOT value by value, and object.json with TBufferJSON."""

import csv
import json
import os

import numpy as np
import pytest
import uproot

import mounted_table
import root_process
from oracle import object_json

SAMPLE = "objects"


def arrays(directory):
    """{name: array} of the columns of a directory."""
    found = {}
    for name in os.listdir(directory):
        if parsed := mounted_table.parse_name(name):
            found[parsed[0]] = mounted_table.read_array(os.path.join(directory, name))
    return found


HISTOGRAMS = [f"h{n}{kind}" for kind in "CSIFD" for n in (1, 2, 3)] + ["variable", "labels", "empty", "negative"]


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms_are_what_uproot_reads(file, top, name):
    with uproot.open(file) as opened:
        expected = opened[name]
    ours, flow = arrays(os.path.join(top, name)), arrays(os.path.join(top, name, "flow"))
    values, *edges = expected.to_numpy()
    np.testing.assert_array_equal(ours["values"], values)
    for axis, edge in zip("xyz", edges):
        np.testing.assert_allclose(ours[axis + "edges"], edge, rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(flow["values"], expected.values(flow=True))
    # Without sums of squares, uproot's variances keep the sign of the weights; ROOT's errors have no sign.
    np.testing.assert_array_equal(ours["variances"], np.abs(expected.variances(flow=False)))
    np.testing.assert_array_equal(flow["variances"], np.abs(expected.variances(flow=True)))


@pytest.mark.parametrize("name", ["buffer_1", "buffer_w", "buffer_2", "buffer_3", "buffer_p", "buffer_pw", "buffer_p2", "buffer_p3"])
def test_fill_buffers_are_merged_as_root_would(top, name):
    """The fills of a twin histogram were put into its bins before it was written."""
    for directory in ("", "flow"):
        ours = arrays(os.path.join(top, name, directory))
        twins = arrays(os.path.join(top, name + "_filled", directory))
        assert ours.keys() == twins.keys() and twins["values"].sum() > 0
        for column, expected in twins.items():
            assert ours[column].dtype == expected.dtype
            np.testing.assert_allclose(ours[column], expected, rtol=1e-14)


PROFILES = ["profilem", "profiles", "profilei", "profileg", "weighted", "profile2", "profile3"]


@pytest.fixture(scope="module")
def root_profiles(file, tmp_path_factory):
    answer = tmp_path_factory.mktemp("profiles") / "answer.json"
    root_process.run_script(os.path.join("oracle", "root_profiles.py"), [file, str(answer), *PROFILES])
    return json.loads(answer.read_text())


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_are_what_root_tells(root_profiles, top, name):
    expected = root_profiles[name]
    flow = arrays(os.path.join(top, name, "flow"))
    for what in ("values", "effective_entries"):
        np.testing.assert_allclose(flow[what].ravel(), expected[what], rtol=1e-13, atol=0)
    # A spread of zero is the rest of a difference of large numbers.
    np.testing.assert_allclose(np.sqrt(flow["variances"].ravel()), expected["errors"], rtol=1e-9, atol=1e-9)
    inner = arrays(os.path.join(top, name))
    np.testing.assert_array_equal(inner["values"], flow["values"][(slice(1, -1),) * flow["values"].ndim])


@pytest.mark.parametrize("name", ["THnF", "THnD", "THnI"])
def test_many_dimensions_against_their_sparse_kin(root_profiles, top, name):
    """Both were filled in the same way, so they have the same cells."""
    dense, flow = arrays(os.path.join(top, name)), arrays(os.path.join(top, name, "flow"))
    assert dense["values"].shape == (3, 4, 2) and flow["values"].shape == (5, 6, 4)
    np.testing.assert_array_equal(dense["values"], flow["values"][1:-1, 1:-1, 1:-1])
    np.testing.assert_array_equal(dense["edges1"], [-2, -0.25, 1.5, 3.25, 5])
    assert flow["values"].sum() == 450
    variances = {"THnD": 750}.get(name, 450)  # weights of 1 and 2, squared if squares are kept
    assert flow["variances"].sum() == variances


@pytest.mark.parametrize("name", ["THnSparseF", "THnSparseD", "THnSparseI"])
def test_sparse_histograms_are_what_root_tells(file, top, tmp_path, name):
    answer = tmp_path / "answer.json"
    root_process.run_script(os.path.join("oracle", "root_sparse.py"), [file, str(answer), name])
    expected = json.loads(answer.read_text())
    ours = arrays(os.path.join(top, name))
    assert ours["coordinates"].tolist() == expected["coordinates"]
    np.testing.assert_array_equal(ours["values"], expected["values"])
    np.testing.assert_allclose(ours["variances"], expected["variances"])


@pytest.mark.parametrize("name", ["THnF", "THnD", "THnI", "THnSparseF", "THnSparseD", "THnSparseI"])
def test_tables_of_many_dimensions(file, top, tmp_path, name):
    answer = tmp_path / "answer.json"
    root_process.run_script(os.path.join("oracle", "root_sparse.py"), [file, str(answer), name])
    path = os.path.join(top, name, "table.csv")
    with open(path) as table:
        header = table.readline().strip().split(",")
    sides = [f"axis{axis}_{side}" for axis in range(3) for side in ("low", "high")]
    assert header == [*sides, "value", "error", *(["axis1_label"] if name == "THnI" else [])]
    rows = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(8))
    np.testing.assert_allclose(rows, json.loads(answer.read_text())["lines"], rtol=1e-15)
    if name == "THnI":
        with open(path, newline="") as table:
            labels = [row["axis1_label"] for row in csv.DictReader(table)]
        assert labels == ["first, of four" if low == -2 else "" for low in rows[:, 2]]


def test_graphs(top):
    x, y, e, f = [1, 2, 4], [3, -1, 2], [0.1, 0.2, 0.3], [0.4, 0.5, 0.6]
    expected = {
        "graph": {"x": x, "y": y},
        "errors": {"x": x, "y": y, "ex": e, "ey": f},
        "asymmetric": {"x": x, "y": y, "exlow": e, "exhigh": f, "eylow": f, "eyhigh": e},
        "graph2": {"x": x, "y": y, "z": e},
        "points0": {"x": [], "y": []},
    }
    for name, columns in expected.items():
        assert {n: a.tolist() for n, a in arrays(os.path.join(top, name)).items()} == columns


def test_efficiencies(top):
    assert arrays(os.path.join(top, "efficiency/passed"))["values"].tolist() == [7, 7, 6, 0]
    assert arrays(os.path.join(top, "efficiency/total/flow"))["values"].tolist() == [0, 14, 13, 13, 0, 0]


# ROOT names colours when it reads a canvas.
NOT_COMPARED = {"canvas"}


def test_json_is_what_root_writes(file, top):
    results = object_json.compare_file(file, top)
    assert len(results) > 60
    wrong = [(path, verdict, differences[:3]) for path, _, _, verdict, differences, _ in results
             if verdict != "equal" and path not in NOT_COMPARED]
    assert not wrong, wrong
    for path, _, _, _, _, comparison in results:
        if path not in NOT_COMPARED:
            assert not comparison.only_ours and not comparison.only_roots, path


def test_a_canvas_is_complete(top):
    with open(os.path.join(top, "canvas", "object.json"), encoding="utf-8") as opened:
        text = opened.read()
    assert "$unread" not in text
    drawn = json.loads(text)["fPrimitives"]["arr"]
    assert any(item["_typename"] == "TH1F" and item["fName"] == "buffer_1" for item in drawn)
