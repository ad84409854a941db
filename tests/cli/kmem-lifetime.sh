#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests groups by lifetime and by slice of time: with a trace whose lifetimes
# are written down here, and against the sums without them.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces

# event TIME NAME REST
event() {
	printf '%16s-%-7d [000] ..... %12s: %s: %s\n' sh 7 "$@"
}
# alloc TIME PTR BYTES; release TIME PTR
alloc() {
	event "$1" kmalloc "call_site=f+0x1/0x9 ptr=$2 bytes_req=$3 \
bytes_alloc=64 gfp_flags=GFP_KERNEL node=-1 accounted=false"
}
release() {
	event "$1" kfree "call_site=g+0x2/0x9 ptr=$2"
}
p=ffff88810000
{
	echo '# tracer: nop'
	echo '# entries-in-buffer/entries-written: 11/11   #P:1'
	alloc 5.000000 ${p}1000 10
	release 5.000001 ${p}1000	# 1000 ns
	alloc 5.000010 ${p}2000 20
	release 5.000011 ${p}2000	# 1000 ns
	alloc 5.000020 ${p}3000 30
	release 5.000024 ${p}3000	# 4000 ns
	alloc 6.000000 ${p}3000 40
	alloc 6.000001 ${p}3000 50	# the free of the one before is missing
	alloc 6.000002 ${p}4000 60
	release 6.000002 ${p}4000	# 0 ns
	alloc 7.500000 0000000000000000 70
} > "$tap_dir/text"

run kmem report "$tap_dir/text" --by lifetime --sort lifetime --format csv -q
expect 'by lifetime' 0
cut -d, -f1-3,7-9 "$tap_dir/stdout" > "$tap_dir/cut"
cat > "$tap_dir/want" <<'EOT2'
lifetime,times,requested,freed,live,live_bytes
0,1,60,1,0,0
512,2,30,2,0,0
2048,1,30,1,0,0
,1,50,0,1,64
?unsupported,1,40,0,0,0
EOT2
tap_run 'what lived how long' diff "$tap_dir/want" "$tap_dir/cut"
run kmem report "$tap_dir/text" --by lifetime --json -q
tap_run 'what has no free' grep -q \
	'"lifetime":null,"times":1,.*"replaced":1,.*"missing":{"lifetime"' \
	"$tap_dir/stdout"
tap_run 'the total' grep -q \
	'"total":{"times":6,.*"freed":4,.*"groups":5,' \
	"$tap_dir/stdout"

run kmem report "$tap_dir/text" --by window --sort window --format csv -q
cut -d, -f1-3,8 "$tap_dir/stdout" > "$tap_dir/cut"
printf '%s\n' window,times,requested,live 0,3,60,0 1000000000,3,150,1 \
	2000000000,0,0,0 > "$tap_dir/want"
tap_run 'slices of a second' diff "$tap_dir/want" "$tap_dir/cut"
run kmem report "$tap_dir/text" --by window --window 0.00001 --sort window \
	--format csv -q
tap_run 'shorter ones' sh -c 'cut -d, -f1,2 "$1" | head -4 | tr "\n" " " |
	grep -q "^window,times 0,1 10000,1 20000,1 $"' sh "$tap_dir/stdout"
sed 's/\( [0-9]*\)\.\([0-9]*\): k/\1\2: k/' "$tap_dir/text" \
	> "$tap_dir/counts"
run kmem report "$tap_dir/counts" --by lifetime,window --json -q
tap_run 'times that are not ns' sh -c '! grep -q "\"lifetime\":[0-9]" "$1" &&
	! grep -q "\"window\":[0-9]" "$1"' sh "$tap_dir/stdout"

# --- over a loss ---

# on CPU: the next events are of this processor
on() {
	sed "s/\[000\]/[00$1]/"
}
{
	alloc 1.000000 ${p}1000 10
	alloc 1.000001 ${p}2000 10
	release 1.000002 ${p}2000	# 1000 ns, in front of the loss
	alloc 1.000003 ${p}3000 10
	echo 'CPU:0 [LOST 12 EVENTS]'
	release 5.000000 ${p}1000	# not known
	alloc 5.000001 ${p}4000 10
	release 5.000002 ${p}4000	# 1000 ns, behind it
} > "$tap_dir/lossy"
run kmem report "$tap_dir/lossy" --by lifetime --sort lifetime --format csv -q
cut -d, -f1-3,7-9 "$tap_dir/stdout" > "$tap_dir/cut"
cat > "$tap_dir/want" <<'EOT2'
lifetime,times,requested,freed,live,live_bytes
512,2,20,2,0,0
,1,10,0,1,64
?unsupported,1,10,1,0,0
EOT2
tap_run 'a free behind a loss has no lifetime' diff "$tap_dir/want" \
	"$tap_dir/cut"
run kmem report "$tap_dir/lossy" --json -q
tap_run 'a free behind a loss: the sums' grep -q \
	'"total":{.*"lifetime_ns":2000,"lifetime_unknown":1,' "$tap_dir/stdout"
run kmem report "$tap_dir/lossy"
expect 'a free behind a loss: it is said' 2 \
	'1 object freed whose lifetime is not known: events were lost meanwhile'
# It begins with an event of its processor, and is told when all others behind
# that were read.
{
	alloc 1.000000 ${p}5000 10 | on 1
	release 1.000001 ${p}5000 | on 1	# 1000 ns
	alloc 1.000002 ${p}6000 10 | on 1	# the loss begins
	alloc 1.100000 ${p}1000 10
	for i in $(seq 100000); do
		printf ' sh-7 [000] ..... 2.%06d: kfree: %s\n' "$i" \
			"call_site=g+0x2/0x9 ptr=ffff999900000000"
	done
	release 3.000000 ${p}1000	# not known
	echo 'CPU:1 [LOST 12 EVENTS]'
	release 5.000000 ${p}6000 | on 1	# not known
} > "$tap_dir/late"
run kmem report "$tap_dir/late" --by lifetime --sort lifetime --format csv -q
cut -d, -f1-3,7-9 "$tap_dir/stdout" > "$tap_dir/cut"
cat > "$tap_dir/want" <<'EOT2'
lifetime,times,requested,freed,live,live_bytes
512,1,10,1,0,0
?unsupported,2,20,2,0,0
EOT2
tap_run 'a loss that another processor tells later' diff "$tap_dir/want" \
	"$tap_dir/cut"
# More pairs than are remembered.
sed 's/^CPU:1.*//; /call_site=g.*999/d' "$tap_dir/late" > "$tap_dir/many"
{
	sed '$d' "$tap_dir/many"
	for i in $(seq 10000); do
		printf ' sh-7 [000] ..... 4.%06d: kmalloc: %s %s\n' "$i" \
			"call_site=f+0x1/0x9 ptr=${p}7000 bytes_req=1" \
			'bytes_alloc=8 gfp_flags=GFP_KERNEL node=-1'
		printf ' sh-7 [000] ..... 4.%06d: kfree: %s\n' "$i" \
			"call_site=g+0x2/0x9 ptr=${p}7000"
	done
	for i in $(seq 100000); do
		printf ' sh-7 [000] ..... 4.9%05d: kfree: %s\n' "$i" \
			"call_site=g+0x2/0x9 ptr=ffff999900000000"
	done
	echo 'CPU:1 [LOST 12 EVENTS]'
	release 5.000000 ${p}6000 | on 1
} | grep . > "$tap_dir/late"
run kmem report "$tap_dir/late" --by lifetime --sort lifetime --format csv -q
tap_run 'nor is any of them made up' sh -c 'cut -d, -f1,2,7 "$1" |
	tr "\n" " " | grep -qx "lifetime,times,freed ?unsupported,10003,10003 "' \
	sh "$tap_dir/stdout"
run kmem report "$tap_dir/late" --json -q
tap_run 'nor in the sums' grep -q \
	'"total":{.*"lifetime_ns":null,"lifetime_unknown":10003,' \
	"$tap_dir/stdout"

# --- the same sums, divided ---

for trace in raw-6.12-x86_64 raw-6.18-x86_64 perfdata/slabpage.data; do
	run kmem report "$traces/$trace" --by site,family --page-size 4096 \
		--json -q
	mv "$tap_dir/stdout" "$tap_dir/whole"
	run kmem report "$traces/$trace" --by site,lifetime,family,window \
		--window 0.01 --page-size 4096 --json -q
	tap_run "$trace: the same sums" python3 - "$tap_dir/whole" \
		"$tap_dir/stdout" <<'EOT2'
import collections
import json
import sys

def read(path):
    with open(path) as f:
        lines = [json.loads(line) for line in f]
    sums = collections.defaultdict(collections.Counter)
    for g in lines[:-1]:
        for k, v in g.items():
            if isinstance(v, int) and k not in ("lifetime", "window"):
                sums[g["site"], g["family"]][k] += v
    return lines[:-1], {k: dict(v) for k, v in sums.items()}, lines[-1]

groups, whole, total = read(sys.argv[1])
parts, divided, total_parts = read(sys.argv[2])
assert whole == divided
assert len(parts) > len(groups) + 10
for g in parts:
    assert g["times"] or g["failed"] or g["page_times"], g
    n = g["lifetime"]
    if n is None and "lifetime" not in g.get("missing", {}):
        assert g["times"] == g["live"], g
    elif n is None:
        assert g["times"] == g["replaced"], g
    else:
        assert g["times"] == g["freed"], g
        assert n * g["times"] <= g["lifetime_ns"] <= max(1, 2 * n) * g["times"]
        assert n & (n - 1) == 0
for total in total, total_parts:
    del total["total"]["groups"]
assert total == total_parts
EOT2
done

# --- for plots ---

for keys in bytes_req lifetime site,lifetime; do
	run kmem report "$traces/raw-6.18-x86_64" --by $keys --sort $keys \
		--format csv -q
	tap_run "by $keys: a data set" python3 - "$tap_dir/stdout" $keys <<'EOT2'
import csv
import sys

keys = sys.argv[2].split(",")
with open(sys.argv[1]) as f:
    rows = list(csv.DictReader(f))
assert len(rows) > 5 and list(rows[0])[:len(keys)] == keys
numbers = [int(r[keys[-1]]) for r in rows if r[keys[-1]].isdigit()]
assert len(numbers) >= len(rows) / 2
assert "site" in keys or numbers == sorted(numbers)
for row in rows:
    for name in "times", "live", "live_bytes", "lifetime_ns":
        assert row[name].isdigit() or row[name] == "?unsupported"
EOT2
done
tap_done
