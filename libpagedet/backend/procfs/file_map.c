/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Maps parts (windows) of a file into our own address space, so that our own
 * pagemap shows the page frames of cached pages.
 *
 * It reads nothing from disk: only pages that mincore calls resident are
 * touched, without read-ahead. It does not change the age of pages: with
 * MADV_RANDOM the kernel does not count the access as a use (mm/memory.c,
 * zap_present_folio_ptes; 6.3). A truncated file causes no signal: the kernel
 * touches the page for us, and gets an error instead.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/procfs/file.h"
#include "base/io.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22	/* 5.14 */
#endif

/* A read fault maps cached pages around it, in aligned blocks of this size
 * (mm/memory.c, fault_around_bytes). Smaller blocks only cost time. */
#define FAULT_AROUND 65536

/* Reading this many unneeded entries, 7 ns each, costs less than a call of 1.1
 * us. */
#define BRIDGE 128

/* Limit of address space that stays mapped without pages. */
#define VIEW_BYTES ((uint64_t)64 << 20)

#define KERNEL_SIGSET ((_NSIG + 6) / 8)

/*
 * A part of a file that stays mapped while windows in it come and go, because
 * mmap and munmap stop all threads of the process. Without a window it is
 * inaccessible, so that no page can enter it, and it is in the file's list.
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

	/* Under mlockall(MCL_FUTURE) a readable mapping would be read from disk
	 * at once. It is therefore unlocked first, and becomes readable only
	 * for a window. */
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

/* False if mlockall() was called meanwhile: our access would lock pages. */
static bool emptied(char *addr, size_t len)
{
	return madvise(addr, len, MADV_DONTNEED) == 0;
}

/* Map [@first, @end) and, if there is room, some pages around it. */
static int map_view(const struct procfs_cached *f, uint64_t first,
		    uint64_t end, struct procfs_view *v)
{
	const uint64_t pages = VIEW_BYTES >> f->shift;
	int r;

	v->first = first / pages * pages;
	v->end = PDET_MAX(PDET_MIN(v->first + pages, f->file.pages), end);
	r = map_range(f, v->first, v->end, &v->addr);
	/* EAGAIN: too much locked memory. */
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

/* The view that covers [@first, @end), otherwise the least recently used one.
 * NULL if there is no view. */
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
 * Make the kernel read the first bytes of a page. It copies a signal set from
 * there, and only then rejects the invalid request. This read has no side
 * effect, and gives EFAULT where our own read would cause SIGBUS. Unlike
 * MADV_POPULATE_READ and process_vm_readv(), it does not set the page's
 * referenced bit.
 */
static bool touch(const struct procfs_window *w, uint32_t i)
{
	return syscall(SYS_rt_sigprocmask, -1, page_addr(w, i), NULL,
		       KERNEL_SIGSET) == 0 || errno != EFAULT;
}

/* One touch maps a block. The entries show which pages it left out. */
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

/* Read entries of resident pages that are not known yet. */
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

/* Handle pages that two touches did not map. */
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
		/* The touch may not reach the kernel, as under a debugger that
		 * intercepts system calls. */
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
	 * every page resident (mm/mincore.c, can_do_mincore; 5.2). It then does
	 * so also for a page 4 GB past the end, which cannot exist.
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
