/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Damages copies of a dump in many ways and queries each. The command must not
 * crash, hang, or exceed its memory limit. Its exit status and messages must
 * fit. Answers that the damage does not affect must stay the same, or be
 * reported as lost.
 *
 * The same seed damages the same dump in the same ways.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"
#include "damage.h"
#include "touched.h"

#define MOST_JOBS 16
#define MOST_WORDS 32
#define SHOWN 20

static const char usage[] =
	"usage: mutate [OPTION...] PAGEDET DUMP COPY\n"
	"  -n N        ways to damage it (default 100)\n"
	"  -s SEED     of all that is random (default 1)\n"
	"  -j JOBS     at the same time, each with a COPY of its own\n"
	"  -t SECONDS  of processor time that an answer may take (default 10),\n"
	"              and ten times as long by the clock\n"
	"  -m MIB      that the command may use (default: not looked at)\n"
	"  -a QUESTION asked, too, by turns: only how it ends is looked at\n"
	"  -c          what is damaged does not decompress: nothing that is\n"
	"              answered may differ, wherever the damage is\n";

struct options {
	unsigned n, jobs, seconds;
	uint64_t seed;
	uint64_t kilobytes;
	const char *also[MOST_WORDS];
	unsigned n_also;
	bool checked;
	const char *command, *dump, *copy;
};

/* The results of one kind of damage. */
struct result {
	uint64_t ways;
	uint64_t refused;	/* exit status of 64 or more */
	uint64_t rows;		/* rows that the damage did not affect */
	uint64_t same, less, other;
	uint64_t touched;
};

struct results {
	struct result of[DAMAGE_KINDS];
	uint64_t failures;
	uint64_t statuses[128];
	double slowest;
	uint64_t kilobytes;
};

struct run {
	const struct options *o;
	struct damage damage;
	struct touched touched;
	struct answer whole;
	struct results *results;
	char copy[512];
};

static const char *const question[] = {
	"scan", "--json", "--fields", "pfn,kind,flags,refcount,mapcount", NULL
};

/* --- asking --- */

/* Runs PAGEDET --from COPY with the words of @text, or of @words. */
static void ask(struct run *run, const char *text, const char *const *words,
		struct answer *ret)
{
	char *command[MOST_WORDS + 4] = {
		(char *)(uintptr_t)run->o->command,
		(char *)(uintptr_t)"--from", run->copy
	};
	unsigned n = 3;
	char copy[512], *at = copy;

	for (; words && *words && n < MOST_WORDS; words++)
		command[n++] = (char *)(uintptr_t)*words;
	if (text) {
		snprintf(copy, sizeof(copy), "%s", text);
		while (n < MOST_WORDS && (command[n] = strsep(&at, " ")))
			n++;
	}
	command[n] = NULL;
	answer_ask(ret, command, run->o->seconds);
}

/* --- judging --- */

static void complain(struct run *run, unsigned i, const char *asked,
		     const char *why, const struct answer *a)
{
	char words[256];

	if (__atomic_fetch_add(&run->results->failures, 1, __ATOMIC_RELAXED) >=
	    SHOWN)
		return;
	damage_say(&run->damage, words, sizeof(words));
	printf("# %u: %s; asked for %s: %s (status %d, %.1f s, %llu KiB)\n", i,
	       words, asked, why, a->status, a->seconds,
	       (unsigned long long)a->kilobytes);
	if (*a->said)
		printf("# stderr: %.300s\n", a->said);
	fflush(stdout);
}

static void judge_end(struct run *run, unsigned i, const char *asked,
		      const struct answer *a)
{
	const struct options *o = run->o;
	const char *why = answer_unclear(a);

	if (!why && o->kilobytes && a->kilobytes > o->kilobytes)
		why = "it took too much memory";
	if (why)
		complain(run, i, asked, why, a);
	if (a->status >= 0 && a->status < 128)
		__atomic_fetch_add(&run->results->statuses[a->status], 1,
				   __ATOMIC_RELAXED);
	/* Concurrent writers may lose a value here. */
	if (a->seconds > run->results->slowest)
		run->results->slowest = a->seconds;
	if (a->kilobytes > run->results->kilobytes)
		run->results->kilobytes = a->kilobytes;
}

/* A cut, or a failed decompression, is always detected. */
static void judge_other(struct run *run, unsigned i, const struct answer *a,
			const struct answer_row *was,
			const struct answer_row *is)
{
	const enum damage_kind kind = run->damage.kind;
	char why[1024];

	if (kind != DAMAGE_CUT && (!run->o->checked || kind == DAMAGE_HEAD))
		return;
	snprintf(why, sizeof(why), "%.*s was %.*s", (int)is->len, is->at,
		 (int)was->len, was->at);
	complain(run, i, "a scan", why, a);
}

/* Compares rows by pfn, in ascending order. */
static void judge_rows(struct run *run, unsigned i, const struct answer *a)
{
	struct result r = { .ways = 1, .refused = a->status >= 64 };
	struct result *all = &run->results->of[run->damage.kind];
	const struct answer *w = &run->whole;
	uint64_t count[ANSWER_COMPARED] = { 0 }, others = 0;
	enum answer_same same;
	size_t k, n = 0;

	if (a->broken && a->status >= 0)
		complain(run, i, "a scan", "a line is no row", a);
	for (k = 0; k < w->n_rows; k++) {
		r.touched += run->touched.row[k];
		while (n < a->n_rows && a->row[n].pfn < w->row[k].pfn)
			n++;
		if (n == a->n_rows || a->row[n].pfn != w->row[k].pfn)
			continue;
		same = answer_compare(&w->row[k], &a->row[n]);
		if (!run->touched.row[k])
			count[same]++;
		if (same == ANSWER_OTHER && !others++)
			judge_other(run, i, a, &w->row[k], &a->row[n]);
	}
	r.rows = w->n_rows - r.touched;
	r.same = count[ANSWER_SAME];
	r.less = count[ANSWER_LESS];
	r.other = count[ANSWER_OTHER];
	for (k = 0; k < sizeof(r) / sizeof(uint64_t); k++)
		__atomic_fetch_add((uint64_t *)(void *)all + k,
				   ((uint64_t *)(void *)&r)[k],
				   __ATOMIC_RELAXED);
}

/* --- ways --- */

static void try(struct run *run, unsigned i)
{
	const struct options *o = run->o;
	struct answer a;

	damage_choose(&run->damage, &run->touched,
		      o->seed * 1000003 + i + 1, i);
	touched_find(&run->touched, &run->damage, &run->whole);
	damage_do(&run->damage);
	ask(run, NULL, question, &a);
	judge_end(run, i, "a scan", &a);
	judge_rows(run, i, &a);
	answer_free(&a);
	if (o->n_also) {
		const char *also = o->also[i % o->n_also];

		ask(run, also, NULL, &a);
		judge_end(run, i, also, &a);
		answer_free(&a);
	}
	damage_undo(&run->damage);
}

static void do_job(const struct options *o, struct results *results,
		   unsigned job)
{
	struct run run = { .o = o, .results = results };
	unsigned i;

	snprintf(run.copy, sizeof(run.copy), "%s.%u", o->copy, job);
	damage_open(&run.damage, o->dump, run.copy);
	ask(&run, NULL, question, &run.whole);
	if (run.whole.status || !run.whole.n_rows || run.whole.broken) {
		fprintf(stderr, "mutate: the dump as it is: status %d, %s\n",
			run.whole.status, run.whole.said);
		exit(1);
	}
	touched_open(&run.touched, &run.damage.map, &run.whole);
	for (i = job; i < o->n; i += o->jobs)
		try(&run, i);
	touched_close(&run.touched);
	answer_free(&run.whole);
	damage_close(&run.damage);
}

/* --- all --- */

static bool report(const struct options *o, const struct results *s)
{
	bool lost = false, ok;
	unsigned i;

	for (i = 0; i < DAMAGE_KINDS; i++) {
		const struct result *r = &s->of[i];

		printf("# %s: %llu ways, %llu refused; rows: %llu touched, "
		       "%llu not: %llu same, %llu less, %llu other\n",
		       damage_name((enum damage_kind)i),
		       (unsigned long long)r->ways,
		       (unsigned long long)r->refused,
		       (unsigned long long)r->touched,
		       (unsigned long long)r->rows,
		       (unsigned long long)r->same,
		       (unsigned long long)r->less,
		       (unsigned long long)r->other);
		if (i == DAMAGE_BODY || i == DAMAGE_USED)
			lost |= r->same * 100 < r->rows * 99;
	}
	printf("# exit statuses:");
	for (i = 0; i < 128; i++)
		if (s->statuses[i])
			printf(" %u: %llu", i,
			       (unsigned long long)s->statuses[i]);
	printf("; slowest %.2f s, most memory %llu KiB\n", s->slowest,
	       (unsigned long long)s->kilobytes);
	if (lost)
		printf("# less than 99%% of what was not touched is answered "
		       "as before\n");
	ok = !s->failures && !lost;
	printf("%s 1 - %s: %u ways to damage it, %llu failures\n",
	       ok ? "ok" : "not ok", o->dump, o->n,
	       (unsigned long long)s->failures);
	return ok;
}

static void get_options(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:j:t:m:a:c")) != -1) {
		switch (c) {
		case 'n': o->n = (unsigned)atoi(optarg); break;
		case 's': o->seed = strtoull(optarg, NULL, 0); break;
		case 'j': o->jobs = (unsigned)atoi(optarg); break;
		case 't': o->seconds = (unsigned)atoi(optarg); break;
		case 'm':
			o->kilobytes = strtoull(optarg, NULL, 0) * 1024;
			break;
		case 'a':
			if (o->n_also < MOST_WORDS)
				o->also[o->n_also++] = optarg;
			break;
		case 'c': o->checked = true; break;
		default: fputs(usage, stderr); exit(64);
		}
	}
	if (argc - optind != 3 || !o->jobs || o->jobs > MOST_JOBS) {
		fputs(usage, stderr);
		exit(64);
	}
	o->command = argv[optind];
	o->dump = argv[optind + 1];
	o->copy = argv[optind + 2];
}

int main(int argc, char **argv)
{
	struct options o = { .n = 100, .jobs = 1, .seconds = 10, .seed = 1 };
	struct results *results;
	int status, broken = 0;
	unsigned i;

	get_options(&o, argc, argv);
	results = mmap(NULL, sizeof(*results), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED) {
		perror("mutate");
		return 1;
	}
	printf("1..1\n");
	fflush(stdout);
	for (i = 0; i < o.jobs; i++) {
		pid_t pid = fork();

		if (!pid) {
			do_job(&o, results, i);
			fflush(stdout);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		broken |= status;
	if (broken)
		printf("# it could not be tried\n");
	return report(&o, results) && !broken ? 0 : 1;
}
