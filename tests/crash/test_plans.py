# SPDX-License-Identifier: Apache-2.0
"""Commits as the library plans them, without a mount: no image after a crash is wrong, and each barrier is needed."""

import os
import subprocess

import numpy
import pytest

import campaign
import crash_run
import recording
import stories
from checker import State, Table


def x(entries):
    return numpy.arange(entries, dtype="<i4")


class Script:
    """Commands for plan_runner, and the content of the file after each commit."""

    def __init__(self, tables=None):
        self.commands, self._keys = [], dict(tables or {})
        self.states = {"before": self._state() if tables else State(None)}

    def _state(self):
        return State(
            {path: None if entries is None else Table({"x": x}, [entries]) for path, entries in self._keys.items()}
        )

    def directory(self, path):
        self._keys[path + "/"] = None
        self.commands.append(f"directory {path}")

    def table(self, path, command="table"):
        self._keys[path] = 0
        self.commands.append(f"{command} {path}")

    def ntuple(self, path):
        self.table(path, "ntuple")

    def open(self, path):
        self.commands.append(f"open {path}")

    def append(self, path, entries):
        self._keys[path] += entries
        self.commands.append(f"append {path} {entries}")

    def rename(self, path, other):
        self._keys[other] = self._keys.pop(path)
        self.commands.append(f"rename {path} {other}")

    def remove(self, path):
        self._keys.pop(path, self._keys.pop(path + "/", None))
        self.commands.append(f"remove {path}")

    def commit(self):
        name = str(len(self.states))
        self.states[name] = self._state()
        self.commands.append(f"commit {name}")


def root_table():
    script = Script()
    script.table("Events")
    for entries in 1000, 1, 500, 3000, 2, 2000:
        script.append("Events", entries)
        script.commit()
    return script


def subdirectory():
    script = Script()
    script.directory("a")
    script.directory("a/b")
    script.table("a/b/Events")
    for entries in 500, 1, 800, 1500:
        script.append("a/b/Events", entries)
        script.commit()
    return script


def several_tables():
    script = Script()
    script.directory("a")
    script.directory("b")
    for path in "top", "a/one", "b/two":
        script.table(path)
    for entries in 300, 20, 500:
        for path in "top", "a/one", "b/two":
            script.append(path, entries)
        script.commit()
    return script


def ntuples():
    script = Script()
    script.directory("a")
    script.ntuple("top")
    script.ntuple("a/one")
    for entries in 300, 20, 500, 1:
        for path in "top", "a/one":
            script.append(path, entries)
        script.commit()
    script.rename("top", "over")
    script.commit()
    script.append("over", 40)
    script.commit()
    return script


def keys():
    """Renames and removals, down to the last key."""
    script = Script()
    script.table("one")
    script.append("one", 100)
    script.directory("a")
    script.directory("a/b")
    script.table("a/b/two")
    script.append("a/b/two", 200)
    script.commit()
    for path, other in ("one", "uno"), ("a/b/two", "a/b/due"), ("uno", "a/b/uno"):
        script.rename(path, other)
        script.commit()
    for path in "a/b/due", "a/b/uno", "a/b", "a":
        script.remove(path)
        script.commit()
    script.table("again")
    for entries in 70, 700:
        script.append("again", entries)
        script.commit()
    return script


def foreign_file():
    script = Script({"t": 1000})
    script.open("t")
    for entries in 100, 2000, 1:
        script.append("t", entries)
        script.commit()
    script.directory("ours")
    script.table("ours/Events")
    for entries in 20, 30:
        script.append("ours/Events", entries)
        script.commit()
    return script


def beyond_two_gigabytes():
    script = Script({"t": 1000})
    script.open("t")
    for entries in 100, 4000, 1, 2000:
        script.append("t", entries)
        script.commit()
    script.directory("ours")
    script.table("ours/Events")
    for entries in 20, 30:
        script.append("ours/Events", entries)
        script.commit()
    return script


SCRIPTS = {
    script.__name__: script
    for script in (root_table, subdirectory, several_tables, ntuples, keys, foreign_file, beyond_two_gigabytes)
}
WHOLE = {"root_table", "keys"}  # one switch for the whole file


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """recorded(script) runs the script once."""
    known = {}

    def get(name):
        if name not in known:
            base = tmp_path_factory.mktemp("plans")
            script = SCRIPTS[name]()
            (base / "files").mkdir(), (base / "initial").mkdir()
            path, log = base / "files" / "out.root", base / "log"
            if script.states["before"].keys is not None:
                end = [str(1_999_990_000)] if name == "beyond_two_gigabytes" else []
                stories.run_script("foreign.py", path, "t", *end)
                crash_run.crash_states.copy_sparse(path, base / "initial" / "out.root")
            program = os.path.join(os.path.dirname(recording.library()), "plan_runner")
            environment = recording.environment(base / "files", log)
            ran = subprocess.run(
                [program, path, log], env=environment, input="\n".join(script.commands), text=True, capture_output=True
            )
            assert ran.returncode == 0, ran.stderr
            known[name] = crash_run.Run(recording.read_log(log), str(base / "initial"), "out.root", script.states)
        return known[name]

    return get


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_image_is_right(recorded, reader, name, tmp_path):
    verdict = crash_run.examine(
        recorded(name),
        reader,
        campaign.LENGTH["images"],
        campaign.SEED,
        append_every=5,
        whole=name in WHOLE,
        keep=tmp_path,
    )
    campaign.report(f"plans, {name}: {verdict}")
    assert verdict.failures == [], f"seed {campaign.SEED}, images in {tmp_path}: {verdict}"


@pytest.mark.parametrize("name", ["root_table", "subdirectory"])
def test_each_barrier_is_needed(recorded, reader, name):
    """For the first three commits, of which the first makes a new file."""
    run = recorded(name)
    ended = next(i for i, o in enumerate(run.operations) if o.kind == recording.MARK and o.path == "begin 4")
    needless = []
    chosen = [index for index in run.syncs() if index < ended]
    for index in chosen:
        verdict = crash_run.examine(
            run, reader, 600, campaign.SEED, append_every=3, ignored_syncs=[index], stop_at_first=True, first=index
        )
        if not verdict.failures:
            needless.append(f"{index}: {run.operations[index]}")
    assert len(chosen) >= 6 and needless == [], f"seed {campaign.SEED}: no harm is seen without {needless}"
