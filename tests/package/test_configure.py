# SPDX-License-Identifier: Apache-2.0
"""CMake says at once, and in words, what is missing or too old; and does without what a build can do without."""

import os
import re
import shlex
import subprocess

import pytest

from conftest import ROOT


@pytest.fixture
def configure(tmp_path):
    """configure(*options, fakes={name: lines of shell}): with these before all else in PATH; (status, output)."""

    def run(*options, fakes=None):
        directory = tmp_path / "bin"
        directory.mkdir()
        for name, lines in (fakes or {}).items():
            (directory / name).write_text(f"#!/bin/sh\n{lines}\n")
            (directory / name).chmod(0o755)
        environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(tmp_path)}
        done = subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path / "a build", "-DTFILEFS_TESTS=OFF", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=300)
        return done.returncode, " ".join(done.stdout.split())

    return run


def test_a_compiler_that_is_too_old(configure):
    status, output = configure("-DCMAKE_CXX_COMPILER=old", fakes={"old": 'exec g++ -w -U__GNUC__ -D__GNUC__=11 "$@"'})
    assert status != 0 and re.search(r"old is of version 11\S*; the oldest that works is 12", output), output


def test_a_library_that_is_too_old(configure, tmp_path):
    (tmp_path / "libdeflate.pc").write_text("Name: libdeflate\nDescription: old\nVersion: 1.6\n")
    status, output = configure()
    assert status != 0 and "'libdeflate' has version '1.6', required version is '>= 1.8'" in output, output


def test_a_library_that_pkg_config_does_not_know_and_is_too_old(configure, tmp_path):
    (tmp_path / "boost").mkdir()
    (tmp_path / "boost" / "version.hpp").write_text('#define BOOST_LIB_VERSION "1_62"\n')
    status, output = configure(f"-DBOOST_INCLUDE={tmp_path}")
    assert status != 0 and "boost/version.hpp is of version 1.62; the oldest that works is 1.74" in output, output


def test_a_sanitizer_without_its_runtime(configure):
    """The compiler takes the flag, and cannot link."""
    fakes = {"some": 'case " $* " in *" -c "*) exec g++ "$@";; *fsanitize=thread*) exit 1;; esac\nexec g++ "$@"'}
    status, output = configure("-DCMAKE_CXX_COMPILER=some", "-DTFILEFS_SANITIZE=thread", fakes=fakes)
    assert status != 0 and "cannot link with -fsanitize=thread: its runtime is missing" in output, output


def test_neither_ccache_nor_git_is_needed_nor_a_path_without_spaces(configure, tmp_path):
    """git refuses to look at a checkout of another user, as in a container."""
    status, output = configure("-DCMAKE_CXX_COMPILER_LAUNCHER=missing-ccache", fakes={"git": "exit 128"})
    assert status == 0 and "missing-ccache is not there" in output, output
    # A path with a space is one argument of what an installation runs.
    lines = [line for line in (tmp_path / "a build" / "packaging" / "cmake_install.cmake").read_text().splitlines() if "objcopy" in line]
    assert lines and not [line for line in lines if any(word.endswith(f"{tmp_path}/a") for word in shlex.split(line))]
    rules = (tmp_path / "a build" / "build.ninja").read_text()
    assert "missing-ccache" not in rules
    assert re.search(r"manual_page\S* \S+/tfilefs\.1\.in [\d.]+ \d{4}-\d\d-\d\d ", rules)
