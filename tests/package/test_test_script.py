# SPDX-License-Identifier: Apache-2.0
"""packaging/test as its caller sees it, of a checkout whose builds and tests are fakes."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import ROOT
import mounted

REPORT = "<testsuites><testsuite><testcase name='a'/><testcase name='b'>{}</testcase></testsuite></testsuites>"


@pytest.fixture
def checkout(tmp_path):
    """run(ctest, *parts): packaging/test with a ctest that does as the lines of shell say, in build/tests; as a process."""
    shutil.copytree(os.path.join(ROOT, "packaging"), tmp_path / "a checkout" / "packaging", ignore=shutil.ignore_patterns("[!t]*"))
    (tmp_path / "a checkout" / "build" / "tests").mkdir(parents=True)
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()

    def run(ctest, *parts):
        fakes = {bin_directory / "cmake": "true", bin_directory / "ninja": "echo ninja: no work to do.",
                 bin_directory / "ctest": f'cd "$2/tests"\n{ctest}',
                 tmp_path / "a checkout" / "packaging" / "install-deps": "true"}
        for path, lines in fakes.items():
            path.write_text(f"#!/bin/sh\n{lines}\n")
            path.chmod(0o755)
        environment = {**os.environ, "PATH": f"{bin_directory}:{os.environ['PATH']}", "TFILEFS_VENV": sys.prefix}
        environment.pop("TFILEFS_CORPUS", None)  # that part passes without one
        return subprocess.Popen([tmp_path / "a checkout" / "packaging" / "test", *parts], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    return run


@pytest.mark.parametrize("report, counts", [(REPORT.format("<failure/>"), "1 passed, 1 failed, 0 skipped"),
                                            (REPORT.format("")[:50], "0 passed, 1 failed, 0 skipped")])
def test_a_failure_is_shown_and_the_run_ends_in_its_line(checkout, report, counts):
    """Also if a report breaks off."""
    process = checkout(f'echo "what failed"; echo "{report}" > fs_tests.0.xml; exit 8', "unit", "corpus")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    lines = output.splitlines()
    assert "what failed" in lines
    assert [line.split()[:2] for line in lines[-4:-2]] == [["unit", "FAILED"], ["corpus", "passed"]]
    assert lines[-1].startswith(f"== packaging/test: {counts} in ") and lines[-1].endswith("FAILED: unit")


def test_ctrl_c_ends_it_with_what_it_started(checkout, tmp_path):
    process = checkout(f'echo $$ > "{tmp_path}/started"; exec sleep 50', "unit", "corpus")
    started = tmp_path / "started"
    mounted.wait_until(lambda: started.exists() and started.read_text())
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 130, output
    assert "corpus" not in output
    assert not os.path.exists(f"/proc/{started.read_text().strip()}")


def test_a_part_that_is_not_there_is_named(checkout):
    for parts in (["unit", "units"], ["unit mount"]):
        process = checkout("false", *parts)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 2 and f"there is no part '{parts[-1]}'" in output.splitlines()[0]


def test_one_at_a_time(checkout, tmp_path):
    """But not longer than it runs, whatever its tests leave behind."""
    first = checkout(f'(exec sleep 50 >/dev/null 2>&1) & echo $! > "{tmp_path}/left"; until test -e "{tmp_path}/go"; do sleep 0.1; done', "unit")
    left = tmp_path / "left"
    mounted.wait_until(lambda: left.exists() and left.read_text())
    second = checkout("true", "unit")
    output, _ = second.communicate(timeout=60)
    assert second.returncode == 1 and "another one runs" in output
    (tmp_path / "go").touch()
    first.communicate(timeout=60)
    third = checkout("true", "unit")
    output, _ = third.communicate(timeout=60)
    os.kill(int(left.read_text()), signal.SIGKILL)
    assert third.returncode == 0, output
