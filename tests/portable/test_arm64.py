# SPDX-License-Identifier: Apache-2.0
"""The program for arm64, under an emulator of that machine: all but mounting, which needs its kernel."""

import os
import subprocess

import pytest

import mounted
from conftest import EMULATOR


def run(*command):
    return subprocess.run([*EMULATOR, *command], capture_output=True, text=True, timeout=1200)


@pytest.mark.parametrize("command", (["check"], ["map"], ["ls"], ["advise"]))
def test_commands_say_what_they_say_on_this_machine(arm64, sample, command):
    done = run(f"{arm64}/bin/tfilefs", *command, sample)
    here = subprocess.run([mounted.program(), *command, sample], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == here.stdout, done.stderr


def test_it_tells_its_libraries(arm64):
    done = run(f"{arm64}/bin/tfilefs", "--version", "-v")
    assert done.returncode == 0 and "libfuse 3." in done.stdout and "left out" not in done.stdout, done.stderr


def test_unit_tests_of_the_format_pass(arm64_build):
    path = os.path.join(arm64_build, "tests", "format_tests")
    if not os.path.exists(path):
        pytest.skip(f"{path} is not built")
    done = run(path, "--gtest_brief=1")
    assert done.returncode == 0 and "PASSED" in done.stdout, (done.stdout + done.stderr)[-4000:]
