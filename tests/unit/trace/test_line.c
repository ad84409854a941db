/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests lines of text of ftrace and trace-cmd, also those that mean harm. */
#include "base/env.h"
#include "trace/line.h"
#include "../unit.h"

static struct pdet_trace_line l;

static enum pdet_trace_line_kind take(const char *text)
{
	return pdet_trace_line((struct pdet_scan){ text, text + strlen(text) },
			       &l);
}

static void is(struct pdet_scan s, const char *text)
{
	ck_assert_msg(pdet_scan_is(&s, text), "%.*s", (int)(s.end - s.at),
		      s.at);
}

#define HEAD "          a b-69    [002] .....  3841.627806: "

START_TEST(events)
{
	ck_assert_int_eq(take(HEAD "kmalloc: call_site=f+0x1/0x20 [m] "
			      "ptr=ffff888100000040 bytes_req=5 bytes_alloc=8 "
			      "gfp_flags=GFP_KERNEL|__GFP_ZERO node=-1 "
			      "accounted=false"), PDET_TRACE_LINE_EVENT);
	ck_assert_uint_eq(l.event.kind, PDET_KMEM_KMALLOC);
	ck_assert_uint_eq(l.event.ns, 3841627806000);
	ck_assert_int_eq(l.event.pid, 69);
	ck_assert_uint_eq(l.event.cpu, 2);
	ck_assert_uint_eq(l.event.object, 0xffff888100000040);
	ck_assert_uint_eq(l.event.requested, 5);
	ck_assert_uint_eq(l.event.allocated, 8);
	ck_assert_int_eq(l.event.node, -1);
	ck_assert(!l.no_ns && !l.hashed);
	is(l.comm, "a b");
	is(l.site, "f+0x1");
	is(l.module, "m");
	ck_assert_int_eq(take("<...>-9 [000] 12345: kmem_cache_free:   "
			      "(g+0x4) call_site=g+0x4 ptr=0xffff8880aa "
			      "name=filp"), PDET_TRACE_LINE_EVENT);
	ck_assert(l.no_ns && !l.hashed);
	ck_assert_uint_eq(l.event.ns, 12345);
	ck_assert(l.comm.at == l.comm.end);
	is(l.cache, "filp");
	ck_assert_int_eq(take("x-1 [000] .... 1.5: kfree: call_site=g "
			      "ptr=(nil)"), PDET_TRACE_LINE_EVENT);
	ck_assert_uint_eq(l.event.object, 0);
	ck_assert_uint_eq(l.event.ns, 1500000000);
	ck_assert_int_eq(take("x-1 (  12) [000] 1.5: mm_page_alloc: "
			      "page=0000000012345678 pfn=0x12 order=3 "
			      "migratetype=1 gfp_flags=0"),
			 PDET_TRACE_LINE_EVENT);
	ck_assert_uint_eq(l.event.object, 0x12);
	ck_assert_uint_eq(l.event.order, 3);
	ck_assert_int_eq(l.event.migratetype, 1);
	ck_assert_int_eq(take("x-1 [000] 1.5: kfree: call_site=g "
			      "ptr=000000004cf16a05"), PDET_TRACE_LINE_EVENT);
	ck_assert(l.hashed);
	ck_assert_int_eq(take("x-1 [000] 1.5: sched_switch: a=b"),
			 PDET_TRACE_LINE_OTHER);
}
END_TEST

START_TEST(losses)
{
	ck_assert_int_eq(take("CPU:1 [LOST 12 EVENTS]"), PDET_TRACE_LINE_LOST);
	ck_assert_uint_eq(l.lost, 12);
	ck_assert_uint_eq(l.event.cpu, 1);
	ck_assert_int_eq(take("CPU:1 [LOST EVENTS]"), PDET_TRACE_LINE_LOST);
	ck_assert_uint_eq(l.lost, 0);
	ck_assert_int_eq(take("CPU:1 [7 EVENTS DROPPED]"),
			 PDET_TRACE_LINE_LOST);
	ck_assert_uint_eq(l.lost, 7);
	ck_assert_int_eq(take("# entries-in-buffer/entries-written: 5/9   "
			      "#P:2"), PDET_TRACE_LINE_WRITTEN);
	ck_assert_uint_eq(l.lost, 4);
	ck_assert_int_eq(take("# tracer: nop"), PDET_TRACE_LINE_NOTHING);
	ck_assert_int_eq(take("cpus=2"), PDET_TRACE_LINE_NOTHING);
	ck_assert_int_eq(take(""), PDET_TRACE_LINE_NOTHING);
}
END_TEST

START_TEST(harm)
{
	static const char *const damaged[] = {
		HEAD "kmalloc: call_site=f ptr=1 bytes_req=5",
		HEAD "kmalloc: call_site=f ptr=1 bytes_req=5 bytes_alloc=z",
		HEAD "kmalloc: ptr= bytes_req=5 bytes_alloc=8",
		HEAD "kfree: call_site=f ptr=(____ptrval____)",
		HEAD "mm_page_free: pfn=-1 order=0",
		HEAD "kfree:",
		HEAD,
		"x-1 [000] .... kfree: call_site=g ptr=0",
		"x-1 [70000] 1.5: kfree: call_site=g ptr=0",
		"x-99999999999 [000] 1.5: kfree: call_site=g ptr=0",
		"x [000] 99999999999999999999.5: kfree: ptr=0",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(damaged); i++)
		ck_assert_msg(take(damaged[i]) == PDET_TRACE_LINE_DAMAGED,
			      "%s", damaged[i]);
	/* A name of a thread may look like the rest of a line. */
	ck_assert_int_eq(take("a-1 [000] x-7 [001] ... 1.5: kfree: ptr=ff"),
			 PDET_TRACE_LINE_EVENT);
	is(l.comm, "a-1 [000] x");
	ck_assert_int_eq(l.event.pid, 7);
	ck_assert_uint_eq(l.event.cpu, 1);
}
END_TEST

START_TEST(allocinfo)
{
	static const char *const others[] = {
		"1 2 a:3 func:", "1 2 a:3", "1 2 a func:f", "1 2 a:3 [m func:f",
		"1 2 a:3 [] x func:f", "1 a:3 func:f", "- 2 a:3 func:f",
		"99999999999999999999 2 a:3 func:f",
		"x-1 [000] 1.5: other: 1 2 a:3 func:f",
	};
	size_t i;

	ck_assert_int_eq(take("       25344      103 ipc/msgutil.c:65 "
			      "func:alloc_msg "), PDET_TRACE_LINE_SUM);
	ck_assert_uint_eq(l.event.kind, PDET_KMEM_SUM);
	ck_assert_uint_eq(l.event.allocated, 25344);
	ck_assert_uint_eq(l.event.object, 103);
	is(l.site, "ipc/msgutil.c:65");
	is(l.function, "alloc_msg");
	is(l.module, "");
	ck_assert(!l.inexact);
	ck_assert_int_eq(take("-64 -1 b.c:7 [mod] func:f accurate:no"),
			 PDET_TRACE_LINE_SUM);
	ck_assert_uint_eq(l.event.allocated, 0);
	ck_assert_uint_eq(l.event.object, 0);
	is(l.module, "mod");
	is(l.function, "f");
	ck_assert(l.inexact);
	for (i = 0; i < PDET_COUNT(others); i++)
		ck_assert_msg(take(others[i]) != PDET_TRACE_LINE_SUM, "%s",
			      others[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("line");

	unit_test(s, events);
	unit_test(s, losses);
	unit_test(s, harm);
	unit_test(s, allocinfo);
	return unit_main(s);
}
