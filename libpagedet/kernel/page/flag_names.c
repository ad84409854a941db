/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The names of page flags in texts of the kernel. */
#include "kernel/page/flag_names.h"

#include "base/env.h"

#define PF(name) PAGEDET_PF(PAGEDET_PF_##name)

/* Names of page flags (include/trace/events/mmflags.h). */
static const struct {
	const char *name;
	uint64_t bit;
} names[] = {
	{ "locked", PF(LOCKED) },
	{ "error", PF(ERROR) },
	{ "referenced", PF(REFERENCED) },
	{ "uptodate", PF(UPTODATE) },
	{ "dirty", PF(DIRTY) },
	{ "lru", PF(LRU) },
	{ "active", PF(ACTIVE) },
	{ "slab", PF(SLAB) },
	{ "writeback", PF(WRITEBACK) },
	{ "reclaim", PF(RECLAIM) },
	{ "swapbacked", PF(SWAPBACKED) },
	{ "head", PF(COMPOUND_HEAD) },
	{ "unevictable", PF(UNEVICTABLE) },
	{ "hwpoison", PF(HWPOISON) },
	{ "idle", PF(IDLE) },
	{ "reserved", PF(RESERVED) },
	{ "mlocked", PF(MLOCKED) },
	{ "owner_2", PF(OWNER_2) },
	{ "private", PF(PRIVATE) },
	{ "private_2", PF(PRIVATE_2) },
	{ "owner_priv_1", PF(OWNER_PRIVATE) },
	{ "arch_1", PF(ARCH) },
	{ "uncached", PF(UNCACHED) },
	{ "arch_2", PF(ARCH_2) },
	{ "arch_3", PF(ARCH_3) },
	{ "mappedtodisk", PF(MAPPEDTODISK) },
};

static uint64_t flag_named(struct pdet_scan name)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(names); i++)
		if (pdet_scan_is(&name, names[i].name))
			return names[i].bit;
	return 0;
}

bool pdet_flags_list(struct pdet_scan *s, uint64_t *flags,
		     struct pdet_scan *node)
{
	/* PG_swapcache is PG_owner_priv_1 (include/linux/page-flags.h). */
	const uint64_t swapcache = PF(OWNER_PRIVATE) | PF(SWAPBACKED);
	struct pdet_scan word;

	if (!pdet_scan_char(s, '('))
		return false;
	*flags = 0;
	do {
		word.at = s->at;
		while (s->at < s->end && *s->at != '|' && *s->at != ')')
			s->at++;
		word.end = s->at;
		*flags |= flag_named(word);
		if (pdet_scan_word(&word, "node="))
			*node = word;
	} while (pdet_scan_char(s, '|'));
	if ((*flags & swapcache) == swapcache)
		*flags ^= PF(OWNER_PRIVATE) | PF(SWAPCACHE);
	return true;
}

bool pdet_flags_named(struct pdet_scan text, uint64_t *flags, uint64_t *known)
{
	/* An anonymous page has them for PG_anon_exclusive, and nothing here
	 * tells whether it is one. */
	const uint64_t unsure = PF(OWNER_2) | PF(MAPPEDTODISK);
	struct pdet_scan s = text, node;
	uint64_t bits;

	pdet_scan_word(&s, "Flags ");
	pdet_scan_word(&s, "0x");
	if (!pdet_scan_hex(&s, &bits) || !pdet_flags_list(&s, flags, &node))
		return false;
	*flags &= ~unsure;
	*known = PDET_FLAGS_NAMED | *flags;
	return s.at < s.end;
}
