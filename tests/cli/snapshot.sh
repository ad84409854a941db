#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs snapshot
# Tests saving rows and querying them: saved values are the same, missing ones
# are reported, and an incomplete file never has the final name.
. "$top_srcdir/tests/cli/cli.sh"

root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"
mkdir "$tap_dir/dir"
file=$tap_dir/dir/snap

left() {
	find "$tap_dir/dir" -name '.pagedet-*' | grep -q . && return 1
	return 0
}

# again NAME WORDS...: without the machine, WORDS on the file answer the same as
# on the machine
again() {
	again_name=$1
	shift
	run --root "$root" --json "$@"
	cp "$tap_dir/stdout" "$tap_dir/expected"
	again_status=$status
	run --from "$file" --json "$@"
	if [ "$status" -eq "$again_status" ]; then
		tap_run "$again_name" cmp "$tap_dir/expected" "$tap_dir/stdout"
	else
		tap_not_ok "$again_name: status $again_status" "$(why)"
	fi
}

# --- a scan ---

run snapshot "$file" --root "$root" --fields cheap,mapcount
expect 'a snapshot of all memory' 0
tap_fails 'nothing is printed' test -s "$tap_dir/stdout"
tap_run 'no temporary file is left' left
again 'the same rows' scan --fields cheap,mapcount
again 'by two threads' scan --threads 2 --fields cheap,mapcount
again 'some of them' scan --fields pfn,kind \
	--where 'kind=anon and mapcount>0'
again 'of a range of frames' scan --fields pfn,kind \
	--where 'pfn>=0x100 and pfn<0x110'
again 'in groups' scan --by kind,flags
again 'in runs' scan --runs --fields pfn,kind,flags
again 'some fields' scan --fields kind,pfn
again 'a page' page 256 --fields pfn,kind,flags
again 'several' page 256 0x120+3 304 256 --fields ask,pfn,kind,flags
again 'a physical address' phys 100fff --fields pfn,kind
run --from "$file" --json -v page 256 --fields pfn,kind
stdout_is 'it says that they were saved' \
	'{"pfn":256,"kind":"anon","source":{"pfn":"snapshot","kind":"snapshot"}}'

run --from "$file" --json page 0x5000000 --fields pfn,kind
expect 'a frame that is not there: nobody knows' 2 kind
stdout_is 'a frame that is not there' \
	'{"pfn":83886080,"missing":{"kind":"excluded"}}'
run --from "$file" --json page 256 --fields pfn,inode
expect 'a field that was not saved: nobody knows' 2 inode
stdout_is 'a field that was not saved' \
	'{"pfn":256,"missing":{"inode":"unsupported"}}'
run --from "$file" task 10
expect 'another walk' 69 'a snapshot has only the rows that were saved'
run --from "$file" doctor --json
expect 'doctor' 0
stdout_has 'doctor knows what is there' \
	'{"field":"kind","source":"snapshot","can":true'
stdout_has 'doctor knows what is not' '"source":"snapshot","can":false,"why":'
run --from "$file" --backend procfs scan
expect 'another source was wanted' 69 \
	'it is a snapshot, which no allowed source reads'
expect 'another source was wanted: what would help' 69 'hint: allow snapshot'
run --from "$file" --from "$file" scan
expect 'one file, no more' 69 \
	'it is a snapshot, which must be opened alone, but 2 files are named'

# --- the options of the query ---

run snapshot "$file" scan --root "$root" --where kind=anon --fields pfn,kind
expect 'a part' 0
again 'a part has just that' scan --where kind=anon --fields pfn,kind
run --from "$file" --json scan --fields pfn,kind
cp "$tap_dir/stdout" "$tap_dir/part"
run --root "$root" --json scan --where kind=anon --fields pfn,kind
tap_run 'and nothing else' cmp "$tap_dir/part" "$tap_dir/stdout"
run snapshot "$file" page 256 --root "$root" --fields pfn,kind -q
run page 256 --from "$file" -v
expect 'one row' 0 ': 1 row saved'
counts_well 'one row'
run snapshot "$file" --root "$root" --where kind=hugetlb
expect 'no row' 1 'no page matched'
run --from "$file" scan
expect 'no row, later' 1 'there is no memory to see'

# --- other commands ---

run --root "$root" --json task 12 --fields pid,vaddr,pfn,pte,kind,vma_name
task_status=$status
cp "$tap_dir/stdout" "$tap_dir/task"
run snapshot "$file" --root "$root" task 12 \
	--fields pid,vaddr,pfn,pte,kind,vma_name
tap_run 'a task: the same status' test "$status" -eq "$task_status"
run --from "$file" --json scan
tap_run 'a task: the same rows' cmp "$tap_dir/task" "$tap_dir/stdout"
run --from "$file" --json page 256 --fields pfn,kind
expect 'a task has no order of frames' 2 'scan --where pfn=N'
status=0
printf '256\n304\n' | "$PAGEDET" snapshot "$file" page - --root "$root" \
	--fields ask,pfn 2> "$tap_dir/stderr" || status=$?
expect 'numbers from standard input' 0
run --from "$file" --json scan --fields ask,pfn
stdout_is 'both of them' '{"ask":0,"pfn":256}
{"ask":1,"pfn":304}'
run snapshot "$tap_dir/dir/second" --from "$file"
expect 'saved again' 0
run --from "$tap_dir/dir/second" --json scan --fields ask,pfn
stdout_is 'the same again' '{"ask":0,"pfn":256}
{"ask":1,"pfn":304}'

# --- wrong use ---

run snapshot
expect 'without FILE' 64 'snapshot lacks arguments'
run snapshot "$file" nonsense
expect 'no such command' 64 "no command 'nonsense'"
run snapshot "$file" owners
expect 'no query' 64 'saves the rows of a query'
run snapshot "$file" snapshot x
expect 'itself' 64 'saves the rows of a query'
for option in --summary --runs '--by kind' --json '-o x'; do
	# shellcheck disable=SC2086
	run snapshot "$file" $option
	expect "with $option" 64 snapshot
done
run snapshot "$file" page
expect 'a command without its arguments' 64 'page lacks arguments'
run snapshot --help
expect 'help' 0
stdout_has 'help says what it is' 'snapshot FILE [COMMAND ...]'

# --- complete or not at all ---

run snapshot "$file" --root "$root"
"$PAGEDET" snapshot - --root "$root" > "$tap_dir/piped"
run --from "$tap_dir/piped" --json scan
cp "$tap_dir/stdout" "$tap_dir/expected"
run --from "$file" --json scan
tap_run 'standard output has the same' cmp "$tap_dir/expected" \
	"$tap_dir/stdout"

cp "$file" "$tap_dir/before"
size=$(wc -c < "$file")
for n in 4 20 100 $((size / 2)) $((size - 1)); do
	head -c "$n" "$file" > "$tap_dir/cut"
	run --from "$tap_dir/cut" scan
	tap_run "$n bytes of it" test "$status" -eq 65
done
with "$file" "$tap_dir/flipped" $((size / 2)) '\377\377'
run --from "$tap_dir/flipped" scan
expect 'other bytes in the middle' 65 damaged
(
	cat "$file"
	echo
) > "$tap_dir/longer"
run --from "$tap_dir/longer" scan
expect 'something behind it' 65 'not written completely'

run snapshot "$file" --root "$tap_dir/none"
expect 'a machine that is not there' 66 "$tap_dir/none"
tap_run 'what was there stays' cmp "$tap_dir/before" "$file"
run snapshot /dev/full --root "$root"
expect 'a full device' 74 'No space left'
run snapshot "$tap_dir/none/snap" --root "$root"
expect 'no such directory' 66 'No such file or directory'

status=0
(
	ulimit -f 1
	exec "$PAGEDET" snapshot "$file" --root "$root"
) > "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
expect 'a file that may not grow' 74 "snap' was not written"
tap_run 'it is what it was' cmp "$tap_dir/before" "$file"
tap_run 'nothing else is left' left

# A signal comes while the command waits for page numbers.
rm -f "$tap_dir/dir/new"
mkfifo "$tap_dir/fifo"
"$PAGEDET" snapshot "$tap_dir/dir/new" page - --root "$root" \
	< "$tap_dir/fifo" 2> "$tap_dir/stderr" &
pid=$!
exec 3> "$tap_dir/fifo"
echo 256 >&3
kill -s TERM "$pid"
status=0
wait "$pid" 2> "$tap_dir/why" || status=$?
exec 3>&-
tap_run 'a signal: it fails' test "$status" -ne 0
tap_fails 'a signal: nothing is there' ls "$tap_dir/dir/new"
tap_run 'a signal: nothing else is left' left

# A query that fails to start leaves the existing file: an ended task, an
# invalid filter.
run snapshot "$file" --root "$root"
cp "$file" "$tap_dir/good"
for words in 'task 99' 'virt 99 0' 'scan --where nonsense=1'; do
	# shellcheck disable=SC2086 # these are words
	run snapshot "$file" --root "$root" $words
	tap_run "$words: it fails" test "$status" -ne 0
	tap_run "$words: the snapshot of before is still there" \
		cmp "$file" "$tap_dir/good"
done

# The deadline passes before the first row: the snapshot is partial, and stays
# so.
run snapshot "$file" --root "$root" --deadline 0.000000001
expect 'the deadline' 2 deadline
run --from "$file" scan
expect 'a part, later' 2 'answered only in part'

tap_done
