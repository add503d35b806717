# SPDX-License-Identifier: Apache-2.0
"""The package of an ordinary build in a Debian with nothing else: the libraries that it names are all that it needs."""

import re

import pytest

import package_life
from bare_debian import BareDebian
from conftest import only


def test_it_is_installed_used_upgraded_and_removed(release, sample, tmp_path):
    with open("/etc/os-release", encoding="utf-8") as file:
        codename = re.search(r"^VERSION_CODENAME=(\w+)$", file.read(), re.MULTILINE)
    if codename is None:
        pytest.skip("the release of this machine has no name")
    package_life.check(BareDebian(codename.group(1)), only(release, r"tfilefs_.*\.deb"), sample, str(tmp_path))
