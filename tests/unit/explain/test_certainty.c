/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the confidence of findings for any evidence. Alternatives that are not
 * excluded lower it, fewer observations never raise it, and no advice lets a
 * side continue that is not proven intact. PDET_SEED sets another seed; the
 * seed is printed.
 */
#include <stdlib.h>

#include "../explain_any.h"

#define EVIDENCES 100000

static struct pagedet_finding before[8];
static uint32_t sure;

static void take_seed(void)
{
	const char *text = getenv("PDET_SEED");

	seed = text ? strtoull(text, NULL, 0) : 0x5eed5eed5eed5eed;
	seed += !seed;
	printf("# seed 0x%llx\n", (unsigned long long)seed);
}

/* Redirects a finding's pointers to a copy of the arena. */
static void move(struct pagedet_finding *f, const char *to)
{
	if (!f->n_alternatives)
		return;
	f->alternatives = (const void *)
		(to + ((const char *)f->alternatives - arena));
}

static void ask_all(struct pagedet_finding *f)
{
	e.questions = 0xff;
	f[0].size = sizeof(f[0]);
	if (pagedet_explain(&e, 1, arena, sizeof(arena), f, 8) != 8)
		ck_abort_msg("not eight findings");
}

static void some_asked(struct pagedet_finding *f)
{
	some_evidence();
	memcpy(e.here, &here, sizeof(here));
	memcpy(e.peer, &peer, sizeof(peer));
	ask_all(f);
}

static void check_alternatives(const struct pagedet_finding *f)
{
	uint32_t i;

	if (f->confidence < PAGEDET_CONFIDENCE_HIGH)
		return;
	sure++;
	if (!f->n_alternatives)
		ck_abort_msg("%s is %s, and was compared with nothing",
			     f->name, pagedet_confidence_name(f->confidence));
	for (i = 0; i < f->n_alternatives; i++)
		if (f->alternatives[i].state != PAGEDET_ALTERNATIVE_EXCLUDED)
			ck_abort_msg("%s is %s, and %s is not excluded",
				     f->name,
				     pagedet_confidence_name(f->confidence),
				     f->alternatives[i].name);
}

START_TEST(sure_only_without_alternatives)
{
	struct pagedet_finding f[8];
	unsigned i, k;

	take_seed();
	for (i = 0; i < EVIDENCES; i++) {
		some_asked(f);
		for (k = 0; k < 8; k++)
			check_alternatives(&f[k]);
	}
	/* Otherwise the test was empty. */
	ck_assert_uint_gt(sure, EVIDENCES / 2);
}
END_TEST

/* --- to look at less --- */

#define KNOWN(name) { #name, offsetof(struct pagedet_evidence, name) }

static const struct {
	const char *name;
	size_t at;
} known[] = {
	KNOWN(here_frozen), KNOWN(peer_frozen), KNOWN(here_read),
	KNOWN(peer_read), KNOWN(track), KNOWN(compared), KNOWN(file_written),
	KNOWN(extra_mappers), KNOWN(counters_here), KNOWN(counters_peer),
	KNOWN(same_as_other), KNOWN(unique), KNOWN(earlier),
	KNOWN(peer_complete), KNOWN(alloc_task), KNOWN(no_swap),
	KNOWN(here_hole), KNOWN(peer_hole), KNOWN(here_missing),
	KNOWN(peer_missing), KNOWN(here_discarded), KNOWN(sent_stopped),
	KNOWN(here_ran), KNOWN(peer_ran), KNOWN(here_other_maps),
	KNOWN(peer_other_maps), KNOWN(folio_counted),
	KNOWN(stopped_drained),
};

#define N_KNOWN (sizeof(known) / sizeof(known[0]))

static void blind_version(unsigned v)
{
	const unsigned more = v - PAGEDET_AS_MORE;

	if (v < PAGEDET_AS_MORE) {
		e.hash_state[v] = PAGEDET_NOT_ASKED;
		e.zero[v] = PAGEDET_DUNNO;
		return;
	}
	e.more_state[more] = PAGEDET_NOT_ASKED;
	e.more_zero[more] = PAGEDET_DUNNO;
}

static void blind_row(uint64_t *words, unsigned field)
{
	struct pagedet_page row;

	memcpy(&row, words, sizeof(row));
	row.cell[field] = PAGEDET_NOT_ASKED;
	memcpy(words, &row, sizeof(row));
}

/* Removes one piece of knowledge, and returns which. */
static const char *blind(void)
{
	static char name[32];
	const uint64_t n = some(N_KNOWN + 8 + 40);
	unsigned field;

	if (n < N_KNOWN) {
		memset((char *)&e + known[n].at, 0, sizeof(uint32_t));
		return known[n].name;
	}
	if (n < N_KNOWN + 8) {
		blind_version((unsigned)(n - N_KNOWN));
		snprintf(name, sizeof(name), "version %u",
			 (unsigned)(n - N_KNOWN));
		return name;
	}
	field = (unsigned)some(PAGEDET_FIELDS_MAX);
	blind_row(some(2) ? e.here : e.peer, field);
	snprintf(name, sizeof(name), "field %u", field);
	return name;
}

/*
 * Random evidence contradicts itself: a claim that a side was frozen is refuted
 * by two different reads, but believed without them. The case counts only if no
 * further alternative becomes excluded.
 */
static bool is_only_less(const struct pagedet_finding *was_f,
			 const struct pagedet_finding *f)
{
	uint32_t i;

	if (was_f->rule != f->rule || was_f->verdict != f->verdict ||
	    was_f->n_alternatives != f->n_alternatives)
		return false;
	for (i = 0; i < f->n_alternatives; i++)
		if (f->alternatives[i].state == PAGEDET_ALTERNATIVE_EXCLUDED &&
		    was_f->alternatives[i].state !=
		    PAGEDET_ALTERNATIVE_EXCLUDED)
			return false;
	return true;
}

START_TEST(looking_less_makes_nothing_surer)
{
	static char room[ROOM];
	struct pagedet_finding f[8];
	const char *what;
	unsigned i, k, less = 0, alike = 0;

	take_seed();
	for (i = 0; i < EVIDENCES; i++) {
		some_asked(before);
		memcpy(room, arena, sizeof(room));
		for (k = 0; k < 8; k++)
			move(&before[k], room);
		what = blind();
		ask_all(f);
		for (k = 0; k < 8; k++) {
			less += f[k].confidence < before[k].confidence;
			if (!is_only_less(&before[k], &f[k]))
				continue;
			alike++;
			if (f[k].confidence > before[k].confidence)
				ck_abort_msg("without %s %s is %s instead of "
					     "%s", what, f[k].name,
					     pagedet_confidence_name(
						f[k].confidence),
					     pagedet_confidence_name(
						before[k].confidence));
		}
	}
	ck_assert_uint_gt(less, 1000);
	ck_assert_uint_gt(alike, EVIDENCES);
}
END_TEST

/* --- which side may go on --- */

static void check_advice(const struct pagedet_finding *f)
{
	const bool here_ok = f->here_intact == PAGEDET_YES;
	const bool peer_ok = f->peer_intact == PAGEDET_YES;

	if (f->lets_run == PAGEDET_SIDE_HERE && !here_ok)
		ck_abort_msg("%s lets the source go on", f->name);
	if (f->lets_run == PAGEDET_SIDE_PEER && !peer_ok)
		ck_abort_msg("%s lets the peer go on", f->name);
	if ((f->lets_run == PAGEDET_SIDE_HERE && e.peer_ran != PAGEDET_NO) ||
	    (f->lets_run == PAGEDET_SIDE_PEER && e.here_ran != PAGEDET_NO))
		ck_abort_msg("%s loses what a guest did that ran", f->name);
	if (strstr(f->advice, "copy again") && !here_ok)
		ck_abort_msg("%s: %s", f->name, f->advice);
	if (strstr(f->advice, "the peer has what the source had") && !peer_ok)
		ck_abort_msg("%s: %s", f->name, f->advice);
	if (here_ok && (f->rule == 15 || f->rule == 17))
		ck_abort_msg("%s blames a side that is intact", f->name);
}

START_TEST(no_side_goes_on_unproven)
{
	struct pagedet_finding f[8];
	unsigned i, k, lets = 0;

	take_seed();
	for (i = 0; i < EVIDENCES; i++) {
		some_asked(f);
		for (k = 0; k < 8; k++) {
			check_advice(&f[k]);
			lets += f[k].lets_run != 0;
		}
	}
	ck_assert_uint_gt(lets, 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("certainty");

	unit_test(s, sure_only_without_alternatives);
	unit_test(s, looking_less_makes_nothing_surer);
	unit_test(s, no_side_goes_on_unproven);
	return unit_main(s);
}
