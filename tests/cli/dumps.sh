#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image
# Tests files that are not dumps, or dumps that are foreign, truncated or
# unreadable. Each has its exit status and message; what is left of a dump is
# answered.
. "$top_srcdir/tests/cli/cli.sh"

dumps=$top_builddir/tests/dumps
if [ ! -x "$dumps/mkkernel" ]; then
	tap_skip 'dumps' 'needs libcheck'
	tap_done
fi
cd "$tap_dir"
"$dumps/mkkernel" elf > why
"$dumps/mkdump" -c raw elf kdump
"$dumps/mkdump" -f elf -F elf flat

# --- intact dumps ---

for form in elf kdump flat; do
	run page 1 --from $form --json --fields pfn,kind,refcount,mapcount
	expect "$form: status" 0
	stdout_is "$form: a page" \
		'{"pfn":1,"kind":"reserved","refcount":1,"mapcount":0}'
	run scan --from $form --by kind --json
	stdout_has "$form: all pages" \
		'{"total":{"pages":8192,"bytes":33554432,'
	run stack 1 --from $form --json
	expect "$form: who allocated it is not known" 69 \
		'cannot tell who allocated a page: '
	tap_fails "$form: and nothing is said" test -s stdout
done

run scan --from elf --where 'pfn=1 or pfn=2 and alloc_pid=3' --json --fields pfn
expect 'a dump in which one page is undecided' 2 '1 page undecided'
stdout_is 'a dump in which one page is undecided: the other one' '{"pfn":1}'

run diff elf kdump --fields kind,flags,refcount,mapcount
expect 'two forms of one dump: nothing changed' 0 'assumed to be the same'
run diff elf kdump -q --json --summary
stdout_has 'two forms of one dump: every page was compared' \
	'"pages":0,"bytes":0,"changes":0,"compared":8192,"same":8192,"undecided":0'

# --- other files, and other machines ---

mkdir dir
mkfifo pipe
: > empty
head -c 100000 /dev/zero > zeroes
with elf big-endian 5 '\2' 16 '\0\4'
with elf narrow 4 '\1'
with elf program 16 '\2'
with elf classless 4 '\11'
with kdump kdump-narrow 272 'i686\0'
with kdump kdump-big-endian 8 '\0\0\0\6' 428 '\0\0\20\0'
with kdump kdump-block 428 '\0\0\20\0'
with kdump kdump-frames 436 '\1\0\0\0'
with flat flat-chunk 4096 '\377'
refused 'not a dump' 65 'zeroes: it is not a dump' --from zeroes
refused 'an empty file' 65 'empty: it is empty' --from empty
refused 'a directory' 65 'dir: it is a directory' --from dir
refused 'a pipe that nobody writes to' 69 'pipe: it is a pipe' --from pipe
refused 'no such file' 66 'cannot open none: No such file' --from none
refused 'ELF, big-endian' 69 'it is a big-endian ELF file' --from big-endian
refused 'ELF, 32 bits' 69 '32-bit kernels are not' --from narrow
refused 'ELF that is not a core file' 65 'program: it is not a dump' --from program
refused 'ELF, neither 32 nor 64 bits' 65 'neither 32-bit nor 64-bit' \
	--from classless
refused 'kdump, 32 bits' 69 'it is a dump of a 32-bit kernel (i686)' \
	--from kdump-narrow
refused 'kdump, big-endian' 69 'with the other byte order' \
	--from kdump-big-endian
refused 'kdump with blocks of no size' 65 'block_size is not the size of a page' \
	--from kdump-block
refused 'kdump with half a bitmap' 65 'its header is damaged: max_mapnr' \
	--from kdump-frames
refused 'flattened, damaged in its first chunk' 65 'does not begin as' \
	--from flat-chunk
refused 'a whole dump twice' 64 'it is a complete dump, not one part' \
	--from kdump --from kdump
refused 'two ELF dumps' 64 'which is one file, but 2 files are named' \
	--from elf --from elf

with elf other-machine 18 '\25\0'
with elf riscv 18 '\363\0'
with elf unheard-of 18 '\1\100'
refused 'a machine of another kind' 69 \
	'it is a dump of another kind of machine (ppc64)' --from other-machine
refused 'and another one' 69 'of another kind of machine (riscv)' --from riscv
refused 'one without a name' 69 'of another kind of machine (ELF machine 16385)' \
	--from unheard-of
run page 1 --from elf --btf zeroes --fields pfn,kind
expect 'types that are none' 65 'they are not BTF, or are damaged'

# Root may read everything, so this runs as nobody.
unprivileged=
if [ "$(id -u)" -ne 0 ]; then
	unprivileged=env
elif command -v setpriv > /dev/null; then
	cp "$PAGEDET" pagedet
	chmod 755 . pagedet
	PAGEDET=$tap_dir/pagedet
	unprivileged='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
if [ -n "$unprivileged" ]; then
	chmod 0 kdump
	status=0
	# shellcheck disable=SC2086
	$unprivileged "$PAGEDET" page 1 --from kdump > stdout 2> stderr ||
		status=$?
	expect 'a dump that may not be read' 77 \
		'cannot open kdump: Permission denied'
	chmod 600 kdump
else
	tap_skip 'a dump that may not be read' 'needs setpriv'
fi

# --- truncated dumps ---

# shorten FILE BYTES: copies its beginning
shorten() {
	head -c "$2" "$1" > cut
}
shorten elf 100
refused 'ELF, cut in its headers' 74 'an ELF file that is cut short' --from cut
at=$(grep -abo VMCOREINFO elf | head -n 1 | cut -d : -f 1)
shorten elf $((at + 20))
run page 1 --from cut
expect 'ELF, cut in its notes' 2 "the notes of the dump cannot be read: the file \
is cut: it ends at $((at + 20)) of"
shorten kdump 300
refused 'kdump, cut in its header' 74 'cut short, or cannot be read, in its' \
	--from cut
shorten kdump 4100
refused 'kdump, cut in its sub header' 74 'in its sub header' --from cut
shorten kdump 9000
refused 'kdump, cut in its bitmaps' 74 'cut short in its bitmaps' --from cut
shorten flat 4100
refused 'flattened, cut in its first chunk' 65 'as a dump does, as a flattened' \
	--from cut

# Not even the memory map can be read.
for form in elf kdump flat; do
	shorten $form 100000
	of=" of $(stat -c %s $form)"
	[ $form != flat ] || of=
	says="the file is cut: it ends at 100000$of bytes, and "
	run scan --from cut --summary
	expect "$form, cut before the memory map: a scan" 74 \
		"cannot read the memory map: $says"
	run page 1 --from cut
	expect "$form, cut before the memory map: a page" 2 "$says"
done

# The page tables and the first struct pages exist, the last ones do not: a page
# is cut in the middle.
for form in elf kdump flat; do
	case $form in
	kdump) shorten kdump 600000 ;;
	*) shorten $form 700000 ;;
	esac
	run page 1 --from cut --json --fields pfn,kind,refcount,mapcount
	expect "$form, cut within a page: what is before" 0
	stdout_is "$form, cut within a page: what is before is answered" \
		'{"pfn":1,"kind":"reserved","refcount":1,"mapcount":0}'
	run page 7000 --from cut --json --fields pfn,kind,refcount,mapcount
	expect "$form, cut within a page: what is behind" 2 \
		'kind: not answered in any row'
	stdout_is "$form, cut within a page: what is behind is lost" \
		'{"pfn":7000,"missing":{"kind":"io","refcount":"io","mapcount":"io"}}'
	run scan --from cut --json --fields pfn,kind
	expect "$form, cut within a page: a scan" 0
	tap_run "$form, cut within a page: all pages, some without a kind" \
		awk '!/"missing":{"kind":"io"}/ { there++ }
		END { exit !(NR == 8192 && there > 500 && there < 7500) }' \
		stdout
done

# --- a large dump without VMCOREINFO, in which it is searched ---

# 64 GB of zeroes: the ELF header, one program header, and the memory
{
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\76\0\1\0\0\0'
	printf '\0\0\0\0\0\0\0\0\100\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\0\0\0\100\0\70\0\1\0\0\0\0\0\0\0'
	printf '\1\0\0\0\6\0\0\0\0\20\0\0\0\0\0\0'
	printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
	printf '\0\0\0\0\20\0\0\0\0\0\0\0\20\0\0\0\0\20\0\0\0\0\0\0'
} > sparse
if truncate -s 68719480832 sparse 2> why; then
	start=$(date +%s)
	run page 1 --from sparse --deadline 0.3
	expect 'the search ends at the deadline' 2 \
		'the search of its memory for VMCOREINFO was stopped'
	tap_run 'the search ends soon' test "$(($(date +%s) - start))" -lt 10
else
	tap_skip 'the search ends at the deadline' 'no large files here'
fi
rm -f sparse

# --- the time of the dump ---

run --from elf map
expect 'a picture of a dump' 0
stdout_has 'has the date of its file, and says so' '(file of 20'
tap_fails 'and not that of today' grep -q '[0-9][0-9]:[0-9][0-9]:[0-9][0-9] UTC' \
	"$tap_dir/stdout"
LC_ALL=C sed 's/BUILD-ID=[0-9a-f]\{40\}/CRASHTIME=1700000000\nX=xxxxxxxxxxxxxxxxxxxxxxxxxx/' \
	elf > crashed
run --from crashed map
expect 'a picture of a crash' 0
stdout_has 'has the time of the crash' 'crashed 2023-11-14 22:13:20 UTC'
rm -f crashed
tap_done
