/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the snapshot file: all wanted columns and the frame, unchanged. Kernel
 * addresses that must not be shown are not saved.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "emit/cell.h"
#include "emit/emitter.h"
#include "snapshot/write.h"

struct saving {
	struct pdet_snapshot_writer *writer;
	struct pdet_fields fields;
	/* columns that are saved in another form, each with @cap values */
	uint64_t *value[PDET_FIELDS];
	uint16_t *cell[PDET_FIELDS];
	uint32_t cap;
};

static void put(void *arg, const void *data, size_t n)
{
	pdet_out_put(arg, data, n);
}

static void stop(struct pagedet_emitter *e, int r)
{
	if (r < 0 && !e->out.error)
		e->out.error = -r;
}

static bool snapshot_begin(struct pagedet_emitter *e)
{
	const struct pdet_snapshot_sink sink = { put, &e->out };
	struct saving *s = e->own;

	s->fields = e->query.about->fields;
	/* The writer writes the data at once, so it need not stay. */
	stop(e, pdet_snapshot_write(e->env, e->query.about, &sink,
				    &s->writer));
	e->query.about = NULL;
	return e->out.error != ENOMEM;
}

static void free_columns(struct saving *s)
{
	unsigned f;

	for (f = 0; f < PDET_FIELDS; f++) {
		free(s->value[f]);
		free(s->cell[f]);
		s->value[f] = NULL;
		s->cell[f] = NULL;
	}
}

/* Makes room for a changed column. */
static bool own_column(struct saving *s, unsigned f, uint32_t n)
{
	if (s->cap < n) {
		free_columns(s);
		s->cap = n;
	}
	if (!s->value[f])
		s->value[f] = malloc(s->cap * sizeof(uint64_t));
	if (!s->cell[f])
		s->cell[f] = malloc(s->cap * sizeof(uint16_t));
	return s->value[f] && s->cell[f];
}

/* Copies the column without hidden addresses. */
static bool copy_shown(struct pagedet_emitter *e, const struct pdet_batch *b,
		       const struct pdet_emit_col *c)
{
	const uint16_t hidden = PDET_CELL(PAGEDET_EXCLUDED,
					  PAGEDET_SOURCE_NOBODY);
	struct saving *s = e->own;
	uint32_t row;

	if (!own_column(s, c->field, b->n))
		return false;
	for (row = 0; row < b->n; row++) {
		bool hide = pdet_emit_hidden(e, b, c, row) &&
			    PAGEDET_CELL_STATE(pdet_col_cell(c, row)) ==
				    PAGEDET_HAVE;

		s->value[c->field][row] = hide ? 0 : pdet_col_value(c, row);
		s->cell[c->field][row] = hide ? hidden :
						pdet_col_cell(c, row);
	}
	return true;
}

/* A column that the batch lacks has the same cell in all rows. */
static bool make_absent(struct saving *s, unsigned f, uint32_t n)
{
	uint32_t row;

	if (!own_column(s, f, n))
		return false;
	for (row = 0; row < n; row++) {
		s->value[f][row] = 0;
		s->cell[f][row] = PDET_CELL(PAGEDET_UNSUPPORTED,
					    PAGEDET_SOURCE_NOBODY);
	}
	return true;
}

static void snapshot_batch(struct pagedet_emitter *e,
			   const struct pdet_batch *b)
{
	struct pdet_snapshot_columns columns = {
		.n = b->n, .series = b->series, .strings = &b->strings,
	};
	struct saving *s = e->own;
	bool memory = true, own;
	unsigned f, i;

	pdet_fields_for(f, &s->fields) {
		own = !pdet_batch_has(b, f);
		if (own)
			memory &= make_absent(s, f, b->n);
		for (i = 0; i < e->n_col; i++)
			if (e->col[i].field == f && e->col[i].pointer) {
				own = true;
				memory &= copy_shown(e, b, &e->col[i]);
			}
		columns.value[f] = own ? s->value[f] : b->value[f];
		columns.cell[f] = own ? s->cell[f] : b->cell[f];
	}
	stop(e, memory ? pdet_snapshot_add(s->writer, &columns) : -ENOMEM);
}

static void snapshot_end(struct pagedet_emitter *e,
			 const struct pdet_emit_end *end)
{
	struct saving *s = e->own;

	stop(e, pdet_snapshot_finish(s->writer, end->coverage,
				     end->last_ns ? end->last_ns :
				     pdet_clock_ns(CLOCK_REALTIME)));
}

static void snapshot_free(struct pagedet_emitter *e)
{
	struct saving *s = e->own;

	pdet_snapshot_write_free(s->writer);
	free_columns(s);
}

const struct pdet_emit_format pdet_emit_snapshot = {
	.size = sizeof(struct saving),
	.rows_only = true,
	.begin = snapshot_begin,
	.batch = snapshot_batch,
	.end = snapshot_end,
	.free = snapshot_free,
};
