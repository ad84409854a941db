/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The parts of the command and their interfaces: options and arguments become a
 * job, the job becomes a query, and the answer becomes output and an exit
 * status. The command uses only pagedet.h of the library.
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

/* The exit status. Numbers from 64 on are those of sysexits.h. */
enum cli_status {
	CLI_ANSWERED = 0,
	CLI_NO = 1,		/* a definite no */
	CLI_UNSURE = 2,		/* not known, or only partly */
	CLI_USAGE = 64,
	CLI_MALFORMED = 65,
	CLI_NO_INPUT = 66,
	CLI_UNAVAILABLE = 69,
	CLI_IO = 74,
	CLI_DENIED = 77
};

/*
 * Options that are on or off, with a default that depends on the circumstances.
 */
enum cli_switch { CLI_AUTO = 0, CLI_ON, CLI_OFF };

struct cli_command;

/* A word in a suggestion has at most so many bytes with its end. */
#define CLI_QUOTED 512
/* The options in it, likewise. */
#define CLI_AGAIN 1536
/* A suggestion, likewise: it may name the options twice. */
#define CLI_HINT (2 * CLI_AGAIN + 3 * CLI_QUOTED)

/* There are no more options. */
#define CLI_OPTIONS 96

/*
 * Names that stand for the numbers of an item until the kernel is open. NULL if
 * the item has its numbers.
 */
struct cli_name {
	const char *task, *area, *symbol;
	const char *wrong;	/* why the area is not an address, if only an
				 * area of that name makes it an argument */
};

/* The user's request, as far as options and arguments tell it. */
struct cli_job {
	const struct cli_command *command;
	char **words;		/* arguments of the command */
	int n_words;

	/* from options */
	struct pagedet_options open;
	uint32_t live_sources;	/* for diff: the sources of --backend, which is
				 * for the running kernel */
	const char **from;	/* memory of open.files */
	char helpers[4096];	/* memory of open.libexec_dir */
	bool live;		/* --from live */
	const char *fields;
	const char *where;
	const char *by;
	const char *output;
	const char *since;	/* for check errors */
	const char *why, *sent, *peer, *save; /* for explain */
	const char *with;	/* for compare: the other source */
	uint64_t watch_ns;	/* for check stable, how long to watch; for
				 * others, time between rounds; 0 if it was not
				 * given */
	bool watching;		/* the user wants rounds */
	bool all;		/* no summary, and no limit by the terminal */
	bool format_given;
	uint32_t check;		/* PAGEDET_CHECK_*; 0: mark or unmark */
	bool stacks;		/* of the tasks that map a page */
	bool kernel_stacks, user_stacks; /* which ones */
	bool stop;		/* threads, while their user stack is read */
	bool perf_map;		/* name code of compilers in user stacks */
	const char *sort;	/* field; a - before it reverses the order */
	const char *before;	/* for owners and kmem */
	const char *flame;	/* for owners, kmem and stacks of threads */
	const char *kallsyms;	/* for kmem, as the next ones */
	const char *kallsyms_before;
	const char *traced_vmlinux;
	struct pagedet_allocs *allocs; /* the trace of kmem live */
	uint64_t for_ns, buffer, max_size; /* for kmem record; 0: not given */
	bool pages, boot, totals, frees; /* the same */
	uint64_t live_objects;	/* of --frees; 0: not given */
	const char *instance;	/* for kmem report and live; NULL: path */
	uint64_t page_size;	/* 0 not known */
	uint64_t min_pages;
	bool as_sort;		/* in the format of page_owner_sort */
	bool mixed;
	bool as_dot;		/* in that of graphviz */
	bool folded;
	bool verify;		/* for kmem report and live */
	bool live_counts;	/* groups that change: of the running kernel */
	char *used_where;	/* memory of where: with a test for objects in
				 * use */
	uint64_t drain_ns;	/* for kmap record; 0: not given */
	const char *follow;	/* the same; NULL: all processes */
	bool accesses;		/* for kmap report */
	uint64_t hz;		/* for kmap; 0 not known */
	const char *matrix;	/* for kmap report */
	uint32_t kmap_only;	/* PAGEDET_KMAP_ALL, OWN or FOREIGN */
	uint32_t kmap_keys[PAGEDET_KMAP_KEYS]; /* of groups of a KMAP */
	uint64_t n_kmap_keys;	/* 0: there are no groups */
	const char *watch_fd;	/* for kmap watch; NULL: an address */
	const char *watch_cache; /* the same: draws objects; NULL: does not */
	const char *watch_at;	/* a part of these; NULL: all */
	bool sample, seed_given; /* the same */
	uint64_t seed, slice_ns; /* the same; 0: not given */
	uint64_t rate;		/* the same; 0: not given */
	bool only_writes;	/* the same */
	bool watched;		/* kmap report shows what was watched */
	bool linear;		/* for map */
	uint32_t map_by;	/* PAGEDET_FIELD_* */
	uint64_t top, limit, window_ns;
	bool fitted;		/* top is what the terminal has room for */
	uint32_t as;		/* PAGEDET_KADDR_*, of kaddr */
	uint64_t deadline_ns;	/* 0 none */
	const char *kmap;	/* --kmap */
	uint64_t heat_ns;	/* how long to wait for DAMON; 0: not given */
	uint64_t end_ns;	/* time of the deadline, of CLOCK_MONOTONIC; 0:
				 * there is none */
	uint32_t threads;	/* 0: the command decides */
	uint32_t format;
	int verbose;
	enum cli_switch progress;
	bool summary, runs, undecided, strict, quiet, pointers;
	bool tap, text_only, alternatives;
	bool details, now;	/* for from-log */
	bool terse;		/* one event per line: few remarks */
	bool from_file;		/* from-log reads a file */
	bool crash;		/* explain faults in a log */
	bool help, version;
	bool given[CLI_OPTIONS]; /* by the number of the option */
	char again[CLI_AGAIN];	/* how the command is called for the same
				 * source: "pagedet --from FILE" */
	char types[CLI_AGAIN];	/* the same without --from and --root */

	/* from arguments */
	const char *path;
	char *real_path;	/* memory of path, if it was relative */
	struct pagedet_item *items;
	struct cli_name *names;	/* for each item; NULL: no item has names */
	size_t n_items, max_items;
	bool named;		/* some item has */
	bool lost_tasks;	/* a name may be that of others, too */
	bool told_radix;	/* of an address that looks like decimal */
	bool told_frames;	/* that no machine has so many page frames */
	bool no_memory;		/* no page frame is memory; they have no
				 * mappers */
	const char *file;	/* --file: never a number */
	bool from_stdin;	/* page frame numbers */
	bool list;		/* files: from standard input or arguments */
	bool several;		/* the list is the arguments */
	bool nul;		/* each one ends with a NUL byte */
};

/* One command. */
struct cli_command {
	const char *name;
	const char *arguments;
	const char *summary;
	const char *help;
	const char *nothing;	/* the meaning of an answer without rows */
	const char *fields;	/* fields that are listed by default; NULL: the
				 * cheap ones */
	/*
	 * Lets the command be replaced by the command that its first argument
	 * names. Returns an enum cli_status, as the next two functions do.
	 */
	int (*wrap)(struct cli_job *job);
	/* Parses job->words. */
	int (*parse)(struct cli_job *job);
	/* Runs the command. */
	int (*run)(struct cli_job *job, struct pagedet *pd);
	uint32_t target;	/* PAGEDET_TARGET_*, if it is a query */
	int min_words;
	int max_words;		/* -1: any number */
	bool rows;		/* gives the rows of its query */
	bool stacks;		/* shows who allocated and freed pages */
	bool wide;		/* visits much: worth several threads */
	bool picture;		/* draws its rows: see map.c */
	bool bounds;		/* not a query, but takes --sort, --top, --limit
				 * and --all */
	bool limits;		/* not a query, but takes --top and --limit */
	bool groups;		/* not a query, but takes --where and --by */
	bool compares;		/* likewise: --where, --fields and --summary */
};

/* --- main.c --- */
/*
 * Creates a handle that logs messages. Without memory, prints an error and
 * returns NULL.
 */
struct pagedet *cli_new(struct cli_job *job);

/* --- say.c: messages to stderr --- */
/* The ending of a noun after the number @n: "" or "s". */
static inline const char *cli_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *cli_is_or_are(uint64_t n)
{
	return n == 1 ? "is" : "are";
}
void cli_say(const char *fmt, ...) CLI_PRINTF(1, 2);
/*
 * The end of the word at @s, or of what is pasted as a whole: a text in quotes,
 * and a command, which goes on to the end of its clause.
 */
const char *cli_item_end(const char *s);
/* Reports a mistake in the user's options or arguments. Returns CLI_USAGE. */
int cli_usage(const char *fmt, ...) CLI_PRINTF(1, 2);
/*
 * The same. @instead is a sentence that suggests something: "try: --top N;". A
 * command in it names its source: see cli_commands_of().
 */
int cli_refuse(const char *instead, const char *fmt, ...) CLI_PRINTF(2, 3);
/*
 * The same. It suggests @command, which follows "pagedet ", for the same
 * source.
 */
int cli_instead(const struct cli_job *job, const char *command,
		const char *fmt, ...) CLI_PRINTF(3, 4);
/*
 * Sets the help page that is named in the hints of these two functions and of
 * cli_fail(). NULL names the list of commands. Returns the previous page.
 */
const char *cli_topic(const char *topic);
/* Reports a failed system call by errno. Returns a status. */
int cli_fail_errno(const char *fmt, ...) CLI_PRINTF(1, 2);
/* Reports a failed library call. Returns a status. */
int cli_fail(const struct pagedet *pd, int error);
/* The status for a negative errno. */
int cli_status(int error);

/* --- options.c --- */
/* Removes the options from argv. The command and its arguments are left. */
int cli_options_parse(struct cli_job *job, int argc, char **argv);
/* Checks that every given option has a meaning for this command. */
int cli_options_check(const struct cli_job *job);
/* Prints what options do: all of them, or those that are used most. */
void cli_options_help(bool all);
/* Prints words of @text from column @indent on, at most 79 wide. */
void cli_print_wrapped(const char *text, int indent);

/* --- number.c: numbers in arguments --- */
enum cli_radix {
	CLI_DECIMAL,		/* or hex with 0x */
	CLI_PFN,		/* the same, or pfn: and hex */
	CLI_HEX			/* with or without 0x */
};
/*
 * Parses a number. Returns NULL, or what is wrong with it; *@ret is then
 * unchanged.
 */
const char *cli_number(const char *word, enum cli_radix radix, uint64_t *ret);
/* Parses FIRST or FIRST+COUNT. The default count is 1. Bytes behind an address
 * may have a unit: +64k. */
const char *cli_range(const char *word, enum cli_radix radix,
		      struct pagedet_item *ret);
/* Parses a number of bytes, or of KiB, MiB or GiB: 4096, 16k, 16M, 1G. */
const char *cli_bytes(const char *word, uint64_t *ret);
/* Parses SECONDS, which may have a fraction. */
const char *cli_seconds(const char *word, uint64_t *ret_ns);

/* --- commands.c --- */
extern const struct cli_command cli_commands[]; /* ends with a NULL name */
const struct cli_command *cli_command_find(const char *name);

/* --- suggest.c: suggestions after a mistake --- */
/*
 * Reports that there is no such command, and suggests one. @job: NULL if @name
 * cannot be a file, a number or a process. Returns CLI_USAGE.
 */
int cli_no_command(const struct cli_job *job, const char *name);
/*
 * Reports that @word is not one of @names, and suggests one or lists all. @what
 * begins the message: "--format: there is no format". Returns CLI_USAGE.
 */
int cli_no_name(const char *what, const char *word, size_t len,
		const char *const *names, size_t n);
/*
 * Reports the message that @fmt makes, and the nearest of @words, which blanks
 * separate, if one is near to @word. Returns CLI_USAGE.
 */
int cli_no_word(const char *words, const char *word, size_t len,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Whether @word is one of @list, which blanks separate. */
bool cli_is_in_list(const char *list, const char *word);
/* Whether a word is a name of a command in other programs. */
bool cli_is_synonym(const char *word);
/* The same for keys of groups: @name names them, with NULL behind the last. */
int cli_no_key(const char *what, const char *word, size_t len,
	       const char *(*name)(uint32_t key));
/* The same for fields of --by. */
int cli_no_field(const struct cli_job *job, const char *what, const char *word,
		 size_t len);
/* Lists the names in @ret: "a, b and c". */
void cli_list_names(const char *const *names, size_t n, char *ret, size_t size);
/* The command that counts such pages of all processes. NULL: any pages. */
void cli_pages_of_tasks(const char *where, char ret[CLI_HINT]);
/*
 * Whether pages of the command's target can have the fields of --by and
 * --where. If they cannot, suggests another command and returns CLI_USAGE.
 */
int cli_check_meaning(const struct cli_job *job, struct pagedet *pd);

/* --- quote.c: words and commands for a shell --- */
/* As pagedet_quoted(). If it would be an option, returns @instead. */
const char *cli_argument(const char *word, const char *instead,
			 char ret[CLI_QUOTED]);
/*
 * Adds an option to job->again, if it names the source. @what stands for its
 * value if that cannot be quoted: "FILE".
 */
void cli_keep_source(struct cli_job *job, const char *option,
		     const char *value, const char *what);
/*
 * Copies a sentence. Commands in it then ask the source of @job, except those
 * that name another one. If the source needs quotes, those around a command
 * become parentheses, which a shell also takes. @text has no word that users
 * chose. @job may be NULL.
 */
void cli_commands_of(const struct cli_job *job, const char *text,
		     char ret[CLI_HINT]);

/* --- suggest_value.c --- */
/*
 * After a filter that no page matched: suggests one with another case, or with
 * '~', that matches.
 */
void cli_suggest_value(const struct cli_job *job, struct pagedet *pd);

/* --- suggest_fill.c --- */
/*
 * As cli_commands_of(), and puts @words where @text has PFN, PID, ADDR, FILE
 * and so on. Each word is used once, for the first place that it fits. Returns
 * how many were used.
 */
int cli_fill(const struct cli_job *job, char *const *words, int n,
	     const char *text, char ret[CLI_HINT]);

/* --- suggest_thing.c: suggestions for words that name a thing --- */
/* Whether a file may be a kernel log, by its name. */
bool cli_is_log_name(const char *path);
/* Gets the name of a task of the running kernel, or of a captured tree. */
bool cli_task_name(const struct cli_job *job, uint64_t pid, char ret[32]);
/*
 * These set @text to a command. They return false if they have none. This one
 * is for a file that holds a dump, a snapshot, a trace or a text of the kernel:
 */
bool cli_command_for_record(const struct cli_job *job, const char *path,
			    char text[CLI_HINT]);
/* Says which command shows what a text of the kernel says, if @path is one. */
void cli_hint_for_text(const struct cli_job *job, const char *path);
/* For any file that exists: */
bool cli_command_for_file(const struct cli_job *job, const char *path,
			  char text[CLI_HINT]);
bool cli_command_for_number(const struct cli_job *job, const char *word,
			    char text[CLI_HINT]);
/*
 * For a process or cgroup with exactly that name, or with one that is near. The
 * suggestion is a sentence, as for cli_refuse().
 */
bool cli_command_for_name(const struct cli_job *job, const char *word,
			  bool exact, char text[CLI_HINT]);
/* For a symbol of the kernel, with such a sentence: */
bool cli_command_for_symbol(const struct cli_job *job, const char *word,
			    char text[CLI_HINT]);

/* --- suggest_process.c: suggestions about processes --- */
/*
 * After a question about a page by number that no process can have anything to
 * do with: tells that a process has that number.
 */
void cli_tell_process(const struct cli_job *job, struct pagedet *pd);
/*
 * Tells that the process of the first argument has an area whose name contains
 * @word. Returns false if it has none.
 */
bool cli_tell_area(const struct cli_job *job, struct pagedet *pd,
		   const char *word);
/* Gets the cgroup to which the memory of a process is charged. @word is its pid
 * or its name. */
bool cli_cgroup_of(const struct cli_job *job, const char *word, uint64_t *pid,
		   char *ret, size_t size);

/* --- suggest_path.c --- */
/*
 * Sets @text to a sentence that suggests the command with the path of a file of
 * that name. Returns false if none is found.
 */
bool cli_command_for_path(const struct cli_job *job, const char *name,
			  char text[CLI_HINT]);

/* --- suggest_argument.c: suggestions for arguments --- */
/*
 * Whether it is an address in the kernel's half, where there is no physical
 * memory.
 */
bool cli_is_kernel_address(uint64_t n);
/* Notes that @word, the address @n, is not one of a process. */
void cli_tell_kernel_address(const struct cli_job *job, const char *word,
			     uint64_t n);
/* Notes that @word, the address @n, is not one of the kernel. */
void cli_tell_user_address(const struct cli_job *job, const char *word,
			   uint64_t n);
/*
 * Whether no machine has such a page frame: physical addresses have 52 bits at
 * most, and no Linux has smaller pages than 4 KiB.
 */
bool cli_is_no_frame(uint64_t pfn);
/* Notes once that @pfn is rather an address of a process. */
void cli_tell_no_frame(struct cli_job *job, uint64_t pfn);
/* Whether numbers of the command are pages, and not places in a file. */
bool cli_names_pages(const struct cli_job *job);
/*
 * Says once how an address was read that could be meant as decimal: without 0x,
 * and only with decimal digits.
 */
void cli_tell_radix(struct cli_job *job, const char *word);
/* The same for a decimal number, on a terminal. */
void cli_tell_decimal(struct cli_job *job, const char *word);
/*
 * Reports that @word, the address @n, is not a page frame number, and suggests
 * a command. Returns CLI_USAGE.
 */
int cli_no_page_number(const struct cli_job *job, const char *word, uint64_t n);
/*
 * Reports that the command does not take @word, and suggests a command for it.
 * Returns CLI_USAGE.
 */
int cli_no_argument(const struct cli_job *job, const char *word);
/*
 * Reports that the command takes a file, and suggests one for the directory.
 * Returns CLI_USAGE.
 */
int cli_no_directory(const struct cli_job *job, const char *path);
/* Reports what is @wrong with @word, or how to write it. Returns CLI_USAGE. */
int cli_no_range(const struct cli_job *job, const char *word,
		 enum cli_radix radix, const char *wrong);

/* --- suggest_option.c: suggestions for options --- */
/*
 * Reports that there is no such option, and suggests one of @names or another
 * spelling. Returns CLI_USAGE, as the next one does.
 */
int cli_no_option(const struct cli_job *job, const char *name, size_t len,
		  const char *const *names, size_t n);
int cli_no_letter(const struct cli_job *job, char letter);
/*
 * Whether @word is a kind or flag that users take for a field. Sets @instead to
 * a suggestion.
 */
bool cli_is_kind_or_flag(const char *word, char *instead, size_t size);
/* The same for a word that --by does not know. */
bool cli_group_lead(const struct cli_job *job, const char *word,
		    char instead[CLI_HINT]);
/* Whether a field has a value, or a bit, with that name. */
bool cli_is_value(uint32_t field, const char *word);
/*
 * Sets @instead to the suggestion that follows "try: ", if there is one for
 * the job's --where.
 */
bool cli_where_lead(const struct cli_job *job, char *instead, size_t size);

/* --- suggest_filter.c --- */
/*
 * Rewrites a filter of another language. Returns false if the library does not
 * understand the result either.
 */
bool cli_rewrite_filter(struct pagedet *pd, const char *expr, char *ret,
			size_t size);
/*
 * Returns what @lead, which may return NULL, finds first for a word of the
 * filter that stands in the place of a field. Nothing negated leads on.
 */
const char *cli_filter_lead(const char *expr,
			    const char *(*lead)(const char *word));

/* --- process.c: processes and areas by name --- */
int cli_add_item(struct cli_job *job, const struct pagedet_item *item);
int cli_add_named(struct cli_job *job, const struct pagedet_item *item,
		  const struct cli_name *name);
/* Parses @word. Returns the pid, or 0 and the name. */
int cli_parse_pid(const struct cli_job *job, const char *word, uint32_t *ret,
		  const char **name);
/*
 * For a query without rows: tells if tasks without memory are kernel threads,
 * and if a page that nobody maps has the number of a process.
 */
void cli_tell_no_row(const struct cli_job *job, struct pagedet *pd);
/* Replaces names in the items by numbers. */
int cli_resolve(struct cli_job *job, struct pagedet *pd);
/*
 * Gets all tasks; the caller calls free(*ret). @options: PAGEDET_TASKS_*.
 * Returns a status.
 */
int cli_tasks(struct pagedet *pd, uint32_t options, struct pagedet_task **ret,
	      size_t *n, uint64_t *lost);

/* --- output.c: where the answer goes --- */
struct cli_output {
	int fd;
	char *target;		/* the final name of the complete file */
	char *temp;		/* its temporary name; NULL: none */
	bool png;		/* fd is an SVG that is converted to png_fd */
	int png_fd;
};
int cli_output_open(struct cli_output *out, const char *path);
/* A stream that can be closed before the output; NULL: errno says why. */
FILE *cli_output_stream(int fd);
int cli_output_write(int fd, const char *text, size_t len);
/* @keep: the output is complete. Returns @status, or a worse status. */
int cli_output_close(struct cli_output *out, bool keep, int status);

/* --- json.c: texts from elsewhere, and output that is written as a whole
 * --- */
bool cli_json_text(FILE *f, const char *text, size_t len);
/* Writes "name":"text", and name_hex if the text is not UTF-8. */
void cli_json_member(FILE *f, const char *name, const char *text, size_t len);
void cli_plain_text(FILE *f, const char *text, size_t len);
struct cli_report {
	FILE *f;
	char *text;
	size_t len;
	struct cli_output out;
	bool begun;		/* a part of it was written to out */
};
int cli_report_open(struct cli_report *r);
/* If there is too much to be kept, writes what there is. Returns a status. */
int cli_report_spill(struct cli_report *r, const struct cli_job *job);
/*
 * Writes the report to the output, unless @status is a failure. Returns
 * @status, or a worse one.
 */
int cli_report_close(struct cli_report *r, const struct cli_job *job,
		     int status);
/* Checks that the format is text or JSON. */
int cli_check_format(const struct cli_job *job);

/* --- tasks.c, dmesg.c, file_mappers.c --- */
int cli_parse_task_list(struct cli_job *job);
int cli_run_tasks(struct cli_job *job, struct pagedet *pd);
int cli_run_dmesg(struct cli_job *job, struct pagedet *pd);
/* Writes the kernel log as text. Returns a status. */
int cli_dmesg_text(const struct cli_job *job, struct pagedet *pd, FILE *f);
int cli_run_mappers(struct cli_job *job, struct pagedet *pd);

/* --- arguments.c: the arguments of commands --- */
int cli_parse_pfns(struct cli_job *job);
int cli_parse_mappers(struct cli_job *job);
int cli_parse_pfns_or_stdin(struct cli_job *job);
int cli_parse_phys(struct cli_job *job);
int cli_parse_virt(struct cli_job *job);
/* Reports what is @wrong with @word, which is not an address, and how areas are
 * named. Returns CLI_USAGE. */
int cli_no_area(const struct cli_job *job, const char *word, const char *wrong);
int cli_parse_tasks(struct cli_job *job);
int cli_parse_file(struct cli_job *job);
int cli_parse_path(struct cli_job *job);
/* These two also accept '-'. */
int cli_parse_files(struct cli_job *job);
int cli_parse_paths(struct cli_job *job);
int cli_parse_kaddrs(struct cli_job *job);
int cli_parse_log(struct cli_job *job);
int cli_parse_nothing(struct cli_job *job);

/* --- suggest_cgroup.c --- */
/*
 * Finds the cgroup whose path ends with @word, or the one whose path or last
 * part is nearest. Sets @ret to its path below the mount.
 */
bool cli_cgroup_near(const struct cli_job *job, const char *word, bool exact,
		     char *ret, size_t size);
/* After a question about a cgroup that does not exist: suggests another one. */
void cli_suggest_cgroup(const struct cli_job *job);

/* --- cgroup.c --- */
int cli_parse_cgroup(struct cli_job *job);
/*
 * Gets the directory below which memory cgroups are. Returns false for a dump.
 */
bool cli_cgroup_mount(const struct cli_job *job, char *ret, size_t size);
/*
 * Gets the kernel's count for job->path, in bytes. Returns the name of the file
 * that has it, or NULL if it cannot be read.
 */
const char *cli_cgroup_usage(const struct cli_job *job, uint64_t *ret);

/* --- help.c --- */
int cli_help(const char *topic);
int cli_version(void);
int cli_flush_stdout(void);

/* --- input.c: standard input --- */
struct cli_input {
	size_t at, len;		/* bytes in buf */
	bool ended;
	char buf[16384];
};
/*
 * Returns the next byte, or -1 at the end. *@status tells whether that is a
 * failure.
 */
int cli_input_byte(struct cli_input *in, int *status);

/* --- path_stream.c: files from standard input, or several arguments --- */
/* Whether a word that may be a number is a file. */
bool cli_is_file(const struct cli_job *job, const char *word);
/*
 * Whether the word that follows a path is a path, too. If it is a valid range,
 * it is not.
 */
bool cli_is_path(const struct cli_job *job, const char *word);
struct cli_path_stream {
	const struct cli_job *job;
	struct cli_input in;
	int word;		/* index of the job's next word */
	const char *path;	/* the path of the following ranges */
	int end;		/* byte that ends a record */
	int status;		/* of the reads */
	bool quiet;
	bool here;		/* files are on this machine */
	bool odd, too_long;	/* about the current record */
	uint64_t line;
	uint64_t places, failed;
	FILE *lost;		/* JSON about these; NULL: there is none yet */
	char text[8192];
};
void cli_path_stream_open(struct cli_path_stream *s, const struct cli_job *job);
/* Writes a row of JSON for each record that could not be opened, and why.
 * Returns a status. */
int cli_path_stream_lost(struct cli_path_stream *s, int fd);
/* Frees it; NULL is allowed. */
void cli_path_stream_close(struct cli_path_stream *s);
/* A pagedet_place_fn; @user is the stream. */
int cli_path_stream_next(void *user, int error, const char *why,
			 struct pagedet_place *ret);

/* --- pfn_stream.c: page frame numbers from standard input --- */
struct cli_pfn_stream {
	struct pagedet_item *items;
	size_t n, max;		/* in this step; room for */
	uint64_t line;
	struct cli_input in;
};
int cli_pfn_stream_open(struct cli_pfn_stream *s);
/*
 * Reads up to @most items. s->n is 0 at the end of the input. Reports errors,
 * and returns a status.
 */
int cli_pfn_stream_next(struct cli_pfn_stream *s, size_t most);
void cli_pfn_stream_close(struct cli_pfn_stream *s);

/* --- png.c: pictures that are not SVG --- */
/* Whether a program @name is in a directory of PATH. */
bool cli_is_installed(const char *name);
/*
 * If @path names a PNG, checks that a PNG can be made. If not, reports what is
 * missing.
 */
int cli_png_check(const char *path);
/* As cli_output_open(), but out->fd takes an SVG. */
int cli_picture_open(struct cli_output *out, const char *path);
/* If the output is a PNG, converts the complete picture. */
int cli_png_end(struct cli_output *out, bool keep);

/* --- terminal.c --- */
bool cli_colour(int fd);
uint32_t cli_width(int fd);	/* 0: no limit */
uint32_t cli_height(int fd);	/* lines; 0: not a terminal */
struct cli_progress {
	const char *name;	/* of the command */
	uint64_t after_ns;	/* print nothing before this time */
	uint32_t width;		/* of stderr; 0: not a terminal */
	bool shown;
	bool same_terminal;	/* output uses it, too: write it afterwards */
};
/* Sets up the progress callback, if progress is to be shown. */
void cli_progress_start(struct cli_progress *p, const struct cli_job *job,
			int out_fd, struct pagedet_query *q);
/* Shows such a line, of another text. */
void cli_progress_line(struct cli_progress *p, const char *text);
void cli_progress_end(struct cli_progress *p);

/* For calls that ask more often than a line is written: whether to go on. */
struct cli_asked {
	struct pagedet_query shown; /* set by cli_progress_start() */
	uint64_t shown_ns;
	int (*stop)(void *arg);	/* NULL: a signal stops it */
	void *stop_arg;
};
/* A pagedet_progress_fn. @user is a struct cli_asked. */
int cli_asked_progress(void *user, const struct pagedet_progress *now);

/* --- complete.c: completion for shells --- */
/* @words are those after the program's name. The last one is incomplete. */
int cli_complete(int n, char **words);
/* The words in front of the one that is completed, without options. */
struct cli_before {
	const char *command;	/* NULL: none yet */
	const char *first;	/* its first argument, or "" */
	const char *last;	/* the last one, or "" */
	int n;			/* arguments */
};
/*
 * Offers values of an option. @value is its name in help, @values the choices
 * if there are any. The first @fixed bytes of @word stay unchanged.
 */
void cli_complete_value(const struct cli_before *before, const char *option,
			const char *value, const char *values,
			const char *word, size_t fixed);
/*
 * In options.c: whether @word is the value of option @name, the word in front
 * of it, or consists of an option, '=' and a value. If so, offers values.
 */
bool cli_options_complete(const struct cli_before *before, const char *name,
			  const char *word);
/*
 * Offers options that begin with @word, of @command or, if it is NULL, of any.
 */
void cli_options_offer(const char *word, const char *command);
/* Whether the next word is the value of this option. */
bool cli_options_takes_next(const char *word);

/* --- interrupt.c: signals --- */
void cli_interrupt_init(void);
/*
 * From now on a signal cancels @it instead of ending the process. NULL restores
 * the default.
 */
void cli_interrupt_cancels(struct pagedet_iter *it);
void cli_interrupt_cancels_both(struct pagedet_iter *a, struct pagedet_iter *b);
/*
 * From now on, the caller calls cli_interrupted() and stops by itself. If the
 * argument is false, restores the default.
 */
void cli_interrupt_asked(bool yes);
/*
 * From now on a signal never ends the process: something must be undone first.
 */
void cli_interrupt_holds(bool yes);
/* How many signals came so far. */
int cli_interrupts(void);
/* A file to remove if a signal ends the process; NULL if there is none. */
void cli_interrupt_removes(const char *path);
/*
 * Whether @fd is a pipe without a reader. If so, a failed write does not need a
 * message.
 */
bool cli_nobody_reads(int fd);
/* Ends the process as SIGPIPE does, and removes the incomplete file. */
void cli_interrupt_pipe(void);
bool cli_interrupted(void);

/* --- deadline.c: commands that end early --- */
/* Returns the time of the monotonic clock. */
uint64_t cli_now_ns(void);
/* Starts the time of the deadline. */
void cli_deadline_begin(struct cli_job *job);
/*
 * Returns the remaining time for a query, which is at least 1, even if the
 * deadline has passed. Returns 0 if the job has no deadline.
 */
uint64_t cli_deadline_left(const struct cli_job *job);
/* Whether the deadline has passed or a signal came. */
bool cli_must_stop(const struct cli_job *job);
const char *cli_stop_words(void);
/*
 * Makes the deadline and signals also stop calls of @pd that are not queries.
 */
void cli_stops(struct cli_job *job, struct pagedet *pd);

/* --- kmap_pages.c: what a KMAP says of pages --- */
/*
 * If --kmap was given, and the query wants what it says, reads it. The caller
 * frees *@ret, which may be NULL, after the query. *@lossy: some of its lines
 * are not counted, and that was said.
 */
int cli_kmap_pages(const struct cli_job *job, struct pagedet *pd,
		   struct pagedet_query *q, struct pagedet_kmap_pages **ret,
		   bool *lossy);

/* --- heat.c: what DAMON says --- */
/* Whether a query names one of these fields. */
bool cli_wants(struct pagedet *pd, const struct pagedet_query *q,
	       uint32_t first, uint32_t last);
/*
 * If the query wants what DAMON says, listens to it. The caller frees *@ret,
 * which may be NULL, after the query.
 */
int cli_heat(const struct cli_job *job, struct pagedet *pd,
	     struct pagedet_query *q, struct pagedet_heat **ret);

/* --- watch.c: rounds of a command --- */
/*
 * Checks that the command supports rounds. A list that is watched becomes a
 * summary.
 */
int cli_watch_check(struct cli_job *job);
/* Runs the command once, or in rounds if the job says so. */
int cli_watch(struct cli_job *job, struct pagedet *pd);
/* Whether output to @fd is buffered until the round is complete. */
bool cli_watch_holds(int fd);
/* Returns true if the text was buffered for the round. */
bool cli_watch_takes(int fd, const char *text, size_t len);
bool cli_watch_takes_note(const char *line, size_t len);

/* --- helpers.c: helper programs of the library --- */
/*
 * Finds helper programs beside the command, if the user named a source that
 * needs one. Otherwise the library uses the installed ones.
 */
void cli_helpers_find(struct cli_job *job);

/* --- explain.c, explain_peer.c --- */
int cli_parse_explain(struct cli_job *job);
int cli_run_explain(struct cli_job *job, struct pagedet *pd);
/*
 * Reads evidence of another host from a file; the caller calls free(*ret).
 * Returns a status.
 */
int cli_peer_load(struct pagedet *pd, const char *path,
		  struct pagedet_evidence **ret, uint64_t *n);
int cli_peer_save(struct pagedet *pd, const char *path,
		  const struct pagedet_evidence *evidence, uint64_t n);

/* --- explain_file.c: the pages to explain, and summaries of findings --- */
/* Replaces addresses of the kernel, and those of processes, among the items by
 * page frame numbers. */
int cli_explain_addresses(struct cli_job *job, struct pagedet *pd);
/*
 * Makes items of the cached pages of job->file. For a large file, takes only
 * some pages.
 */
int cli_explain_pages_of(struct cli_job *job, struct pagedet *pd,
			 uint64_t *cached);
/*
 * Drops findings that are the same as one of another page of the folio. Returns
 * their number.
 */
uint64_t cli_explain_fold(struct pagedet_finding *findings, uint64_t *n,
			  const struct pagedet_evidence *evidence);
/*
 * Writes each finding once, with the number of pages that it is about, out of
 * @of.
 */
int cli_explain_report(const struct cli_job *job,
		       struct pagedet_finding *findings, uint64_t n,
		       const struct pagedet_evidence *evidence, uint64_t of);

/* --- map.c: a picture of a scan --- */
int cli_parse_map(struct cli_job *job);
/*
 * Sets the fields of the picture. If it has a filter, also sets those of the
 * background.
 */
void cli_map_query(const struct cli_job *job, struct pagedet_query *q);
void cli_map_ground(struct pagedet_query *q);
/* @o keeps a pointer to @title. */
void cli_map_emitter(const struct cli_job *job, struct pagedet *pd,
		     struct pagedet_emit_options *o, char *title, size_t size);

/* --- snapshot.c --- */
int cli_wrap_snapshot(struct cli_job *job);

/* --- diff.c --- */
int cli_parse_diff(struct cli_job *job);
int cli_run_diff(struct cli_job *job, struct pagedet *pd);
void cli_diff_title(const struct cli_job *job, char *title, size_t size);

/* --- compare.c --- */
int cli_parse_compare(struct cli_job *job);
int cli_run_compare(struct cli_job *job, struct pagedet *pd);

/* --- kmem.c --- */
int cli_parse_kmem(struct cli_job *job);
/* Chooses between its subcommands. */
int cli_wrap_kmem(struct cli_job *job);
int cli_run_kmem(struct cli_job *job, struct pagedet *pd);

/* --- kmap.c --- */
int cli_parse_kmap(struct cli_job *job);
/* Chooses between its subcommands. */
int cli_wrap_kmap(struct cli_job *job);
int cli_run_kmap(struct cli_job *job, struct pagedet *pd);

/* --- owners.c --- */
int cli_parse_owners(struct cli_job *job);
int cli_run_owners(struct cli_job *job, struct pagedet *pd);

/* --- flame.c: stacks as flame graphs --- */
struct cli_stacks {
	/*
	 * Sets the frames of the next stack and its value. Returns 1; 0 at the
	 * end; -1 without memory.
	 */
	int (*next)(struct cli_stacks *s);
	const char **frame;	/* innermost first, until the next call */
	uint32_t n;
	uint64_t value;
	const char *title;	/* of the picture */
	const char *unit, *units; /* of one, and of several */
};
/* Whether --flame or --folded fits. @has_stacks: that is all the groups are by.
 */
int cli_flame_check(const struct cli_job *job, bool has_stacks);
/* Writes at most @len letters of a text for SVG. */
void cli_xml_text(FILE *f, const char *text, size_t len);
/* Writes lines "outermost;...;innermost VALUE". Returns a status. */
int cli_folded(struct cli_stacks *s, FILE *f);
int cli_flame(struct cli_stacks *s, FILE *f);

/* --- owners_stacks.c, kmem_stacks.c: the stacks of groups --- */
/* Returns the status of @picture. */
int cli_owners_draw(struct pagedet_owners *owners, FILE *f,
		    int (*picture)(struct cli_stacks *s, FILE *f));
int cli_kmem_draw(struct pagedet_allocs *allocs, const char *sort, uint64_t max,
		  FILE *f, int (*picture)(struct cli_stacks *s, FILE *f));

/* --- thread_stacks.c: the stacks of the threads that map pages --- */
/* PAGEDET_Q_* for the stacks that are asked for. */
uint32_t cli_stacks_options(const struct cli_job *job);
/* Whether --flame or --folded of a query has what it needs. */
int cli_threads_check(const struct cli_job *job);
/* Writes to @fd. @it: of a query by pid. Returns a status. */
int cli_threads_draw(const struct cli_job *job, struct pagedet *pd,
		     struct pagedet_iter *it, int fd);

/* --- owners_sort.c: the format of page_owner_sort --- */
/* Writes at most @max groups. Returns a status. */
int cli_page_owner_sort(struct pagedet_owners *owners, const uint32_t *by,
			uint64_t n_by, uint64_t max, FILE *f);

/* --- check.c --- */
int cli_parse_check(struct cli_job *job);
int cli_run_check(struct cli_job *job, struct pagedet *pd);

/* --- figures.c: sizes and texts in tables --- */
/* Writes a size such as "12.3 MiB". */
void cli_size(char *ret, size_t size, uint64_t bytes);
void cli_csv_text(FILE *f, const char *text);
/*
 * As cli_plain_text(), but at most @width columns; 0: there is no limit. "..."
 * replaces the rest. For a path, it replaces the beginning.
 */
void cli_clipped_text(FILE *f, const char *text, uint32_t width);

/* A line that is wrapped at the width of the terminal. */
struct cli_wrap {
	FILE *f;
	uint32_t width;		/* 0: no limit */
	uint32_t indent;	/* of further lines */
	uint32_t at;		/* columns that the line already has */
};

/* The width of the terminal to which the answer goes; 0: no limit. */
uint32_t cli_answer_width(const struct cli_job *job);
/* Adds one item, which is not divided, after a blank or on a further line. */
void cli_wrap_item(struct cli_wrap *w, const char *item);
/* Adds each word, or what is pasted as a whole. */
void cli_wrap_words(struct cli_wrap *w, const char *text);

/* --- columns.c --- */
/*
 * Gets the value and the state of @field in a row. If there is no such column,
 * the value is 0 and the state is PAGEDET_NOT_ASKED.
 */
uint64_t cli_value_of(const struct pagedet_columns *c, uint64_t row,
		      uint32_t field, uint32_t *state);
/* Keys of groups that are not fields. @find: a negative errno for none. */
struct cli_by {
	const char *what;	/* begins an error: "--by: ... by" */
	int (*find)(const char *name);
	const char *(*name)(uint32_t key);
};
/* Adds the keys of @list, KEY,KEY,..., to @keys, of which there are *@n, and at
 * most @most. Returns a status. */
int cli_by_keys(const struct cli_by *of, const char *list, uint32_t *keys,
		size_t most, uint64_t *n);

/* --- sort.c: order and limits --- */
/* The smaller one of --top and --limit, or 0 if neither was given. */
uint64_t cli_bound(const struct cli_job *job);
/*
 * On a terminal, says how many more there are than the bound shows. @all: their
 * number; UINT64_MAX: there may be more than were shown. @one, @many: what they
 * are, as singular and plural.
 */
void cli_tell_more(const struct cli_job *job, uint64_t all, const char *one,
		   const char *many);
/* Call this after fields and groups are set. Returns a status. */
int cli_sort_query(const struct cli_job *job, struct pagedet_query *q);

/* --- sort_keys.c: --sort of lists that the command makes itself --- */
/* A key, and its number for cli_compare_fn. It ends with a NULL name. */
struct cli_key_name {
	const char *name;
	int key;
};
#define CLI_KEYS 8
struct cli_keys {
	size_t n;
	int key[CLI_KEYS];
	bool reverse[CLI_KEYS];
};
/*
 * Parses KEY,-KEY,... @what has these keys: "tasks". Returns a status. NULL is
 * an empty list.
 */
int cli_keys_parse(const char *list, const char *what,
		   const struct cli_key_name *names, struct cli_keys *ret);
/*
 * Compares two elements by one key. @reverse: the key has a "-". Values that
 * are not known come last in either order.
 */
typedef int cli_compare_fn(const void *a, const void *b, int key, bool reverse);
/* Compares by all keys. */
int cli_keys_compare(const struct cli_keys *keys, const void *a, const void *b,
		     cli_compare_fn *compare);

/* The keys of tasks, and of the processes that map a file. */
extern const struct cli_key_name cli_task_keys[], cli_mapper_keys[];
/* The sums of groups of owners, and of allocations, by which they are sorted,
 * beside the keys of their groups. */
#define CLI_OWNER_SUMS 8
#define CLI_ALLOC_SUMS 33
extern const char *const cli_owner_sums[CLI_OWNER_SUMS];
extern const char *const cli_alloc_sums[CLI_ALLOC_SUMS];

/* --- top.c, top_table.c, top_pages.c: the largest users of memory --- */
struct cli_entry {
	char *name;		/* NULL: not known */
	uint32_t name_state;	/* then why; 0: not known either */
	uint32_t pid;
	uint32_t estimated;	/* as in struct pagedet_usage */
	uint32_t same_as, same_as_state; /* the same */
	uint64_t bytes;		/* for pages, not for processes */
	uint64_t kinds;		/* of these pages: bits of PAGEDET_KIND_* */
	uint64_t value[PAGEDET_SUMS];
	uint32_t state[PAGEDET_SUMS];
};
enum { CLI_BY_PSS = PAGEDET_SUM_PSS, /* or another sum */
       CLI_BY_PID = -1, CLI_BY_NAME = -2, CLI_BY_BYTES = -3 };
struct cli_table {
	struct cli_entry *entries;
	size_t n, max;
	size_t *slot;		/* hash table of entry index + 1, by name */
	size_t slots;
	bool processes;
	uint32_t key;		/* PAGEDET_FIELD_* */
	struct cli_keys sort;	/* CLI_BY_* and PAGEDET_SUM_* */
	char advice[256];	/* how to examine denied processes */
};
/*
 * The sums, in the order of their importance to users. It ends with a NULL
 * name.
 */
struct cli_sum {
	const char *name;
	uint32_t sum;		/* PAGEDET_SUM_* */
};
extern const struct cli_sum cli_sums[];
const char *cli_sum_name(uint32_t sum);
bool cli_is_sum(const char *name);
/* Adds an empty entry. Without memory, prints an error and returns NULL. */
struct cli_entry *cli_table_add(struct cli_table *t, const char *name);
/*
 * Finds the entry with that name, or adds one. A table uses either this or
 * cli_table_add().
 */
struct cli_entry *cli_table_entry(struct cli_table *t, const char *name);
void cli_table_free(struct cli_table *t);
/* Writes the first @n entries and a total, as far as the output has room. */
void cli_table_text(FILE *f, const struct cli_job *job,
		    const struct cli_table *t, size_t n);
/* Counts pages of all memory by t->key. Returns a status. */
int cli_count_pages(struct cli_job *job, struct pagedet *pd,
		    struct cli_table *t);
/* Adds the usage of all processes, or of @n of them. Returns a status. */
int cli_usage_of(const struct cli_job *job, struct pagedet *pd,
		 const uint32_t *pids, size_t n, struct cli_table *t,
		 struct pagedet_usage_info *info);
/* Reports everything that could not be examined, and returns the status. */
int cli_usage_tell(const struct cli_job *job, const struct cli_table *t,
		   const struct pagedet_usage_info *info);
int cli_parse_top(struct cli_job *job);
int cli_run_top(struct cli_job *job, struct pagedet *pd);

/* --- top_allocs.c --- */
/* Replaces 'top alloc' by a report of kmem. */
int cli_wrap_top(struct cli_job *job);

/* --- summary.c --- */
/* Whether to show sums instead of rows. */
bool cli_summarizes(const struct cli_job *job);
/* Whether to count groups, because there would be too many rows. */
bool cli_counts(const struct cli_job *job);
int cli_run_summary(struct cli_job *job, struct pagedet *pd);

/* --- query.c, verdict.c: queries and their completeness --- */
/* The number of threads that the user asked for, or that is worthwhile. */
uint32_t cli_threads(const struct cli_job *job);
int cli_run_query(struct cli_job *job, struct pagedet *pd);
/*
 * Creates the emitter for the options. Its style is chosen for @fd, and it
 * writes to @to; if @to is -1, or standard output that rounds hold, it keeps
 * the text in memory. Returns a status.
 */
int cli_emitter_new(const struct cli_job *job, struct pagedet *pd, int fd,
		    int to, struct pagedet_emitter **ret);
/* @fd: its destination, which now gets what was kept in memory. */
int cli_emitter_finish(struct pagedet *pd, struct pagedet_emitter *e, int fd);
/* Reports a failed call that wrote to @fd. Returns a status. */
int cli_emit_failed(const struct pagedet *pd, int error, int fd);
/* The end of an emitter that was given everything by one call, which returned
 * @error: one of the two above, and frees it. Returns a status. */
int cli_emitter_end(struct pagedet *pd, struct pagedet_emitter *e, int error,
		    int fd);

struct cli_verdict {
	struct pagedet_coverage sum; /* sum of all steps */
	uint64_t named[2];	/* fields that the user named */
	uint64_t maps_missing;	/* mappings that the kernel counts and that were
				 * not found */
	bool maps_unseen;	/* drivers may have made mappings that the
				 * source cannot see */
	uint64_t places, failed; /* for a list: the number of records, and of
				  * those that could not be opened */
	uint64_t limit;		/* rows after which the walk must end; 0 */
	bool cut;		/* it has ended there */
	bool partial;
};
/* Adds fields that @list names directly, and not by group. */
void cli_named_fields(const char *list, uint64_t *named);
void cli_verdict_add(struct cli_verdict *v, const struct pagedet_iter *it,
		     uint32_t target);
/* Reports what could not be examined. */
void cli_verdict_losses(const struct cli_verdict *v, const struct cli_job *job);
/* Reports what the user must know, and returns the status. */
int cli_verdict_tell(const struct cli_verdict *v, const struct cli_job *job,
		     const struct pagedet_iter *it);

/* --- from_log.c --- */
int cli_run_log(struct cli_job *job, struct pagedet *pd);

/* --- faults.c: programs with faults in a log --- */
struct cli_faults {
	const struct cli_job *job;
	bool here;		/* the log's programs are files here */
	unsigned looked;	/* number of searches for their code */
	bool read;
	uint64_t *ns;		/* their times in the kernel's own log */
	size_t n;
	struct pagedet_task *tasks;
	size_t n_tasks;
};
/*
 * Reports whether the program of @row still runs, if that can be known, and
 * what is at the address now. If it has ended, reports the page of its code.
 */
void cli_faults_alive(struct cli_faults *a, struct pagedet *pd,
		      const struct pagedet_iter *it,
		      const struct pagedet_page *row, FILE *f);
void cli_faults_free(struct cli_faults *a);

/* --- crash.c, crash_file.c: the code of programs with faults, and its file
 * --- */
#define CLI_CODE 128		/* bytes, more than any kernel prints */
/* No Linux has larger base pages. */
#define CLI_MOST_PAGE 65536
struct cli_crash {
	uint64_t ip, base, len, offset;
	bool has_base, has_offset;
	uint64_t log_page;	/* page size of the machine that wrote the log;
				 * 0 if it is not known */
	char name[256];		/* name of the file, without its directory */
	uint8_t code[CLI_CODE];
	size_t n_code, at;	/* bytes, and the index of the one at ip */
	/* Set by crash_file.c. */
	char path[4096];
	const char *why;	/* why it was not examined; NULL */
	bool cached;
	uint64_t page_size;	/* here */
	uint8_t page[CLI_MOST_PAGE]; /* as cached */
	uint32_t disk;		/* PAGEDET_HOLDS: the disk equals it */
	bool direct;		/* compared by O_DIRECT: some filesystems do not
				 * always bypass the cache then */
	char disk_why[256];	/* why not, or why it is not known */
};
int cli_run_crash(struct cli_job *job, struct pagedet *pd);
/* Parses the reason of a fault. */
void cli_crash_parse(struct cli_crash *c, const char *text);
/*
 * Finds the file and the offset in it. If they are not known, c->why is the
 * reason. If @file is not NULL, takes this file.
 */
void cli_crash_find(struct pagedet *pd, const char *file, struct cli_crash *c);
/* The same, and reads the page there. */
void cli_crash_look(struct cli_job *job, struct pagedet *pd,
		    struct cli_crash *c);

/* --- doctor.c --- */
int cli_run_doctor(struct cli_job *job, struct pagedet *pd);

/*
 * Gets the effective capabilities of this process. Returns false if they are
 * not known.
 */
bool cli_capabilities(uint64_t *ret);
/* Says what would let it read other users' tasks, if the caller lacks it. */
void cli_tell_trace(const struct cli_job *job);

/* --- doctor_short.c: abilities on the running kernel --- */
/* @root: of its files, or NULL. @details: also list needs that are met, and
 * costs. */
void cli_doctor_short(FILE *f, struct pagedet *pd, const char *root,
		      bool details, uint32_t width);
/* Tells if Memorizer is on, and how to turn it off. */
void cli_doctor_memorizer(FILE *f, struct pagedet *pd);

/* --- doctor_tiers.c: the fields of a dump, by what they need --- */
struct cli_tiers {
	uint64_t fields[PAGEDET_TIER_VMLINUX + 1][2]; /* as bits */
	uint64_t can[PAGEDET_TIER_VMLINUX + 1][2];
};
void cli_tiers_add(struct cli_tiers *t, uint32_t field,
		   const struct pagedet_ability *a);
/* @vmlinux: the user gave a vmlinux. If it is not a dump, prints nothing. */
void cli_tiers_print(FILE *f, const struct cli_tiers *t, bool vmlinux);

#endif
