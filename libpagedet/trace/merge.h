/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Events of several processors in the order of their times; equal ones in the
 * order of processors. Each processor has a stream, which gives a piece of its
 * events at a time.
 */
#ifndef PDET_TRACE_MERGE_H
#define PDET_TRACE_MERGE_H

#include "trace/kmem.h"

/* How many of the missing formats are told. */
#define PDET_TRACE_STRANGE 8

/* What is not in the events that were read. */
struct pdet_trace_loss {
	uint64_t lost;		/* events that the kernel lost, as far as it
				 * says */
	uint64_t unknown;	/* gaps of which it does not say how many */
	uint64_t uncounted;	/* processors of which nobody has counted what
				 * was lost behind their last event */
	uint64_t missing;	/* events that were read from the kernel, and
				 * are not in the input */
	uint64_t cut;		/* bytes that the input should have at its end
				 */
	uint64_t damaged;	/* pieces, or events, that are not what they
				 * should be: nothing behind them in their piece
				 * was read */
	uint64_t strange;	/* events whose format is not there */
	uint32_t strange_id[PDET_TRACE_STRANGE]; /* of these formats */
	unsigned n_strange;
	uint64_t disorder;	/* events before one that came in front */
	uint64_t disorder_ns;	/* time of the first of these */
	uint64_t lost_ns;	/* time of the event in front of the first loss
				 * inside; 0: none, or not known */
	uint64_t inexact;	/* sums that the kernel could not count all of
				 */
	uint64_t changed;	/* texts of sums that changed their lines while
				 * they were read */
	uint64_t other;		/* events that are not of memory allocation */
};

/* pdet_trace_lost_behind - note that the event of @ns is in front of a loss. */
static inline void pdet_trace_lost_behind(struct pdet_trace_loss *l,
					  uint64_t ns)
{
	if (!l->lost_ns)
		l->lost_ns = ns;
}

/* pdet_trace_strange - note the id of a format that is not there. */
static inline void pdet_trace_strange(struct pdet_trace_loss *l, uint32_t id)
{
	unsigned i;

	for (i = 0; i < l->n_strange; i++)
		if (l->strange_id[i] == id)
			return;
	if (l->n_strange < PDET_TRACE_STRANGE)
		l->strange_id[l->n_strange++] = id;
}

/* A piece of a stream, read and not yet merged. Whoever reads it has the
 * events. */
struct pdet_trace_piece {
	const struct pdet_kmem_event **data;
	size_t n, cap;
	size_t next;		/* not merged yet */
};

struct pdet_trace_stream {
	/*
	 * Fills in the next piece, whose events stay until the next call.
	 * Returns 1; 0 at the end; a negative errno if the input cannot be
	 * read.
	 */
	int (*more)(struct pdet_trace_stream *s);
	void (*close)(struct pdet_trace_stream *s); /* frees all */
	struct pdet_trace_piece piece;
	struct pdet_trace_loss loss;
	uint64_t offset, end;	/* of the input: what is not read yet */
	uint64_t last_ns;	/* the latest; set by the merge */
	uint16_t cpu;
	bool has_cpu;		/* all its events are of this processor */
};

struct pdet_trace_merge {
	/*
	 * [nullable] asked before more is read; true ends all streams at once,
	 * because events of the others would lack those of this one.
	 */
	bool (*stopped)(void *arg);
	void *arg;
	bool is_over;
	struct pdet_trace_stream **heap; /* the earliest event first */
	size_t n;
	struct {
		const struct pdet_kmem_event **data;
		size_t n, cap;
	} merged;
	/* Losses among these, or in front of the next event of a stream: they
	 * may have begun before some of these. */
	struct {
		const struct pdet_kmem_event **data;
		size_t n, cap;
	} lost;
};

/*
 * pdet_trace_merge_begin - take over @n streams, which must exist meanwhile.
 * @m->stopped is set.
 */
int pdet_trace_merge_begin(struct pdet_trace_merge *m,
			   struct pdet_trace_stream *const *streams, size_t n);

/*
 * pdet_trace_merge_next - the next events, up to where a stream must be read:
 * sets *ret, and returns how many; 0 at the end; or a negative errno. They stay
 * until the next call.
 */
int pdet_trace_merge_next(struct pdet_trace_merge *m,
			  const struct pdet_kmem_event *const **ret);

void pdet_trace_merge_end(struct pdet_trace_merge *m);

#endif
