/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What kmap watch --cache says: which objects were watched, for how long, and
 * what is not known of them.
 */
#include <stdlib.h>
#include <string.h>

#include "kmap_watch.h"

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

size_t cli_kmap_different(struct cli_kmap_caching *c)
{
	uint64_t *all = c->addresses.data;
	size_t i, n = 0;

	if (!c->addresses.n)
		return 0;
	qsort(all, c->addresses.n, sizeof(*all), by_address);
	for (i = 0; i < c->addresses.n; i++)
		if (!i || all[i] != all[n - 1])
			all[n++] = all[i];
	c->addresses.n = n;
	return n;
}

int cli_kmap_tell_none(struct cli_kmap_caching *c)
{
	struct pagedet_kmap_cache_total t = { .size = sizeof(t) };
	const char *name = c->job->watch_cache;

	pagedet_kmap_cache_total(c->cache, &t);
	cli_say("no object of '%s' was found that is known to be in use: %llu "
		"draw%s met a free one, %llu one that may be free, and %llu "
		"none", name, (unsigned long long)t.free, cli_plural(t.free),
		(unsigned long long)t.unknown,
		(unsigned long long)t.elsewhere);
	if (t.kept)
		cli_say("processors may keep objects of '%s' as free ones; "
			"where is not known: the kernel's symbols lack it, as "
			"without CONFIG_KALLSYMS_ALL", name);
	return CLI_NO_INPUT;
}

static void tell_cache(const struct cli_kmap_caching *c)
{
	const char *name = pagedet_kmap_cache_name(c->cache);

	if (strcmp(name, c->job->watch_cache))
		cli_say("the kernel has merged '%s' with '%s', whose name the "
			"slabs have", c->job->watch_cache, name);
	if (c->of.sharing)
		cli_say("%llu other cache%s the slabs of '%s': objects may be "
			"theirs", (unsigned long long)c->of.sharing,
			c->of.sharing == 1 ? " shares" : "s share",
			c->job->watch_cache);
	if (c->of.reused)
		cli_say("'%s' is SLAB_TYPESAFE_BY_RCU: a freed object may be "
			"used again at once, while others still read it", name);
}

static void tell_slices(const struct cli_kmap_caching *c, uint64_t n,
			const char *why)
{
	if (n)
		cli_say("%llu %s%s not watched: %s", (unsigned long long)n,
			c->job->sample ? "slice" : "object",
			n == 1 ? " was" : "s were", why);
}

static void tell_coverage(struct cli_kmap_caching *c)
{
	const struct cli_kmap_all *a = &c->all;
	const size_t different = cli_kmap_different(c);

	cli_say("%zu object%s of '%s' watched%s, drawn with --seed %llu; its "
		"slabs had room for %llu", c->n, cli_plural(c->n),
		c->job->watch_cache, c->job->sample ? " for a slice each" : "",
		(unsigned long long)c->seed, (unsigned long long)c->of.room);
	if (different < c->n)
		cli_say("these had %zu different addresses", different);
	cli_say("%zu at a time, by %u breakpoint%s of each of %u processor%s "
		"each; each word for %.3f to %.3f s", c->n_slots, a->t.slots,
		cli_plural(a->t.slots), a->t.cpus, cli_plural(a->t.cpus),
		(double)a->least_ns / 1e9, (double)a->most_ns / 1e9);
	if (a->t.turns > 1)
		cli_say("the %llu words of an object took turns: accesses "
			"while another word had its turn are not counted; --at "
			"chooses words", (unsigned long long)a->t.words);
	cli_kmap_tell_turns(a->unwatched);
	if (c->full)
		cli_say("it ended early: one run has at most %u slices",
			CLI_KMAP_SLICES);
	tell_slices(c, c->busy, "others had the breakpoints");
	tell_slices(c, c->none, "no object in use was found");
	tell_slices(c, c->failed, c->why);
	if (c->of.dropped)
		cli_say("%llu access%s by too many places and threads, not in "
			"the sums", (unsigned long long)c->of.dropped,
			c->of.dropped == 1 ? "" : "es");
}

static void tell_objects(const struct cli_kmap_caching *c)
{
	const struct cli_kmap_all *a = &c->all;

	if (a->t.freed)
		cli_say("%llu object%s freed meanwhile: %llu access%s to %s "
			"not in the sums", (unsigned long long)a->t.freed,
			a->t.freed == 1 ? " was" : "s were",
			(unsigned long long)a->freed_hits,
			a->freed_hits == 1 ? "" : "es",
			a->t.freed == 1 ? "it" : "them");
	if (a->t.unknown)
		cli_say("whether %llu of them %s freed meanwhile is not known: "
			"%s", (unsigned long long)a->t.unknown,
			a->t.unknown == 1 ? "was" : "were",
			cli_kmap_unknown_why(&a->t));
	if (c->n > a->t.freed + a->t.unknown)
		cli_say("%llu seemed to be in use all the time, but may have "
			"been freed and handed out again between two looks, "
			"%llu in all",
			(unsigned long long)(c->n - a->t.freed - a->t.unknown),
			(unsigned long long)a->t.looks);
}

void cli_kmap_tell_cached(struct cli_kmap_caching *c)
{
	cli_child_tell(&c->child);
	tell_cache(c);
	tell_coverage(c);
	tell_objects(c);
	cli_kmap_tell_hits(c->job, &c->all.t);
}

static void put_slices(const struct cli_kmap_caching *c, FILE *f)
{
	size_t i;

	for (i = 0; i < c->slices.n; i++) {
		const struct cli_kmap_slice *s = &c->slices.data[i];
		const struct pagedet_kmap_watch_total *t = &s->total;

		fprintf(f, "%s{\"address\":\"%#llx\",\"bytes\":%llu,"
			"\"words\":%llu,\"turns\":%llu,\"ns\":%llu,"
			"\"word_ns\":%llu,\"reads\":%llu,\"writes\":%llu,"
			"\"lost\":%llu,\"unsaid\":%u,\"limited\":%llu,"
			"\"freed\":%s}",
			i ? "," : "", (unsigned long long)s->object.address,
			(unsigned long long)s->object.bytes,
			(unsigned long long)t->words,
			(unsigned long long)t->turns,
			(unsigned long long)(t->end_ns - t->begin_ns),
			(unsigned long long)s->least_ns,
			(unsigned long long)t->reads,
			(unsigned long long)t->writes,
			(unsigned long long)t->lost, t->unsaid,
			(unsigned long long)t->limited,
			t->freed ? "true" : t->unknown ? "null" : "false");
	}
}

static void put_name(FILE *f, const char *name, const char *value)
{
	cli_json_member(f, name, value, strlen(value));
	fputc(',', f);
}

int cli_kmap_json_cached(const struct cli_kmap_caching *c)
{
	const struct cli_kmap_all *a = &c->all;
	struct cli_job job = *c->job;
	struct cli_report report;
	int status = cli_report_open(&report);

	if (status)
		return status;
	fputc('{', report.f);
	put_name(report.f, "file", job.output);
	put_name(report.f, "cache", job.watch_cache);
	put_name(report.f, "slabs_of", pagedet_kmap_cache_name(c->cache));
	fprintf(report.f, "\"seed\":%llu,\"room\":%llu,\"sharing\":%llu,"
		"\"reused\":%s,\"at_once\":%zu,\"busy\":%llu,\"none\":%llu,"
		"\"failed\":%llu,"
		"\"freed\":%llu,\"unknown\":%llu,\"reads\":%llu,"
		"\"writes\":%llu,\"freed_hits\":%llu,\"lost\":%llu,"
		"\"unsaid\":%u,"
		"\"own\":%llu,\"limited\":%llu,\"rate\":%llu,"
		"\"breakpoints\":%u,\"cpus\":%u,\"cpus_missed\":%u,"
		"\"estimated\":%s,\"objects\":[", (unsigned long long)c->seed,
		(unsigned long long)c->of.room,
		(unsigned long long)c->of.sharing,
		c->of.reused ? "true" : "false", c->n_slots,
		(unsigned long long)c->busy, (unsigned long long)c->none,
		(unsigned long long)c->failed,
		(unsigned long long)a->t.freed,
		(unsigned long long)a->t.unknown,
		(unsigned long long)a->t.reads,
		(unsigned long long)a->t.writes,
		(unsigned long long)a->freed_hits,
		(unsigned long long)a->t.lost, a->t.unsaid,
		(unsigned long long)a->t.own,
		(unsigned long long)a->t.limited,
		(unsigned long long)a->t.rate, a->t.slots, a->t.cpus,
		a->t.cpus_missed, a->t.estimated ? "true" : "false");
	put_slices(c, report.f);
	fputs("]}\n", report.f);
	/* The output is the KMAP; this is for the caller. */
	job.output = NULL;
	return cli_report_close(&report, &job, CLI_ANSWERED);
}
