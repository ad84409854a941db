/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses reports of failed memory, or of memory taken out of use before it
 * fails (Linux mm/memory-failure.c, mm/madvise.c, mm/hwpoison-inject.c and
 * arch/x86/mm/fault.c; 2.6.32 to 6.18):
 *
 *   Injecting memory failure for pfn 0xdfe2 at process virtual address 0x7fa8
 *   Injecting memory failure at pfn 0x10d88e
 *   Memory failure: 0xdfe2: Sending SIGBUS to hw:137 due to hardware memory
 *       corruption                    ("Killing" before 5.9)
 *   Memory failure: 0xdfe2: recovery action for dirty LRU page: Recovered
 *   Memory failure: 0xdfe2: already hardware poisoned
 *   Memory failure: 0xdfe2: WORDS, Memory failure: 0xdfe2 WORDS
 *   MCE 0xdfe2: dirty LRU page recovery: Recovered	(before 4.3)
 *   Soft offlining pfn 0xdfcf at process virtual address 0x7fa8
 *   Soft offlining page 0xdfcf at 0x7fa8		(before 4.13)
 *   RAS: Soft-offlining pfn: 0xdfcf	(too many corrected errors)
 *   soft offline: 0xdfcf: WORDS       ("soft_offline", "Soft offline",
 *                                     "soft_offline_page")
 *   __get_any_page: 0xdfcf: WORDS     ("get_any_page"; before 5.9, when a page
 *                                     is taken offline)
 *   Unpoison: 0xdfe2: WORDS           (before 5.19 the number is at the end)
 *   MCE: Software-unpoisoned page 0xdfe2			(before 4.9)
 *   MCE: Killing hw:137 due to hardware memory corruption fault at 7fa8
 *
 *   Memory failure: Unable to find user space address dfe2 in hw
 *                                     (the number of the page)
 *
 * Several lines about one page form one report, until a line has the outcome.
 * The reason has them in parts, between which is "; ": the outcome first. "MCE
 * 0x" is "Memory failure: 0x" before 4.9, as is "MCE: Unable".
 */
#include <string.h>

#include "backend/log/report.h"
#include "kernel/text/broken_lines.h"
#include "kernel/page/kpf.h"

/* Page flags implied by the words between "recovery action for" and the result
 * (action_page_types[] there). */
static const struct {
	const char *words;
	uint64_t set, clear;
} types[] = {
	{ "dirty ", KPF(DIRTY), 0 },
	{ "clean ", 0, KPF(DIRTY) },
	{ "swapcache page", KPF(SWAPCACHE), 0 },
	{ "LRU page", KPF(LRU), 0 },
	{ "mlocked ", KPF(MLOCKED), 0 },
	{ "unevictable ", KPF(UNEVICTABLE), 0 },
	{ "free buddy page", KPF(BUDDY), 0 },
	{ "huge page", KPF(HUGE), 0 },
};

/* The first kernel that handles errors of memory without a struct page, which
 * only the outcome says. */
#define PAGELESS PDET_LOG_VERSION(6, 19)

static void poisoned(struct pdet_log_page *p, bool is)
{
	p->marked = true;
	p->flags_known |= KPF(HWPOISON);
	p->flags = is ? p->flags | KPF(HWPOISON) : p->flags & ~KPF(HWPOISON);
}

/* A task's name may be anything, so also "a: Failed; b". Each line is to be one
 * part of the reason. */
static void one_part(struct pdet_log_page *p, struct pdet_log_text t)
{
	size_t i;

	for (i = t.at; i + 1 < (size_t)t.at + t.len; i++)
		if (p->text.data[i] == ';' && p->text.data[i + 1] == ' ')
			p->text.data[i] = ',';
}

/* The page's flags, by its type. */
static void typed(struct pdet_log_page *p, struct pdet_scan type)
{
	struct pdet_scan behind;
	size_t i;

	if (pdet_scan_word(&type, "non LRU page"))
		return;
	for (i = 0; i < PDET_COUNT(types); i++)
		if (pdet_log_behind(type, types[i].words, &behind)) {
			p->flags |= types[i].set;
			p->flags_known |= types[i].set | types[i].clear;
		}
}

/* "dirty LRU page: Recovered". */
static void outcome(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan type = s, behind;

	pdet_log_says(p, s, memory);
	p->over = true;
	/* Since 6.19: memory of a driver without a struct page to mark. */
	p->pageless = pdet_scan_word(&s, "non struct page pfn");
	if (!p->pageless)
		poisoned(p, true);
	if (!pdet_log_before(&type, ": "))
		return;
	p->again = pdet_log_behind(type, "already poisoned", &behind) ||
		   pdet_log_behind(type, "already hardware poisoned", &behind);
	typed(p, type);
}

/* "dirty LRU page recovery: Recovered", before 4.3. */
static bool old_outcome(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	static const char words[] = " page recovery: ";
	struct pdet_scan type = s, result;

	if (!pdet_log_before(&type, words))
		return false;
	outcome(p, s, memory);
	result = (struct pdet_scan){ type.end + strlen(words), s.end };
	/* 2.6.32 to 2.6.35 call each compound page huge, and cannot handle
	 * it. */
	if (pdet_scan_is(&type, "huge") && pdet_scan_is(&result, "Failed")) {
		p->flags &= ~KPF(HUGE);
		p->flags_known &= ~KPF(HUGE);
	}
	return true;
}

/* Parse the text after the page's number. */
static void failure(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	static const char *const kills[] = {
		"Sending SIGBUS to ", "Killing ", "forcibly killing ",
		"Cannot send advisory machine check signal to ",
	};
	struct pdet_scan task = s;
	size_t i;

	for (i = 0; i < PDET_COUNT(kills); i++) {
		if (!pdet_scan_word(&task, kills[i]))
			continue;
		*memory &= pdet_log_keep(p, s, &p->why);
		if (!pdet_log_before(&task, " due to hardware memory"))
			pdet_log_before(&task, " because of failure");
		pdet_log_before(&task, " early");	/* before 3.2 */
		pdet_log_task(p, task, ':', memory);
		poisoned(p, true);
		p->marked = false;
		return;
	}
	if (pdet_scan_word(&task, "recovery action for ")) {
		outcome(p, task, memory);
		return;
	}
	if (old_outcome(p, s, memory))
		return;
	if (pdet_scan_word(&task, "already hardware poisoned"))
		p->again = true;
	/* Before 4.3 this is the end. */
	if (pdet_scan_word(&task, "cannot unmap page, give up"))
		p->over = true;
	if (p->again || p->over || pdet_scan_word(&task, "failed to unmap ") ||
	    pdet_log_behind(s, " still referenced by ", &task))
		poisoned(p, true);
	pdet_log_says(p, s, memory);
}

static bool numbered(struct pdet_log_page *p, struct pdet_scan *s)
{
	if (!pdet_scan_word(s, "0x") || !pdet_scan_hex(s, &p->pfn))
		return false;
	/* "0x1234: words", "0x1234 cannot catch tail" */
	pdet_scan_char(s, ':');
	pdet_scan_blanks(s);
	p->has |= PDET_LOG_PFN;
	return true;
}

static bool memory_failure(struct pdet_log_page *p, struct pdet_scan s,
			   bool *memory)
{
	if (!pdet_scan_word(&s, "Memory failure: ") &&
	    !pdet_scan_word(&s, "Memory Failure: ") && /* before 6.0, of THP */
	    !pdet_scan_word(&s, "MCE "))
		return false;
	if (!numbered(p, &s) || s.at == s.end) {
		p->has = 0;
		return false;
	}
	p->report = PAGEDET_REPORT_MEMORY_FAILURE;
	failure(p, s, memory);
	return true;
}

static bool unplaced(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan words;

	if (!pdet_scan_word(&s, "Memory failure: ") &&
	    !pdet_scan_word(&s, "MCE: "))
		return false;
	words = s;
	if (!pdet_scan_word(&s, "Unable to find user space address ") ||
	    !pdet_scan_hex(&s, &p->pfn) || !pdet_scan_word(&s, " in "))
		return false;
	p->has |= PDET_LOG_PFN;
	p->report = PAGEDET_REPORT_MEMORY_FAILURE;
	pdet_log_says(p, words, memory);
	return true;
}

/* Parse the page's number, and its address in a process. */
static bool asked_for(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t pfn, addr;

	if (pdet_scan_word(&s, "Soft offlining pfn ") ||
	    pdet_scan_word(&s, "Soft offlining page "))
		p->report = PAGEDET_REPORT_SOFT_OFFLINE;
	else if (pdet_scan_word(&s, "Injecting memory failure for pfn ") ||
		 pdet_scan_word(&s, "Injecting memory failure for page ") ||
		 pdet_scan_word(&s, "Injecting memory failure at pfn "))
		p->report = PAGEDET_REPORT_MEMORY_FAILURE;
	else
		return false;
	if (!pdet_log_hex(&s, &pfn)) {
		p->found = pdet_is_broken(s);
		if (!p->found)
			p->report = 0;
		return p->found;
	}
	p->injected = p->report == PAGEDET_REPORT_MEMORY_FAILURE;
	p->pfn = pfn;
	p->has |= PDET_LOG_PFN;
	if ((pdet_scan_word(&s, " at process virtual address ") ||
	     pdet_scan_word(&s, " at ")) && pdet_log_hex(&s, &addr)) {
		p->has_address = true;
		p->virt = addr;
	}
	return true;
}

/* "RAS: Soft-offlining pfn: 0x1234": corrected errors have reached the limit
 * (drivers/ras/cec.c). What comes of it follows. */
static bool too_many(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan words;
	uint64_t pfn;

	if (!pdet_scan_word(&s, "RAS: "))
		return false;
	words = s;
	if (!pdet_scan_word(&s, "Soft-offlining pfn: 0x") ||
	    !pdet_scan_hex(&s, &pfn))
		return false;
	p->pfn = pfn;
	p->has |= PDET_LOG_PFN;
	p->report = PAGEDET_REPORT_SOFT_OFFLINE;
	pdet_log_says(p, words, memory);
	return true;
}

static bool soft_offline(struct pdet_log_page *p, struct pdet_scan s,
			 bool *memory)
{
	if (!pdet_scan_word(&s, "Soft offline: ") &&
	    !pdet_scan_word(&s, "soft offline: ") &&
	    !pdet_scan_word(&s, "soft_offline: ") &&
	    !pdet_scan_word(&s, "soft_offline_page: ") &&
	    !pdet_scan_word(&s, "get_any_page: ") &&
	    !pdet_scan_word(&s, "__get_any_page: "))
		return false;
	if (!numbered(p, &s))
		return false;
	p->report = PAGEDET_REPORT_SOFT_OFFLINE;
	p->over = true;
	pdet_log_says(p, s, memory);
	/* A page of a file that was dropped is marked next. A page that leaks
	 * was marked before its last user gave it back. */
	p->again = pdet_scan_word(&s, "page already poisoned") ||
		   pdet_scan_word(&s, "hugepage already poisoned");
	if (p->again || pdet_scan_word(&s, "invalidated") ||
	    pdet_scan_word(&s, "page leaked"))
		poisoned(p, true);
	return true;
}

static bool unpoisons(struct pdet_scan *s)
{
	struct pdet_scan words;

	if (pdet_scan_word(s, "Unpoison: "))
		return true;
	if (!pdet_scan_word(s, "MCE: "))
		return false;
	words = *s;
	return pdet_scan_word(&words, "Software-unpoisoned ") ||
	       pdet_scan_word(&words, "Page was already unpoisoned ");
}

/* "0xdfe2: software-unpoisoned page" or "Software-unpoisoned page 0xdfe2". */
static bool unpoison(struct pdet_log_page *p, struct pdet_scan s,
		     bool *memory)
{
	/* Said after the kernel has found the mark, which it leaves. */
	static const char *const left[] = {
		"omeone grabs the hwpoison page",
		"omeone maps the hwpoison page",
		"the hwpoison page has non-NULL mapping",
		"emory failure is now running on", "failed to grab page",
	};
	struct pdet_scan number, done;
	size_t i;

	if (!unpoisons(&s))
		return false;
	number = s;
	if (numbered(p, &s)) {
		number.at = number.end;
	} else if (pdet_log_before(&s, " 0x")) {
		number.at = s.end + 1;
		if (!numbered(p, &number) || number.at != number.end)
			p->has = 0;
	}
	if (!(p->has & PDET_LOG_PFN))
		return false;
	p->report = PAGEDET_REPORT_UNPOISON;
	pdet_log_says(p, s, memory);
	if (pdet_log_behind(s, "oftware-unpoisoned ", &done) ||
	    pdet_log_behind(s, "age was already unpoisoned", &done))
		poisoned(p, false);
	for (i = 0; i < PDET_COUNT(left); i++)
		if (pdet_log_behind(s, left[i], &done))
			poisoned(p, true);
	p->over = true;
	return true;
}

static bool killed(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	static const char words[] =
		" due to hardware memory corruption fault at ";
	struct pdet_scan number = s, line = s;
	uint64_t addr;

	if (!pdet_scan_word(&s, "MCE: Killing ") || !pdet_log_before(&s, words))
		return false;
	pdet_scan_word(&line, "MCE: ");
	number.at = s.end + strlen(words);
	if (!pdet_log_hex(&number, &addr) || !pdet_log_task(p, s, ':', memory))
		return false;
	*memory &= pdet_log_keep(p, line, &p->why);
	p->report = PAGEDET_REPORT_MEMORY_FAILURE;
	p->has_address = true;
	p->virt = addr;
	p->over = true;
	return true;
}

bool pdet_log_poison_begins(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory)
{
	p->joins = true;
	if (memory_failure(p, s, memory) || unplaced(p, s, memory) ||
	    asked_for(p, s) || too_many(p, s, memory) ||
	    soft_offline(p, s, memory) || unpoison(p, s, memory) ||
	    killed(p, s, memory)) {
		one_part(p, p->says);
		one_part(p, p->why);
		return true;
	}
	p->joins = false;
	p->has = 0;
	return false;
}

/* The reason is that of both, the outcome first. */
static void join_reasons(struct pdet_log_page *p,
			 const struct pdet_log_page *q, bool *memory)
{
	const struct pdet_scan had = pdet_log_reason(p);
	const struct pdet_scan got = pdet_log_reason(q);

	if (got.at == got.end)
		return;
	if (had.at == had.end)
		*memory &= pdet_log_keep(p, got, &p->reason);
	else if (q->over)
		*memory &= pdet_log_join_reasons(p, got, "; ", had);
	else
		*memory &= pdet_log_join_reasons(p, had, "; ", got);
}

static void forget_mark(struct pdet_log_page *p)
{
	p->flags_known &= ~KPF(HWPOISON);
	p->flags &= ~KPF(HWPOISON);
}

void pdet_log_poison_ends(struct pdet_log_page *p,
			  const struct pdet_log_page *q)
{
	/* Who was killed before that is said has no flags, either. */
	p->pageless |= q->pageless;
	p->marked |= q->marked;
	if (p->pageless)
		forget_mark(p);
}

void pdet_log_poison_cut(struct pdet_log_page *p)
{
	if (p->report == PAGEDET_REPORT_MEMORY_FAILURE && !p->marked &&
	    p->boot.version >= PAGELESS)
		forget_mark(p);
}

bool pdet_log_poison_joins(struct pdet_log_page *p,
			   const struct pdet_log_page *q, bool *memory)
{
	if (p->report != q->report || p->pfn != q->pfn ||
	    !(p->has & q->has & PDET_LOG_PFN) ||
	    /* each task gets a row of its own */
	    (p->task && q->task && p->pid != q->pid) ||
	    (p->has_address && q->has_address))
		return false;
	if (q->task && !p->task) {
		p->task = true;
		p->pid = q->pid;
		pdet_log_name(p, pdet_log_page_text(q, q->comm), memory);
	}
	p->flags = (p->flags & ~q->flags_known) | q->flags;
	p->flags_known |= q->flags_known;
	pdet_log_poison_ends(p, q);
	join_reasons(p, q, memory);
	/* The outcome replaces intermediate messages. */
	if (q->says.len) {
		p->says.len = 0;
		pdet_log_says(p, pdet_log_page_text(q, q->says), memory);
	}
	p->injected |= q->injected;
	p->over |= q->over;
	p->again |= q->again;
	return true;
}
