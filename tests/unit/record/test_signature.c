/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests arguments of tracepoints, as the types of three kernels have them. */
#include <errno.h>

#include "kernel/types/btf.h"
#include "record/signature.h"
#include "trace/kmem.h"
#include "../unit.h"

#define NONE PDET_ARGUMENT_NONE
#define FUNC(vlen) (12u << 24 | (vlen))
#define PROTO(vlen) (13u << 24 | (vlen))
#define STRUCT(vlen) (4u << 24 | (vlen))
#define INT (1u << 24)

struct types {
	uint32_t words[512];
	char strings[1024];
	uint32_t n, len, last;
};

static uint32_t string(struct types *t, const char *text)
{
	const uint32_t at = t->len;

	ck_assert_uint_lt(at + strlen(text) + 1, sizeof(t->strings));
	strcpy(t->strings + at, text);
	t->len += (uint32_t)strlen(text) + 1;
	return at;
}

static void put(struct types *t, uint32_t a, uint32_t b, uint32_t c)
{
	ck_assert_uint_lt(t->n + 3, PDET_COUNT(t->words));
	t->words[t->n++] = a;
	t->words[t->n++] = b;
	t->words[t->n++] = c;
}

/* Type 1 is a number of 4 bytes; a struct has both sizes at these places. */
static void begin(struct types *t, uint32_t object_size, uint32_t size)
{
	memset(t, 0, sizeof(*t));
	t->len = 1;
	put(t, string(t, "unsigned int"), INT, 4);
	t->words[t->n++] = 32;
	put(t, string(t, "kmem_cache"), STRUCT(2), 256);
	put(t, string(t, "object_size"), 1, object_size * 8);
	put(t, string(t, "size"), 1, size * 8);
	t->last = 2;
}

/* "a b c" are the names of arguments. */
static void function(struct types *t, const char *name, const char *arguments)
{
	char text[128], *word, *rest = text;
	const uint32_t head = t->n;
	uint32_t n = 0;

	snprintf(text, sizeof(text), "__data %s", arguments);
	put(t, 0, PROTO(0), 0);
	while ((word = strsep(&rest, " "))) {
		t->words[t->n++] = string(t, word);
		t->words[t->n++] = 1;
		n++;
	}
	t->words[head + 1] = PROTO(n);
	put(t, string(t, name), FUNC(1), ++t->last);
	t->last++;
}

static int find_both(struct types *t, bool pages, bool frees,
		     struct pdet_signatures *ret)
{
	struct pdet_btf_header h = {
		.magic = PDET_BTF_MAGIC, .version = 1, .hdr_len = sizeof(h),
		.type_len = 4 * t->n, .str_off = 4 * t->n, .str_len = t->len,
	};
	static uint32_t data[2048];
	static char text[PDET_ERROR_SIZE];
	struct pdet_env env = { .root = text };
	struct pdet_btf *btf;
	bool damaged;
	int r;

	memcpy(data, &h, sizeof(h));
	memcpy((char *)data + sizeof(h), t->words, 4 * t->n);
	memcpy((char *)data + sizeof(h) + 4 * t->n, t->strings, t->len);
	btf = pdet_btf_new(data, sizeof(h) + 4 * t->n + t->len, &damaged);
	ck_assert_ptr_nonnull(btf);
	r = pdet_signatures_find(&env, btf, pages, frees, ret);
	ck_assert(r == 0 || strstr(env.error, "kmem:"));
	pdet_btf_free(btf);
	return r;
}

static int find(struct types *t, bool pages, struct pdet_signatures *ret)
{
	return find_both(t, pages, false, ret);
}

static void is_alloc(const struct pdet_signature *s, const char *event,
		     int cache, int requested, int allocated, int gfp, int node)
{
	ck_assert_str_eq(s->event, event);
	ck_assert_uint_eq(s->site, 0);
	ck_assert_uint_eq(s->object, 1);
	ck_assert_uint_eq(s->cache, cache);
	ck_assert_uint_eq(s->requested, requested);
	ck_assert_uint_eq(s->allocated, allocated);
	ck_assert_uint_eq(s->gfp, gfp);
	ck_assert_uint_eq(s->node, node);
	ck_assert_uint_eq(s->order, NONE);
}

static void begin_new(struct types *t)
{
	begin(t, 28, 24);
	function(t, "__traceiter_kmalloc",
		 "call_site ptr bytes_req bytes_alloc gfp_flags node");
	function(t, "bpf_prog_inc_misses_counter", "prog");
	function(t, "__traceiter_kmem_cache_alloc",
		 "call_site ptr s gfp_flags node");
}

START_TEST(linux_6_1)
{
	struct pdet_signatures s;
	struct types t;

	begin_new(&t);
	function(&t, "__traceiter_mm_page_alloc",
		 "page order gfp_flags migratetype");
	ck_assert_int_eq(find(&t, true, &s), 0);
	ck_assert_uint_eq(s.n, 3);
	ck_assert(s.counts_misses);
	is_alloc(&s.data[0], "kmalloc", NONE, 2, 3, 4, 5);
	is_alloc(&s.data[1], "kmem_cache_alloc", 2, NONE, NONE, 3, 4);
	ck_assert_uint_eq(s.data[1].requested_at, 28);
	ck_assert_uint_eq(s.data[1].allocated_at, 24);
	ck_assert_uint_eq(s.data[2].kind, PDET_KMEM_PAGE_ALLOC);
	ck_assert_uint_eq(s.data[2].object, 0);
	ck_assert_uint_eq(s.data[2].order, 1);
	ck_assert_uint_eq(s.data[2].migratetype, 3);
	ck_assert_uint_eq(s.data[2].site, NONE);
}
END_TEST

START_TEST(linux_5_10)
{
	static const char five[] = "call_site ptr bytes_req bytes_alloc "
				   "gfp_flags";
	struct pdet_signatures s;
	struct types t;

	begin(&t, 28, 24);
	function(&t, "__traceiter_kmem_cache_alloc", five);
	function(&t, "__traceiter_kmalloc", five);
	function(&t, "__traceiter_kmalloc_node",
		 "call_site ptr bytes_req bytes_alloc gfp_flags node");
	ck_assert_int_eq(find(&t, false, &s), 0);
	ck_assert_uint_eq(s.n, 3);
	ck_assert(!s.counts_misses);
	is_alloc(&s.data[1], "kmem_cache_alloc", NONE, 2, 3, 4, NONE);
	is_alloc(&s.data[2], "kmalloc_node", NONE, 2, 3, 4, 5);
	ck_assert_uint_eq(s.data[2].kind, PDET_KMEM_KMALLOC);
}
END_TEST

/* Linux 6.0 has the cache before the sizes. */
START_TEST(linux_6_0)
{
	static const char six[] = "call_site ptr s bytes_req bytes_alloc "
				  "gfp_flags";
	struct pdet_signatures s;
	struct types t;

	begin(&t, 28, 24);
	function(&t, "__traceiter_kmem_cache_alloc", six);
	function(&t, "__traceiter_kmalloc", six);
	ck_assert_int_eq(find(&t, false, &s), 0);
	is_alloc(&s.data[0], "kmalloc", 2, 3, 4, 5, NONE);
}
END_TEST

START_TEST(what_is_missing)
{
	struct pdet_signatures s;
	struct types t;

	/* No event of pages. */
	begin_new(&t);
	ck_assert_int_eq(find(&t, false, &s), 0);
	ck_assert_int_eq(find(&t, true, &s), -ENOTSUP);
	/* Another name. */
	function(&t, "__traceiter_mm_page_alloc", "page height gfp_flags");
	ck_assert_int_eq(find(&t, true, &s), -ENOTSUP);
	/* The sizes of a cache are too far from each other. */
	begin(&t, 24, 49);
	function(&t, "__traceiter_kmalloc",
		 "call_site ptr bytes_req bytes_alloc gfp_flags node");
	function(&t, "__traceiter_kmem_cache_alloc",
		 "call_site ptr s gfp_flags node");
	ck_assert_int_eq(find(&t, false, &s), -ENOTSUP);
	/* Nothing at all. */
	begin(&t, 28, 24);
	ck_assert_int_eq(find(&t, false, &s), -ENOTSUP);
}
END_TEST

START_TEST(frees)
{
	struct pdet_signatures s;
	struct types t;

	begin_new(&t);
	function(&t, "__traceiter_kfree", "call_site ptr");
	ck_assert_int_eq(find_both(&t, false, true, &s), -ENOTSUP);
	function(&t, "__traceiter_kmem_cache_free", "call_site ptr s");
	ck_assert_int_eq(find_both(&t, false, true, &s), 0);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_eq(s.n_all, 4);
	ck_assert_uint_eq(s.data[2].kind, PDET_KMEM_KFREE);
	ck_assert_uint_eq(s.data[2].object, 1);
	ck_assert_uint_eq(s.data[3].kind, PDET_KMEM_CACHE_FREE);
	ck_assert_uint_eq(s.data[3].object, 1);
	ck_assert_int_eq(find(&t, false, &s), 0);
	ck_assert_uint_eq(s.n_all, 2);
	function(&t, "__traceiter_mm_page_alloc",
		 "page order gfp_flags migratetype");
	function(&t, "__traceiter_mm_page_free", "page order");
	ck_assert_int_eq(find_both(&t, true, true, &s), 0);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(s.n_all, 6);
	ck_assert_uint_eq(s.data[5].kind, PDET_KMEM_PAGE_FREE);
	ck_assert_uint_eq(s.data[5].object, 0);
	/* The object has another name. */
	begin_new(&t);
	function(&t, "__traceiter_kfree", "call_site what");
	function(&t, "__traceiter_kmem_cache_free", "call_site ptr s");
	ck_assert_int_eq(find_both(&t, false, true, &s), -ENOTSUP);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("signature");

	unit_test(s, linux_6_1);
	unit_test(s, linux_5_10);
	unit_test(s, linux_6_0);
	unit_test(s, what_is_missing);
	unit_test(s, frees);
	return unit_main(s);
}
