# SPDX-License-Identifier: Apache-2.0
"""Many readers of one mount, threads and processes: with minimal memory, and of one column at once.

TFILEFS_STRESS_SECONDS is the duration of the first test (6); TFILEFS_STRESS_SEED repeats its choices."""

import json
import mmap
import multiprocessing
import os
import random
import threading
import time

import pytest
import uproot

import wide

SECONDS = float(os.environ.get("TFILEFS_STRESS_SECONDS", "6"))
SEED = int(os.environ.get("TFILEFS_STRESS_SEED", "0")) or int(time.time())
PROCESSES, THREADS = 3, 4
SPAWN = multiprocessing.get_context("spawn")


def stats_of(path):
    with open(os.path.join(path, ".tfilefs", "stats.json")) as file:
        return json.load(file)


def read_somewhere(choose, file, whole):
    size = choose.choice((1, 8, 100, 4096, 65536, 300_000, 1 << 20))
    offset = choose.randrange(len(whole) + 10)
    got = os.pread(file, size, offset)
    assert len(got) == len(whole[offset:offset + size]), f"{len(got)} bytes of {size} at {offset} of {len(whole)}"
    assert got == whole[offset:offset + size], f"{size} bytes at {offset}"


def read_in_order(choose, file, whole):
    step = choose.choice((4096, 50_000, 131_072))
    place = choose.randrange(len(whole))
    for offset in range(place, min(len(whole), place + 20 * step), step):
        assert os.pread(file, step, offset) == whole[offset:offset + step], f"{step} bytes at {offset}"


def map_it(choose, file, whole):
    with mmap.mmap(file, 0, mmap.MAP_SHARED, mmap.PROT_READ) as mapped:
        for _ in range(5):
            offset = choose.randrange(len(whole))
            assert mapped[offset:offset + 10_000] == whole[offset:offset + 10_000], f"mapped at {offset}"


def read_until(deadline, table, seed, failures):
    choose = random.Random(seed)
    try:
        while time.monotonic() < deadline and not failures:
            column = choose.randrange(wide.ALL) if choose.random() < 0.5 else wide.ALL - 1 - choose.randrange(10)
            whole = wide.expected(column)
            file = os.open(os.path.join(table, wide.path(column)), os.O_RDONLY)
            try:
                assert os.fstat(file).st_size == len(whole)
                for _ in range(choose.randrange(1, 20)):
                    if choose.random() < 0.5:
                        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                    choose.choice((read_somewhere, read_somewhere, read_in_order, map_it))(choose, file, whole)
            finally:
                os.close(file)
    except Exception as error:
        failures.append(f"seed {seed}, {wide.path(column)}: {error!r}")


def run_process(seconds, table, seed, told):
    failures = []
    deadline = time.monotonic() + seconds
    threads = [threading.Thread(target=read_until, args=(deadline, table, f"{seed}-{i}", failures)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.put(failures)


@pytest.mark.sanitized
@pytest.mark.parametrize("options", (("memory=8M",), ("memory=2M", "prefetch=sequential"), ("memory=8M", "threads=1")))
def test_next_to_no_memory(samples, mount, options):
    mounted = mount(os.path.join(samples("wide"), "wide.root"), *options)
    table = os.path.join(mounted.path, "t")
    told = SPAWN.Queue()
    processes = [SPAWN.Process(target=run_process, args=(SECONDS / 3, table, f"{SEED}-{i}", told)) for i in range(PROCESSES)]
    for process in processes:
        process.start()
    asked = 0
    while any(process.is_alive() for process in processes):
        stats = stats_of(mounted.path)
        assert stats["cache"]["bytes_asked"] >= asked
        asked = stats["cache"]["bytes_asked"]
        with open(os.path.join(mounted.path, ".tfilefs", "metrics")) as file:
            assert file.read().endswith("\n")
        time.sleep(0.2)
        if not told.empty():
            break
    failures = sum((told.get(timeout=120) for _ in processes), [])
    for process in processes:
        process.join()
    assert not failures, "\n".join(failures)
    stats = stats_of(mounted.path)
    assert stats["cache"]["evictions"] > 0 and stats["mount"]["errors"] == 0, stats["cache"]


def sum_mapped(path, ready, go, told):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ) as mapped:
        ready.release()
        go.wait()
        told.put(mapped[:] == wide.expected(wide.ALL - 1))


def test_eight_processes_that_map_a_column_decode_it_once(samples, mount):
    source = os.path.join(samples("wide"), "wide.root")
    path = mount(source).path
    column = os.path.join(path, "t", wide.path(wide.ALL - 1))
    ready, go, told = SPAWN.Semaphore(0), SPAWN.Event(), SPAWN.Queue()
    processes = [SPAWN.Process(target=sum_mapped, args=(column, ready, go, told)) for _ in range(8)]
    for process in processes:
        process.start()
    for _ in processes:
        assert ready.acquire(timeout=60)
    go.set()
    assert all([told.get(timeout=60) for _ in processes])
    for process in processes:
        process.join()
    [table] = stats_of(path)["tables"]
    [branch] = [branch for branch in table["branches"] if branch["branch"] == "matrix"]
    with uproot.open(source) as file:
        assert branch["chunks_decoded"] == file["t/matrix"].num_baskets
    # The kernel serves later requests: the daemon is not even asked, but for a page that a machine short of memory let go.
    with open(column, "rb") as file:
        assert file.read() == wide.expected(wide.ALL - 1)
    [table] = stats_of(path)["tables"]
    [again] = [branch for branch in table["branches"] if branch["branch"] == "matrix"]
    assert again["bytes_asked"] <= 1.05 * branch["bytes_asked"]
