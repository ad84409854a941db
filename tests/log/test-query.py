#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: page_detective procfs
"""Tests page_detective's file "query": the questions, the asking process, and
faulty answers. The answers are from real kernels.
"""
import json
import os
import shutil
import subprocess
import tempfile

from captures import Driver, Tap, home, wait_for

tap = Tap()
base = tempfile.mkdtemp()
tmp = os.path.join(base, "by", "itself")
os.makedirs(tmp)
driver = Driver(tmp)
there = os.path.join(driver.root, "sys/kernel/debug/page_detective")
open(os.path.join(there, "query"), "w").close()
os.makedirs(os.path.join(driver.root, "proc/172"))
with open(os.path.join(driver.root, "proc/172/maps"), "w") as f:
    f.write("7fe8d0ddb000-7fe8d0ddf000 rw-s 00000000 fe:00 14"
            "      /disk/pagedet-plant.VXrLYF/dirty\\012file name\n"
            "7fe8d1000000-7fe8d1040000 rw-p 00000000 00:00 0 \n")


def capture(name):
    return os.path.abspath(os.path.join(home, "query", name))


def plan(*query, **more):
    driver.plan(None, query=query, **more)


def lost(row, field):
    return row.get("missing", {}).get(field)


def ask(*words, fields=None):
    more = ("--fields", fields) if fields else ()
    return driver.ask(*words, *more)


# --- an address ---

virt = ["virt 172 0x7fe8d0dde000 ", capture("file_dirty.virt"), 0]
plan(virt)
status, (row,), said = ask("virt", "172", "0x7fe8d0dde123")
again = "qvirt 172 0x7fe8d0dde000 nowalk nocontent"
tap.equal("the question, and once more behind the look at VMAs",
          driver.asked(), [again, again])
tap.equal("what is told of a page", [row.get(name) for name in (
    "pfn", "kind", "refcount", "mapcount", "dev", "inode", "index", "path",
    "vma_prot", "pid")], [0x928b, "file", 3, 1, "254:0", 14, 3,
                          "/disk/pagedet-plant.VXrLYF/dirty\nfile name",
                          "rw-s", 172])
tap.equal("and nothing was said", (status, said), (0, ""))
tap.equal("cgroups that are not there are not named",
          row["missing"]["memcg_path"], "unsupported")
walked = ["phys 0x928b000 walk nocontent", capture("file_dirty.virt"), 0]
plan(virt, walked)
status, (row,), said = ask("virt", "172", "0x7fe8d0dde123",
                           fields="user_maps,comm,content")
tap.equal("all tasks are looked at if that is wanted", driver.asked(),
          ["qvirt 172 0x7fe8d0dde000 nowalk content",
           "qphys 0x928b000 walk nocontent", again])
tap.equal("and counted", (row["user_maps"], row["comm"]),
          (1, "pl)an t\n(er \\x"))
plan(virt, ["phys", "", 12])
status, (row,), said = ask("virt", "172", "0x7fe8d0dde123",
                           fields="user_maps,inode,vma_prot")
tap.equal("what needs no look at them is there without",
          (row.get("inode"), row.get("vma_prot"), lost(row, "user_maps")),
          (14, "rw-s", "no_memory"))

plan(["virt", capture("anon_untouched.virt"), 0])
status, (row,), said = ask("virt", "172", "0x7fe8d1033000")
tap.equal("an address without a page",
          (row["kind"], row["pfn"], row["pte"]), ("untouched", None, []))
plan(["virt", capture("unmapped.virt"), 0])
status, (row,), said = ask("virt", "172", "0x10000")
tap.equal("one without anything", (row["kind"], row["pfn"]),
          ("unmapped", None))
plan(["virt", capture("swapped.virt"), 0])
status, (row,), said = ask("virt", "172", "0x7fe8d100f000")
tap.equal("an entry that maps nothing is not explained",
          (row["missing"]["pfn"], row["missing"]["kind"]),
          ("unsupported", "unsupported"))
plan(["virt", "", 34])
status, (row,), said = ask("virt", "172", "0xffff800000000000")
tap.equal("no address of a program", row["kind"], "unmapped")
plan(["virt", "", 3])
status, rows, said = ask("virt", "99", "0x1000")
tap.equal("no such task", (status, rows), (1, []))

with open(virt[1], "rb") as f:
    page = f.read().decode("ascii").split("\n", 1)[1]
for name, now in (
        ("another page", [page.replace("928b", "928c"), 0]),
        ("another entry", [page.replace("entry=0x800000000928b867 phys",
                                        "entry=0x800000000928b865 phys"), 0]),
        ("no page", ["page pid=172 virt=0x7fe8d0dde000 level=pte entry=0x0 "
                     "state=notpresent\nend\n", 0]),
        ("no task", ["", 3]), ("always another one", ["", 11])):
    plan([*virt, 1], ["virt", *now])
    status, (row,), said = ask("virt", "172", "0x7fe8d0dde123")
    tap.equal("behind the look at VMAs there is " + name,
              (row["pfn"], row["notes"]), (0x928b, ["torn"]))
for name, now, notes in (
        ("used", [page.replace("b867 phys", "b807 phys"), 0], []),
        ("not to be known", ["", 12], ["unchecked"])):
    plan([*virt, 1], ["virt", *now])
    status, (row,), said = ask("virt", "172", "0x7fe8d0dde123")
    tap.equal("or it was " + name, (row["pfn"], row["notes"]),
              (0x928b, notes))
plan(["virt", "page pid=172 virt=0x7fe8d0dde000 level=pte entry=0x0 "
      "state=notpresent\nend\n", 0, 1], virt)
status, (row,), said = ask("virt", "172", "0x7fe8d0dde123")
tap.equal("nothing was there, and then a page", (row["kind"], row["notes"]),
          ("untouched", ["torn"]))
# An open of this FIFO would wait forever, because nobody writes to it.
os.mkfifo(os.path.join(driver.root, "proc/173"))
os.rename(os.path.join(driver.root, "proc/172"),
          os.path.join(driver.root, "proc/174"))
os.mkdir(os.path.join(driver.root, "proc/172"))
os.rename(os.path.join(driver.root, "proc/173"),
          os.path.join(driver.root, "proc/172/maps"))
plan(["virt", page.split("\n")[0] + "\nend\n", 0])
status, (row,), said = ask("virt", "172", "0x7fe8d0dde123",
                           fields="pfn,inode")
tap.equal("VMAs that nobody wants are not read", (
    row["inode"], driver.asked()), (14, [again]))
shutil.rmtree(os.path.join(driver.root, "proc/172"))
os.rename(os.path.join(driver.root, "proc/174"),
          os.path.join(driver.root, "proc/172"))

# --- pages ---

tail = ["pfn 0x9005+1", "page pfn=0x9005 state=have head=0x9000 refcount=1 "
        "flags=0xfffffe0020868 page_flags=0xfffffc0000000 "
        "kpageflags=0x400415828 order=9 mapcount=1 anon=1\nend\n", 0]
head = ["pfn 0x9000+1", "page pfn=0x9000 state=have head=0x9000 refcount=1 "
        "flags=0xfffffe0020868 kpageflags=0x40040d828 order=9 mapcount=1 "
        "anon=1\nend\n", 0]
both = [head[0] + " 0x9005+1", head[1].replace("end\n", tail[1]), 0]
plan(tail, both)
status, (row,), said = ask("page", "0x9005", fields="flags,head_pfn")
tap.equal("a tail is asked about again, with its head",
          (driver.asked(), row["head_pfn"], "lru" in row["flags"],
           "anon_exclusive" in row["flags_unknown"]),
          (["qpfn 0x9005+1", "qpfn 0x9000+1 0x9005+1"], 0x9000, True, True))
plan(["pfn 0x9005+2", tail[1].replace("end\n", "") +
      tail[1].replace("9005", "9006"), 0], both)
status, rows, said = ask("page", "0x9005+2", fields="flags,head_pfn")
tap.equal("one of those of a folio is enough",
          (driver.asked()[1], ["lru" in row["flags"] for row in rows]),
          ("qpfn 0x9000+1 0x9005+1", [True, True]))
for name, text in (
        ("its head", both[1].replace("order=9", "order=0", 1)),
        ("a folio of that order", both[1].replace("0x40040d828", "0x40c800")
         .replace("0x400415828", "0x414800")),
        ("what it was", both[1].replace("0x400415828", "0x828"))):
    plan(tail, [both[0], text, 0])
    status, (row,), said = ask("page", "0x9005", fields="flags,head_pfn")
    tap.equal("by then it may be another one's: " + name,
              row["missing"]["flags"], "raced")

three = "".join(f"page pfn=0x{n:x} state=nopage\n" for n in (5, 6, 7))
plan(["pfn 0x5+3", three + "end\n", 0])
status, rows, said = ask("page", "5+3", fields="pfn,flags")
tap.equal("neighbours are one question",
          (driver.asked(), [(r["pfn"], r["flags"]) for r in rows]),
          (["qpfn 0x5+3"], [(n, ["nopage"]) for n in (5, 6, 7)]))
plan(["pfn", three.replace("0x6", "0x8") + "end\n", 0])
status, rows, said = ask("page", "5+3", fields="flags")
tap.equal("what answers another question is none",
          [r.get("flags", r.get("missing", {}).get("flags")) for r in rows],
          [["nopage"], "corrupt", ["nopage"]])
plan(["pfn", three, 0])
status, rows, said = ask("page", "5+3", fields="flags")
tap.is_true("nor is what has no end", status == 2 and "no end" in said and
            {r["missing"]["flags"] for r in rows} == {"io"}, rows, said)

# --- cgroups, by an existing directory ---

held = ("page phys=0x5000 pfn=0x5 state=have head=0x5 refcount=2 flags=0x0 "
        "kpageflags=0x1028 order=0 mapcount=1 anon=1 ksm=0 hugetlb=0 thp=0 "
        "memcg_ino=%d memcg=/a/b\nend\n")
os.makedirs(os.path.join(driver.root, "cg/a/b"))
os.makedirs(os.path.join(driver.root, "proc/self"), exist_ok=True)
with open(os.path.join(driver.root, "proc/self/mountinfo"), "w") as f:
    f.write("30 24 0:26 / /cg rw - cgroup2 cgroup2 rw\n")
inode = os.stat(os.path.join(driver.root, "cg/a/b")).st_ino
for name, number, expected in (("the very one", inode, "/a/b"),
                               ("of another part", inode + 1, None)):
    plan(["phys", held % number, 0])
    status, (row,), said = ask("page", "5", fields="memcg_path,memcg_ino")
    tap.equal("a cgroup: " + name, (row.get("memcg_path"), row["memcg_ino"]),
              (expected, number))
plan(["pfn", held.replace("phys=0x5000 ", "") % 7, 0])
status, (row,), said = ask("page", "5", fields="memcg_ino")
tap.equal("by its number it is told in a list", row["memcg_ino"], 7)
plan(["phys", held.replace("state=have", "state=notpresent") % inode, 0])
status, (row,), said = ask("page", "5", fields="inode")
tap.equal("no address was asked about", row["missing"]["inode"], "corrupt")

# --- who maps it ---

maps = walked
one = ["pfn 0x928b+1", "page pfn=0x928b state=have head=0x928b order=0 "
       "mapcount=1\nend\n", 0]
plan(maps, one)
status, rows, said = ask("mappers", "0x928b")
tap.equal("mappings", [(r["map"], r.get("pid"), r.get("tgid"),
                        r.get("vma_name")) for r in rows[:-1]],
          [("direct", None, None, "[direct map]"), ("other", None, None, None),
           ("user", 172, 172,
            "/disk/pagedet-plant.VXrLYF/dirty\nfile name")])
tap.equal("as many as expected, all tasks looked at once",
          (status, rows[-1]["found"], rows[-1]["expected"],
           [q for q in driver.asked() if " walk" in q]),
          (0, 1, 1, ["qphys 0x928b000 walk nocontent"]))
plan([maps[0], page.replace("complete=1", "complete=0"), 0], one)
status, rows, said = ask("mappers", "0x928b")
tap.equal("some were left out", (status, rows[-1]["found"]), (2, 1))
plan(["phys", page, 0])
status, (row,), said = ask("page", "0x928b", fields="kernel_maps,content")
tap.equal("they are counted", row.get("kernel_maps"), 2)
plan(maps, ["phys", page, 0], one)
status, rows, said = ask("mappers", "0x928b",
                         fields="pid,user_maps,kernel_maps,refcount")
tap.equal("in rows of the mappings as well", [
    (r["pid"], r["user_maps"], r["kernel_maps"], r["refcount"])
    for r in rows[:-1]], [(None, 1, 2, 3)] * 2 + [(172, 1, 2, 3)])
tap.equal("all found, whatever is shown of them", (status, said), (0, ""))
tap.equal("without another look at all tasks",
          [q for q in driver.asked() if " walk" in q],
          ["qphys 0x928b000 walk nocontent"])
plan(["phys 0x928b000 nowalk", page.replace("head=0x928b", "head=0x9280"), 0],
     maps)
status, (row,), said = ask("page", "0x928b", fields="user_maps,refcount")
tap.equal("it may be another one's by then",
          (row["refcount"], lost(row, "user_maps")), (3, "raced"))

# --- who maps it is not known ---

lists = ["pfn", one[1].replace("page ", "page pfn=0x5 state=have head=0x5 "
                               "order=0 mapcount=1\npage ", 1), 0]
for name, error, reason in (("no memory is left", 12, "no_memory"),
                            ("it moves all the time", 11, "raced"),
                            ("unloaded meanwhile", 19, "no_kernel")):
    plan(["phys 0x5000", "", error], maps, lists)
    status, rows, said = ask("mappers", "5", "0x928b")
    sums = [r for r in rows if "unread" in r]
    tap.equal(name + ", of one of two",
              (status, [r.get("found") for r in sums],
               lost(sums[0], "found")), (2, [None, 1], reason))
    tap.equal(name + ": the other has its mappings",
              len(rows) - len(sums), 3)

quick = ("page phys=0x5000 pfn=0x5 state=have head=0x5 refcount=2 flags=0x0 "
         "kpageflags=0x1028 order=0 mapcount=1 anon=1\nend\n")
slow = quick.replace("end\n", "maps pfn=0x5 kernel=1 user=1 complete=1\nend\n")
five = (["phys 0x5000 nowalk", quick, 0], ["phys 0x5000 walk", slow, 0])
for threads in (), ("--threads", "4"):
    plan(*five)
    status, rows, said = ask(*threads, "page", *["5"] * 300,
                             fields="refcount,user_maps")
    walks = [q for q in driver.asked() if " walk" in q]
    tap.equal("of 256 pages of a query, and no more " + " ".join(threads),
              (len(walks), sorted({str(r.get("user_maps")) for r in rows}),
               {r["missing"]["user_maps"] for r in rows if "missing" in r}),
              (256, ["1", "None"], {"too_costly"}))
    tap.equal("what else there is of the others is there " +
              " ".join(threads), [r.get("refcount") for r in rows], [2] * 300)
plan(maps, one)
status, rows, said = ask("mappers", "0x928b", fields="pid,dev,inode,index")
tap.equal("and tell whose file it is", [
    [row.get(name) for name in ("dev", "inode", "index")]
    for row in rows[:-1]], [["254:0", 14, 3]] * 3)

# --- what is new ---

new = (page.replace("level=pte", "level=p3d", 1)
       .replace("kind=kernel", "kind=iommu")
       .replace("content=data", "content=text"))
plan(["phys", new, 0], one)
status, rows, said = ask("mappers", "0x928b")
tap.equal("a kind of mapping that nobody knows is left out",
          (status, [row["map"] for row in rows[:-1]]), (2, ["direct", "user"]))
plan(["phys", new, 0])
status, (row,), said = ask("page", "0x928b",
                           fields="kernel_maps,content,inode,notes")
tap.equal("it was counted, and nothing else is lost", (
    row["kernel_maps"], row["inode"], row["notes"],
    row["missing"]["content"]), (2, 14, ["partial"], "unsupported"))
plan(["pfn", "page pfn=5 state=fine refcount=7\npage pfn=6 state=nopage\n"
      "end\n", 0])
status, rows, said = ask("page", "5+2", fields="refcount,flags")
tap.equal("nor more than one record", [
    (row.get("flags"), row.get("refcount")) for row in rows],
    [(None, None), (["nopage"], None)])

# --- what goes wrong ---

for name, error, reason in (("no privilege", 1, "no_access"),
                            ("unloaded", 2, "no_kernel"),
                            ("unloaded meanwhile", 19, "no_kernel"),
                            ("taken away meanwhile", 5, "io"),
                            ("no memory is left", 12, "no_memory"),
                            ("it moves all the time", 11, "raced")):
    plan(["", "", error], gone=error in (1, 2))
    status, rows, said = ask("phys", "0x5000", fields="inode")
    tap.equal(name, [r["missing"]["inode"] for r in rows], [reason])

for name, text in (("a number", "page pfn=5x state=nopage\nend\n"),
                   ("a word", "page pfn=5 state\nend\n")):
    plan(["", text, 0])
    status, (row,), said = ask("page", "5", fields="flags")
    tap.is_true("damaged: " + name, row["missing"]["flags"] == "corrupt" and
                "cannot be understood" in said, row, said)
for cut in range(1, len(head[1]), 7):
    plan([*head], cut=cut)
    status, (row,), said = ask("page", "0x9000", fields="refcount")
    if row["missing"].get("refcount") != "io":
        tap.is_true(f"cut by {cut}", False, row)
        break
else:
    tap.is_true("cut anywhere", True)


def has_ended(pid):
    return pid and wait_for(lambda: not os.path.exists(f"/proc/{pid}"))


plan(hang=True)
(status, rows, said), in_time, pid = driver.ask_until_it_hangs("mappers",
                                                               "0x928b")
tap.is_true("a deadline ends a question", status == 2 and in_time, status,
            said)
tap.is_true("and who asked it", has_ended(pid), pid)

plan(*five, hang=" walk")
(status, (row,), said), in_time, pid = driver.ask_until_it_hangs(
    "page", "5", "--fields", "refcount,user_maps")
tap.equal("what was known before a deadline is told",
          (row.get("refcount"), lost(row, "user_maps")), (2, "timeout"))
tap.is_true("who asked has ended", in_time and has_ended(pid), pid)
plan(tail, both, last=True)
status, (row,), said = ask("page", "0x9005", fields="flags,head_pfn")
tap.is_true("one that ended while nobody asked is replaced",
            row["head_pfn"] == 0x9000 and "lru" in row.get("flags", ()), row,
            said)

UNHELPED = "nobody asks where nobody could be ended"
with driver.without_writer() as other:
    if other:
        tap.skip(UNHELPED, other)
    else:
        status, (row,), said = ask("page", "5", fields="user_maps")
        tap.is_true(UNHELPED, lost(row, "user_maps") == "unsafe" and
                    "page-detective-write" in said, row, said)

# --- who asks ---

plan(tail, both)
r = subprocess.run([driver.binary, "--json", "--root", driver.root, "page",
                    "0x9005", "--fields", "refcount"], capture_output=True,
                   check=False)
tap.equal("in a captured tree only if it is named",
          [json.loads(line).get("refcount") for line in
           r.stdout.splitlines()], [None])
with open(os.path.join(there, "features"), "w") as f:
    f.write("feature=query version=1 state=on\n"
            "feature=kernel_walk needs=init_mm state=off\n")
r = subprocess.run([driver.binary, "--root", driver.root, "--backend",
                    "page_detective", "doctor", "-v"],
                   capture_output=True, text=True, check=False)
tap.is_true("doctor says in which way, and what is off",
            "asked through its file query" in r.stdout and
            "it has no kernel_walk (init_mm)" in r.stdout, r.stdout)
plan(["phys", page.replace("kernel=2 ", ""), 0])
status, (row,), said = ask("page", "0x928b", fields="kernel_maps,user_maps")
tap.equal("the reason is the same in each row",
          (row["user_maps"], row["missing"]["kernel_maps"]), (1, "no_kernel"))
with open(os.path.join(there, "features"), "w") as f:
    f.write("feature=query version=1 state=on\n"
            "feature=kpageflags needs=stable_page_flags state=off\n")
plan(["pfn", "page pfn=5 state=have refcount=2\nend\n", 0])
status, (row,), said = ask("page", "5", fields="flags,refcount")
tap.equal("and that of flags", (row["refcount"], row["missing"]["flags"]),
          (2, "no_kernel"))
with open(os.path.join(there, "features"), "w") as f:
    f.write("feature=query version=2 state=on\n")
plan(virt)
status, rows, said = ask("virt", "172", "0x7fe8d0dde123")
tap.is_true("of another version nothing is asked", status and not rows and
            not driver.asked() and "version 2, and only 1" in said, status, rows, said)
os.unlink(os.path.join(there, "features"))
status, rows, said = driver.ask("doctor", "-v")
tap.equal("bytes are not handed out", {
    (r["field"], r["source"]) for r in rows if r["can"] and
    r["field"] in ("content", "hash", "entropy")},
    {("content", "page_detective")})
os.unlink(os.path.join(there, "query"))
r = subprocess.run([driver.binary, "--root", driver.root, "doctor", "-v"],
                   capture_output=True, text=True, check=False)
tap.is_true("without the file as before", "asked only if it is named" in
            " ".join(r.stdout.split()), r.stdout)

shutil.rmtree(base)
tap.end()
