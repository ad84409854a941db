# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Splits the header into tokens, and parses its comments.

Comments are tokens as well, because they carry half of the meaning.
"""
import re


class HeaderError(Exception):
    """An error in the header, with its line."""

    def __init__(self, line, text):
        super().__init__(text)
        self.line = line


TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/)
  | (?P<pp>^[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\d\w*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<dots>\.\.\.)
  | (?P<punct>[^\w\s])
""", re.X | re.S | re.M)


class Token:
    def __init__(self, kind, text, line, end):
        self.kind = kind
        self.text = text
        self.line = line        # first line
        self.end = end          # last line


def tokenize(text):
    tokens = []
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        end = line + match.group().count("\n")
        tokens.append(Token(match.lastgroup, match.group(), line, end))
    return without_cplusplus(tokens)


def without_cplusplus(tokens):
    """Leave out #ifdef __cplusplus ... #endif, #include, #line and the guard.
    """
    kept = []
    depth, skip = 0, None
    for token in tokens:
        if token.kind != "pp":
            if skip is None:
                kept.append(token)
            continue
        words = token.text.split()
        directive = "".join(words[:2]) if words[0] == "#" else words[0]
        if directive in ("#ifdef", "#ifndef", "#if"):
            depth += 1
            if words[-1] == "__cplusplus":
                skip = depth
            elif directive != "#ifndef" or depth != 1:
                raise HeaderError(token.line,
                                  "only the guard and __cplusplus may be "
                                  "conditional: bindings see one API")
        elif directive == "#endif":
            if skip == depth:
                skip = None
            depth -= 1
        elif directive == "#define" and skip is None:
            if len(words) > 2:
                kept.append(token)
        elif directive not in ("#include", "#line") and skip is None:
            raise HeaderError(token.line, "unknown directive " + directive)
    return kept


def comment_lines(token):
    """[(line number, text)] without the stars."""
    text = re.sub(r"^/\*+|\*+/$", "", token.text)
    lines = []
    for number, line in enumerate(text.split("\n"), token.line):
        lines.append((number, re.sub(r"^\s*\* ?", "", line).rstrip()
                      if number > token.line else line.strip()))
    return lines


def one_line(text):
    return " ".join(text.split())


def plain(token):
    """The text of a comment; only paragraphs keep their breaks."""
    if token is None:
        return ""
    parts = "\n".join(text for _, text in comment_lines(token))
    parts = [one_line(part) for part in re.split(r"\n\s*\n", parts.strip())]
    return "\n\n".join(part for part in parts if part)


def take_marks(text, line):
    """Split "[in,nullable] words [len: n]" into marks and words."""
    marks = {}

    def take(match):
        for part in re.split(r",\s*(?=in\b|out\b|nullable\b|\w+:)",
                             match.group(1)):
            key, colon, value = part.partition(":")
            if key in ("in", "out", "nullable") and not colon:
                marks[key] = True
            elif key in ("len", "borrowed", "owned") and value.strip():
                marks[key] = one_line(value)
            elif colon:
                raise HeaderError(line, "no mark: [%s]" % match.group(1))
            else:
                return match.group()
        return ""

    words = re.sub(r"\s*\[([^\]]+)\]", take, text)
    return marks, one_line(words).lstrip(",; ")
