#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests top, summaries, rounds, and readers that close the pipe.
. "$top_srcdir/tests/cli/cli.sh"

cd "$tap_dir"
if [ ! -r /proc/self/smaps_rollup ]; then
	tap_skip 'top' 'this kernel or chroot has no /proc/self/smaps_rollup'
	tap_done
fi

# --- the kernel's own sums ---

# At least one is idle and belongs to this test.
sleep 600 &
sleeper=$!
running=
trap 'kill $sleeper $running; chmod -R u+w "$tap_dir"; rm -rf "$tap_dir"' EXIT

# RSS, PSS, USS, swap and dirty pages of each process that does not move.
if command -v python3 > /dev/null; then
	status=0
	python3 "$top_srcdir/tests/cli/top-rollup.py" "$PAGEDET" > stdout \
		2> stderr || status=$?
	if [ "$status" = 2 ]; then
		tap_skip 'each process at rest has the sums of smaps_rollup' \
			'no process was at rest'
	else
		expect 'each process at rest has the sums of smaps_rollup' 0
	fi
else
	tap_skip 'the sums of smaps_rollup' 'needs python3'
fi

# --- a process that cannot change ---

root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"
pid=$(cd "$root/proc" && ls -d [0-9]* | head -n 1)
cat > "$root/proc/$pid/smaps_rollup" << 'EOF'
00400000-7ffff000 ---p 00000000 00:00 0                          [rollup]
Rss:                1000 kB
Pss:                 500 kB
Pss_Dirty:           100 kB
Shared_Clean:        300 kB
Shared_Dirty:         40 kB
Private_Clean:       600 kB
Private_Dirty:        60 kB
Swap:                  8 kB
Shared_Hugetlb:     2048 kB
Private_Hugetlb:       0 kB
EOF
run top --root "$root" --json
tap_run 'every sum' grep -q "^{\"pid\":$pid,.*\"rss\":1024000,\"pss\":512000,\"uss\":675840,\"swap\":8192,\"dirty\":102400,\"shared\":348160,\"hugetlb\":2097152}" \
	"$tap_dir/stdout"
printf 'MemTotal: 100000 kB\nMemFree: 90000 kB\n' > "$root/proc/meminfo"
run top --root "$root"
expect 'most memory belongs to no process' 0 \
	"explain 500.0 KiB (5 %) of the 9.8 MiB in use; to see all of it: pagedet --root"
printf 'MemTotal: 100000 kB\nMemFree: 99100 kB\n' > "$root/proc/meminfo"
run top --root "$root"
expect 'most memory belongs to processes' 0
sed -i '/^Shared_Dirty/d' "$root/proc/$pid/smaps_rollup"
run top --root "$root" --json
tap_run 'without a line its sums are not known' grep -q "^{\"pid\":$pid,.*\"uss\":675840,.*\"dirty\":null,\"shared\":null,.*\"dirty\":\"unsupported\",\"shared\":\"unsupported\"" \
	"$tap_dir/stdout"

# A damaged count of page 256: it is not a number of mappings.
printf '\200\377\377\377\377\377\377\377' |
	dd of="$root/proc/kpagecount" bs=8 seek=256 conv=notrunc 2> /dev/null
run page 256 --root "$root" --json --fields mapcount,mapcount_kind
stdout_has 'a count below zero is not exact' \
	'"missing":{"mapcount_kind":"corrupt"}'
run top kind --root "$root" --json
tap_run 'a count below zero is not a sum' grep -q \
	'^{"kind":"anon",.*"rss":null,.*"missing":{.*"rss":"corrupt"' \
	"$tap_dir/stdout"

# --- forms ---

run top --json --top 2 -q
tap_run 'top N: N objects' test "$(wc -l < stdout)" = 2
tap_run 'the keys stand as promised' grep -qE \
	'^\{"pid":[0-9]+,"comm":".*","rss":[0-9]+,"pss":([0-9]+|null),"uss":([0-9]+|null),"swap":[0-9]+,"dirty":([0-9]+|null),"shared":([0-9]+|null),' \
	stdout
run top --json --sort pid -q
sed 's/^{"pid":\([0-9]*\),.*/\1/' stdout > pids
tap_run '--sort pid ascends' sh -c 'test -s pids && sort -nc pids'
run top --json --sort -pid -q
sed 's/^{"pid":\([0-9]*\),.*/\1/' stdout > pids
tap_run '--sort -pid descends' sh -c 'test -s pids && sort -rnc pids'
run top --json --sort rss -q
sed 's/.*"rss":\([0-9]*\),.*/\1/' stdout > rss
tap_run '--sort rss: the largest first' sh -c 'test -s rss && sort -rnc rss'
run top --csv --format csv -q
expect 'there is no --csv' 64 'no option'
run top --format csv --limit 1 -q
tap_run 'CSV has a head' test "$(head -n 1 stdout)" = \
	pid,comm,rss,pss,uss,swap,dirty,shared,hugetlb,same_as,estimated
run top process -q --limit 3
stdout_has 'a table has heads' 'PSS        USS        RSS'
stdout_has 'and a total' ' processes'
COLUMNS=60 "$PAGEDET" top -q > stdout || :
tap_run 'a table fits the terminal' awk \
	'length > 60 { bad = 1 } END { exit bad || NR < 3 }' stdout
tap_run 'what it had no room for is said' grep -q \
	'^no room: .*dirty.* (--json has them)$' stdout
COLUMNS=200 "$PAGEDET" top -q > stdout || :
tap_fails 'a wide terminal has room' grep -q '^no room' stdout
run top nonsense
expect 'no such thing' 64 "there is no ranking by 'nonsense'"
run top --sort nonsense
expect 'no such column' 64 "not 'nonsense'"
run top --format arrow
expect 'no Arrow' 64 'text, json or csv'

# --- users who may not read other processes ---

if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null &&
   tap_is_open "$(dirname "$PAGEDET")"; then
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGEDET" top \
		--json > stdout 2> stderr && status=0 || status=$?
	expect 'a stranger: others are counted, the status says so' 2 \
		'may not be read: only RSS and swap are known'
	expect 'a stranger: the biggest of the others has a name' 2 \
		'the biggest of them is '
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGEDET" top \
		--format csv -q > csv || :
	tap_run 'a stranger: CSV has the reason, and what is estimated' \
		grep -qE '^[0-9]+,[^,]+,[0-9]+,\?no_access,\?no_access,[0-9]+,\?no_access,\?no_access,[^,]*,[^,]*,rss\|swap$' \
		csv
	tap_fails 'a stranger: CSV has no reason that has no name' \
		grep -qE ',\?(,|$)' csv
	printf 'MemTotal: 100000 kB\nMemFree: 10 kB\n' \
		> "$root/proc/meminfo"
	printf 'VmRSS:\t    1000 kB\n' >> "$root/proc/$pid/status"
	chmod 0 "$root/proc/$pid/smaps_rollup"
	chmod 755 "$root" .
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGEDET" top \
		--root "$root" > where 2> why && status=0 || status=$?
	tap_run 'a stranger: a sum with RSS is a bound' grep -q \
		'explain at most .* (where PSS is not known, RSS, ' why
	chmod 644 "$root/proc/$pid/smaps_rollup"
	sed 's/.*"rss":\([0-9]*\),"pss":\([0-9a-z]*\),.*/\1 \2/' stdout > places
	tap_run 'a stranger: where PSS is not known, RSS gives the place' awk '
{ place = $2 == "null" ? $1 : $2; bad = bad || (NR > 1 && place + 0 > last)
  last = place + 0; unknown += $2 == "null" }
END { exit bad || !unknown }' places
	stdout_has 'a stranger: RSS is known, roughly' \
		'"estimated":["rss","swap"],"missing":{"pss":"no_access","uss":"no_access"'
	tap_run 'a stranger: what is not known is not zero' grep -q \
		'"pss":null,"uss":null' stdout
	tap_run 'a stranger: his own are known' grep -q '"comm":"pagedet".*"pss":[1-9]' \
		stdout
else
	tap_skip 'a stranger' 'needs root, setpriv and an open directory'
fi

# --- other things ---

run top kind --json -q
if [ "$status" = 77 ]; then
	tap_skip 'kinds' 'needs CAP_SYS_ADMIN'
	tap_skip 'rows in an order' 'needs CAP_SYS_ADMIN'
else
	stdout_has 'slabs have no RSS: nothing, not zero' '{"kind":"slab","bytes":'
	tap_run 'and no reason either' grep -q \
		'^{"kind":"slab",.*"rss":null.*"hugetlb":null}$' stdout
	tap_run 'files have all sums' grep -qE \
		'^\{"kind":"file","bytes":[0-9]+,"rss":[0-9]+,"pss":[0-9]+,"uss":[0-9]+,' \
		stdout
	# --- what must be written back ---
	head -c 40960 /dev/zero > written
	if [ "$(stat -f -c %T .)" != tmpfs ]; then
		# In a chroot the kernel's path begins above it.
		run top file --where "inode=$(stat -c %i written)" --json
		tap_run 'a file, and what of it is dirty' grep -q \
			"^{\"path\":\"[^\"]*$tap_dir/written\",\"bytes\":40960,.*\"dirty\":[0-9]" \
			stdout
	fi
	if [ "$(stat -f -c %T /dev/shm 2> /dev/null)" = tmpfs ]; then
		shm=$(mktemp /dev/shm/pagedet-test.XXXXXX)
		head -c 40960 /dev/zero > "$shm"
		run top file --json \
			--where "inode=$(stat -c %i "$shm") and dirty"
		rm "$shm"
		tap_run 'tmpfs: nothing has to be written back' grep -q \
			"${shm##*/}\",\"bytes\":40960,.*\"dirty\":null,\"shared\":" \
			stdout
	fi
	run top kind --where nonsense
	expect 'the filter of the pages is checked' 64 nonsense
	run scan --sort mapcount --top 5 --json --fields pfn,mapcount -q
	expect 'rows in an order' 0
	sed 's/.*"mapcount":\([0-9]*\)[,}].*/\1/' stdout > counts
	tap_run 'rows in an order: the largest first' sort -rnc counts
	tap_run 'rows in an order: as many as were asked' test \
		"$(wc -l < stdout)" = 5
	run scan --by kind --top 1 --json -q
	tap_run '--top of groups: one, and the total' test \
		"$(wc -l < stdout)" = 2
	run scan --by kind --sort kind --json -q
	expect 'groups by key' 0
	run scan --limit 3 --json -q
	expect '--limit ends early, and that is not partial' 0
	tap_run '--limit: as many' test "$(wc -l < stdout)" = 3
fi
run top --where dirty
expect 'sums of processes have no filter' 64 'top process takes no --where'
run scan --sort mapcount
expect 'rows in an order need a bound' 64 'needs --top N'
run scan --by kind --sort nonsense
expect 'no such field' 64 "no field 'nonsense'"
run scan --limit 0
expect 'no bound is nothing' 64 'leaves nothing'

# --- several keys ---

run top --json --sort swap,-pid -q
sed 's/^{"pid":\([0-9]*\),.*"swap":\([0-9a-z]*\),.*/\2 \1/' stdout > places
tap_run 'top by two keys' sh -c \
	'grep -v "^null" places > known; test -s known && sort -c -k1,1nr -k2,2nr known'
run top --sort rss,nonsense
expect 'the second key does not exist' 64 "not 'nonsense'"
run top --sort rsss
expect 'a mistyped key' 64 "did you mean 'rss'"
run scan --by kind --sort pages,kind
expect 'pages have one key' 64 'sorted by one field'

# --- tasks and mappers ---

run tasks --json --sort rss,-pid -q
expect 'tasks in an order' 0
awk -F '[:,]' '{ rss = "" } /"kthread":false/ && match($0, /"rss":[0-9]+/) {
	rss = substr($0, RSTART + 6, RLENGTH - 6) }
{ if (rss == "") ends = 1; else { if (ends) bad = 1; print rss, $2 } }
END { exit bad }' stdout > places && status=0 || status=$?
tap_run 'tasks without memory come last' test "$status" = 0
tap_run 'tasks: the largest first, then by pid' sh -c \
	'test -s places && sort -c -k1,1nr -k2,2nr places'
run tasks --json --sort comm --top 2 -q
tap_run 'tasks: as many' test "$(wc -l < stdout)" = 2
run tasks --sort nonsense
expect 'tasks: no such key' 64 "not 'nonsense'"
run tasks --where dirty
expect 'tasks have no filter' 64 'are for pages'
self=$(readlink /proc/$$/exe)
run mappers "$self" --json --sort pages,-pid -q
if [ "$status" = 0 ] || [ "$status" = 2 ]; then
	sed 's/^{"pid":\([0-9]*\),.*"pages":\([0-9]*\),.*/\2 \1/' stdout > places
	tap_run 'mappers of a file: the largest first' sh -c \
		'test -s places && sort -c -k1,1nr -k2,2nr places'
	run mappers "$self" --json --limit 1 -q
	tap_run 'mappers of a file: as many' test "$(wc -l < stdout)" = 1
else
	tap_skip 'mappers of a file' 'they cannot be read'
fi
run mappers "$self" --sort nonsense
expect 'mappers of a file: no such key' 64 "not 'nonsense'"
run mappers 1 --watch
expect 'no rounds of mappers of a page' 64 'pagedet mappers FILE --watch'
run owners /dev/null --watch
expect 'no rounds of a text' 64 'does not change'

# --- rows and sums of one task ---

run task $$ --fields vaddr,kind --json --limit 4
expect 'rows of a task, bounded' 0
tap_run 'as many' test "$(wc -l < stdout)" = 4
run task $$ --fields vaddr --json --limit 4 --sort -vaddr
expect 'rows of a task from its end' 0
tap_run 'descending' sh -c 'sort -rc stdout'
run task $$
stdout_has 'no terminal: rows' 'vaddr'
if command -v script > /dev/null; then
	TERM=dumb script -qec "$PAGEDET task $$" /dev/null < /dev/null \
		> stdout 2> stderr || :
	stdout_has 'a terminal: sums' '  pss '
	stdout_has 'and how to list' "'--all' lists the pages"
	TERM=dumb script -qec "$PAGEDET task $$ --all" /dev/null < /dev/null \
		> stdout 2> stderr || :
	stdout_has 'a terminal: --all lists' vaddr
	TERM=dumb script -qec "$PAGEDET task $sleeper --stacks" /dev/null \
		< /dev/null > stdout 2> stderr || :
	tap_run 'stacks on a terminal: the sums, then the threads' awk '
/  pss / { sums = NR } /^thread [0-9]+ of / { thread = NR }
/vaddr/ { rows = NR } END { exit !sums || thread <= sums || rows }' stdout
	head -c 100000 /dev/zero > zeroes
	cat zeroes > /dev/null
	TERM=dumb script -qec "$PAGEDET file zeroes" /dev/null < /dev/null \
		> stdout 2> stderr || :
	stdout_has 'a file: of how much' ' of 97.7 KiB'
	stdout_has 'a file: dirty' '  dirty '
else
	tap_skip 'summaries on a terminal' 'needs script'
fi

# A kernel thread has stacks, but no pages.
kthread=$(awk '$1 == "Kthread:" && $2 == 1 { print FILENAME; exit }' \
	/proc/2/status 2> /dev/null) || kthread=
if [ -n "$kthread" ]; then
	run task 2 --stacks
	expect 'stacks of a kernel thread: why the status is 1' 1 \
		'no memory of its own, only a stack: the status is 1'
	stdout_has 'stacks of a kernel thread: they are there' 'thread 2 of 2'
else
	tap_skip 'stacks of a kernel thread' 'process 2 is not known to be one'
fi

# --- rounds ---

# has_two PATTERN: whether two blocks have such a line
has_two() {
	[ "$(grep -c -e "$1" stdout)" -ge 2 ] || tap_ended "$running"
}
# rounds PATTERN ARGUMENTS...: runs rounds until two blocks have such a line,
# then sends SIGINT, which must end it
rounds() {
	pattern=$1
	shift
	: > stdout
	# a background job without a terminal ignores SIGINT
	python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$PAGEDET" "$@" > stdout 2> stderr &
	running=$!
	tap_wait has_two "$pattern" || :
	kill -INT "$running" 2> /dev/null || :
	tap_wait tap_ended "$running" || kill -KILL "$running"
	wait "$running" && status=0 || status=$?
	running=
}
if command -v python3 > /dev/null; then
	rounds '  COMM$' top --watch 0.5 -q --limit 1
	expect 'rounds end with status 0' 0
	tap_run 'a block a round' test "$(grep -c '  COMM$' stdout)" -ge 2
	rounds '  comm$' tasks --watch 0.5 -q --limit 1
	expect 'rounds of tasks' 0
	rounds '  comm$' mappers "$self" --watch 0.5 -q --limit 1
	expect 'rounds of mappers of a file' 0
	rounds '^  pss ' task $$ --watch=0.5 -q
	expect 'rounds of a summary' 0
	tap_run 'a block a round, of a summary' test \
		"$(grep -c '^  pss ' stdout)" -ge 2
else
	tap_skip 'rounds' 'needs python3'
fi
run top --watch --format arrow
expect 'no rounds of Arrow' 64 'text, json or csv'
run page 1 --watch
expect 'no rounds of a look-up' 64 'is an option of'

# --- readers that close the pipe ---

# quiet NAME ARGUMENTS...: nothing on stderr, ended by SIGPIPE; the reader has
# closed the pipe before the first byte
mkfifo left
quiet() {
	quiet_name=$1
	shift
	# we are the reader: only with one can it be opened
	exec 6<> left 7> left 6<&-
	"$PAGEDET" "$@" >&7 7>&- 2> stderr && status=0 || status=$?
	exec 7>&-
	case $status in
	141) tap_run "$quiet_name" test ! -s stderr ;;
	*) tap_not_ok "$quiet_name: status $status" stderr ;;
	esac
}
quiet 'help' help
quiet 'help of fields' help fields
quiet 'rows of a task' task $$ --fields vaddr,kind
quiet 'rows of a task as JSON' task $$ --fields vaddr,kind --json
quiet 'a summary' top --json -q
mkfifo fifo
head -c 1 fifo > /dev/null &
reader=$!
"$PAGEDET" task $$ --fields vaddr,kind,pte --json -o fifo 2> stderr &&
	status=0 || status=$?
wait "$reader"
case $status in
0|141) tap_run 'a pipe with a name' test ! -s stderr ;;
*) tap_not_ok "a pipe with a name: status $status" stderr ;;
esac
tap_done
