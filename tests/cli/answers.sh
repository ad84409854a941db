#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests each command's answer about a small, fully known machine, and its exit
# status.
. "$top_srcdir/tests/cli/cli.sh"

root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"

# ask ARGUMENTS...: queries that machine, with JSON output
ask() {
	run --root "$root" --json "$@"
}

# answers NAME TEXT ARGUMENTS...: status 0, output TEXT, no message
answers() {
	answers_name=$1
	answers_text=$2
	shift 2
	ask "$@"
	expect "$answers_name: status" 0
	stdout_is "$answers_name" "$answers_text"
}

# --- page frame numbers, physical addresses ---

answers 'a page' '{"pfn":256,"kind":"anon","mapcount":1}' \
	page 256 --fields pfn,kind,mapcount
answers 'hex' '{"pfn":256}' page 0x100 --fields pfn
answers 'a leading zero is decimal' '{"pfn":100}' page 0100 --fields pfn
answers 'a range' '{"pfn":287,"kind":"hole"}
{"pfn":288,"kind":"free"}' page 0x11f+2 --fields pfn,kind
answers 'a list knows what was asked' '{"ask":0,"pfn":304}
{"ask":1,"pfn":0}
{"ask":1,"pfn":1}
{"ask":2,"pfn":304}' page 304 0+2 0x130 --fields ask,pfn
ask page 9223372036854775807 --fields pfn,kind
expect 'the last number there is: status' 0 \
	'no machine has a page frame 0x7fffffffffffffff; if it is an address'
stdout_is 'the last number there is' \
	'{"pfn":9223372036854775807,"kind":"hole"}'
answers 'a physical address' '{"pfn":256}' phys 100fff --fields pfn
answers 'a physical range' '{"pfn":256}
{"pfn":257}' phys 0x100fff+2 --fields pfn
answers 'the last address there is' '{"pfn":2251799813685247,"kind":"hole"}' \
	phys 7fffffffffffffff --fields pfn,kind
for place in before behind; do
	if [ $place = before ]; then
		run --json --fields pfn --root "$root" page 5
	else
		run page 5 --root="$root" --format=json --fields=pfn
	fi
	stdout_is "options $place the command" '{"pfn":5}'
done

# --- standard input ---

# from_stdin ARGUMENTS...: page numbers are in $tap_dir/in
from_stdin() {
	status=0
	"$PAGEDET" page - --root "$root" --json "$@" < "$tap_dir/in" \
		> "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
}
printf '256\n\n 0x101+2\t272' > "$tap_dir/in"
from_stdin --fields ask,pfn
expect 'standard input: status' 0
stdout_is 'standard input' '{"ask":0,"pfn":256}
{"ask":1,"pfn":257}
{"ask":1,"pfn":258}
{"ask":2,"pfn":272}'

# More than one query takes.
seq 0 140000 > "$tap_dir/in"
sed 's/.*/{"pfn":&}/' "$tap_dir/in" > "$tap_dir/expected"
from_stdin --fields pfn
tap_run 'a long list' cmp "$tap_dir/expected" "$tap_dir/stdout"
from_stdin --fields pfn --threads 2
tap_run 'a long list, two threads' cmp "$tap_dir/expected" "$tap_dir/stdout"
sed 's/.*/{"ask":&,"pfn":&}/' "$tap_dir/in" > "$tap_dir/expected"
from_stdin --fields ask,pfn
tap_run 'a long list is numbered through' \
	cmp "$tap_dir/expected" "$tap_dir/stdout"
from_stdin --fields pfn --format text
tap_run 'a long list is one table' awk '
	NR == 1 { head = $0; next }
	$0 == head { exit 1 }
	$1 != NR - 2 { exit 1 }
	END { exit NR != 140002 }' "$tap_dir/stdout"
from_stdin --fields pfn --format csv
tap_run 'a long list has one header' awk '
	NR == 1 ? $0 != "pfn" : $0 != NR - 2 { exit 1 }
	END { exit NR != 140002 }' "$tap_dir/stdout"
from_stdin --fields row
tap_fails 'a number that would start anew is not shown' \
	grep -q '"ask"' "$tap_dir/stdout"
from_stdin --by node
tap_run 'a long list makes one total' \
	test "$(grep -c '"total":{"pages":140001,' "$tap_dir/stdout")" = 1
from_stdin --fields pfn --deadline 0.000001
expect 'the deadline is for the whole list' 2 'the deadline passed first'
run --root "$root" scan --summary --deadline 0.000000001
expect 'no time for a sum' 2 'the deadline passed first'
stdout_has 'the sum of a part says so' 'at least      0   0 B'
stdout_has 'and what was visited' 'a part was not looked at; visited: 0 of '
run --root "$root" scan --summary --deadline 0.000000001 --json
stdout_has 'as JSON' '"undecided":0,"complete":false,"visited":0,"wanted":'
echo x >> "$tap_dir/in"
from_stdin --fields pfn
expect 'a bad line far behind' 65 "line 140002: 'x'"
tap_run 'what was found before it is shown' \
	test "$(wc -l < "$tap_dir/stdout")" -ge 65536

# --- tasks ---

answers 'an address with a page' \
	'{"pfn":256,"pid":12,"vaddr":"0x7f0000000000","kind":"anon"}' \
	virt 12 7f0000000fff --fields pid,vaddr,pfn,kind
answers 'addresses without' \
	'{"pfn":null,"vaddr":"0x7f0000002000","kind":"anon","swap_type":0,"swap_offset":33}
{"pfn":null,"vaddr":"0x7f0000003000","kind":"anon","swap_type":null,"swap_offset":null}
{"pfn":null,"vaddr":"0x7f0000004000","kind":"untouched","swap_type":null,"swap_offset":null}' \
	virt 12 7f0000002000+0x3000 \
	--fields vaddr,pfn,kind,swap_type,swap_offset
answers 'an address outside' '{"vaddr":"0x10000","kind":"unmapped"}' \
	virt 12 0x10000 --fields vaddr,kind
answers 'the last address of all' \
	'{"vaddr":"0xfffffffffffff000","kind":"unmapped"}' \
	virt 12 ffffffffffffffff --fields vaddr,kind -q
answers 'a task' '{"pfn":272,"vaddr":"0x400000"}
{"pfn":256,"vaddr":"0x7f0000000000"}
{"pfn":257,"vaddr":"0x7f0000001000"}
{"pfn":null,"vaddr":"0x7f0000002000"}
{"pfn":null,"vaddr":"0x7f0000003000"}' task 12 --fields vaddr,pfn
answers 'two tasks' '{"ask":0,"pid":13,"vaddr":"0x400000"}
{"ask":0,"pid":13,"vaddr":"0x7f1000000000"}
{"ask":1,"pid":12,"vaddr":"0x7f0000003000"}' \
	task 13 12 --fields ask,pid,vaddr --where 'pid=13 or pte:guard'
ask task 99
expect 'no such task' 1 'no such task'
ask virt 99 0x1000
expect 'no such task, one address' 1 'no such task'

# An address without 0x is hex, also if it has only decimal digits.
ask virt 12 10000 20000 --fields vaddr,kind
expect 'addresses that look like decimal' 0 \
	"'10000' was read as hex, 0x10000; the decimal number is written 0x2710"
tap_run 'and that is said once' test "$(wc -l < "$tap_dir/stderr")" = 1
ask phys 100000+4096 --fields pfn
expect 'a physical address' 0 'the decimal number is written 0x186a0'
stdout_is 'it is still read as hex' '{"pfn":256}'
for words in 'phys -q 100000' 'phys 0x100000' 'virt 12 00400000' 'virt 12 0'; do
	# shellcheck disable=SC2086
	ask $words
	expect "$words: nothing to note" 0
done

# --- cgroups, all memory ---

answers 'a cgroup, with the one below it' '{"pfn":256}
{"pfn":257}
{"pfn":272}' cgroup /a --fields pfn
answers 'the one below it' '{"pfn":272}' cgroup /a/b --fields pfn
ask cgroup /c
expect 'no such cgroup' 66 /c
answers 'all memory, by kind' '{"kind":"free","pages":4,"bytes":16384}
{"kind":"anon","pages":2,"bytes":8192}
{"total":{"pages":6,"bytes":24576,"undecided":0}}' \
	scan --summary --where 'kind=free or kind=anon'
answers 'by two fields' '{"kind":"anon","memcg_ino":45,"pages":2,"bytes":8192}
{"total":{"pages":2,"bytes":8192,"undecided":0}}' \
	scan --by kind,memcg_ino --where kind=anon
answers 'runs' '{"pfn":288,"kind":"free","pages":4}' \
	scan --runs --fields pfn,kind --where kind=free
for where in 'pages=1' 'time_ns>0' '!notes:torn'; do
	answers "a filter on what every row says: $where" '{"pfn":256}' \
		page 256 --fields pfn --where "$where"
done
ask page 256 --where 'pages>1'
expect 'a filter on what every row says: not one' 1 'no page matched'
ask scan --where kind=shmem
expect 'nothing matches' 1 'no page matched'
ask scan --where kind=shmem -q
expect 'nothing matches, quietly' 1
ask scan --where 'pfn=256 and refcount>0'
expect 'a condition that nobody can decide' 2 '1 page undecided'
either='(pfn=256 or pfn=257 and refcount>0) and kind=anon'
ask scan --where "$either" --fields pfn
expect 'one page matches, one is undecided' 0 '1 page undecided'
stdout_is 'one page matches, one is undecided: the first is listed' \
	'{"pfn":256}'
ask scan --where "$either" --summary
expect 'one page matches, one is undecided: counted' 0 '1 page undecided'
ask scan --where "$either" --undecided --fields pfn
expect 'the undecided one is listed, too' 0 '1 page undecided'
ask scan --where "$either" --fields pfn --strict
expect 'with --strict that is status 2' 2 '1 page undecided'
stdout_is 'with --strict the answer is the same' '{"pfn":256}'
ask scan --where "$either" --summary --strict -q
expect 'counted with --strict' 2
ask scan --where kind=anon --strict --fields pfn
expect 'with --strict and nothing undecided' 0
ask doctor --strict
expect '--strict without a filter to apply' 64 'takes no --strict'
ask scan --where 'pfn=256 and refcount>0' --undecided --fields pfn
stdout_is '--undecided lists it' '{"pfn":256}'
ask scan --where 'kind=nonsense'
expect 'a filter that is wrong' 64 nonsense
ask page 1 --by nonsense
expect 'no such field to count by' 64 "'nonsense'"
ask page 1 --fields nonsense
expect 'no such field' 64 nonsense

# --- mappings of a page ---

ask mappers 0x101 --fields pfn,map,pid,vaddr
expect 'mappers: status' 0
stdout_is 'mappers' '{"pfn":257,"map":"user","pid":12,"vaddr":"0x7f0000001000"}
{"pfn":257,"map":"user","pid":13,"vaddr":"0x7f1000000000"}
{"pfn":257,"found":2,"expected":2,"mapcount_kind":"exact","unread":[]}'
ask mappers 0x101
stdout_has 'mappers says of itself who and where' \
	'"map":"user","pid":13,"tgid":13,"comm":"other","vaddr":"0x7f1000000000"'
ask mappers 0x120
expect 'nobody' 1 'nobody maps it'
stdout_is 'nobody has a summary' '{"pfn":288,"found":0,"expected":0,"mapcount_kind":"exact","unread":[]}'

# --- fields without an answer ---

ask page 256 --fields pfn,refcount
expect 'a field by name that nobody answers' 2 'refcount:'
stdout_is 'the row says why' '{"pfn":256,"missing":{"refcount":"unsupported"}}'
answers 'a field of a group may be lost' \
	'{"pfn":256,"missing":{"raw_flags":"unsupported","refcount":"unsupported","pincount":"unsupported","slab_cache":"unsupported"}}' \
	page 256 --fields pfn,struct
ask scan --by refcount
expect 'counted by a field that nobody answers' 2 'refcount:'
answers 'nothing there is an answer' '{"memcg_ino":null}' \
	page 288 --fields memcg_ino
ask page 1 --backend page_owner
expect 'a source that is not here' 69 'source'
ask kaddr ffff888000000000
expect 'kernel addresses' 69 'needs'
ask from-log /dev/null
expect 'a log without pages' 1 'the log mentions no page'
ask stack 0x100
expect 'stacks' 69 'cannot tell who allocated a page'

# --- other formats ---

run page 256 --root "$root" --fields pfn,kind --format csv
stdout_is 'csv' 'pfn,kind
256,anon'
run page 256 --root "$root" --fields pfn
stdout_has 'text shows both radixes' '256 (0x100)'
for option in -v -q --verbose --quiet; do
	ask page 256 --fields kind $option
	stdout_has "$option" '"kind":"anon"'
done
ask page 256 --fields kind -v
stdout_has '-v says the source' '"source":{"kind":"procfs"}'

# --- doctor ---

ask doctor
expect 'doctor: status' 0
stdout_has 'doctor: what can be answered' \
	'{"field":"pfn","source":"procfs","can":true'
stdout_has 'doctor: what cannot' \
	'{"field":"refcount","source":"procfs","can":false,"why":"'
run doctor --root / -v
expect 'doctor of the running kernel, elsewhere: status' 0
stdout_has 'doctor of the running kernel, elsewhere: an ability' \
	'page flags, kinds, counts'
run doctor --root "$root"
tap_fails 'doctor of a captured tree: no advice for this machine' grep -q \
	'page flags, kinds, counts' "$tap_dir/stdout"
run doctor --root "$root" -v
stdout_has 'doctor, for people: the sources' 'sources        procfs'
tap_run 'doctor, for people: every field' sh -c '
	"$1" help fields | sed 1d | while read -r field rest; do
		grep -q "^$field " "$2" || exit 1
	done' sh "$PAGEDET" "$tap_dir/stdout"
tap_fails 'doctor, for people: no blanks at the end' \
	grep -q ' $' "$tap_dir/stdout"

# --- a running thread on arm64, according to its kernel ---

pid=$(cd "$root/proc" && ls -d [0-9]* | head -n 1)
echo '[<0>] 0x0' > "$root/proc/$pid/stack"
mkdir -p "$root/proc/$pid/task/$pid"
run --root "$root" task "$pid" --stacks --json --fields pid --where kind=reserved
tap_fails 'no function at address 0 is a frame' grep -q '0x0' "$tap_dir/stdout"
stdout_has 'it runs, so it has no stack to show' '"kernel_stack":"raced"'

tap_done
