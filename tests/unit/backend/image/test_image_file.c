/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the list of a file's pages in a dump: a file's own count of its pages
 * shows that the list was cut off, however many batches the list fills.
 */
#include "backend/image/file.h"
#include "../../kmem.h"
#include "../../structs.h"

#define F(name) PAGEDET_FIELD_##name
#define VMEMMAP 0xffffea0000000000ull
#define PAGE_BYTES 64
#define PAGES 200		/* of the file */
#define NODES ((PAGES + 63) / 64)

enum { N_SHIFT = 0, N_OFFSET = 1, N_PARENT = 8, N_SLOTS = 40, NODE = 576,
       MAP_PAGES = 8, X_HEAD = 8, MAP_NR = 88, MAPPING = 192 };

struct listing {
	struct kmem *k;
	struct structs types;
	struct image im;
	struct image_session s;
	struct pdet_batch b;
	struct image_file *f;
	uint64_t section[1], *root[1];
	uint64_t top;		/* the upper node */
};

static void add_types(struct structs *s)
{
	static const struct structs_member array[] = {
		{ "xa_head", X_HEAD, 0, 0, 8 },
	}, node[] = {
		{ "shift", N_SHIFT, 0, 0, 1 }, { "offset", N_OFFSET, 0, 0, 1 },
		{ "parent", N_PARENT, 0, 0, 8 },
		{ "slots", N_SLOTS, 0, 0, 64 * 8 },
	}, mapping[] = {
		{ "host", 0, 0, 0, 8 }, { "i_pages", MAP_PAGES, 0, 0, 16 },
		{ "nrpages", MAP_NR, 0, 0, 8 },
	}, inode[] = {
		{ "i_mode", 0, 0, 0, 2 }, { "i_sb", 40, 0, 0, 8 },
		{ "i_mapping", 48, 0, 0, 8 }, { "i_ino", 64, 0, 0, 8 },
		{ "i_rdev", 76, 0, 0, 4 }, { "i_size", 80, 0, 0, 8 },
		{ "i_sb_list", 280, 0, 0, 16 },
	}, super[] = {
		{ "s_list", 0, 0, 0, 16 }, { "s_dev", 16, 0, 0, 4 },
		{ "s_magic", 96, 0, 0, 8 }, { "s_inodes", 1416, 0, 0, 16 },
	};

#define ADD(name, size, m) \
	structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	ADD("xarray", 16, array);
	ADD("xa_node", NODE, node);
	ADD("address_space", MAPPING, mapping);
	ADD("inode", 600, inode);
	ADD("super_block", 1500, super);
#undef ADD
}

/* A file with all its pages in nodes of 64. */
static void plant(struct listing *l)
{
	uint64_t node, i;

	l->f->mapping = kmem_object(l->k, MAPPING);
	l->f->counted = l->f->file.pages = PAGES;
	l->top = kmem_object(l->k, NODE);
	*kmem_at(l->k, l->top + N_SHIFT) = 6;
	kmem_u64(l->k, l->f->mapping + MAP_PAGES + X_HEAD, l->top | 2);
	for (i = 0; i < NODES; i++) {
		node = kmem_object(l->k, NODE);
		*kmem_at(l->k, node + N_OFFSET) = (char)i;
		kmem_u64(l->k, node + N_PARENT, l->top);
		kmem_u64(l->k, l->top + N_SLOTS + i * 8, node | 2);
	}
	for (i = 0; i < PAGES; i++) {
		node = l->top + (1 + i / 64) * NODE;
		kmem_u64(l->k, node + N_SLOTS + i % 64 * 8,
			 VMEMMAP + (1000 + i) * PAGE_BYTES);
	}
}

static struct listing *listing_new(uint32_t rows)
{
	struct listing *l = calloc(1, sizeof(*l));
	struct pdet_fields want = { { 0, 0 } };

	ck_assert_ptr_nonnull(l);
	l->f = calloc(1, sizeof(*l->f) + 1);
	ck_assert_ptr_nonnull(l->f);
	l->k = kmem_new();
	structs_init(&l->types);
	add_types(&l->types);
	ck_assert(pdet_files_init(&l->im.file_types, structs_btf(&l->types)));
	l->section[0] = VMEMMAP | 7;
	l->root[0] = l->section;
	l->im.memmap = (struct pdet_memmap){ .page_size = PAGE_BYTES,
		.section_shift = 20, .root = l->root, .n_roots = 1,
		.n_sections = 1 };
	l->im.memory = &l->k->m->memory;
	l->im.paging = l->k->p;
	l->im.source = PAGEDET_SOURCE_VMCORE;
	l->s.image = &l->im;
	l->s.reader = &l->k->m->reader;
	l->s.space = l->k->space;
	l->f->file.kind = PAGEDET_KIND_FILE;
	l->f->file.path = l->f->path;
	pdet_fields_add(&want, F(PFN));
	pdet_fields_add(&want, F(INDEX));
	ck_assert(pdet_batch_init(&l->b, &want, rows, 1 << 16));
	plant(l);
	return l;
}

static void listing_free(struct listing *l)
{
	pdet_batch_free(&l->b);
	structs_free(&l->types);
	kmem_free(l->k);
	free(l->f);
	free(l);
}

/* Lists the pages from @at on. Returns why some may be missing, and in *n how
 * many there were. */
static unsigned list(struct listing *l, uint64_t at, unsigned *n)
{
	unsigned why = 0;
	int r;

	for (*n = 0; at < PAGES; *n += l->b.n) {
		pdet_batch_clear(&l->b, 0);
		r = pdet_image_file_pages(&l->s.session, &l->f->file, &at,
					  PAGES, &l->b);
		ck_assert_int_ge(r, 0);
		why |= (unsigned)r;
		if (l->b.n)
			ck_assert_uint_eq(l->b.value[F(PFN)][0],
					  1000 + l->b.value[F(INDEX)][0]);
	}
	return why;
}

static const uint32_t rows[] = { 16, 64, PAGES - 1, PAGES, PAGES + 1 };

START_TEST(all_pages)
{
	struct listing *l = listing_new(rows[_i]);
	unsigned n;

	ck_assert_uint_eq(list(l, 0, &n), 0);
	ck_assert_uint_eq(n, PAGES);
	ck_assert_uint_eq(list(l, PAGES - 3, &n), 0);
	ck_assert_uint_eq(n, 3);
	/* The kernel evicted some. */
	l->f->counted -= 64;
	kmem_u64(l->k, l->top + N_SLOTS, 0);
	ck_assert_uint_eq(list(l, 0, &n), 0);
	ck_assert_uint_eq(n, PAGES - 64);
	listing_free(l);
}
END_TEST

START_TEST(a_part_of_the_list_is_missing)
{
	struct listing *l = listing_new(rows[_i]);
	struct pdet_file_count count;
	unsigned n;

	kmem_u64(l->k, l->top + N_SLOTS, 0);
	ck_assert_uint_eq(list(l, 0, &n), PAGEDET_CORRUPT);
	ck_assert_uint_eq(n, PAGES - 64);
	ck_assert_int_eq(pdet_image_file_count(&l->s.session, &l->f->file, 0,
					       PAGES, &count), 0);
	ck_assert_uint_eq(count.pages, PAGES - 64);
	ck_assert_uint_eq(count.why, PAGEDET_CORRUPT);
	listing_free(l);
}
END_TEST

/* The bytes of one page, or why they are not there. */
START_TEST(one_page)
{
	struct listing *l = listing_new(rows[0]);
	const uint64_t page = kmem_object_at(l->k, 4096, 4096);
	const uint64_t slot = l->top + NODE + N_SLOTS + 2 * 8;
	char buf[4096];
	uint64_t phys, len;

#define ASK(i) pdet_image_cached_page(&l->s.session, l->f->mapping, i, buf)
	kmem_text(l->k, page + 100, "bytes");
	ck_assert_int_eq(pdet_space_phys(&l->k->space, page, &phys, &len), 0);
	kmem_u64(l->k, slot, VMEMMAP + (phys >> 12) * PAGE_BYTES);
	/* The types of files are not known. */
	ck_assert_int_eq(ASK(2), -ENODATA);
	l->im.files.tried = true;
	ck_assert_int_eq(ASK(2), 0);
	ck_assert_str_eq(buf + 100, "bytes");
	ck_assert_int_lt(ASK(3), 0);
	ck_assert_int_eq(ASK(PAGES + 100), -ENODATA);
	ck_assert_int_eq(ASK((uint64_t)1 << 60), -ENODATA);
	/* It was evicted: it is not a page. */
	kmem_u64(l->k, slot, 0x1235);
	ck_assert_int_eq(ASK(2), -ENODATA);
	kmem_u64(l->k, slot, VMEMMAP + 8);
	ck_assert_int_eq(ASK(2), -EBADMSG);
	kmem_fail(l->k, slot, -ENODATA);
	ck_assert_int_eq(ASK(2), -ENODATA);
#undef ASK
	ck_assert_int_eq(pdet_image_cached_page(&l->s.session, 0, 2, buf),
			 -ENODATA);
	listing_free(l);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("image_file");

	unit_loop(s, all_pages, PDET_COUNT(rows));
	unit_loop(s, a_part_of_the_list_is_missing, PDET_COUNT(rows));
	unit_test(s, one_page);
	return unit_main(s);
}
