# SPDX-License-Identifier: Apache-2.0
"""The daemon was killed, and the file on which its journal depends is gone: no staged data are lost, and every command
says so."""

import os
import shutil

import numpy as np
import pytest
import uproot

import mounted
import root_process
from test_append_order import f4, i8, place  # noqa: F401 (a fixture)


def staged(p):
    p.append("d/Events/x.i8", i8(0, 1))
    p.append("Other/x.i8", i8(0, 1))
    assert p.status("") == 0
    p.append("d/Events/x.i8", i8(2, 3))
    p.append("d/Events/new.f4", f4(0, 1, 2, 3))
    p.append("Third/x.i8", i8(5))
    p.mount.process.kill()
    p.mount.close()


def mount(p):
    p.mount = mounted.Mounted(p.source, ("rw", "commit=86400"))
    p.top = os.path.join(p.mount.path, "out.root")


def check_that_it_waits(p):
    assert p.read("Third/x.i8") == [5] and p.read("d/Events/new.f4", "<f4") == [0, 1, 2, 3]
    assert p.status("") == 1
    assert p.umount() == 1
    assert os.path.exists(p.path + ".tfilefs-journal")
    mount(p)
    assert p.read("Third/x.i8") == [5]


def test_the_file_was_deleted(place):
    p = place()
    staged(p)
    os.unlink(p.path)
    mount(p)
    check_that_it_waits(p)
    shutil.rmtree(p.top)
    assert p.umount() == 0 and os.listdir(p.source) == []


def test_a_directory_was_removed_by_another_program(place):
    p = place()
    staged(p)
    script = f"import ROOT; f = ROOT.TFile('{p.path}', 'UPDATE'); f.Delete('d;*'); f.Close()"
    root_process.run_code(script, check=True)
    mount(p)
    check_that_it_waits(p)
    shutil.rmtree(os.path.join(p.top, "d"))
    assert p.status("") == 0, "what is left rests on nothing"
    assert p.tree("Third") == {"x": [5]} and p.tree("Other") == {"x": [0, 1]}
    assert p.umount() == 0 and os.listdir(p.source) == ["out.root"]


def test_another_file_has_its_name(place):
    """It can be read; the journal waits for the file to which it belongs."""
    p = place()
    staged(p)
    os.rename(p.path, p.path + ".of-the-journal")
    with uproot.recreate(p.path) as file:
        file.mktree("Events", {"x": np.int64}).extend({"x": i8(7)})
    mount(p)
    assert p.read("Events/x.i8") == [7]
    assert p.status("") == 1 and p.umount() == 1
    os.rename(p.path + ".of-the-journal", p.path)
    mount(p)
    assert p.status("") == 0
    assert p.tree("d/Events") == {"x": [0, 1, 2, 3], "new": [0, 1, 2, 3]} and p.tree("Third") == {"x": [5]}
    assert p.umount() == 0 and os.listdir(p.source) == ["out.root"]


@pytest.mark.parametrize("removed", (False, True))
def test_a_journal_that_cannot_be_read_is_told_of_by_every_command(place, removed):
    p = place()
    staged(p)
    with open(p.path + ".tfilefs-journal", "r+b") as journal:
        journal.write(b"no journal of ours")
    mount(p)
    assert p.read("Other/x.i8") == [0, 1]
    if removed:
        os.unlink(p.path + ".tfilefs-journal")
    assert p.status("") == p.umount() == (0 if removed else 1)
