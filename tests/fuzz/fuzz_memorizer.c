/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes what is read from Memorizer's files: the value of a switch, and texts
 * that are merged. The first byte tells which readings are cleared, the second
 * one how long the pieces are. A NUL byte ends a reading.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "memorizer/files.h"
#include "memorizer/merge.h"
#include "memorizer/shortage.h"

static void read_value(const char *text, size_t n)
{
	struct pdet_memorizer_value v;

	if (pdet_memorizer_parse(text, n, &v))
		MUST(v.pid >= -1 && (!v.is_bool || v.value <= 1));
	pdet_is_short((struct pdet_scan){ text, text + n });
}

static void read_one(struct pdet_merge *m, const char *text, size_t n,
		     size_t piece)
{
	size_t some;

	for (; n; text += some, n -= some) {
		some = piece < n ? piece : n;
		MUST(pdet_merge_feed(m, text, some) == 0);
	}
}

/* What is written is whole lines, and no more than was read. */
static void check(struct pdet_merge *m, size_t n)
{
	const int fd = memfd_create("kept", MFD_CLOEXEC);
	char last;

	MUST(fd >= 0 && pdet_merge_write(m, fd) == 0);
	MUST(lseek(fd, 0, SEEK_END) == (off_t)m->bytes && m->bytes <= n);
	MUST(!m->bytes || (pread(fd, &last, 1, (off_t)m->bytes - 1) == 1 &&
			   last == '\n'));
	MUST(m->n_live <= m->objects);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data + 2, *nul;
	struct pdet_merge m;
	size_t left, n;
	unsigned i;

	if (size < 2)
		return 0;
	left = size - 2;
	read_value(at, left);
	MUST(pdet_merge_open(&m, "/tmp") == 0);
	for (i = 0; left; i++) {
		nul = memchr(at, 0, left);
		n = nul ? (size_t)(nul - at) : left;
		pdet_merge_begin(&m, !nul);
		read_one(&m, at, n, (size_t)data[1] + 1);
		pdet_merge_end(&m, data[0] >> i % 8 & 1);
		n += nul != NULL;
		at += n;
		left -= n;
	}
	check(&m, size);
	pdet_merge_close(&m);
	return 0;
}
