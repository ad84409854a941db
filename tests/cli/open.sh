#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image log page_owner
# Tests what is opened before a query: --from and its file formats, --root,
# extra information. Each failure has its exit status and message.
. "$top_srcdir/tests/cli/cli.sh"

# from NAME STATUS WORDS FILE...: queries these files
from() {
	from_name=$1
	from_status=$2
	from_words=$3
	shift 3
	for file in "$@"; do
		set -- "$@" --from "$file"
		shift
	done
	run page 1 "$@"
	expect "$from_name" "$from_status" "$from_words"
	tap_fails "$from_name: no answer" test -s "$tap_dir/stdout"
}

cd "$tap_dir"
mkdir dir
: > empty
echo 'Dear diary' > diary
printf 'KDUMP   \6\0\0\0Linux' > kdump
printf 'DISKDUMP\6\0\0\0Linux' > diskdump
printf 'makedumpfile\0\0\0\0\0\0\0\0\0\0\0\1' > flattened
# The first 18 bytes of an ELF header: 64 bits little-endian, 32 bits
# big-endian, a program, a truncated one.
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0' > core
printf '\177ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\4' > core-big-endian
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0' > program
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4' > cut
printf '\37\213\10\0' > gzip
printf '\50\265\57\375\4' > zstd
printf '\3757zXZ\0\0' > xz
{
	seq 1 1000
	echo 'page: refcount:2 mapcount:2 mapping:0000000000000000 index:0x7 pfn:0x7bee'
} > log
echo 'Page allocated via order 0, mask 0x0(), pid 1, tgid 1 (a), ts 4 ns' \
	> owner
{
	head -c 1048576 /dev/zero
	cat log
} > log-far-behind

from 'a dump of kdump, cut short' 65 'does not begin as a dump does' kdump
from 'a dump of diskdump, cut short' 65 'as a dump does' diskdump
from 'a flattened dump, cut short' 65 'flattened' flattened
from 'an ELF dump, cut short' 74 'an ELF file that is cut short' core
from 'one of another machine' 74 'an ELF file that is cut' core-big-endian
from 'a split dump, cut short' 65 'read kdump: it does not' kdump kdump
for what in gzip zstd xz; do
	run --from $what page 1
	if grep -q 'not built in' "$tap_dir/stderr"; then
		expect "a file compressed by $what, without its library" 69 \
			"cannot read $what: "
	else
		expect "a file compressed by $what, cut short" 65 \
			"cannot read $what: its $what data is cut off"
	fi
done
gzip < diary > diary.gz
gzip < log > log.gz
from 'any text, compressed' 65 \
	'by gzip, and has no kernel log or page_owner text in it' diary.gz
from 'two logs' 69 'log: it is a kernel log, which must be opened alone' log log
from 'two, one of them compressed' 69 \
	'log.gz: it is a kernel log, which must be opened alone' log.gz log
from 'two, one of them damaged' 65 'its gzip data is cut off' log gzip
for what in log log.gz; do
	run --from $what --backend procfs page 1
	expect "$what, and another source allowed" 69 \
		"$what: it is a kernel log, which no allowed source reads"
	expect "$what, and another source allowed: what would help" 69 \
		'hint: allow log'
done
run page 0x7bee --from log --fields refcount --json
expect 'a kernel log, cut short' 0
stdout_is 'says what it says' '{"refcount":2}'
from 'text of page_owner, cut short' 65 'no record of page_owner' owner
from 'a program' 65 'program: it is not a dump' program
from 'a damaged ELF file' 65 'cut: it is not a dump' cut
from 'any text' 65 'diary: it is not a dump' diary
from 'a line of a log past the first MiB' 65 'it is not a dump' log-far-behind
from 'an empty file' 65 'empty: it is empty' empty
from 'a device that is always empty' 65 'it is empty' /dev/null
from 'a directory' 65 'it is a directory' dir
from 'a part that is damaged' 65 'kdump' kdump empty
from 'no such file' 66 'cannot open none: No such file' none
# Not even the first bytes of a file that must not be read.
if mkdir debug 2> why && mount -t debugfs debugfs debug 2> why; then
	file=$(find debug -maxdepth 2 -type f -readable | head -n 1)
	from 'a file of debugfs' 69 'it is in the running' "$file"
	umount debug
else
	tap_skip 'a file of debugfs' "$(cat why)"
fi
mkfifo pipe
from 'a pipe' 69 'it is a pipe' pipe

for option in vmlinux btf vmcoreinfo; do
	run page 1 --$option none
	expect "--$option: no such file" 66 'cannot open none: No such file'
done

run page 1 --root none
expect 'no such root' 66 "cannot look below 'none': No such file"
run page 1 --root ''
expect 'a root without a name' 66 "cannot look below ''"
run page 1 --root diary
expect 'a root that is a file' 66 "'diary': Not a directory"
run page 1 --root dir
expect 'a root without /proc' 69 'exists below dir'
tap_run 'and what it would take' grep -q 'hint: needs /proc' stderr
run page 1 --root dir --backend procfs
expect 'a root without the source allowed' 69 'none of the allowed sources'

# Root may search everything, so this runs as nobody.
mkdir -m 700 closed
mkdir closed/proc
unprivileged=
if [ "$(id -u)" -ne 0 ]; then
	chmod 0 closed
	unprivileged=env
elif command -v setpriv > /dev/null; then
	cp "$PAGEDET" pagedet
	chmod 755 . pagedet
	PAGEDET=$tap_dir/pagedet
	unprivileged='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
if [ -n "$unprivileged" ]; then
	: > secret
	chmod 0 secret
	for words in 'root closed' 'from secret' 'btf secret'; do
		status=0
		# shellcheck disable=SC2086
		$unprivileged "$PAGEDET" page 1 --$words > stdout 2> stderr ||
			status=$?
		expect "--$words may not be read" 77 'Permission denied'
	done
else
	tap_skip 'what may not be read' 'needs setpriv'
fi
chmod 700 closed

tap_done
