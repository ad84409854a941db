/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A model of one page of a migration: its versions in the source's memory, on
 * the wire and at the destination; the possible faults, with time and cause;
 * and the evidence that an agent collects with all or some observations. Only
 * the model, and not the rules, knows the true cause.
 */
#ifndef TESTS_UNIT_MIGRATION_MODEL_H
#define TESTS_UNIT_MIGRATION_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "pagedet.h"

enum when {
	NEVER,
	BEFORE_TAP,		/* Between memory and the tap. */
	ON_WIRE,		/* between the tap and the store */
	RUNNING,		/* at the source, after it was last sent */
	IN_FLIGHT,		/* at the source, after the look at the stop,
				 * by a device that began before */
	AFTER_STOP,		/* at the source, after the guest stopped */
	AT_PEER			/* after it was stored at the peer */
};

enum what {
	BYTES,			/* different bytes */
	A_BIT,
	ZEROES,
	OLD_ONE,		/* an earlier version of the page */
	AS_BEFORE,		/* what it had just before it was sent */
	OTHER_PAGE,		/* the contents of another page */
	GONE,			/* discarded, or never stored */
	POISON			/* a memory error: reads fail */
};

enum who {
	VMM,			/* or the transport: leaves no trace */
	GUEST,			/* through the tracked mapping */
	PROCESS,		/* another process that maps it */
	BY_FILE,		/* through its file */
	DEVICE,			/* leaves no trace */
	MEMORY			/* hardware; counted if there is EDAC */
};

struct event {
	enum when when;
	enum what what;
	enum who who;
};

/* struct kind.flags */
#define ZERO_SENT 1		/* it was zero when it was last sent */
#define SENT_ONCE 2
#define SENT_STOPPED 4		/* last sent after the guest had stopped */
#define NEVER_SENT 8
#define SOURCE_RAN 16
#define PEER_RAN 32
#define UNSTEADY 64		/* it changes while it is read */
#define POSTCOPY 128		/* and some pages have not arrived */
#define OLD_ZERO 256		/* the version before the last was zero */
#define ZERO_BEFORE 512		/* it was zero until just before it was sent */
#define LANDED 1024		/* sent after a device wrote it, which had begun
				 * before the look at the stop */

struct kind {
	const char *name;
	const char *right;	/* true findings, joined by '|' */
	struct event event[2];
	uint32_t flags;
};

/* The observations of the agent. */
#define LOOK_BEFORE 1
#define LOOK_SENT 2
#define LOOK_STOPPED 4
#define LOOK_PEER_STOPPED 8
#define LOOK_TRACK 16
#define LOOK_COMPARE 32
#define LOOK_FROZEN 64
#define LOOK_RAN 128
#define LOOK_MAPPERS 256
#define LOOK_FILE 512
#define LOOK_COUNTERS 1024
#define LOOK_EARLIER 2048
#define LOOK_PLACES 4096
#define LOOK_MISSING 8192
#define LOOK_AGAIN 16384
#define LOOK_SENT_STOPPED 32768
#define LOOK_DRAINED 65536
#define LOOK_ALL 131071
#define LOOKS 17

struct world {
	uint64_t truth;		/* the guest's version of the page */
	uint64_t src, dst;
	uint64_t before, sent, stopped, peer_stopped, again;
	uint64_t old;		/* the version sent before the last one */
	bool has_old, src_gone, dst_gone, src_poison, dst_poison;
	bool tracked, mapped, peer_mapped, file, mtime, edac, flipped;
	bool peer_flipped;
	bool moved_stopped;	/* before devices had ended their writes */
	bool unwanted;		/* the guest gave it back: no bytes are wrong */
	uint32_t flags;
};

/* model_seed - set the seed on which everything depends. */
void model_seed(uint64_t seed);
uint64_t model_some(uint64_t below);

/* model_run - simulate a page with a kind of fault; NULL: none. */
void model_run(struct world *w, const struct kind *kind);

/* model_evidence - make the evidence of an agent with these observations. */
void model_evidence(const struct world *w, uint32_t looks,
		    struct pagedet_evidence *e);

/* model_right - whether a finding is true for it. */
bool model_right(const struct world *w, const struct kind *kind,
		 const struct pagedet_finding *f);

/* model_kinds - all kinds of faults; the last entry has no name. */
extern const struct kind model_kinds[];

#endif
