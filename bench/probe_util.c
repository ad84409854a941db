/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What all probes need: clock, memory, opening, reading, sorting. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

uint64_t probe_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void probe_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void *probe_map(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		probe_die("cannot map %zu bytes: %s", size, strerror(errno));
	return mem;
}

void probe_unmap(void *mem, size_t size)
{
	if (mem)
		munmap(mem, size);
}

int probe_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		probe_die("cannot open %s: %s", path, strerror(errno));
	return fd;
}

int probe_open_pid(int pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return probe_open(path);
}

size_t probe_read(int fd, void *buf, size_t size, uint64_t offset)
{
	ssize_t n = pread(fd, buf, size, (off_t)offset);

	if (n < 0)
		probe_die("cannot read at %#llx: %s",
			  (unsigned long long)offset, strerror(errno));
	return (size_t)n;
}

int probe_home(void)
{
	return sched_getcpu();
}

void probe_pin(int home, unsigned n)
{
	cpu_set_t mask, one;
	unsigned cpu, seen = 0;

	if (sched_getaffinity(0, sizeof(mask), &mask))
		return;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mask) || (int)cpu == home || seen++ < n)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static void sort_digit(const uint64_t *from, uint64_t *to, size_t n,
		       unsigned shift)
{
	size_t at[DIGITS] = { 0 }, i, sum = 0, count;

	for (i = 0; i < n; i++)
		at[from[i] >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		count = at[i];
		at[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

void probe_sort(uint64_t *pfn, uint64_t *spare, size_t n)
{
	uint64_t *from = pfn, *to = spare, *other, bits = 0;
	unsigned shift;
	size_t i;

	for (i = 0; i < n; i++)
		bits |= pfn[i];
	for (shift = 0; bits >> shift; shift += DIGIT_BITS) {
		sort_digit(from, to, n, shift);
		other = from;
		from = to;
		to = other;
	}
	if (from != pfn)
		memcpy(pfn, from, n * sizeof(*pfn));
}
