#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests contents of pages: from a simulated dump, and from a process through
# each source. Absent pages stay absent.
. "$top_srcdir/tests/cli/cli.sh"

# --- a dump ---

# content NAME PFN ANSWER: checks it in JSON
content() {
	run page "$2" --from "$from" --json --fields kind,content
	stdout_is "$1" "{\"kind\":\"$3\",$4}"
}

dumps=$top_builddir/tests/dumps
if [ -x "$dumps/mkkernel" ]; then
	from=$tap_dir/elf
	"$dumps/mkkernel" "$from" > "$tap_dir/why"
	content 'the zero page' 0x107 zero '"content":"zero"'
	content 'a page of ones' 0x18d reserved '"content":"ones"'
	content 'a page table' 0x115 reserved '"content":"pgtable"'
	content 'a page of other bytes' 0x10 reserved '"content":"data"'
	content 'a page that the dump does not have' 0x20 reserved \
		'"missing":{"content":"excluded"}'
	content 'a poisoned page is not read' 0x204 unknown \
		'"missing":{"content":"unsafe"}'
	content 'nor is one that the host took back' 0x200 offline \
		'"missing":{"content":"unsafe"}'
	content 'where there is no memory' 0x10000000 hole '"content":null'
	run page 0x107+4 --from "$from" --fields pfn,content
	stdout_is 'a list' 'pfn  hex    content
263  0x107  zero
264  0x108  data
265  0x109  data
266  0x10a  data'
	run scan --from "$from" --where content=ones --fields content,pages \
		--runs --json
	stdout_is 'looked for by content' '{"content":"ones","pages":8}'
	run scan --from "$from" --by content --json
	stdout_has 'counted by content' '{"content":"ones","pages":8,'
	run page 0x107 --from "$from" --fields all --json
	tap_fails 'all does not read it' grep -q content "$tap_dir/stdout"
	# --- hash and entropy of the same bytes ---
	run page 0x107 0x18d --from "$from" --fields entropy --json
	stdout_is 'entropy without the class' '{"entropy":0}
{"entropy":0}'
	run scan --from "$from" --fields pfn,entropy --json
	python3 - "$top_srcdir/tests/live/truth" "$from" "$tap_dir/stdout" \
		> "$tap_dir/why" 2>&1 << 'END'
"""The entropy of each page that the dump has, counted here."""
import collections
import json
import math
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import content

dump = content.Dump(sys.argv[2])
seen = set()
with open(sys.argv[3]) as f:
    for row in map(json.loads, f):
        if "entropy" not in row or row["entropy"] is None:
            continue
        page = dump.page(row["pfn"])
        true = sum(n / len(page) * math.log2(len(page) / n)
                   for n in collections.Counter(page).values()) * 1000
        seen.add(row["entropy"])
        # rounding loses half a thousandth
        if abs(row["entropy"] - true) > 0.51:
            sys.exit("page %#x: %d, and %f is true" % (
                row["pfn"], row["entropy"], true))
sys.exit(None if len(seen) > 10 else "only %s" % sorted(seen))
END
	tap_run 'entropy is that of the bytes, of every page' test $? -eq 0
	key=$tap_dir/key
	hashes() {
		run page 0x107 0x18d 0x10 0x115 --from "$from" --json \
			--fields hash,entropy "$@"
		cp "$tap_dir/stdout" "$tap_dir/hashes"
	}
	hashes --hash-key "$key"
	tap_run 'a key is made' test "$(stat -c '%a %s' "$key")" = '600 192'
	cp "$tap_dir/hashes" "$tap_dir/first"
	tap_run 'other contents have other hashes' \
		test "$(sed 's/.*"hash":"\([^"]*\)".*/\1/' "$tap_dir/first" |
			sort -u | wc -l)" = 4
	hashes --hash-key "$key"
	tap_run 'the same key, the same hashes' \
		cmp "$tap_dir/hashes" "$tap_dir/first"
	hashes
	tap_fails 'a key of this run' cmp "$tap_dir/hashes" "$tap_dir/first"
	hashes --hash-key "$key.2"
	tap_fails 'another key' cmp "$tap_dir/hashes" "$tap_dir/first"
	run scan --from "$from" --where "hash=$(head -n 1 "$tap_dir/first" |
		sed 's/.*"hash":"\([^"]*\)".*/\1/')" --hash-key "$key" \
		--by content --json
	stdout_has 'looked for by hash' '{"content":"zero"'
	run page 0x204 0x10000000 --from "$from" --json --fields hash,entropy
	stdout_is 'of what is not read there is none' \
		'{"missing":{"hash":"unsafe","entropy":"unsafe"}}
{"hash":null,"entropy":null}'
	chmod 600 "$tap_dir/first"
	chmod 644 "$key"
	run page 0x107 --from "$from" --fields hash --hash-key "$key"
	expect 'a key that others may read' 77 'others may read or change it'
	run page 0x107 --from "$from" --fields hash --hash-key "$tap_dir/first"
	expect 'what is no key' 65 'a key has 192'
	echo 263 > "$tap_dir/leave-out"
	"$dumps/mkdump" -c raw -x "$tap_dir/leave-out" "$from" "$tap_dir/kdump"
	from=$tap_dir/kdump
	content 'left out of a filtered dump' 0x107 zero \
		'"missing":{"content":"excluded"}'
	content 'and others are not' 0x18d reserved '"content":"ones"'
	head -c $(($(stat -c %s "$tap_dir/elf") - 6 * 4096)) "$tap_dir/elf" \
		> "$tap_dir/cut"
	last=$("$PAGEDET" scan --from "$tap_dir/elf" --fields pfn,content \
		--json 2> "$tap_dir/why" | grep -v missing | tail -n 1 |
		sed 's/[^:]*:\([0-9]*\).*/\1/')
	run page "$last" --from "$tap_dir/cut" --json --fields content
	stdout_is 'behind the end of one that is cut' \
		'{"missing":{"content":"io"}}'
else
	tap_skip 'dumps' 'needs libcheck'
fi

# --- the running kernel ---

cat > "$tap_dir/pages.py" << 'END'
"""Pages of every kind, asked for through one source. Prints TAP lines."""
import ctypes
import json
import mmap
import os
import subprocess
import sys

pagedet, source, scratch, key = sys.argv[1:]
PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)


def address(m):
    return ctypes.addressof(ctypes.c_char.from_buffer(m))


def word(addr):
    with open("/proc/self/pagemap", "rb", buffering=0) as f:
        return int.from_bytes(os.pread(f.fileno(), 8, addr // PAGE * 8),
                              "little")


def resident(addr):
    vec = ctypes.c_ubyte(0)
    libc.mincore(ctypes.c_void_p(addr), ctypes.c_size_t(PAGE),
                 ctypes.byref(vec))
    return vec.value & 1


def ask(addr, fields="vaddr,kind,content,notes"):
    p = subprocess.run([pagedet, "--json", "-v", "--backend", source,
                        "--hash-key", key, "virt",
                        str(os.getpid()), hex(addr), "--fields", fields],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(p.stdout) if p.stdout else {"error": p.stderr.decode()}


def result(name, ok, what):
    print("%s - %s: %s" % ("ok" if ok else "not ok", source, name))
    if not ok:
        print("# %s" % (what,))


anon = mmap.mmap(-1, 8 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
anon.madvise(getattr(mmap, "MADV_NOHUGEPAGE", 15))
at = address(anon)
noise = os.urandom(PAGE)
while noise[0] in (0, 0x20):
    noise = os.urandom(PAGE)
contents = [("zero", bytes(PAGE)), ("byte:0x41", b"A" * PAGE),
            ("text", (b"a line\n" * PAGE)[:PAGE]), ("data", noise)]
for i, (_, what) in enumerate(contents):
    anon[i * PAGE:(i + 1) * PAGE] = what
for i, (name, _) in enumerate(contents):
    row = ask(at + i * PAGE)
    mark = ask(at + i * PAGE, "hash,entropy")
    result("hash and entropy of " + name, "hash" in mark and
           (mark["entropy"] == 0) == (name in ("zero", "byte:0x41")), mark)
    print("# hash %s %s %d" % (mark.get("hash"), name, mark["entropy"]))
    result("a page of " + name, row.get("content") == name, row)
    result("who noticed it: " + name, ("perturbed" in row.get("notes", [])) ==
           (source == "procfs"), row)

# never touched, and discarded
ctypes.memset(at + 5 * PAGE, 1, PAGE)
anon.madvise(mmap.MADV_DONTNEED, 5 * PAGE, PAGE)
for name, i in ("never touched", 6), ("given back", 5):
    before = word(at + i * PAGE)
    row = ask(at + i * PAGE)
    result(name, "content" in row and row["content"] is None, row)
    result(name + ", and not touched by us",
           before == word(at + i * PAGE) == before & ~(1 << 63), before)

# pages of a file without a device: mapped, cached, or no longer cached
path = os.path.join(scratch, "file")
with open(path, "wb") as f:
    f.write(b"x" * PAGE * 4)
    f.flush()
    os.fsync(f.fileno())
fd = os.open(path, os.O_RDWR)
mapped = mmap.mmap(fd, 4 * PAGE, flags=mmap.MAP_SHARED)
mapped[0]
mapped.madvise(mmap.MADV_DONTNEED, 2 * PAGE, PAGE)
at = address(mapped)
row = ask(at)
result("a page of a file", row.get("content") == "byte:0x78", row)
before = word(at + 2 * PAGE)
if not before >> 63:
    row = ask(at + 2 * PAGE)
    result("one that is not mapped", "content" in row and
           row["content"] is None, row)
    result("one that is not mapped, and is not now",
           not word(at + 2 * PAGE) >> 63, before)
mapped.madvise(mmap.MADV_DONTNEED)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
if not resident(at):
    row = ask(at)
    result("one that is nowhere", "content" in row and
           row["content"] is None, row)
    result("one that is nowhere, and is not read in",
           not resident(at) and not word(at) >> 63, row)

# that no other user may read
fd = libc.syscall(447, 0)
if fd >= 0:
    os.ftruncate(fd, PAGE)
    secret = mmap.mmap(fd, PAGE, flags=mmap.MAP_SHARED)
    secret[0] = 1
    row = ask(address(secret))
    result("a secret page", row.get("missing", {}).get("content") == "denied",
           row)
END

for source in bpf procfs; do
	run virt $$ 0 --backend $source --fields pfn,content
	if [ "$status" != 0 ] || grep -q '^?' "$tap_dir/stdout"; then
		tap_skip "$source" "$(cat "$tap_dir/stdout" "$tap_dir/stderr" |
			grep '?\|cannot' | head -n 1)"
		continue
	fi
	mkdir -p "$tap_dir/scratch"
	python3 "$tap_dir/pages.py" "$PAGEDET" $source "$tap_dir/scratch" \
		"$tap_dir/live-key" > "$tap_dir/result" 2> "$tap_dir/why" ||
		tap_not_ok "$source" "$tap_dir/why"
	while read -r line; do
		case $line in
		'ok - '*) tap_ok "${line#ok - }" ;;
		'not ok - '*) tap_not_ok "${line#not ok - }" "$tap_dir/result" ;;
		esac
	done < "$tap_dir/result"
	# random bytes differ each time
	sed -n '/ data /d; s/^# hash //p' "$tap_dir/result" \
		> "$tap_dir/hashes.$source"
done
if [ -s "$tap_dir/hashes.bpf" ] && [ -s "$tap_dir/hashes.procfs" ]; then
	tap_run 'bpf and procfs: the same hashes of the same bytes' \
		cmp "$tap_dir/hashes.bpf" "$tap_dir/hashes.procfs"
fi

run page 1 --backend procfs --fields content
stdout_has 'frames through files of /proc: who would know' \
	'only bpf, kcore and dumps read the bytes of page frames'
tap_done
