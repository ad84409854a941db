/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests parts of the example migration_agent that need no machine. */
#include <sys/socket.h>
#include <unistd.h>

#include "../../../examples/migration_agent/agent.h"
#include "../unit.h"

/* A late answer to an abandoned command is not that to the current one. */
START_TEST(late_answers_are_passed_over)
{
	static const char says[] =
		"{\"return\": \"late\", \"id\": 1}\n"
		"{\"event\": \"RESUME\"}\n"
		"{\"error\": {\"desc\": \"late as well\"}, \"id\": 1}\n"
		"{\"return\": \"now\", \"id\": 2}\n"
		"{\"error\": {\"desc\": \"no\"}, \"id\": 3}\n";
	struct qmp q = { .fd = -1, .asked = 1 };
	json_t *answer;
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(write(fd[1], says, strlen(says)),
			 (int)strlen(says));
	q.fd = fd[0];
	answer = qmp_ask(&q, "query-status", NULL);
	ck_assert_str_eq(json_string_value(answer), "now");
	ck_assert(q.resumed && !q.gone);
	json_decref(answer);
	ck_assert_ptr_null(qmp_ask(&q, "stop", NULL));
	ck_assert_str_eq(q.error, "stop: no");
	close(fd[1]);
	ck_assert_ptr_null(qmp_ask(&q, "stop", NULL));
	ck_assert(q.gone);
	qmp_close(&q);
}
END_TEST

/* A first RESUME belongs to what was before. */
START_TEST(machines_that_stop_and_run_again)
{
	static const char *const says[] = {
		"{\"event\": \"RESUME\"}\n", "{\"event\": \"STOP\"}\n",
		"{\"event\": \"RESUME\"}\n", "{\"event\": \"STOP\"}\n",
	};
	struct qmp q = { .fd = -1 };
	size_t i;
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	q.fd = fd[0];
	for (i = 0; i < sizeof(says) / sizeof(*says); i++) {
		ck_assert_int_eq(write(fd[1], says[i], strlen(says[i])),
				 (int)strlen(says[i]));
		qmp_events(&q);
		ck_assert_int_eq(q.stopped, i >= 1);
		ck_assert_int_eq(q.ran_again, i >= 2);
	}
	close(fd[1]);
	qmp_close(&q);
}
END_TEST

/* One page with a cause, and others that are equal. */
static void one_differs(char *text, size_t size, uint64_t pages)
{
	struct pagedet_finding f = { .verdict = PAGEDET_VERDICT_CAUSE };
	struct difference d = { .finding = &f };
	struct agent a = { .pages = pages, .n_different = 1,
			   .n_differences = 1, .differences = &d };

	a.vm[SOURCE].frozen = a.vm[DESTINATION].frozen = PAGEDET_YES;
	report_verdict(&a, text, size);
}

START_TEST(verdict_is_grammatical)
{
	char text[256];

	one_differs(text, sizeof(text), 32832);
	ck_assert_str_eq(text, "Different: 1 of 32832 pages differs, and each "
			 "is explained below.");
	one_differs(text, sizeof(text), 1);
	ck_assert_str_eq(text, "Different: 1 of 1 page differs, and each is "
			 "explained below.");
}
END_TEST

/* Its memory changed after the switch, without a fault. */
START_TEST(sources_that_went_on_are_named)
{
	struct agent a = { .pages = 1, .n_equal = 1 };
	char text[256];

	/* As it is once it was stopped and read. */
	a.vm[SOURCE].ran = true;
	a.vm[SOURCE].frozen = PAGEDET_NO;
	a.vm[DESTINATION].frozen = PAGEDET_YES;
	report_verdict(&a, text, sizeof(text));
	ck_assert_str_eq(text, "Cannot tell: the source went on after the "
			 "switch, and was stopped before it was compared.");
	ck_assert_int_eq(report_status(&a), AGENT_UNSURE);
}
END_TEST

/* --- what only the agent knows --- */

#define KEY 7u
#define ZERO_HASH 3u

/* A page that differs; the source has what was sent. */
struct one {
	struct agent a;
	struct pagedet_seen source, destination, again;
	struct difference d;
	struct pagedet_evidence e;
};

static void one_page(struct one *o)
{
	struct pagedet_versions_options of = PAGEDET_VERSIONS_OPTIONS_INIT;
	struct agent *a = &o->a;

	memset(o, 0, sizeof(*o));
	o->source = (struct pagedet_seen){ .hash = 11, .time_ns = 9,
					   .state = PAGEDET_SEEN_DATA };
	o->again = o->source;
	o->destination = (struct pagedet_seen){ .hash = 12, .time_ns = 9,
						.state = PAGEDET_SEEN_DATA };
	o->e.size = sizeof(o->e);
	a->now[SOURCE] = &o->source;
	a->now[DESTINATION] = &o->destination;
	a->again = &o->again;
	a->differences = &o->d;
	a->evidence = &o->e;
	a->hash_key = of.hash_key = KEY;
	a->hash_zero = of.hash_zero = ZERO_HASH;
	a->pages = of.pages = a->n_differences = a->n_different = 1;
	a->blocks[0].pages = a->n_blocks = 1;
	a->vm[SOURCE].frozen = a->vm[DESTINATION].frozen = PAGEDET_YES;
	ck_assert_int_eq(pagedet_versions_new(&of, &a->versions), 0);
	pagedet_versions_sent(a->versions, 0, PAGEDET_SENT_KNOWN, 11, 1);
	pagedet_versions_complete(a->versions, 1);
}

static void add_and_free(struct one *o)
{
	ck_assert_int_eq(evidence_add(&o->a), 0);
	pagedet_versions_free(o->a.versions);
}

START_TEST(of_given_processes_history_is_not_known)
{
	struct one o;

	one_page(&o);
	o.a.o.blocks = "map";
	o.destination.state = PAGEDET_SEEN_ABSENT;
	/* The file was written before the list of hashes was read. */
	o.a.blocks[0].written_ns = 1;
	o.a.after = (struct counters){ .sum = 5, .known = true,
				       .is_read = true };
	add_and_free(&o);
	ck_assert_uint_eq(o.e.hash[PAGEDET_AS_SENT], 11);
	ck_assert_uint_eq(o.e.hash_state[PAGEDET_AS_SENT], PAGEDET_HAVE);
	ck_assert_uint_eq(o.e.here_frozen, PAGEDET_YES);
	ck_assert_uint_eq(o.e.peer_frozen, PAGEDET_YES);
	ck_assert_uint_eq(o.e.here_ran, PAGEDET_DUNNO);
	ck_assert_uint_eq(o.e.peer_ran, PAGEDET_DUNNO);
	ck_assert_uint_eq(o.e.counters_here, PAGEDET_DUNNO);
	ck_assert_uint_eq(o.e.counters_peer, PAGEDET_DUNNO);
	ck_assert_uint_eq(o.e.file_written, PAGEDET_DUNNO);
	ck_assert_uint_eq(o.e.hash_ns[PAGEDET_AS_SENT], 0);
	ck_assert_uint_eq(o.e.earlier, PAGEDET_DUNNO);
	ck_assert_uint_eq(o.e.peer_complete, PAGEDET_DUNNO);
	ck_assert_uint_eq(o.e.peer_discarded, PAGEDET_DUNNO);
}
END_TEST

START_TEST(of_a_migration_that_was_seen_it_is_known)
{
	struct one o;

	one_page(&o);
	o.a.started_ns = agent_now();
	o.a.blocks[0].written_ns = 1;
	o.a.before = o.a.after = (struct counters){ .sum = 5, .known = true,
						    .is_read = true };
	add_and_free(&o);
	ck_assert_uint_eq(o.e.peer_ran, PAGEDET_NO);
	ck_assert_uint_eq(o.e.counters_here, PAGEDET_NO);
	ck_assert_uint_eq(o.e.file_written, PAGEDET_NO);
	ck_assert_uint_eq(o.e.earlier, PAGEDET_NO);
	ck_assert_uint_ne(o.e.hash_ns[PAGEDET_AS_SENT], 0);
	/* Before the page came, but it may have been read earlier. */
	one_page(&o);
	o.a.started_ns = 1;
	o.a.blocks[0].written_ns = 2;
	add_and_free(&o);
	ck_assert_uint_eq(o.e.file_written, PAGEDET_DUNNO);
}
END_TEST

/* It was sent, and is not there: it may never have been stored. */
START_TEST(pages_that_are_absent_may_not_be_discarded)
{
	struct one o;

	one_page(&o);
	o.destination.state = PAGEDET_SEEN_ABSENT;
	add_and_free(&o);
	ck_assert_uint_eq(o.e.peer_discarded, PAGEDET_DUNNO);
	one_page(&o);
	o.destination.state = PAGEDET_SEEN_ABSENT;
	pagedet_versions_dropped(o.a.versions, 0, 1);
	add_and_free(&o);
	ck_assert_uint_eq(o.e.peer_discarded, PAGEDET_YES);
}
END_TEST

/* The sum goes down if a processor goes off line. */
START_TEST(counters_move_upwards)
{
	struct one o;

	one_page(&o);
	o.a.before = (struct counters){ .sum = 5, .known = true,
					.is_read = true };
	o.a.after = (struct counters){ .sum = 6, .is_read = true };
	add_and_free(&o);
	ck_assert_uint_eq(o.e.counters_here, PAGEDET_YES);
	one_page(&o);
	o.a.before = (struct counters){ .sum = 5, .known = true,
					.is_read = true };
	o.a.after = (struct counters){ .sum = 4, .known = true,
				       .is_read = true };
	add_and_free(&o);
	ck_assert_uint_eq(o.e.counters_here, PAGEDET_DUNNO);
}
END_TEST

/* What was read when the destination ran says nothing of the stop. */
START_TEST(late_looks_are_forgotten)
{
	const unsigned stopped = PAGEDET_AS_STOPPED - PAGEDET_AS_MORE;
	static const uint32_t states[] = {
		PAGEDET_SEEN_DATA, PAGEDET_SEEN_ZERO, PAGEDET_SEEN_ABSENT,
	};
	struct one o;
	unsigned i, on;

	for (i = 0; i < 3; i++)
		for (on = 0; on < 2; on++) {
			one_page(&o);
			o.a.went_on = on;
			o.source.state = o.again.state = states[i];
			o.source.hash = i ? ZERO_HASH : 11;
			pagedet_versions_look(o.a.versions, &o.source, 1, 1);
			add_and_free(&o);
			ck_assert_uint_eq(o.e.more_zero[stopped],
					  on ? PAGEDET_DUNNO :
					  i ? PAGEDET_YES : PAGEDET_NO);
			ck_assert(on || i == 2 || o.e.more_state[stopped] ==
						  PAGEDET_HAVE);
			ck_assert(!on || o.e.more_state[stopped] !=
					 PAGEDET_HAVE);
		}
}
END_TEST

/* It waited in a socket when the source stopped. */
START_TEST(what_comes_late_may_have_been_sent_early)
{
	static const uint32_t is[] = {
		PAGEDET_DUNNO, PAGEDET_DUNNO, PAGEDET_YES,
	};
	bool after_stop;
	struct one o;
	unsigned i;

	for (i = 0; i < 3; i++) {
		one_page(&o);
		after_stop = i == 2;
		if (i)
			o.a.after_stop = &after_stop;
		/* The look is of 1970. */
		pagedet_versions_look(o.a.versions, &o.source, 1,
				      PAGEDET_WHEN_STOPPED);
		add_and_free(&o);
		ck_assert_uint_eq(o.e.sent_stopped, is[i]);
	}
}
END_TEST

/* What it had then is not what it had at the switch. */
START_TEST(looks_at_another_stop_are_forgotten)
{
	const unsigned stopped = PAGEDET_AS_STOPPED - PAGEDET_AS_MORE;
	bool after_stop = true;
	struct one o;
	unsigned again;

	for (again = 0; again < 2; again++) {
		one_page(&o);
		o.a.after_stop = &after_stop;
		o.a.vm[SOURCE].qmp.ran_again = again;
		pagedet_versions_look(o.a.versions, &o.source, 1,
				      PAGEDET_WHEN_DRAINED);
		o.source.hash = o.again.hash = 13;
		add_and_free(&o);
		ck_assert_int_eq(o.e.more_state[stopped] == PAGEDET_HAVE,
				 !again);
		ck_assert_uint_eq(o.e.more_zero[stopped],
				  again ? PAGEDET_DUNNO : PAGEDET_NO);
		ck_assert_uint_eq(o.e.stopped_drained,
				  again ? PAGEDET_DUNNO : PAGEDET_YES);
		ck_assert_uint_eq(o.e.sent_stopped,
				  again ? PAGEDET_DUNNO : PAGEDET_YES);
	}
}
END_TEST

/* A change after it is one, whenever it was read. */
START_TEST(changes_after_a_late_look_are_kept)
{
	const unsigned stopped = PAGEDET_AS_STOPPED - PAGEDET_AS_MORE;
	struct one o;

	one_page(&o);
	o.a.went_on = true;
	pagedet_versions_look(o.a.versions, &o.source, 1, 1);
	o.source.state = o.again.state = PAGEDET_SEEN_ABSENT;
	add_and_free(&o);
	ck_assert_uint_eq(o.e.more_state[stopped], PAGEDET_HAVE);
	ck_assert_uint_eq(o.e.more_zero[stopped], PAGEDET_NO);
}
END_TEST

/* A page cannot have come from where its bytes are only since the stop. */
START_TEST(places_are_those_at_the_stop)
{
	struct pagedet_seen pages[2] = {
		{ .hash = 11, .state = PAGEDET_SEEN_DATA },
		{ .hash = 13, .state = PAGEDET_SEEN_DATA },
	}, there[2] = {
		{ .hash = 12, .state = PAGEDET_SEEN_DATA },
		{ .hash = 13, .state = PAGEDET_SEEN_DATA },
	};
	struct pagedet_versions_options of = PAGEDET_VERSIONS_OPTIONS_INIT;
	struct one o;
	unsigned looked;

	for (looked = 0; looked < 2; looked++) {
		one_page(&o);
		pagedet_versions_free(o.a.versions);
		of.pages = o.a.pages = o.a.blocks[0].pages = 2;
		ck_assert_int_eq(pagedet_versions_new(&of, &o.a.versions), 0);
		pages[1].hash = 13;
		if (looked)
			pagedet_versions_look(o.a.versions, pages, 2, 1);
		pages[1].hash = 12;
		o.a.now[SOURCE] = o.a.again = pages;
		o.a.now[DESTINATION] = there;
		add_and_free(&o);
		ck_assert_uint_eq(o.e.same_as_other, looked ? PAGEDET_NO :
							      PAGEDET_YES);
		ck_assert(looked || o.e.same_as == 1);
	}
}
END_TEST

/* --- what is said of several pages --- */

/* What is said of one page need not be true of another one. */
START_TEST(findings_that_differ_are_told_apart)
{
	const struct pagedet_finding first = {
		.rule = 6, .confidence = PAGEDET_CONFIDENCE_HIGH,
		.cause = "a", .likely = "", .advice = "b",
		.lets_run = PAGEDET_SIDE_HERE,
	};
	struct pagedet_finding f[3] = { first, first, first };
	struct difference d[3] = {
		{ .finding = &f[0] }, { .finding = &f[1] },
		{ .finding = &f[2] },
	};
	struct agent a = { .n_differences = 3, .differences = d };
	struct report_rule rules[3];

	ck_assert_uint_eq(report_rules(&a, rules, 3), 1);
	ck_assert_uint_eq(rules[0].n, 3);
	ck_assert_uint_eq(report_others(&a, rules, 1), 0);
	f[1].confidence = PAGEDET_CONFIDENCE_LOW;
	ck_assert_uint_eq(report_rules(&a, rules, 3), 2);
	ck_assert_uint_eq(rules[0].n, 2);
	f[2].advice = "c";
	ck_assert_uint_eq(report_rules(&a, rules, 3), 3);
	f[2] = first;
	f[2].cause = "d";
	ck_assert_uint_eq(report_rules(&a, rules, 3), 3);
	ck_assert_uint_eq(report_rules(&a, rules, 2), 2);
	ck_assert_uint_eq(report_others(&a, rules, 2), 1);
}
END_TEST

/* --- advice --- */

static struct report_advice advice_on(uint32_t here, uint32_t peer,
				      const char *blocks)
{
	struct pagedet_finding f = { .verdict = PAGEDET_VERDICT_CAUSE,
				     .here_intact = here,
				     .peer_intact = peer };
	struct difference d = { .finding = &f };
	struct agent a = { .pages = 2, .n_different = 1, .n_differences = 1,
			   .differences = &d, .o.blocks = blocks };

	a.vm[SOURCE].frozen = a.vm[DESTINATION].frozen = PAGEDET_YES;
	return report_todo(&a);
}

START_TEST(advice_lets_the_side_go_on_that_is_right)
{
	struct report_advice x = advice_on(PAGEDET_YES, PAGEDET_NO, NULL);

	ck_assert_int_eq(x.lets_run, SOURCE);
	ck_assert(strstr(x.text, "What the source has of these pages is "
			 "right: let that go on"));
	x = advice_on(PAGEDET_NO, PAGEDET_YES, NULL);
	ck_assert_int_eq(x.lets_run, DESTINATION);
	ck_assert(strstr(x.text, "had when it stopped: let that go on"));
	x = advice_on(PAGEDET_DUNNO, PAGEDET_NO, NULL);
	ck_assert_int_eq(x.lets_run, NEITHER);
	ck_assert(strstr(x.text, "Do not let either side go on yet"));
}
END_TEST

/* One that ran has what no other has. */
START_TEST(advice_on_given_processes_lets_no_side_go_on)
{
	struct report_advice x = advice_on(PAGEDET_YES, PAGEDET_NO, "map");

	ck_assert_int_eq(x.lets_run, NEITHER);
	ck_assert(strstr(x.text, "Do not let either side go on yet"));
	x = advice_on(PAGEDET_NO, PAGEDET_YES, "map");
	ck_assert_int_eq(x.lets_run, NEITHER);
}
END_TEST

/* It was right to let the source go on until the destination did. */
START_TEST(advice_loses_nothing_that_a_guest_did)
{
	struct pagedet_finding f = { .lets_run = PAGEDET_SIDE_HERE,
				     .advice = "stop, and copy again" };
	struct agent a = { .went_on = false };

	ck_assert_int_eq(report_lets_run(&a, &f), SOURCE);
	ck_assert_str_eq(report_advice_of(&a, &f), "stop, and copy again");
	a.went_on = true;
	ck_assert_int_eq(report_lets_run(&a, &f), NEITHER);
	ck_assert_ptr_nonnull(strstr(report_advice_of(&a, &f),
				     "keep both sides"));
	f.lets_run = PAGEDET_SIDE_PEER;
	ck_assert_int_eq(report_lets_run(&a, &f), DESTINATION);
	f.lets_run = PAGEDET_SIDE_BOTH;
	ck_assert_int_eq(report_lets_run(&a, &f), NEITHER);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("migration_agent");

	unit_test(s, late_answers_are_passed_over);
	unit_test(s, machines_that_stop_and_run_again);
	unit_test(s, verdict_is_grammatical);
	unit_test(s, sources_that_went_on_are_named);
	unit_test(s, of_given_processes_history_is_not_known);
	unit_test(s, of_a_migration_that_was_seen_it_is_known);
	unit_test(s, pages_that_are_absent_may_not_be_discarded);
	unit_test(s, counters_move_upwards);
	unit_test(s, late_looks_are_forgotten);
	unit_test(s, what_comes_late_may_have_been_sent_early);
	unit_test(s, looks_at_another_stop_are_forgotten);
	unit_test(s, changes_after_a_late_look_are_kept);
	unit_test(s, places_are_those_at_the_stop);
	unit_test(s, findings_that_differ_are_told_apart);
	unit_test(s, advice_lets_the_side_go_on_that_is_right);
	unit_test(s, advice_on_given_processes_lets_no_side_go_on);
	unit_test(s, advice_loses_nothing_that_a_guest_did);
	return unit_main(s);
}
