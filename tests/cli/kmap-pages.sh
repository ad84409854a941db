#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests the fields reads and writes: the accesses of a KMAP, joined to the pages
# that its objects are in, of a dump whose addresses are known.
. "$top_srcdir/tests/cli/cli.sh"

cd "$tap_dir" || exit 1

run help fields
stdout_has 'the field is listed' 'reads           kmap'
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" root
run --root root page 5 --fields pfn,reads --json
expect 'without a KMAP' 2 'needs a KMAP of this boot: --kmap FILE'
stdout_is 'it is not known' '{"pfn":5,"missing":{"reads":"too_costly"}}'
run --root root page 5 --fields all --json
tap_run 'not in "all"' sh -c '! grep -E "reads|writes" stdout'
echo '(____ptrval____),0,ffff88812bd10b40,8,0,0,(null),KMEM_CACHE,,filp,' > live
run --root root page 5 --fields reads --kmap live
expect 'no source of kernel memory' 69 'no source that reads kernel memory'
run top --kmap live
expect 'top has no pages' 64 '--kmap'

if ! command -v xz > why || ! xz -dc \
	"$top_srcdir/tests/fixtures/vmcore/qemu.elf.xz" > elf 2> why; then
	tap_skip 'a dump' 'xz is not installed'
	tap_done
	exit
fi

# address SYMBOL: prints it, hex
address() {
	"$PAGEDET" --from elf kaddr "$1" --pointers --json --fields vaddr |
		sed -n 's/.*"vaddr":"0x\([0-9a-f]*\)".*/\1/p'
}
# pfn_of ADDRESS
pfn_of() {
	"$PAGEDET" --from elf kaddr "$1" --json --fields pfn |
		sed -n 's/.*"pfn":\([0-9]*\).*/\1/p'
}
# calculate EXPRESSION: hex; a shell may not have numbers of 64 bits
calculate() {
	"$PYTHON3" -c "print(f'{$1:x}')"
}

task=$(address init_task)
code=$(address vfs_read)
edge=$(calculate "(0x$code | 0xfff) - 7")
first=$(pfn_of "$task")
left=$(pfn_of "$edge")
right=$(pfn_of "$(calculate "0x$edge + 8")")

# object ADDRESS BYTES WRITES READS: one that was accessed by two instructions
object() {
	echo "(____ptrval____),0,$1,$2,0,0,(null),KMALLOC,,,"
	[ "$3" = 0 ] || echo "  $code,$3,0,7"
	[ "$4" = 0 ] || echo "  $(calculate "0x$code + 4"),0,$4,7"
}
{
	object "$task" 16 3 5
	object "$(calculate "0x$task + 64")" 8 1 0
	object "$edge" 16 2 0
	object "$(calculate "0x$edge - 64")" 8 0 0
	# Accesses that belong to no object.
	echo "0000000000000000,0,$task,1048576,0,0,0,USER,,no-slab,"
	echo "  $code,900,800,212"
} > kmap

run --from elf page "$first" "$left" "$right" 0 --kmap kmap \
	--fields pfn,reads,writes --json
expect 'pages' 0
stdout_is 'have the sums of their objects' \
	"{\"pfn\":$first,\"reads\":5,\"writes\":4}
{\"pfn\":$left,\"reads\":0,\"writes\":2}
{\"pfn\":$right,\"reads\":0,\"writes\":2}
{\"pfn\":0,\"reads\":null,\"writes\":null}"
run --from elf scan --where 'writes>2' --kmap kmap --fields pfn,reads --json
expect 'a filter' 0
stdout_is 'finds the page' "{\"pfn\":$first,\"reads\":5}"
run --from elf kaddr "$task" --kmap kmap --fields reads --json
stdout_is 'by address' '{"reads":5}'

# What is saved has them.
run --from elf snapshot saved --where 'writes>2' --kmap kmap \
	--fields pfn,reads,writes -q
expect 'saved' 0
run --from saved scan --fields pfn,writes --json
stdout_is 'read again' "{\"pfn\":$first,\"writes\":4}"

# --- what is not counted is said ---

{
	cat kmap
	object ffff800000000000 8 9 9
	echo '(____ptrval____),0,(____ptrval____),8,0,0,(null),KMALLOC,,,'
	echo '  ffff800000000000,1,1,7'
} > more
run --from elf page "$first" --kmap more --fields pfn,writes --json
expect 'outside' 0 '1 of 5 objects of the KMAP is not in mapped memory'
expect 'hidden' 0 '1 object of the KMAP is not counted: it does not tell'
expect 'code' 0 '1 of 3 instructions of the KMAP is not in the kernel'
stdout_is 'the rest counts' "{\"pfn\":$first,\"writes\":4}"
run --from elf page "$first" --kmap more --fields pfn,writes --json -q
expect 'quiet' 0
run --from elf page "$first" --kmap more --fields pfn --json
expect 'nothing of it is wanted' 0 '--kmap is not read: --fields pfn,reads,wri'

# part NAME WORDS FILE: it is not all of a KMAP
part() {
	run --from elf page "$first" --kmap "$3" --fields pfn,writes --json
	expect "$1" 2 "$2"
	stdout_is "$1: the rest counts" "{\"pfn\":$first,\"writes\":4}"
}
{
	cat kmap
	printf '  %s,500,9,7' "$code"
} > cut
part 'cut in a line' 'the file was cut' cut
{
	cat kmap
	echo "  $code,5"
} > damaged
part 'a damaged line' '1 line that cannot be of this dialect' damaged
{
	cat kmap
	for i in 1 2 3; do
		echo "(____ptrval____),0,0000000000000018,8,0,0,0,USER,,,"
	done
} > offsets
run --from elf page "$first" --kmap offsets --fields pfn,writes --json
expect 'offsets' 0 '3 objects of the KMAP are not counted: it does not tell'

# A KMAP that goes on for longer than the time there is.
mkfifo endless
while :; do
	cat kmap || exit
done > endless 2> why &
writer=$!
run --from elf page "$first" --kmap endless --fields pfn,writes --deadline 0.2
end_all "$writer"
expect 'a deadline' 2 'only a part of the KMAP was read'

# --- what is refused ---

# refused NAME STATUS WORDS FILE
refused() {
	run --from elf page "$first" --kmap "$4" --fields pfn,writes
	expect "$1" "$2" "$3"
}
object ffff800000000000 8 1 1 > gone
run --from elf page "$first" --kmap gone --fields pfn,writes --json
expect 'objects that are gone' 0 '1 of 1 object of the KMAP is not in mapped'
sed "s/^  [0-9a-f]*/  ffff800000000000/" gone > other
refused 'objects of another boot' 65 '1 of 1 are not in mapped memory' other
sed "s/^  [0-9a-f]*/  ffff800000000000/" kmap > other
refused 'code of another boot' 65 'are not in the kernel' other
# They are in the image of the kernel, and not code.
sed "s/^  [0-9a-f]*/  $task/" kmap > other
refused 'code that is data' 65 '1 of the 1 instructions' other
grep ptrval more | tail -n 1 > other
refused 'no address' 65 'does not tell where its objects are' other
# The size is that of a damaged line.
object "$task" 18446744073709551615 1 1 > other
run --from elf page "$first" --kmap other --fields pfn,writes --json
expect 'too large' 0 '1 of 1 object of the KMAP is not in mapped memory'
stdout_is 'and no page has it' "{\"pfn\":$first,\"writes\":null}"
refused 'not a KMAP' 65 'KMAP' "$top_srcdir/README.md"
refused 'no file' 66 'no-such-file' no-such-file
: > empty
run --from elf page "$first" --kmap empty --fields writes --json
expect 'an empty one' 0
stdout_is 'has no object' '{"writes":null}'
tap_done
