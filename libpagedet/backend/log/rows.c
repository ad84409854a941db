/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fills columns from the facts of a log about a page. A log has fewer facts
 * than a kernel, and they may be about another page than the query's: for a
 * tail, Page Detective shows the head's struct page.
 */
#include <string.h>

#include "backend/log/rows.h"
#include "kernel/page/kpf.h"

#define F(name) PAGEDET_FIELD_##name

/* The pins of a small page are part of its refcount (include/linux/mm.h). */
#define PIN_BIAS 1024

static const uint8_t fields_of_page[] = {
	F(PFN), F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(RAW_FLAGS), F(HEAD_PFN),
	F(ORDER), F(NODE), F(REFCOUNT), F(MAPCOUNT), F(MAPCOUNT_KIND),
	F(PINCOUNT), F(USER_MAPS), F(KERNEL_MAPS), F(MEMCG_PATH),
	F(MEMCG_NAME), F(INODE), F(INDEX), F(OBJECT), F(CONTENT),
	F(ALLOC_STACK), F(FREE_STACK), F(ALLOC_PID), F(ALLOC_TGID),
	F(ALLOC_COMM), F(GFP_MASK), F(GFP), F(ALLOC_ORDER), F(MIGRATETYPE),
	F(PAGE_MOBILITY),
	F(ALLOCATOR), F(ALLOC_NS), F(FREE_NS), F(MIGRATE_REASON),
};

struct pdet_fields pdet_log_fields(void)
{
	struct pdet_fields all = { { 0, 0 } };
	size_t i;

	for (i = 0; i < PDET_COUNT(fields_of_page); i++)
		pdet_fields_add(&all, fields_of_page[i]);
	for (i = 0; i < PDET_LOG_OF_ADDRESS; i++)
		pdet_fields_add(&all, pdet_log_of_address[i]);
	return all;
}

struct pdet_fields pdet_log_said_fields(void)
{
	struct pdet_fields all = pdet_log_fields();

	pdet_fields_add(&all, F(REPORT));
	pdet_fields_add(&all, F(REASON));
	pdet_fields_add(&all, F(EVENT_NS));
	pdet_fields_add(&all, F(DEV));
	pdet_fields_add(&all, F(SLAB_CACHE));
	return all;
}

/* --- combining several lines --- */

/* True if the struct page that was printed is the page's own. */
static bool is_own(const struct pdet_log_page *p)
{
	/* Before 5.10 the block does not have the number. */
	return p->has & PDET_LOG_DUMPED_PFN ? p->dumped_pfn == p->pfn :
					      p->kind == PDET_LOG_DUMP_PAGE;
}

/* A tail of a folio that the block does not show. */
static bool is_lone_tail(const struct pdet_log_page *p)
{
	return p->stray ||
	       (p->tail && !(p->has & (PDET_LOG_META | PDET_LOG_HEAD)));
}

/* True if the word of flags is certainly not that of another page. */
static bool is_own_word(const struct pdet_log_page *p)
{
	return p->has & PDET_LOG_FLAGS && p->has & PDET_LOG_RAW &&
	       p->raw == p->flags_word;
}

/* The page's own word of flags. Before 4.10 there is no hex dump, and before
 * 5.10 "flags:" is not that of the head. */
static bool word_of(const struct pdet_log_page *p, uint64_t *ret)
{
	if (p->has & PDET_LOG_RAW) {
		*ret = p->raw;
		return is_own(p) || p->kind == PDET_LOG_DUMP_PAGE;
	}
	*ret = p->flags_word;
	return p->has & PDET_LOG_FLAGS_WORD && p->old_form && is_own(p) &&
	       !(p->has & (PDET_LOG_DUMPED_PFN | PDET_LOG_HEAD)) &&
	       !p->partial;
}

/* The order of the folio. Returns false if it is unknown. */
static bool order_of(const struct pdet_log_page *p, uint32_t *ret)
{
	*ret = 0;
	if (is_lone_tail(p))
		return false;
	if (p->has & (PDET_LOG_META | PDET_LOG_HEAD)) {
		*ret = p->order;
		return true;
	}
	if (p->compound || p->flags & KPF(COMPOUND_HEAD))
		return false;
	/* A large folio would have a "head:" line, unless lines are lost. A
	 * free page is in a block of unknown size. */
	return p->has & PDET_LOG_PAGE && p->has & PDET_LOG_RAW &&
	       !p->partial && p->mapcount >= 0 && !(p->flags & KPF(BUDDY));
}

/* Folios are aligned to their size. */
static bool head_of(const struct pdet_log_page *p, uint64_t *ret)
{
	uint32_t order;

	if (!(p->has & PDET_LOG_PFN))
		return false;
	if (order_of(p, &order)) {
		*ret = p->pfn & ~(((uint64_t)1 << order) - 1);
		return true;
	}
	*ret = p->pfn;
	return p->flags & KPF(COMPOUND_HEAD) && is_own(p) && is_own_word(p) &&
	       !is_lone_tail(p);
}

/* The page's mapcount, computed from counters of its folio. */
static bool mapcount_of(const struct pdet_log_page *p, int64_t *ret)
{
	const bool own = is_own(p);

	if (!(p->has & PDET_LOG_PAGE) || p->stray)
		return false;
	*ret = p->mapcount;
	if (p->old_form || !(p->has & PDET_LOG_HEAD))
		return own;
	/*
	 * Some kernels do not count mappings of single pages in large folios.
	 */
	if (!(p->has & PDET_LOG_ENTIRE) ||
	    (!p->entire && !p->nr_mapped && p->head_mapcount))
		return false;
	if (own)
		return !__builtin_add_overflow(p->mapcount, p->entire, ret);
	if (p->nr_mapped)
		return false;
	*ret = p->entire;
	return *ret >= 0;
}

/* True if no type was printed and the word is a valid mapcount. */
static bool is_untyped(const struct pdet_log_page *p)
{
	return !(p->has & PDET_LOG_TYPE) && p->has_type_word &&
	       p->type_word + 1 == (uint32_t)p->mapcount;
}

/* A tail has few flags of its own: the others are in the head's word. */
static uint64_t flags_of_tail(const struct pdet_log_page *p, uint64_t *known)
{
	uint64_t flags = KPF(COMPOUND_TAIL);

	*known = 0;
	if (p->tail_unsure)
		return 0;
	if (is_own_word(p))
		flags |= p->flags & KPF(HWPOISON);
	*known = flags | KPF(COMPOUND_HEAD);
	return flags;
}

static uint64_t flags_of(const struct pdet_log_page *p, uint64_t *known)
{
	const uint64_t type = KPF(BUDDY) | KPF(OFFLINE) | KPF(PGTABLE) |
			      KPF(HUGE) | KPF(SLAB);
	uint64_t flags = p->flags & ~KPF(COMPOUND_HEAD), head;
	int64_t maps;
	uint32_t order;

	/* Before 5.10 the word of a tail is its own. */
	if (is_lone_tail(p) ||
	    (p->tail && is_own_word(p) && !(p->flags & KPF(COMPOUND_HEAD))))
		return flags_of_tail(p, known);
	*known = p->flags_known & ~KPF(COMPOUND_HEAD);
	flags |= p->anon ? KPF(ANON) : 0;
	flags |= p->ksm ? KPF(KSM) : 0;
	*known |= KPF(ANON) | KPF(KSM);
	if (p->has & PDET_LOG_TYPE ||
	    (!p->old_form && !p->ends_lost && is_untyped(p)))
		*known |= type;
	if (p->has & PDET_LOG_META) {
		flags |= p->hugetlb ? KPF(HUGE) : 0;
		flags |= p->large_rmappable ? KPF(THP) : 0;
		*known |= KPF(HUGE);
		/*
		 * The driver calls the huge zero page "Small", but it is large.
		 */
		if (p->hugetlb || p->large_rmappable || !p->order)
			*known |= KPF(THP);
	}
	/* Before 5.10 the block does not have the number, and is its own. */
	if (p->ends_lost)
		*known &= ~(KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL));
	else if ((head_of(p, &head) ||
	     (p->flags & KPF(COMPOUND_HEAD) && !(p->has & PDET_LOG_PFN) &&
	      is_own_word(p))) && !order_of(p, &order)) {
		flags |= KPF(COMPOUND_HEAD);
		*known |= KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL);
	} else if (order_of(p, &order) && p->has & PDET_LOG_PFN) {
		*known |= KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL);
		if (order)
			flags |= p->pfn == head ? KPF(COMPOUND_HEAD) :
						  KPF(COMPOUND_TAIL);
		/*
		 * Each page has its own value of these flags, but the word is
		 * that of the head.
		 */
		if (p->pfn != head) {
			flags &= ~(KPF(HWPOISON) | KPF(ANON_EXCLUSIVE));
			*known &= ~(KPF(HWPOISON) | KPF(ANON_EXCLUSIVE));
		}
	}
	if (mapcount_of(p, &maps) &&
	    (maps || !(p->has & PDET_LOG_HEAD) || !p->head_mapcount)) {
		flags |= maps > 0 ? KPF(MMAP) : 0;
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

/* How many of the listed mappings are present. *listed is the number of all of
 * them, because the driver also counts entries that are not present. */
static uint64_t maps_present(const struct pdet_log_page *p, bool user,
			     uint64_t *listed)
{
	const bool is_x86 = pdet_log_is_x86(p);
	uint64_t present = 0;
	size_t i;

	*listed = 0;
	for (i = 0; i < p->maps.n; i++) {
		const struct pdet_log_map *m = &p->maps.data[i];

		if ((m->map == PAGEDET_MAP_USER) != user)
			continue;
		++*listed;
		present += pdet_log_entry_present(m->entry, is_x86);
	}
	return present;
}

static bool kind_of(const struct pdet_log_page *p, unsigned *ret)
{
	uint64_t flags, known, listed;

	if (!(p->has & PDET_LOG_FLAGS) || p->ends_lost)
		return false;
	flags = flags_of(p, &known);
	/* They say nothing of the folio. */
	if (!(known & KPF(LRU)))
		return false;
	*ret = pdet_kpf_kind(flags);
	if (text_is(p, p->page_type, "zsmalloc"))
		*ret = PAGEDET_KIND_ZSMALLOC;
	else if (text_is(p, p->aops, "hugetlbfs_aops"))
		*ret = PAGEDET_KIND_HUGETLB;
	else if (text_is(p, p->aops, "shmem_aops"))
		*ret = PAGEDET_KIND_SHMEM;
	else if (p->aops.len)
		*ret = PAGEDET_KIND_FILE;
	/* Its flags are those of a page that has left the cache. */
	else if (p->has_mapping && !p->mapping &&
		 (*ret == PAGEDET_KIND_FILE || *ret == PAGEDET_KIND_SHMEM))
		*ret = PAGEDET_KIND_UNKNOWN;
	/* The zero page is reserved, too. So a reserved page that is zero and
	 * has user mappings may be the zero page. */
	return !(*ret == PAGEDET_KIND_RESERVED && p->has & PDET_LOG_ZERO &&
		 maps_present(p, true, &listed));
}

void pdet_log_claims(const struct pdet_log_page *p,
		     struct pdet_log_claim *ret)
{
	char what[PDET_LOG_OVERWRITTEN];

	memset(ret, 0, sizeof(*ret));
	if (pdet_log_overwritten(p, what, sizeof(what)))
		return;
	ret->has_kind = kind_of(p, &ret->kind);
	if (p->is_slab) {
		ret->has_kind = true;
		ret->kind = PAGEDET_KIND_SLAB;
	}
	if (p->has & PDET_LOG_FLAGS) {
		ret->flags = flags_of(p, &ret->flags_known);
	} else {
		ret->flags = p->flags & p->flags_known;
		ret->flags_known = p->flags_known;
	}
	/* Other reports have the inode of a different device. */
	ret->has_inode = p->has & PDET_LOG_INODE && p->aops.len;
	ret->inode = p->inode;
	ret->has_refcount = p->has & PDET_LOG_PAGE && p->refcount >= 0 &&
			    !is_lone_tail(p);
	ret->refcount = (uint64_t)p->refcount;
}

/* --- columns --- */

/*
 * A row of a log has only what the text says. An answer of a source also has
 * what follows from that.
 */
static bool is_quote(const struct pdet_log_putting *o)
{
	return o->source == PAGEDET_SOURCE_LOG;
}

static void put_flags(const struct pdet_log_putting *o)
{
	/* The kernel has no such flag: it follows from the mapcount. */
	const uint64_t left_out = is_quote(o) ? KPF(MMAP) : 0;
	uint64_t known, flags = flags_of(o->p, &known);

	pdet_log_cell(o, F(FLAGS), flags & ~left_out);
	pdet_log_cell(o, F(FLAGS_KNOWN), known & ~left_out);
}

/* Its words are not those of a page. */
static void put_overwritten(const struct pdet_log_putting *o)
{
	static const uint8_t fields[] = {
		F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(HEAD_PFN), F(ORDER),
		F(NODE), F(REFCOUNT), F(MAPCOUNT), F(MAPCOUNT_KIND),
		F(PINCOUNT), F(INODE), F(INDEX), F(DEV), F(MEMCG_PATH),
		F(MEMCG_NAME), F(MEMCG_INO),
	};
	const struct pdet_log_page *p = o->p;
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_log_cell_lost(o, fields[i], PAGEDET_CORRUPT);
	if (p->has & PDET_LOG_RAW)
		pdet_log_cell(o, F(RAW_FLAGS), p->raw);
}

static void put_struct(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;
	uint64_t head, word;
	int64_t maps;
	uint32_t order;
	unsigned kind;

	if (kind_of(p, &kind))
		pdet_log_cell(o, F(KIND), kind);
	if (p->has & PDET_LOG_FLAGS)
		put_flags(o);
	if (word_of(p, &word))
		pdet_log_cell(o, F(RAW_FLAGS), word);
	if (p->has & PDET_LOG_NODE)
		pdet_log_cell(o, F(NODE), p->node);
	if (order_of(p, &order))
		pdet_log_cell(o, F(ORDER), order);
	if (head_of(p, &head))
		pdet_log_cell(o, F(HEAD_PFN), head);
	if (!(p->has & PDET_LOG_PAGE))
		return;
	/* The count of a tail is not that of its folio. */
	if (is_quote(o) || !is_lone_tail(p))
		pdet_log_cell(o, F(REFCOUNT), (uint64_t)p->refcount);
	if (mapcount_of(p, &maps)) {
		pdet_log_cell(o, F(MAPCOUNT), (uint64_t)maps);
		/* Below zero, it is damaged, or the type of the page. */
		if (maps >= 0)
			pdet_log_cell(o, F(MAPCOUNT_KIND),
				      PAGEDET_MAPCOUNT_EXACT);
	} else if (p->stray) {
		pdet_log_cell_lost(o, F(MAPCOUNT), PAGEDET_CORRUPT);
	}
	if (p->has & PDET_LOG_PINCOUNT && !p->stray) {
		if (p->pincount < 0)
			pdet_log_cell_lost(o, F(PINCOUNT), PAGEDET_CORRUPT);
		else
			pdet_log_cell(o, F(PINCOUNT), (uint64_t)p->pincount);
	} else if (!is_quote(o) && order_of(p, &order) && !order &&
		   p->refcount >= 0) {
		pdet_log_cell(o, F(PINCOUNT), (uint64_t)p->refcount / PIN_BIAS);
		if (p->refcount >= PIN_BIAS &&
		    pdet_fields_has(o->want, F(PINCOUNT)))
			pdet_put_note(o->b, o->row, PAGEDET_NOTE_ESTIMATED);
	}
}

/* True for a page without a file: the log says so, or mapping is empty. */
static bool is_no_file(const struct pdet_log_page *p)
{
	if (p->aops.len || p->has & PDET_LOG_INODE || is_lone_tail(p))
		return false;
	if (p->anon || p->flags & (KPF(SLAB) | KPF(RESERVED) | KPF(BUDDY) |
				   KPF(PGTABLE) | KPF(OFFLINE)))
		return true;
	return p->has_mapping && !p->mapping;
}

static void put_file(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;
	struct pdet_scan aops = pdet_log_page_text(p, p->aops);
	struct pdet_scan name = pdet_log_page_text(p, p->dentry);
	char object[PDET_LOG_TEXT * 2 + 8];
	size_t n;

	if (p->stray)
		return;
	if (is_no_file(p)) {
		pdet_log_cell_none(o, F(INODE));
		pdet_log_cell_none(o, F(INDEX));
		pdet_log_cell_none(o, F(DEV));
		pdet_log_cell_none(o, F(PATH));
		pdet_log_cell_none(o, F(OBJECT));
		return;
	}
	if (p->has & PDET_LOG_INODE)
		pdet_log_cell(o, F(INODE), p->inode);
	/* Before 6.7 the index of hugetlb counts huge pages. */
	if (p->has & PDET_LOG_INDEX && p->aops.len &&
	    !(p->old_form && text_is(p, p->aops, "hugetlbfs_aops")))
		pdet_log_cell(o, F(INDEX), p->index +
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
	pdet_log_cell_text(o, F(OBJECT),
			   (struct pdet_scan){ object, object + n });
}

/* True if the page is charged as a whole. Slab objects are charged
 * individually, which the word shows in its lowest bit. Only flags, such as
 * being on an LRU list, can exclude a slab if the word was hashed. */
static bool is_charged_as_one(const struct pdet_log_page *p)
{
	uint64_t flags, known;

	if (p->memcg_data >> 32)
		return !(p->memcg_data & 1);
	flags = flags_of(p, &known);
	return flags & KPF(LRU) || known & ~flags & KPF(SLAB);
}

static void put_memcg(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;
	struct pdet_scan path = pdet_log_page_text(p, p->memcg), name = path;
	const char *slash;

	if (p->stray)
		return;
	if (!(p->has & PDET_LOG_MEMCG_DATA)) {
		/*
		 * If the line had been printed, it would be between other lines
		 * that are there.
		 */
		if (p->has & PDET_LOG_PAGE && p->has & PDET_LOG_FLAGS &&
		    !p->partial && !p->old_form) {
			pdet_log_cell_none(o, F(MEMCG_INO));
			pdet_log_cell_none(o, F(MEMCG_PATH));
			pdet_log_cell_none(o, F(MEMCG_NAME));
		}
		return;
	}
	if (!path.at || !is_charged_as_one(p))
		return;
	pdet_log_cell_text(o, F(MEMCG_PATH), path);
	slash = path.end - path.at > 1 ?
		memrchr(path.at, '/', (size_t)(path.end - path.at)) : NULL;
	if (slash)
		name.at = slash + 1;
	pdet_log_cell_text(o, F(MEMCG_NAME), name);
}

static void put_maps(const struct pdet_log_putting *o, bool user,
		     unsigned field, uint64_t counted)
{
	uint64_t listed, present = maps_present(o->p, user, &listed);

	/* Mappings that are not in the list may have been present. */
	if (listed < counted)
		pdet_put_note(o->b, o->row, PAGEDET_NOTE_PARTIAL);
	pdet_log_cell(o, field, present +
		      (counted > listed ? counted - listed : 0));
}

static void put_word(const struct pdet_log_putting *o, unsigned field,
		     const char *word)
{
	pdet_log_cell_text(o, field,
			   (struct pdet_scan){ word, word + strlen(word) });
}

/* The page does not exist: only its number is known. */
static void put_hole(const struct pdet_log_putting *o)
{
	unsigned f;

	pdet_fields_for(f, o->want)
		if (f != F(ASK) && f != F(NOTES) && f != F(AT) &&
		    f != F(PAGES) && f != F(TIME_NS) && f != F(PFN))
			pdet_log_cell_none(o, f);
	pdet_log_cell(o, F(KIND), PAGEDET_KIND_HOLE);
	pdet_log_cell(o, F(FLAGS), KPF(NOPAGE));
	pdet_log_cell(o, F(FLAGS_KNOWN), KPF(NOPAGE));
}

void pdet_log_put(const struct pdet_log_page *p, struct pdet_batch *b,
		  uint32_t row, const struct pdet_fields *want,
		  unsigned source)
{
	const struct pdet_log_putting o = { p, b, row, want, source };
	/*
	 * The reason for a value that would be known if the log were complete.
	 */
	const unsigned unsaid = p->past ? PAGEDET_EXCLUDED :
				p->partial ? PAGEDET_IO : PAGEDET_UNSUPPORTED;
	const struct pdet_fields all = pdet_log_said_fields();
	char what[PDET_LOG_OVERWRITTEN];
	unsigned f;

	pdet_fields_for(f, want)
		pdet_put_lost(b, row, f, pdet_fields_has(&all, f) ? unsaid :
			      PAGEDET_UNSUPPORTED, source);
	if (p->has & PDET_LOG_PFN)
		pdet_log_cell(&o, F(PFN), p->pfn);
	if (p->partial)
		pdet_put_note(b, row, PAGEDET_NOTE_PARTIAL);
	if (p->past) {
		pdet_put_note(b, row, p->past_unsure ?
			      PAGEDET_NOTE_TIME_WENT_BACK :
			      PAGEDET_NOTE_EARLIER_BOOT);
		pdet_log_put_event(&o);
		return;
	}
	if (p->has & PDET_LOG_INVALID) {
		put_hole(&o);
		pdet_log_put_report(&o);
		if (p->has & PDET_LOG_VIRT)
			pdet_log_put_address(&o);
		return;
	}
	if (pdet_log_overwritten(p, what, sizeof(what))) {
		put_overwritten(&o);
	} else {
		put_struct(&o);
		put_file(&o);
		put_memcg(&o);
	}
	if (p->has & PDET_LOG_KERNEL)
		put_maps(&o, false, F(KERNEL_MAPS), p->kernel_maps);
	if (p->has & PDET_LOG_USERS)
		put_maps(&o, true, F(USER_MAPS), p->user_maps);
	if (p->has & PDET_LOG_ZERO)
		put_word(&o, F(CONTENT), "zero");
	/* The line of the allocation has another type, page_mobility. */
	if (p->has & PDET_LOG_CMA)
		put_word(&o, F(MIGRATETYPE), "CMA");
	pdet_log_put_owner(&o);
	pdet_log_put_address(&o);
	pdet_log_put_report(&o);
}
