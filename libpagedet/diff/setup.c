/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Prepares the comparison of two queries: how their rows are matched, and which
 * fields have the same meaning on both sides.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "diff/diff.h"
#include "snapshot/read.h"

#define F(name) PAGEDET_FIELD_##name

/* The query of a side, made now or saved. */
struct asked {
	uint32_t target;
	const struct pagedet_item *items;
	uint64_t n_items, n_kept;
	const char *path;
	const char *where[2];	/* the filter, and that of a later query */
	uint64_t limit;
};

static void ask(const struct pdet_iter *it, struct asked *a)
{
	const struct pdet_snapshot_about *about;

	memset(a, 0, sizeof(*a));
	a->target = it->rows_of;
	a->where[0] = it->q.where;
	a->limit = it->q.limit;
	if (!it->saved || it->q.target != PAGEDET_TARGET_SCAN) {
		a->items = it->q.items;
		a->n_items = a->n_kept = it->q.n_items;
		a->path = it->q.path;
		return;
	}
	about = pdet_snapshot_about(it->saved);
	a->items = about->items;
	a->n_items = about->n_items;
	a->n_kept = about->n_kept;
	a->path = about->path;
	if (!about->where)
		return;
	a->where[0] = about->where;
	a->where[1] = it->q.where;
}

static uint32_t by_of(uint32_t target)
{
	switch (target) {
	case PAGEDET_TARGET_SCAN: case PAGEDET_TARGET_CGROUP:
	case PAGEDET_TARGET_PFN: case PAGEDET_TARGET_PHYS:
		return PAGEDET_DIFF_BY_PFN;
	case PAGEDET_TARGET_TASK: case PAGEDET_TARGET_VIRT:
		return PAGEDET_DIFF_BY_ADDRESS;
	case PAGEDET_TARGET_FILE: case PAGEDET_TARGET_BLOCK:
	case PAGEDET_TARGET_TREE: case PAGEDET_TARGET_MOUNT:
		return PAGEDET_DIFF_BY_FILE;
	default:
		return 0;
	}
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Whether the whole query is about one task or one file. */
static bool is_single(const struct asked *a, uint32_t by)
{
	uint64_t i;

	if (by == PAGEDET_DIFF_BY_FILE)
		return a->target == PAGEDET_TARGET_FILE ||
		       a->target == PAGEDET_TARGET_BLOCK;
	if (by != PAGEDET_DIFF_BY_ADDRESS || a->n_kept < a->n_items)
		return false;
	for (i = 1; i < a->n_items; i++)
		if (a->items[i].pid != a->items[0].pid)
			return false;
	return true;
}

/*
 * Whether each side asked for all places of the other one. If so, a place that
 * is missing does not exist.
 */
static bool same_places(const struct asked *a, const struct asked *b,
			bool single)
{
	uint64_t i;

	if (a->target != b->target || a->n_items != b->n_items ||
	    a->n_kept != a->n_items || b->n_kept != b->n_items ||
	    a->limit || b->limit || !same_text(a->where[0], b->where[0]) ||
	    !same_text(a->where[1], b->where[1]) ||
	    (!single && !same_text(a->path, b->path)))
		return false;
	for (i = 0; i < a->n_items; i++)
		if (a->items[i].first != b->items[i].first ||
		    a->items[i].count != b->items[i].count ||
		    (!single && a->items[i].pid != b->items[i].pid))
			return false;
	return true;
}

/* The query leaves out none of its target. */
static bool is_whole(const struct asked *a)
{
	uint64_t i;

	for (i = 0; i < a->n_kept; i++)
		if (a->items[i].first || a->items[i].count != PAGEDET_TO_END)
			return false;
	return a->n_kept == a->n_items && !a->where[0] && !a->where[1] &&
	       !a->limit &&
	       (a->target == PAGEDET_TARGET_SCAN ||
		a->target == PAGEDET_TARGET_TASK);
}

/* --- origin of the memory --- */

static int cannot(const struct pdet_diff *d, const char *why,
		  const char *advice)
{
	const int r = pdet_fail(d->env, ENODATA, "cannot compare these: %s",
				why);

	if (advice)
		pdet_advise(d->env, "%s", advice);
	return r;
}

static bool both_and_differ(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b);
}

static int check_kernels(struct pdet_diff *d, const struct pdet_diff_args *args)
{
	const struct pdet_kernel_info *a = args->info[0], *b = args->info[1];
	const bool known = *a->boot_id && *b->boot_id;

	if (args->it[0]->page_size != args->it[1]->page_size)
		return cannot(d, "their pages are of different sizes", NULL);
	if (both_and_differ(a->arch, b->arch))
		return cannot(d, "they are of different architectures", NULL);
	d->same_boot = !both_and_differ(a->boot_id, b->boot_id) &&
		       !both_and_differ(a->release, b->release);
	if (!d->same_boot)
		d->notes |= PAGEDET_DIFF_OTHER_BOOT;
	else if (!known)
		d->notes |= PAGEDET_DIFF_UNKNOWN_BOOT;
	if (d->same_boot || d->by == PAGEDET_DIFF_BY_ADDRESS ||
	    (d->by == PAGEDET_DIFF_BY_FILE && d->side[0].whole_path))
		return 0;
	return cannot(d, d->by == PAGEDET_DIFF_BY_PFN ?
		      "they are of different boots, so their frames cannot be "
		      "matched" :
		      "they are of different boots, so their inodes cannot be "
		      "matched",
		      "needs rows of one task or one file on each side, which "
		      "are compared by address or offset");
}

/* --- columns --- */

static void never(struct pdet_diff *d, unsigned f, unsigned why)
{
	pdet_fields_add(&d->never, f);
	d->never_why[f] = (uint8_t)why;
}

/* Fields that describe the row and not the page. */
static bool is_about_row(unsigned f)
{
	return f == F(ASK) || f == F(PAGES) || f == F(TIME_NS) ||
	       f == F(NOTES) || f == F(AT) || f == F(REPORT) ||
	       f == F(FLAGS_KNOWN) || f == F(PTE_KNOWN) ||
	       f == F(MAPCOUNT_KIND) || f == F(MAP);
}

static bool is_place(const struct pdet_diff *d, unsigned f)
{
	switch (d->by) {
	case PAGEDET_DIFF_BY_PFN:
		return f == F(PFN);
	case PAGEDET_DIFF_BY_ADDRESS:
		return f == F(VADDR) || f == F(PID);
	default:
		return f == F(INDEX) || f == F(DEV) || f == F(INODE);
	}
}

/* Numbers that are assigned anew by each boot or host. */
static bool is_of_boot(unsigned f)
{
	return f == F(PFN) || f == F(HEAD_PFN) || f == F(MEMCG_INO) ||
	       f == F(DEV) || f == F(INODE) || f == F(TGID) ||
	       f == F(ALLOC_NS) || f == F(FREE_NS) || f == F(ALLOC_PID) ||
	       f == F(ALLOC_TGID) || f == F(RAW_FLAGS) || f == F(SWAP_TYPE) ||
	       f == F(SWAP_OFFSET);
}

static void choose(struct pdet_diff *d, const struct pdet_diff_args *args)
{
	const struct pdet_plan *a = &args->it[0]->plan, *b = &args->it[1]->plan;
	struct pdet_fields wanted;
	unsigned f, i;

	for (i = 0; i < 2; i++) {
		d->columns.bits[i] = a->columns.bits[i] & b->columns.bits[i];
		wanted.bits[i] = a->wanted.bits[i] & b->wanted.bits[i];
	}
	pdet_fields_for(f, &wanted) {
		if (is_about_row(f) || is_place(d, f))
			continue;
		if (a->why[f] != PAGEDET_HAVE || b->why[f] != PAGEDET_HAVE)
			never(d, f, a->why[f] != PAGEDET_HAVE ? a->why[f] :
								b->why[f]);
		else if (!pdet_fields_has(&d->columns, f))
			never(d, f, PAGEDET_UNSUPPORTED);
		else if (!d->same_boot && is_of_boot(f))
			never(d, f, PAGEDET_UNSUPPORTED);
		else if (f == F(HASH) && args->other_key)
			never(d, f, PAGEDET_UNSUPPORTED);
		else
			pdet_fields_add(&d->compare, f);
	}
	if (args->other_key)
		d->notes |= PAGEDET_DIFF_OTHER_KEY;
}

/* The sources of a field, PAGEDET_SOURCE_BIT()s. */
static uint32_t sources_of(const struct pdet_iter *it, unsigned f)
{
	uint32_t sources = 0;
	unsigned i;

	if (it->saved)
		return pdet_snapshot_about(it->saved)->field[f].sources;
	for (i = 0; i < it->plan.n_steps; i++)
		if (pdet_fields_has(&it->plan.steps[i].fields, f))
			sources |= PAGEDET_SOURCE_BIT(it->plan.steps[i].source);
	return sources;
}

/*
 * A source always counts the mappings of a kernel in the same way. If rows were
 * saved twice, their source is not known.
 */
static bool same_counts(const struct pdet_diff *d,
			const struct pdet_diff_args *args)
{
	const uint32_t source = sources_of(args->it[0], F(MAPCOUNT));

	return d->same_boot && source && !(source & (source - 1)) &&
	       source != PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT) &&
	       source == sources_of(args->it[1], F(MAPCOUNT));
}

/*
 * Checks that the fields of a place are present. For one task or file only the
 * first field is needed.
 */
static int check_places(struct pdet_diff *d)
{
	static const unsigned pfn[] = { F(PFN), 0 };
	static const unsigned address[] = { F(VADDR), F(PID), 0 };
	static const unsigned file[] = { F(INDEX), F(DEV), F(INODE), 0 };
	const unsigned *f = d->by == PAGEDET_DIFF_BY_PFN ? pfn :
			    d->by == PAGEDET_DIFF_BY_ADDRESS ? address : file;
	char why[128];

	for (; *f; f++) {
		if (pdet_fields_has(&d->columns, *f) ||
		    (d->side[0].whole_path && f[0] != F(VADDR) &&
		     f[0] != F(INDEX)))
			continue;
		snprintf(why, sizeof(why), "their rows have no %s, which is "
			 "needed to match them", pdet_field_info(*f)->name);
		cannot(d, why, NULL);
		pdet_advise(d->env, "add it to the fields when you save or "
			    "ask");
		return -ENODATA;
	}
	return 0;
}

/*
 * Decides what can identify a page at another place. @whole: all pages with the
 * same sign are seen.
 */
static int prepare_join(struct pdet_diff *d, bool whole)
{
	const bool file = pdet_fields_has(&d->compare, F(INODE)) &&
			  pdet_fields_has(&d->compare, F(DEV)) &&
			  pdet_fields_has(&d->compare, F(INDEX));
	unsigned watched = d->by == PAGEDET_DIFF_BY_PFN ? F(HASH) : F(PFN);
	unsigned i;

	d->by_hash = d->by == PAGEDET_DIFF_BY_PFN && whole &&
		     pdet_fields_has(&d->compare, F(HASH)) &&
		     pdet_fields_has(&d->compare, F(CONTENT));
	d->join = d->by == PAGEDET_DIFF_BY_PFN ? file || d->by_hash :
		  d->by == PAGEDET_DIFF_BY_ADDRESS && whole &&
		  pdet_fields_has(&d->compare, F(PFN));
	if (!d->join || (d->by == PAGEDET_DIFF_BY_PFN && !d->by_hash))
		return 0;
	for (i = 0; i < 2; i++) {
		d->side[i].watched = watched;
		if (!pdet_seen_init(&d->side[i].seen,
				    d->side[i].it->walk->total))
			return pdet_fail(d->env, ENOMEM, "no memory");
	}
	return 0;
}

int pdet_diff_prepare(struct pdet_diff *d, const struct pdet_diff_args *args)
{
	struct asked asked[2];
	bool single;
	unsigned i;
	int r;

	for (i = 0; i < 2; i++) {
		const struct pdet_iter *it = args->it[i];

		ask(it, &asked[i]);
		if (it->q.grouped || it->q.options & PAGEDET_Q_RUNS || it->rows)
			return pdet_fail(d->env, EINVAL, "only rows that were "
					 "not read yet can be compared, not "
					 "groups or runs");
	}
	d->by = by_of(asked[0].target);
	if (!d->by || by_of(asked[1].target) != d->by)
		return pdet_fail(d->env, EINVAL, "the rows of these two "
				 "queries are about different kinds of places");
	single = is_single(&asked[0], d->by) && is_single(&asked[1], d->by);
	for (i = 0; i < 2; i++) {
		struct pdet_diff_side *s = &d->side[i];

		s->it = args->it[i];
		s->by = d->by;
		s->whole_path = single;
		s->max_rows = args->max_rows;
		s->gathered = asked[i].target != PAGEDET_TARGET_SCAN &&
			      asked[i].target != PAGEDET_TARGET_CGROUP;
	}
	r = check_kernels(d, args);
	if (r < 0)
		return r;
	choose(d, args);
	d->same_counts = same_counts(d, args);
	d->told_apart = same_places(&asked[0], &asked[1], single);
	if (!d->told_apart)
		d->notes |= PAGEDET_DIFF_OTHER_PLACES;
	for (i = 0; i < 2; i++)
		d->side[i].columns = d->columns;
	r = check_places(d);
	if (r == 0)
		r = prepare_join(d, is_whole(&asked[0]) && is_whole(&asked[1]));
	/* String ids must belong to the rows that the difference delivers. */
	for (i = 0; i < 2 && r == 0; i++)
		args->it[i]->q.options &= ~(uint32_t)PAGEDET_Q_KEEP_STRINGS;
	return r;
}
