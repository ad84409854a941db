/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Plants that are small and need no file: anonymous memory in every state. */
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

/* Newer than the headers of the oldest supported build systems. */
#define MADV_COLD_ 20
#define MADV_PAGEOUT_ 21
#define MADV_GUARD_INSTALL_ 102
#define SYS_memfd_secret_ 447
#define UFFD_FEATURE_WP_ASYNC_ ((uint64_t)1 << 15)

#define PM_FILE ((uint64_t)1 << 61)
#define PM_SWAP ((uint64_t)1 << 62)
#define PM_SOFT_DIRTY ((uint64_t)1 << 55)
#define PM_EXCLUSIVE ((uint64_t)1 << 56)
#define PM_UFFD_WP ((uint64_t)1 << 57)
#define PM_GUARD ((uint64_t)1 << 58)
#define KPF_KSM ((uint64_t)1 << 21)

#define UNMAPPED ((uintptr_t)16 * PAGE)

#define ANON_CLEAR ELSE_CLEAR ",compound_head,compound_tail,huge,thp,mlocked"
#define NO_PTE "present,swapped,guard,migration,hwpoison,device"

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

char *plant_region(size_t pages)
{
	return region(pages, PROT_READ | PROT_WRITE);
}

void plant_fill(char *page, uint64_t seed)
{
	uint64_t *words = (uint64_t *)page;
	unsigned i;

	for (i = 0; i < PAGE / 8; i++)
		words[i] = (seed + i) * 0x9e3779b97f4a7c15u ^
			   (uint64_t)getpid() << 32;
}

void plant_mapped(struct plant *p, pid_t pid, const void *addr)
{
	p->mapper[p->n_mappers].pid = pid;
	p->mapper[p->n_mappers++].addr = (uintptr_t)addr & ~(PAGE - 1);
	p->mapcount = p->refcount = p->n_mappers;
}

struct plant *plant_anon(struct field *f, const char *name, const void *addr)
{
	struct plant *p = plant_new(f, name, addr);

	p->kind = "anon";
	p->flags_set = ANON_SET;
	p->flags_clear = ANON_CLEAR ",ksm";
	p->flags_unknown = f->ksm_lies ? "ksm" : NULL;
	p->pte_set = "present,exclusive";
	p->pte_clear = NOT_PRESENT_ELSE ",file,zero";
	p->pte_unknown = f->soft_dirty ? NULL : "soft_dirty";
	p->order = 0;
	p->level = 1;
	p->charged = p->no_file = true;
	plant_mapped(p, f->pid, addr);
	return p;
}

struct plant *plant_nothing(struct field *f, const char *name,
			    const void *addr, const char *kind)
{
	struct plant *p = plant_new(f, name, addr);

	p->kind = kind;
	p->pte_clear = NO_PTE ",zero";
	return p;
}

/* --- before all others --- */

void make_first(struct field *f)
{
	char *at = plant_region(1);
	uint64_t word;

	plant_fill(at, 2);
	word = word_pagemap(f->pid, (uintptr_t)at);
	f->soft_dirty = word & PM_SOFT_DIRTY;
	f->ksm_lies = word_kpage("flags", word_pfn(word)) & KPF_KSM;
	munmap(at, PAGE);
}

/* For a function that stays as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

APART static int sleep_inner(struct field *f, bool sleeps)
{
	f->chain[0] = (uintptr_t)__builtin_return_address(0);
	while (sleeps)
		pause();
	return 1;
}

APART static int sleep_middle(struct field *f, bool sleeps)
{
	f->chain[1] = (uintptr_t)__builtin_return_address(0);
	return sleep_inner(f, sleeps) + 1;
}

APART static int sleep_outer(struct field *f, bool sleeps)
{
	return sleep_middle(f, sleeps) + 1;
}

void make_shared_by_fork(struct field *f)
{
	char *at = plant_region(1);
	struct plant *p;
	volatile char c;
	int fd[2];

	plant_fill(at, 1);
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
		sleep_outer(f, true);
	}
	/* The addresses are the same in the child. */
	sleep_outer(f, false);
	if (f->child < 0 || read(fd[0], (char *)&c, 1) != 1)
		plant_skip("fork_shared", "cannot fork: %s", strerror(errno));
	close(fd[0]);
	close(fd[1]);
	if (f->child <= 0)
		return;
	p = plant_anon(f, "fork_shared", at);
	plant_mapped(p, f->child, at);
	p->pte_set = "present";
	p->pte_clear = NOT_PRESENT_ELSE ",file,zero,exclusive";
	p = plant_anon(f, "fork_shared_child", at);
	p->pid = f->child;
	plant_mapped(p, f->child, at);
	p->pte_set = "present";
	p->pte_clear = NOT_PRESENT_ELSE ",file,zero,exclusive";
}

/* --- small pages --- */

/* Pages with each class of contents. */
static void make_contents(struct field *f)
{
	char *at = plant_region(4);
	size_t i;

	memset(at, 0, 3 * PAGE);
	plant_anon(f, "bytes_zero", at)->content = "zero";
	memset(at + PAGE, 'A', PAGE);
	plant_anon(f, "bytes_same", at + PAGE)->content = "byte:0x41";
	for (i = 0; i < 1000; i++)
		at[2 * PAGE + i] = "planted\n"[i % 8];
	plant_anon(f, "bytes_text", at + 2 * PAGE)->content = "text";
	plant_fill(at + 3 * PAGE, 27);
	plant_anon(f, "bytes_data", at + 3 * PAGE)->content = "data";
}

/*
 * A read of what was never written shows the zero page on most kernels. Some
 * give the reader a page of its own instead, which nobody else maps: pagemap
 * calls that entry exclusive, and one of the zero page never.
 */
static void make_zero(struct field *f)
{
	char *at = region(1, PROT_READ);
	struct plant *p;
	uint64_t word;

	*(volatile char *)at;
	word = word_pagemap(f->pid, (uintptr_t)at);
	if (word != NO_NUMBER && word & PM_EXCLUSIVE) {
		plant_skip("zero", "a read gets a page of its own here, not "
			   "the zero page");
		return;
	}
	p = plant_new(f, "zero", at);
	p->kind = "zero";
	p->flags_set = "zero_page";
	p->flags_clear = "anon,mmap,lru,slab,buddy,swapbacked";
	p->pte_set = "present,zero";
	p->pte_clear = NOT_PRESENT_ELSE ",exclusive";
	p->level = 1;
	p->no_file = true;
	p->content = "zero";
}

/* The kernel may have freed it, where memory was short. */
static void free_again(struct plant *p)
{
	if (word_pagemap(p->pid, p->addr) & PM_PRESENT)
		return;
	plant_fill((char *)p->addr, 5);
	madvise((char *)p->addr, PAGE, MADV_FREE);
	plant_drain();
}

void make_anonymous(struct field *f)
{
	char *at = plant_region(3);
	struct plant *p;

	plant_fill(at + PAGE, 2);
	plant_anon(f, "anon", at + PAGE)->content = "data";
	plant_nothing(f, "anon_untouched", at + 2 * PAGE, "untouched");
	/* The kernel gives out no address this low unless asked. */
	plant_nothing(f, "unmapped", (void *)UNMAPPED, "unmapped");

	at = plant_region(1);
	plant_fill(at, 3);
	mprotect(at, PAGE, PROT_NONE);
	plant_anon(f, "prot_none", at);
	plant_nothing(f, "prot_none_untouched", region(1, PROT_NONE),
		      "untouched");

	at = plant_region(2);
	plant_fill(at, 4);
	if (mlock(at, PAGE) == 0) {
		p = plant_anon(f, "mlocked", at);
		p->flags_set = ANON_SET ",mlocked,unevictable";
		p->flags_clear = ELSE_CLEAR ",compound_tail,huge,thp";
	} else {
		plant_skip("mlocked", "mlock: %s", strerror(errno));
	}

	at = plant_region(1);
	plant_fill(at, 5);
	if (madvise(at, PAGE, MADV_FREE) == 0) {
		/* Loses SWAPBACKED once reclaim may free it. */
		p = plant_anon(f, "lazyfree", at);
		p->renew = free_again;
		p->flags_set = "anon,uptodate,mmap";
		p->flags_clear = ANON_CLEAR ",swapbacked";
	}

	make_zero(f);
	make_contents(f);
}

static void make_guard(struct field *f)
{
	char *at = plant_region(2);
	struct plant *p;

	plant_fill(at, 6);
	if (madvise(at, PAGE, MADV_GUARD_INSTALL_) < 0) {
		plant_skip("guard", "MADV_GUARD_INSTALL: %s",
			   strerror(errno));
		return;
	}
	/* kernels had guards before pagemap had a bit for them */
	if (!(word_pagemap(f->pid, (uintptr_t)at) & PM_GUARD)) {
		plant_skip("guard", "pagemap does not tell a guard from swap");
		return;
	}
	p = plant_new(f, "guard", at);
	p->kind = "anon";
	p->pte_set = "guard";
	p->pte_clear = "present,swapped,migration,hwpoison,device";
}

static void make_secret(struct field *f)
{
	int fd = (int)syscall(SYS_memfd_secret_, 0);
	char *at = MAP_FAILED;
	struct plant *p;

	if (fd >= 0 && ftruncate(fd, (off_t)PAGE) == 0)
		at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  0);
	if (at != MAP_FAILED) {
		*(volatile char *)at = 1;
		p = plant_new(f, "secretmem", at);
		/* On the unevictable list, or on none. */
		p->kind = "file|unknown";
		p->flags_set = "mmap,uptodate";
		p->flags_clear = ELSE_CLEAR ",anon,swapbacked";
		p->pte_set = "present,file,exclusive";
		p->pte_clear = NOT_PRESENT_ELSE ",zero";
		p->level = 1;
		p->order = 0;
		plant_mapped(p, f->pid, at);
		p->refcount = 2;	/* and its file */
	} else {
		plant_skip("secretmem", "memfd_secret: %s", strerror(errno));
	}
}

void make_special(struct field *f)
{
	make_guard(f);
	make_secret(f);
}

/* --- merged, swapped, protected --- */

static void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

struct two {
	pid_t pid;
	uintptr_t a, b;
};

static bool are_one(void *user)
{
	const struct two *two = user;
	const uint64_t a = word_pfn(word_pagemap(two->pid, two->a));

	return a != NO_NUMBER &&
	       a == word_pfn(word_pagemap(two->pid, two->b));
}

void make_merged(struct field *f)
{
	char *a = plant_region(1), *b = plant_region(1);
	struct two two = { f->pid, (uintptr_t)a, (uintptr_t)b };
	const char *why;
	struct plant *p;
	unsigned i;

	plant_fill(a, 7);
	memcpy(b, a, PAGE);
	if (madvise(a, PAGE, MADV_MERGEABLE) < 0 ||
	    madvise(b, PAGE, MADV_MERGEABLE) < 0) {
		plant_skip("ksm_a", "MADV_MERGEABLE: %s", strerror(errno));
		return;
	}
	why = keep_merge(are_one, &two);
	if (why) {
		plant_skip("ksm_a", "%s", why);
		return;
	}
	for (i = 0; i < 2; i++) {
		p = plant_anon(f, i ? "ksm_b" : "ksm_a", i ? b : a);
		plant_mapped(p, f->pid, i ? a : b);
		p->flags_set = ANON_SET ",ksm";
		p->flags_clear = ANON_CLEAR;
		p->pte_set = "present";
		p->pte_clear = NOT_PRESENT_ELSE ",file,zero,exclusive";
	}
}

void make_swapped(struct field *f)
{
	char why[256] = "", *at = plant_region(4);
	struct plant *p;
	unsigned i;

	if (!keep_swap(why, sizeof(why))) {
		plant_skip("swapped", "%s", why);
		return;
	}
	for (i = 0; i < 4; i++)
		plant_fill(at + i * PAGE, 8 + i);
	/* First empties the list in which new pages wait. */
	madvise(at, 4 * PAGE, MADV_COLD_);
	for (i = 0; i < 600; i++) {
		madvise(at, 4 * PAGE, MADV_PAGEOUT_);
		if (word_pagemap(f->pid, (uintptr_t)at + PAGE) & PM_SWAP &&
		    word_pagemap(f->pid, (uintptr_t)at + 2 * PAGE) & PM_SWAP)
			break;
		nap(50);
	}
	if (i == 600) {
		plant_skip("swapped", "MADV_PAGEOUT swapped nothing out");
		return;
	}
	p = plant_new(f, "swapped", at + PAGE);
	p->kind = "anon";
	p->pte_set = "swapped";
	p->pte_clear = "present,guard,migration,hwpoison,device,zero";
	*(volatile char *)(at + 2 * PAGE);
	p = plant_anon(f, "swapped_back", at + 2 * PAGE);
	/* The copy in swap may still be its twin. */
	p->pte_set = "present";
	p->refcount = NO_NUMBER;
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
	char *at = plant_region(1);
	struct plant *p;

	plant_fill(at, 12);
	if (protect(open_uffd(UFFD_FEATURE_PAGEFAULT_FLAG_WP), at, PAGE) == 0) {
		p = plant_anon(f, "uffd_wp", at);
		p->pte_set = "present,exclusive,uffd_wp";
	} else {
		plant_skip("uffd_wp", "userfaultfd: %s", strerror(errno));
	}

	/* Write tracking: the kernel itself removes the protection. */
	at = plant_region(2);
	plant_fill(at, 13);
	plant_fill(at + PAGE, 14);
	if (protect(open_uffd(UFFD_FEATURE_PAGEFAULT_FLAG_WP |
			      UFFD_FEATURE_WP_ASYNC_), at, 2 * PAGE) == 0) {
		at[PAGE] = 1;
		p = plant_anon(f, "tracked_clean", at);
		p->pte_set = "present,exclusive,uffd_wp";
		p->pte_clear = NOT_PRESENT_ELSE ",file,zero,written";
		p = plant_anon(f, "tracked_written", at + PAGE);
		p->pte_set = "present,exclusive,written";
		p->pte_clear = NOT_PRESENT_ELSE ",file,zero,uffd_wp";
	} else {
		plant_skip("tracked_clean", "asynchronous userfaultfd: %s",
			   strerror(errno));
	}
}

/* --- parts of every program --- */

/*
 * A page of the stack below everything in use while the other cgroup was set.
 */
static __attribute__((noinline)) uintptr_t touch_stack(void)
{
	volatile char deep[16 * PAGE];

	deep[0] = 1;
	return (uintptr_t)deep & ~(PAGE - 1);
}

void make_program(struct field *f)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	struct plant *p;
	char *brk;

	p = plant_anon(f, "stack", (void *)touch_stack());
	p->vma_name = "[stack]";
	brk = sbrk(3 * (intptr_t)PAGE);
	if (brk != (void *)-1) {
		brk += -(uintptr_t)brk & (PAGE - 1);
		plant_fill(brk, 15);
		p = plant_anon(f, "heap", brk);
		p->vma_name = "[heap]";
	}
	if (vdso) {
		*(volatile char *)vdso;
		p = plant_new(f, "vdso", (void *)vdso);
		/* Part of the kernel image: reserved, or without a flag. */
		p->kind = "reserved|unknown";
		p->flags_clear = "anon,slab,buddy,pgtable,swapbacked";
		p->pte_set = "present";
		p->pte_clear = NOT_PRESENT_ELSE ",zero";
		p->vma_name = "[vdso]";
		p->level = 1;
	}
}
