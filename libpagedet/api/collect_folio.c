/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Collects how many page table entries map the large folio of each page. A row
 * only counts mappings of a single page, but the kernel counts references by
 * folio.
 */
#include <errno.h>
#include <string.h>

#include "api/collect.h"
#include "explain/explain.h"

/*
 * Gets the first frame of the page's folio, if the folio is large and in use.
 * Skips a row without a refcount, because no rule would use the mappings.
 */
static bool head_of(const struct pagedet_evidence *e, uint64_t *head)
{
	struct pagedet_page row;

	memcpy(&row, e->here, sizeof(row));
	if (!pdet_row_has(&row, PAGEDET_FIELD_KIND) ||
	    row.kind == PAGEDET_KIND_FREE ||
	    !pdet_row_has(&row, PAGEDET_FIELD_ORDER) ||
	    !row.order || !pdet_row_has(&row, PAGEDET_FIELD_HEAD_PFN) ||
	    !pdet_row_has(&row, PAGEDET_FIELD_REFCOUNT))
		return false;
	*head = row.head_pfn;
	return true;
}

static void count(struct pdet_session *s, const struct pdet_evidence_list *list)
{
	uint64_t i, head, before = UINT64_MAX, maps = 0;
	int r = -ENOENT;

	for (i = 0; i < list->n && !pdet_evidence_late(list); i++) {
		struct pagedet_evidence *e = pdet_evidence_at(list, i);

		if (!head_of(e, &head))
			continue;
		/* Neighbouring pages usually belong to the same folio. */
		if (head != before)
			r = s->backend->ops->folio_maps(s, head, &maps);
		before = head;
		if (r < 0)
			continue;
		e->folio_counted = PAGEDET_YES;
		e->folio_mapcount = maps;
	}
}

static int ask(struct pdet_backend *b, struct pdet_env *env,
	       const struct pdet_evidence_list *list)
{
	struct pdet_wants wants = { .target = PAGEDET_TARGET_PFN,
				    .alone = true };
	struct pdet_session *s;
	int r;

	pdet_fields_add(&wants.fields, PAGEDET_FIELD_MAPCOUNT);
	r = b->ops->prepare ? b->ops->prepare(b, env, &wants) : 0;
	if (r == 0)
		r = b->ops->session_new(b, env, &wants, &s);
	if (r < 0)
		return r;
	count(s, list);
	b->ops->session_free(s);
	return 0;
}

int pdet_collect_folio(struct pagedet *pd,
		       const struct pdet_evidence_list *list)
{
	uint64_t i, head;
	size_t k;
	int r = -ENOENT;

	for (i = 0; i < list->n && !head_of(pdet_evidence_at(list, i), &head);
	     i++)
		;
	for (k = 0; i < list->n && r < 0 && k < pd->n_backends; k++)
		if (pd->backends[k]->ops->folio_maps)
			r = ask(pd->backends[k], &pd->env, list);
	if (r == -ENOMEM)
		return r;
	pdet_clear(&pd->env);
	return 0;
}
