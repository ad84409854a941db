/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Shared by all fuzzers. A fuzzer is one file with LLVMFuzzerTestOneInput. It
 * is linked with libFuzzer, or with driver.c, which replays a corpus.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks a promise of the code under test. */
#define MUST(promise) \
	((promise) ? (void)0 : fuzz_broken(#promise, __FILE__, __LINE__))

static inline void fuzz_broken(const char *promise, const char *file, int line)
{
	fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, promise);
	abort();
}

/* Takes the next @n bytes of the input as a number, 0 past its end. */
static inline uint64_t fuzz_number(const uint8_t **data, size_t *size,
				   size_t n)
{
	uint64_t value = 0;

	if (n > *size)
		n = *size;
	memcpy(&value, *data, n);
	*data += n;
	*size -= n;
	return value;
}

/* Provides the input as a file. */
struct fuzz_file {
	const void *data;
	size_t size;
};

static inline ssize_t fuzz_read_at(void *arg, void *buf, size_t n,
				   uint64_t offset)
{
	const struct fuzz_file *in = arg;

	if (offset >= in->size)
		return 0;
	if (n > in->size - offset)
		n = in->size - offset;
	memcpy(buf, (const char *)in->data + offset, n);
	return (ssize_t)n;
}

#endif
