/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests finding VMCOREINFO in memory: where it is found, the progress, and what
 * is skipped.
 */
#include <elf.h>
#include <errno.h>
#include <time.h>

#include "base/vec.h"
#include "memory/find_vmcoreinfo.h"
#include "pagedet.h"
#include "../unit.h"

#define TEXT "OSRELEASE=6.12.0-found\nPAGESIZE=4096\n"
#define NOWHERE UINT64_MAX
#define FRAMES 20000
#define SAID "the headers have no VMCOREINFO: searching the first 16 GB " \
	"of memory for it; a file with it (--vmcoreinfo) avoids the search"

struct world {
	struct pdet_memory m;
	struct pdet_reader reader;
	struct pdet_env env;
	uint64_t at;		/* the frame that contains it */
	uint64_t slow;		/* reading this frame takes a second */
	uint64_t lost;		/* reading this frame fails */
	uint64_t reads;
	uint32_t text_len;	/* the length in its header */
	unsigned asked, patience; /* how often asked, and when to stop */
	unsigned n_said[PAGEDET_LOG_DEBUG + 1];
	char said[PAGEDET_LOG_DEBUG + 1][256];
};

static void keep(void *user, int level, const char *text)
{
	struct world *w = user;

	w->n_said[level]++;
	snprintf(w->said[level], sizeof(w->said[level]), "%s", text);
}

static int reader_new(struct pdet_memory *m, size_t cache_bytes,
		      struct pdet_reader **ret)
{
	struct world *w = PDET_CONTAINER(m, struct world, m);

	(void)cache_bytes;
	w->reader.memory = m;
	*ret = &w->reader;
	return 0;
}

static void reader_free(struct pdet_reader *r)
{
	(void)r;
}

static int read_phys(struct pdet_reader *r, uint64_t addr, void *buf, size_t n)
{
	struct world *w = PDET_CONTAINER(r, struct world, reader);
	char page[4096] = { 0 };
	const Elf64_Nhdr head = { 11, w->text_len, 0 };
	const struct timespec second = { 1, 0 };

	w->reads++;
	if (addr >> 12 == w->slow)
		nanosleep(&second, NULL);
	if (addr >> 12 == w->lost)
		return -EIO;
	if (addr >> 12 == w->at) {
		memcpy(page, &head, sizeof(head));
		memcpy(page + sizeof(head), "VMCOREINFO", 11);
		memcpy(page + sizeof(head) + 12, TEXT, sizeof(TEXT));
	}
	if ((addr & 4095) + n > sizeof(page))
		return -EIO;
	memcpy(buf, page + (addr & 4095), n);
	return 0;
}

static const struct pdet_memory_ops ops = {
	.name = "fake",
	.reader_new = reader_new,
	.reader_free = reader_free,
	.read_phys = read_phys,
};

static void start(struct world *w, uint64_t at)
{
	memset(w, 0, sizeof(*w));
	w->m.ops = &ops;
	w->env.root = (char *)(uintptr_t)"";
	w->env.log = keep;
	w->env.log_user = w;
	w->env.log_level = PAGEDET_LOG_DEBUG;
	w->at = at;
	w->slow = w->lost = NOWHERE;
	w->text_len = sizeof(TEXT) - 1;
	ck_assert_int_eq(pdet_memory_add_range(&w->m, 0,
					       FRAMES * 4096ull - 1), 0);
}

static void end(struct world *w)
{
	free(w->m.vmcoreinfo);
	pdet_vec_free(&w->m.ranges);
}

static void ck_found(struct world *w)
{
	ck_assert_int_eq(pdet_find_vmcoreinfo(&w->m, &w->env), 0);
	ck_assert_ptr_nonnull(w->m.vmcoreinfo);
	ck_assert_str_eq(w->m.vmcoreinfo, TEXT);
	ck_assert_str_eq(w->m.release, "6.12.0-found");
	ck_assert_uint_eq(w->n_said[PAGEDET_LOG_INFO], 1);
}

static void ck_not_found(struct world *w)
{
	ck_assert_int_eq(pdet_find_vmcoreinfo(&w->m, &w->env), 0);
	ck_assert_ptr_null(w->m.vmcoreinfo);
	ck_assert_uint_eq(w->n_said[PAGEDET_LOG_INFO], 0);
}

/* The caller learns the place if it wants to; there is no warning. */
START_TEST(it_is_said_where_it_was)
{
	struct world w;

	start(&w, 0x1234);
	ck_found(&w);
	ck_assert_str_eq(w.said[PAGEDET_LOG_INFO],
			 "VMCOREINFO found in memory at 0x1234000");
	ck_assert_uint_eq(w.n_said[PAGEDET_LOG_WARNING], 0);
	/* The search ended there. */
	ck_assert_uint_eq(w.reads, 0x1234 + 2);
	end(&w);
}
END_TEST

/* A warning comes once, explains the wait, and says how to avoid it. */
START_TEST(it_is_said_that_it_takes_long)
{
	struct world w;

	start(&w, _i ? 18000 : NOWHERE);
	w.slow = 100;
	if (_i)
		ck_found(&w);
	else
		ck_not_found(&w);
	ck_assert_uint_eq(w.n_said[PAGEDET_LOG_WARNING], 1);
	ck_assert_str_eq(w.said[PAGEDET_LOG_WARNING], SAID);
	end(&w);
}
END_TEST

START_TEST(there_is_none)
{
	struct world w;

	start(&w, NOWHERE);
	ck_not_found(&w);
	ck_assert_uint_eq(w.n_said[PAGEDET_LOG_WARNING], 0);
	ck_assert_uint_eq(w.reads, FRAMES);
	end(&w);
}
END_TEST

START_TEST(what_cannot_be_read_is_passed_by)
{
	struct world w;

	start(&w, 300);
	w.lost = 200;
	ck_found(&w);
	end(&w);
	start(&w, 300);
	w.lost = 300;
	ck_not_found(&w);
	end(&w);
}
END_TEST

/* With a valid header but a damaged text. */
START_TEST(damaged_ones)
{
	static const uint32_t lengths[] = { 0, 5000, 65537, UINT32_MAX };
	struct world w;
	size_t i;

	for (i = 0; i < PDET_COUNT(lengths); i++) {
		start(&w, 300);
		w.text_len = lengths[i];
		ck_not_found(&w);
		end(&w);
	}
}
END_TEST

static bool lost_patience(void *arg)
{
	struct world *w = arg;

	return ++w->asked > w->patience;
}

/* A caller that no longer waits ends the search soon. */
START_TEST(it_is_stopped)
{
	struct world w;

	start(&w, NOWHERE);
	w.env.stop = lost_patience;
	w.env.stop_arg = &w;
	w.patience = _i;
	ck_assert_int_eq(pdet_find_vmcoreinfo(&w.m, &w.env), -ETIMEDOUT);
	ck_assert_ptr_null(w.m.vmcoreinfo);
	ck_assert_uint_le(w.reads, (w.patience + 1) * PDET_STOP_STEPS);
	end(&w);
	/* Or not at all. */
	start(&w, 300);
	w.env.stop = lost_patience;
	w.env.stop_arg = &w;
	w.patience = UINT32_MAX;
	ck_found(&w);
	ck_assert_uint_ge(w.asked, 1);
	end(&w);
}
END_TEST

/* After this much memory the search ends. */
START_TEST(it_comes_to_an_end)
{
	struct world w;

	start(&w, NOWHERE);
	w.m.ranges.n = 0;
	ck_assert_int_eq(pdet_memory_add_range(&w.m, 0, UINT64_MAX - 1), 0);
	ck_not_found(&w);
	ck_assert_uint_eq(w.reads, 1 << 22);
	end(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("find_vmcoreinfo");

	unit_test(s, it_is_said_where_it_was);
	unit_loop(s, it_is_said_that_it_takes_long, 2);
	unit_test(s, there_is_none);
	unit_test(s, what_cannot_be_read_is_passed_by);
	unit_test(s, damaged_ones);
	unit_loop(s, it_is_stopped, 4);
	unit_test(s, it_comes_to_an_end);
	return unit_main(s);
}
