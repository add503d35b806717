# SPDX-License-Identifier: Apache-2.0
"""Files of the repository, and the pages of the documentation: all Markdown files in it."""

import os
import re

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
PLACES = ("docs", "packaging", ".github")


def everywhere():
    """Their paths below the repository: those of the top level, then the others."""
    found = [name for name in sorted(os.listdir(ROOT)) if name.endswith(".md")]
    for place in PLACES:
        for folder, directories, names in os.walk(os.path.join(ROOT, place)):
            directories.sort()
            found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(names) if name.endswith(".md")]
    return found


def read(path):
    """The text of a file, by its path below the repository or by a whole one."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def anchor(heading):
    """A heading as links spell it, on sites that show Markdown."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def anchors(page):
    """What a link may name behind #."""
    text = re.sub(r"^```.*?^```", "", read(page), flags=re.MULTILINE | re.DOTALL)
    headings = {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
    return headings | set(re.findall(r'<a id="([^"]+)">', text))


def contract():
    """docs/semantics.md and the pages of its folder."""
    folder = os.path.join("docs", "semantics")
    return [folder + ".md"] + [page for page in everywhere() if os.path.dirname(page) == folder]
