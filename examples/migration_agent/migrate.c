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
#define CHANNELS 4

static int fail(const struct vm *vm, const char *what)
{
	return agent_fail(AGENT_UNAVAILABLE, "%s: the %s: %s", what, vm->name,
			  vm->qmp.error);
}

static json_t *capabilities(uint32_t mode)
{
	json_t *list = json_array();
	const char *name = mode == PAGEDET_MODE_MULTIFD ? "multifd" :
			   mode == PAGEDET_MODE_POSTCOPY ? "postcopy-ram" :
			   mode == PAGEDET_MODE_IGNORE_SHARED ?
			   "x-ignore-shared" : NULL;

	if (name)
		json_array_append_new(list, json_pack("{s:s, s:b}",
				      "capability", name, "state", 1));
	return json_pack("{s:o}", "capabilities", list);
}

static int set_bandwidth(struct vm *vm, uint64_t bytes)
{
	return qmp_do(&vm->qmp, "migrate-set-parameters",
		      json_pack("{s:I}", "max-bandwidth", (json_int_t)bytes));
}

static int prepare(struct agent *a, struct vm *vm)
{
	if (qmp_do(&vm->qmp, "migrate-set-capabilities",
		   capabilities(a->o.mode)))
		return fail(vm, "cannot set the mode");
	if (a->o.mode == PAGEDET_MODE_MULTIFD &&
	    qmp_do(&vm->qmp, "migrate-set-parameters",
		   json_pack("{s:i}", "multifd-channels", CHANNELS)))
		return fail(vm, "cannot set the number of channels");
	return 0;
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

static int ended(const char *status)
{
	static const char *const ends[] = { "failed", "cancelled",
					    "postcopy-paused" };
	size_t i;

	if (!status)
		return -1;
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

/* Slowly at first, so that there is time to write into what was sent. */
static int drive(struct agent *a)
{
	const uint64_t from = agent_clock();
	const uint64_t until = from + a->o.seconds * 1000u;
	bool fast = false, switched = false;
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
		r = ended(status);
		if (r < 0 || agent_clock() > until)
			return not_done(a, status);
		if (!r && a->o.mode == PAGEDET_MODE_POSTCOPY && !switched &&
		    ms > POSTCOPY_MS) {
			qmp_do(&a->vm[SOURCE].qmp, "migrate-start-postcopy",
			       NULL);
			switched = true;
		}
		if (!r && !fast && (switched || ms > SLOW_MS)) {
			set_bandwidth(&a->vm[SOURCE], 1ull << 40);
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

	while (!vm_status(vm) && agent_clock() < until) {
		if (strcmp(vm->status, "inmigrate") &&
		    strcmp(vm->status, "postmigrate"))
			return 0;
		agent_sleep(10);
	}
	snprintf(a->trouble, sizeof(a->trouble), "the destination did not load "
		 "what was sent: %s", vm->qmp.gone ? vm->qmp.error :
		 vm->status);
	return AGENT_UNSURE;
}

int migrate(struct agent *a)
{
	char in[160], out[160], to[80], tapped[80];
	struct tap *tap = NULL;
	int status;

	snprintf(to, sizeof(to), "%s/migration", a->dir);
	snprintf(tapped, sizeof(tapped), "%s/tap", a->dir);
	snprintf(in, sizeof(in), "unix:%s", to);
	snprintf(out, sizeof(out), "unix:%s", a->o.tap ? tapped : to);
	status = prepare(a, &a->vm[SOURCE]);
	if (!status)
		status = prepare(a, &a->vm[DESTINATION]);
	if (status)
		return status;
	if (set_bandwidth(&a->vm[SOURCE], a->o.bandwidth))
		return fail(&a->vm[SOURCE], "cannot set the bandwidth");
	if (qmp_do(&a->vm[DESTINATION].qmp, "migrate-incoming",
		   json_pack("{s:s}", "uri", in)))
		return fail(&a->vm[DESTINATION], "cannot listen");
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
	a->ended_ns = agent_now();
	tap_stop(a, tap);
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
 * read twice, so that it shows if it moves. */
int freeze(struct agent *a)
{
	int status;

	stop(&a->vm[SOURCE]);
	a->vm[SOURCE].ran = false;	/* before the switch it had to */
	stop(&a->vm[DESTINATION]);
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
