/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Determines the behaviour of this kernel from pages of our own, and from the
 * names of its page flags. It never uses the version, because distributions
 * backport fixes and bugs.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/procfs/procfs.h"
#include "base/io.h"
#include "base/text/text.h"
#include "kernel/object/uapi.h"

/* The pagemap word of a page on our own stack, which is certainly present; 0 if
 * pagemap shows nothing. */
static uint64_t own_entry(const struct procfs *p, int pagemap)
{
	uint64_t word = 0;

	if (pdet_pread(pagemap, &word, sizeof(word),
		       ((uintptr_t)&word >> p->page_shift) * 8) !=
	    sizeof(word))
		return 0;
	return word;
}

static bool is_hidden(uint64_t entry)
{
	return entry & PDET_PM_PRESENT && !(entry & PDET_PM_PFN_MASK);
}

/* Uses two anonymous pages of our own: one written, and one only read, which
 * maps the zero page. They show whether soft-dirty works, and the pfn of the
 * zero page. */
static void look_at_anon(struct procfs *p, int pagemap)
{
	size_t size = (size_t)1 << p->page_shift;
	uint64_t word[2] = { 0, 0 };
	volatile char *page;

	page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	page[0] = 1;
	(void)page[size];
	if (pdet_pread(pagemap, word, sizeof(word),
		       ((uintptr_t)page >> p->page_shift) * 8) ==
	    sizeof(word)) {
		p->pfn_hidden = is_hidden(word[0]);
		p->pagemap.soft_dirty = word[0] & PDET_PM_SOFT_DIRTY;
		if (word[1] & PDET_PM_PRESENT &&
		    !(word[1] & (PDET_PM_FILE | PDET_PM_EXCLUSIVE)))
			p->pagemap.zero_pfn = word[1] & PDET_PM_PFN_MASK;
	}
	munmap((void *)page, 2 * size);
}

/* Test each category alone on an empty range: a kernel refuses a call with any
 * category that it does not know. */
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

/* True for fields from the page tables of tasks. */
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

	if (flags && !p->looked_flags) {
		pdet_kpf_from_btf(&p->kpf, env);
		p->kpf.ksm_lies = true;	/* until procfs_look_ksm() is called */
		p->looked_flags = true;
	}
	if (flags && (wants->perturb || !p->live))
		procfs_idle_open(p, env);
	if (of_tasks(wants) && !p->looked_tasks) {
		if (p->live)
			pagemap = open("/proc/self/pagemap",
				       O_RDONLY | O_CLOEXEC);
		if (pagemap >= 0) {
			look_at_anon(p, pagemap);
			look_at_scan(p, pagemap);
			look_at_maps(p);
		}
		/* The bit exists since 5.14, the ioctl since 6.7. On kernels in
		 * between a clear bit proves nothing. */
		p->pagemap.uffd_wp = p->scan_categories != 0;
		/* The bit and this category were added together. */
		p->pagemap.guard = p->scan_categories & PDET_PM_SCAN_GUARD;
		p->looked_tasks = true;
	}
	if (pagemap >= 0)
		close(pagemap);
	return 0;
}

/* Check whether pagemap shows the pfn of a page of our own. */
static void look_at_numbers(struct procfs *p)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	p->no_pagemap = fd < 0 && errno == ENOENT;
	if (fd < 0)
		return;
	p->pfn_hidden = is_hidden(own_entry(p, fd));
	close(fd);
}

int procfs_look_numbers(struct procfs *p)
{
	size_t i;

	/* A captured tree shows the frames as they were captured. */
	if (!p->live)
		return 0;
	/*
	 * The process that opened a passed-in descriptor may have more
	 * privilege.
	 */
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

/* A page that was just written is not merged. */
static bool look_at_ksm(struct procfs *p, struct pdet_env *env, int pagemap)
{
	const uint64_t pfn = own_entry(p, pagemap) & PDET_PM_PFN_MASK;
	uint64_t flags;

	/* The stack may not be anonymous memory. */
	return !pfn ||
	       procfs_kpage_one(p, env, KPAGE_FLAGS, pfn, &flags) != 1 ||
	       !(flags & KPF(ANON)) || flags & KPF(KSM);
}

bool procfs_look_ksm(struct procfs *p, struct pdet_env *env)
{
	bool lies;
	int pagemap;

	pthread_mutex_lock(&p->look_lock);
	if (!p->ksm_looked) {
		p->ksm_looked = true;
		/* A captured tree has no page of our own. */
		pagemap = p->live ? open("/proc/self/pagemap",
					 O_RDONLY | O_CLOEXEC) : -1;
		p->ksm_lies = pagemap < 0 || look_at_ksm(p, env, pagemap);
		if (pagemap >= 0)
			close(pagemap);
	}
	lies = p->ksm_lies;
	pthread_mutex_unlock(&p->look_lock);
	return lies;
}

/*
 * Since 6.15 a kernel may keep only an average for large folios
 * (CONFIG_NO_PAGE_MAPCOUNT). Test it with a huge page of our own: after one of
 * its pages is freed, an average still counts it as mapped.
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

	pthread_mutex_lock(&p->look_lock);
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
	pthread_mutex_unlock(&p->look_lock);
	return kind;
}
