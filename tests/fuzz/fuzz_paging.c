/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes page tables. A byte chooses the kind of kernel. Then come entries:
 * which of sixteen pages, the index there, the kind of entry, and for some
 * kinds eight bytes.
 */
#include <elf.h>
#include <errno.h>

#include "fuzz.h"
#include "kernel/address/paging.h"

#define PAGES 16
/* Limit per kind. */
#define MOST 500

static const struct {
	uint16_t machine;
	const char *text;
} kernels[] = {
	{ EM_X86_64, "SYMBOL(init_top_pgt)=ffffffff80000000\n"
		     "NUMBER(phys_base)=0\n" },
	{ EM_X86_64, "SYMBOL(init_top_pgt)=ffffffff80000000\n"
		     "NUMBER(phys_base)=0\nNUMBER(pgtable_l5_enabled)=1\n"
		     "NUMBER(sme_mask)=140737488355328\n" },
	{ EM_AARCH64, "PAGESIZE=4096\nSYMBOL(swapper_pg_dir)=0\n"
		      "NUMBER(kimage_voffset)=0x0\nNUMBER(VA_BITS)=39\n" },
	{ EM_AARCH64, "PAGESIZE=4096\nSYMBOL(swapper_pg_dir)=0\n"
		      "NUMBER(kimage_voffset)=0x0\nNUMBER(VA_BITS)=52\n" },
	{ EM_AARCH64, "PAGESIZE=16384\nSYMBOL(swapper_pg_dir)=0\n"
		      "NUMBER(kimage_voffset)=0x0\nNUMBER(VA_BITS)=48\n" },
	{ EM_AARCH64, "PAGESIZE=65536\nSYMBOL(swapper_pg_dir)=0\n"
		      "NUMBER(kimage_voffset)=0x0\nNUMBER(VA_BITS)=52\n" },
};

struct machine {
	struct pdet_memory memory;
	struct pdet_reader reader;
	struct pdet_paging p;
	uint64_t root;
	uint8_t *page[PAGES];
};

static int read_phys(struct pdet_reader *r, uint64_t addr, void *buf, size_t n)
{
	const struct machine *m = PDET_CONTAINER(r, struct machine, reader);
	const uint64_t number = addr >> m->p.page_shift;
	const uint64_t at = addr & ((1ull << m->p.page_shift) - 1);

	MUST(n <= (1ull << m->p.page_shift) - at);
	if (number >= PAGES)
		return number % 2 ? -ENOENT : -ENODATA;
	memcpy(buf, m->page[number] + at, n);
	return 0;
}

static const struct pdet_memory_ops ops = {
	.name = "fuzz",
	.read_phys = read_phys,
};

static void set_up(struct machine *m, unsigned which)
{
	struct pdet_env env = { .root = NULL };
	struct pdet_vmcoreinfo info;
	unsigned i;

	which %= PDET_COUNT(kernels);
	memset(m, 0, sizeof(*m));
	MUST(pdet_vmcoreinfo_parse(&info, kernels[which].text,
				   strlen(kernels[which].text)));
	MUST(pdet_paging_set_up(&m->p, &env, kernels[which].machine, &info));
	pdet_vmcoreinfo_free(&info);
	m->memory.ops = &ops;
	m->reader.memory = &m->memory;
	for (i = 0; i < PAGES; i++) {
		m->page[i] = calloc(1, 1ull << m->p.page_shift);
		if (!m->page[i])
			abort();
	}
}

static void put_entries(struct machine *m, const uint8_t *data, size_t size)
{
	const uint64_t words = 1ull << (m->p.page_shift - 3);
	uint64_t page, at, kind, entry;

	while (size) {
		page = fuzz_number(&data, &size, 1) % PAGES;
		at = fuzz_number(&data, &size, 2) % words;
		kind = fuzz_number(&data, &size, 1);
		if (kind >= 16 * 8)
			entry = fuzz_number(&data, &size, 8);
		else	/* to a page of the input: valid, and seven more bits */
			entry = kind % 16 << m->p.page_shift |
				(kind / 16 % 4 == 0 ? 0x67 :
				 kind / 16 % 4 == 1 ? 0x3 :
				 kind / 16 % 4 == 2 ? 0x1 : 0x81);
		memcpy(m->page[page] + at * 8, &entry, 8);
	}
}

struct found {
	struct machine *m;
	uint64_t next;		/* nothing may begin before it */
	bool any;
	unsigned leaves, losses;
};

static void ck_order(struct found *f, uint64_t start, uint64_t size)
{
	MUST(size);
	MUST(!f->any || (f->next && start >= f->next));
	/* 0: up to the end */
	f->next = start + size;
	f->any = true;
}

static int on_leaf(void *arg, const struct pdet_leaf *leaf)
{
	struct found *f = arg;
	const struct pdet_paging *p = &f->m->p;
	struct pdet_leaf same;

	ck_order(f, leaf->start, leaf->size);
	MUST(leaf->is == PDET_PT_PAGE || leaf->is == PDET_PT_OTHER);
	MUST(leaf->level < p->levels && leaf->entry);
	MUST(leaf->size == 1ull << pdet_paging_shift(p, leaf->level));
	MUST(!(leaf->start & (leaf->size - 1)));
	MUST(leaf->is == PDET_PT_OTHER || !(leaf->addr & (leaf->size - 1)));
	MUST(leaf->addr < 1ull << 52);
	MUST(pdet_paging_walk(&f->m->reader, p, f->m->root, leaf->start,
			      &same) == 0);
	MUST(same.is == leaf->is && same.level == leaf->level &&
	     same.entry == leaf->entry && same.start == leaf->start &&
	     same.size == leaf->size && same.addr == leaf->addr);
	return ++f->leaves < MOST ? 0 : 1;
}

static int on_lost(void *arg, uint64_t start, uint64_t size, int error)
{
	struct found *f = arg;
	struct pdet_leaf leaf;

	ck_order(f, start, size);
	MUST(error < 0);
	MUST(error == -ELOOP ||
	     pdet_paging_walk(&f->m->reader, &f->m->p, f->m->root, start,
			      &leaf) == error);
	return ++f->losses < MOST ? 0 : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m;
	struct found f;
	const struct pdet_paging_visit visit = { on_leaf, on_lost, &f,
						 NULL };
	unsigned i, half;
	int r;

	set_up(&m, (unsigned)fuzz_number(&data, &size, 1));
	put_entries(&m, data, size);
	/* The kernel's root, then that of a process. */
	for (half = 0; half < 2; half++) {
		f = (struct found){ .m = &m };
		m.root = half << m.p.page_shift;
		r = pdet_paging_each(&m.reader, &m.p, m.root, 0, UINT64_MAX,
				     &visit);
		MUST(r == 0 || r == 1);
	}
	for (i = 0; i < PAGES; i++)
		free(m.page[i]);
	return 0;
}
