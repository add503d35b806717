# SPDX-License-Identifier: Apache-2.0
"""README's look around in a Debian with nothing else, by an ordinary user: from the package that lies there to a plot."""

import os
import shutil
import sys

from bare_debian import BareDebian
from conftest import ROOT
from test_portable_packages import only

sys.path.append(os.path.join(ROOT, "tests", "docs"))
import test_examples  # noqa: E402

USER = 1000
# $1 of as_user: lines of shell.
SCRIPT = r"""
begin=$(date +%s)
as_user() { setpriv --reuid=$USER --regid=$USER --clear-groups sh -ec "cd /tmp/work; $1"; }
echo "somebody:x:$USER:$USER::/tmp:/bin/sh" >>/etc/passwd
cp -r /mnt/work /tmp/work
chown -R $USER /tmp/work
apt-get install -y /mnt/*.deb python3-numpy >/dev/null
as_user 'sh -e /mnt/look_around 2>&1'
as_user 'tfilefs draw sample.root:Events energy -o energy.svg
tfilefs sample.root mnt
head -c 4 mnt/calorimeter/*/plot.svg energy.svg
tfilefs umount mnt'
echo
echo $(($(date +%s) - begin))
"""


def test_the_look_around_ends_in_a_plot(packages, sample, tmp_path):
    examples = test_examples.examples("README.md")
    shutil.copy(only(packages, "tfilefs_*.deb"), tmp_path)
    os.makedirs(tmp_path / "work" / "build")
    shutil.copy(sample, tmp_path / "work" / "build" / "sample.root")
    (tmp_path / "look_around").write_text("".join(f"{command}\necho '{test_examples.END}'\n" for _, command, _, _ in examples))
    os.chmod(tmp_path, 0o755)  # for all users, unlike a directory of pytest
    done = BareDebian("bookworm").run(SCRIPT, files=str(tmp_path), USER=USER)
    assert done.returncode == 0, done.stdout + done.stderr
    *shown, plots = done.stdout.split(test_examples.END + "\n")
    for (number, command, expected, _), output in zip(examples, shown, strict=True):
        assert test_examples.matches("\n".join(expected).rstrip(), output.rstrip()), f"README.md:{number}: {command}:\n{output}{done.stderr}"
    assert plots.split().count("<svg") >= 2, done.stdout
    print(f"from the package to the plot: {plots.split()[-1]} s")  # shown by pytest -s
