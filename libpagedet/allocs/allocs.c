/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* From a path to groups: opens, names, merges, pairs, sorts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "allocs/allocs.h"
#include "allocs/compare.h"
#include "allocs/keys.h"
#include "allocs/pairing.h"
#include "base/text/ranking.h"
#include "base/text/text.h"
#include "schema/watch.h"
#include "trace/trace.h"

#define WASTE (-1)

/* A trace whose events are read later. */
struct later {
	struct pdet_trace *trace; /* NULL: there is none, or it was read */
	char *path;		/* NULL: it is read once only, or all at once */
	struct pdet_trace_merge merge;
	bool begun;
	bool unread;		/* some of it is not read yet */
	uint64_t end_ns;	/* as a look at all of it has found; 0: none */
};

struct pdet_allocs {
	struct pdet_watch watch;
	struct pdet_alloc_keys keys;
	struct pdet_pairing pairing;
	const struct pdet_alloc_sink *sink; /* NULL: the pairing */
	struct pdet_trace_loss loss;
	struct pdet_alloc_parts sum;
	uint64_t begin_ns, end_ns;
	bool no_ns, no_cpu, hashed; /* as in struct pdet_trace */
	bool no_events;		/* the kernel has added up */
	bool has_objects;	/* but told which objects are live */
	bool streams;		/* nothing is added up */
	struct later later;
	bool no_frees;		/* sums of allocations only */
	bool only_live;		/* or of what is live */
	bool has_others;	/* other instances, which are not read */
	struct pdet_gfp_names gfp;
	struct pdet_trace_kernel kernel;
	char boot[40], release[64];
	bool names_caches;
	uint64_t places[2];	/* of code_symbols, by the trace; 0: not told */
	bool verified;		/* the sums have what the kernel says */
	/* Of the trace that this one was compared with. */
	bool compared;
	struct pdet_alloc_sums before; /* by group of this one */
	struct pdet_alloc_parts sum_before;
	uint64_t begin_before_ns, end_before_ns, unmatched;
	struct pdet_alloc_left_out out;
	uint32_t *order;	/* groups as they are listed */
	size_t n_order;
	size_t at;
};

/* Where the kernel's code begins, as its kallsyms says it. */
static const char *const code_symbols[] = { "_stext", "_text" };

/* Bit 1 << PDET_OF_*: what a sum is of. */
#define OBJECTS (1u << PDET_OF_OBJECTS)
#define PAGES (1u << PDET_OF_PAGES)

/* In the order of what knows them: allocations, frees, and single events. */
static const struct {
	const char *name;
	int at;
	unsigned parts;
	enum { OF_ALLOCS, OF_FREES, OF_EVENTS } of;
} sums[] = {
#define AT(name) offsetof(struct pdet_alloc_sum, name)
#define SUM(of, name) { #name, AT(name), OBJECTS, of }
#define BOTH(of, name) \
	SUM(of, name), { "page_" #name, AT(name), PAGES, of }
#define ALL(of, name) { "all_" #name, AT(name), OBJECTS | PAGES, of }
	BOTH(OF_ALLOCS, times), SUM(OF_ALLOCS, requested),
	BOTH(OF_ALLOCS, allocated), ALL(OF_ALLOCS, allocated),
	{ "unsized", AT(unsized), PAGES, OF_ALLOCS }, BOTH(OF_ALLOCS, failed),
	{ "waste", WASTE, OBJECTS, OF_ALLOCS },
	BOTH(OF_FREES, freed), BOTH(OF_FREES, replaced), BOTH(OF_FREES, live),
	BOTH(OF_FREES, live_bytes), ALL(OF_FREES, live_bytes),
	BOTH(OF_FREES, cross_cpu), SUM(OF_FREES, mismatched),
	BOTH(OF_FREES, untracked),
	BOTH(OF_FREES, verified_live), BOTH(OF_FREES, verified_live_bytes),
	ALL(OF_FREES, verified_live_bytes),
	BOTH(OF_FREES, verified_free), BOTH(OF_FREES, unverified),
	SUM(OF_EVENTS, less), BOTH(OF_EVENTS, lifetime_ns),
	BOTH(OF_EVENTS, lifetime_unknown),
#undef AT
#undef ALL
#undef BOTH
#undef SUM
};

/* --- the question --- */

static int take_keys(struct pdet_allocs *a, struct pdet_env *env,
		     const uint32_t *by, uint64_t n)
{
	int r = pdet_alloc_keys_check(env, by, n);

	if (r < 0)
		return r;
	memcpy(a->keys.by, by, n * sizeof(*by));
	a->keys.groups.n_keys = (unsigned)n;
	a->pairing.group = pdet_alloc_keys_group;
	a->pairing.arg = &a->keys;
	if (pdet_alloc_keys_has(&a->keys, PAGEDET_ALLOC_LIFETIME))
		a->pairing.ended = pdet_alloc_keys_ended;
	return 0;
}

/* Lines "TID NAME". It has only those that ran last. */
static bool take_comms(struct pdet_allocs *a, const struct pdet_text *text)
{
	struct pdet_scan all = { text->data, text->data + text->len }, line;
	uint64_t tid;

	while (pdet_scan_line(&all, &line))
		if (pdet_scan_dec(&line, &tid) && pdet_scan_char(&line, ' ') &&
		    !pdet_alloc_keys_comm(&a->keys, tid, line.at,
					  (size_t)(line.end - line.at)))
			return false;
	return true;
}

/* --- events --- */

static void note_times(struct pdet_allocs *a,
		       const struct pdet_kmem_event *const *e, int n)
{
	int i = 0;

	if (!a->end_ns) {
		/* A name may be of any time. */
		while (i < n && e[i]->kind >= PDET_KMEM_NAME)
			i++;
		if (i == n)
			return;
		a->begin_ns = e[i]->ns;
	}
	/* Nor do losses at the end have one. */
	while (n > 0 && e[n - 1]->ns == PDET_KMEM_NO_NS)
		n--;
	if (n > 0)
		a->end_ns = PDET_MAX(a->end_ns, e[n - 1]->ns);
}

/* Which formats to add to the trace. */
static void tell_strange(const struct pdet_allocs *a, struct pdet_env *env)
{
	const struct pdet_trace_loss *l = &a->loss;
	char ids[16 * PDET_TRACE_STRANGE] = "";
	size_t len = 0;
	unsigned i;

	for (i = 0; i < l->n_strange; i++)
		len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s%u",
					i ? ", " : "", l->strange_id[i]);
	if (l->n_strange)
		pdet_log(env, PAGEDET_LOG_WARNING, "the trace lacks the format "
			 "files with ID: %s%s", ids,
			 l->n_strange == PDET_TRACE_STRANGE ? " ..." : "");
}

/* False without memory. */
static bool add_losses(struct pdet_allocs *a, const struct pdet_trace *t)
{
	size_t i, k;

	for (i = 0; i < t->n_streams; i++) {
		const struct pdet_trace_loss *l = &t->streams[i]->loss;

		a->loss.lost += l->lost;
		a->loss.unknown += l->unknown;
		a->loss.uncounted += l->uncounted;
		a->loss.missing += l->missing;
		a->loss.cut += l->cut;
		a->loss.damaged += l->damaged;
		a->loss.strange += l->strange;
		for (k = 0; k < l->n_strange; k++)
			pdet_trace_strange(&a->loss, l->strange_id[k]);
		a->loss.disorder += l->disorder;
		a->loss.inexact += l->inexact;
		a->loss.changed += l->changed;
		a->loss.other += l->other;
		if (!pdet_findings_stream(&a->pairing.findings, t->streams[i]))
			return false;
	}
	return true;
}

static uint64_t bytes_left(const struct pdet_trace *t)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < t->n_streams; i++)
		n += t->streams[i]->end - t->streams[i]->offset;
	return n;
}

static int sink_events(struct pdet_allocs *a,
		       const struct pdet_kmem_event *const *e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		a->pairing.rest.event[e[i]->kind]++;
	return a->sink->add(a->sink->arg, &a->keys, e, n);
}

/* Losses first: some may have begun before an event in front of them. */
static int pair_events(struct pdet_allocs *a, const struct pdet_trace_merge *m,
		       const struct pdet_kmem_event *const *e, size_t n)
{
	size_t i;

	for (i = 0; i < m->lost.n; i++)
		if (!pdet_pairing_lost(&a->pairing, m->lost.data[i]))
			return -ENOMEM;
	return pdet_pairing_add(&a->pairing, e, n);
}

static int add_events(struct pdet_allocs *a, struct pdet_env *env,
		      const struct pdet_trace *t,
		      struct pdet_trace_merge *m)
{
	const struct pdet_kmem_event *const *e;
	int n;

	while ((n = pdet_trace_merge_next(m, &e)) > 0) {
		/* A stream may say it, in front of its events. */
		if (!a->pairing.page_size)
			a->pairing.page_size = t->page_size;
		note_times(a, e, n);
		a->keys.begin_ns = a->begin_ns;
		a->keys.no_ns = t->no_ns;
		a->keys.no_cpu = t->no_cpu;
		n = a->sink ? sink_events(a, e, (size_t)n) :
			      pair_events(a, m, e, (size_t)n);
		if (n < 0)
			break;
	}
	return n == -ENOMEM ? pdet_fail(env, ENOMEM, "no memory") : n;
}

struct watching {
	struct pdet_allocs *a;
	const struct pdet_trace *t;
	unsigned steps;
};

static bool is_stopped(void *arg)
{
	struct watching *w = arg;

	if (atomic_load(&w->a->watch.stopped))
		return true;
	if (++w->steps % 64)
		return false;
	atomic_store(&w->a->watch.done, w->a->watch.total - bytes_left(w->t));
	return pdet_watch_stopped(&w->a->watch, true, NULL);
}

static int read_events(struct pdet_allocs *a, struct pdet_env *env,
		       struct pdet_trace *t)
{
	struct watching w = { a, t, 0 };
	struct pdet_trace_merge m = { .stopped = is_stopped, .arg = &w };
	int r;

	a->watch.total = bytes_left(t);
	a->pairing.is_one_stream = t->n_streams == 1;
	r = pdet_trace_merge_begin(&m, t->streams, t->n_streams);
	if (r == -ENOMEM)
		r = pdet_fail(env, ENOMEM, "no memory");
	if (r == 0)
		r = add_events(a, env, t, &m);
	pdet_trace_merge_end(&m);
	if (!add_losses(a, t))
		r = pdet_fail(env, ENOMEM, "no memory");
	tell_strange(a, env);
	return r;
}

/* The sites of the trace, which must be known before a vmlinux names them. */
static int name_by_vmlinux(struct pdet_allocs *a, struct pdet_env *env,
			   const struct pagedet_allocs_query *q,
			   const struct pdet_trace *t)
{
	struct watching w = { a, t, 0 };
	struct pdet_sites sites;
	struct stat st;
	int r;

	if (t->fd < 0 || fstat(t->fd, &st) < 0 ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return pdet_fail(env, EINVAL, "%s can be read only once, and a "
				 "vmlinux needs it twice: save it to a file "
				 "first", q->path);
	r = pdet_sites_read(&sites, env, q->path, is_stopped, &w);
	if (r == 0)
		r = pdet_naming_vmlinux(&a->keys.naming, env, q->vmlinux,
					&sites);
	pdet_sites_free(&sites);
	return r;
}

static int take_names(struct pdet_allocs *a, struct pdet_env *env,
		      const struct pagedet_allocs_query *q,
		      struct pdet_trace *t, const struct pdet_namer *namer)
{
	struct pdet_naming *n = &a->keys.naming;
	int r = 0;

	n->kaslr = PAGEDET_NONE;
	if (namer)
		pdet_naming_namer(n, namer);
	else if (q->kallsyms)
		r = pdet_naming_kallsyms(n, env, q->kallsyms);
	else
		r = pdet_naming_beside(n, env, &t->kallsyms);
	return r < 0 || !q->vmlinux ? r : name_by_vmlinux(a, env, q, t);
}

/*
 * Other names may be of another boot. Symbols are in the order of addresses,
 * and nothing of the code comes before _stext.
 */
static void note_places(struct pdet_allocs *a, const struct pdet_text *kallsyms)
{
	struct pdet_scan all = { kallsyms->data,
				 kallsyms->data + kallsyms->len };
	struct pdet_scan line;
	uint64_t address;
	size_t i;

	while (kallsyms->data && pdet_scan_line(&all, &line)) {
		if (!pdet_scan_hex(&line, &address) || line.end - line.at < 4)
			continue;
		if (a->places[0] && address > a->places[0])
			break;
		line.at += strlen(" T ");
		for (i = 0; i < PDET_COUNT(code_symbols); i++)
			if (!a->places[i] &&
			    pdet_scan_is(&line, code_symbols[i]))
				a->places[i] = address;
	}
}

static int open_trace(struct pdet_allocs *a, struct pdet_env *env,
		      const struct pagedet_allocs_query *q,
		      const struct pdet_namer *namer, struct pdet_trace **ret)
{
	struct pdet_trace *t;
	int r = pdet_trace_open(env, q->path, &t);

	if (r < 0)
		return r;
	a->pairing.page_size = q->page_size;
	if (q->page_size && t->page_size && q->page_size != t->page_size)
		r = pdet_fail(env, EINVAL, "%s says that its pages have %llu "
			      "bytes", q->path,
			      (unsigned long long)t->page_size);
	if (!a->streams && pdet_alloc_keys_has(&a->keys, PAGEDET_ALLOC_STACK))
		pdet_trace_want_stacks(t);
	if (q->threads > 1)
		pdet_trace_read_ahead(t);
	t->wants_rows = a->sink || a->streams;
	/* Rows of events have them. */
	t->known->no_caches = !t->wants_rows &&
		!pdet_alloc_keys_has(&a->keys, PAGEDET_ALLOC_CACHE);
	a->keys.stacks = &t->stacks;
	note_places(a, &t->kallsyms);
	if (r == 0)
		r = take_names(a, env, q, t, namer);
	if (r == 0 && !take_comms(a, &t->cmdlines))
		r = pdet_fail(env, ENOMEM, "no memory");
	if (r < 0)
		pdet_trace_free(t);
	else
		*ret = t;
	return r;
}

/* What it says of itself and of its kernel. */
static void note_trace(struct pdet_allocs *a, const struct pdet_trace *t)
{
	a->no_ns = t->no_ns;
	a->no_cpu = t->no_cpu;
	a->hashed = t->hashed;
	a->only_live = t->only_live;
	a->has_others = t->has_others;
	a->gfp = t->gfp;
	a->kernel = t->kernel;
	memcpy(a->boot, t->boot, sizeof(a->boot));
	memcpy(a->release, t->release, sizeof(a->release));
	a->names_caches = pdet_kmem_names_caches(t->known);
}

static int read_trace(struct pdet_allocs *a, struct pdet_env *env,
		      const struct pagedet_allocs_query *q,
		      const struct pdet_namer *namer)
{
	struct pdet_trace *t;
	int r = open_trace(a, env, q, namer, &t);

	if (r < 0)
		return r;
	r = read_events(a, env, t);
	note_trace(a, t);
	if (r == 0)
		r = pdet_naming_check(&a->keys.naming, env, &t->kernel,
				      q->path);
	pdet_trace_free(t);
	return r;
}

/* --- events that are read later --- */

/* Whether another reading finds the same. An instance is open for the call. */
static bool is_lasting(const struct pagedet_allocs_query *q,
		       const struct pdet_trace *t)
{
	struct stat st;

	return !q->instance && t->fd >= 0 && fstat(t->fd, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static int read_later(struct pdet_allocs *a, struct pdet_env *env,
		      const struct pagedet_allocs_query *q,
		      const struct pdet_namer *namer)
{
	struct later *l = &a->later;
	int r;

	if (namer)
		return pdet_fail(env, EINVAL, "events are not named by a dump: "
				 "a kallsyms or a vmlinux names them");
	r = open_trace(a, env, q, namer, &l->trace);
	if (r < 0)
		return r;
	l->unread = true;
	note_trace(a, l->trace);
	if (is_lasting(q, l->trace)) {
		l->path = strdup(q->path);
		if (!l->path)
			return pdet_fail(env, ENOMEM, "no memory");
	}
	return pdet_naming_check(&a->keys.naming, env, &a->kernel, q->path);
}

bool pdet_allocs_streams(const struct pdet_allocs *a)
{
	return a->streams;
}

int pdet_allocs_begin(struct pdet_allocs *a, struct pdet_env *env,
		      bool (*stopped)(void *arg), void *arg)
{
	struct later *l = &a->later;

	if (l->begun || !l->trace)
		return pdet_fail(env, EINVAL, "the events of this trace were "
				 "read already: pagedet_allocs() opens it "
				 "again");
	l->begun = true;
	l->merge = (struct pdet_trace_merge){ .stopped = stopped, .arg = arg };
	a->watch.total = bytes_left(l->trace);
	return pdet_trace_merge_begin(&l->merge, l->trace->streams,
				      l->trace->n_streams) == -ENOMEM ?
		       pdet_fail(env, ENOMEM, "no memory") : 0;
}

/* Only sites that were named are known to be impossible. */
static int check_names_again(const struct pdet_allocs *a, struct pdet_env *env)
{
	return pdet_naming_check(&a->keys.naming, env, &a->later.trace->kernel,
				 "the trace");
}

int pdet_allocs_more(struct pdet_allocs *a, struct pdet_env *env,
		     const struct pdet_kmem_event *const **ret)
{
	struct later *l = &a->later;
	int i, n = check_names_again(a, env);

	if (n == 0)
		n = pdet_trace_merge_next(&l->merge, ret);
	if (n == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	if (n <= 0) {
		l->unread = n < 0 || l->merge.is_over;
		return n == 0 ? check_names_again(a, env) : n;
	}
	if (!a->pairing.page_size)
		a->pairing.page_size = l->trace->page_size;
	note_times(a, *ret, n);
	for (i = 0; i < n; i++)
		a->pairing.rest.event[(*ret)[i]->kind]++;
	a->no_ns = l->trace->no_ns;
	a->no_cpu = l->trace->no_cpu;
	return n;
}

void pdet_allocs_end(struct pdet_allocs *a, struct pdet_env *env, int stopped)
{
	struct later *l = &a->later;
	struct pdet_trace *t = l->trace;

	if (!t)
		return;
	l->trace = NULL;
	pdet_trace_merge_end(&l->merge);
	note_trace(a, t);
	/* The findings are of no use here. */
	(void)add_losses(a, t);
	tell_strange(a, env);
	atomic_store(&a->watch.stopped, stopped);
	a->keys.stacks = NULL;
	pdet_trace_free(t);
}

const char *pdet_allocs_path(const struct pdet_allocs *a)
{
	return a->later.path;
}

void pdet_allocs_surveyed(struct pdet_allocs *a,
			  const struct pdet_trace_survey *s)
{
	a->later.end_ns = s->end_ns;
	a->hashed |= s->hashed;
	if (!*a->kernel.symbol)
		a->kernel = s->kernel;
}

struct pdet_alloc_keys *pdet_allocs_of_events(struct pdet_allocs *a)
{
	return &a->keys;
}

/* --- order --- */

static const char *sum_name(unsigned sum)
{
	return sum < PDET_COUNT(sums) ? sums[sum].name : NULL;
}

static const char *alloc_sum_name(unsigned sum)
{
	return sum < PDET_COUNT(sums) && sums[sum].of == OF_ALLOCS ?
		       sums[sum].name : NULL;
}

static const char *paired_sum_name(unsigned sum)
{
	return sum < PDET_COUNT(sums) && sums[sum].of != OF_EVENTS ?
		       sums[sum].name : NULL;
}

static const struct pdet_alloc_parts *parts_of(const struct pdet_allocs *a,
					       uint32_t group, bool before)
{
	return before ? &a->before.data[group] : &a->pairing.sums.data[group];
}

/* Of a text that has nothing else. */
static const char *live_sum_name(unsigned sum)
{
	static const char *const names[] = { "live", "live_bytes",
					     "all_live_bytes" };

	return sum < PDET_COUNT(names) ? names[sum] : NULL;
}

static uint64_t live_sum_of(const void *arg, uint32_t group, unsigned sum,
			    bool before)
{
	const struct pdet_alloc_parts *p = parts_of(arg, group, before);
	const struct pdet_alloc_sum *s = &p->of[PDET_OF_OBJECTS];

	return sum ? s->live_bytes : s->live;
}

static uint64_t sum_of(const void *arg, uint32_t group, unsigned sum,
		       bool before)
{
	const struct pdet_alloc_parts *p = parts_of(arg, group, before);
	const struct pdet_alloc_sum *s = &p->of[PDET_OF_OBJECTS];
	uint64_t all = 0, v;
	unsigned i;

	if (sums[sum].at == WASTE)
		return s->allocated - PDET_MIN(s->allocated, s->requested);
	for (i = 0; i < PDET_ALLOC_PARTS; i++)
		if (sums[sum].parts >> i & 1) {
			memcpy(&v, (const char *)&p->of[i] + sums[sum].at,
			       sizeof(v));
			all += v;
		}
	return all;
}

/* A group can be empty if it is not in either trace any more. */
static bool is_empty(const void *arg, uint32_t i)
{
	const struct pdet_allocs *a = arg;

	if (a->out.group && a->out.group[i])
		return true;
	return pdet_alloc_is_empty(&a->pairing.sums.data[i]) &&
	       (!a->compared || pdet_alloc_is_empty(&a->before.data[i]));
}

struct pdet_ranking pdet_allocs_ranking(const struct pdet_allocs *a)
{
	return (struct pdet_ranking){
		.groups = &a->keys.groups, .n = a->pairing.sums.n,
		.key_name = pdet_alloc_key_name, .by = a->keys.by,
		.sum_name = a->no_frees ? alloc_sum_name :
			    a->no_events ? paired_sum_name :
			    a->only_live ? live_sum_name : sum_name,
		.sum = a->only_live ? live_sum_of : sum_of,
		.is_empty = is_empty,
		.arg = a, .compared = a->compared,
	};
}

int pdet_allocs_order(struct pdet_allocs *a, struct pdet_env *env,
		      const char *keys)
{
	const char *usual = a->verified ? "all_verified_live_bytes" :
			    a->compared ? "all_live_bytes_grown" :
			    a->only_live ? "live_bytes" : "all_allocated";
	const struct pdet_ranking ranking = pdet_allocs_ranking(a);
	uint32_t *order;
	size_t n;
	int r = pdet_rank(&ranking, env, keys ? keys : usual, &order, &n);

	if (r < 0)
		return r;
	free(a->order);
	a->order = order;
	a->n_order = n;
	a->at = 0;
	return 0;
}

/* --- answers --- */

/* Only a hostile text has sums that do not fit. */
static struct pdet_alloc_parts add_up(const struct pdet_allocs *a,
				      const struct pdet_alloc_sums *s)
{
	struct pdet_alloc_parts all = { { { 0 } } };
	uint64_t *sum = (uint64_t *)&all;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		const uint64_t *of_group = (const uint64_t *)&s->data[i];

		if (a->out.group && a->out.group[i])
			continue;
		for (k = 0; k < sizeof(all) / sizeof(*sum); k++)
			if (__builtin_add_overflow(sum[k], of_group[k],
						   &sum[k]))
				sum[k] = UINT64_MAX;
	}
	return all;
}

/* @parts: bits as in the table of sums. */
static struct pdet_alloc_sum sum_of_parts(const struct pdet_alloc_parts *p,
					  unsigned parts)
{
	struct pdet_alloc_sum all = { 0 };
	uint64_t *sum = (uint64_t *)&all;
	unsigned i;
	size_t k;

	for (i = 0; i < PDET_ALLOC_PARTS; i++)
		for (k = 0; parts >> i & 1 && k < sizeof(all) / sizeof(*sum);
		     k++)
			if (__builtin_add_overflow(
				    sum[k], ((const uint64_t *)&p->of[i])[k],
				    &sum[k]))
				sum[k] = UINT64_MAX;
	return all;
}

/* --- a filter --- */

/* The kernel says them, and only of what is live now; or of a part of it. */
static bool knows_verdict(const struct pdet_allocs *a, uint64_t unverified,
			  const struct pdet_ranked *which)
{
	switch (sums[which->which].at) {
	case offsetof(struct pdet_alloc_sum, verified_live):
	case offsetof(struct pdet_alloc_sum, verified_live_bytes):
	case offsetof(struct pdet_alloc_sum, verified_free):
		return a->verified && which->side == PDET_NOW && !unverified;
	case offsetof(struct pdet_alloc_sum, unverified):
		return a->verified && which->side == PDET_NOW;
	default:
		return true;
	}
}

bool pdet_allocs_knows(const struct pdet_allocs *a, uint32_t group,
		       const struct pdet_ranked *which)
{
	const int at = sums[which->which].at;
	const unsigned parts = sums[which->which].parts;
	struct pdet_alloc_sum now;
	uint64_t unsized;

	if (a->only_live)
		return true;
	now = sum_of_parts(parts_of(a, group, false), parts);
	unsized = which->side != PDET_BEFORE ? now.unsized : 0;
	if (which->side != PDET_NOW)
		unsized += sum_of_parts(parts_of(a, group, true),
					parts).unsized;
	if (!knows_verdict(a, now.unverified, which))
		return false;
	switch (at) {
	case offsetof(struct pdet_alloc_sum, allocated):
	case offsetof(struct pdet_alloc_sum, live_bytes):
	case offsetof(struct pdet_alloc_sum, verified_live_bytes):
		if (unsized)
			return false;
		break;
	case offsetof(struct pdet_alloc_sum, cross_cpu):
		if (a->no_cpu)
			return false;
		break;
	case offsetof(struct pdet_alloc_sum, lifetime_ns):
		return !a->no_ns && !now.lifetime_unknown;
	case offsetof(struct pdet_alloc_sum, lifetime_unknown):
		return !a->no_ns;
	case offsetof(struct pdet_alloc_sum, untracked):
		return true;
	default:
		break;
	}
	return sums[which->which].of != OF_FREES || !now.untracked;
}

/* Groups may be others now. */
static void take_filter_away(struct pdet_allocs *a)
{
	free(a->out.group);
	a->out = (struct pdet_alloc_left_out){ 0 };
}

int pdet_allocs_leave_out(struct pdet_allocs *a, struct pdet_env *env,
			  const struct pdet_alloc_left_out *out)
{
	take_filter_away(a);
	a->out = *out;
	a->sum = add_up(a, &a->pairing.sums);
	if (a->compared)
		a->sum_before = add_up(a, &a->before);
	return pdet_allocs_order(a, env, NULL);
}

static int check_names(struct pdet_env *env,
		       const struct pagedet_allocs_query *q)
{
	if (q->open_names > 1)
		return pdet_fail(env, E2BIG, "allocations do not have this "
				 "option");
	if (q->events > 1)
		return pdet_fail(env, E2BIG, "the query of a trace has events "
				 "that this library does not know");
	if (q->open_names && (q->vmlinux || q->kallsyms))
		return pdet_fail(env, EINVAL, "names are asked of a dump, and "
				 "of %s too", q->vmlinux ? q->vmlinux :
							   q->kallsyms);
	return 0;
}

/* @r: whether all was read. */
static int deliver(struct pdet_allocs *a, struct pdet_env *env, int r,
		   struct pdet_allocs **ret)
{
	if (r == 0)
		r = pdet_allocs_order(a, env, NULL);
	if (r < 0) {
		pdet_allocs_free(a);
		return r;
	}
	a->sum = add_up(a, &a->pairing.sums);
	*ret = a;
	return 0;
}

int pdet_allocs_new(struct pdet_env *env, const struct pagedet_allocs_query *q,
		    const struct pdet_namer *namer,
		    const struct pdet_alloc_sink *sink,
		    struct pdet_allocs **ret)
{
	static const uint32_t by_site = PAGEDET_ALLOC_SITE;
	struct pdet_allocs *a;
	int r;

	if (!q->path)
		return pdet_fail(env, EINVAL, "there is no path of a trace");
	a = calloc(1, sizeof(*a));
	if (!a)
		return pdet_fail(env, ENOMEM, "no memory");
	pdet_watch_init(&a->watch, q->deadline_ns, q->progress,
			q->progress_user, q->progress_ns);
	a->sink = sink;
	a->streams = q->events;
	a->keys.window_ns = q->window_ns ? q->window_ns : 1000000000;
	r = q->by ? take_keys(a, env, q->by, q->n_by) :
		    take_keys(a, env, &by_site, 1);
	if (r == 0)
		r = check_names(env, q);
	if (r == 0)
		r = a->streams ? read_later(a, env, q, namer) :
				 read_trace(a, env, q, namer);
	return deliver(a, env, r, ret);
}

/* --- from sums --- */

static int take_sums(struct pdet_allocs *a, struct pdet_env *env,
		     struct pdet_kmem_sums *from)
{
	size_t i;
	int r = pdet_naming_beside(&a->keys.naming, env, &from->kallsyms);

	a->keys.stacks = &from->stacks;
	for (i = 0; i < from->rows.n && r == 0; i++)
		r = pdet_pairing_sum(&a->pairing, &from->rows.data[i],
				     from->has_frees);
	a->keys.stacks = NULL;
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	a->gfp = from->gfp;
	a->begin_ns = from->begin_ns;
	a->end_ns = from->end_ns;
	a->loss.lost = from->lost;
	a->loss.uncounted = from->uncounted;
	memcpy(a->pairing.rest.freed_unknown, from->freed_unknown,
	       sizeof(from->freed_unknown));
	a->pairing.rest.freed_nothing = from->freed_nothing;
	a->pairing.rest.untracked = from->untracked;
	memcpy(a->boot, from->boot, sizeof(a->boot));
	memcpy(a->release, from->release, sizeof(a->release));
	return r;
}

int pdet_allocs_from_sums(struct pdet_env *env, const uint32_t *by, uint64_t n,
			  struct pdet_kmem_sums *from,
			  struct pdet_allocs **ret)
{
	struct pdet_allocs *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return pdet_fail(env, ENOMEM, "no memory");
	a->no_events = true;
	a->no_frees = !from->has_frees;
	a->keys.naming.kaslr = PAGEDET_NONE;
	r = take_keys(a, env, by, n);
	if (r == 0)
		r = take_sums(a, env, from);
	return deliver(a, env, r, ret);
}

int pdet_allocs_take_object(struct pdet_allocs *a,
			    struct pdet_trace_stacks *stacks,
			    const struct pdet_kmem_event *e)
{
	int r;

	a->has_objects = true;
	a->keys.stacks = stacks;
	r = pdet_pairing_object(&a->pairing, e);
	a->keys.stacks = NULL;
	return r;
}

int pdet_allocs_need_objects(const struct pdet_allocs *a, struct pdet_env *env)
{
	return a->has_objects ? 0 : pdet_allocs_need_events(a, env);
}

int pdet_allocs_need_events(const struct pdet_allocs *a, struct pdet_env *env)
{
	if (a->streams)
		return pdet_fail(env, EINVAL, "the trace was opened for its "
				 "events: nothing is added up");
	if (a->only_live)
		return pdet_fail(env, EINVAL, "these are sums of what is live: "
				 "objects and events are not known");
	if (a->no_frees)
		return pdet_fail(env, EINVAL, "these are sums of allocations: "
				 "what is freed, and what is live, is not "
				 "known");
	return a->no_events ?
		       pdet_fail(env, EINVAL, "these are sums of the kernel: "
				 "objects and events are not known") : 0;
}

/* --- */

int pdet_allocs_compare(struct pdet_allocs *a, struct pdet_env *env,
			const struct pdet_allocs *before)
{
	struct pdet_alloc_matching m = {
		&a->keys, &a->pairing.sums, &a->kernel, &before->keys,
		&before->pairing.sums, &before->kernel, { 0 }, 0
	};
	const unsigned n = a->keys.groups.n_keys;

	if (a->no_events || before->no_events)
		return pdet_allocs_need_events(a->no_events ? a : before, env);
	if (a->only_live != before->only_live)
		return pdet_allocs_need_events(a->only_live ? a : before, env);
	if (n != before->keys.groups.n_keys ||
	    memcmp(a->keys.by, before->keys.by, n * sizeof(*a->keys.by)))
		return pdet_fail(env, EINVAL, "cannot compare allocations: "
				 "they are grouped by other keys");
	if (pdet_alloc_match(&m) < 0)
		return pdet_fail(env, ENOMEM, "no memory");
	pdet_vec_free(&a->before);
	take_filter_away(a);
	a->compared = true;
	a->before = m.ret;
	a->unmatched = m.unmatched;
	a->sum = add_up(a, &a->pairing.sums);
	a->sum_before = add_up(a, &a->before);
	a->begin_before_ns = before->begin_ns;
	a->end_before_ns = before->end_ns;
	return pdet_allocs_order(a, env, NULL);
}

size_t pdet_allocs_groups(const struct pdet_allocs *a)
{
	return a->pairing.sums.n;
}

int pdet_allocs_verified(struct pdet_allocs *a, struct pdet_env *env,
			 const struct pdet_alloc_verdict *verdicts)
{
	const size_t n = a->pairing.sums.n;
	struct pdet_alloc_parts *before = calloc(n + 1, sizeof(*before));
	size_t i;
	int r;

	if (!before)
		return pdet_fail(env, ENOMEM, "no memory");
	if (n)
		memcpy(before, a->pairing.sums.data, n * sizeof(*before));
	for (i = 0; i < PDET_ALLOC_PARTS * n; i++) {
		struct pdet_alloc_sum *s = &a->pairing.sums
			.data[i / PDET_ALLOC_PARTS].of[i % PDET_ALLOC_PARTS];

		s->verified_live = verdicts[i].live;
		s->verified_live_bytes = verdicts[i].live_bytes;
		s->verified_free = verdicts[i].free;
		/* The kernel may have lost a part of a sum. */
		s->unverified = s->live - PDET_MIN(s->live, verdicts[i].live +
						   verdicts[i].free);
	}
	r = pdet_allocs_order(a, env, "all_verified_live_bytes");
	if (r < 0 && n) {
		memcpy(a->pairing.sums.data, before, n * sizeof(*before));
	} else if (r == 0) {
		a->verified = true;
		a->sum = add_up(a, &a->pairing.sums);
	}
	free(before);
	return r;
}

bool pdet_allocs_is_verified(const struct pdet_allocs *a)
{
	return a->verified;
}

bool pdet_allocs_compared(const struct pdet_allocs *a)
{
	return a->compared;
}

void pdet_allocs_free(struct pdet_allocs *a)
{
	if (!a)
		return;
	pdet_trace_merge_end(&a->later.merge);
	pdet_trace_free(a->later.trace);
	free(a->later.path);
	pdet_pairing_free(&a->pairing);
	pdet_vec_free(&a->before);
	pdet_alloc_keys_free(&a->keys);
	free(a->order);
	free(a->out.group);
	free(a);
}

#define SUMS(to, from, pages) \
	((to)->times = (from)->times, (to)->requested = (from)->requested, \
	 (to)->allocated = (from)->allocated, \
	 (to)->unsized = (from)->unsized, (to)->freed = (from)->freed, \
	 (to)->replaced = (from)->replaced, (to)->live = (from)->live, \
	 (to)->live_bytes = (from)->live_bytes, (to)->failed = (from)->failed, \
	 (to)->cross_cpu = (from)->cross_cpu, \
	 (to)->mismatched = (from)->mismatched, (to)->less = (from)->less, \
	 (to)->lifetime_ns = (from)->lifetime_ns, \
	 (to)->verified_live = (from)->verified_live, \
	 (to)->verified_live_bytes = (from)->verified_live_bytes, \
	 (to)->verified_free = (from)->verified_free, \
	 (to)->unverified = (from)->unverified, \
	 (to)->untracked = (from)->untracked, \
	 (to)->lifetime_unknown = (from)->lifetime_unknown, \
	 (to)->page_times = (pages)->times, \
	 (to)->page_allocated = (pages)->allocated, \
	 (to)->page_freed = (pages)->freed, \
	 (to)->page_replaced = (pages)->replaced, \
	 (to)->page_live = (pages)->live, \
	 (to)->page_live_bytes = (pages)->live_bytes, \
	 (to)->page_failed = (pages)->failed, \
	 (to)->page_cross_cpu = (pages)->cross_cpu, \
	 (to)->page_lifetime_ns = (pages)->lifetime_ns, \
	 (to)->page_lifetime_unknown = (pages)->lifetime_unknown, \
	 (to)->page_untracked = (pages)->untracked, \
	 (to)->page_verified_live = (pages)->verified_live, \
	 (to)->page_verified_live_bytes = (pages)->verified_live_bytes, \
	 (to)->page_verified_free = (pages)->verified_free, \
	 (to)->page_unverified = (pages)->unverified)

#define SUMS_BEFORE(to, from, pages) \
	((to)->times_before = (from)->times, \
	 (to)->requested_before = (from)->requested, \
	 (to)->allocated_before = (from)->allocated, \
	 (to)->unsized_before = (from)->unsized, \
	 (to)->live_before = (from)->live, \
	 (to)->live_bytes_before = (from)->live_bytes, \
	 (to)->page_times_before = (pages)->times, \
	 (to)->page_allocated_before = (pages)->allocated, \
	 (to)->page_live_before = (pages)->live, \
	 (to)->page_live_bytes_before = (pages)->live_bytes)

/* The sums of all allocations, and those of pages. */
static void split(const struct pdet_alloc_parts *p, struct pdet_alloc_sum *all,
		  struct pdet_alloc_sum *pages)
{
	*all = sum_of_parts(p, OBJECTS | PAGES);
	*pages = p->of[PDET_OF_PAGES];
}

void pdet_allocs_values(const struct pdet_allocs *a, uint32_t group,
			uint64_t value[PAGEDET_ALLOC_KEYS],
			uint32_t state[PAGEDET_ALLOC_KEYS])
{
	const struct pdet_groups *g = &a->keys.groups;
	unsigned i;

	for (i = 0; i < g->n_keys; i++) {
		value[i] = pdet_groups_value(g, group)[i];
		state[i] = pdet_groups_state(g, group)[i];
	}
}

int pdet_allocs_next(struct pdet_allocs *a, struct pagedet_alloc_group *ret)
{
	struct pdet_alloc_sum all, pages;
	size_t group;

	if (a->at == a->n_order)
		return 0;
	group = a->order[a->at++];
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	split(parts_of(a, (uint32_t)group, false), &all, &pages);
	SUMS(ret, &all, &pages);
	if (a->compared) {
		split(parts_of(a, (uint32_t)group, true), &all, &pages);
		SUMS_BEFORE(ret, &all, &pages);
	}
	pdet_allocs_values(a, (uint32_t)group, ret->value, ret->state);
	return 1;
}

const char *pdet_allocs_text(const struct pdet_allocs *a, uint64_t id,
			     size_t *len)
{
	return pdet_groups_text(&a->keys.groups, id, len);
}

const char *pdet_allocs_family(const struct pdet_allocs *a)
{
	return pdet_alloc_keys_family(&a->keys, a->order[a->at - 1]);
}

const uint64_t *pdet_allocs_events(const struct pdet_allocs *a)
{
	return a->pairing.rest.event;
}

bool pdet_allocs_gfp(const struct pdet_allocs *a, uint64_t gfp,
		     char text[PDET_GFP_TEXT], size_t *len)
{
	if (!a->gfp.n)
		return false;
	/* As the kernel writes it, and its table has no name for it. */
	*len = gfp ? pdet_gfp_text(&a->gfp, gfp, text) :
		     (size_t)sprintf(text, "none");
	return true;
}

const uint32_t *pdet_allocs_keys(const struct pdet_allocs *a, unsigned *n)
{
	*n = a->keys.groups.n_keys;
	return a->keys.by;
}

const struct pdet_live *pdet_allocs_live(struct pdet_allocs *a, bool pages,
					 size_t *n)
{
	struct pdet_live_table *t = pages ? &a->pairing.pages :
					    &a->pairing.objects;

	*n = t->n;
	return pdet_live_list(t);
}

unsigned pdet_allocs_key(const struct pdet_allocs *a,
			 const struct pdet_live *live, uint32_t key,
			 uint64_t *ret)
{
	const struct pdet_groups *g = &a->keys.groups;
	unsigned i;

	for (i = 0; i < g->n_keys; i++)
		if (a->keys.by[i] == key) {
			*ret = pdet_groups_value(g, live->group)[i];
			return pdet_groups_state(g, live->group)[i];
		}
	return PAGEDET_UNSUPPORTED;
}

bool pdet_allocs_counts_ns(const struct pdet_allocs *a)
{
	return !a->no_ns;
}

bool pdet_allocs_tells_cpu(const struct pdet_allocs *a)
{
	return !a->no_cpu;
}

uint64_t pdet_allocs_end_ns(const struct pdet_allocs *a)
{
	return PDET_MAX(a->end_ns, a->later.end_ns);
}

bool pdet_allocs_hides(const struct pdet_allocs *a)
{
	return a->hashed;
}

bool pdet_allocs_is_whole(const struct pdet_allocs *a)
{
	const struct pdet_trace_loss *l = &a->loss;

	return !l->lost && !l->unknown && !l->uncounted && !l->missing &&
	       !l->cut && !l->damaged && !l->strange && !l->disorder &&
	       !atomic_load(&a->watch.stopped);
}

bool pdet_allocs_names_caches(const struct pdet_allocs *a)
{
	return a->names_caches;
}

const char *pdet_allocs_release(const struct pdet_allocs *a)
{
	return a->release;
}

struct pdet_alloc_findings *pdet_allocs_findings(struct pdet_allocs *a)
{
	return &a->pairing.findings;
}

uint64_t pdet_allocs_begin_ns(const struct pdet_allocs *a)
{
	return a->begin_ns;
}

uint64_t pdet_allocs_page_size(const struct pdet_allocs *a)
{
	return a->pairing.page_size;
}

const char *pdet_allocs_boot(const struct pdet_allocs *a)
{
	return a->boot;
}

bool pdet_allocs_symbol(const struct pdet_allocs *a, const char *name,
			uint64_t *ret)
{
	size_t i;

	if (!strcmp(a->kernel.symbol, name)) {
		*ret = a->kernel.address;
		return true;
	}
	for (i = 0; i < PDET_COUNT(code_symbols); i++)
		if (a->places[i] && !strcmp(code_symbols[i], name)) {
			*ret = a->places[i];
			return true;
		}
	return false;
}

void pdet_allocs_total(const struct pdet_allocs *a,
		       struct pagedet_allocs_total *ret)
{
	const struct pdet_alloc_rest *rest = &a->pairing.rest;
	struct pdet_alloc_sum all, pages;
	unsigned kind;

	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->groups = a->n_order;
	split(&a->sum, &all, &pages);
	SUMS(ret, &all, &pages);
	split(&a->sum_before, &all, &pages);
	SUMS_BEFORE(ret, &all, &pages);
	for (kind = 0; kind < PDET_KMEM_NAME; kind++) {
		ret->events += rest->event[kind];
		ret->page_events += pdet_kmem_is_page(kind) ?
				    rest->event[kind] : 0;
	}
	ret->other = a->loss.other;
	/* Those of the kernel do not have kinds. */
	if (a->no_events)
		ret->events += ret->freed;
	/* Of these it is not known what they are. */
	ret->untracked += rest->untracked;
	if (!ret->untracked) {
		ret->freed_unknown = rest->freed_unknown[0];
		ret->pages_unknown = rest->freed_unknown[1];
	}
	ret->freed_nothing = rest->freed_nothing;
	ret->early = rest->early;
	ret->begin_ns = a->begin_ns;
	ret->end_ns = a->end_ns;
	ret->lost = a->loss.lost;
	ret->gaps = a->loss.unknown;
	ret->uncounted = a->loss.uncounted;
	ret->missing = a->loss.missing;
	ret->cut_bytes = a->loss.cut;
	ret->damaged = a->loss.damaged;
	ret->strange = a->loss.strange;
	ret->disorder = a->loss.disorder;
	ret->sites = a->keys.sites.n;
	ret->unnamed = a->keys.unnamed;
	ret->untold = a->keys.untold;
	ret->stopped = (uint32_t)atomic_load(&a->watch.stopped);
	ret->complete = !ret->stopped && !a->later.unread;
	ret->no_ns = a->no_ns;
	ret->no_cpu = a->no_cpu;
	ret->hashed = a->hashed;
	ret->no_events = a->no_events;
	ret->no_frees = a->no_frees;
	ret->only_live = a->only_live;
	ret->other_instances = a->has_others;
	ret->inexact = a->loss.inexact;
	ret->changed = a->loss.changed;
	ret->begin_before_ns = a->begin_before_ns;
	ret->end_before_ns = a->end_before_ns;
	ret->unmatched = a->unmatched;
	ret->compared = a->compared;
	ret->verified = a->verified;
	ret->kaslr_offset = a->keys.naming.kaslr_offset;
	ret->kaslr = a->keys.naming.kaslr;
	ret->filtered = a->out.filtered;
	ret->undecided = a->out.undecided;
}
