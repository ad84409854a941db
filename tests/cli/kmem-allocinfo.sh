#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests copies of /proc/allocinfo: of a kernel 6.12, before and after a program
# had sent 100 messages of System V, each of which has an object of 192 bytes.
. "$top_srcdir/tests/cli/cli.sh"

copies=$top_srcdir/tests/fixtures/traces/allocinfo
for when in before after; do
	zstd -dqc "$copies/$when.txt.zst" > "$tap_dir/$when" 2> /dev/null ||
		cp /dev/null "$tap_dir/$when"
done
if [ ! -s "$tap_dir/after" ]; then
	tap_skip 'copies of /proc/allocinfo' 'there is no zstd'
	tap_done
	exit 0
fi

# rows NAME CODE: Python about rows and total of the last run
rows() {
	tap_run "$1" python3 - "$tap_dir/stdout" <<EOT
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
total = rows.pop()["total"]
$2
EOT
}

run kmem report "$tap_dir/after" --json -q
expect 'a copy' 0
rows 'as awk adds it up' "
want = {}
with open('$tap_dir/after') as f:
    for line in f:
        words = line.split()
        if words[0].isdigit() and (words[0] != '0' or words[1] != '0'):
            name = words[-1].split(':')[1] + ' (' + words[2] + ')'
            had = want.get(name, (0, 0))
            want[name] = had[0] + int(words[0]), had[1] + int(words[1])
assert len(want) > 150, len(want)
assert {r['site']: (r['live_bytes'], r['live']) for r in rows} == want
assert total['live_bytes'] == sum(v[0] for v in want.values())
for r in rows:
    assert r['times'] is None and r['missing']['times'] == 'unsupported', r
sizes = [r['live_bytes'] for r in rows]
assert sizes == sorted(sizes, reverse=True)
"
run kmem report "$copies/after.txt.zst" --json -q
[ "$status" = 69 ] || rows 'compressed' "
assert total['live_bytes'] > 7000000"

run kmem diff "$tap_dir/before" "$tap_dir/after" --by function --json -q
expect 'two copies' 0
rows 'what the messages took' "
row = next(r for r in rows if r['function'] == 'alloc_msg')
assert row['live_grown'] == 100 and row['live_bytes_grown'] == 19200, row
assert row['live_before'] == 3, row
assert rows[0]['live_bytes_grown'] == 19200, rows[0]"

# --- made up ---

{
	echo 'allocinfo - version: 2.0'
	echo '#     <size>  <calls> <tag info>'
	echo '        4096        1 mm/a.c:10 func:one'
	echo '        -128       -2 mm/a.c:11 func:below'
	echo '         300        3 drivers/b.c:7 [mod] func:two accurate:no'
	echo '         200        2 drivers/b.c:9 [mod] func:two '
} > "$tap_dir/made"
run kmem report "$tap_dir/made" --by function,module --json
expect 'what is not exact' 2 '1 place of which the kernel could not count all'
rows 'modules' "
assert [(r['function'], r['module'], r['live'], r['live_bytes'])
        for r in rows] == [('one', None, 1, 4096), ('two', 'mod', 5, 500)]
assert total['inexact'] == 1"
head -c -9 "$tap_dir/made" > "$tap_dir/cut"
run kmem report "$tap_dir/cut" --json
expect 'cut in a line' 2 '1 line that cannot be read'
rows 'cut in a line: the rest counts' "assert total['live'] == 4, total"
{
	echo '        4096        1 mm/a.c:10 func:one'
	echo '        4096        1 mm/a.c:11 [mod func:two'
	echo '99999999999999999999  1 mm/a.c:12 func:three'
	echo '18446744073709551615  1 mm/a.c:13 func:four'
	echo '18446744073709551615  1 mm/a.c:14 func:five'
} > "$tap_dir/harm"
run kmem report "$tap_dir/harm" --json
expect 'lines in the middle' 2 '2 lines that cannot be read'
rows 'lines in the middle: the others count, and do not wrap' "
assert total['live'] == 3 and total['live_bytes'] == 2**64 - 1, total"
status=0
sort -rn "$tap_dir/after" | head -n 3 | "$PAGEDET" kmem report - --json -q \
	> "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
expect 'some lines of it' 0
rows 'some lines of it: three' 'assert len(rows) == 3'
run kmem report "$tap_dir/after" --by cpu --json -q
rows 'processors are not made up' "
assert len(rows) == 1 and rows[0]['cpu'] is None, rows"

line='a-1 [000] ..... 1.000000: kfree: call_site=f+0x1/0x2 ptr=00000000abcdef01'
{
	echo "$line"
	cat "$tap_dir/made"
} > "$tap_dir/both"
run kmem report "$tap_dir/both" --json
expect 'a trace with lines of it' 2 '4 pieces of the trace: damaged'
rows 'a trace with lines of it: is a trace' \
	"assert total['live'] == 0 and total['freed_unknown'] == 1"

# --- what the kernel says of the whole ---

# serve NUMBER...: the file "$tap_dir/proc/f", with these answers to its ioctl
serve() {
	mkdir -p "$tap_dir/proc"
	"$PYTHON3" "$top_srcdir/tests/cli/fuse-file.py" "$tap_dir/proc" \
		"$tap_dir/made" "$@" > "$tap_dir/why" 2>&1 &
	server=$!
	tap_wait is_served_or_ended
	kill -0 "$server" 2> /dev/null
}
is_served_or_ended() {
	grep -q " $tap_dir/proc fuse" /proc/mounts || ! kill -0 "$server"
}
unserve() {
	umount "$tap_dir/proc"
	wait "$server" || :
}

# judge NAME CHANGED NUMBER...
judge() {
	said=$1 changed=$2
	shift 2
	if ! serve "$@"; then
		tap_skip "$said" "$(cat "$tap_dir/why")"
		return
	fi
	run kmem report "$tap_dir/proc/f" --json
	rows "$said" "
assert total['changed'] == $changed and total['live'] == 6, total"
	if [ "$changed" = 1 ]; then
		expect "$said: told" 2 'counted twice; ask again'
	else
		tap_run "$said: nothing is told" \
			sh -c '! grep meanwhile "$1"' sh "$tap_dir/stderr"
	fi
	unserve
}

judge 'modules stay' 0 5 5
judge 'modules change meanwhile' 1 5 6
judge 'a kernel that does not know' 0
judge 'a kernel that does not answer again' 1 5
run kmem report "$tap_dir/made" --json -q
rows 'a copy does not change' "assert total['changed'] == 0"

# --- what needs events ---

run kmem timeline "$tap_dir/after" 5
expect 'kmem timeline' 64 'sums of what is live'
for word in live blame check; do
	run kmem "$word" "$tap_dir/after"
	[ "$status" = 77 ] || [ "$status" = 69 ] ||
		expect "kmem $word" 64 'sums of what is live'
done
run kmem report "$tap_dir/after" --sort allocated
expect 'what is not known cannot be sorted by' 64 'cannot sort by'
run kmem report "$tap_dir/after" --before \
	"$top_srcdir/tests/fixtures/traces/raw-6.18-x86_64"
expect 'a trace and a copy' 64 'sums of what is live'
# --- top alloc ---

run kmem report "$tap_dir/after" --sort live_bytes --json
cp "$tap_dir/stdout" "$tap_dir/report"
run top alloc "$tap_dir/after" --json
expect 'top alloc of a copy' 0 'how much was allocated before is not known'
tap_run 'top alloc is the report by what is live' \
	cmp "$tap_dir/report" "$tap_dir/stdout"
mkdir -p "$tap_dir/tree/proc"
run top alloc --root "$tap_dir/tree"
expect 'top alloc without the counts: what to record' 69 \
	'pagedet kmem record --for 10, then: pagedet top alloc kmem.dat'
cp "$tap_dir/after" "$tap_dir/tree/proc/allocinfo"
run top alloc --root "$tap_dir/tree" --json -q
expect 'top alloc of a kernel that counts' 0
tap_run 'top alloc of a kernel that counts: the same' \
	cmp "$tap_dir/report" "$tap_dir/stdout"
run top alloc "$tap_dir/after" "$tap_dir/before"
expect 'top alloc of two copies' 64 'one argument too many'
run top alloc "$tap_dir/after" --watch
expect 'top alloc of a copy in rounds' 64 'does not change'
run top allocs
expect 'top allocs' 64 "did you mean 'alloc'"
if command -v script > /dev/null; then
	TERM=dumb script -qec "stty rows 20; exec '$PAGEDET' top alloc \
		'$tap_dir/after'" /dev/null < /dev/null > "$tap_dir/stdout"
	tap_run 'top alloc on a terminal: as much as fits' test \
		"$(grep -c ' (.*:[0-9]*)' "$tap_dir/stdout")" -eq 14
	tap_run 'top alloc on a terminal: how many more' \
		grep -q '[0-9] more groups: --all lists them' "$tap_dir/stdout"
fi

tap_done
