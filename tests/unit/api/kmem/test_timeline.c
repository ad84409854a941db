/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what the border of timelines refuses and answers, with a small text and
 * a handle that has opened nothing. */
#include <errno.h>
#include <unistd.h>

#include "pagedet.h"
#include "../../unit.h"

#define LINE(us, rest) "     sh-9    [001] .....     1.00000" us ": " rest "\n"

static const char text[] =
	"# entries-in-buffer/entries-written: 5/5   #P:2\n"
	LINE("1", "mm_page_alloc: page=00000000 pfn=0x9 order=1 migratetype=1 "
	     "gfp_flags=GFP_KERNEL")
	LINE("2", "kmalloc: call_site=f+0x1/0x9 ptr=ffff888000009000 "
	     "bytes_req=10 bytes_alloc=16 gfp_flags=GFP_KERNEL node=-1 "
	     "accounted=false")
	LINE("3", "mm_page_free: page=00000000 pfn=0xa order=0")
	LINE("4", "mm_page_alloc: page=00000000 pfn=0x20 order=0 "
	     "migratetype=1 gfp_flags=GFP_KERNEL")
	LINE("5", "mm_page_free: page=00000000 pfn=0x9 order=1");

static char path[512];
static struct pagedet *pd;
static struct pagedet_allocs_query trace = PAGEDET_ALLOCS_QUERY_INIT;
static const uint32_t keys[] = { PAGEDET_ALLOC_COMM, PAGEDET_ALLOC_CPU };

static struct pagedet_timeline_query begin(void)
{
	struct pagedet_timeline_query q = PAGEDET_TIMELINE_QUERY_INIT;
	const int fd = mkstemp(unit_temp(path, sizeof(path)));

	ck_assert(fd >= 0 && write(fd, text, sizeof(text) - 1) ==
			     (ssize_t)sizeof(text) - 1);
	close(fd);
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	trace.path = path;
	trace.by = keys;
	trace.n_by = 2;
	q.trace = &trace;
	q.first_pfn = 9;
	q.pages = 2;
	return q;
}

static void end(void)
{
	pagedet_free(pd);
	unlink(path);
}

static struct pagedet_timeline *ask(const struct pagedet_timeline_query *q)
{
	struct pagedet_timeline *tl;

	ck_assert_msg(pagedet_allocs_timeline(pd, q, &tl) == 0, "%s",
		      pagedet_error(pd));
	return tl;
}

static void refused(const struct pagedet_timeline_query *q, int error,
		    const char *words)
{
	struct pagedet_timeline *tl;

	ck_assert_int_eq(pagedet_allocs_timeline(pd, q, &tl), error);
	ck_assert_msg(strstr(pagedet_error(pd), words) != NULL, "%s",
		      pagedet_error(pd));
}

START_TEST(refusals)
{
	const uint32_t lifetime = PAGEDET_ALLOC_LIFETIME;
	const struct pagedet_timeline_query good = begin();
	struct pagedet_timeline_query q = good;
	struct {
		struct pagedet_timeline_query q;
		uint64_t later;
	} newer = { good, 1 };

	refused(NULL, -EINVAL, "a trace");
	q.trace = NULL;
	refused(&q, -EINVAL, "a trace");
	q = good;
	q.pages = 0;
	refused(&q, -EINVAL, "1 to 67108864");
	q.pages = 67108865;
	refused(&q, -EINVAL, "1 to 67108864");
	q = good;
	q.first_pfn = (uint64_t)1 << 52;
	refused(&q, -EINVAL, "there is no page");
	q = good;
	q.reserved = 1;
	refused(&q, -E2BIG, "option");
	q = good;
	q.first = 2;
	refused(&q, -E2BIG, "option");
	q = good;
	trace.by = &lifetime;
	trace.n_by = 1;
	refused(&q, -EINVAL, "lifetime");
	trace.by = keys;
	trace.n_by = 2;
	newer.q.size = sizeof(newer);
	refused(&newer.q, -E2BIG, "");
	trace.path = "/nothing/there";
	refused(&q, -ENOENT, "/nothing/there");
	pagedet_timeline_free(NULL);
	end();
}
END_TEST

static struct pagedet_timeline_event next(struct pagedet_timeline *tl)
{
	struct pagedet_timeline_event e = { .size = sizeof(e) };

	ck_assert_int_eq(pagedet_timeline_next(tl, &e), 1);
	return e;
}

static void is_end(struct pagedet_timeline *tl)
{
	struct pagedet_timeline_event e = { .size = sizeof(e) };

	ck_assert_int_eq(pagedet_timeline_next(tl, &e), 0);
}

START_TEST(answers)
{
	const struct pagedet_timeline_query q = begin();
	struct pagedet_timeline *tl = ask(&q);
	struct pagedet_timeline_event e = next(tl);

	ck_assert_uint_eq(e.ns, 1000001000);
	ck_assert_uint_eq(e.kind, PAGEDET_EVENT_PAGE_ALLOC);
	ck_assert_uint_eq(e.effect, PAGEDET_EFFECT_ALLOCATED);
	ck_assert_uint_eq(e.pfn, 9);
	ck_assert_uint_eq(e.order, 1);
	ck_assert_uint_eq(e.bytes_state, PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(e.lifetime_state, PAGEDET_NONE);
	ck_assert_str_eq(pagedet_timeline_text(tl, e.value[0], NULL), "sh");
	ck_assert_uint_eq(e.value[1], 1);
	ck_assert_uint_eq(e.state[2], PAGEDET_NONE);
	e = next(tl);
	ck_assert_uint_eq(e.effect, PAGEDET_EFFECT_FREED);
	ck_assert_uint_eq(e.lifetime_state, PAGEDET_HAVE);
	ck_assert_uint_eq(e.lifetime_ns, 2000);
	e = next(tl);
	ck_assert_uint_eq(e.effect, PAGEDET_EFFECT_FREED);
	ck_assert_uint_eq(e.lifetime_ns, 4000);
	is_end(tl);
	ck_assert_ptr_null(pagedet_timeline_text(tl, 12345, NULL));
	ck_assert_ptr_null(pagedet_timeline_gfp(tl, 0xcc0));
	pagedet_timeline_free(tl);
	end();
}
END_TEST

START_TEST(totals)
{
	struct pagedet_timeline_total t = { .size = sizeof(t) };
	struct pagedet_allocs_total all = { .size = sizeof(all) };
	struct pagedet_timeline_query q = begin();
	struct pagedet_timeline *tl = ask(&q);

	ck_assert_int_eq(pagedet_timeline_total(tl, &t), 0);
	ck_assert_uint_eq(t.events, 3);
	ck_assert_uint_eq(t.page_events, 3);
	ck_assert_uint_eq(t.rows, 3);
	ck_assert_uint_eq(t.left_out + t.losses + t.object_events, 0);
	ck_assert_uint_eq(t.unplaced, 1);
	ck_assert_uint_eq(t.objects, PAGEDET_UNSUPPORTED);
	ck_assert_str_eq(pagedet_timeline_why(tl), "no source is open");
	ck_assert_int_eq(pagedet_timeline_trace(tl, &all), 0);
	ck_assert_uint_eq(all.events, 5);
	ck_assert_uint_eq(all.complete, 1);
	ck_assert_uint_eq(all.groups + all.times + all.live, 0);
	pagedet_timeline_free(tl);
	q.pages_only = 1;
	tl = ask(&q);
	ck_assert_int_eq(pagedet_timeline_total(tl, &t), 0);
	ck_assert_uint_eq(t.objects, PAGEDET_NOT_ASKED);
	ck_assert_ptr_null(pagedet_timeline_why(tl));
	pagedet_timeline_free(tl);
	end();
}
END_TEST

START_TEST(bounds)
{
	struct pagedet_timeline_total t = { .size = sizeof(t) };
	struct pagedet_timeline_query q = begin();
	struct pagedet_timeline *tl;

	q.max_events = 1;
	tl = ask(&q);
	ck_assert_uint_eq(next(tl).ns, 1000005000);
	is_end(tl);
	ck_assert_int_eq(pagedet_timeline_total(tl, &t), 0);
	ck_assert_uint_eq(t.events, 3);
	ck_assert_uint_eq(t.rows, 1);
	ck_assert_uint_eq(t.left_out, 2);
	pagedet_timeline_free(tl);
	q.first = 1;
	tl = ask(&q);
	ck_assert_uint_eq(next(tl).ns, 1000001000);
	is_end(tl);
	pagedet_timeline_free(tl);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("timeline");

	unit_test(s, refusals);
	unit_test(s, answers);
	unit_test(s, totals);
	unit_test(s, bounds);
	return unit_main(s);
}
