/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a kernel's build id from one of three places. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "symbol/build_id.h"

/* Limit for the running kernel's notes: they take about a page. */
#define MOST_NOTES ((size_t)1 << 20)

void pdet_build_id_note(struct pdet_build_id *ret, struct pdet_notes notes)
{
	struct pdet_note note;

	ret->n = 0;
	while (pdet_notes_next(&notes, &note)) {
		if (!pdet_note_is(&note, "GNU", NT_GNU_BUILD_ID) ||
		    !note.desc_len || note.desc_len > sizeof(ret->bytes))
			continue;
		ret->n = note.desc_len;
		memcpy(ret->bytes, note.desc, ret->n);
		return;
	}
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void pdet_build_id_info(struct pdet_build_id *ret,
			const struct pdet_vmcoreinfo *info)
{
	struct pdet_scan s;
	size_t i, n;

	ret->n = 0;
	if (!pdet_vmcoreinfo_text(info, "BUILD-ID", &s))
		return;
	n = (size_t)(s.end - s.at) / 2;
	if ((size_t)(s.end - s.at) % 2 || n > sizeof(ret->bytes))
		return;
	for (i = 0; i < n; i++) {
		const int high = digit(s.at[2 * i]);
		const int low = digit(s.at[2 * i + 1]);

		if (high < 0 || low < 0)
			return;
		ret->bytes[i] = (uint8_t)(high << 4 | low);
	}
	ret->n = n;
}

void pdet_build_id_running(struct pdet_build_id *ret,
			   const struct pdet_env *env)
{
	struct pdet_text text;

	ret->n = 0;
	if (pdet_slurp(env, &text, MOST_NOTES, "/sys/kernel/notes") < 0)
		return;
	pdet_build_id_note(ret, (struct pdet_notes){ text.data, text.len });
	pdet_text_free(&text);
}

bool pdet_build_id_same(const struct pdet_build_id *a,
			const struct pdet_build_id *b)
{
	return a->n && a->n == b->n && !memcmp(a->bytes, b->bytes, a->n);
}

const char *pdet_build_id_words(const struct pdet_build_id *id,
				pdet_build_id_text buf)
{
	size_t i;

	if (!id->n)
		return "none";
	for (i = 0; i < id->n; i++)
		snprintf(buf + 2 * i, 3, "%02x", id->bytes[i]);
	return buf;
}
