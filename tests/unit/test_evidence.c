/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Evidence as bytes: what comes back, and what is refused. */
#include <errno.h>
#include <stdbool.h>

#include "base/env.h"
#include "explain/evidence.h"
#include "pagedet.h"
#include "unit.h"

static struct pdet_env env;
static struct pagedet_evidence in[2], out[2];
static unsigned char bytes[8192], bad[8192 + 8];
static uint64_t len;

static int load(const void *from, uint64_t size)
{
	return pdet_evidence_load(&env, from, size, out, sizeof(*out), 2);
}

/* Two pages of which much is known. */
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
	/* small enough for a migration's channel */
	ck_assert_uint_lt(len, 512);
	/* how much it takes, and nothing written */
	memset(bad, 0x55, sizeof(bad));
	ck_assert_int_eq(pdet_evidence_save(&env, in, sizeof(*in), 2, bad,
					    len - 1, &small), 0);
	ck_assert_uint_eq(small, len);
	ck_assert_uint_eq(bad[0], 0x55);
	/* as much room as it takes, and not a byte more is touched */
	memset(bad, 0x55, sizeof(bad));
	ck_assert_int_eq(pdet_evidence_save(&env, in, sizeof(*in), 2, bad, len,
					    &small), 0);
	ck_assert_mem_eq(bad, bytes, len);
	ck_assert_uint_eq(bad[len], 0x55);
	/* only some of it, and none */
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
		/* cut off there, and with something behind */
		ck_assert_int_eq(load(bytes, i), -EBADMSG);
	}
	memcpy(bad, bytes, len);
	bad[len] = 0;
	ck_assert_int_eq(load(bad, len + 1), -EBADMSG);
	/* nothing was handed out meanwhile */
	ck_assert_uint_eq(out[0].size, 0x5555555555555555);
}
END_TEST

/* Who makes the checksum right can still not make us read what is not there. */
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
	/* more pages than there are */
	memcpy(bad, bytes, len);
	memset(bad + 12, 0xff, 4);
	pdet_evidence_seal(bad, len);
	ck_assert_int_eq(load(bad, len), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, "more pages"));
	/* a version to come */
	memcpy(bad, bytes, len);
	bad[8] = 2;
	pdet_evidence_seal(bad, len);
	ck_assert_int_eq(load(bad, len), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, "version 2"));
}
END_TEST

/* What a newer library adds: a tag, a field of the row. */
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
	/* not twice, and not backwards */
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
	/* a text of the peer's would be another one here */
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
	/* its own side stays */
	ck_assert_int_eq(memcmp(out[0].here, in[1].here, sizeof(in[1].here)),
			 0);
	ck_assert_uint_eq(out[0].hash_state[now], PAGEDET_NOT_ASKED);
	/* what is not said is not known any more */
	ck_assert_uint_eq(out[1].peer_frozen, PAGEDET_DUNNO);
	/* it says so, and its pages say no */
	in[0].hash[again] = 9;
	ck_assert_int_eq(pagedet_evidence_join(out, 2, in), 0);
	ck_assert_uint_eq(out[0].peer_frozen, PAGEDET_NO);
	in[0].size = 8;
	ck_assert_int_eq(pagedet_evidence_join(out, 2, in), -EINVAL);
	ck_assert_int_eq(pagedet_evidence_join(out, 0, in), 0);
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
	return unit_main(s);
}
