/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Injects faults into migrations between processes that stand in for VMMs, and
 * records the truth. The processes record their findings.
 *
 *   injector [--seed N] [--moves N | --each] [--only NAME] VMM DIR
 *
 * DIR/labels has the truth and DIR/findings the findings, as lines of JSON. The
 * findings of each migration follow a line with its number. --each: every kind
 * of fault once per kind of memory; otherwise N random migrations. NAME selects
 * kinds of faults; "guest" are those that not every host supports.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector.h"
#include "planter.h"

#define NOBODY 65534
#define MOST_FAULTS 3
#define KEY 192

struct fault {
	const struct kind *kind;
	uint32_t page;		/* first of kind->pages */
	const char *skipped;	/* why it was not possible */
};

/* Data that the explaining side does not get. */
static const struct withheld {
	const char *name;
	uint32_t keeps;
	uid_t uid;
} withheld[] = {
	{ "no hash as sent", KEEPS_ALL & ~(KEEPS_HASHES | KEEPS_HISTORY), 0 },
	{ "not armed", KEEPS_ALL & ~KEEPS_TRACK, 0 },
	{ "unprivileged", KEEPS_ALL, NOBODY },
	{ "no history", KEEPS_ALL & ~KEEPS_HISTORY, 0 },
	{ "not paused knowingly", KEEPS_ALL & ~KEEPS_PAUSE, 0 },
	{ "not read before", KEEPS_ALL & ~KEEPS_BEFORE, 0 },
	{ "not read as it stopped", KEEPS_ALL & ~KEEPS_STOPPED, 0 },
	{ "not compared", KEEPS_ALL & ~KEEPS_BYTES, 0 },
	{ "", KEEPS_ALL, 0 },
};

#define N_WITHHELD (sizeof(withheld) / sizeof(*withheld) - 1)

struct run {
	struct where where;
	FILE *labels;
	uint64_t random;
	const char *only, *no_swap;
	unsigned number;
};

void die(const char *what)
{
	fprintf(stderr, "injector: %s: %s\n", what, strerror(errno));
	exit(74);
}

void nap(unsigned ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/* splitmix64 by Sebastiano Vigna, in the public domain. */
uint64_t random_of(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint32_t below(struct run *r, uint32_t n)
{
	return (uint32_t)(random_of(&r->random) % n);
}

/* --- one migration --- */

static uint32_t pages_of(const struct kind *k)
{
	return k->pages ? k->pages : 1;
}

static const struct fault *fault_at(const struct fault *f, unsigned n,
				    uint32_t page)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (page >= f[i].page &&
		    page < f[i].page + pages_of(f[i].kind))
			return &f[i];
	return NULL;
}

static void send_now(struct move *m, uint32_t page)
{
	struct order packet;

	send_page(m, page, &packet);
	deliver(m, &packet, page);
}

/* Normal work of a guest. */
static void work(struct run *r, struct move *m, const struct fault *f,
		 unsigned n)
{
	unsigned passes = 2 + below(r, 3), pass;
	uint32_t i;

	for (i = 0; i < m->pages; i++) {
		const struct fault *of = fault_at(f, n, i);

		if (of ? !of->kind->same : below(r, 8) != 0)
			tell(&m->src, FILL, i, random_of(&r->random));
	}
	for (pass = 1; pass < passes; pass++) {
		tell(&m->src, ROUND, 0, 0);
		for (i = 0; i < m->pages; i++) {
			const struct fault *of = fault_at(f, n, i);

			if ((of && of->kind->absent) ||
			    (pass > 1 && (of || below(r, 4))))
				continue;
			if (pass > 1)
				tell(&m->src, FILL, i, random_of(&r->random));
			send_now(m, i);
		}
	}
}

static void last_pass(struct run *r, struct move *m, const struct fault *f,
		      unsigned n)
{
	struct order packets[MOST_FAULTS];
	uint32_t p;
	unsigned i;

	for (i = 0; i < n; i++)
		for (p = 0; p < pages_of(f[i].kind); p++)
			if (!f[i].kind->same && !f[i].kind->absent)
				tell(&m->src, f[i].kind->zero ? ZERO : FILL,
				     f[i].page + p, random_of(&r->random));
	tell(&m->src, ROUND, 0, 0);
	for (i = 0; i < n; i++) {
		const struct kind *k = f[i].kind;

		if (k->absent)
			continue;
		for (p = 0; p < pages_of(k); p++) {
			send_page(m, f[i].page + p, &packets[p]);
			if (!k->deliver)
				deliver(m, &packets[p], f[i].page + p);
		}
		if (k->deliver)
			k->deliver(m, packets, f[i].page);
	}
}

static void write_label(struct run *r, const struct move *m,
			const struct fault *f)
{
	uint32_t p;

	if (f->skipped) {
		fprintf(r->labels, "{\"move\":%u,\"kind\":\"%s\","
			"\"skipped\":\"%s\"}\n", r->number, f->kind->name,
			f->skipped);
		return;
	}
	for (p = 0; p < pages_of(f->kind); p++)
		fprintf(r->labels, "{\"move\":%u,\"kind\":\"%s\",\"rule\":%u,"
			"\"confidence\":\"%s\",\"vaddr\":\"0x%llx\"}\n",
			r->number, f->kind->name, f->kind->rule,
			f->kind->confidence,
			(unsigned long long)m->src.at[f->page + p]);
}

static void happen(struct run *r, struct move *m, struct fault *f, unsigned n,
		   bool running)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		if (f[i].kind->running != running)
			continue;
		f[i].skipped = f[i].kind->then ?
			       f[i].kind->then(m, f[i].page) : NULL;
		write_label(r, m, &f[i]);
	}
}

static void migrate(struct run *r, enum ram ram, struct fault *f, unsigned n,
		    uint32_t pages, const struct withheld *without)
{
	struct move m = { .ram = ram, .pages = pages, .random = &r->random,
			  .no_swap = r->no_swap };

	r->number++;
	move_begin(&m, &r->where, without->keeps, without->uid);
	fprintf(r->labels, "{\"move\":%u,\"ram\":%u,\"pages\":%u,"
		"\"without\":\"%s\"}\n", r->number, ram, pages, without->name);
	work(r, &m, f, n);
	last_pass(r, &m, f, n);
	happen(r, &m, f, n, true);
	tell(&m.src, PAUSE, 0, 1);
	tell(&m.dst, PAUSE, 0, 1);
	happen(r, &m, f, n, false);
	dprintf(r->where.findings, "{\"move\":%u}\n", r->number);
	explain(&m);
	move_end(&m);
}

/* --- choices --- */

static bool is_wanted(const struct run *r, const struct kind *k)
{
	if (!r->only)
		return !k->in_guest;
	return !strcmp(r->only, "guest") ? k->in_guest :
					   !strcmp(r->only, k->name);
}

static void each(struct run *r)
{
	unsigned ram;
	size_t i;

	for (i = 0; i < n_kinds; i++)
		for (ram = ANON; ram <= ON_DISK; ram <<= 1) {
			struct fault f = { &kinds[i], 7, NULL };

			if (!is_wanted(r, f.kind) || !(f.kind->ram & ram))
				continue;
			/* The last page is alone in a huge page. */
			if (f.kind->same)
				f.page = 15;
			migrate(r, ram, &f, 1, 16, &withheld[N_WITHHELD]);
		}
}

/* Withholds data in four of ten cases, equally often for each rule. */
static const struct withheld *draw_withheld(struct run *r)
{
	return &withheld[(r->number + r->number / 10) % 10 < 4 ?
			 below(r, N_WITHHELD) : N_WITHHELD];
}

static enum ram draw_ram(struct run *r, unsigned allowed)
{
	unsigned ram;

	do
		ram = 1u << below(r, 4);
	while (!(ram & allowed));
	return ram;
}

static const struct kind *draw_kind(struct run *r, unsigned rule, unsigned ram)
{
	const struct kind *k;

	do
		k = &kinds[below(r, (uint32_t)n_kinds)];
	while (!is_wanted(r, k) || (rule && k->rule != rule) ||
	       !(k->ram & ram));
	return k;
}

/* Chooses the rule of the main fault, each one equally often. */
static unsigned draw_rule(const struct run *r)
{
	static const unsigned rules[] = { 1, 3, 4, 5, 6, 7, 9, 10, 11, 12 };

	return r->only ? 0 : rules[r->number % 10];
}

static void by_chance(struct run *r)
{
	struct fault f[MOST_FAULTS] = { { NULL, 0, NULL } };
	unsigned n = 1, more = below(r, MOST_FAULTS);
	uint32_t pages = 16 + below(r, PAGES_MAX - 16), step = pages / 3;
	enum ram ram;

	f->kind = draw_kind(r, draw_rule(r), ~0u);
	ram = draw_ram(r, f->kind->ram);
	f->page = f->kind->same ? pages - 1 : below(r, step - 3);
	while (!f->kind->alone && !r->only && more--) {
		const struct kind *k = draw_kind(r, 0, ram);

		/*
		 * A fault that takes a second to make is not made as a side
		 * fault.
		 */
		if (k->alone || k->rule == 11)
			continue;
		f[n].kind = k;
		f[n].page = n * step + below(r, step - 3);
		n++;
	}
	migrate(r, ram, f, n, pages, draw_withheld(r));
}

/* --- setup --- */

/* Keeps this process's descriptors above those that a vmm gets. */
static void leave_room(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= FD_FINDINGS);
}

/* Makes a hash key that only @uid can read. */
static const char *make_key(const char *dir, const char *name, uid_t uid,
			    const unsigned char *bytes)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		die(dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, KEY) != KEY || fchown(fd, uid, uid) < 0)
		die(path);
	close(fd);
	return path;
}

static void work_all(struct run *r, const char *dir, bool is_each,
		     unsigned moves)
{
	unsigned char key[KEY];
	char path[4096], why[256];

	leave_room();
	/* The vmm processes of user nobody need access. */
	if (chmod(dir, 0755) < 0)
		die(dir);
	snprintf(path, sizeof(path), "%s/findings", dir);
	r->where.findings = open(path, O_WRONLY | O_CREAT | O_TRUNC |
				 O_APPEND | O_CLOEXEC, 0644);
	snprintf(path, sizeof(path), "%s/labels", dir);
	r->labels = fopen(path, "we");
	if (r->where.findings < 0 || !r->labels ||
	    getrandom(key, KEY, 0) != KEY)
		die(dir);
	r->where.dir = dir;
	r->where.key = make_key(dir, "key", 0, key);
	r->where.nobodys_key = make_key(dir, "nobodys-key", NOBODY, key);
	r->no_swap = keep_swap(why, sizeof(why)) ? NULL : why;
	if (is_each)
		each(r);
	while (!is_each && moves--)
		by_chance(r);
	if (fclose(r->labels))
		die(dir);
}

static volatile sig_atomic_t worker;

static void end_worker(int number)
{
	(void)number;
	kill((pid_t)worker, SIGKILL);
}

/* The parent stays to restore what was changed. */
static int keep(void)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM };
	int status = 0;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		signal(ends[i], end_worker);
	while (waitpid((pid_t)worker, &status, 0) < 0)
		if (errno != EINTR)
			die("worker");
	keep_end("/nowhere");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}

int main(int argc, char **argv)
{
	struct run r = { .random = 1 };
	unsigned moves = 200;
	bool is_each = false;

	for (; argc > 1 && !strncmp(argv[1], "--", 2); argc--, argv++) {
		if (!strcmp(argv[1], "--each")) {
			is_each = true;
			continue;
		}
		if (argc < 3)
			return 64;
		if (!strcmp(argv[1], "--seed"))
			r.random = strtoull(argv[2], NULL, 0);
		else if (!strcmp(argv[1], "--moves"))
			moves = (unsigned)strtoul(argv[2], NULL, 0);
		else if (!strcmp(argv[1], "--only"))
			r.only = argv[2];
		else
			return 64;
		argc--;
		argv++;
	}
	if (argc != 3)
		return 64;
	r.where.vmm = argv[1];
	keep_begin(NULL);
	puts("begins");
	fflush(NULL);
	worker = fork();
	if (worker < 0)
		die("fork");
	if (worker)
		return keep();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work_all(&r, argv[2], is_each, moves);
	return 0;
}
