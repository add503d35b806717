# SPDX-License-Identifier: Apache-2.0
"""A mount in a control group that is given little: it takes less, and is not killed."""

import json
import os
import subprocess
import threading

import numpy as np
import pytest
import uproot

import mounted

LIMIT = 128 << 20
COLUMNS, ENTRIES = "abcdefgh", 4_000_000  # 256 MB


class Group:
    """A control group below the root of the memory controller, of version 1 or 2."""

    def __init__(self):
        first = "/sys/fs/cgroup/memory"
        self.is_first = os.path.isdir(first)
        self.directory = os.path.join(first if self.is_first else "/sys/fs/cgroup", f"tfilefs-test-{os.getpid()}")
        os.mkdir(self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)

    @property
    def limit_file(self):
        return self.path("memory.limit_in_bytes" if self.is_first else "memory.max")

    def killed(self):
        with open(self.path("memory.oom_control" if self.is_first else "memory.events"), encoding="ascii") as file:
            return dict(line.split() for line in file).get("oom_kill", "0")


@pytest.fixture
def group():
    try:
        group = Group()
        group.write(os.path.basename(group.limit_file), str(LIMIT))
    except OSError as error:
        pytest.skip(f"no control group with a limit of memory can be made here: {error}")
    yield group
    os.rmdir(group.directory)


def in_group(group, *command):
    """The command, started in the group."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group.path("cgroup.procs"), *map(str, command)]


def test_eight_readers_of_more_than_it_has(program, group, tmp_path):
    random = np.random.default_rng(1)
    with uproot.recreate(tmp_path / "big.root", compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {name: "f8" for name in COLUMNS})
        for _ in range(8):
            file["t"].extend(dict.fromkeys(COLUMNS, np.round(random.random(ENTRIES // 8), 3)))
    mnt = tmp_path / "mnt"
    mnt.mkdir()
    assert subprocess.run(in_group(group, program, tmp_path / "big.root", mnt), stderr=subprocess.DEVNULL).returncode == 0
    try:
        with open(mnt / ".tfilefs" / "config.json", encoding="utf-8") as config:
            assert json.load(config)["memory"] == LIMIT // 4
        sizes = {}

        def read(name):
            with open(mnt / "t" / f"{name}.f8", "rb", buffering=0) as column:
                sizes[name] = sum(iter(lambda: len(column.read(1 << 20)), 0))

        readers = [threading.Thread(target=read, args=name) for name in COLUMNS]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert sizes == dict.fromkeys(COLUMNS, 8 * ENTRIES)
        assert group.killed() == "0" and mounted.is_mount_point(mnt)
    finally:
        subprocess.run([program, "umount", mnt], check=True)


def test_doctor_says_which_limit_there_is(program, group):
    said = subprocess.run(in_group(group, program, "doctor"), capture_output=True, text=True).stdout
    [line] = [line for line in said.splitlines() if line.split()[1] == "memory"]
    assert f"up to {LIMIT >> 22} MiB of {LIMIT >> 20} MiB, which {group.limit_file} allows" in line
