#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests comparisons of two traces of allocations: against the reports of each of
# them, and with addresses that another boot has elsewhere.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
new=$traces/raw-6.18-x86_64
old=$traces/raw-6.12-x86_64
perfdata=$traces/perfdata/slabpage.data

# --- against two reports ---

for keys in function family,bytes_req cpu; do
	for trace in old new; do
		eval "run kmem report \$$trace --page-size 4096 --by $keys --json -q"
		mv "$tap_dir/stdout" "$tap_dir/$trace"
	done
	run kmem diff "$old" "$new" --page-size 4096 --by $keys --json -q
	expect "by $keys" 0
	mv "$tap_dir/stdout" "$tap_dir/diff"
	tap_run "by $keys: the sums of both" python3 - "$tap_dir" $keys <<'PY'
import json
import sys

def read(name):
    with open(sys.argv[1] + "/" + name) as f:
        lines = [json.loads(line) for line in f]
    keys = sys.argv[2].split(",")
    return ([(tuple(g[k] for k in keys), g) for g in lines[:-1]],
            lines[-1]["total"])

old, old_total = read("old")
new, new_total = read("new")
both, total = read("diff")
names = "times", "allocated", "waste", "live", "live_bytes", "page_times", \
    "page_allocated", "page_live", "page_live_bytes"
none = dict.fromkeys(names, 0)
was, now = dict(old), dict(new)
assert {k for k, _ in both} == set(was) | set(now)
assert len(both) == len(set(was) | set(now)) == total["groups"]
assert set(was) - set(now) or "cpu" in sys.argv[2] or "," in sys.argv[2]
for key, g in both:
    for n in names:
        a, b = was.get(key, none)[n], now.get(key, none)[n]
        assert (g[n + "_before"], g[n], g[n + "_grown"]) == (a, b, b - a), g
for n in names:
    assert total[n] == new_total[n] and total[n + "_before"] == old_total[n]
assert total["begin_before_ns"] == old_total["begin_ns"]
assert total["end_before_ns"] == old_total["end_ns"]
grown = [g["live_bytes_grown"] + g["page_live_bytes_grown"] for _, g in both]
assert grown == sorted(grown, reverse=True)
assert min(grown) < 0 < max(grown) or sys.argv[2] == "cpu"
PY
done
run kmem report "$new" --before "$old" --page-size 4096 --by cpu --json -q
tap_run 'report --before is the same' cmp "$tap_dir/diff" "$tap_dir/stdout"
run kmem diff "$old" "$new" --by function --limit 2
expect 'both lengths are said' 0 'before: 0.548 s, 2035 allocations and'
tap_run 'and what each trace lacks' grep -q 'the trace before, .*raw-6.12' \
	"$tap_dir/stderr"
stdout_has 'a table' '     times   grown by  allocated   grown by      waste '
tap_run 'with signs' grep -q '^ *[0-9]* *[+-][0-9]* ' "$tap_dir/stdout"
run kmem diff "$old" "$new" --by family --format csv -q --sort family
tap_run 'as CSV' grep -q '^family,times,times_before,times_grown,requested,' \
	"$tap_dir/stdout"
tap_run 'bytes of pages are not known' \
	grep -q '^page,.*,?unsupported,?unsupported,?unsupported,' \
	"$tap_dir/stdout"

# --- order ---

for order in times_grown -times_grown allocated_before waste_grown; do
	run kmem diff "$old" "$new" --by function --page-size 4096 \
		--sort "$order" --json -q
	tap_run "--sort $order" python3 - "$tap_dir/stdout" "$order" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    groups = [json.loads(line) for line in f][:-1]
key = sys.argv[2].lstrip("-")
values = [g[key] for g in groups]
assert values == sorted(values, reverse=sys.argv[2][0] != "-"), values
PY
done
run kmem report "$new" --sort times_grown
expect 'nothing to compare with' 64 "cannot sort by 'times_grown'"

# --- the same events in two forms ---

run kmem diff "$old" "$traces/tracedat/g612.v6.dat" --by site,tid,cpu \
	--page-size 4096 --json -q
expect 'two forms of one trace, one without a count of losses' 2
tap_run 'nothing has grown' python3 - "$tap_dir/stdout" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    groups = [json.loads(line) for line in f][:-1]
assert len(groups) > 50
for g in groups:
    assert not any(v for k, v in g.items() if k.endswith("_grown")), g
PY

# --- addresses without names ---

cp -r "$old" "$tap_dir/nameless"
chmod -R u+w "$tap_dir/nameless"
mv "$tap_dir/nameless/kallsyms" "$tap_dir/names"
run kmem diff "$tap_dir/nameless" "$tap_dir/nameless" --json
expect 'they may be of two boots' 0 'groups of the trace before not matched'
tap_run 'an address now' grep -q \
	'"site":"0xffffffff815d11e5","times":[1-9][0-9]*,"times_before":0,' \
	"$tap_dir/stdout"
tap_run 'and one before' grep -q \
	'"site":"0xffffffff815d11e5 (before)","times":0,"times_before":[1-9]' \
	"$tap_dir/stdout"
run kmem diff "$tap_dir/nameless" "$tap_dir/nameless" --by site \
	--kallsyms "$tap_dir/names" --kallsyms-before "$tap_dir/names" --json -q
tap_run 'names of both' sh -c '! grep -q "(before)" "$1" &&
	grep -q "\"site\":\"load_msg+0x45\",.*\"times_grown\":0," "$1"' sh \
	"$tap_dir/stdout"
run kmem diff "$perfdata" "$perfdata" --json
expect 'one place of the kernel in both' 0 'now: 0.034 s'
tap_run 'its addresses match' sh -c '! grep -q "(before)" "$1" &&
	grep -q "\"site\":\"0xffffffff81a65581\",\"times\":288,\"times_before\":288," \
		"$1"' sh "$tap_dir/stdout"

# --- what is missing ---

run kmem diff "$traces/raw-6.18-lost" "$new" --by family
expect 'losses before' 2 '1104 events lost by the kernel'
run kmem diff "$new" "$traces/raw-6.18-lost" --by family -q
expect 'losses now' 2
run kmem diff "$new" "$tap_dir/not-there"
expect 'no such trace' 66 'not-there'
run kmem diff "$tap_dir/not-there" "$new"
expect 'no such trace before' 66 'not-there'

# --- usage ---

run kmem diff "$old"
expect 'one trace' 64 'takes an earlier one and a later one'
run kmem diff "$old" "$new" --before "$old"
expect 'two earlier ones' 64 'takes no --before'
run kmem report "$old" "$new"
expect 'two traces for report' 64 "'kmem diff OLD NEW' compares two"
run kmem report "$old" --kallsyms-before "$tap_dir/names"
expect 'names of nothing' 64 'needs --before'
run kmem diff - -
expect 'standard input twice' 64 'only one trace can be read'
# --- pages in one of them only ---

line='a-1 [000] ..... 1.000000: kmalloc: call_site=f+0x1/0x2 ptr=ffff888100000040 bytes_req=8 bytes_alloc=8 gfp_flags=GFP_KERNEL node=-1 accounted=false'
page='a-1 [000] ..... 1.000001: mm_page_alloc: page=0x1b6605 pfn=0x1b6605 order=3 migratetype=0 gfp_flags=GFP_KERNEL'
echo "$line" > "$tap_dir/objects"
{
	echo "$line"
	echo "$page"
} > "$tap_dir/pages"
run kmem diff "$tap_dir/objects" "$tap_dir/pages" --page-size 4096
expect 'pages in the second one only' 2 'pages seem to grow, and that was not'
run kmem diff "$tap_dir/pages" "$tap_dir/objects" --page-size 4096
expect 'pages in the first one only' 2 'pages seem to shrink, and that was not'
for trace in pages objects; do
	run kmem diff "$tap_dir/$trace" "$tap_dir/$trace" --page-size 4096
	tap_run "both have $trace: nothing is told" \
		sh -c '! grep "pages seem" "$1"' sh "$tap_dir/stderr"
done
tap_done
