/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What begins the lines of kernel reports, and how a line goes on that was
 * broken. Some lines consist of words "KEY:VALUE", some of numbers that have
 * equally many digits, some end with a list in parentheses. Of other lines
 * nothing is told.
 */
#include <string.h>

#include "base/env.h"
#include "kernel/text/report_form.h"

static bool begins_with(struct pdet_scan s, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct pdet_scan try = s;

		if (pdet_scan_word(&try, words[i]))
			return true;
	}
	return false;
}

static bool has(struct pdet_scan s, const char *words)
{
	return s.at < s.end &&
	       memmem(s.at, (size_t)(s.end - s.at), words, strlen(words));
}

bool pdet_report_begins(struct pdet_scan s)
{
	static const char *const words[] = {
		/* blocks of dump_page(), and page_owner */
		"page:", "page ", "page_owner ", "page_type:", "flags: ",
		"anon flags:", "ksm flags:", "head:", "memcg:", "pages's memcg",
		"page->mem_cgroup", "aops:", "raw:", "invalid mapping",
		"failed to read mapping", "bad because of flags",
		/* pages and page tables */
		"BUG", "Bad page", "addr:", "file:", "pgd:", "CPU:", "Pid:",
		"Trying to fix", "Corrupted page table", "migrating pfn",
		/* memory errors */
		"Memory failure:", "Memory Failure:", "MCE", "mce:", "RAS:",
		"Injecting ", "Soft", "soft", "get_any_page", "__get_any_page",
		"Unpoison", "EDAC ", "{", "[Hardware Error]", "Hardware event",
		"STATUS", "MCGSTATUS", "ADDR", "MISC", "TIME", "CPUID",
		/* KASAN, KFENCE, SLUB, lists */
		"Read of size", "Write of size", "Read at", "Write at",
		"The buggy address", "which belongs to", "located ", "Memory ",
		"Use-after-free", "Out-of-bounds", "Invalid ", "kfence-#",
		"INFO:", "Object ", "Slab ", "Redzone", "Padding", "Bytes b4",
		"0x", "Allocated ", "Freed ", "allocated ", "freed ", "FIX ",
		"list_add", "list_del", "Last ", "Disabling lock", ">ff",
		/* faults */
		"Unable to handle", "do_page_fault", "epc", "ra ", "Failing ",
		"User process fault", "Fault in", "AS:", "traps:",
		"general protection", "invalid opcode", "Internal error",
		"status:", "task:", "\"echo 0", "Not tainted", "Tainted:",
		/* disks */
		"EXT4-fs", "BTRFS", "XFS", "Buffer I/O", "Read-error",
		"Write-error", "radix-mmu",
		/* beside reports */
		"Modules linked", "Call Trace", "Call trace", "Hardware name",
		"Workqueue:", "Backtrace", "Stack", "Code:", "RIP:", "RSP:",
		"Linux version", "------------", "====", "----", "kernel BUG",
		"WARNING:", "Page Detective:", "swapper pgtable", "[<",
		"Dentry cache", "Inode-cache", "dump_stack", "show_stack",
		"Mem-info", "swap_", "_swap_info_get", "<TASK>", "</TASK>",
		"Kernel", "Oops", "PGD ", "PKRU",
	};
	/* A task's name precedes it. */
	static const char *const inside[] = {
		" segfault ", " unhandled signal ", " trap ",
		": page allocation failure", "]: code: ",
	};
	size_t i;

	pdet_scan_blanks(&s);
	if (begins_with(s, words, PDET_COUNT(words)) ||
	    pdet_scan_is(&s, "flags:"))
		return true;
	for (i = 0; i < PDET_COUNT(inside); i++)
		if (has(s, inside[i]))
			return true;
	return false;
}

bool pdet_report_opens(struct pdet_scan s)
{
	static const char *const words[] = {
		"BUG: ", "Memory failure: 0x", "MCE 0x", "page:",
		"Soft offlining pfn ", "Injecting memory failure ",
	};

	return begins_with(s, words, PDET_COUNT(words));
}

/* The last word of a text; empty if a blank ends it. */
static struct pdet_scan last_word(struct pdet_scan s)
{
	const char *const blank = memrchr(s.at, ' ', (size_t)(s.end - s.at));

	if (blank)
		s.at = blank + 1;
	return s;
}

static bool is_hex(struct pdet_scan s)
{
	if (s.at == s.end)
		return false;
	for (; s.at < s.end; s.at++)
		if (pdet_hex_digit(*s.at) > 15)
			return false;
	return true;
}

/* "raw: " and words of 16 digits, or of 8: as many in the last word as in the
 * others. */
static enum pdet_report_joint of_raw(struct pdet_scan s, struct pdet_scan next)
{
	const struct pdet_scan last = last_word(s);
	const struct pdet_scan more = pdet_scan_token(&next);
	const size_t had = (size_t)(last.end - last.at);
	struct pdet_scan word = pdet_scan_token(&s);
	const size_t digits = (size_t)(word.end - word.at);
	unsigned n = 0;

	if (!is_hex(word) || !is_hex(more))
		return PDET_REPORT_UNTOLD;
	for (; word.at < word.end; word = pdet_scan_token(&s), n++)
		if (!is_hex(word))
			return PDET_REPORT_UNTOLD;
	if (digits == 16 && n >= 4 && (had == digits || !had))
		return PDET_REPORT_WHOLE;
	if (n < 2 || (digits != 8 && digits != 16) || had > digits)
		return PDET_REPORT_UNTOLD;
	if (had == digits || !had)
		return (size_t)(more.end - more.at) <= digits ?
			PDET_REPORT_BLANK : PDET_REPORT_UNTOLD;
	return had + (size_t)(more.end - more.at) == digits ?
		PDET_REPORT_WORD : PDET_REPORT_UNTOLD;
}

static bool is_key(struct pdet_scan word)
{
	static const char *const keys[] = {
		"refcount:", "count:", "mapcount:", "mapping:", "index:",
		"pfn:", "compound_mapcount:", "compound_pincount:",
		"entire_mapcount:", "nr_pages_mapped:", "pincount:", "order:",
		"vm_flags:", "anon_vma:", "flags:0",
	};

	return begins_with(word, keys, PDET_COUNT(keys));
}

/*
 * Words "KEY:VALUE": one that has no colon is the rest of a word, or one that
 * lacks its rest. What ends a line in some kernel may be whole.
 */
static enum pdet_report_joint of_keys(struct pdet_scan s, struct pdet_scan next)
{
	struct pdet_scan more = pdet_scan_token(&next);
	const struct pdet_scan last = last_word(s);
	const bool colon = memchr(last.at, ':', (size_t)(last.end - last.at));
	struct pdet_scan word = last;

	if (more.at == more.end)
		return PDET_REPORT_UNTOLD;
	if (last.at == last.end && pdet_scan_is(&more, "(null)"))
		return PDET_REPORT_BLANK;
	if (last.at == last.end || last.end[-1] == ')')
		return is_key(more) ? PDET_REPORT_BLANK : PDET_REPORT_UNTOLD;
	if (memchr(more.at, ':', (size_t)(more.end - more.at))) {
		if (!colon)
			return PDET_REPORT_WORD;
		return is_key(more) ? PDET_REPORT_BLANK : PDET_REPORT_UNTOLD;
	}
	pdet_scan_blanks(&next);
	pdet_scan_char(&more, 'x');
	if (colon && (is_hex(more) || pdet_scan_is(&more, "(null)")) &&
	    (is_key(next) || pdet_scan_word(&word, "mapping:")))
		return PDET_REPORT_WORD;
	return PDET_REPORT_UNTOLD;
}

/* "0x20028(uptodate|lru|node=0)": no blank is in parentheses. */
static enum pdet_report_joint of_list(struct pdet_scan s, struct pdet_scan next)
{
	const char *const open = memrchr(s.at, '(', (size_t)(s.end - s.at));
	const struct pdet_scan more = pdet_scan_token(&next);

	if (open && memchr(open, ')', (size_t)(s.end - open)))
		return pdet_scan_is(&more, "CMA") ? PDET_REPORT_BLANK :
						    PDET_REPORT_WHOLE;
	if (memchr(more.at, ')', (size_t)(more.end - more.at)) ||
	    memchr(more.at, '|', (size_t)(more.end - more.at)))
		return PDET_REPORT_WORD;
	return PDET_REPORT_UNTOLD;
}

static bool ends_with(struct pdet_scan s, const char *words)
{
	const size_t len = strlen(words);

	return (size_t)(s.end - s.at) >= len &&
	       !memcmp(s.end - len, words, len);
}

/* "Memory failure: 0xdfe2: recovery action for dirty LRU page: Recovered", and
 * who was killed. */
static enum pdet_report_joint of_failure(struct pdet_scan s)
{
	static const char *const results[] = {
		": Recovered", ": Ignored", ": Failed", ": Delayed",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(results); i++)
		if (ends_with(s, results[i]) && has(s, "recovery action for "))
			return PDET_REPORT_WHOLE;
	return ends_with(s, " due to hardware memory corruption") ?
		PDET_REPORT_WHOLE : PDET_REPORT_UNTOLD;
}

enum pdet_report_joint pdet_report_joint(struct pdet_scan s,
					 struct pdet_scan next)
{
	static const char *const keyed[] = { "page:", "head:", "addr:" };
	/* A word must follow. */
	static const char *const needy[] = {
		"page dumped because:", "flags:", "raw:", "page_type:",
	};
	struct pdet_scan bug;
	size_t i;

	pdet_scan_blanks(&s);
	for (i = 0; i < PDET_COUNT(needy); i++)
		if (pdet_scan_is(&s, needy[i]))
			return PDET_REPORT_BLANK;
	if (begins_with(s, keyed, PDET_COUNT(keyed)))
		return of_keys(s, next);
	if (pdet_scan_word(&s, "raw: "))
		return of_raw(s, next);
	if (pdet_scan_word(&s, "Memory failure: 0x"))
		return of_failure(s);
	bug = s;
	if (pdet_scan_word(&bug, "BUG: Bad page ")) {
		pdet_scan_blanks(&next);
		/* The name of the task may have a blank. */
		return !has(bug, " pfn:") && !has(bug, " pte:") &&
		       (pdet_scan_word(&next, "pfn:") ||
			pdet_scan_word(&next, "pte:")) ?
			PDET_REPORT_BLANK : PDET_REPORT_UNTOLD;
	}
	if (!pdet_scan_word(&s, "anon "))
		pdet_scan_word(&s, "ksm ");
	pdet_scan_word(&s, "page ");
	return pdet_scan_word(&s, "flags: ") ||
	       pdet_scan_word(&s, "page_type: ") ?
		of_list(s, next) : PDET_REPORT_UNTOLD;
}
