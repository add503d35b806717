# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all end-to-end tests: the program, mounts, and samples that ROOT and uproot write when first asked for."""

import contextlib
import os
import subprocess

import hypothesis
import pytest

import mounted
import root_process

hypothesis.settings.register_profile("ci", max_examples=15, deadline=None, print_blob=True)
hypothesis.settings.register_profile("long", max_examples=2000, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart(session):
    if not os.access(mounted.program(), os.X_OK):
        raise pytest.UsageError(f"{mounted.program()} is not there: build it, or set TFILEFS_BIN")


@pytest.fixture(scope="session")
def program():
    return mounted.program()


@pytest.fixture(scope="session")
def writing_program():
    """Skips where the program under test cannot write."""
    command = [mounted.program(), "-o", "rw", "/no such source", "/no such place"]
    said = subprocess.run(command, capture_output=True, text=True)
    if "writing is not supported" in said.stderr:
        pytest.skip(f"NOT TESTED: {said.stderr.strip()}")


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """samples('numbers') runs tests/samples/numbers.py once, in a process and directory of its own; gives the directory."""
    made = {}

    def make(name):
        if name not in made:
            directory = tmp_path_factory.mktemp(f"sample-{name}")
            root_process.run_script(os.path.join("samples", name + ".py"), [str(directory)])
            made[name] = str(directory)
        return made[name]

    return make


@pytest.fixture
def mount():
    """mount(source, 'option', ...) gives a Mounted that the test's end unmounts, and whose exit status must be 0."""
    with contextlib.ExitStack() as stack:
        yield lambda source, *options, **more: stack.enter_context(mounted.Mounted(source, options, **more))


@pytest.fixture(scope="module")
def shared_mount():
    """The same for mounts that the tests of a module share; the same source and options give the same mount."""
    with contextlib.ExitStack() as stack:
        known = {}

        def get(source, *options):
            if (source, options) not in known:
                known[source, options] = stack.enter_context(mounted.Mounted(source, options))
            return known[source, options]

        yield get
