/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The migration itself, and reading both sides while they stand still. While
 * pages are sent the source is read again and again: these are the versions
 * that the destination may be left with.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"

#define LOOKS 12		/* of the source, meanwhile */
#define POSTCOPY_MS 700		/* then the destination takes over */
#define SLOW_MS 2500		/* both run for so long, at most */
#define CANCEL_MS 15000

static int fail(const struct vm *vm, const char *what)
{
	return agent_fail(AGENT_UNAVAILABLE, "%s: the %s: %s", what, vm->name,
			  vm->qmp.error);
}

/* "completed", "active" ...; the answer is kept for the report. */
static const char *progress(struct agent *a)
{
	json_t *info = qmp_ask(&a->vm[SOURCE].qmp, "query-migrate", NULL);

	if (!info)
		return NULL;
	json_decref(a->info);
	a->info = info;
	return json_string_value(json_object_get(info, "status"));
}

static void remember(struct agent *a, struct seen *seen)
{
	const uint64_t now = agent_now();
	uint64_t i;

	if (look_at(a, SOURCE, seen))
		return;
	for (i = 0; i < a->pages; i++) {
		const struct seen *s = &seen[i], *last = &a->again[i];
		const uint64_t hash = s->look == LOOK_DATA ? s->hash :
				      a->hash_zero;

		if (s->look != LOOK_NOTHING && s->look != LOOK_LOST &&
		    (!a->looks || look_equal(s, last) == 0))
			versions_seen(&a->versions, i, hash, now);
	}
	memcpy(a->again, seen, a->pages * sizeof(*seen));
	a->looks++;
}

/* 1 completed, -1 it will not be, 0 not yet or no answer came. */
static int ended(const struct agent *a, const char *status)
{
	static const char *const ends[] = { "failed", "cancelled",
					    "postcopy-paused" };
	size_t i;

	if (!status)
		return a->vm[SOURCE].qmp.gone ? -1 : 0;
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(status, ends[i]))
			return -1;
	return !strcmp(status, "completed");
}

static int not_done(struct agent *a, const char *status)
{
	const char *why = json_string_value(json_object_get(a->info,
							    "error-desc"));

	snprintf(a->trouble, sizeof(a->trouble), "the migration did not end "
		 "well: %s%s%s", status ? status : a->vm[SOURCE].qmp.error,
		 why ? ": " : "", why ? why : "");
	return AGENT_UNSURE;
}

/* Past the switch, and nothing moves: whoever has the machines knows more. */
static int leave(struct agent *a, const char *status)
{
	snprintf(a->trouble, sizeof(a->trouble), "after postcopy began nothing "
		 "was sent for %u s, and the migration was left as it is: %s",
		 a->o.seconds, status ? status : a->vm[SOURCE].qmp.error);
	a->split = true;	/* or that is not known */
	return AGENT_UNSURE;
}

/* Was anything sent since it was asked last? */
static bool moves(const struct agent *a, json_int_t *sent)
{
	const json_int_t last = *sent;

	*sent = json_integer_value(json_object_get(
		json_object_get(a->info, "ram"), "transferred"));
	return *sent != last;
}

/* When the source's files were written. A guest that takes new pages moves
 * this time as well, but then the file grows. */
static void read_files(struct agent *a)
{
	struct stat st;
	unsigned i;

	for (i = 0; i < a->n_blocks; i++) {
		struct block *b = &a->blocks[i];
		uint64_t ns;

		if (b->at[SOURCE].fd < 0 || fstat(b->at[SOURCE].fd, &st))
			continue;
		ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u +
		     (uint64_t)st.st_mtim.tv_nsec;
		if (b->written_ns && ns != b->written_ns &&
		    b->allocated == (uint64_t)st.st_blocks)
			b->others_ns = ns;
		b->written_ns = ns;
		b->allocated = (uint64_t)st.st_blocks;
	}
}

/* Before the switch the source can have everything back. */
static int cancel(struct agent *a)
{
	const uint64_t until = agent_clock() + CANCEL_MS;
	const char *status;
	int r;

	qmp_do(&a->vm[SOURCE].qmp, "migrate_cancel", NULL);
	do {
		status = progress(a);
		r = ended(a, status);
		if (!r)
			agent_sleep(10);
	} while (!r && agent_clock() < until);
	if (r > 0)
		return 0;	/* it was quicker */
	if (made_interrupted())
		snprintf(a->trouble, sizeof(a->trouble), "the migration was "
			 "interrupted: %s", status ? status :
			 a->vm[SOURCE].qmp.error);
	else
		snprintf(a->trouble, sizeof(a->trouble), "the migration did "
			 "not end within %u s: %s", a->o.seconds, status ?
			 status : a->vm[SOURCE].qmp.error);
	return AGENT_UNSURE;
}

/* Is it time to give up? Once parts of the guest are at either side, only the
 * end is worse than to wait: no signal ends that for machines of somebody
 * else. */
static bool is_late(const struct agent *a, uint64_t until, bool switched)
{
	return agent_clock() > until ||
	       (made_interrupted() && (!switched || a->vm[SOURCE].ours));
}

static void say_late(const struct agent *a, bool *said)
{
	if (*said || !made_interrupted())
		return;
	agent_say("it is too late to cancel: waiting for the %s, until nothing "
		  "comes for %u s", a->vm[DESTINATION].name, a->o.seconds);
	*said = true;
}

/* Slowly at first, so that there is time to write into what was sent. */
static int drive(struct agent *a)
{
	const uint64_t from = agent_clock();
	uint64_t until = from + a->o.seconds * 1000u;
	json_int_t sent = 0;
	bool fast = false, switched = false, said = false, past;
	const char *status;
	int r = 0;

	while (!r) {
		const uint64_t ms = agent_clock() - from;

		if (a->looks < LOOKS && !switched)
			remember(a, a->now[SOURCE]);
		read_files(a);
		if (!switched && !fast)
			fault_sending(a);
		read_files(a);
		status = progress(a);
		r = ended(a, status);
		if (status && !strncmp(status, "postcopy", 8))
			a->split = true;
		if (r < 0)
			return not_done(a, status);
		if (moves(a, &sent) && a->split)
			until = agent_clock() + a->o.seconds * 1000u;
		/* the switch was asked for, or it is not known if it came */
		past = a->split || (switched && !status);
		if (!r && is_late(a, until, past))
			return !past ? cancel(a) : a->vm[SOURCE].ours ?
			       not_done(a, status) : leave(a, status);
		if (!r && past)
			say_late(a, &said);
		if (!r && a->o.mode == PAGEDET_MODE_POSTCOPY && !switched &&
		    ms > POSTCOPY_MS) {
			qmp_do(&a->vm[SOURCE].qmp, "migrate-start-postcopy",
			       NULL);
			switched = true;
		}
		if (!r && !fast && (switched || ms > SLOW_MS)) {
			settings_bandwidth(&a->vm[SOURCE], 1ull << 40);
			fast = true;
		}
		if (!r)
			agent_sleep(fast ? 10 : 40);
	}
	return 0;
}

/* The source is done before the destination has loaded all. */
static int wait_destination(struct agent *a)
{
	const uint64_t until = agent_clock() + a->o.seconds * 1000u;
	struct vm *vm = &a->vm[DESTINATION];
	bool said = false;

	while (!vm->qmp.gone && !is_late(a, until, true)) {
		if (!vm_status(vm) && strcmp(vm->status, "inmigrate") &&
		    strcmp(vm->status, "postmigrate"))
			return 0;
		say_late(a, &said);
		agent_sleep(10);
	}
	snprintf(a->trouble, sizeof(a->trouble), "the destination did not load "
		 "what was sent: %s", vm->qmp.gone ? vm->qmp.error :
		 vm->status);
	return AGENT_UNSURE;
}

/* Both are set, and it begins: to its end, or until it is given up. */
static int carry(struct agent *a)
{
	char in[160], out[160], to[80], tapped[80];
	struct tap *tap = NULL;
	int status = 0;

	snprintf(to, sizeof(to), "%s/migration", a->dir);
	snprintf(tapped, sizeof(tapped), "%s/tap", a->dir);
	snprintf(in, sizeof(in), "unix:%s", to);
	snprintf(out, sizeof(out), "unix:%s", a->o.tap ? tapped : to);
	if (qmp_do(&a->vm[DESTINATION].qmp, "migrate-incoming",
		   json_pack("{s:s}", "uri", in)))
		return fail(&a->vm[DESTINATION], "cannot listen");
	fault_starting(a);
	if (a->o.tap)
		status = tap_start(a, tapped, to, &tap);
	if (status)
		return status;
	a->tapped = tap != NULL;
	counters_read(&a->before);
	read_files(a);
	a->started_ns = agent_now();
	if (qmp_do(&a->vm[SOURCE].qmp, "migrate",
		   json_pack("{s:s}", "uri", out)))
		status = fail(&a->vm[SOURCE], "cannot migrate");
	if (!status)
		status = drive(a);
	if (!status)
		status = wait_destination(a);
	if (!status)
		a->split = false;
	a->ended_ns = agent_now();
	tap_stop(a, tap);
	return status;
}

/* Machines that were started here end with this process; those of somebody else
 * are left whole, and set as they were. */
int migrate(struct agent *a)
{
	int side, status = 0;

	if (!a->vm[SOURCE].ours)
		made_hold();
	for (side = 0; !status && side < SIDES; side++)
		status = settings_set(a, &a->vm[side]);
	if (!status)
		status = carry(a);
	/* One that still runs needs them, and QEMU lets them be taken away. */
	for (side = 0; !a->split && side < SIDES; side++)
		settings_restore(&a->vm[side]);
	if (a->split && !a->vm[SOURCE].ours)
		agent_say("both machines keep what was set for the migration");
	if (made_interrupted())
		agent_say("%s", a->trouble[0] ? a->trouble :
			  "interrupted: the migration is done, and nothing "
			  "was compared");
	made_release();
	return status;
}

/* --- reading both --- */

/* It was not started with -S: what it has now is its own. */
static void stop(struct vm *vm)
{
	if (vm_status(vm) || vm->frozen != PAGEDET_NO)
		return;
	vm->ran = true;
	qmp_do(&vm->qmp, "stop", NULL);
	qmp_events(&vm->qmp);
	vm->qmp.resumed = false;
	vm_status(vm);
}

/* A machine of somebody else that was stopped to be read. */
void go_on(struct agent *a)
{
	struct vm *vm = &a->vm[DESTINATION];

	if (vm->ran && !vm->ours)
		vm->goes_on = !qmp_do(&vm->qmp, "cont", NULL);
	if (vm->ran && !vm->ours && !vm->goes_on)
		agent_say("the %s ran, and could not be let go on: %s",
			  vm->name, vm->qmp.error);
	made_release();
}

void thawed(struct agent *a)
{
	int side;

	for (side = 0; side < SIDES; side++) {
		struct vm *vm = &a->vm[side];

		qmp_events(&vm->qmp);
		vm_status(vm);
		if (vm->qmp.resumed || vm->ran)
			vm->frozen = PAGEDET_NO;
		if (!vm_alive(vm) && !a->trouble[0])
			snprintf(a->trouble, sizeof(a->trouble), "the %s ended "
				 "while it was looked at", vm->name);
	}
}

static int look(struct agent *a, int side, struct seen *seen)
{
	const int r = look_at(a, side, seen);

	if (!r)
		return 0;
	vm_status(&a->vm[side]);
	snprintf(a->trouble, sizeof(a->trouble), "the memory of the %s could "
		 "not be read%s: %s", a->vm[side].name,
		 vm_alive(&a->vm[side]) ? "" : ", it has ended",
		 pagedet_error(a->pd));
	return AGENT_UNSURE;
}

static void count(struct agent *a)
{
	uint64_t i;

	for (i = 0; i < a->pages; i++) {
		const int same = look_equal(&a->now[SOURCE][i],
					    &a->now[DESTINATION][i]);

		a->n_equal += same > 0;
		a->n_different += same == 0;
		a->n_lost += same < 0;
		a->n_unsteady += look_equal(&a->now[SOURCE][i],
					    &a->again[i]) == 0;
	}
}

/* Pages that came too late are what the destination was sent: the source is
 * read twice, so that it shows if it moves. What is stopped for that goes on
 * with go_on(): no signal comes between. */
int freeze(struct agent *a)
{
	int status;

	if (!a->vm[DESTINATION].ours)
		made_hold();
	stop(&a->vm[SOURCE]);
	a->vm[SOURCE].ran = false;	/* before the switch it had to */
	stop(&a->vm[DESTINATION]);
	if (!a->vm[DESTINATION].ran)
		made_release();
	fault_frozen(a);
	a->first_look_ns = agent_now();
	status = look(a, SOURCE, a->now[SOURCE]);
	if (!status)
		status = look(a, DESTINATION, a->now[DESTINATION]);
	if (!status)
		status = look(a, SOURCE, a->again);
	a->second_look_ns = agent_now();
	if (!status)
		count(a);
	read_files(a);
	counters_read(&a->after);
	return status;
}
