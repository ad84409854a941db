/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * How fast the bytes of a dump are had: to open it, to read all of it from end
 * to end, 64 bytes anywhere, 64 bytes that are at hand. Prints the best of the
 * passes.
 *
 *   read_dump [-s MIB-MIB] [-p PASSES] [-t THREADS] [-b BYTES-AT-ONCE] DUMP...
 *
 * Several dumps are the parts of one. With -s it is opened, and that part of
 * memory read, once; the ns that this took and the bytes are all that is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/team.h"
#include "memory/open.h"

#define MAX_FILES 64
#define SHARE ((uint64_t)4 << 20)
#define RANDOMS 20000
#define HITS 2000000

struct sweep {
	struct pdet_memory *m;
	size_t at_once;
	uint64_t first, end;	/* of memory; 0: all */
	uint64_t next;		/* shares taken, by all */
	uint64_t bytes;
	uint64_t excluded;
	uint64_t failed;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "read_dump: %s: %s\n", what, why);
	exit(1);
}

static struct pdet_reader *new_reader(struct pdet_memory *m, size_t cache)
{
	struct pdet_reader *r;

	if (m->ops->reader_new(m, cache, &r) < 0)
		die("reader", "no memory");
	return r;
}

static struct pdet_memory *open_dump(const int *fds, size_t n, double *us)
{
	struct pdet_env env = { .root = (char []){ "" } };
	uint64_t start = now_ns();
	struct pdet_memory *m;

	if (pdet_memory_open(&env, fds, n, NULL, 0, &m) < 0)
		die("open", env.error);
	*us = (double)(now_ns() - start) / 1e3;
	return m;
}

static void add(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static void read_share(struct sweep *s, struct pdet_reader *r, char *buf,
		       uint64_t first, uint64_t end)
{
	uint64_t bytes = 0, excluded = 0, failed = 0;
	size_t n;
	int result;

	for (; first < end; first += n) {
		n = end - first < s->at_once ? (size_t)(end - first) :
			s->at_once;
		result = s->m->ops->read_phys(r, first, buf, n);
		if (result == 0)
			bytes += n;
		else if (result == -ENODATA)
			excluded += n;
		else
			failed += n;
	}
	add(&s->bytes, bytes);
	add(&s->excluded, excluded);
	add(&s->failed, failed);
}

static void sweep(void *arg, unsigned who)
{
	struct sweep *s = arg;
	struct pdet_reader *r = new_reader(s->m, 1 << 16);
	char *buf = malloc(s->at_once);
	uint64_t share, at = 0;
	size_t i;

	(void)who;
	share = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);
	for (i = 0; buf && i < s->m->ranges.n; i++) {
		uint64_t first = s->m->ranges.data[i].first;
		uint64_t end = s->m->ranges.data[i].last + 1;

		if (s->end) {
			first = first < s->first ? s->first : first;
			end = end > s->end ? s->end : end;
		}
		for (; first < end; first += SHARE, at++) {
			if (at < share)
				continue;
			read_share(s, r, buf, first, first + SHARE < end ?
				   first + SHARE : end);
			share = __atomic_fetch_add(&s->next, 1,
						   __ATOMIC_RELAXED);
		}
	}
	free(buf);
	s->m->ops->reader_free(r);
}

static double anywhere_us(struct pdet_memory *m)
{
	const struct pdet_range *all = m->ranges.data;
	uint64_t state = 88172645463325252, start, i, pages = 0, at;
	struct pdet_reader *r = new_reader(m, 1 << 16);
	char buf[64];
	size_t k;

	for (k = 0; k < m->ranges.n; k++)
		pages += (all[k].last - all[k].first + 1) / 4096;
	start = now_ns();
	for (i = 0; i < RANDOMS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		at = state % pages;
		for (k = 0; at >= (all[k].last - all[k].first + 1) / 4096; k++)
			at -= (all[k].last - all[k].first + 1) / 4096;
		m->ops->read_phys(r, all[k].first + at * 4096 + 128, buf,
				  sizeof(buf));
	}
	start = now_ns() - start;
	m->ops->reader_free(r);
	return (double)start / 1e3 / RANDOMS;
}

/* Structures of one page after the other, as of 64 pages. */
static double at_hand_ns(struct pdet_memory *m)
{
	struct pdet_reader *r = new_reader(m, 1 << 20);
	uint64_t first = m->ops->next_phys(r, 0) & ~(uint64_t)4095, start, i;
	char buf[64];

	m->ops->read_phys(r, first, buf, sizeof(buf));
	start = now_ns();
	for (i = 0; i < HITS; i++)
		m->ops->read_phys(r, first + i % 64 * 64, buf, sizeof(buf));
	start = now_ns() - start;
	m->ops->reader_free(r);
	return (double)start / HITS;
}

static int once(const int *fds, size_t n, unsigned threads, size_t at_once,
		const char *part)
{
	struct sweep s = { .at_once = at_once };
	uint64_t start = now_ns();
	double us;

	s.first = strtoull(part, NULL, 10) << 20;
	s.end = strtoull(strchr(part, '-') ? strchr(part, '-') + 1 : part,
			 NULL, 10) << 20;
	s.m = open_dump(fds, n, &us);
	pdet_team_run(threads, sweep, &s);
	printf("%llu %llu\n", (unsigned long long)(now_ns() - start),
	       (unsigned long long)s.bytes);
	pdet_memory_close(s.m);
	return 0;
}

static double least(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

int main(int argc, char **argv)
{
	double open_us = 0, sweep_ms = 0, random_us = 0, hit_ns = 0, us;
	unsigned threads = 1, passes = 5, pass;
	size_t at_once = 65536, n = 0;
	struct sweep s = { .m = NULL };
	int fds[MAX_FILES], c;
	struct rusage used;
	const char *part = NULL;

	while ((c = getopt(argc, argv, "s:p:t:b:")) != -1) {
		switch (c) {
		case 's': part = optarg; break;
		case 'p': passes = (unsigned)atoi(optarg); break;
		case 't': threads = (unsigned)atoi(optarg); break;
		case 'b': at_once = (size_t)atol(optarg); break;
		default: return 64;
		}
	}
	for (; argv[optind] && n < MAX_FILES; optind++) {
		fds[n] = open(argv[optind], O_RDONLY | O_CLOEXEC);
		if (fds[n++] < 0)
			die(argv[optind], strerror(errno));
	}
	if (part)
		return once(fds, n, threads, at_once, part);
	for (pass = 0; pass < passes; pass++) {
		struct pdet_memory *m = open_dump(fds, n, &us);
		uint64_t start = now_ns();

		if (!pass)
			printf("%s\n", m->format);
		open_us = least(open_us, us);
		s = (struct sweep){ .m = m, .at_once = at_once };
		pdet_team_run(threads, sweep, &s);
		sweep_ms = least(sweep_ms, (double)(now_ns() - start) / 1e6);
		random_us = least(random_us, anywhere_us(m));
		hit_ns = least(hit_ns, at_hand_ns(m));
		pdet_memory_close(m);
	}
	getrusage(RUSAGE_SELF, &used);
	printf("open        %10.0f us\n", open_us);
	printf("all of it   %10.1f ms, %.0f MB/s, %u thread(s): %llu MB, "
	       "%llu excluded, %llu failed\n", sweep_ms,
	       (double)s.bytes / sweep_ms / 1e3, threads,
	       (unsigned long long)s.bytes >> 20,
	       (unsigned long long)s.excluded >> 20,
	       (unsigned long long)s.failed >> 20);
	printf("64 anywhere %10.2f us\n", random_us);
	printf("64 at hand  %10.1f ns\n", hit_ns);
	printf("most memory %10ld KB\n", used.ru_maxrss);
	return 0;
}
