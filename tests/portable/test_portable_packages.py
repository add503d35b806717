# SPDX-License-Identifier: Apache-2.0
"""The packages of the portable program: what they need, what those find who look at packages, and how they do in Debian."""

import glob
import os
import re
import shutil
import subprocess
import tarfile

import pytest

import package_life
from bare_debian import BareDebian
from conftest import ROOT
from test_bare_debian import MOUNTS, NOBODY, is_whole

NEWEST = (2, 34)  # the C library of EL 9
# Of rpm 4.16, which EL 9 has: `rpm --showrc` there.
RPMLIB = {"CompressedFileNames", "FileDigests", "PayloadFilesHavePrefix", "PayloadIsXz"}


def only(directory, pattern):
    [path] = glob.glob(os.path.join(directory, pattern))
    return path


def said_of(package, *query):
    return subprocess.run(["rpm", "-qp", *query, package], capture_output=True, text=True, check=True).stdout.splitlines()


def is_in_el9(name):
    """Whether a name that an .rpm requires is one that EL 9 provides."""
    if found := re.fullmatch(r"rpmlib\((\w+)\) <= .*", name):
        return found.group(1) in RPMLIB
    if found := re.fullmatch(r"(?:libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2)\((?:GLIBC_([\d.]+))?\)\(64bit\)", name):
        return not found.group(1) or tuple(map(int, found.group(1).split("."))) <= NEWEST
    return name in ("fuse3", "/bin/sh", "rtld(GNU_HASH)")


def test_the_rpm_needs_what_el9_has(packages):
    needed = said_of(only(packages, "tfilefs-[0-9]*.rpm"), "--requires")
    assert not [name for name in needed if not is_in_el9(name)]
    assert {"fuse3", "/bin/sh", "libc.so.6(GLIBC_2.34)(64bit)"} <= set(needed)


@pytest.mark.parametrize("name", ["tfilefs", "tfilefs-debuginfo"])
def test_rpmlint_finds_nothing(packages, name):
    told = os.path.join(ROOT, "packaging", "packages", "rpmlint.toml")
    done = subprocess.run(["rpmlint", "--config", told, only(packages, f"{name}-[0-9]*.rpm")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "1 packages" in done.stdout and "0 errors, 0 warnings" in done.stdout, done.stdout


@pytest.mark.parametrize("name", ["tfilefs", "tfilefs-dbgsym"])
def test_lintian_finds_nothing(packages, name):
    done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", only(packages, f"{name}_*.deb")], capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("user", [0, NOBODY])
def test_what_is_in_the_rpm_mounts(packages, sample, tmp_path, user):
    """In a Debian, whose rpm would not know that fuse3 is there."""
    debian = BareDebian("bookworm", "fuse3")
    with open(only(packages, "tfilefs-[0-9]*.rpm"), "rb") as package, open(tmp_path / "rpm.tgz", "wb") as unpacked:
        subprocess.run(["rpm2archive", "-"], stdin=package, stdout=unpacked, check=True)
    with tarfile.open(tmp_path / "rpm.tgz") as archive:
        archive.extractall(tmp_path / "rpm", filter="data")
    place = debian.put(tmp_path / "rpm" / "usr", "rpm")
    shutil.copy(sample, os.path.join(debian.root, "opt", "rpm", "run.root"))
    is_whole(debian.run(MOUNTS, user=user, PLACE=place))


@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_the_deb_is_installed_used_upgraded_and_removed(packages, sample, tmp_path, release):
    package_life.check(BareDebian(release), only(packages, "tfilefs_*.deb"), sample, str(tmp_path))


def test_symbols_are_those_of_the_program(packages, portable, tmp_path):
    notes = subprocess.run(["readelf", "--notes", f"{portable}/bin/tfilefs"], capture_output=True, text=True, check=True).stdout
    identity = re.search(r"Build ID: (\w+)", notes).group(1)
    wanted = f"/usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug"
    symbols = only(packages, "tfilefs-debuginfo-*.rpm")
    assert wanted in said_of(symbols, "-l")
    version, *_ = said_of(symbols, "--queryformat", "%{VERSION}\n")
    assert [name for name in said_of(symbols, "--requires") if not name.startswith("rpmlib(")] == [f"tfilefs = {version}"]
    subprocess.run(["dpkg-deb", "--extract", only(packages, "tfilefs-dbgsym_*.deb"), tmp_path], check=True)
    assert os.path.exists(f"{tmp_path}{wanted}")
