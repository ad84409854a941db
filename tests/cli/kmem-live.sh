#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests the rows of what a trace has no free of. The captures are of programs
# that knew what they kept (truth.jsonl). They are of other boots, so that the
# running kernel must not be asked.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces

# --- the truth of the program that made the trace ---

for capture in raw-6.12-x86_64 raw-6.18-x86_64 tracedat/g612.v6.dat; do
	run kmem report "$traces/$capture" --json -q
	if [ "$status" = 69 ]; then
		tap_skip "$capture" 'it is compressed, and a library lacks'
		continue
	fi
	cp "$tap_dir/stdout" "$tap_dir/report"
	run kmem live "$traces/$capture" --text-only --pointers --json -q
	tap_run "$capture: what is kept" python3 - "$traces/${capture%/*.dat}" \
		"$tap_dir/stdout" "$tap_dir/report" <<'EOT'
import json
import sys

with open(sys.argv[1] + "/truth.jsonl") as f:
    truth = [json.loads(line) for line in f]
with open(sys.argv[2]) as f:
    rows = [json.loads(line) for line in f]
with open(sys.argv[3]) as f:
    total = [json.loads(line) for line in f][-1]["total"]
pid = truth[0]["pid"]
objects = [r for r in rows if r["vaddr"]]
pages = [r for r in rows if not r["vaddr"]]
assert len(objects) == total["live"], (len(objects), total)
assert len(pages) == total["page_live"], (len(pages), total)
assert objects and pages and rows == objects + pages
for some, key in ((objects, "vaddr"), (pages, "pfn")):
    at = [int(str(r[key]), 0) for r in some]
    assert at == sorted(at) and len(set(at)) == len(at), key
judged = 0
for t in truth:
    if t["what"] == "kmalloc" and "live" in t:
        kept = [r for r in objects if r["alloc_pid"] == pid
                and r["alloc_requested"] == t["bytes_req"]
                and r["alloc_site"].startswith("load_msg+")]
        assert len(kept) == t["live"], (t, len(kept))
        judged += len(kept)
assert judged, truth
for r in rows:
    assert r["alloc_ns"] and r["alloc_cpu"] in (0, 1), r
    # Nobody was asked.
    assert "object_state" not in r or r["object_state"] is None, r
assert all("alloc_site" not in r or not r["alloc_site"] for r in pages)
EOT
done

# --- nobody else's objects ---

run kmem live "$traces/raw-6.12-x86_64" --json
tap_run 'another boot: the kernel is not asked' \
	grep -q 'what its objects are now is not shown' "$tap_dir/stderr"
tap_run 'another boot: there are rows' grep -q '"alloc_site":"' \
	"$tap_dir/stdout"
tap_run 'another boot: no row says what is there now' \
	test "$(grep -cE '"object_state":"(used|free)"' "$tap_dir/stdout")" = 0
run kmem live "$traces/raw-6.18-x86_64/trace.txt.zst" --json --now
if [ "$status" != 69 ]; then
	tap_run 'hashed addresses are never asked' \
		grep -q 'its addresses are hashed' "$tap_dir/stderr"
fi

# --- filters, order, groups, files ---

count() {
	grep -c '"alloc_bytes"' "$tap_dir/stdout"
}
live="kmem live $traces/raw-6.18-x86_64 --text-only -q"
run $live --json --where 'alloc_requested=155'
tap_run 'a filter' test "$(count)" = 50
run $live --json --where 'alloc_requested=155' --by alloc_site
tap_run 'groups: objects, and what they got' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    row, last = map(json.loads, f)
assert (row["objects"], row["bytes"]) == (50, 50 * 192), row
assert "pages" not in row and "missing" not in row, row
del last["total"]["undecided"]
assert last["total"] == {"objects": 50, "bytes": 9600}, last
EOT
run $live --where 'alloc_requested=155' --by alloc_site,alloc_bytes \
	--format csv
tap_run 'groups as CSV, by the bytes' sh -c \
	'tail -n 1 "$1" | grep -q "^load_msg+0x41,192,50,9600$"' sh \
	"$tap_dir/stdout"
tap_run 'groups as CSV: the head' grep -qx \
	'alloc_site,alloc_bytes,objects,bytes' "$tap_dir/stdout"
run $live --by alloc_cpu --json --threads 2
tap_run 'groups: the sum lacks pages of an unknown size' python3 - \
	"$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    *rows, last = map(json.loads, f)
by_cpu = {row["alloc_cpu"]: row for row in rows}
# No page was allocated there.
assert (by_cpu[1]["objects"], by_cpu[1]["bytes"]) == (1, 32), rows
for row in by_cpu[0], last["total"]:
    assert row["bytes"] is None, row
    assert row["missing"] == {"bytes": "unsupported"}, row
EOT
run $live --by alloc_cpu --json --page-size 4096
tap_run 'groups: the size of a page' python3 - "$tap_dir/stdout" \
	"$traces/raw-6.18-x86_64/expected.json" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    *rows, last = map(json.loads, f)
with open(sys.argv[2]) as f:
    expected = json.load(f)
total = last["total"]
assert sum(row["bytes"] for row in rows) == total["bytes"], rows
assert total["bytes"] > expected["live_bytes"], total
assert (total["bytes"] - expected["live_bytes"]) % 4096 == 0, total
EOT
run $live --sort alloc_bytes --top 1 --fields alloc_bytes --format csv
tap_run 'the largest' test "$(tr '\n' ' ' < "$tap_dir/stdout")" = \
	'alloc_bytes 2048 '
run $live --by alloc_site --sort bytes --format csv --page-size 4096
tap_run 'the group of the largest bytes' sh -c \
	'cut -d, -f3 "$1" | sed 1d > "$1.bytes"; sort -rn "$1.bytes" |
	cmp - "$1.bytes"; head -n 2 "$1" | tail -n 1 | grep -q "^,202,827392$"' \
	sh "$tap_dir/stdout"
run snapshot "$tap_dir/saved" $live
expect 'saved rows' 0
run --from "$tap_dir/saved" scan --json --where 'alloc_requested=155'
tap_run 'saved rows have the same' test "$(count)" = 50

# --- mistakes ---

run kmem live
expect 'no trace' 64 'kmem'
run kmem live "$tap_dir/none"
expect 'a trace that does not exist' 66 'none'
for option in "--flame $tap_dir/x.svg" --folded '--window 1' \
	"--before $traces/raw-6.12-x86_64" '--kallsyms-before /dev/null'; do
	run kmem live "$traces/raw-6.18-x86_64" $option
	expect "live with ${option%% *}" 64 'has no meaning'
done
run kmem report "$traces/raw-6.18-x86_64" --now
expect 'a report asks no kernel' 64 'asks no kernel'

tap_done
