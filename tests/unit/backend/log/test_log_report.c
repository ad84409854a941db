/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests reports in a kernel log: damage removes information, but adds none. */
#include "backend/log/log.h"
#include "base/vec.h"
#include "../../unit.h"

static const char kasan[] =
	"BUG: KASAN: slab-use-after-free in f+0x65/0x150\n"
	"Write of size 8 at addr ffff888106715440 by task insmod/527\n"
	"The buggy address belongs to the object at ffff888106715400\n"
	" which belongs to the cache kmalloc-512 of size 512\n"
	"The buggy address belongs to the physical page:\n"
	"page: refcount:1 mapcount:0 mapping:0000000000000000 index:0x0 "
	"pfn:0x12110\n"
	"flags: 0xfff00000000040(node=0|zone=1|lastcpupid=0x7ff)\n"
	"page_type: f5(slab)\n"
	"page dumped because: kasan: bad access detected\n"
	"Memory state around the buggy address:\n";

static const char poison[] =
	"Injecting memory failure for pfn 0xdfe2 at process virtual address "
	"0x7fa812345000\n"
	"Memory failure: 0xdfe2: Sending SIGBUS to hw:137 due to hardware "
	"memory corruption\n"
	"Memory failure: 0xdfe2: recovery action for dirty LRU page: "
	"Recovered\n";

/* Counts the pages of a text, and keeps the last one. */
static unsigned pages_of(const char *data, size_t size,
			 struct pdet_log_page *last)
{
	struct pdet_scan text = { data, data + size }, line;
	struct pdet_log *log = pdet_log_new();
	const struct pdet_log_page *p;
	unsigned n = 0;

	ck_assert_ptr_nonnull(log);
	memset(last, 0, sizeof(*last));
	while (pdet_scan_line(&text, &line))
		ck_assert_int_eq(pdet_log_feed(log, line), 0);
	ck_assert_int_eq(pdet_log_end(log, size && data[size - 1] != '\n'), 0);
	while ((p = pdet_log_take(log))) {
		ck_assert(p->report >= PAGEDET_REPORT_PAGE_DETECTIVE &&
			  p->report <= PAGEDET_REPORT_BAD_PAGE_CACHE);
		ck_assert_uint_le(p->says.at + p->says.len, p->text.n);
		ck_assert_uint_le(p->comm.at + p->comm.len, p->text.n);
		pdet_log_page_free(last);
		pdet_log_steal(log, last);
		n++;
	}
	pdet_log_free(log);
	return n;
}

START_TEST(whole)
{
	struct pdet_log_page p;
	struct pdet_scan s;

	ck_assert_uint_eq(pages_of(kasan, sizeof(kasan) - 1, &p), 1);
	ck_assert_uint_eq(p.report, PAGEDET_REPORT_KASAN);
	ck_assert(p.has & PDET_LOG_PFN && p.block && !p.partial);
	ck_assert_uint_eq(p.pfn, 0x12110);
	ck_assert_uint_eq(p.kaddr, 0xffff888106715440);
	ck_assert_uint_eq(p.pid, 527);
	s = pdet_log_page_text(&p, p.cache);
	ck_assert(pdet_scan_is(&s, "kmalloc-512"));
	pdet_log_page_free(&p);

	ck_assert_uint_eq(pages_of(poison, sizeof(poison) - 1, &p), 1);
	ck_assert_uint_eq(p.report, PAGEDET_REPORT_MEMORY_FAILURE);
	ck_assert_uint_eq(p.pfn, 0xdfe2);
	ck_assert_uint_eq(p.virt, 0x7fa812345000);
	ck_assert_uint_eq(p.pid, 137);
	pdet_log_page_free(&p);
}
END_TEST

/* Cuts the text at every line: a cut number would be another one. */
START_TEST(cut)
{
	struct pdet_log_page p;
	unsigned n;
	size_t end;

	for (end = 0; end < sizeof(kasan); end++) {
		n = pages_of(kasan, end, &p);
		ck_assert_uint_le(n, 1);
		if (n && end && kasan[end - 1] == '\n') {
			ck_assert(!(p.has & PDET_LOG_PFN) || p.pfn == 0x12110);
			ck_assert(!p.task || p.pid == 527);
			/* Its block was announced, but is incomplete. */
			ck_assert(p.partial || !p.needs_block ||
				  p.has & PDET_LOG_FLAGS);
		}
		pdet_log_page_free(&p);
	}
}
END_TEST

/* Changes every byte of both, in three ways. */
START_TEST(flipped)
{
	static const unsigned char ways[] = { 0x01, 0x20, 0x80 };
	static char copy[sizeof(kasan) + sizeof(poison)];
	const size_t size = sizeof(kasan) + sizeof(poison) - 2;
	struct pdet_log_page p;
	size_t at, way;

	memcpy(copy, kasan, sizeof(kasan) - 1);
	memcpy(copy + sizeof(kasan) - 1, poison, sizeof(poison) - 1);
	for (at = 0; at < size; at++)
		for (way = 0; way < sizeof(ways); way++) {
			copy[at] ^= (char)ways[way];
			/* At worst each line is a page of its own. */
			ck_assert_uint_le(pages_of(copy, size, &p), 5);
			pdet_log_page_free(&p);
			copy[at] ^= (char)ways[way];
		}
}
END_TEST

/* An endless report ends, and keeps only bounded data. */
START_TEST(endless)
{
	static const char line[] = "which belongs to the cache c of size 1";
	const struct pdet_scan head = { kasan, strchr(kasan, '\n') };
	const struct pdet_scan more = { line, line + sizeof(line) - 1 };
	struct pdet_log *log = pdet_log_new();
	const struct pdet_log_page *p = NULL;
	unsigned i;

	ck_assert_ptr_nonnull(log);
	ck_assert_int_eq(pdet_log_feed(log, head), 0);
	for (i = 0; i < 10000 && !p; i++) {
		ck_assert_int_eq(pdet_log_feed(log, more), 0);
		p = pdet_log_take(log);
	}
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_lt(p->text.n, 100);
	pdet_log_free(log);
}
END_TEST

/* A physical address is a page only if the log tells the size of pages. */
START_TEST(page_sizes)
{
#define APEI "{1}[Hardware Error]:   physical_address: 0x0000000040fa6000\n"
	static const struct {
		const char *text;
		unsigned shift;
	} logs[] = {
		{ APEI, 0 },
		{ "swapper pgtable: 4k pages, 48-bit VAs, pgdp=0\n" APEI, 12 },
		{ "swapper pgtable: 16k pages, 47-bit VAs, pgdp=0\n" APEI, 14 },
		{ "user pgtable: 64k pages, 52-bit VAs, pgdp=0\n" APEI, 16 },
		{ "user pgtable: 8k pages, 52-bit VAs, pgdp=0\n" APEI, 0 },
		{ "Dentry cache hash table entries: 131072 (order: 8, 1048576 "
		  "bytes, linear)\n" APEI, 12 },
		{ "Inode-cache hash table entries: 65536 (order: 5, 524288 "
		  "bytes, linear)\n" APEI, 14 },
		{ "TCP established hash table entries: 131072 (order: 4, "
		  "1048576 bytes, linear)\n" APEI, 16 },
		/* Smaller than a page, or not a power of 2. */
		{ "Inode-cache hash table entries: 512 (order: 0, 4096 bytes, "
		  "linear)\n" APEI, 0 },
		{ "TCP bind hash table entries: 65536 (order: 9, 2621440 "
		  "bytes, linear)\n" APEI, 0 },
		/* The next boot may be of another kernel. */
		{ "user pgtable: 64k pages, 52-bit VAs, pgdp=0\n"
		  "Linux version 6.12.1 (a@b) #1\n" APEI, 0 },
		/* This one is of x86. */
		{ "mce: Uncorrected hardware memory error in user-access at "
		  "40fa6000\n", 12 },
	};
	struct pdet_log_page p;
	size_t i;

	for (i = 0; i < PDET_COUNT(logs); i++) {
		ck_assert_uint_eq(pages_of(logs[i].text, strlen(logs[i].text),
					   &p), 1);
		ck_assert_uint_eq(p.shift, logs[i].shift);
		ck_assert(p.has_phys && p.phys == 0x40fa6000);
		ck_assert(!(p.has & PDET_LOG_PFN) == !logs[i].shift);
		if (logs[i].shift)
			ck_assert_uint_eq(p.pfn, p.phys >> logs[i].shift);
		/* Its machine is known. */
		pdet_log_settle(&p, 14);
		ck_assert_uint_eq(p.pfn, p.phys >> (logs[i].shift ?
						    logs[i].shift : 14));
		pdet_log_page_free(&p);
	}
}
END_TEST

/* A newline in the name of a task, as /dev/kmsg escapes it, ends words. */
START_TEST(name_of_any_bytes)
{
	static const char text[] =
		"BUG: Bad page state in process x  pfn:12bf4c\n"
		"CPU: 1 PID: 2 Comm: x Not tainted abc\\x0afoo\n"
		"CPU: 1 PID: 2 Comm: x Tainted: G \\x0a 4.9.45 #1\n";
	struct pdet_log_page p;

	ck_assert_uint_eq(pages_of(text, sizeof(text) - 1, &p), 1);
	ck_assert_uint_eq(p.pfn, 0x12bf4c);
	ck_assert_uint_eq(p.pid, 2);
	ck_assert_uint_eq(p.boot.version, 0);
	pdet_log_page_free(&p);
}
END_TEST

/* A damaged address is not shown in parts. */
START_TEST(damaged_address)
{
	static const char text[] =
		"list_del corruption. prev->next should be ffff88801234567, "
		"but was dead000000000122. (prev=ffff88801234567890)\n";
	struct pdet_log_page p;
	struct pdet_scan s;

	ck_assert_uint_eq(pages_of(text, sizeof(text) - 1, &p), 1);
	s = pdet_log_page_text(&p, p.reason);
	ck_assert_msg(pdet_scan_is(&s, "list_del corruption. prev->next should "
				   "be ADDRESS, but was dead000000000122. "
				   "(prev=ADDRESS)"),
		      "%.*s", (int)(s.end - s.at), s.at);
	pdet_log_page_free(&p);
}
END_TEST

/* A line that is too long is cut between words: no number loses digits. */
START_TEST(long_line)
{
	static const char pfn[] = " pfn:0x46e01";
	static char text[2 * PDET_LOG_TEXT];
	unsigned kept = 0, lost = 0;
	struct pdet_log_page p;
	size_t fill;
	int n;

	for (fill = PDET_LOG_TEXT - 60; fill < PDET_LOG_TEXT + 20; fill++) {
		n = snprintf(text, sizeof(text), "page: refcount:0 mapcount:0 "
			     "mapping:0 index:0x0%*s%s", (int)fill - 50, "",
			     pfn);
		ck_assert_uint_eq(pages_of(text, (size_t)n, &p), 1);
		ck_assert_uint_eq(p.has & PDET_LOG_PAGE, PDET_LOG_PAGE);
		if (n < PDET_LOG_TEXT) {
			ck_assert_uint_eq(p.has & PDET_LOG_PFN, PDET_LOG_PFN);
			ck_assert_uint_eq(p.pfn, 0x46e01);
			kept++;
		} else if (n > PDET_LOG_TEXT) {
			ck_assert_uint_eq(p.has & PDET_LOG_PFN, 0);
			lost++;
		}
		pdet_log_page_free(&p);
	}
	/* The end was at each byte of the number. */
	ck_assert_uint_gt(kept, 0);
	ck_assert_uint_gt(lost, strlen(pfn));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("log_report");

	unit_test(s, name_of_any_bytes);
	unit_test(s, long_line);
	unit_test(s, damaged_address);

	unit_test(s, whole);
	unit_test(s, page_sizes);
	unit_test(s, cut);
	unit_test(s, flipped);
	unit_test(s, endless);
	return unit_main(s);
}
