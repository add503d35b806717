# SPDX-License-Identifier: Apache-2.0
"""Tables of columns of every kind that grow in a mount, in pieces of any size in any order. Meanwhile they are
committed by timer, by hand and by fsync of another process, other programs write the file, and the daemon is killed.

Columns are functions of their place (column_streams.py), so a file must contain a prefix of its stream at any time. The
ROOT file contains a number of entries, all of whose bytes had been written."""

import contextlib
import os
import shutil
import subprocess
import time

import column_streams
import mounted
from growing_files import FILE
from growing_foreign import SharedFile
from watched_calls import DEADLINE


def without_marker(function, path, why):
    """For rmtree: `.table` goes by itself when the table is committed, also between being listed and removed."""
    if not isinstance(why[1], FileNotFoundError) or os.path.basename(path) != ".table":
        raise why[1]


class Model(SharedFile):
    """One file in one directory, from its first table to its end; call `close` in any case."""

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
            self._do(shutil.rmtree, self._path(table), False, without_marker)
            self._removed |= {table.path, *table.former}
        else:
            self._retired[table.path] = table
        self._new_table()

    def _finish(self, table):
        """All files grow to the length of the longest; the table is then complete."""
        while any(table.written.get(path, 0) > column.size(path, table.target) for column, path in table.files()):
            table.target += 1
        while behind := table.behind():
            path = self._random.choice(behind)
            column = next(column for column in table.columns if path in column.files)
            self._append(table, path, column.size(path, table.target) - table.written.get(path, 0))
        self._close_handles(writers_of=table)
        assert table.is_whole()

    def _rename(self, table):
        self._helper_done()  # which knows the table by its name
        self._close_handles()
        other = table.path[:-3] + f"{self._count + 500:03}"
        self._count += 1
        self._note("rename", table.path, other)
        self._do(os.rename, self._path(table), os.path.join(self._top, other))
        table.former.append(table.path)
        table.path = other
        self._known.add(other)

    def _remove_table(self, table):
        """Removes a table in any place; often between two crashes, of which the second must not bring it back."""
        if self._random.random() < 0.3:
            self._kill()
        self._helper_done()
        self._close_handles()
        self._note("remove", table.path)
        self._do(shutil.rmtree, self._path(table), False, without_marker)
        self.tables.remove(table)
        self._removed |= {table.path, *table.former}
        if self._random.random() < 0.3:
            self._kill()
        self._new_table()

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

    # The mount ends, regularly or not.

    def _kill(self):
        self._note("kill")
        self.kills += 1
        if self._random.random() < 0.5:  # while a commit is in progress
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
        """A mount that ends as soon as it has started."""
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
        """Each file has everything that was promised, and nothing that was not written."""
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
        """Returns whether everything was complete, and thus committed."""
        self._helper_done()
        self._close_handles()
        for table in self.tables:
            if not table.marked and not table.written and not table.floor:  # from then on it would be a directory
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
        if whole:
            self._check_removed()
        return whole

    def _remount(self):
        self._unmount()
        self._new_mount()
        written = {id(table): dict(table.written) for table in self.tables}
        self._see_what_is_left()
        for table in self.tables:
            assert table.written == written[id(table)], f"{table.path}: {table.written} after a new mount, {written[id(table)]} before"

    # A run.

    WEIGHTS = {
        "grow": 100, "read": 40, "read_held": 15, "close": 8, "overwrite": 5, "truncate": 3, "pause": 0.02,
        "sync_wait": 1, "sync_no_wait": 2, "commit_table": 0.8, "commit_file": 0.4, "rename": 0.2, "new_column": 0.3,
        "remove_column": 0.2, "kill": 0.12, "remount": 0.12, "idle": 0.06, "staged": 0.03, "second": 0.1, "table": 0.1,
        "remove_table": 0.1,
    }

    REMOVED = 0.5  # fraction of the tables that reached their goal

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
            "remove_table": self._remove_table,
        }[action](table)

    def run(self, operations):
        for _ in range(operations):
            self.step()
            if self._over:
                return
        if self._random.random() < 0.5:
            self._finish_all()
        self._unmount()


def run(directory, seed, operations, root=None, timer=None):
    """Runs one file from its first table to its end; returns its Model. Raises on any difference, with the history."""
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
