/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes compressed dumps. Their blocks are large and mostly empty, so the
 * input is only their contents. The first byte is the number of blocks of 4096
 * bytes; its bit 7 means flattened. Then come pieces: 3 bytes for the place,
 * one for the length, and that many bytes. In a flattened file a piece is a
 * chunk.
 */
#include <endian.h>

#include "dump.h"

static void put_chunk(int fd, uint64_t *at, const uint8_t *data, size_t n,
		      uint64_t offset)
{
	uint64_t head[2] = { htobe64(offset), htobe64(n) };

	fuzz_put(fd, head, sizeof(head), *at);
	fuzz_put(fd, data, n, *at + sizeof(head));
	*at += sizeof(head) + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = (uint8_t)fuzz_number(&data, &size, 1);
	uint64_t end = (uint64_t)(how & 0x7f) * 4096, at = 4096;
	static const uint8_t nothing[4096];
	bool flattened = how & 0x80;
	uint64_t all_ones[2] = { UINT64_MAX, UINT64_MAX };
	int fd = fuzz_file();

	if (flattened) {
		fuzz_put(fd, "makedumpfile\0\0\0\0\0\0\0\0\0\0\0\1", 24, 0);
		for (; end; end -= 4096)
			put_chunk(fd, &at, nothing, 4096, end - 4096);
	} else if (ftruncate(fd, (off_t)end) < 0) {
		abort();
	}
	while (size > 4) {
		uint64_t offset = fuzz_number(&data, &size, 3);
		size_t n = (size_t)fuzz_number(&data, &size, 1);

		n = n > size ? size : n;
		if (flattened)
			put_chunk(fd, &at, data, n, offset);
		else
			fuzz_put(fd, data, n, offset);
		data += n;
		size -= n;
	}
	/* If nothing is left over, the stream has its end or lacks it. */
	if (flattened && !size)
		fuzz_put(fd, all_ones, sizeof(all_ones), at);
	fuzz_dump(fd);
	return 0;
}
