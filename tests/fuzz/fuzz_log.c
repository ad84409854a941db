/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes kernel logs: any text, whose pages become rows. */
#include "backend/log/log.h"
#include "fuzz.h"

/* The stack id of the row leads to all its lines. */
static void check_stack(const struct pdet_log_page *p,
			const struct pdet_log_stack *stack,
			struct pdet_batch *b, unsigned field)
{
	struct pdet_texts texts = { 0 };
	struct pdet_text text;
	size_t i, lines = 0;

	MUST(stack->text.at + stack->text.len <= p->text.n);
	MUST(stack->state != PDET_LOG_STACK_OPEN &&
	     stack->state != PDET_LOG_STACK_LEFT);
	if (pdet_batch_state(b, 0, field) != PAGEDET_HAVE)
		return;
	MUST(stack->state == PDET_LOG_STACK_WHOLE && stack->frames);
	MUST(pdet_log_stacks(p, &texts));
	MUST(pdet_texts_get(&texts, pdet_batch_get(b, 0, field, 0), &text) ==
	     0);
	for (i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	MUST(lines == stack->frames && text.data[text.len - 1] == '\n');
	pdet_text_free(&text);
	pdet_texts_free(&texts);
}

static void check(const struct pdet_log_page *p, struct pdet_batch *b)
{
	const struct pdet_fields want = pdet_log_said_fields();
	const struct pdet_log_map *m = pdet_log_map_of(p);
	char what[PDET_LOG_OVERWRITTEN];
	struct pdet_log_claim claim;
	size_t i;
	unsigned f;

	MUST(p->kind == PDET_LOG_DETECTIVE || p->kind == PDET_LOG_DUMP_PAGE ||
	     p->kind == PDET_LOG_REPORT);
	MUST(p->report >= PAGEDET_REPORT_PAGE_DETECTIVE &&
	     p->report <= PAGEDET_REPORT_BAD_PAGE_CACHE);
	MUST(p->says.at + p->says.len <= p->text.n);
	MUST(p->comm.at + p->comm.len <= p->text.n);
	MUST(p->cache.at + p->cache.len <= p->text.n);
	MUST(p->file.at + p->file.len <= p->text.n);
	MUST(p->why.at + p->why.len <= p->text.n);
	MUST(p->reason.at + p->reason.len <= p->text.n);
	MUST(p->exact.at + p->exact.len <= p->text.n);
	MUST(p->pointers.n <= PDET_LOG_POINTERS);
	/* Where nothing tells whether it is a hash, there is no address. */
	MUST(!p->may_be_hashed || !p->has_kaddr);
	MUST(p->entries.at + p->entries.len <= p->text.n);
	MUST(p->report != PAGEDET_REPORT_BAD_PAGE_MAP || !p->hashed ||
	     !p->has_address);
	MUST(p->n_words <= PDET_LOG_WORDS);
	MUST(!pdet_log_overwritten(p, what, sizeof(what)) || *what);
	for (i = 0; what[i]; i++)
		MUST(what[i] >= ' ' && what[i] <= '~');
	pdet_log_claims(p, &claim);
	MUST(!(claim.flags & ~claim.flags_known));
	MUST(!m || (m >= p->maps.data && m < p->maps.data + p->maps.n));
	for (i = 0; i < p->maps.n; i++) {
		struct pdet_scan name;

		m = &p->maps.data[i];
		MUST(m->map >= PAGEDET_MAP_USER && m->map <= PAGEDET_MAP_OTHER);
		MUST(m->comm.at + m->comm.len <= p->text.n);
		MUST(m->vma_name.at + m->vma_name.len <= p->text.n);
		MUST(!m->has_vma ||
		     (m->vaddr >= m->vma_start && m->vaddr < m->vma_end));
		if (pdet_log_map_name(p, m, &name))
			MUST(name.at < name.end);
	}
	pdet_batch_clear(b, 1);
	pdet_batch_grow(b, 1);
	pdet_log_put(p, b, 0, &want, PAGEDET_SOURCE_LOG);
	/* Each cell has a state, and set flags are known. */
	pdet_fields_for(f, &want)
		MUST(pdet_batch_state(b, 0, f) != PAGEDET_NOT_ASKED);
	/* What belongs to a folio belongs to no tail without one. */
	MUST(!p->stray ||
	     (pdet_batch_state(b, 0, PAGEDET_FIELD_ORDER) != PAGEDET_HAVE &&
	      pdet_batch_state(b, 0, PAGEDET_FIELD_HEAD_PFN) !=
	      PAGEDET_HAVE));
	check_stack(p, &p->owner.alloc, b, PAGEDET_FIELD_ALLOC_STACK);
	check_stack(p, &p->owner.free, b, PAGEDET_FIELD_FREE_STACK);
	MUST(!(pdet_batch_get(b, 0, PAGEDET_FIELD_FLAGS, 0) &
	       ~pdet_batch_get(b, 0, PAGEDET_FIELD_FLAGS_KNOWN, 0)));
	MUST(pdet_batch_state(b, 0, PAGEDET_FIELD_PTE) != PAGEDET_HAVE ||
	     !(pdet_batch_get(b, 0, PAGEDET_FIELD_PTE, 0) &
	       ~pdet_batch_get(b, 0, PAGEDET_FIELD_PTE_KNOWN, 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	const struct pdet_fields columns = pdet_log_said_fields();
	struct pdet_log *log = pdet_log_new();
	const struct pdet_log_page *p;
	struct pdet_scan line;
	struct pdet_batch b;
	uint64_t pages = 0, lines = 0;

	MUST(log && pdet_batch_init(&b, &columns, 1, 1 << 20));
	if (size & 1)
		pdet_log_in_order(log);
	while (pdet_scan_line(&text, &line)) {
		lines++;
		MUST(pdet_log_feed(log, line) == 0);
		while ((p = pdet_log_take(log))) {
			check(p, &b);
			pages++;
		}
	}
	/* The text tells whether the last line is complete. */
	MUST(pdet_log_end(log, size && data[size - 1] != '\n') == 0);
	while ((p = pdet_log_take(log))) {
		check(p, &b);
		pages++;
	}
	/* A page takes at least one line. */
	MUST(pages <= lines);
	pdet_batch_free(&b);
	pdet_log_free(log);
	return 0;
}
