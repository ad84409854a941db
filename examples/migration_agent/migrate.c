/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Runs the migration, and reads both sides while they are frozen. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"

#define POSTCOPY_MS 700		/* then the destination takes over */
#define SLOW_MS 2500		/* limit of the time that both run */
#define CANCEL_MS 15000

static int fail(const struct vm *vm, const char *what)
{
	return agent_fail(AGENT_UNAVAILABLE, "%s: the %s: %s", what, vm->name,
			  vm->qmp.error);
}

/* Returns "completed", "active" ...; keeps the answer for the report. */
static const char *progress(struct agent *a)
{
	json_t *info = qmp_ask(&a->vm[SOURCE].qmp, "query-migrate", NULL);

	if (!info)
		return NULL;
	json_decref(a->info);
	a->info = info;
	return json_string_value(json_object_get(info, "status"));
}

/* Returns 1 completed, -1 failed, 0 not yet or no answer. */
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

/* Nothing moves after the switch: leaves the decision to the user. */
static int leave(struct agent *a, const char *status)
{
	snprintf(a->trouble, sizeof(a->trouble), "after postcopy began nothing "
		 "was sent for %u s, and the migration was left as it is: %s",
		 a->o.seconds, status ? status : a->vm[SOURCE].qmp.error);
	a->split = true;	/* or that is not known */
	return AGENT_UNSURE;
}

/* Whether anything was sent since the last call. */
static bool moves(const struct agent *a, json_int_t *sent)
{
	const json_int_t last = *sent;

	*sent = json_integer_value(json_object_get(
		json_object_get(a->info, "ram"), "transferred"));
	return *sent != last;
}

/*
 * Reads the mtimes of the source's files. A guest that allocates pages changes
 * them as well, but then the file grows.
 */
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

/* Before the switch the source can continue alone. */
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
		return 0;	/* it completed first */
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

/*
 * Whether to give up. If each side has a part of the guest, giving up is worse
 * than waiting: for machines that the agent did not start, no signal ends the
 * wait.
 */
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

/*
 * Slow at first, which leaves time to write into sent pages. A fault that is to
 * be made then may need more of it; half of all time is left to come to an end.
 */
static bool stays_slow(const struct agent *a, uint64_t ms)
{
	return ms <= SLOW_MS ||
	       (fault_pending(a) && ms < a->o.seconds * 1000u / 2);
}

static void source_stopped(struct agent *a)
{
	atomic_store(&a->halted, true);
	fault_stopped(a);
	watch_stopped(a);
}

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
		const bool stopped = a->vm[SOURCE].qmp.stopped;

		read_files(a);
		if (!switched && !fast)
			fault_sending(a);
		read_files(a);
		status = progress(a);
		/* QEMU answers once its disks have ended their writes. */
		if (status && stopped)
			watch_drained(a);
		r = ended(a, status);
		if (status && !strncmp(status, "postcopy", 8))
			a->split = true;
		if (r < 0)
			return not_done(a, status);
		/* It has yet to be stopped: what was before does not matter. */
		if (status && !strcmp(status, "active"))
			a->vm[SOURCE].qmp.resumed = false;
		if (moves(a, &sent) && a->split)
			until = agent_clock() + a->o.seconds * 1000u;
		/* The switch was requested, or it may have happened. */
		past = a->split || (switched && !status);
		if (!r && is_late(a, until, past))
			return !past ? cancel(a) : a->vm[SOURCE].ours ?
			       not_done(a, status) : leave(a, status);
		if (!r && past)
			say_late(a, &said);
		if (!r && a->o.mode == PAGEDET_MODE_POSTCOPY && !switched &&
		    ms > POSTCOPY_MS) {
			early_end(a);
			qmp_do(&a->vm[SOURCE].qmp, "migrate-start-postcopy",
			       NULL);
			switched = true;
		}
		if (!r && !fast && (switched || !stays_slow(a, ms))) {
			settings_bandwidth(&a->vm[SOURCE], 1ull << 40);
			fast = true;
		}
		if (!r)
			qmp_wait(&a->vm[SOURCE].qmp,
				 a->vm[SOURCE].qmp.stopped ? 1 :
				 fast ? 10 : 40);
		if (a->vm[SOURCE].qmp.stopped)
			source_stopped(a);
	}
	return 0;
}

/* The source finishes before the destination has loaded everything. */
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
		agent_sleep(1);
	}
	snprintf(a->trouble, sizeof(a->trouble), "the destination did not load "
		 "what was sent: %s", vm->qmp.gone ? vm->qmp.error :
		 vm->status);
	return AGENT_UNSURE;
}

/* Configures both and runs the migration until it completes or is given up. */
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
	a->vm[SOURCE].qmp.stopped = a->vm[SOURCE].qmp.ran_again = false;
	status = a->o.go_on ? quick_start(a) : 0;
	if (!status)
		status = watch_start(a);
	if (!status && qmp_do(&a->vm[SOURCE].qmp, "migrate",
		   json_pack("{s:s}", "uri", out)))
		status = fail(&a->vm[SOURCE], "cannot migrate");
	if (!status)
		status = drive(a);
	if (!status)
		status = wait_destination(a);
	if (!status)
		a->split = false;
	a->ended_ns = agent_now();
	if (!status) {
		watch_drained(a);
		source_stopped(a);
	}
	early_end(a);
	if (!status && a->o.go_on)
		status = quick_freeze(a);
	if (!status)
		watch_last(a);
	watch_end(a);
	tap_stop(a, tap);
	return status;
}

/*
 * Migrates. Machines that the agent started end with it. Others are left
 * intact, with their original settings.
 */
int migrate(struct agent *a)
{
	int side, status = 0;

	if (!a->vm[SOURCE].ours)
		made_hold();
	for (side = 0; !status && side < SIDES; side++)
		status = settings_set(a, &a->vm[side]);
	if (!status)
		status = carry(a);
	/*
	 * A machine that still runs needs them, and QEMU would allow their
	 * removal.
	 */
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

/* --- reading of both sides --- */

/*
 * A destination that was not started with -S, or a source that somebody let go
 * on after the switch: its contents are its own.
 */
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

/* Processes stay as the user left them. */
static void stop_nobody(struct agent *a)
{
	int side;

	for (side = 0; side < SIDES; side++) {
		vm_status(&a->vm[side]);
		a->vm[side].restless = a->vm[side].frozen != PAGEDET_YES;
	}
}

/* Resumes a machine that was stopped only for reading. */
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
		/* Its contents were read before. */
		if (side == DESTINATION && a->went_on)
			vm->frozen = PAGEDET_YES;
		else if (vm->qmp.resumed || vm->ran)
			vm->frozen = PAGEDET_NO;
		else if (vm->restless)
			vm->frozen = PAGEDET_DUNNO;
		if (!vm_alive(vm) && !a->trouble[0])
			snprintf(a->trouble, sizeof(a->trouble), "the %s ended "
				 "while it was looked at", vm->name);
	}
}

static int freeze_look(struct agent *a, int side, struct pagedet_seen *seen)
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

static void freeze_count(struct agent *a)
{
	uint64_t i;

	for (i = 0; i < a->pages; i++) {
		const uint32_t same = pagedet_seen_equal(
			&a->now[SOURCE][i], &a->now[DESTINATION][i]);

		a->n_equal += same == PAGEDET_YES;
		a->n_different += same == PAGEDET_NO;
		a->n_lost += same == PAGEDET_DUNNO;
		a->n_unsteady += pagedet_seen_equal(&a->now[SOURCE][i],
			&a->again[i]) == PAGEDET_NO;
	}
}

/*
 * Stops both sides and reads the source, the destination, and the source again,
 * which shows whether it still changes. go_on() resumes what was stopped; no
 * signal may come between.
 */
int freeze(struct agent *a)
{
	int status = 0;

	if (!a->vm[DESTINATION].ours && !a->o.blocks)
		made_hold();
	if (!a->o.blocks)
		stop(&a->vm[SOURCE]);
	if (a->o.blocks)
		stop_nobody(a);
	else if (!a->went_on)
		stop(&a->vm[DESTINATION]);
	if (!a->vm[DESTINATION].ran)
		made_release();
	if (!a->went_on)
		fault_frozen(a);
	status = freeze_look(a, SOURCE, a->now[SOURCE]);
	if (!status && !a->went_on)
		status = freeze_look(a, DESTINATION, a->now[DESTINATION]);
	if (!status)
		status = freeze_look(a, SOURCE, a->again);
	if (!status && a->went_on)
		early_share(a);
	if (!status)
		freeze_count(a);
	read_files(a);
	counters_read(&a->after);
	return status;
}
