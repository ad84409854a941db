/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses reports of invalid pages and page table entries (Linux
 * mm/page_alloc.c, bad_page(), mm/filemap.c, filemap_unaccount_folio(), and
 * mm/memory.c, print_bad_pte(); 5.10 to 6.18; "cache" since 4.6):
 *
 *   BUG: Bad page state in process X  pfn:1a2b3
 *   [a block of dump_page()]
 *   BUG: Bad page cache in process X  pfn:1a2b3
 *   [a block of dump_page()]
 *   BUG: Bad page map in process X  pte:8000000071c00227 pmd:74b30067
 *   [a block of dump_page()]
 *   addr:0000000020563000 vm_flags:08100077 anon_vma:ffff8880547d2200
 *       mapping:0000000000000000 index:20563
 *   file:libc.so.6 fault:filemap_fault mmap:... read_folio:...
 *
 * All end with "CPU: 1 PID: 3614 Comm: X ...". Newer kernels name the level of
 * the entry in the first line, and put the entries on a line after it.
 */
#include <stdio.h>
#include <string.h>

#include "backend/log/report.h"
#include "backend/log/writers.h"
#include "kernel/text/broken_lines.h"

/* The kernel prints at least so many digits of a page's number. */
#define PFN_DIGITS 5

/* The entries of a report, which its rows quote: "pte:... pmd:...". */
static void keep_entries(struct pdet_log_page *p, struct pdet_scan line,
			 const char *end, bool *memory)
{
	struct pdet_scan s = { end, line.end };

	pdet_scan_blanks(&s);
	*memory &= pdet_log_keep(p, s, &p->entries);
}

/* "pgd:... p4d:... pud:... pmd:...", on a line of its own since 6.18: as many
 * levels as there are. */
static bool levels(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan entry = pdet_log_page_text(p, p->entries);
	struct pdet_scan word = s;
	char text[256];
	int n;

	if (p->has_levels || !pdet_scan_word(&word, "pgd:"))
		return false;
	n = snprintf(text, sizeof(text), "%.*s %.*s",
		     (int)(entry.end - entry.at), entry.at,
		     (int)(s.end - s.at), s.at);
	p->has_levels = n < (int)sizeof(text);
	if (p->has_levels)
		*memory &= pdet_log_keep(p, (struct pdet_scan){ text,
						text + n }, &p->entries);
	return true;
}

/* Cut "X  pte:8000000071c00227 ..." to "X". The entry goes to *ret. */
bool pdet_log_before_entry(struct pdet_scan *s, uint64_t *ret)
{
	static const char *const levels[] = {
		"  pte:", "  pmd:", "  pud:", "  p4d:", "  pgd:", " pte:",
	};
	struct pdet_scan number = *s;
	size_t i;

	for (i = 0; i < PDET_COUNT(levels); i++)
		if (pdet_log_before(s, levels[i])) {
			number.at = s->end + strlen(levels[i]);
			return pdet_log_hex(&number, ret);
		}
	return false;
}

/* The number of the page. Without all its digits the line was cut. */
static bool numbered(struct pdet_log_page *p, struct pdet_scan s)
{
	const char *at;
	uint64_t pfn;

	pdet_scan_word(&s, "0x");
	at = s.at;
	if (!pdet_scan_hex(&s, &pfn) && !pdet_is_broken(s))
		return false;
	p->found = true;
	p->partial = s.at - at < PFN_DIGITS;
	if (p->partial)
		return true;
	p->pfn = pfn;
	p->has |= PDET_LOG_PFN;
	return true;
}

/* "Bad page state in process 'X'", before 2.6.29: no number of the page. */
static bool unnumbered(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	if (!pdet_scan_word(&s, "Bad page state in process '") ||
	    s.at == s.end || s.end[-1] != '\'')
		return false;
	s.end--;
	p->report = PAGEDET_REPORT_BAD_PAGE_STATE;
	p->expects = p->needs_block = p->found = true;
	pdet_log_name(p, s, memory);
	return true;
}

bool pdet_log_bad_page_begins(struct pdet_log_page *p, struct pdet_scan s,
			      bool *memory)
{
	const struct pdet_scan line = s;
	struct pdet_scan number;
	uint64_t entry;
	bool cache;

	if (unnumbered(p, s, memory))
		return true;
	if (!pdet_scan_word(&s, "BUG: Bad page "))
		return false;
	cache = pdet_scan_word(&s, "cache in process ");
	if (cache || pdet_scan_word(&s, "state in process ")) {
		number = s;
		/* Take the last match, because X may contain the same text. Log
		 * collectors may merge two blanks into one. */
		if (!pdet_log_before(&s, " pfn:"))
			return false;
		number.at = s.end + strlen(" pfn:");
		if (!numbered(p, number))
			return false;
		p->report = cache ? PAGEDET_REPORT_BAD_PAGE_CACHE :
				    PAGEDET_REPORT_BAD_PAGE_STATE;
		p->needs_block = true;
	} else if (pdet_scan_word(&s, "map in process ")) {
		if (!pdet_log_before_entry(&s, &entry))
			return false;
		p->report = PAGEDET_REPORT_BAD_PAGE_MAP;
		keep_entries(p, line, s.end, memory);
	} else {
		return false;
	}
	p->expects = true;
	pdet_log_name(p, s, memory);
	return true;
}

/* Whether a page's number begins with the digits of @pfn. */
static bool begins_with(uint64_t is, uint64_t pfn)
{
	while (is > pfn)
		is >>= 4;
	return is == pfn;
}

/* Whether the beginning of the number that a 64-bit entry of 4K pages has is
 * @pfn. An entry of 64K pages would have it, too, but uses higher bits. */
static bool is_beginning(const struct pdet_log_page *p, uint64_t entry,
			 uint64_t pfn)
{
	const uint64_t is = entry >> 12 & (((uint64_t)1 << 34) - 1);

	return (!p->shift || p->shift == 12) && !(entry >> 52 & 0x7ff) &&
	       is != pfn && begins_with(is, pfn);
}

void pdet_log_bad_page_compare(struct pdet_log_page *p)
{
	struct pdet_scan s = pdet_log_page_text(p, p->entries);
	struct pdet_log_step step = { .entry = true };

	if (p->report != PAGEDET_REPORT_BAD_PAGE_MAP ||
	    !pdet_log_behind(s, ":", &s) || !pdet_log_hex(&s, &step.pfn))
		return;
	if (is_beginning(p, step.pfn, p->pfn)) {
		p->partial = true;
		p->has &= ~(uint32_t)(PDET_LOG_PFN | PDET_LOG_DUMPED_PFN);
	}
	p->partial |= !pdet_log_step_names(&step, p->pfn);
}

enum trust { HASHED, UNCERTAIN, REAL };

/*
 * The kernel prints the address and the pointers of this line in the same way:
 * with "%p", which is a hash from 4.15 to 5.0 and in 4.14 with backports, or
 * with "%px".
 */
static enum trust trust_of(struct pdet_log_pointer addr,
			   struct pdet_log_pointer anon_vma,
			   struct pdet_log_pointer file, uint64_t index)
{
	unsigned shift;

	if (pdet_log_is_real(addr) || pdet_log_is_real(anon_vma) ||
	    pdet_log_is_real(file))
		return REAL;
	if (!addr.digits || pdet_log_is_hash(anon_vma) ||
	    pdet_log_is_hash(file))
		return HASHED;
	/* The index of private memory is its address. */
	for (shift = 12; shift <= 16 && !file.value; shift++)
		if (addr.value >> shift == index)
			return REAL;
	/* 32 bits: the address of a page, and objects at words. Of 16384
	 * lines with hashes at most one has that. */
	return addr.digits == 8 && !(addr.value & 0xfff) &&
	       (anon_vma.value || file.value) &&
	       !((anon_vma.value | file.value) & 3) ? REAL : UNCERTAIN;
}

/* Parse the text after "addr:", completely or not at all. */
static bool address(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_log_pointer addr, anon_vma, file;
	struct pdet_scan flags, anon, mapping, index;
	uint64_t vm_flags, at;
	enum trust trust;

	if (p->has_vm_flags || !pdet_scan_word(&s, "addr:"))
		return false;
	if (!pdet_log_pointer(&s, &addr) ||
	    !pdet_log_behind(s, " vm_flags:", &flags) ||
	    !pdet_log_hex(&flags, &vm_flags) ||
	    !pdet_log_behind(s, " anon_vma:", &anon) ||
	    !pdet_log_pointer(&anon, &anon_vma) ||
	    !pdet_log_behind(s, " mapping:", &mapping) ||
	    !pdet_log_pointer(&mapping, &file) ||
	    !pdet_log_behind(s, " index:", &index) ||
	    !pdet_log_hex(&index, &at))
		return true;	/* damaged: ignore it */
	trust = trust_of(addr, anon_vma, file, at);
	p->expects = false;
	p->has_address = trust == REAL;
	p->hashed |= trust == HASHED;
	p->found = true;
	p->virt = trust == REAL ? addr.value : 0;
	p->has_vm_flags = true;
	p->vm_flags = vm_flags;
	if (file.value) {
		p->file_index = true;
		p->index_in_file = at;
	}
	return true;
}

/* "file:libc.so.6 fault:..."; before 6.9 "(null)" or "          (null)". */
static bool file(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	if (!p->has_vm_flags || !pdet_scan_word(&s, "file:"))
		return false;
	if (!pdet_log_before(&s, " fault:"))
		return true;
	pdet_scan_blanks(&s);
	if (!pdet_scan_is(&s, "(null)") && !p->file.len && s.at < s.end)
		*memory &= pdet_log_keep(p, s, &p->file);
	return true;
}

bool pdet_log_bad_page(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	if (p->report == PAGEDET_REPORT_BAD_PAGE_MAP &&
	    (levels(p, s, memory) || address(p, s) || file(p, s, memory)))
		return true;
	if (!pdet_log_cpu(p, s, memory))
		return false;
	p->over = true;
	return true;
}
