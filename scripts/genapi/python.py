# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Generates the low layer of the Python binding from the description."""
import re
import textwrap

HEAD = '''\
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The C API of libpagedet for ctypes: constants, structs, prototypes.

Written by scripts/gen-api from bindings/pagedet-api.json; do not edit.
"""
'''

CTYPES = {"int": "c_int", "unsigned": "c_uint", "size_t": "c_size_t",
          "char": "c_char"}


def ctype(item):
    """The ctypes expression for a type."""
    base, pointers = item["base"], item["pointers"]
    if base == "void":
        if not pointers:
            return "None"
        name, pointers = "c_void_p", pointers - 1
    elif base == "char" and pointers:
        name, pointers = "c_char_p", pointers - 1
    elif base.endswith("_fn"):
        name, pointers = base, pointers - 1
    elif base.startswith("struct "):
        name = base[7:]
    else:
        name = CTYPES.get(base) or "c_" + base[:-2]
    for _ in range(pointers):
        name = "POINTER(%s)" % name
    return name


def expression(macro):
    text = re.sub(r"\((?:unsigned|int|u?int\d+_t)\)", "", macro["body"])
    return re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]*\b", r"\1", text)


def bracketed(name, items, indent):
    """name([a, b]) in lines below 80 columns."""
    flat = "%s%s[%s]" % (indent, name, ", ".join(items))
    if len(flat) < 79:
        return flat
    inside = ",\n".join(indent + "    " + item for item in items)
    return "%s%s[\n%s,\n%s]" % (indent, name, inside, indent)


def counted_text(function):
    """Its char * result has a length and may contain any byte."""
    return function["return"]["base"] == "char" and \
        any(p["name"] == "len" and p["direction"] == "out"
            for p in function["params"])


def imports(body):
    """The names of ctypes that are used."""
    names = sorted(set(re.findall(r"\b(?:c_\w+|CFUNCTYPE|POINTER|Structure)\b",
                                  body)))
    lines = textwrap.wrap(", ".join(names) + ")", 60)
    return "from ctypes import (" + ("\n" + 20 * " ").join(lines)


def to_python(api):
    body = ['API_VERSION = "%s"' % api["version"], ""]
    body += constants(api["constants"])
    for enum in api["enums"]:
        body += ["", "# enum " + enum["name"]]
        body += constants(enum["constants"])
    for macro in api["macros"]:
        if macro["params"] is not None:
            body += ["", "",
                     "def %s(%s):" % (macro["name"],
                                      ", ".join(macro["params"])),
                     "    return " + expression(macro)]
    body += structures(api)
    body += prototypes(api)
    body = "\n".join(body) + "\n"
    return HEAD + imports(body) + "\n\n" + body


def constants(entries):
    return ["%s = %d" % (entry["name"], entry["value"]) for entry in entries]


def prototypes(api):
    lines = ["", "", "# name: (result, arguments, since)", "FUNCTIONS = {"]
    for function in api["functions"]:
        result = ctype(function["return"])
        if counted_text(function):
            result = "c_void_p"
        arguments = [ctype(p) for p in function["params"]]
        lines += ['    "%s": (' % function["name"],
                  "        %s," % result,
                  bracketed("", arguments, "        ") + ",",
                  '        "%s"),' % function["since"]]
    return lines + ["}"]


def structures(api):
    """In the order of the header; a callback comes before its users."""
    lines = []
    for name in api["opaque"]:
        lines += ["", "", "class %s(Structure):" % name,
                  '    """Opaque."""']
    waiting = {entry["name"]: entry for entry in api["callbacks"]}
    for struct in api["structs"]:
        for member in struct["members"]:
            if member["base"] in waiting:
                lines += callback(waiting.pop(member["base"]))
        lines += ["", "", "class %s(Structure):" % struct["name"]]
        fields = []
        for member in struct["members"]:
            kind = ctype(member)
            if "array" in member:
                kind += " * %d" % member["array"]
            fields.append('("%s", %s)' % (member["name"], kind))
        lines.append(bracketed("_fields_ = ", fields, "    "))
    for entry in waiting.values():
        lines += callback(entry)
    return lines


def callback(entry):
    types = [ctype(item) for item in [entry["return"]] + entry["params"]]
    return ["", "", "%s = CFUNCTYPE(%s)" % (entry["name"], ", ".join(types))]
