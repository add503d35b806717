# SPDX-License-Identifier: Apache-2.0
"""`cp -r` of every table of real files from one mount into another, then `diff -r` of the two. Any difference is
reported with its reason, and cp, or the commit, fails."""

import collections
import contextlib
import json
import os
import shutil
import subprocess
import tempfile

import pytest

import mounted

CORPUS = os.environ.get("TFILEFS_CORPUS")
pytestmark = pytest.mark.corpus

# Reasons for data that are never written, as users see them.
NOT_WRITTEN = (
    "lists of records in lists or records cannot be written",
    "records with members other than numbers cannot be written",
    "records in records cannot be written",
    "lists of arrays in records cannot be written",
    "undecoded bytes cannot be written",
    "variants cannot be written",
    "maps with strings or lists cannot be written",
)
# Reasons for data that wait for others, which the copied files do not contain.
WAITS = (
    "a list of arrays needs an integer column that counts it",
    "entries of",  # branches of different length
)


def tables_below(directory, depth=0):
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if not os.path.isdir(path):
            continue
        if os.path.exists(os.path.join(path, "object.bin")):
            continue  # not a table, or one that cannot be read
        kind = None
        with contextlib.suppress(OSError, ValueError), open(os.path.join(path, ".schema.json")) as schema:
            kind = json.load(schema).get("kind")
        if kind in ("ttree", "rntuple"):
            yield path
        elif not kind and depth < 8:
            yield from tables_below(path, depth + 1)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def copy(table):
    """The result of copying it: (status of cp, status of the commit, status of diff, all output)."""
    target = tempfile.mkdtemp(prefix="tfilefs-copied-")
    try:
        with mounted.Mounted(target, ("rw", "commit=86400")) as m:
            into = os.path.join(m.path, "new.root")
            os.mkdir(into)
            copied = run("cp", "-r", table, into)
            committed = run(mounted.program(), "commit", into)
            same = run("diff", "-r", table, os.path.join(into, os.path.basename(table)))
            return copied.returncode, committed.returncode, same.returncode, m.errors() + committed.stderr
    finally:
        shutil.rmtree(target)


def test_tables_of_real_files_are_copied(capsys):
    if not CORPUS:
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    verdicts, wrong = collections.Counter(), []
    with mounted.Mounted(os.path.join(CORPUS, "files")) as m:
        files = [os.path.join(m.path, name) for name in sorted(os.listdir(m.path))]
        for table in (table for file in files if os.path.isdir(file) for table in tables_below(file)):
            copied, committed, same, said = copy(table)
            refused = next((reason for reason in NOT_WRITTEN if reason in said), None)
            waits = next((reason for reason in WAITS if reason in said), None)
            if (copied, committed, same) == (0, 0, 0):
                verdicts["the same"] += 1
            elif copied != 0 and refused:
                verdicts[refused] += 1
            elif committed != 0 and waits:
                verdicts[waits] += 1
            else:
                wrong.append((os.path.relpath(table, m.path), copied, committed, same, said[-300:]))
    with capsys.disabled():
        for what, count in verdicts.most_common():
            print(f"\ncopied: {count} tables of {sum(verdicts.values())}: {what}", end="")
    assert not wrong, wrong
    assert verdicts["the same"] >= 0.5 * sum(verdicts.values())
