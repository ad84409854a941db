/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Collects what an address of a task shows beside its page: the content of the
 * mapped file, whether the kernel refuses to read a poisoned page, and whether
 * the page was written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/collect.h"
#include "base/io.h"
#include "explain/collect_file.h"
#include "explain/collect_track.h"
#include "explain/explain.h"

/* --- contents of the mapped file --- */

/* Reads a page of the file that no entry maps. */
static void read_behind(struct pdet_collecting *c, struct pagedet_evidence *e,
			const struct pdet_backing *b, uint64_t vaddr)
{
	const unsigned now = PAGEDET_AS_NOW;
	const uint64_t page_size = c->pd->page_size;
	struct pagedet_content content = { .size = sizeof(content) };
	unsigned char *page = malloc(page_size);

	if (page && pdet_backing_read(b, vaddr, page, page_size) &&
	    pagedet_content(c->pd, page, page_size, PAGEDET_CONTENT_HASH,
			    &content) == 0) {
		e->here_read = PAGEDET_READ_DONE;
		e->zero[now] = pdet_evidence_zero(page, page_size);
		e->hash[now] = content.hash;
		e->hash_key[now] = c->hash_key;
		e->hash_ns[now] = pdet_clock_ns(CLOCK_REALTIME);
		e->hash_state[now] = PAGEDET_HAVE;
	}
	free(page);
}

static void look_behind(struct pdet_collecting *c, struct pagedet_evidence *e,
			const struct pdet_backing *b, uint64_t vaddr)
{
	struct pagedet_page row;

	e->file_ns = b->mtime_ns;
	e->here_hole = pdet_backing_hole(b, vaddr, c->pd->page_size);
	memcpy(&row, e->here, sizeof(row));
	if (pdet_row_absent(&row) != PAGEDET_YES)
		return;
	if (e->here_hole == PAGEDET_YES)
		e->zero[PAGEDET_AS_NOW] = PAGEDET_YES;
	else if (e->here_hole == PAGEDET_NO &&
		 c->o.options & PAGEDET_COLLECT_CONTENT)
		read_behind(c, e, b, vaddr);
}

static void look_at_files(struct pdet_collecting *c,
			  const struct pagedet_item *own)
{
	struct pdet_backed *order = pdet_backing_order(own, c->list.n);
	struct pdet_backing b;
	uint64_t i;

	pdet_backing_begin(&b, &c->pd->env);
	for (i = 0; i < c->list.n; i++) {
		const uint64_t n = order ? order[i].which : i;

		if (c->o.deadline_ns &&
		    pdet_clock_left(c->start_ns, c->o.deadline_ns) == 1)
			break;
		if (pdet_backing_at(&b, own[n].pid, own[n].first))
			look_behind(c, pdet_evidence_at(&c->list, n), &b,
				    own[n].first);
	}
	free(order);
	pdet_backing_end(&b);
	pdet_clear(&c->pd->env);
}

/* --- contents of poisoned pages --- */

/*
 * A poison entry maps nothing. The kernel refuses the read without touching the
 * page (mm/gup.c, mm/memory.c: do_swap_page()).
 */
static void try_poisoned(struct pdet_collecting *c,
			 const struct pagedet_item *own)
{
	struct pagedet_page row;
	uint64_t i;
	char byte;
	int fd;

	for (i = 0; i < c->list.n; i++) {
		struct pagedet_evidence *e = pdet_evidence_at(&c->list, i);

		memcpy(&row, e->here, sizeof(row));
		if (pdet_row_pte(&row, PAGEDET_PTE_HWPOISON) != PAGEDET_YES)
			continue;
		fd = pdet_open(&c->pd->env, "/proc/%u/mem", own[i].pid);
		if (fd < 0)
			continue;
		if (pread(fd, &byte, 1, (off_t)own[i].first) < 0)
			e->here_read = errno == EIO || errno == EFAULT ?
				       PAGEDET_READ_REFUSED :
				       PAGEDET_READ_OTHER;
		close(fd);
	}
}

/* --- writers --- */

static int look_at_track(struct pdet_collecting *c,
			 const struct pagedet_item *own)
{
	struct pdet_tracked *pages = calloc(c->list.n, sizeof(*pages));
	uint64_t i, n = 0;
	int r;

	if (!pages)
		return pdet_fail(&c->pd->env, ENOMEM, "no memory");
	for (i = 0; i < c->list.n; i++)
		if (own[i].pid == (uint32_t)getpid())
			pages[n++] = (struct pdet_tracked){
				.vaddr = own[i].first, .which = i };
	r = pdet_collect_track(&c->pd->env, pdet_track_of(c->o.track), pages,
			       n);
	for (i = 0; i < n; i++)
		pdet_evidence_at(&c->list, pages[i].which)->track =
			pages[i].writes;
	free(pages);
	/*
	 * A tracker of another process cannot answer, which is not a failure.
	 */
	if (r == -ENOMEM)
		return r;
	pdet_clear(&c->pd->env);
	return 0;
}

/* --- all of them --- */

int pdet_collect_address(struct pdet_collecting *c,
			 const struct pagedet_item *own)
{
	if (c->o.options & PAGEDET_COLLECT_CONTENT)
		try_poisoned(c, own);
	if (c->o.options & PAGEDET_COLLECT_FILE)
		look_at_files(c, own);
	return c->o.track ? look_at_track(c, own) : 0;
}
