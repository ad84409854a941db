/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Where the struct pages of a dump's pages lie in its memory: a line for each
 * block, of its physical address and its bytes. Who reads these blocks has
 * read the least that a summary of all pages needs. Looks inside.
 *
 *   memmap_of DUMP
 *   memmap_of --live	of the running kernel, and the addresses are its own
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/page/memmap.h"
#include "memory/open.h"

static void die(const char *what, const char *why)
{
	fprintf(stderr, "memmap_of: %s: %s\n", what, why);
	exit(1);
}

static void print(uint64_t first, uint64_t end)
{
	if (first < end)
		printf("%#llx %llu\n", (unsigned long long)first,
		       (unsigned long long)(end - first));
}

static struct pdet_memory *open_memory(struct pdet_env *env, const char *name,
				       bool live)
{
	struct pdet_memory *m;
	int fd, r;

	if (live) {
		r = pdet_memory_open_live(env, ~(uint32_t)0, &m);
	} else {
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die(name, strerror(errno));
		r = pdet_memory_open(env, &fd, 1, NULL, 0, &m);
	}
	if (r < 0)
		die(name, env->error);
	return m;
}

static bool has_pages(const struct pdet_memmap *m, uint64_t pfn)
{
	int error;
	const enum pdet_memmap_is is = pdet_memmap_is(m, pfn, &error);

	return is == PDET_MEMMAP_USED || is == PDET_MEMMAP_SHARED;
}

int main(int argc, char **argv)
{
	struct pdet_env env = { .root = (char []){ "" } };
	uint64_t pfn, last, page, addr, len, first = 0, end = 0;
	struct pdet_vmcoreinfo info;
	struct pdet_memmap memmap;
	struct pdet_paging paging;
	struct pdet_space space;
	struct pdet_reader *r;
	struct pdet_memory *m;
	bool live;

	if (argc != 2)
		die("usage", "memmap_of DUMP|--live");
	live = !strcmp(argv[1], "--live");
	m = open_memory(&env, argv[1], live);
	if (m->ops->reader_new(m, 1 << 20, &r) < 0 || !m->vmcoreinfo ||
	    !pdet_vmcoreinfo_parse(&info, m->vmcoreinfo, m->vmcoreinfo_len))
		die(argv[1], "no memory, or no VMCOREINFO");
	if (!pdet_paging_set_up(&paging, &env, m->machine, &info))
		die(argv[1], env.error);
	pdet_space_init(&space, r, &paging);
	if (pdet_memmap_read(&memmap, &env, &space, &info,
			     paging.page_shift) < 0)
		die(argv[1], env.error);
	last = live ? (memmap.n_sections << memmap.section_shift) - 1 :
	       m->ranges.data[m->ranges.n - 1].last >> paging.page_shift;
	for (pfn = 0; pfn <= last; pfn++) {
		page = pdet_memmap_page(&memmap, pfn);
		addr = page;
		if (!page || !(live ? has_pages(&memmap, pfn) :
			       pdet_space_phys(&space, page, &addr,
					       &len) == 0))
			continue;
		if (addr != end) {
			print(first, end);
			first = addr;
		}
		end = addr + memmap.page_size;
	}
	print(first, end);
	pdet_memmap_free(&memmap);
	pdet_vmcoreinfo_free(&info);
	m->ops->reader_free(r);
	pdet_memory_close(m);
	return 0;
}
