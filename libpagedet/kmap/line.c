/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel prints addresses with %p, as wide as an address is: "(null)" and
 * "(____ptrval____)" have blanks on one side or the other. Numbers have none.
 */
#include <string.h>

#include "base/env.h"
#include "kmap/line.h"

/* Columns behind the numbers of an object. */
#define MOST_TEXTS 4u

static const char *const types[] = {
	"STACK", "STACK_FRAME", "STACK_ARGS", "STACK_PAGE", "GEN_HEAP",
	"UFO_HEAP", "GLOBAL", "UNKNOWN_GLOBAL", "KMALLOC", "KMALLOC_ND",
	"KMEM_CACHE", "KMEM_CACHE_ND", "KMEM_CACHE_BULK", "VMALLOC",
	"ALLOC_PAGES", "ALLOC_PAGES_EXACT", "ALLOC_PAGES_GETFREEPAGES",
	"ALLOC_PAGES_FOLIO", "INDUCED_ALLOC", "BOOTMEM", "MEMBLOCK",
	"UFO_MEMBLOCK", "MEMORIZER", "USER", "BUG", "UFO_GLOBAL", "UFO_NONE",
	"NONE", "ALLOC TYPE NOT FOUND",
};

static bool is_known_type(const struct pdet_scan *s)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(types); i++)
		if (pdet_scan_is(s, types[i]))
			return true;
	return false;
}

/* A later kernel may have more of them. */
static bool is_type(const struct pdet_scan *s)
{
	const char *p;

	for (p = s->at; p < s->end; p++)
		if (!(*p >= 'A' && *p <= 'Z') && !(*p >= '0' && *p <= '9') &&
		    *p != '_' && *p != ' ')
			return false;
	return s->at < s->end && *s->at >= 'A' && *s->at <= 'Z';
}

static bool is_code(uint64_t v)
{
	return v < PDET_KMAP_MOST_TYPES || v == PDET_KMAP_PREALLOCATED ||
	       v == PDET_KMAP_MISSED || v == PDET_KMAP_NESTED;
}

static void blanks(struct pdet_scan *s)
{
	while (s->at < s->end && *s->at == ' ')
		s->at++;
}

static bool scan_place(struct pdet_scan *s, struct pdet_kmap_place *ret)
{
	const char *begin;
	bool ok;

	*ret = (struct pdet_kmap_place){ 0, false, false };
	blanks(s);
	begin = s->at;
	if (s->at < s->end && *s->at == '(') {
		ret->hidden = pdet_scan_word(s, "(____ptrval____)");
		ok = ret->hidden || pdet_scan_word(s, "(null)");
	} else {
		ok = pdet_scan_hex(s, &ret->address);
		/* All addresses of a kernel that prints so many digits have
		 * more than 32 bits. */
		ret->hashed = s->at - begin == 16 && !(ret->address >> 32) &&
			      !is_code(ret->address);
	}
	blanks(s);
	return ok;
}

static bool scan_pid(struct pdet_scan *s, int64_t *ret)
{
	uint64_t v;

	if (!pdet_scan_dec(s, &v) || v > INT32_MAX)
		return false;
	*ret = (int64_t)v;
	return true;
}

static bool comma(struct pdet_scan *s)
{
	return pdet_scan_char(s, ',');
}

static bool scan_numbers(struct pdet_scan *s, struct pdet_kmap_line *ret)
{
	return scan_place(s, &ret->site) && comma(s) &&
	       scan_pid(s, &ret->pid) && comma(s) &&
	       scan_place(s, &ret->va) && comma(s) &&
	       pdet_scan_dec(s, &ret->bytes) && comma(s) &&
	       pdet_scan_dec(s, &ret->alloc_index) && comma(s) &&
	       pdet_scan_dec(s, &ret->free_index) && comma(s) &&
	       scan_place(s, &ret->free_site) && comma(s);
}

bool pdet_kmap_numbers(struct pdet_scan line, struct pdet_kmap_line *ret)
{
	return !pdet_kmap_is_access(line) && scan_numbers(&line, ret);
}

/* Cuts the rest at commas. Returns their number + 1, or 0: too many. */
static unsigned cut_texts(struct pdet_scan s, struct pdet_scan text[MOST_TEXTS])
{
	const char *at;
	unsigned n = 0;

	for (;;) {
		if (n == MOST_TEXTS)
			return 0;
		at = memchr(s.at, ',', (size_t)(s.end - s.at));
		text[n++] = (struct pdet_scan){ s.at, at ? at : s.end };
		if (!at)
			return n;
		s.at = at + 1;
	}
}

static bool is_nothing(const struct pdet_scan *s)
{
	return s->at == s->end;
}

bool pdet_kmap_object_line(struct pdet_scan line, unsigned dialect,
			   struct pdet_kmap_line *ret)
{
	static const struct pdet_scan none = { "", "" };
	struct pdet_scan text[MOST_TEXTS];

	ret->type = ret->cache = ret->replaced_by = none;
	if (!scan_numbers(&line, ret) || cut_texts(line, text) != dialect)
		return false;
	ret->command = text[dialect > PAGEDET_KMAP_LINUXKIT];
	if (dialect > PAGEDET_KMAP_LINUXKIT)
		ret->type = text[0];
	if (dialect > PAGEDET_KMAP_TYPED)
		ret->cache = text[2];
	if (dialect > PAGEDET_KMAP_SLAB)
		ret->replaced_by = text[3];
	return (dialect == PAGEDET_KMAP_LINUXKIT || is_type(&ret->type)) &&
	       (is_nothing(&ret->replaced_by) || is_type(&ret->replaced_by));
}

static unsigned commas(struct pdet_scan s)
{
	unsigned n = 0;

	while (s.at < s.end)
		n += *s.at++ == ',';
	return n;
}

bool pdet_kmap_is_access(struct pdet_scan line)
{
	if (line.at == line.end || *line.at != ' ')
		return false;
	/* A place that is 0 may have blanks in an object, too. */
	blanks(&line);
	return !pdet_scan_word(&line, "(null)") || commas(line) < 7;
}

static bool scan_from(struct pdet_scan *s, struct pdet_kmap_place *ret)
{
	struct pdet_kmap_place caller;

	blanks(s);
	pdet_scan_word(s, "from:");
	if (!scan_place(s, ret) || !comma(s))
		return false;
	return !pdet_scan_word(s, "caller:") ||
	       (scan_place(s, &caller) && comma(s));
}

/* "WRITES,READS", and of which thread: -1 if it is not told. */
static bool scan_indexed(struct pdet_scan *s, struct pdet_kmap_access *ret)
{
	if (!pdet_scan_dec(s, &ret->writes) || !comma(s) ||
	    !pdet_scan_dec(s, &ret->reads))
		return false;
	return s->at == s->end || pdet_scan_is(s, ",-1") ||
	       (comma(s) && scan_pid(s, &ret->pid) && s->at == s->end);
}

/* Older kernels print the thread first. */
static bool scan_older(struct pdet_scan *s, struct pdet_kmap_access *ret)
{
	if (commas(*s) == 2 && (!scan_pid(s, &ret->pid) || !comma(s)))
		return false;
	return pdet_scan_dec(s, &ret->writes) && comma(s) &&
	       pdet_scan_dec(s, &ret->reads) && s->at == s->end;
}

bool pdet_kmap_access_line(struct pdet_scan line, unsigned dialect,
			   struct pdet_kmap_access *ret)
{
	ret->pid = -1;
	if (!scan_from(&line, &ret->site))
		return false;
	return dialect == PAGEDET_KMAP_INDEXED ? scan_indexed(&line, ret) :
						 scan_older(&line, ret);
}

/* The next line that has the numbers of an object, and what is behind them. */
static bool next_object(struct pdet_scan *text, struct pdet_scan *line,
			struct pdet_scan *texts)
{
	struct pdet_kmap_line l;

	while (pdet_scan_line(text, line)) {
		*texts = *line;
		if (!pdet_kmap_is_access(*line) && scan_numbers(texts, &l))
			return true;
	}
	return false;
}

unsigned pdet_kmap_dialect(struct pdet_scan text)
{
	struct pdet_scan line, at, column[MOST_TEXTS];
	struct pdet_kmap_line l;
	size_t same = 1, others = 0;
	unsigned n;

	if (!next_object(&text, &line, &at))
		return 0;
	n = cut_texts(at, column);
	/* A command may be like a type of a later kernel. */
	if ((n > PAGEDET_KMAP_LINUXKIT && !is_known_type(&column[0])) ||
	    !pdet_kmap_object_line(line, n, &l))
		return 0;
	/* A comma in its command makes it look like another dialect. */
	while (next_object(&text, &line, &at))
		if (pdet_kmap_object_line(line, n, &l))
			same++;
		else if (line.end < text.end) /* is not cut */
			others++;
	return same > others ? n : 0;
}
