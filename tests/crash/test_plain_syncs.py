# SPDX-License-Identifier: Apache-2.0
"""O_SYNC and O_DSYNC on files of a mirror reach the disk: each write is followed by a sync of the file of the host."""

import os

import pytest

import mounted
import recording


@pytest.mark.parametrize("sync", (0, os.O_DSYNC, os.O_SYNC), ids=("none", "data", "all"))
@pytest.mark.parametrize("flags", (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND))
def test_a_write_that_is_to_be_on_disk_is_synced(tmp_path, flags, sync):
    source, log = tmp_path / "source", tmp_path / "log"
    source.mkdir()
    with mounted.Mounted(source, ("rw",), environment=recording.environment(source, log)) as m:
        fd = os.open(os.path.join(m.path, "file"), flags | sync | os.O_CREAT, 0o644)
        for _ in range(3):
            os.write(fd, b"some text")
        os.close(fd)
    kinds = [operation.kind for operation in recording.read_log(log) if operation.kind in (recording.WRITE, recording.SYNC)]
    assert kinds == 3 * ([recording.WRITE, recording.SYNC] if sync else [recording.WRITE])
