# SPDX-License-Identifier: Apache-2.0
"""Tables of one column that are staged, committed and read again; daemons that are killed."""

import os
import signal
import subprocess

import numpy as np
import uproot

import mounted

VALUES = np.arange(1000, dtype="<i4")
OPTIONS = ("rw", "commit=600")


def run(*arguments):
    return subprocess.run([mounted.program(), *map(str, arguments)], capture_output=True, text=True, errors="replace")


def stage(table, values=VALUES):
    os.makedirs(table)
    with open(os.path.join(table, "x.i4"), "wb") as file:
        file.write(values.tobytes())


def make_file(directory, name="a.root", values=VALUES):
    """A file with the table T."""
    directory.mkdir(exist_ok=True)
    with mounted.Mounted(directory, OPTIONS) as m:
        stage(os.path.join(m.path, name, "T"), values)
    return directory / name


def tables(path):
    """The values of each table, as uproot reads them."""
    with uproot.open(path) as file:
        return {name: file[name]["x"].array(library="np").tolist() for name in file.keys(cycle=False)}


def kill(m):
    m.process.send_signal(signal.SIGKILL)
    m.process.wait()
    m.close()
