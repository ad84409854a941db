#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests filters of groups of allocations: each against a report without one, of
# which a script takes the same groups.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
trace=$traces/raw-6.18-x86_64
old=$traces/raw-6.12-x86_64

# where KEYS FILTER PYTHON [OPTION...]: PYTHON judges the row g
where() {
	keys=$1 filter=$2 python=$3
	shift 3
	run kmem report "$trace" --by "$keys" --json -q "$@"
	mv "$tap_dir/stdout" "$tap_dir/all"
	run kmem report "$trace" --by "$keys" --json -q "$@" --where "$filter"
	tap_run "$filter" python3 - "$tap_dir" "$python" "$status" <<'EOT'
import json
import sys

def read(name):
    with open(sys.argv[1] + "/" + name) as f:
        rows = [json.loads(line) for line in f]
    return rows[:-1], rows[-1]["total"]

test = eval("lambda g: " + sys.argv[2])
every, total = read("all")
some, of_some = read("stdout")
wanted = [g for g in every if test(g)]
assert some == wanted, (some, wanted)
assert 0 < len(some) < len(every), len(some)
assert of_some["groups"] == len(some), of_some
assert of_some["filtered"] == len(every) - len(some), of_some
assert of_some["undecided"] == 0, of_some
for name in "times", "requested", "live", "live_bytes", "freed":
    assert of_some[name] == sum(g[name] for g in some), name
for name in "events", "freed_unknown", "lost":
    assert of_some[name] == total[name], name
assert sys.argv[3] == "0", sys.argv[3]
EOT
}
size='--page-size 4096'
# shellcheck disable=SC2086
{
	where site 'live>10' 'g["live"] > 10' $size
	where site 'waste>=1000 or times<=2' \
		'g["waste"] >= 1000 or g["times"] <= 2' $size
	where site 'function~^load_' \
		'(g["site"] or "").startswith("load_")' $size
	where site 'not function=load_msg and site!=none' \
		'g["site"] and not g["site"].startswith("load_msg+")' $size
	where family,cpu 'family!=page and cpu=1' \
		'g["family"] != "page" and g["cpu"] == 1' $size
	where bytes_req,tid 'bytes_req>=1000 and bytes_req<2000' \
		'1000 <= (g["bytes_req"] or 0) < 2000' $size
	where function 'live=0' 'g["live"] == 0' $size
	where cpu 'page_live>90' 'g["page_live"] > 90' $size
}

# --- the order, and pictures ---

run kmem report "$trace" --where 'live>10' --sort -times --json -q $size
tap_run 'another order' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f][:-1]
times = [g["times"] for g in rows]
assert times and times == sorted(times), times
assert all(g["live"] > 10 for g in rows), rows
EOT

# --- modules ---

cat > "$tap_dir/allocinfo" <<'EOT'
allocinfo - version: 1.0
#     <size>  <calls> <tag info>
        4096        1 mm/slub.c:2423 func:alloc_slab_page
       12288        3 fs/ext4/super.c:1 [ext4] func:ext4_alloc_inode
        8192        2 fs/xfs/xfs_buf.c:7 [xfs] func:xfs_buf_alloc
EOT
# modules KEYS FILTER FUNCTION...: those for which the filter is true
modules() {
	keys=$1 filter=$2
	shift 2
	run kmem report "$tap_dir/allocinfo" -q --by "$keys" --format csv \
		--where "$filter"
	tap_run "$filter by $keys" test "$(sed -n '2,$p' "$tap_dir/stdout" |
		sed 's/[ ,].*//' | tr '\n' ' ')" = "$* "
}
for keys in site function,module; do
	modules $keys module=ext4 ext4_alloc_inode
	modules $keys 'module!=none' ext4_alloc_inode xfs_buf_alloc
	modules $keys 'module=none' alloc_slab_page
	modules $keys 'module!=ext4 and live_bytes>5000' xfs_buf_alloc
	modules $keys 'function=xfs_buf_alloc or live<2' xfs_buf_alloc \
		alloc_slab_page
done
run kmem report "$tap_dir/allocinfo" --where 'times>1'
expect 'a text of what is live has no other sums' 64 'it is not a sum'

# --- two traces ---

run kmem diff "$old" "$trace" --by function --json -q $size \
	--where 'live_grown<0 or times_before=0'
tap_run 'what has shrunk or is new' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f][:-1]
assert any(g["live_grown"] < 0 for g in rows), rows
assert any(g["times_before"] == 0 for g in rows), rows
assert all(g["live_grown"] < 0 or g["times_before"] == 0 for g in rows), rows
EOT

# --- what is not known ---

run kmem report "$trace" --by family --json --where \
	'allocated>0 or page_allocated>0'
expect 'bytes of pages are not known' 2 \
	'1 group left out, because what --where tests is not known'
stdout_has 'it is counted' '"filtered":0,"undecided":1,'
run kmem report "$trace" --by family --json --where \
	'allocated>0 or page_allocated>0 or family=page'
tap_run 'and may decide nothing' [ "$status" -eq 0 ]
stdout_has 'but the others' '"groups":3,'
for name in verified_live verified_live_bytes verified_free unverified; do
	run kmem report "$trace" $size --where "$name=0" --json
	expect "$name, of what was not verified" 2 'what --where tests is not'
	stdout_has "$name decides nothing" '"groups":0,'
	for side in before grown; do
		run kmem diff "$old" "$trace" -q $size --json --where \
			"${name}_$side=0"
		stdout_has "${name}_$side: likewise" '"groups":0,'
	done
done

# --- no, and nonsense ---

run kmem report "$trace" --where 'times>99999999' $size
expect 'no group' 1 'no group matches --where'
run kmem report "$trace" --where 'cpu=1'
expect 'a key that they are not grouped by' 64 "hint: add cpu to the keys of --by; 'pagedet help"
run kmem report "$trace" --where 'colour=1'
expect 'not a key' 64 'it is not a sum, nor a key of these groups'
run kmem report "$trace" --by cpu --where 'function=load_msg'
expect 'only a site has a function' 64 'add function to the keys of --by'
run kmem report "$trace" --where 'live_grown>1'
expect 'one trace has not grown' 64 'it is not a sum'
run kmem report "$trace" --where live
expect 'no bare names' 64 'expected one of ='
run kmem report "$trace" --where 'live>x'
expect 'not a number' 64 'expected a number'
run kmem report "$trace" --where 'live~1'
expect 'a number is not a text' 64 "'~' is for text"
run kmem report "$trace" --where 'site~['
expect 'a wrong expression' 64 'it is not a regular expression'
tap_done
