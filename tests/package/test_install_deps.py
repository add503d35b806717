# SPDX-License-Identifier: Apache-2.0
"""packaging/install-deps where something was killed before, and run again: fakes of dpkg and apt-get that refuse as those
do, and an environment whose parts are told by files."""

import os
import stat
import subprocess
import sys

from conftest import ROOT

# Each fake writes its call into $calls. apt-get refuses until dpkg was brought to its end, and installs nothing.
FAKES = {
    "dpkg-query": 'test -e "$calls.installed" && echo installed',
    "dpkg": 'echo "dpkg $*" >> "$calls"; rm "$calls.interrupted"',
    "apt-get": 'echo "apt-get $1" >> "$calls"; test "$1" = update || { test ! -e "$calls.interrupted" && touch "$calls.installed"; }',
    "id": "echo 0",
}

INSTALL_DEPS = os.path.join(ROOT, "packaging", "install-deps")


def make_fakes(directory, fakes):
    """An environment whose PATH begins with them."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, lines in fakes.items():
        fake = directory / name
        fake.write_text(f"#!/bin/sh\n{lines}\n")
        fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    return {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}


def install_deps(level, environment):
    return subprocess.run([INSTALL_DEPS, level], capture_output=True, text=True, timeout=300, env=environment)


def test_an_interrupted_dpkg_is_brought_to_its_end_first(tmp_path):
    calls = tmp_path / "calls"
    (tmp_path / "calls.interrupted").touch()
    result = install_deps("build", {**make_fakes(tmp_path / "bin", FAKES), "calls": str(calls)})
    assert result.returncode == 0, result.stderr
    assert calls.read_text().splitlines() == ["dpkg --configure -a", "apt-get update", "apt-get install"]


def test_packages_of_two_architectures_are_there(tmp_path):
    """dpkg-query prints its format once for each."""
    fake = """one=$(printf '%s.' "${2#-f=}" | sed 's/${[^}]*}/installed/')
printf "${one%.}${one%.}"
"""
    fakes = {"dpkg-query": fake, "apt-get": "exit 1", "dpkg": "exit 1"}
    result = install_deps("build", make_fakes(tmp_path / "bin", fakes))
    assert result.returncode == 0, result.stderr


# Installing writes a file into the environment.
PYTHON = """
here=$(dirname "$0")
case "$*" in
  "-m pip --version") test -e "$here/has_pip" ;;
  "-m pip install"*) test -e "$here/has_pip" && touch "$here/installed" ;;
  *) exec "$real" "$@" ;;
esac
"""


def test_an_environment_that_was_interrupted_is_made_to_its_end(tmp_path):
    environment = tmp_path / "venv"
    make_fakes(environment / "bin", {"python": PYTHON})
    fakes = make_fakes(tmp_path / "bin", {"dpkg-query": "echo installed", "python3": f'touch "{environment}/bin/has_pip"'})
    result = install_deps("sample", {**fakes, "TFILEFS_VENV": str(environment), "real": "false"})
    assert result.returncode == 0, result.stderr
    assert (environment / "bin" / "installed").exists()


def test_it_only_looks_when_all_is_there(tmp_path):
    """Without a network, and with the environment of these tests."""
    environment = tmp_path / "venv"
    make_fakes(environment / "bin", {"python": PYTHON})
    fakes = make_fakes(tmp_path / "bin", {"dpkg-query": "echo installed"})
    fakes.pop("HOME", None)
    for level in ("sample", "test"):
        result = install_deps(level, {**fakes, "TFILEFS_VENV": str(environment), "real": sys.executable})
        assert result.returncode == 0, result.stderr
        assert result.stdout == f"install-deps: everything for '{level}' is there\n"
