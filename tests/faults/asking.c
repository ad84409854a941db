/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Uses the public API like a careful program: it checks every result and frees
 * everything, whatever fails.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"

void ask_broken(struct answer *a, const char *what)
{
	if (!*a->broken)
		snprintf(a->broken, sizeof(a->broken), "%s", what);
}

/* A failure must have a number of the closed list, and an error text. */
int ask_failed(struct answer *a, const struct pagedet *pd, int r,
	       const char *call)
{
	static const int list[] = {
		EINVAL, E2BIG, ENOMEM, EACCES, ENOENT, ESRCH, ENODATA,
		EBADMSG, EIO, EOVERFLOW, ENOTSUP, ENOSYS, EINTR, EAGAIN,
		ETIMEDOUT, ECANCELED
	};
	char words[128];
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(*list) && list[i] != -r; i++)
		;
	if (i == sizeof(list) / sizeof(*list)) {
		snprintf(words, sizeof(words), "%s: %d is not in the list",
			 call, r);
		ask_broken(a, words);
	}
	if (pd && !*pagedet_error(pd)) {
		snprintf(words, sizeof(words), "%s: %d without words", call,
			 r);
		ask_broken(a, words);
	}
	if (!a->result) {
		a->result = r;
		snprintf(a->error, sizeof(a->error), "%s: %s", call,
			 pd ? pagedet_error(pd) : "");
	}
	return r;
}

static bool is_string(const struct pagedet_field_info *info)
{
	return info->type == PAGEDET_TYPE_STRING ||
	       info->type == PAGEDET_TYPE_LIST;
}

void ask_keep(struct answer *a, const struct pagedet_page *page,
	      const char *(*text)(const void *arg, uint64_t id),
	      const void *arg)
{
	struct kept_row *row = &a->row[a->n++];
	const char *words;
	unsigned f, n = 0;
	uint64_t id;

	row->page = *page;
	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		const struct pagedet_field_info *info = pagedet_field(f);

		if (!info || !is_string(info))
			continue;
		row->text[n++][0] = '\0';
		if (PAGEDET_CELL_STATE(page->cell[f]) != PAGEDET_HAVE)
			continue;
		memcpy(&id, (const char *)page + info->offset, sizeof(id));
		words = text(arg, id);
		if (!words)
			ask_broken(a, "a string that is there has no text");
		snprintf(row->text[n - 1], MAX_TEXT, "%s", words ? words : "");
	}
}

static const char *text_of_row(const void *it, uint64_t id)
{
	return pagedet_string(it, id, NULL);
}

static int take_rows(struct answer *a, const struct pagedet *pd,
		     struct pagedet_iter *it)
{
	struct pagedet_page rows[16];
	int n, i, after;

	while ((n = pagedet_next(it, rows, 16)) > 0)
		for (i = 0; i < n; i++) {
			/* A scan of unreadable memory has no end. */
			if (a->n == MAX_ROWS)
				return 0;
			ask_keep(a, &rows[i], text_of_row, it);
		}
	if (n == 0) {
		a->ended = true;
		return 0;
	}
	ask_failed(a, pd, n, "next");
	/* It must not continue as if nothing had happened. */
	after = pagedet_next(it, rows, 16);
	if (after > 0)
		ask_broken(a, "rows after a failure");
	return n;
}

void ask_take_text(struct answer *a, struct pagedet_emitter *e)
{
	const char *text = pagedet_emitter_text(e, &a->len);

	if (a->len >= sizeof(a->emitted)) {
		ask_broken(a, "more text than there is room for");
		a->len = 0;
	}
	memcpy(a->emitted, text, a->len);
	a->emitted[a->len] = '\0';
}

static int emit(struct answer *a, const struct question *q, struct pagedet *pd,
		struct pagedet_iter *it)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e;
	int r;

	o.format = q->format;
	o.options = PAGEDET_EMIT_SOURCES;
	if (q->writes)
		o.fd = a->fd;
	r = pagedet_emitter_new(pd, &o, &e);
	if (r < 0)
		return ask_failed(a, pd, r, "emitter_new");
	r = it ? pagedet_emit_all(e, it) : pagedet_emit_survey(e, pd);
	if (r < 0)
		ask_failed(a, pd, r, "emit_all");
	else
		a->ended = true;
	r = pagedet_emitter_finish(e);
	if (r < 0)
		ask_failed(a, pd, r, "emitter_finish");
	ask_take_text(a, e);
	pagedet_emitter_free(e);
	return a->result;
}

static void take_rest(struct answer *a, const struct question *q,
		      struct pagedet_iter *it)
{
	unsigned n;

	a->cover.size = sizeof(a->cover);
	a->has_cover = pagedet_coverage(it, &a->cover) == 0;
	for (n = 0; q->target == PAGEDET_TARGET_MAPPERS && a->ended &&
	     n < MAX_ITEMS; n++) {
		a->summary[n].size = sizeof(a->summary[n]);
		if (pagedet_mappers(it, n, &a->summary[n]))
			break;
		a->summary[n].unread = NULL;
		a->n_summaries++;
	}
}

/* The path of a file in the source tree. */
static const char *in_source(const char *path)
{
	static char name[4096];
	const char *top = getenv("top_srcdir");

	snprintf(name, sizeof(name), "%s/%s", top ? top : ".", path);
	return name;
}

static int make_query(struct answer *a, const struct question *q,
		      struct pagedet *pd, struct pagedet_query *query,
		      uint32_t *by)
{
	const char *at;
	int r;

	query->target = q->target;
	query->items = q->items;
	query->n_items = q->n_items;
	query->path = q->path;
	if (q->target == PAGEDET_TARGET_LOG)
		query->path = in_source(q->path);
	query->where = q->where;
	query->options = q->options;
	query->threads = q->threads;
	query->group_by = by;
	for (at = q->by; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
	{
		char name[32] = "";

		memcpy(name, at, strcspn(at, ","));
		by[query->n_group_by++] =
			(uint32_t)pagedet_field_by_name(name);
	}
	if (!q->fields)
		return 0;
	r = pagedet_fields_parse(pd, q->fields, query);
	return r < 0 ? ask_failed(a, pd, r, "fields_parse") : 0;
}

static int run_query(struct answer *a, const struct question *q,
		     struct pagedet *pd, struct pagedet_index *index)
{
	struct pagedet_query query = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it = NULL;
	uint32_t by[8];
	int r;

	query.index = index;
	r = make_query(a, q, pd, &query, by);
	if (r < 0)
		return r;
	r = pagedet_query(pd, &query, &it);
	if (r < 0)
		return ask_failed(a, pd, r, "query");
	if (q->compares) {
		r = ask_changes(a, q, it);
		pagedet_iter_free(it);
		return r;
	}
	r = q->format ? emit(a, q, pd, it) : take_rows(a, pd, it);
	if (q->again && r == 0) {
		a->n = 0;
		a->ended = false;
		r = pagedet_iter_retarget(it, q->items, q->n_items);
		r = r < 0 ? ask_failed(a, pd, r, "retarget") :
			    take_rows(a, pd, it);
	}
	take_rest(a, q, it);
	pagedet_iter_free(it);
	return r;
}

static int run_index(struct answer *a, const struct question *q,
		     struct pagedet *pd)
{
	struct pagedet_index_options o = PAGEDET_INDEX_OPTIONS_INIT;
	struct pagedet_index_info info = { .size = sizeof(info) };
	struct pagedet_index *index = NULL;
	int r;

	o.threads = q->threads;
	r = pagedet_index_new(pd, &o, &index);
	if (r < 0)
		return ask_failed(a, pd, r, "index_new");
	pagedet_index_info(index, &info);
	a->mappings = info.mappings;
	a->unread = info.tasks_gone + info.tasks_denied +
		    info.tasks_damaged;
	r = run_query(a, q, pd, index);
	pagedet_index_free(index);
	return r;
}

/* Keeps a group as a row: a stack, an order, pages. */
static void keep_group(struct answer *a,
		       const struct pagedet_owner_group *group, bool order)
{
	struct kept_row *row = &a->row[a->n++];

	memset(row, 0, sizeof(*row));
	row->page.pages = group->pages;
	row->page.cell[PAGEDET_FIELD_PAGES] = PAGEDET_HAVE;
	row->page.alloc_stack = group->value[0];
	row->page.cell[PAGEDET_FIELD_ALLOC_STACK] = (uint16_t)group->state[0];
	if (!order)
		return;
	row->page.alloc_order = (uint32_t)group->value[1];
	row->page.cell[PAGEDET_FIELD_ALLOC_ORDER] = (uint16_t)group->state[1];
}

static void take_groups(struct answer *a, const struct pagedet *pd,
			struct pagedet_owners *owners, bool order)
{
	struct pagedet_owner_group group = { .size = sizeof(group) };
	struct pagedet_owners_total total = { .size = sizeof(total) };
	const char *frame;
	int r;

	while ((r = pagedet_owners_next(owners, &group)) == 1) {
		if (a->n == MAX_ROWS) {
			ask_broken(a, "more groups than there is room for");
			return;
		}
		keep_group(a, &group, order);
		r = pagedet_owners_stack(owners, group.value[0], &frame, 1);
		if (r < 0 && (r != -ENOMEM || group.state[0] != PAGEDET_HAVE))
			ask_broken(a, "a stack has no frames");
	}
	if (r < 0)
		ask_failed(a, pd, r, "owners_next");
	pagedet_owners_total(owners, &total);
	if (total.groups != a->n)
		ask_broken(a, "the total has another number of groups");
	a->has_cover = true;
	a->cover.complete = total.complete;
	a->ended = true;
}

static int run_owners(struct answer *a, const struct question *q,
		      struct pagedet *pd)
{
	struct pagedet_owners_query query = PAGEDET_OWNERS_QUERY_INIT;
	const uint32_t by[] = { PAGEDET_OWNER_STACK, PAGEDET_OWNER_ORDER };
	struct pagedet_owners *owners = NULL;
	int r;

	query.path = in_source(q->path);
	query.where = q->where;
	query.by = by;
	query.n_by = strchr(q->by, ',') ? 2 : 1;
	query.threads = q->threads;
	if (q->mixed)
		query.options = PAGEDET_OWNERS_MIXED;
	r = pagedet_owners(pd, &query, &owners);
	if (r < 0)
		return ask_failed(a, pd, r, "owners");
	take_groups(a, pd, owners, query.n_by == 2);
	pagedet_owners_free(owners);
	return 0;
}

/* Asks for abilities; a second handle must have the same. */
static int run_survey(struct answer *a, const struct question *q,
		      struct pagedet *pd)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct pagedet *copy = NULL;
	int r;

	r = pagedet_info(pd, &info);
	if (r < 0)
		return ask_failed(a, pd, r, "info");
	r = pagedet_dup(pd, &copy);
	if (r < 0)
		return ask_failed(a, pd, r, "dup");
	r = emit(a, q, copy, NULL);
	pagedet_free(copy);
	return r;
}

void ask(const struct question *q, int fd, struct answer *a)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet *pd;
	int r;

	memset(a, 0, offsetof(struct answer, row));
	a->fd = fd;
	a->has_cover = a->ended = false;
	a->n_summaries = a->n_findings = a->n_evidence = a->n_changes = 0;
	memset(&a->totals, 0, sizeof(a->totals));
	a->verdict = 0;
	a->mappings = a->unread = 0;
	a->len = 0;
	a->emitted[0] = a->broken[0] = '\0';
	pd = pagedet_new();
	if (!pd) {
		ask_failed(a, NULL, -ENOMEM, "new");
		return;
	}
	o.root = q->root;
	o.sources = q->sources ? q->sources :
		    PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	if (q->file && !q->root) {
		o.files = &q->file;
		o.n_files = 1;
		o.sources = 0;
	}
	r = pagedet_open(pd, &o);
	if (r < 0)
		ask_failed(a, pd, r, "open");
	else if (q->survey)
		run_survey(a, q, pd);
	else if (q->explains)
		ask_explain(a, q, pd);
	else if (q->check)
		ask_check(a, q, pd);
	else if (q->owners)
		run_owners(a, q, pd);
	else if (q->index)
		run_index(a, q, pd);
	else
		run_query(a, q, pd, NULL);
	pagedet_free(pd);
}

/* --- snapshots --- */

int ask_save(const struct question *q, const char *root, const char *path)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_query query = PAGEDET_QUERY_INIT;
	struct pagedet_options open = PAGEDET_OPTIONS_INIT;
	struct pagedet *pd = pagedet_new();
	struct pagedet_emitter *e = NULL;
	struct pagedet_iter *it = NULL;
	FILE *file = fopen(path, "w");
	int r = -EIO;

	open.root = root;
	query.target = PAGEDET_TARGET_SCAN;
	if (q->compares) {
		query.target = q->target;
		query.items = q->items;
		query.n_items = q->n_items;
	}
	o.format = PAGEDET_FORMAT_SNAPSHOT;
	o.fd = file ? fileno(file) : -1;
	if (pd && file && pagedet_open(pd, &open) == 0 &&
	    pagedet_fields_parse(pd, "all", &query) == 0 &&
	    pagedet_query(pd, &query, &it) == 0 &&
	    pagedet_emitter_new(pd, &o, &e) == 0 &&
	    pagedet_emit_all(e, it) == 0)
		r = pagedet_emitter_finish(e);
	pagedet_emitter_free(e);
	pagedet_iter_free(it);
	pagedet_free(pd);
	if (file)
		fclose(file);
	return r;
}

static void take_saved(struct answer *a, struct pagedet *pd)
{
	struct pagedet_coverage cover = { .size = sizeof(cover) };
	struct pagedet_query query = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it = NULL;
	int r;

	query.target = PAGEDET_TARGET_SCAN;
	r = pagedet_fields_parse(pd, "everything", &query);
	if (r == 0)
		r = pagedet_query(pd, &query, &it);
	if (r == 0)
		r = take_rows(a, pd, it);
	if (r < 0 || pagedet_coverage(it, &cover) < 0)
		ask_broken(a, pagedet_error(pd));
	else if (cover.complete > a->cover.complete)
		ask_broken(a, "a part is a whole when it was saved");
	pagedet_iter_free(it);
}

void ask_saved(int fd, struct answer *a)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet *pd = pagedet_new();
	const char *const files[] = { a->emitted };

	snprintf(a->emitted, sizeof(a->emitted), "/proc/self/fd/%d", fd);
	o.files = files;
	o.n_files = 1;
	if (!pd)
		ask_broken(a, "new");
	else if (pagedet_open(pd, &o) < 0)
		a->result ? (void)0 : ask_broken(a, pagedet_error(pd));
	else if (a->result)
		ask_broken(a, "what has failed is a whole snapshot");
	else
		take_saved(a, pd);
	pagedet_free(pd);
	a->emitted[0] = '\0';
}
