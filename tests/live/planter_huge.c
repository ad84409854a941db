/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Plants with several pages: huge pages, large folios, hugetlb. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "planter.h"

#define KPF_THP ((uint64_t)1 << 22)
#define KPF_ZERO_PAGE ((uint64_t)1 << 24)

#define LARGE ((size_t)64 << 10)

/* of 2 MB, whatever size is the default */
#define MAP_POOL (MAP_ANONYMOUS | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT)

/* 2 MB of address space at a multiple of 2 MB. */
static char *huge_region(void)
{
	char *at = plant_region(2 * HUGE / PAGE);
	char *aligned = at + (-(uintptr_t)at & (HUGE - 1));

	munmap(at, (size_t)(aligned - at));
	munmap(aligned + HUGE, (size_t)(at + HUGE - aligned));
	return aligned;
}

static bool is_huge(const struct field *f, const char *at, uint64_t bit)
{
	uint64_t pfn = word_pfn(word_pagemap(f->pid, (uintptr_t)at));

	return pfn != NO_NUMBER && !(pfn % (HUGE / PAGE)) &&
	       word_kpage("flags", pfn) & bit;
}

#define THP_SET ANON_SET ",thp"
#define THP_CLEAR ELSE_CLEAR ",huge,mlocked"

static struct plant *thp(struct field *f, const char *name, const char *addr,
			 bool head)
{
	struct plant *p = plant_anon(f, name, addr);

	p->flags_set = head ? THP_SET ",compound_head" :
			      THP_SET ",compound_tail";
	p->flags_clear = head ? THP_CLEAR ",compound_tail" :
				THP_CLEAR ",compound_head";
	p->order = 9;
	p->level = 2;
	return p;
}

static void make_thp(struct field *f)
{
	char *at = huge_region();
	struct plant *p;

	madvise(at, HUGE, MADV_HUGEPAGE);
	*at = 1;
	if (is_huge(f, at, KPF_THP)) {
		thp(f, "thp_head", at, true);
		thp(f, "thp_tail", at + 5 * PAGE, false);
		thp(f, "thp_last", at + HUGE - PAGE, false);
	} else {
		plant_skip("thp_head", "no huge page came");
		plant_skip("thp_tail", "no huge page came");
	}

	at = huge_region();
	madvise(at, HUGE, MADV_HUGEPAGE);
	*at = 1;
	if (is_huge(f, at, KPF_THP) &&
	    madvise(at + HUGE / 2, PAGE, MADV_DONTNEED) == 0) {
		/* Mapped page by page; the kernel must not fill the gap. */
		madvise(at, HUGE, MADV_NOHUGEPAGE);
		p = thp(f, "thp_by_pages", at + 3 * PAGE, false);
		p->level = 1;
		p->refcount = NO_NUMBER;
		plant_nothing(f, "thp_given_back", at + HUGE / 2, "untouched");
	} else {
		plant_skip("thp_by_pages", "no huge page came");
	}

	at = huge_region();
	madvise(at, HUGE, MADV_HUGEPAGE);
	*(volatile char *)at;
	if (is_huge(f, at, KPF_ZERO_PAGE)) {
		p = plant_new(f, "thp_zero", at + 7 * PAGE);
		p->kind = "zero";
		p->flags_set = "zero_page,thp";
		p->flags_clear = "anon,mmap,lru,slab,buddy,swapbacked";
		p->pte_set = "present";
		p->pte_clear = NOT_PRESENT_ELSE ",exclusive";
		p->order = 9;
		p->level = 2;
		p->no_file = true;
	} else {
		plant_skip("thp_zero", "no huge zero page came");
	}
}

static void make_hugetlb(struct field *f)
{
	char *own = MAP_FAILED, *shared = MAP_FAILED;
	struct plant *p;

	if (keep_hugetlb(2)) {
		own = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_POOL, -1, 0);
		shared = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_POOL, -1, 0);
	}
	if (own == MAP_FAILED || shared == MAP_FAILED) {
		plant_skip("hugetlb_head", "cannot get two huge pages: %s",
			   strerror(errno));
		return;
	}
	*own = 1;
	*shared = 1;
	p = thp(f, "hugetlb_head", own, true);
	p->kind = "hugetlb";
	p->flags_set = "huge,compound_head,anon,mmap";
	p->flags_clear = ELSE_CLEAR ",compound_tail";
	p->charged = false;	/* hugetlb has its own accounts */
	p->no_file = false;
	p = thp(f, "hugetlb_tail", own + 9 * PAGE, false);
	p->kind = "hugetlb";
	p->flags_set = "huge,compound_tail,anon,mmap";
	p->flags_clear = ELSE_CLEAR ",compound_head";
	p->charged = false;
	p->no_file = false;
	p = thp(f, "hugetlb_shared", shared + 2 * PAGE, false);
	p->kind = "hugetlb";
	p->flags_set = "huge,compound_tail,mmap";
	p->flags_clear = ELSE_CLEAR ",compound_head,anon";
	p->flags_unknown = NULL;
	/* Its file holds it once, or once per page. */
	p->refcount = NO_NUMBER;
	p->pte_set = "present,file,exclusive";
	p->pte_clear = NOT_PRESENT_ELSE ",zero";
	p->charged = false;
	p->no_file = false;
}

/* Larger than a page, smaller than the area of a PMD. */
static void make_large(struct field *f)
{
	char *at = plant_region(2 * LARGE / PAGE);
	uint64_t head, order;
	struct plant *p;

	at += -(uintptr_t)at & (LARGE - 1);
	madvise(at, LARGE, MADV_HUGEPAGE);
	*at = 1;
	word_folio(word_pfn(word_pagemap(f->pid, (uintptr_t)at)), &head,
		   &order);
	if (order != 4) {
		plant_skip("large_head", "no large folio came");
		plant_skip("large_tail", "no large folio came");
		return;
	}
	p = thp(f, "large_head", at, true);
	p->order = 4;
	p->level = 1;
	p->refcount = LARGE / PAGE;
	p = thp(f, "large_tail", at + 11 * PAGE, false);
	p->order = 4;
	p->level = 1;
	p->refcount = LARGE / PAGE;
}

/* A huge page of shared memory, which belongs to a file. */
static void make_shared_thp(struct field *f)
{
	char *at = huge_region();
	struct plant *p;

	if (mmap(at, HUGE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at) {
		plant_skip("shared_thp", "mmap: %s", strerror(errno));
		return;
	}
	madvise(at, HUGE, MADV_HUGEPAGE);
	*at = 1;
	if (!is_huge(f, at, KPF_THP)) {
		plant_skip("shared_thp", "no huge page came");
		return;
	}
	p = thp(f, "shared_thp", at + 6 * PAGE, false);
	p->kind = "shmem";
	p->flags_set = "uptodate,swapbacked,mmap,thp,compound_tail";
	p->flags_clear = "slab,buddy,pgtable,nopage,offline,reserved,"
			 "zero_page,anon,huge,compound_head";
	p->pte_set = "present,file,exclusive";
	p->pte_clear = NOT_PRESENT_ELSE ",zero";
	p->flags_unknown = NULL;
	p->refcount = HUGE / PAGE + 1;	/* each page of its file, and this
				 * process */
	p->no_file = false;
}

void make_huge(struct field *f)
{
	keep_large();
	make_thp(f);
	make_large(f);
	make_shared_thp(f);
	make_hugetlb(f);
}
