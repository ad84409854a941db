/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes migration streams. The result is the same in one piece and byte by
 * byte, and each page has a name and a place.
 */
#include <pagedet.h>

#include "fuzz.h"

struct found {
	uint64_t n, sum;
};

static void mix(struct found *f, uint64_t word)
{
	f->sum = (f->sum ^ word) * 0x100000001b3u;
}

static void take_page(struct found *f, const struct pagedet_streamed_page *p)
{
	const unsigned char *bytes = p->bytes;
	unsigned i;

	MUST(*p->block && strlen(p->block) < 256 && p->fill < 256);
	MUST(p->kind >= PAGEDET_STREAMED_BYTES &&
	     p->kind <= PAGEDET_STREAMED_DROP);
	MUST(!bytes == (p->kind != PAGEDET_STREAMED_BYTES));
	MUST(p->len == 4096 || p->kind == PAGEDET_STREAMED_DROP);
	f->n++;
	mix(f, p->offset);
	mix(f, p->turn);
	mix(f, p->len);
	mix(f, (unsigned char)*p->block);
	mix(f, p->kind << 8 | p->fill);
	for (i = 0; bytes && i < p->len; i++)
		mix(f, bytes[i]);
}

static void take(struct pagedet_stream *s, const void *bytes, size_t len,
		 struct found *f)
{
	struct pagedet_streamed_page page = { .size = sizeof(page) };
	uint64_t at = 0;
	int r;

	while ((r = pagedet_stream_take(s, bytes, len, &at, &page)) == 1)
		take_page(f, &page);
	MUST(r == 0 && at == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pagedet_stream_options o = PAGEDET_STREAM_OPTIONS_INIT;
	struct pagedet_stream_info x = { .size = sizeof(x) };
	struct pagedet_stream_info y = { .size = sizeof(y) };
	struct found whole = { 0, 0 }, pieces = { 0, 0 };
	struct pagedet_stream *a = NULL, *b = NULL;
	size_t i;

	if (size && data[size - 1] & 1)
		o.options = PAGEDET_STREAM_IGNORE_SHARED;
	if (!pagedet_stream_new(&o, &a) && !pagedet_stream_new(&o, &b)) {
		take(a, data, size, &whole);
		for (i = 0; i < size; i++)
			take(b, data + i, 1, &pieces);
		MUST(whole.n == pieces.n && whole.sum == pieces.sum);
		pagedet_stream_info(a, &x);
		pagedet_stream_info(b, &y);
		MUST(x.turns == y.turns && x.why == y.why);
		MUST(x.over == y.over && x.is_main == y.is_main);
	}
	pagedet_stream_free(a);
	pagedet_stream_free(b);
	return 0;
}
