/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Measuring two or three ways of doing the same work against each other. They
 * run in turn, so that a machine that is slower for a while is slower for all
 * of them, and each round starts with another one.
 */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAL_TIGHT_ROUNDS 15
#define TRIAL_ROUNDS 7
#define TRIAL_MOST_ROUNDS 1000

/* One way to do it. */
struct trial_side {
	const char *name;	/* NULL: there is no such side */
	uint64_t (*run)(void *arg); /* returns the ns that it took */
	void *arg;
};

struct trial {
	const char *work;
	struct trial_side peer;	/* a program that people use today */
	struct trial_side bound; /* the raw system calls */
	struct trial_side library;
	double per;		/* units of work in one run; 0 is 1 */
	unsigned rounds;	/* 0: TRIAL_ROUNDS, or ..TIGHT.. */
	/* goals, 0 is none */
	double faster;		/* peer's time over the library's, at least */
	double peer_most;	/* library's time over the peer's, at most */
	double bound_most;	/* library's time over the bound's, at most */
	double most_ns;		/* of the library's, at most */
	const char *no_peer;	/* why there is none, where one is wanted */
	/*
	 * The bound's goal is close to 1: the best of more rounds decides, and
	 * the bound is measured against itself, too. A ratio that lies within
	 * what the bound shows against itself cannot be told from 1.
	 */
	bool tight;
};

/*
 * Runs it and prints one line of fields separated by tabs: work, peer, bound,
 * library, ratio to peer, ratio to bound, A/A spread, verdict.
 */
void trial_run(const struct trial *t);

/* The same line for something that is not a time, or a time once; 0 is no
 * goal. */
void trial_value(const char *work, double value, const char *unit,
		 double most);
/* And for a plain statement. */
void trial_says(const char *work, const char *peer, const char *library,
		bool met);

/* --- command.c: sides that are programs --- */

#define COMMAND_ARGS 12

struct command {
	const char *argv[COMMAND_ARGS + 1]; /* NULL at the end */
	const char *out;	/* file for its output; NULL is /dev/null */
	const char *made;	/* file to remove before it starts, or NULL */
	bool may_fail;		/* its exit status does not count */
	/* results of the last run */
	int status;		/* exit status; 128 + signal */
	uint64_t rss_kib;	/* most memory it had at one time */
	uint64_t cpu_ns;	/* time of processors, its and the kernel's */
};

/* Starts it and waits for it; @arg is the command. */
uint64_t command_run(void *arg);
/* The same, but returns the time of processors that it took. */
uint64_t command_run_cpu(void *arg);

/*
 * A program that measures a part of itself: its last line of output is the ns
 * that this took and how much it has seen; @arg is this.
 */
struct report {
	struct command command;
	char path[256];		/* for its output; made by the first run */
	uint64_t seen;
};

uint64_t report_run(void *arg);
void report_end(struct report *r);

/* A program of others that may be missing; then NULL, and bench/run says why
 * in the variable NO_...: put into @why. */
const char *command_peer(const char *variable, const char **why);

/* Programs under test, from the environment; dies where one is missing. */
const char *command_page_types(void);	/* PAGE_TYPES */
const char *command_fincore(void);	/* FINCORE */
const char *command_pagedet(void);	/* PAGEDET */

#endif
