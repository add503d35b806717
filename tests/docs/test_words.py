# SPDX-License-Identifier: Apache-2.0
"""Words are spelled right, in pages and sources."""

import os
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
