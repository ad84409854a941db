/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes snapshots: a file; the contents behind checksums, which would stop a
 * fuzzer; or a file with corrected checksums. The first byte decides.
 */
#include "base/hash.h"
#include "base/vec.h"
#include "fuzz.h"
#include "snapshot/format.h"
#include "snapshot/read.h"

#define ROWS 64
#define SNAPSHOT PAGEDET_SOURCE_SNAPSHOT

static bool is_text(unsigned f)
{
	const unsigned type = pdet_field_info(f)->type;

	return type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST;
}

/*
 * Each cell has a state, a value only if that is HAVE, and a text for each id.
 */
static void check_rows(const struct pdet_batch *b,
		       const struct pdet_fields *fields)
{
	unsigned f, state;
	uint32_t row;

	for (row = 0; row < b->n; row++)
		pdet_fields_for(f, fields) {
			state = pdet_batch_state(b, row, f);
			MUST(state != PAGEDET_NOT_ASKED &&
			     pdet_state_name(state));
			if (state != PAGEDET_HAVE)
				MUST(!b->value[f][row]);
			else if (is_text(f))
				MUST(pdet_strtab_get(&b->strings,
						     b->value[f][row], NULL));
		}
}

static void get_all(const struct pdet_snapshot_block *block, uint32_t rows,
		    const struct pdet_fields *fields)
{
	struct pdet_batch b;
	uint32_t at, n;

	MUST(pdet_batch_init(&b, fields, ROWS, 1 << 20));
	for (at = 0; at < rows; at += n) {
		n = PDET_MIN(rows - at, ROWS);
		pdet_batch_clear(&b, 1);
		pdet_batch_grow(&b, n);
		pdet_snapshot_get(block, at, n, fields, &b, 0, SNAPSHOT);
		check_rows(&b, fields);
	}
	pdet_batch_free(&b);
}

static void try_file(const uint8_t *data, size_t size)
{
	struct pdet_snapshot_block *block = pdet_snapshot_block_new();
	struct fuzz_file in = { data, size };
	const struct pdet_snapshot_file file = {
		fuzz_read_at, &in, size, "FILE"
	};
	const struct pdet_snapshot_places *places;
	const struct pdet_fields *fields;
	struct pdet_env env = { .root = NULL };
	struct pdet_snapshot *s;
	size_t i;

	MUST(block);
	if (pdet_snapshot_open(&env, &file, &s) == 0) {
		places = pdet_snapshot_places(s);
		fields = &pdet_snapshot_about(s)->fields;
		for (i = 0; i < places->n; i++)
			if (pdet_snapshot_load(s, &env, i, fields, block) == 0)
				get_all(block, places->data[i].rows, fields);
		pdet_snapshot_close(s);
	} else {
		MUST(env.error[0]);
	}
	pdet_snapshot_block_free(block);
}

static void put_hash(char *section, size_t n)
{
	pdet_put64(section, pdet_hash(section + 8, n - 8));
}

/* Corrects the checksums of a file whose sections are at the stated places. */
static void seal(char *data, size_t size)
{
	const size_t ends = PDET_SNAPSHOT_END_SIZE + PDET_SNAPSHOT_TAIL_SIZE;
	struct pdet_snapshot_places places;
	struct pdet_snapshot_end end;
	uint64_t at;
	size_t i, n;

	if (size < PDET_SNAPSHOT_HEAD_SIZE + ends)
		return;
	n = pdet_get32(data + 20);
	if (n <= size - PDET_SNAPSHOT_HEAD_SIZE)
		put_hash(data + 8, 16 + n);
	at = pdet_get64(data + size - PDET_SNAPSHOT_TAIL_SIZE);
	if (at > size - ends)
		return;
	pdet_snapshot_get_end(data + at + PDET_SNAPSHOT_END_SIZE,
			      size - at - ends, &end, &places);
	for (i = 0; i < places.n; i++) {
		const struct pdet_snapshot_place *p = &places.data[i];

		if (p->bytes >= PDET_SNAPSHOT_BLOCK_SIZE && p->at < at &&
		    p->bytes <= at - p->at)
			put_hash(data + p->at, p->bytes);
	}
	pdet_vec_free(&places);
	put_hash(data + at, size - at);
}

static void try_sealed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	MUST(copy);
	memcpy(copy, data, size);
	seal((char *)copy, size);
	try_file(copy, size);
	free(copy);
}

static void try_block(const uint8_t *data, size_t size)
{
	struct pdet_snapshot_block *block = pdet_snapshot_block_new();
	const uint32_t rows =
		(uint32_t)fuzz_number(&data, &size, 2) % 4096 + 1;
	struct pdet_fields fields = {
		{ fuzz_number(&data, &size, 8), 0 }
	};
	const struct pdet_fields all = pdet_fields_all();
	int64_t row;

	MUST(block);
	fields.bits[0] &= all.bits[0];
	pdet_fields_add(&fields, PAGEDET_FIELD_PFN);
	if (pdet_snapshot_decode(block, (const char *)data, size, rows,
				 &fields) == 0) {
		get_all(block, rows, &fields);
		row = pdet_snapshot_find(block, 5);
		MUST(row >= -1 && row < (int64_t)rows);
	}
	pdet_snapshot_block_free(block);
}

static void try_records(const uint8_t *data, size_t size)
{
	struct pdet_snapshot_about about;
	struct pdet_snapshot_places places;
	struct pdet_snapshot_end end;

	if (pdet_snapshot_get_about((const char *)data, size, &about) == 0)
		/* No size: of the kernel of a log. */
		MUST(!(about.page_size & (about.page_size - 1)) &&
		     (about.items || !about.n_kept));
	pdet_snapshot_about_free(&about);
	pdet_snapshot_get_end((const char *)data, size, &end, &places);
	pdet_vec_free(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	switch (fuzz_number(&data, &size, 1) % 4) {
	case 0:
		try_file(data, size);
		break;
	case 1:
		try_block(data, size);
		break;
	case 2:
		try_records(data, size);
		break;
	default:
		try_sealed(data, size);
		break;
	}
	return 0;
}
