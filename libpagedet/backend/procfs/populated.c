/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds populated parts of an address space. The ioctl PAGEMAP_SCAN shows no
 * frames, but skips empty parts: 1 TiB of reserved addresses takes 17 ms
 * instead of 1.5 s. It needs no list of VMAs, which can take as long as
 * pagemap.
 *
 * bench: task
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/io.h"
#include "base/text/text.h"
#include "kernel/object/uapi.h"
#include "kernel/text/stat.h"

#define WANTED (PDET_PM_SCAN_PRESENT | PDET_PM_SCAN_SWAPPED)

/* In a search of all addresses, this many pages are scanned before the next
 * part is assumed to be as full. */
#define SAMPLE_PAGES 512

/*
 * Assume full parts if at least one page in this many is present: reading the
 * others costs less than scanning.
 */
#define FULL 8

/* Largest part assumed to be full, 128 MiB. A wrong assumption costs a tenth of
 * a millisecond. */
#define AHEAD_PAGES 32768

/*
 * The size of a task's address space, and its resident pages; false: unknown.
 */
static bool read_statm(const struct pdet_env *env, uint32_t pid,
		       uint64_t *size, uint64_t *resident)
{
	struct pdet_text text;
	struct pdet_scan scan;
	bool ok;

	if (pdet_slurp(env, &text, 4096, "/proc/%u/statm", pid) < 0)
		return false;
	scan.at = text.data;
	scan.end = text.data + text.len;
	ok = pdet_scan_dec(&scan, size) && pdet_scan_char(&scan, ' ') &&
	     pdet_scan_dec(&scan, resident);
	pdet_text_free(&text);
	return ok;
}

uint64_t procfs_task_size(struct pdet_backend *b, struct pdet_env *env,
			  uint32_t pid)
{
	uint64_t size, resident;

	(void)b;
	return read_statm(env, pid, &size, &resident) ? resident : 0;
}

int procfs_has_memory(struct pdet_session *s, uint32_t tid)
{
	uint64_t size, resident, threads;
	const char state = pdet_stat_life(&s->env, tid, &threads);

	if (!state)
		return -ESRCH;
	if (state == 'Z' || state == 'X')
		return state == 'Z' && threads > 1;
	/* In a captured tree no task ends, and files may be missing. */
	if (!procfs_of(s->backend)->live)
		return 1;
	return read_statm(&s->env, tid, &size, &resident) ? size != 0 : -ESRCH;
}

/*
 * True if most of the address space is empty. A scan before the read then pays
 * off; in a dense address space it costs a quarter more.
 */
static bool is_sparse(struct pdet_session *s, struct procfs_task *t)
{
	uint64_t size, resident;

	if (t->sparse < 0)
		t->sparse = read_statm(&s->env, t->task.thread, &size,
				       &resident) && size / 4 > resident;
	return t->sparse;
}

/* In a captured tree pagemap is a sparse file with an end. Only its data is
 * read, whatever maps contains. */
static int captured_range(struct pdet_session *s, const struct procfs_task *t,
			  uint64_t *at, uint64_t end, struct pdet_range *ret)
{
	const unsigned shift = t->p->page_shift;
	off_t data, hole;

	errno = ENXIO;
	data = t->pagemap < 0 ? -1 :
		lseek(t->pagemap, (off_t)((*at >> shift) * 8), SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return pdet_fail_errno(&s->env,
				       "cannot read task %u: cannot find data in pagemap",
				       t->task.pid);
	if (data < 0 || (uint64_t)data / 8 << shift >= end) {
		*at = end;
		return 0;
	}
	hole = lseek(t->pagemap, data, SEEK_HOLE);
	ret->first = PDET_MAX(*at, (uint64_t)data / 8 << shift);
	ret->last = end - 1;
	if (hole > 0 && (((uint64_t)hole + 7) / 8 << shift) < end)
		ret->last = (((uint64_t)hole + 7) / 8 << shift) - 1;
	*at = ret->last + 1;
	return 1;
}

/* Scan from @start on, for up to @n regions; negative errno. */
static int scan(const struct procfs_task *t, uint64_t start, uint64_t end,
		struct pdet_pm_region *ret, size_t n, uint64_t *walked)
{
	struct pdet_pm_scan arg = {
		.size = sizeof(arg),
		.start = start,
		.end = end,
		.vec = (uintptr_t)ret,
		.vec_len = n,
		.max_pages = t->whole ? SAMPLE_PAGES : 0,
		.category_anyof_mask = WANTED,
		.return_mask = WANTED,
	};
	int got = ioctl(t->pagemap, PDET_PM_SCAN, &arg);

	if (got < 0)
		return -errno;
	*walked = arg.walk_end > start ? arg.walk_end : end;
	return got;
}

/* The highest user address depends on architecture and processor. The kernel
 * refuses a larger end, so the limit is found by trying. */
int procfs_space(struct pdet_session *s, struct pdet_task *base,
		 struct pdet_range *ret)
{
	struct procfs_task *t = procfs_task_of(base);
	const uint64_t page = (uint64_t)1 << t->p->page_shift;
	struct pdet_pm_region region;
	uint64_t end, walked, word;
	unsigned bits, i;

	/* The kernel may refuse a 32-bit program the range of a 64-bit task. */
	if (sizeof(void *) < 8 || !t->p->live || t->pagemap < 0 ||
	    (t->p->scan_categories & WANTED) != WANTED)
		return 0;
	/* The task may have lost its address space before it was opened. */
	if (procfs_pagemap_words(s, t, 0, 1, &word) != 1)
		return 0;
	for (bits = 57; bits > 38; bits--)
		for (i = 0; i < 2; i++) {
			end = ((uint64_t)1 << bits) - i * page;
			if (scan(t, end - page, end, &region, 1, &walked) < 0)
				continue;
			ret->first = 0;
			ret->last = end - 1;
			t->whole = true;
			t->ahead = 0;
			return 1;
		}
	return 0;
}

/* The next part is usually dense if the regions found are close to each other
 * and were not all. Reading its entries then costs less than a scan. True if
 * @regions became one range. */
static bool go_ahead(struct procfs_task *t,
		     const struct pdet_pm_region *regions, int n, bool all,
		     uint64_t *at, uint64_t end, struct pdet_range *ret)
{
	const uint64_t most = (uint64_t)AHEAD_PAGES << t->p->page_shift;
	uint64_t found = 0, span;
	int i;

	for (i = 0; i < n; i++)
		found += regions[i].end - regions[i].start;
	span = n ? regions[n - 1].end - regions[0].start : 0;
	if (all || !n || found < span / FULL) {
		t->ahead = 0;
		return false;
	}
	t->ahead = PDET_MIN(PDET_MAX(2 * t->ahead, 4 * span), most);
	ret->first = regions[0].start;
	*at = PDET_MAX(*at, regions[n - 1].end);
	*at += PDET_MIN(t->ahead, end - *at);
	ret->last = *at - 1;
	return true;
}

static int scan_whole(struct pdet_session *s, struct procfs_task *t,
		      struct pdet_pm_region *regions, size_t max, uint64_t *at,
		      uint64_t end, struct pdet_range *ret)
{
	int got = scan(t, *at, end, regions, max, at);
	int i;

	/* -ESRCH if the address space is gone, as for pagemap. */
	if (got < 0) {
		errno = -got;
		return pdet_fail_errno(&s->env, "cannot read task %u: cannot "
				       "find its pages", t->task.pid);
	}
	if (go_ahead(t, regions, got, *at >= end, at, end, ret))
		return 1;
	for (i = 0; i < got; i++) {
		ret[i].first = regions[i].start;
		ret[i].last = regions[i].end - 1;
	}
	return got;
}

int procfs_populated(struct pdet_session *s, struct pdet_task *base,
		     uint64_t *at, uint64_t end, struct pdet_range *ret,
		     size_t max)
{
	struct procfs_task *t = procfs_task_of(base);
	struct pdet_pm_region regions[128];
	const uint64_t start = *at;
	int got, i;

	if (!t->p->live)
		return captured_range(s, t, at, end, ret);
	max = PDET_MIN(max, PDET_COUNT(regions));
	if (t->whole)
		return scan_whole(s, t, regions, max, at, end, ret);
	got = -1;
	if ((t->p->scan_categories & WANTED) == WANTED && is_sparse(s, t))
		got = scan(t, start, end, regions, max, at);
	if (got < 0) {
		/* The scan is unsupported, or failed, or is beyond the task's
		 * address space, which depends on the architecture: read
		 * everything. */
		ret[0].first = start;
		ret[0].last = end - 1;
		*at = end;
		return 1;
	}
	for (i = 0; i < got; i++) {
		ret[i].first = regions[i].start;
		ret[i].last = regions[i].end - 1;
	}
	return got;
}
