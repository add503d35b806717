# SPDX-License-Identifier: Apache-2.0
"""Random changes of names, of ROOT files, of their directories, and of their tables, while columns are written, with
commits and kills in between: each table is found under its current name, with the data written to it, and commits. Names
are exchanged, wanted by what may not have them, and by other programs that make files.

TFILEFS_CRASH=long runs it for as long as a race; TFILEFS_CRASH_SEED repeats a run (tests/campaign.py)."""

import errno
import os
import random
import shutil
import subprocess
import time

import numpy as np
import pytest
import uproot

import campaign
import mounted
from test_replaced_names import EXCHANGE, NOREPLACE, rename2

FILES = ("a.root", "b.root", "c.root", "sub/d.root", "sub/e.root")
TABLES = ("T", "U", "V", "W")
PLAIN = ("notes.txt", "rootless.dat")
COLUMNS = (("x.i8", "<i8"), ("y.f4", "<f4"))
OPTIONS = (("commit=0",), ("commit=1",), ())
OPERATIONS = 60
SHORT = 12  # mounts


def read_whole(path):
    while True:
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            if error.errno != errno.ESTALE:  # a commit replaced the opened state
                raise


class Model:
    def __init__(self, directory, seed):
        self._random = random.Random(seed)
        self.options = ("rw", *self._random.choice(OPTIONS))
        self._source = os.path.join(directory, str(seed))
        os.makedirs(self._source)
        self.mount = mounted.Mounted(self._source, self.options)
        self.files = {}  # path -> {table: [fsynced entries, entries]}
        self.plain = {}  # path -> bytes
        self.history = []

    def _path(self, *parts):
        return os.path.join(self.mount.path, *parts)

    def _do(self, function, *arguments):
        self.history.append((function.__name__, *(os.path.relpath(each, self.mount.path) for each in arguments)))
        function(*arguments)

    def _append(self, file, table, begin, end, synced):
        self.history.append(("append", file, table, begin, end, synced))
        os.makedirs(self._path(file, table), exist_ok=True)
        for name, dtype in COLUMNS:
            with open(self._path(file, table, name), "ab", buffering=0) as column:
                column.write(np.arange(begin, end).astype(dtype).tobytes())
                if synced:
                    os.fsync(column.fileno())

    def grow(self):
        is_new = not self.files or self._random.random() < 0.3
        file = self._random.choice(FILES if is_new else sorted(self.files))
        entries = self.files.setdefault(file, {}).setdefault(self._random.choice(TABLES), [0, 0])
        table = next(name for name, each in self.files[file].items() if each is entries)
        more, synced = self._random.choice([1, 5, 300]), self._random.random() < 0.5
        self._append(file, table, entries[1], entries[1] + more, synced)
        entries[1] += more
        if synced:
            entries[0] = entries[1]

    def rename_file(self):
        free = [file for file in FILES if file not in self.files]
        if self.files and free:
            old, new = self._random.choice(sorted(self.files)), self._random.choice(free)
            os.makedirs(os.path.dirname(self._path(new)), exist_ok=True)
            self._do(os.rename, self._path(old), self._path(new))
            self.files[new] = self.files.pop(old)

    def _refused(self, numbers, function, *arguments):
        self.history.append((function.__name__, *arguments, "refused"))
        with pytest.raises(OSError) as refused:
            function(*arguments)
        assert refused.value.errno in numbers, (function, arguments, refused.value)

    def rename_over(self):
        """What has entries, staged or committed, is not replaced."""
        full = sorted(file for file, tables in self.files.items() if any(entries[1] for entries in tables.values()))
        if len(self.files) > 1 and full:
            to = self._random.choice(full)
            old = self._random.choice([file for file in sorted(self.files) if file != to])
            self._refused([errno.ENOTEMPTY], os.rename, self._path(old), self._path(to))
            self._refused([errno.EEXIST], rename2, self._path(old), self._path(to), NOREPLACE)
            if self.plain:
                self._refused([errno.EISDIR], os.rename, self._path(self._random.choice(sorted(self.plain))), self._path(to))
            self._refused([errno.EISDIR], os.unlink, self._path(to))
            self._refused([errno.ENOTEMPTY], os.rmdir, self._path(to))
            tables = [name for name, entries in self.files[to].items() if entries[1]]
            if len(tables) > 1:
                over = self._path(to, tables[0]), self._path(to, tables[1])
                self._refused([errno.ENOTEMPTY, errno.EPERM], os.rename, *over)  # staged; committed

    def exchange(self):
        if len(self.files) > 1:
            one, other = self._random.sample(sorted(self.files), 2)
            self.history.append(("exchange", one, other))
            rename2(self._path(one), self._path(other), EXCHANGE)
            self.files[one], self.files[other] = self.files[other], self.files[one]

    def change_plain(self):
        """Files that merely begin as ROOT files do are as any other."""
        name = self._random.choice(PLAIN)
        action = self._random.choice(("append", "rename", "remove"))
        self.history.append((action, name))
        if action == "append" or name not in self.plain:
            more = b"root" + self._random.randbytes(self._random.randint(0, 200))
            with open(self._path(name), "ab", buffering=0) as file:
                file.write(more)
            self.plain[name] = self.plain.get(name, b"") + more
        elif action == "rename":
            other = next(each for each in PLAIN if each != name)
            os.rename(self._path(name), self._path(other))
            self.plain[other] = self.plain.pop(name)
        else:
            os.unlink(self._path(name))
            del self.plain[name]
        for name, data in self.plain.items():
            assert read_whole(self._path(name)) == data == read_whole(os.path.join(self._source, name)), name

    def rename_directory(self):
        if os.path.isdir(self._path("sub")):
            self._do(os.rename, self._path("sub"), self._path("other"))
            self._do(os.rename, self._path("other"), self._path("sub"))

    def rename_table(self):
        if self.files:
            tables = self.files[file := self._random.choice(sorted(self.files))]
            old, new = self._random.choice(sorted(tables)), self._random.choice(TABLES)
            if new not in tables:
                self._do(os.rename, self._path(file, old), self._path(file, new))
                tables[new] = tables.pop(old)

    def remove_file(self):
        if self.files and self._random.random() < 0.3:
            file = self._random.choice(sorted(self.files))
            self._do(shutil.rmtree, self._path(file))
            del self.files[file]

    def commit(self):
        self.history.append(("commit",))
        result = subprocess.run([mounted.program(), "commit", self.mount.path], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, result.stderr
        for tables in self.files.values():
            for entries in tables.values():
                entries[0] = entries[1]

    def kill(self):
        self.history.append(("kill",))
        self.mount.process.kill()
        self.mount.close()
        self.mount = mounted.Mounted(self._source, self.options)
        self._look(may_lack=True)

    def _look(self, may_lack=False):
        """All written data are there; after a kill, all fsynced data, and shorter columns are completed."""
        for file, tables in self.files.items():
            for table, entries in tables.items():
                found = [self._items(file, table, name, dtype) for name, dtype in COLUMNS]
                assert min(found) >= entries[0], f"{file}/{table}: {found} entries of {entries}"
                assert may_lack or found == [entries[1]] * len(COLUMNS), f"{file}/{table}: {found} entries, not {entries[1]}"
                entries[1] = max(found)
                os.makedirs(self._path(file, table), exist_ok=True)
                for (name, dtype), there in zip(COLUMNS, found):
                    with open(self._path(file, table, name), "ab", buffering=0) as column:
                        column.write(np.arange(there, entries[1]).astype(dtype).tobytes())

    def _items(self, file, table, name, dtype):
        if not os.path.exists(self._path(file, table, name)):
            return 0
        items = np.frombuffer(read_whole(self._path(file, table, name)), dtype)
        assert (items == np.arange(len(items))).all(), f"{file}/{table}/{name}: wrong items"
        return len(items)

    def run(self):
        actions = [self.grow] * 8 + [self.rename_file] * 3 + [self.rename_table] * 2
        actions += [self.rename_over] * 2 + [self.exchange] * 2 + [self.change_plain] * 2
        actions += [self.rename_directory, self.remove_file, self.commit, self.kill]
        for _ in range(OPERATIONS):
            self._random.choice(actions)()
        self.commit()
        self._look()
        result = subprocess.run([mounted.program(), "umount", self.mount.path], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, result.stderr
        assert self.mount.close() == 0
        for file, tables in self.files.items():
            with uproot.open(os.path.join(self._source, file)) as root:
                for table, (_, entries) in tables.items():
                    if entries:
                        assert root[table]["x"].array(library="np").tolist() == list(range(entries)), f"{file}/{table}"


def test_tables_are_found_under_the_names_that_they_have(tmp_path):
    done, end = 0, time.monotonic() + campaign.LENGTH["race_seconds"]
    while done < SHORT or (campaign.NAME == "long" and time.monotonic() < end):
        model = Model(str(tmp_path), campaign.SEED + done)
        try:
            model.run()
        except BaseException:
            print(f"seed {campaign.SEED + done}, {model.options}; the last ones:", *model.history[-25:], sep="\n   ")
            print(model.mount.errors() if model.mount.alive() else "the daemon is gone")
            raise
        finally:
            model.mount.process.kill()
            model.mount.close()
        done += 1
    campaign.report(f"names of files and tables: {done} mounts of {OPERATIONS} operations: no difference")
