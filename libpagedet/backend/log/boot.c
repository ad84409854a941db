/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the boot and the kernel that lines of a log belong to:
 *
 *   Linux version 6.12.117 (lab@lab) (gcc ...) #1 SMP ...
 *   -- Boot 6f1c3a0e9d8b4c52a7e6f00112233445 --   (journalctl)
 *   -- Reboot --                                  (older ones)
 *   rtc_cmos 00:04: setting system clock to ... UTC (1795525766)
 *   audit: type=2000 audit(1795525765.123:1): state=initialized ...
 *
 * and its page size:
 *
 *   Dentry cache hash table entries: 65536 (order: 5, 524288 bytes, linear)
 *   swapper pgtable: 16k pages, 48-bit VAs, pgdp=...   (faults of arm64)
 */
#include <string.h>

#include "backend/log/log.h"
#include "base/hash.h"

/* Length of a boot id in digits. */
#define ID 32

uint32_t pdet_log_version(struct pdet_scan s)
{
	uint64_t major, minor;

	if (!pdet_scan_dec(&s, &major) || !pdet_scan_char(&s, '.') ||
	    !pdet_scan_dec(&s, &minor) || major > 99 || minor > 999)
		return 0;
	return PDET_LOG_VERSION(major, minor);
}

static void banner(struct pdet_log_boot *b, struct pdet_scan line)
{
	struct pdet_scan s = line;

	if (!pdet_scan_word(&s, "Linux version "))
		return;
	/* The journal's line precedes the kernel's first line. */
	b->number += !b->marked;
	b->marked = false;
	b->has_banner = true;
	b->banner = pdet_hash(line.at, (size_t)(line.end - line.at));
	b->has_clock = false;
	b->page_shift = 0;
	b->version = pdet_log_version(s);
}

static void next_boot(struct pdet_log_boot *b)
{
	*b = (struct pdet_log_boot){
		.number = b->number + 1, .marked = true,
	};
}

static void marker(struct pdet_log_boot *b, struct pdet_scan s)
{
	size_t i;

	if (pdet_scan_is(&s, "-- Reboot --")) {
		next_boot(b);
		return;
	}
	if (!pdet_scan_word(&s, "-- Boot ") || s.end - s.at < ID + 3 ||
	    memcmp(s.at + ID, " --", 3))
		return;
	for (i = 0; i < ID; i++)
		if (pdet_hex_digit(s.at[i]) > 15)
			return;
	next_boot(b);
	b->has_id = true;
	memcpy(b->id, s.at, ID);
}

/* Use seconds since 1970 from a line that also has the time since boot. */
static void clock_of(struct pdet_log_boot *b, struct pdet_scan s,
		     const struct pdet_log_stamp *stamp)
{
	struct pdet_scan at;
	uint64_t seconds;

	if (!stamp->has_us)
		return;
	if (pdet_scan_word(&s, "rtc")) {
		if (!pdet_log_behind(s, ": setting system clock to ", &at) ||
		    !pdet_log_behind(at, "(", &at))
			return;
	} else if (!pdet_scan_word(&s, "audit: type=2000 audit(")) {
		return;
	} else {
		at = s;
	}
	if (!pdet_scan_dec(&at, &seconds) || seconds >> 40)
		return;
	b->has_clock = true;
	b->booted_s = (int64_t)seconds - (int64_t)(stamp->us / 1000000);
}

static void set_page_size(struct pdet_log_boot *b, uint64_t bytes)
{
	unsigned shift;

	for (shift = 12; shift <= 16; shift += 2)
		if (bytes == (uint64_t)1 << shift)
			b->page_shift = (uint8_t)shift;
}

/* mm/mm_init.c, alloc_large_system_hash(): a table of more than one page has
 * 2^order pages if its size is a power of 2. */
static void hash_table(struct pdet_log_boot *b, struct pdet_scan s)
{
	uint64_t order, bytes;

	if (!pdet_log_behind(s, "hash table entries: ", &s) ||
	    !pdet_log_behind(s, " (order: ", &s) ||
	    !pdet_scan_dec(&s, &order) || !order || order > 31 ||
	    !pdet_scan_word(&s, ", ") || !pdet_scan_dec(&s, &bytes) ||
	    !pdet_scan_word(&s, " bytes") || bytes & (bytes - 1))
		return;
	set_page_size(b, bytes >> order);
}

/* arch/arm64/mm/fault.c, show_pte(). */
static void page_table(struct pdet_log_boot *b, struct pdet_scan s)
{
	uint64_t kib;

	if ((pdet_scan_word(&s, "swapper pgtable: ") ||
	     pdet_scan_word(&s, "user pgtable: ")) &&
	    pdet_scan_dec(&s, &kib) && pdet_scan_word(&s, "k pages, ") &&
	    kib <= 64)
		set_page_size(b, kib << 10);
}

void pdet_log_boot_line(struct pdet_log_boot *b, struct pdet_scan text,
			const struct pdet_log_stamp *stamp)
{
	switch (text.at < text.end ? *text.at : 0) {
	case 'L':
		banner(b, text);
		break;
	case '-':
		marker(b, text);
		break;
	case 'a':
	case 'r':
		clock_of(b, text, stamp);
		break;
	case 'D':		/* dentries, inodes, sockets */
	case 'I':
	case 'T':
		hash_table(b, text);
		break;
	case 's':
	case 'u':
		page_table(b, text);
		break;
	}
}
