/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds VMCOREINFO in physical memory. The kernel stores it as an ELF note at
 * the start of a page (vmcoreinfo_note, kernel/vmcore_info.c) for the crash
 * kernel. Its head identifies it. A copy in a core file would follow other
 * headers.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "memory/find_vmcoreinfo.h"
#include "pagedet.h"

#define NAME "VMCOREINFO"
#define TEXT_MAX 65536
/* Page size of every machine, or a divisor of it. */
#define PAGE ((uint64_t)4096)
/*
 * The kernel allocates it early, from low pages, so 16 GB are far more than
 * enough.
 */
#define MOST_PAGES ((uint64_t)1 << 22)
/* The search is logged if it takes longer than a second; the clock is checked
 * after this many pages. */
#define PATIENCE_NS 1000000000
#define LOOK_AT_CLOCK 4096

struct head {
	Elf64_Nhdr note;
	char name[(sizeof(NAME) + 3) & ~3];
};

static bool is_head(const struct head *h)
{
	return h->note.n_namesz == sizeof(NAME) && h->note.n_type == 0 &&
		h->note.n_descsz && h->note.n_descsz <= TEXT_MAX &&
		!memcmp(h->name, NAME, sizeof(NAME));
}

/*
 * Returns 1 if the page cannot be read, and -ETIMEDOUT if the caller no longer
 * waits.
 */
static int look_at(struct pdet_memory *m, struct pdet_reader *r,
		   uint64_t addr, char *text)
{
	struct head h;
	int e = pdet_read_phys(r, addr, &h, sizeof(h));

	if (e < 0)
		return e == -ETIMEDOUT ? e : 1;
	if (!is_head(&h))
		return 0;
	e = pdet_read_phys(r, addr + sizeof(h), text, h.note.n_descsz);
	if (e < 0)
		return e == -ETIMEDOUT ? e : 0;
	return pdet_memory_take_vmcoreinfo(m, text, h.note.n_descsz);
}

/* The first page after @addr that may have memory. */
static uint64_t next_page(struct pdet_memory *m, struct pdet_reader *r,
			  uint64_t addr, bool holes)
{
	addr += PAGE;
	if (holes && m->ops->next_phys)
		addr = m->ops->next_phys(r, addr);
	return addr > UINT64_MAX - PAGE ? UINT64_MAX :
		(addr + PAGE - 1) & ~(PAGE - 1);
}

/* Returns true if it was logged. */
static bool say_that_it_takes_long(struct pdet_env *env, uint64_t since)
{
	if (pdet_clock_ns(CLOCK_MONOTONIC) - since < PATIENCE_NS)
		return false;
	pdet_log(env, PAGEDET_LOG_WARNING, "the headers have no " NAME ": "
		 "searching the first %llu GB of memory for it; a file with it "
		 "(--vmcoreinfo) avoids the search",
		 (unsigned long long)(MOST_PAGES * PAGE >> 30));
	return true;
}

static int look_through(struct pdet_memory *m, struct pdet_env *env,
			struct pdet_reader *r, char *text)
{
	const struct pdet_range *ranges = m->ranges.data;
	const uint64_t since = pdet_clock_ns(CLOCK_MONOTONIC);
	uint64_t addr = 0, seen = 0;
	bool said = false;
	int result = 0;
	size_t i;

	for (i = 0; i < m->ranges.n; i++) {
		addr = PDET_MAX(addr, (ranges[i].first + PAGE - 1) &
				~(PAGE - 1));
		for (; addr <= ranges[i].last;
		     addr = next_page(m, r, addr, result)) {
			if (seen++ == MOST_PAGES)
				return 0;
			if (!said && seen % LOOK_AT_CLOCK == 0)
				said = say_that_it_takes_long(env, since);
			result = look_at(m, r, addr, text);
			if (result < 0)
				return result;
			if (!m->vmcoreinfo)
				continue;
			pdet_log(env, PAGEDET_LOG_INFO, NAME " found in "
				 "memory at %#llx", (unsigned long long)addr);
			return 0;
		}
	}
	return 0;
}

static bool nobody_waits(void *arg)
{
	const struct pdet_env *env = arg;

	return env->stop(env->stop_arg);
}

int pdet_find_vmcoreinfo(struct pdet_memory *m, struct pdet_env *env)
{
	struct pdet_reader *r;
	char *text;
	int result;

	text = malloc(TEXT_MAX);
	if (!text)
		return -ENOMEM;
	result = m->ops->reader_new(m, 0, &r);
	if (result == 0) {
		r->stop.ask = env->stop ? nobody_waits : NULL;
		r->stop.arg = env;
		result = look_through(m, env, r, text);
		m->ops->reader_free(r);
	}
	free(text);
	return result;
}

int pdet_vmcoreinfo_at(struct pdet_memory *m, struct pdet_reader *r,
		       uint64_t addr)
{
	char *text = malloc(TEXT_MAX);
	int result;

	if (!text)
		return -ENOMEM;
	result = look_at(m, r, addr, text);
	free(text);
	return PDET_MIN(result, 0);
}
