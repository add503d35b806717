# SPDX-License-Identifier: Apache-2.0
"""How much memory the daemon takes: the budget, what it lists as metadata, and little else.

TFILEFS_MEMORY_FILES is how many files of a thousand columns are open at once (40); 200 of them take minutes."""

import json
import os
import random

import pytest

import wide

FILES = int(os.environ.get("TFILEFS_MEMORY_FILES", "40"))
BUDGET_MB = 32 * FILES // 25  # 256 MB for 200 files
READS = 100 * FILES           # what they touch is more than the budget
BESIDE = 64 << 20  # the program itself, stacks, buffers of the kernel's requests


def stats_of(path):
    with open(os.path.join(path, ".tfilefs", "stats.json")) as file:
        return json.load(file)


def metadata_of(path):
    return stats_of(path)["metadata"]


@pytest.fixture
def many_files(samples, tmp_path):
    for i in range(FILES):
        os.link(os.path.join(samples("wide"), "wide.root"), tmp_path / f"{i}.root")
    return tmp_path


def test_many_wide_files_read_at_random(mount, many_files):
    mounted = mount(many_files, f"memory={BUDGET_MB}M")
    choose = random.Random(7)
    held = []  # every file stays open
    try:
        for i in range(FILES):
            held.append(open(os.path.join(mounted.path, f"{i}.root", "t", wide.path(choose.randrange(wide.ALL))), "rb"))
        for _ in range(READS):
            column = choose.randrange(wide.ALL)
            whole = wide.expected(column)
            offset = choose.randrange(len(whole))
            name = os.path.join(mounted.path, f"{choose.randrange(FILES)}.root", "t", wide.path(column))
            with open(name, "rb", buffering=0) as file:
                assert os.pread(file.fileno(), 4096, offset) == whole[offset:offset + 4096]
        stats = stats_of(mounted.path)
        metadata = stats["metadata"]
        resident = mounted.resident_bytes()
    finally:
        for file in held:
            file.close()
    assert metadata["total"] == sum(size for kind, size in metadata.items() if kind != "total")
    budget = stats["cache"]["budget"]
    print(f"{FILES} files, budget {budget / 1e6:.1f} MB, metadata {metadata['total'] / 1e6:.1f} MB, "
          f"resident {resident / 1e6:.1f} of {(budget + BESIDE + metadata['total']) / 1e6:.1f} MB")
    assert budget == BUDGET_MB << 20 and stats["cache"]["evictions"] > 0, stats["cache"]  # or it says nothing
    assert resident <= budget + BESIDE + metadata["total"], metadata
    # and that is not much: three names, a node, a column, a stream and the places of five baskets for each branch
    assert metadata["total"] <= FILES * (wide.COLUMNS * 1500 + 300_000), metadata


def test_metadata_goes_with_its_files(mount, samples, tmp_path):
    os.link(os.path.join(samples("wide"), "wide.root"), tmp_path / "a.root")
    path = mount(tmp_path).path
    before = metadata_of(path)
    with open(os.path.join(path, "a.root", "t", "c0.f8"), "rb") as file:
        file.read()
        during = metadata_of(path)
    assert all(during[kind] > before[kind] for kind in ("files", "tables", "directories", "extents", "counts", "inodes"))
