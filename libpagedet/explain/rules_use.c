/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rules that explain what uses a page, so that it is not free, and rules for
 * leaks.
 */
#include <stdio.h>
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

#define ASK_AGAIN "ask again: a page that is being freed does not stay so"

static bool is_free(struct pdet_case *c)
{
	return !pdet_row_was_free(&c->here) && of_kind(c, PAGEDET_KIND_FREE);
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
	c->likely = "taken by the kernel's image, by firmware, or when the "
		    "kernel started";
	c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	pdet_unknown(c, "what took it: some drivers reserve pages, too");
	if (of_kind(c, PAGEDET_KIND_RESERVED))
		return true;
	return pdet_row_flag(&c->here, PAGEDET_PF_RESERVED) == PAGEDET_YES &&
	       pdet_rest_on(c, PAGEDET_FIELD_FLAGS);
}

/* Whatever else its flags say: it is reserved, too. */
static bool zero(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (pdet_row_is_large(&c->here) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_THP) == PAGEDET_YES)
		c->cause = "the huge zero page: tasks share it where they have "
			   "read memory that they never wrote";
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

/* A page in use has at least one reference, that of its cache. */
static bool is_unreferenced(const struct pdet_case *c)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT) &&
	       !c->here.refcount;
}

/* Free ones of the pool have no references (mm/hugetlb.c). */
static bool hugetlb(struct pdet_case *c)
{
	if (!of_kind(c, PAGEDET_KIND_HUGETLB))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	/* It is mapped as a whole. */
	if (pdet_row_mapped(&c->here) == PAGEDET_YES ||
	    pdet_row_flag(&c->here, PAGEDET_PF_MMAP) == PAGEDET_YES) {
		c->cause = "a huge page of the hugetlb pool, which tasks map";
		c->advice = "'pagedet mappers PFN' lists them";
	} else if (is_unreferenced(c)) {
		c->cause = "a free huge page, which the hugetlb pool keeps";
		c->advice = "shrink the pool: /proc/sys/vm/nr_hugepages";
	} else if (pdet_row_has_refs(&c->here)) {
		c->cause = "a huge page of the hugetlb pool, in use: it has "
			   "references";
		c->likely = "a file of hugetlbfs or a memfd has it";
		c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
		c->advice = "nothing; the pool gets it back when its file is "
			    "removed";
	} else {
		pdet_unknown(c, "whether it is in use" PDET_IN_MEMORY);
	}
	return true;
}

static bool is_cached(const struct pdet_case *c)
{
	return pdet_row_is(&c->here, PAGEDET_KIND_FILE) ||
	       pdet_row_is(&c->here, PAGEDET_KIND_SHMEM);
}

/* Which page of which file it caches. */
static void file_facts(struct pdet_case *c)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_PATH, PAGEDET_FIELD_DEV, PAGEDET_FIELD_INODE,
		PAGEDET_FIELD_INDEX,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(fields) && is_cached(c); i++)
		pdet_fact_field(c, HERE, fields[i]);
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
	file_facts(c);
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

/* Shared memory has no file on a disk. */
static void add_shmem(struct pdet_case *c)
{
	char text[512];

	if (!pdet_row_is(&c->here, PAGEDET_KIND_SHMEM) || c->arena->none)
		return;
	snprintf(text, sizeof(text), "%s; it is of tmpfs, a memfd, memory "
		 "that tasks share or a driver: no disk has it, so it stays in "
		 "memory or swap until the file is removed and nothing uses it",
		 c->cause);
	c->cause = pdet_keep(c, text, strlen(text));
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
	add_shmem(c);
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
	add_shmem(c);
	pdet_unknown(c, "the mapcount of this page alone");
	mapper(c);
	return true;
}

static bool swap_cached(struct pdet_case *c)
{
	if (pdet_row_flag(&c->here, PAGEDET_PF_SWAPCACHE) != PAGEDET_YES)
		return false;
	c->advice_unless = PDET_UNLESS_KEPT;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	return pdet_rest_on(c, PAGEDET_FIELD_FLAGS);
}

static void cached_facts(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	file_facts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
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

/* Whether reclaim takes it depends on who has it. */
static void left_to_reclaim(struct pdet_case *c)
{
	uint64_t expected, extra = 0;
	const bool counted = pdet_case_extra(c, &expected, &extra);

	if (extra)
		return;
	c->likely = is_of_device(c) ?
		    "reclaim takes it when memory is short, unless a "
		    "filesystem on the device holds its buffers" :
		    "reclaim takes it when memory is short";
	c->likely_unless = PDET_UNLESS_KEPT;
	if (!counted || is_of_device(c))
		c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
}

static bool cached(struct pdet_case *c)
{
	if (!is_cached(c) || is_unreferenced(c))
		return false;
	if (is_kept(c))
		c->likely = "reclaim does not take it: it is locked in memory "
			    "(mlock), or unevictable";
	else if (pdet_row_is(&c->here, PAGEDET_KIND_FILE))
		left_to_reclaim(c);
	if (*c->likely && !c->likely_confidence)
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	add_shmem(c);
	cached_facts(c);
	return true;
}

/* Other rules have taken what is known to be mapped. */
static void name_cache(struct pdet_case *c)
{
	const bool device = is_of_device(c);

	if (pdet_row_mapped(&c->here) != PAGEDET_NO &&
	    pdet_row_flag(&c->here, PAGEDET_PF_MMAP) != PAGEDET_NO) {
		pdet_unknown(c, "whether tasks map it");
		c->cause = device ? "it caches a page of a block device" :
				    "it caches a page of a file";
	} else if (device) {
		c->cause = "it caches a page of a block device: metadata of "
			   "the filesystem on it, or what was read from the "
			   "device itself; no task maps it";
	}
}

static bool cached_of(struct pdet_case *c)
{
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_INODE))
		return false;
	name_cache(c);
	return cached(c);
}

static bool cached_somewhere(struct pdet_case *c)
{
	name_cache(c);
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

/* The kernel frees a folio only as a whole. */
static bool rest_of_folio(struct pdet_case *c)
{
	if (!pdet_row_is(&c->here, PAGEDET_KIND_ANON) ||
	    pdet_row_mapped(&c->here) != PAGEDET_NO ||
	    c->e.folio_counted != PAGEDET_YES || !c->e.folio_mapcount)
		return false;
	c->cause = "anonymous memory that no task maps, but tasks map other "
		   "pages of its folio, which is freed as a whole";
	c->advice = "nothing; the kernel splits the folio when memory is short";
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_folio(c);
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
	c->advice = ASK_AGAIN;
	if (pdet_row_is_large(&c->here))
		return true;
	c->likely = "free, in a per-CPU list, whose pages have no mark";
	c->likely_unless = PDET_UNLESS_USED;
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

/* What page_owner says, where nothing else is known. */
static void say_owner(struct pdet_case *c)
{
	const char *comm = pdet_row_has(&c->here, PAGEDET_FIELD_ALLOC_COMM) ?
			   pdet_case_text(c, c->here.alloc_comm) : "";
	char text[PAGEDET_EVIDENCE_TEXT + 128];

	if (pdet_row_owned(&c->here) != PAGEDET_YES ||
	    !pdet_row_has(&c->here, PAGEDET_FIELD_ALLOC_PID))
		return;
	snprintf(text, sizeof(text), "allocated by %s%stask %u; what it is "
		 "used for is not known", comm, *comm ? ", " : "",
		 c->here.alloc_pid);
	c->cause = pdet_keep(c, text, strlen(text));
	c->advice = "'pagedet stack PFN' says which code allocated it";
}

static bool use_unknown(struct pdet_case *c)
{
	say_owner(c);
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

/*
 * Some of these kinds are never freed. Of slabs and of free huge pages no
 * references are counted.
 */
static bool used_by_kind(struct pdet_case *c)
{
	if (!has_user_kind(c) ||
	    (is_unreferenced(c) && pdet_row_is_user(&c->here)))
		return false;
	c->cause = pdet_row_is(&c->here, PAGEDET_KIND_ANON) ?
		   "the swap cache has it: so it is not lost" :
		   "its kind says what keeps it: so it is not lost";
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

#define USE(id, verdict, name, cause, advice, ...) \
	PDET_RULE(id, NOT_FREE, verdict, name, cause, advice, __VA_ARGS__)
#define LEAK(id, verdict, name, cause, advice, ...) \
	PDET_RULE(id, LEAKED, verdict, name, cause, advice, __VA_ARGS__)

/* The source states the kind, so only errors of the row compete. */
#define ROW pdet_rivals_row
#define POISONED_ASIDE \
	{ pdet_poisoned_aside, PDET_CERTAIN, ROW }, \
	{ pdet_poisoned_aside_likely, PDET_HIGH, ROW }, \
	{ pdet_poisoned_again, PDET_MEDIUM, ROW }

const struct pdet_rule pdet_rules_use[] = {
	USE(120, CAUSE, "bad-page",
	    "the kernel found it in a state that a page must not have when it "
	    "is freed or handed out, and does not use it again",
	    PDET_BAD_PAGE_ADVICE,
	    { pdet_rest_on_bad_page, PDET_HIGH, ROW }),
	USE(124, CAUSE, "count-below-zero",
	    "a count of its users is below zero, which no page in order has",
	    PDET_LOW_COUNT_ADVICE,
	    { pdet_rest_on_low_count, PDET_HIGH, ROW }),
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
	    { pdet_poisoned_in_use, PDET_CERTAIN, ROW },
	    { pdet_poisoned_mapped, PDET_HIGH, ROW },
	    { pdet_poisoned_killed, PDET_MEDIUM, ROW }),
	USE(103, CAUSE, "set-aside-as-poisoned",
	     "set aside as a memory error (hwpoison): the kernel does not use "
	     "it any more",
	     "the kernel log says why",
	     POISONED_ASIDE),
	USE(104, CAUSE, "offline",
	     "a driver has taken it out of use, but it still exists",
	     "ask the balloon or the hypervisor to give it back",
	     { offline, PDET_CERTAIN, ROW }),
	USE(106, CAUSE, "zero-page",
	     "the zero page: tasks share it where they have read memory that "
	     "they never wrote", "nothing",
	     { zero, PDET_CERTAIN, ROW }),
	USE(105, CAUSE, "reserved",
	     "reserved: it is kept from the page allocator",
	     "nothing; the machine's /proc/iomem and command line say what it "
	     "may be for",
	     { reserved, PDET_CERTAIN, ROW }),
	USE(107, CAUSE, "page-table",
	     "a page table of a task or of the kernel; that of a task is freed "
	     "with the mappings below it, or with the task",
	     "unmap memory that is not needed, or end its task, if it is of "
	     "one",
	     { pgtable, PDET_CERTAIN, ROW }),
	USE(108, CAUSE, "slab",
	     "it is for objects of the kernel's slab allocator, which frees it "
	     "or keeps it for new ones when none is left in it",
	     "see /proc/slabinfo, which counts the objects of each cache",
	     { slab, PDET_CERTAIN, ROW }),
	USE(109, CAUSE, "hugetlb",
	     "a huge page of the hugetlb pool, which keeps it whether it is "
	     "used or not",
	     "nothing; shrinking the pool (/proc/sys/vm/nr_hugepages) gives "
	     "back free huge pages only",
	     { hugetlb, PDET_CERTAIN, ROW }),
	USE(118, CAUSE, "marked-but-unreferenced",
	     "it has no references, but is marked as in use: it is being "
	     "freed, or its struct page is damaged",
	     "look for a bad page in the kernel log, and for code that frees "
	     "pages twice; " ASK_AGAIN,
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
	     "find what pins it; " ASK_AGAIN,
	     { rest_of_folio, PDET_HIGH, ROW },
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
	     ASK_AGAIN,
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
	PDET_BAD_PAGE(710, LEAKED, "leak-bad-page",
		      "whether it is in use"),
	PDET_LOW_COUNT(720, LEAKED, "leak-low-count",
		       "whether it is lost"),
	LEAK(701, FINE, "nothing-leaked",
	     "the page is free",
	     "nothing",
	     { not_in_use, PDET_CERTAIN, ROW }),
	LEAK(711, FINE, "kept-as-poisoned",
	     "marked as a memory error (hwpoison): the kernel keeps it, so "
	     "that nothing uses it",
	     "nothing",
	     POISONED_ASIDE),
	LEAK(702, FINE, "no-page-leaked",
	     "there is no page at this frame", "nothing",
	     { no_page, PDET_CERTAIN, ROW }),
	LEAK(703, FINE, "has-a-user",
	     "tasks map it: so it is not lost", "nothing",
	     { used, PDET_CERTAIN, ROW },
	     { used_by_kind, PDET_HIGH, ROW }),
	LEAK(704, CAUSE, "leak-suspected",
	     "allocated, not freed, and without a visible user",
	     "compare 'pagedet owners' of two times: a leak grows",
	     { orphan, PDET_MEDIUM, ROW },
	     { suspect, PDET_LOW, ROW }),
	LEAK(709, CANNOT_TELL, "leak-unknown",
	     "cannot tell whether it is still in use",
	     "start the kernel with page_owner=on",
	     { leak_unknown, PDET_LOW, NULL }),
	{ .info = { 0 } },
};
