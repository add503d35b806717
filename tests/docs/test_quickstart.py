# SPDX-License-Identifier: Apache-2.0
"""packaging/quickstart, as a new user runs it. Only if the tests run on its own build, since it would otherwise make
one."""

import os
import shutil
import subprocess

import pytest

import mounted
from pages import ROOT

BUILD = os.path.join(ROOT, "build")


@pytest.fixture
def quickstart(program):
    if os.path.realpath(program) != os.path.join(BUILD, "fs", "tfilefs"):
        pytest.skip("quickstart builds in build/, and these tests run on another program")
    mnt = os.path.join(BUILD, "mnt")

    def run(*arguments):
        return subprocess.run([os.path.join(ROOT, "packaging", "quickstart"), *arguments], capture_output=True, text=True,
                              timeout=900)

    yield run
    if mounted.is_mount_point(mnt):
        subprocess.run(["fusermount3", "-u", mnt], check=True)


def test_with_its_own_sample(quickstart):
    """Twice: the second run finds the mount of the first one."""
    for _ in range(2):
        result = quickstart()
        assert result.returncode == 0, result.stdout + result.stderr
        last = result.stdout.strip().splitlines()[-1]
        assert last.startswith("quickstart: all is well"), last
        assert "Events" in result.stdout and "25.941" in result.stdout
        assert sorted(os.listdir(os.path.join(BUILD, "mnt"))) == ["Events", "calorimeter", "tracker"]


def test_with_a_file_of_the_user(quickstart, samples, tmp_path):
    path = tmp_path / "my file.root"
    shutil.copy(os.path.join(samples("storage"), "plain.root"), path)
    result = quickstart(str(path))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "list" in result.stdout
    assert sorted(os.listdir(os.path.join(BUILD, "mnt"))) == ["h", "t"]


def test_with_no_root_file(quickstart, tmp_path):
    path = tmp_path / "text.root"
    path.write_text("no ROOT file")
    result = quickstart(str(path))
    assert result.returncode != 0 and str(path) in result.stderr
