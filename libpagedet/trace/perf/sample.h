/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is where in a sample of perf (PERF_RECORD_SAMPLE in perf_event_open(2)):
 * the bits of sample_type say which values there are, in a fixed order.
 */
#ifndef PDET_TRACE_PERF_SAMPLE_H
#define PDET_TRACE_PERF_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event's struct perf_event_attr. Places are offsets; 0: nowhere. */
struct pdet_sample_layout {
	uint64_t has;		/* PERF_SAMPLE_* */
	uint64_t read_format;
	bool is_tracepoint;
	bool every;		/* each event is recorded, not one of many */
	uint16_t id, tid, ns, cpu;
	uint16_t fixed;		/* where values of variable length begin */
	/* Other records have such values at their end: how far before it. */
	uint16_t end_id, end_ns, end_cpu;
};

struct pdet_sample {
	uint64_t ns;
	int32_t tid;
	uint16_t cpu;
	const unsigned char *raw; /* the record of the tracepoint; or NULL */
	uint32_t raw_len;
	const unsigned char *chain; /* callers: addresses and marks of 8 bytes
				 * each; or NULL */
	uint32_t n_chain;
};

/* pdet_sample_learn - read an attr of @n bytes. -EBADMSG: it is too short. */
int pdet_sample_learn(struct pdet_sample_layout *l, const unsigned char *attr,
		      size_t n, bool big_endian);

/* pdet_sample_read - read a record. -EBADMSG: it is too short for its values.
 */
int pdet_sample_read(const struct pdet_sample_layout *l,
		     const unsigned char *record, uint32_t size,
		     bool big_endian, struct pdet_sample *ret);

/* More than any record has room for. */
#define PDET_SAMPLE_FRAMES (UINT16_MAX / 8)

/*
 * pdet_sample_frames - the callers that are in the kernel, the innermost first.
 * Returns how many. @ret has room for PDET_SAMPLE_FRAMES.
 */
size_t pdet_sample_frames(const struct pdet_sample *s, bool big_endian,
			  uint64_t *ret);

#endif
