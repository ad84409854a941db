/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests that what a thread reads ahead is what the caller would have read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/codec/packer.h"
#include "trace/ahead.h"
#include "../unit.h"

#define PAGE 4096u
#define INPUTS 3u
#define CHUNKS 40u

static struct pdet_env env;
static FILE *file;
static uint64_t begins[INPUTS + 1];
static enum pdet_codec_id codec;

static unsigned pages_of(unsigned input, unsigned chunk)
{
	return 1 + (input * 7 + chunk * 3) % 9;
}

static void fill(unsigned char *at, unsigned input, unsigned chunk, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		at[i] = (unsigned char)(i * (chunk + 1) / 64 + input);
}

static void put(const void *data, size_t n)
{
	ck_assert_uint_eq(fwrite(data, 1, n, file), n);
}

/* All inputs in a file; the size of the chunk @bad is wrong. */
static void write_file(unsigned bad)
{
	static unsigned char plain[9 * PAGE], packed[sizeof(plain) + 1024];
	const uint32_t chunks = CHUNKS;
	struct pdet_packer *p;
	unsigned input, chunk;

	if (pdet_packer_open(&env, &p) < 0)
		unit_skip("no library packs");
	codec = pdet_packer_id(p);
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	for (input = 0; input < INPUTS; input++) {
		begins[input] = (uint64_t)ftell(file);
		put(&chunks, sizeof(chunks));
		for (chunk = 0; chunk < CHUNKS; chunk++) {
			const size_t n = pages_of(input, chunk) * PAGE;
			uint32_t sizes[2] = { 0, (uint32_t)n };

			fill(plain, input, chunk, n);
			sizes[0] = (uint32_t)pdet_packer_run(p, plain, n,
						packed, sizeof(packed));
			ck_assert_uint_ne(sizes[0], 0);
			sizes[1] += chunk == bad ? PAGE : 0;
			put(sizes, sizeof(sizes));
			put(packed, sizes[0]);
		}
	}
	begins[INPUTS] = (uint64_t)ftell(file);
	ck_assert_int_eq(fflush(file), 0);
	pdet_packer_close(p);
}

static void begin(struct pdet_ahead_input *i, unsigned input)
{
	memset(i, 0, sizeof(*i));
	i->chunks.fd = fileno(file);
	i->chunks.offset = begins[input];
	i->chunks.end = begins[input + 1];
	i->chunks.page = PAGE;
	i->chunks.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	ck_assert_int_eq(pdet_codec_open(codec, &env, &i->chunks.codec), 0);
}

/* All inputs in turns, as a merge reads them. Returns the chunks. */
static unsigned read_all(struct pdet_ahead *a, bool *damaged)
{
	static unsigned char want[9 * PAGE];
	struct pdet_ahead_input in[INPUTS];
	unsigned n[INPUTS] = { 0 }, input, left = INPUTS, all = 0;
	uint64_t offset;
	bool is_damaged;
	int r;

	*damaged = false;
	for (input = 0; input < INPUTS; input++)
		begin(&in[input], input);
	while (left) {
		for (input = 0; input < INPUTS; input++) {
			if (n[input] == UINT32_MAX)
				continue;
			r = pdet_ahead_next(a, &in[input], &offset,
					    &is_damaged);
			ck_assert_int_ge(r, 0);
			*damaged |= is_damaged;
			if (r == 0) {
				/* It stays at the end. */
				ck_assert_int_eq(pdet_ahead_next(a, &in[input],
						&offset, &is_damaged), 0);
				ck_assert_uint_eq(offset, begins[input + 1]);
				n[input] = UINT32_MAX;
				left--;
				continue;
			}
			fill(want, input, n[input],
			     pages_of(input, n[input]) * PAGE);
			ck_assert_uint_eq(in[input].chunk.n,
					  pages_of(input, n[input]) * PAGE);
			ck_assert_mem_eq(in[input].chunk.data, want,
					 in[input].chunk.n);
			n[input]++;
			all++;
		}
	}
	pdet_ahead_end(a);
	for (input = 0; input < INPUTS; input++)
		pdet_ahead_free(&in[input]);
	return all;
}

START_TEST(as_the_caller_reads)
{
	bool damaged;

	write_file(CHUNKS);
	ck_assert_uint_eq(read_all(NULL, &damaged), INPUTS * CHUNKS);
	ck_assert(!damaged);
	ck_assert_uint_eq(read_all(pdet_ahead_begin(), &damaged),
			  INPUTS * CHUNKS);
	ck_assert(!damaged);
	fclose(file);
}
END_TEST

START_TEST(up_to_the_damage)
{
	bool damaged;

	write_file(CHUNKS / 2);
	ck_assert_uint_eq(read_all(NULL, &damaged), INPUTS * CHUNKS / 2);
	ck_assert(damaged);
	ck_assert_uint_eq(read_all(pdet_ahead_begin(), &damaged),
			  INPUTS * CHUNKS / 2);
	ck_assert(damaged);
	fclose(file);
}
END_TEST

/* The caller stops while the thread reads. */
START_TEST(stopped)
{
	struct pdet_ahead_input in[INPUTS];
	struct pdet_ahead *a;
	unsigned round, input, n;
	uint64_t offset;
	bool damaged;

	write_file(CHUNKS);
	for (round = 0; round < 100; round++) {
		a = pdet_ahead_begin();
		for (input = 0; input < INPUTS; input++)
			begin(&in[input], input);
		for (n = 0; n < round % 7; n++)
			ck_assert_int_eq(pdet_ahead_next(a, &in[n % INPUTS],
							 &offset, &damaged), 1);
		pdet_ahead_end(a);
		for (input = 0; input < INPUTS; input++)
			pdet_ahead_free(&in[input]);
	}
	fclose(file);
}
END_TEST

START_TEST(a_read_that_fails)
{
	struct pdet_ahead *a;
	struct pdet_ahead_input in;
	uint64_t offset;
	bool damaged;

	write_file(CHUNKS);
	begin(&in, 0);
	in.chunks.fd = -1;
	a = pdet_ahead_begin();
	ck_assert_int_eq(pdet_ahead_next(a, &in, &offset, &damaged), -EBADF);
	pdet_ahead_end(a);
	pdet_ahead_free(&in);
	fclose(file);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ahead");

	unit_test(s, as_the_caller_reads);
	unit_test(s, up_to_the_damage);
	unit_test(s, stopped);
	unit_test(s, a_read_that_fails);
	return unit_main(s);
}
