/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises page_owner's records by phrases that the kernel prints, and bytes
 * that are not text. backend/log/kind.c recognises a kernel log.
 */
#include <string.h>

#include "backend/text_kind.h"
#include "base/env.h"

bool pdet_text_is_owner(const char *text, size_t len)
{
	/* mm/page_owner.c, print_page_owner() and the files of stacks */
	static const char *const words[] = {
		"Page allocated via order ", "nr_base_pages: ",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(words); i++)
		if (memmem(text, len, words[i], strlen(words[i])))
			return true;
	return false;
}

/* True if many bytes cannot be text; a console may have some noise. */
bool pdet_text_is_binary(const char *text, size_t len)
{
	size_t odd = 0, i;

	for (i = 0; i < len; i++)
		odd += (unsigned char)text[i] < ' ' &&
		       !(text[i] == '\t' || text[i] == '\n' ||
			 text[i] == '\r' || text[i] == '\033');
	return odd > len / 16;
}
