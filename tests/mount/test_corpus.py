# SPDX-License-Identifier: Apache-2.0
"""Real files of many experiments and ROOT versions, compared with a stored reference by a program that knows nothing of
this code. The folder is named by TFILEFS_CORPUS; without it this test skips and says so."""

import json
import os
import subprocess
import sys

import pytest

CORPUS = os.environ.get("TFILEFS_CORPUS")


@pytest.fixture(scope="module")
def report(program, tmp_path_factory):
    if not CORPUS:
        pytest.skip("TFILEFS_CORPUS names no corpus of real files")
    answer = tmp_path_factory.mktemp("corpus") / "totals.json"
    command = [sys.executable, os.path.join(CORPUS, "check"), "--mount-cmd", f"{program} -f {{file}} {{mnt}}",
               "--json", str(answer), CORPUS]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace")
    assert answer.exists(), result.stdout[-3000:] + result.stderr[-3000:]
    return dict(json.loads(answer.read_text()), status=result.returncode)


def test_nothing_is_different_or_missing(report, capsys):
    totals = {what: report["total"][what] for what in ("branches", "objects")}
    with capsys.disabled():
        for what, count in totals.items():
            told = ", ".join(f"{verdict} {count.get(verdict, 0)}" for verdict in ("equal", "raw", "different", "missing"))
            print(f"\ncorpus: {what}: {told}", end="")
        print(f"\ncorpus: {len(report['files'])} files, {report['bad']} with problems, {report['seconds']:.0f} s")
    problems = [f"{file['file']}: {problem}" for file in report["files"] for problem in file["problems"]]
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:60])
    assert report["status"] == 0


def test_most_branches_are_decoded(report):
    branches = report["total"]["branches"]
    equal = branches.get("equal", 0)
    assert equal >= 0.85 * sum(branches.get(verdict, 0) for verdict in ("equal", "raw", "different", "missing"))
