/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads /sys/kernel/mm/page_idle/bitmap: one bit for each page frame, in words
 * of 64 that must be read whole
 * (Documentation/admin-guide/mm/idle_page_tracking.rst). A read walks the
 * mappings of idle pages in the word, and clears their accessed bits in page
 * tables. The idle flag is then correct until the next access.
 */
#include "backend/procfs/procfs.h"
#include "base/io.h"

void procfs_idle_open(struct procfs *p, struct pdet_env *env)
{
	if (p->idle.fd < 0 && !p->idle.error)
		p->idle.fd = pdet_open(env, "/sys/kernel/mm/page_idle/bitmap");
	if (p->idle.fd < 0)
		p->idle.error = p->idle.fd;
}

/* True if the bitmap has the page as idle. Only folio heads have a bit. */
static bool in_bitmap(struct procfs_session *s, uint64_t pfn, uint64_t word)
{
	uint64_t bits, head_word;

	if (word & KPF(COMPOUND_TAIL) &&
	    procfs_folio_head(s, pfn, &pfn, &head_word))
		return false;
	return pdet_pread(s->p->idle.fd, &bits, sizeof(bits), pfn / 64 * 8) ==
		       sizeof(bits) &&
	       bits >> pfn % 64 & 1;
}

static uint64_t look(struct procfs_session *s, struct pdet_batch *b,
		     uint32_t row, uint64_t word)
{
	const uint64_t pfn = b->value[PAGEDET_FIELD_PFN][row];
	bool idle = in_bitmap(s, pfn, word);

	if (s->p->live) {
		pdet_put_note(b, row, PAGEDET_NOTE_PERTURBED);
		if (procfs_kpage_one(s->p, &s->session.env, KPAGE_FLAGS, pfn,
				     &word) != 1)
			return word;
	}
	return idle && word & KPF(IDLE) ? word | PDET_KPF_IDLE_SEEN : word;
}

void procfs_idle(struct procfs_session *s, struct pdet_batch *b,
		 uint64_t *word)
{
	uint32_t row;

	/* A captured tree does not change by reading it. */
	if (s->p->live && (!s->session.wants->perturb || s->p->idle.fd < 0))
		return;
	for (row = 0; row < b->n; row++) {
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
			    PAGEDET_HAVE ||
		    !(word[row] & KPF(IDLE)) || word[row] == PROCFS_WORD_LOST)
			continue;
		word[row] &= ~PDET_KPF_IDLE_SEEN;
		if (s->p->idle.fd >= 0)
			word[row] = look(s, b, row, word[row]);
	}
}
