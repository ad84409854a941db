/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Damages objects of a dump by their types and queries it. Nothing may crash,
 * run without end, or take memory without limit. Answers that the damage does
 * not affect must stay the same, or be reported as lost. Prints TAP.
 *
 *   hostile [-n CASES] [-s SEED] [-j JOBS] [-m MIB] [-t SECONDS] [-c CASE] DUMP
 *
 * The deadline of a query is 2 seconds (-t). Sanitizers and a busy machine need
 * more.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asked.h"

#define SHOWN 40
#define MOST_QUESTIONS 32

struct results {
	uint64_t cases, none, questions, failures, refused, partial, compared;
	uint64_t kilobytes;
	double slowest;
	char ways[1024];	/* the damages that were made */
};

struct run {
	struct objects objects;
	struct asked whole[MOST_QUESTIONS];
	struct results *results;
	bool skipped[MOST_QUESTIONS]; /* this kernel has nothing to say */
	const char *dump;
	uint64_t seed, most_kilobytes;
	double deadline;	/* seconds of a query */
};

static void add(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static void complain(struct run *run, unsigned i, const struct harm *h,
		     const char *question, const char *why)
{
	if (__atomic_fetch_add(&run->results->failures, 1, __ATOMIC_RELAXED) >=
	    SHOWN)
		return;
	printf("# case %u: %s (type %d) becomes %s, object %llx; %s: %s\n", i,
	       h->what ? h->what : "a word", (int)h->kind, h->how,
	       (unsigned long long)h->object.addr, question, why);
	fflush(stdout);
}

static void judge(struct run *run, unsigned i, const struct harm *h,
		  const struct question *q, const struct asked *a)
{
	struct results *s = run->results;
	char buf[1024];
	const char *why = NULL;

	add(&s->questions, 1);
	add(&s->refused, a->error < 0);
	add(&s->partial, a->partial);
	if (a->seconds > s->slowest)
		s->slowest = a->seconds;
	if (a->seconds > run->deadline + 1)
		complain(run, i, h, q->name, "it did not end in time");
	if (h->may_change & q->about)
		return;
	add(&s->compared, 1);
	why = asked_contradicts(q, &run->whole[q - questions], a, buf,
				sizeof(buf));
	if (why)
		complain(run, i, h, q->name, why);
}

static struct pagedet *open_dump(const char *dump)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet *pd = pagedet_new();

	o.files = &dump;
	o.n_files = 1;
	if (pd && pagedet_open(pd, &o) == 0)
		return pd;
	fprintf(stderr, "hostile: %s\n", pd ? pagedet_error(pd) : "no memory");
	exit(1);
}

/* Runs in a process of its own. */
static void ask_all(struct run *run, unsigned i, struct harm *h)
{
	struct pagedet *pd = open_dump(run->dump);
	struct asked a;
	unsigned q;

	harm_do(h, image_of(pd->backends[0]));
	for (q = 0; q < n_questions; q++) {
		if (run->skipped[q])
			continue;
		asked_ask(&a, pd, &questions[q], &run->objects,
			  run->deadline);
		judge(run, i, h, &questions[q], &a);
		asked_free(&a);
	}
	image_of(pd->backends[0])->memory->ops = h->real;
	pagedet_free(pd);
}

static void try(struct run *run, unsigned i)
{
	struct results *s = run->results;
	struct rusage usage;
	struct harm h;
	char why[64];
	int status;
	pid_t pid;

	if (!harm_choose(&h, &run->objects, i, run->seed * 1000003 + i)) {
		add(&s->none, 1);
		return;
	}
	s->ways[i % harm_ways()] = 1;
	add(&s->cases, 1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(120);
		ask_all(run, i, &h);
		exit(0);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		exit(1);
	if (status) {
		snprintf(why, sizeof(why), "it ended with %s %d",
			 WIFSIGNALED(status) ? "signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) :
					       WEXITSTATUS(status));
		complain(run, i, &h, "all", why);
	}
	if ((uint64_t)usage.ru_maxrss > s->kilobytes)
		s->kilobytes = (uint64_t)usage.ru_maxrss;
	if (run->most_kilobytes &&
	    (uint64_t)usage.ru_maxrss > run->most_kilobytes)
		complain(run, i, &h, "all", "it took too much memory");
}

static int report(const struct run *run)
{
	const struct results *s = run->results;
	unsigned i, ways = 0;
	bool ok;

	for (i = 0; i < sizeof(s->ways); i++)
		ways += (unsigned)s->ways[i];
	printf("# %llu cases, %u named ways, %llu without such an object; "
	       "%llu questions: %llu refused, %llu answered in part, %llu "
	       "compared\n", (unsigned long long)s->cases, ways,
	       (unsigned long long)s->none, (unsigned long long)s->questions,
	       (unsigned long long)s->refused, (unsigned long long)s->partial,
	       (unsigned long long)s->compared);
	printf("# slowest %.2f s, most memory %llu KiB\n", s->slowest,
	       (unsigned long long)s->kilobytes);
	ok = !s->failures && s->cases && s->compared;
	printf("%s 1 - damage by type: %llu failures\n1..1\n",
	       ok ? "ok" : "not ok", (unsigned long long)s->failures);
	return !ok;
}

static void ask_whole(struct run *run)
{
	struct pagedet *pd = open_dump(run->dump);
	unsigned q;

	for (q = 0; q < n_questions; q++) {
		asked_ask(&run->whole[q], pd, &questions[q], &run->objects,
			  run->deadline);
		printf("# %s: %zu rows, %.2f s\n", questions[q].name,
		       run->whole[q].n, run->whole[q].seconds);
		if (run->whole[q].n && run->whole[q].error >= 0)
			continue;
		run->skipped[q] = questions[q].about == ABOUT_OWNERS ||
				  questions[q].about == ABOUT_VMALLOC;
		if (run->skipped[q])
			continue;
		printf("Bail out! %s: %s\n", questions[q].name,
		       pagedet_error(pd));
		exit(1);
	}
	pagedet_free(pd);
}

int main(int argc, char **argv)
{
	static struct run run = { .seed = 1, .deadline = 2 };
	unsigned n = 300, jobs = 2, first = 0, job, i;
	int c, status, broken = 0;

	while ((c = getopt(argc, argv, "n:s:j:m:t:c:")) != -1)
		switch (c) {
		case 'n': n = (unsigned)atoi(optarg); break;
		case 's': run.seed = strtoull(optarg, NULL, 0); break;
		case 'j': jobs = (unsigned)atoi(optarg); break;
		case 'm':
			run.most_kilobytes = strtoull(optarg, NULL, 0) * 1024;
			break;
		case 't': run.deadline = atof(optarg); break;
		case 'c':
			first = (unsigned)atoi(optarg);
			n = first + 1;
			jobs = 1;
			break;
		default: return 64;
		}
	if (argc - optind != 1 || !jobs)
		return 64;
	run.dump = argv[optind];
	run.results = mmap(NULL, sizeof(*run.results), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	objects_find(&run.objects, run.dump);
	for (i = 0; i < OBJECTS; i++)
		printf("# type %u: %zu objects\n", i, run.objects.of[i].n);
	ask_whole(&run);
	fflush(stdout);
	for (job = 0; job < jobs; job++)
		if (!fork()) {
			for (i = first + job; i < n; i += jobs)
				try(&run, i);
			_exit(0);
		}
	while (wait(&status) > 0)
		broken |= status;
	status = report(&run) || broken;
	for (i = 0; i < n_questions; i++)
		asked_free(&run.whole[i]);
	objects_free(&run.objects);
	return status;
}
