# SPDX-License-Identifier: Apache-2.0
"""A page for each installed header of libtfile, as Markdown: its declarations, which packaging/library/api.py finds, and the
comments before and behind them."""

import os
import re
import textwrap

import api

INTRODUCTION = """# libtfile

The headers of the C++ library, from their comments. [From source](../docs/installing.md#from-source) says how to
build and install it.

| header | begins with |
|---|---|
"""


def declared_name(declaration):
    """What a declaration is called: `class File`, `open_source()`, `Range`. None: it needs no heading."""
    plain = api.Reader.plain(declaration)
    if match := re.match(r"(?:enum (?:class |struct )?|class |struct |union )([\w:]+)", plain):
        return match[1]
    if match := re.match(r"using (\w+) =", plain):
        return match[1]
    if match := re.search(r"(operator ?[^\s(]+|[~\w]+) ?\(", plain):
        return match[1] + "()"
    return (re.search(r"(\w+)(?:\[[^\]]*\])?(?: ?=.*| ?\{.*)?$", plain) or [None, None])[1]


def is_type(declaration):
    return re.match(r"(?:class|struct|union)\b", api.Reader.plain(declaration)) is not None


def comment_lines(text):
    return [re.sub(r"^\s*// ?", "", line) for line in text.split("\n") if line.strip().startswith("//")]


def as_prose(text):
    """A comment as Markdown: what is in back-ticks is code, and all else is plain."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(part if at % 2 else re.sub(r"([\\`*_\[\]{}<>|#~$!^])", r"\\\1", part) for at, part in enumerate(parts))


def comment_before(text):
    """Of the space before a declaration: the comment; the first line of it belongs to what was declared before."""
    _, _, rest = text.partition("\n")
    return as_prose("\n".join(comment_lines(rest)))


def code(text, begin, end):
    """A declaration as it is written, with the comment behind it on its line."""
    first = text.rfind("\n", 0, begin) + 1
    shown = text[first:begin] + text[begin:end]
    rest = text[end:].partition("\n")[0]
    # What is defined here is shown as if it were only declared.
    if not is_type(shown):
        shown += ";"
    if match := re.match(r";?\s*(//.*)", rest):
        shown += "  " + match[1]
    return textwrap.dedent(shown)


class HeaderPage:
    """Of declarations that follow each other without a comment or a blank line between them, there is one block. Overloads that
    follow each other have one heading."""

    def __init__(self, header, text):
        self.text, self.block, self.opened, self.named = text, [], [], None
        self.out = [f"# tfile/{header}", f'```cpp\n#include "tfile/{header}"\n```']

    def end_block(self):
        if self.block:
            self.out.append("```cpp\n" + "\n".join(self.block) + "\n```")
        self.block = []

    def add(self, scopes, declaration, start, begin, end):
        space, comment = self.text[start:begin], comment_before(self.text[start:begin])
        within = [scope for scope in scopes if scope and scope not in ("tfile",)]
        if is_type(declaration) and self.text[end] == ";":
            return  # it is declared wholly elsewhere
        if comment or is_type(declaration) or "\n\n" in space or within != self.opened:
            self.end_block()
        if not self.block and not within and (name := declared_name(declaration)):
            self.out.append(f"## {as_prose(name)}" if name != self.named else "")
            self.named = name
        elif not self.block and within != self.opened:
            self.out.append(f"### Of {as_prose('::'.join(within))}" if len(within) > 1 else "")
        if comment:
            self.out.append(comment)
        self.block.append(code(self.text, begin, end))
        self.opened = within
        if is_type(declaration):
            self.end_block()
            self.opened = within + [re.sub(r"^(?:class|struct|union) ?", "", api.Reader.plain(declaration)).split(" ")[0]]


def page(header):
    with open(os.path.join(api.HEADERS, header), encoding="utf-8") as file:
        text = file.read()
    macros, plain = api.macros(api.without_comments(text))
    shown, reader = HeaderPage(header, text), api.Reader(plain)
    reader.run()
    if macros:
        shown.out.append("Macros: " + ", ".join(f"`{api.line(macro)}`" for macro in macros) + ".")
    for scopes, start, begin, end in reader.places:
        shown.add(scopes, api.line(plain[begin:end]), start, begin, end)
    shown.end_block()
    return "\n\n".join(part for part in shown.out if part) + "\n"


def first_sentence(text):
    """Of the first comment of a page, and no list behind it."""
    prose = [part for part in text.split("\n\n") if not part.startswith(("#", "```", "Macros:"))]
    sentence = re.split(r"(?<=\.)\s", " ".join(prose[0].split()))[0] if prose else ""
    return re.sub(r"(?<=.{20})[:;](?: .*|$)", ".", sentence)


def pages():
    """{name of the page: its text}, with an index."""
    made = {header: page(header) for header in api.installed()}
    rows = [f"| [tfile/{header}]({header}.md) | {first_sentence(text)} |" for header, text in made.items()]
    tree = "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(made) + "\n```\n"
    return {"index": INTRODUCTION + "\n".join(rows) + tree, **made}
