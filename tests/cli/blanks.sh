#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs snapshot log page_owner
# Tests that no line of any command's output or messages ends with a blank.
# "dmesg" is left out: the kernel itself ends some lines so.
. "$top_srcdir/tests/cli/cli.sh"

cd "$tap_dir" || exit 1
fixtures=$top_srcdir/tests/fixtures
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" root
gzip -dc "$fixtures/page_owner/6.12.117.txt.gz" | head -n 400 > owners.txt
gzip -dc "$fixtures/page_owner/6.12.117.show_stacks.txt.gz" | head -n 200 \
	> stacks.txt
cp "$fixtures/dump_page/6.12.117.log" log
"$PAGEDET" snapshot a.snap --root root -q
"$PAGEDET" snapshot b.snap --root root -q --where 'pfn>0x101'
dump=
if command -v xz > /dev/null &&
	xz -dc "$fixtures/vmcore/qemu.elf.xz" > elf 2> why &&
	"$PAGEDET" --from elf page 0 > out 2> why; then
	dump=yes
fi

# no_blanks ARGUMENTS...: in text, and in a narrow terminal's width
no_blanks() {
	run "$@"
	cat stdout stderr > said
	COLUMNS=60 "$PAGEDET" "$@" >> said 2>&1 < /dev/null || :
	grep -n '[[:blank:]]$' said | cat -A > ending || :
	if [ "$status" -ge 64 ] && [ "$status" != 69 ]; then
		tap_not_ok "$*" "$(why)"
	elif [ -s ending ]; then
		tap_not_ok "$*" ending
	elif [ ! -s said ]; then
		tap_not_ok "$*: prints nothing" "$(why)"
	else
		tap_ok "$*"
	fi
}

for word in $("$PAGEDET" complete '' | cut -f 1) \
	fields flags kinds options where; do
	no_blanks help "$word"
done
no_blanks help
no_blanks version
while read -r line; do
	case $line in
	'' | '#'*)
		continue
		;;
	*elf*)
		[ -n "$dump" ] || continue
		;;
	esac
	# shellcheck disable=SC2086 # words
	no_blanks $line
done << 'END'
--root root page 0x100 0x101 0x1ff
--root root page 0x100 --fields all -v
--root root phys 0x100000+0x3000
--root root virt 12 7f0000000000+0x8000
--root root task 12 13
--root root task 12 --all
--root root cgroup /a
--root root scan --all
--root root scan --summary
--root root scan --by memcg_path,zone
--root root scan --runs
--root root scan --where mapcount>1 --undecided
--root root mappers 0x101 0x120
--root root mappers /bin/x
--root root explain page 0x100 0x120 0x130
--root root explain 0x101 --alternatives
--root root map
--root root tasks
--root root top
--root root top kind
--root root top cgroup
--root root doctor
--root root doctor -v
--root root stack 0x100
--from log from-log
--from log from-log --details
--from log from-log --text-only --json
--from a.snap scan
diff a.snap b.snap
diff a.snap b.snap --summary
owners owners.txt
owners owners.txt --by stack,order,gfp
owners owners.txt --by comm,pid
owners owners.txt --by window
owners owners.txt --folded
owners owners.txt --format page_owner_sort
owners stacks.txt
--from owners.txt page 0+64 --fields owner
--from owners.txt stack 0+64
--from elf page 5000 --fields all
--from elf scan --summary
--from elf scan --limit 50
--from elf tasks
--from elf from-log
--from elf top
--from elf top file
--from elf top slab
--from elf top cgroup
--from elf task 1
--from elf tree / --limit 20
--from elf doctor
--from elf doctor -v
--from elf kaddr init_task
--from elf explain page 5000+20
--from elf mappers 5000+20
--from elf compare 1 0 1 0
END
for format in csv json; do
	no_blanks --root root scan --all --format $format
	no_blanks owners owners.txt --format $format
done
tap_done
