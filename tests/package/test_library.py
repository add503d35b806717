# SPDX-License-Identifier: Apache-2.0
"""libtfile, as a project outside of this one builds against it."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
import uproot

from conftest import ROOT, install_component


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation at a place that the build did not know of."""
    return install_component("development", tmp_path_factory.mktemp("a library"))


@pytest.fixture(scope="module")
def example(prefix, tmp_path_factory):
    """The example of the installation, copied to where nothing else is."""
    return shutil.copytree(prefix / "share/doc/tfilefs/examples/column_sum", tmp_path_factory.mktemp("elsewhere") / "column_sum")


def check_sums(program, sample):
    with uproot.open(sample) as file:
        for name in ("run.i4", "energy.f4", "Muon_pt/values.f4"):
            branch = file["Events"][name.split(".")[0].split("/")[0]].array()
            said = subprocess.run([program, sample, "Events", name], capture_output=True, text=True, check=True).stdout
            total = sum(float(each) for each in uproot_numbers(branch))
            assert float(said) == pytest.approx(total, rel=1e-9), name
    done = subprocess.run([program, sample, "Events", "none.f4"], capture_output=True, text=True)
    assert done.returncode == 1 and "no such column" in done.stderr


def uproot_numbers(branch):
    import awkward
    import numpy as np

    return np.asarray(awkward.flatten(branch, axis=None), "f8")


def test_a_project_of_cmake(prefix, example, sample, tmp_path):
    subprocess.run(["cmake", "-S", example, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", tmp_path], check=True, stdout=subprocess.DEVNULL)
    check_sums(tmp_path / "column_sum", sample)


def test_a_line_with_pkg_config(prefix, example, sample, tmp_path):
    [package] = prefix.rglob("tfile.pc")
    flags = subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "tfile"],
                           env=dict(os.environ, PKG_CONFIG_PATH=str(package.parent)), capture_output=True, text=True, check=True)
    subprocess.run(["c++", "-std=c++20", example / "column_sum.cpp", "-o", tmp_path / "column_sum", *shlex.split(flags.stdout)], check=True)
    check_sums(tmp_path / "column_sum", sample)


def test_headers_say_that_they_may_change(prefix):
    headers = list(prefix.rglob("include/tfile/*.h"))
    assert len(headers) > 20
    for header in headers:
        assert re.search(r"experimental until 1\.0", header.read_text(encoding="utf-8")), header


def test_headers_define_no_macro_without_the_prefix(prefix, tmp_path):
    headers = sorted(prefix.rglob("include/tfile/*.h"))
    source = tmp_path / "all.cpp"
    source.write_text("".join(f"#include <tfile/{header.name}>\n" for header in headers), encoding="utf-8")
    [package] = prefix.rglob("tfile.pc")
    flags = subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "tfile"],
                           env=dict(os.environ, PKG_CONFIG_PATH=str(package.parent)), capture_output=True, text=True, check=True)
    done = subprocess.run(["c++", "-std=c++20", "-E", "-dD", source, *shlex.split(flags.stdout)], capture_output=True, text=True, check=True)
    macros, file = [], ""
    for line in done.stdout.splitlines():
        if marker := re.match(r'# \d+ "([^"]*)"', line):
            file = marker[1]
        elif (made := re.match(r"#define (\w+)", line)) and "/include/tfile/" in file:
            macros.append(made[1])
    assert macros and all(macro.startswith("TFILE_") for macro in macros), macros
