#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests lists of files on standard input: ranges, names, and names that cannot
# be opened among others.
. "$top_srcdir/tests/cli/cli.sh"

# A page that is not in memory would have no row; a written one has.
dir=$tap_dir/list
mkdir -p "$dir/below"
head -c 40960 /dev/zero > "$dir/ten"
head -c 8192 /dev/zero > "$dir/two words"
head -c 12288 /dev/zero > "$dir/name 1"
head -c 4096 /dev/zero > "$dir/below/one"

# list COMMAND FORMAT [OPTIONS]: pagedet COMMAND - with a list
list() {
	command=$1
	# shellcheck disable=SC2059
	printf "$2" > "$tap_dir/list.txt"
	shift 2
	status=0
	"$PAGEDET" "$command" - "$@" < "$tap_dir/list.txt" \
		> "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
}

# stderr_has NAME WORDS
stderr_has() {
	tap_run "$1" grep -qF -e "$2" "$tap_dir/stderr"
}

# rows N NAME: checks the number of output lines
rows() {
	tap_run "$2" test "$(wc -l < "$tap_dir/stdout")" = "$1"
}

run file "$dir/ten" --json --fields index
if ! grep -q '"index":9' "$tap_dir/stdout"; then
	tap_skip 'lists of files' 'what is cached here cannot be seen'
	tap_done
fi
list file "$dir/ten\n" --json --fields ask,index,path
expect 'one file: status' 0
rows 10 'one file: all of it'
stdout_has 'one file: the first page' \
	"{\"ask\":0,\"index\":0,\"path\":\"$dir/ten\"}"

list file "$dir/ten 3\n$dir/ten 4 2\n$dir/ten 7+2\n" --json --fields ask,index
expect 'ranges: status' 0
stdout_is 'ranges' '{"ask":0,"index":3}
{"ask":1,"index":4}
{"ask":1,"index":5}
{"ask":2,"index":7}
{"ask":2,"index":8}'

list file "$dir/two words\n$dir/two words 1\n$dir/name 1\n$dir/name 1 2\n" \
	--json --fields ask,index
expect 'names with blanks: status' 0
stdout_is 'names with blanks' '{"ask":0,"index":0}
{"ask":0,"index":1}
{"ask":1,"index":1}
{"ask":2,"index":0}
{"ask":2,"index":1}
{"ask":2,"index":2}
{"ask":3,"index":2}'

list file "$dir/ten\t8\n$dir/name 1\t1\t1\n$dir/name 1\t\n" \
	--json --fields ask,index
expect 'TABs: status' 0
stdout_is 'TABs' '{"ask":0,"index":8}
{"ask":1,"index":1}
{"ask":2,"index":0}
{"ask":2,"index":1}
{"ask":2,"index":2}'

mkdir "$dir/new
line"
head -c 4096 /dev/zero > "$dir/new
line/a"
list file "$dir/new\nline/a\\0$dir/ten 2\\0" --null --json --fields ask,index
expect 'NUL bytes: status' 0
stdout_is 'NUL bytes' '{"ask":0,"index":0}
{"ask":1,"index":2}'
list file "$dir/ten 9\\0$dir/ten 8" -0 --json --fields index
stdout_is 'the last NUL byte may be missing' '{"index":9}
{"index":8}'

list file "$dir/nothing\n$dir/ten 1\n$dir\n$dir/ten x\n" --json --fields ask
expect 'what cannot be opened: status' 2 \
	"line 1: cannot open $dir/nothing: No such file"
stdout_is 'the others are answered, and these are rows with their error' \
"{\"ask\":1}
{\"line\":1,\"path\":\"$dir/nothing\",\"error\":\"cannot open $dir/nothing: No such file or directory\"}
{\"line\":3,\"path\":\"$dir\",\"error\":\"cannot walk $dir: it is a directory\"}
{\"line\":4,\"path\":\"$dir/ten x\",\"error\":\"cannot open $dir/ten x: No such file or directory\"}"
stderr_has 'a directory is not a file' "line 3: cannot walk $dir: it is a dir"
stderr_has 'a word that is not a number belongs to the name' "ten x: No such"
stderr_has 'they are counted' '3 of 4 names could not be opened'

list file "$dir/ten\tx\n$dir/ten 1 0\n$dir/ten\\0x\n" --json
expect 'bad records: status' 2 \
	'line 1: what follows the TAB is not FIRST and COUNT'
stdout_has 'bad records are rows, too' \
	"{\"line\":1,\"path\":\"$dir/ten\",\"error\":\"what follows the TAB"
stderr_has 'the range has no pages' 'line 2: the range has no pages'
stderr_has 'a NUL byte hides nothing' 'line 3: a name cannot contain a NUL byte'
list file '%09000d\n' --json
expect 'an endless name' 2 'line 1: the name is too long'

list file '\n\n' --json
expect 'an empty list' 1 'standard input names no file'

list file "$dir/ten 0 4\n$dir/two words\n" --summary --json
expect 'a summary: status' 0
stdout_is 'a summary is by path' \
"{\"path\":\"$dir/ten\",\"pages\":4,\"bytes\":16384}
{\"path\":\"$dir/two words\",\"pages\":2,\"bytes\":8192}
{\"total\":{\"pages\":6,\"bytes\":24576,\"undecided\":0}}"
list file "$dir/nothing\n$dir/two words\n" --summary --json
expect 'a summary of a part: status' 2 'nothing: No such file'
stdout_is 'a summary: the total is last' \
"{\"line\":1,\"path\":\"$dir/nothing\",\"error\":\"cannot open $dir/nothing: No such file or directory\"}
{\"path\":\"$dir/two words\",\"pages\":2,\"bytes\":8192}
{\"total\":{\"pages\":2,\"bytes\":8192,\"undecided\":0,\"complete\":false,\"visited\":2,\"wanted\":null}}"
list file "$dir/nothing\n$dir/ten 1\n" --format csv --fields index
stdout_is 'CSV has columns of pages only' 'index
1'

list tree "$dir/below\n$dir/nothing\n" --json --fields ask,path
expect 'trees: status' 2 "line 2: cannot open $dir/nothing"
stdout_is 'trees' "{\"ask\":0,\"path\":\"$dir/below/one\"}
{\"line\":2,\"path\":\"$dir/nothing\",\"error\":\"cannot open $dir/nothing: No such file or directory\"}"

# --- several files as arguments ---

run file "$dir/ten" 3 7+2 "$dir/name 1" "$dir/two words" 1 --json \
	--fields ask,index
expect 'several files: status' 0
stdout_is 'several files, each with its ranges' '{"ask":0,"index":3}
{"ask":1,"index":7}
{"ask":1,"index":8}
{"ask":2,"index":0}
{"ask":2,"index":1}
{"ask":2,"index":2}
{"ask":3,"index":1}'
run file "$dir/two words" "$dir/ten" 0+4 --summary --json
expect 'several files, a summary: status' 0
stdout_is 'several files, a summary is by path' \
"{\"path\":\"$dir/ten\",\"pages\":4,\"bytes\":16384}
{\"path\":\"$dir/two words\",\"pages\":2,\"bytes\":8192}
{\"total\":{\"pages\":6,\"bytes\":24576,\"undecided\":0}}"
run file "$dir/ten" 1 "$dir/nothing" --json --fields ask
expect 'several files, one is missing: status' 2 'nothing: No such file'
stdout_is 'several files, one is missing: the other, and it' "{\"ask\":0}
{\"path\":\"$dir/nothing\",\"error\":\"cannot open $dir/nothing: No such file or directory\"}"
stderr_has 'several files: they are counted' '1 of 2 names could not be'
cd "$dir"
head -c 4096 /dev/zero > 2
run file ten 1 2 3 --json --fields ask,index
expect 'a file whose name is a number is not a file here: status' 0
stdout_is 'a number is a range, also where a file has that name' \
	'{"ask":0,"index":1}
{"ask":1,"index":2}
{"ask":2,"index":3}'
run file ten 1 ./2 0 --json --fields ask,index
stdout_is 'a file whose name is a number, and its range' '{"ask":0,"index":1}
{"ask":1,"index":0}'
if command -v script > /dev/null; then
	TERM=dumb script -qec "$PAGEDET file ten ./2" /dev/null < /dev/null |
		tr -d '\r' > "$tap_dir/stdout"
	# Without room, a long path loses its beginning.
	stdout_has 'several files on a terminal: sums by path' '/ten '
	stdout_has 'several files on a terminal: how to list' '--all lists'
else
	tap_skip 'several files on a terminal' 'needs script(1)'
fi
cd "$tap_dir"

run file - --null more
expect 'more than the list' 64 'cannot be combined with other arguments'
run file "$dir/ten" -
expect 'the list behind a file' 64 'cannot be combined with other arguments'
run file "$dir/ten" --null
expect '--null without a list' 64 "list on standard input, '-'"

# A list of any length takes the same memory.
i=0
while [ $i -lt 2000 ]; do
	echo "$dir/ten 0"
	i=$((i + 1))
done > "$tap_dir/long.txt"
status=0
"$PAGEDET" file - --json --fields ask < "$tap_dir/long.txt" \
	> "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
expect 'a long list: status' 0
rows 2000 'a long list'
tap_done
