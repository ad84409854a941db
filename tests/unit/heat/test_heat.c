/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what DAMON's events say of pages. */
#include <errno.h>

#include "heat/rows.h"
#include "../unit.h"

#define LINE(name, at, size) \
	"\tfield:unsigned long " name ";\toffset:" #at ";\tsize:" #size \
	";\tsigned:0;\n"
#define HEAD \
	"name: damon_aggregated\nID: 767\nformat:\n" \
	LINE("common_type", 0, 2) LINE("common_pid", 4, 4) "\n"
/* Linux 5.15, and since 5.17. */
#define OLD HEAD LINE("target_id", 8, 8) LINE("nr_regions", 16, 4) \
	LINE("start", 24, 8) LINE("end", 32, 8) LINE("nr_accesses", 40, 4)
#define NEW OLD LINE("age", 44, 4)

static struct pdet_heat_layout layout;
static unsigned char record[64];

static void put(unsigned at, unsigned size, uint64_t value)
{
	memcpy(record + at, &value, size);
}

static void make_record(void)
{
	memset(record, 0xff, sizeof(record));
	put(0, 2, 767);
	put(4, 4, 77);
	put(8, 8, 2);
	put(16, 4, 3);
	put(24, 8, 0x1000);
	put(32, 8, 0x5000);
	put(40, 4, 9);
	put(44, 4, 12);
}

static int take(uint32_t len, struct pdet_heat_event *e)
{
	return pdet_heat_take(&layout, record, len,
			      __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, e);
}

static int parse(const char *text)
{
	return pdet_heat_layout_parse(text, strlen(text), &layout);
}

START_TEST(an_event)
{
	struct pdet_heat_event e;

	ck_assert_int_eq(parse(NEW), 0);
	make_record();
	ck_assert_int_eq(take(48, &e), 1);
	ck_assert_uint_eq(e.thread, 77);
	ck_assert_uint_eq(e.target, 2);
	ck_assert_uint_eq(e.regions, 3);
	ck_assert_uint_eq(e.start, 0x1000);
	ck_assert_uint_eq(e.end, 0x5000);
	ck_assert_uint_eq(e.accesses, 9);
	ck_assert_uint_eq(e.age, 12);
}
END_TEST

START_TEST(an_event_without_age)
{
	struct pdet_heat_event e;

	ck_assert_int_eq(parse(OLD), 0);
	ck_assert_uint_eq(layout.age.size, 0);
	make_record();
	ck_assert_int_eq(take(44, &e), 1);
	ck_assert_uint_eq(e.age, 0);
}
END_TEST

START_TEST(events_that_are_not_taken)
{
	struct pdet_heat_event e;

	ck_assert_int_eq(parse(NEW), 0);
	make_record();
	ck_assert_int_eq(take(47, &e), -EBADMSG);
	ck_assert_int_eq(take(1, &e), -EBADMSG);
	put(0, 2, 766);
	ck_assert_int_eq(take(47, &e), 0);
	make_record();
	put(32, 8, 0x1000);	/* an empty region */
	ck_assert_int_eq(take(48, &e), -EBADMSG);
	make_record();
	put(16, 4, 0);
	ck_assert_int_eq(take(48, &e), -EBADMSG);
	/* Nothing tells the targets of other contexts. */
	ck_assert_int_eq(parse(NEW LINE("context_id", 48, 8)), 0);
	make_record();
	put(48, 8, 1);
	ck_assert_int_eq(take(56, &e), 0);
	put(48, 8, 0);
	ck_assert_int_eq(take(56, &e), 1);
}
END_TEST

START_TEST(formats_that_are_refused)
{
	ck_assert_int_eq(parse(""), -EBADMSG);
	ck_assert_int_eq(parse(HEAD), -EBADMSG);
	ck_assert_int_eq(parse(HEAD LINE("target_id", 8, 8)), -EBADMSG);
	ck_assert_int_eq(parse(OLD LINE("age", 44, 3)), -EBADMSG);
	ck_assert_int_eq(parse(OLD LINE("age[4]", 44, 4)), -EBADMSG);
}
END_TEST

/* --- regions --- */

static struct pdet_heat h;

/* Thread 77 monitors physical memory in units of 4, 88 the process 500. */
static void begin(void)
{
	static struct pdet_damon_target target[] = { { 500, true },
						     { 600, false } };
	static struct pdet_damon damons[2];

	damons[0] = (struct pdet_damon){
		.thread = 77, .is_physical = true, .unit = 4,
		.sample_us = 500, .interval_us = 5000
	};
	damons[1] = (struct pdet_damon){
		.thread = 88, .unit = 1, .sample_us = 100,
		.interval_us = 2000, .targets = { target, 2, 2 }
	};
	memset(&h, 0, sizeof(h));
	h.state = PAGEDET_HAVE;
	h.has_age = true;
	h.damons = (struct pdet_damons){ .data = damons, .n = 2 };
}

/* Thread 77 alone. */
static void begin_physical(void)
{
	begin();
	h.damons.n = 1;
}

/* Thread 88 alone, and its first process. */
static void begin_process(void)
{
	begin();
	h.damons.data++;
	h.damons.n = 1;
	h.damons.data->targets.n = 1;
}

static void add(uint32_t thread, uint64_t target, uint64_t ns, uint32_t regions,
		uint64_t start, uint64_t end, uint32_t accesses)
{
	const struct pdet_heat_event e = {
		.ns = ns, .target = target, .start = start, .end = end,
		.thread = thread, .regions = regions, .accesses = accesses,
		.age = 7
	};

	ck_assert(pdet_heat_add(&h, &e));
}

static void physical(uint64_t ns, uint32_t regions, uint64_t start,
		     uint64_t end, uint32_t accesses)
{
	add(77, 0, ns, regions, start, end, accesses);
}

static const struct pdet_heat_monitor *monitor;
static const struct pdet_heat_region *region;

static unsigned find_page(uint64_t address, unsigned lru)
{
	const struct pdet_heat_page p = { .page = PAGEDET_HAVE,
					  .address = address, .lru = lru };

	return pdet_heat_find(&h, &p, &monitor, &region);
}

static unsigned find_virtual(uint32_t pid, uint64_t address, unsigned page)
{
	const struct pdet_heat_page p = { .page = page, .lru = PAGEDET_HAVE,
					  .address = 0x1000,
					  .has_virtual = true,
					  .virtual = address, .pid = pid,
					  .tgid = pid };

	return pdet_heat_find(&h, &p, &monitor, &region);
}

START_TEST(regions_of_physical_memory)
{
	begin_physical();
	physical(10, 2, 0x1000, 0x2000, 3);
	physical(11, 2, 0x3000, 0x4000, 0);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(h.events.n, 0);
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(region->accesses, 3);
	ck_assert_uint_eq(region->age, 7);
	ck_assert_uint_eq(region->end - region->start, 0x4000);
	ck_assert_uint_eq(monitor->checks, 10);
	ck_assert_uint_eq(monitor->ns, 11);
	ck_assert_uint_eq(find_page(0x7fff, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(find_page(0xc000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(region->accesses, 0);
	/* Between two regions, and outside. */
	ck_assert_uint_eq(find_page(0x8000, PAGEDET_HAVE), PAGEDET_EXCLUDED);
	ck_assert_uint_eq(find_page(0x3fff, PAGEDET_HAVE), PAGEDET_EXCLUDED);
	ck_assert_uint_eq(find_page(0x10000, PAGEDET_HAVE), PAGEDET_EXCLUDED);
}
END_TEST

/* DAMON never looks at them, and still counts 0. */
START_TEST(pages_that_are_not_on_a_list)
{
	begin();
	physical(10, 1, 0x1000, 0x2000, 0);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_NONE), PAGEDET_EXCLUDED);
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_NO_ACCESS),
			  PAGEDET_NO_ACCESS);
}
END_TEST

START_TEST(the_last_whole_interval)
{
	begin();
	/* It began to listen in the middle of one. */
	physical(9, 3, 0x3000, 0x4000, 1);
	physical(20, 2, 0x1000, 0x2000, 2);
	physical(21, 2, 0x3000, 0x4000, 3);
	physical(30, 2, 0x1000, 0x2000, 4);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(h.events.n, 1);
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(region->accesses, 2);
	/* Of another processor's buffer, and read later. */
	physical(31, 2, 0x3000, 0x4000, 5);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(h.events.n, 0);
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(region->accesses, 4);
	ck_assert_uint_eq(monitor->ns, 31);
}
END_TEST

START_TEST(a_part_of_an_interval)
{
	begin();
	physical(10, 3, 0x1000, 0x2000, 2);
	physical(12, 3, 0x3000, 0x4000, 2);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(h.events.n, 2);
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_TIMEOUT);
	ck_assert(pdet_heat_digest(&h, true));
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(find_page(0x8000, PAGEDET_HAVE), PAGEDET_TIMEOUT);
	h.lost = 1;
	ck_assert_uint_eq(find_page(0x8000, PAGEDET_HAVE), PAGEDET_IO);
	ck_assert(!pdet_heat_is_complete(&h));
}
END_TEST

/* Regions of two intervals may look like those of one. */
START_TEST(events_lost_in_between)
{
	begin_physical();
	physical(10, 2, 0x1000, 0x2000, 2);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(h.events.n, 1);
	/* In a later look, or in the same one. */
	h.lost++;
	if (_i)
		ck_assert(pdet_heat_digest(&h, false));
	physical(30, 2, 0x3000, 0x4000, 3);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(h.events.n, 0);
	ck_assert(!pdet_heat_is_complete(&h));
	ck_assert_uint_eq(find_page(0xc000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(find_page(0x8000, PAGEDET_HAVE), PAGEDET_IO);
	/* What was lost before does not matter. */
	physical(40, 2, 0x1000, 0x2000, 4);
	physical(41, 2, 0x2000, 0x3000, 5);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert(pdet_heat_is_complete(&h));
	ck_assert_uint_eq(find_page(0xc000, PAGEDET_HAVE), PAGEDET_EXCLUDED);
}
END_TEST

/* Buffers of processors are read one after the other: what was lost in one may
 * be in the middle of what another one has. */
START_TEST(events_lost_before_others_are_read)
{
	begin_physical();
	if (!_i)
		h.lost++;
	physical(10, 2, 0x1000, 0x2000, 2);
	physical(30, 2, 0x3000, 0x4000, 3);
	if (_i)
		h.lost++;
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert(!pdet_heat_is_complete(&h));
	/* A part does not replace what is complete. */
	physical(40, 1, 0x1000, 0x2000, 4);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert(pdet_heat_is_complete(&h));
	physical(50, 2, 0x1000, 0x2000, 5);
	h.lost++;
	physical(60, 2, 0x3000, 0x4000, 5);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert(pdet_heat_is_complete(&h));
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(region->accesses, 4);
}
END_TEST

START_TEST(regions_of_a_process)
{
	begin();
	add(88, 0, 10, 1, 0x1000, 0x9000, 20);
	add(88, 1, 10, 1, 0x1000, 0x9000, 19);
	ck_assert(!pdet_heat_is_complete(&h));
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert(!pdet_heat_is_complete(&h));
	ck_assert_uint_eq(find_virtual(500, 0x8fff, PAGEDET_HAVE),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(region->accesses, 20);
	ck_assert_uint_eq(monitor->checks, 20);
	/* Also without a page. */
	ck_assert_uint_eq(find_virtual(500, 0x1000, PAGEDET_NONE),
			  PAGEDET_HAVE);
	/* The other process may be this one. */
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_NONE),
			  PAGEDET_UNSUPPORTED);
	/* Waiting for the physical ones may help. */
	ck_assert_uint_eq(find_virtual(600, 0x1000, PAGEDET_HAVE),
			  PAGEDET_TIMEOUT);
	physical(10, 1, 0, 0x1000, 1);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert(pdet_heat_is_complete(&h));
	/* The number may have been that of another process. */
	ck_assert_uint_eq(find_virtual(600, 0x1000, PAGEDET_NONE),
			  PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(find_virtual(600, 0x1000, PAGEDET_HAVE),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(monitor->thread, 77);
	/* Its own regions say more of it. */
	ck_assert_uint_eq(find_virtual(500, 0x1000, PAGEDET_HAVE),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(monitor->thread, 88);
}
END_TEST

/* They may monitor any page. */
START_TEST(threads_that_nobody_names)
{
	begin_physical();
	physical(10, 1, 0x4000, 0x5000, 1);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_page(0x1000, PAGEDET_HAVE), PAGEDET_EXCLUDED);
	add(99, 0, 10, 1, 0x1000, 0x9000, 1);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(h.monitors.n, 2);
	ck_assert_uint_eq(find_page(0x1000, PAGEDET_HAVE), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(find_page(0x10000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(find_page(0x10000, PAGEDET_NONE), PAGEDET_EXCLUDED);
}
END_TEST

START_TEST(threads_that_are_left_out)
{
	begin_physical();
	h.damons.is_partial = true;
	physical(10, 1, 0x4000, 0x5000, 1);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_page(0x1000, PAGEDET_HAVE), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(find_page(0x10000, PAGEDET_HAVE), PAGEDET_HAVE);
	h.damons.is_denied = true;
	ck_assert_uint_eq(find_page(0x1000, PAGEDET_HAVE), PAGEDET_NO_ACCESS);
}
END_TEST

/* The process may map a page of which only the file is known. */
START_TEST(pages_without_a_process)
{
	begin_process();
	ck_assert_uint_eq(find_page(0x1000, PAGEDET_HAVE), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_HAVE),
			  PAGEDET_TIMEOUT);
	ck_assert_uint_eq(find_virtual(501, 0x9000, PAGEDET_HAVE),
			  PAGEDET_EXCLUDED);
	add(88, 0, 10, 1, 0x1000, 0x9000, 20);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_page(0x1000, PAGEDET_HAVE), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_HAVE),
			  PAGEDET_EXCLUDED);
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_NONE),
			  PAGEDET_EXCLUDED);
	ck_assert_uint_eq(find_virtual(501, 0x9000, PAGEDET_NONE),
			  PAGEDET_NONE);
}
END_TEST

/* What the process's own regions lack, those of physical memory may have. */
START_TEST(two_threads)
{
	begin();
	h.damons.data[1].targets.n = 1;
	add(88, 0, 10, 1, 0x1000, 0x9000, 20);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_HAVE),
			  PAGEDET_TIMEOUT);
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_NO_ACCESS),
			  PAGEDET_NO_ACCESS);
	physical(10, 2, 0x4000, 0x5000, 1);
	ck_assert(pdet_heat_digest(&h, true));
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_HAVE),
			  PAGEDET_TIMEOUT);
	physical(20, 1, 0x4000, 0x5000, 1);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_virtual(500, 0x9000, PAGEDET_HAVE),
			  PAGEDET_EXCLUDED);
}
END_TEST

START_TEST(settings_that_are_not_in_force)
{
	begin();
	physical(10, 2, 0x1000, 0x2000, 11);
	physical(11, 2, 0x2000, 0x3000, 1);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_page(0x8000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(region->accesses, 1);
	ck_assert_uint_eq(monitor->checks, 0);
}
END_TEST

START_TEST(regions_past_the_end_of_memory)
{
	begin_physical();
	physical(10, 2, 0x1000, 0x2000, 1);
	physical(11, 2, 0x2000, UINT64_MAX, 1);
	ck_assert(pdet_heat_digest(&h, false));
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_HAVE);
	ck_assert_uint_eq(find_page(0x9000, PAGEDET_HAVE), PAGEDET_EXCLUDED);
}
END_TEST

START_TEST(nobody_listens)
{
	begin();
	h.state = PAGEDET_NO_ACCESS;
	ck_assert_uint_eq(find_page(0x4000, PAGEDET_HAVE), PAGEDET_NO_ACCESS);
}
END_TEST

/* --- rows --- */

static struct pdet_batch batch;

static void make_batch(void)
{
	static const uint8_t fields[] = {
		PAGEDET_FIELD_PFN, PAGEDET_FIELD_FLAGS,
		PAGEDET_FIELD_FLAGS_KNOWN, PAGEDET_FIELD_HEAT,
		PAGEDET_FIELD_HEAT_CHECKS, PAGEDET_FIELD_HEAT_AGE,
		PAGEDET_FIELD_HEAT_BYTES, PAGEDET_FIELD_HEAT_NS,
	};
	struct pdet_fields set = { { 0, 0 } };
	size_t i;

	for (i = 0; i < sizeof(fields); i++)
		pdet_fields_add(&set, fields[i]);
	ck_assert(pdet_batch_init(&batch, &set, 4, 4096));
	pdet_batch_clear(&batch, 1);
	ck_assert_int_eq(pdet_batch_grow(&batch, 4), 0);
}

static void put_page(uint32_t row, uint64_t pfn, uint64_t flags, uint64_t known)
{
	pdet_put(&batch, row, PAGEDET_FIELD_PFN, pfn, PAGEDET_SOURCE_PROCFS);
	pdet_put(&batch, row, PAGEDET_FIELD_FLAGS, flags,
		 PAGEDET_SOURCE_PROCFS);
	pdet_put(&batch, row, PAGEDET_FIELD_FLAGS_KNOWN, known,
		 PAGEDET_SOURCE_PROCFS);
}

static void has(uint32_t row, unsigned field, uint64_t value)
{
	ck_assert_uint_eq(batch.cell[field][row],
			  PDET_CELL(PAGEDET_HAVE, PAGEDET_SOURCE_TRACE));
	ck_assert_uint_eq(batch.value[field][row], value);
}

START_TEST(rows)
{
	const uint64_t lru = PAGEDET_PF(PAGEDET_PF_LRU);
	struct pdet_fields all = pdet_fields_all();

	begin();
	h.real_ns = 1000;
	h.has_age = false;
	physical(11, 1, 0x1000, 0x3000, 3);
	ck_assert(pdet_heat_digest(&h, false));
	make_batch();
	put_page(0, 5, lru, lru);
	put_page(1, 5, 0, lru);
	put_page(2, 5, lru, 0);
	pdet_put_none(&batch, 3, PAGEDET_FIELD_PFN, PAGEDET_SOURCE_PROCFS);
	pdet_heat_put(&h, &batch, &all, 4096);
	has(0, PAGEDET_FIELD_HEAT, 3);
	has(0, PAGEDET_FIELD_HEAT_CHECKS, 10);
	has(0, PAGEDET_FIELD_HEAT_BYTES, 0x8000);
	has(0, PAGEDET_FIELD_HEAT_NS, 1011);
	ck_assert_uint_eq(pdet_batch_state(&batch, 0, PAGEDET_FIELD_HEAT_AGE),
			  PAGEDET_NO_KERNEL);
	ck_assert_uint_eq(pdet_batch_state(&batch, 1, PAGEDET_FIELD_HEAT),
			  PAGEDET_EXCLUDED);
	ck_assert_uint_eq(pdet_batch_state(&batch, 2, PAGEDET_FIELD_HEAT_NS),
			  PAGEDET_UNSUPPORTED);
	/* The other thread may monitor it. */
	ck_assert_uint_eq(pdet_batch_state(&batch, 3, PAGEDET_FIELD_HEAT),
			  PAGEDET_UNSUPPORTED);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(rows_of_which_nothing_is_known)
{
	struct pdet_fields all = pdet_fields_all();

	begin();
	h.state = PAGEDET_NO_KERNEL;
	make_batch();
	pdet_heat_put(&h, &batch, &all, 4096);
	pdet_heat_put(NULL, &batch, &all, 4096);
	ck_assert_uint_eq(pdet_batch_state(&batch, 0, PAGEDET_FIELD_HEAT),
			  PAGEDET_NOT_ASKED);
	pdet_batch_free(&batch);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("heat");

	unit_test(s, an_event);
	unit_test(s, an_event_without_age);
	unit_test(s, events_that_are_not_taken);
	unit_test(s, formats_that_are_refused);
	unit_test(s, regions_of_physical_memory);
	unit_test(s, pages_that_are_not_on_a_list);
	unit_test(s, the_last_whole_interval);
	unit_test(s, a_part_of_an_interval);
	unit_loop(s, events_lost_in_between, 2);
	unit_loop(s, events_lost_before_others_are_read, 2);
	unit_test(s, regions_of_a_process);
	unit_test(s, threads_that_nobody_names);
	unit_test(s, threads_that_are_left_out);
	unit_test(s, pages_without_a_process);
	unit_test(s, two_threads);
	unit_test(s, settings_that_are_not_in_force);
	unit_test(s, regions_past_the_end_of_memory);
	unit_test(s, nobody_listens);
	unit_test(s, rows);
	unit_test(s, rows_of_which_nothing_is_known);
	return unit_main(s);
}
