/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Shared by fuzzers of dumps: opens and reads a file of any bytes, and checks
 * every promise of memory.h.
 */
#ifndef TESTS_FUZZ_DUMP_H
#define TESTS_FUZZ_DUMP_H

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/codec/codec.h"
#include "fuzz.h"
#include "memory/note.h"
#include "memory/open.h"

/* One file for all inputs, emptied each time. */
static inline int fuzz_file(void)
{
	/* Loaded once, not for each input. */
	static struct pdet_codec *kept[PDET_N_CODECS];
	static int fd = -1;
	unsigned i;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		for (i = 0; i < PDET_N_CODECS; i++)
			pdet_codec_open((enum pdet_codec_id)i, NULL, &kept[i]);
	}
	if (fd < 0 || ftruncate(fd, 0) < 0)
		abort();
	return fd;
}

static inline void fuzz_put(int fd, const void *data, size_t n,
			    uint64_t offset)
{
	if (pwrite(fd, data, n, (off_t)offset) != (ssize_t)n)
		abort();
}

static inline void fuzz_result(int r)
{
	MUST(r == 0 || r == -ENODATA || r == -ENOENT || r == -EIO ||
	     r == -EBADMSG || r == -ENOSYS || r == -ENOMEM);
}

/* Reads with two readers, one of which drops its cache. */
static inline void fuzz_read(struct pdet_memory *m,
			     struct pdet_reader *const *readers, uint64_t addr,
			     size_t n)
{
	char *a = malloc(n), *b = malloc(n);
	int result, again;

	if (!a || !b)
		abort();
	result = m->ops->read_phys(readers[0], addr, a, n);
	again = m->ops->read_phys(readers[1], addr, b, n);
	fuzz_result(result);
	MUST(result == again);
	MUST(result < 0 || !memcmp(a, b, n));
	free(a);
	free(b);
}

static inline void fuzz_opened(struct pdet_memory *m)
{
	struct pdet_notes notes = { m->notes, m->notes_len };
	struct pdet_note note;
	struct pdet_reader *r[2];
	size_t i;

	MUST(m->machine && *m->format);
	MUST(strlen(m->format) < sizeof(m->format));
	MUST(strlen(m->release) < sizeof(m->release));
	MUST(!m->vmcoreinfo || strlen(m->vmcoreinfo) == m->vmcoreinfo_len);
	while (pdet_notes_next(&notes, &note))
		MUST(note.desc + note.desc_len <= m->notes + m->notes_len);
	if (m->ops->reader_new(m, 65536, &r[0]) < 0 ||
	    m->ops->reader_new(m, 0, &r[1]) < 0)
		abort();
	for (i = 0; i < m->ranges.n; i++) {
		const struct pdet_range *range = &m->ranges.data[i];

		MUST(range->first <= range->last);
		MUST(!i || range->first > m->ranges.data[i - 1].last + 1);
		if (i >= 8)
			continue;
		fuzz_read(m, r, range->first, 16);
		fuzz_read(m, r, range->first + 100, 5000);
		fuzz_read(m, r, range->last - 7, 8);
		fuzz_read(m, r, range->last - 3, 8);
		fuzz_read(m, r, range->first, 70000);
	}
	fuzz_read(m, r, 0, 4096);
	fuzz_read(m, r, UINT64_MAX - 10, 20);
	m->ops->reader_free(r[0]);
	m->ops->reader_free(r[1]);
}

static inline void fuzz_dump(int fd)
{
	struct pdet_env env = { .root = NULL };
	struct pdet_memory *m = NULL;
	int r = pdet_memory_open(&env, &fd, 1, NULL, 0, &m);

	if (r < 0) {
		MUST(!m && *env.error);
		return;
	}
	fuzz_opened(m);
	pdet_memory_close(m);
}

#endif
