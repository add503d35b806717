# SPDX-License-Identifier: Apache-2.0
"""Any order of files, of commits and of mounts gives the same table, or the same refusal when a file is made; and what a
table is stored as stays, whatever it is named."""

import errno
import os
import shutil
import subprocess

import numpy as np
import pytest
import uproot

import mounted

FILE = "out.root"


def i8(*values):
    return np.array(values, "<i8").tobytes()


def f4(*values):
    return np.array(values, "<f4").tobytes()


def put(top, path, data):
    os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
    with open(os.path.join(top, path), "wb") as file:
        file.write(data)


def command(name, path):
    done = subprocess.run([mounted.program(), name, path], capture_output=True, text=True)
    return done.returncode, done.stderr


def mount(directory, form, *more):
    return mounted.Mounted(directory, ("rw", "commit=86400", "format=" + form, *more))


# ---- what a table is stored as


def put_variant(table, name):
    os.makedirs(os.path.join(table, name))
    os.setxattr(os.path.join(table, name), "user.tfilefs.class", b"std::variant<std::int32_t,float>")
    put(table, name + "/tags.i1", np.array([1, 2], "i1").tobytes())
    put(table, name + "/index.i8", i8(0, 0))
    put(table, name + "/std::int32_t.i4", np.array([5], "<i4").tobytes())
    put(table, name + "/float.f4", f4(6))


@pytest.mark.parametrize("end", ("umount", "kill"))
@pytest.mark.parametrize("renamed", ("never", "staged", "committed", "committed twice"))
@pytest.mark.parametrize("folder", ("", "folder/"))
def test_an_rntuple_stays_one(tmp_path, end, renamed, folder):
    """Whatever name it had in the journal: as another table keeps that, it is replayed. The tree beside it stays a tree."""
    m = mount(tmp_path, "tree")
    try:
        top = os.path.join(m.path, FILE)
        put(top, folder + "t0/.rntuple", b"")
        put(top, folder + "t0/x.i4", np.array([1, 2], "<i4").tobytes())
        put(top, folder + "s0/x.i4", np.array([1, 2], "<i4").tobytes())
        if renamed.startswith("committed"):
            assert command("commit", m.path) == (0, "")
        put(top, folder + "other/a.f4", f4(1, 2))
        put(top, folder + "other/b.f4", f4(1))
        name = "0"
        for number in range({"never": 0, "committed twice": 2}.get(renamed, 1)):
            for kind in "ts":
                os.rename(os.path.join(top, folder + kind + name), os.path.join(top, folder + kind + str(number + 1)))
                put(top, f"{folder}{kind}{number + 1}/y{number}.f8", np.array([1, 2], "<f8").tobytes())
            name = str(number + 1)
            assert command("commit", os.path.join(top, folder + "t" + name)) == (0, "")
            assert command("commit", os.path.join(top, folder + "s" + name)) == (0, "")
        assert command("commit", m.path)[0] == 1
        if end == "kill":
            for column in "ab":
                mounted.fsync(os.path.join(top, folder + f"other/{column}.f4"))
            m.process.kill()
        m.close()
        m = mount(tmp_path, "tree")
        put_variant(os.path.join(top := os.path.join(m.path, FILE), folder + "t" + name), "v")
        with pytest.raises(OSError) as refused:
            put_variant(os.path.join(top, folder + "s" + name), "v")
        assert refused.value.errno == errno.EOPNOTSUPP
        shutil.rmtree(os.path.join(top, folder + "s" + name, "v"))
        shutil.rmtree(os.path.join(top, folder + "other"))
        assert command("commit", m.path) == (0, "")
    finally:
        m.close()
    with uproot.open(tmp_path / FILE) as file:
        assert file[folder + "t" + name]["v"].array().tolist() == [5, 6]
        assert file.classnames(cycle=False)[folder + "s" + name] == "TTree"
