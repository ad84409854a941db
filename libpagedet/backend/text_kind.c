/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises a kernel log or page_owner's records by phrases that the kernel
 * prints about pages. Other text is not accepted as either.
 */
#include <string.h>

#include "backend/text_kind.h"
#include "base/env.h"

static const char log_text[] = "a kernel log";
static const char owner_text[] = "page_owner's text";

static const struct {
	const char *words;
	const char *kind;
} lines[] = {
	/* mm/page_owner.c, print_page_owner() and the files of stacks */
	{ "Page allocated via order ", owner_text },
	{ "nr_base_pages: ", owner_text },
	/* mm/debug.c, dump_page(): "page: refcount:2 ... pfn:0x7bee" */
	{ " pfn:0x", log_text },
	{ "page dumped because: ", log_text },
	{ "page_owner tracks the page as ", log_text },
	/* until 4.19: "page:ffffea0007 count:0 mapcount:-1 mapping: ..." */
	{ " count:0 mapcount:", log_text },
	{ " mapcount:-", log_text },
	{ "page:ffff", log_text },
	{ "Page Detective: ", log_text },
	/* mm/page_alloc.c, mm/memory.c, mm/memory-failure.c */
	/* "BUG: " precedes it since 2.6.29; logcat cuts it off. */
	{ "Bad page state in process ", log_text },
	{ "Bad page map in process ", log_text },
	{ "Memory failure: 0x", log_text },
	{ "Soft offlining pfn ", log_text },
	{ "soft_offline: 0x", log_text },
	{ "Soft offline: 0x", log_text },
	{ "Injecting memory failure ", log_text },
	{ "MCE 0x", log_text },
	{ "migrating pfn ", log_text },
	{ ") PFNs busy", log_text },
	{ "MCE: Software-unpoisoned ", log_text },
	/* faults of programs, on x86, arm64 and riscv, powerpc, mips, s390 */
	{ "]: segfault ", log_text },
	{ "]: unhandled ", log_text },
	{ "do_page_fault(): sending SIGSEGV to ", log_text },
	{ "User process fault: interruption code ", log_text },
	/* mm/kasan/report.c */
	{ "BUG: KASAN: ", log_text },
	{ "BUG: KASan: ", log_text },	/* until 4.5 */
	/* arch/x86/kernel/cpu/mce/core.c, drivers/edac/edac_mc.c */
	{ "[Hardware Error]: ", log_text },
	{ "EDAC MC", log_text },
	/* lib/list_debug.c, mm/slub.c */
	{ "list_add corruption", log_text },
	{ "list_del corruption", log_text },
	{ "Slab 0x", log_text },
	{ " (Not tainted): ", log_text },
	{ "oison overwritten", log_text },
	{ "edzone overwritten", log_text },
	{ "adding overwritten", log_text },
	/* kernel/hung_task.c */
	{ " blocked for more than ", log_text },
	/* fs/buffer.c, fs/ext4, fs/xfs/xfs_buf.c, fs/btrfs, block/blk-mq.c */
	{ "I/O error on dev", log_text },
	{ "EXT4-fs warning (device ", log_text },
	{ "EXT4-fs error (device ", log_text },
	{ "): metadata I/O error in ", log_text },
	{ "): csum failed ", log_text },
	{ "I/O error, dev ", log_text },
	{ "medium error, dev ", log_text },
	{ "target error, dev ", log_text },
	{ "transport error, dev ", log_text },
	{ "timeout error, dev ", log_text },
	{ "protection error, dev ", log_text },
};

const char *pdet_text_kind(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(lines); i++)
		if (memmem(text, len, lines[i].words, strlen(lines[i].words)))
			return lines[i].kind;
	return NULL;
}

bool pdet_text_is_log(const char *text, size_t len)
{
	return pdet_text_kind(text, len) == log_text;
}

/* True if many bytes cannot be text; a console may have some noise. */
bool pdet_text_is_binary(const char *text, size_t len)
{
	size_t odd = 0, i;

	for (i = 0; i < len; i++)
		odd += (unsigned char)text[i] < ' ' &&
		       !(text[i] == '\t' || text[i] == '\n' ||
			 text[i] == '\r' || text[i] == '\033');
	return odd > len / 16;
}
