/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for the stream of a migration. */
#include <errno.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "migrate/stream.h"

#define LEAST_PAGE 4096u
#define MOST_PAGE 65536u
#define MOST_PACKET ((uint64_t)8192 * LEAST_PAGE)

struct pagedet_stream {
	struct pdet_stream *s;
};

static bool is_known(const struct pagedet_stream_options *o)
{
	const uint64_t page = o->page_size;

	return page >= LEAST_PAGE && page <= MOST_PAGE &&
	       !(page & (page - 1)) && !(o->packet_bytes % page) &&
	       o->packet_bytes <= MOST_PACKET;
}

int pagedet_stream_new(const struct pagedet_stream_options *options,
		       struct pagedet_stream **ret)
{
	static const struct pagedet_stream_options defaults =
		PAGEDET_STREAM_OPTIONS_INIT;
	struct pdet_env env = { .error = "" };
	struct pagedet_stream_options o;
	struct pagedet_stream *s;
	int r;

	r = pdet_check_struct(&env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_stream_options");
	if (r < 0)
		return r;
	if (o.options & ~(uint32_t)PAGEDET_STREAM_IGNORE_SHARED || o.reserved)
		return -E2BIG;
	if (!is_known(&o))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (s)
		s->s = pdet_stream_new(&o);
	if (!s || !s->s) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

int pagedet_stream_take(struct pagedet_stream *stream, const void *bytes,
			uint64_t len, uint64_t *at,
			struct pagedet_streamed_page *ret)
{
	struct pagedet_streamed_page page = { .size = sizeof(page) };
	struct pdet_env env = { .error = "" };

	if (*at > len || pdet_check_answer(&env, ret) < 0)
		return -EINVAL;
	if (!pdet_stream_take(stream->s, bytes, len, at, &page))
		return 0;
	pdet_answer_struct(&env, ret, &page, sizeof(page));
	return 1;
}

int pagedet_stream_info(const struct pagedet_stream *stream,
			struct pagedet_stream_info *ret)
{
	struct pagedet_stream_info info = { .size = ret->size };
	struct pdet_env env = { .error = "" };

	pdet_stream_info(stream->s, &info);
	return pdet_answer_struct(&env, ret, &info, sizeof(info));
}

void pagedet_stream_free(struct pagedet_stream *stream)
{
	if (stream)
		pdet_stream_free(stream->s);
	free(stream);
}
