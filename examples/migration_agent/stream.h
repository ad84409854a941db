/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The bytes of a migration, as they pass. */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blocks.h"

struct stream;
struct stream_ops {
	/* A page is sent: its bytes; or NULL, and a byte that all of it is, or
	 * STREAM_PACKED if that cannot be told. */
	void (*page)(void *user, const char *block, uint64_t offset,
		     const unsigned char *bytes, unsigned fill, uint64_t turn);
	/* The destination is told to give some back. */
	void (*dropped)(void *user, const char *block, uint64_t offset,
			uint64_t len);
};

#define STREAM_PACKED 256u

struct stream *stream_new(const struct stream_ops *ops, void *user,
			  bool ignore_shared);
/* Bytes that it cannot make sense of end it; the rest is not looked at. */
void stream_take(struct stream *s, const void *bytes, size_t len);
/* Why it was not understood to its end; NULL if it was. */
const char *stream_why(const struct stream *s);
bool stream_is_main(const struct stream *s);
uint64_t stream_turns(const struct stream *s);
void stream_free(struct stream *s);

#endif
