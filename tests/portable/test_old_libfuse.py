# SPDX-License-Identifier: Apache-2.0
"""A build with libfuse 3.10, the oldest that works: AlmaLinux 9 and Ubuntu 22.04 have it, and so has Debian 11, whose packages serve here."""

import glob
import os
import shutil
import subprocess

import pytest

from bare_debian import CACHE, BareDebian
from conftest import ROOT

READS_AND_WRITES = """set -e
"$TFILEFS" "$SAMPLE" mnt
cmp mnt/Events/energy.f4 mnt/Events/energy.f4
od -A n -t f4 -N 8 mnt/Events/energy.f4
"$TFILEFS" umount mnt
mkdir out
"$TFILEFS" -o rw out mnt
mkdir -p mnt/new.root/Events
head -c 400 /dev/zero > mnt/new.root/Events/x.f4
"$TFILEFS" umount mnt
"$TFILEFS" ls out/new.root/Events
"$TFILEFS" doctor
"""


@pytest.fixture(scope="module")
def libfuse():
    """A directory with lib, include and pkgconfig: made once, and kept."""
    place = os.path.join(os.path.dirname(CACHE), "libfuse-3.10")
    if os.path.exists(os.path.join(place, "whole")):
        return place
    shutil.rmtree(place, ignore_errors=True)
    debian = BareDebian("bullseye")
    done = debian.run("apt-get install --download-only libfuse3-dev")
    assert done.returncode == 0, done.stderr
    unpacked = os.path.join(place, "unpacked")
    os.makedirs(unpacked)
    for package in glob.glob(os.path.join(debian.packages, "libfuse3-*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True)
    # Nothing else of that Debian may be found beside it.
    os.mkdir(os.path.join(place, "lib"))
    [library] = glob.glob(os.path.join(unpacked, "**", "libfuse3.so.3.10.*"), recursive=True)
    for name in ("libfuse3.so", "libfuse3.so.3"):
        shutil.copy(library, os.path.join(place, "lib", name))
    shutil.move(os.path.join(unpacked, "usr", "include"), os.path.join(place, "include"))
    os.mkdir(os.path.join(place, "pkgconfig"))
    with open(os.path.join(place, "pkgconfig", "fuse3.pc"), "w") as description:
        description.write(f"Name: fuse3\nDescription: of another Debian\nVersion: 3.10.0\n"
                          f"Libs: -L{place}/lib -lfuse3\nCflags: -I{place}/include/fuse3\n")
    open(os.path.join(place, "whole"), "w").close()
    return place


@pytest.fixture(scope="module")
def program(libfuse, portable_build):
    """The program, built with it."""
    build = os.path.join(os.path.dirname(portable_build), "libfuse-3.10")
    subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DTFILEFS_TESTS=OFF",
                    "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, PKG_CONFIG_PATH=os.path.join(libfuse, "pkgconfig")))
    subprocess.run(["ninja", "-C", build, "tfilefs"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(build, "fs", "tfilefs")


@pytest.mark.timeout(3600)
def test_it_mounts_reads_and_writes(libfuse, program, sample, tmp_path):
    (tmp_path / "mnt").mkdir()
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(libfuse, "lib"), TFILEFS=program, SAMPLE=sample)
    done = subprocess.run(["bash", "-c", READS_AND_WRITES], capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "x.f4" in done.stdout and "25.941322" in done.stdout
    version = subprocess.run([program, "--version", "-v"], capture_output=True, text=True, check=True, env=environment).stdout
    assert "libfuse 3.10." in version, version
