/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds BTF through its symbols, or by a search of the image for a BTF header.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/types/btf.h"
#include "symbol/find_btf.h"

/* The largest kernels have about 10 MB. */
#define MOST_BYTES ((size_t)64 << 20)

/* Bytes searched from the start of the image; no image is larger. */
#define IMAGE_BYTES ((uint64_t)512 << 20)

#define CHUNK ((size_t)1 << 20)
/* Enough of a header to know the total length. */
#define HEAD 64

static int take(struct pdet_space *space, uint64_t addr, size_t len,
		void **ret, size_t *ret_len)
{
	void *data;
	int r;

	data = malloc(len);
	if (!data)
		return -ENOMEM;
	r = pdet_space_read(space, addr, data, len);
	if (r == 0 && pdet_btf_length(data, len) != len)
		r = -EBADMSG;
	if (r < 0) {
		free(data);
		return r;
	}
	*ret = data;
	*ret_len = len;
	return 0;
}

bool pdet_btf_between(const struct pdet_symbol *start,
		      const struct pdet_symbol *stop, size_t *len)
{
	if (!start->found || !stop->found || stop->address <= start->address ||
	    stop->address - start->address > MOST_BYTES)
		return false;
	*len = (size_t)(stop->address - start->address);
	return true;
}

static int by_symbols(struct pdet_space *space,
		      const struct pdet_kallsyms *symbols, void **ret,
		      size_t *len)
{
	struct pdet_symbol s[] = {
		{ .name = PDET_BTF_START }, { .name = PDET_BTF_STOP },
	};
	size_t n;

	pdet_kallsyms_find(symbols, s, PDET_COUNT(s));
	return pdet_btf_between(&s[0], &s[1], &n) ?
	       take(space, s[0].address, n, ret, len) : -ENOENT;
}

struct scan {
	struct pdet_space *space;
	char *buf;		/* HEAD bytes, followed by a chunk */
	uint64_t end;		/* end of the last piece */
	uint64_t found;		/* 0: not found yet */
	size_t len;
	int lost;		/* why a piece could not be read; or 0 */
};

/* A page excluded from the dump is not a failure; the search skips it. */
static bool is_lost(int error)
{
	return error == -EIO || error == -EACCES || error == -ENOMEM;
}

/* Search @n bytes after the first HEAD. The HEAD bytes count only if this piece
 * follows the previous one. */
static bool look(struct scan *s, uint64_t addr, size_t n)
{
	/* magic, version, flags, hdr_len; in this machine's byte order */
	static const uint16_t magic = PDET_BTF_MAGIC, version = 1;
	static const uint32_t hdr_len = 24;
	char pattern[8];
	char *at = addr == s->end ? s->buf : s->buf + HEAD;
	char *const end = s->buf + HEAD + n;

	memcpy(pattern, &magic, 2);
	memcpy(pattern + 2, &version, 2);
	memcpy(pattern + 4, &hdr_len, 4);
	while ((at = memmem(at, (size_t)(end - at), pattern, 8))) {
		const size_t left = (size_t)(end - at);
		char head[HEAD] = { 0 };

		s->found = addr + (uint64_t)(at - (s->buf + HEAD));
		memcpy(head, at, PDET_MIN(left, (size_t)HEAD));
		if (left < HEAD &&
		    pdet_space_read(s->space, s->found, head, HEAD) < 0)
			memset(head, 0, HEAD);
		s->len = s->found & 3 ? 0 : pdet_btf_length(head, HEAD);
		if (s->len > HEAD && s->len <= MOST_BYTES)
			return true;
		s->found = 0;
		at++;
	}
	memmove(s->buf, end - HEAD, HEAD);
	s->end = addr + n;
	return false;
}

static int look_at_leaf(void *arg, const struct pdet_leaf *leaf)
{
	struct scan *s = arg;
	uint64_t at, n;
	int r;

	if (leaf->is != PDET_PT_PAGE)
		return 0;
	for (at = 0; at < leaf->size; at += n) {
		n = PDET_MIN(leaf->size - at, (uint64_t)CHUNK);
		r = pdet_space_read(s->space, leaf->start + at, s->buf + HEAD,
				    (size_t)n);
		if (r == 0 && look(s, leaf->start + at, (size_t)n))
			return 1;
		if (is_lost(r))
			s->lost = r;
	}
	return 0;
}

static int go_on(void *arg, uint64_t start, uint64_t size, int error)
{
	struct scan *s = arg;

	(void)start;
	(void)size;
	if (is_lost(error))
		s->lost = error;
	return 0;
}

static int by_image(struct pdet_space *space,
		    const struct pdet_vmcoreinfo *info, void **ret,
		    size_t *len)
{
	struct scan s = { .space = space };
	const struct pdet_paging_visit visit = { look_at_leaf, go_on, &s,
						 NULL };
	uint64_t start;
	int r;

	if (!pdet_vmcoreinfo_symbol(info, "_stext", &start))
		return -ENOENT;
	s.buf = malloc(HEAD + CHUNK);
	if (!s.buf)
		return -ENOMEM;
	r = pdet_paging_each(space->reader, space->paging, space->paging->root,
			     start, start + IMAGE_BYTES - 1, &visit);
	free(s.buf);
	if (r < 0)
		return r;
	if (s.found)
		return take(space, s.found, s.len, ret, len);
	return s.lost ? s.lost : -ENOENT;
}

int pdet_find_btf(struct pdet_space *space, const struct pdet_vmcoreinfo *info,
		  const struct pdet_kallsyms *symbols, void **ret,
		  size_t *len)
{
	int known = symbols ? by_symbols(space, symbols, ret, len) : -ENOENT, r;

	if (known == 0 || known == -ENOMEM)
		return known;
	r = by_image(space, info, ret, len);
	return r == -ENOENT && is_lost(known) ? known : r;
}
