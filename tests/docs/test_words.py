# SPDX-License-Identifier: Apache-2.0
"""Words are spelled right, in pages and sources; pages for users have the words that users would say."""

import os
import re
import subprocess
import sys

import pages

# Names of ROOT (Gaus, THn, fPt), of TLatex (notin), of IEEE numbers (kInf), words that tests mistype or spell as bytes.
KNOWN = "gaus,thn,unx,notin,kinf,caf,complet,comit,chek,fpt"


def test_words_are_spelled_right():
    names = subprocess.run(["git", "-C", pages.ROOT, "ls-files", "-z"], capture_output=True, check=True).stdout.split(b"\0")
    paths = [name.decode() for name in names if name and not name.endswith((b".svg", b"LICENSE"))]
    assert len(paths) > 1000
    done = subprocess.run([os.path.join(os.path.dirname(sys.executable), "codespell"), "--ignore-words-list", KNOWN, *paths],
                          cwd=pages.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# What a reader of filesystems and of ROOT would not say, and what instead.
USUAL = {
    "anew": "again, or re- as in rewritten",
    "beside": "next to",
    "by itself": "on its own",
    "far file": "remote file",
    "far files": "remote files",
    "goes on": "continues",
    "nobody": "no process, or no user",
    "so many": "the number itself",
    "under way": "in progress, or in flight",
}


# Pages for those who change the code name what the code does; the history stays as it was written.
INNER = {"CHANGELOG.md", os.path.join("docs", "architecture.md"), os.path.join("docs", "development", "measurements.md")}


def test_pages_use_the_usual_words():
    found = []
    for page in set(pages.everywhere()) - INNER:
        text = re.sub(r"^```.*?^```", "", pages.read(page), flags=re.MULTILINE | re.DOTALL)
        prose = re.sub(r"`[^`]*`|<[^>]*>|\]\([^)]*\)", " x ", text)
        found += [f"{page}: {word}: rather {better}" for word, better in USUAL.items()
                  if re.search(rf"\b{word}\b", " ".join(prose.split()), re.IGNORECASE)]
    assert not found, "\n".join(found)


# Names that the code once had of its own for what the field has a word for.
FORMER = {
    "asker": "stop_token",
    "untried": "unresolved",
    "tried_": "resolved_",
    "glance": "peek",
    "Holder": "Vnodes",
    "ShownAs": "ViewKind",
    "Lanes": "SerialQueues",
    "Alarms": "Timers",
    "StepLoop": "Trampoline",
    "OfferedColumn": "InputColumn",
    "HttpTurns": "RequestLimiter",
    "SourceOrigin": "ServerId",
    "made_items": "computed_items",
    "kept_items": "selected_items",
    "find_lengths": "find_projections",
    "attributes_soon": "attributes_within",
    "left_journal": "abandoned_journal",
}


def test_sources_have_the_words_of_the_field():
    names = subprocess.run(["git", "-C", pages.ROOT, "ls-files", "-z", "format", "fs"], capture_output=True, check=True)
    sources = [name.decode() for name in names.stdout.split(b"\0") if name.endswith((b".cpp", b".h"))]
    assert len(sources) > 1000
    word = re.compile(r"\b(" + "|".join(FORMER) + r")\b")
    found = [f"{source}: {each}: rather {FORMER[each]}" for source in sources for each in set(word.findall(pages.read(source)))]
    assert not found, "\n".join(found)
