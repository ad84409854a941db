/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Classifies the lines of blocks of dump_page() and of the reports that have
 * one, and parses what identifies their report: numbers of pages, names of
 * tasks, counts and words of flags.
 */
#include <string.h>

#include "backend/log/report.h"
#include "backend/log/writers.h"

static bool copy_comm(const struct pdet_log_page *p, struct pdet_log_step *ret)
{
	const struct pdet_scan comm = pdet_log_page_text(p, p->comm);
	const size_t len = (size_t)(comm.end - comm.at);

	if (!comm.at || len >= sizeof(ret->comm))
		return false;
	memcpy(ret->comm, comm.at, len);
	ret->comm[len] = '\0';
	return true;
}

static bool begins(struct pdet_scan s, struct pdet_log_page *p,
		   struct pdet_log_step *ret, bool *memory)
{
	struct pdet_scan rest = s;

	if (pdet_log_bad_page_begins(p, s, memory)) {
		ret->form = p->report == PAGEDET_REPORT_BAD_PAGE_MAP ?
			PDET_LOG_OF_MAP : PDET_LOG_OF_STATE;
		copy_comm(p, ret);
		if (ret->form == PDET_LOG_OF_MAP)
			ret->entry = ret->named =
				pdet_log_before_entry(&rest, &ret->pfn);
	} else if (pdet_scan_word(&rest, "The buggy address belongs to the ")) {
		pdet_scan_word(&rest, "physical ");
		if (!pdet_scan_word(&rest, "page:"))
			return false;
		ret->form = PDET_LOG_OF_KASAN;
	} else if (pdet_log_move_begins(p, s, memory) && p->expects) {
		ret->form = PDET_LOG_OF_MOVE;
	} else {
		return false;
	}
	if (p->has & PDET_LOG_PFN) {
		ret->named = true;
		ret->pfn = p->pfn;
	}
	ret->kind = PDET_LOG_BEGIN;
	return true;
}

static bool page(struct pdet_scan s, struct pdet_log_page *p,
		 struct pdet_log_step *ret, bool *memory)
{
	if (!pdet_log_dump_page_begins(s))
		return false;
	pdet_log_dump_page(p, s, memory);
	ret->kind = PDET_LOG_STEP_PAGE;
	ret->named = pdet_log_dump_page_pfn(s, &ret->pfn);
	ret->refcount = p->refcount;
	ret->mapcount = p->mapcount;
	return true;
}

static bool raw(struct pdet_scan s, struct pdet_log_step *ret)
{
	uint64_t word[3];
	const char *at;
	size_t i;

	if (!pdet_scan_word(&s, "raw: "))
		return false;
	ret->kind = PDET_LOG_STEP_RAW;
	for (i = 0; i < PDET_COUNT(word); i++) {
		at = s.at;
		if (!pdet_scan_hex(&s, &word[i]))
			return true;
		ret->wide = s.at - at == 16;
		pdet_scan_blanks(&s);
	}
	ret->word = word[0];
	ret->counts = word[2];
	return true;
}

/* "page dumped because: TEXT": some texts belong to one form. */
static bool reason(struct pdet_scan s, struct pdet_log_step *ret)
{
	static const struct {
		const char *words;
		enum pdet_log_form form;
	} texts[] = {
		{ "bad pte", PDET_LOG_OF_MAP },
		{ "bad page map", PDET_LOG_OF_MAP },
		{ "kasan: ", PDET_LOG_OF_KASAN },
		{ "VM_", PDET_LOG_OF_DUMP },
	};
	size_t i;

	if (!pdet_scan_word(&s, "page dumped because: "))
		return false;
	ret->kind = PDET_LOG_STEP_REASON;
	for (i = 0; i < PDET_COUNT(texts) && !ret->named; i++)
		if (pdet_scan_word(&s, texts[i].words)) {
			ret->form = texts[i].form;
			ret->named = true;
		}
	return true;
}

static enum pdet_log_step_kind by_word(struct pdet_scan s)
{
	static const struct {
		const char *words;
		enum pdet_log_step_kind kind;
	} starts[] = {
		{ "head:", PDET_LOG_STEP_HEAD },
		{ "memcg:", PDET_LOG_STEP_MEMCG },
		{ "pages's memcg:", PDET_LOG_STEP_MEMCG },
		{ "page->mem_cgroup:", PDET_LOG_STEP_MEMCG },
		{ "aops:", PDET_LOG_STEP_MAPPING },
		{ "invalid mapping:", PDET_LOG_STEP_MAPPING },
		{ "failed to read mapping", PDET_LOG_STEP_MAPPING },
		{ "page_type: ", PDET_LOG_STEP_TYPE },
		{ "page_owner ", PDET_LOG_STEP_OWNER },
		{ "page last ", PDET_LOG_STEP_OWNER },
		{ "page has been migrated,", PDET_LOG_STEP_OWNER },
		{ "pgd:", PDET_LOG_STEP_LEVELS },
		{ "addr:", PDET_LOG_STEP_ADDR },
		{ "file:", PDET_LOG_STEP_FILE },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(starts); i++)
		if (pdet_scan_word(&s, starts[i].words))
			return starts[i].kind;
	return PDET_LOG_NO_STEP;
}

static void classify(struct pdet_scan s, struct pdet_log_page *p,
		     struct pdet_log_step *ret, bool *memory)
{
	struct pdet_scan chain = s;

	if (begins(s, p, ret, memory) || page(s, p, ret, memory) ||
	    raw(s, ret) || reason(s, ret))
		return;
	/* Page Detective prints it. */
	if (pdet_scan_word(&chain, "memcg: ["))
		return;
	ret->kind = by_word(s);
	if (ret->kind)
		return;
	if (pdet_log_cpu(p, s, memory)) {
		if (copy_comm(p, ret))
			ret->kind = PDET_LOG_STEP_CPU;
	} else if (pdet_log_dump_page(p, s, memory) &&
		   p->has & PDET_LOG_FLAGS) {
		ret->kind = PDET_LOG_STEP_FLAGS;
		ret->word = p->flags_word;
	}
}

bool pdet_log_step_of(struct pdet_scan text, struct pdet_log_step *ret)
{
	struct pdet_log_page scratch;
	bool memory = true;

	memset(ret, 0, sizeof(*ret));
	/* No other letter begins one of these lines. */
	if (text.at == text.end || !strchr("BCPTafhikmpr", *text.at))
		return true;
	memset(&scratch, 0, sizeof(scratch));
	classify(text, &scratch, ret, &memory);
	pdet_log_page_free(&scratch);
	return memory;
}

/* Architectures put the number in an entry at different bits. Bits above the 34
 * lowest of it may have other meanings. x86 inverts it in entries that are not
 * present (arch/x86/include/asm/pgtable-invert.h). */
bool pdet_log_step_names(const struct pdet_log_step *a, uint64_t pfn)
{
	const uint64_t mask = ((uint64_t)1 << 34) - 1;
	unsigned shift;

	if (!a->entry)
		return a->named && a->pfn == pfn;
	for (shift = 10; shift <= 16; shift++)
		if (!(((a->pfn >> shift) ^ pfn) & mask) ||
		    (shift == 12 && !((~a->pfn >> shift ^ pfn) & mask)))
			return true;
	return false;
}
