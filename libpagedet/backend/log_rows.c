/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Columns from what a log says of a page. A text says less than a kernel
 * knows, and what it says may be about another page than the one asked about:
 * Page Detective shows the head's struct page for a tail.
 */
#include <errno.h>
#include <string.h>

#include "backend/log.h"
#include "kernel/kpf.h"
#include "kernel/user_entry.h"

#define F(name) PAGEDET_FIELD_##name
#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

/* A small page's pins are counted in its references (include/linux/mm.h). */
#define PIN_BIAS 1024

/* include/linux/mm.h: this VMA is a stack, and no file's. */
#define VM_GROWSDOWN 0x100

static const uint8_t fields_of_page[] = {
	F(PFN), F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(RAW_FLAGS), F(HEAD_PFN),
	F(ORDER), F(NODE), F(REFCOUNT), F(MAPCOUNT), F(MAPCOUNT_KIND),
	F(PINCOUNT), F(USER_MAPS), F(KERNEL_MAPS), F(MEMCG_PATH),
	F(MEMCG_NAME), F(INODE), F(INDEX), F(OBJECT), F(CONTENT),
	F(ALLOC_PID), F(ALLOC_TGID), F(ALLOC_COMM), F(GFP_MASK), F(GFP),
	F(ALLOC_ORDER), F(MIGRATETYPE), F(ALLOC_NS), F(FREE_NS),
};

static const uint8_t fields_of_address[] = {
	F(VADDR), F(PID), F(COMM), F(PTE), F(PTE_KNOWN), F(PTE_LEVEL),
	F(SWAP_TYPE), F(SWAP_OFFSET), F(VMA_START), F(VMA_END), F(VMA_PROT),
	F(VMA_NAME),
};

struct putting {
	const struct pdet_log_page *p;
	struct pdet_batch *b;
	uint32_t row;
	const struct pdet_fields *want;
	unsigned source;
};

struct pdet_fields pdet_log_fields(void)
{
	struct pdet_fields all = { { 0, 0 } };
	size_t i;

	for (i = 0; i < PDET_COUNT(fields_of_page); i++)
		pdet_fields_add(&all, fields_of_page[i]);
	for (i = 0; i < PDET_COUNT(fields_of_address); i++)
		pdet_fields_add(&all, fields_of_address[i]);
	return all;
}

static void put(const struct putting *o, unsigned field, uint64_t value)
{
	if (pdet_fields_has(o->want, field))
		pdet_put(o->b, o->row, field, value, o->source);
}

static void none(const struct putting *o, unsigned field)
{
	if (pdet_fields_has(o->want, field))
		pdet_put_none(o->b, o->row, field, o->source);
}

static void text(const struct putting *o, unsigned field, struct pdet_scan s)
{
	if (pdet_fields_has(o->want, field))
		pdet_put_text(o->b, o->row, field, s.at,
			      (size_t)(s.end - s.at), o->source);
}

/* A count that cannot be below zero. */
static void count(const struct putting *o, unsigned field, int64_t value)
{
	if (value >= 0)
		put(o, field, (uint64_t)value);
}

/* --- what follows from several lines --- */

/* Whether the struct page that is shown is that of the page itself. */
static bool is_own(const struct pdet_log_page *p)
{
	return p->has & PDET_LOG_DUMPED_PFN && p->dumped_pfn == p->pfn;
}

/* The order of the folio; false where nothing says it. */
static bool order_of(const struct pdet_log_page *p, uint32_t *ret)
{
	*ret = 0;
	if (p->has & (PDET_LOG_META | PDET_LOG_HEAD)) {
		*ret = p->order;
		return true;
	}
	/* A large one would have its line. Free pages are in blocks, whose
	 * size is not said. */
	return p->has & PDET_LOG_RAW && p->mapcount >= 0 &&
	       !(p->flags & KPF(BUDDY));
}

/* Folios lie at multiples of their size. */
static bool head_of(const struct pdet_log_page *p, uint64_t *ret)
{
	uint32_t order;

	if (!order_of(p, &order) || !(p->has & PDET_LOG_PFN))
		return false;
	*ret = p->pfn & ~(((uint64_t)1 << order) - 1);
	return true;
}

/* How often the page is mapped, by the counters of its folio. */
static bool mapcount_of(const struct pdet_log_page *p, int64_t *ret)
{
	const bool own = is_own(p);

	if (!(p->has & PDET_LOG_PAGE) || p->mapcount < 0)
		return false;
	*ret = p->mapcount;
	if (p->old_form || !(p->has & PDET_LOG_HEAD))
		return own;
	/* Kernels that do not count single pages of large folios. */
	if (!(p->has & PDET_LOG_ENTIRE) ||
	    (!p->entire && !p->nr_mapped && p->head_mapcount))
		return false;
	if (own)
		*ret = p->mapcount + p->entire;
	else if (p->nr_mapped)
		return false;
	else
		*ret = p->entire;
	return true;
}

/* Nothing was said of a type, and the word where it would be counts. */
static bool is_untyped(const struct pdet_log_page *p)
{
	return !(p->has & PDET_LOG_TYPE) && p->has_type_word &&
	       p->type_word + 1 == (uint32_t)p->mapcount;
}

static uint64_t flags_of(const struct pdet_log_page *p, uint64_t *known)
{
	const uint64_t type = KPF(BUDDY) | KPF(OFFLINE) | KPF(PGTABLE) |
			      KPF(HUGE) | KPF(SLAB);
	uint64_t flags = p->flags & ~KPF(COMPOUND_HEAD), head;
	int64_t maps;
	uint32_t order;

	*known = p->flags_known & ~KPF(COMPOUND_HEAD);
	flags |= p->anon ? KPF(ANON) : 0;
	flags |= p->ksm ? KPF(KSM) : 0;
	*known |= KPF(ANON) | KPF(KSM);
	if (p->has & PDET_LOG_TYPE || (!p->old_form && is_untyped(p)))
		*known |= type;
	if (p->has & PDET_LOG_META) {
		flags |= p->hugetlb ? KPF(HUGE) : 0;
		flags |= p->large_rmappable ? KPF(THP) : 0;
		*known |= KPF(HUGE);
		/* The huge zero page is "Small" to the driver, and large. */
		if (p->hugetlb || p->large_rmappable || !p->order)
			*known |= KPF(THP);
	}
	if (head_of(p, &head) && order_of(p, &order)) {
		*known |= KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL);
		if (order)
			flags |= p->pfn == head ? KPF(COMPOUND_HEAD) :
						  KPF(COMPOUND_TAIL);
		/* These are the page's own, and the word is the head's. */
		if (p->pfn != head) {
			flags &= ~(KPF(HWPOISON) | KPF(ANON_EXCLUSIVE));
			*known &= ~(KPF(HWPOISON) | KPF(ANON_EXCLUSIVE));
		}
	}
	if (mapcount_of(p, &maps) &&
	    (maps || !(p->has & PDET_LOG_HEAD) || !p->head_mapcount)) {
		flags |= maps ? KPF(MMAP) : 0;
		*known |= KPF(MMAP);
	}
	if (flags & KPF(SLAB))
		flags &= ~(KPF(ANON) | KPF(KSM) | KPF(MMAP));
	*known |= flags;
	return flags;
}

static bool text_is(const struct pdet_log_page *p, struct pdet_log_text t,
		    const char *word)
{
	const struct pdet_scan s = pdet_log_page_text(p, t);

	return t.len && pdet_scan_is(&s, word);
}

/* How many of the mappings listed map something; *listed: how many there
 * are. The driver counts entries that do not, too. */
static uint64_t maps_present(const struct pdet_log_page *p, bool user,
			     uint64_t *listed)
{
	uint64_t present = 0;
	size_t i;

	*listed = 0;
	for (i = 0; i < p->maps.n; i++) {
		const struct pdet_log_map *m = &p->maps.data[i];

		if ((m->map == PAGEDET_MAP_USER) != user)
			continue;
		++*listed;
		present += pdet_log_entry_present(m->entry);
	}
	return present;
}

static bool kind_of(const struct pdet_log_page *p, unsigned *ret)
{
	uint64_t flags, known, listed;

	if (!(p->has & PDET_LOG_FLAGS))
		return false;
	flags = flags_of(p, &known);
	*ret = pdet_kpf_kind(flags);
	if (text_is(p, p->page_type, "zsmalloc"))
		*ret = PAGEDET_KIND_ZSMALLOC;
	else if (text_is(p, p->aops, "hugetlbfs_aops"))
		*ret = PAGEDET_KIND_HUGETLB;
	else if (text_is(p, p->aops, "shmem_aops"))
		*ret = PAGEDET_KIND_SHMEM;
	else if (p->aops.len)
		*ret = PAGEDET_KIND_FILE;
	/* The zero page is reserved, too, and a page of zeroes that users map
	 * may be it. */
	return !(*ret == PAGEDET_KIND_RESERVED && p->has & PDET_LOG_ZERO &&
		 maps_present(p, true, &listed));
}

/* --- columns --- */

static void put_struct(const struct putting *o)
{
	const struct pdet_log_page *p = o->p;
	uint64_t head, known;
	int64_t maps;
	uint32_t order;
	unsigned kind;

	if (kind_of(p, &kind))
		put(o, F(KIND), kind);
	if (p->has & PDET_LOG_FLAGS) {
		put(o, F(FLAGS), flags_of(p, &known));
		put(o, F(FLAGS_KNOWN), known);
	}
	if (p->has & PDET_LOG_RAW &&
	    (is_own(p) || p->kind == PDET_LOG_DUMP_PAGE))
		put(o, F(RAW_FLAGS), p->raw);
	if (p->has & PDET_LOG_NODE)
		put(o, F(NODE), p->node);
	if (order_of(p, &order))
		put(o, F(ORDER), order);
	if (head_of(p, &head))
		put(o, F(HEAD_PFN), head);
	if (!(p->has & PDET_LOG_PAGE))
		return;
	count(o, F(REFCOUNT), p->refcount);
	if (mapcount_of(p, &maps)) {
		put(o, F(MAPCOUNT), (uint64_t)maps);
		put(o, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_EXACT);
	}
	if (p->has & PDET_LOG_PINCOUNT) {
		count(o, F(PINCOUNT), p->pincount);
	} else if (order_of(p, &order) && !order && p->refcount >= 0) {
		put(o, F(PINCOUNT), (uint64_t)p->refcount / PIN_BIAS);
		if (p->refcount >= PIN_BIAS &&
		    pdet_fields_has(o->want, F(PINCOUNT)))
			pdet_put_note(o->b, o->row, PAGEDET_NOTE_ESTIMATED);
	}
}

/* A page of no file: it says so, or has no mapping. */
static bool is_no_file(const struct pdet_log_page *p)
{
	if (p->aops.len || p->has & PDET_LOG_INODE)
		return false;
	if (p->anon || p->flags & (KPF(SLAB) | KPF(RESERVED) | KPF(BUDDY) |
				   KPF(PGTABLE) | KPF(OFFLINE)))
		return true;
	return p->has_mapping && !p->mapping;
}

static void put_file(const struct putting *o)
{
	const struct pdet_log_page *p = o->p;
	struct pdet_scan aops = pdet_log_page_text(p, p->aops);
	struct pdet_scan name = pdet_log_page_text(p, p->dentry);
	char object[PDET_LOG_TEXT * 2 + 8];
	size_t n;

	if (is_no_file(p)) {
		none(o, F(INODE));
		none(o, F(INDEX));
		none(o, F(DEV));
		none(o, F(PATH));
		none(o, F(OBJECT));
		return;
	}
	if (p->has & PDET_LOG_INODE)
		put(o, F(INODE), p->inode);
	/* Before 6.7 that of hugetlb counts huge pages. */
	if (p->has & PDET_LOG_INDEX && p->aops.len &&
	    !(p->old_form && text_is(p, p->aops, "hugetlbfs_aops")))
		put(o, F(INDEX), p->index +
		    (is_own(p) ? 0 : p->pfn - p->dumped_pfn));
	if (!p->aops.len)
		return;
	n = PDET_MIN((size_t)(aops.end - aops.at), (size_t)PDET_LOG_TEXT);
	memcpy(object, aops.at, n);
	if (name.at) {
		const size_t len = PDET_MIN((size_t)(name.end - name.at),
					    (size_t)PDET_LOG_TEXT);

		object[n++] = ' ';
		object[n++] = '"';
		memcpy(object + n, name.at, len);
		n += len;
		object[n++] = '"';
	}
	text(o, F(OBJECT), (struct pdet_scan){ object, object + n });
}

static void put_memcg(const struct putting *o)
{
	const struct pdet_log_page *p = o->p;
	struct pdet_scan path = pdet_log_page_text(p, p->memcg), name = path;
	const char *slash;

	if (!(p->has & PDET_LOG_MEMCG_DATA)) {
		/* The line stands between others that are there. */
		if (p->has & PDET_LOG_PAGE && p->has & PDET_LOG_FLAGS &&
		    !p->partial && !p->old_form) {
			none(o, F(MEMCG_INO));
			none(o, F(MEMCG_PATH));
			none(o, F(MEMCG_NAME));
		}
		return;
	}
	/* Of slabs each object is charged for itself. */
	if (!path.at || p->memcg_data & 1)
		return;
	text(o, F(MEMCG_PATH), path);
	slash = path.end - path.at > 1 ?
		memrchr(path.at, '/', (size_t)(path.end - path.at)) : NULL;
	if (slash)
		name.at = slash + 1;
	text(o, F(MEMCG_NAME), name);
}

static void put_maps(const struct putting *o, bool user, unsigned field,
		     uint64_t counted)
{
	uint64_t listed, present = maps_present(o->p, user, &listed);

	/* What is not in the list may have been present. */
	if (listed < counted)
		pdet_put_note(o->b, o->row, PAGEDET_NOTE_PARTIAL);
	put(o, field, counted > listed ? counted - listed + present : present);
}

static void put_owner(const struct putting *o)
{
	const struct pdet_log_page *p = o->p;

	if (!(p->has & PDET_LOG_OWNER))
		return;
	put(o, F(ALLOC_ORDER), p->owner_order);
	put(o, F(GFP_MASK), p->gfp_mask);
	if (p->gfp.len)
		text(o, F(GFP), pdet_log_page_text(p, p->gfp));
	if (p->migratetype.len)
		text(o, F(MIGRATETYPE), pdet_log_page_text(p, p->migratetype));
	if (p->has & PDET_LOG_OWNER_TASK) {
		put(o, F(ALLOC_PID), p->owner_pid);
		put(o, F(ALLOC_TGID), p->owner_tgid);
		text(o, F(ALLOC_COMM), pdet_log_page_text(p, p->owner_comm));
	}
	if (p->has & PDET_LOG_OWNER_TS)
		put(o, F(ALLOC_NS), p->owner_ns);
	if (p->has & PDET_LOG_OWNER_FREE_TS)
		put(o, F(FREE_NS), p->owner_free_ns);
}

/* Bits of a byte address within a page: of the sizes that there are, the one
 * by which the address is that page's. */
static unsigned page_shift(const struct pdet_log_page *p)
{
	unsigned shift;

	for (shift = 12; shift <= 16 && p->pfn; shift += 2)
		if (p->phys >> shift == p->pfn)
			return shift;
	return 12;
}

/*
 * Whether entries are those of x86-64: the direct map lies where only its
 * kernels have it (Documentation/arch/x86/x86_64/mm.rst), and an entry there
 * holds the address in x86's place.
 */
static bool is_x86(const struct pdet_log_page *p)
{
	const uint64_t addr_bits = 0xffffffffff000;
	size_t i;

	for (i = 0; i < p->maps.n; i++) {
		const struct pdet_log_map *m = &p->maps.data[i];
		uint64_t pages = (uint64_t)1 << 9 *
			(m->level - PAGEDET_LEVEL_PTE);

		if (m->map != PAGEDET_MAP_DIRECT ||
		    m->level > PAGEDET_LEVEL_PUD)
			continue;
		return (m->vaddr >> 47 == 0x1ffff ||
			m->vaddr >> 56 == 0xff) && page_shift(p) == 12 &&
		       (m->entry & addr_bits) >> 12 ==
			       (p->pfn & ~(pages - 1)) &&
		       /* read-only or not, it is global or accessed */
		       m->entry & 0x20;
	}
	return false;
}

static void put_entry(const struct putting *o, const struct pdet_log_map *m)
{
	const struct pdet_paging x86 = { .arch = &pdet_paging_x86_64 };
	uint32_t pte = 0, known = PTE(PRESENT);
	struct pdet_user_entry e;

	if (pdet_log_entry_present(m->entry)) {
		pte |= PTE(PRESENT);
		known |= PTE(SWAPPED) | PTE(GUARD) | PTE(MIGRATION) |
			 PTE(HWPOISON) | PTE(DEVICE);
		if (is_x86(o->p)) {
			e = pdet_user_entry(&x86, m->entry);
			pte |= e.pte;
			known |= e.known;
		}
		none(o, F(SWAP_TYPE));
		none(o, F(SWAP_OFFSET));
	}
	put(o, F(PTE), pte);
	put(o, F(PTE_KNOWN), known);
	put(o, F(PTE_LEVEL), m->level);
}

/*
 * The driver names a file's VMA as the last other one was named. A name is
 * right where the VMA is no file's: it is a stack that grows, or the page is
 * anonymous and its index is its address, which only pages of anonymous VMAs
 * have (mm/rmap.c, linear_page_index()). A path is one of a driver that was
 * mended.
 */
bool pdet_log_map_name(const struct pdet_log_page *p,
		       const struct pdet_log_map *m, struct pdet_scan *ret)
{
	const unsigned shift = page_shift(p);
	const struct pdet_scan name = pdet_log_page_text(p, m->vma_name);

	if (!m->has_vma || !name.at)
		return false;
	*ret = name;
	if (*name.at == '/')
		return true;
	if (m->vma_flags & VM_GROWSDOWN && pdet_scan_is(&name, "[stack]"))
		return true;
	return p->anon && !p->ksm && p->has & PDET_LOG_INDEX &&
	       p->index + (p->pfn - p->dumped_pfn) == m->vaddr >> shift &&
	       p->has & PDET_LOG_DUMPED_PFN;
}

static void put_vma(const struct putting *o, const struct pdet_log_map *m)
{
	struct pdet_scan name;

	if (!m->has_vma)
		return;
	put(o, F(VMA_START), m->vma_start);
	put(o, F(VMA_END), m->vma_end);
	/* VM_READ, VM_WRITE, VM_EXEC, VM_SHARED */
	put(o, F(VMA_PROT), m->vma_flags & 15);
	if (!pdet_log_map_name(o->p, m, &name)) {
		if (pdet_fields_has(o->want, F(VMA_NAME)))
			pdet_put_lost(o->b, o->row, F(VMA_NAME),
				      PAGEDET_UNSUPPORTED, o->source);
		return;
	}
	/* as /proc/PID/maps calls it: not at all */
	if (pdet_scan_is(&name, "[anon]"))
		none(o, F(VMA_NAME));
	else
		text(o, F(VMA_NAME), name);
}

static void put_task(const struct putting *o, const struct pdet_log_map *m)
{
	struct pdet_scan comm = pdet_log_page_text(o->p, m->comm);

	if (m->has_pid && comm.at)
		text(o, F(COMM), comm);
}

const struct pdet_log_map *pdet_log_map_of(const struct pdet_log_page *p)
{
	const unsigned shift = page_shift(p);
	size_t i;

	for (i = 0; p->has & PDET_LOG_VIRT && i < p->maps.n; i++) {
		const struct pdet_log_map *m = &p->maps.data[i];

		if (m->map == PAGEDET_MAP_USER && m->has_pid &&
		    m->pid == p->pid && m->vaddr >> shift == p->virt >> shift)
			return m;
	}
	return NULL;
}

static void put_address(const struct putting *o)
{
	const struct pdet_log_page *p = o->p;
	const struct pdet_log_map *m = pdet_log_map_of(p);
	size_t i;

	if (!(p->has & PDET_LOG_VIRT)) {
		for (i = 0; i < PDET_COUNT(fields_of_address); i++)
			none(o, fields_of_address[i]);
		none(o, F(TGID));
		return;
	}
	put(o, F(PID), p->pid);
	put(o, F(VADDR), p->virt >> page_shift(p) << page_shift(p));
	if (!m)
		return;
	put_task(o, m);
	put_entry(o, m);
	put_vma(o, m);
}

/* There is no page: its number is all there is. */
static void put_hole(const struct putting *o)
{
	unsigned f;

	pdet_fields_for(f, o->want)
		if (f != F(ASK) && f != F(NOTES) && f != F(AT) &&
		    f != F(PAGES) && f != F(TIME_NS) && f != F(PFN))
			none(o, f);
	put(o, F(KIND), PAGEDET_KIND_HOLE);
	put(o, F(FLAGS), KPF(NOPAGE));
	put(o, F(FLAGS_KNOWN), KPF(NOPAGE));
}

void pdet_log_put(const struct pdet_log_page *p, struct pdet_batch *b,
		  uint32_t row, const struct pdet_fields *want,
		  unsigned source)
{
	const struct putting o = { p, b, row, want, source };
	/* What would have been said had all of it arrived. */
	const unsigned unsaid = p->partial ? PAGEDET_IO : PAGEDET_UNSUPPORTED;
	const struct pdet_fields all = pdet_log_fields();
	unsigned f;

	pdet_fields_for(f, want)
		pdet_put_lost(b, row, f, pdet_fields_has(&all, f) ? unsaid :
			      PAGEDET_UNSUPPORTED, source);
	if (p->has & PDET_LOG_PFN)
		put(&o, F(PFN), p->pfn);
	if (p->partial)
		pdet_put_note(b, row, PAGEDET_NOTE_PARTIAL);
	if (p->has & PDET_LOG_INVALID) {
		put_hole(&o);
		if (p->has & PDET_LOG_VIRT)
			put_address(&o);
		return;
	}
	put_struct(&o);
	put_file(&o);
	put_memcg(&o);
	if (p->has & PDET_LOG_KERNEL)
		put_maps(&o, false, F(KERNEL_MAPS), p->kernel_maps);
	if (p->has & PDET_LOG_USERS)
		put_maps(&o, true, F(USER_MAPS), p->user_maps);
	if (p->has & PDET_LOG_ZERO)
		text(&o, F(CONTENT), (struct pdet_scan){ "zero", "zero" + 4 });
	put_owner(&o);
	put_address(&o);
}

void pdet_log_put_map(const struct pdet_log_page *p,
		      const struct pdet_log_map *m, struct pdet_batch *b,
		      uint32_t row, const struct pdet_fields *want,
		      unsigned source)
{
	static const uint8_t of_task[] = {
		F(PID), F(TGID), F(COMM), F(VMA_START), F(VMA_END),
		F(VMA_PROT), F(VMA_NAME),
	};
	const struct putting o = { p, b, row, want, source };
	size_t i;

	put(&o, F(PFN), p->pfn);
	put(&o, F(MAP), m->map);
	put(&o, F(VADDR), m->vaddr);
	put_entry(&o, m);
	if (m->map != PAGEDET_MAP_USER) {
		for (i = 0; i < PDET_COUNT(of_task); i++)
			none(&o, of_task[i]);
		return;
	}
	if (m->has_pid)
		put(&o, F(PID), m->pid);
	put_task(&o, m);
	put_vma(&o, m);
}

int pdet_log_put_maps(const struct pdet_log_page *p, size_t *at,
		      struct pdet_batch *b, const struct pdet_fields *want,
		      unsigned source)
{
	for (; *at < p->maps.n; ++*at) {
		if (!pdet_log_entry_present(p->maps.data[*at].entry))
			continue;
		if (b->n == b->cap)
			return 0;
		pdet_batch_grow(b, 1);
		pdet_log_put_map(p, &p->maps.data[*at], b, b->n - 1, want,
				 source);
	}
	*at = SIZE_MAX;
	return p->partial || !(p->has & PDET_LOG_USERS) ? -EAGAIN : 0;
}
