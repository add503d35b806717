# SPDX-License-Identifier: Apache-2.0
"""Directories of files that the scripts of samples/ write with ROOT and uproot. A script runs once in a directory, however
many processes ask; below TFILEFS_SAMPLES what it wrote outlives the run."""

import fcntl
import hashlib
import importlib.metadata
import os
import pathlib
import shutil

import root_process

HERE = pathlib.Path(__file__).parent


def kept():
    """The directory below TFILEFS_SAMPLES: its name tells what samples are made of. None: not set."""
    directory = os.environ.get("TFILEFS_SAMPLES")
    if not directory:
        return None
    made_of = hashlib.sha256()
    for path in sorted([*(HERE / "samples").iterdir(), *HERE.glob("root_*.py")]):
        if path.is_file():
            made_of.update(path.name.encode() + b"\0" + path.read_bytes())
    for package in ("root", "uproot", "awkward", "numpy"):
        made_of.update(importlib.metadata.version(package).encode())
    directory = pathlib.Path(directory) / made_of.hexdigest()[:16]
    directory.mkdir(parents=True, exist_ok=True)
    os.utime(directory)  # packaging/test removes those that are in use no more
    return directory


def made(name, base):
    """What samples/NAME.py wrote into a directory below `base`."""
    directory, mark = base / f"sample-{name}", base / f"sample-{name}.made"
    with open(base / f"sample-{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            root_process.run_script(os.path.join("samples", name + ".py"), [str(directory)])
            mark.touch()
    return str(directory)
