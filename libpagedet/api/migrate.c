/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for versions and places of pages. Without a handle there are no
 * error texts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "explain/evidence.h"
#include "migrate/blocks.h"
#include "migrate/patterns.h"
#include "migrate/seen.h"
#include "migrate/versions.h"

#define MOST_PAGES ((uint64_t)1 << 40)

struct pagedet_versions {
	struct pdet_versions *v;
};

struct pagedet_blocks {
	struct pdet_blocks *b;
};

/* Copies the caller's prefix of an answer. Bytes past ours are zeroed. */
static int answer(void *to, const void *from, size_t size)
{
	struct pdet_env env = { .error = "" };

	return pdet_answer_struct(&env, to, from, size);
}

static int take(void *to, size_t size, const void *from, const char *name)
{
	struct pdet_env env = { .error = "" };

	return from ? pdet_check_struct(&env, to, size, from, from, name) :
		      -EINVAL;
}

/* Copies the caller's prefix: an older client's struct is shorter than ours. */
static int take_evidence(struct pagedet_evidence *to,
			 const struct pagedet_evidence *from)
{
	if (from->size < PDET_EVIDENCE_FIRST)
		return -EINVAL;
	memset(to, 0, sizeof(*to));
	memcpy(to, from, PDET_MIN(sizeof(*to), (size_t)from->size));
	to->size = sizeof(*to);
	return 0;
}

static void give_evidence(struct pagedet_evidence *to,
			  struct pagedet_evidence *from)
{
	from->size = to->size;
	memcpy(to, from, PDET_MIN(sizeof(*from), (size_t)to->size));
}

/* --- contents --- */

uint32_t pagedet_seen_equal(const struct pagedet_seen *a,
			    const struct pagedet_seen *b)
{
	return pdet_seen_equal(a, b);
}

int pagedet_seen_find(const struct pagedet_seen *seen, uint64_t n,
		      struct pagedet_elsewhere *found, uint64_t n_found)
{
	pdet_seen_find(seen, n, found, n_found);
	return 0;
}

int pagedet_seen_evidence(const struct pagedet_seen *seen, uint32_t version,
			  uint64_t hash_key, struct pagedet_evidence *evidence)
{
	struct pagedet_evidence e;
	const int r = take_evidence(&e, evidence);

	if (r < 0 || version >= PDET_SEEN_VERSIONS)
		return -EINVAL;
	pdet_seen_evidence(seen, version, hash_key, &e);
	give_evidence(evidence, &e);
	return 0;
}

/* --- versions --- */

int pagedet_versions_new(const struct pagedet_versions_options *options,
			 struct pagedet_versions **ret)
{
	struct pagedet_versions_options o;
	struct pagedet_versions *v;
	int r = take(&o, sizeof(o), options, "struct pagedet_versions_options");

	if (r < 0)
		return r;
	if (!o.pages || o.pages > MOST_PAGES)
		return -EINVAL;
	v = calloc(1, sizeof(*v));
	r = v ? pdet_versions_new(&o, &v->v) : -ENOMEM;
	if (r < 0)
		free(v);
	else
		*ret = v;
	return r;
}

int pagedet_versions_sent(struct pagedet_versions *versions, uint64_t page,
			  uint32_t state, uint64_t hash, uint64_t turn)
{
	return pdet_versions_sent(versions->v, page, state, hash, turn);
}

int pagedet_versions_dropped(struct pagedet_versions *versions, uint64_t first,
			     uint64_t n)
{
	return pdet_versions_dropped(versions->v, first, n);
}

int pagedet_versions_complete(struct pagedet_versions *versions,
			      uint32_t complete)
{
	pdet_versions_complete(versions->v, complete);
	return 0;
}

int pagedet_versions_look(struct pagedet_versions *versions,
			  const struct pagedet_seen *seen, uint64_t n,
			  uint32_t when)
{
	return pdet_versions_look(versions->v, seen, n, when);
}

int pagedet_versions_had(struct pagedet_versions *versions, uint64_t page,
			 uint64_t hash)
{
	return pdet_versions_had(versions->v, page, hash);
}

int pagedet_versions_of(struct pagedet_versions *versions, uint64_t page,
			struct pagedet_version_of *ret)
{
	struct pagedet_version_of of = { .size = ret->size };
	const int r = pdet_versions_of(versions->v, page, &of);

	return r < 0 ? r : answer(ret, &of, sizeof(of));
}

int pagedet_versions_info(struct pagedet_versions *versions,
			  struct pagedet_versions_info *ret)
{
	struct pagedet_versions_info info = { .size = ret->size };

	pdet_versions_info(versions->v, &info);
	return answer(ret, &info, sizeof(info));
}

int pagedet_versions_evidence(struct pagedet_versions *versions, uint64_t page,
			      struct pagedet_evidence *evidence)
{
	struct pagedet_evidence e;
	int r = take_evidence(&e, evidence);

	if (r < 0)
		return r;
	r = pdet_versions_evidence(versions->v, page, &e);
	if (r == 0)
		give_evidence(evidence, &e);
	return r;
}

void pagedet_versions_free(struct pagedet_versions *versions)
{
	if (versions)
		pdet_versions_free(versions->v);
	free(versions);
}

/* --- blocks --- */

int pagedet_blocks_new(uint64_t page_size, struct pagedet_blocks **ret)
{
	struct pagedet_blocks *b;

	if (page_size < 512 || page_size > 1u << 30 ||
	    page_size & (page_size - 1))
		return -EINVAL;
	b = calloc(1, sizeof(*b));
	if (b)
		b->b = pdet_blocks_new(page_size);
	if (!b || !b->b) {
		free(b);
		return -ENOMEM;
	}
	*ret = b;
	return 0;
}

int pagedet_blocks_add(struct pagedet_blocks *blocks,
		       const struct pagedet_block *block)
{
	struct pagedet_block own;
	const int r = take(&own, sizeof(own), block, "struct pagedet_block");

	return r < 0 ? r : pdet_blocks_add(blocks->b, &own);
}

int pagedet_blocks_add_range(struct pagedet_blocks *blocks, const char *name,
			     uint64_t offset, uint64_t guest, uint64_t bytes,
			     uint32_t read_only)
{
	return pdet_blocks_add_range(blocks->b, name, offset, guest, bytes,
				     read_only);
}

int pagedet_blocks_load(struct pagedet_blocks *blocks, const char *text,
			uint64_t len, uint64_t *line)
{
	uint64_t last = 0;
	const int r = pdet_blocks_load(blocks->b, text, len, &last);

	if (r < 0 && line)
		*line = last;
	return r;
}

uint64_t pagedet_blocks_count(const struct pagedet_blocks *blocks)
{
	return pdet_blocks_count(blocks->b);
}

uint64_t pagedet_blocks_page(const struct pagedet_blocks *blocks,
			     const char *name, uint64_t offset)
{
	return pdet_blocks_page(blocks->b, name, offset);
}

uint64_t pagedet_blocks_guest(const struct pagedet_blocks *blocks,
			      uint64_t guest)
{
	return pdet_blocks_guest(blocks->b, guest);
}

int pagedet_blocks_at(const struct pagedet_blocks *blocks, uint64_t page,
		      struct pagedet_page_at *ret)
{
	struct pagedet_page_at at = { .size = ret->size };
	const int r = pdet_blocks_at(blocks->b, page, &at);

	return r < 0 ? r : answer(ret, &at, sizeof(at));
}

int pagedet_blocks_items(const struct pagedet_blocks *blocks, uint32_t end,
			 uint32_t pid, struct pagedet_item *items, uint64_t max)
{
	return pdet_blocks_items(blocks->b, end, pid, items, max);
}

void pagedet_blocks_free(struct pagedet_blocks *blocks)
{
	if (blocks)
		pdet_blocks_free(blocks->b);
	free(blocks);
}

/* --- the difference as a whole --- */

int pagedet_patterns(const struct pagedet_seen *here,
		     const struct pagedet_seen *peer, uint64_t n,
		     const struct pagedet_blocks *blocks,
		     struct pagedet_versions *versions,
		     struct pagedet_pattern *ret, uint64_t max, uint8_t *of)
{
	const struct pdet_sides s = { here, peer, n, blocks ? blocks->b : NULL,
				      versions ? versions->v : NULL };
	struct pagedet_pattern all[PDET_MOST_PATTERNS];
	int r;

	if (s.blocks && pdet_blocks_count(s.blocks) != n)
		return -EINVAL;
	r = pdet_patterns(&s, all, of);
	if (r > 0)
		memcpy(ret, all, PDET_MIN((uint64_t)r, max) * sizeof(*all));
	return r;
}

int pagedet_pattern_text(const struct pagedet_pattern *pattern,
			 uint64_t page_size, const char *here, const char *peer,
			 char *text, uint64_t size)
{
	return pdet_pattern_text(pattern, page_size, here, peer, text, size);
}

const char *pagedet_pattern_name(uint32_t kind)
{
	return pdet_pattern_name(kind);
}
