# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Makes HTML of the Markdown that our documents use: headings, paragraphs,
lists of one level, tables, fenced code, and in a line code, bold text, links
and images. Anything else stays text."""
import html
import re

HEADING = re.compile(r"(#{1,4}) +(.*)$")
ITEM = re.compile(r"(-|\d+\.) +")
RULE = re.compile(r"\|[-:| ]+\|$")
INLINE = re.compile(r"`(?P<code>[^`]+)`"
                    r"|!\[(?P<alt>[^]]*)\]\((?P<image>[^)]+)\)"
                    r"|\[(?P<words>[^]]+)\]\((?P<target>[^)]+)\)"
                    r"|\*\*(?P<bold>.+?)\*\*")


def slug(text):
    """The anchor of a heading, as forges make it."""
    text = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", text).lower())
    return text.replace(" ", "-")


class Document:
    """@link and @manual turn a target of a link and a code such as
    "pagedet(1)" into an address, or into None if there is none."""

    def __init__(self, text, link, manual):
        self.link, self.manual = link, manual
        self.title = ""
        self.anchors = set()
        self.lines = text.split("\n")
        self.at = 0
        self.html = "\n".join(self.blocks())

    def inline(self, text):
        out, at = [], 0
        for found in INLINE.finditer(text):
            out.append(html.escape(text[at:found.start()], quote=False))
            out.append(self.span(found))
            at = found.end()
        return "".join(out) + html.escape(text[at:], quote=False)

    def span(self, found):
        part = found.groupdict()
        if part["code"]:
            # A table has to write a bar as "\|".
            code = html.escape(part["code"].replace("\\|", "|"), quote=False)
            address = self.manual(part["code"])
            code = "<code>%s</code>" % code
            return self.linked(address, code) if address else code
        if part["image"]:
            return '<img src="%s" alt="%s">' % (
                html.escape(self.link(part["image"])),
                html.escape(part["alt"]))
        if part["bold"]:
            return "<b>%s</b>" % self.inline(part["bold"])
        return self.linked(self.link(part["target"]),
                           self.inline(part["words"]))

    @staticmethod
    def linked(address, text):
        return '<a href="%s">%s</a>' % (html.escape(address), text)

    # --- blocks ---

    def blocks(self):
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
            elif line.startswith("```"):
                yield self.code()
            elif HEADING.match(line):
                yield self.heading(*HEADING.match(line).groups())
            elif line.startswith("|"):
                yield self.table()
            elif ITEM.match(line):
                yield self.items()
            else:
                yield "<p>%s</p>" % self.inline(self.paragraph())

    def taken(self, more):
        """The lines from here on as long as @more says so of them."""
        start = self.at
        while self.at < len(self.lines) and more(self.lines[self.at]):
            self.at += 1
        return self.lines[start:self.at]

    def code(self):
        self.at += 1
        lines = self.taken(lambda line: not line.startswith("```"))
        self.at += 1
        return "<pre>%s</pre>" % html.escape("\n".join(lines), quote=False)

    def heading(self, marks, text):
        self.at += 1
        self.title = self.title or re.sub(r"[`*]", "", text)
        anchor = name = slug(text)
        n = 0
        while anchor in self.anchors:
            n += 1
            anchor = "%s-%d" % (name, n)
        self.anchors.add(anchor)
        return '<h%d id="%s">%s</h%d>' % (len(marks), anchor,
                                          self.inline(text), len(marks))

    def row(self, line, cell):
        cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
        return "<tr>%s</tr>" % "".join(
            "<%s>%s</%s>" % (cell, self.inline(text.strip()), cell)
            for text in cells)

    def table(self):
        lines = self.taken(lambda line: line.startswith("|"))
        head = []
        if len(lines) > 1 and RULE.match(lines[1]):
            if lines[0].strip("| "):
                head = [self.row(lines[0], "th")]
            lines = lines[2:]
        return "<table>\n%s\n</table>" % "\n".join(
            head + [self.row(line, "td") for line in lines])

    def items(self):
        kind = "ul" if self.lines[self.at].startswith("-") else "ol"
        out = []
        while self.at < len(self.lines):
            found = ITEM.match(self.lines[self.at])
            if not found:
                break
            first = self.lines[self.at][found.end():]
            self.at += 1
            rest = self.taken(lambda line: line.startswith("  "))
            text = " ".join([first] + [line.strip() for line in rest])
            out.append("<li>%s</li>" % self.inline(text))
        return "<%s>\n%s\n</%s>" % (kind, "\n".join(out), kind)

    def paragraph(self):
        first = self.lines[self.at]
        self.at += 1
        return "\n".join([first] + self.taken(
            lambda line: line.strip() and not line.startswith(("```", "|"))
            and not HEADING.match(line) and not line.startswith("- ")))
