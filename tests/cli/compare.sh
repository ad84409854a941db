#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests comparing the memory of two processes: exactly the differences are
# found. A snapshot is compared by its hashes, if they have the same key.
. "$top_srcdir/tests/cli/cli.sh"

[ "$(id -u)" = 0 ] || {
	echo "1..0 # SKIP needs root, to read the memory of processes"
	exit 0
}
$CC -o "$tap_dir/unlike" "$top_srcdir/tests/cli/unlike.c" ||
	exit 1
cd "$tap_dir" || exit 1

# start NAME CHANGES...: sets $pid and $at
start() {
	name=$1
	shift
	start_with "$name" ./unlike "$@"
}
start_with() {
	name=$1
	shift
	mkfifo "$name.in"
	"$@" < "$name.in" > "$name.out" &
	eval "exec $fd> $name.in"
	fd=$((fd + 1))
	tap_wait test -s "$name.out"
	read -r pid at < "$name.out"
}
fd=4
start first
a="$pid $at"
start twin
b="$pid $at"
start other 1=7 2=8 4=4 6=9
c="$pid $at"

# shellcheck disable=SC2086 # a pid and an address
compare() {
	run compare "$@" -q
}
set_words() {
	words="${1% *} ${1#* }+$2 ${3}"
}

set_words "$a" 0x8000 "$b"
compare $words
expect 'two that are the same' 0
stdout_is 'two that are the same: what is said' \
	'8 pages: 8 the same, 0 different, 0 not known'
set_words "$a" 0x8000 "$c"
compare $words
expect 'two that differ' 1
stdout_has 'pages that differ are counted' \
	'8 pages: 5 the same, 3 different, 0 not known'
stdout_has 'a run of two pages' \
	'2 pages differ, the first by 2 bits in 1 byte, from byte 100 on'
stdout_has 'a page that is absent here' \
	"$(printf 'here 0x%x  absent' $((0x${a#* } + 0x6000)))"
compare $words --json
expect 'as JSON' 1
tap_run 'as JSON: what differs, and the total' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
total = rows.pop()["total"]
patterns = [r for r in rows if "pattern" in r]
rows = [r for r in rows if "pattern" not in r]
assert [(p["pattern"], p["pages"]) for p in patterns] == [
    ("other", 2), ("empty_here", 1)], patterns
assert total == {"pages": 8, "same": 5, "different": 3, "unknown": 0,
                 "explained": 3}, total
first, last = rows
assert first["pages"] == 2 and first["differs"] and first["first"] == 100
# 1 became 7, 2 became 8
assert first["bits"] == 2 and first["bytes"] == 1, first
assert first["here"]["content"] == first["peer"]["content"] == "data"
assert first["here"]["kind"] == "anon" and "pfn" in first["peer"]
assert int(first["here"]["vaddr"], 16) % 4096 == 0
assert first["finding"] and first["cause"] and first["confidence"]
assert last["pages"] == 1 and last["here"]["content"] == "absent", last
assert last["peer"]["content"] == "data"
EOT
compare ${a% *} "$(printf %x $((0x${a#* } + 0x1064)))" \
	${c% *} "$(printf %x $((0x${c#* } + 0x1064)))"
expect 'one page, by an address within it' 1
stdout_has 'one page: where it is' "here 0x$(printf %x $((0x${a#* } + 0x1000)))"
compare ${a% *} "${a#* }+4096" ${b% *} "${b#* }" -o written
tap_run 'into a file' grep -q '1 page: 1 the same' written

# An unmapped page differs from a zero page.
compare ${a% *} "${a#* }+4096" ${b% *} 1000
expect 'what is not mapped is not known' 2
stdout_has 'what is not mapped is said' 'unmapped'

# Where no process has a mapping there is nothing to explain.
compare ${a% *} 1000+8192 ${b% *} 1000
expect 'mapped nowhere' 2
stdout_has 'mapped nowhere: that is said' \
	'2 pages on neither side: no process has a mapping there'
tap_fails 'mapped nowhere: nothing is advised' \
	grep -q 'mismatch\|migrat' "$tap_dir/stdout"
compare ${a% *} 1000 ${b% *} 1000 --json
tap_fails 'mapped nowhere, as JSON: no finding' \
	grep -q '"finding"' "$tap_dir/stdout"

# A snapshot has hashes.
run snapshot saved.snap --hash-key key virt ${a% *} "${a#* }+0x8000" \
	--fields cheap,pid,hash -q
expect 'a snapshot with hashes' 0
set_words "$a" 0x6000 "$a"
compare --from saved.snap --with live --hash-key key $words
expect 'a snapshot and the process it is of' 0
set_words "$a" 0x6000 "$c"
compare --from saved.snap --with live --hash-key key $words --json
expect 'a snapshot and another process' 1
tap_run 'a snapshot and another process: what differs' python3 - \
	"$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
assert rows[-1]["total"]["different"] == 2, rows[-1]
patterns = [row for row in rows if "pattern" in row]
rows = [row for row in rows[:-1] if "pattern" not in row]
assert sum(p["pages"] for p in patterns) == 2, patterns
assert sum(row["pages"] for row in rows) == 2, rows
assert "bits" not in rows[0], rows
# of all pages the same question
assert {row["finding"] for row in rows} == {"mismatch-unknown"}, rows
# the process ran when the snapshot was made, as the other does
for side in ("source", "peer"):
    assert any(side + " was frozen" in text for text in rows[0]["unknown"]), \
        rows[0]["unknown"]
EOT
run compare --from saved.snap --with live $words
expect 'a snapshot without its key' 2 'made with different keys (--hash-key)'
run snapshot bare.snap virt ${a% *} "${a#* }+0x8000" --fields pid,vaddr -q
run compare --from bare.snap --with live $words
expect 'a snapshot without hashes' 2 'has no hashes'

# What is told of all pages and what is told of each agree.
moved=$top_srcdir/tests/cli/moved.py
start_with still python3 "$moved"
d="$pid $at"
start_with moved python3 "$moved" copy:5:9 exchange:20:21 within:30:8 \
	within:31:8
set_words "$d" "$(printf '0x%x' $((64 * $(getconf PAGESIZE))))" "$pid $at"
compare $words
expect 'pages that have moved' 1
stdout_has 'a copy' '1 page has at the peer what another page has at the process here: page 9; it has what is at page 5'
stdout_has 'two that changed places' \
	'2 pages have changed places at the peer: pages 20 to 21 without a gap'
stdout_has 'bytes that moved within pages' '2 pages have at the peer the bytes of the page itself, 8 bytes further back: pages 30 to 31 without a gap'
stdout_has 'others' '2 pages are in no pattern of whole pages: pages 30 to 31'
compare $words --json
tap_run 'each page is told as all are' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f][:-1]
told = [(r["pages"], r.get("part_of"), r["finding"], r.get("same_as_page"),
         r.get("shift_bytes")) for r in rows if "pattern" not in r]
assert told == [(1, "moved", "misplaced", 5, None),
                (2, "exchanged", "misplaced", 21, None),
                (2, None, "mismatch-unknown", None, -8)], told
assert [(r["pattern"], r["pages"]) for r in rows if "pattern" in r] == [
    ("exchanged", 2), ("other", 2), ("moved", 1)], rows
EOT

run compare 1 1000 1
expect 'too few arguments' 64 'compare lacks arguments'
run compare 1 1000 1 1001
expect 'not at the same place of a page' 64 'different offsets in their pages'
run compare 1 xyz 1 1000
expect 'no address' 64 'not a hex number'
run compare 999999999 1000 1 1000
expect 'no such process' 1 'there is no such task'
run diff --with live a b
expect 'an option of compare' 64 "is an option of 'compare'"

tap_done
