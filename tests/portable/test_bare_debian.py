# SPDX-License-Identifier: Apache-2.0
"""The portable program where nothing is but Debian's base and fuse3."""

import os
import re
import shutil
import socket

import pytest

import http_server
import xrootd_server
from bare_debian import BareDebian

NOBODY = 65534
MOUNTS = """
cd "$PLACE"; mkdir -p /tmp/mnt
bin/tfilefs run.root /tmp/mnt
ls /tmp/mnt/Events
od -A n -t f4 -N 8 /tmp/mnt/Events/energy.f4
bin/tfilefs umount /tmp/mnt
! grep -q /tmp/mnt /proc/mounts
bin/tfilefs check run.root
"""
SIGNAL = """
cd "$PLACE"; mkdir -p /tmp/mnt
bin/tfilefs -f run.root /tmp/mnt & pid=$!
until ls /tmp/mnt/Events; do sleep 0.1; done
kill -TERM $pid
wait $pid
! grep -q /tmp/mnt /proc/mounts
"""

NAME_SERVER = "127.0.0.77"
HERE_ALONE = f"""
cd "$PLACE"; mkdir -p /tmp/mnt
echo nameserver {NAME_SERVER} >/tmp/resolv.conf
touch /etc/resolv.conf; mount --bind /tmp/resolv.conf /etc/resolv.conf
bin/tfilefs --version
bin/tfilefs run.root /tmp/mnt
bin/tfilefs umount /tmp/mnt
"""


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def debian(request):
    return BareDebian(request.param, "fuse3")


@pytest.fixture(scope="module")
def place(debian, portable, sample):
    place = debian.put(portable, "tfilefs")
    shutil.copy(sample, os.path.join(debian.root, "opt", "tfilefs", "run.root"))
    return place


def is_whole(done):
    assert done.returncode == 0, done.stdout + done.stderr
    assert "energy.f4" in done.stdout and re.search(r"^ +25\.941322 +0\.4298929$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("user", [0, NOBODY])
def test_it_mounts_reads_and_unmounts(debian, place, user):
    is_whole(debian.run(MOUNTS, user=user, PLACE=place))


def test_a_signal_ends_it(debian, place):
    """libfuse cancels its threads then, for which the C library loads libgcc_s.so.1: each distribution's brings that along."""
    done = debian.run(SIGNAL, PLACE=place)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_lacks_nothing_there(debian, place):
    done = debian.run("$PLACE/bin/tfilefs doctor; $PLACE/bin/tfilefs --version -v", PLACE=place)
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("libfuse 3.", "libcurl 7.", "XRootD "):
        assert word in done.stdout, done.stdout
    assert "left out" not in done.stdout


def test_no_name_server_is_asked_about_this_machine(debian, place):
    """One that does not answer would hold up each command. XRootD's client asks before main(), if it is let."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((NAME_SERVER, 53))
        server.setblocking(False)
        done = debian.run(HERE_ALONE, PLACE=place)
        assert done.returncode == 0, done.stderr
        with pytest.raises(BlockingIOError):
            server.recv(1000)


@pytest.mark.parametrize("where", ["etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt"])
def test_certificates_are_where_distributions_have_them(debian, place, sample, where, tmp_path):
    """Debian and its like, and Red Hat and its like."""
    certificate = http_server.make_certificate(tmp_path)
    (tmp_path / "files").mkdir()
    shutil.copy(sample, tmp_path / "files" / "run.root")
    file = os.path.join(debian.root, where)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with http_server.Nginx(str(tmp_path / "files"), certificate=certificate) as server:
        url = server.url("run.root")
        refused = debian.run("$PLACE/bin/tfilefs ls $URL", PLACE=place, URL=url)
        assert refused.returncode != 0 and "certificate" in refused.stderr.lower(), refused.stderr
        shutil.copy(certificate.authority, file)
        try:
            done = debian.run("$PLACE/bin/tfilefs ls $URL", PLACE=place, URL=url)
        finally:
            os.unlink(file)
    assert done.returncode == 0 and "Events" in done.stdout, done.stderr


def test_a_root_url_is_read(debian, place, sample):
    xrootd_server.require()
    with xrootd_server.XrootdServer() as server:
        shutil.copy(sample, server.path("run.root"))
        done = debian.run("$PLACE/bin/tfilefs ls $URL", PLACE=place, URL=server.url("run.root"))
    assert done.returncode == 0 and "Events" in done.stdout, done.stderr


def test_an_older_c_library_is_refused_by_name(portable):
    """Debian 11 has 2.31: the loader says what is missing, and nothing runs."""
    debian = BareDebian("bullseye")
    place = debian.put(portable, "tfilefs")
    done = debian.run("$PLACE/bin/tfilefs --version", PLACE=place)
    assert done.returncode != 0 and "version `GLIBC_2.34' not found" in done.stderr, done.stderr
