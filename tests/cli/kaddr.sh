#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests kernel addresses: in a dump made here whose kernel has only VMCOREINFO,
# and on the running kernel through BPF.
. "$top_srcdir/tests/cli/cli.sh"

# 8 MiB of memory: a direct map, a vmalloc area, a device, a memory map and an
# image, with page tables for them.
cat > "$tap_dir/make.py" << 'END'
import struct
import sys

DIRECT, VMALLOC = 0xffff8a2200000000, 0xffffcd1a00000000
MEMMAP, IMAGE = 0xfffff261c0000000, 0xffffffff81000000
RAM, ROOT, SECTIONS = 8 << 20, 0x100000, 0x101000
IMAGE_AT = 0x200000
memory = bytearray(RAM)
free = 0x102000


def new_table():
    global free
    free += 4096
    return free - 4096


def put(addr, value):
    struct.pack_into("<Q", memory, addr, value & (1 << 64) - 1)


def get(addr):
    return struct.unpack_from("<Q", memory, addr)[0]


def map_page(va, entry, level=0):
    table = ROOT
    for at in range(3, level, -1):
        place = table + (va >> 12 + 9 * at & 511) * 8
        if not get(place):
            put(place, new_table() | 0x67)
        table = get(place) & 0xffffffffff000
    put(table + (va >> 12 + 9 * level & 511) * 8, entry)


def page(pfn, flags, count, head=0x8888):
    at = 0x400000 + pfn * 64
    put(at, flags)
    put(at + 8, head)
    struct.pack_into("<iI", memory, at + 48, -1, count)


NX = 1 << 63
for pa in range(0, 6 << 20, 2 << 20):
    map_page(DIRECT + pa, pa | NX | 0x1e3, 1)
for pa in range(6 << 20, RAM, 4096):
    map_page(DIRECT + pa, pa | NX | 0x163)
# removed from the direct map, as set_direct_map_invalid_noflush() does
map_page(DIRECT + 0x700000, ~0x700000 & 0xffffffffff000 | NX | 0x60)
map_page(VMALLOC, 0x6f0000 | NX | 0x163)
map_page(VMALLOC + 0x1000, 0x6a5000 | 0x161)
map_page(VMALLOC + 0x10000, 0xfed00000 | NX | 0x173)
map_page(IMAGE, IMAGE_AT | 0x1a1, 1)
for pfn in range(RAM >> 12):
    page(pfn, 0x2000, 1)                    # reserved
# a folio of four pages
page(1700, 0x40, 1)
for pfn in range(1701, 1704):
    page(pfn, 0, 0, (MEMMAP + 1700 * 64) | 1)
struct.pack_into("<Q", memory, 0x400000 + 1701 * 64, 2)
for at in range(0, (RAM >> 12) * 64, 4096):
    map_page(MEMMAP + at, 0x400000 + at | NX | 0x163)
put(SECTIONS, DIRECT + SECTIONS + 2048)
put(SECTIONS + 2048, MEMMAP | 7)

info = """OSRELEASE=6.12.0-made
PAGESIZE=4096
SYMBOL(init_top_pgt)=%x
SYMBOL(_stext)=%x
NUMBER(phys_base)=%d
NUMBER(pgtable_l5_enabled)=0
NUMBER(sme_mask)=0
NUMBER(KERNEL_IMAGE_SIZE)=1073741824
NUMBER(VMALLOC_START)=0x%x
NUMBER(MAX_PHYSMEM_BITS)=46
NUMBER(SECTION_SIZE_BITS)=23
SYMBOL(vmemmap)=%x
SYMBOL(mem_section)=%x
LENGTH(mem_section)=1
SIZE(mem_section)=16
OFFSET(mem_section.section_mem_map)=0
SIZE(page)=64
OFFSET(page.flags)=0
OFFSET(page._refcount)=52
OFFSET(page.mapping)=24
OFFSET(page.lru)=8
OFFSET(page._mapcount)=48
OFFSET(page.private)=40
OFFSET(page.compound_head)=8
LENGTH(zone.free_area)=11
NUMBER(PG_lru)=5
NUMBER(PG_private)=14
NUMBER(PG_swapcache)=10
NUMBER(PG_swapbacked)=17
NUMBER(PG_hwpoison)=21
NUMBER(PG_head_mask)=64
NUMBER(PAGE_BUDDY_MAPCOUNT_VALUE)=-268435456
NUMBER(PAGE_OFFLINE_MAPCOUNT_VALUE)=-251658240
NUMBER(PAGE_HUGETLB_MAPCOUNT_VALUE)=-201326592
NUMBER(PAGE_SLAB_MAPCOUNT_VALUE)=-184549376
""" % (ROOT - IMAGE_AT + IMAGE + 0, IMAGE, IMAGE_AT - 0x1000000, VMALLOC,
       MEMMAP, DIRECT + SECTIONS)
name, desc = b"VMCOREINFO\0\0", info.encode()
note = struct.pack("<III", 11, len(desc), 0) + name + desc
note += bytes(-len(note) % 4)
start = 64 + 2 * 56
with open(sys.argv[1], "wb") as f:
    f.write(b"\x7fELF\2\1\1" + bytes(9))
    f.write(struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0,
                        0, 0))
    f.write(struct.pack("<IIQQQQQQ", 4, 0, start, 0, 0, len(note), len(note),
                        4))
    f.write(struct.pack("<IIQQQQQQ", 1, 7, start + len(note), 0, 0, RAM, RAM,
                        0))
    f.write(note + memory)
END
"$PYTHON3" "$tap_dir/make.py" "$tap_dir/dump"

ask() {
	run kaddr --from "$tap_dir/dump" --json --pointers "$@"
}

# answers NAME LINE ARGUMENTS...
answers() {
	answers_name=$1
	answers_line=$2
	shift 2
	ask "$@"
	expect "$answers_name" 0
	stdout_is "$answers_name: the answer" "$answers_line"
}

F=pfn,map,vaddr,pte,pte_level,vma
rw='"pte":["present","young","dirty","write"]'
unknown='"pte_unknown":["file","zero","exclusive"]'
direct='"vma_start":"0xffff8a2200000000","vma_end":"0xffff8a2200800000","vma_prot":null,"vma_name":"[direct map]"'

answers 'in the direct map' \
	'{"pfn":1365,"map":"direct","vaddr":"0xffff8a2200555123",'"$rw,$unknown"',"pte_level":2,'"$direct}" \
	--fields $F ffff8a2200555123
answers 'in the direct map, of a small page' \
	'{"pfn":1664,"map":"direct","vaddr":"0xffff8a2200680fff",'"$rw,$unknown"',"pte_level":1,'"$direct}" \
	--fields $F 0xffff8a2200680fff
answers 'of vmalloc' \
	'{"pfn":1776,"map":"vmalloc","vaddr":"0xffffcd1a00000008",'"$rw,$unknown"',"pte_level":1,"vma_prot":null,"vma_name":"[vmalloc]","missing":{"vma_start":"no_types","vma_end":"no_types"}}' \
	--fields $F ffffcd1a00000008
answers 'of vmalloc, code' \
	'{"pfn":1701,"map":"vmalloc","pte":["present","young","dirty","exec"],'"$unknown"'}' \
	--fields pfn,map,pte ffffcd1a00001000
answers 'of a device: there is no memory' \
	'{"pfn":1043712,"map":"vmalloc","kind":"hole"}' \
	--fields pfn,map,kind ffffcd1a00010000
answers 'in the image' \
	'{"pfn":529,"map":"other","pte":["present","young","exec"],'"$unknown"',"pte_level":2,"vma_name":"[kernel image]"}' \
	--fields pfn,map,pte,pte_level,vma_name ffffffff81011000
ask --fields pfn,object ffffffff81011000
expect 'without symbols nothing has a name' 2 'object: not answered'
stdout_is 'without symbols nothing has a name: the reason' \
	'{"pfn":529,"missing":{"object":"no_types"}}'

# --- struct pages ---

page=fffff261c001a8c0		# that of pfn 1699
head=fffff261c001a900		# 1700
tail=fffff261c001a988		# 1702, its second word
answers 'a struct page' \
	'{"pfn":1699,"map":"other","vma_name":"[vmemmap]","object":"struct page of pfn 1699"}' \
	--fields pfn,map,vma_name,object $page
answers 'within a struct page' \
	'{"pfn":1702,"head_pfn":1700,"object":"struct page of pfn 1702 +0x8"}' \
	--fields pfn,head_pfn,object $tail
answers 'a struct page, as such' '{"pfn":1702}' --as page --fields pfn $tail
answers 'the first page of its folio' '{"pfn":1700}' \
	--as folio --fields pfn $tail
answers 'a folio' '{"pfn":1700}' --as folio --fields pfn $head
answers 'a page that is its own folio' '{"pfn":1699}' \
	--as folio --fields pfn $page
answers 'the memory of a struct page' \
	'{"pfn":1050,"object":"struct page of pfn 1702 +0x8"}' \
	--as memory --fields pfn,object $tail
answers 'no struct page there' '{"pfn":null,"kind":null,"object":null}' \
	--as page --fields pfn,kind,object ffff8a2200555000
answers 'the same, asked for a folio' '{"pfn":null}' \
	--as folio --fields pfn ffff8a2200555000
ask --as inode $page
expect 'something else' 64 'is not memory, page or folio'
run page 1 --as page
expect 'of another command' 64 "is an option of 'kaddr'"

# --- addresses of nothing ---

gone='"kind":"unmapped","pte":[],"pte_level":null'
answers 'between areas of vmalloc' \
	'{"pfn":null,"map":null,'"$gone"',"vma_name":"[vmalloc]","object":null}' \
	--fields pfn,map,kind,pte,pte_level,vma_name,object ffffcd1a00002000
answers 'behind memory' '{"pfn":null,"kind":"unmapped"}' \
	--fields pfn,kind ffff8a2200800000
ask --fields vma_name ffff8a2200800000
expect 'behind memory is no area that we know' 2 'vma_name: not answered'
answers 'the struct page of a frame without memory' \
	'{"pfn":null,"kind":"unmapped","vma_name":"[vmemmap]"}' \
	--fields pfn,kind,vma_name fffff261c0020000
answers "a task's address" \
	'{"pfn":null,'"$gone"',"vma_name":"[user half]"}' \
	--fields pfn,kind,pte,pte_level,vma_name 7ffff7dd5000 -q
answers 'no address at all' \
	'{"pfn":null,"kind":"unmapped","vma_name":"[not canonical]"}' \
	--fields pfn,kind,vma_name 6b6b6b6b6b6b6b6b
answers 'nothing' '{"pfn":null,"kind":"unmapped","vma_name":"[user half]"}' \
	--fields pfn,kind,vma_name 0
answers 'taken out of the direct map' \
	'{"pfn":1792,"map":null,"pte":["young","dirty"],'"$unknown"',"pte_level":null,"refcount":1,"notes":["stale"]}' \
	--fields pfn,map,pte,pte_level,refcount,notes ffff8a2200700008
ask 'ffff8a22005zz'
expect 'no number' 64 "is no"

# --- output ---

answers 'several' '{"ask":0,"pfn":1365}
{"ask":1,"pfn":null}
{"ask":2,"pfn":529}' --fields ask,pfn ffff8a2200555000 0 ffffffff81011000
answers 'those that are asked for' '{"ask":2,"map":"other"}' \
	--fields ask,map --where map=other ffff8a2200555000 0 ffffffff81011000
answers 'counted' '{"map":"direct","pages":2,"bytes":8192}
{"map":null,"pages":1,"bytes":4096}
{"total":{"pages":3,"bytes":12288,"undecided":0}}' \
	--by map ffff8a2200555000 0 ffff8a2200551000
run kaddr --from "$tap_dir/dump" --json --fields pfn,vaddr,vma \
	ffff8a2200555000
stdout_is 'kernel addresses are hidden' \
	'{"pfn":1365,"vma_prot":null,"vma_name":"[direct map]","missing":{"vaddr":"hidden","vma_start":"hidden","vma_end":"hidden"}}'
run kaddr --from "$tap_dir/dump" --format csv --fields pfn,vaddr \
	ffff8a2200555000
stdout_is 'so they are in CSV' 'pfn,vaddr
1365,?hidden'
run kaddr --from "$tap_dir/dump" ffff8a2200555000
expect 'as usual' 0
stdout_has 'as usual: the page' '1365 (0x555)'
stdout_has 'as usual: what maps it' 'direct'
stdout_has 'as usual: the area' '[direct map]'

run page --from "$tap_dir/dump" --json --fields pfn,kernel_maps 529 1365 1701 \
	1792 4000
stdout_is 'how often pages are mapped' '{"pfn":529,"kernel_maps":2}
{"pfn":1365,"kernel_maps":1}
{"pfn":1701,"kernel_maps":2}
{"pfn":1792,"kernel_maps":0}
{"pfn":4000,"kernel_maps":0}'
run scan --from "$tap_dir/dump" --json --by kernel_maps
stdout_is 'how often all are' '{"kernel_maps":1,"pages":1501,"bytes":6148096}
{"kernel_maps":2,"pages":546,"bytes":2236416}
{"kernel_maps":0,"pages":1,"bytes":4096}
{"total":{"pages":2048,"bytes":8388608,"undecided":0}}'

# --- the running kernel ---

run page 0 --backend bpf --fields refcount
if grep -q '^?' "$tap_dir/stdout" || grep -q 'cannot' "$tap_dir/stderr"; then
	why=$(sed -n 's/^pagedet: hint: //p' "$tap_dir/stderr" | head -n 1)
	tap_skip 'the running kernel' \
		"BPF: ${why:-$(cat "$tap_dir/stderr")}"
	tap_done
	exit
fi
# Code, whose name and address are in the kernel's own list.
symbol=$(sed -n 's/ [tT] vfs_read$//p' /proc/kallsyms)
case $symbol in
0000000000000000 | '')
	tap_skip 'a symbol of the running kernel' 'kallsyms does not tell' ;;
*)
	run kaddr --backend bpf --json --fields pfn,map,object "$symbol"
	expect 'a symbol of the running kernel' 0
	stdout_has 'a symbol of the running kernel: its name' \
		'"object":"vfs_read+0x0/'
	pfn=$(sed 's/.*"pfn":\([0-9]*\).*/\1/' "$tap_dir/stdout")
	run page --json --fields kernel_maps "$pfn"
	expect 'its page is in the direct map, too' 0
	stdout_is 'its page is in the direct map, too: twice' \
		'{"kernel_maps":2}'
	run mappers -q --json --pointers --fields pfn,map,vaddr,kernel_maps "$pfn"
	expect 'both are found' 0
	stdout_has 'both are found: the direct map' '"map":"direct"'
	at=$(sed -n 's/.*"map":"direct","vaddr":"0x\([0-9a-f]*\)".*/\1/p' \
		"$tap_dir/stdout")
	run kaddr --json --fields pfn,map "$at"
	stdout_is 'and back' "{\"pfn\":$pfn,\"map\":\"direct\"}" ;;
esac
run kaddr --json --fields pfn,kind,vma_name 7fff00000000
stdout_is "a task's address is none of the kernel's" \
	'{"pfn":null,"kind":"unmapped","vma_name":"[user half]"}'
expect "a task's address: which command takes it" 0 \
	'try: pagedet virt PID 0x7fff00000000'
run kaddr ffff8880001000
tap_fails "a kernel address that lacks digits is not a task's" \
	grep -q 'of user space' "$tap_dir/stderr"
run kaddr --json --fields vaddr 7fff00000000
stdout_is "a task's address is not hidden" '{"vaddr":"0x7fff00000000"}'

tap_done
