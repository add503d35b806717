# SPDX-License-Identifier: Apache-2.0
"""The pictures of the pages are those that the scripts make now."""

import os
import re
import subprocess
import sys

import pages
from pages import ROOT, read

PICTURES = os.path.join(ROOT, "docs", "pictures")
SIZE_MAX = 200_000


def test_charts_show_the_tables_of_their_page(tmp_path):
    subprocess.run([sys.executable, os.path.join(ROOT, "bench", "charts.py"), tmp_path], check=True)
    made = sorted(os.listdir(tmp_path))
    assert len(made) >= 4 and sorted([*made, "first-page.svg"]) == sorted(os.listdir(PICTURES))
    for name in made:
        assert read(tmp_path / name) == read(os.path.join(PICTURES, name)), f"bench/charts.py docs/pictures makes {name} anew"


def test_the_first_picture_is_what_the_program_shows(program, tmp_path):
    subprocess.run([sys.executable, os.path.join(ROOT, "packaging", "make-picture.py"), program, tmp_path / "made.svg"], check=True)
    kept = os.path.join(PICTURES, "first-page.svg")
    assert read(tmp_path / "made.svg") == read(kept), "packaging/make-picture.py PROGRAM docs/pictures/first-page.svg makes it anew"
    assert os.path.getsize(kept) < SIZE_MAX
    assert "docs/pictures/first-page.svg" in read("README.md")


def test_numbers_of_the_first_page_are_those_of_the_page_of_figures():
    """Each row of the first page's table names a section; its numbers are in that section's table."""
    sections = {pages.anchor(heading): text for heading, text in
                re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", read("docs/performance.md"), re.MULTILINE | re.DOTALL)}
    rows = re.findall(r"^\| \[[^]]*\]\(docs/performance\.md#([\w-]+)\) \|(.*)\|$", read("README.md"), re.MULTILINE)
    assert len(rows) == 4
    for section, cells in rows:
        known = {cell.strip() for line in sections[section].splitlines() if line.startswith("|") for cell in line.split("|")}
        for number in cells.split("|"):
            assert number.strip() in known, f"{number.strip()} is not in a table of {section}"
