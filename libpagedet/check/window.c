/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Copies cached pages without reading others in. Only pages that mincore calls
 * resident are copied, from a mapping without read-ahead. MADV_RANDOM also
 * keeps the kernel from counting the access. The kernel copies them to a file
 * in memory, so that a truncated file raises no signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check/window.h"

char *pdet_window_map(const struct pdet_checked *c, uint64_t first, size_t n)
{
	const size_t len = n << c->shift;
	char *addr;
	int code;

	/*
	 * Under mlockall(MCL_FUTURE) a readable mapping would be populated at
	 * once.
	 */
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

/*
 * If a process neither owns the file nor may write it, mincore calls every page
 * resident, even pages far past the end, which cannot exist.
 */
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
			       c->first, c->end - c->first, "the kernel says "
			       "which pages are cached only to the owner of "
			       "the file and to those who may write it, and "
			       "only if it can be mapped");
		return 1;
	}
	w->memfd = memfd_create("pagedet-check", MFD_CLOEXEC);
	if (w->memfd >= 0 && ftruncate(w->memfd, (off_t)len) == 0)
		w->copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
			       w->memfd, 0);
	if (w->copy && w->copy != MAP_FAILED)
		return 0;
	w->copy = NULL;
	pdet_fail_errno(c->env, "cannot allocate memory for copies");
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
		sum += w->there[at + i] || w->empty[at + i];
	return sum;
}

static void copy_run(const struct pdet_checked *c, struct pdet_check_window *w,
		     const char *from, size_t n, size_t at)
{
	const size_t len = n << c->shift;
	const ssize_t done = pwrite(w->memfd, from, len,
				    (off_t)(at << c->shift));

	/* The missing rest has vanished. */
	if (done < (ssize_t)len)
		n = done < 0 ? 0 : (size_t)done >> c->shift;
	memset(w->there + at, 0xff, n * sizeof(*w->there));
}

/*
 * If a read must not wait, it returns cached data and does not read anything
 * in. Returns 1, 0 if the data is not up to date, or negative errno.
 */
static int read_now(const struct pdet_checked *c, void *buf, uint64_t at,
		    size_t n)
{
	struct iovec to = { buf, (size_t)PDET_MIN(n, c->bytes - at) };
	const ssize_t got = preadv2(c->fd, &to, 1, (off_t)at, RWF_NOWAIT);

	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	return got == (ssize_t)to.iov_len;
}

/*
 * A folio that is not up to date may contain a page that is valid where it
 * matters: the last page of a file, or a page that a filesystem reads in
 * blocks.
 */
static void load_parts(const struct pdet_checked *c,
		       struct pdet_check_window *w, uint64_t page, size_t i)
{
	const size_t size = (size_t)1 << c->shift, part = pdet_window_part(c);
	const uint64_t begin = page << c->shift;
	char *buf = w->copy + (i << c->shift);
	size_t at;
	int r = read_now(c, buf, begin, size);

	w->there[i] = r > 0 ? UINT64_MAX : 0;
	for (at = 0; r >= 0 && !(w->there[i] >> 63) && at < size &&
	     at < c->bytes - begin; at += part) {
		r = read_now(c, buf + at, begin + at, part);
		w->there[i] |= r > 0 ? 1ull << at / part : 0;
	}
	w->empty[i] = r >= 0 && !w->there[i];
}

static void load_rest(const struct pdet_checked *c, struct pdet_check_window *w,
		      uint64_t first, size_t n, size_t at)
{
	struct pdet_cachestat cs;
	size_t i;

	if (!c->block && !(fcntl(c->fd, F_GETFL) & O_NOATIME))
		return;
	for (i = 0; i < n; i++)
		if (!w->there[at + i] && (first + i) << c->shift < c->bytes &&
		    pdet_check_stat(c, first + i, 1, &cs) == 0 && cs.cached)
			load_parts(c, w, first + i, at + i);
}

int pdet_window_load(const struct pdet_checked *c, struct pdet_check_window *w,
		     uint64_t first, size_t n, size_t at)
{
	unsigned char resident[PDET_WINDOW_PAGES];
	struct pdet_cachestat cs;
	size_t i, len;
	char *addr;
	int r;

	memset(w->there + at, 0, n * sizeof(*w->there));
	memset(w->empty + at, 0, n * sizeof(*w->empty));
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
		load_rest(c, w, first, n, at);
	return r;
}
