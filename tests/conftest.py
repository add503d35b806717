# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all end-to-end tests: the program, mounts, and samples that ROOT and uproot write when they are first
requested."""

import contextlib
import os

import hypothesis
import pytest

import campaign
import foreign_appender
import mounted
import sample_files

hypothesis.settings.register_profile("ci", max_examples=15, deadline=None, print_blob=True)
hypothesis.settings.register_profile("long", max_examples=2000, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart(session):
    if not os.access(mounted.program(), os.X_OK):
        raise pytest.UsageError(f"{mounted.program()} is not there: build it, or set TFILEFS_BIN")


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["campaign"] = campaign.lines


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    campaign.lines.extend(node.workeroutput.get("campaign", []))


def pytest_terminal_summary(terminalreporter):
    for line in campaign.summary():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def program():
    return mounted.program()


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    """samples('numbers') runs tests/samples/numbers.py once, in its own process and directory; returns the
    directory."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # the same for all workers of a run
    base = sample_files.kept() or base
    return lambda name: sample_files.made(name, base)


@pytest.fixture
def mount():
    """mount(source, 'option', ...) returns a Mounted, which is unmounted at the end of the test; its exit status must
    be 0."""
    with contextlib.ExitStack() as stack:
        yield lambda source, *options, **more: stack.enter_context(mounted.Mounted(source, options, **more))


@pytest.fixture(scope="module")
def shared_mount():
    """The same for mounts shared by the tests of a module: equal source and options give the same mount."""
    with contextlib.ExitStack() as stack:
        known = {}

        def get(source, *options):
            if (source, options) not in known:
                known[source, options] = stack.enter_context(mounted.Mounted(source, options))
            return known[source, options]

        yield get


@pytest.fixture(scope="module")
def appender():
    """ROOT, which adds entries to files."""
    root = foreign_appender.Appender()
    yield root
    root.close()


@pytest.fixture(scope="module")
def file(request, samples):
    """NAME.root of the sample that the module names: SAMPLE = "NAME"."""
    name = request.module.SAMPLE
    return os.path.join(samples(name), name + ".root")


@pytest.fixture(scope="module")
def top(file, shared_mount):
    """The root directory of that file, mounted."""
    return shared_mount(file).path
