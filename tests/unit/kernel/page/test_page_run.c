/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests runs of struct pages: each page has the same answers as alone, plus
 * what its neighbours tell.
 */
#include "kernel/page/fold.h"
#include "kernel/page/kpf.h"
#include "kernel/page/run.h"
#include "../../kmem.h"
#include "../../pages.h"

#define N 256
#define MEMORY (KPF(UPTODATE) | KPF(LRU) | KPF(SWAPBACKED))
#define ANON_VMA (PAGES_POINTER | 1)

struct runs {
	struct pdet_layout l;
	struct kmem *k;
	struct pdet_page_run run;
	char pages[N * 64];
	uint8_t is[N], kind[N], kinds[N], order[N];
	uint16_t has[N], bad[N];
	int16_t error[N];
	uint64_t raw[N], flags[N], known[N], refcount[N], mapcount[N], pins[N],
		 head[N], mapping[N], index[N], private[N], memcg[N], cache[N];
	struct pdet_page_columns to;
};

static struct runs *start(int age)
{
	struct runs *r = calloc(1, sizeof(*r));
	unsigned i;

	ck_assert_ptr_nonnull(r);
	pagekernel_layout(&r->l, (enum pagekernel_age)age, true);
	r->k = kmem_new();
	pdet_page_run_init(&r->run, &r->l, &r->k->space);
	r->to = (struct pdet_page_columns){
		r->is, r->has, r->bad, r->error, r->kind, r->kinds, r->order,
		r->raw, r->flags, r->known, r->refcount, r->mapcount, r->pins,
		r->head, r->mapping, r->index, r->private, r->memcg, r->cache,
	};
	for (i = 0; i < N; i++)
		pages_plain(&r->l, r->pages + i * 64, 0, 0, 0, 1);
	return r;
}

static void end(struct runs *r)
{
	kmem_free(r->k);
	free(r);
}

static char *page(struct runs *r, unsigned i)
{
	return r->pages + i * 64;
}

/*
 * Decodes frames from @pfn on, which are the test's pages from the first one
 * on.
 */
static void decode(struct runs *r, uint64_t pfn, unsigned first, unsigned n)
{
	pdet_page_run(&r->run, page(r, first), PAGES_MAP + (pfn + first) * 64,
		      pfn + first, n, &r->to);
}

static void free_block(struct runs *r, unsigned first, unsigned order)
{
	unsigned i;

	for (i = first; i < first + (1u << order); i++)
		pages_plain(&r->l, page(r, i), 0, 0, 0, 0);
	pages_typed(&r->l, page(r, first), PDET_TYPE_BUDDY, 0);
	pages_set(&r->l, page(r, first), PDET_MEMBER_PAGE_PRIVATE, order);
}

START_TEST(free_blocks)
{
	struct runs *r = start(_i);
	unsigned i;

	free_block(r, 8, 3);
	free_block(r, 16, 2);
	/* Without references, and in no block. */
	pages_plain(&r->l, page(r, 20), 0, 0, 0, 0);
	decode(r, 0, 0, 24);
	for (i = 0; i < 24; i++) {
		const bool in = i >= 8 && i < 20;

		ck_assert_msg(!!(r->flags[i] & KPF(BUDDY)) == in, "page %u", i);
		ck_assert_msg(r->known[i] & KPF(BUDDY), "page %u", i);
		ck_assert(in == (r->kind[i] == PAGEDET_KIND_FREE));
		ck_assert_uint_eq(r->head[i], i);
	}
	/* All pages of a block have its order. */
	for (i = 8; i < 20; i++)
		ck_assert_uint_eq(r->order[i], i < 16 ? 3 : 2);
	ck_assert_uint_eq(r->order[20], 0);
	ck_assert_uint_eq(r->run.reads, 0);
	end(r);
}
END_TEST

/* Whether the pages behind a damaged one are in a free block that began with it
 * is not known, nor is their order; from wherever they are read. */
START_TEST(free_behind_damage)
{
	struct runs *r = start(_i);
	unsigned from, i;

	free_block(r, 8, 3);
	memset(page(r, 8), 0x5a, 64);
	pages_plain(&r->l, page(r, 16), KPF(UPTODATE), 0, 0, 1);
	pages_plain(&r->l, page(r, 17), 0, 0, 0, 0);
	kmem_write(r->k, PAGES_MAP, r->pages, sizeof(r->pages));
	for (from = 0; from <= 9; from += 9) {
		decode(r, 0, from, 24 - from);
		for (i = 9 - from; i < 16 - from; i++) {
			ck_assert(!(r->known[i] & KPF(BUDDY)));
			ck_assert(r->bad[i] & PDET_BAD_ORDER);
		}
		ck_assert(r->known[17 - from] & KPF(BUDDY));
		ck_assert(!(r->bad[17 - from] & PDET_BAD_ORDER));
	}
	end(r);
}
END_TEST

/* If only the first page is examined, the others count as if they had been. */
START_TEST(free_not_looked_at)
{
	struct runs *r = start(_i), *all = start(_i);
	struct pdet_page_fold *fold = calloc(1, sizeof(*fold));
	uint64_t pages[N], first[N], counted[N];
	unsigned n, i;

	free_block(r, 8, 3);
	ck_assert_uint_eq(pdet_page_block_end(&r->l, page(r, 8), 8), 16);
	ck_assert_uint_eq(pdet_page_block_end(&r->l, page(r, 9), 9), 0);
	/* Such a block cannot begin there. */
	ck_assert_uint_eq(pdet_page_block_end(&r->l, page(r, 8), 12), 0);
	memcpy(all->pages, r->pages, sizeof(r->pages));
	all->to = (struct pdet_page_columns){
		.is = all->is, .has = all->has, .bad = all->bad,
		.kind = all->kind, .flags = all->flags, .known = all->known,
	};
	pdet_page_fold_begin(fold);
	n = pdet_page_fold(fold, &all->run, page(all, 0), PAGES_MAP, 0, 24,
			   &all->to, 0, counted, first);
	r->to = all->to;
	r->to.is = r->is;
	r->to.has = r->has;
	r->to.bad = r->bad;
	r->to.kind = r->kind;
	r->to.flags = r->flags;
	r->to.known = r->known;
	pdet_page_fold_begin(fold);
	i = pdet_page_fold(fold, &r->run, page(r, 0), PAGES_MAP, 0, 9, &r->to,
			   0, pages, first);
	/* In two parts, without reading them. */
	memset(page(r, 9), 0xff, 7 * 64);
	i = pdet_page_fold_free(fold, &r->run, PAGES_MAP + 9 * 64, 9, 3,
				&r->to, i, pages, first);
	i = pdet_page_fold_free(fold, &r->run, PAGES_MAP + 12 * 64, 12, 4,
				&r->to, i, pages, first);
	i = pdet_page_fold(fold, &r->run, page(r, 16), PAGES_MAP + 16 * 64, 16,
			   8, &r->to, i, pages, first);
	ck_assert_uint_eq(i, n);
	for (i = 0; i < n; i++) {
		ck_assert_uint_eq(pages[i], counted[i]);
		ck_assert_uint_eq(r->kind[i], all->kind[i]);
		ck_assert_uint_eq(r->flags[i], all->flags[i]);
		ck_assert_uint_eq(r->known[i], all->known[i]);
		ck_assert_uint_eq(r->has[i], all->has[i]);
		ck_assert_uint_eq(r->is[i], all->is[i]);
	}
	ck_assert_uint_eq(r->run.reads, 0);
	free(fold);
	end(all);
	end(r);
}
END_TEST

START_TEST(block_began_before)
{
	struct runs *r = start(AGE_6_12);
	uint64_t i;

	free_block(r, 64, 6);
	/* The memory before the run is readable. */
	for (i = 0; i < 128; i++)
		kmem_write(r->k, PAGES_MAP + i * 64, page(r, (unsigned)i), 64);
	decode(r, 0, 101, 40);
	for (i = 0; i < 40; i++)
		ck_assert_msg((r->kind[i] == PAGEDET_KIND_FREE) ==
			      (101 + i < 128), "page %u", 101 + (unsigned)i);
	/* The next run continues without reading again. */
	decode(r, 0, 64, 10);
	r->run.reads = 0;
	decode(r, 0, 74, 10);
	ck_assert_uint_eq(r->run.reads, 0);
	ck_assert_uint_eq(r->kind[9], PAGEDET_KIND_FREE);
	end(r);
	/* If that is unreadable, there is no answer. */
	r = start(AGE_6_12);
	free_block(r, 64, 6);
	kmem_fail(r->k, PAGES_MAP, -ENODATA);
	kmem_fail(r->k, PAGES_MAP + 4096, -ENODATA);
	decode(r, 0, 101, 10);
	ck_assert(!(r->known[0] & KPF(BUDDY)) && !(r->known[9] & KPF(BUDDY)));
	ck_assert_uint_eq(r->kind[0], PAGEDET_KIND_UNKNOWN);
	end(r);
}
END_TEST

START_TEST(bad_blocks)
{
	struct runs *r = start(AGE_6_12);

	/* At an impossible place, too large, and partly in use. */
	free_block(r, 4, 3);
	free_block(r, 16, 2);
	pages_set(&r->l, page(r, 16), PDET_MEMBER_PAGE_PRIVATE, 30);
	free_block(r, 32, 3);
	pages_plain(&r->l, page(r, 35), MEMORY, ANON_VMA, 1, 1);
	decode(r, 0, 0, 48);
	ck_assert_uint_eq(r->bad[4], PDET_BAD_ORDER);
	ck_assert_uint_eq(r->kind[4], PAGEDET_KIND_FREE);
	ck_assert_uint_eq(r->kind[5], PAGEDET_KIND_UNKNOWN);
	ck_assert_uint_eq(r->bad[16], PDET_BAD_ORDER);
	ck_assert_uint_eq(r->kind[17], PAGEDET_KIND_UNKNOWN);
	ck_assert_uint_eq(r->kind[34], PAGEDET_KIND_FREE);
	ck_assert_uint_eq(r->kind[35], PAGEDET_KIND_ANON);
	ck_assert_uint_eq(r->kind[36], PAGEDET_KIND_UNKNOWN);
	end(r);
}
END_TEST

static void folio(struct runs *r, unsigned first, unsigned order)
{
	const uint64_t head = PAGES_MAP + first * 64;
	unsigned i;

	pages_plain(&r->l, page(r, first), MEMORY | KPF(COMPOUND_HEAD),
		    ANON_VMA, 0, 1);
	pages_second(&r->l, page(r, first + 1), head, order, 1, 1, 0, 0);
	for (i = first + 2; i < first + (1u << order); i++)
		pages_tail(&r->l, page(r, i), head);
}

START_TEST(folios)
{
	struct runs *r = start(_i);
	unsigned i;

	folio(r, 16, 4);
	pages_set(&r->l, page(r, 20), PDET_MEMBER_PAGE_MAPCOUNT, 0);
	if (r->l.member[PDET_MEMBER_SECOND_NR_PAGES_MAPPED] >= 0)
		pages_set(&r->l, page(r, 17),
			  PDET_MEMBER_SECOND_NR_PAGES_MAPPED, 1);
	/* Claims to be of a folio that ends before it. */
	pages_tail(&r->l, page(r, 40), PAGES_MAP + 16 * 64);
	decode(r, 0, 0, 64);
	for (i = 16; i < 32; i++) {
		ck_assert_uint_eq(r->head[i], 16);
		ck_assert_uint_eq(r->kind[i], PAGEDET_KIND_ANON);
		ck_assert(r->flags[i] & (i == 16 ? KPF(COMPOUND_HEAD) :
						   KPF(COMPOUND_TAIL)));
		ck_assert_uint_eq(r->order[i], 4);
		ck_assert_uint_eq(r->mapcount[i], i == 20 ? 2 : 1);
		ck_assert_uint_eq(r->mapping[i], ANON_VMA);
		ck_assert_uint_eq(r->has[i] & PDET_HAS_LARGE, PDET_HAS_LARGE);
	}
	ck_assert_uint_eq(r->bad[40], PDET_BAD_FOLIO);
	ck_assert_uint_eq(r->flags[40], KPF(COMPOUND_TAIL));
	ck_assert_uint_eq(r->kind[41], PAGEDET_KIND_UNKNOWN);
	ck_assert_uint_eq(r->run.reads, 0);
	end(r);
}
END_TEST

START_TEST(head_outside)
{
	struct runs *r = start(AGE_6_12);
	unsigned i;

	folio(r, 16, 4);
	for (i = 0; i < 64; i++)
		kmem_write(r->k, PAGES_MAP + i * 64, page(r, i), 64);
	decode(r, 0, 20, 10);
	for (i = 0; i < 10; i++) {
		ck_assert_uint_eq(r->error[i], 0);
		ck_assert_uint_eq(r->head[i], 16);
		ck_assert_uint_eq(r->refcount[i], 1);
		ck_assert_uint_eq(r->mapcount[i], 1);
	}
	ck_assert_uint_eq(r->run.reads, 1);
	kmem_fail(r->k, PAGES_MAP, -ENODATA);
	decode(r, 0, 20, 10);
	for (i = 0; i < 10; i++) {
		ck_assert_int_eq(r->error[i], -ENODATA);
		ck_assert_uint_eq(r->has[i], PDET_HAS_LARGE);
		ck_assert_uint_eq(r->flags[i], KPF(COMPOUND_TAIL));
		ck_assert_uint_eq(r->bad[i], 0);
	}
	end(r);
}
END_TEST

/* Random pages: the same results as one by one, whatever the run remembers. */
START_TEST(as_one_by_one)
{
	static const uint64_t flags[] = { 0, MEMORY, KPF(LRU), KPF(RESERVED),
					  MEMORY | KPF(DIRTY) };
	static const uint64_t mappings[] = { 0, ANON_VMA, PAGES_POINTER,
					     PAGES_POINTER | 2, 0x1234560,
					     PAGES_POINTER | 3 };
	struct runs *r = start(_i % AGES);
	uint64_t state = 0x1234567 + (uint64_t)_i, v;
	struct pdet_page_facts f;
	unsigned i, k;

	for (i = 0; i < N; i++) {
		v = unit_random(&state);
		/* Often like the previous one. */
		if (i && v % 3 == 0) {
			memcpy(page(r, i), page(r, i - 1), 64);
			continue;
		}
		pages_plain(&r->l, page(r, i), flags[v % 5],
			    mappings[v >> 8 & 7 & (v >> 11 & 1 ? 5 : 3)],
			    (int)(v >> 16 & 3) - (v >> 20 & 7 ? 0 : 5),
			    (int)(v >> 24 & 3) - (v >> 28 & 7 ? 0 : 2));
		pages_set(&r->l, page(r, i), PDET_MEMBER_PAGE_MEMCG_DATA,
			  v >> 32 & 1 ? PAGES_POINTER | (v >> 33 & 3) : 0);
		pages_set(&r->l, page(r, i), PDET_MEMBER_PAGE_INDEX, v >> 40);
	}
	/* The second time from what is remembered. */
	for (k = 0; k < 2; k++) {
		decode(r, 0x10000, 0, N);
		for (i = 0; i < N; i++) {
			pdet_page_decode(&r->l, page(r, i), page(r, i), NULL,
					 &f);
			ck_assert_uint_eq(r->is[i], PDET_PAGE_PLAIN);
			ck_assert_uint_eq(r->flags[i], f.flags);
			ck_assert_uint_eq(r->known[i] & ~KPF(BUDDY),
					  f.known & ~KPF(BUDDY));
			ck_assert_uint_eq(r->bad[i], f.bad);
			ck_assert_uint_eq(r->kind[i], f.kind);
			ck_assert_uint_eq(r->raw[i], f.raw_flags);
			ck_assert_uint_eq(r->refcount[i], f.refcount);
			ck_assert_uint_eq(r->mapcount[i], f.mapcount);
			ck_assert_uint_eq(r->pins[i], f.pincount);
			ck_assert_uint_eq(r->mapping[i], f.mapping);
			ck_assert_uint_eq(r->index[i], f.index);
			ck_assert_uint_eq(r->memcg[i], f.memcg_data);
			ck_assert(!(r->has[i] & PDET_HAS_REFCOUNT) ==
				  !f.has_refcount);
			ck_assert(!(r->has[i] & PDET_HAS_MAPCOUNT) ==
				  !f.has_mapcount);
			ck_assert(!(r->has[i] & PDET_HAS_INDEX) ==
				  !f.has_index);
		}
	}
	end(r);
}
END_TEST

START_TEST(zero_pages)
{
	struct runs *r = start(AGE_6_12);

	pages_plain(&r->l, page(r, 5), KPF(RESERVED), 0, 9, 1);
	decode(r, 0, 0, 16);
	ck_assert(!(r->known[5] & KPF(ZERO_PAGE)));
	r->run.zeros = (struct pdet_page_zeros){ true, 5, 8, 2, false };
	decode(r, 0, 0, 16);
	ck_assert_uint_eq(r->kind[5], PAGEDET_KIND_ZERO);
	ck_assert(r->flags[5] & KPF(ZERO_PAGE));
	ck_assert(r->known[4] & KPF(ZERO_PAGE));
	ck_assert(!(r->flags[4] & KPF(ZERO_PAGE)));
	ck_assert(!(r->flags[6] & KPF(ZERO_PAGE)));
	end(r);
}
END_TEST

START_TEST(not_pages)
{
	struct runs *r = start(AGE_6_12);
	unsigned i;

	memset(page(r, 2), 0, 3 * 64);
	memset(page(r, 6), 0xff, 64);
	memset(page(r, 7), 0x6b, 64);
	decode(r, 0, 0, 16);
	for (i = 0; i < 16; i++) {
		const bool no = (i >= 2 && i < 5) || i == 6;

		ck_assert_uint_eq(r->is[i], i == 7 ? PDET_PAGE_DAMAGED : no ?
					    PDET_PAGE_UNINIT : PDET_PAGE_PLAIN);
		ck_assert_uint_eq(r->kind[i], no ? PAGEDET_KIND_UNINIT :
						   PAGEDET_KIND_UNKNOWN);
		ck_assert(!r->has[i] == (no || i == 7));
	}
	end(r);
}
END_TEST

/* Makes random free blocks, folios, missing pages and small pages. */
static void mix(struct runs *r, uint64_t *state)
{
	static const uint64_t mappings[] = { 0, ANON_VMA, PAGES_POINTER,
					     PAGES_POINTER | 0x1000 };
	unsigned i, n, k;
	uint64_t v;

	for (i = 0; i < N; i += n) {
		v = unit_random(state);
		n = 1u << (v >> 8 & 3);
		n = i % n || i + n > N ? 1 : n;
		if (v % 8 == 0) {
			free_block(r, i, (unsigned)__builtin_ctz(n));
		} else if (v % 8 == 1 && n > 1) {
			folio(r, i, (unsigned)__builtin_ctz(n));
			pages_set(&r->l, page(r, i + n - 1),
				  PDET_MEMBER_PAGE_MAPCOUNT, v >> 16 & 1);
			/*
			 * The last page belongs to another folio, or to none.
			 */
			if ((v >> 20) % 8 == 0)
				pages_set(&r->l, page(r, i + n - 1),
					  PDET_MEMBER_PAGE_COMPOUND_HEAD,
					  v >> 24 & 1 ? 0 : PAGES_MAP + 1);
		} else if (v % 8 == 2) {
			memset(page(r, i), v >> 16 & 3 ? 0 : 0x6b, n * 64);
		} else {
			for (k = i; k < i + n; k++)
				pages_plain(&r->l, page(r, k),
					    v >> 16 & 1 ? MEMORY : KPF(LRU),
					    mappings[v >> 20 & 3],
					    v >> 24 & 7 ? (int)(v >> 28 & 1) :
							  -9,
					    (int)(v >> 32 & 3) - 1);
		}
	}
}

/* Counts the pages with the same result as element @i. */
static uint64_t count_like(const struct runs *r, const struct runs *a,
			   unsigned i, const uint64_t *pages, unsigned n)
{
	uint64_t sum = 0;
	unsigned k;

	for (k = 0; k < n; k++)
		if (r->is[k] == a->is[i] && r->kind[k] == a->kind[i] &&
		    r->flags[k] == a->flags[i] && r->known[k] == a->known[i] &&
		    r->raw[k] == a->raw[i] &&
		    r->refcount[k] == a->refcount[i] &&
		    r->mapcount[k] == a->mapcount[i])
			sum += pages ? pages[k] : 1;
	return sum;
}

/* Decodes pages from @first on to elements from @first on. */
static void decode_at(struct runs *r, unsigned first, unsigned n,
		      bool counts, bool words)
{
	const struct pdet_page_columns to = {
		.is = r->is + first, .has = r->has + first,
		.bad = r->bad + first, .error = r->error + first,
		.kind = r->kind + first, .flags = r->flags + first,
		.known = r->known + first,
		.raw_flags = words ? r->raw + first : NULL,
		.refcount = words ? r->refcount + first : NULL,
		.mapcount = counts ? r->mapcount + first : NULL,
	};

	pdet_page_run(&r->run, page(r, first), PAGES_MAP + first * 64, first, n,
		      &to);
}

/* Counts equal those of the pages one by one. */
START_TEST(folded)
{
	struct runs *r = start(_i % AGES), *all = start(_i % AGES);
	struct pdet_page_fold *fold = calloc(1, sizeof(*fold));
	uint64_t state = 77 + (uint64_t)_i, pages[N], first[N];
	const bool counts = _i / AGES & 1, words = _i / AGES & 2;
	unsigned turn, i, n, some;

	for (turn = 0; turn < 60; turn++) {
		mix(r, &state);
		memcpy(all->pages, r->pages, sizeof(r->pages));
		r->run.zeros = (struct pdet_page_zeros){
			turn % 3 > 0, unit_random(&state) % N,
			unit_random(&state) % N & ~7ull,
			turn % 3 > 1 ? 8 : 0, turn % 2
		};
		all->run.zeros = r->run.zeros;
		/* As on a changing kernel: forgets the previous turn. */
		r->run.next = all->run.next = UINT64_MAX;
		r->to = (struct pdet_page_columns){
			.is = r->is, .has = r->has, .bad = r->bad,
			.error = r->error, .kind = r->kind, .flags = r->flags,
			.known = r->known,
			.raw_flags = words ? r->raw : NULL,
			.refcount = words ? r->refcount : NULL,
			.mapcount = counts ? r->mapcount : NULL,
		};
		pdet_page_fold_begin(fold);
		for (i = 0, n = 0; i < N; i += some) {
			some = 1 + (unsigned)unit_random(&state) % 100;
			some = PDET_MIN(N - i, some);
			/* blocks and folios are whole in a run */
			while (i + some < N && (i + some) % 8)
				some++;
			decode_at(all, i, some, counts, words);
			n = pdet_page_fold(fold, &r->run, page(r, i),
					   PAGES_MAP + i * 64, i, some, &r->to,
					   n, pages, first);
			ck_assert_uint_le(n, i + some);
		}
		for (i = 0; i < n; i++)
			ck_assert_msg(count_like(r, r, i, pages, n) ==
				      count_like(all, r, i, NULL, N),
				      "turn %u, page %u, kind %u: %u", turn,
				      (unsigned)first[i], r->kind[i],
				      (unsigned)pages[i]);
		for (i = 0, some = 0; i < n; i++)
			some += (unsigned)pages[i];
		ck_assert_uint_eq(some, N);
	}
	free(fold);
	end(all);
	end(r);
}
END_TEST

/*
 * Types that contradict VMCOREINFO: differing members are unknown, and no other
 * member is certain. Nothing is read or written outside.
 */
START_TEST(unknown_members)
{
	struct runs *r = start(AGE_6_12);
	struct pdet_page_alike_wants wants = { true, true, true, true };
	struct {
		char before[64];
		struct pdet_page_alike alike;
		char behind[64];
	} *kept = calloc(1, sizeof(*kept));
	static const char none[64];

	r->l.member[_i] = -1;
	pdet_page_alike_init(&kept->alike, &r->l, wants);
	ck_assert_mem_eq(kept->before, none, sizeof(none));
	ck_assert_mem_eq(kept->behind, none, sizeof(none));
	decode(r, 0, 0, 16);
	memset(r->l.member, -1, sizeof(r->l.member));
	r->run.has_alike = false;
	decode(r, 16, 16, 16);
	free(kept);
	end(r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("page_run");

	unit_loop(s, free_blocks, AGES);
	unit_loop(s, free_behind_damage, AGES);
	unit_loop(s, free_not_looked_at, AGES);
	unit_test(s, block_began_before);
	unit_test(s, bad_blocks);
	unit_loop(s, folios, AGES);
	unit_test(s, head_outside);
	unit_loop(s, as_one_by_one, 8);
	unit_test(s, zero_pages);
	unit_test(s, not_pages);
	unit_loop(s, folded, 4 * AGES);
	unit_loop(s, unknown_members, PDET_MEMBERS);
	return unit_main(s);
}
