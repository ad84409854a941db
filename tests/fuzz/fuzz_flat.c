/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes flattened dumps. The input is everything after the first 4096 bytes,
 * including chunk headers. The result is compared with an array into which
 * every chunk was copied.
 */
#include <endian.h>

#include "dump.h"
#include "memory/flat_scan.h"

/* Length of the dump. The program only reads data behind it. */
#define SPAN (64 << 10)

struct model {
	uint8_t bytes[SPAN];
	bool known[SPAN];
	uint64_t size;
	int lost;
};

static void put(struct model *m, uint64_t offset, const uint8_t *data,
		uint64_t n)
{
	if (n && offset + n > m->size)
		m->size = offset + n;
	for (; n && offset < SPAN; n--, offset++) {
		m->bytes[offset] = *data++;
		m->known[offset] = true;
	}
}

static void make_model(struct model *m, const uint8_t *data, size_t size)
{
	uint64_t head[2], offset, n, left;

	memset(m, 0, sizeof(*m));
	m->lost = -EIO;
	while (size >= sizeof(head)) {
		memcpy(head, data, sizeof(head));
		data += sizeof(head);
		size -= sizeof(head);
		offset = be64toh(head[0]);
		n = be64toh(head[1]);
		if (offset == UINT64_MAX && n == UINT64_MAX)
			m->lost = 0;
		else if (offset > INT64_MAX || n > INT64_MAX - offset)
			m->lost = -EBADMSG;
		if (m->lost != -EIO)
			return;
		left = n < size ? n : size;
		put(m, offset, data, left);
		if (left < n)
			return;
		data += n;
		size -= n;
	}
}

/* The expected result of reading @n bytes at @offset. */
static int expected(const struct model *m, uint64_t offset, uint64_t n)
{
	if (offset > m->size || n > m->size - offset)
		return m->lost ? m->lost : -EIO;
	for (; n; n--, offset++)
		if (!m->known[offset])
			return m->lost;
	return 0;
}

static void compare(const struct model *m, const struct pdet_flat *flat,
		    struct pdet_flat_cursor *c, uint64_t offset, size_t n)
{
	char *buf = malloc(n);
	int r;

	if (!buf)
		abort();
	r = pdet_flat_read(flat, c, buf, n, offset);
	if (offset + n <= SPAN) {
		MUST(r == expected(m, offset, n));
		MUST(r < 0 || !memcmp(buf, m->bytes + offset, n));
	} else {
		fuzz_result(r);
	}
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[PDET_FLAT_HEAD] = "makedumpfile";
	struct pdet_flat_cursor c = PDET_FLAT_CURSOR;
	struct pdet_env env = { .root = NULL };
	struct model *m = malloc(sizeof(*m));
	struct pdet_flat flat;
	int fd = fuzz_file();
	uint64_t at;
	char peek[64];

	if (!m)
		abort();
	make_model(m, data, size);
	fuzz_put(fd, head, sizeof(head), 0);
	fuzz_put(fd, data, size, sizeof(head));
	MUST(pdet_flat_peek(fd, peek, sizeof(peek)) <= sizeof(peek));
	MUST(pdet_flat_open(&flat, &env, fd, sizeof(head) + size) == 0);
	MUST(flat.size == m->size && flat.lost == m->lost);
	for (at = 0; at < m->size && at < SPAN; at += 1000)
		compare(m, &flat, &c, at, 1000);
	for (at = 0; at < m->size && at < SPAN; at += 4096)
		compare(m, &flat, &c, SPAN - 4096 - at, 1 + at / 16);
	for (at = 0; at < 64; at++)
		compare(m, &flat, &c, at, 1);
	if (m->size > SPAN)
		compare(m, &flat, &c, m->size - 1, 1);
	compare(m, &flat, &c, UINT64_MAX - 1000, 10);
	pdet_flat_close(&flat);
	free(m);
	return 0;
}
