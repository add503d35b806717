# SPDX-License-Identifier: Apache-2.0
"""The portable programs that packaging/test built: of this machine's kind, and of arm64."""

import os
import subprocess
import sys

import pytest

import mounted

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
EMULATOR = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]


def build_of(variable):
    build = os.environ.get(variable)
    if not build:
        pytest.skip(f"{variable} names no build of packaging/make-portable")
    return os.path.realpath(build)


def install(build, directory):
    """The program as an archive has it."""
    subprocess.run(["cmake", "--install", build, "--prefix", directory, "--component", "tfilefs"], check=True, stdout=subprocess.DEVNULL)
    return str(directory)


@pytest.fixture(scope="session")
def portable_build():
    return os.path.dirname(os.path.dirname(os.path.realpath(mounted.program())))


@pytest.fixture(scope="session")
def portable(portable_build, tmp_path_factory):
    """The directory of an installation: bin/tfilefs and the rest."""
    return install(portable_build, tmp_path_factory.mktemp("portable"))


@pytest.fixture(scope="session")
def arm64_build():
    return build_of("TFILEFS_ARM64")


@pytest.fixture(scope="session")
def arm64(arm64_build, tmp_path_factory):
    return install(arm64_build, tmp_path_factory.mktemp("arm64"))


@pytest.fixture(scope="session")
def packages(portable_build, tmp_path_factory):
    """The directory of its packages."""
    directory = tmp_path_factory.mktemp("packages")
    subprocess.run([os.path.join(ROOT, "packaging", "make-packages"), portable_build, directory], check=True)
    return str(directory)


@pytest.fixture(scope="session")
def make_wheel(tmp_path_factory):
    """make_wheel(build): the path of a wheel with the program of the build."""

    def make(build):
        directory = tmp_path_factory.mktemp("wheel")
        subprocess.run([os.path.join(ROOT, "packaging", "make-wheel"), build, directory], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, TFILEFS_VENV=sys.prefix))
        [name] = os.listdir(directory)
        return str(directory / name)

    return make


@pytest.fixture(scope="session")
def wheel(portable_build, make_wheel):
    return make_wheel(portable_build)


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The path of the file that packaging/make-sample.py writes."""
    path = str(tmp_path_factory.mktemp("made-sample") / "sample.root")
    subprocess.run([sys.executable, os.path.join(ROOT, "packaging", "make-sample.py"), path], check=True,
                   env=dict(os.environ, PYTHONWARNINGS="ignore"))
    return path
