/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Answers for one ordinary page (present, visible, and without special cases)
 * in few instructions. If a caller queries single addresses, the kernel evicts
 * this code from the processor's cache between calls. Code then costs as much
 * as a system call. All other pages are left to procfs_entries() and
 * procfs_fill(), which give the same answer.
 *
 * bench: lookup
 */
#include <unistd.h>

#include "backend/procfs/task.h"

#define BIT(name) ((uint64_t)1 << PAGEDET_FIELD_##name)
#define VMA_BITS (BIT(VMA_START) | BIT(VMA_END) | BIT(VMA_PROT))
#define FLAG_BITS (BIT(FLAGS) | BIT(FLAGS_KNOWN) | BIT(KIND))
#define ALL_BITS                                                          \
	(BIT(ASK) | BIT(NOTES) | BIT(PID) | BIT(VADDR) | BIT(PFN) |       \
	 VMA_BITS | FLAG_BITS | BIT(MAPCOUNT) | BIT(MEMCG_INO))

/* Flags that need special rules. */
#define ODD_FLAGS                                                         \
	(KPF(NOPAGE) | KPF(COMPOUND_TAIL) | KPF(HUGE) | KPF(SLAB) |       \
	 KPF(IDLE) | KPF(HWPOISON) | KPF(OFFLINE))

struct glance {
	uint64_t entry;
	uint64_t word[KPAGE_FILES];
	struct pdet_vma vma;
};

/* An interrupted read counts as not ordinary. */
static inline bool read_word(int fd, uint64_t at, uint64_t *ret)
{
	return pread(fd, ret, sizeof(*ret), (off_t)(at * sizeof(*ret))) ==
	       sizeof(*ret);
}

/* A file that is not open yet counts as not ordinary. */
static inline bool read_kpage(struct procfs_session *s, enum procfs_kpage which,
		       struct glance *g)
{
	int fd = s->p->kpage[which].fd;

	return fd >= 0 && read_word(fd, g->entry & PDET_PM_PFN_MASK,
				    &g->word[which]);
}

static bool is_ordinary(const struct procfs_session *s, uint64_t want,
			uint64_t flags)
{
	uint64_t odd = ODD_FLAGS;

	if (!(want & (FLAG_BITS | BIT(MEMCG_INO))))
		return true;
	/* Tails show the folio's word, once that is confirmed. */
	if (s->tails_seen && !s->kpf.tails_own)
		odd &= ~KPF(COMPOUND_TAIL);
	return flags & KPF(MMAP) && !(flags & odd);
}

static bool look(struct procfs_session *s, struct procfs_task *t,
		 uint64_t addr, bool again, struct glance *g)
{
	const uint64_t want = s->session.wants->fields.bits[0];
	const uint64_t page = addr >> s->p->page_shift;
	uint64_t entry;

	if (!read_word(t->pagemap, page, &g->entry) ||
	    !(g->entry & PDET_PM_PRESENT) || !(g->entry & PDET_PM_PFN_MASK))
		return false;
	if (want & VMA_BITS &&
	    (procfs_query_vma(&s->session, t, addr, &g->vma) <= 0 ||
	     g->vma.start > addr))
		return false;
	/* Flags decide what a cgroup word of 0 means. */
	if (want & (FLAG_BITS | BIT(MEMCG_INO)) &&
	    !read_kpage(s, KPAGE_FLAGS, g))
		return false;
	/* A count of 0 may also mean that there is no page. */
	if (want & BIT(MAPCOUNT) && (!read_kpage(s, KPAGE_COUNT, g) ||
				     !g->word[KPAGE_COUNT]))
		return false;
	/* A tail without a cgroup may have the cgroup of its head. */
	if (want & BIT(MEMCG_INO) &&
	    (!read_kpage(s, KPAGE_CGROUP, g) ||
	     (!g->word[KPAGE_CGROUP] &&
	      g->word[KPAGE_FLAGS] & KPF(COMPOUND_TAIL))))
		return false;
	if (again && (!read_word(t->pagemap, page, &entry) ||
		      entry != g->entry))
		return false;
	return is_ordinary(s, want, g->word[KPAGE_FLAGS]);
}

static void put(struct procfs_session *s, const struct glance *g,
		struct pdet_batch *b)
{
	const uint64_t want = s->session.wants->fields.bits[0];
	uint64_t flags, known;

	pdet_put(b, 0, PAGEDET_FIELD_PFN, g->entry & PDET_PM_PFN_MASK, PROCFS);
	if (want & VMA_BITS) {
		pdet_put(b, 0, PAGEDET_FIELD_VMA_START, g->vma.start, PROCFS);
		pdet_put(b, 0, PAGEDET_FIELD_VMA_END, g->vma.end, PROCFS);
		pdet_put(b, 0, PAGEDET_FIELD_VMA_PROT, g->vma.prot, PROCFS);
	}
	if (want & FLAG_BITS) {
		flags = procfs_flags(s, g->word[KPAGE_FLAGS], 0, &known);
		pdet_put(b, 0, PAGEDET_FIELD_FLAGS, flags, PROCFS);
		pdet_put(b, 0, PAGEDET_FIELD_FLAGS_KNOWN, known, PROCFS);
		if (want & BIT(KIND))
			pdet_put(b, 0, PAGEDET_FIELD_KIND,
				 pdet_kpf_kind(flags), PROCFS);
	}
	pdet_put(b, 0, PAGEDET_FIELD_MAPCOUNT, g->word[KPAGE_COUNT], PROCFS);
	if (g->word[KPAGE_CGROUP])
		pdet_put(b, 0, PAGEDET_FIELD_MEMCG_INO, g->word[KPAGE_CGROUP],
			 PROCFS);
	else
		pdet_put_none(b, 0, PAGEDET_FIELD_MEMCG_INO, PROCFS);
}

bool procfs_glance(struct pdet_session *base, struct pdet_task *task,
		   uint64_t addr, bool again, struct pdet_batch *b)
{
	struct procfs_session *s = procfs_session_of(base);
	struct procfs_task *t = procfs_task_of(task);
	struct glance g;

	if (base->wants->fields.bits[0] & ~ALL_BITS ||
	    base->wants->fields.bits[1] || t->pagemap < 0 || t->maps < 0 ||
	    !s->p->procmap_query || !look(s, t, addr, again, &g))
		return false;
	put(s, &g, b);
	return true;
}
