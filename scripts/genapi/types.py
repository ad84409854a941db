# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Parses C types and declarators that other languages can express."""
import re

from .text import HeaderError

SCALARS = ("char", "int", "unsigned", "size_t", "int8_t", "uint8_t",
           "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
           "uint64_t")


class Type:
    """A C type: "const char *const *" is base char, two pointers."""

    def __init__(self, tokens, line):
        self.pointers = 0
        words = []
        text = ""
        for token in tokens:
            if token.text == "*":
                self.pointers += 1
                text += "*" if text.endswith("*") else " *"
            else:
                text += token.text if text.endswith("*") else \
                    " " + token.text
                if token.text != "const":
                    words.append(token.text)
        self.text = text.strip()
        self.base = " ".join(words)
        # const: the target must not be written through this type
        self.const = tokens[0].text == "const" if tokens else False
        if not self.base:
            raise HeaderError(line, "no type here")
        if self.base != "void" and self.base not in SCALARS and \
           not re.fullmatch(r"struct \w+|pagedet_\w+_fn", self.base):
            raise HeaderError(line, "type \"%s\" cannot be bound: its width "
                              "or form differs between compilers and "
                              "languages" % self.base)
        if self.base.startswith("struct") and not self.pointers:
            raise HeaderError(line, "%s by value cannot be bound" % self.base)

    def describe(self):
        out = {"type": self.text, "base": self.base,
               "pointers": self.pointers}
        if self.pointers:
            out["const"] = self.const
        return out


def declarator(tokens, line):
    """Type, name and array length of "uint64_t lost[32]"."""
    length = None
    if tokens and tokens[-1].text == "]":
        opening = max(i for i, t in enumerate(tokens) if t.text == "[")
        length = "".join(t.text for t in tokens[opening + 1:-1])
        tokens = tokens[:opening]
    for token in tokens:
        if token.text in (":", "(", "union", "enum", "long", "bool"):
            raise HeaderError(token.line, "\"%s\" in a declaration cannot be "
                              "bound" % token.text)
    if len(tokens) < 2 or tokens[-1].kind != "name":
        raise HeaderError(line, "a declaration without a name")
    return Type(tokens[:-1], line), tokens[-1].text, length
