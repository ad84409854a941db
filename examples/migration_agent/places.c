/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Where the source has what is elsewhere at the destination. What is asked for
 * is little, and the pages of the source are many: they are gone through once.
 */
#include <stdlib.h>

#include "agent.h"

int places_new(struct places *p, uint64_t max)
{
	*p = (struct places){ .max = max };
	p->place = calloc(max ? max : 1, sizeof(*p->place));
	return p->place ? 0 : -1;
}

void places_ask(struct places *p, uint64_t hash)
{
	if (p->n < p->max)
		p->place[p->n++].hash = hash;
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Each hash once. */
void places_sort(struct places *p)
{
	uint64_t i, n = 0;

	qsort(p->place, p->n, sizeof(*p->place), compare);
	for (i = 0; i < p->n; i++)
		if (!n || p->place[i].hash != p->place[n - 1].hash)
			p->place[n++] = p->place[i];
	p->n = n;
}

static struct place *find(const struct places *p, uint64_t hash)
{
	const struct place place = { .hash = hash };

	return bsearch(&place, p->place, p->n, sizeof(place), compare);
}

void places_seen(struct places *p, uint64_t page, uint64_t hash)
{
	struct place *place = find(p, hash);

	if (!place)
		return;
	place->last = page;
	place->n++;
}

const struct place *places_find(const struct places *p, uint64_t hash)
{
	return find(p, hash);
}

void places_free(struct places *p)
{
	free(p->place);
}
