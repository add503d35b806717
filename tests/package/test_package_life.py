# SPDX-License-Identifier: Apache-2.0
"""The package of an ordinary build in a Debian with nothing else: the libraries that it names are all that it needs."""

import package_life
from bare_debian import BareDebian, release_of_this_machine
from conftest import only


def test_it_is_installed_used_upgraded_and_removed(release, sample, tmp_path):
    package_life.check(BareDebian(release_of_this_machine()), only(release, r"tfilefs_.*\.deb"), sample, str(tmp_path))
