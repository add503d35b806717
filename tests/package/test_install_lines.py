# SPDX-License-Identifier: Apache-2.0
"""The lines of "Install" in README.md, and those of docs/installing.md, one after the other as a reader types them: in an
empty directory of a Debian with nothing else, to which the files of a release were brought."""

import os
import re
import shutil

import pytest

import package_life
from bare_debian import BareDebian, release_of_this_machine
from conftest import ROOT, cached

# What the reader has already. What pip installs with the wheel comes from Debian.
BEGIN = """
sudo() { "$@"; }
apt-get install python3-venv python3-numpy >/dev/null
export PIP_NO_INDEX=1 PIP_NO_DEPS=1 PATH=/usr/local/bin:$PATH
mkdir /tmp/work
cd /tmp/work
cp /mnt/* .
"""
# Debian's Python takes a wheel in an environment only; README.md tells of none.
ENVIRONMENT = """
python3 -m venv --system-site-packages /tmp/env
. /tmp/env/bin/activate
"""
MOUNTS = """
tfilefs sample.root mnt
od -A n -t f4 -N 8 mnt/Events/energy.f4
tfilefs umount mnt
"""


@pytest.fixture
def brought(release, sample, tmp_path):
    """A directory with the files that a reader takes, and a file to mount under two names."""
    files = tmp_path / "files"
    files.mkdir()
    for name in os.listdir(release):
        if re.fullmatch(r"tfilefs_.*\.deb|tfilefs-.*-linux-x86_64\.tar\.gz|tfilefs-.*\.whl", name):
            shutil.copy(os.path.join(release, name), files)
    for name in ("sample.root", "run.root"):
        shutil.copy(sample, files / name)
    os.chmod(files, 0o755)
    return str(files)


@pytest.fixture
def debian():
    return BareDebian(release_of_this_machine())


def run(debian, brought, lines):
    """Standard output, in lines; that of installers went elsewhere."""
    done = debian.run(BEGIN + "\n".join(lines), files=brought)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def version():
    return f"tfilefs {cached('CMAKE_PROJECT_VERSION')}"


def test_lines_of_the_first_page(debian, brought):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as page:
        section = re.search(r"^## Install\n(.*?)(?=^## )", page.read(), re.MULTILINE | re.DOTALL).group(1)
    apt, dnf, tar, pip = re.findall(r"^\| .* \| `(.*)` \|$", section, re.MULTILINE)
    assert dnf.startswith("sudo dnf install ")
    [python] = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    [doctor] = re.findall(r"^`(tfilefs doctor)`", section, re.MULTILINE)
    said = run(debian, brought, [f"{apt} >/dev/null", "tfilefs --version", MOUNTS, tar, "tfilefs-*-linux-x86_64/bin/tfilefs --version",
                                 ENVIRONMENT, f"{pip} >/dev/null", "tfilefs --version", f"python3 - <<'END'\n{python}print(len(energy))\nEND",
                                 f"{doctor} >/dev/null", "ls"])
    assert said[:5] == [version(), package_life.FIRST_NUMBERS, version(), version(), "100000"]
    assert "mnt" not in said[5:]


def test_lines_of_the_page_on_installing(debian, brought):
    deb, (tar, tar_for_all), python, purge = (package_life.commands(heading)
                                              for heading in ("Debian and Ubuntu", "Any directory", "Python", "Remove"))
    said = run(debian, brought, [f"{{ {deb[0]} }} >/dev/null", "tfilefs --version", MOUNTS, tar, f"{{ {python[0]} }} | tail -n 1",
                                 f"{{ {purge[0]} }} >/dev/null", "hash -r", "which tfilefs || echo gone", tar_for_all, "which tfilefs", MOUNTS])
    assert said == [version(), package_life.FIRST_NUMBERS, version(), version(), "gone", "/usr/local/bin/tfilefs",
                    package_life.FIRST_NUMBERS]
