# SPDX-License-Identifier: Apache-2.0
"""An XRootD server of the machine's own package, which serves one directory on a free port of the loopback."""

import os
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

USER = "xrootd"  # the server refuses to run as root


def free_port():
    """Below the ports that the system gives to clients: one that is tried again and again would at last connect to
    itself."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def require():
    """Skips the test where no server can be started."""
    for program in ("xrootd", "setpriv"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if os.geteuid() != 0:
        return
    try:
        pwd.getpwnam(USER)
    except KeyError:
        pytest.skip(f"there is no user {USER}")
    if subprocess.run(as_user("true"), capture_output=True).returncode != 0:
        pytest.skip("setpriv cannot change the user here")


def as_user(*command):
    """The command as a user that the server accepts."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups", *command]


class XrootdServer:
    """`with XrootdServer() as server:` put a file at server.path("f"), and read it at server.url("f").

    lines: of its configuration; "{base}" is the directory that it has for itself.
    files: {name there: file}: copied there, for the server alone.
    prefix: what the program is run by, such as DelayedNetwork.command("remote"), with `address` there."""

    def __init__(self, *lines, port=None, address="127.0.0.1", prefix=(), files=None):
        require()
        self.port, self.address, self._prefix = port or free_port(), address, list(prefix)
        self._base = tempfile.mkdtemp(prefix="xrootd-test-")  # not below pytest's, which other users cannot enter
        os.chmod(self._base, 0o755)
        self._log = os.path.join(self._base, "log")
        for name in ("data", "admin"):
            os.mkdir(os.path.join(self._base, name))
        for name, file in (files or {}).items():
            shutil.copyfile(file, os.path.join(self._base, name))
            os.chmod(os.path.join(self._base, name), 0o400)
        config = [
            f"xrd.port {self.port}",
            "xrd.network nodnr",
            "all.export /data",
            f"oss.localroot {self._base}",
            f"all.adminpath {self._base}/admin",
            f"all.pidpath {self._base}/admin",
            "xrootd.trace request",
            *(line.replace("{base}", self._base) for line in lines),
        ]
        with open(os.path.join(self._base, "server.cfg"), "w") as file:
            file.write("\n".join(config) + "\n")
        if os.geteuid() == 0:
            for name in ("", "data", "admin", *(files or {})):
                shutil.chown(os.path.join(self._base, name), USER, USER)
        self.process = None
        self.start()

    def start(self):
        deadline = time.monotonic() + 20
        while not self._starts(deadline):
            if time.monotonic() > deadline:
                own = [line for line in self.log().splitlines() if "req=" not in line]
                pytest.skip("xrootd does not start: " + "\n".join(own[-20:]))
            time.sleep(0.2)  # the port may be taken for a moment

    def _starts(self, deadline):
        command = self._prefix + as_user("xrootd", "-c", f"{self._base}/server.cfg", "-n", "test", "-l", self._log)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, cwd=self._base)
        # With a plain socket: the XRootD client would not try a refused connection again for a minute.
        while self.process.poll() is None and time.monotonic() < deadline:
            if self._is_listening():
                return True
            time.sleep(0.05)
        return False

    def _is_listening(self):
        """A port in another network cannot be tried from here."""
        if self._prefix:
            return "initialization completed" in self.log()
        try:
            socket.create_connection((self.address, self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait()

    def path(self, name):
        return os.path.join(self._base, "data", name)

    def url(self, name, login="", query="", scheme="root", host=None):
        return f"{scheme}://{login}{host or self.address}:{self.port}//data/{name}{query}"

    def put(self, source, name=None):
        """Copies a file to the server; returns its URL."""
        name = name or os.path.basename(source)
        new = self.path(name) + ".new"
        os.makedirs(os.path.dirname(new), exist_ok=True)
        shutil.copyfile(source, new)
        os.chmod(new, 0o644)
        os.replace(new, self.path(name))
        return self.url(name)

    def log(self):
        """All that the server has logged. (It names the directory of its log after itself.)"""
        for path in (os.path.join(self._base, "test", "log"), self._log):
            if os.path.isfile(path):
                with open(path, errors="replace") as file:
                    return file.read()
        return ""

    def requests(self):
        """The names of all requests so far, in order: login, open, read, readv, stat, query, ..."""
        return re.findall(r"\breq=(\w+)", self.log())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.stop(signal.SIGTERM)
        shutil.rmtree(self._base, ignore_errors=True)
