# SPDX-License-Identifier: Apache-2.0
"""A mount that lives as long as this process wants it, and no longer."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Union, overload

from ._daemon import Wanted
from ._error import MountError, mount_error, no_such_file
from ._items import Directory
from ._place import MountedPlace
from ._served import Server, ServedPlace


_NEVER = 1 << 20  # seconds, as many as commit= takes: a block that fails has committed nothing then

Source = Union[str, "os.PathLike[str]"]


def program() -> str:
    """The program: that of the environment variable TFILEFS, of this wheel, or on PATH."""
    import shutil
    import sysconfig

    places = [os.environ.get("TFILEFS")]
    places += [os.path.join(sysconfig.get_path("scripts", scheme), "tfilefs") for scheme in (sysconfig.get_default_scheme(), "posix_user")]
    places.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "tfilefs"))  # pip's --target
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    found = shutil.which("tfilefs")
    if not found:
        raise MountError("there is no program tfilefs: set TFILEFS to its path")
    return found


def _run(*arguments: str, descriptors: tuple[int, ...] = ()) -> None:
    import subprocess

    done = subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          pass_fds=descriptors, check=False)
    if done.returncode != 0:
        raise mount_error(done.stderr.decode("utf-8", "replace").strip() or f"tfilefs ended with {done.returncode}")


def _option(name: str, value: object) -> str:
    text = str(value).replace(",", "\\,")
    return name if value is True else f"{name}={text}"


def is_remote(source: str) -> bool:
    """Whether it is a URL."""
    return re.match(r"[a-z][a-z0-9+.-]*://", source) is not None


def _source(source: str | os.PathLike[str]) -> str:
    """`~` is the home directory; of a URL nothing is."""
    text = os.fspath(source)
    return os.path.expanduser(text) if text.startswith("~") else text


def _sources(source: Source | Iterable[Source]) -> list[str]:
    if isinstance(source, (bytes, Mapping)):
        raise TypeError(f"{source!r} is no path, and no list of paths")
    sources = [_source(each) for each in ([source] if isinstance(source, (str, os.PathLike)) else source)]
    if not sources:
        raise ValueError("there is no path in the list")
    if not all(sources):  # else of a daemon, which has whole paths, the working directory
        raise no_such_file("'': no such file or directory")
    return sources


def _refuse_tables(sources: list[str], options: list[str]) -> None:
    """As uproot.open takes them: what is mounted is whole, but of a chain."""
    if any(word.partition("=")[0] == "chain" for option in options for word in option.split(",")):
        return
    for source in sources:
        path, _, table = source.rpartition(":")
        if table and os.path.isfile(path) and not os.path.lexists(source):
            raise no_such_file(f"{source}: there is no such file, and all of {path} is opened: take [{table!r}] of what that gives")


def _options(options: Iterable[str], named: dict[str, object]) -> list[str]:
    return [*options, *(_option(name, value) for name, value in named.items() if value is not False and value is not None)]


@overload
def mount(source: Source | Iterable[Source], *options: str, fallback: Literal[False] = ..., **named: object) -> Mount: ...
@overload
def mount(source: Source | Iterable[Source], *options: str, fallback: bool, **named: object) -> Mount | Opened: ...
def mount(source: Source | Iterable[Source], *options: str, fallback: bool = False, **named: object) -> Mount | Opened:
    """Mounts a ROOT file, a directory with ROOT files, or the URL of a ROOT file; with "chain" several, as one table.

    Options are those of `tfilefs -o`: mount(path, "rw", memory="1G", allow_other=True). Best used in a with statement.
    Without it, the mount goes with the last reference to it, with close(), or with the process.

    `fallback`: where nothing can be mounted, what open() gives is returned, to be read from Python alone.

    MountError, if it cannot be mounted; which is a FileNotFoundError or a PermissionError where it is that."""
    sources, given = _sources(source), _options(options, named)
    _refuse_tables(sources, given)
    try:
        return Mount(sources, given)
    except MountError as error:
        if not fallback or _is_writable(given) or isinstance(error, FileNotFoundError):
            raise
        return Opened(sources, given, True)


def open(source: Source | Iterable[Source], *options: str, share: bool = True, **named: object) -> Opened:
    """What mount() gives to be read, where nothing can be mounted: in containers, on batch nodes. It needs no FUSE and no rights.

    A daemon reads the files; columns come into memory whole, or those entries of them that are asked for. All processes of this
    user on this machine that open the same, with the same options, credentials and rights, have one daemon, and what it
    decodes is decoded once for all. With share=False, this process and its forks have one for themselves. Other programs do
    not see the files: `path` is a MountError. Arguments and errors are those of mount(), without "rw"."""
    sources, given = _sources(source), _options(options, named)
    _refuse_tables(sources, given)
    return Opened(sources, given, share)


def create(path: Source, *options: str, **named: object) -> Mount:
    """Mounts a new ROOT file to be written: with tfilefs.create("out.root") as f: f["Events"] = {"x": array}.

    Options are those of `tfilefs -o`, as compression="zstd:5", format="rntuple". What was written is committed when the block
    ends, and what cannot be is a MountError there; if the block ends with an error, it is dropped, and there is no file.
    FileExistsError, if there is such a file: mount(path, "rw") adds to it."""
    name = _source(path)
    if os.path.lexists(name):
        raise FileExistsError(errno.EEXIST, "it is there already; mount(path, 'rw') adds to it", name)
    made = Mount([_as_made(name)], ["rw", *_options(options, named)])
    made.source = name
    return made


def _as_made(name: str) -> str:
    """The name of a file that the program makes: signs of patterns stand for themselves."""
    return re.sub(r"[\\*?\[{},]", r"\\\g<0>", name)


def _is_writable(options: Iterable[str]) -> bool:
    return any(word in ("rw", "writable") for option in options for word in option.split(","))


def _unmount(path: str, *ways: tuple[str, ...]) -> None:
    """By the first of the ways that works. The error of the last one."""
    for way in ways:
        try:
            return _run("umount", *way, path)
        except MountError:
            if way == ways[-1]:
                raise


def _end(path: str, lifeline: int, owner: int, is_writable: bool, dropping: list[bool]) -> None:
    if os.getpid() != owner:
        return  # of a fork: the mount belongs to its parent
    try:
        if os.path.ismount(path):
            if not is_writable:  # arrays that are mapped keep the daemon, but nobody waits for them
                _unmount(path, ("--lazy",))
            elif dropping:  # an error is on its way, which a shell that uses the mount is not to hide
                _unmount(path, ("--discard",), ("--discard", "--lazy"), ("--lazy",))
            else:
                _unmount(path, ())
    finally:
        os.close(lifeline)
        with contextlib.suppress(OSError):
            os.rmdir(path)


class Mount(Directory):
    """What is mounted, as a mapping of names to directories, tables and objects. `path`: where other programs find it.
    `source`: what was mounted. `is_mappable`: whether its files may be mapped without being asked for."""

    def __init__(self, sources: list[str], options: list[str]) -> None:
        import tempfile

        is_writable = _is_writable(options)
        given = [word.partition("=")[0] for option in options for word in option.split(",")]
        if is_writable and "commit" not in given:
            options = [*options, f"commit={_NEVER}"]
        path = os.path.realpath(tempfile.mkdtemp(prefix="tfilefs-"))
        # The program holds the reading end. When this process ends, however it ends, the kernel closes the other one.
        reading, writing = os.pipe()
        try:
            arguments = [word for option in (*options, f"lifeline={reading}") for word in ("-o", option)]
            _run(*arguments, "--", *sources, path, descriptors=(reading,))
        except BaseException:
            os.close(writing)
            with contextlib.suppress(OSError):
                os.rmdir(path)
            raise
        finally:
            os.close(reading)
        super().__init__(MountedPlace(path), "")
        self.source = ", ".join(sources)
        self.is_mappable = not is_writable and not any(map(is_remote, sources))
        self._dropping: list[bool] = []  # not empty: what is not committed is dropped
        self._finalizer = weakref.finalize(self, _end, path, writing, os.getpid(), is_writable, self._dropping)

    def commit(self) -> None:
        """Commits what was written: it is in the file, and can be read here. MountError says what cannot be."""
        _run("commit", self.path)

    def close(self) -> None:
        """Commits what was written, and unmounts. Arrays that were read stay."""
        self._finalizer()

    def discard(self) -> None:
        """Drops what was written and not committed, and unmounts: the file is as the last commit left it, or not there."""
        self._dropping.append(True)
        self.close()

    def __enter__(self) -> Mount:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Commits what was written; if the block has ended with an error, drops it."""
        if kind is None:
            self.close()
        else:
            self.discard()

    def __repr__(self) -> str:
        return f"<tfilefs.Mount of {self.source} on {self.path}>"


class Opened(Directory):
    """What open() gives: the same mapping as a Mount, read by a daemon. `source`: what was opened.
    `is_mappable`: what is read whole is mapped from memory, and cannot be changed. Pickled, it is opened again."""

    def __init__(self, sources: Iterable[str], options: Iterable[str], is_shared: bool, directory: str | None = None) -> None:
        self._wanted = Wanted(os.path.abspath(program()), tuple(sources), tuple(options), directory or os.getcwd(), is_shared)
        self._server = Server(self._wanted)
        super().__init__(ServedPlace(self._server), "")
        self.source = self._server.source
        self.is_mappable = True

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._server.is_open:
            raise MountError(self._place.gone())
        wanted = self._wanted
        return Opened, (wanted.sources, wanted.options, wanted.is_shared, wanted.directory)

    def close(self) -> None:
        """Leaves the daemon, which ends if no other process uses it. Arrays that were read stay."""
        self._server.close()

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tfilefs.Opened {self.source}>"
