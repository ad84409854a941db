/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * It needs no thread: the programs run where memory is allocated, and their
 * sums are read at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "pagedet.h"
#include "record/about.h"
#include "record/attached.h"
#include "record/collect.h"
#include "record/totals.h"
#include "record/tracefs.h"
#include "trace/flags.h"

/* Bytes of sums for each processor if the caller names none, and at least. */
#define BUFFER ((uint64_t)1 << 20)
#define LEAST_BUFFER ((uint64_t)64 << 10)
/* Of one sum, and its part of the table. */
#define ENTRY 64u
#define MOST_BUFFER ((uint64_t)64 << 20)
/* That many times all sums fit in memory. */
#define MEMORY_PARTS 32
#define MOST_TYPES ((size_t)256 << 20)
#define MOST_TEXT ((size_t)1 << 20)

struct pdet_totals {
	struct pdet_signatures known;
	struct pdet_attached attached;
	struct pdet_program_key key;
	uint32_t by[PAGEDET_ALLOC_KEYS];
	uint64_t n_by;
	bool by_cpu;
	uint32_t *cpus;		/* all that there may be */
	uint32_t n_cpus;
	uint64_t buffer;
	uint64_t begin_ns, end_ns;
	bool stopped;
	/* At the end. */
	int result;
	uint64_t events, misses, full;
	bool knows_misses;
};

/* --- keys --- */

/* Whether the kernel can add up by it; *word: the key needs a word. */
static bool is_possible(uint32_t key, bool *word)
{
	*word = false;
	switch (key) {
	case PAGEDET_ALLOC_FAMILY:
	case PAGEDET_ALLOC_CPU:
	case PAGEDET_ALLOC_CACHE:
	case PAGEDET_ALLOC_SITE:
	case PAGEDET_ALLOC_FUNCTION:
	case PAGEDET_ALLOC_MODULE:
		return true;
	case PAGEDET_ALLOC_TID:
	case PAGEDET_ALLOC_GFP:
	case PAGEDET_ALLOC_NODE:
	case PAGEDET_ALLOC_ORDER:
	case PAGEDET_ALLOC_MIGRATETYPE:
	case PAGEDET_ALLOC_BYTES_REQ:
	case PAGEDET_ALLOC_BYTES_ALLOC:
	case PAGEDET_ALLOC_STACK:
		*word = true;
		return true;
	default:
		return false;
	}
}

/* The site is always in it: a key without words cannot be. */
static int take_keys(struct pdet_totals *t, struct pdet_env *env,
		     const struct pagedet_record_options *o)
{
	static const uint32_t by_site = PAGEDET_ALLOC_SITE;
	const uint32_t *by = o->by ? o->by : &by_site;
	uint64_t i;
	bool word;

	t->n_by = o->by ? o->n_by : 1;
	t->key.word[t->key.n++] = PAGEDET_ALLOC_SITE;
	for (i = 0; i < t->n_by; i++) {
		t->by[i] = by[i];
		if (!is_possible(by[i], &word))
			return pdet_fail(env, EINVAL, "cannot sum up by '%s': "
					 "only a trace has it",
					 pagedet_alloc_key_name(by[i]));
		if (word)
			t->key.word[t->key.n++] = by[i];
		t->by_cpu |= by[i] == PAGEDET_ALLOC_CPU;
		t->key.has_name |= by[i] == PAGEDET_ALLOC_CACHE;
	}
	return 0;
}

static bool has_stacks(const struct pdet_totals *t)
{
	unsigned i;

	for (i = 0; i < t->key.n; i++)
		if (t->key.word[i] == PAGEDET_ALLOC_STACK)
			return true;
	return false;
}

/* --- the beginning --- */

static int find_signatures(struct pdet_totals *t, struct pdet_env *env,
			   bool pages)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	struct pdet_btf *btf = NULL;
	struct pdet_text text = { 0 };
	bool damaged = false;
	int r = pdet_slurp_at(AT_FDCWD, path, &text, MOST_TYPES);

	if (r == -ENOENT) {
		pdet_fail(env, ENOTSUP, "cannot sum up allocations: this "
			  "kernel does not have %s", path);
		pdet_advise(env, "needs CONFIG_DEBUG_INFO_BTF; 'kmem record' "
			    "without --totals does not");
		return -ENOTSUP;
	}
	errno = -r;
	if (r < 0)
		return pdet_fail_errno(env, "cannot read %s", path);
	btf = pdet_btf_new(text.data, text.len, &damaged);
	r = btf ? pdet_signatures_find(env, btf, pages, &t->known) :
	    damaged ? pdet_fail(env, ENOTSUP, "cannot understand %s", path) :
		      pdet_fail(env, ENOMEM, "no memory");
	pdet_btf_free(btf);
	pdet_text_free(&text);
	return r;
}

static int find_cpus(struct pdet_totals *t, struct pdet_env *env)
{
	static const char path[] = "/sys/devices/system/cpu/possible";
	struct pdet_text text;
	int n = pdet_slurp_at(AT_FDCWD, path, &text, MOST_TEXT);

	if (n == 0) {
		n = pdet_collect_cpus(text.data, text.len, &t->cpus);
		pdet_text_free(&text);
	}
	errno = n < 0 ? -n : 0;
	if (n < 0)
		return pdet_fail_errno(env, "cannot sum up allocations: cannot "
				       "read %s", path);
	t->n_cpus = (uint32_t)n;
	return 0;
}

/* By default the sums of many processors are fewer. */
static uint64_t buffer_of(const struct pdet_totals *t, uint64_t wanted)
{
	const long pages = sysconf(_SC_PHYS_PAGES);
	const uint64_t memory = (uint64_t)PDET_MAX(pages, 1) *
				(uint64_t)sysconf(_SC_PAGESIZE);

	if (!wanted)
		wanted = PDET_MIN(BUFFER, memory / MEMORY_PARTS / t->n_cpus);
	return PDET_MAX(wanted, LEAST_BUFFER);
}

static int start(struct pdet_totals *t, struct pdet_env *env,
		 const struct pagedet_record_options *o)
{
	struct pdet_attached_wants w = {
		.known = &t->known, .key = &t->key, .stacks = has_stacks(t),
		.without_caller = o->flags & PAGEDET_RECORD_NOT_CALLER,
	};
	int r = find_signatures(t, env, o->flags & PAGEDET_RECORD_PAGES);

	if (r == 0)
		r = find_cpus(t, env);
	if (r < 0)
		return r;
	t->buffer = buffer_of(t, o->buffer);
	if (t->buffer > MOST_BUFFER)
		return pdet_fail(env, EINVAL, "the sums of a processor have at "
				 "most %llu bytes",
				 (unsigned long long)MOST_BUFFER);
	w.entries = (uint32_t)(t->buffer / ENTRY);
	r = pdet_attached_open(&t->attached, env, &w);
	t->begin_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	return r;
}

int pdet_totals_new(struct pdet_env *env,
		    const struct pagedet_record_options *o,
		    struct pdet_totals **ret)
{
	struct pdet_totals *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return pdet_fail(env, ENOMEM, "no memory");
	pdet_attached_none(&t->attached);
	r = take_keys(t, env, o);
	if (r == 0)
		r = start(t, env, o);
	if (r < 0) {
		pdet_totals_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/* --- the end --- */

/* Events without room for their sum. */
static bool count_full(struct pdet_totals *t)
{
	uint64_t *each = calloc(t->n_cpus, sizeof(*each));
	const uint32_t key = 0;
	uint32_t i;
	bool ok = each && pdet_map_get(t->attached.full, &key, each);

	for (i = 0; ok && i < t->n_cpus; i++)
		t->full += each[i];
	free(each);
	return ok;
}

static int cannot_read(struct pdet_env *env, int code)
{
	return pdet_fail(env, -code, code == -ENOMEM ? "no memory" :
			 "cannot read what the kernel has summed up");
}

int pdet_totals_stop(struct pdet_totals *t, struct pdet_env *env)
{
	if (!t->stopped) {
		t->stopped = true;
		pdet_attached_end(&t->attached);
		t->end_ns = pdet_clock_ns(CLOCK_MONOTONIC);
		t->knows_misses = pdet_attached_misses(&t->attached,
						       &t->misses) &&
				  t->known.counts_misses;
		t->result = count_full(t) ? 0 : -EIO;
	}
	return t->result < 0 ? cannot_read(env, t->result) : 0;
}

/* --- reading --- */

/* Room for one entry. */
struct reading {
	struct pdet_totals *t;
	struct pdet_kmem_sums *ret;
	struct pdet_program_sum *sums; /* of all processors */
	uint64_t frames[PDET_ATTACHED_FRAMES];
};

/* False without memory. What is an error, or 0, was not kept. */
static bool read_stack(struct reading *r, uint64_t id, uint32_t *number)
{
	const uint32_t key = (uint32_t)id;
	size_t n = 0;

	*number = PDET_STACK_NONE;
	if ((int64_t)id < 0 ||
	    !pdet_map_get(r->t->attached.stacks, &key, r->frames))
		return true;
	while (n < PDET_ATTACHED_FRAMES && r->frames[n])
		n++;
	return pdet_trace_stacks_add(&r->ret->stacks, r->frames, n, number);
}

static bool take_stack(struct reading *r, const uint64_t *words,
		       uint32_t *number)
{
	const struct pdet_program_key *key = &r->t->key;
	unsigned i;

	*number = PDET_STACK_NONE;
	for (i = 0; i < key->n; i++)
		if (key->word[i] == PAGEDET_ALLOC_STACK)
			return read_stack(r, words[i], number);
	return true;
}

static int read_one(struct reading *r, unsigned i)
{
	const struct pdet_collect c = {
		.signature = &r->t->known.data[i], .key = &r->t->key,
		.cpus = r->t->cpus, .n_cpus = r->t->n_cpus,
		.by_cpu = r->t->by_cpu,
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
	};
	const int map = r->t->attached.of[i].sums;
	uint64_t words[PDET_PROGRAM_KEY], next[PDET_PROGRAM_KEY] = { 0 };
	const void *before = NULL;
	uint32_t stack;

	while (pdet_map_next(map, before, next)) {
		memcpy(words, next, sizeof(words));
		before = words;
		if (!pdet_map_get(map, words, r->sums))
			return -EIO;
		if (!take_stack(r, words, &stack) ||
		    !pdet_collect_add(&c, words, stack, r->sums, r->ret))
			return -ENOMEM;
	}
	return errno == ENOENT ? 0 : -EIO;
}

static void read_names(struct pdet_env *env, struct pdet_kmem_sums *ret)
{
	const int fs = pdet_tracefs_open();
	struct pdet_text text;
	struct utsname u;

	pdet_about_code(&ret->kallsyms);
	pdet_read_line(env, "/proc/sys/kernel/random/boot_id", ret->boot,
		       sizeof(ret->boot));
	if (!uname(&u))
		snprintf(ret->release, sizeof(ret->release), "%.63s",
			 u.release);
	if (fs < 0)
		return;
	if (pdet_slurp_at(fs, "events/kmem/kmalloc/format", &text,
			  MOST_TEXT) == 0) {
		pdet_trace_flags((struct pdet_scan){ text.data,
						     text.data + text.len },
				 "gfp_flags", &ret->gfp);
		pdet_text_free(&text);
	}
	close(fs);
}

static void count_events(struct pdet_totals *t, const struct pdet_kmem_sums *s)
{
	size_t i;

	t->events = 0;
	for (i = 0; i < s->rows.n; i++)
		t->events += s->rows.data[i].times + s->rows.data[i].failed;
}

int pdet_totals_read(struct pdet_totals *t, struct pdet_env *env,
		     struct pdet_kmem_sums *ret)
{
	struct reading r = { .t = t, .ret = ret };
	unsigned i;
	int code;

	memset(ret, 0, sizeof(*ret));
	code = pdet_totals_stop(t, env);
	if (code < 0)
		return code;
	r.sums = calloc(t->n_cpus, sizeof(*r.sums));
	for (i = 0; i < t->known.n && code == 0; i++)
		code = r.sums ? read_one(&r, i) : -ENOMEM;
	free(r.sums);
	if (code < 0)
		return cannot_read(env, code);
	ret->begin_ns = t->begin_ns;
	ret->end_ns = t->end_ns;
	ret->lost = t->misses + t->full;
	ret->uncounted = t->knows_misses ? 0 : t->n_cpus;
	count_events(t, ret);
	read_names(env, ret);
	return 0;
}

void pdet_totals_sums_free(struct pdet_kmem_sums *s)
{
	pdet_vec_free(&s->rows);
	pdet_trace_stacks_free(&s->stacks);
	pdet_text_free(&s->kallsyms);
}

const uint32_t *pdet_totals_by(const struct pdet_totals *t, uint64_t *n)
{
	*n = t->n_by;
	return t->by;
}

void pdet_totals_total(const struct pdet_totals *t,
		       struct pagedet_record_total *ret)
{
	*ret = (struct pagedet_record_total){
		.begin_ns = t->begin_ns, .buffer = t->buffer,
		.end_ns = t->stopped ? t->end_ns :
			  pdet_clock_ns(CLOCK_MONOTONIC),
		.cpus = t->n_cpus, .events = t->events,
		.lost = t->misses + t->full,
		.buffer_needed = t->full && t->buffer < MOST_BUFFER ?
				 PDET_MIN(2 * t->buffer, MOST_BUFFER) : 0 };
}

void pdet_totals_free(struct pdet_totals *t)
{
	if (!t)
		return;
	pdet_attached_close(&t->attached);
	free(t->cpus);
	free(t);
}
