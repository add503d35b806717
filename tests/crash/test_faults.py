# SPDX-License-Identifier: Apache-2.0
"""A daemon whose disk is full, fails, writes only half of the data, or which is killed: each caller gets an error or
all of its data is there; nothing promised is lost; nothing hangs."""

import contextlib
import dataclasses
import errno
import os
import random
import subprocess

import numpy as np
import pytest
import uproot

import campaign
import checker
import mounted
import recording
import stories
import writing

FIRST, LAST = 1000, 21000  # entries before the test, and entries that the file should have after it
COLUMNS = {f"c{number}": writing.numbered(number) for number in range(10)}
BEFORE = checker.State({"Events": checker.Table(COLUMNS, [FIRST])})
WHILE = checker.State({"Events": checker.Table(COLUMNS, range(FIRST, LAST + 1))})
AFTER = checker.State({"Events": checker.Table(COLUMNS, [LAST])})


def data_of(name, first, last):
    return COLUMNS[name](last)[first:].tobytes()


def copy_columns(table, names, first, last, on_error):
    """Copies each column like cp, followed by fsync; returns the names whose fsync and close returned without error."""
    synced = []
    for name in names:
        try:
            writing.write(os.path.join(table, name + ".i4"), data_of(name, first, last), append=first > 0, sync=True)
            synced.append(name)
        except OSError as error:
            on_error(error)
    return synced


@dataclasses.dataclass
class Outcome:
    synced: list  # columns whose fsync returned
    errors: list  # reported to applications
    committed: bool  # tfilefs commit succeeded
    unmounted: bool  # tfilefs umount ended with 0
    died: bool = False  # the daemon died, and its callers noticed


def table_below(mount):
    return os.path.join(mount.path, stories.FILE, "Events")


@pytest.fixture(scope="module")
def before(tmp_path_factory, request):
    """A directory with the committed state before the test: a tree, or as `before` says."""
    directory = tmp_path_factory.mktemp("before")
    form = getattr(request, "param", "tree")
    with writing.Daemon(directory, options=(*writing.BY_HAND, f"format={form}")) as daemon, writing.deadline():
        os.makedirs(table_below(daemon))
        assert copy_columns(table_below(daemon), COLUMNS, 0, FIRST, pytest.fail) == list(COLUMNS)
        assert daemon.command("commit", table_below(daemon)) == 0
        assert daemon.unmount() == 0
    return directory


@pytest.fixture
def attempt(before, tmp_path):
    """attempt(fault=…) copies the directory and appends to all columns under that fault; returns (directory,
    outcome)."""
    made = iter(range(1 << 30))

    def action(log=None, **faults):
        directory = tmp_path / str(next(made))
        directory.mkdir()
        for name in os.listdir(before):
            (directory / name).write_bytes((before / name).read_bytes())
        log = log or tmp_path / "log"
        log.unlink(missing_ok=True)
        outcome = Outcome([], [], False, False)
        with contextlib.suppress(mounted.MountFailed), writing.Daemon(directory, log, **faults) as daemon:
            with writing.deadline():
                outcome.synced = copy_columns(table_below(daemon), COLUMNS, FIRST, LAST, outcome.errors.append)
                outcome.committed = daemon.command("commit", table_below(daemon)) == 0
                outcome.unmounted = daemon.unmount() == 0
            outcome.died = daemon.process.returncode != 0
        return directory, outcome

    return action


def check(directory, outcome, reader):
    """Checks the conditions that must hold after any fault; returns those that do not."""
    file = os.path.join(directory, stories.FILE)
    # A caller that got no error has its data in the file; `tfilefs umount` commits what `tfilefs commit` could not.
    ended_well = outcome.committed or (outcome.unmounted and not outcome.died)
    wrong = checker.check_file(reader, file, [AFTER] if ended_well and not outcome.errors else [WHILE])
    with writing.Daemon(directory) as daemon, writing.deadline():
        for name in outcome.synced:
            with open(os.path.join(table_below(daemon), name + ".i4"), "rb") as column:
                if column.read() != data_of(name, 0, LAST):
                    wrong.append(("mount", f"{name} was fsynced and is not there"))
        for name in COLUMNS.keys() - set(outcome.synced):
            # Data that were not promised are written again from the end of the existing ones.
            path = os.path.join(table_below(daemon), name + ".i4")
            there = os.path.getsize(path)
            with open(path, "rb") as column:
                if column.read() != data_of(name, 0, LAST)[:there]:
                    wrong.append(("mount", f"{name} holds what was not written"))
            writing.write(path, data_of(name, 0, LAST)[there:], append=True)
        if daemon.command("commit", table_below(daemon)) != 0 or daemon.unmount() != 0:
            wrong.append(("mount", "what is whole is not committed: " + daemon.messages()))
    return wrong or checker.check_file(reader, file, [AFTER])


@pytest.fixture(scope="module")
def clean(before, tmp_path_factory):
    """The operations of a run without faults."""
    base = tmp_path_factory.mktemp("clean")
    directory = base / "files"
    directory.mkdir()
    for name in os.listdir(before):
        (directory / name).write_bytes((before / name).read_bytes())
    with writing.Daemon(directory, base / "log") as daemon, writing.deadline():
        assert copy_columns(table_below(daemon), COLUMNS, FIRST, LAST, pytest.fail) == list(COLUMNS)
        assert daemon.command("commit", table_below(daemon)) == 0 and daemon.unmount() == 0
    return recording.read_log(base / "log")


def chosen(numbers, count, generator):
    """All in the long campaign; else some, including the first and the last."""
    numbers = list(numbers)
    if campaign.NAME == "long" or len(numbers) <= count:
        return numbers
    return sorted({numbers[0], numbers[-1], *generator.sample(numbers, count - 2)})


def examine_all(kind, values, attempt, reader, expects_no_error=False):
    """Returns the numbers of the errors that applications got."""
    wrong, told = [], set()
    for value in values:
        directory, outcome = attempt(**{kind: value})
        found = check(directory, outcome, reader)
        told |= {error.errno for error in outcome.errors}
        if expects_no_error and (outcome.errors or not outcome.committed or not outcome.unmounted):
            found.append(("application", f"an error for what can be done: {outcome}"))
        if found:
            wrong.append((value, found))
    campaign.report(f"{kind}: {len(values)} runs, {len(wrong)} wrong")
    assert wrong == [], f"seed {campaign.SEED}, {kind}: {wrong}"
    return told


def test_kill_at_chosen_calls(clean, attempt, reader):
    calls = sum(operation.is_counted() for operation in clean)
    generator = random.Random(campaign.SEED)
    examine_all("kill", [generator.randint(1, calls) for _ in range(campaign.LENGTH["kills"])], attempt, reader)


@pytest.mark.parametrize("before", ["tree", "rntuple"], indirect=True)
def test_disk_full_at_every_64_kib(clean, attempt, reader):
    grown = sum(len(operation.data) for operation in clean if operation.kind == recording.WRITE)
    limits = chosen(range(0, grown + 65536, 65536), 8, random.Random(campaign.SEED))
    assert examine_all("no_space_after", limits, attempt, reader) == {errno.ENOSPC}


def test_a_quota_that_is_used_up(clean, attempt, reader):
    """Distinguished from a full disk, at write, fsync or close."""
    grown = sum(len(operation.data) for operation in clean if operation.kind == recording.WRITE)
    limits = chosen(range(0, grown + 65536, 65536), 4, random.Random(campaign.SEED))
    assert examine_all("quota_after", limits, attempt, reader) == {errno.EDQUOT}


@pytest.mark.parametrize("before", ["tree", "rntuple"], indirect=True)
def test_every_sync_that_fails(clean, attempt, reader):
    """The commit is tried again: of an RNTuple all pages are written again, though a commit that failed had the same."""
    syncs = sum(operation.kind == recording.SYNC for operation in clean)
    examine_all("fail_sync", chosen(range(1, syncs + 1), 8, random.Random(campaign.SEED)), attempt, reader)


def test_every_short_write(clean, attempt, reader):
    writes = sum(operation.kind == recording.WRITE for operation in clean)
    values = chosen(range(1, writes + 1), 5, random.Random(campaign.SEED)) + ["all"]
    examine_all("short_write", values, attempt, reader, expects_no_error=True)


@pytest.mark.parametrize("failing", range(1, 6))
def test_a_failed_sync_where_nothing_is_staged(tmp_path, failing):
    """What was staged is removed again: the file can be written on, whichever sync fails once."""
    with uproot.recreate(tmp_path / "a.root") as file:
        file["T"] = {"x": np.arange(1000.0)}
    environment = recording.environment(tmp_path, tmp_path / "log", fail_sync=failing)
    with mounted.Mounted(tmp_path, ("rw", "commit=600"), environment=environment) as m:
        path = os.path.join(m.path, "a.root", "T", "{}.f4")

        def was_written(name):
            try:
                writing.write(path.format(name), bytes(4000), append=False)
            except OSError as error:
                assert error.errno == errno.EIO
                return False
            return True

        def was_committed():
            command = [mounted.program(), "commit", os.path.join(m.path, "a.root")]
            return subprocess.run(command, capture_output=True, timeout=60).returncode == 0

        if was_written("y"):
            os.unlink(path.format("y"))
        assert was_committed() or was_committed()  # the first may be the one that fails
        assert not os.path.exists(tmp_path / "a.root.tfilefs-journal")
        assert was_written("z") or was_written("z")
        assert was_committed() or was_committed()
    with uproot.open(tmp_path / "a.root") as file:
        assert file["T"].keys() == ["x", "z"]
