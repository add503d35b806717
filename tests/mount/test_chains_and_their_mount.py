# SPDX-License-Identifier: Apache-2.0
"""Chains whose names lead into their own mount, or into another chain's. Each would wait for itself."""

import os
import subprocess
import time

import numpy as np
import pytest

import mounted
from test_chains import put

PATIENCE = 30


def listed(path):
    """Asked by another process, which can be killed."""
    return subprocess.run(["ls", path], capture_output=True, timeout=PATIENCE, text=True).stdout.split()


def numbers(column):
    return np.frombuffer(subprocess.run(["cat", column], capture_output=True, timeout=PATIENCE, check=True).stdout, "<i4").tolist()


def looked_at_again():
    """A look at the sources is good for some tenths of a second."""
    time.sleep(0.5)


@pytest.fixture
def data(tmp_path):
    for number, name in enumerate(("a/f0.root", "b/f1.root")):
        (tmp_path / name).parent.mkdir()
        put(tmp_path / name, t={"x": np.array([number], "i4")})
    for name in ("m", "n"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize("source", ["**", "**/f*.root", "*/*.root", "[abm]*", "*/f[01].root", "@list"])
def test_a_chain_that_names_its_own_mount(source, data):
    (data / "list").write_text("**/f0.root\n*/f1.root\n")
    source = f"@{data}/list" if source == "@list" else os.path.join(data, source)
    with mounted.Mounted(source, ["chain"], mount_point=data / "m") as m:
        for _ in range(2):
            assert listed(m.path) == ["t"]
            assert numbers(os.path.join(m.path, "t", "x.i4")) == [0, 1]
            looked_at_again()
        put(data / "b/f2.root", t={"x": np.array([2], "i4")})
        looked_at_again()
        wanted = [0, 1] if source.endswith("[01].root") or source.startswith("@") else [0, 1, 2]
        assert numbers(os.path.join(m.path, "t", "x.i4")) == wanted


def test_a_file_that_becomes_a_link_into_the_mount(data):
    with mounted.Mounted([data / "a/f0.root", data / "b/f1.root"], ["chain"], mount_point=data / "m") as m:
        os.symlink(data / "m/t.arrow", data / "new")
        os.rename(data / "new", data / "b/f1.root")
        looked_at_again()
        assert listed(m.path) == ["t"]
        cat = subprocess.run(["cat", os.path.join(m.path, "t", "x.i4")], capture_output=True, timeout=PATIENCE)
        assert cat.returncode == 1


def test_a_friend_that_is_looked_for_in_the_mount(data):
    options = ["chain", f"friend=f={data}/**/f*.root"]
    with mounted.Mounted([f"{data}/**/f0.root"], options, mount_point=data / "m") as m:
        for _ in range(2):
            assert numbers(os.path.join(m.path, "t", ".friends", "f", "x.i4")) == [0]
            looked_at_again()


def test_two_chains_that_look_below_the_mount_of_each_other(data):
    with mounted.Mounted([f"{data}/**"], ["chain"], mount_point=data / "m") as one:
        with mounted.Mounted([f"{data}/**/f1.root"], ["chain"], mount_point=data / "n") as other:
            for _ in range(3):
                readers = [subprocess.Popen(["cat", os.path.join(m.path, "t", "x.i4")], stdout=subprocess.PIPE) for m in (one, other)]
                read = [np.frombuffer(reader.communicate(timeout=PATIENCE)[0], "<i4").tolist() for reader in readers]
                assert read == [[0, 1], [1]]
                looked_at_again()
