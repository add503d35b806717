# SPDX-License-Identifier: Apache-2.0
"""A Debian in a directory, with next to nothing in it, and programs that run there."""

import os
import subprocess

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "tfilefs-portable", "debian")
# All that is mounted is gone with the last process of the namespace. Everybody may open /dev/fuse, as udev has it.
ENTER = """set -e
mount -t tmpfs tmpfs {root}/dev
for name in null zero full random urandom tty; do touch {root}/dev/$name; mount --bind /dev/$name {root}/dev/$name; done
mknod -m 666 {root}/dev/fuse c 10 229
mount -t proc proc {root}/proc
mount -t tmpfs tmpfs {root}/tmp
exec chroot {root} /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 {variables} {user} /bin/sh -ec "$1"
"""


def mirror():
    """Where this machine has its packages from."""
    lines = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages", "Origin: Debian"],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    return next(line.split()[0] for line in lines if not line.split()[1].endswith(("-updates", "-security")))


class BareDebian:
    """A release of Debian with fuse3 alone: made once, and kept in ~/.cache/tfilefs-portable/debian."""

    def __init__(self, release):
        self.root = os.path.join(CACHE, release)
        if os.path.exists(os.path.join(self.root, "whole")):
            return
        command = ["debootstrap", "--variant=minbase", "--include=fuse3", f"--keyring={KEYS}", release, self.root, mirror()]
        subprocess.run(["rm", "-rf", self.root], check=True)
        os.makedirs(self.root)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        os.symlink("/proc/self/mounts", os.path.join(self.root, "etc", "mtab"))  # as the installer does
        open(os.path.join(self.root, "whole"), "w").close()

    def run(self, script, user=0, **variables):
        """What the shell did with the lines, in namespaces of its own."""
        become = f"setpriv --reuid={user} --regid={user} --clear-groups" if user else ""
        enter = ENTER.format(root=self.root, user=become, variables=" ".join(f"{name}={value}" for name, value in variables.items()))
        return subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-ec", enter, "enter", script], capture_output=True, text=True,
                              timeout=300)

    def put(self, directory, name):
        """Copies a directory to /opt/NAME there."""
        place = os.path.join(self.root, "opt", name)
        subprocess.run(["rm", "-rf", place], check=True)
        subprocess.run(["cp", "-r", directory, place], check=True)
        os.chmod(place, 0o755)  # for all users, unlike a directory of pytest
        return f"/opt/{name}"
