/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a page is used for, so that it is not free; whether that is a leak. */
#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

/* The kind as its source has it. */
static bool of_kind(struct pdet_case *c, uint32_t kind)
{
	return pdet_rest_on_kind(c, kind, PAGEDET_CONFIDENCE_CERTAIN);
}

static void owner(struct pdet_case *c)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_ALLOC_COMM, PAGEDET_FIELD_ALLOC_PID,
		PAGEDET_FIELD_ALLOC_NS, PAGEDET_FIELD_GFP,
		PAGEDET_FIELD_ALLOC_STACK,
	};
	const char *frame = pdet_case_text(c, c->e.alloc_frame);
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fact_field(c, HERE, fields[i]);
	if (*frame)
		pdet_fact_word(c, "alloc_frame", c->e.alloc_frame, frame,
			       HERE);
	pdet_fact_known(c, "alloc_task", c->e.alloc_task, HERE);
}

static bool owner_known(const struct pdet_case *c)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_ALLOC_STACK) ||
	       pdet_row_has(&c->here, PAGEDET_FIELD_ALLOC_PID);
}

static void owner_or_not(struct pdet_case *c)
{
	owner(c);
	if (!owner_known(c))
		pdet_unknown(c, "who allocated it (page_owner)");
}

static bool is_free(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_FREE);
}

static bool no_page(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_HOLE) ||
	       of_kind(c, PAGEDET_KIND_UNINIT) ||
	       of_kind(c, PAGEDET_KIND_UNTOUCHED) ||
	       of_kind(c, PAGEDET_KIND_UNMAPPED);
}

static bool offline(struct pdet_case *c)
{
	c->likely = "a balloon, or memory that is being unplugged";
	c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	pdet_unknown(c, "which driver took it");
	return of_kind(c, PAGEDET_KIND_OFFLINE);
}

static bool reserved(struct pdet_case *c)
{
	if (of_kind(c, PAGEDET_KIND_RESERVED))
		return true;
	return pdet_row_flag(&c->here, PAGEDET_PF_RESERVED) == PAGEDET_YES &&
	       pdet_rest_on(c, PAGEDET_FIELD_FLAGS, PAGEDET_CONFIDENCE_CERTAIN);
}

static bool zero(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_ZERO);
}

static bool pgtable(struct pdet_case *c)
{
	if (!of_kind(c, PAGEDET_KIND_PGTABLE))
		return false;
	owner(c);
	return true;
}

static bool slab(struct pdet_case *c)
{
	if (!of_kind(c, PAGEDET_KIND_SLAB))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_SLAB_CACHE))
		pdet_unknown(c, "which cache it is of (needs a dump, or a "
			     "source that reads kernel memory)");
	owner(c);
	return true;
}

static bool hugetlb(struct pdet_case *c)
{
	if (!of_kind(c, PAGEDET_KIND_HUGETLB))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	return true;
}

static void mapper(struct pdet_case *c)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_MAPCOUNT,
		PAGEDET_FIELD_MAPCOUNT_KIND, PAGEDET_FIELD_USER_MAPS,
		PAGEDET_FIELD_PID, PAGEDET_FIELD_COMM, PAGEDET_FIELD_VADDR,
		PAGEDET_FIELD_MEMCG_PATH,
	};
	const char *comm = pdet_case_text(c, c->e.mapper_comm);
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fact_field(c, HERE, fields[i]);
	if (c->e.mapper_pid)
		pdet_fact_number(c, "mapper_pid", c->e.mapper_pid,
				 PAGEDET_TYPE_NUMBER, HERE, 0);
	if (*comm)
		pdet_fact_word(c, "mapper_comm", c->e.mapper_comm, comm,
			       HERE);
	if (!c->e.mapper_pid && !pdet_row_has(&c->here, PAGEDET_FIELD_PID))
		pdet_unknown(c, "which tasks map it (pagedet mappers PFN)");
}

static bool mapped(struct pdet_case *c)
{
	const uint32_t is = pdet_row_mapped(&c->here);

	c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
	if (is == PAGEDET_DUNNO) {
		/* Of the folio, all of which is freed at once. */
		c->confidence = PAGEDET_CONFIDENCE_HIGH;
		if (!(pdet_row_has(&c->here, PAGEDET_FIELD_MAPCOUNT) &&
		      c->here.mapcount) &&
		    pdet_row_flag(&c->here, PAGEDET_PF_MMAP) != PAGEDET_YES)
			return false;
		c->cause = "tasks map it, or another page of its folio";
		pdet_unknown(c, "a mapcount of this very page");
	} else if (is == PAGEDET_NO) {
		return false;
	}
	mapper(c);
	return true;
}

static bool swap_cached(struct pdet_case *c)
{
	if (pdet_row_flag(&c->here, PAGEDET_PF_SWAPCACHE) != PAGEDET_YES)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	return pdet_rest_on(c, PAGEDET_FIELD_FLAGS, PAGEDET_CONFIDENCE_HIGH);
}

static bool cached(struct pdet_case *c)
{
	if (!pdet_row_is(&c->here, PAGEDET_KIND_FILE) &&
	    !pdet_row_is(&c->here, PAGEDET_KIND_SHMEM))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	if (pdet_row_has(&c->here, PAGEDET_FIELD_INODE))
		c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
	else
		pdet_unknown(c, "which file it is of");
	if (pdet_row_is(&c->here, PAGEDET_KIND_SHMEM))
		c->likely = "memory of a memfd, of tmpfs or shared between "
			    "tasks: it stays until the file is gone";
	else
		c->likely = "reclaim takes it when memory is short";
	c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_PATH);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_DEV);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_INODE);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_INDEX);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	return true;
}

/* Mapped by nobody, and not free. */
static bool anon_unmapped(struct pdet_case *c)
{
	if (!pdet_row_is(&c->here, PAGEDET_KIND_ANON) ||
	    pdet_row_mapped(&c->here) != PAGEDET_NO)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT))
		pdet_unknown(c, "its references (needs a dump, or a source "
			     "that reads kernel memory)");
	owner(c);
	return true;
}

static bool zsmalloc(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_ZSMALLOC);
}

static bool device(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_DEVICE);
}

/* No type, no cache, no mapping: somebody in the kernel took it as pages. */
static bool kernel_memory(struct pdet_case *c)
{
	const bool known = pdet_row_is(&c->here, PAGEDET_KIND_KERNEL);

	if (!known && !(pdet_row_is(&c->here, PAGEDET_KIND_UNKNOWN) &&
			pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT) &&
			c->here.refcount &&
			pdet_row_mapped(&c->here) == PAGEDET_NO))
		return false;
	c->confidence = known ? PAGEDET_CONFIDENCE_HIGH :
				PAGEDET_CONFIDENCE_MEDIUM;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ORDER);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOCATOR);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KERNEL_MAPS);
	owner_or_not(c);
	return true;
}

static bool use_unknown(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_KIND))
		pdet_unknown(c, "what kind of page it is");
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT))
		pdet_unknown(c, "its references (needs a dump, or a source "
			     "that reads kernel memory)");
	if (pdet_row_mapped(&c->here) == PAGEDET_DUNNO)
		pdet_unknown(c, "whether tasks map it");
	owner_or_not(c);
	return true;
}

/* --- leaks --- */

/* There is somebody who will free it. */
static bool used(struct pdet_case *c)
{
	static const uint32_t kinds[] = {
		PAGEDET_KIND_FILE, PAGEDET_KIND_SHMEM, PAGEDET_KIND_SLAB,
		PAGEDET_KIND_PGTABLE, PAGEDET_KIND_ZERO, PAGEDET_KIND_RESERVED,
		PAGEDET_KIND_HUGETLB, PAGEDET_KIND_OFFLINE,
		PAGEDET_KIND_ZSMALLOC, PAGEDET_KIND_DEVICE,
	};
	size_t i;

	c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
	if (pdet_row_mapped(&c->here) == PAGEDET_YES) {
		mapper(c);
		return true;
	}
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	if (pdet_row_flag(&c->here, PAGEDET_PF_SWAPCACHE) == PAGEDET_YES)
		return true;
	for (i = 0; i < PDET_COUNT(kinds); i++) {
		if (!pdet_row_is(&c->here, kinds[i]))
			continue;
		if (kinds[i] == PAGEDET_KIND_SLAB)
			pdet_unknown(c, "whether the objects in it are "
				     "leaked");
		return true;
	}
	return false;
}

/* Memory that the kernel uses looks the same: never more than a suspicion. */
static bool suspect(struct pdet_case *c)
{
	const bool anon = pdet_row_is(&c->here, PAGEDET_KIND_ANON);

	if (pdet_row_is_nothing(&c->here) || !owner_known(c) ||
	    pdet_row_mapped(&c->here) != PAGEDET_NO ||
	    !(anon || pdet_row_is(&c->here, PAGEDET_KIND_KERNEL) ||
	      pdet_row_is(&c->here, PAGEDET_KIND_UNKNOWN)))
		return false;
	c->confidence = anon || c->e.alloc_task == PAGEDET_NO ?
			PAGEDET_CONFIDENCE_MEDIUM : PAGEDET_CONFIDENCE_LOW;
	if (c->e.alloc_task == PAGEDET_NO)
		c->likely = "the task that allocated it has ended";
	c->likely_confidence = c->e.alloc_task == PAGEDET_NO ?
			       PAGEDET_CONFIDENCE_MEDIUM : 0;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KERNEL_MAPS);
	owner(c);
	pdet_unknown(c, "who holds its address: only its owner's code, or "
		     "more such pages as time goes by, tell a leak");
	if (c->e.alloc_task == PAGEDET_DUNNO)
		pdet_unknown(c, "whether the task that allocated it is still "
			     "there");
	return true;
}

static bool leak_unknown(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	owner_or_not(c);
	if (pdet_row_mapped(&c->here) == PAGEDET_DUNNO)
		pdet_unknown(c, "whether tasks map it");
	return true;
}

#define USE(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, NOT_FREE, verdict, name, fits, cause, advice)
#define LEAK(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, LEAKED, verdict, name, fits, cause, advice)

const struct pdet_rule pdet_rules_use[] = {
	USE(101, FINE, "page-free", is_free, "the page is free", "nothing"),
	USE(102, FINE, "no-page", no_page, "there is no page at this place",
	    "nothing"),
	USE(103, CAUSE, "set-aside-as-poisoned", pdet_rest_on_poison,
	    "set aside as a memory error (hwpoison): the kernel does not use "
	    "it any more",
	    "look into the kernel log for why; unpoison-pfn takes back what "
	    "was only a test"),
	USE(104, CAUSE, "offline", offline,
	    "a driver has taken it out of use, though it is still there",
	    "ask the balloon or the hypervisor to give it back"),
	USE(105, CAUSE, "reserved", reserved,
	    "reserved when the kernel started: it is not given to anybody",
	    "nothing; /proc/iomem and the kernel's command line say for what"),
	USE(106, CAUSE, "zero-page", zero,
	    "the page of zeroes that all tasks share", "nothing"),
	USE(107, CAUSE, "page-table", pgtable,
	    "a page table; it is freed with the mappings below it, or with "
	    "its task", "unmap what is not needed, or end the task"),
	USE(108, CAUSE, "slab", slab,
	    "objects of the kernel's slab allocator are in it; it is freed "
	    "when all of them are",
	    "see /proc/slabinfo; writing 2 to /proc/sys/vm/drop_caches frees "
	    "inodes and dentries"),
	USE(109, CAUSE, "hugetlb", hugetlb,
	    "of a huge page of the hugetlb pool, which keeps it, used or not",
	    "shrink the pool: /proc/sys/vm/nr_hugepages"),
	USE(110, CAUSE, "mapped", mapped, "tasks map it",
	    "'pagedet mappers' lists them"),
	USE(111, CAUSE, "swap-cache", swap_cached,
	    "in the swap cache: on its way to swap, or read back from there",
	    "nothing; reclaim takes it when memory is short"),
	USE(112, CAUSE, "page-cache", cached,
	    "it holds contents of a file, and no task maps it",
	    "'pagedet explain page --why reclaim' says if it can go"),
	USE(113, CAUSE, "anon-unmapped", anon_unmapped,
	    "anonymous memory that nobody maps: it is being freed or moved, "
	    "or somebody holds a reference",
	    "ask again: if it stays, look for who pins it"),
	USE(114, CAUSE, "zsmalloc", zsmalloc,
	    "compressed memory (zram, zswap)",
	    "nothing; it shrinks as tasks use or give back what they swapped"),
	USE(115, CAUSE, "device-memory", device, "memory of a device",
	    "nothing"),
	USE(116, CAUSE, "kernel-memory", kernel_memory,
	    "allocated by kernel code, as whole pages, and not freed since",
	    "'pagedet stack' says by whom, where page_owner is on"),
	USE(119, CANNOT_TELL, "use-unknown", use_unknown,
	    "cannot tell what it is used for",
	    "ask with a source that reads kernel memory (bpf, kcore), or a "
	    "dump"),
	LEAK(701, FINE, "nothing-leaked", is_free, "the page is free",
	     "nothing"),
	LEAK(702, FINE, "no-page-leaked", no_page,
	     "there is no page at this place", "nothing"),
	LEAK(703, FINE, "has-a-user", used,
	     "somebody uses it, who will free it", "nothing"),
	LEAK(704, CAUSE, "leak-suspected", suspect,
	     "allocated, not freed, and no user of it can be seen",
	     "compare 'pagedet owners' of now and later: a leak grows"),
	LEAK(709, CANNOT_TELL, "leak-unknown", leak_unknown,
	     "cannot tell whether somebody still uses it",
	     "start the kernel with page_owner=on"),
	{ { 0, NULL, NULL, NULL, 0, 0, 0, 0 }, NULL },
};
