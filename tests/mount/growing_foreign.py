# SPDX-License-Identifier: Apache-2.0
"""Other programs that write the file, and other mounts that try to, while tables grow in it."""

import contextlib
import os
import shutil

import uproot

import column_streams
import mounted
from growing_checks import CheckedFile
from growing_files import FILE


class SharedFile(CheckedFile):
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
        """The commit fails, or has both; in either case, all written data are there."""
        self._finish_all()
        status, said = self._command("commit", self._top)
        tables = [table for table in self.tables if table.begun() and table.entries()]
        if status != 0 or not tables:
            return  # a table without columns: try again later
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
            except AssertionError as error:  # close reports a commit that failed in the meantime
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
        """Follows the advice in `.tfilefs/errors`: truncates the staged part, which a commit notices, and writes it
        again."""
        self._close_handles()
        for column in table.begun():
            for path, size in column.sizes(before).items():
                with contextlib.suppress(PermissionError), self._watch.call():  # for files of the other program
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
        """`foreign`: the number of entries that the other program left in the table."""
        if foreign:
            table.written.update({p: max(s, table.written.get(p, 0)) for c in table.begun() for p, s in c.sizes(foreign).items()})
            table.floor = max(table.floor, foreign)
        self._check(self.tables)

    def _second_mount(self):
        """It must not change the file while something is staged in the first mount."""
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


def sync_files(paths):
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
