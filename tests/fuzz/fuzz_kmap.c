/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes a KMAP, whole and cut, and checks the sums of its groups; and the same
 * text as a log of calls. The first byte gives the cut, the second one the
 * keys.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kmap/calls.h"
#include "kmap/kmap.h"
#include "pagedet.h"

static struct pdet_env env;
static char path[64];

/* Sums must be those of the rows. */
struct rows {
	uint64_t objects, live, freed, missed, unknown, catch_all, accesses,
		 reads, writes;
};

static int is_ended_wrong(int r)
{
	return r < 0 && r != -EBADMSG && r != -ENOSYS;
}

static void add_accesses(struct pdet_kmap *k,
			 const struct pagedet_kmap_object *o, struct rows *r)
{
	struct pagedet_kmap_access a;
	uint64_t reads = 0, writes = 0, n = 0;

	while (pdet_kmap_next_access(k, &a) == 1) {
		n++;
		reads += a.reads;
		writes += a.writes;
		MUST(a.site_name);
		MUST(a.pid >= -1);
	}
	MUST(n == o->accesses);
	r->accesses += n;
	r->reads += reads;
	r->writes += writes;
}

static void add_object(const struct pagedet_kmap_object *o, struct rows *r)
{
	r->objects++;
	MUST(o->site_name && o->type && o->cache && o->command);
	MUST(o->origin <= PAGEDET_KMAP_CATCH_ALL);
	if (o->origin == PAGEDET_KMAP_CATCH_ALL)
		r->catch_all++;
	else if (o->end == PAGEDET_KMAP_LIVE)
		r->live++;
	else if (o->end == PAGEDET_KMAP_FREED)
		r->freed++;
	else if (o->end == PAGEDET_KMAP_MISSED)
		r->missed++;
	else
		r->unknown++;
	MUST(!o->nested || o->end == PAGEDET_KMAP_MISSED);
}

static void check_total(const struct rows *r,
			const struct pagedet_kmap_total *t)
{
	MUST(r->objects == t->objects && r->accesses == t->accesses);
	MUST(r->live == t->live && r->freed == t->freed);
	MUST(r->missed == t->missed && r->unknown == t->unknown);
	MUST(r->catch_all == t->catch_all);
	MUST(t->saturated || (r->reads == t->reads && r->writes == t->writes));
	MUST(t->objects + t->accesses + t->strange + t->orphans + t->cut ==
	     t->lines);
	MUST(!t->strange == !t->strange_line && !t->orphans == !t->orphan_line);
}

static void read_rows(struct rows *rows)
{
	struct pagedet_kmap_query q = PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap_object o;
	struct pagedet_kmap_total t;
	struct pdet_kmap *k;
	int r;

	q.path = path;
	r = pdet_kmap_new(&env, &q, &k);
	MUST(!is_ended_wrong(r));
	if (r < 0)
		return;
	while ((r = pdet_kmap_next(k, &env, &o)) == 1) {
		add_object(&o, rows);
		add_accesses(k, &o, rows);
	}
	MUST(!is_ended_wrong(r));
	pdet_kmap_total(k, &t);
	check_total(rows, &t);
	pdet_kmap_free(k);
}

static void read_groups(unsigned key, const struct rows *rows)
{
	const uint32_t by[] = { key % (PAGEDET_KMAP_ACCESS_PID + 1),
				PAGEDET_KMAP_ACCESS_SITE };
	struct pagedet_kmap_query q = PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap_group g;
	struct pagedet_kmap_total t;
	struct pdet_kmap *k, *before;
	uint64_t accesses = 0, objects = 0;
	size_t len;
	int r;

	q.path = path;
	q.by = by;
	q.n_by = 1 + (by[0] != by[1]);
	if (pdet_kmap_new(&env, &q, &k) < 0)
		return;
	MUST(pdet_kmap_new(&env, &q, &before) == 0);
	r = pdet_kmap_compare(k, &env, before);
	pdet_kmap_free(before);
	pdet_kmap_total(k, &t);
	/* Hashed places are not compared. */
	MUST(r == 0 || (r == -EBADMSG && t.hashed));
	while (r == 0 && pdet_kmap_next_group(k, &g) == 1) {
		MUST(g.objects && g.objects == g.objects_before);
		MUST(g.bytes == g.bytes_before && g.reads == g.reads_before);
		MUST(g.objects == g.live + g.freed + g.missed + g.unknown +
		     g.catch_all);
		if (g.state[q.n_by - 1] == PAGEDET_HAVE)
			MUST(pdet_kmap_text(k, g.value[q.n_by - 1], &len));
		accesses += g.accesses;
		objects += g.objects;
	}
	MUST(r < 0 ||
	     (accesses == rows->accesses && objects >= rows->objects));
	pdet_kmap_free(k);
}

static void read_calls(void)
{
	struct pagedet_kmap_query q = PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap_calls_total t;
	struct pagedet_kmap_call call;
	struct pdet_kmap_calls *c;
	uint64_t n = 0, count = 0, last = UINT64_MAX;
	int r;

	q.path = path;
	r = pdet_kmap_calls_new(&env, &q, &c);
	MUST(!is_ended_wrong(r));
	if (r < 0)
		return;
	while (pdet_kmap_next_call(c, &call) == 1) {
		MUST(call.count <= last);
		last = call.count;
		count += call.count;
		n++;
	}
	pdet_kmap_calls_total(c, &t);
	MUST(n == t.calls && (t.saturated || count == t.count));
	MUST(!t.dropped && t.calls + t.strange + t.cut <= t.lines);
	pdet_kmap_calls_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rows rows = { 0 };
	size_t n;
	int fd;

	if (size < 2)
		return 0;
	n = (size - 2) * (data[0] + 1) / 256;
	fd = memfd_create("kmap", MFD_CLOEXEC);
	MUST(fd >= 0);
	MUST(write(fd, data + 2, n) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_rows(&rows);
	read_groups(data[1], &rows);
	read_calls();
	close(fd);
	return 0;
}
