# SPDX-License-Identifier: Apache-2.0
"""The memory of the daemon while a table larger than its budget is written."""

import os

import numpy as np
import uproot

BUDGET = 32 << 20
BESIDE = 64 << 20  # the program itself, stacks, buffers of the kernel's requests
COLUMNS, ENTRIES, PART = 3, 25_000_000, 1_000_000  # 300 MB


def part(column, begin):
    """Compressible numbers that differ by place."""
    return (np.arange(begin, begin + PART, dtype="<i4") >> 4) ^ column


def peak_of(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:"))


def test_a_table_larger_than_the_budget(mount, tmp_path):
    m = mount(tmp_path, f"rw,memory={BUDGET >> 20}M,compression=lz4:1")
    table = os.path.join(m.path, "out.root", "Events")
    os.makedirs(table)
    for column in range(COLUMNS):
        with open(os.path.join(table, f"x{column}.i4"), "wb") as file:
            for begin in range(0, ENTRIES, PART):
                file.write(part(column, begin).tobytes())
    directory = os.open(table, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    assert m.errors() == ""
    assert peak_of(m.process.pid) <= BUDGET + BESIDE
    with uproot.open(tmp_path / "out.root") as file:
        tree = file["Events"]
        assert tree.num_entries == ENTRIES
        for column in range(COLUMNS):
            for begin in (0, ENTRIES // PART // 2 * PART, ENTRIES - PART):
                got = tree[f"x{column}"].array(library="np", entry_start=begin, entry_stop=begin + PART)
                assert np.array_equal(got, part(column, begin))
