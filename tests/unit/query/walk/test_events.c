/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the rows of events with small texts and a simulated source. Captures of
 * real kernels are compared by tests/cli/kmem-events.sh.
 */
#include <unistd.h>

#include "allocs/allocs.h"
#include "allocs/naming.h"
#include "../../ask.h"

#define LINE(us, rest) "     sh-9    [001] .....     1.00000" us ": " rest "\n"
#define HEAD "# entries-in-buffer/entries-written: 5/5   #P:2\n"
#define KMALLOC(us, ptr) \
	LINE(us, "kmalloc: call_site=f+0x1/0x9 ptr=" ptr " bytes_req=10 " \
	     "bytes_alloc=16 gfp_flags=GFP_KERNEL node=-1 accounted=false")
#define DIRECT 0xffff888000000000ull

static const char plain[] =
	HEAD
	LINE("1", "mm_page_alloc: page=00000000 pfn=0x9 order=1 migratetype=1 "
	     "gfp_flags=GFP_KERNEL")
	KMALLOC("2", "ffff888000009010")
	"CPU:1 [LOST 7 EVENTS]\n"
	LINE("3", "kmem_cache_free: call_site=g+0x2/0x9 ptr=ffff88800000a000 "
	     "name=dentry")
	LINE("4", "kfree: call_site=g+0x2/0x9 ptr=0000000000000000")
	LINE("5", "mm_page_free: page=00000000 pfn=0x9 order=1");

/* The last line alone shows that addresses are hashed. */
static const char hashed[] = HEAD KMALLOC("1", "ffff888000009010")
				  KMALLOC("2", "00000000deadbeef");

static char path[512];
static struct ask a;
static struct pdet_allocs *allocs;
static struct pdet_backend_ops ops;
static char logged[512];

/* Every page of an object is a slab, of this source. */
static int kaddr(struct pdet_session *s, uint64_t addr, unsigned as,
		 struct pdet_batch *b)
{
	const uint32_t row = b->n;

	(void)s;
	ck_assert_uint_eq(as, PAGEDET_KADDR_MEMORY);
	ck_assert_int_eq(pdet_batch_grow(b, 1), row);
	pdet_put(b, row, F(VADDR), addr, PAGEDET_SOURCE_BPF);
	pdet_put(b, row, F(PFN), (addr - DIRECT) >> 12, PAGEDET_SOURCE_BPF);
	pdet_put(b, row, F(KIND), PAGEDET_KIND_SLAB, PAGEDET_SOURCE_BPF);
	return 0;
}

static void kaddr_recheck(struct pdet_session *s, uint64_t addr, unsigned as,
			  struct pdet_batch *b, uint32_t row)
{
	(void)s;
	(void)as;
	ck_assert_uint_eq(b->value[F(VADDR)][row], addr);
	pdet_put_note(b, row, PAGEDET_NOTE_TORN);
}

static void keep_log(void *user, int level, const char *text)
{
	(void)user;
	(void)level;
	snprintf(logged, sizeof(logged), "%s", text);
}

static void write_trace(const char *text)
{
	const int fd = mkstemp(unit_temp(path, sizeof(path)));

	ck_assert(fd >= 0 &&
		  write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	*logged = '\0';
	ask_init(&a);
	a.env.log = keep_log;
	a.env.log_level = PAGEDET_LOG_WARNING;
	ask_source(&a, PAGEDET_SOURCE_BPF, PAGEDET_COST_FREE,
		   FIELDS(F(KIND), F(PFN), F(VADDR), F(FLAGS)), NULL);
	ops = *a.list[0]->ops;
	ops.kaddr = kaddr;
	ops.kaddr_recheck = kaddr_recheck;
	a.list[0]->ops = &ops;
	a.q.target = PAGEDET_TARGET_EVENTS;
}

static struct pagedet_allocs_query query(void)
{
	struct pagedet_allocs_query q = PAGEDET_ALLOCS_QUERY_INIT;

	q.path = path;
	q.events = 1;
	return q;
}

static void open_trace(const char *text)
{
	struct pagedet_allocs_query q = query();

	write_trace(text);
	ck_assert_msg(pdet_allocs_new(&a.env, &q, NULL, NULL, &allocs) == 0,
		      "%s", a.env.error);
}

static int start(void)
{
	const struct pdet_fields wanted = FIELDS(
		F(ASK), F(EVENT), F(EVENT_FAMILY), F(EVENT_NS), F(EVENT_CPU),
		F(EVENT_TID), F(EVENT_COMM), F(EVENT_SITE), F(EVENT_CACHE),
		F(EVENT_LOST), F(PFN), F(VADDR), F(KIND), F(ALLOC_REQUESTED),
		F(ALLOC_BYTES), F(ALLOC_ORDER), F(GFP_MASK), F(NOTES));
	struct pdet_iter_args args;

	memset(&args, 0, sizeof(args));
	args.env = &a.env;
	args.backends = a.list;
	args.n_backends = a.n;
	args.sources = ~(uint32_t)0;
	args.query = &a.q;
	args.fields = wanted;
	args.allocs = allocs;
	args.page_size = 4096;
	return pdet_iter_new(&args, &a.it);
}

static struct pdet_batch *rows(uint32_t n)
{
	struct pdet_batch *b;

	ck_assert_msg(start() == 0, "%s", a.env.error);
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 1);
	ck_assert_uint_eq(b->n, n);
	return b;
}

static void end(void)
{
	pdet_iter_free(a.it);
	a.it = NULL;
	pdet_allocs_free(allocs);
	allocs = NULL;
	unlink(path);
}

static void has(const struct pdet_batch *b, uint32_t row, unsigned field,
		uint64_t value)
{
	ck_assert_uint_eq(pdet_batch_state(b, row, field), PAGEDET_HAVE);
	ck_assert_uint_eq(b->value[field][row], value);
}

static void says(const struct pdet_batch *b, uint32_t row, unsigned field,
		 const char *text)
{
	size_t len;
	const char *at;

	ck_assert_uint_eq(pdet_batch_state(b, row, field), PAGEDET_HAVE);
	at = pdet_strtab_get(&b->strings, b->value[field][row], &len);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(len, strlen(text));
	ck_assert_mem_eq(at, text, len);
}

static void lacks(const struct pdet_batch *b, uint32_t row, unsigned field,
		  unsigned state)
{
	ck_assert_uint_eq(pdet_batch_state(b, row, field), state);
}

/* What the event says, whoever is asked. */
static void check_events(const struct pdet_batch *b)
{
	static const unsigned kinds[] = {
		PAGEDET_EVENT_PAGE_ALLOC, PAGEDET_EVENT_KMALLOC,
		PAGEDET_EVENT_LOST, PAGEDET_EVENT_CACHE_FREE,
		PAGEDET_EVENT_KFREE, PAGEDET_EVENT_PAGE_FREE,
	};
	uint32_t i;

	for (i = 0; i < 6; i++) {
		has(b, i, F(ASK), i);
		has(b, i, F(EVENT), kinds[i]);
		has(b, i, F(EVENT_CPU), 1);
	}
	has(b, 0, F(EVENT_NS), 1000001000);
	has(b, 0, F(EVENT_FAMILY), PAGEDET_FAMILY_PAGE);
	has(b, 0, F(EVENT_TID), 9);
	says(b, 0, F(EVENT_COMM), "sh");
	has(b, 0, F(PFN), 9);
	has(b, 0, F(ALLOC_ORDER), 1);
	lacks(b, 0, F(VADDR), PAGEDET_NONE);
	lacks(b, 0, F(EVENT_SITE), PAGEDET_NONE);
	lacks(b, 0, F(ALLOC_BYTES), PAGEDET_UNSUPPORTED);

	has(b, 1, F(EVENT_FAMILY), PAGEDET_FAMILY_KMALLOC);
	has(b, 1, F(VADDR), DIRECT + 0x9010);
	has(b, 1, F(ALLOC_REQUESTED), 10);
	has(b, 1, F(ALLOC_BYTES), 16);
	says(b, 1, F(EVENT_SITE), "f+0x1");
	lacks(b, 1, F(EVENT_CACHE), PAGEDET_NONE);
	lacks(b, 1, F(ALLOC_ORDER), PAGEDET_NONE);
	lacks(b, 1, F(EVENT_LOST), PAGEDET_NONE);

	has(b, 2, F(EVENT_LOST), 7);
	lacks(b, 2, F(EVENT_TID), PAGEDET_NONE);
	lacks(b, 2, F(PFN), PAGEDET_NONE);

	has(b, 3, F(EVENT_FAMILY), PAGEDET_FAMILY_CACHE);
	says(b, 3, F(EVENT_CACHE), "dentry");
	says(b, 3, F(EVENT_SITE), "g+0x2");
	lacks(b, 3, F(ALLOC_BYTES), PAGEDET_NONE);
	lacks(b, 3, F(GFP_MASK), PAGEDET_NONE);

	/* kfree(NULL) frees nothing, wherever that would be. */
	lacks(b, 4, F(VADDR), PAGEDET_NONE);
	lacks(b, 4, F(PFN), PAGEDET_NONE);
	has(b, 5, F(PFN), 9);
	has(b, 5, F(ALLOC_ORDER), 1);
}

START_TEST(alone)
{
	struct pagedet_allocs_total t;
	struct pdet_batch *b;

	open_trace(plain);
	pdet_allocs_total(allocs, &t);
	ck_assert_uint_eq(t.complete, 0);
	a.q.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_TRACE);
	b = rows(6);
	check_events(b);
	ck_assert_uint_ne(pdet_batch_state(b, 1, F(PFN)), PAGEDET_HAVE);
	ck_assert_uint_ne(pdet_batch_state(b, 1, F(KIND)), PAGEDET_HAVE);
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 0);
	pdet_iter_free(a.it);
	a.it = NULL;
	pdet_allocs_total(allocs, &t);
	ck_assert_uint_eq(t.complete, 1);
	ck_assert_uint_eq(t.events, 5);
	ck_assert_uint_eq(t.lost, 7);
	ck_assert_uint_eq(t.begin_ns, 1000001000);
	ck_assert_uint_eq(t.end_ns, 1000005000);
	ck_assert_str_eq(logged, "");
	end();
}
END_TEST

START_TEST(joined)
{
	struct pdet_batch *b;

	open_trace(plain);
	a.q.options = PAGEDET_Q_ANY_BOOT;
	b = rows(6);
	check_events(b);
	has(b, 1, F(PFN), 9);
	has(b, 1, F(KIND), PAGEDET_KIND_SLAB);
	has(b, 3, F(PFN), 10);
	has(b, 3, F(KIND), PAGEDET_KIND_SLAB);
	/* Those are asked by their page, and what is nowhere is not. */
	has(b, 0, F(KIND), fake_value(9, F(KIND)));
	lacks(b, 2, F(KIND), PAGEDET_NONE);
	lacks(b, 4, F(KIND), PAGEDET_NONE);
	/* Each address is translated again, after the answers. */
	ck_assert_uint_eq(b->value[F(NOTES)][1] & PAGEDET_NOTE_TORN,
			  PAGEDET_NOTE_TORN);
	ck_assert_uint_eq(b->value[F(NOTES)][0], 0);
	ck_assert_str_eq(logged, "");
	end();
}
END_TEST

START_TEST(filtered)
{
	struct pdet_batch *b;

	open_trace(plain);
	a.q.options = PAGEDET_Q_ANY_BOOT;
	a.q.where = "event=kmem_cache_free or event=lost";
	b = rows(2);
	has(b, 0, F(ASK), 2);
	has(b, 1, F(ASK), 3);
	has(b, 1, F(VADDR), DIRECT + 0xa000);
	has(b, 1, F(PFN), 10);
	ck_assert_uint_eq(b->value[F(NOTES)][1] & PAGEDET_NOTE_TORN,
			  PAGEDET_NOTE_TORN);
	end();
}
END_TEST

START_TEST(not_joined)
{
	struct pdet_batch *b;

	/* Nothing says whose trace it is. */
	open_trace(plain);
	b = rows(6);
	check_events(b);
	lacks(b, 1, F(KIND), PAGEDET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(logged, "nothing says whether"));
	end();
	/* What the last event shows holds for the first. */
	open_trace(hashed);
	a.q.options = PAGEDET_Q_ANY_BOOT;
	b = rows(2);
	has(b, 0, F(VADDR), DIRECT + 0x9010);
	lacks(b, 0, F(KIND), PAGEDET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(logged, "addresses are hashed"));
	end();
}
END_TEST

START_TEST(once)
{
	open_trace(plain);
	a.q.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_TRACE);
	rows(6);
	pdet_iter_free(a.it);
	ck_assert_int_eq(start(), -EINVAL);
	ck_assert_ptr_nonnull(strstr(a.env.error, "were read already"));
	a.it = NULL;
	end();
}
END_TEST

static void refused(const struct pagedet_allocs_query *q,
		    const struct pdet_namer *namer, int error,
		    const char *words)
{
	write_trace(plain);
	ck_assert_int_eq(pdet_allocs_new(&a.env, q, namer, NULL, &allocs),
			 error);
	ck_assert_msg(strstr(a.env.error, words) != NULL, "%s", a.env.error);
	unlink(path);
}

START_TEST(refusals)
{
	static const struct pdet_namer namer;
	struct pagedet_allocs_query q = query();
	struct pdet_batch *b;

	q.events = 2;
	refused(&q, NULL, -E2BIG, "does not know");
	q.events = 1;
	q.open_names = 1;
	refused(&q, &namer, -EINVAL, "not named by a dump");
	open_trace(plain);
	ck_assert_int_eq(pdet_allocs_need_events(allocs, &a.env), -EINVAL);
	end();
	/* Sums of what is live are not events. */
	open_trace("allocinfo - version: 1.0\n"
		   "#     <size>  <calls> <tag info>\n"
		   "        4096        1 mm/slub.c:1 func:f\n");
	a.q.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_TRACE);
	ck_assert_int_eq(start(), 0);
	ck_assert_int_eq(pdet_iter_step(a.it, &b), -EINVAL);
	ck_assert_ptr_nonnull(strstr(a.env.error, "sums of what is live"));
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("events");

	unit_test(s, alone);
	unit_test(s, joined);
	unit_test(s, filtered);
	unit_test(s, not_joined);
	unit_test(s, once);
	unit_test(s, refusals);
	return unit_main(s);
}
