#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests the destination of the answer, and failures: a file is complete or does
# not exist.
. "$top_srcdir/tests/cli/cli.sh"

mkproc=$top_builddir/tests/fixtures/mkproc
root=$tap_dir/root
mkdir "$root"
# So many pages that their rows need several writes.
printf 'pages 0x20000\npage 0x0+0x20000 flags=0x1028 count=1\n' \
	> "$tap_dir/scenario"
"$mkproc" "$tap_dir/scenario" "$root"

out=$tap_dir/dir/out
mkdir "$tap_dir/dir"
left() {
	find "$tap_dir/dir" -name '.pagedet-*' | grep -q . && return 1
	return 0
}

run page 1 --root "$root" --json
cp "$tap_dir/stdout" "$tap_dir/expected"
run page 1 --root "$root" --json -o -
expect '-o - is standard output' 0
tap_run '-o - writes the same' cmp "$tap_dir/expected" "$tap_dir/stdout"

(umask 027; "$PAGEDET" page 1 --root "$root" --json -o "$out")
tap_run '-o FILE writes the same' cmp "$tap_dir/expected" "$out"
tap_run 'a new file has the mode that the umask leaves' \
	test "$(stat -c %a "$out")" = 640
chmod 604 "$out"
run page 1 --root "$root" --json -o "$out"
tap_run 'a replaced file keeps its mode' test "$(stat -c %a "$out")" = 604
# A file of another user, who lets everyone write to it.
if [ "$(id -u)" = 0 ]; then
	chown 65534 "$out"
	chmod 666 "$out"
	(umask 027; "$PAGEDET" page 1 --root "$root" --json -o "$out")
	tap_run "another's file does not keep its mode" \
		test "$(stat -c '%u %a' "$out")" = '0 640'
	chmod 604 "$out"
fi
ln -s out "$tap_dir/dir/link"
run page 2 --root "$root" --json -o "$tap_dir/dir/link"
expect 'a link is followed' 0
tap_run 'the link is still one' test -L "$tap_dir/dir/link"
tap_fails 'the file behind it is new' cmp "$tap_dir/expected" "$out"
tap_run 'no temporary file is left' left

ln -s nowhere "$tap_dir/dir/dangling"
run page 1 --root "$root" -o "$tap_dir/dir/dangling"
expect 'a link to nowhere' 66 'it is a link to a file that does not exist'
run page 1 --root "$root" -o "$tap_dir/none/out"
expect 'no such directory' 66 'No such file or directory'
run page 1 --root "$root" -o "$tap_dir/dir"
expect 'a directory' 74 'Is a directory'

cp "$out" "$tap_dir/before"
run page 1 --root "$tap_dir/none" -o "$out"
expect 'a root that is not there' 66 "$tap_dir/none"
tap_run 'what was there stays' cmp "$tap_dir/before" "$out"
run page 1 --root "$root" --where nonsense -o "$out"
expect 'a filter that is wrong' 64 'cannot understand filter'
tap_run 'what was there stays, too' cmp "$tap_dir/before" "$out"
tap_run 'no temporary file is left after failures' left

run scan --root "$root" --json -o /dev/null
expect 'what is no regular file is written directly' 0
run scan --root "$root" --json -o /dev/full
expect 'a full device' 74 'No space left'
status=0
"$PAGEDET" scan --root "$root" --json > /dev/full 2> "$tap_dir/stderr" ||
	status=$?
expect 'standard output on a full disk' 74 'No space left'
status=0
"$PAGEDET" page 1 --root "$root" >&- 2> "$tap_dir/stderr" || status=$?
expect 'closed standard output' 74 'cannot write'
{
	status=0
	"$PAGEDET" scan --root "$root" --json 2> "$tap_dir/stderr" ||
		status=$?
	echo "$status" > "$tap_dir/status"
} | head -n 1 > "$tap_dir/stdout"
status=$(cat "$tap_dir/status")
expect 'a reader that goes away' 141

# A full pipe blocks the command until the signal comes.
interrupted() {
	mkfifo "$tap_dir/fifo.$2"
	# programs started under nohup ignore signals
	env --default-signal "$PAGEDET" scan --root "$root" --json --threads "$3" \
		> "$tap_dir/fifo.$2" 2> "$tap_dir/stderr" &
	pid=$!
	exec 3< "$tap_dir/fifo.$2"
	dd bs=1 count=1 <&3 > "$tap_dir/first" 2> /dev/null
	kill -s "$1" "$pid"
	cat <&3 > "$tap_dir/rest"
	exec 3<&-
	status=0
	wait "$pid" || status=$?
	expect "$1 with $3 threads: exit status and words" 2 interrupted
	cat "$tap_dir/first" "$tap_dir/rest" > "$tap_dir/stdout"
	tap_run "$1 with $3 threads: whole lines, not all of them" awk '
		!/^{.*}$/ { exit 1 }
		END { exit !(NR > 0 && NR < 131072) }' "$tap_dir/stdout"
}
interrupted TERM a 1
interrupted HUP b 2
interrupted INT c 1

# --- an incomplete file never has the final name ---

# As much is written as the limit allows.
limited() {
	status=0
	(
		ulimit -f 32
		exec "$PAGEDET" --root "$root" "$@"
	) > "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
}
# too_big NAME ARGUMENTS...: writes $out, with and without an existing file
too_big() {
	too_big_name=$1
	shift
	rm -f "$out"
	limited "$@"
	expect "$too_big_name: a file that may not grow" 74 'File too large'
	tap_fails "$too_big_name: nothing is there" ls "$out"
	cp "$tap_dir/before" "$out"
	limited "$@"
	expect "$too_big_name: it was there" 74 "out' was not written"
	tap_run "$too_big_name: it is what it was" cmp "$tap_dir/before" "$out"
	tap_run "$too_big_name: nothing else is left" left
}
for format in json csv text; do
	too_big "-o FILE, $format" scan --format $format -o "$out"
	too_big "--by, $format" scan --by pfn --format $format -o "$out"
done
too_big '-oFILE' scan --json "-o$out"
too_big '-vqo FILE' -vqo "$out" scan --json
too_big '--output FILE' --output "$out" scan --json
too_big '--output=FILE' scan "--output=$out" --json
too_big 'by two threads' scan --json --threads 2 -o "$out"
too_big 'doctor' doctor --json -o "$out"
(
	cd "$tap_dir/dir"
	too_big 'a name without folder' scan --json -o out
	echo "$tap_n" > "$tap_dir/n"
)
tap_n=$(cat "$tap_dir/n")
limited scan --json -o "$tap_dir/dir/link"
expect 'a link to it: a file that may not grow' 74 'File too large'
tap_run 'a link to it: it is what it was' cmp "$tap_dir/before" "$out"
tap_run 'a link to it: it is still one' test -L "$tap_dir/dir/link"
tap_run 'a link to it: nothing else is left' left

rm -f "$out"
(
	seq 0 100000
	echo x
) > "$tap_dir/in"
status=0
"$PAGEDET" page - --root "$root" --json -o "$out" < "$tap_dir/in" \
	2> "$tap_dir/stderr" || status=$?
expect 'a bad line behind good ones' 65 "line 100002: 'x'"
tap_fails 'a bad line behind good ones: nothing is there' ls "$out"
tap_run 'a bad line behind good ones: nothing else is left' left

# written PID: whether it has written a part of its answer, to a file with or
# without a name
written() {
	for fd in $(find "/proc/$1/fd" -lname "$tap_dir/dir/*" \
		2> "$tap_dir/why"); do
		find -L "$fd" -size +1k 2> "$tap_dir/why" | grep -q . && return
	done
	return 1
}

# stopped SIGNAL STATUS WORDS: sends a signal after the first part was written,
# while the command waits for the second part of its input
stopped() {
	rm -f "$out" "$tap_dir/fifo"
	mkfifo "$tap_dir/fifo"
	env --default-signal "$PAGEDET" page - --root "$root" --json -o "$out" \
		< "$tap_dir/fifo" 2> "$tap_dir/stderr" &
	pid=$!
	exec 3> "$tap_dir/fifo"
	seq 0 65536 >&3
	tap_wait written "$pid"
	named=$(find "$tap_dir/dir" -name '.pagedet-*')
	kill -s "$1" "$pid"
	status=0
	wait "$pid" || status=$?
	exec 3>&-
	expect "$1 while it writes" "$2" "${3:-}"
	tap_fails "$1 while it writes: nothing is there" ls "$out"
}
for signal in INT TERM HUP; do
	stopped $signal 2 "out' was not written"
	tap_run "$signal while it writes: nothing else is left" left
done
stopped KILL 137 2> "$tap_dir/why"	# the shell tells, too
if [ -z "$named" ]; then
	tap_run 'KILL while it writes: nothing else is left' left
else
	tap_skip 'KILL while it writes: nothing else is left' \
		'files have names on this filesystem'
	rm -f "$tap_dir"/dir/.pagedet-*
fi

# A full filesystem, which needs a mount of this test.
full() {
	unshare -m sh -c '
		mkdir "$1/small" && mount -t tmpfs -o size=64k none "$1/small" ||
			exit 99
		cp "$1/before" "$1/small/there"
		for name in there new; do
			status=0
			"$2" scan --root "$3" --json -o "$1/small/$name" ||
				status=$?
			echo "$name: status $status"
		done
		cmp "$1/before" "$1/small/there" && echo "it is what it was"
		find "$1/small" -type f
		"$2" scan --root "$3" --json > "$1/small/direct"
		echo "direct: status $?"' sh \
		"$tap_dir" "$PAGEDET" "$root" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr"
}
status=0
full || status=$?
if [ "$status" = 1 ] || [ "$status" = 99 ]; then
	tap_skip 'a full filesystem' 'none can be mounted here'
else
	expect 'a full filesystem' 0 'No space left on device'
	stdout_is 'a full filesystem: statuses, and what is there' \
		"there: status 74
new: status 74
it is what it was
$tap_dir/small/there
direct: status 74"
fi

tap_done
