/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fills columns from an answer of the file "query" about a page and its
 * mappings. It puts only what a key proves. Entries are those of x86-64, the
 * only architecture with this file.
 */
#include <string.h>

#include "backend/page_detective/query.h"
#include "kernel/address/user_entry.h"

#define F(name) PAGEDET_FIELD_##name
#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)
#define HAS(o, key) ((o)->p->has & PAGE_DETECTIVE_##key)
#define SOURCE PAGEDET_SOURCE_PAGE_DETECTIVE

/* The pins of a small page are part of its refcount (include/linux/mm.h). */
#define PIN_BIAS 1024

static const uint8_t told[] = {
	F(PFN), F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(RAW_FLAGS), F(HEAD_PFN),
	F(ORDER), F(REFCOUNT), F(MAPCOUNT), F(MAPCOUNT_KIND), F(PINCOUNT),
	F(USER_MAPS), F(KERNEL_MAPS), F(MEMCG_INO), F(MEMCG_PATH),
	F(MEMCG_NAME), F(DEV), F(INODE), F(INDEX), F(PATH), F(CONTENT),
	F(MAP), F(PID), F(TGID), F(COMM), F(VADDR), F(PTE), F(PTE_KNOWN),
	F(PTE_LEVEL), F(SWAP_TYPE), F(SWAP_OFFSET), F(VMA_START), F(VMA_END),
	F(VMA_PROT), F(VMA_NAME),
};
static const uint8_t of_file[] = { F(DEV), F(INODE), F(INDEX), F(PATH) };
static const uint8_t of_memcg[] = {
	F(MEMCG_INO), F(MEMCG_PATH), F(MEMCG_NAME),
};

bool page_detective_tells(unsigned field)
{
	return memchr(told, (int)field, sizeof(told));
}

unsigned page_detective_lacks(const struct page_detective *d, unsigned field)
{
	switch (field) {
	case F(KERNEL_MAPS):
		if (d->no_kernel_walk)
			return PAGEDET_NO_KERNEL;
		return d->no_helper ? PAGEDET_UNSAFE : PAGEDET_HAVE;
	case F(USER_MAPS):
	case F(MAP):
		return d->no_helper ? PAGEDET_UNSAFE : PAGEDET_HAVE;
	case F(FLAGS):
	case F(FLAGS_KNOWN):
	case F(KIND):
	case F(MEMCG_INO):
	case F(MEMCG_PATH):
	case F(MEMCG_NAME):
		return d->no_kpageflags ? PAGEDET_NO_KERNEL : PAGEDET_HAVE;
	default:
		return PAGEDET_HAVE;
	}
}

static void put(const struct page_detective_putting *o, unsigned field,
		uint64_t value)
{
	if (pdet_fields_has(o->want, field))
		pdet_put(o->b, o->row, field, value, SOURCE);
}

static void put_none(const struct page_detective_putting *o, unsigned field)
{
	if (pdet_fields_has(o->want, field))
		pdet_put_none(o->b, o->row, field, SOURCE);
}

static void put_lost(const struct page_detective_putting *o, unsigned field,
		     unsigned reason)
{
	if (pdet_fields_has(o->want, field))
		pdet_put_lost(o->b, o->row, field, reason, SOURCE);
}

static void put_text(const struct page_detective_putting *o, unsigned field,
		     struct pdet_scan s)
{
	if (pdet_fields_has(o->want, field))
		pdet_put_text(o->b, o->row, field, s.at,
			      (size_t)(s.end - s.at), SOURCE);
}

/* Put a count that cannot be negative. */
static void put_count(const struct page_detective_putting *o, unsigned field,
		      int64_t value)
{
	if (value >= 0)
		put(o, field, (uint64_t)value);
}

/* --- any answer --- */

struct pdet_fields
page_detective_said(const struct page_detective_session *s)
{
	struct pdet_fields said = s->session.wants->fields;

	pdet_fields_remove(&said, F(ASK));
	pdet_fields_remove(&said, F(NOTES));
	pdet_fields_remove(&said, F(PAGES));
	pdet_fields_remove(&said, F(TIME_NS));
	return said;
}

void page_detective_put_reason(struct pdet_batch *b, uint32_t row,
			       const struct pdet_fields *want,
			       unsigned reason)
{
	unsigned f;

	pdet_fields_for(f, want)
		pdet_put_lost(b, row, f, reason, SOURCE);
}

/* --- what the page is --- */

static bool is_tail(const struct page_detective_page *p)
{
	return p->kpageflags & KPF(COMPOUND_TAIL);
}

/*
 * PAGEDET_PF bits, and which of them are known. Returns 0, or the reason why
 * they are unknown. Some kernels show the tail's own word for a tail, and
 * others show its folio's word. Flags of the folio are taken from the head,
 * which is right on both. The word of the head also shows whether the tail's
 * word has its own bits.
 */
static unsigned flags_of(const struct page_detective_putting *o,
			 uint64_t *flags, uint64_t *known)
{
	const uint64_t tell = KPF(LRU) | KPF(UPTODATE);
	struct pdet_kpf kpf = *o->kpf;
	bool own;

	if (o->p->state == PAGE_DETECTIVE_NOPAGE) {
		*flags = pdet_kpf_flags(&kpf, KPF(NOPAGE), 0, known);
		return 0;
	}
	if (!HAS(o, KPAGEFLAGS))
		return PAGEDET_UNSUPPORTED;
	if (is_tail(o->p) && !o->has_head_word)
		return PAGEDET_RACED;
	/* The driver shows KSM only for merged pages. */
	kpf.ksm_lies = false;
	kpf.tails_own = true;
	*flags = pdet_kpf_flags(&kpf, o->p->kpageflags, o->head_word, known);
	/* Without a reference it cannot tell whether the page is merged. */
	if (o->p->state == PAGE_DETECTIVE_UNREFERENCED && *flags & KPF(ANON)) {
		*flags &= ~KPF(KSM);
		*known &= ~KPF(KSM);
	}
	own = o->head_word & tell && !(o->p->kpageflags & tell);
	if (is_tail(o->p) && !own) {
		*flags &= ~KPF(ANON_EXCLUSIVE);
		*known &= ~KPF(ANON_EXCLUSIVE);
	}
	return 0;
}

static void put_flags(const struct page_detective_putting *o)
{
	uint64_t flags, known;
	unsigned why = flags_of(o, &flags, &known);

	/* the state already has the reason for a missing word */
	if (why == PAGEDET_UNSUPPORTED)
		return;
	if (why) {
		put_lost(o, F(FLAGS), why);
		put_lost(o, F(FLAGS_KNOWN), why);
		put_lost(o, F(KIND), why);
		return;
	}
	put(o, F(FLAGS), flags);
	put(o, F(FLAGS_KNOWN), known);
	if (o->p->state != PAGE_DETECTIVE_NOPAGE)
		put(o, F(KIND), pdet_kpf_kind(flags));
	else if (o->hole_why)
		put_lost(o, F(KIND), o->hole_why);
	else
		put(o, F(KIND), o->hole_kind);
}

static void put_pincount(const struct page_detective_putting *o)
{
	const struct page_detective_page *p = o->p;

	if (HAS(o, PINCOUNT)) {
		put_count(o, F(PINCOUNT), p->pincount);
		return;
	}
	if (!HAS(o, ORDER) || p->order || !HAS(o, REFCOUNT) ||
	    p->refcount < 0)
		return;
	put(o, F(PINCOUNT), (uint64_t)p->refcount / PIN_BIAS);
	if (p->refcount >= PIN_BIAS && pdet_fields_has(o->want, F(PINCOUNT)))
		pdet_put_note(o->b, o->row, PAGEDET_NOTE_ESTIMATED);
}

static void put_struct(const struct page_detective_putting *o)
{
	const struct page_detective_page *p = o->p;

	put_flags(o);
	/* Only given for a page that is not the head. */
	if (HAS(o, PAGE_FLAGS))
		put(o, F(RAW_FLAGS), p->page_flags);
	else if (HAS(o, FLAGS))
		put(o, F(RAW_FLAGS), p->flags);
	if (HAS(o, HEAD))
		put(o, F(HEAD_PFN), p->head);
	if (HAS(o, ORDER))
		put(o, F(ORDER), p->order);
	/* Below zero: its struct page is damaged. */
	if (HAS(o, REFCOUNT))
		put(o, F(REFCOUNT), (uint64_t)p->refcount);
	/* The page's own and its folio's, if the kernel keeps both. */
	if (HAS(o, MAPCOUNT)) {
		put(o, F(MAPCOUNT), (uint64_t)p->mapcount);
		put(o, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_EXACT);
	}
	put_pincount(o);
}

static void put_file(const struct page_detective_putting *o)
{
	size_t i;

	if (!HAS(o, FILE))
		return;
	for (i = 0; i < PDET_COUNT(of_file); i++) {
		if (o->p->file == PAGE_DETECTIVE_FILE_NONE)
			put_none(o, of_file[i]);
		else if (o->p->file == PAGE_DETECTIVE_FILE_BUSY)
			put_lost(o, of_file[i], PAGEDET_RACED);
	}
	if (o->p->file != PAGE_DETECTIVE_FILE_HAVE)
		return;
	put(o, F(DEV), o->p->dev);
	put(o, F(INODE), o->p->ino);
	put(o, F(INDEX), o->p->index);
}

/* For a removed memcg the driver shows the ancestor that now has its charges,
 * as the kernel's own files do. */
static void put_memcg(const struct page_detective_putting *o)
{
	struct pdet_scan path = page_detective_words(o->a, o->p->memcg);
	const char *slash;
	size_t i;

	/* Slab objects are charged individually. */
	if (!HAS(o, MEMCG_INO) || !HAS(o, KPAGEFLAGS) ||
	    (o->p->kpageflags | o->head_word) & KPF(SLAB))
		return;
	for (i = 0; i < PDET_COUNT(of_memcg) && !o->p->memcg_ino; i++)
		put_none(o, of_memcg[i]);
	if (!o->p->memcg_ino)
		return;
	put(o, F(MEMCG_INO), o->p->memcg_ino);
	if (!path.at || !o->memcg_is_there)
		return;
	put_text(o, F(MEMCG_PATH), path);
	slash = path.end - path.at > 1 ?
		memrchr(path.at, '/', (size_t)(path.end - path.at)) : NULL;
	if (slash)
		path.at = slash + 1;
	put_text(o, F(MEMCG_NAME), path);
}

/* Content "data" may be any class except zero. */
static void put_content(const struct page_detective_putting *o)
{
	static const char zero[] = "zero";

	/* It may be device memory, which a read could change. */
	if (!HAS(o, CONTENT) && o->p->state == PAGE_DETECTIVE_HAVE &&
	    HAS(o, KPAGEFLAGS) && o->p->kpageflags & KPF(RESERVED))
		put_lost(o, F(CONTENT), PAGEDET_UNSAFE);
	if (!HAS(o, CONTENT))
		return;
	if (o->p->content == PAGE_DETECTIVE_ZERO)
		put_text(o, F(CONTENT), (struct pdet_scan){
				 zero, zero + sizeof(zero) - 1 });
	else if (o->p->content != PAGE_DETECTIVE_DATA)
		put_lost(o, F(CONTENT), PAGEDET_UNSAFE);
}

static void put_maps(const struct page_detective_putting *o)
{
	const struct page_detective_sum *sum = &o->p->sum;
	const bool counted = pdet_fields_has(o->want, F(USER_MAPS)) ||
			     pdet_fields_has(o->want, F(KERNEL_MAPS));

	if (!o->p->walked || !counted)
		return;
	put(o, F(USER_MAPS), sum->user);
	if (sum->has & PAGE_DETECTIVE_KERNEL)
		put(o, F(KERNEL_MAPS), sum->kernel);
	if (!sum->complete)
		pdet_put_note(o->b, o->row, PAGEDET_NOTE_PARTIAL);
}

/* --- addresses --- */

/* True if several processes may share the page table of the only entry:
 * hugetlbfs files with pages of PMD size (mm/hugetlb.c, huge_pmd_share()). */
static bool may_be_shared(const struct page_detective_putting *o,
			  uint64_t level)
{
	return level == PAGEDET_LEVEL_PMD && o->p->mapcount == 1 &&
	       !(HAS(o, ANON) && o->p->anon) &&
	       (!HAS(o, KPAGEFLAGS) || o->p->kpageflags & KPF(HUGE));
}

/* Add bits that depend on the page, as pagemap shows them. A small special
 * entry, as for the zero page, has no page. The huge zero page is not a page of
 * a file; pagemap of some kernels says so. */
static void add_page_bits(const struct page_detective_putting *o,
			  const struct pdet_user_entry *e, uint64_t level,
			  uint32_t *pte, uint32_t *known)
{
	const struct page_detective_page *p = o->p;
	const bool shown = e->ordinary || level != PAGEDET_LEVEL_PTE;
	uint64_t flags, flags_known;

	if (!flags_of(o, &flags, &flags_known) &&
	    flags_known & KPF(ZERO_PAGE)) {
		*pte |= flags & KPF(ZERO_PAGE) ? PTE(ZERO) : 0;
		*known |= PTE(ZERO);
	}
	if (!shown || HAS(o, ANON)) {
		*pte |= shown && !p->anon && !(*pte & PTE(ZERO)) ? PTE(FILE) :
								   0;
		*known |= PTE(FILE);
	}
	if (!shown || (HAS(o, MAPCOUNT) && !may_be_shared(o, level))) {
		*pte |= shown && p->mapcount == 1 ? PTE(EXCLUSIVE) : 0;
		*known |= PTE(EXCLUSIVE);
	}
}

/* Put an entry that maps the page. With PROT_NONE the hardware present bit is
 * clear, but the page is present. */
static void put_entry(const struct page_detective_putting *o, uint64_t entry,
		      uint64_t level, bool of_user)
{
	const struct pdet_paging x86 = { .arch = &pdet_paging_x86_64 };
	const struct pdet_user_entry e = pdet_user_entry(&x86, entry);
	uint32_t pte = e.pte | PTE(PRESENT);
	uint32_t known = e.known | PTE(PRESENT) | PTE(SWAPPED) | PTE(GUARD) |
			 PTE(MIGRATION) | PTE(HWPOISON) | PTE(DEVICE);

	if (of_user)
		add_page_bits(o, &e, level, &pte, &known);
	put(o, F(PTE), pte);
	put(o, F(PTE_KNOWN), known);
	put(o, F(PTE_LEVEL), level);
	put_none(o, F(SWAP_TYPE));
	put_none(o, F(SWAP_OFFSET));
}

/* Put values without a key: the driver lacks them, or does not give them. */
void page_detective_put_unknown(const struct page_detective_putting *o)
{
	unsigned f, lacks;

	pdet_fields_for(f, o->want) {
		lacks = o->d ? page_detective_lacks(o->d, f) : PAGEDET_HAVE;
		pdet_put_lost(o->b, o->row, f, lacks != PAGEDET_HAVE ?
			      lacks : PAGEDET_UNSUPPORTED, SOURCE);
	}
}

void page_detective_put(const struct page_detective_putting *o)
{
	const struct page_detective_page *p = o->p;

	page_detective_put_unknown(o);
	if (p->state == PAGE_DETECTIVE_STRANGE)
		return;
	put(o, F(PFN), p->pfn);
	if (p->state == PAGE_DETECTIVE_NOPAGE) {
		put_flags(o);
		put_lost(o, F(CONTENT), PAGEDET_UNSAFE);
	} else {
		put_struct(o);
		put_file(o);
		put_memcg(o);
		put_content(o);
		put_maps(o);
	}
	if (!HAS(o, VIRT))
		return;
	put(o, F(PID), p->pid);
	if (HAS(o, LEVEL))
		put_entry(o, p->entry, p->level, true);
}

void page_detective_put_unmapped(const struct page_detective_putting *o)
{
	unsigned f;

	pdet_fields_for(f, o->want)
		pdet_put_none(o->b, o->row, f, SOURCE);
}

void page_detective_put_nothing(const struct page_detective_putting *o)
{
	/* Swapped out, migrating, poisoned: the entry alone does not tell. */
	if (o->p->entry) {
		page_detective_put_unknown(o);
		put(o, F(PTE), 0);
		put(o, F(PTE_KNOWN), PTE(PRESENT));
		put(o, F(PID), o->p->pid);
		return;
	}
	page_detective_put_unmapped(o);
	put(o, F(KIND), PAGEDET_KIND_UNTOUCHED);
	put(o, F(PTE), 0);
	put(o, F(PTE_KNOWN), PTE(PRESENT) | PTE(SWAPPED) | PTE(GUARD) |
	    PTE(MIGRATION) | PTE(HWPOISON) | PTE(DEVICE));
	put(o, F(PID), o->p->pid);
}

void page_detective_put_vma(const struct page_detective_putting *o,
			    const struct pdet_vma *vma)
{
	const struct pdet_scan name = { vma->name, vma->name + vma->name_len };

	put(o, F(VMA_START), vma->start);
	put(o, F(VMA_END), vma->end);
	put(o, F(VMA_PROT), vma->prot);
	if (!vma->name_len) {
		put_none(o, F(VMA_NAME));
		return;
	}
	put_text(o, F(VMA_NAME), name);
	if (HAS(o, FILE) && o->p->file == PAGE_DETECTIVE_FILE_HAVE &&
	    o->p->dev == vma->dev && o->p->ino == vma->inode)
		put_text(o, F(PATH), name);
}

static void put_map_vma(const struct page_detective_putting *o,
			const struct page_detective_map *m)
{
	const struct pdet_scan name = page_detective_words(o->a, m->vma_name);
	const uint32_t both = PAGE_DETECTIVE_VMA_START |
			      PAGE_DETECTIVE_VMA_END;

	if ((m->has & both) == both) {
		put(o, F(VMA_START), m->vma_start);
		put(o, F(VMA_END), m->vma_end);
	}
	/* VM_READ, VM_WRITE, VM_EXEC, VM_SHARED */
	if (m->has & PAGE_DETECTIVE_VMA_FLAGS)
		put(o, F(VMA_PROT), m->vma_flags & 15);
	/* /proc/PID/maps shows no name */
	if (name.at && pdet_scan_is(&name, "[anon]"))
		put_none(o, F(VMA_NAME));
	else if (name.at)
		put_text(o, F(VMA_NAME), name);
}

/* Put a kernel mapping. Its address is secret. */
static void put_kernel_map(const struct page_detective_putting *o,
			   const struct page_detective_map *m)
{
	static const char direct[] = "[direct map]";

	put_none(o, F(PID));
	put_none(o, F(TGID));
	put_none(o, F(COMM));
	if (m->kind == PAGEDET_MAP_DIRECT)
		put_text(o, F(VMA_NAME), (struct pdet_scan){
				 direct, direct + sizeof(direct) - 1 });
}

void page_detective_put_map(const struct page_detective_putting *o,
			    const struct page_detective_map *m)
{
	const struct pdet_scan comm = page_detective_words(o->a, m->comm);

	page_detective_put_unknown(o);
	put(o, F(PFN), o->p->pfn);
	put(o, F(MAP), m->kind);
	put_file(o);
	put_entry(o, m->entry, m->level, m->kind == PAGEDET_MAP_USER);
	if (m->kind != PAGEDET_MAP_USER) {
		put_kernel_map(o, m);
		return;
	}
	put(o, F(VADDR), m->addr);
	/* The pid is valid in the caller's namespace, but rows need the pid
	 * that the files below the root use. */
	if (m->has & PAGE_DETECTIVE_PID && !(o->d && o->d->other_pids)) {
		put(o, F(PID), m->pid);
		put(o, F(TGID), m->pid);
	}
	if (comm.at)
		put_text(o, F(COMM), comm);
	put_map_vma(o, m);
}
