/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks that no page is dirty, under writeback or cached. cachestat(2) counts
 * such pages without touching anything. Smaller and smaller ranges find the
 * violating pages, which are whole folios within the range. With privilege
 * their flags are read as well. Before Linux 6.5 a walk of libpagedet replaces
 * cachestat. It finds only pages that are up to date as a whole.
 */
#include <errno.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "check/check.h"
#include "query/query.h"

int pdet_check_stat(const struct pdet_checked *c, uint64_t first, uint64_t n,
		    struct pdet_cachestat *ret)
{
	return pdet_cachestat(c->fd, first << c->shift, n << c->shift, ret);
}

/*
 * A device has blocks of any size that its filesystem chooses. statfs(2) does
 * not say how large blocks are: FAT and exFAT give the size of a cluster there.
 * NFS keeps written bytes of a page without reading the others (fs/nfs/file.c,
 * nfs_write_begin()).
 */
bool pdet_check_is_whole(const struct pdet_checked *c)
{
	int size = 0;

	return !c->block && !pdet_check_is_remote(c) &&
	       ioctl(c->fd, FIGETBSZ, &size) == 0 && size > 0 &&
	       (unsigned)size >> c->shift;
}

void pdet_check_uncounted(struct pdet_checked *c, int r)
{
	const uint64_t n = c->end - c->first;

	if (r == -EPERM || r == -EACCES)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_ACCESS,
			       c->first, n, "the kernel counts cached pages "
					    "only for the owner of the file "
					    "and for those who may write it");
	else
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_KERNEL,
			       c->first, n, "the kernel does not count the "
			       "pages of this file (cachestat): %s",
			       strerror(-r));
}

/* Which pages violate the assertion, and how the counts show them. */
struct wanted {
	uint64_t (*bad)(const struct pdet_cachestat *cs);
	unsigned cause;		/* the cause if all are alike */
	bool both;		/* dirty and writeback are separate causes */
};

static uint64_t not_clean(const struct pdet_cachestat *cs)
{
	return cs->dirty + cs->writeback;
}

static uint64_t cached(const struct pdet_cachestat *cs)
{
	return cs->cached;
}

/* The whole range is violated, with one cause. */
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

/* --- page by page --- */

/*
 * Opens rows of pages of the file, with their flags. The walk finds opened
 * files by name.
 */
static int open_walk(struct pdet_checked *c, uint64_t first, uint64_t n,
		     struct pdet_iter **ret)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item item = { first, n, 0, 0 };
	struct pdet_iter_args args = { .env = c->env, .query = &q };
	char path[40];

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
	return pdet_iter_new(&args, ret);
}

/* Returns false if it cannot be read. */
static bool flags_of(const struct pdet_batch *b, uint32_t row, uint64_t *ret)
{
	*ret = b->value[PAGEDET_FIELD_FLAGS][row];
	return PAGEDET_CELL_STATE(b->cell[PAGEDET_FIELD_FLAGS][row]) ==
	       PAGEDET_HAVE;
}

static bool is_any_dirty(const struct pdet_batch *b)
{
	const uint64_t bad = 1ull << PAGEDET_PF_DIRTY |
			     1ull << PAGEDET_PF_WRITEBACK;
	uint64_t flags;
	uint32_t i;

	for (i = 0; i < b->n; i++)
		if (!flags_of(b, i, &flags) || flags & bad)
			return true;
	return false;
}

/*
 * The kernel counts marks in its page index. A filesystem may have had nothing
 * to write for a dirty page, for example past the end of a truncated file. Then
 * the page is clean, but the mark stays. Returns false also if this cannot be
 * seen for lack of privilege.
 */
static bool is_stale(struct pdet_checked *c, uint64_t first, uint64_t n)
{
	struct pdet_cover cover;
	struct pdet_iter *it;
	struct pdet_batch *b;
	bool clean = true, any = false;
	int r;

	if (open_walk(c, first, n, &it) < 0)
		return false;
	while (clean && (r = pdet_iter_step(it, &b)) > 0) {
		any |= b->n;
		clean = !is_any_dirty(b);
	}
	pdet_iter_cover(it, &cover);
	pdet_iter_free(it);
	return clean && any && r == 0 && !cover.partial;
}

static void look_at(struct pdet_checked *c, const struct wanted *w,
		    const struct pdet_batch *b, uint32_t row)
{
	const uint64_t index = b->value[PAGEDET_FIELD_INDEX][row];
	struct pdet_cachestat cs = { .cached = 1 };
	uint64_t flags;
	const bool told = flags_of(b, row, &flags);

	cs.dirty = flags >> PAGEDET_PF_DIRTY & 1;
	cs.writeback = flags >> PAGEDET_PF_WRITEBACK & 1;
	c->whole.looked_at++;
	if (w->both && !told)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_ACCESS,
			       index, 1, "the flags of the page cannot be "
			       "read");
	else if (w->bad(&cs))
		add(c, w, &cs, index, 1);
}

/* Pages from @first to before @end have no row: none of them may be cached. */
static void skip(struct pdet_checked *c, uint64_t first, uint64_t end)
{
	if (first < end && !pdet_check_is_whole(c))
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_KERNEL,
			       first, end - first, PDET_CHECK_PART);
}

/* The check without cachestat. */
static int walk(struct pdet_checked *c, const struct wanted *w)
{
	uint64_t at = c->first;
	struct pdet_cover cover;
	struct pdet_batch *b;
	struct pdet_iter *it;
	uint32_t i;
	int r;

	r = open_walk(c, c->first, c->end - c->first, &it);
	if (r < 0)
		return r;
	while ((r = pdet_iter_step(it, &b)) > 0)
		for (i = 0; i < b->n; i++) {
			skip(c, at, b->value[PAGEDET_FIELD_INDEX][i]);
			at = b->value[PAGEDET_FIELD_INDEX][i] + 1;
			look_at(c, w, b, i);
		}
	skip(c, at, c->end);
	pdet_iter_cover(it, &cover);
	if (r == 0 && cover.partial)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_UNKNOWN,
			       c->first, c->end - c->first,
			       "not all of it could be read");
	pdet_iter_free(it);
	return r;
}

/* --- the check with cachestat --- */

/* If there are more doubtful ranges than this, the count is believed. */
#define MAX_DOUBTS 256

struct naming {
	struct pdet_checked *c;
	const struct wanted *w;
	unsigned doubts;
	uint64_t stale;		/* clean pages with a mark */
};

static void name_range(struct naming *s, const struct pdet_cachestat *cs,
		       uint64_t first, uint64_t n)
{
	if (s->w->both && !cs->writeback && s->doubts < MAX_DOUBTS) {
		s->doubts++;
		if (is_stale(s->c, first, n)) {
			s->stale += n;
			return;
		}
	}
	add(s->c, s->w, cs, first, n);
}

/* Halves the range until all of it is alike. Returns 1 if the deadline came. */
static int name(struct naming *s, uint64_t first, uint64_t n)
{
	struct pdet_cachestat cs;
	int r = pdet_check_stat(s->c, first, n, &cs);

	if (r < 0 || !s->w->bad(&cs))
		return r;
	if (is_alike(s->w, &cs, n)) {
		name_range(s, &cs, first, n);
		return 0;
	}
	if (pdet_check_late(s->c, first))
		return 1;
	r = name(s, first, n / 2);
	return r ? r : name(s, first + n / 2, n - n / 2);
}

static int count(struct pdet_checked *c, const struct wanted *w)
{
	const uint64_t n = c->end - c->first;
	struct naming names = { .c = c, .w = w };
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
	r = name(&names, c->first, n);
	if (r < 0)
		return r;
	if (names.stale)
		pdet_check_say(c, "%llu page%s marked as dirty in the index of "
			       "the file, but not dirty",
			       (unsigned long long)names.stale,
			       names.stale == 1 ? " is" : "s are");
	else if (c->whole.verdict == PAGEDET_HOLDS)
		pdet_check_add(c, PAGEDET_VIOLATED, w->both && !cs.dirty ?
			       PAGEDET_CAUSE_WRITEBACK : w->cause, c->first, n,
			       "%llu of these pages %s so when the pages were "
			       "counted, but not when they were listed",
			       (unsigned long long)bad,
			       bad == 1 ? "was" : "were");
	return 0;
}

/* Filesystems whose files have their pages elsewhere, or have no disk. */
static bool is_meaningless(struct pdet_checked *c, bool needs_disk)
{
	const char *why;

	if (c->block)
		return false;
	switch (c->magic) {
	case OVERLAYFS_SUPER_MAGIC:
		why = "a file of overlayfs has its pages in the file below it";
		break;
	case FUSE_SUPER_MAGIC:
		why = "a file of fuse may have its pages in another file";
		break;
	case HUGETLBFS_MAGIC:
		why = "hugetlbfs does not say what is cached";
		break;
	default:
		return needs_disk && pdet_check_diskless(c);
	}
	pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_FILESYSTEM,
		       c->first, c->end - c->first, "%s", why);
	return true;
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
		pdet_check_say(c, "only pages are checked: buffers that a "
				  "journal holds back are not dirty pages");
	return r;
}

int pdet_check_absent(struct pdet_checked *c)
{
	static const struct wanted wanted = { cached, PAGEDET_CAUSE_CACHED,
					      false };

	return run(c, &wanted);
}
