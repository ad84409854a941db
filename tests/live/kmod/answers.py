# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Parses page_detective's answers in its file and in the log alike."""
import re


def unescaped(text):
    return re.sub(rb"\\x([0-9a-f]{2})",
                  lambda m: bytes([int(m.group(1), 16)]), text).decode(
                      "utf-8", "surrogateescape")


def records(answer):
    """[(word, {key: value})] of an answer; None if it is not whole."""
    lines = answer.split(b"\n")
    if lines[-2:] != [b"end", b""]:
        return None
    found = []
    for line in lines[:-2]:
        word, *pairs = line.split(b" ")
        fields = {}
        for pair in pairs:
            key, value = pair.split(b"=", 1)
            fields[key.decode()] = unescaped(value)
        found.append((word.decode(), fields))
    return found


class Answer:
    """About one page."""

    def __init__(self):
        self.pfn = None
        self.page = {}
        self.mappers = []	# (pid, address, vma name)
        self.kernel = []	# kinds of mappings in the kernel
        self.counts = None	# (kernel, user)
        self.chain = None	# of cgroups
        self.said = {}		# of a log: which lines


def of_file(answer):
    """The answers about pages, one each."""
    found = []
    for word, fields in records(answer) or []:
        if word == "page":
            a = Answer()
            a.page = fields
            a.pfn = number(fields.get("pfn"))
            found.append(a)
        elif word == "map" and fields["kind"] == "user":
            found[-1].mappers.append((int(fields.get("pid", 0)),
                                      int(fields["addr"], 16),
                                      fields["vma_name"]))
        elif word == "map":
            found[-1].kernel.append(fields["kind"])
        elif word == "maps":
            found[-1].counts = (int(fields["kernel"]), int(fields["user"]))
    return found


def number(text):
    return None if text is None else int(text, 0)


HEX = r"([0-9a-f]+)"
LINES = [(name, re.compile(pattern)) for name, pattern in (
    ("asked", r"Investigating .*physical\[%s\] pfn\[%s\]$" % (HEX, HEX)),
    ("invalid", r"pfn\[%s\] is invalid$" % HEX),
    ("metadata", r"metadata for (Transparent Huge Page|HugeTLB|Small Page) "
     r"pfn\[%s\] folio\[[0-9a-f]{16}\] order \[(\d+)\]$" % HEX),
    ("page", r"page: refcount:(-?\d+) mapcount:(-?\d+) "
     r"mapping:[0-9a-f]{16} index:0x%s pfn:0x%s$" % (HEX, "%s")),
    ("head", r"head: order:(\d+) .*entire_mapcount:(\d+)"),
    ("file", r"aops:(\S+) ino:%s(?: dentry name\(\?\):\"(.*)\")?$" % HEX),
    ("flags", r"(anon |ksm )?flags: 0x%s\(" % HEX),
    ("chain", r"memcg: \[(.*) \]$"),
    ("kernel", r"The page is (direct mapped|mapped in vmalloc|mapped into "
     r"kernel) addr\[%s\] (pte|pmd|pud) entry\[%s\]$" % (HEX, HEX)),
    ("user", r"(?:hugetlb )?mapped by PID\[(-?\d+)\] cmd\[(.*)\] "
     r"mm\[[0-9a-f]{16}\] pgd\[[0-9a-f]{16}\] at addr\[%s\] "
     r"(pte|pmd|pud)\[%s\]$" % (HEX, HEX)),
    ("vma", r"vma\[[0-9a-f]{16}\] start\[%s\] end\[%s\] flags\[[0-9a-f]{16}\]"
     r" name: (.*)$" % (HEX, HEX)),
    ("kernels", r"The page mapped into kernel page table: (\d+) times$"),
    ("users", r"The page mapped into user page tables: (\d+) times$"),
    ("zero", r"The page contains (only zeroes|some data)$"),
    ("finished", r"Finished investigation of (virtual|physical)\[%s\]$" % HEX),
)]
LINES = [(name, re.compile(p.pattern % HEX if "%s" in p.pattern else
                           p.pattern)) for name, p in LINES]
HOW = {"direct mapped": "direct", "mapped in vmalloc": "vmalloc",
       "mapped into kernel": "kernel"}


def of_log(text):
    """The one answer in a piece of the log, and the lines that nothing is
    known of; (None, ...) if it has no end."""
    a, strange = Answer(), []
    said = a.said
    for line in text.decode("utf-8", "surrogateescape").splitlines():
        line = re.sub(r"^\[[ 0-9.]+\] ", "", line)
        if not line.startswith("Page Detective: "):
            strange.append(line)
            continue
        line = line[len("Page Detective: "):]
        for name, pattern in LINES:
            m = pattern.match(line)
            if m:
                take(a, name, m.groups(), said)
                break
        else:
            strange.append(line)
    if "finished" not in said or "asked" not in said:
        return None, strange
    a.counts = said.get("kernels"), said.get("users")
    return a, strange


def take(a, name, groups, said):
    said[name] = True
    page = a.page
    if name == "asked":
        page["phys"], a.pfn = int(groups[0], 16), int(groups[1], 16)
        page["state"] = "have"
    elif name == "invalid":
        page["state"] = "nopage"
    elif name == "metadata":
        page["what"], page["order"] = groups[0], groups[2]
    elif name == "page":
        page["refcount"], page["own_mapcount"] = groups[0], int(groups[1])
        page["index"] = "0x" + groups[2]
    elif name == "head":
        page["entire"] = int(groups[1])
    elif name == "file":
        page["file"] = "have"
        page["aops"], page["ino"] = groups[0], str(int(groups[1], 16))
        page["dentry"] = groups[2]
    elif name == "flags":
        page["anon"] = str(int(groups[0] is not None))
        page["flags"] = "0x" + groups[1]
    elif name == "chain":
        a.chain = groups[0].split(" ] [")
        page["memcg"] = a.chain[0]
    elif name == "kernel":
        a.kernel.append(HOW[groups[0]])
    elif name == "user":
        a.mappers.append((int(groups[0]), int(groups[2], 16), None))
    elif name == "vma" and a.mappers:
        pid, addr, _ = a.mappers.pop()
        a.mappers.append((pid, addr, groups[2]))
    elif name == "zero":
        page["content"] = "zero" if "zeroes" in groups[0] else "data"
    elif name in ("kernels", "users"):
        said[name] = int(groups[0])
