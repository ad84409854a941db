/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads page_owner's text from a stream, in blocks of complete records. Lines
 * may end with CR LF, as in text that came through a terminal or an editor.
 */
#ifndef PDET_KERNEL_OWNER_BLOCKS_H
#define PDET_KERNEL_OWNER_BLOCKS_H

#include "base/codec/text_stream.h"
#include "kernel/owner/text.h"

/* Size of a block. A record of a kernel fits into one page, but other programs
 * may write text too. */
#define PDET_OWNER_BLOCK ((size_t)1 << 20)

struct pdet_owner_blocks {
	struct pdet_text_stream *stream;
	struct pdet_text_mark mark; /* where the text may be cut */
	bool crlf;
};

/*
 * pdet_owner_blocks_begin - look at the beginning of @stream. *head gets it,
 * until the next call. Returns 0 or a negative errno with an error text.
 */
int pdet_owner_blocks_begin(struct pdet_owner_blocks *b,
			    struct pdet_text_stream *stream,
			    struct pdet_env *env, struct pdet_scan *head);

/*
 * pdet_owner_blocks_read - read the next block into @buf, of PDET_OWNER_BLOCK
 * bytes. Returns bytes, 0 at the end, or a negative errno. Then
 * pdet_owner_blocks_plain() must make it plain; any thread may do so.
 */
ssize_t pdet_owner_blocks_read(const struct pdet_owner_blocks *b,
			       struct pdet_env *env, char *buf);

/* pdet_owner_blocks_plain - give lines the end that the kernel gives them.
 * Returns the number of bytes that are left. */
size_t pdet_owner_blocks_plain(const struct pdet_owner_blocks *b, char *buf,
			       size_t n);

#endif
