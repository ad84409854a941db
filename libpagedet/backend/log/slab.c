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
 * Then comes the task: "CPU: 1 PID: 123 Comm: x ...". Most kernels hash
 * addresses of slabs, but never those of lists. pointer.c judges those of 32
 * bits.
 */
#include <stdio.h>
#include <string.h>

#include "backend/log/report.h"
#include "kernel/text/broken_lines.h"

/* "ADDRESS, that of prev" and its end. */
#define MOST_ADDRESS 24

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
 * poison of entries that were taken out, one byte again and again, or bytes
 * with which no address begins. */
static bool is_plain(uint64_t value, unsigned digits)
{
	const uint64_t top = value >> 48;

	return value < 0x1000 || top == 0xdead ||
	       pdet_log_is_fill(value, digits / 2) ||
	       (top && !(top & 0x8080));
}

/* The neighbour that the line names at its end, whose address is @value: "prev"
 * or "next"; NULL if it is not. */
static const char *neighbour_at(struct pdet_scan line, uint64_t value)
{
	static const char *const names[] = { "prev", "next" };
	char word[] = "(prev=";
	struct pdet_scan s;
	uint64_t at;
	size_t i;

	for (i = 0; i < PDET_COUNT(names); i++) {
		memcpy(word + 1, names[i], 4);
		if (pdet_log_behind(line, word, &s) && pdet_log_hex(&s, &at) &&
		    at == value)
			return names[i];
	}
	return NULL;
}

/* Write what stands for an address. Of the value that was found, say if it is
 * that of a neighbour. */
static size_t put_address(char *to, size_t size, struct pdet_scan line,
			  const char *at, uint64_t value)
{
	static const char found[] = "but was ";
	const size_t len = sizeof(found) - 1;
	const char *name = (size_t)(at - line.at) >= len &&
			   !memcmp(at - len, found, len) ?
		neighbour_at(line, value) : NULL;

	return (size_t)snprintf(to, size, "ADDRESS%s%s",
				name ? ", that of " : "", name ? name : "");
}

/* Store the line as the reason, with the values that were found and expected:
 * once without addresses of the kernel, which not everybody may see, and once
 * with them. */
static void list_reason(struct pdet_log_page *p, struct pdet_scan line,
			bool *memory)
{
	struct pdet_scan s = line;
	char text[512];
	size_t n = 0;

	while (s.at < s.end && n < sizeof(text) - MOST_ADDRESS) {
		const char *at = s.at;
		uint64_t value = 0;
		unsigned digits;

		for (; s.at < s.end && pdet_hex_digit(*s.at) < 16; s.at++)
			value = value << 4 | (uint64_t)pdet_hex_digit(*s.at);
		digits = (unsigned)(s.at - at);
		/* A damaged number of another length may be a part of one. */
		if (digits < 8 || ((digits == 8 || digits == 16) &&
				   is_plain(value, digits))) {
			s.at += !digits;
			memcpy(text + n, at, (size_t)(s.at - at));
			n += (size_t)(s.at - at);
		} else {
			n += put_address(text + n, MOST_ADDRESS, line, at,
					 value);
		}
	}
	*memory &= pdet_log_keep(p, (struct pdet_scan){ text, text + n },
				 &p->reason) &&
		   pdet_log_keep(p, line, &p->exact);
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
		 * the entry, and not the neighbour, which may be in the part of
		 * a line that is missing. */
		p->found = pdet_is_broken(s);
		if (!address_behind(p, s, "(prev=") &&
		    !address_behind(p, s, "(next=") && !p->found &&
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
	struct pdet_log_pointer free;
	struct pdet_scan flags, fp;

	if (!pdet_scan_word(&s, "Slab 0x"))
		return false;
	p->is_slab = true;
	if (pdet_log_behind(s, " fp=", &fp) && pdet_log_pointer(&fp, &free))
		pdet_log_see_pointer(p, free);
	if (!(p->has & PDET_LOG_FLAGS) && pdet_log_behind(s, " flags=", &flags))
		pdet_log_flags(p, flags);
	return true;
}

/* " @offset=1280" behind an address: the address where the slab begins. */
static bool base_of(struct pdet_log_pointer is, struct pdet_scan rest,
		    uint64_t *ret)
{
	struct pdet_scan s;
	uint64_t offset;

	if (!pdet_log_is_real(is) || !pdet_log_behind(rest, " @offset=", &s) ||
	    !pdet_scan_dec(&s, &offset))
		return false;
	*ret = is.value - offset;
	return true;
}

/* " @offset=1280 fp=0x...", which follows a pointer. */
static void see_place(struct pdet_log_page *p, struct pdet_log_pointer is,
		      struct pdet_scan rest)
{
	struct pdet_log_pointer free;
	struct pdet_scan s;
	uint64_t offset;

	p->has_serial |= base_of(is, rest, &p->serial);
	if (pdet_log_behind(rest, " @offset=", &s) &&
	    pdet_scan_dec(&s, &offset))
		pdet_log_place_pointer(p, is, offset);
	else
		pdet_log_see_pointer(p, is);
	if (pdet_log_behind(rest, " fp=", &s) && pdet_log_pointer(&s, &free))
		pdet_log_see_pointer(p, free);
}

/* "Object 0x... @offset=1280 fp=0x...". */
static bool object_line(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_log_pointer is;
	struct pdet_scan offset;

	if (!pdet_scan_word(&s, "Object ") || !pdet_log_pointer(&s, &is) ||
	    !pdet_log_behind(s, " @offset=", &offset))
		return false;
	pdet_log_take_pointer(p, is);
	see_place(p, is, s);
	p->object = true;
	return true;
}

/* The overwritten range, if no object is named. */
static bool range_line(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan from = s, number;
	struct pdet_log_pointer is, last;

	if (pdet_scan_char(&from, '[') &&
	    !pdet_log_behind(from, " overwritten] ", &from))
		return false;
	number = from;
	if (!pdet_scan_word(&number, "0x") || !pdet_log_pointer(&from, &is) ||
	    !pdet_scan_word(&from, "-0x"))
		return false;
	if (!p->object)
		pdet_log_take_pointer(p, is);
	if (pdet_log_pointer(&from, &last))
		pdet_log_see_pointer(p, last);
	see_place(p, is, from);
	return true;
}

/* "Redzone  81c7c480: cc cc cc", a line of a hex dump. */
static bool dump_line(struct pdet_log_page *p, struct pdet_scan s)
{
	static const char *const words[] = {
		"Redzone ", "Padding ", "Object ", "Bytes b4 ",
	};
	struct pdet_log_pointer is;
	size_t i;

	for (i = 0; i < PDET_COUNT(words); i++) {
		if (!pdet_scan_word(&s, words[i]))
			continue;
		if (pdet_log_pointer(&s, &is) && pdet_scan_char(&s, ':'))
			pdet_log_see_pointer(p, is);
		return true;
	}
	return false;
}

/* True for lines of the report without a value for a row. */
static bool other_line(struct pdet_scan s)
{
	static const char *const words[] = {
		"Allocated in ", "Freed in ", "-----", "=====",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(words); i++)
		if (pdet_scan_word(&s, words[i]))
			return true;
	return false;
}

/* "FIX kmalloc-64: Restoring Right Redzone 0x...", also of another slab. */
static bool is_fix_of(const struct pdet_log_page *p, struct pdet_scan s)
{
	const struct pdet_scan cache = pdet_log_page_text(p, p->cache);
	const size_t len = (size_t)(cache.end - cache.at);

	return pdet_scan_word(&s, "FIX ") && (size_t)(s.end - s.at) > len &&
	       !memcmp(s.at, cache.at, len) && s.at[len] == ':';
}

static bool of_slab(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	if (is_fix_of(p, s)) {
		p->over = true;
		return true;
	}
	/* FIX still comes. */
	if (!p->others && pdet_log_cpu(p, s, memory))
		return true;
	pdet_scan_word(&s, "INFO: ");
	return slab_line(p, s) || object_line(p, s) || range_line(p, s) ||
	       dump_line(p, s) || other_line(s);
}

/* "WARNING: CPU: 2 PID: 3920 at lib/list_debug.c:29 f+0x74/0xc0", or the line
 * of the task, follows the one of the list. */
static bool of_list(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan at;
	uint64_t cpu, pid;

	if (pdet_log_cpu(p, s, memory)) {
		p->over = true;
		return true;
	}
	if (pdet_scan_word(&s, "WARNING: CPU: ") && pdet_scan_dec(&s, &cpu) &&
	    pdet_scan_word(&s, " PID: ") && pdet_scan_dec(&s, &pid) &&
	    pid <= INT32_MAX && pdet_log_behind(s, "lib/list_debug.c", &at)) {
		p->task = true;
		p->pid = (uint32_t)pid;
		return true;
	}
	return false;
}

bool pdet_log_slab(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	return p->report == PAGEDET_REPORT_SLAB ? of_slab(p, s, memory) :
						  of_list(p, s, memory);
}

/* A line whose place in the slab is known: the object, or the range. */
static enum pdet_log_fit placed(const struct pdet_log_page *p,
				struct pdet_scan s)
{
	struct pdet_log_pointer is;
	uint64_t base;

	if (!p->has_serial || !pdet_log_pointer(&s, &is) ||
	    !base_of(is, s, &base))
		return PDET_LOG_MAY_FIT;
	return base == p->serial ? PDET_LOG_FITS : PDET_LOG_FITS_NOT;
}

/* The task is the last line but one, which names the cache. The range is before
 * the line of the slab, and that one before the object's. */
static enum pdet_log_fit slab_fits(const struct pdet_log_page *p,
				   struct pdet_scan s)
{
	struct pdet_scan from = s;

	if (pdet_scan_word(&from, "FIX "))
		return is_fix_of(p, s) ? PDET_LOG_FITS : PDET_LOG_FITS_NOT;
	if (p->task)
		return PDET_LOG_FITS_NOT;
	pdet_scan_word(&s, "INFO: ");
	if (pdet_scan_word(&s, "Slab 0x"))
		return p->is_slab ? PDET_LOG_FITS_NOT : PDET_LOG_MAY_FIT;
	if (pdet_scan_word(&s, "Object ") && pdet_log_behind(s, " @offset=",
							     &from))
		return p->object ? PDET_LOG_FITS_NOT : placed(p, s);
	if (pdet_scan_char(&s, '[') &&
	    !pdet_log_behind(s, " overwritten] ", &s))
		return PDET_LOG_MAY_FIT;
	if (pdet_scan_word(&s, "0x"))
		return p->is_slab ? PDET_LOG_FITS_NOT : placed(p, s);
	return PDET_LOG_MAY_FIT;
}

enum pdet_log_fit pdet_log_slab_fits(const struct pdet_log_page *p,
				     struct pdet_scan s)
{
	uint32_t pid;
	bool has_pid;

	if (p->report == PAGEDET_REPORT_SLAB)
		return slab_fits(p, s);
	if (p->task && pdet_log_is_error(s, &pid, &has_pid))
		return has_pid && pid == p->pid ? PDET_LOG_FITS :
						  PDET_LOG_FITS_NOT;
	return PDET_LOG_MAY_FIT;
}
