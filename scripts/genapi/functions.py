# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Parses the comment above a function, and checks that it is complete."""
import re

from .text import HeaderError, comment_lines, one_line, take_marks

SECTION = re.compile(r"(@\w+|Return|Errors|Since):\s*(.*)")


def parse_doc(token, name):
    """The parts of a comment, each with its line."""
    lines = [item for item in comment_lines(token) if item[1].strip()]
    line, first = lines[0] if lines else (token.line, "")
    head = re.fullmatch(re.escape(name) + r" - (\S.*)", first)
    if head is None:
        raise HeaderError(line, "%s: its comment must begin with \"%s - "
                          "one-line summary\"" % (name, name))
    text = ""
    parts = {}
    part = None
    for line, words in lines[1:]:
        match = SECTION.fullmatch(words)
        if match:
            part = match.group(1)
            if part in parts:
                raise HeaderError(line, "%s: a second %s" % (name, part))
            parts[part] = [line, match.group(2)]
        elif part:
            parts[part][1] += " " + words
        else:
            text += " " + words
    return head.group(1), one_line(text), parts


def describe(name, result, params, line, comment, errnos):
    if comment is None or not comment.text.startswith("/**"):
        raise HeaderError(line, "%s has no /** comment above it" % name)
    summary, text, parts = parse_doc(comment, name)
    out = {"name": name, "summary": summary}
    if text:
        out["description"] = text
    out["return"] = returns(name, result, parts, line)
    out["params"] = [parameter(name, kind, param, parts, line)
                     for kind, param in params]
    check_names(out, [param for _, param in params], parts)
    for part in ("Errors", "Since"):
        if part not in parts:
            raise HeaderError(line, "%s: no \"%s:\"" % (name, part))
    out["errors"] = errors(name, *parts["Errors"], errnos)
    if not re.fullmatch(r"\d+\.\d+", parts["Since"][1]):
        raise HeaderError(parts["Since"][0], "%s: Since is no release"
                          % name)
    out["since"] = parts["Since"][1]
    return out


def check_names(function, names, parts):
    for part, (where, _) in parts.items():
        if part[0] == "@" and part[1:] not in names:
            raise HeaderError(where, "%s has no parameter %s"
                              % (function["name"], part[1:]))
    for param in function["params"]:
        length = param.get("len", "0")
        if not length.isdigit() and length not in names:
            raise HeaderError(parts["@" + param["name"]][0],
                              "%s: [len: %s] is no parameter"
                              % (function["name"], length))


def returns(name, result, parts, line):
    out = result.describe()
    if result.text == "void":
        if "Return" in parts:
            raise HeaderError(parts["Return"][0],
                              "%s returns nothing" % name)
        return out
    if "Return" not in parts:
        raise HeaderError(line, "%s: no \"Return:\"" % name)
    where, text = parts["Return"]
    marks, words = take_marks(text, where)
    if not words:
        raise HeaderError(where, "%s: Return says nothing" % name)
    if result.pointers and ("owned" in marks) == ("borrowed" in marks):
        raise HeaderError(where, "%s: a returned pointer is either "
                          "[owned: FUNCTION] or [borrowed: UNTIL]" % name)
    if result.pointers and "nullable" not in marks and \
       "never NULL" not in words:
        raise HeaderError(where, "%s: a returned pointer is [nullable] or "
                          "\"never NULL\"" % name)
    return {**out, **marks, "text": words}


def parameter(name, kind, param, parts, line):
    if "@" + param not in parts:
        raise HeaderError(line, "%s: parameter %s is not documented"
                          % (name, param))
    where, text = parts["@" + param]
    marks, words = take_marks(text, where)
    if "in" not in marks and "out" not in marks:
        raise HeaderError(where, "%s: parameter %s is neither [in] nor [out]"
                          % (name, param))
    if "nullable" in marks and not kind.pointers:
        raise HeaderError(where, "%s: %s is no pointer and cannot be "
                          "[nullable]" % (name, param))
    if "out" in marks and (not kind.pointers or
                           (kind.const and kind.pointers == 1)):
        raise HeaderError(where, "%s: nothing can come out of %s"
                          % (name, param))
    if "out" not in marks and kind.pointers > 1 and not kind.const:
        raise HeaderError(where, "%s: %s looks like [out]" % (name, param))
    if "out" in marks and kind.pointers > 1 and \
       ("owned" in marks) == ("borrowed" in marks):
        raise HeaderError(where, "%s: the pointer that comes out of %s is "
                          "either [owned: FUNCTION] or [borrowed: UNTIL]"
                          % (name, param))
    both = marks.pop("in", False), marks.pop("out", False)
    direction = "inout" if all(both) else "in" if both[0] else "out"
    return {"name": param, **kind.describe(), "direction": direction,
            **marks, "text": words}


def errors(name, line, text, errnos):
    """[{errno, cause, as}]; errno None: all those of the function "as"."""
    text = one_line(text).rstrip(".")
    if text == "none":
        return []
    out = []
    for item in re.split(r";\s+(?=E[A-Z0-9]+\b|as )", text):
        match = re.fullmatch(r"((?:E[A-Z0-9]+\b ?)*)(.*)", item)
        found, cause = match.group(1).split(), match.group(2)
        also = re.fullmatch(r"as (pagedet_\w+)\(\)", cause)
        if not found and not also:
            raise HeaderError(line, "%s: \"%s\" names no errno"
                              % (name, item))
        for errno in found:
            if errno not in errnos:
                raise HeaderError(line, "%s: %s is not in the closed list "
                                  "of the head comment" % (name, errno))
        for errno in found or [None]:
            entry = {"errno": errno, "cause": cause}
            if also:
                entry["as"] = also.group(1)
            out.append(entry)
    return out


def resolve(function, known, line):
    """Replace "as pagedet_next()" by the errors of that function."""
    out = []
    for error in function["errors"]:
        other = error.get("as")
        if other is None:
            out.append(error)
            continue
        if other not in known or other == function["name"]:
            raise HeaderError(line, "%s: Errors point to %s()"
                              % (function["name"], other))
        theirs = [e for e in known[other]["errors"]
                  if e["errno"] and "as" not in e and
                  error["errno"] in (None, e["errno"])]
        if not theirs:
            raise HeaderError(line, "%s: %s() does not say %s"
                              % (function["name"], other,
                                 error["errno"] or "any errno itself"))
        out += [{**e, "as": other} for e in theirs]
    return out
