# SPDX-License-Identifier: Apache-2.0
"""A table that grows in a model: its columns, and what is known of each of their files."""


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
