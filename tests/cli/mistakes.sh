#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs log snapshot
# Tests what users type by mistake: the answer says what is wrong and what to
# do, and nothing is done that was not meant.
. "$top_srcdir/tests/cli/cli.sh"

cd "$tap_dir"
root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"

# --- page frames that do not exist ---

# One that no machine has, and one behind the memory of this one.
run --root "$root" mappers 0x7f3a00000000
expect 'mappers: an address as a page frame' 1 'there is no such page frame'
tap_run 'and how to ask for an address' grep -qF \
	"try: pagedet --root $root virt PID 0x7f3a00000000" "$tap_dir/stderr"
run --root "$root" mappers 0x7f3a00000000 -q
expect 'the same without remarks' 1
run --root "$root" mappers 0x300
expect 'mappers: no memory is there' 1 'there is no memory at this page frame'
run --root "$root" mappers 0x300 0x130
expect 'mappers: memory is at one of them' 1 'nobody maps it'
tap_fails 'and then it is not denied' grep 'no memory' "$tap_dir/stderr"
run --root "$root" page 0x7f3a00000000
expect 'page: the row says that it is a hole' 0 'no machine has a page frame'
stdout_has 'and its kind' 'hole'
dump=$top_srcdir/tests/fixtures/vmcore/qemu.elf.xz
if xz -dc "$dump" > vmcore 2> /dev/null &&
   "$PAGEDET" --from vmcore page 1 -q > /dev/null 2>&1; then
	run --from vmcore mappers 0x7f3a00000000
	expect 'of a dump: an address as a page frame' 1 \
		'there is no such page frame'
	run --from vmcore mappers 0x7f3a000
	expect 'of a dump: no memory is there' 1 \
		'there is no memory at this page frame'
else
	tap_skip 'of a dump' 'needs xz and the source vmcore'
fi

# --- the file of a snapshot is forgotten ---

run --root "$root" snapshot scan
expect 'snapshot without a file' 64 \
	"try: pagedet --root $root snapshot FILE scan;"
tap_fails 'and no file is written' test -e scan
run --root "$root" snapshot task 12
expect 'snapshot of a task without a file' 64 \
	"try: pagedet --root $root snapshot FILE task 12;"
tap_fails 'nor here' test -e task
run --root "$root" snapshot -o 'a b' scan
expect 'the file as an option' 64 \
	"try: pagedet --root $root snapshot 'a b' scan;"
run --root "$root" snapshot ./scan scan -q
tap_run 'a file may be called so' test -s scan
run --root "$root" snapshot page scan -q
tap_run 'also if a command follows' test -s page

# --- a blank in place of = ---

for value in kernel user both; do
	run --root "$root" mappers 5 --stacks $value
	expect "--stacks $value" 64 "try: --stacks=$value;"
done

# --- forms of arguments ---

run --root "$root" page 1,2,3
expect 'a list with commas' 64 'write blanks between numbers, not commas'
run --root "$root" phys 4G
expect 'a unit after an address' 64 "try: pagedet --root $root phys 0x100000000;"
run --root "$root" virt 12 4k
expect 'the same of a process' 64 "try: pagedet --root $root virt 12 0x1000;"
mkdir 'a dir'
run file 'a dir'
expect 'a directory as a file' 64 "try: pagedet tree 'a dir';"
run mappers ./'a dir'
expect 'the same of mappers' 64 "try: pagedet tree './a dir';"
run --from 'a dir' scan
expect 'a directory as a dump' 65 'hint: --root DIR reads a copy of /proc and'

# --- stacks of threads ---

run mappers "$PAGEDET" --flame x.svg
expect 'a picture of the mappers of a file' 64 '--perf-map, --flame or --folded'
run task 1 --stop
expect 'threads are stopped for nothing' 64 '--stop needs --stacks=user or both'
run task 1 --stacks --perf-map
expect 'map files for kernel stacks' 64 '--perf-map needs --stacks=user or both'
run task 1 --stacks --flame x.svg -o y
expect 'two outputs' 64 '--flame FILE is the output'
tap_fails 'no output' test -e x.svg -o -e y

# --- without privilege ---

# Whoever may read all tasks gets no advice about it.
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null &&
   as_nobody true && tap_is_open "$PAGEDET"; then
	if as_nobody head -c 1 "/proc/$$/maps" > /dev/null 2>&1; then
		tap_skip 'tasks of others' 'nobody may read all tasks here'
	else
		status=0
		as_nobody "$PAGEDET" --backend procfs mappers 5 > stdout \
			2> stderr || status=$?
		expect 'tasks of others' 2 \
			'hint: needs CAP_SYS_ADMIN and CAP_SYS_PTRACE'
	fi
else
	tap_skip 'tasks of others' 'needs root, setpriv and a tree that others may enter'
fi

# --- words that are not in the list of commands ---

run versoin
expect 'a mistyped version' 64 "did you mean 'version'?"
run hlep page
expect 'a mistyped help' 64 "did you mean 'help'?"
for word in -version -help -json; do
	run "$word"
	expect "$word has one dash" 64 \
		"there is no option $word; did you mean -$word?"
done

# --- keys and sums of kmem ---

trace=$top_srcdir/tests/fixtures/traces/raw-6.18-x86_64
run kmem report "$trace" --where 'liv>100'
expect 'a mistyped sum in a filter' 64 "hint: did you mean 'live'?"
run kmem report "$trace" --sort=-live,sitex
expect 'a mistyped key of an order' 64 "hint: did you mean 'site'?"
run kmem report "$trace" --sort lives
expect 'a mistyped sum of an order' 64 "hint: did you mean 'live'?"
run kmem report "$trace" --sort qqqqqq
expect 'a word that is like none' 64 "hint: 'pagedet help kmem' explains it"
run kmem report "$trace" --by sites
expect 'a mistyped key' 64 "did you mean 'site'?"
run kmem report "$trace" --by qqqqqq
expect 'a word that is not a key' 64 'there is site, function, module,'
run owners --by pids
expect 'a mistyped key of owners' 64 "did you mean 'pid'?"
run kmem live "$trace" --where 'site=x'
expect 'a key of groups in a list of objects' 64 \
	"try: --where 'alloc_site~NAME';"
run kmem events "$trace" --where 'not bytes>100'
expect 'a sum in a list of events' 64 'there is no such field'

# --- one text, named in two ways ---

# same NAME FILE: the facts of both are the same
same() {
	one=0 two=0
	"$PAGEDET" from-log "$2" --text-only > one 2> one.said || one=$?
	"$PAGEDET" --from "$2" from-log > two 2> two.said || two=$?
	tap_run "$1: the same status" test "$one" = "$two"
	tap_run "$1: some facts" test -s one
	tap_run "$1: the same facts" cmp one two
	tap_run "$1: the same remarks" cmp one.said two.said
	"$PAGEDET" from-log "$2" --text-only --json 2> one.said |
		sed 's/,"missing":.*//' > one
	"$PAGEDET" --from "$2" from-log --json 2> two.said |
		sed 's/,"missing":.*//' > two
	tap_run "$1: some rows" test -s one
	tap_run "$1: the same rows" cmp one two
}

cat > btrfs.log << 'EOT'
[   39.030795] BTRFS warning (device sda2): csum failed root 258 ino 9276991 off 8192 csum 0xf70240b1 expected csum 0x0c62ca5b mirror 1
[   97.790351] BTRFS warning (device sda2): csum failed root 258 ino 9276867 off 0 csum 0x98f94189 expected csum 0x76b09259 mirror 1
EOT
same 'a checksum of btrfs' btrfs.log
cat > block.log << 'EOT'
[    1.000000] critical medium error, dev sda, sector 123456 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2
EOT
same 'a block' block.log
cat > ext4.log << 'EOT'
[    1.000000] EXT4-fs warning (device dm-0): ext4_end_bio:353: I/O error 10 writing to inode 12 starting block 2065)
EOT
same 'a page of ext4' ext4.log
cat > buffer.log << 'EOT'
[    1.000000] Buffer I/O error on dev dm-0, logical block 2065, lost async page write
EOT
same 'a buffer' buffer.log
cat > xfs.log << 'EOT'
[    1.000000] XFS (dm-0): metadata I/O error in "xfs_buf_ioend+0x1/0x2" at daddr 0x10 len 8 error 5
EOT
same 'metadata of xfs' xfs.log
cat > slab.log << 'EOT'
[ 6988.940148] BUG kmalloc-64 (Not tainted): Poison overwritten
EOT
same 'a slab' slab.log
cat > old.log << 'EOT'
[  173.668438] page:ffffea000ab1ad00 count:0 mapcount:-1 mapping:          (null) index:0x0
EOT
same 'a page of an old kernel' old.log
cat > kasan.log << 'EOT'
[    1.000000] BUG: KASAN: slab-out-of-bounds in f+0x1/0x2
[    1.000000] Write of size 8 at addr ffff888101234567 by task x/12
EOT
same 'kasan' kasan.log
cat > text << 'EOT'
nothing that a kernel says
EOT
run --from text from-log
expect 'a text that is not a log' 65 'it is not a dump, snapshot, kernel log'
tap_done
