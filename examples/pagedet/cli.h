/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The parts of the command and how they meet: options and arguments become a
 * job, the job becomes a query, the answer becomes output and an exit status.
 * Of the library only pagedet.h is known here.
 */
#ifndef PAGEDET_CLI_H
#define PAGEDET_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pagedet.h>

#define CLI_PRINTF(a, b) __attribute__((format(printf, a, b)))
#define CLI_COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The exit status; the numbers from 64 on are those of sysexits.h. */
enum cli_status {
	CLI_ANSWERED = 0,
	CLI_NO = 1,		/* a definite no */
	CLI_UNSURE = 2,		/* cannot tell, or only a part */
	CLI_USAGE = 64,
	CLI_MALFORMED = 65,
	CLI_NO_INPUT = 66,
	CLI_UNAVAILABLE = 69,
	CLI_IO = 74,
	CLI_DENIED = 77
};

/* Switches that may also be left to the circumstances. */
enum cli_switch { CLI_AUTO = 0, CLI_ON, CLI_OFF };

struct cli_command;

/* What the user wants, as far as the words alone tell. */
struct cli_job {
	const struct cli_command *command;
	char **words;		/* arguments of the command */
	int n_words;

	/* from options */
	struct pagedet_options open;
	uint32_t live_sources;	/* of diff: --backend, for what is live */
	const char **from;	/* behind open.files */
	char helpers[4096];	/* behind open.libexec_dir */
	bool live;		/* --from live */
	const char *fields;
	const char *where;
	const char *by;
	const char *output;
	const char *since;	/* check errors */
	const char *why, *sent, *peer, *save; /* explain */
	uint64_t watch_ns;	/* check stable */
	uint32_t check;		/* PAGEDET_CHECK_*; 0: make a mark */
	bool stacks;		/* of the tasks that map a page */
	const char *sort, *before, *flame; /* of owners */
	bool folded;
	bool linear;		/* of map */
	uint32_t map_by;	/* PAGEDET_FIELD_* */
	uint64_t top, window_ns;
	uint32_t as;		/* PAGEDET_KADDR_*, of kaddr */
	uint64_t deadline_ns;
	uint32_t threads;	/* 0: as the command needs */
	uint32_t format;
	int verbose;
	enum cli_switch progress;
	bool summary, runs, undecided, quiet, pointers;
	bool tap, text_only;
	bool help, version;
	uint64_t given;		/* which options there were */

	/* from arguments */
	const char *path;
	struct pagedet_item *items;
	size_t n_items, max_items;
	bool from_stdin;	/* page frame numbers */
};

/* One command. */
struct cli_command {
	const char *name;
	const char *arguments;
	const char *summary;
	const char *help;
	const char *needs;	/* what it would take, if it is not here */
	const char *nothing;	/* what it means that no row came out */
	const char *fields;	/* to list if nobody says; NULL: cheap ones */
	/* Puts the command that it is about in its place; returns an enum
	 * cli_status, as the next two. */
	int (*wrap)(struct cli_job *job);
	/* Reads job->words. */
	int (*parse)(struct cli_job *job);
	/* Does the work. */
	int (*run)(struct cli_job *job, struct pagedet *pd);
	uint32_t target;	/* PAGEDET_TARGET_*, if it is a query */
	int min_words;
	int max_words;		/* -1 any number */
	bool stacks;		/* is about who allocated and freed pages */
	bool wide;		/* looks at much: worth several threads */
	bool picture;		/* draws what it sees: see map.c */
	bool groups;		/* is no query, but takes --where and --by */
	bool compares;		/* the same: --where, --fields and --summary */
};

/* --- main.c --- */
/* A handle with a log; NULL without memory, which is said. */
struct pagedet *cli_new(const struct cli_job *job);

/* --- say.c: words to stderr --- */
void cli_say(const char *fmt, ...) CLI_PRINTF(1, 2);
/* Says what is wrong with the words of the user; returns CLI_USAGE. */
int cli_usage(const char *fmt, ...) CLI_PRINTF(1, 2);
/* A failed call of the system, errno says why; returns a status. */
int cli_fail_errno(const char *fmt, ...) CLI_PRINTF(1, 2);
/* A failed call of the library; returns a status. */
int cli_fail(const struct pagedet *pd, int error);

/* --- options.c --- */
/* Takes the options out of argv, the rest is the command and its words. */
int cli_options_parse(struct cli_job *job, int argc, char **argv);
/* Does every option that was given mean something for this command? */
int cli_options_check(const struct cli_job *job);
void cli_options_help(void);

/* --- number.c: numbers of the user --- */
enum cli_radix {
	CLI_DECIMAL,		/* or hex with 0x */
	CLI_HEX			/* with or without 0x */
};
/* NULL, or what is wrong with it. *ret is untouched then. */
const char *cli_number(const char *word, enum cli_radix radix, uint64_t *ret);
/* FIRST or FIRST+COUNT into first and count; count is 1 if not said. */
const char *cli_range(const char *word, enum cli_radix radix,
		      struct pagedet_item *ret);
/* SECONDS, with a fraction or without. */
const char *cli_seconds(const char *word, uint64_t *ret_ns);

/* --- commands.c --- */
extern const struct cli_command cli_commands[]; /* ends without a name */
const struct cli_command *cli_command_find(const char *name);

/* --- arguments.c: the words behind a command --- */
int cli_parse_pfns(struct cli_job *job);
int cli_parse_pfns_or_stdin(struct cli_job *job);
int cli_parse_phys(struct cli_job *job);
int cli_parse_virt(struct cli_job *job);
int cli_parse_tasks(struct cli_job *job);
int cli_parse_file(struct cli_job *job);
int cli_parse_path(struct cli_job *job);
int cli_parse_kaddrs(struct cli_job *job);
int cli_parse_log(struct cli_job *job);
int cli_parse_nothing(struct cli_job *job);

/* --- help.c --- */
int cli_help(const char *topic);
int cli_version(void);
int cli_flush_stdout(void);

/* --- pfn_stream.c: page frame numbers from standard input --- */
struct cli_pfn_stream {
	struct pagedet_item *items;
	size_t n, max;		/* in this step; room */
	uint64_t line;
	size_t at, len;		/* in buf */
	bool ended;
	char buf[16384];
};
int cli_pfn_stream_open(struct cli_pfn_stream *s);
/*
 * Reads up to @most items; s->n is 0 at the end of the input. Returns a
 * status, after saying why.
 */
int cli_pfn_stream_next(struct cli_pfn_stream *s, size_t most);
void cli_pfn_stream_close(struct cli_pfn_stream *s);

/* --- output.c: where the answer goes --- */
struct cli_output {
	int fd;
	char *target;		/* what temp becomes */
	char *temp;
};
int cli_output_open(struct cli_output *out, const char *path);
int cli_output_write(int fd, const char *text, size_t len);
/* @keep: the output is whole. Returns @status, or a worse one. */
int cli_output_close(struct cli_output *out, bool keep, int status);

/* --- terminal.c --- */
bool cli_colour(int fd);
uint32_t cli_width(int fd);	/* 0: as wide as it gets */
struct cli_progress {
	const char *name;	/* of the command */
	uint64_t after_ns;	/* be silent so long */
	uint32_t width;		/* of stderr; 0: it is no terminal */
	bool shown;
	bool same_terminal;	/* as the output: write that when it is over */
};
/* Sets up the progress callback, if there is to be one. */
void cli_progress_start(struct cli_progress *p, const struct cli_job *job,
			int out_fd, struct pagedet_query *q);
void cli_progress_end(struct cli_progress *p);

/* --- interrupt.c: signals --- */
void cli_interrupt_init(void);
/* From now on a signal cancels @it instead of ending us; NULL: no more. */
void cli_interrupt_cancels(struct pagedet_iter *it);
void cli_interrupt_cancels_both(struct pagedet_iter *a, struct pagedet_iter *b);
/* From now on somebody asks cli_interrupted() and ends his work; no more. */
void cli_interrupt_asked(bool yes);
/* A file to remove when a signal ends us; NULL: no more. */
void cli_interrupt_removes(const char *path);
bool cli_interrupted(void);

/* --- helpers.c: programs that the library starts --- */
/* Where they are, if a source was named that needs one and they are beside the
 * command; else the library knows where it was to be installed. */
void cli_helpers_find(struct cli_job *job);

/* --- explain.c, explain_peer.c --- */
int cli_parse_explain(struct cli_job *job);
int cli_run_explain(struct cli_job *job, struct pagedet *pd);
/* Evidence of another host, out of a file; free(*ret). Returns a status. */
int cli_peer_load(struct pagedet *pd, const char *path,
		  struct pagedet_evidence **ret, uint64_t *n);
int cli_peer_save(struct pagedet *pd, const char *path,
		  const struct pagedet_evidence *evidence, uint64_t n);

/* --- map.c: a scan that is drawn --- */
int cli_parse_map(struct cli_job *job);
/* What is asked for the picture, and for the ground of one with a filter. */
void cli_map_query(const struct cli_job *job, struct pagedet_query *q);
void cli_map_ground(struct pagedet_query *q);
/* @o keeps @title. */
void cli_map_emitter(const struct cli_job *job,
		     struct pagedet_emit_options *o, char *title, size_t size);

/* --- snapshot.c --- */
int cli_wrap_snapshot(struct cli_job *job);

/* --- diff.c --- */
int cli_parse_diff(struct cli_job *job);
int cli_run_diff(struct cli_job *job, struct pagedet *pd);
void cli_diff_title(const struct cli_job *job, char *title, size_t size);

/* --- owners.c --- */
int cli_parse_owners(struct cli_job *job);
int cli_run_owners(struct cli_job *job, struct pagedet *pd);

/* --- owners_flame.c: stacks for the eye --- */
/* Lines "outermost;...;innermost PAGES"; returns a status. */
int cli_folded(struct pagedet_owners *owners, FILE *f);
int cli_flame(struct pagedet_owners *owners, FILE *f);

/* --- check.c --- */
int cli_parse_check(struct cli_job *job);
int cli_run_check(struct cli_job *job, struct pagedet *pd);

/* --- query.c, verdict.c: asking and judging --- */
/* As many as were asked for, or as are worth it. */
uint32_t cli_threads(const struct cli_job *job);
/* Of the clock that never goes back. */
uint64_t cli_now_ns(void);
int cli_run_query(struct cli_job *job, struct pagedet *pd);
/*
 * The emitter that the options ask for, looking as @fd needs it and writing to
 * @to; -1 keeps the text in memory. Returns a status.
 */
int cli_emitter_new(const struct cli_job *job, struct pagedet *pd, int fd,
		    int to, struct pagedet_emitter **ret);
int cli_emitter_finish(struct pagedet *pd, struct pagedet_emitter *e);

struct cli_verdict {
	struct pagedet_coverage sum; /* over all steps */
	uint64_t named[2];	/* fields that were asked for by name */
	uint64_t maps_missing;	/* that the kernel counts */
	bool partial;
};
/* Adds the fields that stand in @list by name, not by group. */
void cli_named_fields(const char *list, uint64_t *named);
void cli_verdict_add(struct cli_verdict *v, const struct pagedet_iter *it,
		     uint32_t target);
/* Says what of it could not be looked at. */
void cli_verdict_losses(const struct cli_verdict *v, const struct cli_job *job);
/* Says what the user must know and returns the status. */
int cli_verdict_tell(const struct cli_verdict *v, const struct cli_job *job,
		     const struct pagedet_iter *it);

/* --- doctor.c --- */
int cli_run_doctor(struct cli_job *job, struct pagedet *pd);

/* --- doctor_tiers.c: of fields that a dump's kernel may tell, by what it
 * takes --- */
struct cli_tiers {
	uint64_t fields[PAGEDET_TIER_VMLINUX + 1][2]; /* bits */
	uint64_t can[PAGEDET_TIER_VMLINUX + 1][2];
};
void cli_tiers_add(struct cli_tiers *t, uint32_t field,
		   const struct pagedet_ability *a);
/* @vmlinux: one was given. Nothing, if it is no dump. */
void cli_tiers_print(FILE *f, const struct cli_tiers *t, bool vmlinux);

#endif
