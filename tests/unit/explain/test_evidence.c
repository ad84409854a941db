/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests serialised evidence: the round trip, and what is rejected. */
#include <errno.h>
#include <stdbool.h>

#include "base/env.h"
#include "explain/evidence.h"
#include "pagedet.h"
#include "../unit.h"

static struct pdet_env env;
static struct pagedet_evidence in[2], out[2];
static unsigned char bytes[8192], bad[8192 + 8];
static uint64_t len;

static int load(const void *from, uint64_t size)
{
	return pdet_evidence_load(&env, from, size, out, sizeof(*out), 2);
}

/* Two pages with much evidence. */
static void make(void)
{
	struct pagedet_page row;

	memset(in, 0, sizeof(in));
	memset(&row, 0, sizeof(row));
	row.cell[PAGEDET_FIELD_PFN] = PAGEDET_HAVE | 1 << 8;
	row.pfn = 0x123456;
	row.cell[PAGEDET_FIELD_KIND] = PAGEDET_HAVE | 1 << 8;
	row.kind = PAGEDET_KIND_ANON;
	row.cell[PAGEDET_FIELD_COMM] = PAGEDET_HAVE | 1 << 8;
	row.comm = 1;
	row.cell[PAGEDET_FIELD_INODE] = PAGEDET_NONE | 1 << 8;
	row.cell[PAGEDET_FIELD_REFCOUNT] = PAGEDET_UNSUPPORTED;
	row.cell[PAGEDET_FIELD_VADDR] = PAGEDET_HAVE | 1 << 8;
	row.vaddr = 0x7f0000001000;
	in[0].size = in[1].size = sizeof(*in);
	memcpy(in[0].here, &row, sizeof(row));
	row.pfn = 99;
	memcpy(in[0].peer, &row, sizeof(row));
	strcpy(in[0].texts + 1, "qemu");
	in[0].id = UINT64_MAX;
	in[0].hash[PAGEDET_AS_PEER] = 0x0123456789abcdef;
	in[0].hash_state[PAGEDET_AS_PEER] = PAGEDET_HAVE;
	in[0].hash_state[PAGEDET_AS_SENT] = PAGEDET_TOO_COSTLY;
	in[0].zero[PAGEDET_AS_NOW] = PAGEDET_NO;
	in[0].track = PAGEDET_WRITES_NONE;
	in[0].bits = 7;
	in[0].alloc_frame = 1;
	in[0].more_hash[PAGEDET_AS_STOPPED - PAGEDET_AS_MORE] = 0x8765;
	in[0].more_state[PAGEDET_AS_STOPPED - PAGEDET_AS_MORE] = PAGEDET_HAVE;
	in[0].here_missing = in[0].peer_ran = PAGEDET_NO;
	in[0].here_other_maps = in[0].sent_stopped = PAGEDET_YES;
	in[0].differences = 5000;
	in[0].folio_mapcount = 513;
	in[0].folio_counted = PAGEDET_YES;
	in[0].stopped_drained = PAGEDET_NO;
	in[1].no_swap = PAGEDET_YES;
	ck_assert_int_eq(pdet_evidence_save(&env, in, sizeof(*in), 2, bytes,
					    sizeof(bytes), &len), 0);
	ck_assert_uint_le(len, sizeof(bytes));
}

START_TEST(comes_back)
{
	uint64_t small = 0;

	make();
	ck_assert_int_eq(load(bytes, len), 2);
	ck_assert_mem_eq(&in[0], &out[0], sizeof(*in));
	ck_assert_mem_eq(&in[1], &out[1], sizeof(*in));
	/* Small enough for a migration's channel. */
	ck_assert_uint_lt(len, 512);
	/* Returns the size and writes nothing. */
	memset(bad, 0x55, sizeof(bad));
	ck_assert_int_eq(pdet_evidence_save(&env, in, sizeof(*in), 2, bad,
					    len - 1, &small), 0);
	ck_assert_uint_eq(small, len);
	ck_assert_uint_eq(bad[0], 0x55);
	/* With exactly enough room it writes no byte behind. */
	memset(bad, 0x55, sizeof(bad));
	ck_assert_int_eq(pdet_evidence_save(&env, in, sizeof(*in), 2, bad, len,
					    &small), 0);
	ck_assert_mem_eq(bad, bytes, len);
	ck_assert_uint_eq(bad[len], 0x55);
	/* With room for some of them, and for none. */
	memset(out, 0x55, sizeof(out));
	ck_assert_int_eq(pdet_evidence_load(&env, bytes, len, out,
					    sizeof(*out), 1), 2);
	ck_assert_uint_eq(out[1].size, 0x5555555555555555);
	ck_assert_int_eq(pdet_evidence_save(&env, NULL, 0, 0, bytes,
					    sizeof(bytes), &len), 0);
	ck_assert_int_eq(load(bytes, len), 0);
}
END_TEST

START_TEST(kernel_addresses_stay)
{
	struct pagedet_page row;

	make();
	memcpy(&row, in[0].here, sizeof(row));
	row.vaddr = 0xffff888012345000;
	memcpy(in[0].here, &row, sizeof(row));
	ck_assert_int_eq(pdet_evidence_save(&env, in, sizeof(*in), 2, bytes,
					    sizeof(bytes), &len), 0);
	ck_assert_int_eq(load(bytes, len), 2);
	memcpy(&row, out[0].here, sizeof(row));
	ck_assert_uint_eq(PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_VADDR]),
			  PAGEDET_DENIED);
	ck_assert_uint_eq(row.vaddr, 0);
	ck_assert_uint_eq(row.pfn, 0x123456);
}
END_TEST

START_TEST(every_byte_counts)
{
	uint64_t i;

	make();
	memset(out, 0x55, sizeof(out));
	for (i = 0; i < len; i++) {
		memcpy(bad, bytes, len);
		bad[i] ^= (unsigned char)(1 << i % 8);
		ck_assert_int_eq(load(bad, len), -EBADMSG);
		ck_assert_ptr_nonnull(strstr(env.error, "evidence"));
		/* Truncated there, and with more bytes behind. */
		ck_assert_int_eq(load(bytes, i), -EBADMSG);
	}
	memcpy(bad, bytes, len);
	bad[len] = 0;
	ck_assert_int_eq(load(bad, len + 1), -EBADMSG);
	/* No result was written. */
	ck_assert_uint_eq(out[0].size, 0x5555555555555555);
}
END_TEST

/* Even with a right checksum, forged bytes cause no invalid read. */
START_TEST(forged)
{
	unsigned good = 0;
	uint64_t i;
	int v, n;

	make();
	for (i = 0; i < len; i++)
		for (v = 0; v < 256; v += 5) {
			memcpy(bad, bytes, len);
			bad[i] = (unsigned char)v;
			pdet_evidence_seal(bad, len);
			n = load(bad, len);
			if (n != 2 && n != -EBADMSG)
				ck_abort_msg("byte %u as %d: %d", (unsigned)i,
					     v, n);
			good += n == 2;
		}
	ck_assert_uint_gt(good, 0);
	/* More pages than there are. */
	memcpy(bad, bytes, len);
	memset(bad + 12, 0xff, 4);
	pdet_evidence_seal(bad, len);
	ck_assert_int_eq(load(bad, len), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, "more pages"));
	/* A later version. */
	memcpy(bad, bytes, len);
	bad[8] = 2;
	pdet_evidence_seal(bad, len);
	ck_assert_int_eq(load(bad, len), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, "version 2"));
}
END_TEST

/* Additions of a newer library: a tag, a field of the row. */
START_TEST(newer_parts_are_left_out)
{
	static const unsigned char record[] = {
		'P', 'D', 'E', 'T', 'E', 'V', 'I', 'D', 1, 0, 0, 0, 1, 0, 0, 0,
		35, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		31, 0, 0, 0,
		2, 0, 8, 0, 127, 1, 1, 4, 1, 2, 3, 4,
		39, 0, 4, 0, 2, 0, 0, 0,
		0x40, 0x1f, 7, 0, 1, 2, 3, 4, 5, 6, 7,
	};

	memcpy(bad, record, sizeof(record));
	pdet_evidence_seal(bad, sizeof(record));
	ck_assert_int_eq(load(bad, sizeof(record)), 1);
	ck_assert_uint_eq(out[0].no_swap, PAGEDET_NO);
	/* An entry must not occur twice or in reverse order. */
	bad[48] = 1;
	pdet_evidence_seal(bad, sizeof(record));
	ck_assert_int_eq(load(bad, sizeof(record)), -EBADMSG);
}
END_TEST

START_TEST(what_the_peer_has)
{
	const unsigned now = PAGEDET_AS_NOW, again = PAGEDET_AS_AGAIN;
	const unsigned peer = PAGEDET_AS_PEER;
	struct pagedet_page row;

	make();
	out[0] = out[1] = in[1];
	in[0].hash[now] = in[0].hash[again] = 5;
	in[0].hash_key[now] = in[0].hash_key[again] = 6;
	in[0].hash_state[now] = in[0].hash_state[again] = PAGEDET_HAVE;
	in[0].here_frozen = PAGEDET_YES;
	in[0].here_read = PAGEDET_READ_DONE;
	in[0].here_hole = PAGEDET_NO;
	in[0].counters_here = PAGEDET_NO;
	out[1].peer_frozen = PAGEDET_YES;
	ck_assert_int_eq(pagedet_evidence_join(out, 2, in), 0);
	memcpy(&row, out[0].peer, sizeof(row));
	ck_assert_uint_eq(row.pfn, 0x123456);
	/* An offset in the peer's texts would be another text here. */
	ck_assert_uint_eq(PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_COMM]),
			  PAGEDET_NO_MEMORY);
	ck_assert_uint_eq(out[0].hash[peer], 5);
	ck_assert_uint_eq(out[0].hash_key[peer], 6);
	ck_assert_uint_eq(out[0].hash_state[peer], PAGEDET_HAVE);
	ck_assert_uint_eq(out[0].zero[peer], PAGEDET_NO);
	ck_assert_uint_eq(out[0].peer_read, PAGEDET_READ_DONE);
	ck_assert_uint_eq(out[0].peer_hole, PAGEDET_NO);
	ck_assert_uint_eq(out[0].counters_peer, PAGEDET_NO);
	ck_assert_uint_eq(out[0].peer_frozen, PAGEDET_YES);
	/* This side's own data stays. */
	ck_assert_int_eq(memcmp(out[0].here, in[1].here, sizeof(in[1].here)),
			 0);
	ck_assert_uint_eq(out[0].hash_state[now], PAGEDET_NOT_ASKED);
	/* Unmentioned data is no longer known. */
	ck_assert_uint_eq(out[1].peer_frozen, PAGEDET_DUNNO);
	/* It claims to be frozen, but its two reads differ. */
	in[0].hash[again] = 9;
	ck_assert_int_eq(pagedet_evidence_join(out, 2, in), 0);
	ck_assert_uint_eq(out[0].peer_frozen, PAGEDET_NO);
	in[0].size = 8;
	ck_assert_int_eq(pagedet_evidence_join(out, 2, in), -EINVAL);
	ck_assert_int_eq(pagedet_evidence_join(out, 0, in), 0);
}
END_TEST

static void set_more(struct pagedet_evidence *e, unsigned version,
		     uint64_t hash)
{
	e->more_hash[version - PAGEDET_AS_MORE] = hash;
	e->more_state[version - PAGEDET_AS_MORE] = PAGEDET_HAVE;
	e->more_zero[version - PAGEDET_AS_MORE] = PAGEDET_NO;
}

static uint64_t more(const struct pagedet_evidence *e, unsigned version)
{
	const unsigned i = version - PAGEDET_AS_MORE;

	return e->more_state[i] == PAGEDET_HAVE ? e->more_hash[i] : 0;
}

START_TEST(more_of_the_peer)
{
	make();
	out[0] = in[1];
	set_more(&out[0], PAGEDET_AS_BEFORE, 1);
	set_more(&out[0], PAGEDET_AS_STOPPED, 2);
	set_more(&in[0], PAGEDET_AS_STOPPED, 3);
	in[0].hash[PAGEDET_AS_AGAIN] = 4;
	in[0].hash_state[PAGEDET_AS_AGAIN] = PAGEDET_HAVE;
	in[0].here_missing = in[0].here_other_maps = PAGEDET_YES;
	in[0].here_ran = in[0].here_discarded = PAGEDET_NO;
	in[0].mapper_pid = 7;
	ck_assert_int_eq(pagedet_evidence_join(out, 1, in), 0);
	ck_assert_uint_eq(more(&out[0], PAGEDET_AS_BEFORE), 1);
	ck_assert_uint_eq(more(&out[0], PAGEDET_AS_STOPPED), 2);
	ck_assert_uint_eq(more(&out[0], PAGEDET_AS_PEER_STOPPED), 3);
	ck_assert_uint_eq(more(&out[0], PAGEDET_AS_PEER_AGAIN), 4);
	ck_assert_uint_eq(out[0].peer_missing, PAGEDET_YES);
	ck_assert_uint_eq(out[0].here_missing, PAGEDET_DUNNO);
	ck_assert_uint_eq(out[0].peer_other_maps, PAGEDET_YES);
	ck_assert_uint_eq(out[0].peer_mapper_pid, 7);
	ck_assert_uint_eq(out[0].peer_ran, PAGEDET_NO);
	ck_assert_uint_eq(out[0].peer_discarded, PAGEDET_NO);
}
END_TEST

/* A client built with an older, shorter struct. */
/* A sentence without its end still tells something; half a name does not. */
START_TEST(long_texts)
{
	static struct pagedet_evidence e;
	char text[2 * PAGEDET_EVIDENCE_TEXT];
	size_t n = 0;
	uint64_t id;

	memset(&e, 0, sizeof(e));
	while (n < sizeof(text) - 8)
		n += (size_t)sprintf(text + n, "words ");
	ck_assert_uint_eq(pdet_evidence_text(&e, text), 0);
	id = pdet_evidence_prose(&e, "short");
	ck_assert_str_eq(e.texts + id, "short");
	id = pdet_evidence_prose(&e, text);
	ck_assert_uint_ne(id, 0);
	n = strlen(e.texts + id);
	ck_assert_uint_gt(n, PAGEDET_EVIDENCE_TEXT - 32);
	ck_assert_uint_lt(id + n, PAGEDET_EVIDENCE_TEXT);
	ck_assert_str_eq(e.texts + id + n - 9, "words ...");
	ck_assert_uint_eq(pdet_evidence_prose(&e, text), 0);
	ck_assert_uint_eq(pdet_evidence_prose(&e, ""), 0);
}
END_TEST

START_TEST(shorter_evidence)
{
	static struct pagedet_evidence old;
	const uint64_t size = PDET_EVIDENCE_FIRST;

	make();
	ck_assert_int_eq(pdet_evidence_load(&env, bytes, len, &old, size, 1),
			 2);
	ck_assert_uint_eq(old.size, size);
	ck_assert_uint_eq(old.bits, 7);
	ck_assert_uint_eq(old.differences, 0);
	/* Bytes behind it are not read either. */
	old.differences = 0x55;
	ck_assert_int_eq(pdet_evidence_save(&env, &old, size, 1, bytes,
					    sizeof(bytes), &len), 0);
	ck_assert_int_eq(load(bytes, len), 1);
	ck_assert_uint_eq(out[0].bits, 7);
	ck_assert_uint_eq(out[0].differences, 0);
	in[0].here_missing = PAGEDET_YES;
	in[0].here_read = PAGEDET_READ_DONE;
	ck_assert_int_eq(pagedet_evidence_join(&old, 1, in), 0);
	ck_assert_uint_eq(old.peer_read, PAGEDET_READ_DONE);
	ck_assert_uint_eq(old.peer_missing, PAGEDET_DUNNO);
	ck_assert_uint_eq(old.differences, 0x55);
	ck_assert_int_eq(pdet_evidence_save(&env, &old, size - 8, 1, bytes,
					    sizeof(bytes), &len), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("evidence");

	env.root = (char *)"";
	unit_test(s, comes_back);
	unit_test(s, kernel_addresses_stay);
	unit_test(s, every_byte_counts);
	unit_test(s, forged);
	unit_test(s, newer_parts_are_left_out);
	unit_test(s, what_the_peer_has);
	unit_test(s, more_of_the_peer);
	unit_test(s, long_texts);
	unit_test(s, shorter_evidence);
	return unit_main(s);
}
