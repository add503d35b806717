# SPDX-License-Identifier: Apache-2.0
"""Files of a daemon (_daemon.py), which are asked for by HTTP, on a socket that only its user can use."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._daemon import Daemon, Wanted
from ._error import MountError
from ._locks import Locks
from ._place import Place

if TYPE_CHECKING:
    import http.client
    import socket

    from ._types import NumpyArray

_ERRORS = {401: errno.EACCES, 403: errno.EACCES, 404: errno.ENOENT}
_BEHIND_THE_END = 416
_ATTEMPTS = 5  # a daemon may end, or be killed, between two requests
_MEMORY = "Tfilefs-Memory"  # the header that asks for a file as memory that is passed, and says how long it is


class Server:
    """What is asked of a daemon. Threads ask by connections of their own, and forks, too."""

    def __init__(self, wanted: Wanted) -> None:
        self.source = ", ".join(wanted.sources)
        self._daemon = Daemon(wanted)
        self._own = threading.local()
        self._mapped: weakref.WeakValueDictionary[str, NumpyArray] = weakref.WeakValueDictionary()
        self._tags: dict[str, str] = {}
        self._locks = Locks()  # of a file that is mapped by one thread, and wanted by others
        self._end = weakref.finalize(self, self._daemon.leave)

    def close(self) -> None:
        """Leaves the daemon, which ends if nobody else uses it."""
        self._end()

    @property
    def is_open(self) -> bool:
        return self._end.alive

    def _connection(self) -> http.client.HTTPConnection:
        user = (os.getpid(), self._daemon.directory)
        if getattr(self._own, "user", None) != user:
            self._own.connection = _connection_at(self._daemon.socket)
            self._own.user = user
        connection: http.client.HTTPConnection = self._own.connection
        return connection

    @contextlib.contextmanager
    def ask(self, method: str, path: str, query: str = "", **headers: str) -> Iterator[http.client.HTTPResponse]:
        """The response, whose body is to be read. OSError of what is refused, with `path`."""
        from http.client import IncompleteRead
        from urllib.parse import quote

        response = self._asked(method, quote(os.fsencode("/" + path)) + query, headers)
        try:
            if response.status >= 400 and response.status != _BEHIND_THE_END:
                said = response.read().decode("utf-8", "replace").strip()
                is_changing = response.status == 503 and response.headers["Retry-After"] is not None
                number = errno.ESTALE if is_changing else _ERRORS.get(response.status, errno.EIO)
                raise OSError(number, said or response.reason, path)
            yield response
        except IncompleteRead:
            raise OSError(errno.EIO, "the file ends too early", path) from None
        finally:
            if not response.isclosed():
                self._connection().close()  # what is left of a body is no next response

    def _asked(self, method: str, target: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        import http.client

        for _ in range(_ATTEMPTS):
            if not self.is_open:
                break
            directory = self._daemon.directory
            given = {"Authorization": f"Bearer {self._daemon.token}", "Host": "localhost", **headers}
            connection = self._connection()
            was_used = connection.sock is not None
            self._own.memory = None
            try:
                connection.request(method, target, headers=given)
                if _MEMORY in headers:
                    self._own.memory = _passed(connection.sock)
                return connection.getresponse()
            except (ConnectionError, FileNotFoundError, http.client.HTTPException):
                connection.close()
                if self._own.memory is not None:
                    os.close(self._own.memory)
                if not was_used:  # one that was, and has not been used for long, may have been closed
                    self._daemon.replace(directory)
        raise MountError(f"{self.source} is not open any more")

    def look(self, path: str) -> dict[str, Any] | None:
        """What there is: `type`, `size` if it is known, `attributes`. None if there is nothing."""
        import json

        try:
            with self.ask("GET", path, "?attributes") as response:
                found: dict[str, Any] = json.loads(response.read())
                return found
        except FileNotFoundError:
            return None

    def read(self, path: str) -> bytes:
        with self.ask("GET", path) as response:
            return response.read()

    def numbers(self, path: str, dtype: str, start: int, stop: int | None) -> NumpyArray:
        """Read into memory."""
        import numpy as np

        size = np.dtype(dtype).itemsize
        if stop is not None and stop <= start:
            return np.empty(0, dtype)
        is_part = start > 0 or stop is not None
        wanted = {"Range": f"bytes={start * size}-" + ("" if stop is None else str(stop * size - 1))} if is_part else {}
        with self.ask("GET", path, **wanted) as response:
            if response.status == _BEHIND_THE_END:
                response.read()
                return np.empty(0, dtype)
            read = np.empty(int(response.headers["Content-Length"]) // size, dtype)
            _fill(read.view("u1").data, response, path)
            return read

    def mapped(self, path: str) -> NumpyArray:
        """All bytes of a file, in sealed memory that the server has filled, mapped: the same as long as an array of it is there."""
        import numpy as np

        with self._locks.of(path):
            known = self._mapped.get(path)
            asked = {} if known is None else {"If-None-Match": self._tags[path]}
            with self.ask("GET", path, **{_MEMORY: "sealed"}, **asked) as response:
                if response.status == 304 and known is not None:
                    response.read()
                    return known
                memory: int | None = self._own.memory
                content = response.read()  # empty, if it came as memory
                read = np.frombuffer(content, "u1") if memory is None else _map(memory, int(response.headers[_MEMORY]))
                if response.headers["ETag"]:
                    self._mapped[path], self._tags[path] = read, response.headers["ETag"]
                return read


def _connection_at(path: str) -> http.client.HTTPConnection:
    import http.client
    import socket

    class Connection(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self.sock.connect(path)
            except BaseException:
                self.close()
                raise

    return Connection("localhost")


def _fill(into: memoryview, response: http.client.HTTPResponse, path: str) -> None:
    got = 0
    while got < len(into):
        part = response.readinto(into[got:])
        if not part:
            raise OSError(errno.EIO, "the file ends too early", path)
        got += part
    response.read()  # of nothing, which ends it


def _map(memory: int, size: int) -> NumpyArray:
    """The memory of a descriptor, which is closed."""
    import mmap

    import numpy as np

    try:
        # All of it is there, and wanted: to be told so at once costs less than a page fault for each 64 KiB.
        return np.frombuffer(mmap.mmap(memory, size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE, prot=mmap.PROT_READ), "u1")
    finally:
        os.close(memory)


def _passed(connection: socket.socket) -> int | None:
    """The descriptor that comes in front of a response, after an M."""
    import socket

    if connection.recv(1, socket.MSG_PEEK) != b"M":
        return None
    _, [memory], _, _ = socket.recv_fds(connection, 1, 1, socket.MSG_CMSG_CLOEXEC)
    return int(memory)


class RangeFile(io.RawIOBase):
    """A file of a server that is read where somebody wants it."""

    def __init__(self, place: ServedPlace) -> None:
        self._place, self._at, self._size = place, 0, place.size()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = max(0, offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, into: Any) -> int:
        view = memoryview(into).cast("B")
        stop = min(self._size, self._at + len(view))
        got = self._place.numbers("u1", True, self._at, stop)
        view[:len(got)] = got.data
        self._at += len(got)
        return len(got)


class ServedPlace(Place):
    def __init__(self, server: Server, path: str = "") -> None:
        self._server, self._path = server, path

    @property
    def path(self) -> str:
        raise MountError(f"{self._path or self._server.source} has no path for other programs: nothing is mounted by tfilefs.open; "
                         "tfilefs.mount does")

    def writable_path(self) -> str:
        raise MountError(f"{self._server.source} is only read by tfilefs.open: tfilefs.mount(..., 'rw') writes")

    def in_root(self) -> str:
        return self._path

    def __truediv__(self, below: str) -> ServedPlace:
        return ServedPlace(self._server, f"{self._path}/{below}".strip("/"))

    def beside(self, ending: str) -> ServedPlace:
        return ServedPlace(self._server, self._path + ending)

    def is_open(self) -> bool:
        return self._server.is_open

    def gone(self) -> str:
        return f"{self._server.source} is not open any more"

    def exists(self) -> bool:
        return self._server.look(self._path) is not None

    def is_directory(self) -> bool:
        found = self._server.look(self._path)
        return found is not None and found["type"] == "directory"

    def names(self) -> list[str]:
        import json

        found = self._server.look(self._path)
        if found is None or found["type"] != "directory":
            number = errno.ENOENT if found is None else errno.ENOTDIR
            raise OSError(number, os.strerror(number), self._path)
        with self._server.ask("GET", self._path, "?json") as response:
            return [str(each["name"]) for each in json.loads(response.read())["entries"]]

    def attribute(self, name: str) -> str:
        found = self._server.look(self._path)
        return "" if found is None else str(found["attributes"].get(name, ""))

    def size(self) -> int:
        with self._server.ask("HEAD", self._path) as response:
            response.read()
            return int(response.headers["Content-Length"])

    def tag(self) -> str:
        with self._server.ask("HEAD", self._path) as response:
            response.read()
            return response.headers["ETag"] or ""

    def text(self, errors: str = "strict") -> str:
        return self._server.read(self._path).decode("utf-8", errors)

    def npy(self) -> NumpyArray:
        import numpy as np

        read: NumpyArray = np.load(io.BytesIO(self._server.read(self._path)))
        return read

    def numbers(self, dtype: str, copy: bool, start: int = 0, stop: int | None = None) -> NumpyArray:
        if copy:
            return self._server.numbers(self._path, dtype, start, stop)
        return self._server.mapped(self._path).view(dtype)[start:stop]

    def arrow_file(self, copy: bool) -> Any:
        import pyarrow as pa

        return pa.PythonFile(io.BufferedReader(RangeFile(self), 1 << 20), "r")

    def copy_to(self, path: str) -> None:
        os.makedirs(path)
        for name in self.names():
            each, to = self / name, os.path.join(path, name)
            if each.is_directory():
                each.copy_to(to)
            else:
                with open(to, "wb") as file:
                    file.write(self._server.read(each._path))
