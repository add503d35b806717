# SPDX-License-Identifier: Apache-2.0
"""The program without the libraries of plots (TFILEFS_PLOTS=OFF): no pictures, and all else."""

import os
import subprocess

import numpy as np
import pytest

import mounted
import mounted_table


@pytest.fixture
def without_plots(monkeypatch):
    program = os.path.join(os.path.dirname(mounted.program()), "..", "tests", "without_plots")
    monkeypatch.setenv("TFILEFS_BIN", program)
    return program


def listing(path):
    return sorted(os.listdir(path))


def test_objects_have_all_but_their_plots(samples, mount, without_plots, monkeypatch):
    file = os.path.join(samples("plots"), "plots.root")
    bare = mount(file, "views=listed").path
    with monkeypatch.context() as patch:
        patch.setenv("TFILEFS_BIN", os.path.join(os.path.dirname(without_plots), "..", "fs", "tfilefs"))
        whole = mount(file, "views=listed").path
    for name in ("fitted", "labels", "points"):
        names = listing(os.path.join(whole, name))
        assert "plot.svg" in names
        assert listing(os.path.join(bare, name)) == [each for each in names if each != "plot.svg"]
        assert not os.path.exists(os.path.join(bare, name, "plot.svg")) and not os.path.exists(os.path.join(bare, name + ".svg"))
        for same in ("table.csv", "object.json"):
            paths = [os.path.join(top, name, same) for top in (bare, whole)]
            assert mounted_table.read_exactly(paths[0]) == mounted_table.read_exactly(paths[1])


def test_columns_have_all_but_their_pictures(samples, mount, without_plots):
    table = os.path.join(mount(os.path.join(samples("numbers"), "numbers-101.root"), "views=listed").path, "t")
    n = np.load(os.path.join(table, "n.npy"))
    assert n.size > 0 and np.array_equal(n, np.fromfile(os.path.join(table, "n.i4"), "<i4"))
    assert os.path.exists(os.path.join(table, "n.stats.json")) and not os.path.exists(os.path.join(table, "n.svg"))
    page = mounted_table.read_exactly(os.path.join(table, "index.html")).decode()
    assert ".stats.json" in page and ".svg" not in page
    assert "plot.svg" not in listing(os.path.join(table, ".draw=n"))


def test_draw_says_that_it_has_no_plots(samples, tmp_path, without_plots):
    def draw(name):
        source = os.path.join(samples("numbers"), "numbers-101.root") + ":t"
        return subprocess.run([without_plots, "draw", source, "n", "-o", str(tmp_path / name)], capture_output=True, text=True, timeout=60)
    refused = draw("n.svg")
    assert refused.returncode != 0 and not (tmp_path / "n.svg").exists()
    assert refused.stderr.count("\n") == 1 and "this program was built without plots" in refused.stderr
    assert draw("n.csv").returncode == 0 and (tmp_path / "n.csv").read_text().startswith("x_low,x_high,value")
