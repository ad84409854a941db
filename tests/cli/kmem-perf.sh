#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests reports of what perf recorded. The program that was recorded knew what
# it allocated (truth.jsonl); the sums are those of perf kmem stat --slab --page.
. "$top_srcdir/tests/cli/cli.sh"

perfdata=$top_srcdir/tests/fixtures/traces/perfdata/slabpage.data

# form NAME
form() {
	python3 "$top_srcdir/tests/cli/perf-forms.py" "$1" "$perfdata" \
		"$tap_dir/$1"
}

# --- the truth, and perf's own sums ---

run kmem report "$perfdata" --by tid,bytes_req,family --json -q
expect 'a perf.data' 0
tap_run 'messages' python3 - "$(dirname "$perfdata")/truth.jsonl" \
	"$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    truth = [json.loads(line) for line in f]
with open(sys.argv[2]) as f:
    groups = [json.loads(line) for line in f][:-1]
judged = 0
for t in truth:
    if t["what"] != "kmalloc":
        continue
    found = [g for g in groups if g["tid"] == t["pid"]
             and g["bytes_req"] == t["bytes_req"]]
    assert len(found) == 1, (t, found)
    for key in "times", "freed", "live", "cross_cpu":
        assert t.get(key, found[0][key]) == found[0][key], (key, t, found)
    judged += 1
assert judged == 3, judged
EOT
run kmem report "$perfdata" --by family,comm --json -q
tap_run 'the sums of perf kmem' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    groups = {g["family"]: g for g in map(json.loads, f) if "family" in g}
objects = groups["kmalloc"], groups["cache"]
assert sum(g["times"] for g in objects) == 561
assert sum(g["requested"] for g in objects) == 788546
assert sum(g["allocated"] for g in objects) == 1042912
assert sum(g["waste"] for g in objects) == 254366
page = groups["page"]
assert (page["page_times"], page["page_allocated"]) == (123, 503808)
assert (page["page_freed"], page["page_live"]) == (12, 111)
assert page["times"] == page["allocated"] == page["live"] == 0
assert all(g["comm"] == "tplant" for g in groups.values())
EOT
run kmem report "$perfdata" --limit 1 --json -q
stdout_has 'a call site' \
	'"times":288,"requested":299052,"allocated":552896,"waste":253844'
stdout_has 'frees on another processor, which perf does not see' \
	'"cross_cpu":30'

run kmem report "$perfdata" --by gfp --json -q
stdout_has 'names of flags' '"gfp":3264,"gfp_names":"GFP_KERNEL"'

# --- names ---

cat > "$tap_dir/names" <<'EOT'
ffffffff81000000 T _text
ffffffff81a65540 T load_msg
ffffffff81a65600 T store_msg
ffffffff8220bb08 T _etext
EOT
run kmem report "$perfdata" --kallsyms "$tap_dir/names" --json -q
stdout_has 'names of functions' '"site":"load_msg+0x41","times":288'
sed 's/ffffffff8/ffffffff9/' "$tap_dir/names" > "$tap_dir/moved"
run kmem report "$perfdata" --kallsyms "$tap_dir/moved"
expect 'names of another boot' 65 'are of another boot or kernel: _text'
sed 's/8220bb08/8220bb18/' "$tap_dir/names" > "$tap_dir/other"
run kmem report "$perfdata" --kallsyms "$tap_dir/other"
expect 'names of another kernel' 65 'or the end of the code'

# --- other forms of the same ---

run kmem report "$perfdata" --by site,comm,cpu,tid,node --json -q
mv "$tap_dir/stdout" "$tap_dir/plain"
for name in pipe packed sized big; do
	form "$name"
	run kmem report "$tap_dir/$name" --by site,comm,cpu,tid,node --json -q
	if [ "$status" = 69 ]; then
		tap_skip "$name: the same" 'the library is not there'
		continue
	fi
	tap_run "$name: the same" cmp "$tap_dir/plain" "$tap_dir/stdout"
done
form endless
run kmem report "$tap_dir/endless" --by family --json -q
expect 'without rounds' 0
tap_run 'nothing is missing' grep -q \
	'"family":"kmalloc","times":114300,.*,"mismatched":0' "$tap_dir/stdout"

# Events for which the memory is too small are sorted in a file.
run kmem report "$tap_dir/endless" --by site,comm,cpu,tid,node --json -q
mv "$tap_dir/stdout" "$tap_dir/plain"
for name in round rounds; do
	form "$name"
	run kmem report "$tap_dir/$name" --by site,comm,cpu,tid,node --json -q
	expect "$name: nothing is out of order" 0
	tap_run "$name: the same" cmp "$tap_dir/plain" "$tap_dir/stdout"
done
# Without a file they are sorted in memory, as long as there are not too many.
tmpdir=${TMPDIR-}
by=site,comm,cpu,tid,node
export TMPDIR="$tap_dir/nonexistent"
run kmem report "$tap_dir/round" --by "$by" --json -q
expect 'no directory for the file: the memory does' 0
tap_run 'no directory for the file: the same' \
	cmp "$tap_dir/plain" "$tap_dir/stdout"
TMPDIR=$tap_dir/full
mkdir "$TMPDIR"
# in_full COMMAND...: where TMPDIR is a full filesystem; 125 if it cannot be
in_full() {
	status=0
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs -o size=1m none "$TMPDIR" || exit 125
		exec "$@"' sh "$@" > "$tap_dir/stdout" 2> "$tap_dir/stderr" ||
		status=$?
}
in_full "$PAGEDET" kmem report "$tap_dir/round" --by "$by" --json -q
if [ "$status" = 125 ] || grep -q unshare "$tap_dir/stderr"; then
	tap_skip 'no space for the file' 'a tmpfs cannot be mounted here'
else
	expect 'no space for the file: the memory does' 0
	tap_run 'no space for the file: the same' \
		cmp "$tap_dir/plain" "$tap_dir/stdout"
fi
# in_limit COMMAND...: files have 512 KB at most
in_limit() {
	status=0
	# shellcheck disable=SC2016
	sh -c 'ulimit -f 1024; exec "$@"' sh "$@" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" || status=$?
}
export TMPDIR="$tap_dir"
in_limit "$PAGEDET" kmem report "$tap_dir/round" --by "$by" --json -q
expect 'files are limited: the memory does' 0
tap_run 'files are limited: the same' cmp "$tap_dir/plain" "$tap_dir/stdout"
# These are too many for the memory.
if [ "$(df -Pk "$tap_dir" | awk 'NR == 2 { print $4 }')" -gt 1000000 ]; then
	python3 "$top_srcdir/tests/cli/perf-forms.py" round "$perfdata" \
		"$tap_dir/many" 3100
	TMPDIR=$tap_dir/nonexistent
	run kmem report "$tap_dir/many" -q
	expect 'too many events, no directory for the file' 74 \
		"cannot use a temporary file in $TMPDIR: No such file"
	expect 'what helps' 74 'set TMPDIR to a directory with enough space'
	tap_run 'no sums of a part' [ ! -s "$tap_dir/stdout" ]
	TMPDIR=$tap_dir
	in_limit "$PAGEDET" kmem report "$tap_dir/many" -q
	expect 'too many events, files are limited' 74 'File too large'
	rm "$tap_dir/many"
else
	tap_skip 'too many events for the memory' 'needs 1 GB of space'
fi
unset TMPDIR
[ -z "$tmpdir" ] || export TMPDIR="$tmpdir"

# --- what is missing ---

form lost
run kmem report "$tap_dir/lost" --limit 1
expect 'losses are counted once' 2 '1000 events lost by the kernel'
form gap > "$tap_dir/place"
run kmem events "$tap_dir/gap" --text-only --json
expect 'events were lost inside' 2 '700 events lost by the kernel'
tap_run 'they are a row in front of the next event of the processor' \
	python3 - "$tap_dir/place" "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    _, ns, cpu = map(int, f.read().split())
with open(sys.argv[2]) as f:
    rows = [json.loads(line) for line in f]
at = [i for i, r in enumerate(rows) if r["event"] == "lost"]
assert len(at) == 1, at
lost, later = rows[at[0]], rows[at[0] + 1]
assert lost["event_lost"] == 700 and lost["event_cpu"] == cpu, lost
assert lost["event_ns"] == ns and later["event_ns"] == ns, (lost, later)
assert later["event_cpu"] == cpu, later
EOT
pfn=$(sed -n 's/.*"mm_page_alloc".*"pfn":\([0-9]*\),.*/\1/p' \
	"$tap_dir/stdout" | sed -n 1p)
run kmem timeline "$tap_dir/gap" "$pfn" --text-only
stdout_has 'a timeline has it' '700 events lost'
head -c 60000 "$tap_dir/pipe" > "$tap_dir/cut"
run kmem report "$tap_dir/cut" --limit 1
expect 'it was cut' 2 '1 piece of the trace: damaged'
head -c 60000 "$perfdata" > "$tap_dir/cut"
run kmem report "$tap_dir/cut"
expect 'it was cut before the description of its events' 65 \
	'its description of events is damaged'
head -c 50 "$perfdata" > "$tap_dir/cut"
run kmem report "$tap_dir/cut"
expect 'it was cut in its head' 65 'its head is damaged'
form killed
run kmem report "$tap_dir/killed"
expect 'perf was killed' 65 'does not say what its events are'
form sampled
run kmem report "$tap_dir/sampled"
expect 'one event of many' 69 'record it with -c 1'
tap_done
