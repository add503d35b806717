# SPDX-License-Identifier: Apache-2.0
"""What a portable program asks of the machine that it runs on."""

import ast
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

NEWEST = (2, 34)
LOADERS = {"portable": "ld-linux-x86-64.so.2", "arm64": "ld-linux-aarch64.so.1"}


@pytest.fixture(params=LOADERS)
def kind(request):
    return request.param


@pytest.fixture
def installed(kind, request):
    return request.getfixturevalue(kind)


def readelf(*arguments):
    return subprocess.run(["readelf", "--wide", *arguments], capture_output=True, text=True, check=True).stdout


def test_it_needs_the_c_library_alone(kind, installed):
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", f"{installed}/bin/tfilefs")))
    assert {"libc.so.6"} <= needed <= {"libc.so.6", "libm.so.6", LOADERS[kind]}


def test_the_c_library_may_be_that_of_2021(installed):
    symbols = re.findall(r"\bUND (\S+)@(\w+?)_([\d.]+)", readelf("--dyn-syms", f"{installed}/bin/tfilefs"))
    assert len(symbols) > 100 and {library for _, library, _ in symbols} == {"GLIBC"}
    newer = [(name, version) for name, _, version in symbols if tuple(map(int, version.split("."))) > NEWEST]
    assert not newer


def test_nothing_else_is_loaded_from_beside_the_program(installed):
    found = [name for _, _, names in os.walk(installed) for name in names if name.endswith((".so", ".a"))]
    assert found == []


def test_no_path_of_the_machine_is_in_it(installed):
    with open(f"{installed}/bin/tfilefs", "rb") as file:
        content = file.read()
    for path in (os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..")), os.path.expanduser("~/.cache")):
        assert path.encode() not in content, path


def headers():
    """Packages whose code is compiled in, as the list of a release has them."""
    with open(os.path.join(ROOT, "packaging", "sbom.py"), encoding="utf-8") as file:
        return ast.literal_eval(re.search(r"^HEADERS = (\{.*?\})$", file.read(), re.MULTILINE | re.DOTALL).group(1)).keys()


def test_each_library_comes_with_its_license(installed):
    folder = f"{installed}/share/doc/tfilefs/licenses"
    with open(f"{folder}/parts", encoding="utf-8") as file:
        parts = [line.split()[0] for line in file]
    assert {"libfuse3-dev", "libssl-dev", "libisal", "libmicrohttpd", "curl", "xrootd"} <= set(parts)
    for name in (*(f"{part}.txt" for part in (*parts, *headers() - {"libboost-math-dev"})), "gcc-12.txt", "LGPL-2.1", "LGPL-3", "README.md"):
        assert os.path.getsize(f"{folder}/{name}") > 500, name


def test_the_list_of_a_release_names_them(installed):
    done = subprocess.run([os.path.join(ROOT, "packaging", "sbom.py"), "0.0", "0", installed], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = {(package["name"], package["versionInfo"]) for package in json.loads(done.stdout)["packages"]}
    with open(f"{installed}/share/doc/tfilefs/licenses/parts", encoding="utf-8") as file:
        parts = {tuple(line.split()[:2]) for line in file}
    assert len(parts) > 10 and parts <= told
    assert set(headers()) <= {name for name, _ in told}
    assert not {"libfuse3-3", "libmicrohttpd-dev"} & {name for name, _ in told}, "a library of this machine"


def test_a_wheel_of_it_is_for_each_linux_since_2021(kind, make_wheel, request):
    wheel = make_wheel(request.getfixturevalue(f"{kind}_build"))
    machine = "x86_64" if kind == "portable" else "aarch64"
    assert os.path.basename(wheel).endswith(f"-py3-none-manylinux_2_34_{machine}.whl")
    assert os.path.getsize(wheel) < 20e6
    done = subprocess.run([os.path.join(os.path.dirname(sys.executable), "auditwheel"), "show", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = [tuple(map(int, pair)) for pair in re.findall(r'"?manylinux_(\d+)_(\d+)_' + machine, done.stdout)]
    assert told and min(told) <= NEWEST, done.stdout


def test_the_libraries_are_those_that_debian_has():
    """A newer one mends faults: docs/installing.md, "Libraries in the program"."""
    folder = os.path.join(ROOT, "packaging", "portable")
    done = subprocess.run([os.path.join(folder, "libraries"), "--pin"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(folder, "libraries.txt"), encoding="utf-8") as file:
        assert done.stdout == file.read()
