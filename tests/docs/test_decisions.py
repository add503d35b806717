# SPDX-License-Identifier: Apache-2.0
"""docs/decisions: each page has the same parts, is in the index, and names files and commits that are there."""

import os
import re
import subprocess

import pytest

from pages import ROOT, everywhere, read

FOLDER = os.path.join("docs", "decisions")
INDEX = os.path.join(FOLDER, "README.md")
PAGES = [page for page in everywhere() if os.path.dirname(page) == FOLDER and page != INDEX]
PARTS = ["Context", "Decision", "What else was tried", "Consequences"]


def test_the_index_has_each_page():
    assert len(PAGES) > 5
    assert sorted(re.findall(r"\]\(([\w-]+\.md)\)", read(INDEX))) == sorted(map(os.path.basename, PAGES))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_same_parts(page):
    assert re.findall(r"^## (.*)$", read(page), re.MULTILINE) == PARTS


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_are_there(page):
    named = re.findall(r"`((?:format|fs|tests|bench|packaging|docs)/[\w./-]+)`", read(page))
    assert named
    assert [path for path in named if not os.path.exists(os.path.join(ROOT, path))] == []


def commit_is_there(commit):
    return subprocess.run(["git", "-C", ROOT, "cat-file", "-e", commit + "^{commit}"], capture_output=True).returncode == 0


@pytest.mark.skipif(not commit_is_there("e080faf9"), reason="needs the history: not a shallow clone, and no archive")
@pytest.mark.parametrize("page", PAGES)
def test_commits_that_a_page_names_are_there(page):
    for commit in re.findall(r"commit\s+([0-9a-f]{8})\b", read(page)):
        assert commit_is_there(commit), commit
