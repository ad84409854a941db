/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes pages of every kind that the running kernel supports, and prints the
 * truth about each as one JSON object per line: how it was made, what must be
 * and must not be reported, and the kernel's raw words, which it reads itself.
 * A line "again" on standard input prints all of them again (it makes files
 * dirty, finds pages that nobody maps, and reads words again). It ends at the
 * end of input.
 *
 *   planter [-p] [DIRECTORY [CGROUP]]
 *
 *   -p          poison a page, too: it is lost until the machine reboots
 *   DIRECTORY   where files are made; TMPDIR or /var/tmp
 *   CGROUP      parent of the new cgroup, as a directory; the current one
 *
 * It needs root. There are two processes: the planter, and the keeper, which
 * restores the machine's settings however the planter ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sched.h>
#include <unistd.h>

#include "planter.h"

/* A task may have any name: this one confuses bad parsers. */
#define COMM "pl)an t\n(er \\x"

#define MADV_COLD_ 20

static volatile sig_atomic_t stop;

struct plant *plant_new(struct field *f, const char *name, const void *addr)
{
	struct plant *p = &f->plant[f->n];

	if (f->n == MAX_PLANTS) {
		fprintf(stderr, "planter: more than %d plants\n", MAX_PLANTS);
		exit(1);
	}
	f->n++;
	p->name = name;
	p->pid = addr ? f->pid : 0;
	p->addr = (uintptr_t)addr;
	p->pfn = p->mapcount = p->refcount = NO_NUMBER;
	p->order = p->level = NO_NUMBER;
	return p;
}

void plant_skip(const char *name, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	printf("{\"skip\": \"%s\", \"why\": ", name);
	json_string(why, strlen(why));
	printf("}\n");
}

void plant_drain(void)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	*page = 1;
	madvise(page, PAGE, MADV_COLD_);
	munmap(page, PAGE);
}

static void bind_to_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void print_planter(const struct field *f)
{
	printf("{\"planter\": %d, \"child\": %d, \"comm\": ", f->pid,
	       f->child);
	json_string(COMM, strlen(COMM));
	printf(", \"soft_dirty\": %s, \"ksm_lies\": %s",
	       f->soft_dirty ? "true" : "false",
	       f->ksm_lies ? "true" : "false");
	if (*f->cgroup) {
		printf(", \"memcg_ino\": %llu, \"memcg_path\": ",
		       (unsigned long long)f->cgroup_ino);
		json_string(f->cgroup, strlen(f->cgroup));
	}
	if (f->child > 0)
		printf(", \"chain\": [%llu, %llu]",
		       (unsigned long long)f->chain[0],
		       (unsigned long long)f->chain[1]);
	printf("}\n");
}

static void print_all(struct field *f)
{
	unsigned i;

	plant_drain();
	print_planter(f);
	for (i = 0; i < f->n; i++)
		word_print(f, &f->plant[i]);
	printf("{\"ready\": %u}\n", f->n);
	fflush(stdout);
}

static int plant_everything(const char *dir, bool may_poison)
{
	struct field *f = calloc(1, sizeof(*f));
	char line[64];

	if (!f)
		return 1;
	f->pid = getpid();
	f->dir = dir;
	f->may_poison = may_poison;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_NAME, COMM);
	bind_to_one_cpu();
	keep_cgroup(f);
	make_first(f);
	make_shared_by_fork(f);
	make_soft_clean(f);
	make_anonymous(f);
	make_special(f);
	make_pinned(f);
	make_idle(f);
	make_huge(f);
	make_merged(f);
	make_swapped(f);
	make_write_protected(f);
	make_program(f);
	make_files(f);
	make_device(f);
	make_poisoned(f);
	print_all(f);
	while (!stop && fgets(line, sizeof(line), stdin))
		if (!strcmp(line, "again\n"))
			print_all(f);
	if (f->child > 0)
		kill(f->child, SIGKILL);
	return 0;
}

static pid_t planter;

static void hand_on(int sig)
{
	stop = 1;
	if (planter > 0)
		kill(planter, sig);
}

static void handle_signals(void)
{
	struct sigaction sa = { .sa_handler = hand_on };

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	bool may_poison = argc > 1 && !strcmp(argv[1], "-p");
	const char *const *places = (const char **)argv + 1 + may_poison;
	char dir[512];
	int status;

	if (geteuid() != 0) {
		fprintf(stderr, "planter: needs root\n");
		return 77;
	}
	keep_begin(places[0] ? places[1] : NULL);
	snprintf(dir, sizeof(dir), "%s/pagedet-plant.XXXXXX",
		 places[0] ? places[0] : tmp ? tmp : "/var/tmp");
	if (!mkdtemp(dir)) {
		fprintf(stderr, "planter: cannot make %s: %m\n", dir);
		return 74;
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	handle_signals();
	planter = fork();
	if (planter == 0) {
		exit(plant_everything(dir, may_poison));
	}
	if (planter < 0)
		status = 1 << 8;
	while (planter > 0 && waitpid(planter, &status, 0) < 0)
		if (errno != EINTR)
			status = 1 << 8;
	keep_end(dir);
	if (WIFSIGNALED(status))
		return stop ? 0 : 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}
