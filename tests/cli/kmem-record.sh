#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what 'kmem record' refuses, what it leaves behind, and what it says. What
# it records is tested by tests/live/kmem, which knows the truth.
. "$top_srcdir/tests/cli/cli.sh"

file=$tap_dir/trace.dat

# --- refused before anything is recorded ---

for option in '--before x' '--kallsyms x' '--kallsyms-before x' '--flame x' \
	--folded '--window 1' '--page-size 4k' --text-only --now '--from x' \
	'--root /' '--vmlinux x' '--instance x'; do
	name=${option%% *}
	# The word is an option and its value.
	# shellcheck disable=SC2086
	run kmem record -o "$file" $option --for 0.1
	expect "no $name" 64 "$name has no meaning"
done
run kmem record -o "$file" --where kind=slab
expect 'no filter' 64 'takes no --where'
run kmem record -o "$file" --by site
expect 'no groups' 64 'takes no --by'
run kmem record -o "$file" --for 1 -- true
expect 'a time and a program' 64 'exclude each other'
run kmem record -o "$file" --for 0
expect 'no time at all' 64 '--for: '
for size in 0 x 2T 16M16 99999999999999999999; do
	run kmem record -o "$file" --buffer $size --for 0.1
	expect "no buffer of $size" 64 "--buffer: '$size'"
done
run kmem record -o - --for 0.1
expect 'not to standard output' 64 'is not a regular file'
run kmem record -o /dev/null --for 0.1
expect 'not to a device' 64 'is not a regular file'
run kmem record -o "$tap_dir/none/x" --for 0.1
expect 'no such directory' 66 'none/x'
run kmem record -o "$file" --format csv --for 0.1
expect 'no CSV' 64 '--format must be text or json'
for size in 0 x 99999999999999999999; do
	run kmem record -o "$file" --max-size $size --for 0.1
	expect "no size of $size" 64 "--max-size: '$size'"
done
run kmem record --totals --max-size 1M --for 0.1
expect 'totals have no size' 64 'max-size has no meaning'
for command in 'report x' 'diff x y' 'live x'; do
	for option in '--for 1' --pages --stacks --boot '--buffer 1M' \
		'--max-size 1M'; do
		# shellcheck disable=SC2086
		run kmem $command $option
		expect "kmem $command: no $option" 64 "'kmem record'"
	done
done
: > "$tap_dir/kmem.dat"
program=$(realpath "$PAGEDET")
status=0
env -C "$tap_dir" "$program" kmem record --for 0.1 > "$tap_dir/stdout" \
	2> "$tap_dir/stderr" || status=$?
expect 'a file that was not named' 64 "'kmem.dat' is there already"
tap_run 'is not replaced' [ ! -s "$tap_dir/kmem.dat" ]

# --- from boot on ---

run kmem record --boot
expect 'for the command line' 0 'kmem report --instance pagedet-boot'
stdout_is 'the words' "trace_instance=pagedet-boot,kmem:kmalloc,kmem:kfree,\
kmem:kmem_cache_alloc,kmem:kmem_cache_free trace_buf_size=65536K"
run kmem record --boot --json
expect 'for a boot: not as JSON' 64 '--format has no meaning'
run kmem record --boot --pages --buffer 1025 -q
stdout_is 'with pages' "trace_instance=pagedet-boot,kmem:kmalloc,kmem:kfree,\
kmem:kmem_cache_alloc,kmem:kmem_cache_free,kmem:mm_page_alloc,\
kmem:mm_page_free,kmem:mm_page_free_batched trace_buf_size=2K"
for option in '--for 1' '-o x' --stacks '--max-size 1M' '-- true'; do
	# shellcheck disable=SC2086
	run kmem record --boot $option
	expect "not with $option" 64 'has no meaning'
done
run kmem report x --instance y
expect 'a trace and an instance' 64 'takes one trace'
run kmem live x --instance y
expect 'nor for live' 64 'takes one trace'
run kmem diff x y --instance z
expect 'nor for diff' 64 'takes no --instance'
for name in '' . .. a/b ../top none-of-this-name; do
	run kmem report --instance "$name"
	if [ "$status" -eq 77 ] || [ "$status" -eq 69 ]; then
		tap_skip "no instance '$name'" 'there is no tracefs to be seen'
	else
		expect "no instance '$name'" 66 "there is no trace instance"
	fi
done

# said KEY: a member of what it says
said() {
	python3 -c 'import json, sys
print(json.loads(sys.stdin.read())[sys.argv[1]])' "$1" < "$tap_dir/stdout"
}
# ended: the status of what it says. Others of this machine may cause a loss.
ended() {
	[ "$(said lost)" = 0 ] && echo 0 || echo 2
}

# --- what happens to the program and the file ---

# Recorders of this machine are counted.
tap_lock kmem

run kmem record -o "$file" --json -- sh -c 'exit 3'
case $status in
69 | 77)
	expect 'says why it cannot record' "$status" 'cannot record allocations'
	tap_run 'and leaves no file' [ ! -e "$file" ]
	tap_skip 'a recording' 'allocations cannot be recorded here'
	tap_done
	exit
	;;
esac
tap_run 'the program has ended' grep -q \
	'^pagedet: the program ended with status 3$' "$tap_dir/stderr"
tap_run 'its numbers' python3 - "$tap_dir/stdout" "$file" "$status" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    row, = map(json.loads, f)
assert row["file"] == sys.argv[2]
assert row["events"] > 0 and row["cpus"] > 0 and row["ns"] > 0, row
assert row["mapped"] in (0, row["cpus"]), row
assert row["bytes"] % 4096 == 0 and row["buffer"] >= 65536, row
assert (row["buffer_needed"] is None) == (row["lost"] == 0), row
assert row["ended"] == "program", row
assert sys.argv[3] == ("2" if row["lost"] else "0"), row
EOT
tap_run 'which only its owner may read' [ "$(stat -c %a "$file")" = 600 ]
mv "$tap_dir/stdout" "$tap_dir/said"
run kmem report "$file" --by comm --json -q
tap_run 'the trace has these events' python3 - "$tap_dir/said" \
	"$tap_dir/stdout" <<'EOT'
import json
import sys

with open(sys.argv[1]) as f:
    said = json.loads(f.read())
with open(sys.argv[2]) as f:
    total = json.loads(f.read().splitlines()[-1])["total"]
assert total["all_events"] + total["other"] == said["events"], (total, said)
assert total["lost"] == said["lost"], (total, said)
assert total["missing_events"] == 0, (total, said)
assert total["times"] > 0, total
EOT
cp "$file" "$tap_dir/before"
run kmem record -o "$file" -q -- "$tap_dir/no-such-program"
expect 'no such program' 66 "no-such-program': No such file"
tap_run 'and the file is the one before' cmp "$file" "$tap_dir/before"
run kmem record -o "$file" -q --json -- sh -c 'kill -9 $$'
tap_run 'a program that is killed' [ "$status" -eq "$(ended)" ]
cat > "$tap_dir/small" <<'EOT'
ulimit -f 8
exec "$@"
EOT
status=0
sh "$tap_dir/small" "$PAGEDET" kmem record -o "$tap_dir/large" -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ls -lR /usr/share/doc; done' \
	> /dev/null 2> "$tap_dir/stderr" || status=$?
expect 'no room for the trace' 74 'File too large'
tap_run 'and nothing of it stays' sh -c \
	"[ ! -e '$tap_dir/large' ] && ! ls -a '$tap_dir' | grep -q '^\.'pagedet"

run kmem record -q "$tap_dir/none.dat"
expect 'a file is not a program' 66 "record into a file of that name: pagedet kmem record -o $tap_dir/none.dat"

# --- how it ends ---

# is_whole FILE: the trace has what it said
is_whole() {
	"$PAGEDET" kmem report "$1" --json -q > "$tap_dir/report" ||
		[ $? -eq 2 ] || return 1
	python3 -c 'import json, sys
said = json.load(open(sys.argv[1]))
total = json.loads(open(sys.argv[2]).read().splitlines()[-1])["total"]
assert total["all_events"] + total["other"] == said["events"] > 0, total
assert total["missing_events"] == 0, total' "$tap_dir/stdout" "$tap_dir/report"
}
# It allocates until it is killed, or until the recording has ended.
cat > "$tap_dir/busy" <<'EOT'
while [ -d "$1" ] && ! grep -q 'ends early' "$2"; do
	ls -lR "$1" > /dev/null
done
EOT
# A background job ignores Ctrl-C, and must not keep the lock.
pid=
busy=
trap 'kill $pid $busy 2> /dev/null || :
umount -l "$tap_dir/disk" 2> /dev/null || :
chmod -R u+w "$tap_dir"; rm -rf "$tap_dir"' EXIT
mkdir "$tap_dir/names"
(cd "$tap_dir/names" && seq 1000 | xargs touch)

run kmem record -o "$file" --json --max-size 1M --deadline 60 -- \
	sh "$tap_dir/busy" "$tap_dir/names" "$tap_dir/stderr"
expect 'a size' 2 'as much as --max-size allows'
tap_run 'a size: the program still ran' grep -q 'program still runs' \
	"$tap_dir/stderr"
tap_run 'a size: it says so' [ "$(said ended)" = max_size ]
tap_run 'a size: what there was' is_whole "$file"

# ended_by SIGNALS OPTION...: it is ended by so many at once, as timeout(1)
# sends two; 0: not by one
ended_by() {
	signals=$1
	shift
	# What the one before has said is not what this one says.
	: > "$tap_dir/stderr"
	"$PAGEDET" kmem record -o "$file" --json "$@" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" 8>&- &
	pid=$!
	for _ in $(seq 600); do
		[ "$signals" -eq 0 ] || grep -q Ctrl-C "$tap_dir/stderr" && break
		sleep 0.1
	done
	for _ in $(seq "$signals"); do
		kill -TERM $pid
	done
	status=0
	wait $pid || status=$?
	pid=
}
for n in 1 2; do
	ended_by $n
	expect "$n signals: said how to end it" "$(ended)" \
		"recording into '$file' until Ctrl-C"
	tap_run "$n signals: it says so" [ "$(said ended)" = signal ]
	tap_run "$n signals: what there was" is_whole "$file"
done
sh "$tap_dir/busy" "$tap_dir/names" /dev/null 8>&- &
busy=$!
ended_by 0 --max-size 256k
kill $busy
busy=
expect 'a size alone is an end' "$(ended)" 'as much as --max-size'
tap_fails 'in no need of Ctrl-C' grep -q Ctrl-C "$tap_dir/stderr"

mkdir "$tap_dir/disk"
if mount -t tmpfs -o size=48M none "$tap_dir/disk" 2> "$tap_dir/why"; then
	run kmem record -o "$tap_dir/disk/trace.dat" --json --deadline 120 -- \
		sh "$tap_dir/busy" "$tap_dir/names" "$tap_dir/stderr"
	if [ "$(said ended)" = disk ]; then
		expect 'a disk that is nearly full' 2 'nearly full'
		tap_run 'nearly full: what there was' is_whole \
			"$tap_dir/disk/trace.dat"
	else
		tap_skip 'a disk that is nearly full' \
			"the deadline came first, after $(said bytes) bytes"
	fi
	umount "$tap_dir/disk"
else
	tap_skip 'a disk that is nearly full' "$(cat "$tap_dir/why")"
fi

if command -v script > /dev/null; then
	script -qec "'$PAGEDET' kmem record -o '$file' --progress --for 1" /dev/null \
		< /dev/null > "$tap_dir/stdout" || :
	tap_run 'a terminal shows how much there is' \
		grep -Eq 'recorded: [0-9]+ events?, .* lost, ' "$tap_dir/stdout"
else
	tap_skip 'a terminal shows how much there is' 'needs script(1)'
fi
run kmem record -o "$file" --progress -- true
tap_run 'how much it compresses' grep -q 'compressing .* written' \
	"$tap_dir/stderr"

# Not interrupted by the end of its time.
start=$(date +%s%N)
run kmem record -o "$file" -q --json --for 0.3
end=$(date +%s%N)
expect 'some time' "$(ended)"
tap_run 'and no less' [ $(((end - start) / 1000000)) -ge 300 ]
tap_done
