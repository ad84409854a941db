#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests pagedet from-log: one report, whatever stands around its lines, and what
looks like a report and is not understood.
"""
import json

from captures import Tap, ask

tap = Tap()
REPORT = (
    (2091.301001, "BUG: Bad page state in process writer  pfn:12bf4c"),
    (2091.301009, "page: refcount:0 mapcount:0 mapping:0000000000000000 "
     "index:0x4 pfn:0x12bf4c"),
    (2091.301013, "flags: 0x17ffffc000800c(referenced|uptodate|private|"
     "node=0|zone=2|lastcpupid=0x1fffff)"),
    (2091.301018, "raw: 0017ffffc000800c dead000000000100 dead000000000122 "
     "0000000000000000"),
    (2091.301021, "raw: 0000000000000004 ffff8881ce6f69b0 00000000ffffffff "
     "0000000000000000"),
    (2091.301024, "page dumped because: PAGE_FLAGS_CHECK_AT_FREE flag(s) set"),
    (2091.301030, "CPU: 1 UID: 0 PID: 6166 Comm: writer Not tainted "
     "6.12.30 #1"),
    (2091.301034, "Call Trace:"),
)
FIELDS = ("report", "pfn", "comm", "pid", "flags", "object", "refcount",
          "notes")


def stamped(form):
    return "".join(form % {"s": "%12.6f" % at, "t": text, "n": n,
                           "j": json.dumps(text), "b": list(text.encode())}
                   + "\n" for n, (at, text) in enumerate(REPORT))


def answer(text):
    _, rows, _ = ask("from-log", "--text-only", stdin=text.encode())
    return [{name: row.get(name) for name in FIELDS} for row in rows]


WANT = [{"report": "bad_page_state", "pfn": 0x12bf4c, "comm": "writer",
         "pid": 6166, "flags": ["referenced", "uptodate", "private"],
         "object": "PAGE_FLAGS_CHECK_AT_FREE flag(s) set", "refcount": 0,
         "notes": []}]
FORMS = (
    ("dmesg", "[%(s)s] %(t)s"),
    ("dmesg in colours", "\33[32m[%(s)s] \33[0m\33[31m%(t)s\33[0m"),
    ("dmesg --json", '{\n"pri": 1,\n"time": %(s)s,\n"msg": %(j)s\n},'),
    ("journalctl -o json", '{"_TRANSPORT": "kernel", "PRIORITY": "1", '
     '"MESSAGE": %(j)s, "_HOSTNAME": "host"}'),
    ("journalctl -o json-seq", '\x1e{"MESSAGE" : %(j)s}'),
    ("short-monotonic", "[%(s)s] host kernel: %(t)s"),
    ("short-monotonic without the host", "[%(s)s] kernel: %(t)s"),
    ("short-unix", "1731233410.000000 host kernel: %(t)s"),
    ("syslog", "Nov 10 10:10:10 host kernel: [%(s)s] %(t)s"),
    ("syslog of a process with a number",
     "Nov 10 10:10:10 host kernel[0]: [%(s)s] %(t)s"),
    ("syslog of a host that is called kernel",
     "Nov 10 10:10:10 kernel-1 kernel: [%(s)s] %(t)s"),
    ("RFC 5424", "<2>1 2024-11-10T10:10:10.000000+00:00 host kernel - - - "
     "[%(s)s] %(t)s"),
    ("a tag alone", "kernel: [%(s)s] %(t)s"),
    ("a tag alone, no stamp", "kernel: %(t)s"),
    ("netconsole, relayed", "Nov 10 10:10:10 10.1.2.3 [%(s)s] %(t)s"),
    ("a container's log", "2024-11-10T10:10:10.123456789Z stderr F [%(s)s] "
     "%(t)s"),
    ("docker compose", "guest-1  | [%(s)s] %(t)s"),
    ("docker's json", '{"log":"[%(s)s] %(t)s\\n","stream":"stdout"}'),
    ("logcat", "11-10 10:10:10.123     0     0 E         : [%(s)s] %(t)s"),
    ("grep -n", "17:[%(s)s] %(t)s"),
    ("grep of files", "/var/log/kern.log:[%(s)s] %(t)s"),
    ("a quotation", "> [%(s)s] %(t)s"),
    ("a quotation without stamps", "> > %(t)s"),
    ("a prompt", "user@host:~$ [%(s)s] %(t)s"),
    ("half a stamp", "%(s)s] %(t)s"),
    ("journalctl -o export", "__CURSOR=s=ab\nPRIORITY=1\n_TRANSPORT=kernel\n"
     "MESSAGE=%(t)s\n_HOSTNAME=host\n_BOOT_ID=12\n"),
    ("journalctl -o verbose", "Sun 2024-11-10 10:10:10.301001 UTC [s=ab;i=1]\n"
     "    PRIORITY=1\n    MESSAGE=%(t)s\n    _HOSTNAME=host"),
    ("journalctl -o json-sse", 'data: {"MESSAGE":%(j)s}\n'),
    ("journalctl -o json, bytes", '{"_TRANSPORT":"kernel","MESSAGE":%(b)s}'),
    ("netconsole with the release", "6.12.30,1,%(n)d,2091301001,-;%(t)s"),
    ("a processor and a task", "<4>[%(s)s].(1)[6166:writer]%(t)s"),
    ("a processor and a task, padded",
     "<1>[%(s)s]  I[1:         writer: 6166] %(t)s"),
    ("filled with blanks", "[%(s)s] %(t)s        "),
    ("a web page", "[%(s)s] %(t)s<br>"),
    ("CSV", '"2024-11-10","[%(s)s] %(t)s"'),
)
for name, form in FORMS:
    tap.equal(name, answer(stamped(form)), WANT)
tap.equal("a byte order mark", answer("\ufeff" + stamped("[%(s)s] %(t)s")),
          WANT)
first, rest = stamped("[%(s)s] %(t)s").split("\n", 1)
tap.equal("a prompt before the first line",
          answer("# " + first + "\n" + rest), WANT)

# --- what is not understood ---


def said(text):
    status, _, words = ask("from-log", "--text-only", stdin=text.encode())
    return status, "looks like a report" in words


tap.equal("a form that is not known", said(
    "[   12.295556] vmd: Corrupted page table at address 7f6a2c1d4000\n"),
          (2, True))
tap.equal("a prefix that is not known", said(
    "Xx: BUG: Bad page state in process writer  pfn:12bf4c\n"), (2, True))
tap.equal("no report", said("[    1.000000] usb 1-1: new device\n"),
          (1, False))
_, rows, _ = ask("from-log", "--text-only", stdin=b"[ 7712103.311000] BUG: Bad page "
           b"map in process mapper  pte:80000001 pmd:17e7c08067\n")
tap.equal("the first line alone", [(row["report"], row.get("comm"),
                                    row["notes"]) for row in rows],
          [("bad_page_map", "mapper", ["partial"])])
_, rows, _ = ask("from-log", "--text-only", stdin="".join(
    "[%12.6f] %s\n" % line for line in REPORT[1:6]).encode())
tap.equal("a block of nobody: whose it is, is not known",
          [[row["missing"].get(name) for name in ("pid", "comm", "object")]
           for row in rows], [["unsupported"] * 3])

# Linux 3.10 of a distribution
OLD = """\
BUG: Bad page state in process agentd  pfn:1a63f0
page:ffffea000698fc00 count:0 mapcount:1 mapping:          (null) index:0x7fbd7
page flags: 0x2fffff0008001c(referenced|uptodate|dirty|swapbacked)
page dumped because: nonzero mapcount
CPU: 1 PID: 2041 Comm: agentd Not tainted 3.10.0-1062.el7.x86_64 #1
"""
_, rows, _ = ask("from-log", "--text-only", stdin=OLD.encode())
tap.equal("page flags:, and an empty mapping: of no file",
          [(row["pfn"], row["refcount"], row["flags"], row["kind"],
            row["object"], row["notes"]) for row in rows],
          [(0x1a63f0, 0, ["referenced", "uptodate", "dirty", "swapbacked"],
            "unknown", "nonzero mapcount", [])])

tap.end()
