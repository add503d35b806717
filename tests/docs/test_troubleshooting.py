# SPDX-License-Identifier: Apache-2.0
"""docs/troubleshooting.md quotes messages as the program gives them."""

import os
import re

from pages import ROOT

# Printed by libfuse, and libcurl.
OTHERS = {"option allow_other only allowed if 'user_allow_other' is set", "…: SSL peer certificate or SSH remote key was not OK"}


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


# Where mounting and unmounting end when they cannot; and where other commands, chains and friends do.
STARTS = [f"fs/{name}.cpp" for name in (
    "cli/mount", "cli/umount", "cli/mount_table", "cli/options", "fuse/mount", "fuse/session_io", "log",
    "cli/classes", "cli/commit", "cli/recover", "cli/stats",
    "repack/chain_source", "repack/entry_choice", "repack/output_file", "repack/repack", "repack/repack_table", "repack/verify",
    "vfs/chain/chain_index", "vfs/names/chain_names", "vfs/chain/chain_place", "vfs/names/dataset", "vfs/names/expand_sources", "vfs/file_system_source",
    "vfs/friends/friend_keys", "vfs/names/friend_names", "vfs/chain/open_chain_files", "vfs/names/path_pattern", "vfs/mirror/source_tree", "vfs/friends/table_friends",
    "view/friends/key_expression")]


def refusals(path):
    """The sentences in each statement of a source that makes an error or prints one; those that only hand one on have none."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        code = re.sub(r"//.*", "", file.read())
    for statement in re.findall(r"\b(?:fail|complain|Error|no_mount)\(.*?;\n", code, re.DOTALL):
        literals = re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', statement)
        joined = ("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', each)).strip(" :;,.()=") for each in literals)
        sentences = [each for each in joined if " " in each and len(each) >= 10]
        if sentences:
            yield sentences


def test_each_message_with_which_a_command_or_a_mount_fails_is_on_the_page():
    messages = quoted()
    parts = [part.strip(" :;,.()=") for message in messages for part in re.split("…", message)]
    told = {path: list(refusals(path)) for path in STARTS}
    assert sum(map(len, told.values())) > 60
    for path, statements in told.items():
        for sentences in statements:
            known = any(part in sentence or sentence in part for sentence in sentences for part in parts if len(part) >= 10)
            assert known, f"{path}: {sentences} is not on the page"
