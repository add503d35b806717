# SPDX-License-Identifier: Apache-2.0
"""Every state of the disk during a commit, write by write, as ROOT and uproot read it: the old tables or the new ones,
without any message. tests/writing/write_steps makes the states, commit_states.py reads them."""

import os
import subprocess

import pytest

import mounted
import root_process


def write_steps(scenario, directory, *file):
    program = os.path.join(os.path.dirname(os.path.dirname(mounted.program())), "tests", "write_steps")
    subprocess.run([program, scenario, str(directory), *file], check=True)


def check_states(directory, file):
    """ROOT must not print anything, as it does when it recovers a file."""
    said = root_process.run_script(os.path.join("oracle", "commit_states.py"), [str(directory), str(file)])
    assert said == ""


@pytest.fixture(scope="module")
def foreign_files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("appendable-files")
    root_process.run_script(os.path.join("oracle", "appendable_files.py"), [str(directory)])
    return directory


@pytest.mark.parametrize("scenario", ["root-table", "directories", "keys"])
def test_states_of_a_new_file(scenario, tmp_path):
    write_steps(scenario, tmp_path)
    check_states(tmp_path, tmp_path / "file.root")


@pytest.mark.parametrize(
    "scenario, name",
    [
        ("foreign", "root"),
        ("foreign", "uproot"),
        ("foreign", "long-name"),
        ("foreign", "large"),
        ("foreign-directory", "root-directory"),
        ("foreign-directory", "uproot-directory"),
        ("foreign-directory", "crossing-directory"),
        ("foreign-directory", "large-directory"),
    ],
)
def test_states_of_another_writers_file(scenario, name, tmp_path, foreign_files):
    original = os.path.join(foreign_files, name + ".root")
    write_steps(scenario, tmp_path, original)
    file = str(tmp_path / "file.root")
    subprocess.run(["cp", "--sparse=auto", original, file], check=True)
    check_states(tmp_path, file)


def test_a_write_that_is_lost_is_seen(tmp_path):
    """As if a missing sync lost it: the records to which the head points do not exist."""
    write_steps("root-table", tmp_path)
    words = [line.split() for line in (tmp_path / "states.txt").read_text().splitlines()]
    record = next(patch for word, patch, *_ in words[4:] if word == "open")
    content = (tmp_path / record).read_bytes()
    (tmp_path / record).write_bytes(content[:16] + bytes(len(content) - 16))
    with pytest.raises((AssertionError, RuntimeError)):
        check_states(tmp_path, tmp_path / "file.root")
