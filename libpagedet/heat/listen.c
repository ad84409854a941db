/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Looks at the buffers again and again: there are few events. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/vec.h"
#include "heat/listen.h"
#include "pagedet.h"
#include "record/about.h"
#include "record/instance.h"
#include "record/tracefs.h"
#include "trace/ring.h"

#define EVENT "events/damon/damon_aggregated/"
#define MOST_FORMAT 65536
/* Of each processor: 14,000 regions between two looks. */
#define BUFFER ((uint64_t)1 << 20)
#define LOOK_NS 50000000
#define SECOND_NS 1000000000u
#define MOST_WAIT_NS (60 * (uint64_t)SECOND_NS)
#define MOST_CPUS 65536u

struct ear {
	struct pdet_heat *h;
	struct pdet_env *env;
	struct pdet_instance instance;
	struct pdet_heat_layout event;
	struct pdet_ring_layout ring;
	unsigned char *page;
	struct {
		int *data;
		size_t n, cap;
	} fds;			/* trace_pipe_raw of each processor */
};

static int no_memory(struct pdet_env *env)
{
	return pdet_fail(env, ENOMEM, "no memory");
}

/* Nothing can be heard: @error says why, as errno. 0, or no memory. */
static int deaf(struct pdet_heat *h, struct pdet_env *env, int error)
{
	if (error == -ENOMEM)
		return error;
	h->state = error == -EACCES ? PAGEDET_NO_ACCESS :
		   error == -ENOTSUP ? PAGEDET_NO_KERNEL : PAGEDET_IO;
	snprintf(h->advice, sizeof(h->advice), "%s",
		 error == -EACCES ? "needs root, and a kernel that is not "
				    "locked down" : env->error);
	pdet_clear(env);
	return 0;
}

/* --- begin and end --- */

static int learn(struct ear *e)
{
	struct pdet_text text = { 0 };
	int r = pdet_slurp_at(e->instance.dir, EVENT "format", &text,
			      MOST_FORMAT);

	if (r == 0)
		r = pdet_heat_layout_parse(text.data, text.len, &e->event);
	pdet_text_free(&text);
	if (r < 0)
		return pdet_fail(e->env, ENOTSUP, "cannot listen to DAMON: "
				 "this kernel does not have its tracepoint, or "
				 "in another form");
	e->h->has_age = e->event.age.size;
	return 0;
}

static int learn_page(struct ear *e)
{
	struct pdet_text text = { 0 };
	const int fs = pdet_tracefs_open();
	int r = fs < 0 ? pdet_fail(e->env, ENOTSUP, "cannot listen to DAMON: "
				   "this kernel does not have tracefs") :
		pdet_about_page(e->env, fs, e->instance.dir, &text);

	if (r == 0 && pdet_ring_layout_parse(text.data, text.len,
					     __BYTE_ORDER == __BIG_ENDIAN,
					     &e->ring) < 0)
		r = pdet_fail(e->env, ENOTSUP, "cannot listen to DAMON: "
			      "events/header_page of this kernel has another "
			      "form");
	pdet_text_free(&text);
	if (fs >= 0)
		close(fs);
	if (r < 0)
		return r;
	e->page = malloc(e->ring.bytes);
	return e->page ? 0 : no_memory(e->env);
}

static int open_cpus(struct ear *e)
{
	DIR *d = pdet_tracefs_list(e->instance.dir, "per_cpu");
	struct dirent *entry;
	char name[320];
	int fd, r = d ? 0 : -EIO;

	while (r == 0 && (entry = readdir(d)) && e->fds.n < MOST_CPUS) {
		if (strncmp(entry->d_name, "cpu", 3))
			continue;
		snprintf(name, sizeof(name), "per_cpu/%s/trace_pipe_raw",
			 entry->d_name);
		fd = openat(e->instance.dir, name,
			    O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			r = -EIO;
		else if (!pdet_vec_push(&e->fds, fd)) {
			close(fd);
			r = -ENOMEM;
		}
	}
	if (d)
		closedir(d);
	if (r == -ENOMEM)
		return no_memory(e->env);
	return r < 0 || !e->fds.n ?
	       pdet_fail(e->env, EIO, "cannot listen to DAMON: cannot open a "
			 "trace buffer") : 0;
}

static int begin(struct ear *e)
{
	const struct pdet_instance_wants w = { .clock = "boot",
					       .buffer = BUFFER };
	int r = pdet_instance_new(e->env, "listen to DAMON", &e->instance);

	if (r == 0)
		r = learn(e);
	if (r == 0)
		r = pdet_instance_prepare(e->env, &e->instance, &w);
	if (r == 0)
		r = learn_page(e);
	if (r == 0)
		r = open_cpus(e);
	if (r == 0)
		r = pdet_instance_set(e->env, &e->instance, EVENT "enable",
				      "1");
	return r < 0 ? r : pdet_instance_switch(e->env, &e->instance, true);
}

static void end(struct ear *e)
{
	size_t i;

	for (i = 0; i < e->fds.n; i++)
		close(e->fds.data[i]);
	pdet_vec_free(&e->fds);
	free(e->page);
	pdet_instance_end(&e->instance);
}

/* --- listening --- */

/* 1, 0 if the page is empty, or no memory. */
static int take_page(struct ear *e)
{
	struct pdet_heat_event event;
	const unsigned char *record;
	struct pdet_ring ring;
	uint32_t len;
	int r = pdet_ring_begin(&ring, &e->ring, e->page);

	if (r == 0 && ring.at == ring.end)
		return 0;
	if (ring.lost)
		e->h->lost += ring.lost == PDET_RING_LOST_UNKNOWN ? 1 :
								    ring.lost;
	while (r == 0 && (r = pdet_ring_next(&ring, &record, &len)) > 0) {
		r = pdet_heat_take(&e->event, record, len, ring.big_endian,
				   &event);
		event.ns = ring.ns;
		if (r > 0 && !pdet_heat_add(e->h, &event))
			return no_memory(e->env);
		e->h->lost += r < 0;
		r = 0;
	}
	e->h->lost += r < 0;
	return 1;
}

/* Takes what one processor has. */
static int take_all(struct ear *e, int fd)
{
	ssize_t n;
	int r;

	while ((n = read(fd, e->page, e->ring.bytes)) > 0) {
		/* Kernels give whole pages. */
		if ((size_t)n != e->ring.bytes)
			return pdet_fail(e->env, EIO, "cannot listen to "
					 "DAMON: a page of a trace buffer is "
					 "cut");
		r = take_page(e);
		if (r <= 0)
			return r;
	}
	if (n == 0 || errno == EAGAIN || errno == EINTR)
		return 0;
	return pdet_fail_errno(e->env, "cannot listen to DAMON");
}

static int look(struct ear *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < e->fds.n && r == 0; i++)
		r = take_all(e, e->fds.data[i]);
	if (r == 0 && !pdet_heat_digest(e->h, false))
		r = no_memory(e->env);
	return r;
}

static uint64_t usual_wait(const struct pdet_heat *h)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < h->damons.n; i++)
		most = PDET_MAX(most, PDET_MIN(h->damons.data[i].interval_us,
					       MOST_WAIT_NS / 1000));
	return PDET_MIN(most * 2000 + SECOND_NS, MOST_WAIT_NS);
}

static int listen_for(struct ear *e, uint64_t wait_ns)
{
	const uint64_t start = pdet_clock_ns(CLOCK_MONOTONIC);
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	int r = 0;

	while (r == 0 && !pdet_heat_is_complete(e->h) &&
	       pdet_clock_ns(CLOCK_MONOTONIC) - start < wait_ns) {
		if (e->env->stop && e->env->stop(e->env->stop_arg))
			return pdet_fail(e->env, ECANCELED, "the query was "
					 "cancelled");
		nanosleep(&pause, NULL);
		r = look(e);
	}
	e->h->real_ns = pdet_clock_ns(CLOCK_REALTIME) -
			pdet_clock_ns(CLOCK_BOOTTIME);
	if (r == 0 && !pdet_heat_digest(e->h, true))
		r = no_memory(e->env);
	return r;
}

int pdet_heat_listen(struct pdet_heat *h, struct pdet_env *env,
		     uint64_t wait_ns)
{
	struct ear e = { .h = h, .env = env, .instance = { .dir = -1 } };
	int r;

	if (h->state != PAGEDET_HAVE)
		return 0;
	r = begin(&e);
	r = r < 0 ? deaf(h, env, r) :
		    listen_for(&e, wait_ns ? wait_ns : usual_wait(h));
	end(&e);
	return r;
}
