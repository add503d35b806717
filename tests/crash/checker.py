# SPDX-License-Identifier: Apache-2.0
"""Checks that a ROOT file shows one of its allowed states. uproot and ROOT read it in a process that serves many
requests."""

import dataclasses
import hashlib
import json
import os
import selectors
import subprocess
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
STARTING = 120  # seconds to load ROOT and to compile in its interpreter, on a busy machine
ADDED_KEY = "appended by ROOT"


@dataclasses.dataclass
class Table:
    """Columns are functions of the number of entries. They return arrays: one, or (items, counts) for a list."""

    columns: dict
    entries: range  # or any collection of allowed numbers

    def difference(self, found):
        if found["entries"] not in self.entries:
            return f"{found['entries']} entries"
        if set(found["columns"]) != set(self.columns):
            return f"columns {sorted(found['columns'])}"
        for name, digest in found["columns"].items():
            if digest != column_digest(self.columns[name], found["entries"]):
                return f"values of {name} differ"
        return None


def column_digest(column, entries, _known={}):
    key = (column, entries)
    if key not in _known:
        arrays = column(entries)
        arrays = arrays if isinstance(arrays, tuple) else (arrays,)
        digest = hashlib.md5()
        for array in arrays:
            digest.update(numpy.ascontiguousarray(array).tobytes())
        _known[key] = digest.hexdigest()
    return _known[key]


@dataclasses.dataclass
class State:
    """The content of a file: Tables and class names of other keys, by path; a directory ends in "/". None: no file."""

    keys: dict

    def directories(self):
        """{directory: {key: Table or class name}}"""
        result = {"": {}}
        for path, content in self.keys.items():
            parent, _, name = path.rstrip("/").rpartition("/")
            result.setdefault(parent + "/" if parent else "", {})[name] = (
                "TDirectory" if path.endswith("/") else content
            )
            if path.endswith("/"):
                result.setdefault(path, {})
        return result


def directory_difference(expected, found, tables, path):
    """None if the directory is as expected; else the difference."""
    if set(found) != set(expected):
        return f"keys of {path or '/'} are {sorted(found)}, not {sorted(expected)}"
    for name, content in expected.items():
        kind = found[name]
        if not isinstance(content, Table):
            if kind != content:
                return f"{path}{name} is a {kind}"
        elif path + name not in tables:
            return f"{path}{name} is a {kind}"
        elif difference := content.difference(tables[path + name]):
            return f"{path}{name}: {difference}"
    return None


def difference(states, read, whole=False):
    """None if each directory that was read has one of the states (`whole`: all have the same one); else the
    difference."""
    if "error" in read:
        return read["error"]
    directories = {
        path: {k: v for k, v in keys.items() if k != ADDED_KEY} for path, keys in read["directories"].items()
    }
    known = [state.directories() for state in states if state.keys is not None]
    if whole:
        reasons = []
        for state in known:
            reason = _differs_from(state, directories, read["tables"])
            if reason is None:
                return None
            reasons.append(reason)
        return "; or ".join(reasons) or "the file should not be there"
    for path, keys in directories.items():
        reasons = [directory_difference(state[path], keys, read["tables"], path) for state in known if path in state]
        if None not in reasons:
            return "; or ".join(dict.fromkeys(reasons)) or f"there should be no {path or 'file'}"
    return None


def _differs_from(state, directories, tables):
    if set(state) != set(directories):
        return f"directories are {sorted(directories)}"
    return next(filter(None, (directory_difference(state[p], directories[p], tables, p) for p in directories)), None)


class Reader:
    """reader_process.py; started again if a file makes it die."""

    def __init__(self, timeout=20):
        self._timeout = timeout
        self._process = None
        self._answered = False

    def read(self, path, append=False):
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, os.path.join(HERE, "reader_process.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(os.environ, PYTHONWARNINGS="ignore"),
                text=True,
            )
            self._answered = False
        try:
            self._process.stdin.write(json.dumps({"path": os.fspath(path), "append": append}) + "\n")
            self._process.stdin.flush()
            line = self._answer()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.close()
        died = {"error": "the reader died or hung"}
        if not append:
            return {"uproot": died, "root": died, "appended": None}
        # The next reader finds out which of the two died.
        return dict(self.read(path), appended={"uproot": died, "root": died})

    def _answer(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            timeout = self._timeout if self._answered else STARTING + self._timeout
            self._answered = True
            return self._process.stdout.readline() if selector.select(timeout) else ""

    def close(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def check_file(reader, path, states, append=False, whole=False):
    """[(reader, what is wrong)] of the file at `path`, which may show any of the states. `append` changes the file."""
    absent_allowed = any(state.keys is None for state in states)
    if not os.path.exists(path):
        return [] if absent_allowed else [("both", "the file is not there")]
    answer = reader.read(path, append)
    wrong = [(who, reason) for who in ("uproot", "root") if (reason := difference(states, answer[who], whole))]
    if answer["appended"] and not wrong:
        after = answer["appended"]
        wrong = [
            (f"{who} after ROOT's UPDATE", reason)
            for who in ("uproot", "root")
            if (reason := difference(states, after[who], whole))
        ]
    return wrong
