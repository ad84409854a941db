/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the records of the running kernel in parallel. Most of the time is
 * spent in the kernel, which writes one record at a time for each reader.
 * Memory is divided into chunks, and each thread reads the records of its
 * chunks. A record belongs to the chunk of its first page. No record is
 * therefore counted twice or lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/team.h"
#include "kernel/owner/live.h"
#include "owners/read.h"

/*
 * Pages per chunk: enough for about a hundred records. Each chunk costs one
 * extra record, but threads must end at about the same time.
 */
#define FIRST_CHUNK 1024u
#define MOST_CHUNK (1u << 20)
#define FEW 64u
#define MANY 256u

/* Past every possible page. */
#define NOWHERE ((uint64_t)1 << 63)

/* Bytes per read. */
#define BLOCK ((size_t)1 << 18)

struct dealing {
	struct pdet_owners_reading *to;
	int fd;
	atomic_uint_fast64_t next; /* first page of the next chunk */
	atomic_int error;	/* negative errno of the first failure */
	atomic_bool unlisted;	/* a number of a stack is not in the list */
	struct pdet_owner_count *counts;
};

static void fail(struct dealing *d, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&d->error, &none, error);
}

/* Skips chunks that are known to be empty. */
static void skip_to(struct dealing *d, uint64_t pfn)
{
	uint_fast64_t next = atomic_load(&d->next);

	pfn = PDET_MIN(pfn, NOWHERE);
	while (next < pfn &&
	       !atomic_compare_exchange_weak(&d->next, &next, pfn))
		;
}

static bool goes_on(struct dealing *d, unsigned who)
{
	return !pdet_watch_stopped(d->to->watch, who == 0, NULL) &&
	       !atomic_load_explicit(&d->error, memory_order_relaxed) &&
	       !atomic_load_explicit(&d->unlisted, memory_order_relaxed);
}

/* Returns how many records there were. */
static uint64_t read_chunk(struct dealing *d, unsigned who, uint64_t from,
			   uint64_t end, char *buf)
{
	struct pdet_owner_part part = { .at = from, .end = end,
					.behind = end };
	struct pdet_owner_count *c = &d->counts[who];
	ssize_t n = 0;

	while (goes_on(d, who)) {
		n = pdet_owner_live_block(d->fd, &part, buf, BLOCK);
		if (n <= 0)
			break;
		if (!pdet_owner_count_block(c, buf, (size_t)n, true)) {
			n = -ENOMEM;
			break;
		}
		if (d->to->asked->handles && c->left.numbers)
			atomic_store(&d->unlisted, true);
		atomic_fetch_add_explicit(&d->to->watch->done, (uint64_t)n,
					  memory_order_relaxed);
	}
	c->left.unprinted += part.unwritten;
	if (n < 0)
		fail(d, (int)n);
	else
		skip_to(d, part.behind);
	return part.records;
}

static void read_chunks(void *arg, unsigned who)
{
	struct dealing *d = arg;
	char *buf = malloc(BLOCK);
	uint64_t from, chunk = FIRST_CHUNK, records;

	if (!buf)
		fail(d, -ENOMEM);
	while (buf && goes_on(d, who)) {
		from = atomic_fetch_add(&d->next, chunk);
		if (from >= NOWHERE)
			break;
		records = read_chunk(d, who, from, from + chunk, buf);
		if (records < FEW && chunk < MOST_CHUNK)
			chunk *= 2;
		else if (records > MANY && chunk > 1)
			chunk /= 2;
	}
	free(buf);
}

static int read_all(struct pdet_owners_reading *r, int fd, const char *name)
{
	struct dealing d = { .to = r, .fd = fd };
	unsigned n;
	int error;

	d.counts = pdet_owners_parts(r, &n);
	if (!d.counts)
		return pdet_owners_no_memory(r->env);
	pdet_team_run(n, read_chunks, &d);
	error = atomic_load(&d.error);
	if (pdet_owners_add_up(r, d.counts, n) < 0 || error == -ENOMEM)
		return pdet_owners_no_memory(r->env);
	if (error == -EBADMSG)
		pdet_fail(r->env, EBADMSG, "cannot read %s: its text is not "
			  "page_owner's", name);
	else if (error)
		pdet_fail(r->env, -error, "cannot read %s: %s", name,
			  strerror(-error));
	return pdet_owners_judge(r, name, error);
}

/* Returns true if each number had its stack, or the reading ended early. */
static bool read_once(struct pdet_owners_reading *r, int fd, const char *name,
		      const struct pdet_owner_handles *handles, int *ret)
{
	const struct pdet_owner_asked *asked = r->asked;
	struct pdet_owner_asked with = *asked;

	with.handles = handles;
	r->asked = &with;
	*ret = read_all(r, fd, name);
	r->asked = asked;
	r->sum.asked = asked;
	return *ret < 0 || !r->sum.left.numbers ||
	       atomic_load(&r->watch->stopped);
}

/*
 * The list has no stack of pages that were allocated before page_owner began,
 * nor one that is new. At the first number that is not in it this ends, and
 * the text is read with stacks.
 */
int pdet_owners_read_numbers(struct pdet_owners_reading *r, int fd,
			     const char *name, const char *stacks)
{
	struct pdet_owner_handles handles = { 0 };
	bool done = false;
	int code = 0;

	if (pdet_owner_live_by_number(fd, true)) {
		if (pdet_owner_handles_load(&handles, stacks) == 0) {
			done = read_once(r, fd, name, &handles, &code);
			if (!done)
				pdet_owner_count_free(&r->sum);
		}
		pdet_owner_handles_free(&handles);
	}
	if (done)
		return code;
	(void)pdet_owner_live_by_number(fd, false);
	return read_all(r, fd, name);
}

/* The modes of a descriptor that others read too stay as they are. */
int pdet_owners_read_live(struct pdet_owners_reading *r, int fd,
			  const char *name)
{
	const char *slash = strrchr(name, '/');
	char stacks[4096];
	int own, code;

	if (!slash || !pdet_owner_live_is(name) ||
	    snprintf(stacks, sizeof(stacks),
		     "%.*s/page_owner_stacks/show_stacks_handles",
		     (int)(slash - name), name) >= (int)sizeof(stacks))
		return read_all(r, fd, name);
	if (access(stacks, R_OK) < 0)
		return read_all(r, fd, name);
	own = open(name, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (own < 0)
		return read_all(r, fd, name);
	code = pdet_owners_read_numbers(r, own, name, stacks);
	close(own);
	return code;
}
