/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The bytes of the file get addresses, but memory only where pages are loaded:
 * of a large program, the headers and the symbols.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unwind/cached_file.h"

/* Browsers have 200 MB. */
#define MOST_BYTES ((uint64_t)1 << 30)

static uint64_t pages_of(uint64_t size)
{
	return (size + PDET_CACHED_PAGE - 1) / PDET_CACHED_PAGE;
}

static int load_page(struct pdet_cached_file *f, uint64_t index)
{
	char *to = f->in.bytes + index * PDET_CACHED_PAGE;
	const uint8_t bit = (uint8_t)(1u << index % 8);
	int r;

	if (f->loaded[index / 8] & bit)
		return 0;
	r = f->source->page(f->source->arg, f->cache, index, to);
	if (r == 0)
		f->loaded[index / 8] |= bit;
	else
		memset(to, 0, PDET_CACHED_PAGE);
	return r;
}

/* A damaged page is not a file of another kind. */
static int load(void *arg, uint64_t offset, uint64_t n)
{
	struct pdet_cached_file *f = arg;
	const uint64_t end = pages_of(offset + n);
	uint64_t i;
	int r = 0;

	for (i = offset / PDET_CACHED_PAGE; r == 0 && i < end; i++)
		r = load_page(f, i);
	r = r == -EBADMSG ? -EIO : r == -ENOENT ? -ENODATA : r;
	if (r < 0 && !f->lost)
		f->lost = r;
	return r;
}

int pdet_cached_file_open(struct pdet_cached_file *f,
			  const struct pdet_cached_source *source,
			  uint64_t cache, uint64_t size)
{
	void *bytes;

	*f = (struct pdet_cached_file){
		.source = source, .cache = cache,
		.in = { .fd = -1, .size = size, .load = load, .arg = f },
	};
	if (!cache || !size)
		return -ENODATA;
	if (size > MOST_BYTES)
		return -EFBIG;
	f->loaded = calloc(1, pages_of(size) / 8 + 1);
	bytes = mmap(NULL, pages_of(size) * PDET_CACHED_PAGE,
		     PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes != MAP_FAILED)
		f->in.bytes = bytes;
	return f->loaded && f->in.bytes ? 0 : -ENOMEM;
}

void pdet_cached_file_close(struct pdet_cached_file *f)
{
	if (f->in.bytes)
		munmap(f->in.bytes, pages_of(f->in.size) * PDET_CACHED_PAGE);
	free(f->loaded);
	f->in.bytes = NULL;
	f->loaded = NULL;
}
