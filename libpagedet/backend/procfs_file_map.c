/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Windows: part of a file mapped into our own address space, so that our own
 * page tables tell which page frames it is cached in.
 *
 * Nothing is read in: only pages that mincore calls resident are touched, and
 * without read-ahead. Nothing is marked: MADV_RANDOM keeps the kernel from
 * counting our look as a use (mm/memory.c, zap_present_folio_ptes; 6.3). And no
 * signal comes of it when the file is cut short meanwhile: the kernel does the
 * touching and gets an error for us.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/procfs_file.h"
#include "base/io.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22	/* 5.14 */
#endif

/* A read fault maps what is cached around it, in blocks of this size by
 * address (mm/memory.c, fault_around_bytes). Smaller blocks cost time only. */
#define FAULT_AROUND 65536

/* Reading so many entries that nobody asked for costs less than a call. */
#define BRIDGE 32

/* What stays mapped at most, empty. */
#define VIEW_BYTES ((uint64_t)64 << 20)

#define KERNEL_SIGSET ((_NSIG + 6) / 8)

/*
 * Part of a file that stays mapped while windows come and go in it, for mapping
 * and unmapping hold up all threads of the process. Without a window it cannot
 * be read, so nobody can fill it, and is in the file's list.
 */
struct procfs_view {
	struct procfs_view *next;
	char *addr;
	uint64_t first, end;	/* pages */
};

static int map_range(const struct procfs_cached *f, uint64_t first,
		     uint64_t end, char **ret)
{
	const size_t len = (size_t)(end - first) << f->shift;
	char *addr;
	int code;

	/* Under mlockall(MCL_FUTURE) a readable mapping would be filled at
	 * once, from disk; so it becomes readable after it was unlocked, where
	 * a window is. */
	addr = mmap(NULL, len, PROT_NONE, MAP_SHARED, f->fd,
		    (off_t)(first << f->shift));
	if (addr == MAP_FAILED)
		return -errno;
	if (munlock(addr, len) || madvise(addr, len, MADV_RANDOM)) {
		code = errno;
		munmap(addr, len);
		return -code;
	}
	*ret = addr;
	return 0;
}

static void unmap_view(const struct procfs_cached *f, struct procfs_view *v)
{
	if (v->addr)
		munmap(v->addr, (size_t)(v->end - v->first) << f->shift);
	v->addr = NULL;
}

static void drop_view(const struct procfs_cached *f, struct procfs_view *v)
{
	unmap_view(f, v);
	free(v);
}

static char *page_of(const struct procfs_cached *f,
		     const struct procfs_view *v, uint64_t page)
{
	return v->addr + ((size_t)(page - v->first) << f->shift);
}

/* Refused where mlockall() was called meanwhile: our look would lock pages. */
static bool emptied(char *addr, size_t len)
{
	return madvise(addr, len, MADV_DONTNEED) == 0;
}

/* Maps [@first, @end) and, if there is room for it, what is around it. */
static int map_view(const struct procfs_cached *f, uint64_t first,
		    uint64_t end, struct procfs_view *v)
{
	const uint64_t pages = VIEW_BYTES >> f->shift;
	int r;

	v->first = first / pages * pages;
	v->end = PDET_MAX(PDET_MIN(v->first + pages, f->file.pages), end);
	r = map_range(f, v->first, v->end, &v->addr);
	/* EAGAIN: too much of it would be locked. */
	if (r != -ENOMEM && r != -EAGAIN)
		return r;
	v->first = first;
	v->end = end;
	return map_range(f, first, end, &v->addr);
}

static bool covers(const struct procfs_view *v, uint64_t first, uint64_t end)
{
	return v->addr && v->first <= first && end <= v->end;
}

/* The view that covers [@first, @end), else the one that was not used for the
 * longest time; NULL if there is none. */
static struct procfs_view *take_view(struct procfs_cached *f, uint64_t first,
				     uint64_t end)
{
	struct procfs_view **at, *v;

	pthread_mutex_lock(&f->lock);
	for (at = &f->views; *at && (*at)->next; at = &(*at)->next)
		if (covers(*at, first, end))
			break;
	v = *at;
	if (v)
		*at = v->next;
	pthread_mutex_unlock(&f->lock);
	return v;
}

int procfs_window_map(struct procfs_cached *f, uint64_t first, uint32_t n,
		      struct procfs_window *ret)
{
	struct procfs_view *v = take_view(f, first, first + n);
	const size_t len = (size_t)n << f->shift;
	int r = 0;

	if (!v)
		v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (!covers(v, first, first + n) ||
	    !emptied(page_of(f, v, first), len)) {
		unmap_view(f, v);
		r = map_view(f, first, first + n, v);
	}
	if (r == 0 && mprotect(page_of(f, v, first), len, PROT_READ))
		r = -errno;
	if (r < 0) {
		drop_view(f, v);
		return r;
	}
	ret->addr = page_of(f, v, first);
	ret->n = n;
	ret->shift = f->shift;
	ret->f = f;
	ret->view = v;
	return 0;
}

void procfs_window_unmap(struct procfs_window *w)
{
	const size_t len = (size_t)w->n << w->shift;
	struct procfs_cached *f = w->f;
	struct procfs_view *v = w->view;

	if (!emptied(w->addr, len) || mprotect(w->addr, len, PROT_NONE)) {
		drop_view(f, v);
		return;
	}
	pthread_mutex_lock(&f->lock);
	v->next = f->views;
	f->views = v;
	pthread_mutex_unlock(&f->lock);
}

void procfs_views_free(struct procfs_cached *f)
{
	struct procfs_view *v;

	while ((v = f->views)) {
		f->views = v->next;
		drop_view(f, v);
	}
}

static char *page_addr(const struct procfs_window *w, uint32_t i)
{
	return w->addr + ((size_t)i << w->shift);
}

int procfs_window_resident(const struct procfs_window *w, uint32_t at,
			   uint32_t n, uint8_t *state)
{
	uint8_t vec[PROCFS_WINDOW_PAGES];
	uint32_t i;

	if (mincore(page_addr(w, at), (size_t)n << w->shift, vec))
		return -errno;
	for (i = 0; i < n; i++)
		state[at + i] = (uint8_t)((state[at + i] & ~PROCFS_RESIDENT) |
					  (vec[i] & 1) * PROCFS_RESIDENT);
	return 0;
}

/*
 * Has the kernel read a page's first bytes. It copies a signal set from there
 * and only then refuses the request, which is none: a read without effect, and
 * EFAULT where a read of ours would be a SIGBUS. Unlike MADV_POPULATE_READ and
 * process_vm_readv() it leaves the page's referenced bit alone.
 */
static bool touch(const struct procfs_window *w, uint32_t i)
{
	return syscall(SYS_rt_sigprocmask, -1, page_addr(w, i), NULL,
		       KERNEL_SIGSET) == 0 || errno != EFAULT;
}

/* One touch maps its block; what it left out is seen in the entries. */
static void touch_blocks(const struct procfs_window *w, uint8_t *state)
{
	uint32_t per_block = (uint32_t)(FAULT_AROUND >> w->shift);
	uint32_t i, end;

	if (!per_block)
		per_block = 1;
	for (i = 0; i < w->n; i = end) {
		end = i + per_block - (uint32_t)(((uintptr_t)page_addr(w, i) >>
						  w->shift) % per_block);
		end = PDET_MIN(end, w->n);
		while (i < end && !(state[i] & PROCFS_RESIDENT))
			i++;
		if (i < end && !touch(w, i))
			state[i] |= PROCFS_REFUSED;
	}
}

static bool present(uint64_t word)
{
	return word & PDET_PM_PRESENT;
}

/* Entries of resident pages that are not known yet. */
static int read_entries(const struct procfs_window *w, int pagemap,
			const uint8_t *state, uint64_t *words)
{
	const uint64_t base = (uintptr_t)w->addr >> w->shift;
	uint32_t i, first, last;
	ssize_t got;

	for (i = 0; i < w->n; i = last + 1) {
		while (i < w->n && (!(state[i] & PROCFS_RESIDENT) ||
				    present(words[i])))
			i++;
		if (i == w->n)
			return 0;
		first = last = i;
		for (i++; i < w->n && i - last <= BRIDGE; i++)
			if (state[i] & PROCFS_RESIDENT && !present(words[i]))
				last = i;
		got = pdet_pread(pagemap, words + first,
				 (size_t)(last - first + 1) * 8,
				 (base + first) * 8);
		if (got != (ssize_t)(last - first + 1) * 8)
			return got < 0 ? (int)got : -EIO;
	}
	return 0;
}

/* Pages that two touches did not map. */
static int settle(const struct procfs_window *w, int pagemap, uint8_t *state,
		  uint64_t *words)
{
	uint32_t i;
	int r;

	for (i = 0; i < w->n; i++) {
		if (!(state[i] & PROCFS_RESIDENT) || present(words[i]))
			continue;
		r = procfs_window_resident(w, i, 1, state);
		if (r < 0)
			return r;
		if (!(state[i] & PROCFS_RESIDENT))
			state[i] = 0;
		/* Where the first way is not the kernel's own, as in a
		 * debugger that stands between. */
		else if (!(state[i] & PROCFS_REFUSED) &&
			 madvise(page_addr(w, i), (size_t)1 << w->shift,
				 MADV_POPULATE_READ))
			state[i] |= PROCFS_REFUSED;
	}
	return read_entries(w, pagemap, state, words);
}

int procfs_window_entries(const struct procfs_window *w, int pagemap,
			  uint8_t *state, uint64_t *words)
{
	bool strays = false, missing = false;
	uint32_t i;
	int r;

	memset(words, 0, w->n * sizeof(*words));
	touch_blocks(w, state);
	r = read_entries(w, pagemap, state, words);
	if (r < 0)
		return r;
	for (i = 0; i < w->n; i++) {
		if (!(state[i] & PROCFS_RESIDENT) || present(words[i]))
			continue;
		strays = true;
		if (touch(w, i))
			state[i] &= (uint8_t)~PROCFS_REFUSED;
		else
			state[i] |= PROCFS_REFUSED;
	}
	if (!strays)
		return 0;
	r = read_entries(w, pagemap, state, words);
	for (i = 0; i < w->n; i++)
		missing |= state[i] & PROCFS_RESIDENT && !present(words[i]);
	return r < 0 || !missing ? r : settle(w, pagemap, state, words);
}

bool procfs_mincore_honest(const struct procfs_cached *f)
{
	struct procfs_window w = { .n = 1, .shift = f->shift };
	uint64_t page = f->file.pages + ((uint64_t)1 << 20);
	uint8_t state = 0;
	int r;

	/*
	 * For a file that the caller neither owns nor may write, mincore calls
	 * every page resident (mm/mincore.c, can_do_mincore; 5.2). It does so
	 * for a page 4 GB past the end, too, where there is none.
	 */
	r = map_range(f, page, page + 1, &w.addr);
	if (r == -EOVERFLOW)
		r = map_range(f, f->file.pages, f->file.pages + 1, &w.addr);
	if (r < 0)
		return false;
	r = procfs_window_resident(&w, 0, 1, &state);
	munmap(w.addr, (size_t)1 << f->shift);
	return r == 0 && !(state & PROCFS_RESIDENT);
}
