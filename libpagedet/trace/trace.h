/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A trace of allocations, whatever holds it: a directory with copies of tracefs
 * (directory.c), a trace.dat (dat.c), a perf.data (perf.c), a text (text.c), or
 * what kmemtrace wrote (old/).
 */
#ifndef PDET_TRACE_TRACE_H
#define PDET_TRACE_TRACE_H

#include "base/io.h"
#include "trace/flags.h"
#include "trace/names.h"
#include "trace/pages.h"
#include "trace/stacks.h"

/* The largest texts that are read; a kallsyms with all modules has 20 MB. */
#define PDET_TRACE_MOST_NAMES ((size_t)512 << 20)
#define PDET_TRACE_MOST_TEXT ((size_t)16 << 20)

/* In the name of the program that has written a trace.dat: here the boot_id
 * follows. No other part of that format is for it. */
#define PDET_TRACE_BOOT ", boot "

struct pdet_trace {
	struct pdet_ring_layout layout;
	struct pdet_kmem_layouts *known;
	struct pdet_gfp_names gfp; /* n 0: the formats do not tell them */
	struct pdet_trace_pages *pages; /* a processor each */
	size_t n_pages;
	struct pdet_ahead *ahead; /* of these; NULL: none */
	struct {
		struct pdet_trace_stream **data;
		size_t n, cap;
	} own;			/* instead of these */
	struct pdet_trace_stream **streams; /* of either */
	size_t n_streams;
	int fd;			/* of the file or directory */
	uint64_t page_size;	/* of the traced kernel; 0 not known */
	bool no_ns;		/* times are counts of another unit */
	bool no_cpu;		/* events do not tell processors */
	bool hashed;		/* the addresses of objects are hashed */
	bool has_others;	/* the file has other instances, whose events
				 * are not read */
	bool only_live;		/* there are no events, but sums of what is
				 * live; known when all is read */
	struct pdet_trace_kernel kernel; /* known when all is read */
	char boot[40];		/* boot_id of that kernel; "" not told */
	char release[64];	/* as uname -r prints it; "" not told */
	bool wants_stacks;
	bool wants_rows;	/* of losses, not only how many, and of a text
				 * the places of frees; set before events are
				 * read */
	struct pdet_trace_stacks stacks;
	/* Copies of /proc/kallsyms and saved_cmdlines; data NULL: none. */
	struct pdet_text kallsyms, cmdlines;
};

/*
 * pdet_trace_open - open a trace. -EBADMSG: it is not one, or is damaged;
 * -ENOENT: it, or a part that is needed, is not there; -ENOSYS: a library that
 * is needed is not there.
 */
int pdet_trace_open(struct pdet_env *env, const char *path,
		    struct pdet_trace **ret);

/*
 * pdet_trace_read_ahead - another thread unpacks what is packed, if it is worth
 * one. Called before events are read.
 */
void pdet_trace_read_ahead(struct pdet_trace *t);

void pdet_trace_free(struct pdet_trace *t);

/*
 * pdet_trace_release - take over what uname -r prints in that kernel, unless it
 * is too long to be one.
 */
void pdet_trace_release(struct pdet_trace *t, const char *text, size_t n);

/* Whose event it is. */
enum pdet_trace_system { PDET_TRACE_ANY, PDET_TRACE_KMEM, PDET_TRACE_FTRACE };

/*
 * pdet_trace_learn - learn the format of an event from its text. -EBADMSG as
 * pdet_trace_format_parse() and pdet_kmem_learn().
 */
int pdet_trace_learn(struct pdet_trace *t, const char *text, size_t len,
		     enum pdet_trace_system system);

/*
 * pdet_trace_want_stacks - events get the stacks that the trace has. Called
 * before they are read.
 */
void pdet_trace_want_stacks(struct pdet_trace *t);

/* pdet_trace_stat - a number of a file like per_cpu/cpuN/stats. */
bool pdet_trace_stat(const char *text, size_t len, const char *key,
		     uint64_t *ret);

/*
 * pdet_trace_stats - take over what per_cpu/cpuN/stats counts: losses, and
 * events that were read.
 */
void pdet_trace_stats(struct pdet_trace_pages *p, const char *text, size_t len);

/* What is told as the release of kernels that had kmemtrace. */
#define PDET_TRACE_OLD_RELEASE "2.6"

/* The kinds. @t is new, and stays with the caller. */
int pdet_trace_directory(struct pdet_env *env, int fd, const char *name,
			 struct pdet_trace *t);
int pdet_trace_dat(struct pdet_env *env, int fd, const char *name,
		   struct pdet_trace *t);
/*
 * These add to @t->own. -ENOTSUP of perf: some events, or parts of them, are
 * left out by intention.
 */
int pdet_trace_perf(struct pdet_env *env, int fd, const char *name,
		    struct pdet_trace *t);
int pdet_trace_text(struct pdet_env *env, const char *name,
		    struct pdet_trace *t);

/* kmemtrace: a file of its tracer, and a directory with those of relay. */
int pdet_trace_old(struct pdet_env *env, int fd, struct pdet_trace *t);
int pdet_trace_relay(struct pdet_env *env, int fd, const char *name,
		     struct pdet_trace *t);
bool pdet_old_is(int fd);
bool pdet_relay_is(int fd);

/* Whether a file begins as a perf.data or a trace.dat does. */
bool pdet_perf_is(int fd);
bool pdet_dat_is(int fd);

#endif
