#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests reports of allocation traces. The captures are of programs that knew
# what they allocated (truth.jsonl), and another decoder has counted them
# (expected.json).
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces

# --- the truth of the program that made the trace ---

# judge NAME CAPTURE
judge() {
	run kmem report "$traces/$2" --by site,tid,bytes_req --json -q
	if [ "$status" = 69 ]; then
		tap_skip "$1" 'it is compressed, and the library is not there'
		return
	fi
	tap_run "$1" python3 - "$traces/${2%/*.dat}" "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1] + "/truth.jsonl") as f:
    truth = [json.loads(line) for line in f]
with open(sys.argv[2]) as f:
    groups = [json.loads(line) for line in f][:-1]
pid = truth[0]["pid"]
judged = 0
for t in truth:
    if t["what"] != "kmalloc":
        continue
    found = [g for g in groups if g["tid"] == pid
             and g["bytes_req"] == t["bytes_req"]
             and g["site"].startswith("load_msg+")]
    assert len(found) == 1, (t, found)
    for key in "times", "freed", "live", "cross_cpu":
        assert t.get(key, found[0][key]) == found[0][key], (key, t, found)
    judged += 1
assert judged >= 3, judged
EOT
}
for capture in raw-6.12-x86_64 raw-6.18-x86_64 tracedat/g612.v6.dat \
	tracedat/g612.v7z.dat; do
	judge "$capture: messages" "$capture"
done

# --- the other decoder ---

# totals CAPTURE TRUTH: those of 'kmem report --json' are of objects of slabs
totals() {
	run kmem report "$traces/$1" --json -q
	if [ "$status" = 69 ]; then
		tap_skip "$1: totals" 'it is compressed, and a library lacks'
		return
	fi
	tap_run "$1: totals" python3 - "$traces/$2/expected.json" \
		"$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    want = json.load(f)
with open(sys.argv[2]) as f:
    *rows, last = [json.loads(line) for line in f]
total = last["total"]
for key, name in (("events", "events"), ("all_events", "total"),
                  ("requested", "bytes_requested"),
                  ("allocated", "bytes_allocated"), ("live", "live_objects"),
                  ("live_bytes", "live_bytes"),
                  ("cross_cpu", "cross_cpu_frees"),
                  ("allocated_while_live", "allocated_while_live"),
                  ("freed_unknown", "freed_unknown")):
    assert total[key] == want[name], (key, total[key], want[name])
assert total["complete"] is True, total
# Pages are apart. No allocation of one has failed.
assert total["page_times"] == want["events"]["mm_page_alloc"], total
assert total["page_times"] == total["page_freed"] + total["page_replaced"] + \
    total["page_live"], total
assert total["times"] == total["freed"] + total["replaced"] + total["live"]
for key, value in total.items():
    if isinstance(value, int) and key in rows[0]:
        assert sum(row[key] or 0 for row in rows) == value, key
families = {"kmalloc": "kmalloc", "kmem_cache_alloc": "cache"}
by_site = {row["site"]: row for row in rows}
assert len(by_site) == len(rows)
assert by_site[None]["family"] == "page", by_site[None]
assert by_site[None]["times"] == by_site[None]["live"] == 0, by_site[None]
for top in want["top"]:
    row = by_site[top["site"]]
    assert row["family"] == families[top["family"]], row
    for key in "times", "requested", "allocated", "freed", "cross_cpu":
        assert row[key] == top[key], (key, row, top)
EOT
}
totals raw-6.12-x86_64 raw-6.12-x86_64
totals raw-6.18-x86_64 raw-6.18-x86_64
totals raw-6.18-lost raw-6.18-lost
stdout_has 'what was lost has been counted' '"lost":1104,'
totals tracedat/g612.v6.dat tracedat
if [ "$status" != 69 ]; then
	stdout_has 'nobody has counted what was lost' \
		'"lost":null,"lost_at_least":0,"gaps":0,"uncounted":2,'
	stdout_has 'and it says so' '"missing":{"lost":"unsupported"}'
fi
run kmem report "$traces/raw-6.12-x86_64" --by cpu --json -q
tap_run 'several families' grep -q '"cpu":0,.*"family":"mixed"' \
	"$tap_dir/stdout"
run kmem report "$traces/raw-6.18-x86_64"
tap_run 'a table has the same totals' grep -q \
	'^ *598 *802962 *1066824 .* 115 *33600 .* 31 .* total of ' \
	"$tap_dir/stdout"

for capture in raw-6.12-x86_64 raw-6.18-x86_64 raw-6.18-lost; do
	run kmem report "$traces/$capture" --by site,family --json -q
	tap_run "$capture: sums" python3 - "$traces/$capture" \
		"$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1] + "/expected.json") as f:
    want = json.load(f)
with open(sys.argv[2]) as f:
    groups = [json.loads(line) for line in f][:-1]
objects = [g for g in groups if g["family"] != "page"]
for key, name in (("requested", "bytes_requested"),
                  ("allocated", "bytes_allocated"), ("live", "live_objects"),
                  ("live_bytes", "live_bytes"),
                  ("replaced", "allocated_while_live"),
                  ("cross_cpu", "cross_cpu_frees")):
    assert sum(g[key] for g in objects) == want[name], (key, want[name])
assert sum(g["times"] > 0 for g in objects) == want["sites"]
assert sum(g["page_times"] + g["page_failed"] for g in groups
           if g["family"] == "page") == want["events"]["mm_page_alloc"]
by_site = {(g["site"], g["family"]): g for g in objects}
for top in want["top"]:
    g = by_site[top["site"], {"kmalloc": "kmalloc",
                              "kmem_cache_alloc": "cache"}[top["family"]]]
    for key in "times", "requested", "allocated", "freed", "cross_cpu":
        assert g[key] == top[key], (key, top, g)
EOT
done

# --- what was lost ---

run kmem report "$traces/raw-6.18-lost" --top 1
expect 'lost events: the status says so' 2 '1104 events lost by the kernel'
cp -r "$traces/raw-6.18-lost" "$tap_dir/uncounted"
chmod -R u+w "$tap_dir/uncounted"
rm "$tap_dir/uncounted/"*.stats
run kmem report "$tap_dir/uncounted" --top 1
expect 'a loss that nobody counted' 2 '1 gap in the trace, of an unknown'
tap_run 'nor what came behind' grep -q '2 processors without a count of losses' \
	"$tap_dir/stderr"
run kmem report "$traces/raw-6.12-x86_64" --top 1
expect 'nothing is lost' 0 'freed whose allocation is not in the trace'

run kmem report "$traces/raw-6.18-lost" --by family --json -q
tap_run 'the object of the sums tells it' grep -q \
	'^{"total":{"times":92,.*"page_times":71,.*"lost":1104,.*"complete":true' \
	"$tap_dir/stdout"

# What was read from the kernel has been counted too.
cp -r "$traces/raw-6.12-x86_64" "$tap_dir/less"
chmod -R u+w "$tap_dir/less"
truncate -s -4096 "$tap_dir/less/cpu0.raw"
run kmem report "$tap_dir/less" --limit 1
expect 'a page is missing' 2 'events missing: they were read from the kernel'
rm "$tap_dir/less/cpu0.raw"
run kmem report "$tap_dir/less" --limit 1
expect 'a processor is missing' 2 'events missing: they were read'

# --- other instances of a trace.dat ---

# A buffer is added to the options, and what is behind it moves. The events of the
# top instance are no allocations.
python3 - "$traces/tracedat/g612.v6.dat" "$tap_dir/instances.dat" <<'EOT'
import re
import struct
import sys

with open(sys.argv[1], "rb") as f:
    data = bytearray(f.read())
at = data.index(b"options  \0") + 10
option = struct.pack("<HIQ", 3, 10, 0) + b"x\0"
data[at:at] = option
at = data.index(b"flyrecord\0") + 10
for cpu in range(2):
    begin, size = struct.unpack_from("<QQ", data, at + 16 * cpu)
    struct.pack_into("<Q", data, at + 16 * cpu, begin + len(option))
with open(sys.argv[2], "wb") as f:
    f.write(re.sub(b"name: (kmalloc|kfree|kmem_cache_|mm_page_)",
                   lambda m: b"name: x" + m[1][1:], data))
with open(sys.argv[2] + ".both", "wb") as f:
    f.write(data)
EOT
said='other trace instances, too: their events are not read'
for command in report live events check; do
	run kmem $command "$tap_dir/instances.dat"
	expect "$command: what is not here may be in another instance" 2 \
		"$said"
done
run kmem report "$tap_dir/instances.dat.both" --json
stdout_has 'the top instance has some' '"other_instances":1'
tap_run 'then that is said, too' grep -q "$said" "$tap_dir/stderr"
run kmem report "$traces/tracedat/g612.v6.dat" --json -q
stdout_has 'it has no other instance' '"other_instances":0'

# --- keys, order, output ---

run kmem report "$traces/raw-6.12-x86_64" --sort live_bytes --limit 1 -q
expect 'what is still live' 0
stdout_has 'the first of them' 'load_msg+0x45'
run kmem report "$traces/raw-6.12-x86_64" --by family --sort family \
	--format csv -q
tap_run 'as CSV' grep -q '^kmalloc,756,' "$tap_dir/stdout"
run kmem report "$traces/raw-6.12-x86_64" --by family --json -q
tap_run 'else they are not known' grep -q \
	'"family":"page",.*"page_allocated":null,.*"missing":{"page_allocated":"unsup' \
	"$tap_dir/stdout"
run kmem report "$traces/raw-6.12-x86_64" --by comm
expect 'a table without them' 0 'of pages, whose bytes are not known'
tap_run 'has a mark, and those of objects' grep -q \
	'^ *625 *781546 *1044416 .* 106 *? *21 *? *tplant$' \
	"$tap_dir/stdout"
run kmem report "$traces/raw-6.12-x86_64" --by family --page-size 4096 \
	--json -q
cp "$tap_dir/stdout" "$tap_dir/bytes"
tap_run 'bytes of pages, if the size of a page is known' grep -q \
	'"family":"page",.*"page_allocated":[1-9]' "$tap_dir/stdout"
run kmem report "$traces/raw-6.12-x86_64" --by family --page-size 4k --json -q
tap_run 'its size in KiB' cmp "$tap_dir/bytes" "$tap_dir/stdout"
run kmem report "$traces/raw-6.18-x86_64" --by cache --json -q
stdout_has 'caches, where the kernel writes them' '"cache":"filp"'
run kmem report "$traces/raw-6.12-x86_64" --by cache --json -q
stdout_has 'and where it does not' '"missing":{"cache":"unsupported"}'
run kmem report "$traces/raw-6.12-x86_64" --by comm --json -q
stdout_has 'the names of threads' '"comm":"tplant"'

# --- flags ---

run kmem report "$traces/raw-6.12-x86_64" --by gfp --json -q
tap_run 'flags as numbers and names' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    names = {g["gfp"]: g["gfp_names"] for g in map(json.loads, f)
             if "gfp" in g}
assert names[0xcc0] == "GFP_KERNEL", names
assert names[0xdc0] == "GFP_KERNEL|__GFP_ZERO", names
EOT
run kmem report "$traces/raw-6.12-x86_64" --by gfp --format csv -q
tap_run 'as CSV' grep -q '^0xcc0,GFP_KERNEL,[0-9]' "$tap_dir/stdout"
run kmem report "$traces/raw-6.12-x86_64" --by gfp -q
tap_run 'a table has the names' grep -q ' GFP_KERNEL_ACCOUNT$' \
	"$tap_dir/stdout"
run kmem report "$traces/tracedat/g612.v6.dat" --by gfp -q
tap_run 'of a trace.dat too' grep -q ' GFP_KERNEL_ACCOUNT$' "$tap_dir/stdout"
cp -r "$traces/raw-6.12-x86_64" "$tap_dir/flagless"
chmod -R u+w "$tap_dir/flagless"
sed -i 's/__print_flags/other/' "$tap_dir/flagless/"*.format
run kmem report "$tap_dir/flagless" --by gfp --json -q
tap_run 'names that are not told' grep -q \
	'"gfp":3264,"gfp_names":null,.*"missing":{"gfp_names":"unsupp' \
	"$tap_dir/stdout"
run kmem report "$tap_dir/flagless" --by gfp -q
tap_run 'then there is the number' grep -q ' 0xcc0$' "$tap_dir/stdout"

# --- another byte order ---

run kmem report "$traces/raw-6.12-x86_64" --by site,bytes_req,node,cpu --json -q
mv "$tap_dir/stdout" "$tap_dir/little"
cp -r "$traces/raw-6.12-x86_64" "$tap_dir/big"
chmod -R u+w "$tap_dir/big"
python3 "$top_srcdir/tests/cli/swap-trace.py" "$tap_dir/big"
run kmem report "$tap_dir/big" --by site,bytes_req,node,cpu --json -q
tap_run 'a machine of the other byte order' cmp "$tap_dir/little" \
	"$tap_dir/stdout"

# --- names ---

cp -r "$traces/raw-6.12-x86_64" "$tap_dir/nameless"
chmod -R u+w "$tap_dir/nameless"
mv "$tap_dir/nameless/kallsyms" "$tap_dir/names"
run kmem report "$tap_dir/nameless" --json
expect 'without names' 0 'call sites without a name: --kallsyms takes'
stdout_has 'there are addresses' '"site":"0xffffffff815d11e5"'
run kmem report "$tap_dir/nameless" --kallsyms "$tap_dir/names" --json -q
stdout_has 'names from elsewhere' '"site":"load_msg+0x45"'
sed 's/^[0-9a-f]*/0000000000000000/' "$tap_dir/names" > "$tap_dir/hidden"
run kmem report "$tap_dir/nameless" --kallsyms "$tap_dir/hidden"
expect 'hidden addresses' 77 'hides all addresses'
run kmem report "$tap_dir/nameless" --kallsyms /etc/passwd
expect 'names that are none' 65 'is not a copy of /proc/kallsyms'

# --- bad input ---

run kmem report /etc/passwd
expect 'a file that is not a trace' 65 'is not a trace'
head -c 3000 "$traces/tracedat/g612.v6.dat" > "$tap_dir/short.dat"
run kmem report "$tap_dir/short.dat"
expect 'a trace.dat that was cut in its header' 65 'its header is damaged'
head -c 60000 "$traces/tracedat/g612.v6.dat" > "$tap_dir/short.dat"
run kmem report "$tap_dir/short.dat" --top 1
expect 'a trace.dat that was cut in its events' 2 'of the trace: damaged'
run kmem report "$tap_dir/not-there"
expect 'no such trace' 66 'cannot open'
mkdir "$tap_dir/empty"
run kmem report "$tap_dir/empty"
expect 'an empty directory' 66 'not a directory with copies of tracefs'
cp "$tap_dir/nameless/header_page" "$tap_dir/empty"
run kmem report "$tap_dir/empty"
expect 'a trace without formats' 66 'has no kmem.EVENT.format'
cp "$tap_dir/nameless/"*.format "$tap_dir/empty"
run kmem report "$tap_dir/empty"
expect 'a trace without processors' 66 'has no cpuN.raw'
mkfifo "$tap_dir/empty/cpu0.raw"
run kmem report "$tap_dir/empty"
expect 'a pipe does not hold it up' 65 'cpu0.raw'
head -c 10000 "$tap_dir/nameless/cpu0.raw" > "$tap_dir/cut"
mv "$tap_dir/cut" "$tap_dir/nameless/cpu0.raw"
run kmem report "$tap_dir/nameless" --top 1
expect 'a trace that was cut' 2 '1 piece of the trace: damaged'
rm "$tap_dir/nameless/kmem.kfree.format"
run kmem report "$tap_dir/nameless" --top 1
expect 'a format that is missing' 2 'whose format is not there'
tap_run 'and which one' grep -q 'lacks the format files with ID: 625$' \
	"$tap_dir/stderr"
echo 'name: kmalloc' > "$tap_dir/nameless/kmem.kmalloc.format"
run kmem report "$tap_dir/nameless"
expect 'a format that is damaged' 65 'kmem.kmalloc.format'
run kmem report
expect 'no trace' 64 'lacks a trace'
run kmem forecast
expect 'what there is not' 64 "there is no 'forecast'"
run kmem report "$traces/raw-6.12-x86_64" --where kind=slab
expect 'a filter of rows is refused' 64 'nor a key of these groups'
run kmem report "$traces/tracedat/g612.v6.dat" --page-size 65536
expect 'another size of pages' 64 'its pages have 4096 bytes'
run kmem report "$traces/raw-6.12-x86_64" --by site,nonsense
expect 'no such key' 64 "cannot be grouped by 'nonsense'"
run kmem report "$traces/raw-6.12-x86_64" --sort nonsense
expect 'no such order' 64 "cannot sort by 'nonsense'"
run kmem report "$traces/raw-6.12-x86_64" --by site,site
expect 'a key twice' 64 'is there twice'
run kmem report "$traces/raw-6.12-x86_64" --page-size 5000
expect 'no such size of pages' 64 'is not a size of pages'
for size in 4097k 18014398509481984k 4kk 5k; do
	run kmem report "$traces/raw-6.12-x86_64" --page-size "$size"
	expect "nor is $size" 64 "page-size: '$size' is not a"
done
tap_done
