# SPDX-License-Identifier: Apache-2.0
"""A Debian in a directory, with next to nothing in it, and programs that run there."""

import fcntl
import functools
import os
import re
import subprocess
import time

import pytest

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "tfilefs-portable", "debian")
DAYS_KEPT = 7  # then its mirror may no longer have what its lists name
# Nothing that runs there changes the directory, and all that is mounted is gone with the last process of the namespace.
# Everybody may open /dev/fuse, as udev has it.
ENTER = """set -e
mount -t tmpfs tmpfs {over}
mkdir {over}/upper {over}/work {over}/root
mount -t overlay overlay -o lowerdir={root},upperdir={over}/upper,workdir={over}/work {over}/root
cd {over}/root
mount -t tmpfs tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mknod -m 666 dev/fuse c 10 229
ln -s /proc/self/fd dev/fd
mkdir dev/pts; mount -t devpts -o ptmxmode=666 devpts dev/pts; ln -s pts/ptmx dev/ptmx
mount -t proc proc proc
mount -t tmpfs tmpfs tmp
chmod 1777 tmp
mount --bind {packages} var/cache/apt/archives
if [ -n "{files}" ]; then mount --bind "{files}" mnt; fi
rm -f etc/resolv.conf; cp /etc/resolv.conf etc/resolv.conf
exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  {variables} {user} /bin/sh -ec "$1"
"""


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def mirror():
    """Where this machine has its packages from."""
    lines = said("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages", "Origin: Debian").splitlines()
    found = [line.split()[0] for line in lines if not line.split()[1].endswith(("-updates", "-security"))]
    if not found:
        pytest.skip("apt of this machine has no Debian to take packages from")
    return found[0]


def release_of_this_machine():
    with open("/etc/os-release", encoding="utf-8") as file:
        codename = re.search(r"^VERSION_CODENAME=(\w+)$", file.read(), re.MULTILINE)
    if codename is None:
        pytest.skip("the release of this machine has no name")
    return codename.group(1)


def ways_of_apt():
    """Its proxies, and what it believes of dates."""
    return [line for line in said("apt-config", "dump").splitlines() if re.match(r'Acquire::(http|https|Check-[\w-]+)(::\w+)* ".+"', line)]


@functools.cache
def lacking():
    """Why no Debian can be made here, or nothing."""
    if os.geteuid() != 0:
        return "needs root"
    for program in ("apt-get", "mmdebstrap"):
        if subprocess.run(["which", program], capture_output=True).returncode != 0:
            return f"needs {program}"
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
        return "needs namespaces of its own"
    return ""


class BareDebian:
    """A release of Debian with apt, mount and the packages that are named: made once in a week, and kept below ~/.cache."""

    def __init__(self, release, *included):
        if lacking():
            pytest.skip(f"a bare Debian {lacking()}")
        self.root = os.path.join(CACHE, "-".join((release, *included)))
        self.packages = os.path.join(CACHE, f"{release}.packages")
        self.over = os.path.join(CACHE, "over")
        for directory in (self.over, self.packages):
            os.makedirs(directory, exist_ok=True)
        with open(self.root + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._is_new():
                self._make(release, included)

    def _is_new(self):
        try:
            return time.time() - os.stat(self.root + ".whole").st_mtime < DAYS_KEPT * 24 * 3600
        except FileNotFoundError:
            return False

    def _make(self, release, included):
        """With the lists of its packages, so that apt installs more; without asking, and only what is needed."""
        subprocess.run(["rm", "-rf", self.root], check=True)
        options = ['APT::Get::Assume-Yes "true";', 'APT::Install-Recommends "false";', 'APT::Sandbox::User "root";',
                   'Binary::apt::APT::Keep-Downloaded-Packages "true";', *ways_of_apt()]
        command = ["mmdebstrap", "--variant=apt", "--quiet", "--skip=cleanup/apt/lists", f"--include={','.join(('mount', *included))}",
                   *(f"--aptopt={each}" for each in options), release, self.root, mirror()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=800)
        if done.returncode != 0:
            pytest.skip(f"mmdebstrap makes no Debian {release} here: {done.stderr.strip().splitlines()[-1]}")
        if not os.path.islink(os.path.join(self.root, "etc", "mtab")):
            os.symlink("/proc/self/mounts", os.path.join(self.root, "etc", "mtab"))  # as the installer does
        open(self.root + ".whole", "w").close()

    def run(self, script, user=0, files="", **variables):
        """What the shell did with the lines, in namespaces of its own. `files` is a directory that is /mnt there."""
        become = f"setpriv --reuid={user} --regid={user} --clear-groups" if user else ""
        enter = ENTER.format(root=self.root, over=self.over, packages=self.packages, files=files, user=become,
                             variables=" ".join(f"{name}={value}" for name, value in variables.items()))
        command = ["unshare", "--mount", "--pid", "--fork", "sh", "-ec", enter, "enter", script]
        with open(self.packages + ".lock", "w") as lock:  # apt refuses a directory of packages that another one uses
            fcntl.flock(lock, fcntl.LOCK_EX)
            return subprocess.run(command, capture_output=True, text=True, timeout=300)

    def put(self, directory, name):
        """Copies a directory to /opt/NAME there."""
        place = os.path.join(self.root, "opt", name)
        subprocess.run(["rm", "-rf", place], check=True)
        subprocess.run(["cp", "-r", directory, place], check=True)
        os.chmod(place, 0o755)  # for all users, unlike a directory of pytest
        return f"/opt/{name}"
