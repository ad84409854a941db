#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What doctor promises is what a query gets: each field that a source can
answer, for root and for others, with capabilities and in a user namespace. The
same is true of the trace of a mark, and of a recording, which doctor must not
deny either."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["top_srcdir"], "tests"))
sys.dont_write_bytecode = True

from alone import alone  # noqa: E402

PAGEDET = os.environ.get("PAGEDET") or os.path.join(
    os.environ["top_builddir"], "tools/pagedet/pagedet")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# Sources of which every field can be tried on pages of one's own.
SOURCES = ["procfs", "bpf", "kcore"]


def open_place():
    """A folder for temporary ones that everyone may enter, if there is one."""
    for place in tempfile.gettempdir(), "/var/tmp", "/tmp":
        if not subprocess.run(NOBODY + ["test", "-x", place],
                              check=False).returncode:
            return place
    return None


def with_caps(*names):
    """Nobody, with these capabilities."""
    caps = ",".join("+" + name for name in names)
    return NOBODY + ["--inh-caps=" + caps, "--ambient-caps=" + caps]


WHO = {
    "root": [],
    "root without capabilities for memory": [
        "setpriv", "--bounding-set=-sys_admin,-bpf,-perfmon"],
    "nobody": NOBODY,
    "nobody with CAP_BPF and CAP_PERFMON": with_caps("bpf", "perfmon"),
    "nobody with CAP_SYS_ADMIN": with_caps("sys_admin"),
    "nobody with all that matter": with_caps(
        "sys_admin", "sys_ptrace", "dac_read_search", "bpf", "perfmon"),
    "root of a user namespace": NOBODY + ["unshare", "-Ur"],
}


def ask(who, program, *arguments):
    """Objects of the answer."""
    out = subprocess.run(who + [program, *arguments, "--json"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         timeout=60).stdout
    return [json.loads(line) for line in out.splitlines()]


def answered(who, program, source, field, pfn):
    """Whether any of our own pages has it, or there is none to have."""
    for question in (["page", str(pfn)], ["virt", "self", "[stack]"],
                     ["file", program, "0+1"]):
        rows = ask(who, program, "--backend", source, *question,
                   "--fields", field)
        if any(field in row for row in rows):
            return True
    return False


def run(who, program, *arguments):
    return subprocess.run(who + [program, *arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=60, check=False).stdout


def traces(who, program):
    """Whether doctor says so, and whether a mark has a trace."""
    said = any(line.startswith("yes") and "check mark" in line
               for line in run(who, program, "doctor").splitlines())
    with tempfile.TemporaryDirectory() as place, alone("marks"):
        os.chmod(place, 0o777)
        mark = os.path.join(place, "mark")
        run(who, program, "check", "mark", mark)
        with open(mark, encoding="utf-8") as f:
            armed = "watch pagedet-mark-" in f.read()
        run(who, program, "check", "unmark", mark)
    return said, armed


def records(who, program):
    """Whether doctor says so, and whether allocations are recorded."""
    said = any(line.startswith("yes") and "kmem record" in line
               for line in run(who, program, "doctor").splitlines())
    with tempfile.TemporaryDirectory() as place, alone("kmem"):
        os.chmod(place, 0o777)
        file = os.path.join(place, "trace")
        run(who, program, "kmem", "record", "-o", file, "--for", "0.01")
        return said, os.path.exists(file)


def broken(who, program, pfn):
    """Promises that are not kept."""
    told = ask(who, program, "doctor")
    if not told:
        return ["doctor says nothing"]
    return ["%s by %s" % (line["field"], line["source"]) for line in told
            if line["can"] and line["source"] in SOURCES and
            not answered(who, program, line["source"], line["field"], pfn)]


def main():
    if os.getuid() or not shutil.which("setpriv"):
        print("1..0 # SKIP needs root and setpriv")
        return 0
    failed = 0
    tempfile.tempdir = open_place()
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        program = shutil.copy(PAGEDET, place)
        os.chmod(program, 0o755)
        rows = ask([], program, "virt", "self", "[stack]", "--fields", "pfn")
        pfns = [row["pfn"] for row in rows if row.get("pfn")]
        print("1..%d" % len(WHO))
        for number, (name, who) in enumerate(WHO.items(), 1):
            if subprocess.run(who + ["true"], check=False,
                              stderr=subprocess.DEVNULL).returncode:
                print("ok %d - %s # SKIP not allowed here" % (number, name))
                continue
            bad = broken(who, program, pfns[0] if pfns else 1)
            said, armed = traces(who, program)
            if said != armed:
                bad.append("a trace of failed writes" if said else
                           "denied, but there is a trace of failed writes")
            said, recorded = records(who, program)
            if said != recorded:
                bad.append("a recording" if said else
                           "denied, but there is a recording")
            failed |= bool(bad)
            print("%sok %d - %s" % ("not " if bad else "", number, name))
            for line in bad:
                print("# not as promised: " + line)
    return failed


if __name__ == "__main__":
    sys.exit(main())
