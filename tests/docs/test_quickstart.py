# SPDX-License-Identifier: Apache-2.0
"""packaging/quickstart, as a new user runs it. On its own build only if the tests run on that, since it would otherwise
make one; else in a folder of its own, where the program is there without being built."""

import concurrent.futures
import os
import shutil
import subprocess
import sys

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


def write_program(path, lines):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


@pytest.fixture
def elsewhere(program, tmp_path):
    """run(*arguments): quickstart of a folder whose name has a space. It has the program, which tmp_path/bin/ninja does not
    make."""
    folder = tmp_path / "a checkout"
    (folder / "build" / "fs").mkdir(parents=True)
    (folder / "build" / "fs" / "tfilefs").symlink_to(os.path.realpath(program))
    shutil.copytree(os.path.join(ROOT, "packaging"), folder / "packaging", ignore=shutil.ignore_patterns("[!qm]*"))
    write_program(folder / "packaging" / "install-deps", "echo installing")
    write_program(tmp_path / "bin" / "cmake", "true")
    write_program(tmp_path / "bin" / "ninja", "echo '[1/1] built'; sleep 0.5")

    def run(*arguments):
        environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "TFILEFS_VENV": sys.prefix}
        return subprocess.run([folder / "packaging" / "quickstart", *arguments], capture_output=True, text=True, timeout=300,
                              env=environment, cwd=tmp_path)

    yield run
    subprocess.run(["fusermount3", "-u", "-q", folder / "build" / "mnt"], check=False)


def test_in_a_folder_with_a_space(elsewhere):
    """Twice, and the command of its last line unmounts."""
    for _ in range(2):
        result = elsewhere()
        assert result.returncode == 0, result.stdout + result.stderr
    command = result.stdout.strip().splitlines()[-1].split("unmount with: ")[1]
    assert subprocess.run(command, shell=True, timeout=60).returncode == 0


def test_two_at_once(elsewhere, tmp_path):
    """The second waits, and is there after the first; what is mounted makes nobody wait."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for result in list(pool.map(lambda _: elsewhere(), range(2))):
            assert result.returncode == 0, result.stdout + result.stderr
    lock = tmp_path / "a checkout" / "build" / "quickstart.lock"
    assert subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0


def test_a_file_that_is_not_there_is_told_before_anything_is_made(elsewhere):
    result = elsewhere("missing.root")
    assert result.returncode == 1
    assert (result.stdout, result.stderr) == ("", "quickstart: missing.root: no such file\n")


def test_a_sample_that_was_interrupted_is_made_again(elsewhere, tmp_path):
    script = tmp_path / "a checkout" / "packaging" / "make-sample.py"
    whole = script.read_text()
    script.write_text('import sys\nopen(sys.argv[1], "w").write("root")\nsys.exit(1)\n')
    assert elsewhere().returncode == 1
    script.write_text(whole)
    result = elsewhere()
    assert result.returncode == 0, result.stdout + result.stderr


def test_what_the_compiler_says_is_shown(elsewhere, tmp_path):
    write_program(tmp_path / "bin" / "ninja", "echo '[1/2] one'; echo 'x.cpp:1: error: no'; exit 1")
    result = elsewhere()
    assert result.returncode == 1 and "x.cpp:1: error: no" in result.stdout


def test_a_compiler_that_was_too_old_is_not_kept(elsewhere, tmp_path, monkeypatch):
    """CMake itself, on a project that wants what this one wants of a compiler."""
    for name in ("cmake", "ninja"):
        (tmp_path / "bin" / name).unlink()
    (tmp_path / "a checkout" / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(tfilefs LANGUAGES CXX)\n"
        'if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)\nmessage(FATAL_ERROR "too old")\nendif()\nadd_custom_target(tfilefs)\n')
    write_program(tmp_path / "bin" / "old", 'exec g++ -w -U__GNUC__ -D__GNUC__=11 "$@"')
    monkeypatch.setenv("CXX", "old")
    result = elsewhere()
    assert result.returncode == 1 and "too old" in result.stderr
    monkeypatch.delenv("CXX")
    result = elsewhere()
    assert result.returncode == 0, result.stdout + result.stderr
