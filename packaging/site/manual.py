# SPDX-License-Identifier: Apache-2.0
"""Pages of the manual as Markdown: the requests of man(7) that they use. Any other one is an error."""

import re

FONTS = {"R": "", "B": "strong", "I": "em"}


def plain(text):
    """What roff prints, without fonts."""
    text = re.sub(r"\\f[RBIP]|\\&", "", text)
    return text.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


def escaped(text):
    """Letters that mean nothing in Markdown. Elements of HTML keep no line from being searched."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]{}|#~$!^+:@-])", r"\\\1", text)


def marked(text):
    """A line with its fonts as elements of HTML."""
    out, font = "", "R"
    for part in re.split(r"(\\f[RBIP])", text):
        if match := re.fullmatch(r"\\f([RBIP])", part):
            font = match[1].replace("P", "R")
        elif part:
            shown = escaped(plain(part))
            out += f"<{FONTS[font]}>{shown}</{FONTS[font]}>" if FONTS[font] and shown.strip() else shown
    return out


def arguments(text):
    """Of a request: words, or what is in quotes."""
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', text)]


def alternating(fonts, words):
    return "".join(rf"\f{fonts[at % 2]}{word}\fR" for at, word in enumerate(words))


def line_of(request, rest):
    """The text of a request that sets its arguments in fonts; None: it is another one."""
    if request in ("B", "I"):
        return rf"\f{request}{' '.join(arguments(rest))}\fR"
    if request in ("BR", "IB", "IR", "BI", "RB", "RI"):
        return alternating(request, arguments(rest))
    return None


class Page:
    """`words`: of the paragraph that is being read; `term`: what it explains, None: nothing, "": the next line says it. `depth`:
    how many lists it is in, besides that of the term."""

    def __init__(self):
        self.out, self.words, self.term, self.is_verbatim, self.is_more, self.depth = [], [], None, False, False, 0

    def emit(self, text):
        self.out.append("\n".join("  " * self.depth + line for line in text.split("\n")))

    def end_paragraph(self):
        text = "\n".join(self.words)
        if self.term:
            self.emit(self.term + "\n: " + (text or "&nbsp;").replace("\n", "\n  "))
        elif text:
            self.emit("  " + text.replace("\n", "\n  ") if self.is_more else text)
        self.words, self.term, self.is_more = [], None, False

    def continue_item(self):
        """With a further paragraph of what a term means."""
        self.end_paragraph()
        self.is_more = True

    def text(self, text):
        if self.is_verbatim:
            self.words.append(plain(text))
        elif self.term == "":
            self.term = marked(text)
        elif text:
            self.words.append(marked(text))

    def heading(self, level, rest):
        self.end_paragraph()
        self.depth = 0
        self.emit("#" * level + " " + plain(" ".join(arguments(rest))).capitalize())

    def request(self, name, rest):
        if (text := line_of(name, rest)) is not None:
            self.text(text)
        elif name == "TH":
            title, section = arguments(rest)[:2]
            self.out.append(f"# {plain(title).lower()}({section})")
        elif name in ("SH", "SS"):
            self.heading({"SH": 2, "SS": 3}[name], rest)
        elif name in ("PP", "TP"):
            self.end_paragraph()
            self.term = "" if name == "TP" else None
        elif name == "IP" and not rest:
            self.continue_item()
        elif name in ("RS", "RE"):
            self.end_paragraph()
            self.depth += 1 if name == "RS" else -1
        elif name in ("nf", "EX"):
            is_more = self.is_more and not self.words
            self.end_paragraph()
            self.words, self.is_verbatim, self.is_more = ["```text"], True, is_more
        elif name in ("fi", "EE"):
            self.words.append("```")
            self.is_verbatim = False
            self.end_paragraph()
        elif name != "nr":
            raise ValueError(f"a request that the site does not know: .{name} {rest}")


def as_markdown(roff):
    page = Page()
    for line in roff.splitlines():
        if line.startswith('.\\"') or line == ".":
            continue
        if match := re.match(r"\.(\w+) ?(.*)", line):
            page.request(*match.groups())
        else:
            page.text(line)
    page.end_paragraph()
    return "\n\n".join(page.out) + "\n"
