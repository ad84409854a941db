/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a snapshot: its two ends, and its blocks with their checksums. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec/codec.h"
#include "base/hash.h"
#include "base/vec.h"
#include "snapshot/format.h"
#include "snapshot/read.h"

/* Limit of records at an end: enough for a file of 2^36 rows. */
#define MAX_RECORDS ((uint32_t)256 << 20)

struct pdet_snapshot {
	struct pdet_snapshot_file file;
	struct pdet_snapshot_about about;
	struct pdet_snapshot_end end;
	struct pdet_snapshot_places places;
	uint64_t begin;		/* of the first block */
};

bool pdet_is_snapshot(const void *head, size_t len)
{
	return len >= PDET_SNAPSHOT_MAGIC_LEN &&
	       !memcmp(head, PDET_SNAPSHOT_MAGIC, PDET_SNAPSHOT_MAGIC_LEN);
}

static int damaged(const struct pdet_snapshot *s, struct pdet_env *env,
		   const char *why)
{
	return pdet_fail(env, EBADMSG, "cannot read %s: it is damaged: %s",
			 s->file.name, why);
}

static int no_memory(const struct pdet_snapshot *s, struct pdet_env *env)
{
	return pdet_fail(env, ENOMEM, "cannot read %s: no memory",
			 s->file.name);
}

static int read_at(const struct pdet_snapshot *s, struct pdet_env *env,
		   void *buf, size_t n, uint64_t at)
{
	ssize_t got = s->file.read_at(s->file.arg, buf, n, at);

	if (got < 0) {
		errno = (int)-got;
		return pdet_fail_errno(env, "cannot read %s", s->file.name);
	}
	return (size_t)got == n ? 0 :
		damaged(s, env, "it ends too early");
}

/* Makes room for @n bytes, and reads them from the file. */
static int read_bytes(const struct pdet_snapshot *s, struct pdet_env *env,
		      struct pdet_snapshot_bytes *b, size_t n, uint64_t at)
{
	b->n = 0;
	b->bad = false;
	if (!pdet_snapshot_put(b, NULL, n))
		return no_memory(s, env);
	return read_at(s, env, b->data, n, at);
}

/* --- both ends --- */

static int read_head(struct pdet_snapshot *s, struct pdet_env *env)
{
	struct pdet_snapshot_bytes b = { 0 };
	char head[PDET_SNAPSHOT_HEAD_SIZE];
	unsigned major;
	uint32_t n;
	int r;

	r = read_at(s, env, head, sizeof(head), 0);
	if (r < 0)
		return r;
	if (!pdet_is_snapshot(head, sizeof(head)))
		return pdet_fail(env, EBADMSG, "cannot read %s: it is not a "
				 "snapshot", s->file.name);
	major = pdet_get16(head + 16);
	n = pdet_get32(head + 20);
	if (n > MAX_RECORDS || n > s->file.size - sizeof(head))
		return damaged(s, env, "it ends within its head");
	r = read_bytes(s, env, &b, sizeof(head) + n, 0);
	if (r == 0 && pdet_hash(b.data + 16, b.n - 16) !=
		      pdet_get64(b.data + 8))
		r = damaged(s, env, "the checksum of its head is wrong");
	if (r == 0 && major != PDET_SNAPSHOT_MAJOR) {
		r = pdet_fail(env, ENOTSUP, "cannot read %s: it is of version "
			      "%u, and this library reads %u", s->file.name,
			      major, PDET_SNAPSHOT_MAJOR);
		pdet_advise(env, "needs a later libpagedet");
	}
	if (r == 0) {
		r = pdet_snapshot_get_about(b.data + sizeof(head), n,
					    &s->about);
		r = r == -ENOMEM ? no_memory(s, env) :
		    r ? damaged(s, env, "its head is incomplete") : 0;
	}
	s->begin = sizeof(head) + n;
	pdet_vec_free(&b);
	return r;
}

/* Blocks must fill the file up to @end, with the stated number of rows. */
static bool places_fit(const struct pdet_snapshot *s, uint64_t end)
{
	uint64_t at = s->begin, rows = 0;
	size_t i;

	for (i = 0; i < s->places.n; i++) {
		const struct pdet_snapshot_place *p = &s->places.data[i];

		if (p->at != at || p->bytes < PDET_SNAPSHOT_BLOCK_SIZE ||
		    p->bytes > end - at || !p->rows ||
		    p->rows > PDET_SNAPSHOT_MAX_ROWS)
			return false;
		at += p->bytes;
		rows += p->rows;
	}
	return at == end && rows == s->end.rows;
}

static int take_end(struct pdet_snapshot *s, struct pdet_env *env,
		    const struct pdet_snapshot_bytes *b, uint64_t at)
{
	const size_t ends = PDET_SNAPSHOT_END_SIZE + PDET_SNAPSHOT_TAIL_SIZE;
	int r;

	if (pdet_hash(b->data + 8, b->n - 8) != pdet_get64(b->data))
		return damaged(s, env, "the checksum of its end is wrong");
	if (pdet_get32(b->data + 8) != PDET_SNAPSHOT_END ||
	    pdet_get32(b->data + 12) != b->n - ends)
		return damaged(s, env, "its end is incomplete");
	r = pdet_snapshot_get_end(b->data + PDET_SNAPSHOT_END_SIZE,
				  b->n - ends, &s->end, &s->places);
	if (r == -ENOMEM)
		return no_memory(s, env);
	return r == 0 && places_fit(s, at) ? 0 :
		damaged(s, env, "its blocks are not where they should be");
}

static int read_end(struct pdet_snapshot *s, struct pdet_env *env)
{
	struct pdet_snapshot_bytes b = { 0 };
	char tail[PDET_SNAPSHOT_TAIL_SIZE];
	uint64_t at, least = PDET_SNAPSHOT_END_SIZE + PDET_SNAPSHOT_TAIL_SIZE;
	int r;

	if (s->file.size < s->begin + least)
		return damaged(s, env, "it ends too early");
	r = read_at(s, env, tail, sizeof(tail), s->file.size - sizeof(tail));
	if (r < 0)
		return r;
	if (memcmp(tail + 8, PDET_SNAPSHOT_TAIL, PDET_SNAPSHOT_MAGIC_LEN))
		return damaged(s, env, "it was not written completely");
	at = pdet_get64(tail);
	if (at < s->begin || at > s->file.size - least ||
	    s->file.size - at > MAX_RECORDS)
		return damaged(s, env, "its end cannot be found");
	r = read_bytes(s, env, &b, (size_t)(s->file.size - at), at);
	if (r == 0)
		r = take_end(s, env, &b, at);
	pdet_vec_free(&b);
	return r;
}

int pdet_snapshot_open(struct pdet_env *env,
		       const struct pdet_snapshot_file *file,
		       struct pdet_snapshot **ret)
{
	struct pdet_snapshot *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return pdet_fail(env, ENOMEM, "no memory");
	s->file = *file;
	r = read_head(s, env);
	if (r == 0)
		r = read_end(s, env);
	if (r < 0) {
		pdet_snapshot_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void pdet_snapshot_close(struct pdet_snapshot *s)
{
	if (!s)
		return;
	pdet_snapshot_about_free(&s->about);
	pdet_vec_free(&s->places);
	free(s);
}

const struct pdet_snapshot_about *
pdet_snapshot_about(const struct pdet_snapshot *s)
{
	return &s->about;
}

const struct pdet_snapshot_end *
pdet_snapshot_end(const struct pdet_snapshot *s)
{
	return &s->end;
}

const struct pdet_snapshot_places *
pdet_snapshot_places(const struct pdet_snapshot *s)
{
	return &s->places;
}

/* --- blocks --- */

static int open_codec(struct pdet_snapshot_loaded *l, struct pdet_env *env,
		      unsigned codec)
{
	int r;

	if (l->codec && l->codec_is == codec)
		return 0;
	pdet_codec_close(l->codec);
	l->codec = NULL;
	r = pdet_codec_open(codec == PDET_SNAPSHOT_ZSTD ? PDET_CODEC_ZSTD :
							  PDET_CODEC_ZLIB,
			    env, &l->codec);
	l->codec_is = codec;
	return r;
}

/* Decompresses a block to @raw, or points to its bytes. */
static int unpack(const struct pdet_snapshot *s, struct pdet_env *env,
		  struct pdet_snapshot_loaded *l, const char **ret, size_t *n)
{
	const char *head = l->stored.data;
	const uint32_t codec = pdet_get32(head + 20);
	const uint32_t stored = pdet_get32(head + 24);
	const uint32_t raw = pdet_get32(head + 28);
	int r;

	if (stored != l->stored.n - PDET_SNAPSHOT_BLOCK_SIZE ||
	    raw > PDET_SNAPSHOT_MAX_BYTES || codec > PDET_SNAPSHOT_ZSTD ||
	    (codec == PDET_SNAPSHOT_PLAIN && stored != raw))
		return damaged(s, env, "a block has a wrong length");
	*ret = head + PDET_SNAPSHOT_BLOCK_SIZE;
	*n = raw;
	if (codec == PDET_SNAPSHOT_PLAIN)
		return 0;
	r = open_codec(l, env, codec);
	if (r < 0) {
		pdet_context(env, "cannot read %s", s->file.name);
		return r;
	}
	l->raw.n = 0;
	l->raw.bad = false;
	if (!pdet_snapshot_put(&l->raw, NULL, (size_t)raw + 1))
		return no_memory(s, env);
	r = pdet_codec_run(l->codec, *ret, stored, l->raw.data, raw);
	*ret = l->raw.data;
	if (r == -ENOMEM)
		return no_memory(s, env);
	return r ? damaged(s, env, "a block cannot be decompressed") : 0;
}

int pdet_snapshot_load(const struct pdet_snapshot *s, struct pdet_env *env,
		       size_t n, const struct pdet_fields *fields,
		       struct pdet_snapshot_block *b)
{
	struct pdet_snapshot_loaded *l = pdet_snapshot_loaded(b);
	const struct pdet_snapshot_place *place = &s->places.data[n];
	const char *p;
	size_t len = 0;
	int r;

	if (l->is && l->n == n &&
	    !(fields->bits[0] & ~l->fields.bits[0]) &&
	    !(fields->bits[1] & ~l->fields.bits[1]))
		return 0;
	l->is = false;
	r = read_bytes(s, env, &l->stored, place->bytes, place->at);
	if (r < 0)
		return r;
	p = l->stored.data;
	if (pdet_hash(p + 8, place->bytes - 8) != pdet_get64(p))
		return damaged(s, env, "the checksum of a block is wrong");
	if (pdet_get32(p + 8) != PDET_SNAPSHOT_BLOCK ||
	    pdet_get32(p + 12) != n || pdet_get32(p + 16) != place->rows)
		return damaged(s, env, "a block is not where it should be");
	r = unpack(s, env, l, &p, &len);
	if (r < 0)
		return r;
	r = pdet_snapshot_decode(b, p, len, place->rows, fields);
	if (r == -ENOMEM)
		return no_memory(s, env);
	if (r < 0)
		return damaged(s, env, "a block is incomplete");
	l->is = true;
	l->n = n;
	l->fields = *fields;
	return 0;
}
