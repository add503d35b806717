#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""charts.py DIRECTORY: draws the pictures of docs/performance.md, each from the table that follows it.

A picture `![TITLE](pictures/NAME.svg)` becomes DIRECTORY/NAME.svg: one bar for each row, as long as its first number."""

import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "bench", "mount"))

import plot  # noqa: E402


def pictures(page):
    """(name, title, {row: first number}) of each picture of the page."""
    for title, name, table in re.findall(r"^!\[([^]]*)\]\(pictures/(\w+)\.svg\)\n\n((?:\|.*\n)+)", page, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()[2:]]
        yield name, title, {row[0]: float(row[1]) for row in rows}


def main():
    with open(os.path.join(TOP, "docs", "performance.md"), encoding="utf-8") as file:
        page = file.read()
    for name, title, values in pictures(page):
        with open(os.path.join(sys.argv[1], name + ".svg"), "w", encoding="utf-8") as file:
            file.write(plot.bars(title + ": time, as multiples of that of tfilefs", values, "x"))


main()
