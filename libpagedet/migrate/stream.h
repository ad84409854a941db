/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses the bytes of a QEMU migration. */
#ifndef PDET_MIGRATE_STREAM_H
#define PDET_MIGRATE_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "pagedet.h"

struct pdet_stream;

/* @o must be valid. Returns NULL without memory. */
struct pdet_stream *pdet_stream_new(const struct pagedet_stream_options *o);

/* Returns true if *@ret has a report, false once the piece is used up. */
bool pdet_stream_take(struct pdet_stream *s, const unsigned char *bytes,
		      uint64_t len, uint64_t *at,
		      struct pagedet_streamed_page *ret);
void pdet_stream_info(const struct pdet_stream *s,
		      struct pagedet_stream_info *ret);
void pdet_stream_free(struct pdet_stream *s);

#endif
