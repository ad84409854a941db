/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What changed, as text; or as a picture of the frames that did. */
#ifndef PDET_EMIT_DIFF_H
#define PDET_EMIT_DIFF_H

#include "emit/emit.h"
#include "query/diff.h"

/* Where a change is: numbers that name the place, in this order. */
#define PDET_DIFF_PLACE 3

struct pdet_diff_emit {
	struct pagedet_emitter *e;
	struct pdet_diff *d;
	const struct pagedet_info *info; /* of now; NULL: nothing is known */
	uint64_t page_size;
	unsigned place[PDET_DIFF_PLACE]; /* fields of it */
	unsigned n_place;
	struct pdet_diff_picture *picture; /* SVG */
};

/* pdet_emit_diff_begin - 0, -EINVAL, -EIO, -ENOMEM; with words. e, d, info and
 * page_size are the caller's to set. */
int pdet_emit_diff_begin(struct pdet_diff_emit *x, struct pdet_env *env);
/* pdet_emit_diff_step - the changes from number @first on. */
int pdet_emit_diff_step(struct pdet_diff_emit *x, struct pdet_env *env,
			const struct pdet_diff_out *out, uint32_t first);
/* pdet_emit_diff_end - the totals; and frees what x has, in any case. */
int pdet_emit_diff_end(struct pdet_diff_emit *x, struct pdet_env *env);

/* --- diff_svg.c --- */
bool pdet_diff_picture_begin(struct pdet_diff_emit *x);
void pdet_diff_picture_step(struct pdet_diff_emit *x,
			    const struct pdet_diff_out *out);
void pdet_diff_picture_end(struct pdet_diff_emit *x);

#endif
