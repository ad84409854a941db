/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What the formats share: the bounded buffer in front of the descriptor, the
 * columns of the query being written, the door to each format.
 */
#ifndef PDET_EMIT_EMITTER_H
#define PDET_EMIT_EMITTER_H

#include <string.h>

#include "emit/emit.h"

#define PDET_LIKELY(x) __builtin_expect(!!(x), 1)

/* Written to the descriptor in pieces of about this size ... */
#define PDET_OUT_BYTES ((size_t)256 * 1024)
/* ... and nobody asks for more room than this at once. */
#define PDET_OUT_ROOM ((size_t)64 * 1024)

struct pdet_out {
	char *buf;
	char *at;
	char *end;
	int fd;			/* -1: the buffer grows and keeps everything */
	int error;		/* errno of the first failure; it stays */
};

/* One column to show. */
struct pdet_emit_col {
	const char *name;
	unsigned field;
	unsigned type;		/* PAGEDET_TYPE_* */
	unsigned known;		/* field with the known bits, or PDET_FIELDS */
	bool pointer;		/* may hold a kernel address, to be hidden */

	/*
	 * Of the batch at hand. Row r is at r & at: a column that the batch
	 * lacks is one constant cell for all rows.
	 */
	const uint64_t *value;
	const uint16_t *cell;
	const uint64_t *known_value;
	const uint16_t *known_cell;
	uint32_t at;
	uint32_t known_at;
	uint64_t named;		/* bits that can be called unknown */
	uint64_t no_value;
	uint16_t no_cell;
	uint16_t no_known_cell;
};

struct pdet_emit_format {
	size_t size;		/* of the format's own state, zeroed */
	/* why rows of this query cannot be written, or NULL; may be NULL */
	const char *(*refuse)(const struct pdet_emit_query *q);
	bool rows_only;		/* of one query, which is no grouping: the
				 * functions for other things are NULL */
	/* false without memory */
	bool (*begin)(struct pagedet_emitter *e);
	void (*batch)(struct pagedet_emitter *e, const struct pdet_batch *b);
	void (*end)(struct pagedet_emitter *e, const struct pdet_emit_end *end);
	/* may be NULL: it has no place for that */
	void (*ability)(struct pagedet_emitter *e, const char *field,
			const char *source, const struct pagedet_ability *a);
	/* may be NULL */
	void (*thread)(struct pagedet_emitter *e,
		       const struct pdet_emit_thread *t);
	/* a query was not ended: write what is held back; may be NULL */
	void (*give_up)(struct pagedet_emitter *e);
	/* there is no more; may be NULL */
	void (*finish)(struct pagedet_emitter *e);
	/* may be NULL */
	void (*free)(struct pagedet_emitter *e);
};

extern const struct pdet_emit_format pdet_emit_json;
extern const struct pdet_emit_format pdet_emit_csv;
extern const struct pdet_emit_format pdet_emit_snapshot;
extern const struct pdet_emit_format pdet_emit_text;
extern const struct pdet_emit_format pdet_emit_svg;

struct pagedet_emitter {
	struct pdet_env *env;	/* of the handle, for words of finish */
	const struct pdet_emit_format *format;
	void *own;		/* the format's state */
	struct pdet_out out;
	uint32_t options;	/* PAGEDET_EMIT_* */
	uint32_t width;
	uint32_t by;		/* PAGEDET_FIELD_*; 0: the usual one */
	char *title;		/* NULL: the usual one */
	bool open;		/* between begin and end */
	bool begun;		/* there was a query */
	struct pdet_emit_query query; /* group_by points to keys */
	uint32_t keys[PDET_FIELDS];
	struct pdet_emit_col col[PDET_FIELDS];
	unsigned n_col;
};

/* pdet_out_more - the slow half of pdet_out_room(). */
char *pdet_out_more(struct pdet_out *out, char *p, size_t need);

/*
 * pdet_out_room - a place for @need more bytes (at most PDET_OUT_ROOM) after
 * @p, up to which the buffer is filled. Always succeeds: after a failure what
 * is written is thrown away.
 */
static inline char *pdet_out_room(struct pdet_out *out, char *p, size_t need)
{
	if (PDET_LIKELY((size_t)(out->end - p) >= need))
		return p;
	return pdet_out_more(out, p, need);
}

/* pdet_out_put - any number of bytes. */
void pdet_out_put_long(struct pdet_out *out, const char *text, size_t len);

static inline void pdet_out_put(struct pdet_out *out, const char *text,
				size_t len)
{
	if (!PDET_LIKELY((size_t)(out->end - out->at) >= len)) {
		pdet_out_put_long(out, text, len);
		return;
	}
	memcpy(out->at, text, len);
	out->at += len;
}

/* pdet_json_text - @s between quotes at @p, which is asked for room, with @keep
 * bytes left for what comes behind. *bad is set if some of it is not UTF-8. */
char *pdet_json_text(struct pdet_out *out, char *p, const char *s, size_t len,
		     size_t keep, bool *bad);
/* pdet_json_object - the fields @only of a row as an object, in a query that
 * was begun, whose columns are bound to @b. */
char *pdet_json_object(struct pagedet_emitter *e, const struct pdet_batch *b,
		       uint32_t row, const struct pdet_fields *only, char *p);
/* pdet_csv_text - the same for CSV, between quotes where it must be. */
char *pdet_csv_text(struct pdet_out *out, char *p, const char *s, size_t len,
		    size_t keep);

void pdet_out_str(struct pdet_out *out, const char *text);
void pdet_out_pad(struct pdet_out *out, size_t blanks);
void pdet_out_dec(struct pdet_out *out, uint64_t value);

/* pdet_emit_bind - point the columns at a batch. */
void pdet_emit_bind(struct pagedet_emitter *e, const struct pdet_batch *b);

static inline uint16_t pdet_col_cell(const struct pdet_emit_col *c,
				     uint32_t row)
{
	return c->cell[row & c->at];
}

static inline uint64_t pdet_col_value(const struct pdet_emit_col *c,
				      uint32_t row)
{
	return c->value[row & c->at];
}

/* The state of the field that says which bits of the mask are known. */
static inline unsigned pdet_col_known_state(const struct pdet_emit_col *c,
					    uint32_t row)
{
	return PAGEDET_CELL_STATE(c->known_cell[row & c->known_at]);
}

/* Named bits of a mask that could not be known. */
static inline uint64_t pdet_col_unknown(const struct pdet_emit_col *c,
					uint32_t row)
{
	if (pdet_col_known_state(c, row) != PAGEDET_HAVE)
		return 0;
	return c->named & ~c->known_value[row & c->known_at];
}

/* pdet_emit_hidden - the value is a kernel address that is not to be shown. */
bool pdet_emit_hidden(const struct pagedet_emitter *e,
		      const struct pdet_batch *b,
		      const struct pdet_emit_col *c, uint32_t row);

#endif
