# SPDX-License-Identifier: Apache-2.0
"""Tables of columns of every kind that grow in a mount, by pieces of any size in any order, while they are committed by
timer, by hand and by another process' fsync, while other programs write the file, and while the daemon is killed.

Columns are functions of their place (column_streams.py), so what a file may hold at any time is a prefix of its stream;
what the ROOT file holds is a number of entries, all of whose bytes had been written.
"""

import contextlib
import errno
import json
import mmap
import multiprocessing
import os
import random
import shutil
import subprocess
import threading
import time

import uproot

import column_streams
import foreign_appender
import mounted

DEADLINE = 60  # seconds in which every call is to be answered
FILE = "out.root"


def random_options(chance, timer=None):
    """`timer`: the commit= of all mounts."""
    options = ["rw", "commit=" + (timer or chance.choice(["0", "1", "5", "86400"]))]
    options += ["compression=" + chance.choice(["none", "zlib:1", "zstd"])]
    options += chance.choice([[], ["memory=8M"], ["memory=64M"]])
    return tuple(options + chance.choice([[], [], ["autoflush=16K"]]))


class Watch:
    """Kills the daemon when a call does not come back: whoever waits then gets an error, and is told why."""

    def __init__(self):
        self.process, self.hung, self._since = None, False, None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def call(self):
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None

    def _run(self):
        while not self._ended.wait(1):
            since = self._since
            if since is not None and time.monotonic() > since + DEADLINE and self.process is not None:
                self.hung = True
                self.process.kill()

    def close(self):
        self._ended.set()
        self._thread.join()


class Helper:
    """Another process: it fsyncs directories, without being waited for, and reads through mappings."""

    def __init__(self):
        self._pipe, other = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=self._serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._waiting = 0

    def start(self, *request):
        self._pipe.send(request)
        self._waiting += 1

    def answers(self):
        """Of all that was started."""
        answers = []
        while self._waiting:
            if not self._pipe.poll(DEADLINE):
                raise TimeoutError("another process' call hangs")
            answers.append(self._pipe.recv())
            self._waiting -= 1
        return answers

    def close(self):
        self._pipe.close()
        self._process.kill()
        self._process.join()

    @staticmethod
    def _serve(pipe):
        while True:
            try:
                action, path = pipe.recv()
                try:
                    pipe.send({"sync": sync_directory, "map": read_mapped}[action](path))
                except OSError as error:
                    pipe.send(error)
            except (EOFError, OSError):
                return


def sync_directory(path):
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def read_mapped(path):
    while True:
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    return b""
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
                    return memory[:]
        except OSError as error:
            # What was opened gave way to the state of a commit. mmap() of Python maps nothing where fstat says so.
            if error.errno not in (errno.ESTALE, errno.EINVAL):
                raise


class Table:
    """What was done to one table, and what is known to be committed of it."""

    def __init__(self, path, columns, goal):
        self.path, self.columns, self.goal = path, columns, goal
        self.former = []  # names that it may still have in the file
        self.target = 0  # entries that files grow to
        self.written = {}  # path below the table -> bytes; a file that was not made yet is not in it
        self.synced = {}  # of these, what fsync returned for
        self.longest = {}  # of these, what a crash may bring back, for nobody synced that it became shorter
        self.floor, self.floor_branches = 0, set()  # what the file must have at least
        self.removed = set()  # branches that may still be there
        self.marked = False  # by .table: it is one before it has columns

    def files(self):
        return [(column, path) for column in self.columns for path in column.files]

    def stream(self, path):
        return next(column.files[path] for column in self.columns if path in column.files)

    def begun(self):
        return [column for column in self.columns if any(path in self.written for path in column.files)]

    def is_whole(self):
        entries = {column.complete(self.written) for column in self.begun()}
        return len(entries) <= 1 and all(column.is_whole(self.written) for column in self.begun())

    def entries(self):
        return min((column.complete(self.written) for column in self.begun()), default=0)

    def behind(self):
        """Files that lack bytes of the target."""
        found = []
        for column in self.columns:
            found += [path for path, size in column.sizes(self.target).items() if self.written.get(path, -1) < size]
        return found

    def committed_at_least(self, entries):
        """With all that was done to it."""
        self.former = []
        self.floor = max(self.floor, entries)
        self.floor_branches |= {column.branch for column in self.begun()}


class Model:
    """One file in one directory, from its first table to its end; `close` in any case."""

    def __init__(self, directory, seed, root=None, timer=None):
        self._source = directory
        self._random = random.Random(seed)
        self._root, self._timer = root, timer
        self._watch, self._helper = Watch(), Helper()
        self._mount = None
        self.tables, self._retired, self._count = [], {}, 0
        self._known = set()  # keys that the file may have
        self._foreign = {}  # tree -> (columns, entries) that another program wrote
        self._readers, self._writers = [], []  # (table, path, descriptor, size)
        self._over = False
        self.done = self.commits = self.kills = self.checks = 0
        self.history = []
        self._new_mount()
        self._new_table()

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
            os.lseek(descriptor, there, os.SEEK_SET)  # it may be truncated since
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
            if data is None:  # a commit lay between
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

    # Bytes that are there already.

    def _limits(self, table, path):
        """Bytes of a file that are committed, and bytes that may be."""
        column = next(column for column in table.columns if path in column.files)
        least = column.size(path, table.floor) if column.branch in table.floor_branches and table.floor else 0
        return least, min(table.written[path], column.size(path, column.complete(table.written)))

    def _overwrite(self, table):
        """With the same bytes: with others a commit in between would be right as well."""
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

    # Commits.

    def _commit_by_hand(self, whole_file):
        self._helper_done()
        table = self._random.choice(self.tables)
        if self._random.random() < 0.7:
            self._close_handles()
        held = {id(one) for one, _, _ in self._writers}
        tables = self.tables if whole_file else [table]
        whole = all(one.is_whole() and id(one) not in held for one in tables)
        self._note("commit", "file" if whole_file else table.path, whole)
        status, said = self._command("commit", self._top if whole_file else self._path(table))
        assert not self._watch.hung
        if whole:
            assert status == 0, f"what is whole is not committed: {said}{self._errors()}"
            for one in tables:
                one.committed_at_least(one.entries())
        else:
            assert status != 0, f"commit says 0, though not all is whole: {self.shape(tables)}"
        self.commits += 1
        self._check(tables if self._random.random() < 0.8 else self.tables)
        return whole

    def shape(self, tables):
        return [(table.path, {column.branch: column.complete(table.written) for column in table.begun()}, table.written) for table in tables]

    def _sync_directory(self, wait):
        table = self._random.choice(self.tables)
        path = self._random.choice([self._path(table), os.path.dirname(self._path(table)), self._top, self._mount.path])
        self._note("fsync directory", path, wait)
        held = {id(one) for one, _, _ in self._writers}
        self._helper.start("sync", path)
        if not wait:
            return
        self._helper_done()
        self.commits += 1
        if table.is_whole() and id(table) not in held:
            table.committed_at_least(table.entries())
        self._check([table])

    def _helper_done(self):
        for answer in self._helper.answers():
            assert answer is None, f"fsync of a directory: {answer}: {self._errors()}"

    # What the ROOT file holds.

    def _check(self, tables):
        """That uproot finds what must and what may be there. Commits of a timer may lie between, so twice."""
        self.checks += 1
        path = os.path.join(self._source, FILE)
        if not os.path.exists(path):
            lacking = [table.path for table in tables if table.floor]
            assert not lacking, f"{FILE} is not there, though {lacking} are committed"
            return
        with uproot.open(path) as file:
            keys = {key.split(";")[0]: kind for key, kind in file.classnames(recursive=True).items()}
            for key, kind in keys.items():
                assert kind == "TDirectory" or key in self._known, f"{key} is a {kind}"
            for table in tables:
                path = next((name for name in (table.path, *table.former) if keys.get(name) == "TTree"), None)
                if path:
                    self._check_tree(table, file[path])
                else:
                    assert not table.floor, f"{table.path} is not there but {table.floor} entries of it are committed"
            for name, (columns, entries) in self._foreign.items():
                assert name in keys, f"what another program wrote is gone: {name}"
                self._check_foreign(name, file[name], columns, entries)

    def _check_tree(self, table, tree):
        entries = tree.num_entries
        columns = {column.branch: column for column in table.columns}
        found = {branch.name: branch for branch in tree.branches}
        unknown = found.keys() - columns.keys() - table.removed
        assert not unknown, f"{table.path} has branches {unknown}"
        lacking = table.floor_branches - found.keys()
        assert not lacking, f"{table.path} lacks branches {lacking}"
        assert entries >= table.floor, f"{table.path} has {entries} entries, {table.floor} were committed"
        first = 0 if self._random.random() < 0.1 else max(0, table.floor - 3)
        for name in found.keys() & columns.keys():
            column, branch = columns[name], found[name]
            most = column.complete(table.written)
            assert entries <= most, f"{table.path}/{name}: {entries} entries in the file, {most} were written: {table.written}"
            assert branch.num_entries == entries, f"{table.path}/{name}: {branch.num_entries} of {entries} entries"
            wrong = column.difference(branch.array(entry_start=first, library="ak"), first, entries)
            assert not wrong, f"{table.path}/{name}: wrong in the file: {wrong}; written: {table.written}"
        table.floor = max(table.floor, entries)
        table.floor_branches |= found.keys() & columns.keys()

    @staticmethod
    def _check_foreign(name, tree, columns, entries):
        assert tree.num_entries == entries, f"{name} of another program has {tree.num_entries} entries, not {entries}"
        for column in columns:
            wrong = column.difference(tree[column.branch].array(library="ak"), 0, entries)
            assert not wrong, f"{name} of another program: {wrong}"

    # Names.

    def _retire(self, table):
        self._finish(table)
        self._close_handles()
        status, said = self._command("commit", self._path(table))
        assert status == 0, f"what is whole is not committed: {said}{self._errors()}"
        table.committed_at_least(table.entries())
        self.tables.remove(table)
        if self._random.random() < self.REMOVED:
            self._helper_done()
            self._note("remove", table.path)
            self._do(shutil.rmtree, self._path(table))
        else:
            self._retired[table.path] = table
        self._new_table()

    def _finish(self, table):
        """All files grow to where the longest is; then the table is whole."""
        while any(table.written.get(path, 0) > column.size(path, table.target) for column, path in table.files()):
            table.target += 1
        while behind := table.behind():
            path = self._random.choice(behind)
            column = next(column for column in table.columns if path in column.files)
            self._append(table, path, column.size(path, table.target) - table.written.get(path, 0))
        self._close_handles(writers_of=table)
        assert table.is_whole()

    def _rename(self, table):
        self._helper_done()  # which knows it by its name
        self._close_handles()
        other = table.path[:-3] + f"{self._count + 500:03}"
        self._count += 1
        self._note("rename", table.path, other)
        self._do(os.rename, self._path(table), os.path.join(self._top, other))
        table.former.append(table.path)
        table.path = other
        self._known.add(other)

    def _new_column(self, table):
        used = max(int(column.branch.lstrip("nc").split("_")[0]) for column in table.columns) + len(table.removed)
        columns = column_streams.random_columns(self._random, 1, used + 20)
        self._note("new column", table.path, [sorted(column.files) for column in columns])
        table.columns += columns

    def _remove_column(self, table):
        plain = [column for column in table.columns if not column.branch.startswith("n") and "_" not in column.branch]
        plain = [column for column in plain if column in table.begun()]
        if not plain or len(table.begun()) < 2:
            return
        self._close_handles()
        column = self._random.choice(plain)
        self._note("remove column", table.path, column.branch)
        for path in column.files:
            self._do(self._remove, self._path(table, path.split("/")[0]))
            if "/" in path:
                break
        table.columns.remove(column)
        table.removed.add(column.branch)
        table.floor_branches.discard(column.branch)
        for path in column.files:
            table.written.pop(path, None), table.synced.pop(path, None)

    @staticmethod
    def _remove(path):
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    # The mount ends, well or not.

    def _kill(self):
        self._note("kill")
        self.kills += 1
        if self._random.random() < 0.5:  # with a commit under way
            self._helper.start("sync", self._top)
            time.sleep(self._random.random() * 0.02)
        self._mount.process.kill()
        self._mount.process.wait()
        self._helper.answers()
        self._close_handles(check=False)
        self._mount.close()
        while self._random.random() < 0.4:
            self._kill_replay()
        self._new_mount()
        self._see_what_is_left()

    def _kill_replay(self):
        """A mount that ends as soon as it has begun."""
        self.kills += 1
        place = os.path.join(self._source, os.pardir, "killed-mount")
        os.makedirs(place, exist_ok=True)
        process = subprocess.Popen(
            [mounted.program(), "-f", "-o", "rw,commit=0", self._source, place], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(self._random.random() * 0.15)
        process.kill()
        process.wait()
        subprocess.run(["fusermount3", "-u", "-z", place], capture_output=True)

    def _see_what_is_left(self):
        """Of each file what was promised, and nothing that was not written."""
        for table in self.tables:
            left = {path: self._size_left(table, path) for path in table.written}
            table.written = {path: size for path, size in left.items() if size is not None}
            table.synced, table.longest = dict(table.written), {}
            self._do(lambda path: os.makedirs(path, exist_ok=True), self._path(table))
        self._check(self.tables)

    def _size_left(self, table, path):
        column = next(column for column in table.columns if path in column.files)
        promised = max(table.synced.get(path, 0), self._limits(table, path)[0])
        try:
            with self._watch.call(), open(self._path(table, path), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            assert promised == 0, f"{table.path}/{path} is not there: {promised} bytes of it were promised: {self._errors()}"
            return None
        assert promised <= len(data), f"{table.path}/{path} has {len(data)} bytes, {promised} were promised: {self._errors()}"
        most = max(table.written[path], table.longest.get(path, 0))
        assert len(data) <= most, f"{table.path}/{path} has {len(data)} bytes, {most} were written"
        self._same(table, path, 0, len(data), data)
        return len(data)

    def _unmount(self):
        """Gives whether all was whole, and thus committed."""
        self._helper_done()
        self._close_handles()
        for table in self.tables:
            if not table.marked and not table.written and not table.floor:  # it would be a directory from then on
                self._do(os.rmdir, self._path(table))
        whole = all(table.is_whole() for table in self.tables)
        self._note("umount", whole)
        status, said = self._command("umount", self._mount.path)
        assert not mounted.is_mount_point(self._mount.path), said
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._mount.process.wait(DEADLINE)
        ended = self._mount.close()
        self._mount, messages = None, self._mount.messages()
        assert ended == 0, f"the daemon ended with {ended}: {messages}"
        assert (status == 0) == whole, f"umount ended with {status}, all whole: {whole}: {said} {self.shape(self.tables)}"
        for table in self.tables:
            if table.is_whole():
                table.committed_at_least(table.entries())
        journal = os.path.join(self._source, FILE + ".tfilefs-journal")
        assert os.path.exists(journal) != whole, f"all whole: {whole}, files: {os.listdir(self._source)}"
        self._check([*self.tables, *self._retired.values()])
        return whole

    def _remount(self):
        self._unmount()
        self._new_mount()
        written = {id(table): dict(table.written) for table in self.tables}
        self._see_what_is_left()
        for table in self.tables:
            assert table.written == written[id(table)], f"{table.path}: {table.written} after a new mount, {written[id(table)]} before"

    # Another program, another mount.

    def _finish_all(self):
        for table in self.tables:
            self._finish(table)
        self._helper_done()
        self._close_handles()

    def _write_elsewhere(self, table):
        """Entries that another program adds: to this table, or to a tree of its own."""
        path = os.path.join(self._source, FILE)
        add = self._random.choice([1, 50, 2000])
        if self._root is not None and table is not None:
            self._note("ROOT appends", table.path, table.floor, add)
            columns = [column for column in table.columns if column.branch in table.floor_branches]
            self._root.append(path, table.path, columns, table.floor, table.floor + add)
            return add
        self._count += 1
        name, column = f"f{self._count:03}", column_streams.number("x", "i4", self._count)
        self._known.add(name)
        self._note("foreign tree", name, add)
        if self._root is not None and self._random.random() < 0.5:
            self._root.append(path, name, [column], 0, add)
        else:
            with uproot.update(path) as file:
                file.mktree(name, {"x": "i4"}).extend({"x": column.files["x.i4"].items(0, add)})
        self._foreign[name] = ([column], add)
        return add

    def _foreign_while_idle(self):
        self._finish_all()
        status, said = self._command("commit", self._top)
        assert status == 0, said + self._errors()
        for table in self.tables:
            table.committed_at_least(table.entries())
        if not os.path.exists(os.path.join(self._source, FILE)):
            return
        table = self._random.choice([one for one in self.tables if one.floor] or [None])
        table = table if self._root is not None and self._random.random() < 0.7 else None
        add = self._write_elsewhere(table)
        if table is not None:
            table.target = table.floor + add
            for column in table.begun():
                table.written.update(column.sizes(table.target))
            table.floor = table.target
        for one in self.tables:
            self._read_all(one)
        self._check(self.tables)

    def _foreign_while_staged(self):
        """The commit fails, or has both; whatever it says, all that was written is there."""
        self._finish_all()
        status, said = self._command("commit", self._top)
        tables = [table for table in self.tables if table.begun() and table.entries()]
        if status != 0 or not tables:
            return  # a table without columns: ask again later
        for table in self.tables:
            table.committed_at_least(table.entries())
        table = self._random.choice(tables)
        table.target += 40
        pieces = table.behind()
        self._random.shuffle(pieces)
        rest = pieces[: self._random.randint(1, len(pieces))]  # a timer commits nothing while the other program writes
        for path in pieces[len(rest) :]:
            self._append_all(table, path)
        if len(rest) == len(pieces):
            return
        self._close_handles()
        self._do(sync_files, [self._path(table, path) for path in table.written])
        table.synced = dict(table.written)
        same = self._root is not None and self._random.random() < 0.5
        before = table.floor
        add = self._write_elsewhere(table if same else None)
        for path in rest:
            try:
                self._append_all(table, path)
            except AssertionError as error:  # told by close, of a commit that failed meanwhile
                assert "Stale" in str(error) or "busy" in str(error), error
                table.written[path] = max(table.written.get(path, 0), os.path.getsize(self._path(table, path)))
        status, said = self._command("commit", self._top)
        self._note("commit", status, said)
        foreign = before + add if same else 0
        self._after_foreign(table, foreign, status)
        if status != 0 and self._random.random() < 0.3:
            return self._begin_again(table, before, foreign)
        if self._random.random() < 0.5:
            self._mount.process.kill()
        self._command("umount", self._mount.path)
        self._mount.close()
        self._after_foreign_file(table, foreign)
        self._new_mount()
        self._after_foreign_file(table, foreign)
        self._over = True

    def _begin_again(self, table, before, foreign):
        """As `.tfilefs/errors` says: what is staged is cut off, which a commit sees, and written again."""
        self._close_handles()
        for column in table.begun():
            for path, size in column.sizes(before).items():
                with contextlib.suppress(PermissionError), self._watch.call():  # of what the other program wrote
                    os.truncate(self._path(table, path), size)
        status, said = self._command("commit", self._top)
        assert status == 0, f"what was cut off is still staged: {said}{self._errors()}"
        entries = max(before, foreign)
        for column in table.begun():
            table.written.update(column.sizes(entries))
        table.synced = dict(table.written)
        table.target = max(table.target, entries + 1)
        self._finish_all()
        status, said = self._command("commit", self._top)
        assert status == 0, f"what was written again is not committed: {said}{self._errors()}"
        table.committed_at_least(table.entries())
        self._check(self.tables)

    def _append_all(self, table, path):
        column = next(column for column in table.columns if path in column.files)
        self._write(table, path, column.size(path, table.target) - table.written.get(path, 0), "append")

    def _after_foreign(self, table, foreign, status):
        for path, size in table.written.items():
            with self._watch.call(), open(self._path(table, path), "rb") as file:
                data = file.read()
            assert len(data) >= size, f"{path}: {len(data)} bytes, {size} were written before another program wrote"
            self._same(table, path, 0, len(data), data)
        self._after_foreign_file(table, foreign)
        if status == 0 and foreign:
            raise AssertionError("commit says 0, though another program added entries to the table")

    def _after_foreign_file(self, table, foreign):
        """`foreign`: as many entries the other program left in the table."""
        if foreign:
            table.written.update({p: max(s, table.written.get(p, 0)) for c in table.begun() for p, s in c.sizes(foreign).items()})
            table.floor = max(table.floor, foreign)
        self._check(self.tables)

    def _second_mount(self):
        """It may not change the file while something is staged in the first."""
        self._helper_done()
        staged = [t for t in self.tables if not t.is_whole() and any(size for size in t.synced.values())]
        if not staged or not os.path.exists(os.path.join(self._source, FILE + ".tfilefs-journal")):
            return
        table = staged[0]
        self._note("second mount", table.path)
        with mounted.Mounted(self._source, ("rw",)) as other, self._watch.call():
            top = os.path.join(other.path, FILE)
            tries = [lambda: os.mkdir(os.path.join(top, "intruder"))]
            if os.path.exists(os.path.join(self._source, FILE)):
                tries += [lambda: os.rename(top, os.path.join(other.path, "moved.root")), lambda: os.unlink(top)]
                tries += [lambda: os.rmdir(top), lambda: self._touch(os.path.join(top, "intruder.i4"))]
                tries += [lambda: shutil.rmtree(top)]
                if table.floor:
                    tries += [lambda: shutil.rmtree(os.path.join(top, table.path))]
                    tries += [lambda: os.rename(os.path.join(top, table.path), os.path.join(top, table.path + "m"))]
            attempt = self._random.choice(tries)
            with contextlib.suppress(OSError):
                attempt()
                raise AssertionError(f"a second mount changes the file ({tries.index(attempt)}) of {len(tries)}")
        for one in self.tables:
            self._read_all(one)
        self._check(self.tables)

    # A run.

    WEIGHTS = {
        "grow": 100, "read": 40, "read_held": 15, "close": 8, "overwrite": 5, "truncate": 3, "pause": 0.02,
        "sync_wait": 1, "sync_no_wait": 2, "commit_table": 0.8, "commit_file": 0.4, "rename": 0.2, "new_column": 0.3,
        "remove_column": 0.2, "kill": 0.12, "remount": 0.12, "idle": 0.06, "staged": 0.03, "second": 0.1, "table": 0.1,
    }

    REMOVED = 0.5  # of tables that grew to their end
    IN_A_FOLDER = 0.3

    def step(self):
        self.done += 1
        table = self._random.choice(self.tables)
        action = self._random.choices(list(self.WEIGHTS), self.WEIGHTS.values())[0]
        if action == "close":
            return self._close_handles(writers_of=table)
        if action == "pause":
            return time.sleep(1.3)
        if action == "table":
            return self._new_table() if len(self.tables) < 2 else None
        simple = {
            "read_held": self._read_held, "kill": self._kill, "remount": self._remount, "idle": self._foreign_while_idle,
            "staged": self._foreign_while_staged, "second": self._second_mount,
            "sync_wait": lambda: self._sync_directory(True), "sync_no_wait": lambda: self._sync_directory(False),
            "commit_table": lambda: self._commit_by_hand(False), "commit_file": lambda: self._commit_by_hand(True),
        }
        if action in simple:
            return simple[action]()
        {
            "grow": self._grow, "read": self._read, "overwrite": self._overwrite, "truncate": self._truncate,
            "rename": self._rename, "new_column": self._new_column, "remove_column": self._remove_column,
        }[action](table)

    def run(self, operations):
        for _ in range(operations):
            self.step()
            if self._over:
                return
        if self._random.random() < 0.5:
            self._finish_all()
        self._unmount()


def read_unless_stale(descriptor, size, offset):
    """None where what was opened gave way to the state of a later commit: ESTALE, never a mixture."""
    try:
        return os.pread(descriptor, size, offset)
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
        return None


def sync_files(paths):
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())


def run(directory, seed, operations, root=None, timer=None):
    """One file from its first table to its end; gives its Model. Raises where something differs, and says what was done."""
    source = os.path.join(directory, "source")
    os.makedirs(source)
    model = Model(source, seed, root, timer)
    try:
        model.run(operations)
        return model
    except BaseException:
        print(f"seed {seed}, operation {model.done}; the last ones:")
        for entry in model.history[-60:]:
            print("  ", repr(entry)[:220])
        raise
    finally:
        model.close()
