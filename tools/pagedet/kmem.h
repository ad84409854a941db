/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the commands of kmem that read a trace have in common. */
#ifndef CLI_KMEM_H
#define CLI_KMEM_H

#include "child.h"

/* How often they may be interrupted. */
#define CLI_KMEM_ASK_NS 100000000u
#define CLI_SECOND_NS 1000000000u

struct cli_kmem {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_allocs_query q;
	uint32_t by[PAGEDET_ALLOC_KEYS];
	struct pagedet_allocs *allocs;
	struct pagedet_allocs_total total, before; /* size 0: no such trace */
	struct cli_progress line;
	struct cli_asked asked;
};

/* These return a status. */

/* cli_kmem_keys - set the keys of @by, a list; NULL: by site. */
int cli_kmem_keys(struct cli_kmem *a, const char *by);

/* cli_kmem_take - the trace is named by a word or by --instance. */
int cli_kmem_take(struct cli_job *job);

/* cli_kmem_names - take --from, --vmlinux and --kallsyms for names. */
int cli_kmem_names(struct cli_job *job);

/* cli_kmem_bound - how many groups; that is not a status. */
uint64_t cli_kmem_bound(const struct cli_job *job);

/* cli_kmem_trace - set the query but for its keys; path and kallsyms as in the
 * next one. */
void cli_kmem_trace(struct cli_kmem *a, const char *path, const char *kallsyms);

/* cli_kmem_read - read a trace; @path NULL: that of --instance. */
int cli_kmem_read(struct cli_kmem *a, const char *path, const char *kallsyms,
		  struct pagedet_allocs **ret,
		  struct pagedet_allocs_total *total);

/* cli_kmem_ask_kernel - ask it which of the live objects are in use; returns a
 * negative errno. @deadline_ns 0: there is none. */
int cli_kmem_ask_kernel(struct cli_kmem *a, uint64_t deadline_ns);

/* cli_kmem_losses - say what the traces lack. CLI_UNSURE: events. */
int cli_kmem_losses(const struct cli_kmem *a);

/* cli_kmem_pages - take the last word, a page number or a range of them. */
int cli_kmem_pages(struct cli_job *job);

/* cli_kmem_rows - write the groups; cli_kmem_judge - say what they lack, and
 * judge whether there are any. */
int cli_kmem_rows(struct cli_kmem *a, int fd);
int cli_kmem_judge(const struct cli_kmem *a);

/* --- kmem_record.c --- */

struct cli_recording {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_recorder *recorder;
	struct pagedet_record_total total;
	struct cli_output out;
	const char *file;
	struct cli_child child;
	struct cli_kmem *groups; /* of totals */
	/* --- of a trace, by kmem_watch.c --- */
	struct cli_progress line;
	struct pagedet_query shown; /* has a callback if progress is shown */
	bool silent;		/* but not while it is recording */
	uint64_t shown_ns;
	uint64_t reserve;	/* bytes that stay free */
	const char *ended;	/* by what; NULL: not yet */
	/* --- of what follows the recording --- */
	uint64_t ended_ns;
	int signals;		/* that do not end it */
};

extern const struct cli_command cli_kmem_recording;

/* cli_kmem_recorded - whether the options fit a recording. */
int cli_kmem_recorded(struct cli_job *job);

/* cli_kmem_begin - begin with the rest of the options. */
int cli_kmem_begin(struct cli_recording *r, struct pagedet_record_options *o);

/*
 * cli_kmem_record - record until the program ends, the time is over, or a
 * signal comes. @start calls cli_kmem_begin(); @end takes what was recorded.
 */
int cli_kmem_record(struct cli_recording *r,
		    int (*start)(struct cli_recording *r),
		    int (*end)(struct cli_recording *r));

/* cli_kmem_ask - what it has now. */
void cli_kmem_ask(struct cli_recording *r);

/* --- kmem_watch.c --- */

/* cli_kmem_say_end - it has begun: say how it ends, unless the user has. */
void cli_kmem_say_end(const struct cli_recording *r);

/* cli_kmem_watch_begin - begin to watch. */
void cli_kmem_watch_begin(struct cli_recording *r);

/* cli_kmem_watch - for cli_child_until(): @arg is the recording. */
uint32_t cli_kmem_watch(void *arg);
void cli_kmem_watch_end(struct cli_recording *r);

/* cli_kmem_pack - write the trace; returns a status. */
int cli_kmem_pack(struct cli_recording *r);

/* cli_kmem_verify - ask the kernel about its groups; or a negative errno. */
int cli_kmem_verify(struct cli_recording *r);

/* --- kmem_totals.c --- */
extern const struct cli_command cli_kmem_totals;

/* --- kmem_events.c, kmem_blame.c, kmem_timeline.c --- */
extern const struct cli_command cli_kmem_events;
extern const struct cli_command cli_kmem_blame;
extern const struct cli_command cli_kmem_timeline;

/* --- kmem_check.c --- */
extern const struct cli_command cli_kmem_check;

#endif
