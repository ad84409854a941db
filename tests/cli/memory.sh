#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests that the running kernel's memory, read through BPF, agrees with its
# files and tells more.
. "$top_srcdir/tests/cli/cli.sh"

if [ ! -e /proc/kcore ]; then
	run page 0 --backend kcore --fields refcount
	stdout_has 'a kernel without /proc/kcore: why' \
		'? refcount: no_kernel - '
	stdout_has 'what it takes' 'there is no /proc/kcore'
fi

run page 0 --backend bpf --fields refcount
if grep -q '^?' "$tap_dir/stdout" || grep -q 'cannot' "$tap_dir/stderr"; then
	why=$(sed -n 's/^pagedet: hint: //p' "$tap_dir/stderr" | head -n 1)
	tap_skip "the running kernel's memory" "BPF: ${why:-$(cat "$tap_dir/stderr")}"
	tap_done
	exit
fi

# The kernel's name of a file begins at a mount.
if ! grep -q '^[^ ]* [^ ]* [^ ]* [^ ]* / ' /proc/self/mountinfo; then
	tap_skip "the running kernel's memory" 'our root directory is no mount'
	tap_done
	exit
fi

sleep 300 &
sleeper=$!
trap 'kill $sleeper' EXIT
# until it has become the program
tap_wait grep -q sleep "/proc/$sleeper/comm"
cat > "$tap_dir/compare.py" << 'END'
import json
import os
import subprocess
import sys

pagedet, pid = sys.argv[1:]
FIELDS = ("kind", "flags", "head_pfn", "order", "mapcount", "mapcount_kind",
          "memcg_ino", "node", "zone")


def ask(*args):
    out = subprocess.run([pagedet, "--json", *args], check=True,
                         stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in out.splitlines()]


def known(row):
    """Flags without those that one of the two cannot know."""
    return set(row["flags"]) - unknown


def from_files(pfn):
    row, = ask("page", pfn, "--backend", "procfs",
               "--fields", ",".join(FIELDS))
    return row


n = same = named = 0
task = ask("task", pid, "--backend", "procfs",
           "--fields", "pfn,kind,dev,inode,index,path,vma_name")
for page in task:
    if not isinstance(page.get("pfn"), int):
        continue
    pfn = str(page["pfn"])
    # Other processes map and unmap libraries; pages that did not change between
    # are compared.
    for attempt in range(20):
        files = from_files(pfn)
        memory, = ask("page", pfn, "--backend", "bpf", "--fields",
                      ",".join(FIELDS) + ",refcount,dev,inode,index,path")
        # every access sets or clears referenced
        unknown = {"referenced"} | set(
            files.get("flags_unknown", []) + memory.get("flags_unknown", []))
        differ = [f for f in FIELDS if f in files and f in memory and
                  (known(files) != known(memory) if f == "flags"
                   else files[f] != memory[f]) and
                  # every process maps libraries and [vvar], also this one
                  not (f == "mapcount" and
                       (page.get("path") or
                        str(page.get("vma_name")).startswith("[v")))]
        if memory["refcount"] < memory["mapcount"]:
            differ.append("refcount")
        if not differ or from_files(pfn) == files:
            break
    n += 1
    for field in differ:
        print("# pfn %s %s: files %r, memory %r" % (
            pfn, field, files.get(field), memory[field]))
    wrong = []
    if page.get("path"):
        wrong = [f for f in ("dev", "inode", "index")
                 if page[f] != memory.get(f)]
        # a file may have several names
        if not (memory.get("path") and
                os.path.samefile(page["path"], memory["path"])):
            wrong.append("path")
        named += not wrong
        for field in wrong:
            print("# pfn %s %s: task %r, memory %r" % (
                pfn, field, page[field], memory.get(field)))
    same += not differ and not wrong
print("# %d pages, %d alike, %d with a path" % (n, same, named))
sys.exit(not (n > 20 and same == n and named > 5))
END
tap_run "pages of a process are the same in files and in memory" \
	"$PYTHON3" "$tap_dir/compare.py" "$PAGEDET" $sleeper

# Files do not tell the size of a free block, but that alone must not open
# memory. Blocks may be allocated any time: one of several suffices.
has_order() {
	for pfn in $("$PAGEDET" scan --backend bpf --where \
			'kind=free and order>=9' --fields pfn --json \
			2> "$tap_dir/why" | head -n 20 | tr -dc '0-9\n'); do
		run page "$pfn" --fields order,kind --json
		case $(cat "$tap_dir/stdout") in
		'{"kind":"free","order":9}' | '{"kind":"free","order":1'*)
			return 0 ;;
		esac
	done
	return 1
}
# Where memory is small or in pieces there may be none: orders 9 and more.
has_large_block() {
	awk '{ for (i = 14; i <= NF; i++) n += $i } END { exit !n }' \
		/proc/buddyinfo
}
if has_large_block; then
	tap_run 'order of a free block' has_order
else
	tap_skip 'order of a free block' 'no block is that large'
fi

tap_done
