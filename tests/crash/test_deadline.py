# SPDX-License-Identifier: Apache-2.0
"""The alarm of the crash tests goes off for a hang, but not on a machine that runs other processes for a while."""

import os
import subprocess
import time

import pytest

import writing


def test_it_rings():
    begin = time.monotonic()
    with pytest.raises(TimeoutError), writing.deadline(1):
        time.sleep(30)
    assert time.monotonic() - begin < 10


def test_it_does_not_while_the_process_is_stopped():
    me = os.getpid()
    stopper = subprocess.Popen(["sh", "-c", f"kill -STOP {me}; sleep 3.2; kill -CONT {me}"])
    with writing.deadline(3):
        stopper.wait()
