# SPDX-License-Identifier: Apache-2.0
"""Files that are damaged, or claim far more than they contain: all that a mount of them would show is read, in a process
with a mount's limit of memory and without a kernel (reading/read_everything.cpp), and little memory is taken."""

import errno
import functools
import json
import os
import struct
import subprocess
import time

import mounted

BUDGET = 8 << 20
BEYOND = 200 << 20  # memory that a reader may take besides its budget
# The errors by which a reader may see damage; any other is a defect.
DAMAGE = {errno.EIO, errno.ENOENT, errno.ELOOP, errno.ENOTSUP, errno.EINVAL, errno.ENOMEM, errno.ENAMETOOLONG}
YESTERDAY = time.time() - 86400
BESIDE = struct.pack("<4d", 0, 0, 7, 0)  # the histogram `beside`, which is intact


def write(path, image):
    """With an old date: damage of a file that has just been written might be the middle of a save, for which each error
    waits."""
    path.write_bytes(image)
    os.utime(path, (YESTERDAY, YESTERDAY))


@functools.cache
def reader():
    program = os.path.join(os.path.dirname(mounted.program()), "..", "tests", "read_everything")
    return subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def read_everything(path, budget, **more):
    """What became of it: "refused", a message, or "paths", a number, "errors" by path, "peak" memory, and the "bytes"
    of the path `read`, if it is given."""
    reader().stdin.write(json.dumps({"path": os.fspath(path), "memory": budget, **more}).encode() + b"\n")
    reader().stdin.flush()
    answer = json.loads(reader().stdout.readline())
    assert "ended" not in answer, answer
    assert set(answer.get("errors", {}).values()) <= DAMAGE, answer["errors"]
    assert answer.get("peak", 0) < budget + BEYOND, f"{answer['peak'] >> 20} MiB"
    return answer


def is_survived(path, beside=True, budget=BUDGET):
    """`beside`: the file is not refused, and the histogram of that name is intact."""
    answer = read_everything(path, budget, **({"read": "beside/values.f8"} if beside else {}))
    if beside:
        assert bytes(answer["bytes"]) == BESIDE
    return answer
