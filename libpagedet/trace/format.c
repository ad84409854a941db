/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Lines "name:", "ID:" and "field:"; the rest is for readers of text. */
#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "base/text/text.h"
#include "trace/format.h"

/* Pages of a ring buffer are described in the same form. */
#define MOST_BYTES ((uint64_t)16 << 20)

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* Steps to behind the next @what. */
static bool find(struct pdet_scan *s, const char *what)
{
	const char *at = memmem(s->at, (size_t)(s->end - s->at), what,
				strlen(what));

	if (at)
		s->at = at + strlen(what);
	return at != NULL;
}

static bool take_number(struct pdet_scan *s, const char *key, uint64_t *ret)
{
	return find(s, key) && pdet_scan_dec(s, ret) && *ret < MOST_BYTES &&
	       pdet_scan_char(s, ';');
}

/*
 * The name is the last word before the semicolon, or before the brackets of an
 * array: "const void * ptr", "char comm[16]", "__data_loc char[] name".
 */
static void take_name(struct pdet_scan declaration, struct pdet_trace_field *f)
{
	const char *end = declaration.end, *begin;
	size_t len;

	f->is_text = pdet_scan_word(&declaration, "__data_loc ");
	if (end > declaration.at && end[-1] == ']') {
		f->is_array = true;
		while (end > declaration.at && *--end != '[')
			;
	}
	for (begin = end; begin > declaration.at && is_word(begin[-1]); begin--)
		;
	len = (size_t)(end - begin);
	if (len < sizeof(f->name))
		memcpy(f->name, begin, len);
}

/* "field:DECLARATION;	offset:N;	size:N;	signed:N;" */
static int take_field(struct pdet_scan line, struct pdet_trace_format *ret)
{
	struct pdet_trace_field f = { .is_signed = false };
	struct pdet_scan declaration = line;
	uint64_t offset, size;

	if (!find(&line, ";"))
		return -EBADMSG;
	declaration.end = line.at - 1;
	if (!take_number(&line, "offset:", &offset) ||
	    !take_number(&line, "size:", &size))
		return -EBADMSG;
	take_name(declaration, &f);
	f.offset = (uint32_t)offset;
	f.size = (uint32_t)size;
	/* Kernels before 2.6.32 do not write it. */
	f.is_signed = find(&line, "signed:1;");
	if (*f.name && ret->n < PDET_TRACE_FIELDS)
		ret->field[ret->n++] = f;
	return 0;
}

int pdet_trace_format_parse(const char *text, size_t len,
			    struct pdet_trace_format *ret)
{
	struct pdet_scan all = { text, text + len }, line;
	bool has_id = false;
	uint64_t id;
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	while (r == 0 && pdet_scan_line(&all, &line)) {
		pdet_scan_blanks(&line);
		if (pdet_scan_word(&line, "name: ")) {
			const size_t n = (size_t)(line.end - line.at);

			/* No event of interest has such a long name. */
			memcpy(ret->name, line.at,
			       PDET_MIN(n, sizeof(ret->name) - 1));
		} else if (pdet_scan_word(&line, "ID: ")) {
			has_id = pdet_scan_dec(&line, &id) &&
				 id <= UINT16_MAX;
			ret->id = has_id ? (uint32_t)id : 0;
		} else if (pdet_scan_word(&line, "field:")) {
			r = take_field(line, ret);
		}
	}
	return r < 0 ? r : has_id && *ret->name ? 0 : -EBADMSG;
}

const struct pdet_trace_field *
pdet_trace_field(const struct pdet_trace_format *f, const char *name)
{
	unsigned i;

	for (i = 0; i < f->n; i++)
		if (!strcmp(f->field[i].name, name))
			return &f->field[i];
	return NULL;
}
