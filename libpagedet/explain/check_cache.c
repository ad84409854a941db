/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is counted: no page dirty, under writeback, or cached. cachestat(2)
 * counts without touching anything; it is asked for smaller and smaller ranges
 * to name the offenders, which are whole folios as far as they lie in the
 * range. Before 6.5 the walk of the library stands in for it.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>

#include "explain/check.h"
#include "query/query.h"

int pdet_check_stat(const struct pdet_checked *c, uint64_t first, uint64_t n,
		    struct pdet_cachestat *ret)
{
	return pdet_cachestat(c->fd, first << c->shift, n << c->shift, ret);
}

void pdet_check_uncounted(struct pdet_checked *c, int r)
{
	const uint64_t n = c->end - c->first;

	if (r == -EPERM || r == -EACCES)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_ACCESS,
			       c->first, n, "the kernel tells it only to those "
			       "who own the file or may write it");
	else
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_KERNEL,
			       c->first, n, "the kernel does not count the "
			       "pages of this file (cachestat): %s",
			       strerror(-r));
}

/* Which pages are offenders, and what of all that is counted they are. */
struct wanted {
	uint64_t (*bad)(const struct pdet_cachestat *cs);
	unsigned cause;		/* of those that are all alike */
	bool both;		/* dirty and writeback are told apart */
};

static uint64_t not_clean(const struct pdet_cachestat *cs)
{
	return cs->dirty + cs->writeback;
}

static uint64_t cached(const struct pdet_cachestat *cs)
{
	return cs->cached;
}

/* All of it is so, for one reason. */
static bool is_alike(const struct wanted *w, const struct pdet_cachestat *cs,
		     uint64_t n)
{
	if (n == 1)
		return true;
	if (!w->both)
		return cs->cached == n;
	return (cs->dirty == n && !cs->writeback) || cs->writeback == n;
}

static void add(struct pdet_checked *c, const struct wanted *w,
		const struct pdet_cachestat *cs, uint64_t first, uint64_t n)
{
	if (!w->both)
		pdet_check_add(c, PAGEDET_VIOLATED, w->cause, first, n,
			       "cached");
	else if (cs->writeback)
		pdet_check_add(c, PAGEDET_VIOLATED, PAGEDET_CAUSE_WRITEBACK,
			       first, n, cs->dirty ?
			       "under writeback, and dirty again" :
			       "under writeback");
	else
		pdet_check_add(c, PAGEDET_VIOLATED, PAGEDET_CAUSE_DIRTY, first,
			       n, "dirty");
}

/* Halves the range until all of it is alike. 1: the deadline came. */
static int name(struct pdet_checked *c, const struct wanted *w, uint64_t first,
		uint64_t n)
{
	struct pdet_cachestat cs;
	int r = pdet_check_stat(c, first, n, &cs);

	if (r < 0 || !w->bad(&cs))
		return r;
	if (is_alike(w, &cs, n)) {
		add(c, w, &cs, first, n);
		return 0;
	}
	if (pdet_check_late(c, first))
		return 1;
	r = name(c, w, first, n / 2);
	return r ? r : name(c, w, first + n / 2, n - n / 2);
}

static int count(struct pdet_checked *c, const struct wanted *w)
{
	const uint64_t n = c->end - c->first;
	struct pdet_cachestat cs;
	uint64_t bad;
	int r;

	r = pdet_check_stat(c, c->first, n, &cs);
	if (r < 0)
		return r;
	c->whole.looked_at = cs.cached;
	bad = w->bad(&cs);
	if (!bad)
		return 0;
	r = name(c, w, c->first, n);
	if (r < 0)
		return r;
	if (c->whole.verdict == PAGEDET_HOLDS)
		pdet_check_add(c, PAGEDET_VIOLATED, w->both && !cs.dirty ?
			       PAGEDET_CAUSE_WRITEBACK : w->cause, c->first, n,
			       "%llu of these pages were so; not any more when "
			       "they were to be named",
			       (unsigned long long)bad);
	return 0;
}

/* --- without cachestat --- */

static void look_at(struct pdet_checked *c, const struct wanted *w,
		    const struct pdet_batch *b, uint32_t row)
{
	const uint64_t index = b->value[PAGEDET_FIELD_INDEX][row];
	const uint64_t flags = b->value[PAGEDET_FIELD_FLAGS][row];
	struct pdet_cachestat cs = {
		.cached = 1,
		.dirty = flags >> PAGEDET_PF_DIRTY & 1,
		.writeback = flags >> PAGEDET_PF_WRITEBACK & 1,
	};

	c->whole.looked_at++;
	if (w->both && PAGEDET_CELL_STATE(b->cell[PAGEDET_FIELD_FLAGS][row]) !=
	    PAGEDET_HAVE)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_ACCESS,
			       index, 1, "the flags of the page cannot be "
			       "read");
	else if (w->bad(&cs))
		add(c, w, &cs, index, 1);
}

/* Names of opened files are looked up by the walk. */
static int walk(struct pdet_checked *c, const struct wanted *w)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item item = { c->first, c->end - c->first, 0, 0 };
	struct pdet_iter_args args = { .env = c->env, .query = &q };
	struct pdet_cover cover;
	struct pdet_batch *b;
	struct pdet_iter *it;
	char path[40];
	uint32_t i;
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	q.target = c->block ? PAGEDET_TARGET_BLOCK : PAGEDET_TARGET_FILE;
	q.path = path;
	q.items = &item;
	q.n_items = 1;
	if (c->check->deadline_ns)
		q.deadline_ns = c->check->deadline_ns;
	args.backends = c->args->backends;
	args.n_backends = c->args->n_backends;
	args.sources = c->args->sources;
	args.page_size = c->args->page_size;
	pdet_fields_add(&args.fields, PAGEDET_FIELD_INDEX);
	pdet_fields_add(&args.fields, PAGEDET_FIELD_FLAGS);
	r = pdet_iter_new(&args, &it);
	if (r < 0)
		return r;
	while ((r = pdet_iter_step(it, &b)) > 0)
		for (i = 0; i < b->n; i++)
			look_at(c, w, b, i);
	pdet_iter_cover(it, &cover);
	if (r == 0 && cover.partial)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_UNKNOWN,
			       c->first, c->end - c->first,
			       "not all of it could be looked at");
	pdet_iter_free(it);
	return r;
}

/* Filesystems whose files have their pages elsewhere, or have no disk. */
static bool is_meaningless(struct pdet_checked *c, bool needs_disk)
{
	const char *why = NULL;

	if (c->block)
		return false;
	switch (c->magic) {
	case OVERLAYFS_SUPER_MAGIC:
		why = "a file of overlayfs has its pages in the file below it";
		break;
	case FUSE_SUPER_MAGIC:
		why = "a file of fuse may have its pages in another one";
		break;
	case HUGETLBFS_MAGIC:
		why = "hugetlbfs does not tell what is cached";
		break;
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		if (needs_disk)
			why = "the filesystem has no disk";
		break;
	default:
		break;
	}
	if (why)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_FILESYSTEM,
			       c->first, c->end - c->first, "%s", why);
	return why;
}

static int run(struct pdet_checked *c, const struct wanted *w)
{
	int r;

	if (is_meaningless(c, w->both) || c->first == c->end)
		return 0;
	r = count(c, w);
	if (r == -ENOSYS)
		return walk(c, w);
	if (r < 0)
		pdet_check_uncounted(c, r);
	return 0;
}

int pdet_check_clean(struct pdet_checked *c)
{
	static const struct wanted wanted = { not_clean, PAGEDET_CAUSE_DIRTY,
					      true };
	int r = run(c, &wanted);

	if (c->block)
		pdet_check_say(c, "as far as pages go: buffers that a journal "
			       "holds back are not dirty pages");
	return r;
}

int pdet_check_absent(struct pdet_checked *c)
{
	static const struct wanted wanted = { cached, PAGEDET_CAUSE_CACHED,
					      false };

	return run(c, &wanted);
}
