# SPDX-License-Identifier: Apache-2.0
"""A mount with one file whose tables grow: writes of any size in any order, and reads that must find the data."""

import contextlib
import errno
import os
import random
import subprocess

import column_streams
import mounted
from growing_table import Table
from other_process import OtherProcess
from watched_calls import DEADLINE, Watch

FILE = "out.root"


def random_options(chance, timer=None):
    """`timer`: the commit= option of all mounts."""
    options = ["rw", "commit=" + (timer or chance.choice(["0", "1", "5", "86400"]))]
    options += ["compression=" + chance.choice(["none", "zlib:1", "zstd"])]
    options += chance.choice([[], ["memory=8M"], ["memory=64M"]])
    return tuple(options + chance.choice([[], [], ["autoflush=16K"]]))


class GrowingFiles:
    """One file in one directory; call `close` in any case."""

    def __init__(self, directory, seed, root=None, timer=None):
        self._source = directory
        self._random = random.Random(seed)
        self._root, self._timer = root, timer
        self._watch, self._helper = Watch(), OtherProcess()
        self._mount = None
        self.tables, self._retired, self._count = [], {}, 0
        self._known = set()  # keys that the file may have
        self._removed = set()  # of these, keys that must be gone once everything is committed
        self._foreign = {}  # tree -> (columns, entries) written by another program
        self._readers, self._writers = [], []  # (table, path, descriptor, size)
        self._over = False
        self.done = self.commits = self.kills = self.checks = 0
        self.history = []
        self._new_mount()
        self._new_table()

    IN_A_FOLDER = 0.3  # fraction of the tables

    # The mount.

    def _new_mount(self):
        options = random_options(self._random, self._timer)
        self._note("mount", *options)
        self._mount = mounted.Mounted(self._source, options)
        self._watch.process = self._mount.process
        self._top = os.path.join(self._mount.path, FILE)
        with self._watch.call():
            if not os.path.exists(self._top):
                os.mkdir(self._top)

    def close(self):
        self._close_handles(check=False)
        self._helper.close()
        self._watch.close()
        if self._mount:
            self._mount.close()

    def _note(self, *what):
        self.history.append((self.done, *what))
        if len(self.history) > 4000:
            del self.history[:2000]

    def _do(self, function, *arguments):
        with self._watch.call():
            try:
                return function(*arguments)
            except OSError as error:
                assert not self._watch.hung, f"no answer in {DEADLINE} s: {arguments}"
                raise AssertionError(f"{function.__name__}{arguments!r:.200}: {error}; errors: {self._errors()}") from error

    def _errors(self):
        try:
            return self._mount.errors()
        except OSError as error:
            return str(error)

    def _command(self, name, path):
        result = subprocess.run([mounted.program(), name, path], capture_output=True, text=True, timeout=DEADLINE)
        return result.returncode, result.stdout + result.stderr

    # Tables and their files.

    def _new_table(self):
        self._count += 1
        path = f"t{self._count:03}"
        if self._random.random() < self.IN_A_FOLDER:
            path = "folder/" + path
        columns = column_streams.random_columns(self._random, self._random.choice([1, 2, 3, 5]))
        table = Table(path, columns, self._random.choice([100, 1000, 5000]))
        self._note("table", path, [sorted(column.files) for column in columns])
        self._known.add(path)
        self._do(os.makedirs, self._path(table))
        if self._random.random() < 0.3:
            self._do(self._touch, self._path(table, ".table"))
            table.marked = True
        self.tables.append(table)

    @staticmethod
    def _touch(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))

    def _path(self, table, path=""):
        return os.path.join(self._top, table.path, path) if path else os.path.join(self._top, table.path)

    def _grow(self, table):
        behind = table.behind()
        if not behind:
            if table.target < table.goal or self._random.random() < 0.5:
                table.target += self._random.choice([1, 2, 10, 100, 700])
            return self._retire(table) if table.target > table.goal else None
        path = self._random.choice(behind)
        column = next(column for column in table.columns if path in column.files)
        there = table.written.get(path, 0)
        missing = column.size(path, table.target) - there
        how = self._random.random()
        if how < 0.25 and missing > 1:
            missing = self._random.randint(1, missing)
        elif how < 0.35:
            table.target += self._random.choice([1, 5, 200])
            missing = column.size(path, table.target) - there
        self._append(table, path, missing)

    def _append(self, table, path, size):
        self._write(table, path, size, self._random.choices(["append", "hold", "sync"], [8, 1, 2])[0])

    def _write(self, table, path, size, how):
        there = table.written.get(path, 0)
        data = table.stream(path).bytes(there, there + size)
        self._note("write", how, table.path, path, there, len(data))
        if how == "hold" and len(self._writers) < 3:
            self._close_handles(writers_of=table)
            descriptor = self._open_to_write(table, path, there)
            self._do(self._write_all, descriptor, data)
            self._writers.append((table, path, descriptor))
        else:
            descriptor = next((d for t, p, d in self._writers if t is table and p == path), None)
            held = descriptor is not None
            descriptor = descriptor if held else self._open_to_write(table, path, there)
            os.lseek(descriptor, there, os.SEEK_SET)  # it may have been truncated in the meantime
            self._do(self._write_all, descriptor, data)
            if how == "sync":
                self._do(os.fsync, descriptor)
                table.synced[path] = there + size
            if not held:
                self._do(os.close, descriptor)
        table.written[path] = there + size

    def _open_to_write(self, table, path, there):
        full = self._path(table, path)
        self._do(lambda directory: os.makedirs(directory, exist_ok=True), os.path.dirname(full))
        appends = self._random.random() < 0.7
        descriptor = self._do(os.open, full, os.O_RDWR | os.O_CREAT | (os.O_APPEND if appends else 0), 0o644)
        if not appends:
            os.lseek(descriptor, there, os.SEEK_SET)
        return descriptor

    @staticmethod
    def _write_all(descriptor, data):
        while data:
            data = data[os.write(descriptor, data) :]

    def _close_handles(self, writers_of=None, check=True):
        if writers_of is None:
            for _, _, descriptor, _ in self._readers:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
            self._readers = []
        for table, path, descriptor in list(self._writers):
            if writers_of in (None, table):
                self._writers.remove((table, path, descriptor))
                if check:
                    self._do(os.close, descriptor)
                else:
                    with contextlib.suppress(OSError):
                        os.close(descriptor)

    # Reads.

    def _read(self, table):
        if not table.written:
            return
        path = self._random.choice(sorted(table.written))
        size = table.written[path]
        how = self._random.choice(["read", "read", "hold", "map", "stat"])
        if how == "stat":
            found = self._do(os.stat, self._path(table, path)).st_size
            assert found == size, f"{table.path}/{path} has {found} bytes, {size} were written"
        elif how == "map":
            self._helper.answers()
            self._helper.start("map", self._path(table, path))
            [data] = self._helper.answers()
            assert not isinstance(data, OSError), f"{path}: {data}"
            self._same(table, path, 0, size, data)
        else:
            descriptor = self._do(os.open, self._path(table, path), os.O_RDONLY)
            begin = self._random.randint(0, size)
            wanted = min(size - begin, self._random.choice([1, 100, 5000, 1 << 20]))
            data = self._do(read_unless_stale, descriptor, wanted + 10, begin)
            if data is None:  # there was a commit in between
                return os.close(descriptor)
            self._same(table, path, begin, min(size, begin + wanted + 10), data)
            if how == "hold" and len(self._readers) < 6:
                self._readers.append((table, path, descriptor, size))
            else:
                os.close(descriptor)

    def _read_held(self):
        if self._readers:
            table, path, descriptor, size = self._random.choice(self._readers)
            size = min(size, table.written[path])
            begin = self._random.randint(0, size)
            wanted = min(size - begin, self._random.choice([100, 5000]))
            data = self._do(read_unless_stale, descriptor, wanted, begin)
            if data is not None:
                self._same(table, path, begin, begin + wanted, data)

    @staticmethod
    def _same(table, path, begin, end, data):
        stream = table.stream(path)
        wanted = stream.bytes(begin, end)
        if data == wanted:
            return
        at = next((i for i, (a, b) in enumerate(zip(data, wanted)) if a != b), min(len(data), len(wanted)))
        raise AssertionError(
            f"{table.path}/{path}: {len(data)} bytes from {begin}, not {len(wanted)}; other from byte {begin + at} on "
            f"(item {(begin + at) // stream.width}): {data[at : at + 8].hex()}, not {wanted[at : at + 8].hex()}"
        )

    def _read_all(self, table):
        for path, size in table.written.items():
            with self._watch.call(), open(self._path(table, path), "rb") as file:
                self._same(table, path, 0, size, file.read())

    # Existing bytes.

    def _limits(self, table, path):
        """The number of bytes of a file that are committed, and the number that may be."""
        column = next(column for column in table.columns if path in column.files)
        least = column.size(path, table.floor) if column.branch in table.floor_branches and table.floor else 0
        return least, min(table.written[path], column.size(path, column.complete(table.written)))

    def _overwrite(self, table):
        """Writes the same bytes: with others, a commit in between would also be right."""
        paths = [path for path, size in table.written.items() if size]
        if not paths:
            return
        path = self._random.choice(sorted(paths))
        size = table.written[path]
        least, most = self._limits(table, path)
        begin = self._random.choice([self._random.randrange(size), min(most, size - 1), max(0, size - 5)])
        data = table.stream(path).bytes(begin, min(size, begin + self._random.choice([1, 8, 3000])))
        self._note("overwrite", table.path, path, begin, len(data))
        self._changes(table, path, begin < least, begin < most, lambda file: os.pwrite(file, data, begin))

    def _truncate(self, table):
        if not table.written:
            return
        path = self._random.choice(sorted(table.written))
        size = table.written[path]
        least, most = self._limits(table, path)
        end = self._random.choice([self._random.randint(0, size), most, size])
        self._note("truncate", table.path, path, end)
        if self._changes(table, path, end < least, end < most, lambda file: os.ftruncate(file, end)):
            table.longest[path] = max(size, table.longest.get(path, 0))
            table.written[path] = end
            if path in table.synced:
                table.synced[path] = min(end, table.synced[path])

    def _changes(self, table, path, refused, may_be_refused, change):
        with self._watch.call():
            file = os.open(self._path(table, path), os.O_WRONLY)
            try:
                change(file)
                assert not refused, f"committed bytes of {path} can be changed"
                return True
            except OSError as error:
                assert may_be_refused and error.errno == errno.EPERM, f"{path}: {error}: {self._errors()}"
                return False
            finally:
                os.close(file)


def read_unless_stale(descriptor, size, offset):
    """The bytes, or None if the state that was opened was replaced by a later commit: ESTALE, never a mixture."""
    try:
        return os.pread(descriptor, size, offset)
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
        return None
