/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Simulates migrations and measures how often findings are true, as a table by
 * confidence. PDET_SEED sets another seed; the seed is printed.
 */
#include <stdlib.h>

#include "../migration_model.h"
#include "../unit.h"

#define RUNS 200		/* for each kind */
#define CLEAN 2000

/* The observations of agents. */
static const struct {
	const char *name;
	uint32_t looks;
} agents[] = {
	{ "all looks", LOOK_ALL },
	{ "no write tracking", LOOK_ALL & ~(uint32_t)LOOK_TRACK },
	{ "not when disks have ended", LOOK_ALL & ~(uint32_t)LOOK_DRAINED },
	{ "no look as it stopped", LOOK_ALL & ~(uint32_t)LOOK_STOPPED },
	{ "no look before it is sent", LOOK_ALL & ~(uint32_t)LOOK_BEFORE },
	{ "no tap", LOOK_ALL & ~(uint32_t)(LOOK_SENT | LOOK_BEFORE) },
	{ "three hashes", LOOK_SENT | LOOK_COMPARE | LOOK_FROZEN |
			  LOOK_EARLIER | LOOK_PLACES | LOOK_FILE |
			  LOOK_COUNTERS },
	{ "some looks", 0 },	/* others each time */
};

#define AGENTS (sizeof(agents) / sizeof(agents[0]))

static uint64_t seed;
static unsigned wrong;
static char room[65536];
static uint64_t said[AGENTS][5], right[AGENTS][5], untold[AGENTS];

/* Each of them is printed, and none is allowed. */
#define WRONG(...) do {                                                      \
	wrong++;                                                             \
	printf("# wrong: " __VA_ARGS__);                                     \
	printf("\n");                                                        \
	fflush(stdout);                                                      \
} while (0)

static uint32_t looks_of(unsigned agent)
{
	return agents[agent].looks ? agents[agent].looks :
				     (uint32_t)model_some(LOOK_ALL + 1);
}

static void explain(const struct world *w, uint32_t looks,
		    struct pagedet_finding *f)
{
	static struct pagedet_evidence e;

	model_evidence(w, looks, &e);
	f->size = sizeof(*f);
	if (pagedet_explain(&e, 1, room, sizeof(room), f, 1) != 1)
		ck_abort_msg("not one finding");
}

/* What the guest wrote when it ran there is not damage. */
static void check_ran(const struct world *w, const struct kind *k,
		      const struct pagedet_finding *f)
{
	if ((w->flags & SOURCE_RAN && f->here_intact == PAGEDET_NO) ||
	    (w->flags & PEER_RAN && f->peer_intact == PAGEDET_NO))
		WRONG("%s: %s blames the side that ran", k->name, f->name);
}

/* The model knows which side is damaged, unless the guest continued. */
static void check_sides(const struct world *w, const struct kind *k,
			const struct pagedet_finding *f)
{
	const bool here = w->src != w->truth || w->src_poison;
	const bool peer = w->dst != w->truth || w->dst_poison;

	check_ran(w, k, f);
	if (w->flags & (SOURCE_RAN | PEER_RAN | UNSTEADY))
		return;
	if (w->unwanted && (f->here_intact != PAGEDET_DUNNO ||
			    f->peer_intact != PAGEDET_DUNNO))
		WRONG("%s: %s judges what the guest does not want", k->name,
			     f->name);
	if (w->unwanted)
		return;
	if ((here && f->here_intact == PAGEDET_YES) ||
	    (peer && f->peer_intact == PAGEDET_YES))
		WRONG("%s: %s calls a damaged side intact", k->name,
			     f->name);
	if ((!here && f->here_intact == PAGEDET_NO) ||
	    (!peer && f->peer_intact == PAGEDET_NO))
		WRONG("%s: %s blames the side that is right", k->name,
			     f->name);
	if ((here && f->lets_run == PAGEDET_SIDE_HERE) ||
	    (peer && f->lets_run == PAGEDET_SIDE_PEER))
		WRONG("%s: %s lets a damaged side go on", k->name,
			     f->name);
}

static void judge(const struct world *w, const struct kind *k, unsigned agent)
{
	struct pagedet_finding f;
	bool is_right;

	explain(w, looks_of(agent), &f);
	check_sides(w, k, &f);
	if (f.verdict == PAGEDET_VERDICT_CANNOT_TELL) {
		untold[agent]++;
		return;
	}
	is_right = model_right(w, k, &f);
	said[agent][f.confidence]++;
	right[agent][f.confidence] += is_right;
	if (!is_right && f.confidence <= PAGEDET_CONFIDENCE_MEDIUM &&
	    getenv("PDET_WRONG"))
		printf("# %s: %s: %s, %s\n", agents[agent].name, k->name,
		       f.name, pagedet_confidence_name(f.confidence));
	if (!is_right && f.confidence >= PAGEDET_CONFIDENCE_HIGH)
		WRONG("%s, %s: %s, %s", k->name, agents[agent].name,
			     f.name, pagedet_confidence_name(f.confidence));
}

static void begin(void)
{
	const char *text = getenv("PDET_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20260101;
	model_seed(seed);
	printf("# seed %llu\n", (unsigned long long)seed);
}

static void print_line(const char *name, const uint64_t *n, const uint64_t *ok,
		       uint64_t none)
{
	unsigned c;

	printf("# %-26s", name);
	for (c = PAGEDET_CONFIDENCE_CERTAIN; c; c--)
		if (n[c])
			printf(" %6llu %5.1f%%", (unsigned long long)n[c],
			       100.0 * (double)ok[c] / (double)n[c]);
		else
			printf("      0      -");
	printf(" %6llu\n", (unsigned long long)none);
}

static void print_table(uint64_t *n, uint64_t *ok)
{
	uint64_t none = 0;
	unsigned a, c;

	printf("# %-26s %13s %13s %13s %13s %6s\n", "what is looked at",
	       "certain", "high", "medium", "low", "unsaid");
	for (a = 0; a < AGENTS; a++) {
		print_line(agents[a].name, said[a], right[a], untold[a]);
		for (c = 0; c < 5; c++) {
			n[c] += said[a][c];
			ok[c] += right[a][c];
		}
		none += untold[a];
	}
	print_line("all of them", n, ok, none);
}

START_TEST(faults)
{
	uint64_t n[5] = { 0 }, ok[5] = { 0 };
	const struct kind *k;
	struct world w;
	unsigned a, i;

	begin();
	for (k = model_kinds; k->name; k++)
		for (i = 0; i < RUNS; i++) {
			model_run(&w, k);
			for (a = 0; a < AGENTS; a++)
				judge(&w, k, a);
		}
	ck_assert_int_ge(k - model_kinds, 40);
	print_table(n, ok);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(n[PAGEDET_CONFIDENCE_HIGH], 0);
	ck_assert_uint_gt(n[PAGEDET_CONFIDENCE_CERTAIN], 0);
	ck_assert_uint_ge(ok[PAGEDET_CONFIDENCE_MEDIUM] * 100,
			  n[PAGEDET_CONFIDENCE_MEDIUM] * 80);
}
END_TEST

static void look_less(const struct world *w, const struct kind *k,
		      uint32_t looks, uint32_t without)
{
	struct pagedet_finding more, less;

	explain(w, looks, &more);
	explain(w, looks & ~without, &less);
	/* "Cannot tell" is not a confidence. */
	if (more.verdict != PAGEDET_VERDICT_CANNOT_TELL &&
	    less.confidence > more.confidence)
		WRONG("%s: without look 0x%x %s becomes %s: %s instead of %s",
		      k->name, without, more.name, less.name,
		      pagedet_confidence_name(less.confidence),
		      pagedet_confidence_name(more.confidence));
}

/* With consistent evidence, another finding must not be more certain either. */
START_TEST(looking_less_makes_nothing_surer)
{
	const struct kind *k;
	struct world w;
	unsigned i;

	begin();
	for (k = model_kinds; k->name; k++)
		for (i = 0; i < 10 * RUNS; i++) {
			const uint32_t looks = i % 2 ? LOOK_ALL :
				(uint32_t)model_some(LOOK_ALL + 1);

			model_run(&w, k);
			look_less(&w, k, looks, 1u << model_some(LOOKS));
		}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(nothing_is_wrong)
{
	struct pagedet_finding f;
	struct world w;
	unsigned a, i, fine = 0;

	begin();
	for (i = 0; i < CLEAN; i++) {
		model_run(&w, NULL);
		for (a = 0; a < AGENTS; a++) {
			explain(&w, looks_of(a), &f);
			if (f.verdict == PAGEDET_VERDICT_CAUSE)
				ck_abort_msg("%s: %s", agents[a].name, f.name);
			fine += f.verdict == PAGEDET_VERDICT_FINE;
		}
	}
	ck_assert_uint_eq(fine, CLEAN * AGENTS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("calibration");

	unit_test(s, faults);
	unit_test(s, looking_less_makes_nothing_surer);
	unit_test(s, nothing_is_wrong);
	return unit_main(s);
}
