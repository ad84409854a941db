#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests that the one-file examples run as any user, with right results.
. "$top_srcdir/tests/tap.sh"

examples=$top_builddir/examples

# runs NAME PROGRAM ARGUMENTS...: its output is in $tap_dir/out
runs() {
	name=$1 program=$2
	shift 2
	tap_run "$program runs: $name" "$examples/$program" "$@"
}

# says NAME PATTERN
says() {
	if grep -q -e "$2" "$tap_dir/out"; then
		tap_ok "$1"
	else
		tap_not_ok "$1" "$tap_dir/out"
	fi
}

# Only root may see page frame numbers and their users.
root=no
if [ "$(id -u)" = 0 ] && dd if=/proc/kpageflags of=/dev/null bs=8 count=1 \
	2> /dev/null; then
	root=yes
fi

runs "a page of its own" quickstart
says 'quickstart: the variable lies on the stack' '"vma_name":"\[stack\]"'
says 'quickstart: in anonymous memory' '"kind":"anon"'
if [ $root = yes ]; then
	pfn=$(sed -n 's/^pfn //p' "$tap_dir/out")
	says 'quickstart: by field and as JSON the same' "^{\"pfn\":$pfn,"
else
	says 'quickstart: why there is no number' '"pfn":"no_access"'
fi

# 2 MiB and a page, just written: all of it is cached.
head -c 2101248 /dev/zero > "$tap_dir/file"
runs "a file" file-cache "$tap_dir/file"
says 'file-cache: all pages' '^513 of 513 pages are cached'
says 'file-cache: the first MiB' '^ *0  *256 '
says 'file-cache: the last page' '^ *2  *1 '
: > "$tap_dir/empty"
runs "an empty file" file-cache "$tap_dir/empty"
says 'file-cache: an empty file' '^0 of 0 pages are cached'
tap_fails 'file-cache: no such file' "$examples/file-cache" "$tap_dir/none"
tap_fails 'file-cache: no argument' "$examples/file-cache"

runs "all memory" memory-summary
if [ $root = yes ]; then
	says 'memory-summary: some of it is free' '^free  *[1-9]'
	says 'memory-summary: all of it' 'pages looked at, .* memory$'
else
	says 'memory-summary: what it would take' '^memory-summary: hint: '
fi

sleep 1000 &
pid=$!
# Until then it is a copy of this shell.
tap_wait grep -qx sleep "/proc/$pid/comm"
address=$(sed -n 's/-.*\[stack\].*//p' "/proc/$pid/maps")
end=$(sed -n 's/^[^-]*-\([^ ]*\) .*\[stack\].*/\1/p' "/proc/$pid/maps")
# The environment's strings are at the end of the stack.
last=$(printf '%x' "$((0x$end - 4096))")
runs "a page of the stack" who-maps "$pid" "$last"
if [ $root = yes ]; then
	says 'who-maps: the one process' "^user  $pid  sleep .*\\[stack\\]"
	says 'who-maps: nobody else' '^found 1, the kernel counts 1'
else
	says 'who-maps: why there is no number' 'a privilege is missing'
fi
runs "another place on it" who-maps "$pid" "$address"
tap_fails 'who-maps: no such process' "$examples/who-maps" 4194305 0
tap_fails 'who-maps: no number' "$examples/who-maps" 12x
kill "$pid"

# A journal_harness that was killed earlier may have left something: only new
# things count.
directories() {
	ls -d /tmp/journal_harness-* 2> /dev/null || :
}
devices() {
	PATH=$PATH:/sbin losetup -l -n -O BACK-FILE 2> /dev/null |
		grep journal_harness || :
}
# new WHAT: prints those that did not exist before; fails if there are any
new() {
	"$1" | grep -vxF -f "$tap_dir/$1" > "$tap_dir/new" || :
	cat "$tap_dir/new"
	[ ! -s "$tap_dir/new" ]
}
no_new_directory() {
	new directories
}
no_new_device() {
	new devices
}
directories > "$tap_dir/directories"
devices > "$tap_dir/devices"

# New filesystems, which end with the test, and marks.
tap_lock marks
runs "filesystems" journal_harness
if [ "$(id -u)" = 0 ] && grep -q '^ok .*clean holds' "$tap_dir/out"; then
	says 'journal_harness: what is committed' '^ok .*: committed holds'
	says 'journal_harness: what a crash leaves' '^ok .*: a crash leaves'
	says 'journal_harness: what a full disk leaves' \
		'^ok .*full disk: disk violated'
	tap_run 'journal_harness: no directory is left' no_new_directory
	# killed at several moments
	for after in 0.1 0.6 1.2; do
		"$examples/journal_harness" > "$tap_dir/out" 2>&1 &
		pid=$!
		sleep "$after"
		kill -TERM "$pid" 2> /dev/null || :
		wait "$pid" || :
		tap_run "journal_harness: no directory is left, ended $after" \
			no_new_directory
	done
	# they end with their last mount
	tap_wait no_new_device || :
	tap_run 'journal_harness: no loop device is left' no_new_device
else
	says 'journal_harness: what it would take' '# SKIP '
fi
tap_unlock
runs 'what it is for' journal_harness --help
says 'journal_harness: what it takes' '^usage: journal_harness '
tap_fails 'journal_harness: other words' "$examples/journal_harness" --flaky

# Anonymous memory has no file to write: nothing starts, and nothing is called
# equal.
agent=$examples/migration_agent/migration_agent
for fault in write-file write-mapping punch-hole; do
	if [ ! -x "$agent" ]; then
		tap_skip "migration_agent: $fault of anonymous memory" \
			'needs jansson'
		continue
	fi
	status=0
	"$agent" --fault "$fault" > "$tap_dir/out" 2>&1 || status=$?
	echo "status $status" >> "$tap_dir/out"
	says "migration_agent: $fault of anonymous memory" '^status 64$'
	says "migration_agent: $fault: what it needs" 'needs --ram memfd'
done
if [ -x "$agent" ]; then
	"$agent" --qemu "$tap_dir/no-such" > "$tap_dir/out" 2>&1 || :
	says 'migration_agent: it says first that there is no QEMU' \
		'cannot run .*/no-such: No such file'
	tap_fails 'migration_agent: and waits for none' \
		grep 'cannot talk' "$tap_dir/out"
else
	tap_skip 'migration_agent: it says first that there is no QEMU' \
		'needs jansson'
fi

tap_done
