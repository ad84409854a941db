#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what happened to pages, by captures of programs that knew their pages
# (truth.jsonl). Each event is compared with the text that ftrace wrote of the
# same buffers, which the test reads by itself.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
ring=$traces/raw-6.18-x86_64
text=$ring/trace-nohash.txt.zst

# --- pages ---

all=0+67108864
for capture in raw-6.12-x86_64 raw-6.18-x86_64 tracedat/g612.v6.dat; do
	run kmem timeline "$traces/$capture" $all --text-only --json -q
	# trace-cmd keeps no counts of losses.
	case $capture in
	*.dat) expect "$capture" 2 ;;
	*) expect "$capture" 0 ;;
	esac
	cp "$tap_dir/stdout" "$tap_dir/all"
	run kmem report "$traces/$capture" --by family --json -q
	tap_run "$capture: planted pages" python3 - \
		"$traces/${capture%/*.dat}" "$tap_dir/all" "$tap_dir/stdout" \
		<<'EOT'
import json
import sys

with open(sys.argv[1] + "/truth.jsonl") as f:
    truth = [json.loads(line) for line in f]
with open(sys.argv[2]) as f:
    rows = [json.loads(line) for line in f]
with open(sys.argv[3]) as f:
    report = [json.loads(line) for line in f]
pages = [r for r in report[:-1] if r["family"] == "page"][0]
total = rows.pop()["total"]
assert total["rows"] == total["events"] == total["page_events"] == len(rows)
assert total["objects"] == "not asked" and total["unplaced"], total
assert [r["time_ns"] for r in rows] == sorted(r["time_ns"] for r in rows)
count = {}
for r in rows:
    count[r["effect"]] = count.get(r["effect"], 0) + 1
    assert r["event"] in ("mm_page_alloc", "mm_page_free"), r
    assert (r["lifetime_ns"] is None) == (r["effect"] != "freed"), r
# The report pairs blocks; here a page of a block may be freed alone.
made = count["allocated"] + count.get("allocated while allocated", 0)
assert made == pages["page_times"], (count, pages)
assert count["freed"] >= pages["page_freed"], (count, pages)
pid = truth[0]["pid"]
judged = 0
for t in truth:
    if t["what"] != "page":
        continue
    mine = [r for r in rows if r["pfn"] == t["pfn"] and r["tid"] == pid and
            r["effect"] == "allocated"]
    assert mine and mine[-1]["migratetype"] == 1, (t, mine)
    assert mine[-1]["site"] is None and mine[-1]["order"] == 0, mine
    judged += 1
assert judged > 20, judged
EOT
done

# --- the text of the same buffers ---

cat > "$tap_dir/compare.py" <<'EOT'
import json
import re
import sys

first, n = 2590720, 4096
rows = [json.loads(line) for line in open(sys.argv[1])]
total = rows.pop()["total"]
wanted = []
for line in open(sys.argv[2]):
    m = re.search(r"\[(\d+)\].* (\d+)\.(\d+): (mm_page_\w+): page=\S+ "
                  r"pfn=(\w+) order=(\d+)", line)
    if not m or m[4] == "mm_page_free_batched":
        continue
    pfn, order = int(m[5], 0), int(m[6])
    if pfn < first + n and pfn + (1 << order) > first:
        wanted.append((int(m[2] + m[3]), m[4], pfn, order, int(m[1])))
got = [((r["time_ns"] + 500) // 1000, r["event"], r["pfn"], r["order"],
        r["cpu"]) for r in rows]
assert len(wanted) > 50, len(wanted)
assert got == wanted, [p for p in zip(got, wanted) if p[0] != p[1]]
assert total["events"] == len(wanted), total
EOT
run kmem timeline "$ring" 2590720+4096 --text-only --json -q
cp "$tap_dir/stdout" "$tap_dir/rows"
if command -v zstd > /dev/null; then
	zstd -qdc "$text" > "$tap_dir/text"
	tap_run 'as the text of ftrace has it' python3 "$tap_dir/compare.py" \
		"$tap_dir/rows" "$tap_dir/text"
else
	tap_skip 'as the text of ftrace has it' 'zstd is not installed'
fi
run kmem timeline "$text" 2590720+4096 --text-only --json -q
if [ "$status" = 69 ]; then
	tap_skip 'a text has the same rows' 'it is compressed, without zstd'
else
	tap_run 'a text has the same rows' python3 - "$tap_dir/rows" \
		"$tap_dir/stdout" <<'EOT'
import json
import sys

pages, text = ([json.loads(line) for line in open(p)] for p in sys.argv[1:3])
assert len(pages) == len(text) > 50
for a, b in zip(pages[:-1], text[:-1]):
    for key in "event", "effect", "pfn", "order", "cpu", "tid", "comm":
        assert a[key] == b[key], (key, a, b)
    assert abs(a["time_ns"] - b["time_ns"]) < 1000, (a, b)
EOT
fi

# --- one frame, and the forms ---

run kmem timeline "$ring" 2429753 --text-only --page-size 4k
expect 'one frame' 0
tap_run 'one frame: a line of a header' grep -q 'seconds .*time_ns .*effect' \
	"$tap_dir/stdout"
tap_run 'one frame: its allocation' grep -q \
	' 2429753 .* 4096 .*mm_page_alloc  *allocated  *0 6883 tplant' \
	"$tap_dir/stdout"
tap_run 'one frame: its free' grep -q ' 255619 mm_page_free  *freed ' \
	"$tap_dir/stdout"
run kmem timeline "$ring" 0x251339 --text-only --format csv
tap_run 'CSV' grep -q '^[0-9]*,mm_page_free,freed,0,.*,255619,$' \
	"$tap_dir/stdout"
run kmem timeline "$ring" 2590721 --text-only --format csv
tap_run 'CSV: a comma in a text' grep -q \
	',"freed, not allocated in the trace",' "$tap_dir/stdout"
run kmem timeline "$ring" 5 --text-only
expect 'nothing concerns it' 1 'no event of the trace concerns the page'

# A trace of kmemtrace has no pages, and its text neither times nor processors.
old=$traces/old/ftrace-minimalistic.txt.zst
run kmem timeline "$old" 1
[ "$status" = 69 ] || expect 'kmemtrace: objects are not shown' 2 'not shown'

# --- objects ---

run kmem timeline "$ring" 2429753 --json
expect 'another boot: objects are not shown' 2 'objects are not shown, 1154'
tap_run 'another boot: pages are' grep -q '"effect":"freed"' "$tap_dir/stdout"
tap_run 'another boot: the total says why' grep -q \
	'"object_events":0,.*"unplaced":1154,.*"objects":null,"objects_why":"' \
	"$tap_dir/stdout"
run kmem timeline "$ring" 5
expect 'another boot: nothing is not known' 2 'objects are not shown'

# A dump says where it has its memory; a text with such addresses.
if xz -dc "$top_srcdir/tests/fixtures/vmcore/qemu.elf.xz" \
	> "$tap_dir/elf" 2> /dev/null; then
	run --from "$tap_dir/elf" mappers 512 --json --pointers
	python3 - "$tap_dir/stdout" > "$tap_dir/made" <<'EOT'
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
base = [int(r["vaddr"], 16) for r in rows if r.get("map") == "direct"][0]
base -= 512 << 12
print("# entries-in-buffer/entries-written: 9/9   #P:2")


def event(us, name, at, rest, place="f"):
    print(f"     sh-9    [001] .....     1.{us:06}: {name}: "
          f"call_site={place}+0x1/0x9 ptr={base + at:016x}{rest}")


def alloc(us, at, size):
    event(us, "kmalloc", at, f" bytes_req={size} bytes_alloc={size} "
          "gfp_flags=GFP_KERNEL node=-1 accounted=false")


print("     sh-9    [001] .....     1.000001: mm_page_alloc: "
      "page=ffffea0000000040 pfn=0x200 order=1 migratetype=0 "
      "gfp_flags=GFP_KERNEL")
alloc(2, (512 << 12) + 64, 64)
alloc(3, (513 << 12), 64)
alloc(4, (511 << 12) + 4090, 16)
event(5, "kfree", (512 << 12) + 64, "", "g")
event(6, "kfree", (512 << 12) + 128, "", "g")
event(7, "kfree", (511 << 12) + 4090, "", "g")
alloc(8, (512 << 12) + 64, 32)
alloc(9, (512 << 12) + 64, 32)
EOT
	run --from "$tap_dir/elf" kmem timeline "$tap_dir/made" 512 --json
	expect 'a dump: nothing says that it is of this boot' 2 'are not shown'
	run --from "$tap_dir/elf" kmem timeline "$tap_dir/made" 512 --now \
		--json --pointers -q
	expect 'a dump: objects' 0
	tap_run 'a dump: what they are' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
total = rows.pop()["total"]
assert total["objects"] == "placed" and not total["unplaced"], total
got = [(r["event"], r["effect"], r["pfn"], r["bytes"], r["site"],
        r["lifetime_ns"]) for r in rows]
assert got == [
    ("mm_page_alloc", "allocated", 512, None, None, None),
    ("kmalloc", "object allocated", 512, 64, "f+0x1", None),
    ("kmalloc", "object allocated", 511, 16, "f+0x1", None),
    ("kfree", "object freed", 512, 64, "g+0x1", 3000),
    ("kfree", "object freed, not allocated in the trace", 512, None, "g+0x1",
     None),
    ("kfree", "object freed", 511, 16, "g+0x1", 3000),
    ("kmalloc", "object allocated", 512, 32, "f+0x1", None),
    ("kmalloc", "object allocated while allocated", 512, 32, "f+0x1", None),
], got
assert all(r["address"].startswith("0x") for r in rows[1:]), rows
EOT
	run --from "$tap_dir/elf" kmem timeline "$tap_dir/made" 512 --now --json
	tap_run 'addresses are hidden' test "$(grep -c 0xffff \
		"$tap_dir/stdout")" = 0
	tap_run 'addresses are hidden: JSON says so' grep -q \
		'"address":null.*"missing":{.*"address":"hidden"' \
		"$tap_dir/stdout"
	run --from "$tap_dir/elf" kmem timeline "$tap_dir/made" 512 --text-only
	expect 'a dump: pages only' 0
	run --from "$tap_dir/elf" kmem timeline "$ring" 2429753 --now
	expect 'a dump: objects outside of its memory' 2 'has no memory'
	run --from "$tap_dir/elf" kmem timeline "$ring/trace.txt.zst" 2429753 \
		--now
	[ "$status" = 69 ] || expect 'a dump: hashed addresses' 2 \
		'(its addresses are hashed)'
else
	tap_skip 'a dump' 'xz is not installed'
fi

# --- losses, and bounds ---

run kmem timeline "$traces/raw-6.18-lost" 1294833 --text-only
expect 'losses' 2 'events lost by the kernel'
tap_run 'losses: they are in front of the page' grep -qE \
	'^ +0\.156915856 .* lost +events lost' "$tap_dir/stdout"
run kmem timeline "$traces/raw-6.18-lost" 1294833 --text-only --json
tap_run 'losses: a row' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
total = rows[-1]["total"]
assert total["losses"] == 1 and total["lost"] == 1104, total
assert total["complete"] is True, total
assert [r["event"] for r in rows[:-1]] == ["lost", "mm_page_alloc",
                                          "mm_page_free"], rows
assert rows[0]["pfn"] is None and rows[0]["missing"] == {
    "lost": "unsupported"}, rows[0]
EOT
cat > "$tap_dir/holes" <<'EOT'
     sh-9    [001] .....     1.000001: mm_page_alloc: page=00000000 pfn=0x9 order=0 migratetype=0 gfp_flags=GFP_KERNEL
CPU:1 [LOST 12 EVENTS]
     sh-9    [001] .....     1.000002: mm_page_free: page=00000000 pfn=0x7 order=0
CPU:0 [LOST 30 EVENTS]
     sh-9    [001] .....     1.000003: mm_page_alloc: page=00000000 pfn=0x9 order=0 migratetype=0 gfp_flags=GFP_KERNEL
CPU:1 [LOST EVENTS]
EOT
run kmem timeline "$tap_dir/holes" 9 --format csv -q
expect 'losses of a text' 2
tap_run 'losses of a text: where they were' test "$(sed -n '2,$p' \
	"$tap_dir/stdout" | cut -d, -f1-3,13- | tr '\n' ' ')" = \
'1000001000,mm_page_alloc,allocated,0,,?unsupported,, '\
'1000002000,lost,events lost,,,,,42 '\
'1000003000,mm_page_alloc,allocated while allocated,0,,?unsupported,, '\
'?unsupported,lost,events lost,,,,,?unsupported '
run kmem timeline "$tap_dir/holes" 9 --text-only -q
stdout_has 'losses of a text: a time that is not known' \
	'         ?                ?         -'
cat >> "$tap_dir/holes" <<'EOT'
     sh-9    [000] .....     2.000004: mm_page_alloc: page=00000000 pfn=0x5 order=0 migratetype=0 gfp_flags=GFP_KERNEL
     sh-9    [000] .....     2.000005: mm_page_free: page=00000000 pfn=0x5 order=0
     sh-9    [001] .....     3.000000: mm_page_alloc: page=00000000 pfn=0x5 order=0 migratetype=0 gfp_flags=GFP_KERNEL
     sh-9    [001] .....     3.000001: sched_switch: prev_comm=sh
     sh-9    [001] .....     3.000002: mm_page_free: page=00000000 pfn=0x5 order=0
     sh-9    [001] .....     3.000003: sched_switch: prev_comm=sh
CPU:1 [LOST 3 EVENTS]
EOT
run kmem timeline "$tap_dir/holes" 5 --format csv -q
tap_run 'losses of a text: what they do not touch is known' test \
	"$(sed -n 's/^3000002000,mm_page_free.*,\([0-9?a-z]*\),$/\1/p' \
	"$tap_dir/stdout")" = 2000
run kmem timeline "$ring" $all --text-only --limit 3 --json -q
expect 'the first events' 0
tap_run 'the first events: three' grep -q '"rows":3,"left_out":369' \
	"$tap_dir/stdout"
python3 - > "$tap_dir/long" <<'EOT'
for i in range(200000):
    print(f"     sh-9    [001] .....     1.{i:06}: mm_page_alloc: page=00000000 "
          f"pfn={i:#x} order=0 migratetype=0 gfp_flags=GFP_KERNEL")
EOT
run kmem timeline "$tap_dir/long" 1+200000 --deadline 0.000000001
expect 'a part' 2 'the deadline passed'
run kmem timeline "$tap_dir/long" 1+200000 --json -q
tap_run 'all of it' grep -q '"events":199999,.*"rows":199999,"left_out":0' \
	"$tap_dir/stdout"

# --- mistakes ---

run kmem timeline
expect 'no trace' 64 'takes a trace, and a page'
run kmem timeline "$ring"
expect 'no page' 64 'takes a trace, and a page'
run kmem timeline "$ring" 1 2
expect 'too many words' 64 'too many'
run kmem timeline "$ring" nothing
expect 'not a page' 64 nothing
run kmem timeline "$ring" 1+0
expect 'no pages' 64 'the count is 0'
run kmem timeline "$ring" 1+67108865
expect 'too many pages' 64 '1 to 67108864'
run kmem timeline "$ring" 0xfffffffffffffff0
expect 'not a page that can be' 64 'there is no page'
run kmem timeline "$tap_dir/none" 1
expect 'a trace that does not exist' 66 none
run kmem timeline /dev/null 1
expect 'not a trace' 65 'is not a trace'
for option in '--by site' '--sort pfn' '--top 1' '--window 1' --verify \
	"--flame $tap_dir/x.svg" --folded '--where pfn=1' "--before $ring"; do
	run kmem timeline "$ring" 1 $option
	expect "with ${option%% *}" 64 'has no meaning'
done
run kmem timeline "$ring" 1 --text-only --now
expect 'ask, and do not ask' 64 '--text-only does not'
run --from live kmem timeline "$ring" 1
expect 'names of the running kernel' 64 '--from takes a dump'
run kmem timeline "$ring" 1 --pages
expect 'an option of the recorder' 64 "an option of 'kmem record'"
{
	echo 'a-1 [000] ..... 1.000000: kmalloc: call_site=f+0x1/0x2' \
		'ptr=ffff888000001000 bytes_req=8 bytes_alloc=8' \
		'gfp_flags=GFP_KERNEL node=-1 accounted=false'
} > "$tap_dir/objects"
run kmem timeline "$tap_dir/objects" 5 --text-only
expect 'a trace without events of pages' 2 'has no events of pages'
run kmem timeline "$tap_dir/objects" 17592186044917 --now
expect 'a page that no kernel maps' 2 'objects are not shown'
tap_done
