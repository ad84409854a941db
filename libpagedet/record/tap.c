/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A page of the buffer that the kernel still fills is shown, too: it is taken
 * again until it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/env.h"
#include "record/tap.h"

/* The first page of a mapping, struct trace_buffer_meta. */
struct pdet_tap_map {
	uint32_t meta_page_size;
	uint32_t meta_struct_len;
	uint32_t subbuf_size;
	uint32_t nr_subbufs;
	struct {
		uint64_t lost_events;
		uint32_t id;
		uint32_t read;
	} reader;
	uint64_t flags;
	uint64_t entries;
	uint64_t overrun;
	uint64_t read;
};

/* TRACE_MMAP_IOCTL_GET_READER */
#define GET_READER _IO('R', 0x20)

/* The head of a page: a time, and how many bytes follow; kernel/trace/
 * ring_buffer.c. */
#define HEAD (8 + sizeof(long))
#define LENGTH 0xfffffu
/* Events were lost before it, and their number is behind the last event. */
#define COUNTED (1u << 30)

/* --- the mapping --- */

static uint32_t commit_of(const unsigned char *page)
{
	uint32_t low[sizeof(long) / 4];

	memcpy(low, page + 8, sizeof(low));
	return low[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
		   0 : PDET_COUNT(low) - 1];
}

static bool has_events(const unsigned char *page)
{
	return commit_of(page) & LENGTH;
}

/* Bytes of a page that say something. */
static uint32_t used(const unsigned char *page, uint32_t size)
{
	const uint32_t commit = commit_of(page);
	const uint32_t n = (uint32_t)HEAD + (commit & LENGTH) +
			   (commit & COUNTED ? (uint32_t)sizeof(long) : 0);

	return PDET_MIN(n, size);
}

static int map(struct pdet_tap *t)
{
	const size_t one = (size_t)sysconf(_SC_PAGESIZE);
	const struct pdet_tap_map *m;
	uint64_t size;
	void *at;

	at = mmap(NULL, one, PROT_READ, MAP_SHARED, t->fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	m = at;
	size = (uint64_t)m->subbuf_size * m->nr_subbufs;
	if (m->meta_page_size == one && m->subbuf_size == t->spool.page &&
	    m->meta_struct_len >= sizeof(*m)) {
		t->pages = mmap(NULL, size, PROT_READ, MAP_SHARED, t->fd,
				(off_t)one);
		if (t->pages != MAP_FAILED) {
			t->map = m;
			t->map_size = size;
			return 0;
		}
	}
	t->pages = NULL;
	munmap(at, one);
	return -ENOTSUP;
}

static void unmap(struct pdet_tap *t)
{
	if (!t->map)
		return;
	munmap((void *)t->pages, t->map_size);
	munmap((void *)t->map, (size_t)sysconf(_SC_PAGESIZE));
	t->map = NULL;
}

/*
 * Whether the page of the reader has more than the slot. The kernel takes it
 * back when all of it was shown, and shows another one; so the one before is
 * complete when another one comes.
 */
static int take_mapped(struct pdet_tap *t)
{
	const uint32_t size = t->spool.page;
	const unsigned char *page;
	unsigned char *slot;
	uint32_t n;
	int r;

	if (ioctl(t->fd, GET_READER) < 0)
		return -errno;
	if (t->map->reader.id >= t->map->nr_subbufs)
		return -EIO;
	page = t->pages + (size_t)size * t->map->reader.id;
	if (t->pending && t->reader != t->map->reader.id) {
		t->pending = false;
		r = pdet_spool_keep(&t->spool);
		if (r < 0)
			return r;
	}
	slot = pdet_spool_slot(&t->spool);
	if (!has_events(page) ||
	    (t->pending && commit_of(slot) == commit_of(page)))
		return 0;
	t->pending = true;
	t->reader = t->map->reader.id;
	/* The writer may add to it: the length comes first. */
	memcpy(slot, page, HEAD);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	n = used(slot, size);
	memcpy(slot + HEAD, page + HEAD, n - HEAD);
	memset(slot + n, 0, size - n);
	return 1;
}

/* --- without one --- */

static int take_read(struct pdet_tap *t)
{
	unsigned char *slot = pdet_spool_slot(&t->spool);
	const ssize_t n = read(t->fd, slot, t->spool.page);
	int r;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n || !has_events(slot))
		return 0;
	if ((size_t)n != t->spool.page)
		return -EIO;
	r = pdet_spool_keep(&t->spool);
	return r < 0 ? r : 1;
}

/* --- both --- */

/*
 * It is empty. If it was nearly full since it was empty before, some events may
 * have been lost: how large would it have had to be?
 */
static void look(struct pdet_tap *t)
{
	struct pdet_tracefs_stats stats;
	char name[32];
	uint64_t lost;

	if (t->taken < t->buffer / 2) {
		t->taken = 0;
		return;
	}
	snprintf(name, sizeof(name), "cpu%u", t->cpu);
	if (pdet_tracefs_stats(t->dir, name, &stats)) {
		lost = stats.lost - t->lost;
		t->lost = stats.lost;
		/* An event of allocation has 40 to 80 bytes. */
		t->most = PDET_MAX(t->most, t->taken + lost * 80);
	}
	t->taken = 0;
}

int pdet_tap_take(struct pdet_tap *t, int most)
{
	int n, r = 1;

	for (n = 0; n < most; n++) {
		r = t->map ? take_mapped(t) : take_read(t);
		if (r <= 0)
			break;
	}
	t->taken += (uint64_t)n * t->spool.page;
	if (r == 0)
		look(t);
	return r < 0 ? r : n;
}

int pdet_tap_end(struct pdet_tap *t)
{
	int r = t->pending ? pdet_spool_keep(&t->spool) : 0;

	t->pending = false;
	return r < 0 ? r : pdet_spool_flush(&t->spool);
}

int pdet_tap_open(struct pdet_tap *t, int dir, uint32_t cpu, const char *folder,
		  uint32_t page, uint64_t buffer)
{
	char name[64];
	int r;

	*t = (struct pdet_tap){ .cpu = cpu, .fd = -1, .dir = dir,
				.buffer = buffer, .spool.fd = -1 };
	snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	t->fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0)
		return -errno;
	r = pdet_spool_open(&t->spool, folder, page);
	if (r < 0)
		return r;
	/* Kernels before 6.10 cannot. */
	map(t);
	return 0;
}

void pdet_tap_leave(struct pdet_tap *t)
{
	unmap(t);
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
