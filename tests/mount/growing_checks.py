# SPDX-License-Identifier: Apache-2.0
"""The allowed content of the ROOT file at any time, and the required content after a commit, as uproot reads it."""

import os

import uproot

from growing_files import FILE, GrowingFiles


class CheckedFile(GrowingFiles):
    def _check(self, tables):
        """Checks that uproot finds all required and only allowed data. A timer may commit in between, so it tries
        twice."""
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

    def _check_removed(self):
        path = os.path.join(self._source, FILE)
        if not os.path.exists(path):
            return
        with uproot.open(path) as file:
            back = self._removed & {key.split(";")[0] for key in file.keys(recursive=True)}
        assert not back, f"{back} were removed, and are in the file"

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
