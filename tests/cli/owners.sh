#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: page_owner
# Tests groups of page_owner's records: orders, leaving out small groups, the
# text of the kernel's page_owner_sort, and the counts by stack of newer
# kernels.
. "$top_srcdir/tests/cli/cli.sh"

# record PFN ORDER PID COMM NS FUNCTION [LINE...]
record() {
	printf 'Page allocated via order %s, mask 0x140cca(%s), pid %s, tgid %s (%s), ts %s ns\n' \
		"$2" 'GFP_HIGHUSER_MOVABLE|__GFP_COMP' "$3" "$3" "$4" "$5"
	printf 'PFN 0x%x type Movable Block 0 type Movable Flags 0xfffffc0002000(node=0|zone=1)\n' "$1"
	printf ' %s+0x1/0x2\n do_syscall_64+0x5/0x9\n' "$6"
	shift 6
	for line; do
		printf '%s\n' "$line"
	done
	echo
}
text=$tap_dir/owners.txt
{
	record 256 0 7 sh 1000 alloc_a
	record 257 0 9 sh 4000 alloc_a
	record 260 2 7 cc 2000 alloc_b
	record 512 0 8 cc 3000 alloc_c 'Slab cache page' \
		'Charged (via objcg) to offline memcg web'
	record 513 0 8 cc 3000 alloc_c 'Slab cache page' \
		'Charged (via objcg) to offline memcg web'
} > "$text"

# order LIST [OPTIONS]: prints the first frames in the order of the groups
order() {
	sort=$1
	shift
	run owners "$text" --json --sort "$sort" "$@"
	order=$(sed 's/.*"frames":\["\([a-z_]*\)+.*/\1/' "$tap_dir/stdout" |
		tr '\n' ' ')
}
# is_order NAME WANT
is_order() {
	if [ "$order" = "$2" ]; then
		tap_ok "$1"
	else
		echo "expected $2, is $order" > "$tap_dir/why"
		tap_not_ok "$1" "$tap_dir/why"
	fi
}
order pages
is_order 'by pages' 'alloc_b alloc_a alloc_c '
order -pages,oldest
is_order 'the other way round, then the oldest' 'alloc_a alloc_c alloc_b '
order times,-oldest
is_order 'by times, then the youngest' 'alloc_c alloc_a alloc_b '
order ns
is_order 'by time' 'alloc_a alloc_b alloc_c '
order -pid,times --by stack,pid
is_order 'by a key' 'alloc_a alloc_c alloc_b alloc_a '
order pages --min-pages 3
is_order 'small groups are left out' 'alloc_b '
order pages --top 2
is_order 'the first ones' 'alloc_b alloc_a '
run owners "$text" --sort pid
expect 'a key that is none of --by' 64 "'pid' is not pages"
run owners "$text" --sort pages,
expect 'an empty key' 64 "'' is not pages"
run owners "$text" --min-pages x
expect 'no number' 64 "--min-pages: 'x' is not a number"

# --- the text of page_owner_sort ---

run owners "$text" --format page_owner_sort --sort times,pages
expect 'as page_owner_sort: status' 0
stdout_is 'as page_owner_sort' '2 times, 2 pages:
 alloc_a+0x1/0x2
 do_syscall_64+0x5/0x9

2 times, 2 pages:
 alloc_c+0x1/0x2
 do_syscall_64+0x5/0x9
Slab cache page
Charged (via objcg) to offline memcg web

1 times, 4 pages:
 alloc_b+0x1/0x2
 do_syscall_64+0x5/0x9'
run owners "$text" --format page_owner_sort --by pid,comm --sort pid
stdout_is 'as page_owner_sort, of tasks' '1 times, 4 pages, PID 7, task_comm_name: cc
1 times, 1 pages, PID 7, task_comm_name: sh
2 times, 2 pages, PID 8, task_comm_name: cc
1 times, 1 pages, PID 9, task_comm_name: sh'
# What it has written can be read: as often as it says. Its newer versions drop
# the line with the page.
for line in '53221 times, 53221 pages:' '53221 times:' \
	'53221 times, 53221 pages, by others :'; do
	for drop in /none/ '/^PFN /'; do
		{
			echo "$line"
			sed -n "1,/^\$/p" "$text" | sed "${drop}d"
		} > "$tap_dir/sorted"
		run owners "$tap_dir/sorted" --json
		expect "$line without $drop" 0
		stdout_has "$line without $drop: so often" \
			'"times":53221,"pages":53221,"bytes":217993216}'
		run owners "$tap_dir/sorted" --json --by pid
		stdout_has "$line without $drop: of one record only" \
			'{"pid":"?","times":53221,'
	done
done
run owners "$tap_dir/sorted" --where 'pid=7'
expect 'a filter is undecided as often' 2 '53221 records undecided'
run owners "$tap_dir/sorted" --mixed
expect 'blocks are undecided as often' 2 '53221 records undecided'
run page 256 --from "$tap_dir/sorted"
expect 'no page of a group is known' 69 'says nothing about single pages'
sums() {
	sed 's/"bytes":\([0-9]*\).*/\1/' "$tap_dir/stdout" > "$tap_dir/$1"
}
run owners "$text" --json
sums before
run owners "$text" --format page_owner_sort
cp "$tap_dir/stdout" "$tap_dir/sorted"
run owners "$tap_dir/sorted" --json
sums after
tap_run 'our own form of it has the same sums' \
	diff "$tap_dir/before" "$tap_dir/after"
printf '5 times, 5 pages, PID 7\n1 times, 1 pages, PID 8\n' \
	> "$tap_dir/sorted"
run owners "$tap_dir/sorted"
expect 'sums without stacks' 65 'left out the stacks'
for end in '' '\r'; do
	printf "5 times, 10 pages, task_comm_name: bash$end\n" \
		> "$tap_dir/sorted"
	run owners "$tap_dir/sorted"
	expect 'sums of tasks without stacks' 65 'left out the stacks'
done

# --- text from elsewhere ---

run owners "$text" --json --by stack,comm,memcg_name
cp "$tap_dir/stdout" "$tap_dir/all"
sed 's/$/\r/' "$text" > "$tap_dir/crlf"
run owners "$tap_dir/crlf" --json --by stack,comm,memcg_name
expect 'ends of lines as on a terminal' 0
tap_run 'ends of lines as on a terminal: the same groups' \
	cmp "$tap_dir/all" "$tap_dir/stdout"
run page 256 --from "$tap_dir/crlf" --json --fields alloc_comm,gfp
stdout_is 'ends of lines as on a terminal: a page' \
	'{"alloc_comm":"sh","gfp":["GFP_HIGHUSER_MOVABLE","__GFP_COMP"]}'
sed 's/$/\r/' "$tap_dir/sorted" > "$tap_dir/crlf"
run owners "$tap_dir/crlf"
expect 'sums without stacks, the same' 65 'left out the stacks'

# 3.19 to 4.5
{
	printf 'Page allocated via order 1, mask 0x280da\n'
	printf 'PFN 4550 Block 8 type 2 Fallback Flags   U  L      \n'
	printf ' [<ffffffff8116147e>] alloc_a+0x1/0x2\n'
	printf ' [<ffffffff8116247e>] do_syscall_64+0x5/0x9\n'
	printf ' [<ffffffffffffffff>] 0xffffffffffffffff\n\n'
} > "$tap_dir/old"
run owners "$tap_dir/old" --json
expect 'text of 3.19' 0
stdout_has 'text of 3.19: the stack is that of newer text' "$(
	sed -n 's/.*\("stack":"0x[0-9a-f]*"\).*alloc_a.*/\1/p' "$tap_dir/all" |
		head -n 1)"
run page 4551 --from "$tap_dir/old" --json \
	--fields gfp,gfp_mask,alloc_order,migratetype,alloc_pid
stdout_is 'text of 3.19: a page' '{"gfp_mask":"0x280da","alloc_order":1,"missing":{"alloc_pid":"no_kernel","gfp":"no_kernel","migratetype":"no_kernel"}}'
run owners "$tap_dir/old" --json --by gfp,migratetype,order
stdout_has 'text of 3.19: no names are made up' \
	'{"gfp":"?","migratetype":"?","order":1,"times":1,"pages":2,'
run owners "$tap_dir/old" --mixed --json
expect 'text of 3.19: types are not known' 2 '1 record undecided'

# the numbers of stacks instead of their lines
sed '/^ do_sys/d; s/^ alloc_a.*/handle: 174321/; s/^ alloc_.*/handle: 9/' "$text" \
	> "$tap_dir/handles"
run owners "$tap_dir/handles" --json --by stack,module,allocator
expect 'numbers of stacks' 0
stdout_has 'numbers of stacks: in place of a stack' \
	'"frames":["handle: 174321"],"module":"?","allocator":"?","times":2,'

stacks=$top_srcdir/tests/fixtures/page_owner/6.12.117.show_stacks.txt.gz
run owners "$stacks" --format page_owner_sort
[ "$status" = 69 ] || tap_run 'as page_owner_sort, without times: none is made up' \
	sh -c 'grep -q "^? times, [1-9]" "$1" && ! grep -q "^0 times" "$1"' sh \
	"$tap_dir/stdout"
run scan --format page_owner_sort
expect 'of nothing else' 64 "is for 'owners'"

# The program itself, if it was built before: the same groups.
peer=$(ls "${HOME:-/nonexistent}"/.cache/pagedet/page_owner_sort-*/page_owner_sort \
	2> /dev/null | head -n 1)
if [ -n "$peer" ] && "$peer" --cull=st "$text" "$tap_dir/peer" \
	> /dev/null 2>&1; then
	groups() {
		awk 'BEGIN { RS = "" } { gsub("\n", "|"); print }' "$1" | sort
	}
	run owners "$text" --format page_owner_sort
	groups "$tap_dir/peer" > "$tap_dir/theirs"
	groups "$tap_dir/stdout" > "$tap_dir/ours"
	tap_run 'the same as page_owner_sort' \
		diff "$tap_dir/theirs" "$tap_dir/ours"
else
	tap_skip 'the same as page_owner_sort' \
		'scripts/build-page-owner-sort has not built it'
fi

# --- types of page blocks ---

# typed PFN ORDER MOBILITY BLOCK TYPE FUNCTION
typed() {
	record "$1" "$2" 7 sh 1000 "$6" |
		sed "s/type Movable Block 0 type Movable/type $3 Block $4 type $5/"
}
mixed=$tap_dir/mixed.txt
{
	typed 1024 0 Movable 2 Movable alloc_a
	typed 1025 0 Unmovable 2 Movable alloc_b
	typed 1028 1 Unmovable 2 Movable alloc_b
	typed 2048 0 Reclaimable 4 Reclaimable alloc_a
	typed 2049 0 Unmovable 4 Reclaimable alloc_c
} > "$mixed"
run owners "$mixed" --json --by migratetype,page_mobility
expect 'what allocations asked for: status' 0
stdout_has 'what allocations asked for' \
	'"migratetype":"Movable","page_mobility":"Unmovable","times":2,"pages":3'
run scan --from "$mixed" --json --fields pfn,page_mobility \
	--where 'page_mobility=Unmovable and migratetype=Reclaimable'
stdout_is 'pages by what was asked for' \
	'{"pfn":2049,"page_mobility":"Unmovable"}'
run scan --from "$mixed" --json --by page_mobility
stdout_has 'counted by it' '"page_mobility":"Unmovable","pages":4'

run owners "$mixed" --json --by block --sort block
stdout_has 'by page block' '{"block":1024,"times":3,"pages":4,'
stdout_has 'by page block: the next' '{"block":2048,"times":2,"pages":2,'
sed 's/Block 4 /Block 5 /' "$mixed" > "$tap_dir/bad"
run owners "$tap_dir/bad" --json --by block
stdout_has 'numbers that contradict each other' '{"block":"?","times":2,'

# --- mixed page blocks ---

run owners "$mixed" --mixed --json
expect 'mixed blocks: status' 0 'page blocks that are mixed: 2'
stdout_has 'mixed blocks: movable' \
	'{"node":0,"zone":"1","migratetype":"Movable","blocks":1,"times":2,"pages":3,'
stdout_has 'mixed blocks: reclaimable' \
	'"migratetype":"Reclaimable","blocks":1,"times":1,"pages":1,'
typed 4097 0 Unmovable 8 Movable alloc_c >> "$mixed"
run owners "$mixed" --mixed --by stack --format csv
expect 'who makes them mixed: status' 0 'page blocks that are mixed: 3'
stdout_has 'who makes them mixed: the head' \
	'stack,frames,blocks,times,pages,bytes,'
stdout_has 'who makes them mixed' 'alloc_c+0x1/0x2;do_syscall_64+0x5/0x9",2,2,2,'
tap_run 'most blocks first, not most pages' \
	sh -c 'sed -n 2p "$1" | grep -q alloc_c' sh "$tap_dir/stdout"
run owners "$mixed" --mixed --by stack --sort blocks,pages
expect 'sorted by blocks' 0 'page blocks that are mixed: 3'
tap_run 'blocks are the first column' grep -q '^ *blocks *times' \
	"$tap_dir/stdout"
run owners "$mixed" --mixed --where 'migratetype=Reclaimable' --json
stdout_has 'some of them' '"migratetype":"Reclaimable","blocks":1'
sed 's/Flags [^(]*(/&reserved|/' "$mixed" > "$tap_dir/reserved"
run owners "$tap_dir/reserved" --mixed
expect 'reserved pages make no block mixed' 1 'no record matched'
run owners "$tap_dir/bad" --mixed --json
expect 'a block that is not known' 2 '2 records undecided'
sed 's/node=0|zone=1/locked/' "$mixed" > "$tap_dir/nowhere"
run owners "$tap_dir/nowhere" --mixed --json
stdout_has 'without a place' '{"node":"?","zone":"?","migratetype":"Movable",'
run owners "$mixed" --sort blocks
expect 'no blocks without --mixed' 64 'blocks (with --mixed)'
run owners "$mixed" --mixed --format page_owner_sort
expect 'a format without blocks' 64 'page_owner_sort has no page blocks'
mkfifo "$tap_dir/fifo"
run owners "$tap_dir/fifo" --mixed --deadline 0.1 --json
expect 'a text that never comes' 2 'the deadline passed first'
run scan --mixed
expect 'of nothing else' 64 "--mixed"

# --- a kernel that counts by stack ---

stacks=$tap_dir/tree/sys/kernel/debug/page_owner_stacks
mkdir -p "$stacks" "$tap_dir/tree/proc"
printf ' alloc_a+0x1/0x2\n do_syscall_64+0x5/0x9\nnr_base_pages: 12\n\n' \
	> "$stacks/show_stacks"
echo 10 > "$stacks/count_threshold"
run owners --root "$tap_dir/tree" --json
expect 'counts by stack: status' 0 'fewer than 10 pages are hidden'
stdout_has 'counts by stack' '"pages":12,"bytes":49152'
stdout_has 'times are not known, and not zero' '"missing":{"times"'
echo 0 > "$stacks/count_threshold"
run owners --root "$tap_dir/tree" --json
expect 'no threshold' 0 'counts pages, not times'
tap_fails 'nothing is hidden' grep -q hidden "$tap_dir/stderr"
rm "$stacks/count_threshold"
run owners --root "$tap_dir/tree" --json
expect 'a threshold that cannot be read' 0 'stacks may be hidden'
run owners --root "$tap_dir/tree" --mixed
tap_fails 'they do not know page blocks' test "$status" = 0
run owners "$stacks/show_stacks" --mixed
expect 'nor does their file' 2 '1 record undecided'
run owners --root "$tap_dir/tree" --by pid
tap_fails 'they do not know tasks' test "$status" = 0
cp "$text" "$tap_dir/tree/sys/kernel/debug/page_owner"
run owners --root "$tap_dir/tree" --json
tap_run 'programs get times, where page_owner has them' grep -q \
	'"times":[1-9]' "$tap_dir/stdout"

# A terminal: what has no room in a line is below it, and nothing is left out.
for columns in 60 70 80 100; do
	for by in stack gfp,comm,pid,migratetype; do
		run owners "$text" --by "$by" --min-pages 2
		tr -s ' \n' '\n\n' < "$tap_dir/stdout" | grep . > "$tap_dir/words"
		( COLUMNS=$columns && export COLUMNS &&
			run owners "$text" --by "$by" --min-pages 2 )
		tap_run "$columns columns by $by: no line is longer" awk \
			-v most="$columns" 'length > most { bad = 1 }
			/ $/ { bad = 1 } END { exit bad || NR < 3 }' \
			"$tap_dir/stdout"
		tr -s ' \n' '\n\n' < "$tap_dir/stdout" | grep . > "$tap_dir/narrow"
		tap_run "$columns columns by $by: the same words" \
			cmp "$tap_dir/words" "$tap_dir/narrow"
	done
done
# lines OPTIONS...: the number of lines on a terminal of 80 columns
lines() {
	( COLUMNS=80 && export COLUMNS && run owners "$text" "$@" -q )
	lines=$(awk 'length > 80 { exit 1 } END { print NR }' \
		"$tap_dir/stdout")
}
lines --by comm
tap_run '80 columns: a line for each name, and a heading' test "$lines" = 3
lines --by comm --before "$text"
tap_run '80 columns: a line for each name, compared' test "$lines" = 3
lines --by comm,order,pid
tap_run '80 columns: a line for several keys' test "$lines" = 5
lines --before "$text" --top 1
tap_run '80 columns: a stack, its frames and what it has grown' test "$lines" = 5

# --- a text on standard input ---

for from in - '--from -' '--from=-'; do
	status=0
	"$PAGEDET" owners $from --by comm --format csv < "$text" \
		> "$tap_dir/stdout" || status=$?
	expect "owners $from reads it" 0
	stdout_has "owners $from: what is in it" 'sh,2,2,8192,'
done
status=0
cat "$text" | "$PAGEDET" owners > "$tap_dir/stdout" 2> "$tap_dir/stderr" ||
	status=$?
if [ "$status" = 0 ]; then
	tap_skip 'a text is piped' 'this kernel has page_owner'
else
	tap_run 'a text is piped: how to read it' grep -q \
		'hint: for a text on standard input: .* owners -$' \
		"$tap_dir/stderr"
fi

# --- what the text says of one page ---

run --from "$text" explain 256
expect 'explain of a text' 2
stdout_has 'explain of a text: who allocated the page' \
	'allocated by sh, task 7; what it is used for is not known'
stdout_has 'explain of a text: which code' "stack 256' says which code"
run --from "$text" page 256 --json --fields flags
stdout_has 'its flags' '"flags":[]'
{
	record 256 0 7 sh 1000 alloc_a
	record 257 1 9 sh 4000 alloc_a
} | sed 's/Flags 0xf*c*0*2000(/Flags 0x2008c(dirty|uptodate|swapbacked|owner_2|hwpoison|/' \
	> "$tap_dir/flags.txt"
run --from "$tap_dir/flags.txt" page 256 --json --fields flags
stdout_has 'its flags, by name' '"flags":["uptodate","dirty","swapbacked","hwpoison"]'
stdout_has 'a flag with two meanings is not known' '"owner_2"'
sed 's/swapbacked|//' "$tap_dir/flags.txt" > "$tap_dir/lazy.txt"
run --from "$tap_dir/lazy.txt" page 256 --json --fields flags
stdout_has 'nor where an anonymous page is not swapbacked (MADV_FREE)' \
	'"flags":["uptodate","dirty","hwpoison"]'
run --from "$tap_dir/flags.txt" page 258 --json --fields flags
stdout_has 'flags are those of the first page' '"missing":{"flags":"unsupported"'
run --from "$tap_dir/flags.txt" explain 256
expect 'explain of a poisoned page' 0
stdout_has 'a poisoned page' 'the kernel does not use it any more'
sed 's/(dirty|/(dirty|lru|/' "$tap_dir/flags.txt" > "$tap_dir/listed.txt"
run --from "$tap_dir/listed.txt" explain 256
expect 'explain of a poisoned page that is on a list' 0
stdout_has 'a poisoned page that is on a list' \
	'the kernel could not take it away from all who use it, or is doing so'
tap_done
