#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests traces of kmemtrace: the files of relay, and those of the tracer of Linux
# 2.6.29 to 2.6.35. Another program has counted the events that they were made
# of (kmemtrace-expected.json).
. "$top_srcdir/tests/cli/cli.sh"

tap_fails 'these tests refuse JSON with a key twice' python3 -c 'import json
json.loads("{\"missing\": 0, \"missing\": {}}")'

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
assert sum(total["events"].values()) == truth["allocs"] + truth["frees"]
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
    assert total["missing_events"] == 0
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
run kmem events "$old/relay-lost" --text-only --json
expect 'a sequence with holes, as events' 2 '7 events lost'
tap_run 'each hole is a row where it is, of no known processor' \
	python3 - "$old" "$tap_dir/stdout" <<'PY'
import json
import struct
import sys

numbers = []
for cpu in 0, 1:
    with open(f"{sys.argv[1]}/relay-lost/cpu{cpu}.out", "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        size, number = struct.unpack_from("<HI", data, at + 2)
        numbers.append(number)
        at += size
numbers.sort()
truth = [None] * len(numbers)
for i in range(len(numbers) - 1, 0, -1):
    if numbers[i] - numbers[i - 1] > 1:
        truth.insert(i, numbers[i] - numbers[i - 1] - 1)
with open(sys.argv[2]) as f:
    rows = [json.loads(line) for line in f]
assert [r["event_lost"] for r in rows] == truth
for r in rows:
    if r["event"] == "lost":
        assert r["missing"]["event_cpu"] == "unsupported", r
PY
run kmem check "$old/relay-lost" --json
total '"finding":"lost","cpu":null,"times":7,"first":4' \
	'a sequence with holes: a finding, and where it begins'
run kmem events "$old/relay-disorder" --text-only --json
expect 'pairs that were swapped, as events' 2 '3 events out of order'
tap_run 'pairs that were swapped: no row of a loss' \
	test "$(grep -c '"event":"lost"' "$tap_dir/stdout")" = 0
run kmem report "$old/relay-disorder" --json
expect 'pairs that were swapped' 2 '3 events out of order'
total '"lost":0,' 'pairs that were swapped: nothing was lost'
total '"times":598,' 'pairs that were swapped: all events count'

# Events of pages have numbers, too, and are in no sum.
mkdir "$tap_dir/pages"
for cpu in 0 1; do
	python3 - "$old/relay-le/cpu$cpu.out" "$tap_dir/pages/cpu$cpu.out" <<'PY'
import struct
import sys

with open(sys.argv[1], "rb") as f:
    data = bytearray(f.read())
at = n = 0
while at < len(data):
    if n % 3 == 0:
        data[at + 1] = 2
    at += struct.unpack_from("<H", data, at + 2)[0]
    n += 1
with open(sys.argv[2], "wb") as f:
    f.write(data)
PY
done
run kmem report "$tap_dir/pages" --json -q
expect 'events of pages' 0
total '"lost":0,' 'events of pages were not lost'

# with_lost FROM TO ORDER: puts lines of losses between the records, as the tracer
# of Linux 2.6.35 does: of 12 and of 30 events, and one without a number; and one
# of 5 events at the end
with_lost() {
	python3 - "$@" <<'PY'
import struct
import sys

with open(sys.argv[1], "rb") as f:
    data = f.read()
lines = {0: b"CPU:1 [LOST 12 EVENTS]\n", 7: b"CPU:0 [LOST 30 EVENTS]\n",
         1000: b"CPU:1 [LOST EVENTS]\n", 1154: b"CPU:0 [LOST 5 EVENTS]\n"}
out, at, n = b"", 0, 0
while at < len(data):
    size = struct.unpack_from(sys.argv[3] + "H", data, at + 2)[0]
    out += lines.get(n, b"") + data[at:at + size]
    at += size
    n += 1
with open(sys.argv[2], "wb") as f:
    f.write(out + lines[n])
PY
}
for name in 64le 64be 32le; do
	order='<'
	[ "$name" = 64be ] && order='>'
	with_lost "$old/ftrace-user-$name.bin" "$tap_dir/lost.bin" "$order"
	run kmem events "$tap_dir/lost.bin" --text-only --json
	expect "lines of losses, $name" 2 '47 events lost by the kernel'
	tap_run "lines of losses, $name: they are rows, and all events are there" \
		python3 - "$tap_dir/stdout" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
assert len(rows) == 1154 + 4, len(rows)
lost = [i for i, r in enumerate(rows) if r["event"] == "lost"]
assert lost == [0, 8, 1002, 1157], lost
assert [rows[i].get("event_lost") for i in lost] == [12, 30, None, 5]
assert [rows[i]["event_cpu"] for i in lost] == [1, 0, 1, 0]
assert rows[lost[2]]["missing"]["event_lost"] == "unsupported"
# They were lost in front of the next event. The last one has none.
for i in lost[:3]:
    assert rows[i]["event_ns"] == rows[i + 1]["event_ns"] > 0, rows[i]
assert rows[1157]["missing"]["event_ns"] == "unsupported", rows[1157]
PY
done
run kmem report "$tap_dir/lost.bin" --json
total '"lost":null,"lost_at_least":47,"gaps":1,"uncounted":1,' 'lines of losses: how many'
head -c 20 "$tap_dir/lost.bin" > "$tap_dir/half.bin"
run kmem report "$tap_dir/half.bin"
tap_run 'half a line is not a trace' test "$status" -ge 64
{
	cat "$old/ftrace-user-32le.bin"
	printf 'CPU:1 [LOST 12'
} > "$tap_dir/half.bin"
run kmem report "$tap_dir/half.bin" --json
expect 'a line that was cut' 2 'the trace was cut'
{
	cat "$old/ftrace-user-32le.bin"
	printf 'CPU:1 [FOUND 12 EVENTS]\n'
} > "$tap_dir/half.bin"
run kmem report "$tap_dir/half.bin" --json
expect 'another line' 2 'damaged'

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
