# SPDX-License-Identifier: Apache-2.0
"""Random operations of several processes on a table that is being written, and on a plain directory. The result of each
call, and the content afterwards, must be the same. Commits and new mounts come in between.

The second test has growing tables of columns of every kind, with all options (growing_model.py).

TFILEFS_CRASH=long makes 100,000 operations instead of 5,000, and for tables 2,000,000 instead of 6,000;
TFILEFS_CRASH_SEED repeats a run (tests/campaign.py)."""

import itertools
import mmap
import multiprocessing
import os
import random
import shutil
import subprocess

import pytest
import uproot

import campaign
import foreign_appender
import growing_model
import mounted

ITEM = {"a.f4": 4, "b.i4": 4, "c.f8": 8, "d.i8": 8, "e.u1": 1, "f.i2x3": 6}
OTHER_NAMES = [".a.f4.Kx2q9Z", "part", "b.i4.tmp"]  # of files that are later renamed to columns
PROCESSES = 3
LARGEST = 200_000  # bytes of a file, roughly


class Worker:
    """A process that makes the same call in both directories and returns both results: ("ok", value) or ("error",
    errno)."""

    def __init__(self, roots):
        self._pipe, other = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=self._serve, args=(other, roots), daemon=True)
        self._process.start()

    def do(self, action, *arguments, only=None):
        self._pipe.send((action, arguments, only))
        if not self._pipe.poll(60):
            raise TimeoutError(f"{action}{arguments} hangs")
        return self._pipe.recv()

    def end(self):
        self._pipe.close()
        self._process.kill()
        self._process.join()

    @staticmethod
    def _serve(pipe, roots):
        calls = [Calls(root) for root in roots]
        while True:
            try:
                action, arguments, only = pipe.recv()
            except EOFError:
                return
            results = []
            for number, one in enumerate(calls):
                if only is None or number == only:
                    try:
                        results.append(("ok", getattr(one, action)(*arguments)))
                    except OSError as error:
                        results.append(("error", error.errno))
            pipe.send(results)


class Calls:
    """The calls that an application may make in one directory; open files by number."""

    def __init__(self, root):
        self._root, self._open = root, {}

    def _path(self, name):
        return os.path.join(self._root, name)

    def open(self, number, name, flags):
        self._open[number] = os.open(self._path(name), flags, 0o644)

    def close(self, number):
        os.close(self._open.pop(number))

    def write_at(self, number, offset, data):
        return os.pwrite(self._open[number], data, offset)

    def append(self, name, data):
        file = os.open(self._path(name), os.O_WRONLY | os.O_APPEND)
        try:
            return os.write(file, data)
        finally:
            os.close(file)

    def read_at(self, number, offset, size):
        return os.pread(self._open[number], size, offset)

    def truncate(self, number, size):
        return os.ftruncate(self._open[number], size)

    def size(self, number):
        return os.fstat(self._open[number]).st_size

    def sync(self, number, data_only):
        return os.fdatasync(self._open[number]) if data_only else os.fsync(self._open[number])

    def store(self, name, offset, data):
        """Through a shared mapping, as np.memmap(mode="r+") does."""
        with open(self._path(name), "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            memory[offset : offset + len(data)] = data
            memory.flush()

    def rename(self, name, other):
        return os.rename(self._path(name), self._path(other))

    def unlink(self, name):
        return os.unlink(self._path(name))

    def create(self, name, exclusive):
        flags = os.O_WRONLY | os.O_CREAT | (os.O_EXCL if exclusive else os.O_TRUNC)
        os.close(os.open(self._path(name), flags, 0o644))

    def content(self, name):
        with open(self._path(name), "rb") as file:
            return file.read()

    def names(self):
        return sorted(os.listdir(self._root))


class Model:
    def __init__(self, source, plain, seed):
        self._source, self._plain = source, plain
        self._random = random.Random(seed)
        self._committed = {}  # column -> bytes
        self._dropped = set()  # unlinked since the last commit
        self._entries = 0
        self._handles = {}  # number -> (worker, name or None, may write)
        self._next_handle = 0
        self.done, self.commits, self.mounts = 0, 0, 0
        self.history = []
        self._mount()

    # The mount and the processes.

    def _mount(self):
        self.mounts += 1
        memory = self._random.choice([(), ("memory=8M",), ("memory=64M",)])
        compression = "compression=" + self._random.choice(["none", "zlib:1", "zstd"])
        self._mounted = mounted.Mounted(self._source, ("rw", "commit=86400", compression, *memory))
        self._table = os.path.join(self._mounted.path, "out.root", "Events")
        os.makedirs(self._table, exist_ok=True)
        self._workers = [Worker([self._plain, self._table]) for _ in range(PROCESSES)]

    def close(self):
        for worker in self._workers:
            worker.end()
        self._mounted.close()

    def _remount(self):
        self._close_all()
        if not self._names():  # an empty one becomes a directory when its mount ends, and is then not a table
            self._same(self._workers[0], "create", "a.f4", False)
            self._same(self._workers[0], "append", "a.f4", b"x")
        for worker in self._workers:
            worker.end()
        subprocess.run([mounted.program(), "umount", self._mounted.path], capture_output=True, timeout=60)
        self._mounted.close()
        self._mount()

    # Calls in both directories, compared.

    def _same(self, worker, action, *arguments):
        self.history.append((self._workers.index(worker), action, arguments))
        plain, mount = worker.do(action, *arguments)
        assert mount == plain, f"{action}{short(arguments)}: the mount gives {short(mount)}, a directory {short(plain)}"
        return plain

    def _refused(self, worker, action, *arguments):
        """Committed bytes do not change."""
        self.history.append((self._workers.index(worker), action, arguments, "refused"))
        [result] = worker.do(action, *arguments, only=1)
        assert result == ("error", 1), f"{action}{short(arguments)} on committed bytes gives {short(result)}, not EPERM"

    def compare_all(self):
        worker = self._random.choice(self._workers)
        names = self._same(worker, "names")[1]
        for name in names:
            self._same(worker, "content", name)

    # Operations.

    def _names(self):
        return sorted(set(os.listdir(self._plain)))

    def _size(self, name):
        return os.path.getsize(os.path.join(self._plain, name))

    def _data(self):
        size = self._random.choice([1, 3, 4, 8, 100, 511, 4096, 5000, 40_000])
        return self._random.randbytes(self._random.randint(1, size))

    def _open(self, worker):
        name = self._random.choice(self._names() or ["a.f4"])
        writes = self._random.random() < 0.7
        number = self._next_handle
        self._next_handle += 1
        if self._same(worker, "open", number, name, os.O_RDWR if writes else os.O_RDONLY)[0] == "ok":
            self._handles[number] = (worker, name, writes)
        if len(self._handles) > 10:
            self._close(min(self._handles))

    def _close(self, number):
        worker = self._handles.pop(number)[0]
        self._same(worker, "close", number)

    def _close_all(self):
        for number in list(self._handles):
            self._close(number)

    def _base(self, name):
        return self._committed.get(name, 0)

    def _on_handle(self, action):
        if not self._handles:
            return self._open(self._random.choice(self._workers))
        number = self._random.choice(sorted(self._handles))
        worker, name, writes = self._handles[number]
        size = self._same(worker, "size", number)[1]
        offset = self._random.randint(0, size + self._random.choice([0, 0, 10, 5000]))
        if action == "read_at":
            self._same(worker, action, number, offset, self._random.choice([1, 100, 4096, 70_000]))
        elif action == "sync":
            self._same(worker, action, number, self._random.random() < 0.5)
        elif not writes:
            self._same(worker, "read_at", number, 0, 10)
        elif action == "write_at" and size < LARGEST:
            data = self._data()
            self._write(worker, self._base(name), offset, action, number, offset, data)
        elif action == "truncate":
            self._write(worker, self._base(name), offset, action, number, offset)

    def _write(self, worker, base, offset, *call):
        (self._refused if offset < base else self._same)(worker, *call)

    def _file(self, worker, action):
        """Operations on a name."""
        names = self._names()
        free = [name for name in [*ITEM, *OTHER_NAMES] if name not in self._dropped]
        staged = [name for name in names if name not in self._committed]
        if action == "create":
            name = self._random.choice(free)
            exclusive = self._random.random() < 0.3
            if name in self._committed and not exclusive and self._committed[name]:
                return self._refused(worker, "create", name, False)
            self._same(worker, "create", name, exclusive)
        elif action == "append" and names:
            name = self._random.choice(names)
            if self._size(name) < LARGEST:
                self._same(worker, "append", name, self._data())
        elif action == "store" and staged:
            name = self._random.choice(staged)
            if size := self._size(name):
                offset = self._random.randrange(size)
                self._same(worker, "store", name, offset, self._data()[: size - offset])
        elif action == "rename" and staged:
            name, other = self._random.choice(staged), self._random.choice(free)
            if other not in self._committed:
                self._same(worker, "rename", name, other)
                self._renamed(name, other)
        elif action == "unlink" and names:
            name = self._random.choice(names)
            if name in self._committed and (self._random.random() < 0.8 or len(self._committed) < 3):
                return
            if name in self._committed:  # nothing of it remains that could be written to
                for number in [n for n, (_, known, _) in self._handles.items() if known == name]:
                    self._close(number)
            self._same(worker, "unlink", name)
            self._renamed(name, None)
            if self._committed.pop(name, None) is not None:
                self._dropped.add(name)
        elif action == "missing":
            self._same(worker, "unlink", "g.u4")
            self._same(worker, "append", "g.u4", b"x")

    def _renamed(self, name, other):
        """Open files move with their name; if the name was overwritten or removed, they have none."""
        for number, (worker, known, writes) in list(self._handles.items()):
            if known == other and name != other:
                self._handles[number] = (worker, None, writes)
            elif known == name:
                self._handles[number] = (worker, other, writes)

    def step(self):
        self.done += 1
        if self.done % 500 == 0:
            self.compare_all()
        if self._random.random() < 0.004:
            return self._commit()
        if self._random.random() < 0.001:
            return self._remount()
        action = self._random.choices(
            [
                "open",
                "close",
                "write_at",
                "read_at",
                "truncate",
                "sync",
                "create",
                "append",
                "store",
                "rename",
                "unlink",
                "missing",
            ],
            [8, 5, 30, 20, 5, 2, 5, 15, 5, 4, 2, 1],
        )[0]
        worker = self._random.choice(self._workers)
        if action == "open":
            self._open(worker)
        elif action == "close":
            if self._handles:
                self._close(self._random.choice(sorted(self._handles)))
        elif action in ("write_at", "read_at", "truncate", "sync"):
            self._on_handle(action)
        else:
            self._file(worker, action)

    # A commit: makes all columns equally long, and compares them with what uproot reads.

    def _commit(self):
        self._close_all()
        worker = self._workers[0]
        for name in set(self._names()) - ITEM.keys():
            self._same(worker, "unlink", name)
        names = self._names()
        if not names:
            return
        entries = self._entries + self._random.randint(1, 3000)
        for name in names:
            wanted = entries * ITEM[name]
            if (size := self._size(name)) < wanted:
                self._same(worker, "append", name, self._random.randbytes(wanted - size))
            elif size > wanted:
                self._same(worker, "open", 0, name, os.O_RDWR)
                self._same(worker, "truncate", 0, wanted)
                self._same(worker, "close", 0)
        self.compare_all()
        result = subprocess.run([mounted.program(), "commit", self._table], capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stdout + result.stderr + self._mounted.errors()
        self.commits += 1
        self._entries, self._dropped = entries, set()
        self._committed = {name: entries * ITEM[name] for name in names}
        self.compare_all()
        with uproot.open(os.path.join(self._source, "out.root")) as file:
            branches = {branch.name: branch.array(library="np") for branch in file["Events"].branches}
        assert sorted(branches) == [name.split(".")[0] for name in names]
        for name in names:
            with open(os.path.join(self._plain, name), "rb") as column:
                values = branches[name.split(".")[0]]
                assert values.astype(values.dtype.newbyteorder("<")).tobytes() == column.read(), name


def short(value):
    text = repr(value)
    return text if len(text) < 200 else text[:200] + "…"


@pytest.mark.sanitized
def test_a_table_being_written_is_a_directory(tmp_path):
    source, plain = tmp_path / "source", tmp_path / "plain"
    source.mkdir(), plain.mkdir()
    model = Model(str(source), str(plain), campaign.SEED)
    try:
        for _ in range(campaign.LENGTH["operations"]):
            model.step()
        model.compare_all()
    except BaseException:
        print(f"seed {campaign.SEED}, operation {model.done}; the last ones:")
        for entry in model.history[-30:]:
            print("  ", short(entry))
        raise
    finally:
        model.close()
    campaign.report(f"model: {model.done} operations, {model.commits} commits, {model.mounts} mounts: no difference")


OPERATIONS_A_FILE = 1_500  # then a new file, with its own seed, which is enough to repeat it
TIMERS = ("0", "1", "5", "86400")


@pytest.mark.parametrize("timer", TIMERS)
def test_tables_that_grow(tmp_path, timer):
    wanted = campaign.LENGTH["growing"] // len(TIMERS)
    root = foreign_appender.Appender()
    done = commits = kills = checks = 0
    try:
        for seed in itertools.count(campaign.SEED):
            model = growing_model.run(tmp_path / str(seed), seed, OPERATIONS_A_FILE, root, timer)
            shutil.rmtree(tmp_path / str(seed))
            done, commits = done + model.done, commits + model.commits
            kills, checks = kills + model.kills, checks + model.checks
            if done >= wanted:
                break
    finally:
        root.close()
        campaign.report(f"growing tables, commit={timer}: {done} operations, {commits} commits by hand, {kills} kills, {checks} files read")
