/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Cuts page_owner's text into blocks, and makes the ends of its lines plain. */
#include <string.h>

#include "kernel/owner/blocks.h"

/* A record about the size of memory must be in the first HEAD bytes. */
#define HEAD ((size_t)1 << 16)

static bool has(const struct pdet_scan *head, const char *word)
{
	return memmem(head->at, (size_t)(head->end - head->at), word,
		      strlen(word));
}

/* Choose the mark. A task's name may contain two newlines, but then has no room
 * for more words after them. Function names contain no newline. */
static struct pdet_text_mark mark_of(const struct pdet_scan *head, bool crlf)
{
	const bool records = has(head, "Page allocated via order ");
	bool stacks;

	if (!records || pdet_owner_is_sorted(head, &stacks))
		return crlf ? (struct pdet_text_mark){ "\r\n\r\n", 4 } :
			      (struct pdet_text_mark){ "\n\n", 2 };
	return crlf ? (struct pdet_text_mark){
			      "\r\n\r\nPage allocated via ", 4 } :
		      (struct pdet_text_mark){ "\n\nPage allocated via ", 2 };
}

/* The first line tells. */
static bool is_crlf(const struct pdet_scan *head)
{
	const char *end = memchr(head->at, '\n',
				 (size_t)(head->end - head->at));

	return end && end > head->at && end[-1] == '\r';
}

int pdet_owner_blocks_begin(struct pdet_owner_blocks *b,
			    struct pdet_text_stream *stream,
			    struct pdet_env *env, struct pdet_scan *head)
{
	int r;

	*head = (struct pdet_scan){ NULL, NULL };
	r = pdet_text_stream_peek(stream, env, HEAD, head);
	if (r < 0)
		return r;
	b->stream = stream;
	b->crlf = head->at < head->end && is_crlf(head);
	b->mark = mark_of(head, b->crlf);
	return 0;
}

ssize_t pdet_owner_blocks_read(const struct pdet_owner_blocks *b,
			       struct pdet_env *env, char *buf)
{
	return pdet_text_stream_block(b->stream, env, buf, PDET_OWNER_BLOCK,
				      b->mark);
}

size_t pdet_owner_blocks_plain(const struct pdet_owner_blocks *b, char *buf,
			       size_t n)
{
	const char *at = buf, *end = buf + n, *cr;
	char *to = buf;

	while (b->crlf && at < end) {
		cr = memmem(at, (size_t)(end - at), "\r\n", 2);
		cr = cr ? cr : end;
		memmove(to, at, (size_t)(cr - at));
		to += cr - at;
		at = cr == end ? end : cr + 1;
	}
	return b->crlf ? (size_t)(to - buf) : n;
}
