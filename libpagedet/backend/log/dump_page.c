/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses a block of dump_page() (Linux mm/debug.c, __dump_page() and
 * __dump_folio()), from 5.10 to 6.18. Older kernels print less; missing values
 * are unknown. Before 5.10 the "page:" line says that a page is compound:
 *
 *   page:ADDRESS refcount:1 ... index:0x0 compound_mapcount: 0
 *   page:ADDRESS refcount:1 ... index:0x0 head:ADDRESS order:9
 *       compound_mapcount:0 compound_pincount:0		(5.7 to 5.9)
 *
 * Before 2.6.34 it is one line, whose flags have no names:
 *
 *   page:ADDRESS flags:0020000000000814 count:0 mapcount:-1 mapping:ADDRESS
 *       index:7f3c9a41b
 *   page:ADDRESS flags:0x80000814 mapping:ADDRESS mapcount:0 count:0
 *							(before 2.6.29)
 *
 * Of a struct page that was never initialized, since 4.16, there are only its
 * address, before 5.14 the pattern in it, and the reason:
 *
 *   page:ADDRESS is uninitialized and poisoned
 *   raw: ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff
 */
#include <string.h>

#include "backend/log/report.h"
#include "kernel/text/broken_lines.h"
#include "kernel/page/flag_names.h"

#define PF(name) PAGEDET_PF(PAGEDET_PF_##name)

bool pdet_log_keep(struct pdet_log_page *p, struct pdet_scan text,
		   struct pdet_log_text *ret)
{
	const size_t len = (size_t)(text.end - text.at);

	/* Its end is missing, and it would be another text. */
	if (pdet_is_broken(text)) {
		p->partial = p->ends_lost = true;
		return true;
	}
	if (p->text.n > UINT32_MAX - len || !pdet_vec_reserve(&p->text, len))
		return false;
	if (len)
		memcpy(p->text.data + p->text.n, text.at, len);
	ret->at = (uint32_t)p->text.n;
	ret->len = (uint32_t)len;
	p->text.n += len;
	return true;
}

static bool signed_number(struct pdet_scan *s, int64_t *ret)
{
	bool minus = pdet_scan_char(s, '-');
	uint64_t value;

	if (!pdet_scan_dec(s, &value) || value > INT64_MAX)
		return false;
	*ret = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

static bool hex_number(struct pdet_scan *s, uint64_t *ret)
{
	pdet_scan_word(s, "0x");
	return pdet_scan_hex(s, ret);
}

/*
 * Find the text after the first " NAME" of a line, or after NAME at its start.
 */
static bool find(struct pdet_scan line, const char *name,
		 struct pdet_scan *ret)
{
	const size_t len = strlen(name);
	const char *at = line.at;

	while ((size_t)(line.end - at) >= len) {
		at = memmem(at, (size_t)(line.end - at), name, len);
		if (!at)
			return false;
		if (at == line.at || at[-1] == ' ') {
			*ret = (struct pdet_scan){ at + len, line.end };
			return true;
		}
		at++;
	}
	return false;
}

static bool find_signed(struct pdet_scan line, const char *name, int64_t *ret)
{
	struct pdet_scan s;

	return find(line, name, &s) && signed_number(&s, ret);
}

static bool find_hex(struct pdet_scan line, const char *name, uint64_t *ret)
{
	struct pdet_scan s;

	return find(line, name, &s) && hex_number(&s, ret);
}

/* Before 5.0 the address 0 is "          (null)". */
static bool find_mapping(struct pdet_scan line, uint64_t *ret)
{
	struct pdet_scan s;

	if (!find(line, "mapping:", &s))
		return false;
	pdet_scan_blanks(&s);
	*ret = 0;
	return pdet_scan_word(&s, "(null)") || hex_number(&s, ret);
}

static const char uninitialized[] = "is uninitialized and poisoned";

/* "page: refcount:2 ..."; before 6.9 "page:ffffea0000000000 refcount:2 ...",
 * where the address may be hashed. */
static bool page_line(struct pdet_scan *s, bool *old)
{
	struct pdet_scan word;
	uint64_t addr, flags;

	if (!pdet_scan_word(s, "page:"))
		return false;
	*old = pdet_scan_hex(s, &addr);
	if (!*old && pdet_scan_word(s, "(____ptrval____)"))
		*old = true;
	if (!pdet_scan_char(s, ' '))
		return false;
	if (*old && pdet_scan_is(s, uninitialized))
		return true;
	word = *s;
	if (pdet_scan_word(&word, "flags:") && hex_number(&word, &flags))
		return pdet_scan_word(&word, " count:") ||
		       pdet_scan_word(&word, " mapping:");
	/* "count:" before 5.1 */
	if ((size_t)(s->end - s->at) > 9 && !memcmp(s->at, "ref", 3))
		return !memcmp(s->at, "refcount:", 9);
	return (size_t)(s->end - s->at) > 6 && !memcmp(s->at, "count:", 6);
}

bool pdet_log_dump_page_begins(struct pdet_scan text)
{
	bool old;

	return page_line(&text, &old);
}

/*
 * Since 6.9: the page is a tail, but the head has fewer pages. The kernel then
 * clears the bit that makes it a tail, and shows the page as its own folio.
 */
bool pdet_log_dump_page_strays(struct pdet_scan text)
{
	return pdet_scan_word(&text, "page does not match folio");
}

bool pdet_log_dump_page_pfn(struct pdet_scan text, uint64_t *ret)
{
	return find_hex(text, "pfn:", ret);
}

static bool take_stray(struct pdet_log_page *p, struct pdet_scan s)
{
	if (!pdet_log_dump_page_strays(s))
		return false;
	p->stray = true;
	return true;
}

static void take_order(struct pdet_log_page *p, struct pdet_scan s)
{
	int64_t order;

	if (!find_signed(s, "order:", &order) || order < 0 || order > 63)
		return;
	p->order = (uint32_t)order;
	p->has |= PDET_LOG_HEAD;
	if (find_signed(s, "pincount:", &p->pincount) ||
	    find_signed(s, "compound_pincount:", &p->pincount))
		p->has |= PDET_LOG_PINCOUNT;
}

static bool take_page(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan rest;
	bool old;

	if (!page_line(&s, &old))
		return false;
	p->uninitialized = pdet_scan_is(&s, uninitialized);
	if ((!find_signed(s, "refcount:", &p->refcount) &&
	     !find_signed(s, "count:", &p->refcount)) ||
	    !find_signed(s, "mapcount:", &p->mapcount))
		return true;	/* damaged: ignore it */
	p->old_form = old;
	p->has |= PDET_LOG_PAGE;
	p->has_mapping = find_mapping(s, &p->mapping);
	if (find(s, "mapping:", &rest)) {
		pdet_scan_blanks(&rest);
		if (rest.at == rest.end)
			p->partial = p->ends_lost = true;
	}
	if (find_hex(s, "index:", &p->index))
		p->has |= PDET_LOG_INDEX;
	if (find_hex(s, "flags:", &p->flags_word))
		p->has |= PDET_LOG_FLAGS_WORD;
	if (find_hex(s, "pfn:", &p->dumped_pfn))
		p->has |= PDET_LOG_DUMPED_PFN;
	p->compound = find(s, "compound_mapcount:", &rest);
	if (p->compound)
		take_order(p, s);
	if (p->kind == PDET_LOG_DUMP_PAGE && p->has & PDET_LOG_DUMPED_PFN) {
		p->pfn = p->dumped_pfn;
		p->has |= PDET_LOG_PFN;
		pdet_log_bad_page_compare(p);
	}
	return true;
}

/* "head: order:9 mapcount:2 entire_mapcount:2 nr_pages_mapped:0 pincount:0";
 * before 6.2 "head:ADDRESS order:9 compound_mapcount:1 compound_pincount:0".
 * The hex dump has the same word before it. */
static bool take_head(struct pdet_log_page *p, struct pdet_scan s)
{
	if (!pdet_scan_word(&s, "head:"))
		return false;
	take_order(p, s);
	if (p->has & PDET_LOG_HEAD &&
	    find_signed(s, "mapcount:", &p->head_mapcount) &&
	    find_signed(s, "entire_mapcount:", &p->entire) &&
	    find_signed(s, "nr_pages_mapped:", &p->nr_mapped))
		p->has |= PDET_LOG_ENTIRE;
	return true;
}

/* "aops:ext4_aops ino:1a dentry name(?):"busybox"". */
static bool take_mapping(struct pdet_log_page *p, struct pdet_scan s,
			 bool *memory)
{
	struct pdet_scan name;

	if (pdet_scan_word(&s, "invalid mapping:") ||
	    pdet_scan_word(&s, "failed to read mapping"))
		return true;
	if (!pdet_scan_word(&s, "aops:"))
		return false;
	name = pdet_scan_token(&s);
	*memory &= pdet_log_keep(p, name, &p->aops);
	if (find_hex(s, "ino:", &p->inode))
		p->has |= PDET_LOG_INODE;
	/* up to the last quote, because the name may contain quotes */
	if (find(s, "dentry name(?):\"", &name) ||
	    find(s, "dentry name:\"", &name)) {
		name.end = memrchr(name.at, '"', (size_t)(name.end - name.at));
		if (name.end)
			*memory &= pdet_log_keep(p, name, &p->dentry);
	}
	return true;
}

bool pdet_log_flags(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan node = { NULL, NULL };
	uint64_t value, flags, n;

	if (!hex_number(&s, &value) || !pdet_flags_list(&s, &flags, &node))
		return false;
	p->flags_word = value;
	p->has |= PDET_LOG_FLAGS | PDET_LOG_FLAGS_WORD;
	p->flags |= flags;
	if (pdet_scan_dec(&node, &n) && n <= UINT32_MAX) {
		p->node = (uint32_t)n;
		p->has |= PDET_LOG_NODE;
	}
	if (pdet_scan_word(&s, ") CMA"))
		p->has |= PDET_LOG_CMA;
	p->flags_known = PDET_FLAGS_NAMED | p->flags;
	if (p->anon && p->flags & (PF(OWNER_2) | PF(MAPPEDTODISK))) {
		p->flags &= ~(PF(OWNER_2) | PF(MAPPEDTODISK));
		p->flags |= PF(ANON_EXCLUSIVE);
		p->flags_known &= ~(PF(OWNER_2) | PF(MAPPEDTODISK));
		p->flags_known |= PF(ANON_EXCLUSIVE);
	}
	return true;
}

/* "anon flags: 0x20028(uptodate|lru|swapbacked|node=0|zone=0) CMA"; "page
 * flags:" in some kernels of distributions that are based on 3.10. */
static bool take_flags(struct pdet_log_page *p, struct pdet_scan s)
{
	if (pdet_scan_word(&s, "anon "))
		p->anon = true;
	else if (pdet_scan_word(&s, "ksm "))
		p->anon = p->ksm = true;
	else
		pdet_scan_word(&s, "page ");
	return pdet_scan_word(&s, "flags: ") && pdet_log_flags(p, s);
}

/* "page_type: f4(hugetlb)" since 6.11; in 6.4 - 6.10 "0xffffff7f(buddy)". */
static bool take_type(struct pdet_log_page *p, struct pdet_scan s,
		      bool *memory)
{
	static const struct {
		const char *name;
		uint64_t bit;
	} types[] = {
		{ "buddy", PF(BUDDY) }, { "offline", PF(OFFLINE) },
		{ "table", PF(PGTABLE) }, { "pgtable", PF(PGTABLE) },
		{ "hugetlb", PF(HUGE) }, { "slab", PF(SLAB) },
	};
	struct pdet_scan name;
	uint64_t value;
	size_t i;

	if (!pdet_scan_word(&s, "page_type: "))
		return false;
	if (!hex_number(&s, &value) || !pdet_scan_char(&s, '('))
		return true;
	name.at = s.at;
	while (s.at < s.end && *s.at != ')')
		s.at++;
	name.end = s.at;
	p->has |= PDET_LOG_TYPE;
	*memory &= pdet_log_keep(p, name, &p->page_type);
	for (i = 0; i < PDET_COUNT(types); i++)
		if (pdet_scan_is(&name, types[i].name))
			p->flags |= types[i].bit;
	return true;
}

/* Parse four words of the hex dump. The seventh word of a struct page of 64
 * bytes has _mapcount and, above it, _refcount. It is one higher than printed
 * before, if the printing code does not count its own reference. */
static bool take_raw(struct pdet_log_page *p, struct pdet_scan s)
{
	const uint64_t refcount = (uint64_t)p->refcount;
	uint64_t word[8];
	unsigned bytes = 0;
	const char *at;
	size_t n;

	if (!pdet_scan_word(&s, "raw: "))
		return false;
	if (p->uninitialized)
		return true;	/* it is not the page's */
	for (n = 0; n < PDET_COUNT(word); n++) {
		at = s.at;
		if (!pdet_scan_hex(&s, &word[n]))
			break;
		bytes = s.at - at == 8 ? 4 : 8;
		pdet_scan_blanks(&s);
	}
	if (n < 4)
		return true;
	/* The first line may be lost. */
	if (p->loses && !(p->has & PDET_LOG_RAW) &&
	    (!(p->has & PDET_LOG_FLAGS) || word[0] != p->flags_word))
		return true;
	if (!(p->has & PDET_LOG_RAW)) {
		p->raw = word[0];
		p->has |= PDET_LOG_RAW;
		/* compound_head: of a tail it is the head's address, plus 1 */
		p->tail = word[1] & 1;
		p->tail_unsure |= p->tail && ((word[1] & 3) != 1 ||
				  (bytes == 8 && !(word[1] >> 63)));
		p->n_words = 0;
	} else if (!p->has_type_word) {
		p->type_word = (uint32_t)word[2];
		p->has_type_word = word[2] >> 32 == refcount ||
				   (p->has & PDET_LOG_META &&
				    word[2] >> 32 == refcount + 1);
	}
	n = PDET_MIN(n, PDET_LOG_WORDS - (size_t)p->n_words);
	memcpy(&p->words[p->n_words], word, n * sizeof(*word));
	p->n_words += (uint8_t)n;
	p->word_bytes = (uint8_t)bytes;
	return true;
}

/* "memcg:ffff90a2c0f65000": the raw word of struct page. */
static bool take_memcg(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t word;

	if (!pdet_scan_word(&s, "memcg:") &&
	    !pdet_scan_word(&s, "pages's memcg:") &&
	    !pdet_scan_word(&s, "page->mem_cgroup:"))
		return false;
	if (!pdet_scan_hex(&s, &word))
		return false;
	p->memcg_data = word;
	p->has |= PDET_LOG_MEMCG_DATA;
	return true;
}

/* page_owner's lines may follow it. */
static bool take_reason(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	if (!pdet_scan_word(&s, "page dumped because: "))
		return false;
	/* An answer of Page Detective continues after its block. */
	if (p->kind == PDET_LOG_DETECTIVE)
		return true;
	p->has |= PDET_LOG_FINISHED;
	if (!p->why.len)
		*memory &= pdet_log_keep(p, s, &p->why);
	/* The text of a report itself is more specific. */
	if (p->block && !p->says.len)
		*memory &= pdet_log_keep(p, s, &p->says);
	return true;
}

bool pdet_log_dump_page(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	return take_page(p, s) || take_stray(p, s) || take_head(p, s) ||
	       take_memcg(p, s) || take_mapping(p, s, memory) ||
	       take_flags(p, s) || take_type(p, s, memory) ||
	       take_raw(p, s) || take_reason(p, s, memory);
}
