#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests reports of KMAPs. Who made the first three files has counted what is in
# them (expected.json); the fourth one has each special code.
. "$top_srcdir/tests/cli/cli.sh"

kmaps=$top_srcdir/tests/fixtures/traces/kmap

# --- the truth of three dialects ---

# judge DIALECT: rows and total agree with it
judge() {
	run kmap report "$kmaps/$1.kmap.zst" --json --accesses --pointers -q
	if [ "$status" = 69 ]; then
		tap_skip "$1" 'it is compressed, and the library is not there'
		return
	fi
	tap_run "$1" python3 - "$kmaps/expected.json" "$tap_dir/stdout" \
		"$1" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    truth = json.load(f)
with open(sys.argv[2]) as f:
    rows = [json.loads(line) for line in f]
total = rows.pop()["total"]
names = {"missed_free": "missed", "unknown_free_ip": "unknown"}
for name, value in truth.items():
    assert total[names.get(name, name)] == value, (name, value, total)
assert total["dialect"] == sys.argv[3] and total["complete"]
assert not total["strange"] and not total["orphans"] and not total["cut"]
assert len(rows) == truth["objects"]
accesses = [a for r in rows for a in r["accesses"]]
assert len(accesses) == truth["accesses"]
for key in "reads", "writes":
    assert sum(a[key] for a in accesses) == truth[key]
    assert sum(r[key] for r in rows) == truth[key]
assert sum(r["bytes"] for r in rows) == truth["bytes"]
ends = [r["freed"] for r in rows]
assert ends.count("live") == truth["live"]
assert ends.count("missed") == truth["missed_free"]
assert ends.count("unknown") == truth["unknown_free_ip"]
first = rows[0]
assert first["site"] == "0xffffffff816cc5c4", first
assert first["address"] == "0xffff8881404d7000", first
assert first["bytes"] == 4096 and first["pid"] == 6883, first
assert first["command"] == "tplant" and first["lifetime_jiffies"] == 5, first
assert first["free_site"] == "0xffffffff816c6f5c", first
typed = sys.argv[3] != "linuxkit"
assert first["type"] == ("KMEM_CACHE" if typed else None), first
if not typed:
    assert first["missing"]["type"] == "unsupported", first
    assert {a["pid"] for a in accesses} == {0, 1, 6883}
else:
    assert all(a["missing"] == {"pid": "unsupported"} for a in accesses)
slab = sys.argv[3] == "slab"
assert first["cache"] == ("names_cache" if slab else None), first
PY
}

for dialect in linuxkit typed slab; do
	judge "$dialect"
done

# --- each special code ---

indexed=$kmaps/indexed.kmap
run kmap report "$indexed" --json --accesses
expect 'the newest dialect' 0 'may be serial numbers'
tap_run 'each code has its meaning' python3 - "$tap_dir/stdout" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
total = rows.pop()["total"]
(freed, live, pages, kmalloc, ready, missed, unknown, user, block, none,
 module) = rows
assert freed["freed"] == "freed" and freed["origin"] == "call"
assert freed["reads"] == 13 and freed["writes"] == 4
assert freed["accesses"][0] == {"reads": 10, "writes": 4, "pid": 212,
                                "site": "0xffffffff81a65590"}
assert freed["address"] is None
assert freed["missing"] == {"address": "hidden",
                            "lifetime_jiffies": "unsupported"}
assert live["freed"] == "live" and live["free_index"] is None
assert "lifetime_jiffies" not in live["missing"]
assert pages["freed"] == "missed" and pages["nested"] is True
assert pages["replaced_by"] == "KMALLOC" and pages["cache"] is None
assert pages["command"] == "softirq" and pages["pid"] is None
assert kmalloc["bytes"] == 2048 and not kmalloc["nested"]
assert ready["site"] == "(preallocated)"
assert ready["origin"] == "preallocated"
assert missed["freed"] == "missed" and not missed["nested"]
assert missed["replaced_by"] == "VMALLOC"
assert unknown["freed"] == "unknown" and unknown["free_site"] is None
assert unknown["missing"]["free_site"] == "unsupported"
assert unknown["accesses"] == [{"reads": 5, "writes": 2, "pid": None,
                                "site": "0xffffffff81604438",
                                "missing": {"pid": "unsupported"}}]
for catch_all in user, block, none:
    assert catch_all["site"] == "(catch-all)"
    assert catch_all["origin"] == "catch_all"
    assert catch_all["freed"] is None and "freed" not in catch_all["missing"]
assert block["command"] == "hardirq" and block["pid"] is None
assert none["accesses"][0]["pid"] is None
assert module["accesses"][0]["writes"] == 12
assert total["objects"] == 11 and total["catch_all"] == 3
assert total["nested"] == 1 and total["nested_bytes"] == 4096
assert total["bytes"] == 96 + 184 + 2048 + 64 + 64 + 32 + 512
assert total["live"] == 3 and total["live_bytes"] == 184 + 2048 + 64
assert total["dialect"] == "indexed" and total["index"] is None
assert total["missing"] == {"index": "unsupported"}
PY
run kmap report "$indexed" --json --hz 250 -q
tap_run 'a known HZ makes times' grep -q '"lifetime_ns":64000000,' \
	"$tap_dir/stdout"
run kmap report "$indexed" -q --limit 1
stdout_has 'text' 'bash'
run kmap report "$indexed" --format csv --accesses --limit 1 -q
tap_run 'CSV has a line for each access' test "$(wc -l < "$tap_dir/stdout")" = 3
run kmap report - --json < "$indexed"
status=0
"$PAGEDET" kmap report - --json -q < "$indexed" > "$tap_dir/stdout" || status=$?
tap_run 'standard input' grep -q '"objects":11,' "$tap_dir/stdout"

# --- names ---

traces=$top_srcdir/tests/fixtures/traces
{
	echo 'ffffffff81355f00 T first'
	echo 'ffffffff81a65560 t second'
	echo 'ffffffffc0412300 t third	[module]'
	echo 'ffffffffc0412400 t fourth	[module]'
} > "$tap_dir/kallsyms"
run kmap report "$indexed" --kallsyms "$tap_dir"
expect 'names of a directory' 74 'Is a directory'
run kmap report "$indexed" --kallsyms "$tap_dir/kallsyms" --json -q --accesses
tap_run 'a function' grep -q '"site":"second+0x21","type"' "$tap_dir/stdout"
tap_run 'an access' grep -q '"site":"second+0x30"}' "$tap_dir/stdout"
run kmap report "$indexed" --kallsyms "$tap_dir/kallsyms" --json -q \
	--by access_module,module
tap_run 'a module' grep -q \
	'^{"access_module":"module","module":"module","objects":1,' \
	"$tap_dir/stdout"
tap_run 'the kernel' grep -q \
	'^{"access_module":"(kernel)","module":"(kernel)","objects":3,' \
	"$tap_dir/stdout"
tap_run 'nobody' grep -q '^{"access_module":null,' "$tap_dir/stdout"
run kmap report "$indexed" --kallsyms "$traces/tracedat" --json
expect 'names that cannot be read' 74 'cannot read'

# --- a vmlinux ---

zstd -dcq "$kmaps/slab.kmap.zst" > "$tap_dir/slab" 2> /dev/null ||
	: > "$tap_dir/slab"
run kmap report "$tap_dir/slab" --json -q
cp "$tap_dir/stdout" "$tap_dir/sites"
# vmlinux NAME OFFSET: of the kernel of that file
vmlinux() {
	python3 "$top_srcdir/tests/cli/trace-vmlinux.py" \
		"$traces/raw-6.18-x86_64/kallsyms" "$tap_dir/sites" "$2" \
		"$tap_dir/$1"
}
if [ -s "$tap_dir/slab" ]; then
	vmlinux here 0
	run kmap report "$tap_dir/slab" --vmlinux "$tap_dir/here" --json
	if [ "$status" = 69 ]; then
		tap_skip 'names of a vmlinux' 'there is no libelf'
	else
		expect 'names of a vmlinux' 0 'the kernel was moved by 0'
		tap_run 'a name' grep -q '"site":"load_msg+0x41"' \
			"$tap_dir/stdout"
		tap_run 'no offset' grep -q '"kaslr_offset":0,' \
			"$tap_dir/stdout"
		vmlinux moved 0x2e00000
		run kmap report "$tap_dir/slab" --vmlinux "$tap_dir/moved" \
			--json --by function
		expect 'one that was moved' 0 'was moved by 0x2e00000'
		tap_run 'a function' grep -q '"function":"load_msg"' \
			"$tap_dir/stdout"
		run kmap report "$indexed" --vmlinux "$tap_dir/here"
		expect 'too few places say nothing' 0 'names no call site'
	fi
	run kmap report - --vmlinux "$tap_dir/here"
	expect 'standard input is read once' 64 'save it to a file'
fi

# --- groups ---

# groups KEYS LINE: of the newest dialect
groups() {
	run kmap report "$indexed" --by "$1" --json -q
	tap_run "by $1" grep -q "^$2" "$tap_dir/stdout"
}
groups type '{"type":"KMALLOC","objects":3,"bytes":640,'
groups cache '{"cache":"filp","objects":1,"bytes":184,'
groups cache '{"cache":null,"objects":4,"bytes":0,"nested":1,"catch_all":3,'
groups pid '{"pid":null,"objects":3,"bytes":2048,'
groups command '{"command":"init","objects":2,"bytes":96,'
groups end '{"end":"missed","objects":2,"bytes":64,'
groups end '{"end":null,"objects":3,"bytes":0,"nested":0,"catch_all":3,'
groups site '{"site":"(catch-all)","objects":3,"bytes":0,'
groups access_pid '{"access_pid":212,"objects":3,"bytes":280,'
groups access_pid '{"access_pid":null,"objects":2,.*"access_pid":"unsupported"'
groups access_site '{"access_site":null,"objects":3,"bytes":128,'
run kmap report "$indexed" --by lifetime --json -q --hz 1000
tap_run 'by lifetime' grep -q '{"lifetime_ns":33554432,"objects":1,"bytes":32,' \
	"$tap_dir/stdout"
run kmap report "$indexed" --by lifetime --format csv -q
tap_run 'without --hz in jiffies' grep -q '^lifetime_jiffies,objects,' \
	"$tap_dir/stdout"
run kmap report "$indexed" --by site --sort reads --format csv -q --limit 1
tap_run '--sort' grep -q '^(catch-all),3,0,' "$tap_dir/stdout"

# --- diff ---

sed -e '/^ffffffff81a65581/,/^  ffffffff816b74b8/d' \
	-e 's/,7,0,212$/,7,9,212/' "$indexed" > "$tap_dir/later"
run kmap diff "$indexed" "$tap_dir/later" --json
expect 'diff' 0 'matched by address'
tap_run 'what is gone' grep -q \
	'"site":"0xffffffff81a65581","objects":0,"objects_before":1,"objects_grown":-1,"bytes":0,"bytes_before":96,"bytes_grown":-96,' \
	"$tap_dir/stdout"
tap_run 'the sums' grep -q \
	'{"total":{"objects":10,"objects_before":11,.*"reads_grown":-4,' \
	"$tap_dir/stdout"
run kmap diff "$indexed" "$indexed"
expect 'diff: the codes of both files are told' 0 'the file before'
tap_run 'diff: the codes of the file before, too' test \
	"$(grep -c 'whose free was missed' "$tap_dir/stderr")" = 2
run kmap diff "$indexed" "$tap_dir/later" --sort reads_grown --limit 1 -q
stdout_has 'what was read more' '+9'

run kmap diff "$indexed" "$tap_dir/later" --json --by type
tap_run 'no address is matched' test "$(grep -c 'matched by address' \
	"$tap_dir/stderr")" = 0
tap_run 'what is not known of both' test \
	"$(grep -c 'may be serial numbers' "$tap_dir/stderr")" = 2
{
	cat "$tap_dir/kallsyms"
	echo 'ffffffff81e1f300 t last'
} > "$tap_dir/kallsyms-before"
run kmap diff "$indexed" "$tap_dir/later" --json -q \
	--kallsyms "$tap_dir/kallsyms" \
	--kallsyms-before "$tap_dir/kallsyms-before"
tap_run 'names of both' grep -q \
	'"site":"second+0x21","objects":0,"objects_before":1,' "$tap_dir/stdout"

# --- a filter ---

{
	cat "$tap_dir/kallsyms"
	echo 'ffffffffc0413000 t other	[other]'
	echo 'ffffffffc0414000 t last	[other]'
} > "$tap_dir/two-modules"
# line SITE ACCESS...: an object, and who accessed it
line() {
	echo "$1,1,ffff888101234000,8,1,0,0000000000000000,KMALLOC,a,kmalloc-8,"
	shift
	for site; do
		echo "  $site,1,2,1"
	done
}
{
	line ffffffffc0412345 ffffffffc0412350
	line ffffffffc0412346 ffffffffc0412350 ffffffffc0413010
	line ffffffffc0412347 ffffffffc0412350 ffffffff81355f10
	line ffffffffc0412348 ffffffffc0412350 ffffffff11111111
	line ffffffffc0412349 ffffffff11111111 ffffffffc0413010
	line ffffffff81355f10 ffffffff81a65590
	line ffffffffc0412360
	line 0000000000000003 ffffffffc0412350
} > "$tap_dir/owned"
run kmap report "$tap_dir/owned" --kallsyms "$tap_dir/two-modules" --json \
	--where own_module
expect 'a filter' 2 '1 object not shown: the module of some place'
tap_run 'only the own module' test "$(grep -c '^{"site":"\(third+0x45 \|first\)' \
	"$tap_dir/stdout")" = 2
tap_run 'the rest is counted' grep -q \
	'{"total":{"objects":2,.*"filtered":5,"undecided":1,' "$tap_dir/stdout"
run kmap report "$tap_dir/owned" --kallsyms "$tap_dir/two-modules" --json -q \
	--where 'not own_module'
tap_run 'another module' test "$(grep -c '^{"site":"third+0x4[679]' \
	"$tap_dir/stdout")" = 3
tap_run 'only these' grep -q '{"total":{"objects":3,' "$tap_dir/stdout"
run kmap report "$indexed" --kallsyms "$tap_dir/kallsyms" --by type --json \
	--where 'not own_module'
expect 'nothing matches' 2 '1 object not shown'

# --- a matrix ---

run kmap report "$indexed" --kallsyms "$tap_dir/kallsyms" -q --matrix -
stdout_is 'a matrix' \
	'"access_module,type",USER,KMALLOC,NONE,KMEM_CACHE,KMALLOC_ND,UFO_MEMBLOCK,ALLOC_PAGES
(kernel),1700,24,11,7,0,2,0
module,0,13,0,0,0,0,0
?,0,0,0,0,3,0,0
-,0,0,0,0,0,0,0'
run kmap report "$indexed" -q --matrix "$tap_dir/m.csv" --by cache,end \
	--sort bytes
tap_run 'another one' grep -qx 'kmalloc-512,0,512,0,0,0' "$tap_dir/m.csv"
run kmap report "$indexed" -q --matrix - --by type,lifetime --hz 250
stdout_has 'its times have a unit' '"type,lifetime_ns",'
run kmap report "$indexed" -q --matrix "$tap_dir/m.svg" --by cache,type
tap_run 'a picture' python3 - "$tap_dir/m.svg" <<'PY'
import sys
import xml.etree.ElementTree

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
assert "-, USER: 1700 reads and writes" in titles, titles
assert "filp, KMEM_CACHE: 7 reads and writes" in titles, titles
PY

# --- calls ---

{
	echo 'ffffffff81355f80 ffffffff81a65560 12'
	echo 'ffffffff81a65590 ffffffff81355f00 600'
	echo 'ffffffff81a65590 ffffffff81355f00 100'
	echo 'ffffffff81a65599 ffffffff81a65560 3'
} > "$tap_dir/calls"
run kmap calls "$tap_dir/calls" --kallsyms "$tap_dir/kallsyms" --json
expect 'calls' 0
stdout_is 'the most frequent call is first' \
	'{"count":700,"from":"second+0x30","to":"first+0"}
{"count":12,"from":"first+0x80","to":"second+0"}
{"count":3,"from":"second+0x39","to":"second+0"}
{"total":{"calls":3,"count":715,"lines":4,"strange":0,"unnamed":0,"dropped":0,"cut":false,"saturated":false,"complete":true}}'
run kmap calls "$tap_dir/calls" --format csv --limit 1
expect 'calls without names' 0 'places have no names'
stdout_is 'their addresses' 'count,from,to
700,0xffffffff81a65590,0xffffffff81355f00'
run kmap calls "$tap_dir/calls" --kallsyms "$tap_dir/kallsyms" --folded
stdout_is '--folded' 'second;first 700
first;second 12
second;second 3'
run kmap calls "$tap_dir/calls" --kallsyms "$tap_dir/kallsyms" --format dot \
	--limit 1
stdout_is '--format dot' 'digraph calls {
	"second" -> "first" [label=700];
}'
{
	cat "$tap_dir/calls"
	printf 'x\nffffffff81a65599 ffffffff81a65560 3'
} > "$tap_dir/cut-calls"
run kmap calls "$tap_dir/cut-calls" --json
expect 'calls that were cut' 2 'the last line is incomplete'
expect 'a line that is not a call' 2 'the first one is line 5'
tap_run 'neither counts' grep -q '{"total":{"calls":3,"count":715,"lines":6,' \
	"$tap_dir/stdout"
sed 's/^\(ffffffff81[0-9a-f]*\)0 /\18 /' "$tap_dir/kallsyms" \
	> "$tap_dir/elsewhere"
run kmap calls "$tap_dir/calls" --kallsyms "$tap_dir/elsewhere"
expect 'names of another boot' 65 'another boot or kernel'
# Each line is a place of its own, and then some again.
calls() {
	awk 'BEGIN {
		for (i = 0; i < 4194314; i++)
			printf "ffffffff%08x ffffffff00000000 1\n", i
		print "ffffffff00000000 ffffffff00000000 2"
	}'
}
status=0
calls | "$PAGEDET" kmap calls - --json --limit 1 > "$tap_dir/stdout" \
	2> "$tap_dir/stderr" || status=$?
expect 'too many calls' 2 '10 lines not counted'
stdout_has 'those that are known go on' '"count":3,"from":"0xffffffff00000000"'
stdout_has 'the rest is counted' '"calls":4194304,"count":4194306,'
run kmap calls "$indexed"
expect 'a KMAP is not a log of calls' 65 'not a log of calls'
: > "$tap_dir/none"
run kmap calls "$tap_dir/none"
expect 'no call' 1 'there is no call'

# --- damage ---

head -c 700 "$indexed" > "$tap_dir/cut"
run kmap report "$tap_dir/cut" --json
expect 'a file that was cut' 2 'the last line is incomplete'
{
	echo '  ffffffff81a65590,4,10,212'
	cat "$indexed"
	echo 'ffffffff816cc5c4,6883,ffff8881404d7000,4096,4295860406,4295860411,ffffffff816c6f5c,KMEM_CACHE,tplant'
	echo '  ffffffff81a65581,30,138'
} > "$tap_dir/mixed"
run kmap report "$tap_dir/mixed" --json
expect 'two dialects in a file' 2 'cannot be of this dialect'
expect 'an access before any object' 2 'the first one is line 1'
tap_run 'none of it counts' grep -q '{"total":{"objects":11,.*"reads":828,' \
	"$tap_dir/stdout"
printf 'ffffffff81a65581,1,0,1,1,1,0,a,b\n' > "$tap_dir/any"
run kmap report "$tap_dir/any"
expect 'a dialect that cannot be told' 65 'it is not a KMAP'
# Such a kernel hashes codes, too, and prints 0 as it is.
sed -e 's/\(^\|[,: ]\)ffff[0-9a-f]\{4\}\([0-9a-f]\{8\}\)/\100000000\2/g' \
	-e 's/000000000fedbeef/00000000a1b2c3d4/' \
	-e 's/00000000feedbeef/00000000a1b2c3d5/' \
	-e 's/00000000deadbeef/00000000a1b2c3d6/' "$indexed" > "$tap_dir/hashed"
run kmap report "$tap_dir/hashed" --kallsyms "$tap_dir/kallsyms" --json \
	--pointers
expect 'hashed addresses' 2 'no_hash_pointers'
tap_run 'codes and addresses are not known' python3 - "$tap_dir/stdout" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
total = rows.pop()["total"]
(freed, live, pages, kmalloc, ready, missed, unknown, user, block, none,
 module) = rows
for row in freed, live, pages, kmalloc, ready, missed, unknown, module:
    assert row["origin"] == "unknown" and row["address"] is None
    assert row["missing"]["address"] == "unsupported"
for row in freed, pages, missed, unknown, module:
    assert row["freed"] == "unknown" and row["free_site"] is None
for row in freed, pages, missed, module:
    assert row["nested"] is None and row["missing"]["nested"] == "unsupported"
assert live["freed"] == ready["freed"] == "live" and live["nested"] is False
assert freed["site"] == "0x81a65581"
assert total["hashed"] == 21 and total["missed"] == 0, total
assert total["live"] == 3 and total["nested"] == 0, total
PY
for sides in "$tap_dir/hashed $indexed" "$indexed $tap_dir/hashed"; do
	# shellcheck disable=SC2086
	run kmap diff $sides --by access_site
	expect 'hashed places cannot be compared' 65 'a key of one boot'
done
run kmap diff "$indexed" "$tap_dir/hashed" --by type
expect 'types can' 2 'has hashed addresses'
: > "$tap_dir/none"
run kmap report "$tap_dir/none"
expect 'an empty file' 1 'there is no object'
run kmap report "$tap_dir/none" --format csv -q
tap_run 'CSV of no object has a header' grep -q '^site,type,bytes,' \
	"$tap_dir/stdout"
run kmap report "$tap_dir/nowhere"
expect 'no file' 66 'cannot open'
run kmap report "$tap_dir"
expect 'a directory' 74 'cannot read'

# --- the command line ---

refused() {
	words=$1
	shift
	run kmap "$@"
	expect "kmap $*" 64 "$words"
}
refused 'lacks a file' report
refused 'takes one file' report a b
refused 'it takes an earlier one' diff a
refused "there is no 'x'" x a
refused "'record', 'watch', 'on'" x a
refused 'cannot be grouped by' report a --by colour
refused 'needs --by' report a --sort bytes
refused 'groups do not have' report a --by site --accesses
refused '--from has no meaning' report a --from live
refused 'has no meaning' calls a --vmlinux b
refused "is 'own_module'" report a --where kind=anon
refused 'needs --kallsyms' report a --where own_module
refused 'needs --kallsyms-before' diff a b --where own_module --kallsyms c
refused "is for 'kmap diff'" report a --kallsyms-before b
refused 'only NEW has names' diff a b --kallsyms c
refused 'only NEW has names' diff a b --vmlinux c
refused 'only OLD has names' diff a b --kallsyms-before c
refused 'is not a number of jiffies' report a --hz 0
refused 'from standard input' diff - -
refused 'needs two keys' report a --matrix - --by site
refused 'a format of its own' report a --matrix - --json
refused 'not a number of groups' report "$indexed" --matrix - --sort type
refused 'has no matrix' diff a b --matrix -
refused 'takes one file' calls
refused 'has no meaning' calls a --by site
refused "is for 'kmap calls'" report a --folded
refused "is for 'kmap calls'" report a --format dot
refused 'a format of its own' calls a --folded --json
run scan --format dot
expect 'a graph of pages' 64 "is for 'kmap calls'"
tap_done
