/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses lines "Name: N kB". Private_Hugetlb and Shared_Hugetlb exist since
 * Linux 4.3, the others since smaps_rollup (4.14). VmFlags exists since 3.8.
 */
#include "base/env.h"
#include "kernel/text/smaps.h"

struct line {
	const char *name;
	uint8_t to[2];		/* sums that the line is added to */
};

/* No sum: the line is added to nothing. */
#define NOTHING PAGEDET_SUMS

static const struct line rollup[] = {
	{ "Rss:", { PAGEDET_SUM_RSS, NOTHING } },
	{ "Pss:", { PAGEDET_SUM_PSS, NOTHING } },
	{ "Shared_Clean:", { PAGEDET_SUM_SHARED, NOTHING } },
	{ "Shared_Dirty:", { PAGEDET_SUM_SHARED, PAGEDET_SUM_DIRTY } },
	{ "Private_Clean:", { PAGEDET_SUM_USS, NOTHING } },
	{ "Private_Dirty:", { PAGEDET_SUM_USS, PAGEDET_SUM_DIRTY } },
	{ "Swap:", { PAGEDET_SUM_SWAP, NOTHING } },
	{ "Shared_Hugetlb:", { PAGEDET_SUM_HUGETLB, NOTHING } },
	{ "Private_Hugetlb:", { PAGEDET_SUM_HUGETLB, NOTHING } },
};

static const struct line status[] = {
	{ "VmRSS:", { PAGEDET_SUM_RSS, NOTHING } },
	{ "VmSwap:", { PAGEDET_SUM_SWAP, NOTHING } },
	{ "HugetlbPages:", { PAGEDET_SUM_HUGETLB, NOTHING } },
};

static void add(struct pagedet_usage *u, unsigned sum, uint64_t kb)
{
	if (sum == NOTHING)
		return;
	u->value[sum] += kb << 10;
	u->state[sum] = PAGEDET_HAVE;
}

/* The bit of the line in @lines, or 0 if it is not there. */
static uint32_t take_line(struct pdet_scan at, const struct line *lines,
			  size_t n, struct pagedet_usage *u)
{
	uint64_t kb;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!pdet_scan_word(&at, lines[i].name))
			continue;
		pdet_scan_blanks(&at);
		if (!pdet_scan_dec(&at, &kb))
			return 0;
		add(u, lines[i].to[0], kb);
		add(u, lines[i].to[1], kb);
		return 1u << i;
	}
	return 0;
}

static void lose(struct pagedet_usage *u, unsigned sum, uint32_t why)
{
	if (sum == NOTHING)
		return;
	u->value[sum] = 0;
	u->state[sum] = why;
}

/* Returns true if the text has the resident size. A sum with a missing line
 * gets the reason @why. */
static bool take(struct pdet_scan text, const struct line *lines, size_t n,
		 uint32_t why, struct pagedet_usage *u)
{
	struct pdet_scan at;
	uint32_t seen = 0;
	unsigned sum;
	size_t i;

	while (pdet_scan_line(&text, &at))
		seen |= take_line(at, lines, n, u);
	for (i = 0; i < n; i++) {
		if (seen >> i & 1)
			continue;
		lose(u, lines[i].to[0], why);
		lose(u, lines[i].to[1], why);
	}
	for (sum = 0; sum <= PAGEDET_SUM_HUGETLB; sum++)
		if (u->state[sum] != PAGEDET_HAVE)
			u->state[sum] = why;
	return u->state[PAGEDET_SUM_RSS] == PAGEDET_HAVE;
}

bool pdet_smaps_rollup(struct pdet_scan text, struct pagedet_usage *ret)
{
	return take(text, rollup, PDET_COUNT(rollup), PAGEDET_UNSUPPORTED, ret);
}

bool pdet_status_memory(struct pdet_scan text, uint32_t why,
			struct pagedet_usage *ret)
{
	ret->estimated = 1u << PAGEDET_SUM_RSS | 1u << PAGEDET_SUM_SWAP;
	return take(text, status, PDET_COUNT(status), why, ret);
}

bool pdet_smaps_flags(struct pdet_scan line, const char *flag, bool *has)
{
	struct pdet_scan word;

	if (!pdet_scan_word(&line, "VmFlags:"))
		return false;
	*has = false;
	for (;;) {
		pdet_scan_blanks(&line);
		if (line.at == line.end)
			return true;
		word = pdet_scan_token(&line);
		*has |= pdet_scan_is(&word, flag);
	}
}
