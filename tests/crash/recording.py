# SPDX-License-Identifier: Apache-2.0
"""The operations of a program on the files of a directory: write_recorder.so, the environment for it, and its log."""

import dataclasses
import os
import struct

import mounted

(
    OPEN,
    WRITE,
    RESIZE,
    ALLOCATE,
    SYNC,
    RENAME,
    UNLINK,
    LINK,
    MAKE_DIRECTORY,
    REMOVE_DIRECTORY,
    MARK,
    SKIPPED_SYNC,
    MAPPING,
) = range(1, 14)
CREATED, UNNAMED = 1, 2  # `value` of OPEN, which is 0 if the file existed

_HEADER = struct.Struct("<IIQQQiIII")
_MAGIC = 0x43455254

FAULTS = {
    "no_space_after": "RECORDER_NO_SPACE_AFTER",
    "quota_after": "RECORDER_QUOTA_AFTER",
    "fail_sync": "RECORDER_FAIL_SYNC",
    "short_write": "RECORDER_SHORT_WRITE",
    "kill": "RECORDER_KILL",
    "skip_sync": "RECORDER_SKIP_SYNC",
}


@dataclasses.dataclass(frozen=True)
class Operation:
    kind: int
    inode: int
    offset: int
    value: int
    error: int
    path: str
    other: str
    data: bytes

    def is_counted(self):
        """Whether RECORDER_KILL counts it: the first of the records of one call."""
        return self.kind not in (MARK, MAPPING) and not (self.kind == OPEN and self.value == 0)

    def __str__(self):
        name = {
            OPEN: "open",
            WRITE: "write",
            RESIZE: "resize",
            ALLOCATE: "allocate",
            SYNC: "sync",
            RENAME: "rename",
            UNLINK: "unlink",
            LINK: "link",
            MAKE_DIRECTORY: "mkdir",
            REMOVE_DIRECTORY: "rmdir",
            MARK: "mark",
            SKIPPED_SYNC: "skipped sync",
            MAPPING: "shared mapping",
        }[self.kind]
        where = (
            f" @{self.offset}+{len(self.data)}"
            if self.kind == WRITE
            else f" {self.offset}" if self.kind == RESIZE else ""
        )
        target = f" -> {self.other}" if self.other else ""
        return f"{name} {self.path}{where}{target}" + (f" failed: {os.strerror(self.error)}" if self.error else "")


def library():
    """write_recorder.so from the build of the program; TFILEFS_RECORDER names another one."""
    build = os.path.join(os.path.dirname(mounted.program()), "..")
    path = os.environ.get("TFILEFS_RECORDER", os.path.join(build, "tests", "crash", "write_recorder.so"))
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} is not there: build write_recorder, or set TFILEFS_RECORDER")
    return os.path.realpath(path)


def environment(directory, log, **faults):
    """The environment in which a program is recorded, with faults by their names in FAULTS."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("RECORDER_")}
    own.update({FAULTS[name]: str(value) for name, value in faults.items() if value is not None})
    return dict(own, LD_PRELOAD=library(), RECORDER_DIRECTORY=os.fspath(directory), RECORDER_LOG=os.fspath(log))


def mark(text, log=None):
    """Notes an event in the log, in the recorded program (without `log`) or elsewhere."""
    data = text.encode()
    record = _HEADER.pack(_MAGIC, MARK, 0, 0, 0, 0, 0, len(data), 0) + data
    file = os.open(log or os.environ["RECORDER_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        assert os.write(file, record) == len(record)
    finally:
        os.close(file)


def read_log(path):
    """All operations, in order. A last record cut short by a kill is left out."""
    with open(path, "rb") as file:
        log = file.read()
    operations, at = [], 0
    while at + _HEADER.size <= len(log):
        magic, kind, inode, offset, data_size, error, value, path_size, other_size = _HEADER.unpack_from(log, at)
        if magic != _MAGIC:
            raise ValueError(f"no record at byte {at} of the log")
        begin = at + _HEADER.size
        at = begin + path_size + other_size + data_size
        if at > len(log):
            break
        other = begin + path_size
        operations.append(
            Operation(
                kind,
                inode,
                offset,
                value,
                error,
                os.fsdecode(log[begin:other]),
                os.fsdecode(log[other : other + other_size]),
                log[other + other_size : at],
            )
        )
    return operations
