#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests Memorizer's controls and recordings on played kernels of each generation
# (memorizer.py), which print, clear, stream and forget objects as those do.
. "$top_srcdir/tests/cli/cli.sh"

root=$tap_dir/root
debug=$root/sys/kernel/debug
file=$tap_dir/file
server=
mounted=
mkdir -p "$debug"
ln -s /proc "$root/proc"
export debug

unserve() {
	if [ "$mounted" ]; then
		umount "$debug" || umount -l "$debug"
		wait "$server" || :
	fi
	mounted=
}
recorder=
trap 'end_all $recorder; unserve; rm -rf "$tap_dir"' EXIT

is_served_or_ended() {
	grep -q " $debug fuse" /proc/mounts || ! kill -0 "$server" 2> /dev/null
}

# serve KIND...: sets $dir to the directory of its files
serve() {
	unserve
	"$PYTHON3" "$top_srcdir/tests/cli/memorizer.py" "$debug" "$@" \
		> "$tap_dir/server" 2>&1 &
	server=$!
	tap_wait is_served_or_ended
	kill -0 "$server" 2> /dev/null || return 1
	mounted=1
	dir=$debug/memorizer
	[ -d "$dir" ] || dir=$debug
}

if ! serve linuxkit; then
	tap_skip 'recordings' "no FUSE: $(cat "$tap_dir/server")"
	tap_done
	exit 0
fi

# The switches, whatever their names are.
switches() {
	for name in memorizer_enabled memorizer_log_access print_live_obj \
		cfg_log_on stack_trace_on log_accesses_enabled \
		log_live_enabled log_calls_enabled log_frames_enabled; do
		[ ! -e "$dir/$name" ] || echo "$name $(cat "$dir/$name")"
	done
}

# record ARGUMENTS...: runs, and checks afterwards that switches are as before
record() {
	switches > "$tap_dir/before"
	run kmap record --root "$root" -o "$file" "$@"
	restored "kmap record $*"
}

restored() {
	switches > "$tap_dir/after"
	tap_run "$kind: the switches are restored" \
		cmp "$tap_dir/before" "$tap_dir/after"
}

# recorded NAME OBJECT...: each is PLACE:WRITES:READS:END, in any order
recorded() {
	recorded_name=$1
	shift
	"$PAGEDET" kmap report "$file" --json --pointers -q \
		> "$tap_dir/rows" 2> /dev/null || :
	tap_run "$kind: $recorded_name" "$PYTHON3" - "$tap_dir/rows" "$@" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
total = rows.pop()["total"] if rows else {"strange": 0, "cut": False}
got = ["%x:%d:%d:%s" % (int(r["address"], 16) & 0xfffff, r["writes"],
                        r["reads"], r["freed"]) for r in rows]
assert sorted(got) == sorted(sys.argv[2:]), (got, sys.argv[2:])
assert not total["strange"] and not total["cut"], total
PY
}

# What programs that are recorded use.
cat > "$tap_dir/lib" <<'EOT'
tell() {
	echo "$*" > "$debug/event"
}
# drained: until the kernel has forgotten what is freed by now
drained() {
	# A stream does it at once.
	[ ! "$streams" ] || return 0
	had=$(grep -c cleared "$debug/log" || :)
	# The drain that has begun may have been too early.
	until [ "$(grep -c cleared "$debug/log" || :)" -ge $((had + 2)) ]; do
		sleep 0.02
	done
}
EOT
streams=
export streams

# program NAME: its text is standard input
program() {
	{
		cat "$tap_dir/lib"
		cat
	} > "$tap_dir/$1"
}

# --- each generation, with and without a directory of its own ---

program some <<'EOT'
tell alloc 1000 64
tell access 1000 3 4
tell free 1000
drained
tell alloc 2000 32
tell access 2000 1 1
tell alloc 3000 16
tell free 3000
drained
tell access 2000 1 0
tell alloc 1000 64
tell access 1000 5 5
tell free 1000
EOT
for kind in linuxkit slab 6.6.3 6.6.30 'linuxkit flat' '6.6.30 flat'; do
	# shellcheck disable=SC2086
	serve $kind
	streams=
	[ ! -e "$dir/kmap_stream" ] || streams=1
	echo 1 > "$dir/memorizer_enabled"
	echo 'alloc 100 8' > "$debug/event"
	echo 'alloc 200 8' > "$debug/event"
	echo 'free 200' > "$debug/event"
	record --drain 0.05 -- sh "$tap_dir/some"
	expect "$kind: a recording" 0 'Memorizer was on before, and is again'
	case $kind in
	6*)
		tap_run "$kind: by the stream" grep -q 'by the stream$' \
			"$tap_dir/stderr" ;;
	*)
		tap_run "$kind: by reading" grep -q 'by reading kmap$' \
			"$tap_dir/stderr" ;;
	esac
	recorded 'each object is there once, as it was at last' \
		1000:3:4:freed 3000:0:0:freed 1000:5:5:freed 100:0:0:live \
		2000:2:1:live
	tap_run "$kind: only its owner may read it" \
		[ "$(stat -c %a "$file")" = 600 ]
done

streams=

# --- memory for three objects, and ten of them ---

program ten <<'EOT'
for i in 1 2 3 4 5 6 7 8 9 10; do
	tell alloc ${i}0 8
	tell free ${i}0
	[ $((i % 2)) -ne 0 ] || drained
done
EOT
for kind in slab '6.6.3 without kmap_stream'; do
	# shellcheck disable=SC2086
	serve $kind holds 3
	record -q --drain 0.05 -- sh "$tap_dir/ten"
	expect "$kind: small memory" 0
	recorded 'nothing was lost' 10:0:0:freed 20:0:0:freed 30:0:0:freed \
		40:0:0:freed 50:0:0:freed 60:0:0:freed 70:0:0:freed \
		80:0:0:freed 90:0:0:freed 100:0:0:freed
done

# --- a clear that is refused once ---

program refused <<'EOT'
tell alloc 1000 64
tell free 1000
drained
tell alloc 2000 64
tell free 2000
EOT
kind=slab
serve slab stubborn
record --drain 0.05 --json -- sh "$tap_dir/refused"
expect 'a clear is refused' 0 '1 object read again, and recorded once'
tap_run 'and that is counted' grep -q \
	'"repeated":1,"vanished":0,"strange":0,"gaps":0,"gap_ns":0,"uncleared":1,' \
	"$tap_dir/stdout"
recorded 'it is there once' 1000:0:0:freed 2000:0:0:freed

# --- kernels that cannot do all ---

program other <<'EOT'
tell alloc 1000 64
tell access 1000 3 4
drained
tell access 1000 1 1
tell free 1000
drained
tell alloc 2000 8
EOT
for lack in \
	'print_live_obj:no switch for live objects' \
	'clear_printed_list:no way to clear printed objects'; do
	kind="linuxkit without ${lack%%:*}"
	serve linuxkit patient without "${lack%%:*}"
	record --drain 0.05 -- sh "$tap_dir/other"
	expect "$kind" 2 "this kernel's Memorizer has ${lack#*:}"
	tap_run "$kind: the gaps are told" grep -q \
		'Memorizer was off for [0-9.]* s, in [0-9]* drains: what' \
		"$tap_dir/stderr"
	recorded 'objects are merged' 1000:4:5:freed 2000:0:0:live
done
kind='linuxkit without clears'
serve linuxkit without clear_printed_list without clear_object_list
record --drain 0.05 -- sh -c 'echo alloc 10 8 > "$debug/event"'
expect "$kind" 2 'no way to clear freed objects'
tap_run 'is read only once' [ "$(grep -c printed "$debug/log")" = 1 ]
kind='linuxkit without accesses'
serve linuxkit without memorizer_log_access
record -- true
expect "$kind" 2 'no switch for accesses'
kind='linuxkit without kmap'
serve linuxkit without kmap
record -- true
expect "$kind" 69 "this kernel's Memorizer has no file kmap"

# Where opening kmap turns it off, and there is no stream.
kind='6.6.30 without kmap_stream'
serve 6.6.30 patient without kmap_stream
record --drain 0.05 -- sh "$tap_dir/refused"
expect "$kind" 2 'Memorizer was off for'
recorded 'it is turned on again' 1000:0:0:freed 2000:0:0:freed

# --- every end ---

kind=slab
serve slab
echo 1 > "$dir/cfg_log_on"
record -- "$tap_dir/no-such-program"
expect 'no such program' 66 "no-such-program': No such file"
tap_run 'and there is no recording' grep -q "'$file' was not written" \
	"$tap_dir/stderr"
record --drain 0.05 -- sh -c 'exit 3'
expect 'a program that fails' 0 'the program ended with status 3'
record -q -- sh -c 'kill -9 $$'
expect 'a program that is killed' 0
record -q --for 0.2
expect 'some time' 0

is_on() {
	grep -q '^[Y13]' "$dir/memorizer_enabled"
}

# start ARGUMENTS...: in the background, until it records
start() {
	switches > "$tap_dir/before"
	"$PAGEDET" kmap record --root "$root" -o "$file" "$@" \
		> "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null &
	recorder=$!
	tap_wait is_on
}

# A shell lets programs in the background ignore SIGINT.
for signal in TERM HUP; do
	start -- sleep 1000
	kill -s $signal "$recorder"
	status=0
	wait "$recorder" || status=$?
	recorder=
	expect "SIG$signal" 0 'objects, 0 live'
	restored
done
for kind in slab 6.6.30; do
	serve "$kind" endless
	rm -f "$file"
	start -- sleep 1000
	kill -s TERM "$recorder"
	is_reading() {
		grep -q printed "$debug/log"
	}
	tap_wait is_reading
	kill -s TERM "$recorder"
	status=0
	wait "$recorder" || status=$?
	recorder=
	expect "$kind: a second signal" 2 'was ended early'
	restored
	tap_run "$kind: half a text is not written" [ ! -e "$file" ]
done
kind=slab
serve slab mute
rm -f "$file"
record -- true
expect 'kmap cannot be read' 74 'memorizer/kmap: Input/output error'
tap_run 'nothing is written' [ ! -e "$file" ]
record -o "$tap_dir/none/x" -- true
expect 'no such directory' 66 'none/x'

# Killed, nothing can be restored: the next one says so.
serve slab
start -- sleep 1000
end_all "$recorder"
recorder=
run doctor --root "$root"
stdout_has 'doctor tells what a killed one has left' 'Memorizer is on, by'
record --for 0.1
expect 'so does the next one' 0 'Memorizer was on before'
run kmap off --root "$root"
expect 'off' 0
run doctor --root "$root"
tap_run 'then there is nothing to tell' \
	[ "$(grep -c Memorizer "$tap_dir/stdout")" = 0 ]

# --- others ---

start -- sleep 1000
run kmap record --root "$root" -o "$tap_dir/second" -- true
expect 'two at once' 69 'another recording of Memorizer is running'
echo 0 > "$dir/memorizer_enabled"
kill "$recorder"
status=0
wait "$recorder" || status=$?
recorder=
expect 'someone turns it off' 2 'someone else has turned Memorizer off'
restored

# --- one process ---

kind=slab
record --follow program -- true
expect 'not in this generation' 69 \
	'no way to follow one process by its number'
kind=6.6.3
serve 6.6.3
record --follow program -- true
expect 'nor in this one' 69 'no way to follow one process by its number'
kind=6.6.30
serve 6.6.30
record -q --follow program -- sh -c \
	'grep -q "^3 .* root = $$\$" "$debug/memorizer/memorizer_enabled"'
expect 'the program' 0
record --follow 99999999 -- true
expect 'a process that is not there' 1 'there is no process 99999999'
run kmap on --root "$root" $$
run kmap stats --root "$root"
stdout_has 'its number is shown' \
	"enabled       3       $dir/memorizer_enabled, process $$"
record -- true
expect 'what cannot be restored is not changed' 69 \
	'only the process that it follows can set again'

# --- switches ---

for kind in linuxkit slab 6.6.3 6.6.30; do
	serve $kind
	run kmap on --root "$root"
	expect "$kind: on" 0
	run kmap stats --root "$root" --json
	expect "$kind: stats" 0
	for name in enabled log_accesses; do
		tap_run "$kind: $name is on" grep -q \
			"^{\"file\":\"$name\",\"path\":\"$dir/.*\",\"value\":1" \
			"$tap_dir/stdout"
	done
	tap_run "$kind: what it says of itself" grep -q \
		'^{"stats":"    Live Objects:' "$tap_dir/stdout"
	run kmap clear --root "$root"
	expect "$kind: clear" 0
	run kmap clear printed --root "$root"
	tap_run "$kind: both clears" \
		[ "$(grep -c cleared "$debug/log")" = 2 ]
	run kmap off --root "$root"
	tap_run "$kind: off" grep -q '^[N0]' "$dir/memorizer_enabled"
	run kmap on --root "$root" calls
	if [ $kind = linuxkit ]; then
		expect "$kind: calls" 69 "Memorizer has no log of calls"
		continue
	fi
	expect "$kind: calls" 0
	run kmap on --root "$root" frames
	expect "$kind: one table for both" 64 \
		'cannot turn on log_frames: log_calls is on'
	run kmap off --root "$root" calls
	run kmap on --root "$root" frames live
	expect "$kind: frames" 0
	run kmap clear calls --root "$root"
	tap_run "$kind: clears calls" grep -q 'cleared calls' "$debug/log"
done
run kmap stats --root "$root"
tap_run 'text has the kernel'\''s own lines' grep -q 'Live Objects:' \
	"$tap_dir/stdout"
serve linuxkit
run kmap stats --root "$root"
stdout_has 'what a kernel does not have' \
	'clear_calls   -       this kernel does not have it'

# --- without Memorizer ---

unserve
for command in on off clear stats "record -o $file -- true"; do
	# shellcheck disable=SC2086
	run kmap --root "$root" $command
	expect "without it: $command" 69 'this kernel does not have Memorizer'
done
# Without debugfs nothing is known of the kernel.
if grep -q ' /sys/kernel/debug debugfs ' /proc/mounts; then
	tap_skip 'without debugfs' 'it is mounted here'
else
	run kmap stats
	expect 'without debugfs' 69 'cannot tell whether this kernel has'
fi

# --- refused ---

refuse() {
	words=$1
	shift
	run kmap "$@"
	expect "kmap $*" 64 "$words"
}
refuse 'lacks its file' record -- true
refuse 'exclude each other' record -o x --for 1 -- true
refuse 'there is no program' record -o x --follow program --for 1
refuse 'neither program nor a process' record -o x --follow 1 -- true
refuse 'neither program nor a process' record -o x --follow y -- true
refuse 'standard output has the KMAP' record -o - --json -- true
refuse "takes no --by" record -o x --by site -- true
refuse '--hz has no meaning' record -o x --hz 100 -- true
refuse '--from has no meaning' on --from x
refuse "there is no switch 'x'" on x
refuse "there is no switch '77'" off 77
refuse 'not a process that Memorizer can follow' on 2
refuse "'x' cannot be cleared" clear x
refuse 'takes no argument' stats x
refuse "--for is for 'kmap record'" on --for 1
refuse "--drain is for 'kmap record'" report x --drain 1
refuse "--follow is for 'kmap record'" report x --follow 7
refuse '--drain: ' record -o x --drain 0 -- true
refuse 'must be text or json' stats --format csv
tap_done
