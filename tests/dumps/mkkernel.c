/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes an ELF dump of a simulated kernel with 32 MiB of memory. The dump has
 * what the kernel itself needs (page tables, a memory map with many kinds of
 * pages, symbols, types) and some of the rest.
 *
 *   mkkernel OUT
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "dump_write.h"
#include "kernel/page/kpf.h"
#include "unit/kmem.h"
#include "unit/pages.h"
#include "unit/symbols.h"

#define PFNS 8192
#define BTF 0xffffffff81800000ull
#define MEMORY (KPF(UPTODATE) | KPF(LRU) | KPF(SWAPBACKED))
#define CACHED (KPF(UPTODATE) | KPF(LRU) | KPF(REFERENCED))
#define ANON_VMA (PAGES_POINTER | 1)
/* The highest page table; low, so that a truncated dump has it. */
#define ROOT_FRAME 16
/* PRESENT, HAS_MEM_MAP, ONLINE, EARLY */
#define SECTION_STATE 15

static const char *out;

struct kernel {
	struct structs types;
	char *btf;
	size_t btf_len;
	struct pdet_layout layout;
	struct symbols *symbols;
	size_t n_symbols;
	struct kmem mem;
	uint64_t random;
	char page[PFNS][64];
	char notes[8192];
	size_t notes_len;
	/*
	 * Frames are kept in groups of sixteen, because other machines have
	 * larger pages.
	 */
	bool kept[PFNS / 16];
};

/* --- pages --- */

static void free_block(struct kernel *k, unsigned pfn, unsigned order)
{
	unsigned i;

	for (i = 0; i < 1u << order; i++)
		pages_plain(&k->layout, k->page[pfn + i], 0, 0, 0, 0);
	pages_typed(&k->layout, k->page[pfn], PDET_TYPE_BUDDY, 0);
	pages_set(&k->layout, k->page[pfn], PDET_MEMBER_PAGE_PRIVATE, order);
}

static void folio(struct kernel *k, unsigned pfn, unsigned order,
		  uint64_t flags, uint64_t mapping, int32_t mapcount)
{
	const uint64_t head = PAGES_MAP + pfn * 64ull;
	unsigned i;

	pages_plain(&k->layout, k->page[pfn], flags | KPF(COMPOUND_HEAD),
		    mapping, 0, mapcount + 1);
	pages_second(&k->layout, k->page[pfn + 1], head, order, mapcount,
		     mapcount, 1, 0);
	for (i = 2; i < 1u << order; i++)
		pages_tail(&k->layout, k->page[pfn + i], head);
}

static void one_page(struct kernel *k, unsigned pfn)
{
	static const unsigned types[] = {
		PDET_TYPE_TABLE, PDET_TYPE_OFFLINE, PDET_TYPE_SLAB,
	};
	const uint64_t r = unit_random(&k->random);
	const int32_t n = (int32_t)(r >> 8 & 3);
	char *page = k->page[pfn];

	if (r % 16 < 6)
		pages_plain(&k->layout, page, MEMORY, ANON_VMA, n, n + 1);
	else if (r % 16 < 10)
		pages_plain(&k->layout, page, CACHED | (n ? 0 : KPF(DIRTY)),
			    PAGES_POINTER, n, n + 2);
	else if (r % 16 < 13)
		pages_typed(&k->layout, page, types[r % 16 - 10], 1);
	else if (r % 16 < 15)
		pages_plain(&k->layout, page, 0, 0, 0, 1);
	else
		pages_plain(&k->layout, page, KPF(HWPOISON), 0, 0, 1);
}

/* Adds a block of 512 pages. */
static void many_pages(struct kernel *k, unsigned pfn)
{
	const unsigned end = pfn + 512;
	unsigned order;
	uint64_t r = unit_random(&k->random);

	if (r % 4 == 0) {
		folio(k, pfn, 9, MEMORY, ANON_VMA, 2);
		return;
	}
	while (pfn < end) {
		r = unit_random(&k->random);
		order = (unsigned)__builtin_ctz(pfn | 512);
		order = PDET_MIN(order, (unsigned)(r >> 8) % 7);
		if (r % 8 == 0)
			free_block(k, pfn, order);
		else if (r % 8 == 1 && order > 1)
			folio(k, pfn, order, CACHED, PAGES_POINTER, 1);
		else
			one_page(k, pfn + (order = 0));
		pfn += 1u << order;
	}
}

static void make_pages(struct kernel *k)
{
	unsigned pfn;

	for (pfn = 0; pfn < 512; pfn++)
		pages_plain(&k->layout, k->page[pfn], KPF(RESERVED), 0, 0, 1);
	for (; pfn < PFNS - 512; pfn += 512)
		many_pages(k, pfn);
	/* These were never initialised. */
	memset(k->page[pfn], 0xff, 512 * sizeof(*k->page));
}

/* --- memory --- */

static void write_memmap(struct kernel *k, char *info, size_t size)
{
	const uint64_t roots = kmem_object_at(&k->mem, 2048 * 8, 4096);
	const uint64_t sections = kmem_object_at(&k->mem, 4096, 4096);

	kmem_u64(&k->mem, roots, sections);
	kmem_u64(&k->mem, sections, PAGES_MAP | SECTION_STATE);
	kmem_write(&k->mem, PAGES_MAP, k->page, sizeof(k->page));
	snprintf(info, size,
		 "SYMBOL(mem_section)=%llx\nLENGTH(mem_section)=2048\n"
		 "SIZE(mem_section)=16\n"
		 "OFFSET(mem_section.section_mem_map)=0\n"
		 "NUMBER(SECTION_SIZE_BITS)=27\n"
		 "NUMBER(MAX_PHYSMEM_BITS)=46\n", (unsigned long long)roots);
}

static void make_symbols(struct kernel *k)
{
	const struct symbols_entry all[] = {
		{ SYMBOLS_STEXT, 'T', "_stext" },
		{ SYMBOLS_STEXT + 0x1000, 'T', "migrate_pages" },
		{ SYMBOLS_STEXT + 0x1200, 't', "migrate_folio_extra" },
		{ SYMBOLS_STEXT + 0x2000, 'T', "memory_failure" },
		{ SYMBOLS_STEXT + 0x2340, 't', "me_huge_page" },
		{ BTF, 'R', "__start_BTF" },
		{ BTF + k->btf_len, 'R', "__stop_BTF" },
		{ 0xffffffff82600000, 'D', "empty_zero_page" },
		{ 0xffffffff82601000, 'D', "huge_zero_pfn" },
		{ 0xffffffff82602000, 'D', "_edata" },
	};

	k->n_symbols = PDET_COUNT(all);
	k->symbols = symbols_new(all, k->n_symbols, SYMBOLS_BASE);
}

static void add_vmcoreinfo(struct kernel *k, const char *memmap)
{
	char text[4096];
	int n;

	n = snprintf(text, sizeof(text),
		     "OSRELEASE=6.12.0-made\n"
		     "BUILD-ID=0123456789abcdef0123456789abcdef01234567\n"
		     "PAGESIZE=4096\n"
		     "SYMBOL(init_top_pgt)=ffffffff80010000\n"
		     "NUMBER(phys_base)=0\n"
		     "NUMBER(pgtable_l5_enabled)=0\nNUMBER(sme_mask)=0\n"
		     "%s%s%s", k->symbols->info_text, memmap,
		     pagekernel_info[AGE_6_12]);
	ck_assert_int_lt(n, (int)sizeof(text));
	k->notes_len = dump_note(k->notes, 0, "VMCOREINFO", 0, text,
				 (size_t)n);
}

static void make(struct kernel *k)
{
	char memmap[512];

	k->random = 4711;
	pagekernel_structs(&k->types, AGE_6_12);
	k->btf = blob_bytes(&k->types.blob, &k->btf_len);
	pagekernel_layout(&k->layout, AGE_6_12, true);
	make_symbols(k);
	k->mem.m = k->symbols->m;
	k->mem.p = k->symbols->p;
	k->mem.next = 0xffff888000100000;
	kmem_write(&k->mem, BTF, k->btf, k->btf_len);
	kmem_u64(&k->mem, 0xffffffff82600000, 0);
	kmem_u64(&k->mem, 0xffffffff82601000, UINT64_MAX);
	make_pages(k);
	write_memmap(k, memmap, sizeof(memmap));
	add_vmcoreinfo(k, memmap);
}

static void unmake(struct kernel *k)
{
	symbols_free(k->symbols, k->n_symbols);
	structs_free(&k->types);
	free(k->btf);
	free(k);
}

static enum dump_state read_block(void *arg, uint64_t frame, void *buf)
{
	const struct kernel *k = arg;
	const char *bytes;
	int error;

	bytes = physical_find(k->mem.m, frame == ROOT_FRAME ? k->mem.p.root :
			      frame << 12, &error);
	memset(buf, 0, 4096);
	if (bytes)
		memcpy(buf, bytes, 4096);
	else if (frame >= PFNS)
		return DUMP_NOTHING;
	else if (frame / 16 % 4 && !k->kept[frame / 16])
		return DUMP_EXCLUDED;
	return DUMP_BLOCK;
}

START_TEST(write_dump)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct dump_memory memory = {
		.block = 4096, .read = read_block, .arg = k
	};
	struct dump_sink sink = { .flattened = false };
	struct dump_elf elf = { .machine = EM_X86_64 };
	size_t i;

	ck_assert_ptr_nonnull(k);
	make(k);
	k->kept[ROOT_FRAME / 16] = true;
	for (i = 0; i < k->mem.m->n; i++) {
		const uint64_t frame = k->mem.m->page[i].number;

		memory.frames = PDET_MAX(memory.frames, frame + 1);
		if (frame < PFNS)
			k->kept[frame / 16] = true;
	}
	elf.notes = k->notes;
	elf.notes_len = k->notes_len;
	sink.fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	ck_assert_msg(sink.fd >= 0, "%s: %s", out, strerror(errno));
	dump_sink_begin(&sink);
	dump_write_elf(&sink, &elf, &memory);
	dump_sink_end(&sink);
	close(sink.fd);
	unmake(k);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("mkkernel");

	if (argc != 2) {
		fputs("usage: mkkernel OUT\n", stderr);
		return 64;
	}
	out = argv[1];
	unit_test(s, write_dump);
	return unit_main(s);
}
