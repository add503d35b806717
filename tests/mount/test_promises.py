# SPDX-License-Identifier: Apache-2.0
"""What docs/stability.md promises of JSON: members that were there are there. A member that is new is added here; none is
taken away before the version that may do so."""

import json
import os
import subprocess

import numpy as np
import pytest
import uproot

import mounted

SCHEMA = {"tfilefs", "name", "title", "kind", "entries", "clusters", "reason", "columns"}
COLUMN = {"path", "branch", "field", "dtype", "shape", "lists", "role", "length", "size", "title", "class", "compression", "reason"}
AWKWARD = {"tfilefs", "length", "form", "files"}
LISTED = {"path", "type", "size", "stored", "mode", "uid", "gid", "mtime", "inode"}
CONFIG = {"tfilefs", "version", "source", "sources", "mount_point", "pid", "pid_namespace", "ro", "memory", "threads", "readahead", "prefetch",
          "strings", "timeout", "recheck", "diskcache", "diskcache_bytes", "metrics", "views", "allow_other", "idle"}
COUNTS = {"hits", "misses", "bytes_asked", "wait_seconds", "read_calls", "bytes_read", "gap_bytes", "disk_seconds", "chunks_decoded",
          "bytes_decoded", "decode_seconds", "joined_loads", "prefetched_chunks", "prefetched_used", "prefetched_unused",
          "prefetched_bytes", "prefetched_bytes_used", "evictions", "read_size_mean", "extra_bytes"}
STATS = {"tfilefs", "version", "pid", "uptime_seconds", "cache", "mount", "metadata", "sources", "tables", "objects",
         "tables_forgotten", "forgotten"}
METRICS = {"asked_bytes_total", "budget_bytes", "budget_peak_bytes", "budget_used_bytes", "decode_cpu_seconds_total",
           "decoded_bytes_total", "decoded_chunks_total", "errors_total", "evicted_chunks_total", "handles", "info",
           "inodes", "joined_loads_total", "metadata_bytes", "prefetched_chunks_total", "prefetched_source_bytes_total",
           "prefetched_unused_chunks_total", "prefetched_used_chunks_total", "prefetched_used_source_bytes_total",
           "read_hits_total", "read_misses_total", "source_gap_bytes_total", "source_read_bytes_total",
           "source_read_seconds_total", "source_reads_total", "uptime_seconds", "wait_seconds_total", "operation_seconds_bucket",
           "operation_seconds_count", "operation_seconds_sum", "process_cpu_seconds_total", "process_max_fds", "process_open_fds",
           "process_resident_memory_bytes", "process_start_time_seconds", "process_threads",
           "process_virtual_memory_bytes"}  # behind tfilefs_, or of the process


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("promises") / "run.root")
    with uproot.recreate(path) as file:
        file["t"] = {"x": np.arange(10.0)}
    m = mounted.Mounted(path)
    with open(os.path.join(m.path, "t", "x.f8"), "rb") as column:
        column.read()
    yield m.path, path
    assert m.close() == 0


def members(place, *names):
    with open(os.path.join(place[0], *names), encoding="utf-8") as file:
        return json.load(file)


def test_members_of_the_files_of_a_table_stay(place):
    schema = members(place, "t", ".schema.json")
    assert SCHEMA <= set(schema) and COLUMN <= set(schema["columns"][0])
    assert AWKWARD <= set(members(place, "t", ".awkward.json"))


def test_members_of_the_files_of_a_mount_stay(place):
    assert CONFIG <= set(members(place, ".tfilefs", "config.json"))
    stats = members(place, ".tfilefs", "stats.json")
    [table] = stats["tables"]
    assert STATS <= set(stats) and {"table", "branches"} | COUNTS <= set(table) and COUNTS <= set(stats["cache"])
    assert {"branch", "columns"} | COUNTS <= set(table["branches"][0])


def test_members_of_a_listing_stay(place, program):
    said = subprocess.run([program, "ls", "--json", place[1]], capture_output=True, text=True, check=True).stdout
    assert all(LISTED <= set(each) for each in json.loads(said))


def test_names_of_metrics_stay(place):
    with open(os.path.join(place[0], ".tfilefs", "metrics"), encoding="utf-8") as file:
        names = {line.split("{")[0].split(" ")[0].removeprefix("tfilefs_") for line in file if not line.startswith("#")}
        file.seek(0)
        assert all('{mount="' in line and ',source="' in line for line in file if not line.startswith("#"))
    assert METRICS <= names, METRICS - names
