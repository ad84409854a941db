#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests the command on the running kernel, with known facts about a file and a
# process of its own. Without root some tests are skipped. Root also runs tests
# as nobody.
. "$top_srcdir/tests/cli/cli.sh"

root=no
if [ "$(id -u)" = 0 ] && dd if=/proc/kpageflags of=/dev/null bs=8 count=1 \
	2> /dev/null; then
	root=yes
fi

# as_root NAME: whether this test is possible; reports a skip if not
as_root() {
	[ $root = yes ] || tap_skip "$1" 'page frame numbers are hidden'
	[ $root = yes ]
}

sleep 1000 &
pid=$!
# It never waits for its child.
sh -c 'sleep 1000 & echo $! > "$1"; exec sleep 1000' sh "$tap_dir/zombie" &
parent=$!
trap 'zombie=$(cat "$tap_dir/zombie" 2> /dev/null)
	kill "$pid" $zombie "$parent" 2> /dev/null
	rm -rf "$tap_dir"' EXIT
# Until then it is a copy of this shell.
tap_wait grep -qx sleep "/proc/$pid/comm"
end=$(sed -n 's/^[^-]*-\([^ ]*\) .*\[stack\].*/\1/p' "/proc/$pid/maps")
address=$(printf '%x' "$((0x$end - 4096))")

# --- a process ---

run virt "$pid" "$address" --json --fields pid,tgid,comm,vaddr,kind,vma_name
expect 'a page of the stack: status' 0
stdout_is 'a page of the stack' "{\"pid\":$pid,\"tgid\":$pid,\"comm\":\"sleep\",\"vaddr\":\"0x$address\",\"kind\":\"anon\",\"vma_name\":\"[stack]\"}"
run virt self pagedet --json --fields vma_name
if [ "$status" = 64 ]; then
	# It may be called otherwise.
	expect 'an area by the last part of its path' 64 'is not a hex number'
else
	stdout_has 'an area by the last part of its path' '/pagedet"}'
fi
run virt self nothing
expect 'a word that is not an area' 64 "'nothing' is not a hex number"
run virt "$pid" 0 --json --fields vaddr,kind
stdout_is 'nothing at 0' '{"vaddr":"0x0","kind":"unmapped"}'
run task "$pid" --by vma_name --json
expect 'a task: status' 0
stdout_has 'a task has its program' 'bin/sleep"'
run task "$pid" --where 'vma_name=nonsense'
expect 'a task without such a mapping' 1 'no page matched'
run task 4194305
expect 'no such task' 1 'no such task'
tap_wait grep -qx sleep "/proc/$parent/comm"
zombie=$(cat "$tap_dir/zombie")
kill "$zombie"
tap_wait grep -q '^State:.Z' "/proc/$zombie/status"
zombie_is_told() {
	expect "a zombie: $1" 1 "cannot read task $zombie: it is a zombie"
	tap_run "a zombie: $1: no page" test ! -s "$tap_dir/stdout"
}
run task "$zombie"
zombie_is_told 'task'
run virt "$zombie" '[stack]'
zombie_is_told 'an area'
run task "$zombie" --backend procfs
zombie_is_told 'procfs'
if "$PAGEDET" task "$pid" --backend bpf -q > /dev/null 2>&1; then
	run task "$zombie" --backend bpf
	zombie_is_told 'bpf'
	run virt "$zombie" '[stack]' --backend bpf
	zombie_is_told 'bpf, an area'
else
	tap_skip 'a zombie: bpf' 'its memory cannot be read with BPF here'
fi

if as_root 'the page of an address'; then
	run virt "$pid" "$address" --json --fields pfn
	pfn=$(sed 's/[^0-9]//g' "$tap_dir/stdout")
	run mappers "$pfn" --json --fields pid,vaddr
	stdout_has 'the page of an address is mapped there' \
		"{\"pid\":$pid,\"vaddr\":\"0x$address\"}"
	stdout_has 'and nowhere else' '"found":1,"expected":1,'
	tap_run 'a complete list: status' test "$status" = 0
else
	run virt "$pid" "$address" --fields pfn
	expect 'a number that is hidden' 2 pfn
fi

# --- its kernel stack ---

if as_root 'where a thread is in the kernel' && [ -s "/proc/$pid/stack" ]; then
	run task "$pid" --stacks --json --fields pid --where kind=reserved
	python3 -c "
import json
print(json.dumps({'pid': $pid, 'tid': $pid, 'kernel_stack': [
    line.split('] ', 1)[1].strip() for line in open('/proc/$pid/stack')]},
    separators=(',', ':')))" > "$tap_dir/stack"
	tap_run 'where a thread is in the kernel' \
		grep -qxFf "$tap_dir/stack" "$tap_dir/stdout"
	run mappers "$pfn" --stacks
	stdout_has 'where those are that map a page' "thread $pid of $pid"
	run task "$pid" --stacks --fields vaddr
	stdout_has 'where a task is' "thread $pid of $pid"
fi
run task "$pid" --stacks=nonsense
expect 'stacks of nothing' 64 "'nonsense' is not kernel, user or both"
run kmem record --stacks=user
expect 'user stacks of allocations' 64 '--stacks=user has no meaning'
run task --stacks "$pid" --where kind=reserved --json --fields pid
tap_run 'a pid after --stacks is a pid' grep -q "\"tid\":$pid" "$tap_dir/stdout"
run task "$pid" --backend procfs --stacks=user --fields pid --where kind=reserved
stdout_has 'user stacks need kernel memory' \
	'no source that is open here reads kernel memory'
run scan --stacks
expect 'where all pages are' 64 \
	"--stacks is an option of 'mappers', 'task', 'virt' and 'kmem'"

# --- a file ---

head -c 40960 /dev/zero > "$tap_dir/file"
run file "$tap_dir/file" --json --fields index
expect 'a file: status' 0
stdout_is 'a file' "$(seq 0 9 | sed 's/.*/{"index":&}/')"
run file "$tap_dir/file" 8+5 --json --fields index
stdout_is 'a part of it, past its end' '{"index":8}
{"index":9}'
run file "$tap_dir/file" 10
expect 'nothing behind the end' 1 'no page of it is cached'
mkdir "$tap_dir/tree"
head -c 8192 /dev/zero > "$tap_dir/tree/a"
head -c 4096 /dev/zero > "$tap_dir/tree/b
c"
run tree "$tap_dir/tree" --json --by path
stdout_has 'a tree' '"total":{"pages":3,'
stdout_has 'a path with a newline' 'b\nc"'
run file "$tap_dir/none"
expect 'no such file' 66 none
run file "$tap_dir"
expect 'a directory is no file' 64 directory
run file /dev/null
expect 'a character device is no file' 64 'character device'
run tree "$tap_dir/file"
expect 'a file is no directory' 64 'not a directory'
run tree "$tap_dir/none"
expect 'no such directory' 66 none
run block "$tap_dir/file" 0
expect 'a file is no block device' 64 'not a block device'

# --- all memory ---

if as_root 'all memory'; then
	# Without access to kernel memory one line says what would help.
	run scan --summary --json -q
	expect 'all memory: status' 0
	stdout_has 'some of it is free' '"kind":"free"'
	run scan --json --fields pfn --deadline 0.01
	expect 'the deadline' 2 'the deadline passed first'
	tap_run 'what was found before it' awk '
		$0 !~ /^{"pfn":[0-9]*}$/ { exit 1 }' "$tap_dir/stdout"
else
	run scan --summary
	expect 'all memory is not for everybody' 77 'hint: needs'
fi

# --- without privilege ---

if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	cp "$PAGEDET" "$tap_dir/pagedet"
	chmod 755 "$tap_dir" "$tap_dir/pagedet"
	chmod 600 "$tap_dir/file"
	nobody() {
		status=0
		setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$tap_dir/pagedet" "$@" > "$tap_dir/stdout" \
			2> "$tap_dir/stderr" || status=$?
	}
	nobody scan --summary
	expect 'nobody: all memory' 77 'hint: needs'
	nobody task "$pid"
	expect 'nobody: a task of root' 77 "cannot read task $pid"
	nobody file "$tap_dir/file"
	expect 'nobody: a file of root' 77 'cannot read'
	nobody page 1 --json
	stdout_has 'nobody: a page' '"kind":"no_access"'
	nobody page 1 --fields kind
	expect 'nobody: a field by name' 77 'a privilege is missing'
	nobody mappers 1
	expect 'nobody: who maps a page' 2 'may not be read'
	nobody doctor
	expect 'nobody: doctor: status' 0
	stdout_has 'nobody: doctor says what it would take' 'sudo pagedet'
else
	tap_skip 'without privilege' 'needs root and setpriv'
fi

tap_done
