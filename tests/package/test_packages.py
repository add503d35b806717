# SPDX-License-Identifier: Apache-2.0
"""Packages of an ordinary build: what they hold, lintian, and one that is installed, mounts, and goes without a trace."""

import os
import shlex
import shutil
import subprocess

import pytest

from conftest import ROOT, build_directory, build_id, cached, only
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
    needed = {each.split()[0] for each in field(only(release, r"tfilefs_.*\.deb"), "Depends").split(",")}
    needed -= {"libc6", "libgcc-s1", "libstdc++6"}  # debian:12-slim has them
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
    for name in ("usr/bin/tfilefs", "usr/lib/tfilefs/tfilefs-remote.so"):
        identity = build_id(tmp_path / name)
        wanted.add(f"usr/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug")
    assert symbols == wanted


def field(path, name):
    return subprocess.run(["dpkg-deb", "--field", path, name], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", ("tfilefs", "libtfile-dev", "tfilefs-dbgsym"))
def test_a_package_says_for_which_release_it_is(release, name):
    """What depends on libraries of this machine is for its like alone; the package for all is newer."""
    system = dict(line.rstrip().replace('"', "").split("=", 1) for line in open("/etc/os-release", encoding="utf-8") if "=" in line)
    package = only(release, rf"{name}_.*\.deb")
    version = field(package, "Version")
    assert version == f"{cached('CMAKE_PROJECT_VERSION')}~{system['ID'].replace('debian', 'deb')}{system['VERSION_ID']}"
    assert subprocess.run(["dpkg", "--compare-versions", version, "lt", cached("CMAKE_PROJECT_VERSION")]).returncode == 0
    assert f"Built on {system['PRETTY_NAME']}, and for it alone." in field(package, "Description")
    assert not [each for each in os.listdir(release) if each.endswith(".rpm")]


def make_packages(*arguments):
    return subprocess.run([os.path.join(ROOT, "packaging", "make-packages"), *arguments], capture_output=True, text=True)


def test_a_package_that_is_none_is_refused(tmp_path):
    done = make_packages(build_directory(), tmp_path, "program", "manual")
    assert done.returncode == 2 and "no package 'manual'" in done.stderr and os.listdir(tmp_path) == []


@pytest.fixture(scope="module")
def for_all(tmp_path_factory):
    """The packages of a build that says that it is portable, for arm64. It is not, but they are made and called alike."""
    build, directory = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("for-all")
    for name in ("cmake_install.cmake", "CMakeCache.txt"):
        shutil.copy(os.path.join(build_directory(), name), build)
    with open(build / "CMakeCache.txt", "a", encoding="utf-8") as cache:
        cache.write("TFILEFS_MACHINE:STRING=aarch64\n")
    done = make_packages(build, directory, "program")
    assert done.returncode == 0, done.stderr
    return str(directory)


def test_packages_for_all_are_called_as_distributions_call_them(for_all):
    version = cached("CMAKE_PROJECT_VERSION")
    assert set(os.listdir(for_all)) == {f"tfilefs_{version}_arm64.deb", f"tfilefs-{version}-1.aarch64.rpm"}


def test_the_deb_for_all_needs_what_all_have(for_all):
    package = only(for_all, r"tfilefs_.*\.deb")
    assert field(package, "Depends") == "fuse3, libc6 (>= 2.34)" and field(package, "Recommends") == "ca-certificates"
    assert "for it alone" not in field(package, "Description")


def said_of(package, *query):
    return subprocess.run(["rpm", "-qp", *query, package], capture_output=True, text=True, check=True).stdout


def test_the_rpm_holds_what_is_installed(for_all):
    lines = said_of(only(for_all, r"tfilefs-.*\.rpm"), "-l", "--dump").splitlines()
    files = {line.split()[0].lstrip("/") for line in lines if line.split()[4].startswith("010")}
    assert files == compressed(each for each in listed() if not is_of_library(each))


def test_the_rpm_needs_what_it_uses(for_all):
    """rpm finds libraries and scripts by itself."""
    needed = said_of(only(for_all, r"tfilefs-.*\.rpm"), "--requires")
    assert {"fuse3", "/bin/sh"} <= set(needed.split()) and "libfuse3.so.3" in needed


def test_the_rpm_says_whose_it_is(for_all):
    tags = ("URL", "PACKAGER", "VENDOR", "GROUP", "LICENSE", "BUILDHOST", "CHANGELOGNAME")
    told = said_of(only(for_all, r"tfilefs-.*\.rpm"), "--queryformat", "".join(f"%{{{tag}}}\n" for tag in tags)).splitlines()
    authors = "The authors of tfilefs <tfilefs@tfilefs.invalid>"
    assert told[:4] == ["https://tfilefs.invalid", authors, "tfilefs", "Productivity/Scientific/Physics"]
    assert "LGPL-3.0-or-later" in told[4] and told[5] == "localhost" and told[6].startswith(authors)


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
mount -t tfilefs "$T/sample.root" "$T/mnt"
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
