#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests the stacks of allocations. stacks.folded was made from what perf script
# says of the same perf.data.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
fixture=$traces/perfdata/stacks
kmem="kmem report $fixture.data --kallsyms $fixture.names"

# --- the stacks that perf sees ---

run $kmem --by stack --json -q
expect 'by stack' 0
mv "$tap_dir/stdout" "$tap_dir/json"
tap_run 'the stacks of perf script' python3 - "$fixture.folded" \
	"$tap_dir/json" <<'EOT2'
import json
import sys

with open(sys.argv[1]) as f:
    want = {}
    for line in f:
        stack, value = line.rsplit(" ", 1)
        want[stack] = int(value)
with open(sys.argv[2]) as f:
    groups = [json.loads(line) for line in f][:-1]
found = {g["stack"]: g["allocated"] + g["page_allocated"] for g in groups}
assert len(found) == len(groups) > 15
assert found == want, set(found.items()) ^ set(want.items())
EOT2
run $kmem --folded -q
expect 'for flame graphs' 0
mv "$tap_dir/stdout" "$tap_dir/folded"
sed 's/+0x[0-9a-f]*//g' "$fixture.folded" | sort > "$tap_dir/want"
tap_run 'without offsets' sh -c 'sort "$1" | diff "$2" -' sh \
	"$tap_dir/folded" "$tap_dir/want"
run $kmem --folded --by stack --sort page_times,-live --limit 1 -q
tap_run 'of what --sort says' python3 - "$tap_dir/json" "$tap_dir/stdout" <<'EOT2'
import json
import re
import sys

with open(sys.argv[1]) as f:
    groups = [json.loads(line) for line in f][:-1]
top = max(groups, key=lambda g: g["page_times"])
with open(sys.argv[2]) as f:
    lines = f.read().splitlines()
assert len(lines) == 1
assert lines[0].rsplit(" ", 1)[1] == str(top["page_times"])
EOT2
run $kmem --folded --by stack --sort live_bytes -q
tap_run 'pages are not objects' sh -c \
	'! grep -q "do_anonymous_page.* [1-9][0-9]*$" "$1"' sh "$tap_dir/stdout"
run $kmem --flame "$tap_dir/flame.svg" --sort all_live_bytes -q
expect 'a flame graph' 0
tap_run 'says what it shows' grep -q 'live_bytes, by the stack that allocated' \
	"$tap_dir/flame.svg"
tap_run 'has the functions' grep -q '<title>do_anonymous_page: 40960 live_bytes' \
	"$tap_dir/flame.svg"
run $kmem --by stack --sort page_times --limit 1 -q
tap_run 'as text, the innermost first' grep -q \
	'^        __alloc_frozen_pages_noprof+' \
	"$tap_dir/stdout"
run $kmem --by stack,tid --format csv -q
tap_run 'as CSV' grep -q \
	'^asm_exc_page_fault+0x22;exc_page_fault+0x176;.*,[0-9]*,0,0,.*,10,40960,' \
	"$tap_dir/stdout"
run kmem diff "$fixture.data" "$fixture.data" --by stack --json
expect 'one place of the kernel: its addresses match' 0 'now: 0.0'
tap_run 'none is of another trace' sh -c '! grep -q "(before)" "$1"' sh \
	"$tap_dir/stdout"

# --- where there are none ---

run kmem report "$traces/perfdata/slabpage.data" --by stack --json
expect 'recorded without -g' 0 'perf record -g record them'
tap_run 'the stack is not known' grep -q \
	'"stack":null,.*"missing":{"stack":"unsup' \
	"$tap_dir/stdout"
run kmem report "$traces/raw-6.12-x86_64" --folded -q
tap_run 'one that is not known' grep -q \
	'^unknown [1-9]' \
	"$tap_dir/stdout"

# --- hostile chains ---

# patch NUMBER: the length of the first chain
patch() {
	python3 - "$fixture.data" "$tap_dir/hostile" "$1" <<'EOT2'
import struct
import sys

with open(sys.argv[1], "rb") as f:
    data = bytearray(f.read())
start, size = struct.unpack_from("<2Q", data, 40)
at = start
while at < start + size:
    kind, misc, length = struct.unpack_from("<IHH", data, at)
    if kind == 9:
        # ip, tid, time, id, cpu, period; then the chain
        struct.pack_into("<Q", data, at + 8 + 48, int(sys.argv[3], 0))
        break
    at += length
with open(sys.argv[2], "wb") as f:
    f.write(data)
EOT2
}
for n in 0xffffffffffffffff 0x2000000000000000 9000; do
	patch $n
	run kmem report "$tap_dir/hostile" --by stack --limit 1
	expect "a chain of $n callers" 2 '1 piece of the trace: damaged'
done

# --- usage ---

run $kmem --flame "$tap_dir/x.svg" --limit 3
expect 'a part of a picture' 64 '--limit have no meaning'
run $kmem --folded --by site
expect 'another key' 64 'folded needs --by stack'
run $kmem --folded --flame "$tap_dir/x.svg"
expect 'two pictures' 64 'cannot be combined with --folded'
run $kmem --folded --before "$fixture.data"
expect 'a comparison' 64 'cannot be combined with --before'
tap_done
