/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What this kernel does, found by looking at pages of our own and at the names
 * of its page flags - never by its version: distributions carry mends and
 * faults from one version to the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/procfs.h"
#include "base/io.h"
#include "base/text.h"
#include "kernel/uapi.h"

/*
 * An anonymous page of our own, touched and not merged: its pagemap word
 * shows whether numbers are hidden and soft-dirty exists; its flags whether
 * KSM means what it says (on 6.12 every anonymous page has it: fs/proc/page.c
 * tests one bit of PAGE_MAPPING_KSM).
 */
static void look_at_anon(struct procfs *p, struct pdet_env *env, int pagemap)
{
	size_t size = (size_t)1 << p->page_shift;
	uint64_t word[2] = { 0, 0 }, flags;
	volatile char *page;

	page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	page[0] = 1;
	/* Only read: maps the zero page. */
	(void)page[size];
	if (pdet_pread(pagemap, word, sizeof(word),
		       ((uintptr_t)page >> p->page_shift) * 8) ==
	    sizeof(word)) {
		p->pfn_hidden = word[0] & PDET_PM_PRESENT &&
				!(word[0] & PDET_PM_PFN_MASK);
		p->pagemap.soft_dirty = word[0] & PDET_PM_SOFT_DIRTY;
		if (word[1] & PDET_PM_PRESENT &&
		    !(word[1] & (PDET_PM_FILE | PDET_PM_EXCLUSIVE)))
			p->pagemap.zero_pfn = word[1] & PDET_PM_PFN_MASK;
		if (!p->pfn_hidden &&
		    procfs_kpage_one(p, env, KPAGE_FLAGS,
				     word[0] & PDET_PM_PFN_MASK,
				     &flags) == 1)
			p->kpf.ksm_lies = flags & KPF(ANON) &&
					  flags & KPF(KSM);
	}
	munmap((void *)page, 2 * size);
}

/* Each category is asked for alone, on an empty range: a kernel that does not
 * know one refuses all that are asked with it. */
static void look_at_scan(struct procfs *p, int pagemap)
{
	struct pdet_pm_scan arg;
	unsigned bit;

	p->scan_categories = 0;
	for (bit = 0; bit < PDET_PM_SCAN_BITS; bit++) {
		memset(&arg, 0, sizeof(arg));
		arg.size = sizeof(arg);
		arg.category_mask = (uint64_t)1 << bit;
		arg.return_mask = (uint64_t)1 << bit;
		if (ioctl(pagemap, PDET_PM_SCAN, &arg) >= 0)
			p->scan_categories |= (uint64_t)1 << bit;
		else if (errno != EINVAL)
			return;
	}
}

static void look_at_maps(struct procfs *p)
{
	struct pdet_vma_query query;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	memset(&query, 0, sizeof(query));
	query.size = sizeof(query);
	query.query_flags = PDET_VMA_COVERING_OR_NEXT;
	p->procmap_query = ioctl(fd, PDET_VMA_QUERY, &query) == 0 ||
			   errno == ENOENT;
	close(fd);
}

/* Fields that come from the page tables of tasks. */
static bool of_tasks(const struct pdet_wants *wants)
{
	switch (wants->target) {
	case PAGEDET_TARGET_VIRT:
	case PAGEDET_TARGET_TASK:
	case PAGEDET_TARGET_MAPPERS:
		return true;
	default:
		return pdet_fields_has(&wants->fields,
				       PAGEDET_FIELD_USER_MAPS);
	}
}

int procfs_look(struct procfs *p, struct pdet_env *env,
		const struct pdet_wants *wants)
{
	bool flags = pdet_fields_has(&wants->fields, PAGEDET_FIELD_FLAGS) ||
		     pdet_fields_has(&wants->fields,
				     PAGEDET_FIELD_FLAGS_KNOWN);
	int pagemap = -1;

	if (p->live && ((flags && !p->looked_flags) ||
			(of_tasks(wants) && !p->looked_tasks)))
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (flags && !p->looked_flags) {
		pdet_kpf_look(&p->kpf, env);
		/* Until a page of our own has shown otherwise; in a captured
		 * tree there is none. */
		p->kpf.ksm_lies = true;
		if (pagemap >= 0)
			look_at_anon(p, env, pagemap);
		p->looked_flags = true;
	}
	if (flags && (wants->perturb || !p->live))
		procfs_idle_open(p, env);
	if (of_tasks(wants) && !p->looked_tasks) {
		if (pagemap >= 0) {
			if (!p->pagemap.zero_pfn)
				look_at_anon(p, env, pagemap);
			look_at_scan(p, pagemap);
			look_at_maps(p);
		}
		/* The bit came in 5.14, the ioctl in 6.7; between the two a
		 * clear bit does not prove anything. */
		p->pagemap.uffd_wp = p->scan_categories != 0;
		/* The bit and this category came together. */
		p->pagemap.guard = p->scan_categories & PDET_PM_SCAN_GUARD;
		p->looked_tasks = true;
	}
	if (pagemap >= 0)
		close(pagemap);
	return 0;
}

/* Whether a page that is surely there, of our own stack, has a number. */
static void look_at_numbers(struct procfs *p)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t word = 0;

	p->no_pagemap = fd < 0 && errno == ENOENT;
	if (fd < 0)
		return;
	if (pdet_pread(fd, &word, sizeof(word),
		       ((uintptr_t)&word >> p->page_shift) * 8) ==
	    sizeof(word))
		p->pfn_hidden = word & PDET_PM_PRESENT &&
				!(word & PDET_PM_PFN_MASK);
	close(fd);
}

int procfs_look_numbers(struct procfs *p)
{
	size_t i;

	/* What was captured is in the words. */
	if (!p->live)
		return 0;
	/* Whose descriptors were handed in may see more than we do. */
	for (i = 0; i < p->handed.n; i++)
		if (p->handed.data[i].kind == PAGEDET_FD_PAGEMAP)
			return 0;
	if (!p->looked_numbers) {
		look_at_numbers(p);
		p->looked_numbers = true;
	}
	if (p->no_pagemap)
		return -ENOENT;
	return p->pfn_hidden ? -EACCES : 0;
}

/*
 * Since 6.15 a kernel may keep only an average for large folios
 * (CONFIG_NO_PAGE_MAPCOUNT). Made visible on a huge page of our own: one of
 * its pages is given back, and an average still counts it as mapped.
 */
static unsigned look_at_mapcount(struct procfs *p, struct pdet_env *env,
				 int pagemap)
{
	const size_t huge = (size_t)2 << 20, page = (size_t)1 << p->page_shift;
	uint64_t word = 0, flags = 0, count;
	unsigned kind = 0;
	char *area, *at;

	area = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return 0;
	at = area + (-(uintptr_t)area & (huge - 1));
	if (madvise(at, huge, MADV_HUGEPAGE) == 0) {
		*(volatile char *)at = 1;
		if (pdet_pread(pagemap, &word, 8,
			       (((uintptr_t)at + page) >> p->page_shift) * 8) ==
			    8 &&
		    word & PDET_PM_PRESENT && word & PDET_PM_PFN_MASK &&
		    procfs_kpage_one(p, env, KPAGE_FLAGS,
				     word & PDET_PM_PFN_MASK, &flags) == 1 &&
		    flags & KPF(COMPOUND_TAIL) &&
		    madvise(at + page, page, MADV_DONTNEED) == 0 &&
		    procfs_kpage_one(p, env, KPAGE_COUNT,
				     word & PDET_PM_PFN_MASK, &count) == 1)
			kind = count ? PAGEDET_MAPCOUNT_AVERAGE :
				       PAGEDET_MAPCOUNT_EXACT;
	}
	munmap(area, 2 * huge);
	return kind;
}

unsigned procfs_look_mapcount(struct procfs *p, struct pdet_env *env)
{
	unsigned kind;
	int pagemap;

	pthread_mutex_lock(&p->mapcount_lock);
	if (!p->mapcount_looked) {
		p->mapcount_looked = true;
		pagemap = p->live ? open("/proc/self/pagemap",
					 O_RDONLY | O_CLOEXEC) : -1;
		if (pagemap >= 0) {
			p->mapcount_kind = look_at_mapcount(p, env, pagemap);
			close(pagemap);
		}
	}
	kind = p->mapcount_kind;
	pthread_mutex_unlock(&p->mapcount_lock);
	return kind;
}
