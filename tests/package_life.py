# SPDX-License-Identifier: Apache-2.0
"""The life of a .deb in a bare Debian, by the commands of docs/installing.md: it is installed, a user mounts, a newer one
comes while the mount is in use, and it goes."""

import os
import re
import shutil
import subprocess

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
USER = 1000


def commands(heading):
    """The lines of shell below a heading of the page."""
    with open(os.path.join(ROOT, "docs", "installing.md"), encoding="utf-8") as page:
        section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page.read(), re.MULTILINE | re.DOTALL).group(1)
    return re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def as_newer(deb, directory, version):
    """The path of a .deb with the same files that says that it is of that version."""
    unpacked = os.path.join(directory, "unpacked")
    subprocess.run(["dpkg-deb", "--raw-extract", deb, unpacked], check=True)
    control = os.path.join(unpacked, "DEBIAN", "control")
    with open(control, encoding="utf-8") as file:
        text = file.read()
    with open(control, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^Version: .*", f"Version: {version}", text, flags=re.MULTILINE))
    newer = os.path.join(directory, f"tfilefs_{version}_amd64.deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", unpacked, newer], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(unpacked)
    return newer


ALONE = """
sudo() { "$@"; }
cp /mnt/old/*.deb /tmp
cd /tmp
INSTALL >/dev/null
tfilefs doctor
"""
# What else is installed stays, so that it is there from the beginning. $1 of as_user: lines of shell. `names` tells all files
# but those that apt and dpkg keep for themselves.
LIFE = r"""
sudo() { "$@"; }
as_user() { setpriv --reuid=$USER --regid=$USER --clear-groups sh -ec "$1"; }
names() {
  find / -xdev \( -path /tmp -o -path /mnt -o -path /run -o -path /var/cache -o -path /var/log -o -path /var/lib/dpkg -o -path /var/lib/apt \) -prune -o -print |
    sort
}
echo "somebody:x:$USER:$USER::/tmp:/bin/sh" >>/etc/passwd
apt-get satisfy "$(dpkg-deb --field /mnt/old/*.deb Depends)" >/dev/null
names >/tmp/before
mkdir /tmp/old /tmp/new
cp /mnt/old/*.deb /tmp/old
cp /mnt/new/*.deb /tmp/new
cd /tmp/old
INSTALL >/dev/null
as_user '
cd /tmp
mkdir mnt
tfilefs /mnt/sample.root mnt
od -A n -t f4 -N 8 mnt/Events/energy.f4
sleep 1000 <mnt/Events/energy.f4 >/dev/null 2>&1 & echo $! >reader'
cd /tmp/new
INSTALL >/dev/null
dpkg-query --show --showformat "\${Version}\n" tfilefs
RUNNING | wc -l
as_user '
cd /tmp
FILE=/mnt/sample.root MNT=mnt
wc -c <mnt/Events/run.i4
exec 3<mnt/Events/energy.f4
HAND_OVER
dd bs=8 count=1 status=none <&3 | od -A n -t f4
od -A n -t f4 -N 8 mnt/Events/energy.f4'
RUNNING | wc -l
kill $(cat /tmp/reader)
as_user 'tfilefs umount /tmp/mnt'
while ls -l /proc/*/exe 2>/dev/null | grep -q tfilefs; do sleep 0.1; done
REMOVE >/dev/null
names >/tmp/after
diff /tmp/before /tmp/after
"""
FIRST_NUMBERS = "       25.941322       0.4298929"


def check(debian, deb, sample, directory):
    """All of it. The directory is for what is needed on the way."""
    version = subprocess.run(["dpkg-deb", "--field", deb, "Version"], capture_output=True, text=True, check=True).stdout.strip()
    for name in ("old", "new"):
        os.mkdir(os.path.join(directory, name))
    shutil.copy(deb, os.path.join(directory, "old"))
    as_newer(deb, os.path.join(directory, "new"), version + "+1")
    shutil.copy(sample, directory)
    running, hand_over = commands("Upgrade")
    os.chmod(directory, 0o755)  # for all users, unlike a directory of pytest
    install = commands("Debian and Ubuntu")[0].strip()
    done = debian.run(ALONE.replace("INSTALL", install), files=directory)
    assert done.returncode == 0, done.stdout + done.stderr
    script = LIFE
    for word, lines in (("INSTALL", install), ("RUNNING", running), ("HAND_OVER", hand_over), ("REMOVE", commands("Remove")[0])):
        script = script.replace(word, lines.strip())
    done = debian.run(script, files=directory, USER=USER)
    assert done.returncode == 0, done.stdout + done.stderr
    # The first daemon is there as long as a file of it is open.
    assert done.stdout.splitlines() == [FIRST_NUMBERS, version + "+1", "1", "400000", FIRST_NUMBERS, FIRST_NUMBERS, "1"], done.stdout + done.stderr
