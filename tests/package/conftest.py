# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` lays down, in a directory of its own; and a sample beside it."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types

import pytest

import mounted

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def build_directory():
    return os.path.dirname(os.path.dirname(os.path.realpath(mounted.program())))


def cached(name):
    """A variable of the build."""
    with open(os.path.join(build_directory(), "CMakeCache.txt"), encoding="utf-8") as cache:
        return re.search(rf"^{name}:\w+=(.*)$", cache.read(), re.MULTILINE).group(1)


def once(tmp_path_factory, name, make):
    """make(directory), once for all workers of a run; returns the directory."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    directory, made = base / name, base / f"{name}.made"
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            directory.mkdir(exist_ok=True)
            make(directory)
            made.touch()
    return directory


def install_component(component, prefix):
    """Lays one component of the build below a directory, which it returns."""
    subprocess.run(["cmake", "--install", build_directory(), "--component", component, "--prefix", prefix], check=True,
                   stdout=subprocess.DEVNULL)
    return prefix


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """`.directory`: DESTDIR; `.prefix`: below it; `.program`: tfilefs there; `.environment`: in which it is on PATH."""

    def install(directory):
        for component in ([], ["--component", "debug"]):
            subprocess.run(["cmake", "--install", build_directory(), *component], check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, DESTDIR=str(directory)))

    directory = str(once(tmp_path_factory, "installed", install))
    prefix = directory + cached("CMAKE_INSTALL_PREFIX")
    environment = dict(os.environ, PATH=f"{prefix}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    return types.SimpleNamespace(directory=directory, prefix=prefix, program=f"{prefix}/bin/tfilefs", environment=environment)


def make_release(checkout, directory, **environment):
    subprocess.run([os.path.join(checkout, "packaging", "release"), "--build", build_directory(), directory], check=True,
                   env=dict(os.environ, TFILEFS_VENV=sys.prefix, **environment), stdout=subprocess.DEVNULL)


KEY = "Nobody <nobody@tfilefs.invalid>"


def make_signed_release(directory):
    """With a key that is thrown away; its public part lies beside the directory."""
    home = tempfile.mkdtemp(prefix="gpg-")  # the path of a socket is short
    environment = {"GNUPGHOME": home, "TFILEFS_SIGNING_KEY": KEY}
    gpg = ["gpg", "--batch", "--homedir", home]
    try:
        subprocess.run([*gpg, "--quiet", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "never"], check=True)
        make_release(ROOT, directory, **environment)
        subprocess.run([*gpg, "--export", "--output", f"{directory}.key"], check=True)
    finally:
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"])
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def release(tmp_path_factory):
    """The directory of a release of the build: archives, wheel, packages. DIRECTORY.key is the key that has signed it."""
    return str(once(tmp_path_factory, "release", make_signed_release))


def only(directory, pattern):
    """The path of the one file in the directory whose name is as the regular expression says."""
    [name] = [each for each in os.listdir(directory) if re.fullmatch(pattern, each)]
    return os.path.join(directory, name)


def build_id(path):
    """The identity of a program or of its symbols."""
    notes = subprocess.run(["readelf", "--notes", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: (\w+)", notes).group(1)


@pytest.fixture(scope="session")
def tfilefs():
    """The Python package of the checkout, which runs the program that is tested."""
    os.environ["TFILEFS"] = os.path.realpath(mounted.program())
    sys.path.insert(0, os.path.join(ROOT, "packaging", "python", "src"))
    import tfilefs
    return tfilefs


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The path of the file that packaging/make-sample.py writes."""

    def make(directory):
        subprocess.run([sys.executable, os.path.join(ROOT, "packaging", "make-sample.py"), str(directory / "sample.root")],
                       check=True, env=dict(os.environ, PYTHONWARNINGS="ignore"))

    return str(once(tmp_path_factory, "made-sample", make) / "sample.root")
