# SPDX-License-Identifier: Apache-2.0
"""The wheel with the portable program, in an environment that has nothing else but NumPy."""

import glob
import os
import subprocess
import sys

import numpy as np
import pytest

SUM = """
import sys, tfilefs
with tfilefs.mount(sys.argv[1]) as f:
    print(f["Events"].numpy("energy").sum(dtype="f8"), f.path)
"""


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    subprocess.run([sys.executable, "-m", "pip", "--python", f"{home}/bin/python", "install", "--quiet", "--no-index", "--no-deps",
                    "--disable-pip-version-check", wheel], check=True)
    [site] = glob.glob(f"{home}/lib/python*/site-packages")
    os.symlink(os.path.dirname(np.__file__), os.path.join(site, "numpy"))
    for libraries in glob.glob(os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs")):
        os.symlink(libraries, os.path.join(site, "numpy.libs"))
    return f"{home}/bin/python"


WRITTEN = """
import numpy, sys, tfilefs
with tfilefs.create(sys.argv[1]) as f:
    f["t"] = {"x": numpy.arange(1000)}
    f["t"].extend({"x": numpy.arange(10)})
with tfilefs.mount(sys.argv[1]) as f:
    print(f["t"].arrays("x", "x >= 5", library="np")["x"].sum(), tfilefs.__version__)
"""


def test_numpy_is_enough_to_write(python, tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run([python, "-c", WRITTEN, str(tmp_path / "new.root")], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    total, version = done.stdout.split()
    assert int(total) == sum(range(5, 1000)) + sum(range(5, 10)) and version[0].isdigit()


def test_a_column_is_read(python, sample, tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run([python, "-c", SUM, sample], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    total, path = done.stdout.split()
    import uproot
    with uproot.open(sample) as file:
        assert float(total) == pytest.approx(file["Events"]["energy"].array(library="np").sum(dtype="f8"))
    assert path.startswith(str(tmp_path)) and os.listdir(tmp_path) == []
