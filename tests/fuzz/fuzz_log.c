/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A kernel log: any text, whose pages become rows. */
#include "backend/log.h"
#include "fuzz.h"

static void check(const struct pdet_log_page *p, struct pdet_batch *b)
{
	const struct pdet_fields want = pdet_log_fields();
	const struct pdet_log_map *m = pdet_log_map_of(p);
	size_t i;
	unsigned f;

	MUST(p->kind == PDET_LOG_DETECTIVE || p->kind == PDET_LOG_DUMP_PAGE);
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
	/* Each cell has a state, and what is known of flags is. */
	pdet_fields_for(f, &want)
		MUST(pdet_batch_state(b, 0, f) != PAGEDET_NOT_ASKED);
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
	const struct pdet_fields columns = pdet_log_fields();
	struct pdet_log *log = pdet_log_new();
	const struct pdet_log_page *p;
	struct pdet_scan line;
	struct pdet_batch b;
	uint64_t pages = 0, lines = 0;

	MUST(log && pdet_batch_init(&b, &columns, 1, 1 << 20));
	while (pdet_scan_line(&text, &line)) {
		lines++;
		MUST(pdet_log_feed(log, line) == 0);
		while ((p = pdet_log_take(log))) {
			check(p, &b);
			pages++;
		}
	}
	MUST(pdet_log_end(log) == 0);
	while ((p = pdet_log_take(log))) {
		check(p, &b);
		pages++;
	}
	/* A page takes a line at least. */
	MUST(pages <= lines);
	pdet_batch_free(&b);
	pdet_log_free(log);
	return 0;
}
