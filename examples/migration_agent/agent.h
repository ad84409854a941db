/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * migration_agent - moves a virtual machine, and explains each page that is not
 * the same at both ends.
 *
 * Pages are numbered from 0 on through all blocks of guest memory that are
 * known on both sides, in the order of the source. Who explains is told what
 * was seen, never what was done to the machines on purpose (fault.c).
 */
#ifndef AGENT_H
#define AGENT_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <pagedet.h>

#include "blocks.h"
#include "stream.h"

#define NO_PAGE UINT64_MAX

/* Exit status, as of pagedet(1). */
enum agent_status {
	AGENT_EQUAL = 0,
	AGENT_DIFFERENT = 1,
	AGENT_UNSURE = 2,
	AGENT_USAGE = 64,
	AGENT_UNAVAILABLE = 69,
	AGENT_IO = 74,
	AGENT_DENIED = 77
};

/* --- text.c: words on stderr, and time --- */

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
	const char *ram;	/* "anon", "memfd", "file" */
	uint64_t faults;	/* for fault.c alone */
	const char *sockets[SIDES]; /* QMP of machines that run already */
	const char *accel, *memory, *kernel, *initrd, *append, *qemu, *report;
	uint64_t memory_bytes, bandwidth, seed;
	unsigned seconds, cpus;
	bool tap;
};

/* 0, or an exit status with *@done if there is no more to do. */
int options_parse(struct options *o, int argc, char **argv, bool *done);

/* --- qmp.c: one connection to a monitor --- */

struct qmp {
	int fd;
	char *buf;
	size_t len, cap;
	bool gone;		/* the other side has closed it */
	bool silent;		/* the last answer did not come */
	bool resumed;		/* a RESUME event came */
	unsigned asked;		/* the id of the last command */
	char error[256];
};

int qmp_open(struct qmp *q, const char *path, uint64_t until);
/* The answer (a new reference), or NULL with q->error. Takes @arguments. */
json_t *qmp_ask(struct qmp *q, const char *command, json_t *arguments);
int qmp_do(struct qmp *q, const char *command, json_t *arguments);
/* What a command of the human monitor prints, or NULL; to be freed. */
char *qmp_human(struct qmp *q, const char *line);
void qmp_events(struct qmp *q);	/* takes what came without being asked */
void qmp_close(struct qmp *q);

/* --- vm.c: a machine --- */

struct vm {
	const char *name;	/* "source", "destination" */
	struct qmp qmp;
	pid_t pid;
	bool ours;		/* started here, to be ended here */
	bool dead;
	bool ran;		/* the destination ran: it is another one now */
	bool goes_on;		/* and does so again */
	int frozen;		/* PAGEDET_YES, NO, DUNNO */
	char status[32], version[32];
	json_t *capability, *parameters; /* as they were, to be set again */
};

struct agent;
int vm_start(struct agent *a, int side);
int vm_attach(struct agent *a, int side);
int vm_status(struct vm *vm);	/* fills status; 0, or -1: cannot tell */
bool vm_alive(struct vm *vm);
int vm_wait_guest(struct agent *a);
void vm_end(struct vm *vm);

extern const unsigned char guest_program[];
extern const unsigned guest_program_bytes;
#define GUEST_STAMPED_AT 0x1000u
#define GUEST_STAMPED 0x64657470u
/* The guest goes on writing between these. */
#define GUEST_WRITES_FROM 0x1000000u
#define GUEST_WRITES_TO 0x1800000u

/* --- join.c: guest physical <-> block and offset <-> host virtual --- */

int join_blocks(struct agent *a);
void join_memslots(struct agent *a);
const struct block *join_block(const struct agent *a, uint64_t page);
uint64_t join_hva(const struct agent *a, uint64_t page, int side);
/* False if the guest has no address for it. */
bool join_gpa(const struct agent *a, uint64_t page, uint64_t *gpa, bool *rom);
uint64_t join_page(const struct agent *a, const char *name, uint64_t offset);
void join_free(struct agent *a);

/* --- versions.c: what pages were, and were sent as --- */

struct version {
	uint64_t page, hash, time_ns;
	bool sent;
};

struct sent {
	uint64_t hash, time_ns, turn;
	uint32_t times;
	bool unknown;		/* sent in a way that nobody can hash here */
	bool dropped;		/* and then given back by the destination */
};

struct versions {
	pthread_mutex_t lock;
	struct sent *sent;	/* by page */
	struct version *list;	/* older ones, and those seen at the source */
	size_t n, max;
	bool full;		/* some are not in the list */
	uint64_t n_sent, n_zero, n_again;
};

int versions_new(struct versions *v, uint64_t pages);
void versions_sent(struct versions *v, uint64_t page, uint64_t hash,
		   uint64_t turn, bool known, bool zero);
void versions_dropped(struct versions *v, uint64_t page);
void versions_seen(struct versions *v, uint64_t page, uint64_t hash,
		   uint64_t time_ns);
/* When all are known, and before they are asked for. */
void versions_sort(struct versions *v);
/* Did @page have @hash before it was sent for the last time? */
bool versions_have(const struct versions *v, uint64_t page, uint64_t hash);
void versions_free(struct versions *v);

/* --- places.c: which pages of the source have what is asked for --- */

struct place {
	uint64_t hash;
	uint64_t n, last;	/* how many pages have it, and the last one */
};

struct places {
	struct place *place;
	uint64_t n, max;
};

int places_new(struct places *p, uint64_t max);
/* At most as often as there is room for; then places_sort(), once. */
void places_ask(struct places *p, uint64_t hash);
void places_sort(struct places *p);
void places_seen(struct places *p, uint64_t page, uint64_t hash);
/* NULL: it was not asked for. */
const struct place *places_find(const struct places *p, uint64_t hash);
void places_free(struct places *p);

/* --- tap.c: stands between both, and keeps the hash of each page sent --- */

struct tap;
int tap_start(struct agent *a, const char *listen, const char *connect,
	      struct tap **ret);
/* Ends it; afterwards what it has learned is in a->versions. */
void tap_stop(struct agent *a, struct tap *t);

/* --- look.c: what is in the pages of a side --- */

enum look {
	LOOK_NOTHING = 0,	/* not looked at */
	LOOK_ABSENT,		/* no page: reads as zeroes */
	LOOK_ZERO,
	LOOK_DATA,
	LOOK_LOST		/* cannot be read */
};

struct seen {
	uint64_t hash;
	uint8_t look;		/* enum look */
	uint8_t kind;		/* PAGEDET_KIND_* */
	uint8_t swapped, huge;
};

int look_at(struct agent *a, int side, struct seen *seen);
/* The bytes of a page: 1, 0 if it is absent and so zero, or -1. */
int look_bytes(const struct agent *a, int side, uint64_t page, void *bytes);
/* 1 equal, 0 different, -1 one of them is not known. */
int look_equal(const struct seen *x, const struct seen *y);

/* --- counters.c: what the host counts of machine checks --- */

struct counters {
	uint64_t sum;
	bool known;
};

void counters_read(struct counters *c);

/* --- made.c: directories, and signals, at which they are removed --- */

int made_dirs(struct agent *a);
void made_remove(void);
/* Until made_release(), signals that would end this are only noted. */
void made_hold(void);
bool made_interrupted(void);
void made_release(void);

/* --- settings.c: how a machine migrates --- */

int settings_set(const struct agent *a, struct vm *vm);
int settings_bandwidth(struct vm *vm, uint64_t bytes);
void settings_restore(struct vm *vm);	/* if it is somebody else's */

/* --- migrate.c --- */

int migrate(struct agent *a);
/* Reads both sides, with both standing still; 0 or an exit status. */
int freeze(struct agent *a);
void thawed(struct agent *a);	/* looks again who stands still */
void go_on(struct agent *a);	/* nothing is read any more */

/* --- fault.c: does harm on purpose --- */

uint64_t fault_parse(const char *list);
void fault_names(FILE *f);
void fault_starting(struct agent *a);	/* nothing was sent yet */
/* A page passes; called by the tap's thread. */
void fault_sent(struct agent *a, uint64_t page, const unsigned char *bytes);
void fault_sending(struct agent *a);	/* pages are being sent */
void fault_frozen(struct agent *a);	/* nothing was read yet */
void fault_explaining(struct agent *a);	/* differences are known */

/* --- explain.c --- */

#define HEX_BYTES 32

struct difference {
	uint64_t page;
	struct pagedet_difference how;
	bool compared;
	unsigned char bytes[SIDES][HEX_BYTES];
	unsigned from;		/* offset of bytes */
	const struct pagedet_finding *finding; /* NULL: not explained */
};

int explain(struct agent *a);

/* --- report*.c --- */

int report_write(struct agent *a);
enum agent_status report_status(const struct agent *a);
/* 0, or -1: not all of it could be written. */
int report_text(const struct agent *a, FILE *f);
int report_html(const struct agent *a, FILE *f);
json_t *report_json(const struct agent *a);

struct report_rule {		/* what one rule found */
	const struct pagedet_finding *finding; /* the first one */
	uint64_t n;
};

unsigned report_rules(const struct agent *a, struct report_rule *rules,
		      unsigned max);
void report_verdict(const struct agent *a, char *text, size_t size);
const char *report_todo(const struct agent *a);
const char *report_look(const struct seen *s);
const char *report_fact_side(const struct pagedet_fact *fact);
void report_fact(const struct pagedet_fact *fact, char *text, size_t size);
/* "pc.ram + 0x1000", "guest 0x1000" */
void report_place(const struct agent *a, uint64_t page, char *text,
		  size_t size);
void report_time(uint64_t ns, char *text, size_t size);
void report_sent(const struct agent *a, uint64_t page, char *text,
		 size_t size);
uint64_t report_pfn(const uint64_t *row);	/* UINT64_MAX: none known */
#define REPORT_RULES 16u

/* --- all of it --- */

struct agent {
	struct options o;
	char dir[64];		/* sockets, logs, files of memory */
	char ram_dir[64];
	struct vm vm[SIDES];
	struct pagedet *pd;
	uint64_t hash_key, hash_zero;
	char key_file[96];
	struct block blocks[MAX_BLOCKS];
	unsigned n_blocks;
	char memslots[200];	/* what was found of KVM's */
	uint64_t pages;
	struct versions versions;
	char tap_why[200];	/* not "": why hashes as sent are not known */
	bool tapped;
	unsigned looks;		/* how often the source was read meanwhile */
	uint64_t started_ns, ended_ns, first_look_ns, second_look_ns;
	json_t *info;		/* query-migrate, at the end */
	struct counters before, after;
	struct seen *now[SIDES], *again;
	uint64_t n_equal, n_different, n_lost, n_unsteady;
	struct difference *differences;	/* up to MAX_EXPLAINED */
	uint64_t n_differences;
	struct pagedet_evidence *evidence;
	struct pagedet_finding *findings;
	void *arena;
	uint64_t n_findings;
	bool split;		/* by postcopy: parts are at either side */
	char trouble[640];	/* not "": why it ended before its end */
	int status;
};

#define MAX_EXPLAINED 4096u

#endif
