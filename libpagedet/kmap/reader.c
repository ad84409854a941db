/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Takes blocks of whole lines. An object is complete when the next one begins,
 * or with the text; a last line without a newline may be a part of a number, so
 * it does not count.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kmap/reader.h"

/* No line of a kernel is as long as this. */
#define BLOCK ((size_t)1 << 20)

static int refuse(struct pdet_kmap_reader *r, struct pdet_env *env)
{
	return pdet_fail(env, EBADMSG, "cannot read %s: it is not a KMAP: no "
			 "line in its first part has 8 to 11 columns as those "
			 "of an object, or the first one that has could be of "
			 "several dialects, or the next ones are of another",
			 pdet_text_stream_name(r->stream));
}

/* Returns 1, 0 at the end, or a negative errno. */
static int next_block(struct pdet_kmap_reader *r, struct pdet_env *env)
{
	static const struct pdet_text_mark newline = { "\n", 1 };
	ssize_t n;

	if (r->watch) {
		atomic_store_explicit(&r->watch->done,
				      pdet_text_stream_bytes(r->stream),
				      memory_order_relaxed);
		if (pdet_watch_stopped(r->watch, true, NULL))
			return 0;
	}
	n = pdet_text_stream_block(r->stream, env, r->block, BLOCK, newline);
	if (n <= 0)
		return (int)n;
	r->rest = (struct pdet_scan){ r->block, r->block + n };
	return 1;
}

int pdet_kmap_reader_start(struct pdet_kmap_reader *r, struct pdet_env *env,
			   struct pdet_text_stream *stream,
			   struct pdet_watch *watch)
{
	int n;

	memset(r, 0, sizeof(*r));
	r->stream = stream;
	r->watch = watch;
	r->block = malloc(BLOCK);
	if (!r->block)
		return pdet_fail(env, ENOMEM, "no memory");
	n = next_block(r, env);
	if (n <= 0)
		return n;
	r->dialect = pdet_kmap_dialect(r->rest);
	return r->dialect ? 0 : refuse(r, env);
}

int pdet_kmap_reader_open(struct pdet_kmap_reader *r, struct pdet_env *env,
			  const char *path, struct pdet_watch *watch)
{
	struct pdet_text_stream *stream;
	int n;

	memset(r, 0, sizeof(*r));
	n = pdet_text_stream_open(env, path, &stream);
	return n < 0 ? n : pdet_kmap_reader_start(r, env, stream, watch);
}

void pdet_kmap_reader_close(struct pdet_kmap_reader *r)
{
	if (r->stream)
		pdet_text_stream_close(r->stream);
	pdet_vec_free(&r->object.accesses);
	free(r->block);
	memset(r, 0, sizeof(*r));
}

static void note(uint64_t *n, uint64_t *first, uint64_t line)
{
	if (!(*n)++)
		*first = line;
}

static void strange(struct pdet_kmap_reader *r)
{
	note(&r->seen.strange, &r->seen.strange_line, r->seen.lines);
}

/* Moves a text to where it outlives the block. */
static bool keep(struct pdet_kmap_reader *r, size_t *at, struct pdet_scan *s)
{
	const size_t n = (size_t)(s->end - s->at);

	if (n >= sizeof(r->texts) - *at)
		return false;
	memcpy(r->texts + *at, s->at, n);
	r->texts[*at + n] = '\0';
	*s = (struct pdet_scan){ r->texts + *at, r->texts + *at + n };
	*at += n + 1;
	return true;
}

static void begin_object(struct pdet_kmap_reader *r, struct pdet_scan line)
{
	struct pdet_kmap_line *l = &r->object.line;
	size_t at = 0;

	r->object.reads = r->object.writes = r->object.n_accesses = 0;
	r->object.accesses.n = 0;
	r->has_object = pdet_kmap_object_line(line, r->dialect, l) &&
			keep(r, &at, &l->type) && keep(r, &at, &l->command) &&
			keep(r, &at, &l->cache) &&
			keep(r, &at, &l->replaced_by);
	if (r->has_object)
		r->seen.hashed += l->site.hashed + l->free_site.hashed;
	else
		strange(r);
}

/* Returns 0 or -ENOMEM. */
static int add_access(struct pdet_kmap_reader *r, struct pdet_scan line)
{
	struct pdet_kmap_object *o = &r->object;
	struct pdet_kmap_access a;

	if (!pdet_kmap_access_line(line, r->dialect, &a)) {
		strange(r);
		return 0;
	}
	if (!r->has_object) {
		note(&r->seen.orphans, &r->seen.orphan_line, r->seen.lines);
		return 0;
	}
	o->reads = pdet_kmap_add(o->reads, a.reads, &r->seen.saturated);
	o->writes = pdet_kmap_add(o->writes, a.writes, &r->seen.saturated);
	o->n_accesses++;
	r->seen.hashed += a.site.hashed;
	if (o->accesses.n == PDET_KMAP_MOST_ACCESSES)
		r->seen.dropped++;
	else if (!pdet_vec_push(&o->accesses, a))
		return -ENOMEM;
	return 0;
}

enum taken { NOTHING, LINE, PIECE };

/* Cuts the next line off the block, or the first piece of one that is longer
 * than a block. */
static enum taken take_line(struct pdet_kmap_reader *r, struct pdet_scan *line)
{
	const char *nl;
	bool skipped;

	while (r->rest.at < r->rest.end) {
		nl = memchr(r->rest.at, '\n',
			    (size_t)(r->rest.end - r->rest.at));
		*line = (struct pdet_scan){ r->rest.at, nl ? nl : r->rest.end };
		r->rest.at = nl ? nl + 1 : r->rest.end;
		skipped = r->skips;
		r->skips = !nl;
		if (skipped)
			continue;
		r->seen.lines++;
		if (nl)
			return LINE;
		if (!pdet_text_stream_ended(r->stream))
			return PIECE;
		r->seen.cut = true;
	}
	return NOTHING;
}

/* The next object begins: lets the line be taken again. */
static int complete(struct pdet_kmap_reader *r, const char *line)
{
	r->rest.at = line;
	r->seen.lines--;
	r->skips = r->has_object = false;
	return 1;
}

/* Reads on until an object is complete. Returns 1, 0 at the end of the block,
 * or -ENOMEM. */
static int read_lines(struct pdet_kmap_reader *r)
{
	struct pdet_scan line;
	enum taken taken;
	int n = 0;

	while (n == 0 && (taken = take_line(r, &line)) != NOTHING) {
		const bool is_access = pdet_kmap_is_access(line);

		if (!is_access && r->has_object)
			return complete(r, line.at);
		if (taken == PIECE)
			strange(r);
		else if (is_access)
			n = add_access(r, line);
		else
			begin_object(r, line);
	}
	return n;
}

static bool is_stopped(struct pdet_kmap_reader *r)
{
	return r->watch && atomic_load(&r->watch->stopped);
}

int pdet_kmap_read(struct pdet_kmap_reader *r, struct pdet_env *env)
{
	bool is_last;
	int n;

	do {
		n = read_lines(r);
		if (n < 0)
			return pdet_fail(env, ENOMEM, "no memory");
		if (n)
			return n;
		n = next_block(r, env);
	} while (n > 0);
	/* What was stopped may lack accesses. */
	is_last = r->has_object && !is_stopped(r);
	r->has_object = false;
	return n < 0 ? n : is_last;
}
