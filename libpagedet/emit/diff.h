/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes changes as text, or draws a picture of the changed frames. */
#ifndef PDET_EMIT_DIFF_H
#define PDET_EMIT_DIFF_H

#include "diff/diff.h"
#include "emit/emit.h"

/* Number of fields that name a place, in this order. */
#define PDET_DIFF_PLACE 3

struct pdet_diff_emit {
	struct pagedet_emitter *e;
	struct pdet_diff *d;
	const struct pagedet_info *info; /* of the new side; NULL: not known */
	uint64_t page_size;
	unsigned place[PDET_DIFF_PLACE]; /* its fields */
	unsigned n_place;
	uint64_t n;		/* changes written so far */
	struct pdet_diff_picture *picture; /* for SVG */
};

/*
 * pdet_emit_diff_begin - start the output. The caller sets e, d, info and
 * page_size. Returns 0, or -EINVAL, -EIO, -ENOMEM with an error text.
 */
int pdet_emit_diff_begin(struct pdet_diff_emit *x, struct pdet_env *env);
/* pdet_emit_diff_step - write the changes from index @first on. */
int pdet_emit_diff_step(struct pdet_diff_emit *x, struct pdet_env *env,
			const struct pdet_diff_out *out, uint32_t first);
/* pdet_emit_diff_end - write the totals. Always frees the data of @x. */
int pdet_emit_diff_end(struct pdet_diff_emit *x, struct pdet_env *env);

/* --- diff_svg.c --- */
bool pdet_diff_picture_begin(struct pdet_diff_emit *x);
void pdet_diff_picture_step(struct pdet_diff_emit *x,
			    const struct pdet_diff_out *out);
void pdet_diff_picture_end(struct pdet_diff_emit *x);

#endif
