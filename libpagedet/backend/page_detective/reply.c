/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses answers with a table of keys. A known key must have the right form and
 * range; otherwise the whole answer is rejected, because a partly understood
 * answer would be wrong. An unknown word comes from a newer driver: that value
 * is unknown, and the others are used.
 *
 *   page pfn=0x92b1 state=have head=0x92b1 refcount=1 ... content=data
 *   map kind=user level=pte entry=0x80000000092b1867 addr=0x7fe8d1032000 ...
 *   maps pfn=0x92b1 kernel=2 user=1 tables=5 complete=1
 *   end
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/page_detective/reply.h"
#include "base/env.h"
#include "base/vec.h"
#include "pagedet.h"

/* No folio is larger. */
#define MOST_ORDER 40

enum form {
	NUMBER,		/* 0xHEX or decimal */
	SIGNED,		/* decimal */
	DEVICE,		/* MAJOR:MINOR */
	TEXT,		/* with \xHH escapes */
	WORD		/* a word from a list */
};

struct word {
	const char *name;
	uint64_t value;
};

static const struct word levels[] = {
	{ "pte", PAGEDET_LEVEL_PTE }, { "pmd", PAGEDET_LEVEL_PMD },
	{ "pud", PAGEDET_LEVEL_PUD }, { "p4d", PAGEDET_LEVEL_P4D },
	{ "pgd", PAGEDET_LEVEL_PGD }, { NULL, 0 },
};
static const struct word states[] = {
	{ "have", PAGE_DETECTIVE_HAVE },
	{ "unreferenced", PAGE_DETECTIVE_UNREFERENCED },
	{ "nopage", PAGE_DETECTIVE_NOPAGE },
	{ "notpresent", PAGE_DETECTIVE_NOTPRESENT }, { NULL, 0 },
};
static const struct word files[] = {
	{ "have", PAGE_DETECTIVE_FILE_HAVE },
	{ "none", PAGE_DETECTIVE_FILE_NONE },
	{ "busy", PAGE_DETECTIVE_FILE_BUSY }, { NULL, 0 },
};
static const struct word contents[] = {
	{ "zero", PAGE_DETECTIVE_ZERO }, { "data", PAGE_DETECTIVE_DATA },
	{ "poisoned", PAGE_DETECTIVE_POISONED },
	{ "unreadable", PAGE_DETECTIVE_UNREADABLE }, { NULL, 0 },
};
static const struct word kinds[] = {
	{ "user", PAGEDET_MAP_USER }, { "direct", PAGEDET_MAP_DIRECT },
	{ "vmalloc", PAGEDET_MAP_VMALLOC }, { "kernel", PAGEDET_MAP_OTHER },
	{ NULL, 0 },
};

struct key {
	const char *name;
	enum form form;
	uint32_t bit;
	size_t at;		/* offset of the member */
	const struct word *words;
	uint64_t most;		/* maximum; 0: none */
};

#define PAGE(member) offsetof(struct page_detective_page, member)
#define MAP(member) offsetof(struct page_detective_map, member)
#define SUM(member) offsetof(struct page_detective_sum, member)
#define KEY(name) PAGE_DETECTIVE_##name

static const struct key page_keys[] = {
	{ "pid", NUMBER, KEY(PID), PAGE(pid), NULL, INT32_MAX },
	{ "virt", NUMBER, KEY(VIRT), PAGE(virt), NULL, 0 },
	{ "level", WORD, KEY(LEVEL), PAGE(level), levels, 0 },
	{ "entry", NUMBER, KEY(ENTRY), PAGE(entry), NULL, 0 },
	{ "phys", NUMBER, KEY(PHYS), PAGE(phys), NULL, 0 },
	{ "pfn", NUMBER, KEY(PFN), PAGE(pfn), NULL, 0 },
	{ "state", WORD, KEY(STATE), PAGE(state), states, 0 },
	{ "head", NUMBER, KEY(HEAD), PAGE(head), NULL, 0 },
	{ "order", NUMBER, KEY(ORDER), PAGE(order), NULL, MOST_ORDER },
	{ "refcount", SIGNED, KEY(REFCOUNT), PAGE(refcount), NULL, 0 },
	{ "mapcount", SIGNED, KEY(MAPCOUNT), PAGE(mapcount), NULL, 0 },
	{ "pincount", SIGNED, KEY(PINCOUNT), PAGE(pincount), NULL, 0 },
	{ "flags", NUMBER, KEY(FLAGS), PAGE(flags), NULL, 0 },
	{ "page_flags", NUMBER, KEY(PAGE_FLAGS), PAGE(page_flags), NULL, 0 },
	{ "kpageflags", NUMBER, KEY(KPAGEFLAGS), PAGE(kpageflags), NULL, 0 },
	{ "anon", NUMBER, KEY(ANON), PAGE(anon), NULL, 1 },
	{ "memcg_ino", NUMBER, KEY(MEMCG_INO), PAGE(memcg_ino), NULL, 0 },
	{ "memcg", TEXT, KEY(MEMCG), PAGE(memcg), NULL, 0 },
	{ "file", WORD, KEY(FILE), PAGE(file), files, 0 },
	{ "dev", DEVICE, KEY(DEV), PAGE(dev), NULL, 0 },
	{ "ino", NUMBER, KEY(INO), PAGE(ino), NULL, 0 },
	{ "index", NUMBER, KEY(INDEX), PAGE(index), NULL, 0 },
	{ "content", WORD, KEY(CONTENT), PAGE(content), contents, 0 },
};

static const struct key map_keys[] = {
	{ "kind", WORD, KEY(KIND), MAP(kind), kinds, 0 },
	{ "level", WORD, KEY(LEVEL), MAP(level), levels, 0 },
	{ "entry", NUMBER, KEY(ENTRY), MAP(entry), NULL, 0 },
	{ "pid", NUMBER, KEY(PID), MAP(pid), NULL, INT32_MAX },
	{ "addr", NUMBER, KEY(ADDR), MAP(addr), NULL, 0 },
	{ "comm", TEXT, KEY(COMM), MAP(comm), NULL, 0 },
	{ "vma_start", NUMBER, KEY(VMA_START), MAP(vma_start), NULL, 0 },
	{ "vma_end", NUMBER, KEY(VMA_END), MAP(vma_end), NULL, 0 },
	{ "vma_flags", NUMBER, KEY(VMA_FLAGS), MAP(vma_flags), NULL, 0 },
	{ "vma_name", TEXT, KEY(VMA_NAME), MAP(vma_name), NULL, 0 },
};

static const struct key sum_keys[] = {
	{ "pfn", NUMBER, KEY(PFN), SUM(pfn), NULL, 0 },
	{ "kernel", NUMBER, KEY(KERNEL), SUM(kernel), NULL, 0 },
	{ "user", NUMBER, KEY(USER), SUM(user), NULL, 0 },
	{ "complete", NUMBER, KEY(COMPLETE), SUM(complete), NULL, 1 },
};

/* --- values --- */

static bool number(struct pdet_scan s, uint64_t *ret)
{
	return (pdet_scan_word(&s, "0x") ? pdet_scan_hex(&s, ret) :
					   pdet_scan_dec(&s, ret)) &&
	       s.at == s.end;
}

static bool signed_number(struct pdet_scan s, uint64_t *ret)
{
	const bool minus = pdet_scan_char(&s, '-');
	uint64_t value;

	if (!pdet_scan_dec(&s, &value) || s.at != s.end || value > INT64_MAX)
		return false;
	*ret = minus ? -value : value;
	return true;
}

static bool word(struct pdet_scan s, const struct word *words, uint64_t *ret)
{
	for (; words->name; words++)
		if (pdet_scan_is(&s, words->name)) {
			*ret = words->value;
			return true;
		}
	return false;
}

/* 0, -EBADMSG or -ENOMEM. */
static int keep(struct page_detective_reply *a, struct pdet_scan s,
		struct page_detective_text *ret)
{
	const size_t from = a->text.n;

	if (!pdet_vec_reserve(&a->text, (size_t)(s.end - s.at)))
		return -ENOMEM;
	while (s.at < s.end) {
		int high, low;
		char c = *s.at++;

		if (c == '\\') {
			if (s.end - s.at < 3 || *s.at != 'x')
				return -EBADMSG;
			high = pdet_hex_digit(s.at[1]);
			low = pdet_hex_digit(s.at[2]);
			if (high > 15 || low > 15)
				return -EBADMSG;
			c = (char)(high << 4 | low);
			s.at += 3;
		}
		a->text.data[a->text.n++] = c;
	}
	if (a->text.n > UINT32_MAX)
		return -EBADMSG;
	ret->at = (uint32_t)from;
	ret->len = (uint32_t)(a->text.n - from);
	return 0;
}

/* Returns 1 for an unknown word. */
static int take(struct page_detective_reply *a, const struct key *key,
		struct pdet_scan s, void *record)
{
	void *to = (char *)record + key->at;
	uint64_t value = 0;
	bool good = false;

	switch (key->form) {
	case NUMBER:
		good = number(s, &value) && (!key->most || value <= key->most);
		break;
	case SIGNED:
		good = signed_number(s, &value);
		break;
	case DEVICE:
		good = pdet_scan_is_device(s, &value);
		break;
	case WORD:
		if (!word(s, key->words, &value))
			return 1;
		good = true;
		break;
	case TEXT:
		return keep(a, s, to);
	}
	if (!good)
		return -EBADMSG;
	memcpy(to, &value, sizeof(value));
	return 0;
}

/* Cut off the text before a blank or '='. */
static struct pdet_scan cut(struct pdet_scan *s, char at)
{
	const char *end = s->at < s->end ?
		memchr(s->at, at, (size_t)(s->end - s->at)) : NULL;
	struct pdet_scan ret = { s->at, end ? end : s->end };

	s->at = end ? end + 1 : s->end;
	return ret;
}

/* Parse the pairs of a line; *has and *strange belong to the record. */
static int fields(struct page_detective_reply *a, struct pdet_scan s,
		  const struct key *keys, size_t n, void *record,
		  uint32_t *has, uint32_t *strange)
{
	int r = 0;

	while (r == 0 && s.at < s.end) {
		struct pdet_scan value = cut(&s, ' ');
		const struct pdet_scan name = cut(&value, '=');
		size_t i;

		/* not even a '=' */
		if (name.end == name.at || *name.end != '=' ||
		    name.end == s.end)
			return -EBADMSG;
		for (i = 0; i < n && !pdet_scan_is(&name, keys[i].name); i++)
			;
		if (i == n)
			continue;
		if ((*has | *strange) & keys[i].bit)
			return -EBADMSG;
		r = take(a, &keys[i], value, record);
		if (r > 0)
			*strange |= keys[i].bit;
		else
			*has |= keys[i].bit;
		r = PDET_MIN(r, 0);
	}
	return r;
}

/* --- records --- */

static bool has_all(uint32_t has, uint32_t keys)
{
	return (has & keys) == keys;
}

/* Folios are aligned to their size. */
static bool is_folio_right(const struct page_detective_page *p)
{
	return has_all(p->has, KEY(PFN) | KEY(HEAD) | KEY(ORDER)) &&
	       p->head == (p->pfn & ~(((uint64_t)1 << p->order) - 1));
}

static bool is_page_right(const struct page_detective_page *p)
{
	const uint32_t said = p->has | p->strange;

	if (!(said & KEY(STATE)))
		return false;
	if (p->state == PAGE_DETECTIVE_STRANGE)
		return true;
	if (p->state == PAGE_DETECTIVE_NOTPRESENT)
		return has_all(said, KEY(PID) | KEY(VIRT) | KEY(LEVEL) |
			       KEY(ENTRY));
	/* A record without these is useless. */
	if (!(p->has & KEY(PFN)) ||
	    (p->has & KEY(VIRT) &&
	     !has_all(said, KEY(PID) | KEY(LEVEL) | KEY(ENTRY))))
		return false;
	return !(p->has & KEY(FILE)) || p->file != PAGE_DETECTIVE_FILE_HAVE ||
	       has_all(p->has, KEY(DEV) | KEY(INO) | KEY(INDEX));
}

static int page(struct page_detective_reply *a, struct pdet_scan s)
{
	struct page_detective_page *p;
	int r;

	if (a->pages.n == PAGE_DETECTIVE_FRAMES)
		return -EBADMSG;
	if (!pdet_vec_reserve(&a->pages, 1))
		return -ENOMEM;
	p = &a->pages.data[a->pages.n++];
	memset(p, 0, sizeof(*p));
	p->first = a->maps.n;
	r = fields(a, s, page_keys, PDET_COUNT(page_keys), p, &p->has,
		   &p->strange);
	if (r < 0 || !is_page_right(p))
		return r < 0 ? r : -EBADMSG;
	if (p->state == PAGE_DETECTIVE_STRANGE)
		p->has &= KEY(PID) | KEY(VIRT) | KEY(PHYS) | KEY(PFN);
	/* Without a reference the page may have changed meanwhile. */
	if (!is_folio_right(p))
		p->has &= ~(uint32_t)(KEY(HEAD) | KEY(ORDER));
	return 0;
}

/* The page that mappings belong to; NULL if its sum has already come. */
static struct page_detective_page *open_page(struct page_detective_reply *a)
{
	struct page_detective_page *p = a->pages.n ?
		&a->pages.data[a->pages.n - 1] : NULL;

	return p && !p->walked && p->has & KEY(PFN) ? p : NULL;
}

static bool is_map_right(const struct page_detective_map *m)
{
	const uint32_t vma = KEY(VMA_START) | KEY(VMA_END);

	/* A required value is unknown. */
	if (m->strange)
		return true;
	if (!has_all(m->has, KEY(KIND) | KEY(LEVEL) | KEY(ENTRY)))
		return false;
	if (m->kind != PAGEDET_MAP_USER)
		return true;
	return m->has & KEY(ADDR) &&
	       (!has_all(m->has, vma) ||
		(m->addr >= m->vma_start && m->addr < m->vma_end));
}

static int map(struct page_detective_reply *a, struct pdet_scan s)
{
	struct page_detective_page *p = open_page(a);
	struct page_detective_map *m;
	int r;

	if (!p || p->n == PAGE_DETECTIVE_MAPS)
		return -EBADMSG;
	if (!pdet_vec_reserve(&a->maps, 1))
		return -ENOMEM;
	m = &a->maps.data[a->maps.n++];
	memset(m, 0, sizeof(*m));
	p->n++;
	r = fields(a, s, map_keys, PDET_COUNT(map_keys), m, &m->has,
		   &m->strange);
	if (r < 0 || !is_map_right(m))
		return r < 0 ? r : -EBADMSG;
	/* The sum still counts it. */
	if (m->strange) {
		a->maps.n--;
		p->n--;
		p->partial = true;
	}
	return 0;
}

/* No more of a kind may be listed than were counted. */
static bool is_sum_right(const struct page_detective_reply *a,
			 const struct page_detective_page *p)
{
	const struct page_detective_sum *sum = &p->sum;
	uint64_t users = 0;
	size_t i;

	if (!has_all(sum->has, KEY(PFN) | KEY(USER)) || sum->pfn != p->pfn)
		return false;
	for (i = p->first; i < p->first + p->n; i++)
		users += a->maps.data[i].kind == PAGEDET_MAP_USER;
	return users <= sum->user && (!(sum->has & KEY(KERNEL)) ||
				      p->n - users <= sum->kernel);
}

static int sum(struct page_detective_reply *a, struct pdet_scan s)
{
	struct page_detective_page *p = open_page(a);
	uint32_t strange = 0;
	int r;

	if (!p)
		return -EBADMSG;
	p->walked = true;
	r = fields(a, s, sum_keys, PDET_COUNT(sum_keys), &p->sum,
		   &p->sum.has, &strange);
	if (r < 0 || !is_sum_right(a, p))
		return r < 0 ? r : -EBADMSG;
	if (p->partial)
		p->sum.complete = 0;
	return 0;
}

int page_detective_parse(struct pdet_scan text,
			 struct page_detective_reply *ret)
{
	struct pdet_scan line, name;
	bool ended = false;
	int r = 0;

	/* A line without newline was cut off. */
	if (text.at == text.end || text.end[-1] != '\n')
		return -EIO;
	while (r == 0 && pdet_scan_line(&text, &line)) {
		if (ended)
			return -EBADMSG;
		name = cut(&line, ' ');
		if (pdet_scan_is(&name, "page"))
			r = page(ret, line);
		else if (pdet_scan_is(&name, "map"))
			r = map(ret, line);
		else if (pdet_scan_is(&name, "maps"))
			r = sum(ret, line);
		else
			ended = pdet_scan_is(&name, "end");
	}
	return r < 0 ? r : ended ? 0 : -EIO;
}

void page_detective_reply_free(struct page_detective_reply *a)
{
	pdet_vec_free(&a->pages);
	pdet_vec_free(&a->maps);
	pdet_vec_free(&a->text);
}

/* --- features --- */

bool page_detective_version(struct pdet_scan text, char *buf, size_t size)
{
	struct pdet_scan line, pair;

	while (pdet_scan_line(&text, &line)) {
		pair = cut(&line, ' ');
		if (!pdet_scan_is(&pair, "feature=query"))
			continue;
		while (line.at < line.end) {
			pair = cut(&line, ' ');
			if (!pdet_scan_word(&pair, "version="))
				continue;
			snprintf(buf, size, "%.*s",
				 (int)(pair.end - pair.at), pair.at);
			return true;
		}
	}
	return false;
}

bool page_detective_feature_off(struct pdet_scan *text, char *buf,
				size_t size)
{
	struct pdet_scan line, name, needs;

	while (pdet_scan_line(text, &line)) {
		bool off = false;

		name = needs = (struct pdet_scan){ line.at, line.at };
		while (line.at < line.end) {
			struct pdet_scan pair = cut(&line, ' ');

			if (pdet_scan_word(&pair, "feature="))
				name = pair;
			else if (pdet_scan_word(&pair, "needs="))
				needs = pair;
			else
				off |= pdet_scan_is(&pair, "state=off");
		}
		if (!off || name.at == name.end)
			continue;
		snprintf(buf, size, "%.*s%s%.*s%s",
			 (int)(name.end - name.at), name.at,
			 needs.at < needs.end ? " (" : "",
			 (int)(needs.end - needs.at), needs.at,
			 needs.at < needs.end ? ")" : "");
		return true;
	}
	return false;
}
