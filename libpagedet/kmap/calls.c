/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Lines "FROM TO COUNT". Pairs are kept: the most frequent ones come first. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocs/naming.h"
#include "base/hash.h"
#include "base/pairs.h"
#include "kmap/calls.h"
#include "kmap/reader.h"

/* Room for a place with its module. */
#define PLACE_TEXT (PDET_NAMING_TEXT + 128)

/* More than any kernel has; a log of something else may have more. */
#define MOST_PAIRS ((size_t)1 << 22)

struct edge {
	uint64_t from, to, count;
};

struct pdet_kmap_calls {
	struct pdet_watch watch;
	struct pdet_naming naming;
	struct {
		struct edge *data;
		size_t n, cap;
	} edges;
	struct pdet_pairs known; /* from a hash to an edge */
	uint64_t salt;
	struct pagedet_kmap_calls_total total;
	size_t at;
	char from[PLACE_TEXT], to[PLACE_TEXT];
	char from_function[PLACE_TEXT], to_function[PLACE_TEXT];
};

static bool scan_edge(struct pdet_scan s, struct edge *ret)
{
	return pdet_scan_hex(&s, &ret->from) && pdet_scan_char(&s, ' ') &&
	       pdet_scan_hex(&s, &ret->to) && pdet_scan_char(&s, ' ') &&
	       pdet_scan_dec(&s, &ret->count) && s.at == s.end;
}

static void add_count(uint64_t *sum, uint64_t count, bool *saturated)
{
	*sum = pdet_kmap_add(*sum, count, saturated);
}

/* Returns 0 or -ENOMEM. */
static int add_edge(struct pdet_kmap_calls *c, struct edge e, bool *saturated)
{
	uint64_t key = pdet_hash_number(e.from, c->salt) ^ e.to, at;

	for (; pdet_pairs_get(&c->known, key, &at); key++) {
		struct edge *had = &c->edges.data[at];

		if (had->from != e.from || had->to != e.to)
			continue;
		add_count(&had->count, e.count, saturated);
		add_count(&c->total.count, e.count, saturated);
		return 0;
	}
	if (c->edges.n == MOST_PAIRS) {
		c->total.dropped++;
		return 0;
	}
	c->total.calls++;
	add_count(&c->total.count, e.count, saturated);
	return pdet_pairs_set(&c->known, key, c->edges.n) &&
	       pdet_vec_push(&c->edges, e) ? 0 : -ENOMEM;
}

/* Returns 0 or -ENOMEM. */
static int add_line(struct pdet_kmap_calls *c,
		    const struct pdet_text_line *line)
{
	struct pagedet_kmap_calls_total *t = &c->total;
	bool saturated = false;
	struct edge e;
	int r;

	t->lines++;
	if (line->open) {
		t->cut = 1;
		return 0;
	}
	if (line->cut || !scan_edge(line->text, &e)) {
		if (!t->strange++)
			t->strange_line = t->lines;
		return 0;
	}
	r = add_edge(c, e, &saturated);
	t->saturated |= saturated;
	return r;
}

static bool is_stopped(struct pdet_kmap_calls *c,
		       const struct pdet_text_stream *s)
{
	if (c->total.lines % 4096)
		return false;
	atomic_store(&c->watch.done, pdet_text_stream_bytes(s));
	return pdet_watch_stopped(&c->watch, true, NULL);
}

static int read_lines(struct pdet_kmap_calls *c, struct pdet_env *env,
		      struct pdet_text_stream *s)
{
	struct pdet_text_line line;
	int r;

	while (!is_stopped(c, s) &&
	       (r = pdet_text_stream_line(s, env, &line)) != 0) {
		if (r < 0)
			return r;
		if (add_line(c, &line) < 0)
			return pdet_fail(env, ENOMEM, "no memory");
		/* A log begins with a call. */
		if (c->total.strange == c->total.lines)
			return pdet_fail(env, EBADMSG, "cannot read %s: it is "
					 "not a log of calls: its first line "
					 "is not two addresses and a number",
					 pdet_text_stream_name(s));
	}
	return 0;
}

/* The most frequent first. */
static int compare(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* A function that was called begins where names of that boot say. */
static int check_names(struct pdet_kmap_calls *c, struct pdet_env *env,
		       const char *path)
{
	size_t i, named = 0, begin = 0;
	struct pdet_named f;

	for (i = 0; i < c->edges.n; i++)
		if (pdet_naming_find(&c->naming, c->edges.data[i].to, &f)) {
			named++;
			begin += !f.offset;
		}
	if (begin >= named - begin)
		return 0;
	return pdet_fail(env, EBADMSG, "the names are of another boot or "
			 "kernel: most functions that %s has do not begin "
			 "where these say", path);
}

static int open_calls(struct pdet_kmap_calls *c, struct pdet_env *env,
		      const struct pagedet_kmap_query *q)
{
	struct pdet_text_stream *s;
	int r = q->kallsyms ? pdet_naming_kallsyms(&c->naming, env,
						   q->kallsyms) : 0;

	if (r == 0)
		r = pdet_text_stream_open(env, q->path, &s);
	if (r < 0)
		return r;
	r = read_lines(c, env, s);
	pdet_text_stream_close(s);
	pdet_pairs_free(&c->known);
	if (c->edges.n)
		qsort(c->edges.data, c->edges.n, sizeof(*c->edges.data),
		      compare);
	return r < 0 ? r : check_names(c, env, q->path);
}

int pdet_kmap_calls_new(struct pdet_env *env,
			const struct pagedet_kmap_query *q,
			struct pdet_kmap_calls **ret)
{
	struct pdet_kmap_calls *c;
	int r;

	if (!q->path)
		return pdet_fail(env, EINVAL, "there is no path of a log");
	if (q->by || q->hz || q->only || q->vmlinux)
		return pdet_fail(env, EINVAL, "calls have no keys, no times "
				 "and no filters, and names from a kallsyms "
				 "only");
	c = calloc(1, sizeof(*c));
	if (!c)
		return pdet_fail(env, ENOMEM, "no memory");
	c->salt = pdet_hash_salt();
	pdet_watch_init(&c->watch, q->deadline_ns, q->progress,
			q->progress_user, q->progress_ns);
	r = open_calls(c, env, q);
	if (r < 0) {
		pdet_kmap_calls_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void pdet_kmap_calls_free(struct pdet_kmap_calls *c)
{
	if (!c)
		return;
	pdet_vec_free(&c->edges);
	pdet_naming_free(&c->naming);
	free(c);
}

/* Writes "function+0x10 [module]" and "function", or an address twice. */
static void name(struct pdet_kmap_calls *c, uint64_t address,
		 char place[PLACE_TEXT], char function[PLACE_TEXT])
{
	struct pdet_named f;

	if (!pdet_naming_find(&c->naming, address, &f)) {
		c->total.unnamed++;
		snprintf(place, PLACE_TEXT, "%#" PRIx64, address);
		snprintf(function, PLACE_TEXT, "%#" PRIx64, address);
		return;
	}
	pdet_named_text(&f, place, PLACE_TEXT);
	snprintf(function, PLACE_TEXT, "%.*s", (int)f.function_len,
		 f.function);
}

int pdet_kmap_next_call(struct pdet_kmap_calls *c,
			struct pagedet_kmap_call *ret)
{
	const struct edge *e;

	if (c->at == c->edges.n)
		return 0;
	e = &c->edges.data[c->at++];
	name(c, e->from, c->from, c->from_function);
	name(c, e->to, c->to, c->to_function);
	*ret = (struct pagedet_kmap_call){
		.size = sizeof(*ret), .from = e->from, .to = e->to,
		.count = e->count, .from_name = c->from, .to_name = c->to,
		.from_function = c->from_function,
		.to_function = c->to_function,
	};
	return 1;
}

void pdet_kmap_calls_total(const struct pdet_kmap_calls *c,
			   struct pagedet_kmap_calls_total *ret)
{
	*ret = c->total;
	ret->size = sizeof(*ret);
	ret->stopped = (uint32_t)atomic_load(&c->watch.stopped);
	ret->complete = !ret->stopped;
}
