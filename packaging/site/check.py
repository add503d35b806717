#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py DIRECTORY: whether each link between the pages of a site leads to a file and to an anchor that are there, and nothing
is fetched from elsewhere when a page is looked at."""

import os
import re
import sys
import urllib.parse
from html.parser import HTMLParser

FETCHED = {"src", "srcset", "poster", "data"}


class Page(HTMLParser):
    """`anchors`; `links`; `fetched`: what the browser gets with the page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "link" and given.get("rel") not in ("next", "prev", "search", "index", "canonical"):
            self.fetched.append(given.get("href", ""))
        elif "href" in given:
            self.links.append(given["href"])
        self.fetched += [given[name] for name in FETCHED & set(given)]
        self.fetched += re.findall(r"url\(['\"]?([^'\")]+)", given.get("style", ""))


def is_elsewhere(target):
    return re.match(r"(?:https?:)?//", target) is not None


def files(directory):
    return [os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in sorted(names)]


def faults(directory):
    """A line for each."""
    pages = {}
    for path in files(directory):
        if path.endswith(".html"):
            with open(path, encoding="utf-8") as file:
                pages[path] = Page(file.read())
    for path, page in pages.items():
        shown = os.path.relpath(path, directory)
        yield from (f"{shown}: fetches {target}" for target in page.fetched if is_elsewhere(target))
        for target in page.links + page.fetched:
            if re.match(r"[a-z]+:|//", target):
                continue
            name, _, anchor = target.partition("#")
            name = urllib.parse.unquote(name.partition("?")[0])
            found = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.isfile(found):
                yield f"{shown}: there is no {target}"
            elif anchor and found in pages and urllib.parse.unquote(anchor) not in pages[found].anchors:
                yield f"{shown}: no anchor {target}"
    for path in files(directory):
        if path.endswith(".css"):
            with open(path, encoding="utf-8") as file:
                used = re.findall(r"url\(['\"]?([^'\")]+)|@import ['\"]([^'\"]+)", file.read())
            yield from (f"{os.path.relpath(path, directory)}: fetches {a or b}" for a, b in used if is_elsewhere(a or b))


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    sys.exit(bool(found))
