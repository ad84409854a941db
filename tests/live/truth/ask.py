# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Asks pagedet, and asks again if the page changes meanwhile."""
import json
import os
import time

import machine
import words

TRIES = 5
# How often the same must be wrong.
AGAIN = 3
# seconds
SLEEPS_BY = 60


class Pagedet:
    def __init__(self, path):
        self.path = path

    def run(self, *arguments, timeout=300):
        """(rows, exit status, stderr)"""
        # The memory of a kernel has more fields than claims.tsv lists for its
        # files.
        source = ["--backend", machine.there.source() +
                  (",page_owner" if machine.there.with_owners else "")] \
            if machine.there.is_live() else []
        out, err, status = machine.there.run(
            [self.path] + source + [str(a) for a in arguments], timeout)
        rows = [json.loads(line)
                for line in out.decode("utf-8", "replace").splitlines()]
        return rows, status, err.decode("utf-8", "replace")


def why_not(pagedet):
    """Why the source that is to be asked shows nothing, or not what we see;
    None: it does."""
    if machine.there.source() == "procfs":
        return None
    with open("/proc/self/mountinfo") as f:
        if not any(line.split(" ")[4] == "/" for line in f):
            return "our root directory is no mount"
    with open("/proc/self/maps") as f:
        ours = "0x" + f.readline().split("-")[0]
    # who answers for pages may not know tasks by the numbers that we know
    for name, *what in (("refcount", "page", 0),
                        ("vma_start", "virt", os.getpid(), ours)):
        rows, _, err = pagedet.run("--json", "--fields", name, *what)
        if not any(row.get(name) is not None for row in rows):
            return "; ".join(err.splitlines())
    return None


def lasting(check):
    """What is wrong each time; on a running machine pages that all share are
    mapped and unmapped by others between two looks."""
    for _ in range(AGAIN if machine.there.is_live() else 1):
        row, problems = check()
        if not problems:
            break
    return row, problems


def has_files():
    """Whether files can be asked for. In memory that changes they are not
    looked for."""
    return machine.there.has_kernel() and (
        not machine.there.is_live() or machine.there.source() == "procfs")


def ways(plant):
    """How this plant can be asked for."""
    found = []
    if plant.vaddr is not None and plant.is_shown:
        found.append("virt")
    if plant.pfn is not None:
        found += ["page", "phys"]
    if plant.file and plant.expect["kind"] == "file" and has_files():
        found.append("file")
    return found


def of_bytes():
    """Fields that are asked for by name, for they are made of bytes."""
    return {"procfs": [], "page_detective": ["content"]}.get(
        machine.there.source(), ["content", "hash", "entropy"])


def question(how, *plants):
    """Several: by page or phys, or by virt in one task."""
    # Reading the pages through the task's files would mark them as used.
    common = ["--json", "-v", "--fields", ",".join(["all"] + of_bytes()), how]
    plant = plants[0]
    if how == "virt":
        return common + [plant.pid] + ["%#x" % p.vaddr for p in plants]
    if how == "page":
        return common + ["%#x" % p.pfn for p in plants]
    if how == "phys":
        return common + ["%#x" % (p.pfn << 12 | 0x123) for p in plants]
    return common + [plant.file["path"], plant.file["index"]]


# pagedet exits with 2 if no row has a field that was named explicitly.
OF_BYTES = "pagedet: %s: not answered in any row"


def all_but_bytes(status, err):
    """(exit status, stderr) as if the fields that only bytes answer had not
    been asked for by name."""
    # The driver recognizes pages of zeroes.
    lost = of_bytes()[machine.there.source() != "page_detective":]
    said = [line for line in err.splitlines() if line not in
            [OF_BYTES % name for name in lost]]
    return 0 if status == 2 and not said else status, "\n".join(said)


def look(plant):
    """Words of the plant, as they are now."""
    word = words.pagemap(plant.pid, plant.page) if plant.vaddr else None
    pfn = words.pfn_of(word) if plant.vaddr and not plant.is_io and \
        not plant.is_poisoned else plant.pfn
    return word, pfn, (0, 0, 0) if pfn is None else \
        words.kpage(pfn, plant.said.get("folio", pfn))


def settled(pagedet, field, plant, how, verbose):
    """One row, asked for between two looks that agree on where the page is;
    and words for what went wrong."""
    for _ in range(TRIES):
        field.again()
        plant = field.plants[plant.name]
        before = look(plant)
        first = machine.there.time_ns()
        rows, status, err = pagedet.run(*question(how, plant))
        status, err = all_but_bytes(status, err)
        last = machine.there.time_ns()
        after = look(plant)
        if before[:2] == after[:2]:
            break
    else:
        return None, ["the page moved %d times" % TRIES]
    if verbose:
        print("# %s %s: %s" % (how, plant.name, rows))
    if status != 0 or len(rows) != 1:
        return None, ["exit status %d, %d rows: %s" % (status, len(rows),
                                                       err.strip())]
    return marked(rows[0], (first, last), before, after), \
        [err.strip()] if err.strip() else []


def marked(row, asked, before, after):
    """A row, and what was true of it meanwhile."""
    row["_asked"] = asked
    row["_pagemap"] = after[0]
    row["_pfn"] = after[1]
    row["_flags"] = (before[2][0], after[2][0])
    row["_count"] = (before[2][1], after[2][1])
    row["_cgroup"] = (before[2][2], after[2][2])
    return row


def at_once(pagedet, field, how):
    """The rows of all plants that can be asked for like this, by their names,
    by one command: in a guest a command takes long to begin. Whose page moved
    meanwhile is left out; all are if anything went wrong."""
    field.again()
    tasks = {}
    for plant in field.plants.values():
        if how in ways(plant):
            tasks.setdefault(how == "virt" and plant.pid, []).append(plant)
    return {name: row for plants in tasks.values()
            for name, row in rows_of(pagedet, plants, how)}


def rows_of(pagedet, plants, how):
    before = [look(p) for p in plants]
    first = machine.there.time_ns()
    rows, status, err = pagedet.run(*question(how, *plants))
    asked = first, machine.there.time_ns()
    after = [look(p) for p in plants]
    if status != 0 or err.strip() or \
            [row["ask"] for row in rows] != list(range(len(plants))):
        return
    for plant, row, b, a in zip(plants, rows, before, after):
        row["ask"] = 0      # as if it were alone
        if b[:2] == a[:2]:
            yield plant.name, marked(row, asked, b, a)


class Mapped:
    """What is said of who maps these frames."""

    def __init__(self, pagedet, pfns):
        frames = ["%#x" % pfn for pfn in pfns]
        self.rows, self.status, self.err = pagedet.run("--json", "mappers",
                                                       *frames)
        self.others = [r for r in self.rows if r.get("pfn") not in pfns]
        self.counts = {
            field: pagedet.run("--json", "--fields", "pfn," + field, "page",
                               *frames)
            for field in ["user_maps"] + ["kernel_maps"] *
            (machine.there.source() != "procfs")}

    def rows_of(self, pfn):
        return [r for r in self.rows if r.get("pfn") == pfn]

    def count(self, field, pfn):
        """The number, and words for what may have gone wrong."""
        rows, status, err = self.counts[field]
        found = [r.get(field) for r in rows if r["pfn"] == pfn]
        return found[0] if len(found) == 1 else None, "exit status %d: %s" % (
            status, err.strip())


def mapped_now(pagedet, field, names):
    """Of plants that have just been made true again."""
    field.again()
    return Mapped(pagedet, sorted({field.plants[n].pfn for n in names}))


def check_mappers(plant, mapped):
    """Exactly the mappings that there are, and a summary that says so."""
    if mapped.status not in (0, 2):
        return ["exit status %d: %s" % (mapped.status, mapped.err.strip())]
    rows = mapped.rows_of(plant.pfn)
    summary = [r for r in rows if "found" in r]
    maps = [r for r in rows if "found" not in r and r.get("map") == "user"]
    kernel = [r for r in rows if "found" not in r and r.get("map") != "user"]
    wrong = ["of something else: %s" % r for r in mapped.others]
    wrong += check_kernel_maps(plant, kernel, mapped)
    found = sorted((r.get("pid"), int(r["vaddr"], 16)) for r in maps)
    truth = sorted(plant.mappers)
    if found != truth:
        wrong.append("%s, but %s is true" % (found, truth))
    for r in maps:
        wrong += ["%s: nothing" % name for name in
                  ("tgid", "comm", "pte", "vma_start", "vma_end", "vma_prot")
                  if r.get(name) is None]
    if len(summary) != 1 or rows[-1] is not summary[0]:
        wrong.append("%d summaries" % len(summary))
        return wrong
    s = summary[0]
    if s["found"] != len(truth) or \
            s.get("expected") != plant.expect["mapcount"]:
        wrong.append("summary %s, but %d mappings are true" % (s, len(truth)))
    count, words_for = mapped.count("user_maps", plant.pfn)
    if count != len(truth):
        wrong.append("user_maps: %s, %s" % (count, words_for))
    return wrong


def check_kernel_maps(plant, maps, mapped):
    """The kernel's own mappings, which only its memory shows: a page is in the
    direct map once, unless it is secret, and what is counted is listed."""
    if machine.there.source() == "procfs":
        return ["%s: who says so?" % r for r in maps]
    direct = [] if plant.name == "secretmem" else ["[direct map]"]
    wrong = []
    for r in maps:
        if "vaddr" in r or r.get("map") not in ("direct", "vmalloc", "other") \
                or "present" not in r["pte"] or \
                any(r.get(name) is not None for name in ("pid", "comm")):
            wrong.append("no mapping of the kernel's: %s" % r)
    if [r["vma_name"] for r in maps if r["map"] == "direct"] != direct:
        wrong.append("not %d times in the direct map: %s" % (len(direct),
                                                             maps))
    count, words_for = mapped.count("kernel_maps", plant.pfn)
    if count != len(maps):
        wrong.append("kernel_maps: %s, but %d are listed: %s" % (
            count, len(maps), words_for))
    return wrong


def check_walks(report, pagedet, field):
    """Walks over a task and a cgroup must meet every plant."""
    report.result("task", lasting(
        lambda: (None, walk_task(pagedet, field)))[1])
    if "memcg_path" not in field.facts:
        report.skip("cgroup", "no memory cgroup can be made")
        return
    report.result("cgroup", lasting(
        lambda: (None, walk_cgroup(pagedet, field)))[1])


def walk_task(pagedet, field):
    field.again()
    pid = field.facts["planter"]
    rows, status, err = pagedet.run("--json", "--fields", "pfn,kind,vaddr",
                                    "task", pid)
    seen = {int(r["vaddr"], 16): r for r in rows}
    # What a driver has mapped is not there, and that is said.
    is_whole = all(plant.is_shown for plant in field.plants.values()
                   if plant.pid == pid)
    wrong = [] if status == (0 if is_whole else 2) and (
        is_whole or "not everything could be read" in err) else [
            "exit status %d: %s" % (status, err)]
    for plant in field.plants.values():
        if plant.pid != pid:
            continue
        has_entry = plant.word("pagemap") & 0xc4 << 56 if \
            not plant.is_io else plant.is_shown
        if bool(has_entry) != (plant.page in seen):
            wrong.append("%s at %#x: %s" % (
                plant.name, plant.page,
                "no row" if has_entry else "a row, but no entry"))
    return wrong


def walk_cgroup(pagedet, field):
    field.again()
    rows, status, err = pagedet.run("--json", "--fields", "pfn", "cgroup",
                                    field.facts["memcg_path"])
    charged = {r["pfn"] for r in rows}
    wrong = [] if status == 0 else ["exit status %d: %s" % (status, err)]
    for plant in field.plants.values():
        if "memcg_ino" in plant.expect and plant.pfn is not None and \
                words.pfn_of(plant.word("pagemap")) == plant.pfn and \
                plant.pfn not in charged:
            wrong.append("%s (%#x) is charged, but not there" %
                         (plant.name, plant.pfn))
    return wrong


def is_same_stack(found, truth):
    """The kernel leaves out the scheduler. Kernels that do not name their data
    say of no module where it is."""
    return len(found) >= len(truth) and all(
        a == b or (a.startswith("0x") and b.endswith("]") and
                   not machine.there.names_data())
        for a, b in zip(found[-len(truth):], truth))


def kernels_stack(pid):
    """None: there is no such file. While a task runs it is empty, and one that
    its processor was taken from by others of the host runs for long."""
    end = time.monotonic() + SLEEPS_BY
    while True:
        truth = machine.there.read("/proc/%d/stack" % pid)
        if truth != b"" or not machine.there.is_live() or \
                time.monotonic() > end:
            break
        time.sleep(0.05)
    return truth and [line.split("] ", 1)[-1] for line in
                      truth.decode().splitlines()]


def check_stack(pagedet, pid, truth):
    rows, _, err = pagedet.run("--json", "--fields", "pid",
                               "--where", "kind=reserved",
                               "--stacks", "task", pid)
    found = [row.get("kernel_stack", [str(row)]) for row in rows
             if row.get("tid") == pid]
    if len(found) == 1 and is_same_stack(found[0], truth):
        return []
    return ["%d: %s, but %s is true: %s" % (pid, found, truth, err.strip())]


def check_stacks(report, pagedet, field):
    """Where the planter and its children sleep, the kernel says, too."""
    pids = sorted({pid for plant in field.plants.values()
                   for pid, _ in plant.mappers})
    wrong = [] if pids else ["no plant has a mapping"]
    for pid in pids:
        for _ in range(TRIES):
            truth = kernels_stack(pid)
            if truth is None:
                report.skip("stacks", "the kernel has no /proc/PID/stack")
                return
            differs = check_stack(pagedet, pid, truth) if truth else \
                ["%d never sleeps" % pid]
            if not differs:
                break
        wrong += differs
    report.result("stacks of %d tasks" % len(pids), wrong)


# Functions of the planter's child.
CHAIN = ["sleep_inner", "sleep_middle", "sleep_outer"]


def may_lack_user_stacks(why):
    """A dump has them, unless it is of x86-64 and libunwind is missing."""
    return why == "not_built" and machine.there.arch() == "x86_64" or \
        (machine.there.is_live() or not machine.there.has_kernel()) and \
        why in ("no_kernel", "no_access", "denied")


def check_user_stack(report, pagedet, field):
    """The child sleeps below functions whose return addresses it knows."""
    pid, truth = field.facts["child"], field.facts.get("chain")
    rows, _, err = pagedet.run("--json", "--fields", "pid",
                               "--where", "kind=reserved",
                               "--stacks=user", "task", pid)
    found = [row for row in rows if row.get("tid") == pid]
    why = found[0].get("missing", {}).get("user_stack") if found else None
    if not truth:
        report.skip("user stack", "there is no child")
    elif may_lack_user_stacks(why):
        report.skip("user stack", why)
    else:
        report.result("user stack", [] if has_chain(found, truth) else
                      ["%d: %s is not %s at %s: %s" % (
                          pid, found, CHAIN, truth, err.strip())])


def has_chain(found, truth):
    frames = found[0].get("user_stack", []) if len(found) == 1 else []
    names = [frame.get("function") for frame in frames]
    at = names.index(CHAIN[0]) if CHAIN[0] in names else len(names)
    addresses = [int(frame.get("address", "0"), 16)
                 for frame in frames[at + 1:at + 3]]
    return names[at:at + 3] == CHAIN and addresses == truth


def check_holes(report, pagedet):
    """Frames without memory, whatever the kpage files have for them."""
    last = 0
    for first, last in words.gaps():
        for pfn in (first, last):
            report.result("page: a hole at %#x" % pfn,
                          check_hole(pagedet, pfn))
    if not last:
        report.skip("holes", "memory blocks have no gap, or there are none")
    for pfn in (1 << 40, (1 << 52) - 1):
        report.result("page: a hole at %#x" % pfn, check_hole(pagedet, pfn))


def check_hole(pagedet, pfn):
    rows, status, err = pagedet.run("--json", "page", "%#x" % pfn)
    if status or len(rows) != 1:
        return ["exit status %d, %d rows: %s" % (status, len(rows),
                                                 err.strip())]
    return [] if rows[0]["kind"] == "hole" else ["it is %s" % rows[0]]
