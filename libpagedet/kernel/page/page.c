/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes struct pages by the rules of the kernel's own reader (fs/proc/page.c,
 * stable_page_flags; include/linux/page-flags.h), without its known errors.
 */
#include "base/env.h"
#include "kernel/page/count.h"
#include "kernel/page/kpf.h"
#include "kernel/page/page.h"

/* Low bits of page->mapping (include/linux/page-flags.h). */
#define MAPPING_ANON 1
#define MAPPING_MOVABLE 2
#define MAPPING_KSM 3
#define MAPPING_BITS 3
/* Low bits of page->memcg_data (include/linux/memcontrol.h). */
#define MEMCG_KMEM 2
#define MEMCG_BITS 7
/* The smallest page size of any kernel. */
#define SMALLEST_PAGE 4096

/* --- classification --- */

/* True if the struct page is uninitialised: it is all zeros, all ones
 * (page_init_poison), or has bytes of poisoned memory. */
static bool is_uniform(const struct pdet_layout *l, const char *page)
{
	return !memcmp(page, page + 8, 8) && page[0] == page[1] &&
	       !memcmp(page, page + 1, l->size[PDET_SIZE_PAGE] - 1);
}

/* Find the head of a tail. Since 7.1 (compound_info) the word may be a mask for
 * the page's own address. The address of a head may consist of ones followed by
 * zeros, like a mask. Used as a mask, it gives itself, because its tails follow
 * it. */
static bool find_head(const struct pdet_layout *l, uint64_t info,
		      uint64_t addr, uint64_t *head)
{
	const uint64_t v = info & ~(uint64_t)1;
	const bool mask = v >> 63 && !(~v & (~v + 1));

	*head = mask ? addr & v : v;
	return pdet_is_address(*head) && *head < addr &&
	       (addr - *head) % l->size[PDET_SIZE_PAGE] == 0;
}

/*
 * True for a fake head (5.14 to 7.0). A kernel that frees struct pages of
 * hugetlb folios maps the first page of struct pages in place of the others.
 * The apparent head at the start of such a page is fake if the next struct page
 * has another head.
 */
static bool is_fake_head(const struct pdet_layout *l, const char *page,
			 const char *next, uint64_t addr, uint64_t *head)
{
	const int nr = l->flag[PAGEDET_PF_COMPOUND_HEAD];
	uint64_t info;

	if (addr % SMALLEST_PAGE || !next ||
	    !(pdet_page_u64(l, page, PDET_MEMBER_PAGE_FLAGS) >> nr & 1))
		return false;
	info = pdet_page_u64(l, next, PDET_MEMBER_PAGE_COMPOUND_HEAD);
	return info & 1 && find_head(l, info, addr, head);
}

enum pdet_page_is pdet_page_is(const struct pdet_layout *l, const char *page,
			       const char *next, uint64_t addr, uint64_t *head)
{
	const uint64_t info = pdet_page_u64(l, page,
					    PDET_MEMBER_PAGE_COMPOUND_HEAD);

	if (is_uniform(l, page))
		return !page[0] || page[0] == (char)0xff ? PDET_PAGE_UNINIT :
							   PDET_PAGE_DAMAGED;
	if (info & 1)
		return find_head(l, info, addr, head) ? PDET_PAGE_TAIL :
							PDET_PAGE_DAMAGED;
	return is_fake_head(l, page, next, addr, head) ? PDET_PAGE_TAIL :
							 PDET_PAGE_PLAIN;
}

/* --- types --- */

static const struct {
	uint64_t flag;
	unsigned kind;
} of_type[PDET_TYPES] = {
	[PDET_TYPE_BUDDY] = { KPF(BUDDY), PAGEDET_KIND_FREE },
	[PDET_TYPE_OFFLINE] = { KPF(OFFLINE), PAGEDET_KIND_OFFLINE },
	[PDET_TYPE_KMEMCG] = { 0, PAGEDET_KIND_KERNEL },
	[PDET_TYPE_TABLE] = { KPF(PGTABLE), PAGEDET_KIND_PGTABLE },
	[PDET_TYPE_HUGETLB] = { KPF(HUGE), PAGEDET_KIND_HUGETLB },
	[PDET_TYPE_SLAB] = { KPF(SLAB), PAGEDET_KIND_SLAB },
	[PDET_TYPE_ZSMALLOC] = { 0, PAGEDET_KIND_ZSMALLOC },
	[PDET_TYPE_LARGE_KMALLOC] = { 0, PAGEDET_KIND_KERNEL },
};

static void add_type(const struct pdet_layout *l,
		     const struct pdet_page_folio *f,
		     struct pdet_page_facts *ret)
{
	unsigned i;

	if (f->holds == PDET_HOLDS_NONSENSE)
		ret->bad |= PDET_BAD_TYPE;
	if (f->holds == PDET_HOLDS_UNKNOWN || f->holds == PDET_HOLDS_NONSENSE)
		return;
	for (i = 0; i < PDET_TYPES; i++)
		if (l->type.known[i])
			ret->known |= of_type[i].flag;
	if (ret->type < PDET_TYPES)
		ret->flags |= of_type[ret->type].flag;
}

/* Whether the folio is hugetlb, by the kernel's mark for it. */
static int is_hugetlb(const struct pdet_layout *l,
		      const struct pdet_page_folio *f,
		      const struct pdet_page_facts *ret)
{
	const int nr = l->second[PDET_SECOND_HUGETLB];

	if (!ret->large)
		return PDET_NO;
	if (l->type.known[PDET_TYPE_HUGETLB])
		return f->holds == PDET_HOLDS_NONSENSE ? PDET_DONT_KNOW :
		       ret->type == PDET_TYPE_HUGETLB ? PDET_YES : PDET_NO;
	if (nr >= 0)
		return !f->second ? PDET_DONT_KNOW :
		       pdet_page_u64(l, f->second, PDET_MEMBER_PAGE_FLAGS) >>
				nr & 1 ? PDET_YES : PDET_NO;
	if (l->hugetlb_dtor >= 0 && pdet_page_has(l, PDET_MEMBER_SECOND_DTOR))
		return !f->second ? PDET_DONT_KNOW :
		       pdet_page_u8(l, f->second, PDET_MEMBER_SECOND_DTOR) ==
				l->hugetlb_dtor ? PDET_YES : PDET_NO;
	return l->flags_named ? PDET_NO : PDET_DONT_KNOW;
}

/* --- mapping --- */

/*
 * Call this after flags and types are set, because a slab uses the field for
 * something else.
 */
static void add_mapping(const struct pdet_layout *l, struct pdet_page_folio *f,
			struct pdet_page_facts *ret)
{
	const uint64_t v = pdet_page_u64(l, f->head, PDET_MEMBER_PAGE_MAPPING);

	f->anon = PDET_DONT_KNOW;
	f->unmappable = ret->flags & KPF(SLAB) ||
			(f->holds == PDET_HOLDS_TYPE &&
			 ret->type != PDET_TYPE_HUGETLB);
	if (f->unmappable) {
		f->anon = PDET_NO;
		ret->known |= KPF(ANON) | KPF(KSM);
		ret->has_mapping = true;
		return;
	}
	if (!(ret->known & KPF(SLAB)) || f->holds == PDET_HOLDS_UNKNOWN ||
	    f->holds == PDET_HOLDS_NONSENSE)
		return;
	if (v & ~(uint64_t)MAPPING_BITS && !pdet_is_address(v)) {
		ret->bad |= PDET_BAD_MAPPING;
		return;
	}
	ret->known |= KPF(ANON) | KPF(KSM);
	ret->has_mapping = true;
	ret->mapping = v;
	f->anon = v & MAPPING_ANON ? PDET_YES : PDET_NO;
	if (v & MAPPING_ANON)
		ret->flags |= KPF(ANON);
	if ((v & MAPPING_BITS) == MAPPING_KSM)
		ret->flags |= KPF(KSM);
	/* Only their driver moves these pages. Until 6.10 zsmalloc stores an
	 * offset in place of the mapcount. */
	if ((v & MAPPING_BITS) == MAPPING_MOVABLE)
		f->unmappable = true;
	else if (v & ~(uint64_t)MAPPING_BITS &&
		 pdet_page_has(l, PDET_MEMBER_PAGE_INDEX))
		ret->has_index = true;
	if (ret->has_index)
		ret->index = pdet_page_u64(l, f->head, PDET_MEMBER_PAGE_INDEX);
}

/* --- flags --- */

static bool test(uint64_t word, int nr)
{
	return nr >= 0 && word >> nr & 1;
}

static void copy_flags(const struct pdet_layout *l, const char *head,
		       struct pdet_page_facts *ret)
{
	uint64_t word = pdet_page_u64(l, head, PDET_MEMBER_PAGE_FLAGS) &
			l->flags.numbers;

	for (; word; word &= word - 1)
		ret->flags |= l->flags.is[__builtin_ctzll(word)];
	ret->known |= l->flags.known;
}

/* Resolve flags that share a bit with another flag, by the type of folio. */
static void sort_out(const struct pdet_layout *l,
		     const struct pdet_page_folio *f,
		     struct pdet_page_facts *ret)
{
	const uint64_t shared = KPF(OWNER_2) | KPF(MAPPEDTODISK);
	const bool exclusive = test(ret->raw_flags,
				    l->flag[PAGEDET_PF_ANON_EXCLUSIVE]);

	if ((ret->flags & (KPF(SWAPCACHE) | KPF(SWAPBACKED))) == KPF(SWAPCACHE))
		ret->flags &= ~KPF(SWAPCACHE);
	if (f->anon == PDET_DONT_KNOW && (exclusive || ret->flags & shared)) {
		ret->flags &= ~shared;
		ret->known &= ~(shared | KPF(ANON_EXCLUSIVE));
	} else if (f->anon == PDET_YES) {
		ret->flags &= ~shared;
		if (exclusive)
			ret->flags |= KPF(ANON_EXCLUSIVE);
	} else if (ret->flags & KPF(OWNER_2)) {
		/*
		 * Newer kernels use OWNER_2 as MAPPEDTODISK only for some
		 * folios.
		 */
		ret->flags &= ~KPF(MAPPEDTODISK);
	}
	/* An access through a mapping sets the accessed bit there, but leaves
	 * this one. Only a clear bit is reliable
	 * (admin-guide/mm/pagemap.rst). */
	if (ret->flags & KPF(IDLE)) {
		ret->flags &= ~KPF(IDLE);
		ret->known &= ~KPF(IDLE);
	}
}

/* HWPoison is set on the page itself, but for hugetlb on the head. */
static void add_poison(const struct pdet_layout *l,
		       const struct pdet_page_folio *f,
		       struct pdet_page_facts *ret)
{
	const int nr = l->flag[PAGEDET_PF_HWPOISON];
	const bool own = test(ret->raw_flags, nr);
	const bool head = test(pdet_page_u64(l, f->head,
					     PDET_MEMBER_PAGE_FLAGS), nr);

	if (f->hugetlb == PDET_DONT_KNOW && own != head)
		ret->known &= ~KPF(HWPOISON);
	else if (f->hugetlb == PDET_YES ? head : own)
		ret->flags |= KPF(HWPOISON);
}

static void add_huge(const struct pdet_layout *l,
		     const struct pdet_page_folio *f,
		     struct pdet_page_facts *ret)
{
	const int nr = l->second[PDET_SECOND_LARGE_RMAPPABLE];
	const uint64_t needs = KPF(LRU) | KPF(ANON);
	bool is;

	if (f->hugetlb == PDET_DONT_KNOW)
		return;
	ret->known |= KPF(HUGE);
	if (f->hugetlb == PDET_YES)
		ret->flags |= KPF(HUGE);
	if (!ret->large || f->unmappable || f->hugetlb == PDET_YES) {
		ret->known |= KPF(THP);
		return;
	}
	if (!l->flags_named || (nr >= 0 && !f->second))
		return;
	/* Older kernels do not mark THP. They test whether a large folio is on
	 * the LRU or is anonymous. */
	if (nr < 0 && (ret->known & needs) != needs)
		return;
	is = nr >= 0 ? test(pdet_page_u64(l, f->second, PDET_MEMBER_PAGE_FLAGS),
			    nr) :
		       ret->flags & needs;
	/* The huge zero page is THP, but has no mark. */
	ret->may_be_zero = !is && ret->has_mapping && !ret->mapping;
	if (!ret->may_be_zero)
		ret->known |= KPF(THP);
	if (is)
		ret->flags |= KPF(THP);
}

/* A tail has its own flag only while its own entry maps it. */
static void drop_exclusive(const struct pdet_layout *l,
			   const struct pdet_page_folio *f,
			   struct pdet_page_facts *ret)
{
	if (f->page == f->head || f->anon != PDET_YES ||
	    ret->flags & KPF(ANON_EXCLUSIVE))
		return;
	if (f->hugetlb == PDET_NO && f->second &&
	    pdet_page_has(l, PDET_MEMBER_SECOND_ENTIRE_MAPCOUNT) &&
	    pdet_page_i32(l, f->second, PDET_MEMBER_SECOND_ENTIRE_MAPCOUNT) < 0)
		return;
	ret->known &= ~KPF(ANON_EXCLUSIVE);
}

/* --- kind --- */

/* The flags give most kinds; mapping and memcg add the rest. */
static void find_kind(struct pdet_page_facts *ret)
{
	const unsigned bits = ret->mapping & MAPPING_BITS;

	ret->kind = ret->type < PDET_TYPES && of_type[ret->type].kind ?
			    of_type[ret->type].kind :
			    pdet_kpf_kind(ret->flags);
	/* It would be anonymous or shmem, but ANON is unknown. */
	if (!(ret->known & KPF(ANON)) &&
	    (ret->kind == PAGEDET_KIND_SHMEM || ret->kind == PAGEDET_KIND_FILE))
		ret->kind = PAGEDET_KIND_UNKNOWN;
	if (ret->kind != PAGEDET_KIND_UNKNOWN)
		return;
	if (ret->has_mapping && ret->mapping && !bits)
		ret->kind = PAGEDET_KIND_FILE;
	else if ((ret->has_mapping && bits == MAPPING_MOVABLE) ||
		 (ret->has_memcg &&
		  (ret->memcg_data & MEMCG_BITS) == MEMCG_KMEM))
		ret->kind = PAGEDET_KIND_KERNEL;
}

void pdet_page_add_zero(struct pdet_page_facts *f, enum pdet_page_zero zero)
{
	f->known |= KPF(ZERO_PAGE);
	if (f->may_be_zero || zero == PDET_ZERO_HUGE)
		f->known |= KPF(THP);
	if (zero == PDET_ZERO_NOT)
		return;
	f->flags |= KPF(ZERO_PAGE);
	/*
	 * The kernel does not count its mappings (mm/memory.c,
	 * vm_normal_page()).
	 */
	f->known |= KPF(MMAP);
	if (zero == PDET_ZERO_HUGE)
		f->flags |= KPF(THP);
	f->kind = PAGEDET_KIND_ZERO;
}

/* --- all --- */

static void add_owners(const struct pdet_layout *l,
		       const struct pdet_page_folio *f,
		       struct pdet_page_facts *ret)
{
	uint64_t v;

	if (pdet_page_has(l, PDET_MEMBER_PAGE_PRIVATE)) {
		ret->has_private = true;
		ret->private = pdet_page_u64(l, f->head,
					     PDET_MEMBER_PAGE_PRIVATE);
	}
	if (pdet_page_has(l, PDET_MEMBER_PAGE_MEMCG_DATA)) {
		v = pdet_page_u64(l, f->head, PDET_MEMBER_PAGE_MEMCG_DATA);
		if (v & ~(uint64_t)MEMCG_BITS && !pdet_is_address(v)) {
			ret->bad |= PDET_BAD_MEMCG;
		} else {
			ret->has_memcg = true;
			ret->memcg_data = v;
		}
	}
	if (ret->flags & KPF(SLAB) &&
	    pdet_page_has(l, PDET_MEMBER_SLAB_CACHE)) {
		v = pdet_page_u64(l, f->head, PDET_MEMBER_SLAB_CACHE);
		if (!pdet_is_address(v)) {
			ret->bad |= PDET_BAD_SLAB;
		} else {
			ret->has_slab_cache = true;
			ret->slab_cache = v;
		}
	}
}

/* Decode a tail whose head is unknown. Only the page's own flags are known. If
 * the page could be hugetlb, HWPoison is not among them. */
static void decode_alone(const struct pdet_layout *l,
			 struct pdet_page_facts *ret)
{
	ret->large = true;
	ret->known = KPF(NOPAGE) | KPF(COMPOUND_TAIL) | KPF(COMPOUND_HEAD) |
		     KPF(BUDDY);
	ret->flags = KPF(COMPOUND_TAIL);
	if (test(ret->raw_flags, l->flag[PAGEDET_PF_HWPOISON])) {
		ret->known |= KPF(HWPOISON);
		ret->flags |= KPF(HWPOISON);
	}
}

static bool is_tail(const struct pdet_layout *l, const char *page)
{
	return pdet_page_u64(l, page, PDET_MEMBER_PAGE_COMPOUND_HEAD) & 1;
}

void pdet_page_decode(const struct pdet_layout *l, const char *page,
		      const char *head, const char *second,
		      struct pdet_page_facts *ret)
{
	struct pdet_page_folio f = { page, head, NULL, 0, PDET_DONT_KNOW,
				     PDET_DONT_KNOW, false };
	bool is_head;

	memset(ret, 0, sizeof(*ret));
	ret->type = PDET_TYPES;
	ret->raw_flags = pdet_page_u64(l, page, PDET_MEMBER_PAGE_FLAGS);
	if (!head) {
		decode_alone(l, ret);
		return;
	}
	is_head = test(pdet_page_u64(l, head, PDET_MEMBER_PAGE_FLAGS),
		       l->flag[PAGEDET_PF_COMPOUND_HEAD]);
	if (page != head && (!is_head || is_tail(l, head))) {
		ret->bad |= PDET_BAD_FOLIO;
		decode_alone(l, ret);
		return;
	}
	ret->large = is_head;
	if (is_head && second && !is_tail(l, second))
		ret->bad |= PDET_BAD_FOLIO;
	else if (is_head)
		f.second = second;
	f.holds = pdet_page_holds(
		l, (uint32_t)pdet_page_i32(l, head, PDET_MEMBER_PAGE_MAPCOUNT),
		&ret->type);
	copy_flags(l, head, ret);
	ret->known |= KPF(COMPOUND_TAIL) | KPF(NOPAGE);
	if (page != head)
		ret->flags = (ret->flags & ~KPF(COMPOUND_HEAD)) |
			     KPF(COMPOUND_TAIL);
	add_type(l, &f, ret);
	f.hugetlb = is_hugetlb(l, &f, ret);
	add_mapping(l, &f, ret);
	sort_out(l, &f, ret);
	add_owners(l, &f, ret);
	add_poison(l, &f, ret);
	add_huge(l, &f, ret);
	drop_exclusive(l, &f, ret);
	pdet_page_count(l, &f, ret);
	/* A page without references may be inside a free block. Only the first
	 * page of the block shows that. */
	if (!ret->large && ret->type == PDET_TYPES &&
	    (int64_t)ret->refcount <= 0)
		ret->known &= ~KPF(BUDDY);
	ret->flags &= ret->known;
	find_kind(ret);
}
