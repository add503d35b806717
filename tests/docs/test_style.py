# SPDX-License-Identifier: Apache-2.0
"""Rules of style that a program can check. (For includes see test_architecture.py.)"""

import os
import re
import subprocess

import pages

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
TAG = "SPDX-License-" + "Identifier"  # in two, for those who search for it
ROOMS = ["format", "fs", "tests", "bench", "packaging", "docs"]


def sources():
    return [
        os.path.join(folder, name)
        for room in ROOMS
        for folder, _, names in os.walk(os.path.join(ROOT, room))
        for name in sorted(names)
        if name.endswith((".cpp", ".h"))
    ]


def test_sources_are_formatted():
    # clang-format breaks the #pragma lines of a dictionary.
    files = [path for path in sources() if not path.endswith("_linkdef.h")]
    assert files
    done = subprocess.run(["clang-format-14", "--dry-run", *files], capture_output=True, text=True, check=True, cwd=ROOT)
    places = [line for line in done.stderr.split("\n") if "should be clang-formatted" in line]
    assert not places, "clang-format-14 -i would change:\n" + "\n".join(places[:20])


def test_each_source_names_its_license():
    for path in sources():
        with open(path, encoding="utf-8") as file:
            assert file.readline() == f"// {TAG}: Apache-2.0\n", path


CELL_WORDS_MAX = 25  # code spans do not count


def cells(path):
    """(line, cell) for every table of a page; `|` inside a code span does not end a cell."""
    fenced = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            fenced ^= line.startswith("```")
            if line.lstrip().startswith("|") and not fenced:
                for cell in re.sub(r"`[^`]*`", " ", line).strip().strip("|").split("|"):
                    yield number, cell


def test_table_cells_are_short():
    """Longer text belongs in another row, or in a sentence below the table."""
    found = [(page, number, cell) for page in pages.everywhere() for number, cell in cells(os.path.join(ROOT, page))]
    assert len(found) > 100
    long = [f"{page}:{number}: {cell.strip()}" for page, number, cell in found
            if len([word for word in cell.split() if re.search(r"\w", word)]) > CELL_WORDS_MAX]
    assert not long, "\n".join(long)
