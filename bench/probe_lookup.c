/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Single addresses of a process, one after the other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "probe_uapi.h"

#define PFN_MASK (((uint64_t)1 << 55) - 1)

static void open_pid(struct probe_lookup *l, int pid)
{
	l->maps = probe_open_pid(pid, "maps");
	l->pagemap = probe_open_pid(pid, "pagemap");
}

void probe_lookup_open(struct probe_lookup *l, int pid, uint64_t addr,
		       uint64_t len)
{
	open_pid(l, pid);
	probe_kpage_open(&l->kpage, PROBE_FLAGS | PROBE_COUNT | PROBE_CGROUP);
	l->addr = addr;
	l->pages = len / 4096;
}

void probe_lookup_close(struct probe_lookup *l)
{
	close(l->maps);
	close(l->pagemap);
	probe_kpage_close(&l->kpage);
}

uint64_t probe_lookup_addr(const struct probe_lookup *l, uint64_t i)
{
	uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;

	x ^= x >> 30;
	x *= 0xBF58476D1CE4E5B9u;
	x ^= x >> 27;
	return l->addr + x % l->pages * 4096;
}

static void look_up(const struct probe_lookup *l, unsigned steps,
		    uint64_t addr)
{
	struct uapi_procmap_query q;
	uint64_t entry = 0, word;
	unsigned i;

	if (steps & PROBE_STEP_VMA) {
		memset(&q, 0, sizeof(q));
		q.size = sizeof(q);
		q.query_addr = addr;
		if (ioctl(l->maps, UAPI_PROCMAP_QUERY, &q))
			probe_die("PROCMAP_QUERY: %s", strerror(errno));
	}
	if (steps & PROBE_STEP_PAGEMAP)
		probe_read(l->pagemap, &entry, 8, addr / 4096 * 8);
	for (i = 0; i < PROBE_FILES; i++)
		if (steps & (unsigned)PROBE_STEP_FLAGS << i)
			probe_read(l->kpage.fd[i], &word, 8,
				   (entry & PFN_MASK) * 8);
	if (steps & PROBE_STEP_AGAIN)
		probe_read(l->pagemap, &entry, 8, addr / 4096 * 8);
}

void probe_lookup(const struct probe_lookup *l, unsigned steps, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		look_up(l, steps, probe_lookup_addr(l, i));
}

void probe_lookup_cold(const struct probe_lookup *l, int pid, uint64_t n)
{
	struct probe_lookup cold = *l;
	uint64_t i;

	for (i = 0; i < n; i++) {
		open_pid(&cold, pid);
		cold.kpage.fd[0] = probe_open("/proc/kpageflags");
		cold.kpage.fd[1] = probe_open("/proc/kpagecount");
		cold.kpage.fd[2] = probe_open("/proc/kpagecgroup");
		look_up(&cold, PROBE_STEP_FIVE, probe_lookup_addr(l, i));
		probe_lookup_close(&cold);
	}
}
