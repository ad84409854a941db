/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Loads the records of a file into a table by page frame number. A text can
 * only be read from its start, so it is read once, when a page is first asked
 * for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/page_owner/ownertext.h"
#include "backend/text_kind.h"
#include "base/text/plural.h"
#include "base/text/quote.h"
#include "kernel/owner/blocks.h"

/* Limit of names, of which few differ. */
#define TEXT_BYTES ((size_t)64 << 20)

void pdet_ownertext_unload(struct ownertext *o)
{
	pdet_vec_free(&o->table.list);
	o->table.has_gap = o->table.gap_first = o->table.shuffled = false;
	if (o->loaded)
		pdet_strtab_free(&o->table.texts);
	o->loaded = false;
}

/* 0 if there is no room. */
static uint32_t text_id(struct ownertext *o, const struct pdet_scan *s)
{
	return (uint32_t)pdet_strtab_add(&o->table.texts, s->at,
					 (size_t)(s->end - s->at));
}

static bool add(struct ownertext *o, const struct pdet_owner_record *r)
{
	struct ownertext_entry e = {
		.pfn = r->pfn, .ns = r->ns, .free_ns = r->free_ns,
		.gfp_mask = r->gfp_mask, .pid = r->pid, .tgid = r->tgid,
		.has = (uint16_t)r->has, .order = (uint8_t)r->order,
	};
	int64_t stack = pdet_ownertext_stack(o, &o->stacks, &r->stack);

	e.comm = text_id(o, &r->comm);
	e.gfp = text_id(o, &r->gfp);
	e.type = text_id(o, &r->block_type);
	e.mobility = text_id(o, &r->type);
	e.reason = text_id(o, &r->reason);
	e.memcg = text_id(o, &r->memcg);
	e.flags = text_id(o, &r->flags);
	e.stack = (uint32_t)stack;
	return stack >= 0 && e.comm && e.gfp && e.type && e.mobility &&
	       e.reason && e.memcg && e.flags &&
	       pdet_vec_push(&o->table.list, e);
}

struct reading {
	uint64_t damaged, without_pfn;
	bool has_log;		/* lines of a kernel log are in between */
};

/* Record that records are missing after the last one read. */
static void note_gap(struct ownertext_table *t)
{
	t->has_gap = true;
	if (t->list.n)
		t->list.data[t->list.n - 1].gap = true;
	else
		t->gap_first = true;
}

/* Add the complete records of a block. False if memory is short. */
static bool add_block(struct ownertext *o, struct pdet_scan text, bool last,
		      struct reading *reading)
{
	const struct pdet_scan all = text;
	const uint64_t damaged = reading->damaged;
	struct pdet_owner_record r;
	enum pdet_owner_is is;

	while ((is = pdet_owner_next(&text, last, 0, &r)) != PDET_OWNER_END) {
		if (is == PDET_OWNER_DAMAGED) {
			reading->damaged++;
			note_gap(&o->table);
		} else if (r.has & PDET_OWNER_STACK_ONLY) {
			reading->without_pfn++;
		} else if (!add(o, &r)) {
			return false;
		}
	}
	if (reading->damaged > damaged && !reading->has_log)
		reading->has_log = pdet_text_has_log(all.at, (size_t)
						     (all.end - all.at));
	return true;
}

/* By pfn; of several records for one page, the newest comes last. */
static int compare(const void *pa, const void *pb)
{
	const struct ownertext_entry *a = pa, *b = pb;

	if (a->pfn != b->pfn)
		return a->pfn < b->pfn ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The kernel writes them in order, so sorting is rarely needed. */
static void sort(struct ownertext_table *t)
{
	size_t i, n = 0;
	bool sorted = true;

	for (i = 1; i < t->list.n && sorted; i++)
		sorted = t->list.data[i - 1].pfn < t->list.data[i].pfn;
	if (sorted)
		return;
	t->shuffled = true;
	qsort(t->list.data, t->list.n, sizeof(*t->list.data), compare);
	/*
	 * A file of several texts has several records for a page; keep the
	 * last.
	 */
	for (i = 0; i < t->list.n; i++) {
		if (n && t->list.data[n - 1].pfn == t->list.data[i].pfn)
			n--;
		t->list.data[n++] = t->list.data[i];
	}
	t->list.n = n;
}

static int read_all(struct ownertext *o, struct pdet_env *env,
		    struct pdet_text_stream *stream, struct reading *reading)
{
	struct pdet_owner_blocks blocks;
	struct pdet_scan head;
	char *buf;
	ssize_t n;
	int r;

	r = pdet_owner_blocks_begin(&blocks, stream, env, &head);
	if (r < 0)
		return r;
	buf = malloc(PDET_OWNER_BLOCK);
	if (!buf)
		return pdet_fail(env, ENOMEM, "no memory");
	while ((n = pdet_owner_blocks_read(&blocks, env, buf)) > 0) {
		struct pdet_scan text = { buf, buf };

		text.end += pdet_owner_blocks_plain(&blocks, buf, (size_t)n);

		if (!add_block(o, text, pdet_text_stream_ended(stream),
			       reading)) {
			n = pdet_fail(env, ENOMEM, "cannot keep the records "
				      "of %s: no memory",
				      pdet_text_stream_name(stream));
			break;
		}
	}
	free(buf);
	return (int)n;
}

/* Use the valid part of a damaged text. */
static int judge(struct ownertext *o, struct pdet_env *env,
		 const char *name, const struct reading *reading, int r)
{
	char quoted[PDET_QUOTED];

	if (r == -ENOMEM || (r < 0 && !o->table.list.n))
		return r;
	if (r < 0) {
		pdet_log(env, PAGEDET_LOG_WARNING, "%s", env->error);
		note_gap(&o->table);
	}
	pdet_clear(env);
	if (reading->damaged && o->table.list.n)
		pdet_log(env, PAGEDET_LOG_WARNING, "%s: %llu piece%s of it %s "
			 "not a complete record", name,
			 (unsigned long long)reading->damaged,
			 pdet_plural(reading->damaged),
			 pdet_is_or_are(reading->damaged));
	if (reading->has_log && o->table.list.n)
		pdet_text_tell_log(env, name);
	if (o->table.list.n)
		return 0;
	if (!reading->without_pfn)
		return pdet_fail(env, EBADMSG, "cannot read %s: there is no "
				 "record of page_owner in it", name);
	pdet_fail(env, ENOTSUP, "cannot find pages in %s: it says nothing "
		  "about single pages", name);
	pdet_advise(env, "to summarize it: pagedet owners %s", *name == '-' ?
		    "FILE" : pdet_quoted(name, "FILE", quoted,
					 sizeof(quoted)));
	return -ENOTSUP;
}

int pdet_ownertext_load(struct ownertext *o, struct pdet_env *env)
{
	struct reading reading = { .damaged = 0 };
	struct pdet_text_stream *stream;
	struct pdet_owners_text text;
	int r;

	if (o->loaded)
		return 0;
	r = o->backend.ops->owners(&o->backend, env, &text);
	if (r == 0)
		r = pdet_text_stream_open(env, text.path, &stream);
	if (r < 0)
		return r;
	pdet_strtab_init(&o->table.texts, 1, TEXT_BYTES);
	o->loaded = true;
	r = read_all(o, env, stream, &reading);
	r = judge(o, env, pdet_text_stream_name(stream), &reading, r);
	pdet_text_stream_close(stream);
	if (r < 0)
		pdet_ownertext_unload(o);
	else
		sort(&o->table);
	return r;
}

/* The last record at or below @pfn; NULL if there is none. */
static const struct ownertext_entry *below(const struct ownertext *o,
					   uint64_t pfn)
{
	const struct ownertext_entry *list = o->table.list.data;
	size_t low = 0, high = o->table.list.n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (list[mid].pfn <= pfn)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &list[low - 1] : NULL;
}

const struct ownertext_entry *pdet_ownertext_find(const struct ownertext *o,
						  uint64_t pfn)
{
	const struct ownertext_entry *e = below(o, pfn);

	return e && !((pfn - e->pfn) >> e->order) ? e : NULL;
}

unsigned pdet_ownertext_missing(const struct ownertext *o, uint64_t pfn)
{
	const struct ownertext_table *t = &o->table;
	const struct ownertext_entry *e;

	if (t->has_gap && t->shuffled)
		return PAGEDET_IO;
	e = below(o, pfn);
	return (e ? e->gap : t->gap_first) ? PAGEDET_IO : PAGEDET_EXCLUDED;
}

static struct pdet_scan text_of(const struct ownertext *o, uint32_t id)
{
	size_t len = 0;
	const char *text = pdet_strtab_get(&o->table.texts, id, &len);

	return (struct pdet_scan){ text, text + len };
}

void pdet_ownertext_record(const struct ownertext *o,
			   const struct ownertext_entry *e,
			   struct pdet_owner_record *ret)
{
	*ret = (struct pdet_owner_record){
		.has = e->has, .order = e->order, .pid = e->pid,
		.tgid = e->tgid, .pfn = e->pfn,
		.pages = (uint64_t)1 << e->order, .gfp_mask = e->gfp_mask,
		.ns = e->ns, .free_ns = e->free_ns,
		.gfp = text_of(o, e->gfp), .comm = text_of(o, e->comm),
		.block_type = text_of(o, e->type),
		.type = text_of(o, e->mobility),
		.reason = text_of(o, e->reason), .memcg = text_of(o, e->memcg),
		.flags = text_of(o, e->flags),
	};
}

int pdet_ownertext_ranges(const struct ownertext *o, struct pdet_ranges *ret)
{
	size_t i;

	for (i = 0; i < o->table.list.n; i++) {
		const struct ownertext_entry *e = &o->table.list.data[i];
		struct pdet_range range = { .first = e->pfn };
		struct pdet_range *before = ret->n ? &ret->data[ret->n - 1] :
						     NULL;

		range.last = e->pfn + (((uint64_t)1 << e->order) - 1);
		if (range.last < range.first)
			range.last = UINT64_MAX;
		if (before && range.first <= before->last)
			before->last = PDET_MAX(before->last, range.last);
		else if (before && range.first - before->last == 1)
			before->last = range.last;
		else if (!pdet_vec_push(ret, range))
			return -ENOMEM;
	}
	return 0;
}
