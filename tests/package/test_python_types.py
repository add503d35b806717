# SPDX-License-Identifier: Apache-2.0
"""Types of the Python package: as mypy --strict and pyright check them, where these are, and as they serve those who use it.
Each public name says what it is."""

import inspect
import os
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

PACKAGE = os.path.join(ROOT, "packaging", "python")
USED = """
import numpy as np
import tfilefs

with tfilefs.mount("run.root") as f:
    t = f["Events"]
    assert isinstance(t, tfilefs.Table)
    mean: float = t.numpy("x").mean()
    both: dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"] = t.numpy("x", "y")
    largest: float = t.arrays("x", library="np")["x"].max()
    rows: int = t.arrays(library="pd").shape[0]
    names: list[str] = t.keys() + [each for each in f.keys(recursive=True)]
"""
MISUSED = USED + "    t.numpy('x', 'y').mean()\n    t.arrays(library='np').fields\n    f.commit(1)\n"


def checker(name):
    """mypy or pyright, of the environment of the tests or on PATH."""
    path = os.environ.get("TFILEFS_CHECKERS", "") + os.pathsep + os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    return shutil.which(name, path=path) or pytest.skip(f"{name} is not installed")


def checked(name, *arguments):
    python = {"mypy": "--python-executable", "pyright": "--pythonpath"}[name]
    return subprocess.run([checker(name), python, sys.executable, *arguments], cwd=PACKAGE, capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, MYPYPATH=os.path.join(PACKAGE, "src")))


@pytest.mark.parametrize("name", ("mypy", "pyright"))
def test_the_package_is_typed(name):
    done = checked(name)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_serve_those_who_use_it(tmp_path):
    for code, mistakes in ((USED, 0), (MISUSED, 3)):
        (tmp_path / "used.py").write_text(code)
        done = checked("mypy", "--config-file", "pyproject.toml", "--follow-imports=silent", str(tmp_path / "used.py"))
        assert done.stdout.count("used.py:") == mistakes, done.stdout + done.stderr


def test_public_names_are_described(tfilefs):
    for name in tfilefs.__all__:
        thing = getattr(tfilefs, name)
        assert inspect.getdoc(thing), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            is_described = inspect.getdoc(getattr(value, "func", value))
            assert member.startswith("_") or not (callable(value) or hasattr(value, "__get__")) or is_described, f"{name}.{member}"
