# SPDX-License-Identifier: Apache-2.0
"""Where files are read: below a mount, or of a server that was started for them (_served.py)."""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._types import NumpyArray


class Place(ABC):
    """A file or directory. What is read raises OSError: FileNotFoundError, if there is none."""

    @property
    @abstractmethod
    def path(self) -> str:
        """By which other programs find it. MountError, if they do not."""

    @abstractmethod
    def writable_path(self) -> str:
        """The same for who writes there, which is told why that does not go."""

    @abstractmethod
    def in_root(self) -> str:
        """The path below what was opened, which leads here in another process, too. TypeError if none does."""

    @abstractmethod
    def __truediv__(self, below: str) -> Place:
        """Of a directory: the place of a name, or of a path below it."""

    @abstractmethod
    def beside(self, ending: str) -> Place:
        """What has the same name with an ending, as the views of a table."""

    @abstractmethod
    def is_open(self) -> bool:
        """Whether what it is in can still be read."""

    @abstractmethod
    def gone(self) -> str:
        """What to say if it cannot."""

    @abstractmethod
    def exists(self) -> bool: ...

    @abstractmethod
    def is_directory(self) -> bool: ...

    @abstractmethod
    def names(self) -> list[str]:
        """Of a directory, in no order."""

    @abstractmethod
    def attribute(self, name: str) -> str:
        """What the program says of it: `class`, `title`; empty if it says nothing."""

    @abstractmethod
    def size(self) -> int:
        """Bytes of a file."""

    @abstractmethod
    def tag(self) -> str:
        """Of a file: another one in each state of the ROOT file that it is made from; empty if nothing tells them apart."""

    @abstractmethod
    def text(self, errors: str = "strict") -> str: ...

    @abstractmethod
    def npy(self) -> NumpyArray: ...

    @abstractmethod
    def numbers(self, dtype: str, copy: bool, start: int = 0, stop: int | None = None) -> NumpyArray:
        """The numbers start..stop of a file; mapped, and not to be changed, if not `copy`."""

    @abstractmethod
    def arrow_file(self, copy: bool) -> Any:
        """The file as pyarrow reads it; mapped if not `copy`."""

    @abstractmethod
    def copy_to(self, path: str) -> None:
        """Copies the directory to a new one of the host."""


class Placed:
    """What stands at a place. It is pickled as its path below what was opened, and what was opened with it."""

    _place: Place
    name: str
    _owner: Any

    def __reduce__(self) -> tuple[Any, ...]:
        return _placed, (self._place.in_root(), type(self), self.name, self._owner)

    def __copy__(self) -> Any:
        return self

    @property
    def path(self) -> str:
        """Where other programs find it. MountError, which says why, if nothing is mounted."""
        return self._place.path


def _placed(path: str, kind: Any, name: str, owner: Any) -> Any:
    return kind(owner._place / path, name, owner)


class MountedPlace(Place):
    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def path(self) -> str:
        return self._path

    def writable_path(self) -> str:
        return self._path

    def in_root(self) -> str:
        raise TypeError(f"{self._path} is not pickled, for it is mounted as long as this process wants it: what tfilefs.open gives is")

    def __truediv__(self, below: str) -> MountedPlace:
        return MountedPlace(os.path.join(self._path, below))

    def beside(self, ending: str) -> MountedPlace:
        return MountedPlace(self._path + ending)

    def is_open(self) -> bool:
        return os.path.isdir(self._path)

    def gone(self) -> str:
        return f"{self._path} is not mounted any more"

    def exists(self) -> bool:
        return os.path.lexists(self._path)

    def is_directory(self) -> bool:
        return os.path.isdir(self._path)

    def names(self) -> list[str]:
        return os.listdir(self._path)

    def attribute(self, name: str) -> str:
        try:
            return os.fsdecode(os.getxattr(self._path, "user.tfilefs." + name))
        except OSError:
            return ""

    def size(self) -> int:
        return os.stat(self._path).st_size

    def tag(self) -> str:
        with open(self._path, "rb", buffering=0) as file:  # what is opened is looked at; what stat(2) says may be old
            found = os.fstat(file.fileno())
        return f"{found.st_mtime_ns}-{found.st_ctime_ns}-{found.st_size}"

    def text(self, errors: str = "strict") -> str:
        with open(self._path, encoding="utf-8", errors=errors) as file:
            return file.read()

    def npy(self) -> NumpyArray:
        import numpy as np

        read: NumpyArray = np.load(self._path)
        return read

    def numbers(self, dtype: str, copy: bool, start: int = 0, stop: int | None = None) -> NumpyArray:
        # numpy.fromfile returns memory that nobody has written where a read fails.
        import numpy as np

        kind = np.dtype(dtype)
        with open(self._path, "rb", buffering=0) as file:
            there = os.fstat(file.fileno()).st_size // kind.itemsize
            stop = there if stop is None else min(stop, there)
            start = min(start, stop)
            if not copy and there:  # nothing cannot be mapped
                return np.memmap(file, kind, "r")[start:stop]
            read, got = np.empty(stop - start, kind), 0
            file.seek(start * kind.itemsize)
            bytes_of = read.view("u1").data
            while got < read.nbytes:
                part = file.readinto(bytes_of[got:])
                if not part:
                    raise OSError(errno.EIO, "the file ends too early", self._path)
                got += part
            return read

    def arrow_file(self, copy: bool) -> Any:
        import pyarrow as pa

        return pa.OSFile(self._path) if copy else pa.memory_map(self._path)

    def copy_to(self, path: str) -> None:
        import shutil

        shutil.copytree(self._path, path)
