/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads bytes of pages through /proc/PID/mem. Such a read faults in absent
 * pages and marks present ones as accessed, so it is the last resort. A page is
 * read only if its entry and its frame's flags, read again just before, show an
 * ordinary page at its place. A page that has moved counts as not read. A page
 * may still go away between the two system calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/page_content.h"
#include "backend/procfs/task.h"
#include "schema/page_bytes.h"

/* The last task read. */
struct procfs_bytes {
	uint32_t pid;
	int mem, pagemap;
	int error;		/* negative errno of opening; 0: open */
};

void procfs_bytes_free(struct procfs_bytes *y)
{
	if (!y)
		return;
	if (y->mem >= 0)
		close(y->mem);
	if (y->pagemap >= 0)
		close(y->pagemap);
	free(y);
}

/* Both files must have the same address space: after an exec, entries do not
 * match the frames of rows. */
static const struct procfs_bytes *open_task(struct procfs_session *s,
					    uint32_t pid)
{
	struct pdet_env *env = &s->session.env;
	struct procfs_bytes *y = s->bytes;
	uint32_t tid = pid;

	if (y && y->pid == pid)
		return y;
	procfs_bytes_free(y);
	y = s->bytes = malloc(sizeof(*y));
	if (!y)
		return NULL;
	y->pid = pid;
	y->pagemap = -1;
	if (procfs_main_ended(env, pid))
		tid = procfs_other_thread(env, pid, 0);
	y->mem = tid ? pdet_open(env, "/proc/%u/mem", tid) : -ESRCH;
	if (y->mem >= 0)
		y->pagemap = pdet_open(env, "/proc/%u/pagemap", tid);
	y->error = y->mem < 0 ? y->mem : PDET_MIN(y->pagemap, 0);
	return y;
}

/* Only an ordinary page is read. Other mappings may be device memory, and its
 * driver would handle the read. */
static unsigned why_not_frame(struct procfs_session *s, uint64_t pfn)
{
	struct pdet_env *env = &s->session.env;
	uint64_t word, head;
	unsigned why;
	int r = procfs_kpage_one(s->p, env, KPAGE_FLAGS, pfn, &word);

	if (r < 0)
		return pdet_reason_of(r);
	if (r == 0 || word & (PDET_UNREADABLE | KPF(NOPAGE)))
		return PAGEDET_UNSAFE;
	if (!(word & (KPF(MMAP) | KPF(ZERO_PAGE))))
		return PAGEDET_UNSAFE;
	/* Poison of a hugetlb folio is noted on its head. */
	if (!(word & KPF(HUGE)) || !(word & KPF(COMPOUND_TAIL)))
		return PAGEDET_HAVE;
	why = procfs_folio_head(s, pfn, &head, &word);
	if (why)
		return why;
	return word & PDET_UNREADABLE ? PAGEDET_UNSAFE : PAGEDET_HAVE;
}

/* The reason why the page is not at its address any more. */
static unsigned why_not_there(const struct procfs_session *s,
			      const struct procfs_bytes *y, uint64_t vaddr,
			      uint64_t pfn)
{
	uint64_t word = 0;
	const ssize_t n = pdet_pread(y->pagemap, &word, 8,
				     (vaddr >> s->p->page_shift) * 8);

	if (n < 0 && n != -ESRCH)
		return pdet_reason_of((int)n);
	return n == 8 && word & PDET_PM_PRESENT &&
	       (word & PDET_PM_PFN_MASK) == pfn ? PAGEDET_HAVE : PAGEDET_RACED;
}

static unsigned read_page(struct procfs_session *s, struct pdet_batch *b,
			  uint32_t row)
{
	const size_t size = (size_t)1 << s->p->page_shift;
	const uint64_t pfn = b->value[PAGEDET_FIELD_PFN][row];
	const uint64_t vaddr = pdet_batch_get(b, row, PAGEDET_FIELD_VADDR, 0);
	const uint64_t pid = pdet_batch_get(b, row, PAGEDET_FIELD_PID, 0);
	const struct procfs_bytes *y;
	unsigned why;
	ssize_t n;

	/* a mapping of the kernel itself */
	if (!pid)
		return PAGEDET_UNSUPPORTED;
	y = open_task(s, (uint32_t)pid);
	if (!y)
		return PAGEDET_NO_MEMORY;
	if (y->error)
		return y->error == -ENOENT || y->error == -ESRCH ?
			       PAGEDET_RACED : pdet_reason_of(y->error);
	why = why_not_frame(s, pfn);
	if (why != PAGEDET_HAVE)
		return why;
	why = why_not_there(s, y, vaddr, pfn);
	if (why != PAGEDET_HAVE)
		return why;
	n = pdet_pread(y->mem, pdet_page_bytes_next(b->bytes), size, vaddr);
	pdet_put_note(b, row, PAGEDET_NOTE_PERTURBED);
	why = why_not_there(s, y, vaddr, pfn);
	if (why != PAGEDET_HAVE)
		return why;
	/* The kernel refuses secret memory. */
	return n == (ssize_t)size ? PAGEDET_HAVE :
	       n == -EIO || n == -EACCES ? PAGEDET_DENIED : PAGEDET_IO;
}

int procfs_fill_content(struct procfs_session *s, struct pdet_batch *b)
{
	uint32_t row;
	unsigned why;

	if (!pdet_page_bytes_room(&b->bytes, b->cap,
				  (size_t)1 << s->p->page_shift))
		return -ENOMEM;
	for (row = 0; row < b->n; row++) {
		why = pdet_content_why_not(b, row, true);
		if (why == PAGEDET_HAVE)
			why = read_page(s, b, row);
		if (why == PAGEDET_HAVE)
			pdet_content_take(b, row, PROCFS);
		else
			pdet_put_lost(b, row, PAGEDET_FIELD_CONTENT, why,
				      PROCFS);
	}
	return 0;
}
