/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests versions of pages, the versions sent, and the search for equal
 * contents.
 */
#include <errno.h>
#include <stddef.h>

#include <pagedet.h>

#include "../unit.h"

#define KEY 77
#define ZERO 1000

static struct pagedet_versions *new_versions(uint64_t pages, uint64_t bytes)
{
	struct pagedet_versions_options o = PAGEDET_VERSIONS_OPTIONS_INIT;
	struct pagedet_versions *v;

	o.pages = pages;
	o.max_bytes = bytes;
	o.hash_key = KEY;
	o.hash_zero = ZERO;
	ck_assert_int_eq(pagedet_versions_new(&o, &v), 0);
	return v;
}

static void send(struct pagedet_versions *v, uint64_t page, uint64_t hash,
		 uint64_t turn)
{
	ck_assert_int_eq(pagedet_versions_sent(v, page, PAGEDET_SENT_KNOWN,
					       hash, turn), 0);
}

static struct pagedet_seen data(uint64_t hash)
{
	return (struct pagedet_seen){ .hash = hash, .time_ns = hash * 10,
				      .state = PAGEDET_SEEN_DATA };
}

#define had(v, page, hash, is) \
	ck_assert_int_eq(pagedet_versions_had(v, page, hash), is)

START_TEST(older_versions)
{
	struct pagedet_versions *v = new_versions(8, 0);

	had(v, 1, 10, PAGEDET_DUNNO);
	send(v, 5, 50, 1);
	send(v, 1, 10, 1);
	send(v, 1, 11, 2);
	/* Late, through a slower channel. */
	send(v, 1, 9, 1);
	had(v, 1, 10, PAGEDET_YES);
	had(v, 1, 9, PAGEDET_YES);
	/*
	 * The last version sent is not an earlier one, but some may be unknown.
	 */
	had(v, 1, 11, PAGEDET_DUNNO);
	ck_assert_int_eq(pagedet_versions_complete(v, 1), 0);
	had(v, 1, 11, PAGEDET_NO);
	had(v, 5, 50, PAGEDET_NO);
	send(v, 5, 51, 2);
	had(v, 5, 50, PAGEDET_YES);
	ck_assert_int_eq(pagedet_versions_had(v, 8, 1), -EINVAL);
	ck_assert_int_eq(pagedet_versions_sent(v, 8, PAGEDET_SENT_KNOWN, 1, 1),
			 -EINVAL);
	ck_assert_int_eq(pagedet_versions_sent(v, 1, 0, 1, 1), -EINVAL);
	ck_assert_int_eq(pagedet_versions_dropped(v, 7, 2), -EINVAL);
	pagedet_versions_free(v);
}
END_TEST

/* What a packed version had is not known, so it may be what the peer has. */
START_TEST(packed_versions_may_be_any)
{
	struct pagedet_versions *v = new_versions(3, 0);

	pagedet_versions_complete(v, 1);
	send(v, 0, 50, 1);
	pagedet_versions_sent(v, 0, PAGEDET_SENT_PACKED, 0, 2);
	had(v, 0, 51, PAGEDET_NO);
	send(v, 0, 52, 3);
	had(v, 0, 50, PAGEDET_YES);
	had(v, 0, 51, PAGEDET_DUNNO);
	/* Late, through a slower channel. */
	send(v, 1, 60, 2);
	had(v, 1, 61, PAGEDET_NO);
	pagedet_versions_sent(v, 1, PAGEDET_SENT_PACKED, 0, 1);
	had(v, 1, 61, PAGEDET_DUNNO);
	send(v, 2, 70, 1);
	had(v, 2, 51, PAGEDET_NO);
	pagedet_versions_free(v);
}
END_TEST

START_TEST(what_was_seen)
{
	struct pagedet_version_of of = { .size = sizeof(of) };
	struct pagedet_versions_info info = { .size = sizeof(info) };
	struct pagedet_versions *v = new_versions(2, 0);
	struct pagedet_seen seen[2] = { data(30), { .state =
					PAGEDET_SEEN_ABSENT } };

	pagedet_versions_complete(v, 1);
	ck_assert_int_eq(pagedet_versions_look(v, seen, 1, 0), -EINVAL);
	ck_assert_int_eq(pagedet_versions_look(v, seen, 2, 0), 0);
	send(v, 0, 31, 1);
	seen[0] = data(32);
	seen[1] = (struct pagedet_seen){ .state = PAGEDET_SEEN_LOST };
	ck_assert_int_eq(pagedet_versions_look(v, seen, 2, 0), 0);
	seen[0] = data(33);
	ck_assert_int_eq(pagedet_versions_look(v, seen, 2, 1), 0);
	seen[0] = data(34);
	ck_assert_int_eq(pagedet_versions_look(v, seen, 2, 1), 0);
	had(v, 0, 30, PAGEDET_YES);
	had(v, 0, 32, PAGEDET_YES);
	/* The final version is not an older one. */
	had(v, 0, 33, PAGEDET_NO);
	had(v, 1, ZERO, PAGEDET_YES);
	ck_assert_int_eq(pagedet_versions_of(v, 0, &of), 0);
	ck_assert_uint_eq(of.sent, PAGEDET_SENT_KNOWN);
	ck_assert_uint_eq(of.hash, 31);
	ck_assert_uint_eq(of.before, PAGEDET_SEEN_DATA);
	ck_assert_uint_eq(of.before_hash, 30);
	ck_assert_uint_eq(of.before_ns, 300);
	ck_assert_uint_eq(of.stopped, PAGEDET_SEEN_DATA);
	ck_assert_uint_eq(of.stopped_hash, 33);
	ck_assert_int_eq(pagedet_versions_of(v, 1, &of), 0);
	ck_assert_uint_eq(of.sent, PAGEDET_SENT_NEVER);
	ck_assert_uint_eq(of.stopped, PAGEDET_SEEN_LOST);
	ck_assert_int_eq(pagedet_versions_info(v, &info), 0);
	ck_assert_uint_eq(info.looks, 4);
	ck_assert_uint_eq(info.stopped, 1);
	ck_assert_uint_eq(info.full, 0);
	pagedet_versions_free(v);
}
END_TEST

/* Memory is limited, and a query says if it exceeds what was kept. */
START_TEST(not_all_are_kept)
{
	struct pagedet_versions_info info = { .size = sizeof(info) };
	struct pagedet_versions *v = new_versions(1, 100 * 16);
	uint64_t i;

	pagedet_versions_complete(v, 1);
	for (i = 0; i <= 100; i++)
		send(v, 0, i + 1, i);
	ck_assert_int_eq(pagedet_versions_info(v, &info), 0);
	ck_assert_uint_eq(info.older, 100);
	ck_assert_uint_eq(info.full, 0);
	had(v, 0, 5000, PAGEDET_NO);
	send(v, 0, 102, 102);
	ck_assert_int_eq(pagedet_versions_info(v, &info), 0);
	ck_assert_uint_eq(info.older, 100);
	ck_assert_uint_eq(info.full, 1);
	ck_assert_uint_eq(info.sent_again, 101);
	had(v, 0, 100, PAGEDET_YES);
	had(v, 0, 5000, PAGEDET_DUNNO);
	pagedet_versions_free(v);
}
END_TEST

START_TEST(evidence_of_what_was_sent)
{
	struct pagedet_evidence e = { .size = sizeof(e) };
	const struct pagedet_seen peer = data(10), hole = { .state =
							    PAGEDET_SEEN_ABSENT
							  };
	struct pagedet_versions *v = new_versions(4, 0);

	send(v, 1, 10, 1);
	send(v, 1, ZERO, 2);
	pagedet_versions_dropped(v, 1, 1);
	ck_assert_int_eq(pagedet_seen_evidence(&peer, PAGEDET_AS_PEER, KEY,
					       &e), 0);
	ck_assert_int_eq(pagedet_versions_evidence(v, 1, &e), 0);
	/* No one has stated that everything was seen. */
	ck_assert_uint_eq(e.hash_state[PAGEDET_AS_SENT], 0);
	ck_assert_uint_eq(e.earlier, PAGEDET_YES);
	pagedet_versions_complete(v, 1);
	ck_assert_int_eq(pagedet_versions_evidence(v, 1, &e), 0);
	ck_assert_uint_eq(e.hash_state[PAGEDET_AS_SENT], PAGEDET_HAVE);
	ck_assert_uint_eq(e.hash[PAGEDET_AS_SENT], ZERO);
	ck_assert_uint_eq(e.hash_key[PAGEDET_AS_SENT], KEY);
	ck_assert_uint_eq(e.zero[PAGEDET_AS_SENT], PAGEDET_YES);
	ck_assert_uint_eq(e.zero[PAGEDET_AS_PEER], PAGEDET_NO);
	ck_assert_uint_eq(e.peer_discarded, PAGEDET_YES);
	ck_assert_int_eq(pagedet_versions_evidence(v, 2, &e), 0);
	ck_assert_uint_eq(e.hash_state[PAGEDET_AS_SENT], PAGEDET_NONE);
	ck_assert_uint_eq(e.earlier, PAGEDET_NO);
	/* Packed: not known. */
	e = (struct pagedet_evidence){ .size = sizeof(e) };
	pagedet_versions_sent(v, 3, PAGEDET_SENT_PACKED, 0, 1);
	ck_assert_int_eq(pagedet_versions_evidence(v, 3, &e), 0);
	ck_assert_uint_eq(e.hash_state[PAGEDET_AS_SENT], 0);
	ck_assert_uint_eq(e.earlier, PAGEDET_DUNNO);
	pagedet_seen_evidence(&hole, PAGEDET_AS_NOW, KEY, &e);
	ck_assert_uint_eq(e.zero[PAGEDET_AS_NOW], PAGEDET_YES);
	ck_assert_uint_eq(e.hash_state[PAGEDET_AS_NOW], 0);
	ck_assert_int_eq(pagedet_versions_evidence(v, 4, &e), -EINVAL);
	ck_assert_int_eq(pagedet_seen_evidence(&hole, 9, KEY, &e), -EINVAL);
	e.size = 8;
	ck_assert_int_eq(pagedet_versions_evidence(v, 3, &e), -EINVAL);
	pagedet_versions_free(v);
}
END_TEST

static void look(struct pagedet_versions *v, uint64_t hash, uint32_t when)
{
	const struct pagedet_seen seen = data(hash);

	ck_assert_int_eq(pagedet_versions_look(v, &seen, 1, when), 0);
}

/* Of a page that was read so when it stopped, and so later; 0: not at all. */
static void drained(uint64_t stopped, uint64_t later, uint64_t version,
		    uint32_t is)
{
	const unsigned at = PAGEDET_AS_STOPPED - PAGEDET_AS_MORE;
	struct pagedet_evidence e = { .size = sizeof(e) };
	struct pagedet_versions *v = new_versions(1, 0);

	if (stopped)
		look(v, stopped, PAGEDET_WHEN_STOPPED);
	if (later)
		look(v, later, PAGEDET_WHEN_DRAINED);
	ck_assert_int_eq(pagedet_versions_evidence(v, 0, &e), 0);
	ck_assert_uint_eq(e.more_hash[at], version);
	ck_assert_uint_eq(e.stopped_drained, is);
	pagedet_versions_free(v);
}

START_TEST(devices_that_write_at_the_stop)
{
	struct pagedet_seen seen = { .state = PAGEDET_SEEN_LOST };
	struct pagedet_evidence e = { .size = sizeof(e) };
	struct pagedet_versions *v = new_versions(1, 0);

	drained(5, 0, 5, PAGEDET_DUNNO);
	drained(0, 5, 5, PAGEDET_YES);
	drained(5, 5, 5, PAGEDET_YES);
	drained(5, 6, 5, PAGEDET_NO);
	/* The first look failed. */
	ck_assert_int_eq(pagedet_versions_look(v, &seen, 1,
					       PAGEDET_WHEN_STOPPED), 0);
	ck_assert_int_eq(pagedet_versions_evidence(v, 0, &e), 0);
	ck_assert_uint_eq(e.stopped_drained, PAGEDET_DUNNO);
	look(v, 7, PAGEDET_WHEN_DRAINED);
	look(v, 8, PAGEDET_WHEN_DRAINED);
	ck_assert_int_eq(pagedet_versions_evidence(v, 0, &e), 0);
	ck_assert_uint_eq(e.more_hash[PAGEDET_AS_STOPPED - PAGEDET_AS_MORE],
			  7);
	ck_assert_uint_eq(e.stopped_drained, PAGEDET_YES);
	ck_assert_int_eq(pagedet_versions_look(v, &seen, 1, 3), -EINVAL);
	pagedet_versions_free(v);
}
END_TEST

/*
 * Evidence of a page that was read as @before, sent as @sent, and read as
 * @stopped.
 */
static struct pagedet_evidence story(uint64_t before, uint64_t sent,
				     uint64_t stopped)
{
	struct pagedet_evidence e = { .size = sizeof(e) };
	struct pagedet_versions *v = new_versions(1, 0);

	pagedet_versions_complete(v, 1);
	look(v, before, 0);
	send(v, 0, sent, 1);
	look(v, stopped, 1);
	ck_assert_int_eq(pagedet_versions_evidence(v, 0, &e), 0);
	ck_assert_uint_eq(e.more_hash[PAGEDET_AS_STOPPED - PAGEDET_AS_MORE],
			  stopped);
	ck_assert_uint_eq(e.more_state[PAGEDET_AS_STOPPED - PAGEDET_AS_MORE],
			  PAGEDET_HAVE);
	pagedet_versions_free(v);
	return e;
}

#define before_of(e) (e).more_state[PAGEDET_AS_BEFORE - PAGEDET_AS_MORE]

/* The struct of a client that was built with its first release. */
START_TEST(evidence_of_an_older_client)
{
	static struct pagedet_evidence e;
	struct pagedet_versions *v = new_versions(1, 0);
	const struct pagedet_seen peer = data(40), now = data(42);
	struct pagedet_evidence after;

	memset(&e, 0x55, sizeof(e));
	memset(&e, 0, offsetof(struct pagedet_evidence, more_hash));
	e.size = offsetof(struct pagedet_evidence, more_hash);
	after = e;
	send(v, 0, 40, 1);
	send(v, 0, 41, 2);
	pagedet_versions_complete(v, 1);
	ck_assert_int_eq(pagedet_seen_evidence(&peer, PAGEDET_AS_PEER, KEY,
					       &e), 0);
	ck_assert_int_eq(pagedet_seen_evidence(&now, PAGEDET_AS_STOPPED, KEY,
					       &e), 0);
	ck_assert_int_eq(pagedet_versions_evidence(v, 0, &e), 0);
	ck_assert_uint_eq(e.hash[PAGEDET_AS_PEER], 40);
	ck_assert_uint_eq(e.hash[PAGEDET_AS_SENT], 41);
	ck_assert_uint_eq(e.earlier, PAGEDET_YES);
	ck_assert_uint_eq(e.size,
			  offsetof(struct pagedet_evidence, more_hash));
	/* What lies behind it is not ours. */
	ck_assert_mem_eq(e.more_hash, after.more_hash,
			 sizeof(e) - (size_t)e.size);
	e.size -= 8;
	ck_assert_int_eq(pagedet_versions_evidence(v, 0, &e), -EINVAL);
	ck_assert_int_eq(pagedet_seen_evidence(&peer, PAGEDET_AS_PEER, KEY,
					       &e), -EINVAL);
	pagedet_versions_free(v);
}
END_TEST

START_TEST(evidence_of_what_was_before)
{
	struct pagedet_evidence e = story(5, 5, 6);

	ck_assert_uint_eq(before_of(e), PAGEDET_HAVE);
	/* Sent after it had stopped: data() is of 1970. */
	ck_assert_uint_eq(e.sent_stopped, PAGEDET_YES);
	/* Damaged on its way. */
	e = story(5, 6, 5);
	ck_assert_uint_eq(before_of(e), PAGEDET_HAVE);
	ck_assert_uint_eq(e.more_hash[PAGEDET_AS_BEFORE - PAGEDET_AS_MORE], 5);
	/* Written before sending, or damaged: that is not known. */
	e = story(5, 6, 6);
	ck_assert_uint_eq(before_of(e), 0);
	e = story(5, 6, 7);
	ck_assert_uint_eq(before_of(e), 0);
}
END_TEST

START_TEST(what_equals_what)
{
	const struct pagedet_seen zero = { .state = PAGEDET_SEEN_ZERO,
					   .hash = ZERO };
	const struct pagedet_seen hole = { .state = PAGEDET_SEEN_ABSENT };
	const struct pagedet_seen lost = { .state = PAGEDET_SEEN_LOST };
	const struct pagedet_seen none = { .state = PAGEDET_SEEN_NOTHING };
	const struct pagedet_seen x = data(1), y = data(2);

	ck_assert_uint_eq(pagedet_seen_equal(&zero, &hole), PAGEDET_YES);
	ck_assert_uint_eq(pagedet_seen_equal(&x, &x), PAGEDET_YES);
	ck_assert_uint_eq(pagedet_seen_equal(&x, &y), PAGEDET_NO);
	ck_assert_uint_eq(pagedet_seen_equal(&x, &hole), PAGEDET_NO);
	ck_assert_uint_eq(pagedet_seen_equal(&x, &lost), PAGEDET_DUNNO);
	ck_assert_uint_eq(pagedet_seen_equal(&none, &hole), PAGEDET_DUNNO);
}
END_TEST

static uint64_t found_last(const struct pagedet_elsewhere *found, size_t n,
			   uint64_t hash, uint64_t *times)
{
	size_t i;

	for (i = 0; i < n && found[i].hash != hash; i++)
		;
	ck_assert_uint_lt(i, n);
	*times = found[i].n;
	return found[i].last;
}

START_TEST(contents_elsewhere)
{
	struct pagedet_elsewhere found[] = {
		{ 70, 9, 9 }, { 7, 9, 9 }, { 70, 9, 9 }, { UINT64_MAX, 9, 9 },
		{ 0, 9, 9 },
	};
	struct pagedet_seen seen[101];
	uint64_t i, n;

	for (i = 0; i < 100; i++)
		seen[i] = data(i / 2);
	seen[100] = data(70);
	seen[0].state = seen[1].state = PAGEDET_SEEN_ZERO;
	ck_assert_int_eq(pagedet_seen_find(seen, 101, found, 5), 0);
	ck_assert_uint_eq(found_last(found, 5, 7, &n), 15);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(found_last(found, 5, 70, &n), 100);
	ck_assert_uint_eq(n, 1);
	found_last(found, 5, UINT64_MAX, &n);
	ck_assert_uint_eq(n, 0);
	found_last(found, 5, 0, &n);
	ck_assert_uint_eq(n, 0);
	/* Both searches for the same get the result. */
	ck_assert_uint_eq(found[2].hash, 70);
	ck_assert_uint_eq(found[3].hash, 70);
	ck_assert_uint_eq(found[3].n, 1);
	ck_assert_int_eq(pagedet_seen_find(seen, 101, NULL, 0), 0);
}
END_TEST

START_TEST(options_are_checked)
{
	struct pagedet_versions_options o = PAGEDET_VERSIONS_OPTIONS_INIT;
	struct pagedet_versions *v = NULL;

	ck_assert_int_eq(pagedet_versions_new(NULL, &v), -EINVAL);
	ck_assert_int_eq(pagedet_versions_new(&o, &v), -EINVAL);
	o.pages = ((uint64_t)1 << 40) + 1;
	ck_assert_int_eq(pagedet_versions_new(&o, &v), -EINVAL);
	ck_assert_ptr_null(v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("versions");

	unit_test(s, older_versions);
	unit_test(s, packed_versions_may_be_any);
	unit_test(s, devices_that_write_at_the_stop);
	unit_test(s, what_was_seen);
	unit_test(s, not_all_are_kept);
	unit_test(s, evidence_of_what_was_sent);
	unit_test(s, evidence_of_an_older_client);
	unit_test(s, evidence_of_what_was_before);
	unit_test(s, what_equals_what);
	unit_test(s, contents_elsewhere);
	unit_test(s, options_are_checked);
	return unit_main(s);
}
