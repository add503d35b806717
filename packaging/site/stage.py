#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stage.py DIRECTORY BUILD: lays down what Sphinx reads: the pages of the repository under their own paths, but README.md as
index.md, and those that are made: of the manual, of the Python package and of the headers of libtfile."""

import os
import posixpath
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
sys.path[:0] = [HERE, os.path.join(ROOT, "packaging", "library")]

import headers
import manual

# Pages of the top level besides the home page, and one that is elsewhere.
TOP = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "packaging/python/README.md"]
MANUAL = ["tfilefs.1", "tfilefs-layout.5", "mount.fuse.tfilefs.8"]
# Their pages are below them in the navigation, in the order in which they are linked to.
PARENTS = ["docs/recipes.md", "docs/semantics.md", "docs/decisions/README.md"]
# By kind of reader. A page of docs/ that is in none of them is a warning of Sphinx, and warnings are errors.
NAVIGATION = {
    "Tutorial": ["docs/installing", "First steps in Python <packaging/python/README>"],
    "How-to": ["docs/recipes", "docs/python", "docs/serve", "docs/service", "docs/cluster", "docs/faq", "docs/troubleshooting"],
    "Reference": ["docs/semantics", "docs/expressions", "manual/tfilefs.1", "manual/tfilefs-layout.5",
                  "manual/mount.fuse.tfilefs.8", "python", "library/index", "docs/format",
                  "docs/stability", "CHANGELOG"],
    "Explanation": ["docs/architecture", "docs/decisions/README", "docs/journal", "docs/reliability", "docs/performance",
                    "docs/comparison"],
    "Contributing": ["CONTRIBUTING", "docs/development/*", "docs/CODE_OF_CONDUCT", "SECURITY"],
}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pages():
    """Of the repository: their paths."""
    found = ["README.md", *TOP]
    for folder, directories, names in os.walk(os.path.join(ROOT, "docs")):
        directories.sort()
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(names) if name.endswith(".md")]
    return found


def on_site(page, target):
    """Where a link of a page leads on the site. A directory is shown as its README.md; README.md is the home page."""
    path, hash_sign, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    found = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if os.path.isdir(os.path.join(ROOT, found)):
        found = posixpath.join(found, "README.md")
    if found == "README.md":
        found = "index.md"
    return posixpath.relpath(found, posixpath.dirname(page) or ".") + hash_sign + anchor


def link(page, text, target):
    """A link that is named as its page is a path has the title of the page or section: `[python.md](python.md)`."""
    is_path = re.fullmatch(r"[\w./-]+\.md|docs/\w+", text) and re.search(r"\.md(?:#|$)", target)
    return f"[{'' if is_path else text}]({on_site(page, target)})"


def of_page(page):
    """Its text, with links as the site needs them. Code stays as it is."""
    parts = re.split(r"(^```.*?^```|`[^`\n]+`)", read(os.path.join(ROOT, page)), flags=re.MULTILINE | re.DOTALL)
    for at in range(0, len(parts), 2):
        # An anchor of HTML before a link becomes an anchor that Sphinx knows.
        parts[at] = re.sub(r'<a id="([^"]+)"></a>(\[[^\]]*\]\([^)]*\))', r"\2{#\1}", parts[at])
    text = "".join(parts)
    fences = re.split(r"(^```.*?^```)", text, flags=re.MULTILINE | re.DOTALL)
    for at in range(0, len(fences), 2):
        fences[at] = re.sub(r"\[([^\[\]]*)\]\(([^()\s]+)\)", lambda match: link(page, *match.groups()), fences[at])
    return "".join(fences)


def toctree(caption, entries):
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "") + (":glob:\n" if any("*" in each for each in entries) else "")
    # The path, behind a title or not, is one from the top.
    rows = [re.sub(r"^(.* <)?", r"\1/", entry, count=1) for entry in entries]
    return "\n```{toctree}\n" + options + "\n" + "\n".join(rows) + "\n```\n"


def children(parent, text):
    """Paths of the pages in the folder of a page, without `.md`. Each of them is linked to."""
    folder = parent.removesuffix(".md").removesuffix("/README")
    there = {page.removesuffix(".md") for page in pages() if posixpath.dirname(page) == folder and page != parent}
    linked = [posixpath.normpath(posixpath.join(posixpath.dirname(parent), path)) for path in re.findall(r"\]\(([^)#:]+)\.md[)#]", text)]
    found = [page for page in dict.fromkeys(linked) if page in there]
    assert set(found) == there, f"{parent} has no link to {there - set(found)}"
    return found


def stage(directory, build):
    for page in pages():
        text = of_page(page)
        if page == "README.md":
            page = "index.md"
            text += "".join(toctree(caption, entries) for caption, entries in NAVIGATION.items())
        if page in PARENTS:
            text += toctree("", children(page, text))
        write(os.path.join(directory, page), text)
    shutil.copytree(os.path.join(ROOT, "docs", "pictures"), os.path.join(directory, "docs", "pictures"))
    shutil.copy(os.path.join(ROOT, "LICENSE"), directory)
    for name in ("conf.py", "site.css", "python.rst"):
        shutil.copy(os.path.join(HERE, name), directory)
    for name in MANUAL:
        write(os.path.join(directory, "manual", name + ".md"), manual.as_markdown(read(os.path.join(build, "packaging", name))))
    for name, text in headers.pages().items():
        write(os.path.join(directory, "library", name + ".md"), text)


if __name__ == "__main__":
    stage(*sys.argv[1:])
