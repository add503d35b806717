# SPDX-License-Identifier: Apache-2.0
"""Histograms, axes and graphs of versions with hand-written streamers, compared with ROOT, which can still read
them."""

import os

import numpy as np

import mounted_table
from oracle import object_json

SAMPLE = "old_objects"


def test_json_is_what_root_reads(file, top):
    results = object_json.compare_file(file, top)
    told = {path: (verdict, differences[:3]) for path, _, _, verdict, differences, _ in results if verdict != "equal"}
    assert len(results) == 21 and told == {}


def column(top, *path):
    directory = os.path.join(top, *path[:-1])
    name = next(n for n in os.listdir(directory) if n.split(".")[0] == path[-1])
    return mounted_table.read_array(os.path.join(directory, name))


def test_arrays_of_old_histograms(top):
    for name in [n for n in os.listdir(top) if n.startswith("h1_")]:
        assert column(top, name, "flow", "values").tolist() == [0, 0.5, 1, 1.5, 2]
        assert column(top, name, "variances").tolist() == [1, 2, 3]
        np.testing.assert_array_equal(column(top, name, "xedges"), [-1.5, -0.5, 0.5, 1.5])
    for name in ("h2_1", "h2_2"):
        assert column(top, name, "yedges").tolist() == [0, 1, 4]
        assert column(top, name, "values").tolist() == [[3, 5.5], [3.5, 6], [4, 6.5]]


def test_arrays_of_old_graphs(top):
    for version in "12":
        assert column(top, "graph_" + version, "x").tolist() == [1, 2, 4]
        assert column(top, "errors_" + version, "ey").tolist() == [3, 4, 5]
        assert column(top, "asymmetric_" + version, "exhigh").tolist() == [6, 7, 8]
