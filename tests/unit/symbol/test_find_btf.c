/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests finding a kernel's BTF in its memory: by symbols, by its header,
 * damaged, or missing.
 */
#include <errno.h>

#include "../kmem.h"
#include "../structs.h"
#include "symbol/find_btf.h"

#define STEXT 0xffffffff81000000ull
#define BTF (STEXT + 0x7ff0)	/* across a page border */

struct world {
	struct kmem *k;
	struct structs s;
	struct pdet_vmcoreinfo info;
	void *data;
	size_t len;
	void *ret;
	size_t ret_len;
};

static void start(struct world *w)
{
	static const struct structs_member members[] = { { "a", 8, 0, 0, 4 } };
	static const char text[] = "SYMBOL(_stext)=ffffffff81000000\n";

	memset(w, 0, sizeof(*w));
	w->k = kmem_new();
	structs_init(&w->s);
	structs_add(&w->s, "sample", 16, members, 1);
	w->data = blob_bytes(&w->s.blob, &w->len);
	ck_assert(pdet_vmcoreinfo_parse(&w->info, text, sizeof(text) - 1));
	kmem_u64(w->k, STEXT, 0);
}

static void end(struct world *w)
{
	pdet_vmcoreinfo_free(&w->info);
	structs_free(&w->s);
	free(w->data);
	kmem_free(w->k);
}

static int find(struct world *w)
{
	int r;

	pdet_space_init(&w->k->space, &w->k->m->reader, &w->k->p);
	w->ret = NULL;
	r = pdet_find_btf(&w->k->space, &w->info, NULL, &w->ret, &w->ret_len);
	ck_assert((r == 0) == (w->ret != NULL));
	if (r == 0) {
		ck_assert_uint_eq(w->ret_len, w->len);
		ck_assert_mem_eq(w->ret, w->data, w->len);
	}
	free(w->ret);
	return r;
}

START_TEST(by_its_head)
{
	struct world w;

	start(&w);
	ck_assert_int_eq(find(&w), -ENOENT);
	kmem_write(w.k, BTF, w.data, w.len);
	ck_assert_int_eq(find(&w), 0);
	end(&w);
}
END_TEST

/* "Not found" is not claimed if parts could not be searched. */
START_TEST(what_cannot_be_read)
{
	struct world w;

	start(&w);
	kmem_write(w.k, BTF, w.data, w.len);
	/* A page outside of it. */
	kmem_fail(w.k, STEXT + 0x2000, -EIO);
	ck_assert_int_eq(find(&w), 0);
	/* Its beginning, or its end. */
	kmem_fail(w.k, BTF, -EIO);
	ck_assert_int_eq(find(&w), -EIO);
	kmem_fail(w.k, BTF, 0);
	kmem_fail(w.k, BTF + w.len - 1, -EIO);
	ck_assert_int_eq(find(&w), -EIO);
	kmem_fail(w.k, BTF + w.len - 1, -ENOMEM);
	ck_assert_int_eq(find(&w), -ENOMEM);
	end(&w);
}
END_TEST

/* The dump lacks it: it is missing. */
START_TEST(what_was_left_out)
{
	struct world w;

	start(&w);
	kmem_write(w.k, BTF, w.data, w.len);
	kmem_fail(w.k, BTF, -ENODATA);
	ck_assert_int_eq(find(&w), -ENOENT);
	end(&w);
}
END_TEST

/* A lost table of pages hides what is below it. */
START_TEST(page_tables_that_are_lost)
{
	struct pdet_leaf leaf;
	struct world w;

	start(&w);
	kmem_write(w.k, BTF, w.data, w.len);
	ck_assert_int_eq(pdet_paging_walk(&w.k->m->reader, &w.k->p,
					  w.k->p.root, BTF, &leaf), 0);
	physical_fail(w.k->m, w.k->p.root, -EIO);
	ck_assert_int_eq(find(&w), -EIO);
	end(&w);
}
END_TEST

START_TEST(damaged_heads)
{
	struct world w;

	start(&w);
	kmem_write(w.k, BTF, w.data, w.len);
	/* Sections past the end of all memory. */
	kmem_u32(w.k, BTF + 12, 0xfffffff0);
	ck_assert_int_eq(find(&w), -ENOENT);
	/* Longer than the existing data. */
	kmem_u32(w.k, BTF + 12, 0x100000);
	ck_assert_int_eq(find(&w), -ENOENT);
	end(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("find_btf");

	unit_test(s, by_its_head);
	unit_test(s, what_cannot_be_read);
	unit_test(s, what_was_left_out);
	unit_test(s, page_tables_that_are_lost);
	unit_test(s, damaged_heads);
	return unit_main(s);
}
