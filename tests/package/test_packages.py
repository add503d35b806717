# SPDX-License-Identifier: Apache-2.0
""".deb and .rpm: what they hold, lintian, and a .deb that is installed, mounts, and goes without a trace."""

import os
import shlex
import subprocess

import pytest

from conftest import ROOT, build_id, only
from test_installed_files import listed


def is_of_library(name):
    return name.startswith(("include/", "lib/libtfile", "lib/cmake/", "lib/pkgconfig/")) or "column_sum" in name


def compressed(names):
    """As packages have them: pages of the manual are compressed."""
    return {f"usr/{name}.gz" if "/man/man" in name else f"usr/{name}" for name in names}


def files_of_deb(path):
    lines = subprocess.run(["dpkg-deb", "--contents", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[5].removeprefix("./") for line in lines if not line.startswith("d")}


@pytest.mark.parametrize("name", ("tfilefs", "libtfile-dev", "tfilefs-dbgsym"))
def test_lintian_finds_nothing(release, name):
    done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", only(release, rf"{name}_.*\.deb")],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_deb_holds_what_is_installed(release):
    found = files_of_deb(only(release, r"tfilefs_.*\.deb"))
    wanted = compressed(name for name in listed() if not is_of_library(name) and not name.endswith("/LICENSE"))
    wanted = {name.replace("zsh/site-functions", "zsh/vendor-completions") for name in wanted}
    assert {name for name in found if "/doc/" not in name} == {name for name in wanted if "/doc/" not in name}
    assert {"usr/share/doc/tfilefs/copyright", "usr/share/doc/tfilefs/changelog.gz"} <= found
    assert {name for name in wanted if "/doc/" in name} <= found


def test_the_image_has_the_libraries_that_the_deb_needs(release):
    depends = subprocess.run(["dpkg-deb", "--field", only(release, r"tfilefs_.*\.deb"), "Depends"], capture_output=True, text=True, check=True)
    needed = {each.split()[0] for each in depends.stdout.split(",")} - {"libc6", "libgcc-s1", "libstdc++6"}  # debian:12-slim has them
    with open(os.path.join(ROOT, "packaging", "Containerfile"), encoding="utf-8") as file:
        installed = set(file.read().split("--no-install-recommends", 1)[1].split("&&")[0].split())
    assert len(needed) > 8 and needed <= installed


def test_the_library_is_a_package_of_its_own(release):
    found = files_of_deb(only(release, r"libtfile-dev_.*\.deb"))
    triplet = subprocess.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], capture_output=True, text=True, check=True).stdout.strip()
    wanted = compressed(name for name in listed() if is_of_library(name))
    assert {name.replace("lib/pkgconfig", f"lib/{triplet}/pkgconfig") for name in wanted} <= found


def test_symbols_are_a_package_of_their_own(release, tmp_path):
    symbols = {name for name in files_of_deb(only(release, r"tfilefs-dbgsym_.*\.deb")) if name.endswith(".debug")}
    subprocess.run(["dpkg-deb", "--extract", only(release, r"tfilefs_.*\.deb"), tmp_path], check=True)
    wanted = set()
    for name in ("usr/bin/tfilefs", "usr/lib/tfilefs/tfilefs-far.so"):
        identity = build_id(tmp_path / name)
        wanted.add(f"usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug")
    assert symbols == wanted


@pytest.mark.parametrize("name", ("tfilefs", "libtfile-dev"))
def test_the_rpm_holds_what_is_installed(release, name):
    said = subprocess.run(["rpm", "-qlp", "--dump", only(release, rf"{name}-\d.*\.rpm")], capture_output=True, text=True, check=True)
    files = {line.split()[0].lstrip("/") for line in said.stdout.splitlines() if line.split()[4].startswith("010")}
    wanted = compressed(each for each in listed() if is_of_library(each) == (name == "libtfile-dev"))
    assert files == wanted


def test_the_rpm_needs_what_it_uses(release):
    said = subprocess.run(["rpm", "-qp", "--requires", only(release, r"tfilefs-\d.*\.rpm")], capture_output=True, text=True, check=True)
    assert "fuse3" in said.stdout.split() and "libfuse3.so.3" in said.stdout and "libzstd.so.1" in said.stdout


# On an overlay of the machine, so that the machine stays as it is.
LIFE = r"""
set -eu
mount -t tmpfs none "$T"
for each in usr var etc; do
  mkdir -p "$T/$each" "$T/work-$each"
  mount -t overlay overlay -o "lowerdir=/$each,upperdir=$T/$each,workdir=$T/work-$each" "/$each"
done
cp "$SAMPLE" "$T/sample.root"
mkdir "$T/mnt"
export DEBIAN_FRONTEND=noninteractive
dpkg --install "$DEB" >/dev/null
command -v tfilefs
mount -t fuse.tfilefs "$T/sample.root" "$T/mnt"
od -A n -t d4 -N 4 "$T/mnt/Events/run.i4"
umount "$T/mnt"
echo "$T/sample.root $T/mnt fuse.tfilefs ro,allow_other 0 0" >>/etc/fstab
mount "$T/mnt"
ls "$T/mnt"
tfilefs umount "$T/mnt"
man -w tfilefs mount.fuse.tfilefs tfilefs-layout
dpkg --purge tfilefs >/dev/null
find "$T/usr" "$T/var" "$T/etc" ! -type d ! -type c -print | grep -i tfilefs || true
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="dpkg installs for root alone")
def test_a_deb_is_installed_mounts_and_goes_without_a_trace(release, sample, tmp_path):
    (tmp_path / "t").mkdir()
    environment = dict(os.environ, T=str(tmp_path / "t"), DEB=only(release, r"tfilefs_.*\.deb"),
                       PATH="/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL="C.UTF-8")
    os.link(sample, tmp_path / "sample.root")
    environment["SAMPLE"] = str(tmp_path / "sample.root")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", LIFE], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.split("\n")
    assert lines[0] == "/usr/bin/tfilefs" and lines[1].strip() == "2024"
    assert lines[2:5] == ["Events", "calorimeter", "tracker"]
    assert [os.path.basename(line) for line in lines[5:8]] == ["tfilefs.1.gz", "mount.fuse.tfilefs.8.gz", "tfilefs-layout.5.gz"]
    assert lines[8:] == [""], "left after the purge: " + shlex.join(lines[8:])
