# SPDX-License-Identifier: Apache-2.0
"""Rules of style that a program can check. (For includes see test_architecture.py.)"""

import os
import re
import subprocess

from pages import ROOT

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


FUNCTION_LINES_MAX = 40  # what a screen shows
LONGER = {("format/streamer/layout/read_program.cpp", "step")}  # one call for each kind of instruction, and nothing else


def functions(lines):
    """(name, first line, number of lines) of each function, by the way in which clang-format sets them. Lambdas belong to
    the function around them."""
    for i, line in enumerate(lines):
        if not re.search(r"(\)|\}|const|override|final|noexcept|mutable) \{$", line):
            continue
        first = i
        while first > 0 and lines[first - 1].strip() and not re.search(r"[;{}:]$|^\s*//|^#", lines[first - 1]):
            first -= 1
        head = " ".join(lines[first:i + 1])
        name = re.match(r"\s*(?!(?:if|for|while|switch|return|catch|else|do|case)\b)[^(=\[]*?([~\w]+)\(", head)
        indent = re.match(" *", lines[first]).group(0)
        end = next((n for n in range(i + 1, len(lines)) if lines[n] == indent + "}"), None)
        if name and end and "[" not in head:
            yield name.group(1), first + 1, end - first + 1


def test_functions_fit_a_screen():
    found, longer = 0, set()
    for path in sources():
        room = os.path.relpath(path, ROOT)
        if room.startswith(("format/", "fs/")):
            with open(path, encoding="utf-8") as file:
                for name, _, length in functions(file.read().split("\n")):
                    found += 1
                    if length > FUNCTION_LINES_MAX:
                        longer.add((room, name))
    assert found > 3000  # the others stand on one line
    assert longer == LONGER


CLASS_LINES_MAX = 250


def classes(lines):
    """(name, number of lines of the body) of each class, by the way in which clang-format sets them."""
    for i, line in enumerate(lines):
        head = re.match(r"( *)(?:class|struct) (?:\w+\([^)]*\) )?([\w:]+)[^;]*\{$", line)
        end = head and next((n for n in range(i + 1, len(lines)) if lines[n] == head.group(1) + "};"), None)
        if end:
            yield head.group(2), end - i - 1


def test_classes_are_read_at_a_glance():
    found, longer = 0, set()
    for path in sources():
        if os.path.relpath(path, ROOT).startswith(("format/", "fs/")):
            with open(path, encoding="utf-8") as file:
                for name, length in classes(file.read().split("\n")):
                    found += 1
                    if length > CLASS_LINES_MAX:
                        longer.add(name)
    assert found > 1000
    assert not longer


# What a step of an operation does by hand that the combinators of on_behalf.h and exec/ do for it, and may forget.
BY_HAND = {
    "a reply moves into a function of the result: on_behalf_of() takes its stop token along":
        r"[\[ ](?:reply|told|answer|answered|done|made|moved|kept|opened|listed) = std::move\(\w+\)[^\]]*\]"
        r"\((?:const )?Result<",
    "a stop token goes from reply to reply: on_behalf_of() does that":
        r"\bReply<[\w:<>]+>\((?!\[)[^;]*?, (?:stop|\w+(?:\.|->)stop_token\(\))\)",
    "an error is handed on: value_for(), found_or_not() and answer_with() do that":
        r"\(Result<[^()]*> (\w+)(?:,\s[^()]*)?\)(?: mutable)? \{\s*if \(!\1\) return [\w>.*()-]+\(tl::unexpected",
}
OF_THE_COMBINATORS = {"fs/on_behalf.h", "fs/exec/when_all.h"}
OWN_TOKENS = {"fs/vfs/attributes_within.cpp"}  # of a question that a timer may answer


def test_steps_are_forwarded_by_combinators():
    found, loops = [], []
    for path in sources():
        room = os.path.relpath(path, ROOT)
        if not room.startswith("fs/") or room in OF_THE_COMBINATORS:
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if '#include "exec/trampoline.h"' in text and not room.startswith("fs/exec/"):
            loops.append(room)
        found += [f"{room}:{text.count(chr(10), 0, match.start()) + 1}: {what}"
                  for what, pattern in BY_HAND.items() for match in re.finditer(pattern, text)
                  if not (room in OWN_TOKENS and "token" in what) and "ReadDone" not in text[:match.start()][-200:]]
    assert not found, "\n".join(found)
    assert not loops, "a loop of steps is for_each(), when_all() or while_more()"


# Texts of damage without anything of what was found: their literals.
BARE = {
    # Something is not there, which the text says.
    "histogram: no contents in fArray",
    "THnSparse : no list in fBinContent",
}
# A name, or a path, says where the damage is, and not what it is.
PLACE = re.compile(r"\(path\.empty\(\) \? path :\s+\+ path\)|\b(?:\w+\.)*(?:name|path|prefix|shown)\b")


def texts_of_damage(source):
    """The expressions of the texts: what follows the kind, up to the next argument."""
    for match in re.finditer(r"ErrorKind::damaged,", source):
        depth, is_literal = 0, False
        for at in range(match.end(), len(source)):
            if source[at] == '"' and source[at - 1] != "\\":
                is_literal = not is_literal
            elif is_literal:
                continue
            elif depth == 0 and source[at] in ",;)}":
                yield source[match.end() : at]
                break
            else:
                depth += (source[at] in "([{") - (source[at] in ")]}")


# Numbers and names of what was found, and of what was expected; or words that say what was expected by themselves.
VALUE = re.compile(r"to_string|quoted|sizes_of|described|begin_of|what_it_is|hex_text|\b(?:why|found|wrong|reason|what|text|number|line)\b")
TOLD_WHOLE = {"the server's XML ", "/"}  # what follows says both: the words of the parser, a line of `tfilefs check`
EXPECTED = re.compile(r"\b(?:expected|no|not|at most|more than|deeper than|beyond|unknown|twice|repeats|itself|lost|malformed|wrong|"
                      r"damaged|neither|0 bytes|cannot)\b")


def test_damage_says_what_was_found():
    """Numbers or words: what is there, what should be, and where."""
    bare, one_sided, found = set(), [], 0
    for path in sources():
        if os.path.relpath(path, ROOT).startswith(("format/", "fs/")):
            with open(path, encoding="utf-8") as file:
                for text in texts_of_damage(file.read()):
                    found += 1
                    if not re.sub(r"[\s+]", "", PLACE.sub("", re.sub(r'"[^"]*"', "", text))):
                        bare.add("".join(re.findall(r'"([^"]*)"', text)))
                    literals = " ".join(re.findall(r'"([^"]*)"', text))
                    told = len(VALUE.findall(re.sub(r'"[^"]*"', "", text)))
                    if literals and literals not in TOLD_WHOLE and told < 2 and not EXPECTED.search(literals):
                        one_sided.append(f"{os.path.relpath(path, ROOT)}: {' '.join(text.split())}")
    assert found > 150
    assert bare == BARE
    assert not one_sided, "found, and what was expected?\n" + "\n".join(one_sided)
