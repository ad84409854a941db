/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which objects of a cache are drawn, and whether one still exists. */
#include <errno.h>

#include "../unit.h"
#include "breakpoint/draw.h"
#include "breakpoint/watch.h"

#define DIRECT 0xffff888000000000u
#define PAGE 4096u

static uint64_t pfns[] = { 7, 8, 100, 5000 };

static struct pdet_bp_draw begin(uint64_t seed)
{
	struct pdet_bp_draw d = { .direct = DIRECT, .page_size = PAGE,
				  .state = seed };

	d.pfns.data = pfns;
	d.pfns.n = 4;
	return d;
}

/* A seed repeats a choice, and another one is another choice. */
START_TEST(repeats)
{
	struct pdet_bp_draw a = begin(42), b = begin(42), c = begin(43);
	unsigned i, same = 0;

	for (i = 0; i < 100; i++) {
		const uint64_t x = pdet_bp_draw(&a);

		ck_assert_uint_eq(x, pdet_bp_draw(&b));
		same += x == pdet_bp_draw(&c);
	}
	ck_assert_uint_lt(same, 5);
}
END_TEST

/* All pages, and all parts of them, have about the same chance. */
START_TEST(fair)
{
	struct pdet_bp_draw d = begin(1);
	unsigned pages[4] = { 0 }, parts[4] = { 0 };
	unsigned i, j;

	for (i = 0; i < 4000; i++) {
		const uint64_t at = pdet_bp_draw(&d) - DIRECT;

		for (j = 0; j < 4 && pfns[j] != at / PAGE; j++)
			;
		ck_assert_uint_lt(j, 4);
		pages[j]++;
		parts[at % PAGE / (PAGE / 4)]++;
	}
	for (j = 0; j < 4; j++) {
		ck_assert_uint_gt(pages[j], 850);
		ck_assert_uint_lt(pages[j], 1150);
		ck_assert_uint_gt(parts[j], 850);
		ck_assert_uint_lt(parts[j], 1150);
	}
}
END_TEST

/* --- objects --- */

#define FILLS 70u

/* What the source says of its n-th address. */
static struct pdet_at answers[FILLS];
static size_t n_asked, n_sessions, n_opened;

static int session_new(struct pdet_backend *b, struct pdet_env *env,
		       const struct pdet_wants *wants,
		       struct pdet_session **ret)
{
	static struct pdet_session session;

	ck_assert(wants->walks);
	ck_assert(pdet_fields_has(&wants->fields, PAGEDET_FIELD_OBJECT));
	session = (struct pdet_session){ .backend = b, .env = *env };
	n_sessions++;
	n_opened++;
	*ret = &session;
	return 0;
}

static int session_fails(struct pdet_backend *b, struct pdet_env *env,
			 const struct pdet_wants *wants,
			 struct pdet_session **ret)
{
	ck_assert_ptr_nonnull(b);
	ck_assert_ptr_nonnull(wants);
	*ret = NULL;
	return pdet_fail(env, EIO, "broken");
}

static void session_free(struct pdet_session *s)
{
	ck_assert_ptr_nonnull(s);
	n_sessions--;
}

static void object_at(struct pdet_session *s, uint64_t addr,
		      struct pdet_at *ret)
{
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_ge(addr, DIRECT + 7 * PAGE);
	*ret = answers[PDET_MIN(n_asked, FILLS - 1)];
	n_asked++;
}

static const struct pdet_backend_ops
	deaf = { .session_new = session_new },
	broken = { .session_new = session_fails, .object_at = object_at },
	good = { .session_new = session_new, .session_free = session_free,
		 .object_at = object_at };

static int draw(struct pdet_bp_draw *d, struct pdet_env *env,
		const struct pdet_backend_ops *second, struct pdet_at *ret)
{
	static char no_root[1];
	struct pdet_backend one = { .ops = &deaf }, two = { .ops = second };
	struct pdet_backend *all[] = { &one, &two };
	const struct pdet_bp_sources sources = { all, second ? 2 : 1 };
	int r;

	*env = (struct pdet_env){ .root = no_root };
	n_asked = 0;
	r = pdet_bp_draw_object(d, &sources, env, ret);
	ck_assert_uint_eq(n_sessions, 0);
	return r;
}

static struct pdet_at object(const char *cache, unsigned use)
{
	struct pdet_at a = { .kind = PDET_AT_OBJECT, .use = use,
			     .state = use ? PAGEDET_HAVE : PAGEDET_NO_TYPES };

	snprintf(a.cache, sizeof(a.cache), "%s", cache);
	return a;
}

static void say_all(struct pdet_at a)
{
	size_t i;

	for (i = 0; i < FILLS; i++)
		answers[i] = a;
}

/* The first that is in use; what was met before is counted. */
START_TEST(takes)
{
	struct pdet_bp_draw d = begin(1);
	struct pdet_env env;
	struct pdet_at at;

	strcpy(d.cache, "filp");
	say_all(object("filp", PAGEDET_OBJECT_FREE));
	answers[0] = (struct pdet_at){ .kind = PDET_AT_OTHER };
	answers[1] = object("filp2", PAGEDET_OBJECT_USED);
	answers[2] = object("filp", 0);
	answers[40] = object("filp", PAGEDET_OBJECT_USED);
	answers[40].address = DIRECT + 123;
	ck_assert_int_eq(draw(&d, &env, &good, &at), 1);
	ck_assert_uint_eq(at.address, DIRECT + 123);
	ck_assert_uint_eq(d.elsewhere, 2);
	ck_assert_uint_eq(d.unknown, 1);
	ck_assert_uint_eq(d.free, 37);
	ck_assert_uint_eq(d.drawn, 1);
	ck_assert(!d.kept);
}
END_TEST

START_TEST(none_used)
{
	struct pdet_bp_draw d = begin(1);
	struct pdet_env env;
	struct pdet_at at = object("filp", 0);

	strcpy(d.cache, "filp");
	at.kept = true;
	say_all(at);
	ck_assert_int_eq(draw(&d, &env, &good, &at), 0);
	ck_assert_uint_eq(d.unknown, 1024);
	ck_assert_uint_eq(d.drawn + d.free + d.elsewhere, 0);
	ck_assert(d.kept);
}
END_TEST

START_TEST(fails)
{
	struct pdet_bp_draw d = begin(1);
	struct pdet_env env;
	struct pdet_at at;

	ck_assert_int_eq(draw(&d, &env, &broken, &at), -EIO);
	ck_assert_str_eq(env.error, "broken");
	ck_assert_int_eq(draw(&d, &env, NULL, &at), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(env.error, "no open source"));
	ck_assert_uint_eq(d.drawn + d.free + d.unknown + d.elsewhere, 0);
}
END_TEST

/* --- whether it still exists --- */

START_TEST(exists)
{
	static const struct {
		const char *before, *now;
		unsigned state, use, is, why;
		bool kept;
	} all[] = {
		{ "filp", "filp", PAGEDET_HAVE, PAGEDET_OBJECT_USED,
		  PAGEDET_OBJECT_USED, PAGEDET_HAVE, false },
		{ "filp", "filp", PAGEDET_HAVE, PAGEDET_OBJECT_FREE,
		  PAGEDET_OBJECT_FREE, PAGEDET_HAVE, false },
		{ "filp", "filp", PAGEDET_RACED, 0, 0, PAGEDET_RACED, false },
		{ "filp", "filp", PAGEDET_NO_TYPES, 0, 0, PAGEDET_NO_KERNEL,
		  true },
		/* Another cache has the page, or none. */
		{ "filp", "dentry", PAGEDET_HAVE, PAGEDET_OBJECT_USED,
		  PAGEDET_OBJECT_FREE, PAGEDET_HAVE, false },
		{ "filp", "", PAGEDET_NONE, 0, PAGEDET_OBJECT_FREE,
		  PAGEDET_HAVE, false },
		/* It cannot be read. */
		{ "filp", "", PAGEDET_NO_TYPES, 0, 0, PAGEDET_NO_TYPES, false },
		/* It had none. */
		{ "", "filp", PAGEDET_HAVE, PAGEDET_OBJECT_USED,
		  PAGEDET_OBJECT_USED, PAGEDET_HAVE, false },
		{ "", "", PAGEDET_NONE, 0, 0, PAGEDET_NONE, false },
	};
	struct pdet_bp_object o = { .state = PAGEDET_OBJECT_USED };
	struct pdet_at at = object(all[_i].now, all[_i].use);

	at.kind = *all[_i].now ? PDET_AT_OBJECT : PDET_AT_NAMED;
	at.state = all[_i].state;
	at.kept = all[_i].kept;
	strcpy(o.cache, all[_i].before);
	pdet_bp_object_take(&o, &at);
	ck_assert_uint_eq(o.state, all[_i].is);
	ck_assert_uint_eq(o.why, all[_i].why);
	ck_assert_str_eq(o.cache, all[_i].now);
	ck_assert_int_eq(o.is_data, !*all[_i].now);
}
END_TEST

/* A slab that changes while it is read is read again, but not for ever. */
START_TEST(looks)
{
	static const struct {
		unsigned raced, state, asked;
	} all[] = {
		{ 0, PAGEDET_OBJECT_USED, 1 },
		{ 3, PAGEDET_OBJECT_USED, 4 },
		{ FILLS, 0, 16 },
	};
	struct pdet_backend one = { .ops = &good };
	struct pdet_backend *backend = &one;
	const struct pdet_bp_sources sources = { &backend, 1 };
	static char no_root[1];
	struct pdet_env env = { .root = no_root };
	struct pdet_bp_object o = { .address = DIRECT + 7 * PAGE };
	unsigned i;

	say_all(object("filp", PAGEDET_OBJECT_USED));
	for (i = 0; i < all[_i].raced; i++) {
		answers[i] = object("filp", 0);
		answers[i].state = PAGEDET_RACED;
	}
	n_asked = 0;
	pdet_bp_object_look(&sources, &env, &o);
	ck_assert_uint_eq(o.state, all[_i].state);
	ck_assert_uint_eq(o.why, o.state ? PAGEDET_HAVE : PAGEDET_RACED);
	ck_assert_str_eq(o.cache, "filp");
	ck_assert_uint_eq(n_asked, all[_i].asked);
	ck_assert_uint_eq(n_sessions, 0);
}
END_TEST

/* What stays unknown is not asked for again. */
START_TEST(stays_unknown)
{
	struct pdet_backend one = { .ops = &good };
	struct pdet_backend *backend = &one;
	const struct pdet_bp_sources sources = { &backend, 1 };
	static char no_root[1];
	struct pdet_env env = { .root = no_root };
	struct pdet_bp_object o = { .address = DIRECT + 7 * PAGE };

	say_all(object("filp", 0));
	n_asked = 0;
	pdet_bp_object_look(&sources, &env, &o);
	ck_assert_uint_eq(o.state, 0);
	ck_assert_uint_eq(n_asked, 1);
}
END_TEST

/* --- whether it is memory --- */

/* Of a range that is in three pages. */
static unsigned map_of(const struct pdet_backend_ops *ops, uint64_t *hole)
{
	struct pdet_backend one = { .ops = ops };
	struct pdet_backend *backend = &one;
	const struct pdet_bp_sources sources = { &backend, ops ? 1 : 0 };
	static char no_root[1];
	struct pdet_env env = { .root = no_root };
	const struct pdet_bp_object o = { .address = DIRECT + 8 * PAGE - 8,
					  .bytes = PAGE + 16 };

	n_asked = n_opened = 0;
	return pdet_bp_object_map(&sources, &env, &o, PAGE, hole);
}

START_TEST(maps)
{
	struct pdet_at memory = object("filp", PAGEDET_OBJECT_USED);
	uint64_t hole = 1;

	memory.map = PAGEDET_HAVE;
	say_all(memory);
	ck_assert_uint_eq(map_of(&good, &hole), PAGEDET_HAVE);
	ck_assert_uint_eq(n_asked, 3);
	ck_assert_uint_eq(n_opened, 1);
	/* What changes is asked for again, with the others. */
	answers[1].map = answers[2].map = PAGEDET_RACED;
	ck_assert_uint_eq(map_of(&good, &hole), PAGEDET_HAVE);
	ck_assert_uint_eq(n_asked, 6);
	ck_assert_uint_eq(n_opened, 2);
	answers[1].map = PAGEDET_NO_TYPES;
	answers[2].map = PAGEDET_HAVE;
	ck_assert_uint_eq(map_of(&good, &hole), PAGEDET_NO_TYPES);
	ck_assert_uint_eq(map_of(&broken, &hole), PAGEDET_IO);
	ck_assert_uint_eq(map_of(&deaf, &hole), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(map_of(NULL, &hole), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(hole, 1);
	answers[2].map = PAGEDET_NONE;
	ck_assert_uint_eq(map_of(&good, &hole), PAGEDET_NONE);
	ck_assert_uint_eq(hole, DIRECT + 9 * PAGE);
	answers[1].map = PAGEDET_NONE;
	ck_assert_uint_eq(map_of(&good, &hole), PAGEDET_NONE);
	ck_assert_uint_eq(hole, DIRECT + 8 * PAGE);
}
END_TEST

/* The last page of all has no next one. */
START_TEST(maps_last)
{
	struct pdet_backend one = { .ops = &good };
	struct pdet_backend *backend = &one;
	const struct pdet_bp_sources sources = { &backend, 1 };
	static char no_root[1];
	struct pdet_env env = { .root = no_root };
	const struct pdet_bp_object o = { .address = UINT64_MAX - 7,
					  .bytes = 8 };
	struct pdet_at memory = { .map = PAGEDET_HAVE };
	uint64_t hole;

	say_all(memory);
	n_asked = 0;
	ck_assert_uint_eq(pdet_bp_object_map(&sources, &env, &o, PAGE, &hole),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(n_asked, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("draw");

	unit_test(s, repeats);
	unit_test(s, fair);
	unit_test(s, takes);
	unit_test(s, none_used);
	unit_test(s, fails);
	unit_loop(s, exists, 9);
	unit_loop(s, looks, 3);
	unit_test(s, stays_unknown);
	unit_test(s, maps);
	unit_test(s, maps_last);
	return unit_main(s);
}
