/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The stacks of page_owner's records, for pictures. */
#include <stdlib.h>

#include "cli.h"

struct owned {
	struct cli_stacks s;
	struct pagedet_owners *owners;
	uint32_t cap;
};

static int next(struct cli_stacks *s)
{
	struct owned *o = (struct owned *)s;
	struct pagedet_owner_group g = { .size = sizeof(g) };
	const char **more;
	int n = 0;

	if (pagedet_owners_next(o->owners, &g) != 1)
		return 0;
	if (g.state[0] == PAGEDET_HAVE)
		n = pagedet_owners_stack(o->owners, g.value[0], s->frame,
					 o->cap);
	if (n > (int)o->cap) {
		more = realloc(s->frame, (size_t)n * sizeof(*more));
		if (!more)
			return -1;
		s->frame = more;
		o->cap = (uint32_t)n;
		n = pagedet_owners_stack(o->owners, g.value[0], more, o->cap);
	}
	if (n < 0)
		return -1;
	s->n = (uint32_t)n;
	s->value = g.pages;
	return 1;
}

int cli_owners_draw(struct pagedet_owners *owners, FILE *f,
		    int (*picture)(struct cli_stacks *s, FILE *f))
{
	struct owned o = {
		.s = { .next = next, .unit = "page", .units = "pages",
		       .title = "Pages by the stack that allocated them" },
		.owners = owners,
	};
	const int status = picture(&o.s, f);

	free(o.s.frame);
	return status;
}
