#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests the rows of events. A decoder in Python reads the same captures, and
# every field of every event must be the same. They are of other boots, so that
# the running kernel must not be asked.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
decoder=$top_srcdir/tests/cli/trace-events.py
all=events,event_ns,vaddr,pfn,alloc_requested,alloc_bytes,alloc_order,gfp_mask

# How many rows say what is there now.
now() {
	sed 's/"missing".*//' "$tap_dir/stdout" |
		grep -cE '"(kind|object_state)":"'
}

# --- every event, and every field of it ---

for capture in raw-6.12-x86_64 raw-6.18-x86_64 raw-6.18-lost; do
	run kmem events "$traces/$capture" --text-only --pointers --json -q \
		--fields "$all"
	lossy=0
	[ "$capture" = raw-6.18-lost ] && lossy=2
	tap_run "$capture: the status" test "$status" = "$lossy"
	tap_run "$capture: each event is as another decoder reads it" \
		python3 "$decoder" "$traces/$capture" "$tap_dir/stdout"
done
tap_run 'the loss is the row where it was' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
lost = [i for i, r in enumerate(rows) if r["event"] == "lost"]
# Its page is the first that was read of this processor, and full, so that the
# kernel had no room for the number.
assert len(lost) == 1, lost
row = rows[lost[0]]
assert row["missing"]["event_lost"] == "unsupported", row
assert row["pfn"] is None and row["event_tid"] is None, row
cpu = [i for i, r in enumerate(rows) if r["event_cpu"] == row["event_cpu"]]
assert cpu[0] == lost[0], (cpu[:3], lost)
EOT

# --- other forms ---

for dat in g612.v6.dat g612.v7z.dat g612.report.txt.zst; do
	run kmem events "$traces/tracedat/$dat" --text-only --json -q \
		--fields events,event_ns
	if [ "$status" = 69 ]; then
		tap_skip "$dat" 'it is compressed, and a library lacks'
		continue
	fi
	tap_run "$dat: counts" python3 "$decoder" --counts \
		"$traces/raw-6.12-x86_64/expected.json" "$tap_dir/stdout"
done
for trace in perfdata/slabpage.data perfdata/stacks.data old/relay-le \
	old/ftrace-user-64be.bin; do
	run kmem report "$traces/$trace" --json -q
	n=$(sed -n 's/.*"all_events":\([0-9]*\),.*/\1/p' "$tap_dir/stdout")
	run kmem events "$traces/$trace" --text-only --json -q --fields event
	tap_run "$trace: $n rows" test "$n" -gt 0 -a \
		"$(grep -vc '"lost"' "$tap_dir/stdout")" = "$n"
done
run kmem events - --text-only --json --fields event,event_comm < /dev/null
tap_run 'an empty pipe is not a trace' test "$status" != 0

# --- nobody else's pages ---

run kmem events "$traces/raw-6.12-x86_64" --json --limit 50
tap_run 'another boot: the kernel is not asked' \
	grep -q 'what its objects are now is not shown' "$tap_dir/stderr"
tap_run 'another boot: no row says what is there now' \
	test "$(now)" = 0
tap_run 'another boot: there are rows' \
	test "$(grep -c '"event_site"' "$tap_dir/stdout")" = 50
run kmem events "$traces/raw-6.18-x86_64/trace.txt.zst" --json --now
if [ "$status" != 69 ]; then
	tap_run 'hashed addresses are never asked' \
		grep -q 'its addresses are hashed' "$tap_dir/stderr"
	tap_run 'nor the pages of such a trace' test "$(now)" = 0
fi
printf '     sh-9 [001] ..... 1.000001: kfree: call_site=f+0x1/0x9 ptr=%s\n' \
	ffff888000009010 > "$tap_dir/line"
# Only a pipe can be read once.
# shellcheck disable=SC2002
cat "$tap_dir/line" | "$PAGEDET" kmem events - --now --json \
	> "$tap_dir/stdout" 2> "$tap_dir/stderr" || :
stdout_has 'a pipe has rows' '"event_site":"f+0x1"'
tap_run 'a pipe is not asked about' \
	grep -q 'can be read only once' "$tap_dir/stderr"

# --- filters, order, groups, files ---

events="kmem events $traces/raw-6.18-x86_64 --text-only -q"
run $events --by event --json
cp "$tap_dir/stdout" "$tap_dir/groups"
tap_run 'groups' python3 - "$tap_dir/groups" \
	"$traces/raw-6.18-x86_64/expected.json" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
with open(sys.argv[2]) as f:
    expected = json.load(f)
assert {r["event"]: r["events"] for r in rows[:-1]} == expected["events"], rows
total = rows[-1]["total"]
assert total["events"] == expected["total"], total
by = {r["event"]: r for r in rows[:-1]}
# What they got. A free does not tell it, nor does the trace the size of a page.
assert by["kmalloc"]["bytes"] + by["kmem_cache_alloc"]["bytes"] == \
    expected["bytes_allocated"], rows
for name in "kfree", "kmem_cache_free", "mm_page_free":
    assert by[name]["bytes"] is None and "missing" not in by[name], by[name]
for row in by["mm_page_alloc"], total:
    assert row["bytes"] is None, row
    assert row["missing"] == {"bytes": "unsupported"}, row
assert not any("pages" in r for r in rows), rows
EOT
run $events --by event --format csv
tap_run 'groups as CSV' sh -c 'grep -qx "event,events,bytes" "$1" &&
	grep -qx "kfree,625," "$1" && grep -q "^mm_page_alloc,282,?" "$1"' sh \
	"$tap_dir/stdout"
run $events --by event
tap_run 'they are events' grep -q 'events *share' "$tap_dir/stdout"
run $events --format csv --fields event_ns,event \
	--where 'event=kmalloc and alloc_requested=155'
tap_run 'a filter' test "$(grep -c ',kmalloc$' "$tap_dir/stdout")" = \
	"$(($(wc -l < "$tap_dir/stdout") - 1))"
n=$(grep -c ',kmalloc$' "$tap_dir/stdout")
tap_run 'it has what the program sent' test "$n" = "$(python3 - \
	"$traces/raw-6.18-x86_64/truth.jsonl" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    truth = [json.loads(line) for line in f]
print(sum(t["times"] for t in truth if t.get("bytes_req") == 155))
EOT
)"
at=$(sed -n '10s/,.*//p' "$tap_dir/stdout")
run $events --format csv --fields event_ns --where "event_ns<=$at and \
event=kmalloc and alloc_requested=155"
tap_run 'a window of time' test "$(wc -l < "$tap_dir/stdout")" = 10
run $events --limit 3 --json
tap_run 'a limit' test "$(wc -l < "$tap_dir/stdout")" = 3
tap_run 'a limit keeps the status' test "$status" = 0
run $events --sort alloc_bytes --top 1 --fields alloc_bytes --format csv
tap_run 'the largest' test "$(tr '\n' ' ' < "$tap_dir/stdout")" = \
	'alloc_bytes 4096 '
run snapshot "$tap_dir/saved" $events
expect 'saved rows' 0
run --from "$tap_dir/saved" scan --json --by event
tap_run 'saved rows have the same' cmp -s "$tap_dir/groups" "$tap_dir/stdout"
run $events --where 'event_tid=4000000'
expect 'no such event' 1

# --- mistakes ---

run kmem events
expect 'no trace' 64 'kmem'
run kmem events "$tap_dir/none"
expect 'a trace that does not exist' 66 'none'
for option in "--flame $tap_dir/x.svg" --folded '--window 1' --verify \
	"--before $traces/raw-6.12-x86_64" '--kallsyms-before /dev/null'; do
	run kmem events "$traces/raw-6.18-x86_64" $option
	expect "events with ${option%% *}" 64 'has no meaning'
done
run kmem events "$traces/raw-6.18-x86_64" --stacks
expect 'events have no stacks' 64 'stacks'
cat > "$tap_dir/allocinfo" <<'EOT'
allocinfo - version: 1.0
#     <size>  <calls> <tag info>
        4096        1 mm/slub.c:1 func:f
EOT
run kmem events "$tap_dir/allocinfo" --text-only
expect 'sums are not events' 64 'sums of what is live'

tap_done
