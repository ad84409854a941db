/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Plants that need no file: anonymous memory in every state. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "planter.h"

/* Newer than the headers of the systems that we build on. */
#define MADV_COLD_ 20
#define MADV_PAGEOUT_ 21
#define MADV_GUARD_INSTALL_ 102
#define SYS_memfd_secret_ 447
#define UFFD_FEATURE_WP_ASYNC_ ((uint64_t)1 << 15)

#define PM_FILE ((uint64_t)1 << 61)
#define PM_SWAP ((uint64_t)1 << 62)
#define PM_SOFT_DIRTY ((uint64_t)1 << 55)
#define PM_UFFD_WP ((uint64_t)1 << 57)
#define KPF_KSM ((uint64_t)1 << 21)
#define KPF_THP ((uint64_t)1 << 22)
#define KPF_ZERO_PAGE ((uint64_t)1 << 24)

#define UNMAPPED ((uintptr_t)16 * PAGE)

#define ELSE_CLEAR "slab,buddy,pgtable,nopage,offline,reserved,zero_page"
#define ANON_SET "anon,uptodate,swapbacked,mmap"
#define ANON_CLEAR ELSE_CLEAR ",compound_head,compound_tail,huge,thp,mlocked"
#define NO_PTE "present,swapped,guard,migration,hwpoison,device"
#define NOT_PRESENT_ELSE "swapped,guard,migration,hwpoison,device"

/* A mapping with a hole on both sides, so that the kernel joins it to no
 * other and its borders are known. */
static char *region(size_t pages, int prot)
{
	char *at = mmap(NULL, (pages + 2) * PAGE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		fprintf(stderr, "planter: no memory: %m\n");
		exit(1);
	}
	munmap(at, PAGE);
	munmap(at + (pages + 1) * PAGE, PAGE);
	at += PAGE;
	mprotect(at, pages * PAGE, prot);
	madvise(at, pages * PAGE, MADV_NOHUGEPAGE);
	return at;
}

static char *region_rw(size_t pages)
{
	return region(pages, PROT_READ | PROT_WRITE);
}

/* Bytes that no other page has. */
static void fill(char *page, uint64_t seed)
{
	uint64_t *words = (uint64_t *)page;
	unsigned i;

	for (i = 0; i < PAGE / 8; i++)
		words[i] = (seed + i) * 0x9e3779b97f4a7c15u ^
			   (uint64_t)getpid() << 32;
}

static void mapped_by(struct plant *p, pid_t pid, const void *addr)
{
	p->mapper[p->n_mappers].pid = pid;
	p->mapper[p->n_mappers++].addr = (uintptr_t)addr & ~(PAGE - 1);
	p->mapcount = p->n_mappers;
}

/* A page of ours that nobody else has. */
static struct plant *anon(struct field *f, const char *name, const void *addr)
{
	struct plant *p = plant_new(f, name, addr);

	p->kind = "anon";
	p->flags_set = ANON_SET;
	p->flags_clear = f->ksm_lies ? ANON_CLEAR : ANON_CLEAR ",ksm";
	p->flags_unknown = f->ksm_lies ? "ksm" : NULL;
	p->pte_set = "present,exclusive";
	p->pte_clear = NOT_PRESENT_ELSE ",file,zero";
	p->pte_unknown = f->soft_dirty ? NULL : "soft_dirty";
	p->order = 0;
	p->level = 1;
	p->charged = p->no_file = true;
	mapped_by(p, f->pid, addr);
	return p;
}

/* An address where there is no page. */
static struct plant *nothing(struct field *f, const char *name,
			     const void *addr, const char *kind)
{
	struct plant *p = plant_new(f, name, addr);

	p->kind = kind;
	p->pte_clear = NO_PTE ",zero";
	return p;
}

/* --- before all others --- */

void make_shared_by_fork(struct field *f)
{
	char *at = region_rw(1);
	struct plant *p;
	volatile char c;
	int fd[2];

	fill(at, 1);
	if (pipe(fd) < 0)
		return;
	fflush(stdout);
	f->child = fork();
	if (f->child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "plant-child");
		c = *(volatile char *)at;
		(void)c;
		if (write(fd[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (f->child < 0 || read(fd[0], (char *)&c, 1) != 1)
		plant_skip("fork_shared", "cannot fork: %s", strerror(errno));
	close(fd[0]);
	close(fd[1]);
	if (f->child <= 0)
		return;
	p = anon(f, "fork_shared", at);
	mapped_by(p, f->child, at);
	p->pte_set = "present";
	p->pte_clear = NOT_PRESENT_ELSE ",file,zero,exclusive";
	p = anon(f, "fork_shared_child", at);
	p->pid = f->child;
	mapped_by(p, f->child, at);
	p->pte_set = "present";
	p->pte_clear = NOT_PRESENT_ELSE ",file,zero,exclusive";
}

/* --- small pages --- */

void make_anonymous(struct field *f)
{
	char *at = region_rw(3);
	struct plant *p;
	uint64_t word;

	fill(at + PAGE, 2);
	word = word_pagemap(f->pid, (uintptr_t)at + PAGE);
	f->soft_dirty = word & PM_SOFT_DIRTY;
	f->ksm_lies = word_kpage("flags", word_pfn(word)) & KPF_KSM;
	anon(f, "anon", at + PAGE);
	nothing(f, "anon_untouched", at + 2 * PAGE, "untouched");
	/* the kernel hands out no address this low unless asked for it */
	nothing(f, "unmapped", (void *)UNMAPPED, "unmapped");

	at = region_rw(1);
	fill(at, 3);
	mprotect(at, PAGE, PROT_NONE);
	anon(f, "prot_none", at);
	nothing(f, "prot_none_untouched", region(1, PROT_NONE), "untouched");

	at = region_rw(2);
	fill(at, 4);
	if (mlock(at, PAGE) == 0) {
		p = anon(f, "mlocked", at);
		p->flags_set = ANON_SET ",mlocked,unevictable";
		p->flags_clear = ELSE_CLEAR ",compound_tail,huge,thp";
	} else {
		plant_skip("mlocked", "mlock: %s", strerror(errno));
	}

	at = region_rw(1);
	fill(at, 5);
	if (madvise(at, PAGE, MADV_FREE) == 0) {
		/* loses SWAPBACKED as soon as reclaim may take it */
		p = anon(f, "lazyfree", at);
		p->flags_set = "anon,uptodate,mmap";
		p->flags_clear = ANON_CLEAR ",swapbacked";
	}

	at = region(1, PROT_READ);
	*(volatile char *)at;
	p = plant_new(f, "zero", at);
	p->kind = "zero";
	p->flags_set = "zero_page";
	p->flags_clear = "anon,mmap,lru,slab,buddy,swapbacked";
	p->pte_set = "present,zero";
	p->pte_clear = NOT_PRESENT_ELSE ",exclusive";
	p->level = 1;
	p->no_file = true;
}

void make_special(struct field *f)
{
	char *at = region_rw(2);
	struct plant *p;
	int fd;

	fill(at, 6);
	if (madvise(at, PAGE, MADV_GUARD_INSTALL_) == 0) {
		p = plant_new(f, "guard", at);
		p->kind = "anon";
		p->pte_set = "guard";
		p->pte_clear = "present,swapped,migration,hwpoison,device";
	} else {
		plant_skip("guard", "MADV_GUARD_INSTALL: %s",
			   strerror(errno));
	}

	fd = (int)syscall(SYS_memfd_secret_, 0);
	at = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, (off_t)PAGE) == 0)
		at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  0);
	if (at != MAP_FAILED) {
		*(volatile char *)at = 1;
		p = plant_new(f, "secretmem", at);
		/* on the list of unevictable pages or on none */
		p->kind = "file|unknown";
		p->flags_set = "mmap,uptodate";
		p->flags_clear = ELSE_CLEAR ",anon,swapbacked";
		p->pte_set = "present,file,exclusive";
		p->pte_clear = NOT_PRESENT_ELSE ",zero";
		p->level = 1;
		p->order = 0;
		mapped_by(p, f->pid, at);
	} else {
		plant_skip("secretmem", "memfd_secret: %s", strerror(errno));
	}
}

/* --- large pages --- */

/* 2 MB of address space at a multiple of 2 MB. */
static char *huge_region(void)
{
	char *at = region_rw(2 * HUGE / PAGE);
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
	struct plant *p = anon(f, name, addr);

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
	}

	at = huge_region();
	madvise(at, HUGE, MADV_HUGEPAGE);
	*at = 1;
	if (is_huge(f, at, KPF_THP) &&
	    madvise(at + HUGE / 2, PAGE, MADV_DONTNEED) == 0) {
		/* now mapped page by page; nobody shall fill the gap */
		madvise(at, HUGE, MADV_NOHUGEPAGE);
		p = thp(f, "thp_by_pages", at + 3 * PAGE, false);
		p->level = 1;
		nothing(f, "thp_given_back", at + HUGE / 2, "untouched");
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
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		shared = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
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
	p->charged = false;	/* has accounts of its own */
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
	p->pte_set = "present,file,exclusive";
	p->pte_clear = NOT_PRESENT_ELSE ",zero";
	p->charged = false;
	p->no_file = false;
}

void make_huge(struct field *f)
{
	make_thp(f);
	make_hugetlb(f);
}

/* --- merged, swapped, protected --- */

static void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

void make_merged(struct field *f)
{
	char *a = region_rw(1), *b = region_rw(1);
	struct plant *p;
	unsigned i;

	fill(a, 7);
	memcpy(b, a, PAGE);
	if (madvise(a, PAGE, MADV_MERGEABLE) < 0 ||
	    madvise(b, PAGE, MADV_MERGEABLE) < 0) {
		plant_skip("ksm_a", "MADV_MERGEABLE: %s", strerror(errno));
		return;
	}
	keep_write("/sys/kernel/mm/ksm/pages_to_scan", "10000");
	keep_write("/sys/kernel/mm/ksm/sleep_millisecs", "10");
	keep_write("/sys/kernel/mm/ksm/run", "1");
	for (i = 0; i < 300; i++) {
		if (word_pfn(word_pagemap(f->pid, (uintptr_t)a)) ==
		    word_pfn(word_pagemap(f->pid, (uintptr_t)b)))
			break;
		nap(100);
	}
	/* what is merged stays so while nobody scans */
	keep_write("/sys/kernel/mm/ksm/run", "0");
	if (i == 300) {
		plant_skip("ksm_a", "KSM merged nothing in 30 seconds");
		return;
	}
	for (i = 0; i < 2; i++) {
		p = anon(f, i ? "ksm_b" : "ksm_a", i ? b : a);
		mapped_by(p, f->pid, i ? a : b);
		p->flags_set = f->ksm_lies ? ANON_SET : ANON_SET ",ksm";
		p->flags_clear = ANON_CLEAR;
		p->pte_set = "present";
		p->pte_clear = NOT_PRESENT_ELSE ",file,zero,exclusive";
	}
}

void make_swapped(struct field *f)
{
	char why[256] = "", *at = region_rw(4);
	struct plant *p;
	unsigned i;

	if (!keep_swap(why, sizeof(why))) {
		plant_skip("swapped", "%s", why);
		return;
	}
	for (i = 0; i < 4; i++)
		fill(at + i * PAGE, 8 + i);
	/* first empties the list that new pages wait in */
	madvise(at, 4 * PAGE, MADV_COLD_);
	for (i = 0; i < 50; i++) {
		madvise(at, 4 * PAGE, MADV_PAGEOUT_);
		if (word_pagemap(f->pid, (uintptr_t)at + PAGE) & PM_SWAP &&
		    word_pagemap(f->pid, (uintptr_t)at + 2 * PAGE) & PM_SWAP)
			break;
		nap(50);
	}
	if (i == 50) {
		plant_skip("swapped", "MADV_PAGEOUT swapped nothing out");
		return;
	}
	p = plant_new(f, "swapped", at + PAGE);
	p->kind = "anon";
	p->pte_set = "swapped";
	p->pte_clear = "present,guard,migration,hwpoison,device,zero";
	*(volatile char *)(at + 2 * PAGE);
	p = anon(f, "swapped_back", at + 2 * PAGE);
	/* the copy in swap may still be its twin */
	p->pte_set = "present";
}

static int open_uffd(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int protect(int fd, char *at, size_t len)
{
	struct uffdio_register reg = {
		.range = { (uintptr_t)at, len },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)at, len },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (fd < 0 || ioctl(fd, UFFDIO_REGISTER, &reg) < 0)
		return -1;
	return ioctl(fd, UFFDIO_WRITEPROTECT, &wp);
}

void make_write_protected(struct field *f)
{
	char *at = region_rw(1);
	struct plant *p;

	fill(at, 12);
	if (protect(open_uffd(UFFD_FEATURE_PAGEFAULT_FLAG_WP), at, PAGE) == 0) {
		p = anon(f, "uffd_wp", at);
		p->pte_set = "present,exclusive,uffd_wp";
	} else {
		plant_skip("uffd_wp", "userfaultfd: %s", strerror(errno));
	}

	/* write tracking: the kernel itself lifts the protection */
	at = region_rw(2);
	fill(at, 13);
	fill(at + PAGE, 14);
	if (protect(open_uffd(UFFD_FEATURE_PAGEFAULT_FLAG_WP |
			      UFFD_FEATURE_WP_ASYNC_), at, 2 * PAGE) == 0) {
		at[PAGE] = 1;
		p = anon(f, "tracked_clean", at);
		p->pte_set = "present,exclusive,uffd_wp";
		p->pte_clear = NOT_PRESENT_ELSE ",file,zero,written";
		p = anon(f, "tracked_written", at + PAGE);
		p->pte_set = "present,exclusive,written";
		p->pte_clear = NOT_PRESENT_ELSE ",file,zero,uffd_wp";
	} else {
		plant_skip("tracked_clean", "asynchronous userfaultfd: %s",
			   strerror(errno));
	}
}

/* --- what every program has --- */

void make_program(struct field *f)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	struct plant *p;
	char *brk;

	/* calling this very function keeps its page of the stack in place */
	p = anon(f, "stack", __builtin_frame_address(0));
	p->vma_name = "[stack]";
	brk = sbrk(3 * (intptr_t)PAGE);
	if (brk != (void *)-1) {
		brk += -(uintptr_t)brk & (PAGE - 1);
		fill(brk, 15);
		p = anon(f, "heap", brk);
		p->vma_name = "[heap]";
	}
	if (vdso) {
		*(volatile char *)vdso;
		p = plant_new(f, "vdso", (void *)vdso);
		/* part of the kernel's image: reserved, or without a mark */
		p->kind = "reserved|unknown";
		p->flags_clear = "anon,slab,buddy,pgtable,swapbacked";
		p->pte_set = "present";
		p->pte_clear = NOT_PRESENT_ELSE ",zero";
		p->vma_name = "[vdso]";
		p->level = 1;
	}
}
