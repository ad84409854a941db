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
	"UFO_HEAP", "GLOBAL", "KMALLOC", "KMALLOC_ND", "KMEM_CACHE",
	"KMEM_CACHE_ND", "KMEM_CACHE_BULK", "VMALLOC", "ALLOC_PAGES",
	"ALLOC_PAGES_EXACT", "ALLOC_PAGES_GETFREEPAGES", "ALLOC_PAGES_FOLIO",
	"INDUCED_ALLOC", "BOOTMEM", "MEMBLOCK", "UFO_MEMBLOCK", "MEMORIZER",
	"USER", "BUG", "UFO_GLOBAL", "UFO_NONE", "NONE",
	"ALLOC TYPE NOT FOUND",
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

static bool scan_signed(struct pdet_scan *s, int64_t *ret)
{
	const bool minus = pdet_scan_char(s, '-');
	uint64_t v;

	if (!pdet_scan_dec(s, &v) || v > INT32_MAX)
		return false;
	*ret = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

static bool comma(struct pdet_scan *s)
{
	return pdet_scan_char(s, ',');
}

static bool scan_numbers(struct pdet_scan *s, struct pdet_kmap_line *ret)
{
	return scan_place(s, &ret->site) && comma(s) &&
	       scan_signed(s, &ret->pid) && comma(s) &&
	       scan_place(s, &ret->va) && comma(s) &&
	       pdet_scan_dec(s, &ret->bytes) && comma(s) &&
	       pdet_scan_dec(s, &ret->alloc_index) && comma(s) &&
	       pdet_scan_dec(s, &ret->free_index) && comma(s) &&
	       scan_place(s, &ret->free_site) && comma(s);
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

bool pdet_kmap_access_line(struct pdet_scan line, unsigned dialect,
			   struct pdet_kmap_access *ret)
{
	struct pdet_kmap_place caller;
	uint64_t v[3];
	unsigned n = 0, pid;

	ret->pid = -1;
	blanks(&line);
	pdet_scan_word(&line, "from:");
	if (!scan_place(&line, &ret->site) || !comma(&line))
		return false;
	if (pdet_scan_word(&line, "caller:") &&
	    (!scan_place(&line, &caller) || !comma(&line)))
		return false;
	do
		if (n == PDET_COUNT(v) || !pdet_scan_dec(&line, &v[n++]))
			return false;
	while (comma(&line));
	if (line.at != line.end || n < 2)
		return false;
	pid = dialect == PAGEDET_KMAP_INDEXED ? 2 : 0;
	if (n == 3 && v[pid] > INT32_MAX)
		return false;
	if (n == 3)
		ret->pid = (int64_t)v[pid];
	ret->writes = v[n == 3 && !pid];
	ret->reads = v[1 + (n == 3 && !pid)];
	return true;
}

unsigned pdet_kmap_dialect(struct pdet_scan text)
{
	struct pdet_scan line, at, column[MOST_TEXTS];
	struct pdet_kmap_line l;
	unsigned n;

	while (pdet_scan_line(&text, &line)) {
		at = line;
		if (pdet_kmap_is_access(line) || !scan_numbers(&at, &l))
			continue;
		n = cut_texts(at, column);
		/* A command may be like a type of a later kernel. */
		if (n > PAGEDET_KMAP_LINUXKIT && !is_known_type(&column[0]))
			return 0;
		return pdet_kmap_object_line(line, n, &l) ? n : 0;
	}
	return 0;
}
