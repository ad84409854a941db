/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests decompression: the output equals the input and has exactly the wanted
 * size. Damage is found, or at least the decoder stays within bounds.
 */
#include <errno.h>
#include <pthread.h>

#include "base/codec/codec.h"
#include "dump_write.h"
#include "../../unit.h"

static const struct {
	enum pdet_codec_id id;
	enum dump_codec writer;
	bool checked;	/* the format has a checksum */
} codecs[PDET_N_CODECS] = {
	{ PDET_CODEC_ZLIB, DUMP_ZLIB, true },
	{ PDET_CODEC_LZO, DUMP_LZO, false },
	{ PDET_CODEC_SNAPPY, DUMP_SNAPPY, false },
	{ PDET_CODEC_ZSTD, DUMP_ZSTD, false },
};

static const size_t sizes[] = { 1, 7, 100, 4096, 16384, 65536 };

struct sample {
	char *data;
	size_t n;
	char *packed;	/* a buffer of exactly its size */
	size_t packed_n;
};

/* Kind 0: zeroes; 1: lines; 2: pointers. */
static struct sample sample(enum dump_codec codec, size_t n, unsigned kind)
{
	struct sample s = { .n = n };
	uint64_t state = n + kind + 1, value;
	char *room = malloc(2 * n + 200);
	size_t at, len;

	s.data = calloc(1, n + 32);
	ck_assert(room && s.data);
	for (at = 0; kind && at < n; at += len) {
		value = unit_random(&state);
		if (kind == 1)
			len = (size_t)sprintf(s.data + at, "line %u\n",
					      (unsigned)(value % 100));
		else
			len = (size_t)sprintf(s.data + at, "%c%c%c%c\xff\xff",
					      (int)(value & 0x7f) | 1, 4,
					      (int)(value >> 8 & 15) | 1, 8);
	}
	s.packed_n = dump_compress(codec, s.data, n, room, 2 * n + 200);
	ck_assert_uint_gt(s.packed_n, 0);
	s.packed = unit_exact(room, s.packed_n);
	free(room);
	return s;
}

static void sample_free(struct sample *s)
{
	free(s->data);
	free(s->packed);
}

static struct pdet_codec *get(int i)
{
	struct pdet_env env = { .root = NULL };
	struct pdet_codec *c = NULL;
	int r = pdet_codec_open(codecs[i].id, &env, &c);

	if (!dump_codec_built(codecs[i].writer)) {
		ck_assert_int_eq(r, -ENOSYS);
		ck_assert_ptr_nonnull(strstr(env.error, "not built in"));
		ck_assert_ptr_nonnull(strstr(env.advice, "--with-"));
		unit_skip("%s is not built in",
			  pdet_codec_name(codecs[i].id));
	}
	ck_assert_msg(r == 0, "%s", env.error);
	ck_assert_str_eq(env.error, "");
	return c;
}

START_TEST(what_went_in_comes_out)
{
	struct pdet_codec *c = get(_i);
	unsigned kind;
	size_t i;

	for (i = 0; i < PDET_COUNT(sizes) * 3; i++) {
		struct sample s;
		char *out;

		kind = (unsigned)(i % 3);
		s = sample(codecs[_i].writer, sizes[i / 3], kind);
		out = malloc(s.n);
		memset(out, 0x5a, s.n);
		ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n, out,
						s.n), 0);
		ck_assert_mem_eq(out, s.data, s.n);
		free(out);
		sample_free(&s);
	}
	pdet_codec_close(c);
}
END_TEST

START_TEST(another_size_is_damage)
{
	struct pdet_codec *c = get(_i);
	struct sample s;
	char *out;

	s = sample(codecs[_i].writer, 4096, 1);
	out = malloc(4095);
	ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n, out, 4095),
			 -EBADMSG);
	free(out);
	out = malloc(4097);
	ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n, out, 4097),
			 -EBADMSG);
	/* The next one is right again. */
	ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n, out, 4096),
			 0);
	ck_assert_mem_eq(out, s.data, 4096);
	free(out);
	sample_free(&s);
	pdet_codec_close(c);
}
END_TEST

START_TEST(what_is_cut_is_damage)
{
	struct pdet_codec *c = get(_i);
	struct sample s;
	char *out = malloc(4096), *cut;
	size_t n;

	s = sample(codecs[_i].writer, 4096, 2);
	for (n = 0; n < s.packed_n; n++) {
		cut = unit_exact(s.packed, n);
		ck_assert_int_eq(pdet_codec_run(c, cut, n, out, 4096),
				 -EBADMSG);
		free(cut);
	}
	free(out);
	sample_free(&s);
	pdet_codec_close(c);
}
END_TEST

START_TEST(damage_stays_within_bounds)
{
	struct pdet_codec *c = get(_i);
	struct sample s;
	char *out = malloc(4096);
	size_t n, found = 0;
	int r;

	s = sample(codecs[_i].writer, 4096, 1);
	for (n = 0; n < s.packed_n * 8; n++) {
		s.packed[n / 8] ^= (char)(1 << n % 8);
		r = pdet_codec_run(c, s.packed, s.packed_n, out, 4096);
		ck_assert(r == 0 || r == -EBADMSG);
		found += r < 0;
		/* A flag of the header may have another valid value. */
		if (r == 0 && codecs[_i].checked)
			ck_assert_mem_eq(out, s.data, 4096);
		s.packed[n / 8] ^= (char)(1 << n % 8);
	}
	ck_assert_uint_gt(found, 0);
	free(out);
	sample_free(&s);
	pdet_codec_close(c);
}
END_TEST

START_TEST(noise_is_damage)
{
	struct pdet_codec *c = get(_i);
	uint64_t state = 99;
	unsigned i, right = 0;
	char *out = malloc(4096), in[256];
	size_t k;

	for (i = 0; i < 20000; i++) {
		for (k = 0; k < sizeof(in); k++)
			in[k] = (char)unit_random(&state);
		right += pdet_codec_run(c, in, sizeof(in), out, 4096) == 0;
	}
	ck_assert_uint_eq(right, 0);
	free(out);
	pdet_codec_close(c);
}
END_TEST

struct worker {
	pthread_t thread;
	const struct sample *sample;
	enum pdet_codec_id id;
	unsigned wrong;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pdet_codec *c;
	char out[4096];
	unsigned i;

	for (i = 0; i < 200; i++) {
		if (pdet_codec_open(w->id, NULL, &c) < 0) {
			w->wrong++;
			continue;
		}
		memset(out, 0, sizeof(out));
		w->wrong += pdet_codec_run(c, w->sample->packed,
					   w->sample->packed_n, out,
					   sizeof(out)) < 0 ||
			memcmp(out, w->sample->data, sizeof(out));
		pdet_codec_close(c);
	}
	return NULL;
}

START_TEST(threads_have_their_own)
{
	struct pdet_codec *c = get(_i);
	struct worker workers[4];
	struct sample s;
	unsigned i;

	pdet_codec_close(c);
	s = sample(codecs[_i].writer, 4096, 1);
	for (i = 0; i < PDET_COUNT(workers); i++) {
		workers[i] = (struct worker){
			.sample = &s, .id = codecs[_i].id
		};
		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL,
						work, &workers[i]), 0);
	}
	for (i = 0; i < PDET_COUNT(workers); i++) {
		pthread_join(workers[i].thread, NULL);
		ck_assert_uint_eq(workers[i].wrong, 0);
	}
	sample_free(&s);
}
END_TEST

/* Without libdeflate, zlib does the same. */
START_TEST(zlib_alone_does_it)
{
	struct sample s = sample(DUMP_ZLIB, 4096, 1);
	struct pdet_codec *c = calloc(1, pdet_codec_zlib.size);
	char out[4096];

	c->ops = &pdet_codec_zlib;
	ck_assert_ptr_null(c->ops->open(c));
	ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n, out, 4096),
			 0);
	ck_assert_mem_eq(out, s.data, 4096);
	ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n - 1, out,
					4096), -EBADMSG);
	ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n, out, 4095),
			 -EBADMSG);
	ck_assert_int_eq(pdet_codec_run(c, s.packed, s.packed_n, out, 4096),
			 0);
	pdet_codec_close(c);
	sample_free(&s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("codec");

	unit_loop(suite, what_went_in_comes_out, PDET_N_CODECS);
	unit_loop(suite, another_size_is_damage, PDET_N_CODECS);
	unit_loop(suite, what_is_cut_is_damage, PDET_N_CODECS);
	unit_loop(suite, damage_stays_within_bounds, PDET_N_CODECS);
	unit_loop(suite, noise_is_damage, PDET_N_CODECS);
	unit_loop(suite, threads_have_their_own, PDET_N_CODECS);
	unit_test(suite, zlib_alone_does_it);
	return unit_main(suite);
}
