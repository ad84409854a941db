/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * /sys/kernel/mm/page_idle/bitmap: one bit a page frame, 64 a word, which must
 * be read whole (Documentation/admin-guide/mm/idle_page_tracking.rst). Reading
 * walks the mappings of the idle pages among these 64 and takes their accessed
 * bits out of the page tables, so that the idle flag is right - until the next
 * access.
 */
#include "backend/procfs.h"
#include "base/io.h"

void procfs_idle_open(struct procfs *p, struct pdet_env *env)
{
	if (p->idle.fd < 0 && !p->idle.error)
		p->idle.fd = pdet_open(env, "/sys/kernel/mm/page_idle/bitmap");
	if (p->idle.fd < 0)
		p->idle.error = p->idle.fd;
}

/* Whether the bitmap calls the page idle; only heads of folios have a bit. */
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

	/* Of a captured tree nothing changes by looking. */
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
