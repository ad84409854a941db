/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Makes snapshots with known rows, and opens their files as a program does. */
#ifndef TESTS_SAVED_H
#define TESTS_SAVED_H

#include <stdarg.h>
#include <unistd.h>

#include "schema/batch.h"
#include "snapshot/write.h"
#include "unit.h"

#define F(name) PAGEDET_FIELD_##name
#ifndef SAVED_ROWS
#define SAVED_ROWS 4096
#endif

struct saved {
	struct pdet_batch b;
	struct pdet_snapshot_about about;
	struct pagedet_item item;
	bool partial;
	uint64_t denied, undecided; /* tasks; rows left out */
	/* Set when it is opened. */
	struct pagedet *pd;
	struct pagedet_iter *it;
};

/* @...: fields of its rows; -1 ends the list. */
static inline void saved_new(struct saved *s, uint32_t target, ...)
{
	struct pdet_fields fields = { { 0, 0 } };
	va_list ap;
	int f;

	memset(s, 0, sizeof(*s));
	va_start(ap, target);
	while ((f = va_arg(ap, int)) >= 0) {
		pdet_fields_add(&fields, (unsigned)f);
		s->about.field[f].why = PAGEDET_HAVE;
		s->about.field[f].sources =
			PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	}
	va_end(ap);
	ck_assert(pdet_batch_init(&s->b, &fields, SAVED_ROWS, 1 << 20));
	strcpy(s->about.host, "here");
	strcpy(s->about.boot_id, "0f8fad5b-d9cb-469f-a165-70867728950e");
	strcpy(s->about.release, "6.12.1");
	strcpy(s->about.arch, "x86_64");
	s->about.page_size = 4096;
	s->about.hash_key = 1;
	s->about.target = target;
	s->about.fields = fields;
	s->item = (struct pagedet_item){ 0, PAGEDET_TO_END, 7, 0 };
	s->about.items = &s->item;
	s->about.n_kept = s->about.n_items =
		target == PAGEDET_TARGET_TASK ? 1 : 0;
}

/* Adds a row in which every field is nothing. */
static inline uint32_t saved_row(struct saved *s)
{
	const int64_t row = pdet_batch_grow(&s->b, 1);
	unsigned f;

	ck_assert_int_ge(row, 0);
	pdet_fields_for(f, &s->b.have)
		pdet_put_none(&s->b, (uint32_t)row, f,
			      PAGEDET_SOURCE_PROCFS);
	return (uint32_t)row;
}

static inline void saved_set(struct saved *s, uint32_t row, unsigned f,
			     uint64_t value)
{
	pdet_put(&s->b, row, f, value, PAGEDET_SOURCE_PROCFS);
}

static inline void saved_text(struct saved *s, uint32_t row, unsigned f,
			      const char *text)
{
	pdet_put_text(&s->b, row, f, text, strlen(text),
		      PAGEDET_SOURCE_PROCFS);
}

static inline void saved_lost(struct saved *s, uint32_t row, unsigned f)
{
	pdet_put_lost(&s->b, row, f, PAGEDET_RACED, PAGEDET_SOURCE_PROCFS);
}

static inline void saved_put(void *arg, const void *data, size_t n)
{
	const int fd = *(const int *)arg;

	ck_assert_int_eq(write(fd, data, n), (ssize_t)n);
}

static inline void saved_write(struct saved *s, int fd)
{
	struct pdet_snapshot_columns c = { .n = s->b.n,
					   .strings = &s->b.strings };
	struct pagedet_coverage coverage = { .size = sizeof(coverage),
					     .tasks_denied = s->denied,
					     .undecided = s->undecided,
					     .complete = !s->partial };
	const struct pdet_snapshot_sink sink = { saved_put, &fd };
	struct pdet_env env = { .root = NULL };
	struct pdet_snapshot_writer *w;
	unsigned f;

	pdet_fields_for(f, &s->b.have) {
		c.value[f] = s->b.value[f];
		c.cell[f] = s->b.cell[f];
	}
	ck_assert_int_eq(pdet_snapshot_write(&env, &s->about, &sink, &w), 0);
	if (c.n)
		ck_assert_int_eq(pdet_snapshot_add(w, &c), 0);
	ck_assert_int_eq(pdet_snapshot_finish(w, &coverage, 2000), 0);
	pdet_snapshot_write_free(w);
}

/* Writes and opens it, and queries all rows, with the filter @where or NULL. */
static inline void saved_ask(struct saved *s, const char *where)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	char path[] = "/tmp/pagedet.XXXXXX";
	const char *files[1] = { path };
	const int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	saved_write(s, fd);
	close(fd);
	o.files = files;
	o.n_files = 1;
	s->pd = pagedet_new();
	ck_assert_msg(pagedet_open(s->pd, &o) == 0, "%s",
		      pagedet_error(s->pd));
	unlink(path);
	q.target = PAGEDET_TARGET_SCAN;
	q.options = PAGEDET_Q_CHEAP;
	q.where = where;
	ck_assert_msg(pagedet_query(s->pd, &q, &s->it) == 0, "%s",
		      pagedet_error(s->pd));
}

static inline void saved_free(struct saved *s)
{
	pagedet_iter_free(s->it);
	pagedet_free(s->pd);
	pdet_batch_free(&s->b);
	memset(s, 0, sizeof(*s));
}

#endif
