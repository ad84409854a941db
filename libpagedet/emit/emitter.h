/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Shared by all formats: the bounded buffer in front of the descriptor, the
 * columns of the current query, and the operations of each format.
 */
#ifndef PDET_EMIT_EMITTER_H
#define PDET_EMIT_EMITTER_H

#include <string.h>

#include "emit/emit.h"

#define PDET_LIKELY(x) __builtin_expect(!!(x), 1)

/* The descriptor is written in pieces of about this size. */
#define PDET_OUT_BYTES ((size_t)256 * 1024)
/*
 * Nobody may request more room than this at once. The buffer has this size
 * until it is full for the first time.
 */
#define PDET_OUT_ROOM ((size_t)64 * 1024)

struct pdet_out {
	char *buf;
	char *at;
	char *end;
	int fd;			/* -1: the buffer grows and keeps all text */
	int error;		/* errno of the first failure, kept */
};

/* One column of the output. */
struct pdet_emit_col {
	const char *name;
	unsigned field;
	unsigned type;		/* PAGEDET_TYPE_* */
	unsigned known;		/* field of its known bits, or PDET_FIELDS */
	bool pointer;		/* may hold a kernel address, to be hidden */

	/*
	 * The current batch. Row r is at index r & at. A column that the batch
	 * does not have is one constant cell, which stands for all rows.
	 */
	const uint64_t *value;
	const uint16_t *cell;
	const uint64_t *known_value;
	const uint16_t *known_cell;
	uint32_t at;
	uint32_t known_at;
	uint64_t named;		/* bits that may be reported as unknown */
	uint16_t no_cell;
	uint16_t no_known_cell;
};

struct pdet_emit_format {
	size_t size;		/* size of the format's own state, which starts
				 * zeroed */
	/*
	 * The reason why rows of this query cannot be written, or NULL. The
	 * function may be NULL.
	 */
	const char *(*refuse)(const struct pdet_emit_query *q);
	bool rows_only;		/* writes only rows of one query without groups;
				 * the functions for everything else are NULL */
	/* Returns false without memory. */
	bool (*begin)(struct pagedet_emitter *e);
	void (*batch)(struct pagedet_emitter *e, const struct pdet_batch *b);
	void (*end)(struct pagedet_emitter *e, const struct pdet_emit_end *end);
	/* May be NULL if the format cannot show it. */
	void (*ability)(struct pagedet_emitter *e, const char *field,
			const char *source, const struct pagedet_ability *a);
	/* May be NULL. */
	void (*thread)(struct pagedet_emitter *e,
		       const struct pdet_emit_thread *t);
	/* A query was not ended: writes the rows in the buffer. May be NULL. */
	void (*give_up)(struct pagedet_emitter *e);
	/* All output is done. May be NULL. */
	void (*finish)(struct pagedet_emitter *e);
	/* May be NULL. */
	void (*free)(struct pagedet_emitter *e);
};

extern const struct pdet_emit_format pdet_emit_json;
extern const struct pdet_emit_format pdet_emit_csv;
extern const struct pdet_emit_format pdet_emit_snapshot;
extern const struct pdet_emit_format pdet_emit_text;
extern const struct pdet_emit_format pdet_emit_svg;

struct pagedet_emitter {
	struct pdet_env *env;	/* of the handle, for error texts of finish */
	const struct pdet_emit_format *format;
	void *own;		/* state of the format */
	struct pdet_out out;
	uint32_t options;	/* PAGEDET_EMIT_* */
	uint32_t width;
	uint32_t by;		/* PAGEDET_FIELD_*; 0: the default */
	uint32_t limit;		/* of changes, or ranges of a check; 0: none */
	char *title;		/* NULL: the default */
	char *from;		/* command options that name what the handle has
				 * opened, each followed by a space; NULL for
				 * the running kernel */
	bool open;		/* between begin and end */
	bool begun;		/* a query was begun at least once */
	struct pdet_emit_query query; /* its group_by points to keys */
	uint32_t keys[PDET_FIELDS];
	struct pdet_emit_col col[PDET_FIELDS];
	unsigned n_col;
	const char *counted;	/* what groups count: "pages" ... */
};

/* pdet_out_more - the slow path of pdet_out_room(). */
char *pdet_out_more(struct pdet_out *out, char *p, size_t need);

/*
 * pdet_out_room - get room for @need more bytes (at most PDET_OUT_ROOM) after
 * @p, where the filled part of the buffer ends. Always succeeds: after a
 * failure the output is discarded.
 */
static inline char *pdet_out_room(struct pdet_out *out, char *p, size_t need)
{
	if (PDET_LIKELY((size_t)(out->end - p) >= need))
		return p;
	return pdet_out_more(out, p, need);
}

/*
 * pdet_out_result - returns 0, or negative errno with an error text if writing
 * fails now or has failed before.
 */
int pdet_out_result(const struct pdet_out *out, struct pdet_env *env);

/* pdet_out_put - write any number of bytes. */
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

/*
 * pdet_json_text - write @s between quotes at @p. The function gets its own
 * room, and leaves @keep bytes for the caller. *@bad is set if a part of @s is
 * not UTF-8.
 */
char *pdet_json_text(struct pdet_out *out, char *p, const char *s, size_t len,
		     size_t keep, bool *bad);
/*
 * pdet_json_object - write the fields @only of a row as an object. The query
 * was begun, and its columns are bound to @b.
 */
char *pdet_json_object(struct pagedet_emitter *e, const struct pdet_batch *b,
		       uint32_t row, const struct pdet_fields *only, char *p);
/* pdet_csv_text - the same for CSV, with quotes if needed. */
char *pdet_csv_text(struct pdet_out *out, char *p, const char *s, size_t len,
		    size_t keep);

void pdet_out_str(struct pdet_out *out, const char *text);
void pdet_out_pad(struct pdet_out *out, size_t blanks);

/* pdet_out_right - a column whose text ends at @width, and a blank. */
void pdet_out_right(struct pdet_out *out, size_t width, const char *text,
		    size_t len);
void pdet_out_dec(struct pdet_out *out, uint64_t value);

/* pdet_emit_counts_others - whether groups count objects or events. */
static inline bool pdet_emit_counts_others(const struct pagedet_emitter *e)
{
	return e->query.target == PAGEDET_TARGET_OBJECTS ||
	       e->query.target == PAGEDET_TARGET_EVENTS;
}

/*
 * pdet_emit_bytes - get the bytes of a group: those of its pages, or what its
 * objects or events got. Returns PAGEDET_HAVE, or PAGEDET_NONE, or why they are
 * not known.
 */
unsigned pdet_emit_bytes(const struct pagedet_emitter *e,
			 const struct pdet_batch *b, uint32_t row,
			 uint64_t *ret);

/* pdet_emit_bind - let the columns point at a batch. */
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

/* The state of the field that has the known bits of the mask. */
static inline unsigned pdet_col_known_state(const struct pdet_emit_col *c,
					    uint32_t row)
{
	return PAGEDET_CELL_STATE(c->known_cell[row & c->known_at]);
}

/* Named bits of a mask that are not known. */
static inline uint64_t pdet_col_unknown(const struct pdet_emit_col *c,
					uint32_t row)
{
	if (pdet_col_known_state(c, row) != PAGEDET_HAVE)
		return 0;
	return c->named & ~c->known_value[row & c->known_at];
}

/*
 * pdet_emit_hidden - whether the value is a kernel address that must be hidden.
 */
bool pdet_emit_hidden(const struct pagedet_emitter *e,
		      const struct pdet_batch *b,
		      const struct pdet_emit_col *c, uint32_t row);

#endif
