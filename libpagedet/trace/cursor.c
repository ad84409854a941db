/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A cursor never leaves what it was given. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "trace/cursor.h"
#include "trace/ring.h"

bool pdet_cursor_get(struct pdet_cursor *c, void *to, uint64_t n)
{
	if (n > c->end - c->at)
		return false;
	if (c->memory)
		memcpy(to, c->memory + c->at, n);
	else if (pdet_pread(c->fd, to, n, c->at) != (ssize_t)n)
		return false;
	c->at += n;
	return true;
}

bool pdet_cursor_skip(struct pdet_cursor *c, uint64_t n)
{
	if (n > c->end - c->at)
		return false;
	c->at += n;
	return true;
}

bool pdet_cursor_number(struct pdet_cursor *c, unsigned size, uint64_t *ret)
{
	unsigned char bytes[8];

	if (!pdet_cursor_get(c, bytes, size))
		return false;
	*ret = pdet_ring_number(bytes, size, c->big_endian);
	return true;
}

bool pdet_cursor_word(struct pdet_cursor *c, char to[PDET_CURSOR_WORD])
{
	unsigned i;

	for (i = 0; i < PDET_CURSOR_WORD; i++) {
		if (!pdet_cursor_get(c, &to[i], 1))
			return false;
		if (!to[i])
			return true;
	}
	return false;
}

bool pdet_cursor_is_next(struct pdet_cursor *c, const char *text, size_t n)
{
	char found[16];

	return pdet_cursor_get(c, found, n) && !memcmp(found, text, n);
}

int pdet_cursor_text(struct pdet_cursor *c, uint64_t n, uint64_t most,
		     struct pdet_text *ret)
{
	if (n > most || n > c->end - c->at)
		return -EBADMSG;
	ret->data = malloc(n + 1);
	if (!ret->data)
		return pdet_fail(c->env, ENOMEM, "no memory");
	if (!pdet_cursor_get(c, ret->data, n)) {
		pdet_text_free(ret);
		return -EBADMSG;
	}
	ret->data[n] = '\0';
	ret->len = n;
	return 0;
}
