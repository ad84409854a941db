/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses reports of overwritten slab objects and list entries (Linux mm/slub.c,
 * lib/list_debug.c; 5.10 to 6.18; before 5.13 "INFO: " precedes the lines about
 * slabs):
 *
 *   BUG kmalloc-64 (Not tainted): Poison overwritten
 *   0xffff9c88630414e8-0xffff9c88630414e8 @offset=5352. First byte 0x6c ...
 *   [Poison overwritten] 0x...-0x... @offset=5352. First byte ... (since 6.10)
 *   Allocated in f+0x9d/0x1de age=243 cpu=0 pid=28
 *   Slab 0xffffea0000123400 objects=33 used=3 fp=0x... flags=0x...(slab|head)
 *   Object 0xffff88800c0d3c40 @offset=3136 fp=0x...
 *   list_del corruption, ffff8880...->next is LIST_POISON1 (dead000000000100)
 *   list_del corruption. prev->next should be A, but was B. (prev=C)
 *   list_add corruption. next->prev should be prev (A), but was B. (next=C)
 *   list_add double add: new=A, prev=B, next=C.
 *
 * Most kernels hash addresses of slabs, but never those of lists. On 32 bits
 * the offset in the slab tells a hash from an address: slabs begin at a page.
 * One hash in 4096 looks so, but two of them do not agree on where it begins.
 */
#include <string.h>

#include "backend/log/report.h"

/* Store the report's text up to @until; the address after it goes to vaddr. */
static void say(struct pdet_log_page *p, struct pdet_scan s, const char *until,
		bool *memory)
{
	struct pdet_scan rest;

	if (pdet_log_behind(s, until, &rest))
		s.end = rest.at - strlen(until);
	pdet_log_says(p, s, memory);
}

static bool slab_begins(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	struct pdet_scan cache, tainted;

	if (!pdet_scan_word(&s, "BUG "))
		return false;
	cache.at = s.at;
	if (!pdet_log_behind(s, " (Not tainted): ", &s)) {
		if (!pdet_log_behind(s, " (Tainted: ", &tainted) ||
		    !pdet_log_behind(tainted, "): ", &s))
			return false;
		cache.end = tainted.at - strlen(" (Tainted: ");
	} else {
		cache.end = s.at - strlen(" (Not tainted): ");
	}
	if (cache.at == cache.end || cache.end - cache.at > 128)
		return false;
	p->report = PAGEDET_REPORT_SLAB;
	p->found = true;
	*memory &= pdet_log_keep(p, cache, &p->cache);
	say(p, s, " 0x", memory);
	return true;
}

static bool address_behind(struct pdet_log_page *p, struct pdet_scan line,
			   const char *words)
{
	struct pdet_scan s;
	uint64_t addr;

	if (!pdet_log_behind(line, words, &s) || !pdet_log_hex(&s, &addr))
		return false;
	pdet_log_kernel_address(p, addr);
	return true;
}

/* Whether a word of such a line is a value that is not an address: nothing, the
 * poison of entries that were taken out, or one byte again and again. */
static bool is_plain(uint64_t value, unsigned digits)
{
	return value < 0x1000 || value >> 48 == 0xdead ||
	       pdet_log_is_fill(value, digits / 2);
}

/* Store the line as the reason, with the values that were found and expected.
 * The text does not have addresses of the kernel, which not everybody may see:
 * the row has one. */
static void list_reason(struct pdet_log_page *p, struct pdet_scan line,
			bool *memory)
{
	static const char address[] = "ADDRESS";
	char text[512];
	size_t n = 0;

	while (line.at < line.end && n < sizeof(text) - sizeof(address)) {
		struct pdet_scan s = line;
		uint64_t value;
		unsigned digits = 0;

		if (pdet_scan_hex(&s, &value))
			digits = (unsigned)(s.at - line.at);
		if ((digits == 8 || digits == 16) && !is_plain(value, digits)) {
			memcpy(text + n, address, sizeof(address) - 1);
			n += sizeof(address) - 1;
			line.at = s.at;
		} else {
			text[n++] = *line.at++;
		}
	}
	*memory &= pdet_log_keep(p, (struct pdet_scan){ text, text + n },
				 &p->reason);
}

static bool list_begins(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	const struct pdet_scan line = s;
	const char *until = " should be ";
	uint64_t addr;

	if (pdet_scan_word(&s, "list_del corruption, ")) {
		if (!pdet_log_hex(&s, &addr))
			return false;
		until = ", ";
		pdet_log_kernel_address(p, addr);
	} else if (pdet_scan_word(&s, "list_del corruption. ") ||
		   pdet_scan_word(&s, "list_add corruption. ")) {
		/* The neighbour is corrupt. Before 5.18 the kernel printed only
		 * the entry, and not the neighbour. */
		if (!address_behind(p, s, "(prev=") &&
		    !address_behind(p, s, "(next=") &&
		    !address_behind(p, s, " should be "))
			return false;
	} else if (pdet_scan_word(&s, "list_add double add: ")) {
		if (!address_behind(p, s, "new="))
			return false;
		until = ": ";
	} else {
		return false;
	}
	p->report = PAGEDET_REPORT_LIST;
	p->over = true;
	say(p, line, until, memory);
	list_reason(p, line, memory);
	return true;
}

bool pdet_log_slab_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory)
{
	return slab_begins(p, s, memory) || list_begins(p, s, memory);
}

/* "Slab 0x... objects=33 used=3 fp=0x... flags=0x...(head|node=0|zone=2)";
 * before 5.10 without names of flags. */
static bool slab_line(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan flags;

	if (!pdet_scan_word(&s, "Slab 0x"))
		return false;
	p->is_slab = true;
	if (!(p->has & PDET_LOG_FLAGS) && pdet_log_behind(s, " flags=", &flags))
		pdet_log_flags(p, flags);
	return true;
}

/* Whether an earlier line with another address has the slab where this one has
 * it. The same address would have the same hash. */
static bool agrees(struct pdet_log_page *p, struct pdet_log_pointer is,
		   struct pdet_scan rest)
{
	const uint64_t in_page = 0xfff;
	uint64_t offset, slab;
	bool same;

	if (is.digits != 8 || !pdet_log_behind(rest, " @offset=", &rest) ||
	    !pdet_scan_dec(&rest, &offset) || offset >= is.value ||
	    (is.value - offset) & in_page)
		return false;
	slab = is.value - offset;
	same = p->slab == slab && p->slab_offset != offset;
	p->slab = slab;
	p->slab_offset = offset;
	return same;
}

/* Store an address if it is not a hash. */
static void take_address(struct pdet_log_page *p, struct pdet_log_pointer is,
			 struct pdet_scan rest)
{
	if (agrees(p, is, rest)) {
		p->hashed = false;
		pdet_log_kernel_address(p, is.value);
	} else if (pdet_log_is_real(is)) {
		pdet_log_kernel_address(p, is.value);
	} else {
		p->hashed |= is.value != 0;
	}
}

/* "Object 0x... @offset=". */
static bool object_line(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_log_pointer is;
	struct pdet_scan offset;

	if (!pdet_scan_word(&s, "Object ") || !pdet_log_pointer(&s, &is) ||
	    !pdet_log_behind(s, " @offset=", &offset))
		return false;
	take_address(p, is, s);
	return true;
}

/* The overwritten range, if no object is named. */
static bool range_line(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan from = s, number;
	struct pdet_log_pointer is;

	if (pdet_scan_char(&from, '[') &&
	    !pdet_log_behind(from, " overwritten] ", &from))
		return false;
	number = from;
	if (!pdet_scan_word(&number, "0x") || !pdet_log_pointer(&from, &is) ||
	    !pdet_scan_word(&from, "-0x"))
		return false;
	if (!p->has_kaddr)
		take_address(p, is, from);
	return true;
}

/* True for lines of the report without a value for a row. */
static bool other_line(struct pdet_scan s)
{
	static const char *const words[] = {
		"Allocated in ", "Freed in ", "Redzone ", "Padding ",
		"Object ", "Bytes b4 ", "-----", "=====",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(words); i++)
		if (pdet_scan_word(&s, words[i]))
			return true;
	return false;
}

bool pdet_log_slab(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan rest = s;

	(void)memory;
	if (p->report != PAGEDET_REPORT_SLAB)
		return false;
	if (pdet_scan_word(&rest, "FIX ")) {
		p->over = true;
		return true;
	}
	pdet_scan_word(&s, "INFO: ");
	return slab_line(p, s) || object_line(p, s) || range_line(p, s) ||
	       other_line(s);
}
