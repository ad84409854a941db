/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A stream of a migration: the same is found whether it comes in one piece or
 * byte by byte, and each page has a name and a place.
 */
#include "../../examples/migration_agent/stream.h"
#include "fuzz.h"

struct found {
	uint64_t n, sum;
};

static void mix(struct found *f, uint64_t word)
{
	f->sum = (f->sum ^ word) * 0x100000001b3u;
}

static void on_page(void *user, const char *block, uint64_t offset,
		    const unsigned char *bytes, unsigned fill, uint64_t turn)
{
	struct found *f = user;
	unsigned i;

	MUST(*block && strlen(block) < 256 && fill <= STREAM_PACKED);
	f->n++;
	mix(f, offset);
	mix(f, turn);
	mix(f, (unsigned char)*block);
	mix(f, fill);
	for (i = 0; bytes && i < PAGE_BYTES; i++)
		mix(f, bytes[i]);
}

static void on_dropped(void *user, const char *block, uint64_t offset,
		       uint64_t len)
{
	MUST(*block && strlen(block) < 256);
	mix(user, offset ^ len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct stream_ops ops = { on_page, on_dropped };
	struct found whole = { 0, 0 }, pieces = { 0, 0 };
	const bool shared = size && data[size - 1] & 1;
	struct stream *a = stream_new(&ops, &whole, shared);
	struct stream *b = stream_new(&ops, &pieces, shared);
	size_t i;

	if (a && b) {
		stream_take(a, data, size);
		for (i = 0; i < size; i++)
			stream_take(b, data + i, 1);
		MUST(whole.n == pieces.n && whole.sum == pieces.sum);
		MUST(stream_turns(a) == stream_turns(b));
		MUST(stream_why(a) == stream_why(b));
	}
	stream_free(a);
	stream_free(b);
	return 0;
}
