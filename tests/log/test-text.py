#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log page_owner
"""Tests commands that get a text which cannot answer them, a text that holds both
a kernel log and records of page_owner, and a log of several boots.
"""
import os
import subprocess
import tempfile

from captures import Tap, ask, command

tap = Tap()
work = tempfile.TemporaryDirectory()


def file_of(name, text):
    path = os.path.join(work.name, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def run(*words):
    r = subprocess.run([command, *words], capture_output=True, text=True,
                       check=False, stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout, r.stderr


LINE = ("[%5d.000001] Memory failure: 0x%x: recovery action for dirty LRU page: "
        "Recovered\n")
RECORD = """\
Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 7, tgid 7 (sh), ts 9 ns
PFN 0x%x type Unmovable Block 0 type Unmovable Flags 0x0(node=0|zone=0)
 register_early_stack+0x36/0x50
 init_page_owner+0x2b/0x2e0

"""
log = file_of("a.log", LINE % (50, 0x1234) + LINE % (51, 0x99))
owners = file_of("owners", RECORD % 0x100 + RECORD % 0x101)

# --- what the text cannot answer ---

for words, wanted in (
        (["page", "0x7777"], 2), (["phys", "0x7777000"], 2),
        (["page", "0x7777", "--fields", "kind"], 2),
        (["stack", "0x1234"], 2), (["stack", "0x7777"], 2),
        (["dmesg"], 69), (["virt", "412", "0x1000"], 69), (["task", "412"], 69),
        (["tasks"], 69), (["top"], 69),
        (["explain", "mismatch", "412", "0x1000"], 69)):
    status, _, said = run("--from", log, *words)
    tap.is_true(" ".join(words) + " --from LOG", status == wanted and
                f"pagedet from-log {log}" in said and
                "nothing could be answered: answered" not in said,
                status, said)
    if wanted == 2:
        tap.equal(" ".join(words) + " --from LOG --quiet",
                  run("--from", log, "--quiet", *words)[::2], (2, ""))
for words in (["page", "0x1234"], ["page", "0x1234", "0x7777"], ["scan"],
              ["doctor"], ["phys", "0x1234000"]):
    status, _, said = run("--from", log, *words)
    tap.is_true(" ".join(words) + " --from LOG: answered", status == 0 and
                "hint" not in said, status, said)
status, _, said = run("owners", log)
tap.is_true("owners LOG", status == 1 and f"pagedet from-log {log}" in said,
            status, said)
status, _, said = run("--from", owners, "page", "0x7777")
tap.is_true("page --from a text of page_owner", status == 2 and
            f"pagedet owners {owners}" in said, status, said)
status, _, said = run("--from", owners, "page", "0x100")
tap.is_true("the same, of a page with a record", status == 0 and
            "hint" not in said, status, said)

# --- both in one text ---

for name, text in (
        ("log first", LINE % (50, 0x1234) + "\n" + RECORD % 0x100),
        ("log last", RECORD % 0x100 + LINE % (50, 0x1234)),
        ("log in between", RECORD % 0x100 + LINE % (50, 0x1234) + "\n" +
         RECORD % 0x101),
        ("syslog", "Nov 22 12:03:02 host kernel: " + LINE % (50, 0x1234) +
         "\n" + RECORD % 0x100),
        ("far behind other damage", RECORD % 0x100 + "Page allocated via\n" +
         "".join(RECORD % pfn for pfn in range(0x2000, 0x5000)) +
         LINE % (50, 0x1234)),
        ("without times", "Memory failure: 0x1234: unhandlable page.\n\n" +
         RECORD % 0x100)):
    both = file_of("both", text)
    for words in (["from-log", "--text-only", both],
                  ["from-log", "--text-only", "--json", both]):
        status, out, said = run(*words)
        tap.is_true(f"{name}: {' '.join(words[:-1])}", status == 2 and
                    f"pagedet owners {both}" in said and
                    ("4660" in out), status, out, said)
    status, out, said = run("owners", both)
    tap.is_true(name + ": owners", status == 2 and "init_page_owner" in out and
                f"pagedet from-log {both}" in said, status, out, said)
    status, out, said = run("--from", both, "page", "0x1234")
    tap.is_true(name + ": page", status == 2 and
                f"pagedet from-log {both}" in said, status, out, said)
    status, out, said = run("--from", both, "explain", "0x1234")
    tap.is_true(name + ": explain", status == 2 and
                f"pagedet from-log {both}" in said, status, out, said)
for path, words in ((log, ["from-log", "--text-only", log]),
                    (owners, ["owners", owners])):
    status, out, said = run(*words)
    tap.is_true(f"{words[0]}: nothing else is there", status == 0 and
                "also has" not in said, status, said)

# --- several boots ---

BETWEEN = "-- another boot, or kernel time goes back --\n"
BANNER = "[    0.000000] Linux version 6.6.30 (x@y) (gcc) #1\n"
MARK = "-- Boot %sf1c3a0e9d8b4c52a7e6f00112233445 --\n"
for name, text, where in (
        ("a banner", LINE % (50, 1) + BANNER + LINE % (60, 2), [1]),
        ("the journal's line", MARK % "6" + LINE % (50, 1) + MARK % "7" +
         LINE % (60, 2), [1]),
        ("kernel time goes back", LINE % (90000, 1) + LINE % (40, 2) +
         LINE % (45, 3), [1]),
        ("twice", LINE % (90000, 1) + LINE % (40, 2) + BANNER +
         LINE % (45, 3), [1, 2]),
        ("a boot without a report", LINE % (90000, 1) + BANNER + BANNER +
         LINE % (45, 3), [1]),
        ("the same boot", BANNER + LINE % (50, 1) + LINE % (45, 2), []),
        ("one boot", LINE % (50, 1) + LINE % (60, 2), [])):
    status, rows, _ = ask("from-log", "--text-only", stdin=text.encode())
    tap.equal("boots: " + name,
              (status, [i for i, row in enumerate(rows)
                        if "new_boot" in row["notes"]]), (0, where))
    path = file_of("boots", text)
    out = run("from-log", "--text-only", path)[1]
    tap.equal("boots, as text: " + name, out.count(BETWEEN), len(where))

with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
    other = MARK % ("0" if f.read(1) != "0" else "1")
for name, text, said in (
        ("one page twice", LINE % (50, 1) + LINE % (51, 1), "1 of the pages in "),
        ("two pages", LINE % (50, 1) + LINE % (51, 1) + LINE % (52, 2),
         "2 of the pages in ")):
    path = file_of("other", other + text)
    tap.is_true("pages of another boot: " + name,
                said in run("from-log", path)[2], run("from-log", path)[2])
tap.end()
