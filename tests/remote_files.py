# SPDX-License-Identifier: Apache-2.0
"""What the tests of files behind URLs share: the environment of the program, reads that end, and what is expected."""

import errno
import os
import socket
import subprocess
import tempfile
import time

import mounted

# What a read may take beyond the timeout of its mount. Machines with a lot to do are slow.
SLOW = 8.0

ERRNOS = {os.strerror(number): name for number, name in errno.errorcode.items()}


class Hangs(AssertionError):
    pass


def environment(home="/nonexistent", **more):
    """Of a program that knows no proxy, no token and no password but those that are given."""
    # A list first: pytest changes a variable for each test, and this runs in threads, too.
    kept = {name: os.environ.get(name, "") for name in list(os.environ)
            if not name.lower().endswith("_proxy") and not name.startswith(("BEARER_", "XDG_", "CURL_", "SSL_", "X509_"))}
    return dict(kept, HOME=str(home), LC_ALL="C", **more)


def run(command, limit, **more):
    """As subprocess.run(); raises Hangs where the process does not end, not even when it is killed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=said, env=environment(), **more)
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Hangs(f"{command} did not end within {limit} s") from None
        out.seek(0), said.seek(0)
        return subprocess.CompletedProcess(command, process.returncode, out.read(), said.read().decode())


def outcome(command, limit):
    """The output, or the name of the errno that the command tells of: "EIO"."""
    done = run(command, limit)
    if done.returncode == 0:
        return done.stdout
    told = done.stderr.strip().rpartition(": ")[2]
    return ERRNOS.get(told, done.stderr)


def read(path, timeout):
    """All bytes of a file, or the name of an errno."""
    return outcome(["cat", path], timeout + SLOW)


def names(path, timeout):
    return outcome(["ls", path], timeout + SLOW)


def everything(top):
    """{path: bytes, or None for a directory} of all that is in a mount, except for `.tfilefs`, which tells of itself."""
    found = {}
    for folder, directories, files in os.walk(top):
        if folder == top and ".tfilefs" in directories:
            directories.remove(".tfilefs")
        for name in directories:
            found[os.path.relpath(os.path.join(folder, name), top)] = None
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, top)] = file.read()
    return found


def becomes(wanted, get, limit):
    """Waits until get() == wanted; returns the last get()."""
    deadline = time.monotonic() + limit
    while (now := get()) != wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    return now


class Unanswering:
    """An address where nobody answers, not even to refuse: a listener whose queue is full."""

    def __enter__(self):
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        self.port = self._listener.getsockname()[1]
        self._waiting = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", self.port))
            self._waiting.append(client)
        return self

    def __exit__(self, *_):
        for one in (self._listener, *self._waiting):
            one.close()


def failure(*arguments, limit, **more):
    """(exit status, stderr) of a mount that is to fail, in the foreground; the seconds it took."""
    begin = time.monotonic()
    point = tempfile.mkdtemp(prefix="tfilefs-test-")
    try:
        done = run([mounted.program(), "-f", *arguments, point], limit, **more)
        return done.returncode, done.stderr, time.monotonic() - begin
    finally:
        subprocess.run(["fusermount3", "-uz", point], capture_output=True)
        os.rmdir(point)
