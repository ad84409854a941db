# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Parses the public header."""
import re

from . import functions
from .text import HeaderError, Token, one_line, plain, take_marks, tokenize
from .types import Type, declarator


class Header:
    """All declarations, in the order of the header. describe() gives the JSON.
    """

    def __init__(self, text):
        self.tokens = tokenize(text)
        self.at = 0
        self.errnos = self.closed_list()
        self.numbers = {}       # constants by name
        self.section = ""
        self.constants = []
        self.macros = []
        self.enums = []
        self.structs = []
        self.opaque = {}
        self.callbacks = []
        self.functions = []
        self.lines = {}         # function: line of its declaration
        try:
            self.parse()
        except IndexError:
            raise HeaderError(self.tokens[-1].end, "the header ends inside a "
                              "declaration") from None
        self.check_references()

    def closed_list(self):
        """The errno names that the head comment allows."""
        for token in self.tokens:
            match = token.kind == "comment" and re.search(
                r"closed list: ([^.]*)\.", plain(token))
            if match:
                return match.group(1).split()
        raise HeaderError(1, "the head comment has no \"closed list: E...\"")

    def parse(self):
        comment = None
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "comment":
                self.at += 1
                comment = token
                if "-----" in token.text:
                    self.section = one_line(plain(token).strip("- \n"))
                    comment = None
                continue
            if comment and comment.end + 1 < token.line:
                comment = None
            if token.kind == "pp":
                self.at += 1
                self.macro(token, comment)
                # one comment may stand above several macros
                if self.at < len(self.tokens) and \
                   self.tokens[self.at].kind == "pp" and comment:
                    comment = Token("comment", comment.text, token.line,
                                    token.end)
                    continue
            else:
                self.declaration(token, comment)
            comment = None

    def trailing(self, line):
        """The comment behind a member, on the same line."""
        token = self.tokens[self.at]
        if token.kind == "comment" and token.line == line:
            self.at += 1
            return token
        return None

    # --- macros

    def macro(self, token, comment):
        body = token.text.replace("\\\n", " ")
        match = re.fullmatch(r"#\s*define\s+(\w+)(\(([^)]*)\))?\s+(.*)",
                             body.strip(), re.S)
        name, params, value = match.group(1), match.group(3), match.group(4)
        tail = re.search(r"/\*(.*?)\*/\s*$", value, re.S)
        text = plain(comment)
        if tail:
            text = one_line(tail.group(1))
            value = value[:tail.start()]
        value = one_line(value)
        if params is not None:
            entry = {"name": name,
                     "params": [p.strip() for p in params.split(",")],
                     "body": value}
            self.expression(value, token.line, entry["params"])
            self.macros.append(dict(entry, comment=text))
        elif value.startswith("{"):
            self.macros.append({"name": name, "params": None, "body": value,
                                "comment": text})
        else:
            number = self.number(value, token.line)
            self.numbers[name] = number
            self.constants.append({"name": name, "value": number,
                                   "comment": text})

    def expression(self, text, line, params=()):
        """Translate a C expression to Python, as far as the header uses C."""
        out = re.sub(r"\(uint(\d+)_t\)\s*-\s*1\b",
                     lambda m: str((1 << int(m.group(1))) - 1), text)
        out = re.sub(r"\((?:unsigned|int|u?int\d+_t)\)", "", out)
        out = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]*\b", r"\1", out)
        for word in re.findall(r"\b[A-Za-z_]\w*", out):
            if word not in params and word not in self.numbers:
                raise HeaderError(line, "macro uses %s: bindings cannot "
                                  "follow it" % word)
        if re.search(r"[^\w\s()<>&|~+*-]", out):
            raise HeaderError(line, "macro is no plain integer expression")
        return out

    def number(self, text, line):
        try:
            return int(eval(self.expression(text, line),
                            {"__builtins__": {}}, dict(self.numbers)))
        except SyntaxError:
            raise HeaderError(line, "\"%s\" is no number" % text) from None

    # --- declarations

    def declaration(self, token, comment):
        words = [t.text for t in self.tokens[self.at:self.at + 3]]
        if words[0] == "enum" and words[2] == "{":
            self.enum(words[1], comment)
        elif words[0] == "struct" and words[2] == "{":
            self.struct(words[1], comment)
        elif words[0] == "struct" and words[2] == ";":
            self.opaque[words[1]] = token.line
            self.at += 3
        elif words[0] in ("enum", "union", "static", "extern", "inline"):
            raise HeaderError(token.line, "\"%s %s\" cannot be bound"
                              % (words[0], words[1]))
        else:
            self.prototype(token, comment)

    def enum(self, name, comment):
        constants = []
        self.at += 3
        above = None
        while self.tokens[self.at].text != "}":
            token = self.tokens[self.at]
            self.at += 1
            if token.kind == "comment":
                above = token
                continue
            if token.kind != "name":
                raise HeaderError(token.line, "enum %s: expected a name, "
                                  "not \"%s\"" % (name, token.text))
            if self.tokens[self.at].text != "=":
                raise HeaderError(token.line, "%s has no value of its own: "
                                  "numbers are pinned" % token.text)
            self.at += 1
            text = ""
            while self.tokens[self.at].text not in (",", "}") and \
                    self.tokens[self.at].kind != "comment":
                text += self.tokens[self.at].text
                self.at += 1
            value = self.number(text, token.line)
            if self.tokens[self.at].text == ",":
                self.at += 1
            self.numbers[token.text] = value
            entry = {"name": token.text, "value": value,
                     "comment": plain(self.trailing(token.line))}
            if above:
                entry["above"] = plain(above)
                above = None
            constants.append(entry)
        self.close(name)
        self.enums.append({"name": name, "comment": plain(comment),
                           "constants": constants})

    def close(self, name):
        self.at += 1
        if self.tokens[self.at].text != ";":
            raise HeaderError(self.tokens[self.at].line,
                              "%s: nothing may stand between } and ;" % name)
        self.at += 1

    def struct(self, name, comment):
        members = []
        self.at += 3
        while self.tokens[self.at].text != "}":
            if self.tokens[self.at].kind == "comment":
                self.at += 1
                continue
            members.append(self.member(name))
        self.close(name)
        counts = {m["name"]: m for m in members}
        for member in members:
            self.member_length(name, member, counts)
        for member in members:
            del member["line"]
        self.structs.append({"name": name, "comment": plain(comment),
                             "members": members})

    def member(self, struct):
        tokens = []
        while self.tokens[self.at].text != ";":
            if self.tokens[self.at].kind == "comment":
                raise HeaderError(self.tokens[self.at].line,
                                  "struct %s: a comment inside a declaration"
                                  % struct)
            tokens.append(self.tokens[self.at])
            self.at += 1
        line = tokens[0].line
        end = self.tokens[self.at].end
        self.at += 1
        kind, name, length = declarator(tokens, line)
        marks, text = take_marks(plain(self.trailing(end)), line)
        if marks.keys() - {"nullable", "len"}:
            raise HeaderError(line, "struct %s: members are marked with "
                              "[nullable] and [len: MEMBER] only" % struct)
        if marks and not kind.pointers:
            raise HeaderError(line, "struct %s: %s is no pointer and takes no "
                              "marks" % (struct, name))
        entry = {"name": name, **kind.describe()}
        if length is not None:
            entry["array"] = self.number(length, line)
        entry.update(marks)
        entry["comment"] = text
        entry["line"] = line
        return entry

    def member_length(self, struct, member, members):
        """By convention n_items counts items; [len: X] says it explicitly."""
        guess = "n_" + member["name"]
        if member["pointers"] and "len" not in member and guess in members:
            member["len"] = guess
        if "len" not in member or member["len"].isdigit():
            return
        if member["len"] not in members:
            raise HeaderError(member["line"], "struct %s: [len: %s] of %s is "
                              "no member" % (struct, member["len"],
                                             member["name"]))
        members[member["len"]]["counts"] = member["name"]

    def prototype(self, token, comment):
        start = self.at
        while self.tokens[self.at].text != ";":
            if self.tokens[self.at].text == "{":
                raise HeaderError(self.tokens[self.at].line,
                                  "functions with a body cannot be bound")
            self.at += 1
        tokens = [t for t in self.tokens[start:self.at]
                  if t.kind != "comment"]
        self.at += 1
        typedef = tokens[0].text == "typedef"
        if typedef:
            tokens = tokens[1:]
        texts = [t.text for t in tokens]
        if "(" not in texts or texts[-1] != ")":
            raise HeaderError(token.line, "this is no function: \"%s\""
                              % " ".join(texts))
        opening = texts.index("(")
        name = texts[opening - 1]
        result = Type(tokens[:opening - 1], token.line)
        params = self.parameters(tokens[opening + 1:-1], token.line)
        if typedef:
            self.callbacks.append({
                "name": name, "comment": plain(comment),
                "return": result.describe(),
                "params": [{"name": n, **t.describe()} for t, n in params]})
        else:
            self.function(name, result, params, token.line, comment)

    def function(self, name, result, params, line, comment):
        if name in self.lines:
            raise HeaderError(line, "%s is declared twice" % name)
        self.lines[name] = line
        self.functions.append({
            "name": name, "section": self.section,
            **functions.describe(name, result, params, line, comment,
                                 self.errnos)})

    @staticmethod
    def parameters(tokens, line):
        if [t.text for t in tokens] == ["void"]:
            return []
        params, part = [], []
        for token in tokens + [Token("punct", ",", line, line)]:
            if token.kind == "dots":
                raise HeaderError(token.line, "varargs cannot be bound")
            if token.text != ",":
                part.append(token)
                continue
            if not part:
                raise HeaderError(line, "\"()\" is not \"(void)\"")
            kind, name, length = declarator(part, part[0].line)
            if length is not None:
                raise HeaderError(part[0].line, "%s: an array as parameter "
                                  "hides a pointer" % name)
            if kind.base.endswith("_fn") and kind.pointers != 1:
                raise HeaderError(part[0].line, "%s: callbacks are passed as "
                                  "pointers" % name)
            params.append((kind, name))
            part = []
        return params

    # --- every name must refer to something that exists

    def check_references(self):
        known = {f["name"]: f for f in self.functions}
        defined = {s["name"] for s in self.structs}
        for name, line in self.opaque.items():
            if name in defined:
                raise HeaderError(line, "struct %s is both opaque and open"
                                  % name)
        types = defined | set(self.opaque)
        callbacks = {c["name"] for c in self.callbacks}
        for function in self.functions:
            line = self.lines[function["name"]]
            for item in [function["return"]] + function["params"]:
                self.check_item(function["name"], item, known, types,
                                callbacks, line)
            function["errors"] = functions.resolve(function, known, line)
        for struct in self.structs:
            for member in struct["members"]:
                self.check_item("struct " + struct["name"], member, known,
                                types, callbacks, 1)
        if not self.functions:
            raise HeaderError(1, "no public function found")

    @staticmethod
    def check_item(where, item, known, types, callbacks, line):
        base = item["base"]
        if base.startswith("struct ") and base[7:] not in types:
            raise HeaderError(line, "%s: %s is not declared" % (where, base))
        if base.endswith("_fn") and base not in callbacks:
            raise HeaderError(line, "%s: %s is not declared" % (where, base))
        if "owned" in item and item["owned"] not in known:
            raise HeaderError(line, "%s: [owned: %s] is no public function"
                              % (where, item["owned"]))
        until = item.get("borrowed", "")
        if until.startswith("pagedet_") and until not in known:
            raise HeaderError(line, "%s: [borrowed: %s] is no public function"
                              % (where, until))

    def describe(self):
        version = ".".join(str(self.numbers["PAGEDET_VERSION_" + part])
                           for part in ("MAJOR", "MINOR", "PATCH"))
        return {
            "library": "pagedet",
            "header": "pagedet.h",
            "version": version,
            "errnos": self.errnos,
            "constants": self.constants,
            "macros": self.macros,
            "enums": self.enums,
            "opaque": list(self.opaque),
            "structs": self.structs,
            "callbacks": self.callbacks,
            "functions": self.functions,
        }
