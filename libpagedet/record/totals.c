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
/* Of one sum, and its part of the table; and what frees add to it. */
#define ENTRY 64u
#define ENTRY_OF_FREES 48u
/* Of live objects. */
#define LIVE ((uint64_t)1 << 19)
#define MOST_LIVE ((uint64_t)1 << 24)
/* Entries besides them that stay: a part of them, and no more than that. */
#define STAY_PARTS 4
#define MOST_STAY ((uint64_t)1 << 16)
/* Of one of them and its part of the table, besides the key: at most. */
#define LIVE_BYTES 112u
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
	uint64_t buffer, live;	/* live 0: frees are not looked at */
	uint64_t begin_ns, end_ns;
	bool stopped;
	/* At the end. */
	int result;
	uint64_t events, misses, beside[PDET_COUNTERS];
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

bool pdet_totals_have_key(uint32_t key)
{
	bool word;

	return is_possible(key, &word);
}

/* The site is always in it: a key without words cannot be. */
static void take_keys(struct pdet_totals *t,
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
		is_possible(by[i], &word);
		/* The processor of a free is another one. */
		if (by[i] == PAGEDET_ALLOC_CPU) {
			word = o->flags & PAGEDET_RECORD_FREES;
			t->by_cpu = !word;
		}
		if (word)
			t->key.word[t->key.n++] = by[i];
		t->key.has_name |= by[i] == PAGEDET_ALLOC_CACHE;
	}
}

/* --- the beginning --- */

static int find_signatures(struct pdet_totals *t, struct pdet_env *env,
			   uint32_t flags)
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
	r = btf ? pdet_signatures_find(env, btf, flags & PAGEDET_RECORD_PAGES,
				       flags & PAGEDET_RECORD_FREES,
				       &t->known) :
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

/* Of memory, what tables may have by default. */
static uint64_t part_of_memory(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES);

	return (uint64_t)PDET_MAX(pages, 1) * (uint64_t)sysconf(_SC_PAGESIZE) /
	       MEMORY_PARTS;
}

/* By default the sums of many processors are fewer. */
static uint64_t buffer_of(const struct pdet_totals *t, uint64_t wanted)
{
	if (!wanted)
		wanted = PDET_MIN(BUFFER, part_of_memory() / t->n_cpus);
	return PDET_MAX(wanted, LEAST_BUFFER);
}

static uint64_t live_of(const struct pdet_totals *t, uint64_t wanted)
{
	const uint64_t bytes = LIVE_BYTES + pdet_program_key_bytes(&t->key);
	const uint64_t room = part_of_memory() / (bytes + bytes / STAY_PARTS);

	return wanted ? wanted : PDET_MIN(LIVE, room);
}

static int size_tables(struct pdet_totals *t, struct pdet_env *env,
		       const struct pagedet_record_options *o)
{
	t->buffer = buffer_of(t, o->buffer);
	if (t->buffer > MOST_BUFFER)
		return pdet_fail(env, EINVAL, "the sums of a processor have at "
				 "most %llu bytes",
				 (unsigned long long)MOST_BUFFER);
	if (o->flags & PAGEDET_RECORD_FREES)
		t->live = live_of(t, o->live);
	if (t->live > MOST_LIVE)
		return pdet_fail(env, EINVAL, "the table of live objects has "
				 "room for at most %llu",
				 (unsigned long long)MOST_LIVE);
	return 0;
}

static int start(struct pdet_totals *t, struct pdet_env *env,
		 const struct pagedet_record_options *o)
{
	struct pdet_attached_wants w = {
		.known = &t->known, .key = &t->key,
		.stacks = pdet_program_key_has(&t->key, PAGEDET_ALLOC_STACK),
		.without_caller = o->flags & PAGEDET_RECORD_NOT_CALLER,
	};
	int r = find_signatures(t, env, o->flags);

	if (r == 0)
		r = find_cpus(t, env);
	if (r == 0)
		r = size_tables(t, env, o);
	if (r < 0)
		return r;
	w.live = (uint32_t)t->live;
	w.cpus = t->n_cpus;
	w.stay = (uint32_t)(PDET_MIN(t->live / STAY_PARTS, MOST_STAY) /
			    t->n_cpus);
	w.entries = (uint32_t)(t->buffer /
			       (ENTRY + (t->live ? ENTRY_OF_FREES : 0)));
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
	take_keys(t, o);
	r = start(t, env, o);
	if (r < 0) {
		pdet_totals_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

/* --- the end --- */

/* What is in no sum. */
static bool count_beside(struct pdet_totals *t)
{
	uint64_t *each = calloc(t->n_cpus, sizeof(*each));
	uint32_t key, i;
	bool ok = each;

	for (key = 0; ok && key < PDET_COUNTERS; key++) {
		ok = pdet_map_get(t->attached.counters, &key, each);
		for (i = 0; ok && i < t->n_cpus; i++)
			t->beside[key] += each[i];
	}
	free(each);
	return ok;
}

static uint64_t lost(const struct pdet_totals *t)
{
	return t->misses + t->beside[PDET_COUNTER_FULL];
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
		t->result = count_beside(t) ? 0 : -EIO;
	}
	return t->result < 0 ? cannot_read(env, t->result) : 0;
}

/* --- reading --- */

/* Room for one entry. */
struct reading {
	struct pdet_totals *t;
	struct pdet_kmem_sums *ret;
	void *sums;		/* of all processors */
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

static struct pdet_collect collect_of(const struct pdet_totals *t, unsigned i)
{
	return (struct pdet_collect){
		.signature = &t->known.data[i], .key = &t->key,
		.cpus = t->cpus, .n_cpus = t->n_cpus, .by_cpu = t->by_cpu,
		.frees = t->live, .page_size = (uint64_t)sysconf(_SC_PAGESIZE),
	};
}

static int read_one(struct reading *r, unsigned i)
{
	const struct pdet_collect c = collect_of(r->t, i);
	const int map = r->t->attached.sums[i];
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
		t->events += s->rows.data[i].times + s->rows.data[i].failed +
			     s->rows.data[i].freed;
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
	r.sums = calloc(t->n_cpus, pdet_program_sum_bytes(t->live));
	for (i = 0; i < t->known.n && code == 0; i++)
		code = r.sums ? read_one(&r, i) : -ENOMEM;
	free(r.sums);
	if (code < 0)
		return cannot_read(env, code);
	ret->begin_ns = t->begin_ns;
	ret->end_ns = t->end_ns;
	ret->lost = lost(t);
	ret->has_frees = t->live;
	ret->freed_unknown[0] = t->beside[PDET_COUNTER_OBJECTS];
	ret->freed_unknown[1] = t->beside[PDET_COUNTER_PAGES];
	ret->freed_nothing = t->beside[PDET_COUNTER_NOTHING];
	ret->untracked = t->beside[PDET_COUNTER_UNTRACKED];
	ret->uncounted = t->knows_misses ? 0 : t->n_cpus;
	count_events(t, ret);
	read_names(env, ret);
	return 0;
}

/* An entry of the table of live objects. */
struct entry {
	struct pdet_program_live live;
	uint64_t words[PDET_PROGRAM_KEY];
};

/* What stays there though it is freed, or is in no sum, is not one. */
static int read_object(struct reading *r, uint64_t object,
		       const struct entry *entry,
		       int (*take)(void *arg, const struct pdet_kmem_event *e),
		       void *arg)
{
	struct pdet_kmem_event e;
	struct pdet_collect c;
	uint32_t stack;

	if (!entry->live.of || entry->live.of > r->t->known.n)
		return 0;
	c = collect_of(r->t, entry->live.of - 1u);
	if (pdet_kmem_is_page(c.signature->kind))
		return 0;
	if (!take_stack(r, entry->words, &stack))
		return -ENOMEM;
	e = pdet_collect_event(&c, entry->words, stack);
	e.object = object;
	e.allocated = entry->live.allocated;
	return take(arg, &e);
}

int pdet_totals_objects(struct pdet_totals *t, struct pdet_env *env,
			struct pdet_kmem_sums *sums,
			int (*take)(void *arg, const struct pdet_kmem_event *e),
			void *arg)
{
	struct reading r = { .t = t, .ret = sums };
	const int map = t->attached.live;
	struct entry entry;
	uint64_t key, next;
	const void *before = NULL;
	int code = 0;

	while (code == 0 && pdet_map_next(map, before, &next)) {
		key = next;
		before = &key;
		code = pdet_map_get(map, &key, &entry) ?
			       read_object(&r, key, &entry, take, arg) : -EIO;
	}
	if (code == 0 && errno != ENOENT)
		code = -EIO;
	return code < 0 ? cannot_read(env, code) : 0;
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
		.lost = lost(t), .live = t->live,
		.buffer_needed = t->beside[PDET_COUNTER_FULL] &&
				 t->buffer < MOST_BUFFER ?
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
