# SPDX-License-Identifier: Apache-2.0
"""Real files of many experiments and ROOT versions, compared with a stored reference by a program independent of this
code. Errors of the reference are listed, and proved, in tests/oracle. TFILEFS_CORPUS names the folder; without it, this
test is skipped with a message."""

import json
import os
import subprocess
import sys

import pytest

from oracle.corpus_exceptions import LISTED

CORPUS = os.environ.get("TFILEFS_CORPUS")
pytestmark = pytest.mark.corpus


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


def is_about(problem, listed):
    """Whether the checker reports the listed branch as different (and not as missing)."""
    return problem.startswith(f"branch {listed.table} : {listed.branch} (") and "): different: " in problem


def test_nothing_but_what_is_listed_is_different_or_missing(report, capsys):
    found, problems = set(), []
    for file in report["files"]:
        listed_here = [listed for listed in LISTED if listed.file + ".root" == file["file"]]
        for problem in file["problems"]:
            listed = next((listed for listed in listed_here if is_about(problem, listed)), None)
            if listed:
                found.add(listed)
            else:
                problems.append(f"{file['file']}: {problem}")
    with capsys.disabled():
        for what in ("branches", "objects"):
            count = report["total"][what]
            told = ", ".join(f"{verdict} {count.get(verdict, 0)}" for verdict in ("equal", "raw", "different", "missing"))
            print(f"\ncorpus: {what}: {told}", end="")
        print(f"\ncorpus: {len(found)} of the different branches are listed, where the reference errs", end="")
        print(f"\ncorpus: {len(report['files'])} files, {report['bad']} with problems, {report['seconds']:.0f} s")
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:60])
    no_longer = set(LISTED) - found
    assert not no_longer, f"listed, but not different: {no_longer}"
    assert report["total"]["branches"].get("different", 0) == len(LISTED)


def test_most_branches_are_decoded(report):
    branches = report["total"]["branches"]
    equal = branches.get("equal", 0)
    assert equal >= 0.85 * sum(branches.get(verdict, 0) for verdict in ("equal", "raw", "different", "missing"))
