/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes several pages at once. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "record/spool.h"

/* Bytes of one write, and of memory for each processor. */
#define STAGE 65536u

static uint32_t pages_of(const struct pdet_spool *s)
{
	return PDET_MAX(STAGE / s->page, 1u);
}

int pdet_spool_open(struct pdet_spool *s, const char *folder, uint32_t page)
{
	*s = (struct pdet_spool){ .page = page };
	s->fd = pdet_open_nameless(folder);
	if (s->fd < 0)
		return s->fd;
	s->pages = malloc((size_t)pages_of(s) * page);
	return s->pages ? 0 : -ENOMEM;
}

void pdet_spool_close(struct pdet_spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->pages);
	*s = (struct pdet_spool){ .fd = -1 };
}

unsigned char *pdet_spool_slot(const struct pdet_spool *s)
{
	return s->pages + (size_t)s->staged * s->page;
}

int pdet_spool_keep(struct pdet_spool *s)
{
	return ++s->staged < pages_of(s) ? 0 : pdet_spool_flush(s);
}

int pdet_spool_flush(struct pdet_spool *s)
{
	const size_t size = (size_t)s->staged * s->page;
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = write(s->fd, s->pages + done, size - done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += (size_t)PDET_MAX(n, 0);
	}
	__atomic_add_fetch(&s->bytes, size, __ATOMIC_RELAXED);
	s->staged = 0;
	return 0;
}

uint64_t pdet_spool_bytes(const struct pdet_spool *s)
{
	return __atomic_load_n(&s->bytes, __ATOMIC_RELAXED);
}
