#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image
# Tests extra information for a dump: vmlinux, types, VMCOREINFO. That of
# another kernel is rejected. With the right one, a dump without its own answers
# as before. Without any it answers what it can.
. "$top_srcdir/tests/cli/cli.sh"

dumps=$top_builddir/tests/dumps
if [ ! -x "$dumps/mkkernel" ]; then
	tap_skip 'vmlinux' 'needs libcheck'
	tap_done
fi
cd "$tap_dir"
"$dumps/mkkernel" elf > why
id=0123456789abcdef0123456789abcdef01234567

fields=pfn,kind,flags,flags_known,refcount,mapcount,head_pfn,order
ask() {
	run scan --json --fields $fields "$@"
}

btf='\x9f\xeb\x01\x00\x18'
change elf no-types "$btf" 'none!'
change no-types bare 'SYMBOL(kallsyms_names)' 'SYMBOL(kallsyms_nomes)'
change elf no-id BUILD-ID= BUILD_ID=

# --- VMCOREINFO alone ---

run page 1 4095 --from bare --json --fields pfn,refcount,mapcount,flags
expect 'VMCOREINFO alone: a page' 0
stdout_has 'VMCOREINFO alone: counts' '"refcount":1,"mapcount":0}'
stdout_has 'VMCOREINFO alone: what flags are not known' '"reserved",'
ask --from elf
mv stdout whole
expect 'all pages' 0
tap_run 'all of them' test "$(wc -l < whole)" -eq 8192
ask --from bare
expect 'VMCOREINFO alone: all pages' 0
tap_run 'VMCOREINFO alone: as many' test "$(wc -l < stdout)" -eq 8192
tap_fails 'VMCOREINFO alone: not the same' cmp -s whole stdout

# The kernel counts the mappings of an anonymous page, but not of any page.
unmapped=$(sed -n 's/^{"pfn":\([0-9]*\),"kind":"anon",.*"mapcount":0.*/\1/p' \
	whole | head -n 1)
run mappers "$unmapped" --from bare --json
expect 'mappers of a page that no user maps' 1 'nobody maps it'
stdout_has 'none of users, and that is known' \
	"{\"pfn\":$unmapped,\"found\":0,\"expected\":0,\"mapcount_kind\":\"exact\",\"unread\":[]}"
run mappers 1 --from bare --json
expect 'mappers of a reserved page' 2 'not everything could be read'
stdout_has 'mappers that no count tells' '"missing":{"found":"no_types"}'
mapped=$(sed -n 's/^{"pfn":\([0-9]*\),"kind":"[^"]*",.*"mapcount":[1-9].*/\1/p' \
	whole | head -n 1)
run mappers "$mapped" --from bare --json
expect 'mappers of a page that users map' 2 \
	'warning: cannot look for mappings by tasks: cannot find the'
stdout_has 'how many were found is not known' '"missing":{"found":"no_types"}'
run mappers "$mapped" --from bare
stdout_has 'and people are told' ': user mappings ? (no_types), mapcount'
run task 1 --from bare
expect 'a task' 2 'give them with --btf or --vmlinux'

# --- tiers ---

run doctor --from bare
expect 'doctor, VMCOREINFO alone: status' 0
stdout_has 'doctor: the tier that is here' 'tier 1         VMCOREINFO - here'
stdout_has 'doctor: the tier that would add' \
	'tier 2         and symbols and types (kallsyms, BTF) - missing, would'
stdout_has 'doctor: vmlinux would, too' \
	'tier 3         and vmlinux - not given (--vmlinux), would add'
run doctor --from bare --json
stdout_has 'doctor: a field of tier 1' \
	'{"field":"refcount","source":"vmcore","can":true,"why":"","advice":"","tier":1}'
tap_run 'doctor: fields of tier 2 cannot be had' awk '
	/"tier":2/ { n++; bad += /"can":true/ } END { exit bad || !n }' stdout
run doctor --root "$top_srcdir/tests/golden"
tap_fails 'doctor: no tiers where there is no dump' grep -q '^tier' stdout

# --- contradictions between VMCOREINFO and types ---

change elf other-flag 'NUMBER(PG_lru)=5' 'NUMBER(PG_lru)=4'
run page 600 --from other-flag --json --fields pfn,flags
expect 'a flag that has two numbers: said' 0 \
	'for NUMBER(PG_lru), VMCOREINFO says 4, and they say 5; values that depend on'
stdout_has 'a flag that has two numbers: unknown' '"flags_unknown":['
tap_run 'a flag that has two numbers: is among them' \
	grep -q '"flags_unknown":\[.*"lru"' stdout
change elf other-type 'BUDDY_MAPCOUNT_VALUE)=-268435456' \
	'BUDDY_MAPCOUNT_VALUE)=-251658240'
run page 600 --from other-type --json --fields pfn,flags
tap_run 'a type of pages that has two numbers: unknown' \
	grep -q '"flags_unknown":\[.*"buddy"' stdout
change elf other-place 'OFFSET(page._refcount)=52' 'OFFSET(page._refcount)=56'
refused 'a member that has two places' 65 \
	'for OFFSET(page._refcount), VMCOREINFO says 56, and they say 52' \
	--from other-place --fields kind
run page 1 --from other-place
stdout_has 'and where kinds are not asked for by name' 'kind      ?'
stdout_has 'and there the reason' 'corrupt - the kernel'
change elf other-size 'SIZE(page)=64' 'SIZE(page)=56'
refused 'struct page has two sizes' 65 'for SIZE(page), VMCOREINFO says 56' \
	--from other-size --fields kind

# --- VMCOREINFO of another kernel ---

LC_ALL=C tr '\0' '\n' < elf | LC_ALL=C grep -a -A 100 '^OSRELEASE=' |
	LC_ALL=C awk '!/=/ { exit } { print }' > info
tap_run 'VMCOREINFO of the dump' grep -q "^BUILD-ID=$id" info
ask --from elf --vmcoreinfo info
expect 'its own VMCOREINFO given' 0
tap_run 'its own VMCOREINFO given: the same' cmp whole stdout
sed 's/^\(SYMBOL(_stext)=ffffffff8\)1/\12/' info > other-info
refused 'VMCOREINFO of another boot' 65 \
	'it is of another kernel: SYMBOL(_stext) is' \
	--from elf --vmcoreinfo other-info
change elf no-info 'VMCOREINFO' 'VMCOREINFA'
run page 1 --from no-info --json --fields pfn,refcount
stdout_has 'no VMCOREINFO: not known' '"missing":{"refcount":'
run page 1 --from no-info --vmcoreinfo info --json --fields pfn,refcount
expect 'VMCOREINFO given' 0
stdout_is 'VMCOREINFO given: an answer' '{"pfn":1,"refcount":1}'
mkdir dir
mkfifo pipe
echo 'Dear diary' > diary
for option in vmcoreinfo btf vmlinux; do
	refused "--$option: a directory" 65 'it is a directory' \
		--from elf --$option dir
	refused "--$option: a pipe" 69 'it is a pipe' --from elf --$option pipe
done
refused '--vmcoreinfo: any text' 65 'diary: it is not VMCOREINFO' \
	--from elf --vmcoreinfo diary
if [ -r /sys/kernel/btf/vmlinux ]; then
	refused 'types of another kernel' 65 \
		'cannot use these types (BTF): they are those of another' \
		--from elf --btf /sys/kernel/btf/vmlinux --fields kind
else
	tap_skip 'types of another kernel' 'this one has none'
fi
refused '--vmlinux: any text' 65 'diary: it is not an ELF file' \
	--from elf --vmlinux diary
refused '--vmlinux: the dump' 65 'elf: it is a core file' \
	--from elf --vmlinux elf

# --- vmlinux ---

# The address of the kernel's own symbols, and 2 MiB before it: it was
# relocated.
cat > script << 'END'
SECTIONS {
	init_top_pgt = 0xffffffff7fe10000;
	.text 0xffffffff80e00000 : {
		_text = .;
		_stext = .;
		. = 0x1000;
		migrate_pages = .;
		. = 0x2000;
		memory_failure = .;
		*(.text*)
	}
	.note.gnu.build-id : { *(.note.gnu.build-id) }
	.data 0xffffffff82400000 : {
		empty_zero_page = .;
		. = 0x1000;
		huge_zero_pfn = .;
		*(.data*) *(.bss*) *(COMMON)
		. = 0x2000;
		_end = .;
	}
	/DISCARD/ : { *(.comment) *(.eh_frame) *(.note.GNU-stack) }
}
END
# compile FILE OPTIONS...
compile() {
	compile_to=$1
	shift
	# shellcheck disable=SC2086
	$CC -nostdlib -static -no-pie -w -Wl,-e,0 -Wl,-T,script "$@" \
		-o "$compile_to" "$top_srcdir/tests/cli/vmlinux.c" > why 2>&1
}
if [ "$(uname -m)" != x86_64 ] ||
   ! compile vmlinux -g "-Wl,--build-id=0x$id"; then
	tap_skip 'vmlinux' "needs a compiler for x86_64: $(head -n 1 why)"
	tap_done
fi
compile other -g "-Wl,--build-id=0x76$id"
compile without -g -Wl,--build-id=none
compile renamed -g "-Wl,--build-id=0x$id" -DCHARGE=unheard_of
compile stripped -s "-Wl,--build-id=0x$id"
head -c 2000 vmlinux > cut

refused 'that of another kernel' 65 \
	"its build id is 76$id, and the kernel's is $id" --from elf --vmlinux other
refused 'one without a build id' 65 \
	"its build id is none, and the kernel's is $id" --from elf --vmlinux without
refused 'one that is cut' 65 'cut: it is an ELF file that is cut short' \
	--from elf --vmlinux cut
if [ -r /sys/kernel/notes ]; then
	refused 'that of a dump, of the running kernel' 65 \
		"its build id is $id, and the kernel's is" --vmlinux vmlinux
else
	tap_skip 'that of a dump, of the running kernel' \
		'the kernel does not say its build id'
fi
run page 1 --from no-id --vmlinux vmlinux --json --fields pfn,refcount
expect 'a kernel that does not say its build id' 0 \
	"the kernel does not say its build id (the file's: $id)"
stdout_is 'and its answer' '{"pfn":1,"refcount":1}'
ask --from elf --vmlinux stripped
expect 'one without debug information' 0
tap_run 'one without debug information: the same' cmp whole stdout
run page 1 --from bare --vmlinux stripped --json --fields pfn,refcount
expect 'one without debug information, of a dump without types' 0
stdout_is 'and its answer' '{"pfn":1,"refcount":1}'

ask --from no-types --vmlinux vmlinux
if grep -q 'libdw' stderr; then
	expect 'debug information that cannot be read' 69 'libdw'
	tap_skip 'types out of debug information' \
		"$(sed -n 's/.*cannot be read: //p' stderr | head -n 1)"
	tap_done
	exit
fi
expect 'no types but those in vmlinux' 0
tap_run 'no types but those in vmlinux: the same' cmp whole stdout
ask --from bare --vmlinux vmlinux
expect 'no types and no symbols but those in vmlinux' 0
tap_run 'no types and no symbols but those: the same' cmp whole stdout
run page 1 --from no-types --vmlinux vmlinux --json --fields pfn,memcg_ino
stdout_is 'a page that is not charged' '{"pfn":1,"memcg_ino":null}'
run page 1 --from no-types --vmlinux renamed --json --fields pfn,memcg_ino
stdout_is 'a kernel whose charges have an unheard-of name' \
	'{"pfn":1,"missing":{"memcg_ino":"no_types"}}'
run doctor --from bare --vmlinux vmlinux
stdout_has 'doctor: vmlinux is here' 'tier 3         and vmlinux - here'
refused 'types that VMCOREINFO contradicts' 65 \
	'cannot use the types in vmlinux: they are those of another' \
	--from other-place --vmlinux vmlinux

tap_done
