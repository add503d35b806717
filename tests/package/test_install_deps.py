# SPDX-License-Identifier: Apache-2.0
"""packaging/install-deps where a package manager was killed before: fakes of dpkg and apt-get that refuse as those do."""

import os
import stat
import subprocess

from conftest import ROOT

# Each fake writes its call into $calls. apt-get refuses until dpkg was brought to its end, and installs nothing.
FAKES = {
    "dpkg-query": 'test -e "$calls.installed" && echo installed',
    "dpkg": 'echo "dpkg $*" >> "$calls"; rm "$calls.interrupted"',
    "apt-get": 'echo "apt-get $1" >> "$calls"; test "$1" = update || { test ! -e "$calls.interrupted" && touch "$calls.installed"; }',
    "id": "echo 0",
}


def test_an_interrupted_dpkg_is_brought_to_its_end_first(tmp_path):
    calls = tmp_path / "calls"
    (tmp_path / "calls.interrupted").touch()
    for name, line in FAKES.items():
        fake = tmp_path / "bin" / name
        fake.parent.mkdir(exist_ok=True)
        fake.write_text(f"#!/bin/sh\n{line}\n")
        fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "calls": str(calls)}
    result = subprocess.run([os.path.join(ROOT, "packaging", "install-deps"), "build"], capture_output=True, text=True, timeout=60,
                            env=environment)
    assert result.returncode == 0, result.stderr
    assert calls.read_text().splitlines() == ["dpkg --configure -a", "apt-get update", "apt-get install"]
