#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what 'kmem record --totals' refuses, and the form of what it says. Whether
# its sums are true is tested by tests/live/kmem, which knows the truth.
. "$top_srcdir/tests/cli/cli.sh"

# --- refused before anything is summed up ---

for option in '--before x' '--kallsyms x' '--flame x' --folded '--window 1' \
	'--page-size 4k' '--from x' '--vmlinux x' '--instance x'; do
	name=${option%% *}
	# The word is an option and its value.
	# shellcheck disable=SC2086
	run kmem record --totals $option --for 0.1
	expect "no $name" 64 "$name has no meaning"
done
run kmem record --verify --for 0.1
expect 'events are verified later' 64 "'kmem report FILE --verify' does"
run kmem record --totals --verify --for 0.1
expect 'what is live must be known' 64 '--verify needs --frees'
run kmem record --boot --verify
expect 'no verification from boot on' 64 '--verify has no meaning'
run kmem record --totals --frees --sort verified_live --for 0.1
expect 'not verified' 64 'of these groups; with --verify it is'
run kmem record --totals --where family=page --for 0.1
expect 'no filter' 64 'takes no --where'
run kmem record --totals --format arrow --for 0.1
expect 'no Arrow' 64 '--format must be text, json or csv'
run kmem record --totals --fields pfn --for 0.1
expect 'no fields' 64 'takes no --fields'
run kmem record --totals --for 1 -- true
expect 'a time and a program' 64 'exclude each other'
run kmem record --totals --boot
expect 'not from boot on' 64 '--totals has no meaning'
run kmem report --totals x
expect 'not of a trace' 64 "--totals is an option of 'kmem record'"
run kmem report --frees x
expect 'frees: not of a trace' 64 "--frees is an option of 'kmem record'"
run kmem record --frees --for 0.1
expect 'frees of totals only' 64 '--frees needs --totals'
run kmem record --frees --boot
expect 'no frees from boot on' 64 '--frees has no meaning'
for n in 0 -1 x 16777217 99999999999999999999; do
	run kmem record --totals --frees=$n --for 0.1
	expect "not $n live objects" 64 "--frees: '$n'"
done
run kmem record --totals --frees --sort lifetime_ns --for 0.1
expect 'not by lifetimes' 64 "--sort: 'lifetime_ns' is not a sum of totals"
run kmem record --totals --by none --for 0.1
expect 'no such key' 64 "grouped by 'none'"
run kmem record --totals --by cpu --sort live --for 0.1
expect 'not by what is live' 64 'of these groups; with --frees it is'
run kmem record --totals --by cpu --sort site --for 0.1
expect 'nor by a key that they do not have' 64 "--sort: 'site'"
run kmem record --totals -o "$tap_dir/none/x" --for 0.1
expect 'no such directory' 66 'none/x'
for key in comm lifetime window; do
	run kmem record --totals --by $key --for 0.1
	expect "not by $key" 64 "cannot sum up by '$key'"
done
run kmem record --totals --by site,cpu,site --for 0.1
expect 'a key twice' 64 'the key site is there twice'

# --- sums ---

# Recorders of this machine are counted.
tap_lock kmem

run kmem record --totals --by family,cpu --json -o "$tap_dir/groups" -- \
	sh -c 'exit 3'
case $status in
69 | 77)
	expect 'says why it cannot' "$status" 'cannot sum up allocations'
	tap_run 'and leaves no file' [ ! -e "$tap_dir/groups" ]
	tap_skip 'sums' 'allocations cannot be summed up here'
	tap_done
	exit
	;;
esac
tap_run 'the program has ended' grep -q \
	'^pagedet: the program ended with status 3$' "$tap_dir/stderr"
tap_run 'what is not known is said' grep -q \
	'^pagedet: what is freed and live is not known' "$tap_dir/stderr"
tap_run 'groups' python3 - "$tap_dir/groups" "$status" <<'EOT'
import json
import sys

unknown = {"freed", "live", "live_bytes", "replaced", "cross_cpu",
           "mismatched", "less", "lifetime_ns"}
with open(sys.argv[1]) as f:
    *rows, last = map(json.loads, f)
total = last["total"]
assert rows and len(rows) == total["groups"], total
for row in rows + [total]:
    assert all(row[key] is None for key in unknown), row
    assert unknown <= set(row["missing"]), row
    assert row["allocated"] >= row["requested"] > 0, row
assert {row["family"] for row in rows} == {"kmalloc", "cache"}, rows
for key in "times", "requested", "allocated", "failed":
    assert sum(row[key] for row in rows) == total[key], (key, total)
assert total["all_events"] == total["times"] + total["failed"], total
assert total["events"]["kmalloc"] + total["events"]["kmem_cache_alloc"] == \
    total["all_events"] and total["events"]["kfree"] is None, total
assert total["disorder"] is None and total["freed_unknown"] is None, total
lossy = total["lost"] or total["uncounted"]
assert sys.argv[2] == ("2" if lossy else "0"), (sys.argv, total)
EOT
run kmem record --totals --by family,order --pages --format csv -q -- \
	sh -c 'ls / > /dev/null'
tap_run 'pages, as CSV' python3 - "$tap_dir/stdout" <<'EOT'
import csv
import os
import sys

with open(sys.argv[1]) as f:
    rows = list(csv.DictReader(f))
assert rows
pages = [row for row in rows if row["family"] == "page"]
size = os.sysconf("SC_PAGESIZE")
for row in pages:
    assert int(row["page_allocated"]) == \
        int(row["page_times"]) * size << int(row["order"]), row
assert all(row["live"] == "?unsupported" for row in rows), rows[:1]
EOT
# A program of BPF has its tag in its name. Other processes may be in
# bpf_prog_test_run_syscall().
own='bpf_prog_[0-9a-f]{16}|bpf_trace_run'
run kmem record --totals --stacks --top 2 -q -- true
tap_run 'stacks do not have the recorder' sh -c \
	"grep -q 'stack\$' '$tap_dir/stdout' &&
	 ! grep -Eq '$own' '$tap_dir/stdout'"

# --- with frees ---

run kmem record --totals --frees --by family,cpu --sort live,-freed --json \
	-o "$tap_dir/groups" -- true
tap_run 'frees' python3 - "$tap_dir/groups" "$status" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    *rows, last = map(json.loads, f)
total = last["total"]
for row in rows + [total]:
    assert row["times"] == row["freed"] + row["live"] + row["replaced"], row
    assert row["live_bytes"] <= row["allocated"], row
    assert row["cross_cpu"] <= row["freed"] >= row["mismatched"], row
    assert row["untracked"] == 0, row
    assert row["lifetime_ns"] is None and row["less"] is None, row
live = [row["live"] for row in rows]
assert live == sorted(live, reverse=True), live
assert {row["family"] for row in rows} == {"kmalloc", "cache"}, rows
for key in "times", "freed", "live", "live_bytes", "cross_cpu", "replaced":
    assert sum(row[key] for row in rows) == total[key], (key, total)
assert total["freed"] > 0 and total["freed_unknown"] is not None, total
lossy = total["lost"] or total["uncounted"]
assert sys.argv[2] == ("2" if lossy else "0"), (sys.argv, total)
EOT
run kmem record --totals --frees --pages --by family,order --format csv -q -- \
	sh -c 'ls / > /dev/null'
tap_run 'frees of pages' python3 - "$tap_dir/stdout" <<'EOT'
import csv
import sys

with open(sys.argv[1]) as f:
    rows = [row for row in csv.DictReader(f) if row["family"] == "page"]
rows = [{k[5:]: int(v) for k, v in row.items()
         if k.startswith("page_") and v.isdigit()} for row in rows]
assert sum(row["freed"] for row in rows) > 0, rows
for row in rows:
    ends = [row[k] for k in ("freed", "replaced", "live", "untracked")]
    assert sum(ends) == row["times"], row
    assert row["live_bytes"] * row["times"] == \
        row["allocated"] * row["live"], row
EOT
run kmem record --totals --frees --stacks --top 2 -q -- true
tap_run 'stacks of frees do not have the recorder' sh -c \
	"grep -q 'stack\$' '$tap_dir/stdout' &&
	 ! grep -Eq '$own' '$tap_dir/stdout'"
run kmem record --totals --frees=4 --by family -- ls /
expect 'few have room' 2 'objects had room for 4; --frees='
tap_run 'and what they say is a part' sh -c \
	"grep -q '[0-9]+ .*total of' '$tap_dir/stdout' &&
	 grep -q 'live_bytes, replaced, cross_cpu and mismatched are at least' \
		 '$tap_dir/stderr' &&
	 ! grep -q 'freed whose' '$tap_dir/stderr'"

# --- a table that is full ---

# Each program is another thread; a sum for each site of each of them has no room.
run kmem record --totals --buffer 64k --by site,bytes_req,tid --json \
	-o "$tap_dir/full" -- \
	sh -c 'n=0; while [ $n -lt 200 ]; do n=$((n + 1)); /bin/true; done'
expect 'a table that is full' 2 '--buffer 128K makes it larger'
tap_run 'what it lost is counted' sh -c \
	"tail -n 1 '$tap_dir/full' | grep -q '\"lost\":[1-9]'"
run kmem record --totals -q -- "$tap_dir/no-such-program"
expect 'no such program' 66 "no-such-program': No such file"
# A background job may ignore SIGINT.
# shellcheck disable=SC2016
run kmem record --totals --top 1 -- sh -c 'kill -TERM $PPID; sleep 60'
tap_run 'a signal ends it, and it answers' grep -q 'total of' "$tap_dir/stdout"

# --- verified after what has ended it ---

# kept NAME PROGRAM [OPTION...]: the sums are there, and verified
kept() {
	kept=$1 program=$2
	shift 2
	rm -f "$tap_dir/begun"
	run kmem record --totals --frees --verify --by family --json "$@" -- \
		sh -c ": > '$tap_dir/begun'; $program"
	if [ ! -e "$tap_dir/begun" ]; then
		tap_skip "$kept" 'the deadline passed before it began'
		return
	fi
	tap_run "$kept: it answers" test "$status" = 0 -o "$status" = 2
	tap_run "$kept: and that is verified" sh -c \
		"tail -n 1 '$tap_dir/stdout' | grep -q '\"verified_live\":[0-9]'"
}
run kmem record --totals --frees --verify --by family -- true
if [ "$status" -gt 2 ]; then
	tap_skip 'a signal, verified' \
		"the kernel cannot be asked: $(head -n 1 "$tap_dir/stderr")"
else
	# shellcheck disable=SC2016
	kept 'a signal' 'kill -TERM $PPID; sleep 60'
	kept 'the deadline' 'sleep 60' --deadline 2
fi
tap_done
