/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * migration_agent - migrates a virtual machine, and explains every page that
 * differs between both ends.
 *
 * Pages are numbered from 0 through all blocks of guest memory that both sides
 * know, in the source's order. The code that explains differences gets only
 * observations, and never learns which faults fault.c injected.
 */
#ifndef AGENT_H
#define AGENT_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <pagedet.h>

#include "blocks.h"

/* Exit status, as for pagedet(1). */
enum agent_status {
	AGENT_EQUAL = 0,
	AGENT_DIFFERENT = 1,
	AGENT_UNSURE = 2,
	AGENT_USAGE = 64,
	AGENT_MALFORMED = 65,
	AGENT_NO_INPUT = 66,
	AGENT_UNAVAILABLE = 69,
	AGENT_IO = 74,
	AGENT_DENIED = 77
};

/* --- text.c: messages on stderr, and time --- */

void agent_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int agent_fail(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int agent_fail_errno(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
uint64_t agent_now(void);	/* CLOCK_REALTIME, ns */
uint64_t agent_clock(void);	/* CLOCK_MONOTONIC, ms */
void agent_sleep(unsigned ms);

/* --- options.c --- */

struct options {
	uint32_t mode;		/* PAGEDET_MODE_* */
	const char *mode_name;
	const char *capability;	/* of QEMU, for that mode; or NULL */
	const char *ram;	/* "anon", "memfd", "file" */
	uint64_t faults;	/* only for fault.c */
	bool harm;		/* harm.c does some */
	const char *sockets[SIDES]; /* QMP of machines that run already */
	const char *accel, *memory, *kernel, *initrd, *append, *qemu, *report;
	uint64_t memory_bytes, bandwidth, seed;
	unsigned seconds, cpus;
	bool tap, go_on;
	uint32_t pids[SIDES];	/* 0: the processes behind the sockets */
	const char *blocks;	/* a map of blocks, used without a monitor */
	const char *sent;	/* and hashes as sent, */
	const char *hash_key;	/* with that key */
};

/* Returns 0, or an exit status and *@done if there is nothing more to do. */
int options_parse(struct options *o, int argc, char **argv, bool *done);

/* --- qmp.c: one connection to a monitor --- */

struct qmp {
	int fd;
	char *buf;
	size_t len, cap;
	bool gone;		/* the other side has closed it */
	bool silent;		/* the last answer did not come */
	bool resumed;		/* a RESUME event came */
	bool stopped;		/* a STOP event came */
	bool ran_again;		/* and a RESUME event after it */
	unsigned asked;		/* id of the last command */
	char error[256];
};

int qmp_open(struct qmp *q, const char *path, uint64_t until);
/*
 * Returns the answer (a new reference), or NULL with q->error. Takes over
 * @arguments.
 */
json_t *qmp_ask(struct qmp *q, const char *command, json_t *arguments);
int qmp_do(struct qmp *q, const char *command, json_t *arguments);
/*
 * Returns the output of a command of the human monitor, or NULL. The caller
 * frees it.
 */
char *qmp_human(struct qmp *q, const char *line);
void qmp_events(struct qmp *q);	/* takes events that have arrived */
/* Waits for an event, at most @ms. */
void qmp_wait(struct qmp *q, unsigned ms);
void qmp_close(struct qmp *q);

/* --- vm.c: a machine --- */

struct vm {
	const char *name;	/* "source", "destination" */
	struct qmp qmp;
	pid_t pid;
	bool given;		/* a process without a monitor */
	bool ours;		/* started by this agent, which ends it */
	bool dead;
	bool ran;		/* after the switch, so it has changed */
	bool goes_on;		/* and runs again */
	bool restless;		/* a given process was not stopped when it was
				 * first read */
	int frozen;		/* PAGEDET_YES, NO, DUNNO */
	char status[32], version[32];
	json_t *capability, *parameters; /* original values, to be restored */
};

struct agent;
int vm_start(struct agent *a, int side);
int vm_attach(struct agent *a, int side);
int vm_status(struct vm *vm);	/* sets status; 0, or -1 if not known */
bool vm_alive(struct vm *vm);
int vm_wait_guest(struct agent *a);
void vm_end(struct vm *vm);

extern const unsigned char guest_program[];
extern const unsigned guest_program_bytes;
#define GUEST_STAMPED_AT 0x1000u
#define GUEST_STAMPED 0x64657470u
/* The guest keeps writing between these. */
#define GUEST_WRITES_FROM 0x1000000u
#define GUEST_WRITES_TO 0x1800000u

/* --- join.c: guest physical <-> block and offset <-> host virtual --- */

int join_blocks(struct agent *a);
void join_memslots(struct agent *a);
/*
 * Finds the mapping of a block. All of it must be mapped without a gap and in
 * the same way; otherwise its hva becomes 0.
 */
void join_maps(struct vm *vm, struct block *b, int side);
/* Whether it is memory that both sides map: that is not sent, and a comparison
 * finds no harm done to it, because it is done to both. */
bool join_is_one(const struct block *b);
uint64_t join_one_pages(const struct agent *a);
const struct block *join_block(const struct agent *a, uint64_t page);
uint64_t join_hva(const struct agent *a, uint64_t page, int side);
/* Returns false if the guest has no address for the page. */
bool join_gpa(const struct agent *a, uint64_t page, uint64_t *gpa, bool *rom);
uint64_t join_page(const struct agent *a, const char *name, uint64_t offset);
void join_free(struct agent *a);

/* --- tap.c: a proxy between both that hashes each page sent --- */

struct tap;
int tap_start(struct agent *a, const char *listen, const char *connect,
	      struct tap **ret);
/* Ends the tap. Its results are then in a->versions. */
void tap_stop(struct agent *a, struct tap *t);

/* --- look.c: contents of a side's pages --- */

int look_at(struct agent *a, int side, struct pagedet_seen *seen);
/*
 * Reads some pages, in ascending order; @bytes may be NULL. Another thread
 * needs another handle.
 */
int look_pages(struct agent *a, struct pagedet *pd, int side,
	       const uint64_t *pages, uint64_t n, void *bytes,
	       struct pagedet_seen *seen);
/* How many of @pages lie one after the other, and the address of the first. */
uint64_t look_run(const struct agent *a, int side, const uint64_t *pages,
		  uint64_t n, uint64_t *hva);
/* Gets the bytes of a page: 1, 0 if it is absent and therefore zero, or -1. */
int look_bytes(const struct agent *a, int side, uint64_t page, void *bytes);

/* --- given.c: two processes and a map of blocks --- */

int given_blocks(struct agent *a);
int given_sent(struct agent *a);
int given_status(struct vm *vm);

/* --- watch.c: reads memory while pages are sent --- */

int watch_start(struct agent *a);
void watch_stopped(struct agent *a);	/* the source has stopped */
void watch_drained(struct agent *a);	/* and nothing writes for it any more */
void watch_last(struct agent *a);	/* it may be read for the last time */
void watch_end(struct agent *a);	/* waits for the current read */

/* --- counters.c: machine checks that the host has counted --- */

struct counters {
	uint64_t sum;
	bool known;		/* EDAC counts: no change says something */
	bool is_read;
};

void counters_read(struct counters *c);

/* --- made.c: directories, which signals remove --- */

int made_dirs(struct agent *a);
void made_remove(void);
/*
 * Until made_release(), signals that would end the process are only recorded.
 */
void made_hold(void);
bool made_interrupted(void);
void made_release(void);

/* --- settings.c: migration settings of a machine --- */

int settings_set(const struct agent *a, struct vm *vm);
int settings_bandwidth(struct vm *vm, uint64_t bytes);
void settings_restore(struct vm *vm);	/* if the agent did not start it */

/* --- migrate.c --- */

int migrate(struct agent *a);
/* Stops both sides and reads them. Returns 0 or an exit status. */
int freeze(struct agent *a);
void thawed(struct agent *a);	/* checks again which side is frozen */
void go_on(struct agent *a);	/* reading has ended */

/* --- early.c: the destination's pages before the switch --- */

int early_start(struct agent *a);
void early_sent(struct agent *a, uint64_t page, uint64_t n);
void early_end(struct agent *a); /* waits for a read that is under way */
/* Whether the page was not read since it was sent. */
bool early_is_late(const struct agent *a, uint64_t page);
/* What both sides map is equal, even if the destination runs. */
void early_share(struct agent *a);
/* Reads again what was read early, and counts what is no longer the same. */
void early_prove(struct agent *a);
void early_free(struct agent *a);

/* --- quick.c: lets the destination run as early as possible --- */

int quick_start(struct agent *a);
int quick_freeze(struct agent *a);
/* The bytes of a page at the destination, or NULL. */
const void *quick_bytes(const struct agent *a, uint64_t page);
void quick_free(struct agent *a);

/* --- fault.c: injects faults --- */

uint64_t fault_parse(const char *list);
/* The first of @faults that needs --ram memfd or file, or NULL. */
const char *fault_of_file(uint64_t faults);
void fault_names(FILE *f);
void fault_starting(struct agent *a);	/* nothing was sent yet */
/* A page passes; called by the tap's thread. */
void fault_sent(struct agent *a, uint64_t page, const unsigned char *bytes);
void fault_sending(struct agent *a);	/* pages are being sent */
/* Whether one that is made while pages are sent is yet to be made. */
bool fault_pending(const struct agent *a);
void fault_stopped(struct agent *a);	/* the source has, and is yet to be
					 * read */
void fault_frozen(struct agent *a);	/* nothing was read yet */
void fault_explaining(struct agent *a);	/* differences are known */

/* --- harm.c: injects harm of every kind --- */

int harm_parse(const char *list);	/* 0, or -1 if it is not a list */
const char *harm_of_file(void);		/* as fault_of_file() */
void harm_names(FILE *f);
/* fault.c calls these. */
void harm_starting(struct agent *a);
void harm_sending(struct agent *a);
bool harm_pending(void);
void harm_stopped(struct agent *a);
void harm_frozen(struct agent *a);
/*
 * A page passes, before it is hashed or afterwards; called by the tap's thread.
 * Returns whether the bytes have changed. @bytes: NULL if they cannot be.
 */
bool harm_passing(struct agent *a, uint64_t page, unsigned char *bytes,
		  bool is_hashed);

/* --- evidence.c: what only the agent knows --- */

int evidence_add(struct agent *a); /* 0, or -1: no memory */

/* --- explain.c --- */

#define HEX_BYTES 32

struct difference {
	uint64_t page;
	struct pagedet_difference how;
	bool compared;
	unsigned char bytes[SIDES][HEX_BYTES];
	unsigned from;		/* offset of the first byte in bytes */
	const struct pagedet_finding *finding; /* NULL: not explained */
};

int explain(struct agent *a);
#define PATTERNS 16u

/* --- report*.c --- */

int report_write(struct agent *a);
enum agent_status report_status(const struct agent *a);
/* Returns 0, or -1 if not everything could be written. */
int report_text(const struct agent *a, FILE *f);
int report_html(const struct agent *a, FILE *f);
json_t *report_json(const struct agent *a);

struct report_rule {		/* findings that say the same */
	const struct pagedet_finding *finding; /* the first finding */
	uint64_t n;
};

/* Whether all that is said about a page is also said about the other one. */
bool report_is_alike(const struct pagedet_finding *x,
		     const struct pagedet_finding *y);
unsigned report_rules(const struct agent *a, struct report_rule *rules,
		      unsigned max);
/* The number of findings that are in none of @rules, which was too short. */
uint64_t report_others(const struct agent *a, const struct report_rule *rules,
		       unsigned n);
void report_verdict(const struct agent *a, char *text, size_t size);
struct report_advice {
	const char *text;
	int lets_run;		/* the side that it lets go on, or: */
#define NEITHER (-1)
};

struct report_advice report_todo(const struct agent *a);
/* What a finding advises, and the side that it lets go on, or NEITHER. */
const char *report_advice_of(const struct agent *a,
			     const struct pagedet_finding *f);
int report_lets_run(const struct agent *a, const struct pagedet_finding *f);
const char *report_look(const struct pagedet_seen *s);
const char *report_fact_side(const struct pagedet_fact *fact);
void report_fact(const struct pagedet_fact *fact, char *text, size_t size);
/* "pc.ram + 0x1000", "guest 0x1000" */
void report_place(const struct agent *a, uint64_t page, char *text,
		  size_t size);
void report_time(uint64_t ns, char *text, size_t size);
struct pagedet_versions_info report_versions(const struct agent *a);
void report_sent(const struct agent *a, uint64_t page, char *text,
		 size_t size);
uint64_t report_pfn(const uint64_t *row);	/* UINT64_MAX: not known */
/* What the pages of a pattern have in common, and where they are. */
void report_pattern(const struct agent *a, const struct pagedet_pattern *p,
		    char *text, size_t size);
#define REPORT_RULES 64u

/* --- the whole agent --- */

struct agent {
	struct options o;
	char dir[64];		/* sockets, logs and memory files */
	char ram_dir[64];
	struct vm vm[SIDES];
	struct pagedet *pd;
	uint64_t hash_key, hash_zero;
	char key_file[96];
	struct block blocks[MAX_BLOCKS];
	unsigned n_blocks;
	char memslots[200];	/* what KVM shows about its slots */
	uint64_t pages;
	struct pagedet_blocks *map;
	struct pagedet_versions *versions;
	struct pagedet_pattern patterns[PATTERNS]; /* the difference as a whole,
				 * the largest first */
	unsigned n_patterns;
	char tap_why[200];	/* why hashes as sent are not known; or "" */
	bool tapped;
	atomic_bool halted;	/* the source has stopped */
	bool *after_stop;	/* by page: it was last sent after that; NULL:
				 * not known */
	struct watch *watch;
	atomic_uint looks;	/* reads of the source during the migration */
	bool went_on;		/* the destination ran once it was read */
	uint64_t waited_ms;	/* how long it waited */
	pthread_t early_thread;
	struct pagedet *early_pd;
	atomic_bool early_over;	/* no page is read early any more */
	bool early_runs;
	atomic_uchar *late;	/* by page: whether it was read since it was
				 * sent */
	uint64_t n_early;	/* its pages that were read before the switch */
	uint64_t n_unproven;	/* of them, those that have changed since */
	unsigned char *kept;	/* bytes of pages that were read after it, */
	uint64_t *kept_pages, n_kept; /* and the numbers of these, ascending */
	uint64_t kept_ns;	/* when they were read */
	bool *copied;		/* which of them are hashed later */
	uint64_t started_ns, ended_ns;
	json_t *info;		/* query-migrate at the end */
	struct counters before, after;
	struct pagedet_seen *now[SIDES], *again;
	uint64_t n_equal, n_different, n_lost, n_unsteady;
	struct difference *differences;	/* at most MAX_EXPLAINED */
	uint64_t n_differences;
	struct pagedet_evidence *evidence;
	struct pagedet_finding *findings;
	void *arena;
	uint64_t n_findings;
	bool split;		/* by postcopy: each side has a part */
	char trouble[640];	/* why it ended early; or "" */
	int status;
};

#define MAX_EXPLAINED 4096u

#endif
