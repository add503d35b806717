# SPDX-License-Identifier: Apache-2.0
"""A table that grows in a model: its columns, and what is known of each of their files."""


class Table:
    """The operations on one table, and what is known to be committed of it."""

    def __init__(self, path, columns, goal):
        self.path, self.columns, self.goal = path, columns, goal
        self.former = []  # names that the file may still have for it
        self.target = 0  # entries to which the files grow
        self.written = {}  # path below the table -> bytes; only files that exist
        self.synced = {}  # of these, bytes for which fsync returned
        self.longest = {}  # of these, bytes that a crash may bring back, since the truncation was not synced
        self.floor, self.floor_branches = 0, set()  # the least that the file must have
        self.removed = set()  # branches that may still exist
        self.marked = False  # by .table: it is a table before it has columns

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
        """Files that are shorter than the target."""
        found = []
        for column in self.columns:
            found += [path for path, size in column.sizes(self.target).items() if self.written.get(path, -1) < size]
        return found

    def committed_at_least(self, entries):
        """Everything done to it is committed, at least this many entries."""
        self.former = []
        self.floor = max(self.floor, entries)
        self.floor_branches |= {column.branch for column in self.begun()}
