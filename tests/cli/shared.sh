#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests who maps a page if two processes have one address space, if the main
# thread of a process has ended, and if a process is a zombie.
. "$top_srcdir/tests/cli/cli.sh"

# Of another user, while that is asked.
own=
# made WHAT: whether it has told what it has made
made() {
	[ -s "$tap_dir/$1" ]
}
# make WHAT: in the background, when its standard input is opened; it ends when
# that does
make() {
	mkfifo "$tap_dir/stop-$1"
	"$top_builddir/tests/cli/shared" "$1" < "$tap_dir/stop-$1" \
		> "$tap_dir/$1" &
}
# These have lower numbers than most who map a page, and are met before them.
make zombies
zombies=$! space='' last='' ended=''
trap 'kill $space $last $ended $zombies $own 2> /dev/null || :; rm -rf "$tap_dir"' EXIT
exec 7> "$tap_dir/stop-zombies"
tap_wait made zombies
make space
space=$!
make last
last=$!
make ended
ended=$!
exec 5> "$tap_dir/stop-space" 6> "$tap_dir/stop-ended" 8> "$tap_dir/stop-last"
are_made() {
	made space && made last && made ended
}
tap_wait are_made
is_state() {
	grep -q ") $1 " "/proc/$2/stat"
}
read -r one other third page < "$tap_dir/space"
read -r first second last_page < "$tap_dir/last"
read -r _ ended_page < "$tap_dir/ended"
read -r dead n_dead < "$tap_dir/zombies"
tap_wait is_state Z "$ended"
tap_wait is_state Z "$dead"
tap_wait is_state Z "$second"

# pfn_of BACKEND PID ADDRESS: sets $pfn; empty if it is not known
pfn_of() {
	run virt "$2" "$3" --backend "$1" --json --fields pfn
	pfn=$(sed -n 's/^{"pfn":\([1-9][0-9]*\)}$/\1/p' "$tap_dir/stdout")
}

# mapped BACKEND PIDS: who maps $pfn, and that nobody else does
mapped() {
	run mappers "$pfn" --backend "$1" --json --fields pid
	mapped_n=0
	for mapped_pid in $2; do
		stdout_has "$1: $mapped_pid of $2 maps it" \
			"{\"pid\":$mapped_pid}"
		mapped_n=$((mapped_n + 1))
	done
	tap_run "$1: nobody else maps it" test \
		"$(grep -c '^{"pid":[0-9]' "$tap_dir/stdout")" = $mapped_n
}

for backend in procfs bpf kcore; do
	if ! "$PAGEDET" task "$one" --backend $backend -q > /dev/null 2>&1; then
		tap_skip "$backend" 'it cannot be read here'
		continue
	fi
	pfn_of $backend "$one" "$page"
	if [ -z "$pfn" ]; then
		tap_skip "$backend" 'page frame numbers are hidden'
		continue
	fi
	# --- one address space ---
	mapped $backend "$one $other $third"
	stdout_has "$backend: the kernel counts an address space once" \
		'"found":2,"expected":2,'
	stdout_has "$backend: and it is said how many are shown again" \
		'"shared":1'
	tap_run "$backend: one address space: the list is complete" \
		test "$status" = 0
	run mappers "$pfn" --backend $backend
	stdout_has "$backend: two processes are one mapping" 'found 2 user '
	stdout_has "$backend: it is said why there are more rows" \
		'1 is shown again'
	run page "$pfn" --backend $backend --json --fields user_maps
	stdout_has "$backend: user_maps counts an address space once" \
		'"user_maps":2'
	# --- the same, and a main thread has ended ---
	pfn_of $backend "$first" "$last_page"
	mapped $backend "$first $second"
	stdout_has "$backend: a main thread has ended: it shares all the same" \
		'"found":1,"expected":1,'
	stdout_has "$backend: a main thread has ended: it is shown again" \
		'"shared":1'
	# --- a main thread that has ended ---
	pfn_of $backend "$ended" "$ended_page"
	tap_run "$backend: a main thread has ended: its memory is found" \
		test -n "$pfn"
	[ -z "$pfn" ] || mapped $backend "$ended"
	run task "$ended" --backend $backend --summary --json
	expect "$backend: a main thread has ended: the task" 0
	run mappers "$top_builddir/tests/cli/shared" --backend $backend --json
	stdout_has "$backend: a main thread has ended: it maps its program" \
		"{\"pid\":$ended,\"comm\":\"shared\""
	run task "$ended" --backend $backend --stacks --where kind=reserved
	tap_fails "$backend: a main thread that has ended does not run" \
		grep -q 'is running' "$tap_dir/stdout"
	# The kernel may hide the stack of a thread that sleeps.
	grep -q 'cannot\|CAP_' "$tap_dir/stdout" ||
		stdout_has "$backend: it has ended" "thread $ended has ended"
	# --- a zombie ---
	run task "$dead" "$one" --backend $backend --summary --json
	expect "$backend: a zombie beside another task" 0
	tap_fails "$backend: a zombie has not ended meanwhile" \
		grep -q 'ended meanwhile' "$tap_dir/stderr"
	pfn_of $backend "$one" "$page"
	run mappers "$pfn" --backend $backend
	tap_run "$backend: all that map a page are found" test "$status" = 0
	# Others of this machine may end while the list is read.
	missed=$(sed -n 's/^pagedet: \([0-9]*\) tasks* ended meanwhile$/\1/p' \
		"$tap_dir/stderr")
	tap_run "$backend: a zombie is not missed" \
		test "${missed:-0}" -lt "$n_dead"
	tap_fails "$backend: nothing else is said" \
		grep -v 'ended meanwhile$' "$tap_dir/stderr"
done

# --- sums ---

run top --json
stdout_has 'a main thread has ended: its memory is counted' "\"pid\":$ended,"
stdout_has 'two processes with one address space: it is said of one' \
	"\"same_as\":$one"
stdout_has 'also if the main thread of one has ended' "\"same_as\":$first"
tap_fails 'a fork has its own' sh -c "grep '\"pid\":$third,' '$tap_dir/stdout' |
	grep -q same_as"
tap_fails 'a zombie has no memory' grep -q "\"pid\":$dead," "$tap_dir/stdout"

# The total is less than the sum of the lines by what such a process uses, and
# that is said.
run top
stdout_has 'the total counts one address space once, and says so' \
	"processes with another's address space (vfork, CLONE_VM)"
for columns in 40 60; do
	( COLUMNS=$columns && export COLUMNS && run top )
	tap_run "also on a terminal of $columns columns" awk -v most=$columns '
		length > most { bad = 1; print }
		/^not in the total: [0-9]/ { said = 1 }
		END { exit bad || !said }' "$tap_dir/stdout"
done
# total_of ARGUMENTS...: sets $total, the number of pages of these tasks
total_of() {
	run task "$@" --backend "$backend" --summary --json
	total=$(sed -n 's/^{"total":{"pages":\([0-9]*\),.*/\1/p' \
		"$tap_dir/stdout")
}
for backend in procfs bpf kcore; do
	"$PAGEDET" task "$one" --backend $backend -q > /dev/null 2>&1 ||
		continue
	total_of "$one"
	alone=$total
	for tasks in "$one $one" "$one $other" "$other $one $other"; do
		# shellcheck disable=SC2086
		total_of $tasks
		tap_run "$backend: $tasks: an address space counts once" \
			test "$total" = "$alone"
		tap_run "$backend: $tasks: it is said" grep -q \
			'the address space of another.*: pages count once$' \
			"$tap_dir/stderr"
	done
	total_of "$other" --where "pid=$other"
	tap_run "$backend: a filter of the task counts the task" \
		test "$total" = "$alone"
	total_of "$one" "$other" --where "pid=$other"
	tap_run "$backend: a filter of the task counts the second one" \
		test "$total" = "$alone"
	run task "$one" "$other" --backend $backend --by pid --json
	tap_run "$backend: a sum for each task has the pages of both" \
		test "$(grep -c '^{"pid":[0-9]*,"pages":[1-9]' \
		"$tap_dir/stdout")" = 2
	tap_run "$backend: a sum for each task: it is said" grep -q \
		'1 task has the address space of another.*in the answer again' \
		"$tap_dir/stderr"
	run task "$one" "$third" --backend $backend --summary
	tap_fails "$backend: a fork has its own address space" \
		grep -q 'address space of another' "$tap_dir/stderr"
done

run mappers "$top_builddir/tests/cli/shared"
tap_run 'who maps a file: a shared address space is said' grep -q \
	'of the processes ha.* the address space of another one' \
	"$tap_dir/stderr"

# --- without a privilege ---

# Several words.
as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null &&
   $as_nobody true && tap_is_open "$PAGEDET" &&
   ! $as_nobody head -c 1 "/proc/$one/maps" > /dev/null 2>&1; then
	# nobody ARGUMENTS...: as run, by a user who may read only $own
	nobody() {
		status=0
		$as_nobody sh -c '"$0" --backend procfs task "$@" 2>&1' \
			"$PAGEDET" "$@" > "$tap_dir/stdout" || status=$?
	}
	# This is the process itself, which a function in the background is not.
	$as_nobody sleep 1000 &
	own=$!
	tap_wait grep -qx sleep "/proc/$own/comm"
	for pid in "$one" "$ended"; do
		nobody "$pid" --summary
		tap_run "another user's task $pid: no access" test $status = 77
		stdout_has "another user's task $pid: what it needs" \
			CAP_SYS_PTRACE
		nobody "$own" "$pid" --summary
		tap_run "one's own task and $pid: a part" test $status = 2
		stdout_has "one's own task and $pid: it is said" 'at least'
	done
	end_all "$own"
	own=
else
	tap_skip "another user's tasks" 'needs root, setpriv, a tree that others may enter, and processes that they may not read'
fi

# --- a captured tree ---

# tree STACK: two tasks map a page, which the kernel counts once. Several threads
# may look at both before one knows that all are found.
tree() {
	rm -rf "$tap_dir/root"
	cat > "$tap_dir/tree" << END
pages 16
page 5 flags=uptodate,lru,mmap,anon,swapbacked count=1
task 10 stack=0x7ff000001000
task 11 stack=$1
vma 10 10000-11000 rw-p 0 0:0 0
vma 11 20000-21000 rw-p 0 0:0 0
map 10 0x10000 pfn=5
map 11 0x20000 pfn=5
END
	"$top_builddir/tests/fixtures/mkproc" "$tap_dir/tree" "$tap_dir/root"
	run --root "$tap_dir/root" mappers 5 --json --fields pid --threads 1
}
tree 0x7ff000001000
stdout_has 'a captured tree: a fork may share the address space' \
	'"found":1,"expected":1,"mapcount_kind":"exact","shared":1'
tree 0x7ff000002000
stdout_has 'a captured tree: another program: all are found' \
	'"found":1,"expected":1'
tap_fails 'a captured tree: another program does not' \
	grep -q '{"pid":11}' "$tap_dir/stdout"

exec 5>&- 6>&- 7>&- 8>&-
tap_done
