/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Plants to which the kernel did something: cleared soft-dirty bits, held or
 * poisoned them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "planter.h"

#define MADV_HWPOISON_ 100
/* include/linux/mm.h, GUP_PIN_COUNTING_BIAS: what one pin adds. */
#define PIN 1024

/* --- soft-dirty --- */

void make_soft_clean(struct field *f)
{
	char *at = plant_region(2);
	struct plant *p;

	plant_fill(at, 20);
	plant_fill(at + PAGE, 21);
	if (!f->soft_dirty || keep_write("/proc/self/clear_refs", "4") < 0) {
		plant_skip("soft_clean", "the kernel has no soft-dirty bits");
		return;
	}
	at[PAGE] = 1;
	p = plant_anon(f, "soft_clean", at);
	p->pte_clear = NOT_PRESENT_ELSE ",file,zero,soft_dirty";
	p = plant_anon(f, "soft_dirty", at + PAGE);
	p->pte_set = "present,exclusive,soft_dirty";
}

/* --- idle --- */

#define IDLE_BITMAP "/sys/kernel/mm/page_idle/bitmap"

/* Bits that are 0 stay unchanged. */
static bool mark_idle(uintptr_t addr)
{
	uint64_t pfn = word_pfn(word_pagemap(getpid(), addr));
	uint64_t bits = (uint64_t)1 << pfn % 64;
	int fd = open(IDLE_BITMAP, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && pwrite(fd, &bits, sizeof(bits),
				      (off_t)(pfn / 64 * 8)) == sizeof(bits);

	if (fd >= 0)
		close(fd);
	return good;
}

static void leave_idle(struct plant *p)
{
	mark_idle(p->addr);
}

/* The mark stays until someone reads the page tables. */
static void use_again(struct plant *p)
{
	char *at = (char *)p->addr;

	mark_idle(p->addr);
	/*
	 * Otherwise the TLB has the entry, and the processor does not set its
	 * accessed bit.
	 */
	mprotect(at, PAGE, PROT_READ);
	mprotect(at, PAGE, PROT_READ | PROT_WRITE);
	*(volatile char *)at += 1;
}

void make_idle(struct field *f)
{
	char *at = plant_region(2);
	struct plant *p;

	plant_fill(at, 25);
	plant_fill(at + PAGE, 26);
	if (!mark_idle((uintptr_t)at)) {
		plant_skip("idle", "%s: %s", IDLE_BITMAP, strerror(errno));
		return;
	}
	p = plant_anon(f, "idle", at);
	p->flags_set = ANON_SET ",idle";
	p->unread = true;
	p->renew = leave_idle;
	p = plant_anon(f, "idle_used", at + PAGE);
	p->flags_clear = ELSE_CLEAR ",ksm,idle";
	p->renew = use_again;
}

/* --- held --- */

static void make_spliced(struct field *f)
{
	struct iovec at = { plant_region(1), PAGE };
	struct plant *p;
	int fd[2];

	plant_fill(at.iov_base, 22);
	if (pipe2(fd, O_CLOEXEC) < 0 ||
	    vmsplice(fd[1], &at, 1, 0) != (ssize_t)PAGE) {
		plant_skip("spliced", "vmsplice: %s", strerror(errno));
		return;
	}
	/* The pipe stays open and holds it. */
	p = plant_anon(f, "spliced", at.iov_base);
	p->refcount = 2;
}

void make_pinned(struct field *f)
{
	struct iovec at = { plant_region(1), PAGE };
	struct io_uring_params params = { .flags = 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	struct plant *p;

	plant_fill(at.iov_base, 23);
	if (fd >= 0 && syscall(SYS_io_uring_register, fd,
			       IORING_REGISTER_BUFFERS, &at, 1) == 0) {
		p = plant_anon(f, "pinned", at.iov_base);
		p->refcount = 1 + PIN;
	} else {
		plant_skip("pinned", "io_uring: %s", strerror(errno));
	}
	make_spliced(f);
}

/* --- poisoned --- */

/* The kernel signals every process that maps a poisoned page. */
static void ignore(int sig)
{
	(void)sig;
}

void make_poisoned(struct field *f)
{
	struct sigaction sa = { .sa_handler = ignore };
	char *at = plant_region(1);
	struct plant *p;
	uint64_t pfn;

	if (!f->may_poison) {
		plant_skip("poisoned", "not asked for");
		return;
	}
	plant_fill(at, 24);
	pfn = word_pfn(word_pagemap(f->pid, (uintptr_t)at));
	sigaction(SIGBUS, &sa, NULL);
	if (madvise(at, PAGE, MADV_HWPOISON_) < 0 ||
	    word_pagemap(f->pid, (uintptr_t)at) & PM_PRESENT) {
		plant_skip("poisoned", "MADV_HWPOISON: %s", strerror(errno));
		return;
	}
	/* The entry names the page, but does not map it. */
	p = plant_new(f, "poisoned", at);
	p->pfn = pfn;
	p->kind = "anon";
	p->flags_set = "hwpoison";
	p->flags_unknown = f->ksm_lies ? "ksm" : NULL;
	p->pte_set = "hwpoison";
	p->pte_clear = "present,swapped,guard,migration,device,zero";
	p->flags_clear = ELSE_CLEAR ",mmap,lru,compound_head,compound_tail";
	p->mapcount = 0;
	p->order = 0;
}
