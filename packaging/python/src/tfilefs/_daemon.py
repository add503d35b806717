# SPDX-License-Identifier: Apache-2.0
"""The process that reads files for tfilefs.open (`tfilefs serve`): one for all processes of a user that open the same in the same
way, started by the first and ended some moments after the last.

Each has a directory that its user alone can enter: `socket`; `lifeline`, a named pipe that it reads and its clients hold open, so
that the kernel tells it when the last has gone, however that ended; `token`, which is there once it answers."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import select
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

from ._error import mount_error
from ._locks import Locks

_LINGER = 2  # seconds; a program that opens file after file begins none anew
_BEGUN = 60  # seconds, after which a directory without a lifeline is of one that was killed while it began
_PRIVATE = "tfilefs-o."  # no name of a mount, which begin with tfilefs- and go on with letters

# What the program and its libraries (libcurl, OpenSSL, XRootD) read: credentials, proxies, where files of them are.
_READ = re.compile(r"(AWS|BEARER|TOKEN|X509|XRD|GSI|GLOBUS|VOMS|SCITOKENS?|KRB5|SSL|OPENSSL|CURL|LD|TFILEFS_|OIDC|SSS)\w*|\w+_PROXY|HOME|NETRC|TZ"
                   r"|XDG_(RUNTIME_DIR|CACHE_HOME|CONFIG_HOME)", re.IGNORECASE)


class Wanted(NamedTuple):
    """What is opened. `directory`: in which names are meant."""

    program: str
    sources: tuple[str, ...]
    options: tuple[str, ...]
    directory: str
    is_shared: bool


class _Joined(NamedTuple):
    directory: str
    token: str
    lifeline: int


class Daemon:
    """One that this process has joined, and its forks with it. Threads may use it at the same time."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._locks = Locks()
        self._joined = _join(wanted)
        self._has_left = False

    @property
    def directory(self) -> str:
        return self._joined.directory

    @property
    def socket(self) -> str:
        return os.path.join(self.directory, "socket")

    @property
    def token(self) -> str:
        return self._joined.token

    def replace(self, directory: str) -> None:
        """The one of that directory answers no more: another one is joined, if this process has not left meanwhile. Errors: as
        of the first."""
        with self._locks.of():
            if self.directory == directory and not self._has_left:
                before, self._joined = self._joined, _join(self._wanted)
                _let_go(before)

    def leave(self) -> None:
        with self._locks.of():
            if not self._has_left:
                self._has_left = True
                _let_go(self._joined)


def _let_go(joined: _Joined) -> None:
    """Leaves it. The directory of one that was killed stays behind it, and is removed."""
    poll = select.poll()
    poll.register(joined.lifeline, 0)
    was_killed = any(event & select.POLLERR for _, event in poll.poll(0))  # nobody has its other end
    os.close(joined.lifeline)
    if was_killed:
        shutil.rmtree(joined.directory, ignore_errors=True)


def _join(wanted: Wanted) -> _Joined:
    """One that is there, or a new one. MountError with what the program says instead of serving."""
    environment = dict(os.environ)  # the same for the name and for the process
    environment.pop("NOTIFY_SOCKET", None)  # of a service, of which it is no part
    common = _common_directory() if wanted.is_shared else None
    if common is None:
        place = tempfile.gettempdir()
        if _is_safe(place):
            _clear(place, _PRIVATE)
        return _start(wanted, environment, tempfile.mkdtemp(prefix=_PRIVATE, dir=place), 0)
    name = _name(wanted, environment)
    for each in _directories(common, name):
        if found := _joined(each):
            return found
    with _locked(os.path.join(common, name + ".lock")):
        for each in _directories(common, name):
            if found := _joined(each):
                return found
            shutil.rmtree(each, ignore_errors=True)  # of one that was killed
        _clear(common, "")
        return _start(wanted, environment, tempfile.mkdtemp(prefix=name + ".", dir=common), _LINGER)


def _joined(directory: str) -> _Joined | None:
    """None: nothing answers there, or not yet."""
    import socket

    try:
        # Without a reader it is refused.
        lifeline = os.open(os.path.join(directory, "lifeline"), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENXIO):
            return None
        raise
    try:
        with open(os.path.join(directory, "token"), encoding="ascii") as file:
            token = file.read()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.connect(os.path.join(directory, "socket"))
    except (FileNotFoundError, ConnectionRefusedError):
        os.close(lifeline)
        return None
    except BaseException:
        os.close(lifeline)
        raise
    return _Joined(directory, token, lifeline)


def _start(wanted: Wanted, environment: dict[str, str], directory: str, linger: int) -> _Joined:
    directory = os.path.realpath(directory)
    path = os.path.join(directory, "lifeline")
    os.mkfifo(path + ".new", 0o600)
    reading = os.open(path + ".new", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    lifeline = os.open(path + ".new", os.O_WRONLY | os.O_CLOEXEC)
    os.rename(path + ".new", path)  # what has the name has a reader, or is left behind
    try:
        joined = _Joined(directory, _token_of(_run(wanted, environment, directory, linger, reading)), lifeline)
        new = os.path.join(directory, "new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(joined.token)
        os.rename(new, os.path.join(directory, "token"))
        return joined
    except BaseException:
        os.close(lifeline)
        shutil.rmtree(directory, ignore_errors=True)
        raise
    finally:
        os.close(reading)


def _run(wanted: Wanted, environment: dict[str, str], directory: str, linger: int, reading: int) -> subprocess.Popen[bytes]:
    options = [word for option in (*wanted.options, f"lifeline={reading}") for word in ("-o", option)]
    # Of its own session: Ctrl-C at a terminal is for this process. By a shell that ends at once: it is nobody's child, as it may
    # live longer than who started it.
    return subprocess.Popen(
        ["/bin/sh", "-c", '"$@" &', "sh", wanted.program, "serve", "--listen", f"unix:{directory}/socket", "--timeout", "120",
         "--linger", str(linger), *options, "--", *wanted.sources],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(reading,), start_new_session=True,
        cwd=wanted.directory, env=environment)


def _token_of(process: subprocess.Popen[bytes]) -> str:
    """What the program prints when it can be asked. MountError with what it says instead."""
    assert process.stdout and process.stderr
    with process, process.stdout, process.stderr:
        url = process.stdout.readline().decode()
        if "?token=" in url:
            return url.strip().partition("?token=")[2]
        said = process.stderr.read().decode("utf-8", "replace").strip()
    raise mount_error(said or "tfilefs ended, and said nothing")


def _is_own(path: str) -> bool:
    """A directory that nobody else can enter."""
    found = os.lstat(path)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & 0o077 == 0


def _is_safe(path: str) -> bool:
    """In which nobody else can put another one in the place of a directory of this user."""
    found = os.stat(path)
    return found.st_uid in (0, os.geteuid()) and (found.st_mode & 0o022 == 0 or found.st_mode & stat.S_ISVTX != 0)


def _common_directory() -> str | None:
    """Where processes of this user find each other; None: there is no safe place."""
    places = [f"/tmp/tfilefs-{os.geteuid()}"]
    runtime = os.path.realpath(os.environ.get("XDG_RUNTIME_DIR") or "/")
    with contextlib.suppress(OSError):
        if len(os.fsencode(runtime)) < 40 and _is_own(runtime) and _is_safe(os.path.dirname(runtime)):  # paths of sockets are short
            places.insert(0, os.path.join(runtime, "tfilefs"))
    for place in places:
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileExistsError):
                os.mkdir(place, 0o700)
            if _is_own(place) and _is_safe(os.path.dirname(place)) and os.access(place, os.W_OK):
                return place
    return None


def _directories(common: str, name: str) -> list[str]:
    return [os.path.join(common, each) for each in os.listdir(common) if each.startswith(name + ".") and not each.endswith(".lock")]


def _clear(place: str, prefix: str) -> None:
    """Removes the directories there that were left behind by daemons that were killed."""
    for each in os.listdir(place):
        path = os.path.join(place, each)
        if each.startswith(prefix) and not each.endswith(".lock") and _is_left_behind(path):
            shutil.rmtree(path, ignore_errors=True)


def _is_left_behind(directory: str) -> bool:
    try:
        if not _is_own(directory):
            return False
        os.close(os.open(os.path.join(directory, "lifeline"), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW))
        return False
    except FileNotFoundError:
        with contextlib.suppress(OSError):
            return time.time() - os.stat(directory).st_mtime > _BEGUN
        return False
    except OSError as error:
        return error.errno == errno.ENXIO  # nobody reads


def _rights() -> list[str]:
    """Of this process: what it may read, and where names and addresses lead."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        told = [line for line in status if line.startswith(("Uid:", "Gid:", "Groups:", "CapEff:", "Seccomp:"))]
    top = os.stat("/")
    spaces = [os.readlink(f"/proc/self/ns/{each}") for each in ("mnt", "net", "user")]
    return [*told, *spaces, f"{top.st_dev}:{top.st_ino}"]


def _name(wanted: Wanted, environment: dict[str, str]) -> str:
    """Equal for processes that may use the same one: the same program, not one of its name only; the same sources, by the same names,
    which lead to the same places; the same options, credentials and rights."""
    program = os.stat(wanted.program)
    places = [(source, source) if re.match(r"[a-z][a-z0-9+.-]*://", source) else
              (os.path.abspath(os.path.join(wanted.directory, source)), os.path.realpath(os.path.join(wanted.directory, source)))
              for source in wanted.sources]
    told = (os.path.realpath(wanted.program), program.st_dev, program.st_ino, program.st_size, program.st_mtime_ns, places, wanted.options,
            wanted.directory if wanted.options else "", sorted(each for each in environment.items() if _READ.fullmatch(each[0])), _rights())
    return hashlib.sha256(repr(told).encode("utf-8", "surrogateescape")).hexdigest()[:32]


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """While no other process is there. The kernel unlocks for one that is killed, so a file that is left locks nothing."""
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), os.stat(path)):
                    break
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)  # of one that has been removed
    try:
        yield
    finally:
        os.unlink(path)
        os.close(lock)
