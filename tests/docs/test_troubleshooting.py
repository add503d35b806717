# SPDX-License-Identifier: Apache-2.0
"""docs/troubleshooting.md quotes messages as the program gives them."""

import os
import re

from pages import ROOT

# Printed by libfuse.
OTHERS = {"option allow_other only allowed if 'user_allow_other' is set"}


def sources():
    """All string literals of the program, with those that adjoin each other joined."""
    text = ""
    for top in ("fs", "format"):
        for directory, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".cpp", ".h")):
                    with open(os.path.join(directory, name), encoding="utf-8") as file:
                        text += file.read()
    text = re.sub(r'"\s*\n\s*"', "", text)
    return re.sub(r'\\"', '"', text)


def quoted():
    """The messages in the first cells of the page's tables."""
    with open(os.path.join(ROOT, "docs", "troubleshooting.md"), encoding="utf-8") as file:
        cells = [line.split("|")[1] for line in file if line.startswith("| `")]
    return [message for cell in cells for message in re.findall(r"`([^`]+)`", cell) if " " in message]


def test_each_message_is_one_of_the_program():
    code = sources()
    messages = quoted()
    assert len(messages) > 15
    for message in set(messages) - OTHERS:
        for part in re.split("…|[0-9]+", message):
            words = part.strip(" :,")
            assert len(words) < 4 or words in code, f"{message!r}: no source has {words!r}"
