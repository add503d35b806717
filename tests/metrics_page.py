# SPDX-License-Identifier: Apache-2.0
"""A page in the text format of Prometheus, as tests look at it."""

import os
import re

LABEL = r'(\w+)="((?:[^"\\\n]|\\.)*)"'


def samples(text):
    """[(name, {label: value}, number)]; the values of labels are as they are written."""
    found = []
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, number = re.fullmatch(rf"(\w+)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)", line).group(1, 2, 7)
            found.append((name, dict(re.findall(LABEL, labels or "")), float(number)))
    return found


def of_mount(path):
    """The page of what is mounted there."""
    with open(os.path.join(path, ".tfilefs", "metrics"), encoding="utf-8") as file:
        return file.read()
