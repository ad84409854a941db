# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Watches an open file of a guest with 'kmap watch', and compares what it
counts with how often a program has called lseek."""
import json

# A directory of the guest, and how often is sought.
PLACE = "/tmp/watched"
N = 1000
# Hits of a second that the kernel is allowed: more than there are.
RATE = "--rate", "100000"
# An emulated arm64 sees an access twice that an interrupt has begun anew: no
# more than this. On a busy machine there are more interrupts for each access.
MOST = {"x86_64": N, "aarch64": N * 103 // 100}
# Again if hits were lost, or others got the memory that was freed; if accesses
# may be seen twice, also if too many were.
TRIES = 6
START = f"""
mkdir {PLACE}
/bin/seeker {PLACE} < /dev/null > {PLACE}/log 2>&1 &
for i in $(seq 1200); do
        [ ! -s {PLACE}/seeker ] || break
        sleep 0.1
done
cat {PLACE}/seeker
"""
# Has all breakpoints until it is ended.
HOLD = f"""
/bin/pagedet kmap watch --fd %s -q -- \\
        sh -c 'echo > {PLACE}/holds; exec sleep 600' \\
        < /dev/null > {PLACE}/held 2>&1 &
echo $!
for i in $(seq 1200); do
        [ ! -e {PLACE}/holds ] || break
        sleep 0.1
done
"""


def asks(*lines):
    """A program that lets the seeker do all of that, and waits."""
    return ("timeout", "100", "sh", "-c", "; ".join(
        f"echo {line} > {PLACE}/ask; head -n 1 {PLACE}/answer > /dev/null"
        for line in lines))


class Watch:
    """One run of 'kmap watch', and what it tells."""

    def __init__(self, g, run, what, *program):
        self.status, out, err = run("kmap", "watch", *what, "--json", "-o",
                                    PLACE + "/kmap", *program)
        self.words = err.decode()
        self.row = json.loads(out) if out else {}
        self.objects = self.parse(g) if self.row else {}

    @staticmethod
    def parse(g):
        """Of each word, by its address: (instruction, writes, reads, pid)"""
        objects = {}
        for line in g.read(PLACE + "/kmap").decode().splitlines():
            if line[0] == "(":
                found = objects.setdefault(int(line.split(",")[2], 16), [])
                continue
            ip, writes, reads, pid = line.split(",")
            found.append((ip.strip(), int(writes), int(reads), int(pid)))
        return objects

    def is_answered(self):
        return self.status in (0, 2) and bool(self.row)

    def failed(self):
        return [f"exit status {self.status}", self.words] * (
            not self.is_answered())

    def missed(self):
        return self.row["lost"] + self.row["unsaid"] + self.row["limited"]

    def says_missed(self):
        """Whether its words and its status say that hits are missing."""
        return self.status == 2 and any(
            text in self.words for text in ("came too fast", "was used up",
                                            "does not say by whom"))


def judge_word(watch, pid, most):
    """Each instruction of the seeker has N accesses, or it is told why not."""
    row, missed = watch.row, watch.missed()
    wrong = [f"turns: {row}"] * (row["turns"] != 1 or len(row["words"]) != 1)
    if missed:
        wrong += [f"does not say that hits are missing: {watch.words}"] * (
            not watch.says_missed())
    elif watch.status:
        wrong.append(f"exit status {watch.status}: {watch.words}")
    if ("counts are estimated" in watch.words) != row["estimated"]:
        wrong.append(f"estimated: {row['estimated']}, and {watch.words}")
    # How many a limit has left out is not known.
    least = 0 if row["limited"] else max(N - missed, 0)
    return wrong + [f"not {least} to {most} accesses, but {n}: {row}"
                    for n, _ in of_seeker(watch, pid)
                    if not least <= n <= most]


def of_seeker(watch, pid):
    """The sums of each instruction, and of its writes."""
    return [(a[1] + a[2], a[1]) for accesses in watch.objects.values()
            for a in accesses if a[3] == pid]


def watch_word(g, run, address, pid, most, *options):
    for _ in range(TRIES):
        watch = Watch(g, run, (f"{address:x}", *RATE, *options), "--",
                      *asks(N))
        twice = most > N and any(n > most for n, _ in of_seeker(watch, pid))
        if not watch.is_answered() or not watch.missed() and not twice:
            break
        if twice:
            print(f"# watch: too many seen twice: {of_seeker(watch, pid)}")
    return watch


def watch_words(r, g, run, object_, arch):
    """Each word that the seeker accesses, alone. The position of the file is
    the one that is written. The watch of all words, and that address, or None.
    """
    pid = int(object_.split(":")[0])
    # Windows in which the seeker runs, also on a busy machine.
    every = Watch(g, run, ("--fd", object_, "--window", "0.1"), "--",
                  *asks("for 4"))
    if not every.is_answered():
        r.result("watch: a file", every.failed())
        return every, None
    row = every.row
    found = [a for a, accesses in every.objects.items()
             if any(who[3] == pid for who in accesses)]
    r.result("watch: a file", [f"{len(found)} words are accessed: {row}"] * (
        len(found) < 2) + [f"not all words: {row}"] * (
        row["turns"] != -(-len(row["words"]) * 2 // row["breakpoints"]) or
        "took turns" not in every.words))
    wrong, sums, position, most = [], [], None, MOST[arch]
    for address in found:
        watch = watch_word(g, run, address, pid, most)
        wrong += watch.failed() or judge_word(watch, pid, most)
        mine = of_seeker(watch, pid)
        wrong += [f"nothing is counted: {watch.row} {watch.words}"] * (
            not mine)
        sums += mine
        writes = watch_word(g, run, address, pid, most, "--writes")
        wrong += writes.failed() or judge_word(writes, pid, most)
        if of_seeker(writes, pid):
            position = address
    print(f"# watch: {row['breakpoints']} breakpoints of each of "
          f"{row['cpus']} processors, {len(found)} words, "
          f"{'estimated' if row['estimated'] else 'exact'}: "
          f"{[n for n, _ in sums]}, of them writes {[n for _, n in sums]}")
    r.result(f"watch: {N} calls are {N} accesses", wrong + [
        f"only {sums}"] * (len(sums) < 3) + [
        "estimated is not what it is here"] * (not row["estimated"]))
    r.result("watch: the position is written", ["by nobody"] * (
        position is None))
    return every, position


def watch_more(r, g, run, every):
    """As many words as there are breakpoints, and one more."""
    wrong = []
    address, n = every.row["words"][0]["address"], every.row["breakpoints"]
    for words, turns in (n, 1), (n + 1, 2):
        watch = Watch(g, run, (f"{address}+{8 * words}", "--writes"),
                      "--for", "1")
        wrong += watch.failed()
        if watch.row and (
                [len(watch.row["words"]), watch.row["turns"]] !=
                [words, turns] or watch.row["breakpoints"] != n or
                not all(word["ns"] for word in watch.row["words"]) or
                ("words took turns" in watch.words) != (turns > 1)):
            wrong.append(f"{words} words: {watch.row} {watch.words}")
    r.result("watch: a word more than there are breakpoints", wrong)


def watch_busy(r, g, run, object_, address):
    """Another watch has the breakpoints, and is killed."""
    pid = g.must_run("sh", "-c", HOLD % object_).decode().strip()
    busy = Watch(g, run, (f"{address:x}",), "--for", "0.1")
    g.must_run("kill", "-9", pid)
    for _ in range(TRIES):
        free = Watch(g, run, (f"{address:x}",), "--for", "0.5")
        if free.is_answered():
            break
    r.result("watch: breakpoints that are in use", [
        f"exit status {busy.status}: {busy.words} {busy.row}",
        g.read(PLACE + "/held").decode()] * (
        busy.is_answered() or "of a processor are in use" not in busy.words))
    r.result("watch: nothing is left of one that was killed", free.failed())


def watch_freed(r, g, run, object_):
    """The file is closed, and many others of that cache after it."""
    for _ in range(TRIES):
        watch = Watch(g, run, ("--fd", object_), "--", *asks(5, "close"))
        g.must_run(*asks("open"))
        if watch.row.get("freed"):
            break
    r.result("watch: an object that is freed", watch.failed() + [
        f"exit status {watch.status}: {watch.words} {watch.row}"] * (
        not watch.row.get("freed") or watch.status != 2 or
        "the object was freed" not in watch.words))


def watched_there(r, g, run, arch):
    """@run: of pagedet in the guest @g, which has seeker in its /bin."""
    object_ = g.must_run("sh", "-c", START).decode().strip()
    every, position = watch_words(r, g, run, object_, arch)
    if position is None:
        return
    watch_more(r, g, run, every)
    watch_busy(r, g, run, object_, position)
    watch_freed(r, g, run, object_)
    g.must_run("kill", object_.split(":")[0])
