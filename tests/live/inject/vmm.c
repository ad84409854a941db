/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Stands in for a VMM: a guest's memory, at the source or destination, and an
 * agent linked with the library. It keeps hashes of what was sent, tracks
 * writes, and collects evidence on request.
 *
 *   vmm KIND PAGES KEEPS KEY UID    KIND: anon, thp, shared
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vmm.h"

#define HUGE ((size_t)2 << 20)

void vmm_die(const char *what)
{
	fprintf(stderr, "vmm: %s: %s\n", what, strerror(errno));
	exit(74);
}

/* The last page of huge memory has a huge page of its own. */
unsigned char *vmm_at(const struct vmm *v, uint32_t page)
{
	if (v->huge && page == v->pages - 1)
		return v->ram + HUGE;
	return v->ram + page * PAGE;
}

static void map(struct vmm *v, const char *kind)
{
	const int shared = !strcmp(kind, "shared");
	unsigned char *at;

	v->huge = !strcmp(kind, "thp");
	v->ram_len = v->huge ? 2 * HUGE : v->pages * PAGE;
	if (!v->huge) {
		at = mmap(NULL, v->ram_len, PROT_READ | PROT_WRITE,
			  shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
			  shared ? FD_RAM : -1, 0);
		if (at == MAP_FAILED)
			vmm_die("mmap");
		madvise(at, v->ram_len, MADV_NOHUGEPAGE);
	} else {
		at = mmap(NULL, v->ram_len + HUGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (at == MAP_FAILED)
			vmm_die("mmap");
		at += -(uintptr_t)at & (HUGE - 1);
		madvise(at, v->ram_len, MADV_HUGEPAGE);
	}
	v->ram = at;
}

/*
 * If tracking is not allowed or not available it is not armed, as in any agent.
 */
static void track(struct vmm *v)
{
	if (!(v->keeps & KEEPS_TRACK) ||
	    pagedet_track_new(v->pd, (uintptr_t)v->ram, v->ram_len, NULL,
			      &v->track) < 0)
		return;
	if (pagedet_track_arm(v->track) < 0) {
		pagedet_track_free(v->track);
		v->track = NULL;
	}
}

/* A write in the previous pass counts from the time when each page was sent. */
static void note_written(struct vmm *v, const struct pagedet_track_range *range)
{
	uint32_t i;

	for (i = 0; i < v->pages; i++) {
		const uintptr_t at = (uintptr_t)vmm_at(v, i);

		if (at >= range->start && at < range->end)
			v->sent[i].written = true;
	}
}

static void begin_pass(struct vmm *v)
{
	struct pagedet_track_range ranges[64];
	uint64_t at = 0;
	int n, i;

	if (!v->pass) {
		track(v);
		v->mark_len = pagedet_mark(v->pd, v->mark, sizeof(v->mark));
	}
	v->pass++;
	if (v->pass >= PASSES)
		vmm_die("too many passes");
	if (v->pass == 1 || !v->track)
		return;
	do {
		n = pagedet_track_read(v->track, &at, PAGEDET_TRACK_REARM,
				       ranges, 64);
		if (n < 0)
			vmm_die(pagedet_error(v->pd));
		for (i = 0; i < n; i++)
			note_written(v, &ranges[i]);
	} while (at);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void send_page(struct vmm *v, struct order *o)
{
	static const unsigned char zeroes[PAGE];
	struct pagedet_content content = { .size = sizeof(content) };
	struct sent *s = &v->sent[o->page];

	if (pagedet_content(v->pd, vmm_at(v, o->page), PAGE,
			    PAGEDET_CONTENT_HASH, &content) < 0)
		vmm_die(pagedet_error(v->pd));
	s->before = content.hash;
	s->zero_before = !memcmp(vmm_at(v, o->page), zeroes, PAGE);
	memcpy(o->bytes, vmm_at(v, o->page), PAGE);
	o->arg = !memcmp(o->bytes, zeroes, PAGE);
	if (pagedet_content(v->pd, o->bytes, PAGE, PAGEDET_CONTENT_HASH,
			    &content) < 0)
		vmm_die(pagedet_error(v->pd));
	s->last = v->pass;
	s->last_ns = now_ns();
	s->in[v->pass] = true;
	s->hash[v->pass] = content.hash;
	s->zero = o->arg;
	s->written = false;
}

/* A zero page is written only over other contents. */
static void take_page(struct vmm *v, const struct order *o)
{
	static const unsigned char zeroes[PAGE];
	unsigned char *at = vmm_at(v, o->page);

	if (!o->arg)
		memcpy(at, o->bytes, PAGE);
	else if (memcmp(at, zeroes, PAGE))
		memset(at, 0, PAGE);
}

static uint64_t advise(struct vmm *v, const struct order *o)
{
	return madvise(vmm_at(v, o->page), PAGE, (int)o->arg) < 0 ?
	       (uint64_t)errno : 0;
}

static uint64_t split(struct vmm *v, const struct order *o)
{
	unsigned char *at = vmm_at(v, o->page);

	if (mprotect(at, PAGE, PROT_READ) < 0 ||
	    mprotect(at, PAGE, PROT_READ | PROT_WRITE) < 0)
		return (uint64_t)errno;
	return 0;
}

static void pause_guest(struct vmm *v, bool stop)
{
	v->ran |= v->paused && !stop;
	v->paused = stop;
	if (stop)
		vmm_look_stopped(v);
}

static void obey(struct vmm *v, struct order *o)
{
	unsigned char *at = o->page < v->pages ? vmm_at(v, o->page) : v->ram;

	switch (o->what) {
	case WHERE:
		o->arg = (uintptr_t)at;
		break;
	case FILL:
		fill(at, o->arg);
		break;
	case POKE:
		at[o->arg % PAGE] ^= 0x5a;
		break;
	case ZERO:
		memset(at, 0, PAGE);
		break;
	case ADVISE:
		o->arg = advise(v, o);
		break;
	case SPLIT:
		o->arg = split(v, o);
		break;
	case ROUND:
		begin_pass(v);
		break;
	case SEND:
		send_page(v, o);
		break;
	case TAKE:
		take_page(v, o);
		break;
	case PAUSE:
		pause_guest(v, o->arg);
		break;
	case GIVE:
		o->arg = vmm_give(v);
		break;
	case EXPLAIN:
		vmm_explain(v, o->arg);
		break;
	}
}

/* Poisoning an own page raises a signal that cannot be ignored. */
static void go_on(int number)
{
	(void)number;
}

static void be(const char *uid)
{
	const uid_t id = (uid_t)strtoul(uid, NULL, 10);

	if (!id)
		return;
	if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		vmm_die("setresuid");
	/* Makes this process's files in /proc its own again. */
	prctl(PR_SET_DUMPABLE, 1);
}

int main(int argc, char **argv)
{
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;
	struct vmm v = { .paused = false };
	struct order o;

	if (argc != 6)
		return 64;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGBUS, go_on);
	v.pages = (uint32_t)strtoul(argv[2], NULL, 10);
	v.keeps = (uint32_t)strtoul(argv[3], NULL, 10);
	options.hash_key = argv[4];
	options.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	v.sent = calloc(v.pages, sizeof(*v.sent));
	v.stopped = calloc(v.pages, sizeof(*v.stopped));
	v.pd = pagedet_new();
	if (!v.sent || !v.stopped || !v.pd)
		vmm_die("memory");
	map(&v, argv[1]);
	be(argv[5]);
	if (pagedet_open(v.pd, &options) < 0) {
		fprintf(stderr, "vmm: %s\n", pagedet_error(v.pd));
		return 74;
	}
	while (recv(FD_ORDERS, &o, sizeof(o), 0) == (ssize_t)sizeof(o)) {
		obey(&v, &o);
		if (send(FD_ORDERS, &o, sizeof(o), MSG_NOSIGNAL) < 0)
			break;
	}
	pagedet_track_free(v.track);
	pagedet_free(v.pd);
	free(v.sent);
	free(v.stopped);
	return 0;
}
