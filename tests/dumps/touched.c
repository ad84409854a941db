/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the frames that answers need by reading the whole dump with the
 * library: its memory map, symbols and types.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "kernel/page/memmap.h"
#include "memory/open.h"
#include "symbol/find_btf.h"
#include "touched.h"

/* Largest free block. */
#define BLOCK_SHIFT 10

static void die(const char *what, const char *why)
{
	fprintf(stderr, "mutate: %s: %s\n", what, why);
	exit(1);
}

struct kernel {
	struct pdet_env env;
	struct pdet_memory *memory;
	const struct pdet_memory_ops *real;
	struct pdet_memory_ops ops; /* observe reads */
	struct pdet_reader *reader;
	struct pdet_vmcoreinfo info;
	struct pdet_paging paging;
	struct pdet_space space;
	struct pdet_memmap memmap;
	const struct dump_map *map;
	struct touched_frames *used; /* of the current reads */
};

static void add_used(struct kernel *k, uint64_t addr)
{
	struct touched_frames *u = k->used;
	const uint64_t frame = addr / k->map->block;

	if (!u || frame >= k->map->n_frames || !k->map->frame[frame].len ||
	    (u->n && u->data[u->n - 1] == frame))
		return;
	if (!pdet_vec_push(u, frame))
		die("mutate", "no memory");
}

static int read_phys(struct pdet_reader *r, uint64_t addr, void *buf, size_t n)
{
	struct kernel *k = PDET_CONTAINER(r->memory->ops, struct kernel, ops);
	uint64_t at;

	for (at = addr; at < addr + n; at += 4096)
		add_used(k, at);
	return k->real->read_phys(r, addr, buf, n);
}

static void kernel_open(struct kernel *k)
{
	k->env.root = (char *)(uintptr_t)"";
	if (pdet_memory_open(&k->env, &k->map->fd, 1, NULL, 0,
			     &k->memory) < 0)
		die("the dump", k->env.error);
	k->real = k->memory->ops;
	k->ops = *k->real;
	k->ops.read_phys = read_phys;
	k->memory->ops = &k->ops;
	if (k->real->reader_new(k->memory, 1 << 20, &k->reader) < 0 ||
	    !k->memory->vmcoreinfo ||
	    !pdet_vmcoreinfo_parse(&k->info, k->memory->vmcoreinfo,
				   k->memory->vmcoreinfo_len))
		die("the dump", "no memory, or no VMCOREINFO");
	if (!pdet_paging_set_up(&k->paging, &k->env, k->memory->machine,
				&k->info))
		die("the dump", k->env.error);
	pdet_space_init(&k->space, k->reader, &k->paging);
	if (pdet_memmap_read(&k->memmap, &k->env, &k->space, &k->info,
			     k->paging.page_shift) < 0)
		die("the dump", k->env.error);
}

static void kernel_close(struct kernel *k)
{
	pdet_memmap_free(&k->memmap);
	pdet_vmcoreinfo_free(&k->info);
	k->memory->ops = k->real;
	k->real->reader_free(k->reader);
	pdet_memory_close(k->memory);
}

static void read_names(struct kernel *k)
{
	struct pdet_kallsyms symbols;
	size_t len;
	void *btf;

	if (pdet_kallsyms_read(&symbols, &k->env, &k->space, &k->info) < 0)
		return;
	if (pdet_find_btf(&k->space, &k->info, &symbols, &btf, &len) == 0)
		free(btf);
	pdet_kallsyms_free(&symbols);
}

/* The frame of a page's struct page; UINT64_MAX: the dump lacks it. */
static uint64_t frame_of_page(struct kernel *k, uint64_t pfn)
{
	const uint64_t page = pdet_memmap_page(&k->memmap, pfn);
	uint64_t addr, len;

	if (!page || pdet_space_phys(&k->space, page, &addr, &len) < 0 ||
	    addr / k->map->block >= k->map->n_frames)
		return UINT64_MAX;
	return addr / k->map->block;
}

/* Pages that may be in a free block depend on its first page. */
static uint64_t group_of(const struct answer_row *row, uint64_t head)
{
	return answer_is(row, "kind", "free") ||
	       answer_is(row, "kind", "unknown") ?
	       UINT64_MAX - (row->pfn >> BLOCK_SHIFT) : head;
}

void touched_open(struct touched *t, const struct dump_map *map,
		  const struct answer *whole)
{
	const struct answer_row *row = whole->row;
	struct kernel k = { .map = map };
	uint64_t head = 0;
	size_t i;

	memset(t, 0, sizeof(*t));
	t->frame = calloc(whole->n_rows, sizeof(*t->frame));
	t->group = calloc(whole->n_rows, sizeof(*t->group));
	t->row = calloc(whole->n_rows, sizeof(*t->row));
	if (!t->frame || !t->group || !t->row)
		die("mutate", "no memory");
	k.used = &t->used[TOUCHED_TABLES];
	kernel_open(&k);
	for (i = 0; i < whole->n_rows; i++) {
		t->frame[i] = frame_of_page(&k, row[i].pfn);
		head = answer_tail(&row[i]) ? head : row[i].pfn;
		t->group[i] = group_of(&row[i], head);
	}
	k.used = &t->used[TOUCHED_PAGES];
	for (i = 0; i < whole->n_rows; i++)
		if (t->frame[i] != UINT64_MAX)
			add_used(&k, t->frame[i] * map->block);
	k.used = &t->used[TOUCHED_NAMES];
	read_names(&k);
	kernel_close(&k);
	for (i = 0; i < TOUCHED_USES; i++)
		if (!t->used[i].n)
			die("the dump", "it has no symbols, types or pages");
}

void touched_close(struct touched *t)
{
	size_t i;

	free(t->frame);
	free(t->group);
	free(t->row);
	for (i = 0; i < TOUCHED_USES; i++)
		pdet_vec_free(&t->used[i]);
}

uint64_t touched_used(const struct touched *t, uint64_t random)
{
	const struct touched_frames *u = &t->used[random % TOUCHED_USES];

	return u->data[random / TOUCHED_USES % u->n];
}

/* Blocks are larger than folios and pages, so they compare by place. */
static bool same_group(const struct touched *t, const struct answer *whole,
		       size_t a, size_t b)
{
	if (t->group[a] == t->group[b])
		return true;
	return t->group[a] > UINT64_MAX / 2 &&
		whole->row[a].pfn >> BLOCK_SHIFT ==
		whole->row[b].pfn >> BLOCK_SHIFT;
}

/* Marks the rows that damage to row @i affects. */
static void spread(struct touched *t, const struct answer *whole, size_t i)
{
	const uint64_t block = whole->row[i].pfn >> BLOCK_SHIFT;
	size_t k;

	/*
	 * The previous page reads the next one to see whether it is a tail
	 * page.
	 */
	if (i)
		t->row[i - 1] = true;
	for (k = i; k-- > 0 && (whole->row[k].pfn >> BLOCK_SHIFT == block ||
				t->group[k] == t->group[i]);)
		t->row[k] |= same_group(t, whole, k, i);
	for (k = i; k < whole->n_rows &&
		    (whole->row[k].pfn >> BLOCK_SHIFT == block ||
		     t->group[k] == t->group[i]); k++)
		t->row[k] |= same_group(t, whole, k, i);
}

static bool hits_any(const struct damage *d, uint64_t at, uint64_t n,
		     const struct touched_frames *frames)
{
	size_t i;

	for (i = 0; i < frames->n; i++)
		if (dump_map_hits(&d->map, at, n, frames->data[i]))
			return true;
	return false;
}

void touched_find(struct touched *t, const struct damage *d,
		  const struct answer *whole)
{
	uint64_t n = d->n, at, last = UINT64_MAX;
	bool is_hit = false;
	size_t i;

	memset(t->row, 0, whole->n_rows * sizeof(*t->row));
	if (!n || !dump_map_dump(&d->map, d->place, &n, &at))
		return;
	if (hits_any(d, at, n, &t->used[TOUCHED_TABLES]) ||
	    hits_any(d, at, n, &t->used[TOUCHED_NAMES])) {
		memset(t->row, 1, whole->n_rows * sizeof(*t->row));
		return;
	}
	for (i = 0; i < whole->n_rows; i++) {
		if (t->frame[i] == UINT64_MAX)
			continue;
		if (t->frame[i] != last)
			is_hit = dump_map_hits(&d->map, at, n, t->frame[i]);
		last = t->frame[i];
		if (is_hit)
			spread(t, whole, i);
	}
}
