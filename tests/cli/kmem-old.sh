#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests traces of kmemtrace: the files of relay, and those of the tracer of Linux
# 2.6.29 to 2.6.35. Another program has counted the events that they were made
# of (kmemtrace-expected.json).
. "$top_srcdir/tests/cli/cli.sh"

old=$top_srcdir/tests/fixtures/traces/old

# sums NAME TRACE BITS: all are as expected; addresses have BITS
sums() {
	run kmem report "$2" --json -q
	if [ "$status" = 69 ]; then
		tap_skip "$1" 'it is compressed, and a library lacks'
		return
	fi
	tap_run "$1" python3 - "$old/kmemtrace-expected.json" \
		"$tap_dir/stdout" "$3" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    truth = json.load(f)["truth"]
with open(sys.argv[2]) as f:
    groups = [json.loads(line) for line in f]
total = groups.pop()["total"]
bits = int(sys.argv[3])
for name, key in (("allocs", "times"), ("bytes_req", "requested"),
                  ("bytes_alloc", "allocated"), ("live", "live"),
                  ("live_bytes", "live_bytes"),
                  ("freed_unknown", "freed_unknown"),
                  ("mismatched_family", "mismatched")):
    assert total[key] == truth[name], (key, total[key], truth[name])
assert total["freed"] + total["freed_unknown"] == truth["frees"]
assert total["events"] == truth["allocs"] + truth["frees"]
assert not total["lost"] and not total["damaged"] and not total["disorder"]
if bits:
    assert total["cross_cpu"] == truth["cross_cpu"]
    by_site = {int(g["site"], 16): g for g in groups}
    for top in truth["top"]:
        g = by_site[int(top["addr"], 16) & ((1 << bits) - 1)]
        for key in "times", "requested", "allocated":
            assert g[key] == top[key], (key, top, g)
else:
    # It has neither processors nor times, and says so.
    assert total["cross_cpu"] is None and total["lifetime_ns"] is None
    assert total["missing"]["cross_cpu"] == "unsupported"
    assert any(g["site"] == "load_msg+0x41" for g in groups)
PY
}

for name in relay-le relay-be relay-tail; do
	sums "$name" "$old/$name" 64
	expect "$name: nothing is missing" 0
done
for name in 64le 64be 32le; do
	case $name in
	32*) sums "tracer, $name" "$old/ftrace-user-$name.bin" 32 ;;
	*) sums "tracer, $name" "$old/ftrace-user-$name.bin" 64 ;;
	esac
	# Nothing in it counts what was lost.
	expect "tracer, $name: perhaps more is missing" 2
done
sums 'minimalistic' "$old/ftrace-minimalistic.txt.zst" 0

# --- what is missing ---

# total WORDS NAME: the total has them
total() {
	tap_run "$2" grep -qF -e "$1" "$tap_dir/stdout"
}
run kmem report "$old/relay-lost" --json
expect 'a sequence with holes' 2 '7 events lost'
total '"lost":7,' 'a sequence with holes: how many'
run kmem report "$old/relay-disorder" --json
expect 'pairs that were swapped' 2 '3 events out of order'
total '"lost":0,' 'pairs that were swapped: nothing was lost'
total '"times":598,' 'pairs that were swapped: all events count'

# cut BYTES: of the file of the first processor
cut_to() {
	rm -rf "$tap_dir/cut"
	mkdir "$tap_dir/cut"
	head -c "$1" "$old/relay-le/cpu0.out" > "$tap_dir/cut/cpu0.out"
	cp "$old/relay-le/cpu1.out" "$tap_dir/cut"
}
cut_to 40880
run kmem report "$tap_dir/cut" --json
expect 'a file that was cut' 2 'the trace was cut'
total '"cut_bytes":16,' 'a file that was cut: how many bytes'
cut_to 4800
dd if=/dev/zero bs=64 count=1 >> "$tap_dir/cut/cpu0.out" 2> /dev/null
run kmem report "$tap_dir/cut" --json
expect 'bytes that are not a record' 2 'damaged'
total '"damaged":1,' 'bytes that are not a record: the rest is not made up'
cut_to 0
run kmem report "$tap_dir/cut" --json
expect 'a processor without events: the sequence tells' 2 '35 events lost'
echo text > "$tap_dir/cut/cpu1.out"
run kmem report "$tap_dir/cut"
expect 'another file' 65 'has no records of kmemtrace'
: > "$tap_dir/cut/cpu1.out"
run kmem report "$tap_dir/cut"
expect 'no events at all' 2 'has no events'

# --- rows ---

run kmem live "$old/relay-le" --json --text-only -q
tap_run 'live objects' test "$(grep -c alloc_bytes "$tap_dir/stdout")" = 115
run kmem live "$old/ftrace-minimalistic.txt.zst" --json --text-only -q \
	--fields vaddr,alloc_cpu,alloc_bytes
if [ "$status" != 69 ]; then
	tap_run 'processors are not made up' test "$(grep -c \
		'"alloc_cpu":"unsupported"' "$tap_dir/stdout")" = 115
fi
run kmem report "$old/relay-le" --kallsyms \
	"$top_srcdir/tests/fixtures/traces/raw-6.18-x86_64/kallsyms" --json -q
tap_run 'names' grep -q '"site":"load_msg+0x41","times":287,' "$tap_dir/stdout"
tap_done
