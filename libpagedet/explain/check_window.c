/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Nothing is read in: only pages that mincore calls resident are copied, out of
 * a mapping without read-ahead; MADV_RANDOM also keeps the kernel from counting
 * it as a use. The kernel does the copying, into a file in memory, so that no
 * signal comes of it when the file is cut short.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "explain/check_window.h"

char *pdet_window_map(const struct pdet_checked *c, uint64_t first, size_t n)
{
	const size_t len = n << c->shift;
	char *addr;
	int code;

	/* Under mlockall(MCL_FUTURE) what is readable would be filled at
	 * once. */
	addr = mmap(NULL, len, PROT_NONE, MAP_SHARED, c->fd,
		    (off_t)(first << c->shift));
	if (addr == MAP_FAILED)
		return NULL;
	if (munlock(addr, len) || madvise(addr, len, MADV_RANDOM) ||
	    mprotect(addr, len, PROT_READ)) {
		code = errno;
		munmap(addr, len);
		errno = code;
		return NULL;
	}
	return addr;
}

/* To those who neither own the file nor may write it, mincore calls every page
 * resident; also those far behind the end, where there is none. */
static bool is_honest(const struct pdet_checked *c)
{
	const uint64_t page = (c->bytes >> c->shift) + (1u << 20);
	const size_t size = (size_t)1 << c->shift;
	unsigned char resident = 1;
	char *addr;

	addr = mmap(NULL, size, PROT_NONE, MAP_SHARED, c->fd,
		    (off_t)(page << c->shift));
	if (addr == MAP_FAILED)
		return false;
	if (mincore(addr, size, &resident))
		resident = 1;
	munmap(addr, size);
	return !(resident & 1);
}

int pdet_window_open(struct pdet_checked *c, struct pdet_check_window *w)
{
	const size_t len = (size_t)PDET_WINDOW_PAGES << c->shift;

	w->copy = NULL;
	w->memfd = -1;
	if (!is_honest(c)) {
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_ACCESS,
			       c->first, c->end - c->first, "which pages are "
			       "cached is told only to those who own the file "
			       "or may write it, and where it can be mapped");
		return 1;
	}
	w->memfd = memfd_create("pagedet-check", MFD_CLOEXEC);
	if (w->memfd >= 0 && ftruncate(w->memfd, (off_t)len) == 0)
		w->copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
			       w->memfd, 0);
	if (w->copy && w->copy != MAP_FAILED)
		return 0;
	w->copy = NULL;
	pdet_fail_errno(c->env, "cannot make room for copies");
	pdet_window_close(c, w);
	return -ENOMEM;
}

void pdet_window_close(const struct pdet_checked *c,
		       struct pdet_check_window *w)
{
	if (w->copy)
		munmap(w->copy, (size_t)PDET_WINDOW_PAGES << c->shift);
	if (w->memfd >= 0)
		close(w->memfd);
	w->copy = NULL;
	w->memfd = -1;
}

size_t pdet_window_count(const struct pdet_check_window *w, size_t n, size_t at)
{
	size_t i, sum = 0;

	for (i = 0; i < n; i++)
		sum += w->there[at + i];
	return sum;
}

static void copy_run(const struct pdet_checked *c, struct pdet_check_window *w,
		     const char *from, size_t n, size_t at)
{
	const size_t len = n << c->shift;
	const ssize_t done = pwrite(w->memfd, from, len,
				    (off_t)(at << c->shift));

	/* What is missing vanished meanwhile. */
	if (done < (ssize_t)len)
		n = done < 0 ? 0 : (size_t)done >> c->shift;
	memset(w->there + at, 1, n);
}

/* A page whose folio is not up to date as a whole may be so where it matters:
 * the last one of a file, or one that a filesystem reads block by block. Asked
 * not to wait, the kernel gives what is there and reads nothing. */
static void load_parts(const struct pdet_checked *c,
		       struct pdet_check_window *w, uint64_t first, size_t n,
		       size_t at)
{
	const size_t size = (size_t)1 << c->shift;
	struct pdet_cachestat cs;
	uint64_t offset;
	struct iovec to;
	size_t i;

	if (!c->block && !(fcntl(c->fd, F_GETFL) & O_NOATIME))
		return;
	for (i = 0; i < n; i++) {
		offset = (first + i) << c->shift;
		if (w->there[at + i] || offset >= c->bytes ||
		    pdet_check_stat(c, first + i, 1, &cs) || !cs.cached)
			continue;
		to.iov_base = w->copy + ((at + i) << c->shift);
		to.iov_len = (size_t)PDET_MIN(size, c->bytes - offset);
		w->there[at + i] = preadv2(c->fd, &to, 1, (off_t)offset,
					   RWF_NOWAIT) == (ssize_t)to.iov_len;
	}
}

int pdet_window_load(const struct pdet_checked *c, struct pdet_check_window *w,
		     uint64_t first, size_t n, size_t at)
{
	unsigned char resident[PDET_WINDOW_PAGES];
	struct pdet_cachestat cs;
	size_t i, len;
	char *addr;
	int r;

	memset(w->there + at, 0, n);
	addr = pdet_window_map(c, first, n);
	if (!addr)
		return -errno;
	r = mincore(addr, n << c->shift, resident) ? -errno : 0;
	for (i = 0; i < n && r == 0; i += len) {
		for (len = 0; i + len < n && resident[i + len] & 1; len++)
			;
		if (len)
			copy_run(c, w, addr + (i << c->shift), len, at + i);
		else
			len = 1;
	}
	munmap(addr, n << c->shift);
	if (r == 0 && pdet_check_stat(c, first, n, &cs) == 0 &&
	    cs.cached > pdet_window_count(w, n, at))
		load_parts(c, w, first, n, at);
	return r;
}
