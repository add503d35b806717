# SPDX-License-Identifier: Apache-2.0
"""A mount for writing, and the columns that the crash tests write: values are functions of the entry's number."""

import contextlib
import os
import signal
import struct
import subprocess
import threading

import numpy

import checker
import mounted
import recording
import variant_columns

WRITE_SIZE = 65536  # bytes per write(2)
DEADLINE = 60  # a call that takes more seconds hangs

# Neither time nor size triggers a commit, only a request.
BY_HAND = ("rw", "commit=86400")


class Daemon(mounted.Mounted):
    """`tfilefs -f -o rw DIR MNT`, recorded into `log` if one is given, with faults (recording.FAULTS)."""

    def __init__(self, directory, log=None, options=BY_HAND, **faults):
        environment = None if log is None else recording.environment(directory, log, **faults)
        super().__init__(directory, options, environment=environment)

    def command(self, name, path=None):
        """Runs `tfilefs NAME PATH`; returns its exit status, and keeps its output in `said`."""
        with deadline():
            result = subprocess.run([mounted.program(), name, path or self.path], capture_output=True, text=True)
        self.said = result.stdout + result.stderr
        return result.returncode

    def unmount(self):
        """Runs `tfilefs umount`; returns its exit status, and cleans up after a dead daemon."""
        try:
            status = self.command("umount")
            if mounted.is_mount_point(self.path):
                assert status == 1 and "not unmounted: these files would be lost" in self.said, self.said
                subprocess.run([mounted.program(), "umount", "--lazy", self.path], capture_output=True)
            assert not mounted.is_mount_point(self.path), self.said
            with deadline():
                self.process.wait()
            return status
        finally:
            self.close()

    def __exit__(self, *_):
        self.close()


@contextlib.contextmanager
def deadline(seconds=DEADLINE):
    """Raises TimeoutError out of a system call that does not return. Seconds in which this process could not run,
    because others used all cores, hardly count: they are one wait."""
    over = threading.Event()

    def ring(*_):
        raise TimeoutError(f"no answer in {seconds} s")

    def count():  # beside the calls: an alarm every second would interrupt those that Python does not repeat, as unlink
        for _ in range(seconds):
            if over.wait(1):
                return
        signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)

    handler = signal.signal(signal.SIGALRM, ring)
    counter = threading.Thread(target=count)
    counter.start()
    try:
        yield
    finally:
        over.set()
        counter.join()
        signal.signal(signal.SIGALRM, handler)


def write(path, data, append=False, sync=False):
    """Writes like cp or `>>`; `sync`: fsync before close. All errors are raised."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
    file = os.open(path, flags, 0o644)
    try:
        for at in range(0, len(data), WRITE_SIZE):
            part = data[at : at + WRITE_SIZE]
            while part:
                part = part[os.write(file, part) :]
        if sync:
            os.fsync(file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(file)
        raise
    os.close(file)


# Columns: the content of a branch in the form of checker.Table, and the files to write for it.


def px(entries):
    return numpy.arange(entries, dtype="<f4") * numpy.float32(0.5)


def count(entries):
    return (numpy.arange(entries) * 7).astype("<i4")


def position(entries):
    return numpy.arange(3 * entries).astype("<f8")


def hits(entries):
    counts = numpy.arange(entries, dtype="<i8") % 4
    return numpy.arange(counts.sum()).astype("<f4"), counts


def _spread(entries, most):
    """Lengths of lists that grow and shrink from entry to entry."""
    return numpy.arange(entries, dtype="<i8") % most


def track_pt(entries):
    counts = _spread(entries, 5)
    return numpy.arange(counts.sum()).astype("<f4") * numpy.float32(0.25), counts


def track_id(entries):
    counts = _spread(entries, 5)
    return (numpy.arange(counts.sum()) * 3).astype("<i4"), counts


def cell_energy(entries):
    counts = _spread(entries, 3)
    return numpy.arange(counts.sum()).astype("<f8") + 0.5, counts


def name(entries):
    texts = [b"entry %d" % entry * (entry % 3) for entry in range(entries)]
    return numpy.frombuffer(b"".join(texts), "u1"), numpy.array([len(text) for text in texts], "<i8")


def noise(entries):
    """The same numbers again after 600 entries: pages that do not compress, and are equal to earlier ones."""
    return numpy.resize(numpy.random.default_rng(1).uniform(size=600), entries)


def again(entries):
    """The same."""
    return noise(entries)


def hit_counts(entries):
    """The lengths of `hits`: in an RNTuple a projection of it."""
    return hits(entries)[1].astype("<u4")


# Lists of records, whose members are columns of their own for the readers.
RECORDS = {"tracks": {"pt": ("f4", track_pt), "id": ("i4", track_id)}, "cells": {"energy": ("f8", cell_energy)}}


def _plain(file, column):
    return lambda first, last: {file: column(last).tobytes()[len(column(first).tobytes()) :]}


def _listed(folder, values, column):
    def files(first, last):
        items, counts = column(last)
        offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype("<i8")
        begin = len(column(first)[0])
        return {
            f"{folder}/offsets.i8": offsets[first + 1 if first else 0 :].tobytes(),
            f"{folder}/{values}": items[begin:].tobytes(),
        }

    return files


def _records(folder):
    def files(first, last):
        found = {}
        for member, (dtype, column) in RECORDS[folder].items():
            found |= _listed(folder, f"values/{member}.{dtype}", column)(first, last)
        return found

    return files


def _grown(whole):
    """What the entries from first to last add to files that are `whole(entries)`; offsets begin with a 0."""

    def files(first, last):
        before = whole(first) if first else {}
        return {
            file: content.tobytes()[before[file].nbytes if first else 0 :] for file, content in whole(last).items()
        }

    return files


def _members(name):
    return {f"{name}.{member}": column for member, (_, column) in RECORDS[name].items()}


COLUMNS = {
    "px": px,
    "count": count,
    "position": position,
    "hits": hits,
    "name": name,
    "noise": noise,
    "again": again,
    "nhits": hit_counts,
    "choice": variant_columns.choice,
    "parts": variant_columns.parts,
}
FILES = {  # branch -> files of the entries from first to last
    "px": _plain("px.f4", px),
    "count": _plain("count.i4", count),
    "position": _plain("position.f8x3", position),
    "hits": _listed("hits", "values.f4", hits),
    "name": _listed("name", "chars.u1", name),
}
RECORD_FILES = {name: _records(name) for name in RECORDS}
NTUPLE_FILES = {  # of RNTuples alone
    "noise": _plain("noise.f8", noise),
    "again": _plain("again.f8", again),
    "nhits": _plain("nhits.u4", hit_counts),
    "choice": _grown(variant_columns.choice_files),
    "parts": _grown(variant_columns.part_files),
}
TYPES = {  # of the variants in a column
    "choice": {"choice": "std::variant<std::int32_t,std::string,std::vector<float>>"},
    "parts": {"parts/values": "std::variant<double,std::string>"},
}


def object_bytes(text):
    """Those of a TObjString."""
    content = struct.pack(">HHII", 1, 1, 0, 0) + bytes([len(text)]) + text
    return struct.pack(">I", 0x40000000 | len(content)) + content


def write_object(path, class_name, content, fsync=False):
    os.makedirs(path)
    write(os.path.join(path, "object.json"), b'{"_typename": "%s"}' % class_name.encode())
    write(os.path.join(path, "object.bin"), content, sync=fsync)


def write_histogram(path):
    os.makedirs(path)
    for name, numbers in ("values", numpy.arange(50)), ("xedges", numpy.arange(51)), ("variances", numpy.arange(50) * 2):
        write(os.path.join(path, f"{name}.f8"), numbers.astype("<f8").tobytes())


def numbered(number):
    """A distinct column for each number."""
    return lambda entries: (numpy.arange(entries) * 3 + number).astype("<i4")


def write_table(path, first, last, columns=tuple(FILES), fsync=False):
    """Writes entries first to last of each column; makes the directory if it does not exist."""
    os.makedirs(path, exist_ok=True)
    for column in columns:
        for file, data in files_of(column, first, last).items():
            target = os.path.join(path, file)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            write(target, data, append=first > 0, sync=fsync)
        for folder, kind in TYPES.get(column, {}).items() if first == 0 else ():
            os.setxattr(os.path.join(path, folder), "user.tfilefs.class", kind.encode())


def files_of(column, first, last):
    """{path in the table: bytes} of these entries."""
    return (FILES | RECORD_FILES | NTUPLE_FILES)[column](first, last)


def table(entries, columns=tuple(FILES)):
    """The table that readers must find. `entries` is a number, or a range while a commit is in progress."""
    found = {}
    for column in columns:
        found |= _members(column) if column in RECORDS else {column: COLUMNS[column]}
    return checker.Table(found, [entries] if isinstance(entries, int) else entries)
