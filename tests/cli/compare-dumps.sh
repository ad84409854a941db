#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image snapshot
# Tests comparing the memory of two processes of a dump, and of a dump and a
# snapshot of it. Pages that neither process touched are the same.
. "$top_srcdir/tests/cli/cli.sh"

cd "$tap_dir" || exit 1
command -v xz > why || {
	echo "1..0 # SKIP needs xz"
	exit 0
}
xz -dc "$top_srcdir/tests/fixtures/vmcore/qemu.elf.xz" > elf
run page 0 --from elf
[ "$status" != 69 ] || {
	echo "1..0 # SKIP dumps are not built"
	exit 0
}

# 79 is a fork of 74. Of the 38 pages of the heap, 7 were touched.
heap='295e4000+0x26000'
run --from elf compare 74 $heap 79 295e4000
expect 'a process and its child' 0
stdout_is 'a process and its child: all is the same' \
	'38 pages: 38 the same, 0 different, 0 not known'
run --from elf compare 74 295ea000+0x1000 79 295ea000 --json
expect 'a page that nobody touched' 0
stdout_is 'a page that nobody touched is the same' \
	'{"total":{"pages":1,"same":1,"different":0,"unknown":0,"explained":0}}'
run --from elf compare 74 295ea000+0x1000 79 7f33a0600000
expect 'untouched memory reads as zeroes' 0
run --from elf --with elf compare 74 $heap 79 295e4000
expect 'the same dump twice' 0

# A page of a file may be cached although nobody maps it.
run --from elf compare 74 7f33a14f9000+0x3000 74 7f33a14f9000
expect 'a file that is mapped only in part' 2
stdout_has 'a file that is mapped only in part: what is known' \
	'3 pages: 1 the same, 0 different, 2 not known'
stdout_has 'nobody claims that it differs' 'mismatch-unknown'
tap_fails 'nor that the peer lacks it' grep -q 'missing-at-peer' stdout
run --from elf compare 74 295e4000+0x1000 79 0x1000
expect 'what is not mapped is not known' 2
stdout_has 'what is not mapped is said' 'unmapped'

run snapshot saved.snap --from elf virt 79 $heap --hash-key key -q \
	--fields cheap,pid,hash,vma_name,vma_prot
expect 'a snapshot of a dump' 0
run --from elf --with saved.snap --hash-key key compare 74 $heap 79 295e4000
expect 'a dump and a snapshot' 0
stdout_is 'a dump and a snapshot: all is the same' \
	'38 pages: 38 the same, 0 different, 0 not known'
run --from saved.snap --with elf --hash-key key compare 79 $heap 74 295e4000
expect 'a snapshot and a dump' 0
run --from elf --with saved.snap compare 74 $heap 79 295e4000
expect 'a snapshot without its key' 2 'made with different keys (--hash-key)'

# Areas were not saved: untouched may be anonymous or not.
run snapshot bare.snap --from elf virt 79 $heap --hash-key key -q \
	--fields pid,vaddr,pfn,kind,pte,hash
run --from elf --with bare.snap --hash-key key compare 74 $heap 79 295e4000
expect 'a snapshot without areas' 2
stdout_has 'a snapshot without areas: what is known' \
	'38 pages: 7 the same, 0 different, 31 not known'
run --from elf compare 75 1000 74 1000
expect 'no such process' 1 'there is no task 75'
tap_done
