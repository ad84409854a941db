/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Manages write trackers of any method: the order of steps, and an answer for
 * every part of the range.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "track/track.h"

/* Mappings looked up at a time. New mappings may appear between lookup and
 * read. */
#define AHEAD 64

const char *pdet_track_why(uint32_t why)
{
	static const char *const words[] = {
		[PAGEDET_TRACK_NOT_ARMED] = "it was not armed",
		[PAGEDET_TRACK_UNMAPPED] = "nothing was mapped there",
		[PAGEDET_TRACK_REMAPPED] = "it was mapped after it was armed",
		[PAGEDET_TRACK_TAKEN] =
			"another userfaultfd is registered there",
		[PAGEDET_TRACK_KIND] =
			"the kernel does not track this kind of memory",
		[PAGEDET_TRACK_READ_ONLY] =
			"the mapping can never be written",
		[PAGEDET_TRACK_CUT] = "the range ends within a huge page",
		[PAGEDET_TRACK_NO_ENTRY] =
			"there is no page: there never was one, or it was "
			"given back",
		[PAGEDET_TRACK_FAILED] = "the kernel failed to read its state",
	};

	return why < PDET_COUNT(words) ? words[why] : NULL;
}

bool pdet_track_put(struct pdet_track_out *out, uint64_t start, uint64_t end,
		    uint32_t state, uint32_t why)
{
	struct pagedet_track_range *last = out->ranges + out->n - 1;

	if (out->n && last->end == start && last->state == state &&
	    last->why == why) {
		last->end = end;
		return true;
	}
	if (out->n == out->max)
		return false;
	out->ranges[out->n++] = (struct pagedet_track_range){
		start, end, state, why
	};
	return true;
}

static bool put_unknown(struct pdet_track_out *out, uint64_t start,
			uint64_t end, uint32_t why)
{
	return pdet_track_put(out, start, end, PAGEDET_TRACK_UNKNOWN, why);
}

/* Try one method. If it fails, close what it has opened. */
static int try(struct pdet_track *t, struct pdet_env *env,
	       const struct pdet_track_how *how)
{
	t->how = how;
	t->uffd = t->pagemap = t->maps = t->clear_refs = -1;
	t->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (t->pagemap >= 0)
		t->maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (t->maps >= 0)
		return how->open(t, env);
	if (errno != ENOENT)
		return pdet_fail_errno(env, "cannot track writes: cannot open "
					    "/proc/self/%s",
				       t->pagemap < 0 ? "pagemap" : "maps");
	return pdet_fail(env, ENOTSUP,
			 "cannot track writes: there is no /proc/self/%s",
			 t->pagemap < 0 ? "pagemap" : "maps");
}

static void close_all(struct pdet_track *t)
{
	/* Closing the last userfaultfd unregisters its ranges. Ranges that
	 * others registered meanwhile are not affected. */
	if (t->uffd >= 0)
		close(t->uffd);
	if (t->pagemap >= 0)
		close(t->pagemap);
	if (t->maps >= 0)
		close(t->maps);
	if (t->clear_refs >= 0)
		close(t->clear_refs);
	if (t->probe)
		munmap((void *)t->probe, t->page_size);
	t->uffd = t->pagemap = t->maps = t->clear_refs = -1;
	t->probe = NULL;
}

/* Choose the best allowed method. */
static int choose(struct pdet_track *t, struct pdet_env *env, uint32_t methods)
{
	char first[PDET_ERROR_SIZE / 2];
	int r = -ENOTSUP;

	if (methods & PAGEDET_TRACK_BIT(PAGEDET_TRACK_UFFD)) {
		r = try(t, env, &pdet_track_uffd);
		if (r == 0)
			return 0;
		close_all(t);
		if (!(methods & PAGEDET_TRACK_BIT(PAGEDET_TRACK_SOFT_DIRTY)) ||
		    pdet_is_shortage(r))
			return r;
	}
	snprintf(first, sizeof(first), "%s", env->error);
	pdet_clear(env);
	r = try(t, env, &pdet_track_soft);
	if (r < 0) {
		close_all(t);
		if (*first)
			pdet_context(env, "%s", first);
	}
	return r;
}

int pdet_track_new(struct pdet_env *env, uint64_t addr, uint64_t len,
		   uint32_t methods, bool count_huge, struct pdet_track **ret)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct pdet_track *t;
	int r;

	if (!len || (addr | len) % page || addr + len < addr)
		return pdet_fail(env, EINVAL,
				 "cannot track writes to %#llx+%#llx: the "
				 "range is not whole pages of %llu bytes",
				 (unsigned long long)addr,
				 (unsigned long long)len,
				 (unsigned long long)page);
	t = calloc(1, sizeof(*t));
	if (!t)
		return pdet_fail(env, ENOMEM, "no memory");
	t->start = addr;
	t->end = addr + len;
	t->page_size = page;
	t->count_huge = count_huge;
	t->huge_state = PAGEDET_NOT_ASKED;
	t->pid = getpid();
	r = choose(t, env, methods);
	if (r < 0) {
		free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/* A child inherits the descriptors, but they track its parent's memory. */
static int check_owner(const struct pdet_track *t, struct pdet_env *env)
{
	if (t->pid == getpid())
		return 0;
	return pdet_fail(env, ESRCH,
			 "the tracker belongs to process %d, which forked",
			 (int)t->pid);
}

/* Fail with the reason if no area can be tracked. */
static int refuse(struct pdet_track *t, struct pdet_env *env)
{
	const uint32_t why = t->areas.data[0].why;
	const char *text = pdet_track_why(why);

	pdet_vec_free(&t->areas);
	pdet_fail(env, ENOTSUP, "cannot track writes to %#llx+%#llx: %s",
		  (unsigned long long)t->start,
		  (unsigned long long)(t->end - t->start),
		  text ? text : "the kernel refuses it");
	if (why == PAGEDET_TRACK_TAKEN)
		pdet_advise(env,
			    "only one userfaultfd can have a range: end the "
			    "other tracker first");
	else if (why == PAGEDET_TRACK_CUT)
		pdet_advise(env, "track whole huge pages");
	return -ENOTSUP;
}

int pdet_track_arm(struct pdet_track *t, struct pdet_env *env)
{
	bool some = false, all = true;
	size_t i;
	int r;

	r = check_owner(t, env);
	if (r < 0)
		return r;
	t->areas.n = 0;
	t->first_ns = pdet_clock_ns(CLOCK_REALTIME);
	r = pdet_track_divide(t, env, t->how == &pdet_track_soft);
	if (r == 0)
		r = t->how->arm(t, env);
	if (r < 0) {
		pdet_vec_free(&t->areas);
		return r;
	}
	t->last_ns = pdet_clock_ns(CLOCK_REALTIME);
	for (i = 0; i < t->areas.n; i++) {
		some = some || !t->areas.data[i].why;
		all = all && !t->areas.data[i].why;
	}
	if (!some)
		return refuse(t, env);
	t->arms++;
	return !all;
}

/* The area that contains @at; areas cover the whole range. */
static const struct pdet_track_area *area_at(const struct pdet_track *t,
					     uint64_t at)
{
	size_t low = 0, high = t->areas.n, mid;

	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (t->areas.data[mid].start <= at)
			low = mid;
		else
			high = mid;
	}
	return &t->areas.data[low];
}

/*
 * Read a tracked area by its current mappings. For an unmapped part the kernel
 * would report nothing.
 */
static int read_area(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		     uint64_t end, bool rearm, struct pdet_track_areas *mapped,
		     struct pdet_track_out *out)
{
	uint64_t reached;
	size_t i;
	int r;

	mapped->n = 0;
	reached = pdet_track_mapped(t, env, *at, end, AHEAD, mapped);
	if (!reached)
		return -EIO;
	for (i = 0; i < mapped->n; i++) {
		const struct pdet_track_area *m = &mapped->data[i];

		if (*at < m->start &&
		    !put_unknown(out, *at, m->start, PAGEDET_TRACK_UNMAPPED))
			return 0;
		*at = m->start;
		r = t->how->read(t, env, at, m->end, rearm, out);
		if (r < 0 || *at < m->end)
			return r;
	}
	if (*at < reached &&
	    !put_unknown(out, *at, reached, PAGEDET_TRACK_UNMAPPED))
		return 0;
	*at = reached;
	return 0;
}

int pdet_track_read(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		    bool rearm, struct pdet_track_out *out)
{
	struct pdet_track_areas mapped = { 0 };
	uint64_t now = *at ? *at : t->start, before;
	int r;

	r = check_owner(t, env);
	if (r < 0)
		return r;
	if (now < t->start || now >= t->end || now % t->page_size)
		return pdet_fail(env, EINVAL,
				 "%#llx is not in the tracked range",
				 (unsigned long long)now);
	if (rearm && !t->how->rearms)
		return pdet_fail(env, ENOTSUP,
				 "soft-dirty bits cannot be read and cleared "
				 "in one step: stop the writers, read, and arm "
				 "again");
	if (!t->areas.n) {
		put_unknown(out, now, t->end, PAGEDET_TRACK_NOT_ARMED);
		now = t->end;
	}
	while (r == 0 && now < t->end) {
		const struct pdet_track_area *area = area_at(t, now);

		before = now;
		if (!area->why)
			r = read_area(t, env, &now, area->end, rearm, &mapped,
				      out);
		else if (put_unknown(out, now, area->end, area->why))
			now = area->end;
		if (now == before || out->n == out->max)
			break;
	}
	pdet_vec_free(&mapped);
	if (r < 0 && !out->n)
		return r;
	/* Results found and armed again before a failure are returned. The next
	 * call reports the failure. */
	*at = now == t->end ? 0 : now;
	return (int)out->n;
}

void pdet_track_info(const struct pdet_track *t,
		     struct pagedet_track_info *ret)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->addr = t->start;
	ret->len = t->end - t->start;
	ret->page_size = t->page_size;
	ret->pages = ret->len / t->page_size;
	for (i = 0; i < t->areas.n; i++)
		if (!t->areas.data[i].why)
			ret->armed += (t->areas.data[i].end -
				       t->areas.data[i].start) / t->page_size;
	ret->arms = t->arms;
	ret->first_ns = t->arms ? t->first_ns : 0;
	ret->last_ns = t->last_ns;
	ret->huge_before = t->huge_before;
	ret->huge_after = t->huge_after;
	ret->huge_state = t->huge_state;
	ret->method = t->how->method;
	ret->sees = t->how->sees;
	ret->blind = t->how->blind;
	ret->rearms = t->how->rearms;
}

void pdet_track_free(struct pdet_track *t)
{
	if (!t)
		return;
	close_all(t);
	pdet_vec_free(&t->areas);
	free(t);
}
