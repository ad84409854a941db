/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests snapshots: the round trip gives every cell; a file that is damaged or
 * cut anywhere is rejected; additions of later versions are skipped.
 */
#include <errno.h>
#include <unistd.h>

#include "base/codec/packer.h"
#include "base/hash.h"
#include "base/vec.h"
#include "emit/emit.h"
#include "snapshot/format.h"
#include "snapshot/numbers.h"
#include "snapshot/read.h"
#include "snapshot/write.h"
#include "../unit.h"

#define PROCFS PAGEDET_SOURCE_PROCFS
#define SNAPSHOT PAGEDET_SOURCE_SNAPSHOT
#define F(name) PAGEDET_FIELD_##name

static struct pdet_env env;

/* --- files in memory --- */

static void put(void *arg, const void *data, size_t n)
{
	ck_assert_ptr_nonnull(pdet_snapshot_put(arg, data, n));
}

static ssize_t read_at(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct pdet_snapshot_bytes *in = arg;

	if (offset >= in->n)
		return 0;
	n = PDET_MIN(n, in->n - offset);
	memcpy(buf, in->data + offset, n);
	return (ssize_t)n;
}

static int open_file(struct pdet_snapshot_bytes *bytes,
		     struct pdet_snapshot **ret)
{
	const struct pdet_snapshot_file file = {
		read_at, bytes, bytes->n, "FILE"
	};

	pdet_clear(&env);
	return pdet_snapshot_open(&env, &file, ret);
}

static void fill_about(struct pdet_snapshot_about *a,
		       const struct pdet_fields *fields)
{
	static struct pagedet_item item = { 1, 2, 3, 4 };
	static char path[] = "/a/path", where[] = "kind=anon";
	unsigned f;

	memset(a, 0, sizeof(*a));
	strcpy(a->host, "some-host");
	strcpy(a->boot_id, "0f8fad5b-d9cb-469f-a165-70867728950e");
	strcpy(a->release, "6.12.1");
	strcpy(a->arch, "x86_64");
	a->page_size = 4096;
	a->max_pfn = 77;
	a->nodes = 2;
	a->live = true;
	a->first_ns = 1000;
	a->hash_key = 0x1122334455667788;
	a->hash_zero = 0x99aabbccddeeff00;
	a->target = PAGEDET_TARGET_SCAN;
	a->options = PAGEDET_Q_CHEAP;
	a->n_items = 5000;
	a->items = &item;
	a->n_kept = 1;
	a->path = path;
	a->where = where;
	a->fields = *fields;
	pdet_fields_for(f, fields) {
		a->field[f].why = PAGEDET_HAVE;
		a->field[f].sources = PAGEDET_SOURCE_BIT(PROCFS);
	}
}

static const struct pagedet_coverage whole = {
	.size = sizeof(whole), .wanted = 1, .visited = 2, .rows = 3,
	.lost = { [PAGEDET_IO] = 4, [31] = 5 }, .answered = { 6, 7 },
	.complete = 1,
};

static struct pdet_snapshot_columns columns_of(const struct pdet_batch *b)
{
	struct pdet_snapshot_columns c = { .n = b->n, .strings = &b->strings };
	unsigned f;

	pdet_fields_for(f, &b->have) {
		c.value[f] = b->value[f];
		c.cell[f] = b->cell[f];
	}
	return c;
}

/* Writes the batch @times times to a file. */
static struct pdet_snapshot_bytes write_file(const struct pdet_batch *b,
					     unsigned times)
{
	const struct pdet_snapshot_columns c = columns_of(b);
	struct pdet_snapshot_bytes bytes = { 0 };
	const struct pdet_snapshot_sink sink = { put, &bytes };
	struct pdet_snapshot_about about;
	struct pdet_snapshot_writer *w;

	fill_about(&about, &b->have);
	ck_assert_int_eq(pdet_snapshot_write(&env, &about, &sink, &w), 0);
	while (times--)
		ck_assert_int_eq(pdet_snapshot_add(w, &c), 0);
	ck_assert_int_eq(pdet_snapshot_finish(w, &whole, 2000), 0);
	pdet_snapshot_write_free(w);
	return bytes;
}

/* --- rows --- */

static bool is_text(unsigned f)
{
	const unsigned type = pdet_field_info(f)->type;

	return type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST;
}

static void put_random(struct pdet_batch *b, uint32_t row, unsigned f,
		       uint64_t *state)
{
	const uint64_t r = unit_random(state);
	char text[32];

	switch (r % 11) {
	case 0:
		pdet_put_none(b, row, f, PROCFS);
		return;
	case 1:
		pdet_put_lost(b, row, f, PAGEDET_UNSUPPORTED + r / 11 % 15,
			      r & 1 << 10 ? PROCFS : PAGEDET_SOURCE_NOBODY);
		return;
	default:
		break;
	}
	if (is_text(f)) {
		snprintf(text, sizeof(text), "%.*s", (int)(r >> 8 & 15),
			 "abcdefghijklmnopq");
		pdet_put_text(b, row, f, text, strlen(text), PROCFS);
		return;
	}
	/* Few values, consecutive values, wide ones. */
	pdet_put(b, row, f, f % 3 == 0 ? r >> 8 & 3 : f % 3 == 1 ? row : r,
		 PROCFS);
}

static void fill_random(struct pdet_batch *b, const struct pdet_fields *fields,
			uint32_t rows, uint64_t seed)
{
	uint64_t state = seed;
	uint32_t row;
	unsigned f;

	ck_assert(pdet_batch_init(b, fields, rows, 1 << 24));
	pdet_batch_grow(b, rows);
	for (row = 0; row < rows; row++)
		pdet_fields_for(f, fields)
			put_random(b, row, f, &state);
}

/* The cell is unchanged, except for its source. */
static bool same_cell(const struct pdet_batch *a, uint32_t x,
		      const struct pdet_batch *b, uint32_t y, unsigned f)
{
	const unsigned state = pdet_batch_state(a, x, f);
	const uint64_t v = a->value[f][x], u = b->value[f][y];
	const unsigned source = a->cell[f][x] >> 8 ? SNAPSHOT : 0;

	if (b->cell[f][y] != PDET_CELL(state, source))
		return false;
	if (state != PAGEDET_HAVE)
		return u == 0;
	if (!is_text(f))
		return v == u;
	return !strcmp(pdet_strtab_get(&a->strings, v, NULL),
		       pdet_strtab_get(&b->strings, u, NULL));
}

/*
 * Compares the rows of the file with those of @b, repeated. A row that cannot
 * be read must be refused. *rows gets how many were read.
 */
static int compare(struct pdet_snapshot_bytes *bytes,
		   const struct pdet_batch *b, uint32_t step, uint64_t *rows)
{
	struct pdet_snapshot_block *block = pdet_snapshot_block_new();
	struct pdet_snapshot *s = NULL;
	const struct pdet_snapshot_places *places;
	struct pdet_batch out;
	uint32_t at, n, row;
	int r = open_file(bytes, &s);
	unsigned f;
	size_t i;

	*rows = 0;
	ck_assert(pdet_batch_init(&out, &b->have, step, 1 << 24));
	places = s ? pdet_snapshot_places(s) : NULL;
	for (i = 0; r == 0 && i < places->n; i++) {
		r = pdet_snapshot_load(s, &env, i, &b->have, block);
		for (at = 0; r == 0 && at < places->data[i].rows; at += n) {
			n = PDET_MIN(step, places->data[i].rows - at);
			pdet_batch_clear(&out, 1);
			pdet_batch_grow(&out, n);
			pdet_snapshot_get(block, at, n, &b->have, &out, 0,
					  SNAPSHOT);
			for (row = 0; row < n; row++, ++*rows)
				pdet_fields_for(f, &b->have)
					ck_assert_msg(same_cell(b, *rows % b->n,
								&out, row, f),
						      "row %llu field %u",
						      (unsigned long long)*rows,
						      f);
		}
	}
	pdet_batch_free(&out);
	pdet_snapshot_block_free(block);
	if (s)
		pdet_snapshot_close(s);
	return r;
}

START_TEST(rows_come_back)
{
	const struct pdet_fields all = pdet_fields_all();
	static const uint32_t steps[] = { 1, 7, 4096 };
	struct pdet_snapshot_bytes bytes;
	struct pdet_batch b;
	uint64_t rows;
	size_t i;

	fill_random(&b, &all, 3000, 1);
	bytes = write_file(&b, 12);
	for (i = 0; i < PDET_COUNT(steps); i++) {
		ck_assert_int_eq(compare(&bytes, &b, steps[i], &rows), 0);
		ck_assert_uint_eq(rows, 36000);
	}
	pdet_vec_free(&bytes);
	pdet_batch_free(&b);
}
END_TEST

/*
 * Rows come in two parts, split anywhere. A series may end in the first part or
 * continue in the second.
 */
START_TEST(parts_come_back)
{
	struct pdet_fields fields = { { 0, 0 } };
	struct pdet_batch b;
	uint64_t state = 3 + (uint64_t)_i, head = 10, rows;
	uint32_t row, cut, n;
	unsigned f;

	pdet_fields_add(&fields, PAGEDET_FIELD_PFN);
	pdet_fields_add(&fields, PAGEDET_FIELD_HEAD_PFN);
	pdet_fields_add(&fields, PAGEDET_FIELD_KIND);
	ck_assert(pdet_batch_init(&b, &fields, 64, 1 << 10));
	pdet_batch_grow(&b, 64);
	pdet_put_series(&b, 0, 64, PAGEDET_FIELD_PFN, 100, PROCFS);
	for (row = 0; row < 64; row++) {
		head += (row / 8 + (unsigned)_i) & 1;
		pdet_put(&b, row, PAGEDET_FIELD_HEAD_PFN, head, PROCFS);
		pdet_put(&b, row, PAGEDET_FIELD_KIND,
			 unit_random(&state) % 8 ? 1 : 2, PROCFS);
	}
	for (cut = 0; cut <= 64; cut++) {
		struct pdet_snapshot_bytes bytes = { 0 };
		const struct pdet_snapshot_sink sink = { put, &bytes };
		struct pdet_snapshot_columns c = columns_of(&b);
		struct pdet_snapshot_about what;
		struct pdet_snapshot_writer *w;

		fill_about(&what, &b.have);
		ck_assert_int_eq(pdet_snapshot_write(&env, &what, &sink, &w),
				 0);
		c.series = b.series;
		for (n = cut, row = 0; row < 64; row += n, n = 64 - cut) {
			c.n = n;
			ck_assert_int_eq(n ? pdet_snapshot_add(w, &c) : 0, 0);
			pdet_fields_for(f, &fields) {
				c.value[f] += n;
				c.cell[f] += n;
			}
		}
		ck_assert_int_eq(pdet_snapshot_finish(w, &whole, 2000), 0);
		pdet_snapshot_write_free(w);
		ck_assert_int_eq(compare(&bytes, &b, 64, &rows), 0);
		ck_assert_uint_eq(rows, 64);
		pdet_vec_free(&bytes);
	}
	pdet_batch_free(&b);
}
END_TEST

START_TEST(no_rows_come_back)
{
	struct pdet_fields fields = { { 1 << F(PFN), 0 } };
	struct pdet_snapshot_bytes bytes;
	struct pdet_batch b;
	uint64_t rows;

	fill_random(&b, &fields, 1, 1);
	bytes = write_file(&b, 0);
	ck_assert_int_eq(compare(&bytes, &b, 16, &rows), 0);
	ck_assert_uint_eq(rows, 0);
	pdet_vec_free(&bytes);
	pdet_batch_free(&b);
}
END_TEST

START_TEST(what_was_asked_comes_back)
{
	struct pdet_fields fields = { { 1 << F(PFN) | 1 << F(KIND), 0 } };
	const struct pdet_snapshot_about *a;
	const struct pdet_snapshot_end *e;
	struct pdet_snapshot_bytes bytes;
	struct pdet_snapshot_about want;
	struct pdet_snapshot *s;
	struct pdet_batch b;

	fill_random(&b, &fields, 10, 1);
	bytes = write_file(&b, 1);
	fill_about(&want, &fields);
	ck_assert_int_eq(open_file(&bytes, &s), 0);
	a = pdet_snapshot_about(s);
	ck_assert_str_eq(a->host, want.host);
	ck_assert_str_eq(a->boot_id, want.boot_id);
	ck_assert_str_eq(a->release, want.release);
	ck_assert_str_eq(a->arch, want.arch);
	ck_assert_uint_eq(a->page_size, want.page_size);
	ck_assert_uint_eq(a->max_pfn, want.max_pfn);
	ck_assert_uint_eq(a->nodes, want.nodes);
	ck_assert(a->live && !a->big_endian);
	ck_assert_uint_eq(a->first_ns, want.first_ns);
	ck_assert_uint_eq(a->hash_key, want.hash_key);
	ck_assert_uint_eq(a->hash_zero, want.hash_zero);
	ck_assert_uint_eq(a->target, want.target);
	ck_assert_uint_eq(a->options, want.options);
	ck_assert_uint_eq(a->n_items, want.n_items);
	ck_assert_uint_eq(a->n_kept, 1);
	ck_assert_mem_eq(a->items, want.items, sizeof(*a->items));
	ck_assert_str_eq(a->path, want.path);
	ck_assert_str_eq(a->where, want.where);
	ck_assert_mem_eq(&a->fields, &fields, sizeof(fields));
	ck_assert_uint_eq(a->field[F(KIND)].why, PAGEDET_HAVE);
	ck_assert_uint_eq(a->field[F(KIND)].sources,
			  PAGEDET_SOURCE_BIT(PROCFS));
	e = pdet_snapshot_end(s);
	ck_assert_uint_eq(e->rows, 10);
	ck_assert_uint_eq(e->last_ns, 2000);
	ck_assert_uint_eq(e->coverage.visited, 2);
	ck_assert_uint_eq(e->coverage.lost[PAGEDET_IO], 4);
	ck_assert_uint_eq(e->coverage.lost[31], 5);
	ck_assert_uint_eq(e->coverage.answered[1], 7);
	ck_assert_uint_eq(e->coverage.complete, 1);
	pdet_snapshot_close(s);
	pdet_vec_free(&bytes);
	pdet_batch_free(&b);
}
END_TEST

/* --- damage --- */

/* Makes a small file with everything in it. */
static struct pdet_snapshot_bytes small_file(struct pdet_batch *b)
{
	struct pdet_fields fields = { {
		1 << F(PFN) | 1 << F(KIND) | 1 << F(FLAGS), 0
	} };

	pdet_fields_add(&fields, F(MEMCG_PATH));
	pdet_fields_add(&fields, F(HEAD_PFN));
	fill_random(b, &fields, 60, 3);
	return write_file(b, 2);
}

START_TEST(every_byte_counts)
{
	static const uint8_t flips[] = { 0xff, 1, 0x80 };
	struct pdet_snapshot_bytes bytes;
	struct pdet_batch b;
	uint64_t rows;
	size_t at, i;

	bytes = small_file(&b);
	ck_assert_int_eq(compare(&bytes, &b, 50, &rows), 0);
	ck_assert_uint_eq(rows, 120);
	for (at = 0; at < bytes.n; at++)
		for (i = 0; i < PDET_COUNT(flips); i++) {
			bytes.data[at] ^= (char)flips[i];
			ck_assert_msg(compare(&bytes, &b, 50, &rows) ==
				      -EBADMSG, "byte %zu", at);
			ck_assert_str_ne(env.error, "");
			bytes.data[at] ^= (char)flips[i];
		}
	pdet_vec_free(&bytes);
	pdet_batch_free(&b);
}
END_TEST

START_TEST(every_length_counts)
{
	struct pdet_snapshot_bytes bytes, cut;
	struct pdet_batch b;
	uint64_t rows;

	bytes = small_file(&b);
	for (cut = bytes; cut.n--;) {
		ck_assert_msg(compare(&cut, &b, 50, &rows) == -EBADMSG,
			      "%zu bytes", cut.n);
		ck_assert_str_ne(env.error, "");
		ck_assert_uint_eq(rows, 0);
	}
	/* And longer ones. */
	ck_assert_ptr_nonnull(pdet_snapshot_put(&bytes, "x", 1));
	ck_assert_int_eq(compare(&bytes, &b, 50, &rows), -EBADMSG);
	pdet_vec_free(&bytes);
	pdet_batch_free(&b);
}
END_TEST

/* --- later versions --- */

/* Corrects the checksum of a changed header. */
static void sign_head(struct pdet_snapshot_bytes *b)
{
	const size_t n = PDET_SNAPSHOT_HEAD_SIZE + pdet_get32(b->data + 20);

	pdet_put64(b->data + 8, pdet_hash(b->data + 16, n - 16));
}

START_TEST(a_later_version_is_refused)
{
	struct pdet_snapshot_bytes bytes;
	struct pdet_snapshot *s;
	struct pdet_batch b;

	bytes = small_file(&b);
	pdet_put16(bytes.data + 18, PDET_SNAPSHOT_MINOR + 9);
	sign_head(&bytes);
	ck_assert_int_eq(open_file(&bytes, &s), 0);
	pdet_snapshot_close(s);
	pdet_put16(bytes.data + 16, PDET_SNAPSHOT_MAJOR + 1);
	sign_head(&bytes);
	ck_assert_int_eq(open_file(&bytes, &s), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(env.error, "version 2"));
	ck_assert_ptr_nonnull(strstr(env.advice, "later libpagedet"));
	pdet_vec_free(&bytes);
	pdet_batch_free(&b);
}
END_TEST

static void put_record(struct pdet_snapshot_bytes *b, unsigned key,
		       const void *data, size_t n)
{
	char head[8];

	pdet_put16(head, (uint16_t)key);
	pdet_put16(head + 2, 0);
	pdet_put32(head + 4, (uint32_t)n);
	ck_assert_ptr_nonnull(pdet_snapshot_put(b, head, sizeof(head)));
	ck_assert_ptr_nonnull(pdet_snapshot_put(b, data, n));
}

START_TEST(what_is_not_known_is_skipped)
{
	struct pdet_fields fields = { { 1 << F(PFN), 0 } };
	struct pdet_snapshot_bytes bytes = { 0 };
	struct pdet_snapshot_about a;
	char field[8] = { 120, 0, 1, PAGEDET_HAVE, 2, 0, 0, 0 };

	put_record(&bytes, 999, "whatever", 8);
	fill_about(&a, &fields);
	pdet_snapshot_put_about(&bytes, &a);
	/*
	 * A field of a later version, one of another type, and an unknown
	 * reason.
	 */
	put_record(&bytes, PDET_SNAPSHOT_FIELD, field, 8);
	field[0] = F(KIND);
	field[2] = PAGEDET_TYPE_STRING;
	put_record(&bytes, PDET_SNAPSHOT_FIELD, field, 8);
	field[0] = F(NODE);
	field[2] = PAGEDET_TYPE_NUMBER;
	field[3] = 99;
	put_record(&bytes, PDET_SNAPSHOT_FIELD, field, 8);
	ck_assert_int_eq(pdet_snapshot_get_about(bytes.data, bytes.n, &a), 0);
	ck_assert_str_eq(a.host, "some-host");
	pdet_fields_add(&fields, F(NODE));
	ck_assert_mem_eq(&a.fields, &fields, sizeof(fields));
	ck_assert_uint_eq(a.field[F(NODE)].why, PAGEDET_UNSUPPORTED);
	pdet_snapshot_about_free(&a);
	pdet_vec_free(&bytes);
}
END_TEST

/* Counts were saved as numbers before they were signed. */
START_TEST(counts_of_earlier_versions_are_read)
{
	static const uint8_t counts[] = { F(REFCOUNT), F(MAPCOUNT) };
	struct pdet_fields fields = { { 1 << F(PFN), 0 } };
	struct pdet_snapshot_bytes bytes = { 0 };
	struct pdet_snapshot_about a;
	char field[8] = { 0, 0, PAGEDET_TYPE_NUMBER, PAGEDET_HAVE, 2, 0, 0, 0 };
	size_t i;

	fill_about(&a, &fields);
	pdet_snapshot_put_about(&bytes, &a);
	for (i = 0; i < PDET_COUNT(counts); i++) {
		field[0] = (char)counts[i];
		put_record(&bytes, PDET_SNAPSHOT_FIELD, field, 8);
		pdet_fields_add(&fields, counts[i]);
	}
	/* A number is not signed. */
	field[0] = F(NODE);
	field[2] = PAGEDET_TYPE_SIGNED;
	put_record(&bytes, PDET_SNAPSHOT_FIELD, field, 8);
	ck_assert_int_eq(pdet_snapshot_get_about(bytes.data, bytes.n, &a), 0);
	ck_assert_mem_eq(&a.fields, &fields, sizeof(fields));
	pdet_snapshot_about_free(&a);
	pdet_vec_free(&bytes);
}
END_TEST

/* Writes a column with two runs of one row each at @p. */
static char *put_column(char *p, unsigned field, const uint64_t *cell,
			const uint64_t *value)
{
	static const uint64_t lens[2] = { 1, 1 }, strides[2] = { 0, 0 };
	char *begin = p;

	p = pdet_put16(p, (uint16_t)field);
	p = pdet_put16(p, 0);
	p = pdet_put32(p, 0);
	p = pdet_put32(p, 2);
	p = pdet_put32(p, 2);
	p = pdet_numbers_put(p, lens, 2);
	p = pdet_numbers_put(p, cell, 2);
	p = pdet_numbers_put(p, lens, 2);
	p = pdet_numbers_put(p, strides, 2);
	p = pdet_numbers_put(p, value, 2);
	pdet_put32(begin + 4, (uint32_t)(p - begin - 8));
	return p;
}

START_TEST(columns_of_later_versions_are_skipped)
{
	struct pdet_fields fields = { { 1 << F(PFN), 0 } };
	struct pdet_snapshot_block *block = pdet_snapshot_block_new();
	/* A state and a source without names. */
	const uint64_t cell[2] = { PDET_CELL(PAGEDET_HAVE, 99),
				   PDET_CELL(77, PROCFS) };
	const uint64_t value[2] = { 5, 9 };
	char raw[1024] = { 0 }, *p;
	struct pdet_batch b;
	size_t n, cut;

	p = put_column(raw + 8, 123, cell, value);
	p = put_column(p, F(PFN), cell, value);
	n = (size_t)(p - raw);
	ck_assert_int_eq(pdet_snapshot_decode(block, raw, n, 2, &fields), 0);
	ck_assert(pdet_batch_init(&b, &fields, 2, 100));
	pdet_batch_grow(&b, 2);
	pdet_snapshot_get(block, 0, 2, &fields, &b, 0, SNAPSHOT);
	ck_assert_uint_eq(b.value[F(PFN)][0], 5);
	ck_assert_uint_eq(b.cell[F(PFN)][0], PDET_CELL(PAGEDET_HAVE, 0));
	ck_assert_uint_eq(b.value[F(PFN)][1], 0);
	ck_assert_uint_eq(b.cell[F(PFN)][1],
			  PDET_CELL(PAGEDET_UNSUPPORTED, SNAPSHOT));
	/*
	 * A missing column, a repeated one, one with other rows, a truncated
	 * one.
	 */
	pdet_fields_add(&fields, F(KIND));
	ck_assert_int_eq(pdet_snapshot_decode(block, raw, n, 2, &fields),
			 -EBADMSG);
	pdet_fields_remove(&fields, F(KIND));
	ck_assert_int_eq(pdet_snapshot_decode(block, raw, n, 3, &fields),
			 -EBADMSG);
	ck_assert_int_eq(pdet_snapshot_decode(block, raw, n, 1, &fields),
			 -EBADMSG);
	for (cut = 0; cut < n; cut++)
		ck_assert_int_eq(pdet_snapshot_decode(block, raw, cut, 2,
						      &fields), -EBADMSG);
	p = put_column(p, F(PFN), cell, value);
	ck_assert_int_eq(pdet_snapshot_decode(block, raw, (size_t)(p - raw), 2,
					      &fields), -EBADMSG);
	pdet_batch_free(&b);
	pdet_snapshot_block_free(block);
}
END_TEST

/* --- frames --- */

START_TEST(frames_are_found)
{
	struct pdet_fields fields = { { 1 << F(PFN) | 1 << F(KIND), 0 } };
	struct pdet_snapshot_block *block = pdet_snapshot_block_new();
	static const uint64_t there[] = { 5, 6, 7, 100, 200, 201, 400 };
	const struct pdet_snapshot_place *place;
	struct pdet_snapshot_bytes bytes;
	struct pdet_snapshot *s;
	struct pdet_batch b;
	uint64_t pfn;
	uint32_t i;

	ck_assert(pdet_batch_init(&b, &fields, PDET_COUNT(there), 100));
	pdet_batch_grow(&b, PDET_COUNT(there));
	for (i = 0; i < b.n; i++) {
		pdet_put(&b, i, F(PFN), there[i], PROCFS);
		pdet_put(&b, i, F(KIND), i, PROCFS);
	}
	bytes = write_file(&b, 1);
	ck_assert_int_eq(open_file(&bytes, &s), 0);
	ck_assert_uint_eq(pdet_snapshot_end(s)->flags,
			  PDET_SNAPSHOT_ALL_PFN | PDET_SNAPSHOT_SORTED);
	place = &pdet_snapshot_places(s)->data[0];
	ck_assert_uint_eq(place->first, 5);
	ck_assert_uint_eq(place->last, 400);
	ck_assert_int_eq(pdet_snapshot_load(s, &env, 0, &fields, block), 0);
	for (pfn = i = 0; pfn < 500; pfn++) {
		const bool is = i < b.n && pfn == there[i];

		ck_assert_int_eq(pdet_snapshot_find(block, pfn),
				 is ? (int)i : -1);
		i += is;
	}
	pdet_snapshot_close(s);
	pdet_vec_free(&bytes);

	/* Twice: they are not in order, and one of them is invalid. */
	bytes = write_file(&b, 2);
	ck_assert_int_eq(open_file(&bytes, &s), 0);
	ck_assert_uint_eq(pdet_snapshot_end(s)->flags, PDET_SNAPSHOT_ALL_PFN);
	pdet_snapshot_close(s);
	pdet_vec_free(&bytes);
	pdet_put_none(&b, 3, F(PFN), PROCFS);
	bytes = write_file(&b, 1);
	ck_assert_int_eq(open_file(&bytes, &s), 0);
	ck_assert_uint_eq(pdet_snapshot_end(s)->flags, 0);
	pdet_snapshot_close(s);
	pdet_vec_free(&bytes);
	pdet_snapshot_block_free(block);
	pdet_batch_free(&b);
}
END_TEST

/* --- numbers --- */

static uint64_t number(unsigned kind, uint32_t i, uint64_t *state)
{
	const uint64_t r = unit_random(state);

	switch (kind) {
	case 0:
		return 0x123456789abcdef;
	case 1:
		return r & 0xff;
	case 2:
		return 0xffffffffff000000 + (r & 0xffff);
	case 3:
		return r & 0xffffffff;
	case 4:
		return (uint64_t)i * 1000003 - (r & 0xff);
	case 5:
		return (uint64_t)1 << (r & 63);
	case 6:
		return i & 1 ? UINT64_MAX : 0;
	default:
		return r;
	}
}

START_TEST(numbers_come_back)
{
	static const uint32_t sizes[] = { 0, 1, 2, 100, 511, 512, 5000 };
	uint64_t state = 9, *in, *out;
	size_t i, n, len;
	const char *p;
	char *bytes, *exact;
	uint32_t k;

	for (i = 0; i < PDET_COUNT(sizes); i++) {
		n = sizes[i];
		in = calloc(n + 1, sizeof(*in));
		out = calloc(n + 1, sizeof(*out));
		bytes = malloc(PDET_NUMBERS_MOST(n));
		for (k = 0; k < n; k++)
			in[k] = number((unsigned)_i, k, &state);
		len = (size_t)(pdet_numbers_put(bytes, in, (uint32_t)n) -
			       bytes);
		ck_assert_uint_le(len, PDET_NUMBERS_MOST(n));
		exact = unit_exact(bytes, len);
		p = exact;
		ck_assert(pdet_numbers_get(&p, exact + len, out, (uint32_t)n));
		ck_assert_ptr_eq(p, exact + len);
		ck_assert_mem_eq(in, out, n * sizeof(*in));
		while (len--) {
			p = exact;
			ck_assert(!pdet_numbers_get(&p, exact + len, out,
						    (uint32_t)n));
		}
		free(exact);
		free(bytes);
		free(in);
		free(out);
	}
}
END_TEST

/* --- compression --- */

static const struct pdet_packer_ops *const packers[] = {
	&pdet_packer_zlib, &pdet_packer_zstd,
};

START_TEST(what_is_packed_is_unpacked)
{
	const struct pdet_packer_ops *ops = packers[_i];
	char in[5000], packed[5000], out[5000];
	struct pdet_codec *codec;
	struct pdet_packer *p;
	uint64_t state = 5;
	size_t n, i;

	if (!ops->size)
		unit_skip("not built in");
	p = calloc(1, ops->size);
	p->ops = ops;
	ck_assert_ptr_null(ops->open(p));
	ck_assert_int_eq(pdet_codec_open(pdet_packer_id(p), &env, &codec), 0);
	for (i = 0; i < sizeof(in); i++)
		in[i] = (char)(unit_random(&state) & 3);
	for (i = 0; i < 2; i++) {
		n = pdet_packer_run(p, in, sizeof(in), packed, sizeof(packed));
		ck_assert_uint_gt(n, 0);
		ck_assert_uint_lt(n, sizeof(in) / 2);
		ck_assert_int_eq(pdet_codec_run(codec, packed, n, out,
						sizeof(out)), 0);
		ck_assert_mem_eq(in, out, sizeof(in));
		/* There is no room. */
		ck_assert_uint_eq(pdet_packer_run(p, in, sizeof(in), packed,
						  n - 1), 0);
	}
	pdet_codec_close(codec);
	pdet_packer_close(p);
}
END_TEST

/* --- the emitter --- */

static struct pagedet_emitter *emitter(uint32_t options)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e;

	o.format = PAGEDET_FORMAT_SNAPSHOT;
	o.options = options;
	ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), 0);
	ck_assert(pdet_emitter_saves(e));
	return e;
}

/* Kernel addresses are saved only if they may be shown. */
START_TEST(pointers_stay_here)
{
	const struct pdet_emit_end end = { .coverage = &whole };
	struct pdet_fields fields = { { 1 << F(PFN), 0 } };
	struct pagedet_emitter *e = emitter(_i ? PAGEDET_EMIT_POINTERS : 0);
	struct pdet_snapshot_block *block = pdet_snapshot_block_new();
	struct pdet_snapshot_bytes bytes;
	struct pdet_snapshot_about about;
	struct pdet_emit_query q = { .target = PAGEDET_TARGET_KADDR };
	struct pdet_snapshot *s;
	struct pdet_batch b, out;
	size_t len;

	pdet_fields_add(&fields, F(VADDR));
	ck_assert(pdet_batch_init(&b, &fields, 1, 100));
	ck_assert(pdet_batch_init(&out, &fields, 1, 100));
	pdet_batch_grow(&b, 1);
	pdet_put(&b, 0, F(PFN), 5, PROCFS);
	pdet_put(&b, 0, F(VADDR), 0xffff888012345000, PROCFS);
	fill_about(&about, &fields);
	q.fields = fields;
	q.about = &about;
	ck_assert_int_eq(pdet_emit_begin(e, &env, &q), 0);
	ck_assert_int_eq(pdet_emit_batch(e, &env, &b), 0);
	ck_assert_int_eq(pdet_emit_end(e, &env, &end), 0);
	/* Nothing else can be written to such a file. */
	ck_assert_int_eq(pdet_emit_begin(e, &env, &q), -EINVAL);
	ck_assert_int_eq(pdet_emitter_finish(e), 0);
	bytes.data = (char *)(uintptr_t)pdet_emitter_text(e, &len);
	bytes.n = bytes.cap = len;
	ck_assert_int_eq(open_file(&bytes, &s), 0);
	ck_assert_int_eq(pdet_snapshot_load(s, &env, 0, &fields, block), 0);
	pdet_batch_grow(&out, 1);
	pdet_snapshot_get(block, 0, 1, &fields, &out, 0, SNAPSHOT);
	ck_assert_uint_eq(out.value[F(PFN)][0], 5);
	ck_assert_uint_eq(pdet_batch_state(&out, 0, F(VADDR)),
			  _i ? PAGEDET_HAVE : PAGEDET_EXCLUDED);
	ck_assert_uint_eq(out.value[F(VADDR)][0],
			  _i ? 0xffff888012345000 : 0);
	pdet_snapshot_close(s);
	pdet_snapshot_block_free(block);
	pdet_batch_free(&b);
	pdet_batch_free(&out);
	pdet_emitter_free(e);
}
END_TEST

START_TEST(only_rows_are_saved)
{
	const struct pagedet_ability a = { .size = sizeof(a) };
	struct pdet_emit_query q = { .target = PAGEDET_TARGET_SCAN };
	struct pagedet_emitter *e = emitter(0);

	q.grouped = true;
	ck_assert_int_eq(pdet_emit_begin(e, &env, &q), -EINVAL);
	ck_assert_ptr_nonnull(strstr(env.error, "holds rows"));
	q.grouped = false;
	q.runs = true;
	ck_assert_int_eq(pdet_emit_begin(e, &env, &q), -EINVAL);
	ck_assert_int_eq(pdet_emit_ability(e, &env, F(PFN), PROCFS, &a),
			 -EINVAL);
	pdet_emitter_free(e);
}
END_TEST

/* Saved hashes are compared only with hashes of the same key. */
START_TEST(the_name_of_the_key_is_saved)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_options from = PAGEDET_OPTIONS_INIT;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item item = { 1, 1, 0, 0 };
	char path[] = "/tmp/pagedet.XXXXXX";
	const char *files[1] = { path };
	struct pagedet *live = pagedet_new(), *saved = pagedet_new();
	uint64_t then = 0, now = 0;
	struct pagedet_emitter *e;
	struct pagedet_iter *it;
	int r;

	/* configure --with-backends */
	r = pagedet_open(live, &from);
	if (r == -ENOTSUP)
		unit_skip("%s", pagedet_error(live));
	ck_assert_int_eq(r, 0);
	o.format = PAGEDET_FORMAT_SNAPSHOT;
	o.fd = mkstemp(path);
	ck_assert_int_ge(o.fd, 0);
	q.target = PAGEDET_TARGET_PFN;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(live, "pfn,hash", &q), 0);
	ck_assert_int_eq(pagedet_query(live, &q, &it), 0);
	ck_assert_int_eq(pagedet_emitter_new(live, &o, &e), 0);
	ck_assert_int_eq(pagedet_emit_all(e, it), 0);
	ck_assert_int_eq(pagedet_emitter_finish(e), 0);
	ck_assert_int_eq(pagedet_hash_key_id(live, &then), 0);
	pagedet_emitter_free(e);
	pagedet_iter_free(it);
	pagedet_free(live);
	close(o.fd);

	from.files = files;
	from.n_files = 1;
	r = pagedet_open(saved, &from);
	unlink(path);
	if (r == -ENOSYS)
		unit_skip("%s", pagedet_error(saved));
	ck_assert_msg(r == 0, "%s", pagedet_error(saved));
	ck_assert_int_eq(pagedet_hash_key_id(saved, &now), 0);
	ck_assert_uint_ne(then, 0);
	ck_assert_uint_eq(now, then);
	pagedet_free(saved);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("snapshot");

	unit_test(s, rows_come_back);
	unit_loop(s, parts_come_back, 2);
	unit_test(s, no_rows_come_back);
	unit_test(s, what_was_asked_comes_back);
	unit_test(s, every_byte_counts);
	unit_test(s, every_length_counts);
	unit_test(s, a_later_version_is_refused);
	unit_test(s, what_is_not_known_is_skipped);
	unit_test(s, counts_of_earlier_versions_are_read);
	unit_test(s, columns_of_later_versions_are_skipped);
	unit_test(s, frames_are_found);
	unit_loop(s, numbers_come_back, 8);
	unit_loop(s, what_is_packed_is_unpacked, PDET_COUNT(packers));
	unit_loop(s, pointers_stay_here, 2);
	unit_test(s, only_rows_are_saved);
	unit_test(s, the_name_of_the_key_is_saved);
	return unit_main(s);
}
