/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Lets the destination run as early as possible, and compares meanwhile. Only
 * pages that were sent since they were last read must be read while the guest
 * waits. They are copied, because the guest will change them, and hashed once
 * it runs.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent.h"

/* If more pages are late, they are hashed at once, and not kept. */
#define MOST_KEPT 16384u
#define RUN 512u		/* pages whose entries are read at a time */
#define IN_MEMORY ((uint64_t)3 << 62) /* pagemap: present, or swapped out */

/* The guest waits for nothing but the reading: there is room before. */
int quick_start(struct agent *a)
{
	a->kept_pages = calloc(a->pages, sizeof(*a->kept_pages));
	a->kept = malloc((size_t)MOST_KEPT * PAGE_BYTES);
	a->copied = calloc(MOST_KEPT, sizeof(*a->copied));
	if (!a->kept_pages || !a->kept || !a->copied)
		return agent_fail_errno(AGENT_IO, "memory");
	memset(a->kept, 0, (size_t)MOST_KEPT * PAGE_BYTES);
	return early_start(a);
}

/* --- while the guest waits --- */

/* Copies what is in memory of the @n pages from @hva on. */
static void copy_run(struct agent *a, const uint64_t *entries, uint64_t hva,
		     uint64_t first, uint64_t n)
{
	uint64_t i, from = 0;

	for (i = 0; i <= n; i++) {
		struct iovec to = { a->kept + (first + from) * PAGE_BYTES,
				    (i - from) * PAGE_BYTES };
		struct iovec at = { (char *)(uintptr_t)hva + from * PAGE_BYTES,
				    to.iov_len };
		ssize_t got = 0;

		if (i < n && entries[i] & IN_MEMORY)
			continue;
		if (to.iov_len)
			got = process_vm_readv(a->vm[DESTINATION].pid, &to, 1,
					       &at, 1, 0);
		for (; got >= (ssize_t)PAGE_BYTES; got -= PAGE_BYTES)
			a->copied[first + from++] = true;
		from = i + 1;
	}
}

struct part {			/* of the late pages, for one thread */
	struct agent *a;
	uint64_t from, to;
};

/*
 * To read a page that is not there would fill a hole. Those are left to
 * pagedet_look(), as is a page that cannot be copied.
 */
static void *copy_part(void *user)
{
	const struct part *part = user;
	struct agent *a = part->a;
	uint64_t entries[RUN], i, run, hva;
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap",
		 (int)a->vm[DESTINATION].pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (i = part->from; fd >= 0 && i < part->to; i += run) {
		ssize_t bytes;

		run = part->to - i < RUN ? part->to - i : RUN;
		run = look_run(a, DESTINATION, a->kept_pages + i, run, &hva);
		bytes = (ssize_t)(run * sizeof(*entries));
		if (pread(fd, entries, (size_t)bytes, (off_t)(hva / PAGE_BYTES *
			  sizeof(*entries))) == bytes)
			copy_run(a, entries, hva, i, run);
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* With a thread more, for both machines stand still. */
static void copy(struct agent *a)
{
	const uint64_t half = a->n_kept / 2;
	struct part parts[] = { { a, 0, half }, { a, half, a->n_kept } };
	pthread_t thread;
	const bool shared = half && !pthread_create(&thread, NULL, copy_part,
						    &parts[0]);

	if (!shared)
		copy_part(&parts[0]);
	copy_part(&parts[1]);
	if (shared)
		pthread_join(thread, NULL);
}

/* Reads what was not copied, with its bytes. */
static int look_rest(struct agent *a)
{
	uint64_t i, n;
	int r = 0;

	for (i = 0; !r && i < a->n_kept; i += n) {
		struct pagedet_seen *seen;

		n = 1;
		if (a->copied[i])
			continue;
		while (i + n < a->n_kept && !a->copied[i + n])
			n++;
		seen = calloc(n, sizeof(*seen));
		r = seen ? look_pages(a, a->pd, DESTINATION, a->kept_pages + i,
				      n, a->kept + i * PAGE_BYTES, seen) : -1;
		for (uint64_t k = 0; !r && k < n; k++)
			a->now[DESTINATION][a->kept_pages[i + k]] = seen[k];
		free(seen);
	}
	return r;
}

static int look_all(struct agent *a)
{
	struct pagedet_seen *seen = calloc(a->n_kept, sizeof(*seen));
	uint64_t i;
	int r = -1;

	if (seen)
		r = look_pages(a, a->pd, DESTINATION, a->kept_pages, a->n_kept,
			       NULL, seen);
	for (i = 0; !r && i < a->n_kept; i++)
		a->now[DESTINATION][a->kept_pages[i]] = seen[i];
	free(seen);
	a->n_kept = 0;
	return r;
}

static int read_late(struct agent *a)
{
	uint64_t i;

	for (i = 0; i < a->pages; i++)
		if (early_is_late(a, i))
			a->kept_pages[a->n_kept++] = i;
	a->kept_ns = agent_now();
	if (a->n_kept > MOST_KEPT)
		return look_all(a);
	copy(a);
	return look_rest(a);
}

static int failed(struct agent *a)
{
	snprintf(a->trouble, sizeof(a->trouble), "the memory of the %s could "
		 "not be read: %s", a->vm[DESTINATION].name,
		 pagedet_error(a->pd));
	return AGENT_UNSURE;
}

/* --- when it runs --- */

static void hash_copied(struct agent *a)
{
	uint64_t i;

	for (i = 0; i < a->n_kept; i++) {
		struct pagedet_content c = { .size = sizeof(c) };
		struct pagedet_seen *seen =
			&a->now[DESTINATION][a->kept_pages[i]];

		if (!a->copied[i])
			continue;
		*seen = (struct pagedet_seen){ .state = PAGEDET_SEEN_LOST };
		if (pagedet_content(a->pd, a->kept + i * PAGE_BYTES, PAGE_BYTES,
				    PAGEDET_CONTENT_HASH, &c))
			continue;
		*seen = (struct pagedet_seen){
			.hash = c.hash, .time_ns = a->kept_ns,
			.state = c.hash == a->hash_zero ? PAGEDET_SEEN_ZERO :
							  PAGEDET_SEEN_DATA,
			.bits = PAGEDET_SEEN_BYTES,
		};
	}
}

int quick_freeze(struct agent *a)
{
	const uint64_t from = agent_clock();
	struct vm *vm = &a->vm[DESTINATION];

	/* The destination did not wait. */
	if (vm_status(vm) || vm->frozen != PAGEDET_YES)
		return 0;
	fault_frozen(a);
	if (read_late(a))
		return failed(a);
	vm->qmp.resumed = false;
	if (qmp_do(&vm->qmp, "cont", NULL)) {
		agent_say("the %s could not be let go on: %s", vm->name,
			  vm->qmp.error);
		return 0;
	}
	a->went_on = true;
	a->waited_ms = agent_clock() - from;
	watch_last(a);
	early_prove(a);
	hash_copied(a);
	return 0;
}

const void *quick_bytes(const struct agent *a, uint64_t page)
{
	uint64_t low = 0, high = a->n_kept;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (a->kept_pages[middle] < page)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == a->n_kept || a->kept_pages[low] != page)
		return NULL;
	return a->kept + low * PAGE_BYTES;
}

void quick_free(struct agent *a)
{
	early_free(a);
	free(a->kept_pages);
	free(a->kept);
	free(a->copied);
}
