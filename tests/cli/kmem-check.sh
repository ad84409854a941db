#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests what kmem check finds in captures whose errors are known, and in traces
# with errors that this script makes.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
old=$traces/old

# check NAME TRACE STATUS FINDINGS LOST: FINDINGS are "NAME CPU TIMES VERDICT",
# one after the other, as Python; LOST is the total's
check() {
	run kmem check "$2" --json -q
	if [ "$status" = 69 ]; then
		tap_skip "$1" 'it is compressed, and a library lacks'
		return
	fi
	expect "$1" "$3"
	tap_run "$1: findings" python3 - "$tap_dir/stdout" "$4" "$5" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
total = rows.pop()["total"]
found = [(r["finding"], r["cpu"], r["times"], r["verdict"]) for r in rows]
assert found == eval(sys.argv[2]), found
assert total["lost"] == eval(sys.argv[3]), total
assert total["findings"] == sum(r["verdict"] != "allowed" for r in rows)
assert total["allowed"] == sum(r["verdict"] == "allowed" for r in rows)
for r in rows:
    missing = r.get("missing", {})
    assert (r["times"] is None) == ("times" in missing), r
    assert (r["first"] is None) == ("first" in missing), r
EOT
}

# first NAME NS: the first finding's time
first() {
	tap_run "$1" grep -q "^{[^}]*\"first\":$2," "$tap_dir/stdout"
}

# --- what the captures are known to have ---

family="('family', 0, 1, 'wrong')"
for name in relay-le relay-be relay-tail; do
	check "$name" "$old/$name" 1 "[$family]" 0
done
tap_run 'the release of kmemtrace' grep -q '"release":"2.6"' "$tap_dir/stdout"
check 'a sequence with holes' "$old/relay-lost" 2 \
	"[('family', 0, 1, 'unknown'), ('lost', None, 7, 'unknown')]" 7
check 'pairs that were swapped' "$old/relay-disorder" 1 \
	"[('disorder', 0, 3, 'wrong'), ('family', 0, 1, 'unknown')]" 0
# As kmemtrace_check was used. The others' events are not losses.
check 'one processor' "$old/relay-disorder/cpu0.out" 1 \
	"[('disorder', None, 3, 'wrong'), ('family', None, 1, 'unknown'),
	  ('lost', None, None, 'unknown')]" None
check 'the tracer does not count losses' "$old/ftrace-user-64le.bin" 2 \
	"[('family', 0, 1, 'unknown'), ('lost', None, None, 'unknown')]" None
first 'the time of the first' 3842018700844
check 'no kernel is told' "$old/ftrace-minimalistic.txt.zst" 2 \
	"[('family', None, 1, 'unknown'), ('lost', None, None, 'unknown')]" \
	None

check 'nothing is wrong' "$traces/raw-6.12-x86_64" 0 '[]' 0
run kmem check "$traces/raw-6.12-x86_64"
expect 'nothing is wrong: says so' 0 'nothing is wrong'
check 'Linux 6.18 allows it' "$traces/raw-6.18-x86_64" 0 \
	"[('family', 0, 1, 'allowed')]" 0
first 'it is not a finding: the time' 3842018700844
tap_run 'the site of the allocation' grep -qF \
	'{"site":"mas_new_ma_node.isra.0+0x87","finding":"family"' \
	"$tap_dir/stdout"
check 'a full ring' "$traces/raw-6.18-lost" 2 \
	"[('family', 0, 1, 'allowed'), ('lost', 0, 1104, 'unknown')]" 1104
check 'nobody counted' "$traces/tracedat/g612.v6.dat" 2 \
	"[('lost', 0, None, 'unknown'), ('lost', 1, None, 'unknown')]" None
check 'a perf.data' "$traces/perfdata/slabpage.data" 0 '[]' 0
tap_run 'a perf.data: the release' grep -q '"release":"6.18.44-' \
	"$tap_dir/stdout"
for form in pipe; do
	python3 "$top_srcdir/tests/cli/perf-forms.py" "$form" \
		"$traces/perfdata/slabpage.data" "$tap_dir/$form"
	run kmem check "$tap_dir/$form" --json -q
	# This form lacks the features of the file.
	tap_run 'a pipe of perf: no release is made up' grep -q \
		'"release":null' "$tap_dir/stdout"
done

# --- in text ---

# line CPU SECONDS EVENT...
line() {
	printf ' task-9   [%03d] ..... %s: %s: ' "$1" "$2" "$3"
	shift 3
	printf '%s\n' "$*"
}

alloc='call_site=load_msg+0x41/0x90 ptr=00000000abcdef01 bytes_req=100'
{
	printf '# tracer: nop\n#\n'
	printf '# entries-in-buffer/entries-written: 4/4   #P:2\n'
	line 0 1.000000 kmalloc "$alloc" bytes_alloc=64 gfp_flags=GFP_KERNEL \
		node=-1 accounted=false
	line 0 2.000000 kfree call_site=free_msg+0x1/0x9 ptr=00000000abcdef01
	line 0 1.500000 kmalloc "$alloc" bytes_alloc=128 gfp_flags=GFP_KERNEL \
		node=-1 accounted=false
	line 1 3.000000 kfree call_site=free_msg+0x1/0x9 ptr=00000000abcdef01
} > "$tap_dir/text"
check 'too few bytes, and disorder' "$tap_dir/text" 1 \
	"[('disorder', None, 1, 'wrong'), ('too_small', 0, 1, 'wrong')]" 0
tap_run 'disorder: the time' grep -q '"disorder".*"first":1500000000,' \
	"$tap_dir/stdout"
tap_run 'too few bytes: the time' grep -q '"too_small".*"first":1000000000,' \
	"$tap_dir/stdout"
sed 's/^# entries.*/CPU:1 [LOST 12 EVENTS]/' "$tap_dir/text" > "$tap_dir/lost"
run kmem check "$tap_dir/lost" --json -q
tap_run 'a loss, and nobody counted those behind the end' grep -q \
	'"finding":"lost","cpu":null,"times":null,"first":null,' \
	"$tap_dir/stdout"
{
	sed -n '1,5p' "$tap_dir/text"
	echo 'CPU:1 [LOST 12 EVENTS]'
	sed -n '7p' "$tap_dir/text"
} > "$tap_dir/lost"
run kmem check "$tap_dir/lost" --json -q
tap_run 'a loss: the event in front of it' grep -q \
	'"finding":"lost","cpu":null,"times":12,"first":2000000000,' \
	"$tap_dir/stdout"

# --- forms ---

run kmem check "$old/relay-disorder" --format csv -q
tap_run 'CSV: the head' grep -qx 'site,finding,cpu,times,first,verdict' \
	"$tap_dir/stdout"
tap_run 'CSV: a row' grep -qx ',disorder,0,3,[0-9]*,wrong' "$tap_dir/stdout"
run kmem check "$old/ftrace-user-64le.bin"
tap_run 'text: seconds' grep -q 'family    0         1     3842.018700844' \
	"$tap_dir/stdout"
tap_run 'text: an unknown number' grep -q 'lost    -         ?  ' \
	"$tap_dir/stdout"

line 0 1.000000 kmalloc "$alloc" bytes_alloc=128 gfp_flags=GFP_KERNEL \
	node=-1 accounted=false |
	awk '{ for (i = 0; i < 100000; i++) print }' > "$tap_dir/long"
run kmem check "$tap_dir/long" --deadline 0.000001
expect 'a part of it' 2 'the deadline passed'
run kmem check "$old/relay-le" --format svg
expect 'a picture' 64 "there is no format 'svg'"
run kmem check
expect 'no trace' 64 'lacks a trace'
run kmem check "$old/relay-le" "$old/relay-be"
expect 'two traces' 64 'too many'
run kmem check "$old/relay-le" --by cpu
expect 'an option of others' 64 '--by has no meaning'
run kmem check "$old/relay-le" --top 1
expect 'a bound' 64 'have no meaning'
run kmem check "$tap_dir/nothing"
expect 'no such file' 66 'cannot open'
echo text > "$tap_dir/other"
run kmem check "$tap_dir/other"
expect 'another file' 65 'is not a trace'
tap_done
