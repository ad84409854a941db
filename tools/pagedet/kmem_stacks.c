/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The stacks of allocations, for pictures. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct allocated {
	struct cli_stacks s;
	struct pagedet_allocs *allocs;
	const char *name;	/* of the number that is shown */
	size_t len;
	uint64_t left;		/* groups to show */
	char *text;		/* the frames are in it */
	uint32_t cap;
	char title[80];
};

/* As a report names them: those of objects, of pages, and of both. */
static const struct {
	const char *name;
	size_t at, pages;	/* what to subtract; 0: nothing */
} numbers[] = {
#define AT(name) offsetof(struct pagedet_alloc_group, name)
#define NUMBER(name) { #name, AT(name), 0 }
#define BOTH(name) { #name, AT(name), AT(page_##name) }, NUMBER(page_##name)
#define ALL(name) { "all_" #name, AT(name), 0 }
	BOTH(times), { "requested", AT(requested), AT(page_allocated) },
	BOTH(allocated), ALL(allocated), NUMBER(unsized),
	BOTH(freed), BOTH(replaced), BOTH(live), BOTH(live_bytes),
	ALL(live_bytes), BOTH(failed), BOTH(cross_cpu), NUMBER(mismatched),
	NUMBER(less), BOTH(lifetime_ns), BOTH(verified_live),
	BOTH(verified_live_bytes), ALL(verified_live_bytes),
	BOTH(verified_free), BOTH(unverified),
#undef ALL
#undef BOTH
#undef NUMBER
};

static bool is_name(const struct allocated *a, const char *name)
{
	return strlen(name) == a->len && !memcmp(name, a->name, a->len);
}

static uint64_t member(const struct pagedet_alloc_group *g, size_t at)
{
	uint64_t v;

	memcpy(&v, (const char *)g + at, sizeof(v));
	return v;
}

/* What stacks are sorted by, if it is a number. */
static uint64_t value_of(const struct allocated *a,
			 const struct pagedet_alloc_group *g)
{
	size_t i;

	if (is_name(a, "waste"))
		return g->allocated > g->requested ?
			       g->allocated - g->requested : 0;
	for (i = 0; i < CLI_COUNT(numbers); i++)
		if (is_name(a, numbers[i].name))
			return member(g, numbers[i].at) -
			       (numbers[i].pages ?
				member(g, numbers[i].pages) : 0);
	return g->allocated;
}

/* Cuts the text into frames. False without memory. */
static bool cut(struct allocated *a)
{
	struct cli_stacks *s = &a->s;
	char *at = a->text, *end = at + strlen(at);
	const char **more;
	uint32_t n = 1;

	for (; *at; at++)
		n += *at == ';';
	if (n > a->cap) {
		more = realloc(s->frame, n * sizeof(*more));
		if (!more)
			return false;
		s->frame = more;
		a->cap = n;
	}
	while (end > a->text) {
		*end = '\0';
		while (end > a->text && end[-1] != ';')
			end--;
		s->frame[s->n++] = end;
		end -= end > a->text;
	}
	return true;
}

static int next(struct cli_stacks *s)
{
	struct allocated *a = (struct allocated *)s;
	struct pagedet_alloc_group g = { .size = sizeof(g) };

	if (!a->left-- || pagedet_allocs_next(a->allocs, &g) != 1)
		return 0;
	s->n = 0;
	s->value = value_of(a, &g);
	if (g.state[0] != PAGEDET_HAVE)
		return 1;
	free(a->text);
	a->text = strdup(pagedet_allocs_text(a->allocs, g.value[0], NULL));
	return a->text && cut(a) ? 1 : -1;
}

/* The first key of the order, without its sign. */
static void set_name(struct allocated *a, const char *sort)
{
	size_t i;

	a->name = sort + (*sort == '-');
	a->len = strcspn(a->name, ",");
	a->s.unit = is_name(a, "waste") ? "waste" : "allocated";
	for (i = 0; i < CLI_COUNT(numbers); i++)
		if (is_name(a, numbers[i].name))
			a->s.unit = numbers[i].name;
	if (!strncmp(a->s.unit, "all_", 4))
		a->s.unit += 4;
	a->s.units = a->s.unit;
	snprintf(a->title, sizeof(a->title), "%s, by the stack that allocated",
		 a->s.unit);
	a->s.title = a->title;
}

int cli_kmem_draw(struct pagedet_allocs *allocs, const char *sort, uint64_t max,
		  FILE *f, int (*picture)(struct cli_stacks *s, FILE *f))
{
	struct allocated a = { .s = { .next = next }, .allocs = allocs,
			       .left = max };
	int status;

	set_name(&a, sort);
	status = picture(&a.s, f);
	free(a.s.frame);
	free(a.text);
	return status;
}
