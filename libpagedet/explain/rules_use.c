/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rules that explain what uses a page, so that it is not free, and rules for
 * leaks.
 */
#include <string.h>

#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

/* The kind as its source gives it. */
static bool of_kind(struct pdet_case *c, uint32_t kind)
{
	return pdet_rest_on_kind(c, kind);
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

	/* The record is about an earlier owner. */
	if (pdet_row_owned(&c->here) == PAGEDET_NO) {
		pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_NS);
		pdet_fact_field(c, HERE, PAGEDET_FIELD_FREE_NS);
		pdet_unknown(c, "what allocated it since: page_owner knows "
			     "only the allocation before the last free");
		return;
	}
	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fact_field(c, HERE, fields[i]);
	if (*frame)
		pdet_fact_word(c, "alloc_frame", c->e.alloc_frame, frame,
			       HERE);
	pdet_fact_known(c, "alloc_task", c->e.alloc_task, HERE);
}

static bool owner_known(const struct pdet_case *c)
{
	return pdet_row_owned(&c->here) != PAGEDET_NO &&
	       (pdet_row_has(&c->here, PAGEDET_FIELD_ALLOC_STACK) ||
		pdet_row_has(&c->here, PAGEDET_FIELD_ALLOC_PID));
}

/* What can still be asked about the allocation. */
static const char *ask_owner(const struct pdet_case *c, const char *other)
{
	const uint16_t cell = c->here.cell[PAGEDET_FIELD_ALLOC_PID];

	if (PAGEDET_CELL_STATE(cell) == PAGEDET_NO_KERNEL)
		return "start a kernel that has page_owner with page_owner=on: "
		       "it says what allocated a page";
	return other;
}

static void owner_or_not(struct pdet_case *c)
{
	owner(c);
	if (!owner_known(c))
		pdet_unknown(c, "what allocated it (page_owner)");
}

static const char ask_again[] =
	"ask again: a page that is being freed does not stay so";

static bool is_free(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_FREE);
}

/* Struct pages past the end of memory may look the same. */
static bool not_set_up(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_UNINIT);
}

static bool not_in_use(struct pdet_case *c)
{
	return is_free(c) || of_kind(c, PAGEDET_KIND_UNINIT);
}

static bool no_page(struct pdet_case *c)
{
	return of_kind(c, PAGEDET_KIND_HOLE) ||
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
	       pdet_rest_on(c, PAGEDET_FIELD_FLAGS);
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

/*
 * Caches whose unused objects the kernel frees on request: inodes, dentries,
 * and others with a shrinker. Inodes of sockets and of memory are always in
 * use.
 */
static bool shrinks(const char *cache)
{
	static const char *const others[] = {
		"btrfs_extent_map", "dentry", "dquot", "ext4_extent_status",
		"mb_cache_entry", "mbcache", "radix_tree_node", "xfs_buf",
		"xfs_dquot",
	};
	static const char *const in_use[] = { "hugetlbfs", "shmem", "sock" };
	size_t i;

	for (i = 0; i < PDET_COUNT(in_use); i++)
		if (!strncmp(cache, in_use[i], strlen(in_use[i])))
			return false;
	for (i = 0; i < PDET_COUNT(others); i++)
		if (!strcmp(cache, others[i]))
			return true;
	return strstr(cache, "inode");
}

static bool slab(struct pdet_case *c)
{
	if (!of_kind(c, PAGEDET_KIND_SLAB))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_SLAB_CACHE))
		pdet_unknown(c, "which cache it belongs to" PDET_IN_MEMORY);
	if (shrinks(pdet_case_text(c, c->here.slab_cache)))
		c->advice = "writing 2 to /proc/sys/vm/drop_caches frees its "
			    "objects that nothing uses; /proc/slabinfo counts "
			    "them";
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
	pdet_fact_folio(c);
	if (c->e.mapper_pid)
		pdet_fact_number(c, "mapper_pid", c->e.mapper_pid,
				 PAGEDET_TYPE_NUMBER, HERE, 0);
	if (*comm)
		pdet_fact_word(c, "mapper_comm", c->e.mapper_comm, comm,
			       HERE);
	if (!c->e.mapper_pid && !pdet_row_has(&c->here, PAGEDET_FIELD_PID))
		pdet_unknown(c, "which tasks map it (pagedet mappers PFN)");
}

/* Adds that reclaim does not take it, if a flag says so. */
static bool is_kept(struct pdet_case *c)
{
	return (pdet_row_flag(&c->here, PAGEDET_PF_MLOCKED) == PAGEDET_YES ||
		pdet_row_flag(&c->here, PAGEDET_PF_UNEVICTABLE) ==
		PAGEDET_YES) && pdet_rest_on(c, PAGEDET_FIELD_FLAGS);
}

static bool mapped(struct pdet_case *c)
{
	if (pdet_row_mapped(&c->here) != PAGEDET_YES)
		return false;
	mapper(c);
	if (is_kept(c))
		c->cause = pdet_row_flag(&c->here, PAGEDET_PF_MLOCKED) ==
			   PAGEDET_YES ?
			   "tasks map it, and it is locked in memory (mlock)" :
			   "tasks map it, and reclaim does not take it "
			   "(unevictable)";
	return true;
}

/* The folio is mapped. The kernel frees a folio only as a whole. */
static bool folio_mapped(struct pdet_case *c)
{
	const bool counted = pdet_row_has_maps(&c->here) && c->here.mapcount;

	if (pdet_row_mapped(&c->here) != PAGEDET_DUNNO ||
	    (!counted &&
	     pdet_row_flag(&c->here, PAGEDET_PF_MMAP) != PAGEDET_YES))
		return false;
	c->cause = "tasks map it, or another page of its folio";
	pdet_unknown(c, "the mapcount of this page alone");
	mapper(c);
	return true;
}

static bool swap_cached(struct pdet_case *c)
{
	if (pdet_row_flag(&c->here, PAGEDET_PF_SWAPCACHE) != PAGEDET_YES)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	return pdet_rest_on(c, PAGEDET_FIELD_FLAGS);
}

static bool is_cached(const struct pdet_case *c)
{
	return pdet_row_is(&c->here, PAGEDET_KIND_FILE) ||
	       pdet_row_is(&c->here, PAGEDET_KIND_SHMEM);
}

/* A page in use has at least one reference, that of its cache. */
static bool is_unreferenced(const struct pdet_case *c)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT) &&
	       !c->here.refcount;
}

static void cached_facts(struct pdet_case *c)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_REFCOUNT, PAGEDET_FIELD_PATH,
		PAGEDET_FIELD_DEV, PAGEDET_FIELD_INODE, PAGEDET_FIELD_INDEX,
		PAGEDET_FIELD_MAPCOUNT, PAGEDET_FIELD_FLAGS,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fact_field(c, HERE, fields[i]);
}

static bool cached(struct pdet_case *c)
{
	if (!is_cached(c) || is_unreferenced(c))
		return false;
	if (is_kept(c))
		c->likely = "reclaim does not take it: it is locked in memory "
			    "(mlock), or unevictable";
	else if (pdet_row_is(&c->here, PAGEDET_KIND_SHMEM))
		c->likely = "memory of a memfd, of tmpfs or shared between "
			    "tasks: it stays until the file is removed";
	else
		c->likely = "reclaim takes it when memory is short";
	c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	cached_facts(c);
	return true;
}

/*
 * The kernel's own filesystem of block devices is on no device, and its inode
 * numbers are device numbers.
 */
static bool is_of_device(const struct pdet_case *c)
{
	return pdet_row_is(&c->here, PAGEDET_KIND_FILE) &&
	       pdet_row_has(&c->here, PAGEDET_FIELD_DEV) &&
	       !(c->here.dev >> 32) && c->here.inode >> 20 &&
	       pdet_row_has(&c->here, PAGEDET_FIELD_PATH) &&
	       !strncmp(pdet_case_text(c, c->here.path), "/dev/", 5);
}

static bool cached_of(struct pdet_case *c)
{
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_INODE))
		return false;
	if (is_of_device(c))
		c->cause = "it caches a page of a block device: metadata of "
			   "the filesystem on it, or what was read from the "
			   "device itself; no task maps it";
	return cached(c);
}

static bool cached_somewhere(struct pdet_case *c)
{
	pdet_unknown(c, "which file it belongs to");
	return cached(c);
}

/* It is marked as in use, but nobody has a reference to it. */
static bool unreferenced(struct pdet_case *c)
{
	if (!is_unreferenced(c) ||
	    !(is_cached(c) || pdet_row_is(&c->here, PAGEDET_KIND_ANON)))
		return false;
	pdet_unknown(c, "whether it is being freed at this moment, or its "
		     "struct page is damaged");
	pdet_unknown_report(c);
	cached_facts(c);
	return true;
}

/* No task maps it, and it is not free. */
static bool anon_unmapped(struct pdet_case *c)
{
	if (!pdet_row_is(&c->here, PAGEDET_KIND_ANON) ||
	    pdet_row_mapped(&c->here) != PAGEDET_NO)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT))
		pdet_unknown(c, "its references" PDET_IN_MEMORY);
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

static void kernel_facts(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ORDER);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOCATOR);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KERNEL_MAPS);
	owner_or_not(c);
	pdet_unknown_report(c);
	c->advice = ask_owner(c, c->advice);
}

static bool kernel_memory(struct pdet_case *c)
{
	if (!pdet_row_is(&c->here, PAGEDET_KIND_KERNEL))
		return false;
	kernel_facts(c);
	return true;
}

/* Kernel code has it, but not by references. */
static bool frozen(struct pdet_case *c)
{
	if (!is_unreferenced(c) || !kernel_memory(c))
		return false;
	if (pdet_row_is_large(&c->here)) {
		c->likely = "a large kmalloc(), whose pages have no references";
		c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
		pdet_fact_field(c, HERE, PAGEDET_FIELD_HEAD_PFN);
		pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	}
	pdet_unknown(c, "whether it is frozen, or being freed at this moment");
	return true;
}

/* Nothing but its references is known, and there is none. */
static bool unheld(struct pdet_case *c)
{
	if (!is_unreferenced(c) ||
	    !pdet_row_is(&c->here, PAGEDET_KIND_UNKNOWN) ||
	    pdet_row_mapped(&c->here) != PAGEDET_NO)
		return false;
	kernel_facts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	c->advice = ask_again;
	if (pdet_row_is_large(&c->here))
		return true;
	c->likely = "free, in a per-CPU list, whose pages have no mark";
	c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	return true;
}

/* No type, no cache and no mapping: kernel code allocated it as pages. */
static bool kernel_likely(struct pdet_case *c)
{
	if (!pdet_row_is(&c->here, PAGEDET_KIND_UNKNOWN) ||
	    !pdet_row_has_refs(&c->here) || !c->here.refcount ||
	    pdet_row_mapped(&c->here) != PAGEDET_NO)
		return false;
	kernel_facts(c);
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
		pdet_unknown(c, "its references" PDET_IN_MEMORY);
	if (pdet_row_mapped(&c->here) == PAGEDET_DUNNO)
		pdet_unknown(c, "whether tasks map it");
	owner_or_not(c);
	pdet_unknown_report(c);
	if (pdet_row_is_from_memory(&c->here))
		c->advice = ask_owner(c, "nothing: kernel memory was read, and "
				      "does not tell");
	return true;
}

/* --- leaks --- */

/* It has a user, which will free it. */
static bool used(struct pdet_case *c)
{
	if (pdet_row_mapped(&c->here) != PAGEDET_YES)
		return false;
	mapper(c);
	return true;
}

static bool has_user_kind(const struct pdet_case *c)
{
	static const uint32_t kinds[] = {
		PAGEDET_KIND_FILE, PAGEDET_KIND_SHMEM, PAGEDET_KIND_SLAB,
		PAGEDET_KIND_PGTABLE, PAGEDET_KIND_ZERO, PAGEDET_KIND_RESERVED,
		PAGEDET_KIND_HUGETLB, PAGEDET_KIND_OFFLINE,
		PAGEDET_KIND_ZSMALLOC, PAGEDET_KIND_DEVICE,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(kinds); i++)
		if (pdet_row_is(&c->here, kinds[i]))
			return true;
	return pdet_row_flag(&c->here, PAGEDET_PF_SWAPCACHE) == PAGEDET_YES;
}

static bool used_by_kind(struct pdet_case *c)
{
	if (!has_user_kind(c) || is_unreferenced(c))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	if (pdet_row_is(&c->here, PAGEDET_KIND_SLAB))
		pdet_unknown(c, "whether the objects in it are leaked");
	return true;
}

static bool is_suspect(const struct pdet_case *c)
{
	return !pdet_row_is_nothing(&c->here) && owner_known(c) &&
	       pdet_row_mapped(&c->here) == PAGEDET_NO &&
	       (pdet_row_is(&c->here, PAGEDET_KIND_ANON) ||
		pdet_row_is(&c->here, PAGEDET_KIND_KERNEL) ||
		pdet_row_is(&c->here, PAGEDET_KIND_UNKNOWN));
}

/* --- memory errors --- */

/* How handling has ended, if a log says it (action_name[] of Linux
 * mm/memory-failure.c). */
static uint32_t recovered(const struct pdet_case *c)
{
	static const char *const failed[] = {
		": Failed", ": Ignored", ": Delayed"
	};
	const char *reason = pdet_row_has(&c->here, PAGEDET_FIELD_REASON) ?
			     pdet_case_text(c, c->here.reason) : "";
	size_t i;

	for (i = 0; i < PDET_COUNT(failed); i++)
		if (strstr(reason, failed[i]))
			return PAGEDET_NO;
	return strstr(reason, ": Recovered") ? PAGEDET_YES : PAGEDET_DUNNO;
}

/* Handling leaves one reference. */
static uint32_t unused(const struct pdet_case *c)
{
	const uint32_t mapped = pdet_row_mapped(&c->here);

	if (mapped == PAGEDET_YES)
		return PAGEDET_NO;
	if (!pdet_row_has_refs(&c->here) ||
	    pdet_row_is(&c->here, PAGEDET_KIND_HUGETLB))
		return PAGEDET_DUNNO;
	return c->here.refcount > 1 ? PAGEDET_NO : mapped == PAGEDET_NO ?
	       PAGEDET_YES : PAGEDET_DUNNO;
}

/* The kernel sets the flag before it tries to take the page away. */
static bool poisoned_in_use(struct pdet_case *c)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_REASON, PAGEDET_FIELD_REFCOUNT,
		PAGEDET_FIELD_MAPCOUNT,
	};
	size_t i;

	if ((recovered(c) != PAGEDET_NO && unused(c) != PAGEDET_NO) ||
	    !pdet_rest_on_poison(c))
		return false;
	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fact_field(c, HERE, fields[i]);
	c->likely = recovered(c) == PAGEDET_NO ?
		    "the kernel could not handle the error, and says so" :
		    "the kernel could not take it away from all who use it, "
		    "or is doing so now";
	c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	if (unused(c) == PAGEDET_DUNNO)
		pdet_unknown(c, "whether it is still used");
	return true;
}

static bool set_aside(struct pdet_case *c)
{
	return (recovered(c) == PAGEDET_YES || unused(c) == PAGEDET_YES) &&
	       pdet_rest_on_poison(c);
}

/* Memory in use by the kernel looks the same: this is only a suspicion. */
static bool suspect(struct pdet_case *c)
{
	if (!is_suspect(c))
		return false;
	if (c->e.alloc_task == PAGEDET_NO) {
		c->likely = "the task that allocated it has ended";
		c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	}
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KERNEL_MAPS);
	owner(c);
	pdet_unknown_report(c);
	pdet_unknown(c, "what holds its address: a leak shows only in the code "
			"of its owner, or in a growing number of such pages");
	if (c->e.alloc_task == PAGEDET_DUNNO)
		pdet_unknown(c, "whether the task that allocated it is still "
			     "there");
	return true;
}

/* No task is left that could free it. */
static bool orphan(struct pdet_case *c)
{
	return (pdet_row_is(&c->here, PAGEDET_KIND_ANON) ||
		c->e.alloc_task == PAGEDET_NO) && suspect(c);
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

/* A type of page is in the place of a mapcount that is not exact. */
static bool below_zero(struct pdet_case *c)
{
	const struct pagedet_page *row = &c->here;
	const bool refs = pdet_row_has(row, PAGEDET_FIELD_REFCOUNT) &&
			  !pdet_row_has_refs(row);
	const bool maps = pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT) &&
			  !pdet_row_has_maps(row) &&
			  pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT_KIND) &&
			  row->mapcount_kind == PAGEDET_MAPCOUNT_EXACT;

	if (!refs && !maps)
		return false;
	if (refs)
		pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	if (maps)
		pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_unknown(c, "whether the count was lowered too often, or "
		     "overwritten");
	pdet_unknown_report(c);
	return true;
}

#define USE(id, verdict, name, cause, advice, ...) \
	PDET_RULE(id, NOT_FREE, verdict, name, cause, advice, __VA_ARGS__)
#define LEAK(id, verdict, name, cause, advice, ...) \
	PDET_RULE(id, LEAKED, verdict, name, cause, advice, __VA_ARGS__)

/* The source states the kind, so only errors of the row compete. */
#define ROW pdet_rivals_row

const struct pdet_rule pdet_rules_use[] = {
	USE(120, CAUSE, "damaged-struct-page",
	    "the kernel found its struct page damaged when it was freed or "
	    "handed out, and does not use it again",
	    "find what used the page before",
	    { pdet_rest_on_damage, PDET_HIGH, ROW }),
	USE(124, CAUSE, "count-below-zero",
	    "its struct page is damaged: a count of its users is below zero",
	    "find the code that gives back references or mappings more often "
	    "than it takes them; the page may be in use twice",
	    { below_zero, PDET_HIGH, ROW }),
	USE(101, FINE, "page-free",
	     "the page is free", "nothing",
	     { is_free, PDET_CERTAIN, ROW }),
	USE(102, FINE, "no-page",
	     "there is no page at this frame",
	     "nothing",
	     { no_page, PDET_CERTAIN, ROW }),
	USE(117, FINE, "not-set-up",
	     "RAM that the kernel has not set up yet: nothing was written to "
	     "its struct page; the memory is free and unused",
	     "nothing; the kernel sets it up when it needs the memory",
	     { not_set_up, PDET_HIGH, ROW }),
	USE(123, CAUSE, "poisoned-in-use",
	    "marked as a memory error (hwpoison), but not, or not wholly, "
	    "taken out of use",
	    "end the tasks that map it, or restart the machine: who reads it "
	    "gets damaged bytes, or is killed",
	    { poisoned_in_use, PDET_CERTAIN, ROW }),
	USE(103, CAUSE, "set-aside-as-poisoned",
	     "set aside as a memory error (hwpoison): the kernel does not use "
	     "it any more",
	     "the kernel log says why; unpoison-pfn reverts an error that was "
	     "injected for a test",
	     { set_aside, PDET_CERTAIN, ROW },
	     { pdet_rest_on_poison, PDET_HIGH, ROW }),
	USE(104, CAUSE, "offline",
	     "a driver has taken it out of use, but it still exists",
	     "ask the balloon or the hypervisor to give it back",
	     { offline, PDET_CERTAIN, ROW }),
	USE(105, CAUSE, "reserved",
	     "reserved when the kernel started: the page allocator does not "
	     "have it",
	     "nothing; /proc/iomem and the kernel's command line say what it "
	     "is for",
	     { reserved, PDET_CERTAIN, ROW }),
	USE(106, CAUSE, "zero-page",
	     "the page of zeroes that all tasks share", "nothing",
	     { zero, PDET_CERTAIN, ROW }),
	USE(107, CAUSE, "page-table",
	     "a page table; it is freed with the mappings below it, or with "
	     "its task", "unmap memory that is not needed, or end the task",
	     { pgtable, PDET_CERTAIN, ROW }),
	USE(108, CAUSE, "slab",
	     "objects of the kernel's slab allocator are in it; it is freed "
	     "when all of them are",
	     "see /proc/slabinfo, which counts the objects of each cache",
	     { slab, PDET_CERTAIN, ROW }),
	USE(109, CAUSE, "hugetlb",
	     "a huge page of the hugetlb pool, which keeps it whether it is "
	     "used or not",
	     "shrink the pool: /proc/sys/vm/nr_hugepages",
	     { hugetlb, PDET_CERTAIN, ROW }),
	USE(118, CAUSE, "marked-but-unreferenced",
	     "it has no references, but is marked as in use: it is being "
	     "freed, or its struct page is damaged",
	     "ask again: if this stays, look for a bad page in the kernel log, "
	     "and for code that frees pages twice",
	     { unreferenced, PDET_MEDIUM, ROW }),
	USE(110, CAUSE, "mapped",
	     "tasks map it",
	     "'pagedet mappers PFN' lists them",
	     { mapped, PDET_CERTAIN, ROW },
	     { folio_mapped, PDET_HIGH, ROW }),
	USE(111, CAUSE, "swap-cache",
	     "in the swap cache: on its way to swap, or read back from there",
	     "nothing; reclaim takes it when memory is short",
	     { swap_cached, PDET_HIGH, ROW }),
	USE(112, CAUSE, "page-cache",
	     "it caches a page of a file, and no task maps it",
	     "'pagedet explain PFN --why reclaim' says whether it can be "
	     "reclaimed",
	     { cached_of, PDET_CERTAIN, pdet_rivals_cached },
	     { cached_somewhere, PDET_HIGH, pdet_rivals_cached }),
	USE(113, CAUSE, "anon-unmapped",
	     "anonymous memory that no task maps: it is being freed or moved, "
	     "or there is another reference to it",
	     "ask again: if it stays, find what pins it",
	     { anon_unmapped, PDET_MEDIUM, ROW }),
	USE(114, CAUSE, "zsmalloc",
	     "compressed memory (zram, zswap)",
	     "nothing; it shrinks as tasks use or give back what they swapped",
	     { zsmalloc, PDET_CERTAIN, ROW }),
	USE(115, CAUSE, "device-memory",
	     "memory of a device",
	     "nothing",
	     { device, PDET_CERTAIN, ROW }),
	USE(121, CAUSE, "frozen",
	     "kernel code has it without counting references to it (frozen), "
	     "or it is being freed",
	     "'pagedet stack PFN' says what allocated it, if page_owner is on",
	     { frozen, PDET_MEDIUM, ROW }),
	USE(122, CANNOT_TELL, "unreferenced",
	     "no reference to it is counted: it is free in a per-CPU list, "
	     "being freed, or kernel code has it without counting (frozen)",
	     ask_again,
	     { unheld, PDET_LOW, NULL }),
	USE(116, CAUSE, "kernel-memory",
	     "allocated by kernel code, as whole pages, and not freed since",
	     "'pagedet stack PFN' says what allocated it, if page_owner is on",
	     { kernel_memory, PDET_HIGH, ROW },
	     { kernel_likely, PDET_MEDIUM, ROW }),
	USE(119, CANNOT_TELL, "use-unknown",
	     "cannot tell what it is used for",
	     "ask a source that reads kernel memory (bpf, kcore) or a dump",
	     { use_unknown, PDET_LOW, NULL }),
	LEAK(710, CANNOT_TELL, "leak-damaged",
	     "cannot tell whether it is in use: the kernel found its "
	     "struct page damaged",
	     "find what used the page before",
	     { pdet_rest_on_damage, PDET_LOW, NULL }),
	LEAK(701, FINE, "nothing-leaked",
	     "the page is free",
	     "nothing",
	     { not_in_use, PDET_CERTAIN, ROW }),
	LEAK(702, FINE, "no-page-leaked",
	     "there is no page at this frame", "nothing",
	     { no_page, PDET_CERTAIN, ROW }),
	LEAK(703, FINE, "has-a-user",
	     "it is in use, and its user will free it", "nothing",
	     { used, PDET_CERTAIN, ROW },
	     { used_by_kind, PDET_HIGH, ROW }),
	LEAK(704, CAUSE, "leak-suspected",
	     "allocated, not freed, and without a visible user",
	     "compare 'pagedet owners' now and later: a leak grows",
	     { orphan, PDET_MEDIUM, ROW },
	     { suspect, PDET_LOW, ROW }),
	LEAK(709, CANNOT_TELL, "leak-unknown",
	     "cannot tell whether it is still in use",
	     "start the kernel with page_owner=on",
	     { leak_unknown, PDET_LOW, NULL }),
	{ .info = { 0 } },
};
