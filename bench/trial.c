/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Runs sides in turn, and says what the times mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "trial.h"

enum side {
	PEER,
	BOUND,
	LIBRARY,
	AGAIN,			/* the bound once more */
	SIDES
};

struct times {
	double ns[TRIAL_MOST_ROUNDS];
	unsigned n;
};

struct run {
	const struct trial *trial;
	struct times side[SIDES];
	double low, high;	/* what the bound shows against itself */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double best(const struct times *t)
{
	double least = t->ns[0];
	unsigned i;

	for (i = 1; i < t->n; i++)
		least = t->ns[i] < least ? t->ns[i] : least;
	return least;
}

static double median(const struct times *t)
{
	struct times sorted = *t;

	qsort(sorted.ns, sorted.n, sizeof(*sorted.ns), by_value);
	if (sorted.n % 2)
		return sorted.ns[sorted.n / 2];
	return (sorted.ns[sorted.n / 2 - 1] + sorted.ns[sorted.n / 2]) / 2;
}

static const struct trial_side *side_of(const struct trial *t, unsigned side)
{
	if (side == PEER)
		return &t->peer;
	if (side == LIBRARY)
		return &t->library;
	return &t->bound;
}

static bool takes_part(const struct trial *t, unsigned side, unsigned round)
{
	if (!side_of(t, side)->name)
		return false;
	if (side == AGAIN)
		return t->tight;
	/* the peer's goals are wide: half of the rounds do, and save time */
	return side != PEER || !t->tight || round % 2 == 0;
}

static void measure(struct run *r, unsigned rounds)
{
	const struct trial *t = r->trial;
	double per = t->per ? t->per : 1;
	const struct trial_side *s;
	unsigned round, i, side;

	for (side = 0; side < AGAIN; side++)
		if (takes_part(t, side, 0))
			side_of(t, side)->run(side_of(t, side)->arg);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < SIDES; i++) {
			side = (i + round) % SIDES;
			if (!takes_part(t, side, round))
				continue;
			s = side_of(t, side);
			r->side[side].ns[r->side[side].n++] =
				(double)s->run(s->arg) / per;
		}
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#define DEALS 4000

/*
 * The ratio that is judged is best over best of two sets of runs. How far it
 * strays with two sets of the same: all runs of the bound are dealt into two
 * halves again and again; the middle 95 % of the ratios are the spread.
 */
static void spread(struct run *r)
{
	struct times all = r->side[BOUND], half[2];
	uint64_t state = 88172645463325252u;
	double ratio[DEALS], keep;
	unsigned deal, i, j;

	for (i = 0; i < r->side[AGAIN].n && all.n < TRIAL_MOST_ROUNDS; i++)
		all.ns[all.n++] = r->side[AGAIN].ns[i];
	for (deal = 0; deal < DEALS; deal++) {
		for (i = all.n - 1; i > 0; i--) {
			j = (unsigned)(next_random(&state) % (i + 1));
			keep = all.ns[i];
			all.ns[i] = all.ns[j];
			all.ns[j] = keep;
		}
		for (i = 0; i < 2; i++) {
			half[i].n = all.n / 2;
			memcpy(half[i].ns, all.ns + i * half[i].n,
			       half[i].n * sizeof(double));
		}
		ratio[deal] = best(&half[0]) / best(&half[1]);
	}
	qsort(ratio, DEALS, sizeof(*ratio), by_value);
	r->low = ratio[DEALS / 40];
	r->high = ratio[DEALS - 1 - DEALS / 40];
}

static void put_time(double ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s" };
	unsigned i = 0;

	for (; ns >= 1000 && i < 3; i++)
		ns /= 1000;
	printf("%.*f %s", ns < 10 ? 2 : ns < 100 ? 1 : 0, ns, unit[i]);
}

static void put_side(const struct run *r, unsigned side)
{
	if (!r->side[side].n) {
		printf("%s\t", side == PEER && r->trial->no_peer ?
		       r->trial->no_peer : "-");
		return;
	}
	if (side != LIBRARY)
		printf("%s: ", side_of(r->trial, side)->name);
	put_time(median(&r->side[side]));
	printf(" (best ");
	put_time(best(&r->side[side]));
	printf(")");
	if (side == LIBRARY && r->trial->most_ns) {
		printf(" (<= ");
		put_time(r->trial->most_ns);
		printf(")");
	}
	printf("\t");
}

/* Each returns whether its goal is met, and what there is to say if so. */
static bool judge_peer(const struct run *r)
{
	const struct trial *t = r->trial;
	double ratio;

	if (!r->side[PEER].n) {
		printf("-\t");
		return true;
	}
	ratio = median(&r->side[PEER]) / median(&r->side[LIBRARY]);
	if (t->peer_most) {
		printf("%.2fx its time (<= %.2fx)\t", 1 / ratio,
		       t->peer_most);
		return 1 / ratio <= t->peer_most;
	}
	if (ratio >= 100)
		printf("%.0fx faster", ratio);
	else
		printf("%.2fx faster", ratio);
	if (t->faster)
		printf(" (>= %.1fx)", t->faster);
	printf("\t");
	return ratio >= t->faster;
}

static bool judge_bound(const struct run *r, bool *within)
{
	const struct trial *t = r->trial;
	double ratio;

	*within = false;
	if (!r->side[BOUND].n) {
		printf("-\t");
		return true;
	}
	ratio = t->tight ? best(&r->side[LIBRARY]) / best(&r->side[BOUND]) :
		median(&r->side[LIBRARY]) / median(&r->side[BOUND]);
	printf("%.3fx its time", ratio);
	if (t->bound_most)
		printf(" (<= %.2fx)", t->bound_most);
	printf("\t");
	if (!t->bound_most || ratio <= t->bound_most)
		return true;
	*within = t->tight && ratio <= r->high;
	return *within;
}

void trial_run(const struct trial *t)
{
	struct run *r = calloc(1, sizeof(*r));
	unsigned rounds = t->rounds;
	bool peer, bound, within;

	if (!r)
		probe_die("no memory");
	if (!rounds)
		rounds = t->tight ? TRIAL_TIGHT_ROUNDS : TRIAL_ROUNDS;
	r->trial = t;
	measure(r, rounds);
	if (t->tight)
		spread(r);
	printf("%s\t", t->work);
	put_side(r, PEER);
	put_side(r, BOUND);
	put_side(r, LIBRARY);
	peer = judge_peer(r);
	bound = judge_bound(r, &within);
	if (t->tight)
		printf("%.3f-%.3f\t", r->low, r->high);
	else
		printf("-\t");
	if (t->no_peer && !t->most_ns && !t->bound_most)
		printf("no peer\n");
	else if (!t->faster && !t->peer_most && !t->bound_most && !t->most_ns)
		printf("no goal\n");
	else if (!peer || !bound ||
		 (t->most_ns && median(&r->side[LIBRARY]) > t->most_ns))
		printf("missed\n");
	else
		printf("%s\n", within ? "met, within the spread" : "met");
	fflush(stdout);
	free(r);
}

void trial_value(const char *work, double value, const char *unit,
		 double most)
{
	char goal[64] = "";

	if (most > 0)
		snprintf(goal, sizeof(goal), " (<= %.0f %s)", most, unit);
	printf("%s\t-\t-\t%.1f %s%s\t-\t-\t-\t%s\n", work, value, unit, goal,
	       !*goal ? "no goal" : value <= most ? "met" : "missed");
	fflush(stdout);
}

void trial_says(const char *work, const char *peer, const char *library,
		bool met)
{
	printf("%s\t%s\t-\t%s\t-\t-\t-\t%s\n", work, peer, library,
	       met ? "met" : "missed");
	fflush(stdout);
}
