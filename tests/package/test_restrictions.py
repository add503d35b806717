# SPDX-License-Identifier: Apache-2.0
"""Units of systemd that restrict the program: how far, and that it mounts, reads and writes within that."""

import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

import remote_files
import http_server
import mounted
import other_user
import restricted
import xrootd_server
from conftest import ROOT

EXAMPLES = os.path.join(ROOT, "packaging", "examples")
SERVICE, MOUNT, SERVE = (os.path.join(EXAMPLES, name) for name in ("tfilefs@.service", "mnt-run1.mount", "tfilefs-serve@.service"))
RESTRICTED = (sys.executable, restricted.__file__)
EXPOSURE_MAX, SERVING_EXPOSURE_MAX = 5, 2  # of 10

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may call mount(2)")


@pytest.mark.parametrize("unit", (SERVICE, MOUNT, SERVE))
def test_a_unit_exposes_little(unit):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True, timeout=60)
    [level] = re.findall(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert float(level) < (SERVING_EXPOSURE_MAX if unit == SERVE else EXPOSURE_MAX), done.stdout


@pytest.mark.parametrize("unit", (SERVICE, MOUNT))
def test_a_unit_has_no_mount_namespace(unit):
    """Nobody else would see what is mounted in it."""
    hiding = r"Private|ProtectSystem|ProtectHome|ProtectProc|ProcSubset|ProtectKernel|ProtectControlGroups|\w*Paths|Root|Temporary|Bind|Mount\w+"
    assert not [name for name in restricted.settings(unit) if re.match(hiding, name)]


def killed(*command):
    return subprocess.run([*RESTRICTED, SERVICE, *command], capture_output=True, timeout=60).returncode == -signal.SIGSYS


def test_what_is_not_allowed_is_noticed():
    python = lambda text: (sys.executable, "-c", text)
    assert not killed("true") and not killed(*python("import socket; socket.socket(socket.AF_INET)"))
    assert killed(*python("import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"))
    assert killed(*python("import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)"))
    assert killed(*python("import os; os.chroot('/')"))
    status = subprocess.run([*RESTRICTED, SERVICE, "cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
    assert bin(int(re.search(r"^CapBnd:\s+(\w+)$", status, re.MULTILINE).group(1), 16)).count("1") == 7


def restricted_mount(source, *options, **more):
    return mounted.Mounted(source, options, prefix=(*RESTRICTED, SERVICE), **more)


def column(path):
    return np.fromfile(os.path.join(path, "Events", "energy.f4"), "<f4")


def open_to_all(directory):
    """With the directories on the way to it that pytest has made."""
    for each in (directory, *directory.parents):
        os.chmod(each, 0o755)
        if each.name.startswith("pytest-of-"):
            return


def try_to_read(path):
    with open(path, "rb") as file:
        return file.read(4)


def test_a_restricted_service_mounts_and_reads(program, sample, tmp_path):
    metrics = tmp_path / "tfilefs-run1.prom"
    name = str(tmp_path / "notify")
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind(name)
    (tmp_path / "mnt").mkdir()
    daemon = subprocess.Popen([*RESTRICTED, SERVICE, program, "-f", "-o", f"ro,allow_other,metrics={metrics}", sample, tmp_path / "mnt"],
                              env=dict(os.environ, NOTIFY_SOCKET=name))
    notices.settimeout(30)
    assert "READY=1" in notices.recv(4096).decode()
    path = str(tmp_path / "mnt")
    assert len(column(path)) == 100_000 and os.listdir(os.path.join(path, "tracker"))
    assert os.getxattr(os.path.join(path, "Events", "energy.f4"), "user.tfilefs.branch")
    assert os.stat(os.path.join(path, "Events.parquet")).st_size > 0
    mounted.wait_until(metrics.exists)
    assert subprocess.run([*RESTRICTED, SERVICE, program, "umount", path]).returncode == 0
    assert daemon.wait(20) == 0 and not metrics.exists()


def test_a_restricted_service_acts_for_other_users(sample, tmp_path):
    open_to_all(tmp_path)
    for name, mode in (("open.root", 0o644), ("closed.root", 0o600)):
        shutil.copy(sample, tmp_path / name)
        os.chown(tmp_path / name, other_user.OWNER, other_user.OWNER)
        os.chmod(tmp_path / name, mode)
    with restricted_mount(str(tmp_path), "allow_other") as m:
        path = lambda name: os.path.join(m.path, name, "Events", "run.i4")
        assert other_user.run_as(other_user.READER, try_to_read, path("open.root")) == try_to_read(path("closed.root"))
        assert other_user.run_as(other_user.OWNER, try_to_read, path("closed.root"))
        with pytest.raises(other_user.Refused):
            other_user.run_as(other_user.READER, try_to_read, path("closed.root"))


@pytest.mark.parametrize("owner", (0, other_user.OWNER))
def test_a_restricted_service_writes(program, sample, tmp_path, owner):
    source = str(tmp_path / "out.root")
    shutil.copy(sample, source)
    os.chown(source, owner, owner)
    with restricted_mount(source, "rw") as m:
        os.mkdir(os.path.join(m.path, "new"))
        np.arange(1000, dtype="f4").tofile(os.path.join(m.path, "new", "x.f4"))
        assert subprocess.run([*RESTRICTED, SERVICE, program, "commit", m.path]).returncode == 0
        assert (np.fromfile(os.path.join(m.path, "new", "x.f4"), "f4") == np.arange(1000)).all()
        assert m.errors() == ""
    assert os.stat(source).st_uid == owner


@contextlib.contextmanager
def served(sample, protocol, directory):
    """The URL of the sample at a server."""
    directory.mkdir()
    shutil.copy(sample, directory)
    if protocol == "root":
        with xrootd_server.XrootdServer() as server:
            server.put(sample)
            yield server.url("sample.root")
    else:
        certificate = http_server.make_certificate(directory) if protocol == "https" else None
        with http_server.Nginx(directory, certificate) as server:
            yield server.url("sample.root")


@pytest.mark.parametrize("protocol", ("http", "https", "root"))
def test_a_restricted_service_reads_of_servers(sample, tmp_path, protocol):
    environment = remote_files.environment(SSL_CERT_FILE=str(tmp_path / "served" / "ca.pem"))
    with served(sample, protocol, tmp_path / "served") as url:
        with restricted_mount(url, f"diskcache={tmp_path / 'cache'}", environment=environment) as m:
            assert len(column(m.path)) == 100_000 and m.errors() == ""


def test_a_restricted_mount_unit_mounts(installed, sample, tmp_path):
    """As mount(8) calls the helper; the program goes on in the background."""
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    [options] = restricted.settings(MOUNT)["Options"]
    done = subprocess.run([*RESTRICTED, MOUNT, f"{installed.prefix}/sbin/mount.fuse.tfilefs", sample, mnt, "-o", "rw,dev,suid," + options],
                          env=installed.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    try:
        assert len(column(str(mnt))) == 100_000
    finally:
        assert subprocess.run([*RESTRICTED, MOUNT, "umount", mnt]).returncode == 0


HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.execve(sys.argv[2], sys.argv[2:], dict(os.environ, LISTEN_FDS="1", LISTEN_PID=str(os.getpid())))
"""


@contextlib.contextmanager
def handed_over(program, sample, listening, token, prefix=()):
    """A server with a socket that it was given as systemd gives it."""
    server = subprocess.Popen([sys.executable, "-c", HAND_OVER, str(listening.fileno()), *prefix, program, "serve", "--listen", "systemd",
                               "--token-file", token, sample], pass_fds=[listening.fileno()], stdout=subprocess.PIPE, text=True)
    listening.close()
    try:
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0


def get(connection, token, path="/Events/run.i4"):
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}", "Host": "localhost"})
    return connection.getresponse().read()


def test_a_restricted_service_serves_a_socket_of_systemd(program, sample, tmp_path):
    path, token = str(tmp_path / "run1.sock"), tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    with handed_over(program, sample, listening, str(token), (*RESTRICTED, SERVE)) as server:
        assert server.stdout.readline().startswith("http+unix://")
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(path)
        assert len(get(connection, "0123456789abcdef")) == 400_000
        connection.close()
    assert os.path.exists(path), "the socket is systemd's"


def test_a_port_of_systemd_is_served(program, sample, tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    with handed_over(program, sample, socket.create_server(("127.0.0.1", 0)), str(token)) as server:
        address = server.stdout.readline().split("/")[2]
        assert len(get(http.client.HTTPConnection(address), "0123456789abcdef")) == 400_000


def test_what_systemd_does_not_hand_over(program, sample):
    def said(**environment):
        done = subprocess.run([program, "serve", "--listen", "systemd", sample], capture_output=True, text=True, env=dict(os.environ, **environment))
        assert done.returncode == 1
        return done.stderr

    assert "no socket was handed over" in said()
    assert "no socket was handed over" in said(LISTEN_FDS="1", LISTEN_PID="1")


USER = 65534  # nobody: fusermount3 wants a user that has a name


def test_a_user_needs_privileges_that_are_gained(program, sample, tmp_path):
    """Why the unit of a user restricts nothing: the manager of a user would take them along with most restrictions."""
    open_to_all(tmp_path)
    subprocess.run(["install", "-m", "755", program, tmp_path / "tfilefs"], check=True)
    subprocess.run(["install", "-m", "644", sample, tmp_path / "sample.root"], check=True)
    (tmp_path / "mnt").mkdir()
    os.chown(tmp_path / "mnt", USER, USER)
    device = "mknod fuse c 10 229; chmod 666 fuse; mount --bind fuse /dev/fuse"  # as udev makes it
    user = f"setpriv --reuid={USER} --regid={USER} --clear-groups"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f"{device}; {user} --no-new-privs ./tfilefs sample.root mnt; echo $?; "
                           f"{user} ./tfilefs sample.root mnt; echo $?; {user} ./tfilefs umount mnt; echo $?"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["1", "0", "0"], done.stdout + done.stderr
    with open(os.path.join(ROOT, "packaging", "systemd", "tfilefs@.service.in"), encoding="utf-8") as unit:
        assert not re.search(r"^(NoNew|System|Restrict[A-Z]\w*Fam|Memory|Lock|Protect|Private|Capab)", unit.read(), re.MULTILINE)
