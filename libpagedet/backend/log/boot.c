/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the boot and the kernel that lines of a log belong to. A boot begins at
 * its first line, or where kernel time goes back, because logs are filtered;
 * then it is not certain that the machine has restarted. Nor is it where a
 * first line has no time: "cat /proc/version" prints the same on a console.
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

/*
 * How far kernel time may go back in one boot. printk() takes the time and then
 * the place of a record, so a later record may have an earlier time while a
 * processor is held up in between: by interrupts for microseconds, by a
 * hypervisor for seconds. Clocks of processors differ by less, and until 5.14
 * printk_safe's buffers got the time when they were emptied. netconsole's
 * packets, and a log that several programs wrote, are out of order by seconds.
 */
#define BACK_US UINT64_C(10000000)

/* The banner is the first line, when no clock or a fresh one is running. */
#define BANNER_US UINT64_C(60000000)

/* Old kernels print a time just below 2^64 ns before their clock is set. */
#define MOST_US (UINT64_C(1) << 53)

/* "host prog[123]: ", of journalctl -o short-monotonic: a process wrote it, and
 * its time is that of another clock. */
static bool is_of_process(struct pdet_scan s)
{
	const struct pdet_scan host = pdet_scan_token(&s);
	struct pdet_scan name;
	uint64_t pid;

	if (host.at == host.end || !pdet_scan_char(&s, ' '))
		return false;
	name = pdet_scan_token(&s);
	if (name.end - name.at < 4 || name.end[-1] != ':' ||
	    name.end[-2] != ']')
		return false;
	s.at = memchr(name.at, '[', (size_t)(name.end - name.at));
	if (!s.at)
		return false;
	s.at++;
	return pdet_scan_dec(&s, &pid) && s.at == name.end - 2;
}

bool pdet_log_has_time(const struct pdet_log_line *l)
{
	return l->stamp.has_us && !l->user && l->stamp.us < MOST_US &&
	       (l->record || !is_of_process(l->text));
}

/*
 * init/version-timestamp.c, linux_banner: release, builder@host, compiler,
 * number of the build. Processes quote it: "cat /proc/version".
 */
static bool is_banner(const struct pdet_log_line *l)
{
	struct pdet_scan s = l->text;

	if (!pdet_scan_word(&s, "Linux version ") || !pdet_log_version(s) ||
	    l->user || l->of_process ||
	    !pdet_log_behind(s, " (", &s) || !pdet_log_behind(s, "@", &s) ||
	    !pdet_log_behind(s, ") ", &s))
		return false;
	do {
		if (!pdet_log_behind(s, "#", &s))
			return false;
	} while (s.at == s.end || pdet_hex_digit(*s.at) > 9);
	return !l->stamp.has_us || l->stamp.us < BANNER_US;
}

static void banner(struct pdet_log_boot *b, const struct pdet_log_line *l,
		   bool certain)
{
	struct pdet_scan s = l->text;

	pdet_scan_word(&s, "Linux version ");
	/* The journal's line precedes the kernel's first line. */
	b->number += !b->marked;
	b->certain += !b->marked && certain;
	b->marked = false;
	b->has_banner = true;
	b->banner = pdet_hash(l->text.at, (size_t)(l->text.end - l->text.at));
	b->has_clock = b->has_latest = false;
	b->page_shift = 0;
	b->version = pdet_log_version(s);
}

static bool is_marker(const struct pdet_log_line *l)
{
	struct pdet_scan s = l->text;
	size_t i;

	/* The journal puts nothing before it. */
	if (l->record || l->stamp.has_us || l->stamp.has_day || l->indented)
		return false;
	if (pdet_scan_is(&s, "-- Reboot --"))
		return true;
	if (!pdet_scan_word(&s, "-- Boot ") || s.end - s.at < ID + 3 ||
	    memcmp(s.at + ID, " --", 3))
		return false;
	for (i = 0; i < ID; i++)
		if (pdet_hex_digit(s.at[i]) > 15)
			return false;
	return true;
}

static void marker(struct pdet_log_boot *b, struct pdet_scan s)
{
	*b = (struct pdet_log_boot){
		.number = b->number + 1, .certain = b->certain + 1,
		.marked = true,
	};
	if (!pdet_scan_word(&s, "-- Boot "))
		return;
	b->has_id = true;
	memcpy(b->id, s.at, ID);
}

/* @follows: its record is the next one of the same kernel. */
static bool goes_back(const struct pdet_log_boot *b,
		      const struct pdet_log_line *l, bool follows)
{
	return !follows && b->has_latest && l->stamp.us < b->latest_us &&
	       b->latest_us - l->stamp.us > BACK_US && pdet_log_has_time(l);
}

/* Nothing that was said of the other boot holds for this one. */
static void go_back(struct pdet_log_boot *b)
{
	*b = (struct pdet_log_boot){
		.number = b->number + 1, .certain = b->certain,
	};
}

static void set_latest(struct pdet_log_boot *b, const struct pdet_log_line *l)
{
	if ((b->has_latest && l->stamp.us <= b->latest_us) ||
	    !pdet_log_has_time(l))
		return;
	b->has_latest = true;
	b->latest_us = l->stamp.us;
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

enum pdet_log_begins pdet_log_begins_boot(const struct pdet_log_boot *b,
					  const struct pdet_log_line *l,
					  bool follows)
{
	/* The day is of a log daemon, which names processes. Where other lines
	 * have the kernel's time, the banner should have it, too. */
	if (is_banner(l))
		return l->stamp.has_us || (l->stamp.has_day && !b->has_latest) ?
			       PDET_LOG_BANNER : PDET_LOG_UNTIMED_BANNER;
	if (is_marker(l))
		return PDET_LOG_MARKER;
	return goes_back(b, l, follows) ? PDET_LOG_GOES_BACK :
					  PDET_LOG_BEGINS_NONE;
}

void pdet_log_boot_line(struct pdet_log_boot *b, const struct pdet_log_line *l,
			enum pdet_log_begins begins)
{
	const struct pdet_scan text = l->text;

	switch (begins) {
	case PDET_LOG_BEGINS_NONE:
		break;
	case PDET_LOG_BANNER:
	case PDET_LOG_UNTIMED_BANNER:
		banner(b, l, begins == PDET_LOG_BANNER);
		break;
	case PDET_LOG_MARKER:
		marker(b, text);
		break;
	case PDET_LOG_GOES_BACK:
		go_back(b);
		break;
	}
	set_latest(b, l);
	switch (text.at < text.end ? *text.at : 0) {
	case 'a':
	case 'r':
		clock_of(b, text, &l->stamp);
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
