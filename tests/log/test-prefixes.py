#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log
"""Tests pagedet from-log: one report, whatever stands around its lines; what
looks like a report and is not understood; and how the handling of a memory
error ended, for pagedet explain.
"""
import json
import subprocess
import tempfile

from captures import Tap, ask, command

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
    return "".join(form % {"s": "%12.6f" % at, "t": text, "j": json.dumps(text)}
                   + "\n" for at, text in REPORT)


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

# --- memory errors ---


def explained(log, pfn):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(log)
        f.flush()
        return subprocess.run([command, "--from", f.name, "explain", "page",
                               pfn], capture_output=True, text=True,
                              check=False).stdout


IGNORED = """\
[  307.264845] Memory failure: 0x30b7b18: unhandlable page.
[  307.264899] Memory failure: 0x30b7b18: recovery action for unknown page: %s
"""
for how in ("Ignored", "Failed", "Delayed"):
    text = explained(IGNORED % how, "0x30b7b18")
    tap.equal(how + ": it is not said to be out of use",
              ("poisoned-in-use, certain" in text, how in text,
               "set aside" in text), (True, True, False))
text = explained(IGNORED % "Recovered", "0x30b7b18")
tap.equal("Recovered: it is", "set-aside-as-poisoned, certain" in text, True)

# A name of 15 bytes may be anything.
NAMED = """\
Memory failure: 0x30b7b18: Sending SIGBUS to %s:137 due to hardware memory \
corruption
"""
OUTCOME = """\
Memory failure: 0x30b7b18: recovery action for dirty LRU page: %s
"""
for name in ("x: Failed", "x: Recovered", "y: Ignored; z", "page: Failed; x"):
    text = explained(NAMED % name + OUTCOME % "Recovered", "0x30b7b18")
    tap.equal(name + ": Recovered", "set-aside-as-poisoned, certain" in text,
              True)
    text = explained(NAMED % name + OUTCOME % "Failed", "0x30b7b18")
    tap.equal(name + ": Failed", "poisoned-in-use, certain" in text, True)
    text = explained(NAMED % name, "0x30b7b18")
    tap.equal(name + ": no outcome", "set-aside-as-poisoned, high" in text,
              True)
text = explained(NAMED % "a" + NAMED.replace("137", "138") % "b" +
                 OUTCOME % "Failed", "0x30b7b18")
tap.equal("two tasks, one outcome", "poisoned-in-use, certain" in text, True)

STEPS = "".join("Memory failure: 0x30b7b18: step %d of what the kernel did, "
                "in many words that fill the line\n" % i for i in range(20))
BLOCK = """\
page: refcount:2 mapcount:0 mapping:0000000000000000 index:0x20efd pfn:0x30b7b18
anon flags: 0x5ffffe00482011(locked|dirty|arch_1|swapbacked|hwpoison|node=0|\
zone=2|lastcpupid=0xfffff)
raw: 005ffffe00482011 dead000000000100 dead000000000122 ffff0000e242a7c9
raw: 0000000000020efd 0000000000000000 00000002ffffffff ffff0000dd7e9000
page dumped because: %s
""" % ("words " * 100)
for how in ("Failed", "Recovered"):
    said = ("poisoned-in-use, certain" if how == "Failed" else
            "set-aside-as-poisoned, certain")
    text = explained(STEPS + OUTCOME % how, "0x30b7b18")
    tap.equal(how + " after many lines",
              (said in text, "dirty LRU page: " + how in text,
               " ..." in text), (True, True, True))
text = explained(STEPS + OUTCOME % "Failed" + BLOCK, "0x30b7b18")
tap.equal("and before a long reason", "poisoned-in-use" in text and
          "words ...; before: dirty LRU page: Failed; step" in text, True)

# Steps that are said more than once; other lines part the events.
AGAIN = "Memory failure: 0x30b7b18: already hardware poisoned\n"
OTHERS = "".join("usb 1-1: line %d\n" % i for i in range(100))
UNMAP = "Memory failure: 0x30b7b18: failed to unmap page (mapcount=1)\n"
text = explained(UNMAP * 2 + OUTCOME % "Failed", "0x30b7b18")
tap.equal("the same step twice is said once",
          (text.split("\n")[0].count("failed to unmap"), "poisoned-in-use, certain" in text),
          (1, True))
text = explained(UNMAP + OUTCOME % "Failed" + (OTHERS + AGAIN) * 2,
                 "0x30b7b18")
tap.equal("two events later: the outcome still holds",
          ("reported: memory failure: already hardware poisoned; before: dirty "
           "LRU page: Failed; failed to unmap page (mapcount=1); marked" in
           text, "poisoned-in-use, certain" in text), (True, True))
text = explained(OUTCOME % "Failed" + OTHERS + BLOCK + OTHERS + AGAIN,
                 "0x30b7b18")
tap.equal("after a report of another kind, too",
          ("before: dirty LRU page: Failed" in text,
           "poisoned-in-use, certain" in text), (True, True))
# before 4.2
text = explained("MCE 0x41c3: Killing x: Recovered:1137 due to hardware memory "
                 "corruption\nMCE 0x41c3: dirty LRU page recovery: Failed\n",
                 "0x41c3")
tap.equal("the outcome in older words comes first, too",
          ("memory failure: dirty LRU page recovery: Failed; Killing" in text,
           "poisoned-in-use, certain" in text), (True, True))

FAILED = """\
[  311.200114] Injecting memory failure for pfn 0x19c01f at process virtual \
address 0x20efd000
[  311.200431] Memory failure: 0x19c01f: dirty swapcache page still referenced \
by 2 users
[  311.200436] Memory failure: 0x19c01f: recovery action for dirty swapcache \
page: Failed
[  311.391201] page: refcount:2 mapcount:0 mapping:0000000000000000 \
index:0x20efd pfn:0x19c01f
[  311.391209] anon flags: 0x5ffffe00482011(locked|dirty|arch_1|swapbacked|\
hwpoison|node=0|zone=2|lastcpupid=0xfffff)
[  311.391214] raw: 005ffffe00482011 dead000000000100 dead000000000122 \
ffff0000e242a7c9
[  311.391217] raw: 0000000000020efd 0000000000000000 00000002ffffffff \
ffff0000dd7e9000
[  311.391220] page dumped because: VM_BUG_ON_FOLIO(!folio_test_uptodate(\
folio))
"""
text = explained(FAILED, "0x19c01f")
tap.equal("a later block: what was said before still holds",
          ("poisoned-in-use" in text, "before: dirty swapcache page: Failed"
           in text, "refcount 2" in text, "what reported it" in text,
           "injected for a test: the log says so" in text),
          (True, True, True, False, True))
tap.end()
