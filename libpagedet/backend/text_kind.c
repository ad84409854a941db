/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises page_owner's records by phrases that the kernel prints, and bytes
 * that are not text. backend/log/kind.c recognises a kernel log.
 */
#include <pagedet.h>
#include <string.h>

#include "backend/text_kind.h"
#include "base/env.h"
#include "base/text/quote.h"

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

bool pdet_text_is_owner_line(struct pdet_scan line)
{
	return pdet_scan_word(&line, "Page allocated via order ");
}

/* "[ 2091.301001] ", which may come behind a relay's words. */
static bool has_kernel_time(struct pdet_scan s)
{
	while ((s.at = memchr(s.at, '[', (size_t)(s.end - s.at)))) {
		struct pdet_scan at = { s.at + 1, s.end };
		uint64_t n;

		s.at++;
		pdet_scan_blanks(&at);
		if (pdet_scan_dec(&at, &n) && pdet_scan_char(&at, '.') &&
		    pdet_scan_dec(&at, &n) && pdet_scan_word(&at, "] "))
			return true;
	}
	return false;
}

bool pdet_text_has_log(const char *text, size_t len)
{
	static const char *const begins[] = {
		"BUG: Bad page ", "BUG: KASAN: ", "BUG: KFENCE: ",
		"Memory failure: 0x", "Soft offlining pfn ", "mce: ",
		"page dumped because: ",
	};
	struct pdet_scan s = { text, text + len }, line;
	size_t i;

	while (pdet_scan_line(&s, &line)) {
		if (has_kernel_time(line))
			return true;
		for (i = 0; i < PDET_COUNT(begins); i++)
			if (pdet_scan_word(&line, begins[i]))
				return true;
	}
	return false;
}

void pdet_text_tell_log(struct pdet_env *env, const char *name)
{
	char quoted[PDET_QUOTED];

	pdet_log(env, PAGEDET_LOG_WARNING, "%s also has lines of a kernel log, "
		 "which are not read: pagedet from-log %s", name,
		 pdet_quoted(name, "FILE", quoted, sizeof(quoted)));
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
