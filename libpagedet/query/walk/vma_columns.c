/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sets columns that follow from the VMA around a page's address. */
#include "query/walk/vma_columns.h"

#define F(name) PAGEDET_FIELD_##name
#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

static const uint8_t vma_fields[] = {
	F(VMA_START), F(VMA_END), F(VMA_PROT), F(VMA_NAME),
};
static const uint8_t owner_fields[] = { F(DEV), F(INODE), F(INDEX), F(PATH) };

bool pdet_vma_wanted(const struct pdet_plan *plan)
{
	unsigned i;

	for (i = 0; i < PDET_COUNT(vma_fields); i++)
		if (pdet_fields_has(&plan->columns, vma_fields[i]))
			return true;
	for (i = 0; i < PDET_COUNT(owner_fields); i++)
		if (pdet_fields_has(&plan->columns, owner_fields[i]))
			return true;
	return false;
}

/*
 * Whether the row has a page that belongs to the mapped file, and is not a
 * private copy.
 */
static bool is_file_page(const struct pdet_batch *b, uint32_t row)
{
	uint64_t pte = pdet_batch_get(b, row, F(PTE), 0);

	return pte & PTE(FILE) &&
	       pte & (PTE(PRESENT) | PTE(MIGRATION) | PTE(HWPOISON));
}

static void put_owner(const struct pdet_iter *it, struct pdet_batch *b,
		      uint32_t row, const struct pdet_vma *vma,
		      unsigned source)
{
	uint64_t vaddr = b->value[F(VADDR)][row];
	unsigned i;

	if (pdet_batch_state(b, row, F(PTE)) != PAGEDET_HAVE) {
		for (i = 0; i < PDET_COUNT(owner_fields); i++)
			pdet_put_lost(b, row, owner_fields[i],
				      pdet_batch_state(b, row, F(PTE)),
				      source);
		return;
	}
	if (!vma->inode || !is_file_page(b, row)) {
		for (i = 0; i < PDET_COUNT(owner_fields); i++)
			pdet_put_none(b, row, owner_fields[i], source);
		return;
	}
	pdet_put(b, row, F(INDEX),
		 (vaddr - vma->start + vma->offset) >>
			 __builtin_ctzll(it->page_size), source);
	pdet_put_text(b, row, F(PATH), vma->name, vma->name_len, source);
	if (vma->owner_unproved) {
		pdet_put_lost(b, row, F(DEV), PAGEDET_UNSUPPORTED, source);
		pdet_put_lost(b, row, F(INODE), PAGEDET_UNSUPPORTED, source);
		return;
	}
	pdet_put(b, row, F(DEV), vma->dev, source);
	pdet_put(b, row, F(INODE), vma->inode, source);
}

/*
 * If a row has no present page, sets its kind to what the VMA would have there.
 * Sources decide about present pages, unless frame numbers are hidden. Then a
 * page that is exclusive and does not belong to a file is anonymous.
 */
static void put_kind(struct pdet_batch *b, uint32_t row,
		     const struct pdet_vma *vma, unsigned source)
{
	uint64_t pte = pdet_batch_get(b, row, F(PTE), 0);
	unsigned state = pdet_batch_state(b, row, F(PTE));

	if (b->cell[F(KIND)][row] || state != PAGEDET_HAVE)
		return;
	if (pte & PTE(PRESENT)) {
		if (pdet_batch_state(b, row, F(PFN)) != PAGEDET_HAVE &&
		    !(pte & PTE(FILE)) && pte & PTE(EXCLUSIVE))
			pdet_put(b, row, F(KIND), PAGEDET_KIND_ANON, source);
		return;
	}
	if (pte & PTE(GUARD) && vma->inode)
		pdet_put(b, row, F(KIND), PAGEDET_KIND_FILE, source);
	else if (pte & PTE(FILE))
		pdet_put(b, row, F(KIND), PAGEDET_KIND_FILE, source);
	else
		pdet_put(b, row, F(KIND), PAGEDET_KIND_ANON, source);
}

void pdet_vma_put(const struct pdet_iter *it, struct pdet_batch *b,
		  uint32_t row, uint32_t n, const struct pdet_vma *vma,
		  unsigned source)
{
	bool owner = b->value[F(DEV)] || b->value[F(INODE)] ||
		     b->value[F(INDEX)] || b->value[F(PATH)];
	uint32_t i;

	if (vma->said)
		return;
	pdet_put_run(b, row, n, F(VMA_START), vma->start, source);
	pdet_put_run(b, row, n, F(VMA_END), vma->end, source);
	pdet_put_run(b, row, n, F(VMA_PROT), vma->prot, source);
	if (vma->name_len)
		pdet_put_text_run(b, row, n, F(VMA_NAME), vma->name,
				  vma->name_len, source);
	else
		pdet_put_none_run(b, row, n, F(VMA_NAME), source);
	for (i = row; owner && i < row + n; i++)
		put_owner(it, b, i, vma, source);
	for (i = row; b->value[F(KIND)] && i < row + n; i++)
		put_kind(b, i, vma, source);
}

void pdet_vma_put_none(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned source)
{
	/* For an unmapped address, the values of all of these are known. */
	const uint32_t known = PTE(PRESENT) | PTE(SWAPPED) | PTE(GUARD) |
			       PTE(MIGRATION) | PTE(HWPOISON) | PTE(DEVICE) |
			       PTE(FILE) | PTE(ZERO) | PTE(EXCLUSIVE) |
			       PTE(SOFT_DIRTY) | PTE(UFFD_WP) | PTE(WRITTEN) |
			       PTE(YOUNG) | PTE(DIRTY) | PTE(WRITE) |
			       PTE(EXEC);
	unsigned i;

	for (i = 0; i < PDET_COUNT(vma_fields); i++)
		pdet_put_none_run(b, row, n, vma_fields[i], source);
	for (i = 0; i < PDET_COUNT(owner_fields); i++)
		pdet_put_none_run(b, row, n, owner_fields[i], source);
	pdet_put_none_run(b, row, n, F(PFN), source);
	pdet_put_none_run(b, row, n, F(SWAP_TYPE), source);
	pdet_put_none_run(b, row, n, F(SWAP_OFFSET), source);
	pdet_put_none_run(b, row, n, F(PTE_LEVEL), source);
	pdet_put_run(b, row, n, F(PTE), 0, source);
	pdet_put_run(b, row, n, F(PTE_KNOWN), known, source);
	pdet_put_run(b, row, n, F(KIND), PAGEDET_KIND_UNMAPPED, source);
}

void pdet_vma_put_lost(struct pdet_batch *b, uint32_t row, uint32_t n,
		       unsigned state, unsigned source)
{
	const uint32_t end = row + n;
	unsigned i;

	for (i = 0; i < PDET_COUNT(vma_fields); i++)
		pdet_put_lost_run(b, row, n, vma_fields[i], state, source);
	for (i = 0; i < PDET_COUNT(owner_fields); i++)
		pdet_put_lost_run(b, row, n, owner_fields[i], state, source);
	/* An address without an entry may be outside of all VMAs. */
	for (; b->value[F(KIND)] && row < end; row++)
		if (pdet_batch_get(b, row, F(KIND), PAGEDET_KIND_UNKNOWN) ==
		    PAGEDET_KIND_UNTOUCHED)
			pdet_put_lost(b, row, F(KIND), state, source);
}

void pdet_task_put(struct pdet_session *s, struct pdet_task *t,
		   struct pdet_batch *b, uint32_t row, uint32_t n,
		   unsigned source)
{
	pdet_put_run(b, row, n, F(PID), t->pid, source);
	if (!b->value[F(TGID)] && !b->value[F(COMM)])
		return;
	if (!t->named)
		t->backend->ops->task_name(s, t);
	if (!t->tgid_why)
		pdet_put_run(b, row, n, F(TGID), t->tgid, source);
	else
		pdet_put_lost_run(b, row, n, F(TGID), t->tgid_why, source);
	if (!t->comm_why)
		pdet_put_text_run(b, row, n, F(COMM), t->comm, t->comm_len,
				  source);
	else
		pdet_put_lost_run(b, row, n, F(COMM), t->comm_why, source);
}
