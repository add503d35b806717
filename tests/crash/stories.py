# SPDX-License-Identifier: Apache-2.0
"""Operations on a mount while its daemon is recorded. Each story is a series of commits, and a protocol of its own."""

import os
import shutil
import subprocess
import sys

import crash_run
import recording
import writing
from checker import State

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = "out.root"


class Teller:
    """Marks the log, and keeps the states, while a story runs."""

    def __init__(self, daemon, log, before):
        self.daemon, self._log = daemon, log
        self.root = os.path.join(daemon.path, FILE)
        self.states = {"before": State(before)}

    def begin(self, name, keys):
        self.states[name] = State(keys)
        recording.mark(f"begin {name}", self._log)

    def commit(self, name, path=None):
        status = self.daemon.command("commit", path or self.root)
        assert status == 0, f"tfilefs commit ended with {status}: {self.daemon.said}"
        recording.mark(f"promise {name}", self._log)


def append_thrice(tell, path, table, others=(), first=0):
    """Three commits to one table; `others` are further keys in the file."""
    for name, last in ("one", first + 300), ("two", first + 700), ("three", first + 1500):
        tell.begin(name, dict(others) | {path: writing.table(last)})
        writing.write_table(table, first, last)
        tell.commit(name)
        first = last


def three_commits(tell):
    os.mkdir(tell.root)
    append_thrice(tell, "Events", os.path.join(tell.root, "Events"))


def subdirectory(tell):
    os.mkdir(tell.root)
    append_thrice(tell, "deep/Events", os.path.join(tell.root, "deep", "Events"), {"deep/": None})


def two_tables(tell):
    """Each in its own directory, committed together."""
    os.mkdir(tell.root)
    for name, first, last in ("one", 0, 300), ("two", 300, 900):
        tell.begin(
            name, {"a/": None, "b/": None, "a/Events": writing.table(last), "b/Events": writing.table(last, ("px",))}
        )
        writing.write_table(os.path.join(tell.root, "a", "Events"), first, last)
        writing.write_table(os.path.join(tell.root, "b", "Events"), first, last, ("px",))
        tell.commit(name)


def new_column(tell):
    os.mkdir(tell.root)
    events = os.path.join(tell.root, "Events")
    few = ("px", "hits")
    tell.begin("few", {"Events": writing.table(800, few)})
    writing.write_table(events, 0, 800, few)
    tell.commit("few")
    tell.begin("more", {"Events": writing.table(800)})
    writing.write_table(events, 0, 800, tuple(set(writing.FILES) - set(few)))
    tell.commit("more")


def new_ntuple(tell):
    events = os.path.join(tell.root, "Events")
    os.makedirs(events)
    open(os.path.join(events, ".rntuple"), "wb").close()
    return events


def ntuple(tell):
    """Made, appended to, and given new columns."""
    events = new_ntuple(tell)
    few = ("px", "hits")
    for name, first, last in ("few", 0, 300), ("longer", 300, 800):
        tell.begin(name, {"Events": writing.table(last, few)})
        writing.write_table(events, first, last, few)
        tell.commit(name)
    tell.begin("more", {"Events": writing.table(800)})
    writing.write_table(events, 0, 800, tuple(set(writing.FILES) - set(few)))
    tell.commit("more")


def columns_that_grow(tell, columns, added):
    """An RNTuple that is made of columns, appended to, given others for all its entries, and appended to again. What is
    appended first is also promised by fsync before it is committed."""
    events = new_ntuple(tell)
    for name, first, last in ("few", 0, 150), ("longer", 150, 400):
        tell.begin(name, {"Events": writing.table(last, columns)})
        writing.write_table(events, first, last, columns, fsync=first > 0)
        tell.commit(name)
    tell.begin("more", {"Events": writing.table(400, columns + added)})
    writing.write_table(events, 0, 400, added)
    tell.commit("more")
    tell.begin("longest", {"Events": writing.table(500, columns + added)})
    writing.write_table(events, 400, 500, columns + added)
    tell.commit("longest")
    return events


def variants(tell):
    """Of numbers, strings and lists, also in lists."""
    events = columns_that_grow(tell, ("choice", "px"), ("parts",))
    tell.begin("without", {"Events": writing.table(500, ("px", "parts"))})
    shutil.rmtree(os.path.join(events, "choice"))
    tell.commit("without")
    tell.begin("after", {"Events": writing.table(600, ("px", "parts"))})
    writing.write_table(events, 500, 600, ("px", "parts"))
    tell.commit("after")


def projections(tell):
    """A counter that the list beside it tells. It goes with its list, and both come anew."""
    events = columns_that_grow(tell, ("hits", "nhits", "px"), ("count", "name"))
    kept = ("px", "count", "name")
    tell.begin("without", {"Events": writing.table(500, kept)})
    os.unlink(os.path.join(events, "nhits.u4"))
    shutil.rmtree(os.path.join(events, "hits"))
    tell.commit("without")
    tell.begin("again", {"Events": writing.table(500, kept + ("hits", "nhits"))})
    writing.write_table(events, 0, 500, ("hits", "nhits"))
    tell.commit("again")


def repeated_pages(tell):
    """Columns whose pages are those of earlier commits; a second one, equal to the first, in its clusters; and the rest
    when the first is gone."""
    events = new_ntuple(tell)
    for name, first, last in ("one", 0, 600), ("two", 600, 1200), ("three", 1200, 2400):
        tell.begin(name, {"Events": writing.table(last, ("noise",))})
        writing.write_table(events, first, last, ("noise",))
        tell.commit(name)
    tell.begin("again", {"Events": writing.table(2400, ("noise", "again"))})
    writing.write_table(events, 0, 2400, ("again",))
    tell.commit("again")
    tell.begin("without", {"Events": writing.table(2400, ("again",))})
    os.unlink(os.path.join(events, "noise.f8"))
    tell.commit("without")
    tell.begin("after", {"Events": writing.table(3000, ("again",))})
    writing.write_table(events, 2400, 3000, ("again",), fsync=True)
    tell.commit("after")


def lists_of_records(tell):
    """Made, appended to, and given another such list, whose class the file then describes, too."""
    os.mkdir(tell.root)
    events = os.path.join(tell.root, "Events")
    for name, first, last in ("few", 0, 300), ("longer", 300, 800):
        tell.begin(name, {"Events": writing.table(last, ("px", "tracks"))})
        writing.write_table(events, first, last, ("px", "tracks"))
        tell.commit(name)
    tell.begin("more", {"Events": writing.table(800, ("px", "tracks", "cells", "hits"))})
    writing.write_table(events, 0, 800, ("cells", "hits"))
    tell.commit("more")
    tell.begin("longest", {"Events": writing.table(1000, ("px", "tracks", "cells", "hits"))})
    writing.write_table(events, 800, 1000, ("px", "tracks", "cells", "hits"))
    tell.commit("longest")


def objects(tell):
    """Made of arrays and of bytes, alone, together with a table, and in place of another."""
    os.mkdir(tell.root)
    note = writing.object_bytes(b"some text")
    tell.begin("histogram", {"h": "TH1D"})
    writing.write_histogram(os.path.join(tell.root, "h"))
    tell.commit("histogram")
    keys = {"h": "TH1D", "deep/": None, "deep/note": "TObjString", "Events": writing.table(300, ("px",))}
    tell.begin("more", keys)
    writing.write_object(os.path.join(tell.root, "deep", "note"), "TObjString", note, fsync=True)
    writing.write_table(os.path.join(tell.root, "Events"), 0, 300, ("px",))
    tell.commit("more")
    tell.begin("replaced", keys | {"h": "TObjString"})
    shutil.rmtree(os.path.join(tell.root, "h"))
    writing.write_object(os.path.join(tell.root, "h"), "TObjString", note)
    tell.commit("replaced")


def rename_and_remove(tell):
    """Down to the last key."""
    os.mkdir(tell.root)
    table = writing.table(400, ("px", "hits"))
    tell.begin("two tables", {"a": table, "b": table})
    for name in "a", "b":
        writing.write_table(os.path.join(tell.root, name), 0, 400, ("px", "hits"))
    tell.commit("two tables")
    tell.begin("renamed", {"c": table, "b": table})
    os.rename(os.path.join(tell.root, "a"), os.path.join(tell.root, "c"))
    tell.commit("renamed")
    tell.begin("one left", {"c": table})
    shutil.rmtree(os.path.join(tell.root, "b"))
    tell.commit("one left")
    tell.begin("empty", {})
    shutil.rmtree(os.path.join(tell.root, "c"))
    tell.commit("empty")
    tell.begin("again", {"d": table})
    writing.write_table(os.path.join(tell.root, "d"), 0, 400, ("px", "hits"))
    tell.commit("again")


def foreign_file(tell):
    """A file written by ROOT, to which entries are appended."""
    append_thrice(tell, "Events", os.path.join(tell.root, "Events"), first=1000)


def beyond_two_gigabytes(tell):
    """The first commit changes the layout of the file."""
    append_thrice(tell, "Events", os.path.join(tell.root, "Events"), first=1000)


def journal_that_stays(tell):
    """One table is incomplete while others are committed, until the journal has been rewritten twice; then it is
    completed."""
    os.mkdir(tell.root)
    unfinished = os.path.join(tell.root, "Unfinished")
    writing.write_table(unfinished, 0, 900, ("px", "hits"), fsync=True)
    writing.write_table(unfinished, 0, 500, ("count",), fsync=True)
    large = 200_000
    keys = {}
    for name in "abcd":
        keys[name] = writing.table(large, ("px",))
        tell.begin(name, dict(keys))
        writing.write_table(os.path.join(tell.root, name), 0, large, ("px",), fsync=True)
        tell.commit(name, os.path.join(tell.root, name))
    tell.begin("whole", keys | {"Unfinished": writing.table(900, ("px", "hits", "count"))})
    writing.write_table(unfinished, 500, 900, ("count",))
    tell.commit("whole")


STORIES = {
    story.__name__: story
    for story in (
        three_commits,
        subdirectory,
        two_tables,
        new_column,
        ntuple,
        variants,
        projections,
        repeated_pages,
        lists_of_records,
        objects,
        rename_and_remove,
        foreign_file,
        beyond_two_gigabytes,
        journal_that_stays,
    )
}


def run_script(name, *arguments):
    """Runs a script of this directory, which may import from tests/."""
    subprocess.run(
        [sys.executable, os.path.join(HERE, name), *map(str, arguments)],
        check=True,
        capture_output=True,
        env=dict(os.environ, PYTHONWARNINGS="ignore", PYTHONPATH=os.path.dirname(HERE)),
    )


def make_initial(name, directory):
    """Makes the files before the story; returns the keys of the file, None if there is no file."""
    if name not in ("foreign_file", "beyond_two_gigabytes"):
        return None
    end = ["1999990000"] if name == "beyond_two_gigabytes" else []
    run_script("foreign.py", os.path.join(directory, FILE), "Events", *end)
    return {"Events": writing.table(1000)}


def record(name, directory):
    """Runs the story in a new directory below `directory`."""
    base = os.path.join(directory, name)
    files, initial, log = (os.path.join(base, part) for part in ("files", "initial", "log"))
    os.makedirs(files)
    os.makedirs(initial)
    before = make_initial(name, files)
    for file in os.listdir(files):
        crash_run.crash_states.copy_sparse(os.path.join(files, file), os.path.join(initial, file))
    with writing.Daemon(files, log) as daemon:
        tell = Teller(daemon, log, before)
        with writing.deadline():
            STORIES[name](tell)
        status = daemon.unmount()
        assert status == 0, f"tfilefs umount ended with {status}: {daemon.said}{daemon.messages()}"
    return crash_run.Run(recording.read_log(log), initial, FILE, tell.states)
