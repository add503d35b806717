# SPDX-License-Identifier: Apache-2.0
"""A mount's report of its own work: .tfilefs/stats.json, .tfilefs/metrics and `tfilefs stats`."""

import collections
import json
import os
import shutil
import subprocess
import time

import pytest
import uproot

import metrics_page
import mounted
import mounted_table

FIGURES = {"hits", "misses", "bytes_asked", "wait_seconds", "read_calls", "bytes_read", "gap_bytes", "disk_seconds",
           "chunks_decoded", "bytes_decoded", "decode_seconds", "joined_loads", "prefetched_chunks", "prefetched_used",
           "prefetched_unused", "prefetched_bytes", "prefetched_bytes_used", "evictions", "read_size_mean", "extra_bytes"}


@pytest.fixture
def source(samples):
    return os.path.join(samples("numbers"), "numbers-big-baskets.root")


def stats_of(path):
    with open(os.path.join(path, ".tfilefs", "stats.json")) as file:
        return json.load(file)


def table_of(stats, path):
    [table] = [table for table in stats["tables"] if table["table"] == path]
    return table


def metrics_of(path):
    """{(name, label or None): value}; the label is the one besides those of the mount. Without histograms."""
    series = {}
    for name, labels, value in metrics_page.samples(metrics_page.of_mount(path)):
        assert labels.pop("mount") == path and labels.pop("source")
        if "operation" not in labels:
            [label] = labels.values() or [None]
            assert (name, label) not in series
            series[name, label] = value
    return series


def operations_of(path):
    """{operation: {upper bound: count so far}}"""
    found = collections.defaultdict(dict)
    for name, labels, value in metrics_page.samples(metrics_page.of_mount(path)):
        if name == "tfilefs_operation_seconds_bucket":
            found[labels["operation"]][float(labels["le"])] = value
    return found


def test_a_column_read_whole(mount, source):
    path = mount(source).path
    mounted_table.read_array(os.path.join(path, "t", "s_D.f8"))
    stats = stats_of(path)
    assert stats["tfilefs"] == 1
    table = table_of(stats, "/t")
    assert FIGURES <= set(table) and FIGURES <= set(stats["cache"])
    [branch] = [branch for branch in table["branches"] if branch["columns"] == ["s_D.f8"]]
    assert FIGURES <= set(branch)
    with uproot.open(source) as file:
        oracle = file["t/s_D"]
        assert branch["branch"] == oracle.name
        assert branch["chunks_decoded"] == oracle.num_baskets
        assert branch["bytes_decoded"] == oracle.num_entries * 8
        assert branch["bytes_read"] == oracle.compressed_bytes
    assert branch["hits"] + branch["misses"] > 0
    assert branch["bytes_asked"] >= os.stat(os.path.join(path, "t", "s_D.f8")).st_size
    assert table["loaded"] and table["bytes_decoded"] >= branch["bytes_decoded"]
    assert table["extra_bytes"] == table["gap_bytes"] + table["prefetched_bytes"] - table["prefetched_bytes_used"]
    assert 0 < stats["cache"]["budget_used"] <= stats["cache"]["budget_peak"] <= stats["cache"]["budget"]


def test_metrics_agree_with_stats(mount, source):
    path = mount(source).path
    mounted_table.read_array(os.path.join(path, "t", "s_D.f8"))
    stats, metrics = stats_of(path), metrics_of(path)
    table = table_of(stats, "/t")
    assert metrics["tfilefs_decoded_chunks_total", "/t"] == table["chunks_decoded"]
    assert metrics["tfilefs_source_read_bytes_total", "/t"] == table["bytes_read"]
    assert metrics["tfilefs_budget_bytes", None] == stats["cache"]["budget"]
    assert len(metrics) < 100


def test_operations_are_counted_and_timed(mount, source):
    path = mount(source).path
    with open(os.path.join(path, "t", "s_D.f8"), "rb") as file:
        file.read()
        os.fstat(file.fileno())
    os.listdir(os.path.join(path, "t"))
    with pytest.raises(OSError):
        os.getxattr(path, "user.tfilefs.no")
    before = operations_of(path)
    assert {"lookup", "open", "read", "readdir", "xattr"} <= set(before) and not {"write", "fsync", "change"} & set(before)
    for counts in before.values():
        assert list(counts.values()) == sorted(counts.values()) and list(counts) == sorted(counts)
    with pytest.raises(OSError):
        os.stat(os.path.join(path, "t", "no such name"))
    after = operations_of(path)
    assert all(after[operation][bound] >= number for operation, counts in before.items() for bound, number in counts.items())
    assert after["lookup"][float("inf")] > before["lookup"][float("inf")]


def test_the_process_is_told_as_the_system_tells_it(mount, source):
    m = mount(source)
    metrics = metrics_of(m.path)
    # Threads and files are begun and closed meanwhile.
    assert metrics["process_threads", None] == pytest.approx(len(os.listdir(f"/proc/{m.process.pid}/task")), abs=4)
    assert metrics["process_open_fds", None] == pytest.approx(len(os.listdir(f"/proc/{m.process.pid}/fd")), abs=4)
    assert metrics["process_resident_memory_bytes", None] == pytest.approx(m.resident_bytes(), rel=0.2)
    assert metrics["process_cpu_seconds_total", None] == pytest.approx(m.ticks() / 100, abs=0.1)
    assert time.time() - 60 < metrics["process_start_time_seconds", None] < time.time() + 2
    assert metrics["process_max_fds", None] > 100 and metrics["process_virtual_memory_bytes", None] > 1e6


def test_labels_are_those_of_the_table_of_mounts(mount, source):
    path = mount(source, "fsname=run 1").path
    assert all(labels["source"] == "run 1" for _, labels, _ in metrics_page.samples(metrics_page.of_mount(path)))


def test_numbers_outlive_a_state_of_the_file_and_never_fall(mount, source, tmp_path):
    shutil.copy(source, tmp_path / "a.root")
    path = mount(tmp_path).path
    column = os.path.join(path, "a.root", "t", "s_D.f8")
    mounted_table.read_array(column)
    before = table_of(stats_of(path), "/a.root/t")
    shutil.copy(source, tmp_path / "b")
    os.replace(tmp_path / "b", tmp_path / "a.root")

    def is_read_anew():
        mounted.outcome(lambda: mounted_table.read_array(column))
        return table_of(stats_of(path), "/a.root/t")["generation"] > before["generation"]

    mounted.wait_until(is_read_anew)
    mounted_table.read_array(column)
    after = table_of(stats_of(path), "/a.root/t")
    assert after["chunks_decoded"] >= 2 * before["branches"][0]["chunks_decoded"]
    assert all(after[figure] >= before[figure] for figure in FIGURES - {"read_size_mean"})


def test_many_tables_make_a_bounded_number_of_series(mount, source, tmp_path):
    for i in range(300):
        os.link(source, tmp_path / f"{i}.root")
    path = mount(tmp_path).path
    for i in range(300):
        with open(os.path.join(path, f"{i}.root", "t", "s_D.f8"), "rb") as file:
            file.read(8)
    metrics, stats = metrics_of(path), stats_of(path)
    assert len({label for _, label in metrics if label}) <= 256 + len(("objects", "others", "version")) + len(stats["metadata"])
    assert sum(value for (name, _), value in metrics.items() if name == "tfilefs_decoded_chunks_total") >= 300
    assert len(stats["tables"]) + stats["tables_forgotten"] == 300


def run(program, *arguments, timeout=20):
    return subprocess.run([program, "stats", *arguments], capture_output=True, text=True, timeout=timeout)


def test_command(program, mount, source):
    path = mount(source).path
    mounted_table.read_array(os.path.join(path, "t", "s_D.f8"))
    answer = run(program, path)
    assert answer.returncode == 0 and answer.stderr == ""
    head, titles, *rows = answer.stdout.splitlines()
    assert head.startswith(path + ":") and "hits" in titles
    assert [row.split()[-1] for row in rows] == ["/t", "all"]
    answer = run(program, "-b", path)
    assert any(row.endswith("  /t: s_D") for row in answer.stdout.splitlines())


def test_command_goes_on_until_the_unmount(program, samples, tmp_path):
    path = str(tmp_path)
    subprocess.run([program, samples("numbers"), path], check=True)  # a mirror
    with subprocess.Popen([program, "stats", "-w", "0.2", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as watch:
        first = [watch.stdout.readline() for _ in range(3)]
        assert first[1].endswith("since the start\n")
        mounted_table.read_array(os.path.join(path, "numbers-big-baskets.root", "t", "s_D.f8"))
        lines = iter(watch.stdout.readline, "")
        row = next(line for line in lines if line.endswith("/numbers-big-baskets.root/t\n"))
        assert not row.split()[0] == "0"
        subprocess.run([program, "umount", path], check=True)
        assert watch.wait(20) == 1
        assert len(watch.stderr.read().splitlines()) == 1


def test_command_wrongly_used(program, tmp_path):
    answer = run(program, str(tmp_path))
    assert answer.returncode == 1 and answer.stdout == "" and len(answer.stderr.splitlines()) == 1
    assert run(program).returncode == 2
    assert run(program, "-w", "soon", str(tmp_path)).returncode == 2
