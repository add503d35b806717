#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what the installed headers of libtfile declare: a line for each function, member, type and macro that a program
may use, by header. api.txt has what was printed last. A change of it is a change of the API, and goes into CHANGELOG.md:

    packaging/library/api.py > packaging/library/api.txt
"""

import os
import re

PACKAGING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
HEADERS = os.path.join(PACKAGING, "..", "format", "include", "tfile")
STRING = r'"(?:[^"\\\n]|\\.)*"'
LETTER = r"(?<!\w)'(?:[^'\\\n]|\\.)'"


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """Strings stay as they are, and everything where it is."""
    return re.sub(rf"({STRING}|{LETTER})|//[^\n]*|/\*.*?\*/", lambda match: match[1] or blank(match[0]), text, flags=re.DOTALL)


def macros(text):
    """Names and parameters; and the text without them, and without other lines of the preprocessor; everything is where it was."""
    text = text.replace("\\\n", "  ")
    found = re.findall(r"^\s*#\s*define\s+(\w+(?:\([^)]*\))?)", text, re.MULTILINE)
    return found, re.sub(r"^\s*#[^\n]*", lambda match: blank(match[0]), text, flags=re.MULTILINE)


def behind_block(text, at):
    """Behind the brace that closes the one at `at`."""
    depth = 0
    for match in re.compile(rf"{STRING}|{LETTER}|[{{}}]").finditer(text, at):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise ValueError("a brace is not closed")


def line(words):
    return re.sub(r"\s+", " ", words).strip()


def signature(head):
    """Of a function: without the initialisers of a constructor."""
    depth = 0
    for at, letter in enumerate(head):
        depth += (letter in "([") - (letter in ")]")
        if letter == ":" and depth == 0 and ")" in head[:at] and head[at - 1] != ":" and head[at + 1 : at + 2] != ":":
            return head[:at]
    return head


class Reader:
    """Goes through the declarations of a header. `scopes`: (name, access of what comes) of namespaces and classes. `places`:
    for each that was found its scopes, where the space before it, it itself and what follows it begin in the text."""

    def __init__(self, text):
        self.text, self.at, self.head, self.scopes, self.found, self.places = text, 0, "", [], [], []
        self.start = 0  # of the head: it is the text from there on

    def take_access(self):
        while match := re.match(r"\s*(public|private|protected)\s*:(?!:)", self.head):
            self.scopes[-1] = (self.scopes[-1][0], match[1])
            self.head, self.start = self.head[match.end() :], self.start + match.end()

    def go_on(self, at):
        """With a new head."""
        self.head, self.at, self.start = "", at, at

    def add(self, words):
        if line(words) and all(access != "private" for _, access in self.scopes):
            scopes = [name for name, _ in self.scopes]
            self.found.append("::".join(scopes) + ": " + line(words))
            begin = self.start + len(words) - len(words.lstrip())
            self.places.append((scopes, self.start, begin, self.start + len(words.rstrip())))

    def open_block(self):
        self.take_access()
        head = line(self.head)
        end = behind_block(self.text, self.at)
        if match := re.match(r"(?:inline )?namespace ([\w:]*)$", head):
            self.scopes.append((match[1], "public"))
            self.go_on(self.at + 1)
        elif re.match(r"enum\b", head):
            self.head, self.at = self.head + self.text[self.at : end], end
        elif self.is_in_parameters() or head.endswith("=") or "(" not in re.sub(r"\[\[.*?\]\]|alignas\([^)]*\)|<[^<>]*>", "", head) and not self.is_class(head):
            self.head, self.at = self.head + self.text[self.at : end], end  # the value of a variable
        elif self.is_class(head):
            self.add(self.head)
            kind, name = re.match(r"(class|struct|union) ?([\w:]*(?:<[^{]*?>)?)", self.plain(head)).groups()
            self.scopes.append((name, "private" if kind == "class" else "public"))
            self.go_on(self.at + 1)
        else:
            while re.match(r"\s*[,{]", self.text[end:]):  # that was the initialiser of a member
                end = behind_block(self.text, self.text.index("{", end))
            self.add(signature(self.head))
            self.go_on(end)

    def is_in_parameters(self):
        return self.head.count("(") > self.head.count(")")

    @staticmethod
    def plain(head):
        """Without parameters of a template, attributes and what stands for them."""
        attributes = r"template ?<(?:[^<>]|<[^<>]*>)*>|\[\[\w+\]\]|\balignas\([^)]*\)|\b[A-Z_]{4,}\b(?:\([^)]*\))?"
        return line(re.sub(attributes, " ", head))

    @classmethod
    def is_class(cls, head):
        plain = cls.plain(head)
        return bool(re.match(r"(?:class|struct|union)\b", plain)) and "(" not in plain.split(":", 1)[0]

    def run(self):
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == '"':
                end = re.compile(STRING).match(self.text, self.at).end()
                self.head, self.at = self.head + self.text[self.at : end], end
            elif letter == "{":
                self.open_block()
            elif letter == "}":
                self.scopes.pop()
                self.go_on(self.at + 1)
            elif letter == ";" and not self.is_in_parameters():
                self.take_access()
                self.add(self.head)
                self.go_on(self.at + 1)
            else:
                self.head, self.at = self.head + letter, self.at + 1
        return self.found


def declarations(header):
    with open(os.path.join(HEADERS, header), encoding="utf-8") as file:
        found, text = macros(without_comments(file.read()))
    return ["#define " + line(macro) for macro in found] + Reader(text).run()


def installed():
    with open(os.path.join(PACKAGING, "CMakeLists.txt"), encoding="utf-8") as file:
        left_out = set(re.findall(r"PATTERN (\w+\.h) EXCLUDE", file.read()))
    return sorted(name for name in os.listdir(HEADERS) if name.endswith(".h") and name not in left_out)


def api():
    headers = installed()
    return "\n".join("\n".join([header, *("  " + each for each in declarations(header))]) for header in headers) + "\n"


if __name__ == "__main__":
    print(api(), end="")
